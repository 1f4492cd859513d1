//! A server over a place of indexes (S3, a folder, a web server). It lists the place, fetches an index when a question
//! opens it, and replaces it when a newer one is published. If indexes take too much room, the least recently used ones
//! are dropped. The local copy may be lost at any time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::errors::{ship_error, store_error};
use super::index_source::IndexSource;
use super::{Caller, Context, Indexes};
use crate::answer::Error;
use codelode_base::model;
use codelode_cluster::ship::{self, Facts, LATEST, ShipmentControl, Source};
use codelode_net as net;
use codelode_store::{Registry, RemoteFacts, Sidecar};

/// The interval of checks for newer states of local indexes.
const POLL: Duration = Duration::from_secs(2);
/// The interval of listing the place.
const LIST: Duration = Duration::from_secs(30);
/// After this silence of the place, answers mention it.
const SILENT: Duration = Duration::from_secs(15);
/// Maximum wait for another thread that writes the same store.
const PATIENCE: Duration = Duration::from_secs(60);
/// The name of a checkout in its store.
const SNAPSHOT: &str = "replica";

/// A server's copy of a place.
pub struct Replica {
    source: Source,
    /// All listed repositories, regardless of rights.
    registry: Registry,
    indexes: Indexes,
    /// The most bytes of all stores.
    most: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    held: HashMap<String, LocalIndex>,
    /// A lock for each repository that is being fetched.
    fetching: HashMap<String, Arc<Mutex<()>>>,
    /// The time when the place last answered, and whether its silence was logged.
    answered: Option<Instant>,
    is_silent: bool,
}

/// A local index.
struct LocalIndex {
    /// The tag of its state in the place; `None` if an earlier process fetched it.
    tag: Option<String>,
    bytes: u64,
    used: Instant,
}

impl Replica {
    /// Lists a place, and keeps local indexes up to date from now on. `most` limits their size in bytes.
    pub fn begin(cx: &Context, from: &str, most: u64) -> Result<Arc<Self>, Error> {
        let client: net::Client = cx.remotes.client(&cx.config);
        let source = Source::open(from, &client).map_err(ship_error)?;
        let registry = cx.indexes.registry().whole();
        registry.prepare();
        let state = Mutex::default();
        let replica = Arc::new(Self { source, registry, indexes: cx.indexes.clone(), most, state });
        replica.take_stock();
        replica.list();
        let keeper = replica.clone();
        let run = move || {
            let mut listed = Instant::now();
            loop {
                thread::sleep(POLL);
                keeper.poll();
                if listed.elapsed() >= LIST {
                    keeper.list();
                    listed = Instant::now();
                }
            }
        };
        let started = thread::Builder::new().name("replica".to_owned()).spawn(run);
        started.map_err(|err| Error::unavailable(format!("cannot start a thread: {err}")))?;
        Ok(replica)
    }

    /// Notes the indexes that an earlier process fetched.
    fn take_stock(&self) {
        let mut state = self.state();
        for sidecar in self.listed() {
            if self.registry.store(&sidecar.store).snapshot(&sidecar.snapshot).is_ok() {
                let bytes = size_of(self.registry.store(&sidecar.store).dir());
                state.held.insert(sidecar.repo, LocalIndex { tag: None, bytes, used: Instant::now() });
            }
        }
    }

    /// The listed repositories of the place.
    fn listed(&self) -> Vec<Sidecar> {
        let mut all = self.registry.all();
        all.retain(is_ours);
        all
    }

    /// Lists new repositories of the place, and forgets those removed from it.
    fn list(&self) {
        let Some(repos) = self.logged(self.source.repos()).flatten() else { return };
        let known: HashSet<String> = self.listed().into_iter().map(|sidecar| sidecar.repo).collect();
        let there: HashSet<&String> = repos.iter().collect();
        let new: Vec<&String> = repos.iter().filter(|repo| !known.contains(*repo)).collect();
        new.into_par_iter().for_each(|repo| {
            self.look(repo);
        });
        for repo in known.iter().filter(|repo| !there.contains(repo)) {
            // The listing may be outdated, so the repository is checked itself.
            if let Some(None) = self.logged(self.source.tag(repo)) {
                self.forget(repo);
            }
        }
    }

    /// Lists a repository. Returns whether the place has it.
    fn look(&self, repo: &str) -> bool {
        let Some(Some(newest)) = self.logged(self.source.newest(repo)) else { return false };
        let sidecar = self.sidecar(repo, &newest.facts);
        let put = self.registry.put(&sidecar);
        put.inspect_err(|err| tracing::error!(repo, "cannot be listed: {err}")).is_ok()
    }

    fn sidecar(&self, repo: &str, facts: &Facts) -> Sidecar {
        let url = self.source.shown();
        Sidecar {
            repo: repo.to_owned(),
            root: PathBuf::from(format!("{}/{repo}", url.trim_end_matches('/'))),
            store: Registry::key(Path::new(&format!("replica/{repo}"))),
            snapshot: SNAPSHOT.to_owned(),
            origin: None,
            held_in: Vec::new(),
            indexed_at: facts.indexed_at,
            file_count: facts.file_count,
            symbol_count: facts.symbol_count,
            languages: BTreeMap::new(),
            git_head: facts.commit.clone(),
            extra_ignore: Vec::new(),
            follow_symlinks: false,
            remote: Some(RemoteFacts {
                url,
                reference: LATEST.to_owned(),
                tree: facts.tree.clone().unwrap_or_default(),
            }),
            package: None,
            installed_in: Vec::new(),
        }
    }

    /// Fetches newer states of local indexes.
    fn poll(&self) {
        let held: Vec<(String, Option<String>)> =
            self.state().held.iter().map(|(repo, held)| (repo.clone(), held.tag.clone())).collect();
        let newer = held.into_par_iter().filter(
            |(repo, tag)| matches!(self.logged(self.source.tag(repo)), Some(Some(now)) if tag.as_ref() != Some(&now)),
        );
        for (repo, tag) in newer.collect::<Vec<_>>() {
            if tag.is_none() && self.is_as_published(&repo) {
                continue;
            }
            let watcher = ShipmentControl { progress: &model::unfollowed, cancelled: &AtomicBool::new(false) };
            match self.fetch(&repo, &watcher, true) {
                Ok(()) => tracing::info!(target: "access", repo, "a newer index was taken"),
                Err(err) => tracing::error!(repo, "a newer index cannot be taken: {}", err.message),
            }
        }
    }

    /// Whether an index fetched by an earlier process is the newest one. If so, its tag is noted.
    fn is_as_published(&self, repo: &str) -> bool {
        let Some(Some(newest)) = self.logged(self.source.newest(repo)) else { return true };
        let facts = &newest.facts;
        let now = (facts.indexed_at, &facts.commit, facts.file_count, facts.symbol_count);
        let is_same = self.registry.get(repo).is_some_and(|sidecar| {
            (sidecar.indexed_at, &sidecar.git_head, sidecar.file_count, sidecar.symbol_count) == now
        });
        if let Some(held) = self.state().held.get_mut(repo).filter(|_| is_same) {
            held.tag = Some(newest.tag);
        }
        is_same
    }

    /// Fetches the newest state of a repository, unless another thread has just done so. `anew` replaces the local one.
    fn fetch(&self, repo: &str, watcher: &ShipmentControl<'_>, anew: bool) -> Result<(), Error> {
        let lock = self.state().fetching.entry(repo.to_owned()).or_default().clone();
        let _one_at_a_time = lock.lock().unwrap_or_else(PoisonError::into_inner);
        if !anew && self.uses(repo) {
            return Ok(());
        }
        let gone = || Error::not_found(format!("{} no longer has an index of {repo:?}", self.source.shown()));
        let newest = self.source.newest(repo).map_err(ship_error)?.ok_or_else(gone)?;
        let taken = self.source.fetch(repo, &self.registry, watcher).map_err(ship_error)?.ok_or_else(gone)?;
        let mut sidecar = self.sidecar(repo, &taken.listing.facts);
        let store = self.registry.store(&sidecar.store);
        taken.accept(&store, SNAPSHOT, true, PATIENCE).map_err(ship_error)?;
        let snapshot = store.snapshot(SNAPSHOT).map_err(|err| store_error(err, &sidecar))?;
        sidecar.languages.clone_from(&snapshot.facts().languages);
        self.registry.put(&sidecar).map_err(|err| store_error(err, &sidecar))?;
        self.indexes.close(repo);
        let bytes = size_of(store.dir());
        let mut state = self.state();
        state.held.insert(repo.to_owned(), LocalIndex { tag: Some(newest.tag), bytes, used: Instant::now() });
        state.fetching.remove(repo);
        drop(state);
        self.make_room(repo);
        Ok(())
    }

    /// Marks an index as used now. Returns whether it is here.
    fn uses(&self, repo: &str) -> bool {
        let mut state = self.state();
        state.held.get_mut(repo).map(|held| held.used = Instant::now()).is_some()
    }

    /// Drops least recently used indexes until the others fit, but never `kept`.
    fn make_room(&self, kept: &str) {
        loop {
            let mut state = self.state();
            let total: u64 = state.held.values().map(|held| held.bytes).sum();
            let others = state.held.iter().filter(|(repo, _)| *repo != kept);
            let oldest = others.min_by_key(|(_, held)| held.used).map(|(repo, _)| repo.clone());
            let Some(oldest) = oldest.filter(|_| total > self.most) else { return };
            state.held.remove(&oldest);
            drop(state);
            self.drop_store(&oldest);
        }
    }

    /// Removes an index from the disk. Running questions keep reading the files they have open.
    fn drop_store(&self, repo: &str) {
        self.indexes.close(repo);
        let Some(sidecar) = self.registry.get(repo) else { return };
        if let Err(err) = self.registry.store(&sidecar.store).forget(&sidecar.snapshot, PATIENCE) {
            tracing::error!(repo, "its index cannot be removed: {err}");
        }
    }

    /// Forgets a repository that the place no longer has.
    fn forget(&self, repo: &str) {
        self.state().held.remove(repo);
        self.drop_store(repo);
        if let Err(err) = self.registry.remove(repo) {
            tracing::error!(repo, "it cannot be forgotten: {err}");
        }
    }

    /// Unwraps an answer of the place; `None` on failure. The first failure after a success is logged.
    fn logged<T>(&self, answer: Result<T, ship::Error>) -> Option<T> {
        match answer {
            Ok(answer) => {
                let mut state = self.state();
                state.answered = Some(Instant::now());
                if std::mem::take(&mut state.is_silent) {
                    tracing::warn!("{} answers again", self.source.shown());
                }
                Some(answer)
            }
            Err(err) => {
                if !std::mem::replace(&mut self.state().is_silent, true) {
                    tracing::error!("{err}; answering from earlier fetched indexes");
                }
                None
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IndexSource for Replica {
    fn look_for(&self, repo: &str) {
        self.look(repo);
    }

    fn bring(&self, caller: &Caller<'_>, sidecar: &Sidecar) -> Result<(), Error> {
        if !is_ours(sidecar) {
            return Ok(());
        }
        if self.uses(&sidecar.repo) {
            let since = self.state().answered.map(|when| when.elapsed());
            if let Some(since) = since.filter(|since| *since > SILENT) {
                caller.note("not_compared_for_s", since.as_secs());
            }
            return Ok(());
        }
        let tell = caller.request.progress();
        let watcher = ShipmentControl { progress: &tell, cancelled: &caller.request.cancelled };
        self.fetch(&sidecar.repo, &watcher, false)
    }

    fn importers(&self, modules: &BTreeSet<String>) -> Option<BTreeSet<String>> {
        self.logged(self.source.importers(modules)).flatten()
    }
}

/// Whether an index belongs to a place.
fn is_ours(sidecar: &Sidecar) -> bool {
    sidecar.remote.is_some() && sidecar.snapshot == SNAPSHOT
}

/// The size of the files in a folder, in bytes.
fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => size_of(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
