//! Local names: where a parameter or a local variable is bound and used, by the scopes in its file's facts.

use std::collections::{BTreeMap, HashMap};

use super::{FileExtractor, Limits, facts_with_locals};
use crate::facts::{BindingKind, ExpressionId, Facts, LazyFacts, NameId, Op, ScopeId, ScopeKind, hash};
use crate::languages::{KEYED, LanguageSpec};
use crate::parsing::SyntaxTree;
use codelode_base::model::Span;

/// A local name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Where it is bound, or else used first.
    pub definition: Span,
    /// Its uses, ascending, without the definition.
    pub uses: Vec<Span>,
}

/// Finds the local name at a byte of a function. `facts` are those of the file, `function` the span of the outermost
/// function around the byte. Names that facts do not bind to a function's scope are not found.
pub fn local_at(
    spec: &'static LanguageSpec,
    source: &[u8],
    facts: &LazyFacts<'_>,
    function: Span,
    byte: u32,
) -> Option<Local> {
    let here = word_at(source, byte)?;
    let is_here = |local: &Local| local.definition == here || local.uses.contains(&here);
    if spec.reads_locals {
        return read_again(spec, source, function).into_iter().find(is_here);
    }
    let facts = facts.get()?;
    let name = std::str::from_utf8(here.of(source)).ok()?;
    let scopes = uses(&facts, source, name, function);
    let bound = tokens(spec, source, name, function);
    bind(&facts, scopes, bound).into_iter().find(is_here)
}

/// The local names of a function whose facts hold no uses of them.
fn read_again(spec: &'static LanguageSpec, source: &[u8], function: Span) -> Vec<Local> {
    let text = function.of(source);
    let packed = facts_with_locals(spec, text).unwrap_or_default();
    let packed = LazyFacts::new(&packed);
    let Some(facts) = packed.get() else { return Vec::new() };
    let moved = |span: Span| Span { start: span.start + function.start, end: span.end + function.start };
    in_function(spec, &facts, text, Span::new(0, text.len()))
        .into_iter()
        .map(|local| Local { definition: moved(local.definition), uses: local.uses.into_iter().map(moved).collect() })
        .collect()
}

/// The local names of a function.
fn in_function(spec: &'static LanguageSpec, facts: &Facts<'_>, source: &[u8], function: Span) -> Vec<Local> {
    let mut names = all_uses(facts, source, function);
    let mut words = all_tokens(spec, source, &names, function);
    let mut found = Vec::new();
    while let Some((name, scopes)) = names.pop_first() {
        found.extend(bind(facts, scopes, words.remove(name).unwrap_or_default()));
    }
    found
}

/// All local names of some functions that do not overlap, as [`local_at`] finds each.
pub fn locals(spec: &'static LanguageSpec, source: &[u8], packed: &[u8], functions: &[Span]) -> Vec<Local> {
    if spec.reads_locals {
        return functions.iter().flat_map(|function| read_again(spec, source, *function)).collect();
    }
    let packed = LazyFacts::new(packed);
    let Some(facts) = packed.get() else { return Vec::new() };
    functions.iter().flat_map(|function| in_function(spec, &facts, source, *function)).collect()
}

/// Gives each scope's uses of a name their definition among the words that are no use. Inner scopes first: each takes the last
/// place before its first use that no inner one has taken.
fn bind(facts: &Facts<'_>, mut scopes: Scopes, mut bound: Vec<Span>) -> Vec<Local> {
    let written: Vec<Span> = scopes.values().flatten().copied().collect();
    bound.retain(|token| !written.contains(token));
    let mut locals: Vec<Local> = Vec::new();
    let mut order: Vec<(usize, ScopeId)> = scopes.keys().map(|scope| (depth(facts, *scope), *scope)).collect();
    order.sort_unstable_by(|a, b| b.cmp(a));
    for (_, scope) in order {
        let mut uses = scopes.remove(&scope).unwrap_or_default();
        uses.sort_unstable();
        let Some(first) = uses.first().copied() else { continue };
        let definition = match bound.iter().rposition(|token| *token < first) {
            Some(place) => bound.remove(place),
            None => uses.remove(0),
        };
        locals.push(Local { definition, uses });
    }
    locals
}

/// Position of the import that binds the name at a byte of a file, such as a module's name where it is used.
pub fn import_of(source: &[u8], facts: &LazyFacts<'_>, byte: u32) -> Option<u32> {
    let facts = facts.get()?;
    let here = word_at(source, byte)?;
    let occurrence = facts.occurrences.iter().find(|occurrence| occurrence.at == here.start)?;
    let name = facts.expressions.get(occurrence.expression.row()).filter(|it| it.op == Op::Name)?;
    let mut scope = ScopeId(name.a);
    while scope != ScopeId::NONE && facts.bound(scope, NameId(name.b)).is_empty() {
        scope = facts.scopes[scope.row()].parent;
    }
    let bound = if scope == ScopeId::NONE { 0..0 } else { facts.bound(scope, NameId(name.b)) };
    let mut aliases = facts.bindings[bound.start as usize..bound.end as usize].iter();
    let alias = aliases.find(|binding| binding.kind == BindingKind::Alias)?;
    Some(facts.imports.iter().find(|import| import.expression == ExpressionId(alias.a))?.at)
}

/// Whether a byte is part of a word.
pub fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte > 127
}

/// The word that holds a byte, or ends there.
pub fn word_at(source: &[u8], byte: u32) -> Option<Span> {
    let byte = (byte as usize).min(source.len());
    let start = source[..byte].iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    let end = source[byte..].iter().position(|byte| !is_part(byte)).map_or(source.len(), |at| byte + at);
    (start < end && !source[start].is_ascii_digit()).then(|| Span::new(start, end))
}

/// Uses of a name by the scope of a function or block that binds it.
type Scopes = BTreeMap<ScopeId, Vec<Span>>;

/// Uses of a name in a function.
fn uses(facts: &Facts<'_>, source: &[u8], name: &str, function: Span) -> Scopes {
    let mut all = all_uses(facts, source, function);
    all.remove(name.as_bytes()).unwrap_or_default()
}

/// Uses of every local name in a function.
fn all_uses<'s>(facts: &Facts<'_>, source: &'s [u8], function: Span) -> BTreeMap<&'s [u8], Scopes> {
    let mut found: BTreeMap<&[u8], Scopes> = BTreeMap::new();
    for occurrence in facts.occurrences {
        let span = Span { start: occurrence.at, end: occurrence.at + u32::from(occurrence.len) };
        let expression = &facts.expressions[occurrence.expression.row()];
        if expression.op != Op::Name || !function.contains(span) {
            continue;
        }
        let (mut scope, number, written) = (ScopeId(expression.a), NameId(expression.b), span.of(source));
        // A narrowed name is bound to nothing new.
        let is_told = |place: u32| facts.bindings[place as usize].kind == BindingKind::Narrowed;
        while scope != ScopeId::NONE && facts.bound(scope, number).all(is_told) {
            scope = facts.scopes[scope.row()].parent;
        }
        let is_local = |kind: ScopeKind| kind == ScopeKind::Function || kind == ScopeKind::Block;
        if scope == ScopeId::NONE || !is_local(facts.scopes[scope.row()].kind) {
            continue;
        }
        // An occurrence may be written otherwise than what it means.
        let is_it = std::str::from_utf8(written).is_ok_and(|name| facts.find_name(hash(name)) == Some(number));
        if is_it {
            found.entry(written).or_default().entry(scope).or_default().push(span);
        }
    }
    found
}

fn depth(facts: &Facts<'_>, scope: ScopeId) -> usize {
    let parent = |scope: &ScopeId| Some(facts.scopes[scope.row()].parent).filter(|parent| *parent != ScopeId::NONE);
    std::iter::successors(Some(scope), parent).count()
}

/// Places in a function where a name stands as a word of the language, but not as a member, ascending.
fn tokens(spec: &'static LanguageSpec, source: &[u8], name: &str, function: Span) -> Vec<Span> {
    let text = function.of(source);
    let Some(tree) = FileExtractor::new(spec, text, &Limits::default()).parse(&[]) else { return Vec::new() };
    let places = memchr::memmem::find_iter(text, name.as_bytes());
    let places = places.filter(|at| is_word(&tree, *at, name.len()) && !is_member(text, *at));
    places.map(|at| Span::new(function.start as usize + at, function.start as usize + at + name.len())).collect()
}

/// Those places of every name.
fn all_tokens<'s>(
    spec: &'static LanguageSpec,
    source: &'s [u8],
    names: &BTreeMap<&'s [u8], Scopes>,
    function: Span,
) -> HashMap<&'s [u8], Vec<Span>> {
    let text = function.of(source);
    let mut found: HashMap<&[u8], Vec<Span>> = HashMap::new();
    let tree = (!names.is_empty()).then(|| FileExtractor::new(spec, text, &Limits::default()).parse(&[])).flatten();
    let Some(tree) = tree else { return found };
    let mut at = 0;
    while let Some(length) = text.get(at..).map(|rest| rest.iter().take_while(|byte| is_part(byte)).count()) {
        let word = &text[at..at + length];
        if let Some((name, _)) = names.get_key_value(word)
            && is_word(&tree, at, length)
            && !is_member(text, at)
        {
            let start = function.start as usize + at;
            found.entry(*name).or_default().push(Span::new(start, start + length));
        }
        at += length + 1;
    }
    found
}

/// Whether a name at a place belongs to what stands before it.
pub fn is_member(text: &[u8], at: usize) -> bool {
    let before = text[..at].trim_ascii_end();
    let is_lifetime = text[..at].ends_with(b"'");
    is_lifetime
        || before.ends_with(b".") && !before.ends_with(b"..")
        || before.ends_with(b"->")
        || before.ends_with(b"::")
}

/// Whether a range is a named leaf of the syntax that is neither text, comment, nor the key of a value.
fn is_word(tree: &SyntaxTree, at: usize, len: usize) -> bool {
    let Some(leaf) = tree.root_node().named_descendant_for_byte_range(at, at + len) else { return false };
    let is_it = leaf.start_byte() == at && leaf.end_byte() == at + len && leaf.named_child_count() == 0;
    let is_other = |kind: &str| {
        kind.contains("string") || kind.contains("comment") || KEYS.contains(&kind) || kind == "statement_identifier"
    };
    let parents = std::iter::successors(leaf.parent(), |node| node.parent()).take(2);
    let is_key = parents.filter(|node| node.start_byte() == at).any(|node| KEYED.contains(&node.kind()));
    is_it && !is_other(leaf.kind()) && !is_key
}

/// Kinds of leaves that are keys.
const KEYS: [&str; 2] = ["property_identifier", "field_identifier"];

#[cfg(test)]
mod tests {
    use super::{local_at, locals};
    use crate::extract::extract;
    use crate::facts::LazyFacts;
    use crate::languages::of_file;
    use codelode_base::model::Span;

    /// Lines and columns of the definition and the uses of the name at the `nth` place of a text.
    fn check(path: &str, source: &str, text: &str, nth: usize, expected: &str) {
        let spec = of_file(path, b"").expect("it is built in").1;
        let extraction = extract(spec, source.as_bytes());
        let (at, _) = source.match_indices(text).nth(nth).expect("it is there");
        let function = Span::new(0, source.len());
        let shown = |span: &Span| {
            let before = &source[..span.start as usize];
            let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
            format!("{}:{}", before.matches('\n').count() + 1, column + 1)
        };
        let facts = LazyFacts::new(&extraction.facts);
        let found = local_at(spec, source.as_bytes(), &facts, function, at as u32);
        let all = locals(spec, source.as_bytes(), &extraction.facts, &[function]);
        assert!(found.as_ref().is_none_or(|local| all.contains(local)), "{text} {nth} is not among {all:?}");
        let found = found.map(|local| {
            let uses: Vec<String> = local.uses.iter().map(shown).collect();
            format!("{} <- {}", shown(&local.definition), uses.join(" "))
        });
        assert_eq!(found.as_deref(), Some(expected).filter(|expected| !expected.is_empty()), "{text} {nth}");
    }

    #[test]
    fn parameters_and_variables_are_bound_where_they_are_written_first() {
        let python = "def f(x, y):\n    z = x + y.x\n    g = lambda x: x * z\n    return g(x)  # x\n";
        check("a.py", python, "x", 1, "1:7 <- 2:9 4:14");
        check("a.py", python, "x", 0, "1:7 <- 2:9 4:14");
        check("a.py", python, "x * z", 0, "3:16 <- 3:19");
        check("a.py", python, "z\n", 0, "2:5 <- 3:23");
        check("a.py", python, "return", 0, "");
        let script = "function f(a: number) {\n  const b = a + 1;\n  [1].map(a => a + b);\n  return { a, b: b };\n}\n";
        check("a.ts", script, "b);", 0, "2:9 <- 3:20 4:18");
        check("a.ts", script, "a + b", 0, "3:11 <- 3:16");
        let go = "package a\n\nfunc f(one int) int {\n\ttwo := one\n\treturn two\n}\n";
        check("a.go", go, "two\n", 0, "4:2 <- 5:9");
        let java =
            "class A {\n  int f(int one) {\n    int two = one;\n    return two + this.one;\n  }\n  int one;\n}\n";
        check("A.java", java, "two +", 0, "3:9 <- 4:12");
        check("A.java", java, "one;", 0, "2:13 <- 3:15");
    }

    #[test]
    fn where_facts_hold_no_local_uses_nothing_is_said() {
        check("a.lua", "function f(one)\n  local two = one\n  return two\nend\n", "one\n  return", 0, "");
    }

    #[test]
    fn functions_are_read_again_for_local_names_that_facts_do_not_hold() {
        let rust = "fn f(one: u8, all: Vec<S>) -> u8 {\n    let two = one;\n    let two = two + one;\n    let g = |two: u8| two;\n    for each in all {\n        assert!(each.two > two, \"{one}\");\n    }\n    S { one, two: one }\n}\n";
        check("a.rs", rust, "one;\n    let", 0, "1:6 <- 2:15 3:21 6:35 8:9 8:19");
        check("a.rs", rust, "two = one", 0, "2:9 <- 3:15");
        check("a.rs", rust, "two > two", 0, "");
        check("a.rs", rust, "two, ", 0, "3:9 <- 6:28");
        check("a.rs", rust, "two;\n    for", 0, "4:14 <- 4:23");
        check("a.rs", rust, "each.", 0, "5:9 <- 6:17");
        let method = "impl S {\n    fn f<'a>(&'a self, (a, _): (u8, u8)) {\n        if let Some(b) = self.g(a) {\n            self.h(b);\n        }\n    }\n}\n";
        check("a.rs", method, "b);", 0, "3:21 <- 4:20");
        check("a.rs", method, "a) {", 0, "2:25 <- 3:33");
    }

    #[test]
    fn keys_and_names_from_outside_are_no_local_names() {
        let python = "import os\n\ndef f(key):\n    g(key=key)\n    os.stat(other=1)\n";
        check("a.py", python, "key)\n    os", 0, "3:7 <- 4:11");
        check("a.py", python, "other", 0, "");
        check("a.py", python, "os.stat", 0, "");
        let go = "package a\n\nfunc f(power int) Engine {\n\treturn Engine{power: power}\n}\n";
        check("a.go", go, "power}", 0, "3:8 <- 4:23");
        let script = "function f(a: number) { return { a: a }; }\n";
        check("a.ts", script, "a }", 0, "1:12 <- 1:37");
    }
}
