//! Words of a language that are not names, and nodes whose words are not code.

use rustc_hash::FxHashSet;
use tree_sitter::Language;

/// Nodes that begin with the key of a value.
pub const KEYED: [&str; 3] = ["keyword_argument", "keyed_element", "element_value_pair"];

/// Keywords that no language takes for a name as well, where its grammar has them at all.
const RESERVED: &str = "abstract and assert boolean break byte case char class const continue crate def default del do \
    double elif else enum except extends false final finally float fn for func function global if impl implements import \
    in instanceof int interface is lambda long map mod mut new nonlocal not null or package pass private protected pub public \
    raise range ref return short static struct super switch this throw throws true try typeof unsafe use var void volatile \
    while with yield False None True";

/// Meaning of a node for the words inside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordContext {
    /// None of its own.
    #[default]
    Nothing,
    /// They are a comment, or prose between tags.
    Comment,
    /// They are a text.
    Text,
    /// They are code in a text: `${name}`.
    Code,
    /// The first one is the key of a value: `f(name=1)`.
    Key,
    /// A text in it stands alone, as documentation does.
    Statement,
}

/// Words and nodes of a grammar.
#[derive(Debug, Default)]
pub struct Words {
    around: Vec<WordContext>,
    reserved: FxHashSet<&'static [u8]>,
}

impl Words {
    pub(super) fn of(grammar: &Language) -> Self {
        let ids = 0..grammar.node_kind_count() as u16;
        let around = ids.clone().map(|id| grammar.node_kind_for_id(id).map(around).unwrap_or_default()).collect();
        let tokens = ids.filter(|id| !grammar.node_kind_is_named(*id));
        let tokens: FxHashSet<&str> = tokens.filter_map(|id| grammar.node_kind_for_id(id)).collect();
        let reserved = RESERVED.split_whitespace().filter(|word| tokens.contains(word)).map(str::as_bytes);
        Self { around, reserved: reserved.collect() }
    }

    /// Meaning of a node kind, by its id.
    pub fn around(&self, kind: u16) -> WordContext {
        self.around.get(usize::from(kind)).copied().unwrap_or_default()
    }

    /// Whether a word is a keyword and never a name.
    pub fn is_reserved(&self, word: &[u8]) -> bool {
        self.reserved.contains(word)
    }
}

fn around(kind: &str) -> WordContext {
    match kind {
        "expression_statement" => WordContext::Statement,
        "jsx_text" => WordContext::Comment,
        _ if kind.contains("comment") => WordContext::Comment,
        _ if KEYED.contains(&kind) => WordContext::Key,
        _ if kind.contains("string") => WordContext::Text,
        _ if kind.contains("interpolation") || kind.contains("substitution") => WordContext::Code,
        _ => WordContext::Nothing,
    }
}
