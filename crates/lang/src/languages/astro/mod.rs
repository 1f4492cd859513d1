//! Astro: the script at the top of a page and those in it, read as TypeScript.

use super::LanguageSpec;
use super::spec::grammar;
use super::typescript::IN_PAGES;

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "astro",
    extensions: &["astro"],
    grammar: grammar!("astro", tree_sitter_typescript, LANGUAGE_TYPESCRIPT, TYPESCRIPT_NODE_TYPES, HIGHLIGHTS_QUERY),
    silent: include_str!("silent.txt"),
    sanitize: Some(super::scripts::of_astro),
    ..IN_PAGES
};
