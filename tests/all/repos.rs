//! Repositories that a server keeps up to date: indexed at the start, by webhook, and when their file changes.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use ring::hmac;
use serde_json::{Value, json};

use super::web::{PATIENCE, Site};
use crate::place::git;

const V2025: &str = "2025-06-18";
const SECRET: &str = "a secret of the forge";

/// Writes a file and commits it.
fn commit(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("the folder is ours");
    git(folder, &["add", "."]);
    git(folder, &["commit", "-qm", name]);
}

fn signed(body: &str) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), body.as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

/// Waits until a symbol is found.
fn until_found(site: &Site, name: &str) -> Value {
    let begun = Instant::now();
    loop {
        let mut client = site.client();
        client.open(V2025);
        let found = client.call("search_symbols", json!({"query": name, "repos": ["*"]}));
        if found.to_string().contains(&format!("::{name}#")) {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{name} is not found: {found}\n{}", site.log());
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn repositories_of_a_file_are_indexed_and_follow_their_webhooks() {
    let place = tempfile::tempdir().expect("there is room for a folder");
    let root = place.path().canonicalize().expect("it exists");
    let (upstream, plain) = (root.join("upstream"), root.join("plain"));
    for folder in [&upstream, &plain] {
        fs::create_dir_all(folder).expect("the folder is ours");
    }
    git(&upstream, &["init", "-q", "-b", "main"]);
    commit(&upstream, "a.py", "def first_of_upstream():\n    return 1\n");
    fs::write(plain.join("b.py"), "def of_a_folder():\n    return 1\n").expect("the folder is ours");
    let file = root.join("repos.toml");
    let url = format!("file://{}", upstream.display());
    let entry =
        format!("[upstream]\nurl = \"{url}\"\nref = \"main\"\npoll = \"never\"\nsecret_env = \"HOOK_SECRET\"\n");
    fs::write(&file, &entry).expect("the folder is ours");
    let flags = ["--web", "--repos", file.to_str().expect("a path")];
    let site = Site::start_with(&flags, &[("HOOK_SECRET", SECRET)]);
    until_found(&site, "first_of_upstream");
    // Its name is told a moment after its symbols.
    let begun = Instant::now();
    while !site.client().get("/").body.contains(">upstream</span>") {
        assert!(begun.elapsed() < PATIENCE, "{}", site.client().get("/").body);
        thread::sleep(Duration::from_millis(100));
    }

    commit(&upstream, "c.py", "def second_of_upstream():\n    return 1\n");
    let body = json!({"ref": "refs/heads/main", "repository": {"clone_url": url}}).to_string();
    let send = |path: &str, signature: &str| {
        site.client().send_to("POST", path, &body, &[("X-Hub-Signature-256", signature)]).status
    };
    assert_eq!(send("/hooks/github", "sha256=00"), 401);
    assert_eq!(send("/hooks/github", &signed("another body")), 401);
    assert_eq!(send("/hooks/elsewhere", &signed(&body)), 404);
    assert_eq!(site.client().get("/hooks/github").status, 405);
    assert_eq!(send("/hooks/github", &signed(&body)), 202);
    until_found(&site, "second_of_upstream");

    // The file is read again; folders of the server are for it to keep, whatever callers may index.
    fs::write(&file, format!("{entry}[plain]\npath = \"{}\"\n", plain.display())).expect("the folder is ours");
    until_found(&site, "of_a_folder");
    fs::write(&file, "[broken").expect("the folder is ours");
    assert!(site.log_with("malformed").contains("keeping the earlier repositories"), "{}", site.log());
    assert_eq!(send("/hooks/github", &signed(&body)), 202);
    assert!(!site.log().contains(SECRET));
}

#[test]
fn a_file_that_says_too_little_is_refused_at_the_start() {
    let place = tempfile::tempdir().expect("there is room for a folder");
    let file = place.path().join("repos.toml");
    for (text, problem) in [
        ("[a]", "a `url` or a `path`"),
        ("[a]\nurl = \"acme/shop\"\npath = \"/srv\"", "a `url` or a `path`"),
        ("[a]\npath = \"srv\"", "not absolute"),
        ("[a]\nurl = \"acme/shop\"\npoll = \"often\"", "invalid `poll`"),
        ("[a]\nurl = \"acme/shop\"\nsecret_env = \"NO_SUCH_VARIABLE_HERE\"", "NO_SUCH_VARIABLE_HERE"),
        ("[a]\nurl = \"acme/shop\"\nbranch = \"x\"", "branch"),
    ] {
        fs::write(&file, text).expect("the folder is ours");
        let said = Site::refused(&["--repos", file.to_str().expect("a path")], &[]);
        assert!(said.contains(problem), "{text}: {said}");
    }
    let without = Site::start(&[]);
    assert_eq!(without.client().send_to("POST", "/hooks/github", "{}", &[]).status, 404);
}
