[(line_comment) (block_comment) (shebang)] @comment
[(string_literal) (character_literal)] @string
(string_interpolation) @none
[
  (decimal_integer_literal) (hex_integer_literal) (octal_integer_literal) (binary_integer_literal)
  (decimal_floating_point_literal) (hex_floating_point_literal)
] @number
[(true) (false) (null_literal)] @constant
[(this) (super)] @keyword
[(type_identifier) (integral_type) (floating_point_type) (boolean_type) (void_type)] @type
((type_identifier) @keyword (#eq? @keyword "def"))
(class_declaration name: (identifier) @type)
(interface_declaration name: (identifier) @type)
(enum_declaration name: (identifier) @type)
(enum_constant name: (identifier) @constant)
(method_declaration name: (identifier) @function)
(constructor_declaration name: (identifier) @function)
(function_definition name: (identifier) @function)
(method_invocation name: (identifier) @function)
(juxt_function_call name: (identifier) @function)
[(marker_annotation) (annotation)] @attribute
[
  "abstract" "as" "assert" "break" "case" "catch" "class" "continue" "def" "default" "do" "else" "enum" "extends" "final" "finally"
  "for" "if" "implements" "import" "in" "instanceof" "interface" "native" "new" "package" "private" "protected" "public" "record"
  "return" "sealed" "static" "strictfp" "switch" "synchronized" "throw" "throws" "transient" "try" "volatile" "while" "yield"
] @keyword
