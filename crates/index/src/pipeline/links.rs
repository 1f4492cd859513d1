//! Uses of a package's symbols in another repository. The using files are bound as if they lay beside the package, so
//! that its exports, re-exports and types lead to its symbols.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use memchr::memmem::Finder;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::external::{Bound, Guests, bound};
use super::relate::{EnclosingSymbols, Symbols, semantics_of};
use codelode_base::model::{Ecosystem, How, Occurrence, Phase, Published};
use codelode_lang::extract;
use codelode_lang::facts::Semantics;
use codelode_lang::languages::{Distribution, LANGUAGES};
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolId};

/// The most files of one repository that are bound against a package.
const MOST_FILES: usize = 2_000;
/// With more files, only importing files are bound, and none that may lie on the way from an import to a use.
const MOST_BESIDE: usize = 5_000;
/// The most import steps from a file that imports the package to a file that uses it.
const MOST_STEPS: usize = 3;

/// Uses of a package's symbols in another repository.
#[derive(Debug, Default)]
pub struct Links {
    /// Uses, by file and place. Edges and their `from` belong to the using repository.
    pub uses: Vec<Link>,
    /// Imports of package files, by file and place.
    pub imports: Vec<LinkedImport>,
    /// The number of importing files that exceeded the limit.
    pub left_out: usize,
}

/// A use of a package's symbol.
#[derive(Debug)]
pub struct Link {
    /// The occurrence.
    pub edge: Edge,
    /// The package symbols that it means.
    pub to: Vec<SymbolId>,
}

/// An import of a package file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedImport {
    /// Number of the importing file.
    pub from: u32,
    /// The position of the import.
    pub at: u32,
    /// The number of the package file.
    pub to: u32,
}

impl Links {
    /// Adds the links to another package of the same repository.
    pub fn extend(&mut self, more: Self) {
        self.uses.extend(more.uses);
        self.imports.extend(more.imports);
        self.left_out += more.left_out;
    }

    /// Sorts by path and place. A file that imports several packages is bound for each, so duplicates are removed.
    pub fn in_order(mut self, user: &Snapshot) -> Self {
        let files: HashMap<u32, usize> = user.files().enumerate().map(|(place, file)| (file.number(), place)).collect();
        let place = |file: u32| files.get(&file).copied().unwrap_or(usize::MAX);
        self.uses.sort_by_key(|link| (place(link.edge.file), link.edge.at));
        self.uses.dedup_by(|a, b| (a.edge.file, a.edge.at, &a.to) == (b.edge.file, b.edge.at, &b.to));
        self.imports.sort_by_key(|import| (place(import.from), import.at, import.to));
        self.imports.dedup();
        self
    }
}

/// Packages of one repository.
pub struct Linked<'p> {
    /// The repository.
    pub snapshot: &'p Snapshot,
    /// Its relations.
    pub edges: &'p EdgeTable,
    /// The folder in which guest files are placed.
    pub folder: &'p str,
    /// The packages.
    pub packages: &'p [&'p Published],
}

/// Whether files in these languages may import packages of these ecosystems.
pub fn may_import(languages: &BTreeMap<String, u64>, ecosystems: &BTreeSet<Ecosystem>) -> bool {
    let is_one = |distribution: &Distribution| ecosystems.contains(&distribution.ecosystem);
    let specs = LANGUAGES.iter().filter(|spec| languages.contains_key(spec.id));
    // The languages of an index that was never opened here are unknown.
    languages.is_empty() || specs.filter_map(|spec| spec.distribution.as_ref()).any(is_one)
}

/// Numbers of the files that import one of `packages`.
pub fn importers(user: &Snapshot, packages: &[&Published]) -> Vec<u32> {
    let _phase = Phase::begin("importers");
    let modules = packages.iter().flat_map(|package| &package.modules);
    let finders: Vec<Finder<'_>> = modules.map(|module| Finder::new(module.as_bytes())).collect();
    // Facts are only unpacked for files that contain a module's name.
    let writes_one = |file: &FileView<'_>| finders.iter().any(|finder| finder.find(file.content()).is_some());
    let imports_one = |file: &FileView<'_>| imports_of(*file, packages).next().is_some();
    let may = |file: &FileView<'_>| ecosystem(*file).is_some_and(|own| packages.iter().any(|it| it.ecosystem == own));
    user.files().filter(|file| may(file) && writes_one(file) && imports_one(file)).map(|file| file.number()).collect()
}

/// Modules that a snapshot's files import, each as `ecosystem/name`. A Go import names a folder, so the folders above
/// it are included.
pub fn imported(snapshot: &Snapshot) -> BTreeSet<String> {
    let _phase = Phase::begin("imports");
    let of_file = |file: FileView<'_>| -> Vec<(Ecosystem, String)> {
        let Some(ecosystem) = ecosystem(file) else { return Vec::new() };
        let names = extract::packages(file.spec(), file.facts()).into_iter();
        names.filter(|(_, name)| !name.is_empty()).map(|(_, name)| (ecosystem, name)).collect()
    };
    let files: Vec<FileView<'_>> = snapshot.files().collect();
    let named: BTreeSet<(Ecosystem, String)> = files.into_par_iter().flat_map_iter(of_file).collect();
    let mut imported = BTreeSet::new();
    for (ecosystem, name) in named {
        let above = name.match_indices('/').filter(|_| ecosystem == Ecosystem::Golang).map(|(at, _)| &name[..at]);
        imported.extend(above.chain([&*name]).map(|name| module(ecosystem, name)));
    }
    imported
}

/// Modules of packages, in the form of [`imported`].
pub fn modules_of(packages: &[Published]) -> BTreeSet<String> {
    let of_package = |package: &Published| -> Vec<String> {
        package.modules.iter().map(|name| module(package.ecosystem, name)).collect()
    };
    packages.iter().flat_map(of_package).collect()
}

fn module(ecosystem: Ecosystem, name: &str) -> String {
    format!("{}/{name}", ecosystem.as_str())
}

fn ecosystem(file: FileView<'_>) -> Option<Ecosystem> {
    file.spec().distribution.as_ref().map(|distribution| distribution.ecosystem)
}

/// Positions of a file's imports that name one of `packages`.
fn imports_of<'f>(file: FileView<'f>, packages: &'f [&'f Published]) -> impl Iterator<Item = u32> + 'f {
    let own = ecosystem(file);
    let is_one = move |name: &str| packages.iter().any(|it| Some(it.ecosystem) == own && it.is_imported_as(name));
    let named = extract::packages(file.spec(), file.facts()).into_iter();
    named.filter(move |(_, name)| !name.is_empty() && is_one(name)).map(|(at, _)| at)
}

/// Binds the uses of packages in a repository, starting from the files that import them.
pub fn links(package: &Linked<'_>, user: &Snapshot, edges: &EdgeTable, importers: &[u32]) -> Links {
    let _phase = Phase::begin("link");
    let mut found = Links::default();
    let all: HashMap<&str, FileView<'_>> = user.files().map(|file| (file.path(), file)).collect();
    let read = |path: &str| all.get(path).map(|file| file.content());
    let mut paths: Vec<&str> = all.keys().copied().collect();
    paths.sort_unstable();
    let mut by_semantics = Vec::<(&'static Semantics, Vec<FileView<'_>>)>::new();
    for file in user.files() {
        let Some(semantics) = semantics_of(&file) else { continue };
        match by_semantics.iter_mut().find(|(known, _)| std::ptr::eq(*known, semantics)) {
            Some((_, files)) => files.push(file),
            None => by_semantics.push((semantics, vec![file])),
        }
    }
    for (semantics, files) in by_semantics {
        let inside = |file: &FileView<'_>, at: u32| edges.imports(file.number()).iter().any(|import| import.at == at);
        let outside = |file: &&FileView<'_>| imports_of(**file, package.packages).any(|at| !inside(file, at));
        let own = files.iter().filter(|file| importers.contains(&file.number()));
        let mut importing: Vec<u32> = own.filter(outside).map(FileView::number).collect();
        if importing.is_empty() {
            continue;
        }
        found.left_out += importing.len().saturating_sub(MOST_FILES);
        importing.truncate(MOST_FILES);
        let is_whole = files.len() <= MOST_BESIDE;
        let wanted = if is_whole { reached(&importing, user, edges) } else { importing.into_iter().collect() };
        let beside: Vec<FileView<'_>> =
            files.into_iter().filter(|file| is_whole || wanted.contains(&file.number())).collect();
        let places = (0..).zip(&beside).filter(|(_, file)| wanted.contains(&file.number())).map(|(place, _)| place);
        let places: Vec<u32> = places.collect();
        let guests = Guests {
            beside: package.folder,
            files: beside.iter().map(|file| (file.path(), file.facts())).collect(),
            paths: paths.clone(),
            read: &read,
            wanted: &places,
        };
        let read = |bound: &Bound<'_>| add(&mut found, bound, &beside, edges, package.packages);
        // Without notes on the package's names, nothing is found.
        let _ = bound(package.snapshot, package.edges, semantics, &guests, read);
    }
    found
}

/// Adds uses and imports that come from an import of one of the packages, as far as known. Names bound within the
/// files' own repository are left out.
fn add(found: &mut Links, bound: &Bound<'_>, files: &[FileView<'_>], edges: &EdgeTable, packages: &[&Published]) {
    let mut uses: BTreeMap<u32, Vec<(&Occurrence, Vec<SymbolId>)>> = BTreeMap::new();
    for (guest, it) in bound.occurrences() {
        let to: Vec<SymbolId> = bound.symbols(it).collect();
        if !to.is_empty() {
            uses.entry(guest).or_default().push((it, to));
        }
    }
    let mut imports: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for (guest, at, to) in bound.imports() {
        imports.entry(guest).or_default().push((at, to));
    }
    for (place, file) in (0_u32..).zip(files) {
        if !uses.contains_key(&place) && !imports.contains_key(&place) {
            continue;
        }
        let inside: BTreeSet<u32> = edges.imports(file.number()).iter().map(|import| import.at).collect();
        let named: BTreeSet<u32> = imports_of(*file, packages).filter(|at| !inside.contains(at)).collect();
        let imported = imports.remove(&place).into_iter().flatten().filter(|(at, _)| named.contains(at));
        found.imports.extend(imported.map(|(at, to)| LinkedImport { from: file.number(), at, to }));
        let uses = uses.remove(&place).unwrap_or_default();
        let places: Vec<u32> = uses.iter().map(|(it, _)| it.at).collect();
        let origins: HashMap<u32, u32> = extract::imports_of(file.spec(), file.facts(), &places).into_iter().collect();
        let own = edges.in_file(file.number());
        let is_own = |at: u32| {
            let first = own.partition_point(|edge| edge.at < at);
            own[first..].iter().take_while(|edge| edge.at == at).any(|edge| edge.how().is_bound())
        };
        let is_from_elsewhere = |at: u32| {
            // A file that imports users of the package gets the names through them.
            origins.get(&at).map_or(!named.is_empty(), |import| named.contains(import) || inside.contains(import))
        };
        let (symbols, mut open) = (Symbols::of(*file), EnclosingSymbols::default());
        for (it, to) in uses.into_iter().filter(|(it, _)| !is_own(it.at) && is_from_elsewhere(it.at)) {
            let from = open.innermost(&symbols, it.at);
            found.uses.push(Link { edge: Edge::new(file.number(), it.at, it.len, it.role, How::Resolved, from), to });
        }
    }
}

/// These files, and files that import them within a few steps.
fn reached(from: &[u32], user: &Snapshot, edges: &EdgeTable) -> BTreeSet<u32> {
    let mut reached: BTreeSet<u32> = from.iter().copied().collect();
    let mut level = from.to_vec();
    for _ in 0..MOST_STEPS {
        let importers = level.iter().flat_map(|file| edges.importers(*file)).map(|import| import.from);
        let mut next: Vec<u32> = importers.filter(|file| user.file_by_number(*file).is_some()).collect();
        next.retain(|file| reached.len() < MOST_FILES && reached.insert(*file));
        level = next;
    }
    reached
}
