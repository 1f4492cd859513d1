//! Dead code: the example of each rule, and the tiers of verdicts. Each project is as small as what it shows.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use codelode::config::Config;
use codelode::pipeline::{self, RunControl};
use codelode::query::dead::rules::{RULES, Rule, Stage};
use codelode::query::dead::{Options, Tier, dead_code};
use codelode::store::{Registry, Snapshot};
use expect_test::{Expect, expect};
use globset::GlobSet;
use serde_json::{Value, json};

use super::graph::{ask, write};

/// An index of a folder.
fn snapshot(root: &Path, home: &Path) -> Snapshot {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let config = Config { home: home.to_owned(), ..Config::default() };
    let control =
        RunControl { progress: &codelode::model::unfollowed, cancelled: &NEVER, patience: Duration::from_secs(5) };
    let report = pipeline::index_folder(root, &config, &pipeline::Options::default(), &control).expect("it is indexed");
    let store = Registry::new(home).store(&report.sidecar.store);
    store.snapshot(&report.sidecar.snapshot).expect("it was committed just now")
}

/// The tiers of dead symbols by their names, in small letters and without marks.
fn tiers(snapshot: &Snapshot, without: Option<&str>) -> BTreeMap<String, Tier> {
    let edges = pipeline::relations(snapshot).expect("the index can be read");
    let patterns = GlobSet::empty();
    let found = dead_code(snapshot, edges, &Options { without, ..Options::new(&patterns) });
    let name = |name: &str| name.to_lowercase().replace('_', "");
    found.symbols.iter().map(|dead| (name(&dead.symbol.name()), dead.tier)).collect()
}

/// A small project of a rule, which lowers the verdict on definitions with `kept` in their name, and not on those with `spare`.
fn example_of(rule: &Rule) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/dead").join(rule.name).with_extension("txt")
}

#[test]
fn each_rule_lowers_the_verdict_of_its_example() {
    let mut wrong = Vec::new();
    for rule in RULES {
        let Ok(example) = fs::read_to_string(example_of(rule)) else { continue };
        let folder = tempfile::tempdir().expect("there is room");
        let root = folder.path().join("project");
        write(&root, &example);
        let snapshot = snapshot(&root, &folder.path().join("home"));
        let (with, without) = (tiers(&snapshot, None), tiers(&snapshot, Some(rule.name)));
        let sure = |tier: Option<&Tier>| tier.is_some_and(|tier| *tier >= Tier::Likely);
        let kept: Vec<&String> = without.keys().filter(|name| name.contains("kept")).collect();
        let is_lower = |name: &&String| with.get(*name).is_none_or(|tier| *tier < without[*name]);
        let spares: Vec<&String> = with.keys().filter(|name| name.contains("spare")).collect();
        if kept.is_empty()
            || !kept.iter().all(is_lower)
            || spares.is_empty()
            || !spares.iter().all(|name| sure(with.get(*name)))
        {
            wrong.push(format!("{}: with {with:?}, without {without:?}", rule.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_have_names_reasons_and_examples_of_their_own() {
    let mut names = std::collections::HashSet::new();
    for rule in RULES {
        assert!(names.insert(rule.name) && !rule.reason.is_empty(), "{}", rule.name);
        let is_of_caller = rule.name == "wanted" || rule.stage == Stage::Exempt;
        assert!(is_of_caller != example_of(rule).is_file(), "{}", rule.name);
    }
    let stages: Vec<Stage> = RULES.iter().map(|rule| rule.stage).collect();
    assert!(stages.is_sorted_by_key(|stage| *stage as u8), "rules stand in the order in which they are asked");
}

fn answer(project: &str, args: Value) -> Value {
    ask(project, "find_dead_code", args)
}

/// Dead symbols of all tiers, each with its tier, rule and reason.
fn check(project: &str, expected: Expect) {
    let answer = answer(project, json!({"min_confidence": 0}));
    let line = |item: &Value| {
        let id = item["symbol_id"].as_str().expect("it is a symbol");
        let name = id.rsplit("::").next().expect("an id ends with a name").split('#').next().expect("and a kind");
        let text = |key: &str| item[key].as_str().unwrap_or("-").to_owned();
        format!("{name} | {} | {} | {}\n", text("tier"), text("rule"), text("reason"))
    };
    let lines: String = answer["dead_symbols"].as_array().expect("a list").iter().map(line).collect();
    expected.assert_eq(&lines);
}

const SHOP: &str = "--- package.json
{\"name\": \"shop\", \"main\": \"index.js\"}
--- index.js
import { sum } from './cart.js';
export function offered() { return sum(); }
--- cart.js
export function sum() { return 1; }
export function tested() { return 2; }
export function visible() { return 3; }
function hidden() { return helped(); }
function helped() { return 4; }
export class Cart { open() {} }
new Cart();
--- cart.test.js
import { tested } from './cart.js';
tested();
";

#[test]
fn verdicts_have_tiers_with_reasons() {
    check(
        SHOP,
        expect![[r#"
        hidden | certain | - | private, and nothing uses it
        tested | only_tests | - | only tests use it
        visible | likely | visible | nothing in the program uses it
        helped | dead_users | - | only dead code uses it
        Cart.open | unclear | callable | any code that has an object may call it
        offered | public_api | - | public API that nothing here uses
    "#]],
    );
}

#[test]
fn certain_and_likely_verdicts_are_listed_and_the_rest_is_counted() {
    let names = |args: Value| {
        let answer = answer(SHOP, args);
        let list = answer["dead_symbols"].as_array().expect("a list");
        let ids: Vec<&str> = list.iter().filter_map(|item| item["symbol_id"].as_str()).collect();
        format!("{} {}", ids.join(" "), answer["not_listed"])
    };
    expect![[r#"cart.js::hidden#function cart.js::visible#function {"dead_users":1,"only_tests":1,"public_api":1,"unclear":1}"#]].assert_eq(&names(json!({})));
    expect![[
        r#"cart.js::hidden#function cart.js::tested#function {"dead_users":1,"likely":1,"public_api":1,"unclear":1}"#
    ]]
    .assert_eq(&names(json!({"min_confidence": 0.9})));
    expect![[
        r#"cart.js::tested#function index.js::offered#function {"certain":1,"dead_users":1,"likely":1,"unclear":1}"#
    ]]
    .assert_eq(&names(json!({"tiers": ["public_api", "only_tests"]})));
}

#[test]
fn a_question_about_one_symbol_lists_the_rules_that_speak_of_it() {
    let explained = |name: &str| answer(SHOP, json!({"explain": name}))["explained"].to_string();
    expect![[r#"{"symbol_id":"cart.js::visible#function","tier":"likely","rules":[{"rule":"visible","reason":"nothing in the program uses it"}]}"#]].assert_eq(&explained("visible"));
    expect![[r#"{"symbol_id":"cart.js::Cart.open#method","tier":"unclear","rules":[{"rule":"callable","reason":"any code that has an object may call it"},{"rule":"visible","reason":"nothing in the program uses it"}]}"#]].assert_eq(&explained("open"));
    expect![[r#"{"symbol_id":"cart.js::sum#function","rules":[{"rule":"used","reason":"something that is in use uses it at index.js:1"},{"rule":"visible","reason":"nothing in the program uses it"}]}"#]].assert_eq(&explained("sum"));
}

#[test]
fn a_program_has_no_api() {
    let project = |manifest: &str| {
        format!(
            "--- package.json
{{\"name\": \"shop\", {manifest}}}
--- index.js
import './cart.js';
export function spare() {{}}
--- cart.js
export const own = 1;
"
        )
    };
    check(
        &project("\"main\": \"index.js\""),
        expect![[r#"
        spare | public_api | - | public API that nothing here uses
    "#]],
    );
    check(
        &project("\"private\": true, \"main\": \"index.js\""),
        expect![[r#"
        spare | likely | visible | nothing in the program uses it
    "#]],
    );
    check(
        &project("\"type\": \"module\""),
        expect![[r#"
            spare | likely | visible | nothing in the program uses it
        "#]],
    );
}

#[test]
fn modules_are_the_api_of_a_package_whose_folder_file_hands_on_nothing() {
    let project = |folder_file: &str| {
        format!(
            "--- pyproject.toml
[project]
name = \"shop\"
--- shop/__init__.py
{folder_file}
--- shop/cart.py
def total(): ...
def _spare(): ...
class Cart:
    def add(self): ...
--- shop/_inner.py
def spare(): ...
"
        )
    };
    check(
        &project("__version__ = '1'"),
        expect![[r#"
        _spare | certain | - | private, and nothing uses it
        spare | likely | visible | nothing in the program uses it
        total | public_api | - | public API that nothing here uses
        Cart | public_api | - | public API that nothing here uses
        Cart.add | public_api | - | public API that nothing here uses
    "#]],
    );
    check(
        &project("from .cart import Cart"),
        expect![[r#"
        _spare | certain | - | private, and nothing uses it
        spare | likely | visible | nothing in the program uses it
        total | likely | visible | nothing in the program uses it
        Cart.add | public_api | - | public API that nothing here uses
    "#]],
    );
}

#[test]
fn a_public_module_inside_of_a_file_is_part_of_the_api() {
    let rust = "--- src/lib.rs
pub mod tools { pub fn offered() {} fn spare() {} }
mod own { pub fn spare_too() {} }
";
    check(
        rust,
        expect![[r#"
        tools.spare | certain | - | private, and nothing uses it
        own.spare_too | likely | visible | nothing in the program uses it
        tools.offered | public_api | - | public API that nothing here uses
    "#]],
    );
}

#[test]
fn a_method_of_go_belongs_to_no_base_that_stands_before_it() {
    let go = "--- go.mod
module shop
--- main.go
package main

import \"sync\"

type cart struct {
\tsync.Mutex
}

func (c *cart) spare() {}

func main() { _ = cart{} }
";
    check(
        go,
        expect![[r#"
        cart.spare | certain | - | private, and nothing uses it
    "#]],
    );
}

#[test]
fn documentation_and_comments_use_nothing() {
    let python = "--- README.md
Call `_spare` or `other_spare()`.
--- shop.py
# _spare is gone, see _spare
def _spare():
    \"\"\"Counts. Deprecated, kept for backward compatibility.\"\"\"
def other_spare(): ...
if __name__ == '__main__': pass
";
    check(
        python,
        expect![[r#"
        _spare | certain | - | private, and nothing uses it
        other_spare | likely | visible | nothing in the program uses it
    "#]],
    );
}

#[test]
fn rings_are_as_dead_as_one_and_an_override_as_its_family() {
    let python = "--- a.py
def ping(k): return pong(k)
def pong(k): return ping(k)
def first(): return second()
def second(): ...
class Base:
    def go(self): ...
class Derived(Base):
    def go(self): ...
Derived()
if __name__ == '__main__': pass
";
    check(
        python,
        expect![[r#"
            ping | likely | visible | nothing in the program uses it
            pong | likely | visible | nothing in the program uses it
            first | likely | visible | nothing in the program uses it
            Base.go | likely | visible | nothing in the program uses it
            Derived.go | likely | visible | nothing in the program uses it
            second | dead_users | - | only dead code uses it
        "#]],
    );
}

#[test]
fn what_is_private_in_java_is_certain_whatever_reflection_could_find() {
    let java = "--- src/Main.java
public class Main {
  public static void main(String[] args) { System.out.println(new Cart().toString()); }
  private static int spare() { return 1; }
  private static int f(int a) { return a; }
  private static int f(String a, String b) { return 2; }
  public static final int USED = f(3);
}
class Cart {
  int left() { return 1; }
  public String toString() { return \"\"; }
}
";
    check(
        java,
        expect![[r#"
            Main.spare | certain | - | private, and nothing uses it
            Main.f | certain | - | private, and nothing uses it
            Cart.left | certain | - | private, and nothing uses it
            Main | public_api | - | public API that nothing here uses
        "#]],
    );
}

#[test]
fn code_that_is_compiled_for_tests_is_theirs() {
    let rust = "--- src/main.rs
#[cfg(test)]
mod testutil;
mod real;
struct Set;
impl Set {
    #[cfg(test)]
    fn for_test(&self) {}
    pub fn never(&self) {}
}
fn main() { Set; }
--- src/real.rs
fn never() {}
--- src/testutil.rs
pub struct Tester;
impl Tester { fn lines(&self) {} }
";
    check(
        rust,
        expect![[r#"
            never | certain | - | private, and nothing uses it
            Set.never | likely | visible | nothing in the program uses it
        "#]],
    );
}

#[test]
fn members_belong_to_their_type_wherever_it_is() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/lib.rs
pub mod form;
mod deep;
pub struct Basket(u8);
struct Own(u8);
impl Own { fn spare(&self) {} }
pub fn own() -> u8 { Own(1).0 }
--- src/form.rs
pub struct Context(u8);
impl Context { pub fn value(&self) -> u8 { self.0 } }
pub trait Reads { type Context; }
impl Reads for u8 { type Context = u8; }
--- src/deep/mod.rs
impl crate::Basket { pub fn total(&self) -> u8 { self.0 } }
";
    check(
        project,
        expect![[r#"
        Own.spare | certain | - | private, and nothing uses it
        Basket.total | public_api | - | public API that nothing here uses
        Context.value | public_api | - | public API that nothing here uses
        Reads.Context | public_api | - | public API that nothing here uses
        own | public_api | - | public API that nothing here uses
    "#]],
    );
}

#[test]
fn a_function_that_is_a_value_is_used_where_it_stands() {
    let script = "--- a.js
import 'x';
function gen(it) { return function hookRunner(x) { return it(x) } }
function run(cb) { cb(function manageTimeout(err) { return err }) }
function all() { return [function inArray() {}] }
function now() { return (function loader() { return 1 })() }
function wait() { return new Promise(function executor(done) { done() }) }
function spare() { return function inSpare() {} }
export default [gen, run, all, now, wait];
window.onstart = function () {}
";
    check(
        script,
        expect![[r#"
        spare | certain | - | private, and nothing uses it
    "#]],
    );
}

#[test]
fn code_that_is_too_large_for_the_index_uses_names() {
    let project = |lines: usize| {
        format!(
            "--- cart.py
def go(): pass
def large_total(): pass
go()
--- main.py
import cart
cart.go()
--- large.py
import cart
{}cart.large_total()
",
            "# as many words as it takes\n".repeat(lines)
        )
    };
    check(&project(1), expect![[""]]);
    check(
        &project(40_000),
        expect![[r#"
        large_total | unclear | named | its name stands in large.py:40002
    "#]],
    );
}

#[test]
fn files_are_answered_as_files() {
    let python = "--- run.py
def start(): ...
start()
--- spare.py
def unused(): ...
--- test_run.py
import run
";
    let answer = answer(python, json!({"granularity": "file", "min_confidence": 0}));
    assert!(answer.get("dead_symbols").is_none());
    let line = |item: &Value| format!("{} {} {}\n", item["file"], item["tier"], item["confidence"]);
    let lines: String = answer["dead_files"].as_array().expect("a list").iter().map(line).collect();
    expect![[r#"
        "spare.py" "likely" 0.8
        "run.py" "unclear" 0.6
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_language_whose_unused_code_cannot_be_told_is_not_judged() {
    let project =
        "--- a.c\nint main(void) { return 1; }\nint never(void) { return 2; }\n--- b.pyi\ndef _spare(): ...\n";
    let answer = answer(project, json!({"min_confidence": 0}));
    assert_eq!((&answer["dead_symbols"], &answer["files_not_judged"]), (&json!([]), &json!(2)), "{answer}");
}
