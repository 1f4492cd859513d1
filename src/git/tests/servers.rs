//! Real servers on the loopback: git's own CGI behind TLS, its daemon, and servers that fail in every way.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tempfile::TempDir;

use super::{git, repository};
use crate::git::{Access, Age, Cache, Error, Keep, Opened, Remote, Token, Wish};
use crate::model::SourceTree as _;
use crate::net::stand::{Asked, Manner, Reply, Stand};
use crate::net::{self, Client};

/// Answers as git's own CGI does, for the repositories below a folder.
fn backend(root: &Path, asked: &Asked) -> Reply {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &asked.method)
        .env("CONTENT_TYPE", asked.header("content-type").unwrap_or_default())
        .env("GIT_PROTOCOL", asked.header("git-protocol").unwrap_or_default())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("git is installed where tests run");
    let (mut stdin, body) = (child.stdin.take().expect("it is a pipe"), asked.body.clone());
    let writer = std::thread::spawn(move || stdin.write_all(&body));
    let output = child.wait_with_output().expect("it ends");
    let _ = writer.join();
    let end = output.stdout.windows(4).position(|four| four == b"\r\n\r\n").expect("headers end");
    let head = String::from_utf8_lossy(&output.stdout[..end]).into_owned();
    let mut reply = Reply::new(200, &output.stdout[end + 4..]);
    for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
        match name {
            "Status" => reply.status = value[..3].parse().expect("a number"),
            _ => reply = reply.with(name, value),
        }
    }
    reply
}

/// A folder with clones, and what it takes to fill it.
struct World {
    folder: TempDir,
    cache: Cache,
}

fn access(certificate: &str, folder: &Path, tokens: &[(&str, &str)]) -> Access {
    let ca_file = folder.join("ca.pem");
    std::fs::write(&ca_file, certificate).expect("files can be written");
    let options = net::Options {
        trusted_hosts: vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
        ca_file: (!certificate.is_empty()).then_some(ca_file),
        silence: Duration::from_secs(2),
        ..net::Options::default()
    };
    let tokens = tokens.iter().map(|(host, token)| ((*host).to_owned(), Token((*token).to_owned()))).collect();
    Access {
        client: Client::new(options),
        tokens: Arc::new(tokens),
        ssh_command: "/bin/false".to_owned(),
        max_clone: 1 << 30,
    }
}

fn world(certificate: &str, tokens: &[(&str, &str)]) -> World {
    let folder = TempDir::new().expect("the system has room for a folder");
    let access = access(certificate, folder.path(), tokens);
    let cache = Cache::shared(folder.path().join("git"), access, Keep::default());
    World { folder, cache }
}

fn quiet() -> Wish<'static> {
    Wish { progress: &|_, _, _| {}, cancelled: Arc::new(AtomicBool::new(false)) }
}

fn remote(url: &str) -> Remote {
    Remote::parse(url, None).expect("it is a name")
}

/// The paths of a commit and the first bytes of each.
fn files(opened: &Opened) -> Vec<(String, String)> {
    let entries = opened.commit.entries().expect("the tree is there");
    entries
        .iter()
        .map(|entry| {
            let bytes = opened.commit.read(entry).expect("its content is there");
            assert_eq!(entry.size, Some(bytes.len() as u64));
            (entry.path.clone(), String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}

fn write(folder: &Path, path: &str, text: &str) {
    std::fs::write(folder.join(path), text).expect("files can be written");
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", text]);
}

#[test]
fn a_repository_is_cloned_over_https_and_updated() {
    let origin = repository(&["a.py", "deep/b.py"]);
    git(origin.path(), &["branch", "-m", "main"]);
    let root = origin.path().to_owned();
    let stand = Stand::https(move |asked| backend(&root, asked));
    let world = world(&stand.certificate, &[]);
    let remote = remote(&stand.url("/.git"));

    let refs = world.cache.refs(&remote, &quiet()).expect("refs are listed");
    assert_eq!(refs.default.as_deref(), Some("refs/heads/main"));
    assert_eq!(refs.all.len(), 1);

    let first = world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is cloned");
    assert!(first.fetched.is_some_and(|bytes| bytes > 100));
    assert_eq!(first.commit.commit(), git(origin.path(), &["rev-parse", "HEAD"]));
    assert_eq!(files(&first).len(), 2);

    // Nothing is asked for again while it is young.
    let asked = stand.paths().len();
    let again = world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is here");
    assert_eq!((again.fetched, stand.paths().len()), (None, asked));

    write(origin.path(), "c.py", "new");
    git(origin.path(), &["tag", "-a", "v1", "-m", "one"]);
    let kept = world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is here");
    assert_eq!(kept.commit.commit(), first.commit.commit());
    let newest = world.cache.open(&remote, None, Age::Now, &quiet()).expect("it is updated");
    assert_eq!(newest.commit.commit(), git(origin.path(), &["rev-parse", "HEAD"]));
    assert_eq!(files(&newest).len(), 3);
    let tag = world.cache.open(&remote, Some("v1"), Age::Kept, &quiet()).expect("the same commit");
    assert_eq!((tag.fetched, tag.found.reference.as_str()), (None, "refs/tags/v1"));
    assert_eq!(files(&first).len(), 2);
    assert!(world.folder.path().join("git/repos").read_dir().expect("it is there").count() == 1);
}
