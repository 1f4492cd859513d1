(comment) @comment
[(string_lit) (heredoc_template) (quoted_template)] @string
(template_interpolation) @none
(numeric_lit) @number
[(bool_lit) (null_lit)] @constant
(block . (identifier) @keyword)
(attribute (identifier) @property)
(function_call . (identifier) @function)
["for" "in" "if" "else" "endif" "endfor"] @keyword
