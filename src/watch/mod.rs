//! Keeps indexes fresh while their folders change.
//!
//! A [`Watching`] keeps any number of checkouts fresh, each by a keeper: a thread that is told by the system what changed,
//! waits until it is quiet for a moment, and brings that into the index. Only folders that discovery enters are watched.
//! While a keeper lives, others need not look at the files at all: they [`ask`] it, in this process or from another.
//!
//! That answer is exact where the system tells everything in order, which Linux does on local disks: before answering, the
//! keeper makes a file and waits until it is told of that, so it has been told of everything before. Where the system cannot be
//! relied on (a network file system, links that are followed, more folders than it will watch) the keeper compares
//! sizes and times now and then instead, and says so. What no system tells (writes through a memory map, and through another name
//! of the same file that lies elsewhere) is looked for once a minute.
//!
//! One process at a time keeps a checkout; others that want to wait for its end and go on from there. A server that is asked
//! again and again does so by the way ([`Watching::keep`]): while somebody asks, and where the system has watches to spare.

mod ask;
pub mod claude;
mod eye;
mod keeper;
mod listen;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::config::Config;
use crate::pipeline;
use crate::store::Registry;

pub use ask::{Standing, ask};
use eye::Eye;
use keeper::{End, Errand, Keeper};
pub use listen::sweep;

/// How to watch.
#[derive(Clone, Debug)]
pub struct Options {
    /// Changes are brought in when it has been quiet for so long; a question brings them in at once.
    pub debounce: Duration,
    /// Watching a folder ends when nothing changed and nobody asked for so long; `None` for never.
    pub idle: Option<Duration>,
}

/// Why a folder cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such folder.
    #[error("{} is no folder", .0.display())]
    NoFolder(PathBuf),
    /// Its index cannot be made.
    #[error(transparent)]
    Pipeline(#[from] pipeline::Error),
    /// The system refused.
    #[error("cannot watch {}: {problem}", root.display())]
    Refused {
        /// The folder.
        root: PathBuf,
        /// What it said.
        problem: String,
    },
}

/// Told of what happens, a line each.
pub type Tell = dyn Fn(&str) + Send + Sync;

/// Keeps checkouts fresh until it is dropped.
pub struct Watching {
    config: Config,
    options: Options,
    tell: Arc<Tell>,
    /// Opened for the first keeper and closed with the last: the system has few for a user.
    eye: Mutex<Weak<Eye>>,
    keepers: Mutex<HashMap<PathBuf, Keeper>>,
    /// Checkouts that cannot be kept by the way.
    unfit: Mutex<HashSet<PathBuf>>,
}

impl Watching {
    /// Watches nothing yet.
    pub fn new(config: Config, options: Options, tell: Arc<Tell>) -> Self {
        Self { config, options, tell, eye: Mutex::default(), keepers: Mutex::default(), unfit: Mutex::default() }
    }

    /// Keeps the checkout that holds a folder fresh from now on; one that is not indexed yet is indexed first. Returns its
    /// root.
    pub fn add(&self, folder: &Path) -> Result<PathBuf, Error> {
        let found = folder.canonicalize().ok().filter(|folder| folder.is_dir());
        let folder = found.ok_or_else(|| Error::NoFolder(folder.to_owned()))?;
        let registry = Registry::new(&self.config.home);
        let owner = pipeline::owner(&registry, &self.config, &folder);
        let root = owner.map_or(folder, |sidecar| self.config.path_map.to_local(&sidecar.root));
        self.add_root(&root)?;
        Ok(root)
    }

    /// The same for a folder that is to be a checkout of its own, wherever it lies.
    fn add_root(&self, root: &Path) -> Result<(), Error> {
        let mut keepers = self.keepers();
        if keepers.get(root).is_some_and(|keeper| !keeper.has_ended()) {
            return Ok(());
        }
        if let Some(keeper) = self.keeper(root, Errand::Wanted)? {
            keepers.insert(root.to_owned(), keeper);
        }
        Ok(())
    }

    /// Keeps the indexed checkout at `root` fresh by the way: while somebody asks, where nobody else keeps it, and where the
    /// system tells of everything and has watches to spare. Otherwise nothing happens.
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
        match self.keeper(root, Errand::ByTheWay) {
            Ok(Some(keeper)) => drop(keepers.insert(root.to_owned(), keeper)),
            Ok(None) => {}
            Err(err) => tracing::info!(%err, "{} is looked at before each answer", root.display()),
        }
    }

    /// The same as [`ask`] of a keeper of our own, which is there sooner.
    pub fn ask(&self, root: &Path, patience: Duration) -> Option<Standing> {
        // Whoever has the keepers just now may be indexing: nobody waits for that.
        let asking = self.keepers.try_lock().ok()?.get(root)?.asking()?;
        asking.ask(eye::place(root).ok()?, patience)
    }

    fn keeper(&self, root: &Path, errand: Errand) -> Result<Option<Keeper>, Error> {
        let (options, tell) = (self.options.clone(), Arc::clone(&self.tell));
        Keeper::start(root.to_owned(), self.config.clone(), options, errand, &|| self.eye(), tell)
    }

    /// What is told by the system; `None` where it gives us no notifier.
    fn eye(&self) -> Option<Arc<Eye>> {
        let mut eye = self.eye.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = eye.upgrade() {
            return Some(open);
        }
        match Eye::open() {
            Ok(opened) => {
                let opened = Arc::new(opened);
                *eye = Arc::downgrade(&opened);
                Some(opened)
            }
            Err(err) => {
                (self.tell)(&format!("{err}; folders are looked at now and then instead"));
                None
            }
        }
    }

    /// Leaves a checkout as it is from now on.
    pub fn remove(&self, root: &Path) {
        let keeper = self.keepers().remove(root);
        drop(keeper);
    }

    /// The roots that are watched.
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
