//! Conventions of Java: `public`, annotations, and tests of JUnit.

use crate::languages::conventions::{lies_in_internal, says};
use crate::languages::{Conventions, Owner, Privacy, Public};
use codelode_base::model::Kind;

/// See [`Conventions`].
pub static CONVENTIONS: Conventions = Conventions {
    mains: &["main"],
    starts: &[(Kind::Function, "main"), (Kind::Method, "main")],
    tests: &["test", "setUp", "tearDown"],
    test_decorators: &["Test", "ParameterizedTest"],
    test_files: &["Test*", "*Test", "*Tests"],
    runner: Some(&super::runner::RUNNER),
    privacy: Privacy::Folder,
    public: Public::Word(&["public", "protected"]),
    is_inner: lies_in_internal,
    // Of Lombok.
    accessors: &[
        ("Builder", &["*"]),
        ("Data", &["get*", "is*", "set*"]),
        ("Getter", &["get*", "is*"]),
        ("Setter", &["set*"]),
        ("SuperBuilder", &["*"]),
        ("Value", &["get*", "is*"]),
        ("With", &["with*"]),
    ],
    is_implied: |name| {
        matches!(name, "toString" | "hashCode" | "equals" | "compareTo" | "clone" | "finalize")
            || matches!(name, "readObject" | "writeObject" | "readResolve" | "writeReplace" | "readObjectNoData")
            // The compiler of forms (`.form`) calls it where a form says `custom-create`.
            || name == "createUIComponents"
    },
    may_override: |words, _| says(words, &["public", "protected"]) && !says(words, &["static"]),
    owner: Owner::Base,
    overloads_are_one: false,
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
    ..Conventions::NEUTRAL
};
