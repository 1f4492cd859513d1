//! A bucket that refuses, is slow, lies about lengths, alters bytes or tells of an earlier state: what is opened is right, or it
//! is said why nothing is.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::bucket::Moto;
use super::{World, git};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Each request gets this status.
    Refuses(u16),
    /// Each answer comes in pieces, with pauses.
    Slow,
    /// Contents end in the middle of the length that was announced.
    CutOff,
    /// Contents are half of what they are, and so is the announced length.
    Half,
    /// A byte of the contents is another one.
    Altered,
    /// Answers that were given once come again, whatever came since.
    Stale,
}

/// Stands between the program and a bucket.
struct Between {
    port: u16,
    fault: Arc<Mutex<Fault>>,
}

/// Answers by the request's first line.
type Remembered = Arc<Mutex<HashMap<String, Vec<u8>>>>;

impl Between {
    fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let fault = Arc::new(Mutex::new(Fault::None));
        let (state, remembered) = (fault.clone(), Remembered::default());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (fault, remembered) = (*state.lock().expect("no panic"), remembered.clone());
                // The program may be gone before its answer.
                thread::spawn(move || drop(passed_on(stream, to, fault, &remembered)));
            }
        });
        Self { port, fault }
    }

    fn set(&self, fault: Fault) {
        *self.fault.lock().expect("no panic") = fault;
    }
}

fn passed_on(mut stream: TcpStream, to: u16, fault: Fault, remembered: &Remembered) -> io::Result<()> {
    let (mut head, mut length) = (String::new(), 0);
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        if name == "content-length" {
            length = line.split(':').nth(1).and_then(|value| value.trim().parse().ok()).unwrap_or(0);
        }
        if line == "\r\n" {
            break;
        }
        if name != "connection" {
            head.push_str(&line);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let first = head.lines().next().unwrap_or_default().to_owned();
    let mut answer = match fault {
        Fault::Refuses(status) => {
            let text = "<Error><Code>SlowDown</Code></Error>";
            format!("HTTP/1.1 {status} No\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len())
                .into_bytes()
        }
        _ => {
            let mut server = TcpStream::connect(("127.0.0.1", to))?;
            server.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
            server.write_all(&body)?;
            let mut answer = Vec::new();
            server.read_to_end(&mut answer)?;
            answer
        }
    };
    if first.starts_with("GET ") && answer.starts_with(b"HTTP/1.1 200") {
        let mut known = remembered.lock().expect("no panic");
        match (fault, known.get(&first)) {
            (Fault::Stale, Some(earlier)) => answer = earlier.clone(),
            _ => drop(known.insert(first, answer.clone())),
        }
        let body = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
        let middle = body + (answer.len() - body) / 2;
        match fault {
            Fault::CutOff => answer.truncate(middle),
            Fault::Half => {
                let head = String::from_utf8_lossy(&answer[..body]).into_owned();
                let lines = head.lines().filter(|line| !line.to_ascii_lowercase().starts_with("content-length"));
                let head: String = lines.filter(|line| !line.is_empty()).map(|line| format!("{line}\r\n")).collect();
                let half = answer[body..middle].to_vec();
                answer = format!("{head}Content-Length: {}\r\n\r\n", half.len()).into_bytes();
                answer.extend(half);
            }
            Fault::Altered if middle < answer.len() => answer[middle] ^= 1,
            _ => {}
        }
    }
    if fault != Fault::Slow {
        return stream.write_all(&answer);
    }
    for piece in answer.chunks(answer.len().div_ceil(8).max(1)) {
        stream.write_all(piece)?;
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

const PLACE: &str = "s3://indexes/of/ours";

/// The clone's answers are those of an index that was made there, however the bucket behaves.
fn is_right(world: &World, index: &str, because: Fault) {
    world.succeed("second", "own", &["index", "."]);
    world.succeed("second", index, &["index", "."]);
    assert_eq!(world.answers("second", index), world.answers("second", "own"), "{because:?}");
}

#[test]
fn a_bucket_with_faults_gives_errors_and_no_wrong_answers() {
    let Some(moto) = Moto::start() else { return };
    let between = Between::start(moto.port());
    let endpoint = ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", between.port));
    let mut world = World { environment: moto.environment(), ..World::new() };
    world.environment.retain(|(name, _)| *name != "AWS_ENDPOINT_URL");
    world.environment.push(endpoint);
    git(world.folder.path(), &["clone", "-q", "first", "second"]);
    thread::sleep(Duration::from_millis(60));
    let push = ["push", PLACE, "--name", "our/shop", "--key", "main"];
    let take = ["index", "--from", PLACE, "--name", "our/shop", "--key", "main"];
    let pull = ["pull", PLACE, "--name", "our/shop", "--key", "main"];
    world.succeed("first", "first-index", &["index", "."]);

    // A push that is refused publishes nothing, and says so.
    between.set(Fault::Refuses(403));
    let refused = world.run("first", "first-index", &push);
    let err = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && err.contains(PLACE) && !err.contains("never shown"), "{err}");
    between.set(Fault::Slow);
    world.succeed("first", "first-index", &push);

    for (number, fault) in
        [Fault::None, Fault::Slow, Fault::Refuses(403), Fault::Refuses(503), Fault::CutOff, Fault::Half, Fault::Altered]
            .into_iter()
            .enumerate()
    {
        between.set(fault);
        let index = format!("index-{number}");
        let taken = world.run("second", &index, &take);
        let err = String::from_utf8_lossy(&taken.stderr).into_owned();
        let is_good = matches!(fault, Fault::None | Fault::Slow);
        assert_eq!(err.contains("taken: our/shop with 30 files"), is_good, "{fault:?}: {err}");
        assert!(!err.contains("panicked") && !err.contains("never shown"), "{fault:?}: {err}");
        between.set(Fault::None);
        is_right(&world, &index, fault);
        world.succeed("second", &index, &pull);
        is_right(&world, &index, fault);
    }

    // An earlier state is an earlier state: what is newer in the clone is read there.
    fs::write(world.at("first/shop/m3.py"), "def f3(x, y): return y\n").expect("it is ours");
    world.commit("first");
    git(&world.at("second"), &["pull", "-q"]);
    let direct = World { environment: moto.environment(), folder: world.folder };
    direct.succeed("first", "first-index", &push);
    let world = World { folder: direct.folder, environment: world.environment };
    between.set(Fault::Stale);
    world.succeed("second", "stale", &take);
    is_right(&world, "stale", Fault::Stale);
    // A writer that is told of an earlier state cannot undo a later one.
    fs::write(world.at("first/shop/m4.py"), "def f4(x, y): return x\n").expect("it is ours");
    world.run("first", "first-index", &push);
    between.set(Fault::None);
    world.succeed("second", "fresh", &pull);
    is_right(&world, "fresh", Fault::Stale);
}
