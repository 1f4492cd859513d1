//! Relations: one small project for each rule by which a name is bound.
//!
//! A project is written as one text: a line `--- path` begins a file. In it `name⟦n⟧` marks a name: `⟦=n⟧` is a definition,
//! `⟦n⟧` a use that must be bound to it and to nothing else, `⟦n,m⟧` to both, `⟦?⟧` one that must not be bound to
//! anything. A definition must have no other uses. [`check`] reads that, indexes the files and compares.

mod again;
mod c;
mod components;
mod cpp;
mod csharp;
mod go;
mod java;
mod javascript;
mod kotlin;
mod php;
mod python;
mod python_made;
mod ruby;
mod rust;
mod rust_more;
mod scala;
mod swift;
mod typescript;
mod typescript_unions;

use std::collections::{BTreeMap, BTreeSet};

use codelode::extract::extract;
use codelode::facts::{Project, ProjectFile};
use codelode::languages;
use codelode::model::{Relations, Site};
use codelode::resolve::resolve;

/// A file and the names that are marked in it: where, and with what.
struct Marked {
    path: String,
    text: String,
    marks: Vec<(usize, String)>,
}

/// Reads a project.
fn parse(project: &str) -> Vec<Marked> {
    let mut files: Vec<Marked> = Vec::new();
    for line in project.lines() {
        if let Some(path) = line.strip_prefix("--- ") {
            files.push(Marked { path: path.trim().to_owned(), text: String::new(), marks: Vec::new() });
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        let mut parts = line.split('⟦');
        file.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (mark, rest) = part.split_once('⟧').expect("a mark is closed");
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let start = file.text.trim_end_matches(is_name).len();
            // There the sign is no part of a name.
            let has_signs = file.path.ends_with(".php") || file.path.ends_with(".svelte");
            let is_sign = has_signs && file.text[start..].starts_with('$');
            let start = start + usize::from(is_sign);
            file.marks.push((start, mark.to_owned()));
            file.text.push_str(rest);
        }
        file.text.push('\n');
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Whether names of a file are resolved.
fn is_code(file: &Marked) -> bool {
    languages::of_file(&file.path, file.text.as_bytes()).is_some_and(|(_, spec)| spec.relating.is_some())
}

/// Resolves a project of one language.
fn relations(files: &[Marked]) -> Relations {
    let mut facts = Vec::new();
    let mut semantics = None;
    for file in files {
        let Some((_, spec)) = languages::of_file(&file.path, file.text.as_bytes()) else { continue };
        let Some(relating) = spec.relating else { continue };
        semantics = Some(relating.semantics);
        let packed = extract(spec, file.text.as_bytes()).facts;
        facts.push((&file.path, packed));
    }
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let read = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_bytes());
    let project = Project {
        files: facts.iter().map(|(path, facts)| ProjectFile::new(path, facts)).collect(),
        read: &read,
        paths: &paths,
    };
    resolve(&project, semantics.expect("there is a file of it"))
}

/// Checks that every marked use means what its mark says, and that no definition that is marked has a use that is not.
#[track_caller]
pub fn check(project: &str) {
    let files = parse(project);
    let relations = relations(&files);
    let code: Vec<&Marked> = files.iter().filter(|file| is_code(file)).collect();
    let show = |site: Site| {
        let file = code[site.file as usize];
        let before = &file.text[..site.at as usize];
        let rest = &file.text[site.at as usize..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '$').collect();
        format!("{}:{} {name}", file.path, before.matches('\n').count() + 1)
    };
    let mut definitions: BTreeMap<&str, Site> = BTreeMap::new();
    for (number, file) in code.iter().enumerate() {
        for (at, mark) in &file.marks {
            if let Some(name) = mark.strip_prefix('=') {
                definitions.insert(name, Site { file: number as u32, at: *at as u32 });
            }
        }
    }
    let mut found: BTreeMap<Site, BTreeSet<Site>> = BTreeMap::new();
    for occurrence in &relations.occurrences {
        let site = Site { file: occurrence.file, at: occurrence.at };
        let first = occurrence.first_target as usize;
        let targets = &relations.targets[first..first + occurrence.targets as usize];
        let others = targets.iter().copied().filter(|target| *target != site);
        found.entry(site).or_default().extend(others);
    }
    let mut wrong = Vec::new();
    let mut marked = BTreeSet::new();
    for (number, file) in code.iter().enumerate() {
        for (at, mark) in file.marks.iter().filter(|(_, mark)| !mark.starts_with('=')) {
            let site = Site { file: number as u32, at: *at as u32 };
            marked.insert(site);
            let wanted: BTreeSet<Site> =
                mark.split(',').filter(|name| *name != "?").map(|name| definitions[name]).collect();
            let bound = found.get(&site).cloned().unwrap_or_default();
            if bound != wanted {
                let names =
                    |sites: &BTreeSet<Site>| sites.iter().map(|site| show(*site)).collect::<Vec<_>>().join(", ");
                wrong.push(format!("{} is bound to [{}], not to [{}]", show(site), names(&bound), names(&wanted)));
            }
        }
    }
    let defined: BTreeSet<Site> = definitions.values().copied().collect();
    for (site, targets) in &found {
        if let Some(target) = targets.iter().find(|target| defined.contains(target))
            && !marked.contains(site)
        {
            wrong.push(format!("{} means {}, and is not marked", show(*site), show(*target)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks which files import which, as `from -> to`, sorted.
#[track_caller]
pub fn check_imports(project: &str, expected: &[&str]) {
    let files = parse(project);
    let relations = relations(&files);
    let code: Vec<&Marked> = files.iter().filter(|file| is_code(file)).collect();
    let path = |file: u32| &code[file as usize].path;
    let found: BTreeSet<String> =
        relations.imports.iter().map(|(from, to, _)| format!("{} -> {}", path(*from), path(*to))).collect();
    let expected: BTreeSet<String> = expected.iter().map(|edge| (*edge).to_owned()).collect();
    assert_eq!(found, expected);
}

/// Checks which classes derive from which, as `class -> base` by their names, sorted.
#[track_caller]
pub fn check_bases(project: &str, expected: &[&str]) {
    let files = parse(project);
    let relations = relations(&files);
    let code: Vec<&Marked> = files.iter().filter(|file| is_code(file)).collect();
    let name = |site: &Site| -> String {
        let rest = &code[site.file as usize].text[site.at as usize..];
        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let found: BTreeSet<String> =
        relations.bases.iter().map(|(class, base)| format!("{} -> {}", name(class), name(base))).collect();
    let expected: BTreeSet<String> = expected.iter().map(|edge| (*edge).to_owned()).collect();
    assert_eq!(found, expected);
}

/// The answer does not depend on the order in which files are numbered: the same project below other folders' names.
#[test]
fn order_of_files_does_not_matter() {
    let project = |a: &str, b: &str| {
        format!(
            "--- {a}/__init__.py\nfrom {b}.m import B⟦b⟧\nclass A⟦=a⟧(B⟦b⟧):\n    def go⟦=go⟧(self): return self.back⟦back⟧()\n\
             --- {b}/__init__.py\n--- {b}/m.py\nimport {a}\nclass B⟦=b⟧:\n    def back⟦=back⟧(self) -> \"{a}.A⟦a⟧\": ...\n\
             def f(x: B⟦b⟧): x.back⟦back⟧().go⟦go⟧()\n"
        )
    };
    check(&project("one", "two"));
    check(&project("two", "one"));
}

/// Text that programs write may be nested as deep as they like.
#[test]
fn deep_text_ends() {
    let deep = |open: &str, close: &str| format!("x = {}1{}\n", open.repeat(3_000), close.repeat(3_000));
    let texts = [
        deep("[", "]"),
        deep("f(", ")"),
        deep("not ", ""),
        deep("lambda: ", ""),
        format!("x = a{}\n", ".b".repeat(3_000)),
        format!("x = 1{}\n", " + y".repeat(3_000)),
        format!("x: \"{}\" = 1\n", "a[".repeat(3_000)),
        (0..300).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect(),
    ];
    for text in texts {
        let files = [Marked { path: "a.py".to_owned(), text, marks: Vec::new() }];
        relations(&files);
    }
}

/// Functions that all return what all the others do: nothing in such a knot can be remembered before all of it is known.
#[test]
fn a_knot_of_types_comes_to_an_end() {
    let calls = (0..25).map(|other| format!("f{other}().next")).collect::<Vec<_>>().join(" or ");
    let text = (0..25).map(|own| format!("def f{own}(): return {calls}\n")).collect();
    relations(&[Marked { path: "a.py".to_owned(), text, marks: Vec::new() }]);
}

/// Pieces of a text, each from its start on and as long as is said, one to a line.
fn shuffled(sample: &str, pieces: &[(usize, usize)]) -> String {
    let piece = |(start, len): &(usize, usize)| -> String {
        sample.chars().skip(start % sample.len()).take(*len).chain(['\n']).collect()
    };
    pieces.iter().map(piece).collect()
}

proptest::proptest! {
    /// Any parts of a file, in any order, are lowered and bound without a fault.
    #[test]
    fn any_text_is_resolved(pieces in proptest::collection::vec((0usize..4_000, 1usize..300), 1..12)) {
        const SAMPLE: &str = include_str!("../../../crates/lang/src/languages/python/sample.py");
        let text = shuffled(SAMPLE, &pieces);
        let file = |path: &str| Marked { path: path.to_owned(), text: text.clone(), marks: Vec::new() };
        relations(&[file("a.py"), file("pkg/__init__.py"), file("pkg/b.py")]);
    }
}

/// Writes out a text for each of many numbers.
fn many(of: impl Fn(usize) -> String) -> String {
    (0..40).map(of).collect()
}

#[test]
fn stars_are_followed_however_many_there_are() {
    let typescript = format!(
        "--- barrel.ts\n{}--- use.ts\nimport {{ {} }} from './barrel';\n{}",
        many(|n| format!("export * from './m{n}';\n")),
        many(|n| format!("f{n}⟦f{n}⟧, ")),
        many(|n| format!("--- m{n}.ts\nexport function f{n}⟦=f{n}⟧() {{}}\n")),
    );
    check(&typescript);
    let python = format!(
        "--- pkg/__init__.py\n{}--- use.py\nimport pkg\nfrom pkg import f39⟦f39⟧\n{}{}",
        many(|n| format!("from .m{n} import *\n")),
        many(|n| format!("pkg.f{n}⟦f{n}⟧()\n")),
        many(|n| format!("--- pkg/m{n}.py\ndef f{n}⟦=f{n}⟧(): ...\n")),
    );
    check(&python);
    let rust = format!(
        "--- src/lib.rs\n{}mod inner;\n--- src/inner.rs\nuse crate::*;\nfn go() {{\n{}}}\n{}",
        many(|n| format!("mod m{n}; pub use m{n}::*;\n")),
        many(|n| format!("f{n}⟦f{n}⟧();\n")),
        many(|n| format!("--- src/m{n}.rs\npub fn f{n}⟦=f{n}⟧() {{}}\n")),
    );
    check(&rust);
    let java = format!(
        "--- z/Use.java\npackage z;\n{}class Use {{\n{}}}\n{}",
        many(|n| format!("import q{n}.*;\n")),
        many(|n| format!("C{n}⟦C{n}⟧ c{n};\n")),
        many(|n| format!("--- q{n}/C{n}.java\npackage q{n};\npublic class C{n}⟦=C{n}⟧ {{ }}\n")),
    );
    check(&java);
}

#[test]
fn stars_that_hand_on_stars_are_followed_to_the_end_of_a_long_chain() {
    let chain = (1..3_000).map(|n| format!("--- m{n}.ts\nexport * from './m{}';\n", n - 1)).collect::<String>();
    check(&format!(
        "--- m0.ts\nexport * from './m2999';\nexport const x⟦=x⟧ = 1;\n{chain}--- use.ts\nimport {{ x⟦x⟧, y⟦?⟧ }} from './m2999';\n"
    ));
}
