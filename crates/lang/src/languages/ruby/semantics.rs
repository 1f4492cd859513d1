//! Name resolution of Ruby: the constants and functions outside of classes are those of all files.

use rustc_hash::FxHashMap;

use crate::facts::{
    ClassNames, Effect, IterationItem, Module, Modules, OutsideCalls, Project, ROOT, ScopeId, Semantics, folder,
};

/// Name resolution of Ruby.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Inherited,
    looks_down: true,
    includes: true,
    call: &["call"],
    element: &[("[]", false)],
    each: IterationItem::Last,
    enter: &[],
    constructor: "initialize",
    constructs: "",
    any_key: "",
    lends: false,
    shallowest: false,
    gives_argument: false,
    typed: false,
    outside_calls: OutsideCalls::Inferred,
    calls_tell: false,
    default_export: "",
    splits_types: false,
    functions: &[],
    methods: &[
        ("clone", Effect::Same),
        ("compact", Effect::Same),
        ("dup", Effect::Same),
        ("first", Effect::Element),
        ("freeze", Effect::Same),
        ("last", Effect::Element),
        ("pop", Effect::Element),
        ("reverse", Effect::Same),
        ("select", Effect::Same),
        ("shift", Effect::Element),
        ("sort", Effect::Same),
        ("tap", Effect::Same),
        ("to_a", Effect::Same),
    ],
    above: &[],
    other_methods: None,
    modules: |project| Box::new(Files::new(project)),
};

/// The module of all files.
const ALL: Module = 0;
/// The module of the first file.
const FIRST: Module = 1;

/// The files of one project, by the names that they are required by.
struct Files<'a> {
    project: &'a Project<'a>,
    required: FxHashMap<&'a str, u32>,
}

impl<'a> Files<'a> {
    fn new(project: &'a Project<'a>) -> Self {
        let mut required = FxHashMap::default();
        for (number, file) in (0..).zip(&project.files) {
            let Some(path) = file.path.strip_suffix(".rb") else { continue };
            let from_library = path.strip_prefix("lib/").or_else(|| path.rsplit_once("/lib/").map(|(_, path)| path));
            required.entry(from_library.unwrap_or(path)).or_insert(number);
        }
        Self { project, required }
    }
}

impl Modules for Files<'_> {
    /// A path that begins with a dot is one from the file's folder, the empty text means all files.
    fn find(&self, file: u32, _scope: ScopeId, spec: &str) -> Option<Module> {
        if spec.is_empty() {
            return Some(ALL);
        }
        let spec = spec.strip_suffix(".rb").unwrap_or(spec);
        let Some(relative) = spec.strip_prefix("./") else {
            return self.required.get(spec).map(|number| FIRST + number);
        };
        let mut parts: Vec<&str> = folder(self.project.files[file as usize].path).split('/').collect();
        for part in relative.split('/') {
            match part {
                "." | "" => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let last = format!("{}.rb", parts.pop()?);
        parts.push(&last);
        self.project.find_in(&parts).map(|number| FIRST + number)
    }

    fn of(&self, _file: u32, _scope: ScopeId) -> Module {
        ALL
    }

    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        match module {
            ALL => (0..self.project.files.len() as u32).map(|file| (file, ROOT)).collect(),
            file => vec![(file - FIRST, ROOT)],
        }
    }

    fn child(&self, _module: Module, _name: &str) -> Option<Module> {
        None
    }
}
