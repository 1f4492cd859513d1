//! What a language and its frameworks use without a name being written for it: where programs and tests begin, what a library
//! offers to others.

/// How a language says that a name is for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Public {
    /// Every name that does not begin with this; a package offers what its own file defines or brings in.
    Unless(&'static str),
    /// A name that begins with a capital letter.
    Capital,
    /// A definition that says one of these words.
    Word(&'static [&'static str]),
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

/// A language's conventions.
#[derive(Debug)]
pub struct Conventions {
    /// Functions that a program begins with.
    pub mains: &'static [&'static str],
    /// Beginnings of names that a test runner looks for.
    pub tests: &'static [&'static str],
    /// How a definition is made public.
    pub public: Public,
    /// Files whose public names are there for others, by their name without endings; empty where all of a library's are.
    pub faces: &'static [&'static str],
    /// Beside such a file a folder belongs to a library or an installed program.
    pub packages: &'static [&'static str],
    /// Whether a file, by path and text, is for nobody else though its names are public.
    pub is_inner: fn(&str, &[u8]) -> bool,
    /// What a line says that hands on all names of another file.
    pub wildcard: &'static str,
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

/// The conventions of a language.
pub fn conventions(language: &str) -> &'static Conventions {
    match language {
        "python" => &PYTHON,
        "go" => &GO,
        "rust" => &RUST,
        "java" => &JAVA,
        _ => &SCRIPT,
    }
}

static PYTHON: Conventions = Conventions {
    mains: &[],
    tests: &["test", "Test", "setUp", "tearDown", "setup_", "teardown_", "pytest_"],
    public: Public::Unless("_"),
    faces: &["__init__", "__main__"],
    packages: &["setup.py", "setup.cfg", "pyproject.toml"],
    is_inner: |_, _| false,
    wildcard: "import *",
    is_implied: |name| name.starts_with("__") && name.ends_with("__") || name.starts_with("_missing_"),
    may_override: |_, name| !name.starts_with("__"),
    naming_attributes: &[],
    owner: Owner::Type,
    overloads_are_one: true,
    types_use: true,
    plain_decorators: &[
        "property",
        "cached_property",
        "staticmethod",
        "classmethod",
        "abstractmethod",
        "overload",
        "override",
        "final",
        "dataclass",
        "total_ordering",
        "wraps",
        "lru_cache",
        "cache",
        "contextmanager",
        "asynccontextmanager",
        "setter",
        "getter",
        "deleter",
        "runtime_checkable",
        "no_type_check",
        "unique",
        "deprecated",
    ],
    plain_bases: &["object", "ABC", "Generic", "Protocol", "Enum", "IntEnum", "StrEnum", "NamedTuple", "TypedDict"],
};

static SCRIPT: Conventions = Conventions {
    mains: &[],
    tests: &["test", "describe"],
    public: Public::Word(&["export"]),
    faces: &["index", "mod"],
    packages: &["package.json"],
    is_inner: |_, _| false,
    wildcard: "export *",
    is_implied: |name| {
        matches!(name, "constructor" | "toString" | "valueOf" | "toJSON" | "then") || name.starts_with('[')
    },
    may_override: |words, name| !says(words, &["private", "static"]) && !name.starts_with('#'),
    naming_attributes: &[],
    owner: Owner::Value,
    overloads_are_one: true,
    types_use: true,
    plain_decorators: &[],
    plain_bases: &["Object"],
};

static GO: Conventions = Conventions {
    mains: &["main", "init"],
    tests: &["Test", "Benchmark", "Example", "Fuzz"],
    public: Public::Capital,
    faces: &[],
    packages: &["go.mod"],
    is_inner: |path, text| {
        let is_program = text.starts_with(b"package main") || memchr::memmem::find(text, b"\npackage main").is_some();
        is_program || path.split('/').any(|folder| folder == "internal")
    },
    wildcard: "\0",
    is_implied: |name| matches!(name, "_"),
    may_override: |_, name| name.starts_with(char::is_uppercase),
    naming_attributes: &[],
    owner: Owner::Type,
    overloads_are_one: true,
    types_use: false,
    plain_decorators: &[],
    plain_bases: &[],
};

static RUST: Conventions = Conventions {
    mains: &["main"],
    tests: &["test"],
    public: Public::Word(&["pub"]),
    faces: &[],
    packages: &["lib.rs", "src/lib.rs"],
    is_inner: |_, _| false,
    wildcard: "\0",
    is_implied: |name| name == "drop",
    // Who derives from a trait of others gives it nothing to call: what fills it in stands in a block for it.
    may_override: |_, _| false,
    naming_attributes: &["#[serde("],
    owner: Owner::Type,
    overloads_are_one: true,
    types_use: true,
    plain_decorators: &[
        "derive",
        "inline",
        "must_use",
        "allow",
        "warn",
        "deny",
        "expect",
        "cfg",
        "doc",
        "cold",
        "repr",
        "deprecated",
        "non_exhaustive",
        "track_caller",
        "cfg_attr",
        "rustfmt",
        "automatically_derived",
        "default",
    ],
    plain_bases: &["Send", "Sync", "Sized", "Copy"],
};

static JAVA: Conventions = Conventions {
    mains: &["main"],
    tests: &["test", "setUp", "tearDown"],
    public: Public::Word(&["public", "protected"]),
    faces: &[],
    packages: &[],
    is_inner: |_, _| false,
    wildcard: "\0",
    is_implied: |name| {
        matches!(name, "toString" | "hashCode" | "equals" | "readObject" | "writeObject" | "readResolve")
    },
    may_override: |words, _| says(words, &["public", "protected"]) && !says(words, &["static"]),
    naming_attributes: &[],
    owner: Owner::Base,
    overloads_are_one: false,
    types_use: true,
    plain_decorators: &[
        "Override",
        "Deprecated",
        "SuppressWarnings",
        "SafeVarargs",
        "FunctionalInterface",
        "Nullable",
        "NonNull",
        "NotNull",
        "Nonnull",
        "CheckReturnValue",
        "CanIgnoreReturnValue",
        "VisibleForTesting",
    ],
    plain_bases: &["Object", "Serializable", "Cloneable"],
};

/// Whether a definition says one of these words.
fn says(definition: &str, words: &[&str]) -> bool {
    definition.split_whitespace().any(|own| words.contains(&own))
}
