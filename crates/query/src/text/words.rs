//! Words of code that may name something, and the binding of local names. It uses syntax only, for code without facts.

use std::collections::HashMap;

use tree_sitter::{Node, TreeCursor};

use super::colours::Colour;
use super::trees::IsOver;
use codelode_base::model::Span;
use codelode_lang::extract::{is_member, is_part};
use codelode_lang::languages::{KEYED, LanguageSpec};

/// A word that may name something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its place.
    pub span: Span,
    /// Its colour.
    pub colour: Option<Colour>,
    /// The place that binds it, if it is local; its own place if it is bound there.
    pub bound: Option<Span>,
    /// The place in an import statement that writes it, if it is not bound otherwise.
    pub imported: Option<Span>,
    /// Whether it stands for the enclosing object: `self`, `this`.
    pub is_own: bool,
}

/// Words for the enclosing object.
const OWN: [&[u8]; 5] = [b"self", b"this", b"Self", b"cls", b"$this"];
/// The most nodes between a name and its binding construct.
const NEAR: usize = 6;
/// Nodes between two checks of the time.
const BETWEEN_LOOKS: u32 = 1 << 10;

/// Words in a part of a text, in order. `painted` are the colours of that part.
pub(super) fn words(
    root: Node<'_>,
    content: &[u8],
    part: Span,
    painted: &[Option<Colour>],
    spec: &'static LanguageSpec,
    is_over: IsOver<'_>,
) -> Vec<Word> {
    if spec.is_document {
        return Vec::new();
    }
    let mut walk =
        Walk { content, spec, frames: Vec::new(), kinds: Vec::new(), leaves: Vec::new(), imports: HashMap::new() };
    walk.run(root.walk(), part, is_over);
    let (leaves, imports) = (walk.leaves, walk.imports);
    let mut of_name: HashMap<&[u8], Vec<&SyntaxWord>> = HashMap::new();
    for leaf in leaves.iter().filter(|leaf| !leaf.is_member) {
        of_name.entry(leaf.span.of(content)).or_default().push(leaf);
    }
    let mut found = Vec::new();
    for leaf in leaves.iter().filter(|leaf| part.contains(leaf.span)) {
        let colour = painted.get((leaf.span.start - part.start) as usize).copied().flatten();
        let text = leaf.span.of(content);
        let is_own = OWN.contains(&text);
        let is_other = matches!(colour, Some(Colour::Comment | Colour::Text | Colour::Number | Colour::Keyword));
        if is_own || !is_other && !leaf.is_constant {
            let same = of_name.get(text).map(Vec::as_slice).filter(|_| !leaf.is_member);
            let bound = same.and_then(|same| leaf.bound(same));
            let is_imported = bound.is_none() && !leaf.is_member;
            let imported = imports.get(text).copied().filter(|import| is_imported && *import != leaf.span);
            found.push(Word { span: leaf.span, colour, bound, imported, is_own });
        }
    }
    found
}

/// Whether a name is bound at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binds {
    No,
    /// An assignment, which may bind it.
    Maybe,
    Yes,
}

/// A word in the syntax tree.
struct SyntaxWord {
    span: Span,
    binds: Binds,
    /// The innermost block around it.
    scope: Span,
    /// The outermost function around it; `None` outside functions.
    function: Option<Span>,
    /// Whether it belongs to the name before it, or is a key.
    is_member: bool,
    /// Whether it is a literal word, such as `true`.
    is_constant: bool,
}

impl SyntaxWord {
    /// The place where it is bound, given all equal words of the text in order. It is the last binding before it in an
    /// enclosing block, else the first assignment in its function, else the first occurrence there.
    fn bound(&self, same: &[&Self]) -> Option<Span> {
        let before = &same[..same.partition_point(|other| other.span.start <= self.span.start)];
        let is_around = |other: &&&Self| other.binds == Binds::Yes && other.scope.contains(self.span);
        if let Some(nearest) = before.iter().rev().find(is_around) {
            return Some(nearest.span);
        }
        let function = self.function?;
        let mut inside = same.iter().filter(|other| function.contains(other.span));
        let assigned = inside.clone().find(|other| other.binds == Binds::Maybe && other.function == self.function);
        // A word that occurs once is bound elsewhere.
        let first = || inside.next().filter(|first| first.span != self.span);
        assigned.or_else(first).map(|first| first.span)
    }
}

/// Traits of a kind of nodes, by its name.
#[derive(Clone, Copy)]
struct NodeTraits {
    is_scope: bool,
    is_function: bool,
    is_parameter: bool,
    is_variable: bool,
    is_loop: bool,
    is_short: bool,
    is_assignment: bool,
    is_target: bool,
    is_keyed: bool,
    /// It holds a type next to a name.
    is_type: bool,
    is_import: bool,
    is_constant: bool,
    is_name: bool,
}

impl NodeTraits {
    fn kind(kind: &str, spec: &LanguageSpec) -> Self {
        let has = |all: &[&str]| all.iter().any(|part| kind.contains(part));
        let is_function = has(&["function", "method", "lambda", "closure", "arrow", "constructor_decl", "do_block"]);
        Self {
            is_scope: is_function
                || has(&["block", "body", "for", "match_arm", "case", "clause", "comprehension", "compound"])
                || has(&["program", "module", "source_file", "translation_unit", "class"])
                || kind.ends_with("_item")
                || has(&["interface_decl", "record_decl", "type_alias", "enum_decl", "struct_decl", "type_decl"]),
            is_function,
            is_parameter: kind.contains("parameter"),
            is_variable: has(&["variable_decl", "var_", "let_", "binding", "declarator", "const_decl", "local_"]),
            is_loop: kind.starts_with("for") || has(&["for_", "foreach", "enhanced_for", "range_clause", "generator"]),
            is_short: kind.contains("short_var"),
            is_assignment: kind.contains("assignment"),
            is_target: kind.contains("pattern_target"),
            is_keyed: KEYED.contains(&kind),
            is_type: has(&["type", "bound", "constraint"]),
            is_import: spec.imports.iter().any(|(own, _)| *own == kind),
            is_constant: has(&[
                "primitive",
                "predefined",
                "builtin",
                "integral",
                "floating",
                "void",
                "boolean",
                "literal",
            ]) || has(&["comment", "string", "regex", "escape", "content", "number", "integer", "float"])
                || matches!(kind, "true" | "false" | "null" | "nil" | "none" | "undefined" | "super"),
            is_name: has(&["identifier", "name", "variable", "constant", "symbol", "alias", "atom"]),
        }
    }
}

/// An ancestor of the current node.
struct Frame<'t> {
    of: NodeTraits,
    /// Its field name in its parent.
    field: &'t str,
    span: Span,
}

struct Walk<'a, 't> {
    content: &'a [u8],
    spec: &'static LanguageSpec,
    frames: Vec<Frame<'t>>,
    /// Traits of each node kind seen so far.
    kinds: Vec<Option<NodeTraits>>,
    leaves: Vec<SyntaxWord>,
    /// Words of import statements.
    imports: HashMap<&'a [u8], Span>,
}

impl<'a, 't> Walk<'a, 't> {
    /// Visits all nodes of the top-level parts of a text that overlap `part`.
    fn run(&mut self, mut cursor: TreeCursor<'t>, part: Span, is_over: IsOver<'_>) {
        let mut visited = 0u32;
        loop {
            visited += 1;
            if visited.is_multiple_of(BETWEEN_LOOKS) && is_over() {
                return;
            }
            let node = cursor.node();
            let span = Span::new(node.start_byte(), node.end_byte());
            if span.start >= part.end {
                return;
            }
            // Words before `part`, in a construct that overlaps it, may bind words inside.
            let of = self.traits(node);
            let is_outside = self.frames.len() == 1 && span.end <= part.start && !of.is_import;
            let field = cursor.field_name().unwrap_or_default();
            if !is_outside && cursor.goto_first_child() {
                self.frames.push(Frame { of, field, span });
                continue;
            }
            if !is_outside && node.is_named() {
                self.leaf(span, of, field);
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.frames.pop();
            }
        }
    }

    /// Traits of a node's kind.
    fn traits(&mut self, node: Node<'_>) -> NodeTraits {
        let kind = usize::from(node.kind_id());
        if kind >= self.kinds.len() {
            self.kinds.resize(kind + 1, None);
        }
        *self.kinds[kind].get_or_insert_with(|| NodeTraits::kind(node.kind(), self.spec))
    }

    /// Keeps a leaf that may name something.
    fn leaf(&mut self, span: Span, of: NodeTraits, field: &'t str) {
        if self.frames.iter().any(|frame| frame.of.is_import) {
            self.import(span);
        }
        // In languages without name resolution, only nodes that are names count.
        if !is_word(span.of(self.content)) || self.spec.relating.is_none() && !of.is_name {
            return;
        }
        let parent = self.frames.last();
        let is_key = parent.is_some_and(|parent| parent.of.is_keyed && parent.span.start == span.start);
        let is_member = is_key
            || matches!(field, "property" | "attribute" | "field" | "key" | "member")
            // An arrow also precedes the type of a result.
            || field != "return_type" && is_member(self.content, span.start as usize);
        let scopes = self.frames.iter().rev().find(|frame| frame.of.is_scope);
        let outermost = self.frames.iter().find(|frame| frame.of.is_function);
        self.leaves.push(SyntaxWord {
            span,
            binds: if is_member { Binds::No } else { self.binds(field) },
            scope: scopes.map_or(Span::new(0, self.content.len()), |frame| frame.span),
            function: outermost.map(|frame| frame.span),
            is_member,
            is_constant: of.is_constant,
        });
    }

    /// Notes the name that a leaf of an import statement binds: the word itself, or the last part of a path.
    fn import(&mut self, leaf: Span) {
        let content: &'a [u8] = self.content;
        let text = leaf.of(content).trim_ascii();
        let mut parts = text.split(|byte| b"/.\"'`".contains(byte)).filter(|part| !part.is_empty());
        let is_version = |part: &&[u8]| part.len() < 4 && part[0] == b'v' && part[1..].iter().all(u8::is_ascii_digit);
        if let Some(name) = parts.rfind(|part| !is_version(part)).filter(|name| is_word(name)) {
            self.imports.entry(name).or_insert(leaf);
        }
    }

    /// Whether a leaf binds a name, by its field and its ancestors.
    fn binds(&self, mut field: &'t str) -> Binds {
        for parent in self.frames.iter().rev().take(NEAR) {
            match field {
                "pattern" | "alias" | "parameter" | "parameters" => return Binds::Yes,
                "left" | "lhs" | "name" if parent.of.is_loop || parent.of.is_short => return Binds::Yes,
                "left" | "lhs" if parent.of.is_assignment => return Binds::Maybe,
                "left" | "name" | "declarator" | "variable" | "" => {}
                _ => return Binds::No,
            }
            let is_whole = parent.of.is_parameter || parent.of.is_target;
            let is_name = matches!(field, "name" | "declarator" | "variable" | "") && parent.of.is_variable;
            if is_whole || is_name {
                return Binds::Yes;
            }
            if parent.of.is_scope || parent.of.is_type {
                return Binds::No;
            }
            field = parent.field;
        }
        Binds::No
    }
}

/// Whether a text is a word, with the signs that some languages write before and after names.
fn is_word(text: &[u8]) -> bool {
    let word = text.trim_ascii();
    let start = word.iter().take(2).take_while(|byte| b"@$:#%&".contains(byte)).count();
    let end = word.len() - usize::from(word.last().is_some_and(|byte| b"?!'".contains(byte)));
    let word = word.get(start..end).unwrap_or_default();
    !word.is_empty()
        && word.len() == text.len() - start - (text.len() - end)
        && !word[0].is_ascii_digit()
        && word.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use crate::text::colours::read;
    use crate::text::window::Pieces;
    use codelode_base::model::Span;
    use codelode_lang::languages::of_file;

    /// Words of a text, each with the line and column of its binding.
    fn check(path: &str, text: &str, expected: &str) {
        let spec = of_file(path, text.as_bytes()).expect("it is built in").1;
        let place = |span: Span| {
            let before = &text[..span.start as usize];
            format!(
                "{}:{}",
                before.matches('\n').count() + 1,
                before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1
            )
        };
        let found = read(text.as_bytes(), Span::new(0, text.len()), &Pieces::default(), spec, &|| false).words;
        let shown = found.iter().map(|word| {
            let name = &text[word.span.start as usize..word.span.end as usize];
            match word.bound {
                Some(bound) if bound == word.span => format!("{name}!"),
                Some(bound) => format!("{name}>{}", place(bound)),
                None if word.imported.is_some() => format!("{name}^"),
                None => name.to_owned(),
            }
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "\n{text}");
    }

    #[test]
    fn words_lead_to_where_syntax_binds_them() {
        check(
            "a.py",
            "def f(x, y=1):\n    z = x + y.x\n    for i in g(x=z): z += i\n",
            "f x! y! z! x>1:7 y>1:10 x i! g x z>2:5 z>2:5 i>3:9",
        );
        check("a.go", "package a\n\nimport \"net/http\"\n\nvar x = http.Get\n", "a x! http^ Get");
        check(
            "A.java",
            "class A<T extends B> {\n  T f(T one) { for (T two : one.all()) g(two); return one; }\n}\n",
            "A T! B T>1:9 f T>1:9 one! T>1:9 two! one>2:9 all g two>2:23 one>2:9",
        );
        check(
            "a.rs",
            "fn f<S: B>(one: S) -> S {\n    if let Some(two) = one { let one = two; g(one) }\n    one\n}\n",
            "f S! B one! S>1:6 S>1:6 Some two! one>1:12 one! two>2:17 g one>2:34 one>1:12",
        );
        check("a.ts", "import { a } from './a';\nconst f = <T>(x: T) => a(x);\n", "a f! T! x! T>2:12 a^ x>2:15");
    }
}
