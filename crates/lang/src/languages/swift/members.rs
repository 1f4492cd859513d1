//! Lowering of Swift functions, initialisers, subscripts and properties.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{all, body, field, has_word, home, is_open, local, named, plain};
use super::{calls, classes, lower, patterns, types};
use crate::facts::{
    Bound, Definition, DefinitionId, ExpressionId, MAY_LACK, MAY_REPEAT, NameId, Op, PROPERTY, ROOT, STANDS_IN,
    ScopeId, ScopeKind, TAKES_BLOCK, UNKNOWN,
};

/// The name of initialisers.
pub(super) const CONSTRUCTOR: &str = "init";
/// The member that brackets after a value mean.
pub(super) const SUBSCRIPT: &str = "subscript";

/// An argument or the type of a parameter under its label.
pub(super) fn labeled(cx: &mut Lower<'_, '_>, of: ExpressionId, label: &str) -> ExpressionId {
    let label = cx.facts.name(label);
    cx.facts.expression(Op::Labeled, of, label)
}

/// How parameters are labeled that have one name.
#[derive(Clone, Copy, PartialEq)]
enum Labels {
    /// By that name.
    Names,
    /// Not at all: subscripts.
    Written,
    /// None is: operators.
    None,
}

/// The types of the parameters of a function, which are bound in `scope`.
fn parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, labels: Labels, scope: ScopeId) -> Vec<ExpressionId> {
    let mut takes: Vec<ExpressionId> = Vec::new();
    let parts = all(node);
    for (place, part) in parts.iter().enumerate().filter(|(_, part)| part.kind() == "parameter") {
        let (mut names, mut of, mut label) = (Vec::new(), UNKNOWN, String::new());
        for one in cx.children(*part) {
            match one.kind() {
                "simple_identifier" => names.push(one),
                _ if types::is_type(one) => {
                    of = types::written(cx, one, scope);
                    label.extend(cx.text(one).contains("->").then_some(TAKES_BLOCK));
                }
                _ => drop(cx.value(one, scope)),
            }
        }
        let sign = parts[place + 1..].iter().take(2).position(|sign| sign.kind() == "=");
        let default = sign.and_then(|sign| parts.get(place + sign + 2));
        if let Some(default) = default {
            let expected = cx.facts.of(Op::Instance, of);
            calls::expect(cx, *default, expected, scope);
            label.push(MAY_LACK);
        }
        let is_open = part.children(&mut part.walk()).any(|sign| sign.kind() == "...");
        label.extend(is_open.then_some(MAY_REPEAT));
        let Some(name) = names.last() else { continue };
        let written = match (labels, &names[..]) {
            (Labels::Names, [name]) => plain(cx, *name),
            (Labels::Names | Labels::Written, [label, _]) if cx.text(*label) != "_" => plain(cx, *label),
            _ => "",
        };
        label.insert_str(0, written);
        takes.push(if labels == Labels::None { of } else { labeled(cx, of, &label) });
        let own = if is_open { types::container(cx, "Array", &[of]) } else { of };
        let name = named(cx, *name);
        cx.facts.bind(scope, name, Bound::parameter().of(own));
    }
    takes
}

/// A function, an initialiser or a subscript, with or without a body.
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let around = cx.facts.scope(ScopeKind::Block, at.scope);
    let generics = types::parameters(cx, node, around);
    let generics = cx.facts.list(&generics);
    let inner = cx.facts.scope(ScopeKind::Function, around);
    let (name_node, labels) = match node.kind() {
        "subscript_declaration" => {
            (node.children(&mut node.walk()).find(|word| word.kind() == SUBSCRIPT), Labels::Written)
        }
        _ => {
            let name = field(node, "name");
            let is_word = name.is_some_and(|name| matches!(name.kind(), "simple_identifier" | "init"));
            (name, if is_word { Labels::Names } else { Labels::None })
        }
    };
    let takes = parameters(cx, node, labels, inner);
    let class = cx.facts.class_of(at.scope);
    let mut returns = UNKNOWN;
    for part in cx.children(node) {
        match part.kind() {
            "modifiers" | "attribute" | "throws_clause" => drop(cx.value(part, around)),
            _ if types::is_type(part) => returns = types::written(cx, part, inner),
            _ => {}
        }
    }
    let returned = cx.facts.of(Op::Instance, returns);
    if node.kind() == "init_declaration" {
        returns = class.map_or(UNKNOWN, |class| cx.facts.expression(Op::ClassOf, class, 0));
    }
    if let Some(name_node) = name_node {
        let (name, place) = (named(cx, name_node), name_node.start_byte() as u32);
        let (owner, parameters) = (class.unwrap_or(DefinitionId::NONE), cx.facts.list(&takes));
        let flags = lower::privacy(cx, node);
        let function =
            Definition { name, at: place, owner, returns, parameters, generics, flags, ..Definition::default() };
        let defined = cx.facts.define(function);
        let bound = home(cx, node, at.scope);
        cx.facts.bind(bound, name, Bound::definition(defined).at(place));
        // An operator is found by the type of its left side.
        let of = match labels {
            Labels::None => takes.first().copied(),
            _ => classes::extended(cx, at.scope),
        };
        outside(cx, of, function);
    }
    for part in cx.pieces(node) {
        match part.kind() {
            "function_body" => drop(body(cx, part, returned, inner)),
            "computed_property" => accessors(cx, part, returned, inner),
            _ => {}
        }
    }
    at.says(UNKNOWN)
}

/// The name under which what extends types from outside is bound in a module.
pub(super) fn dotted(cx: &mut Lower<'_, '_>, name: NameId) -> NameId {
    let text = format!(".{}", cx.facts.text(name));
    cx.facts.name(&text)
}

/// Binds a member for values of a type from outside.
fn outside(cx: &mut Lower<'_, '_>, of: Option<ExpressionId>, member: Definition) {
    let Some(alias) = of.filter(|of| *of != UNKNOWN) else { return };
    let name = dotted(cx, member.name);
    let member = cx.facts.define(Definition { alias, flags: member.flags | STANDS_IN, ..member });
    cx.facts.bind(ROOT, name, Bound::definition(member));
}

/// The accessors of a property or a subscript.
fn accessors<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, of: ExpressionId, scope: ScopeId) {
    for part in cx.pieces(node) {
        let inner = cx.facts.scope(ScopeKind::Function, scope);
        if part.kind() == "statements" {
            body(cx, part, of, inner);
            continue;
        }
        let is_reading = part.kind() == "computed_getter";
        let mut given = cx.facts.name(if part.kind() == "didset_clause" { "oldValue" } else { "newValue" });
        for one in cx.pieces(part) {
            match one.kind() {
                "simple_identifier" => given = named(cx, one),
                "statements" => {
                    if !is_reading {
                        cx.facts.bind(inner, given, Bound::variable().value(of));
                    }
                    body(cx, one, if is_reading { of } else { UNKNOWN }, inner);
                }
                _ => drop(cx.value(one, inner)),
            }
        }
    }
}

/// The initialiser of a structure that writes none: of its stored properties.
pub(super) fn memberwise<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, class: DefinitionId, members: ScopeId) {
    let (mut takes, parts) = (Vec::new(), cx.children(node));
    if parts.iter().any(|part| part.kind() == "init_declaration") {
        return;
    }
    for part in parts {
        match part.kind() {
            "property_declaration" if !has_word(cx, part, &["static", "class", "lazy"]) => {
                stored(cx, part, members, &mut takes);
            }
            _ => {}
        }
    }
    let (name, parameters) = (cx.facts.name(CONSTRUCTOR), cx.facts.list(&takes));
    let returns = cx.facts.expression(Op::ClassOf, class, 0);
    let init = cx.facts.define(Definition { name, owner: class, returns, parameters, ..Definition::default() });
    cx.facts.bind(members, name, Bound::definition(init));
}

/// The name under which a structure has the property that a label of its own initialiser sets.
pub(super) fn set_by(cx: &mut Lower<'_, '_>, label: NameId) -> NameId {
    let name = format!("{CONSTRUCTOR} {}", cx.facts.text(label));
    cx.facts.name(&name)
}

/// Adds the stored properties of a declaration as parameters.
fn stored<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, members: ScopeId, takes: &mut Vec<ExpressionId>) {
    let parts = all(node);
    for (place, pattern) in parts.iter().enumerate().filter(|(_, part)| part.kind() == "pattern") {
        let rest: Vec<&Node<'t>> = parts[place + 1..].iter().take_while(|part| part.kind() != ",").collect();
        let kinds: Vec<&str> = rest.iter().map(|part| part.kind()).collect();
        let name = field(*pattern, "bound_identifier");
        let Some(name) = name.filter(|_| !kinds.contains(&"computed_property")) else { continue };
        let mut label = plain(cx, name).to_owned();
        let name = cx.facts.name(&label);
        let bound = cx.facts.bound_in(members, name).next().map(|binding| DefinitionId(binding.a));
        let Some(property) = bound else { continue };
        let (set_by, own) = (set_by(cx, name), cx.facts.named(members, name));
        cx.facts.bind(members, set_by, Bound::alias(own));
        let of = cx.facts.definition(property).returns;
        let written = rest.iter().find(|part| part.kind() == "type_annotation");
        label.extend(written.filter(|of| cx.text(***of).contains("->")).map(|_| TAKES_BLOCK));
        // A variable of an optional type begins as nothing.
        let may_lack = kinds.contains(&"=") || written.is_some_and(|of| cx.text(**of).ends_with('?'));
        label.extend(may_lack.then_some(MAY_LACK));
        takes.push(labeled(cx, of, &label));
    }
}

/// One of the names that a declaration binds.
struct Entry<'t> {
    pattern: Node<'t>,
    of: ExpressionId,
    value: Option<Node<'t>>,
    accessors: Vec<Node<'t>>,
}

/// `let name: Type = value`, `var a, b: Type`, `var name: Type { … }`
pub(super) fn property<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut entries: Vec<Entry<'t>> = Vec::new();
    let mut sign = "";
    for part in all(node) {
        let is_value = std::mem::replace(&mut sign, part.kind()) == "=";
        match part.kind() {
            "modifiers" | "attribute" => drop(cx.value(part, at.scope)),
            "type_constraints" => drop(types::conditions(cx, part, at)),
            "pattern" => entries.push(Entry { pattern: part, of: UNKNOWN, value: None, accessors: Vec::new() }),
            _ => {
                let Some(entry) = entries.last_mut() else { continue };
                match part.kind() {
                    "type_annotation" => entry.of = types::annotated(cx, part, at.scope),
                    "computed_property" | "willset_didset_block" => entry.accessors.push(part),
                    _ if is_value => entry.value = Some(part),
                    _ => {}
                }
            }
        }
    }
    // `let a, b: Type`
    for place in (1..entries.len()).rev() {
        if entries[place - 1].of == UNKNOWN && entries[place - 1].value.is_none() {
            entries[place - 1].of = entries[place].of;
        }
    }
    let mut scope = at.scope;
    for entry in entries {
        scope = declare(cx, node, &entry, scope);
    }
    NodeResult { value: UNKNOWN, scope }
}

fn declare<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, entry: &Entry<'t>, scope: ScopeId) -> ScopeId {
    let is_open = is_open(cx, scope);
    // Names of a value are its own, and no members of the class around.
    let inner = if is_open { cx.facts.scope(ScopeKind::Function, scope) } else { scope };
    let expected = cx.facts.of(Op::Instance, entry.of);
    let value = entry.value.map_or(UNKNOWN, |value| calls::expect(cx, value, expected, inner));
    let bound = home(cx, node, scope);
    let parts: Vec<Node<'t>> = all(entry.pattern);
    let names: Vec<Node<'t>> = parts.iter().copied().filter(|part| part.kind() == "simple_identifier").collect();
    let mut after = scope;
    if let [name_node] = names[..] {
        let (name, place) = (named(cx, name_node), name_node.start_byte() as u32);
        let it = Bound::variable().value(value).of(entry.of);
        if let Some(owner) = cx.facts.class_of(scope) {
            let flags = PROPERTY | lower::privacy(cx, node);
            let definition = Definition { name, at: place, owner, returns: entry.of, flags, ..Definition::default() };
            let property = cx.facts.define(definition);
            if entry.of == UNKNOWN {
                cx.facts.returns(property, value);
            }
            cx.facts.bind(bound, name, Bound::definition(property).at(place));
            let extended = classes::extended(cx, scope);
            outside(cx, extended, definition);
        } else if is_open {
            cx.facts.bind(bound, name, it.at(place));
        } else {
            after = local(cx, name, it, scope);
        }
    } else {
        patterns::bind(cx, &parts, value, true, bound);
    }
    let of = if expected == UNKNOWN { value } else { expected };
    for part in &entry.accessors {
        accessors(cx, *part, of, after);
    }
    after
}
