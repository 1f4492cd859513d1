//! Visibility of definitions: the words before a name, and the names that a file exports elsewhere in its text.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::languages::{Conventions, Public};
use crate::model::{Detail, Kind};
use crate::store::SymbolView;

/// The most bytes of an export statement that are read.
const FAR: usize = 8_192;

/// Names that files export apart from their definitions, read once for each file: `export { Chunk }`,
/// `module.exports = Chunk`.
#[derive(Default)]
pub(in crate::query) struct Exports<'a> {
    by_file: RefCell<FxHashMap<u32, FxHashSet<&'a [u8]>>>,
    /// Names assigned to members of objects that all programs see.
    given: RefCell<FxHashMap<u32, FxHashSet<&'a [u8]>>>,
}

impl<'a> Exports<'a> {
    /// Whether a definition is public.
    pub fn is_public(&self, symbol: &SymbolView<'a>, rules: &Conventions) -> bool {
        let name = symbol.name();
        match rules.public {
            Public::Unless(mark) => !name.starts_with(mark),
            Public::Capital => name.starts_with(char::is_uppercase),
            Public::All => true,
            Public::Word(words) => {
                let before = words_before(symbol);
                words.iter().any(|word| says(&before, word)) || in_interface(symbol)
            }
            Public::Exported(words) => {
                // Members of an exported definition are only marked if they are not public.
                let before = words_before(symbol);
                let hidden = says(&before, "private") || name.starts_with('#');
                let says_it = |word: &&str| says(&before, word) || word.ends_with('.') && before.contains(*word);
                words.iter().any(says_it)
                    || in_interface(symbol)
                    || (symbol.parent().is_some_and(|parent| is_type(&parent)) && !hidden)
                    || (symbol.parent().is_none() && self.has(symbol))
            }
        }
    }

    fn has(&self, symbol: &SymbolView<'a>) -> bool {
        let mut by_file = self.by_file.borrow_mut();
        let names = by_file.entry(symbol.file.number()).or_insert_with(|| exported(symbol.file.content()));
        names.contains(symbol.name_bytes())
    }

    /// Whether a file assigns a definition to a member of one of these objects: `window.Observer = Observer`.
    pub fn is_given(&self, symbol: &SymbolView<'a>, globals: &[&str]) -> bool {
        let mut given = self.given.borrow_mut();
        let text = symbol.file.content();
        let names = given
            .entry(symbol.file.number())
            .or_insert_with(|| globals.iter().flat_map(|global| given_to(text, global)).collect());
        names.contains(symbol.name_bytes())
    }
}

/// The values in `window.Observer = Observer`, where the text before the member is given.
pub(super) fn given_to<'t>(text: &'t [u8], global: &str) -> impl Iterator<Item = &'t [u8]> {
    memchr::memmem::find_iter(text, global).filter_map(move |at| {
        let member = &text[at + global.len()..];
        let end = member.iter().position(|byte| !is_part(*byte)).unwrap_or(member.len());
        let value = member[end..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let end = value.iter().position(|byte| !is_part(*byte)).unwrap_or(value.len());
        (end > 0).then_some(&value[..end])
    })
}

/// The names in `export { a, b as c }`, `export default a`, `module.exports = a`, `module.exports = { a, b: c }` and
/// `exports.a = b`.
pub(super) fn exported(text: &[u8]) -> FxHashSet<&[u8]> {
    let mut names = FxHashSet::default();
    for at in memchr::memmem::find_iter(text, b"export") {
        let rest = &text[at..(at + FAR).min(text.len())];
        let Some(value) = exported_value(rest) else { continue };
        match value.strip_prefix(b"{") {
            Some(inner) => {
                let inner = &inner[..memchr::memchr(b'}', inner).unwrap_or(inner.len())];
                names.extend(inner.split(|byte| !is_part(*byte)).filter(|word| !word.is_empty()));
            }
            None => {
                let end = value.iter().position(|byte| !is_part(*byte)).unwrap_or(value.len());
                names.extend((end > 0).then(|| &value[..end]));
            }
        }
    }
    names
}

/// The value of an export statement that begins here.
fn exported_value(text: &[u8]) -> Option<&[u8]> {
    let text = match text.strip_prefix(b"exports") {
        Some(rest) => {
            let named = rest.strip_prefix(b".").unwrap_or(rest);
            let end = named.iter().position(|byte| !is_part(*byte)).unwrap_or(named.len());
            let value = named[end..].trim_ascii_start().strip_prefix(b"=")?;
            (value.first() != Some(&b'=')).then_some(value)?
        }
        None => {
            let rest = text.strip_prefix(b"export")?.trim_ascii_start();
            let value = rest.strip_prefix(b"type ").unwrap_or(rest).trim_ascii_start();
            match value.first() {
                Some(b'{') => value,
                Some(b'=') => &value[1..],
                _ => rest.strip_prefix(b"default ")?,
            }
        }
    };
    Some(text.trim_ascii_start())
}

/// Whether a byte may be part of a name.
pub(super) fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte > 127
}

/// Whether a class looks up members by a name in a variable: `this[name]`, after one of these texts.
pub(super) fn looks_up(class: &SymbolView<'_>, lookups: &[&str]) -> bool {
    // Shorter names are most often numbers: `this[i]`.
    const SHORTEST: usize = 2;
    let text = class.source();
    // A key that is made for one use names no method: `const cache = Symbol()`, `this[CACHE]`.
    let is_key = |name: &[u8]| {
        let made = [name, b" = Symbol("].concat();
        !name.iter().any(u8::is_ascii_lowercase) || memchr::memmem::find(class.file.content(), &made).is_some()
    };
    lookups.iter().any(|opening| {
        memchr::memmem::find_iter(text, opening).any(|at| {
            let name = &text[at + opening.len()..];
            let end = name.iter().position(|byte| !is_part(*byte)).unwrap_or(name.len());
            end >= SHORTEST && !name[0].is_ascii_digit() && !is_key(&name[..end])
        })
    })
}

/// Whether a definition is a class or another type.
pub(super) fn is_type(symbol: &SymbolView<'_>) -> bool {
    matches!(symbol.kind(), Kind::Class | Kind::Type)
}

/// Whether its language has types that say which methods a call may mean.
pub(super) fn is_typed(symbol: &SymbolView<'_>) -> bool {
    matches!(symbol.file.conventions().public, Public::Capital | Public::Word(_))
}

/// A path without extension.
pub(super) fn stem(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(stem, _)| stem)
}

/// Whether it is directly in a type.
pub(super) fn in_type(symbol: &SymbolView<'_>) -> bool {
    symbol.parent().is_some_and(|parent| is_type(&parent))
}

/// The words of a definition before its name, without comments among them: `public /* for now */ static`.
pub(super) fn words_before(symbol: &SymbolView<'_>) -> String {
    let source = symbol.source();
    let before = source.get(..symbol.name_span().start.saturating_sub(symbol.span().start) as usize);
    let text = String::from_utf8_lossy(before.unwrap_or_default());
    let mut pieces = text.split("/*");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |words, piece| words + " " + piece.split_once("*/").map_or("", |(_, after)| after))
}

/// Whether a text has a word.
fn says(text: &str, word: &str) -> bool {
    text.split(char::is_whitespace).any(|own| own == word)
}

/// Whether it is a member of an interface, which only declares it.
pub(super) fn in_interface(symbol: &SymbolView<'_>) -> bool {
    symbol
        .parent()
        .is_some_and(|parent| matches!(parent.detail(), Detail::Interface | Detail::Trait | Detail::Annotation))
}

/// Whether a block of the file that opens with one of these texts encloses it.
pub(super) fn is_within(symbol: &SymbolView<'_>, openings: &[&str]) -> bool {
    let before = symbol.file.content().get(..symbol.span().start as usize).unwrap_or_default();
    openings.iter().any(|opening| {
        // Most files have none, which a search forwards tells many times as fast as one backwards.
        let Some(start) = memchr::memmem::find_iter(before, opening.as_bytes()).last() else { return false };
        let count = |wanted: u8| memchr::memchr_iter(wanted, &before[start..]).count();
        count(b'{') > count(b'}')
    })
}

/// Whether a file imports a name from a module other than these: `from wire.protocol import Protocol`. A dotted name
/// begins with a module: `wire.Protocol` after `import wire`.
pub(super) fn is_from_elsewhere(content: &[u8], name: &str, homes: &[&str]) -> bool {
    const FROM: &[u8] = b"from ";
    if let Some((module, _)) = name.split_once('.') {
        let renames = |home: &&str| memchr::memmem::find(content, format!("import {home} as {module}").as_bytes());
        return !homes.iter().any(|home| *home == module || renames(home).is_some());
    }
    let name = name.as_bytes();
    memchr::memmem::find_iter(content, name).any(|at| {
        let is_whole = !content[..at].last().is_some_and(|byte| is_part(*byte))
            && !content.get(at + name.len()).is_some_and(|byte| is_part(*byte));
        let before = &content[at.saturating_sub(FAR)..at];
        let Some(start) = memchr::memmem::rfind(before, FROM).filter(|_| is_whole) else { return false };
        let is_first = start == 0 || before[start - 1] == b'\n' || before[start - 1] == b' ';
        let statement = &before[start + FROM.len()..];
        let Some(import) = memchr::memmem::find(statement, b" import ") else { return false };
        let (module, names) = (&statement[..import], &statement[import + b" import ".len()..]);
        let is_open = !names.contains(&b'\n') || names.trim_ascii_start().starts_with(b"(") && !names.contains(&b')');
        let module = module.split(|byte| *byte == b'.').next().unwrap_or_default();
        is_first && is_open && !homes.iter().any(|home| home.as_bytes() == module)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_apart_from_definitions_are_read() {
        let text = b"export { a, b as c };\nmodule.exports = D;\nmodule.exports = { e, f: g };\nexports.h = i;\nexport default j\n\
                     exports == k";
        let mut names: Vec<&[u8]> = exported(text).into_iter().collect();
        names.sort_unstable();
        assert_eq!(names.join(&b' '), b"D a as b c e f g i j");
    }

    #[test]
    fn an_import_says_where_a_name_is_from() {
        let content = b"from typing import (\n    Any,\n    Protocol,\n)\nfrom a.b import c, d\nclass X(Protocol): ...";
        assert!(!is_from_elsewhere(content, "Protocol", &["typing"]));
        assert!(is_from_elsewhere(content, "d", &["typing"]));
        assert!(!is_from_elsewhere(b"import typing as t", "t.Protocol", &["typing"]));
        assert!(is_from_elsewhere(b"import wire", "wire.Protocol", &["typing"]));
    }
}
