//! Lowering of Python; see `resolve` for the requirements.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::expressions::{dotted, walk};
use super::fixtures;
use super::globals;
use super::imports::{import, import_from};
use super::made;
use super::narrowing::{self, home, narrowed};
use super::types::{annotation, is_type};
use crate::facts::{
    BindingKind, Bound, Definition, DefinitionId, DefinitionKind, EMPTY, ExpressionId, ListId, NONE, Op, ROOT, ScopeId,
    ScopeKind, UNKNOWN,
};
use codelode_base::model::Role;

/// Decorators of properties, besides those ending in `property`.
const PROPERTIES: &[&str] = &["setter", "getter", "deleter", "memoize_getter", "reify"];
/// Class methods without a decorator.
const CLASS_METHODS: &[&str] = &["__new__", "__init_subclass__", "__class_getitem__"];

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    body(cx, root, ROOT, DefinitionId::NONE);
}

/// Reads the statements of a block. `function` is the definition of their `return`s, or [`NONE`].
fn body<'t>(cx: &mut Lower<'_, 't>, block: Node<'t>, scope: ScopeId, function: DefinitionId) {
    let mut scope = scope;
    for statement in cx.children(block) {
        cx.deeper(|cx| self::statement(cx, statement, scope, function));
        scope = narrowing::after(cx, statement, scope);
    }
}

fn statement<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, function: DefinitionId) {
    match node.kind() {
        "decorated_definition" => {
            let mut decorators = Vec::new();
            for child in cx.children(node) {
                match child.kind() {
                    "decorator" => {
                        if let Some(expression) = cx.first(child) {
                            walk(cx, expression, scope, Role::Reference);
                            decorators.push(cx.text(expression));
                        }
                    }
                    "class_definition" => class(cx, child, scope, &decorators),
                    "function_definition" => self::function(cx, child, scope, &decorators),
                    _ => {}
                }
            }
        }
        "function_definition" => self::function(cx, node, scope, &[]),
        "class_definition" => class(cx, node, scope, &[]),
        "yield" => fixtures::yielded(cx, node, scope, function),
        "import_statement" => import(cx, node, scope),
        "import_from_statement" | "future_import_statement" => import_from(cx, node, scope),
        "expression_statement" => {
            for child in cx.children(node) {
                statement(cx, child, scope, function);
            }
        }
        "assignment" => assignment(cx, node, scope),
        "for_statement" => {
            let over = field(node, "right").map_or(UNKNOWN, |right| walk(cx, right, scope, Role::Reference));
            let each = cx.facts.of(Op::Each, over);
            if let Some(left) = field(node, "left") {
                target(cx, left, scope, each, UNKNOWN);
            }
            for part in ["body", "alternative"].into_iter().filter_map(|part| field(node, part)) {
                statement(cx, part, scope, function);
            }
        }
        "with_statement" => {
            for child in cx.children(node) {
                if child.kind() == "with_clause" {
                    for item in cx.children(child) {
                        with_item(cx, item, scope);
                    }
                } else {
                    statement(cx, child, scope, function);
                }
            }
        }
        "except_clause" | "except_group_clause" => {
            for child in cx.children(node) {
                match child.kind() {
                    "block" => body(cx, child, scope, function),
                    "as_pattern" => {
                        let raised = cx.first(child).map_or(UNKNOWN, |value| walk(cx, value, scope, Role::Reference));
                        let caught = one_of(cx, raised);
                        bind_alias(cx, child, scope, caught);
                    }
                    _ => drop(walk(cx, child, scope, Role::Reference)),
                }
            }
        }
        "return_statement" => {
            for child in cx.children(node) {
                let value = walk(cx, child, scope, Role::Reference);
                if function != DefinitionId::NONE {
                    let value = if returns_awaited(node) { made::awaited_value(cx, value) } else { value };
                    cx.facts.returns(function, value);
                }
            }
        }
        "block" => body(cx, node, scope, function),
        "if_statement" => conditional(cx, node, scope, function),
        "match_statement" => matching(cx, node, scope, function),
        "else_clause" | "while_statement" | "try_statement" | "finally_clause" => {
            for child in cx.children(node) {
                let kind = child.kind();
                match ["block", "_statement", "_clause", "_definition"].iter().any(|end| kind.ends_with(end)) {
                    true => cx.deeper(|cx| statement(cx, child, scope, function)),
                    false => drop(walk(cx, child, scope, Role::Reference)),
                }
            }
        }
        "global_statement" => globals::statement(cx, node, scope),
        "type_alias_statement" => {
            let children = cx.children(node);
            let (Some(name), Some(value)) = (children.first(), children.get(1)) else { return };
            if let Some(name) = cx.first(*name).filter(|name| name.kind() == "identifier") {
                let alias = annotation(cx, *value, scope);
                let (name, at) = (cx.name(name), name.start_byte() as u32);
                let of = DefinitionKind::Class;
                let (class, _) =
                    cx.facts.class(Definition { name, at, kind: of, alias, ..Definition::default() }, scope);
                cx.facts.bind(home(cx, scope), name, Bound::definition(class).at(at));
            }
        }
        kind if kind.ends_with("_statement") => {
            for child in cx.children(node) {
                walk(cx, child, scope, Role::Reference);
            }
        }
        _ => drop(walk(cx, node, scope, Role::Reference)),
    }
}

/// `if` with its branches: each knows that the conditions before it do not hold.
fn conditional<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, function: DefinitionId) {
    let mut scope = scope;
    for branch in std::iter::once(node).chain(cx.children(node)) {
        match branch.kind() {
            "if_statement" | "elif_clause" if branch == node || branch.kind() == "elif_clause" => {
                let condition = field(branch, "condition");
                if let Some(condition) = condition {
                    walk(cx, condition, scope, Role::Reference);
                }
                if let Some(block) = field(branch, "consequence") {
                    let inner = condition.map_or(scope, |condition| narrowed(cx, condition, scope, true));
                    cx.deeper(|cx| body(cx, block, inner, function));
                }
                scope = condition.map_or(scope, |condition| narrowed(cx, condition, scope, false));
            }
            "else_clause" => cx.deeper(|cx| statement(cx, branch, scope, function)),
            _ => {}
        }
    }
}

/// `match`: a class in a pattern tells what is matched.
fn matching<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, function: DefinitionId) {
    let Some(block) = field(node, "body") else { return };
    let subjects: Vec<Node<'t>> = cx.children(node).into_iter().filter(|child| *child != block).collect();
    let mut values = Vec::new();
    for subject in &subjects {
        values.push(walk(cx, *subject, scope, Role::Reference));
    }
    let subject = if let [subject] = subjects[..] { Some(subject) } else { None };
    for clause in cx.children(block) {
        let mut inner = scope;
        for child in cx.children(clause) {
            match child.kind() {
                "case_pattern" => {
                    let class = cx.deeper(|cx| Some(pattern(cx, child, scope))).unwrap_or(UNKNOWN);
                    if let Some(subject) = subject {
                        inner = narrowing::tell(cx, subject, class, true, scope);
                    }
                }
                "if_clause" => drop(walk(cx, child, inner, Role::Reference)),
                _ => cx.deeper(|cx| statement(cx, child, inner, function)),
            }
        }
    }
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// Position of a name for its binding, if it may be a symbol there; else [`NONE`].
fn place(cx: &Lower<'_, '_>, scope: ScopeId, node: Node<'_>) -> u32 {
    let is_outer = cx.facts.is(scope, ScopeKind::Module) || cx.facts.is(scope, ScopeKind::Class);
    if is_outer { node.start_byte() as u32 } else { NONE }
}

fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, decorators: &[&str]) {
    let scope = home(cx, scope);
    let Some(name_node) = field(node, "name") else { return };
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let owner = cx.facts.class_of(scope);
    let written = decorators;
    let decorators: Vec<&str> = written.iter().map(|decorator| made::last_name(decorator)).collect();
    let has = |word: &str| decorators.contains(&word);
    let is_property = decorators.iter().any(|one| one.ends_with("property") || PROPERTIES.contains(one));
    let function = cx.facts.define(Definition {
        name,
        at,
        owner: owner.unwrap_or(DefinitionId::NONE),
        flags: u16::from(is_property) * crate::facts::PROPERTY,
        ..Definition::default()
    });
    cx.facts.bind(scope, name, Bound::definition(function).at(at));
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    let text = cx.text(name_node);
    let asker = fixtures::Asker { name: text, class: owner.map(|_| scope) };
    if let Some(fixture) = written.iter().find(|decorator| made::last_name(decorator) == "fixture") {
        fixtures::define(cx, fixture, asker, function, field(node, "body"));
    }
    let asks = text.starts_with("test") || has("fixture");
    let first = match owner {
        Some(class) if has("classmethod") || CLASS_METHODS.contains(&text) => Some((Op::ClassOf, class)),
        Some(class) if !has("staticmethod") => Some((Op::SelfOf, class)),
        _ => None,
    };
    let generics = type_parameters(cx, node, inner);
    cx.facts.definition(function).generics = generics;
    let mut first_type = UNKNOWN;
    if let Some(parameters) = field(node, "parameters") {
        let first = if asks { FirstParameter::Fixtures(first, asker) } else { FirstParameter::Method(first) };
        first_type = self::parameters(cx, parameters, inner, scope, first, function);
        if asks {
            fixtures::used(cx, parameters, asker);
        }
    }
    if let Some(returns) = field(node, "return_type") {
        let mut returns = annotation(cx, returns, inner);
        if let Some(class) = owner {
            returns = made::returned(cx, class, first_type, returns);
        }
        if is_async(node) && field(node, "body").is_some_and(|body| !fixtures::yields(cx, body)) {
            returns = made::awaited(cx, returns);
        }
        cx.facts.definition(function).returns = returns;
        if let Some(class) = owner.filter(|_| text == "__new__") {
            made::another(cx, class, returns);
        }
    }
    if let Some(block) = field(node, "body") {
        body(cx, block, inner, function);
    }
}

/// Whether a `return` is of an `async` function.
fn returns_awaited(node: Node<'_>) -> bool {
    const MOST: usize = 32;
    let around = std::iter::successors(node.parent(), |node| node.parent()).take(MOST);
    around.into_iter().find(|node| node.kind() == "function_definition").is_some_and(is_async)
}

/// Whether a function is `async`.
pub(super) fn is_async(node: Node<'_>) -> bool {
    node.child(0).is_some_and(|word| word.kind() == "async")
}

/// Binds the type parameters of a function or class, `def f[T: Bound](…)`; returns their list.
fn type_parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ListId {
    let Some(parameters) = field(node, "type_parameters") else { return EMPTY };
    let mut names = Vec::new();
    for parameter in cx.children(parameters) {
        let Some(inner) = cx.first(parameter) else { continue };
        let (name, bound) = match inner.kind() {
            "constrained_type" => {
                let parts = cx.children(inner);
                (parts.first().and_then(|part| cx.first(*part)), parts.get(1).copied())
            }
            _ => (Some(inner), None),
        };
        let Some(name) = name.filter(|name| name.kind() == "identifier") else { continue };
        let bound = bound.map_or(UNKNOWN, |bound| annotation(cx, bound, scope));
        let name = cx.name(name);
        cx.facts.bind(scope, name, Bound::variable().of(bound));
        names.push(cx.facts.named(scope, name));
    }
    cx.facts.list(&names)
}

/// Context of a function's parameters.
pub(super) enum FirstParameter<'n> {
    /// The type of a method's first parameter, if it is implicit.
    Method(Option<(Op, DefinitionId)>),
    /// The same of a function whose other parameters are given by fixtures.
    Fixtures(Option<(Op, DefinitionId)>, fixtures::Asker<'n>),
    /// The function is an argument: callee and position.
    Argument(ExpressionId, u32),
    Nothing,
}

/// Binds parameters; returns the type that is written for the first one of a method.
pub(super) fn parameters<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    inner: ScopeId,
    outer: ScopeId,
    given: FirstParameter<'_>,
    function: DefinitionId,
) -> ExpressionId {
    let is_method = cx.facts.definition(function).owner != DefinitionId::NONE;
    let mut first = match given {
        FirstParameter::Method(first) | FirstParameter::Fixtures(first, _) => first,
        _ => None,
    };
    let mut first_type = UNKNOWN;
    let mut types = Vec::new();
    for parameter in cx.children(node) {
        let mut named = Some(parameter);
        let mut annotated = field(parameter, "type");
        let mut default = None;
        match parameter.kind() {
            "identifier" => {}
            "typed_parameter" => named = cx.first(parameter),
            "default_parameter" | "typed_default_parameter" => {
                named = field(parameter, "name");
                default = field(parameter, "value");
            }
            "list_splat_pattern" | "dictionary_splat_pattern" => {}
            _ => continue,
        }
        let default = default.map_or(UNKNOWN, |value| walk(cx, value, outer, Role::Reference));
        // A literal does not tell what others give.
        let default = if cx.facts.is_void(default) { UNKNOWN } else { default };
        let mut of = annotated.take().map_or(UNKNOWN, |annotated| annotation(cx, annotated, inner));
        if let Some(splat) = named.filter(|named| named.kind().ends_with("splat_pattern")) {
            named = cx.first(splat);
            // `*args: T` is a tuple of `T`, `**kwargs: T` a dictionary of `T`.
            of = match of {
                UNKNOWN => cx.facts.foreign_container(),
                of => {
                    let list = cx.facts.list(&[of]);
                    cx.facts.expression(Op::Generic, UNKNOWN, list)
                }
            };
        }
        let Some(named) = named.filter(|named| named.kind() == "identifier") else { continue };
        let name = cx.name(named);
        match first.take() {
            Some((op, class)) => {
                let is_class = cx.text(named) == "cls" || cx.text(named) == "mcs";
                let op = if is_class { Op::ClassOf } else { op };
                let own = cx.facts.expression(op, class, 0);
                first_type = of;
                // The methods of a mix-in may say what they are mixed into.
                let says_other = of != UNKNOWN && !made::is_variable(cx, of) && cx.facts.look(of).op != Op::SelfOf;
                let bound = if says_other { Bound::parameter().of(of) } else { Bound::meaning(own) };
                cx.facts.bind(inner, name, bound);
            }
            None => {
                let place = types.len() as u32;
                let value = match given {
                    FirstParameter::Argument(callee, argument) if of == UNKNOWN => {
                        cx.facts.expression(Op::Passed, callee, argument << 16 | place)
                    }
                    FirstParameter::Fixtures(_, asker) if default == UNKNOWN => fixtures::given(cx, named, asker),
                    _ if is_method && of == UNKNOWN && default == UNKNOWN => {
                        cx.facts.expression(Op::Overridden, function, place)
                    }
                    _ => default,
                };
                types.push(of);
                cx.facts.bind(inner, name, Bound::parameter().value(value).of(of));
            }
        }
    }
    let types = cx.facts.list(&types);
    cx.facts.definition(function).parameters = types;
    first_type
}

fn class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, decorators: &[&str]) {
    let Some(name_node) = field(node, "name") else { return };
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let owner = cx.facts.class_of(scope).unwrap_or(DefinitionId::NONE);
    let kind = DefinitionKind::Class;
    let (mut around, mut generics) = (scope, EMPTY);
    if field(node, "type_parameters").is_some() {
        around = cx.facts.scope(ScopeKind::Block, scope);
        generics = type_parameters(cx, node, around);
    }
    let definition = Definition { name, at, owner, kind, generics, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, around);
    cx.facts.bind(home(cx, scope), name, Bound::definition(class).at(at));
    made::decorated(cx, decorators, members);
    if let Some(bases) = field(node, "superclasses") {
        // Type variables are parameters in the order of `Generic[…]`, or else of their first use in the bases.
        let (mut variables, mut says_variables) = (Vec::new(), false);
        for base in cx.children(bases) {
            if base.kind() == "keyword_argument" {
                let value = field(base, "value").map_or(UNKNOWN, |value| walk(cx, value, around, Role::Reference));
                if field(base, "name").is_some_and(|name| cx.text(name) == "metaclass") {
                    made::metaclass(cx, members, value);
                }
                continue;
            }
            let base = match base.kind() {
                "call" if made::with_metaclass(cx, base, around, class, members) => continue,
                // `class A(List[B])`: the base is the part before the brackets.
                "subscript" => {
                    let parts = cx.children(base);
                    let given: Vec<ExpressionId> = parts[1..]
                        .iter()
                        .map(|part| match part.kind() {
                            "string" => walk(cx, *part, around, Role::Type),
                            _ => annotation(cx, *part, around),
                        })
                        .collect();
                    let of = walk(cx, parts[0], around, Role::Base);
                    let is_parameters = matches!(cx.text(parts[0]).rsplit('.').next(), Some("Generic" | "Protocol"));
                    if is_parameters {
                        variables.clear();
                    }
                    for part in given.iter().filter(|_| !says_variables) {
                        if cx.facts.look(*part).op == Op::Name && !variables.contains(part) {
                            variables.push(*part);
                        }
                    }
                    says_variables |= is_parameters;
                    let list = cx.facts.list(&given);
                    if of == UNKNOWN { of } else { cx.facts.expression(Op::Generic, of, list) }
                }
                _ => walk(cx, base, around, Role::Base),
            };
            cx.facts.base(class, base);
        }
        if generics == EMPTY {
            let generics = cx.facts.list(&variables);
            cx.facts.definition(class).generics = generics;
        }
    }
    if let Some(block) = field(node, "body") {
        body(cx, block, members, DefinitionId::NONE);
    }
}

fn assignment<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let of = field(node, "type").map_or(UNKNOWN, |of| annotation(cx, of, scope));
    // A chain `a = b = value` assigns one value to all.
    let (mut targets, mut value) = (Vec::new(), Some(node));
    while let Some(chained) = value.filter(|value| value.kind() == "assignment") {
        targets.extend(field(chained, "left"));
        value = field(chained, "right");
    }
    // `Name = Name` in a class, or `name = name()`: the right side refers to the outer scope, as the class does not have the
    // name yet.
    let is_own =
        |cx: &Lower<'_, 't>, value: Node<'t>| targets.iter().any(|to: &Node<'t>| cx.text(*to) == cx.text(value));
    let outer = cx.facts.class_of(scope).map(|_| cx.facts.parent(scope));
    let written = value;
    let value = match value {
        Some(value) if value.kind() == "identifier" && outer.is_some() && is_own(cx, value) => {
            walk(cx, value, outer.unwrap_or(scope), Role::Reference)
        }
        Some(value) if outer.is_some() && is_bare_call(value).is_some_and(|function| is_own(cx, function)) => {
            walk(cx, value, outer.unwrap_or(scope), Role::Reference)
        }
        Some(value) if is_type(cx, value) && !cx.facts.is(home(cx, scope), ScopeKind::Function) => {
            annotation(cx, value, scope)
        }
        Some(value) => walk(cx, value, scope, Role::Reference),
        None => UNKNOWN,
    };
    for left in targets {
        if let Some(written) = written.filter(|_| scope == ROOT && cx.text(left) == "pytest_plugins") {
            fixtures::plugins(cx, written);
        }
        target(cx, left, scope, value, of);
        if let Some(written) = written.filter(|_| outer.is_some() && left.kind() == "identifier") {
            let name = cx.name(left);
            made::other_name(cx, name, written, scope);
        }
    }
}

/// The name of a function that is called without arguments.
fn is_bare_call(node: Node<'_>) -> Option<Node<'_>> {
    let is_bare = node.kind() == "call" && field(node, "arguments").is_some_and(|all| all.named_child_count() == 0);
    field(node, "function").filter(|function| is_bare && function.kind() == "identifier")
}

/// Binds an assignment target.
pub(super) fn target<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    value: ExpressionId,
    of: ExpressionId,
) {
    match node.kind() {
        "identifier" => {
            let name = cx.name(node);
            // A lambda bound to a name is a symbol in any scope.
            let is_function = cx.facts.look(value).op == Op::Function;
            let at = if is_function { node.start_byte() as u32 } else { place(cx, scope, node) };
            let home = globals::home(cx, home(cx, scope), name);
            cx.facts.bind(home, name, Bound::variable().value(value).of(of).at(at));
            narrowing::assigned(cx, scope, name, value);
            cx.bare(node, scope, Role::Write);
        }
        "attribute" => {
            let (Some(object), Some(attribute)) = (field(node, "object"), field(node, "attribute")) else { return };
            let on = walk(cx, object, scope, Role::Reference);
            cx.member(attribute, on, Role::Write);
            if object.kind() != "identifier" {
                return;
            }
            let object = cx.name(object);
            let name = cx.name(attribute);
            for binding in cx.facts.lookup(scope, object) {
                let own = cx.facts.look(ExpressionId(binding.a));
                let is_own = own.op == Op::SelfOf || own.op == Op::ClassOf;
                if binding.kind == BindingKind::Value && is_own {
                    let attributes = cx.facts.attributes(DefinitionId(own.a));
                    let at = attribute.start_byte() as u32;
                    cx.facts.bind(attributes, name, Bound::variable().value(value).of(of).at(at));
                }
            }
        }
        "pattern_list" | "tuple_pattern" | "list_pattern" | "tuple" | "list" | "expression_list" => {
            for (place, part) in cx.children(node).into_iter().enumerate() {
                let item = if value == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, value, place as u32) };
                cx.deeper(|cx| target(cx, part, scope, item, UNKNOWN));
            }
        }
        "list_splat_pattern" | "parenthesized_expression" => {
            for part in cx.children(node) {
                cx.deeper(|cx| target(cx, part, scope, UNKNOWN, UNKNOWN));
            }
        }
        _ => drop(walk(cx, node, scope, Role::Write)),
    }
}

fn with_item<'t>(cx: &mut Lower<'_, 't>, item: Node<'t>, scope: ScopeId) {
    let Some(value) = field(item, "value") else { return };
    if value.kind() != "as_pattern" {
        walk(cx, value, scope, Role::Reference);
        return;
    }
    let entered = cx.first(value).map_or(UNKNOWN, |value| walk(cx, value, scope, Role::Reference));
    let entered = cx.facts.of(Op::Enter, entered);
    bind_alias(cx, value, scope, entered);
}

/// Binds the name after `as`.
fn bind_alias<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, value: ExpressionId) {
    if let Some(to) = field(node, "alias").and_then(|alias| cx.first(alias)) {
        target(cx, to, scope, value, UNKNOWN);
    }
}

/// An instance of a class, or of one in a tuple: `except (A, B)`, `isinstance(x, (A, B))`.
fn one_of(cx: &mut Lower<'_, '_>, classes: ExpressionId) -> ExpressionId {
    let it = cx.facts.look(classes);
    if it.op == Op::Tuple {
        let union = cx.facts.expression(Op::Union, it.a, 0);
        return cx.facts.of(Op::Instance, union);
    }
    cx.facts.of(Op::Instance, classes)
}

/// Reads `name=pattern` in the pattern of a class, whose member it is; false for another pattern.
fn keyword<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, class: ExpressionId, scope: ScopeId) -> bool {
    let inner = if node.kind() == "case_pattern" { cx.first(node) } else { Some(node) };
    let Some(inner) = inner.filter(|inner| inner.kind() == "keyword_pattern") else { return false };
    let mut parts = cx.children(inner).into_iter();
    if let Some(name) = parts.next() {
        cx.member(name, class, Role::Reference);
    }
    for part in parts {
        cx.deeper(|cx| pattern(cx, part, scope));
    }
    true
}

/// Reads a `case` pattern: class names are references, other single names are bound. Returns the class that it matches.
fn pattern<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    match node.kind() {
        "class_pattern" | "case_pattern" | "union_pattern" | "tuple_pattern" | "list_pattern" | "as_pattern"
        | "dict_pattern" | "splat_pattern" => {
            let kind = node.kind();
            let mut classes = Vec::new();
            let mut class = UNKNOWN;
            for (place, child) in cx.children(node).into_iter().enumerate() {
                let is_class = kind == "class_pattern" && place == 0;
                if kind == "class_pattern" && place > 0 && keyword(cx, child, class, scope) {
                    continue;
                }
                let is_read = is_class || child.kind() == "dotted_name" && child.named_child_count() > 1;
                match child.kind() {
                    "dotted_name" if is_read => {
                        let meant = dotted(cx, child, scope);
                        class = if is_class { cx.facts.of(Op::Instance, meant) } else { class };
                        classes.extend(is_class.then_some(meant));
                    }
                    "identifier" if kind == "as_pattern" => {
                        let of = classes.first().copied().unwrap_or(UNKNOWN);
                        let name = cx.name(child);
                        cx.facts.bind(home(cx, scope), name, Bound::variable().of(of));
                    }
                    _ => {
                        let of = cx.deeper(|cx| Some(pattern(cx, child, scope))).unwrap_or(UNKNOWN);
                        classes.extend((kind != "class_pattern").then_some(of));
                    }
                }
            }
            let is_whole = matches!(kind, "class_pattern" | "case_pattern" | "union_pattern" | "as_pattern");
            if is_whole && !classes.contains(&UNKNOWN) { cx.facts.union(&classes) } else { UNKNOWN }
        }
        "dotted_name" | "identifier" => {
            let name = cx.name(node);
            cx.facts.bind(home(cx, scope), name, Bound::variable());
            UNKNOWN
        }
        _ => UNKNOWN,
    }
}
