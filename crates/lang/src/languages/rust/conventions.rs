//! Conventions of Rust: `pub`, crates, and attributes.

use crate::languages::{Conventions, ManifestPart, Package, Public};
use codelode_base::model::Kind;

/// See [`Conventions`].
pub static CONVENTIONS: Conventions = Conventions {
    mains: &["main"],
    starts: &[(Kind::Function, "main")],
    constructors: &["new"],
    tests: &["test"],
    test_decorators: &["test", "bench", "rstest", "cfg(test)"],
    test_files: &["*_test", "*_tests", "test", "tests"],
    runner: Some(&super::runner::RUNNER),
    macro_openings: b"!",
    public: Public::Word(&["pub"]),
    folder_files: &["mod"],
    packages: &[
        Package { file: "lib.rs", says: &[], names: ManifestPart::Nothing },
        Package { file: "Cargo.toml", says: &["[lib]"], names: ManifestPart::Nothing },
    ],
    is_implied: |name| name == "drop",
    // A subtrait gives an external trait nothing to call: the implementations are in `impl` blocks for that trait.
    may_override: |_, _| false,
    conditions: &["#[cfg(", "#![cfg("],
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
    shorthand: true,
    ..Conventions::NEUTRAL
};
