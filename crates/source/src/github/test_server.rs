//! GitHub test server: serves a real bare repository, with real trees, blobs, hashes, archives, ETags, rate limits,
//! pages and redirects.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use codelode_net::test_server::{Behaviour, ReceivedRequest, Reply, TestServer};

/// Behaviour of the server.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Trees with more entries are truncated.
    pub truncate: Option<usize>,
    /// Requests left in the rate limit; each response except 304 takes one.
    pub remaining: Option<u64>,
    /// Blobs that are not found.
    pub missing: Vec<String>,
    /// Blobs that are sent with other content.
    pub damaged: Vec<String>,
    /// URL of the archive; `None` for one on this server.
    pub codeload: Option<String>,
    /// Behaviour when sending the archive.
    pub archive: Option<Behaviour>,
    /// The only accepted token.
    pub token: Option<String>,
    /// Response to every request.
    pub refusal: Option<Reply>,
    /// Response to requests of the git protocol.
    pub git: Option<Reply>,
    /// A row missing from tree listings.
    pub hole: Option<String>,
}

/// A running server and its repository.
pub struct Hub {
    pub server: TestServer,
    pub conditions: Arc<Mutex<Conditions>>,
    /// The bare repository.
    pub bare: PathBuf,
    _folder: tempfile::TempDir,
}

/// Runs git; tests that need it fail if it is not installed.
pub fn git(at: &Path, args: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .current_dir(at)
        // Ignores the user's settings, and a `GIT_DIR` set by a hook.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .envs([
            ("GIT_AUTHOR_NAME", "A"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_AUTHOR_DATE", "1700000000 +0000"),
        ])
        .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.com")])
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .args(args)
        .output()
        .expect("git is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {errors}");
    output.stdout
}

/// Runs git and returns its output as text, trimmed at the end.
pub fn git_text(at: &Path, args: &[&str]) -> String {
    String::from_utf8_lossy(&git(at, args)).trim_end().to_owned()
}

impl Hub {
    /// Serves a repository with these files as `octo/cat`, optionally over TLS.
    pub fn of_files(files: &[(&str, &str)], tls: bool) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let work = folder.path().join("work");
        std::fs::create_dir(&work).expect("there is room");
        git(&work, &["init", "-q", "-b", "main"]);
        for (path, text) in files {
            let path = work.join(path);
            std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("there is room");
            std::fs::write(path, text).expect("there is room");
        }
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-q", "--allow-empty", "-m", "first"]);
        Self::of_work(folder, &work, tls)
    }

    /// Serves the commits of a working copy.
    pub fn of_work(folder: tempfile::TempDir, work: &Path, tls: bool) -> Self {
        let bare = folder.path().join("bare.git");
        git(folder.path(), &["clone", "-q", "--bare", &work.to_string_lossy(), &bare.to_string_lossy()]);
        let conditions = Arc::new(Mutex::new(Conditions::default()));
        let (shared, at) = (Arc::clone(&conditions), bare.clone());
        let answers = move |asked: &ReceivedRequest| answer(&at, asked, &shared);
        let test_server = if tls { TestServer::https(answers) } else { TestServer::http(answers) };
        Self { server: test_server, conditions, bare, _folder: folder }
    }

    /// Changes the behaviour.
    pub fn set(&self, change: impl FnOnce(&mut Conditions)) {
        change(&mut self.conditions.lock().expect("nothing panics with it"));
    }

    /// Number of requests whose path contains `part`.
    pub fn asked(&self, part: &str) -> usize {
        self.server.paths().iter().filter(|path| path.contains(part)).count()
    }
}

fn answer(bare: &Path, asked: &ReceivedRequest, conditions: &Mutex<Conditions>) -> Reply {
    let now = conditions.lock().expect("nothing panics with it").clone();
    if let Some(refusal) = now.refusal {
        return refusal;
    }
    if let Some(token) = &now.token
        && asked.header("authorization") != Some(&format!("Bearer {token}"))
        && !asked.path.starts_with("/codeload")
    {
        let (status, message) = match asked.header("authorization") {
            Some(_) => (401, "Bad credentials"),
            None => (404, "Not Found"),
        };
        return Reply::new(status, json!({ "message": message }).to_string());
    }
    if now.remaining == Some(0) {
        let words = json!({"message": "API rate limit exceeded for 127.0.0.1.", "documentation_url": "https://docs"});
        return limits(Reply::new(403, words.to_string()), 0);
    }
    let reply = route(bare, asked, &now);
    let etag = format!("W/\"{}\"", super::listing::object_id("blob", &reply.body));
    let same = reply.status == 200 && asked.header("if-none-match") == Some(&etag);
    let mut left = conditions.lock().expect("nothing panics with it");
    let remaining = left.remaining.map_or(59, |remaining| remaining - u64::from(!same));
    left.remaining = left.remaining.map(|_| remaining);
    match (same, reply.status) {
        (true, _) => limits(Reply::new(304, "").with("etag", etag), remaining),
        (false, 200) => limits(reply.with("etag", etag), remaining),
        (false, _) => limits(reply, remaining),
    }
}

fn limits(reply: Reply, remaining: u64) -> Reply {
    reply
        .with("x-ratelimit-limit", "60")
        .with("x-ratelimit-remaining", remaining.to_string())
        .with("x-ratelimit-reset", "1700003600")
        .with("x-ratelimit-resource", "core")
}

fn route(bare: &Path, asked: &ReceivedRequest, conditions: &Conditions) -> Reply {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    if let Some(reply) = conditions.git.as_ref().filter(|_| path.contains("/info/refs")) {
        return reply.clone();
    }
    let query: HashMap<String, String> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let json = |value: Value| Reply::new(200, value.to_string()).with("content-type", "application/json");
    let missing = || Reply::new(404, json!({"message": "Not Found"}).to_string());
    match segments.as_slice() {
        ["search", "repositories"] => search(&query),
        // A renamed repository is served under its id.
        ["repos", "octo", "old", rest @ ..] => {
            let rest: String = rest.iter().map(|part| format!("/{part}")).collect();
            Reply::redirect(301, format!("/repositories/7{rest}"))
        }
        ["repos", "octo", "empty", ..] => Reply::new(409, json!({"message": "Git Repository is empty."}).to_string()),
        ["repos", "octo", "cat", rest @ ..] | ["repositories", "7", rest @ ..] => match rest {
            ["commits", name @ ..] => commit_of(bare, &name.join("/")),
            ["git", "commits", sha] => {
                let tree = git_text(bare, &["rev-parse", &format!("{sha}^{{tree}}")]);
                json(json!({"sha": sha, "tree": {"sha": tree}}))
            }
            ["git", "trees", sha] => json(tree(bare, sha, query.contains_key("recursive"), conditions)),
            ["git", "blobs", sha] if conditions.missing.iter().any(|id| id == sha) => missing(),
            ["git", "blobs", sha] if conditions.damaged.iter().any(|id| id == sha) => Reply::new(200, "other"),
            ["git", "blobs", sha] => {
                assert_eq!(asked.header("accept"), Some("application/vnd.github.raw+json"));
                Reply::new(200, git(bare, &["cat-file", "blob", sha]))
            }
            [] => json(json!({"default_branch": git_text(bare, &["symbolic-ref", "--short", "HEAD"])})),
            ["git", "matching-refs", kind, start @ ..] => refs(bare, kind, &start.join("/"), path, &query, asked),
            ["tarball", sha] => {
                let place = format!("/codeload/{sha}.tar.gz?token=temporary");
                Reply::redirect(302, conditions.codeload.clone().unwrap_or(place))
            }
            _ => missing(),
        },
        ["codeload", name] => {
            let sha = name.trim_end_matches(".tar.gz");
            let bytes = git(bare, &["archive", "--format=tar.gz", "--prefix=octo-cat-1/", sha]);
            Reply::new(200, bytes).with_behaviour(conditions.archive.unwrap_or(Behaviour::Honest))
        }
        _ => missing(),
    }
}

fn commit_of(bare: &Path, name: &str) -> Reply {
    let name =
        url::form_urlencoded::parse(name.as_bytes()).next().map(|(name, _)| name.into_owned()).unwrap_or_default();
    let output = Command::new("git")
        .current_dir(bare)
        .args(["rev-parse", "--verify", "-q", &format!("{name}^{{commit}}")])
        .output()
        .expect("git is installed");
    if output.status.success() {
        Reply::new(200, String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Reply::new(422, json!({"message": format!("No commit found for SHA: {name}")}).to_string())
    }
}

/// A tree listing, recursive or not.
fn tree(bare: &Path, sha: &str, recursive: bool, conditions: &Conditions) -> Value {
    let mut args = vec!["ls-tree", "-l", "-z"];
    if recursive {
        args.extend(["-r", "-t"]);
    }
    args.push(sha);
    let listed = git(bare, &args);
    let rows = listed.split(|byte| *byte == 0).filter(|row| !row.is_empty()).map(|row| {
        let row = String::from_utf8_lossy(row);
        let (facts, path) = row.split_once('\t').expect("git writes a tab");
        let facts: Vec<&str> = facts.split_whitespace().collect();
        let mut entry = json!({"path": path, "mode": facts[0], "type": facts[1], "sha": facts[2]});
        if let Ok(size) = facts[3].parse::<u64>() {
            entry["size"] = size.into();
        }
        entry
    });
    let mut rows: Vec<Value> = rows.filter(|row| conditions.hole.as_deref() != row["path"].as_str()).collect();
    let truncated = conditions.truncate.is_some_and(|most| recursive && rows.len() > most);
    rows.truncate(if truncated { conditions.truncate.unwrap_or_default() } else { usize::MAX });
    json!({"sha": sha, "tree": rows, "truncated": truncated})
}

/// Branches or tags, page by page.
fn refs(
    bare: &Path,
    kind: &str,
    start: &str,
    path: &str,
    query: &HashMap<String, String>,
    asked: &ReceivedRequest,
) -> Reply {
    let listed =
        git_text(bare, &["for-each-ref", "--format=%(refname) %(objectname) %(objecttype)", &format!("refs/{kind}")]);
    let all: Vec<Value> = listed
        .lines()
        .filter(|line| line.starts_with(&format!("refs/{kind}/{start}")))
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            json!({"ref": words[0], "object": {"sha": words[1], "type": words[2]}})
        })
        .collect();
    let page: usize = query.get("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    let per_page = 3;
    let here: Vec<&Value> = all.iter().skip((page - 1) * per_page).take(per_page).collect();
    let reply = Reply::new(200, json!(here).to_string());
    if page * per_page < all.len() {
        let host = asked.header("host").expect("clients say it");
        let scheme = if asked.header("x-forwarded-proto").is_some() { "https" } else { "http" };
        reply.with("link", format!("<{scheme}://{host}{path}?page={}>; rel=\"next\"", page + 1))
    } else {
        reply
    }
}

/// Search results: `octo/cat`, 145 times.
fn search(query: &HashMap<String, String>) -> Reply {
    let per_page: usize = query["per_page"].parse().expect("a number");
    let page: usize = query["page"].parse().expect("a number");
    if query["q"] == "nothing" {
        return Reply::new(200, json!({"total_count": 0, "incomplete_results": false, "items": []}).to_string());
    }
    let item = |n: usize| {
        json!({
            "name": format!("cat{n}"), "full_name": format!("octo/cat{n}"), "private": false,
            "html_url": format!("https://github.com/octo/cat{n}"), "description": null, "fork": false,
            "created_at": "2023-04-01T21:16:57Z", "updated_at": "2025-04-30T14:24:55Z", "pushed_at": "2025-04-23T17:55:27Z",
            "git_url": "git://github.com/octo/cat.git", "ssh_url": "git@github.com:octo/cat.git",
            "clone_url": "https://github.com/octo/cat.git", "svn_url": "https://github.com/octo/cat", "homepage": "",
            "language": "Rust", "topics": ["cats"], "visibility": "public", "default_branch": "main",
            "license": {"key": "mit", "name": "MIT License", "spdx_id": "MIT", "url": "https://api.github.com/licenses/mit"},
            "stargazers_count": 42,
        })
    };
    let first = (page - 1) * per_page;
    let items: Vec<Value> = (first..145.min(first + per_page)).map(item).collect();
    Reply::new(200, json!({"total_count": 145, "incomplete_results": false, "items": items}).to_string())
}
