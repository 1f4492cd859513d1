//! Declarators of Objective-C: a declared name inside of what makes its type, `*name`, `(^name)(int)`.

/// Declarators whose inner one is not a field: those of C, and of blocks.
pub(super) const DECLARATORS: &[(&str, &str, &str)] = &[
    ("block_pointer_declarator", "", "declarator"),
    ("function_declarator", "", "declarator"),
    ("pointer_declarator", "", "declarator"),
    ("array_declarator", "", "declarator"),
    ("init_declarator", "", "declarator"),
    ("parenthesized_declarator", "", INNER),
    ("attributed_declarator", "", INNER),
];
const INNER: &str = "block_pointer_declarator|pointer_declarator|function_declarator|array_declarator|\
                     parenthesized_declarator|identifier|field_identifier|type_identifier";
