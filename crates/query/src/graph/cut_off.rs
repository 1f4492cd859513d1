//! Files that were not read to their end, because of a limit. They may hold further definitions and uses.

use std::collections::BTreeSet;

use super::relations::may_name;
use codelode_store::{FileView, Snapshot, SymbolView};

/// Paths of cut-off files that write the name of one of `symbols`, and so may use it.
pub fn cut_off<'a>(snapshot: &'a Snapshot, symbols: &[SymbolView<'_>]) -> BTreeSet<&'a str> {
    let may_use = |file: &FileView<'_>| {
        symbols.iter().any(|symbol| may_name(*file, symbol.file) && writes(*file, symbol.name_bytes()))
    };
    snapshot.files().filter(FileView::is_cut_off).filter(may_use).map(|file| file.path()).collect()
}

/// Paths of cut-off files that write `name`, and so may define it.
pub fn cut_off_with<'a>(snapshot: &'a Snapshot, name: &str) -> BTreeSet<&'a str> {
    let last = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
    let cut = snapshot.files().filter(|file| file.is_cut_off() && writes(*file, last.as_bytes()));
    cut.map(|file| file.path()).collect()
}

fn writes(file: FileView<'_>, name: &[u8]) -> bool {
    memchr::memmem::find(file.content(), name).is_some()
}
