//! The examples of proxies in front of a server, run as they are written but for their ports and names.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::client::skipped;
use super::tls;
use super::web::{PATIENCE, Site};

/// A proxy that ends with its test.
pub struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The example of a proxy with other words in the place of some.
pub fn example(name: &str, replaced: &[(&str, &str)]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/server").join(name);
    let mut text = fs::read_to_string(path).expect("it is in the repository");
    for (from, to) in replaced {
        assert!(text.contains(from), "{name} says nothing of {from}");
        text = text.replace(from, to);
    }
    text
}

/// A proxy's program; only Linux has to have it.
pub fn program(name: &str) -> Option<PathBuf> {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/proxies/usr/bin");
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from).into_iter().chain([unpacked]);
    let found = folders.map(|folder| folder.join(name)).find(|path| path.exists());
    if found.is_none() && cfg!(target_os = "linux") {
        skipped(&format!("there is no {name}"));
    }
    found
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port is free").port()
}

/// Starts a proxy and waits until it listens.
fn started(mut command: Command, port: u16) -> Proxy {
    let mut proxy = Proxy(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("it can be started"));
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(proxy.0.try_wait().expect("it is our child").is_none(), "it does not start");
        assert!(begun.elapsed() < PATIENCE, "it does not listen");
        thread::sleep(Duration::from_millis(20));
    }
    proxy
}

/// A server that trusts proxies of this machine; its address, and a folder with a certificate for the proxy.
fn behind() -> (Site, String, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    tls::certify(folder.path());
    let site = Site::start(&["--root", ".", "--trust-proxy", "127.0.0.1"]);
    let address = site.url().trim_start_matches("http://").to_owned();
    (site, address, folder)
}

/// Checks through any proxy.
fn check(site: &Site, port: u16, folder: &Path) {
    let certificate = folder.join("cert.pem");
    let url = format!("https://localhost:{port}");
    let run = |arguments: &[&str]| -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.args(["--server", &url]).args(arguments).current_dir(folder).env("HOME", folder);
        command.env("CODELODE_INDEX_PATH", folder.join("index")).env("CODELODE_CA_FILE", &certificate);
        command.stdin(Stdio::null()).output().expect("the program is built")
    };
    let said =
        |output: &Output| String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
    let found = run(&["search", "add", "--repo", "shop"]);
    assert!(found.status.success() && said(&found).contains("def add"), "{}", said(&found));
    // An answer that comes as a stream, with progress before it.
    let indexed = run(&["index", site.folder("unseen").to_str().expect("a path")]);
    assert!(indexed.status.success(), "{}", said(&indexed));
    let get = |path: &str| {
        let address: SocketAddr = ([127, 0, 0, 1], port).into();
        tls::get(TcpStream::connect(address).expect("it listens"), &certificate, path).expect("it answers")
    };
    let card = get("/mcp/server-card");
    assert!(card.contains("\"url\":\"https://localhost/mcp\""), "the card names the proxy: {card}");
    assert!(get("/metrics").starts_with("HTTP/1.1 403"), "measurements stay inside");
    assert!(get("/healthz").starts_with("HTTP/1.1 200"));
}

/// nginx with a configuration of its `http` block.
pub fn nginx(program: &Path, folder: &Path, conf: &str, port: u16) -> Proxy {
    let place = folder.display().to_string();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {place}/{name};\n"))
        .concat();
    // Started as root it would work as nobody, who may not write here.
    let main = format!(
        "daemon off;\nmaster_process off;\npid {place}/nginx.pid;\nerror_log {place}/error.log;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{conf}}}\n"
    );
    fs::write(folder.join("main.conf"), main).expect("the folder is ours");
    let mut command = Command::new(program);
    command.args(["-p", &place, "-e", &format!("{place}/early.log"), "-c", &format!("{place}/main.conf")]);
    started(command, port)
}

#[test]
fn nginx_passes_everything_on() {
    let Some(program) = program("nginx") else { return };
    let (site, address, folder) = behind();
    let (port, place) = (free_port(), folder.path().display().to_string());
    let conf = example(
        "nginx.conf",
        &[
            ("127.0.0.1:8901", &address),
            ("listen 443", &format!("listen 127.0.0.1:{port}")),
            ("server_name code.example", "server_name localhost"),
            ("/etc/ssl/code.example.pem", &format!("{place}/cert.pem")),
            ("/etc/ssl/private/code.example.key", &format!("{place}/key.pem")),
        ],
    );
    let _proxy = nginx(&program, folder.path(), &conf, port);
    check(&site, port, folder.path());
}

#[test]
fn caddy_passes_everything_on() {
    let Some(program) = program("caddy") else { return };
    let (site, address, folder) = behind();
    let (port, place) = (free_port(), folder.path().display().to_string());
    // No certificate is fetched for a name of this machine.
    let name = format!("https://localhost:{port} {{\n\ttls {place}/cert.pem {place}/key.pem");
    let conf = example("Caddyfile", &[("{$CODELODE_NAME:code.example} {", &name)]);
    let conf = format!("{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{conf}");
    fs::write(folder.path().join("Caddyfile"), conf).expect("the folder is ours");
    let mut command = Command::new(program);
    command.args(["run", "--config", &format!("{place}/Caddyfile"), "--adapter", "caddyfile"]);
    command.env("CODELODE_AT", address);
    command.env("HOME", folder.path()).env("XDG_DATA_HOME", folder.path()).env("XDG_CONFIG_HOME", folder.path());
    let _proxy = started(command, port);
    check(&site, port, folder.path());
}

/// The one value behind words in an example.
fn value(text: &str, before: &str) -> String {
    let mut found = text.split(before).skip(1).map(|rest| rest.split([' ', '\n', '}']).next().unwrap_or_default());
    let first = found.next().unwrap_or_else(|| panic!("{before} is not there"));
    assert!(found.all(|other| other == first), "{before} has several values");
    first.trim_matches('"').to_owned()
}

#[test]
fn the_composed_services_find_each_other() {
    let (compose, caddy) = (example("compose.yaml", &[]), example("Caddyfile", &[]));
    let (host, port) =
        value(&compose, "CODELODE_AT: ").split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("both");
    assert!(compose.contains(&format!("\n  {host}:\n    ")), "{host} is not a service");
    assert_eq!(value(&caddy, "reverse_proxy {$CODELODE_AT:127.0.0.1:"), port, "Caddy's own value has another port");
    assert!(example("Containerfile", &[]).contains(&format!("EXPOSE {port}\n")));
    assert!(!compose.contains("--port"), "the port is the usual one");
    // One name for the certificate and for the check of requests.
    let names =
        ["--allow-host=${CODELODE_NAME:-", "CODELODE_NAME: ${CODELODE_NAME:-"].map(|before| value(&compose, before));
    assert!(names.iter().all(|name| *name == value(&caddy, "{$CODELODE_NAME:")), "{names:?}");
    assert_eq!(value(&compose, "--trust-proxy="), value(&compose, "subnet: "));
    // The image of that name is the one that was built.
    let image = value(&compose, "image: localhost/");
    assert!(example("Containerfile", &[]).contains(&format!("-t localhost/{image} .")));
}
