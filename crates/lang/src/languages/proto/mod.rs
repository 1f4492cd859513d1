//! Protocol Buffers: messages with their fields, enums, services and their calls.

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "proto",
    aliases: &["protobuf"],
    extensions: &["proto"],
    grammar: grammar!("proto", tree_sitter_proto, "highlights.scm"),
    rules: &[
        (symbol(Kind::Class, Detail::Struct, "message_name", "message_body"), &["message"]),
        (symbol(Kind::Type, Detail::Enum, "enum_name", "enum_body"), &["enum"]),
        (symbol(Kind::Constant, Detail::Member, "identifier", ""), &["enum_field"]),
        (symbol(Kind::Constant, Detail::Field, "identifier", ""), &["field", "map_field", "oneof_field"]),
        (symbol(Kind::Type, Detail::Interface, "service_name", "{"), &["service"]),
        (symbol(Kind::Method, Detail::Method, "rpc_name", "{"), &["rpc"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { silent: &["// buf:"], ..Comments::C },
    conventions: &Conventions { overloads_are_one: false, ..Conventions::NEUTRAL },
    ..LanguageSpec::PLAIN
};
