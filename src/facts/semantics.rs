//! What differs between languages when names are resolved, as data; and how a language finds its modules.

use std::cell::OnceCell;

use super::packed::unpack;
use super::tables::Facts;

/// The number of a module: any that the language's [`Modules`] gives it, from zero.
pub type Module = u32;

/// Whether a bare name inside a method sees the members of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassNames {
    /// Only directly in the class's body: Python, JavaScript, Rust.
    Hidden,
    /// Everywhere inside, inherited ones too: Java.
    Inherited,
}

/// What a call gives that is of no definition we have, told by its name: `list.pop`, `Option::unwrap`, `Array.map`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// What it is called on (a method), or its first argument (a function).
    Same,
    /// An element of that.
    Element,
    /// A key of that.
    Key,
    /// A container of that.
    Wrap,
    /// A container of what the function that is its last argument gives.
    Map,
    /// What the function that is its last argument gives: `Option::and_then`.
    Given,
    /// A container of what iterating over it gives: `HashMap::iter`.
    Each,
    /// A container of its keys.
    Keys,
    /// A container of its elements.
    Values,
    /// A container of its keys, each with its element: `dict.items`.
    Pairs,
    /// A container of its elements, each after its number: `enumerate`.
    Numbered,
}

/// What iterating over a container of several type arguments gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// Something of the first argument: Python's `dict[K, V]` and `Generator[Y, S, R]`.
    First,
    /// Of the last.
    Last,
    /// Of both, as a tuple: JavaScript's and Rust's maps.
    Pair,
}

/// A language, as far as resolving goes.
pub struct Semantics {
    /// See [`ClassNames`].
    pub class_names: ClassNames,
    /// A member that a class does not have is looked for in its subclasses: mix-ins and abstract classes.
    pub looks_down: bool,
    /// Members that are called when an instance is: `__call__`.
    pub call: &'static [&'static str],
    /// Members that give an element: the first that is there; true when what it gives is an iterator.
    pub element: &'static [(&'static str, bool)],
    /// See [`Each`].
    pub each: Each,
    /// Members that give what `with` binds.
    pub enter: &'static [&'static str],
    /// The member whose parameters are those of a construction.
    pub constructor: &'static str,
    /// The name under which a module that is one value offers that: `import x from` of a CommonJS module. Empty where
    /// there is no such thing.
    pub default_export: &'static str,
    /// Functions that are no definition of ours.
    pub functions: &'static [(&'static str, Effect)],
    /// Methods of containers that are no definition of ours, and what all the others do.
    pub methods: &'static [(&'static str, Effect)],
    /// What the other methods of containers do.
    pub other_methods: Option<Effect>,
    /// Finds the modules of a project.
    pub modules: for<'a> fn(&'a Project<'a>) -> Box<dyn Modules + 'a>,
}

/// A file that takes part. Its facts are unpacked when they are first asked for: after an edit most are not.
pub struct ProjectFile<'a> {
    /// Relative to the root, with `/` between the parts.
    pub path: &'a str,
    packed: &'a [u8],
    tables: OnceCell<Vec<u64>>,
    facts: OnceCell<Facts<'a>>,
}

impl<'a> ProjectFile<'a> {
    /// A file and its facts as they are kept.
    pub fn new(path: &'a str, packed: &'a [u8]) -> Self {
        Self { path, packed, tables: OnceCell::new(), facts: OnceCell::new() }
    }

    /// Its facts. Those that cannot be read say nothing.
    pub fn facts(&'a self) -> &'a Facts<'a> {
        self.facts.get_or_init(|| {
            let tables = self.tables.get_or_init(|| {
                let readable = unpack(self.packed).filter(|tables| Facts::open(tables).is_some());
                readable.or_else(|| unpack(&super::Builder::new().finish())).expect("what was just packed is unpacked")
            });
            Facts::open(tables).expect("it was opened above")
        })
    }
}

/// Reads a file of the source that may be no code: `package.json`, `go.mod`.
pub type Read<'a> = dyn Fn(&str) -> Option<&'a [u8]> + 'a;

/// The files of one language (or of several that import each other) in one checkout.
pub struct Project<'a> {
    /// By ascending path.
    pub files: Vec<ProjectFile<'a>>,
    /// Any other file of the checkout.
    pub read: &'a Read<'a>,
    /// Every path of the checkout, ascending.
    pub paths: &'a [&'a str],
}

impl Project<'_> {
    /// The place of a file among [`Project::files`].
    pub fn find(&self, path: &str) -> Option<u32> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok().map(|place| place as u32)
    }

    /// The place of a file by the parts of its path, `/` between them; empty parts are left out.
    pub fn find_in(&self, parts: &[&str]) -> Option<u32> {
        let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
        self.find(&parts.join("/"))
    }
}

/// Finds modules. A module is one scope or several: a file's root, every file's of a package, a `mod` inside a file.
pub trait Modules {
    /// The module that a text names, written in a module scope of a file.
    fn find(&self, file: u32, scope: u32, spec: &str) -> Option<Module>;

    /// The module whose scope this is; most often the file's own.
    fn of(&self, file: u32, scope: u32) -> Module;

    /// The scopes that make a module up, each with its file; none for a folder that only holds others.
    fn scopes(&self, module: Module) -> Vec<(u32, u32)>;

    /// Whether a name that several scopes of a module bind means what the first of them says, rather than all.
    fn first_counts(&self) -> bool {
        false
    }

    /// A module directly inside another.
    fn child(&self, module: Module, name: &str) -> Option<Module>;
}

/// The folder of a path; empty at the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
