//! Bounded lists of what trees hold. Ten small trees that each hold the next one ten times name more files than any
//! memory can list.

use std::ops::ControlFlow;

use gix::bstr::BStr;
use gix::diff::blob;
use gix::diff::blob::pipeline::{Mode, WorktreeRoots};
use gix::objs::tree::EntryRef;
use gix::traverse::tree::visit::Action;
use gix::traverse::tree::{Recorder, Visit, recorder};
use gix::worktree::stack::state::attributes::Source;

/// Largest number of files and folders, and of bytes in their paths.
const MOST: usize = 1_000_000;
const MOST_BYTES: usize = 256 << 20;

/// Room left in a list.
pub(super) struct Quota {
    entries: usize,
    bytes: usize,
    is_full: bool,
}

impl Default for Quota {
    fn default() -> Self {
        Self { entries: MOST, bytes: MOST_BYTES, is_full: false }
    }
}

impl Quota {
    /// Takes a path. Breaks when nothing more may be taken.
    pub(super) fn take(&mut self, path: &BStr) -> ControlFlow<()> {
        match (self.entries.checked_sub(1), self.bytes.checked_sub(path.len())) {
            (Some(entries), Some(bytes)) => {
                (self.entries, self.bytes) = (entries, bytes);
                ControlFlow::Continue(())
            }
            _ => {
                self.is_full = true;
                ControlFlow::Break(())
            }
        }
    }

    /// Whether a path was refused.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Description of the error when a path was refused, else the other one.
    pub(super) fn problem(&self, other: String) -> String {
        if self.is_full() { format!("it holds more than {MOST} files and folders, or too long paths") } else { other }
    }
}

/// Cache of contents to compare. Where there is no index, the library would list all of HEAD to look for attributes.
pub(super) fn comparing(repository: &gix::Repository) -> gix::Result<blob::Platform> {
    let nothing = gix::index::State::new(repository.object_hash());
    let attributes = repository.attributes_only(&nothing, Source::IdMapping)?.detach();
    gix::diff::resource_cache(repository, Mode::ToGit, attributes, WorktreeRoots::default())
}

/// All files of a tree with their paths, links and submodules included.
pub(super) fn files(tree: &gix::Tree<'_>) -> Result<Vec<recorder::Entry>, String> {
    let mut listing = Listing { recorder: Recorder::default(), quota: Quota::default() };
    match tree.traverse().breadthfirst(&mut listing) {
        Ok(()) => Ok(listing.recorder.records),
        Err(err) => Err(listing.quota.problem(super::commit::causes(&err))),
    }
}

/// Recorder of files that stops when there are too many.
struct Listing {
    recorder: Recorder,
    quota: Quota,
}

impl Visit for Listing {
    fn pop_back_tracked_path_and_set_current(&mut self) {
        self.recorder.pop_back_tracked_path_and_set_current();
    }

    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.recorder.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.recorder.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.recorder.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.recorder.pop_path_component();
    }

    fn visit_tree(&mut self, _: &EntryRef<'_>) -> Action {
        self.quota.take(self.recorder.path())?;
        Action::Continue(true)
    }

    fn visit_nontree(&mut self, entry: &EntryRef<'_>) -> Action {
        self.quota.take(self.recorder.path())?;
        self.recorder.visit_nontree(entry)
    }
}
