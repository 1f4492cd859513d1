//! Open indexes, kept fresh for each call.
//!
//! Before a call about a local checkout, its folder is compared with the index by size and time of every file; for
//! large checkouts at most once a second. Changed files are read at once. If that takes longer than the caller waits,
//! the answer says so.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Caller;
use super::background::after_edits;
use super::context::Contexts;
use super::cross_repo::LinkCache;
use super::early;
use super::errors::{pipeline_error, store_error};
use super::freshness::{STRICT, compared};
use super::here::here;
use super::index_source::IndexSource;
use super::locate::resolve;
use super::packages::{Packages, forget_unused};
use super::rebuild::{Rebuilds, rebuilt};
use super::state::OpenIndex;
use crate::answer::{Code, Error, Freshness};
use codelode_base::config::Config;
use codelode_base::model::{Phase, Rights, on_disk, utf_8_of};
use codelode_index::pipeline::{self, Drift, RunControl};
use codelode_index::watch::{self, WatchHandle};
use codelode_source::git;
use codelode_store::{self as store, Registry, Sidecar, Snapshot};

/// The open indexes of a process. Clones share them.
#[derive(Clone)]
pub struct Indexes {
    registry: Registry,
    /// Keeps repeatedly queried checkouts fresh, in a long-running process.
    watching: Option<Arc<WatchHandle>>,
    /// The source of listed indexes that are not here.
    stock: Option<Arc<dyn IndexSource>>,
    open: Arc<Mutex<HashMap<String, Arc<OpenIndex>>>>,
    lookups: Arc<LookupCounts>,
    pub(super) rebuilds: Arc<Rebuilds>,
    /// Names given to repositories in a server's list, by id.
    names: Arc<Mutex<HashMap<String, String>>>,
    pub(super) contexts: Arc<Contexts>,
    /// Links between repositories.
    pub(super) linked: Arc<LinkCache>,
    pub(super) packages: Arc<Packages>,
    /// Folders that are no project, or too large for one, whose questions go to the repositories below them.
    above: Arc<Mutex<HashSet<PathBuf>>>,
    /// Held during the first indexing of a folder, so that concurrent calls index it once.
    pub(super) first_run: Arc<Mutex<()>>,
}

/// Counts of lookups of open indexes.
#[derive(Default)]
struct LookupCounts {
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A snapshot to answer from.
#[derive(Clone)]
pub struct Repo {
    /// The checkout.
    pub sidecar: Sidecar,
    /// Its snapshot.
    pub snapshot: Arc<Snapshot>,
    /// The local root; `None` if it is not on this machine.
    pub root: Option<PathBuf>,
    /// The caller's folder relative to the root; empty for the root, and for a caller outside.
    pub here: String,
    /// Folders where the disk may be accessed to interpret a path; `None` for all.
    pub looks_in: Option<Vec<PathBuf>>,
    /// Freshness relative to the disk; `None` if unknown.
    pub freshness: Option<Freshness>,
    /// Whether a watcher confirmed the freshness for this call.
    pub is_kept: bool,
}

impl Repo {
    /// A repository as stored, not compared with its folder.
    pub(super) fn stored(caller: &Caller<'_>, sidecar: Sidecar, snapshot: Arc<Snapshot>) -> Self {
        let looks_in = caller.rights.roots.clone();
        Self { sidecar, snapshot, root: None, here: String::new(), looks_in, freshness: None, is_kept: false }
    }

    /// The currently checked-out commit.
    pub fn head(&self) -> Option<String> {
        self.root.as_deref().and_then(git::Repository::open).and_then(|repository| repository.head())
    }
}

impl Indexes {
    /// Creates the indexes for a configuration. Opens nothing yet.
    pub fn new(config: &Config) -> Self {
        let registry = Registry::new(&config.home).over(config.beneath.clone());
        Self {
            registry,
            watching: None,
            stock: None,
            open: Arc::default(),
            lookups: Arc::default(),
            rebuilds: Arc::default(),
            names: Arc::default(),
            contexts: Arc::default(),
            linked: Arc::default(),
            packages: Arc::new(Packages::new(config)),
            above: Arc::default(),
            first_run: Arc::default(),
        }
    }

    /// The same indexes for a caller with these rights.
    pub(super) fn seen_by(&self, rights: Arc<Rights>) -> Self {
        Self { registry: self.registry.seen_by(rights), ..self.clone() }
    }

    /// Adds a watcher for checkouts that are queried repeatedly.
    pub fn kept_by(self, watching: Arc<WatchHandle>) -> Self {
        Self { watching: Some(watching), ..self }
    }

    /// Adds a source of indexes.
    pub(super) fn stocked_by(self, stock: Arc<dyn IndexSource>) -> Self {
        Self { stock: Some(stock), ..self }
    }

    /// The source of indexes, if any.
    pub(super) fn stock(&self) -> Option<&dyn IndexSource> {
        self.stock.as_deref()
    }

    /// The watcher of this process.
    pub(super) fn watching(&self) -> Option<Arc<WatchHandle>> {
        self.watching.clone()
    }

    /// Sets the name of a repository in the server's list.
    pub fn give_name(&self, repo: &str, name: &str) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(repo.to_owned(), name.to_owned());
    }

    /// The name of a repository in the server's list.
    pub fn given_name(&self, repo: &str) -> Option<String> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).get(repo).cloned()
    }

    /// Registry of indexed checkouts.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The number of open indexes.
    pub fn n_open(&self) -> usize {
        self.lock().len()
    }

    /// The number of lookups that found the newest generation open, and of those that had to open it.
    pub fn n_hits_and_misses(&self) -> [u64; 2] {
        [&self.lookups.hits, &self.lookups.misses].map(|count| count.load(Ordering::Relaxed))
    }

    /// Folders above repositories that questions met, for whose questions nothing is listed again.
    pub fn above(&self) -> std::sync::MutexGuard<'_, HashSet<PathBuf>> {
        self.above.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the open index of a checkout.
    pub fn close(&self, repo: &str) {
        self.lock().remove(repo);
    }

    /// Checkouts whose open index is only an excerpt.
    pub(super) fn excerpts(&self) -> Vec<String> {
        let open = self.lock();
        let is_excerpt = |(_, open): &(&String, &Arc<OpenIndex>)| pipeline::is_excerpt(open.snapshot().facts());
        open.iter().filter(is_excerpt).map(|(repo, _)| repo.clone()).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<OpenIndex>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the call's repository, as fresh as the caller waits for. `_meta` gets its id and freshness.
pub fn open(caller: &Caller<'_>, repo: Option<&str>) -> Result<Repo, Error> {
    if caller.request.as_indexed {
        return open_as_indexed(caller, repo);
    }
    let repo = open_sidecar(caller, resolve(caller, repo)?)?;
    note(caller, &repo);
    Ok(repo)
}

/// Opens a known repository, like [`open`].
pub fn open_sidecar(caller: &Caller<'_>, sidecar: Sidecar) -> Result<Repo, Error> {
    open_since(caller, sidecar, None)
}

/// Opens a known repository. With `since`, its comparison must have begun then or later, if the caller waits for it.
fn open_since(caller: &Caller<'_>, sidecar: Sidecar, since: Option<Instant>) -> Result<Repo, Error> {
    let root = local_root(caller, &sidecar);
    if root.is_none() && pipeline::is_gone(&sidecar, caller.indexes.registry(), caller.config) {
        return Err(dropped(caller, &sidecar));
    }
    let open = opened(caller, &sidecar)?;
    let Some(root) = root else {
        // The folder's disk may be unmounted, or the index may come from another machine.
        let is_missing = sidecar.is_folder();
        if is_missing {
            caller.note("folder_missing", true);
        }
        if open.snapshot().content_version() != store::CONTENT {
            caller.note("stale_because", "an earlier version of codelode made this index; index it again");
        }
        let freshness = is_missing.then_some(Freshness::Unchecked);
        let snapshot = open.snapshot();
        return Ok(Repo { freshness, ..Repo::stored(caller, sidecar, snapshot) });
    };
    let seen = early::or_awaited(caller, &sidecar, &root, compared(caller, open, &sidecar, &root, since)?)?;
    after_edits(caller, &sidecar, &seen.snapshot);
    caller.stale(&sidecar.repo, seen.stale);
    let here = here(caller, &root);
    let (snapshot, freshness) = (seen.snapshot, Some(seen.freshness));
    Ok(Repo { root: Some(root), here, freshness, is_kept: seen.is_kept, ..Repo::stored(caller, sidecar, snapshot) })
}

impl Repo {
    /// The reason why a missing result may exist in the folder, if any.
    pub fn doubt(&self) -> Option<&'static str> {
        self.freshness.filter(|_| self.root.is_some())?.doubt()
    }
}

/// Drops the index of a deleted checkout. Returns the error for the caller.
fn dropped(caller: &Caller<'_>, sidecar: &Sidecar) -> Error {
    let what = match forget(caller, sidecar) {
        Ok(()) => "so its index was dropped",
        Err(_) => "and its index will be dropped",
    };
    let message = format!("{} was removed, {what}", sidecar.root.display());
    Error::not_indexed(message).with("repo", sidecar.repo.clone())
}

/// Removes the index of a checkout, and closes it.
fn forget(caller: &Caller<'_>, sidecar: &Sidecar) -> Result<(), pipeline::Error> {
    caller.indexes.close(&sidecar.repo);
    pipeline::forget(caller.indexes.registry(), sidecar, STRICT)?;
    watch::sweep(caller.indexes.registry());
    Ok(())
}

/// Removes the indexes of deleted checkouts, such as old worktrees.
pub fn forget_gone(caller: &Caller<'_>) {
    let registry = caller.indexes.registry();
    for sidecar in registry.all().iter().filter(|sidecar| pipeline::is_gone(sidecar, registry, caller.config)) {
        // An index that is being written can be removed next time.
        if let Err(err) = forget(caller, sidecar) {
            tracing::info!(%err, "the index of {} is not dropped yet", sidecar.repo);
        }
    }
    forget_unused(caller);
    watch::sweep(caller.indexes.registry());
}

/// Like [`open`], with a new comparison: for answers about all files.
pub fn open_now(caller: &Caller<'_>, repo: Option<&str>) -> Result<Repo, Error> {
    let repo = open_since(caller, resolve(caller, repo)?, Some(caller.began))?;
    note(caller, &repo);
    Ok(repo)
}

/// Opens a repository as last indexed, without comparing it with the disk.
pub fn open_as_indexed(caller: &Caller<'_>, repo: Option<&str>) -> Result<Repo, Error> {
    let sidecar = resolve(caller, repo)?;
    let open = opened(caller, &sidecar)?;
    let snapshot = open.snapshot();
    caller.answers_from(&sidecar, &snapshot);
    let root = local_root(caller, &sidecar);
    let here = root.as_deref().map(|root| here(caller, root)).unwrap_or_default();
    Ok(Repo { root, here, ..Repo::stored(caller, sidecar, snapshot) })
}

/// Opens a repository again once this version has made its index.
pub(super) fn renewed(caller: &Caller<'_>, repo: Repo) -> Result<Repo, Error> {
    opened(caller, &repo.sidecar)?.wait_for_renewal(caller);
    let repo = open_sidecar(caller, repo.sidecar)?;
    note(caller, &repo);
    Ok(repo)
}

/// Opens a repository again, with a comparison that began at `since` or later.
fn reopen(caller: &Caller<'_>, repo: &mut Repo, since: Instant) -> Result<(), Error> {
    *repo = open_since(caller, repo.sidecar.clone(), Some(since))?;
    note(caller, repo);
    Ok(())
}

/// Runs a query, and repeats it if its files have changed. `about` returns the files of an answer, which are then
/// checked. If it returns `None`, the answer is empty, and the whole folder is compared.
pub fn answered<T>(
    caller: &Caller<'_>,
    repo: &mut Repo,
    mut ask: impl FnMut(&Repo) -> Result<T, Error>,
    about: impl Fn(&Repo, &T) -> Option<Vec<String>>,
) -> Result<T, Error> {
    let mut answer = ask(repo);
    // Results in changed files may disappear, so there are two rounds at most.
    for _ in 0..2 {
        let snapshot = repo.snapshot.clone();
        match answer.as_ref().ok().and_then(|answer| about(repo, answer)) {
            Some(paths) => ensure_fresh(caller, repo, paths.iter().map(String::as_str))?,
            None if repo.freshness.is_some() => reopen(caller, repo, caller.began)?,
            None => {}
        }
        if Arc::ptr_eq(&repo.snapshot, &snapshot) {
            break;
        }
        answer = ask(repo);
    }
    answer
}

/// Reads files again even if their size and time are unchanged, and updates the index if contents differ.
pub fn reread(caller: &Caller<'_>, repo: &mut Repo, paths: &[String]) -> Result<(), Error> {
    let Some(root) = repo.root.clone() else { return Ok(()) };
    let differs = |path: &&String| {
        let stored = repo.snapshot.file(path);
        let now = std::fs::read(on_disk(&root, path));
        stored.zip(now.ok()).is_some_and(|(stored, now)| stored.content() != utf_8_of(&now).unwrap_or(now))
    };
    let changed: Vec<String> = paths.iter().filter(differs).cloned().collect();
    if changed.is_empty() {
        return Ok(());
    }
    let drift = Drift { changed, unseen: true, ..Drift::default() };
    let watcher = RunControl {
        progress: &codelode_base::model::unfollowed,
        cancelled: &AtomicBool::new(false),
        patience: STRICT,
    };
    pipeline::refresh(&repo.sidecar, &repo.snapshot, &drift, caller.config, &watcher)
        .map_err(|err| pipeline_error(err, &repo.sidecar))?;
    reopen(caller, repo, caller.began)
}

/// Checks files again even shortly after a comparison, and takes a newer snapshot if they have changed. Deleted files
/// leave the snapshot at once, even if the index still has them.
pub fn ensure_fresh<'p>(
    caller: &Caller<'_>,
    repo: &mut Repo,
    paths: impl IntoIterator<Item = &'p str>,
) -> Result<(), Error> {
    let Some(root) = repo.root.clone() else { return Ok(()) };
    let table = repo.snapshot.table();
    let follow = repo.snapshot.facts().follow_symlinks;
    let has_changed = |path: &&str| {
        let seen = codelode_source::discover::stat(&root, path, follow);
        match (table.find(path), seen) {
            (Some(row), Some(file)) if repo.is_kept => !row.is_read_as(&file),
            (Some(row), Some(file)) => !row.is_as(&file),
            (None, None) => false,
            _ => true,
        }
    };
    let changed: Vec<&str> = paths.into_iter().filter(has_changed).collect();
    if changed.is_empty() {
        return Ok(());
    }
    reopen(caller, repo, Instant::now())?;
    let is_gone = |path: &&str| {
        let found = on_disk(&root, path).symlink_metadata();
        found.is_err_and(|err| matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
    };
    let mut gone: Vec<String> = changed.into_iter().filter(is_gone).map(str::to_owned).collect();
    if gone.iter().any(|path| repo.snapshot.file(path).is_some()) {
        // If a folder was deleted, the next hits would be gone as well.
        gone.extend(pipeline::drift(&root, &repo.snapshot).gone);
        repo.snapshot = Arc::new(repo.snapshot.without(gone.iter().map(String::as_str)));
        caller.answers_from(&repo.sidecar, &repo.snapshot);
    }
    Ok(())
}

/// Adds the id and freshness of a repository to `_meta`.
pub fn note(caller: &Caller<'_>, repo: &Repo) {
    caller.repo(&repo.sidecar.repo);
    caller.answers_from(&repo.sidecar, &repo.snapshot);
    if let Some(freshness) = repo.freshness {
        caller.freshness(&repo.sidecar.repo, freshness);
    }
}

/// Whether a checkout's folder is on this machine.
pub fn is_here(caller: &Caller<'_>, sidecar: &Sidecar) -> bool {
    local_root(caller, sidecar).is_some()
}

/// The folder on this machine to compare an index with; `None` for a remote repository or an installed package.
fn local_root(caller: &Caller<'_>, sidecar: &Sidecar) -> Option<PathBuf> {
    let root = || caller.config.path_map.to_local(&sidecar.root);
    sidecar.is_folder().then(root).filter(|root| root.is_dir())
}

/// Whether a checkout's index has any file below one of its folders.
pub(super) fn holds(caller: &Caller<'_>, sidecar: &Sidecar, folder: &str) -> Result<bool, Error> {
    let snapshot = opened(caller, sidecar)?.snapshot();
    Ok(snapshot.table().iter().any(|row| row.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))))
}

/// Opens the index of a checkout at its newest generation. An unreadable index is rebuilt, if possible.
pub(super) fn opened(caller: &Caller<'_>, sidecar: &Sidecar) -> Result<Arc<OpenIndex>, Error> {
    if let Some(stock) = caller.indexes.stock() {
        stock.bring(caller, sidecar)?;
    }
    let opened = open_newest(caller, sidecar).or_else(|err| match rebuilt(caller, sidecar, &err) {
        true => open_newest(caller, sidecar),
        false => Err(err),
    });
    by_the_rule(caller, sidecar, opened.map_err(|err| store_error(err, sidecar))?)
}

/// Updates the index of a checkout if the exemptions from the secrets rule have changed.
fn by_the_rule(caller: &Caller<'_>, sidecar: &Sidecar, open: Arc<OpenIndex>) -> Result<Arc<OpenIndex>, Error> {
    let config = caller.config;
    let facts = open.snapshot().facts().clone();
    let patterns = config.secrets.patterns();
    if facts.allow_secrets == patterns {
        return Ok(open);
    }
    let watcher = RunControl {
        progress: &codelode_base::model::unfollowed,
        cancelled: &caller.request.cancelled,
        patience: STRICT,
    };
    let options = pipeline::Options::as_before(Some(&facts), None);
    let root = config.path_map.to_local(&sidecar.root);
    let chosen = is_here(caller, sidecar).then(|| pipeline::index_folder(&root, config, &options, &watcher));
    match chosen {
        Some(Ok(_)) => open_newest(caller, sidecar).map_err(|err| store_error(err, sidecar)),
        // The index contains no file that the rule now hides.
        _ if facts.allow_secrets.iter().all(|pattern| patterns.contains(pattern)) => Ok(open),
        Some(Err(err)) => Err(pipeline_error(err, sidecar)),
        None => {
            let allowed = facts.allow_secrets.join(",");
            let message =
                format!("{} was indexed with --allow-secrets {allowed}; give it, or index again", sidecar.repo);
            Err(Error::index_outdated(message))
        }
    }
}

fn open_newest(caller: &Caller<'_>, sidecar: &Sidecar) -> Result<Arc<OpenIndex>, store::Error> {
    let indexes = caller.indexes;
    let store = indexes.registry.store(&sidecar.store);
    let stamp = store.stamp();
    let known = indexes.lock().get(&sidecar.repo).cloned();
    if let Some(open) = known {
        let mut state = open.state();
        if state.stamp == stamp {
            indexes.lookups.hits.fetch_add(1, Ordering::Relaxed);
        } else {
            indexes.lookups.misses.fetch_add(1, Ordering::Relaxed);
            // Another process or thread has published since.
            match newest(caller, &store, sidecar) {
                Ok(newer) => state.publish(Arc::new(newer), stamp, None),
                // A newer codelode has replaced the index. This process still reads the files it has open.
                Err(err @ (store::Error::Newer { .. } | store::Error::Outdated { .. })) if !err.is_of_no_use() => {
                    state.outlive(&err)
                }
                Err(err) => return Err(err),
            }
        }
        state.snapshot.damage()?;
        drop(state);
        return Ok(open);
    }
    indexes.lookups.misses.fetch_add(1, Ordering::Relaxed);
    let snapshot = Arc::new(newest(caller, &store, sidecar)?);
    if !snapshot.is_checked_in_use() {
        let snapshot = snapshot.clone();
        // The check runs in the background, and later answers report its findings. Without a thread, only the parts
        // used by answers are checked.
        let _ = std::thread::Builder::new().name("check".to_owned()).spawn(move || snapshot.check_the_rest());
    }
    let open = Arc::new(OpenIndex::new(snapshot, stamp));
    Ok(indexes.lock().entry(sidecar.repo.clone()).or_insert(open).clone())
}

/// The newest snapshot, with the parts that the call needs.
fn newest(caller: &Caller<'_>, store: &store::Store, sidecar: &Sidecar) -> Result<Snapshot, store::Error> {
    let _phase = Phase::begin("open");
    match caller.asks_for_symbols {
        true => store.snapshot(&sidecar.snapshot),
        false => store.snapshot_of_text(&sidecar.snapshot),
    }
}

/// Damage in the indexes that an answer came from, which invalidates the answer.
pub fn damage<'a, T>(
    from: &'a [(Sidecar, Arc<Snapshot>)],
    answer: &Result<T, Error>,
) -> Option<(&'a Sidecar, store::Error)> {
    // An internal error or an empty result may be due to damage.
    let is_suspect = answer.as_ref().is_err_and(|err| err.code == Code::Internal);
    from.iter().find_map(|(sidecar, snapshot)| {
        let whole = snapshot.damage().and_then(|()| if is_suspect { snapshot.verify() } else { Ok(()) });
        Some((sidecar, whole.err()?))
    })
}

/// Formats a time as RFC 3339, UTC.
pub fn timestamp(seconds: i64) -> String {
    let since = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + since).to_string()
}

/// Quotes a word for a shell.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@:,=".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
