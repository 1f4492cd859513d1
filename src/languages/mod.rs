//! What differs between languages, as data: one folder each, one line each in [`LANGUAGES`].
//!
//! A [`LanguageSpec`] names the files it reads, its grammar, and what each kind of syntax node means ([`Rule`]). Most
//! kinds mean nothing and are walked through; the few that define something name a function that says what.
//! Nothing outside this room knows a language by name.

mod conventions;
mod definition;
mod doc;
pub mod go;
pub mod java;
pub mod javascript;
mod lower;
mod names;
pub mod python;
mod role;
pub mod rust;
mod smells;
pub mod typescript;

pub use conventions::{Conventions, Owner, Public, conventions};
pub use definition::{Cx, Definition, Place};
pub use doc::{clean_doc, first_sentence};
pub use lower::Lower;
pub use names::language_name;
pub use role::{exercises, is_beside, is_generated};
pub use smells::{SMELLS, Syntax};

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::facts::Semantics;

/// What a kind of syntax node means to whoever walks the tree.
#[derive(Clone, Copy)]
pub enum Rule {
    /// Nothing of interest, but its children may be.
    Walk,
    /// Nothing of interest inside either.
    Skip,
    /// Nothing of interest, and inside only when a look at its text says so.
    WalkIf(fn(&Cx<'_, '_>, Node<'_>) -> bool),
    /// One more way through the enclosing function.
    Branch,
    /// It may define symbols: the function looks and calls [`Cx::define`]. Its children are walked afterwards.
    Define(fn(&mut Cx<'_, '_>, Node<'_>)),
    /// Its children belong to the type whose name the function gives, though it is no definition: a Rust `impl`.
    Container(for<'t> fn(&Cx<'_, '_>, Node<'t>) -> Option<Node<'t>>),
    /// An attribute that stands before what it belongs to, as a sibling.
    Attribute,
    /// The text inside may be definitions again, which the grammar does not read (an item macro): the function gives the
    /// node to read once more as a file of its own, or defines what it can tell by itself.
    Embedded(for<'t> fn(&mut Cx<'_, '_>, Node<'t>) -> Option<Node<'t>>),
}

/// How a language's names are resolved: see [`crate::resolve`].
#[derive(Clone, Copy)]
pub struct Relating {
    /// Writes down what a file says about names, given the root of its tree.
    pub lower: for<'s, 't> fn(&mut Lower<'s, 't>, Node<'t>),
    /// How they are bound. Languages that name the same one are resolved together.
    pub semantics: &'static Semantics,
}

/// A language: which files are written in it and how they are read.
pub struct LanguageSpec {
    /// Its name in answers and filters.
    pub id: &'static str,
    /// File name endings, without the dot.
    pub extensions: &'static [&'static str],
    /// Whole file names that have no telling ending.
    pub file_names: &'static [&'static str],
    /// Programs whose name in a first line `#!…` tells the language.
    pub interpreters: &'static [&'static str],
    /// The grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// What its node kinds mean; those not named are [`Rule::Walk`]. Anonymous tokens such as `&&` count too.
    pub rules: &'static [(Rule, &'static [&'static str])],
    /// How its names are resolved, where they are.
    pub relating: Option<Relating>,
    /// How its syntax is searched.
    pub syntax: &'static Syntax,
    /// The meaning of every node kind by its number, made on first use.
    pub table: OnceLock<Vec<Rule>>,
}

impl LanguageSpec {
    /// The meaning of every node kind, by [`Node::kind_id`].
    pub fn table(&self) -> &[Rule] {
        self.table.get_or_init(|| {
            let grammar = (self.grammar)();
            let mut table = vec![Rule::Walk; grammar.node_kind_count()];
            for id in 0..grammar.node_kind_count() as u16 {
                let Some(kind) = grammar.node_kind_for_id(id) else { continue };
                if let Some((rule, _)) = self.rules.iter().find(|(_, kinds)| kinds.contains(&kind)) {
                    // A keyword may bear a node's name (`lambda`); only definitions and branches of tokens count.
                    table[id as usize] = *rule;
                } else if !grammar.node_kind_is_named(id) {
                    // A token has nothing inside, and to ask it costs as much as to visit it.
                    table[id as usize] = Rule::Skip;
                }
            }
            table
        })
    }
}

/// Every language that symbols are read from.
pub static LANGUAGES: &[&LanguageSpec] =
    &[&python::SPEC, &javascript::SPEC, &typescript::SPEC, &typescript::TSX, &go::SPEC, &rust::SPEC, &java::SPEC];

/// The language of a file, from its name alone or, when that does not tell, from its first line. Its number is its place
/// in [`LANGUAGES`].
pub fn of_file(path: &str, text: &[u8]) -> Option<(u8, &'static LanguageSpec)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let by_name = |spec: &LanguageSpec| match name.rsplit_once('.') {
        Some((_, ending)) => spec.extensions.iter().any(|known| known.eq_ignore_ascii_case(ending)),
        None => spec.file_names.contains(&name),
    };
    let by_first_line = |spec: &LanguageSpec| {
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let Some(command) = line.strip_prefix(b"#!").and_then(|rest| std::str::from_utf8(rest).ok()) else {
            return false;
        };
        let mut words = command.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let program = match words.next() {
            Some("env") => words.find(|word| !word.starts_with('-')),
            program => program,
        };
        let program = program.unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        spec.interpreters.contains(&program)
    };
    let numbered = || LANGUAGES.iter().enumerate().map(|(number, spec)| (number as u8, *spec));
    numbered().find(|(_, spec)| by_name(spec)).or_else(|| {
        if name.contains('.') || !text.starts_with(b"#!") {
            return None;
        }
        numbered().find(|(_, spec)| by_first_line(spec))
    })
}

/// The language with this name.
pub fn of_id(id: &str) -> Option<(u8, &'static LanguageSpec)> {
    LANGUAGES.iter().enumerate().find(|(_, spec)| spec.id == id).map(|(number, spec)| (number as u8, *spec))
}
