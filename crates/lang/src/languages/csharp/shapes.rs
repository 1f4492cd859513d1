//! Shapes of C#: the facts of each kind of node.

use super::{classes, expressions, lower, types};
use crate::facts::{Op, ScopeKind};
use crate::languages::shape::{Shape, Shapes};

/// Shapes by node kind.
pub const SHAPES: Shapes = &[
    (Shape::Scope(ScopeKind::Block), BLOCKS),
    (Shape::By(types::name), &["identifier"]),
    (Shape::Same, &["parenthesized_expression", "nullable_type", "ref_type", "pointer_type", "scoped_type"]),
    (Shape::Of(Op::Element, "expression"), &["element_access_expression"]),
    (Shape::Instance("type"), &["cast_expression", "default_expression"]),
    (Shape::Instance("right"), &["as_expression"]),
    (Shape::Nothing, SILENT),
    (Shape::By(lower::either_text), &["preproc_if", "preproc_elif", "preproc_else"]),
    (Shape::By(lower::variables), &["variable_declaration"]),
    (Shape::By(lower::local), &["declaration_expression", "declaration_pattern", "catch_declaration"]),
    (Shape::By(lower::any_value), &["var_pattern"]),
    (Shape::By(lower::recursive_pattern), &["recursive_pattern"]),
    (Shape::By(lower::each), &["foreach_statement"]),
    (Shape::By(lower::from), &["from_clause"]),
    (Shape::By(lower::named_first), &["let_clause", "join_clause", "join_into_clause"]),
    (Shape::By(lower::labeled), &["labeled_statement", "argument"]),
    (Shape::By(classes::class), CLASSES),
    (Shape::By(classes::delegate), &["delegate_declaration"]),
    (Shape::By(classes::function), FUNCTIONS),
    (Shape::By(classes::property), &["property_declaration", "event_declaration"]),
    (Shape::By(classes::accessor), &["accessor_declaration"]),
    (Shape::By(classes::member), &["enum_member_declaration"]),
    (Shape::By(classes::attribute), &["attribute"]),
    (Shape::By(classes::base), &["primary_constructor_base_type"]),
    (Shape::By(types::all), &["typeof_expression", "sizeof_expression", "type_pattern"]),
    (Shape::By(expressions::is_type), &["is_expression"]),
    (Shape::By(types::predefined), &["predefined_type"]),
    (Shape::By(types::generic), &["generic_name"]),
    (Shape::By(types::array), &["array_type"]),
    (Shape::By(types::tuple), &["tuple_type"]),
    (Shape::By(types::member), MEMBERS),
    (Shape::By(expressions::invocation), &["invocation_expression"]),
    (Shape::By(expressions::creation), &["object_creation_expression"]),
    (Shape::By(expressions::of_array), &["array_creation_expression"]),
    (Shape::By(expressions::anonymous), &["anonymous_object_creation_expression"]),
    (Shape::By(expressions::with), &["with_expression"]),
    (Shape::By(expressions::lambda), &["lambda_expression", "anonymous_method_expression"]),
    (Shape::By(expressions::assignment), &["assignment_expression"]),
    (Shape::By(expressions::conditional), &["conditional_expression"]),
    (Shape::By(expressions::binary), &["binary_expression"]),
    (Shape::By(expressions::awaited), &["await_expression"]),
    (Shape::By(expressions::own), &["this", "base"]),
    (Shape::By(expressions::literal), LITERALS),
];

pub(super) const CLASSES: &[&str] =
    &["class_declaration", "struct_declaration", "record_declaration", "interface_declaration", "enum_declaration"];

const FUNCTIONS: &[&str] = &[
    "method_declaration",
    "local_function_statement",
    "constructor_declaration",
    "destructor_declaration",
    "operator_declaration",
    "conversion_operator_declaration",
    "indexer_declaration",
];

/// A name after a dot.
pub(super) const MEMBERS: &[&str] =
    &["member_access_expression", "qualified_name", "alias_qualified_name", "conditional_access_expression"];

/// Nodes with their own scope.
const BLOCKS: &[&str] = &[
    "block",
    "for_statement",
    "using_statement",
    "fixed_statement",
    "catch_clause",
    "switch_section",
    "switch_expression_arm",
    "query_expression",
];

const LITERALS: &[&str] = &[
    "string_literal",
    "raw_string_literal",
    "verbatim_string_literal",
    "interpolated_string_expression",
    "integer_literal",
    "real_literal",
    "boolean_literal",
    "character_literal",
];

/// Nodes without names.
const SILENT: &[&str] = &[
    "modifier",
    "implicit_type",
    "implicit_parameter",
    "discard",
    "null_literal",
    "break_statement",
    "continue_statement",
    "explicit_interface_specifier",
    "attribute_target_specifier",
    "extern_alias_directive",
    "using_directive",
];
