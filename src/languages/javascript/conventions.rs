//! Conventions of JavaScript and TypeScript: `export`, npm packages, and how test files are called.

use crate::languages::conventions::says;
use crate::languages::{Conventions, Named, Owner, Package, Public};
use crate::model::Kind;

/// See [`Conventions`].
pub static CONVENTIONS: Conventions = Conventions {
    starts: &[(Kind::Function, "main")],
    constructors: &["constructor"],
    tests: &["test", "describe"],
    // Declarations without bodies describe code that is elsewhere.
    test_files: &["*.test", "*.spec", "*.bench", "*.stories", "*.d", "*.test.*", "*.spec.*", "*.d.*", "test"],
    public: Public::Exported("export"),
    faces: &["index", "mod"],
    packages: &[Package {
        file: "package.json",
        says: &["\"main\"", "\"module\"", "\"exports\"", "\"bin\""],
        names: Named::Files {
            faces: &["main", "module", "browser", "bin", "exports", "types", "source"],
            programs: &["bin"],
            endings: &[".js", ".ts", "/index.js", "/index.ts"],
        },
    }],
    wildcard: Some("export *"),
    is_implied: |name| {
        matches!(name, "constructor" | "toString" | "valueOf" | "toJSON" | "then") || name.starts_with('[')
    },
    may_override: |words, name| !says(words, &["private", "static"]) && !name.starts_with('#'),
    owner: Owner::Value,
    plain_bases: &["Object"],
    ..Conventions::NEUTRAL
};
