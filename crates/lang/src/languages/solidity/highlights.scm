(comment) @comment
[(string) (string_literal) (hex_string_literal) (unicode_string_literal) (yul_string_literal)] @string
[(number_literal) (number_unit) (solidity_version) (yul_decimal_number) (yul_hex_number)] @number
[(true) (false) (yul_boolean)] @constant
[(primitive_type) (user_defined_type)] @type
(contract_declaration name: (identifier) @type)
(interface_declaration name: (identifier) @type)
(library_declaration name: (identifier) @type)
(struct_declaration name: (identifier) @type)
(enum_declaration name: (identifier) @type)
(event_definition name: (identifier) @type)
(error_declaration name: (identifier) @type)
(user_defined_type_definition name: (identifier) @type)
(enum_value) @constant
(constant_variable_declaration name: (identifier) @constant)
(function_definition name: (identifier) @function)
(modifier_definition name: (identifier) @function)
(modifier_invocation (identifier) @function)
(call_expression function: (expression (identifier) @function))
(call_expression function: (expression (member_expression property: (identifier) @function)))
(yul_function_call . (yul_identifier) @function)
(yul_evm_builtin) @function
[(visibility) (state_mutability) (state_location) (override_specifier) (virtual) (immutable) (unchecked)] @keyword
[
  "abstract" "anonymous" "as" "assembly" "break" "case" "catch" "constant" "constructor" "continue" "contract" "default" "delete" "do"
  "else" "emit" "enum" "error" "event" "fallback" "for" "from" "function" "global" "if" "import" "indexed" "interface" "is" "let"
  "library" "mapping" "modifier" "new" "pragma" "receive" "return" "returns" "revert" "struct" "switch" "try" "type" "using" "while"
] @keyword
