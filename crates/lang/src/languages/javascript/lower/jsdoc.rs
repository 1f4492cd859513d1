//! Lowering of types in comments of JavaScript: `@param {Rule} rule`, `@returns {Rule[]}`, `@type`, `@typedef`. Type
//! checkers believe them. A name in a comment is no use, so no occurrence is recorded.

use tree_sitter::Node;

use super::types::{TRANSPARENT, container};
use crate::facts::{Bound, Definition, DefinitionKind, ExpressionId, NameId, Op, ROOT, ScopeId, UNKNOWN};
use crate::languages::lower::Lower;

/// The types in a comment, as far as they are used.
#[derive(Default)]
pub(super) struct JsDocTypes<'s> {
    /// Each parameter's name and type, in order.
    parameters: Vec<(&'s str, &'s str)>,
    returns: Option<&'s str>,
    /// The type of a variable or of a function as a whole.
    of: Option<&'s str>,
}

/// Nodes between a value and the statement or member below a comment.
const AROUND: &[&str] = &[
    "variable_declarator",
    "lexical_declaration",
    "variable_declaration",
    "export_statement",
    "assignment_expression",
    "expression_statement",
    "pair",
    "field_definition",
];

impl<'s> JsDocTypes<'s> {
    /// The types in the comment above a declaration, a function or a member.
    pub fn above<'t>(cx: &Lower<'s, 't>, node: Node<'t>) -> Self {
        let mut outer = node;
        while let Some(parent) = outer.parent().filter(|parent| AROUND.contains(&parent.kind())) {
            outer = parent;
        }
        let comment = cx.comment_above(outer, "/**");
        let mut said = Self::default();
        for (tag, rest) in tags(comment) {
            let Some((of, rest)) = braced(rest) else { continue };
            match tag {
                "param" | "arg" | "argument" => {
                    let name = rest.trim_start().trim_start_matches('[');
                    let name = &name[..name.find(|c: char| !is_part(c) && c != '.').unwrap_or(name.len())];
                    // `@param {string} options.name` describes a part only.
                    if !name.contains('.') {
                        said.parameters.push((name, of));
                    }
                }
                "returns" | "return" => said.returns = Some(of),
                "type" => said.of = Some(of),
                _ => {}
            }
        }
        said
    }

    /// The type of the parameter of this name, or of one without a name at this place.
    pub fn parameter(&self, cx: &mut Lower<'_, '_>, name: Option<&str>, place: usize, scope: ScopeId) -> ExpressionId {
        let of = match name {
            Some(name) => self.parameters.iter().find(|(own, _)| *own == name),
            None => self.parameters.get(place),
        };
        of.map_or(UNKNOWN, |(_, of)| type_of(cx, of, scope))
    }

    /// The type that it returns.
    pub fn returns(&self, cx: &mut Lower<'_, '_>, scope: ScopeId) -> ExpressionId {
        self.returns.map_or(UNKNOWN, |of| type_of(cx, of, scope))
    }

    /// The type of the whole.
    pub fn of(&self, cx: &mut Lower<'_, '_>, scope: ScopeId) -> ExpressionId {
        self.of.map_or(UNKNOWN, |of| type_of(cx, of, scope))
    }
}

/// Binds the types that comments of a file define: `@typedef {import("./rule").Rule} Rule`, `@typedef {Object} Options` with its
/// properties.
pub(super) fn typedefs(cx: &mut Lower<'_, '_>) {
    for comment in cx.comments_with("@typedef") {
        let mut open = None;
        for (tag, rest) in tags(comment) {
            let Some((of, rest)) = braced(rest) else { continue };
            let rest = rest.trim_start().trim_start_matches('[');
            let name = &rest[..rest.find(|c: char| !is_part(c)).unwrap_or(rest.len())];
            if name.is_empty() {
                continue;
            }
            match tag {
                "typedef" => {
                    let name = cx.facts.name(name);
                    open = None;
                    if cx.facts.binds(ROOT, name) {
                        continue;
                    }
                    if matches!(of.trim(), "Object" | "object") {
                        let kind = DefinitionKind::Class;
                        let definition = Definition { name, kind, ..Definition::default() };
                        let (class, members) = cx.facts.class(definition, ROOT);
                        cx.facts.bind(ROOT, name, Bound::definition(class));
                        open = Some(members);
                    } else {
                        let meant = type_of(cx, of, ROOT);
                        cx.facts.bind(ROOT, name, Bound::alias(meant));
                    }
                }
                "property" | "prop" => {
                    if let Some(members) = open {
                        let (name, of) = (cx.facts.name(name), type_of(cx, of, ROOT));
                        cx.facts.bind(members, name, Bound::variable().of(of));
                    }
                }
                _ => {}
            }
        }
    }
}

/// The tags of a comment, each with the text up to the next.
fn tags(comment: &str) -> impl Iterator<Item = (&str, &str)> {
    comment.split("\n").flat_map(|line| line.split("/**")).filter_map(|line| {
        let line = line.trim_start().trim_start_matches('*').trim_start().strip_prefix('@')?;
        let end = line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len());
        Some((&line[..end], &line[end..]))
    })
}

/// The type in braces at the beginning of a text, and the rest.
fn braced(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_prefix('{')?;
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some((&text[..at], &text[at + 1..])),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Names of the language's own types, which are outside the project.
const BUILTIN: &[&str] = &[
    "any",
    "bigint",
    "boolean",
    "function",
    "never",
    "null",
    "number",
    "object",
    "string",
    "symbol",
    "undefined",
    "unknown",
    "void",
    "Object",
    "Function",
    "Array",
    "Boolean",
    "Number",
    "String",
    "Symbol",
    "Promise",
    "Map",
    "Set",
    "RegExp",
    "Date",
    "Error",
    "true",
    "false",
];

/// The type in a comment; unknown beyond names, arguments, unions and arrays.
fn type_of(cx: &mut Lower<'_, '_>, text: &str, scope: ScopeId) -> ExpressionId {
    let mut reader = Reader { rest: text.trim(), scope, depth: 0 };
    let of = reader.union(cx);
    if reader.rest.trim_matches(['=', ' ']).is_empty() { of.unwrap_or(UNKNOWN) } else { UNKNOWN }
}

/// Reads a type from the left; `None` for unknown syntax.
struct Reader<'s> {
    rest: &'s str,
    scope: ScopeId,
    depth: usize,
}

/// Types in comments are not nested deeper than this.
const DEEPEST: usize = 16;

impl<'s> Reader<'s> {
    fn eat(&mut self, start: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(start) {
            Some(rest) => (self.rest = rest, true).1,
            None => false,
        }
    }

    fn word(&mut self) -> &'s str {
        self.rest = self.rest.trim_start();
        let (word, rest) = self.rest.split_at(self.rest.find(|c: char| !is_part(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn union(&mut self, cx: &mut Lower<'_, '_>) -> Option<ExpressionId> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut all = vec![self.one(cx)?];
        while self.eat("|") {
            all.push(self.one(cx)?);
        }
        self.depth -= 1;
        Some(cx.facts.union(&all))
    }

    fn one(&mut self, cx: &mut Lower<'_, '_>) -> Option<ExpressionId> {
        while ["?", "!", "...", "readonly "].iter().any(|start| self.eat(start)) {}
        let mut of = if self.eat("(") {
            let of = self.union(cx)?;
            (self.eat(")") && !self.rest.trim_start().starts_with("=>")).then_some(of)?
        } else if self.eat("*") {
            UNKNOWN
        } else {
            self.named(cx)?
        };
        while self.eat("[]") {
            of = container(cx, &[of]);
        }
        while ["?", "!"].iter().any(|end| self.eat(end)) {}
        Some(of)
    }

    /// A name with the names after its dots, and its type arguments.
    fn named(&mut self, cx: &mut Lower<'_, '_>) -> Option<ExpressionId> {
        let word = self.word();
        let is_value = word == "typeof";
        let word = if is_value { self.word() } else { word };
        let mut of = if word == "import" && self.eat("(") {
            let quote = if self.eat("\"") { '"' } else { self.eat("'").then_some('\'')? };
            let (spec, rest) = self.rest.split_once(quote)?;
            self.rest = rest;
            self.eat(")").then(|| cx.facts.module(spec, self.scope))?
        } else if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        } else if BUILTIN.contains(&word) {
            UNKNOWN
        } else {
            let name = cx.facts.name(word);
            cx.facts.named(self.scope, name)
        };
        while !self.rest.starts_with(".<") && self.eat(".") {
            let name = self.word();
            let name = cx.facts.name(name);
            of = if of == UNKNOWN { UNKNOWN } else { cx.facts.member(of, name) };
        }
        if is_value {
            of = cx.facts.of(Op::TypeOf, of);
        }
        if !(self.eat(".<") || self.eat("<")) {
            let is_plain = cx.facts.look(of).op == Op::Name;
            let is_bound = |cx: &Lower<'_, '_>| {
                let name = NameId(cx.facts.look(of).b);
                !cx.facts.lookup(self.scope, name).is_empty()
            };
            // A comment may name a type that only comments import.
            if is_plain && !is_bound(cx) {
                let list = cx.facts.list(&[of, UNKNOWN]);
                return Some(cx.facts.expression(Op::Union, list, 0));
            }
            return Some(of);
        }
        let mut arguments = vec![self.union(cx)?];
        while self.eat(",") {
            arguments.push(self.union(cx)?);
        }
        if !self.eat(">") {
            return None;
        }
        if TRANSPARENT.contains(&word) {
            return Some(arguments[0]);
        }
        if arguments.iter().all(|one| *one == UNKNOWN) {
            return Some(of);
        }
        let list = cx.facts.list(&arguments);
        Some(cx.facts.expression(Op::Generic, of, list))
    }
}
