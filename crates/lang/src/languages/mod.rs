//! Languages as data: one folder each, one line each in [`LANGUAGES`].
//!
//! A [`LanguageSpec`] has the language's file names, its grammar, a [`Rule`] per kind of syntax node, its comments
//! and its conventions. Most kinds are only walked through; a few define symbols, by the table or by a function.
//! Facts about names come from a function or from a table of shapes ([`shape`]). Code outside this module never names
//! a language, which `tests/all/tidy.rs` checks.

mod budget;
mod conventions;
mod definition;
mod doc;
mod listed;
mod lower;
mod markup;
mod names;
mod namespaces;
mod opening;
mod role;
mod runner;
mod scripts;
mod sections;
pub mod shape;
mod smells;
mod spec;
mod symbol;
#[cfg(test)]
mod tests;
mod words;

pub mod astro;
pub mod bash;
pub mod c;
pub mod cmake;
pub mod cpp;
pub mod csharp;
pub mod css;
pub mod dart;
pub mod dockerfile;
pub mod elixir;
pub mod erlang;
pub mod gleam;
pub mod go;
pub mod graphql;
pub mod groovy;
pub mod haskell;
pub mod hcl;
pub mod java;
pub mod javascript;
pub mod json;
pub mod julia;
pub mod jupyter;
pub mod kotlin;
pub mod lua;
pub mod makefile;
pub mod markdown;
pub mod nix;
pub mod objc;
pub mod ocaml;
pub mod pascal;
pub mod php;
pub mod powershell;
pub mod proto;
pub mod python;
pub mod rlang;
pub mod ruby;
pub mod rust;
pub mod scala;
pub mod solidity;
pub mod starlark;
pub mod svelte;
pub mod swift;
pub mod toml;
pub mod typescript;
pub mod vue;
pub mod yaml;
pub mod zig;

use codelode_base::model::Languages;

#[cfg(test)]
pub use budget::leaps;
pub use budget::{Budget, Limits, TimeAtWork};
pub use conventions::{
    Conventions, Framework, ManifestPart, OfferedMethod, Offers, Owner, Package, Privacy, Public, stands_for_folder,
};
pub use definition::{Cx, Definition, Place};
pub use doc::{Comments, first_sentence};
pub use listed::{Listed, listed};
pub use lower::Lower;
pub use names::{language_name, without_relations, without_symbols};
pub use opening::opening;
pub use role::{
    exercises, helps_tests, is_aside, is_beside, is_built, is_document, is_for_testing, is_generated, is_vendored,
};
pub use runner::{Runner, Test};
pub use smells::{SMELLS, Syntax};
pub use spec::{Distribution, Grammar, Inside, LanguageSpec, Relating, Rule};
pub use words::{KEYED, WordContext, Words};

/// All languages with symbols. Stored files refer to them by index, so new ones are appended.
pub static LANGUAGES: &[&LanguageSpec] = &[
    &python::SPEC,
    &javascript::SPEC,
    &typescript::SPEC,
    &typescript::TSX,
    &go::SPEC,
    &rust::SPEC,
    &java::SPEC,
    &lua::SPEC,
    &kotlin::SPEC,
    &ruby::SPEC,
    &c::SPEC,
    &cpp::SPEC,
    &csharp::SPEC,
    &php::SPEC,
    &swift::SPEC,
    &scala::SPEC,
    &bash::SPEC,
    &zig::SPEC,
    &elixir::SPEC,
    &proto::SPEC,
    &dart::SPEC,
    &rlang::SPEC,
    &powershell::SPEC,
    &solidity::SPEC,
    &hcl::SPEC,
    &haskell::SPEC,
    &ocaml::SPEC,
    &ocaml::INTERFACE,
    &groovy::SPEC,
    &objc::SPEC,
    &graphql::SPEC,
    &makefile::SPEC,
    &cmake::SPEC,
    &dockerfile::SPEC,
    &nix::SPEC,
    &erlang::SPEC,
    &css::SPEC,
    &starlark::SPEC,
    &julia::SPEC,
    &gleam::SPEC,
    &pascal::SPEC,
    &toml::SPEC,
    &vue::SPEC,
    &svelte::SPEC,
    &astro::SPEC,
    &markdown::SPEC,
    &yaml::SPEC,
    &json::SPEC,
    &jupyter::SPEC,
];

/// Detects the language of a file by its name, or else by its first line. Returns its index in [`LANGUAGES`] too.
/// `None` for languages left out of the build.
pub fn of_file(path: &str, text: &[u8]) -> Option<(u8, &'static LanguageSpec)> {
    let claimed = || numbered().find(|(_, spec)| spec.claims.iter().any(|(end, look)| ends(path, end) && look(text)));
    claimed().or_else(|| of_name(path)).or_else(|| of_first_line(path, text)).filter(|(_, spec)| spec.is_built())
}

/// The language that a file is shown in, by its extension if nothing else says it: data may be written in a language whose
/// symbols are read in some files only. Without one it is shown plainly.
pub fn of_shown(path: &str, text: &[u8]) -> &'static LanguageSpec {
    let own = of_file(path, text).map(|(_, spec)| spec);
    let similar =
        || LANGUAGES.iter().find(|spec| spec.is_built() && spec.claims.iter().any(|(end, _)| ends(path, end)));
    own.or_else(|| similar().copied()).unwrap_or(&LanguageSpec::PLAIN)
}

/// Word for the language of files without symbols, in settings.
pub const NO_SYMBOLS: &str = "text";

/// Number of a file's language: the one that settings give, else the one that [`of_file`] detects. `None` for files
/// without symbols.
pub fn number_of(given: &Languages, path: &str, text: &[u8]) -> Option<u8> {
    match given.of_path(path) {
        Some(NO_SYMBOLS) => None,
        Some(name) => of_id(&named(name)).filter(|(_, spec)| spec.is_built()).map(|(number, _)| number),
        None => of_file(path, text).map(|(number, _)| number),
    }
}

/// All languages with their numbers.
fn numbered() -> impl Iterator<Item = (u8, &'static LanguageSpec)> {
    LANGUAGES.iter().enumerate().map(|(number, spec)| (number as u8, *spec))
}

/// Detects the language by file name, including languages left out of the build.
fn of_name(path: &str) -> Option<(u8, &'static LanguageSpec)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    // Each commit asks this of every file without a grammar.
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let has = |known: &&str| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(known));
    numbered().find(|(_, spec)| spec.file_names.contains(&name) || spec.extensions.iter().any(has))
}

/// The language of a path by its file name.
pub fn of_path(path: &str) -> Option<&'static LanguageSpec> {
    of_name(path).map(|(_, spec)| spec)
}

/// Whether a file has this extension, in any case.
fn ends(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, known)| known.eq_ignore_ascii_case(ending))
}

/// Detects the language of a file without an extension by the interpreter in its first line.
fn of_first_line(path: &str, text: &[u8]) -> Option<(u8, &'static LanguageSpec)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.contains('.') {
        return None;
    }
    let line = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let mut words = words.by_ref().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = match words.next() {
        Some("env") => words.find(|word| !word.starts_with('-')),
        program => program,
    };
    let program = program?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    numbered().find(|(_, spec)| spec.interpreters.contains(&program))
}

/// Finds a language by its id.
pub fn of_id(id: &str) -> Option<(u8, &'static LanguageSpec)> {
    numbered().find(|(_, spec)| spec.id == id)
}

/// Resolves an id, an alias or a file extension to a language id; any other word is returned in lower case.
pub fn named(word: &str) -> String {
    let word = word.trim().to_lowercase();
    let means = |spec: &LanguageSpec| spec.aliases.contains(&word.as_str()) || spec.extensions.contains(&word.as_str());
    let meant = of_id(&word).or_else(|| numbered().find(|(_, spec)| means(spec)));
    meant.map_or(word, |(_, spec)| spec.id.to_owned())
}

/// Ids of the languages with symbols in this build.
pub fn ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = LANGUAGES.iter().filter(|spec| spec.is_built()).map(|spec| spec.id).collect();
    ids.dedup();
    ids
}

/// The language with this index in [`LANGUAGES`], or [`LanguageSpec::PLAIN`].
pub fn of_number(number: u8) -> &'static LanguageSpec {
    LANGUAGES.get(number as usize).copied().unwrap_or(&LanguageSpec::PLAIN)
}

/// Package manifests of all languages, each file name once.
pub fn packages() -> Vec<&'static Package> {
    let mut packages: Vec<&Package> = Vec::new();
    for package in LANGUAGES.iter().flat_map(|spec| spec.conventions.packages) {
        if !packages.iter().any(|known| known.file == package.file) {
            packages.push(package);
        }
    }
    packages
}
