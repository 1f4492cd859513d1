//! Definitions that others can use: those who install the package, read its documentation or its list of changes, and files
//! that the index leaves out.

use serde_json::json;

use super::{answer, dead};

#[test]
fn a_package_offers_what_it_documents() {
    let project = |doc: &str, setup: &str| {
        format!(
            "{setup}--- shop/__init__.py
from .cart import sums
sums()
--- shop/cart.py
def sums(): pass
def spare(items):
    \"\"\"{doc}\"\"\"
"
        )
    };
    let setup = "--- setup.py\nfrom setuptools import setup\nsetup(name='shop', packages=['shop'])\n";
    let doc = "Tells which of some items are left.";
    assert_eq!(dead(&project(doc, setup)), ["spare 0.6"]);
    assert_eq!(dead(&project("The rest.", setup)), ["spare 0.8"]);
}

#[test]
fn what_an_interface_lists_is_demanded() {
    let project = |listed: &str| {
        format!(
            "--- go.mod
module shop
--- main.go
package main

type event interface {{
	Name() string
	Size() int
	{listed}
}}

type base string

func (b base) Name() string {{ return string(b) }}

func (b *base) sealed(k int) {{}}

type opened struct {{ base }}

func (o *opened) Size() int {{ return 1 }}

func main() {{ var own event = &opened{{}}; own.Name(); own.Size() }}
"
        )
    };
    assert_eq!(dead(&project("")), ["base.sealed 1.0"]);
    assert!(dead(&project("sealed(int)")).iter().all(|own| !own.starts_with("base.sealed 1") && !own.ends_with("0.8")));
}

#[test]
fn a_pattern_of_exports_opens_files() {
    let project = |exports: &str, private: &str| {
        format!(
            "--- package.json
{{\"name\": \"shop\", {private}\"main\": \"src/index.ts\", \"exports\": {{\".\": \"./dist/index.js\"{exports}}}}}
--- src/index.ts
import {{ open }} from './cart';
export const own = open();
--- src/cart.ts
export function open() {{ return 1; }}
export function spare() {{ return 2; }}
"
        )
    };
    assert_eq!(dead(&project("", "")), ["spare 0.8"]);
    let open = ", \"./*\": {\"import\": \"./dist/*.js\"}";
    assert_eq!(dead(&project(open, "")), ["spare 0.6"]);
    let private = "\"private\": true, ";
    assert_eq!(dead(&project(open, private)), ["spare 0.6"]);
    assert_eq!(dead(&project(", \"./*\": \"./src/*.ts\"", private)), ["spare 0.8"]);
    assert_eq!(dead(&project(", \"./*\": null", "")), ["spare 0.8"]);
    // Only what is built bears the name of the pattern.
    assert_eq!(dead(&project(", \"./esm/*\": {\"import\": \"./esm/*.js\"}", "")), ["spare 0.6"]);
    assert_eq!(dead(&project(", \"./esm/*\": \"./esm/*.css\"", "")), ["spare 0.8"]);
    assert_eq!(dead(&project(", \"./internal/*\": \"./esm/*.js\"", "")), ["spare 0.8"]);
}

#[test]
fn a_mark_on_a_name_hides_little_of_a_package() {
    let project = |setup: &str| {
        format!(
            "{setup}--- shop/__init__.py
from .cart import sums
sums()
--- shop/cart.py
class Cart:
    def go(self): pass
    def _left(self): pass
    def __own(self): pass
def sums():
    def spare(): pass
    Cart().go()
def _lost(): pass
"
        )
    };
    assert_eq!(dead(&project("")), ["Cart._left 1.0", "Cart.__own 1.0", "sums.spare 1.0", "_lost 1.0"]);
    let setup = "--- setup.py\nfrom setuptools import setup\nsetup(name='shop', packages=['shop'])\n";
    assert_eq!(dead(&project(setup)), ["Cart.__own 1.0", "sums.spare 1.0", "Cart._left 0.8", "_lost 0.8"]);
    let answer = answer(&project(setup), json!({"min_confidence": 0.8}));
    let reason = "no use is known, but only its name hides it from those who install its package";
    assert_eq!(answer["dead_symbols"][3]["reason"], reason);
}

#[test]
fn a_package_that_tests_its_parts_may_have_them_used_by_others() {
    let project = |setup: &str| {
        format!(
            "{setup}--- shop/__init__.py
from .cart import sums
sums()
--- shop/cart.py
def sums(): pass
def _counted(a): return a
--- shop/test_cart.py
from shop.cart import _counted
def test_counted(): assert _counted(1) == 1
"
        )
    };
    assert_eq!(dead(&project("")), ["_counted 0.9"]);
    let setup = "--- setup.py\nfrom setuptools import setup\nsetup(name='shop', packages=['shop'])\n";
    assert_eq!(dead(&project(setup)), ["_counted 0.6"]);
}

#[test]
fn a_base_beside_a_class_may_call_what_has_a_mark() {
    let project = |bases: &str| {
        format!(
            "--- setup.py
from setuptools import setup
setup(name='shop', packages=['shop'])
--- shop/__init__.py
from framework import Base
class _Linked:
    def _link_text(self): pass
class Page({bases}): pass
print(Page())
"
        )
    };
    assert_eq!(dead(&project("_Linked")), ["_Linked._link_text 0.8"]);
    assert_eq!(dead(&project("_Linked, Base")), ["_Linked._link_text 0.6"]);
}

#[test]
fn a_list_of_changes_tells_others_of_a_member() {
    let project = |change: &str| {
        format!(
            "--- CHANGES.md
{change}
--- src/Main.java
public class Main {{
  public static void main(String[] args) {{ new Cart().open(); }}
}}
class Cart {{
  void open() {{}}
  public void takeBack(int a) {{}}
}}
"
        )
    };
    assert_eq!(dead(&project("`Other.takeBack` is faster")), ["Cart.takeBack 0.8"]);
    assert_eq!(dead(&project("`Cart.takeBack()` is faster")), ["Cart.takeBack 0.6"]);
}

#[test]
fn a_file_of_which_others_use_the_rest_is_theirs() {
    let project = |count: usize| {
        let defined: String = (0..count).map(|at| format!("def ask{at}(): pass\n")).collect();
        let tested: String = (0..count).map(|at| format!("def test_ask{at}(): samr.ask{at}()\n")).collect();
        format!(
            "--- setup.py
from setuptools import setup
setup(name='shop', packages=['shop'])
--- shop/__init__.py
from . import samr
samr.used()
--- shop/samr.py
def used(): pass
{defined}def spare(): pass
--- tests/test_samr.py
from shop import samr
{tested}"
        )
    };
    let spare = |project: &str| dead(project).into_iter().filter(|one| one.starts_with("spare")).collect::<Vec<_>>();
    assert_eq!(spare(&project(5)), ["spare 0.8"]);
    assert_eq!(spare(&project(6)), ["spare 0.6"]);
}

#[test]
fn a_registry_for_sources_names_the_entries_of_a_package() {
    let project = |manifest: &str| {
        format!(
            "--- package.json
{{\"name\": \"shop\", \"main\": \"src/index.ts\"}}
{manifest}--- src/index.ts
import {{ open }} from './cart';
export const own = open();
--- src/cart.ts
export function open() {{ return 1; }}
export function spare() {{ return 2; }}
"
        )
    };
    assert_eq!(dead(&project("")), ["spare 0.8"]);
    let manifest = "--- jsr.json\n{\"name\": \"@shop/shop\", \"exports\": {\"./cart\": \"./src/cart.ts\"}}\n";
    assert_eq!(dead(&project(manifest)), [""; 0]);
}

#[test]
fn an_entry_offers_the_files_that_it_gives_on_as_one_object() {
    let project = |given: &str| {
        format!(
            "--- package.json
{{\"name\": \"shop\", \"main\": \"index.ts\"}}
--- index.ts
import * as core from './core'
export {{ {given} }}
export const own = core.open();
--- core.ts
export * from './cart'
--- cart.ts
export function open() {{ return 1; }}
export function spare() {{ return 2; }}
"
        )
    };
    let is_spare = |project: &str| dead(project).iter().any(|one| one == "spare 0.8");
    assert_eq!((is_spare(&project("")), is_spare(&project("core"))), (true, false));
}

#[test]
fn scripts_of_others_find_what_a_page_gives_to_all() {
    let project = |line: &str| {
        format!(
            "--- main.js
import * as Shop from './shop';
{line}
Shop.open();
--- shop.js
export * from './cart';
--- cart.js
export function open() {{ return 1; }}
export function spare() {{ return 2; }}
"
        )
    };
    assert_eq!(dead(&project("")), ["spare 0.8"]);
    assert_eq!(dead(&project("window.Shop = Shop;")), [""; 0]);
}
