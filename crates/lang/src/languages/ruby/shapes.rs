//! Shapes of Ruby: the facts of each kind of node.

use super::{classes, expressions};
use crate::languages::shape::{Shape, Shapes};

/// Shapes by node kind.
pub const SHAPES: Shapes = &[
    (Shape::By(classes::class), &["class", "module"]),
    (Shape::By(classes::singleton_class), &["singleton_class"]),
    (Shape::By(classes::method), &["method", "singleton_method"]),
    (Shape::By(classes::alias), &["alias"]),
    (Shape::By(expressions::identifier), &["identifier", "super"]),
    (Shape::By(expressions::constant), &["constant"]),
    (Shape::By(expressions::scoped), &["scope_resolution"]),
    (Shape::By(expressions::own), &["self"]),
    (Shape::By(expressions::variable), &["instance_variable", "class_variable"]),
    (Shape::By(expressions::call), &["call"]),
    (Shape::By(expressions::assignment), &["assignment", "operator_assignment"]),
    (Shape::By(expressions::block), &["block", "do_block", "lambda"]),
    (Shape::By(expressions::each), &["for"]),
    (Shape::By(expressions::rescue), &["rescue"]),
    (
        Shape::By(expressions::last),
        &["body_statement", "block_body", "then", "else", "begin", "parenthesized_statements"],
    ),
    (Shape::By(expressions::either), &["if", "unless", "conditional", "case", "when", "binary"]),
    (
        Shape::Nothing,
        &["simple_symbol", "hash_key_symbol", "string_content", "escape_sequence", "heredoc_content", "undef"],
    ),
];
