//! Attacks: hostile files, patterns and messages. Each is met by a program of its own, whose processor time and resident memory
//! are limited; one that hangs is ended.

mod ecosystems;
mod files;
mod hostile;
#[cfg(feature = "http")]
mod http;
mod law;
mod leaks;
mod many;
mod messages;
mod past;
mod patterns;
mod places;
#[cfg(feature = "http")]
mod requests;
mod samples;
mod soak;
mod sweep;
#[cfg(feature = "http")]
mod tenants;

#[allow(dead_code, reason = "attacks never wait for freshness")]
#[path = "../all/client.rs"]
mod client;

#[cfg(feature = "http")]
#[path = "../all/issuer.rs"]
mod issuer;

#[path = "../all/random.rs"]
mod random;

#[path = "../all/web.rs"]
mod web;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use client::{Server, Waiting};

/// Seconds of processor time that a program may take.
const PROCESSOR: u64 = 60;
/// Megabytes that a program may have resident at most.
const MEMORY: i64 = 1_000;

/// A third of a size in a build that is not optimised: there everything takes ten times as long.
const fn scaled(size: usize) -> usize {
    if cfg!(debug_assertions) { size / 3 } else { size }
}

/// The program that was just built, or the one that `CODELODE_BENCH_PROGRAM` names.
fn program() -> PathBuf {
    std::env::var_os("CODELODE_BENCH_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_codelode").into(), PathBuf::from)
}

/// A folder to be indexed, and an index.
struct Place(tempfile::TempDir);

impl Place {
    /// A folder with these files.
    fn with<'a>(files: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let place = Self(tempfile::tempdir().expect("there is room for a folder"));
        fs::create_dir(place.source()).expect("the folder is new");
        for (name, text) in files {
            let file = place.source().join(name);
            fs::create_dir_all(file.parent().expect("it lies in the folder")).expect("the folder is ours");
            fs::write(file, text).expect("the folder is ours");
        }
        place
    }

    fn source(&self) -> PathBuf {
        self.0.path().join("source")
    }

    /// Commits all files to a repository of git.
    fn commit(&self) {
        for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "f a"]] {
            let mut command = Command::new("git");
            command.current_dir(self.source()).args(["-c", "user.name=f", "-c", "user.email=f@a"]).args(arguments);
            command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
            assert!(command.status().expect("git is installed where tests run").success(), "git {arguments:?}");
        }
    }

    /// The program with an index of this name and without limits.
    fn unlimited(&self, arguments: &[&str], index: &str) -> Command {
        let mut command = Command::new(program());
        command
            .args(arguments)
            .current_dir(self.source())
            .env("CODELODE_INDEX_PATH", self.0.path().join(index))
            .env("HOME", self.0.path());
        command
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.unlimited(arguments, "index");
        // SAFETY: only system calls are made between fork and exec.
        unsafe { command.pre_exec(limit) };
        command
    }

    /// Runs the program to its end; gives its standard output.
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.0.path().join("output");
        let file = fs::File::create(&output).expect("the folder is ours");
        let child = self.command(arguments).stdin(Stdio::null()).stdout(file).spawn().expect("it is built");
        survives(child, &format!("{arguments:?}"));
        fs::read_to_string(output).expect("it was just made")
    }

    /// The answer of a tool that a program of its own gives.
    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let text = self.run(&["call", tool, &arguments.to_string(), "--json"]);
        serde_json::from_str(&text).unwrap_or_else(|err| panic!("{tool} {arguments}: {err}: {text:.300}"))
    }

    /// A server whose index is made.
    fn serve(&self) -> Server {
        self.run(&["index", "."]);
        Server::start(self.command(&["serve"]))
    }
}

/// Limits the processor time and the address space of this process.
fn limit() -> std::io::Result<()> {
    for (what, most) in [(libc::RLIMIT_CPU, PROCESSOR), (libc::RLIMIT_AS, 9_000_000_000)] {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: it reads a limit that lives as long as the call.
        if unsafe { libc::setrlimit(what, &raw const limit) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Waits for a program, which must end by itself, in time, and without ever having taken too much memory.
fn survives(mut child: Child, what: &str) {
    let waiting = Waiting::new(child.id());
    // The system's own count at the end holds what this program had resident when it forked, so it is no use.
    let mut most = 0;
    loop {
        most = resident(&child).unwrap_or(0).max(most);
        if let Some(status) = child.try_wait().expect("it is ours") {
            assert!(status.code().is_some(), "{what}: ended by a signal: {status}");
            assert!(most < MEMORY, "{what}: took {most} MB");
            return;
        }
        if waiting.is_over() {
            let _ = child.kill();
            panic!("{what}: hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Size of all files below a folder.
fn bytes_below(folder: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
        true => bytes_below(&entry.path()),
        false => entry.metadata().map_or(0, |meta| meta.len()),
    };
    fs::read_dir(folder).into_iter().flatten().flatten().map(size).sum()
}

/// The most memory that a program ever had resident, in megabytes; nothing of one that has ended.
fn resident(child: &Child) -> Option<i64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<i64>().expect("a number") / 1024)
}

/// The most memory that a running server ever had resident, in megabytes.
fn peak(server: &Server) -> i64 {
    resident(&server.child).expect("it runs")
}
