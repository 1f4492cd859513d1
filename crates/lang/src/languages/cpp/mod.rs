//! C++: all that C has, and namespaces, classes with their methods, templates, aliases and concepts.

mod classes;
mod expressions;
mod lower;
mod names;
mod shapes;

use tree_sitter::Node;

use super::c::{
    BRANCHES, COMMENTS, CONVENTIONS, ENUM, FUNCTION, MACRO, MACRO_FUNCTION, STRUCT, TYPEDEF, UNION, declares_function,
    variables,
};
use super::spec::{grammar, symbol};
use super::{Cx, LanguageSpec, Place, Relating, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "cpp",
    aliases: &["c++", "cxx"],
    extensions: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tpp", "cppm", "ixx"],
    claims: &[("h", is_cpp)],
    grammar: grammar!("cpp", tree_sitter_cpp, HIGHLIGHT_QUERY),
    highlighted_as: Some(&super::c::SPEC),
    preprocess: Some(super::c::preprocess::preprocess_cpp),
    rules: &[
        FUNCTION,
        (Rule::BySign { signs: CLASS, name: "name", body: "base_class_clause|body" }, &["class_specifier"]),
        (Rule::BySign { signs: STRUCT, name: "name", body: "base_class_clause|body" }, &["struct_specifier"]),
        (Rule::BySign { signs: UNION, name: "name", body: "body" }, &["union_specifier"]),
        (Rule::BySign { signs: ENUM, name: "name", body: "body" }, &["enum_specifier"]),
        (Rule::BySign { signs: TYPEDEF, name: "declarator", body: "type/body" }, &["type_definition"]),
        (symbol(Kind::Type, Detail::Namespace, "name", "body"), &["namespace_definition"]),
        (symbol(Kind::Type, Detail::Alias, "name", ""), &["alias_declaration"]),
        (symbol(Kind::Type, Detail::Trait, "name", ""), &["concept_definition"]),
        (Rule::Define(declared), &["field_declaration", "declaration"]),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["enumerator"]),
        MACRO,
        MACRO_FUNCTION,
        (Rule::Branch, BRANCHES),
        (Rule::Branch, &["for_range_loop", "catch_clause", "and", "or"]),
    ],
    silent: include_str!("silent.txt"),
    comments: COMMENTS,
    around: &["type_definition", "template_declaration"],
    qualified: DECLARATORS,
    imports: &[("preproc_include", "")],
    package: super::c::includes::package,
    relating: Some(Relating { lower: lower::lower, shapes: shapes::SHAPES, semantics: &super::c::includes::SEMANTICS }),
    conventions: &CONVENTIONS,
    ..LanguageSpec::PLAIN
};

const CLASS: &[(&str, Kind, Detail)] = &[("body/{", Kind::Class, Detail::Class)];

/// Nodes around a name: declarators, owners and the arguments of templates.
const DECLARATORS: &[(&str, &str, &str)] = &[
    ("qualified_identifier", "scope", "name"),
    ("function_declarator", "", "declarator"),
    ("pointer_declarator", "", "declarator"),
    ("array_declarator", "", "declarator"),
    ("init_declarator", "", "declarator"),
    ("operator_cast", "", "operator"),
    ("template_type", "", "name"),
    ("template_function", "", "name"),
    ("template_method", "", "name"),
    ("parenthesized_declarator", "", INNER),
    ("attributed_declarator", "", INNER),
    ("reference_declarator", "", INNER),
];
const INNER: &str = "pointer_declarator|function_declarator|array_declarator|parenthesized_declarator|\
                     reference_declarator|qualified_identifier|operator_name|operator_cast|destructor_name|template_function|\
                     identifier|field_identifier|type_identifier";

/// A field, a method that is declared in its class, or a variable of a namespace.
fn declared<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    match cx.place() {
        Place::Type if declares_function(node) => {
            cx.symbol(node, Kind::Method, Detail::Method, "declarator", "body");
        }
        Place::Type => cx.symbol(node, Kind::Constant, Detail::Field, "declarator", ""),
        _ => variables(cx, node),
    }
}

/// Whether a header is written in C++ and not in C, by words that C does not have.
fn is_cpp(text: &[u8]) -> bool {
    const WORDS: &[&str] = &["class ", "namespace ", "template", "using ", "public:", "private:", "constexpr "];
    let lines = text[..text.len().min(HEAD)].split(|byte| *byte == b'\n');
    lines.map(|line| line.trim_ascii_start()).any(|line| {
        let begins = |word: &&str| line.starts_with(word.as_bytes());
        // A comment's line may begin with any word; code of these goes on with a name, a brace or a mark.
        WORDS.iter().any(begins) && line.iter().any(|byte| b"{<:;(".contains(byte)) && !line.ends_with(b".")
    })
}

/// The part of a header that is searched for words of C++, in bytes.
const HEAD: usize = 100_000;
