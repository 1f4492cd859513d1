//! Svelte: the scripts of components, read as TypeScript.

use super::LanguageSpec;
use super::spec::grammar;
use super::typescript::IN_PAGES;

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "svelte",
    extensions: &["svelte"],
    grammar: grammar!("svelte", tree_sitter_typescript, LANGUAGE_TYPESCRIPT, TYPESCRIPT_NODE_TYPES, HIGHLIGHTS_QUERY),
    silent: include_str!("silent.txt"),
    sanitize: Some(super::scripts::of_svelte),
    ..IN_PAGES
};
