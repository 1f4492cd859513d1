//! Import statements of one file: each whole, with the names that need it.

use std::collections::HashMap;

use super::{FileExtractor, Limits, with_stack_for};
use crate::facts::{BindingKind, ExpressionId, Facts, ListId, NONE, NameId, Op, ScopeId, ScopeKind, UNKNOWN, unpack};
use crate::languages::LanguageSpec;
use crate::parsing::SyntaxTree;
use codelode_base::model::{Role, Span};

/// The most statements that bind one name or import one thing. More say nothing, and all of them for each use would take
/// memory that grows with the square of a file.
const MOST: usize = 32;
/// The most searches through the texts of all statements.
const SEARCHES: usize = 1_000;

/// An import statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Position in the file.
    pub span: Span,
    /// Text of all its lines, without their common indentation.
    pub text: String,
    /// Whether it binds names that it does not write: `from shop import *`.
    pub is_wildcard: bool,
}

/// Import statements of a file in source order, and the names in its code that need them.
#[derive(Debug, Default)]
pub struct Imports {
    /// The statements.
    pub statements: Vec<Statement>,
    /// Position of a name, and the index of the statement that binds it; [`NONE`] for a name that nothing in the file
    /// binds. Sorted.
    needs: Vec<(u32, u32)>,
}

impl Imports {
    /// Indices of the statements that bind names written in `span`.
    pub fn named_in(&self, span: Span) -> impl Iterator<Item = usize> + '_ {
        self.needed_in(span).filter(|(_, statement)| *statement != NONE).map(|(_, statement)| statement as usize)
    }

    /// Positions of names in `span` that nothing in the file binds.
    pub fn unbound_in(&self, span: Span) -> impl Iterator<Item = u32> + '_ {
        self.needed_in(span).filter(|(_, statement)| *statement == NONE).map(|(at, _)| at)
    }

    fn needed_in(&self, span: Span) -> impl Iterator<Item = (u32, u32)> + '_ {
        let first = self.needs.partition_point(|(at, _)| *at < span.start);
        self.needs[first..].iter().take_while(move |(at, _)| *at < span.end).copied()
    }
}

/// Reads the import statements of a file with its packed facts; none if it cannot be parsed.
pub fn imports(spec: &'static LanguageSpec, source: &[u8], facts: &[u8]) -> Imports {
    with_stack_for(source.len(), || imports_here(spec, source, facts)).unwrap_or_default()
}

fn imports_here(spec: &'static LanguageSpec, source: &[u8], facts: &[u8]) -> Imports {
    let Some(tables) = unpack(facts) else { return Imports::default() };
    let Some(facts) = Facts::open(&tables) else { return Imports::default() };
    let reading = FileExtractor::new(spec, source, &Limits::default());
    let Some(tree) = reading.parse(&[]) else { return Imports::default() };
    let mut positions: Vec<u32> = facts.imports.iter().map(|import| import.at).collect();
    positions.sort_unstable();
    let mut found = statements_at(spec, &tree, &positions);
    found.sort_unstable();
    found.dedup();
    let statements: Vec<Statement> = found
        .into_iter()
        .map(|(span, prefix)| Statement { span, text: dedented(source, span, prefix), is_wildcard: false })
        .collect();
    Binder::new(facts, statements).finish()
}

/// A statement's position, and what stands before it when it is written alone.
type Found = (Span, &'static str);

/// The innermost statements around ascending positions. The tree is walked once, because the search for one position
/// looks at all children of a node.
fn statements_at(spec: &LanguageSpec, tree: &SyntaxTree, positions: &[u32]) -> Vec<Found> {
    let (mut found, mut positions) = (Vec::new(), positions);
    let mut cursor = tree.walk();
    let mut around: Vec<Option<Found>> = Vec::new();
    let mut take = |positions: &mut &[u32], end: usize, statement: Option<Found>| {
        let inside = positions.partition_point(|at| (*at as usize) < end);
        found.extend(statement.filter(|_| inside > 0));
        *positions = &positions[inside..];
    };
    'nodes: loop {
        let node = cursor.node();
        take(&mut positions, node.start_byte(), around.last().copied().flatten());
        if positions.first().is_some_and(|at| (*at as usize) < node.end_byte()) {
            let own = spec.imports.iter().find(|(kind, _)| *kind == node.kind());
            let own = own.map(|(_, prefix)| (Span::new(node.start_byte(), node.end_byte()), *prefix));
            let own = own.or_else(|| around.last().copied().flatten());
            if cursor.goto_first_child() {
                around.push(own);
                continue;
            }
            take(&mut positions, node.end_byte(), own);
        }
        while !cursor.goto_next_sibling() {
            if positions.is_empty() || !cursor.goto_parent() {
                break 'nodes;
            }
            take(&mut positions, cursor.node().end_byte(), around.pop().flatten());
        }
    }
    found
}

/// The text of a span without the indentation of its first line.
fn dedented(source: &[u8], span: Span, prefix: &str) -> String {
    let start = span.start as usize;
    let line = memchr::memrchr(b'\n', &source[..start]).map_or(0, |newline| newline + 1);
    let indent = source[line..start].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let text = String::from_utf8_lossy(span.of(source));
    let mut lines = text.lines();
    let mut whole = format!("{prefix}{}", lines.next().unwrap_or_default());
    for line in lines {
        let blank = line.bytes().take(indent).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        whole.push('\n');
        whole.push_str(line[blank..].trim_end());
    }
    whole.truncate(whole.trim_end().len());
    whole
}

/// Ties names to the statements that bind them.
struct Binder<'a> {
    facts: Facts<'a>,
    statements: Vec<Statement>,
    /// Statements by the expression of what they import.
    by_expression: HashMap<ExpressionId, Vec<u32>>,
    /// Number of names that each statement imports.
    names: Vec<u32>,
    /// Statements that bind an alias, by its expression and its name.
    known: HashMap<(ExpressionId, NameId), Vec<u32>>,
    /// The number of searches through all statements.
    searches: usize,
}

impl<'a> Binder<'a> {
    fn new(facts: Facts<'a>, statements: Vec<Statement>) -> Self {
        let names = vec![0; statements.len()];
        let mut binder =
            Self { facts, statements, by_expression: HashMap::new(), names, known: HashMap::new(), searches: 0 };
        let written = facts.occurrences.iter().filter(|occurrence| occurrence.role == Role::Import);
        for occurrence in written {
            if let Some(statement) = binder.around(occurrence.at) {
                binder.names[statement as usize] += 1;
                binder.tie(occurrence.expression, statement);
            }
        }
        for import in facts.imports {
            if let Some(statement) = binder.around(import.at) {
                binder.tie(import.expression, statement);
            }
        }
        for scope in (0..facts.scopes.len() as u32).map(ScopeId) {
            for star in facts.stars(scope) {
                for statement in binder.of_expression(star.from) {
                    let statement = &mut binder.statements[statement as usize];
                    statement.is_wildcard |=
                        statement.text.split_whitespace().any(|word| word == "." || word.contains('*'));
                }
            }
        }
        binder
    }

    /// The innermost statement around a position.
    fn around(&self, at: u32) -> Option<u32> {
        let next = self.statements.partition_point(|statement| statement.span.start <= at);
        let inside = self.statements[..next].iter().rposition(|statement| at < statement.span.end);
        inside.map(|statement| statement as u32)
    }

    fn tie(&mut self, expression: ExpressionId, statement: u32) {
        let it = self.facts.expressions[expression.row()];
        if it.op == Op::Union {
            self.facts.list(ListId(it.a)).iter().for_each(|part| self.tie(*part, statement));
        }
        let tied = self.by_expression.entry(expression).or_default();
        if tied.len() < MOST && !tied.contains(&statement) {
            tied.push(statement);
        }
    }

    /// Statements that import an expression; of several, those with the fewest other names: `import a` before
    /// `from a import b`.
    fn of_expression(&self, expression: ExpressionId) -> Vec<u32> {
        let Some(tied) = self.by_expression.get(&expression) else { return Vec::new() };
        let is_module = self.facts.expressions[expression.row()].op == Op::Module;
        let fewest = tied.iter().map(|statement| self.names[*statement as usize]).min();
        let is_meant = |statement: &u32| !is_module || Some(self.names[*statement as usize]) == fewest;
        tied.iter().copied().filter(is_meant).collect()
    }

    /// Statements that bind an alias of an expression.
    fn of_alias(&mut self, expression: ExpressionId, name: NameId) -> Vec<u32> {
        if let Some(known) = self.known.get(&(expression, name)) {
            return known.clone();
        }
        let mut found = self.of_expression(expression);
        let mut root = expression;
        while found.is_empty() {
            let it = self.facts.expressions[root.row()];
            if it.op == Op::Module {
                found = self.of_module(NameId(it.a), name);
                break;
            }
            match has_receiver(it.op) {
                true => root = ExpressionId(it.a),
                false => break,
            }
        }
        self.known.insert((expression, name), found.clone());
        found
    }

    /// Statements that import a module or one below it, and write a name: `import a.b` binds `a`.
    fn of_module(&mut self, module: NameId, name: NameId) -> Vec<u32> {
        if self.searches == SEARCHES {
            return Vec::new();
        }
        self.searches += 1;
        let (module, name) = (self.facts.name(module), self.facts.name(name));
        let is_below = |expression: &ExpressionId| {
            let it = self.facts.expressions[expression.row()];
            let text = if it.op == Op::Module { self.facts.name(NameId(it.a)) } else { "" };
            text.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let tied = self.by_expression.iter().filter(|(expression, _)| is_below(expression));
        let mut found: Vec<u32> = tied.flat_map(|(_, statements)| statements).copied().collect();
        found.retain(|statement| writes(&self.statements[*statement as usize].text, name));
        let fewest = found.iter().map(|statement| self.names[*statement as usize]).min();
        found.retain(|statement| Some(self.names[*statement as usize]) == fewest);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Looks every name up, from the scope it is seen from outwards.
    fn finish(mut self) -> Imports {
        let mut needs = Vec::new();
        for occurrence in self.facts.occurrences {
            if occurrence.role == Role::Import {
                continue;
            }
            let Some((scope, name)) = self.root(occurrence.expression) else { continue };
            match self.bindings(scope, name) {
                Some(aliases) => {
                    for expression in aliases {
                        let found = self.of_alias(expression, name);
                        needs.extend(found.into_iter().map(|statement| (occurrence.at, statement)));
                    }
                }
                None => needs.push((occurrence.at, NONE)),
            }
        }
        needs.sort_unstable();
        needs.dedup();
        Imports { statements: self.statements, needs }
    }

    /// The bare name at the beginning of an expression, and the scope it is seen from.
    fn root(&self, expression: ExpressionId) -> Option<(ScopeId, NameId)> {
        let mut it = self.facts.expressions[expression.row()];
        while has_receiver(it.op) && ExpressionId(it.a) != UNKNOWN {
            it = self.facts.expressions[it.a as usize];
        }
        (it.op == Op::Name).then_some((ScopeId(it.a), NameId(it.b)))
    }

    /// Expressions of the aliases that a name is bound to; `None` if nothing binds it.
    fn bindings(&self, mut scope: ScopeId, name: NameId) -> Option<Vec<ExpressionId>> {
        while scope != ScopeId::NONE {
            let all = self.facts.bound(scope, name);
            let all = &self.facts.bindings[all.start as usize..all.end as usize];
            let aliases = all.iter().filter(|binding| binding.kind == BindingKind::Alias);
            let aliases: Vec<ExpressionId> = aliases.map(|binding| ExpressionId(binding.a)).take(MOST).collect();
            // Members of a class are not seen as bare names in every language.
            let is_class = self.facts.scopes[scope.row()].kind == ScopeKind::Class;
            if !aliases.is_empty() || !all.is_empty() && !is_class {
                return Some(aliases);
            }
            scope = self.facts.scopes[scope.row()].parent;
        }
        None
    }
}

/// Whether the first column of an operation is the expression before it.
fn has_receiver(op: Op) -> bool {
    const ALL: &[Op] = &[
        Op::Member,
        Op::Call,
        Op::New,
        Op::Instance,
        Op::Generic,
        Op::Await,
        Op::Element,
        Op::TypeOf,
        Op::Fitting,
        Op::Extension,
        Op::Uncalled,
    ];
    ALL.contains(&op)
}

/// Whether a text holds a name as a whole word.
fn writes(text: &str, name: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word))
}

/// Positions of a file's imports, each with the package that it names; empty for one of the project itself.
pub fn packages(spec: &'static LanguageSpec, facts: &[u8]) -> Vec<(u32, String)> {
    let Some(tables) = unpack(facts) else { return Vec::new() };
    let Some(facts) = Facts::open(&tables) else { return Vec::new() };
    let package = |expression: ExpressionId| path(&facts, expression).map(|path| (spec.package)(&path).to_owned());
    facts.imports.iter().map(|import| (import.at, package(import.expression).unwrap_or_default())).collect()
}

/// An imported expression as a path with dots; `None` for one that begins with a name of the file itself.
fn path(facts: &Facts<'_>, expression: ExpressionId) -> Option<String> {
    let mut parts = Vec::new();
    let mut it = facts.expressions[expression.row()];
    while it.op == Op::Member {
        parts.push(facts.name(NameId(it.b)));
        it = facts.expressions[it.a as usize];
    }
    if it.op == Op::Module {
        parts.push(facts.name(NameId(it.a)));
    } else if it.op == Op::Name {
        let mut scope = ScopeId(it.a);
        while scope != ScopeId::NONE {
            if !facts.bound(scope, NameId(it.b)).is_empty() {
                return None;
            }
            scope = facts.scopes[scope.row()].parent;
        }
        parts.push(facts.name(NameId(it.b)));
    } else {
        return None;
    }
    parts.reverse();
    Some(parts.join("."))
}
