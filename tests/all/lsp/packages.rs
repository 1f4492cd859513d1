//! Names that lead into installed packages.

use std::fs;

use serde_json::{Value, json};

use super::editor::{Editor, one, position, shown, uri, usual, write};
use crate::packages::archive;

pub const PROJECT: &str = r#"
--- .venv/pyvenv.cfg
home = /nowhere/bin
--- .venv/lib/python3.11/site-packages/Shop_Lib-1.2.dist-info/RECORD
shoplib/__init__.py,sha256=x,10
shoplib/core.py,,
Shop_Lib-1.2.dist-info/RECORD,,
--- .venv/lib/python3.11/site-packages/shoplib/__init__.py
"""A shop."""
from .core import Client, connect
--- .venv/lib/python3.11/site-packages/shoplib/core.py
class Client:
    """Talks to the shop."""

    def order(self, what):
        return what


def connect() -> Client:
    """Opens a connection."""
    return Client()
--- .venv/lib/python3.11/site-packages/other.py
def unrelated():
    pass
--- app/main.py
import os
import shoplib
from shoplib import Client, connect as link


class Own(Client):
    pass


def run(client: Client):
    client.order("tea")
    link().order("milk")
    shoplib.connect()
    Own().order("oil")
    os.getcwd()
--- node_modules/tea/package.json
{"name": "tea", "version": "2.0.1", "main": "lib/tea.js"}
--- node_modules/tea/lib/tea.js
export function brew(leaf) { return leaf; }
--- web/view.js
import { brew } from 'tea';
import fs from 'fs';

brew(fs);
"#;

const CORE: &str = ".venv/lib/python3.11/site-packages/shoplib/core.py";

/// The symbols of a file; null for one that is not known.
fn symbols(editor: &mut Editor, uri: &str) -> Value {
    editor.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}))
}

#[test]
fn a_name_leads_to_its_definition_in_a_package() {
    let mut editor = Editor::open(PROJECT);
    let mut check = |path: &str, text: &str, nth: usize, expected: &[&str]| {
        let found = editor.at("textDocument/definition", path, text, nth);
        assert_eq!(shown(&found), expected, "{text} {nth}");
    };
    let (client, order, connect) = (format!("{CORE}:1:7"), format!("{CORE}:4:9"), format!("{CORE}:8:5"));
    let module = CORE.replace("core.py", "__init__.py:1:1");
    check("app/main.py", "Client", 0, &[&client]);
    check("app/main.py", "Client", 1, &[&client]);
    check("app/main.py", "order", 0, &[&order]);
    check("app/main.py", "order", 1, &[&order]);
    check("app/main.py", "order", 2, &[&order]);
    check("app/main.py", "link()", 0, &[&connect]);
    check("app/main.py", "connect()", 0, &[&connect]);
    check("app/main.py", "shoplib", 0, &[&module]);
    check("app/main.py", "Own()", 0, &["app/main.py:6:7"]);
    check("app/main.py", "getcwd", 0, &[]);
    check("web/view.js", "brew", 1, &["node_modules/tea/lib/tea.js:1:17"]);
    check("web/view.js", "fs", 2, &[]);
    assert_eq!(editor.close(), Some(0));
}

#[test]
fn a_package_tells_of_its_names_and_leads_on() {
    let mut editor = Editor::open(PROJECT);
    let hover = editor.at("textDocument/hover", "app/main.py", "link()", 0);
    let text = hover["contents"]["value"].as_str().expect("it says something");
    assert!(text.contains("def connect() -> Client") && text.contains("Opens a connection."), "{text}");
    assert!(text.contains("`shoplib/core.py:8` · pypi:shop-lib@1.2~"), "{text}");
    // The editor opens the file that it was led to.
    let found = editor.at("textDocument/definition", CORE, "Client:", 1);
    assert_eq!(shown(&found), [format!("{CORE}:1:7")]);
    let core = editor.uri(CORE);
    assert_eq!(symbols(&mut editor, &core).as_array().map(Vec::len), Some(2));
    // A name that no package holds stays unknown, and a package is no part of the project.
    let other = editor.uri(".venv/lib/python3.11/site-packages/other.py");
    assert_eq!(symbols(&mut editor, &other), Value::Null);
    let found = editor.ask("workspace/symbol", json!({"query": "connect"}));
    assert!(
        found.as_array().is_none_or(|found| found.iter().all(|symbol| !one(symbol).contains("shoplib"))),
        "{found}"
    );
    assert_eq!(editor.close(), Some(0));
}

/// A project whose packages have packages of their own, some of them in other versions than the newest.
const DEEP: &str = r#"
--- project/.venv/pyvenv.cfg
home = /nowhere/bin
--- project/.venv/lib/python3.11/site-packages/first-1.dist-info/RECORD
first/__init__.py,,
--- project/.venv/lib/python3.11/site-packages/first/__init__.py
from second import ready
def start(): return ready()
--- project/.venv/lib/python3.11/site-packages/second-2.dist-info/RECORD
second.py,,
--- project/.venv/lib/python3.11/site-packages/second.py
from third import go
def ready(): return go()
--- project/.venv/lib/python3.11/site-packages/third-3.dist-info/RECORD
third.py,,
--- project/.venv/lib/python3.11/site-packages/third.py
def go(): pass
--- project/app.py
from first import start
start()
--- project/node_modules/first/package.json
{"name": "first", "version": "1.0.0", "main": "index.js"}
--- project/node_modules/first/index.js
import { ready } from 'second';
export function start() { return ready(); }
--- project/node_modules/first/node_modules/second/package.json
{"name": "second", "version": "2.0.0", "main": "index.js"}
--- project/node_modules/first/node_modules/second/index.js
export function ready() {}
--- project/node_modules/second/package.json
{"name": "second", "version": "3.0.0", "main": "index.js"}
--- project/node_modules/second/index.js
export function ready() {}
--- project/view.js
import { start } from 'first';
start();
--- cargo/registry/src/an-index/first-1.0.0/Cargo.toml
[package]
name = "first"
version = "1.0.0"
--- cargo/registry/src/an-index/first-1.0.0/src/lib.rs
use second::ready;
pub fn start() { ready() }
--- cargo/registry/src/an-index/second-2.0.0/Cargo.toml
[package]
name = "second"
version = "2.0.0"
--- cargo/registry/src/an-index/second-2.0.0/src/lib.rs
pub fn ready() {}
--- cargo/registry/src/an-index/second-3.0.0/Cargo.toml
[package]
name = "second"
version = "3.0.0"
--- cargo/registry/src/an-index/second-3.0.0/src/lib.rs
pub fn ready() {}
--- project/Cargo.lock
[[package]]
name = "shop"
version = "0.1.0"
dependencies = ["first", "second 3.0.0"]

[[package]]
name = "first"
version = "1.0.0"
source = "registry+https://example.org"
dependencies = ["second 2.0.0"]

[[package]]
name = "second"
version = "2.0.0"
source = "registry+https://example.org"

[[package]]
name = "second"
version = "3.0.0"
source = "registry+https://example.org"
--- project/Cargo.toml
[package]
name = "shop"
version = "0.1.0"
--- project/src/lib.rs
use first::start;
pub fn shop() { start() }
--- go/example.org/first@v1.0.0/go.mod
module example.org/first
--- go/example.org/first@v1.0.0/first.go
package first

import "example.org/second"

func Start() { second.Ready() }
--- go/example.org/second@v2.0.0/go.mod
module example.org/second
--- go/example.org/second@v2.0.0/second.go
package second

func Ready() {}
--- project/go.mod
module example.org/shop

require (
	example.org/first v1.0.0
	example.org/second v2.0.0 // indirect
)
--- project/main.go
package main

import "example.org/first"

func main() { first.Start() }
--- gradle/caches/modules-2/files-2.1/org.example/first/1.0/ff/first-1.0.pom
<project><dependencies><dependency><groupId>org.example</groupId><artifactId>second</artifactId>
<version>2.0</version></dependency></dependencies></project>
--- project/build.gradle
dependencies { implementation 'org.example:first:1.0' }
--- project/src/main/java/Shop.java
import org.example.first.First;

class Shop { void run(First first) { first.start(); } }
"#;

#[test]
fn a_package_leads_on_into_packages_of_its_own() {
    let folder = tempfile::tempdir().expect("there is room");
    write(DEEP, folder.path());
    for (name, text) in [
        (
            "first",
            "package org.example.first;\nimport org.example.second.Second;\npublic class First {\n  public void start() { new Second().ready(); }\n}\n",
        ),
        // The build has settled on a newer one than the first asks for.
        ("second", "package org.example.second;\npublic class Second {\n  public void ready() {}\n}\n"),
    ] {
        let version = if name == "first" { "1.0" } else { "2.1" };
        let place = folder.path().join(format!("gradle/caches/modules-2/files-2.1/org.example/{name}/{version}/0a"));
        let class = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        fs::create_dir_all(&place).expect("it is ours");
        let packed = archive(&format!("org/example/{name}/{class}.java"), text);
        fs::write(place.join(format!("{name}-{version}-sources.jar")), packed).expect("it is ours");
    }
    let mut editor = Editor::of(folder);
    editor.begin(usual(), Value::Null);
    let mut follow = |from: &str, names: &[&str], last: &str| {
        let mut at = editor.uri(from);
        for name in names {
            let path = at.strip_prefix("file://").expect("it is a file");
            let source = fs::read_to_string(path).expect("it is there");
            let nth = source.matches(name).count() - 1;
            let params = json!({"textDocument": {"uri": at}, "position": position(&source, name, nth)});
            let found = editor.ask("textDocument/definition", params);
            let [location] = found.as_array().map(Vec::as_slice).unwrap_or_default() else {
                panic!("{name} in {at} leads to one place: {found}")
            };
            at = location["uri"].as_str().expect("it has one").to_owned();
        }
        assert!(at.ends_with(last), "{from} leads to {at}");
    };
    follow("app.py", &["start", "ready", "go"], "/site-packages/third.py");
    follow("view.js", &["start", "ready"], "/node_modules/first/node_modules/second/index.js");
    follow("src/lib.rs", &["start", "ready"], "/second-2.0.0/src/lib.rs");
    follow("main.go", &["Start", "Ready"], "/second@v2.0.0/second.go");
    follow("src/main/java/Shop.java", &["start", "ready"], "/org/example/second/Second.java");
    // A file of a package that nobody was led to leads nowhere.
    let other = uri(&editor.root().join("node_modules/second/index.js"));
    assert_eq!(symbols(&mut editor, &other), Value::Null);
    assert_eq!(editor.close(), Some(0));
}
