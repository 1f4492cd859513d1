//! Keeps indexes fresh while their folders change.
//!
//! A [`Watching`] keeps any number of checkouts fresh, each by a keeper: a thread that is told by the system what changed,
//! waits until it is quiet for a moment, and brings that into the index. Only folders that discovery enters are watched.
//! While a keeper lives, others need not look at the files at all: they [`ask`] it, in this process or from another.
//!
//! That answer is exact where the system tells everything in order, which Linux does on local disks: before answering, the
//! keeper makes a file and waits until it is told of that, so it has been told of everything before. Where the system cannot be
//! relied on (a network file system, links that are followed, more folders than it will watch) the keeper compares
//! sizes and times now and then instead, and says so. What no system tells: writes through a memory map, and through
//! another name of the same file that lies elsewhere.
//!
//! One process at a time keeps a checkout; others that want to wait for its end and go on from there.

mod ask;
pub mod claude;
mod eye;
mod keeper;
mod listen;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::config::Config;
use crate::pipeline;
use crate::store::Registry;

pub use ask::{Standing, ask};
use eye::Eye;
use keeper::Keeper;

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
    /// `None` where the system gives us no notifier.
    eye: Option<Arc<Eye>>,
    keepers: Mutex<HashMap<PathBuf, Keeper>>,
}

impl Watching {
    /// Watches nothing yet.
    pub fn new(config: Config, options: Options, tell: Arc<Tell>) -> Self {
        let eye = match Eye::open() {
            Ok(eye) => Some(Arc::new(eye)),
            Err(err) => {
                tell(&format!("{err}; folders are looked at now and then instead"));
                None
            }
        };
        Self { config, options, tell, eye, keepers: Mutex::default() }
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
        let (eye, tell) = (self.eye.clone(), Arc::clone(&self.tell));
        let keeper = Keeper::start(root.to_owned(), self.config.clone(), self.options.clone(), eye, tell)?;
        keepers.insert(root.to_owned(), keeper);
        Ok(())
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
