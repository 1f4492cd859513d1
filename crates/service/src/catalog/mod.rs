//! Repositories of a process: resolves, opens, updates and rebuilds local and remote ones.
//!
//! Every function takes a [`Caller`]: the request, and the state of the process.

mod background;
pub mod blame;
pub mod context;
pub mod cross_repo;
pub mod doctor;
mod early;
pub mod errors;
pub mod files;
#[cfg(feature = "fleet")]
pub mod fleet;
mod freshness;
pub mod github;
mod here;
mod index_source;
pub mod indexes;
pub mod locate;
pub mod meaning;
pub mod models;
pub mod packages;
pub mod peers;
mod reach;
mod rebuild;
pub mod related;
pub mod remotes;
#[cfg(feature = "ship")]
pub mod replica;
pub mod runs;
#[cfg(feature = "ship")]
pub mod ship;
mod state;
pub mod summaries;
pub mod tool_call;
pub mod unsaved;
mod views;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub use codelode_index::pipeline::{OfProject, Options, Report, estimated_tokens, of_project};
pub use errors::store_error;
pub use index_source::IndexSource;
pub use indexes::{Indexes, Repo, damage};
pub use meaning::Models;
pub use rebuild::rebuilt;
pub use remotes::Remotes;
pub use views::Views;

use early::ExcerptIndex;

use crate::answer::session::Session;
use crate::answer::{Notes, Request};
use codelode_base::config::Config;
use codelode_base::model::Rights;
use codelode_index::watch::WatchHandle;
use codelode_store::{Sidecar, Snapshot, WriterState};
use peers::Peers;

/// State that a process keeps between calls.
pub struct Context {
    /// Configuration.
    pub config: Config,
    /// Statistics of calls: names, durations and savings.
    pub session: Session,
    /// Open indexes.
    pub indexes: Indexes,
    /// Access to remote repositories.
    pub remotes: Arc<Remotes>,
    /// Embedding models.
    pub models: Arc<Models>,
    rights: Arc<Rights>,
    /// Other nodes of the fleet.
    peers: Option<Arc<dyn Peers>>,
}

impl Context {
    /// Creates the state of a new process.
    pub fn new(config: Config) -> Self {
        let session = Session::open(&config.home);
        let indexes = Indexes::new(&config);
        let (remotes, models, rights) = (Arc::default(), Arc::default(), Arc::default());
        Self { config, session, indexes, remotes, models, rights, peers: None }
    }

    /// Adds a watcher for a long-running process, so that repeatedly queried checkouts stay fresh.
    pub fn kept_by(self, watching: Arc<WatchHandle>) -> Self {
        Self { indexes: self.indexes.kept_by(watching), ..self }
    }

    /// Adds a source of indexes that are fetched when questions open them.
    pub fn stocked_by(self, stock: Arc<dyn IndexSource>) -> Self {
        Self { indexes: self.indexes.stocked_by(stock), ..self }
    }

    /// Adds the other nodes of a fleet.
    pub fn among(self, peers: Arc<dyn Peers>) -> Self {
        Self { peers: Some(peers), ..self }
    }

    /// The other nodes, if this process is a node of a fleet.
    pub fn peers(&self) -> Option<&dyn Peers> {
        self.peers.as_deref()
    }

    /// The state for a caller with these rights, as in a process that has only the indexes it may see. Open indexes are
    /// shared. Statistics are separate, in a file of this name.
    pub fn seen_by(&self, name: &str, rights: Rights) -> Self {
        // Rights hold paths of this machine, but roots are stored as on the machine that made the index.
        let folders = rights.folders.iter().map(|folder| self.config.path_map.to_stored(folder)).collect();
        let rights = Arc::new(Rights { folders, ..rights });
        Self {
            config: Config { redact_source_root: true, ..self.config.clone() },
            session: Session::open(&self.config.home.join("callers").join(name)),
            indexes: self.indexes.seen_by(rights.clone()),
            remotes: self.remotes.clone(),
            models: self.models.clone(),
            rights,
            peers: self.peers.clone(),
        }
    }

    /// The state for other users of this machine: paths must lie inside an indexed checkout, or inside one of these
    /// folders.
    pub fn within(self, roots: Vec<PathBuf>) -> Self {
        let rights = Arc::new(Rights { roots: Some(roots), ..Rights::default() });
        Self { indexes: self.indexes.seen_by(rights.clone()), rights, ..self }
    }

    /// Roots of open indexes that are only excerpts, and that no other process is completing.
    pub fn unfinished(&self) -> Vec<PathBuf> {
        let sidecars = self.indexes.excerpts().into_iter().filter_map(|repo| self.indexes.registry().get(&repo));
        let is_left = |sidecar: &Sidecar| match self.indexes.registry().store(&sidecar.store).held() {
            WriterState::By(Some(process)) => process == std::process::id(),
            WriterState::By(None) => false,
            _ => true,
        };
        sidecars.filter(is_left).map(|sidecar| self.config.path_map.to_local(&sidecar.root)).collect()
    }

    /// Ends the process after its last answer, once statistics are written. Indexes stay open, because the system
    /// closes them faster at exit.
    pub fn end(self) {
        self.remotes.settle(None);
        std::mem::forget(self.indexes);
    }

    /// Creates a caller for a request.
    pub fn caller<'a>(&'a self, request: &'a Request) -> Caller<'a> {
        let Self { config, indexes, remotes, models, rights, .. } = self;
        let (notes, from) = (Notes::default(), Mutex::default());
        let (words, paths, began) = (Vec::new(), Vec::new(), Instant::now());
        let excerpts = Mutex::default();
        let asks_for_symbols = true;
        Caller {
            config,
            indexes,
            remotes,
            models,
            rights,
            request,
            began,
            asks_for_symbols,
            words,
            paths,
            excerpts,
            notes,
            from,
        }
    }
}

/// A request with the state of the process. Notes for the answer's `_meta` are collected here.
pub struct Caller<'a> {
    /// Configuration.
    pub config: &'a Config,
    /// Open indexes.
    pub indexes: &'a Indexes,
    /// Access to remote repositories.
    pub remotes: &'a Remotes,
    /// Embedding models.
    pub models: &'a Models,
    /// The caller's rights.
    pub rights: &'a Rights,
    /// The request, with its directory, progress callback and patience.
    pub request: &'a Request,
    /// The start of the call. The answer must include earlier changes.
    pub began: Instant,
    /// Whether the call may search symbols by name, in addition to files and text.
    pub asks_for_symbols: bool,
    /// Words of the question, if an excerpt of an unindexed folder is enough; empty if the call needs the whole.
    pub words: Vec<String>,
    /// Absolute paths in the question. They select the repository if none is named.
    pub paths: Vec<PathBuf>,
    /// Excerpts made for this question.
    excerpts: Mutex<Vec<ExcerptIndex>>,
    notes: Notes,
    from: Mutex<Vec<(Sidecar, Arc<Snapshot>)>>,
}

impl Caller<'_> {
    /// Words of the question, with paths relative to a root.
    fn words_below(&self, root: &Path) -> Vec<String> {
        let within = |word: &String| {
            let inside = Path::new(word).strip_prefix(root).ok().and_then(Path::to_str);
            inside.map_or_else(|| word.clone(), str::to_owned)
        };
        self.words.iter().map(within).collect()
    }

    /// Records a snapshot that the answer comes from.
    pub fn answers_from(&self, sidecar: &Sidecar, snapshot: &Arc<Snapshot>) {
        // A panic elsewhere leaves the list intact.
        let mut from = self.from.lock().unwrap_or_else(PoisonError::into_inner);
        if !from.iter().any(|(_, known)| Arc::ptr_eq(known, snapshot)) {
            from.push((sidecar.clone(), snapshot.clone()));
        }
    }

    /// The notes, and the snapshots that the answer came from.
    pub fn into_parts(self) -> (Notes, Vec<(Sidecar, Arc<Snapshot>)>) {
        (self.notes, self.from.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Notes are added through the caller.
impl std::ops::Deref for Caller<'_> {
    type Target = Notes;

    fn deref(&self) -> &Notes {
        &self.notes
    }
}
