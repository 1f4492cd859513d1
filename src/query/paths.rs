//! What a path tells of a file.

/// Folders that hold what exercises code or shows it.
const FOLDERS: &[&str] = &[
    "test",
    "tests",
    "__tests__",
    "testdata",
    "testing",
    "testutil",
    "testutils",
    "test_utils",
    "test-utils",
    "spec",
    "specs",
    "fixture",
    "fixtures",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "example",
    "examples",
    "e2e",
    "playground",
];

/// Folders that hold documentation, or what came from elsewhere.
const BESIDE: &[&str] = &["doc", "docs", "vendor", "node_modules", "third_party"];

/// Whether a file exercises code rather than being it: tests, benchmarks, examples, documentation, and copies of others' code.
pub fn is_test(path: &str) -> bool {
    lies_in(path, BESIDE) || exercises(path)
}

/// Whether a path lies in a folder of one of these names.
fn lies_in(path: &str, names: &[&str]) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| names.iter().any(|known| known.eq_ignore_ascii_case(folder)))
}

/// Whether a file exercises code or shows it: tests, benchmarks and examples, but not what documents it.
pub fn exercises(path: &str) -> bool {
    if lies_in(path, FOLDERS) {
        return true;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    match ending {
        "py" => stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "conftest" | "test" | "tests"),
        "go" => stem.ends_with("_test"),
        "rs" => stem.ends_with("_test") || stem.ends_with("_tests") || matches!(stem, "test" | "tests"),
        "java" => {
            let tested = stem.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase));
            tested || stem.ends_with("Test") || stem.ends_with("Tests")
        }
        _ => {
            let mut parts = ending.split('.');
            let last = parts.next_back().unwrap_or_default();
            let script = matches!(last, "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts");
            // Declarations without bodies describe code that is elsewhere.
            script && (parts.any(|part| matches!(part, "test" | "spec" | "bench" | "stories" | "d")) || stem == "test")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_test;

    #[test]
    fn tests_are_told_from_the_code_they_exercise() {
        for path in
            ["tests/a.py", "a/test_b.py", "x/y_test.go", "src/Foo.test.tsx", "FooTest.java", "lib.d.ts", "docs/x.py"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/testing_room.py", "contest.py", "src/latest.ts", "Testament.java", "attest/a.go"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
