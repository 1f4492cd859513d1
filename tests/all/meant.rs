//! Which symbol is meant: one way to say it, in every tool; a name that several bear is answered for each.

use codelode::tools::{self, Request};
use serde_json::{Value, json};

use super::graph::{ask, indexed, values, wrong};

const SHOP: &str = "--- shop/cart.py
class Cart:
    def total(self):
        return 1

    def sum(self):
        return self.total()
--- shop/bill.py
class Bill:
    def total(self):
        return 2

def total():
    return 3

def pay(bill: Bill, other):
    other.total()
    return bill.total() + total()
";

/// The text that a model or a shell gets.
pub fn text(project: &str, tool: &str, args: Value) -> String {
    let (cx, folder) = indexed(project);
    let mut args = args.as_object().expect("an object").clone();
    args.insert("format".to_owned(), "compact".into());
    let patience = Some(std::time::Duration::from_secs(60));
    let request = Request { directory: Some(folder.path().join("project")), patience, ..Request::default() };
    tools::call(&cx, tool, args, &request).text
}

#[test]
fn a_name_is_answered_for_all_that_bear_it() {
    let calls = text(SHOP, "get_call_hierarchy", json!({"symbol_id": "total"}));
    let expected = "1 caller of method Bill.total, shop/bill.py:2
shop/bill.py:8 pay  10:return bill.total() + total()
1 caller of function total, shop/bill.py:5
shop/bill.py:8 pay  10:return bill.total() + total()
1 caller of method Cart.total, shop/cart.py:2
shop/cart.py:5 Cart.sum  6:return self.total()
1 possible, as the receiver is not known:
shop/bill.py:8 pay  9:other.total()";
    assert_eq!(calls, expected);
    let sources = ask(SHOP, "get_symbol_source", json!({"symbol_id": "Bill.total"}));
    assert_eq!(sources["file"], "shop/bill.py", "{sources}");
    let sources = ask(SHOP, "get_symbol_source", json!({"symbol_id": "total kind:method"}));
    assert_eq!(values(&sources, "symbols", "file"), ["shop/bill.py", "shop/cart.py"], "{sources}");
}

#[test]
fn a_name_may_begin_with_its_module() {
    let project = "--- cmd/run.go
package cmd
func Start() {}
--- cmd/http/server.go
package http
type Server struct{}
func (s *Server) Serve() {}
--- src/query/rank.rs
pub fn idf() {}
pub mod inner { pub fn idf() {} }
--- shop/utils/__init__.py
def load(): pass
--- shop/utils/misc.py
def load(): pass
class Cart:
    def total(self): pass
";
    for (asked, file) in [
        ("cmd.Start", "cmd/run.go"),
        ("http.Server.Serve", "cmd/http/server.go"),
        ("crate::query::rank::idf", "src/query/rank.rs"),
        ("engine::query::rank::idf", "src/query/rank.rs"),
        ("rank::inner::idf", "src/query/rank.rs"),
        ("Cart::total", "shop/utils/misc.py"),
        ("shop.utils.misc.load", "shop/utils/misc.py"),
        ("misc.Cart.total", "shop/utils/misc.py"),
    ] {
        let sources = ask(project, "get_symbol_source", json!({"symbol_id": asked}));
        assert_eq!(sources["file"], file, "{asked}: {sources}");
    }
    let sources = ask(project, "get_symbol_source", json!({"symbol_id": "shop.utils.load"}));
    assert_eq!(values(&sources, "symbols", "file"), ["shop/utils/__init__.py", "shop/utils/misc.py"], "{sources}");
    // A package of elsewhere does not get a function of here.
    let answer = text(project, "get_symbol_source", json!({"symbol_id": "os.misc.load"}));
    assert!(answer.contains("no symbol has the id"), "{answer}");
}

#[test]
fn many_uses_have_their_lines_and_who_they_are_in() {
    let many = "    f()\n".repeat(30);
    let project = format!(
        "--- a.py\ndef f(): pass\n--- b.py\nfrom a import f\ndef one():\n    f()\n    f()\n    f()\n    f()\n\
         def two():\n    f()\n--- c.py\nfrom a import f\ndef many():\n{many}"
    );
    let uses = text(&project, "find_references", json!({"identifier": "f"}));
    let lines: Vec<&str> = uses.lines().skip(1).take(6).collect();
    assert_eq!(
        lines,
        ["b.py", "1:import", "3:f()  in one", "4:f()  in one", "5:f()  in one", "and 6, 8 in two"],
        "{uses}"
    );
}

#[test]
fn uses_are_those_of_a_folder_where_one_is_given() {
    let project = "--- a/one.py
def f(): pass
f()
--- b/two.py
from a.one import f
f()
";
    let uses = ask(project, "find_references", json!({"identifier": "f", "scope": "b"}));
    assert_eq!(values(&uses, "references", "file"), ["b/two.py", "b/two.py"], "{uses}");
    assert!(uses.to_string().contains("1 more uses outside of b"), "{uses}");
    let uses = text(project, "find_references", json!({"identifier": "f", "scope": "b"}));
    assert!(uses.contains("2 uses of function f") && !uses.contains("complete"), "{uses}");
    let uses = ask(project, "find_references", json!({"identifier": "f", "scope": "a/*.py"}));
    assert_eq!(uses["references"][0]["line"], 2, "{uses}");
}

#[test]
fn terms_narrow_what_a_name_means() {
    for (asked, line) in [
        ("total file:cart", 2),
        ("total kind:function", 5),
        ("shop/cart.py::total", 2),
        ("shop/cart.py::Cart.total", 2),
        ("shop/cart.py:3", 2),
        ("Bill.total", 2),
    ] {
        let answer = ask(SHOP, "get_call_hierarchy", json!({"symbol_id": asked}));
        assert_eq!(answer["line"], line, "{asked}: {answer}");
        let uses = ask(SHOP, "find_references", json!({"identifier": asked}));
        assert_eq!(values(&uses, "definitions", "id").len(), 1, "{asked}: {uses}");
    }
}

#[test]
fn definitions_of_one_thing_have_one_list_of_uses() {
    let project = "--- a.py
import sys
if sys.platform == 'win32':
    def size(): return 1
else:
    def size(): return 2
--- b.py
from a import size
def f(): return size()
";
    let uses = text(project, "find_references", json!({"identifier": "size"}));
    assert_eq!(
        uses,
        "2 uses of function size, a.py:3 and :5; complete: no other use is possible in 2 files, none of them a test\nb.py\n1:from a import size\n2:def f(): return size()  in f"
    );
    let overloads = "--- A.java
class A {
    void add(int one) {}
    void add(String one) {}
    void run() { add(1); add(\"a\"); }
}
";
    let calls = text(overloads, "get_call_hierarchy", json!({"symbol_id": "add"}));
    assert_eq!(
        calls,
        "1 caller of method A.add, A.java:2 and :3; complete: no other call is possible in 1 file, none of them a test\nA.java:4 A.run  4:void run() { add(1); add(\"a\"); }"
    );
}

#[test]
fn a_class_of_a_file_has_an_outline_of_its_own() {
    let alone = "shop/bill.py, 10 lines\n1-3 class Bill\n 2-3 def total(self)";
    assert_eq!(text(SHOP, "get_file_outline", json!({"file_paths": ["shop/bill.py", "Bill"]})), alone);
    assert_eq!(text(SHOP, "get_file_outline", json!({"file_path": "shop/bill.py::Bill"})), alone);
    let both = text(SHOP, "get_file_outline", json!({"file_paths": ["shop/bill.py", "shop/cart.py"]}));
    assert!(both.contains("class Bill") && both.contains("class Cart"), "{both}");
}

#[test]
fn a_part_of_a_long_symbol_is_what_is_around_a_text() {
    let lines: String = (0..60).map(|n| format!("    step_{n}()\n")).collect();
    let project = format!("--- a.py\ndef long():\n{lines}");
    let part =
        text(&project, "get_symbol_source", json!({"symbol_id": "long", "around": "step_30(", "context_lines": 1}));
    assert_eq!(part, "a.py\n31:    step_29()\n32:    step_30()\n33:    step_31()");
    let none = text(&project, "get_symbol_source", json!({"symbol_id": "long", "around": "absent"}));
    assert_eq!(none, "a.py\n\"absent\" is not in it");
}

#[test]
fn many_places_that_may_mean_it_are_counted_by_receiver() {
    let calls: String = (0..12).map(|n| format!("def f{n}(w): w.header({n}).get({n})\n")).collect();
    let project =
        format!("--- a.py\nclass Store:\n    def get(self, key): ...\n--- b.py\n{calls}def g(it): it.get(1)\n");
    let uses = text(&project, "find_references", json!({"identifier": "Store.get"}));
    assert_eq!(
        uses,
        "0 uses of method Store.get, a.py:2\n13 possible, as the receiver is not known: w.header() 12, it 1; \
         `include_possible` lists them"
    );
}

#[test]
fn a_question_finds_what_bears_its_rare_word_in_tests_too() {
    let filler: String = (0..30).map(|n| format!("def format_text_{n}(text): return text.padded({n})\n")).collect();
    let project = format!(
        "--- text.py\n{filler}--- tests/test_text.py\nclass MyString(str):\n    def rjust(self, width): return self\n"
    );
    let context =
        text(&project, "get_ranked_context", json!({"query": "format text of a str subclass that overrides rjust"}));
    assert!(context.starts_with("tests/test_text.py\n2 MyString.rjust: def rjust(self, width)"), "{context}");
    assert!(!context.contains("return text.padded"), "{context}");
    let args = json!({"query": "how is a text formatted", "token_budget": 3_000});
    let more = text(&project, "get_ranked_context", args);
    assert!(more.contains("return text.padded"), "{more}");
}

#[test]
fn a_function_in_a_table_is_handed_on_and_not_without_callers() {
    let project = "--- bus.c
struct ops { int (*write)(int); };
static int spi_write(int b) { return b; }
static struct ops bus = { .write = spi_write };
int send(struct ops *o) { return o->write(1); }
";
    let calls = text(project, "get_call_hierarchy", json!({"symbol_id": "spi_write"}));
    assert!(calls.contains("handed on in bus.c:3 (ops.write); called through ops.write in send bus.c:4"), "{calls}");
    assert!(!calls.contains("complete"), "{calls}");
}

#[test]
fn an_exported_function_is_not_handed_on() {
    let project = "--- util.js
function isEmpty(value) { return value == null; }
module.exports = {
    /** Says no. */
    no() { return { ok: false }; },
    isEmpty,
};
--- use.js
const util = require('./util');
function check(value) { return util.isEmpty(value); }
--- more.js
const {
    isEmpty,
} = require('./util');
function more(value) { return isEmpty(value); }
";
    let calls = text(project, "get_call_hierarchy", json!({"symbol_id": "isEmpty"}));
    assert_eq!(
        calls,
        "2 callers of function isEmpty, util.js:1; complete: no other call is possible in 3 files, none of them a test\n\
         more.js:4 more  4:function more(value) { return isEmpty(value); }\n\
         use.js:2 check  2:function check(value) { return util.isEmpty(value); }"
    );
}

#[test]
fn callers_of_an_interface_are_apart_and_many_are_counted() {
    let many: String = (0..12).map(|n| format!("func each{n}(c Closer) error {{ return c.Close() }}\n")).collect();
    let project = format!(
        "--- go.mod
module shop
--- till.go
package shop

type Closer interface {{ Close() error }}
type Till struct{{}}

func (t *Till) Close() error {{ return nil }}
func night(t *Till) error {{ return t.Close() }}
{many}"
    );
    let ask = |args: Value| text(&project, "get_call_hierarchy", args);
    let direct = "1 direct caller of method Till.Close, till.go:6; complete: no other call is possible in 1 file, none of them a test\n\
                  till.go:7 night  7:func night(t *Till) error { return t.Close() }\n";
    let counted = "12 callers of Closer.Close, which may run it, not listed; `through` lists them";
    assert_eq!(ask(json!({"symbol_id": "Till.Close"})), format!("{direct}{counted}"));
    let listed = ask(json!({"symbol_id": "Till.Close", "through": true}));
    assert!(listed.contains("\n12 callers of Closer.Close, which may run it:\ntill.go\n8 each0  at 8\n"), "{listed}");
}

#[test]
fn tests_and_bundles_are_of_each_that_bears_a_name() {
    let bundle = text(SHOP, "get_context_bundle", json!({"symbol_id": "total"}));
    assert!(bundle.contains("total is each of shop/bill.py::Bill.total#method"), "{bundle}");
    assert!(bundle.contains("return 1") && bundle.contains("return 2") && bundle.contains("return 3"), "{bundle}");
    let mut project = SHOP.to_owned();
    project
        .push_str("--- tests/test_shop.py\nfrom shop.cart import Cart\ndef test_sum(): assert Cart().total() == 1\n");
    let tests = text(&project, "find_tests", json!({"targets": ["total"]}));
    assert!(tests.contains("tests/test_shop.py"), "{tests}");
}

#[test]
fn a_slip_in_a_name_is_answered_with_the_function_first() {
    let project = "--- a.py
class App:
    def url_for(self): return 1
--- b.py
def url_for(): return 2
";
    let uses = text(project, "find_references", json!({"identifier": "url_fro"}));
    assert!(uses.contains("similar: b.py::url_for#function"), "{uses}");
}

#[test]
fn what_the_outside_may_call_is_not_said_to_have_no_callers() {
    let project = "--- a.py
import threading
from web import route

class Job(threading.Thread):
    def run(self): return 1

@route('/')
def index(): return 2

def alone(): return 3
";
    let ask = |name: &str| text(project, "get_call_hierarchy", json!({"symbol_id": name}));
    let by = "outside of the repository it may be called by";
    let none = "; no other direct call is possible in 1 file, none of them a test";
    assert_eq!(ask("Job.run"), format!("0 callers of method Job.run, a.py:5{none}\n{by} threading.Thread"));
    assert_eq!(ask("index"), format!("0 callers of function index, a.py:8{none}\n{by} @route"));
    assert!(ask("alone").contains("complete: no other call is possible"));
}

#[test]
fn what_is_called_without_its_name_is_not_said_to_be_unused() {
    let called = [
        ("--- a.py\nclass Job:\n    def __enter__(self): return self\n", "Job.__enter__", "the language may call"),
        ("--- a.kt\nclass Op { operator fun plus(o: Op) = o }\n", "Op.plus", "the language may call"),
        ("--- a.cpp\nstruct Fn { int operator()(int n) { return n; } };\n", "Fn.operator()", "the language may call"),
        ("--- a.rb\nclass Sum\n  def +(other) = other\nend\n", "Sum.+", "the language may call"),
        ("--- a.scala\nobject Box { def apply(n: Int) = n }\n", "Box.apply", "the language may call"),
        ("--- a.php\n<?php\nclass Inv { function __invoke() {} }\n", "Inv.__invoke", "the language may call"),
        ("--- A.java\nclass Job implements Runnable { public void run() {} }\n", "Job.run", "Runnable, from outside"),
        ("--- a.rs\nstruct V;\nimpl Add for V { fn add(self) {} }\n", "V.add", "Add, from outside"),
    ];
    for (project, name, reason) in called {
        let told = text(project, "find_references", json!({"identifier": name}));
        assert!(told.contains(reason) && !told.contains("complete"), "{name}: {told}");
    }
    for project in
        ["--- a.py\nclass Job:\n    def enter(self): return self\n", "--- a.kt\nclass Job { fun enter() = 1 }\n"]
    {
        let told = text(project, "find_references", json!({"identifier": "Job.enter"}));
        assert!(told.contains("complete"), "{told}");
    }
}

#[test]
fn methods_that_an_annotation_makes_may_use_the_field() {
    let project = "--- Guest.java
import lombok.*;
@Data
class Guest { private String wishes; @With(AccessLevel.PUBLIC) private int age; }
class Other { private String name; }
";
    let made = "@Data makes getWishes, isWishes, setWishes, by which it is used";
    for (name, reason) in [("Guest.wishes", made), ("Guest.age", "@With makes withAge"), ("Other.name", "complete")] {
        let told = text(project, "find_references", json!({"identifier": name}));
        assert!(told.contains(reason), "{name}: {told}");
        assert_eq!(told.contains("complete"), reason == "complete", "{name}: {told}");
    }
}

#[test]
fn what_is_not_there_is_answered_with_what_to_try() {
    let (cx, folder) = indexed(SHOP);
    let root = folder.path().join("project");
    let source = |id: &str| wrong(&cx, &root, "get_symbol_source", json!({"symbol_id": id})).to_string();
    let told = source("no/file.py:3");
    assert!(told.contains("no file \\\"no/file.py\\\" is indexed"), "{told}");
    let told = source("shop/cart.py:40");
    assert!(told.contains("has 6 lines, and none has the number 40"), "{told}");
    let told = source("nothing_at_all");
    assert!(told.contains("search_text"), "{told}");
    let told = text(SHOP, "find_references", json!({"identifier": "nothing_at_all"}));
    assert_eq!(told, "nothing is called nothing_at_all; search_text looks through all text");
}

#[cfg(unix)]
#[test]
fn a_link_is_no_second_definition() {
    let (cx, folder) = indexed(
        "--- real/a.py\ndef target(): pass\ndef user(): target()\n--- b.py\nfrom real.a import target\ntarget()\n",
    );
    let root = folder.path().join("project");
    std::os::unix::fs::symlink("real/a.py", root.join("link.py")).expect("it is our folder");
    std::fs::write(root.join("c.py"), "from link import target\ntarget()\n").expect("it is our folder");
    let ask = |tool: &str, args: Value| {
        let patience = Some(std::time::Duration::from_secs(60));
        let request = Request { directory: Some(root.clone()), patience, ..Request::default() };
        tools::call(&cx, tool, args.as_object().expect("an object").clone(), &request).text
    };
    ask("index_folder", json!({"path": root, "follow_symlinks": true}));
    let told = ask("find_references", json!({"identifier": "target", "format": "compact"}));
    let expected = "5 uses of function target, real/a.py:1 and link.py:1";
    assert!(told.starts_with(expected), "{told}");
    assert!(!told.contains("link.py\n"), "{told}");
}
