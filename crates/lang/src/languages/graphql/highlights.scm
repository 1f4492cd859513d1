(comment) @comment
[(description) (string_value)] @string
[(int_value) (float_value)] @number
[(boolean_value) (null_value) (enum_value)] @constant
(named_type) @type
(scalar_type_definition (name) @type)
(object_type_definition (name) @type)
(interface_type_definition (name) @type)
(union_type_definition (name) @type)
(enum_type_definition (name) @type)
(input_object_type_definition (name) @type)
(object_type_extension (name) @type)
(directive) @attribute
(operation_definition (name) @function)
(fragment_name) @function
(operation_type) @keyword
[
  "directive" "enum" "extend" "fragment" "implements" "input" "interface" "on" "repeatable" "scalar" "schema" "type" "union"
] @keyword
