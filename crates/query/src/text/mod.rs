//! Text search: lines as ripgrep finds them, in the files whose grams may match.

pub mod blobs;
mod calls;
mod chains;
pub mod colours;
pub(super) mod mentions;
pub(super) mod needs;
mod pieces;
pub mod scan;
pub(super) mod sexp;
mod share;
pub mod structure;
pub mod syntax;
mod trees;
pub mod window;
pub mod words;

use std::ops::Range;
use std::sync::OnceLock;

use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};

use codelode_store::{FileView, GramQuery, SymbolView};
use needs::needs;
use scan::{Limits, Outcome, scan};

/// The memory limit for compiling a pattern, in bytes.
const LARGEST: usize = 10 << 20;
/// A literal of so many bytes surely compiles within that limit.
const SHORT: usize = 1_000;
/// The size limit of each thread's lazily built automaton, in bytes.
const CACHE: usize = 32 << 20;

/// Case sensitivity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// Case matters.
    #[default]
    Sensitive,
    /// Case is ignored.
    Insensitive,
    /// Case is ignored if the pattern has no capital letter.
    Smart,
}

/// A pattern and its options, as in ripgrep.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The patterns, of which a line must match at least one.
    pub patterns: Vec<String>,
    /// Whether the patterns are literal text.
    pub fixed: bool,
    /// See [`Case`].
    pub case: Case,
    /// Whether matches begin and end at word boundaries.
    pub word: bool,
    /// Whether a match must be a whole line.
    pub line: bool,
    /// Whether a match may span several lines.
    pub multi_line: bool,
    /// Whether lines may end with a carriage return and a newline, before which `$` matches.
    pub crlf: bool,
}

/// A compiled [`Pattern`].
#[derive(Clone, Debug)]
pub struct Matcher {
    /// The regular expression. A short literal is compiled at the first text to search: most sentences that people type
    /// are in no file, and finding that is as fast as compiling.
    regex: OnceLock<RegexMatcher>,
    pattern: Pattern,
    /// The grams of every matching file.
    pub grams: GramQuery,
    /// Whether a match may span several lines.
    pub multi_line: bool,
}

impl Matcher {
    /// The compiled regular expression.
    pub fn regex(&self) -> &RegexMatcher {
        self.regex.get_or_init(|| self.pattern.regex().expect("Pattern::is_sure holds, or it was compiled before"))
    }

    /// Places of the matches in a line.
    pub fn places(&self, line: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let searched = self.regex().find_iter(line.as_bytes(), |place| {
            let place = place.start()..place.end();
            if !place.is_empty() && line.is_char_boundary(place.start) && line.is_char_boundary(place.end) {
                found.push(place);
            }
            true
        });
        debug_assert!(searched.is_ok(), "this matcher has no errors");
        found
    }
}

impl Pattern {
    /// Compiles the pattern. Fails with the parser's message if it is no regular expression, or too large.
    pub fn compile(&self) -> Result<Matcher, String> {
        let regex = OnceLock::new();
        if !self.is_sure() {
            _ = regex.set(self.regex()?);
        }
        Ok(Matcher { regex, pattern: self.clone(), grams: self.grams(), multi_line: self.multi_line })
    }

    /// Whether it is a short literal without forbidden bytes, which surely compiles.
    fn is_sure(&self) -> bool {
        let length: usize = self.patterns.iter().map(String::len).sum();
        self.fixed && length <= SHORT && !self.patterns.iter().any(|text| text.contains(['\n', '\r', '\0']))
    }

    fn regex(&self) -> Result<RegexMatcher, String> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .fixed_strings(self.fixed)
            .case_insensitive(self.case == Case::Insensitive)
            .case_smart(self.case == Case::Smart)
            .word(self.word)
            .whole_line(self.line)
            .ban_byte(Some(0))
            .size_limit(LARGEST)
            .dfa_size_limit(CACHE);
        if !self.multi_line {
            builder.line_terminator(Some(b'\n'));
        }
        if self.crlf {
            builder.crlf(true);
        }
        builder.build_many(&self.patterns).map_err(|err| err.to_string())
    }

    /// The grams of every match. Options that only narrow matches are ignored.
    fn grams(&self) -> GramQuery {
        let each = self.patterns.iter().map(|pattern| {
            let pattern = if self.fixed { regex_syntax::escape(pattern) } else { pattern.clone() };
            let mut parser = regex_syntax::ParserBuilder::new();
            parser.utf8(false).multi_line(true).case_insensitive(self.case != Case::Sensitive);
            // If it cannot be parsed here, all files are searched.
            parser.build().parse(&pattern).map_or(GramQuery::All, |hir| needs(&hir))
        });
        GramQuery::or(each)
    }

    /// The searched name, if the pattern is a name or a literal with one word.
    pub fn name(&self) -> Option<&str> {
        let [only] = &self.patterns[..] else { return None };
        let mut words = only.split(|char: char| !char.is_alphanumeric() && char != '_').filter(|word| !word.is_empty());
        let word = words.next().filter(|word| word.len() > 1 && words.next().is_none())?;
        (self.fixed || word == only).then_some(word)
    }
}

/// A matching line, or the lines of one match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHit {
    /// The first line, from one.
    pub line: u64,
    /// The number of lines.
    pub lines: u64,
    /// Their bytes without the last newline.
    pub text: Vec<u8>,
    /// The lines before, oldest first.
    pub before: Vec<Vec<u8>>,
    /// The lines after.
    pub after: Vec<Vec<u8>>,
}

/// Options of a search in addition to its pattern.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchOptions {
    /// Lines shown before each match.
    pub before: usize,
    /// Lines shown after each match.
    pub after: usize,
    /// Whether lines are numbered.
    pub numbered: bool,
    /// Whether lines that do not match are the result.
    pub inverted: bool,
    /// The most matching lines per file.
    pub max_matches: Option<u64>,
    /// Whether all lines are shown, those without a match as context.
    pub passthru: bool,
    /// Lines may end with a carriage return and a newline.
    pub crlf: bool,
}

/// A searcher with ripgrep's settings for files found in a folder.
pub fn searcher(multi_line: bool, options: SearchOptions) -> Searcher {
    builder(options).multi_line(multi_line).build()
}

/// A searcher of a file's bytes as they are, without decoding.
pub fn searcher_of_bytes(options: SearchOptions) -> Searcher {
    let none = BinaryDetection::none();
    builder(options).multi_line(true).bom_sniffing(false).binary_detection(none).build()
}

fn builder(options: SearchOptions) -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    builder
        .line_number(options.numbered)
        .invert_match(options.inverted)
        .max_matches(options.max_matches)
        .passthru(options.passthru)
        .binary_detection(BinaryDetection::quit(0))
        .before_context(options.before)
        .after_context(options.after);
    if options.crlf {
        builder.line_terminator(LineTerminator::crlf());
    }
    builder
}

/// Searches a file, and passes the matches to a sink.
pub fn search_file<S: Sink>(
    searcher: &mut Searcher,
    matcher: impl grep_matcher::Matcher,
    file: &FileView<'_>,
    sink: S,
) -> Result<(), S::Error> {
    match file.has_nul() {
        // ripgrep reads files in buffers, and keeps matches before the buffer with the first NUL byte. A searcher with
        // a buffer grown by a long line would differ, so a new one is used.
        true => {
            let options = SearchOptions {
                before: searcher.before_context(),
                after: searcher.after_context(),
                numbered: searcher.line_number(),
                inverted: searcher.invert_match(),
                max_matches: searcher.max_matches(),
                passthru: searcher.passthru(),
                crlf: searcher.line_terminator().is_crlf(),
            };
            let mut fresh = self::searcher(searcher.multi_line(), options);
            fresh.search_reader(matcher, file.content(), sink)
        }
        false => searcher.search_slice(matcher, file.content(), sink),
    }
}

/// Passes the matches of each file, with `context` lines around each, to `take` until it returns false. Only the first
/// `texts` matches of a file carry their text, because the others are not shown.
pub fn search_text<'a>(
    candidates: impl Iterator<Item = FileView<'a>>,
    matcher: &Matcher,
    context: usize,
    texts: usize,
    limits: Limits<'_>,
    take: &mut dyn FnMut(FileView<'a>, Vec<LineHit>) -> bool,
) -> Outcome {
    let options = SearchOptions { before: context, after: context, numbered: true, ..SearchOptions::default() };
    let make = || searcher(matcher.multi_line, options);
    let look = |searcher: &mut Searcher, file: &FileView<'_>| hits(searcher, matcher, file, texts);
    scan(candidates, limits, make, look, &mut |file, hits| hits.is_empty() || take(file, hits))
}

/// The matching lines of a file.
fn hits(searcher: &mut Searcher, matcher: &Matcher, file: &FileView<'_>, texts: usize) -> Vec<LineHit> {
    let mut collect = Collect { hits: Vec::new(), before: Vec::new(), texts };
    // Reading a slice cannot fail, and the sink never does.
    let _ = search_file(searcher, matcher.regex(), file, &mut collect);
    collect.hits
}

/// Collects matching lines.
struct Collect {
    hits: Vec<LineHit>,
    before: Vec<Vec<u8>>,
    texts: usize,
}

impl Sink for Collect {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let text = if self.hits.len() < self.texts { line(found.bytes()) } else { Vec::new() };
        let before = std::mem::take(&mut self.before);
        let (first, lines) = (found.line_number().unwrap_or(0), found.lines().count() as u64);
        self.hits.push(LineHit { line: first, lines, text, before, after: Vec::new() });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, Self::Error> {
        if self.hits.len() > self.texts {
            return Ok(true);
        }
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
    file.symbols().rev().find(|symbol| (u64::from(symbol.first_line())..=u64::from(symbol.end_line())).contains(&line))
}
