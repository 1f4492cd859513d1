//! Go's modules: those that the nearest `go.mod` requires, in the module cache or in `vendor`.

use std::path::Path;

use super::{Installed, manifest};
use codelode_base::config::Toolchains;
use codelode_base::model::Ecosystem;

/// Most modules that may hold one package.
const MOST: usize = 50;

/// The module that holds an imported package: of those required, the one with the longest path.
pub(super) fn find<'a>(
    toolchains: &Toolchains,
    mut around: impl Iterator<Item = &'a Path>,
    package: &str,
) -> Vec<Installed> {
    let Some((folder, text)) = around.find_map(|folder| Some((folder, manifest(&folder.join("go.mod"))?))) else {
        return Vec::new();
    };
    let holds =
        |module: &str| package.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut required: Vec<(&str, &str)> = required(&text).into_iter().filter(|(module, _)| holds(module)).collect();
    required.dedup();
    required.truncate(MOST);
    required.sort_by_key(|(module, _)| std::cmp::Reverse(module.len()));
    let installed = |(module, version): (&str, &str)| {
        let (path, own_version) = replaced(&text, module).unwrap_or((module, version));
        let cached = toolchains
            .go_modules
            .as_ref()
            .map(|cache| cache.join(format!("{}@{}", escaped(path), escaped(own_version))));
        // A project may hold a link in place of a module, which leads anywhere.
        let vendor = || Some(folder.canonicalize().ok()?.join("vendor"));
        let vendored = || {
            let vendor = vendor()?;
            let found = Installed::new(Ecosystem::Golang, module, version, &vendor.join(module), Vec::new())?;
            found.place.starts_with(&vendor).then_some(found)
        };
        cached
            .and_then(|cached| Installed::new(Ecosystem::Golang, path, own_version, &cached, Vec::new()))
            .or_else(vendored)
    };
    required.into_iter().find_map(installed).into_iter().collect()
}

/// Modules with their versions in `require` lines and blocks.
fn required(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut block = "";
    for line in text.lines().map(|line| line.split("//").next().unwrap_or(line).trim()) {
        let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
        match words[..] {
            [word, "("] => block = word,
            [")"] => block = "",
            ["require", module, version] => found.push((module, version)),
            [module, version] if block == "require" => found.push((module, version)),
            _ => {}
        }
    }
    found
}

/// The module and version that a `replace` puts in a module's place.
fn replaced<'t>(text: &'t str, module: &str) -> Option<(&'t str, &'t str)> {
    text.lines().find_map(|line| {
        let line = line.split("//").next().unwrap_or(line).trim();
        let (from, to) = line.trim_start_matches("replace ").split_once("=>")?;
        let mut to = to.split_whitespace();
        (from.split_whitespace().next() == Some(module)).then(|| Some((to.next()?, to.next()?)))?
    })
}

/// A path as the cache spells it: a capital letter is a small one after `!`.
fn escaped(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for letter in path.chars() {
        if letter.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(letter.to_ascii_lowercase());
    }
    escaped
}
