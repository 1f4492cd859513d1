//! Members that unknown code may call: it gets their class, looks them up by name, or has made their type.

use super::dead;

#[test]
fn a_class_that_unknown_code_gets_may_have_its_methods_called() {
    let project = "--- app.py
from framework import register
class Quoted:
    def to_url(self, value): return value
class Plain:
    def idle(self): return 1
register(Quoted, 'quoted')
isinstance(1, Plain)
";
    assert_eq!(dead(project), ["Plain.idle 0.6"]);
}

#[test]
fn a_class_that_looks_up_its_members_reaches_private_ones() {
    let project = "--- package.json
{\"private\": true}
--- convert.ts
export class Convert {
  static page(item: any) { return (this as any).children(item) + this[item.type](item); }
  private static callout(item: any) { return item; }
}
export class Plain {
  static page(item: any) { return item; }
  private static idle(item: any) { return item; }
}
--- index.ts
import { Convert, Plain } from './convert';
console.log(Convert.page({}), Plain.page({}));
";
    assert_eq!(dead(project), ["Plain.idle 1.0"]);
}

#[test]
fn methods_belong_to_their_type_wherever_it_is_and_whatever_made_it() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/lib.rs
pub mod form;
mod deep;
pub struct Basket(u8);
macro_rules! kinds { ($($name:ident),*) => { pub enum Made { $($name),* } } }
kinds!(A, B);
impl Made { fn idle(&self) {} }
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
    assert_eq!(dead(project), ["Own.spare 1.0", "Made.idle 0.5"]);
}

#[test]
fn a_module_that_only_imports_hands_on_what_it_does_not_name() {
    let project = |own: &str| {
        format!(
            "--- pyproject.toml
[project]
name = \"shop\"
--- shop/__init__.py
--- shop/net.py
import shop.all

def interfaces():
    return 1

shop.all.start()
--- shop/all.py
from shop.net import *
from shop.run import *
{own}--- shop/run.py
def start():
    return 2

def _forgotten():
    return 3
"
        )
    };
    assert_eq!(dead(&project("")), ["_forgotten 0.8"]);
    assert_eq!(dead(&project("\ndef own():\n    return start()\n\nown()\n")), ["interfaces 0.8", "_forgotten 0.8"]);
}

#[test]
fn documentation_says_what_calls_a_definition() {
    let project = |doc: &str| {
        format!(
            "--- pyproject.toml\n[project]\nname = \"shop\"\n--- shop/__init__.py\n--- shop/__main__.py\nfrom shop.run import start\n\nstart()\n--- shop/run.py\ndef start():\n    return 2\n\ndef _closed(one):\n    \"\"\"{doc}\"\"\"\n    return one\n"
        )
    };
    assert_eq!(dead(&project("Counts down.")), ["_closed 0.8"]);
    assert_eq!(dead(&project("Called by SocketIO when it is closed.")), ["_closed 0.6"]);
    assert_eq!(dead(&project("Don't remove! Useful to look at.")), ["_closed 0.6"]);
}

#[test]
fn words_of_a_definition_say_who_may_call_it() {
    let project = |words: &str| {
        format!(
            "--- pom.xml\n<project><artifactId>shop</artifactId></project>\n--- src/main/java/shop/Main.java\npackage shop;\n\npublic class Main {{\n    public static void main(String[] args) {{ System.out.println(1); }}\n\n    {words}\n}}\n"
        )
    };
    assert_eq!(dead(&project("private static int spare() { return 1; }")), ["Main.spare 1.0"]);
    assert_eq!(dead(&project("private static native int spare();")), ["Main.spare 0.6"]);
    let public = dead(&project("public static int spare() { return 1; }"));
    assert_eq!(dead(&project("public/* for now */ static int spare() { return 1; }")), public);
}

#[test]
fn a_module_that_is_handed_on_has_its_functions_used() {
    let project = |given: &str| {
        format!(
            "--- pyproject.toml
[project]
name = \"shop\"
--- shop/plugins/__init__.py
def register(*plugins):
    return [getattr(plugin, name) for plugin in plugins for name in plugin.NAMES]
--- shop/plugins/html.py
NAMES = []

def show_cart():
    return 1
--- shop/__main__.py
from shop.plugins import (
    html,
    register,
)

{given}
"
        )
    };
    assert_eq!(dead(&project("register(html)")), [""; 0]);
    assert_eq!(dead(&project("register(\n    html,\n)")), [""; 0]);
    assert_eq!(dead(&project("register(html.NAMES)")), ["show_cart 0.8"]);
    assert_eq!(dead(&project("def run(html):\n    register(html)\n\n\nrun(1)")), ["show_cart 0.8"]);
}
