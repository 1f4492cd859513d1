//! Possible uses: a place is possible only if nothing that is written there speaks against it.

use serde_json::{Value, json};

use super::graph::ask;
use crate::place::Place;

/// Compares the possible uses of a symbol with the lines of a project that end in a comment with `?`; none of the lines that
/// write its name is a use that is known, and those without the mark belong to something else.
fn check(project: &str, id: &str) {
    let args = json!({"identifier": id, "include_possible": true});
    let answer = ask(project, "find_references", args);
    let found: Vec<(String, &str)> = answer["references"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| (format!("{}:{}", item["file"].as_str().unwrap_or_default(), item["line"]), confidence(item)))
        .collect();
    let mut wanted = Vec::new();
    for part in project.split("--- ").skip(1) {
        let (path, text) = part.split_once('\n').expect("a path ends its line");
        let marked = text.lines().zip(1..).filter(|(line, _)| line.ends_with("?"));
        wanted.extend(marked.map(|(_, number)| (format!("{path}:{number}"), "possible")));
    }
    assert_eq!(found, wanted, "{answer}");
}

fn confidence(item: &Value) -> &'static str {
    if matches!(item["confidence"].as_str(), Some("name" | "import")) { "possible" } else { "resolved" }
}

#[test]
fn no_object_has_a_function_that_is_only_called_inside_of_another() {
    let project = "--- a.js
function outer(api) {
    function plain() {}
    plain();
    api.plain();
    function kept() {}
    api.kept();
    return { kept };
}
--- a.py
def outer(api):
    def inner():
        pass

    @api.route
    def routed():
        pass

    inner()
    api.inner()
    api.routed()
    return None
";
    check_calls(project, &["a.js::outer.plain#function", "a.py::outer.inner#function"], 0);
    check_calls(project, &["a.js::outer.kept#function", "a.py::outer.routed#function"], 1);
}

/// Whether each of some functions has so many possible calls.
fn check_calls(project: &str, ids: &[&str], n: usize) {
    for id in ids {
        let args = json!({"identifier": id, "include_possible": true});
        let answer = ask(project, "find_references", args);
        let possible = |item: &&Value| confidence(item) == "possible";
        let found = answer["references"].as_array().expect("a list").iter().filter(possible).count();
        assert_eq!(found, n, "{id}: {answer}");
    }
}

#[test]
fn a_type_from_outside_has_no_members_of_ours_in_go() {
    check(
        "--- go.mod
module example.com/app
--- params.go
package app

type Params struct{}

func (p Params) Get(key string) string { return key }
--- web.go
package app

import (
\t\"net/http\"
\t\"sync\"
)

type wrapped struct {
\thttp.ResponseWriter
\tpool *sync.Pool
}

func serve(w http.ResponseWriter, r *http.Request) {
\tw.Header().Get(\"a\")
\tr.URL.Query().Get(\"a\")
\tclient := &http.Client{}
\tclient.Get(\"a\")
\tresponse, _ := http.Get(\"a\")
\tresponse.Header.Get(\"a\")
}

func (w *wrapped) header() {
\tw.Header().Get(\"a\")
\tw.pool.Get()
}
",
        "params.go::Params.Get#method",
    );
}

#[test]
fn a_type_from_outside_has_no_members_of_ours_in_java() {
    check(
        "--- Tree.java
package app;
import java.util.*;
class Tree {
  Object get(Object key) { return null; }
  static void read(Map<String, Tree> map, List<Integer> list, Calendar calendar) {
    map.get(1);
    list.get(0);
    calendar.get(Calendar.YEAR);
    new HashMap<String, String>().get(1);
    \"a\".trim().get(0);
    Tree.unknown().get(1); // ?
    Tree.unknown().get = 1;
  }
  static <T> void any(T one) { one.get(1); } // ?
}
",
        "Tree.java::Tree.get#method",
    );
}

#[test]
fn a_type_from_outside_has_no_members_of_ours_in_python() {
    check(
        "--- cache.py
class Cache:
    def get(self, key): ...
--- app.py
import argparse
import requests
from typing import Any

class View(requests.Session):
    def show(self): self.cookies.get('a')

def run(known: dict[str, int], session: requests.Session, anything: Any, unknown, **options):
    known.get('a')
    session.get('a')
    options.get('a')
    {}.get('a')
    made = {'a': 1}
    made.get('a')
    parser = argparse.ArgumentParser()
    parser.get('a')
    unknown.get('a')  # ?
    anything.get('a')  # ?
    held = {}
    held['a'].get('a')  # ?
    none = None
    none.get('a')  # ?

def later(first):
    value = {}
    value = first
    value.get('a')  # ?
",
        "cache.py::Cache.get#method",
    );
}

#[test]
fn a_type_from_outside_has_no_members_of_ours_in_typescript() {
    check(
        "--- cache.ts
export class Cache {
  has(key: string) { return false; }
}
--- app.ts
import { Client } from 'client';
const seen = new Set();
export function run(name: string, names: string[], map: Map<string, number>, client: Client | null, other: any, loose) {
  name.has('a');
  names.has('a');
  map.has('a');
  client.has('a');
  seen.has('a');
  'a'.has('a');
  [].has('a');
  `a`.has('a');
  other.has('a'); // ?
  loose.has('a'); // ?
  seen.values().next().value.has('a'); // ?
  let some = null;
  some.has('a'); // ?
}
",
        "cache.ts::Cache.has#method",
    );
}

#[test]
fn a_type_from_outside_has_no_members_of_ours_in_rust() {
    check(
        "--- Cargo.toml
[package]
name = \"app\"
--- src/lib.rs
pub struct Styled(String);
impl Styled {
    pub fn push_str(&mut self, text: &str) { self.0.push_str(text); }
}
pub fn run<T>(mut name: String, other: outside::Thing<T>, any: T) {
    name.push_str(\"a\");
    let mut made = String::new();
    made.push_str(\"a\");
    other.push_str(\"a\");
    any.push_str(\"a\"); // ?
    let mut held = Vec::new();
    held.pop().push_str(\"a\"); // ?
}
",
        "src/lib.rs::Styled.push_str#method",
    );
}

#[test]
fn an_answer_without_uses_says_what_was_not_read() {
    let place = Place::repository();
    place.write("a.py", "def lonely():\n    return 1\n\n\ndef used():\n    return 2\n\n\nused()\n");
    place.write("wide.py", b"\xff\xfel\0o").write("made.bin", b"a\0b");
    place.call("index_folder", json!({"path": place.source()}));
    let said = json!({"binary": 1, "utf_16": 1});
    for tool in ["find_references", "check_references"] {
        let none = place.call(tool, json!({"identifier": "lonely"}));
        assert_eq!(none["_meta"]["not_read"], said, "{none}");
        let some = place.call(tool, json!({"identifier": "used"}));
        // A file that is no source may be anything.
        assert_eq!(some["_meta"]["not_read"], json!({"utf_16": 1}), "{some}");
    }
    let shown = place.run(&["refs", "used"]);
    assert!(shown.out.contains("not read: 1 utf 16") && !shown.out.contains("complete"), "{}", shown.out);
    let shown = place.run(&["refs", "lonely"]);
    let shown = format!("{}{}", shown.out, shown.err);
    assert!(shown.contains("not read: 1 binary, 1 utf 16") && !shown.contains("complete"), "{shown}");
}

#[test]
fn a_private_member_is_not_meant_elsewhere() {
    check(
        "--- a/Box.java
package a;
class Box {
  private void open(int key) { }
}
--- b/Other.java
package b;
class Other {
  <T> void run(T one) { one.open(1); }
}
",
        "a/Box.java::Box.open#method",
    );
}

#[test]
fn what_extends_a_type_from_outside_may_be_its_member() {
    check(
        "--- src/lib.rs
pub trait Shout {
    fn shout(&self) -> String;
}
impl Shout for outside::Name {
    fn shout(&self) -> String { String::new() }
}
impl Shout for str {
    fn shout(&self) -> String { String::new() }
}
pub fn run(name: outside::Other) { name.shout(); } // ?
",
        "src/lib.rs::Shout.shout#method",
    );
}

#[test]
fn a_callee_names_what_overrides_it() {
    let project = "--- tree.py
class Tree:
    def get(self): ...
    def walk(self): return self.get()
class Data(Tree):
    def get(self): ...
";
    let answer = ask(project, "get_call_hierarchy", json!({"symbol_id": "Tree.walk", "direction": "callees"}));
    assert_eq!(answer["callees"][0]["overridden_by"], json!(["Data.get"]), "{answer}");
}

#[test]
fn the_length_of_an_unknown_value_is_a_member_where_its_class_is_imported() {
    check(
        "--- unit.js
class Unit {
    get length() { return 1; }
    get width() { return 1; }
}
module.exports = { Unit };
--- user.js
const { Unit } = require('./unit');
function measure(unit) {
    return unit.length; // ?
}
module.exports = { measure, Unit };
--- other.js
function count(list, text) {
    return Object.keys(list).length + text.length;
}
module.exports = { count };
",
        "unit.js::Unit.length#method",
    );
    check(
        "--- unit.js
class Unit {
    get width() { return 1; }
}
module.exports = { Unit };
--- user.js
const { Unit } = require('./unit');
module.exports = { Unit };
--- other.js
function count(box) {
    return box.width; // ?
}
module.exports = { count };
",
        "unit.js::Unit.width#method",
    );
}

#[test]
fn a_function_outside_of_classes_is_no_member_of_a_value() {
    let project = "--- a.py
def add(a, b): return a + b
add(1, 2)
--- b.py
import importlib
class App:
    def run(self, other):
        self.map.add(1)
        other.rows()[0].add(1)
        importlib.import_module('a').add(1, 2)
        other.add(1)
        self.__dict__.add(1)
--- c.js
export function reduce(all) { return all; }
reduce([]);
--- d.js
export function use(text, other) {
    text.split('').reduce(1);
    this.rows.reduce(1);
    other.reduce(1);
}
";
    check_calls(project, &["a.py::add#function"], 1);
    check_calls(project, &["c.js::reduce#function"], 1);
}

#[test]
fn the_table_of_an_objects_attributes_has_no_members_of_ours() {
    check(
        "--- a.py
class Globals:
    def pop(self, name):
        return self.__dict__.pop(name)
    def other(self, values):
        return values.pop(1) # ?
",
        "a.py::Globals.pop#method",
    );
}

#[test]
fn one_of_several_results_has_the_type_that_is_written_for_it() {
    check(
        "--- go.mod
module example.com/app
--- a.go
package app

import (
\t\"bytes\"
\t\"os\"
)

type Node struct{}

func (n *Node) String() string { return \"\" }

func open() (*bytes.Buffer, *Node, error) { return nil, nil, nil }

func use() {
\tbuffer, node, err := open()
\tbuffer.String()
\t_ = node
\terr.String()
\tother, _ := os.Open(\"a\")
\tother.String()
}
",
        "a.go::Node.String#method",
    );
}

#[test]
fn a_member_of_what_a_macro_is_given_may_be_any() {
    check(
        "--- src/lib.rs
pub struct Foo;
impl Foo { pub fn f(&self) {} }
fn f() {}
macro_rules! call_f {
    ($obj:ident) => {
        $obj.f(); // ?
    };
}
pub fn h(foo: Foo) { call_f!(foo); }
",
        "src/lib.rs::Foo.f#method",
    );
}
