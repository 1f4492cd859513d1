//! Symbols of documents and data: they are found by their names, and come after code.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::cli::numbers;
use crate::place::Place;

/// Ids of what a search finds, best first.
fn found(place: &Place, query: &[&str]) -> Vec<String> {
    let ran = place.run(&[&["--json", "search"], query].concat());
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let results = answer["results"].as_array().cloned().unwrap_or_default();
    results.iter().filter_map(|one| one["id"].as_str().map(str::to_owned)).collect()
}

fn place() -> Place {
    let place = numbers();
    let guide =
        "# Counter\n\nCounts.\n\n## How to count\n\nCall `add` of numbers, add numbers, add.\n\n### add\n\nAdds.\n";
    let jobs = "name: Checks\njobs:\n  nightly-build:\n    steps: []\n";
    let mut flood = String::new();
    (0..250).for_each(|n| writeln!(flood, "add{n}: {{ add: numbers, count: add }}").unwrap());
    for (name, text) in [("guide.md", guide), ("checks.yml", jobs), ("flood.yaml", &flood)] {
        fs::write(place.source().join(name), text).expect("the folder is ours");
    }
    place.write("package.json", "{\"scripts\": {\"add\": \"x\"}}");
    place
}

#[test]
fn code_comes_before_documents_that_bear_its_name() {
    let place = place();
    for (query, first) in [
        ("add", "numbers.py::add#function"),
        ("Counter", "numbers.py::Counter#class"),
        ("count", "numbers.py::Counter.count#method"),
        ("counter count", "numbers.py::Counter.count#method"),
        ("where are two numbers added", "numbers.py::add#function"),
    ] {
        let found = found(&place, &[query]);
        assert_eq!(found.first().map(String::as_str), Some(first), "{query}: {found:?}");
        let of_data = found.iter().filter(|id| !id.contains(".py::")).count();
        assert!(of_data <= 12, "{query}: {of_data} of {}", found.len());
    }
}

#[test]
fn documents_are_found_by_name_kind_and_language() {
    let place = place();
    assert_eq!(found(&place, &["nightly-build"])[0], "checks.yml::jobs.nightly-build#class");
    assert!(found(&place, &["how to count"]).contains(&"guide.md::Counter.How to count#type".to_owned()));
    assert_eq!(found(&place, &["kind:section add"])[0], "guide.md::Counter.How to count.add#type");
    assert_eq!(found(&place, &["add", "-l", "json"]), ["package.json::scripts.add#constant"]);
    assert!(place.found(&["outline", "guide.md"]).contains("## How to count"));
}
