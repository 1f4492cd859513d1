//! The form of a language's data: the files it is written in, its grammar, the meaning of each kind of syntax node, its
//! comments and its conventions.

use std::sync::OnceLock;

use tree_sitter::Node;

use super::doc::Comments;
use super::lower::Lower;
use super::shape::{Shape, Shapes};
use super::{Conventions, Cx, LANGUAGES, Syntax};
use crate::facts::Semantics;
use crate::model::{Detail, Kind};

/// The meaning of a kind of syntax node to the walk of a tree.
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
    /// A symbol: see [`Cx::symbol`]. A function in a type is its method, and a value in a function is nobody's.
    Symbol {
        /// Its kind.
        kind: Kind,
        /// The language's own word for it.
        detail: Detail,
        /// The way to the part that names it: `field`, `kind of child`, `one/in/the/other`, `this|or that`, `field:kind`.
        name: &'static str,
        /// The way to the part that its signature ends before; empty where it has none.
        body: &'static str,
    },
    /// A symbol whose kind is told by the first of some signs that it bears.
    Told {
        /// Signs, and the kind and detail that each tells: a word before the name (`enum`), a way to a part that is there
        /// (`value/lambda`), the kind of the node around (`../block`); nothing for all others.
        signs: &'static [(&'static str, Kind, Detail)],
        /// As in [`Rule::Symbol`].
        name: &'static str,
        /// As in [`Rule::Symbol`].
        body: &'static str,
    },
    /// It may define symbols: the function looks and calls [`Cx::define`]. Its children are walked afterwards.
    Define(for<'t> fn(&mut Cx<'_, 't>, Node<'t>)),
    /// Its children belong to the type whose name the function gives, though it is no definition: a Rust `impl`.
    Container(for<'t> fn(&Cx<'_, '_>, Node<'t>) -> Option<Node<'t>>),
    /// An attribute that stands before what it belongs to, as a sibling.
    Attribute,
    /// The text inside may be definitions again, which the grammar does not read (an item macro): the function gives the
    /// node to read once more as a file of its own, or defines what it can tell by itself.
    Embedded(for<'t> fn(&mut Cx<'_, '_>, Node<'t>) -> Option<Node<'t>>),
}

/// [`Rule::Symbol`] on one line of a table.
pub const fn symbol(kind: Kind, detail: Detail, name: &'static str, body: &'static str) -> Rule {
    Rule::Symbol { kind, detail, name, body }
}

/// How a language's names are resolved: see [`crate::resolve`].
#[derive(Clone, Copy)]
pub struct Relating {
    /// Writes down what a file says about names, given the root of its tree.
    pub lower: for<'s, 't> fn(&mut Lower<'s, 't>, Node<'t>),
    /// What each kind of node says about names, for a lowering that reads by shapes.
    pub shapes: Shapes,
    /// How they are bound. Languages that name the same one are resolved together.
    pub semantics: &'static Semantics,
}

/// A grammar, which a program may be built without.
#[derive(Clone, Copy)]
pub struct Grammar {
    /// The grammar; `None` where it was left out.
    pub language: Option<fn() -> tree_sitter::Language>,
    /// The kinds of nodes and what may stand in each, as JSON.
    #[cfg(test)]
    pub node_types: &'static str,
}

/// The grammar of a crate that the cargo feature of this name brings in: `grammar!("lua", tree_sitter_lua)`; its items where
/// they are not called `LANGUAGE` and `NODE_TYPES` follow.
macro_rules! grammar {
    ($feature:literal, $krate:ident) => {
        $crate::languages::spec::grammar!($feature, $krate, LANGUAGE, NODE_TYPES)
    };
    ($feature:literal, $krate:ident, $language:ident, $node_types:ident) => {
        $crate::languages::spec::Grammar {
            #[cfg(feature = $feature)]
            language: Some(|| $krate::$language.into()),
            #[cfg(not(feature = $feature))]
            language: None,
            #[cfg(all(test, feature = $feature))]
            node_types: $krate::$node_types,
            #[cfg(all(test, not(feature = $feature)))]
            node_types: "[]",
        }
    };
}
pub(super) use grammar;

/// A look at a text.
pub type Look = fn(&[u8]) -> bool;

/// A table by node kind for each language, made on first use.
struct Tables<T: 'static>(OnceLock<Vec<OnceLock<Vec<&'static T>>>>);

impl<T> Tables<T> {
    const fn new() -> Self {
        Self(OnceLock::new())
    }

    fn of(&'static self, spec: &'static LanguageSpec, make: impl FnOnce() -> Vec<&'static T>) -> &'static [&'static T] {
        let tables = self.0.get_or_init(|| LANGUAGES.iter().map(|_| OnceLock::new()).collect());
        let number = LANGUAGES.iter().position(|other| std::ptr::eq(*other, spec));
        tables[number.expect("every language stands in the list")].get_or_init(make)
    }
}

/// A language: which files are written in it and how they are read.
#[derive(Clone, Copy)]
pub struct LanguageSpec {
    /// Its name in answers and filters.
    pub id: &'static str,
    /// Other names that people give it.
    pub aliases: &'static [&'static str],
    /// File name endings, without the dot.
    pub extensions: &'static [&'static str],
    /// Whole file names that have no telling ending.
    pub file_names: &'static [&'static str],
    /// Endings of another language, and a look at a file's text that tells that it is this one all the same.
    pub claims: &'static [(&'static str, Look)],
    /// Programs whose name in a first line `#!…` tells the language.
    pub interpreters: &'static [&'static str],
    /// The grammar.
    pub grammar: Grammar,
    /// The meaning of node kinds; those not named are [`Rule::Walk`]. Anonymous tokens such as `&&` count too.
    pub rules: &'static [(Rule, &'static [&'static str])],
    /// Node kinds that can hold nothing the rules name, one a line. A test makes the list from the grammar.
    pub silent: &'static str,
    /// How comments are written, and which of them document.
    pub comments: Comments,
    /// Node kinds of decorators, attributes and annotations that are parts of a definition.
    pub decorators: &'static [&'static str],
    /// Node kinds around a definition that belong to it: an `export`, a `template`.
    pub around: &'static [&'static str],
    /// Node kinds that put an owner before a name, with the parts that are the owner and the name: `Owner::name`.
    pub qualified: &'static [(&'static str, &'static str, &'static str)],
    /// How its names are resolved, where they are.
    pub relating: Option<Relating>,
    /// How its syntax is searched.
    pub syntax: &'static Syntax,
    /// What its programs, libraries and tests use without naming it.
    pub conventions: &'static Conventions,
}

impl LanguageSpec {
    /// A language of which nothing is known yet.
    pub const PLAIN: Self = Self {
        id: "",
        aliases: &[],
        extensions: &[],
        file_names: &[],
        claims: &[],
        interpreters: &[],
        grammar: Grammar {
            language: None,
            #[cfg(test)]
            node_types: "[]",
        },
        rules: &[],
        silent: "",
        comments: Comments::NONE,
        decorators: &[],
        around: &[],
        qualified: &[],
        relating: None,
        syntax: &Syntax::PLAIN,
        conventions: &Conventions::NEUTRAL,
    };

    /// Whether the program was built with its grammar.
    pub fn is_built(&self) -> bool {
        self.grammar.language.is_some()
    }

    /// The grammar, if the program was built with it.
    pub fn language(&self) -> Option<tree_sitter::Language> {
        self.grammar.language.map(|language| language())
    }

    /// The meaning of every node kind by its number, [`Node::kind_id`]; made on first use.
    pub fn table(&'static self) -> &'static [&'static Rule] {
        static TABLES: Tables<Rule> = Tables::new();
        TABLES.of(self, || self.make_table())
    }

    /// What every node kind says about names, by its number; made on first use.
    pub fn shapes(&'static self) -> &'static [&'static Shape] {
        static TABLES: Tables<Shape> = Tables::new();
        let rows = self.relating.map_or(&[][..], |relating| relating.shapes);
        let shape = |kind: &str| rows.iter().find(|(_, kinds)| kinds.contains(&kind)).map(|(shape, _)| shape);
        TABLES.of(self, || {
            let Some(grammar) = self.language() else { return Vec::new() };
            let kinds = (0..grammar.node_kind_count() as u16).map(|id| grammar.node_kind_for_id(id));
            kinds.map(|kind| kind.and_then(shape).unwrap_or(&Shape::Children)).collect()
        })
    }

    fn make_table(&'static self) -> Vec<&'static Rule> {
        let Some(grammar) = self.language() else { return Vec::new() };
        let silent: Vec<&str> = self.silent.lines().collect();
        let rule = |id: u16| {
            let kind = grammar.node_kind_for_id(id)?;
            let is_token = !grammar.node_kind_is_named(id);
            // A keyword may bear the name of the node that it opens: Ruby's `if`.
            if is_token && grammar.id_for_node_kind(kind, true) != 0 {
                return Some(&Rule::Skip);
            }
            let named = self.rules.iter().find(|(_, kinds)| kinds.contains(&kind)).map(|(rule, _)| rule);
            // A token has nothing inside, and to ask it costs as much as to visit it.
            let skipped = is_token || silent.binary_search(&kind).is_ok();
            named.or(skipped.then_some(&Rule::Skip))
        };
        (0..grammar.node_kind_count() as u16).map(|id| rule(id).unwrap_or(&Rule::Walk)).collect()
    }
}
