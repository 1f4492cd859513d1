//! Lowering of Python types: annotations, aliases, and types in strings.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::walk;
use super::lower::field;
use crate::facts::{ExpressionId, ListId, Op, ScopeId, UNKNOWN};
use codelode_base::model::{Role, Span};

/// Types with the same meaning as their first argument.
const TRANSPARENT: &[&str] =
    &["Optional", "ClassVar", "Final", "Annotated", "Required", "NotRequired", "ReadOnly", "Mapped", "InitVar"];
/// Reads an annotation and returns its type.
pub(super) fn annotation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    cx.deeper(|cx| annotation_one(cx, node, scope))
}

fn annotation_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    match node.kind() {
        "type" | "expression_statement" | "parenthesized_expression" => {
            cx.first(node).map_or(UNKNOWN, |inner| annotation(cx, inner, scope))
        }
        "string" => {
            let span = span_of(node);
            let text = cx.text(node);
            let quote = text.find(['"', '\'']).unwrap_or(0);
            let inside = text[quote..].trim_matches(['"', '\'']);
            let start = span.start as usize
                + quote
                + (text[quote..].len() - text[quote..].trim_start_matches(['"', '\'']).len());
            Quoted { cx, scope, text: inside, start, at: 0, depth: 0 }.union()
        }
        "identifier" | "attribute" => {
            let meant = walk(cx, node, scope, Role::Type);
            let text = cx.text(node);
            match text.rsplit('.').next() {
                Some("Self") => own_type(cx, scope).unwrap_or(meant),
                // These names do not restrict the type.
                Some("Any" | "Final" | "ClassVar" | "TypeAlias" | "object") => UNKNOWN,
                _ => meant,
            }
        }
        "generic_type" | "subscript" => {
            let mut parts = cx.children(node).into_iter();
            let Some(base) = parts.next() else { return UNKNOWN };
            let named = cx.text(base);
            let of = walk(cx, base, scope, Role::Type);
            let mut arguments = Vec::new();
            for part in parts {
                match part.kind() {
                    "type_parameter" => arguments.extend(cx.children(part)),
                    _ => arguments.push(part),
                }
            }
            let types: Vec<ExpressionId> = arguments.iter().map(|argument| annotation(cx, *argument, scope)).collect();
            generic(cx, named, of, &types)
        }
        "binary_operator" | "union_type" => {
            let parts = cx.children(node).into_iter().filter(|part| part.kind() != "none");
            let types: Vec<ExpressionId> =
                parts.collect::<Vec<_>>().into_iter().map(|part| annotation(cx, part, scope)).collect();
            cx.facts.union(&types)
        }
        // The parameters of a `Callable`.
        "list" => {
            let types: Vec<ExpressionId> =
                cx.children(node).into_iter().map(|part| annotation(cx, part, scope)).collect();
            let list = cx.facts.list(&types);
            cx.facts.expression(Op::Tuple, list, 0)
        }
        _ => {
            walk(cx, node, scope, Role::Type);
            UNKNOWN
        }
    }
}

/// Whether an expression can only be a type: `Callable[[A], B]`, `list[A]`.
pub(super) fn is_type(cx: &Lower<'_, '_>, node: Node<'_>) -> bool {
    const BUILT_IN: &[&str] = &["list", "dict", "tuple", "set", "frozenset", "type"];
    const OF_TYPING: &[&str] = &[
        "Callable",
        "Union",
        "Type",
        "List",
        "Dict",
        "Tuple",
        "Set",
        "FrozenSet",
        "Sequence",
        "Iterable",
        "Iterator",
        "Mapping",
    ];
    let Some(of) = field(node, "value").filter(|_| node.kind() == "subscript") else { return false };
    let name = cx.text(of).rsplit('.').next().unwrap_or_default();
    BUILT_IN.contains(&name) || TRANSPARENT.contains(&name) || OF_TYPING.contains(&name)
}

/// The type `Self` in a method.
fn own_type(cx: &mut Lower<'_, '_>, scope: ScopeId) -> Option<ExpressionId> {
    let class = cx.facts.class_around(scope)?;
    Some(cx.facts.expression(Op::SelfOf, class, 0))
}

/// A type with arguments.
fn generic(cx: &mut Lower<'_, '_>, named: &str, of: ExpressionId, types: &[ExpressionId]) -> ExpressionId {
    let named = named.rsplit('.').next().unwrap_or(named);
    let first = types.first().copied().unwrap_or(UNKNOWN);
    match named {
        "Union" => cx.facts.union(types),
        "Type" | "type" => cx.facts.of(Op::TypeOf, first),
        "Tuple" | "tuple" if types.len() > 1 && !types[1..].contains(&UNKNOWN) => {
            let list = cx.facts.list(types);
            cx.facts.expression(Op::Tuple, list, 0)
        }
        "Tuple" | "tuple" | "Coroutine" => {
            let of_one = if named == "Coroutine" { types.last().copied().unwrap_or(UNKNOWN) } else { first };
            let list = cx.facts.list(&[of_one]);
            cx.facts.expression(Op::Generic, of, list)
        }
        "Callable" => {
            let takes = cx.facts.look(first);
            let takes = if takes.op == Op::Tuple { ListId(takes.a) } else { crate::facts::EMPTY };
            let gives = types.last().copied().unwrap_or(UNKNOWN);
            cx.facts.expression(Op::FunctionType, gives, takes)
        }
        _ if TRANSPARENT.contains(&named) => first,
        "TypeIs" | "TypeGuard" if first != UNKNOWN => cx.facts.of(Op::Predicate, first),
        _ => {
            let list = cx.facts.list(types);
            cx.facts.expression(Op::Generic, of, list)
        }
    }
}

/// Maximum nesting of types in strings; hand-written ones stay below it.
const DEEPEST: usize = 32;

/// Parser for a type in a string: `"Cart | None"`, `"list[Item]"`. The grammar does not parse strings.
struct Quoted<'a, 's, 't> {
    cx: &'a mut Lower<'s, 't>,
    scope: ScopeId,
    text: &'s str,
    /// Offset of the text in the file.
    start: usize,
    at: usize,
    /// Number of enclosing brackets.
    depth: usize,
}

impl Quoted<'_, '_, '_> {
    fn skip(&mut self, byte: u8) -> bool {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        let is_next = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn union(&mut self) -> ExpressionId {
        let mut types = vec![self.one()];
        while self.skip(b'|') {
            types.push(self.one());
        }
        self.cx.facts.union(&types)
    }

    fn one(&mut self) -> ExpressionId {
        let (mut meant, mut last) = (UNKNOWN, "");
        loop {
            self.skip(0);
            let rest = &self.text[self.at..];
            let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            if len == 0 {
                break;
            }
            let start = self.start + self.at;
            self.at += len;
            let is_first = last.is_empty();
            last = &rest[..len];
            let name = self.cx.facts.name(last);
            meant = if is_first { self.cx.facts.named(self.scope, name) } else { self.cx.facts.member(meant, name) };
            self.cx.facts.occurrence(Span::new(start, start + len), Role::Type, meant);
            if !self.skip(b'.') {
                break;
            }
        }
        if last == "Self" {
            meant = own_type(self.cx, self.scope).unwrap_or(meant);
        }
        if !self.skip(b'[') {
            return meant;
        }
        let mut types = Vec::new();
        while !self.skip(b']') {
            let before = self.at;
            if self.depth >= DEEPEST {
                return UNKNOWN;
            }
            self.depth += 1;
            let of = self.union();
            self.depth -= 1;
            types.push(of);
            if !self.skip(b',') && self.at == before {
                return UNKNOWN;
            }
        }
        generic(self.cx, last, meant, &types)
    }
}
