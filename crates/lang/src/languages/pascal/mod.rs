//! Pascal: types with their members, functions with a body, constants and the variables of units.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, Cx, LanguageSpec, Place, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "pascal",
    aliases: &["delphi", "objectpascal"],
    extensions: &["pas", "dpr", "lpr"],
    grammar: grammar!("pascal", tree_sitter_pascal, "highlights.scm"),
    rules: &[
        (
            Rule::BySign { signs: TYPES, name: "name:identifier", body: "type/declSection^|declField^|declProc^" },
            &["declType"],
        ),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["declEnumValue"]),
        (symbol(Kind::Function, Detail::Function, "header/name", "local|body"), &["defProc"]),
        (Rule::Define(declared), &["declProc"]),
        (symbol(Kind::Constant, Detail::Field, "name:identifier", ""), &["declField"]),
        (symbol(Kind::Constant, Detail::Property, "name", ""), &["declProp"]),
        (symbol(Kind::Constant, Detail::Constant, "name", ""), &["declConst"]),
        (symbol(Kind::Constant, Detail::Variable, "name:identifier", ""), &["declVar"]),
        (Rule::Branch, &["if", "ifElse", "for", "while", "repeat", "caseCase", "exceptionHandler", "kAnd", "kOr"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { line: &["//"], block: &[("{", "}"), ("(*", "*)")], silent: &["{$"], ..Comments::NONE },
    qualified: &[("genericDot", "lhs", "rhs")],
    conventions: &Conventions {
        constructors: &["Create"],
        test_files: &["*Test", "*Tests", "Test*"],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const TYPES: &[(&str, Kind, Detail)] = &[
    ("type:declClass/kRecord", Kind::Class, Detail::Record),
    ("type:declClass/kClass", Kind::Class, Detail::Class),
    ("type:declIntf/kInterface", Kind::Type, Detail::Interface),
    ("type/declEnum", Kind::Type, Detail::Enum),
    ("", Kind::Type, Detail::Alias),
];

/// A method that is declared in its type. Elsewhere, a mere declaration is no symbol.
fn declared<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let has_body = cx.ancestor(0).is_some_and(|parent| parent.kind() == "defProc");
    if cx.place() == Place::Type && !has_body {
        cx.symbol(node, Kind::Method, Detail::Method, "name", "");
    }
}
