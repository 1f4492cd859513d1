//! TOML: the tables of settings and manifests.

use super::spec::{grammar, symbol};
use super::{Comments, LanguageSpec};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "toml",
    extensions: &["toml"],
    grammar: grammar!("toml", tree_sitter_toml_ng, HIGHLIGHTS_QUERY),
    rules: &[(
        symbol(Kind::Type, Detail::Section, "bare_key|dotted_key|quoted_key", "pair^"),
        &["table", "table_array_element"],
    )],
    silent: include_str!("silent.txt"),
    comments: Comments::HASH,
    ..LanguageSpec::PLAIN
};
