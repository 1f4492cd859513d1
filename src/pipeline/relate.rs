//! Who means whom in a snapshot, from the facts of its files.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::languages::LANGUAGES;
use crate::model::{Kind, Relations, Site};
use crate::resolve::{Facts, Project, ProjectFile, Semantics, resolve, unpack};
use crate::store::{self, Edge, EdgeTable, Edges, FileView, Import, Snapshot, SymbolId};

/// The relations of a snapshot. They are found out when they are first asked for, not when the snapshot is committed: an
/// edit is searchable at once, and the edit's edges a moment later. What was found out is kept beside the index.
pub fn relations(snapshot: &Snapshot) -> Result<&EdgeTable, store::Error> {
    match snapshot.edges() {
        Some(edges) => Ok(edges),
        None => snapshot.keep_edges(&derive(snapshot)),
    }
}

/// Resolves every language of a snapshot.
fn derive(snapshot: &Snapshot) -> Edges {
    let mut edges = Edges::default();
    let files: Vec<FileView<'_>> = snapshot.files().collect();
    let paths: Vec<&str> = files.iter().map(FileView::path).collect();
    let semantics_of = |file: &FileView<'_>| -> Option<&'static Semantics> {
        Some(LANGUAGES[file.language_number()? as usize].relating?.semantics)
    };
    let mut done: Vec<&'static Semantics> = Vec::new();
    while let Some(semantics) = files
        .iter()
        .filter_map(semantics_of)
        .find(|semantics| !done.iter().any(|other| std::ptr::eq(*other, *semantics)))
    {
        done.push(semantics);
        let of_it = |file: &&FileView<'_>| semantics_of(file).is_some_and(|own| std::ptr::eq(own, semantics));
        let tables: Vec<(FileView<'_>, Vec<u64>)> =
            files.iter().filter(of_it).filter_map(|file| Some((*file, unpack(file.facts())?))).collect();
        let views: Vec<(FileView<'_>, Facts<'_>)> =
            tables.iter().filter_map(|(file, tables)| Some((*file, Facts::open(tables)?))).collect();
        let read = |path: &str| snapshot.file(path).map(|file| file.content());
        let project = Project {
            files: views.iter().map(|(file, facts)| ProjectFile { path: file.path(), facts: *facts }).collect(),
            read: &read,
            paths: &paths,
        };
        // A fault of ours in one language must not cost the others.
        match catch_unwind(AssertUnwindSafe(|| resolve(&project, semantics))) {
            Ok(relations) => {
                let views: Vec<FileView<'_>> = views.iter().map(|(file, _)| *file).collect();
                add(&mut edges, &views, &relations);
            }
            Err(_) => tracing::error!("resolving names failed by a fault of codelode"),
        }
    }
    edges
}

/// A file's symbols as occurrences find them.
struct Symbols {
    /// Where each name is written, ascending, and the symbol's place.
    by_name: Vec<(u32, u32)>,
    /// In source order: where the symbol begins, decorators left out, where it ends, and its kind.
    spans: Vec<(u32, u32, Kind)>,
}

impl Symbols {
    fn of(file: FileView<'_>) -> Self {
        let mut by_name: Vec<(u32, u32)> =
            file.symbols().map(|symbol| (symbol.name_span().start, symbol.number().index)).collect();
        by_name.sort_unstable();
        let span = |symbol: store::SymbolView<'_>| (symbol.signature_start(), symbol.span().end, symbol.kind());
        Self { by_name, spans: file.symbols().map(span).collect() }
    }

    /// The innermost of these; a value that a function gives to something belongs to the function.
    fn innermost(&self, open: &[u32]) -> Option<u32> {
        let kind = |symbol: &&u32| self.spans[**symbol as usize].2;
        let innermost = open.iter().max()?;
        let function = open.iter().filter(|symbol| matches!(kind(symbol), Kind::Function | Kind::Method)).max();
        if kind(&innermost) == Kind::Constant { function.or(Some(innermost)).copied() } else { Some(*innermost) }
    }

    fn at(&self, name: u32) -> Option<u32> {
        self.by_name.binary_search_by_key(&name, |(at, _)| *at).ok().map(|place| self.by_name[place].1)
    }
}

/// Turns places in files into symbols.
fn add(edges: &mut Edges, files: &[FileView<'_>], relations: &Relations) {
    let symbols: Vec<Symbols> = files.iter().map(|file| Symbols::of(*file)).collect();
    let symbol_of = |site: Site| -> Option<SymbolId> {
        let index = symbols[site.file as usize].at(site.at)?;
        Some(SymbolId { file: files[site.file as usize].number(), index })
    };
    let mut targets = Vec::new();
    // The symbols that the walk over a file's occurrences is in, and the next one it comes to.
    let (mut open, mut next, mut current): (Vec<u32>, usize, u32) = (Vec::new(), 0, u32::MAX);
    for occurrence in &relations.occurrences {
        let (file, own) = (&files[occurrence.file as usize], &symbols[occurrence.file as usize]);
        if occurrence.file != current {
            (open, next, current) = (Vec::new(), 0, occurrence.file);
        }
        while own.spans.get(next).is_some_and(|(start, ..)| *start <= occurrence.at) {
            open.push(next as u32);
            next += 1;
        }
        open.retain(|symbol| own.spans[*symbol as usize].1 > occurrence.at);
        targets.clear();
        let first = occurrence.first_target as usize;
        for site in &relations.targets[first..first + occurrence.targets as usize] {
            // Where it is defined it does not mean itself.
            if (site.file, site.at) != (occurrence.file, occurrence.at) {
                targets.extend(symbol_of(*site).filter(|symbol| !targets.contains(symbol)));
            }
        }
        if targets.is_empty() && occurrence.targets > 0 {
            continue;
        }
        let edge = Edge::new(
            file.number(),
            occurrence.at,
            occurrence.len,
            occurrence.role,
            occurrence.how,
            own.innermost(&open),
        );
        let at = occurrence.at as usize;
        let name = file.content().get(at..at + occurrence.len as usize).unwrap_or_default();
        edges.add(edge, &targets, name);
    }
    for (from, to, at) in &relations.imports {
        let number = |file: u32| files[file as usize].number();
        edges.add_import(Import { from: number(*from), to: number(*to), at: *at });
    }
    for (class, base) in &relations.bases {
        if let (Some(class), Some(base)) = (symbol_of(*class), symbol_of(*base)) {
            edges.add_base(class, base);
        }
    }
}
