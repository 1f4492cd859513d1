//! GraphQL: types with their fields, enums, directives, and operations with their fragments.

use super::spec::{grammar, symbol};
use super::{Comments, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "graphql",
    aliases: &["gql"],
    extensions: &["graphql", "gql", "graphqls"],
    grammar: grammar!("graphql", tree_sitter_graphql, "highlights.scm"),
    rules: &[
        (symbol(Kind::Class, Detail::NamedType, "name", "fields_definition"), &["object_type_definition"]),
        (symbol(Kind::Class, Detail::Record, "name", "input_fields_definition"), &["input_object_type_definition"]),
        (symbol(Kind::Type, Detail::Interface, "name", "fields_definition"), &["interface_type_definition"]),
        (symbol(Kind::Type, Detail::Extension, "name", "fields_definition"), EXTENSIONS),
        (symbol(Kind::Type, Detail::Union, "name", ""), &["union_type_definition"]),
        (symbol(Kind::Type, Detail::Enum, "name", "enum_values_definition"), &["enum_type_definition"]),
        (symbol(Kind::Type, Detail::NamedType, "name", ""), &["scalar_type_definition"]),
        (symbol(Kind::Type, Detail::Annotation, "name", ""), &["directive_definition"]),
        (symbol(Kind::Constant, Detail::Field, "name", ""), &["field_definition"]),
        (symbol(Kind::Constant, Detail::Member, "enum_value/name", ""), &["enum_value_definition"]),
        (
            Rule::BySign {
                signs: &[("../input_fields_definition", Kind::Constant, Detail::Field)],
                name: "name",
                body: "",
            },
            &["input_value_definition"],
        ),
        (symbol(Kind::Function, Detail::Function, "name", "selection_set"), &["operation_definition"]),
        (symbol(Kind::Function, Detail::Function, "fragment_name/name", "selection_set"), &["fragment_definition"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::HASH,
    decorators: &["description"],
    ..LanguageSpec::PLAIN
};

const EXTENSIONS: &[&str] = &["object_type_extension", "interface_type_extension"];
