//! Names for the files that no grammar reads, from their endings.

/// Ending or whole file name, and what answers call it.
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

/// The language of a file by its name, whether symbols are read from it or not; `text` when its name does not tell.
pub fn language_name(path: &str) -> &'static str {
    if let Some((_, spec)) = super::of_name(path) {
        return spec.id;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
    let known = NAMES.iter().find(|(_, names)| names.contains(&name) || names.contains(&ending));
    known.map_or("text", |(language, _)| language)
}
