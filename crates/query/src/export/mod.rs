//! Exports an index as SCIP, ctags or JSON lines. Possible uses are left out.

mod lines;
mod scip;
mod tags;

use std::io::{self, Write};

use codelode_base::model::Role;
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolView};

/// An export format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// SCIP protocol buffers (scip-code.org): definitions, references, documentation and implementations.
    Scip,
    /// A tags file for editors: definitions only.
    Ctags,
    /// One JSON object per line: definitions and references.
    Ndjson,
}

/// An index to export.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The files and their symbols.
    pub snapshot: &'a Snapshot,
    /// The resolved uses.
    pub edges: &'a EdgeTable,
    /// The URL of the root folder.
    pub root: &'a str,
}

impl<'a> Source<'a> {
    /// The direct bases of a class by path and line, whichever file was indexed first.
    fn bases(&self, class: &SymbolView<'_>) -> Vec<SymbolView<'a>> {
        let mut bases: Vec<SymbolView<'a>> =
            self.edges.bases(class.number()).filter_map(|base| self.snapshot.symbol(base)).collect();
        bases.sort_by_key(|base| (base.file.path(), base.span().start));
        bases
    }
}

/// Counts of the written items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportCounts {
    /// Files.
    pub files: u64,
    /// Definitions.
    pub definitions: u64,
    /// References, one per definition that a use means.
    pub references: u64,
}

/// Writes all files that have symbols or uses, by path. Fails if `out` does.
pub fn write(source: &Source<'_>, form: Form, out: &mut dyn Write) -> io::Result<ExportCounts> {
    match form {
        Form::Scip => scip::write(source, out),
        Form::Ctags => tags::write(source, out),
        Form::Ndjson => lines::write(source, out),
    }
}

/// A resolved use.
struct Use<'a> {
    at: u32,
    len: usize,
    role: Role,
    target: SymbolView<'a>,
}

/// Files with symbols or uses, by path.
fn files<'a>(source: &Source<'a>) -> Vec<FileView<'a>> {
    let edges = source.edges;
    let tells = |file: &FileView<'a>| file.symbol_count() > 0 || !edges.in_file(file.number()).is_empty();
    let mut files: Vec<FileView<'a>> = source.snapshot.files().filter(tells).collect();
    files.sort_by_key(|file| file.path());
    files
}

/// Resolved uses in a file, one per target. A use at its own definition is left out.
fn uses<'a>(source: &Source<'a>, file: &FileView<'a>) -> Vec<Use<'a>> {
    let Source { snapshot, edges, .. } = *source;
    let bound = edges.in_file(file.number()).iter().filter(|edge| edge.how().is_bound());
    let mut uses = Vec::new();
    for edge in bound {
        for target in edges.targets(edge).filter_map(|target| snapshot.symbol(target)) {
            let is_itself = target.file.number() == edge.file && target.name_span().start == edge.at;
            if !is_itself {
                uses.push(Use { at: edge.at, len: edge.len(), role: edge.role(), target });
            }
        }
    }
    uses
}

/// Converts byte offsets of a file to lines and columns, in any order.
struct Lines<'a> {
    content: &'a [u8],
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(file: &FileView<'a>) -> Self {
        let content = file.content();
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', content).map(|at| at + 1)).collect();
        Self { content, starts }
    }

    /// The zero-based line of a byte, and the byte's offset in that line.
    fn place(&self, at: u32) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at as usize).saturating_sub(1);
        (line, at as usize - self.starts[line])
    }

    /// The text of a line.
    fn text(&self, line: usize) -> &'a [u8] {
        let start = self.starts.get(line).copied().unwrap_or(self.content.len());
        let end = self.starts.get(line + 1).map_or(self.content.len(), |next| next - 1);
        self.content.get(start..end).unwrap_or_default()
    }
}
