//! Java: types of every kind at any depth, their methods, constructors, fields and constants, and those of anonymous
//! classes.

mod conventions;
mod expressions;
mod lower;
mod members;
mod packages;
mod runner;
mod syntax;
mod types;

use tree_sitter::Node;

use super::definition::{MOST_DECORATORS, span_of};
use super::spec::grammar;
use super::{Comments, Cx, Definition, Distribution, LanguageSpec, Relating, Rule};
use codelode_base::model::{Detail, Ecosystem, Kind, Span};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "java",
    extensions: &["java"],
    grammar: grammar!("java", tree_sitter_java, HIGHLIGHTS_QUERY),
    rules: &[
        (Rule::Define(class), &["class_declaration"]),
        (Rule::Define(record), &["record_declaration"]),
        (Rule::Define(interface), &["interface_declaration"]),
        (Rule::Define(enumeration), &["enum_declaration"]),
        (Rule::Define(annotation), &["annotation_type_declaration"]),
        (Rule::Define(module), &["module_declaration"]),
        (Rule::Define(package), &["package_declaration"]),
        (Rule::Define(method), &["method_declaration", "annotation_type_element_declaration"]),
        (Rule::Define(constructor), &["constructor_declaration", "compact_constructor_declaration"]),
        (Rule::Define(fields), &["field_declaration", "constant_declaration"]),
        (Rule::Define(member), &["enum_constant"]),
        (Rule::Container(created_type), &["object_creation_expression"]),
        (
            Rule::Branch,
            &[
                "if_statement",
                "for_statement",
                "enhanced_for_statement",
                "while_statement",
                "do_statement",
                "catch_clause",
                "ternary_expression",
                // The keyword, because a label may be `default`.
                "case",
                "guard",
                "&&",
                "||",
            ],
        ),
        (Rule::WalkIf(may_hold), EXPRESSIONS),
        (Rule::Skip, SILENT),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::C,
    conventions: &conventions::CONVENTIONS,
    relating: Some(Relating { lower: lower::lower, shapes: &[], semantics: &packages::SEMANTICS }),
    syntax: &syntax::SYNTAX,
    imports: &[("import_declaration", "")],
    package: packages::package,
    distribution: Some(Distribution { ecosystem: Ecosystem::Maven, is_standard: packages::is_standard }),
    ..LanguageSpec::PLAIN
};

/// Node kinds that are skipped though the grammar allows definitions in them.
const SILENT: &[&str] = &[
    "annotated_type",
    "annotation",
    "array_type",
    "class_literal",
    "dimensions",
    "extends_interfaces",
    "formal_parameters",
    "generic_type",
    "modifiers",
    "permits",
    "scoped_type_identifier",
    "string_literal",
    "super_interfaces",
    "superclass",
    "throws",
    "type_arguments",
    "type_parameters",
];

/// Expressions and simple statements: most of the nodes of a file, and few contain a definition.
const EXPRESSIONS: &[&str] = &[
    "argument_list",
    "array_access",
    "array_creation_expression",
    "array_initializer",
    "assert_statement",
    "assignment_expression",
    "binary_expression",
    "cast_expression",
    "explicit_constructor_invocation",
    "expression_statement",
    "field_access",
    "instanceof_expression",
    "local_variable_declaration",
    "method_invocation",
    "method_reference",
    "parenthesized_expression",
    "pattern",
    "return_statement",
    "throw_statement",
    "unary_expression",
    "update_expression",
    "variable_declarator",
    "yield_statement",
];

/// The longest text that is searched before it is walked. Longer ones mostly contain something, and their parts are
/// searched again.
const LOOK: usize = 256;

/// Whether an expression may contain a definition or a branch: the body of a class, of a lambda and of a `switch` has
/// a `{`, a branch has `&&`, `||` or `?`. Searching the bytes is much faster than visiting the nodes.
fn may_hold(cx: &Cx<'_, '_>, node: Node<'_>) -> bool {
    let text = span_of(node).of(cx.source());
    // The opening brace of an array of values is only at its beginning.
    let mut last = text.first().copied().unwrap_or_default();
    text.len() > LOOK
        || text.iter().skip(1).any(|byte| {
            let before = std::mem::replace(&mut last, *byte);
            matches!(byte, b'{' | b'?') || (matches!(byte, b'&' | b'|') && before == *byte)
        })
}

fn class(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    named(cx, node, Kind::Class, Detail::Class);
}

fn interface(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    named(cx, node, Kind::Type, Detail::Interface);
}

fn enumeration(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    named(cx, node, Kind::Type, Detail::Enum);
}

fn annotation(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    named(cx, node, Kind::Type, Detail::Annotation);
}

fn module(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    named(cx, node, Kind::Type, Detail::Module);
}

fn method(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    named(cx, node, Kind::Method, Detail::Method);
}

fn constructor(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    named(cx, node, Kind::Method, Detail::Constructor);
}

fn member(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    named(cx, node, Kind::Constant, Detail::Member);
}

/// A declaration with one name and perhaps a body.
fn named(cx: &mut Cx<'_, '_>, node: Node<'_>, kind: Kind, detail: Detail) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let body = node.child_by_field_name("body");
    let definition = describe(cx, node, name, kind, detail).before(body);
    cx.define(Definition { runs: definition.runs && body.is_some(), ..definition });
}

/// A record and its components, which are its fields.
fn record(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    named(cx, node, Kind::Class, Detail::Record);
    let Some(components) = node.child_by_field_name("parameters") else { return };
    let mut cursor = components.walk();
    for component in components.named_children(&mut cursor) {
        let name = match component.kind() {
            "formal_parameter" => component.child_by_field_name("name"),
            "spread_parameter" => component
                .named_children(&mut component.walk())
                .find(|child| child.kind() == "variable_declarator")
                .and_then(|declarator| declarator.child_by_field_name("name")),
            _ => None,
        };
        if let Some(name) = name {
            cx.define(describe(cx, component, name, Kind::Constant, Detail::Field));
        }
    }
}

/// The names that one declaration of fields declares.
fn fields(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let is_constant = node.kind() == "constant_declaration" || {
        let modifiers = node.child(0).filter(|first| first.kind() == "modifiers");
        modifiers.is_some_and(|modifiers| {
            let mut cursor = modifiers.walk();
            let words = modifiers.children(&mut cursor).filter(|word| matches!(word.kind(), "static" | "final"));
            words.count() == 2
        })
    };
    let detail = if is_constant { Detail::Constant } else { Detail::Field };
    let mut described: Option<Definition> = None;
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        let Some(name) = declarator.child_by_field_name("name") else { continue };
        let value = declarator.child_by_field_name("value");
        let definition = described.get_or_insert_with(|| describe(cx, node, name, Kind::Constant, detail));
        definition.name = span_of(name);
        definition.runs = value.is_some_and(|value| value.kind() == "lambda_expression");
        let definition = definition.clone();
        cx.define(definition);
    }
}

/// `package a.b;` in a `package-info.java`, where a package is annotated and documented. In other files it defines
/// nothing.
fn package(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(file) = cx.ancestor(0) else { return };
    let declares =
        |child: Node<'_>| !child.is_extra() && child.id() != node.id() && child.kind() != "import_declaration";
    if file.children(&mut file.walk()).any(declares) {
        return;
    }
    let mut cursor = node.walk();
    let name =
        node.named_children(&mut cursor).find(|child| matches!(child.kind(), "identifier" | "scoped_identifier"));
    if let Some(name) = name {
        cx.define(describe(cx, node, name, Kind::Type, Detail::Namespace));
    }
}

/// The type that a class without a name is made from: `Runnable` of `new Runnable() {…}`.
fn created_type<'t>(_: &Cx<'_, '_>, node: Node<'t>) -> Option<Node<'t>> {
    let last = node.child(node.child_count().checked_sub(1)?)?;
    if last.kind() != "class_body" {
        return None;
    }
    let mut created = node.child_by_field_name("type")?;
    loop {
        created = match created.kind() {
            "generic_type" => created.named_child(0)?,
            "scoped_type_identifier" => created.named_child(created.named_child_count().checked_sub(1)? as u32)?,
            _ => return Some(created),
        }
    }
}

/// The common parts of all declarations: annotations as decorators, which precede the signature, and Javadoc.
fn describe(cx: &Cx<'_, '_>, node: Node<'_>, name: Node<'_>, kind: Kind, detail: Detail) -> Definition {
    let mut definition = Definition::new(node, name, kind, detail);
    definition.doc = javadoc(cx, node.start_byte());
    let modifiers = node.child(0).filter(|first| first.kind() == "modifiers");
    // Annotations of modules and packages have no modifiers around them.
    let opening = modifiers.unwrap_or(node);
    let mut first_word = None;
    for child in opening.children(&mut opening.walk()) {
        match child.kind() {
            "annotation" | "marker_annotation" if definition.decorators.len() < MOST_DECORATORS => {
                definition.decorators.push(span_of(child));
            }
            "annotation" | "marker_annotation" => {}
            _ if child.is_extra() => {}
            _ => {
                first_word = first_word.or(Some(child));
                if modifiers.is_none() {
                    break;
                }
            }
        }
    }
    if first_word.is_none() && modifiers.is_some() {
        first_word = node.children(&mut node.walk()).skip(1).find(|child| !child.is_extra());
    }
    if let Some(word) = first_word {
        definition.signature.start = word.start_byte() as u32;
    }
    if cx.source()[..node.end_byte()].ends_with(b";") {
        definition.signature.end -= 1;
    }
    definition
}

/// The Javadoc comment before byte `start`. As in the compiler, blank lines and other comments may be between.
fn javadoc(cx: &Cx<'_, '_>, start: usize) -> Span {
    let source = cx.source();
    let mut end = start;
    loop {
        let before = source[..end].trim_ascii_end();
        if before.ends_with(b"*/") {
            let doc = cx.doc_above(before.len(), |opening| opening.starts_with("/**") && opening != "/**/");
            if !doc.is_empty() {
                return doc;
            }
            let Some(opening) = memchr::memmem::rfind(&before[..before.len() - 2], b"/*") else { break };
            end = opening;
            continue;
        }
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        if !before[line..].trim_ascii_start().starts_with(b"//") {
            break;
        }
        end = line;
    }
    Span::default()
}
