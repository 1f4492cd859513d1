//! A fresh index as a page sees it.

use std::time::Duration;

use codelode_service::answer::Request;
use codelode_service::catalog::indexes::Repo;
use codelode_service::catalog::related;
use codelode_service::tools::Context;
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

use super::failure::Failure;
use codelode_base::model::Span;
use codelode_store::Edge;

/// A snapshot with its edges.
pub(super) struct View<'a> {
    pub repo: &'a Repo,
    pub snapshot: &'a Snapshot,
    pub edges: &'a EdgeTable,
}

/// Longest wait for changed files: whoever loads a page again wants the last edit.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request for a page.
pub(super) fn request() -> Request {
    Request { for_people: true, patience: Some(PATIENCE), ..Request::default() }
}

/// A part of a page, and the files that it is made from.
pub(super) type Made<T> = Result<(T, Vec<String>), Failure>;

/// Answers from the index of a known repository. Files of the answer are compared with those on disk; when something is
/// missing, the whole folder is.
pub(super) fn on<T>(cx: &Context, repo: &str, ask: impl Fn(&View<'_>) -> Made<T>) -> Result<T, Failure> {
    let request = request();
    let caller = cx.caller(&request);
    if caller.indexes.registry().get(repo).is_none() {
        return Err(Failure::missing("There is no such repository here."));
    }
    let answer = related::answer(&caller, Some(repo), |repo, edges| {
        let made = ask(&View { repo, snapshot: &repo.snapshot, edges });
        caller.absent(made.is_err());
        // Failures of a page pass through the other room's loop as values.
        Ok(match made {
            Ok((made, paths)) => (Ok(made), paths),
            Err(failure) => (Err(failure), Vec::new()),
        })
    });
    answer.map_err(Failure::from)?
}

impl<'a> View<'a> {
    /// The repository's id.
    pub fn id(&self) -> &'a str {
        &self.repo.sidecar.repo
    }

    /// The file at a path.
    pub fn file(&self, path: &str) -> Result<FileView<'a>, Failure> {
        let missing = || Failure::missing(format!("No file {path:?} is indexed in {}.", self.id()));
        self.snapshot.file(path).ok_or_else(missing)
    }

    /// Symbols that an occurrence is bound to, each once.
    pub fn targets(&self, edge: &Edge) -> Vec<SymbolView<'a>> {
        let mut targets: Vec<SymbolId> = self.edges.targets(edge).collect();
        targets.dedup();
        targets.into_iter().filter_map(|target| self.snapshot.symbol(target)).collect()
    }
}

/// Position of an occurrence.
pub(super) fn span(edge: &Edge) -> Span {
    Span { start: edge.at, end: edge.at + edge.len() as u32 }
}
