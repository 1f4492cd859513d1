//! Names of a file that uses an installed package, bound against the index of that package.

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::relate::{LanguageSymbols, paths_hash, semantics_of};
use super::unsaved::notes;
use crate::facts::{Project, ProjectFile, Semantics};
use crate::languages;
use crate::model::{Phase, Site};
use crate::resolve::{StoredNotes, resolve_guest};
use crate::store::{EdgeTable, FileView, Snapshot, SymbolId};

/// Folder of a guest among the files of a package: no package has it, and every language reads files there.
const FOLDER: &str = "~guest/tests";

/// A file from elsewhere.
#[derive(Clone, Debug)]
pub struct ExternalFile {
    /// Name of the file.
    pub name: String,
    /// Number of its language.
    pub language: u8,
    /// Its packed facts.
    pub facts: Vec<u8>,
}

/// Meaning of a name in a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalMeaning {
    /// Symbols that it means.
    pub symbols: Vec<SymbolId>,
    /// Position of each import of the guest, with the number of a file that it means.
    pub imports: Vec<(u32, u32)>,
}

/// Binds the name at a byte of a guest against a package, whose names are bound already.
pub fn meant_in(package: &Snapshot, edges: &EdgeTable, guest: &ExternalFile, byte: u32) -> ExternalMeaning {
    let _phase = Phase::begin("resolve guest");
    let files: Vec<FileView<'_>> = package.committed_files().collect();
    let Some(semantics) = languages::of_number(guest.language).relating.map(|relating| relating.semantics) else {
        return ExternalMeaning::default();
    };
    // A fault in binding must not affect other answers.
    let bind = || bind(&files, edges, semantics, guest, byte);
    catch_unwind(AssertUnwindSafe(bind)).ok().flatten().unwrap_or_default()
}

fn bind(
    files: &[FileView<'_>],
    edges: &EdgeTable,
    semantics: &'static Semantics,
    guest: &ExternalFile,
    byte: u32,
) -> Option<ExternalMeaning> {
    let ([count, low, high, _], mut words) = edges.notes().split_first_chunk()?;
    if (*count, (*low, *high)) != (files.len() as u32, paths_hash(files)) {
        return None;
    }
    // The notes of the languages follow each other in the order of their first files.
    let mut done: Vec<&'static Semantics> = Vec::new();
    let mut stored = None;
    for of_file in files.iter().filter_map(semantics_of) {
        if stored.is_none() && !done.iter().any(|other| std::ptr::eq(*other, of_file)) {
            done.push(of_file);
            let own = notes(&mut words)?;
            stored = std::ptr::eq(of_file, semantics).then_some(own);
        }
    }
    let stored = StoredNotes::read(&mut stored?)?;
    let of_it = |file: &&FileView<'_>| semantics_of(file).is_some_and(|own| std::ptr::eq(own, semantics));
    let views: Vec<FileView<'_>> = files.iter().filter(of_it).copied().collect();
    let path = format!("{FOLDER}/{}", guest.name);
    let mut paths: Vec<&str> = files.iter().map(FileView::path).collect();
    let read = |path: &str| Some(files[files.binary_search_by(|file| file.path().cmp(path)).ok()?].content());
    paths.insert(paths.binary_search(&path.as_str()).err()?, &path);
    let place = views.partition_point(|view| view.path() < path.as_str());
    let mut all: Vec<ProjectFile<'_>> = views.iter().map(|file| ProjectFile::new(file.path(), file.facts())).collect();
    all.insert(place, ProjectFile::new(&path, &guest.facts));
    let project = Project { files: all, read: &read, paths: &paths };
    let relations = resolve_guest(&project, semantics, &stored, place as u32)?;

    let symbols: Vec<OnceCell<_>> = views.iter().map(|_| OnceCell::new()).collect();
    let symbols = LanguageSymbols::new(&views, &symbols);
    // Places among the package's own files.
    let own = |file: u32| match (file as usize).cmp(&place) {
        std::cmp::Ordering::Less => Some(file),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(file - 1),
    };
    let mut here: Vec<_> = relations.occurrences.iter().filter(|it| it.targets > 0).collect();
    here.retain(|it| it.at <= byte && byte <= it.at + u32::from(it.len));
    let mut meant = ExternalMeaning::default();
    if let Some(it) = here.last() {
        let first = it.first_target as usize;
        for site in &relations.targets[first..first + it.targets as usize] {
            let site = own(site.file).map(|file| Site { file, at: site.at });
            meant.symbols.extend(site.and_then(|site| symbols.at(site)));
        }
    }
    let imported = relations.imports.iter().filter(|(from, ..)| *from as usize == place);
    let imports = imported.filter_map(|(_, to, at)| Some((*at, views[own(*to)? as usize].number())));
    meant.imports.extend(imports);
    Some(meant)
}
