//! The content of answers: each whole, in the shape that clients know, and no larger than it is worth.

use codelode::tools::{self, Request};
use serde_json::{Value, json};

use super::graph::{ask, call, indexed, values, wrong};

/// The import statements in the bundle of a symbol.
fn imports(project: &str, symbol: &str) -> Vec<String> {
    let answer = ask(project, "get_context_bundle", json!({"symbol_id": symbol}));
    let files = answer["imports"].as_array().cloned().unwrap_or_default();
    let statements = files.iter().flat_map(|file| file["statements"].as_array().cloned().unwrap_or_default());
    statements.map(|statement| statement.as_str().expect("a statement is text").to_owned()).collect()
}

#[test]
fn a_bundle_has_the_imports_that_its_symbol_needs_whole_in_python() {
    let project = "--- shop/cart.py
from __future__ import annotations

import re
import unicodedata
import os.path
from shop.items import (
    Item,
    price,  # of one
)
from shop import taxes as duty
from typing import Any

try:
    import json
except ImportError:
    json = None


class Cart:
    def slug(self, text):
        text = unicodedata.normalize(text)
        return re.sub('a', price(text), json.dumps(text))

    def other(self):
        return os.path.join(duty.rate)

    def typed(self, any: Any):
        import re
        return re.compile(any)
--- shop/items.py
class Item: ...
def price(x): ...
--- shop/taxes.py
rate = 1
";
    let group = "from shop.items import (\n    Item,\n    price,  # of one\n)";
    assert_eq!(imports(project, "Cart.slug"), ["import re", "import unicodedata", group, "import json"]);
    assert_eq!(imports(project, "Cart.other"), ["import os.path", "from shop import taxes as duty"]);
    assert_eq!(imports(project, "Cart.typed"), ["from typing import Any"]);
}

#[test]
fn a_bundle_has_the_imports_that_its_symbol_needs_whole_in_typescript_and_javascript() {
    let project = "--- a.ts
import { one,
  two as second } from './b';
import * as all from './b';
import type { Kind } from './b';
import fallback from 'lodash';
const { join } = require('path');

export function run(kind: Kind) { return second(join(fallback(kind))); }
export function rest() { return all.one(); }
--- b.ts
export function one() {}
export function two(x: unknown) {}
export type Kind = string;
--- c.js
const fs = require('fs');
const other = require('os');
function read() { return fs.readFileSync('a'); }
";
    let group = "import { one,\n  two as second } from './b';";
    let kind = "import type { Kind } from './b';";
    let rest = ["import fallback from 'lodash';", "const { join } = require('path');"];
    assert_eq!(imports(project, "run"), [group, kind, rest[0], rest[1]]);
    assert_eq!(imports(project, "rest"), ["import * as all from './b';"]);
    assert_eq!(imports(project, "read"), ["const fs = require('fs');"]);
}

#[test]
fn a_bundle_has_the_imports_that_its_symbol_needs_whole_in_go_java_and_rust() {
    let project = "--- main.go
package main

import (
\t\"fmt\"
\tstr \"strings\"
\t\"net/http\"
)

func Hello(r *http.Request) string { return str.ToUpper(r.Host) }
func Print() { fmt.Println(1) }
--- src/shop/Cart.java
package shop;
import java.util.List;
import java.util.Map;
import static java.util.Collections.emptyList;
public class Cart {
    List<String> names() { return emptyList(); }
    Map<String, String> map() { return null; }
}
--- src/lib.rs
mod shape;
use std::collections::{
    BTreeMap,
    HashMap,
};
use std::fmt;
use shape::Area;
use shape::Square;
pub fn count(of: &HashMap<u8, u8>) -> usize { of.len() }
pub fn show(f: &mut fmt::Formatter) {}
pub fn surface(of: &Square) -> u32 { of.area() }
--- src/shape.rs
pub trait Area { fn area(&self) -> u32; }
pub struct Square;
impl Area for Square { fn area(&self) -> u32 { 1 } }
";
    assert_eq!(imports(project, "Hello"), ["import str \"strings\"", "import \"net/http\""]);
    assert_eq!(imports(project, "Print"), ["import \"fmt\""]);
    assert_eq!(
        imports(project, "Cart.names"),
        ["import java.util.List;", "import static java.util.Collections.emptyList;"]
    );
    assert_eq!(imports(project, "count"), ["use std::collections::{\n    BTreeMap,\n    HashMap,\n};"]);
    assert_eq!(imports(project, "show"), ["use std::fmt;"]);
    assert_eq!(imports(project, "surface"), ["use shape::Area;", "use shape::Square;"]);
}

#[test]
fn imports_from_outside_are_packages() {
    let project = "--- app/a.py
import hashlib
import os.path
from itertools import chain
from itsdangerous.url_safe import URLSafeSerializer
from werkzeug.wrappers import Request
from .b import local
from app.b import other
from app.c import missing
--- app/__init__.py
--- app/b.py
def local(): ...
def other(): ...
--- web/a.ts
import { render } from '@testing-library/react/pure';
import fp from 'lodash/fp';
import merge from 'lodash.merge';
import { own } from './b';
--- web/b.ts
export function own() {}
--- main.go
package main
import (
\t\"net/http\"
\t\"github.com/spf13/cobra\"
)
func main() { cobra.Run(http.Get) }
--- src/shop/Cart.java
package shop;
import com.google.gson.Gson;
import java.util.*;
class Cart { Gson gson; }
--- src/lib.rs
mod own;
use crate::own::Thing;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
enum Color { Red }
use Color::Red;
--- src/own.rs
pub struct Thing;
";
    let external = |file: &str| ask(project, "get_dependency_graph", json!({"file": file}))["external"].clone();
    assert_eq!(external("app/a.py"), json!(["hashlib", "itertools", "itsdangerous", "os", "werkzeug"]));
    assert_eq!(external("web/a.ts"), json!(["@testing-library/react", "lodash", "lodash.merge"]));
    assert_eq!(external("main.go"), json!(["github.com/spf13/cobra", "net/http"]));
    assert_eq!(external("src/shop/Cart.java"), json!(["com.google.gson", "java.util"]));
    assert_eq!(external("src/lib.rs"), json!(["serde", "std"]));
}

const USES: &str = "--- a.py
def f(): ...
def g(): ...
--- b.py
from a import f
f()
--- c.py
import b
import a
";

#[test]
fn every_line_that_imports_a_file_is_told() {
    let projects = [
        ("a.py", "--- a.py\ndef f(): pass\n--- b.py\nfrom a import f\ndef later():\n    import a\n"),
        (
            "a.ts",
            "--- a.ts\nexport type T = 1;\nexport const f = 1;\n--- b.ts\nimport type { T } from './a';\n\nimport { f } from './a';\n",
        ),
        (
            "src/a.rs",
            "--- src/lib.rs\nmod a;\nmod b;\n--- src/a.rs\npub fn f() {}\npub fn g() {}\n--- src/b.rs\nuse crate::a::f;\n\nuse crate::a::g;\n",
        ),
    ];
    for (path, project) in projects {
        let told = ask(project, "find_importers", json!({"file_path": path}));
        let of_b = |item: &&Value| item["file"].as_str().is_some_and(|file| file.contains("b."));
        let lines: Vec<u64> = told["importers"]
            .as_array()
            .expect("importers")
            .iter()
            .filter(of_b)
            .filter_map(|item| item["line"].as_u64())
            .collect();
        assert_eq!(lines, [1, 3], "{told}");
        assert_eq!(told["importer_count"], 1, "{told}");
    }
}

#[test]
fn one_target_is_answered_flat_and_several_in_groups() {
    let one = ask(USES, "find_importers", json!({"file_path": "a.py"}));
    assert_eq!(one["file_path"], "a.py");
    assert_eq!(values(&one, "importers", "file"), ["b.py", "c.py"]);
    assert_eq!(one["importers"][0]["has_importers"], true);
    let many = ask(USES, "find_importers", json!({"file_paths": ["a.py", "c.py", "b.py"]}));
    let counts: Vec<&Value> =
        many["results"].as_array().expect("groups").iter().map(|of| &of["importer_count"]).collect();
    assert_eq!(counts, [2, 0, 1]);
    assert_eq!(values(&many["results"][2], "importers", "file"), ["c.py"]);
    let cut = ask(USES, "find_importers", json!({"file_paths": ["a.py", "b.py"], "max_results": 1}));
    assert_eq!(values(&cut, "results", "file_path"), ["a.py", "b.py"], "no file is lost");
    assert_eq!(cut["results"][0]["importer_count"], 2);

    let one = ask(USES, "check_references", json!({"identifier": "f"}));
    assert_eq!((&one["identifier"], &one["is_referenced"]), (&json!("f"), &json!(true)));
    let many = ask(USES, "check_references", json!({"identifiers": ["f"]}));
    assert_eq!(values(&many, "results", "identifier"), ["f"]);

    let one = ask(USES, "find_references", json!({"identifier": "f"}));
    assert_eq!(values(&one, "references", "kind"), ["import", "call"]);
    assert_eq!(values(&one, "references", "confidence"), ["resolved", "resolved"]);
    let many = ask(USES, "find_references", json!({"identifiers": ["g", "f", "h"]}));
    assert_eq!(values(&many, "results", "identifier"), ["g", "f", "h"]);
    assert_eq!(values(&many["results"][1], "references", "kind"), ["import", "call"]);
    assert_eq!(many["results"][2]["not_found"], json!(["h"]));
}

#[test]
fn a_group_that_is_too_large_leaves_the_others_to_the_next_page() {
    let users: String = (0..40).map(|n| format!("--- user_{n}.py\nimport a\nimport b\n")).collect();
    let project = format!("--- a.py\nx = 1\n--- b.py\ny = 1\n{users}");
    let (cx, folder) = indexed(&project);
    let root = folder.path().join("project");
    let args = json!({"file_paths": ["a.py", "b.py"], "max_tokens": 1500});
    let first = call(&cx, &root, "find_importers", args.clone());
    assert_eq!(values(&first, "results", "file_path"), ["a.py"]);
    let mut next = args;
    next["cursor"] = first["next_cursor"].clone();
    let second = call(&cx, &root, "find_importers", next);
    assert_eq!(values(&second, "results", "file_path"), ["b.py"]);
}

#[test]
fn a_decorator_is_a_use_by_what_it_decorates() {
    let project = "--- a.py
def exempt(f): return f
def route(path): return exempt
class View:
    @exempt
    def post(self): return exempt
@route('/page')
@exempt
def page(): ...
--- src/shop/Cart.java
package shop;
@interface Checked {}
class Cart {
    @Checked
    void pay() {}
}
";
    let uses = |name: &str| {
        let answer = ask(project, "find_references", json!({"identifier": name}));
        let item =
            |item: &Value| format!("{} {}", item["kind"].as_str().unwrap_or(""), item["in"].as_str().unwrap_or(""));
        answer["references"].as_array().expect("a list").iter().map(item).collect::<Vec<_>>()
    };
    assert_eq!(uses("exempt"), ["reference route", "decorator View.post", "reference View.post", "decorator page"]);
    assert_eq!(uses("route"), ["decorator page"]);
    assert_eq!(uses("Checked"), ["decorator Cart.pay"]);
}

#[test]
fn an_outline_folds_what_a_class_holds_into_it() {
    let project = "--- a.py
class Box:
    size: int = 3
    lid = None

    def __init__(self):
        self.open = False

    def shut(self):
        \"Shuts it.\"
LIMIT = 3
--- a.go
package a

type Box struct {
\tSize int
\tLid  *Lid `json:\"lid\"`
}
";
    let answer = ask(project, "get_file_outline", json!({"file_path": "a.py"}));
    assert_eq!(values(&answer, "symbols", "name"), ["Box", "LIMIT"]);
    assert_eq!(values(&answer["symbols"][0], "children", "name"), ["__init__", "shut"]);
    let attributes = answer["symbols"][0]["attributes"].as_array().expect("attributes");
    assert_eq!(attributes.len(), 3, "{answer}");
    for symbol in [&answer["symbols"][0], &answer["symbols"][0]["children"][1]] {
        assert!(["kind", "signature", "id"].iter().all(|key| symbol[key].is_string()), "{symbol}");
    }
    let compact = indexed_text(project, "get_file_outline", json!({"file_path": "a.go", "format": "compact"}));
    assert!(compact.contains("Box struct") && compact.contains("Size") && compact.lines().count() < 9, "{compact}");
}

/// An answer as text.
fn indexed_text(project: &str, tool: &str, args: Value) -> String {
    let (cx, folder) = indexed(project);
    let args = args.as_object().expect("an object").clone();
    let directory = Some(folder.path().join("project"));
    let request = codelode::tools::Request { directory, ..codelode::tools::Request::default() };
    codelode::tools::call(&cx, tool, args, &request).text
}

#[test]
fn an_outline_is_a_quarter_of_its_file() {
    let tokenizer = tiktoken_rs::cl100k_base().expect("it is part of the crate");
    let method = |n: usize| {
        format!(
            "    def handle_{n}(self, request, response, *, timeout=30, retries=3, backoff=None):\n        \"Handles \
             event number {n} of a connection and passes on what is left of it to the next one in line.\"\n        \
             for attempt in range(retries):\n            answer = self.client.send(request, timeout=timeout)\n            \
             if answer.status == {n}:\n                return response.extended(answer)\n            \
             self.sleep(backoff or attempt * {n})\n        raise TimeoutError(request.path)\n\n"
        )
    };
    let file: String = (0..60).map(method).collect();
    let file = format!("class Server:\n{file}");
    let project = format!("--- a.py\n{file}");
    let compact = indexed_text(&project, "get_file_outline", json!({"file_path": "a.py", "format": "compact"}));
    let count = |text: &str| tokenizer.encode_ordinary(text).len();
    assert!(count(&compact) * 4 <= count(&file), "{} of {}: {compact}", count(&compact), count(&file));
    assert_eq!(compact.matches(" method ").count(), 0, "`def` says so");
    assert_eq!(compact.matches("def handle_").count(), 60);
}

#[test]
fn an_outline_says_nothing_twice() {
    let project = "--- a.ts
export class Box {
  \"from a to b\"() { return 1 }
}
class Lid {}
";
    let compact = indexed_text(project, "get_file_outline", json!({"file_path": "a.ts", "format": "compact"}));
    assert!(compact.ends_with("\n4 class Lid"), "{compact}");
    assert!(compact.starts_with("a.ts, 4 lines\n1-3 export class Box\n"), "{compact}");
}

#[test]
fn an_outline_of_declarations_alone_comes_in_pages_of_a_quarter() {
    let tokenizer = tiktoken_rs::cl100k_base().expect("it is part of the crate");
    let constants: String =
        (0..150).map(|n| format!("export const LIMIT_OF_{n}: number = 1_000_{n:03} * factor({n})\n")).collect();
    let (cx, folder) = indexed(&format!("--- a.ts\n{constants}"));
    let root = folder.path().join("project");
    let count = |text: &str| tokenizer.encode_ordinary(text).len();
    let (mut cursor, mut seen, mut first) = (Value::Null, 0, true);
    loop {
        let args = json!({"file_path": "a.ts", "cursor": cursor, "format": "compact"});
        let request = codelode::tools::Request { directory: Some(root.clone()), ..Default::default() };
        let page =
            codelode::tools::call(&cx, "get_file_outline", args.as_object().expect("an object").clone(), &request);
        assert!(count(&page.text) * 4 <= count(&constants), "{}", page.text);
        assert!(page.text.contains("LIMIT_OF_") && !page.text.contains("factor"), "{}", page.text);
        seen += page.value["symbols"].as_array().expect("symbols").len();
        assert!(!first || page.value["total"] == 150, "{}", page.text);
        first = false;
        cursor = page.value["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, 150);
}

#[test]
fn an_outline_of_a_large_file_comes_in_pages() {
    let doc = "把给定的数据写入缓存并返回它的长度，必要时先清空旧的内容";
    let method = |n: usize| format!("    def method_{n}(self):\n        \"{doc}{}\"\n", doc.repeat(n % 3));
    let methods: String = (0..200).map(method).collect();
    let project = format!("--- a.py\nclass Large:\n{methods}");
    let (cx, folder) = indexed(&project);
    let root = folder.path().join("project");
    for format in ["json", "compact"] {
        let (mut cursor, mut names, mut pages) = (Value::Null, Vec::new(), 0);
        loop {
            let args = json!({"file_path": "a.py", "max_tokens": 1500, "cursor": cursor, "format": format});
            let args = args.as_object().expect("an object").clone();
            let request = codelode::tools::Request { directory: Some(root.clone()), ..Default::default() };
            let page = codelode::tools::call(&cx, "get_file_outline", args, &request).value;
            assert!(page["shortened"].is_null(), "{page}");
            let mut waiting: Vec<&Value> = page["symbols"].as_array().expect("symbols").iter().collect();
            while let Some(symbol) = waiting.pop() {
                names.push(symbol["id"].as_str().expect("an id").to_owned());
                waiting.extend(symbol["children"].as_array().into_iter().flatten());
            }
            pages += 1;
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert!(pages > 1, "{format}");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 201, "{format}");
    }
    let count = call(&cx, &root, "get_file_outline", json!({"file_path": "a.py", "count_only": true}));
    assert_eq!(count["count"], 201);
}

#[test]
fn facts_of_a_symbol_are_there_when_they_are_asked_for() {
    let project = "--- a.py
class Cart:
    @staticmethod
    def total(items):
        \"\"\"Adds up.

        All of them.
        \"\"\"
        return sum(item for item in items if item)
";
    let (cx, folder) = indexed(project);
    let root = folder.path().join("project");
    let fields = json!([
        "docstring",
        "parent",
        "qualified_name",
        "detail",
        "language",
        "end_line",
        "byte_offset",
        "byte_length",
        "content_hash",
        "complexity",
        "keywords",
        "decorators",
    ]);
    let asked = [
        ("search_symbols", json!({"query": "total", "fields": fields}), "/results/0"),
        ("get_file_outline", json!({"file_path": "a.py", "fields": fields}), "/symbols/0/children/0"),
        ("get_symbol_source", json!({"symbol_id": "Cart.total", "fields": fields}), ""),
        ("get_ranked_context", json!({"query": "total", "fields": fields}), "/items/0"),
        ("get_context_bundle", json!({"symbol_id": "Cart.total", "fields": fields}), "/symbols/0"),
    ];
    for (tool, args, place) in asked {
        let answer = call(&cx, &root, tool, args);
        let symbol = answer.pointer(place).unwrap_or_else(|| panic!("{tool}: {answer}"));
        assert_eq!(symbol["docstring"], "Adds up.\n\nAll of them.", "{tool}");
        assert_eq!(symbol["parent"], "a.py::Cart#class", "{tool}");
        assert_eq!((&symbol["byte_offset"], &symbol["complexity"]), (&json!(16), &json!(3)), "{tool}: {symbol}");
        assert_eq!(symbol["keywords"], json!(["cart", "total"]), "{tool}");
        assert_eq!(symbol["decorators"], json!(["@staticmethod"]), "{tool}");
        assert_eq!(symbol["content_hash"].as_str().map(str::len), Some(64), "{tool}");
        assert!(
            ["qualified_name", "detail", "language", "end_line", "byte_length"]
                .iter()
                .all(|key| !symbol[key].is_null())
        );
    }
    let (cx, folder) = indexed(
        "--- a.py\nclass Cart:\n    def total(self): ...\n--- b.py\nfrom a import Cart\nclass Big(Cart):\n    @cached\n    def \
         total(self):\n        'Adds.'\n        return super().total()\ndef use(): return Big().total()\n",
    );
    let root = folder.path().join("project");
    for (tool, args, list) in [
        ("get_related_symbols", json!({"symbol_id": "a.py::Cart.total"}), "related"),
        ("find_implementations", json!({"symbol_id": "a.py::Cart.total"}), "implementations"),
        ("get_symbol_importance", json!({}), "ranked_symbols"),
        ("get_call_hierarchy", json!({"symbol_id": "use"}), "callees"),
    ] {
        let mut args = args;
        let bare = call(&cx, &root, tool, args.clone());
        args["fields"] = fields.clone();
        let answer = call(&cx, &root, tool, args);
        let of = |answer: &Value| {
            let mut items = answer[list].as_array().cloned().unwrap_or_default().into_iter();
            let is_it =
                |item: &Value| item["id"] == "b.py::Big.total#method" || item["symbol_id"] == "b.py::Big.total#method";
            items.find(is_it).unwrap_or_else(|| panic!("{tool}: {answer}"))
        };
        let symbol = of(&answer);
        assert_eq!(symbol["docstring"], "Adds.", "{tool}: {symbol}");
        assert_eq!(
            (&symbol["parent"], &symbol["decorators"]),
            (&json!("b.py::Big#class"), &json!(["@cached"])),
            "{tool}"
        );
        assert!(symbol["byte_offset"].is_u64() && symbol["complexity"].is_u64() && symbol["keywords"].is_array());
        assert!(of(&bare)["docstring"].is_null(), "{tool}: only when asked for");
    }
    let classes = call(&cx, &root, "get_class_hierarchy", json!({"class_name": "Cart", "fields": ["complexity"]}));
    assert!(classes["descendants"][0]["complexity"].is_u64() && classes["class"]["complexity"].is_u64(), "{classes}");
    let none = call(&cx, &root, "search_symbols", json!({"query": "total"}));
    assert!(none["results"][0]["docstring"].is_null() && none["results"][0]["parent"].is_null());
    let error = wrong(&cx, &root, "search_symbols", json!({"query": "total", "fields": ["docstrin"]}));
    assert!(error["error"].as_str().is_some_and(|text| text.contains("docstring")), "{error}");
}

#[test]
fn a_tree_is_within_its_budget_and_goes_on_in_pages() {
    let deep: String = (0..400)
        .map(|n| format!("--- packages/area_{}/module_{}/file_{n}.py\ndef f(): ...\n", n % 8, n % 40))
        .collect();
    let (cx, folder) = indexed(&deep);
    let root = folder.path().join("project");
    let tokenizer = tiktoken_rs::cl100k_base().expect("it is part of the crate");
    let tokens = |answer: &Value| tokenizer.encode_ordinary(&answer.to_string()).len();
    let tree = call(&cx, &root, "get_file_tree", json!({}));
    assert!(tokens(&tree) <= 2_000 && tree["depth"].is_u64(), "{}: {tree}", tokens(&tree));
    let whole = call(&cx, &root, "get_file_tree", json!({"max_depth": 9, "path_prefix": "packages/area_1"}));
    assert!(tokens(&whole) <= 2_000 && whole["depth"] == 1, "{}: {whole}", tokens(&whole));
    // A budget and a depth hold together.
    let args = json!({"max_depth": 9, "path_prefix": "packages/area_1", "max_tokens": 7_000});
    let whole = call(&cx, &root, "get_file_tree", args);
    assert!(whole["depth"].is_null() && whole["truncated"].is_null(), "{whole}");

    let flat: String = (0..300).map(|n| format!("--- number_{n}.py\ndef f(): ...\n")).collect();
    let (cx, folder) = indexed(&flat);
    let root = folder.path().join("project");
    let (mut cursor, mut paths) = (Value::Null, std::collections::BTreeSet::new());
    loop {
        let page = call(&cx, &root, "get_file_tree", json!({"cursor": cursor}));
        assert!(tokens(&page) <= 2_000, "{}", tokens(&page));
        paths.extend(values(&page, "tree", "path").into_iter().map(str::to_owned));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(paths.len(), 300);
}

#[test]
fn repositories_are_listed_with_their_names_and_version() {
    let project: String =
        ["a.py", "b.js", "c.go", "d.rs", "E.java"].iter().map(|file| format!("--- {file}\n\n")).collect();
    let project = format!("{project}--- f.py\n\n--- g.js\n\n--- h.go\n\n");
    let (cx, folder) = indexed(&project);
    let root = folder.path().join("project");
    let list = call(&cx, &root, "list_repos", json!({}));
    let one = &list["repos"][0];
    assert_eq!(one["display_name"], "project");
    assert!(one["index_version"].is_u64() && one["indexed_at"].is_string() && one["symbol_count"].is_u64(), "{one}");
    assert_eq!(one["languages"], json!({"go": 2, "javascript": 2, "python": 2}));
    let resolved = call(&cx, &root, "resolve_repo", json!({"path": root}));
    assert_eq!(resolved["languages"].as_object().map(serde_json::Map::len), Some(5), "{resolved}");
}

#[test]
fn ten_repositories_are_a_short_list() {
    let (cx, folder) = indexed("--- a.py\ndef f(): ...\n");
    let root = folder.path().join("project");
    for name in ["django", "flask", "requests", "axum", "tokio", "gson", "eslint", "vite", "gin"] {
        let other = folder.path().join(name);
        std::fs::create_dir(&other).expect("the folder is ours");
        std::fs::write(other.join("main.go"), "package main\n\nfunc main() {}\n").expect("the folder is ours");
        call(&cx, &root, "index_folder", json!({"path": other}));
    }
    let args = json!({"format": "compact"}).as_object().expect("an object").clone();
    let request = Request { directory: Some(root), ..Request::default() };
    let list = tools::call(&cx, "list_repos", args, &request).text;
    assert!(list.contains("django") && list.contains("{go:1}"), "{list}");
    let n_tokens = codelode::answer::tokens::estimate(&list);
    // The estimate is a tenth too high: these are some 285, by the ids that folders happen to get.
    assert!(n_tokens < 400, "{n_tokens}: {list}");
}

#[test]
fn syntax_errors_are_named_when_a_folder_is_indexed() {
    let nested = "mod a {".repeat(2_000) + &"}".repeat(2_000);
    let (cx, folder) = indexed(&format!(
        "--- good.py\ndef f(): ...\n--- bad.py\ndef g(: ...\n\ndef h(): ...\n--- nested.rs\n{nested}"
    ));
    let root = folder.path().join("project");
    let answer = call(&cx, &root, "index_folder", json!({"path": root}));
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("syntax errors in bad.py: ") && !warnings.contains("good.py"), "{answer}");
    assert!(
        warnings.contains("over a limit, so some symbols are missing: nested.rs"),
        "a text that is right: {answer}"
    );
    let outline = call(&cx, &root, "get_file_outline", json!({"file_path": "nested.rs"}));
    assert!(outline["is_cut"] == true && outline["has_errors"].is_null(), "{outline}");
    let file = call(&cx, &root, "index_file", json!({"path": root.join("bad.py")}));
    assert!(file["warnings"].to_string().contains("bad.py"), "{file}");
}

#[test]
fn mistaken_ranges_and_scopes_are_told() {
    let (cx, folder) =
        indexed("--- src/a.py\ndef f(): return f()\n--- tests/test_a.py\nfrom src.a import f\ndef test_f(): f()\n");
    let root = folder.path().join("project");
    let turned = json!({"file_path": "src/a.py", "start_line": 20, "end_line": 10});
    assert_eq!(wrong(&cx, &root, "get_file_content", turned)["code"], "invalid_arguments");
    let nowhere = wrong(&cx, &root, "get_symbol_importance", json!({"scope": "srcs"}));
    assert!(nowhere["error"].as_str().is_some_and(|error| error.contains("did you mean \"src\"")), "{nowhere}");
    let tests = wrong(&cx, &root, "get_symbol_importance", json!({"scope": "tests"}));
    assert!(tests["error"].as_str().is_some_and(|error| error.contains("only tests")), "{tests}");
    let found = call(&cx, &root, "search_symbols", json!({"query": "f"}));
    assert_eq!(found["_meta"]["symbol_count"], 2, "{found}");
}
