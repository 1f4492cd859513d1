//! Role of a file, by path and content: tests, documentation, vendored and generated code.

/// Folders with tests, benchmarks or examples.
const FOLDERS: &[&str] = &[
    "test",
    "tests",
    "__tests__",
    "__tests_dts__",
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
    "__mocks__",
    "__fixtures__",
    "__testfixtures__",
    "testfixtures",
    "test_fixtures",
    "test-fixtures",
    "cypress",
    "playwright",
    "testlib",
    "testhelpers",
    "test_helpers",
    "test-helpers",
];

/// Words in the path of code that helps tests: `internal/mock/connection.go`, `api/testing.go`.
const HELPERS: &[&str] = &[
    "test",
    "tests",
    "testing",
    "testutil",
    "testutils",
    "mock",
    "mocks",
    "fake",
    "fakes",
    "stub",
    "stubs",
    "fixture",
    "fixtures",
];

/// Whether something that only tests use is there to help them, by a word of its file's path without extension, or of
/// its name: `NewMockServer`, `reset_for_testing`.
pub fn helps_tests(path_or_name: &str) -> bool {
    let mut before = ' ';
    let mut starts = vec![0];
    for (at, c) in path_or_name.char_indices() {
        if !c.is_alphabetic() || c.is_uppercase() && !before.is_uppercase() {
            starts.push(at);
        }
        before = c;
    }
    starts.push(path_or_name.len());
    let words = starts.windows(2).map(|pair| &path_or_name[pair[0]..pair[1]]);
    let mut words = words.map(|word| word.trim_matches(|c: char| !c.is_alphabetic()));
    words.any(|word| HELPERS.iter().any(|helper| helper.eq_ignore_ascii_case(word)))
}

/// Whether a file is there to help tests, by the folders and the name in its path: `internal/mockfs/file.go`,
/// `fs/fstest/map.go`.
pub fn is_for_testing(path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let is_meant = |part: &str| {
        let part = part.to_ascii_lowercase();
        let is_other = ["testim", "testam", "testif"].iter().any(|start| part.starts_with(start));
        part.starts_with("mock")
            || part.starts_with("fake")
            || part.ends_with("mock")
            || part.ends_with("mocks")
            || part.starts_with("test") && part.len() > "tests".len() && !is_other
            || part.ends_with("testing")
            || part.ends_with("test") && !part.ends_with("latest")
    };
    helps_tests(stem) || stem.split('/').any(is_meant)
}

/// Folders with documentation or third-party code.
const BESIDE: &[&str] = &["doc", "docs", "vendor", "node_modules", "third_party"];

/// Whether a file is documentation or third-party code.
pub fn is_beside(path: &str) -> bool {
    lies_in(path, BESIDE)
}

/// Folders whose code is shown, copied or taken as input rather than being part of a program.
const ASIDE: &[&str] = &[
    "doc",
    "docs",
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "exercise",
    "exercises",
    "solution",
    "solutions",
    "lesson",
    "lessons",
    "tutorial",
    "tutorials",
    "fixture",
    "fixtures",
    "testdata",
    "template",
    "templates",
    "skeleton",
    "skeletons",
    "scaffold",
    "scaffolds",
    "scaffolding",
    "asset",
    "assets",
    "static",
    "public",
    "polyfill",
    "polyfills",
    "vendor",
    "third_party",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "playground",
    "playgrounds",
    "sandbox",
    "snippet",
    "snippets",
    "tutorial",
    "tutorials",
    "cypress",
    "e2e",
    "stories",
    "storybook",
    "mock",
    "mocks",
    "generated",
    "contrib",
    "website",
    "site",
    "www",
    "script",
    "scripts",
    "maint",
    "hack",
    "experimental",
];

/// First words of the names of folders with code that is shown: `sample-app`.
const SHOWN: &[&str] = &["sample", "samples", "example", "examples", "demo", "demos"];

/// Whether a file is beside the program: it shows code, is copied, or is started by hand.
pub fn is_aside(path: &str) -> bool {
    // `_examples`: a mark by which tools leave the folder out.
    let is_set_aside = |folder: &str| {
        let folder = folder.trim_start_matches('_');
        let is_shown = |word: &&str| folder.strip_prefix(word).is_some_and(|rest| rest.starts_with(['-', '_']));
        folder.ends_with("testdata") || SHOWN.iter().any(is_shown) || lies_in(&format!("{folder}/"), ASIDE)
    };
    path.rsplit_once('/').is_some_and(|(folders, _)| folders.split('/').any(is_set_aside))
        || path.split('/').any(|part| part.starts_with("__") && part.ends_with("__"))
}

/// Extensions of documents and data, which mention everything and define nothing.
const DOCUMENTS: &[&str] = &[
    "adoc", "csv", "css", "html", "json", "lock", "map", "markdown", "md", "mdx", "po", "rst", "svg", "toml", "tsv",
    "txt",
];

/// Whether a file is a document or data, by its extension.
pub fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, extension)| DOCUMENTS.contains(&extension))
}

/// Folders with third-party code.
const VENDORED: &[&str] =
    &["vendor", "_vendor", "vendored", "vendors", "node_modules", "third_party", "thirdparty", "bower_components"];

/// Whether a file is third-party code.
pub fn is_vendored(path: &str) -> bool {
    lies_in(path, VENDORED)
        || path.split('/').any(|part| part.starts_with("vendored_") || part.starts_with("vendored-"))
}

/// Whether a file is the output of a build, by its folder. A folder of another name may hold the code of a builder, and one
/// right among the sources is a module.
pub fn is_built(path: &str) -> bool {
    let mut folders = path.rsplit_once('/').map_or("", |(folders, _)| folders).split('/').rev().peekable();
    std::iter::from_fn(|| folders.next().map(|folder| (folder, folders.peek() == Some(&"src"))))
        .any(|(folder, is_source)| folder == "dist" && !is_source)
}

/// Whether a file is generated, by its name, by a marker near its beginning, or by lines that nobody reads.
pub fn is_generated(path: &str, content: &[u8]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    lies_in(path, &["generated", "__generated__"])
        || ["_pb2", "_pb2_grpc", ".pb", ".g", ".gen", ".min", ".generated", "_generated"].iter().any(|end| stem.ends_with(end))
        || stem.starts_with("zz_generated")
        // A convention of most generators (go.dev/s/generatedcode); the source of a generator has the marker further
        // down.
        || (content.get(..content.len().min(HEAD)).is_some_and(|head| {
            let says = |words: &str| memchr::memmem::find(head, words.as_bytes()).is_some();
            const SAID: &[&str] = &[
                "@generated",
                "DO NOT EDIT",
                "Do not edit this line",
                "utomatically generated by",
                "utogenerated by",
                "uto-generated by",
                "file is auto-generated",
                "file was auto-generated",
                "file is autogenerated",
                "file was autogenerated",
            ];
            SAID.iter().any(|words| says(words))
        }))
        // The first line of what parser generators write: `// Generated by Peggy 1.2.0.`
        || content.split(|byte| *byte == b'\n').next().is_some_and(|line| {
            let comment = [&b"//"[..], b"/*", b"#"].iter().find_map(|mark| line.strip_prefix(*mark));
            let comment = comment.unwrap_or_default().trim_ascii_start();
            comment.starts_with(b"Generated by ") || comment.starts_with(b"Generated from ")
        })
        || is_minified(content)
}

/// Whether the lines of a file are too long to be read, so that it was made from another.
fn is_minified(content: &[u8]) -> bool {
    let middle = content.len() / 2;
    let around = content.get(middle.saturating_sub(LONG_LINE)..middle + LONG_LINE);
    content.len() > 4 * LONG_LINE && around.is_some_and(|text| memchr::memchr(b'\n', text).is_none())
}

/// Half of the length of a line that nobody reads.
const LONG_LINE: usize = 1_000;
/// Number of bytes searched for a marker.
const HEAD: usize = 400;

/// Whether a path is in a folder with one of these names.
pub(super) fn lies_in(path: &str, names: &[&str]) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| names.iter().any(|known| known.eq_ignore_ascii_case(folder)))
}

/// Whether a file contains tests, benchmarks or examples; documentation does not count.
pub fn exercises(path: &str) -> bool {
    // `src/integrationTest/java`: a set of sources for tests.
    let is_set = |folder: &str| folder.ends_with("Test") && folder.starts_with(char::is_lowercase);
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    if lies_in(path, FOLDERS) || folders.split('/').any(is_set) {
        return true;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let patterns = super::of_name(path).map_or(&[][..], |(_, spec)| spec.conventions.test_files);
    patterns.iter().any(|pattern| is_like(stem, pattern))
}

/// Matches a name against a pattern with `*` as a wildcard. Words match as a whole: the text before a `*` is not
/// followed by a lower-case letter.
pub(super) fn is_like(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(behind) = name.strip_prefix(start) else { return false };
    let ends_a_word = !start.ends_with(char::is_alphanumeric) || !behind.starts_with(char::is_lowercase);
    ends_a_word && (0..=behind.len()).any(|at| behind.get(at..).is_some_and(|behind| is_like(behind, rest)))
}

#[cfg(test)]
mod tests {
    use super::{exercises, helps_tests, is_beside, is_generated};

    #[test]
    fn tests_are_told_from_the_code_they_exercise() {
        for path in [
            "tests/a.py",
            "a/test_b.py",
            "x/y_test.go",
            "src/Foo.test.tsx",
            "FooTest.java",
            "lib.d.ts",
            "docs/x.py",
            "a.spec.b.js",
            "src/integrationTest/java/A.java",
        ] {
            assert!(exercises(path) || is_beside(path), "{path}");
        }
        for path in
            ["src/testing_room.py", "contest.py", "src/latest.ts", "Testament.java", "attest/a.go", "Test.tests"]
        {
            assert!(!exercises(path) && !is_beside(path), "{path}");
        }
    }

    #[test]
    fn what_programs_write_is_told_from_what_people_write() {
        let go = b"// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n";
        for (path, content) in [("a/b.go", &go[..]), ("a_pb2.py", b""), ("src/generated/a.ts", b""), ("a.pb.go", b"")] {
            assert!(is_generated(path, content), "{path}");
        }
        assert!(is_generated("src/filter.js", b"// Generated by Peggy 1.2.0.\n//\n"));
        let late = [b"package a\n".repeat(60).as_slice(), go].concat();
        for (path, content) in [("a/b.go", &late[..]), ("generate.py", b"# makes code"), ("src/generator/a.ts", b"")] {
            assert!(!is_generated(path, content), "{path}");
        }
    }

    #[test]
    fn helpers_of_tests_are_told_by_a_word() {
        for name in ["internal/mock/server", "api/v2/testing", "NewMockServer", "rebind4testing", "test_env"] {
            assert!(helps_tests(name), "{name}");
        }
        for name in ["contest/latest", "Attestation", "mocking_bird", "fastest"] {
            assert!(!helps_tests(name), "{name}");
        }
    }
}
