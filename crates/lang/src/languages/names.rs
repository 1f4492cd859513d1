//! Language names for files without a grammar, by file name or extension.

use std::collections::BTreeMap;

use super::LANGUAGES;

/// The name of each language, with its extensions and whole file names.
const NAMES: &[(&str, &[&str])] = &[
    ("batch", &["bat", "cmd"]),
    ("clojure", &["clj", "cljs", "cljc", "edn"]),
    ("html", &["html", "htm", "xhtml"]),
    ("ini", &["ini", "cfg", "conf", "properties"]),
    ("json", &["json", "jsonc", "json5", "jsonl"]),
    ("perl", &["pl", "pm", "t"]),
    ("restructuredtext", &["rst"]),
    ("scss", &["scss", "sass", "less"]),
    ("sql", &["sql"]),
    ("xml", &["xml", "xsd", "xsl", "svg", "pom"]),
];

/// Language of a file by its name, with or without symbols; `text` if unknown.
pub fn language_name(path: &str) -> &'static str {
    if let Some((_, spec)) = super::of_name(path) {
        return spec.id;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
    let known = NAMES.iter().find(|(_, names)| names.contains(&name) || names.contains(&ending));
    known.map_or("text", |(language, _)| language)
}

/// Languages of documents, data and settings, which use no names of programs.
const NO_CODE: &[&str] = &[
    "cmake",
    "css",
    "dockerfile",
    "hcl",
    "html",
    "ini",
    "json",
    "makefile",
    "markdown",
    "restructuredtext",
    "scss",
    "text",
    "toml",
    "xml",
    "yaml",
];

/// The programming languages among these whose files have no symbols here, with their numbers of files.
pub fn without_symbols(languages: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let is_read = |name: &str| LANGUAGES.iter().any(|spec| spec.id == name);
    let unread = languages.iter().filter(|(name, _)| !is_read(name) && !NO_CODE.contains(&name.as_str()));
    unread.map(|(name, n_files)| (name.clone(), *n_files)).collect()
}

/// The programming languages among these with symbols but without relations, with their numbers of files.
pub fn without_relations(languages: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let is_related = |name: &str| LANGUAGES.iter().any(|spec| spec.id == name && spec.relating.is_some());
    let is_read = |name: &str| LANGUAGES.iter().any(|spec| spec.id == name);
    let is_code = |name: &str| is_read(name) && !NO_CODE.contains(&name);
    let unrelated = languages.iter().filter(|(name, _)| is_code(name) && !is_related(name));
    unrelated.map(|(name, n_files)| (name.clone(), *n_files)).collect()
}
