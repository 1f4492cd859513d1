[(line_comment) (block_comment) (shebang)] @comment
[(string_literal) (multiline_string_literal) (character_literal)] @string
(interpolation) @none
[(number_literal) (float_literal)] @number
((identifier) @constant (#any-of? @constant "true" "false" "null"))
(user_type (identifier) @type)
(class_declaration name: (identifier) @type)
(object_declaration name: (identifier) @type)
(type_alias type: (identifier) @type)
(type_parameter (identifier) @type)
(enum_entry (identifier) @constant)
(function_declaration name: (identifier) @function)
(call_expression . (identifier) @function)
(call_expression . (navigation_expression (identifier) @function .))
(annotation) @attribute
(file_annotation) @attribute
[
  (visibility_modifier) (class_modifier) (member_modifier) (property_modifier) (inheritance_modifier) (function_modifier)
  (parameter_modifier) (variance_modifier) (reification_modifier) (platform_modifier)
] @keyword
[
  "as" "by" "catch" "class" "companion" "constructor" "do" "else" "enum" "finally" "for" "fun" "get" "if" "import" "in" "init"
  "interface" "is" "object" "package" "return" "set" "super" "this" "throw" "try" "typealias" "val" "var" "when" "where" "while"
] @keyword
