//! Lock and socket of a keeper in the index directory: one process keeps a checkout, and others ask it.

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

use super::ask::{self, ClientQuestion, KeeperAnswer, SOCKET};
use super::notifier;
use codelode_store::Registry;

/// A question for the keeper. A late answer is not read.
pub(super) struct Question {
    pub(super) root: (u64, u64),
    pub(super) reply: Sender<Option<KeeperAnswer>>,
}

/// Channel for questions to a keeper, and the files it is busy with.
#[derive(Clone)]
pub(super) struct QuestionChannel {
    pub(super) questions: Sender<Question>,
    /// Some of the files being indexed.
    pub(super) busy_with: Arc<Mutex<Vec<String>>>,
}

impl QuestionChannel {
    /// Asks the keeper and waits at most `patience`. `None` if it cannot tell.
    pub(super) fn ask(&self, root: (u64, u64), patience: Duration) -> Option<KeeperAnswer> {
        let (reply, answered) = bounded(1);
        self.questions.send(Question { root, reply }).ok()?;
        match answered.recv_timeout(patience) {
            Ok(standing) => standing,
            Err(RecvTimeoutError::Timeout) => {
                Some(KeeperAnswer::Pending(self.busy_with.lock().unwrap_or_else(PoisonError::into_inner).clone()))
            }
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }
}

/// Removes the keeper folders of checkouts that have neither an index nor a keeper.
pub fn sweep(registry: &Registry) {
    let leases = fs::read_dir(ask::all(registry.home())).into_iter().flatten().flatten();
    let leases: Vec<String> = leases.filter_map(|lease| lease.file_name().into_string().ok()).collect();
    if leases.is_empty() {
        return;
    }
    let known: HashSet<String> = registry.whole().all().into_iter().map(|sidecar| sidecar.snapshot).collect();
    for left in leases.iter().filter(|lease| !known.contains(*lease)) {
        // Folders that cannot be removed do no harm.
        if let Ok(Some(lease)) = Lease::take(registry.home(), left) {
            lease.give_up();
        }
    }
}

/// Exclusive right to keep a checkout, by a file lock that the system releases when the process dies.
pub(super) struct Lease {
    folder: PathBuf,
    _lock: File,
}

impl Lease {
    /// Acquires the lock. `None` if another process holds it.
    pub(super) fn take(home: &Path, snapshot: &str) -> io::Result<Option<Self>> {
        let folder = ask::folder(home, snapshot);
        let path = folder.join("lock");
        let lock = loop {
            fs::create_dir_all(&folder)?;
            let lock = match File::options().create(true).truncate(false).write(true).open(&path) {
                // The folder was removed after it was created.
                Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            match lock.try_lock() {
                // The file was removed meanwhile, so a lock on it excludes no other process.
                Ok(()) if notifier::place(&path).ok() != Some(notifier::place_of(&lock.metadata()?)) => {}
                Ok(()) => break lock,
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(err)) => return Err(err),
            }
        };
        // Files left by a killed process.
        for entry in fs::read_dir(&folder)?.flatten().filter(|entry| entry.file_name() != "lock") {
            let _ = fs::remove_file(entry.path());
        }
        Ok(Some(Self { folder, _lock: lock }))
    }

    /// Folder of the lock and the socket.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes the folder: this checkout is no longer kept.
    pub(super) fn give_up(self) {
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Accepts questions from other processes and passes them to the keeper.
    pub(super) fn listen(&self, asking: QuestionChannel) -> io::Result<ListenerHandle> {
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
                    // The limit on open files may be reached, which can pass.
                    thread::sleep(Duration::from_millis(50));
                    continue;
                };
                let asking = asking.clone();
                let answering = move || converse(stream, &asking);
                let _ = thread::Builder::new().name("question".to_owned()).spawn(answering);
            }
        })?;
        Ok(ListenerHandle { path, ended })
    }
}

/// Handles one connection.
fn converse(mut stream: UnixStream, asking: &QuestionChannel) {
    let Some(ClientQuestion { patience, root }) = ask::hear(&mut stream) else { return };
    ask::answer(&mut stream, asking.ask(root, patience).as_ref());
}

/// Handle of the socket's listener, which stops when this is dropped.
pub(super) struct ListenerHandle {
    path: PathBuf,
    ended: Arc<AtomicBool>,
}

impl Drop for ListenerHandle {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the thread, which blocks on the next connection.
        let _ = UnixStream::connect(&self.path);
        let _ = fs::remove_file(&self.path);
    }
}
