//! Java's packages: several files each, perhaps below several source roots.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::members::OPEN;
use crate::facts::{
    ClassNames, Declared, Effect, IterationItem, Module, Modules, OutsideCalls, Project, ROOT, ScopeId, Semantics,
    folder,
};

/// Name resolution of Java.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Inherited,
    looks_down: false,
    includes: false,
    call: &[OPEN],
    element: &[("iterator()", true)],
    each: IterationItem::Last,
    enter: &[],
    constructor: "",
    constructs: "",
    any_key: "",
    lends: false,
    shallowest: false,
    gives_argument: false,
    typed: true,
    outside_calls: OutsideCalls::Generic,
    calls_tell: true,
    default_export: "",
    splits_types: false,
    functions: &[
        ("requireNonNull()", Effect::Same),
        ("requireNonNullElse()", Effect::Same),
        ("checkNotNull()", Effect::Same),
        ("copyOf()", Effect::Same),
        ("unmodifiableList()", Effect::Same),
        ("unmodifiableSet()", Effect::Same),
        ("unmodifiableMap()", Effect::Same),
        ("unmodifiableCollection()", Effect::Same),
        ("asList()", Effect::Gather),
        ("of()", Effect::Gather),
        ("ofNullable()", Effect::Wrap),
        ("singleton()", Effect::Wrap),
        ("singletonList()", Effect::Wrap),
        ("stream()", Effect::Same),
        ("concat()", Effect::Same),
        ("max()", Effect::Element),
        ("min()", Effect::Element),
    ],
    methods: &[
        ("clone()", Effect::Same),
        ("collect()", Effect::Same),
        ("descendingIterator()", Effect::Same),
        ("distinct()", Effect::Same),
        ("filter()", Effect::Same),
        ("findAny()", Effect::Same),
        ("findFirst()", Effect::Same),
        ("iterator()", Effect::Same),
        ("limit()", Effect::Same),
        ("max()", Effect::Same),
        ("min()", Effect::Same),
        ("reduce()", Effect::Same),
        ("listIterator()", Effect::Same),
        ("parallelStream()", Effect::Same),
        ("peek()", Effect::Same),
        ("skip()", Effect::Same),
        ("sorted()", Effect::Same),
        ("stream()", Effect::Same),
        ("subList()", Effect::Same),
        ("toArray()", Effect::Same),
        ("toList()", Effect::Same),
        ("getKey()", Effect::Key),
        ("entrySet()", Effect::Wrap),
        ("keySet()", Effect::Keys),
        ("values()", Effect::Values),
        ("map()", Effect::Map),
        ("flatMap()", Effect::Given),
        ("valueOf()", Effect::Same),
    ],
    above: &[],
    other_methods: Some(Effect::Element),
    modules: |project| Box::new(JavaModules::new(project)),
};

/// The packages of one project. A package is another module seen from each source root, because the files below that root
/// come first in it: a class of a name may be below several.
struct JavaModules<'a> {
    numbers: FxHashMap<String, u32>,
    names: Vec<String>,
    /// The files of each package.
    files: Vec<Vec<u32>>,
    roots: Vec<&'a str>,
    /// Each file's package and root.
    places: Vec<(u32, u32)>,
    /// The scopes found so far.
    scopes: RefCell<FxHashMap<Module, Scopes>>,
}

/// Scopes of a package: a file and a place in it.
type Scopes = Rc<[(u32, ScopeId)]>;

impl<'a> JavaModules<'a> {
    fn new(project: &'a Project<'a>) -> Self {
        let mut modules = Self {
            numbers: FxHashMap::default(),
            names: Vec::new(),
            files: Vec::new(),
            roots: Vec::new(),
            places: Vec::new(),
            scopes: RefCell::default(),
        };
        let mut roots: FxHashMap<&str, u32> = FxHashMap::default();
        for (file, of) in project.files.iter().enumerate() {
            let declared = of.facts().modules.iter().find(|module| module.kind == Declared::Package);
            let name = declared.map_or("", |module| of.facts().name(module.name));
            let package = modules.package(name);
            modules.files[package as usize].push(file as u32);
            let own = folder(of.path);
            let root = own.strip_suffix(name.replace('.', "/").as_str()).unwrap_or(own);
            let next = modules.roots.len() as u32;
            let root = *roots.entry(root).or_insert_with(|| {
                modules.roots.push(root);
                next
            });
            modules.places.push((package, root));
        }
        modules
    }

    /// The number of a package; those around it get one too.
    fn package(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if let Some((around, _)) = name.rsplit_once('.') {
            self.package(around);
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        self.files.push(Vec::new());
        number
    }

    /// A package as a root sees it.
    fn seen_from(&self, root: u32, name: &str) -> Option<Module> {
        self.numbers.get(name).map(|package| root * self.names.len() as u32 + package)
    }

    fn parts(&self, module: Module) -> (usize, u32) {
        let packages = self.names.len() as u32;
        ((module % packages) as usize, module / packages)
    }
}

impl Modules for JavaModules<'_> {
    fn find(&self, file: u32, _scope: ScopeId, spec: &str) -> Option<Module> {
        self.seen_from(self.places[file as usize].1, spec)
    }

    fn of(&self, file: u32, _scope: ScopeId) -> Module {
        let (package, root) = self.places[file as usize];
        root * self.names.len() as u32 + package
    }

    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        if let Some(known) = self.scopes.borrow().get(&module) {
            return known.to_vec();
        }
        let (package, root) = self.parts(module);
        let own = self.roots[root as usize];
        let mut files = self.files[package].clone();
        // The same root first, then the roots that share most of their path with it.
        files.sort_by_key(|file| {
            let other = self.roots[self.places[*file as usize].1 as usize];
            let shared = own.split('/').zip(other.split('/')).take_while(|(own, other)| own == other).count();
            (own != other, Reverse(shared))
        });
        let scopes: Vec<(u32, ScopeId)> = files.into_iter().map(|file| (file, ROOT)).collect();
        self.scopes.borrow_mut().insert(module, scopes.clone().into());
        scopes
    }

    fn first_counts(&self) -> bool {
        true
    }

    fn child(&self, module: Module, name: &str) -> Option<Module> {
        let (package, root) = self.parts(module);
        self.seen_from(root, &format!("{}.{name}", self.names[package]))
    }
}

/// Whether a package comes with Java.
pub fn is_standard(package: &str) -> bool {
    ["java.", "javax.", "jdk.", "sun.", "org.w3c.", "org.xml."].iter().any(|start| package.starts_with(start))
}

/// Package of an imported class or member: names begin with a small letter up to the class.
pub fn package(path: &str) -> &str {
    let class = path.char_indices().find(|(at, char)| char.is_uppercase() && (*at == 0 || path[..*at].ends_with('.')));
    class.map_or(path, |(at, _)| path[..at].trim_end_matches('.'))
}
