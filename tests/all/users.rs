//! Findings of people and agents who tried everything, each as the call that shows it.

use std::fs;

use codelode::answer::tokens;
use serde_json::{Value, json};

use super::graph::{ask, indexed, wrong};
use crate::place::{Place, Ran};

/// The error of a question about a project.
fn refused(project: &str, tool: &str, args: Value) -> Value {
    let (cx, folder) = indexed(project);
    wrong(&cx, &folder.path().join("project"), tool, args)
}

#[test]
fn what_git_tracks_and_has_not_checked_out_is_said() {
    let inner = Place::repository();
    inner.write("lib.py", "def inside():\n    return 1\n").commit("inner");
    let place = Place::repository();
    place.write("kept/app.py", "def kept():\n    return 1\n");
    place.write("left/gone.py", "def gone():\n    return 1\n").write("left/more.py", "def more():\n    return 1\n");
    let url = inner.source();
    let url = url.to_str().expect("it is text");
    place.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "module"]);
    place.commit("one");
    place.git(&["submodule", "deinit", "-q", "-f", "module"]);
    place.git(&["sparse-checkout", "set", "--cone", "kept"]);

    let indexed = place.call("index_folder", json!({"path": place.source()}));
    assert_eq!((&indexed["skipped"]["missing"], &indexed["skipped"]["submodule"]), (&json!(2), &json!(1)));
    let warnings = indexed["warnings"].to_string();
    assert!(warnings.contains("2 tracked files are missing") && warnings.contains("not checked out: module"));
    let listed = place.found(&["list", "--skipped"]);
    for line in ["left/gone.py  missing", "left/more.py  missing", "module/  submodule, 0 files"] {
        assert!(listed.contains(line), "{listed}");
    }
    let found = place.call("search_symbols", json!({"query": "gone"}));
    let left_out = &found["negative_evidence"]["left_out"];
    assert_eq!((&left_out["missing"], &left_out["submodule"]), (&json!(2), &json!(1)), "{found}");
    let uses = place.call("find_references", json!({"identifier": "kept"}));
    assert_eq!(uses["_meta"]["not_here"], json!({"missing": 2, "submodule": 1}), "{uses}");
    let file = place.call("get_file_content", json!({"file_path": "left/gone.py"}));
    assert_eq!(file["details"]["reason"], "missing", "{file}");

    place.git(&["sparse-checkout", "disable"]);
    let found = place.call("search_symbols", json!({"query": "gone"}));
    assert_eq!(found["results"][0]["file"], "left/gone.py", "{found}");
}

#[test]
fn a_folder_that_is_left_out_counts_its_files() {
    let place = Place::repository();
    place.write("app.py", "def app():\n    return 1\n").write(".gitignore", "made/\n");
    for number in 0..3 {
        place.write(&format!("node_modules/{number}/index.js"), "x\n").write(&format!("made/{number}.py"), "x = 1\n");
    }
    let indexed = place.call("index_folder", json!({"path": place.source()}));
    // The folder of git counts once.
    assert_eq!(indexed["skipped"], json!({"ignored": 3, "noise": 4}), "{indexed}");
}

#[test]
fn a_name_from_outside_has_its_uses() {
    let project = "--- tests/test_a.py
import pytest
from os import path
from ours import fixture as own

@pytest.fixture
def thing():
    return path.join('a', 'b')

@pytest.fixture()
def other():
    return own
--- ours.py
def helper():
    fixture = 1
    return fixture
";
    let uses = |name: &str| {
        let answer = ask(project, "find_references", json!({"identifier": name}));
        let items = answer["references"].as_array().expect("a list");
        let lines: Vec<u64> = items.iter().filter_map(|item| item["line"].as_u64()).collect();
        assert!(items.iter().all(|item| item["confidence"] == "external"), "{answer}");
        (answer["external"].clone(), lines, answer["not_found"].clone())
    };
    assert_eq!(uses("pytest.fixture"), (json!(["pytest"]), vec![5, 9], Value::Null));
    assert_eq!(uses("path.join").1, [7]);
    assert_eq!(uses("nowhere.fixture"), (Value::Null, vec![], json!(["nowhere.fixture"])));
}

#[test]
fn nothing_of_the_repository_comes_from_outside() {
    let project = "--- Ports.kt
package hall
class Booking(val id: Int)
interface Store { fun close() {} }
class SqlStore : Store
fun Booking.close() {}
fun tidy(booking: Booking) { booking.close() }
fun morning() { val store = SqlStore(); store.close() }
--- conf.h
int touch(int a);
--- conf.c
#include \"conf.h\"
int use(int a) { return touch(a); }
--- bell.php
<?php
class Thing { function ring() {} }
class Bell extends Thing {}
$bell = new Bell(); $bell->ring();
";
    let ask = |name: &str| ask(project, "find_references", json!({"identifier": name}));
    let lines = |answer: &Value| -> Vec<u64> {
        let items = answer["references"].as_array().expect("a list");
        items.iter().filter_map(|item| item["line"].as_u64()).collect()
    };
    let close = ask("Booking.close");
    assert_eq!((lines(&close), &close["external"]), (vec![6], &Value::Null), "{close}");
    let inherited = ask("SqlStore.close");
    assert_eq!(inherited["definitions"][0]["id"], "Ports.kt::Store.close#method", "{inherited}");
    assert_eq!(inherited["_meta"]["inherited"], "SqlStore.close is inherited: Store.close", "{inherited}");
    let ring = ask("Bell.ring");
    assert_eq!(
        (lines(&ring), &ring["definitions"][0]["id"]),
        (vec![4], &json!("bell.php::Thing.ring#method")),
        "{ring}"
    );
    // Declared here, and linked from elsewhere.
    let touch = ask("touch");
    assert_eq!((lines(&touch), &touch["external"]), (vec![2, 1], &json!(["conf.h", "linked code"])), "{touch}");
    let nothing = ask("Booking.sink");
    assert_eq!((&nothing["external"], &nothing["not_found"]), (&Value::Null, &json!(["Booking.sink"])), "{nothing}");
}

#[test]
fn what_code_writes_and_facts_do_not_explain_is_in_doubt() {
    let doubts = |project: &str, symbol: &str| {
        let plan = ask(project, "plan_rename", json!({"symbol_id": symbol, "new_name": "renamed"}));
        let doubts = plan["doubts"].as_array().cloned().unwrap_or_default();
        let place = |doubt: &Value| format!("{}:{}", doubt["file"].as_str().unwrap_or_default(), doubt["line"]);
        doubts.iter().map(place).collect::<Vec<_>>()
    };
    let vue = "--- src/toast.ts
export function hide() {}
--- src/Panel.vue
<template><button @click=\"hide\">x</button></template>
<script setup lang=\"ts\">
import { hide } from './toast';
</script>
";
    assert_eq!(doubts(vue, "hide"), [""; 0]);
    assert_eq!(doubts(&vue.replace("<button", "<button title=\"hide\""), "hide"), ["src/Panel.vue:1"]);
    let go = "--- a.go
package a

//export start
//go:linkname start other.start
// start is called by C.
func start() {}
";
    assert_eq!(doubts(go, "start"), ["a.go:3", "a.go:4"]);
    let kotlin = "--- Op.kt
class Op { operator fun invoke(a: Int): Int = a }
fun use(op: Op) = op(1)
";
    assert_eq!(doubts(kotlin, "Op.invoke"), ["Op.kt:1"]);
    let java = "--- Guest.java
import lombok.Getter;
@Getter
class Guest { private String name; }
class Desk { String ask(Guest guest) { return guest.getName(); } }
";
    assert_eq!(doubts(java, "Guest.name"), ["Guest.java:4"]);
    let notebook = "--- farm.py
def grown(): pass
--- a.ipynb
{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"from farm import grown\\n\", \"!run grown\"]}]}
";
    assert_eq!(doubts(notebook, "grown"), ["a.ipynb:1"]);
    let plain = "--- a.py
def grown(): pass
grown()
# grown
def other(grown): return grown
";
    assert_eq!(doubts(plain, "grown"), [""; 0]);
}

#[test]
fn a_key_of_a_manifest_hides_no_use_and_is_no_relative() {
    let project = "--- package.json
{\"name\": \"shop\", \"dependencies\": {\"merge\": \"1\"}}
--- a.js
import { merge } from 'merge';
export function mergeAll(list) { return merge(list); }
--- b.js
export function mergeTwo(a, b) { return [a, b]; }
";
    let answer = ask(project, "find_references", json!({"identifier": "merge"}));
    let lines: Vec<&Value> = answer["references"].as_array().into_iter().flatten().map(|item| &item["line"]).collect();
    assert_eq!((&answer["external"][0], lines), (&json!("merge"), vec![&json!(1), &json!(2)]), "{answer}");
    let answer = ask(project, "get_related_symbols", json!({"symbol_id": "a.js::mergeAll"}));
    let ids: Vec<&Value> = answer["related"].as_array().into_iter().flatten().map(|item| &item["id"]).collect();
    assert_eq!(ids, ["b.js::mergeTwo#function"], "{answer}");
}

#[test]
fn one_wrong_name_of_several_does_not_cost_the_others() {
    let project = "--- a.py\ndef one(): ...\n--- b.py\nimport a\na.one()\n";
    let answer = ask(project, "find_importers", json!({"file_paths": ["nope.py", "a.py"]}));
    assert_eq!(answer["results"][0]["importers"][0]["file"], "b.py", "{answer}");
    assert_eq!(answer["errors"][0]["file"], "nope.py", "{answer}");
    assert_eq!(refused(project, "find_importers", json!({"file_path": "nope.py"}))["code"], "not_found");
    let answer = ask(project, "get_context_bundle", json!({"symbol_ids": ["a.py::one", "a.py::nope"]}));
    assert_eq!(answer["symbols"][0]["symbol_id"], "a.py::one#function", "{answer}");
    assert_eq!(answer["errors"][0]["id"], "a.py::nope", "{answer}");
    assert_eq!(refused(project, "get_context_bundle", json!({"symbol_id": "a.py::nope"}))["code"], "not_found");
}

#[test]
fn a_tree_of_some_depth_keeps_its_budget() {
    let files: Vec<String> = (0..40)
        .flat_map(|folder| (0..10).map(move |file| format!("--- area_{folder}/part_{file}/code.py\nx = 1\n")))
        .collect();
    let project = files.concat();
    let tree = ask(&project, "get_file_tree", json!({"max_depth": 3}));
    assert!(tokens::of_json(&tree["tree"]) < 2_000, "{}", tokens::of_json(&tree["tree"]));
    assert_eq!((&tree["depth"], tree["tree"].as_array().map(Vec::len)), (&json!(1), Some(40)), "{tree}");
    let whole = ask(&project, "get_file_tree", json!({"max_depth": 3, "max_tokens": 100_000}));
    assert_eq!(whole["tree"][0]["children"][0]["children"][0]["path"], "area_0/part_0/code.py");
}

#[test]
fn a_symbol_is_an_entry_point_by_its_id() {
    let project = "--- shop/a.py\nclass Job: ...\n\ndef idle(): ...\n";
    let dead = |patterns: &[&str]| {
        let answer = ask(project, "find_dead_code", json!({"entry_point_patterns": patterns, "min_confidence": 0.6}));
        let items = answer["dead_symbols"].as_array().expect("a list").clone();
        items.iter().map(|item| item["symbol_id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    let (class, function) = ("shop/a.py::Job#class", "shop/a.py::idle#function");
    assert_eq!(dead(&[]), [class, function]);
    assert_eq!(dead(&["shop/a.py::idle#function"]), [class]);
    assert_eq!(dead(&["shop/a.py::idle", "shop/*::Job#class"]), [""; 0]);
}

#[test]
fn an_unknown_argument_is_taken_for_the_nearest_of_all() {
    let project = "--- a.py\ndef one(): ...\n";
    let said = refused(project, "search_symbols", json!({"query": "one", "max_token": 100}));
    assert!(said["error"].as_str().is_some_and(|text| text.contains("did you mean `max_tokens`?")), "{said}");
}

#[test]
fn a_root_that_is_gone_is_said_wherever_repositories_are_listed() {
    let place = Place::repository();
    place.write("app.py", "def app():\n    return 1\n").commit("one");
    place.call("index_folder", json!({"path": place.source()}));
    let moved = place.source().with_file_name("moved");
    fs::rename(place.source(), &moved).expect("both are ours");
    fs::create_dir(place.source().with_file_name("elsewhere")).expect("the folder is new");
    let call = |tool: &str, args: Value| {
        let args = args.to_string();
        place.run_in(moved.with_file_name("elsewhere"), &["call", "--json", tool, &args]).json()
    };
    let listed = call("list_repos", json!({}));
    assert_eq!(listed["repos"][0]["folder_missing"], true, "{listed}");
    let resolved = call("resolve_repo", json!({"path": moved.with_file_name("source")}));
    assert_eq!((&resolved["indexed"], &resolved["folder_missing"]), (&json!(true), &json!(true)), "{resolved}");
    let outline = call("get_repo_outline", json!({"repo": listed["repos"][0]["repo"]}));
    assert_eq!((&outline["file_count"], &outline["_meta"]["folder_missing"]), (&json!(1), &json!(true)), "{outline}");
    fs::rename(&moved, moved.with_file_name("source")).expect("both are ours");
    assert_eq!(call("list_repos", json!({}))["repos"][0]["folder_missing"], Value::Null);
}

#[test]
fn an_index_made_anew_says_what_differs_from_the_one_before() {
    let place = Place::repository();
    place.write("a.py", "a = 1\n").write("b.py", "b = 1\n").write("c.py", "c = 1\n").commit("one");
    let index = |args: Value| {
        let answer = place.call("index_folder", args);
        ["files_added", "files_changed", "files_removed"].map(|key| answer[key].as_u64().expect("a number"))
    };
    assert_eq!(index(json!({})), [3, 0, 0]);
    assert_eq!(index(json!({"incremental": false})), [0, 0, 0]);
    place.write("a.py", "a = 'another'\n").write("d.py", "d = 1\n");
    fs::remove_file(place.source().join("b.py")).expect("it is ours");
    assert_eq!(index(json!({"incremental": false})), [1, 1, 1]);
}

#[test]
fn messages_name_what_is_meant() {
    let place = Place::repository();
    place.write("app.py", "def app():\n    return 1\n").commit("one");
    let Ran { status, out, err } = place.run(&["refs", "nope_nope"]);
    assert_eq!((status, &*err), (1, ""), "{out}");
    assert!(out.starts_with("nothing is called nope_nope"), "{out}");
    place.write("use.py", "import app\n");
    let Ran { status, out, err } = place.run(&["importers", "app.py", "nope.py"]);
    assert_eq!((status, &*err), (0, ""), "{out}");
    assert!(out.contains("use.py:1\n"), "{out}");
    assert!(out.contains("no file \"nope.py\" is indexed; `codelode tree` lists files"), "{out}");
    let Ran { status, err, .. } = place.run(&["search", "app", "--fields", "nope"]);
    assert!(status == 2 && err.contains("\"end_line\"") && !err.contains("--end-line"), "{err}");
}

#[test]
fn a_notebook_is_shown_as_code() {
    let project = "--- farm.py
def grown(): pass
--- a.ipynb
{
 \"cells\": [
  {
   \"cell_type\": \"code\",
   \"source\": [
    \"from farm import grown\\n\",
    \"files = !ls -l data\\n\",
    \"class Field:\\n\",
    \"    def harvest(self):\\n\",
    \"        \\\"\\\"\\\"Cuts.\\\"\\\"\\\"\\n\",
    \"        !echo {self}\\n\",
    \"        return grown()\\n\",
    \"grown?\\n\"
   ]
  }
 ]
}
";
    let answer = ask(project, "get_symbol_source", json!({"symbol_id": "a.ipynb::Field.harvest#method"}));
    let code = "    def harvest(self):\n        \"\"\"Cuts.\"\"\"\n        !echo {self}\n        return grown()";
    assert_eq!(answer["source"], code, "{answer}");
    let answer = ask(project, "find_references", json!({"identifier": "grown"}));
    let rows: Vec<(&Value, &Value)> =
        answer["references"].as_array().into_iter().flatten().map(|row| (&row["line"], &row["text"])).collect();
    let (import, call, help) = (
        (json!(6), json!("from farm import grown")),
        (json!(12), json!("return grown()")),
        (json!(13), json!("grown?")),
    );
    assert_eq!(rows, [(&import.0, &import.1), (&call.0, &call.1), (&help.0, &help.1)], "{answer}");
    let outline = ask(project, "get_file_outline", json!({"file_path": "a.ipynb"}));
    assert!(!outline.to_string().contains("could not be parsed"), "{outline}");
}
