//! Servers that lie: about how many objects come, how large they are, what they sum up to, and how long the answer is.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sha1::{Digest, Sha1};

use super::servers::{access, access_for, fake_ssh_that, files, quiet, remote, world};
use super::{git, repository};
use crate::git::{Age, Cache, CacheLimits, Error, FetchAccess};
use codelode_net::test_server::{Behaviour, PATIENCE, ReceivedRequest, Reply, TestServer, git_backend};

/// A packet's content; `None` for the marks between parts.
type Packet<'a> = Option<&'a [u8]>;

/// The packets of an answer, each with all of its bytes.
fn packets(mut body: &[u8]) -> Vec<(&[u8], Packet<'_>)> {
    let mut found = Vec::new();
    while !body.is_empty() {
        let length = std::str::from_utf8(&body[..4]).expect("lengths are text");
        let length = usize::from_str_radix(length, 16).expect("lengths are numbers");
        let (packet, rest) = body.split_at(length.max(4));
        found.push((packet, (length > 4).then(|| &packet[4..])));
        body = rest;
    }
    found
}

/// The answer to a fetch with its pack changed.
fn with_pack(reply: &Reply, change: &dyn Fn(&mut Vec<u8>)) -> Reply {
    let packets = packets(&reply.body);
    let begins = packets.iter().position(|(_, content)| *content == Some(b"packfile\n"));
    let begins = begins.expect("a fetch is answered with a pack");
    let (before, after) = packets.split_at(begins + 1);
    let mut pack: Vec<u8> = Vec::new();
    for content in after.iter().filter_map(|(_, content)| content.and_then(|content| content.strip_prefix(&[1]))) {
        pack.extend(content);
    }
    change(&mut pack);
    let mut body: Vec<u8> = before.iter().flat_map(|(packet, _)| packet.iter().copied()).collect();
    for part in pack.chunks(60_000) {
        body.extend(format!("{:04x}\u{1}", part.len() + 5).bytes());
        body.extend(part);
    }
    body.extend(b"0000");
    Reply { body, ..reply.clone() }
}

/// Corrects the checksum at a pack's end, so that only the lie is wrong.
fn sign(pack: &mut Vec<u8>) {
    pack.truncate(pack.len() - 20);
    let sum = Sha1::digest(&pack);
    pack.extend(sum);
}

/// Changes the size in the first entry.
fn resize(pack: &mut Vec<u8>, new: &dyn Fn(u64) -> u64) {
    let (first, mut at) = (pack[12], 12);
    let (mut size, mut shift) = (u64::from(first & 15), 4);
    while pack[at] & 0x80 != 0 {
        at += 1;
        size |= u64::from(pack[at] & 0x7f) << shift;
        shift += 7;
    }
    let mut size = new(size);
    let mut header = vec![(first & 0x70) | (size & 15) as u8];
    size >>= 4;
    while size > 0 {
        *header.last_mut().expect("it has one") |= 0x80;
        header.push((size & 0x7f) as u8);
        size >>= 7;
    }
    pack.splice(12..=at, header);
}

fn is_fetch(asked: &ReceivedRequest) -> bool {
    asked.method == "POST" && String::from_utf8_lossy(&asked.body).contains("command=fetch")
}

type Lie = Box<dyn Fn(&Reply) -> Reply + Send>;

fn about_the_pack(change: impl Fn(&mut Vec<u8>) + Send + 'static) -> Lie {
    Box::new(move |reply| {
        with_pack(reply, &|pack| {
            change(pack);
            sign(pack);
        })
    })
}

fn about_the_count(change: fn(u32) -> u32) -> Lie {
    about_the_pack(move |pack| {
        let count = u32::from_be_bytes(pack[8..12].try_into().expect("four bytes"));
        pack[8..12].copy_from_slice(&change(count).to_be_bytes());
    })
}

fn about_a_size(change: fn(u64) -> u64) -> Lie {
    about_the_pack(move |pack| resize(pack, &change))
}

#[test]
fn a_lie_costs_an_error_and_leaves_nothing() {
    let origin = repository(&["a.py", "deep/b.py"]);
    git(origin.path(), &["commit", "-q", "--allow-empty", "-m", &"long ".repeat(100)]);
    let lie: Arc<Mutex<Option<Lie>>> = Arc::default();
    let (root, told) = (origin.path().to_owned(), lie.clone());
    let server = TestServer::https(move |asked| {
        let reply = git_backend(&root, asked);
        match &*told.lock().expect("nobody panics with it") {
            Some(lie) if is_fetch(asked) => lie(&reply),
            _ => reply,
        }
    });
    let world = world(&server.certificate, &[]);
    let remote = remote(&server.url("/.git"));
    let lies: Vec<(&str, Lie)> = vec![
        ("one object more", about_the_count(|count| count + 1)),
        ("one object fewer", about_the_count(|count| count - 1)),
        ("no object", about_the_count(|_| 0)),
        ("more objects than there can be", about_the_count(|_| u32::MAX)),
        ("a larger object", about_a_size(|size| size + 1)),
        ("a smaller object", about_a_size(|size| size - 1)),
        ("an object of a terabyte", about_a_size(|_| 1 << 40)),
        ("an object as large as may be read", about_a_size(|_| (1 << 30) - 1)),
        ("an object that no number holds", about_a_size(|_| u64::MAX >> 1)),
        ("another sum", Box::new(|reply| with_pack(reply, &|pack| *pack.last_mut().expect("a sum") ^= 1))),
        ("no pack", Box::new(|reply| with_pack(reply, &|pack| *pack = b"PUCK".to_vec()))),
        (
            "a shorter answer",
            Box::new(|reply| reply.clone().with_behaviour(Behaviour::Claims(reply.body.len() as u64 - 40))),
        ),
    ];
    for (what, one) in lies {
        *lie.lock().expect("nobody panics with it") = Some(one);
        let opened = world.cache.open(&remote, None, Age::Kept, &quiet());
        let err = opened.map(|opened| files(&opened)).expect_err(what);
        assert!(matches!(err, Error::Net(_) | Error::Broken { .. } | Error::Missing { .. }), "{what}: {err:?}");
        for folder in ["repos", "aside"] {
            let left = world.folder.path().join("git").join(folder).read_dir().map_or(0, Iterator::count);
            assert_eq!(left, 0, "{what} left something in {folder}");
        }
    }
    // The pack is complete, and its checksums are right.
    *lie.lock().expect("nobody panics with it") =
        Some(Box::new(|reply| reply.clone().with_behaviour(Behaviour::Claims(reply.body.len() as u64 + 40))));
    assert_eq!(files(&world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is cloned")).len(), 2);
}

/// A packet with this content.
fn packet(content: &str) -> String {
    format!("{:04x}{content}", content.len() + 4)
}

#[test]
fn a_server_that_does_not_come_to_its_end_is_left() {
    let origin = repository(&["a.py"]);
    let head = git(origin.path(), &["rev-parse", "HEAD"]);
    let endless = |line: String| line.repeat((16 << 20) / line.len()).into_bytes();
    let begin = format!("{}0000{}", packet("# service=git-upload-pack\n"), packet("version 2\n"));
    let (refs, shallow) = (packet(&format!("{head} refs/heads/branch\n")), packet(&format!("shallow {head}\n")));
    let cases = [
        ("GET", "", [begin.into_bytes(), endless(packet(&format!("agent={}\n", "x".repeat(60_000))))].concat()),
        ("POST", "command=ls-refs", endless(refs)),
        ("POST", "command=fetch", [packet("shallow-info\n").into_bytes(), endless(shallow)].concat()),
    ];
    for (method, command, body) in cases {
        let root = origin.path().to_owned();
        let server = TestServer::https(move |asked| {
            let reply = git_backend(&root, asked);
            let is_it = asked.method == method && String::from_utf8_lossy(&asked.body).contains(command);
            if is_it { Reply { body: body.clone(), ..reply } } else { reply }
        });
        let world = world(&server.certificate, &[]);
        let opened = world.cache.open(&remote(&server.url("/.git")), None, Age::Kept, &quiet());
        let err = opened.map(|opened| files(&opened)).expect_err("it has no end");
        let text = err.to_string();
        assert!(text.contains("is larger than") && !text.contains("git_max_clone"), "{method} {command}: {text}");
    }
}

/// Runs a daemon that sends these bytes to each client and then stays silent. Returns its port.
fn daemon(body: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let body = body.clone();
            std::thread::spawn(move || {
                let _ = stream.write_all(&body).and_then(|()| stream.read_to_end(&mut Vec::new()));
            });
        }
    });
    port
}

#[test]
fn daemons_and_servers_of_ssh_are_left_as_well() {
    let origin = repository(&["a.py"]);
    let head = git(origin.path(), &["rev-parse", "HEAD"]);
    let endless = |line: String| line.repeat((16 << 20) / line.len());
    let capabilities = ["version 2\n", "agent=x\n", "ls-refs=unborn\n", "fetch=shallow\n", "object-format=sha1\n"];
    let begin = capabilities.map(packet).concat() + "0000";
    let listed = packet(&format!("{head} HEAD symref-target:refs/heads/main\n"))
        + &packet(&format!("{head} refs/heads/main\n"))
        + "0000";
    let too_much = "its list of refs is larger than 12 MB (after ";
    let cases = [
        (packet("version 2\n") + &endless(packet(&format!("agent={}\n", "x".repeat(60_000)))), too_much),
        (packet("version 2\n") + &endless(packet(&format!("\u{1}{}\n", "x".repeat(60_000)))), too_much),
        (begin.clone() + &endless(packet(&format!("{head} refs/heads/branch\n"))), too_much),
        (
            begin.clone() + &listed + &packet("shallow-info\n") + &endless(packet(&format!("shallow {head}\n"))),
            too_much,
        ),
        (begin.clone() + &packet(&format!("{head} HEAD\n")), "did not answer within 2."),
        (packet("version 2\n"), "did not answer within 2."),
    ];
    for (place, (body, expected)) in cases.into_iter().enumerate() {
        let silence = if expected == too_much { PATIENCE } else { Duration::from_secs(2) };
        let folder = tempfile::tempdir().expect("the system has room for a folder");
        let access = access_for("", folder.path(), &[], silence);
        let name = format!("git://127.0.0.1:{}/x.git", daemon(body.clone().into_bytes()));
        let cache = Cache::shared(folder.path().join("git"), access.clone(), CacheLimits::default());
        let over_git = cache.open(&remote(&name), None, Age::Kept, &quiet());
        std::fs::write(folder.path().join("body"), body).expect("files can be written");
        let script = format!("cat {}/body; exec sleep 120", folder.path().display());
        let ssh_command = fake_ssh_that(folder.path(), &script);
        let access = FetchAccess { ssh_command, ..access };
        let cache = Cache::shared(folder.path().join("ssh-clones"), access, CacheLimits::default());
        let over_ssh = cache.open(&remote("git@localhost:x.git"), None, Age::Kept, &quiet());
        for (way, opened) in [("git", over_git), ("ssh", over_ssh)] {
            let text = opened.map(|opened| files(&opened)).expect_err("it has no end").to_string();
            assert!(text.contains(expected), "{way} {place}: {text}");
        }
    }
}

#[test]
fn a_silent_conversation_is_called_off_at_once() {
    let port = daemon(packet("version 2\n").into_bytes());
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let client = codelode_net::Client::new(codelode_net::Options {
        trusted_hosts: vec!["127.0.0.1".to_owned()],
        silence: Duration::from_secs(3600),
        ..codelode_net::Options::default()
    });
    let access = FetchAccess { client, ..access("", folder.path(), &[]) };
    let cache = Cache::shared(folder.path().join("git"), access, CacheLimits::default());
    let options = quiet();
    let cancelled = options.cancelled.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let err = cache.refs(&remote(&format!("git://127.0.0.1:{port}/x.git")), &options).expect_err("it says nothing");
    assert!(matches!(err, Error::Cancelled), "{err:?}");
}
