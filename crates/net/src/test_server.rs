//! HTTP test server, with or without TLS, that can also misbehave: slow, wrong or broken responses.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// An honest answer never takes this long, however busy the machine is.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A received request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// In upper case.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// Request body.
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A response to send.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub behaviour: Behaviour,
}

/// Behaviour of the server when it sends a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Correct.
    Honest,
    /// A `Content-Length` that differs from the body's.
    Claims(u64),
    /// The right length, but the connection closes in the middle of the body.
    Breaks,
    /// Half of the body, then silence.
    Stalls,
    /// No response.
    Silent,
    /// The connection closes before the response.
    HangsUp,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), behaviour: Behaviour::Honest }
    }

    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub fn with_behaviour(mut self, behaviour: Behaviour) -> Self {
        self.behaviour = behaviour;
        self
    }

    pub fn redirect(status: u16, place: impl Into<String>) -> Self {
        Self::new(status, "").with("location", place)
    }
}

type Answers = dyn Fn(&ReceivedRequest) -> Reply + Send + Sync;

struct Inside {
    answers: Box<Answers>,
    tls: Option<Arc<rustls::ServerConfig>>,
    log: Mutex<Vec<ReceivedRequest>>,
    connections: AtomicUsize,
    stopped: AtomicBool,
}

/// A server on a free loopback port, which stops when dropped.
pub struct TestServer {
    pub address: SocketAddr,
    /// The PEM certificate to trust; empty without TLS.
    pub certificate: String,
    inside: Arc<Inside>,
}

impl TestServer {
    /// Plain HTTP.
    pub fn http(answers: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(Box::new(answers), None, String::new())
    }

    /// HTTPS, as `localhost`.
    pub fn https(answers: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::certified(answers, rcgen::IsCa::NoCa)
    }

    /// HTTPS, with a certificate that is an authority's.
    pub fn https_of_authority(answers: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::certified(answers, rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained))
    }

    fn certified(answers: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static, is_ca: rcgen::IsCa) -> Self {
        let mut of = rcgen::CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("names");
        of.is_ca = is_ca;
        let signing_key = rcgen::KeyPair::generate().expect("random bytes");
        let cert = of.self_signed(&signing_key).expect("two names make a certificate");
        let made = rcgen::CertifiedKey { cert, signing_key };
        let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring can do them")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("the key belongs to the certificate");
        Self::start(Box::new(answers), Some(Arc::new(config)), made.cert.pem())
    }

    fn start(answers: Box<Answers>, tls: Option<Arc<rustls::ServerConfig>>, certificate: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let (log, connections, stopped) = (Mutex::default(), AtomicUsize::new(0), AtomicBool::new(false));
        let inside = Arc::new(Inside { answers, tls, log, connections, stopped });
        let shared = Arc::clone(&inside);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if shared.stopped.load(Ordering::SeqCst) {
                    return;
                }
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let shared = Arc::clone(&shared);
                // Clients may disconnect at any time.
                thread::spawn(move || drop(shared.serve(stream)));
            }
        });
        Self { address, certificate, inside }
    }

    /// The URL of a path, with the host name of the certificate.
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.inside.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://localhost:{}{path}", self.address.port())
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<ReceivedRequest> {
        self.inside.log.lock().expect("nothing panics with it").clone()
    }

    /// Paths of all requests so far.
    pub fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.path).collect()
    }

    /// Number of connections so far.
    pub fn connections(&self) -> usize {
        self.inside.connections.load(Ordering::SeqCst)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.inside.stopped.store(true, Ordering::SeqCst);
        // Wakes the listener, which frees the port.
        let _ = TcpStream::connect(self.address);
    }
}

impl Inside {
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        match &self.tls {
            None => self.talk(stream),
            Some(config) => {
                let session = rustls::ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
                self.talk(rustls::StreamOwned::new(session, stream))
            }
        }
    }

    fn talk(&self, stream: impl Read + Write) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        while let Some(asked) = read(&mut stream)? {
            self.log.lock().expect("nothing panics with it").push(asked.clone());
            let reply = (self.answers)(&asked);
            self.write(stream.get_mut(), &reply)?;
            if reply.behaviour != Behaviour::Honest {
                break;
            }
        }
        Ok(())
    }

    fn write(&self, stream: &mut impl Write, reply: &Reply) -> io::Result<()> {
        let Reply { status, headers, body, behaviour } = reply;
        if *behaviour == Behaviour::HangsUp {
            return Ok(());
        }
        if *behaviour == Behaviour::Silent {
            return self.wait();
        }
        let length = if let Behaviour::Claims(length) = behaviour { *length } else { body.len() as u64 };
        let mut head = format!("HTTP/1.1 {status} Status\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if *status != 304 {
            head.push_str(&format!("content-length: {length}\r\n"));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes())?;
        let half = matches!(behaviour, Behaviour::Breaks | Behaviour::Stalls);
        stream.write_all(&body[..if half { body.len() / 2 } else { body.len() }])?;
        stream.flush()?;
        if *behaviour == Behaviour::Stalls { self.wait() } else { Ok(()) }
    }

    /// Blocks until the server stops.
    fn wait(&self) -> io::Result<()> {
        while !self.stopped.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// Reads a request; `None` at the end of the connection.
fn read(stream: &mut impl BufRead) -> io::Result<Option<ReceivedRequest>> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let mut asked = ReceivedRequest { method, path, headers, body: Vec::new() };
    let length = asked.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    asked.body = vec![0; length];
    stream.read_exact(&mut asked.body)?;
    Ok(Some(asked))
}

/// Answers as `git http-backend` does, for repositories below a folder.
pub fn git_backend(root: &Path, asked: &ReceivedRequest) -> Reply {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &asked.method)
        .env("CONTENT_TYPE", asked.header("content-type").unwrap_or_default())
        .env("HTTP_CONTENT_ENCODING", asked.header("content-encoding").unwrap_or_default())
        .env("GIT_PROTOCOL", asked.header("git-protocol").unwrap_or_default())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("git is installed where this runs");
    let (mut stdin, body) = (child.stdin.take().expect("it is a pipe"), asked.body.clone());
    let writer = thread::spawn(move || stdin.write_all(&body));
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
