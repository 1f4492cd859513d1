[(line_comment) (block_comment)] @comment
[(string_literal) (prefixed_string_literal) (command_literal) (character_literal)] @string
(string_interpolation) @none
[(integer_literal) (float_literal)] @number
(boolean_literal) @constant
(macro_identifier) @function
(typed_expression (identifier) @type .)
(type_head (identifier) @type)
(curly_expression (identifier) @type)
(call_expression . (identifier) @function)
(call_expression . (field_expression (identifier) @function .))
[(break_statement) (continue_statement)] @keyword
[
  "abstract" "as" "baremodule" "begin" "catch" "const" "do" "else" "elseif" "end" "export" "finally" "for" "function" "global" "if"
  "import" "let" "local" "macro" "module" "mutable" "primitive" "quote" "return" "struct" "try" "type" "using" "where" "while"
] @keyword
