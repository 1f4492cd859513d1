(comment) @comment
(string) @string
[(int_lit) (float_lit)] @number
(bool) @constant
(enum_field . (identifier) @constant)
[(type) (key_type) (message_or_enum_type) (message_name) (enum_name) (service_name)] @type
(rpc_name) @function
[
  "enum" "extend" "extensions" "group" "import" "map" "max" "message" "oneof" "option" "optional" "package" "public" "repeated"
  "required" "reserved" "returns" "rpc" "service" "stream" "syntax" "to" "weak"
] @keyword
