//! Conventions of a language and its frameworks: entry points, tests, and the public names of a library.
//!
//! Each language has its own in its folder. [`Conventions::NEUTRAL`], the default, assumes nothing.

use super::{LANGUAGES, Runner};
use crate::model::Kind;

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
    /// Texts in the signature of what is meant for tests.
    pub test_parameters: &'static [&'static str],
    /// Texts in the signature of what a container calls by itself.
    pub called_parameters: &'static [&'static str],
    /// The text before a module of which a member is asked for by a name in a variable: `getattr(`.
    pub looked_up: Option<&'static str>,
    /// The text that begins an example in documentation which a tool runs as a test: `>>> `.
    pub example_mark: Option<&'static str>,
    /// Prefixes of methods that stand for a property in languages which are compiled together with it.
    pub accessors: &'static [&'static str],
    /// Endings of files in other languages in which such a property stands for the methods.
    pub property_files: &'static [&'static str],
    /// Prefix of methods that a reader of data calls for a class that it is given: `read(Item.class)`.
    pub setters: Option<&'static str>,
    /// Texts by which a file imports a library that writes the getters of an object as data.
    pub data_libraries: &'static [&'static str],
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
    /// Files with a library's public names, by name without extension; empty if all files count.
    pub faces: &'static [&'static str],
    /// Manifests that make a folder a library or an installed program; empty if every folder is one.
    pub packages: &'static [Package],
    /// Whether a file, by path and text, is internal although its names are public.
    pub is_inner: fn(&str, &[u8]) -> bool,
    /// Texts of a line that re-exports all names of another file.
    pub wildcards: &'static [&'static str],
    /// Whether a file that only imports gives on all names that it imports without naming them.
    pub facades: bool,
    /// Comment prefixes that expose the next definition to another program.
    pub directives: &'static [&'static str],
    /// Words of files that may look up names built at run time; `[` stands directly before such a name.
    pub reflection: &'static [&'static str],
    /// Texts in a class that look up members by a name in a variable, up to that name.
    pub lookups: &'static [&'static str],
    /// Objects that all programs see, up to a name: a class assigned to one of theirs is called from anywhere.
    pub globals: &'static [&'static str],
    /// Texts in a class by which it gets to know the classes derived from it; one that ends in `=` stands before a name
    /// that is none of the plain bases.
    pub collects: &'static [&'static str],
    /// Texts in a file that show all its names.
    pub shows: &'static [&'static str],
    /// Texts before the name of a module of which all names are shown.
    pub shows_of: &'static [&'static str],
    /// Texts before the name of an imported module that is an object, or after it, of which one is empty.
    pub namespaces: &'static [(&'static str, &'static str)],
    /// Words at the beginning of lines under which names may be local ones, where an import may bring a module as a value.
    pub local_blocks: &'static [&'static str],
    /// Whether methods may be called on an object without a word about its type.
    pub by_shape: bool,
    /// Texts before the path of a file that is read as data, or whose text is put in their place.
    pub reads: &'static [&'static str],
    /// Openings of conditions under which a build takes a definition or a file.
    pub conditions: &'static [&'static str],
    /// Macros that keep some of the definitions in their braces.
    pub conditional_macros: &'static [&'static str],
    /// Words between the name of a file and its ending that make it a version of the file for one platform.
    pub platforms: &'static [&'static str],
    /// Definitions used by frameworks.
    pub frameworks: &'static [Framework],
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
    /// Openings of blocks that add members to the definitions of others: `declare global`.
    pub open_blocks: &'static [&'static str],
    /// Prefixes of attributes whose parameters are given functions.
    pub given_attributes: &'static [&'static str],
    /// Prefixes of attributes that name functions in quotes.
    pub naming_attributes: &'static [&'static str],
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
    /// Starts of the names of functions by which nothing uses them: they are there to be compiled. Those with more than a mark
    /// take nothing, and give nothing.
    pub compiled_only: &'static [&'static str],
    /// Words at the head of a file that a tool reads as a whole, or has made.
    pub tool_heads: &'static [&'static str],
    /// Names of packages that many use: a folder with several of them holds copies.
    pub well_known: &'static [&'static str],
    /// Endings of files that declare what is defined elsewhere.
    pub declarations: &'static [&'static str],
    /// Starts of the names of files that configure bundlers, which name the first files of programs.
    pub bundlers: &'static [&'static str],
    /// Whether unused code can be told from used code. Macros and build settings that were not read use names too.
    pub tells_dead: bool,
    /// Modules of the plain bases; empty if any module may have them.
    pub plain_homes: &'static [&'static str],
}

/// A method that a library may ask for.
pub struct OfferedMethod<'a> {
    /// Its name.
    pub name: &'a str,
    /// The text of its file.
    pub content: &'a [u8],
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
        test_parameters: &[],
        called_parameters: &[],
        looked_up: None,
        example_mark: None,
        accessors: &[],
        property_files: &[],
        setters: None,
        data_libraries: &[],
        test_files: &[],
        runner: None,
        public: Public::All,
        folder_files: &[],
        bundles: &[],
        served: &[],
        faces: &[],
        packages: &[],
        is_inner: |_, _| false,
        wildcards: &[],
        facades: false,
        directives: &[],
        reflection: &[],
        lookups: &[],
        globals: &[],
        collects: &[],
        shows: &[],
        shows_of: &[],
        local_blocks: &[],
        namespaces: &[],
        by_shape: false,
        reads: &[],
        conditions: &[],
        conditional_macros: &[],
        platforms: &[],
        frameworks: &[],
        is_implied: |_| false,
        may_override: |_, _| true,
        asked_for: |_| false,
        structural: false,
        unnamed_interfaces: false,
        open_blocks: &[],
        given_attributes: &[],
        naming_attributes: &[],
        owner: Owner::Type,
        overloads_are_one: true,
        types_use: true,
        plain_decorators: &[],
        plain_bases: &[],
        compiled_only: &[],
        tool_heads: &[],
        well_known: &[],
        declarations: &[],
        bundlers: &[],
        tells_dead: true,
        plain_homes: &[],
    };
}

/// Whether a file of this name, without extension, stands for its folder in any language.
pub fn stands_for_folder(stem: &str) -> bool {
    LANGUAGES.iter().any(|spec| spec.conventions.folder_files.contains(&stem))
}

/// Whether a definition contains one of these words.
pub(super) fn says(definition: &str, words: &[&str]) -> bool {
    definition.split_whitespace().any(|own| words.contains(&own))
}
