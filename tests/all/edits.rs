//! Relations after edits of an indexed folder: most are taken over from before, and all must be what they would be anew.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use codelode::pipeline::{self, Options, RunControl};
use codelode::store::{EdgeTable, Registry, Snapshot, SymbolId};
use proptest::prelude::*;

use crate::place::Place;

const FILES: [(&str, &str); 7] = [
    ("shop/__init__.py", "from .item import Item\n"),
    (
        "shop/item.py",
        "from .price import Price\nclass Base:\n    def total(self): return self.price().amount()\nclass Item(Base):\n    \
         def __init__(self, cost: Price):\n        self.cost = cost\n    def price(self): return self.cost\n",
    ),
    ("shop/price.py", "class Price:\n    def amount(self): return 1\ndef free(): return Price()\n"),
    (
        "use.py",
        "from shop import Item\nfrom shop.price import free\ndef show(other):\n    other.amount()\n    \
         Item(free()).price().amount()\n    unknown.free()\n",
    ),
    ("web/price.ts", "export class Price { amount() { return 1 } }\nexport const free = () => new Price()\n"),
    ("web/use.ts", "import { free } from './price'\nexport function show(other) { other.amount(); free().amount() }\n"),
    ("README.md", "# Shop\n"),
];

/// The newest state of the sources, indexed.
fn indexed(place: &Place) -> Snapshot {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let watcher =
        RunControl { progress: &codelode::model::unfollowed, cancelled: &NEVER, patience: Duration::from_secs(60) };
    let report =
        pipeline::index_folder(&place.source(), &place.config(), &Options::default(), &watcher).expect("it is indexed");
    let store = Registry::new(place.home()).store(&report.sidecar.store);
    store.snapshot(&report.sidecar.snapshot).expect("it was committed just now")
}

/// The tables of edges that are kept.
fn tables(place: &Place) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("it is a folder").flatten() {
            if entry.path().is_dir() {
                walk(&entry.path(), found);
            } else if entry.file_name().to_string_lossy().starts_with("edges.") {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    walk(&place.home(), &mut found);
    found
}

/// Everything that a table says, in words.
fn told(snapshot: &Snapshot, edges: &EdgeTable) -> Vec<String> {
    let symbol = |id: SymbolId| snapshot.symbol(id).map_or_else(|| format!("{id:?}?"), |symbol| symbol.id());
    let mut told = Vec::new();
    for file in snapshot.files() {
        let (path, number) = (file.path(), file.number());
        for edge in edges.in_file(number) {
            let targets: Vec<String> = edges.targets(edge).map(symbol).collect();
            let from = edge.from().map(symbol);
            told.push(format!(
                "{path}:{} {} {:?} {:?} in {from:?}: {targets:?}",
                edge.at,
                edge.len(),
                edge.role(),
                edge.how()
            ));
        }
        let path_of = |file: u32| snapshot.file_by_number(file).map_or("?", |file| file.path());
        told.extend(edges.imports(number).iter().map(|to| format!("{path} imports {} {}", path_of(to.to), to.at)));
        told.extend(
            edges.importers(number).iter().map(|by| format!("{path} imported by {} {}", path_of(by.from), by.at)),
        );
        for own in file.symbols() {
            let id = own.number();
            told.extend(edges.bases(id).map(|base| format!("{} derives from {}", own.id(), symbol(base))));
            told.extend(edges.derived(id).map(|below| format!("{} is base of {}", own.id(), symbol(below))));
            told.extend(edges.users(id).map(|edge| format!("{} used {} {}", own.id(), path_of(edge.file), edge.at)));
        }
    }
    for name in ["free", "amount", "price"] {
        told.extend(edges.possible(name.as_bytes()).map(|edge| format!("{name} perhaps {} {}", edge.file, edge.at)));
    }
    told.push(format!("{} in all", edges.all().len()));
    told
}

/// Compares the relations of the newest state, found out as they are after an edit, with those found out anew.
#[track_caller]
fn compare(place: &Place) {
    let snapshot = indexed(place);
    let after_edit = told(&snapshot, pipeline::relations(&snapshot).expect("it can be read"));
    for kept in tables(place) {
        std::fs::remove_file(kept).expect("it can be removed");
    }
    let snapshot = indexed(place);
    let anew = pipeline::relations(&snapshot).expect("it can be read");
    assert_eq!(after_edit, told(&snapshot, anew));
}

#[test]
fn the_table_before_an_edit_is_there_until_it_is_needed_no_more() {
    let place = Place::of(&FILES);
    pipeline::relations(&indexed(&place)).expect("it can be read");
    let first = tables(&place);
    assert_eq!(first.len(), 1);
    place.write("use.py", "from shop import Item\nItem(1).total()\n");
    let snapshot = indexed(&place);
    assert_eq!(tables(&place), first, "nothing is found out before it is asked for");
    assert!(snapshot.earlier_edges().is_some());
    // Two edits without a question between them.
    place.write("use.py", "from shop import Item\n\n\nItem(1).total()\n");
    let snapshot = indexed(&place);
    assert_eq!(tables(&place), first);
    let uses = pipeline::relations(&snapshot).expect("it can be read").all().len();
    assert!(uses > 0);
    compare(&place);
    place.write("use.py", "");
    indexed(&place);
    assert_eq!(tables(&place).len(), 1, "what was taken over from is swept away");
}

/// An edit: of which file, how, and two numbers that say where and what.
type Edit = (usize, usize, usize, usize);

fn apply(place: &Place, (file, how, line, other): Edit) {
    let path = FILES[file % FILES.len()].0;
    let lines = |path: &str| -> Vec<String> {
        let text = std::fs::read_to_string(place.source().join(path)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let (mut own, others) = (lines(path), lines(FILES[other % FILES.len()].0));
    let at = line % (own.len() + 1);
    match how {
        0 => drop(std::fs::remove_file(place.source().join(path))),
        // A new name for a file.
        1 => drop(std::fs::rename(place.source().join(path), place.source().join(path.replace(".", "_2.")))),
        2 if !own.is_empty() => drop(own.remove(at % own.len())),
        3 if !others.is_empty() => own.insert(at, others[line % others.len()].clone()),
        4 => own.iter_mut().for_each(|line| *line = line.replace("free", "gratis")),
        5 => own.iter_mut().for_each(|line| *line = line.replace("amount", "total")),
        6 => own.insert(at, "free()".to_owned()),
        _ => own.push("def added(): return Price()".to_owned()),
    }
    if how > 1 {
        place.write(path, &(own.join("\n") + "\n"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Files are edited, added, renamed and removed.
    #[test]
    fn relations_after_edits_are_those_found_out_anew(
        edits in proptest::collection::vec((0usize..7, 0usize..9, 0usize..9, 0usize..9), 1..4)
    ) {
        let place = Place::of(&FILES);
        pipeline::relations(&indexed(&place)).expect("it can be read");
        for edit in edits {
            apply(&place, edit);
            compare(&place);
        }
    }
}
