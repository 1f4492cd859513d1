//! Lowering of C# types with their members, and of parameters.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::expressions::{self, initialized};
use super::lower::{OUTSIDE, field};
use super::types;
use crate::facts::{
    ANY_NUMBER, BindingKind, Bound, Declared, Definition, DefinitionId, DefinitionKind, ExpressionId, NameId, Op, ROOT,
    STANDS_IN, ScopeId, ScopeKind, UNKNOWN,
};
use codelode_base::model::Role;

/// The name under which `: this(…)` and `: base(…)` find constructors. For `new Name(…)` they are bound with the name
/// of their class too, because they are not inherited.
pub(super) const CONSTRUCTOR: &str = "new";
/// The member that brackets after a value mean.
pub(super) const INDEXER: &str = "this[]";
const CLASS: DefinitionKind = DefinitionKind::Class;

pub(super) fn class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    declare(cx, node, at.scope, at.scope);
    at.says(UNKNOWN)
}

/// A child of this kind.
fn child<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    cx.children(node).into_iter().find(|part| part.kind() == kind)
}

fn has_word<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, word: &str) -> bool {
    cx.children(node).into_iter().any(|part| part.kind() == "modifier" && cx.text(part) == word)
}

/// The type parameters of a class or method, bound in `scope` with their constraints.
fn generics<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    let list = child(cx, node, "type_parameter_list").map(|list| cx.children(list)).unwrap_or_default();
    let names: Vec<Node<'t>> = list.into_iter().filter_map(|one| field(one, "name")).collect();
    let constraints: Vec<Node<'t>> =
        cx.children(node).into_iter().filter(|part| part.kind() == "type_parameter_constraints_clause").collect();
    let mut all = Vec::new();
    for name_node in names {
        let mut bounds = Vec::new();
        for clause in &constraints {
            let parts = cx.children(*clause);
            if parts.first().is_none_or(|of| cx.text(*of) != cx.text(name_node)) {
                continue;
            }
            for constraint in &parts[1..] {
                bounds.push(types::of_part(cx, *constraint, "type", scope));
            }
        }
        let bound = cx.facts.union(&bounds);
        let name = types::type_name(cx, cx.text(name_node));
        cx.facts.bind(scope, name, Bound::variable().of(bound));
        all.push(cx.facts.named(scope, name));
    }
    all
}

/// A type: its name is bound in the scope `bound`, and its own names are resolved in `around`.
pub(super) fn declare<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, bound: ScopeId, mut around: ScopeId) {
    let Some(name_node) = field(node, "name") else { return };
    let seen = around;
    let mut parameters = Vec::new();
    if child(cx, node, "type_parameter_list").is_some() {
        around = cx.facts.scope(ScopeKind::Block, around);
        parameters = generics(cx, node, around);
    }
    let (text, at) = (spelt(cx, name_node, parameters.len()), name_node.start_byte() as u32);
    let name = types::type_name(cx, &text);
    let owner = cx.facts.class_of(bound).unwrap_or(DefinitionId::NONE);
    let generics = cx.facts.list(&parameters);
    let definition = Definition { name, at, owner, kind: CLASS, generics, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, around);
    bind_type(cx, bound, &text, class, at);
    if is_partial(cx, node) {
        // Every part extends all of them.
        let whole = cx.facts.named(seen, name);
        cx.facts.extend(whole, class);
    }
    for part in cx.children(node) {
        match part.kind() {
            "base_list" => {
                for base in cx.children(part) {
                    let base = cx.read(base, NodeContext { scope: around, role: Role::Base }).value;
                    cx.facts.base(class, base);
                }
            }
            "parameter_list" => {
                for one in self::parameters(cx, part, members) {
                    let (name, place) = (cx.name(one.name), one.name.start_byte() as u32);
                    let bound = Bound::variable().of(one.of);
                    // Those of a record are properties.
                    let bound = if node.kind() == "record_declaration" { bound.at(place) } else { bound };
                    cx.facts.bind(members, name, bound);
                }
            }
            "attribute_list" => drop(cx.value(part, around)),
            _ => {}
        }
    }
    if let Some(body) = field(node, "body") {
        for member in super::lower::unfolded(cx, body) {
            cx.value(member, members);
        }
    }
}

pub(super) fn is_partial<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>) -> bool {
    has_word(cx, node, "partial")
}

/// Binds the name of a partial class to its parts in all files of the namespace: in a file with a part, the name does
/// not mean that one alone.
pub(super) fn bind_parts<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, namespace: ExpressionId, scope: ScopeId) {
    let Some(name) = field(node, "name") else { return };
    let list = child(cx, node, "type_parameter_list");
    let count = list.map_or(0, |list| cx.children(list).len());
    let text = spelt(cx, name, count);
    for name in [cx.facts.name(&text), types::type_name(cx, &text)] {
        if !cx.facts.binds(scope, name) {
            let parts = cx.facts.member(namespace, name);
            cx.facts.bind(scope, name, Bound::alias(parts));
        }
    }
}

/// The name of a type with the number of its parameters.
fn spelt(cx: &Lower<'_, '_>, name: Node<'_>, parameters: usize) -> String {
    match parameters {
        0 => cx.text(name).to_owned(),
        count => format!("{}`{count}", cx.text(name)),
    }
}

/// Binds a type, both for where only a type may stand and for elsewhere.
fn bind_type(cx: &mut Lower<'_, '_>, scope: ScopeId, text: &str, class: DefinitionId, at: u32) {
    for name in [cx.facts.name(text), types::type_name(cx, text)] {
        cx.facts.bind(scope, name, Bound::definition(class).at(at));
    }
}

/// `: Base(…)` of a class with parameters.
pub(super) fn base<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = field(node, "type").map_or(UNKNOWN, |of| cx.read(of, at).value);
    child(cx, node, "argument_list").map(|list| cx.value(list, at.scope));
    at.says(of)
}

/// `enum { Name = value }`: the value of a member is one of its enumeration.
pub(super) fn member<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let (Some(name), Some(class)) = (field(node, "name"), cx.facts.class_of(at.scope)) {
        let own = cx.facts.expression(Op::SelfOf, class, 0);
        let (name, place) = (cx.name(name), name.start_byte() as u32);
        cx.facts.bind(at.scope, name, Bound::variable().value(own).at(place));
    }
    for part in cx.children(node).into_iter().skip(1) {
        cx.value(part, at.scope);
    }
    at.says(UNKNOWN)
}

/// A property or an event with accessors.
pub(super) fn property<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = types::of_part(cx, node, "type", at.scope);
    if let Some(name) = field(node, "name").filter(|_| !is_explicit(cx, node)) {
        let (name, place) = (cx.name(name), name.start_byte() as u32);
        cx.facts.bind(at.scope, name, Bound::variable().of(of).at(place));
    }
    let inner = cx.facts.scope(ScopeKind::Function, at.scope);
    let value = cx.facts.name("value");
    cx.facts.bind(inner, value, Bound::parameter().of(of));
    let skipped = ["type", "name"].map(|part| field(node, part));
    for part in cx.children(node).into_iter().filter(|part| !skipped.contains(&Some(*part))) {
        cx.value(part, inner);
    }
    at.says(UNKNOWN)
}

/// `get { … }`
pub(super) fn accessor<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let Some(body) = field(node, "body") {
        cx.value(body, at.scope);
    }
    at.says(UNKNOWN)
}

/// Whether a member is of a named interface, `void IShop.Sell()`: it has no name in its class.
fn is_explicit<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>) -> bool {
    let written = child(cx, node, "explicit_interface_specifier");
    written.is_some()
}

/// `[Name(…)]` is a class `Name` or `NameAttribute`, and its constructor.
pub(super) fn attribute<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name) = field(node, "name") else { return at.says(UNKNOWN) };
    if name.kind() == "identifier" {
        let text = cx.text(name);
        let (short, long) = (types::type_name(cx, text), types::type_name(cx, &format!("{text}Attribute")));
        let meant = [short, long].map(|name| cx.facts.named(at.scope, name));
        let class = cx.facts.union(&meant);
        let lists: Vec<Node<'t>> = cx.children(node).into_iter().skip(1).collect();
        lists.into_iter().for_each(|list| expressions::labels(cx, list, class));
        let constructor = cx.facts.name(CONSTRUCTOR);
        let made = meant.map(|class| cx.facts.member(class, constructor));
        let meant = cx.facts.union(&[meant[1], meant[0], made[1], made[0]]);
        cx.facts.occurrence(span_of(name), Role::Type, meant);
    } else {
        cx.read(name, NodeContext { role: Role::Type, ..at });
    }
    for list in cx.children(node).into_iter().skip(1) {
        for argument in cx.children(list) {
            let named = field(argument, "name");
            for part in cx.children(argument).into_iter().filter(|part| Some(*part) != named) {
                cx.value(part, at.scope);
            }
        }
    }
    at.says(UNKNOWN)
}

/// A written parameter.
pub(super) struct Parameter<'t> {
    pub name: Node<'t>,
    pub of: ExpressionId,
    /// It has a default, or takes any number of arguments.
    is_optional: bool,
    /// The type node of `this Type name`.
    extends: Option<Node<'t>>,
}

/// The parameters of a list, whose types are resolved in `scope`.
pub(super) fn parameters<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: ScopeId) -> Vec<Parameter<'t>> {
    let mut found = Vec::new();
    for one in cx.children(list) {
        let is_this = |cx: &mut Lower<'_, 't>| has_word(cx, one, "this");
        match (one.kind(), field(one, "name")) {
            ("parameter", Some(name)) => {
                let of = types::of_part(cx, one, "type", scope);
                let written = field(one, "type");
                let mut rest = cx.children(one).into_iter().filter(|part| Some(*part) != written && *part != name);
                let value = rest.clone().find(|part| !matches!(part.kind(), "modifier" | "attribute_list"));
                if let Some(attributes) = rest.find(|part| part.kind() == "attribute_list") {
                    cx.value(attributes, scope);
                }
                value.map(|value| cx.value(value, scope));
                let extends = written.filter(|_| is_this(cx));
                found.push(Parameter { name, of, is_optional: value.is_some(), extends });
            }
            ("identifier", _) if field(list, "name") == Some(one) => {
                // `params Type[] name` lies in the list itself.
                let of = types::of_part(cx, list, "type", scope);
                found.push(Parameter { name: one, of, is_optional: true, extends: None });
            }
            _ => {}
        }
    }
    found
}

/// A method, constructor, operator, indexer or a function in a function.
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let class = cx.facts.class_of(at.scope);
    let inner = cx.facts.scope(ScopeKind::Function, at.scope);
    let generics = generics(cx, node, inner);
    let generics = cx.facts.list(&generics);
    let written = if node.kind() == "method_declaration" { "returns" } else { "type" };
    let returns = types::of_part(cx, node, written, inner);
    let takes = field(node, "parameters").map(|list| parameters(cx, list, inner)).unwrap_or_default();
    for one in &takes {
        let name = cx.name(one.name);
        cx.facts.bind(inner, name, Bound::parameter().of(one.of));
    }
    let (named, spelt) = match node.kind() {
        "operator_declaration" => {
            let operator = field(node, "operator");
            (operator, operator.map_or(String::new(), |operator| format!("operator {}", cx.text(operator))))
        }
        "indexer_declaration" => {
            (node.children(&mut node.walk()).find(|word| word.kind() == "this"), INDEXER.to_owned())
        }
        "constructor_declaration" => (field(node, "name"), CONSTRUCTOR.to_owned()),
        "destructor_declaration" => (field(node, "name"), "~".to_owned()),
        _ => {
            let name = field(node, "name");
            (name, name.map_or(String::new(), |name| cx.text(name).to_owned()))
        }
    };
    if let Some(named) = named {
        let (name, place) = (cx.facts.name(&spelt), named.start_byte() as u32);
        let owner = class.unwrap_or(DefinitionId::NONE);
        let function = Definition { name, at: place, owner, returns, generics, ..Definition::default() };
        let defined = taking(cx, function, &takes);
        if !is_explicit(cx, node) {
            cx.facts.bind(at.scope, name, Bound::definition(defined).at(place));
        }
        if node.kind() == "constructor_declaration" {
            let of_class = cx.facts.name(&format!("new {}", cx.text(named)));
            cx.facts.bind(at.scope, of_class, Bound::definition(defined));
        }
        if let Some((first, rest)) = takes.split_first()
            && let Some(of) = first.extends
        {
            let function = taking(cx, function, rest);
            extension(cx, of, first.of, function, inner);
        }
    }
    let value = cx.facts.name("value");
    if node.kind() == "indexer_declaration" {
        cx.facts.bind(inner, value, Bound::parameter().of(returns));
    }
    for part in cx.children(node) {
        match part.kind() {
            "block" | "arrow_expression_clause" | "accessor_list" => drop(cx.value(part, inner)),
            "attribute_list" => drop(cx.value(part, at.scope)),
            "constructor_initializer" => drop(class.map(|class| initialized(cx, part, class, inner))),
            _ => {}
        }
    }
    at.says(UNKNOWN)
}

/// Adds a function with these parameters. Of those that may be left out, only the first counts.
fn taking(cx: &mut Lower<'_, '_>, function: Definition, takes: &[Parameter<'_>]) -> DefinitionId {
    let required = takes.iter().take_while(|one| !one.is_optional).count();
    let types: Vec<ExpressionId> = takes.iter().take(required + 1).map(|one| one.of).collect();
    let parameters = cx.facts.list(&types);
    let flags = if required < takes.len() { ANY_NUMBER } else { 0 };
    cx.facts.define(Definition { parameters, flags: function.flags | flags, ..function })
}

/// `this Type name`: the function is a member of the type, and of a type of that name outside of the project.
fn extension<'t>(cx: &mut Lower<'_, 't>, written: Node<'t>, of: ExpressionId, function: DefinitionId, scope: ScopeId) {
    let name = cx.facts.definition(function).name;
    let spec = cx.facts.name(OUTSIDE);
    let outside = cx.facts.declared(spec).unwrap_or_else(|| {
        let outside = cx.facts.scope(ScopeKind::Module, ScopeId::NONE);
        cx.facts.declare(Declared::Inline, spec, outside, ROOT);
        outside
    });
    // Of a type parameter, the type that it must be.
    let parameter = types::type_name(cx, cx.text(written));
    // A type of that name that the file defines is the type itself.
    let bound = cx.facts.lookup(scope, parameter).into_iter().find(|binding| binding.kind == BindingKind::Variable);
    if let Some(bound) = bound.map(|binding| ExpressionId(binding.b)) {
        let (class, members) = cx.facts.class(Definition { kind: CLASS, ..Definition::default() }, ScopeId::NONE);
        cx.facts.bind(members, name, Bound::definition(function));
        return cx.facts.extend(bound, class);
    }
    // The methods of a plain type are one extension, of which a file may have hundreds.
    let key = cx.facts.name(&format!("extends {}", cx.text(written)));
    let known = cx.facts.lookup(outside, key).first().map(|binding| DefinitionId(binding.a));
    let class = known.filter(|_| !cx.text(written).contains('<')).unwrap_or_else(|| {
        let (class, _) = cx.facts.class(Definition { kind: CLASS, ..Definition::default() }, ScopeId::NONE);
        cx.facts.bind(outside, key, Bound::definition(class));
        cx.facts.extend(of, class);
        class
    });
    let members = cx.facts.definition(class).members;
    cx.facts.bind(members, name, Bound::definition(function));
    let mut last = written;
    while let Some(inner) = field(last, if last.kind() == "nullable_type" { "type" } else { "name" }) {
        last = inner;
    }
    let text = match last.kind() {
        "identifier" | "generic_name" => types::spelt(cx, last).1,
        "array_type" => types::ARRAY.to_owned(),
        "predefined_type" => {
            let of = types::built_in(cx, cx.text(last), scope);
            let name = NameId(cx.facts.look(of).b);
            cx.facts.text(name).trim_start_matches("type ").to_owned()
        }
        _ => return,
    };
    let stand_in = types::type_name(cx, &text);
    let known = cx.facts.lookup(outside, stand_in).first().map(|binding| DefinitionId(binding.a));
    let class = known.unwrap_or_else(|| {
        // It has no symbol, and is still a container of its arguments.
        let nothing = cx.facts.named(outside, name);
        let alias = if matches!(last.kind(), "generic_name" | "array_type") { nothing } else { UNKNOWN };
        let definition = Definition { name: stand_in, kind: CLASS, flags: STANDS_IN, alias, ..Definition::default() };
        let (class, _) = cx.facts.class(definition, ScopeId::NONE);
        cx.facts.bind(outside, stand_in, Bound::definition(class));
        class
    });
    let members = cx.facts.definition(class).members;
    cx.facts.bind(members, name, Bound::definition(function));
}

/// `delegate Type Name(…);`
pub(super) fn delegate<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    declare_delegate(cx, node, at.scope, at.scope);
    at.says(UNKNOWN)
}

/// A delegate is a class that is called through its method `Invoke`.
pub(super) fn declare_delegate<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, bound: ScopeId, around: ScopeId) {
    let Some(name_node) = field(node, "name") else { return };
    let scope = cx.facts.scope(ScopeKind::Block, around);
    let parameters = generics(cx, node, scope);
    let (text, at) = (spelt(cx, name_node, parameters.len()), name_node.start_byte() as u32);
    let name = types::type_name(cx, &text);
    let generics = cx.facts.list(&parameters);
    let definition = Definition { name, at, kind: CLASS, generics, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, scope);
    bind_type(cx, bound, &text, class, at);
    let returns = types::of_part(cx, node, "type", scope);
    let takes = field(node, "parameters").map(|list| self::parameters(cx, list, scope)).unwrap_or_default();
    let name = cx.facts.name("Invoke");
    let invoke = taking(cx, Definition { name, owner: class, returns, ..Definition::default() }, &takes);
    cx.facts.bind(members, name, Bound::definition(invoke));
}
