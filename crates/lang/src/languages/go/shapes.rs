//! Shapes of Go: the facts of each kind of node.

use super::{expressions, lower, types};
use crate::facts::{Op, ScopeKind};
use crate::languages::shape::{Shape, Shapes};

/// Shapes by node kind.
pub const SHAPES: Shapes = &[
    (Shape::Scope(ScopeKind::Block), BLOCKS),
    (Shape::Assign { left: "left", right: "right" }, &["assignment_statement"]),
    (Shape::Written, &["inc_statement", "dec_statement"]),
    (Shape::Name { blank: "_" }, &["identifier"]),
    (Shape::TypeName, &["type_identifier"]),
    (Shape::Member { of: "operand", name: "field" }, &["selector_expression"]),
    (Shape::Same, &["parenthesized_expression", "pointer_type", "parenthesized_type", "negated_type"]),
    (Shape::Of(Op::Element, "operand"), &["index_expression"]),
    (Shape::Part("operand"), &["slice_expression"]),
    (Shape::Instance("type"), &["type_assertion_expression"]),
    (Shape::By(expressions::converted), &["type_conversion_expression"]),
    (Shape::Nothing, SILENT),
    (Shape::Literal, LITERALS),
    (Shape::By(lower::short_declaration), &["short_var_declaration"]),
    (Shape::By(lower::receive), &["receive_statement"]),
    (Shape::By(lower::local_values), &["var_declaration", "const_declaration"]),
    (Shape::By(lower::local_types), &["type_declaration"]),
    (Shape::By(lower::type_switch), &["type_switch_statement"]),
    (Shape::By(lower::range), &["range_clause"]),
    (Shape::By(expressions::call), &["call_expression"]),
    (Shape::By(expressions::composite), &["composite_literal"]),
    (Shape::By(expressions::function), &["func_literal"]),
    (Shape::By(expressions::unary), &["unary_expression"]),
    (Shape::By(expressions::binary), &["binary_expression"]),
    (Shape::By(expressions::untyped), &["literal_value"]),
    (Shape::By(expressions::instantiated), &["type_instantiation_expression"]),
    (Shape::By(types::qualified), &["qualified_type"]),
    (Shape::By(types::with_arguments), &["generic_type"]),
    (Shape::By(types::list), &["slice_type", "array_type", "implicit_length_array_type"]),
    (Shape::By(types::map), &["map_type"]),
    (Shape::By(types::channel), &["channel_type"]),
    (Shape::By(types::of_function), &["function_type"]),
    (Shape::By(types::object), &["struct_type", "interface_type"]),
    (Shape::By(types::any_of), &["type_elem", "type_constraint"]),
];

/// Statements with their own scope.
const BLOCKS: &[&str] = &[
    "block",
    "if_statement",
    "for_statement",
    "expression_switch_statement",
    "select_statement",
    "expression_case",
    "default_case",
    "communication_case",
];

/// Nodes without names.
const SILENT: &[&str] = &[
    "break_statement",
    "continue_statement",
    "goto_statement",
    "label_name",
    "field_identifier",
    "package_identifier",
    "nil",
    "iota",
];

/// Values of the language's own types.
const LITERALS: &[&str] = &[
    "interpreted_string_literal",
    "raw_string_literal",
    "int_literal",
    "float_literal",
    "rune_literal",
    "imaginary_literal",
    "true",
    "false",
];
