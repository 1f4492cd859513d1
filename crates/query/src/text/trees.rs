//! Syntax trees for a search: parsed with a time limit, and measured before recursion.

use std::borrow::Cow;

use ast_grep_core::matcher::PatternBuilder;
use ast_grep_core::source::{Doc, Edit};
use ast_grep_core::{Language, Pattern, PatternError};
use tree_sitter::{Node, Range};

use codelode_base::allocator::held_by_parsing;
use codelode_lang::extract::with_stack_for;
use codelode_lang::languages::{Budget, LanguageSpec, Limits};
use codelode_lang::parsing::{self, SyntaxTree, most_for};

/// Whether it is time to stop.
pub type IsOver<'a> = &'a (dyn Fn() -> bool + Sync);

/// Parses a text; `None` if time or memory ran out.
pub(super) fn parse(text: &str, spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Option<SyntaxTree> {
    parse_pieces(text, &[], spec, is_over)
}

/// Like [`parse`], with the limits that indexing has for a text of this size.
pub(super) fn parse_as_indexed(text: &str, spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Option<SyntaxTree> {
    let parse = || {
        let (budget, before) = (Budget::new(text.len(), &Limits::default()), held_by_parsing());
        let goes_on = |held: usize, steps: usize| budget.step(held.saturating_sub(before), steps) && !is_over();
        parsing::parse(&spec.language()?, &spec.sanitized(text.as_bytes()), &[], most_for(text.len()), &goes_on)
    };
    with_stack_for(text.len(), parse).flatten()
}

/// Parses only these parts of a text; all of it if none is given.
pub(super) fn parse_pieces(
    text: &str,
    pieces: &[Range],
    spec: &'static LanguageSpec,
    is_over: IsOver<'_>,
) -> Option<SyntaxTree> {
    let parse = || {
        let before = held_by_parsing();
        let most = most_for(text.len());
        let goes_on = |held: usize, _: usize| held.saturating_sub(before) <= most && !is_over();
        parsing::parse(&spec.language()?, &spec.sanitized(text.as_bytes()), pieces, most, &goes_on)
    };
    with_stack_for(text.len(), parse).flatten()
}

/// A language as ast-grep needs it.
#[derive(Clone)]
pub(super) struct Grammar(pub &'static LanguageSpec);

impl Grammar {
    /// The grammar itself.
    pub fn language(&self) -> tree_sitter::Language {
        self.0.language().expect("only languages with a grammar are numbered")
    }
}

impl Language for Grammar {
    fn expando_char(&self) -> char {
        self.0.syntax.sigil
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.language().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.language().field_id_for_name(field).map(Into::into)
    }

    fn build_pattern(&self, builder: &PatternBuilder<'_>) -> Result<Pattern, PatternError> {
        builder.build(|source| {
            let tree = parse(source, self.0, &|| false).ok_or("it takes too much memory")?;
            Ok(Code { source: source.to_owned(), grammar: self.clone(), tree })
        })
    }
}

/// A text with its tree as ast-grep needs them.
#[derive(Clone)]
pub(super) struct Code {
    pub source: String,
    pub grammar: Grammar,
    pub tree: SyntaxTree,
}

impl Doc for Code {
    type Source = String;
    type Lang = Grammar;
    type Node<'r> = Node<'r>;

    fn get_lang(&self) -> &Grammar {
        &self.grammar
    }

    fn get_source(&self) -> &String {
        &self.source
    }

    fn do_edit(&mut self, _: &Edit<String>) -> Result<(), String> {
        Err("searched texts are not edited".to_owned())
    }

    fn root_node(&self) -> Node<'_> {
        self.tree.root_node()
    }

    fn get_node_text<'a>(&'a self, node: &Node<'a>) -> Cow<'a, str> {
        self.source.get(node.byte_range()).unwrap_or_default().into()
    }
}

/// Whether a tree has nodes below more than `most` others.
pub(super) fn is_deeper(root: Node<'_>, most: usize) -> bool {
    if root.descendant_count() <= most {
        return false;
    }
    let (mut cursor, mut depth) = (root.walk(), 0);
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > most {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}
