//! Elixir: modules, protocols, functions, macros and structs, which are all calls to the grammar.

use tree_sitter::Node;

use super::definition::span_of;
use super::spec::grammar;
use super::symbol::part;
use super::{Comments, Conventions, Cx, Definition, LanguageSpec, ManifestPart, Package, Rule};
use codelode_base::model::{Detail, Kind, Span};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "elixir",
    aliases: &["ex"],
    extensions: &["ex", "exs"],
    interpreters: &["elixir"],
    grammar: grammar!("elixir", tree_sitter_elixir, HIGHLIGHTS_QUERY),
    rules: &[
        (Rule::Define(call), &["call"]),
        (Rule::Attribute, &["unary_operator"]),
        (Rule::Branch, &["stab_clause", "&&", "||", "and", "or"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::HASH,
    conventions: &Conventions {
        tests: &["test"],
        test_files: &["*_test", "test_helper"],
        packages: &[Package { file: "mix.exs", says: &[], names: ManifestPart::Nothing }],
        is_implied: |name| name.starts_with("__"),
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

/// `def name(…) do … end` and its kin.
fn call(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let word = node.child_by_field_name("target").map(|target| cx.text(target)).unwrap_or_default();
    let (kind, detail) = match word {
        "defmodule" => (Kind::Type, Detail::Module),
        "defprotocol" => (Kind::Type, Detail::Protocol),
        "defimpl" => (Kind::Type, Detail::Extension),
        "def" | "defp" | "defdelegate" | "defguard" | "defguardp" => (Kind::Function, Detail::Function),
        "defmacro" | "defmacrop" => (Kind::Function, Detail::Macro),
        _ => return,
    };
    // The head of a macro with such a name: `defmacro def(head, body) do`.
    if cx.ancestor(0).is_some_and(|parent| parent.kind() == "arguments") {
        return;
    }
    let Some(arguments) = part(node, "arguments") else { return };
    // `name(…) when …` is an operator whose left side is called. Any other is what is defined: `a <~> b`.
    let mut name = arguments.named_child(0);
    while let Some(held) = name {
        name = match held.kind() {
            "binary_operator" | "unary_operator" => {
                let Some(operator) = held.child_by_field_name("operator") else { return };
                match cx.text(operator) {
                    "when" => held.child_by_field_name("left"),
                    _ => {
                        name = Some(operator);
                        break;
                    }
                }
            }
            "call" => held.child_by_field_name("target"),
            "identifier" | "alias" | "operator_identifier" => break,
            _ => return,
        };
    }
    let Some(name) = name.filter(|name| cx.text(*name) != "unquote") else { return };
    let body = part(node, "do_block");
    let text = |span: Span| std::str::from_utf8(span.of(cx.source())).unwrap_or_default();
    let mut decorators: Vec<Span> = cx.attributes().to_vec();
    decorators.retain(|attribute| text(*attribute).starts_with('@'));
    let comments = cx.spec.comments;
    let first = decorators.first().map_or(node.start_byte(), |first| first.start as usize);
    let comment = cx.doc_above(first, |comment| comments.document(comment));
    let moduledoc = body.and_then(|body| body.named_child(0)).map(span_of);
    let docs = decorators.iter().copied().chain(moduledoc);
    let doc =
        docs.filter_map(|span| documentation(text(span)).map(|at| Span { start: span.start + at, ..span })).next();
    decorators.retain(|attribute| DECORATORS.iter().any(|word| text(*attribute).starts_with(word)));
    let definition = Definition::new(node, name, kind, detail).before(body);
    cx.define(Definition { doc: doc.unwrap_or(comment), decorators, ..definition });
}

/// Attributes of the definition after them; others are constants of the module.
const DECORATORS: &[&str] = &["@spec ", "@impl ", "@deprecated ", "@tag ", "@describetag ", "@dialyzer "];

/// Where the text of `@doc "…"` begins in it.
fn documentation(attribute: &str) -> Option<u32> {
    let text = ["@doc ", "@moduledoc "].iter().find_map(|word| attribute.strip_prefix(word))?;
    text.trim_start().starts_with('"').then_some((attribute.len() - text.trim_start().len()) as u32)
}
