//! Indexes that compilers made: their occurrences are relations where the texts are those they were made of.

use std::fs;
use std::path::Path;

use protobuf::Message as _;
use scip::types::{Document, Index, Metadata, Occurrence, SymbolRole};
use serde_json::Value;

use crate::cli::numbers;
use crate::place::Place;

const DEFINITION: i32 = SymbolRole::Definition as i32;
const IMPORT: i32 = SymbolRole::Import as i32;

/// A document: names in source order, each with the line, the symbol and the role.
fn document(path: &str, text: &str, occurrences: &[(i32, &str, &str, i32)]) -> Document {
    let of = |(line, name, symbol, role): &(i32, &str, &str, i32)| {
        let written = text.lines().nth(*line as usize).expect("there is such a line");
        let at = written.find(name).unwrap_or_else(|| panic!("{name} is in {written:?}"));
        let units = |text: &str| text.encode_utf16().count() as i32;
        let start = units(&written[..at]);
        Occurrence {
            range: vec![*line, start, start + units(name)],
            symbol: if symbol.starts_with("local") { (*symbol).to_owned() } else { format!("test . pkg 1 {symbol}") },
            symbol_roles: *role,
            ..Occurrence::default()
        }
    };
    Document {
        relative_path: path.to_owned(),
        occurrences: occurrences.iter().map(of).collect(),
        ..Document::default()
    }
}

fn write(path: &Path, documents: Vec<Document>) {
    let metadata = Metadata { project_root: "file:///elsewhere/project".to_owned(), ..Metadata::default() };
    let index = Index { metadata: Some(metadata).into(), documents, ..Index::default() };
    fs::write(path, index.write_to_bytes().expect("it is whole")).expect("the folder is ours");
}

const SHAPES: &str = "class Square:\n    def area(self): return 1\n\nclass Round:\n    def area(self): return 3\n";
const USES: &str = "import shapes\n\ndef both(é, other):\n    x = 'é𝒳', other.area()\n    return x\n";

fn python() -> Vec<Document> {
    let shapes = [
        (0, "Square", "shapes/Square#", DEFINITION),
        (1, "area", "shapes/Square#area().", DEFINITION),
        (3, "Round", "shapes/Round#", DEFINITION),
        (4, "area", "shapes/Round#area().", DEFINITION),
    ];
    let uses = [
        (2, "both", "uses/both().", DEFINITION),
        (2, "other", "local 1", DEFINITION),
        (3, "other", "local 1", 0),
        (3, "area", "shapes/Round#area().", 0),
    ];
    vec![document("shapes.py", SHAPES, &shapes), document("uses.py", USES, &uses)]
}

fn place() -> Place {
    let place = numbers();
    place.write("shapes.py", SHAPES);
    place.write("uses.py", USES);
    place
}

fn json(place: &Place, args: &[&str]) -> Value {
    let ran = place.run(&[args, &["--json"]].concat());
    assert!(ran.status <= 1, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap_or_else(|err| panic!("{err}: {}", ran.out))
}

/// References of a symbol, as `file:line confidence`.
fn references(place: &Place, id: &str) -> Vec<String> {
    let found = json(place, &["refs", "--symbol-id", id]);
    let items = found["references"].as_array().cloned().unwrap_or_default();
    let text = |item: &Value, key: &str| item[key].as_str().expect("it is text").to_owned();
    items.iter().map(|it| format!("{}:{} {}", text(it, "file"), it["line"], text(it, "confidence"))).collect()
}

#[test]
fn compilers_say_what_nobody_wrote() {
    let place = place();
    let area = "shapes.py::Round.area#method";
    assert_eq!(references(&place, area), Vec::<String>::new(), "the type of `other` is not written");
    let file = place.path().join("out.scip");
    write(&file, python());
    let file = file.to_str().expect("it is text");
    let indexed = json(&place, &["index", "--scip", file]);
    assert_eq!(indexed["compiler"]["documents"], 2, "{indexed}");
    assert_eq!(indexed["compiler"]["occurrences"], 8, "{indexed}");
    assert_eq!(references(&place, area), ["uses.py:4 compiler"]);
    assert_eq!(references(&place, "shapes.py::Square.area#method"), Vec::<String>::new());
    let calls = json(&place, &["calls", area, "--direction", "callers"]);
    assert!(calls.to_string().contains("uses.py::both"), "{calls}");

    // Once the text is another, its names are bound without the compiler, and the answer says so.
    place.write("uses.py", &format!("# …\n{USES}"));
    let found = json(&place, &["refs", "--symbol-id", area]);
    assert_eq!(found["references"].as_array().map_or(0, Vec::len), 0, "{found}");
    let note = "1 file has changed since the compiler's index was made: names there are resolved without it";
    assert_eq!(found["_meta"]["compiler_stale"], note, "{found}");
    // The text of before is what the compiler read.
    place.write("uses.py", USES);
    assert_eq!(references(&place, area), ["uses.py:4 compiler"]);
    place.write("more.py", "from shapes import Round\n");
    assert_eq!(references(&place, area), ["uses.py:4 compiler"], "another file changes nothing");
    assert_eq!(references(&place, "shapes.py::Round#class"), ["more.py:1 resolved"]);
}

#[test]
fn an_index_beside_the_sources_is_found_and_followed() {
    let place = place();
    let beside = place.source().join("index.scip");
    let area = "shapes.py::Round.area#method";
    write(&beside, python());
    assert_eq!(references(&place, area), ["uses.py:4 compiler"]);
    let mut documents = python();
    documents.pop();
    write(&beside, documents);
    assert_eq!(references(&place, area), Vec::<String>::new());
    write(&beside, python());
    assert_eq!(references(&place, area), ["uses.py:4 compiler"]);
    fs::remove_file(&beside).expect("it is ours");
    assert_eq!(references(&place, area), ["uses.py:4 compiler"], "what was read stays");
    let anew = json(&place, &["index", "--no-incremental"]);
    assert_eq!(anew["compiler"], Value::Null);
    assert_eq!(references(&place, area), Vec::<String>::new());
}

#[test]
fn another_text_is_not_what_the_compiler_read() {
    let place = place();
    place.write("uses.py", &format!("from a import b\n{USES}"));
    let mut documents = python();
    documents.push(document("gone.py", "x = 1\n", &[(0, "x", "gone/x.", DEFINITION)]));
    // A text that is given decides.
    documents[0].text = format!("{SHAPES}\n");
    let file = place.source().join("index.scip");
    write(&file, documents);
    let indexed = json(&place, &["index"]);
    assert_eq!((&indexed["compiler"]["documents"], &indexed["compiler"]["other_text"]), (&0.into(), &2.into()));
    let warnings = indexed["warnings"].to_string();
    assert!(warnings.contains("2 of 3 documents do not match their files"), "{warnings}");
    assert!(warnings.contains("1 of 3 documents belong to files that are not indexed"), "{warnings}");

    for garbage in [&b"no index"[..], &[0x12, 0xff, 0xff, 0xff, 0xff, 0x07], &[], &[0x0f; 9]] {
        fs::write(&file, garbage).expect("the folder is ours");
        let indexed = json(&place, &["index"]);
        assert!(
            indexed["warnings"].to_string().contains("index.scip was not used: it is not a SCIP index"),
            "{indexed}"
        );
        let given = place.run(&["index", "--scip", file.to_str().expect("it is text")]);
        assert!(given.status != 0 && given.err.contains("it is not a SCIP index"), "{}", given.err);
    }
    let absent = place.run(&["index", "--scip", "no.scip"]);
    assert!(absent.status != 0 && absent.err.contains("no.scip"), "{}", absent.err);
}

const LIBRARY: &str = "type Shape = object\nproc area(s: Shape): int =\n  result = 1\n";
const PROGRAM: &str = "import library\nproc main() =\n  echo area(Shape())\n";

#[test]
fn a_language_without_grammar_has_what_its_compiler_lists() {
    let place = numbers();
    place.write("library.qq", LIBRARY);
    place.write("program.qq", PROGRAM);
    let before = json(&place, &["index"]);
    assert_eq!(before["symbol_count"], 3, "those of another file: {before}");
    let mut library = document(
        "library.qq",
        LIBRARY,
        &[
            (0, "Shape", "library/Shape#", DEFINITION),
            (1, "area", "library/area().", DEFINITION),
            (1, "s", "library/area().(s)", DEFINITION),
            (1, "Shape", "library/Shape#", 0),
        ],
    );
    library.occurrences[1].enclosing_range = vec![1, 0, 2, 12];
    let mut program = document(
        "program.qq",
        PROGRAM,
        &[
            (0, "library", "library/", IMPORT),
            (1, "main", "program/main().", DEFINITION),
            (2, "area", "library/area().", 0),
            (2, "Shape", "library/Shape#", 0),
        ],
    );
    program.occurrences[1].enclosing_range = vec![1, 0, 2, 20];
    write(&place.source().join("index.scip"), vec![library, program]);
    let indexed = json(&place, &["index"]);
    assert_eq!((&indexed["compiler"]["documents"], &indexed["symbol_count"]), (&2.into(), &6.into()), "{indexed}");
    assert_eq!(references(&place, "library.qq::area#function"), ["program.qq:3 compiler"]);
    assert_eq!(references(&place, "library.qq::Shape#type"), ["library.qq:2 compiler", "program.qq:3 compiler"]);
    let calls = json(&place, &["calls", "library.qq::area#function", "--direction", "callers"]);
    assert!(calls.to_string().contains("program.qq::main#function"), "{calls}");
    let outline = json(&place, &["outline", "library.qq"]);
    assert!(outline.to_string().contains("area") && !outline.to_string().contains("\"s\""), "{outline}");

    // A program that is changed has no symbols until its compiler has read it.
    place.write("program.qq", &format!("# …\n{PROGRAM}"));
    assert_eq!(references(&place, "library.qq::area#function"), Vec::<String>::new());
    place.write("program.qq", PROGRAM);
    assert_eq!(references(&place, "library.qq::area#function"), ["program.qq:3 compiler"]);
}
