//! Tests of Python: pytest, which also runs those of unittest.

use crate::languages::{Runner, Test};

/// See [`Runner`].
pub static RUNNER: Runner = Runner {
    name: "pytest",
    tests: &["test"],
    around: &["setUp", "tearDown", "setup_", "teardown_", "asyncSetUp", "asyncTearDown"],
    givers: &["fixture"],
    launches: &[],
    by_name: false,
    files: &["test_*", "*_test", "test", "tests"],
    folders: &[],
    arguments: |tests| tests.iter().map(node).collect(),
};

/// A node id: `tests/test_cart.py::TestCart::test_total`.
fn node(test: &Test) -> String {
    match test.joined("::") {
        inside if inside.is_empty() => test.path.clone(),
        inside => format!("{}::{inside}", test.path),
    }
}
