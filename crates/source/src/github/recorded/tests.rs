//! Recorded answers of GitHub, replayed: a few of every kind, with invented names and numbers, and the traffic
//! recorded by the PyGithub project.
//!
//! The latter is not part of this repository: the test looks for PyGithub's source archive in `target/fixtures`, and
//! explains how to get it if it is missing.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::github::tests::client;
use crate::github::*;
use codelode_net::test_server::{Reply, TestServer};

/// A question and its answer.
struct Pair {
    file: String,
    method: String,
    asked: String,
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

#[test]
fn answers_of_every_sort_mean_what_they_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/github/answers.txt");
    let text = std::fs::read_to_string(path).expect("it is part of the sources");
    let seen = replay(pairs_of("answers.txt", &text));
    let count = |status: u16, meaning: &str| seen.get(&(status, meaning)).copied().unwrap_or_default();
    for (status, meaning) in [
        (200, "good"),
        (301, "good"),
        (302, "good"),
        (304, "good"),
        (401, "unauthorized"),
        (403, "primary limit"),
        (403, "secondary limit"),
        (403, "forbidden"),
        (403, "sso"),
        (403, "blocked"),
        (404, "not found"),
        (409, "empty"),
        (422, "invalid"),
        (429, "primary limit"),
        (429, "secondary limit"),
        (451, "legal"),
        (502, "trouble"),
        (503, "trouble"),
    ] {
        assert!(count(status, meaning) > 0, "{status} {meaning}: {seen:?}");
    }
}

#[test]
fn recorded_answers_mean_what_they_meant() {
    let Some(path) = archive() else {
        return crate::skipping::skipped("no sources of PyGithub are in target/fixtures, see .ci/run");
    };
    let pairs = pairs(&path);
    assert!(pairs.len() > 2_000, "{}", pairs.len());
    let seen = replay(pairs);
    let count = |status: u16, meaning: &str| seen.get(&(status, meaning)).copied().unwrap_or_default();
    assert!(count(200, "good") > 1_000, "{seen:?}");
    assert!(count(401, "unauthorized") > 0 && count(403, "primary limit") > 0, "{seen:?}");
    assert!(count(403, "forbidden") > 0 && count(304, "good") > 0 && count(404, "not found") > 0, "{seen:?}");
}

/// Serves pairs, requests each with our client, and counts the results by status.
fn replay(pairs: Vec<Pair>) -> BTreeMap<(u16, &'static str), usize> {
    let pairs = Arc::new(pairs);
    let served = Arc::clone(&pairs);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let test_server = TestServer::http(move |question| {
        let number: usize = question.path.trim_start_matches("/r/").parse().expect("we ask by number");
        let pair = &served[number];
        count.fetch_add(1, Ordering::SeqCst);
        if pair.status == 304 && question.header("if-none-match").is_none() {
            return Reply::new(200, "{\"kept\":1}").with("etag", "\"kept\"");
        }
        // Headers of the transfer do not apply here, and a redirect leads to the next answer.
        let carried = ["content-length", "transfer-encoding", "content-encoding", "connection", "location", "link"];
        let headers = pair.headers.iter().filter(|(name, _)| !carried.contains(&name.to_lowercase().as_str()));
        let reply = Reply::new(pair.status, pair.body.as_bytes());
        let reply = headers.fold(reply, |reply, (name, value)| reply.with(name, value.as_str()));
        if matches!(pair.status, 301 | 302 | 307) {
            reply.with("location", format!("/r/{}", number + 1))
        } else {
            reply
        }
    });
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&test_server, home.path());
    let mut seen: BTreeMap<(u16, &'static str), usize> = BTreeMap::new();
    for (number, pair) in pairs.iter().enumerate().filter(|(_, pair)| pair.method == "GET") {
        let url = client.url(&["r", &number.to_string()]);
        if pair.status == 304 {
            client.json::<Value>(url.clone()).expect("the first time is another");
        }
        let before = asked.load(Ordering::SeqCst);
        let answer = client.json::<Value>(url);
        let times = asked.load(Ordering::SeqCst) - before;
        let place = format!("{} {} {}", pair.file, pair.status, pair.asked);
        let meaning = match answer {
            Ok(value) => {
                if pair.status == 200 {
                    assert_eq!(serde_json::from_str::<Value>(&pair.body).ok(), Some(value), "{place}");
                } else if pair.status == 304 {
                    assert_eq!(value["kept"], 1, "{place}");
                }
                "good"
            }
            Err(Error::Unauthorized) => "unauthorized",
            Err(Error::Limited(limit)) if limit.is_secondary => "secondary limit",
            Err(Error::Limited(limit)) => {
                assert_eq!(limit.reset(), header(pair, "x-ratelimit-reset"), "{place}");
                "primary limit"
            }
            Err(Error::Sso { .. }) => "sso",
            Err(Error::Blocked(_)) => "blocked",
            Err(Error::Legal) => "legal",
            Err(Error::Forbidden(_)) => "forbidden",
            Err(Error::NotFound { .. }) => "not found",
            Err(Error::Invalid(_)) => "invalid",
            Err(Error::Empty) => "empty",
            Err(Error::Trouble { .. }) => "trouble",
            Err(Error::Malformed(_)) => "no json",
            Err(Error::Unexpected { .. }) => "unexpected",
            Err(other) => panic!("{place}: {other:?}"),
        };
        *seen.entry((pair.status, meaning)).or_default() += 1;
        assert_eq!(times, expected_times(&pairs, number), "{place}");
        let is_final = !matches!(pair.status, 301 | 302 | 307);
        if let (true, Some(_), Some(left), Some(_)) = (
            is_final,
            header(pair, "x-ratelimit-limit"),
            header(pair, "x-ratelimit-remaining"),
            header(pair, "x-ratelimit-reset"),
        ) {
            assert_eq!(client.rate().map(|rate| rate.remaining), Some(left), "{place}");
        }
    }
    for ((status, meaning), n) in &seen {
        println!("{status} {meaning}: {n}");
    }
    let fitting = |(status, meaning): (u16, &str)| match status {
        200..=299 => meaning == "good" || meaning == "no json",
        304 => meaning == "good",
        401 => meaning == "unauthorized",
        403 => ["primary limit", "secondary limit", "forbidden", "sso", "blocked"].contains(&meaning),
        409 => meaning == "empty",
        429 => ["primary limit", "secondary limit"].contains(&meaning),
        451 => meaning == "legal",
        404 => meaning == "not found",
        422 => meaning == "invalid",
        500..=599 => meaning == "trouble",
        // A redirect has the meaning of its target.
        _ => true,
    };
    assert!(seen.keys().all(|key| fitting(*key)), "{seen:?}");
    seen
}

/// The number of requests for an answer: redirects lead on, and server errors without a time of retry are requested
/// three times.
fn expected_times(pairs: &[Pair], number: usize) -> usize {
    let pair = &pairs[number];
    let waits = pair.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
    match pair.status {
        301 | 302 | 307 => 1 + pairs.get(number + 1).map_or(0, |_| expected_times(pairs, number + 1)),
        500 | 502 | 503 | 504 if !waits => 3,
        _ => 1,
    }
}

/// A header's number.
fn header(pair: &Pair, name: &str) -> Option<u64> {
    let found = pair.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.and_then(|(_, value)| value.parse().ok())
}

/// PyGithub's source archive.
fn archive() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join("fixtures");
    let entries = std::fs::read_dir(folder).ok()?;
    entries.filter_map(|entry| Some(entry.ok()?.path())).find(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
        name.starts_with("pygithub-") && name.ends_with(".tar.gz")
    })
}

/// Every recorded pair, in the order of files and in each of its own.
fn pairs(path: &Path) -> Vec<Pair> {
    let file = std::fs::File::open(path).expect("it was found");
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    let mut texts = BTreeMap::new();
    for entry in archive.entries().expect("it is an archive") {
        let mut entry = entry.expect("it is whole");
        let path = entry.path().expect("it has a path").to_string_lossy().into_owned();
        if path.contains("/ReplayData/") && path.ends_with(".txt") {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("it is whole");
            texts.insert(
                path.rsplit('/').next().unwrap_or_default().to_owned(),
                String::from_utf8_lossy(&bytes).into_owned(),
            );
        }
    }
    texts.iter().flat_map(|(file, text)| pairs_of(file, text)).collect()
}

/// Ten lines for each pair: scheme, method, host, port, path, headers, body, status, headers, body; then an empty one.
fn pairs_of(file: &str, text: &str) -> Vec<Pair> {
    let lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let mut pairs = Vec::new();
    for lines in lines.chunks(11).filter(|lines| lines.len() >= 10) {
        let Ok(status) = lines[7].parse() else { break };
        pairs.push(Pair {
            file: file.to_owned(),
            method: lines[1].to_owned(),
            asked: lines[4].to_owned(),
            status,
            headers: tuples(lines[8]),
            body: lines[9].to_owned(),
        });
    }
    pairs
}

/// The strings of `[('a', 'b'), ("c", 'd')]`, two by two.
fn tuples(text: &str) -> Vec<(String, String)> {
    let mut strings = Vec::new();
    let mut chars = text.chars();
    while let Some(quote) = chars.by_ref().find(|c| *c == '\'' || *c == '"') {
        let mut string = String::new();
        while let Some(c) = chars.next().filter(|c| *c != quote) {
            string.extend(if c == '\\' { chars.next() } else { Some(c) });
        }
        strings.push(string);
    }
    strings.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}
