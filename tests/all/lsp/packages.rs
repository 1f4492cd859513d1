//! Names that lead into installed packages.

use serde_json::json;

use super::editor::{Editor, one, shown};

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
    assert!(text.ends_with("`shoplib/core.py:8` · pypi:shop-lib@1.2"), "{text}");
    // The editor opens the file that it was led to.
    let found = editor.at("textDocument/definition", CORE, "Client:", 1);
    assert_eq!(shown(&found), [format!("{CORE}:1:7")]);
    let symbols = editor.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": editor.uri(CORE)}}));
    assert_eq!(symbols.as_array().map(Vec::len), Some(2), "{symbols}");
    // What no package holds stays unknown, and a package is no part of the project.
    let other = editor.uri(".venv/lib/python3.11/site-packages/other.py");
    let symbols = editor.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": other}}));
    assert!(symbols.is_null(), "{symbols}");
    let found = editor.ask("workspace/symbol", json!({"query": "connect"}));
    assert!(
        found.as_array().is_none_or(|found| found.iter().all(|symbol| !one(symbol).contains("shoplib"))),
        "{found}"
    );
    assert_eq!(editor.close(), Some(0));
}
