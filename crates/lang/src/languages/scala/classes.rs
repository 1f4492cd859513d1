//! Lowering of Scala classes, traits, objects and enumerations.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{child, field, fields, has_sign, home, is_open, plain, statements, term};
use super::{calls, members, types};
use crate::facts::{
    BindingKind, Bound, Definition, DefinitionId, DefinitionKind, ExpressionId, NONE, NameId, Op, ScopeId, ScopeKind,
    UNKNOWN,
};
use codelode_base::model::Role;

/// The name under which `new` and `this(…)` find constructors.
pub(super) const CONSTRUCTOR: &str = "new()";
const CLASS: DefinitionKind = DefinitionKind::Class;

/// Facts of a class that its parts need.
struct Class {
    class: DefinitionId,
    members: ScopeId,
    /// The scope of its parameters.
    inner: ScopeId,
    is_case: bool,
}

/// A class, a trait, an object or an enumeration.
pub(super) fn class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let (text, place) = (plain(cx, name_node), name_node.start_byte() as u32);
    let (bound, is_object) = (home(cx, at.scope), node.kind() == "object_definition");
    let is_case = has_sign(node, "case");
    let mut around = cx.facts.scope(ScopeKind::Block, at.scope);
    let generics = field(node, "type_parameters").map(|list| types::parameters(cx, list, around)).unwrap_or_default();
    if let Some(of) = own_type(cx, node, around) {
        // Members of a self type are seen inside, and the class does not derive from it.
        let (seen, members) = cx.facts.class(Definition { kind: CLASS, ..Definition::default() }, around);
        cx.facts.base(seen, of);
        around = members;
    }
    let inner = cx.facts.scope(ScopeKind::Function, around);
    let name = cx.facts.name(text);
    let generics = cx.facts.list(&generics);
    let owner = cx.facts.class_of(at.scope).unwrap_or(DefinitionId::NONE);
    let definition = Definition { name, at: place, owner, kind: CLASS, generics, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, inner);
    let own = Class { class, members, inner, is_case: is_case && !is_object };
    let called = term(cx, text);
    let singleton = cx.facts.name(&format!("{text}.type"));
    // A class and the object of its name are one term, which is the object.
    if is_object {
        let value = cx.facts.expression(Op::SelfOf, class, 0);
        cx.facts.unbind(bound, called);
        cx.facts.bind(bound, called, Bound::variable().value(value).at(place));
        cx.facts.bind(bound, singleton, Bound::definition(class));
        if let Some(made) = defined(cx, bound, name) {
            applied(cx, made, class, members);
        }
    } else {
        cx.facts.bind(bound, name, Bound::definition(class).at(place));
        match defined(cx, bound, singleton) {
            Some(object) => {
                let scope = cx.facts.definition(object).members;
                applied(cx, class, object, scope);
            }
            None => cx.facts.bind(bound, called, Bound::definition(class).at(place)),
        }
    }
    let extended = body(cx, node, &own);
    let modifiers = child(cx, node, "modifiers");
    if modifiers.is_some_and(|words| cx.text(words).split_whitespace().any(|word| word == "implicit")) {
        extends(cx, node, members, bound, extended);
    }
    at.says(UNKNOWN)
}

/// Makes methods of an implicit class extensions of the type that it is made of, where the class is seen.
fn extends<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, members: ScopeId, bound: ScopeId, of: ExpressionId) {
    let parts = field(node, "body").map(|body| cx.children(body)).unwrap_or_default();
    for name in
        parts.into_iter().filter(|part| part.kind() == "function_definition").filter_map(|part| field(part, "name"))
    {
        let term = term(cx, plain(cx, name));
        let Some(method) = defined(cx, members, term) else { continue };
        let method = *cx.facts.definition(method);
        let extension = cx.facts.define(Definition { owner: DefinitionId::NONE, alias: of, ..method });
        cx.facts.bind(bound, term, Bound::definition(extension).at(method.at));
    }
}

/// The newest definition of a name in a scope.
fn defined(cx: &Lower<'_, '_>, scope: ScopeId, name: NameId) -> Option<DefinitionId> {
    let found = cx.facts.bound_in(scope, name).find(|binding| binding.kind == BindingKind::Definition);
    found.map(|binding| DefinitionId(binding.a))
}

/// Calls of an object make what the class of its name is, unless it says otherwise by itself.
fn applied(cx: &mut Lower<'_, '_>, class: DefinitionId, object: DefinitionId, scope: ScopeId) {
    let name = term(cx, "apply");
    if !cx.facts.binds(scope, name) {
        let returns = cx.facts.expression(Op::ClassOf, class, 0);
        let apply = cx.facts.define(Definition { name, owner: object, returns, ..Definition::default() });
        cx.facts.bind(scope, name, Bound::definition(apply));
    }
}

/// `self: Type =>`
fn own_type<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<ExpressionId> {
    let body = field(node, "body")?;
    let said = child(cx, body, "self_type")?;
    let of = cx.children(said).into_iter().find(|part| part.kind() != "identifier")?;
    Some(types::written(cx, of, scope))
}

/// The parameters, the bases and the members; returns the type of the first parameter.
fn body<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, own: &Class) -> ExpressionId {
    let mut takes = members::ParameterList::default();
    for (place, list) in fields(node, "class_parameters").into_iter().enumerate() {
        for parameter in cx.children(list).into_iter().filter(|part| part.kind() == "class_parameter") {
            let of = field(parameter, "type").map_or(UNKNOWN, |of| types::written(cx, of, own.inner));
            let default = field(parameter, "default_value");
            default.map(|value| cx.value(value, own.inner));
            if place == 0 {
                takes.add(of, default.is_some(), field(parameter, "type"));
            }
            let Some(name) = field(parameter, "name") else { continue };
            let is_member = own.is_case || has_sign(parameter, "val") || has_sign(parameter, "var");
            let text = plain(cx, name);
            let called = term(cx, text);
            if !is_member {
                cx.facts.bind(own.inner, called, Bound::parameter().of(of));
                continue;
            }
            cx.facts.bind(own.members, called, Bound::variable().of(of).at(name.start_byte() as u32));
            if own.is_case && place == 0 {
                let item = term(cx, &format!("_{}", takes.len()));
                cx.facts.bind(own.members, item, Bound::variable().of(of));
            }
        }
    }
    constructor(cx, own, NONE, &takes);
    if own.is_case {
        let (name, returns) = (term(cx, "copy"), cx.facts.expression(Op::ClassOf, own.class, 0));
        let copy = cx.facts.define(Definition { name, owner: own.class, returns, ..Definition::default() });
        cx.facts.bind(own.members, name, Bound::definition(copy));
    }
    for part in cx.children(node) {
        match part.kind() {
            "annotation" | "derives_clause" => drop(cx.value(part, own.inner)),
            "extends_clause" => bases(cx, part, own, true),
            "template_body" | "enum_body" | "with_template_body" => {
                let parts = cx.pieces(part);
                cx.deeper(|cx| statements(cx, &parts, own.members));
            }
            _ => {}
        }
    }
    takes.first()
}

fn constructor(cx: &mut Lower<'_, '_>, own: &Class, at: u32, takes: &members::ParameterList) {
    let name = cx.facts.name(CONSTRUCTOR);
    let returns = cx.facts.expression(Op::ClassOf, own.class, 0);
    let function = takes.define(cx, Definition { name, at, owner: own.class, returns, ..Definition::default() });
    cx.facts.bind(own.members, name, Bound::definition(function));
}

/// `extends Base(…) with Other`, which may derive a class from them.
fn bases<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, own: &Class, derives: bool) {
    let mut last = UNKNOWN;
    let mut waiting = cx.children(node);
    waiting.reverse();
    while let Some(part) = waiting.pop() {
        match part.kind() {
            "compound_type" | "applied_constructor_type" | "annotated_type" => {
                let mut inner = cx.children(part);
                inner.reverse();
                waiting.extend(inner);
            }
            "arguments" => {
                let constructor = cx.facts.name(CONSTRUCTOR);
                let callee = cx.facts.member(last, constructor);
                calls::arguments(cx, part, own.inner, callee, UNKNOWN);
            }
            "annotation" | "refinement" => drop(cx.value(part, own.inner)),
            _ => {
                let role = if derives { Role::Base } else { Role::Type };
                last = cx.read(part, NodeContext { scope: own.inner, role }).value;
                if derives {
                    cx.facts.base(own.class, last);
                }
            }
        }
    }
}

/// `case Red, Green(value: Int) extends Base`
pub(super) fn cases<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let class = cx.facts.class_of(at.scope);
    for part in cx.children(node) {
        let Some(name_node) = field(part, "name") else { continue };
        let (text, place) = (plain(cx, name_node), name_node.start_byte() as u32);
        let called = term(cx, text);
        if part.kind() == "simple_enum_case" {
            let value = class.map_or(UNKNOWN, |class| cx.facts.expression(Op::SelfOf, class, 0));
            cx.facts.bind(at.scope, called, Bound::variable().value(value).at(place));
            if let (Some(list), Some(class)) = (field(part, "extend"), class) {
                // It is made of what the enumeration is, and is no class.
                bases(cx, list, &Class { class, members: at.scope, inner: at.scope, is_case: false }, false);
            }
            continue;
        }
        let inner = cx.facts.scope(ScopeKind::Function, at.scope);
        let name = cx.facts.name(text);
        let owner = class.unwrap_or(DefinitionId::NONE);
        let definition = Definition { name, at: place, owner, kind: CLASS, ..Definition::default() };
        let (case, members) = cx.facts.class(definition, inner);
        if let Some(class) = class {
            let base = cx.facts.expression(Op::ClassOf, class, 0);
            cx.facts.base(case, base);
        }
        for name in [name, called] {
            cx.facts.bind(at.scope, name, Bound::definition(case).at(place));
        }
        body(cx, part, &Class { class: case, members, inner, is_case: true });
    }
    at.says(UNKNOWN)
}

/// `type Name = Type`, `type Name <: Bound`
pub(super) fn alias<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let around = cx.facts.scope(ScopeKind::Block, at.scope);
    field(node, "type_parameters").map(|list| types::parameters(cx, list, around));
    let mut of = field(node, "type").map_or(UNKNOWN, |of| types::written(cx, of, around));
    for bound in fields(node, "bound") {
        let read = field(bound, "type").map_or(UNKNOWN, |of| types::written(cx, of, around));
        of = if of == UNKNOWN && bound.kind() == "upper_bound" { read } else { of };
    }
    let (name, place) = (cx.facts.name(plain(cx, name_node)), name_node.start_byte() as u32);
    let owner = cx.facts.class_of(at.scope).unwrap_or(DefinitionId::NONE);
    let definition = Definition { name, at: place, owner, kind: CLASS, alias: of, ..Definition::default() };
    let (class, _) = cx.facts.class(definition, ScopeId::NONE);
    let bound = home(cx, at.scope);
    cx.facts.bind(bound, name, Bound::definition(class).at(place));
    at.says(UNKNOWN)
}

/// `new Name(…) { … }`
pub(super) fn instance<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (mut types, mut body) = (Vec::new(), None);
    for part in cx.children(node) {
        match part.kind() {
            "arguments" => arguments(cx, part, types.last().copied().unwrap_or(UNKNOWN), at.scope),
            "template_body" => body = Some(part),
            "applied_constructor_type" => {
                for inner in cx.children(part) {
                    match inner.kind() {
                        "arguments" => arguments(cx, inner, types.last().copied().unwrap_or(UNKNOWN), at.scope),
                        _ => types.push(cx.read(inner, NodeContext { role: Role::Call, ..at }).value),
                    }
                }
            }
            "early_defs" | "structural_type" => drop(cx.value(part, at.scope)),
            _ => types.push(cx.read(part, NodeContext { role: Role::Call, ..at }).value),
        }
    }
    let of = cx.facts.union(&types);
    let Some(body) = body else { return at.says(cx.facts.of(Op::Instance, of)) };
    let (class, members) = cx.facts.class(Definition { kind: CLASS, ..Definition::default() }, at.scope);
    cx.facts.base(class, of);
    let parts = cx.pieces(body);
    cx.deeper(|cx| statements(cx, &parts, members));
    at.says(cx.facts.expression(Op::SelfOf, class, 0))
}

fn arguments<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, of: ExpressionId, scope: ScopeId) {
    let constructor = cx.facts.name(CONSTRUCTOR);
    let callee = cx.facts.member(of, constructor);
    calls::arguments(cx, list, scope, callee, of);
}

/// `given name: Type = value`, `given Type with { … }`
pub(super) fn given<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let inner = cx.facts.scope(ScopeKind::Function, at.scope);
    let name = field(node, "name");
    let (mut of, mut value, mut body) = (UNKNOWN, UNKNOWN, None);
    for part in cx.children(node).into_iter().filter(|part| Some(*part) != name) {
        match part.kind() {
            "type_parameters" => drop(types::parameters(cx, part, inner)),
            "parameters" => drop(members::parameters(cx, part, inner)),
            "template_body" | "with_template_body" => body = Some(part),
            "arguments" => drop(cx.parts(part, inner)),
            _ if of == UNKNOWN => of = types::written(cx, part, inner),
            _ => value = cx.value(part, inner),
        }
    }
    if let Some(body) = body {
        let (class, members) = cx.facts.class(Definition { kind: CLASS, ..Definition::default() }, inner);
        cx.facts.base(class, of);
        let parts = cx.pieces(body);
        cx.deeper(|cx| statements(cx, &parts, members));
    }
    if let Some(name) = name {
        let bound = home(cx, at.scope);
        let called = term(cx, plain(cx, name));
        let it = Bound::variable().value(value).of(of);
        let it = if is_open(cx, bound) { it.at(name.start_byte() as u32) } else { it };
        cx.facts.bind(bound, called, it);
    }
    at.says(UNKNOWN)
}

/// `extension (name: Type) def …`: each function extends the type.
pub(super) fn extension<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let around = cx.facts.scope(ScopeKind::Block, at.scope);
    field(node, "type_parameters").map(|list| types::parameters(cx, list, around));
    let mut of = UNKNOWN;
    for list in fields(node, "parameters") {
        let takes = members::parameters(cx, list, around);
        of = if of == UNKNOWN { takes.first() } else { of };
    }
    for part in fields(node, "body") {
        match part.kind() {
            "function_definition" | "function_declaration" => {
                cx.deeper(|cx| members::declare_function(cx, part, around, at.scope, of));
            }
            _ => drop(cx.value(part, around)),
        }
    }
    at.says(UNKNOWN)
}

/// A name that means the class around.
pub(super) fn own<'t>(cx: &mut Lower<'_, 't>, text: &str, scope: ScopeId) -> ExpressionId {
    let op = if text == "super" { Op::SuperOf } else { Op::SelfOf };
    cx.facts.class_around(scope).map_or(UNKNOWN, |class| cx.facts.expression(op, class, 0))
}

/// `this(…)` in a constructor.
pub(super) fn delegated<'t>(cx: &mut Lower<'_, 't>, name: Node<'t>, list: Node<'t>, scope: ScopeId) {
    let Some(class) = cx.facts.class_around(scope) else { return };
    let (of, constructor) = (cx.facts.expression(Op::ClassOf, class, 0), cx.facts.name(CONSTRUCTOR));
    let callee = cx.facts.member(of, constructor);
    let all = calls::arguments(cx, list, scope, callee, UNKNOWN);
    let fitting = cx.facts.expression(Op::Fitting, callee, all);
    cx.facts.occurrence(span_of(name), Role::Call, fitting);
}
