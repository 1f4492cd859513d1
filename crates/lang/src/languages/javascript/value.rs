//! Values that get a name, and targets of assignments.

use tree_sitter::Node;

use super::name_of;
use crate::languages::Cx;
use crate::languages::definition::span_of;
use codelode_base::model::Span;

/// Functions that return their function argument in another form: the target of the call names that function. It is a
/// list and not a rule, because `const timer = setTimeout(function () {})` names no function.
const WRAPPERS: &[&str] = &[
    "asyncHandler",
    "curry",
    "debounce",
    "deprecate",
    "dual",
    "fn",
    "forwardRef",
    "freeze",
    "memo",
    "memoize",
    "memoizeOne",
    "observer",
    "once",
    "promisify",
    "throttle",
    "useCallback",
    "wrap",
];

/// The most wrappers, or links of a chain of assignments, that are followed.
pub(super) const DEPTH: usize = 8;

/// The value of a name.
pub(super) enum Value<'t> {
    /// A function, possibly wrapped.
    Function(Node<'t>),
    /// A class.
    Class(Node<'t>),
    /// Another module, or a member of it.
    Import,
    /// A value with a name elsewhere.
    Reference,
    /// Any other value.
    Data,
}

/// The value of a variable, property or field.
pub(super) fn value_of<'t>(cx: &Cx<'_, '_>, value: Node<'t>) -> Value<'t> {
    let mut value = value;
    for _ in 0..DEPTH {
        let inner = match value.kind() {
            "function_expression" | "generator_function" | "arrow_function" => return Value::Function(value),
            "class" => return Value::Class(value),
            "identifier" => return Value::Reference,
            "member_expression" => match is_import(cx, value) {
                true => return Value::Import,
                false => return Value::Reference,
            },
            "call_expression" if is_import(cx, value) => return Value::Import,
            "call_expression" => wrapped(|node| cx.text(node), value),
            "await_expression" => match value.named_child(0) {
                Some(inner) if is_import(cx, inner) => return Value::Import,
                _ => None,
            },
            "assignment_expression" => value.child_by_field_name("right"),
            "parenthesized_expression" | "as_expression" | "satisfies_expression" | "non_null_expression" => {
                value.named_child(0)
            }
            "type_assertion" => value.named_child(1),
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => break,
        }
    }
    Value::Data
}

/// The function or class that a call is known to wrap: `memo(function Button() {})`.
pub(super) fn wrapped<'t, 's>(text: impl Fn(Node<'t>) -> &'s str, call: Node<'t>) -> Option<Node<'t>> {
    let function = call.child_by_field_name("function")?;
    let callee = match function.kind() {
        "member_expression" => function.child_by_field_name("property")?,
        "identifier" => function,
        _ => return None,
    };
    let callee = text(callee);
    // `withRouter(…)`: a higher-order component by its name.
    let is_hoc = callee.strip_prefix("with").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    if !is_hoc && !WRAPPERS.contains(&callee) {
        return None;
    }
    let arguments = call.child_by_field_name("arguments").filter(|arguments| arguments.kind() == "arguments")?;
    (0..4).map_while(|index| arguments.named_child(index)).find(|argument| {
        matches!(
            argument.kind(),
            "function_expression" | "generator_function" | "arrow_function" | "class" | "call_expression"
        )
    })
}

/// `require("x")`, `require("x").y`, `import("x")`.
fn is_import(cx: &Cx<'_, '_>, value: Node<'_>) -> bool {
    let mut value = value;
    for _ in 0..DEPTH {
        let inner = match value.kind() {
            "member_expression" => value.child_by_field_name("object"),
            "parenthesized_expression" | "await_expression" => value.named_child(0),
            "call_expression" => {
                let function = value.child_by_field_name("function");
                return function.is_some_and(|function| match function.kind() {
                    "import" => true,
                    "identifier" => cx.text(function) == "require",
                    _ => false,
                });
            }
            _ => return false,
        };
        match inner {
            Some(inner) => value = inner,
            None => return false,
        }
    }
    false
}

/// The left side of an assignment.
#[derive(Clone, Copy)]
pub(super) struct Target<'t> {
    /// The node with the target's name.
    pub(super) node: Node<'t>,
    /// Its name.
    pub(super) name: Span,
    /// The owner of the property; empty for a variable, an export, and a property of `this`.
    pub(super) container: Span,
    /// The kind of target.
    pub(super) sort: Sort,
    /// It is a property of `this`.
    pub(super) of_this: bool,
}

/// Kinds of assignment targets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// `name = …`.
    Variable,
    /// `exports.name = …`.
    Export,
    /// A property of the global object.
    Global,
    /// `module.exports = …`.
    Module,
    /// `Owner.name = …`, `this.name = …`.
    Property,
    /// `Owner.prototype.name = …`.
    Prototype,
    /// `Owner.prototype = …`; the container is the owner.
    PrototypeItself,
}

/// Reads the left side of an assignment; `None` if it has no name.
pub(super) fn target<'t>(cx: &Cx<'_, '_>, left: Node<'t>) -> Option<Target<'t>> {
    let property = match left.kind() {
        "identifier" => {
            let sort = if cx.text(left) == "exports" { Sort::Module } else { Sort::Variable };
            return Some(Target { node: left, name: span_of(left), container: Span::default(), sort, of_this: false });
        }
        "member_expression" => left.child_by_field_name("property")?,
        "subscript_expression" => left.child_by_field_name("index").filter(|index| index.kind() == "string")?,
        _ => return None,
    };
    let object = bare(left.child_by_field_name("object")?);
    let (container, sort) = match object.kind() {
        "identifier" => match cx.text(object) {
            "module" if cx.text(property) == "exports" => (Span::default(), Sort::Module),
            "exports" => (Span::default(), Sort::Export),
            "window" | "global" | "globalThis" => (Span::default(), Sort::Global),
            _ => (span_of(object), Sort::Property),
        },
        "member_expression" => match object.child_by_field_name("property") {
            Some(inner) if cx.text(inner) == "prototype" => (last_name(object), Sort::Prototype),
            Some(inner) if cx.text(inner) == "exports" && cx.text(object) == "module.exports" => {
                (Span::default(), Sort::Export)
            }
            inner => (inner.map(span_of).unwrap_or_default(), Sort::Property),
        },
        _ => (Span::default(), Sort::Property),
    };
    let sort = match sort {
        Sort::Property if cx.text(property) == "prototype" => Sort::PrototypeItself,
        sort => sort,
    };
    let of_this = object.kind() == "this";
    Some(Target { node: property, name: name_of(property), container, sort, of_this })
}

/// The last name of the owner of `prototype`: `b` of `a.b.prototype`.
fn last_name(prototype: Node<'_>) -> Span {
    let owner = prototype.child_by_field_name("object").map(bare);
    let name = owner.and_then(|owner| match owner.kind() {
        "identifier" => Some(owner),
        "member_expression" => owner.child_by_field_name("property"),
        _ => None,
    });
    name.map(span_of).unwrap_or_default()
}

/// The owner in `Owner.prototype`.
pub(super) fn prototype_owner(cx: &Cx<'_, '_>, node: Node<'_>) -> Option<Span> {
    let property = node.child_by_field_name("property").filter(|_| node.kind() == "member_expression")?;
    (cx.text(property) == "prototype").then(|| last_name(node)).filter(|owner| !owner.is_empty())
}

/// An expression without parentheses and type assertions.
pub(super) fn bare(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    for _ in 0..DEPTH {
        let inner = match node.kind() {
            "type_assertion" => node.named_child(1),
            _ if is_type_wrapper(node) => node.named_child(0),
            _ => return node,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
    node
}

/// Whether a node only wraps its value: parentheses, type assertions.
pub(super) fn is_type_wrapper(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "parenthesized_expression"
            | "as_expression"
            | "satisfies_expression"
            | "non_null_expression"
            | "type_assertion"
    )
}
