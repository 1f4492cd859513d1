//! Lowering of C# files and statements; see `resolve` for the requirements.
//!
//! A namespace is a module of all files that declare it. In it lies a scope of the file with its `using` lines. A
//! generic type is spelt with the number of its parameters, ``List`1``. Types outside of the project that have extension
//! methods in it are bound in a namespace of their own, [`OUTSIDE`], which is looked through last.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::shapes::CLASSES;
use super::{classes, types};
use crate::facts::{Bound, Declared, ExpressionId, OFFERED, Op, ROOT, SEEN, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// The namespace of types outside of the project that have extension methods.
pub(super) const OUTSIDE: &str = "<outside>";

/// How many namespaces around one its names are looked for in. All of them at every depth would be the square of the
/// depth.
const MOST_AROUND: usize = 32;

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let all = unfolded(cx, root);
    namespace(cx, &all, ROOT, "", &[]);
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The parts of a node, with those between `#if` and `#endif` among them.
pub(super) fn unfolded<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>) -> Vec<Node<'t>> {
    let condition = field(node, "condition").filter(|_| node.kind().starts_with("preproc"));
    let mut all = Vec::new();
    for part in cx.children(node).into_iter().filter(|part| Some(*part) != condition) {
        match part.kind() {
            "preproc_if" | "preproc_elif" | "preproc_else" => all.extend(cx.deeper(|cx| unfolded(cx, part))),
            _ => all.push(part),
        }
    }
    all
}

/// Statements between `#if` and `#endif`.
pub(super) fn either_text<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    for part in unfolded(cx, node) {
        cx.value(part, at.scope);
    }
    at.says(UNKNOWN)
}

/// A `using` line: the alias, or all names of it.
type Using<'t> = (Option<Node<'t>>, ExpressionId);

/// Reads the declarations of a namespace with the scope `module`; `outer` are the lines of the namespaces around it.
fn namespace<'t>(cx: &mut Lower<'_, 't>, all: &[Node<'t>], module: ScopeId, name: &str, outer: &[Using<'t>]) {
    let file = cx.facts.scope(ScopeKind::File, module);
    // The namespaces in it, and all names of those around it.
    let mut seen = vec![if name.is_empty() { "*".to_owned() } else { format!("{name}.*") }];
    let mut around = name;
    while !around.is_empty() && seen.len() < MOST_AROUND {
        around = around.rsplit_once('.').map_or("", |(around, _)| around);
        seen.push(around.to_owned());
    }
    for spec in seen {
        let from = cx.facts.module(&spec, ROOT);
        cx.facts.star(file, from, SEEN);
    }
    let lines = all.iter().filter(|part| part.kind() == "using_directive");
    let mut usings: Vec<Using<'t>> = lines.filter_map(|line| using(cx, *line, file)).collect();
    usings.extend(outer);
    for (alias, of) in &usings {
        match *alias {
            None => cx.facts.star(file, *of, SEEN),
            Some(alias) => {
                let text = cx.text(alias);
                for name in [cx.facts.name(text), types::type_name(cx, text)] {
                    cx.facts.bind(file, name, Bound::alias(*of));
                }
            }
        }
    }
    let outside = cx.facts.module(OUTSIDE, ROOT);
    cx.facts.star(file, outside, SEEN);
    for (place, part) in all.iter().enumerate() {
        match part.kind() {
            "using_directive" => {}
            // A file has one at most; more would be read within each other.
            "file_scoped_namespace_declaration" if !name.is_empty() => {}
            "file_scoped_namespace_declaration" => {
                let (inner, name) = declared(cx, *part, name);
                return namespace(cx, &all[place + 1..], inner, &name, &usings);
            }
            "namespace_declaration" => {
                let (inner, name) = declared(cx, *part, name);
                let all = field(*part, "body").map(|body| unfolded(cx, body)).unwrap_or_default();
                cx.deeper(|cx| namespace(cx, &all, inner, &name, &usings));
            }
            kind if CLASSES.contains(&kind) => {
                if classes::is_partial(cx, *part) {
                    let own = cx.facts.module(&format!(".{name}"), ROOT);
                    classes::bind_parts(cx, *part, own, file);
                }
                classes::declare(cx, *part, module, file);
            }
            "delegate_declaration" => classes::declare_delegate(cx, *part, module, file),
            _ => drop(cx.value(*part, file)),
        }
    }
}

/// The scope and the whole name of a namespace.
fn declared<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, around: &str) -> (ScopeId, String) {
    let own: String = field(node, "name").map_or("", |name| cx.text(name)).split_ascii_whitespace().collect();
    let name = if around.is_empty() { own } else { format!("{around}.{own}") };
    let scope = cx.facts.scope(ScopeKind::Module, ScopeId::NONE);
    let text = cx.facts.name(&name);
    cx.facts.declare(Declared::Inline, text, scope, ROOT);
    (scope, name)
}

/// `using A.B;`, `using static A.B.C;`, `using X = A.B.C;`.
fn using<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, file: ScopeId) -> Option<Using<'t>> {
    let is = |word: &str| node.children(&mut node.walk()).any(|part| part.kind() == word);
    let alias = field(node, "name");
    let of = cx.children(node).into_iter().find(|part| Some(*part) != alias)?;
    // A namespace may be of many files; those that are needed are known by the types that are named.
    let meant = if alias.is_none() && !is("static") {
        let name: String = cx.text(of).split_ascii_whitespace().collect();
        cx.facts.module(name.trim_start_matches("global::"), file)
    } else {
        cx.read(of, NodeContext { scope: file, role: Role::Import }).value
    };
    if is("global") && alias.is_none() {
        cx.facts.star(ROOT, meant, OFFERED);
    }
    Some((alias, meant))
}

/// Binds a local name.
pub(super) fn bind_local(
    cx: &mut Lower<'_, '_>,
    name: Node<'_>,
    scope: ScopeId,
    value: ExpressionId,
    of: ExpressionId,
) {
    if cx.text(name) != "_" {
        let name = cx.name(name);
        cx.facts.bind(scope, name, Bound::variable().value(value).of(of));
    }
}

/// `Type a = 1, b;` in a class or a function.
pub(super) fn variables<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = types::of_part(cx, node, "type", at.scope);
    let is_member = cx.facts.is(at.scope, ScopeKind::Class);
    for declarator in cx.children(node) {
        if declarator.kind() != "variable_declarator" {
            continue;
        }
        let (name, mut value) = (field(declarator, "name"), UNKNOWN);
        for part in cx.children(declarator).into_iter().filter(|part| Some(*part) != name) {
            value = match part.kind() {
                "tuple_pattern" => UNKNOWN,
                "implicit_object_creation_expression" => super::expressions::created(cx, part, of, at.scope),
                _ => cx.value(part, at.scope),
            };
        }
        let pattern = cx.first(declarator).filter(|first| first.kind() == "tuple_pattern");
        if let Some(pattern) = pattern {
            deconstructed(cx, pattern, value, at.scope);
        }
        match name {
            Some(name) if is_member => {
                let (name, place) = (cx.name(name), name.start_byte() as u32);
                cx.facts.bind(at.scope, name, Bound::variable().value(value).of(of).at(place));
            }
            Some(name) => bind_local(cx, name, at.scope, value, of),
            None => {}
        }
    }
    at.says(UNKNOWN)
}

/// `(a, b)` on the left side.
fn deconstructed<'t>(cx: &mut Lower<'_, 't>, pattern: Node<'t>, value: ExpressionId, scope: ScopeId) {
    for (place, part) in (0..).zip(cx.children(pattern)) {
        let item = if value == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, value, place) };
        match part.kind() {
            "identifier" => bind_local(cx, part, scope, item, UNKNOWN),
            _ => cx.deeper(|cx| deconstructed(cx, part, item, scope)),
        }
    }
}

/// `Type name` in a pattern, an `out` argument or a `catch`.
pub(super) fn local<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = types::of_part(cx, node, "type", at.scope);
    if let Some(name) = field(node, "name") {
        bind_local(cx, name, at.scope, UNKNOWN, of);
    }
    at.says(cx.facts.of(Op::Instance, of))
}

/// `var name` in a pattern.
pub(super) fn any_value<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let Some(name) = field(node, "name") {
        bind_local(cx, name, at.scope, UNKNOWN, UNKNOWN);
    }
    at.says(UNKNOWN)
}

/// `Type { Member: pattern } name`.
pub(super) fn recursive_pattern<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = types::of_part(cx, node, "type", at.scope);
    let instance = cx.facts.of(Op::Instance, of);
    let (written, name) = (field(node, "type"), field(node, "name"));
    if let Some(name) = name {
        bind_local(cx, name, at.scope, UNKNOWN, of);
    }
    for part in cx.children(node).into_iter().filter(|part| Some(*part) != written && Some(*part) != name) {
        for inner in cx.children(part) {
            let parts = cx.children(inner);
            let is_named = part.kind() == "property_pattern_clause" && parts.len() > 1;
            for (place, one) in parts.into_iter().enumerate() {
                match one.kind() {
                    "identifier" if place == 0 && is_named => cx.member(one, instance, Role::Reference),
                    _ => drop(cx.value(one, at.scope)),
                }
            }
        }
    }
    at.says(UNKNOWN)
}

/// `foreach (Type name in values) …`
pub(super) fn each<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let scope = cx.facts.scope(ScopeKind::Block, at.scope);
    let of = types::of_part(cx, node, "type", scope);
    let over = field(node, "right").map_or(UNKNOWN, |over| cx.value(over, at.scope));
    let each = cx.facts.of(Op::Each, over);
    match field(node, "left") {
        Some(name) if name.kind() == "identifier" => bind_local(cx, name, scope, each, of),
        Some(pattern) if pattern.kind() == "tuple_pattern" => deconstructed(cx, pattern, each, scope),
        Some(other) => drop(cx.value(other, scope)),
        None => {}
    }
    if let Some(body) = field(node, "body") {
        cx.value(body, scope);
    }
    at.says(UNKNOWN)
}

/// `from name in values`
pub(super) fn from<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = types::of_part(cx, node, "type", at.scope);
    let (written, name) = (field(node, "type"), field(node, "name"));
    let mut over = UNKNOWN;
    for part in cx.children(node).into_iter().filter(|part| Some(*part) != written && Some(*part) != name) {
        over = cx.value(part, at.scope);
    }
    if let Some(name) = name {
        let each = cx.facts.of(Op::Each, over);
        bind_local(cx, name, at.scope, each, of);
    }
    at.says(UNKNOWN)
}

/// `let name = value`, `join name in values …`, `into name`.
pub(super) fn named_first<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut parts = cx.children(node).into_iter();
    let name = parts.find(|part| part.kind() == "identifier");
    let mut first = UNKNOWN;
    for part in parts {
        let value = cx.value(part, at.scope);
        first = if first == UNKNOWN { value } else { first };
    }
    if let Some(name) = name {
        let value = if node.kind() == "join_clause" { cx.facts.of(Op::Each, first) } else { first };
        bind_local(cx, name, at.scope, value, UNKNOWN);
    }
    at.says(UNKNOWN)
}

/// `label: statement`, `name: argument`; the value is that of the last part.
pub(super) fn labeled<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parts = cx.children(node);
    let label = usize::from(node.kind() == "labeled_statement" || field(node, "name").is_some());
    let mut value = UNKNOWN;
    for part in parts.into_iter().skip(label) {
        value = cx.read(part, at).value;
    }
    at.says(value)
}
