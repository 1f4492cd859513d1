//! Structure of a language's data: file names, grammar, meaning of syntax nodes, comments and conventions.

use std::borrow::Cow;
use std::sync::OnceLock;

use tree_sitter::Node;

use super::doc::Comments;
use super::lower::Lower;
use super::shape::{Shape, Shapes};
use super::words::Words;
use super::{Conventions, Cx, LANGUAGES, Syntax};
use crate::facts::Semantics;
use codelode_base::model::{Detail, Ecosystem, Kind};

/// Rule for a kind of syntax node in the symbol walk.
#[derive(Clone, Copy)]
pub enum Rule {
    /// No symbol; the children are walked.
    Walk,
    /// No symbol; the children are skipped.
    Skip,
    /// No symbol; the children are walked if the function says so.
    WalkIf(fn(&Cx<'_, '_>, Node<'_>) -> bool),
    /// A branch, for the complexity of the enclosing function.
    Branch,
    /// A symbol, see [`Cx::symbol`]. A function in a type becomes a method, and a value in a function is ignored.
    Symbol {
        /// Language-independent kind.
        kind: Kind,
        /// Kind in the language's own term.
        detail: Detail,
        /// Path to the part with the name: `field`, `kind of child`, `one/in/the/other`, `this|or that`,
        /// `field:kind`, `the first^`, `the last$`.
        name: &'static str,
        /// Path to the body, where the signature ends, or to the head before it, `head>`; empty if there is none.
        body: &'static str,
    },
    /// A symbol whose kind depends on the first matching sign.
    BySign {
        /// Signs with their kinds and details: a word before the name (`enum`), a path to an existing part
        /// (`value/lambda`), the kind of the parent node (`../block`), or empty for all others.
        signs: &'static [(&'static str, Kind, Detail)],
        /// As in [`Rule::Symbol`].
        name: &'static str,
        /// As in [`Rule::Symbol`].
        body: &'static str,
    },
    /// A call that defines its arguments if the function is one of these words, as `attr_reader :a, :b`.
    Called {
        /// Path to the called function.
        function: &'static str,
        /// Words with the kinds and details of what they define.
        words: &'static [(&'static str, Kind, Detail)],
        /// Path to the names. A colon before a name is no part of it.
        names: &'static str,
    },
    /// Possibly symbols: the function checks and calls [`Cx::define`]. The children are walked afterwards.
    Define(for<'t> fn(&mut Cx<'_, 't>, Node<'t>)),
    /// A container that is no symbol, such as a Rust `impl`: its children are members of the type named by the
    /// function's result.
    Container(for<'t> fn(&Cx<'_, '_>, Node<'t>) -> Option<Node<'t>>),
    /// An attribute, as a sibling before its definition.
    Attribute,
    /// A macro whose text may contain definitions or expressions that the grammar does not parse. The function returns
    /// what to parse, or defines symbols itself.
    Embedded(for<'t> fn(&mut Cx<'_, '_>, Node<'t>) -> Option<Inside<'t>>),
}

/// A node with a text that is parsed separately, for [`Rule::Embedded`].
pub enum Inside<'t> {
    /// The text between the node's delimiters is a file. Lines that begin with `@` are not read: they are the macro's.
    Items(Node<'t>),
    /// The text with its delimiters is a statement, which has no symbols.
    Arguments(Node<'t>),
    /// The text is a statement once `$` is left out of names, and `$(` … `)*` around parts that may be repeated.
    Template(Node<'t>),
}

/// [`Rule::Symbol`] on one line of a table.
pub const fn symbol(kind: Kind, detail: Detail, name: &'static str, body: &'static str) -> Rule {
    Rule::Symbol { kind, detail, name, body }
}

/// Name resolution of a language, see `resolve`.
#[derive(Clone, Copy)]
pub struct Relating {
    /// Records a file's facts about names, given the root of its tree.
    pub lower: for<'s, 't> fn(&mut Lower<'s, 't>, Node<'t>),
    /// Shapes of node kinds, for a lowering by shapes.
    pub shapes: Shapes,
    /// Binding rules. Languages with the same ones are resolved together.
    pub semantics: &'static Semantics,
}

/// Installed packages of a language.
#[derive(Clone, Copy, Debug)]
pub struct Distribution {
    /// Where they come from.
    pub ecosystem: Ecosystem,
    /// Whether a package, as [`LanguageSpec::package`] names it, comes with the language.
    pub is_standard: fn(&str) -> bool,
}

/// A tree-sitter grammar, which a build may leave out.
#[derive(Clone, Copy)]
pub struct Grammar {
    /// The grammar; `None` if the build leaves it out.
    pub language: Option<fn() -> tree_sitter::Language>,
    /// The query for highlighting: that of its crate, or ours where it has none that fits.
    pub highlights: &'static str,
    /// The grammar's node types as JSON.
    #[cfg(test)]
    pub node_types: &'static str,
}

/// The grammar of a crate behind a cargo feature: `grammar!("lua", tree_sitter_lua, HIGHLIGHTS_QUERY)`, optionally followed by the
/// crate's items if they are not `LANGUAGE` and `NODE_TYPES`, and by its query for highlighting, or a file with one of ours.
macro_rules! grammar {
    ($feature:literal, $krate:ident, $highlights:ident) => {
        $crate::languages::spec::grammar!($feature, $krate, LANGUAGE, NODE_TYPES, $highlights)
    };
    ($feature:literal, $krate:ident, $highlights:literal) => {
        $crate::languages::spec::grammar!(@ $feature, $krate, LANGUAGE, NODE_TYPES, include_str!($highlights))
    };
    ($feature:literal, $krate:ident, $language:ident, $node_types:ident, $highlights:literal) => {
        $crate::languages::spec::grammar!(@ $feature, $krate, $language, $node_types, include_str!($highlights))
    };
    ($feature:literal, $krate:ident, $language:ident, $node_types:ident, $highlights:ident) => {
        $crate::languages::spec::grammar!(@ $feature, $krate, $language, $node_types, $krate::$highlights)
    };
    (@ $feature:literal, $krate:ident, $language:ident, $node_types:ident, $highlights:expr) => {
        $crate::languages::spec::Grammar {
            #[cfg(feature = $feature)]
            language: Some(|| $krate::$language.into()),
            #[cfg(not(feature = $feature))]
            language: None,
            #[cfg(feature = $feature)]
            highlights: $highlights,
            #[cfg(not(feature = $feature))]
            highlights: "",
            #[cfg(all(test, feature = $feature))]
            node_types: $krate::$node_types,
            #[cfg(all(test, not(feature = $feature)))]
            node_types: "[]",
        }
    };
}
pub(super) use grammar;

/// A check of a file's text.
pub type ContentCheck = fn(&[u8]) -> bool;

/// Makes another text of a text, of the same length; `None` for the text itself.
pub type TextFilter = fn(&[u8]) -> Option<Vec<u8>>;

/// Makes another text of a text, with the same lines.
pub type LineFilter = fn(&[u8]) -> Vec<u8>;

/// Tables indexed by node kind, one per language, built on first use.
struct Tables<T: 'static>(OnceLock<Vec<OnceLock<T>>>);

impl<T> Tables<T> {
    const fn new() -> Self {
        Self(OnceLock::new())
    }

    fn of(&'static self, spec: &'static LanguageSpec, make: impl FnOnce() -> T) -> &'static T {
        let tables = self.0.get_or_init(|| LANGUAGES.iter().map(|_| OnceLock::new()).collect());
        let number = LANGUAGES.iter().position(|other| std::ptr::eq(*other, spec));
        tables[number.expect("every language stands in the list")].get_or_init(make)
    }
}

/// A language: its files, and how they are parsed.
#[derive(Clone, Copy)]
pub struct LanguageSpec {
    /// Id in answers and filters.
    pub id: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// File extensions without the dot.
    pub extensions: &'static [&'static str],
    /// Complete file names, for files without a distinctive extension.
    pub file_names: &'static [&'static str],
    /// Extensions shared with another language, each with a check of the text for this one.
    pub claims: &'static [(&'static str, ContentCheck)],
    /// Interpreters in a `#!` line.
    pub interpreters: &'static [&'static str],
    /// The grammar.
    pub grammar: Grammar,
    /// The language whose highlighting counts as well, where its own goes no further.
    pub highlighted_as: Option<&'static LanguageSpec>,
    /// Its files are documents or data: their symbols come after those of code in a search.
    pub is_document: bool,
    /// Makes the text that the grammar reads instead of a file's, of the same length; `None` for the text itself.
    pub preprocess: Option<TextFilter>,
    /// Takes out of a text, at the same length, what the grammar's scanner crashes on or never ends with; `None` for the
    /// text itself.
    pub sanitize: Option<TextFilter>,
    /// Makes lines of a file readable, if they are not as they stand; each line stays one line.
    pub shown: Option<LineFilter>,
    /// Rules for node kinds; the default is [`Rule::Walk`]. Anonymous tokens such as `&&` may have rules too.
    pub rules: &'static [(Rule, &'static [&'static str])],
    /// Node kinds that cannot contain any kind with a rule, one per line. A test generates the list from the grammar.
    pub silent: &'static str,
    /// Whether facts hold no uses of local names, so that functions are read again for them.
    pub reads_locals: bool,
    /// Comment syntax.
    pub comments: Comments,
    /// Node kinds of decorators, attributes and annotations inside a definition.
    pub decorators: &'static [&'static str],
    /// Node kinds that wrap a definition: an `export`, a `template`.
    pub around: &'static [&'static str],
    /// Node kinds of qualified names such as `Owner::name`, with the paths to owner and name.
    pub qualified: &'static [(&'static str, &'static str, &'static str)],
    /// Node kinds of import statements, each with the text that precedes it when it stands alone.
    pub imports: &'static [(&'static str, &'static str)],
    /// Package of an imported module, given as a path with dots; empty for a module of the project itself.
    pub package: fn(&str) -> &str,
    /// Installed packages, if they are found.
    pub distribution: Option<Distribution>,
    /// Name resolution, if supported.
    pub relating: Option<Relating>,
    /// Syntax search settings.
    pub syntax: &'static Syntax,
    /// Conventions about entry points, tests and public names.
    pub conventions: &'static Conventions,
}

impl LanguageSpec {
    /// Whether code in a language can use the names of another: both are resolved together.
    pub fn is_kin(&self, other: &Self) -> bool {
        let semantics = |spec: &Self| spec.relating.map(|relating| relating.semantics);
        let are_resolved = semantics(self).zip(semantics(other));
        self.id == other.id || are_resolved.is_some_and(|(own, other)| std::ptr::eq(own, other))
    }

    /// A language with all defaults.
    pub const PLAIN: Self = Self {
        id: "",
        aliases: &[],
        extensions: &[],
        file_names: &[],
        claims: &[],
        interpreters: &[],
        grammar: Grammar {
            language: None,
            highlights: "",
            #[cfg(test)]
            node_types: "[]",
        },
        highlighted_as: None,
        is_document: false,
        preprocess: None,
        sanitize: None,
        shown: None,
        rules: &[],
        silent: "",
        reads_locals: false,
        comments: Comments::NONE,
        decorators: &[],
        around: &[],
        qualified: &[],
        imports: &[],
        package: |path| path,
        distribution: None,
        relating: None,
        syntax: &Syntax::PLAIN,
        conventions: &Conventions::NEUTRAL,
    };

    /// Whether this build includes the grammar.
    pub fn is_built(&self) -> bool {
        self.grammar.language.is_some()
    }

    /// The grammar, if this build includes it.
    pub fn language(&self) -> Option<tree_sitter::Language> {
        self.grammar.language.map(|language| language())
    }

    /// The query for highlighting, with that of the language that it extends.
    pub fn highlights(&self) -> String {
        let further = self.highlighted_as.map(|other| other.grammar.highlights).unwrap_or_default();
        [further, self.grammar.highlights].join("\n")
    }

    /// A text without what the grammar's scanner crashes on or never ends with. Positions are the same.
    pub fn sanitized<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        self.sanitize.and_then(|sanitize| sanitize(text)).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Rules indexed by [`Node::kind_id`]; built on first use.
    pub fn table(&'static self) -> &'static [&'static Rule] {
        static TABLES: Tables<Vec<&Rule>> = Tables::new();
        TABLES.of(self, || self.make_table())
    }

    /// Shapes indexed by node kind id; built on first use.
    pub fn shapes(&'static self) -> &'static [&'static Shape] {
        static TABLES: Tables<Vec<&Shape>> = Tables::new();
        let rows = self.relating.map_or(&[][..], |relating| relating.shapes);
        let shape = |kind: &str| rows.iter().find(|(_, kinds)| kinds.contains(&kind)).map(|(shape, _)| shape);
        TABLES.of(self, || {
            let Some(grammar) = self.language() else { return Vec::new() };
            let kinds = (0..grammar.node_kind_count() as u16).map(|id| grammar.node_kind_for_id(id));
            kinds.map(|kind| kind.and_then(shape).unwrap_or(&Shape::Children)).collect()
        })
    }

    /// Words of the language, and what its nodes make of words inside them; built on first use.
    pub fn words(&'static self) -> &'static Words {
        static TABLES: Tables<Words> = Tables::new();
        TABLES.of(self, || self.language().map(|grammar| Words::of(&grammar)).unwrap_or_default())
    }

    fn make_table(&'static self) -> Vec<&'static Rule> {
        let Some(grammar) = self.language() else { return Vec::new() };
        let silent: Vec<&str> = self.silent.lines().collect();
        let rule = |id: u16| {
            let kind = grammar.node_kind_for_id(id)?;
            let is_token = !grammar.node_kind_is_named(id);
            // A keyword may have the same name as its node: Ruby's `if`.
            if is_token && grammar.id_for_node_kind(kind, true) != 0 {
                return Some(&Rule::Skip);
            }
            let named = self.rules.iter().find(|(_, kinds)| kinds.contains(&kind)).map(|(rule, _)| rule);
            // A token has no children, and checking that costs as much as visiting it.
            let skipped = is_token || silent.binary_search(&kind).is_ok();
            named.or(skipped.then_some(&Rule::Skip))
        };
        (0..grammar.node_kind_count() as u16).map(|id| rule(id).unwrap_or(&Rule::Walk)).collect()
    }
}
