//! Comments of reviews, written by the script of `integrations` to a stand-in for services' REST interfaces.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::proof::has_python;

/// A service with comments. A page has two.
#[derive(Default)]
struct Service {
    comments: Vec<Value>,
    asked: Vec<String>,
}

impl Service {
    fn answer(&mut self, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
        let (place, query) = path.split_once('?').unwrap_or((path, ""));
        self.asked.push(format!("{method} {place}"));
        if token != "secret" {
            return (401, json!({"message": "who are you?"}));
        }
        let given = || serde_json::from_str::<Value>(body).expect("a comment is JSON")["body"].clone();
        match method {
            "GET" => {
                let page: usize =
                    query.split('&').find_map(|part| part.strip_prefix("page=")?.parse().ok()).expect("pages count");
                (200, self.comments.chunks(2).nth(page - 1).unwrap_or_default().into())
            }
            "POST" => {
                let id = self.comments.len() + 1;
                self.comments.push(json!({"id": id, "body": given()}));
                (201, json!({}))
            }
            _ => {
                let id: usize = place.rsplit('/').next().and_then(|id| id.parse().ok()).expect("it names one");
                self.comments[id - 1]["body"] = given();
                (200, json!({}))
            }
        }
    }
}

/// Serves a service for the rest of the test, and returns its address.
fn serve(service: Arc<Mutex<Service>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = format!("http://{}", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (mut first, mut line, mut length, mut token) = (String::new(), String::new(), 0, String::new());
            reader.read_line(&mut first).expect("it asks");
            while reader.read_line(&mut line).is_ok_and(|_| !line.trim().is_empty()) {
                let (name, value) = line.split_once(':').expect("a header");
                match name.to_ascii_lowercase().as_str() {
                    "content-length" => length = value.trim().parse().expect("a number"),
                    "authorization" => token = value.trim().trim_start_matches("token ").to_owned(),
                    "private-token" => token = value.trim().to_owned(),
                    _ => {}
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("it says its length");
            let mut words = first.split_whitespace();
            let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let (status, answer) =
                service.lock().expect("no panic").answer(method, path, &token, &String::from_utf8_lossy(&body));
            let answer = answer.to_string();
            let head = format!("HTTP/1.1 {status} It\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len());
            let _ = reader.get_mut().write_all((head + &answer).as_bytes());
        }
    });
    address
}

fn comment(service: &str, address: &str, token: &str, text: &str) -> bool {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations/comment.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(service).stdin(Stdio::piped()).stderr(Stdio::piped());
    command.env("GITHUB_API_URL", address).env("GITHUB_REPOSITORY", "owner/shop").env("PULL_REQUEST", "7");
    command.env("CI_API_V4_URL", address).env("CI_PROJECT_ID", "owner/shop").env("CI_MERGE_REQUEST_IID", "7");
    command.env("TOKEN", token).env("no_proxy", "127.0.0.1");
    let mut ran = command.spawn().expect("it is installed");
    ran.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("it reads");
    ran.wait_with_output().expect("it ends").status.success()
}

#[test]
fn a_review_is_one_comment_that_is_kept_up_to_date() {
    if !has_python() {
        return;
    }
    let forms = [
        ("github", "/repos/owner/shop/issues/7/comments", "PATCH /repos/owner/shop/issues/comments/4"),
        ("gitea", "/repos/owner/shop/issues/7/comments", "PATCH /repos/owner/shop/issues/comments/4"),
        (
            "gitlab",
            "/projects/owner%2Fshop/merge_requests/7/notes",
            "PUT /projects/owner%2Fshop/merge_requests/7/notes/4",
        ),
    ];
    for (name, all, update) in forms {
        let service = Arc::new(Mutex::new(Service::default()));
        let people = ["Nice", "Why?", "A quote: <!-- codelode review -->"];
        service.lock().expect("no panic").comments =
            people.iter().enumerate().map(|(n, body)| json!({"id": n + 1, "body": body})).collect();
        let address = serve(service.clone());
        assert!(comment(name, &address, "secret", "first"), "{name}");
        assert!(comment(name, &address, "secret", &"<details>\nlong line\n".repeat(9_000)), "{name}");
        let service = service.lock().expect("no panic");
        assert_eq!(service.comments.len(), 4, "{name}");
        assert_eq!(service.comments[2]["body"], people[2], "{name}");
        let body = service.comments[3]["body"].as_str().expect("a text");
        assert!(body.starts_with("<!-- codelode review -->\n<details>") && body.contains("the rest was cut"), "{name}");
        assert_eq!(body.matches("<details>").count(), body.matches("</details>").count(), "{name}");
        let changed: Vec<&String> = service.asked.iter().filter(|asked| !asked.starts_with("GET")).collect();
        assert_eq!(changed, [&format!("POST {all}"), &update.to_owned()], "{name}");
    }
}

#[test]
fn a_refused_comment_fails() {
    if !has_python() {
        return;
    }
    let service = Arc::new(Mutex::new(Service::default()));
    let address = serve(service.clone());
    assert!(!comment("github", &address, "wrong", "text"));
    assert!(service.lock().expect("no panic").comments.is_empty());
}
