//! Protocol between the keeper of a checkout and processes that want to know whether its index is fresh.
//!
//! One connection is one question: a line with the timeout in milliseconds, and the device and inode of the root as
//! seen by the client, such as `50 2049 131\n`. The keeper replies `here\n` at once, so a stopped or hung keeper
//! costs little time. Before the timeout, one of these follows:
//!
//! - `fresh\n`: the published index includes all changes before the question,
//! - `pending\n` and some paths, one per line: it does not yet,
//! - `scan\n`: the keeper cannot tell, the client has to scan the folder itself.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::notifier::place;

/// Name of a keeper's socket in its [`folder`].
pub(super) const SOCKET: &str = "socket";
/// Timeout for the `here` reply.
const HERE: Duration = Duration::from_millis(100);
/// Extra time for the answer after the client's timeout.
const GRACE: Duration = Duration::from_millis(200);
/// Maximum size of a question or an answer in bytes.
const LONGEST: u64 = 64 * 1024;
/// Maximum number of paths in an answer.
pub(super) const MOST_PATHS: usize = 20;

/// State of an index relative to its folder, as reported by its keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeeperAnswer {
    /// The keeper does not reply: its process is stopped or hangs. Further questions would time out too.
    Mute,
    /// The published index includes all changes before the question.
    Fresh,
    /// The index does not include all changes yet. Holds some of the pending files; empty if unknown.
    Pending(Vec<String>),
}

/// Folder of a checkout's keeper in an index directory.
pub(super) fn folder(home: &Path, snapshot: &str) -> PathBuf {
    all(home).join(snapshot)
}

/// Parent of all keeper folders.
pub(super) fn all(home: &Path) -> PathBuf {
    home.join("watch")
}

/// Asks the keeper of a checkout and waits at most `patience`. `None` if there is no keeper or it cannot tell: then
/// the caller has to scan the folder.
pub fn ask(home: &Path, snapshot: &str, root: &Path, patience: Duration) -> Option<KeeperAnswer> {
    let mut stream = match connect(&folder(home, snapshot).join(SOCKET)) {
        // The listener's backlog is full.
        Err(Errno::AGAIN) => return Some(KeeperAnswer::Mute),
        connected => connected.ok()?,
    };
    let (device, inode) = place(root).ok()?;
    stream.set_write_timeout(Some(HERE)).ok()?;
    stream.set_read_timeout(Some(HERE)).ok()?;
    stream.write_all(format!("{} {device} {inode}\n", patience.as_millis()).as_bytes()).ok()?;
    let mut lines = BufReader::new(stream.try_clone().ok()?.take(LONGEST));
    let mut here = String::new();
    match lines.read_line(&mut here) {
        Ok(_) if here == "here\n" => {}
        Err(err) if matches!(err.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            return Some(KeeperAnswer::Mute);
        }
        _ => return None,
    }
    stream.set_read_timeout(Some(patience + GRACE)).ok()?;
    match line(&mut lines)?.as_str() {
        "fresh" => Some(KeeperAnswer::Fresh),
        "pending" => Some(KeeperAnswer::Pending(std::iter::from_fn(|| line(&mut lines)).collect())),
        _ => None,
    }
}

/// Connects to a socket without blocking: with a full backlog, the system would wait.
fn connect(path: &Path) -> rustix::io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(socket.into())
}

/// A question from a client.
pub(super) struct ClientQuestion {
    pub(super) patience: Duration,
    pub(super) root: (u64, u64),
}

/// Reads a question and replies `here`.
pub(super) fn hear(stream: &mut UnixStream) -> Option<ClientQuestion> {
    stream.set_read_timeout(Some(HERE)).ok()?;
    stream.set_write_timeout(Some(HERE)).ok()?;
    let text = line(&mut BufReader::new(stream.try_clone().ok()?.take(LONGEST)))?;
    let mut numbers = text.split(' ').map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (patience, device, inode) = (next()?, next()?, next()?);
    stream.write_all(b"here\n").ok()?;
    // At most one hour.
    let patience = Duration::from_millis(patience.min(3_600_000));
    Some(ClientQuestion { patience, root: (device, inode) })
}

/// Sends the answer. Errors are ignored, as the client may be gone.
pub(super) fn answer(stream: &mut UnixStream, standing: Option<&KeeperAnswer>) {
    let mut text = match standing {
        Some(KeeperAnswer::Fresh) => "fresh\n".to_owned(),
        Some(KeeperAnswer::Pending(_)) => "pending\n".to_owned(),
        Some(KeeperAnswer::Mute) | None => "scan\n".to_owned(),
    };
    if let Some(KeeperAnswer::Pending(paths)) = standing {
        for path in paths.iter().filter(|path| !path.contains('\n')) {
            text.push_str(path);
            text.push('\n');
        }
    }
    let _ = stream.write_all(text.as_bytes());
}

/// The next complete line.
fn line(lines: &mut impl BufRead) -> Option<String> {
    let mut text = String::new();
    lines.read_line(&mut text).ok()?;
    text.strip_suffix('\n').map(str::to_owned)
}
