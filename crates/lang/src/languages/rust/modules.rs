//! Rust's modules: crates from `Cargo.toml` and by their places, and the module trees that files declare.

use rustc_hash::FxHashMap;

use super::manifest::Package;
use crate::facts::{
    ClassNames, Declared, Effect, IterationItem, Module, Modules, OutsideCalls, Project, ROOT, ScopeId, Semantics,
    folder,
};

/// Name resolution of Rust.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Hidden,
    looks_down: false,
    includes: false,
    call: &[],
    element: &[("next", true), ("index", false), ("into_iter", true), ("iter", true)],
    each: IterationItem::Pair,
    enter: &[],
    constructor: "new",
    constructs: "",
    any_key: "",
    lends: true,
    shallowest: false,
    gives_argument: true,
    typed: true,
    outside_calls: OutsideCalls::Inferred,
    calls_tell: true,
    default_export: "",
    splits_types: false,
    functions: &[("swap", Effect::Same), ("replace", Effect::Same), ("take", Effect::Same), ("identity", Effect::Same)],
    methods: METHODS,
    above: &[],
    other_methods: None,
    modules: |project| Box::new(RustModules::new(project)),
};

/// Methods of `Option`, `Result`, iterators, slices, maps and pointers.
const METHODS: &[(&str, Effect)] = &[
    ("as_deref", Effect::Same),
    ("as_deref_mut", Effect::Same),
    ("as_mut", Effect::Same),
    ("as_mut_slice", Effect::Same),
    ("as_ref", Effect::Same),
    ("as_slice", Effect::Same),
    ("borrow", Effect::Same),
    ("borrow_mut", Effect::Same),
    ("by_ref", Effect::Same),
    ("chain", Effect::Same),
    ("clone", Effect::Same),
    ("cloned", Effect::Same),
    ("collect", Effect::Same),
    ("copied", Effect::Same),
    ("cycle", Effect::Same),
    ("default", Effect::Same),
    ("deref", Effect::Same),
    ("entry", Effect::Same),
    ("filter", Effect::Same),
    ("flatten", Effect::Element),
    ("fuse", Effect::Same),
    ("inspect", Effect::Same),
    ("inspect_err", Effect::Same),
    ("lock", Effect::Same),
    ("map_err", Effect::Same),
    ("map_while", Effect::Given),
    ("ok", Effect::Values),
    ("ok_or", Effect::Same),
    ("ok_or_else", Effect::Same),
    ("or", Effect::Same),
    ("or_else", Effect::Same),
    ("peekable", Effect::Same),
    ("rev", Effect::Same),
    ("skip", Effect::Same),
    ("skip_while", Effect::Same),
    ("split_off", Effect::Same),
    ("step_by", Effect::Same),
    ("take", Effect::Same),
    ("take_while", Effect::Same),
    ("to_owned", Effect::Same),
    ("to_vec", Effect::Same),
    ("iter", Effect::Each),
    ("iter_mut", Effect::Each),
    ("into_iter", Effect::Each),
    ("drain", Effect::Each),
    ("body", Effect::Element),
    ("body_mut", Effect::Element),
    ("into_body", Effect::Element),
    ("expect", Effect::Element),
    ("get_or_insert", Effect::Element),
    ("get_or_insert_with", Effect::Element),
    ("into", Effect::Element),
    ("or_default", Effect::Element),
    ("or_insert", Effect::Element),
    ("or_insert_with", Effect::Element),
    ("remove", Effect::Element),
    ("swap_remove", Effect::Element),
    ("unwrap", Effect::Element),
    ("unwrap_or", Effect::Element),
    ("unwrap_or_default", Effect::Element),
    ("unwrap_or_else", Effect::Element),
    ("unwrap_unchecked", Effect::Element),
    ("get_unchecked", Effect::Element),
    ("unwrap_err", Effect::Key),
    ("expect_err", Effect::Key),
    ("err", Effect::Keys),
    ("back", Effect::Values),
    ("back_mut", Effect::Values),
    ("find", Effect::Values),
    ("first", Effect::Values),
    ("first_mut", Effect::Values),
    ("front", Effect::Values),
    ("front_mut", Effect::Values),
    ("get", Effect::Values),
    ("get_mut", Effect::Values),
    ("insert", Effect::Values),
    ("into_values", Effect::Values),
    ("last", Effect::Values),
    ("last_mut", Effect::Values),
    ("max", Effect::Values),
    ("max_by", Effect::Values),
    ("max_by_key", Effect::Values),
    ("min", Effect::Values),
    ("min_by", Effect::Values),
    ("min_by_key", Effect::Values),
    ("next", Effect::Values),
    ("next_back", Effect::Values),
    ("next_if", Effect::Values),
    ("nth", Effect::Values),
    ("peek", Effect::Values),
    ("peek_mut", Effect::Values),
    ("pop", Effect::Values),
    ("pop_back", Effect::Values),
    ("pop_front", Effect::Values),
    ("reduce", Effect::Values),
    ("replace", Effect::Values),
    ("values", Effect::Values),
    ("values_mut", Effect::Values),
    ("into_keys", Effect::Keys),
    ("keys", Effect::Keys),
    ("enumerate", Effect::Numbered),
    ("map", Effect::Map),
    ("then", Effect::Map),
    ("and_then", Effect::Given),
    ("filter_map", Effect::Given),
    ("flat_map", Effect::Given),
    ("find_map", Effect::Given),
    ("map_or", Effect::Given),
    ("map_or_else", Effect::Given),
    ("chunks", Effect::Wrap),
    ("windows", Effect::Wrap),
];

/// A module: a file's root or a `mod` inside a file. If it is declared several times, and `cfg` chooses one, its
/// names may mean those of any declaration.
struct Node<'a> {
    /// The scopes of its declarations, each with its file.
    scopes: Vec<(u32, ScopeId)>,
    parent: Option<Module>,
    /// The root of its crate.
    root: Module,
    children: FxHashMap<&'a str, Module>,
}

/// The modules of one project. After the modules of files come, for each of them, one for all other crates, and then
/// one for the macros of its crate.
struct RustModules<'a> {
    project: &'a Project<'a>,
    nodes: Vec<Node<'a>>,
    /// The name of each module in its parent; empty for a root.
    names: Vec<&'a str>,
    /// By file and scope.
    numbers: FxHashMap<(u32, ScopeId), Module>,
    /// Libraries by the name that code writes.
    crates: FxHashMap<String, Module>,
    /// The scopes of macros, by the root of their crate.
    macros: FxHashMap<Module, Vec<(u32, ScopeId)>>,
}

impl<'a> RustModules<'a> {
    fn new(project: &'a Project<'a>) -> Self {
        let mut modules = Self {
            project,
            nodes: Vec::new(),
            names: Vec::new(),
            numbers: FxHashMap::default(),
            crates: FxHashMap::default(),
            macros: FxHashMap::default(),
        };
        let mut others = Vec::new();
        for manifest in project.paths.iter().filter(|path| path.rsplit('/').next() == Some("Cargo.toml")) {
            let Some(package) = (project.read)(manifest).and_then(|text| Package::read(folder(manifest), text)) else {
                continue;
            };
            if let Some(file) = project.find_in(&[folder(manifest), &package.library]) {
                let root = modules.load(file, None, None, None);
                modules.crates.entry(package.name).or_insert(root);
            }
            others.extend(package.others.iter().filter_map(|path| project.find_in(&[folder(manifest), path])));
        }
        // Without a manifest, crate roots are recognized by their names.
        let roots = |last: &'static str| {
            let is_one = move |path: &str| path == last || path.strip_suffix(last).is_some_and(|it| it.ends_with('/'));
            project.files.iter().zip(0..).filter(move |(file, _)| is_one(file.path)).map(|(_, place)| place)
        };
        others.extend(roots("lib.rs").chain(roots("main.rs")));
        for file in others {
            modules.load(file, None, None, None);
        }
        for (place, file) in (0..).zip(&project.files) {
            let above = folder(file.path);
            let is_target =
                ["tests", "examples", "benches", "bin"].iter().any(|it| above.rsplit('/').next() == Some(it));
            if is_target && !modules.numbers.contains_key(&(place, ROOT)) {
                modules.load(place, None, None, None);
            }
        }
        // A module without a declaration is declared by a macro: its parent follows from its path.
        for (place, file) in (0..).zip(&project.files) {
            if modules.numbers.contains_key(&(place, ROOT)) {
                continue;
            }
            let path = file.path.strip_suffix("/mod.rs").unwrap_or(file.path.trim_end_matches(".rs"));
            let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
            let beside = ["mod.rs", "lib.rs", "main.rs"].iter().find_map(|it| project.find_in(&[above, it]));
            let parent = beside.or_else(|| project.find(&format!("{above}.rs"))).filter(|parent| *parent != place);
            let parent = parent.and_then(|parent| modules.numbers.get(&(parent, ROOT)).copied());
            let own = modules.load(place, parent, None, None);
            if let Some(parent) = parent {
                modules.nodes[parent as usize].children.entry(name).or_insert(own);
            }
        }
        modules.names = vec![""; modules.nodes.len()];
        for (place, node) in (0..).zip(&modules.nodes) {
            for (name, child) in &node.children {
                let known = &mut modules.names[*child as usize];
                if modules.nodes[*child as usize].parent == Some(place) && (known.is_empty() || name < known) {
                    *known = name;
                }
            }
        }
        modules
    }

    /// Loads a file as a module with all its declarations: a new one, or another form of `twin`. `path` is the folder
    /// of its children's files if it differs from the usual one.
    fn load(&mut self, file: u32, parent: Option<Module>, twin: Option<Module>, path: Option<String>) -> Module {
        if let Some(known) = self.numbers.get(&(file, ROOT)) {
            return *known;
        }
        let of = &self.project.files[file as usize];
        let root = self.add(file, ROOT, parent, twin);
        let is_root = parent.is_none();
        let own = folder(of.path).to_owned();
        let stem = of.path.rsplit('/').next().unwrap_or(of.path).trim_end_matches(".rs");
        let below = path.unwrap_or_else(|| match stem {
            "mod" | "lib" | "main" => own.clone(),
            _ if is_root => own.clone(),
            _ => join(&own, stem),
        });
        // Folders with the children's files of inner modules.
        let mut folders: FxHashMap<ScopeId, String> = FxHashMap::default();
        folders.insert(ROOT, below);
        for declared in of.facts().modules {
            let text = of.facts().name(declared.name);
            if declared.kind == Declared::Inline && text == "!" {
                let crate_root = self.nodes[root as usize].root;
                let all = self.macros.entry(crate_root).or_default();
                if !all.contains(&(file, declared.scope)) {
                    all.push((file, declared.scope));
                }
                continue;
            }
            let Some(within) = self.numbers.get(&(file, declared.within)).copied() else { continue };
            let base = folders.get(&declared.within).cloned().unwrap_or_default();
            let (name, place) = text.split_once(' ').unwrap_or((text, ""));
            if declared.kind == Declared::Inline {
                let twin = self.nodes[within as usize].children.get(name).copied();
                let inner = self.add(file, declared.scope, Some(within), twin);
                folders.insert(declared.scope, join(&base, name));
                self.nodes[within as usize].children.entry(name).or_insert(inner);
                continue;
            }
            let found = if place.is_empty() {
                let name = name.trim_start_matches("r#");
                let at = |end: &str| self.project.find(&join(&base, &format!("{name}{end}")));
                at(".rs").or_else(|| at("/mod.rs"))
            } else {
                let from = if declared.within == ROOT { &own } else { &base };
                self.project.find(&join(from, place))
            };
            if let Some(found) = found.filter(|found| *found != file) {
                // A file with its own path has its children beside it.
                let beside = (!place.is_empty()).then(|| folder(self.project.files[found as usize].path).to_owned());
                let twin = self.nodes[within as usize].children.get(name).copied();
                let child = self.load(found, Some(within), twin, beside);
                self.nodes[within as usize].children.entry(name).or_insert(child);
            }
        }
        root
    }

    fn add(&mut self, file: u32, scope: ScopeId, parent: Option<Module>, twin: Option<Module>) -> Module {
        let own = twin.unwrap_or(self.nodes.len() as Module);
        let root = parent.map_or(own, |parent| self.nodes[parent as usize].root);
        match self.nodes.get_mut(own as usize) {
            Some(twin) => twin.scopes.push((file, scope)),
            None => self.nodes.push(Node { scopes: vec![(file, scope)], parent, root, children: FxHashMap::default() }),
        }
        self.numbers.insert((file, scope), own);
        own
    }

    /// The module for other crates, as seen from this one, or for the macros of its crate.
    fn special(&self, module: Module, place: usize) -> Module {
        module + (self.nodes.len() * place) as Module
    }
}

/// `a/b`, with `.` and `..` in `b` followed.
fn join(a: &str, b: &str) -> String {
    let mut parts: Vec<&str> = a.split('/').filter(|part| !part.is_empty()).collect();
    for part in b.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

impl Modules for RustModules<'_> {
    fn find(&self, file: u32, scope: ScopeId, spec: &str) -> Option<Module> {
        let own = self.of(file, scope);
        let node = self.nodes.get(own as usize)?;
        match spec {
            "crate" => return Some(node.root),
            "::" => return Some(self.special(own, 1)),
            "!" => return Some(self.special(node.root, 2)),
            _ => {}
        }
        let mut at = own;
        for part in spec.split("::") {
            let node = self.nodes.get(at as usize)?;
            at = match part {
                "self" => at,
                "crate" => node.root,
                "super" => node.parent?,
                name => *node.children.get(name)?,
            };
        }
        Some(at)
    }

    fn of(&self, file: u32, scope: ScopeId) -> Module {
        self.numbers.get(&(file, scope)).or_else(|| self.numbers.get(&(file, ROOT))).copied().unwrap_or(Module::MAX)
    }

    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        if let Some(node) = self.nodes.get(module as usize) {
            return node.scopes.clone();
        }
        let root = module.wrapping_sub(self.special(0, 2));
        self.macros.get(&root).cloned().unwrap_or_default()
    }

    fn declared(&self, module: Module) -> Option<(Module, &str)> {
        let parent = self.nodes.get(module as usize)?.parent?;
        Some((parent, self.names.get(module as usize).copied()?))
    }

    fn child(&self, module: Module, name: &str) -> Option<Module> {
        if let Some(node) = self.nodes.get(module as usize) {
            return node.children.get(name).copied();
        }
        let from = self.nodes.get(module.checked_sub(self.special(0, 1))? as usize)?;
        self.crates.get(name).copied().or_else(|| {
            // Before the edition of 2018, paths began at the root.
            self.nodes[from.root as usize].children.get(name).copied()
        })
    }
}

/// Whether a crate comes with the compiler.
pub fn is_standard(name: &str) -> bool {
    matches!(name, "std" | "core" | "alloc" | "proc_macro" | "test")
}

/// Crate of an imported path; empty for the project's own.
pub fn package(path: &str) -> &str {
    let path = path.strip_prefix("::.").unwrap_or(path);
    let first = path.split(['.', ':']).next().unwrap_or_default();
    if matches!(first, "crate" | "$crate" | "self" | "super") { "" } else { first }
}
