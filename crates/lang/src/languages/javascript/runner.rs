//! Tests of JavaScript and TypeScript: runners take the files.

use crate::languages::Runner;
use crate::languages::runner::paths;

/// See [`Runner`].
pub static RUNNER: Runner = Runner {
    name: "jest",
    tests: &[],
    around: &[],
    givers: &[],
    launches: &[],
    by_name: false,
    files: &["*.test", "*.spec", "*.test.*", "*.spec.*", "test", "*-test", "*_test"],
    folders: &["__tests__", "test", "tests", "spec", "specs"],
    arguments: paths,
};
