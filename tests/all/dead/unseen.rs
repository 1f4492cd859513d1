//! Uses that only show on code nobody tuned for: definitions that are there to be compiled, packages of one repository
//! that import each other's built files.

use super::dead;

#[test]
fn what_is_there_to_be_compiled_is_not_surely_dead() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/lib.rs
pub trait Filter { fn pass(&self) -> bool; }
fn _assert_object_safe(_filter: &dyn Filter) {}
/// Only here to satisfy a linker.
fn linked() {}
fn spare(_filter: &dyn Filter) {}
";
    assert_eq!(dead(project), ["spare 1.0", "_assert_object_safe 0.6", "linked 0.6"]);
}

#[test]
fn a_package_of_the_repository_is_found_by_its_built_files() {
    let project = "--- packages/client/package.json
{\"name\": \"@shop/client\", \"main\": \"./dist/index.js\"}
--- packages/client/index.ts
import { own } from './lib/parts/replies';
export const made = own();
--- packages/client/lib/parts/replies.ts
export function own() { return 1; }
export function isList(reply: unknown) { return !!reply; }
export function spare() { return 2; }
--- packages/json/package.json
{\"name\": \"@shop/json\", \"main\": \"./dist/index.js\", \"dependencies\": {\"@shop/client\": \"*\"}}
--- packages/json/index.ts
import { isList } from '@shop/client/dist/lib/parts/replies';
export const listed = isList(1);
";
    assert_eq!(dead(project), ["spare 0.8"]);
}

#[test]
fn a_module_that_is_handed_on_as_an_object_gives_all_it_exports() {
    let project = "--- package.json
{\"name\": \"shop\", \"main\": \"./index.ts\"}
--- index.ts
import * as lists from './lists';
import * as plain from './plain';
class Shop {}
Object.assign(Shop.prototype, lists);
plain.used();
new Shop();
--- lists.ts
export function listAll(this: any) { return 1; }
function hidden() { return 2; }
--- plain.ts
export function used() { return 1; }
export function spare() { return 2; }
";
    assert_eq!(dead(project), ["hidden 1.0", "spare 0.8"]);
    let required = project.replace("import * as lists from './lists'", "const lists = require('./lists')");
    assert_eq!(dead(&required), ["hidden 1.0", "spare 0.8"]);
    let looked_up = project.replace("Object.assign(Shop.prototype, lists)", "(lists as any)['x']; lists[name]()");
    assert_eq!(dead(&looked_up), ["hidden 1.0", "spare 0.8"]);
}

#[test]
fn a_member_that_no_class_has_may_be_a_function_that_it_was_given() {
    let project = "--- package.json
{\"name\": \"shop\", \"main\": \"./index.ts\"}
--- index.ts
import { list } from './lists';
list.call(1);
--- lists.ts
export class Own { show() { return (this as Own).findByName(); } }
export function list() { return new Own().show(); }
export function findByName() { return 1; }
export function findByKind() { return 2; }
/** @knipignore A build needs it. */
export interface Reference { a: number }
";
    assert_eq!(dead(project), ["findByKind 0.8", "findByName 0.6", "Reference 0.6"]);
}

#[test]
fn packages_that_others_import_may_lie_in_a_folder_of_their_name() {
    let project = "--- bots/setup.py
from setuptools import setup
--- bots/bots/__init__.py
--- bots/bots/finder.py
def by_name():
    return 1
def by_registry():
    return 2
def spare():
    return 3
--- bots/bots/run.py
from bots import finder
def main():
    finder.by_name()
if __name__ == '__main__':
    main()
--- server/setup.py
from setuptools import setup
--- server/server/__init__.py
--- server/server/serve.py
from bots.finder import by_registry
if __name__ == '__main__':
    by_registry()
";
    assert_eq!(dead(project), ["spare 0.8"]);
}

#[test]
fn a_package_whose_name_begins_with_main_is_no_program() {
    let project = "--- go.mod
module example.org/shop
--- shop.go
package shop

import \"example.org/shop/maintenance\"

func Open() { maintenance.Run() }
--- maintenance/run.go
package maintenance

func Run() {}

func IsOwned() bool { return true }
";
    assert_eq!(dead(project), [""; 0]);
}

#[test]
fn public_methods_of_a_hidden_base_are_those_of_its_public_class() {
    let project = "--- src/main/java/Node.java
abstract class AbstractNode {
    public boolean isDistinct() { return true; }
    boolean idle() { return true; }
}
--- src/main/java/Select.java
public class Select extends AbstractNode {
    public int count() { return 1; }
}
--- src/main/java/Hidden.java
class Hidden {
    public boolean spare() { return true; }
    boolean used() { return true; }
}
--- src/main/java/Main.java
public class Main {
    public static void main(String[] args) { new Hidden().used(); new Select().count(); }
}
";
    assert_eq!(dead(project), ["Hidden.spare 0.8", "AbstractNode.idle 0.8"]);
}

#[test]
fn what_helps_tests_says_so_by_its_folder_or_a_comment() {
    let project = "--- go.mod
module example.org/shop
--- main.go
package main

import \"example.org/shop/internal/cart\"

func main() { cart.Open() }
--- internal/cart/cart.go
package cart

func Open() {}

// test only
func Offsets() int { return 1 }

// Totalled is known to the estimate.
func Totalled() int { return 1 }
--- internal/cart/cart_test.go
package cart_test

import (
	\"testing\"

	\"example.org/shop/internal/cart\"
	\"example.org/shop/internal/mockfs\"
)

func TestOffsets(t *testing.T) { cart.Offsets(); cart.Totalled(); mockfs.NewFile(); mockfs.NewTree() }
--- internal/mockfs/mockfs.go
package mockfs

func NewFile() int { return 1 }

func NewTree() int { return NewFile() }
";
    assert_eq!(dead(project), ["Totalled 0.9"]);
}

#[test]
fn a_build_chooses_modules_in_a_macro() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
cfg_select! {
    target_os = \"linux\" => {
        mod linux;
        use linux::*;
    }
    _ => {
        mod other;
        use other::*;
    }
}
other_macro! { mod made; use made::*; }
fn main() { partitions(); unheard(); }
--- src/linux.rs
pub(crate) fn partitions() -> u8 { 1 }
pub(crate) fn spare() -> u8 { 1 }
--- src/other.rs
mod disk;
pub(crate) use disk::*;
--- src/other/disk.rs
pub(crate) fn partitions() -> u8 { 2 }
--- src/apart.rs
pub(crate) fn unheard() -> u8 { 3 }
";
    assert_eq!(dead(project), ["spare 1.0"]);
    let arms = "target_os = \"linux\" => {
        mod linux;
        use linux::*;
    }
    _ => {";
    let branches = arms.replace("target_os = \"linux\" =>", "if #[cfg(unix)]").replace("_ => {", "else {");
    let chosen = project.replace("cfg_select! {", "cfg_if::cfg_if! {").replace(arms, &branches);
    assert_eq!(dead(&chosen), ["spare 1.0"]);
}

#[test]
fn a_setting_is_read_by_its_name() {
    let project = "--- setup.py
from setuptools import setup
--- shop/__init__.py
from . import settings
--- shop/settings.py
def TRACE_INIT(dsn):
    return dsn


def spare(dsn):
    return dsn
";
    assert_eq!(dead(project), ["spare 0.8"]);
}

#[test]
fn what_a_comment_ties_to_a_test_is_for_tests() {
    let project = "--- go.mod
module shop
--- cmd/main.go
package main
func main() {}
// This is only used in a test.
func count() int { return 1 }
// So each test starts from a clean slate.
func reset() {}
// Tests whether a number is even.
func even(n int) bool { return n%2 == 0 }
// show writes a result for snapshot testing.
func show() { shown() }
func shown() {}
func mustCount() int { return 1 }
// Only for internal test.
func forget() {}
--- cmd/main_test.go
package main
import \"testing\"
func TestAll(t *testing.T) { count(); reset(); even(2); show(); mustCount(); forget() }
";
    assert_eq!(dead(project), ["even 0.9", "mustCount 0.6"]);
}

#[test]
fn a_file_that_nobody_wrote_by_hand_is_not_judged() {
    let long = "var a=1;".repeat(600);
    let project = format!(
        "--- package.json
{{\"name\": \"shop\", \"main\": \"./index.ts\"}}
--- index.ts
import {{ used }} from './schema';
import {{ own }} from './own';
import './pressed';
used(); own();
--- schema.ts
/**
 * This file is auto-generated. Do not edit manually.
 */
export function used() {{ return 1; }}
export type hooks = Record<string, never>;
--- own.ts
export function own() {{ return 1; }}
function spare() {{ return 2; }}
--- pressed.js
import 'x';{long}function pressed(){{return 1}};{long}
"
    );
    assert_eq!(dead(&project), ["spare 1.0"]);
}

#[test]
fn a_file_is_loaded_where_it_says_so_or_has_a_class_for_a_loader() {
    let project = "--- shop/main.py
from shop.base import Command
def load():
    return [found() for found in Command.__subclasses__()]
if __name__ == '__main__':
    load()
def spare_of_script(): return 1
--- shop/base.py
class Command: pass
--- shop/commands/lists.py
from shop.base import Command
class Lists(Command): pass
def spare_of_plugin(): return 2
--- shop/commands/hooks.py
def asked_by_a_tool(): return 3
";
    assert_eq!(dead(project), ["spare_of_plugin 0.8", "spare_of_script 0.8", "asked_by_a_tool 0.6"]);
}

#[test]
fn a_condition_of_the_build_matters_where_it_chooses_among_two() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
#[cfg(unix)]
mod console;
#[cfg(feature = \"remote\")]
mod dist;
fn main() { show(); open() }
#[cfg(feature = \"remote\")]
fn open() { dist::open(); }
#[cfg(unix)]
fn show() { console::width(); }
#[cfg(windows)]
fn show() {}
--- src/console.rs
pub fn width() -> u8 { Screen.spare() + month() }
struct Screen;
impl Screen { fn spare(&self) -> u8 { 1 } }
fn spare() {}
#[cfg(feature = \"a\")]
fn chosen() {}
#[cfg(not(feature = \"a\"))]
fn chosen() {}
#[cfg(not(feature = \"words\"))]
mod plain {
    pub(crate) fn month() -> u8 { 1 }
}
#[cfg(not(feature = \"words\"))]
pub(crate) use plain::*;
#[cfg(feature = \"words\")]
mod worded {
    pub(crate) fn month() -> u8 { 2 }
}
#[cfg(feature = \"words\")]
pub(crate) use worded::*;
--- src/dist/mod.rs
pub fn open() {}
fn spare_of_module() {}
";
    assert_eq!(dead(project), ["spare_of_module 1.0", "spare 0.8", "chosen 0.6", "chosen 0.6"]);
}

#[test]
fn a_crate_is_a_library_wherever_its_root_is() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
[lib]
path = \"src/lib/mod.rs\"
--- src/main.rs
fn main() { shop::lists::used() }
--- src/lib/mod.rs
pub mod lists;
--- src/lib/lists.rs
pub fn used() {}
pub fn offered() {}
fn spare() {}
";
    assert_eq!(dead(project), ["spare 1.0"]);
}

#[test]
fn a_test_may_stand_beside_what_it_tests_and_a_comment_may_show_an_import() {
    let project = "--- shop/main.py
from shop.rules import Rule
if __name__ == '__main__':
    Rule()
--- shop/rules.py
class Rule: pass
def test_rule(): return 1
def testify(): return 2
def log_of_plugin():
    \"\"\"Gives plugins a log:

    from shop.rules import log_of_plugin
    \"\"\"
";
    assert_eq!(dead(project), ["testify 0.8", "test_rule 0.6", "log_of_plugin 0.6"]);
}

#[test]
fn containers_and_readers_of_data_call_members_of_java() {
    let project = "--- Main.java
class Main {
  private static final Logger LOG = Logger.getLogger(Main.class);
  public static void main(String[] all) { Object read = new Reader().read(File.class); new Watcher(); new Main(); }
  private void setLimit(int limit) {}
}
--- Item.java
class Item {
  private String path;
  private void setPath(String path) { this.path = path; }
  private void settle() {}
}
--- File.java
class File extends Item {}
--- Watcher.java
class Watcher {
  void begin(@Observes Start start) {}
  private void spare(Start start) {}
}
";
    let mut found = dead(project);
    found.retain(|name| name.ends_with(" 1") || name.ends_with(" 1.0"));
    assert_eq!(found, ["Item.settle 1.0", "Main.setLimit 1.0", "Watcher.spare 1.0"]);
}

#[test]
fn what_a_generator_reads_above_a_function_is_not_dead() {
    let project = "--- go.mod
module shop
--- cmd/main.go
package main
// Alive says whether the shop is open.
//
// swagger:route GET /alive api isAlive
func swaggerIsAlive() {}
// Ready is a word.
func spare() {}
func main() {}
";
    assert_eq!(dead(project), ["spare 1.0"]);
}

#[test]
fn a_tag_offers_what_it_stands_above() {
    let project = "--- package.json
{\"name\": \"shop\", \"main\": \"./index.ts\"}
--- index.ts
import { used } from './lists';
used();
--- lists.ts
export function used() { return 1; }
/**
 * Finds by name.
 * @api
 */
export function findByName() { return 2; }
/** Finds by kind. */
export function findByKind() { return 3; }
";
    assert_eq!(dead(project), ["findByKind 0.8", "findByName 0.6"]);
}

#[test]
fn a_parameter_is_not_the_type_of_its_own_name() {
    let project = "--- package.json
{\"name\": \"shop\", \"main\": \"./index.ts\"}
--- index.ts
type reason = { title: string };
type cause = { title: string };
export default (name: string, reason?: reason) => name + reason.title;
";
    assert_eq!(dead(project), ["cause 1.0"]);
}
