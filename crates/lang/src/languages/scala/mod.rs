//! Scala: classes, traits, objects and enums with their members, and definitions outside of types.

mod calls;
mod classes;
mod expressions;
mod lower;
mod members;
mod patterns;
mod semantics;
mod shapes;
mod types;

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, Cx, LanguageSpec, ManifestPart, Package, Relating, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "scala",
    extensions: &["scala", "sc", "sbt"],
    interpreters: &["scala"],
    grammar: grammar!("scala", tree_sitter_scala, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Class, Detail::Class, "name", "extend|body"), &["class_definition"]),
        (symbol(Kind::Class, Detail::Object, "name", "extend|body"), &["object_definition", "package_object"]),
        (symbol(Kind::Type, Detail::Trait, "name", "extend|body"), &["trait_definition"]),
        (symbol(Kind::Type, Detail::Enum, "name", "body"), &["enum_definition"]),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["simple_enum_case", "full_enum_case"]),
        (symbol(Kind::Type, Detail::Alias, "name", ""), &["type_definition"]),
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function_definition", "function_declaration"]),
        (symbol(Kind::Constant, Detail::Variable, PATTERN, ""), &["val_definition", "var_definition"]),
        (symbol(Kind::Constant, Detail::Variable, "name", ""), &["val_declaration", "var_declaration"]),
        (Rule::Define(parameter), &["class_parameter"]),
        (symbol(Kind::Constant, Detail::Variable, "name", "body"), &["given_definition"]),
        (Rule::Branch, &["if_expression", "case_clause", "for_expression", "while_expression", "do_while_expression"]),
        (Rule::Branch, &["catch_clause", "guard"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::MARKED,
    decorators: &["annotation"],
    imports: &[("import_declaration", "")],
    relating: Some(Relating { lower: lower::lower, shapes: shapes::SHAPES, semantics: &semantics::SEMANTICS }),
    conventions: &Conventions {
        starts: &[(Kind::Method, "main"), (Kind::Function, "main")],
        test_files: &["*Test", "*Tests", "*Spec", "*Suite"],
        packages: &[Package { file: "build.sbt", says: &[], names: ManifestPart::Nothing }],
        is_implied: |name| matches!(name, "apply" | "unapply" | "unapplySeq" | "update"),
        overloads_are_one: false,
        tells_dead: false,
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const PATTERN: &str = "pattern:identifier";
/// Parameters of a class that are its fields: all of a `case class`, and those that say so.
fn parameter<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let has = |node: Node<'_>, words: &[&str]| node.children(&mut node.walk()).any(|part| words.contains(&part.kind()));
    let is_case = |class: Node<'_>| class.kind() == "full_enum_case" || has(class, &["case"]);
    if has(node, &["val", "var"]) || cx.ancestor(1).is_some_and(is_case) {
        cx.symbol(node, Kind::Constant, Detail::Field, "name", "");
    }
}
