//! Exports: what other programs read is what the index knows, without what is only possible.

use std::collections::BTreeSet;
use std::fs;

use protobuf::Message as _;
use scip::types::{Document, Index, PositionEncoding, SymbolRole};
use serde_json::Value;

use crate::cli::numbers;
use crate::place::Place;

const SHAPES: &str = "class Shape:\n    \"\"\"Has an area.\"\"\"\n    def area(self): return 0\n\nclass Square(Shape):\n    def area(self): return 1\n\ndef größe(shape: Shape): return shape.area()\n";
const USES: &str =
    "from shapes import Square, größe\n\ndef both(other):\n    other.area()\n    return 'é', größe(Square())\n";

fn place() -> Place {
    let place = numbers();
    place.write("shapes.py", SHAPES);
    place.write("inner/uses.py", USES);
    place
}

fn document<'a>(index: &'a Index, path: &str) -> &'a Document {
    index.documents.iter().find(|document| document.relative_path == path).expect("the file is there")
}

/// The text at a range of a document.
fn text(document: &Document, range: &[i32], source: &str) -> String {
    assert_eq!(document.position_encoding.unwrap(), PositionEncoding::UTF8CodeUnitOffsetFromLineStart);
    let line = source.lines().nth(range[0] as usize).expect("the line is there");
    line[range[1] as usize..range[2] as usize].to_owned()
}

#[test]
fn an_index_that_grew_is_exported_as_a_fresh_one() {
    let files = [
        ("a.py", "class A:\n    pass\n"),
        ("b.py", "class B:\n    pass\n"),
        ("c.py", "from a import A\nfrom b import B\n\nclass C(B, A):\n    pass\n"),
    ];
    let all = ["export", "--format", "ndjson"];
    let fresh = Place::of(&files).found(&all);
    assert!(fresh.contains(r#""bases":["a.py::A#class","b.py::B#class"]"#), "{fresh}");
    let grown = Place::of(&files[1..]);
    assert!(grown.found(&all).contains(r#""bases":["b.py::B#class"]"#));
    grown.write(files[0].0, files[0].1);
    assert_eq!(grown.found(&all), fresh);
}

#[test]
fn scip_holds_definitions_and_bound_uses() {
    let place = place();
    let file = place.path().join("index.scip");
    let ran = place.run(&["export", "--scip", file.to_str().expect("it is text")]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.err.contains("index.scip: 9 definitions and "), "{}", ran.err);
    let index = Index::parse_from_bytes(&fs::read(&file).expect("it was written")).expect("it is SCIP");
    assert!(index.metadata.project_root.starts_with("file:///"), "{}", index.metadata.project_root);
    assert_eq!(index.metadata.tool_info.name, "codelode");
    let paths: Vec<&str> = index.documents.iter().map(|document| document.relative_path.as_str()).collect();
    assert_eq!(paths, ["inner/uses.py", "numbers.py", "shapes.py"]);

    let shapes = document(&index, "shapes.py");
    let names: Vec<&str> = shapes.symbols.iter().map(|symbol| symbol.symbol.as_str()).collect();
    let prefix = "codelode . . . `shapes.py`/";
    assert_eq!(
        names,
        ["Shape#", "Shape#area().", "Square#", "Square#area().", "`größe`()."].map(|name| format!("{prefix}{name}"))
    );
    names.iter().for_each(|name| drop(scip::symbol::parse_symbol(name).expect("it is a name of SCIP")));
    assert!(shapes.symbols[0].documentation[1].contains("Has an area."));
    let bases = &shapes.symbols[2].relationships;
    assert_eq!((bases.len(), &*bases[0].symbol, bases[0].is_implementation), (1, names[0], true));
    for occurrence in &shapes.occurrences {
        let name = text(shapes, &occurrence.range, SHAPES);
        assert!(occurrence.symbol.contains(&name), "{name} is no {}", occurrence.symbol);
        let defines = occurrence.symbol_roles & SymbolRole::Definition as i32 != 0;
        assert_eq!(defines, !occurrence.enclosing_range.is_empty(), "{name}");
    }

    let uses = document(&index, "inner/uses.py");
    let of = |role: SymbolRole| -> Vec<(String, &str)> {
        let has = uses.occurrences.iter().filter(|occurrence| occurrence.symbol_roles & role as i32 != 0);
        has.map(|one| (text(uses, &one.range, USES), one.symbol.strip_prefix(prefix).unwrap_or("elsewhere"))).collect()
    };
    let expected = [("Square", "Square#"), ("größe", "`größe`().")].map(|(name, symbol)| (name.to_owned(), symbol));
    assert_eq!(of(SymbolRole::Import), expected);
    assert_eq!(
        of(SymbolRole::ReadAccess).into_iter().collect::<BTreeSet<_>>(),
        expected.into_iter().collect(),
        "`other.area` is only possible"
    );
}

#[test]
fn tags_lead_to_definitions() {
    let place = place();
    let tags = place.found(&["export", "--format", "ctags"]);
    let names: Vec<&str> = tags.lines().filter_map(|line| line.split('\t').next()).collect();
    assert!(names.is_sorted(), "{tags}");
    assert!(tags.starts_with("!_TAG_FILE_FORMAT\t2\t"), "{tags}");
    let expected = "area\tshapes.py\t/^    def area(self): return 1$/;\"\tkind:method\tline:6\tlanguage:python\tscope:class:Square";
    assert!(tags.lines().any(|line| line == expected), "{tags}");
}

#[test]
fn lines_of_json_hold_definitions_and_uses() {
    let place = place();
    let text = place.found(&["export", "--format", "ndjson"]);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    let square = lines.iter().find(|line| line["id"] == "shapes.py::Square#class").expect("it is defined");
    assert_eq!((&square["line"], &square["bases"][0]), (&5.into(), &"shapes.py::Shape#class".into()));
    let calls: Vec<&Value> =
        lines.iter().filter(|line| line["role"] == "call" && line["path"] == "inner/uses.py").collect();
    let to: BTreeSet<&str> = calls.iter().filter_map(|line| line["to"].as_str()).collect();
    assert_eq!(to, BTreeSet::from(["shapes.py::Square#class", "shapes.py::größe#function"]));
    let call = calls.iter().find(|line| line["to"] == "shapes.py::größe#function").expect("it is called");
    assert_eq!((&call["line"], &call["column"]), (&5.into(), &18.into()), "columns are bytes");
}

#[test]
fn a_form_or_a_file_that_is_not_there_is_an_error() {
    let place = place();
    for args in [
        &["export", "--format", "xml"][..],
        &["export", "--scip", "numbers.py/all.scip"],
        &["export", "--scip", "a", "b"],
    ] {
        assert_eq!(place.run(args).status, 2, "{args:?}");
    }
}
