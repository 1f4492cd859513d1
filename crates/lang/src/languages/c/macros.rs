//! Macros of C: their definitions, and the names in their text, which no grammar reads.

use std::ops::Range;

use tree_sitter::Node;

use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::field;
use crate::facts::{Binding, BindingKind, Bound, Definition, EMPTY, ExpressionId, NameId, Op, ROOT, UNKNOWN};
use codelode_base::model::{Role, Span};

/// `#define NAME value`.
pub(in crate::languages) fn object<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let (name, name_at) = (cx.name(name_node), name_node.start_byte() as u32);
    let value = field(node, "value").map_or(UNKNOWN, |text| names(cx, text, &[]));
    define(cx, name, value, name_at);
    at.says(UNKNOWN)
}

/// `#define NAME(parameters) text`.
pub(in crate::languages) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let (name, name_at) = (cx.name(name_node), name_node.start_byte() as u32);
    let function = cx.facts.define(Definition { name, at: name_at, ..Definition::default() });
    let value = cx.facts.expression(Op::Function, function, 0);
    define(cx, name, value, name_at);
    let parameters = field(node, "parameters").map(|list| cx.children(list)).unwrap_or_default();
    let parameters: Vec<&str> = parameters.into_iter().map(|parameter| cx.text(parameter)).collect();
    if let Some(text) = field(node, "value") {
        let value = names(cx, text, &parameters);
        cx.facts.returns(function, value);
    }
    at.says(UNKNOWN)
}

/// Binds a macro. It replaces an enumerator or a variable of its name, but no other macro: that may be of another
/// system.
fn define(cx: &mut Lower<'_, '_>, name: NameId, value: ExpressionId, at: u32) {
    let is_variable = |binding: &Binding| binding.kind == BindingKind::Variable;
    if cx.facts.lookup(ROOT, name).iter().all(is_variable) {
        cx.facts.unbind(ROOT, name);
    }
    cx.facts.bind(ROOT, name, Bound::meaning(value).at(at));
}

/// Records a macro that the grammar does not see.
pub(in crate::languages) fn used(cx: &mut Lower<'_, '_>, place: Range<usize>) {
    let Ok(text) = std::str::from_utf8(cx.source().get(place.clone()).unwrap_or_default()) else { return };
    let Some((at, Token::Word(word))) = tokens(text).first().copied() else { return };
    let role = if text[at + word.len()..].trim_start().starts_with('(') { Role::Call } else { Role::Reference };
    let name = cx.facts.name(word);
    let meant = cx.facts.named(ROOT, name);
    cx.facts.occurrence(Span::new(place.start + at, place.start + at + word.len()), role, meant);
}

/// A piece of a macro's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'s> {
    Word(&'s str),
    /// A number, a string or a character.
    Literal,
    Sign(&'s str),
}

/// Records the names in a macro's text; returns its value if it is a name, a call, or a conversion.
fn names<'s, 't>(cx: &mut Lower<'s, 't>, text: Node<'t>, parameters: &[&str]) -> ExpressionId {
    let start = text.start_byte();
    let tokens = tokens(cx.text(text));
    let sign = |place: usize| match tokens.get(place) {
        Some((_, Token::Sign(sign))) => *sign,
        _ => "",
    };
    let (mut first, mut converted) = (UNKNOWN, UNKNOWN);
    for (place, (at, token)) in tokens.iter().enumerate() {
        let Token::Word(word) = *token else { continue };
        let before = if place == 0 { "" } else { sign(place - 1) };
        let is_pasted = before == "#" || before == "##" || sign(place + 1) == "##";
        if is_pasted || parameters.contains(&word) || KEYWORDS.contains(&word) {
            continue;
        }
        let span = Span::new(start + at, start + at + word.len());
        let is_tag = place > 0 && matches!(tokens[place - 1].1, Token::Word("struct" | "union" | "enum"));
        let name = cx.facts.name(&if is_tag { format!("struct {word}") } else { word.to_owned() });
        if before == "." || before == "->" {
            let meant = cx.facts.member(UNKNOWN, name);
            cx.facts.occurrence(span, Role::Reference, meant);
            continue;
        }
        let meant = cx.facts.named(ROOT, name);
        let role = match sign(place + 1) {
            _ if is_tag => Role::Type,
            "(" => Role::Call,
            _ => Role::Reference,
        };
        cx.facts.occurrence(span, role, meant);
        if place == 0 {
            first = meant;
        }
        // `((type *)value)`
        if sign(place + 1) == "*" && sign(place + 2) == ")" && converted == UNKNOWN {
            converted = cx.facts.of(Op::Instance, meant);
        }
    }
    let is_call = tokens.len() > 2 && sign(1) == "(" && sign(tokens.len() - 1) == ")";
    match tokens.len() {
        1 => first,
        _ if is_call && first != UNKNOWN => cx.facts.expression(Op::Call, first, EMPTY),
        _ if sign(0) == "(" && sign(1) == "(" => converted,
        _ => UNKNOWN,
    }
}

/// Splits a macro's text, with the place of each piece.
fn tokens(text: &str) -> Vec<(usize, Token<'_>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or_default();
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let (len, token) = if first.is_ascii_digit() {
            (rest.find(|c: char| !is_word(c) && c != '.').unwrap_or(rest.len()), Some(Token::Literal))
        } else if is_word(first) {
            let len = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            (len, Some(Token::Word(&rest[..len])))
        } else if first == '"' || first == '\'' {
            (quoted(rest, first), Some(Token::Literal))
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end + 2), None)
        } else if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if rest.starts_with("->") || rest.starts_with("##") {
            (2, Some(Token::Sign(&rest[..2])))
        } else if first.is_whitespace() || first == '\\' {
            (first.len_utf8(), None)
        } else {
            (first.len_utf8(), Some(Token::Sign(&rest[..first.len_utf8()])))
        };
        found.extend(token.map(|token| (at, token)));
        at += len;
    }
    found
}

/// The length of a string or character at the front.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}

/// Words that name nothing.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "defined", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "__VA_ARGS__",
];
