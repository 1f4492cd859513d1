//! An index in the forms of other programs: SCIP, ctags, and lines of JSON. Possible uses are left out.

mod lines;
mod scip;
mod tags;

use std::io::{self, Write};

use codelode_base::model::Role;
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolView};

/// A form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The protocol buffers of SCIP (scip-code.org): definitions, references, documentation and implementations.
    Scip,
    /// A file of tags, as editors read them: definitions alone.
    Ctags,
    /// A JSON object a line: definitions and references.
    Ndjson,
}

/// The parts to export.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The files and their symbols.
    pub snapshot: &'a Snapshot,
    /// Uses with their definitions.
    pub edges: &'a EdgeTable,
    /// The folder, as a URL.
    pub root: &'a str,
}

/// Numbers of what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportCounts {
    /// Files.
    pub files: u64,
    /// Definitions.
    pub definitions: u64,
    /// References, each to one definition.
    pub references: u64,
}

/// Writes all files that have symbols, by path.
pub fn write(source: &Source<'_>, form: Form, out: &mut dyn Write) -> io::Result<ExportCounts> {
    match form {
        Form::Scip => scip::write(source, out),
        Form::Ctags => tags::write(source, out),
        Form::Ndjson => lines::write(source, out),
    }
}

/// A use that is bound.
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

/// Uses in a file that are bound, one for each definition that they mean. A definition is no use of itself.
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

/// Lines and columns of bytes, for a file whose places are asked for in any order.
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

    /// The line and the byte in it, both from zero.
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
