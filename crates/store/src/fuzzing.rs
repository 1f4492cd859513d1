//! Files of a store made of any bytes, read as if their checksums were right: what a program has written itself may
//! still be damaged in a way that a checksum does not show.

use std::cell::Cell;
use std::path::Path;

use super::life::manifest::{Manifest, PackFacts};
use super::packs::map::MappedFile;
use super::packs::pack::Pack;
use super::search::segments::check_file;
use super::tables::{edges, files, notes, ranks};
use super::{Copied, Edge, Edges, FileView, GramQuery, Parts, Registry, Store, SymbolView};

thread_local! {
    static IS_BLIND: Cell<bool> = const { Cell::new(false) };
}

/// Whether checksums count as right on this thread.
pub(crate) fn is_blind() -> bool {
    IS_BLIND.get()
}

/// Runs something for which checksums count as right.
pub fn blindly<T>(run: impl FnOnce() -> T) -> T {
    IS_BLIND.set(true);
    let outcome = run();
    IS_BLIND.set(false);
    outcome
}

/// Puts bytes into a file of a folder of its own, and reads them without regard to checksums.
fn read(name: &str, bytes: &[u8], read: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("the folder is ours");
    blindly(|| read(&path));
}

/// A manifest or a table: the first byte chooses which.
pub fn tables(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    match first % 7 {
        0 => read("manifest.json", bytes, manifest),
        1 => read("files.1", bytes, table_of_files),
        2 => read("edges.1", bytes, table_of_edges),
        3 => read("ranks.1", bytes, |path| table_of_ranks(path, bytes)),
        4 => read("notes.1", bytes, |path| drop(notes::NotesTable::open(path).map(|table| table.text().len()))),
        5 => read("a.term", bytes, |path| drop(MappedFile::open(path).and_then(|file| check_file(&file, u64::MAX)))),
        _ => sidecar(bytes),
    }
}

fn manifest(path: &Path) {
    let dir = path.parent().expect("a file is in a folder");
    let Ok(manifest) = Manifest::read(dir) else { return };
    manifest.named(dir);
    let store = Store::at(dir);
    for name in manifest.snapshots.keys() {
        let _ = store.snapshot(name).map(|snapshot| snapshot.files().count());
        let _ = store.snapshot_of_text(name);
    }
}

fn sidecar(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let registry = Registry::new(folder.path());
    std::fs::create_dir(folder.path().join("repos")).expect("the folder is ours");
    std::fs::write(folder.path().join("repos/a__b.json"), bytes).expect("the folder is ours");
    registry.get("a/b");
    for sidecar in registry.all() {
        let _ = registry.store(&sidecar.store).manifest();
    }
}

fn table_of_files(path: &Path) {
    let Ok(table) = files::FileTable::open(path) else { return };
    let _ = (table.numbers().map(<[u64]>::len), table.verify(), table.check_all());
    for (at, row) in table.iter().enumerate().take(200) {
        let _ = (table.get(at), table.find(row.path), table.position(row.path), row.to_entry());
    }
    for (at, row) in table.inputs().enumerate().take(200) {
        let _ = (table.input_at(at), table.input(row.path), row.to_input());
    }
    let _ = (table.held().count(), table.len(), table.damage());
}

fn table_of_edges(path: &Path) {
    let Ok(table) = edges::EdgeTable::open_any(path) else { return };
    let copied = Copied::new(&table);
    let mut copy = Edges::like(&table);
    for edge in table.all().iter().take(200) {
        let _ = (edge.from(), edge.role(), edge.how(), edge.len(), table.in_file(edge.file).len());
        for target in table.targets(edge).take(10) {
            let _ = table.users(target).take(10).filter_map(Edge::from).count();
            let _ = (table.bases(target).count(), table.derived(target).count());
        }
        let _ = (table.imports(edge.file).len(), table.importers(edge.file).len());
        copy.copy(&copied, edge.file, Parts { occurrences: true, bases: true }, edge.file, &Some);
    }
    for name in ["", "a", "f", "run"] {
        let _ = table.possible(name.as_bytes()).filter_map(Edge::from).count();
    }
    let _ = (table.notes().len(), edges::keep(&path.with_extension("2"), copy, edges::Origin::default()));
}

fn table_of_ranks(path: &Path, bytes: &[u8]) {
    // It names the edges that it was made from.
    let of = bytes.get(24..32).and_then(|of| of.try_into().ok()).map_or(0, u64::from_le_bytes);
    let Ok(table) = ranks::RankTable::open(path, of) else { return };
    for rank in table.best() {
        let _ = table.of(rank.symbol());
    }
    let _ = (table.len(), table.iterations());
}

/// A pack with contents, symbols, facts and grams.
pub fn packs(data: &[u8]) {
    read("pack.1", data, |path| {
        let Ok(pack) = Pack::open(path) else { return };
        let facts = PackFacts { number: 1, first_file: 0, end_file: u32::MAX, bytes: 0, files: 0, content: 0 };
        let packs = [(facts, pack)];
        let pack = &packs[0].1;
        for record in pack.files().iter().take(50) {
            let _ = pack.weight(record);
            let Some(file) = FileView::find(&packs, record.id) else { continue };
            let _ = (file.path(), file.facts().len(), file.language(), file.is_intact(), file.given_up());
            file.symbols().take(50).for_each(symbol);
        }
        let literal = |text: &str| GramQuery::literal(text.as_bytes());
        let queries = [
            literal("function"),
            GramQuery::or(["class", "def "].map(literal)),
            GramQuery::and(["return", "self"].map(literal)),
            GramQuery::All,
        ];
        for query in queries {
            let _ = pack.candidates(&query);
        }
        let _ = (pack.check_tables(), pack.verify(), pack.damage());
    });
}

fn symbol(symbol: SymbolView<'_>) {
    let _ = (symbol.id(), symbol.signature(200), symbol.summary(120), symbol.docstring(), symbol.decorators());
    let _ = (symbol.kind(), symbol.detail(), symbol.first_line(), symbol.has_body(), symbol.content_hash());
    let _ = (symbol.children().count(), symbol.container_span().len());
}
