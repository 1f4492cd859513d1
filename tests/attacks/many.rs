//! Folders of a megabyte whose files and classes have much to do with each other.

use serde_json::{Value, json};

use super::{MEMORY, Place, peak, scaled};

/// Asks a server about a folder; all answers must come in time and within memory.
fn answers<'a>(files: impl IntoIterator<Item = (&'a str, String)>, questions: &[(&str, Value)]) {
    let place = Place::with(files);
    let mut server = place.serve();
    for (tool, arguments) in questions {
        let answer = server.call(tool, arguments.clone());
        assert!(answer["error"].is_null(), "{tool}: {answer:.300}");
    }
    assert!(peak(&server) < MEMORY, "took {} MB", peak(&server));
}

fn references() -> Vec<(&'static str, Value)> {
    vec![("find_references", json!({"identifier": "f"}))]
}

/// So many pieces of a text, each with its number.
fn pieces(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

/// So many files, each with its number in its name.
fn files(count: usize, extension: &str, text: impl Fn(usize) -> String) -> Vec<(String, String)> {
    (0..count).map(|number| (format!("m{number}.{extension}"), text(number))).collect()
}

fn borrowed(files: &[(String, String)]) -> impl Iterator<Item = (&str, String)> {
    files.iter().map(|(name, text)| (name.as_str(), text.clone()))
}

#[test]
fn aliases_of_aliases_are_followed_a_bounded_number_of_times() {
    let text = pieces(900, |n| format!("use a{n} as a{};", n + 1).repeat(16));
    answers([("lib.rs", text)], &references());
}

#[test]
fn many_functions_of_one_file_are_judged_in_time() {
    let text = format!("package m\n{}", pieces(30_000, |n| format!("func f{n}() {{}}\n")));
    let most = json!({"min_confidence": 0.0});
    answers([("m.go", text), ("go.mod", "module m\n".to_owned())], &[("find_dead_code", most)]);
}

#[test]
fn a_chain_of_local_names_is_no_chain_of_calls() {
    let chain = pieces(20_000, |n| format!(" a{}=a{n}\n", n + 1));
    let text = format!("def f():\n a0=1\n{chain} class C:\n  x=a20000\n  def g(self): return self.x\n");
    answers([("a.py", text), ("b.py", "import a\na.f()\n".to_owned())], &references());
}

#[test]
#[ignore = "takes a minute unless it is optimised"]
fn stars_of_stars_are_followed_a_bounded_number_of_times() {
    let star = |n: usize| format!("from m{} import *\n", n % 3_000);
    let files = files(3_000, "py", |n| star(2 * n + 1) + &star(2 * n + 2) + "a = b(c, d)\nx = e.f\n");
    answers(borrowed(&files), &references());
}

#[test]
fn a_package_of_many_files_that_import_it_fits_into_memory() {
    let mut files = files(scaled(7_000), "go", |n| {
        format!("package m\nimport \"m\"\nimport q \"m\"\nfunc f{n}() {{ m.f{}(); q.a() }}\n", n + 1)
    });
    files.push(("go.mod".to_owned(), "module m\n".to_owned()));
    answers(borrowed(&files), &references());
}

#[test]
#[ignore = "takes a minute unless it is optimised"]
fn many_structs_that_satisfy_many_interfaces_fit_into_memory() {
    let interfaces = pieces(15_000, |n| format!("type I{n} interface{{F()}}\n"));
    let structs = pieces(12_000, |n| format!("type S{n} struct{{}}\nfunc (S{n}) F(){{}}\n"));
    let questions = [
        ("find_references", json!({"identifier": "F"})),
        ("find_implementations", json!({"symbol_id": "a.go::I7#type"})),
        ("find_implementations", json!({"symbol_id": "a.go::I7.F#method"})),
    ];
    answers([("a.go", format!("package p\n{interfaces}")), ("b.go", format!("package p\n{structs}"))], &questions);
}

#[test]
fn classes_with_many_bases_are_compared_a_bounded_number_of_times() {
    let text = pieces(3_000, |n| format!("class A{}(A{}, A{n}):\n def f(self): return self.f()\n", n + 2, n + 1));
    answers([("a.py", text)], &[("find_dead_code", json!({}))]);
}

#[test]
fn a_name_that_is_imported_again_and_again_is_no_product() {
    let text = "import a from \"b\";\n".repeat(scaled(10_000)) + &"a();\n".repeat(scaled(30_000));
    answers([("a.js", text)], &[("get_dependency_graph", json!({"file": "a.js"}))]);
}

#[test]
fn many_files_of_one_content_are_told_apart_by_their_paths() {
    let files = files(30_000, "py", |_| "x = 1\n".to_owned());
    let place = Place::with(borrowed(&files));
    place.run(&["index", "."]);
}
