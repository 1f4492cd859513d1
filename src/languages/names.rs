//! Language names for files without a grammar, by file name or extension.

use std::collections::BTreeMap;

use super::LANGUAGES;

/// The name of each language, with its extensions and whole file names.
const NAMES: &[(&str, &[&str])] = &[
    ("batch", &["bat", "cmd"]),
    ("clojure", &["clj", "cljs", "cljc", "edn"]),
    ("cmake", &["cmake", "CMakeLists.txt"]),
    ("css", &["css", "scss", "sass", "less"]),
    ("dart", &["dart"]),
    ("dockerfile", &["Dockerfile", "dockerfile"]),
    ("erlang", &["erl", "hrl"]),
    ("graphql", &["graphql", "gql"]),
    ("groovy", &["groovy", "gradle"]),
    ("haskell", &["hs"]),
    ("html", &["html", "htm", "xhtml"]),
    ("ini", &["ini", "cfg", "conf", "properties"]),
    ("json", &["json", "jsonc", "json5", "jsonl"]),
    ("make", &["mk", "Makefile", "GNUmakefile", "makefile"]),
    ("markdown", &["md", "markdown", "mdx"]),
    ("ocaml", &["ml", "mli"]),
    ("perl", &["pl", "pm", "t"]),
    ("powershell", &["ps1", "psm1"]),
    ("r", &["r", "R"]),
    ("restructuredtext", &["rst"]),
    ("sql", &["sql"]),
    ("svelte", &["svelte"]),
    ("terraform", &["tf", "tfvars"]),
    ("toml", &["toml"]),
    ("vue", &["vue"]),
    ("xml", &["xml", "xsd", "xsl", "svg", "pom"]),
    ("yaml", &["yaml", "yml"]),
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

/// Languages of documents, data and settings, which have no symbols.
const NO_CODE: &[&str] = &["css", "html", "ini", "json", "markdown", "restructuredtext", "text", "toml", "xml", "yaml"];

/// The programming languages among these whose files have no symbols here, with their numbers of files.
pub fn without_symbols(languages: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let is_read = |name: &str| LANGUAGES.iter().any(|spec| spec.id == name);
    let unread = languages.iter().filter(|(name, _)| !is_read(name) && !NO_CODE.contains(&name.as_str()));
    unread.map(|(name, n_files)| (name.clone(), *n_files)).collect()
}

/// The languages among these with symbols but without relations, with their numbers of files.
pub fn without_relations(languages: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let is_related = |name: &str| LANGUAGES.iter().any(|spec| spec.id == name && spec.relating.is_some());
    let is_read = |name: &str| LANGUAGES.iter().any(|spec| spec.id == name);
    let unrelated = languages.iter().filter(|(name, _)| is_read(name) && !is_related(name));
    unrelated.map(|(name, n_files)| (name.clone(), *n_files)).collect()
}
