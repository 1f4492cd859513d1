//! Conventions of Go: exported names, `main` packages, and `go test`.

use crate::languages::{Conventions, Named, Package, Public};
use crate::model::Kind;

/// Conventions of Go.
pub static CONVENTIONS: Conventions = Conventions {
    mains: &["main", "init"],
    starts: &[(Kind::Function, "main")],
    tests: &["Test", "Benchmark", "Example", "Fuzz"],
    test_files: &["*_test"],
    public: Public::Capital,
    packages: &[Package { file: "go.mod", says: &[], names: Named::Nothing }],
    is_inner: |path, text| {
        let is_program = text.starts_with(b"package main") || memchr::memmem::find(text, b"\npackage main").is_some();
        is_program || path.split('/').any(|folder| folder == "internal")
    },
    directives: &["//export ", "//go:linkname ", "//go:wasmexport "],
    is_implied: |name| name == "_" || super::libraries::asks_for(name),
    may_override: |_, name| name.starts_with(char::is_uppercase),
    types_use: false,
    ..Conventions::NEUTRAL
};
