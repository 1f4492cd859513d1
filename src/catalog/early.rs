//! Early answers while a large folder is indexed for the first time: each question gets an excerpt of its own, in a
//! folder that lasts as long as the call.

use std::fs;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::Caller;
use super::freshness::{STRICT, compared};
use super::indexes::opened;
use super::locate::EXCERPT;
use super::state::Seen;
use crate::answer::Error;
use crate::pipeline::{self, Excerpt, Options, Watcher};
use crate::store::{Registry, Sidecar, Snapshot};

/// Folder of excerpts, below the index directory.
const FOLDER: &str = "excerpts";
/// Age of an excerpt whose process was killed.
const LEFT: Duration = Duration::from_secs(600);

/// An excerpt for one question.
pub(super) struct Early {
    repo: String,
    snapshot: Arc<Snapshot>,
    /// Removed with the call.
    _folder: TempDir,
}

/// A snapshot as it was seen; while there is only an excerpt for another question, an excerpt for this one, or the whole
/// when no file holds its words.
pub(super) fn or_awaited(caller: &Caller<'_>, sidecar: &Sidecar, root: &Path, seen: Seen) -> Result<Seen, Error> {
    let mut excerpts = caller.excerpts.lock().unwrap_or_else(PoisonError::into_inner);
    let own = excerpts.iter().position(|early| early.repo == sidecar.repo);
    if !pipeline::is_excerpt(seen.snapshot.facts()) {
        if own.is_some() {
            caller.taken_back(EXCERPT);
        }
        return Ok(seen);
    }
    if let Some(own) = own {
        return Ok(Seen { snapshot: excerpts[own].snapshot.clone(), ..seen });
    }
    // The excerpt was made for this question, or the question is about the whole.
    if caller.noted(EXCERPT).is_some() || caller.words.is_empty() {
        return Ok(seen);
    }
    if let Some(early) = excerpt(caller, sidecar, root, &seen.snapshot) {
        let snapshot = early.snapshot.clone();
        excerpts.push(early);
        return Ok(Seen { snapshot, ..seen });
    }
    drop(excerpts);
    let open = opened(caller, sidecar)?;
    open.wait_for_completion(caller);
    compared(caller, open, sidecar, root, None)
}

/// Makes an excerpt by the words of the question; none if no file holds them.
fn excerpt(caller: &Caller<'_>, sidecar: &Sidecar, root: &Path, partial: &Snapshot) -> Option<Early> {
    let _one_at_a_time = caller.indexes.first_run.lock().unwrap_or_else(PoisonError::into_inner);
    let place = caller.config.home.join(FOLDER);
    fs::create_dir_all(&place).ok()?;
    sweep(&place);
    let folder = tempfile::tempdir_in(&place).ok()?;
    let words = caller.words_below(root);
    let options = Options::as_before(Some(partial.facts()), None);
    let watcher =
        Watcher { progress: &crate::model::unfollowed, cancelled: &caller.request.cancelled, patience: STRICT };
    let made = pipeline::index_excerpt_in(folder.path(), root, caller.config, &words, &options, &watcher);
    let Excerpt { report, of } = made.ok()??;
    let snapshot = Registry::new(folder.path()).store(&sidecar.store).snapshot(&sidecar.snapshot).ok()?;
    caller.note(EXCERPT, json!({"files": report.facts.files, "of": of}));
    Some(Early { repo: sidecar.repo.clone(), snapshot: Arc::new(snapshot), _folder: folder })
}

/// Removes what killed processes left.
fn sweep(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > LEFT) {
            // A folder that cannot be removed now can be removed later.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
