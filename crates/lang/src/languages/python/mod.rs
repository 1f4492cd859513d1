//! Python: functions, methods and classes at any depth, values of modules and classes, and attributes set in
//! constructors.

mod conventions;
mod expressions;
mod fixtures;
mod globals;
mod imports;
mod lower;
mod made;
mod modules;
mod narrowing;
mod runner;
mod syntax;
mod types;

use tree_sitter::Node;

pub(super) use conventions::CONVENTIONS;

use super::definition::span_of;
use super::spec::grammar;
use super::{Comments, Cx, Definition, Distribution, LanguageSpec, Place, Relating, Rule};
use codelode_base::model::{Detail, Ecosystem, Kind, Span, Symbol};

/// Spec of Python.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "python",
    aliases: &["py"],
    extensions: &["py", "pyi", "pyw"],
    file_names: &["SConstruct", "SConscript"],
    interpreters: &["python", "pypy"],
    grammar: grammar!("python", tree_sitter_python, HIGHLIGHTS_QUERY),
    rules: RULES,
    silent: include_str!("silent.txt"),
    comments: Comments::HASH,
    conventions: &conventions::CONVENTIONS,
    relating: Some(RELATING),
    syntax: &syntax::SYNTAX,
    imports: imports::STATEMENTS,
    package: imports::package,
    distribution: Some(DISTRIBUTION),
    ..LanguageSpec::PLAIN
};

/// Python in the cells of a notebook, without a grammar and a name.
pub(super) const IN_CELLS: LanguageSpec = LanguageSpec {
    rules: RULES,
    comments: Comments::HASH,
    conventions: &conventions::CONVENTIONS,
    relating: Some(RELATING),
    syntax: &syntax::SYNTAX,
    imports: imports::STATEMENTS,
    package: imports::package,
    distribution: Some(DISTRIBUTION),
    ..LanguageSpec::PLAIN
};

const RELATING: Relating = Relating { lower: lower::lower, shapes: &[], semantics: &modules::SEMANTICS };
const DISTRIBUTION: Distribution = Distribution { ecosystem: Ecosystem::PyPi, is_standard: modules::is_standard };

const RULES: &[(Rule, &[&str])] = &[
    (Rule::Define(function), &["function_definition"]),
    (Rule::Define(class), &["class_definition"]),
    (Rule::Define(assignment), &["assignment"]),
    (Rule::Define(alias), &["type_alias_statement"]),
    (Rule::Define(case), &["case_clause"]),
    (
        Rule::Branch,
        &[
            "if_statement",
            "elif_clause",
            "for_statement",
            "while_statement",
            "except_clause",
            "conditional_expression",
            "and",
            "or",
            "for_in_clause",
            "if_clause",
        ],
    ),
    (
        Rule::WalkIf(holds_branches),
        &[
            "call",
            "attribute",
            "argument_list",
            "subscript",
            "binary_operator",
            "comparison_operator",
            "list",
            "tuple",
            "dictionary",
            "parenthesized_expression",
            "return_statement",
            "assert_statement",
            "raise_statement",
            "keyword_argument",
            "pair",
        ],
    ),
    (Rule::Skip, &["string", "parameters", "lambda_parameters", "type", "type_parameter", "decorator", "case_pattern"]),
];

/// `def` and `async def`.
fn function(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let body = node.child_by_field_name("body");
    let decorators = decorators(cx);
    let (kind, detail) = match cx.place() {
        Place::Type => (Kind::Method, method_detail(cx, &decorators, name)),
        _ => (Kind::Function, Detail::Function),
    };
    define(cx, node, body, Definition { decorators, ..Definition::new(node, name, kind, detail) });
}

fn class(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let decorators = decorators(cx);
    let body = node.child_by_field_name("body");
    define(cx, node, body, Definition { decorators, ..Definition::new(node, name, Kind::Class, Detail::Class) });
}

/// Defines a function or class: the signature ends before the colon, the docstring is the first statement, and
/// decorators are part of it.
fn define(cx: &mut Cx<'_, '_>, node: Node<'_>, body: Option<Node<'_>>, definition: Definition) {
    let mut definition = definition.before(colon(node).or(body));
    definition.doc = body.and_then(|body| docstring(cx, body)).unwrap_or_default();
    let outer = cx.outermost(node, &["decorated_definition"]);
    definition.span = span_of(outer);
    cx.define(definition);
}

/// The colon before the body.
fn colon(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).filter(|child| child.kind() == ":").last()
}

/// The docstring of a body (PEP 257). Bytes and formatted strings do not count.
fn docstring(cx: &Cx<'_, '_>, body: Node<'_>) -> Option<Span> {
    let mut cursor = body.walk();
    let first = body.named_children(&mut cursor).find(|child| !child.is_extra())?;
    let string = match first.kind() {
        "string" => first,
        "expression_statement" => first.named_child(0).filter(|child| child.kind() == "string")?,
        _ => return None,
    };
    let text = span_of(string).of(cx.source());
    let mut prefix = text.iter().take_while(|byte| byte.is_ascii_alphabetic());
    prefix.all(|byte| b"rRuU".contains(byte)).then_some(span_of(string))
}

/// Decorators of the current definition.
fn decorators(cx: &Cx<'_, '_>) -> Vec<Span> {
    let Some(outer) = cx.ancestor(0).filter(|outer| outer.kind() == "decorated_definition") else { return Vec::new() };
    let mut cursor = outer.walk();
    outer.named_children(&mut cursor).filter(|child| child.kind() == "decorator").map(span_of).collect()
}

/// Kind of a method, by its decorators or its name.
fn method_detail(cx: &Cx<'_, '_>, decorators: &[Span], name: Node<'_>) -> Detail {
    if cx.text(name) == "__init__" {
        return Detail::Constructor;
    }
    for decorator in decorators {
        let text = std::str::from_utf8(decorator.of(cx.source())).unwrap_or_default();
        let text = text.trim_start_matches('@').split('(').next().unwrap_or_default().trim();
        // Includes variants of `property`: `cached_property`, `abc.abstractproperty`, `hybrid_property`.
        match text.rsplit('.').next().unwrap_or_default() {
            "getter" => return Detail::Getter,
            "setter" => return Detail::Setter,
            name if name.ends_with("property") => return Detail::Getter,
            _ => {}
        }
    }
    Detail::Method
}

/// `NAME = value` and `name: type`. Defines each name on the left, also in `a, (b, *c) = …` and `a = b = …`.
fn assignment(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    // The first assignment of a chain handles all of it.
    if cx.ancestor(0).is_some_and(|parent| parent.kind() == "assignment") {
        return;
    }
    let place = cx.place();
    let is_local = place == Place::Function && !initializes(cx);
    let mut names = Vec::new();
    let mut value = Some(node);
    while let Some(chained) = value.filter(|value| value.kind() == "assignment") {
        names.extend(chained.child_by_field_name("left"));
        value = chained.child_by_field_name("right");
    }
    let lambda = value.filter(|value| value.kind() == "lambda");
    if is_local && lambda.is_none() {
        return;
    }
    let is_enum = place == Place::Type && value.is_some() && is_enum(cx);
    let doc = if is_local { Span::default() } else { doc_below(cx, node) };
    names.reverse();
    while let Some(name) = names.pop() {
        match (name.kind(), lambda) {
            // A lambda bound to a name counts as a function.
            ("identifier", Some(lambda)) => {
                let (kind, detail) = match place {
                    Place::Type => (Kind::Method, Detail::Method),
                    _ => (Kind::Function, Detail::Function),
                };
                cx.define(Definition { doc, ..Definition::new(node, name, kind, detail).before(colon(lambda)) });
            }
            ("identifier", None) if place != Place::Function => {
                let detail = value_detail(cx.text(name), place, is_enum);
                cx.define(Definition { doc, ..Definition::new(node, name, Kind::Constant, detail) });
            }
            ("attribute", _) if !is_local && place == Place::Function => attribute(cx, node, name, doc),
            ("pattern_list" | "tuple_pattern" | "list_pattern" | "list_splat_pattern", _) => {
                let first = names.len();
                let mut cursor = name.walk();
                names.extend(name.named_children(&mut cursor));
                names[first..].reverse();
            }
            _ => {}
        }
    }
}

/// Kind of a value by its spelling: capitals are constants (PEP 8).
fn value_detail(name: &str, place: Place, is_enum: bool) -> Detail {
    let is_constant = name.contains(char::is_alphabetic) && !name.contains(char::is_lowercase);
    match place {
        Place::Type if is_enum && !name.starts_with('_') => Detail::Member,
        _ if is_constant => Detail::Constant,
        Place::Type => Detail::Field,
        _ => Detail::Variable,
    }
}

/// Whether the enclosing class is an enumeration, by the names of its bases.
fn is_enum(cx: &Cx<'_, '_>) -> bool {
    let signature = cx.enclosing().map(|class| class.signature.of(cx.source())).unwrap_or_default();
    let Some(bases) = memchr::memchr(b'(', signature).map(|at| &signature[at + 1..]) else { return false };
    let mut words = bases.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    words.any(|word| word.ends_with(b"Enum") || word.ends_with(b"Flag") || word.ends_with(b"Choices"))
}

/// Methods whose assignments to `self` define attributes.
const INITIALIZERS: &[&[u8]] =
    &[b"__init__", b"__new__", b"__post_init__", b"__attrs_post_init__", b"setUp", b"asyncSetUp"];

/// Whether the current node is directly in such a method.
fn initializes(cx: &Cx<'_, '_>) -> bool {
    let name = |symbol: &Symbol| symbol.name.of(cx.source());
    cx.enclosing().is_some_and(|symbol| symbol.kind == Kind::Method && INITIALIZERS.contains(&name(symbol)))
}

/// `self.name = value`: a field of the class, defined at the first assignment.
fn attribute(cx: &mut Cx<'_, '_>, statement: Node<'_>, target: Node<'_>, doc: Span) {
    let object = target.child_by_field_name("object");
    let (Some(object), Some(name)) = (object, target.child_by_field_name("attribute")) else { return };
    if cx.text(object) == "self" && !cx.outer_has(cx.text(name)) {
        let definition = Definition::new(statement, name, Kind::Constant, Detail::Field);
        cx.define(Definition { doc, of_outer: true, ..definition });
    }
}

/// The triple-quoted string directly below a statement at the same indentation, which Sphinx and others read as the
/// documentation of a value.
fn doc_below(cx: &Cx<'_, '_>, statement: Node<'_>) -> Span {
    let rest = cx.source().get(statement.end_byte()..).unwrap_or_default();
    let Some(newline) = memchr::memchr(b'\n', rest) else { return Span::default() };
    let line_end = rest[..newline].trim_ascii();
    let below = &rest[newline + 1..];
    let indent = below.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let string = &below[indent..];
    let prefix = string.iter().take_while(|byte| b"rRuU".contains(byte)).count();
    let quotes = string.get(prefix..prefix + 3).unwrap_or_default();
    let is_documentation = matches!(quotes, b"\"\"\"" | b"\'\'\'")
        && indent == statement.start_position().column
        && (line_end.is_empty() || line_end.starts_with(b"#"));
    if !is_documentation {
        return Span::default();
    }
    let inside = &string[prefix + 3..];
    let Some(length) = memchr::memmem::find(inside, quotes) else { return Span::default() };
    let start = statement.end_byte() + newline + 1 + indent;
    Span::new(start, start + prefix + 3 + length + 3)
}

/// Whether an expression may contain a branch; nothing else in it matters. Most are short, and checking their text is
/// much cheaper than visiting their nodes.
fn holds_branches(cx: &Cx<'_, '_>, node: Node<'_>) -> bool {
    const SHORT: usize = 256;
    let text = span_of(node).of(cx.source());
    // Long ones are walked, so that nested expressions are not checked again at each level.
    if text.len() > SHORT {
        return true;
    }
    // Matches `or`, `for`, `and` and `if` by their last two letters and the next character.
    let ends = text.windows(2).zip(text.iter().skip(2).chain(b" "));
    let mut ends = ends.filter(|(_, next)| !(next.is_ascii_alphanumeric() || **next == b'_'));
    ends.any(|(end, _)| matches!(end, b"or" | b"nd" | b"if"))
}

/// Counts a case as a branch, except `case _`.
fn case(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let text = span_of(node).of(cx.source()).strip_prefix(b"case").unwrap_or_default().trim_ascii_start();
    let rest = text.strip_prefix(b"_").map(|rest| rest.trim_ascii_start());
    if !rest.is_some_and(|rest| rest.starts_with(b":")) {
        cx.branch();
    }
}

/// `type Name = …`.
fn alias(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let mut name = node.child_by_field_name("left").or_else(|| node.named_child(0));
    while let Some(inner) = name.filter(|name| name.kind() != "identifier").and_then(|name| name.named_child(0)) {
        name = Some(inner);
    }
    if let Some(name) = name {
        cx.define(Definition::new(node, name, Kind::Type, Detail::Alias));
    }
}
