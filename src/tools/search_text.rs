//! Finds lines of text: what ripgrep finds in the indexed files, each with the symbol it lies in.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use globset::GlobMatcher;
use grep_matcher::Matcher as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indexes::{self, Repo};
use super::search_symbols::{LANGUAGE_NAMES, meant, path_glob, placeholder, repositories};
use super::{Call, Code, Error, Freshness, Shown, Tool, tokens};
use crate::query;
use crate::query::text::{self, Candidates, Case, Limits, LineHit, Matcher, Outcome, Pattern};
use crate::store::FileView;

/// Find lines that hold a text or match a regex, as grep does, with the symbol around each.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: the current one).
    #[serde(default)]
    repo: Option<String>,
    /// Several; `*` for all.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    repos: Option<Vec<String>>,
    /// The text, or a regex with is_regex.
    #[schemars(extend("x-aliases" = ["pattern"]))]
    query: String,
    /// Rust syntax, linear time.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["regex"]))]
    is_regex: bool,
    /// Capital letters matter.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    case_sensitive: bool,
    /// Only where words begin and end.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    whole_word: bool,
    /// A match may go over several lines.
    #[serde(default)]
    #[schemars(extend("x-rare" = true, "x-aliases" = ["multi_line"]))]
    multiline: bool,
    /// Glob of paths: `src/**/*.py`.
    #[serde(default)]
    file_pattern: Option<String>,
    /// What the file is written in.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    language: Option<String>,
    /// At most this many lines.
    #[serde(default = "twenty")]
    #[schemars(extend("x-rare" = true))]
    max_results: u32,
    /// Lines around each.
    #[serde(default)]
    context_lines: u32,
    /// Search by meaning, where an embedding provider is set up.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    semantic: bool,
}

fn twenty() -> u32 {
    20
}

/// Lines by file: the file that defines the very name first, then source, then tests and documentation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Matches in this answer.
    result_count: usize,
    results: Vec<FileMatches>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Matches in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// There are more than `total` says: they were not counted. `count_only` counts them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The time was up before every file was looked into.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
    /// Nothing was found: where it was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_evidence: Option<Absence>,
}

/// A file and its matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileMatches {
    file: String,
    /// Which repository, when several were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    repo: Option<String>,
    matches: Vec<Match>,
}

/// A line that matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Match {
    line: u64,
    /// A long line is cut around the match, where `…` stands.
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
    /// The innermost symbol around it; `{file}::{symbol}` is its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<String>,
}

/// What was looked through when nothing was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Absence {
    verdict: &'static str,
    scanned_files: u64,
    /// Files that are not indexed, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, u64>,
    /// The symbols whose names come nearest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<String>,
}

/// See [`Args`].
pub struct SearchText;

/// So long may a search take: a server must stay free to answer others.
const BUDGET: Duration = Duration::from_secs(10);
/// How long matches are counted that are not shown.
const COUNTING: Duration = Duration::from_millis(4);
/// More is no search.
const MOST: usize = 1_000;
/// More lines around a match are a file.
const MOST_CONTEXT: usize = 50;
/// A longer line is cut to so many bytes, of which so many stand before the match.
const WIDEST: usize = 240;
const LEAD: usize = 60;
/// What an answer costs in tokens beside its matches.
const FRAME: usize = 150;

impl Tool for SearchText {
    const NAME: &'static str = "search_text";
    const COMMAND: &'static str = "text";
    const POSITIONAL: &'static [&'static str] = &["query"];
    const SHOWN: Option<Shown> = Some(Shown::Lean);
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, mut args: Args) -> Result<Output, Error> {
        args.language = args.language.map(|language| meant(&language, LANGUAGE_NAMES));
        let glob = args.file_pattern.as_deref().map(path_glob).transpose()?;
        let search = Search::new(call, &args, glob.as_ref())?;
        let mut repos = repositories(call, args.repo.as_deref(), args.repos.as_deref())?;
        let several = repos.len() > 1;
        let mut page = Page::new(call, (args.max_results as usize).min(MOST));
        for repo in &mut repos {
            let start = page.mark();
            let before = repo.snapshot.generation();
            page.add(repo, &search, several)?;
            // What is about to be shown must be what is on disk; and before it is said that there is nothing, the folder is
            // looked at as it is now.
            let shown: Vec<String> = page.results[start.results..].iter().map(|found| found.file.clone()).collect();
            let taken = std::mem::replace(repo, placeholder(repo));
            *repo = match page.total == start.total && taken.freshness.is_some() {
                true => indexes::look_again(call, taken)?,
                false => indexes::ensure_fresh(call, taken, shown.iter().map(String::as_str))?,
            };
            if repo.snapshot.generation() != before {
                page.reset(start);
                page.add(repo, &search, several)?;
            }
        }
        Ok(page.output(&repos, &args, glob.as_ref()))
    }
}

/// A question, ready to be asked of each repository.
struct Search<'a> {
    pattern: Pattern,
    matcher: Matcher,
    context: usize,
    language: Option<&'a str>,
    glob: Option<&'a GlobMatcher>,
    limits: Limits<'a>,
}

impl<'a> Search<'a> {
    /// Refuses what cannot be looked for.
    fn new(call: &Call<'a>, args: &'a Args, glob: Option<&'a GlobMatcher>) -> Result<Self, Error> {
        let wrong = |message: &str| Err(Error::new(Code::InvalidArguments, message));
        if args.query.is_empty() {
            return wrong("`query` is empty; give a text, or a regex with is_regex");
        }
        if args.query.len() > 10_000 {
            return wrong("`query` is longer than 10,000 bytes");
        }
        if args.max_results == 0 {
            return wrong("`max_results` is 0; give 1 or more, or count_only");
        }
        if args.semantic {
            let message = "semantic search needs an embedding provider and none is set up; search without `semantic`";
            return Err(Error::new(Code::NoEmbeddingProvider, message));
        }
        let pattern = Pattern {
            patterns: vec![args.query.clone()],
            fixed: !args.is_regex,
            case: if args.case_sensitive { Case::Sensitive } else { Case::Insensitive },
            word: args.whole_word,
            multi_line: args.multiline,
        };
        let matcher = pattern.compile().map_err(|err| bad_pattern(&err))?;
        Ok(Self {
            pattern,
            matcher,
            context: (args.context_lines as usize).min(MOST_CONTEXT),
            language: args.language.as_deref(),
            glob,
            limits: Limits { until: Instant::now() + BUDGET, cancelled: &call.request.cancelled },
        })
    }

    fn keeps(&self, file: &FileView<'_>) -> bool {
        self.language.is_none_or(|language| file.language() == language)
            && self.glob.is_none_or(|glob| glob.is_match(file.path()))
    }
}

/// A pattern that cannot be looked for, in the parser's words.
pub fn bad_pattern(err: &str) -> Error {
    let message = match err.contains("exceeds size limit") || err.contains("too big") {
        true => format!("the pattern needs too much memory; use smaller repetitions: {err}"),
        false => format!("the pattern cannot be read: {err}"),
    };
    Error::new(Code::InvalidArguments, message)
}

/// Matches that are shown, and how many there are beside them.
struct Page<'a> {
    call: &'a Call<'a>,
    limit: usize,
    results: Vec<FileMatches>,
    given: usize,
    spent: usize,
    total: usize,
    /// Since when nothing more is shown.
    full: Option<Instant>,
    at_least: bool,
    timed_out: bool,
}

/// Where a page stood.
#[derive(Clone, Copy)]
struct Mark {
    results: usize,
    given: usize,
    spent: usize,
    total: usize,
    full: Option<Instant>,
    at_least: bool,
    timed_out: bool,
}

impl<'a> Page<'a> {
    fn new(call: &'a Call<'a>, limit: usize) -> Self {
        let (results, given, spent, total) = (Vec::new(), 0, FRAME, 0);
        Self { call, limit, results, given, spent, total, full: None, at_least: false, timed_out: false }
    }

    fn mark(&self) -> Mark {
        let Self { given, spent, total, full, at_least, timed_out, .. } = *self;
        Mark { results: self.results.len(), given, spent, total, full, at_least, timed_out }
    }

    fn reset(&mut self, mark: Mark) {
        self.results.truncate(mark.results);
        (self.given, self.spent, self.total) = (mark.given, mark.spent, mark.total);
        (self.full, self.at_least, self.timed_out) = (mark.full, mark.at_least, mark.timed_out);
    }

    /// Adds what a repository holds.
    fn add(&mut self, repo: &Repo, search: &Search<'_>, several: bool) -> Result<(), Error> {
        let keep = |file: &FileView<'_>| search.keeps(file);
        let Search { pattern, matcher, context, limits, .. } = search;
        let candidates = Candidates::new(&repo.snapshot, pattern, matcher, &keep)
            .map_err(|err| indexes::store_error(err, &repo.sidecar))?;
        let name = several.then_some(repo.sidecar.repo.as_str());
        let count_only = self.call.count_only;
        let mut take = |file: FileView<'_>, hits: Vec<LineHit>| self.take(&file, &hits, &search.matcher, name);
        let outcome: Outcome = text::search_text(candidates, matcher, *context, count_only, *limits, &mut take);
        if self.call.request.is_cancelled() {
            return Err(Error::new(Code::Cancelled, "cancelled"));
        }
        self.timed_out |= outcome.timed_out;
        self.at_least |= outcome.stopped || outcome.timed_out;
        Ok(())
    }

    /// Takes a file's matches; says whether more are wanted.
    fn take(&mut self, file: &FileView<'_>, hits: &[LineHit], matcher: &Matcher, repo: Option<&str>) -> bool {
        let first = self.total;
        self.total += hits.len();
        if self.call.count_only {
            return true;
        }
        let mut matches = Vec::new();
        for hit in hits.iter().skip(self.call.offset.saturating_sub(first)) {
            if self.full.is_some() {
                break;
            }
            let found = shown(file, hit, matcher);
            let cost = tokens::estimate(&serde_json::to_string(&found).unwrap_or_default()) + 2;
            let header = if matches.is_empty() { tokens::estimate(file.path()) + 12 } else { 0 };
            let is_too_much = self.spent + cost + header > self.call.max_tokens && self.given > 0;
            if self.given == self.limit || is_too_much {
                self.full = Some(Instant::now());
                break;
            }
            self.spent += cost + header;
            self.given += 1;
            matches.push(found);
        }
        if !matches.is_empty() {
            self.call.baseline(file.path(), file.content().len() as u64);
            self.results.push(FileMatches { file: file.path().to_owned(), repo: repo.map(str::to_owned), matches });
        }
        self.full.is_none_or(|since| since.elapsed() < COUNTING)
    }

    fn output(self, repos: &[Repo], args: &Args, glob: Option<&GlobMatcher>) -> Output {
        let Self { call, results, given, total, at_least, timed_out, .. } = self;
        call.count(total);
        call.found(total > 0);
        if call.count_only && timed_out {
            call.note("timed_out", true);
        }
        let reached = call.offset + given;
        let cut = given > 0 && total > reached;
        Output {
            result_count: given,
            results,
            truncated: cut || timed_out,
            total: (cut || at_least).then_some(total),
            at_least,
            next_cursor: cut.then(|| call.cursor(reached)),
            timed_out,
            negative_evidence: (total == 0).then(|| absence(repos, args, glob, timed_out)),
        }
    }
}

/// A match as it is shown.
fn shown(file: &FileView<'_>, hit: &LineHit, matcher: &Matcher) -> Match {
    let around = |lines: &[Vec<u8>]| lines.iter().map(|line| narrowed(line, 0)).collect();
    let at = matcher.regex.find(&hit.text).ok().flatten().map_or(0, |found| found.start());
    let symbol = text::enclosing(file, hit.line).map(|symbol| {
        let id = symbol.id();
        id.strip_prefix(file.path()).and_then(|rest| rest.strip_prefix("::")).map(str::to_owned).unwrap_or(id)
    });
    // A match over several lines is shown whole.
    let text = if hit.lines > 1 { String::from_utf8_lossy(&hit.text).into_owned() } else { narrowed(&hit.text, at) };
    Match { line: hit.line, text, before: around(&hit.before), after: around(&hit.after), symbol }
}

/// A line, or what is around byte `at` of a long one.
fn narrowed(line: &[u8], at: usize) -> String {
    if line.len() <= WIDEST {
        return String::from_utf8_lossy(line).into_owned();
    }
    let start = at.saturating_sub(LEAD).min(line.len() - WIDEST);
    let end = start + WIDEST;
    // A character is not cut in two.
    let is_border = |at: &usize| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let start = (start..end).find(is_border).unwrap_or(start);
    let end = (end..line.len()).find(is_border).unwrap_or(line.len());
    let text = String::from_utf8_lossy(&line[start..end]);
    let (lead, tail) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{lead}{text}{tail}")
}

/// What can be said when nothing was found.
fn absence(repos: &[Repo], args: &Args, glob: Option<&GlobMatcher>, timed_out: bool) -> Absence {
    let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
    let (mut scanned_files, mut nearest, mut still_reading) = (0, Vec::new(), false);
    for repo in repos {
        let fits = |file: &FileView<'_>| {
            args.language.as_ref().is_none_or(|language| file.language() == language)
                && glob.is_none_or(|glob| glob.is_match(file.path()))
        };
        scanned_files += repo.snapshot.files().filter(fits).count() as u64;
        for (reason, count) in &repo.snapshot.facts().skipped {
            *left_out.entry(reason.clone()).or_default() += count;
        }
        still_reading |= repo.freshness.is_some_and(|freshness| freshness != Freshness::Fresh);
        if !args.is_regex {
            let word =
                args.query.split(|char: char| !char.is_alphanumeric() && char != '_').max_by_key(|word| word.len());
            let near = query::nearest(&repo.snapshot, word.unwrap_or_default(), 3);
            nearest.extend(near.iter().map(|symbol| symbol.id()));
        }
    }
    nearest.truncate(5);
    let verdict = match (timed_out, still_reading, scanned_files) {
        (true, ..) => "not_known: the time was up",
        (_, true, _) => "not_known: files that changed are still being read",
        (_, _, 0) => "no_file_matches: language and file_pattern leave no file",
        _ => "not_found",
    };
    Absence { verdict, scanned_files, left_out, nearest }
}
