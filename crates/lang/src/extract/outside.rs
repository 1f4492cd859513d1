//! Packages that a name may come from, by the imports that it leads back to.

use std::collections::HashMap;

use crate::facts::{
    BindingKind, DefinitionId, DefinitionKind, ExpressionId, Facts, GIVES_WAY, LazyFacts, ListId, NameId, Op,
    STANDS_IN, ScopeId, UNKNOWN,
};
use crate::languages::LanguageSpec;
use codelode_base::model::Role;

/// The most expressions that are followed from one name.
const MOST: usize = 1_000;
/// The most for each of many names.
const MOST_OF_MANY: usize = 50;

/// The packages that the name at a byte of a file may come from: those of the imports that bind it, or its receiver,
/// or the types of these. Sorted; names of the project itself lead to none.
pub fn packages_at(spec: &'static LanguageSpec, facts: &LazyFacts<'_>, byte: u32) -> Vec<String> {
    let Some(facts) = facts.get() else { return Vec::new() };
    packages_of(spec, facts, byte)
}

/// An occurrence of a name with the packages that it may come from.
pub struct ExternalOccurrence {
    /// First byte.
    pub at: u32,
    /// Role of the name.
    pub role: Role,
    /// As [`packages_at`] gives them.
    pub packages: Vec<String>,
}

/// Whether the definition whose name is at a byte may be a member of types outside of the repository: a function that
/// extends a type, a member of a trait or of what implements one, a member of a class that stands for one outside.
pub fn may_extend_outside(packed: &[u8], at: u32) -> bool {
    let packed = LazyFacts::new(packed);
    let Some(facts) = packed.get() else { return false };
    let own = facts.definitions.iter().find(|definition| definition.at == at);
    own.is_some_and(|own| {
        let is_function = own.kind == DefinitionKind::Function;
        let owner = facts.definitions.get(own.owner.row()).filter(|_| own.owner != DefinitionId::NONE);
        (is_function && own.alias != UNKNOWN)
            || own.flags & STANDS_IN != 0
            || owner.is_some_and(|owner| {
                let is_block = facts.extensions.iter().any(|block| block.definition == own.owner);
                owner.flags & (STANDS_IN | GIVES_WAY) != 0 || is_block && !facts.list(owner.bases).is_empty()
            })
    })
}

/// Occurrences of a name in a file that may come from packages.
pub fn from_packages(
    spec: &'static LanguageSpec,
    content: &[u8],
    packed: &[u8],
    name: &[u8],
) -> Vec<ExternalOccurrence> {
    let packed = LazyFacts::new(packed);
    let Some(facts) = packed.get() else { return Vec::new() };
    let written = |at: u32, len: u16| content.get(at as usize..at as usize + usize::from(len)).unwrap_or_default();
    let named = facts.occurrences.iter().filter(|it| written(it.at, it.len) == name);
    let found = named.map(|it| {
        let mut packages = packages_of(spec, facts, it.at);
        let after = content.get(it.at as usize + usize::from(it.len)..).unwrap_or_default();
        // A name that nothing binds is a package only where it stands before its parts.
        let is_bare = ![b".".as_slice(), b"::", b"\\"].iter().any(|mark| after.starts_with(mark));
        let is_free = |package: &str| package.as_bytes() == name && is_bare && !imports(facts, spec, package);
        packages.retain(|package| is_package(package) && !is_free(package));
        ExternalOccurrence { at: it.at, role: it.role, packages }
    });
    found.filter(|found| !found.packages.is_empty()).collect()
}

/// Whether a text is the name of a package, and not a star, a call, or the root of all names.
fn is_package(name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-./@:$~\\+ ".contains(letter);
    name.trim_start_matches(['\\', '@', ':']).starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
        && name.chars().all(is_part)
}

/// Whether a file imports a module of a package.
fn imports(facts: Facts<'_>, spec: &'static LanguageSpec, package: &str) -> bool {
    let modules = facts.expressions.iter().filter(|it| it.op == Op::Module);
    modules.into_iter().any(|it| (spec.package)(facts.name(NameId(it.a))) == package)
}

fn packages_of(spec: &'static LanguageSpec, facts: Facts<'_>, byte: u32) -> Vec<String> {
    let mut search =
        Search { facts, package: spec.package, waiting: Vec::new(), seen: Vec::new(), found: Vec::new(), most: MOST };
    let here = facts.occurrences.iter().filter(|it| it.at <= byte && byte <= it.at + u32::from(it.len));
    search.waiting.extend(here.map(|it| (it.expression, String::new())));
    // A module is no occurrence where it is imported.
    let import = facts.imports.iter().filter(|import| import.at <= byte).max_by_key(|import| import.at);
    if search.waiting.is_empty() {
        search.waiting.extend(import.map(|import| (import.expression, String::new())));
    }
    search.run();
    search.found.sort_unstable();
    search.found.dedup();
    search.found.retain(|package| !package.is_empty());
    search.found
}

/// The imports that the names at some bytes of a file, ascending, come from: for each that has one, its byte and that of the import.
pub fn imports_of(spec: &'static LanguageSpec, packed: &[u8], places: &[u32]) -> Vec<(u32, u32)> {
    let packed = LazyFacts::new(packed);
    let Some(facts) = packed.get() else { return Vec::new() };
    let imports: HashMap<ExpressionId, u32> =
        facts.imports.iter().map(|import| (import.expression, import.at)).collect();
    let mut found = Vec::new();
    for occurrence in facts.occurrences.iter().filter(|it| places.binary_search(&it.at).is_ok()) {
        let (waiting, most) = (vec![(occurrence.expression, String::new())], MOST_OF_MANY);
        let (seen, names) = (Vec::new(), Vec::new());
        let mut search = Search { facts, package: spec.package, waiting, seen, found: names, most };
        while let Some((expression, members)) = search.next() {
            if let Some(at) = imports.get(&expression) {
                found.push((occurrence.at, *at));
                break;
            }
            search.follow(expression, members);
        }
    }
    found
}

struct Search<'a> {
    facts: Facts<'a>,
    package: fn(&str) -> &str,
    /// Expressions to follow, each with the members that are taken of it, as a path that begins with a dot.
    waiting: Vec<(ExpressionId, String)>,
    seen: Vec<ExpressionId>,
    found: Vec<String>,
    /// The most expressions that are followed.
    most: usize,
}

impl Search<'_> {
    fn run(&mut self) {
        while let Some((expression, members)) = self.next() {
            self.follow(expression, members);
        }
    }

    /// The next expression that was not seen.
    fn next(&mut self) -> Option<(ExpressionId, String)> {
        loop {
            let (expression, members) = self.waiting.pop().filter(|_| self.seen.len() < self.most)?;
            if expression != UNKNOWN && !self.seen.contains(&expression) {
                self.seen.push(expression);
                return Some((expression, members));
            }
        }
    }

    fn follow(&mut self, expression: ExpressionId, members: String) {
        let it = self.facts.expressions[expression.row()];
        let is = |ops: &[Op]| ops.contains(&it.op);
        let other = |expression: ExpressionId| (expression, String::new());
        if is(&[Op::Module]) {
            // In some languages the package is a part of what is imported, in others the module that is named.
            let module = self.facts.name(NameId(it.a));
            self.add(module);
            self.add(&format!("{module}{members}"));
        } else if is(&[Op::Name]) {
            self.name(ScopeId(it.a), NameId(it.b), members);
        } else if is(&[Op::Member]) {
            let members = format!(".{}{members}", self.facts.name(NameId(it.b)));
            self.waiting.push((ExpressionId(it.a), members));
        } else if is(&[Op::Union, Op::Tuple]) {
            self.waiting.extend(self.facts.list(ListId(it.a)).iter().copied().map(other));
        } else if is(&[Op::SelfOf, Op::ClassOf, Op::SuperOf, Op::Function, Op::Object, Op::Overridden]) {
            self.definition(it.a);
        } else if is(&[Op::Generic]) {
            self.waiting.extend(self.facts.list(ListId(it.b)).iter().copied().map(other));
            self.waiting.push(other(ExpressionId(it.a)));
        } else if is(&[Op::Else, Op::Extension, Op::Proven, Op::Except, Op::Returning, Op::Taking]) {
            self.waiting.extend([other(ExpressionId(it.a)), other(ExpressionId(it.b))]);
        } else if !is(&[Op::Unknown]) {
            self.waiting.push(other(ExpressionId(it.a)));
        }
    }

    /// Follows a name to its bindings in the nearest scope that has some, or to what is imported as a whole.
    fn name(&mut self, mut scope: ScopeId, name: NameId, members: String) {
        let mut stars = Vec::new();
        while scope != ScopeId::NONE {
            let bound = self.facts.bound(scope, name);
            for place in bound.clone() {
                let binding = self.facts.bindings[place as usize];
                match binding.kind {
                    BindingKind::Definition => self.definition(binding.a),
                    BindingKind::Alias => self.waiting.push((ExpressionId(binding.a), members.clone())),
                    BindingKind::Variable | BindingKind::Parameter => {
                        self.waiting.extend([
                            (ExpressionId(binding.a), String::new()),
                            (ExpressionId(binding.b), String::new()),
                        ]);
                    }
                    BindingKind::Value | BindingKind::Narrowed => {
                        self.waiting.push((ExpressionId(binding.a), String::new()))
                    }
                }
            }
            if !bound.is_empty() {
                return;
            }
            stars.extend(self.facts.stars(scope).iter().map(|star| (star.from, String::new())));
            scope = self.facts.scopes[scope.row()].parent;
        }
        self.add(&format!("{}{members}", self.facts.name(name)));
        self.waiting.extend(stars);
    }

    /// Follows a definition to its bases, its alias and the values that it returns.
    fn definition(&mut self, place: u32) {
        let Some(definition) = self.facts.definitions.get(place as usize) else { return };
        let lists = [definition.bases, definition.values].map(|list| self.facts.list(list));
        let all = lists.into_iter().flatten().copied().chain([definition.returns, definition.alias]);
        self.waiting.extend(all.map(|expression| (expression, String::new())));
    }

    fn add(&mut self, path: &str) {
        self.found.push((self.package)(path).to_owned());
    }
}
