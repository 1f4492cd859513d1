//! Watch mode: keeps indexes fresh while files change.
//!
//! A [`WatchHandle`] keeps any number of checkouts fresh, with one keeper each: a thread that receives file system
//! notifications, waits for a quiet moment, and updates the index. Only folders entered by discovery are watched.
//! While a keeper runs, no other code has to scan the files: it [`ask()`]s the keeper, in this process or another.
//!
//! The answer is exact where notifications are ordered, as on local disks under Linux: the keeper creates a file and
//! waits for its event, which follows all earlier ones. Where notifications are not reliable (network file systems,
//! followed links, too many folders), the keeper compares sizes and times periodically instead, and says so.
//! Unreported changes (writes through a memory map, or through a hard link from elsewhere) are found by a scan once a
//! minute.
//!
//! One process at a time keeps a checkout; others wait for its end and take over. A server keeps the checkouts it is
//! asked about automatically ([`WatchHandle::keep`]): while there are questions, and while the system has watches to
//! spare.

mod ask;
pub mod claude;
mod keeper;
mod listen;
mod notifier;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::pipeline;
use codelode_base::config::Config;
use codelode_store::Registry;

pub use ask::{KeeperAnswer, ask};
use keeper::{End, Keeper, Reason};
pub use listen::sweep;
use notifier::Notifier;

/// Timing of watch mode.
#[derive(Clone, Debug)]
pub struct Options {
    /// Quiet time before changes are indexed; a question causes an update at once.
    pub debounce: Duration,
    /// Time without changes and questions after which watching a folder ends; `None` for never.
    pub idle: Option<Duration>,
}

/// Reason why a folder cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not an existing folder.
    #[error("{} is not a folder", .0.display())]
    NoFolder(PathBuf),
    /// Indexing failed.
    #[error(transparent)]
    Pipeline(#[from] pipeline::Error),
    /// The system refused.
    #[error("cannot watch {}: {problem}", root.display())]
    Refused {
        /// The folder.
        root: PathBuf,
        /// The system's error.
        problem: String,
    },
}

/// Callback for log messages of one line each.
pub type LogLine = dyn Fn(&str) + Send + Sync;

/// Set of checkouts kept fresh until this is dropped.
pub struct WatchHandle {
    config: Config,
    options: Options,
    tell: Arc<LogLine>,
    /// Shared notifier, open while there are keepers: the system limits their number per user.
    notifier: Mutex<Weak<Notifier>>,
    keepers: Mutex<HashMap<PathBuf, Keeper>>,
    /// Checkouts that cannot be kept automatically.
    unfit: Mutex<HashSet<PathBuf>>,
}

impl WatchHandle {
    /// Watches no checkout yet.
    pub fn new(config: Config, options: Options, tell: Arc<LogLine>) -> Self {
        Self { config, options, tell, notifier: Mutex::default(), keepers: Mutex::default(), unfit: Mutex::default() }
    }

    /// Keeps the checkout that contains `folder` fresh, and indexes it first if necessary. Returns its root.
    pub fn add(&self, folder: &Path) -> Result<PathBuf, Error> {
        let found = folder.canonicalize().ok().filter(|folder| folder.is_dir());
        let folder = found.ok_or_else(|| Error::NoFolder(folder.to_owned()))?;
        let registry = Registry::new(&self.config.home);
        let owner = pipeline::owner(&registry, &self.config, &folder);
        let root = owner.map_or(folder, |sidecar| self.config.path_map.to_local(&sidecar.root));
        self.add_root(&root)?;
        Ok(root)
    }

    /// Keeps `root` fresh as a checkout of its own.
    fn add_root(&self, root: &Path) -> Result<(), Error> {
        let mut keepers = self.keepers();
        if keepers.get(root).is_some_and(|keeper| !keeper.has_ended()) {
            return Ok(());
        }
        if let Some(keeper) = self.keeper(root, Reason::Wanted)? {
            keepers.insert(root.to_owned(), keeper);
        }
        Ok(())
    }

    /// Keeps the indexed checkout at `root` fresh automatically while there are questions. Does nothing if another
    /// process keeps it, or if notifications are unreliable or watches scarce.
    pub fn keep(&self, root: &Path) {
        let mut keepers = self.keepers();
        let mut unfit = self.unfit.lock().unwrap_or_else(PoisonError::into_inner);
        if keepers.get(root).is_some_and(|keeper| !keeper.has_ended()) {
            return;
        }
        if keepers.remove(root).and_then(Keeper::end) == Some(End::Unfit) {
            unfit.insert(root.to_owned());
        }
        if unfit.contains(root) {
            return;
        }
        match self.keeper(root, Reason::ByTheWay) {
            Ok(Some(keeper)) => drop(keepers.insert(root.to_owned(), keeper)),
            Ok(None) => {}
            Err(err) => tracing::info!(%err, "{} is looked at before each answer", root.display()),
        }
    }

    /// Like [`ask()`], but for a keeper of this process, which is faster.
    pub fn ask(&self, root: &Path, patience: Duration) -> Option<KeeperAnswer> {
        // The lock may be held during indexing, so it is not waited for.
        let asking = self.keepers.try_lock().ok()?.get(root)?.asking()?;
        asking.ask(notifier::place(root).ok()?, patience)
    }

    fn keeper(&self, root: &Path, reason: Reason) -> Result<Option<Keeper>, Error> {
        let (options, tell) = (self.options.clone(), Arc::clone(&self.tell));
        Keeper::start(root.to_owned(), self.config.clone(), options, reason, &|| self.notifier(), tell)
    }

    /// The shared notifier; `None` if the system refuses one.
    fn notifier(&self) -> Option<Arc<Notifier>> {
        let mut notifier = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = notifier.upgrade() {
            return Some(open);
        }
        match Notifier::open() {
            Ok(opened) => {
                let opened = Arc::new(opened);
                *notifier = Arc::downgrade(&opened);
                Some(opened)
            }
            Err(err) => {
                (self.tell)(&format!("{err}; folders are looked at now and then instead"));
                None
            }
        }
    }

    /// Stops keeping a checkout.
    pub fn remove(&self, root: &Path) {
        let keeper = self.keepers().remove(root);
        drop(keeper);
    }

    /// Roots of the watched checkouts, sorted.
    pub fn roots(&self) -> Vec<PathBuf> {
        let mut keepers = self.keepers();
        keepers.retain(|_, keeper| !keeper.has_ended());
        let mut roots: Vec<PathBuf> = keepers.keys().cloned().collect();
        roots.sort();
        roots
    }

    fn keepers(&self) -> MutexGuard<'_, HashMap<PathBuf, Keeper>> {
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
