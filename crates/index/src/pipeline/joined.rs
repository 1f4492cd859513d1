//! Joins edges with a compiler's index. If a file has the text that the compiler read, the compiler's occurrences
//! replace edges at the same places.

use rustc_hash::{FxHashMap, FxHashSet};

use super::relate::{EnclosingSymbols, Symbols};
use codelode_base::model::{Detail, How, Role};
use codelode_store::{
    CompiledDocument, CompiledOccurrence, CompiledSymbol, CompiledTable, Copied, Edge, EdgeTable, Edges, FileView,
    Import, Parts, Snapshot, SymbolId,
};

/// The state of a compiler's index relative to a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompilerState {
    /// Documents in use.
    pub used: u64,
    /// Documents made of another text than their current one.
    pub stale: u64,
}

/// How far a snapshot uses its compiler's index; `None` without one.
pub fn compiler_state(snapshot: &Snapshot, edges: &EdgeTable) -> Option<CompilerState> {
    let facts = snapshot.facts().compiler.as_ref()?;
    let [.., used, gone] = *edges.notes() else { return None };
    let stale = facts.other_text + facts.documents.saturating_sub(u64::from(used) + u64::from(gone));
    Some(CompilerState { used: used.into(), stale })
}

/// The edges of a snapshot, joined with the compiler's occurrences.
pub(super) fn join(snapshot: &Snapshot, own: &EdgeTable, table: &CompiledTable) -> Edges {
    let files: Vec<FileView<'_>> = snapshot.committed_files().collect();
    let read: Vec<(FileView<'_>, &CompiledDocument)> =
        files.iter().filter_map(|file| Some((*file, table.document(file.path(), file.hash())?))).collect();
    let mut joining = Joiner::of(table, own, &read);
    let rows = Copied::new(own);
    let mut read = read.into_iter().peekable();
    for file in &files {
        match read.next_if(|(other, _)| other.number() == file.number()) {
            Some((file, document)) => joining.join(file, document),
            None => {
                let all = Parts { occurrences: true, bases: true };
                joining.edges.copy(&rows, file.number(), all, file.number(), &Some);
            }
        }
    }
    let paths: FxHashSet<&str> = files.iter().map(FileView::path).collect();
    let gone = table.documents().iter().filter(|document| !paths.contains(table.path(document))).count();
    let mut words = own.notes().to_vec();
    words.extend([joining.used, gone as u32]);
    joining.edges.note(words);
    joining.edges
}

/// The place where a compiler's symbol is defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SymbolTarget {
    /// In a changed text, or it is a whole file.
    #[default]
    Unknown,
    /// In a text that the compiler read.
    Here,
    /// In another package.
    Outside,
}

struct Joiner<'a> {
    table: &'a CompiledTable,
    own: &'a EdgeTable,
    /// The start of each compiler symbol's own symbols in `sites`.
    starts: Vec<u32>,
    sites: Vec<SymbolId>,
    known: Vec<SymbolTarget>,
    /// Direct bases by the compiler's relationships.
    bases: FxHashMap<SymbolId, Vec<SymbolId>>,
    symbols: FxHashMap<u32, Symbols>,
    edges: Edges,
    used: u32,
}

impl<'a> Joiner<'a> {
    fn of(table: &'a CompiledTable, own: &'a EdgeTable, read: &[(FileView<'a>, &'a CompiledDocument)]) -> Self {
        let kind =
            |symbol: &CompiledSymbol| if symbol.is_foreign() { SymbolTarget::Outside } else { SymbolTarget::Unknown };
        let mut known: Vec<SymbolTarget> = table.symbols().iter().map(kind).collect();
        let mut pairs: Vec<(u32, SymbolId)> = Vec::new();
        let mut symbols = FxHashMap::default();
        for (file, document) in read {
            let of_file = Symbols::of(*file);
            for occurrence in table.occurrences(document).iter().filter(|it| it.is_definition() && it.len > 0) {
                let Some(known) = known.get_mut(occurrence.symbol as usize) else { continue };
                *known = SymbolTarget::Here;
                let index = of_file.at(occurrence.at);
                pairs.extend(index.map(|index| (occurrence.symbol, SymbolId { file: file.number(), index })));
            }
            symbols.insert(file.number(), of_file);
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; table.symbols().len() + 1];
        pairs.iter().for_each(|(symbol, _)| starts[*symbol as usize + 1] += 1);
        for symbol in 1..starts.len() {
            starts[symbol] += starts[symbol - 1];
        }
        let sites = pairs.into_iter().map(|(_, site)| site).collect();
        let edges = Edges::like(own);
        let mut joining =
            Self { table, own, starts, sites, known, bases: FxHashMap::default(), symbols, edges, used: 0 };
        joining.bases = joining.direct_bases();
        joining
    }

    /// The symbols of the snapshot that a compiler's symbol means.
    fn sites(&self, symbol: u32) -> &[SymbolId] {
        let bounds = self.starts.get(symbol as usize).zip(self.starts.get(symbol as usize + 1));
        bounds.map_or(&[], |(start, end)| &self.sites[*start as usize..*end as usize])
    }

    fn known(&self, symbol: u32) -> SymbolTarget {
        self.known.get(symbol as usize).copied().unwrap_or_default()
    }

    /// Direct bases of classes by the compiler's relationships, which may also list indirect ones.
    fn direct_bases(&self) -> FxHashMap<SymbolId, Vec<SymbolId>> {
        let names_type = |number: u32| self.table.symbol(number).is_some_and(|symbol| is_type(symbol.detail()));
        let pairs: FxHashSet<(u32, u32)> = self
            .table
            .implements()
            .iter()
            .map(|[one, other]| (*one, *other))
            .filter(|(one, _)| names_type(*one))
            .collect();
        let mut above: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for [one, other] in self.table.implements() {
            if names_type(*one) && one != other {
                above.entry(*one).or_default().push(*other);
            }
        }
        let mut bases: FxHashMap<SymbolId, Vec<SymbolId>> = FxHashMap::default();
        for (one, others) in &above {
            let is_between = |other: u32| others.iter().any(|mid| *mid != other && pairs.contains(&(*mid, other)));
            let direct = others.iter().filter(|other| others.len() > MOST_BASES || !is_between(**other));
            let direct: Vec<SymbolId> = direct.flat_map(|other| self.sites(*other)).copied().collect();
            for class in self.sites(*one) {
                bases.entry(*class).or_default().extend(direct.iter().filter(|base| *base != class));
            }
        }
        bases
    }

    /// Joins the edges of a file whose text the compiler read.
    fn join(&mut self, file: FileView<'a>, document: &CompiledDocument) {
        self.used += 1;
        let (number, content) = (file.number(), file.content());
        let Some(symbols) = self.symbols.remove(&number) else { return };
        let mut open = EnclosingSymbols::default();
        let mut theirs = self.table.occurrences(document);
        let mut ours = self.own.in_file(number);
        let has_own = !file.facts().is_empty();
        let mut imported: FxHashSet<u32> = FxHashSet::default();
        while let Some(at) =
            [theirs.first().map(|it| it.at), ours.first().map(|edge| edge.at)].into_iter().flatten().min()
        {
            let (of_theirs, of_ours);
            (of_theirs, theirs) = theirs.split_at(theirs.partition_point(|it| it.at <= at));
            (of_ours, ours) = ours.split_at(ours.partition_point(|edge| edge.at <= at));
            match self.meant(of_theirs, of_ours, (number, symbols.at(at))) {
                SourceComparison::Ours => of_ours.iter().for_each(|edge| self.keep(edge, content)),
                SourceComparison::Nothing => {}
                SourceComparison::Outside => of_ours.iter().take(1).for_each(|edge| {
                    self.edges.add(edge.bound_by(How::Outside), &[], name_of(content, edge));
                }),
                SourceComparison::These(targets, their) => {
                    let from = open.innermost(&symbols, at);
                    let len = u16::try_from(their.len).unwrap_or(u16::MAX);
                    let role = of_ours.first().map(Edge::role).filter(|_| has_own);
                    let role = role.unwrap_or_else(|| self.role(&their, content));
                    let edge = Edge::new(number, at, len, role, How::Compiler, from);
                    self.edges.add(edge, &targets, name_of(content, &edge));
                    let is_import = !has_own && their.flags & CompiledOccurrence::IS_IMPORT != 0;
                    for target in targets.iter().filter(|target| is_import && target.file != number) {
                        if imported.insert(target.file) {
                            self.edges.add_import(Import { from: number, to: target.file, at });
                        }
                    }
                }
            }
        }
        self.own.imports(number).iter().for_each(|import| self.edges.add_import(*import));
        self.join_bases(file);
    }

    /// Compares the meanings of a place.
    fn meant(
        &self,
        theirs: &[CompiledOccurrence],
        ours: &[Edge],
        (file, defined): (u32, Option<u32>),
    ) -> SourceComparison {
        let uses = || theirs.iter().filter(|it| !it.is_definition() && it.len > 0);
        let Some(first) = uses().next() else { return SourceComparison::Ours };
        let mut targets: Vec<SymbolId> = Vec::new();
        for target in uses().flat_map(|it| self.sites(it.symbol)) {
            let is_itself = target.file == file && Some(target.index) == defined;
            if !is_itself && !targets.contains(target) {
                targets.push(*target);
            }
        }
        if !targets.is_empty() {
            return SourceComparison::These(targets, *first);
        }
        // It is defined here but is no symbol, such as a parameter or a local name.
        if uses().any(|it| self.known(it.symbol) == SymbolTarget::Here) {
            return SourceComparison::Nothing;
        }
        match uses().all(|it| self.known(it.symbol) == SymbolTarget::Outside) {
            true if ours.is_empty() => SourceComparison::Nothing,
            true => SourceComparison::Outside,
            false => SourceComparison::Ours,
        }
    }

    /// Keeps an edge unchanged.
    fn keep(&mut self, edge: &Edge, content: &[u8]) {
        let targets: Vec<SymbolId> = self.own.targets(edge).collect();
        self.edges.add(*edge, &targets, name_of(content, edge));
    }

    /// The role of an occurrence, for a language without facts.
    fn role(&self, occurrence: &CompiledOccurrence, content: &[u8]) -> Role {
        let detail = self.table.symbol(occurrence.symbol).map(CompiledSymbol::detail);
        let end = (occurrence.at + occurrence.len) as usize;
        let rest = content.get(end..).unwrap_or_default().iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        if occurrence.flags & CompiledOccurrence::IS_IMPORT != 0 {
            return Role::Import;
        }
        if occurrence.flags & CompiledOccurrence::IS_WRITE != 0 {
            return Role::Write;
        }
        match detail {
            Some(Detail::Function | Detail::Method | Detail::Constructor | Detail::Macro)
                if matches!(rest, Some(b'(' | b'!')) =>
            {
                Role::Call
            }
            Some(detail) if is_type(detail) && rest != Some(&b'(') => Role::Type,
            Some(detail) if is_type(detail) => Role::Call,
            _ => Role::Reference,
        }
    }

    /// Adds the bases of a file's classes: written bases by their new meanings, other bases unchanged.
    fn join_bases(&mut self, file: FileView<'a>) {
        let number = file.number();
        let written = |edges: &[Edge], targets: &dyn Fn(&Edge) -> Vec<SymbolId>| {
            let mut found: FxHashMap<u32, Vec<SymbolId>> = FxHashMap::default();
            for edge in edges.iter().filter(|edge| edge.role() == Role::Base) {
                let Some(class) = edge.from() else { continue };
                found.entry(class.index).or_default().extend(targets(edge));
            }
            found
        };
        let before = written(self.own.in_file(number), &|edge| self.own.targets(edge).collect());
        let now = written(self.edges.last_file(number), &|edge| self.edges.targets_of(edge));
        for index in 0..file.symbol_count() {
            let class = SymbolId { file: number, index };
            let (before, now) = (before.get(&index), now.get(&index));
            let was_written = |base: &SymbolId| before.is_some_and(|before| before.contains(base));
            let mut bases: Vec<SymbolId> = self.own.bases(class).filter(|base| !was_written(base)).collect();
            bases.extend(now.into_iter().flatten());
            if before.is_none() && now.is_none() {
                bases.extend(self.bases.get(&class).into_iter().flatten());
            }
            bases.sort_unstable();
            bases.dedup();
            bases.into_iter().filter(|base| *base != class).for_each(|base| self.edges.add_base(class, base));
        }
    }
}

/// The most bases of a class that are compared with each other.
const MOST_BASES: usize = 1_000;

/// The result of comparing a place.
enum SourceComparison {
    /// The edge bound here stays.
    Ours,
    /// No symbol is meant.
    Nothing,
    /// A symbol of another package is meant.
    Outside,
    /// The compiler's symbols are meant, by this occurrence.
    These(Vec<SymbolId>, CompiledOccurrence),
}

fn is_type(detail: Detail) -> bool {
    use Detail as D;
    matches!(
        detail,
        D::Class
            | D::Interface
            | D::Trait
            | D::Struct
            | D::Union
            | D::Enum
            | D::Record
            | D::Alias
            | D::NamedType
            | D::Protocol
    )
}

fn name_of<'t>(content: &'t [u8], edge: &Edge) -> &'t [u8] {
    content.get(edge.at as usize..edge.at as usize + edge.len()).unwrap_or_default()
}
