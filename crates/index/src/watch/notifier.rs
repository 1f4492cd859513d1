//! File system notifications: one notifier per process, shared by all watched checkouts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use notify::event::{EventKind, ModifyKind};
use notify::{ErrorKind, Event, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher};

/// Whether notifications are complete and ordered per folder. Linux queues an event before the system call that
/// caused it returns, and reports queue overflows; other systems give no such guarantee.
pub(super) const EXACT: bool = cfg!(target_os = "linux");
/// With more changed paths than this, the whole checkout is scanned instead.
const MOST_PATHS: usize = 10_000;

/// Reason why folders cannot be watched.
#[derive(Debug, thiserror::Error)]
pub(super) enum WatchError {
    /// The system's limit on watches per user is reached.
    #[error("the system's limit on watched folders is reached (raise it: sysctl fs.inotify.max_user_watches=1048576)")]
    Limit,
    /// Watching would leave too few watches for other programs.
    #[error("there are too many folders to watch")]
    Spare,
    /// One folder is reachable under two paths, and the system reports only one of them.
    #[error("{} and {} are the same folder", .0.display(), .1.display())]
    Twice(PathBuf, PathBuf),
    /// Any other error.
    #[error("the system does not watch: {0}")]
    Refused(String),
}

impl From<notify::Error> for WatchError {
    fn from(err: notify::Error) -> Self {
        match err.kind {
            ErrorKind::MaxFilesWatch => Self::Limit,
            // EMFILE: the system's limit on notifiers per user is reached.
            ErrorKind::Io(err) if err.raw_os_error() == Some(24) => {
                Self::Refused(format!("{err} (raise the limit: sysctl fs.inotify.max_user_instances=1024)"))
            }
            _ => Self::Refused(err.to_string()),
        }
    }
}

/// A notifier and its listeners per folder.
pub(super) struct Notifier {
    notifier: Mutex<RecommendedWatcher>,
    pub(super) told: Arc<EventQueue>,
}

/// Events received and not yet taken.
#[derive(Default)]
pub(super) struct EventQueue {
    seen: Mutex<Seen>,
    cookie: Condvar,
}

#[derive(Default)]
struct Seen {
    /// Watched folders and their listeners.
    listeners: BTreeMap<PathBuf, Watched>,
    heard: HashMap<u32, Changes>,
    next: u32,
    /// Folders for [`Notifier::catch_up`], and the cookie files reported in them.
    cookie_folders: HashSet<PathBuf>,
    cookies: HashSet<PathBuf>,
}

struct Watched {
    /// Device and inode of the folder.
    place: (u64, u64),
    who: Vec<u32>,
}

/// Events for a listener since its last [`Notifier::take`].
pub(super) struct Changes {
    /// Absolute paths.
    pub(super) paths: HashSet<PathBuf>,
    /// Events were lost or too many: anything may have changed.
    pub(super) all: bool,
    /// A folder of this listener is no longer watched.
    pub(super) lost: bool,
    /// Time of the first and the last event.
    pub(super) when: Option<(Instant, Instant)>,
    wake: Sender<()>,
}

impl Changes {
    fn hear(&mut self, path: Option<&Path>) {
        match path {
            Some(path) if self.paths.len() < MOST_PATHS => drop(self.paths.insert(path.to_owned())),
            _ => self.all = true,
        }
        if self.all {
            self.paths.clear();
        }
        let now = Instant::now();
        let is_first = self.when.is_none();
        self.when = Some((self.when.map_or(now, |(first, _)| first), now));
        if is_first {
            // If it is full, the listener is awake already.
            let _ = self.wake.try_send(());
        }
    }

    /// Takes the events and resets to empty.
    fn take(&mut self) -> Self {
        let (wake, none) = (self.wake.clone(), HashSet::new());
        let empty = Self { paths: none, all: false, lost: false, when: None, wake };
        std::mem::replace(self, empty)
    }
}

impl Notifier {
    /// Opens a notifier without any watches.
    pub(super) fn open() -> Result<Self, WatchError> {
        let told = Arc::new(EventQueue::default());
        Ok(Self { notifier: Mutex::new(notifier_for(&told)?), told })
    }

    /// Registers a listener; returns its id and the channel that wakes it.
    pub(super) fn listener(&self) -> (u32, Receiver<()>) {
        let (wake, woken) = bounded(1);
        let mut seen = self.told.lock();
        seen.next += 1;
        let who = seen.next;
        seen.heard.insert(who, Changes { paths: HashSet::new(), all: false, lost: false, when: None, wake });
        (who, woken)
    }

    /// Takes a listener's events since the last call.
    pub(super) fn take(&self, who: u32) -> Option<Changes> {
        Some(self.told.lock().heard.get_mut(&who)?.take())
    }

    /// Time of the first and the last event a listener has not taken yet.
    pub(super) fn told_when(&self, who: u32) -> Option<(Instant, Instant)> {
        self.told.lock().heard.get(&who)?.when
    }

    /// Sets the folders of a listener. Returns whether any is newly watched: earlier changes in it are unknown.
    pub(super) fn follow(&self, who: u32, folders: &BTreeSet<PathBuf>) -> Result<bool, WatchError> {
        // Held throughout, so that two listeners do not undo each other's work.
        let mut notifier = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        if folders.is_empty() && self.told.lock().only_listens(who) {
            // Unwatching compares each folder with all others, which takes a second for thousands; a new notifier is
            // faster.
            *notifier = notifier_for(&self.told)?;
            let mut seen = self.told.lock();
            seen.listeners.clear();
            let apart: Vec<PathBuf> = seen.cookie_folders.iter().cloned().collect();
            drop(seen);
            apart.iter().try_for_each(|folder| notifier.watch(folder, RecursiveMode::NonRecursive))?;
            return Ok(false);
        }
        let before: Vec<PathBuf> = {
            let seen = self.told.lock();
            let mine = seen.listeners.iter().filter(|(_, watched)| watched.who.contains(&who));
            mine.map(|(folder, _)| folder.clone()).collect()
        };
        for folder in before.iter().filter(|folder| !folders.contains(*folder)) {
            if self.told.lock().release(folder, who) {
                // The folder, and with it the watch, may be gone.
                let _ = notifier.unwatch(folder);
            }
        }
        let mut places: HashMap<(u64, u64), &PathBuf> = HashMap::with_capacity(folders.len());
        let mut is_new = false;
        for folder in folders {
            let Ok(place) = place(folder) else {
                is_new = true;
                continue;
            };
            if let Some(other) = places.insert(place, folder) {
                return Err(WatchError::Twice(other.clone(), folder.clone()));
            }
            if !self.told.lock().claim(folder, place, who) {
                continue;
            }
            is_new = true;
            let mode = if EXACT { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
            match notifier.watch(folder, mode) {
                Ok(()) => {}
                // The folder has just been removed, which is reported as an event.
                Err(err) if is_missing(&err) => drop(self.told.lock().listeners.remove(folder)),
                Err(err) => {
                    self.told.lock().listeners.remove(folder);
                    return Err(err.into());
                }
            }
        }
        Ok(is_new)
    }

    /// Number of folders watched if a listener followed `folders`.
    pub(super) fn with(&self, who: u32, folders: &BTreeSet<PathBuf>) -> usize {
        let seen = self.told.lock();
        let others = seen.listeners.iter().filter(|(_, watched)| watched.who.iter().any(|other| *other != who));
        others.filter(|(folder, _)| !folders.contains(*folder)).count() + folders.len()
    }

    /// Removes a listener.
    pub(super) fn leave(&self, who: u32) {
        // Following no folders watches nothing new, so it cannot fail.
        let _ = self.follow(who, &BTreeSet::new());
        self.told.lock().heard.remove(&who);
    }

    /// Watches a folder for the cookie files of [`Notifier::catch_up`].
    pub(super) fn set_apart(&self, folder: &Path) -> Result<(), WatchError> {
        let mut notifier = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        self.told.lock().cookie_folders.insert(folder.to_owned());
        Ok(notifier.watch(folder, RecursiveMode::NonRecursive)?)
    }

    /// Stops watching a cookie folder.
    pub(super) fn give_back(&self, folder: &Path) {
        let mut notifier = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = notifier.unwatch(folder);
        self.told.lock().cookie_folders.remove(folder);
    }

    /// Waits until all events before this call have been received. Creates a cookie file in a folder given to
    /// [`Notifier::set_apart`] and waits for its event, which follows all earlier ones.
    pub(super) fn catch_up(&self, folder: &Path, number: u64, wait: Duration) -> bool {
        let path = folder.join(format!("cookie.{number}"));
        if File::create(&path).is_err() {
            return false;
        }
        let is_missing = |seen: &mut Seen| !seen.cookies.contains(&path);
        let waited = self.told.cookie.wait_timeout_while(self.told.lock(), wait, is_missing);
        let (mut seen, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let came = seen.cookies.remove(&path);
        drop(seen);
        let _ = std::fs::remove_file(&path);
        came
    }
}

/// A notifier without any watches.
fn notifier_for(told: &Arc<EventQueue>) -> Result<RecommendedWatcher, WatchError> {
    let subscription = Arc::clone(told);
    // Reads change nothing, and writes are reported as such. Events for opened files would double the time of any
    // program that reads a whole repository.
    let wanted = notify::Config::default().with_event_kinds(EventKindMask::CORE);
    Ok(RecommendedWatcher::new(move |event| subscription.hear(event), wanted)?)
}

/// Maximum number of folders watched automatically: a quarter of the system's limit, which other programs share.
pub(super) fn most_watches() -> usize {
    let limits = ["/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"];
    let read = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
    limits.into_iter().filter_map(read).min().map_or(usize::MAX, |most| most / 4)
}

/// Device and inode of a folder.
pub(super) fn place(folder: &Path) -> io::Result<(u64, u64)> {
    folder.metadata().map(|metadata| place_of(&metadata))
}

/// Device and inode from metadata.
pub(super) fn place_of(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn is_missing(err: &notify::Error) -> bool {
    match &err.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(err) => matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        _ => false,
    }
}

impl EventQueue {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        // Each step leaves a consistent state.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes an event.
    pub(super) fn hear(&self, event: notify::Result<Event>) {
        let event = match event {
            Ok(event) if !event.need_rescan() => event,
            // The queue overflowed or the system failed, so replaced folders may have gone unreported as well.
            _ => return self.lock().mark_all_changed(),
        };
        // Some systems send access events although they are not requested.
        if event.kind.is_access() {
            return;
        }
        let moves = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
        let mut seen = self.lock();
        for path in &event.paths {
            if path.parent().is_some_and(|folder| seen.cookie_folders.contains(folder)) {
                if event.kind.is_create() {
                    seen.cookies.insert(path.clone());
                    self.cookie.notify_all();
                }
                continue;
            }
            seen.tell(path);
            if moves {
                seen.forget_below(path);
            }
        }
    }
}

impl Seen {
    /// Whether `who` is the only listener.
    fn only_listens(&self, who: u32) -> bool {
        self.listeners.values().all(|watched| watched.who == [who])
    }

    /// Reports a path to the listeners of the path and of its folder.
    fn tell(&mut self, path: &Path) {
        let depth = if EXACT { 2 } else { usize::MAX };
        let folders = path.ancestors().take(depth).filter_map(|folder| self.listeners.get(folder));
        for who in folders.flat_map(|watched| &watched.who) {
            if let Some(heard) = self.heard.get_mut(who) {
                heard.hear(Some(path));
            }
        }
    }

    /// Marks everything as changed for all listeners.
    fn mark_all_changed(&mut self) {
        // No folder has this device and inode, so each is watched again.
        self.listeners.values_mut().for_each(|watched| watched.place = (0, 0));
        for heard in self.heard.values_mut() {
            heard.lost = true;
            heard.hear(None);
        }
    }

    /// Drops the watches of folders at and below a path that was removed or renamed.
    fn forget_below(&mut self, path: &Path) {
        let below = self.listeners.range(path.to_owned()..).take_while(|(folder, _)| folder.starts_with(path));
        let lost: Vec<PathBuf> = below.map(|(folder, _)| folder.clone()).collect();
        for folder in lost {
            self.tell(&folder);
            for who in self.listeners.remove(&folder).map(|watched| watched.who).unwrap_or_default() {
                if let Some(heard) = self.heard.get_mut(&who) {
                    heard.lost = true;
                }
            }
        }
    }

    /// Adds a listener to a folder. Returns whether the folder needs a watch, or the listener a scan.
    fn claim(&mut self, folder: &Path, place: (u64, u64), who: u32) -> bool {
        match self.listeners.get_mut(folder) {
            Some(watched) if watched.place == place => {
                let is_new = !watched.who.contains(&who);
                if is_new {
                    watched.who.push(who);
                }
                // The folder is watched, but a new listener does not know of earlier changes.
                is_new
            }
            _ => {
                let mut all = self.listeners.remove(folder).map(|watched| watched.who).unwrap_or_default();
                if !all.contains(&who) {
                    all.push(who);
                }
                self.listeners.insert(folder.to_owned(), Watched { place, who: all });
                true
            }
        }
    }

    /// Removes a listener from a folder. Returns whether it was the last one.
    fn release(&mut self, folder: &Path, who: u32) -> bool {
        let Some(watched) = self.listeners.get_mut(folder) else { return false };
        watched.who.retain(|other| *other != who);
        let is_last = watched.who.is_empty();
        if is_last {
            self.listeners.remove(folder);
        }
        is_last
    }
}

/// Whether a folder is on a network file system, where changes by other machines are not reported.
#[cfg(target_os = "linux")]
pub(super) fn is_remote(folder: &Path) -> bool {
    /// NFS, SMB (three generations), 9P, FUSE, Ceph, Lustre, AFS, Coda, VirtualBox, VMware, GFS2, OCFS2, GPFS.
    const REMOTE: [u64; 16] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x6573_5546,
        0x00c3_6400,
        0x0bd0_0bd0,
        0x5346_414f,
        0x7375_7245,
        0x786f_4256,
        0xbacb_acbc,
        0x0116_1970,
        0x7461_636f,
        0x4750_4653,
        0x6b41_4653,
    ];
    // The type is signed on some platforms; only the lower half counts.
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss)]
    rustix::fs::statfs(folder).is_ok_and(|found| REMOTE.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

/// Whether a folder is on a network file system, where changes by other machines are not reported.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_remote(_folder: &Path) -> bool {
    false
}
