//! Repositories with an editor's unsaved texts in place of the files on disk. Nothing is stored.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::errors::store_error;
use super::indexes::Repo;
use crate::answer::Error;
use codelode_base::allocator;
use codelode_index::pipeline::{self, EditCache, RebindScope};
use codelode_query::LazyFacts;
use codelode_store::{EdgeTable, FileView, Snapshot};

pub use codelode_index::pipeline::Unsaved;

/// An editor's text. It is identified by its allocation, so a changed text is a new one.
#[derive(Clone, Debug)]
pub struct Text {
    /// The canonical path of its file.
    pub path: PathBuf,
    /// The text, without a byte order mark.
    pub text: Arc<str>,
}

/// Snapshots with unsaved texts, kept for the next request: the newest of each repository.
#[derive(Default)]
pub struct Overlays {
    snapshots: Mutex<Vec<CachedSnapshot>>,
    caches: Mutex<Vec<CacheOfSnapshot>>,
}

/// The cache of edits of one stored snapshot.
struct CacheOfSnapshot {
    repo: String,
    stored: Arc<Snapshot>,
    cache: Arc<EditCache>,
}

/// A snapshot with the texts that it was made with.
#[derive(Clone)]
struct CachedSnapshot {
    repo: String,
    stored: Arc<Snapshot>,
    texts: Vec<(String, Arc<str>)>,
    snapshot: Arc<Snapshot>,
    edges: Option<(EdgeTable, RebindScope)>,
    cache: Arc<EditCache>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Overlays {
    /// The snapshot of a repository with these texts; `None` if all texts equal the stored ones.
    pub fn snapshot(&self, repo: &Repo, texts: &[Text]) -> Result<Option<Arc<Snapshot>>, Error> {
        let kept = self.kept(repo, texts, |_| {})?;
        Ok(kept.map(|kept| kept.snapshot))
    }

    /// The snapshot of a repository with these texts, and its edges derived from the stored ones; `None` if all texts
    /// equal the stored ones. Effects on other files are included after [`Overlays::complete`].
    pub fn edges(
        &self,
        repo: &Repo,
        edges: &EdgeTable,
        texts: &[Text],
    ) -> Result<Option<(Arc<Snapshot>, EdgeTable)>, Error> {
        let kept = self.kept(repo, texts, |kept| {
            if kept.edges.is_none() {
                kept.edges = Some((kept.bound(edges, RebindScope::Edited), RebindScope::Edited));
            }
        })?;
        Ok(kept.and_then(|kept| Some((kept.snapshot, kept.edges?.0))))
    }

    /// The facts of a file of a repository with texts; already unpacked if they are kept.
    pub fn facts<'a>(&self, repo: &Repo, file: &FileView<'a>) -> LazyFacts<'a> {
        // A panic leaves the list intact.
        let all = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all.iter().find(|kept| Arc::ptr_eq(&kept.stored, &repo.snapshot));
        kept.map_or_else(|| LazyFacts::new(file.facts()), |kept| kept.cache.facts(file))
    }

    /// Binds the names of other files that these texts affect, and prepares the first edits of unchanged texts.
    /// Requests are answered meanwhile.
    pub fn complete(&self, repo: &Repo, edges: &EdgeTable, texts: &[Text]) -> Result<(), Error> {
        self.prepare_edits(repo, edges, texts);
        let Some(kept) = self.kept(repo, texts, |_| {})? else { return Ok(()) };
        if matches!(kept.edges, Some((_, RebindScope::Affected))) {
            return Ok(());
        }
        // The compiler's relations of other files are kept.
        let again = if repo.snapshot.facts().compiler.is_some() { RebindScope::Edited } else { RebindScope::Affected };
        let bound = kept.bound(edges, again);
        // Newer texts are completed by the next call.
        if let Some(newest) = self.lock().iter_mut().find(|other| Arc::ptr_eq(&other.snapshot, &kept.snapshot)) {
            newest.edges = Some((bound, RebindScope::Affected));
        }
        Ok(())
    }

    /// Prepares for the first edits of these texts.
    fn prepare_edits(&self, repo: &Repo, edges: &EdgeTable, texts: &[Text]) {
        let Some(root) = &repo.root else { return };
        let paths = texts.iter().filter_map(|text| text.path.strip_prefix(root).ok()?.to_str().map(str::to_owned));
        let (stored, cache, edges, paths) =
            (repo.snapshot.clone(), self.cache(repo), edges.clone(), paths.collect::<Vec<_>>());
        apart(false, move || paths.iter().for_each(|path| pipeline::bind_ahead(&stored, &cache, &edges, path)));
    }

    /// The edit cache of a stored snapshot, kept for later edits.
    fn cache(&self, repo: &Repo) -> Arc<EditCache> {
        // A panic leaves the list intact.
        let mut all = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = all.iter().find(|kept| Arc::ptr_eq(&kept.stored, &repo.snapshot)) {
            return kept.cache.clone();
        }
        all.retain(|kept| kept.repo != repo.sidecar.repo);
        let (id, stored, cache) = (repo.sidecar.repo.clone(), repo.snapshot.clone(), Arc::<EditCache>::default());
        all.push(CacheOfSnapshot { repo: id, stored, cache: cache.clone() });
        cache
    }

    /// The snapshot with these texts, made if necessary. `more` may modify the kept entry.
    fn kept(
        &self,
        repo: &Repo,
        texts: &[Text],
        more: impl FnOnce(&mut CachedSnapshot) + Send,
    ) -> Result<Option<CachedSnapshot>, Error> {
        let changed = changed(repo, texts);
        if changed.is_empty() {
            return Ok(None);
        }
        // Concurrent requests wait for the first one to parse.
        let mut all = self.lock();
        let place = all.iter().position(|kept| kept.is_of(repo, &changed));
        let place = match place {
            Some(place) => place,
            None => {
                let unsaved: Vec<Unsaved> = changed.iter().map(unsaved).collect();
                let stored = repo.snapshot.clone();
                let (cache, of_thread) = (self.cache(repo), self.cache(repo));
                let snapshot = apart(false, move || pipeline::with_unsaved(&stored, &of_thread, &unsaved));
                let snapshot = Arc::new(snapshot.map_err(|err| store_error(err, &repo.sidecar))?);
                all.retain(|kept| kept.repo != repo.sidecar.repo);
                let (id, stored) = (repo.sidecar.repo.clone(), repo.snapshot.clone());
                all.push(CachedSnapshot { repo: id, stored, texts: changed, snapshot, edges: None, cache });
                all.len() - 1
            }
        };
        more(&mut all[place]);
        Ok(Some(all[place].clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CachedSnapshot>> {
        // A panic leaves the list intact.
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedSnapshot {
    fn is_of(&self, repo: &Repo, texts: &[(String, Arc<str>)]) -> bool {
        Arc::ptr_eq(&self.stored, &repo.snapshot)
            && self.texts.len() == texts.len()
            && self.texts.iter().zip(texts).all(|(own, other)| Arc::ptr_eq(&own.1, &other.1))
    }

    fn bound(&self, edges: &EdgeTable, again: RebindScope) -> EdgeTable {
        let unsaved: Vec<Unsaved> = self.texts.iter().map(unsaved).collect();
        let (kept, edges) = (self.clone(), edges.clone());
        apart(again == RebindScope::Edited, move || {
            let (stored, cache) = (&*kept.stored, &*kept.cache);
            pipeline::relations_with_unsaved(stored, cache, &edges, &kept.snapshot, &unsaved, again)
        })
    }
}

fn unsaved((path, text): &(String, Arc<str>)) -> Unsaved {
    Unsaved { path: path.clone(), text: text.as_bytes().to_vec() }
}

/// Runs memory-intensive work on a thread of its own; otherwise each server thread would keep memory for it. Free
/// memory is returned to the system afterwards. For short work the result is sent first, so that no answer waits for
/// that.
fn apart<T: Send + 'static>(is_short: bool, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let released = allocator::work();
        let result = catch_unwind(AssertUnwindSafe(work));
        let released = is_short.then_some(released);
        let _ = done.send(result);
        drop(released);
    });
    match result.recv() {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => unreachable!("the thread sends what it did"),
    }
}

/// Paths and texts that differ from the snapshot, by path.
fn changed(repo: &Repo, texts: &[Text]) -> Vec<(String, Arc<str>)> {
    let Some(root) = &repo.root else { return Vec::new() };
    let changed = texts.iter().filter_map(|text| {
        let path = text.path.strip_prefix(root).ok()?.to_str()?;
        let content = repo.snapshot.file(path)?.content();
        let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
        (content != text.text.as_bytes()).then(|| (path.to_owned(), text.text.clone()))
    });
    let mut changed: Vec<_> = changed.collect();
    changed.sort_by(|a, b| a.0.cmp(&b.0));
    changed.dedup_by(|a, b| a.0 == b.0);
    changed
}
