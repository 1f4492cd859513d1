//! Answers beside their results: no bare "no" while files are read, a way to the rest of everything that is cut, and a
//! word where something else was done than was asked.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use codelode::answer::tokens;
use codelode::tools::{self, Context, Envelope, Request};
use serde_json::{Map, Value, json};

use super::graph::{ask, call, indexed, values, write};

/// Calls a tool in a project, and gives what comes back, be it an error.
fn envelope(cx: &Context, root: &Path, tool: &str, args: Value) -> Envelope {
    let args: Map<String, Value> = args.as_object().expect("arguments are an object").clone();
    let request = Request { directory: Some(root.to_owned()), ..Request::default() };
    tools::call(cx, tool, args, &request)
}

fn project(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("project")
}

#[test]
fn names_spelt_alike_are_no_answers_beside_the_name_asked_for() {
    let project = "--- a.py
def make_response(): ...
def make_responses(): ...
def make_respond(): ...
class Response: ...
def caller(): return make_response()
";
    let exact = ask(project, "search_symbols", json!({"query": "make_response"}));
    assert_eq!(values(&exact, "results", "name"), ["make_response", "make_responses", "caller"], "{exact}");
    assert!(!exact.to_string().contains("fuzzy"), "{exact}");
    let asked = ask(project, "search_symbols", json!({"query": "make_response", "fuzzy": true}));
    assert!(values(&asked, "results", "name").contains(&"make_respond"), "{asked}");
    let slip = ask(project, "search_symbols", json!({"query": "make_respone"}));
    assert_eq!(slip["results"][0]["match_type"], "fuzzy", "{slip}");
}

#[test]
fn kinds_are_named_in_the_words_of_each_language() {
    let files = "--- a.py
class Query:
    limit = 3
    def run(self): ...
    @property
    def ordered(self): ...
--- b.ts
class Row {
  size = 1;
  get width() { return 1; }
}
";
    let (cx, folder) = indexed(files);
    let of = |kind: &str| {
        let answer = call(&cx, &project(&folder), "search_symbols", json!({"query": format!("kind:{kind}")}));
        let mut names: Vec<String> = values(&answer, "results", "name").into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(of("property"), ["ordered", "width"]);
    assert_eq!(of("properties"), of("property"));
    assert_eq!(of("attribute"), ["limit", "ordered", "size", "width"]);
    assert_eq!(of("accessor"), ["ordered", "width"]);
    let args = json!({"query": "ordered", "include_kinds": ["property"]});
    assert_eq!(call(&cx, &project(&folder), "get_ranked_context", args)["items"][0]["line"], 5);
}

#[test]
fn nothing_is_absent_for_sure_while_an_edit_is_read() {
    let (cx, folder) = indexed("--- a.py\ndef lonely(): ...\n--- b.py\ndef other(): ...\n");
    let root = project(&folder);
    let store = cx.indexes.registry().all()[0].store.clone();
    // As long as somebody else writes the index, it takes no edit.
    let writer = cx.indexes.registry().store(&store).writer(Duration::from_secs(9)).expect("nobody writes");
    std::fs::write(root.join("new.py"), "import b\nfrom a import lonely\nlonely()\ndef fresh(): ...\n").expect("room");
    let questions = [
        ("check_references", json!({"identifier": "lonely"})),
        ("check_references", json!({"identifiers": ["lonely", "other"]})),
        ("find_dead_code", json!({})),
        ("find_importers", json!({"file_path": "b.py"})),
        ("find_references", json!({"identifier": "lonely"})),
        ("find_references", json!({"identifiers": ["lonely", "other"]})),
        ("get_blast_radius", json!({"symbol_id": "lonely"})),
        ("get_call_hierarchy", json!({"symbol_id": "lonely"})),
        ("find_references", json!({"identifier": "fresh", "count_only": true})),
        ("get_symbol_source", json!({"symbol_ids": ["fresh"]})),
    ];
    for (tool, args) in &questions {
        let answer = envelope(&cx, &root, tool, args.clone());
        assert!(!answer.is_error, "{}", answer.text);
        let verdict = answer.value["verdict"].as_str().unwrap_or_default();
        assert!(verdict.starts_with("not_known: "), "{tool} {args}: {}", answer.text);
    }
    for (tool, args) in [
        ("get_symbol_source", json!({"symbol_id": "fresh"})),
        ("get_call_hierarchy", json!({"symbol_id": "fresh"})),
        ("get_file_outline", json!({"file_path": "new.py"})),
    ] {
        let answer = envelope(&cx, &root, tool, args);
        assert_eq!(answer.value["code"], "not_found", "{}", answer.text);
        let verdict = answer.value["details"]["verdict"].as_str().unwrap_or_default();
        assert!(verdict.starts_with("not_known: "), "{tool}: {}", answer.text);
    }
    drop(writer);
    let until = Instant::now() + Duration::from_secs(60);
    for (tool, args) in questions {
        let mut answer = envelope(&cx, &root, tool, args.clone());
        while answer.value.get("verdict").is_some() && Instant::now() < until {
            answer = envelope(&cx, &root, tool, args.clone());
        }
        assert_eq!(answer.value.get("verdict"), None, "{tool}: {}", answer.text);
    }
    let checked = call(&cx, &root, "check_references", json!({"identifier": "lonely"}));
    assert_eq!(checked["is_referenced"], true, "{checked}");
}

#[test]
fn each_group_of_a_batch_has_a_next_page() {
    let users: String = (0..7).map(|n| format!("--- user_{n}.py\nfrom a import one, two\none(); two()\n")).collect();
    let (cx, folder) = indexed(&format!("--- a.py\ndef one(): ...\ndef two(): ...\ndef three(): ...\n{users}"));
    let root = project(&folder);
    let whole = call(&cx, &root, "find_references", json!({"identifier": "two"}))["references"].clone();
    assert_eq!(whole.as_array().map(Vec::len), Some(14));
    for args in [json!({"max_results": 3}), json!({"max_tokens": 500})] {
        let asked = |more: Value| {
            let mut args = args.as_object().cloned().expect("arguments are an object");
            args.extend(more.as_object().cloned().expect("arguments are an object"));
            Value::from(args)
        };
        let batch = call(&cx, &root, "find_references", asked(json!({"identifiers": ["two", "one"]})));
        let group = &batch["results"][0];
        let mut found = group["references"].as_array().cloned().expect("a list");
        assert!(found.len() < 14 && !found.is_empty(), "{batch}");
        assert_eq!(group["references_left"], 14 - found.len(), "{batch}");
        let mut cursor = group["next_cursor"].clone();
        while !cursor.is_null() {
            let page = call(&cx, &root, "find_references", asked(json!({"identifier": "two", "cursor": cursor})));
            found.extend(page["references"].as_array().cloned().expect("a list"));
            cursor = page["next_cursor"].clone();
        }
        assert_eq!(Value::from(found), whole);
    }
    let files = json!({"file_paths": ["a.py", "user_0.py"], "max_results": 4});
    let batch = call(&cx, &root, "find_importers", files);
    let group = &batch["results"][0];
    assert_eq!((&group["importer_count"], &group["importers_left"]), (&json!(7), &json!(3)), "{batch}");
    let rest = json!({"file_path": "a.py", "cursor": group["next_cursor"]});
    let rest = call(&cx, &root, "find_importers", rest);
    let [first, second] = [&group["importers"], &rest["importers"]].map(|all| all.as_array().expect("a list").clone());
    assert_eq!([first, second].concat().len(), 7);
    assert_eq!(rest["importers"][0]["file"], "user_4.py", "{rest}");
}

#[test]
fn a_small_context_begins_with_the_best_and_says_where_it_goes_on() {
    let lines: String = (0..60).map(|n| format!("    total = total + load_line({n}, 'of the ledger')\n")).collect();
    let files = format!(
        "--- a.py\n@cached\ndef balance_ledger(total):\n{lines}    return total\n--- b.py\ndef print_ledger():\n    return balance_ledger(0)\n"
    );
    let (cx, folder) = indexed(&files);
    let root = project(&folder);
    let answer = call(&cx, &root, "get_ranked_context", json!({"query": "balance_ledger", "token_budget": 300}));
    let best = &answer["items"][0];
    assert_eq!(best["symbol_id"], "a.py::balance_ledger#function", "{answer}");
    let source = best["source"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(
        source.starts_with("@cached\ndef balance_ledger(total):\n    total = ") && source.ends_with(")\n"),
        "{source}"
    );
    let rest = json!({"file_path": "a.py", "start_line": best["goes_on_at_line"], "end_line": 63});
    let rest = call(&cx, &root, "get_file_content", rest);
    let rest = rest["content"].as_str().expect("a file has text");
    assert_eq!(
        format!("{source}{rest}").trim_end(),
        std::fs::read_to_string(root.join("a.py")).expect("it is there").trim_end()
    );
    let whole = call(&cx, &root, "get_ranked_context", json!({"query": "balance_ledger", "token_budget": 4_000}));
    assert_eq!(whole["items"][0].get("goes_on_at_line"), None, "{whole}");
}

#[test]
fn what_is_done_otherwise_than_asked_is_said() {
    let (cx, folder) = indexed("--- a.py\nimport b\ndef f(): ...\n--- b.py\ndef g(): ...\n");
    let root = project(&folder);
    for (tool, args, says) in [
        ("get_dependency_graph", json!({"file": "a.py", "depth": 9}), "`depth` must be from 1 to 3; using 3"),
        ("get_call_hierarchy", json!({"symbol_id": "f", "depth": 0}), "`depth` must be from 1 to 5; using 1"),
        ("get_blast_radius", json!({"symbol_id": "f", "max_depth": 99}), "`max_depth` must be from 1 to 10; using 10"),
        ("search_symbols", json!({"query": "f", "semantic_weight": 0.3}), "`semantic_weight` has no effect"),
    ] {
        let answer = call(&cx, &root, tool, args);
        assert!(answer["_meta"]["hint"].as_str().is_some_and(|hint| hint.starts_with(says)), "{answer}");
    }
    let usual = call(&cx, &root, "get_dependency_graph", json!({"file": "a.py", "depth": 3}));
    assert_eq!(usual["_meta"].get("hint"), None, "{usual}");
}

#[test]
fn counts_are_of_all_that_was_asked_for() {
    let (cx, folder) =
        indexed("--- src/a.py\nclass A:\n    def f(self): ...\n    def g(self): ...\n--- src/in/b.py\ndef h(): ...\n");
    let root = project(&folder);
    for (tool, args, count) in [
        ("get_symbol_source", json!({"symbol_id": "A.f"}), 1),
        ("get_symbol_source", json!({"symbol_ids": ["A.f", "A.g"]}), 2),
        ("get_file_outline", json!({"file_path": "src/a.py"}), 3),
        ("get_file_outline", json!({"file_paths": ["src/a.py", "src/in/b.py"]}), 4),
        ("get_file_tree", json!({}), 2),
        ("get_file_tree", json!({"path_prefix": "src/in"}), 1),
    ] {
        let mut args = args;
        args["count_only"] = true.into();
        assert_eq!(call(&cx, &root, tool, args.clone())["count"], count, "{tool} {args}");
    }
}

#[test]
fn several_definitions_are_numbered() {
    let project = "--- a.py\nclass A:\n    def run(self): ...\nclass B:\n    def run(self): ...\nA().run()\nB().run()\nB().run()\n";
    let answer = ask(project, "find_references", json!({"identifier": "run"}));
    let numbers: Vec<&Value> =
        answer["definitions"].as_array().expect("a list").iter().map(|of| &of["number"]).collect();
    assert_eq!(numbers, [0, 1], "{answer}");
    let second: Vec<&Value> = answer["references"].as_array().expect("a list").iter().map(|item| &item["of"]).collect();
    assert_eq!(second, [0, 1, 1], "{answer}");
    let one = ask(project, "find_references", json!({"symbol_id": "A.run"}));
    assert_eq!(one["definitions"][0].get("number"), None, "{one}");
}

#[test]
fn an_empty_folder_is_no_find() {
    let (cx, folder) = indexed("--- a.py\nx = 1\n");
    let root = project(&folder);
    std::fs::remove_file(root.join("a.py")).expect("it is there");
    let until = Instant::now() + Duration::from_secs(60);
    let mut answer = envelope(&cx, &root, "get_repo_outline", json!({}));
    while answer.found && Instant::now() < until {
        answer = envelope(&cx, &root, "get_repo_outline", json!({}));
    }
    assert!(!answer.is_error && !answer.found, "{}", answer.text);
    assert!(answer.value["_meta"]["hint"].to_string().contains("no file is indexed here"), "{}", answer.text);
}

/// Calls of every tool that answers about a folder without the network.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("search_symbols", json!({"query": "total"})),
        ("search_symbols", json!({"query": "nothing_of_this_name"})),
        ("search_symbols", json!({"query": "kind:method", "include_source": true})),
        ("search_text", json!({"query": "return", "context_lines": 1})),
        ("search_text", json!({"query": "nowhere to be found"})),
        ("search_ast", json!({"pattern": "return $X"})),
        ("get_symbol_source", json!({"symbol_id": "charge_card"})),
        ("get_symbol_source", json!({"symbol_ids": ["charge_card", "nothing_like_it"]})),
        ("get_file_outline", json!({"file_path": "shop/models.py"})),
        ("get_file_content", json!({"file_path": "shop/models.py"})),
        ("find_references", json!({"identifier": "total"})),
        ("find_references", json!({"identifiers": ["total", "charge_card"]})),
        ("get_call_hierarchy", json!({"symbol_id": "charge_card"})),
        ("find_importers", json!({"file_path": "shop/models.py"})),
        ("get_class_hierarchy", json!({"class_name": "Order"})),
        ("get_blast_radius", json!({"symbol_id": "charge_card"})),
        ("find_dead_code", json!({})),
        ("get_context_bundle", json!({"symbol_id": "charge_card"})),
        ("get_ranked_context", json!({"query": "charge the card"})),
        ("get_dependency_graph", json!({"file": "shop/models.py"})),
        ("get_symbol_importance", json!({})),
        ("get_repo_map", json!({})),
        ("get_related_symbols", json!({"symbol_id": "charge_card"})),
        ("find_implementations", json!({"symbol_id": "Order"})),
        ("check_references", json!({"identifier": "total"})),
        ("check_references", json!({"identifiers": ["total", "nowhere"]})),
        ("get_repo_outline", json!({})),
        ("get_file_tree", json!({})),
        ("list_repos", json!({})),
        ("suggest_queries", json!({})),
        ("find_tests", json!({"targets": ["charge_card"]})),
        ("plan_delete", json!({"symbol_id": "charge_card"})),
        ("resolve_repo", json!({"path": "."})),
    ]
}

#[test]
fn compact_answers_are_never_larger_and_say_nothing_twice() {
    let (cx, folder) = indexed(include_str!("shop.txt"));
    let root = project(&folder);
    for (tool, args) in calls() {
        for max_tokens in [8_000, 400] {
            let asked = |format: &str| {
                let mut args = args.clone();
                args["format"] = format.into();
                args["max_tokens"] = max_tokens.into();
                envelope(&cx, &root, tool, args).text
            };
            let (json, compact) = (asked("json"), asked("compact"));
            let (most, size) = (tokens::estimate(&json), tokens::estimate(&compact));
            // A cut answer holds what fits, which may be more of it.
            let is_cut = json.contains("\"truncated\":true") || json.contains("\"error\":");
            assert!(size <= most || is_cut, "{tool} {args}: {size} > {most}\n{compact}\n{json}");
            assert!(size <= max_tokens || json.contains("\"error\":"), "{tool} {args}: {size}\n{compact}");
            assert!(compact.matches("truncated").count() <= 1, "{tool} {args}: {compact}");
            for silent in ["timing_ms", "estimate_method", "freshness: fresh"] {
                assert!(json.contains("\"error\":") || !compact.contains(silent), "{tool} {args}: {compact}");
            }
        }
    }
}

#[test]
fn secret_keys_are_found_however_short_and_wherever_they_are_set() {
    let project = "--- a.py
SECRET_KEY = 'dev'
app.config['SECRET_KEY'] = 'dev'
app.secret_key = 'x'
app.config.from_mapping(SECRET_KEY='dev')
KEY = 'dev'
SECRET_KEY = os.environ['SECRET_KEY']
";
    let answer = ask(project, "search_ast", json!({"preset": "hardcoded_secret"}));
    let matches = answer["results"][0]["matches"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let lines: Vec<&Value> = matches.iter().map(|found| &found["line"]).collect();
    assert_eq!(lines, [1, 2, 3, 4], "{answer}");
}

#[test]
fn an_id_is_taken_where_a_name_is() {
    let project = "--- a.py\ndef load(): pass\n--- b.py\nfrom a import load\nload()\n--- c.py\ndef load(): pass\n";
    for id in ["a.py::load#function", "a.py::load", "a.py:1"] {
        let uses = ask(project, "find_references", json!({"identifier": id}));
        assert_eq!(uses["definitions"].as_array().map(Vec::len), Some(1), "{id}: {uses}");
        assert!(uses["references"].as_array().is_some_and(|uses| !uses.is_empty()), "{id}: {uses}");
    }
    // From a subfolder, as answers print it there.
    let (cx, folder) = indexed("--- sub/a.py\ndef load(): pass\n--- b.py\nfrom sub.a import load\nload()\n");
    let below = folder.path().join("project/sub");
    let uses = call(&cx, &below, "find_references", json!({"identifier": "a.py::load"}));
    assert_eq!(values(&uses, "references", "file"), ["b.py", "b.py"], "{uses}");
    let checked = call(&cx, &below, "check_references", json!({"identifier": "a.py::load"}));
    assert_eq!(checked["resolved_count"], json!(1), "{checked}");
    let checked = ask(project, "check_references", json!({"identifier": "a.py::load#function"}));
    assert!(checked["is_referenced"] == json!(true) && checked["resolved_count"] == json!(1), "{checked}");
    let unused =
        ask(project, "check_references", json!({"identifier": "c.py::load#function", "search_content": false}));
    assert_eq!(unused["is_referenced"], json!(false), "{unused}");
}

#[test]
fn the_order_of_an_answer_is_not_that_in_which_files_were_read() {
    let last = "--- z.py
class Twin: ...
def of_last(): ...
";
    let (cx, folder) = indexed(last);
    let root = project(&folder);
    std::fs::write(root.join("a.py"), "from z import of_last\nclass Twin: ...\ndef main(): return of_last()\n")
        .expect("the folder can be written");
    std::fs::write(root.join("b.py"), "from z import of_last\nclass Twin: ...\n").expect("the folder can be written");
    let indexed = envelope(&cx, &root, "index_folder", json!({"path": root}));
    assert!(!indexed.is_error, "{:?}", indexed.value);
    let twins = envelope(&cx, &root, "get_class_hierarchy", json!({"class_name": "Twin"}));
    let classes = twins.value["results"].as_array().expect("one for each of that name").iter();
    let files: Vec<&Value> = classes.map(|one| &one["class"]["file"]).collect();
    assert_eq!(files, ["a.py", "b.py", "z.py"], "{:?}", twins.value);
    let checked = envelope(&cx, &root, "check_references", json!({"identifier": "of_last"}));
    assert_eq!(checked.value["import_references"], json!(["a.py:1", "b.py:1"]), "{:?}", checked.value);
}

#[test]
fn tests_of_an_answer_are_not_those_that_were_read_first() {
    // More users than a walk for an answer goes through, so that it ends among equals.
    let named = |n: usize| format!("--- tests/test_{n:03}.py\nfrom load import load\ndef test_{n}(): load()\n");
    let sources = |all: &mut dyn Iterator<Item = usize>| all.map(named).collect::<String>();
    let with_tests = |first: &str| format!("--- load.py\ndef load(): return 1\n{first}");
    let asked = |cx: &Context, root: &Path| {
        let answer = call(cx, root, "get_ranked_context", json!({"query": "load", "scope": "load.py"}));
        answer["items"][0]["tested_by"].clone()
    };
    let (cx, folder) = indexed(&with_tests(&sources(&mut (0..160))));
    let at_once = asked(&cx, &project(&folder));
    assert_eq!(at_once[0], json!("tests/test_000.py::test_0#function"), "{at_once}");

    let (cx, folder) = indexed(&with_tests(&sources(&mut (80..160))));
    let root = project(&folder);
    write(&root, &sources(&mut (0..80)));
    let again = envelope(&cx, &root, "index_folder", json!({"path": root}));
    assert!(!again.is_error, "{:?}", again.value);
    assert_eq!(asked(&cx, &root), at_once);
}

#[test]
fn tests_of_what_everything_uses_are_a_short_answer() {
    let mut project = String::from("--- shop/tax.py\ndef tax(cents):\n    return cents // 5\n");
    for file in 0..40 {
        project += &format!("--- tests/test_area_{file}.py\nfrom shop.tax import tax\n");
        (0..6).for_each(|n| project += &format!("def test_tax_of_a_basket_in_case_{n}():\n    assert tax(10) == 2\n"));
        // Of the first file all tests are needed.
        project += if file > 0 { "def test_nothing():\n    assert True\n" } else { "" };
    }
    let (cx, folder) = indexed(&project);
    let root = self::project(&folder);
    let tokenizer = tiktoken_rs::cl100k_base().expect("it is part of the crate");
    let asked = |args: Value| {
        let answer = envelope(&cx, &root, "find_tests", args);
        (tokenizer.encode_ordinary(&answer.text).len(), answer)
    };
    let (size, found) = asked(json!({"targets": ["tax"]}));
    assert!(size < 3_400, "{size}: {}", found.text);
    assert_eq!(found.value["tests"].as_array().map(Vec::len), Some(20), "{}", found.text);
    let (compact, table) = asked(json!({"targets": ["tax"], "format": "compact"}));
    assert!(compact < size, "{compact} of {size}: {}", table.text);
    // The runner's arguments are cut, counted, and whole as a text.
    let run = &found.value["runs"][0];
    let shown: Vec<&str> = run["arguments"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(found.value["_meta"]["hint"].as_str().is_some_and(|hint| hint.contains("text")), "{}", found.text);
    let (_, whole) = asked(json!({"targets": ["tax"], "output": "text"}));
    let all: Vec<&str> = whole.value["text"].as_str().expect("a text").lines().collect();
    assert_eq!(all.len(), 1 + 39 * 6);
    assert!(all.contains(&"tests/test_area_0.py"), "a file all of whose tests are needed: {}", whole.text);
    assert_eq!(run["more"].as_u64(), Some((all.len() - shown.len()) as u64), "{run}");
    assert_eq!(all[..shown.len()], shown);
    let (_, next) = asked(json!({"targets": ["tax"], "cursor": found.value["next_cursor"]}));
    assert_eq!(next.value["tests"].as_array().map(Vec::len), Some(20), "{}", next.text);
    assert_eq!(next.value["runs"], json!([]), "{}", next.text);
    assert!(next.value["next_cursor"].is_null(), "{}", next.text);
}
