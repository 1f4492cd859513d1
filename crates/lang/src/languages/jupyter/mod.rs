//! Jupyter: the code cells of a notebook, read as one file of Python.

mod cells;
mod shown;

use super::spec::grammar;
use super::{Comments, Conventions, LanguageSpec, python};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "jupyter",
    aliases: &["notebook"],
    extensions: &["ipynb"],
    grammar: grammar!("jupyter", tree_sitter_python, HIGHLIGHTS_QUERY),
    silent: include_str!("silent.txt"),
    // Docstrings are written as JSON writes them.
    comments: Comments { block: &[(r#"\"\"\""#, r#"\"\"\""#)], ..Comments::HASH },
    conventions: &CONVENTIONS,
    sanitize: Some(cells::alone),
    shown: Some(shown::code),
    ..python::IN_CELLS
};

/// Conventions of notebooks: whoever opens one runs its cells one by one.
static CONVENTIONS: Conventions = Conventions { tells_dead: false, ..python::CONVENTIONS };
