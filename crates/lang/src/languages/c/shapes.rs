//! Shapes of C: the facts of each kind of node.

use super::{expressions, lower, macros};
use crate::facts::ScopeKind;
use crate::languages::shape::{Shape, Shapes};

/// Shapes by node kind.
pub const SHAPES: Shapes = &[
    (Shape::Scope(ScopeKind::Block), &["compound_statement", "for_statement"]),
    (Shape::Name { blank: "" }, &["identifier"]),
    (Shape::TypeName, &["type_identifier"]),
    (Shape::Member { of: "argument", name: "field" }, &["field_expression"]),
    (Shape::Same, &["parenthesized_expression", "pointer_expression"]),
    (Shape::Part("argument"), &["subscript_expression"]),
    (Shape::Part("type"), &["type_descriptor"]),
    (Shape::Instance("type"), &["cast_expression"]),
    (Shape::Written, &["update_expression"]),
    (Shape::Nothing, SILENT),
    (Shape::By(lower::include), &["preproc_include"]),
    (Shape::By(macros::object), &["preproc_def"]),
    (Shape::By(macros::function), &["preproc_function_def"]),
    (Shape::By(lower::function), &["function_definition"]),
    (Shape::By(lower::declaration), &["declaration"]),
    (Shape::By(lower::type_definition), &["type_definition"]),
    (Shape::By(lower::fields), &["field_declaration"]),
    (Shape::By(lower::enumerator), &["enumerator"]),
    (Shape::By(lower::tagged), &["struct_specifier", "union_specifier", "enum_specifier"]),
    (Shape::By(expressions::assignment), &["assignment_expression"]),
    (Shape::By(expressions::binary), &["binary_expression"]),
    (Shape::By(expressions::conditional), &["conditional_expression"]),
    (Shape::By(expressions::last), &["comma_expression"]),
    (Shape::By(expressions::call), &["call_expression"]),
    (Shape::By(expressions::offset), &["offsetof_expression"]),
    (Shape::By(expressions::compound_literal), &["compound_literal_expression"]),
    (Shape::By(expressions::untyped_literal), &["initializer_list"]),
];

/// Nodes without names.
const SILENT: &[&str] = &[
    "primitive_type",
    "type_qualifier",
    "storage_class_specifier",
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
    "string_literal",
    "concatenated_string",
    "char_literal",
    "number_literal",
    "system_lib_string",
    "true",
    "false",
    "null",
];
