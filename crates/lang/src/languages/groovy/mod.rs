//! Groovy, also of Gradle: types with their members, functions, and the variables of scripts.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, Cx, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "groovy",
    aliases: &["gradle"],
    extensions: &["groovy", "gradle", "gvy"],
    file_names: &["Jenkinsfile"],
    interpreters: &["groovy"],
    grammar: grammar!("groovy", tree_sitter_groovy, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Class, Detail::Class, "name", "body"), &["class_declaration", "trait_declaration"]),
        (symbol(Kind::Class, Detail::Record, "name", "body"), &["record_declaration"]),
        (symbol(Kind::Type, Detail::Interface, "name", "body"), &["interface_declaration"]),
        (symbol(Kind::Type, Detail::Annotation, "name", "body"), &["annotation_type_declaration"]),
        (symbol(Kind::Type, Detail::Enum, "name", "body"), &["enum_declaration"]),
        (symbol(Kind::Constant, Detail::Member, "name", "body"), &["enum_constant"]),
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["method_declaration"]),
        (symbol(Kind::Method, Detail::Constructor, "name", "body"), &["constructor_declaration"]),
        (symbol(Kind::Constant, Detail::Field, "variable_declarator/name", ""), &["field_declaration"]),
        (Rule::Define(variables), &["local_variable_declaration", "multi_assignment_declaration"]),
        (Rule::Branch, &["if_statement", "for_statement", "for_in_statement", "while_statement", "do_while_statement"]),
        (Rule::Branch, &["catch_clause", "switch_case", "switch_arrow_case", "ternary_expression", "elvis_expression"]),
        (Rule::Branch, &["&&", "||"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::C,
    decorators: &["annotation"],
    conventions: &Conventions {
        test_decorators: &["Test"],
        test_files: &["*Test", "*Tests", "*Spec"],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

/// The variables of a script. The grammar puts one that has a type into the declaration itself.
fn variables<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    for names in ["name", "variable_declarator/name"] {
        cx.symbol(node, Kind::Constant, Detail::Variable, names, "");
    }
}
