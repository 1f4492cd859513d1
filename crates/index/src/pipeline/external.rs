//! Binds names in files that use a package against the package's index. The files are guests: a single file of a
//! project, or files of another repository.

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::relate::{LanguageSymbols, semantics_of};
use super::unsaved::notes_by_language;
use codelode_base::model::{Occurrence, Phase, Relations, Site};
use codelode_lang::facts::{Project, ProjectFile, Semantics};
use codelode_lang::languages;
use codelode_resolve::{StoredNotes, resolve_guests};
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolId};

/// The folder of guests among the package's files. No package has such a folder, every language reads files there, and
/// relative paths out of the guest's repository end inside it.
const FOLDER: &str = "~guest/of/another/repository/tests";

/// A guest file.
#[derive(Clone, Debug)]
pub struct ExternalFile {
    /// Name of the file.
    pub name: String,
    /// Number of its language.
    pub language: u8,
    /// The packed facts.
    pub facts: Vec<u8>,
}

/// The meaning of a name in a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalMeaning {
    /// The symbols of the package.
    pub symbols: Vec<SymbolId>,
    /// The position of each import of the guest, with the number of a package file that it means.
    pub imports: Vec<(u32, u32)>,
}

/// Binds the name at a byte of a guest against a package with resolved names.
pub fn meant_in(package: &Snapshot, edges: &EdgeTable, guest: &ExternalFile, byte: u32) -> ExternalMeaning {
    let _phase = Phase::begin("resolve guest");
    let Some(semantics) = languages::of_number(guest.language).relating.map(|relating| relating.semantics) else {
        return ExternalMeaning::default();
    };
    let guests = Guests {
        beside: "",
        files: vec![(guest.name.as_str(), guest.facts.as_slice())],
        paths: vec![guest.name.as_str()],
        read: &|_: &str| None,
        wanted: &[0],
    };
    let meant = |bound: &Bound<'_>| {
        let mut meant = ExternalMeaning::default();
        let mut here: Vec<_> = bound.occurrences().map(|(_, it)| it).collect();
        here.retain(|it| it.at <= byte && byte <= it.at + u32::from(it.len));
        if let Some(it) = here.last() {
            meant.symbols.extend(bound.symbols(it));
        }
        meant.imports.extend(bound.imports().map(|(_, at, to)| (at, to)));
        meant
    };
    bound(package, edges, semantics, &guests, meant).unwrap_or_default()
}

/// Files of one repository that use a package.
pub(super) struct Guests<'g, 'r> {
    /// The package's folder in its own repository, in which the guests are placed.
    pub beside: &'g str,
    /// Paths and packed facts, by path.
    pub files: Vec<(&'g str, &'g [u8])>,
    /// All paths of the guests' repository, sorted.
    pub paths: Vec<&'g str>,
    /// Reads a file of the guests' repository.
    pub read: &'g dyn Fn(&str) -> Option<&'r [u8]>,
    /// Indices of the files whose names are bound.
    pub wanted: &'g [u32],
}

/// Names of guests, bound against a package.
pub(super) struct Bound<'b> {
    relations: &'b Relations,
    symbols: &'b LanguageSymbols<'b, 'b>,
    views: &'b [FileView<'b>],
    /// The index of the first guest, and the number of guests.
    first: u32,
    count: u32,
}

impl Bound<'_> {
    /// Occurrences with targets, each with the index of its guest.
    pub fn occurrences(&self) -> impl Iterator<Item = (u32, &Occurrence)> {
        let all = self.relations.occurrences.iter().filter(|it| it.targets > 0);
        all.filter_map(|it| Some((it.file.checked_sub(self.first)?, it)))
    }

    /// The package symbols that an occurrence means.
    pub fn symbols(&self, occurrence: &Occurrence) -> impl Iterator<Item = SymbolId> {
        let first = occurrence.first_target as usize;
        let sites = &self.relations.targets[first..first + occurrence.targets as usize];
        let own = |site: &Site| self.own(site.file).map(|file| Site { file, at: site.at });
        sites.iter().filter_map(move |site| self.symbols.at(own(site)?))
    }

    /// Imports of package files: index of the guest, position, and number of the file.
    pub fn imports(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let imports = self.relations.imports.iter();
        imports.filter_map(|(from, to, at)| {
            let to = self.views[self.own(*to)? as usize].number();
            Some((from.checked_sub(self.first)?, *at, to))
        })
    }

    /// The index of a file among the package's own; `None` for a guest.
    fn own(&self, file: u32) -> Option<u32> {
        if file < self.first {
            Some(file)
        } else {
            file.checked_sub(self.first + self.count).map(|rest| rest + self.first)
        }
    }
}

/// Binds names of guests, and passes the result to `read`. `None` without notes on the package's names, or after a bug.
pub(super) fn bound<T>(
    package: &Snapshot,
    edges: &EdgeTable,
    semantics: &'static Semantics,
    guests: &Guests<'_, '_>,
    read: impl FnOnce(&Bound<'_>) -> T,
) -> Option<T> {
    let files: Vec<FileView<'_>> = package.committed_files().collect();
    // A bug in name binding must not affect other answers.
    let bind = || bind(&files, edges, semantics, guests, read);
    catch_unwind(AssertUnwindSafe(bind)).ok().flatten()
}

fn bind<T>(
    files: &[FileView<'_>],
    edges: &EdgeTable,
    semantics: &'static Semantics,
    guests: &Guests<'_, '_>,
    read: impl FnOnce(&Bound<'_>) -> T,
) -> Option<T> {
    let stored = notes_of(files, edges, semantics)?;
    let of_it = |file: &&FileView<'_>| semantics_of(file).is_some_and(|own| std::ptr::eq(own, semantics));
    let views: Vec<FileView<'_>> = files.iter().filter(of_it).copied().collect();
    let folder = if guests.beside.is_empty() { FOLDER.to_owned() } else { format!("{}/{FOLDER}", guests.beside) };
    let moved = |path: &str| format!("{folder}/{path}");
    let guest_paths: Vec<String> = guests.paths.iter().map(|path| moved(path)).collect();
    let guest_files: Vec<String> = guests.files.iter().map(|(path, _)| moved(path)).collect();
    let mut paths: Vec<&str> = files.iter().map(FileView::path).collect();
    let of_guest = |path: &str| path.strip_prefix(&folder)?.strip_prefix('/').and_then(guests.read);
    let of_package = |path: &str| Some(files[files.binary_search_by(|file| file.path().cmp(path)).ok()?].content());
    let read_file = |path: &str| of_package(path).or_else(|| of_guest(path));
    let above = format!("{folder}/");
    if paths.iter().any(|path| path.starts_with(&above)) {
        return None;
    }
    let place = paths.partition_point(|path| *path < above.as_str());
    drop(paths.splice(place..place, guest_paths.iter().map(String::as_str)));
    let first = views.partition_point(|view| view.path() < above.as_str());
    let mut all: Vec<ProjectFile<'_>> = views.iter().map(|file| ProjectFile::new(file.path(), file.facts())).collect();
    let guest = guest_files.iter().zip(&guests.files).map(|(path, (_, facts))| ProjectFile::new(path, facts));
    drop(all.splice(first..first, guest));
    let project = Project { files: all, read: &read_file, paths: &paths };
    let (first, count) = (first as u32, guests.files.len() as u32);
    let wanted = guests.wanted.iter().map(|place| first + place);
    let relations = resolve_guests(&project, semantics, &stored, first..first + count, wanted)?;
    let symbols: Vec<OnceCell<_>> = views.iter().map(|_| OnceCell::new()).collect();
    let symbols = LanguageSymbols::new(&views, &symbols);
    Some(read(&Bound { relations: &relations, symbols: &symbols, views: &views, first, count }))
}

/// Notes on the names of a language; `None` if they belong to other files.
fn notes_of<'a>(
    files: &[FileView<'_>],
    edges: &'a EdgeTable,
    semantics: &'static Semantics,
) -> Option<StoredNotes<'a>> {
    let mut all = notes_by_language(files, edges, &[]).into_iter();
    all.find(|language| std::ptr::eq(language.semantics, semantics)).map(|language| language.notes)
}
