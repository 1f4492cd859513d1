//! Lowering of Kotlin files and statements; see `resolve` for the requirements.
//!
//! A package is a module of all files that declare it. In it lies a scope of the file with its imports and its private
//! names. A name that can be called is bound with `()` behind it: functions, classes, and variables whose type is
//! written as a function. A function that extends a type is bound like any other, and has the type as its alias.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::{headers, types};
use crate::facts::{Bound, Declared, ExpressionId, NameId, Op, ROOT, SEEN, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::{Role, Span};

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let parts = cx.children(root);
    let package = parts.iter().find(|part| part.kind() == "package_header").and_then(|header| cx.first(*header));
    let module = match package {
        Some(package) => {
            let name: String = cx.text(package).split_ascii_whitespace().collect();
            let (name, scope) = (cx.facts.name(&name), cx.facts.scope(ScopeKind::Module, ScopeId::NONE));
            cx.facts.declare(Declared::Inline, name, scope, ROOT);
            scope
        }
        None => ROOT,
    };
    let file = cx.facts.scope(ScopeKind::File, module);
    let mut scope = file;
    for part in parts {
        match part.kind() {
            "package_header" => {}
            "import" => import(cx, part, file),
            _ => scope = cx.read(part, NodeContext::used(scope)).scope,
        }
    }
    for place in headers::left_out(cx.source()) {
        let Ok(name) = std::str::from_utf8(&cx.source()[place.clone()]) else { continue };
        let name = cx.facts.name(name);
        let meant = cx.facts.named(file, name);
        cx.facts.occurrence(Span::new(place.start, place.end), Role::Type, meant);
    }
    // Packages themselves, for whole names.
    let packages = cx.facts.module("*", ROOT);
    cx.facts.star(file, packages, SEEN);
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// A child of this kind.
pub(super) fn child<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    cx.children(node).into_iter().find(|part| part.kind() == kind)
}

/// Whether a sign or a word without a name of its own is directly in a node.
pub(super) fn has_sign(node: Node<'_>, sign: &str) -> bool {
    node.children(&mut node.walk()).any(|part| part.kind() == sign)
}

/// Whether a declaration has a modifier.
pub(super) fn has_word<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, word: &str) -> bool {
    let Some(modifiers) = child(cx, node, "modifiers") else { return false };
    cx.children(modifiers).into_iter().any(|part| cx.text(part) == word)
}

/// The name of what is called.
pub(super) fn called(cx: &mut Lower<'_, '_>, text: &str) -> NameId {
    cx.facts.name(&format!("{text}()"))
}

/// The scope in which a declaration is bound: names of a file that are not private belong to its package.
pub(super) fn home<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ScopeId {
    if cx.facts.is(scope, ScopeKind::File) && !has_word(cx, node, "private") { cx.facts.parent(scope) } else { scope }
}

/// `import a.b.Name`, `import a.b.Name as Other`, `import a.b.*`
fn import<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, file: ScopeId) {
    let parts = cx.children(node);
    let Some(path) = parts.first() else { return };
    let mut names = cx.children(*path);
    let is_star = has_sign(node, "*");
    let last = if is_star { None } else { names.pop() };
    let mut of = UNKNOWN;
    for (place, name) in names.into_iter().enumerate() {
        let text = cx.text(name);
        if place == 0 {
            of = cx.facts.module(&format!(".{text}"), ROOT);
            continue;
        }
        let text = cx.facts.name(text);
        of = cx.facts.member(of, text);
        if cx.text(name).starts_with(char::is_uppercase) {
            cx.facts.occurrence(span_of(name), Role::Import, of);
        }
    }
    if is_star {
        return cx.facts.star(file, of, SEEN);
    }
    let Some(last) = last else { return };
    let of = if of == UNKNOWN { cx.facts.module("", ROOT) } else { of };
    let alias = parts.get(1).copied().unwrap_or(last);
    let names = [cx.text(last).to_owned(), format!("{}()", cx.text(last))];
    let meant = names.map(|name| {
        let name = cx.facts.name(&name);
        cx.facts.member(of, name)
    });
    let (plain, call) = (cx.name(alias), called(cx, cx.text(alias)));
    cx.facts.bind(file, plain, Bound::alias(meant[0]));
    cx.facts.bind(file, call, Bound::alias(meant[1]));
    for meant in meant {
        cx.facts.import(last.start_byte() as u32, meant, 0);
    }
    let either = cx.facts.union(&meant);
    cx.facts.occurrence(span_of(last), Role::Import, either);
}

/// How far out a name is looked for while a file is read. Code of people is not nested as deep; all the way, for each
/// name, would be the square of a file.
pub(super) const FARTHEST: usize = 100;

/// The scope of the file.
pub(super) fn file_scope(cx: &Lower<'_, '_>) -> ScopeId {
    // It is in the root, or in the package, which is the first scope after the root.
    let first = ScopeId(ROOT.0 + 1);
    if cx.facts.is(first, ScopeKind::File) { first } else { ScopeId(first.0 + 1) }
}

/// Notes that the file needs the one of a name of its packages.
pub(super) fn needs(cx: &mut Lower<'_, '_>, node: Node<'_>, mut scope: ScopeId, name: NameId) {
    let file = file_scope(cx);
    for _ in 0..FARTHEST {
        // A name that is imported is noted at its import.
        if cx.facts.binds(scope, name) {
            return;
        }
        if scope == file {
            let meant = cx.facts.named(file, name);
            return cx.facts.needs(node.start_byte() as u32, name, meant);
        }
        scope = cx.facts.parent(scope);
        if scope == ScopeId::NONE {
            return;
        }
    }
}

/// Binds a name to a value that may be called.
pub(super) fn bind_value(cx: &mut Lower<'_, '_>, scope: ScopeId, text: &str, bound: Bound, is_callable: bool) {
    if text == "_" {
        return;
    }
    let name = cx.facts.name(text);
    cx.facts.bind(scope, name, bound);
    if is_callable {
        let name = called(cx, text);
        cx.facts.bind(scope, name, bound);
    }
}

/// `a` or `a: Type`, as the name, the type and whether the type is that of a function.
pub(super) fn variable<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
) -> Option<(Node<'t>, ExpressionId, bool)> {
    let (mut name, mut of, mut is_callable) = (None, UNKNOWN, false);
    for part in cx.children(node) {
        match part.kind() {
            "identifier" => name = Some(part),
            "annotation" => drop(cx.value(part, scope)),
            _ => {
                of = types::written(cx, part, scope);
                is_callable = types::is_function(cx, part);
            }
        }
    }
    Some((name?, of, is_callable))
}

/// `(a, b)`: the parts of a value.
pub(super) fn destructured<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, value: ExpressionId, scope: ScopeId) {
    for (place, part) in (0u32..).zip(cx.children(node)) {
        let Some((name, of, is_callable)) = variable(cx, part, scope) else { continue };
        let item = match value {
            UNKNOWN => UNKNOWN,
            value => {
                let item = cx.facts.expression(Op::Item, value, place);
                let component = cx.facts.name(&format!("component{}()", place + 1));
                let component = cx.facts.member(value, component);
                let list = cx.facts.list(&[]);
                let component = cx.facts.expression(Op::Call, component, list);
                cx.facts.union(&[component, item])
            }
        };
        let text = cx.text(name);
        bind_value(cx, scope, text, Bound::variable().value(item).of(of), is_callable);
    }
}

/// `{ … }`: its value is that of its last statement.
pub(super) fn block<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let inner = cx.facts.scope(ScopeKind::Block, at.scope);
    at.says(statements(cx, node, inner))
}

/// Statements in a row; the value of the last one.
pub(super) fn statements<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, mut scope: ScopeId) -> ExpressionId {
    let mut value = UNKNOWN;
    for part in cx.pieces(node) {
        let said = cx.read(part, NodeContext::used(scope));
        (value, scope) = (said.value, said.scope);
    }
    value
}

/// `for (name in values) …`
pub(super) fn each<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let scope = cx.facts.scope(ScopeKind::Block, at.scope);
    let mut parts = cx.children(node).into_iter().filter(|part| !matches!(part.kind(), "label" | "annotation"));
    let (Some(declared), Some(over)) = (parts.next(), parts.next()) else { return at.says(UNKNOWN) };
    let over = cx.value(over, at.scope);
    let each = cx.facts.of(Op::Each, over);
    if declared.kind() == "multi_variable_declaration" {
        destructured(cx, declared, each, scope);
    } else if let Some((name, of, is_callable)) = variable(cx, declared, scope) {
        let text = cx.text(name);
        bind_value(cx, scope, text, Bound::variable().value(each).of(of), is_callable);
    }
    for part in parts {
        cx.value(part, scope);
    }
    at.says(UNKNOWN)
}

/// `catch (name: Type) { … }`
pub(super) fn catch<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let scope = cx.facts.scope(ScopeKind::Block, at.scope);
    let (mut name, mut value) = (None, UNKNOWN);
    for part in cx.children(node) {
        match part.kind() {
            "identifier" => name = Some(part),
            "block" => value = cx.value(part, scope),
            "annotation" => drop(cx.value(part, scope)),
            _ => {
                let of = types::written(cx, part, scope);
                if let Some(name) = name {
                    let text = cx.text(name);
                    bind_value(cx, scope, text, Bound::variable().of(of), false);
                }
            }
        }
    }
    at.says(value)
}

/// `target = value`
pub(super) fn assignment<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let Some(left) = field(node, "left") {
        cx.read(left, NodeContext { role: Role::Write, ..at });
    }
    field(node, "right").map(|right| cx.value(right, at.scope));
    at.says(UNKNOWN)
}
