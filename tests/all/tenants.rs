//! Several callers of one server: what one has, does or asks for gives the others nothing.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{token, tokens};
use super::web::{Client, PATIENCE, Site};

const V2025: &str = "2025-06-18";

fn client(site: &Site, name: &str) -> Client {
    let mut client = site.client().with_token(&token(name));
    client.open(V2025);
    client
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of ours")
}

/// Ids of the repositories that a caller sees.
fn seen(client: &mut Client) -> Vec<String> {
    let listed = client.call("list_repos", json!({}));
    let repos = listed["repos"].as_array().unwrap_or_else(|| panic!("{listed}")).iter();
    repos.filter_map(|repo| Some(repo["repo"].as_str()?.to_owned())).collect()
}

#[test]
fn a_right_to_a_folder_is_one_to_its_path() {
    let place = tempfile::tempdir().expect("a folder");
    let site = Site::start(&[]);
    let (shop, other) = (site.folder("shop"), site.folder("unseen"));
    let namesake = site.folder("unseen/shop");
    fs::write(namesake.join("own.py"), "def of_others():\n    pass\n").expect("the folder is ours");
    let by_path = |path: &Path| format!("repos = [{:?}]\nindex = true", text(path));
    let (alice, bob) = (by_path(&shop), by_path(&other));
    let whole = format!("repos = [{:?}]", site.repo("shop"));
    let callers = [
        ("alice", alice.as_str()),
        ("bob", &bob),
        ("whole", &whole),
        ("short", "repos = [\"local/shop-*\"]\nindex = true"),
        ("name", "repos = [\"local/shop\"]"),
        ("all", "repos = [\"local/*\"]"),
    ];
    let path = tokens(place.path(), &callers);
    let site = site.beside(&["--tokens", text(&path), "--root", "."]);
    let shop_alone = [site.repo("shop")];
    for name in ["alice", "whole", "short", "name"] {
        assert_eq!(seen(&mut client(&site, name)), shop_alone, "{name}");
    }
    let mut bob = client(&site, "bob");
    let made = bob.call("index_folder", json!({"path": namesake}));
    assert!(made["error"].is_null(), "{made}");
    assert_eq!(seen(&mut bob), [site.repo("unseen/shop")], "below its own path");
    let refused = bob.call("index_folder", json!({"path": shop}));
    assert_eq!(refused["code"], "access_denied", "{refused}");
    // Paths and whole ids mean what they meant; a name that fits two folders means none.
    for name in ["alice", "whole"] {
        assert_eq!(seen(&mut client(&site, name)), shop_alone, "{name}");
    }
    for name in ["short", "name"] {
        assert_eq!(seen(&mut client(&site, name)), [""; 0], "{name}");
    }
    assert_eq!(seen(&mut client(&site, "all")).len(), 3);
    assert!(site.log_with("write a path").contains("local/shop-*"));
    let told = client(&site, "short").call("search_symbols", json!({"query": "of_others", "repo": namesake}));
    assert_eq!(told["code"], "access_denied", "{told}");
}

#[test]
fn a_short_name_means_no_folder_that_another_one_below_a_root_is_called_like() {
    let place = tempfile::tempdir().expect("a folder");
    let path =
        tokens(place.path(), &[("owner", "repos = [\"*\"]\nindex = true"), ("short", "repos = [\"local/fresh-*\"]")]);
    let site = Site::start(&["--tokens", text(&path), "--root", "."]);
    // The folder that is meant has no index yet.
    fs::write(site.folder("fresh").join("a.py"), "x = 1\n").expect("the folder is ours");
    let namesake = site.folder("unseen/fresh");
    fs::write(namesake.join("b.py"), "y = 1\n").expect("the folder is ours");
    let made = client(&site, "owner").call("index_folder", json!({"path": namesake}));
    assert!(made["error"].is_null(), "{made}");
    assert_eq!(seen(&mut client(&site, "short")), [""; 0]);
}

#[test]
fn a_path_out_of_a_repository_is_answered_alike_whatever_is_there() {
    let site = Site::start(&["--root", "."]);
    let (shop, unseen) = (site.folder("shop"), site.folder("unseen"));
    fs::write(unseen.join("there.py"), "x = 1\n").expect("the folder is ours");
    symlink(&unseen, shop.join("out")).expect("the folder is ours");
    // Files of one's own that are called like paths of the disk.
    let mimic = shop.join(text(&unseen).trim_start_matches('/'));
    fs::create_dir_all(&mimic).expect("the folder is ours");
    for name in ["there.py", "gone0.py"] {
        fs::write(mimic.join(name), "y = 2\n").expect("the folder is ours");
    }
    let mut client = site.client();
    client.open(V2025);
    client.call("index_folder", json!({"path": shop}));
    let outside = [
        "../unseen/NAME".to_owned(),
        "x/../../unseen/NAME".to_owned(),
        "out/NAME".to_owned(),
        format!("{}/../unseen/NAME", shop.display()),
        format!("{}/x/../../unseen/NAME", shop.display()),
        format!("{}/out/../../unseen/NAME", shop.display()),
        format!("{}/NAME", unseen.display()),
        format!("{}/../unseen/NAME", unseen.display()),
    ];
    let mut ask = |path: &str, name: &str| {
        let path = path.replace("NAME", name);
        let calls = [
            ("get_file_content", json!({"repo": shop, "file_path": path})),
            ("get_file_outline", json!({"repo": shop, "file_paths": [path]})),
            ("get_symbol_source", json!({"repo": shop, "symbol_id": format!("{path}::x#constant")})),
            ("search_text", json!({"repo": shop, "query": "x", "path": path})),
            ("find_importers", json!({"repo": shop, "file_path": path})),
        ];
        let answers = calls.map(|(tool, arguments)| {
            let mut answer = client.call(tool, arguments);
            answer["_meta"] = Value::Null;
            format!("{tool} {answer}").replace(name, "NAME")
        });
        answers.join("\n")
    };
    for path in &outside {
        assert_eq!(ask(path, "there.py"), ask(path, "gone0.py"), "{path}");
    }
}

#[test]
fn a_mark_of_nodes_is_believed_from_nobody_who_is_none() {
    let site = Site::start(&[]);
    let mut client = site.client();
    client.open(V2025);
    let mut ask = |meta: Value| {
        let arguments = json!({"query": "add", "repo": site.repo("shop")});
        let answer = client.ask("tools/call", json!({"name": "search_symbols", "arguments": arguments, "_meta": meta}));
        let text = answer["result"]["content"][0]["text"].as_str().expect("an answer").to_owned();
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        (answer["_meta"]["scores"].clone(), answer["_meta"]["named"].clone(), answer["results"].clone())
    };
    let plain = ask(json!({}));
    assert!(plain.0.is_null() && plain.1.is_null(), "{plain:?}");
    for mark in [json!("a"), json!(["a", "0".repeat(64)]), json!(["a"]), json!(true), Value::Null] {
        let frequencies = json!({"n": 9, "words": {"add": 1_000_000}});
        let asked = ask(json!({"io.codelode/from-node": mark, "io.codelode/frequencies": frequencies}));
        assert_eq!(asked, plain, "{mark}");
    }
}

#[test]
fn the_ticket_of_ones_own_pages_is_for_no_other_user_to_read() {
    let site = Site::start(&[]);
    let (shop, out) = (site.folder("shop"), tempfile::tempdir().expect("a folder"));
    let opener = out.path().join(if cfg!(target_os = "macos") { "open" } else { "xdg-open" });
    let script =
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$OUT/arguments\"\ncp -p \"$1\" \"$OUT/page\"\ntouch \"$OUT/done\"\n";
    fs::write(&opener, script).expect("the folder is ours");
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let home = shop.ancestors().nth(2).expect("it lies in a folder of ours").join("index");
    let path = format!("{}:{}", out.path().display(), std::env::var("PATH").expect("tests run with one"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_codelode"))
        .args(["web", "."])
        .current_dir(&shop)
        .envs([("CODELODE_INDEX_PATH", text(&home)), ("HOME", text(out.path())), ("OUT", text(out.path()))])
        .env("PATH", path)
        .stderr(Stdio::null())
        .spawn()
        .expect("the program is built");
    let begun = Instant::now();
    while !out.path().join("done").exists() {
        assert!(begun.elapsed() < PATIENCE, "no browser was opened");
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().and_then(|()| child.wait()).expect("it is our child");
    let arguments = fs::read_to_string(out.path().join("arguments")).expect("they were written");
    assert!(!arguments.contains("ticket") && !arguments.contains("http:"), "{arguments}");
    let page = out.path().join("page");
    let mode = fs::metadata(&page).expect("it was copied").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    assert!(fs::read_to_string(&page).expect("it is text").contains("?ticket="));
}

#[test]
fn tokens_that_nobody_has_are_slowed_and_hold_up_none_that_was_right() {
    let place = tempfile::tempdir().expect("a folder");
    let path = tokens(place.path(), &[("alice", "repos = [\"*\"]")]);
    let site = Site::start(&["--tokens", text(&path), "--web"]);
    let mut alice = client(&site, "alice");
    let guess = |nth: usize| site.client().with_token(&format!("guess-{nth}")).post_ping().status;
    let refused: Vec<u16> = (0..60).map(guess).collect();
    assert!(refused[..20].iter().all(|status| *status == 401), "{refused:?}");
    assert!(refused.iter().filter(|status| **status == 429).count() > 10, "{refused:?}");
    let signed_in = site.client().send_to("POST", "/sign-in", "token=guess&to=/", &[]);
    assert!([401, 429].contains(&signed_in.status), "{signed_in:?}");
    assert_eq!(seen(&mut alice).len(), 2, "her token was right before");
}

#[test]
fn one_that_holds_many_connections_makes_room_itself() {
    let site = Site::start(&[]);
    let mut idle: Vec<_> = (0..560).map(|_| site.connect()).collect();
    // The last ones are accepted when this is answered.
    assert_eq!(site.client().get("/healthz").status, 200);
    let mut byte = [0; 1];
    assert!(matches!(idle[0].read(&mut byte), Ok(0) | Err(_)), "the first was idle longest");
    let last = idle.last_mut().expect("there are some");
    last.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it is open");
    assert_eq!(last.read(&mut byte).expect("it is answered"), 1);
}

#[test]
fn slow_senders_without_a_token_keep_no_memory_from_callers() {
    let place = tempfile::tempdir().expect("a folder");
    let path = tokens(place.path(), &[("alice", "repos = [\"*\"]")]);
    let site = Site::start(&["--tokens", text(&path), "--web"]);
    let mut alice = client(&site, "alice");
    let mut slow: Vec<_> = (0..40).map(|_| site.connect()).collect();
    for stream in &mut slow {
        let head = "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n{";
        stream.write_all(head.as_bytes()).expect("the server reads");
    }
    let begun = Instant::now();
    let large = json!({"name": "list_repos", "arguments": {}, "_meta": {"padding": "x".repeat(200_000)}});
    let answer = alice.ask("tools/call", large);
    assert!(answer["result"]["content"].is_array(), "{answer}");
    // Those bodies are given up after half a minute, for which they would hold all the memory for bodies.
    assert!(begun.elapsed() < Duration::from_secs(25), "a large question waited for them");
}
