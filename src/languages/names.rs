//! Names for the files that no grammar reads, from their endings.

/// Ending or whole file name, and what answers call it.
const NAMES: &[(&str, &[&str])] = &[
    ("bash", &["sh", "bash", "zsh"]),
    ("batch", &["bat", "cmd"]),
    ("c", &["c", "h"]),
    ("clojure", &["clj", "cljs", "cljc", "edn"]),
    ("cmake", &["cmake", "CMakeLists.txt"]),
    ("cpp", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"]),
    ("csharp", &["cs"]),
    ("css", &["css", "scss", "sass", "less"]),
    ("dart", &["dart"]),
    ("dockerfile", &["Dockerfile", "dockerfile"]),
    ("elixir", &["ex", "exs"]),
    ("erlang", &["erl", "hrl"]),
    ("graphql", &["graphql", "gql"]),
    ("groovy", &["groovy", "gradle"]),
    ("haskell", &["hs"]),
    ("html", &["html", "htm", "xhtml"]),
    ("ini", &["ini", "cfg", "conf", "properties"]),
    ("json", &["json", "jsonc", "json5", "jsonl"]),
    ("kotlin", &["kt", "kts"]),
    ("lua", &["lua"]),
    ("make", &["mk", "Makefile", "GNUmakefile", "makefile"]),
    ("markdown", &["md", "markdown", "mdx"]),
    ("ocaml", &["ml", "mli"]),
    ("perl", &["pl", "pm", "t"]),
    ("php", &["php"]),
    ("powershell", &["ps1", "psm1"]),
    ("proto", &["proto"]),
    ("r", &["r", "R"]),
    ("restructuredtext", &["rst"]),
    ("ruby", &["rb", "Rakefile", "Gemfile"]),
    ("scala", &["scala", "sc"]),
    ("sql", &["sql"]),
    ("svelte", &["svelte"]),
    ("swift", &["swift"]),
    ("terraform", &["tf", "tfvars"]),
    ("toml", &["toml"]),
    ("vue", &["vue"]),
    ("xml", &["xml", "xsd", "xsl", "svg", "pom"]),
    ("yaml", &["yaml", "yml"]),
    ("zig", &["zig"]),
];

/// What a file that has no symbols is written in; `text` when its name does not tell.
pub fn language_name(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
    let known = NAMES.iter().find(|(_, names)| names.contains(&name) || names.contains(&ending));
    known.map_or("text", |(language, _)| language)
}
