//! What is named in text rather than in code: `"shop.middleware.Quota"` in settings, `"shop.cli:main"` in a description, a function
//! in an attribute. Whoever reads the text may use it.

use rustc_hash::FxHashMap;

use super::Graph;
use crate::store::{FileView, SymbolView};

/// Of some nodes those that a dotted name in quotes may mean, by its last two parts, or an attribute that names functions. In a file
/// that is no code, quotes may be missing.
pub(super) fn named_in_text(graph: &Graph<'_>, nodes: &[u32]) -> Vec<u32> {
    let mut by_name: FxHashMap<&[u8], Vec<u32>> = FxHashMap::default();
    for node in nodes {
        by_name.entry(graph.symbols[*node as usize].name_bytes()).or_default().push(*node);
    }
    let mut found = Vec::new();
    if by_name.is_empty() {
        return found;
    }
    for file in graph.snapshot.files() {
        let text = file.content();
        let is_code = !file.facts().is_empty();
        for dot in memchr::memchr2_iter(b'.', b':', text) {
            let Some((owner, name)) = dotted(text, dot, is_code) else { continue };
            let meant = by_name.get(name).into_iter().flatten();
            found.extend(meant.filter(|node| lies_in(&graph.symbols[**node as usize], owner)));
        }
        for attribute in file.conventions().naming_attributes {
            for start in memchr::memmem::find_iter(text, attribute) {
                for name in quoted(&text[start..]) {
                    let name = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
                    found.extend(by_name.get(name).into_iter().flatten());
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What stands in quotes in an attribute: `#[serde(default = "yes")]`.
fn quoted(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr::memchr(b']', text).unwrap_or(0);
    text[..end].split(|byte| *byte == b'"').skip(1).step_by(2)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte > 127
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// The last two parts of the dotted name whose last dot is at `dot`, when it stands alone.
fn dotted(text: &[u8], dot: usize, is_code: bool) -> Option<(&[u8], &[u8])> {
    let after = &text[dot + 1..];
    let name = &after[..after.iter().position(|byte| !is_part(*byte)).unwrap_or(after.len())];
    let end = after.get(name.len()).copied().unwrap_or(b'\n');
    if name.is_empty() || !(is_quote(end) || !is_code && (end.is_ascii_whitespace() || end == b',')) {
        return None;
    }
    let before = &text[..dot];
    let owner = &before[before.iter().rposition(|byte| !is_part(*byte)).map_or(0, |at| at + 1)..];
    let is_inside = |byte: u8| is_part(byte) || matches!(byte, b'.' | b'/' | b'-' | b':');
    let start = before.iter().rposition(|byte| !is_inside(*byte));
    let opens = start.map_or(b'\n', |at| before[at]);
    let stands_alone = if is_quote(end) { opens == end } else { !is_part(opens) };
    (stands_alone && !owner.is_empty()).then_some((owner, name))
}

/// Whether a symbol lies in something of that name: its class, its file, or a folder that hands it on.
fn lies_in(symbol: &SymbolView<'_>, owner: &[u8]) -> bool {
    let in_path = |file: FileView<'_>| {
        let path = file.path().rsplit_once('.').map_or(file.path(), |(stem, _)| stem);
        path.split('/').any(|part| part.as_bytes() == owner)
    };
    match symbol.parent() {
        Some(parent) => parent.name_bytes() == owner,
        None => in_path(symbol.file),
    }
}
