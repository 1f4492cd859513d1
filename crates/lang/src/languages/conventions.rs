//! Conventions of a language and its frameworks: entry points, tests, and the public names of a library.
//!
//! Each language has its own in its folder. [`Conventions::NEUTRAL`], the default, assumes nothing.

use super::{LANGUAGES, Runner};
use codelode_base::model::{Kind, Span};

/// How a language marks public names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Public {
    /// All names are public.
    All,
    /// Names are public unless they have this prefix; a package's public names are those that its own file defines or
    /// imports.
    Unless(&'static str),
    /// Names that begin with a capital letter are public.
    Capital,
    /// Definitions with one of these words are public.
    Word(&'static [&'static str]),
    /// Definitions after one of these words are public, and so are all members that are not private. A word that ends
    /// in a dot matches anywhere before the name.
    Exported(&'static [&'static str]),
}

/// Meaning of the owner of a member that is defined outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A type, as in Go's receivers and Rust's `impl`.
    Type,
    /// A type or any other value: `Foo.prototype.bar = …`, `handlers.open = …`.
    Value,
    /// The base of an anonymous class: `new Base() { … }`.
    Base,
}

/// Parts of a published package that are its API: their public names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offers {
    /// All of the package.
    Packages,
    /// Files that the manifest names or that stand for their folder where it names none, and those that they re-export.
    Entries,
}

/// Code that sees a private definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// Any code.
    Open,
    /// Code in its folder; where a word says that it is private, in its file.
    Folder,
    /// Code in its file.
    File,
}

/// A manifest file that describes a package.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    /// File name.
    pub file: &'static str,
    /// Texts of which one marks a published package; empty if the file's presence is enough.
    pub says: &'static [&'static str],
    /// Parts of the package that the file names.
    pub names: ManifestPart,
}

/// Parts of a package that its manifest names.
#[derive(Clone, Copy, Debug)]
pub enum ManifestPart {
    /// No parts.
    Nothing,
    /// Functions, as `module.path:name`; `endings` turn a module's path into a file.
    Functions {
        /// Such as `.py`.
        endings: &'static [&'static str],
    },
    /// Files, as the values of keys in a JSON object; `endings` may be omitted there.
    Files {
        /// Keys of public files.
        faces: &'static [&'static str],
        /// Keys of executable files.
        programs: &'static [&'static str],
        /// Such as `/index.js`.
        endings: &'static [&'static str],
    },
}

/// Definitions that a framework or tool uses by itself, given by file and name, at the top level of the file.
#[derive(Debug)]
pub struct Framework {
    /// Path globs.
    pub files: &'static [&'static str],
    /// Names, or prefixes ending in `*`; empty for all public names.
    pub names: &'static [&'static str],
}

impl Framework {
    /// Whether the framework uses a name in its files; `is_public` is whether the name is public.
    pub fn uses(&self, name: &str, is_public: bool) -> bool {
        let is_meant = |wanted: &&str| match wanted.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *wanted,
        };
        if self.names.is_empty() { is_public } else { self.names.iter().any(is_meant) }
    }
}

/// Conventions of a language.
#[derive(Debug)]
pub struct Conventions {
    /// Functions that the runtime calls, in any file.
    pub mains: &'static [&'static str],
    /// Names and kinds of functions where a program starts.
    pub starts: &'static [(Kind, &'static str)],
    /// Text that only executable files contain.
    pub started: Option<&'static str>,
    /// Names of constructor methods, besides the name of the type.
    pub constructors: &'static [&'static str],
    /// Prefixes of names that a test runner collects.
    pub tests: &'static [&'static str],
    /// Prefix of functions that are examples for the definition after which they are named.
    pub examples: Option<&'static str>,
    /// Decorators of tests and benchmarks, by the last part of their name.
    pub test_decorators: &'static [&'static str],
    /// Names of files with tests, benchmarks or examples, without extension; `*` matches anything. Words match as a
    /// whole: `Test*` does not match `Testament`.
    pub test_files: &'static [&'static str],
    /// The runner of tests, if it is known.
    pub runner: Option<&'static Runner>,
    /// How a definition is marked as public.
    pub public: Public,
    /// Names of files, without extension, that stand for their folder.
    pub folder_files: &'static [&'static str],
    /// Folders of packages where they keep other projects' code, such as `packages`.
    pub bundles: &'static [&'static str],
    /// Endings of files that are served to browsers unchanged: those with a version in their name, or a banner, are others'.
    pub served: &'static [&'static str],
    /// Parts of a published package that are its API.
    pub offers: Offers,
    /// Code that sees a private definition.
    pub privacy: Privacy,
    /// Marks behind the name of a macro that is given definitions: `make! { … }`.
    pub macro_openings: &'static [u8],
    /// Manifests that make a folder a library or an installed program; empty if every folder is one.
    pub packages: &'static [Package],
    /// Whether a file, by its path, is internal although its names are public.
    pub is_inner: fn(&str) -> bool,
    /// Whether a text is part of a program, which nothing imports.
    pub is_program: fn(&[u8]) -> bool,
    /// Paths of imported packages in a text, where they have a host: `github.com/pkg/errors`.
    pub packages_in: fn(&[u8]) -> Vec<Span>,
    /// Texts of a line that re-exports all names of another file.
    pub wildcards: &'static [&'static str],
    /// Comment prefixes that expose the next definition to another program.
    pub directives: &'static [&'static str],
    /// Words of files that may look up names put together at run time; `[` stands directly before such a name.
    pub reflection: &'static [&'static str],
    /// Whether methods may be called on an object without a word about its type.
    pub by_shape: bool,
    /// Openings of conditions under which a build takes a definition or a file.
    pub conditions: &'static [&'static str],
    /// Words between the name of a file and its ending that make it a version of the file for one platform.
    pub platforms: &'static [&'static str],
    /// Definitions used by frameworks.
    pub frameworks: &'static [Framework],
    /// Annotations that make methods of fields, with their names: `get*` is `getName` of `name`, `*` the name itself.
    pub accessors: &'static [(&'static str, &'static [&'static str])],
    /// Whether the language itself uses members of this name.
    pub is_implied: fn(&str) -> bool,
    /// Whether a member may override one of an external base, given the words before its name, and the name.
    pub may_override: fn(&str, &str) -> bool,
    /// Whether a library may call a method through an interface that its class does not name.
    pub asked_for: fn(&OfferedMethod<'_>) -> bool,
    /// Whether a type has all interfaces whose members it has, named or not.
    pub structural: bool,
    /// Whether a class may have an interface without naming it.
    pub unnamed_interfaces: bool,
    /// Meaning of a member's owner.
    pub owner: Owner,
    /// Whether definitions of one name in one scope are one symbol (`@overload`) instead of separate ones.
    pub overloads_are_one: bool,
    /// Whether a type depends on the names in its declaration when centrality is computed. Go's types only hold
    /// others: their code is in functions outside of them.
    pub types_use: bool,
    /// Decorators that do not pass on the definition, by the last part of their name.
    pub plain_decorators: &'static [&'static str],
    /// Bases that call no members of derived classes.
    pub plain_bases: &'static [&'static str],
    /// Endings of files that declare what is defined elsewhere.
    pub declarations: &'static [&'static str],
    /// Whether `{ open }` is short for `{ open: open }`, a member of that name.
    pub shorthand: bool,
    /// Whether unused code can be told from used code. Macros and build settings that were not read use names too.
    pub tells_dead: bool,
}

/// A method that a library may ask for.
pub struct OfferedMethod<'a> {
    /// Its name.
    pub name: &'a str,
    /// The paths of packages that its file imports.
    pub imports: &'a [&'a [u8]],
    /// The texts of the manifests of the repository's packages, in the method's language.
    pub manifests: &'a [&'a [u8]],
}

impl Conventions {
    /// Conventions of a language without its own: any name may be public.
    pub const NEUTRAL: Self = Self {
        mains: &[],
        starts: &[],
        started: None,
        constructors: &[],
        tests: &[],
        examples: None,
        test_decorators: &[],
        test_files: &[],
        runner: None,
        public: Public::All,
        folder_files: &[],
        bundles: &[],
        served: &[],
        offers: Offers::Packages,
        privacy: Privacy::Open,
        macro_openings: &[],
        packages: &[],
        is_inner: |_| false,
        is_program: |_| false,
        packages_in: |_| Vec::new(),
        wildcards: &[],
        directives: &[],
        reflection: &[],
        by_shape: false,
        conditions: &[],
        platforms: &[],
        frameworks: &[],
        accessors: &[],
        is_implied: |_| false,
        may_override: |_, _| true,
        asked_for: |_| false,
        structural: false,
        unnamed_interfaces: false,
        owner: Owner::Type,
        overloads_are_one: true,
        types_use: true,
        plain_decorators: &[],
        plain_bases: &[],
        declarations: &[],
        shorthand: false,
        tells_dead: true,
    };
}

/// Whether a file of this name, without extension, stands for its folder in any language.
pub fn stands_for_folder(stem: &str) -> bool {
    LANGUAGES.iter().any(|spec| spec.conventions.folder_files.contains(&stem))
}

/// Whether a file lies in a folder of internal code.
pub(super) fn lies_in_internal(path: &str) -> bool {
    path.split('/').any(|folder| folder == "internal")
}

/// Whether a definition contains one of these words.
pub(super) fn says(definition: &str, words: &[&str]) -> bool {
    definition.split_whitespace().any(|own| words.contains(&own))
}
