; Blocks alone: what is inside a line is of another grammar.
(atx_heading (inline) @type)
(setext_heading (paragraph) @type)
[
  (atx_h1_marker)
  (atx_h2_marker)
  (atx_h3_marker)
  (atx_h4_marker)
  (atx_h5_marker)
  (atx_h6_marker)
  (setext_h1_underline)
  (setext_h2_underline)
  (list_marker_plus)
  (list_marker_minus)
  (list_marker_star)
  (list_marker_dot)
  (list_marker_parenthesis)
  (thematic_break)
  (block_quote_marker)
] @keyword
[(indented_code_block) (fenced_code_block)] @string
(info_string) @function
(link_label) @constant
(html_block) @comment
