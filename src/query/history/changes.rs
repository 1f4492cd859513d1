//! Differences between two states of code, symbol by symbol: not lines, and not files that only moved.

use std::collections::HashMap;

use crate::model::{Detail, Extraction, Kind, Span};
use crate::store::{FileView, qualified_name};

/// A symbol of one of the states.
#[derive(Clone, Debug)]
pub struct Version<'a> {
    /// See [`crate::store::SymbolView::id`].
    pub id: String,
    /// The name.
    pub name: String,
    /// The names of all enclosing definitions and its own, with dots between.
    pub qualified_name: String,
    /// The kind of symbol.
    pub kind: Kind,
    /// The kind in the language's own word.
    pub detail: Detail,
    /// The file that defines it.
    pub file: &'a str,
    /// First line, one-based.
    pub line: u32,
    /// The definition's exact bytes.
    pub source: &'a [u8],
    /// The bytes of it without its body.
    pub signature: &'a [u8],
    /// Hash of the definition without its members.
    own: blake3::Hash,
}

/// Symbols added, removed, modified, moved or renamed between two states.
#[derive(Debug, Default)]
pub struct Changes<'a> {
    /// In the new state only.
    pub added: Vec<Version<'a>>,
    /// In the old state only.
    pub removed: Vec<Version<'a>>,
    /// In both states, with different text: old, new.
    pub modified: Vec<(Version<'a>, Version<'a>)>,
    /// The same text under another name or in another place: old, new.
    pub renamed: Vec<(Version<'a>, Version<'a>)>,
    /// The number of symbols without changes.
    pub unchanged: usize,
}

/// The key by which two symbols are versions of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// Path, qualified name and kind: two states of one repository.
    Place,
    /// Qualified name and kind: two repositories.
    Name,
}

/// The least text in bytes that is recognized under another name in another file.
const TELLING: usize = 40;

/// The symbols of an extraction.
pub fn versions<'a>(file: &'a str, content: &'a [u8], extraction: &Extraction) -> Vec<Version<'a>> {
    let symbols = &extraction.symbols;
    let text = |span: Span| String::from_utf8_lossy(span.of(content)).into_owned();
    let mut all: Vec<Version<'a>> = Vec::with_capacity(symbols.len());
    let parents: Vec<Option<u32>> = symbols.iter().map(|symbol| symbol.parent).collect();
    for (place, symbol) in symbols.iter().enumerate() {
        let parent = symbol.parent.and_then(|parent| all.get(parent as usize)).map(|parent| &*parent.qualified_name);
        let name = text(symbol.name);
        let members = children(&parents, place).map(|child| with_doc(symbols[child].span, symbols[child].doc));
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
    let parents: Vec<Option<u32>> =
        file.symbols().map(|symbol| symbol.parent().map(|parent| parent.number().index)).collect();
    let spans: Vec<Span> = file.symbols().map(|symbol| with_doc(symbol.span(), symbol.doc_span())).collect();
    let version = |(place, symbol): (usize, crate::store::SymbolView<'a>)| Version {
        id: symbol.id(),
        name: symbol.name().into_owned(),
        qualified_name: symbol.qualified_name(),
        kind: symbol.kind(),
        detail: symbol.detail(),
        file: file.path(),
        line: symbol.line(),
        source: symbol.source(),
        signature: symbol.signature_source(),
        own: own(file.content(), symbol.span(), children(&parents, place).map(|child| spans[child])),
    };
    file.symbols().enumerate().map(version).collect()
}

/// The places of a symbol's members: they follow it, in source order.
fn children(parents: &[Option<u32>], place: usize) -> impl Iterator<Item = usize> + '_ {
    let of_it = move |child: &usize| parents[*child] == Some(place as u32);
    (place + 1..parents.len())
        .take_while(move |child| parents[*child].is_some_and(|parent| parent as usize >= place))
        .filter(of_it)
}

/// The range of a definition with the comment above it.
fn with_doc(span: Span, doc: Span) -> Span {
    if doc.is_empty() { span } else { Span { start: span.start.min(doc.start), ..span } }
}

/// Hash of a definition without its members, and without the space around them.
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

/// Compares two states. Symbols are paired by `same`; among the rest, equal text under another name is a rename.
pub fn compare<'a>(old: Vec<Version<'a>>, new: Vec<Version<'a>>, same: Same) -> Changes<'a> {
    let mut changes = Changes::default();
    type Group<'a> = (Vec<Version<'a>>, Vec<Version<'a>>);
    let mut groups: HashMap<(&'a str, String, Kind), Group<'a>> = HashMap::new();
    let key = |version: &Version<'a>| {
        let file = if same == Same::Place { version.file } else { "" };
        (file, version.qualified_name.clone(), version.kind)
    };
    for version in old {
        groups.entry(key(&version)).or_default().0.push(version);
    }
    for version in new {
        groups.entry(key(&version)).or_default().1.push(version);
    }
    for (mut before, now) in groups.into_values() {
        // The surest pairs first: overloads and namesakes are matched by text, then by file, then by order.
        let mut left = now;
        let rounds: [fn(&Version<'_>, &Version<'_>) -> bool; 4] = [
            |a, b| a.file == b.file && a.source == b.source,
            |a, b| a.source == b.source,
            |a, b| a.file == b.file,
            |_, _| true,
        ];
        for fits in rounds {
            let mut rest = Vec::new();
            for version in left {
                match before.iter().position(|other| fits(other, &version)) {
                    Some(at) => {
                        let other = before.remove(at);
                        match other.source == version.source {
                            true => changes.unchanged += 1,
                            false => changes.modified.push((other, version)),
                        }
                    }
                    None => rest.push(version),
                }
            }
            left = rest;
        }
        changes.removed.extend(before);
        changes.added.extend(left);
    }
    find_renames(&mut changes);
    changes.added.sort_by(|a, b| (a.file, a.line, &a.id).cmp(&(b.file, b.line, &b.id)));
    changes.removed.sort_by(|a, b| (a.file, a.line, &a.id).cmp(&(b.file, b.line, &b.id)));
    for pairs in [&mut changes.modified, &mut changes.renamed] {
        pairs.sort_by(|(_, a), (_, b)| (a.file, a.line, &a.id).cmp(&(b.file, b.line, &b.id)));
    }
    changes
}

impl Version<'_> {
    /// Whether two versions differ at most in their members.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.own == other.own
    }

    /// Whether two versions are declared differently, white space aside: then those who use it may have to change. The
    /// declaration of a value is the value.
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

    /// Keeps what `is_wanted` holds for, before or now.
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
    let mut by_body: HashMap<(Kind, blake3::Hash), Vec<usize>> = HashMap::new();
    for (place, version) in changes.removed.iter().enumerate() {
        by_body.entry((version.kind, body(version))).or_default().push(place);
    }
    let mut taken: Vec<Option<usize>> = vec![None; changes.added.len()];
    let fits: [fn(&Version<'_>, &Version<'_>) -> bool; 3] =
        [|a, b| a.file == b.file, |a, b| a.name == b.name, |a, _| a.source.len() >= TELLING];
    for fits in fits {
        for (version, taken) in changes.added.iter().zip(&mut taken).filter(|(_, taken)| taken.is_none()) {
            let Some(candidates) = by_body.get_mut(&(version.kind, body(version))) else { continue };
            let found = candidates.iter().position(|place| fits(&changes.removed[*place], version));
            *taken = found.map(|at| candidates.remove(at));
        }
    }
    let mut removed: Vec<Option<Version<'_>>> = std::mem::take(&mut changes.removed).into_iter().map(Some).collect();
    for (version, taken) in std::mem::take(&mut changes.added).into_iter().zip(taken) {
        match taken.and_then(|place| removed[place].take()) {
            Some(before) => changes.renamed.push((before, version)),
            None => changes.added.push(version),
        }
    }
    changes.removed = removed.into_iter().flatten().collect();
}

/// Hash of a definition without its own name, wherever that occurs as a word.
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
