//! Dead code, one small project for each way in which something is used without its name being written, or dead though it is.

use serde_json::{Value, json};

use super::graph::ask;

mod handed;
mod helped;
mod near;
mod offered;
mod unread;
mod unseen;
mod weighed;

/// Asks what is dead in a project.
fn answer(project: &str, args: Value) -> Value {
    ask(project, "find_dead_code", args)
}

/// Dead symbols, each with a confidence.
fn dead(project: &str) -> Vec<String> {
    let answer = answer(project, json!({"min_confidence": 0}));
    let name = |item: &Value| {
        let id = item["symbol_id"].as_str().expect("it is a symbol");
        let name = id.rsplit("::").next().expect("an id ends with a name").split('#').next().expect("and a kind");
        format!("{name} {}", item["confidence"])
    };
    answer["dead_symbols"].as_array().expect("a list").iter().map(name).collect()
}

#[test]
fn a_function_that_is_a_value_is_used_where_it_stands() {
    let script = "--- a.js
function gen(it) { return function hookRunner(x) { return it(x) } }
function run(cb) { cb(function manageTimeout(err) { return err }) }
function assign(o) { let getter; if (o.a) { getter = () => 1 } else { getter = () => 2 } return getter() }
function effect(o) { let cleanup; cleanup = o.onStop = () => { return 2 }; return cleanup }
function all() { return [function inArray() {}] }
function now() { return (function loader() { return 1 })() }
function either(a) { return a ? function yes() {} : function no() {} }
function wait() { return new Promise(function executor(done) { done() }) }
function wrapped(memo) { var kept = memo(gen, function(key) { return key }); return kept.cache }
function spare() { return function inSpare() {} }
var other = module.exports = function () { return [gen, run, assign, effect, all, now, either, wait, wrapped] }
window.onstart = function () {}
";
    assert_eq!(dead(script), ["spare 1.0"]);
    let typed = "--- a.ts
export function make(wrap: any) {
  const kept = wrap((a: any) => a) as any;
  kept.flag = false;
  return kept;
}
make(1);
";
    assert_eq!(dead(typed), [""; 0]);
    let python = "--- a.py
def outer(x):
    helper = lambda v: v + 1
    spare = lambda v: v + 2
    return helper(x)
outer(1)
";
    assert_eq!(dead(python), ["outer.spare 1.0"]);
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
def old(): Base().go()
class Loop:
    def again(self): return Loop()
class Kept:
    def open(self): ...
class Opened(Kept):
    def open(self): ...
Opened().open()
Derived()
";
    assert_eq!(
        dead(python),
        ["ping 0.6", "pong 0.6", "first 0.6", "second 0.6", "Base.go 0.6", "Derived.go 0.6", "old 0.6", "Loop 0.6"]
    );
}

#[test]
fn an_unused_overload_is_found_beside_a_used_one() {
    let java = "--- src/A.java
public class A {
    private static int f(int a) { return a; }
    private static int f(String a, String b) { return 2; }
    public static final int USED = f(3);
}
";
    assert_eq!(dead(java), ["A.f 0.6"]);
}

#[test]
fn a_method_that_a_prototype_gets_again_is_one_with_the_first() {
    let typed = "--- a.ts
class Diff {
  show() { return this.changes() }
  changes() { return 1 }
  never() { return 2 }
}
Diff.prototype.changes = function () { return 3 };
new Diff().show();
";
    assert_eq!(dead(typed), ["Diff.never 0.6"]);
}

#[test]
fn names_that_are_looked_up_may_be_used() {
    let python = "--- a.py
class Command:
    def do_list(self): ...
    def get_state_display(self): ...
    def as_sqlite(self): ...
    def render_page(self): ...
    def by_name(self): ...
    def never(self): ...
    def run(self, n):
        getattr(self, 'do_' + n)()
        getattr(self, 'get_%s_display' % n)()
        getattr(self, f'render_{n}')()
        return getattr(self, 'by_name')
Command().run('list')
def compile(node, vendor): return getattr(node, 'as_%s' % vendor)
compile(None, 'x')
__all__ = ['offered']
def offered(): ...
def in_template(): ...
--- page.html
<p>{{ in_template }}</p>
";
    assert_eq!(dead(python), ["Command.never 0.6"]);
    let script = "--- a.js
class A { onOpen() {} onShut() {} never() {} fire(e) { this['on' + e](); this[`onShut${e}`]; } }
new A().fire('Open');
";
    assert_eq!(dead(script), ["A.never 0.6"]);
    let java = "--- src/M.java
public class M {
    private void looked() { }
    private Object writeReplace() { return this; }
    private void never() { }
    public static void main(String[] x) throws Exception { M.class.getDeclaredMethod(\"looked\"); }
}
";
    assert_eq!(dead(java), ["M.never 1.0"]);
}

#[test]
fn libraries_call_what_their_interfaces_ask_for() {
    let go = "--- go.mod
module shop
--- main.go
package main
import \"sort\"
type byLen []string
func (b byLen) Len() int { return len(b) }
func (b byLen) Less(i, j int) bool { return b[i] < b[j] }
func (b byLen) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
func (b byLen) spare() {}
//export cExported
func cExported() {}
// Linked is used by the runtime.
//go:linkname linked runtime.linked
func linked() {}
func main() { sort.Sort(byLen{}) }
";
    assert_eq!(dead(go), ["byLen.spare 1.0"]);
    let python = "--- a.py
import logging
if True:
    Base = logging.StreamHandler
else:
    Base = logging.Handler
class Live(Base):
    def emit(self, record): ...
class Stopped(Exception): ...
class Session:
    Stopped = Stopped
    def run(self): raise self.Stopped()
Session().run()
Live()
";
    assert_eq!(dead(python), [""; 0]);
}

#[test]
fn names_given_to_macros_and_attributes_may_be_used() {
    let rust = "--- src/main.rs
macro_rules! call { ($f:ident) => { $f() } }
macro_rules! ask { ($of:expr) => { $of.by_rule() } }
struct S;
impl S { fn by_rule(&self) {} }
fn by_macro() {}
fn never() {}
struct Args {
    #[arg(long, value_parser = parse_millis)]
    wait: u8,
    #[arg(value_parser = S::read, long)]
    by: S,
}
impl S { fn read() {} }
fn parse_millis() {}
fn main() { call!(by_macro); ask!(S); Args; }
";
    assert_eq!(dead(rust), ["never 1.0"]);
    let registered = "--- src/main.rs
struct Tree;
#[pymethods]
impl Tree { fn __len__(&self) -> usize { 1 } }
#[allow(dead_code)]
#[cfg(unix)]
impl Tree { fn never(&self) {} }
mod dates { pub fn serialize() {} }
mod spare { pub fn kept() {} pub fn serialize() {} }
struct Line { #[serde(with = \"dates\", default)] at: u8 }
trait Grow { fn grow(&self); }
#[async_trait]
impl Grow for Tree { fn grow(&self) {} }
fn main() { Tree; Line; spare::kept(); }
";
    assert_eq!(dead(registered), ["Tree.never 1.0", "spare.serialize 0.8", "Grow.grow 0.6", "Tree.grow 0.6"]);
}

#[test]
fn frameworks_and_packages_use_what_they_find() {
    let script = "--- app/shop/page.tsx
export default function Page() { return null }
export function generateMetadata() {}
function spare() {}
--- next.config.js
--- src/extension.ts
export function activate() {}
export function other() {}
";
    assert_eq!(dead(script), ["spare 1.0", "other 0.6"]);
    let package = "--- package.json
{\"name\": \"shop\", \"main\": \"dist/main.js\"}
--- src/main.ts
export * from './api';
export function offered() {}
--- src/api.ts
export function handedOn() {}
function never() {}
--- src/inner.ts
export function unnamed() {}
--- lib/index.js
module.exports = require('./express');
--- lib/express.js
exports.application = function () {};
";
    assert_eq!(dead(package), ["never 1.0", "unnamed 0.6"]);
    let python = "--- docs/conf.py
def setup(app): ...
--- pkg/hooks.py
def pytest_addoption(parser): ...
def pdm_build_initialize(context): ...
def never(): ...
--- packaging/hook-shop.py
def hook(api): ...
--- pkg/management/commands/load.py
class Command: ...
--- pkg/vendor/copied.py
def copied(): ...
--- pkg/_vendor/copied.py
def copied(): ...
";
    assert_eq!(dead(python), ["never 0.6"]);
    assert_eq!(answer(python, json!({}))["files_not_judged"], 2);
}

#[test]
fn files_are_answered_as_files() {
    let files = answer("--- a.py\ndef f(): ...\n--- b.py\nf = 1\n", json!({"granularity": "file"}));
    assert_eq!(files["dead_files"][0]["file"], "a.py");
    assert!(files.get("dead_symbols").is_none());
}

#[test]
fn a_file_is_no_surer_dead_than_what_is_in_it() {
    let python = "--- run.py
def start(): ...
start()
--- spare.py
def unused(): ...
";
    let files = answer(python, json!({"granularity": "file", "min_confidence": 0}));
    let found: Vec<String> = files["dead_files"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| format!("{} {}", it["file"], it["confidence"]))
        .collect();
    assert_eq!(found, ["\"spare.py\" 1.0", "\"run.py\" 0.6"]);
}

#[test]
fn a_language_whose_unused_code_cannot_be_told_is_not_judged() {
    let answer = answer(
        "--- a.c\nint used(void) { return 1; }\nint main(void) { return used(); }\nint never(void) { return 2; }\n",
        json!({"min_confidence": 0}),
    );
    assert_eq!((&answer["dead_symbols"], &answer["files_not_judged"]), (&json!([]), &json!(1)), "{answer}");
}

#[test]
fn members_of_exported_classes_are_public() {
    let script = "--- package.json
{\"name\": \"shop\", \"main\": \"index.js\"}
--- index.js
const Chunk = require('./lib/chunk');
const { Listed } = require('./lib/listed');
const { Inner } = require('./lib/inner');
exports.make = () => [new Chunk(), new Listed(), new Inner()];
--- lib/chunk.js
class Chunk { maps() {} #own() {} }
module.exports = Chunk;
--- lib/listed.js
class Listed { go() {} }
class Spare { go() {} }
module.exports = { Listed };
--- src/late.js
class Late { go() {} }
const late = new Late();
export { late, Late as Sooner };
late;
--- lib/inner.js
function inner() { class Inner { go() {} } return new Inner(); }
inner();
";
    assert_eq!(dead(script), ["Chunk. 1.0", "Spare 0.8", "inner.Inner.go 0.6", "Late.go 0.6"]);
}

#[test]
fn a_file_that_is_imported_twice_may_be_handed_on() {
    let script = "--- package.json
{\"name\": \"shop\", \"main\": \"src/index.ts\"}
--- src/index.ts
import { one } from './api';
export * from './api';
one();
--- src/api.ts
export function one() {}
export function two() {}
function never() {}
";
    assert_eq!(dead(script), ["never 1.0"]);
}

#[test]
fn what_is_added_to_definitions_of_others_is_used_by_them() {
    let script = "--- a.ts
class Element {}
declare global {
  interface Window { element: Element }
}
declare module 'shop' { interface Shop { open(): void } }
interface Never { element: Element }
export {};
";
    assert_eq!(dead(script), ["Never 1.0"]);
}

#[test]
fn libraries_call_members_of_classes_that_are_given_to_them() {
    let python = "--- a.py
import typing as t
import protocols as p
from typing import (
    Any,
    Protocol as Shape,
)
from zope.interface import implementer
from wire.protocol import Protocol
@implementer(Any)
class Producer:
    def start(self): ...
class Reader(Protocol):
    def made(self): ...
class Writer(p.Protocol):
    def made(self): ...
class Own(t.Protocol):
    def never(self): ...
class Lock:
    def acquire(self): ...
    def spare(self): ...
[Producer(), Reader(), Writer(), Own(), Lock()]
";
    assert_eq!(dead(python), ["Own.never 0.6", "Lock.spare 0.6"]);
    let go = "--- go.mod
module example.com/shop
--- main.go
package main
import (
	\"example.com/shop/own\"
	log \"go.uber.org/zap\"
)
type urls []string
func (u urls) MarshalLogArray() error { return nil }
func (u urls) spare() {}
func main() { log.Log(urls{}, own.All) }
--- own/own.go
package own
import \"example.com/shop/inner\"
type kept struct{}
func (k kept) Never() { inner.Do() }
var All = []any{kept{}}
";
    assert_eq!(dead(go), ["urls.spare 1.0", "kept.Never 0.6"]);
}

#[test]
fn a_class_may_have_a_type_that_it_does_not_name() {
    let script = "--- a.ts
interface Shape { area(): number; edge(): number }
class Square { area() { return 1 } edge() { return 2 } spare() {} }
export function sum(all: Record<string, any>) { const it: Shape = all.first; return it.area() }
sum({ first: new Square() });
";
    assert_eq!(dead(script), ["Shape.edge 0.6", "Square.edge 0.6", "Square.spare 0.6"]);
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
    fn never(&self) {}
}
fn main() { Set; }
--- src/real.rs
fn never() {}
--- src/testutil.rs
pub struct Tester;
impl Tester { fn lines(&self) {} }
";
    assert_eq!(dead(rust), ["Set.never 0.8", "never 0.6"]);
}

#[test]
fn pages_of_documentation_use_components() {
    let script = "--- docs/page.mdx
<Gallery />
--- docs/gallery.tsx
export function Gallery() { return null }
export function Spared() { return null }
";
    assert_eq!(dead(script), ["Spared 0.6"]);
}

#[test]
fn a_base_that_is_not_known_may_call_what_overrides_it() {
    let script = "--- a.ts
export function make(less: any) {
  const { FileManager } = less;
  class Manager extends FileManager {
    override supportsSync() { return true }
    private never() { return true }
  }
  return new Manager();
}
make(1);
";
    assert_eq!(dead(script), ["make.Manager.never 1.0"]);
    let rust = "--- src/main.rs
use quote::{quote, ToTokens};
struct T;
impl ToTokens for T { fn to_tokens(&self, tokens: &mut u8) { quote!(a); } }
impl T { fn never(&self) {} }
fn main() { T; }
";
    assert_eq!(dead(rust), ["T.never 1.0"]);
    let java = "--- src/com/shop/B.java
package com.shop;
public class B {}
--- src/com/shop/A.java
package com.shop;
import com.google.common.AbstractFuture;
public class A {
  public static void main(String[] x) { new Kept<String>(); new B(); }
  private static final class Kept<T> extends AbstractFuture<T> {
    @Override
    protected void interruptTask() {}
    private void never() {}
  }
}
";
    assert_eq!(dead(java), ["A.Kept.never 1.0"]);
}

#[test]
fn members_that_only_subclasses_have_may_be_used_by_the_base() {
    let script = "--- a.js
class Base {
  static async make(x) { return this.create(x); }
  draw() { return this.shape(); }
}
class One extends Base {
  static create(x) { return x; }
  shape() { return 1; }
  spare() { return 2; }
}
class Two extends Base { shape() { return 2; } }
One.make(1);
new One().draw();
new Two().draw();
";
    assert_eq!(dead(script), ["One.spare 0.6"]);
}

#[test]
fn members_are_looked_up_by_a_name_in_a_variable() {
    let script = "--- a.js
const CACHE = Symbol();
class Canvas {
  run(op) { return this[op](); }
  line() {}
  #never() {}
}
class Kept {
  constructor() { this[CACHE] = 1; this[0] = 2; }
  never() {}
}
new Canvas().run('x');
new Kept();
";
    assert_eq!(dead(script), ["Canvas. 0.6", "Kept.never 0.6"]);
    let python = "--- a.py
class Commands:
    def run(self, name): return getattr(self, name)()
    def list(self): ...
def bench_one(): ...
def spare(): ...
for name in globals():
    if name.startswith('bench_'): globals()[name]()
Commands().run('x')
";
    assert_eq!(dead(python), ["spare 0.6"]);
}

#[test]
fn a_method_that_marks_the_types_of_an_interface_need_not_be_called() {
    let go = "--- go.mod
module shop
--- main.go
package main
type node interface{ isNode() }
type leaf struct{}
func (leaf) isNode() {}
func (leaf) spare() {}
type counted interface{ count(n int) int }
func (leaf) count(n int) int { return n }
func main() {
	var all []node
	var other counted = leaf{}
	_ = append(all, leaf{})
	_ = other
}
";
    assert_eq!(dead(go), ["leaf.spare 1.0", "counted.count 0.8", "leaf.count 0.8"]);
}

#[test]
fn a_method_of_an_unnamed_interface_may_be_that_of_any_type() {
    let go = "--- go.mod
module shop
--- main.go
package main
type recorder struct{}
func (r *recorder) setReadSize(n *int) {}
func (r *recorder) spare() {}
func get() any { return &recorder{} }
func main() {
	if s, ok := get().(interface{ setReadSize(*int) }); ok { s.setReadSize(nil) }
}
";
    assert_eq!(dead(go), ["recorder.spare 1.0"]);
}

#[test]
fn a_function_that_is_assigned_to_a_field_is_used_by_who_reads_the_field() {
    let script = "--- a.js
class Kept {
  plain;
  #hidden = null;
  constructor(kind) {
    if (kind) { this.plain = a => a; this.#hidden = a => a; }
    else { this.plain = () => 2; this.#hidden = () => 3; }
  }
  go() { this.plain(1); this.#hidden(2); }
  never() {}
}
new Kept(1).go();
var Module = {};
var run = (Module.run = function () {});
run();
class Part {
  static escape(x) { return x; }
  go() { const { escape } = this.constructor; return escape(1); }
}
new Part().go();
";
    assert_eq!(dead(script), ["Kept.never 0.6"]);
}

#[test]
fn a_module_that_is_not_found_may_be_one_of_ours() {
    let script = "--- package.json
{\"dependencies\": {\"lodash\": \"1\"}}
--- a.ts
import { aliased } from '@/lib/other';
import { built } from 'shop-lib/made';
import * as made from '~/made';
import { debounce } from 'lodash/fp';
import { readFile } from 'fs/promises';
[aliased, built, made.inside(), debounce, readFile];
--- b.ts
export function aliased() {}
export function built() {}
export function inside() {}
export function debounce() {}
export function readFile() {}
";
    assert_eq!(dead(script), ["debounce 0.6", "readFile 0.6"]);
}

#[test]
fn where_nothing_explains_a_name_it_may_be_used() {
    let rust = "--- src/main.rs
use std::process::Command;
trait Resolving { fn resolve(program: &str) -> Self; fn spare(&self); }
impl Resolving for Command {
    fn resolve(program: &str) -> Self { Command::new(program) }
    fn spare(&self) {}
}
struct Completer;
impl Completer {
    fn complete(a: &str) -> u8 { 1 }
    /// Not never, and not never().
    fn never(a: &str) -> u8 { let never = 1; never }
}
#[derive(Parser)]
struct Args { #[arg(add = Wrapped::new(Completer::complete))] a: u8 }
fn main() { Command::resolve(\"x\"); Args::parse(); }
";
    assert_eq!(dead(rust), ["Completer.never 1.0", "Resolving.spare 0.6", "Command.spare 0.6"]);
    let java = "--- src/A.java
public class A {
  private static void check(int a) {}
  private static void never(int a) {}
  public static final String BODY = \"{ check($1); }\", NAME = \"never seen\";
}
";
    assert_eq!(dead(java), ["A.never 0.6"]);
}

#[test]
fn libraries_reach_static_members_and_what_is_given_to_all_programs() {
    let script = "--- a.tsx
import { Component } from 'react';
export class Boundary extends Component { static getDerivedStateFromError(error) { return error; } }
class Watcher { observe() {} }
class Spare { watch() {} }
window.Watcher = Watcher;
window.Spares = [Spare];
[Boundary];
";
    assert_eq!(dead(script), ["Spare.watch 0.6"]);
}

#[test]
fn a_package_offers_the_classes_that_its_entry_points_hand_out() {
    let script = "--- package.json
{\"name\": \"shop\", \"exports\": {\".\": \"./lib/main.js\"}}
--- lib/main.js
const { Shop } = require('./shop');
module.exports = { Shop };
--- lib/shop.js
const { Inner } = require('./inner');
class Shop { open() { return new Inner().used(); } offered() {} }
module.exports = { Shop };
--- lib/inner.js
class Inner { used() {} spare() {} }
module.exports = { Inner };
";
    assert_eq!(dead(script), ["Inner.spare 0.6"]);
}

#[test]
fn classes_that_a_base_collects_may_be_used() {
    let python = "--- a.py
class Meta(type):
    def __new__(cls, name, bases, attrs): return all.append(name)
class Setting(metaclass=Meta): ...
class Port(Setting): ...
class Plugin:
    def __init_subclass__(cls): all.append(cls)
class Beep(Plugin): ...
class Shape: ...
class Square(Shape): ...
class Plain: ...
class Spare(Plain): ...
Made = Meta('Made', (Plain,), {})
class Given(Made): ...
print(Setting, Plugin, Plain, Made, [one() for one in Shape.__subclasses__()])
";
    assert_eq!(dead(python), ["Spare 0.6"]);
}

#[test]
fn what_shows_all_names_of_a_module_may_use_any() {
    let python = "--- errors.py
class NotFound(Exception): ...
table = {one.__name__: one for one in globals().values()}
--- steps.py
def first(): ...
--- other.py
def spare(): ...
--- a.py
import inspect
import steps, other, errors
print(errors.table, inspect.getmembers(steps), other.__name__)
";
    assert_eq!(dead(python), ["spare 0.8"]);
}

#[test]
fn a_build_that_takes_one_of_two_versions_may_use_both() {
    let rust = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
fn main() {
    #[cfg(unix)]
    let clock = unix::Clock::start();
    #[cfg(windows)]
    let clock = { windows::Clock::start() };
    clock.stop();
}
--- src/unix.rs
pub struct Clock;
impl Clock {
    pub fn start() -> Self { Clock }
    pub fn stop(&self) { helper() }
    pub fn spare(&self) {}
}
fn helper() {}
--- src/windows.rs
pub struct Clock;
impl Clock {
    pub fn start() -> Self { Clock }
    pub fn stop(&self) {}
}
";
    assert_eq!(dead(rust), ["Clock.spare 0.6"]);
    let script = "--- encode.ts
export function encode() {}
--- encode.browser.ts
export function encode() {}
export function spare() {}
--- main.ts
import { encode } from './encode';
encode();
";
    assert_eq!(dead(script), ["spare 0.6"]);
}

#[test]
fn what_pages_for_users_name_is_theirs() {
    let python = "--- pyproject.toml
[project]
name = 'shop'
--- shop/__init__.py
--- shop/cart.py
def shown(): ...
def never(): ...
def removed(): ...
def _own(): ...
--- shop/whole.py
class Basket:
    \"\"\"Holds what is bought.\"\"\"
    def put(self): ...
class Bare:
    def put(self): ...
--- docs/cart.md
Call `shown` first, and `_own` never.
--- docs/api.rst
.. automodule:: shop.whole
   :members:
--- CHANGELOG.md
`removed` is gone.
";
    assert_eq!(dead(python), ["never 0.6", "removed 0.6", "_own 0.6", "Bare 0.6"]);
    let bare = python.replace(":members:\n", ":members:\n   :undoc-members:\n");
    assert_eq!(dead(&bare), ["never 0.6", "removed 0.6", "_own 0.6"]);
}

#[test]
fn what_only_tests_use_may_be_for_them_or_for_others() {
    let project = "--- package.json
{\"name\": \"shop\", \"exports\": {\".\": \"./dist/shop.js\", \"./cart\": {\"import\": \"./dist/shop-cart.js\"}}}
--- src/cart.ts
export function offered() {}
--- src/deep.ts
export function tried() {}
--- src/all.test.ts
import { tried } from './deep';
tried();
";
    assert_eq!(dead(project), ["tried 0.6"]);
    let program = "--- go.mod
module shop
--- main.go
package main
func main() {}
func own() {}
--- internal/mock/server.go
package mock
func Start() {}
--- all_test.go
package main
import \"shop/internal/mock\"
func TestAll() { own(); mock.Start() }
";
    assert_eq!(dead(program), ["own 0.9"]);
}

#[test]
fn names_in_a_template_may_mean_any() {
    let rust = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
mod tools;
fn main() { include!(\"made.rs\"); }
--- src/tools.rs
pub fn used() {}
pub fn spare() {}
--- src/made.tera.rs
{% for name in names %}
fn {{ name }}() { helpers::used() }
{% endfor %}
";
    assert_eq!(dead(rust), ["spare 0.6"]);
}

#[test]
fn a_marked_block_is_of_the_tests_and_a_file_that_is_read_is_data() {
    let rust = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
struct Shop;
/// For tests.
#[cfg(test)]
impl Shop { fn open() {} }
impl Shop { fn close() {} }
const SAMPLE: &str = include_str!(\"../assets/sample.rs\");
fn main() { println!(\"{SAMPLE}\"); Shop; }
#[cfg(test)]
mod tests { #[test] fn opens() { super::Shop::open() } }
--- assets/sample.rs
fn shown() {}
--- assets/other.rs
fn other() {}
";
    assert_eq!(dead(rust), ["Shop.close 1.0", "other 0.6"]);
}

#[test]
fn what_serves_a_public_name_is_no_surer_than_that() {
    let python = "--- pyproject.toml
[project]
name = 'shop'
--- shop/__init__.py
--- shop/text.py
def shown(): return _helper()
def _helper(): ...
def _own(): ...
def _mock_server(): ...
--- tests/test_text.py
from shop.text import shown, _own, _mock_server
def test_shown(): shown(); _own(); _mock_server()
";
    assert_eq!(dead(python), ["shown 0.6", "_helper 0.6", "_own 0.6"]);
}

#[test]
fn a_component_in_a_call_is_what_importers_use() {
    let script = "--- a.tsx
import * as React from 'react';
export default React.memo(function Head() { return 1 });
--- b.tsx
import * as React from 'react';
export default React.memo(function Spare() { return 1 });
--- main.tsx
import Head from './a';
[Head];
";
    assert_eq!(dead(script), ["Spare 0.6"]);
}

#[test]
fn a_decorator_inside_of_a_function_registers_too() {
    let python = "--- a.py
import flask
def serve():
    app = flask.Flask('shop')
    @app.route('/')
    def index(): ...
    @functools.wraps(index)
    def spare(): ...
    return app
serve()
";
    assert_eq!(dead(python), ["serve.spare 1.0"]);
}

#[test]
fn methods_of_an_object_that_unknown_code_gets_may_be_called() {
    let python = "--- a.py
import sphinx
class Proxy:
    def target(self): ...
    def __own(self): ...
class Plain:
    def spare(self): ...
def show(plain): ...
class Named:
    def uri(self): ...
sphinx.Translator('x', Proxy())
named = Named()
sphinx.Translator('y', named)
show(Plain())
";
    assert_eq!(dead(python), ["Proxy.__own 1.0", "Plain.spare 0.6"]);
    let script = "--- a.ts
class Reply { header() {} }
class Plain { spare() {} }
export function run(next: any) { next([new Reply()]); return new Plain(); }
run(null);
";
    assert_eq!(dead(script), ["Plain.spare 0.6"]);
}

#[test]
fn modules_of_platforms_may_lie_in_a_folder_and_text_be_put_in() {
    let rust = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
mod process;
include!(\"./columns/linux.rs\");
fn main() { process::collect(); }
--- src/process.rs
#[cfg(target_os = \"linux\")]
mod linux;
#[cfg(windows)]
mod windows;
#[cfg(target_os = \"linux\")]
pub use self::linux::*;
#[cfg(windows)]
pub use self::windows::*;
--- src/process/linux.rs
pub fn collect() {}
--- src/process/windows.rs
pub fn collect() {}
pub fn spare() {}
--- src/columns/linux.rs
pub fn column() {}
";
    assert_eq!(dead(rust), ["spare 0.8"]);
}

#[test]
fn a_comment_or_an_annotation_may_say_that_something_is_for_tests() {
    let java = "--- A.java
class A {
  /* Visible for testing */
  static void given() {}
  @VisibleForTesting static void marked() {}
  static void tried() {}
}
--- ATest.java
class ATest { @Test void runs() { A.given(); A.marked(); A.tried(); } }
--- Main.java
class Main { public static void main(String[] all) { new A(); } }
";
    assert_eq!(dead(java), ["A.tried 0.9"]);
}

#[test]
fn targets_of_mage_are_run_by_name() {
    let go = "--- go.mod
module shop
--- magefile.go
package main
func Build() { step() }
func step() {}
func spare() {}
";
    assert_eq!(dead(go), ["spare 1.0"]);
}
