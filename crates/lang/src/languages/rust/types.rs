//! Lowering of Rust types, paths and type parameters.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::walk;
use super::lower::{MACROS, field};
use crate::facts::{BindingKind, Bound, ExpressionId, ListId, NONE, NameId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Types and traits of the standard library whose members are those of their last argument.
pub(super) const TRANSPARENT: &[&str] = &[
    "Box",
    "Rc",
    "Arc",
    "Cow",
    "RefCell",
    "Cell",
    "Mutex",
    "RwLock",
    "Ref",
    "RefMut",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Pin",
    "ManuallyDrop",
    "NonNull",
    "Weak",
    "OnceCell",
    "OnceLock",
    "LazyLock",
    "LazyCell",
    "Wrapping",
    "AsRef",
    "AsMut",
    "Borrow",
    "BorrowMut",
];

/// The internal name of an associated type within its `impl`.
pub(super) fn own_types(name: &str) -> String {
    format!("Self::{name}")
}

/// Reads a type and returns it; `role` is the role of its outermost name.
pub(super) fn annotation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    cx.deeper(|cx| annotation_one(cx, node, scope, role))
}

fn annotation_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    match node.kind() {
        // Told by the value.
        "type_identifier" if cx.text(node) == "_" => UNKNOWN,
        "type_identifier" | "identifier" | "scoped_type_identifier" | "scoped_identifier" => {
            path(cx, node, scope, role)
        }
        "generic_type" | "generic_type_with_turbofish" => generic(cx, node, scope, role),
        "reference_type" | "pointer_type" | "higher_ranked_trait_bound" => {
            field(node, "type").map_or(UNKNOWN, |of| annotation(cx, of, scope, role))
        }
        "abstract_type" | "dynamic_type" => field(node, "trait").map_or(UNKNOWN, |of| annotation(cx, of, scope, role)),
        "array_type" | "slice_type" => {
            let element = field(node, "element").or_else(|| cx.first(node));
            let element = element.map_or(UNKNOWN, |of| annotation(cx, of, scope, Role::Type));
            if let Some(length) = field(node, "length") {
                walk(cx, length, scope, Role::Reference);
            }
            let list = cx.facts.list(&[element]);
            cx.facts.expression(Op::Generic, UNKNOWN, list)
        }
        "tuple_type" => {
            let types: Vec<ExpressionId> =
                cx.children(node).into_iter().map(|part| annotation(cx, part, scope, Role::Type)).collect();
            let list = cx.facts.list(&types);
            cx.facts.expression(Op::Tuple, list, 0)
        }
        "bounded_type" | "trait_bounds" => {
            let types = bounds(cx, node, scope, role);
            cx.facts.union(&types)
        }
        "function_type" => {
            if let Some(of) = field(node, "trait") {
                annotation(cx, of, scope, Role::Type);
            }
            let takes = field(node, "parameters").map(|parameters| cx.children(parameters)).unwrap_or_default();
            let takes: Vec<ExpressionId> = takes
                .into_iter()
                .map(|part| match part.kind() {
                    "parameter" => field(part, "type").unwrap_or(part),
                    _ => part,
                })
                .map(|part| annotation(cx, part, scope, Role::Type))
                .collect();
            let gives = field(node, "return_type").map_or(UNKNOWN, |of| annotation(cx, of, scope, Role::Type));
            let list = cx.facts.list(&takes);
            cx.facts.expression(Op::FunctionType, gives, list)
        }
        "bracketed_type" => bracketed(cx, node, scope),
        "macro_invocation" => super::lower::invocation(cx, node, scope),
        "lifetime" | "primitive_type" | "unit_type" | "never_type" | "for_lifetimes" | "use_bounds" => UNKNOWN,
        _ => {
            for part in cx.children(node) {
                annotation(cx, part, scope, role);
            }
            UNKNOWN
        }
    }
}

/// The known bounds of `A + B + 'a`.
pub(super) fn bounds<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> Vec<ExpressionId> {
    let mut types = Vec::new();
    for part in cx.children(node) {
        let of = match part.kind() {
            "lifetime" => UNKNOWN,
            "removed_trait_bound" => annotation(cx, part, scope, Role::Type),
            _ => annotation(cx, part, scope, role),
        };
        types.extend((of != UNKNOWN).then_some(of));
    }
    types
}

/// `<T>` and `<T as Trait>` before `::`.
fn bracketed<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let Some(inside) = cx.first(node) else { return UNKNOWN };
    if inside.kind() != "qualified_type" {
        return annotation(cx, inside, scope, Role::Type);
    }
    let of = field(inside, "type").map_or(UNKNOWN, |of| annotation(cx, of, scope, Role::Type));
    let by = field(inside, "alias").map_or(UNKNOWN, |of| annotation(cx, of, scope, Role::Type));
    if of == UNKNOWN { by } else { of }
}

fn generic<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    let (Some(base), Some(arguments)) = (field(node, "type"), field(node, "type_arguments")) else { return UNKNOWN };
    let of = annotation(cx, base, scope, role);
    let text = cx.text(base);
    let name = text.rsplit("::").next().unwrap_or(text).trim();
    let (mut types, mut item) = (Vec::new(), UNKNOWN);
    for argument in cx.children(arguments) {
        match argument.kind() {
            "lifetime" => {}
            "type_binding" => {
                let bound = field(argument, "type").map_or(UNKNOWN, |of| annotation(cx, of, scope, Role::Type));
                if field(argument, "name").is_some_and(|name| matches!(cx.text(name), "Item" | "Output" | "Target")) {
                    item = bound;
                }
            }
            "block" => drop(walk(cx, argument, scope, Role::Reference)),
            "array_type" if matches!(name, "SmallVec" | "ArrayVec" | "TinyVec") => {
                let array = annotation(cx, argument, scope, Role::Type);
                let held = cx.facts.look(array);
                types.extend(cx.facts.items(ListId(held.b)).first().copied());
            }
            _ => types.push(annotation(cx, argument, scope, Role::Type)),
        }
    }
    if TRANSPARENT.contains(&name) || matches!(name, "Future" | "Deref" | "DerefMut") {
        let inner = if item == UNKNOWN { types.last().copied().unwrap_or(UNKNOWN) } else { item };
        return cx.facts.union(&[of, inner]);
    }
    if item != UNKNOWN {
        types = vec![item];
    }
    // The value comes last because `?` yields it, and the error is the key. With two arguments it would be a map.
    if name.ends_with("Result") && types.len() == 2 {
        types = vec![types[1], UNKNOWN, types[0]];
    }
    // Project types can be containers too.
    let list = cx.facts.list(&types);
    let (own, held) = (cx.facts.expression(Op::Generic, of, list), cx.facts.expression(Op::Generic, UNKNOWN, list));
    cx.facts.union(&[own, held])
}

/// `crate`, `self`, `super` and `$crate` where a path leads through modules; `before` is the path before it.
pub(super) fn module_word(
    cx: &mut Lower<'_, '_>,
    node: Node<'_>,
    before: ExpressionId,
    scope: ScopeId,
) -> Option<ExpressionId> {
    let spec = match cx.text(node) {
        "crate" | "$crate" => "crate".to_owned(),
        "self" => "self".to_owned(),
        "super" if before == ExpressionId::NONE => "super".to_owned(),
        "super" => {
            let it = cx.facts.look(before);
            let before = if it.op == Op::Module { cx.facts.text(NameId(it.a)) } else { "self" };
            format!("{before}::super")
        }
        _ => return None,
    };
    Some(cx.facts.module(&spec, scope))
}

/// The scope from which the first name of a longer path is seen: locals are no modules and no types.
fn outside_locals(cx: &Lower<'_, '_>, mut scope: ScopeId, name: NameId) -> ScopeId {
    while let Some((nearest, binding)) = cx.facts.nearest(scope, name) {
        let is_type = [BindingKind::Definition, BindingKind::Alias].contains(&binding.kind);
        let is_inner = cx.facts.is(nearest, ScopeKind::Function) || cx.facts.is(nearest, ScopeKind::Block);
        // Type parameters and `Self` begin with a capital.
        if is_type || !is_inner || cx.facts.text(name).starts_with(char::is_uppercase) {
            return scope;
        }
        scope = cx.facts.parent(nearest);
        if scope == ScopeId::NONE {
            return nearest;
        }
    }
    scope
}

/// Whether a bare name is a local variable bound so far. Locals have no place, because others cannot name them.
pub(super) fn is_local(cx: &Lower<'_, '_>, scope: ScopeId, name: NameId) -> bool {
    cx.facts.nearest(scope, name).is_some_and(|(nearest, binding)| {
        binding.at == NONE
            && (cx.facts.is(nearest, ScopeKind::Function) || cx.facts.is(nearest, ScopeKind::Block))
            && [BindingKind::Variable, BindingKind::Value].contains(&binding.kind)
    })
}

/// A bare name or a path. Reads the names in it and returns its meaning; `role` is the role of the last name.
pub(super) fn path<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    match node.kind() {
        "scoped_identifier" | "scoped_type_identifier" => {
            let Some(last) = field(node, "name") else { return UNKNOWN };
            let before = match field(node, "path") {
                Some(before) => cx.deeper(|cx| prefix(cx, before, scope)),
                None => cx.facts.module("::", scope),
            };
            let name = cx.name(last);
            if field(node, "path").is_some_and(|before| cx.text(before) == "Self") {
                let own = own_types(cx.text(last));
                let own = cx.facts.name(&own);
                if cx.facts.nearest(scope, own).is_some() {
                    let meant = cx.facts.named(scope, own);
                    cx.facts.occurrence(span_of(last), role, meant);
                    return meant;
                }
            }
            let meant = cx.facts.member(before, name);
            cx.facts.occurrence(span_of(last), role, meant);
            if before == UNKNOWN { UNKNOWN } else { meant }
        }
        "generic_type" | "generic_type_with_turbofish" => generic(cx, node, scope, role),
        "metavariable" => UNKNOWN,
        _ => {
            let name = cx.name(node);
            let meant = cx.facts.named(scope, name);
            if cx.keeps_locals || !is_local(cx, scope, name) {
                cx.facts.occurrence(span_of(node), role, meant);
            }
            meant
        }
    }
}

/// The part of a path before `::`.
fn prefix<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    match node.kind() {
        "crate" | "self" | "super" | "metavariable" => {
            module_word(cx, node, ExpressionId::NONE, scope).unwrap_or(UNKNOWN)
        }
        "scoped_identifier" | "scoped_type_identifier"
            if field(node, "name").is_some_and(|it| it.kind() == "super") =>
        {
            let before =
                field(node, "path").map_or(ExpressionId::NONE, |before| cx.deeper(|cx| prefix(cx, before, scope)));
            field(node, "name").and_then(|name| module_word(cx, name, before, scope)).unwrap_or(UNKNOWN)
        }
        "identifier" | "type_identifier" => {
            let name = cx.name(node);
            let home = outside_locals(cx, scope, name);
            let meant = cx.facts.named(home, name);
            match cx.text(node) {
                "Self" => {}
                text if text.starts_with(char::is_uppercase) => cx.facts.occurrence(span_of(node), Role::Type, meant),
                _ => cx.facts.in_path(span_of(node), Role::Reference, meant),
            }
            meant
        }
        "generic_type" | "generic_type_with_turbofish" => {
            // `Vec::<T>` is the type alone: its arguments matter for its values only.
            let (Some(of), Some(arguments)) = (field(node, "type"), field(node, "type_arguments")) else {
                return UNKNOWN;
            };
            let of = prefix(cx, of, scope);
            for argument in cx.children(arguments) {
                annotation(cx, argument, scope, Role::Type);
            }
            of
        }
        "scoped_identifier" | "scoped_type_identifier" if !ends_in_type(cx, node) => {
            let Some(last) = field(node, "name") else { return UNKNOWN };
            let before = match field(node, "path") {
                Some(before) => cx.deeper(|cx| prefix(cx, before, scope)),
                None => cx.facts.module("::", scope),
            };
            let name = cx.name(last);
            let meant = cx.facts.member(before, name);
            cx.facts.in_path(span_of(last), Role::Reference, meant);
            if before == UNKNOWN { UNKNOWN } else { meant }
        }
        "bracketed_type" => bracketed(cx, node, scope),
        "primitive_type" => UNKNOWN,
        _ => path(cx, node, scope, Role::Reference),
    }
}

/// Whether the last name of a path is that of a type, by its first letter.
fn ends_in_type(cx: &Lower<'_, '_>, node: Node<'_>) -> bool {
    field(node, "name").is_none_or(|last| cx.text(last).starts_with(char::is_uppercase))
}

/// Records the macro that is called; returns the last part of its name, and its meaning.
pub(super) fn macro_name<'s>(cx: &mut Lower<'s, '_>, node: Node<'_>, scope: ScopeId) -> (&'s str, ExpressionId) {
    let (last, before) = match node.kind() {
        "scoped_identifier" => (field(node, "name").unwrap_or(node), field(node, "path")),
        _ => (node, None),
    };
    let text = cx.text(last);
    let name = cx.facts.name(&format!("{text}!"));
    let meant = match before {
        // A macro is named by its crate.
        Some(before) => {
            let spec = cx.text(before);
            let module = match spec {
                "crate" | "$crate" | "self" | "super" => cx.facts.module(spec.trim_start_matches('$'), scope),
                _ => {
                    let mut meant = ExpressionId::NONE;
                    for part in spec.split("::") {
                        let part = cx.facts.name(part.trim());
                        meant = match meant {
                            ExpressionId::NONE => cx.facts.named(scope, part),
                            _ => cx.facts.member(meant, part),
                        };
                    }
                    meant
                }
            };
            cx.facts.member(module, name)
        }
        // One that its file defines before the call hides those that come from elsewhere.
        None if cx.facts.binds(MACROS, name) && cx.facts.lookup(scope, name).is_empty() => cx.facts.named(MACROS, name),
        None => cx.facts.named(scope, name),
    };
    cx.facts.occurrence(span_of(last), Role::Reference, meant);
    (text, meant)
}

/// Type parameters of an item, with the bounds in its `where`; returns their list.
pub(super) fn type_parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ListId {
    let mut names = Vec::new();
    if let Some(parameters) = field(node, "type_parameters") {
        for parameter in cx.children(parameters) {
            match parameter.kind() {
                "type_parameter" => {
                    let Some(name) = field(parameter, "name") else { continue };
                    // Bound first, because bounds may refer to it.
                    let name = cx.name(name);
                    let above = ["bounds", "default_type"]
                        .map(|part| field(parameter, part).map_or(UNKNOWN, |of| annotation(cx, of, scope, Role::Type)));
                    let above = cx.facts.union(&above);
                    cx.facts.bind(scope, name, Bound::variable().of(above));
                    names.push(cx.facts.named(scope, name));
                }
                "const_parameter" => {
                    let Some(name) = field(parameter, "name") else { continue };
                    let name = cx.name(name);
                    let of = field(parameter, "type").map_or(UNKNOWN, |of| annotation(cx, of, scope, Role::Type));
                    cx.facts.bind(scope, name, Bound::variable().of(of));
                }
                _ => {}
            }
        }
    }
    let clauses: Vec<Node<'t>> =
        cx.children(node).into_iter().filter(|clause| clause.kind() == "where_clause").collect();
    for clause in clauses {
        for predicate in cx.children(clause) {
            let (Some(left), Some(above)) = (field(predicate, "left"), field(predicate, "bounds")) else { continue };
            annotation(cx, left, scope, Role::Type);
            let above = annotation(cx, above, scope, Role::Type);
            if left.kind() == "type_identifier" && above != UNKNOWN {
                let name = cx.name(left);
                if cx.facts.binds(scope, name) {
                    cx.facts.bind(scope, name, Bound::variable().of(above));
                }
            }
        }
    }
    cx.facts.list(&names)
}
