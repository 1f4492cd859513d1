//! Lowering of imports and exports, of both kinds of modules.

use tree_sitter::Node;

use super::expressions::walk;
use super::{classes, declared_function, declared_names, field, functions, has_word, statement};
use crate::facts::{
    BindingKind, Bound, Definition, DefinitionId, ExpressionId, NameId, OFFERED, Op, ROOT, ScopeId, UNKNOWN,
};
use crate::languages::definition::span_of;
use crate::languages::javascript::value::wrapped;
use crate::languages::lower::Lower;
use codelode_base::model::Role;

/// The text of a string; of a name, the name.
fn unquoted<'s>(cx: &Lower<'s, '_>, node: Node<'_>) -> &'s str {
    cx.text(node).trim_matches(['\'', '"', '`'])
}

/// The module that a string names.
fn module(cx: &mut Lower<'_, '_>, source: Node<'_>, scope: ScopeId) -> ExpressionId {
    let spec = unquoted(cx, source);
    let module = cx.facts.module(spec, scope);
    cx.facts.import(source.start_byte() as u32, module, 0);
    module
}

/// The module of a `require` or `import` call.
pub(super) fn required<'t>(cx: &mut Lower<'_, 't>, call: Node<'t>, scope: ScopeId) -> Option<ExpressionId> {
    let function = field(call, "function")?;
    let is_require = function.kind() == "import" || function.kind() == "identifier" && cx.text(function) == "require";
    let arguments = field(call, "arguments").filter(|_| is_require)?;
    let source = cx.first(arguments).filter(|source| matches!(source.kind(), "string" | "template_string"))?;
    if cx.text(source).contains("${") {
        return None;
    }
    let module = module(cx, source, scope);
    if function.kind() == "import" && is_handed_on(call) {
        let default = cx.facts.name("default");
        let meant = cx.facts.member(module, default);
        cx.facts.if_known(span_of(function), Role::Import, meant);
    }
    Some(module)
}

/// Whether an imported module is given to something else as a whole, which takes its default export: `lazy(() => import('./a'))`.
fn is_handed_on(call: Node<'_>) -> bool {
    call.parent()
        .is_some_and(|around| matches!(around.kind(), "arrow_function" | "return_statement" | "arguments" | "pair"))
}

/// Whether an expression is a module or a part of one.
pub(super) fn is_import(cx: &Lower<'_, '_>, mut expression: ExpressionId) -> bool {
    loop {
        let it = cx.facts.look(expression);
        if it.op == Op::Module {
            // A name that the file itself offers is no import.
            return !cx.facts.text(NameId(it.a)).is_empty();
        }
        if it.op != Op::Member && it.op != Op::Await {
            return false;
        }
        expression = ExpressionId(it.a);
    }
}

/// Binds an imported name.
fn bind(cx: &mut Lower<'_, '_>, node: Node<'_>, scope: ScopeId, meant: ExpressionId) {
    let name = cx.name(node);
    cx.facts.bind(scope, name, Bound::alias(meant));
}

/// Every form of `import` as a statement.
pub(super) fn import<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    if node.kind() == "import_alias" {
        // `import A = B.C`
        let parts = cx.children(node);
        if let [name, meant] = parts[..] {
            let meant = walk(cx, meant, scope, Role::Reference);
            bind(cx, name, scope, meant);
        }
        return;
    }
    let from = field(node, "source").map(|source| module(cx, source, scope));
    for clause in cx.children(node) {
        if clause.kind() == "import_require_clause" {
            let source = field(clause, "source").map(|source| module(cx, source, scope));
            if let (Some(source), Some(name)) = (source, cx.first(clause)) {
                bind(cx, name, scope, source);
            }
        }
        let Some(from) = from.filter(|_| clause.kind() == "import_clause") else { continue };
        for part in cx.children(clause) {
            match part.kind() {
                "identifier" => {
                    let default = cx.facts.name("default");
                    let meant = cx.facts.member(from, default);
                    cx.facts.occurrence(span_of(part), Role::Import, meant);
                    bind(cx, part, scope, meant);
                }
                "namespace_import" => {
                    if let Some(name) = cx.first(part) {
                        bind(cx, name, scope, from);
                    }
                }
                _ => {
                    for specifier in cx.children(part) {
                        let Some(name) = field(specifier, "name") else { continue };
                        let meant = of_module(cx, name, from);
                        let bound = field(specifier, "alias").unwrap_or(name);
                        if bound != name && bound.start_position().row != name.start_position().row {
                            cx.facts.occurrence(span_of(bound), Role::Import, meant);
                        }
                        bind(cx, bound, scope, meant);
                    }
                }
            }
        }
    }
}

/// A name that is imported from a module is written here.
fn of_module(cx: &mut Lower<'_, '_>, node: Node<'_>, from: ExpressionId) -> ExpressionId {
    let name = unquoted(cx, node);
    let name = cx.facts.name(name);
    let meant = cx.facts.member(from, name);
    cx.facts.occurrence(span_of(node), Role::Import, meant);
    meant
}

/// Exports a binding under a name.
fn offer(cx: &mut Lower<'_, '_>, scope: ScopeId, name: NameId, bound: Bound) {
    // A namespace exports all its bindings anyway.
    if scope == ROOT {
        let exports = cx.facts.exports();
        cx.facts.bind(exports, name, bound);
    }
}

/// Every form of `export`.
pub(super) fn export<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, function: DefinitionId) {
    if scope == ROOT {
        cx.facts.exports();
    }
    let children = cx.children(node);
    for decorator in children.iter().filter(|child| child.kind() == "decorator") {
        walk(cx, *decorator, scope, Role::Reference);
    }
    let default = (0..4).filter_map(|place| node.child(place)).find(|child| child.kind() == "default");
    if let Some(source) = field(node, "source") {
        let from = module(cx, source, scope);
        let mut is_star = true;
        for child in children {
            match child.kind() {
                "export_clause" => {
                    is_star = false;
                    for specifier in cx.children(child) {
                        let Some(name) = field(specifier, "name") else { continue };
                        let meant = of_module(cx, name, from);
                        offer_specifier(cx, specifier, scope, meant);
                    }
                }
                "namespace_export" => {
                    is_star = false;
                    if let Some(name) = cx.first(child) {
                        let name = unquoted(cx, name);
                        let name = cx.facts.name(name);
                        offer(cx, scope, name, Bound::alias(from));
                    }
                }
                _ => {}
            }
        }
        if is_star {
            cx.facts.star(scope, from, OFFERED);
        }
        return;
    }
    if let Some(declaration) = field(node, "declaration") {
        if let Some(default) = default {
            return export_default(cx, declaration, scope, default);
        }
        statement(cx, declaration, scope, function);
        let mut names = Vec::new();
        declared_names(cx, declaration, &mut names);
        for name in names {
            let is_offered = scope == ROOT && {
                let exports = cx.facts.exports();
                cx.facts.binds(exports, name)
            };
            // All overloads are bound under the name already.
            if !is_offered {
                let meant = cx.facts.named(scope, name);
                offer(cx, scope, name, Bound::alias(meant));
            }
        }
        return;
    }
    if let (Some(default), Some(value)) = (default, field(node, "value")) {
        return export_default(cx, value, scope, default);
    }
    for child in children {
        match child.kind() {
            "export_clause" => {
                for specifier in cx.children(child) {
                    let Some(name) = field(specifier, "name") else { continue };
                    let meant = walk(cx, name, scope, Role::Reference);
                    offer_specifier(cx, specifier, scope, meant);
                }
            }
            "decorator" => {}
            // `export = value`, `export as namespace name`.
            _ if has_word(node, "=") => {
                let value = walk(cx, child, scope, Role::Reference);
                cx.facts.whole(value);
            }
            "import_alias" => import(cx, child, scope),
            _ => {}
        }
    }
}

fn offer_specifier<'t>(cx: &mut Lower<'_, 't>, specifier: Node<'t>, scope: ScopeId, meant: ExpressionId) {
    if let Some(name) = field(specifier, "alias").or_else(|| field(specifier, "name")) {
        let name = unquoted(cx, name);
        let name = cx.facts.name(name);
        offer(cx, scope, name, Bound::alias(meant));
    }
}

/// `export default value`; `word` is the place of `default`, the name of an unnamed value.
fn export_default<'t>(cx: &mut Lower<'_, 't>, value: Node<'t>, scope: ScopeId, word: Node<'t>) {
    let (name, at) = (cx.facts.name("default"), word.start_byte() as u32);
    match value.kind() {
        "function_declaration"
        | "generator_function_declaration"
        | "function_signature"
        | "function_expression"
        | "generator_function"
        | "arrow_function" => {
            let function = match field(value, "name") {
                Some(own) => declared_function(cx, value, own, scope),
                None => {
                    let function = cx.facts.define(Definition { name, at, ..Definition::default() });
                    let this = functions::ThisBinding::own_of(value, function);
                    functions::function(cx, value, scope, function, this, functions::ArgumentSource::Nothing);
                    function
                }
            };
            offer(cx, scope, name, Bound::definition(function).at(at));
        }
        "class" | "class_declaration" | "abstract_class_declaration" => {
            let class = match field(value, "name") {
                Some(_) => classes::class(cx, value, scope, None),
                None => classes::class(cx, value, scope, Some((ScopeId::NONE, name, at))),
            };
            offer(cx, scope, name, Bound::definition(class).at(at));
        }
        "interface_declaration" => {
            classes::interface(cx, value, scope);
            if let Some(own) = field(value, "name") {
                let own = cx.name(own);
                let meant = cx.facts.named(scope, own);
                offer(cx, scope, name, Bound::alias(meant));
            }
        }
        _ => {
            let meant = walk(cx, value, scope, Role::Reference);
            let it = cx.facts.look(meant).op;
            let is_name = it == Op::Name || it == Op::Member || it == Op::Module;
            let bound = if is_name { Bound::alias(meant) } else { Bound::variable().value(meant) };
            offer(cx, scope, name, bound.at(wrapped_name(cx, value).unwrap_or(at)));
        }
    }
}

/// The place of the name of a function or class in calls that wrap it: `memo(function Button() {})`.
fn wrapped_name<'t>(cx: &Lower<'_, 't>, value: Node<'t>) -> Option<u32> {
    let mut value = value;
    while value.kind() == "call_expression" {
        value = wrapped(|node| cx.text(node), value)?;
    }
    field(value, "name").map(|name| name.start_byte() as u32)
}

/// Whether this is the object that a CommonJS module's exports are properties of: `exports`, `module.exports`.
pub(super) fn is_exports<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> bool {
    let name = match cx.text(node) {
        "exports" => "exports",
        "module.exports" => "module",
        _ => return false,
    };
    let name = cx.facts.name(name);
    cx.facts.lookup(scope, name).is_empty()
}

/// `exports.name = value`, `module.exports = value`; returns the value, or `None` for another target.
pub(super) fn assign<'t>(
    cx: &mut Lower<'_, 't>,
    left: Node<'t>,
    right: Node<'t>,
    scope: ScopeId,
) -> Option<ExpressionId> {
    if is_exports(cx, left, scope) {
        let value = match right.kind() {
            "object" => classes::object(cx, right, scope, UNKNOWN, true),
            _ => walk(cx, right, scope, Role::Reference),
        };
        if left.kind() == "member_expression" {
            cx.facts.whole(value);
        }
        return Some(value);
    }
    let object = field(left, "object").filter(|_| left.kind() == "member_expression")?;
    let property = field(left, "property").filter(|_| is_exports(cx, object, scope))?;
    let (name, at) = (cx.name(property), property.start_byte() as u32);
    let exports = cx.facts.exports();
    let (bound, value) = classes::member_value(cx, right, scope, name, at, None, UNKNOWN);
    let it = cx.facts.look(value).op;
    // Facts say nothing of `this` outside of functions.
    let is_own = cx.text(right).starts_with("this.");
    let is_name = (it == Op::Name || it == Op::Member || it == Op::Module) && !is_own;
    let bound = if bound.is(BindingKind::Variable) && is_name { Bound::alias(value) } else { bound.at(at) };
    cx.facts.bind(exports, name, bound);
    Some(value)
}
