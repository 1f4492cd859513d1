//! A keeper's place in the index directory: the lock that only one process holds, and the socket where it is asked.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};

use super::ask::{self, Asked, SOCKET, Standing};

/// A question on its way to the keeper. An answer that comes too late is not read.
pub(super) struct Question {
    pub(super) root: (u64, u64),
    pub(super) reply: Sender<Option<Standing>>,
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
        fs::create_dir_all(&folder)?;
        let lock = File::options().create(true).truncate(false).write(true).open(folder.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(err)) => return Err(err),
        }
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

    /// Takes questions from now on, and gives them to the keeper; what it is busy with is told to whoever cannot wait.
    pub(super) fn listen(
        &self,
        questions: Sender<Question>,
        busy_with: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    ) -> io::Result<Listening> {
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
                let (questions, busy_with) = (questions.clone(), Arc::clone(&busy_with));
                let answering = move || converse(stream, &questions, &*busy_with);
                let _ = thread::Builder::new().name("question".to_owned()).spawn(answering);
            }
        })?;
        Ok(Listening { path, ended })
    }
}

/// One conversation.
fn converse(mut stream: UnixStream, questions: &Sender<Question>, busy_with: &dyn Fn() -> Vec<String>) {
    let Some(Asked { patience, root }) = ask::hear(&mut stream) else { return };
    let (reply, answered) = bounded(1);
    if questions.send(Question { root, reply }).is_err() {
        return;
    }
    let standing = match answered.recv_timeout(patience) {
        Ok(standing) => standing,
        Err(crossbeam_channel::RecvTimeoutError::Timeout) => Some(Standing::Pending(busy_with())),
        Err(crossbeam_channel::RecvTimeoutError::Disconnected) => None,
    };
    ask::answer(&mut stream, standing.as_ref());
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
