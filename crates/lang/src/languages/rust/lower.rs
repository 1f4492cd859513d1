//! Lowering of Rust items; see `resolve` for the requirements.
//!
//! Fields are spelt `.name`, fields of a variant `.Variant.name` among the members of its enum, and macros `name!`:
//! they have namespaces of their own. Names without a declaration in a module, such as other crates and the crate's
//! macros, come by a star from modules that only [`super::modules`] knows: `::` and `!`.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::embedded::{self, ItemContext};
use super::expressions::{INNER, block, walk};
use super::given::{asked, asked_by};
use super::patterns::pattern;
use super::tokens::{rules, tokens};
use super::types::{annotation, bounds, own_types, type_parameters};
use super::uses;
use super::wanted::valued;
use crate::facts::{
    Bound, Declared, Definition, DefinitionId, DefinitionKind, ExpressionId, GIVES_WAY, NameId, OFFERED, Op, ROOT,
    SEEN, ScopeId, ScopeKind, UNKNOWN,
};
use codelode_base::model::Role;

/// The scope of a file's macros by example.
pub(super) const MACROS: ScopeId = ScopeId(1);

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let macros = cx.facts.scope(ScopeKind::Module, ScopeId::NONE);
    debug_assert_eq!(macros, MACROS);
    module_body(cx, root, ROOT);
}

fn module_body<'t>(cx: &mut Lower<'_, 't>, body: Node<'t>, scope: ScopeId) {
    items(cx, body, scope);
    let macros = cx.facts.module("!", scope);
    cx.facts.star(scope, macros, SEEN | OFFERED);
    let crates = cx.facts.module("::", scope);
    cx.facts.star(scope, crates, SEEN);
}

/// Reads the items in a node, and other names there.
fn items<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let (mut path, mut is_made, mut is_built) = (None, false, false);
    for child in cx.children(node) {
        match child.kind() {
            "attribute_item" => {
                path = path_attribute(cx.text(child)).or(path);
                is_made |= !is_known(cx.text(child));
                is_built |= super::builders::derives(cx.text(child));
                continue;
            }
            "mod_item" => module(cx, child, scope, path, is_made),
            "struct_item" if is_built => {
                data(cx, child, scope);
                super::builders::builder(cx, child, scope);
            }
            "enum_item" if is_built => {
                data(cx, child, scope);
                super::builders::discriminants(cx, child, scope);
            }
            _ => {
                cx.deeper(|cx| {
                    if !item(cx, child, scope) {
                        walk(cx, child, scope, Role::Reference);
                    }
                });
            }
        }
        (path, is_made, is_built) = (None, false, false);
    }
}

/// Attributes of modules that are no macros.
const KNOWN: &[&str] = &[
    "allow",
    "cfg",
    "cfg_attr",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "macro_use",
    "no_implicit_prelude",
    "path",
    "warn",
];

/// Whether an attribute is one of the language or of a tool.
fn is_known(attribute: &str) -> bool {
    let inside = attribute.trim_start_matches(['#', '[']).trim_start();
    let name = inside.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    KNOWN.contains(&name) || matches!(name, "rustfmt" | "clippy")
}

/// The file that `#[path = "…"]` names.
fn path_attribute(attribute: &str) -> Option<&str> {
    let inside = attribute.strip_prefix("#[")?.trim_start().strip_prefix("path")?.trim_start().strip_prefix('=')?;
    inside.split('"').nth(1)
}

/// Reads an item; false if the node is none.
pub(super) fn item<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> bool {
    match node.kind() {
        "function_item" | "function_signature_item" => function(cx, node, scope, scope, None),
        "struct_item" | "union_item" | "enum_item" | "trait_item" => data(cx, node, scope),
        "type_item" => alias(cx, node, scope),
        "const_item" | "static_item" => constant(cx, node, scope, scope),
        "impl_item" => implementation(cx, node, scope),
        "mod_item" => module(cx, node, scope, None, false),
        "use_declaration" => uses::declaration(cx, node, scope),
        "extern_crate_declaration" => uses::extern_crate(cx, node, scope),
        "macro_definition" => macro_by_example(cx, node, scope),
        "foreign_mod_item" => drop(field(node, "body").map(|body| items(cx, body, scope))),
        "attribute_item" | "inner_attribute_item" | "empty_statement" => {}
        "macro_invocation" => return embedded::items(cx, node, ItemContext::Scope(scope)),
        "expression_statement" if cx.first(node).is_some_and(|it| it.kind() == "macro_invocation") => {
            return cx.first(node).is_some_and(|it| embedded::items(cx, it, ItemContext::Scope(scope)));
        }
        _ => return false,
    }
    true
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The name of an item; `None` for `_` and for a macro's variable.
fn item_name<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>) -> Option<(NameId, u32)> {
    let name = field(node, "name").filter(|name| name.kind() != "metavariable" && cx.text(*name) != "_")?;
    Some((cx.name(name), name.start_byte() as u32))
}

/// A function whose name is bound in `home`, with its body in the scope `around`.
fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, home: ScopeId, around: ScopeId, owner: Option<DefinitionId>) {
    let inner = cx.facts.scope(ScopeKind::Function, around);
    let mut definition = Definition { owner: owner.unwrap_or(DefinitionId::NONE), ..Definition::default() };
    let name = item_name(cx, node);
    if let Some((name, at)) = name {
        (definition.name, definition.at) = (name, at);
    }
    let function = cx.facts.define(definition);
    if let Some((name, at)) = name {
        cx.facts.bind(home, name, Bound::definition(function).at(at));
    }
    if let Some(owner) = owner {
        let name = cx.facts.name("self");
        let own = cx.facts.expression(Op::SelfOf, owner, 0);
        // The type arguments of the block are those of `self`.
        let whole = cx.facts.name(WHOLE);
        let whole = match cx.facts.nearest(around, whole) {
            Some((_, binding)) => cx.facts.of(Op::Instance, ExpressionId(binding.b)),
            None => UNKNOWN,
        };
        let own = cx.facts.union(&[own, whole]);
        cx.facts.bind(inner, name, Bound::meaning(own));
    }
    let generics = type_parameters(cx, node, inner);
    let mut types = Vec::new();
    for parameter in field(node, "parameters").map(|parameters| cx.children(parameters)).unwrap_or_default() {
        let of = field(parameter, "type").map_or(UNKNOWN, |of| annotation(cx, of, inner, Role::Type));
        match field(parameter, "pattern") {
            Some(pattern) if pattern.kind() != "self" => {
                types.push(of);
                self::pattern(cx, pattern, inner, UNKNOWN, of);
            }
            _ => {}
        }
    }
    let types = cx.facts.list(&types);
    let returns = field(node, "return_type").map_or(UNKNOWN, |of| annotation(cx, of, inner, Role::Type));
    let definition = cx.facts.definition(function);
    (definition.parameters, definition.returns, definition.generics) = (types, returns, generics);
    if let Some(body) = field(node, "body") {
        valued(cx, node, returns, |cx| block(cx, body, inner));
    }
}

/// A struct, union, enum or trait.
fn data<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let Some((name, at)) = item_name(cx, node) else { return };
    let around = cx.facts.scope(ScopeKind::Block, scope);
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { name, at, kind, ..Definition::default() }, around);
    cx.facts.bind(scope, name, Bound::definition(class).at(at));
    bind_self(cx, around, class);
    let generics = type_parameters(cx, node, around);
    cx.facts.definition(class).generics = generics;
    if let Some(above) = field(node, "bounds") {
        for base in bounds(cx, above, around, Role::Base) {
            cx.facts.base(class, base);
        }
    }
    let Some(body) = field(node, "body") else { return };
    match node.kind() {
        "enum_item" => {
            let instance = cx.facts.expression(Op::SelfOf, class, 0);
            for variant in cx.children(body).into_iter().filter(|variant| variant.kind() == "enum_variant") {
                let Some((name, at)) = item_name(cx, variant) else { continue };
                cx.facts.bind(members, name, Bound::variable().value(instance).at(at));
                if let Some(body) = field(variant, "body") {
                    let prefix = format!(".{}.", cx.facts.text(name));
                    fields(cx, body, members, around, &prefix);
                }
                if let Some(value) = field(variant, "value") {
                    walk(cx, value, around, Role::Reference);
                }
            }
        }
        "trait_item" => associated(cx, body, class, members, around),
        _ => fields(cx, body, members, around, "."),
    }
}

/// Inside a type, `Self` is it.
pub(super) fn bind_self(cx: &mut Lower<'_, '_>, scope: ScopeId, class: DefinitionId) {
    let name = cx.facts.name("Self");
    let own = cx.facts.expression(Op::ClassOf, class, 0);
    cx.facts.bind(scope, name, Bound::meaning(own));
}

fn fields<'t>(cx: &mut Lower<'_, 't>, body: Node<'t>, members: ScopeId, around: ScopeId, prefix: &str) {
    let mut place = 0;
    for part in cx.children(body) {
        if part.kind() == "field_declaration" {
            let of = field(part, "type").map_or(UNKNOWN, |of| annotation(cx, of, around, Role::Type));
            let Some(name) = field(part, "name") else { continue };
            let (text, at) = (format!("{prefix}{}", cx.text(name)), name.start_byte() as u32);
            let name = cx.facts.name(&text);
            cx.facts.bind(members, name, Bound::variable().of(of).at(at));
        } else if !matches!(part.kind(), "visibility_modifier" | "attribute_item") {
            let of = annotation(cx, part, around, Role::Type);
            let name = cx.facts.name(&format!("{prefix}{place}"));
            cx.facts.bind(members, name, Bound::variable().of(of));
            place += 1;
        }
    }
}

/// Reads the items of an `impl` or a trait.
fn associated<'t>(cx: &mut Lower<'_, 't>, body: Node<'t>, class: DefinitionId, members: ScopeId, around: ScopeId) {
    for part in cx.children(body) {
        if !associated_part(cx, part, class, members, around) {
            walk(cx, part, around, Role::Reference);
        }
    }
}

/// Reads an item of an `impl` or a trait; false if the node is none.
pub(super) fn associated_part<'t>(
    cx: &mut Lower<'_, 't>,
    part: Node<'t>,
    class: DefinitionId,
    members: ScopeId,
    around: ScopeId,
) -> bool {
    match part.kind() {
        "function_item" | "function_signature_item" => {
            cx.deeper(|cx| function(cx, part, members, around, Some(class)));
        }
        "const_item" => constant(cx, part, members, around),
        "type_item" | "associated_type" => {
            let inner = cx.facts.scope(ScopeKind::Block, around);
            type_parameters(cx, part, inner);
            let mut of = field(part, "type").map_or(UNKNOWN, |of| annotation(cx, of, inner, Role::Type));
            if let Some(above) = field(part, "bounds") {
                let above = bounds(cx, above, inner, Role::Type);
                of = cx.facts.union(&above);
            }
            let Some((name, at)) = item_name(cx, part) else { return true };
            cx.facts.bind(members, name, Bound::variable().of(of).at(at));
            // Each of several blocks for one type has its own `Self::Name`.
            if part.kind() == "type_item" {
                let own = own_types(cx.facts.text(name));
                let own = cx.facts.name(&own);
                cx.facts.bind(around, own, Bound::variable().of(of).at(at));
            }
        }
        "attribute_item" => {}
        "macro_invocation" => return embedded::items(cx, part, ItemContext::Type { class, members, around }),
        _ => return false,
    }
    true
}

fn implementation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let around = cx.facts.scope(ScopeKind::Block, scope);
    type_parameters(cx, node, around);
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { kind, ..Definition::default() }, around);
    bind_self(cx, around, class);
    if let Some(of) = field(node, "type") {
        let is_reference = of.kind() == "reference_type" || is_box(cx, of);
        let is_generic = of.kind() == "generic_type" && !is_reference && has_arguments(cx, of, around);
        let of = annotation(cx, of, around, Role::Type);
        if is_generic {
            let name = cx.facts.name(WHOLE);
            cx.facts.bind(around, name, Bound::variable().of(of));
        }
        cx.facts.extend(of, class);
        if is_reference {
            let name = cx.facts.name(INNER);
            cx.facts.bind(around, name, Bound::variable().of(of));
        }
    }
    let mut is_deref = false;
    if let Some(base) = field(node, "trait") {
        let text = cx.text(base);
        is_deref = text.rsplit("::").next() == Some("Deref");
        let base = annotation(cx, base, around, Role::Base);
        cx.facts.base(class, base);
        // Methods of the type itself come first.
        cx.facts.definition(class).flags |= GIVES_WAY;
    }
    let Some(body) = field(node, "body") else { return };
    associated(cx, body, class, members, around);
    // A type has the members of the type that it dereferences to.
    if is_deref {
        let name = cx.facts.name("Target");
        if let Some((_, target)) = cx.facts.nearest(members, name) {
            cx.facts.definition(class).alias = ExpressionId(target.b);
        }
    }
}

/// Internal name of the type that a block is for, if that has type arguments.
const WHOLE: &str = "Self<>";

/// Whether a type has type arguments that are no type parameters of the block.
fn has_arguments<'t>(cx: &mut Lower<'_, 't>, of: Node<'t>, around: ScopeId) -> bool {
    let arguments = field(of, "type_arguments").map(|arguments| cx.children(arguments)).unwrap_or_default();
    arguments.into_iter().any(|argument| match argument.kind() {
        "lifetime" => false,
        "type_identifier" => {
            let name = cx.name(argument);
            !cx.facts.binds(around, name)
        }
        _ => true,
    })
}

/// Whether a type is that of a box or a counted reference.
fn is_box<'t>(cx: &Lower<'_, 't>, of: Node<'t>) -> bool {
    let base = field(of, "type").filter(|_| of.kind() == "generic_type");
    base.is_some_and(|base| matches!(cx.text(base).rsplit("::").next(), Some("Box" | "Rc" | "Arc")))
}

fn constant<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, home: ScopeId, around: ScopeId) {
    let of = field(node, "type").map_or(UNKNOWN, |of| annotation(cx, of, around, Role::Type));
    let value = field(node, "value")
        .map_or(UNKNOWN, |value| valued(cx, node, of, |cx| walk(cx, value, around, Role::Reference)));
    if let Some((name, at)) = item_name(cx, node) {
        cx.facts.bind(home, name, Bound::variable().value(value).of(of).at(at));
    }
}

/// `type Name = …;` outside of traits and their implementations.
fn alias<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let around = cx.facts.scope(ScopeKind::Block, scope);
    let generics = type_parameters(cx, node, around);
    let of = field(node, "type").map_or(UNKNOWN, |of| annotation(cx, of, around, Role::Type));
    let Some((name, at)) = item_name(cx, node) else { return };
    let kind = DefinitionKind::Class;
    let (class, _) =
        cx.facts.class(Definition { name, at, kind, alias: of, generics, ..Definition::default() }, around);
    cx.facts.bind(scope, name, Bound::definition(class).at(at));
}

/// `mod name { … }` and `mod name;`, with the path in `#[path]`. A macro has made the module if it has its attribute.
fn module<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, path: Option<&str>, is_made: bool) {
    let Some((name, at)) = item_name(cx, node) else { return };
    let mut within = scope;
    while !cx.facts.is(within, ScopeKind::Module) {
        within = cx.facts.parent(within);
    }
    let text = cx.facts.text(name).to_owned();
    let meant = cx.facts.module(&format!("self::{text}"), scope);
    cx.facts.bind(scope, name, Bound::alias(meant).at(at));
    match field(node, "body") {
        Some(body) => {
            let inner = cx.facts.scope(ScopeKind::Module, scope);
            cx.facts.declare(Declared::Inline, name, inner, within);
            cx.deeper(|cx| module_body(cx, body, inner));
            // It may import what is around, and a name that has no other meaning must be from there.
            if is_made {
                let around = cx.facts.module("super", inner);
                cx.facts.star(inner, around, SEEN);
            }
        }
        None => {
            // The name, followed by the path in `#[path]`.
            let name = path.map_or(name, |path| cx.facts.name(&format!("{text} {path}")));
            cx.facts.declare(Declared::Child, name, within, within);
        }
    }
}

/// `macro_rules!`: named from anywhere in its crate, which is more than the truth where a macro comes late. One in a
/// function is named there alone.
fn macro_by_example<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let Some((name, at)) = item_name(cx, node) else { return };
    let home = if cx.facts.is(scope, ScopeKind::Module) { MACROS } else { scope };
    if home == MACROS {
        let all = cx.facts.name("!");
        cx.facts.declare(Declared::Inline, all, MACROS, ROOT);
    }
    let name = format!("{}!", cx.facts.text(name));
    let name = cx.facts.name(&name);
    let definition = cx.facts.define(Definition { name, at, ..Definition::default() });
    cx.facts.bind(home, name, Bound::definition(definition).at(at));
    let mut found = Vec::new();
    for rule in cx.children(node).into_iter().filter(|rule| rule.kind() == "macro_rule") {
        if let Some(right) = field(rule, "right") {
            rules(cx, right, scope);
            asked(cx, right, scope, &mut found);
        }
    }
    let found = cx.facts.union(&found);
    if found != UNKNOWN {
        cx.facts.returns(definition, found);
    }
}

/// A macro's call: its name and its arguments.
pub(super) fn invocation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let Some(called) = field(node, "macro") else { return UNKNOWN };
    let (name, meant) = super::types::macro_name(cx, called, scope);
    let asked = asked_by(cx, (name, meant));
    let Some(tree) = cx.children(node).into_iter().find(|child| child.kind() == "token_tree") else { return UNKNOWN };
    let values = match super::arguments::of(cx, tree) {
        Some(arguments) => super::arguments::read(cx, &arguments, scope, asked),
        None => tokens(cx, tree, scope, asked),
    };
    match name {
        "vec" => {
            let element = cx.facts.union(&values[..values.len().min(4)]);
            super::expressions::container(cx, &[element])
        }
        // Macros with the meaning of `?`.
        "try" | "ok" | "some" => values.first().map_or(UNKNOWN, |value| cx.facts.of(Op::Element, *value)),
        "dbg" => values.first().copied().unwrap_or(UNKNOWN),
        _ => UNKNOWN,
    }
}
