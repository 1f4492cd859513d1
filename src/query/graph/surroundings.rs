//! Surroundings of a definition: the file that it shares names with, the macro that is given it, the code that reads its
//! class.

use super::Graph;
use crate::languages::Public;
use crate::model::Kind;
use crate::store::{FileView, SymbolView};

/// The start of the names of macros that pass on what they are given, under a condition: `cfg_if!`, `cfg_rt!`.
const CONDITION: &[u8] = b"cfg";
/// The most letters of a signature that are read.
const SIGNATURE: usize = 400;

/// Whether a file has names of its own, rather than being put into another as text or sharing them with the others of a
/// page.
pub(super) fn has_own_names(file: FileView<'_>) -> bool {
    let text = file.content();
    match file.conventions().public {
        Public::Exported(_) => {
            let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
            let starts = |line: &[u8]| {
                let is_said = |word: &&[u8]| {
                    let rest = line.trim_ascii_start().strip_prefix(*word);
                    rest.is_some_and(|rest| matches!(rest.first(), Some(b' ' | b'{' | b'*' | b'"' | b'\'')))
                };
                [&b"import"[..], b"export"].iter().any(is_said)
                    // A call in a function makes no module of its file.
                    || [&b"const "[..], b"let ", b"var ", b"require("].iter().any(|word| line.starts_with(word))
                        && memchr::memmem::find(line, b"require(").is_some()
            };
            has(b"module.exports")
                || has(b"exports.")
                || has(b"exports[")
                || text.split(|byte| *byte == b'\n').any(starts)
        }
        // `include!` makes one of a file that no module names.
        Public::Word(words) => !words.contains(&"pub"),
        _ => true,
    }
}

/// Whether a definition is in the braces of a macro's call, which may make anything of it, or of a macro's definition.
pub(super) fn is_given_to_macro(symbol: &SymbolView<'_>) -> bool {
    is_in_macro(symbol, |name| !name.starts_with(CONDITION))
}

/// Whether a definition is in the braces of a macro whose name is meant.
pub(super) fn is_in_macro(symbol: &SymbolView<'_>, is_meant: impl Fn(&[u8]) -> bool) -> bool {
    if symbol.file.conventions().conditional_macros.is_empty() {
        return false;
    }
    let before = &symbol.file.content()[..symbol.span().start as usize];
    let mut depth = 0_usize;
    for (at, byte) in
        before.iter().enumerate().rev().filter(|(at, byte)| is_bracket(**byte) && !is_in_comment(before, *at))
    {
        match byte {
            b'}' | b')' | b']' => depth += 1,
            b'{' | b'(' | b'[' if depth > 0 => depth -= 1,
            b'{' | b'(' | b'[' if macro_name(&before[..at]).is_some_and(&is_meant) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

fn is_bracket(byte: u8) -> bool {
    matches!(byte, b'{' | b'(' | b'[' | b'}' | b')' | b']')
}

/// Whether two slashes stand before a place on its line.
fn is_in_comment(text: &[u8], at: usize) -> bool {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
    memchr::memmem::find(&text[start..at], b"//").is_some()
}

/// The name of the macro whose call or definition a bracket opens: `make! {`, `macro_rules! make {`.
fn macro_name(before: &[u8]) -> Option<&[u8]> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let last = |text: &[u8]| text.iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    let before = before.trim_ascii_end();
    let before = before[..last(before)].trim_ascii_end().strip_suffix(b"!").or_else(|| before.strip_suffix(b"!"))?;
    let name = &before[last(before)..];
    (!name.is_empty()).then_some(name)
}

/// Whether it reads or sets a field of a class that code near it may write or read as data, without naming what it calls:
/// beside the class, or where it is used, a library that does so is imported.
pub(super) fn is_read_as_data(graph: &Graph<'_>, symbol: &SymbolView<'_>) -> bool {
    let rules = symbol.file.conventions();
    let name = symbol.name();
    let is_accessor = || {
        let of_field = |start: &str| name.strip_prefix(start).is_some_and(|rest| rest.starts_with(char::is_uppercase));
        let takes_nothing = || symbol.signature(SIGNATURE).trim_end().trim_end_matches('{').trim_end().ends_with("()");
        symbol.kind() == Kind::Method
            && (rules.setters.is_some_and(of_field)
                || rules.accessors.iter().any(|start| of_field(start)) && takes_nothing())
    };
    if rules.data_libraries.is_empty() || !is_accessor() {
        return false;
    }
    let imports = |file: FileView<'_>| {
        rules.data_libraries.iter().any(|library| memchr::memmem::find(file.content(), library.as_bytes()).is_some())
    };
    let class = std::iter::successors(symbol.parent(), SymbolView::parent);
    let users = class.flat_map(|class| graph.edges.users(class.number()).map(|edge| edge.file));
    let mut users = users.filter_map(|file| graph.snapshot.file_by_number(file));
    let own = folder(symbol.file.path());
    let mut beside = graph.snapshot.files().filter(|file| folder(file.path()) == own && !file.facts().is_empty());
    users.any(imports) || beside.any(imports)
}

pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
