[(comment) (haddock)] @comment
[(string) (char) (quasiquote)] @string
[(integer) (float)] @number
(name) @type
(type_params bind: (variable) @type)
(constructor) @constructor
(signature name: (variable) @function)
(function name: (variable) @function)
(apply function: (variable) @function)
(pragma) @attribute
[
  "as" "case" "class" "data" "default" "deriving" "do" "else" "family" "forall" "foreign" "hiding" "if" "import" "in" "infix" "infixl"
  "infixr" "instance" "let" "mdo" "module" "newtype" "of" "pattern" "qualified" "rec" "role" "stock" "then" "type" "via" "where"
] @keyword
