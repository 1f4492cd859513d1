//! Lowering of Go declarations and statements; see `resolve` for the requirements.
//!
//! A package's declarations are bound in the root scope of their file. Below it is the scope of the file's imports,
//! and in that everything else. A method is a member of an extension of its receiver's type.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::{receiver_type, types};
use crate::facts::{
    Bound, Declared, Definition, DefinitionId, DefinitionKind, ExpressionId, NONE, NameId, Op, ROOT, SEEN, ScopeId,
    ScopeKind, UNKNOWN,
};
use codelode_base::model::Role;

/// Name under which a file that documents its package binds it; as a word of the language it is no other name.
pub(super) const PACKAGE: &str = "package";

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let file = cx.facts.scope(ScopeKind::File, ROOT);
    // Extension and member scope of each type with methods in this file.
    let mut extensions: FxHashMap<&str, (DefinitionId, ScopeId)> = FxHashMap::default();
    let mut scope = file;
    for node in cx.children(root) {
        match node.kind() {
            "package_clause" => {
                if let Some(name_node) = cx.first(node) {
                    let name = cx.name(name_node);
                    cx.facts.declare(Declared::Package, name, ROOT, ROOT);
                    // The package has its symbol where it is documented.
                    if !cx.comment_above(node, "/").is_empty() {
                        let name = cx.facts.name(PACKAGE);
                        cx.facts.bind(ROOT, name, Bound::alias(UNKNOWN).at(name_node.start_byte() as u32));
                    }
                }
            }
            "import_declaration" => imports(cx, node, root, file),
            "function_declaration" => function(cx, node, file, None),
            "method_declaration" => {
                let receiver = field(node, "receiver").and_then(receiver_type);
                let Some(receiver) = receiver else { continue };
                // Methods whose receivers are written alike share its type parameters.
                let written = receiver.parent().filter(|of| of.kind() == "generic_type").unwrap_or(receiver);
                let extension = match extensions.get(cx.text(written)) {
                    Some(extension) => *extension,
                    None => extension(cx, receiver, written, file),
                };
                extensions.insert(cx.text(written), extension);
                function(cx, node, file, Some(extension));
            }
            "type_declaration" => {
                for spec in cx.children(node) {
                    types::declare(cx, spec, file, ROOT);
                }
            }
            "var_declaration" | "const_declaration" => drop(values(cx, node, file, true)),
            _ => scope = cx.read(node, NodeContext::used(scope)).scope,
        }
    }
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The names of a declaration, including blank ones.
pub(super) fn names<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name("name", &mut cursor).filter(|name| name.is_named()).collect()
}

fn imports<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, root: Node<'t>, file: ScopeId) {
    for child in cx.children(node) {
        if child.kind() == "import_spec_list" {
            cx.deeper(|cx| imports(cx, child, root, file));
            continue;
        }
        let Some(path) = field(child, "path") else { continue };
        let path = cx.text(path).trim_matches(['"', '`']);
        let module = cx.facts.module(path, file);
        cx.facts.import(child.start_byte() as u32, module, 0);
        let name = match field(child, "name").map(|name| (name.kind(), cx.text(name))) {
            Some(("dot", _)) => {
                cx.facts.star(file, module, SEEN);
                continue;
            }
            Some((_, "_")) => continue,
            Some((_, name)) => name.to_owned(),
            None => package_name(path, cx.text(root)),
        };
        let name = cx.facts.name(&name);
        cx.facts.bind(file, name, Bound::alias(module));
    }
}

/// Guesses a package's name from its import path: of the usual names, the one used in the text. Only the package's
/// own files have the real name.
fn package_name(path: &str, text: &str) -> String {
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
    let mut last = parts.next().unwrap_or(path);
    let mut guesses = vec![last.to_owned()];
    if is_version(last) {
        last = parts.next().unwrap_or(last);
        guesses.insert(0, last.to_owned());
    }
    // `yaml.v3`, `go-chi`, `flag-go`, `some-name`.
    let stem = last.rsplit_once('.').filter(|(_, end)| is_version(end) || *end == "go").map_or(last, |(stem, _)| stem);
    let short = stem.strip_prefix("go-").or(stem.strip_suffix("-go")).or(stem.strip_prefix("go.")).unwrap_or(stem);
    guesses.extend([stem.to_owned(), short.to_owned(), short.replace(['-', '.'], ""), short.replace(['-', '.'], "_")]);
    guesses.extend([short, stem].map(|name| name.rsplit(['-', '.']).next().unwrap_or(name).to_owned()));
    guesses.extend([short, stem].map(|name| name.split(['-', '.']).next().unwrap_or(name).to_owned()));
    guesses.retain(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    guesses.dedup();
    let is_used = |name: &String| {
        let dotted = format!("{name}.");
        text.match_indices(&dotted).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '"' | '/' | '-'))
        })
    };
    let place = if guesses.len() < 2 { None } else { guesses.iter().position(is_used) };
    guesses.into_iter().nth(place.unwrap_or(0)).unwrap_or_default()
}

/// A function, or a method with its extension and member scope.
fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, file: ScopeId, extension: Option<(DefinitionId, ScopeId)>) {
    let Some(name_node) = field(node, "name") else { return };
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let owner = extension.map_or(DefinitionId::NONE, |(extension, _)| extension);
    let function = cx.facts.define(Definition { name, at, owner, ..Definition::default() });
    let text = cx.text(name_node);
    // Blank and `init` functions cannot be referenced.
    if text != "_" && !(text == "init" && extension.is_none()) {
        let into = extension.map_or(ROOT, |(_, members)| members);
        cx.facts.bind(into, name, Bound::definition(function).at(at));
    }
    let outer = extension.map_or(file, |(_, members)| cx.facts.parent(members));
    let around = cx.facts.scope(ScopeKind::Block, outer);
    let inner = cx.facts.scope(ScopeKind::Function, around);
    let generics = types::type_parameters(cx, node, around);
    if let Some(receiver) = field(node, "receiver") {
        types::parameters(cx, receiver, around, Some(inner));
    }
    let takes =
        field(node, "parameters").map(|list| types::parameters(cx, list, around, Some(inner))).unwrap_or_default();
    let (parameters, returns) = (cx.facts.list(&takes), types::results(cx, node, around, Some(inner)));
    let definition = cx.facts.definition(function);
    (definition.parameters, definition.returns, definition.generics) = (parameters, returns, generics);
    if let Some(body) = field(node, "body") {
        block(cx, body, inner);
    }
}

/// The part of a type with the methods of receivers that are written like one, and its members. It binds their type
/// parameters: `func (l *List[T]) …`.
fn extension<'t>(
    cx: &mut Lower<'_, 't>,
    receiver: Node<'t>,
    written: Node<'t>,
    file: ScopeId,
) -> (DefinitionId, ScopeId) {
    let name = cx.name(receiver);
    let mut extended = cx.facts.named(file, name);
    let mut around = file;
    if let Some(list) = field(written, "type_arguments") {
        around = cx.facts.scope(ScopeKind::Block, file);
        let mut arguments = Vec::new();
        for argument in cx.children(list) {
            let name = cx.first(argument).map_or(cx.facts.name("_"), |argument| cx.name(argument));
            cx.facts.bind(around, name, Bound::variable());
            arguments.push(cx.facts.named(around, name));
        }
        let arguments = cx.facts.list(&arguments);
        extended = cx.facts.expression(Op::Generic, extended, arguments);
    }
    let part = Definition { kind: DefinitionKind::Class, ..Definition::default() };
    let extension = cx.facts.class(part, around);
    cx.facts.extend(extended, extension.0);
    extension
}

/// Reads the statements of a block in this scope.
pub(super) fn block<'t>(cx: &mut Lower<'_, 't>, block: Node<'t>, scope: ScopeId) {
    cx.parts(block, scope);
}

/// A short declaration, `a, b := f()`.
pub(super) fn short_declaration<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let right = field(node, "right").map(|right| cx.list(right, NodeContext::used(at.scope))).unwrap_or_default();
    let left = field(node, "left").map(|left| cx.children(left)).unwrap_or_default();
    assigned(cx, &left, &right, at.scope)
}

/// A receive statement, `case v, ok := <-channel`.
pub(super) fn receive<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let right = field(node, "right").map_or(UNKNOWN, |right| cx.value(right, at.scope));
    let Some(left) = field(node, "left") else { return at.says(UNKNOWN) };
    if is_declared(node) {
        let left = cx.children(left);
        return assigned(cx, &left, &[right], at.scope);
    }
    cx.list(left, NodeContext { role: Role::Write, ..at });
    at.says(UNKNOWN)
}

/// A range clause, `for k, v := range over`.
pub(super) fn range<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let over = field(node, "right").map_or(UNKNOWN, |right| cx.value(right, at.scope));
    let Some(left) = field(node, "left") else { return at.says(UNKNOWN) };
    if !is_declared(node) {
        cx.list(left, NodeContext { role: Role::Write, ..at });
        return at.says(UNKNOWN);
    }
    let left = cx.children(left);
    let values = [Op::Key, Op::Element].map(|op| cx.facts.of(op, over));
    assigned(cx, &left, &values[..left.len().min(2)], at.scope)
}

/// A local `var` or `const`.
pub(super) fn local_values<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    NodeResult { value: UNKNOWN, scope: values(cx, node, at.scope, false) }
}

/// A local `type`.
pub(super) fn local_types<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    for spec in cx.children(node) {
        types::declare(cx, spec, at.scope, at.scope);
    }
    at.says(UNKNOWN)
}

/// Whether the left side is declared here: `:=`, not `=`.
fn is_declared(node: Node<'_>) -> bool {
    node.children(&mut node.walk()).any(|child| child.kind() == ":=")
}

/// Scope for a declaration of these names; see [`Lower::fresh`].
fn fresh<'t>(cx: &mut Lower<'_, 't>, names: &[Node<'t>], scope: ScopeId) -> ScopeId {
    let names: Vec<Node<'t>> = names.iter().filter(|node| cx.text(**node) != "_").copied().collect();
    let names: Vec<NameId> = names.into_iter().map(|node| cx.name(node)).collect();
    cx.fresh(&names, scope)
}

/// Binds names to values, one each or all from one call; returns the scope for the nodes after it.
fn assigned<'t>(cx: &mut Lower<'_, 't>, left: &[Node<'t>], right: &[ExpressionId], scope: ScopeId) -> NodeResult {
    let scope = fresh(cx, left, scope);
    for (place, node) in left.iter().enumerate() {
        let name = cx.name(*node);
        // A redeclared variable keeps its type.
        if node.kind() != "identifier" || cx.text(*node) == "_" || cx.facts.binds(scope, name) {
            continue;
        }
        let value = value_of(cx, right, left.len(), place);
        cx.facts.bind(scope, name, Bound::variable().value(value));
    }
    NodeResult { value: UNKNOWN, scope }
}

/// The value at `place` of `count` names.
fn value_of(cx: &mut Lower<'_, '_>, right: &[ExpressionId], count: usize, place: usize) -> ExpressionId {
    match *right {
        _ if right.len() == count => right[place],
        // `v, ok := m[k]` has the value first; a call may return several.
        [of] if cx.facts.look(of).op == Op::Call => cx.facts.expression(Op::Item, of, place as u32),
        [of] if place == 0 => of,
        _ => UNKNOWN,
    }
}

/// A type switch, `switch x := y.(type)`: `x` has the type of each case.
pub(super) fn type_switch<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut scope = cx.facts.scope(ScopeKind::Block, at.scope);
    if let Some(initializer) = field(node, "initializer") {
        scope = cx.read(initializer, NodeContext::used(scope)).scope;
    }
    let value = field(node, "value").map_or(UNKNOWN, |value| cx.value(value, scope));
    let alias = field(node, "alias").and_then(|list| cx.first(list)).filter(|alias| cx.text(*alias) != "_");
    for case in cx.children(node) {
        if !matches!(case.kind(), "type_case" | "default_case") {
            continue;
        }
        let mut inner = cx.facts.scope(ScopeKind::Block, scope);
        let cases: Vec<Node<'t>> =
            case.children_by_field_name("type", &mut case.walk()).filter(|of| of.is_named()).collect();
        let types: Vec<ExpressionId> = cases.iter().map(|of| types::of(cx, *of, scope)).collect();
        if let Some(alias) = alias {
            let name = cx.name(alias);
            match types[..] {
                [only] if cx.text(cases[0]) != "nil" => {
                    cx.facts.bind(inner, name, Bound::variable().of(only));
                }
                _ => cx.facts.bind(inner, name, Bound::variable().value(value)),
            }
        }
        for child in cx.children(case).into_iter().filter(|child| !cases.contains(child)) {
            inner = cx.read(child, NodeContext::used(inner)).scope;
        }
    }
    at.says(UNKNOWN)
}

/// `var` and `const`, in a package or function; returns the scope for the nodes after it.
fn values<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, of_package: bool) -> ScopeId {
    let mut scope = scope;
    // A constant without a value repeats the previous line.
    let (mut of, mut right) = (UNKNOWN, Vec::new());
    for line in cx.children(node) {
        if line.kind() == "var_spec_list" {
            scope = cx.deeper(|cx| Some(values(cx, line, scope, of_package))).unwrap_or(scope);
            continue;
        }
        let (written, value) = (field(line, "type"), field(line, "value"));
        if line.kind() == "var_spec" || written.is_some() || value.is_some() {
            of = written.map_or(UNKNOWN, |written| types::of(cx, written, scope));
            right = value.map(|value| cx.list(value, NodeContext::used(scope))).unwrap_or_default();
        }
        let names = names(line);
        if !of_package {
            scope = fresh(cx, &names, scope);
        }
        for (place, node) in names.iter().enumerate() {
            if cx.text(*node) == "_" {
                continue;
            }
            let (into, at) = if of_package { (ROOT, node.start_byte() as u32) } else { (scope, NONE) };
            let value = value_of(cx, &right, names.len(), place);
            let name = cx.name(*node);
            cx.facts.bind(into, name, Bound::variable().value(value).of(of).at(at));
        }
    }
    scope
}
