//! Code of a shape: patterns written as code with `$NAME` for anything and `$$$REST` for any number of things, raw
//! tree-sitter queries, and well-known smells. Trees are made while searching, of the files that hold the pattern's words.

use std::sync::OnceLock;

use ast_grep_core::matcher::PatternBuilder;
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use ast_grep_core::{Language, NodeMatch, Pattern, PatternError};
use tree_sitter::{Node, Query, QueryCursor, StreamingIterator};

use super::sexp::query_needs;
use crate::languages::{LANGUAGES, LanguageSpec, Rule, SMELLS, of_file};
use crate::store::{FileView, GramQuery};

/// Branches and loops this deep are a smell.
const DEEP: usize = 5;
/// Words of a pattern that are shorter say little of where it may match.
const SHORTEST_WORD: usize = 3;
/// More matches in a file are not listed.
const MOST_IN_FILE: usize = 10_000;

/// Something that matches.
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
    /// What each name stands for, in the order of names; several nodes are written as they stand, with what lies between.
    pub captures: Vec<(String, String)>,
}

/// A pattern, a query or a smell, made ready for a language when the first file of that is met.
pub struct SyntaxQuery {
    wanted: Wanted,
    /// By the language's place in [`LANGUAGES`]; nothing for one that cannot read it.
    finders: Vec<(u8, OnceLock<Option<Finder>>)>,
    /// What a file must hold to be looked into.
    pub grams: GramQuery,
}

enum Wanted {
    Code(String),
    Query(String),
    Smell(String),
}

enum Finder {
    Pattern(Box<Pattern>),
    Query(Box<Query>),
    Nesting,
}

impl Wanted {
    fn finder(&self, spec: &'static LanguageSpec) -> Result<Finder, String> {
        let query = |text: &str| {
            let query = Query::new(&Grammar(spec).get_ts_language(), text).map_err(|err| err.to_string())?;
            Ok(Finder::Query(Box::new(query)))
        };
        match self {
            Self::Code(pattern) => Ok(Finder::Pattern(Box::new(code(pattern, spec)?))),
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
    /// Code with `$NAME` and `$$$REST`, or a tree-sitter query, in one language or in every one that can read it.
    pub fn new(pattern: &str, language: Option<&str>) -> Result<Self, String> {
        // Every query is in parentheses, brackets or quotes; code may be, too. A query somewhere is no code elsewhere.
        if pattern.trim_start().starts_with(['(', '['])
            && let Ok(query) = Self::ready(Wanted::Query(pattern.to_owned()), language, query_needs)
        {
            return Ok(query);
        }
        Self::ready(Wanted::Code(pattern.to_owned()), language, words)
    }

    /// One of [`SMELLS`].
    pub fn smell(name: &str, language: Option<&str>) -> Result<Self, String> {
        if !SMELLS.iter().any(|(smell, _)| *smell == name) {
            return Err(format!("no smell is called {name}"));
        }
        let mut query = Self::ready(Wanted::Smell(name.to_owned()), language, |_| GramQuery::All)?;
        if name != "deep_nesting" {
            let queries = numbered(language).flat_map(|(_, spec)| spec.syntax.smells.iter());
            query.grams = GramQuery::or(queries.filter(|(smell, _)| *smell == name).map(|(_, text)| query_needs(text)));
        }
        Ok(query)
    }

    /// Makes a query ready for the first language that can read it; none can: an error.
    fn ready(wanted: Wanted, language: Option<&str>, needs: fn(&str) -> GramQuery) -> Result<Self, String> {
        let mut refused = "no such language".to_owned();
        let mut finders: Vec<_> = numbered(language).map(|(number, _)| (number, OnceLock::new())).collect();
        for ((_, spec), (_, ready)) in numbered(language).zip(&mut finders) {
            let finder = wanted.finder(spec);
            let is_ready = finder.is_ok();
            *ready = OnceLock::from(finder.map_err(|err| refused = err).ok());
            if is_ready {
                let (Wanted::Code(text) | Wanted::Query(text) | Wanted::Smell(text)) = &wanted;
                return Ok(Self { grams: needs(text), wanted, finders });
            }
        }
        Err(refused)
    }

    /// Whether a file is in a language that is looked for.
    pub fn reads(&self, file: &FileView<'_>) -> bool {
        !file.given_up() && self.finder(file).is_some()
    }

    fn finder(&self, file: &FileView<'_>) -> Option<(&'static LanguageSpec, &Finder)> {
        let (number, spec) = of_file(file.path(), file.content())?;
        let (_, finder) = self.finders.iter().find(|(other, _)| *other == number)?;
        Some((spec, finder.get_or_init(|| self.wanted.finder(spec).ok()).as_ref()?))
    }

    /// What matches in a file, by where it begins.
    pub fn find(&self, file: &FileView<'_>) -> Vec<SyntaxHit> {
        let Some((spec, finder)) = self.finder(file) else { return Vec::new() };
        let text = readable(file.content());
        let Ok(doc) = StrDoc::try_new(&text, Grammar(spec)) else { return Vec::new() };
        let root = ast_grep_core::AstGrep::doc(doc);
        let mut hits = match finder {
            Finder::Pattern(pattern) => {
                root.root().find_all(&**pattern).take(MOST_IN_FILE).map(|found| of_match(&text, &found)).collect()
            }
            Finder::Query(query) => queried(query, root.root().get_inner_node(), &text),
            Finder::Nesting => nested(spec, root.root().get_inner_node()),
        };
        hits.sort_by_key(|hit| (hit.start, hit.end));
        hits.dedup();
        hits
    }
}

/// The languages of that name, or all, by their places.
fn numbered(language: Option<&str>) -> impl Iterator<Item = (u8, &'static LanguageSpec)> {
    let all = LANGUAGES.iter().enumerate().map(|(number, spec)| (number as u8, *spec));
    all.filter(move |(_, spec)| spec.is_built() && language.is_none_or(|language| spec.id == language))
}

/// A language as ast-grep wants it.
#[derive(Clone)]
struct Grammar(&'static LanguageSpec);

impl Language for Grammar {
    fn expando_char(&self) -> char {
        self.0.syntax.sigil
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.get_ts_language().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.get_ts_language().field_id_for_name(field).map(Into::into)
    }

    fn build_pattern(&self, builder: &PatternBuilder<'_>) -> Result<Pattern, PatternError> {
        builder.build(|source| StrDoc::try_new(source, self.clone()))
    }
}

impl LanguageExt for Grammar {
    fn get_ts_language(&self) -> TSLanguage {
        self.0.language().expect("only languages with a grammar are numbered")
    }
}

/// A pattern that is code: by itself, or within what the language wants around it.
fn code(pattern: &str, spec: &'static LanguageSpec) -> Result<Pattern, String> {
    let source = with_sigil(pattern.trim(), spec.syntax.sigil);
    if source.is_empty() {
        return Err("the pattern is empty".to_owned());
    }
    let contexts = std::iter::once(&("", "")).chain(spec.syntax.contexts);
    for (before, after) in contexts {
        let whole = format!("{before}{source}{after}");
        let root = ast_grep_core::AstGrep::doc(StrDoc::try_new(&whole, Grammar(spec))?);
        let tree = root.root().get_inner_node();
        if tree.has_error() && is_broken(tree, &whole, spec) {
            continue;
        }
        let (start, end) = (before.len(), before.len() + source.len());
        let Some(mut node) = tree.descendant_for_byte_range(start, end) else { continue };
        // The innermost node that is all of the pattern and nothing else; a lone statement is what it holds.
        if (node.start_byte(), node.end_byte()) != (start, end) {
            continue;
        }
        while node.child_count() == 1 {
            let Some(child) = node.child(0).filter(|child| child.byte_range() == node.byte_range()) else { break };
            node = child;
        }
        return Ok(Pattern::from(root.adopt(node)));
    }
    Err("the pattern is no single piece of code; write one expression, statement or definition".to_owned())
}

/// Whether there is something that the grammar could not read, beside a variable that would have to be a statement with a
/// semicolon.
fn is_broken(node: Node<'_>, text: &str, spec: &'static LanguageSpec) -> bool {
    let is_variable = || {
        let text = text.get(node.byte_range()).unwrap_or_default();
        text.starts_with(spec.syntax.sigil) && Grammar(spec).extract_meta_var(text).is_some()
    };
    let is_at_fault = (node.is_error() && !is_variable()) || (node.is_missing() && node.kind() != ";");
    is_at_fault || (0..node.child_count()).filter_map(|at| node.child(at)).any(|child| is_broken(child, text, spec))
}

/// The pattern with its `$` as the language can read it.
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

/// The words that stand in every match: all of a pattern's but the names of what may be anything.
fn words(pattern: &str) -> GramQuery {
    let is_word = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
    let all = pattern.split(|char| !is_word(char)).filter(|word| !word.contains('$') && word.len() >= SHORTEST_WORD);
    GramQuery::and(all.map(|word| GramQuery::literal(word.as_bytes())))
}

/// The text with every byte that is no UTF-8 replaced by one that is, so that places stay.
fn readable(content: &[u8]) -> String {
    let mut text = String::with_capacity(content.len());
    for chunk in content.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

fn hit(node: Node<'_>, captures: Vec<(String, String)>) -> SyntaxHit {
    let (line, end_line) = (node.start_position().row as u64 + 1, node.end_position().row as u64 + 1);
    // A node that ends with a newline does not reach into the line behind it.
    let end_line = if node.end_position().column == 0 { end_line.saturating_sub(1).max(line) } else { end_line };
    SyntaxHit { start: node.start_byte(), end: node.end_byte(), line, end_line, captures }
}

fn of_match(text: &str, found: &NodeMatch<'_, StrDoc<Grammar>>) -> SyntaxHit {
    let env = found.get_env();
    let mut captures: Vec<(String, String)> = env
        .get_matched_variables()
        .filter_map(|variable| match variable {
            MetaVariable::Capture(name, _) => {
                let text = env.get_match(&name)?.text().into_owned();
                Some((name, text))
            }
            MetaVariable::MultiCapture(name) => {
                let nodes = env.get_multiple_matches(&name);
                let range = nodes.first().map(|node| node.range().start).zip(nodes.last().map(|node| node.range().end));
                let text = range.and_then(|(start, end)| text.get(start..end)).unwrap_or_default();
                Some((name, text.to_owned()))
            }
            _ => None,
        })
        .collect();
    captures.sort();
    hit(found.get_node().get_inner_node(), captures)
}

/// The matches of a query. What is called `match` is the match, else all that is captured.
fn queried(query: &Query, root: Node<'_>, text: &str) -> Vec<SyntaxHit> {
    let names = query.capture_names();
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(query, root, text.as_bytes());
    let mut hits = Vec::new();
    while let Some(found) = matches.next() {
        let named = |capture: &&tree_sitter::QueryCapture<'_>| names[capture.index as usize] == "match";
        let widest = || found.captures().iter().max_by_key(|capture| capture.node.byte_range().len());
        let Some(whole) = found.captures().iter().find(named).or_else(widest) else { continue };
        let captures = found.captures().iter().filter(|capture| !named(capture)).map(|capture| {
            let text = text.get(capture.node.byte_range()).unwrap_or_default();
            (names[capture.index as usize].to_owned(), text.to_owned())
        });
        hits.push(hit(whole.node, captures.collect()));
        if hits.len() == MOST_IN_FILE {
            break;
        }
    }
    hits
}

/// The branches and loops at which nesting becomes deep.
fn nested(spec: &'static LanguageSpec, root: Node<'_>) -> Vec<SyntaxHit> {
    let table = spec.table();
    let mut hits = Vec::new();
    let mut cursor = root.walk();
    // For each node above the current one: whether it branches.
    let mut above: Vec<bool> = Vec::new();
    loop {
        let node = cursor.node();
        let is_branch = node.is_named() && matches!(table.get(node.kind_id() as usize), Some(Rule::Branch));
        // An `else if` is as deep as its `if`.
        let goes_on = cursor.field_name() == Some("alternative")
            || node.parent().is_some_and(|parent| parent.kind() == "else_clause");
        let counts = is_branch && !goes_on;
        if counts && above.iter().filter(|branch| **branch).count() + 1 == DEEP {
            hits.push(hit(node, Vec::new()));
        }
        if cursor.goto_first_child() {
            above.push(counts);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return hits;
            }
            above.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use tree_sitter::Query;

    use super::{Grammar, LanguageExt as _, code, with_sigil};
    use crate::languages::{LANGUAGES, SMELLS, of_id};

    #[test]
    fn every_smell_can_be_looked_for() {
        for spec in LANGUAGES {
            for (name, query) in spec.syntax.smells {
                assert!(SMELLS.iter().any(|(smell, _)| smell == name), "{name} is not in SMELLS");
                let query = Query::new(&Grammar(spec).get_ts_language(), query);
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
            ("java", &["System.out.println($A)", "$A.equals($B)", "return $A;", "void $F() { $$$ }"]),
        ] {
            let (_, spec) = of_id(language).expect("it is a language");
            for pattern in patterns {
                assert!(code(pattern, spec).is_ok(), "{language}: {pattern}");
            }
        }
    }
}
