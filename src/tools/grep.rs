//! Text search for a terminal: the files that may match, in the order of their paths, and how to look into them. What is
//! found goes to a sink of the caller's, because a person is shown bytes as they are and all of them at once.

use std::path::{Path, PathBuf};

use grep_searcher::{Searcher, Sink};

use super::indexes::{self, Repo};
use super::search_text::bad_pattern;
use super::{Call, Context, Error, Request};
use crate::query::text::search_file;
pub use crate::query::text::{Case, Matcher, Pattern, searcher};
pub use crate::store::FileView;

/// A search that has not looked into any file yet.
pub struct Grep {
    repo: Repo,
    matcher: Matcher,
    candidates: Vec<u32>,
}

/// Finds the files of a repository that may match. `as_indexed` does not look whether files have changed since.
pub fn open(
    cx: &Context,
    request: &Request,
    repo: Option<&str>,
    pattern: &Pattern,
    as_indexed: bool,
) -> Result<Grep, Error> {
    let matcher = pattern.compile().map_err(|err| bad_pattern(&err))?;
    let call = Call::of(cx, request);
    let repo = if as_indexed { indexes::open_as_indexed(&call, repo)? } else { indexes::open(&call, repo)? };
    let candidates =
        repo.snapshot.candidates(&matcher.grams).map_err(|err| indexes::store_error(err, &repo.sidecar))?;
    Ok(Grep { repo, matcher, candidates })
}

impl Grep {
    /// The folder that paths are relative to; where it was indexed when it is not on this machine.
    pub fn root(&self) -> PathBuf {
        self.repo.root.clone().unwrap_or_else(|| self.repo.sidecar.root.clone())
    }

    /// What is looked for.
    pub fn matcher(&self) -> &Matcher {
        &self.matcher
    }

    /// The files that may match, by path.
    pub fn files(&self) -> impl Iterator<Item = FileView<'_>> {
        self.candidates.iter().filter_map(|file| self.repo.snapshot.file_by_number(*file))
    }

    /// Whether a path below the root is indexed, as a file.
    pub fn has_file(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.repo.snapshot.file(path).is_some())
    }

    /// Looks into a file.
    pub fn search<S: Sink>(&self, searcher: &mut Searcher, file: &FileView<'_>, sink: S) -> Result<(), S::Error> {
        search_file(searcher, &self.matcher, file, sink)
    }
}
