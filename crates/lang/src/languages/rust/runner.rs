//! Tests of Rust: a filter expression for `cargo nextest run -E`.

use crate::languages::{Runner, Test};

/// See [`Runner`].
pub static RUNNER: Runner = Runner {
    name: "cargo nextest",
    tests: &[],
    around: &[],
    givers: &["fixture"],
    launches: &["cargo_bin", "CARGO_BIN_EXE_"],
    by_name: false,
    files: &["*_test", "*_tests", "test", "tests"],
    folders: &["tests"],
    arguments: |tests| {
        let all: Vec<String> = tests.iter().map(filter).collect();
        if all.is_empty() { all } else { vec![all.join(" | ")] }
    },
};

/// `test(=cart::tests::total)`, with the binary of an integration test.
fn filter(test: &Test) -> String {
    let (binary, mut parts) = modules(&test.path);
    parts.extend(test.owners.iter().chain(&test.name).map(String::as_str));
    let name = parts.join("::");
    let named = match (&test.name, name.is_empty()) {
        (Some(_), _) => Some(format!("test(={name})")),
        (None, false) => Some(format!("test(/^{name}::/)")),
        (None, true) => None,
    };
    match (binary, named) {
        (Some(binary), Some(named)) => format!("(binary(={binary}) & {named})"),
        (Some(binary), None) => format!("binary(={binary})"),
        (None, named) => named.unwrap_or_else(|| "all()".to_owned()),
    }
}

/// The binary of an integration test, and the modules that a file's path means.
fn modules(path: &str) -> (Option<&str>, Vec<&str>) {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let below = |folder: &str| {
        let start = path.starts_with(folder).then_some(folder.len());
        start.or_else(|| path.find(&format!("/{folder}")).map(|at| at + 1 + folder.len())).map(|at| &path[at..])
    };
    let (binary, inside) = match (below("src/"), below("tests/")) {
        (Some(inside), _) => (None, inside),
        (None, Some(inside)) => match inside.split_once('/') {
            Some((binary, inside)) => (Some(binary), inside),
            None => (Some(inside), ""),
        },
        (None, None) => (None, path),
    };
    let is_root = |part: &&str| !matches!(*part, "mod" | "lib" | "main" | "");
    (binary, inside.split('/').filter(is_root).collect())
}
