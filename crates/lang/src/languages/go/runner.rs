//! Tests of Go: `go test -run`.

use crate::languages::{Runner, Test};

/// See [`Runner`].
pub static RUNNER: Runner = Runner {
    name: "go test",
    tests: &["Test", "Example", "Fuzz"],
    around: &["TestMain"],
    givers: &[],
    launches: &[],
    by_name: true,
    files: &["*_test"],
    folders: &[],
    arguments,
};

/// One expression for all names, then the packages. Methods of a suite run as a whole, by no name of their own.
fn arguments(tests: &[Test]) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut names: Vec<&str> = tests.iter().filter_map(|test| test.name.as_deref()).collect();
    let is_whole = |test: &Test| test.name.is_none() || !test.owners.is_empty();
    if !tests.iter().any(is_whole) && !names.is_empty() {
        names.sort_unstable();
        names.dedup();
        arguments.extend(["-run".to_owned(), format!("^({})$", names.join("|"))]);
    }
    let mut packages: Vec<String> = Vec::new();
    for test in tests {
        let package = if test.folder().is_empty() { ".".to_owned() } else { format!("./{}", test.folder()) };
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    arguments.extend(packages);
    arguments
}
