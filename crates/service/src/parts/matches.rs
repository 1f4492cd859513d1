//! Matches by file, a page at a time: the common part of text and syntax searches.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use globset::GlobMatcher;
use schemars::JsonSchema;
use serde::Serialize;

use super::indexes::{self, Repo};
use super::symbols::repositories;
use super::{Call, Error, tokens};
use codelode_query as query;
use codelode_query::scan::Outcome;
use codelode_query::text::enclosing;
use codelode_store::FileView;

/// The longest time spent on counting matches that are not shown.
const COUNTING: Duration = Duration::from_millis(3);
/// The most matches of one search.
const MOST: usize = 1_000;
/// Tokens of an answer without its matches, and of a file's entry without its path.
const FRAME: usize = 150;
const FILE_FRAME: usize = 12;

/// Matches by file: the file that defines the very name first, then source, then tests and documentation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found<M> {
    /// Number of matches in this answer.
    result_count: usize,
    results: Vec<FileMatches<M>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Number of all matches, listed here or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// `total` is a lower bound; `count_only` counts all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Time ran out before all files were searched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
    /// If nothing was found: the scope of the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_evidence: Option<Absence>,
}

/// A file and its matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileMatches<M> {
    file: String,
    /// Repository (for several).
    #[serde(skip_serializing_if = "Option::is_none")]
    repo: Option<String>,
    matches: Vec<M>,
}

/// A match as it is shown.
pub trait Placed: Serialize {
    /// Its first and last line.
    fn lines(&self) -> (u64, u64);
}

/// Scope of a search that found nothing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Absence {
    verdict: &'static str,
    scanned_files: u64,
    /// Files that are not indexed, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, u64>,
    /// Symbols with the nearest names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<String>,
}

/// The repositories and files to search.
pub struct Scope<'a> {
    pub repo: Option<&'a str>,
    pub repos: Option<&'a [String]>,
    pub glob: Option<&'a GlobMatcher>,
    pub language: Option<&'a str>,
}

impl Scope<'_> {
    /// Whether a file is searched.
    pub fn keeps(&self, file: &FileView<'_>) -> bool {
        self.language.is_none_or(|language| file.language() == language)
            && self.glob.is_none_or(|glob| glob.is_match(file.path()))
    }
}

/// Searches one repository and fills the page.
type Ask<'a, M> = &'a mut dyn FnMut(&Repo, &mut Page<'_, M>) -> Result<Outcome, Error>;

/// Runs `search` on every repository of a scope, which fills the page. Shown files are compared with those on disk.
/// `name`: suggest names near this one when there are no matches.
pub fn collect<M: Placed>(
    call: &Call<'_>,
    scope: &Scope<'_>,
    limit: u32,
    name: Option<&str>,
    search: Ask<'_, M>,
) -> Result<Found<M>, Error> {
    if limit == 0 {
        return Err(Error::invalid_arguments("`max_results` is 0; give 1 or more, or count_only"));
    }
    let mut repos = repositories(call, scope.repo, scope.repos)?;
    let mut page =
        Page { call, limit: (limit as usize).min(MOST), repo: None, state: State::default(), results: Vec::new() };
    let several = repos.len() > 1;
    if several {
        call.note("repos", repos.iter().map(|repo| repo.sidecar.repo.as_str()).collect::<Vec<_>>());
    }
    for repo in &mut repos {
        page.repo = several.then(|| repo.sidecar.repo.clone());
        let (results, state) = (page.results.len(), page.state);
        let ask = |repo: &Repo| {
            page.results.truncate(results);
            page.state = state;
            page.ask(repo, search)?;
            let shown = page.results[results..].iter().map(|found| found.file.clone()).collect();
            Ok((page.state.total != state.total).then_some(shown))
        };
        // Files to be shown must be those on disk.
        indexes::answered(call, repo, ask, |_, shown: &Option<Vec<String>>| shown.clone())?;
    }
    Ok(page.found(&repos, scope, name))
}

/// A page of matches, with the counts of all.
pub struct Page<'a, M> {
    call: &'a Call<'a>,
    limit: usize,
    repo: Option<String>,
    state: State,
    results: Vec<FileMatches<M>>,
}

/// The progress of a page.
#[derive(Clone, Copy, Default)]
struct State {
    given: usize,
    spent: usize,
    total: usize,
    /// The time since which no more matches are shown.
    full: Option<Instant>,
    at_least: bool,
    timed_out: bool,
}

impl<M: Placed> Page<'_, M> {
    /// Adds the matches of a repository.
    fn ask(
        &mut self,
        repo: &Repo,
        search: &mut dyn FnMut(&Repo, &mut Self) -> Result<Outcome, Error>,
    ) -> Result<(), Error> {
        let outcome = search(repo, self)?;
        if self.call.request.is_cancelled() {
            return Err(Error::cancelled("the search was cancelled"));
        }
        self.state.timed_out |= outcome.timed_out;
        self.state.at_least |= outcome.stopped || outcome.timed_out;
        Ok(())
    }

    /// The number of matches of a file that may have to be shown.
    pub fn texts(&self) -> usize {
        if self.call.count_only { 0 } else { self.call.offset.saturating_add(self.limit) }
    }

    /// Takes a file's matches, each made only if it is shown; returns whether more are wanted.
    pub fn take(&mut self, file: &FileView<'_>, count: usize, make: &dyn Fn(usize) -> M) -> bool {
        let Self { call, limit, state, .. } = self;
        let first = state.total;
        state.total += count;
        if call.count_only {
            return true;
        }
        let mut matches = Vec::new();
        for at in call.offset.saturating_sub(first)..count {
            if state.full.is_some() {
                break;
            }
            let found = make(at);
            let mut cost = tokens::estimate(&serde_json::to_string(&found).unwrap_or_default()) + 2;
            if matches.is_empty() {
                cost += tokens::estimate(file.path()) + FILE_FRAME;
            }
            // At least one, so that following the cursors makes progress.
            let is_too_much = FRAME + state.spent + cost > call.max_tokens && state.given > 0;
            if state.given == *limit || is_too_much {
                state.full = Some(Instant::now());
                break;
            }
            state.spent += cost;
            state.given += 1;
            matches.push(found);
        }
        if !matches.is_empty() {
            let size = (file.content().len(), file.lines());
            for (first, last) in matches.iter().map(M::lines) {
                call.baseline(file.path(), size, (first as u32, last as u32));
            }
            self.results.push(FileMatches { file: file.path().to_owned(), repo: self.repo.clone(), matches });
        }
        self.state.full.is_none_or(|since| since.elapsed() < COUNTING)
    }

    fn found(self, repos: &[Repo], scope: &Scope<'_>, name: Option<&str>) -> Found<M> {
        let Self { call, state: State { given, total, at_least, timed_out, .. }, results, .. } = self;
        call.count(total);
        call.found(total > 0);
        if call.count_only && timed_out {
            call.note("timed_out", true);
        }
        let reached = call.offset + given;
        let cut = given > 0 && total > reached;
        Found {
            result_count: given,
            results,
            truncated: cut || timed_out,
            total: (cut || at_least).then_some(total),
            at_least,
            next_cursor: cut.then(|| call.cursor(reached)),
            timed_out,
            negative_evidence: (total == 0).then(|| absence(repos, scope, name, timed_out)),
        }
    }
}

/// Evidence about a search without matches.
fn absence(repos: &[Repo], scope: &Scope<'_>, name: Option<&str>, timed_out: bool) -> Absence {
    let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
    let (mut scanned_files, mut nearest, mut doubt) = (0, Vec::new(), None);
    for repo in repos {
        scanned_files += match (scope.language, scope.glob) {
            (None, None) => repo.snapshot.n_files(),
            _ => repo.snapshot.files().filter(|file| scope.keeps(file)).count(),
        } as u64;
        for (reason, count) in &repo.snapshot.facts().skipped {
            *left_out.entry(reason.clone()).or_default() += count;
        }
        doubt = doubt.or(repo.doubt());
        let near = name.map(|name| query::nearest(&repo.snapshot, name, 3)).unwrap_or_default();
        nearest.extend(near.iter().map(|symbol| symbol.id()));
    }
    nearest.truncate(5);
    let verdict = match (timed_out, doubt, scanned_files) {
        (true, ..) => "not_known: time ran out",
        (_, Some(doubt), _) => doubt,
        (.., 0) => "no_file_matches: no file fits language and file_pattern",
        _ => "not_found",
    };
    Absence { verdict, scanned_files, left_out, nearest }
}

/// The id of the innermost symbol around a line, without the file.
pub fn symbol_around(file: &FileView<'_>, line: u64) -> Option<String> {
    let id = enclosing(file, line)?.id();
    Some(id.strip_prefix(file.path()).and_then(|rest| rest.strip_prefix("::")).map(str::to_owned).unwrap_or(id))
}
