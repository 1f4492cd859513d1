//! A keeper's place in the index directory: the lock that only one process holds, and the socket where it is asked.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};

use super::ask::{self, Asked, SOCKET, Standing};
use super::eye;
use crate::store::Registry;

/// A question on its way to the keeper. An answer that comes too late is not read.
pub(super) struct Question {
    pub(super) root: (u64, u64),
    pub(super) reply: Sender<Option<Standing>>,
}

/// The way of questions to a keeper, and what it is busy with meanwhile.
#[derive(Clone)]
pub(super) struct Asking {
    pub(super) questions: Sender<Question>,
    /// Some of the files that are being read.
    pub(super) busy_with: Arc<Mutex<Vec<String>>>,
}

impl Asking {
    /// Asks, and waits so long at most. `None` when nobody can tell.
    pub(super) fn ask(&self, root: (u64, u64), patience: Duration) -> Option<Standing> {
        let (reply, answered) = bounded(1);
        self.questions.send(Question { root, reply }).ok()?;
        match answered.recv_timeout(patience) {
            Ok(standing) => standing,
            Err(RecvTimeoutError::Timeout) => {
                Some(Standing::Pending(self.busy_with.lock().unwrap_or_else(PoisonError::into_inner).clone()))
            }
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }
}

/// Removes the posts of checkouts that have no index any more, and that nobody keeps.
pub fn sweep(registry: &Registry) {
    let posts = fs::read_dir(ask::all(registry.home())).into_iter().flatten().flatten();
    let posts: Vec<String> = posts.filter_map(|post| post.file_name().into_string().ok()).collect();
    if posts.is_empty() {
        return;
    }
    let known: HashSet<String> = registry.all().into_iter().map(|sidecar| sidecar.snapshot).collect();
    for left in posts.iter().filter(|post| !known.contains(*post)) {
        // What cannot be removed is in nobody's way.
        if let Ok(Some(post)) = Post::take(registry.home(), left) {
            post.give_up();
        }
    }
}

/// The right to keep a checkout: held by one process, and free at once when that dies.
pub(super) struct Post {
    folder: PathBuf,
    _lock: File,
}

impl Post {
    /// Takes it. `None` when another process has it.
    pub(super) fn take(home: &Path, snapshot: &str) -> io::Result<Option<Self>> {
        let folder = ask::folder(home, snapshot);
        let path = folder.join("lock");
        let lock = loop {
            fs::create_dir_all(&folder)?;
            let lock = match File::options().create(true).truncate(false).write(true).open(&path) {
                // Somebody gave it up since the folder was made.
                Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            match lock.try_lock() {
                // A lock on a file that was removed meanwhile keeps nobody out.
                Ok(()) if eye::place(&path).ok() != Some(eye::place_of(&lock.metadata()?)) => {}
                Ok(()) => break lock,
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(err)) => return Err(err),
            }
        };
        // What a process left that was killed.
        for entry in fs::read_dir(&folder)?.flatten().filter(|entry| entry.file_name() != "lock") {
            let _ = fs::remove_file(entry.path());
        }
        Ok(Some(Self { folder, _lock: lock }))
    }

    /// The folder that it lies in.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Gives it up for good: nobody will keep this checkout any more.
    pub(super) fn give_up(self) {
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Takes questions of other processes from now on, and gives them to the keeper.
    pub(super) fn listen(&self, asking: Asking) -> io::Result<Listening> {
        let path = self.folder.join(SOCKET);
        let listener = UnixListener::bind(&path)?;
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        thread::Builder::new().name("questions".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if told.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(stream) = stream else {
                    // As many files as a process may have open: it gets better, or it does not.
                    thread::sleep(Duration::from_millis(50));
                    continue;
                };
                let asking = asking.clone();
                let answering = move || converse(stream, &asking);
                let _ = thread::Builder::new().name("question".to_owned()).spawn(answering);
            }
        })?;
        Ok(Listening { path, ended })
    }
}

/// One conversation.
fn converse(mut stream: UnixStream, asking: &Asking) {
    let Some(Asked { patience, root }) = ask::hear(&mut stream) else { return };
    ask::answer(&mut stream, asking.ask(root, patience).as_ref());
}

/// Takes questions until it is dropped.
pub(super) struct Listening {
    path: PathBuf,
    ended: Arc<AtomicBool>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // The thread waits for somebody to come.
        let _ = UnixStream::connect(&self.path);
        let _ = fs::remove_file(&self.path);
    }
}
