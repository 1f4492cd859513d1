//! Conventions of a language and its frameworks: where programs and tests begin, and which names a library offers to others.
//!
//! Each language's own stand in its folder. [`Conventions::NEUTRAL`] are those of a language that names none: they claim nothing.

use crate::model::Kind;

/// How a language says that a name is for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Public {
    /// Every name.
    All,
    /// Every name that does not begin with this; a package offers what its own file defines or brings in.
    Unless(&'static str),
    /// A name that begins with a capital letter.
    Capital,
    /// A definition that says one of these words.
    Word(&'static [&'static str]),
    /// A definition that says one of these words, or one that holds one that ends with a dot, and every member that is not said to
    /// be private.
    Exported(&'static [&'static str]),
}

/// What the owner of a member is where the member stands outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A type: Go's receivers, Rust's `impl`.
    Type,
    /// A type, or any value: `Foo.prototype.bar = …`, `handlers.open = …`.
    Value,
    /// What a class without a name derives from: `new Base() { … }`.
    Base,
}

/// A file that describes a package.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    /// Its name.
    pub file: &'static str,
    /// Texts of which one says that others get the package; empty where its presence says so.
    pub says: &'static [&'static str],
    /// The parts of the package that it names.
    pub names: Named,
}

/// Parts of a package that its description names.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    /// None.
    Nothing,
    /// Functions, as `module.path:name`; `endings` make a file of a module's path.
    Functions {
        /// As `.py`.
        endings: &'static [&'static str],
    },
    /// Files, as the values of keys of a JSON object; `endings` are those that may be left out.
    Files {
        /// Keys of files that others use.
        faces: &'static [&'static str],
        /// Keys of files that are run.
        programs: &'static [&'static str],
        /// As `/index.js`.
        endings: &'static [&'static str],
    },
}

/// What a framework or a tool uses by itself: definitions of these names at the top level of these files.
#[derive(Debug)]
pub struct Framework {
    /// Globs of paths.
    pub files: &'static [&'static str],
    /// The names, or their beginnings where one ends with `*`; none for all public ones.
    pub names: &'static [&'static str],
}

impl Framework {
    /// Whether it uses a name in its files; `is_public` where that is public.
    pub fn uses(&self, name: &str, is_public: bool) -> bool {
        let is_meant = |wanted: &&str| match wanted.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *wanted,
        };
        if self.names.is_empty() { is_public } else { self.names.iter().any(is_meant) }
    }
}

/// A language's conventions.
#[derive(Debug)]
pub struct Conventions {
    /// Names of functions that a runtime calls by itself, wherever they stand.
    pub mains: &'static [&'static str],
    /// Names and kinds of functions that a program starts with.
    pub starts: &'static [(Kind, &'static str)],
    /// A text that only files that are started hold.
    pub started: Option<&'static str>,
    /// Names of methods that make an object, beside the name of its type.
    pub constructors: &'static [&'static str],
    /// Beginnings of names that a test runner looks for.
    pub tests: &'static [&'static str],
    /// Decorators of what a test runner or a benchmark runs, by the last part of their name.
    pub test_decorators: &'static [&'static str],
    /// Names of files that exercise code or show it, without their ending; `*` stands for anything. A part of a word is no
    /// match: `Test*` is not `Testament`.
    pub test_files: &'static [&'static str],
    /// How a definition is made public.
    pub public: Public,
    /// Files whose public names are there for others, by their name without endings; empty where all of a library's are.
    pub faces: &'static [&'static str],
    /// Beside such a file a folder belongs to a library or an installed program; empty where every folder does.
    pub packages: &'static [Package],
    /// Whether a file, by path and text, is for nobody else though its names are public.
    pub is_inner: fn(&str, &[u8]) -> bool,
    /// A line with any of these texts hands on all names of another file.
    pub wildcards: &'static [&'static str],
    /// Beginnings of comments by which what follows is handed to another program.
    pub directives: &'static [&'static str],
    /// A file that says one of these words may look up names that it puts together while it runs; `[` stands right before such a
    /// name.
    pub reflection: &'static [&'static str],
    /// See [`Framework`].
    pub frameworks: &'static [Framework],
    /// Whether the language itself uses a member of this name.
    pub is_implied: fn(&str) -> bool,
    /// Whether a member may take the place of one of a base that is not in the repository, by the words before its name and that.
    pub may_override: fn(&str, &str) -> bool,
    /// Attributes that name functions in quotes, by how they begin.
    pub naming_attributes: &'static [&'static str],
    /// See [`Owner`].
    pub owner: Owner,
    /// Whether definitions of one name in one place are one thing (`@overload`), not several that are called each by itself.
    pub overloads_are_one: bool,
    /// Whether a type uses what its declaration names, where it is asked what is central. Go's types only hold others: all that is
    /// done with them stands in functions outside of them.
    pub types_use: bool,
    /// Decorators that hand what they decorate to nobody, by the last part of their name.
    pub plain_decorators: &'static [&'static str],
    /// Bases that call nothing of those who derive from them.
    pub plain_bases: &'static [&'static str],
}

impl Conventions {
    /// Conventions of a language that has said nothing of its own: every name may be meant for others.
    pub const NEUTRAL: Self = Self {
        mains: &[],
        starts: &[],
        started: None,
        constructors: &[],
        tests: &[],
        test_decorators: &[],
        test_files: &[],
        public: Public::All,
        faces: &[],
        packages: &[],
        is_inner: |_, _| false,
        wildcards: &[],
        directives: &[],
        reflection: &[],
        frameworks: &[],
        is_implied: |_| false,
        may_override: |_, _| true,
        naming_attributes: &[],
        owner: Owner::Type,
        overloads_are_one: true,
        types_use: true,
        plain_decorators: &[],
        plain_bases: &[],
    };
}

/// Whether a definition says one of these words.
pub(super) fn says(definition: &str, words: &[&str]) -> bool {
    definition.split_whitespace().any(|own| words.contains(&own))
}
