//! C#: types of every sort with their members, and the functions within functions.

mod classes;
mod expressions;
mod heads;
mod lower;
mod semantics;
mod shapes;
mod types;

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, Definition, LanguageSpec, Public, Relating, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "csharp",
    aliases: &["c#", "cs"],
    extensions: &["cs", "csx"],
    grammar: grammar!("csharp", tree_sitter_c_sharp, HIGHLIGHTS_QUERY),
    preprocess: Some(heads::preprocess),
    rules: &[
        (symbol(Kind::Class, Detail::Class, "name", "body"), &["class_declaration"]),
        (symbol(Kind::Class, Detail::Struct, "name", "body"), &["struct_declaration"]),
        (symbol(Kind::Class, Detail::Record, "name", "body"), &["record_declaration"]),
        (symbol(Kind::Type, Detail::Interface, "name", "body"), &["interface_declaration"]),
        (symbol(Kind::Type, Detail::Enum, "name", "body"), &["enum_declaration"]),
        (symbol(Kind::Type, Detail::Delegate, "name", ""), &["delegate_declaration"]),
        (symbol(Kind::Type, Detail::Namespace, "name", "body"), &["namespace_declaration"]),
        (Rule::Define(namespace), &["file_scoped_namespace_declaration"]),
        (Rule::Define(positional), &["parameter"]),
        (symbol(Kind::Method, Detail::Method, "name", "body"), &["method_declaration"]),
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["local_function_statement"]),
        (symbol(Kind::Method, Detail::Constructor, "name", "body"), &["constructor_declaration"]),
        (symbol(Kind::Method, Detail::Method, "name", "body"), &["destructor_declaration"]),
        (symbol(Kind::Method, Detail::Method, "operator", "body"), &["operator_declaration"]),
        (symbol(Kind::Constant, Detail::Property, "name", "accessors|value"), &["property_declaration"]),
        (symbol(Kind::Constant, Detail::Property, "this", "accessors|value"), &["indexer_declaration"]),
        (symbol(Kind::Constant, Detail::Event, "name", "accessors"), &["event_declaration"]),
        (symbol(Kind::Constant, Detail::Event, DECLARED, ""), &["event_field_declaration"]),
        (Rule::BySign { signs: FIELDS, name: DECLARED, body: "" }, &["field_declaration"]),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["enum_member_declaration"]),
        (Rule::Branch, &["if_statement", "for_statement", "foreach_statement", "while_statement", "do_statement"]),
        (Rule::Branch, &["switch_section", "switch_expression_arm", "catch_clause", "conditional_expression"]),
        (Rule::Branch, &["&&", "||", "??"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { tagged: true, ..Comments::MARKED },
    decorators: &["attribute_list"],
    imports: &[("using_directive", "")],
    relating: Some(Relating { lower: lower::lower, shapes: shapes::SHAPES, semantics: &semantics::SEMANTICS }),
    conventions: &Conventions {
        mains: &["Main"],
        starts: &[(Kind::Method, "Main")],
        test_decorators: &["Test", "TestCase", "Fact", "Theory", "TestMethod", "Benchmark"],
        test_files: &["*Test", "*Tests", "*.Tests", "*Benchmark", "*Benchmarks"],
        public: Public::Word(&["public", "protected"]),
        is_implied: |name| matches!(name, "ToString" | "Equals" | "GetHashCode" | "Dispose"),
        overloads_are_one: false,
        tells_dead: false,
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const DECLARED: &str = "variable_declaration/variable_declarator/name";
const FIELDS: &[(&str, Kind, Detail)] =
    &[("const", Kind::Constant, Detail::Constant), ("", Kind::Constant, Detail::Field)];

/// `namespace Name;` holds the rest of the file.
fn namespace<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let Some(name) = part(node, "name").filter(|_| cx.enclosing().is_none()) else { return };
    let mut definition = Definition::new(node, name, Kind::Type, Detail::Namespace);
    definition.span.end = cx.ancestor(0).map_or(definition.span.end, |file| file.end_byte() as u32);
    definition.signature.end = name.end_byte() as u32;
    cx.define(definition);
}

/// A parameter of a record is a property of it.
fn positional<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    if cx.ancestor(1).is_some_and(|around| around.kind() == "record_declaration") {
        cx.symbol(node, Kind::Constant, Detail::Property, "name", "");
    }
}
