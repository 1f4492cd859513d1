//! Shapes of PHP: the facts of each kind of node.

use super::{classes, expressions, lower, types};
use crate::languages::shape::{Shape, Shapes};

/// Shapes by node kind.
pub const SHAPES: Shapes = &[
    (
        Shape::Same,
        &["parenthesized_expression", "optional_type", "named_type", "clone_expression", "argument", "by_ref"],
    ),
    (Shape::Nothing, SILENT),
    (Shape::By(types::name), &["name", "qualified_name"]),
    (Shape::By(types::relative), &["relative_scope"]),
    (Shape::By(types::any_of), &["union_type", "intersection_type", "disjunctive_normal_form_type", "type_list"]),
    (Shape::By(lower::uses), &["namespace_use_declaration"]),
    (Shape::By(lower::foreach), &["foreach_statement"]),
    (Shape::By(lower::catch), &["catch_clause"]),
    (Shape::By(lower::static_variable), &["static_variable_declaration"]),
    (Shape::By(classes::class), CLASSES),
    (Shape::By(classes::function), &["function_definition", "method_declaration"]),
    (Shape::By(classes::lambda), &["anonymous_function", "arrow_function"]),
    (Shape::By(classes::constants), &["const_element"]),
    (Shape::By(classes::properties), &["property_declaration"]),
    (Shape::By(classes::traits), &["use_declaration"]),
    (Shape::By(classes::case), &["enum_case"]),
    (Shape::By(classes::attribute), &["attribute"]),
    (Shape::By(expressions::variable), &["variable_name"]),
    (Shape::By(expressions::member), MEMBERS),
    (Shape::By(expressions::constant), &["class_constant_access_expression"]),
    (Shape::By(expressions::call), CALLS),
    (Shape::By(expressions::creation), &["object_creation_expression"]),
    (Shape::By(expressions::assignment), &["assignment_expression", "reference_assignment_expression"]),
    (Shape::By(expressions::either), &["conditional_expression"]),
    (Shape::By(expressions::binary), &["binary_expression"]),
    (Shape::By(expressions::element), &["subscript_expression"]),
];

const CLASSES: &[&str] =
    &["class_declaration", "interface_declaration", "trait_declaration", "enum_declaration", "anonymous_class"];

const MEMBERS: &[&str] =
    &["member_access_expression", "nullsafe_member_access_expression", "scoped_property_access_expression"];

const CALLS: &[&str] = &[
    "function_call_expression",
    "member_call_expression",
    "nullsafe_member_call_expression",
    "scoped_call_expression",
];

/// Nodes without names.
const SILENT: &[&str] = &[
    "php_tag",
    "text",
    "text_interpolation",
    "primitive_type",
    "bottom_type",
    "cast_type",
    "visibility_modifier",
    "integer",
    "float",
    "string",
    "boolean",
    "null",
    "goto_statement",
    "named_label_statement",
    "break_statement",
    "continue_statement",
];
