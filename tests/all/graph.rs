//! Questions to the whole of who uses whom: a small project goes in, an answer comes out.

use std::path::Path;

use codelode::config::Config;
use codelode::tools::{self, Context, Request};
use serde_json::{Map, Value, json};

/// Indexes a project (`--- path` begins a file) and asks a tool about it.
pub(super) fn ask(project: &str, tool: &str, args: Value) -> Value {
    let (cx, folder) = indexed(project);
    call(&cx, &folder.path().join("project"), tool, args)
}

/// An index of a project, which lies in the folder.
pub(super) fn indexed(project: &str) -> (Context, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("there is room");
    let root = folder.path().join("project");
    write(&root, project);
    let cx = Context::new(Config { home: folder.path().join("home"), ..Config::default() });
    call(&cx, &root, "index_folder", json!({"path": root}));
    (cx, folder)
}

/// Writes the files of a project.
pub(super) fn write(root: &Path, project: &str) {
    for part in project.split("--- ").skip(1) {
        let (path, text) = part.split_once('\n').expect("a path ends its line");
        let path = root.join(path.trim());
        std::fs::create_dir_all(path.parent().expect("it lies in the project")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
}

/// The error of a question.
pub(super) fn wrong(cx: &Context, root: &Path, tool: &str, args: Value) -> Value {
    let args: Map<String, Value> = args.as_object().expect("arguments are an object").clone();
    let request = Request { directory: Some(root.to_owned()), ..Request::default() };
    let answer = tools::call(cx, tool, args, &request);
    assert!(answer.is_error, "{}", answer.text);
    answer.value
}

pub(super) fn call(cx: &Context, root: &Path, tool: &str, args: Value) -> Value {
    let args: Map<String, Value> = args.as_object().expect("arguments are an object").clone();
    let request = Request { directory: Some(root.to_owned()), ..Request::default() };
    let answer = tools::call(cx, tool, args, &request);
    assert!(!answer.is_error, "{}", answer.text);
    serde_json::from_str(&answer.text).expect("an answer is JSON")
}

/// Dead symbols of a project, with their confidence.
fn dead(project: &str, args: Value) -> Vec<String> {
    let answer = ask(project, "find_dead_code", args);
    let name = |item: &Value| {
        let id = item["symbol_id"].as_str().or(item["file"].as_str()).expect("it is a symbol or a file");
        let name = id.rsplit("::").next().expect("an id ends with a name").split('#').next().expect("and a kind");
        format!("{name} {}", item["confidence"])
    };
    let list = answer.get("dead_files").unwrap_or(&answer["dead_symbols"]);
    list.as_array().expect("a list").iter().map(name).collect()
}

/// The values of a key in a list.
pub(super) fn values<'a>(answer: &'a Value, list: &str, key: &str) -> Vec<&'a str> {
    answer[list].as_array().expect("a list").iter().filter_map(|item| item[key].as_str()).collect()
}

#[test]
fn what_nothing_reaches_is_dead() {
    let project = "--- a.py
def unused(): return recursive()
def recursive(): return recursive()
def used(): return helper()
def helper(): ...
class Base:
    def run(self): return self.step()
    def step(self): ...
class Derived(Base):
    def step(self): ...
    def forgotten(self): ...
Derived().run()
used()
";
    assert_eq!(dead(project, json!({"min_confidence": 0.5})), ["unused 0.8", "Derived.forgotten 0.8", "recursive 0.7"]);
    assert_eq!(dead(project, json!({"min_confidence": 0.6})), ["unused 0.8", "Derived.forgotten 0.8", "recursive 0.7"]);
    assert_eq!(ask(project, "find_dead_code", json!({}))["not_listed"], json!({"dead_users": 1}));
    assert_eq!(
        dead(project, json!({"entry_point_patterns": ["unused"], "min_confidence": 0.6})),
        ["Derived.forgotten 0.8"]
    );
}

#[test]
fn a_call_leads_to_what_runs() {
    let project = "--- a.ts
export type OK<T> = { value: T };
export const OK = <T>(value: T): OK<T> => ({ value });
export function read(name: string): string;
export function read(): string[];
export function read(name?: string) {
  return name ? read() : [];
}
export function all(): unknown {
  return OK(read('x'));
}
";
    let callees = |id: &str| {
        let args = json!({"symbol_id": id, "direction": "callees", "depth": 2});
        let answer = ask(project, "get_call_hierarchy", args);
        let lines: Vec<u64> =
            answer["callees"].as_array().expect("a list").iter().filter_map(|callee| callee["line"].as_u64()).collect();
        lines
    };
    assert_eq!(callees("a.ts::all#function"), [2, 5], "the value, and the implementation of overloads");
    let args = json!({"symbol_id": "a.ts::read#function~3", "direction": "callers"});
    let answer = ask(project, "get_call_hierarchy", args);
    assert_eq!(values(&answer, "callers", "id"), ["a.ts::read#function~3", "a.ts::all#function"], "{answer}");
}

#[test]
fn what_only_tests_use_is_told_apart() {
    let project = "--- a.py
def tested(): ...
--- tests/test_a.py
from a import tested
def test_it(): tested()
def lonely(): ...
";
    assert_eq!(dead(project, json!({"min_confidence": 0.6})), ["tested 0.9"]);
    assert_eq!(dead(project, json!({"include_tests": true, "min_confidence": 0.6})), ["tested 0.9", "lonely 0.8"]);
}

#[test]
fn what_an_unresolved_reference_may_mean_is_not_dead() {
    let project = "--- a.py
class A:
    def maybe(self): return self.of_maybe()
    def of_maybe(self): ...
    def never(self): ...
A()
def run(x): x.maybe()
run(unknown())
";
    assert_eq!(dead(project, json!({"min_confidence": 0})), ["A.never 0.8"]);
}

#[test]
fn what_is_handed_to_others_is_not_dead() {
    let project = "--- pkg/__init__.py
from .api import offered
--- pkg/api.py
import threading
import framework
def offered(): ...
def hidden(): ...
@framework.route('/')
def decorated(): ...
class Thread(threading.Thread):
    def run(self): ...
Thread()
--- pkg/cli.py
def command(): ...
--- pyproject.toml
[project.scripts]
it = \"pkg.cli:command\"
";
    assert_eq!(dead(project, json!({"min_confidence": 0})), ["hidden 0.8"]);
}

#[test]
fn methods_of_what_has_no_name_live_with_what_holds_them() {
    let java = "--- src/Jobs.java
public class Jobs {
    public static void main(String[] args) {
        run(new Step() { public void go() { help(); } void spare() { } });
    }
    static final Step LAST = new Step() { public void go() { } };
    static void run(Step step) { step.go(); LAST.go(); }
    static void help() { }
    private static Step unused() { return new Step() { public void go() { } }; }
}
interface Step { void go(); }
";
    assert_eq!(dead(java, json!({})), ["Jobs.unused 1.0"]);
    let script = "--- a.js
function helper() {}
function spare() {}
module.exports = { create(context) { return { Program(node) { helper(); } }; } };
";
    assert_eq!(dead(script, json!({})), ["spare 1.0"]);
}

#[test]
fn what_fills_in_a_trait_or_an_interface_lives_with_it() {
    let rust = "--- src/main.rs
trait Price { fn price(&self) -> u64; fn spare(&self) {} }
impl Price for u64 { fn price(&self) -> u64 { *self } }
impl<T: Price> Price for Vec<T> { fn price(&self) -> u64 { 0 } }
struct Id;
impl From<Id> for String { fn from(_: Id) -> String { String::new() } }
#[serde(default = \"yes\", skip_serializing_if = \"is_no\")]
static KEPT: u8 = 0;
fn yes() -> bool { true }
fn is_no() -> bool { false }
fn main() { total(&3); }
fn total(of: &dyn Price) -> u64 { of.price() }
";
    assert_eq!(dead(rust, json!({"min_confidence": 0.6})), ["Price.spare 0.8", "yes 0.6", "is_no 0.6"]);
    let go = "--- go.mod
module shop
--- main.go
package main
import \"io\"
type counter interface { io.Writer; count() int }
type plain struct { io.Writer }
func (p plain) count() int { return 1 }
func (p plain) spare() int { return 1 }
type fancy struct { plain }
func main() { show(fancy{}) }
func show(c counter) { c.count() }
";
    assert_eq!(dead(go, json!({})), ["plain.spare 1.0"]);
}

#[test]
fn a_foreign_base_calls_only_what_may_override() {
    let project = "--- src/Main.java
import java.io.Writer;
public class Main {
    public static void main(String[] args) { new Quiet().close(); }
}
class Quiet extends Writer {
    public void close() { }
    public void flush() { }
    private void spare() { }
    static void lost() { }
}
";
    assert_eq!(dead(project, json!({})), ["Quiet.spare 1.0", "Quiet.lost 1.0"]);
}

#[test]
fn what_text_names_is_not_surely_dead() {
    let project = "--- shop/middleware.py
class Quota: ...
class ByItself: ...
class Elsewhere: ...
--- shop/tasks.py
def nightly(): ...
--- settings.py
# Elsewhere is not \"named.\" here; Elsewhere.
MIDDLEWARE = ['shop.middleware.Quota', \"other.module.Elsewhere\", 'ByItself']
TASK = 'shop.tasks:nightly'
";
    let named = ["Quota 0.6", "ByItself 0.6", "Elsewhere 0.6", "nightly 0.6"];
    assert_eq!(dead(project, json!({"min_confidence": 0.6})), named);
    assert_eq!(dead(project, json!({})), [""; 0]);
}

#[test]
fn an_interface_is_central_to_those_who_implement_it() {
    let project = "--- a.ts
export interface Shape { area(): number }
class Base {}
export class One extends Base implements Shape { area() { return 1 } }
export class Two extends Base implements Shape { area() { return 2 } }
";
    let answer = ask(project, "get_symbol_importance", json!({"top_n": 1}));
    assert_eq!(values(&answer, "ranked_symbols", "symbol_id"), ["a.ts::Shape#type"]);
}

#[test]
fn a_qualified_name_means_the_member_of_that_owner() {
    let project = "--- a.py
class A:
    def run(self): ...
class B:
    def run(self): ...
A().run()
B().run()
--- b.py
import a
def f(it): it.run()
--- c.py
def g(it): it.run()
";
    let answer = ask(project, "find_references", json!({"identifier": "A.run", "include_possible": true}));
    assert_eq!(values(&answer, "definitions", "id"), ["a.py::A.run#method"]);
    assert_eq!(values(&answer, "references", "text"), ["A().run()", "def f(it): it.run()", "def g(it): it.run()"]);
    assert_eq!(values(&answer, "references", "confidence"), ["resolved", "import", "name"]);
    let at = ask(project, "find_references", json!({"identifier": "B.run", "file": "a.py", "line": 4}));
    assert_eq!(values(&at, "references", "text"), ["B().run()"]);
}

#[test]
fn files_that_nothing_imports_are_dead() {
    let project = "--- main.py
import used
if __name__ == '__main__': used.f()
--- used.py
def f(): ...
--- unused.py
import deeper
def g(): deeper.h()
--- deeper.py
def h(): ...
";
    let args = json!({"granularity": "file", "min_confidence": 0.5});
    assert_eq!(dead(project, args), ["unused.py 0.8", "deeper.py 0.7"]);
}

const CHAIN: &str = "--- a.py
def base(): ...
--- b.py
from a import base
def middle(): return base()
--- c.py
from b import middle
def top(): return middle()
--- d.py
def other(x): x.base()
";

#[test]
fn a_change_reaches_users_and_their_users() {
    let args = json!({"symbol_id": "base", "include_depth_scores": true});
    let answer = ask(CHAIN, "get_blast_radius", args);
    assert_eq!(values(&answer, "confirmed", "file"), ["b.py", "c.py"]);
    assert_eq!(answer["confirmed"][1]["depth"], 2);
    assert_eq!(values(&answer, "potential", "file"), ["d.py"]);
    assert_eq!(answer["direct_dependents_count"], 1);
    // One file of three others at depth one, one at depth two: 1 - (1 - 1.616 / 3) * 10 / 11.616.
    assert_eq!(answer["overall_risk_score"], 0.603);
    assert_eq!(answer["impact_by_depth"][1]["risk_score"], 0.251);
    let near = ask(CHAIN, "get_blast_radius", json!({"symbol": "base", "depth": 1}));
    assert_eq!(values(&near, "confirmed", "file"), ["b.py"]);
}

#[test]
fn what_much_comes_together_in_is_central() {
    let answer = ask(CHAIN, "get_symbol_importance", json!({"top_n": 2}));
    assert_eq!(values(&answer, "ranked_symbols", "symbol_id"), ["a.py::base#function", "b.py::middle#function"]);
    assert!(answer["iterations_to_converge"].as_u64().is_some_and(|rounds| (2..=100).contains(&rounds)));
    let degree = ask(CHAIN, "get_symbol_importance", json!({"algorithm": "degree", "scope": "b.py"}));
    assert_eq!(degree["ranked_symbols"][0]["score"], 1.0);
    let overview = ask(CHAIN, "get_repo_outline", json!({}));
    assert_eq!(overview["most_central_symbols"][0]["symbol_id"], "a.py::base#function");
    assert_eq!(overview["most_imported_files"][0], json!({"file": "a.py", "imported_by": 1}));
}

#[test]
fn imports_are_followed_both_ways() {
    let answer = ask(CHAIN, "get_dependency_graph", json!({"file": "b.py", "depth": 1}));
    assert_eq!((&answer["imports"], &answer["importers"]), (&json!(["a.py"]), &json!(["c.py"])));
    let far = ask(CHAIN, "get_dependency_graph", json!({"file": "c.py", "direction": "imports"}));
    assert_eq!((&far["nodes"], &far["edges"]), (&json!(["c.py", "b.py", "a.py"]), &json!([[0, 1], [1, 2]])));
}

#[test]
fn a_bundle_holds_what_it_takes_within_its_budget() {
    let args = json!({"symbol_id": "middle", "include_callers": true, "include_budget_report": true});
    let answer = ask(CHAIN, "get_context_bundle", args);
    assert_eq!(answer["symbols"][0]["source"], "def middle(): return base()");
    assert_eq!(answer["imports"][0]["statements"], json!(["from a import base"]));
    assert_eq!(values(&answer, "dependencies", "symbol_id"), ["a.py::base#function"]);
    assert_eq!(values(&answer, "callers", "symbol_id"), ["c.py::top#function"]);
    let report = &answer["budget_report"];
    assert!(report["used_tokens"].as_u64() <= report["budget_tokens"].as_u64());
    let small = json!({"symbol_id": "middle", "token_budget": 45, "include_budget_report": true});
    assert_eq!(ask(CHAIN, "get_context_bundle", small)["budget_report"]["excluded_symbols"], 1);
}

#[test]
fn a_map_begins_with_what_is_central_or_asked_for() {
    let map = ask(CHAIN, "get_repo_map", json!({}));
    assert_eq!(values(&map, "files", "file"), ["a.py", "b.py", "c.py", "d.py"]);
    let near = ask(CHAIN, "get_repo_map", json!({"focus": ["b.py"]}));
    assert_eq!(values(&near, "files", "file"), ["b.py", "a.py"]);
}

#[test]
fn a_map_says_what_it_leaves_out() {
    let class = |n: usize| {
        format!("class Tool{n}:\n{}", (0..40).map(|m| format!("    def use_{m}(self): ...\n")).collect::<String>())
    };
    let project: String = (0..6).map(|n| format!("--- tools/tool_{n}.py\n{}", class(n))).collect();
    let (cx, folder) = indexed(&project);
    let map = |args: Value| call(&cx, &folder.path().join("project"), "get_repo_map", args);
    let left_out = |answer: &Value| -> u64 {
        let files = answer["files"].as_array().expect("a list");
        files.iter().map(|file| file["symbols_left_out"].as_u64().unwrap_or(0)).sum()
    };
    // Page after page, each file once.
    let first = map(json!({"token_budget": 600}));
    assert!(left_out(&first) > 0 && first["truncated"] == true && first["total"] == 6, "{first}");
    let mut files: Vec<String> = values(&first, "files", "file").into_iter().map(str::to_owned).collect();
    let mut cursor = first["next_cursor"].clone();
    while !cursor.is_null() {
        let page = map(json!({"token_budget": 600, "cursor": cursor}));
        files.extend(values(&page, "files", "file").into_iter().map(str::to_owned));
        cursor = page["next_cursor"].clone();
    }
    files.sort();
    assert_eq!(files, (0..6).map(|n| format!("tools/tool_{n}.py")).collect::<Vec<_>>());
    // A budget that holds everything shows everything.
    let whole = map(json!({"token_budget": 100_000}));
    assert_eq!((left_out(&whole), &whole["files_left_out"]), (0, &json!(0)), "{whole}");
    let shown: usize = whole["files"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|file| Some(file["symbols"].as_array()?.len()))
        .sum();
    assert_eq!(shown, 6 * 41);
}

#[test]
fn a_map_that_cannot_be_says_why() {
    let (cx, folder) = indexed("--- shop/cart.py\ndef total(): ...\n--- shop/price.py\ndef price(): ...\n");
    let wrong = |args: Value| wrong(&cx, &folder.path().join("project"), "get_repo_map", args);
    let small = wrong(json!({"token_budget": 60}));
    let needed = small["details"]["token_budget"].as_u64().unwrap_or_else(|| panic!("{small}"));
    let enough = call(&cx, &folder.path().join("project"), "get_repo_map", json!({"token_budget": needed}));
    assert_eq!(enough["files"].as_array().map(Vec::len), Some(1), "{enough}");
    assert_eq!(wrong(json!({"focus": ["shop/carts.py"]}))["details"]["nearest"][0], "shop/cart.py");
    let of_folder = wrong(json!({"focus": ["shop"]}));
    assert_eq!(of_folder["details"]["files"], json!(["shop/cart.py", "shop/price.py"]), "{of_folder}");
    assert_eq!(wrong(json!({"focus": ["./shop/"]}))["details"]["files"], of_folder["details"]["files"]);
    assert_eq!(wrong(json!({"focus": ["totl"]}))["details"]["nearest"][0], "shop/cart.py::total#function");
}

#[test]
fn a_name_that_nothing_has_leads_to_the_nearest_code() {
    let (cx, folder) = indexed(
        "--- a.md\n# Totals\n## Total\n--- cart.py\nclass Cart:\n    def total(self): ...\n--- shelf.py\nclass Shelf:\n    def total(self): ...\n",
    );
    let project = folder.path().join("project");
    for (name, meant) in [("totl", "cart.py::Cart.total#method"), ("Shlf.totl", "shelf.py::Shelf.total#method")] {
        let answer = call(&cx, &project, "find_references", json!({"identifier": name}));
        assert_eq!(answer["nearest"][0], meant, "{answer}");
    }
}

#[test]
fn implementations_and_relatives_of_a_symbol() {
    let project = "--- a.py
class Shape:
    def area(self): ...
class Square(Shape):
    def area(self): return side()
class Tile(Square):
    def area(self): ...
def side(): ...
";
    let methods = ask(project, "find_implementations", json!({"symbol_id": "Shape.area"}));
    assert_eq!(values(&methods, "implementations", "id"), ["a.py::Square.area#method", "a.py::Tile.area#method"]);
    let classes = ask(project, "find_implementations", json!({"symbol_id": "Shape"}));
    assert_eq!(values(&classes, "implementations", "id"), ["a.py::Square#class", "a.py::Tile#class"]);
    let related = ask(project, "get_related_symbols", json!({"symbol_id": "side", "max_results": 1}));
    assert_eq!(values(&related, "related", "id"), ["a.py::Square.area#method"]);
    assert_eq!(related["related"][0]["reasons"], json!(["uses it", "same file"]));
}

#[test]
fn relatives_are_told_once_and_counted() {
    /// How many overloads each entry called `load` stands for.
    fn loads(answer: &Value) -> Vec<&Value> {
        let is_load = |item: &&Value| item["id"].as_str().is_some_and(|id| id.contains("Dock.load"));
        answer["related"].as_array().expect("a list").iter().filter(is_load).map(|item| &item["overloads"]).collect()
    }
    let overloads: String = (0..5)
        .map(|n| {
            format!("  void load(int a{n}, String b) {{}}\n")
                .replace("int a", &"int[] a".replace("[]", &"[]".repeat(n)))
        })
        .collect();
    let project =
        format!("--- a/Dock.java\npackage a;\nclass Dock {{\n{overloads}  void leave() {{ load(1, null); }}\n}}\n");
    let own = ask(&project, "get_related_symbols", json!({"symbol_id": "a/Dock.java::Dock.load#method~1"}));
    assert!(values(&own, "related", "id").contains(&"a/Dock.java::Dock.leave#method"), "{own}");
    assert_eq!(loads(&own), [&json!(4)], "{own}");
    let others = ask(&project, "get_related_symbols", json!({"symbol_id": "a/Dock.java::Dock.leave#method"}));
    assert_eq!(loads(&others), [&json!(5)], "{others}");
    // All are counted.
    let many: String = (0..250).map(|n| format!("def load_{n}(): ...\n")).collect();
    let few =
        ask(&format!("--- a.py\n{many}"), "get_related_symbols", json!({"symbol_id": "load_0", "max_results": 3}));
    assert_eq!((values(&few, "related", "id").len(), &few["total"]), (3, &json!(249)), "{few}");
}

#[test]
fn relatives_are_not_filled_up_with_neighbours() {
    let others: String = (0..20).map(|n| format!("def other_{n}(): ...\n")).collect();
    let project = format!("--- a.py\ndef charge(): ...\ndef pay(): charge()\ndef alone(): ...\n{others}");
    let of = |symbol: &str| ask(&project, "get_related_symbols", json!({"symbol_id": symbol}));
    let charge = of("charge");
    assert_eq!(values(&charge, "related", "id"), ["a.py::pay#function"], "{charge}");
    // Neighbours are the nearest of a symbol that nothing uses.
    assert_eq!(of("alone")["total"], 22);
}

#[test]
fn relatives_in_unit_tests_come_after_code() {
    let tests: String =
        (0..4).map(|n| format!("    fn commit_{n}() {{ super::commit(); super::commit_all(); }}\n")).collect();
    let project = format!(
        "--- Cargo.toml\n[package]\nname = \"a\"\n--- src/lib.rs\npub fn commit() {{}}\npub fn commit_all() {{ commit() }}\npub fn save() {{ commit() }}\nmod tests {{\n{tests}}}\nmod tests_of_all {{\n{tests}}}\n"
    );
    let related = ask(&project, "get_related_symbols", json!({"symbol_id": "src/lib.rs::commit#function"}));
    assert_eq!(
        &values(&related, "related", "id")[..2],
        ["src/lib.rs::commit_all#function", "src/lib.rs::save#function"]
    );
}

#[test]
fn suggestions_are_about_the_code_itself() {
    let flags: String = (0..60).map(|n| format!("const IFT_{n} = {n}\n")).collect();
    let docks: String = (0..5)
        .map(|n| format!("--- dock_{n}.go\npackage port\nfunc OpenDock{n}(ship int) int {{ return ship }}\n"))
        .collect();
    let unit: String = (0..40).map(|n| format!("    fn check_{n}() {{}}\n")).collect();
    let project = format!(
        "--- flags.go\npackage port\n{flags}{docks}--- lib.rs\nmod tests {{\n{unit}}}\n--- pyproject.toml\n[project]\nname = \"port\"\n\
        [project.scripts]\nport = \"port.cli:run\"\n--- src/port/cli.py\ndef run(): ...\n\
        --- web/package.json\n{{\"bin\": {{\"port\": \"./bin/port.js\"}}}}\n--- web/bin/port.js\nconsole.log(1)\n"
    );
    let answer = ask(&project, "suggest_queries", json!({}));
    assert_eq!(answer["entry_points"], json!(["src/port/cli.py::run#function", "web/bin/port.js"]), "{answer}");
    let keywords = answer["top_keywords"].as_array().expect("a list");
    assert_eq!(keywords[..2], [json!("dock"), json!("open")], "{answer}");
    assert!(!keywords.contains(&json!("ift")) && !keywords.contains(&json!("check")), "{answer}");
    assert!(answer["large_types"].is_null(), "{answer}");
}

#[test]
fn a_name_is_checked_in_code_and_in_text() {
    let project = "--- a.py\ndef f(): ...\ndef g(): ...\n--- b.py\nfrom a import f\nf()  # not h\n";
    let checked = ask(project, "check_references", json!({"identifiers": ["f", "g", "h"]}));
    let of = |name: usize| &checked["results"][name];
    assert_eq!((&of(0)["resolved_count"], &of(0)["import_references"]), (&json!(1), &json!(["b.py:1"])));
    assert_eq!((&of(1)["is_referenced"], &of(1)["definitions"]), (&json!(false), &json!(1)));
    assert_eq!(of(2)["content_references"][0]["matches"][0]["confidence"], "name");
}

#[test]
fn uses_by_another_name_are_told_apart() {
    let project = "--- src/lib.rs
mod error;
mod run;
--- src/error.rs
pub struct Error;
--- src/run.rs
use crate::error::Error as RunError;
fn run() -> RunError { todo!() }
";
    let answer = ask(project, "find_references", json!({"identifier": "Error"}));
    let row = |line: u32, column: u32, text: &str, kind: &str| json!({"file": "src/run.rs", "line": line, "column": column, "text": text, "kind": kind, "confidence": "resolved"});
    let mut renamed = row(2, 13, "fn run() -> RunError { todo!() }", "type");
    (renamed["as"], renamed["in"]) = (json!("RunError"), json!("run"));
    let import = row(1, 19, "use crate::error::Error as RunError;", "import");
    assert_eq!((&answer["references"], &answer["definitions"][0]["uses"]), (&json!([import, renamed]), &json!(2)));
    let project = "--- a.js
module.exports = function create() {};
--- b.js
const make = require('./a');
make();
--- c.js
export default function build() {}
--- d.js
import shape from './c';
";
    let answer = ask(project, "find_references", json!({"identifier": "create"}));
    assert_eq!(values(&answer, "references", "as"), ["make", "make"]);
    assert_eq!(values(&answer, "references", "text"), ["const make = require('./a');", "make();"]);
    let answer = ask(project, "find_references", json!({"identifier": "build"}));
    assert_eq!(values(&answer, "references", "as"), ["shape"]);
    let project = "--- go.mod
module shop
--- main.go
package main
type Item struct{}
type Offer struct {
\t*Item
}
func make() *Item { return nil }
";
    let answer = ask(project, "find_references", json!({"symbol_id": "main.go::Item#class"}));
    assert_eq!(values(&answer, "references", "text"), ["*Item", "func make() *Item { return nil }"]);
    let renamed: Vec<&Value> = answer["references"].as_array().into_iter().flatten().map(|it| &it["as"]).collect();
    assert_eq!(renamed, [&json!("Item"), &Value::Null]);
}

#[test]
fn what_a_trait_asks_for_is_no_ancestor() {
    let project = "--- src/lib.rs
trait Shape { fn area(&self) -> u32; }
trait Solid: Shape { fn volume(&self) -> u32; }
struct Cube;
impl Shape for Cube { fn area(&self) -> u32 { 6 } }
impl Solid for Cube { fn volume(&self) -> u32 { 1 } }
";
    let answer = ask(project, "get_class_hierarchy", json!({"class_name": "Solid"}));
    assert_eq!((values(&answer, "ancestors", "name").len(), values(&answer, "descendants", "name")), (0, vec!["Cube"]));
    assert_eq!(values(&answer, "requires", "name"), ["Shape"]);
    let answer = ask(project, "get_class_hierarchy", json!({"class_name": "Shape"}));
    assert_eq!(values(&answer, "descendants", "name"), ["Cube"]);
    assert_eq!(values(&answer, "required_by", "name"), ["Solid"]);
}

#[test]
fn a_use_is_whole_whatever_the_budget() {
    let mut project = "--- a.py\ndef used(): ...\n".to_owned();
    for number in 0..60 {
        project.push_str(&format!(
            "variable_with_a_rather_long_name_{number} = [used(), 'and a text that is long, too']\n"
        ));
    }
    let answer = ask(&project, "find_references", json!({"identifier": "used", "max_tokens": 1500}));
    let kept = answer["references"].as_array().map_or(0, Vec::len);
    assert!((5..60).contains(&kept), "{answer}");
    assert_eq!(
        answer["references"][kept - 1]["text"].as_str().map(|text| text.starts_with("variable_with")),
        Some(true)
    );
    assert!(answer["shortened"].is_null() && answer["left"] == 60 - kept && answer["next_cursor"].is_string());
}

#[test]
fn types_of_go_pass_nothing_on_to_what_they_hold() {
    let project = "--- go.mod
module shop
--- main.go
package main
type Held struct{}
type Holder struct { a, b Held }
type Used struct{}
func (u Used) run() {}
func (h Holder) one() {}
func (h Holder) two() {}
func (h Holder) three() {}
func main() { Used{}.run(); Holder{}.one(); Holder{}.two(); Holder{}.three() }
";
    let answer = ask(project, "get_symbol_importance", json!({"top_n": 2}));
    let ids = values(&answer, "ranked_symbols", "symbol_id");
    assert_eq!(ids, ["main.go::Holder#class", "main.go::Used#class"]);
}

#[test]
fn what_a_module_of_ours_was_not_seen_to_offer_may_be_used() {
    for project in [
        "--- a.ts\nexport * from 'elsewhere';\n--- b.ts\nimport { lost, other as renamed } from './a';\nlost(); renamed.go();\n\
         --- c.ts\nfunction lost() {}\nclass C { go() {} }\nfunction never() {}\nnew C();\n",
        "--- a.py\nfrom elsewhere import *\n--- b.py\nfrom a import lost, other as renamed\nlost()\nrenamed.go()\n\
         --- c.py\ndef lost(): ...\nclass C:\n    def go(self): ...\ndef never(): ...\nC()\n",
    ] {
        assert_eq!(dead(project, json!({"min_confidence": 0})), ["never 0.8"]);
    }
}

#[test]
fn who_calls_what_is_overridden_reaches_the_override() {
    let project = "--- base.py
class Sessions:
    def open(self): ...
--- own.py
from base import Sessions
class Secure(Sessions):
    def open(self): return super().open()
--- use.py
from base import Sessions
def start(sessions: Sessions): return sessions.open()
def serve(): return start(make())
--- other.py
def alone(): ...
";
    let id = "own.py::Secure.open#method";
    let calls = ask(project, "get_call_hierarchy", json!({"symbol_id": id, "direction": "callers"}));
    assert_eq!(calls["overrides"], json!(["base.py::Sessions.open#method"]));
    assert_eq!(values(&calls, "callers", "name"), ["start", "serve"]);
    assert_eq!(values(&calls, "callers", "via"), ["Sessions.open", "start"]);
    let blast = ask(project, "get_blast_radius", json!({"symbol_id": id}));
    assert_eq!(blast["overrides"], json!(["base.py::Sessions.open#method"]));
    assert_eq!(values(&blast, "confirmed", "file"), ["use.py"]);
    assert_eq!(values(&blast, "confirmed", "via"), ["Sessions.open"]);
    assert!(blast["overall_risk_score"].as_f64().expect("a number") > 0.2);
    let none = ask(project, "get_blast_radius", json!({"symbol_id": "other.py::alone#function"}));
    assert_eq!(none["overall_risk_score"].to_string(), "0.0");
}

#[test]
fn what_has_no_relations_is_said_to_have_none() {
    let project = "--- a.lua\nfunction run() return 1 end\n--- b.lua\nfunction run() return 2 end\nfunction go() return run() end\n";
    let (cx, folder) = indexed(project);
    let root = folder.path().join("project");
    // Two definitions, and not one of them resolved.
    let answer = wrong(&cx, &root, "find_references", json!({"identifier": "run"}));
    assert_eq!(answer["error"], "names in lua are not resolved yet; search_text finds mentions", "{answer}");
    for tool in ["get_symbol_importance", "get_repo_map", "find_dead_code"] {
        let answer = call(&cx, &root, tool, json!({}));
        assert_eq!(answer["_meta"]["no_relations_for"], json!({"lua": 2}), "{tool}: {answer}");
    }
}

#[test]
fn uses_are_not_crowded_out_by_definitions() {
    let classes: String =
        (0..60).map(|class| format!("--- m{class}.py\nclass C{class}:\n    def save(self): ...\n")).collect();
    let project = format!("{classes}--- use.py\nfrom m59 import C59\n\ndef go():\n    C59().save()\n");
    let (cx, folder) = indexed(&project);
    let root = folder.path().join("project");
    let answer = call(&cx, &root, "find_references", json!({"identifier": "save"}));
    let definitions = answer["definitions"].as_array().expect("a list");
    assert_eq!((definitions.len(), &answer["definitions_left"]), (20, &json!(40)));
    assert_eq!((&definitions[0]["id"], &definitions[0]["uses"]), (&json!("m59.py::C59.save#method"), &json!(1)));
    assert_eq!((&answer["references"][0]["file"], &answer["references"][0]["of"]), (&json!("use.py"), &json!(0)));
    let answer = call(&cx, &root, "find_references", json!({"identifiers": ["C59", "save"], "max_results": 1}));
    assert_eq!(answer["results"][0]["references_left"], 1, "{answer}");
}

#[test]
fn hierarchies_come_in_pages_with_code_before_its_tests() {
    let classes: String = (0..130).map(|n| format!("class Model{n:03}(Base): pass\n")).collect();
    let callers: String = (0..130).map(|n| format!("def user_{n:03}(): save()\n")).collect();
    let project = format!(
        "--- base.py\nclass Base: pass\ndef save(): inner()\ndef inner(): pass\n--- a_test.py\nfrom base import Base, save\n\
         class InTest(Base): pass\ndef test_it(): save()\n--- use.py\nfrom base import Base, save\n{classes}{callers}"
    );
    let (cx, folder) = indexed(&project);
    let root = folder.path().join("project");
    let pages = |tool: &str, list: &str, args: Value, most: usize| {
        let (mut all, mut args) = (Vec::new(), args);
        loop {
            let page = call(&cx, &root, tool, args.clone());
            let names = values(&page, list, "name");
            assert!(names.len() <= most, "{}", names.len());
            all.extend(names.iter().map(|name| (*name).to_owned()));
            let Some(cursor) = page["next_cursor"].as_str() else { return all };
            args["cursor"] = cursor.into();
        }
    };
    let args = json!({"symbol_id": "base.py::Base"});
    let descendants = pages("get_class_hierarchy", "descendants", args, 100);
    assert_eq!((descendants.len(), descendants.last().map(String::as_str)), (131, Some("InTest")));
    let callers = pages("get_call_hierarchy", "callers", json!({"symbol_id": "base.py::save"}), 50);
    assert_eq!((callers.len(), callers.last().map(String::as_str)), (131, Some("test_it")));
    // A larger budget has larger pages.
    let all = call(&cx, &root, "get_call_hierarchy", json!({"symbol_id": "base.py::save", "max_tokens": 100_000}));
    assert_eq!((values(&all, "callers", "name").len(), &all["next_cursor"]), (131, &Value::Null));
    let args = json!({"symbol_id": "base.py::save", "format": "compact"}).as_object().cloned().expect("it is one");
    let request = Request { directory: Some(root.clone()), ..Request::default() };
    let compact = tools::call(&cx, "get_call_hierarchy", args, &request).text;
    assert_eq!(compact.matches("use.py").count(), 1, "a path is said once: {compact}");
    assert!(codelode::answer::tokens::estimate(&compact) < 1_000, "{compact}");
}

#[test]
fn scripts_share_their_global_names() {
    let pages = "--- static/core.js
function quickElement(tag) { return document.createElement(tag) }
function removeChildren(of) { of.remove() }
function nowhere() { return 1 }
--- static/admin/date.js
'use strict';
{
    function show() { quickElement('div'); removeChildren(document) }
    window.addEventListener('load', show)
}
--- lib/tool.js
import { other } from './other.js'
export function build() { return quickElement('p') + other() }
--- lib/other.js
export function other() {}
function quickElement() {}
";
    let used = |name: &str| {
        let answer = ask(pages, "find_references", json!({"identifier": name}));
        values(&answer, "references", "file").join(" ")
    };
    assert_eq!(used("quickElement"), "static/admin/date.js", "a module sees no other file's names");
    assert_eq!(used("removeChildren"), "static/admin/date.js");
    let dead = dead(pages, json!({"min_confidence": 0}));
    assert!(dead.contains(&"nowhere 0.6".to_owned()) && !dead.iter().any(|one| one.starts_with("removeC")), "{dead:?}");
}

#[test]
fn relations_that_took_too_much_work_are_said_to_be_missing() {
    let files: String = (0..300).map(|n| format!("--- p/C{n}.java\npackage p;\nclass C{n} {{}}\n")).collect();
    let imports = "import p.*;\n".repeat(20_000);
    let project = format!("{files}--- A.java\n{imports}class A {{ private void spare() {{}} }}\n");
    let (cx, folder) = indexed(&project);
    let root = folder.path().join("project");
    let missing = "resolving all names takes too long here: some uses are missing";
    let answer = call(&cx, &root, "find_references", json!({"identifier": "C7"}));
    assert_eq!(answer["_meta"]["relations_missing"], missing, "{answer}");
    let answer = call(&cx, &root, "find_dead_code", json!({"min_confidence": 0}));
    assert_eq!(answer["_meta"]["relations_missing"], missing, "{answer}");
    let dead = answer["dead_symbols"].as_array().expect("a list");
    assert!(!dead.is_empty() && dead.iter().all(|item| item["confidence"] == 0.5), "{answer}");
    let whole = ask("--- a.py\ndef f(): ...\n", "find_references", json!({"identifier": "f"}));
    assert_eq!(whole["_meta"]["relations_missing"], Value::Null);
}

#[test]
fn a_heading_of_a_page_makes_no_name_ambiguous() {
    let project = "--- shop.py\nclass Shop: ...\nclass Corner(Shop): ...\n--- README.md\n# Shop\n\nIt sells.\n";
    let answer = ask(project, "get_class_hierarchy", json!({"class_name": "Shop"}));
    assert_eq!(values(&answer, "descendants", "name"), ["Corner"]);
    let heading = ask(project, "get_symbol_source", json!({"symbol_id": "README.md::Shop"}));
    assert!(heading["source"].as_str().is_some_and(|source| source.starts_with("# Shop")), "{heading}");
}
