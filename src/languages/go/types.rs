//! Go's types, and what functions take and give.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::walk;
use super::lower::{field, names};
use crate::facts::{BindingKind, Definition, DefinitionKind, NONE, Op, STRUCTURAL, ScopeKind, UNKNOWN};
use crate::model::Role;

/// Writes down the names in a type and gives the type. Pointers are what they point to.
pub(super) fn of<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: u32) -> u32 {
    cx.deeper(|cx| one(cx, node, scope, Role::Type))
}

fn one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: u32, role: Role) -> u32 {
    match node.kind() {
        "type_identifier" | "identifier" => {
            let name = cx.name(node);
            let meant = cx.facts.named(scope, name);
            cx.facts.occurrence(span_of(node), role, meant);
            meant
        }
        "qualified_type" => {
            let (Some(package), Some(node)) = (field(node, "package"), field(node, "name")) else { return UNKNOWN };
            let (package, name) = (cx.name(package), cx.name(node));
            let package = cx.facts.named(scope, package);
            let meant = cx.facts.member(package, name);
            cx.facts.occurrence(span_of(node), role, meant);
            meant
        }
        "pointer_type" | "parenthesized_type" | "negated_type" => {
            cx.first(node).map_or(UNKNOWN, |inner| cx.deeper(|cx| one(cx, inner, scope, role)))
        }
        "generic_type" => {
            let Some(base) = field(node, "type") else { return UNKNOWN };
            let named = cx.text(base);
            let base = cx.deeper(|cx| one(cx, base, scope, role));
            let arguments = field(node, "type_arguments").map(|list| arguments(cx, list, scope)).unwrap_or_default();
            // What iterates over one thing gives it first.
            match arguments[..] {
                [only] if named.ends_with(".Seq") => generic(cx, base, &[only, only]),
                _ => generic(cx, base, &arguments),
            }
        }
        "slice_type" | "array_type" | "implicit_length_array_type" => {
            field(node, "length").map(|length| walk(cx, length, scope, Role::Reference));
            let element = field(node, "element").map_or(UNKNOWN, |element| of(cx, element, scope));
            generic(cx, UNKNOWN, &[element])
        }
        "map_type" => {
            let key = field(node, "key").map_or(UNKNOWN, |key| of(cx, key, scope));
            let value = field(node, "value").map_or(UNKNOWN, |value| of(cx, value, scope));
            generic(cx, UNKNOWN, &[key, value])
        }
        // Iterating over a channel gives first what it carries.
        "channel_type" => {
            let value = field(node, "value").map_or(UNKNOWN, |value| of(cx, value, scope));
            generic(cx, UNKNOWN, &[value, value])
        }
        "function_type" => {
            let takes = field(node, "parameters").map(|list| parameters(cx, list, scope, None)).unwrap_or_default();
            let gives = results(cx, node, scope, None);
            function(cx, gives, &takes)
        }
        "struct_type" | "interface_type" => {
            if node.kind() == "interface_type" && cx.first(node).is_none() {
                let any = cx.facts.name("any");
                return cx.facts.named(scope, any);
            }
            let members = cx.facts.scope(ScopeKind::Class, scope);
            let object = Definition { kind: DefinitionKind::Object as u8, members, ..Definition::default() };
            let object = cx.facts.define(object);
            fields(cx, node, object, members, scope);
            cx.facts.expression(Op::Object, object, 0)
        }
        // Any of several types has the members of none.
        "type_elem" | "type_constraint" => match cx.children(node)[..] {
            [only] => cx.deeper(|cx| one(cx, only, scope, role)),
            ref several => {
                for part in several {
                    of(cx, *part, scope);
                }
                UNKNOWN
            }
        },
        _ => walk(cx, node, scope, role),
    }
}

fn arguments<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: u32) -> Vec<u32> {
    cx.children(list).into_iter().map(|argument| of(cx, argument, scope)).collect()
}

/// A container, or a type with arguments.
fn generic(cx: &mut Lower<'_, '_>, base: u32, arguments: &[u32]) -> u32 {
    let list = cx.facts.list(arguments);
    cx.facts.expression(Op::Generic, base, list)
}

/// The type of a function.
pub(super) fn function(cx: &mut Lower<'_, '_>, gives: u32, takes: &[u32]) -> u32 {
    let takes = cx.facts.list(takes);
    cx.facts.expression(Op::FunctionType, gives, takes)
}

/// The types of parameters, as they are seen from a scope; their names are bound in that of the function, if there is one.
/// It must be another: in `rand *rand.Rand` the type is not the parameter's.
pub(super) fn parameters<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: u32, into: Option<u32>) -> Vec<u32> {
    let mut types = Vec::new();
    for parameter in cx.children(list) {
        let mut of = field(parameter, "type").map_or(UNKNOWN, |of| self::of(cx, of, scope));
        if parameter.kind() == "variadic_parameter_declaration" {
            of = generic(cx, UNKNOWN, &[of]);
        }
        let names = names(parameter);
        types.extend(std::iter::repeat_n(of, names.len().max(1)));
        for (name, into) in names.into_iter().filter_map(|name| Some((name, into?))) {
            let name = cx.name(name);
            cx.facts.bind(into, name, BindingKind::Parameter, UNKNOWN, of, NONE);
        }
    }
    types
}

/// What a function gives: nothing, a type, or a tuple of several.
pub(super) fn results<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: u32, into: Option<u32>) -> u32 {
    let Some(result) = field(node, "result") else { return UNKNOWN };
    if result.kind() != "parameter_list" {
        return of(cx, result, scope);
    }
    match parameters(cx, result, scope, into)[..] {
        [] => UNKNOWN,
        [only] => only,
        ref several => {
            let list = cx.facts.list(several);
            cx.facts.expression(Op::Tuple, list, 0)
        }
    }
}

/// Type parameters are what their constraints say.
pub(super) fn type_parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: u32) {
    let Some(list) = field(node, "type_parameters") else { return };
    for parameter in cx.children(list) {
        let of = field(parameter, "type").map_or(UNKNOWN, |of| self::of(cx, of, scope));
        for name in names(parameter) {
            let name = cx.name(name);
            cx.facts.bind(scope, name, BindingKind::Variable, UNKNOWN, of, NONE);
        }
    }
}

/// `type Name …` and `type Name = …`.
pub(super) fn declare<'t>(cx: &mut Lower<'_, 't>, spec: Node<'t>, scope: u32, into: u32) {
    let (Some(name_node), Some(of)) = (field(spec, "name"), field(spec, "type")) else { return };
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let mut around = scope;
    if field(spec, "type_parameters").is_some() {
        around = cx.facts.scope(ScopeKind::Block, scope);
        type_parameters(cx, spec, around);
    }
    let kind = DefinitionKind::Class as u8;
    let (class, members) = cx.facts.class(Definition { name, at, kind, ..Definition::default() }, around);
    cx.facts.bind(into, name, BindingKind::Definition, class, UNKNOWN, at);
    if spec.kind() == "type_spec" && matches!(of.kind(), "struct_type" | "interface_type") {
        fields(cx, of, class, members, around);
        return;
    }
    let alias = self::of(cx, of, around);
    let definition = cx.facts.definition(class);
    definition.alias = alias;
    if spec.kind() == "type_spec" {
        definition.flags |= crate::facts::NAMED;
    }
}

/// The members of a struct or an interface.
fn fields<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, class: u32, members: u32, scope: u32) {
    if node.kind() == "struct_type" {
        let list = cx.first(node).map(|list| cx.children(list)).unwrap_or_default();
        for line in list.into_iter().filter(|line| line.kind() == "field_declaration") {
            let Some(of) = field(line, "type") else { continue };
            let named = names(line);
            let is_embedded = field(line, "name").is_none();
            let role = if is_embedded { Role::Base } else { Role::Type };
            let meant = cx.deeper(|cx| one(cx, of, scope, role));
            for node in named.into_iter().chain(super::base_type(of).filter(|_| is_embedded)) {
                let name = cx.name(node);
                cx.facts.bind(members, name, BindingKind::Variable, UNKNOWN, meant, node.start_byte() as u32);
            }
            if is_embedded {
                cx.facts.base(class, meant);
            }
        }
        return;
    }
    cx.facts.definition(class).flags |= STRUCTURAL;
    for line in cx.children(node) {
        if line.kind() != "method_elem" {
            let is_one = cx.children(line).len() == 1;
            let meant = cx.deeper(|cx| one(cx, line, scope, if is_one { Role::Base } else { Role::Type }));
            match cx.text(line) {
                "error" => {
                    let (name, string) = (cx.facts.name("Error"), cx.facts.name("string"));
                    let returns = cx.facts.named(scope, string);
                    let method = cx.facts.define(Definition { name, owner: class, returns, ..Definition::default() });
                    cx.facts.bind(members, name, BindingKind::Definition, method, UNKNOWN, NONE);
                }
                "comparable" | "any" => {}
                _ => {
                    // What is a list of types, nobody has the methods of.
                    let unknown = cx.facts.name("|");
                    let unknown = cx.facts.named(scope, unknown);
                    cx.facts.base(class, if meant == UNKNOWN || !is_one { unknown } else { meant });
                }
            }
            continue;
        }
        let Some(name_node) = field(line, "name") else { continue };
        let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
        let takes = field(line, "parameters").map(|list| parameters(cx, list, scope, None)).unwrap_or_default();
        let (parameters, returns) = (cx.facts.list(&takes), results(cx, line, scope, None));
        let method = Definition { name, at, owner: class, parameters, returns, ..Definition::default() };
        let method = cx.facts.define(method);
        cx.facts.bind(members, name, BindingKind::Definition, method, UNKNOWN, at);
    }
}
