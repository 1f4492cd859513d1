//! The client against real servers on the loopback.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use url::Url;

use super::test_server::{Behaviour, PATIENCE, ReceivedRequest, Reply, TestServer};
use super::{Client, Credentials, Error, Guard, Options, Request};

fn url(text: &str) -> Url {
    Url::parse(text).expect("tests write URLs")
}

/// A client that trusts these hosts and, when one is given, a server's certificate.
fn client(trusted: &[&str], test_server: Option<&TestServer>) -> Client {
    client_with(trusted, test_server, PATIENCE)
}

/// The same, which gives a server up after so long a silence.
fn client_with(trusted: &[&str], test_server: Option<&TestServer>, silence: Duration) -> Client {
    let folder = tempfile::tempdir().expect("there is room");
    let ca_file = test_server.filter(|test_server| !test_server.certificate.is_empty()).map(|test_server| {
        let path = folder.path().join("ca.pem");
        fs::write(&path, &test_server.certificate).expect("there is room");
        path
    });
    let trusted_hosts = trusted.iter().map(|&host| host.to_owned()).collect();
    let options = Options { trusted_hosts, ca_file, silence, ..Options::default() };
    let client = Client::new(options);
    // The file is read when the client is set up, which is now or never.
    let _ = client.send(&Request { attempts: 1, ..Request::get(url("https://127.0.0.1:1/")) });
    client
}

fn get(client: &Client, place: &str) -> Result<(u16, String), Error> {
    let answer = client.fetch(&Request { attempts: 1, ..Request::get(url(place)) })?;
    Ok((answer.head.status, String::from_utf8(answer.bytes).expect("tests send text")))
}

#[test]
fn a_private_host_is_not_even_connected_to() {
    let test_server = TestServer::http(|_| Reply::new(200, "inside"));
    let port = test_server.address.port();
    let outside = client(&[], None);
    for place in [
        format!("https://127.0.0.1:{port}/"),
        format!("https://2130706433:{port}/"),
        format!("https://0x7f.1:{port}/"),
        format!("https://0:{port}/"),
        format!("https://[::ffff:127.0.0.1]:{port}/"),
        format!("https://localhost:{port}/"),
        format!("https://LOCALHOST:{port}/"),
    ] {
        let err = get(&outside, &place).expect_err(&place);
        assert!(matches!(err, Error::Private { .. }), "{place}: {err:?}");
    }
    let err = get(&outside, &test_server.url("/")).expect_err("no TLS");
    assert!(matches!(err, Error::Scheme { .. }), "{err:?}");
    for scheme in ["file:///etc/passwd", "ftp://localhost/", "data:text/plain,x", "gopher://localhost/"] {
        let err = get(&outside, scheme).expect_err(scheme);
        assert!(matches!(err, Error::Scheme { .. } | Error::BadUrl(_)), "{scheme}: {err:?}");
    }
    assert_eq!(test_server.connections(), 0);
    assert_eq!(
        get(&client(&["localhost"], None), &test_server.url("/")).expect("it is trusted"),
        (200, "inside".to_owned())
    );
    assert_eq!(get(&client(&["*"], None), &test_server.url("/")).expect("all are trusted"), (200, "inside".to_owned()));
}

#[test]
fn redirects_are_followed_where_one_may_go() {
    let inner = TestServer::http(|_| Reply::new(200, "secret of the house"));
    let inner_port = inner.address.port();
    let test_server = TestServer::http(move |asked| match asked.path.as_str() {
        "/a" => Reply::redirect(301, "/b"),
        "/b" => Reply::redirect(302, "c?x=1"),
        "/c?x=1" => Reply::new(200, "here"),
        "/round" => Reply::redirect(307, "/round"),
        "/inwards" => Reply::redirect(302, format!("http://127.0.0.1:{inner_port}/")),
        "/inwards-tls" => Reply::redirect(302, format!("https://127.0.0.1:{inner_port}/")),
        "/file" => Reply::redirect(302, "file:///etc/passwd"),
        "/nowhere" => Reply::redirect(302, "http://[bad"),
        "/noplace" => Reply::new(302, "no place"),
        _ => Reply::new(404, "no"),
    });
    let client = client(&["localhost"], None);
    assert_eq!(get(&client, &test_server.url("/a")).expect("two hops"), (200, "here".to_owned()));
    assert_eq!(get(&client, &test_server.url("/noplace")).expect("an answer"), (302, "no place".to_owned()));
    for path in ["/round", "/nowhere"] {
        let err = get(&client, &test_server.url(path)).expect_err(path);
        assert!(matches!(err, Error::Redirect { .. }), "{path}: {err:?}");
    }
    for path in ["/inwards", "/inwards-tls", "/file"] {
        let err = get(&client, &test_server.url(path)).expect_err(path);
        assert!(matches!(err, Error::Scheme { .. } | Error::Private { .. } | Error::BadUrl(_)), "{path}: {err:?}");
    }
    assert_eq!(inner.connections(), 0);
    assert_eq!(test_server.paths().iter().filter(|path| *path == "/round").count(), 6);
}

#[test]
fn an_outsider_cannot_send_us_to_a_trusted_host_or_out_of_tls() {
    let guard = Guard::new(&["ghe.corp".to_owned(), "10.0.0.5".to_owned()]);
    let check = |from: &str, to: &str| guard.check_redirect(&url(from), &url(to)).is_ok();
    assert!(check("https://github.com/a", "https://codeload.github.com/b"));
    assert!(check("https://ghe.corp/a", "https://10.0.0.5/b"));
    assert!(check("https://ghe.corp/a", "https://github.com/b"));
    assert!(!check("https://github.com/a", "https://ghe.corp/b"));
    assert!(!check("https://github.com/a", "https://10.0.0.5/b"));
    assert!(!check("https://ghe.corp/a", "http://ghe.corp/b"));
    assert!(!check("https://github.com/a", "https://169.254.169.254/b"));
    assert!(!check("https://ghe.corp/a", "https://192.168.0.1/b"));
}

#[test]
fn a_token_stays_at_home() {
    let echo = |asked: &ReceivedRequest| {
        let authorization = asked.header("authorization").unwrap_or("none").to_owned();
        Reply::new(200, format!("{authorization} {}", asked.header("x-own").unwrap_or("none")))
    };
    let plain = TestServer::http(echo);
    let plain_url = plain.url("/");
    let other = TestServer::https(echo);
    let other_port = other.address.port();
    let test_server = TestServer::https(move |asked| match asked.path.as_str() {
        "/near" => Reply::redirect(302, "/here"),
        "/far" => Reply::redirect(302, format!("https://localhost:{other_port}/")),
        _ => echo(asked),
    });
    let folder = tempfile::tempdir().expect("there is room");
    let ca_file = folder.path().join("ca.pem");
    fs::write(&ca_file, format!("{}{}", test_server.certificate, other.certificate)).expect("there is room");
    let options = Options { trusted_hosts: vec!["localhost".to_owned()], ca_file: Some(ca_file), ..Options::default() };
    let client = Client::new(options);
    let ask = |place: &str, home: &str| {
        let credentials = Some(Credentials::bearer(&url(home), "s3cret"));
        let request = Request { credentials, ..Request::get(url(place)) }.header("x-own", "mine");
        let answer = client.fetch(&request).expect(place);
        String::from_utf8(answer.bytes).expect("text")
    };
    let home = test_server.url("/");
    assert_eq!(ask(&test_server.url("/here"), &home), "Bearer s3cret mine");
    assert_eq!(ask(&test_server.url("/near"), &home), "Bearer s3cret mine");
    assert_eq!(ask(&test_server.url("/far"), &home), "none none");
    assert_eq!(ask(&other.url("/"), &home), "none mine");
    assert_eq!(ask(&plain_url, &plain_url), "none mine");
    let written = Request::get(url(&test_server.url("/here").replace("localhost", "me:pass@localhost")));
    assert_eq!(client.fetch(&written).expect("it answers").bytes, b"none none");
    let header = Request::get(url(&test_server.url("/far"))).header("Authorization", "Basic eDp5");
    assert_eq!(client.fetch(&header).expect("it answers").bytes, b"none none");
    let basic = Some(Credentials::basic(&url(&home), "x", "y"));
    let basic = Request { credentials: basic, ..Request::get(url(&test_server.url("/here"))) };
    assert_eq!(client.fetch(&basic).expect("it answers").bytes, b"Basic eDp5 none");
    assert!(!format!("{basic:?}").contains("secret: "), "{basic:?}");
    let bearer = Credentials::bearer(&url(&home), "s3cret");
    assert!(!format!("{bearer:?}").contains("s3cret"));
}

#[test]
fn who_cannot_prove_its_name_is_not_asked() {
    let test_server = TestServer::https(|_| Reply::new(200, "trust me"));
    let err = get(&client(&["localhost"], None), &test_server.url("/")).expect_err("nobody vouches for it");
    assert!(matches!(err, Error::Tls { .. }), "{err:?}");
    assert!(test_server.asked().is_empty());
    let authority = TestServer::https_of_authority(|_| Reply::new(200, "trust me"));
    let err = get(&client(&["localhost", "127.0.0.1"], Some(&authority)), &authority.url("/"))
        .expect_err("it is not a server's");
    assert!(err.to_string().contains("of an authority") && err.to_string().contains("CA:FALSE"), "{err}");
    let folder = tempfile::tempdir().expect("there is room");
    for (name, text) in [("missing.pem", None), ("empty.pem", Some("")), ("broken.pem", Some("-----BEGIN CERT"))] {
        let path = folder.path().join(name);
        if let Some(text) = text {
            fs::write(&path, text).expect("there is room");
        }
        let client = Client::new(Options { ca_file: Some(path), ..Options::default() });
        let err = get(&client, "https://example.com/").expect_err(name);
        assert!(matches!(err, Error::Setup(_)) && err.to_string().contains(name), "{err}");
    }
}

#[test]
fn what_stalls_lies_or_breaks_is_an_error_in_time() {
    let test_server = TestServer::http(|asked| {
        let reply = Reply::new(200, "0123456789");
        match asked.path.as_str() {
            "/stalls" => reply.with_behaviour(Behaviour::Stalls),
            "/silent" => reply.with_behaviour(Behaviour::Silent),
            "/breaks" => reply.with_behaviour(Behaviour::Breaks),
            "/claims-more" => reply.with_behaviour(Behaviour::Claims(20)),
            "/claims-huge" => reply.with_behaviour(Behaviour::Claims(1 << 40)),
            "/hangs-up" => reply.with_behaviour(Behaviour::HangsUp),
            _ => reply,
        }
    });
    let impatient = client_with(&["localhost"], None, Duration::from_millis(400));
    for path in ["/stalls", "/silent"] {
        let err = get(&impatient, &test_server.url(path)).expect_err(path);
        assert!(matches!(err, Error::Timeout { .. }), "{path}: {err:?}");
    }
    let client = client(&["localhost"], None);
    for path in ["/breaks", "/claims-more", "/hangs-up"] {
        let err = get(&client, &test_server.url(path)).expect_err(path);
        assert!(matches!(err, Error::Broken { .. }), "{path}: {err:?}");
    }
    let err = get(&client, &test_server.url("/claims-huge")).expect_err("it is too large");
    assert!(matches!(err, Error::TooLarge { .. }), "{err:?}");
    for (limit, fits) in [(9, false), (10, true)] {
        let answer = client.fetch(&Request { limit, ..Request::get(url(&test_server.url("/"))) });
        assert_eq!(answer.is_ok(), fits, "{limit}");
    }
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("there is a port");
    let err = get(&client, &format!("http://localhost:{}/", free.port())).expect_err("nobody is there");
    assert!(matches!(err, Error::Connect { .. }), "{err:?}");
}

#[test]
fn an_answer_that_unpacks_beyond_the_limit_is_cut() {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&vec![b'a'; 10 << 20]).expect("memory is there");
    let bomb = packer.finish().expect("memory is there");
    let test_server = TestServer::http(move |asked| match asked.header("accept-encoding") {
        Some("gzip") => Reply::new(200, bomb.clone()).with("content-encoding", "gzip"),
        _ => Reply::new(200, "plain"),
    });
    let client = client(&["localhost"], None);
    let request = Request { packed: true, ..Request::get(url(&test_server.url("/"))) };
    assert_eq!(client.fetch(&request).expect("it fits").bytes.len(), 10 << 20);
    let err = client.fetch(&Request { limit: 1 << 20, ..request }).expect_err("it does not");
    assert!(matches!(err, Error::TooLarge { limit: 1_048_576, .. }), "{err:?}");
    assert_eq!(get(&client, &test_server.url("/")).expect("not packed").1, "plain");
}

#[test]
fn a_failure_in_passing_is_tried_again_and_a_wait_is_told() {
    let n = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&n);
    let test_server = TestServer::http(move |asked| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        match asked.path.as_str() {
            "/breaks-once" if first => Reply::new(200, "0123").with_behaviour(Behaviour::Breaks),
            "/busy-once" if first => Reply::new(502, "busy"),
            "/busy" => Reply::new(502, "busy"),
            "/later" => Reply::new(503, "later").with("retry-after", "17"),
            "/limited" => Reply::new(429, "limited").with("retry-after", "60"),
            _ => Reply::new(200, "done"),
        }
    });
    let client = client(&["localhost"], None);
    let ask = |path: &str, post: bool| {
        n.store(0, Ordering::SeqCst);
        let place = url(&test_server.url(path));
        let request = if post { Request::post(place, b"x".to_vec()) } else { Request::get(place) };
        let answer = client.fetch(&request).expect(path);
        (answer.head.status, n.load(Ordering::SeqCst), answer.head.retry_after().map(|wait| wait.as_secs()))
    };
    assert_eq!(ask("/breaks-once", false), (200, 2, None));
    assert_eq!(ask("/busy-once", false), (200, 2, None));
    assert_eq!(ask("/busy", false), (502, 3, None));
    assert_eq!(ask("/busy", true), (502, 1, None));
    assert_eq!(ask("/later", false), (503, 1, Some(17)));
    assert_eq!(ask("/limited", false), (429, 1, Some(60)));
    assert_eq!(test_server.asked().iter().filter(|asked| asked.method == "POST" && asked.body == b"x").count(), 1);
}

#[test]
fn a_body_is_read_in_pieces_and_can_be_called_off() {
    let test_server = TestServer::http(|_| Reply::new(200, vec![b'x'; 1 << 20]));
    let client = client(&["localhost"], None);
    let cancelled = Arc::new(AtomicBool::new(false));
    let request = Request { cancelled: Some(Arc::clone(&cancelled)), ..Request::get(url(&test_server.url("/"))) };
    let mut response = client.send(&request).expect("it answers");
    assert_eq!(response.body.length, Some(1 << 20));
    let mut piece = [0; 1000];
    response.body.read_exact(&mut piece).expect("there is more");
    cancelled.store(true, Ordering::SeqCst);
    let err = response.body.read_whole().expect_err("nobody wants the rest");
    assert!(matches!(err, Error::Cancelled), "{err:?}");
    assert!(matches!(client.send(&request), Err(Error::Cancelled)));
}

#[test]
fn errors_keep_what_a_url_says_to_themselves() {
    let client = client(&["localhost"], None);
    for place in ["https://me:s3cret@localhost:1/s3cret?token=s3cret", "http://x.invalid/s3cret?token=s3cret"] {
        let err = get(&client, place).expect_err(place);
        assert!(!err.to_string().contains("s3cret") && !format!("{err:?}").contains("s3cret"), "{err:?}");
    }
}

proptest! {
    #[test]
    fn no_spelling_of_an_inner_address_passes(bits: u32, spelling in 0..4_u8) {
        let address = std::net::Ipv4Addr::from_bits(bits);
        let host = match spelling {
            0 => address.to_string(),
            1 => bits.to_string(),
            2 => format!("0x{bits:x}"),
            _ => format!("[::ffff:{address}]"),
        };
        let Ok(place) = Url::parse(&format!("https://{host}/")) else { return Ok(()) };
        prop_assert_eq!(Guard::default().check(&place).is_ok(), super::is_public(address.into()));
    }
}
