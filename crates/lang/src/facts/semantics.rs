//! Naming rules of a language as data, and its module lookup.

use std::cell::OnceCell;
use std::sync::Arc;

use super::ids::ScopeId;
use super::packed::unpack;
use super::tables::Facts;

/// Number of a module, given by the language's [`Modules`], from zero.
pub type Module = u32;

/// Whether a bare name inside a method sees the members of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassNames {
    /// Nowhere: JavaScript.
    Never,
    /// Only directly in the class's body: Python, Rust.
    Hidden,
    /// Everywhere inside, inherited ones too: Java.
    Inherited,
}

/// Result of a call of an external function or method, by its name: `list.pop`, `Option::unwrap`, `Array.map`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The receiver of a method, or the first argument of a function.
    Same,
    /// An element of it.
    Element,
    /// A key of it.
    Key,
    /// A container of it.
    Wrap,
    /// A container of it, or of its elements if it is a list of arguments: `Stream.of`.
    Gather,
    /// A container of the results of the callback, the last argument.
    Map,
    /// The result of the callback, the last argument: `Option::and_then`.
    Given,
    /// A container of its iteration items: `HashMap::iter`.
    Each,
    /// A container of its keys.
    Keys,
    /// A container of its elements.
    Values,
    /// A container of its keys with their elements: `dict.items`.
    Pairs,
    /// A container of its elements with their numbers: `enumerate`.
    Numbered,
}

/// Item type when iterating over a container of several type arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationItem {
    /// The first argument: Python's `dict[K, V]` and `Generator[Y, S, R]`.
    First,
    /// The last argument.
    Last,
    /// Both, as a tuple: JavaScript's and Rust's maps.
    Pair,
}

/// How much a call of something outside of the project tells of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideCalls {
    /// The result is outside, too, whatever is given: Go.
    Declared,
    /// The result may be of a type that is given: Java.
    Generic,
    /// Later uses may tell what the result holds, or nothing does: Rust, Python.
    Inferred,
}

/// Naming rules of one language.
pub struct Semantics {
    /// See [`ClassNames`].
    pub class_names: ClassNames,
    /// Members missing from a class are looked up in its subclasses: mix-ins and abstract classes.
    pub looks_down: bool,
    /// A file may see a part of its module only, as its includes say, or all files see a module: which files were
    /// looked through is not noted, and after a change of a shared name, everything is resolved again.
    pub includes: bool,
    /// Members that a call of an instance runs: `__call__`.
    pub call: &'static [&'static str],
    /// Members that give an element, in order of preference; true when the member returns an iterator.
    pub element: &'static [(&'static str, bool)],
    /// See [`IterationItem`].
    pub each: IterationItem,
    /// Members whose result `with` binds.
    pub enter: &'static [&'static str],
    /// Member whose parameters are those of a construction.
    pub constructor: &'static str,
    /// Member that says what an instance of a type constructs, where types describe constructors; else empty.
    pub constructs: &'static str,
    /// Member that says of what type members of any name are, where types may say so; else empty.
    pub any_key: &'static str,
    /// A trait lends its methods to types outside of the project. Finding those that do reads the facts of all files.
    pub lends: bool,
    /// Of the members of one name that a class inherits, the one that the fewest steps lead to counts, rather than that of the
    /// first base: Go's embedded fields.
    pub shallowest: bool,
    /// An unknown function that is called with one type argument gives a value of that type, itself or in a container.
    pub gives_argument: bool,
    /// All members of a class are declared, so that one that is not found here is inherited from outside.
    pub typed: bool,
    /// See [`OutsideCalls`].
    pub outside_calls: OutsideCalls,
    /// A member that is called is a method, and one that is not is none: Java, Rust.
    pub calls_tell: bool,
    /// Name of the default export of a module that is a single value: `import x from` of a CommonJS module. Empty for
    /// languages without one.
    pub default_export: &'static str,
    /// A type and a value may have the same name, and some places of a use tell that the value is meant.
    pub splits_types: bool,
    /// External functions and their effects.
    pub functions: &'static [(&'static str, Effect)],
    /// Methods of external containers and their effects.
    pub methods: &'static [(&'static str, Effect)],
    /// Types outside of the project that are known, each with those above it.
    pub above: &'static [(&'static str, &'static [&'static str])],
    /// Effect of all other methods of containers.
    pub other_methods: Option<Effect>,
    /// Creates the module lookup of a project.
    pub modules: for<'a> fn(&'a Project<'a>) -> Box<dyn Modules + 'a>,
}

/// A file of the project. Its facts are unpacked on first use: after an edit most are never needed.
pub struct ProjectFile<'a> {
    /// Relative to the root, with `/` between the parts.
    pub path: &'a str,
    packed: &'a [u8],
    tables: OnceCell<Arc<Vec<u64>>>,
    // Boxed, since most files of a project are never asked for theirs.
    facts: OnceCell<Box<Facts<'a>>>,
}

impl<'a> ProjectFile<'a> {
    /// Creates a file from its path and packed facts.
    pub fn new(path: &'a str, packed: &'a [u8]) -> Self {
        Self::unpacked(path, packed, None)
    }

    /// Creates a file whose facts may be unpacked already.
    pub(super) fn unpacked(path: &'a str, packed: &'a [u8], tables: Option<Arc<Vec<u64>>>) -> Self {
        let tables = tables.map_or_else(OnceCell::new, OnceCell::from);
        Self { path, packed, tables, facts: OnceCell::new() }
    }

    /// The unpacked facts, if they were asked for.
    pub(super) fn used_tables(&self) -> Option<Arc<Vec<u64>>> {
        self.facts.get().and_then(|_| self.tables.get().cloned())
    }

    /// The size of its unpacked facts as it is written in them, within the limit for what can be unpacked.
    pub fn size(&self) -> usize {
        let size = self.packed.first_chunk().map_or(0, |size| u32::from_le_bytes(*size) as usize);
        size.min(self.packed.len().saturating_mul(256))
    }

    /// Unpacked facts of the file; empty when they cannot be read.
    pub fn facts(&'a self) -> &'a Facts<'a> {
        self.facts.get_or_init(|| {
            let tables = self.tables.get_or_init(|| {
                let readable = super::kept::unpack_sound(self.packed);
                let nothing = || unpack(&super::Builder::new().finish());
                Arc::new(readable.or_else(nothing).expect("what was just packed is unpacked"))
            });
            Box::new(Facts::open(tables).expect("it was opened above"))
        })
    }
}

/// Reads any file of the source, such as `package.json` or `go.mod`.
pub type Read<'a> = dyn Fn(&str) -> Option<&'a [u8]> + 'a;

/// Files of one checkout in one language, or in several that import each other.
pub struct Project<'a> {
    /// Sorted by path.
    pub files: Vec<ProjectFile<'a>>,
    /// Reads any file of the checkout.
    pub read: &'a Read<'a>,
    /// All paths of the checkout, sorted.
    pub paths: &'a [&'a str],
}

impl Project<'_> {
    /// Index of a file in [`Project::files`].
    pub fn find(&self, path: &str) -> Option<u32> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok().map(|place| place as u32)
    }

    /// Index of a file by the parts of its path; empty parts are left out.
    pub fn find_in(&self, parts: &[&str]) -> Option<u32> {
        let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
        self.find(&parts.join("/"))
    }
}

/// Module lookup of a language. A module is one scope or several: a file's root, all files of a package, a `mod`
/// inside a file.
pub trait Modules {
    /// The module named by a text in a module scope of a file.
    fn find(&self, file: u32, scope: ScopeId, spec: &str) -> Option<Module>;

    /// The module of a scope; most often the file's own.
    fn of(&self, file: u32, scope: ScopeId) -> Module;

    /// Scopes of a module, each with its file; none for a folder that only holds others.
    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)>;

    /// Removes bindings, each a file with a place in it, that a file does not see.
    fn keep_seen(&self, _file: u32, _bound: &mut Vec<(u32, u32)>) {}

    /// Whether only the first of several scopes that bind a name counts, rather than all.
    fn first_counts(&self) -> bool {
        false
    }

    /// Whether a text that leads to no known file may still name a part of the project: an alias of a build, a file
    /// that a build makes.
    fn may_be_own(&self, _spec: &str) -> bool {
        false
    }

    /// The module that a module is declared in, and its name there, where that is a symbol: Rust's `mod a;`.
    fn declared(&self, _module: Module) -> Option<(Module, &str)> {
        None
    }

    /// The modules that a module consists of, where a name may be one of each: a package's sources, and the types that it
    /// declares. None for all others.
    fn apart(&self, _module: Module) -> Vec<Module> {
        Vec::new()
    }

    /// Submodule directly inside another.
    fn child(&self, module: Module, name: &str) -> Option<Module>;
}

/// Folder of a path; empty at the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
