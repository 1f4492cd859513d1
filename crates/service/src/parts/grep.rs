//! Searches for a terminal: the files that may match, in the order of their paths, and a searcher for them. Matches
//! go to the caller's sink, because a terminal shows all of them, with their exact bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use grep_matcher::{Match, Matcher, NoCaptures, NoError};
use grep_searcher::{Searcher, Sink};
use serde_json::Value;

use super::errors;
use super::indexes::{self, Repo};
use super::patterns::{BUDGET, bad_pattern, compile, refused};
use super::{Call, Context, Error, Request, locate};
use codelode_base::model::SourceFile;
use codelode_lang::languages;
pub use codelode_query::scan::on_every_core;
use codelode_query::syntax::{Found, IsOver, SyntaxQuery};
use codelode_query::text;
pub use codelode_query::text::{Case, Pattern, SearchOptions};
pub use codelode_store::FileView;
use codelode_store::GramQuery;

/// The pattern of a search.
pub enum GrepPattern {
    /// Lines of text.
    Text(Pattern),
    /// Structure of code: see `search_ast`.
    Syntax {
        /// Code, or a query.
        pattern: Option<String>,
        /// A smell instead of a pattern.
        preset: Option<String>,
        /// The only language to search.
        language: Option<String>,
    },
}

/// Finds matches in files, by a regular expression or by syntax.
pub struct Finder(Kind);

/// Id of the language that a word names: by its id, an alias or a file extension.
pub fn language(word: &str) -> Option<String> {
    let id = languages::named(word);
    languages::of_id(&id).map(|_| id)
}

enum Kind {
    Text(text::Matcher),
    Syntax(SyntaxQuery),
}

impl Finder {
    /// Compiles a search. A bad pattern is refused with its place.
    pub fn of(wanted: &GrepPattern) -> Result<Self, Error> {
        Ok(Self(match wanted {
            GrepPattern::Text(pattern) => Kind::Text(pattern.compile().map_err(|err| bad_pattern(&err))?),
            GrepPattern::Syntax { pattern, preset, language } => {
                Kind::Syntax(compile(pattern.as_deref(), preset.as_deref(), language.as_deref())?)
            }
        }))
    }

    /// Searcher of files, one for each thread.
    pub fn searcher(&self, options: SearchOptions) -> Searcher {
        match &self.0 {
            Kind::Text(matcher) => text::searcher(matcher.multi_line, options),
            Kind::Syntax(_) => text::searcher_of_bytes(options),
        }
    }

    /// Looks into an indexed file by `matcher`, which is [`Finder::regex`] or the file's own.
    pub fn search<S: Sink>(
        &self,
        searcher: &mut Searcher,
        matcher: impl Matcher,
        file: &FileView<'_>,
        sink: S,
    ) -> Result<(), S::Error> {
        match &self.0 {
            Kind::Text(_) => text::search_file(searcher, matcher, file, sink),
            Kind::Syntax(_) => searcher.search_slice(matcher, file.content(), sink),
        }
    }

    /// The matcher for all files; `None` if each file has a matcher of its own, [`Finder::ranges`].
    pub fn regex(&self) -> Option<&(impl Matcher + use<>)> {
        match &self.0 {
            Kind::Text(matcher) => Some(matcher.regex()),
            Kind::Syntax(_) => None,
        }
    }

    /// The matches of a syntax query in a file.
    pub fn ranges(&self, file: &FileView<'_>) -> Ranges {
        self.ranges_in(file.content(), |query, is_over| query.find(file, is_over))
    }

    /// The matches of a syntax query in the content of a file that is not indexed.
    pub fn ranges_on_disk(&self, path: &Path, content: &[u8]) -> Ranges {
        let language = path.to_str().and_then(|path| languages::of_file(path, content));
        self.ranges_in(content, |query, is_over| {
            language.map_or_else(Found::default, |(number, _)| query.find_in(number, content, is_over))
        })
    }

    fn ranges_in(&self, content: &[u8], find: impl FnOnce(&SyntaxQuery, IsOver<'_>) -> Found) -> Ranges {
        let began = Instant::now();
        let hits = match &self.0 {
            Kind::Syntax(query) => find(query, &|| began.elapsed() > BUDGET).hits,
            Kind::Text(_) => Vec::new(),
        };
        let matches = hits.iter().map(|hit| Match::new(hit.start, hit.end)).collect();
        Ranges { base: content.as_ptr() as usize, matches }
    }

    /// Refuses a pattern that no language of these files understands.
    pub fn check(&self, files: &[SourceFile]) -> Result<(), Error> {
        let Kind::Syntax(query) = &self.0 else { return Ok(()) };
        let mut present = BTreeMap::<String, u64>::new();
        for (_, spec) in files.iter().filter_map(|file| languages::of_file(&file.path, b"")) {
            *present.entry(spec.id.to_owned()).or_default() += 1;
        }
        query.check(&present).map_err(refused)
    }
}

/// Files to look into, and how fresh they are to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reach {
    /// All files, also those that cannot match: for lines or files without a match.
    pub all: bool,
    /// Files are not compared with the disk.
    pub as_indexed: bool,
}

/// A search, before reading files.
pub struct Grep {
    repo: Repo,
    candidates: Vec<u32>,
    first_indexed: Option<Value>,
    is_missing: bool,
}

/// Finds the files of a repository that may match.
pub fn open(cx: &Context, request: &Request, repo: Option<&str>, finder: &Finder, reach: Reach) -> Result<Grep, Error> {
    let call = Call::of(cx, request);
    let repo = if reach.as_indexed { indexes::open_as_indexed(&call, repo)? } else { indexes::open(&call, repo)? };
    if let Kind::Syntax(query) = &finder.0 {
        query.check(&repo.snapshot.facts().languages).map_err(refused)?;
    }
    let grams = match &finder.0 {
        _ if reach.all => &GramQuery::All,
        Kind::Text(matcher) => &matcher.grams,
        Kind::Syntax(query) => &query.grams,
    };
    let candidates = repo.snapshot.candidates(grams).map_err(|err| errors::store_error(err, &repo.sidecar))?;
    let is_missing = call.noted("folder_missing").is_some();
    Ok(Grep { repo, candidates, first_indexed: call.noted("first_indexed"), is_missing })
}

/// Root and files of the large folder that holds a path, when no index holds it: its text can be searched on disk.
pub fn unindexed(cx: &Context, request: &Request, path: &Path) -> Result<Option<(PathBuf, Vec<SourceFile>)>, Error> {
    locate::unindexed(&Call::of(cx, request), path)
}

/// Folder whose repository is searched for a path given where the caller stands, see `locate::searched`.
pub fn searched(cx: &Context, here: &Path, path: &Path) -> PathBuf {
    locate::searched(cx.indexes.registry(), &cx.config, here, path)
}

impl Grep {
    /// The folder that paths are relative to; the stored one if it is on another machine.
    pub fn root(&self) -> PathBuf {
        self.repo.root.clone().unwrap_or_else(|| self.repo.sidecar.root.clone())
    }

    /// The facts of indexing, if this search was the first and the folder was indexed for it.
    pub fn first_indexed(&self) -> Option<&Value> {
        self.first_indexed.as_ref()
    }

    /// The files that may match, by path.
    pub fn files(&self) -> impl Iterator<Item = FileView<'_>> {
        self.candidates.iter().filter_map(|file| self.repo.snapshot.file_by_number(*file))
    }

    /// The number of files that are not indexed, by reason.
    pub fn left_out(&self) -> BTreeMap<String, u64> {
        self.repo.snapshot.facts().skipped.clone()
    }

    /// An error if the index turned out to be damaged: then the matches are invalid.
    pub fn damage(&self) -> Result<(), Error> {
        self.repo.snapshot.damage().map_err(|err| errors::store_error(err, &self.repo.sidecar))
    }

    /// Whether the folder is not on this machine, so that the index answers alone.
    pub fn is_missing(&self) -> bool {
        self.is_missing
    }

    /// Whether files are known to have changed since indexing.
    pub fn is_stale(&self) -> bool {
        self.repo.doubt().is_some()
    }

    /// Whether a path below the root is indexed, as a file.
    pub fn has_file(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.repo.snapshot.file(path).is_some())
    }
}

/// Known matches as a matcher, so that ripgrep's searcher and printers can show them. It finds them in the file's own
/// bytes and parts of these, which it recognizes by their addresses.
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
