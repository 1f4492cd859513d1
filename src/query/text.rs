//! Lines that match a pattern: what ripgrep finds, in the files whose grams say that they may hold it.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::needs::needs;
use super::paths::is_test;
use crate::store::{Error, FileView, GramQuery, Snapshot, SymbolView};

/// A pattern that would need more memory than this, in bytes, is refused.
const LARGEST: usize = 10 << 20;
/// What each thread may keep of the automaton it makes on the way, in bytes.
const CACHE: usize = 32 << 20;
/// How many files are looked into at once, at first and later: a page is often full after the first few.
const FIRST_BATCH: usize = 16;
const MOST_IN_BATCH: usize = 1024;
/// How many files with a definition of the very name that is looked for come before all others.
const DEFINERS: usize = 20;

/// Whether capital and small letters are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// They are not.
    #[default]
    Sensitive,
    /// They are.
    Insensitive,
    /// They are when the pattern has no capital letter.
    Smart,
}

/// What is looked for in lines, as ripgrep takes it.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// A line must match one of them.
    pub patterns: Vec<String>,
    /// They are no regular expressions.
    pub fixed: bool,
    /// See [`Case`].
    pub case: Case,
    /// Matches begin and end where words do.
    pub word: bool,
    /// A match may go over several lines.
    pub multi_line: bool,
}

/// A [`Pattern`], ready to be looked for.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// Finds matches in bytes.
    pub regex: RegexMatcher,
    /// What a file must hold to be looked into.
    pub grams: GramQuery,
    multi_line: bool,
}

impl Pattern {
    /// Makes it ready; refuses what is no regular expression, or too large, in the words of the parser.
    pub fn compile(&self) -> Result<Matcher, String> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .fixed_strings(self.fixed)
            .case_insensitive(self.case == Case::Insensitive)
            .case_smart(self.case == Case::Smart)
            .word(self.word)
            .ban_byte(Some(0))
            .size_limit(LARGEST)
            .dfa_size_limit(CACHE);
        if !self.multi_line {
            builder.line_terminator(Some(b'\n'));
        }
        let regex = builder.build_many(&self.patterns).map_err(|err| err.to_string())?;
        Ok(Matcher { regex, grams: self.grams(), multi_line: self.multi_line })
    }

    /// The grams of every match. Whatever could make a match more narrow (words, capital letters) is left out.
    fn grams(&self) -> GramQuery {
        let each = self.patterns.iter().map(|pattern| {
            let pattern = if self.fixed { regex_syntax::escape(pattern) } else { pattern.clone() };
            let mut parser = regex_syntax::ParserBuilder::new();
            parser.utf8(false).multi_line(true).case_insensitive(self.case != Case::Sensitive);
            // What cannot be read here can be looked for all the same.
            parser.build().parse(&pattern).map_or(GramQuery::All, |hir| needs(&hir))
        });
        GramQuery::or(each)
    }

    /// The name that is looked for, when the pattern is one.
    fn name(&self) -> Option<&str> {
        let [only] = &self.patterns[..] else { return None };
        let is_name = only.chars().all(|char| char.is_alphanumeric() || char == '_') && only.len() > 1;
        is_name.then_some(only)
    }
}

/// When to stop.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Not later than this.
    pub until: Instant,
    /// Set when nobody wants the answer any more.
    pub cancelled: &'a AtomicBool,
}

impl Limits<'_> {
    /// Whether it is time to stop.
    pub fn reached(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

/// A line that matches, or several when one match goes over them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHit {
    /// The first line, from one.
    pub line: u64,
    /// How many lines.
    pub lines: u64,
    /// Their bytes without the last newline.
    pub text: Vec<u8>,
    /// The lines before, oldest first.
    pub before: Vec<Vec<u8>>,
    /// The lines after.
    pub after: Vec<Vec<u8>>,
}

/// The numbers of the files that may match, most useful first: those that define the very name that is looked for, then
/// source, then tests and documentation; each by path.
pub struct Candidates<'a> {
    snapshot: &'a Snapshot,
    keep: &'a (dyn Fn(&FileView<'_>) -> bool + Sync),
    definers: VecDeque<u32>,
    taken: HashSet<u32>,
    first: std::vec::IntoIter<u32>,
    /// Tests and documentation, in their order.
    later: VecDeque<u32>,
}

impl<'a> Candidates<'a> {
    /// The files for which `keep` holds.
    pub fn new(
        snapshot: &'a Snapshot,
        pattern: &Pattern,
        matcher: &Matcher,
        keep: &'a (dyn Fn(&FileView<'_>) -> bool + Sync),
    ) -> Result<Self, Error> {
        let all = snapshot.candidates(&matcher.grams)?;
        let mut definers = VecDeque::new();
        if let Some(name) = pattern.name().filter(|_| !all.is_empty()) {
            for symbol in snapshot.exact(name, DEFINERS, &mut |_| true)? {
                if !definers.contains(&symbol.file) {
                    definers.push_back(symbol.file);
                }
            }
        }
        let is_test = |file: &u32| snapshot.file_by_number(*file).is_some_and(|file| is_test(file.path()));
        definers.make_contiguous().sort_by_cached_key(|file| {
            (is_test(file), snapshot.file_by_number(*file).map(|file| file.path().to_owned()))
        });
        let taken = definers.iter().copied().collect();
        Ok(Self { snapshot, keep, definers, taken, first: all.into_iter(), later: VecDeque::new() })
    }
}

impl<'a> Iterator for Candidates<'a> {
    type Item = FileView<'a>;

    fn next(&mut self) -> Option<FileView<'a>> {
        loop {
            let is_definer = !self.definers.is_empty();
            let number = self.definers.pop_front().or_else(|| self.first.next());
            let Some(number) = number else {
                return self.later.pop_front().and_then(|file| self.snapshot.file_by_number(file));
            };
            let Some(file) = self.snapshot.file_by_number(number).filter(|file| (self.keep)(file)) else { continue };
            if is_definer {
                return Some(file);
            }
            if self.taken.contains(&number) {
                continue;
            }
            match is_test(file.path()) {
                true => self.later.push_back(number),
                false => return Some(file),
            }
        }
    }
}

/// A searcher as ripgrep makes one for the files of a folder, with so many lines before and after each match.
pub fn searcher(matcher: &Matcher, before: usize, after: usize, numbered: bool) -> Searcher {
    SearcherBuilder::new()
        .line_number(numbered)
        .multi_line(matcher.multi_line)
        .binary_detection(BinaryDetection::quit(0))
        .before_context(before)
        .after_context(after)
        .build()
}

/// Looks for matches in a file, into a sink.
pub fn search_file<S: Sink>(
    searcher: &mut Searcher,
    matcher: &Matcher,
    file: &FileView<'_>,
    sink: S,
) -> Result<(), S::Error> {
    match file.has_nul() {
        // Read as ripgrep reads it, a buffer at a time: what lies before the first NUL byte counts.
        true => searcher.search_reader(&matcher.regex, file.content(), sink),
        false => searcher.search_slice(&matcher.regex, file.content(), sink),
    }
}

/// How a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The time was up.
    pub timed_out: bool,
    /// Whoever took the matches wanted no more.
    pub stopped: bool,
    /// Files that were looked into.
    pub files: u64,
}

/// Looks into files on every core and hands what was found to `take` in their order, until it says no. `context` lines come
/// with each match; `only_count` leaves texts out.
pub fn search_text<'a>(
    candidates: impl Iterator<Item = FileView<'a>>,
    matcher: &Matcher,
    context: usize,
    only_count: bool,
    limits: Limits<'_>,
    take: &mut dyn FnMut(FileView<'a>, Vec<LineHit>) -> bool,
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut candidates = candidates.peekable();
    let mut size = FIRST_BATCH;
    while candidates.peek().is_some() {
        let mut batch = Vec::with_capacity(size);
        while batch.len() < size && !limits.reached() {
            let Some(file) = candidates.next() else { break };
            batch.push(file);
        }
        let make = || searcher(matcher, context, context, true);
        let found: Vec<Option<Vec<LineHit>>> = batch
            .par_iter()
            .map_init(make, |searcher, file| (!limits.reached()).then(|| hits(searcher, matcher, file, only_count)))
            .collect();
        for (file, hits) in batch.iter().zip(found) {
            let Some(hits) = hits else {
                outcome.timed_out = true;
                return outcome;
            };
            outcome.files += 1;
            if !hits.is_empty() && !take(*file, hits) {
                outcome.stopped = true;
                return outcome;
            }
        }
        if batch.len() < size && candidates.peek().is_some() {
            outcome.timed_out = true;
            return outcome;
        }
        size = (size * 4).min(MOST_IN_BATCH);
    }
    outcome
}

/// The matching lines of a file.
fn hits(searcher: &mut Searcher, matcher: &Matcher, file: &FileView<'_>, only_count: bool) -> Vec<LineHit> {
    let mut collect = Collect { hits: Vec::new(), before: Vec::new(), only_count };
    // A slice can be read, and the sink refuses nothing.
    let _ = search_file(searcher, matcher, file, &mut collect);
    collect.hits
}

/// Keeps what is found.
struct Collect {
    hits: Vec<LineHit>,
    before: Vec<Vec<u8>>,
    only_count: bool,
}

impl Sink for Collect {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let text = if self.only_count { Vec::new() } else { line(found.bytes()) };
        let before = std::mem::take(&mut self.before);
        let (first, lines) = (found.line_number().unwrap_or(0), found.lines().count() as u64);
        self.hits.push(LineHit { line: first, lines, text, before, after: Vec::new() });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, Self::Error> {
        match (around.kind(), self.hits.last_mut()) {
            (SinkContextKind::After, Some(hit)) => hit.after.push(line(around.bytes())),
            _ => self.before.push(line(around.bytes())),
        }
        Ok(true)
    }
}

/// A line without its end.
fn line(bytes: &[u8]) -> Vec<u8> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes).to_vec()
}

/// The innermost symbol around a line.
pub fn enclosing<'a>(file: &FileView<'a>, line: u64) -> Option<SymbolView<'a>> {
    file.symbols().rev().find(|symbol| (u64::from(symbol.line())..=u64::from(symbol.end_line())).contains(&line))
}
