//! Conventions of Go: exported names, `main` packages, and `go test`.

use crate::languages::conventions::lies_in_internal;
use crate::languages::{Conventions, Framework, ManifestPart, Package, Privacy, Public};
use codelode_base::model::{Kind, Span};

/// Conventions of Go.
pub static CONVENTIONS: Conventions = Conventions {
    mains: &["main", "init"],
    starts: &[(Kind::Function, "main")],
    tests: &["Test", "Benchmark", "Example", "Fuzz"],
    examples: Some("Example"),
    test_files: &["*_test"],
    runner: Some(&super::runner::RUNNER),
    privacy: Privacy::Folder,
    public: Public::Capital,
    packages: &[Package { file: "go.mod", says: &[], names: ManifestPart::Nothing }],
    is_inner: lies_in_internal,
    is_program: |text| {
        memchr::memmem::find_iter(text, b"package main").any(|at| {
            let ends = text.get(at + b"package main".len()).is_none_or(u8::is_ascii_whitespace);
            ends && (at == 0 || text[at - 1] == b'\n')
        })
    },
    packages_in,
    directives: &["//export ", "//go:linkname ", "//go:wasmexport ", "// swagger:", "//swagger:"],
    conditions: &["//go:build ", "// +build "],
    is_implied: |name| name == "_" || super::libraries::asks_for(name),
    may_override: |_, name| name.starts_with(char::is_uppercase),
    // A value may be given to a library as any of its interfaces, without a word about it.
    asked_for: |asked| asked.name.starts_with(char::is_uppercase) && imports_others(asked.imports, asked.manifests),
    frameworks: &[MAGE],
    types_use: false,
    unnamed_interfaces: true,
    ..Conventions::NEUTRAL
};

/// Targets of Mage, a tool like Make.
const MAGE: Framework = Framework { files: &["**/magefile*.go", "**/magefiles/**/*.go"], names: &[] };

/// Whether one of the imported packages is not of the modules that manifests name.
fn imports_others(imports: &[&[u8]], manifests: &[&[u8]]) -> bool {
    let is_own = |path: &&&[u8]| {
        let names = manifests.iter().flat_map(|text| text.split(|byte| *byte == b'\n'));
        names.filter_map(|line| line.strip_prefix(b"module ")).any(|name| path.starts_with(name.trim_ascii()))
    };
    !imports.iter().all(|path| is_own(&path))
}

/// Imported packages with a host, which those of the standard library have not.
fn packages_in(content: &[u8]) -> Vec<Span> {
    let start = memchr::memmem::find(content, b"\nimport").unwrap_or(0);
    let imports = &content[start..];
    let end = [&b"\nfunc "[..], b"\ntype ", b"\nvar ", b"\nconst "];
    let end = end.iter().filter_map(|word| memchr::memmem::find(imports, word)).min().unwrap_or(imports.len());
    let quotes: Vec<usize> = memchr::memchr_iter(b'"', &imports[..end]).map(|at| start + at).collect();
    let paths = quotes.chunks_exact(2).map(|pair| Span::new(pair[0] + 1, pair[1]));
    paths
        .filter(|path| path.of(content).split(|byte| *byte == b'/').next().is_some_and(|host| host.contains(&b'.')))
        .collect()
}
