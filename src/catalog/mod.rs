//! Which repository is meant, and how fresh its index is: opened, looked at, brought up to date, made anew; those elsewhere, too.
//!
//! Everything here is asked by a [`Caller`]: who asks, where they stand, and what the process has open for them.

pub mod doctor;
pub mod files;
pub mod github;
pub mod indexes;
pub mod locate;
mod mend;
pub mod related;
pub mod remotes;
pub mod runs;

use std::sync::{Arc, Mutex, PoisonError};

pub use crate::pipeline::{Options, Report};
pub use indexes::{Indexes, Repo, damage, store_error};
pub use mend::mended;
pub use remotes::Remotes;

use crate::answer::session::Session;
use crate::answer::{Notes, Request};
use crate::config::Config;
use crate::store::{Sidecar, Snapshot};
use crate::watch::Watching;

/// What a process keeps between calls.
pub struct Context {
    /// What was decided at the start.
    pub config: Config,
    /// What was called, how long it took and what it saved.
    pub session: Session,
    /// The indexes that are open.
    pub indexes: Indexes,
    /// Ways to repositories elsewhere.
    pub remotes: Remotes,
}

impl Context {
    /// A process that has answered nothing yet.
    pub fn new(config: Config) -> Self {
        let session = Session::open(&config.home);
        let indexes = Indexes::new(&config);
        Self { config, session, indexes, remotes: Remotes::default() }
    }

    /// The same for a process that stays: checkouts that are asked about again are kept fresh from then on.
    pub fn kept_by(self, watching: Arc<Watching>) -> Self {
        Self { indexes: self.indexes.kept_by(watching), ..self }
    }

    /// Ends a process that has answered what it was asked: what it counted is written. What is open stays open, because the
    /// system closes it faster than we do.
    pub fn end(self) {
        self.remotes.settle(None);
        std::mem::forget(self.indexes);
    }

    /// A caller who has asked nothing yet.
    pub fn caller<'a>(&'a self, request: &'a Request) -> Caller<'a> {
        let Self { config, indexes, remotes, .. } = self;
        let (notes, from) = (Notes::default(), Mutex::default());
        Caller { config, indexes, remotes, request, asks_for_symbols: true, notes, from }
    }
}

/// Who asks, and what the process keeps for them. What an answer has to say beside itself is noted here.
pub struct Caller<'a> {
    /// What was decided at the start.
    pub config: &'a Config,
    /// The indexes that are open.
    pub indexes: &'a Indexes,
    /// Ways to repositories elsewhere.
    pub remotes: &'a Remotes,
    /// Where they stand, how they are told of progress, and how long they wait.
    pub request: &'a Request,
    /// They may ask for symbols by name, and not only for files and their text.
    pub asks_for_symbols: bool,
    notes: Notes,
    from: Mutex<Vec<(Sidecar, Arc<Snapshot>)>>,
}

impl Caller<'_> {
    /// What the answer is made from.
    pub fn answers_from(&self, sidecar: &Sidecar, snapshot: &Arc<Snapshot>) {
        // A panic beside it leaves nothing half done.
        let mut from = self.from.lock().unwrap_or_else(PoisonError::into_inner);
        if !from.iter().any(|(_, known)| Arc::ptr_eq(known, snapshot)) {
            from.push((sidecar.clone(), snapshot.clone()));
        }
    }

    /// What was noted, and what the answer was made from.
    pub fn into_parts(self) -> (Notes, Vec<(Sidecar, Arc<Snapshot>)>) {
        (self.notes, self.from.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whatever is asked, it is noted in the caller's name.
impl std::ops::Deref for Caller<'_> {
    type Target = Notes;

    fn deref(&self) -> &Notes {
        &self.notes
    }
}
