//! Lowering of Scala files and statements; see `resolve` for the requirements.
//!
//! A package is a module of all files that declare it. In it lies a scope of the file with its imports. Types and terms
//! have names of their own, as in `class Item` beside `object Item`: the name of a term is bound with `()` behind it.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::patterns;
use crate::facts::{Bound, Declared, ExpressionId, NameId, Op, ROOT, SEEN, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let mut file = file_of(cx, "");
    let mut whole = String::new();
    for part in cx.pieces(root) {
        match field(part, "name") {
            // `package a.b` and then `package c`: what is below sees both.
            Some(name) if part.kind() == "package_clause" && field(part, "body").is_none() => {
                let inner = joined(&whole, &path_text(cx, name));
                let around = std::mem::replace(&mut whole, inner);
                file = file_of(cx, &whole);
                if !around.is_empty() {
                    let around = cx.facts.module(&format!(".{around}"), ROOT);
                    cx.facts.star(file, around, SEEN);
                }
            }
            Some(name) if matches!(part.kind(), "package_clause" | "package_object") => {
                let inner = joined(&whole, &path_text(cx, name));
                let scope = file_of(cx, &inner);
                if !whole.is_empty() {
                    let around = cx.facts.module(&format!(".{whole}"), ROOT);
                    cx.facts.star(scope, around, SEEN);
                }
                cx.deeper(|cx| {
                    field(part, "body").map(|body| cx.parts(body, scope));
                });
            }
            _ => drop(cx.value(part, file)),
        }
    }
}

/// A scope of the file in a package.
fn file_of(cx: &mut Lower<'_, '_>, package: &str) -> ScopeId {
    let module = match package {
        "" => ROOT,
        package => {
            let (name, scope) = (cx.facts.name(package), cx.facts.scope(ScopeKind::Module, ScopeId::NONE));
            cx.facts.declare(Declared::Inline, name, scope, ROOT);
            scope
        }
    };
    let file = cx.facts.scope(ScopeKind::File, module);
    // Packages themselves, for whole names.
    let packages = cx.facts.module("*", ROOT);
    cx.facts.star(file, packages, SEEN);
    file
}

fn joined(package: &str, inner: &str) -> String {
    if package.is_empty() { inner.to_owned() } else { format!("{package}.{inner}") }
}

fn path_text(cx: &Lower<'_, '_>, node: Node<'_>) -> String {
    cx.text(node).split_ascii_whitespace().collect()
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The parts of a node in a field that may be there several times.
pub(super) fn fields<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    node.children_by_field_name(name, &mut node.walk()).filter(Node::is_named).collect()
}

/// A child of this kind.
pub(super) fn child<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    cx.children(node).into_iter().find(|part| part.kind() == kind)
}

/// Whether a sign or a word without a name of its own is directly in a node.
pub(super) fn has_sign(node: Node<'_>, sign: &str) -> bool {
    node.children(&mut node.walk()).any(|part| part.kind() == sign)
}

/// The name of a node, without the marks around one that is a word of the language.
pub(super) fn plain<'s>(cx: &Lower<'s, '_>, node: Node<'_>) -> &'s str {
    cx.text(node).trim_matches('`')
}

/// The name of a term.
pub(super) fn term(cx: &mut Lower<'_, '_>, text: &str) -> NameId {
    cx.facts.name(&format!("{text}()"))
}

/// The scope in which a declaration is bound: names of a file belong to its package.
pub(super) fn home(cx: &Lower<'_, '_>, scope: ScopeId) -> ScopeId {
    if cx.facts.is(scope, ScopeKind::File) { cx.facts.parent(scope) } else { scope }
}

/// Whether names of a scope are seen from elsewhere, so that they are symbols.
pub(super) fn is_open(cx: &Lower<'_, '_>, scope: ScopeId) -> bool {
    !cx.facts.is(scope, ScopeKind::Function) && !cx.facts.is(scope, ScopeKind::Block)
}

/// `import a.b.Name`, `import a.b.{Name, Other => Third, _}`, `import a.b.*`, at the top or among statements
pub(super) fn import<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    // One declaration may have several paths, each after a comma.
    let mut path: Vec<Node<'t>> = Vec::new();
    let mut last = None;
    for part in node.children(&mut node.walk()) {
        match part.kind() {
            "import" | "." | "comment" | "block_comment" => {}
            "," => {
                imported(cx, &path, last.take(), at.scope);
                path.clear();
            }
            "identifier" | "operator_identifier" => path.push(part),
            _ => last = Some(part),
        }
    }
    imported(cx, &path, last, at.scope);
    at.says(UNKNOWN)
}

fn imported<'t>(cx: &mut Lower<'_, 't>, path: &[Node<'t>], last: Option<Node<'t>>, scope: ScopeId) {
    let Some((name, before)) = path.split_last() else { return };
    let Some(last) = last else {
        let of = path_value(cx, before, Some(*name), scope);
        return import_name(cx, of, *name, *name, scope);
    };
    let of = path_value(cx, path, None, scope);
    match last.kind() {
        "namespace_wildcard" => cx.facts.star(scope, of, SEEN),
        "namespace_selectors" => {
            for part in cx.children(last) {
                match part.kind() {
                    "namespace_wildcard" => cx.facts.star(scope, of, SEEN),
                    "identifier" | "operator_identifier" => import_name(cx, of, part, part, scope),
                    _ => import_renamed(cx, of, part, scope),
                }
            }
        }
        _ => import_renamed(cx, of, last, scope),
    }
}

/// `Name => Other`, `Name as Other`, `Name => _`
fn import_renamed<'t>(cx: &mut Lower<'_, 't>, of: ExpressionId, node: Node<'t>, scope: ScopeId) {
    if let (Some(name), Some(alias)) = (field(node, "name"), field(node, "alias")) {
        import_name(cx, of, name, alias, scope);
    }
}

/// The meaning of an import's path: packages from the root or from the package around, or an object.
fn path_value<'t>(cx: &mut Lower<'_, 't>, path: &[Node<'t>], bound: Option<Node<'t>>, scope: ScopeId) -> ExpressionId {
    let Some((first, rest)) = path.split_first() else { return cx.facts.module("", ROOT) };
    let text = plain(cx, *first);
    let mut found = vec![cx.facts.module(&format!(".{text}"), ROOT)];
    // A name that is bound by what it begins with would mean itself.
    if bound.is_none_or(|bound| plain(cx, bound) != text) {
        let name = term(cx, text);
        found.push(cx.facts.named(scope, name));
    }
    let mut of = if text == "_root_" { cx.facts.module("", ROOT) } else { cx.facts.union(&found) };
    if text.starts_with(char::is_uppercase) {
        cx.facts.occurrence(span_of(*first), Role::Import, of);
    }
    for part in rest {
        of = inside(cx, of, *part);
        if plain(cx, *part).starts_with(char::is_uppercase) {
            cx.facts.occurrence(span_of(*part), Role::Import, of);
        }
    }
    of
}

/// A package in a package, or an object in one.
pub(super) fn inside(cx: &mut Lower<'_, '_>, of: ExpressionId, part: Node<'_>) -> ExpressionId {
    let text = plain(cx, part);
    let names = [cx.facts.name(text), term(cx, text)];
    // Packages are written in small letters, and objects are not.
    let wanted = if text.starts_with(char::is_uppercase) { &names[1..] } else { &names[..] };
    let found: Vec<ExpressionId> = wanted.iter().map(|name| cx.facts.member(of, *name)).collect();
    cx.facts.union(&found)
}

/// Binds the type and the term of a name.
fn import_name<'t>(cx: &mut Lower<'_, 't>, of: ExpressionId, name: Node<'t>, alias: Node<'t>, scope: ScopeId) {
    let text = plain(cx, name);
    let names = [cx.facts.name(text), term(cx, text)];
    let meant = names.map(|name| cx.facts.member(of, name));
    let either = cx.facts.union(&meant);
    cx.facts.occurrence(span_of(name), Role::Import, either);
    for meant in meant {
        cx.facts.import(name.start_byte() as u32, meant, 0);
    }
    if alias.kind() == "wildcard" {
        return;
    }
    let text = plain(cx, alias);
    let names = [cx.facts.name(text), term(cx, text)];
    for (name, meant) in names.into_iter().zip(meant) {
        cx.facts.bind(scope, name, Bound::alias(meant));
    }
}

/// How far out a name is looked for while a file is read. Code of people is not nested as deep; all the way, for each
/// name, would be the square of a file.
const FARTHEST: usize = 100;

/// Notes that the file needs the one of a name of its packages.
pub(super) fn needs(cx: &mut Lower<'_, '_>, node: Node<'_>, mut scope: ScopeId, name: NameId) {
    for _ in 0..FARTHEST {
        // A name that is imported is noted at its import.
        if scope == ScopeId::NONE || cx.facts.binds(scope, name) {
            return;
        }
        if cx.facts.is(scope, ScopeKind::File) {
            let meant = cx.facts.named(scope, name);
            return cx.facts.needs(node.start_byte() as u32, name, meant);
        }
        scope = cx.facts.parent(scope);
    }
}

/// Whether a name is bound in the file so far.
pub(super) fn is_bound(cx: &Lower<'_, '_>, mut scope: ScopeId, name: NameId) -> bool {
    for _ in 0..FARTHEST {
        if scope == ScopeId::NONE {
            return false;
        }
        if cx.facts.binds(scope, name) {
            return true;
        }
        scope = cx.facts.parent(scope);
    }
    false
}

/// `{ … }`: its value is that of its last statement.
pub(super) fn block<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let inner = cx.facts.scope(ScopeKind::Block, at.scope);
    let parts = cx.pieces(node);
    at.says(statements(cx, &parts, inner))
}

/// Statements in a row; the value of the last one.
pub(super) fn statements<'t>(cx: &mut Lower<'_, 't>, parts: &[Node<'t>], scope: ScopeId) -> ExpressionId {
    let mut value = UNKNOWN;
    for part in parts {
        value = cx.value(*part, scope);
    }
    value
}

/// `for (name <- values; other = value if condition) …`, with `yield` before the last part for a new container
pub(super) fn each<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut scope = at.scope;
    for part in fields(node, "enumerators").into_iter().filter(|part| part.kind() == "enumerators") {
        for one in cx.children(part) {
            scope = enumerator(cx, one, scope);
        }
    }
    let inner = cx.facts.scope(ScopeKind::Block, scope);
    let value = statements(cx, &fields(node, "body"), inner);
    if value == UNKNOWN || !has_sign(node, "yield") {
        return at.says(UNKNOWN);
    }
    let of = cx.facts.of(Op::TypeOf, value);
    let list = cx.facts.list(&[of]);
    let all = cx.facts.expression(Op::Generic, UNKNOWN, list);
    at.says(cx.facts.of(Op::Instance, all))
}

fn enumerator<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ScopeId {
    let parts = cx.children(node);
    let Some((pattern, rest)) = parts.split_first().filter(|(first, _)| first.kind() != "guard") else {
        cx.parts(node, scope);
        return scope;
    };
    if rest.is_empty() {
        cx.value(*pattern, scope);
        return scope;
    }
    let inner = cx.facts.scope(ScopeKind::Block, scope);
    for (place, part) in rest.iter().enumerate() {
        if place > 0 {
            cx.value(*part, inner);
            continue;
        }
        let mut value = cx.value(*part, scope);
        if has_sign(node, "<-") {
            value = cx.facts.of(Op::Each, value);
        }
        patterns::bind(cx, *pattern, value, inner);
    }
    inner
}

/// `target = value`
pub(super) fn assignment<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let Some(left) = field(node, "left") {
        cx.read(left, NodeContext { role: Role::Write, ..at });
    }
    field(node, "right").map(|right| cx.value(right, at.scope));
    at.says(UNKNOWN)
}
