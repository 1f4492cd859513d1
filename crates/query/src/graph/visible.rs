//! Visibility of definitions, by modifiers before a name and by exports elsewhere in the file.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::relations::UseSite;
use codelode_base::model::{Detail, Kind};
use codelode_lang::languages::{Conventions, Public};
use codelode_store::SymbolView;

/// The longest export statement, in bytes.
const FAR: usize = 8_192;
/// The most bytes between an export keyword and a value in its list.
const EXPORT_FAR: usize = 65_536;

/// Exported names that are not marked at their definition, read once per file: `export { Chunk }`,
/// `module.exports = Chunk`.
#[derive(Default)]
pub(crate) struct Exports<'a> {
    by_file: RefCell<FxHashMap<u32, FxHashSet<&'a [u8]>>>,
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
                // Members of an exported definition carry a mark only if they are not public.
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
}

/// The names in `export { a, b as c }`, `export default a`, `module.exports = a`, `module.exports = { a, b: c }` and
/// `exports.a = b`.
pub fn exported(text: &[u8]) -> FxHashSet<&[u8]> {
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

/// Whether a use re-exports its symbol under its own name: `export { a }`, `module.exports = { a }`. Such a use needs
/// no counting, because the importers are known.
pub fn is_export(place: &UseSite<'_>) -> bool {
    if !matches!(place.file.conventions().public, Public::Exported(_)) {
        return false;
    }
    let (text, start) = (place.file.content(), place.edge.at as usize);
    gives_on(text, start, start + place.edge.len())
}

/// Whether a use takes its symbol out of a module under its own name: `const { a, b } = require("./m")`.
pub fn is_imported(place: &UseSite<'_>) -> bool {
    let end = place.edge.at as usize + place.edge.len();
    let Some(after) = place.file.content().get(end..) else { return false };
    let list = &after[..after.len().min(EXPORT_FAR)];
    let Some(close) = memchr::memchr3(b'}', b'{', b';', list).filter(|close| list[*close] == b'}') else {
        return false;
    };
    let Some(value) = after[close + 1..].trim_ascii_start().strip_prefix(b"=") else { return false };
    let is_module = |call: &[u8]| value.trim_ascii_start().starts_with(call);
    matches!(place.file.conventions().public, Public::Exported(_))
        && (is_module(b"require(") || is_module(b"await import("))
}

/// Whether a name is the value of an export statement, or in its list.
fn gives_on(text: &[u8], start: usize, end: usize) -> bool {
    let Some((from, after)) = start.checked_sub(EXPORT_FAR).or(Some(0)).zip(text.get(end..)) else { return false };
    let after = after.trim_ascii_start();
    memchr::memmem::rfind_iter(&text[from..start], b"export").any(|at| {
        let Some(value) = exported_value(&text[from + at..]) else { return false };
        let Some(before) = text.get(text.len() - value.len()..start) else { return false };
        if before.is_empty() {
            return !matches!(after.first(), Some(b'.' | b'(' | b'[' | b'?'));
        }
        let comes_after = before.trim_ascii_end().last().is_some_and(|last| b"{,:".contains(last));
        let goes_on = matches!(after.first(), Some(b',' | b'}')) || after.starts_with(b"as ");
        before.starts_with(b"{") && comes_after && goes_on && depth(before) == Some(1)
    })
}

/// The number of open brackets at the end of a text that begins with one; `None` after the closing one.
fn depth(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0_u32, |open, byte| match byte {
        b'{' | b'(' | b'[' => Some(open + 1),
        b'}' | b')' | b']' => open.checked_sub(1).filter(|open| *open > 0),
        _ => Some(open),
    })
}

/// The value of the export statement that begins here.
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
pub fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte > 127
}

/// Whether a definition is a class or another type.
pub fn is_type(symbol: &SymbolView<'_>) -> bool {
    matches!(symbol.kind(), Kind::Class | Kind::Type)
}

/// Whether it is directly in a type.
pub fn in_type(symbol: &SymbolView<'_>) -> bool {
    symbol.parent().is_some_and(|parent| is_type(&parent))
}

/// The words before a definition's name, without comments: `public /* for now */ static`.
pub fn words_before(symbol: &SymbolView<'_>) -> String {
    let source = symbol.source();
    let before = source.get(..symbol.name_span().start.saturating_sub(symbol.span().start) as usize);
    let text = String::from_utf8_lossy(before.unwrap_or_default());
    let mut pieces = text.split("/*");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |words, piece| words + " " + piece.split_once("*/").map_or("", |(_, after)| after))
}

/// Whether a text contains a whole word.
fn says(text: &str, word: &str) -> bool {
    text.split(char::is_whitespace).any(|own| own == word)
}

/// Whether a symbol is a member of an interface.
pub fn in_interface(symbol: &SymbolView<'_>) -> bool {
    symbol
        .parent()
        .is_some_and(|parent| matches!(parent.detail(), Detail::Interface | Detail::Trait | Detail::Annotation))
}

/// The last name of a decorator: `route` for `@app.route("/")`, `serde` for `#[serde(default)]`.
pub fn decorator_name(decorator: &str) -> &str {
    let name = decorator.trim_start_matches(['@', '#', '!', '[', ' ']);
    let end = name.find(|c: char| !(c.is_alphanumeric() || "_.:".contains(c))).unwrap_or(name.len());
    name[..end].rsplit(['.', ':']).next().unwrap_or_default()
}

/// Whether a decorator, attribute or annotation may pass a definition on.
pub fn is_decorated(symbol: &SymbolView<'_>) -> bool {
    let plain = symbol.file.conventions().plain_decorators;
    symbol.decorators().iter().any(|decorator| !plain.contains(&decorator_name(decorator)))
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
    fn a_name_is_given_on_by_exports_alone() {
        let given = |text: &str| {
            let start = text.find("go").expect("each text has the name");
            gives_on(text.as_bytes(), start, start + 2)
        };
        for text in [
            "export { go, b };",
            "export { b, go as run };",
            "export default go;",
            "exports.run = go",
            "module.exports = go",
            "module.exports = {\n  /** Exported {String}. */\n  b() { return [1]; },\n  run: go,\n};",
        ] {
            assert!(given(text), "{text}");
        }
        for text in [
            "module.exports = { b };\nconst table = { go };",
            "module.exports = { run: wrap(go) };",
            "module.exports = { rules: { go } };",
            "export const table = { go };",
            "export default go.bind(it);",
            "exports.run = wrap(go)",
        ] {
            assert!(!given(text), "{text}");
        }
    }
}
