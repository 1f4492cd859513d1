//! JSON: the top two levels of manifests and settings. Other JSON is data, and has no symbols.

use tree_sitter::Node;

use super::definition::span_of;
use super::spec::grammar;
use super::symbol::part;
use super::{Comments, Cx, Definition, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind, Span};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "json",
    aliases: &["jsonc"],
    file_names: &[
        "package.json",
        "composer.json",
        "tsconfig.json",
        "jsconfig.json",
        "deno.json",
        "deno.jsonc",
        "bower.json",
        "project.json",
        "angular.json",
        "nx.json",
        "turbo.json",
        "lerna.json",
        "vercel.json",
        "firebase.json",
        "manifest.json",
        "app.json",
        "launch.json",
        "tasks.json",
        "devcontainer.json",
        "renovate.json",
        "biome.json",
        "appsettings.json",
        "global.json",
        "typedoc.json",
        "rush.json",
        "vcpkg.json",
        "CMakePresets.json",
        ".eslintrc.json",
        ".babelrc",
        ".swcrc",
        ".prettierrc",
    ],
    claims: &[("json", is_manifest)],
    grammar: grammar!("json", tree_sitter_json, HIGHLIGHTS_QUERY),
    rules: &[(Rule::Define(key), &["pair"]), (Rule::WalkIf(is_near_top), &["object"]), (Rule::Skip, &["array"])],
    silent: include_str!("silent.txt"),
    comments: Comments::C,
    is_document: true,
    ..LanguageSpec::PLAIN
};

/// Keys that only manifests have, near the top of a text, and the bytes that are looked at.
const SIGNS: [&str; 4] = ["\"compilerOptions\"", "\"openapi\"", "\"swagger\"", "\"devDependencies\""];
const HEAD: usize = 1_000;

/// Whether a text is a manifest under another name, such as `tsconfig.build.json`.
fn is_manifest(text: &[u8]) -> bool {
    let head = &text[..text.len().min(HEAD)];
    SIGNS.iter().any(|sign| memchr::memmem::find(head, sign.as_bytes()).is_some())
}

/// Whether an object is the file's, or the value of one of its keys.
fn is_near_top(cx: &Cx<'_, '_>, _: Node<'_>) -> bool {
    [0, 2].into_iter().any(|up| cx.ancestor(up).is_some_and(|above| above.kind() == "document"))
}

/// A key with its value.
fn key<'t>(cx: &mut Cx<'_, 't>, pair: Node<'t>) {
    let Some(key) = part(pair, "key:string") else { return };
    let is_group = part(pair, "value:object").is_some();
    let (kind, detail) = if is_group { (Kind::Type, Detail::Section) } else { (Kind::Constant, Detail::Property) };
    let definition = Definition::new(pair, key, kind, detail).before(part(pair, "value:object|value:array"));
    let quoted = span_of(key);
    let name = Span::new(quoted.start as usize + 1, (quoted.end as usize).saturating_sub(1));
    cx.define(Definition { name, ..definition });
}
