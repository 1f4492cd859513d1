//! Facts that the format allows, but that no language produces yet.

use super::*;
use codelode_base::model::Span;
use codelode_lang::facts::*;

static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Hidden,
    looks_down: false,
    includes: false,
    call: &[],
    element: &[],
    each: IterationItem::Last,
    enter: &[],
    constructor: "new",
    constructs: "",
    any_key: "",
    lends: false,
    shallowest: false,
    gives_argument: false,
    typed: false,
    outside_calls: OutsideCalls::Inferred,
    calls_tell: false,
    default_export: "default",
    splits_types: false,
    functions: &[],
    methods: &[("clone", Effect::Same)],
    above: &[],
    other_methods: None,
    modules: |project| Box::new(ByPath(project)),
};

/// Uses each file's path as the name of its module.
struct ByPath<'a>(&'a Project<'a>);

impl Modules for ByPath<'_> {
    fn find(&self, _: u32, _: ScopeId, spec: &str) -> Option<Module> {
        self.0.find(spec)
    }
    fn of(&self, file: u32, _: ScopeId) -> Module {
        file
    }
    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        vec![(module, ROOT)]
    }
    fn child(&self, _: Module, _: &str) -> Option<Module> {
        None
    }
}

fn named(at: u32, name: NameId, kind: DefinitionKind) -> Definition {
    Definition { name, at, kind, ..Definition::default() }
}

/// The targets of the last file's occurrences: file and place of each.
fn bound(files: Vec<Builder>) -> Vec<Vec<(u32, u32)>> {
    let facts: Vec<Vec<u8>> = files.into_iter().map(Builder::finish).collect();
    let paths = ["a", "b", "c"];
    let files = facts.iter().zip(paths).map(|(facts, path)| ProjectFile::new(path, facts));
    let project = Project { files: files.collect(), read: &|_| None, paths: &paths };
    let relations = resolve(&project, &SEMANTICS);
    let last = facts.len() as u32 - 1;
    let own = relations.occurrences.iter().filter(|occurrence| occurrence.file == last);
    own.map(|occurrence| {
        let first = occurrence.first_target as usize;
        let targets = &relations.targets[first..first + occurrence.targets as usize];
        targets.iter().map(|site| (site.file, site.at)).collect()
    })
    .collect()
}

#[test]
fn a_class_has_what_is_added_to_it_in_another_file() {
    // a: class T { }      b: impl T { fn m(self) { self.clone().m } }
    let mut a = Builder::new();
    let name = a.name("T");
    let (class, _) = a.class(named(10, name, DefinitionKind::Class), ROOT);
    a.bind(ROOT, name, Bound::definition(class).at(10));

    let mut b = Builder::new();
    let (module, t, m) = (b.module("a", ROOT), b.name("T"), b.name("m"));
    let of = b.member(module, t);
    let (own, members) = b.class(Definition { kind: DefinitionKind::Class, ..Definition::default() }, ROOT);
    b.extend(of, own);
    let method = b.define(Definition { owner: own, ..named(20, m, DefinitionKind::Function) });
    b.bind(members, m, Bound::definition(method).at(20));
    let itself = b.expression(Op::SelfOf, own, 0);
    let clone = b.name("clone");
    let (cloned, none) = (b.member(itself, clone), b.list(&[]));
    let cloned = b.expression(Op::Call, cloned, none);
    let used = b.member(cloned, m);
    b.occurrence(Span::new(30, 31), Role::Call, used);
    // From outside: T::m
    let class = b.member(module, t);
    let used = b.member(class, m);
    b.occurrence(Span::new(40, 41), Role::Call, used);
    assert_eq!(bound(vec![a, b]), [[(1, 20)], [(1, 20)]]);
}

#[test]
fn exports_rename_and_pass_on_and_a_module_may_be_one_value() {
    // a: function f() {}; export { f as g }      b: export * from 'a'; module.exports = …'s neighbour      c: uses
    let mut a = Builder::new();
    let (f, g) = (a.name("f"), a.name("g"));
    let function = a.define(named(10, f, DefinitionKind::Function));
    a.bind(ROOT, f, Bound::definition(function).at(10));
    let (exports, local) = (a.exports(), a.named(ROOT, f));
    a.bind(exports, g, Bound::alias(local));

    let mut b = Builder::new();
    let from = b.module("a", ROOT);
    b.star(ROOT, from, OFFERED);
    let h = b.name("h");
    let whole = b.define(named(50, h, DefinitionKind::Function));
    let whole = b.expression(Op::Function, whole, 0);
    b.whole(whole);

    let mut c = Builder::new();
    let module = c.module("b", ROOT);
    for (at, name) in [(1, "g"), (2, "f"), (3, "default")] {
        let name = c.name(name);
        let used = c.member(module, name);
        c.occurrence(Span::new(at, at + 1), Role::Import, used);
    }
    c.occurrence(Span::new(4, 5), Role::Reference, module);
    let answers = bound(vec![a, b, c]);
    // `f` is not exported, so it has no target; it is defined somewhere, so the reason is given.
    assert_eq!(answers, [vec![(0, 10)], vec![], vec![(1, 50)], vec![(1, 50)]]);
}

#[test]
fn damaged_facts_are_refused_or_read_but_never_a_fault() {
    let mut file = Builder::new();
    for name in ["a", "b", "long_name_of_something"] {
        let name = file.name(name);
        file.define(named(name.0, name, DefinitionKind::Function));
    }
    let whole = file.finish();
    assert!(Facts::open(&unpack(&whole).expect("it is whole")).is_some());
    assert!(is_readable(&whole) && !is_readable(&whole[1..]));
    for at in 0..whole.len() {
        for value in [0, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            // Every number in sound facts has a row.
            if let Some(tables) = unpack(&damaged)
                && let Some(facts) = Facts::open(&tables).filter(Facts::is_sound)
            {
                let bound = |scope: ScopeId| facts.bound(scope, NameId(0)).len() + facts.stars(scope).len();
                let _: usize = (0..facts.scopes.len() as u32).map(ScopeId).map(bound).sum();
            }
        }
        let _ = unpack(&whole[..at]);
    }
}
