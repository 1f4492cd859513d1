//! YAML: objects of Kubernetes, jobs of CI, services of Compose, operations of OpenAPI; of all else the top keys.

mod keys;
mod nesting;

use super::spec::grammar;
use super::{Comments, LanguageSpec, Rule};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "yaml",
    aliases: &["yml"],
    extensions: &["yaml", "yml"],
    file_names: &[".clang-format", ".clang-tidy"],
    grammar: grammar!("yaml", tree_sitter_yaml, HIGHLIGHTS_QUERY),
    rules: &[(Rule::Define(keys::document), &["document"])],
    silent: include_str!("silent.txt"),
    comments: Comments::HASH,
    sanitize: Some(nesting::sanitize),
    is_document: true,
    ..LanguageSpec::PLAIN
};
