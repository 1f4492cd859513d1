//! Tools that use GitHub, against a test server.

use serde_json::{Map, Value, json};

use crate::tools::{Context, Envelope, Request, call};
use codelode_base::config::{Config, GitHubMode, Secret};
use codelode_net::test_server::Reply;
use codelode_source::github::test_server::{Hub, git, git_text};

/// A context that uses the test server, with its folder.
fn context(hub: &Hub, token: Option<&str>) -> (Context, tempfile::TempDir) {
    let home = tempfile::tempdir().expect("there is room");
    let mut config = Config { home: home.path().join("codelode"), ..Config::default() };
    config.trusted_hosts = vec!["localhost".to_owned()];
    config.github.api = hub.server.url("/").parse().expect("it is a URL");
    if !hub.server.certificate.is_empty() {
        let path = home.path().join("ca.pem");
        std::fs::write(&path, &hub.server.certificate).expect("there is room");
        config.ca_file = Some(path);
    }
    let host = format!("localhost:{}", hub.server.address.port());
    config.git.tokens = token.map(|token| (host, Secret(token.to_owned()))).into_iter().collect();
    (Context::new(config), home)
}

fn ask(cx: &Context, args: Value) -> Envelope {
    run(cx, "search_repositories", args)
}

fn run(cx: &Context, tool: &str, args: Value) -> Envelope {
    let args: Map<String, Value> = args.as_object().expect("tests pass objects").clone();
    call(cx, tool, args, &Request::default())
}

#[test]
fn search_repositories_answers_with_the_fields_that_were_promised() {
    let hub = Hub::of_files(&[("a", "a")], false);
    let (cx, _home) = context(&hub, None);
    let answer = ask(&cx, json!({"query": "cat", "sort_by": "stars", "order": "ascending", "per_page": 2, "page": 3}));
    assert!(!answer.is_error && answer.found, "{}", answer.text);
    let mut value = answer.value;
    let first = value["repositories"][0].take();
    let expected = json!({
        "full_name": "octo/cat4", "name": "cat4", "stargazers_count": 42, "language": "Rust", "private": false,
        "html_url": "https://github.com/octo/cat4", "fork": false, "created_at": "2023-04-01T21:16:57Z",
        "updated_at": "2025-04-30T14:24:55Z", "pushed_at": "2025-04-23T17:55:27Z",
        "git_url": "git://github.com/octo/cat.git", "ssh_url": "git@github.com:octo/cat.git",
        "clone_url": "https://github.com/octo/cat.git", "svn_url": "https://github.com/octo/cat",
        "license": {"key": "mit", "name": "MIT License", "spdx_id": "MIT", "url": "https://api.github.com/licenses/mit"},
        "topics": ["cats"], "visibility": "public", "default_branch": "main",
    });
    assert_eq!(first, expected);
    assert_eq!(value["repositories"].as_array().map(Vec::len), Some(2));
    assert_eq!((&value["total_count"], &value["page"], &value["per_page"]), (&json!(145), &json!(3), &json!(2)));
    assert_eq!(value["_meta"]["rate_limit_remaining"], 59);
    assert_eq!(value["_meta"]["rate_limit_reset"], 1_700_003_600_u64);
    assert_eq!(hub.server.paths(), ["/search/repositories?q=cat&sort=stars&order=asc&per_page=2&page=3"]);
    let nothing = ask(&cx, json!({"query": "nothing"}));
    assert!(!nothing.is_error && !nothing.found, "{}", nothing.text);
}

#[test]
fn a_page_that_does_not_fit_goes_on_without_another_count() {
    let hub = Hub::of_files(&[("a", "a")], false);
    hub.set(|conditions| conditions.remaining = Some(3));
    let (cx, _home) = context(&hub, None);
    let (mut names, mut cursor, mut calls) = (Vec::new(), Value::Null, 0);
    loop {
        let mut args = json!({"query": "cat", "per_page": 40, "max_tokens": 3000});
        if !cursor.is_null() {
            args["cursor"] = cursor;
        }
        let answer = ask(&cx, args);
        assert!(!answer.is_error, "{}", answer.text);
        let page = answer.value["repositories"].as_array().expect("a list").clone();
        names.extend(page.iter().map(|found| found["full_name"].as_str().expect("a name").to_owned()));
        calls += 1;
        cursor = answer.value["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(calls > 1);
    assert_eq!(names, (0..40).map(|n| format!("octo/cat{n}")).collect::<Vec<_>>());
    // Only the first request counts; the others were conditional.
    assert_eq!(hub.conditions.lock().expect("nothing panics with it").remaining, Some(2));
}

#[test]
fn what_github_would_refuse_is_not_asked() {
    let hub = Hub::of_files(&[("a", "a")], false);
    let (cx, _home) = context(&hub, None);
    for args in [
        json!({"query": "  "}),
        json!({"query": "x".repeat(257)}),
        json!({"query": "x", "per_page": 0}),
        json!({"query": "x", "per_page": 101}),
        json!({"query": "x", "page": 0}),
        json!({"query": "x", "per_page": 100, "page": 11}),
        json!({"query": "x", "sort_by": "colour"}),
    ] {
        let answer = ask(&cx, args.clone());
        assert_eq!(answer.value["code"], "invalid_arguments", "{args}: {}", answer.text);
    }
    assert_eq!(hub.server.connections(), 0);
    assert!(!ask(&cx, json!({"query": "x", "per_page": 100, "page": 10})).is_error);
}

#[test]
fn refusals_have_codes_and_say_when_to_come_back() {
    let hub = Hub::of_files(&[("a", "a")], true);
    let (cx, home) = context(&hub, Some("s3cret"));
    let refuse = |status: u16, headers: &[(&str, &str)], message: &str| {
        let refusal = Reply::new(status, json!({"message": message}).to_string());
        let refusal = headers.iter().fold(refusal, |reply, (name, value)| reply.with(name, *value));
        hub.set(|conditions| conditions.refusal = Some(refusal));
        let answer = ask(&cx, json!({"query": "cat"}));
        assert!(answer.is_error && !answer.text.contains("s3cret"), "{}", answer.text);
        answer.value
    };
    let used_up = [("x-ratelimit-limit", "10"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1620000000")];
    let limited = refuse(403, &used_up, "API rate limit exceeded for user ID 1.");
    assert_eq!(limited["code"], "rate_limit_exceeded");
    assert_eq!(limited["error"], "GitHub API rate limit exceeded; it resets at 2021-05-03T00:00:00Z");
    assert_eq!(limited["details"], json!({"rate_limit_reset": 1_620_000_000, "rate_limit_remaining": 0}));
    let slow = refuse(403, &[("retry-after", "60")], "You have exceeded a secondary rate limit.");
    assert_eq!((&slow["code"], &slow["details"]["retry_after"]), (&json!("rate_limit_exceeded"), &json!(60)));
    for (status, message, code) in [
        (401, "Bad credentials", "access_denied"),
        (403, "Resource not accessible", "access_denied"),
        (404, "Not Found", "not_found"),
        (422, "Validation Failed", "invalid_arguments"),
        (451, "Blocked", "access_denied"),
        (503, "", "unavailable"),
    ] {
        // A refusal with a retry time is not retried at once.
        let headers: &[(&str, &str)] = if status == 503 { &[("retry-after", "1")] } else { &[] };
        assert_eq!(refuse(status, headers, message)["code"], code, "{status}");
    }
    assert!(hub.server.asked().iter().all(|asked| asked.header("authorization") == Some("Bearer s3cret")));
    let mut folders = vec![home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it can be read").map(|entry| entry.expect("so can each")) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let bytes = std::fs::read(entry.path()).expect("it can be read");
                assert!(!String::from_utf8_lossy(&bytes).contains("s3cret"), "{}", entry.path().display());
            }
        }
    }
}

const FILES: &[(&str, &str)] = &[
    ("src/lib.rs", "/// Says something.\npub fn meow() -> u8 { 1 }\n"),
    ("src/deep/purr.rs", "pub fn purr() {}\n"),
    ("README.md", "# cat\n"),
    ("logo.png", "\u{0}PNG"),
];

/// Runs an indexing call in a mode and returns the answer.
fn index(cx: &mut Context, mode: GitHubMode, args: Value) -> Value {
    cx.config.github.mode = mode;
    let answer = run(cx, "index_repo", args);
    assert!(!answer.is_error, "{mode:?}: {}", answer.text);
    answer.value
}

#[test]
fn a_repository_is_the_same_index_by_archive_and_by_blobs() {
    let hub = Hub::of_files(FILES, true);
    let head = git_text(&hub.bare, &["rev-parse", "main"]);
    let url = hub.server.url("/octo/cat");
    for mode in [GitHubMode::Tarball, GitHubMode::Api] {
        let (mut cx, _home) = context(&hub, None);
        let made = index(&mut cx, mode, json!({"url": url}));
        let facts = ["git_head", "ref", "file_count", "symbol_count", "up_to_date"].map(|key| made[key].clone());
        assert_eq!(facts, [json!(head), json!("refs/heads/main"), json!(3), json!(3), json!(false)], "{made}");
        assert_eq!(made["tree"], git_text(&hub.bare, &["rev-parse", "main^{tree}"]));
        assert_eq!(made["_meta"]["rate_limit_remaining"], 59);
        let found = run(&cx, "search_symbols", json!({"repo": made["repo"], "query": "purr"}));
        assert!(found.text.contains("src/deep/purr.rs"), "{}", found.text);
        // On a second call, ETags show that nothing has changed, and such requests do not count.
        hub.set(|conditions| conditions.remaining = Some(40));
        let again = index(&mut cx, mode, json!({"url": url}));
        assert_eq!((&again["up_to_date"], &again["_meta"]["rate_limit_remaining"]), (&json!(true), &json!(40)));
        hub.set(|conditions| conditions.remaining = None);
    }
}

#[test]
fn a_commit_costs_what_it_changed() {
    let hub = Hub::of_files(FILES, true);
    let url = hub.server.url("/octo/cat");
    let (mut cx, _home) = context(&hub, None);
    index(&mut cx, GitHubMode::Api, json!({"url": url}));
    let work = tempfile::tempdir().expect("there is room");
    git(work.path(), &["clone", "-q", &hub.bare.to_string_lossy(), "w"]);
    let work = work.path().join("w");
    std::fs::write(work.join("src/deep/purr.rs"), "pub fn purr() {}\npub fn hiss() {}\n").expect("there is room");
    git(&work, &["commit", "-q", "-a", "-m", "second"]);
    git(&work, &["push", "-q", "origin", "main"]);
    let before = hub.asked("/git/blobs/");
    let made = index(&mut cx, GitHubMode::Api, json!({"url": url}));
    assert_eq!((&made["files_changed"], &made["symbol_count"]), (&json!(1), &json!(4)), "{made}");
    assert_eq!(hub.asked("/git/blobs/") - before, 1);
}

#[test]
fn names_mean_to_github_what_they_mean_to_git() {
    let hub = Hub::of_files(FILES, true);
    git(&hub.bare, &["branch", "feature", "main"]);
    git(&hub.bare, &["branch", "release/1.x", "main"]);
    git(&hub.bare, &["tag", "-a", "-m", "one", "v1", "main"]);
    git(&hub.bare, &["tag", "feature", "main"]);
    let head = git_text(&hub.bare, &["rev-parse", "main"]);
    let (mut cx, _home) = context(&hub, None);
    for (path, name, reference) in [
        ("", Some("v1"), "refs/tags/v1"),
        ("", Some("feature"), "refs/heads/feature"),
        ("", Some("refs/tags/feature"), "refs/tags/feature"),
        ("", Some("release/1.x"), "refs/heads/release/1.x"),
        ("", Some(&head[..9]), head.as_str()),
        ("", Some(head.as_str()), head.as_str()),
    ] {
        let made = index(
            &mut cx,
            GitHubMode::Tarball,
            json!({"url": hub.server.url(&format!("/octo/cat{path}")), "ref_name": name}),
        );
        assert_eq!((&made["ref"], &made["git_head"]), (&json!(reference), &json!(head)), "{name:?}");
    }
    cx.config.github.mode = GitHubMode::Tarball;
    for (url, name, code) in [("/octo/cat", Some("nope"), "not_found"), ("/octo/dog", None, "not_found")] {
        let answer = run(&cx, "index_repo", json!({"url": hub.server.url(url), "ref_name": name}));
        assert_eq!(answer.value["code"], code, "{}", answer.text);
    }
    hub.set(|conditions| conditions.remaining = Some(0));
    let answer = run(&cx, "index_repo", json!({"url": hub.server.url("/octo/cat"), "ref_name": "main"}));
    assert_eq!(answer.value["code"], "rate_limit_exceeded", "{}", answer.text);
    assert_eq!(answer.value["details"]["rate_limit_reset"], 1_700_003_600_u64);
}

#[test]
fn what_git_cannot_reach_comes_another_way_and_says_so() {
    let hub = Hub::of_files(FILES, true);
    hub.set(|conditions| conditions.git = Some(Reply::new(500, "no").with("retry-after", "1")));
    let (mut cx, _home) = context(&hub, None);
    let url = hub.server.url("/octo/cat");
    let made = index(&mut cx, GitHubMode::Auto, json!({"url": url}));
    assert_eq!((&made["file_count"], &made["symbol_count"]), (&json!(3), &json!(3)), "{made}");
    let warning = made["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.starts_with("read without git, which failed: "), "{made}");
    // The mode `git` has no fallback.
    cx.config.github.mode = GitHubMode::Git;
    let answer = run(&cx, "index_repo", json!({"url": url, "ref_name": "main"}));
    assert_eq!(answer.value["code"], "unavailable", "{}", answer.text);
}

#[test]
fn files_and_refs_come_without_git_as_well() {
    let hub = Hub::of_files(FILES, true);
    git(&hub.bare, &["tag", "-a", "-m", "one", "v1", "main"]);
    let head = git_text(&hub.bare, &["rev-parse", "main"]);
    hub.set(|conditions| conditions.git = Some(Reply::new(500, "no").with("retry-after", "1")));
    let url = hub.server.url("/octo/cat");
    for mode in [GitHubMode::Auto, GitHubMode::Tarball, GitHubMode::Api] {
        let (mut cx, _home) = context(&hub, None);
        cx.config.github.mode = mode;
        let ask = |tool: &str, args: Value| {
            let answer = run(&cx, tool, args);
            assert!(!answer.is_error, "{mode:?} {tool}: {}", answer.text);
            // A requested mode needs no note.
            assert_eq!(answer.value["_meta"].get("read_without_git").is_some(), mode == GitHubMode::Auto, "{tool}");
            assert!(answer.value["_meta"]["rate_limit_remaining"].is_u64(), "{tool}");
            answer.value
        };
        let refs = ask("list_repository_refs", json!({"repository": url}));
        assert_eq!(refs["default"], "refs/heads/main");
        let tag = git_text(&hub.bare, &["rev-parse", "v1"]);
        let expected = json!([
            {"ref": "refs/heads/main", "object": {"sha": head, "type": "commit"}},
            {"ref": "refs/tags/v1", "object": {"sha": tag, "type": "tag"}},
        ]);
        assert_eq!(refs["refs"], expected, "{mode:?}");
        let found = ask("grep_repository", json!({"repository": url, "pattern": "fn \\w+", "ref_name": "v1"}));
        assert_eq!((&found["commit"], &found["stats"]["total_matches"]), (&json!(head), &json!(2)), "{found}");
        assert_eq!(found["stats"]["left_out"], json!({"binary": 1}), "{found}");
        let archives = hub.asked("/tarball/");
        let content = ask("get_file_content", json!({"repo": url, "file_path": "src/deep/purr.rs"}));
        assert_eq!(content["content"], "pub fn purr() {}\n");
        assert_eq!(hub.asked("/tarball/"), archives, "what was searched is kept, by {mode:?}");
        let tree = ask("get_file_tree", json!({"repo": format!("{url}/tree/main/src")}));
        assert_eq!(tree["tree"][0]["path"], "src/deep", "{tree}");
    }
    // The mode `git` has no fallback, and a missing repository is not requested twice.
    let (mut cx, _home) = context(&hub, None);
    cx.config.github.mode = GitHubMode::Git;
    let refused = run(&cx, "list_repository_refs", json!({"repository": url}));
    assert_eq!(refused.value["code"], "unavailable", "{}", refused.text);
    hub.set(|conditions| conditions.git = Some(Reply::new(404, "no")));
    cx.config.github.mode = GitHubMode::Auto;
    let before = hub.asked("/repos/");
    let missing = run(&cx, "grep_repository", json!({"repository": url, "pattern": "x"}));
    assert_eq!((&missing.value["code"], hub.asked("/repos/")), (&json!("not_found"), before), "{}", missing.text);
}

#[test]
fn an_archive_is_downloaded_once_for_each_commit() {
    let many: Vec<(String, String)> =
        (0..20).map(|number| (format!("src/{number}.rs"), format!("pub fn meow{number}() {{}}\n"))).collect();
    let files: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let hub = Hub::of_files(&files, true);
    let url = hub.server.url("/octo/cat");
    let (mut cx, home) = context(&hub, None);
    cx.config.github.mode = GitHubMode::Tarball;
    let grep = |cx: &Context, args: Value| {
        let answer = run(cx, "grep_repository", args);
        assert!(!answer.is_error, "{}", answer.text);
        answer.value["stats"]["total_matches"].as_u64().expect("a count")
    };
    // The archive has every file, whichever was requested first.
    let narrow = json!({"repository": url, "pattern": "meow", "include_globs": ["src/1.rs"]});
    assert_eq!((grep(&cx, narrow), hub.asked("/tarball/")), (1, 1));
    let all = || json!({"repository": url, "pattern": "meow"});
    assert_eq!((grep(&cx, all()), hub.asked("/tarball/")), (20, 1));
    // Another process finds it, too.
    let other = Context::new(cx.config.clone());
    assert_eq!((grep(&other, all()), hub.asked("/tarball/")), (20, 1));
    let content = run(&other, "get_file_content", json!({"repo": url, "file_path": "src/7.rs"}));
    assert_eq!((&content.value["content"], hub.asked("/tarball/")), (&json!("pub fn meow7() {}\n"), 1));
    assert_eq!(hub.asked("/git/blobs/"), 0);

    // A newer commit is another archive.
    let work = home.path().join("work");
    git(home.path(), &["clone", "-q", &hub.bare.to_string_lossy(), &work.to_string_lossy()]);
    std::fs::write(work.join("src/20.rs"), "pub fn meow20() {}\n").expect("there is room");
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "-q", "-m", "second"]);
    git(&work, &["push", "-q", "origin", "HEAD:main"]);
    assert_eq!((grep(&cx, all()), hub.asked("/tarball/")), (21, 2));
    assert_eq!((grep(&cx, all()), hub.asked("/tarball/")), (21, 2));
}

#[test]
fn what_came_one_by_one_is_kept_as_well() {
    let hub = Hub::of_files(FILES, true);
    let url = hub.server.url("/octo/cat");
    let (mut cx, _home) = context(&hub, None);
    cx.config.github.mode = GitHubMode::Api;
    let ask = |tool: &str, args: Value| {
        let answer = run(&cx, tool, args);
        assert!(!answer.is_error, "{}", answer.text);
        answer.value
    };
    ask("get_file_content", json!({"repo": url, "file_path": "src/deep/purr.rs"}));
    assert_eq!(hub.asked("/git/blobs/"), 1);
    let first = ask("grep_repository", json!({"repository": url, "pattern": "."}));
    let asked = hub.asked("/git/blobs/");
    let second = ask("grep_repository", json!({"repository": url, "pattern": "."}));
    assert_eq!((first["matches"].clone(), hub.asked("/git/blobs/")), (second["matches"].clone(), asked));
    assert_eq!(asked, FILES.len(), "each comes once");
}
