//! After an edit, what is resolved again and what is taken over together are what resolving everything would say.

use std::collections::BTreeMap;

use codelode::facts::{Project, ProjectFile, Semantics};
use codelode::model::{Occurrence, Relations, Site};
use codelode::resolve::{Notes, resolve_again, resolve_noting};
use codelode::{extract::extract, languages};
use proptest::prelude::*;

/// The texts of a project's files, by their paths.
type Texts = BTreeMap<String, String>;

/// Relations of a file: its occurrences with their targets, its imports, the bases of its classes.
type Said = (Vec<(Occurrence, Vec<Site>)>, Vec<(u32, u32)>, Vec<(Site, Site)>);

fn texts(project: &str) -> Texts {
    let files = project.split("--- ").filter(|file| !file.trim().is_empty());
    let file = |file: &str| file.split_once('\n').map(|(path, text)| (path.trim().to_owned(), text.to_owned()));
    files.filter_map(file).collect()
}

/// Does something with a project of one language.
fn with<T>(texts: &Texts, ask: impl for<'a> FnOnce(&'a Project<'a>, &'static Semantics) -> T) -> T {
    let mut semantics = None;
    let mut facts = Vec::new();
    for (path, text) in texts {
        let Some((_, spec)) = languages::of_file(path, text.as_bytes()) else { continue };
        let Some(relating) = spec.relating else { continue };
        semantics = Some(relating.semantics);
        facts.push((path, extract(spec, text.as_bytes()).facts));
    }
    let paths: Vec<&str> = texts.keys().map(String::as_str).collect();
    let read = |path: &str| texts.get(path).map(|text| text.as_bytes());
    let files = facts.iter().map(|(path, facts)| ProjectFile::new(path, facts)).collect();
    let project = Project { files, read: &read, paths: &paths };
    ask(&project, semantics.expect("there is a file of it"))
}

/// Relations of each file; targets are given where `moved` has them.
fn said(relations: &Relations, files: usize, moved: &dyn Fn(Site) -> Site) -> Vec<Said> {
    let mut said: Vec<Said> = vec![Said::default(); files];
    for occurrence in &relations.occurrences {
        let first = occurrence.first_target as usize;
        let targets = &relations.targets[first..first + occurrence.targets as usize];
        let plain = Occurrence { first_target: 0, ..*occurrence };
        said[occurrence.file as usize].0.push((plain, targets.iter().map(|site| moved(*site)).collect()));
    }
    for (from, to, at) in &relations.imports {
        said[*from as usize].1.push((*to, *at));
    }
    for (class, base) in &relations.bases {
        said[class.file as usize].2.push((moved(*class), moved(*base)));
    }
    said.iter_mut().for_each(|said| said.2.sort_unstable());
    said
}

/// Where a symbol is stands for its number here.
fn by_place(_: u32, at: u32) -> Option<u32> {
    Some(at)
}

fn noted(texts: &Texts) -> (Vec<Said>, Notes) {
    with(texts, |project, semantics| {
        let (relations, notes) = resolve_noting(project, semantics, &by_place);
        (said(&relations, project.files.len(), &|site| site), notes)
    })
}

/// Resolves again after an edit and compares with resolving anew. The files that were resolved again and the new state;
/// `None` for the files when all had to be resolved.
fn edit(before: (&Texts, Vec<Said>, Notes), after: &Texts) -> (Option<Vec<String>>, Vec<Said>, Notes) {
    let (anew, fresh) = noted(after);
    let (old, was, notes) = before;
    let code = |path: &&String| {
        languages::of_file(path, after[*path].as_bytes()).is_some_and(|(_, spec)| spec.relating.is_some())
    };
    let edited: Vec<u32> = after
        .keys()
        .filter(code)
        .zip(0..)
        .filter(|(path, _)| old[*path] != after[*path])
        .map(|(_, file)| file)
        .collect();
    let again = with(after, |project, semantics| {
        let mut plan = notes.plan(project, semantics, &edited, &by_place)?;
        let (relations, notes) = resolve_again(project, semantics, notes, &mut plan)?;
        let files = project.files.len();
        let found = said(&relations, files, &|site| site);
        let moved = |site: Site| match plan.moved.get(&site.file) {
            Some(moved) => Site { at: moved[&site.at], ..site },
            None => site,
        };
        let mut now = Vec::new();
        for (file, (found, mut was)) in found.into_iter().zip(was).enumerate() {
            let bases = |was: Vec<(Site, Site)>| {
                let mut bases: Vec<_> = was.into_iter().map(|(class, base)| (moved(class), moved(base))).collect();
                bases.sort_unstable();
                bases
            };
            now.push(match plan.again[file] {
                true if plan.is_same => (found.0, found.1, bases(was.2)),
                true => found,
                false => {
                    for (_, targets) in &mut was.0 {
                        targets.iter_mut().for_each(|site| *site = moved(*site));
                    }
                    (was.0, was.1, bases(was.2))
                }
            });
        }
        let again = |(file, _): &(&ProjectFile<'_>, &bool)| file.path.to_owned();
        let again: Vec<String> =
            project.files.iter().zip(&plan.again).filter(|(_, again)| **again).map(|it| again(&it)).collect();
        Some((again, now, notes))
    });
    match again {
        Some((again, now, notes)) => {
            for (file, path) in after.keys().filter(code).enumerate() {
                assert_eq!(now[file], anew[file], "{path}, of {again:?} resolved again\n{}", after[path]);
            }
            (Some(again), now, notes)
        }
        None => (None, anew, fresh),
    }
}

/// The files that are resolved again when `from` becomes `to` in a file.
#[track_caller]
fn check(project: &str, path: &str, from: &str, to: &str, again: Option<&[&str]>) {
    let before = texts(project);
    let mut after = before.clone();
    let text = after.get_mut(path).expect("it is a file of the project");
    assert!(text.contains(from), "{from} is not in {path}");
    *text = text.replacen(from, to, 1);
    let (was, notes) = noted(&before);
    let (found, ..) = edit((&before, was, notes), &after);
    assert_eq!(
        found.as_deref(),
        again.map(|again| again.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>()).as_deref()
    );
}

const PYTHON: &str = "\
--- shop/__init__.py
from .item import Item
--- shop/item.py
import json
from .price import Price
class Base:
    def total(self): return self.price().amount()
class Item(Base):
    rate = 1
    def __init__(self, cost: Price):
        self.cost = cost
    def price(self): return self.cost
    def items(self):
        for item in self.children: yield item
def make(cost): return Item(cost)
--- shop/price.py
class Price:
    def amount(self): return self.minus(1)
    def minus(self, other):
        result = Price()
        return result
def free(): return Price()
--- shop/use.py
from shop import Item
from .price import free
from .item import *
def show(item: Item, other):
    other.amount()
    item.price().amount()
    item.total()
    make(free()).price().minus(free()).amount()
class Special(Item):
    def price(self): return free()
--- alone.py
import shop.item
def alone(): return shop.item.make(1).total()
";

const TYPESCRIPT: &str = "\
--- src/index.ts
export * from './item'
export { free as gratis } from './price'
--- src/item.ts
import { Price } from './price'
export interface Shown { show(): Price }
export class Base { total() { return this.price().amount() }  price(): Price { return new Price() } }
export class Item extends Base implements Shown {
    cost: Price
    show() { return this.cost }
    get own() { return this.cost.amount() }
}
export const make = (cost: Price) => new Item()
--- src/price.ts
export class Price { value = 1; amount() { return this.value }  minus(other: Price) { const it = new Price(); return it } }
export function free() { return new Price() }
export default free
--- src/use.ts
import { Item, gratis, make } from './index'
import free from './price'
export function show(item: Item, other) {
    other.amount()
    item.show().amount()
    make(gratis()).total()
    return free().minus(gratis()).amount()
}
";

const JAVASCRIPT: &str = "\
--- lib/item.js
const { Price } = require('./price')
function Item(cost) { this.cost = cost }
Item.prototype.price = function () { return new Price() }
module.exports = { Item, make: cost => new Item(cost) }
--- lib/price.js
class Price { amount() { return 1 }  minus() { let it = new Price(); return it } }
exports.Price = Price
exports.free = () => new Price()
--- lib/use.js
const { Item, make } = require('./item')
const prices = require('./price')
function show(item, other) {
    other.amount()
    new Item(1).price().amount()
    make(2).price().minus()
    return prices.free().amount()
}
";

const SCRIPTS: &str = "\
--- page/draw.js
function draw(item) { return item.size() }
class Shape { size() { return 1 } }
--- page/show.js
function show() { draw(new Square()); return shown }
var shown = 0
--- page/square.js
class Square extends Shape {}
--- tool.mjs
import './page/draw.js'
function build() { return 1 }
";

const GO: &str = "\
--- go.mod
module example.com/shop
--- main.go
package main
import \"example.com/shop/item\"
func main() {
    it := item.Make(item.Free())
    it.Price().Amount()
    it.Total()
    var shown item.Shown = it
    shown.Price()
}
--- item/item.go
package item
type Base struct { cost Price }
type Shown interface { Price() Price }
type Item struct { Base; rate int }
func (b *Base) Total() int { return b.cost.Amount() }
func (i *Item) Price() Price { return i.cost }
func Make(cost Price) *Item { return &Item{} }
--- item/price.go
package item
type Price struct { value int }
func (p Price) Amount() int { return p.value }
func (p Price) Minus(other Price) Price { result := p; return result }
func Free() Price { return Price{} }
";

const JAVA: &str = "\
--- shop/Item.java
package shop;
import shop.price.Price;
public class Item extends Base implements Shown {
    Price cost;
    Item(Price cost) { this.cost = cost; }
    public Price price() { return cost; }
    static Item make(Price cost) { return new Item(cost); }
}
--- shop/Base.java
package shop;
public abstract class Base {
    int rate = 1;
    int total() { return rate + new Item(null).price().amount(); }
}
--- shop/Shown.java
package shop;
import shop.price.Price;
public interface Shown { Price price(); }
--- shop/price/Price.java
package shop.price;
public class Price {
    int value;
    public int amount() { return value; }
    public Price minus(Price other) { Price result = new Price(); return result; }
}
--- shop/Use.java
package shop;
import shop.price.*;
class Use {
    int show(Shown item, Item own) { return item.price().amount() + own.total() + own.rate + Item.make(own.cost).price().minus(null).amount(); }
}
";

const RUST: &str = "\
--- Cargo.toml
[package]
name = \"shop\"
--- src/lib.rs
pub mod item;
mod price;
pub use price::{Price, free};
mod used;
--- src/item.rs
use crate::price::Price;
pub trait Shown { fn price(&self) -> Price; fn total(&self) -> u32 { self.price().amount() } }
pub struct Item { pub cost: Price, rate: u32 }
impl Item { pub fn new(cost: Price) -> Self { Self { cost, rate: 1 } } pub fn rate(&self) -> u32 { self.rate } }
impl Shown for Item { fn price(&self) -> Price { self.cost } }
pub fn make(cost: Price) -> Item { Item::new(cost) }
--- src/price.rs
pub struct Price { value: u32 }
impl Price { pub fn amount(&self) -> u32 { self.value }  pub fn minus(&self, other: &Price) -> Price { let result = Price { value: 1 }; result } }
pub fn free() -> Price { Price { value: 0 } }
--- src/used.rs
use crate::item::{Item, Shown, make};
use crate::free;
fn show(item: &Item, other: &dyn Shown) -> u32 {
    other.price().amount();
    let it = make(free());
    it.price().minus(&free()).amount() + it.total() + item.rate() + item.cost.amount()
}
";

/// Members of classes below a base are found by code that knows the base only; and two classes have each other as bases.
const BELOW: &str = "\
--- base.py
class Base:
    def run(self): return self.step()
    def last(self): return self.own()
--- one.py
from base import Base
class One(Base):
    def own(self): return One()
class Other(One):
    def own(self): return 1
--- use.py
from base import Base
def use(it: Base):
    it.step()
    it.own().own()
--- left.py
from right import Right
class Left(Right.Inner):
    class Inner:
        def go(self): return Left()
--- right.py
from left import Left
class Right(Left.Inner):
    class Inner:
        def go(self): return Right().go()
--- aside.py
def aside(it): it.other()
";

#[test]
fn what_comes_to_lie_below_a_class_is_found_by_those_who_look_down() {
    let seeing = Some(&["base.py", "one.py", "use.py"][..]);
    let new = "class New(Base):\n    def step(self): return 2\nclass Other(One):";
    check(BELOW, "one.py", "class Other(One):", new, seeing);
    check(BELOW, "one.py", "class One(Base):", "class One:", seeing);
    check(BELOW, "one.py", "class Other(One):", "class Other(One):\n    def step(self): return 2", seeing);
    let all = Some(&["alone.py", "shop/__init__.py", "shop/item.py", "shop/use.py"][..]);
    check(PYTHON, "shop/item.py", "class Item(Base)", "class Item", all);
}

#[test]
fn what_comes_to_extend_a_class_is_found_by_those_who_ask_the_class() {
    let project = "\
--- Cargo.toml
[package]
name = \"shop\"
--- src/lib.rs
mod ask;
mod free;
mod other;
mod price;
mod used;
--- src/ask.rs
use crate::price::Price;
fn ask(it: &Price) { it.amount() }
--- src/free.rs
use crate::price::Price;
fn free(it: &Price) { it.total() }
--- src/other.rs
pub struct Other;
--- src/price.rs
pub struct Price;
--- src/used.rs
use crate::other::Other as Price;
impl Price { pub fn amount(&self) {} }
";
    let (other, own) = ("crate::other::Other as Price", "crate::price::Price");
    check(project, "src/used.rs", other, own, Some(&["src/ask.rs", "src/used.rs"]));
    // Who looked for another member in the extension names the class as well.
    let all = Some(&["src/ask.rs", "src/free.rs", "src/used.rs"][..]);
    check(&project.replace(other, own), "src/used.rs", own, other, all);
}

#[test]
fn classes_whose_bases_lead_to_each_other_do_not_make_every_edit_an_edit_of_all() {
    check(BELOW, "aside.py", "it.other()", "it.other(1)", Some(&["aside.py"]));
    check(BELOW, "left.py", "return Left()", "return Left().go(1)", Some(&["left.py", "right.py"]));
    check(BELOW, "right.py", "    class Inner:", "    # Inside.\n    class Inner:", Some(&["right.py"]));
}

#[test]
fn what_only_the_edited_file_can_see_touches_no_other() {
    let own = Some(&["shop/price.py"][..]);
    check(PYTHON, "shop/price.py", "class Price:", "free()\nclass Price:", own);
    check(PYTHON, "shop/price.py", "        result = Price()", "        free()\n        result = Price()", own);
    check(PYTHON, "shop/price.py", "def free", "def brand_new(): return Price()\ndef free", own);
    check(TYPESCRIPT, "src/price.ts", "return this.value", "free(); return this.value", Some(&["src/price.ts"]));
    check(GO, "item/price.go", "return p.value", "Free(); return p.value", Some(&["item/price.go"]));
    check(
        JAVA,
        "shop/price/Price.java",
        "return value;",
        "minus(this); return value;",
        Some(&["shop/price/Price.java"]),
    );
    check(RUST, "src/price.rs", "{ self.value }", "{ free(); self.value }", Some(&["src/price.rs"]));
}

#[test]
fn what_others_can_see_touches_those_who_name_it() {
    let seeing = Some(&["alone.py", "shop/item.py", "shop/use.py"][..]);
    check(PYTHON, "shop/item.py", "def make(cost): return Item(cost)", "def make(cost): return None", seeing);
    check(PYTHON, "shop/item.py", "def make", "def gone", seeing);
}

#[test]
fn who_binds_a_name_itself_does_not_see_another_of_that_name() {
    check(PYTHON, "shop/price.py", "class Price", "import json\nclass Price", Some(&["shop/price.py"]));
}

#[test]
fn scripts_see_each_other() {
    check(SCRIPTS, "page/draw.js", "function draw", "function drew", Some(&["page/draw.js", "page/show.js"]));
    check(SCRIPTS, "page/show.js", "draw(new", "drew(new", Some(&["page/show.js"]));
}

#[test]
fn what_cannot_be_followed_is_resolved_anew() {
    check(SCRIPTS, "tool.mjs", "import './page/draw.js'", "", None);
    check(PYTHON, "shop/use.py", "from .item import *", "", None);
    let c = "--- a.h\nint f(int a);\n#define LIMIT 3\n--- a.c\n#include \"a.h\"\nint f(int a) { return LIMIT; }\n--- b.c\n#include \"a.h\"\nint b(void) { return f(LIMIT); }\n";
    check(c, "b.c", "return f", "return 1 + f", Some(&["b.c"]));
    check(c, "a.h", "LIMIT", "MOST", None);
    check(c, "b.c", "#include \"a.h\"", "", None);
    check(GO, "item/item.go", "Price() Price }", "Price() int }", None);
    check(RUST, "src/item.rs", "impl Shown for Item", "impl Item", None);
}

/// One edit: which file, what is done, where and with what.
type Edit = (usize, usize, usize, usize);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    proptest::collection::vec((0usize..8, 0usize..6, 0usize..40, 0usize..60), 1..5)
}

fn apply(texts: &mut Texts, (file, how, line, other): Edit) {
    let all: Vec<String> = texts.values().flat_map(|text| text.lines()).map(str::to_owned).collect();
    let words: Vec<&str> = all
        .iter()
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|word| word.len() > 2)
        .collect();
    let Some(text) = texts.values_mut().nth(file % 5) else { return };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = line % lines.len().max(1);
    if lines.is_empty() {
        return;
    }
    match how {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, all[other % all.len()].clone()),
        2 => lines.insert(at, lines[other % lines.len()].clone()),
        3 => lines.swap(at, other % text.lines().count()),
        _ => {
            let (from, to) = (words[(line * 7 + other) % words.len()], words[other * 3 % words.len()]);
            let to = if how == 4 { to.to_owned() } else { format!("{from}_two") };
            lines.iter_mut().for_each(|line| *line = line.replace(from, &to));
        }
    }
    *text = lines.join("\n") + "\n";
}

proptest! {
    /// However the files of a project are edited, one edit after the other.
    #[test]
    fn incremental_equals_from_scratch(language in 0usize..8, edits in edits()) {
        let mut before = texts([PYTHON, TYPESCRIPT, JAVASCRIPT, SCRIPTS, GO, JAVA, RUST, BELOW][language]);
        let (mut was, mut notes) = noted(&before);
        for one in edits {
            let mut after = before.clone();
            apply(&mut after, one);
            let is_code = |path: &&String| languages::of_file(path, &[]).is_some_and(|(_, spec)| spec.relating.is_some());
            if after.iter().any(|(path, text)| !is_code(&path) && before[path] != *text) {
                break;
            }
            (_, was, notes) = edit((&before, was, notes), &after);
            before = after;
        }
    }
}
