//! Declarators of C: a declared name inside of what makes its type, `*name[3]`, `(*name)(int)`.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::lower::{field, function_type, type_of};
use crate::facts::{Bound, EMPTY, ExpressionId, NameId, Op, ROOT, ScopeId, UNKNOWN};

/// A declared name.
pub(in crate::languages) struct Declarator<'t> {
    /// The name.
    pub name: Node<'t>,
    /// Its type; for a function, its function type.
    pub of: ExpressionId,
    /// Whether it is a function, not a pointer to one.
    pub is_function: bool,
    /// The result type of the function.
    pub returns: ExpressionId,
    /// The parameter types of the function.
    pub takes: Vec<ExpressionId>,
    /// Number of array dimensions.
    pub arrays: usize,
    /// Its initial value.
    pub value: Option<Node<'t>>,
}

/// Reads a declarator of something of the type `of`. Names of parameters are bound in `into`.
pub(in crate::languages) fn declarator<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    of: ExpressionId,
    scope: ScopeId,
    into: Option<ScopeId>,
) -> Option<Declarator<'t>> {
    let mut found =
        Declarator { name: node, of, is_function: false, returns: of, takes: Vec::new(), arrays: 0, value: None };
    loop {
        let at = found.name;
        match at.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "primitive_type" => return Some(found),
            "operator_name" | "destructor_name" => return Some(found),
            "qualified_identifier" | "template_function" => {
                found.name = field(at, "name")?;
                continue;
            }
            "init_declarator" => found.value = field(at, "value"),
            "pointer_declarator" => {
                found.is_function = false;
                found.of = pointer(cx, found.of);
            }
            "array_declarator" => {
                found.is_function = false;
                found.of = pointer(cx, found.of);
                found.arrays += 1;
                if let Some(size) = field(at, "size") {
                    cx.value(size, scope);
                }
            }
            "function_declarator" => {
                found.is_function = true;
                found.returns = found.of;
                found.takes = field(at, "parameters").map(|list| parameters(cx, list, scope, into)).unwrap_or_default();
                found.of = function_type(cx, found.returns, &found.takes);
            }
            _ => {}
        }
        let is_inner = |child: &Node<'t>| {
            let kind = child.kind();
            kind.ends_with("declarator") || kind.ends_with("identifier") || kind == "operator_name"
        };
        found.name = field(at, "declarator").or_else(|| cx.children(at).into_iter().find(is_inner))?;
    }
}

/// A pointer to a type. One to a type of the language is another type, for overloads; others are what they point to.
fn pointer(cx: &mut Lower<'_, '_>, of: ExpressionId) -> ExpressionId {
    let it = cx.facts.look(of);
    let name = if it.op == Op::Name { cx.facts.text(NameId(it.b)) } else { "" };
    match name.strip_prefix(PRIMITIVE).and_then(|name| name.strip_suffix('_')) {
        None | Some(STRING) => of,
        Some("char") => primitive(cx, STRING),
        Some(_) => cx.facts.expression(Op::Generic, UNKNOWN, EMPTY),
    }
}

/// The word before the name of a type of the language, which no name of a program has.
const PRIMITIVE: &str = "built-in ";

/// The type of strings, for overloads.
pub(in crate::languages) const STRING: &str = "cstring";

/// A type of the language, for overloads: the same is preferred, but all are converted to each other. So their names are none
/// of those between which the rules of Java decide.
pub(in crate::languages) fn primitive(cx: &mut Lower<'_, '_>, name: &str) -> ExpressionId {
    let name = cx.facts.name(&format!("{PRIMITIVE}{name}_"));
    cx.facts.named(ROOT, name)
}

/// The types of parameters, whose names are bound in `into`.
pub(in crate::languages) fn parameters<'t>(
    cx: &mut Lower<'_, 't>,
    list: Node<'t>,
    scope: ScopeId,
    into: Option<ScopeId>,
) -> Vec<ExpressionId> {
    let mut types = Vec::new();
    for parameter in cx.children(list) {
        let mut of = type_of(cx, parameter, scope);
        if let Some(value) = field(parameter, "default_value") {
            cx.value(value, scope);
        }
        let named = match parameter.kind() {
            // An old function lists names, and declares them behind the list.
            "identifier" => continue,
            _ => field(parameter, "declarator"),
        };
        if named.is_some_and(|named| named.kind() == "abstract_pointer_declarator") {
            of = pointer(cx, of);
        }
        if let Some(declared) = named.and_then(|named| cx.deeper(|cx| declarator(cx, named, of, scope, None))) {
            of = declared.of;
            if let Some(into) = into {
                let name = cx.name(declared.name);
                cx.facts.bind(into, name, Bound::parameter().of(of));
            }
        }
        types.push(of);
    }
    types
}
