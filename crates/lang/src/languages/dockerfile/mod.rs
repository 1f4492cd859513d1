//! Dockerfiles: stages, build arguments and variables.

use super::spec::{grammar, symbol};
use super::{Comments, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "dockerfile",
    aliases: &["docker", "containerfile"],
    extensions: &["dockerfile", "containerfile"],
    file_names: &["Dockerfile", "dockerfile", "Containerfile"],
    grammar: grammar!("dockerfile", tree_sitter_containerfile, HIGHLIGHTS_QUERY),
    rules: &[
        (Rule::BySign { signs: &[("", Kind::Type, Detail::Module)], name: "as", body: "" }, &["from_instruction"]),
        (symbol(Kind::Constant, Detail::Variable, "name", ""), &["arg_instruction", "env_pair"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { silent: &["# syntax", "# escape", "# check"], ..Comments::HASH },
    ..LanguageSpec::PLAIN
};
