//! Structural search: patterns written as code with `$NAME` for any node and `$$$REST` for any number of nodes, raw
//! tree-sitter queries, and well-known smells. Files that contain the pattern's words are parsed during the search.

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ast_grep_core::matcher::{MatcherExt, PatternNode};
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::{AstGrep, Language, NodeMatch, Pattern};
use memchr::memmem;
use tree_sitter::{Node, Query, QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator};

use super::calls::{Form, forms, kinds_of};
use super::chains::{Chain, chains};
use super::pieces::{CutPoint, cuts, pieces};
use super::sexp::{ParsedQuery, query_needs, reading};
use super::share::Share;
pub use super::trees::IsOver;
use super::trees::{Code, Grammar, is_deeper, parse, parse_pieces};
use codelode_lang::languages::{LANGUAGES, LanguageSpec, Rule, SMELLS};
use codelode_lang::parsing::SyntaxTree;
use codelode_store::{FileView, GramQuery};

/// The most characters of a pattern in an error.
const LONGEST_SHOWN: usize = 40;
/// The depth of nested branches and loops that is a smell.
const DEEP: usize = 5;
/// The shortest word of a pattern that is used to find files.
const SHORTEST_WORD: usize = 3;
/// The most matches listed per file, and the most captures.
const MOST_IN_FILE: usize = 10_000;
const MOST_CAPTURES: usize = 100_000;
/// The deepest pattern, because comparing patterns is recursive.
const DEEPEST_PATTERN: usize = 200;
/// The longest time for parsing a pattern, in all languages.
const READING: Duration = Duration::from_secs(1);
/// Trees deeper than this are not queried: tree-sitter counts levels in sixteen bits and aborts beyond.
const DEEPEST_QUERIED: usize = 65_000;
/// The most unfinished matches of a query; beyond that, tree-sitter drops the oldest.
const MOST_UNDER_WAY: u32 = 256;
/// The deepest tree whose variables are compared on the thread's own stack. Comparison is recursive, so deeper trees
/// get a stack for the deepest allowed tree.
const SHALLOW: usize = 250;
const DEEPEST_COMPARED: usize = 10_000;
const STACK_PER_LEVEL: usize = 6_000;
/// Nodes between two checks of the time.
const NODES_BETWEEN_LOOKS: usize = 64;

/// A match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxHit {
    /// First byte in the file.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// First line, from one.
    pub line: u64,
    /// Last line.
    pub end_line: u64,
    /// The captures by name, as ranges in the file; several nodes include the text between them.
    pub captures: Vec<(String, Range<usize>)>,
}

/// Matches of one file.
#[derive(Debug, Default)]
pub struct Found {
    /// By their beginning.
    pub hits: Vec<SyntaxHit>,
    /// Whether matches may be missing: time ran out, there were too many, or the tree is too deep.
    pub is_cut: bool,
}

/// A pattern, a query or a smell. It is compiled for each language at the first file in it.
pub struct SyntaxQuery {
    wanted: Wanted,
    /// By index in [`LANGUAGES`]; empty for languages that cannot parse it.
    finders: Vec<(u8, OnceLock<Option<Finder>>)>,
    /// Grams that a file must contain to be parsed.
    pub grams: GramQuery,
    /// Words in every match. They are checked, because a file may have a word's grams without the word.
    words: Vec<memmem::Finder<'static>>,
    /// Chains in every match.
    chains: Vec<Chain>,
}

enum Wanted {
    Code(String),
    Query(String),
    Smell(String),
}

enum Finder {
    Pattern {
        /// With type arguments of calls, and without.
        forms: Vec<Form>,
        /// Whether a variable occurs twice.
        compares: bool,
        /// Whether it may match a whole file.
        is_of_file: bool,
        /// Whether a match inside a class always lies within one member.
        is_in_members: bool,
    },
    Query(Box<Query>),
    Nesting,
}

impl Wanted {
    fn finder(&self, spec: &'static LanguageSpec) -> Result<Finder, String> {
        let query = |text: &str| {
            let query = Query::new(&Grammar(spec).language(), text).map_err(|err| err.to_string())?;
            Ok(Finder::Query(Box::new(query)))
        };
        match self {
            Self::Code(pattern) => {
                let until = Instant::now() + READING;
                let is_over = || Instant::now() >= until;
                let pattern = code(pattern, spec, &is_over)?;
                let compares = has_twice(&pattern.node, &mut HashSet::new());
                let sample = spec.syntax.typed_call.and_then(|sample| code(sample, spec, &is_over).ok());
                let forms = forms(pattern, sample.as_ref().map(|sample| &sample.node));
                let root = parse("", spec, &|| false).map(|tree| usize::from(tree.root_node().kind_id()));
                let kinds = kinds_of(&forms);
                let is_of_file = match (&kinds, root) {
                    (Some(kinds), Some(root)) => kinds.contains(&root),
                    _ => true,
                };
                let around = spec.syntax.around_members;
                let id = |kind: &str| usize::from(Grammar(spec).kind_to_id(kind));
                let is_in_members = !around.is_empty()
                    && kinds.is_some_and(|kinds| around.iter().map(|kind| id(kind)).all(|id| !kinds.contains(&id)));
                Ok(Finder::Pattern { forms, compares, is_of_file, is_in_members })
            }
            Self::Query(text) => query(text),
            Self::Smell(name) if name == "deep_nesting" => Ok(Finder::Nesting),
            Self::Smell(name) => match spec.syntax.smells.iter().find(|(smell, _)| smell == name) {
                Some((_, text)) => query(text),
                None => Err(format!("{name} is not known there")),
            },
        }
    }
}

impl SyntaxQuery {
    /// Compiles code with `$NAME` and `$$$REST`, or a tree-sitter query, for `language` or for every one that can parse
    /// it. Fails with the reason if none can.
    pub fn new(pattern: &str, language: Option<&str>) -> Result<Self, String> {
        // Every query begins with a parenthesis or bracket, but so may code. A query in one language is never tried as
        // code in another.
        let (may_be_query, too_much) = match pattern.trim_start().starts_with(['(', '[']).then(|| reading(pattern)) {
            Some(ParsedQuery::TooMuch(problem)) => (false, Some(problem)),
            Some(ParsedQuery::Query) => (true, None),
            Some(ParsedQuery::Nothing) | None => (false, None),
        };
        if may_be_query && let Ok(query) = Self::ready(Wanted::Query(pattern.to_owned()), language, query_needs) {
            return Ok(query);
        }
        let needs = |pattern: &str| GramQuery::and(words(pattern).map(|word| GramQuery::literal(word.as_bytes())));
        let mut query = match Self::ready(Wanted::Code(pattern.to_owned()), language, needs) {
            Err(problem) if too_much.is_some() => return Err(too_much.unwrap_or(problem)),
            // The error depends on the languages of the repository, see `check`.
            Err(_) if language.is_none() => Self::unread(pattern),
            ready => ready?,
        };
        query.chains = chains(pattern);
        query.words = words(pattern).map(|word| memmem::Finder::new(word).into_owned()).collect();
        Ok(query)
    }

    /// A query for one of [`SMELLS`]. Fails if there is no such smell.
    pub fn smell(name: &str, language: Option<&str>) -> Result<Self, String> {
        if !SMELLS.iter().any(|(smell, _)| *smell == name) {
            return Err(format!("there is no smell {name}"));
        }
        let mut query = Self::ready(Wanted::Smell(name.to_owned()), language, |_| GramQuery::All)?;
        if name != "deep_nesting" {
            let queries = numbered(language).flat_map(|(_, spec)| spec.syntax.smells.iter());
            query.grams = GramQuery::or(queries.filter(|(smell, _)| *smell == name).map(|(_, text)| query_needs(text)));
        }
        Ok(query)
    }

    /// Compiles for the first language that can parse it; the others follow on demand. Fails if none can.
    fn ready(wanted: Wanted, language: Option<&str>, needs: fn(&str) -> GramQuery) -> Result<Self, String> {
        let mut refused = "no such language".to_owned();
        let mut finders: Vec<_> = numbered(language).map(|(number, _)| (number, OnceLock::new())).collect();
        for ((_, spec), (_, ready)) in numbered(language).zip(&mut finders) {
            let finder = wanted.finder(spec);
            let is_ready = finder.is_ok();
            *ready = OnceLock::from(finder.map_err(|err| refused = err).ok());
            if is_ready {
                let (Wanted::Code(text) | Wanted::Query(text) | Wanted::Smell(text)) = &wanted;
                return Ok(Self { grams: needs(text), wanted, finders, words: Vec::new(), chains: Vec::new() });
            }
        }
        Err(refused)
    }

    /// A pattern that no language can parse.
    fn unread(pattern: &str) -> Self {
        let finders = numbered(None).map(|(number, _)| (number, OnceLock::from(None))).collect();
        let wanted = Wanted::Code(pattern.to_owned());
        Self { grams: GramQuery::All, wanted, finders, words: Vec::new(), chains: Vec::new() }
    }

    /// Checks that one of the present languages, given with their numbers of files, can parse the pattern. The error is
    /// about the language with most files.
    pub fn check(&self, present: &BTreeMap<String, u64>) -> Result<(), String> {
        if matches!(self.wanted, Wanted::Smell(_)) {
            return Ok(());
        }
        let is_read_by = |number: u8| self.finder(number).is_some();
        let searched = || numbered(None).filter(|(number, _)| self.finders.iter().any(|(other, _)| other == number));
        let files = |spec: &LanguageSpec| present.get(spec.id).copied().unwrap_or(0);
        let is_here = |(_, spec): &(u8, &LanguageSpec)| files(spec) > 0;
        let mut asked = searched().filter(is_here).peekable();
        // If no file is in any of these languages, any language that can parse the pattern is enough.
        let is_read = match asked.peek().is_some() {
            true => asked.any(|(number, _)| is_read_by(number)),
            false => searched().any(|(number, _)| is_read_by(number)),
        };
        let most = searched().max_by_key(|(number, spec)| (files(spec), std::cmp::Reverse(*number)));
        match most.filter(|_| !is_read) {
            Some((_, spec)) => self.wanted.finder(spec).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Whether a file is in a searched language.
    pub fn reads(&self, file: &FileView<'_>) -> bool {
        !file.given_up() && file.language_number().is_some_and(|number| self.finder(number).is_some())
    }

    /// Whether a text contains all words and chains of the pattern.
    fn may_match(&self, text: &[u8]) -> bool {
        self.words.iter().all(|word| stands_in(word, text)) && self.chains.iter().all(|chain| chain.may_stand_in(text))
    }

    fn finder(&self, number: u8) -> Option<(&'static LanguageSpec, &Finder)> {
        let spec = LANGUAGES.get(usize::from(number))?;
        let (_, finder) = self.finders.iter().find(|(other, _)| *other == number)?;
        Some((spec, finder.get_or_init(|| self.wanted.finder(spec).ok()).as_ref()?))
    }

    /// Matches in a file; cut short when `is_over` returns true.
    pub fn find(&self, file: &FileView<'_>, is_over: IsOver<'_>) -> Found {
        let Some(number) = file.language_number() else { return Found::default() };
        self.find_between(number, file.content(), &|members| cuts(file, members), is_over)
    }

    /// Matches in a text, by its language's index in [`LANGUAGES`]; cut short when `is_over` returns true.
    pub fn find_in(&self, number: u8, content: &[u8], is_over: IsOver<'_>) -> Found {
        self.find_between(number, content, &|_| Vec::new(), is_over)
    }

    /// Matches in a text that may be cut into pieces. Only pieces that may match are parsed. `cuts` returns the cut
    /// points, with class members or without.
    pub(super) fn find_between(
        &self,
        number: u8,
        content: &[u8],
        cuts: &dyn Fn(bool) -> Vec<CutPoint>,
        is_over: IsOver<'_>,
    ) -> Found {
        let Some((spec, finder)) = self.finder(number) else { return Found::default() };
        if !self.may_match(content) {
            return Found::default();
        }
        let text = readable(content);
        let cut = || Found { hits: Vec::new(), is_cut: true };
        let Some(_share) = Share::of(text.len(), is_over) else { return cut() };
        let pieces = match finder {
            Finder::Pattern { is_of_file: false, is_in_members, .. } if !self.words.is_empty() => {
                pieces(content, &cuts(*is_in_members), |piece| self.may_match(piece))
            }
            _ => None,
        };
        let whole = || parse(&text, spec, is_over);
        let tree = match pieces.as_deref() {
            None => whole(),
            Some([]) => return Found::default(),
            // An error shows that a piece cannot be parsed alone.
            Some(pieces) => match parse_pieces(&text, pieces, spec, is_over) {
                Some(tree) if tree.root_node().has_error() => whole(),
                tree => tree,
            },
        };
        let Some(tree) = tree else { return cut() };
        let mut found = match finder {
            Finder::Pattern { forms, compares: true, .. } if is_deeper(tree.root_node(), SHALLOW) => {
                match is_deeper(tree.root_node(), DEEPEST_COMPARED) {
                    true => cut(),
                    false => on_large_stack(|| matched(forms, text, tree, spec, is_over)).unwrap_or_else(cut),
                }
            }
            Finder::Pattern { forms, .. } => matched(forms, text, tree, spec, is_over),
            Finder::Query(_) if is_deeper(tree.root_node(), DEEPEST_QUERIED) => cut(),
            Finder::Query(query) => queried(query, tree.root_node(), &text, is_over),
            Finder::Nesting => nested(spec, tree.root_node(), is_over),
        };
        found.hits.sort_by_key(|hit| (hit.start, hit.end));
        found.hits.dedup();
        found
    }
}

/// The built languages of that name, by index; without a name all but document languages, which accept any text.
fn numbered(language: Option<&str>) -> impl Iterator<Item = (u8, &'static LanguageSpec)> {
    let all = LANGUAGES.iter().enumerate().map(|(number, spec)| (number as u8, *spec));
    let is_meant = move |spec: &LanguageSpec| language.map_or(!spec.is_document, |language| spec.id == language);
    all.filter(move |(_, spec)| spec.is_built() && is_meant(spec))
}

/// Parses a pattern of code, on its own or in one of the language's contexts.
fn code(pattern: &str, spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Result<Pattern, String> {
    let source = with_sigil(pattern.trim(), spec.syntax.sigil);
    if source.is_empty() {
        return Err("the pattern is empty".to_owned());
    }
    let contexts = [("", ""), ("", "\n")].iter().chain(spec.syntax.contexts);
    let mut fault: Option<Fault> = None;
    for (before, after) in contexts {
        let whole = format!("{before}{source}{after}");
        let tree = parse(&whole, spec, is_over).ok_or("the pattern takes too long to read")?;
        if is_deeper(tree.root_node(), DEEPEST_PATTERN) {
            return Err(format!("the pattern is nested deeper than {DEEPEST_PATTERN} levels"));
        }
        let root = AstGrep::doc(Code { source: whole.clone(), grammar: Grammar(spec), tree });
        let tree = root.root().get_inner_node();
        let (start, end) = (before.len(), before.len() + source.len());
        if tree.has_error()
            && let Some(broken) = first_broken(tree, &whole, spec)
        {
            // The context that gets furthest explains the fault best.
            let found = Fault::of(broken, &whole, start..end);
            if fault.as_ref().is_none_or(|other| other.at < found.at) {
                fault = Some(found);
            }
            continue;
        }
        // Some grammars end statements at line breaks, and guess without one. No node shows that error.
        if tree.has_error() && !shows_fault(tree) {
            continue;
        }
        let Some(mut node) = tree.descendant_for_byte_range(start, end) else { continue };
        // The innermost node that spans exactly the pattern; a lone statement gives way to its content.
        if (node.start_byte(), node.end_byte()) != (start, end) {
            continue;
        }
        while node.child_count() == 1 {
            let Some(child) = node.child(0).filter(|child| child.byte_range() == node.byte_range()) else { break };
            node = child;
        }
        if spec.syntax.text.contains(&node.kind()) {
            continue;
        }
        let pattern = Pattern::from(root.adopt(node));
        // The library supports `$$$` only among the children of a node.
        return match pattern.node {
            PatternNode::MetaVar { meta_var: MetaVariable::Multiple } => {
                Err("`$$$` stands for nodes inside another; write the code around it".to_owned())
            }
            _ => Ok(pattern),
        };
    }
    let problem = fault.map_or_else(|| "it is not a single piece of code".to_owned(), |fault| fault.said(&source));
    Err(format!("{problem}, for {}; write one whole expression, statement or definition", spec.id))
}

/// The first part of a pattern that a grammar cannot read.
struct Fault {
    /// Its first byte in the pattern.
    at: usize,
    len: usize,
    /// The kind of a node that is missing there.
    missing: Option<String>,
}

impl Fault {
    /// The fault at a node of `whole`, in which the pattern has this range.
    fn of(node: Node<'_>, whole: &str, pattern: Range<usize>) -> Self {
        let inside = |at: usize| at.clamp(pattern.start, pattern.end) - pattern.start;
        let text = whole.get(node.byte_range()).unwrap_or_default();
        let blank = text.len() - text.trim_start().len();
        let at = inside(node.start_byte() + blank);
        let missing = node.is_missing().then(|| node.kind().to_owned());
        Self { at, len: inside(node.end_byte()).saturating_sub(at), missing }
    }

    fn said(&self, pattern: &str) -> String {
        let before = pattern.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let text: String =
            pattern.get(self.at..self.at + self.len).unwrap_or_default().chars().take(LONGEST_SHOWN).collect();
        match &self.missing {
            Some(kind) => format!("{kind:?} is missing at line {line}, column {column}"),
            None if text.is_empty() => format!("it ends too early, at line {line}, column {column}"),
            None => format!("line {line}, column {column} cannot be read: {text:?}"),
        }
    }
}

/// Whether a variable occurs more than once in a pattern, so that its nodes must be compared.
fn has_twice<'p>(node: &'p PatternNode, seen: &mut HashSet<&'p str>) -> bool {
    match node {
        PatternNode::MetaVar { meta_var: MetaVariable::Capture(name, _) | MetaVariable::MultiCapture(name) } => {
            !seen.insert(name)
        }
        PatternNode::Internal { children, .. } => children.iter().any(|child| has_twice(child, seen)),
        _ => false,
    }
}

/// Runs recursive work on a stack for the deepest allowed tree. `None` if there is no memory for it, or on a panic.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let stack = DEEPEST_COMPARED * STACK_PER_LEVEL;
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, work).ok()?.join().ok()
    })
}

/// The first node that the grammar failed to parse, except a variable or a missing semicolon.
fn first_broken<'t>(node: Node<'t>, text: &str, spec: &'static LanguageSpec) -> Option<Node<'t>> {
    let is_variable = || {
        let text = text.get(node.byte_range()).unwrap_or_default();
        text.starts_with(spec.syntax.sigil) && Grammar(spec).extract_meta_var(text).is_some()
    };
    if (node.is_error() && !is_variable()) || (node.is_missing() && node.kind() != ";") {
        return Some(node);
    }
    node.children(&mut node.walk()).find_map(|child| first_broken(child, text, spec))
}

/// Whether a node is, or contains, an error or a missing node.
fn shows_fault(node: Node<'_>) -> bool {
    node.is_error() || node.is_missing() || node.children(&mut node.walk()).any(shows_fault)
}

/// The pattern with a sign that the language can parse in place of `$`.
fn with_sigil(pattern: &str, sigil: char) -> String {
    let mut source = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        let after = from.trim_start_matches('$');
        let dollars = from.len() - after.len();
        let is_variable = dollars == 3 || after.starts_with(|char: char| char.is_ascii_uppercase() || char == '_');
        source.push_str(before);
        source.extend(std::iter::repeat_n(if is_variable { sigil } else { '$' }, dollars));
        rest = after;
    }
    source + rest
}

/// Whether a text contains a whole word.
fn stands_in(word: &memmem::Finder<'_>, text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_whole = |start: usize| {
        let before = start.checked_sub(1).and_then(|before| text.get(before));
        let after = text.get(start + word.needle().len());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    };
    word.find_iter(text).any(is_whole)
}

/// The words in every match: all words of the pattern except variable names.
fn words(pattern: &str) -> impl Iterator<Item = &str> {
    let is_word = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
    pattern.split(move |char| !is_word(char)).filter(|word| !word.contains('$') && word.len() >= SHORTEST_WORD)
}

/// The text with invalid UTF-8 replaced by bytes of the same length, so that positions stay.
fn readable(content: &[u8]) -> String {
    let mut text = String::with_capacity(content.len());
    for chunk in content.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

fn hit(node: Node<'_>, captures: Vec<(String, Range<usize>)>) -> SyntaxHit {
    let (line, end_line) = (node.start_position().row as u64 + 1, node.end_position().row as u64 + 1);
    // A node that ends with a newline does not include the next line.
    let end_line = if node.end_position().column == 0 { end_line.saturating_sub(1).max(line) } else { end_line };
    SyntaxHit { start: node.start_byte(), end: node.end_byte(), line, end_line, captures }
}

/// The matches of a pattern.
fn matched(forms: &[Form], text: String, tree: SyntaxTree, spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Found {
    let root = AstGrep::doc(Code { source: text, grammar: Grammar(spec), tree });
    let kinds = kinds_of(forms);
    let (mut found, mut captures) = (Found::default(), 0);
    for (place, node) in root.root().dfs().enumerate() {
        let is_full = found.hits.len() == MOST_IN_FILE || captures > MOST_CAPTURES;
        if is_full || (place % NODES_BETWEEN_LOOKS == 0 && is_over()) {
            found.is_cut = true;
            break;
        }
        if kinds.as_ref().is_some_and(|kinds| !kinds.contains(&node.kind_id().into())) {
            continue;
        }
        let form_at = |form: &Form| Some((form.is_awaited, form.pattern.match_node(node.clone())?));
        if let Some((is_awaited, matched)) = forms.iter().find_map(form_at) {
            let hit = of_match(&matched, is_awaited);
            captures += hit.captures.len();
            found.hits.push(hit);
        }
    }
    found
}

/// A match; `is_awaited` for one behind an `await` that the pattern does not have.
fn of_match(found: &NodeMatch<'_, Code>, is_awaited: bool) -> SyntaxHit {
    let env = found.get_env();
    let mut captures: Vec<(String, Range<usize>)> = env
        .get_matched_variables()
        .filter_map(|variable| match variable {
            MetaVariable::Capture(name, _) => {
                let range = env.get_match(&name)?.range();
                Some((name, range))
            }
            MetaVariable::MultiCapture(name) => {
                let nodes = env.get_multiple_matches(&name);
                let range = nodes.first().map(|node| node.range().start).zip(nodes.last().map(|node| node.range().end));
                Some((name, range.map_or(0..0, |(start, end)| start..end)))
            }
            _ => None,
        })
        .collect();
    captures.sort_by(|left, right| left.0.cmp(&right.0));
    let node = found.get_node().get_inner_node();
    let function = node.child(0).filter(|_| is_awaited).and_then(|awaited| awaited.named_child(0));
    let mut whole = hit(node, captures);
    if let Some(function) = function {
        (whole.start, whole.line) = (function.start_byte(), function.start_position().row as u64 + 1);
    }
    whole
}

/// The matches of a query: the capture `match`, or else the largest capture.
fn queried(query: &Query, root: Node<'_>, text: &str, is_over: IsOver<'_>) -> Found {
    let names = query.capture_names();
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(MOST_UNDER_WAY);
    let stopped = Cell::new(false);
    let mut goes_on = |_: &QueryCursorState| {
        stopped.set(stopped.get() || is_over());
        if stopped.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = QueryCursorOptions::new().progress_callback(&mut goes_on);
    let mut matches = cursor.matches_with_options(query, root, text.as_bytes(), options);
    let (mut hits, mut captured) = (Vec::new(), 0);
    while let Some(found) = matches.next() {
        let named = |capture: &&tree_sitter::QueryCapture<'_>| names[capture.index as usize] == "match";
        let widest = || found.captures().iter().max_by_key(|capture| capture.node.byte_range().len());
        let Some(whole) = found.captures().iter().find(named).or_else(widest) else { continue };
        let captures = found.captures().iter().filter(|capture| !named(capture));
        let captures: Vec<_> =
            captures.map(|capture| (names[capture.index as usize].to_owned(), capture.node.byte_range())).collect();
        captured += captures.len();
        hits.push(hit(whole.node, captures));
        if hits.len() == MOST_IN_FILE || captured > MOST_CAPTURES {
            stopped.set(true);
            break;
        }
    }
    drop(matches);
    Found { hits, is_cut: stopped.get() || cursor.did_exceed_match_limit() }
}

/// The branches and loops where nesting becomes too deep.
fn nested(spec: &'static LanguageSpec, root: Node<'_>, is_over: IsOver<'_>) -> Found {
    let table = spec.table();
    let mut found = Found::default();
    let mut cursor = root.walk();
    // For each ancestor: whether it branches, and whether it is an `else`. The second value counts the branches.
    let mut above: Vec<(bool, bool)> = Vec::new();
    let (mut branches, mut looked) = (0, 0_usize);
    loop {
        looked = looked.wrapping_add(1);
        if looked.is_multiple_of(NODES_BETWEEN_LOOKS) && is_over() || found.hits.len() == MOST_IN_FILE {
            found.is_cut = true;
            return found;
        }
        let node = cursor.node();
        let is_branch = node.is_named() && matches!(table.get(node.kind_id() as usize), Some(Rule::Branch));
        // An `else if` is as deep as its `if`.
        let goes_on =
            || cursor.field_name() == Some("alternative") || above.last().is_some_and(|(_, is_else)| *is_else);
        let counts = is_branch && !goes_on();
        if counts && branches + 1 == DEEP {
            found.hits.push(hit(node, Vec::new()));
        }
        if cursor.goto_first_child() {
            above.push((counts, node.kind() == "else_clause"));
            branches += usize::from(counts);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
            let (counted, _) = above.pop().unwrap_or_default();
            branches -= usize::from(counted);
        }
    }
}

#[cfg(test)]
mod tests {
    use tree_sitter::Query;

    use super::{Grammar, SyntaxQuery, code, with_sigil};
    use codelode_lang::languages::{LANGUAGES, SMELLS, of_id};
    use codelode_store::GramQuery;

    #[test]
    fn every_smell_can_be_looked_for() {
        for spec in LANGUAGES {
            for (name, query) in spec.syntax.smells {
                assert!(SMELLS.iter().any(|(smell, _)| smell == name), "{name} is not in SMELLS");
                let query = Query::new(&Grammar(spec).language(), query);
                assert!(
                    query.is_ok(),
                    "{} {name}: {}",
                    spec.id,
                    query.err().map(|err| err.to_string()).unwrap_or_default()
                );
            }
        }
    }

    #[test]
    fn variables_are_written_as_each_language_can_read_them() {
        assert_eq!(with_sigil("f($A, $$$REST, $$$, $b, a$)", 'µ'), "f(µA, µµµREST, µµµ, $b, a$)");
    }

    #[test]
    fn a_file_without_the_words_of_a_pattern_is_not_parsed() {
        let query = SyntaxQuery::new("request.user = $X", Some("python")).expect("it is a pattern");
        assert_eq!(query.grams, GramQuery::and(["request", "user"].map(|word| GramQuery::literal(word.as_bytes()))));
        let query = SyntaxQuery::new("$A = $B", Some("python")).expect("it is a pattern");
        assert_eq!(query.grams, GramQuery::All);
    }

    #[test]
    fn an_error_names_the_place_of_the_fault() {
        let said = |language: &str, pattern: &str| {
            let (_, spec) = of_id(language).expect("it is a language");
            code(pattern, spec, &|| false).err().unwrap_or_default()
        };
        assert!(said("python", "if (").contains("line 1, column 1"), "{}", said("python", "if ("));
        assert!(said("rust", "f($A,\n  g(").contains("line "), "{}", said("rust", "f($A,\n  g("));
        assert!(said("php", "if (").contains("column"), "{}", said("php", "if ("));
        assert!(said("php", "just some words").contains("for php"), "{}", said("php", "just some words"));
    }

    #[test]
    fn pieces_of_code_are_patterns() {
        for (language, patterns) in [
            ("python", &["print($A)", "$A == None", "def $F($$$): $$$", "except: pass"][..3]),
            (
                "javascript",
                &["console.log($$$)", "$A == null", "function $F($$$P) { $$$ }", "constructor($$$) { $$$ }"],
            ),
            ("typescript", &["const $A: $T = $B", "$A as any"]),
            ("go", &["fmt.Println($$$)", "if $E != nil { return $E }", "func $F($$$) { $$$ }", "x := $A"]),
            ("rust", &["$A.unwrap()", "let $A = $B;", "fn $F($$$) { $$$ }", "Err(_) => {}"]),
            ("php", &["foo($A)", "if ($A) { $$$ }", "$x->save($$$)", "public function $F() { $$$ }"]),
            ("java", &["System.out.println($A)", "$A.equals($B)", "return $A;", "void $F() { $$$ }"]),
        ] {
            let (_, spec) = of_id(language).expect("it is a language");
            for pattern in patterns {
                assert!(code(pattern, spec, &|| false).is_ok(), "{language}: {pattern}");
            }
        }
    }
}
