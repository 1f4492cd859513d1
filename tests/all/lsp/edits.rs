//! Random edits of a text that is not saved: its symbols, and what each of its names means, are those of an index of the
//! same text.
//!
//! `CODELODE_EDIT_RUNS=1000 cargo test --release --test all lsp::edits` makes more of them.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use codelode::config::Config;
use codelode::model::Role;
use codelode::pipeline::{self, EditCache, Options, RebindScope, RunControl, Unsaved};
use codelode::store::{EdgeTable, Registry, Snapshot};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, RngAlgorithm, TestRng, TestRunner};

use super::editor::write;

/// Files that use each other's names.
const PROJECT: &str = r#"
--- pkg/__init__.py
from .base import Base, make
--- pkg/base.py
"""Bases."""
import os


class Base:
    limit: int = 3

    def run(self, other: "Base") -> "Base":
        return other.run(self)

    def stop(self):
        return os.getcwd()


def make() -> Base:
    value = Base()
    return value.run(value)
--- pkg/user.py
from pkg.base import Base, make
from . import base as b


class Derived(Base):
    def run(self, other):
        self.kept = make()
        return super().run(self.kept)

    def go(self):
        return self.kept.stop(), b.make().limit


for each in [Derived()]:
    each.go()
    each.run(Base())
--- web/b.ts
export interface Shape { area(): number }
export abstract class Base implements Shape {
  protected size = 1;
  area(): number { return this.size; }
}
export function make(): Shape { return new (class extends Base {})(); }
--- web/a.ts
import { Base, make, Shape } from './b';
export class Square extends Base {
  constructor(private side: number) { super(); }
  area() { return this.side * this.size; }
}
export const all: Shape[] = [new Square(2), make()];
all.forEach(one => one.area());
--- go/go.mod
module example.org/go
--- go/main.go
package main

type Runner interface{ Run() int }

type Engine struct{ power int }

func (e *Engine) Run() int { return e.power + start() }

func start() int { return 1 }

func drive(r Runner) int { return r.Run() }

func main() { drive(&Engine{power: start()}) }
--- rust/Cargo.toml
[package]
name = "shapes"
--- rust/src/lib.rs
pub mod area;
use area::{Area, Square};
pub fn total(all: &[Square]) -> u32 { all.iter().map(|one| one.area()).sum() }
--- rust/src/area.rs
pub trait Area { fn area(&self) -> u32; }
pub struct Square { pub side: u32 }
impl Area for Square { fn area(&self) -> u32 { self.side * Self::twice(self.side) } }
impl Square { fn twice(of: u32) -> u32 { 2 * of } }
--- java/shop/Item.java
package shop;
public class Item {
  private int price;
  public Item(int price) { this.price = price; }
  public int price() { return price; }
}
--- java/shop/Cart.java
package shop;
import java.util.List;
public class Cart {
  List<Item> items;
  int total() { int sum = 0; for (Item item : items) sum += item.price(); return sum; }
  static Cart of(Item one) { Cart cart = new Cart(); cart.items.add(one); return cart; }
}
"#;

/// Pieces that are written into texts.
const PIECES: [&str; 14] = [
    "\n",
    "Base",
    "make()",
    ".run(",
    ")",
    "\nclass New(Base):\n    def run(self): return make()\n",
    "\ndef fresh(x: Base):\n    return x.run(x).stop()\n",
    "\nexport class New extends Base { area() { return make().area(); } }\n",
    "\nfunc fresh() int { return drive(&Engine{}) + start() }\n",
    "\npub fn fresh(s: Square) -> u32 { s.area() + total(&[]) }\n",
    "  Item fresh() { return new Item(this.total()); }\n",
    "\"𝒳é\"",
    "{",
    "#",
];

/// An edit of a text, by shares of its length.
#[derive(Clone, Debug)]
enum Edit {
    Write(u16, usize),
    Remove(u16, u8),
    RemoveLine(u16),
    CopyLine(u16, u16),
    /// A word everywhere gets another name.
    Rename(u16),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (any::<u16>(), 0..PIECES.len()).prop_map(|(at, piece)| Edit::Write(at, piece)),
        1 => (any::<u16>(), 0..30_u8).prop_map(|(at, len)| Edit::Remove(at, len)),
        2 => any::<u16>().prop_map(Edit::RemoveLine),
        2 => (any::<u16>(), any::<u16>()).prop_map(|(from, to)| Edit::CopyLine(from, to)),
        2 => any::<u16>().prop_map(Edit::Rename),
    ]
}

fn apply(text: &str, edit: &Edit) -> String {
    let at = |share: u16| {
        let mut at = usize::from(share) * text.len() / (1 << 16);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let line = |share: u16| usize::from(share) * lines.len() / (1 << 16);
    match *edit {
        Edit::Write(share, piece) => format!("{}{}{}", &text[..at(share)], PIECES[piece], &text[at(share)..]),
        Edit::Remove(share, len) => {
            let rest: String = text[at(share)..].chars().skip(len.into()).collect();
            format!("{}{rest}", &text[..at(share)])
        }
        Edit::RemoveLine(_) | Edit::CopyLine(..) if lines.is_empty() => String::new(),
        Edit::RemoveLine(share) => {
            lines.remove(line(share));
            lines.concat()
        }
        Edit::CopyLine(from, to) => {
            let (from, to) = (line(from), line(to));
            lines.insert(to, lines[from]);
            lines.concat()
        }
        Edit::Rename(share) => {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let word: String = text[at(share)..].chars().take_while(|c| is_word(*c)).collect();
            if word.is_empty() { text.to_owned() } else { text.replace(&word, &format!("{word}_x")) }
        }
    }
}

fn indexed(root: &Path, home: &Path) -> Snapshot {
    let config = Config { home: home.to_owned(), ..Config::default() };
    let cancelled = AtomicBool::new(false);
    let watcher =
        RunControl { progress: &codelode::model::unfollowed, cancelled: &cancelled, patience: Duration::from_secs(60) };
    pipeline::index_folder(root, &config, &Options::default(), &watcher).expect("there is room");
    let sidecar = pipeline::sidecar_of(root, &config);
    Registry::new(&config.home).store(&sidecar.store).snapshot(&sidecar.snapshot).expect("it was indexed")
}

/// Symbols of a file, and what each of its names means.
fn told(snapshot: &Snapshot, edges: &EdgeTable, path: &str) -> Vec<String> {
    let file = snapshot.file(path).expect("it was indexed");
    let id = |symbol| snapshot.symbol(symbol).map(|symbol| symbol.id()).unwrap_or_default();
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    let mut told: Vec<String> = Vec::new();
    // Interfaces that a class satisfies without naming them are computed for whole projects only.
    let bases = edges.in_file(file.number()).iter().filter(|edge| edge.role() == Role::Base);
    let written: Vec<_> = bases.flat_map(|edge| edges.targets(edge)).collect();
    for symbol in file.symbols() {
        let bases = edges.bases(symbol.number()).filter(|base| written.contains(base));
        let bases = sorted(bases.map(id).collect());
        told.push(format!("{} {:?} {:?} {bases:?}", symbol.id(), symbol.span(), symbol.docstring()));
        let own = edges.users(symbol.number()).filter(|edge| edge.file == file.number());
        told.push(format!("  used at {:?}", own.map(|edge| edge.at).collect::<Vec<_>>()));
    }
    for edge in edges.in_file(file.number()) {
        let targets = sorted(edges.targets(edge).map(id).collect());
        let from = edge.from().map(id);
        told.push(format!("{} {} {:?} {:?} {from:?} {targets:?}", edge.at, edge.len(), edge.role(), edge.how()));
    }
    told
}

#[test]
fn an_unsaved_text_means_what_it_would_if_it_were_saved() {
    let folder = tempfile::tempdir().expect("there is room");
    let root = folder.path().canonicalize().expect("it is there").join("project");
    write(PROJECT, &root);
    let before = indexed(&root, &folder.path().join("home"));
    let edges = pipeline::relations(&before).expect("there is room");
    // One editor's edits share it.
    let cache = EditCache::default();
    let paths: Vec<&str> = before.files().filter(|file| file.symbol_count() > 0).map(|file| file.path()).collect();
    paths.iter().for_each(|path| pipeline::bind_ahead(&before, &cache, edges, path));
    let runs = std::env::var("CODELODE_EDIT_RUNS").map_or(30, |runs| runs.parse().expect("a number"));
    let cases = Cases { cases: runs, failure_persistence: None, ..Cases::default() };
    let mut runner = TestRunner::new_with_rng(cases, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let edits = proptest::collection::vec(edit(), 1..8);
    let same_at_once = Cell::new(0);
    let ran = runner.run(&(0..paths.len(), edits), |(file, edits)| {
        let path = paths[file];
        let text = std::fs::read_to_string(root.join(path)).expect("it is there");
        let now = edits.iter().fold(text.clone(), |text, edit| apply(&text, edit));
        let unsaved = [Unsaved { path: path.to_owned(), text: now.clone().into_bytes() }];
        let snapshot = pipeline::with_unsaved(&before, &cache, &unsaved).expect("there is room");
        let bound =
            pipeline::relations_with_unsaved(&before, &cache, edges, &snapshot, &unsaved, RebindScope::Affected);
        let place = tempfile::tempdir().expect("there is room");
        let copy = place.path().canonicalize().expect("it is there").join("project");
        write(PROJECT, &copy);
        std::fs::write(copy.join(path), &now).expect("it is ours");
        let fresh = indexed(&copy, &place.path().join("home"));
        let saved = pipeline::relations(&fresh).expect("there is room");
        prop_assert_eq!(told(&snapshot, &bound, path), told(&fresh, saved, path), "{}:\n{}", path, now);
        // The first answer after an edit does not wait for other files.
        let at_once =
            pipeline::relations_with_unsaved(&before, &cache, edges, &snapshot, &unsaved, RebindScope::Edited);
        let is_same = told(&snapshot, &at_once, path) == told(&fresh, saved, path);
        same_at_once.set(same_at_once.get() + u32::from(is_same));
        // Answers about other files do not fail. Where the effect of an edit cannot be told, they are as before it.
        for path in snapshot.files().map(|file| file.path()) {
            told(&snapshot, &bound, path);
        }
        Ok(())
    });
    ran.unwrap_or_else(|err| panic!("{err}"));
    let share = f64::from(same_at_once.get()) / f64::from(runs);
    assert!(share > 0.95, "of {runs} texts, {share} mean the same at once");
    println!("of {runs} texts, {share} mean the same at once");
}
