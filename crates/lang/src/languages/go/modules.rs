//! Go packages: files of a folder with the same package clause, found through the module paths in `go.mod`.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::lower::PACKAGE;
use crate::facts::{
    ClassNames, Declared, Effect, IterationItem, Module, Modules, OutsideCalls, Project, ROOT, ScopeId, Semantics,
    folder,
};

/// Binding rules of Go.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Hidden,
    looks_down: false,
    includes: false,
    call: &[],
    element: &[],
    each: IterationItem::Last,
    enter: &[],
    constructor: "",
    constructs: "",
    any_key: "",
    lends: false,
    shallowest: true,
    gives_argument: false,
    typed: true,
    outside_calls: OutsideCalls::Declared,
    calls_tell: false,
    default_export: "",
    splits_types: false,
    functions: &[
        ("append", Effect::Same),
        ("max", Effect::Same),
        ("min", Effect::Same),
        // Functions of `slices` and `maps`.
        ("Clone", Effect::Same),
        ("Collect", Effect::Same),
        ("Keys", Effect::Keys),
        ("Max", Effect::Element),
        ("MaxFunc", Effect::Element),
        ("Min", Effect::Element),
        // Functions of `sync` that return a function like their argument.
        ("OnceFunc", Effect::Same),
        ("OnceValue", Effect::Same),
        ("OnceValues", Effect::Same),
        ("MinFunc", Effect::Element),
        ("Sorted", Effect::Same),
        ("Values", Effect::Values),
    ],
    // Methods of `atomic.Pointer` and similar types.
    methods: &[("Load", Effect::Element), ("Swap", Effect::Element)],
    above: &[],
    other_methods: None,
    modules: |project| Box::new(Packages::new(project)),
};

/// Packages of one project.
struct Packages<'a> {
    project: &'a Project<'a>,
    /// Files of each module. A package may have several: with tests, without tests, and as seen on one operating
    /// system.
    files: Vec<Vec<u32>>,
    /// The package of each file, with its tests.
    packages: Vec<Module>,
    /// The package as the file sees it: without files for other operating systems.
    own: Vec<Module>,
    /// The package that a folder exports.
    offered: FxHashMap<&'a str, Module>,
    /// Module paths in `go.mod` files with their folders, longest first.
    roots: Vec<(String, &'a str)>,
    /// Cache of resolved import paths.
    found: RefCell<FxHashMap<Box<str>, Option<&'a str>>>,
}

impl<'a> Packages<'a> {
    fn new(project: &'a Project<'a>) -> Self {
        let mut files: Vec<Vec<u32>> = Vec::new();
        let mut packages = Vec::with_capacity(project.files.len());
        let mut numbers: FxHashMap<(&str, &str), Module> = FxHashMap::default();
        for (number, file) in project.files.iter().enumerate() {
            let clause = file.facts().modules.iter().find(|module| module.kind == Declared::Package);
            let name = clause.map_or("", |clause| file.facts().name(clause.name));
            let next = files.len() as Module;
            let module = *numbers.entry((folder(file.path), name)).or_insert(next);
            if module == next {
                files.push(Vec::new());
            }
            files[module as usize].push(number as u32);
            packages.push(module);
        }
        // A folder exports the package of most of its files; tests do not count, and `main` comes last.
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
        let mut own = packages.clone();
        let mut views: FxHashMap<(Module, System<'_>), Module> = FxHashMap::default();
        for (number, file) in project.files.iter().enumerate() {
            let system = system(file.path);
            if system == (None, None) {
                continue;
            }
            own[number] = *views.entry((packages[number], system)).or_insert_with(|| {
                let all = files[packages[number] as usize].iter().copied();
                let seen = all.filter(|other| goes_with(system, self::system(project.files[*other as usize].path)));
                files.push(seen.collect());
                files.len() as Module - 1
            });
        }
        let mut roots: Vec<(String, &str)> = Vec::new();
        for path in project.paths.iter().filter(|path| path.rsplit('/').next() == Some("go.mod")) {
            let text = (project.read)(path).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
            let named = text.lines().find_map(|line| line.trim().strip_prefix("module"));
            let named = named.map(|name| name.split("//").next().unwrap_or_default().trim().trim_matches('"'));
            roots.extend(named.map(|name| (name.to_owned(), folder(path))));
        }
        roots.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        Self { project, files, packages, own, offered, roots, found: RefCell::default() }
    }

    /// The folder of an import path.
    fn look(&self, spec: &str) -> Option<&'a str> {
        let at = |path: String| self.offered.get_key_value(path.as_str()).map(|(folder, _)| *folder);
        for (name, root) in &self.roots {
            let rest = match spec.strip_prefix(name.as_str()) {
                Some("") => "",
                Some(rest) if rest.starts_with('/') => &rest[1..],
                // Import paths of the standard library do not start with its module name.
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
        // Without a `go.mod`, the end of the path is matched, as in a `src` workspace.
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

/// Operating system and processor in a file name: `open_linux_arm64.go`.
type System<'a> = (Option<&'a str>, Option<&'a str>);

fn system(path: &str) -> System<'_> {
    let name = path.strip_suffix(".go").unwrap_or(path);
    let name = name.strip_suffix("_test").unwrap_or(name);
    let name = name.rsplit('/').next().unwrap_or(name);
    // The part before the first `_` does not count.
    let mut ends = name.split_once('_').map_or("", |(_, ends)| ends).rsplit('_');
    let last = ends.next().unwrap_or_default();
    let processor = Some(last).filter(|last| PROCESSORS.contains(last));
    let system = if processor.is_some() { ends.next() } else { Some(last) };
    (system.filter(|system| SYSTEMS.contains(system)), processor)
}

/// Whether files for two systems can be compiled together. A build for a system takes the files of the one that it
/// belongs to, as well: `view_ios.go` and `view_darwin.go`.
fn goes_with(own: System<'_>, other: System<'_>) -> bool {
    let fits = |own: Option<&str>, other: Option<&str>| own.is_none() || other.is_none() || own == other;
    let is_kind = |one: Option<&str>, of: Option<&str>| one.zip(of).is_some_and(|pair| KINDS.contains(&pair));
    (fits(own.0, other.0) || is_kind(own.0, other.0) || is_kind(other.0, own.0)) && fits(own.1, other.1)
}

/// Systems, each with the one whose files its builds take (`go help buildconstraint`).
const KINDS: &[(&str, &str)] = &[("android", "linux"), ("illumos", "solaris"), ("ios", "darwin")];

#[rustfmt::skip]
const SYSTEMS: &[&str] = &[
    "aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl", "netbsd",
    "openbsd", "plan9", "solaris", "wasip1", "windows", "zos",
];
#[rustfmt::skip]
const PROCESSORS: &[&str] = &[
    "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64",
    "s390x", "sparc64", "wasm",
];

/// Whether an import path is of the standard library: it begins with no host.
pub fn is_standard(path: &str) -> bool {
    !path.split('/').next().unwrap_or_default().contains('.')
}

fn joined(folder: &str, rest: &str) -> String {
    if folder.is_empty() || rest.is_empty() { format!("{folder}{rest}") } else { format!("{folder}/{rest}") }
}

impl Modules for Packages<'_> {
    fn find(&self, file: u32, _scope: ScopeId, spec: &str) -> Option<Module> {
        let known = self.found.borrow().get(spec).copied();
        let named = known.unwrap_or_else(|| {
            let found = self.look(spec);
            self.found.borrow_mut().insert(spec.into(), found);
            found
        })?;
        let offered = *self.offered.get(named)?;
        // An external test package sees the definitions in the package's own tests.
        if folder(self.project.files[file as usize].path) != named {
            return Some(offered);
        }
        let first = self.files[offered as usize].first()?;
        Some(self.packages[*first as usize])
    }

    fn of(&self, file: u32, _scope: ScopeId) -> Module {
        self.own[file as usize]
    }

    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        self.files[module as usize].iter().map(|file| (*file, ROOT)).collect()
    }

    fn declared(&self, module: Module) -> Option<(Module, &str)> {
        Some((module, PACKAGE))
    }

    fn child(&self, _: Module, _: &str) -> Option<Module> {
        None
    }
}
