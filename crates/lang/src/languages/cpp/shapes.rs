//! Shapes of C++: those of C where nothing is said here.

use super::super::c::{expressions as c, lower as declarations, macros};
use super::{classes, expressions, lower, names};
use crate::facts::ScopeKind;
use crate::languages::shape::{Shape, Shapes};

/// Shapes by node kind.
pub const SHAPES: Shapes = &[
    (Shape::Scope(ScopeKind::Block), BLOCKS),
    (Shape::Name { blank: "" }, &["identifier", "namespace_identifier"]),
    (Shape::TypeName, &["type_identifier"]),
    (Shape::Same, &["parenthesized_expression"]),
    (Shape::Part("type"), &["type_descriptor"]),
    (Shape::Instance("type"), &["cast_expression", "new_expression"]),
    (Shape::Written, &["update_expression"]),
    (Shape::Nothing, SILENT),
    (Shape::By(declarations::include), &["preproc_include"]),
    (Shape::By(macros::object), &["preproc_def"]),
    (Shape::By(macros::function), &["preproc_function_def"]),
    (Shape::By(declarations::type_definition), &["type_definition"]),
    (Shape::By(c::assignment), &["assignment_expression"]),
    (Shape::By(c::conditional), &["conditional_expression"]),
    (Shape::By(c::last), &["comma_expression"]),
    (Shape::By(c::offset), &["offsetof_expression"]),
    (Shape::By(c::compound_literal), &["compound_literal_expression"]),
    (Shape::By(c::untyped_literal), &["initializer_list"]),
    (Shape::By(lower::namespace), &["namespace_definition"]),
    (Shape::By(lower::template), &["template_declaration"]),
    (Shape::By(lower::declaration), &["declaration"]),
    (Shape::By(lower::using), &["using_declaration"]),
    (Shape::By(lower::alias), &["alias_declaration", "namespace_alias_definition"]),
    (Shape::By(lower::each), &["for_range_loop"]),
    (Shape::By(lower::catch), &["catch_clause"]),
    (Shape::By(classes::function), &["function_definition"]),
    (Shape::By(classes::fields), &["field_declaration"]),
    (Shape::By(classes::friend), &["friend_declaration"]),
    (Shape::By(classes::initializer), &["field_initializer"]),
    (Shape::By(classes::enumerator), &["enumerator"]),
    (Shape::By(classes::tagged), &["class_specifier", "struct_specifier", "union_specifier", "enum_specifier"]),
    (Shape::By(names::qualified), &["qualified_identifier"]),
    (Shape::By(names::template), &["template_type", "template_function"]),
    (Shape::By(names::primitive), &["primitive_type", "sized_type_specifier"]),
    (Shape::By(names::literal), LITERALS),
    (Shape::By(expressions::this), &["this"]),
    (Shape::By(expressions::member), &["field_expression"]),
    (Shape::By(expressions::held), &["subscript_expression", "pointer_expression"]),
    (Shape::By(expressions::call), &["call_expression"]),
    (Shape::By(expressions::lambda), &["lambda_expression"]),
    (Shape::By(expressions::binary), &["binary_expression"]),
];

/// Nodes with their own scope.
const BLOCKS: &[&str] = &["compound_statement", "for_statement", "if_statement", "while_statement", "switch_statement"];

const LITERALS: &[&str] =
    &["string_literal", "raw_string_literal", "concatenated_string", "char_literal", "number_literal", "true", "false"];

/// Nodes without names.
const SILENT: &[&str] = &[
    "placeholder_type_specifier",
    "type_qualifier",
    "storage_class_specifier",
    "access_specifier",
    "virtual_specifier",
    "explicit_function_specifier",
    "attribute_specifier",
    "attribute_declaration",
    "ms_declspec_modifier",
    "statement_identifier",
    "field_identifier",
    "break_statement",
    "continue_statement",
    "goto_statement",
    "preproc_call",
    "preproc_directive",
    "preproc_arg",
    "system_lib_string",
    "null",
];
