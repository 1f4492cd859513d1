//! Go: functions, methods, types with their fields and methods, and package-level values.

mod conventions;
mod expressions;
pub(super) mod libraries;
mod lower;
mod modules;
mod runner;
mod shapes;
mod syntax;
mod types;

use tree_sitter::Node;

use super::definition::span_of;
use super::spec::grammar;
use super::{Comments, Cx, Definition, Distribution, LanguageSpec, Relating, Rule};
use codelode_base::model::{Detail, Ecosystem, Kind, Span};

/// Spec of Go.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "go",
    aliases: &["golang"],
    extensions: &["go"],
    grammar: grammar!("go", tree_sitter_go, HIGHLIGHTS_QUERY),
    rules: &[
        (Rule::Define(package), &["package_clause"]),
        (Rule::Define(function), &["function_declaration"]),
        (Rule::Define(method), &["method_declaration"]),
        (Rule::Define(type_spec), &["type_spec", "type_alias"]),
        (Rule::Define(values), &["const_spec", "var_spec"]),
        (Rule::Define(fields), &["field_declaration"]),
        (Rule::Define(interface_method), &["method_elem"]),
        (
            Rule::Branch,
            &["if_statement", "for_statement", "expression_case", "type_case", "communication_case", "&&", "||"],
        ),
        (Rule::WalkIf(may_hold), EXPRESSIONS),
        (Rule::Skip, SILENT),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::C,
    conventions: &conventions::CONVENTIONS,
    relating: Some(Relating { lower: lower::lower, shapes: shapes::SHAPES, semantics: &modules::SEMANTICS }),
    syntax: &syntax::SYNTAX,
    // One of a group stands alone.
    imports: &[("import_spec", "import ")],
    distribution: Some(Distribution { ecosystem: Ecosystem::Golang, is_standard: modules::is_standard }),
    ..LanguageSpec::PLAIN
};

/// Kinds that are skipped although they may contain fields: those of anonymous types cannot be referenced by name.
const SILENT: &[&str] = &["function_type", "generic_type", "parameter_list", "type_arguments", "type_parameter_list"];

/// Expressions, types and simple statements: most nodes of a file, but few contain symbols.
const EXPRESSIONS: &[&str] = &[
    "argument_list",
    "array_type",
    "assignment_statement",
    "binary_expression",
    "call_expression",
    "channel_type",
    "dec_statement",
    "defer_statement",
    "expression_list",
    "expression_statement",
    "for_clause",
    "go_statement",
    "inc_statement",
    "index_expression",
    "keyed_element",
    "literal_element",
    "literal_value",
    "map_type",
    "parenthesized_expression",
    "pointer_type",
    "range_clause",
    "return_statement",
    "selector_expression",
    "send_statement",
    "short_var_declaration",
    "slice_expression",
    "slice_type",
    "type_assertion_expression",
    "type_conversion_expression",
    "unary_expression",
];

/// Maximum length of a text checked before it is walked. Longer ones mostly contain symbols, and their parts are
/// checked again.
const LOOK: usize = 256;

/// Whether an expression may contain a definition or a branch: functions, structs and interfaces have a `{`, branches
/// have `&&` or `||`. Checking the bytes is much faster than visiting the nodes.
fn may_hold(cx: &Cx<'_, '_>, node: Node<'_>) -> bool {
    let text = span_of(node).of(cx.source());
    // A brace at the very beginning opens a list of values.
    let mut last = text.first().copied().unwrap_or_default();
    text.len() > LOOK
        || text.iter().skip(1).any(|byte| {
            let before = std::mem::replace(&mut last, *byte);
            *byte == b'{' || (matches!(byte, b'&' | b'|') && before == *byte)
        })
}

/// `package name`, only in a file with package documentation, so that a package has one symbol.
fn package(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = node.named_child(0) else { return };
    let doc = doc_above(cx, node.start_byte());
    if !doc.is_empty() {
        cx.define(Definition { doc, ..Definition::new(node, name, Kind::Type, Detail::Namespace) });
    }
}

fn function(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    callable(cx, node, Kind::Function, Detail::Function, Span::default());
}

fn method(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let receiver = node.child_by_field_name("receiver").and_then(receiver_type);
    callable(cx, node, Kind::Method, Detail::Method, receiver.map(span_of).unwrap_or_default());
}

/// The type name of a receiver, without `*`, parentheses and type arguments.
fn receiver_type(list: Node<'_>) -> Option<Node<'_>> {
    let parameter = list.named_children(&mut list.walk()).find(|child| child.kind() == "parameter_declaration")?;
    base_type(parameter.child_by_field_name("type")?)
}

/// The name of a type: `T` of `*pkg.T[int]`.
fn base_type(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        node = match node.kind() {
            "type_identifier" => return Some(node),
            "generic_type" => node.child_by_field_name("type")?,
            "qualified_type" => node.child_by_field_name("name")?,
            "pointer_type" | "parenthesized_type" => node.named_child(0)?,
            _ => return None,
        }
    }
}

fn callable(cx: &mut Cx<'_, '_>, node: Node<'_>, kind: Kind, detail: Detail, container: Span) {
    let Some(name) = node.child_by_field_name("name").filter(|name| is_name(cx, *name)) else { return };
    let body = node.child_by_field_name("body");
    let doc = doc_above(cx, node.start_byte());
    let definition = Definition::new(node, name, kind, detail).before(body);
    cx.define(Definition { doc, container, runs: body.is_some(), ..definition });
}

/// `Name Type` and `Name = Type`, after `type` or in a group.
fn type_spec(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name").filter(|name| is_name(cx, *name)) else { return };
    let meaning = node.child_by_field_name("type");
    let sort = meaning.map(|meaning| meaning.kind()).unwrap_or_default();
    let (kind, detail) = match sort {
        _ if node.kind() == "type_alias" => (Kind::Type, Detail::Alias),
        "struct_type" => (Kind::Class, Detail::Struct),
        "interface_type" => (Kind::Type, Detail::Interface),
        _ => (Kind::Type, Detail::NamedType),
    };
    let body = match (sort, meaning) {
        ("struct_type", Some(meaning)) => meaning.named_child(0),
        ("interface_type", Some(meaning)) => meaning.child(1),
        _ => None,
    };
    let (outer, doc) = outer_and_doc(cx, node);
    cx.define(Definition { doc, ..Definition::new(node, name, kind, detail).within(outer).before(body) });
}

/// The names of one package-level line of `const` or `var`.
fn values(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    if cx.enclosing().is_some() || !is_of_package(cx) {
        return;
    }
    let detail = if node.kind() == "const_spec" { Detail::Constant } else { Detail::Variable };
    let (outer, doc) = outer_and_doc(cx, node);
    let value = node.child_by_field_name("value").and_then(|values| values.named_child(0));
    let function = value.filter(|value| value.kind() == "func_literal");
    let body = function.and_then(|function| function.child_by_field_name("body"));
    for name in names(cx, node) {
        let definition = Definition::new(node, name, Kind::Constant, detail).within(outer).before(body);
        cx.define(Definition { doc, runs: body.is_some(), ..definition });
    }
}

/// Whether the current `const` or `var` line is outside of all functions, including anonymous ones.
fn is_of_package(cx: &Cx<'_, '_>) -> bool {
    let kind = |up: usize| cx.ancestor(up).map(|around| around.kind()).unwrap_or_default();
    // The parent is the declaration, or for `var (…)` a list in it.
    let around = if kind(0) == "var_spec_list" { kind(2) } else { kind(1) };
    matches!(around, "source_file" | "ERROR")
}

/// The names declared by a line, without blank ones.
fn names<'t>(cx: &Cx<'_, '_>, node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let found = node.children_by_field_name("name", &mut cursor).filter(|name| name.is_named() && is_name(cx, *name));
    found.collect()
}

/// Whether a name is not the blank identifier.
fn is_name(cx: &Cx<'_, '_>, name: Node<'_>) -> bool {
    cx.text(name) != "_"
}

/// Struct fields, `a, b Type`, and an embedded `Type`, whose field has the type's name.
fn fields(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    if !is_member(cx) {
        return;
    }
    let mut names = names(cx, node);
    if names.is_empty() && node.child_by_field_name("name").is_none() {
        names.extend(node.child_by_field_name("type").and_then(base_type));
    }
    if names.is_empty() {
        return;
    }
    let doc = doc_of_line(cx, node);
    for name in names {
        cx.define(Definition { doc, ..Definition::new(node, name, Kind::Constant, Detail::Field) });
    }
}

/// An interface method, `Name(parameters) results`.
fn interface_method(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name").filter(|name| is_member(cx) && is_name(cx, *name)) else {
        return;
    };
    let doc = doc_of_line(cx, node);
    cx.define(Definition { doc, runs: false, ..Definition::new(node, name, Kind::Method, Detail::Method) });
}

/// Whether a struct field or interface method belongs to a symbol. Anonymous types of parameters and local variables
/// do not.
fn is_member(cx: &Cx<'_, '_>) -> bool {
    let Some(owner) = cx.enclosing() else { return false };
    match owner.kind {
        Kind::Function | Kind::Method => false,
        Kind::Class | Kind::Type => true,
        // A package-level variable or a field, but possibly in a function literal that is its value.
        Kind::Constant => {
            let inside = |around: &Node<'_>| around.start_byte() > owner.span.start as usize;
            let mut around = (0..).map_while(|up| cx.ancestor(up)).take_while(inside);
            !around.any(|around| around.kind() == "func_literal")
        }
    }
}

/// The span and documentation of a declared name: the whole declaration if it has only this line, else the line.
/// Without a comment of its own, a line has its group's comment, as in godoc.
fn outer_and_doc<'t>(cx: &Cx<'_, 't>, node: Node<'t>) -> (Node<'t>, Span) {
    let (declaration, grouped) = match (cx.ancestor(0), cx.ancestor(1)) {
        (Some(list), Some(declaration)) if list.kind() == "var_spec_list" => (declaration, true),
        (Some(declaration), _) if declaration.kind().ends_with("_declaration") => {
            let mut cursor = declaration.walk();
            let mut behind_keyword = declaration.children(&mut cursor).skip(1).filter(|child| !child.is_extra());
            (declaration, behind_keyword.next().is_some_and(|child| child.kind() == "("))
        }
        _ => (node, false),
    };
    let outer = if grouped { node } else { declaration };
    let mut doc = doc_of_line(cx, outer);
    if doc.is_empty() && grouped {
        doc = doc_above(cx, declaration.start_byte());
    }
    (outer, doc)
}

/// The comment above a line, or else the one at its end.
fn doc_of_line(cx: &Cx<'_, '_>, node: Node<'_>) -> Span {
    let doc = doc_above(cx, node.start_byte());
    if doc.is_empty() { doc_behind(cx.source(), node.end_byte()) } else { doc }
}

/// The comment directly above byte `start`, skipping directives.
fn doc_above(cx: &Cx<'_, '_>, start: usize) -> Span {
    let source = cx.source();
    let mut start = start;
    loop {
        let line = source[..start].trim_ascii_end();
        let begin = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let gap = &source[line.len()..start];
        if gap.iter().filter(|byte| **byte == b'\n').count() != 1 || !is_directive(line[begin..].trim_ascii_start()) {
            break;
        }
        start = begin;
    }
    cx.doc_above(start, |opening| !is_directive(opening.as_bytes()))
}

/// The comment between byte `end` and the end of the line.
fn doc_behind(source: &[u8], end: usize) -> Span {
    let rest = source.get(end..).unwrap_or_default();
    let line = rest.iter().position(|byte| *byte == b'\n').map_or(rest, |newline| &rest[..newline]).trim_ascii_end();
    let comment = line.trim_ascii_start();
    if comment.starts_with(b"//") && !is_directive(comment) || comment.starts_with(b"/*") && comment.ends_with(b"*/") {
        return Span::new(end + line.len() - comment.len(), end + line.len());
    }
    Span::default()
}

/// Whether a comment is a directive to a tool: `//go:embed`, `//nolint:all`, `//export name`, `// +build`.
fn is_directive(comment: &[u8]) -> bool {
    let Some(text) = comment.strip_prefix(b"//") else { return false };
    if [b"line ".as_slice(), b"extern ", b"export ", b"nolint", b" +build "].iter().any(|word| text.starts_with(word)) {
        return true;
    }
    let tool = text.iter().take_while(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()).count();
    let follows = |at: usize| text.get(at).copied().unwrap_or_default();
    tool > 0 && follows(tool) == b':' && (follows(tool + 1).is_ascii_lowercase() || follows(tool + 1).is_ascii_digit())
}
