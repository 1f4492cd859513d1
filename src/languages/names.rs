//! Language names for files without a grammar, by file name or extension.

/// Language names, each with its file names and extensions.
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
