//! Test runners: the definitions and files that they collect, and the arguments that select some of them.

use super::role::{is_like, lies_in};

/// The test runner of a language.
#[derive(Debug)]
pub struct Runner {
    /// Its name.
    pub name: &'static str,
    /// Prefixes of the names of tests; a test without such a name has one of [`super::Conventions::test_decorators`].
    pub tests: &'static [&'static str],
    /// Prefixes of the names of functions that run before or after the tests of their class or file.
    pub around: &'static [&'static str],
    /// Decorators of functions whose results tests take by their name.
    pub givers: &'static [&'static str],
    /// Words of tests that run the whole program.
    pub launches: &'static [&'static str],
    /// Whether it selects tests by their names alone, and cannot take a file.
    pub by_name: bool,
    /// Names of collected files, without extension.
    pub files: &'static [&'static str],
    /// Folders in which every file is collected.
    pub folders: &'static [&'static str],
    /// The runner's arguments that select tests.
    pub arguments: fn(&[Test]) -> Vec<String>,
}

/// A test: a function, or all tests of a class or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The path of its file.
    pub path: String,
    /// Names of the classes or modules around it, the outermost first.
    pub owners: Vec<String>,
    /// The name of the function.
    pub name: Option<String>,
}

impl Test {
    /// The folder of its file; empty for the root.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The name of its file without extension.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.split('.').next().unwrap_or(name)
    }

    /// Its owners and its name, joined.
    pub fn joined(&self, separator: &str) -> String {
        let parts: Vec<&str> = self.owners.iter().chain(&self.name).map(String::as_str).collect();
        parts.join(separator)
    }
}

/// Folders of files that tests read or that only show code.
const NO_TESTS: &[&str] = &[
    "fixture",
    "fixtures",
    "testdata",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "example",
    "examples",
    "playground",
    "__fixtures__",
    "__snapshots__",
    "__mocks__",
];

impl Runner {
    /// Whether it collects a file of tests.
    pub fn collects(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let is_named = self.files.iter().any(|pattern| is_like(stem, pattern));
        (is_named || lies_in(path, self.folders)) && !lies_in(path, NO_TESTS)
    }
}

/// The paths of tests, each once.
pub(super) fn paths(tests: &[Test]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for test in tests {
        if !paths.contains(&test.path) {
            paths.push(test.path.clone());
        }
    }
    paths
}
