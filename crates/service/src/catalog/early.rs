//! Early answers: while a large folder is indexed for the first time, each question gets an excerpt of its own, in a
//! temporary folder that is removed after the call.

use std::fs;
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::Caller;
use super::freshness::{STRICT, compared};
use super::indexes::opened;
use super::locate::EXCERPT;
use super::state::{COMPLETION, CheckedSnapshot, RENEWAL};
use crate::answer::Error;
use codelode_index::pipeline::{self, Excerpt, Options, RunControl};
use codelode_store::{Registry, Sidecar, Snapshot};

/// Folder of excerpts, below the index directory.
const FOLDER: &str = "excerpts";
/// The age at which an excerpt belongs to a killed process.
const LEFT: Duration = Duration::from_secs(600);

/// The interval between checks whether the index is complete.
const PAUSE: Duration = Duration::from_millis(250);

/// An excerpt for one question.
pub(super) struct ExcerptIndex {
    repo: String,
    extent: Extent,
    /// The excerpt's own index; `None` if the checkout's index is this excerpt.
    apart: Option<OutsideExcerpt>,
}

/// Files of an excerpt, of its folder, and those looked at for it.
#[derive(Clone, Copy)]
struct Extent {
    files: u64,
    of: u64,
    looked_at: u64,
}

/// An excerpt in an index of its own.
struct OutsideExcerpt {
    snapshot: Arc<Snapshot>,
    /// Removed on drop.
    _folder: TempDir,
}

/// Notes that the index of a checkout is so far only this question's excerpt.
pub(super) fn began(caller: &Caller<'_>, repo: &str, excerpt: &Excerpt) {
    let mut excerpts = excerpts(caller);
    excerpts.push(ExcerptIndex { repo: repo.to_owned(), extent: extent(excerpt), apart: None });
    note(caller, &excerpts);
}

/// Whether this question has an excerpt of a checkout.
pub(super) fn has_own(caller: &Caller<'_>, repo: &str) -> bool {
    excerpts(caller).iter().any(|early| early.repo == repo)
}

/// The extent of an excerpt in its folder.
fn extent(excerpt: &Excerpt) -> Extent {
    let Excerpt { report, of, looked_at } = excerpt;
    Extent { files: report.facts.files, of: *of as u64, looked_at: *looked_at as u64 }
}

/// Notes the extent of all excerpts of a question in `_meta`; none leaves no note.
fn note(caller: &Caller<'_>, excerpts: &[ExcerptIndex]) {
    caller.taken_back(EXCERPT);
    if excerpts.is_empty() {
        return;
    }
    let sum = |of: fn(&Extent) -> u64| excerpts.iter().map(|early| of(&early.extent)).sum::<u64>();
    let (of, looked_at) = (sum(|extent| extent.of), sum(|extent| extent.looked_at));
    let mut told = json!({"files": sum(|extent| extent.files), "of": of});
    if looked_at < of {
        told["looked_at"] = looked_at.into();
    }
    caller.note(EXCERPT, told);
}

/// Each change of the list is one step, so a panic elsewhere leaves it intact.
fn excerpts<'a>(caller: &'a Caller<'_>) -> MutexGuard<'a, Vec<ExcerptIndex>> {
    caller.excerpts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the snapshot to answer from. During first indexing: this question's own excerpt, or the full index if no
/// file matches. An answer never comes from another question's excerpt.
pub(super) fn or_awaited(
    caller: &Caller<'_>,
    sidecar: &Sidecar,
    root: &Path,
    seen: CheckedSnapshot,
) -> Result<CheckedSnapshot, Error> {
    let mut excerpts = excerpts(caller);
    let own = excerpts.iter().position(|early| early.repo == sidecar.repo);
    if !pipeline::is_excerpt(seen.snapshot.facts()) {
        if let Some(own) = own {
            excerpts.remove(own);
            note(caller, &excerpts);
        }
        return Ok(seen);
    }
    if let Some(own) = own {
        let apart = excerpts[own].apart.as_ref().map(|apart| apart.snapshot.clone());
        return Ok(CheckedSnapshot { snapshot: apart.unwrap_or_else(|| seen.snapshot.clone()), ..seen });
    }
    if !caller.words.is_empty()
        && let Some(apart) = excerpt(caller, sidecar, root, &seen.snapshot)
    {
        let (apart, extent) = apart;
        let snapshot = apart.snapshot.clone();
        excerpts.push(ExcerptIndex { repo: sidecar.repo.clone(), extent, apart: Some(apart) });
        note(caller, &excerpts);
        return Ok(CheckedSnapshot { snapshot, ..seen });
    }
    drop(excerpts);
    whole(caller, sidecar, root)
}

/// Waits for the complete index. Fails after a limit, because an answer from an excerpt could be wrong.
fn whole(caller: &Caller<'_>, sidecar: &Sidecar, root: &Path) -> Result<CheckedSnapshot, Error> {
    let at_terminal = caller.request.patience.is_some();
    let until = Instant::now() + if at_terminal { RENEWAL } else { COMPLETION };
    loop {
        let open = opened(caller, sidecar)?;
        open.wait_for_completion(caller);
        let seen = compared(caller, open, sidecar, root, None)?;
        if !pipeline::is_excerpt(seen.snapshot.facts()) {
            return Ok(seen);
        }
        if caller.request.is_cancelled() {
            return Err(Error::cancelled("cancelled; the index is still being built"));
        }
        if Instant::now() >= until {
            let message = "the index is still being built, and this answer needs all of it; retry in a moment";
            return Err(Error::unavailable(message).with("repo", sidecar.repo.clone()).with("freshness", "indexing"));
        }
        // Another process is indexing.
        std::thread::sleep(PAUSE);
    }
}

/// Makes an excerpt for the words of the question; `None` if no file contains them.
fn excerpt(
    caller: &Caller<'_>,
    sidecar: &Sidecar,
    root: &Path,
    partial: &Snapshot,
) -> Option<(OutsideExcerpt, Extent)> {
    let _one_at_a_time = caller.indexes.first_run.lock().unwrap_or_else(PoisonError::into_inner);
    let place = caller.config.home.join(FOLDER);
    fs::create_dir_all(&place).ok()?;
    sweep(&place);
    let folder = tempfile::tempdir_in(&place).ok()?;
    let words = caller.words_below(root);
    let options = Options::as_before(Some(partial.facts()), None);
    let watcher = RunControl {
        progress: &codelode_base::model::unfollowed,
        cancelled: &caller.request.cancelled,
        patience: STRICT,
    };
    let made = pipeline::index_excerpt_in(folder.path(), root, caller.config, &words, &options, &watcher);
    let excerpt = made.ok()??;
    let snapshot = Registry::new(folder.path()).store(&sidecar.store).snapshot(&sidecar.snapshot).ok()?;
    Some((OutsideExcerpt { snapshot: Arc::new(snapshot), _folder: folder }, extent(&excerpt)))
}

/// Removes excerpts of killed processes.
fn sweep(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > LEFT) {
            // A folder that cannot be removed now can be removed later.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Request;
    use crate::catalog::Context;
    use codelode_base::config::Config;

    #[test]
    fn the_files_read_for_several_folders_are_summed() {
        let home = tempfile::tempdir().expect("there is room for a folder");
        let cx = Context::new(Config { home: home.path().to_owned(), ..Config::default() });
        let request = Request::default();
        let caller = cx.caller(&request);
        let of = |repo: &str, looked_at| {
            let extent = Extent { files: 2, of: 100, looked_at };
            ExcerptIndex { repo: repo.to_owned(), extent, apart: None }
        };
        note(&caller, &[of("one", 100), of("two", 40)]);
        assert_eq!(caller.noted(EXCERPT), Some(json!({"files": 4, "of": 200, "looked_at": 140})));
        note(&caller, &[of("one", 100)]);
        assert_eq!(caller.noted(EXCERPT), Some(json!({"files": 2, "of": 100})));
        note(&caller, &[]);
        assert_eq!(caller.noted(EXCERPT), None);
    }
}
