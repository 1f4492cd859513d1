//! Rust: items at any depth, also inside a macro's braces, with their fields, variants and associated items.
//!
//! An attribute is a sibling before its item ([`Rule::Attribute`]), an `impl` is the container of its items
//! ([`Rule::Container`]), and the text of an item macro is parsed again as a file of its own ([`Rule::Embedded`]).
//!
//! `mod name;` is a symbol too: a module gets its visibility, its `cfg` and often its only documentation there.
//! Macros by example are symbols; their expansions are not.

mod arguments;
mod builders;
mod conventions;
mod embedded;
mod expressions;
mod given;
mod lower;
mod macros;
mod manifest;
mod modules;
mod patterns;
mod runner;
mod syntax;
mod tokens;
mod types;
mod uses;
mod wanted;

use tree_sitter::Node;

use super::definition::span_of;
use super::spec::grammar;
use super::{Comments, Cx, Definition, Distribution, LanguageSpec, Place, Relating, Rule};
use codelode_base::model::{Detail, Ecosystem, Kind, Span};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "rust",
    aliases: &["rs"],
    extensions: &["rs"],
    interpreters: &["rust-script"],
    grammar: grammar!("rust", tree_sitter_rust, HIGHLIGHTS_QUERY),
    rules: &[
        (Rule::Define(function), &["function_item", "function_signature_item"]),
        (Rule::Define(data), &["struct_item", "union_item", "enum_item", "trait_item"]),
        (Rule::Define(named_type), &["type_item", "associated_type"]),
        (Rule::Define(value), &["const_item", "static_item", "field_declaration", "enum_variant"]),
        (Rule::Define(module), &["mod_item"]),
        (Rule::Define(macro_by_example), &["macro_definition"]),
        (Rule::Container(implemented), &["impl_item"]),
        (Rule::Attribute, &["attribute_item"]),
        (Rule::Embedded(macros::inside), &["macro_invocation"]),
        (Rule::Embedded(macros::rule), &["macro_rule"]),
        (Rule::Define(match_arm), &["match_arm"]),
        (Rule::Define(let_else), &["else"]),
        (Rule::Define(macros::metavariable), &["metavariable"]),
        (Rule::Define(macros::trait_alias), &["trait"]),
        (
            Rule::Branch,
            &["if_expression", "while_expression", "for_expression", "loop_expression", "try_expression", "&&", "||"],
        ),
        (
            Rule::WalkIf(holds_branches),
            &[
                "let_declaration",
                "expression_statement",
                "call_expression",
                "field_expression",
                "arguments",
                "binary_expression",
                "reference_expression",
                "field_initializer_list",
                "parenthesized_expression",
                "tuple_expression",
                "array_expression",
                "let_condition",
            ],
        ),
        (
            Rule::Skip,
            &[
                "use_declaration",
                "extern_crate_declaration",
                "inner_attribute_item",
                "visibility_modifier",
                "token_tree",
                "parameters",
                "closure_parameters",
                "type_parameters",
                "type_arguments",
                "where_clause",
                "trait_bounds",
                "generic_type",
                "scoped_type_identifier",
                "scoped_identifier",
                "reference_type",
                "pointer_type",
                "tuple_type",
                "array_type",
                "function_type",
                "dynamic_type",
                "abstract_type",
                "bounded_type",
                "tuple_pattern",
                "tuple_struct_pattern",
                "struct_pattern",
                "slice_pattern",
                "or_pattern",
                "reference_pattern",
                "ordered_field_declaration_list",
            ],
        ),
    ],
    syntax: &syntax::SYNTAX,
    imports: &[("use_declaration", ""), ("extern_crate_declaration", "")],
    package: modules::package,
    distribution: Some(Distribution { ecosystem: Ecosystem::Cargo, is_standard: modules::is_standard }),
    silent: include_str!("silent.txt"),
    reads_locals: true,
    comments: Comments::C,
    conventions: &conventions::CONVENTIONS,
    relating: Some(Relating { lower: lower::lower, shapes: &[], semantics: &modules::SEMANTICS }),
    ..LanguageSpec::PLAIN
};

/// A function, which is a method in an `impl` or a trait. Without a body (in a trait, in an `extern` block) it does
/// not run.
fn function(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let (kind, detail) = match cx.place() {
        Place::Type => (Kind::Method, Detail::Method),
        _ => (Kind::Function, Detail::Function),
    };
    let body = node.child_by_field_name("body");
    define(cx, node, body, kind, detail, body.is_some());
}

/// A struct, union, enum or trait.
fn data(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let (kind, detail) = match node.kind() {
        "struct_item" => (Kind::Class, Detail::Struct),
        "union_item" => (Kind::Class, Detail::Union),
        "enum_item" => (Kind::Type, Detail::Enum),
        _ if macros::is_trait_alias(cx, node) => return,
        _ => (Kind::Type, Detail::Trait),
    };
    // The fields of a tuple struct have no names: they are part of its signature.
    let body = node.child_by_field_name("body").filter(|body| body.kind() != "ordered_field_declaration_list");
    define(cx, node, body, kind, detail, false);
}

/// `type Name = …;`, and `type Name;` in a trait.
fn named_type(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let detail = if node.kind() == "type_item" { Detail::Alias } else { Detail::NamedType };
    define(cx, node, None, Kind::Type, detail, false);
}

/// A constant, static, field or variant.
fn value(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let detail = match node.kind() {
        "const_item" => Detail::Constant,
        "static_item" => Detail::Static,
        "enum_variant" => Detail::Member,
        _ => Detail::Field,
    };
    let body = node.child_by_field_name("body").filter(|body| body.kind() == "field_declaration_list");
    define(cx, node, body, Kind::Constant, detail, false);
}

fn module(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    define(cx, node, node.child_by_field_name("body"), Kind::Type, Detail::Module, false);
}

/// `macro_rules!`.
fn macro_by_example(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let mut cursor = node.walk();
    let opening = node.children(&mut cursor).find(|child| matches!(child.kind(), "{" | "(" | "["));
    define(cx, node, opening, Kind::Function, Detail::Macro, false);
}

/// Records the item `node`, with its attributes and documentation. The signature ends where `body` begins.
fn define(cx: &mut Cx<'_, '_>, node: Node<'_>, body: Option<Node<'_>>, kind: Kind, detail: Detail, runs: bool) {
    let Some(name) = node.child_by_field_name("name") else { return };
    // `const _: () = …;` is a check without a name, and `$name` may be any name.
    if name.kind() == "metavariable" || cx.text(name) == "_" {
        return;
    }
    let mut definition = Definition { runs, ..Definition::new(node, name, kind, detail) }.before(body);
    definition.decorators = cx.attributes().to_vec();
    if let (Detail::Module, Some(body)) = (detail, body) {
        definition.doc = inner_doc(cx, body);
    }
    record(cx, definition);
}

/// Records an item with the documentation before it and from the first of its attributes on.
fn record(cx: &mut Cx<'_, '_>, mut definition: Definition) {
    if let Some(first) = definition.decorators.first() {
        definition.span.start = first.start;
    }
    // Documentation may be above the attributes, or between them.
    let mut starts = definition.decorators.iter().map(|attribute| attribute.start).chain([definition.signature.start]);
    let outer = starts.find_map(|start| Some(doc_above(cx, start as usize)).filter(|doc| !doc.is_empty()));
    definition.doc = outer.unwrap_or(definition.doc);
    cx.define(definition);
}

/// The documentation comment above an item. Plain comments may be between.
fn doc_above(cx: &Cx<'_, '_>, mut start: usize) -> Span {
    loop {
        let doc = cx.doc_above(start, is_doc);
        if !doc.is_empty() {
            return doc;
        }
        let plain = cx.doc_above(start, |line| !is_doc(line) && !line.starts_with("//!"));
        if plain.is_empty() {
            return plain;
        }
        start = plain.start as usize;
    }
}

/// `///` and `/**`; more slashes or asterisks are decoration.
fn is_doc(comment: &str) -> bool {
    comment.starts_with("///") && !comment.starts_with("////")
        || comment.starts_with("/**") && !comment.starts_with("/***") && !comment.starts_with("/**/")
}

/// The `//!` lines that open the body of a module.
fn inner_doc(cx: &Cx<'_, '_>, body: Node<'_>) -> Span {
    let is_inner = |comment: &Node<'_>| cx.text(*comment).starts_with("//!");
    let mut cursor = body.walk();
    let mut comments = body.named_children(&mut cursor).take_while(is_inner);
    let Some(first) = comments.next() else { return Span::default() };
    Span::new(first.start_byte(), comments.last().unwrap_or(first).end_byte())
}

/// The name of the type that an `impl` is for: without generics, references and path. A tuple, slice or function type is
/// its own name.
fn implemented<'t>(_: &Cx<'_, '_>, node: Node<'t>) -> Option<Node<'t>> {
    let mut target = node.child_by_field_name("type")?;
    loop {
        target = match target.kind() {
            "reference_type" | "pointer_type" | "generic_type" => target.child_by_field_name("type")?,
            "scoped_type_identifier" => target.child_by_field_name("name")?,
            "dynamic_type" | "abstract_type" => target.child_by_field_name("trait")?,
            "function_type" if let Some(called) = target.child_by_field_name("trait") => called,
            "higher_ranked_trait_bound" => target.child_by_field_name("type")?,
            "bounded_type" => target.named_child(0)?,
            _ => return Some(target),
        };
    }
}

/// Whether a statement or expression may contain a branch, an item or a macro with items: without a brace, `?`, `&&`,
/// `||` and `!` it cannot. Most are short and plain, and reading their text is far cheaper than visiting their nodes.
fn holds_branches(cx: &Cx<'_, '_>, node: Node<'_>) -> bool {
    const SHORT: usize = 256;
    let text = span_of(node).of(cx.source());
    // Long ones are walked, so that no text is read again and again however deep expressions are nested.
    text.len() > SHORT
        || text.iter().zip(text.iter().skip(1).chain(b" ")).any(|pair| match pair {
            (b'{' | b'?' | b'!' | b'$', _) => true,
            (b'&', next) => *next == b'&',
            (b'|', next) => *next == b'|',
            _ => false,
        })
}

/// An arm is a way through, the one for everything else is not.
fn match_arm(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let text = span_of(node).of(cx.source());
    let rest = text.strip_prefix(b"_").map(|rest| rest.trim_ascii_start());
    if !rest.is_some_and(|rest| rest.starts_with(b"=>")) {
        cx.branch();
    }
}

/// `let … else` is a way through; the `else` of an `if` was counted with it.
fn let_else(cx: &mut Cx<'_, '_>, _: Node<'_>) {
    if cx.ancestor(0).is_some_and(|parent| parent.kind() == "let_declaration") {
        cx.branch();
    }
}
