//! The conversation between whoever keeps a checkout fresh and whoever wants to answer from its index.
//!
//! A connection is one question. It begins with how long the asker waits, in milliseconds, and the device and inode of the
//! root as the asker sees it: `50 2049 131\n`. The answer begins with `here\n` at once, so that a keeper that is stopped or hangs
//! costs little. Then, in time, comes one of
//!
//! - `fresh\n`: what is published holds everything that happened before the question,
//! - `pending\n` and a few paths, a line each: it does not yet,
//! - `scan\n`: the keeper cannot tell, the asker has to look itself.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::eye::place;

/// The name of a keeper's socket in its [`folder`].
pub(super) const SOCKET: &str = "socket";
/// A keeper that is well says that it is there within this time.
const HERE: Duration = Duration::from_millis(100);
/// How much later than it was to come an answer may come.
const GRACE: Duration = Duration::from_millis(200);
/// No question or answer is longer.
const LONGEST: u64 = 64 * 1024;
/// So many paths are named.
pub(super) const MOST_PATHS: usize = 20;

/// How an index stands to its folder, as its keeper says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is a keeper and it says nothing: its process is stopped, or hangs. Each question would wait for it in vain.
    Mute,
    /// What is published holds everything that happened before the question.
    Fresh,
    /// It does not yet; some of the files that are waiting, none when their names are not known.
    Pending(Vec<String>),
}

/// The folder of a checkout's keeper in an index directory.
pub(super) fn folder(home: &Path, snapshot: &str) -> PathBuf {
    all(home).join(snapshot)
}

/// Where the folders of all keepers lie.
pub(super) fn all(home: &Path) -> PathBuf {
    home.join("watch")
}

/// Asks the keeper of a checkout, when there is one, and waits so long at most. `None` when there is none, or none that can
/// tell: then whoever wants to know has to look.
pub fn ask(home: &Path, snapshot: &str, root: &Path, patience: Duration) -> Option<Standing> {
    let mut stream = match connect(&folder(home, snapshot).join(SOCKET)) {
        // Nobody has taken up so many questions.
        Err(Errno::AGAIN) => return Some(Standing::Mute),
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
            return Some(Standing::Mute);
        }
        _ => return None,
    }
    stream.set_read_timeout(Some(patience + GRACE)).ok()?;
    match line(&mut lines)?.as_str() {
        "fresh" => Some(Standing::Fresh),
        "pending" => Some(Standing::Pending(std::iter::from_fn(|| line(&mut lines)).collect())),
        _ => None,
    }
}

/// A way to whoever listens at a path, at once or not at all: where nobody takes up questions, the system would let us wait.
fn connect(path: &Path) -> rustix::io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(socket.into())
}

/// What somebody asks.
pub(super) struct Asked {
    pub(super) patience: Duration,
    pub(super) root: (u64, u64),
}

/// Reads a question and says that somebody is there.
pub(super) fn hear(stream: &mut UnixStream) -> Option<Asked> {
    stream.set_read_timeout(Some(HERE)).ok()?;
    stream.set_write_timeout(Some(HERE)).ok()?;
    let text = line(&mut BufReader::new(stream.try_clone().ok()?.take(LONGEST)))?;
    let mut numbers = text.split(' ').map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (patience, device, inode) = (next()?, next()?, next()?);
    stream.write_all(b"here\n").ok()?;
    // Nobody waits for an hour.
    let patience = Duration::from_millis(patience.min(3_600_000));
    Some(Asked { patience, root: (device, inode) })
}

/// Answers. Whoever asked may be gone.
pub(super) fn answer(stream: &mut UnixStream, standing: Option<&Standing>) {
    let mut text = match standing {
        Some(Standing::Fresh) => "fresh\n".to_owned(),
        Some(Standing::Pending(_)) => "pending\n".to_owned(),
        Some(Standing::Mute) | None => "scan\n".to_owned(),
    };
    if let Some(Standing::Pending(paths)) = standing {
        for path in paths.iter().filter(|path| !path.contains('\n')) {
            text.push_str(path);
            text.push('\n');
        }
    }
    let _ = stream.write_all(text.as_bytes());
}

/// The next whole line.
fn line(lines: &mut impl BufRead) -> Option<String> {
    let mut text = String::new();
    lines.read_line(&mut text).ok()?;
    text.strip_suffix('\n').map(str::to_owned)
}
