//! What the system tells of folders: one notifier for a process, however many checkouts it keeps fresh.

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

/// Whether what the system tells is complete and in order, folder by folder. Linux puts an event into the queue before
/// the call that caused it returns, and says when the queue ran over; elsewhere events come when they come.
pub(super) const EXACT: bool = cfg!(target_os = "linux");
/// When more paths than this have changed, everything is looked at instead.
const MOST_PATHS: usize = 10_000;

/// Why folders cannot be watched.
#[derive(Debug, thiserror::Error)]
pub(super) enum Blind {
    /// The system watches no more folders for this user.
    #[error("the system's limit on watched folders is reached (raise it: sysctl fs.inotify.max_user_watches=1048576)")]
    Limit,
    /// It could, and would leave too few for others.
    #[error("there are more folders than are watched by the way")]
    Spare,
    /// One folder is in two places, and the system names only one of them.
    #[error("{} and {} are the same folder", .0.display(), .1.display())]
    Twice(PathBuf, PathBuf),
    /// Something else.
    #[error("the system does not watch: {0}")]
    Refused(String),
}

impl From<notify::Error> for Blind {
    fn from(err: notify::Error) -> Self {
        match err.kind {
            ErrorKind::MaxFilesWatch => Self::Limit,
            // EMFILE: as many notifiers as a user may have.
            ErrorKind::Io(err) if err.raw_os_error() == Some(24) => {
                Self::Refused(format!("{err} (raise the limit: sysctl fs.inotify.max_user_instances=1024)"))
            }
            _ => Self::Refused(err.to_string()),
        }
    }
}

/// A notifier, and who wants to hear of which folder.
pub(super) struct Eye {
    notifier: Mutex<RecommendedWatcher>,
    pub(super) told: Arc<Told>,
}

/// What was told, and not yet taken.
#[derive(Default)]
pub(super) struct Told {
    seen: Mutex<Seen>,
    cookie: Condvar,
}

#[derive(Default)]
struct Seen {
    /// The folders that are watched, and who is told of each.
    listeners: BTreeMap<PathBuf, Watched>,
    heard: HashMap<u32, Heard>,
    next: u32,
    /// Folders for [`Eye::catch_up`], and the files in them that were told of.
    cookie_folders: HashSet<PathBuf>,
    cookies: HashSet<PathBuf>,
}

struct Watched {
    /// Device and inode.
    place: (u64, u64),
    who: Vec<u32>,
}

/// What a listener was told since it asked last.
pub(super) struct Heard {
    /// Absolute paths.
    pub(super) paths: HashSet<PathBuf>,
    /// Events were lost, or there were too many: anything may have changed.
    pub(super) all: bool,
    /// A folder that it listens to is watched no more.
    pub(super) lost: bool,
    /// When it was told first and last.
    pub(super) when: Option<(Instant, Instant)>,
    wake: Sender<()>,
}

impl Heard {
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
            // Full means that it is awake already.
            let _ = self.wake.try_send(());
        }
    }

    /// Takes what was told.
    fn take(&mut self) -> Self {
        let (wake, none) = (self.wake.clone(), HashSet::new());
        let empty = Self { paths: none, all: false, lost: false, when: None, wake };
        std::mem::replace(self, empty)
    }
}

impl Eye {
    /// A notifier that watches nothing yet.
    pub(super) fn open() -> Result<Self, Blind> {
        let told = Arc::new(Told::default());
        Ok(Self { notifier: Mutex::new(notifier_for(&told)?), told })
    }

    /// A new listener, and what wakes it.
    pub(super) fn listener(&self) -> (u32, Receiver<()>) {
        let (wake, woken) = bounded(1);
        let mut seen = self.told.lock();
        seen.next += 1;
        let who = seen.next;
        seen.heard.insert(who, Heard { paths: HashSet::new(), all: false, lost: false, when: None, wake });
        (who, woken)
    }

    /// What a listener was told since this was asked last.
    pub(super) fn take(&self, who: u32) -> Option<Heard> {
        Some(self.told.lock().heard.get_mut(&who)?.take())
    }

    /// When a listener was told first and last of what it has not taken yet.
    pub(super) fn told_when(&self, who: u32) -> Option<(Instant, Instant)> {
        self.told.lock().heard.get(&who)?.when
    }

    /// Makes a listener hear of exactly these folders. Whether one is watched only now: then nobody can tell what happened
    /// in it before.
    pub(super) fn follow(&self, who: u32, folders: &BTreeSet<PathBuf>) -> Result<bool, Blind> {
        // Held throughout, so that two listeners do not undo each other's work.
        let mut notifier = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        if folders.is_empty() && self.told.lock().only_listens(who) {
            // The notifier compares each folder that it gives up with all others: of thousands that takes a second.
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
                // It may be gone, and the system's interest with it.
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
                return Err(Blind::Twice(other.clone(), folder.clone()));
            }
            if !self.told.lock().claim(folder, place, who) {
                continue;
            }
            is_new = true;
            let mode = if EXACT { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
            match notifier.watch(folder, mode) {
                Ok(()) => {}
                // It went away just now, which somebody will be told.
                Err(err) if is_missing(&err) => drop(self.told.lock().listeners.remove(folder)),
                Err(err) => {
                    self.told.lock().listeners.remove(folder);
                    return Err(err.into());
                }
            }
        }
        Ok(is_new)
    }

    /// How many folders would be watched if a listener followed these.
    pub(super) fn with(&self, who: u32, folders: &BTreeSet<PathBuf>) -> usize {
        let seen = self.told.lock();
        let others = seen.listeners.iter().filter(|(_, watched)| watched.who.iter().any(|other| *other != who));
        others.filter(|(folder, _)| !folders.contains(*folder)).count() + folders.len()
    }

    /// Tells a listener no more.
    pub(super) fn leave(&self, who: u32) {
        // Nothing is new about no folders, so nothing can be refused.
        let _ = self.follow(who, &BTreeSet::new());
        self.told.lock().heard.remove(&who);
    }

    /// Sets a folder apart for [`Eye::catch_up`].
    pub(super) fn set_apart(&self, folder: &Path) -> Result<(), Blind> {
        let mut notifier = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        self.told.lock().cookie_folders.insert(folder.to_owned());
        Ok(notifier.watch(folder, RecursiveMode::NonRecursive)?)
    }

    /// Gives such a folder back.
    pub(super) fn give_back(&self, folder: &Path) {
        let mut notifier = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = notifier.unwatch(folder);
        self.told.lock().cookie_folders.remove(folder);
    }

    /// Waits until everything has been told that happened before this call. A file is made in a folder that was set apart,
    /// and when that is told, so is everything before it.
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

/// A notifier that watches nothing yet.
fn notifier_for(told: &Arc<Told>) -> Result<RecommendedWatcher, Blind> {
    let hearing = Arc::clone(told);
    // That somebody reads changes nothing, and what somebody wrote is told when it is written. Were we told of every file
    // that is opened, whoever reads a whole repository would take twice as long.
    let wanted = notify::Config::default().with_event_kinds(EventKindMask::CORE);
    Ok(RecommendedWatcher::new(move |event| hearing.hear(event), wanted)?)
}

/// So many folders are watched by the way: a quarter of what the system lets a user watch, for others want to as well.
pub(super) fn spare() -> usize {
    let limits = ["/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"];
    let read = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
    limits.into_iter().filter_map(read).min().map_or(usize::MAX, |most| most / 4)
}

/// Device and inode of a folder.
pub(super) fn place(folder: &Path) -> io::Result<(u64, u64)> {
    folder.metadata().map(|metadata| place_of(&metadata))
}

/// The same of what is open.
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

impl Told {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        // Each step leaves a whole state.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what the system tells.
    pub(super) fn hear(&self, event: notify::Result<Event>) {
        let event = match event {
            Ok(event) if !event.need_rescan() => event,
            // The queue ran over, or the system failed us: also of folders that are others now nobody may have told.
            _ => return self.lock().lose_all(),
        };
        // Systems that cannot leave these out tell of them all the same.
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
    /// Whether nobody else listens to any folder.
    fn only_listens(&self, who: u32) -> bool {
        self.listeners.values().all(|watched| watched.who == [who])
    }

    /// Tells of a path whoever listens to it, or to the folder that holds it.
    fn tell(&mut self, path: &Path) {
        let depth = if EXACT { 2 } else { usize::MAX };
        let folders = path.ancestors().take(depth).filter_map(|folder| self.listeners.get(folder));
        for who in folders.flat_map(|watched| &watched.who) {
            if let Some(heard) = self.heard.get_mut(who) {
                heard.hear(Some(path));
            }
        }
    }

    /// Anything may have happened.
    fn lose_all(&mut self) {
        // No folder has this place, so each is watched anew.
        self.listeners.values_mut().for_each(|watched| watched.place = (0, 0));
        for heard in self.heard.values_mut() {
            heard.lost = true;
            heard.hear(None);
        }
    }

    /// What lay at this path and below is there no more, or something else is: the system's interest went with it.
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

    /// Puts a listener down for a folder. Whether the system has still to be asked to watch it.
    fn claim(&mut self, folder: &Path, place: (u64, u64), who: u32) -> bool {
        match self.listeners.get_mut(folder) {
            Some(watched) if watched.place == place => {
                let is_new = !watched.who.contains(&who);
                if is_new {
                    watched.who.push(who);
                }
                // It is watched, but what happened before is not known to a new listener.
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

    /// Takes a listener off a folder. Whether nobody listens to it any more.
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

/// Whether a folder is on a file system that others change without the system's knowing.
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
    // The number is signed here and unsigned there; what counts is its lower half.
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss)]
    rustix::fs::statfs(folder).is_ok_and(|found| REMOTE.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

/// Whether a folder is on a file system that others change without the system's knowing.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_remote(_folder: &Path) -> bool {
    false
}
