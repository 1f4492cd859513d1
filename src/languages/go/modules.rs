//! Go's packages: the files of a folder that name the same one, found by the paths of modules in `go.mod`.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::resolve::ir::ROOT;
use crate::resolve::{ClassNames, Declared, Each, Effect, Module, Modules, Project, Semantics, folder};

/// How Go binds names.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Hidden,
    looks_down: false,
    call: &[],
    element: &[],
    each: Each::Last,
    enter: &[],
    constructor: "",
    default_export: "",
    functions: &[
        ("append", Effect::Same),
        ("max", Effect::Same),
        ("min", Effect::Same),
        // Of `slices` and `maps`.
        ("Clone", Effect::Same),
        ("Collect", Effect::Same),
        ("Keys", Effect::Keys),
        ("Max", Effect::Element),
        ("MaxFunc", Effect::Element),
        ("Min", Effect::Element),
        ("MinFunc", Effect::Element),
        ("Sorted", Effect::Same),
        ("Values", Effect::Values),
    ],
    // Of `atomic.Pointer` and its like.
    methods: &[("Load", Effect::Element), ("Swap", Effect::Element)],
    other_methods: None,
    modules: |project| Box::new(Packages::new(project)),
};

/// The packages of one project.
struct Packages<'a> {
    project: &'a Project<'a>,
    /// The files of each module: a package with its tests, and again without.
    files: Vec<Vec<u32>>,
    /// The module of each file: its package with the tests.
    own: Vec<Module>,
    /// What a folder offers to others.
    offered: FxHashMap<&'a str, Module>,
    /// The paths that `go.mod` files give to their folders, the longest first.
    roots: Vec<(String, &'a str)>,
    /// What was found for a path.
    found: RefCell<FxHashMap<Box<str>, Option<&'a str>>>,
}

impl<'a> Packages<'a> {
    fn new(project: &'a Project<'a>) -> Self {
        let mut files: Vec<Vec<u32>> = Vec::new();
        let mut own = Vec::with_capacity(project.files.len());
        let mut numbers: FxHashMap<(&str, &str), Module> = FxHashMap::default();
        for (number, file) in project.files.iter().enumerate() {
            let clause = file.facts.modules.iter().find(|module| module.kind == Declared::Package as u8);
            let name = clause.map_or("", |clause| file.facts.name(clause.name));
            let next = files.len() as Module;
            let module = *numbers.entry((folder(file.path), name)).or_insert(next);
            if module == next {
                files.push(Vec::new());
            }
            files[module as usize].push(number as u32);
            own.push(module);
        }
        // A folder offers the package that most of its files belong to, tests and programs aside.
        let mut best: FxHashMap<&str, (bool, usize, &str, Module)> = FxHashMap::default();
        for ((folder, name), module) in numbers {
            let shown: Vec<u32> =
                files[module as usize].iter().copied().filter(|file| !is_test(project, *file)).collect();
            let rank = (name != "main", shown.len(), name);
            if shown.is_empty() || best.get(folder).is_some_and(|known| (known.0, known.1, known.2) > rank) {
                continue;
            }
            best.insert(folder, (rank.0, rank.1, rank.2, module));
        }
        let mut offered: FxHashMap<&str, Module> = FxHashMap::default();
        for (folder, (.., module)) in best {
            let shown: Vec<u32> =
                files[module as usize].iter().copied().filter(|file| !is_test(project, *file)).collect();
            if shown.len() < files[module as usize].len() {
                offered.insert(folder, files.len() as Module);
                files.push(shown);
            } else {
                offered.insert(folder, module);
            }
        }
        let mut roots: Vec<(String, &str)> = Vec::new();
        for path in project.paths.iter().filter(|path| path.rsplit('/').next() == Some("go.mod")) {
            let text = (project.read)(path).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
            let named = text.lines().find_map(|line| line.trim().strip_prefix("module"));
            let named = named.map(|name| name.split("//").next().unwrap_or_default().trim().trim_matches('"'));
            roots.extend(named.map(|name| (name.to_owned(), folder(path))));
        }
        roots.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        Self { project, files, own, offered, roots, found: RefCell::default() }
    }

    /// The folder that an import path names.
    fn look(&self, spec: &str) -> Option<&'a str> {
        let at = |path: String| self.offered.get_key_value(path.as_str()).map(|(folder, _)| *folder);
        for (name, root) in &self.roots {
            let rest = match spec.strip_prefix(name.as_str()) {
                Some("") => "",
                Some(rest) if rest.starts_with('/') => &rest[1..],
                // The standard library's paths do not begin with its name.
                _ if name == "std" => spec,
                _ => continue,
            };
            if let Some(found) = at(joined(root, rest)) {
                return Some(found);
            }
        }
        let vendor = self.roots.iter().map(|(_, root)| *root).chain([""]);
        if let Some(found) = vendor.into_iter().find_map(|root| at(joined(root, &joined("vendor", spec)))) {
            return Some(found);
        }
        // Without a `go.mod` the end of the path tells, as the folders below `src` have it.
        if !self.roots.is_empty() || !spec.split('/').next().is_some_and(|host| host.contains('.')) {
            return at(joined("src", spec)).filter(|_| self.roots.is_empty());
        }
        let ends = std::iter::successors(Some(spec), |spec| spec.split_once('/').map(|(_, rest)| rest));
        ends.into_iter().find_map(|end| at(joined("src", end)).or_else(|| at(end.to_owned())))
    }
}

fn is_test(project: &Project<'_>, file: u32) -> bool {
    project.files[file as usize].path.ends_with("_test.go")
}

fn joined(folder: &str, rest: &str) -> String {
    if folder.is_empty() || rest.is_empty() { format!("{folder}{rest}") } else { format!("{folder}/{rest}") }
}

impl Modules for Packages<'_> {
    fn find(&self, file: u32, _scope: u32, spec: &str) -> Option<Module> {
        let known = self.found.borrow().get(spec).copied();
        let named = known.unwrap_or_else(|| {
            let found = self.look(spec);
            self.found.borrow_mut().insert(spec.into(), found);
            found
        })?;
        let offered = *self.offered.get(named)?;
        // A test from outside of the package sees what the package's own tests define.
        if folder(self.project.files[file as usize].path) != named {
            return Some(offered);
        }
        let first = self.files[offered as usize].first()?;
        Some(self.own[*first as usize])
    }

    fn of(&self, file: u32, _scope: u32) -> Module {
        self.own[file as usize]
    }

    fn scopes(&self, module: Module) -> Vec<(u32, u32)> {
        self.files[module as usize].iter().map(|file| (*file, ROOT)).collect()
    }

    fn child(&self, _: Module, _: &str) -> Option<Module> {
        None
    }
}
