//! Differences between two states of code, symbol by symbol: not lines, and not files that only moved.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use codelode_base::model::{Detail, Extraction, Kind, Span};
use codelode_store::{FileView, qualified_name};

/// A symbol in one of the two states.
#[derive(Clone, Debug)]
pub struct Version<'a> {
    /// See [`codelode_store::SymbolView::id`].
    pub id: String,
    /// The name.
    pub name: String,
    /// The dotted names of all enclosing definitions and the symbol's own.
    pub qualified_name: String,
    /// The kind of symbol.
    pub kind: Kind,
    /// Kind in the language's own term.
    pub detail: Detail,
    /// The file that defines it.
    pub file: &'a str,
    /// First line, one-based.
    pub line: u32,
    /// The definition's exact bytes.
    pub source: &'a [u8],
    /// The source without the body.
    pub signature: &'a [u8],
    /// Hash of the definition without its members.
    own: blake3::Hash,
}

/// Symbols that were added, removed, modified or renamed between two states.
#[derive(Debug, Default)]
pub struct Changes<'a> {
    /// In the new state only.
    pub added: Vec<Version<'a>>,
    /// In the old state only.
    pub removed: Vec<Version<'a>>,
    /// In both states, with different text: old, new.
    pub modified: Vec<(Version<'a>, Version<'a>)>,
    /// The same text under another name or in another file: old, new.
    pub renamed: Vec<(Version<'a>, Version<'a>)>,
    /// The number of unchanged symbols.
    pub unchanged: usize,
}

/// The key by which an old and a new symbol are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKey {
    /// Path, qualified name and kind: two states of one repository.
    Place,
    /// Qualified name and kind: two repositories.
    Name,
}

/// The shortest text in bytes that identifies a renamed symbol in another file.
const TELLING: usize = 40;

/// The symbols of an extraction.
pub fn versions<'a>(file: &'a str, content: &'a [u8], extraction: &Extraction) -> Vec<Version<'a>> {
    let symbols = &extraction.symbols;
    let text = |span: Span| String::from_utf8_lossy(span.of(content)).into_owned();
    let mut all: Vec<Version<'a>> = Vec::with_capacity(symbols.len());
    let members = members(symbols.iter().map(|symbol| symbol.parent));
    for (place, symbol) in symbols.iter().enumerate() {
        let parent = symbol.parent.and_then(|parent| all.get(parent as usize)).map(|parent| &*parent.qualified_name);
        let name = text(symbol.name);
        let members = members[place].iter().map(|member| with_doc(symbols[*member].span, symbols[*member].doc));
        all.push(Version {
            id: String::new(),
            qualified_name: qualified_name(&name, &text(symbol.container), parent),
            name,
            kind: symbol.kind,
            detail: symbol.detail,
            file,
            line: symbol.line,
            source: symbol.span.of(content),
            signature: symbol.signature.of(content),
            own: own(content, symbol.span, members),
        });
    }
    name_all(&mut all);
    all
}

/// The symbols of an indexed file.
pub fn stored_versions<'a>(file: FileView<'a>) -> Vec<Version<'a>> {
    let members = members(file.symbols().map(|symbol| symbol.parent().map(|parent| parent.number().index)));
    let spans: Vec<Span> = file.symbols().map(|symbol| with_doc(symbol.span(), symbol.doc_span())).collect();
    let version = |(place, symbol): (usize, codelode_store::SymbolView<'a>)| Version {
        id: symbol.id(),
        name: symbol.name().into_owned(),
        qualified_name: symbol.qualified_name(),
        kind: symbol.kind(),
        detail: symbol.detail(),
        file: file.path(),
        line: symbol.line(),
        source: symbol.source(),
        signature: symbol.signature_source(),
        own: own(file.content(), symbol.span(), members[place].iter().map(|member| spans[*member])),
    };
    file.symbols().enumerate().map(version).collect()
}

/// The indices of each symbol's members, in source order.
fn members(parents: impl Iterator<Item = Option<u32>>) -> Vec<Vec<usize>> {
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (place, parent) in parents.enumerate() {
        members.push(Vec::new());
        if let Some(of_parent) = parent.and_then(|parent| members.get_mut(parent as usize)) {
            of_parent.push(place);
        }
    }
    members
}

/// The range of a definition with the comment above it.
fn with_doc(span: Span, doc: Span) -> Span {
    if doc.is_empty() { span } else { Span { start: span.start.min(doc.start), ..span } }
}

/// Hash of a definition without its members and surrounding white space.
fn own(content: &[u8], span: Span, members: impl Iterator<Item = Span>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let mut at = span.start;
    let mut add = |start: u32, end: u32| {
        let between = Span { start, end: end.max(start) }.of(content).trim_ascii();
        if !between.is_empty() {
            hasher.update(between).update(&[0]);
        }
    };
    for member in members {
        add(at, member.start);
        at = at.max(member.end);
    }
    add(at, span.end);
    hasher.finalize()
}

/// Assigns an id to each symbol of a file.
fn name_all(all: &mut [Version<'_>]) {
    let mut counts: HashMap<(String, Kind), (usize, usize)> = HashMap::new();
    for version in all.iter() {
        counts.entry((version.qualified_name.clone(), version.kind)).or_default().0 += 1;
    }
    for version in all {
        let (n, next) = counts.entry((version.qualified_name.clone(), version.kind)).or_default();
        *next += 1;
        let overload = if *n > 1 { format!("~{next}") } else { String::new() };
        version.id = format!("{}::{}#{}{overload}", version.file, version.qualified_name, version.kind.as_str());
    }
}

/// Compares two states. Symbols with the same key in `same` are pairs; among the others, equal text under another name
/// is a rename.
pub fn compare<'a>(old: Vec<Version<'a>>, new: Vec<Version<'a>>, same: SymbolKey) -> Changes<'a> {
    let mut changes = Changes::default();
    type Group<'a> = (Vec<Version<'a>>, Vec<Version<'a>>);
    let mut groups: HashMap<(&'a str, String, Kind), Group<'a>> = HashMap::new();
    let key = |version: &Version<'a>| {
        let file = if same == SymbolKey::Place { version.file } else { "" };
        (file, version.qualified_name.clone(), version.kind)
    };
    for version in old {
        groups.entry(key(&version)).or_default().0.push(version);
    }
    for version in new {
        groups.entry(key(&version)).or_default().1.push(version);
    }
    for (before, now) in groups.into_values() {
        let mut pairs = Pairs::of(before.len(), now.len());
        // The most certain pairs come first: overloads are matched by text, then by file, then by order.
        if before.len() > 1 || now.len() > 1 {
            let (old, new) = (|at: usize| &before[at], |at: usize| &now[at]);
            pairs.join(|at| Some((old(at).file, old(at).source)), |at| Some((new(at).file, new(at).source)));
            pairs.join(|at| Some(old(at).source), |at| Some(new(at).source));
            pairs.join(|at| Some(old(at).file), |at| Some(new(at).file));
        }
        pairs.join(|_| Some(()), |_| Some(()));
        let taken = pairs.taken;
        let mut before: Vec<Option<Version<'_>>> = before.into_iter().map(Some).collect();
        for (version, taken) in now.into_iter().zip(taken) {
            match taken.and_then(|place| before[place].take()) {
                Some(other) if other.source == version.source => changes.unchanged += 1,
                Some(other) => changes.modified.push((other, version)),
                None => changes.added.push(version),
            }
        }
        changes.removed.extend(before.into_iter().flatten());
    }
    find_renames(&mut changes);
    changes.added.sort_by(|a, b| (a.file, a.line, &a.id).cmp(&(b.file, b.line, &b.id)));
    changes.removed.sort_by(|a, b| (a.file, a.line, &a.id).cmp(&(b.file, b.line, &b.id)));
    for pairs in [&mut changes.modified, &mut changes.renamed] {
        pairs.sort_by(|(_, a), (_, b)| (a.file, a.line, &a.id).cmp(&(b.file, b.line, &b.id)));
    }
    changes
}

/// Pairs of old and new symbols, by index, made in rounds. A file may have thousands of symbols with one name, so no
/// round compares each with each.
struct Pairs {
    /// The old symbol of each new one.
    taken: Vec<Option<usize>>,
    /// Whether each old symbol is still unpaired.
    is_free: Vec<bool>,
}

impl Pairs {
    fn of(n_old: usize, n_new: usize) -> Self {
        Self { taken: vec![None; n_new], is_free: vec![true; n_old] }
    }

    /// Pairs each unpaired new symbol with the first unpaired old one of the same key.
    fn join<K: Eq + Hash>(&mut self, of_old: impl Fn(usize) -> Option<K>, of_new: impl Fn(usize) -> Option<K>) {
        if !self.is_free.contains(&true) || !self.taken.contains(&None) {
            return;
        }
        let mut free: HashMap<K, VecDeque<usize>> = HashMap::new();
        for place in (0..self.is_free.len()).filter(|place| self.is_free[*place]) {
            if let Some(key) = of_old(place) {
                free.entry(key).or_default().push_back(place);
            }
        }
        for (place, taken) in self.taken.iter_mut().enumerate().filter(|(_, taken)| taken.is_none()) {
            *taken = of_new(place).and_then(|key| free.get_mut(&key)?.pop_front());
            if let Some(old) = taken {
                self.is_free[*old] = false;
            }
        }
    }
}

impl Version<'_> {
    /// Whether two versions are equal apart from their members.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.own == other.own
    }

    /// Whether the declaration changed, apart from white space, so that users may have to change. A value is its own
    /// declaration.
    pub fn is_declared_otherwise(&self, other: &Self) -> bool {
        let words = |signature: &[u8]| -> Vec<u8> {
            signature.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().collect()
        };
        self.kind != Kind::Constant && words(self.signature) != words(other.signature)
    }
}

impl Changes<'_> {
    /// The number of symbols that differ.
    pub fn count(&self) -> usize {
        self.added.len() + self.removed.len() + self.modified.len() + self.renamed.len()
    }

    /// Keeps changes whose old or new version `is_wanted` accepts.
    pub fn retain(&mut self, is_wanted: impl Fn(&Version<'_>) -> bool) {
        self.added.retain(&is_wanted);
        self.removed.retain(&is_wanted);
        self.modified.retain(|(was, now)| is_wanted(was) || is_wanted(now));
        self.renamed.retain(|(was, now)| is_wanted(was) || is_wanted(now));
    }
}

/// Pairs removed and added symbols whose texts differ only in the name.
fn find_renames(changes: &mut Changes<'_>) {
    changes.removed.sort_by(|a, b| a.id.cmp(&b.id));
    changes.added.sort_by(|a, b| a.id.cmp(&b.id));
    let (old, new) = (&changes.removed, &changes.added);
    let bodies = |versions: &[Version<'_>]| versions.iter().map(|it| (it.kind, body(it))).collect::<Vec<_>>();
    let (was, is) = (bodies(old), bodies(new));
    let mut pairs = Pairs::of(old.len(), new.len());
    pairs.join(|at| Some((was[at], old[at].file)), |at| Some((is[at], new[at].file)));
    pairs.join(|at| Some((was[at], &old[at].name)), |at| Some((is[at], &new[at].name)));
    pairs.join(|at| (old[at].source.len() >= TELLING).then_some(was[at]), |at| Some(is[at]));
    let taken = pairs.taken;
    let mut removed: Vec<Option<Version<'_>>> = std::mem::take(&mut changes.removed).into_iter().map(Some).collect();
    for (version, taken) in std::mem::take(&mut changes.added).into_iter().zip(taken) {
        match taken.and_then(|place| removed[place].take()) {
            Some(before) => changes.renamed.push((before, version)),
            None => changes.added.push(version),
        }
    }
    changes.removed = removed.into_iter().flatten().collect();
}

/// Hash of a definition with its own name masked, wherever that is a whole word.
fn body(version: &Version<'_>) -> blake3::Hash {
    let is_word =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80);
    let (source, name) = (version.source, version.name.as_bytes());
    let mut hasher = blake3::Hasher::new();
    let mut at = 0;
    for found in memchr::memmem::find_iter(source, name) {
        let end = found + name.len();
        let before = found.checked_sub(1).and_then(|before| source.get(before));
        if !name.is_empty() && !is_word(before) && !is_word(source.get(end)) {
            hasher.update(&source[at..found]).update(&[0]);
            at = end;
        }
    }
    hasher.update(&source[at..]);
    hasher.finalize()
}
