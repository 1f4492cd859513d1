//! The system's `ssh`: whether it has a key, and connections through it.

use std::io::{self, ErrorKind, Read};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use gix::url::ArgumentSafety;

use super::stream::STEP;

/// Options that keep ssh from prompting and from waiting without end.
pub const COMMAND: &str =
    "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10 -o ServerAliveCountMax=3";

/// The most bytes of ssh's messages that are read.
const MOST_WORDS: u64 = 16 << 10;
/// The longest wait for them after the connection was closed.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Messages that explain why a conversation ended; others are warnings and greetings.
const REASONS: [&str; 10] = [
    "ermission denied",
    "resolve hostname",
    "connect to host",
    "Connection to ",
    "Connection closed by ",
    "Host key verification failed",
    "not found",
    "does not exist",
    "not exported",
    "does not appear to be a git repository",
];

/// Whether ssh is installed and has a key to offer. An operator's own command is taken as working.
pub(in crate::git) fn has_identity(command: &str) -> bool {
    if command != COMMAND {
        return true;
    }
    let listed = Command::new("ssh-add").arg("-l").output();
    let agent = listed.is_ok_and(|listed| listed.status.success());
    let keys = dirs().is_some_and(|folder| {
        ["id_ed25519", "id_rsa", "id_ecdsa", "id_ed25519_sk", "id_ecdsa_sk", "config"]
            .iter()
            .any(|name| folder.join(name).is_file())
    });
    agent || keys
}

/// The user's folder of ssh keys.
fn dirs() -> Option<std::path::PathBuf> {
    std::env::home_dir().map(|home| home.join(".ssh"))
}

/// A running ssh and the bytes of its server. Dropping it ends the program.
pub(super) struct Tunnel {
    stream: UnixStream,
    child: Child,
    words: Receiver<Vec<u8>>,
}

/// Runs `command` as ssh to reach a repository, at an address if one is given, whatever its configuration or a second look
/// at the name says. Returns the server's bytes, and a stream for requests.
pub(super) fn dial(
    command: &str,
    url: &gix::Url,
    at: Option<IpAddr>,
    silence: Duration,
) -> io::Result<(Tunnel, UnixStream)> {
    let refused = |what: &str| io::Error::new(ErrorKind::InvalidInput, format!("ssh would take {what} for an option"));
    let who = match (url.user_as_argument(), url.host_as_argument()) {
        (ArgumentSafety::Usable(user), ArgumentSafety::Usable(host)) => format!("{user}@{host}"),
        (ArgumentSafety::Absent, ArgumentSafety::Usable(host)) => host.to_owned(),
        _ => return Err(refused("the name of the host or the user")),
    };
    // Keys are known by the name of the host.
    let pinned = at.into_iter().flat_map(|at| {
        let host = url.host().unwrap_or_default();
        let alias = url.port.filter(|port| *port != 22).map_or(host.to_owned(), |port| format!("[{host}]:{port}"));
        ["-o".to_owned(), format!("HostName={at}"), "-o".to_owned(), format!("HostKeyAlias={alias}")]
    });
    let path = gix::url::expand_path::for_shell(url.path.clone()).to_string();
    if path.trim_start().starts_with('-') {
        return Err(refused("the path"));
    }
    // Unlike a pipe, a socket has read timeouts.
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(STEP))?;
    ours.set_write_timeout(Some(silence))?;
    let theirs = OwnedFd::from(theirs);
    let mut child = Command::new("sh")
        .args(["-c", &format!("{command} \"$@\""), "ssh", "-o", "SendEnv=GIT_PROTOCOL"])
        .args(pinned)
        .args(url.port.map(|port| format!("-p{port}")))
        .arg(who)
        .args(["git-upload-pack", &format!("'{}'", path.replace('\'', r"'\''").replace('!', r"'\!'"))])
        // The messages in `REASONS` are English.
        .envs([("GIT_PROTOCOL", "version=2"), ("LANG", "C"), ("LC_ALL", "C")])
        .stdin(theirs.try_clone()?)
        .stdout(theirs)
        .stderr(Stdio::piped())
        .spawn()?;
    let (sender, words) = channel();
    if let Some(stderr) = child.stderr.take() {
        std::thread::spawn(move || listen(stderr, |words| drop(sender.send(words))));
    }
    Ok((Tunnel { stream: ours.try_clone()?, child, words }, ours))
}

/// Reads ssh's messages to the end and passes the first of them on.
fn listen(mut stderr: ChildStderr, tell: impl FnOnce(Vec<u8>)) {
    let mut words = Vec::new();
    let _ = stderr.by_ref().take(MOST_WORDS).read_to_end(&mut words);
    tell(words);
    let _ = io::copy(&mut stderr, &mut io::sink());
}

impl Read for Tunnel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stream.read(buffer) {
            Ok(n) if n > 0 || buffer.is_empty() => return Ok(n),
            Err(err) if err.kind() != ErrorKind::ConnectionReset => return Err(err),
            _ => {}
        }
        // Ssh has ended and may have given the reason.
        let words = self.words.recv_timeout(LAST_WORDS).unwrap_or_default();
        let words = String::from_utf8_lossy(&words);
        let reason = words.lines().find(|line| REASONS.iter().any(|reason| line.contains(reason)));
        reason.map_or(Ok(0), |reason| Err(io::Error::other(reason.trim().to_owned())))
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
