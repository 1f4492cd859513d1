//! Repositories that hold hostile files.

use serde_json::json;

use super::{MEMORY, Place, bytes_below, hostile, peak};

#[test]
fn hostile_files_are_indexed_and_shown() {
    let files = hostile::files(hostile::SIZE);
    std::thread::scope(|scope| {
        for part in files.chunks(files.len().div_ceil(3)) {
            scope.spawn(move || part.chunks(5).for_each(are_indexed_and_shown));
        }
    });
}

fn are_indexed_and_shown(files: &[(&str, String)]) {
    let place = Place::with(files.iter().cloned());
    let mut server = place.serve();
    for (name, _) in files {
        let outline = server.call("get_file_outline", json!({"file_path": name}));
        assert_eq!(outline["file"], *name, "{outline}");
        // Four bytes are a token, and none of these names is in a script that takes more.
        assert!(outline.to_string().len() < 8_000 * 5, "{name}: {} bytes", outline.to_string().len());
    }
    for (tool, arguments) in [
        ("find_references", json!({"identifier": "a"})),
        ("find_references", json!({"identifier": "f"})),
        ("find_dead_code", json!({})),
    ] {
        let answer = server.call(tool, arguments);
        assert!(answer["error"].is_null(), "{tool}: {answer}");
    }
    assert!(peak(&server) < MEMORY, "took {} MB", peak(&server));
    let source: usize = files.iter().map(|(_, text)| text.len()).sum();
    let index = bytes_below(&place.0.path().join("index")) as usize;
    assert!(index < source * 40 + 1_000_000, "an index of {index} bytes for {source}");
}

#[test]
fn what_is_nested_deep_is_found_by_a_bounded_name() {
    let deep = "mod a {".repeat(3_000) + &"}".repeat(2_970) + "fn deepest() {}" + &"}".repeat(30);
    let place = Place::with([("deep.rs", deep)]);
    let found = place.call("search_symbols", &json!({"query": "deepest"}));
    let id = found["results"][0]["id"].as_str().expect("it is found");
    assert!(id.len() < 300, "{id}");
    let source = place.call("get_symbol_source", &json!({"symbol_id": id}));
    assert_eq!(source["source"], "fn deepest() {}", "{source}");
}

#[test]
fn a_line_that_is_longer_than_an_answer_is_cut() {
    let place = Place::with([("long.py", format!("x = '{}'\ny = 1\n", "ab".repeat(200_000)))]);
    let answer = place.call("get_file_content", &json!({"file_path": "long.py", "max_tokens": 8_000}));
    let content = answer["content"].as_str().expect("a text");
    assert!(content.starts_with("x = 'abab") && content.len() < 100_000, "{} bytes", content.len());
    assert_eq!(answer["bytes_left"], 400_007 - content.len(), "{answer:.300}");
    let rest = json!({"file_path": "long.py", "max_tokens": 8_000, "cursor": answer["next_cursor"]});
    assert_eq!(place.call("get_file_content", &rest)["content"], "y = 1\n");
}

/// Texts for which one step of tree-sitter's error recovery takes seconds or gigabytes.
const LONG_STEPS: [(&str, &str, usize); 7] = [
    ("comma.ts", "[,a", 12_000),
    ("optional.ts", "[?.a", 1_200),
    ("greater.js", "[>a", 12_000),
    ("less.cs", "a<", 12_000),
    ("tuple.cs", "(,a", 20_000),
    ("arrow.java", "a=>", 20_000),
    ("optional.py", "(?.a", 12_000),
];

#[test]
fn a_step_of_the_parser_is_ended_in_its_middle() {
    let files = LONG_STEPS.map(|(name, text, times)| (name, text.repeat(times) + "\nneedle"));
    let place = Place::with(files.iter().map(|(name, text)| (*name, text.clone())));
    let mut server = place.serve();
    let found = server.call("search_text", json!({"query": "needle"}));
    assert_eq!(found["results"].as_array().map(Vec::len), Some(LONG_STEPS.len()), "{found}");
    let run = server.call("index_folder", json!({"incremental": false}));
    let warnings = run["warnings"].to_string();
    for (name, _) in &files {
        assert!(warnings.contains(&format!("{name}: parsing took")), "{name}: {warnings}");
    }
    // A pattern is parsed as well.
    for (language, text) in [("typescript", "[,a"), ("csharp", "(,a")] {
        let answer = server.call("search_ast", json!({"pattern": text.repeat(12_000), "language": language}));
        assert!(answer["error"].is_string(), "{answer:.300}");
    }
    assert!(peak(&server) < 400, "took {} MB", peak(&server));
}

#[test]
fn a_fault_in_a_grammar_costs_one_file() {
    let indented = |line: usize| " ".repeat(line) + "if 1:\n";
    let name = "A".repeat(300);
    let files = [
        // Beyond C's table of characters.
        ("brace.sh", "f() {\n  echo {\u{10fffd}..3\u{10fffd}}\n}\n".to_owned()),
        // Without an end.
        ("annotation.kt", "class Here\n@B".to_owned()),
        ("parenthesis.kt", "class There {\n  val x: Int\n  @B(".to_owned()),
        // With assertions that fail.
        ("heredoc.rb", format!("x = <<{name}\nhello\n{name}\ny = 1\n")),
        ("indents.py", (0..511).map(indented).collect::<String>() + &" ".repeat(511) + "x = f\"{a}\"\n"),
    ];
    let place = Place::with(files.iter().cloned());
    let mut server = place.serve();
    for name in ["f", "Here"] {
        let found = server.call("search_symbols", json!({"query": name}));
        assert_eq!(found["results"][0]["name"], name, "{found}");
    }
    let run = server.call("index_folder", json!({"incremental": false}));
    if cfg!(target_os = "linux") {
        for name in ["heredoc.rb", "indents.py"] {
            assert!(run["warnings"].to_string().contains(&format!("{name}: its grammar fails on it")), "{run}");
        }
    }
    for (language, pattern) in [("bash", "echo $A"), ("kotlin", "class $A"), ("ruby", "x = $A"), ("ruby", &files[3].1)]
    {
        let answer = server.call("search_ast", json!({"pattern": pattern, "language": language}));
        assert!(answer.is_object(), "{answer}");
    }
}

#[test]
fn many_small_files_take_no_longer_than_a_large_one() {
    // With two seconds each, they would take more processor time than a program here may.
    let names: Vec<String> = (0..33).map(|number| format!("a{number}.java")).collect();
    let place = Place::with(names.iter().map(|name| (name.as_str(), ")+".repeat(20_000))));
    let output = place.run(&["index", "."]);
    assert!(output.contains("33 java"), "{output}");
}
