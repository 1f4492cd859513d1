//! Fixtures of pytest: a parameter of a test is given what the fixture of its name makes.
//!
//! Fixtures are bound under names of their own beside the module's names: parameters mean no other function.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::{container, walk};
use super::lower::is_async;
use crate::facts::{Bound, DefinitionId, ExpressionId, NameId, OFFERED, Op, ROOT, SEEN, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Files whose fixtures a test has without an import, the nearest first.
const FILES: &[&str] = &[".conftest", "..conftest", "...conftest", "....conftest"];

fn name_of(cx: &mut Lower<'_, '_>, fixture: &str) -> NameId {
    cx.facts.name(&format!("fixture {fixture}"))
}

/// The name of what a fixture gives.
fn value_of(cx: &mut Lower<'_, '_>, fixture: &str) -> NameId {
    cx.facts.name(&format!("given {fixture}"))
}

/// A function that may be a test or a fixture.
#[derive(Clone, Copy)]
pub(super) struct Asker<'n> {
    pub name: &'n str,
    /// The scope of its class, if it is a method.
    pub class: Option<ScopeId>,
}

/// Binds a fixture; `decorator` may give it another name: `fixture(name="cart")`. A fixture in a class is one for the
/// tests of that class and of those derived from it.
pub(super) fn define<'t>(
    cx: &mut Lower<'_, 't>,
    decorator: &str,
    asker: Asker<'_>,
    function: DefinitionId,
    body: Option<Node<'t>>,
) {
    let given = decorator.split_once("name=").and_then(|(_, given)| given.split(['"', '\'']).nth(1));
    let fixture = given.unwrap_or(asker.name);
    let scopes = match asker.class {
        Some(class) => vec![of_class(cx, class), of_classes(cx)],
        None => vec![ROOT],
    };
    let name = name_of(cx, fixture);
    scopes.iter().for_each(|scope| cx.facts.bind(*scope, name, Bound::definition(function)));
    let (own, none) = (cx.facts.expression(Op::Function, function, 0), cx.facts.list(&[]));
    let call = cx.facts.expression(Op::Call, own, none);
    let op = match body {
        Some(body) if yields(cx, body) => Some(Op::Each),
        Some(body) if body.parent().is_some_and(is_async) => Some(Op::Await),
        _ => None,
    };
    let value = op.map_or(call, |op| cx.facts.of(op, call));
    let name = value_of(cx, fixture);
    scopes.iter().for_each(|scope| cx.facts.bind(*scope, name, Bound::meaning(value)));
}

/// Whether a function yields, itself and not in a function inside it.
pub(super) fn yields<'t>(cx: &mut Lower<'_, 't>, body: Node<'t>) -> bool {
    let mut waiting = vec![body];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "yield" => return true,
            "function_definition" | "class_definition" | "lambda" => {}
            _ => waiting.extend(cx.children(node)),
        }
    }
    false
}

/// `yield value` as a statement: the function gives a container of such values.
pub(super) fn yielded<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, function: DefinitionId) {
    let is_from = node.child(1).is_some_and(|word| word.kind() == "from");
    for part in cx.children(node) {
        let value = walk(cx, part, scope, Role::Reference);
        if function != DefinitionId::NONE && value != UNKNOWN {
            let all = if is_from { value } else { container(cx, &[value]) };
            cx.facts.returns(function, all);
        }
    }
}

/// The value that a fixture gives to a parameter of its name.
pub(super) fn given<'t>(cx: &mut Lower<'_, 't>, parameter: Node<'t>, asker: Asker<'_>) -> ExpressionId {
    let scope = seen_by(cx, asker, parameter);
    let name = value_of(cx, cx.text(parameter));
    cx.facts.named(scope, name)
}

/// `pytest_plugins = ["a.b"]`: the fixtures of other modules, seen here and where the fixtures of this file are.
pub(super) fn plugins<'t>(cx: &mut Lower<'_, 't>, value: Node<'t>) {
    let listed = if value.kind() == "string" { vec![value] } else { cx.children(value) };
    for text in listed.into_iter().filter(|text| text.kind() == "string") {
        let named = cx.text(text).trim_start_matches(['r', 'b']).trim_matches(['"', '\'']);
        let module = cx.facts.module(named, ROOT);
        let scope = outer(cx);
        cx.facts.star(scope, module, SEEN);
        cx.facts.star(ROOT, module, OFFERED);
        cx.facts.import(text.start_byte() as u32, module, 0);
    }
}

/// Records what the parameters of a test or of a fixture mean.
pub(super) fn used<'t>(cx: &mut Lower<'_, 't>, parameters: Node<'t>, asker: Asker<'_>) {
    for parameter in cx.children(parameters) {
        let named = if parameter.kind() == "typed_parameter" { cx.first(parameter) } else { Some(parameter) };
        let Some(named) = named.filter(|named| named.kind() == "identifier" && cx.text(*named) != "self") else {
            continue;
        };
        let scope = seen_by(cx, asker, named);
        let name = name_of(cx, cx.text(named));
        let meant = cx.facts.named(scope, name);
        // It asks for the name, as an import does.
        cx.facts.occurrence(span_of(named), Role::Import, meant);
    }
}

/// The scope in which the fixture of a parameter is looked up. A fixture that asks for its own name gets the one that
/// it overrides.
fn seen_by<'t>(cx: &mut Lower<'_, 't>, asker: Asker<'_>, parameter: Node<'t>) -> ScopeId {
    match asker.class.filter(|_| cx.text(parameter) != asker.name) {
        Some(class) => of_class(cx, class),
        None => outer(cx),
    }
}

/// The scope from which fixtures of the file and of those around it are seen.
fn outer(cx: &mut Lower<'_, '_>) -> ScopeId {
    kept(cx, ROOT, "fixtures of pytest", |cx| {
        let scope = cx.facts.scope(ScopeKind::File, ROOT);
        for file in FILES {
            let module = cx.facts.module(file, ROOT);
            cx.facts.star(scope, module, SEEN);
        }
        scope
    })
}

/// The scope of the fixtures of all classes of the file: a class may have inherited them.
fn of_classes(cx: &mut Lower<'_, '_>) -> ScopeId {
    kept(cx, ROOT, "fixtures of classes", |cx| {
        let outer = outer(cx);
        cx.facts.scope(ScopeKind::Block, outer)
    })
}

/// The scope of the fixtures of one class.
fn of_class(cx: &mut Lower<'_, '_>, class: ScopeId) -> ScopeId {
    kept(cx, class, "fixtures of the class", |cx| {
        let classes = of_classes(cx);
        cx.facts.scope(ScopeKind::Block, classes)
    })
}

/// The scope that is kept under a name in another scope, made when it is first asked for.
fn kept<'t>(
    cx: &mut Lower<'_, 't>,
    place: ScopeId,
    name: &str,
    make: impl FnOnce(&mut Lower<'_, 't>) -> ScopeId,
) -> ScopeId {
    let name = cx.facts.name(name);
    if let Some((_, bound)) = cx.facts.nearest(place, name).filter(|(found, _)| *found == place) {
        return ScopeId(cx.facts.look(ExpressionId(bound.a)).a);
    }
    let scope = make(cx);
    let own = cx.facts.named(scope, name);
    cx.facts.bind(place, name, Bound::alias(own));
    scope
}
