//! Visibility of definitions, by their marks, and uses that hand a definition on.

use super::relations::UseSite;
use codelode_base::model::{Detail, Kind, Marks};
use codelode_lang::extract::{self, exported_value};
use codelode_lang::languages::Public;
use codelode_store::SymbolView;

/// The most bytes between an export keyword and a value in its list.
const EXPORT_FAR: usize = 65_536;

/// Marks of one definition. Questions about many ask the graph.
pub(crate) fn marks_of(symbol: &SymbolView<'_>) -> Marks {
    extract::marks_of(symbol.file.facts(), symbol.number().index)
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
