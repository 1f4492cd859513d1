//! Lowering of Go types, and of function parameters and results.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{field, names};
use crate::facts::{
    Bound, Definition, DefinitionId, DefinitionKind, EMPTY, ExpressionId, ListId, Op, STRUCTURAL, ScopeId, ScopeKind,
    UNKNOWN,
};
use codelode_base::model::Role;

/// The type in a node. A pointer is treated as its target type.
pub(super) fn of<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    cx.read(node, NodeContext { scope, role: Role::Type }).value
}

/// A qualified type, `package.Name`.
pub(super) fn qualified<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (Some(package), Some(node)) = (field(node, "package"), field(node, "name")) else { return at.says(UNKNOWN) };
    let (package, name) = (cx.name(package), cx.name(node));
    let package = cx.facts.named(at.scope, package);
    let meant = cx.facts.member(package, name);
    cx.facts.occurrence(span_of(node), if at.role == Role::Base { Role::Base } else { Role::Type }, meant);
    at.says(meant)
}

/// A type with arguments, `Name[T]`.
pub(super) fn with_arguments<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(base) = field(node, "type") else { return at.says(UNKNOWN) };
    let named = cx.text(base);
    let base = cx.read(base, at).value;
    let arguments = field(node, "type_arguments").map(|list| arguments(cx, list, at.scope)).unwrap_or_default();
    // An iterator over single values yields them as its first variable.
    at.says(match arguments[..] {
        [only] if named.ends_with(".Seq") => generic(cx, base, &[only, only]),
        _ => generic(cx, base, &arguments),
    })
}

/// A slice or array type.
pub(super) fn list<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    field(node, "length").map(|length| cx.value(length, at.scope));
    let element = part(cx, node, "element", at);
    at.says(generic(cx, UNKNOWN, &[element]))
}

pub(super) fn map<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let [key, value] = ["key", "value"].map(|name| part(cx, node, name, at));
    at.says(generic(cx, UNKNOWN, &[key, value]))
}

/// A channel type. Ranging over it yields values as the first variable.
pub(super) fn channel<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let value = part(cx, node, "value", at);
    at.says(generic(cx, UNKNOWN, &[value, value]))
}

pub(super) fn of_function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let takes = field(node, "parameters").map(|list| parameters(cx, list, at.scope, None)).unwrap_or_default();
    let gives = results(cx, node, at.scope, None);
    at.says(function(cx, gives, &takes))
}

/// An anonymous struct or interface.
pub(super) fn object<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if node.kind() == "interface_type" && cx.first(node).is_none() {
        let any = cx.facts.name("any");
        return at.says(cx.facts.named(at.scope, any));
    }
    let members = cx.facts.scope(ScopeKind::Class, at.scope);
    let object = Definition { kind: DefinitionKind::Object, members, ..Definition::default() };
    let object = cx.facts.define(object);
    fields(cx, node, object, members, at.scope);
    // No symbol stands for an unnamed interface, so each of its methods may be that of any type.
    for method in cx.children(node).into_iter().filter(|part| part.kind() == "method_elem") {
        let Some(name) = field(method, "name") else { continue };
        let text = cx.name(name);
        let meant = cx.facts.member(UNKNOWN, text);
        cx.facts.occurrence(span_of(name), Role::Reference, meant);
    }
    at.says(cx.facts.expression(Op::Object, object, 0))
}

/// A union of types, whose members are unknown.
pub(super) fn any_of<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    match cx.children(node)[..] {
        [only] => at.says(cx.read(only, at).value),
        ref several => {
            for part in several {
                of(cx, *part, at.scope);
            }
            at.says(UNKNOWN)
        }
    }
}

/// The type in a part of a node.
fn part<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, name: &str, at: NodeContext) -> ExpressionId {
    field(node, name).map_or(UNKNOWN, |part| of(cx, part, at.scope))
}

fn arguments<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    cx.children(list).into_iter().map(|argument| of(cx, argument, scope)).collect()
}

/// A container, or a type with arguments.
fn generic(cx: &mut Lower<'_, '_>, base: ExpressionId, arguments: &[ExpressionId]) -> ExpressionId {
    let list = cx.facts.list(arguments);
    cx.facts.expression(Op::Generic, base, list)
}

/// A function type.
pub(super) fn function(cx: &mut Lower<'_, '_>, gives: ExpressionId, takes: &[ExpressionId]) -> ExpressionId {
    let takes = cx.facts.list(takes);
    cx.facts.expression(Op::FunctionType, gives, takes)
}

/// The types of parameters, resolved in `scope`. Their names are bound in `into`, which must be another scope: in
/// `rand *rand.Rand`, the type does not refer to the parameter.
pub(super) fn parameters<'t>(
    cx: &mut Lower<'_, 't>,
    list: Node<'t>,
    scope: ScopeId,
    into: Option<ScopeId>,
) -> Vec<ExpressionId> {
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
            cx.facts.bind(into, name, Bound::parameter().of(of));
        }
    }
    types
}

/// The result type of a function: none, one, or a tuple.
pub(super) fn results<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    into: Option<ScopeId>,
) -> ExpressionId {
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

/// Binds type parameters, with their constraints as types; returns their list.
pub(super) fn type_parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ListId {
    let Some(list) = field(node, "type_parameters") else { return EMPTY };
    let mut bound = Vec::new();
    for parameter in cx.children(list) {
        let of = field(parameter, "type").map_or(UNKNOWN, |of| self::of(cx, of, scope));
        for name in names(parameter) {
            let name = cx.name(name);
            cx.facts.bind(scope, name, Bound::variable().of(of));
            bound.push(cx.facts.named(scope, name));
        }
    }
    cx.facts.list(&bound)
}

/// Type declarations, `type Name …` and `type Name = …`.
pub(super) fn declare<'t>(cx: &mut Lower<'_, 't>, spec: Node<'t>, scope: ScopeId, into: ScopeId) {
    let (Some(name_node), Some(of)) = (field(spec, "name"), field(spec, "type")) else { return };
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let (mut around, mut generics) = (scope, EMPTY);
    if field(spec, "type_parameters").is_some() {
        around = cx.facts.scope(ScopeKind::Block, scope);
        generics = type_parameters(cx, spec, around);
    }
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { name, at, kind, generics, ..Definition::default() }, around);
    cx.facts.bind(into, name, Bound::definition(class).at(at));
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
fn fields<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, class: DefinitionId, members: ScopeId, scope: ScopeId) {
    if node.kind() == "struct_type" {
        let list = cx.first(node).map(|list| cx.children(list)).unwrap_or_default();
        for line in list.into_iter().filter(|line| line.kind() == "field_declaration") {
            let Some(of) = field(line, "type") else { continue };
            let named = names(line);
            let is_embedded = field(line, "name").is_none();
            let role = if is_embedded { Role::Base } else { Role::Type };
            let meant = cx.read(of, NodeContext { scope, role }).value;
            for node in named.into_iter().chain(super::base_type(of).filter(|_| is_embedded)) {
                let name = cx.name(node);
                cx.facts.bind(members, name, Bound::variable().of(meant).at(node.start_byte() as u32));
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
            let role = if is_one { Role::Base } else { Role::Type };
            let meant = cx.read(line, NodeContext { scope, role }).value;
            match cx.text(line) {
                "error" => {
                    let (name, string) = (cx.facts.name("Error"), cx.facts.name("string"));
                    let returns = cx.facts.named(scope, string);
                    let method = cx.facts.define(Definition { name, owner: class, returns, ..Definition::default() });
                    cx.facts.bind(members, name, Bound::definition(method));
                }
                "comparable" | "any" => {}
                _ => {
                    // No type has the methods of a list of types.
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
        cx.facts.bind(members, name, Bound::definition(method).at(at));
    }
}
