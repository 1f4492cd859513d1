use proptest::prelude::*;

use std::time::Duration;

use super::{Limits, extract, extract_within};
use crate::languages::{LANGUAGES, leaps, of_file};

/// Checks the invariants of an extraction, for any text.
fn holds(text: &[u8]) {
    for spec in LANGUAGES {
        let found = extract(spec, text);
        for (index, symbol) in found.symbols.iter().enumerate() {
            assert!(symbol.span.end as usize <= text.len() && !symbol.span.is_empty());
            for part in [symbol.name, symbol.signature] {
                assert!(symbol.span.contains(part), "{}: {symbol:?}", spec.id);
            }
            assert!(symbol.doc.end as usize <= text.len());
            assert!(symbol.line <= symbol.end_line);
            assert!(symbol.parent.is_none_or(|parent| (parent as usize) < index));
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(text in proptest::collection::vec(any::<u8>(), 0..400)) {
        holds(&text);
    }

    #[test]
    fn any_pieces_of_code_are_read(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60)) {
        holds(pieces.join(" ").as_bytes());
    }
}

#[test]
fn a_file_that_holds_too_much_is_cut_and_not_wrong() {
    let python = of_file("a.py", b"").expect("it is built in").1;
    let text: String = (0..8_000).map(|number| format!("X{number} = {number}\n")).collect();
    let dense = extract(python, text.as_bytes());
    assert_eq!((dense.symbols.len(), dense.failure), (8_000, None));
    let rust = of_file("a.rs", b"").expect("it is built in").1;
    let nested = "mod a { fn f() {} ".repeat(3_000) + &"}".repeat(3_000);
    let nested = extract(rust, nested.as_bytes());
    assert!(nested.is_cut && !nested.has_errors && !nested.is_given_up(), "{:?}", nested.failure);
    assert!(!nested.symbols.is_empty());
    let wrong = extract(python, b"def f(:\n    x = 1\n");
    assert!(wrong.has_errors && !wrong.is_cut && wrong.failure.is_none());
}

/// Bits of six languages, to be put together at random.
const PIECES: &[&str] = &[
    "def f(",
    "):",
    "class A",
    "\n    ",
    "\n",
    "\"\"\"",
    "'",
    "@x",
    "func",
    "(r *T)",
    "type T struct {",
    "}",
    "{",
    "interface",
    "const (",
    ")",
    "=",
    "=>",
    "export default",
    "function*",
    "async",
    "module.exports",
    "class {",
    "get x()",
    "#y",
    "`${",
    "impl",
    "<T>",
    "for",
    "macro_rules! m {",
    "#[a]",
    "/// doc",
    "/** doc */",
    "//",
    "fn",
    "pub",
    "mod",
    "enum E",
    "record R(",
    "@interface",
    "void m()",
    "static",
    "namespace N",
    "declare",
    "abstract",
    ",",
    ";",
    "\u{feff}",
    "\u{0}",
    "…",
    "\r\n",
    "var",
];

#[test]
fn definitions_are_found_in_a_file_that_the_grammar_cannot_read() {
    let (_, spec) = crate::languages::of_file("a.ts", b"").expect("TypeScript has a grammar");
    let broken = "class A {{{{ <<<<\n\n/*\n\nfunction inComment() {}\n\n*/\n\n";
    let mut source = broken.to_owned();
    for number in 0..60 {
        source += &format!(
            "/** Says {number}. */\nexport function f{number}(a: string) {{\n  return (a;\n}}\n\nconst x{number} = `\n\nfunction inString() {{}}\n`\n\n"
        );
    }
    let found = extract(spec, source.as_bytes());
    let names: Vec<&[u8]> = found.symbols.iter().map(|symbol| symbol.name.of(source.as_bytes())).collect();
    for number in 0..60 {
        let name = format!("f{number}");
        assert!(names.contains(&name.as_bytes()), "{name} is missing");
    }
    assert!(!names.contains(&&b"inComment"[..]));
}

#[test]
fn a_file_that_takes_too_long_is_given_up_with_a_word() {
    let (_, spec) = crate::languages::of_file("a.py", b"").expect("Python has a grammar");
    // Unclosed brackets: each may be the one that is missing, and the grammar tries them all.
    let text = "f(a[{x: (".repeat(20_000);
    let of = |time| extract_within(spec, text.as_bytes(), &Limits { time, ..Limits::default() });
    let found = of(Duration::from_millis(1));
    assert_eq!(found.failure.as_deref(), Some("parsing took over 1ms"));
    assert!(found.symbols.is_empty() && found.timed_out);
    // The next file finds the parser as new.
    let small = extract(spec, b"def f(): pass\n");
    assert_eq!((small.symbols.len(), small.failure), (1, None));
    let large = Limits { memory: 100_000, ..Limits::default() };
    if codelode_base::allocator::held_by_parsing() > 0 {
        let found = extract_within(spec, text.as_bytes(), &large);
        assert!(found.failure.is_some_and(|why| why.contains("MB")));
    }
}

/// The samples of a language.
fn sample(id: &str) -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages").join(id);
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_sample = |path: &std::path::PathBuf| path.file_stem().is_some_and(|stem| stem == "sample");
    files.filter(is_sample).filter_map(|path| std::fs::read(path).ok()).collect()
}

#[test]
fn what_is_read_of_a_file_depends_on_no_clock() {
    // Some of them are given up, and some are cut.
    let hostile = ["f(a[{x: (".repeat(2_000), "mod a {".repeat(2_000), "+-*/%&|^!~=<>?:.,;@#$".repeat(200)];
    for spec in LANGUAGES {
        let sample = sample(spec.id);
        for text in hostile.iter().map(String::as_bytes).chain(sample.iter().map(Vec::as_slice)) {
            let quiet = extract(spec, text);
            leaps::set(Duration::from_micros(100));
            let busy = extract(spec, text);
            leaps::set(Duration::ZERO);
            assert!(busy == quiet, "{}: {:?}, {:?}", spec.id, quiet.failure, busy.failure);
        }
    }
}

#[test]
fn a_file_that_holds_too_much_keeps_what_fits_and_says_so() {
    let (_, spec) = crate::languages::of_file("a.rs", b"").expect("Rust has a grammar");
    let found = extract(spec, ("mod a {".repeat(2_000) + &"}".repeat(2_000)).as_bytes());
    assert!(!found.symbols.is_empty() && !found.is_given_up());
    assert_eq!(found.failure.as_deref(), Some("there is too much in it for its size"));
}

#[test]
fn a_property_whose_name_is_missing_is_none() {
    holds(b"class A {\n  [int] = 3\n  static [string] = 'a'\n  [int] $b\n}\n");
}
