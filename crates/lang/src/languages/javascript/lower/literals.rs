//! Members that tell the types of a union apart: by the literal types that they have, or by being there.
//!
//! A class binds, without a place, a name for each literal that a member may be (`kind="a"`), and `kind=` for all of them. A
//! condition asks for types with such a name.

use tree_sitter::Node;

use super::expressions::is_typescript;
use super::field;
use super::narrowing::local;
use crate::facts::{Bound, ExpressionId, NameId, Op, ScopeId, UNKNOWN};
use crate::languages::lower::Lower;

/// The most literals that a member may be.
const MOST: usize = 16;
/// Names of members that say which of two a value is.
const FLAGS: &[&str] = &["success", "ok", "done", "valid", "failed", "found"];
const FLAG_STARTS: &[&str] = &["is", "has"];

/// The text of a literal as it stands in names: quotes do not matter.
fn literal<'t>(cx: &Lower<'_, 't>, node: Node<'t>) -> Option<String> {
    let text = cx.text(node);
    match node.kind() {
        "string" => Some(format!("\"{}\"", text.trim_matches(['"', '\'']))),
        "number" | "true" | "false" | "null" | "undefined" => Some(text.to_owned()),
        // A constant of an enumeration.
        "member_expression" | "nested_type_identifier" if !text.contains(['(', '?', '\n']) => Some(format!(".{text}")),
        _ => None,
    }
}

/// The literals that a type consists of; none if it is anything else.
fn of_type<'t>(cx: &mut Lower<'_, 't>, of: Node<'t>) -> Vec<String> {
    let (mut found, mut waiting) = (Vec::new(), vec![of]);
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "type_annotation" | "parenthesized_type" | "literal_type" => waiting.extend(cx.first(node)),
            "union_type" => waiting.extend(cx.children(node)),
            _ => match literal(cx, node).filter(|_| found.len() < MOST) {
                Some(text) => found.push(text),
                None => return Vec::new(),
            },
        }
    }
    found
}

/// Records the literals that a member may be.
pub(super) fn member<'t>(
    cx: &mut Lower<'_, 't>,
    name: NameId,
    of: Option<Node<'t>>,
    value: Option<Node<'t>>,
    is_optional: bool,
    members: ScopeId,
) {
    let mut found = match (of, value) {
        (Some(of), _) => of_type(cx, of),
        (None, Some(value)) => {
            // `kind = "a" as const`
            let value = if value.kind() == "as_expression" { cx.first(value).unwrap_or(value) } else { value };
            literal(cx, value).into_iter().collect()
        }
        _ => Vec::new(),
    };
    if found.is_empty() {
        return;
    }
    if is_optional {
        let dot = if found[0].starts_with('.') { "." } else { "" };
        found.push(format!("{dot}undefined"));
    }
    let is_one_style =
        found.iter().all(|text| text.starts_with('.')) || !found.iter().any(|text| text.starts_with('.'));
    if !is_one_style {
        return;
    }
    let member = cx.facts.text(name).to_owned();
    let texts: Vec<String> = found.iter().map(|text| format!("{member}={text}")).collect();
    let types: Vec<ExpressionId> = texts.iter().map(|text| having(cx, text)).collect();
    for (text, literal) in texts.iter().zip(&found) {
        // Of a constant, the enumeration, which has its value.
        let parts: Vec<&str> = literal.split('.').collect();
        let of = match parts[..] {
            ["", of, _] => {
                let name = cx.facts.name(of);
                cx.facts.named(members, name)
            }
            _ => UNKNOWN,
        };
        let name = cx.facts.name(text);
        cx.facts.bind(members, name, Bound::variable().value(of));
    }
    let all = cx.facts.union(&types);
    let dot = if found[0].starts_with('.') { "." } else { "" };
    let name = cx.facts.name(&format!("{member}={dot}"));
    cx.facts.bind(members, name, Bound::meaning(all));
}

/// Records the value of a constant of an enumeration.
pub(super) fn constant<'t>(cx: &mut Lower<'_, 't>, name: Node<'t>, value: Node<'t>, members: ScopeId) {
    if let Some(text) = literal(cx, value).filter(|text| !text.starts_with('.')) {
        let constant = cx.text(name).trim_matches(['"', '\'']).to_owned();
        let name = cx.facts.name(&format!("{constant}={text}"));
        cx.facts.bind(members, name, Bound::variable());
    }
}

/// The types that have a member.
fn having(cx: &mut Lower<'_, '_>, name: &str) -> ExpressionId {
    let name = cx.facts.name(name);
    cx.facts.member(UNKNOWN, name)
}

/// A member of a local name, by which the types of a union may be told apart: the name, its value and the member.
pub(super) fn discriminant<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
) -> Option<(Node<'t>, ExpressionId, String)> {
    let object = field(node, "object")?;
    let member = match node.kind() {
        "member_expression" => cx.text(field(node, "property")?),
        "subscript_expression" => {
            cx.text(field(node, "index").filter(|index| index.kind() == "string")?).trim_matches(['"', '\''])
        }
        _ => return None,
    };
    Some((object, local(cx, object, scope)?, member.to_owned()))
}

/// The types whose member is a literal.
pub(super) fn equal<'t>(cx: &mut Lower<'_, 't>, member: &str, value: Node<'t>) -> Option<ExpressionId> {
    let text = literal(cx, value)?;
    Some(having(cx, &format!("{member}={text}")))
}

/// The value that is wanted where an object is written, by the literals in it: `{ kind: "a", … }`.
pub(super) fn wanted<'t>(cx: &mut Lower<'_, 't>, object: Node<'t>, wanted: ExpressionId) -> ExpressionId {
    const MOST: usize = 3;
    let mut told = wanted;
    if wanted == UNKNOWN || !is_typescript(object) {
        return wanted;
    }
    let pairs = cx.children(object).into_iter().filter(|pair| pair.kind() == "pair");
    for pair in pairs.take(MOST) {
        let (Some(key), Some(value)) = (field(pair, "key"), field(pair, "value")) else { continue };
        let is_told = key.kind() == "property_identifier" && value.kind() != "number";
        let member = cx.text(key).to_owned();
        if let Some(class) = equal(cx, &member, value).filter(|_| is_told) {
            told = cx.facts.expression(Op::Proven, class, told);
        }
    }
    told
}

/// The local name of which `a.kind === "b"` tells something if it holds, its value and the types that it is of.
pub(super) fn compared<'t>(
    cx: &mut Lower<'_, 't>,
    left: Node<'t>,
    right: Node<'t>,
    scope: ScopeId,
) -> Option<(Node<'t>, ExpressionId, ExpressionId)> {
    let (on, value) =
        if literal(cx, left).is_some_and(|text| !text.starts_with('.')) { (right, left) } else { (left, right) };
    let (named, of, member) = discriminant(cx, on, scope)?;
    Some((named, of, equal(cx, &member, value)?))
}

/// The same of `"member" in a`.
pub(super) fn within<'t>(
    cx: &mut Lower<'_, 't>,
    left: Node<'t>,
    right: Node<'t>,
    scope: ScopeId,
) -> Option<(Node<'t>, ExpressionId, ExpressionId)> {
    let of = local(cx, right, scope).filter(|_| left.kind() == "string")?;
    let member = cx.text(left).trim_matches(['"', '\'']);
    Some((right, of, having(cx, member)))
}

/// The same of a member that is a condition itself, `holds` or not: the types are those that the value is not of.
pub(super) fn flag<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    holds: bool,
    scope: ScopeId,
) -> Option<(Node<'t>, ExpressionId, ExpressionId)> {
    let member = cx.text(field(node, "property")?);
    if !FLAGS.contains(&member) && !FLAG_STARTS.iter().any(|start| member.starts_with(start)) {
        return None;
    }
    let (named, of, member) = discriminant(cx, node, scope)?;
    Some((named, of, having(cx, &format!("{member}={}", !holds))))
}

/// A `switch (a.kind)`, whose cases tell the type of `a`.
pub(super) struct Switch<'t> {
    named: Node<'t>,
    of: ExpressionId,
    cases: Vec<Case>,
}

struct Case {
    /// The types that it is for; none for `default`, and for a value that says nothing.
    class: Option<ExpressionId>,
    is_default: bool,
    is_empty: bool,
    end: End,
}

/// How the statements of a case end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// They go on into the next case.
    Falls,
    Breaks,
    /// They leave the block around the `switch`.
    Leaves,
}

impl<'t> Switch<'t> {
    pub(super) fn of(cx: &mut Lower<'_, 't>, switch: Node<'t>, scope: ScopeId) -> Option<Self> {
        let (on, block) = (field(switch, "value").and_then(|value| cx.first(value))?, field(switch, "body")?);
        let (named, of, member) = discriminant(cx, on, scope)?;
        let mut cases = Vec::new();
        for case in cx.children(block) {
            let value = field(case, "value");
            let last = cx.children(case).into_iter().rfind(|one| Some(*one) != value);
            cases.push(Case {
                class: value.and_then(|value| equal(cx, &member, value)),
                is_default: value.is_none(),
                is_empty: last.is_none(),
                end: last.map_or(End::Falls, super::narrowing::end),
            });
        }
        Some(Self { named, of, cases })
    }

    /// The scope of the statements of a case.
    pub(super) fn within(&self, cx: &mut Lower<'_, 't>, case: usize, scope: ScopeId) -> ScopeId {
        let before = &self.cases[..case];
        let first = before.iter().rposition(|case| !case.is_empty).map_or(0, |last| last + 1);
        let falls = first > 0 && before[first - 1].end == End::Falls;
        let group = &self.cases[first..=case];
        let classes = |cases: &[Case]| cases.iter().map(|case| case.class).collect::<Option<Vec<_>>>();
        let is_default = self.cases[case].is_default && group.len() == 1;
        let told = match is_default {
            true => Some(self.cases.iter().filter_map(|case| case.class).collect()),
            false => classes(group),
        };
        let class = told.filter(|_| !falls).map_or(UNKNOWN, |told| cx.facts.union(&told));
        cx.tell(self.named, self.of, class, !is_default, scope)
    }

    /// The scope after the `switch`: what was of a case that leaves is not there.
    pub(super) fn after(&self, cx: &mut Lower<'_, 't>, scope: ScopeId) -> ScopeId {
        let (mut left, mut pending) = (Vec::new(), Vec::new());
        for case in &self.cases {
            pending.extend(case.class);
            match case.end {
                End::Leaves => left.append(&mut pending),
                End::Breaks => pending.clear(),
                End::Falls => {}
            }
        }
        let class = cx.facts.union(&left);
        cx.tell(self.named, self.of, class, false, scope)
    }
}
