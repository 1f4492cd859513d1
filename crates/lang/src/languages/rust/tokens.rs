//! Lowering of the tokens in a macro's call: paths, calls and chains of members. The macro's bindings are unknown, so
//! a lone lower-case word may or may not be a name.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::given::given;
use super::patterns::field_of;
use super::types::is_local;
use crate::facts::{EMPTY, ExpressionId, Op, ScopeId, UNKNOWN};
use codelode_base::model::{Role, Span};

/// Reads the tokens of a call of a macro that asks a value for members; returns the values between its commas.
pub(super) fn tokens<'t>(
    cx: &mut Lower<'_, 't>,
    tree: Node<'t>,
    scope: ScopeId,
    asked: ExpressionId,
) -> Vec<ExpressionId> {
    cx.deeper(|cx| Reader { asked, ..Reader::new(cx, tree, scope, false, &[]) }.read())
}

/// Reads the tokens of a call outside of these ranges.
pub(super) fn tokens_but<'t>(cx: &mut Lower<'_, 't>, tree: Node<'t>, scope: ScopeId, but: &[Span]) {
    cx.deeper(|cx| drop(Reader::new(cx, tree, scope, false, but).read()));
}

/// Reads the expansion of a macro by example: only names with a known place.
pub(super) fn rules<'t>(cx: &mut Lower<'_, 't>, tree: Node<'t>, scope: ScopeId) {
    cx.deeper(|cx| drop(Reader::new(cx, tree, scope, true, &[]).read()));
}

/// Records a word that a macro may use in a path or a call, as a macro, or as a new name.
pub(super) fn perhaps(cx: &mut Lower<'_, '_>, word: Node<'_>) {
    let text = cx.text(word);
    for spelt in [cx.facts.name(text), cx.facts.name(&format!("{text}!"))] {
        let perhaps = cx.facts.member(UNKNOWN, spelt);
        cx.facts.occurrence(span_of(word), Role::Reference, perhaps);
    }
}

/// Records the constants in a format, `"{NAME:?}"`. Other names in it are local.
pub(super) fn named_in_format(cx: &mut Lower<'_, '_>, literal: Node<'_>, scope: ScopeId) {
    let text = cx.text(literal);
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|open| at + open + 1) {
        let rest = &text[open..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let is_name = rest.starts_with(char::is_uppercase) || cx.keeps_locals && end > 0;
        if is_name && rest[end..].starts_with(['}', ':']) {
            let start = literal.start_byte() + open;
            let name = cx.facts.name(&rest[..end]);
            let meant = cx.facts.named(scope, name);
            cx.facts.occurrence(Span::new(start, start + end), Role::Reference, meant);
        }
        // Two braces are one of the text.
        at = open + if rest.starts_with('{') { 1 } else { 0 };
    }
}

struct Reader<'c, 's, 't> {
    cx: &'c mut Lower<'s, 't>,
    tokens: Vec<Node<'t>>,
    /// Ranges to skip.
    but: &'c [Span],
    scope: ScopeId,
    at: usize,
    is_rule: bool,
    /// The value that the macro asks for members with names that it is given.
    asked: ExpressionId,
}

impl<'c, 's, 't> Reader<'c, 's, 't> {
    fn new(cx: &'c mut Lower<'s, 't>, tree: Node<'t>, scope: ScopeId, is_rule: bool, but: &'c [Span]) -> Self {
        let mut cursor = tree.walk();
        let is_read = |token: &Node<'_>| !token.is_extra() && !but.iter().any(|but| but.contains(span_of(*token)));
        let tokens = tree.children(&mut cursor).filter(is_read).collect();
        Self { cx, tokens, but, scope, at: 0, is_rule, asked: UNKNOWN }
    }

    fn kind(&self, ahead: usize) -> &'t str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.kind())
    }

    /// Whether a group in round brackets follows.
    fn calls(&self, ahead: usize) -> bool {
        let group = self.tokens.get(self.at + ahead).filter(|token| token.kind() == "token_tree");
        group.is_some_and(|group| self.cx.text(*group).starts_with('('))
    }

    fn read(&mut self) -> Vec<ExpressionId> {
        let (mut values, mut value, mut parts) = (Vec::new(), UNKNOWN, 0);
        while self.at < self.tokens.len() {
            match self.kind(0) {
                "," | ";" => {
                    values.push(if parts == 1 { value } else { UNKNOWN });
                    (value, parts) = (UNKNOWN, 0);
                    self.at += 1;
                }
                "(" | ")" | "[" | "]" | "{" | "}" | "&" | "mut" | "mutable_specifier" | "*" => self.at += 1,
                "string_literal" => {
                    named_in_format(self.cx, self.tokens[self.at], self.scope);
                    (value, parts, self.at) = (UNKNOWN, parts + 1, self.at + 1);
                }
                _ => {
                    value = self.chain();
                    parts += 1;
                }
            }
        }
        values.push(if parts == 1 { value } else { UNKNOWN });
        values
    }

    /// The tokens within a group.
    fn group(&mut self) -> Vec<ExpressionId> {
        let tree = self.tokens[self.at];
        self.at += 1;
        let (scope, is_rule, but, asked) = (self.scope, self.is_rule, self.but, self.asked);
        self.cx.deeper(|cx| Reader { asked, ..Reader::new(cx, tree, scope, is_rule, but) }.read())
    }

    /// Passes over `::<T>`, of which only the names count; true when there was one.
    fn turbofish(&mut self) -> bool {
        if self.kind(0) != "::" || self.kind(1) != "<" {
            return false;
        }
        self.at += 2;
        let mut depth = 1;
        while depth > 0 && self.at < self.tokens.len() {
            match self.kind(0) {
                "identifier" | "self" | "crate" | "super" => {
                    self.path();
                    continue;
                }
                "<" => depth += 1,
                ">" => depth -= 1,
                ">>" => depth -= 2,
                _ => {}
            }
            self.at += 1;
        }
        true
    }

    /// A path or a group, and the members, calls and indices that follow it.
    fn chain(&mut self) -> ExpressionId {
        let mut value = match self.kind(0) {
            "identifier" | "self" | "crate" | "super" | "primitive_type" => self.path(),
            "metavariable" | "$" if self.kind(1) == "::" || self.kind(1) == "crate" => self.path(),
            // Its members are those of whatever the macro is given.
            "metavariable" if self.is_rule && self.kind(1) == "." => {
                self.at += 1;
                UNKNOWN
            }
            "token_tree" => {
                let is_round = self.calls(0);
                let values = self.group();
                match values[..] {
                    [value] => value,
                    _ if is_round && values.iter().any(|value| *value != UNKNOWN) => {
                        let list = self.cx.facts.list(&values);
                        self.cx.facts.expression(Op::Tuple, list, 0)
                    }
                    _ => UNKNOWN,
                }
            }
            _ => {
                self.at += 1;
                return UNKNOWN;
            }
        };
        loop {
            match (self.kind(0), self.kind(1)) {
                (".", "identifier") if self.cx.text(self.tokens[self.at + 1]) == "await" => self.at += 2,
                (".", "identifier") => {
                    let name = self.tokens[self.at + 1];
                    self.at += 2;
                    let is_call = self.turbofish() || self.calls(0);
                    let text = self.cx.text(name);
                    let text = if is_call { text.to_owned() } else { format!(".{text}") };
                    let text = self.cx.facts.name(&text);
                    // In a rule the receiver is known only where the macro is used.
                    let on = if self.is_rule { UNKNOWN } else { value };
                    let meant = self.cx.facts.member(on, text);
                    let role = if is_call { Role::Call } else { Role::Reference };
                    self.cx.facts.occurrence(span_of(name), role, meant);
                    value = if value == UNKNOWN { UNKNOWN } else { meant };
                    if self.calls(0) {
                        let arguments = self.group();
                        let given = arguments.last().copied().unwrap_or(UNKNOWN);
                        let list = if given == UNKNOWN { EMPTY } else { self.cx.facts.list(&[given]) };
                        value =
                            if value == UNKNOWN { UNKNOWN } else { self.cx.facts.expression(Op::Call, value, list) };
                    }
                }
                (".", "integer_literal") => {
                    let text = format!(".{}", self.cx.text(self.tokens[self.at + 1]));
                    let name = self.cx.facts.name(&text);
                    value = if value == UNKNOWN { UNKNOWN } else { self.cx.facts.member(value, name) };
                    self.at += 2;
                }
                ("?", _) => {
                    value = self.cx.facts.of(Op::Element, value);
                    self.at += 1;
                }
                ("token_tree", _) if self.cx.text(self.tokens[self.at]).starts_with('[') => {
                    self.group();
                    value = self.cx.facts.of(Op::Element, value);
                }
                _ => return value,
            }
        }
    }

    /// Whether the fields of a value or of a pattern follow: `{ name: …, other, .. }`.
    fn has_fields(&self) -> bool {
        let Some(group) = self.tokens.get(self.at).filter(|group| group.kind() == "token_tree") else { return false };
        let mut cursor = group.walk();
        let mut kinds = group.children(&mut cursor).filter(|token| !token.is_extra()).map(|token| token.kind());
        let mut next = || kinds.next().unwrap_or_default();
        (next(), next(), next()) == ("{", "identifier", ":")
    }

    /// Reads such fields.
    fn fields(&mut self, of: ExpressionId, path: Span) {
        let tree = self.tokens[self.at];
        self.at += 1;
        let (scope, is_rule, but) = (self.scope, self.is_rule, self.but);
        let path = std::str::from_utf8(path.of(self.cx.source())).unwrap_or_default();
        self.cx.deeper(|cx| {
            let mut inner = Reader::new(cx, tree, scope, is_rule, but);
            let mut begins = true;
            while inner.at < inner.tokens.len() {
                let token = inner.tokens[inner.at];
                let is_field = begins && token.kind() == "identifier" && matches!(inner.kind(1), ":" | "," | "}");
                if is_field && of != UNKNOWN {
                    let own = field_of(inner.cx, of, path, inner.cx.text(token));
                    inner.cx.facts.occurrence(span_of(token), Role::Write, own);
                }
                begins = matches!(token.kind(), "{" | ",");
                match inner.kind(1) {
                    ":" if is_field => inner.at += 2,
                    _ if begins || token.kind() == "}" => inner.at += 1,
                    _ => drop(inner.chain()),
                }
            }
        });
    }

    /// `a::b::C`, a call or a macro's call of it.
    fn path(&mut self) -> ExpressionId {
        let mut meant = None;
        let (mut last, mut owner) = (self.tokens[self.at], "");
        let start = last.start_byte();
        let mut is_module = true;
        loop {
            let token = self.tokens[self.at];
            let text = self.cx.text(token);
            self.at += 1;
            if text == "$" {
                // `$crate` in two tokens.
                continue;
            }
            let is_first = meant.is_none();
            let is_more = self.kind(0) == "::" && matches!(self.kind(1), "identifier" | "self" | "super" | "crate");
            let word = text.trim_start_matches('$');
            if (is_first || is_module) && is_more && matches!(word, "crate" | "self" | "super") {
                meant = Some(self.cx.facts.module(word, self.scope));
            } else if is_first && (token.kind() == "metavariable" || self.is_rule && is_more && text == "Self") {
                // `Self` is the type where the macro is used.
                meant = Some(UNKNOWN);
            } else {
                is_module = false;
                let is_macro = !is_more && self.kind(0) == "!" && self.kind(1) == "token_tree";
                let is_call = !is_more && self.calls(0);
                let is_known = !is_first && meant != Some(UNKNOWN);
                let spelt = if is_macro { format!("{text}!") } else { text.to_owned() };
                let name = self.cx.facts.name(&spelt);
                let is_name = is_known
                    || is_first
                        && (is_macro || is_call || is_more || text.starts_with(char::is_uppercase))
                        && !is_local(self.cx, self.scope, name);
                let of = match meant {
                    None => self.cx.facts.named(self.scope, name),
                    Some(UNKNOWN) => UNKNOWN,
                    Some(before) => self.cx.facts.member(before, name),
                };
                let mut is_given = false;
                let is_free = is_first && !is_more && !is_local(self.cx, self.scope, name);
                if is_free && !is_macro && (self.is_rule || !is_name) {
                    perhaps(self.cx, token);
                    is_given = !self.is_rule && !is_name;
                }
                if is_first && !is_more && self.cx.keeps_locals && is_local(self.cx, self.scope, name) {
                    let meant = self.cx.facts.named(self.scope, name);
                    self.cx.facts.occurrence(span_of(token), Role::Reference, meant);
                }
                let of = match is_free && !is_name {
                    true if is_given => given(self.cx, token, self.asked),
                    true => UNKNOWN,
                    false => of,
                };
                // Names in a rule are resolved where the macro is used, except after `$crate`.
                if is_name && (!self.is_rule || is_known || is_macro) && of != UNKNOWN {
                    if is_more && !text.starts_with(char::is_uppercase) {
                        self.cx.facts.in_path(span_of(token), Role::Reference, of);
                    } else {
                        let role = if is_call { Role::Call } else { Role::Reference };
                        self.cx.facts.occurrence(span_of(token), role, of);
                    }
                }
                meant = Some(of);
                if is_macro {
                    self.at += 1;
                    self.group();
                    return UNKNOWN;
                }
            }
            last = if is_more { self.tokens[self.at + 1] } else { token };
            if !is_more {
                break;
            }
            owner = text;
            self.at += 1;
        }
        let mut value = meant.unwrap_or(UNKNOWN);
        self.turbofish();
        let is_type = self.cx.text(last).starts_with(char::is_uppercase);
        if is_type && self.has_fields() {
            self.fields(value, Span::new(start, last.end_byte()));
            return self.cx.facts.of(Op::Instance, value);
        }
        if self.calls(0) {
            let arguments = self.group();
            let first = arguments.first().copied().unwrap_or(UNKNOWN);
            let may_be_trait = owner.starts_with(char::is_uppercase) && owner != "Self" && !is_type;
            if may_be_trait && first != UNKNOWN && self.cx.facts.look(value).op == Op::Member {
                value = self.cx.facts.expression(Op::Implemented, value, first);
                self.cx.facts.mean_at(span_of(last), value);
            }
            value = match self.cx.text(last) {
                "Some" | "Ok" => super::expressions::container(self.cx, &arguments[..arguments.len().min(1)]),
                _ if value == UNKNOWN => UNKNOWN,
                _ if is_type => self.cx.facts.of(Op::Instance, value),
                _ => self.cx.facts.expression(Op::Call, value, EMPTY),
            };
        }
        value
    }
}
