//! Searches for a terminal: the files that may match, in the order of their paths, and how to look into them. What is found
//! goes to a sink of the caller's, because a person is shown bytes as they are and all of them at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use grep_matcher::{Match, Matcher, NoCaptures, NoError};
use grep_searcher::{Searcher, Sink};
use serde_json::Value;

use super::indexes::{self, Repo};
use super::search_ast::compile;
use super::search_text::{BUDGET, bad_pattern};
use super::{Call, Context, Error, Request};
pub use crate::query::scan::on_every_core;
use crate::query::syntax::SyntaxQuery;
use crate::query::text;
pub use crate::query::text::{Case, Pattern};
pub use crate::store::FileView;

/// What is looked for.
pub enum Wanted {
    /// Lines of text.
    Text(Pattern),
    /// Code of a shape: see [`super::search_ast::Args`].
    Syntax {
        /// Code, or a query.
        pattern: Option<String>,
        /// A smell instead.
        preset: Option<String>,
        /// In this language only.
        language: Option<String>,
    },
}

enum Finder {
    Text(text::Matcher),
    Syntax(SyntaxQuery),
}

/// A search that has not looked into any file yet.
pub struct Grep {
    repo: Repo,
    finder: Finder,
    candidates: Vec<u32>,
    first_indexed: Option<Value>,
}

/// Finds the files of a repository that may match. `as_indexed` does not look whether files have changed since.
pub fn open(
    cx: &Context,
    request: &Request,
    repo: Option<&str>,
    wanted: &Wanted,
    as_indexed: bool,
) -> Result<Grep, Error> {
    let finder = match wanted {
        Wanted::Text(pattern) => Finder::Text(pattern.compile().map_err(|err| bad_pattern(&err))?),
        Wanted::Syntax { pattern, preset, language } => {
            Finder::Syntax(compile(pattern.as_deref(), preset.as_deref(), language.as_deref())?)
        }
    };
    let call = Call::of(cx, request);
    let repo = if as_indexed { indexes::open_as_indexed(&call, repo)? } else { indexes::open(&call, repo)? };
    let grams = match &finder {
        Finder::Text(matcher) => &matcher.grams,
        Finder::Syntax(query) => &query.grams,
    };
    let candidates = repo.snapshot.candidates(grams).map_err(|err| indexes::store_error(err, &repo.sidecar))?;
    Ok(Grep { repo, finder, candidates, first_indexed: call.noted("first_indexed") })
}

impl Grep {
    /// The folder that paths are relative to; where it was indexed when it is not on this machine.
    pub fn root(&self) -> PathBuf {
        self.repo.root.clone().unwrap_or_else(|| self.repo.sidecar.root.clone())
    }

    /// What was indexed for the sake of this search, which was the first.
    pub fn first_indexed(&self) -> Option<&Value> {
        self.first_indexed.as_ref()
    }

    /// The files that may match, by path.
    pub fn files(&self) -> impl Iterator<Item = FileView<'_>> {
        self.candidates.iter().filter_map(|file| self.repo.snapshot.file_by_number(*file))
    }

    /// How many files are not indexed, by reason.
    pub fn left_out(&self) -> BTreeMap<String, u64> {
        self.repo.snapshot.facts().skipped.clone()
    }

    /// Whether what was looked into turned out to be damaged: then what was found is no answer.
    pub fn damage(&self) -> Result<(), Error> {
        self.repo.snapshot.damage().map_err(|err| indexes::store_error(err, &self.repo.sidecar))
    }

    /// Whether files are known to have changed since they were indexed.
    pub fn is_stale(&self) -> bool {
        self.repo.is_behind()
    }

    /// Whether a path below the root is indexed, as a file.
    pub fn has_file(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.repo.snapshot.file(path).is_some())
    }

    /// What goes through the files, with so many lines before and after each match.
    pub fn searcher(&self, before: usize, after: usize, numbered: bool) -> Searcher {
        match &self.finder {
            Finder::Text(matcher) => text::searcher(matcher.multi_line, before, after, numbered),
            Finder::Syntax(_) => text::searcher_of_bytes(before, after, numbered),
        }
    }

    /// Looks into a file by `matcher`, which is [`Grep::regex`] or the file's own.
    pub fn search<S: Sink>(
        &self,
        searcher: &mut Searcher,
        matcher: impl Matcher,
        file: &FileView<'_>,
        sink: S,
    ) -> Result<(), S::Error> {
        match &self.finder {
            Finder::Text(_) => text::search_file(searcher, matcher, file, sink),
            Finder::Syntax(_) => searcher.search_slice(matcher, file.content(), sink),
        }
    }

    /// What finds matches in any file; none when each file has a matcher of its own, [`Grep::ranges`].
    pub fn regex(&self) -> Option<&(impl Matcher + use<>)> {
        match &self.finder {
            Finder::Text(matcher) => Some(&matcher.regex),
            Finder::Syntax(_) => None,
        }
    }

    /// Where a file's syntax matches.
    pub fn ranges(&self, file: &FileView<'_>) -> Ranges {
        let began = Instant::now();
        let found = |query: &SyntaxQuery, file| query.find(file, &|| began.elapsed() > BUDGET);
        match &self.finder {
            Finder::Text(_) => Ranges { base: 0, matches: Vec::new() },
            Finder::Syntax(query) => Ranges {
                base: file.content().as_ptr() as usize,
                matches: found(query, file).hits.iter().map(|hit| Match::new(hit.start, hit.end)).collect(),
            },
        }
    }
}

/// Matches that are known already, as a matcher: so ripgrep's searcher and printers show them like any other. It finds them in
/// the file's own bytes and parts of these, which it knows by where they lie in memory.
pub struct Ranges {
    base: usize,
    matches: Vec<Match>,
}

impl Matcher for Ranges {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        let Some(before) = (text.as_ptr() as usize).checked_sub(self.base) else { return Ok(None) };
        let next = self.matches.partition_point(|range| range.start() < before + at);
        let next = self.matches.get(next).filter(|range| range.end() <= before + text.len());
        Ok(next.map(|range| Match::new(range.start() - before, range.end() - before)))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }
}
