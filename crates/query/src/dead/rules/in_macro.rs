//! Definitions in the arguments of a macro, which may expand to anything.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_store::SymbolView;

pub static RULE: Rule = Rule {
    name: "in_macro",
    stage: Stage::Reach,
    lowers_to: Reached::Doubted,
    reason: "a macro is given it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    is_given(&subject.symbol)
}

/// The number of bytes before a definition that are searched for an enclosing macro.
const LOOKED_BACK: usize = 65_536;

/// Whether a definition lies in the brackets of a macro.
pub fn is_given(symbol: &SymbolView<'_>) -> bool {
    let openings = symbol.file.conventions().macro_openings;
    let end = symbol.span().start as usize;
    let before = symbol.file.content().get(end.saturating_sub(LOOKED_BACK)..end).unwrap_or_default();
    !openings.is_empty() && is_in_macro(before, openings)
}

/// Whether a text ends inside the brackets of a macro's call or definition: `make! {`, `macro_rules! make {`.
fn is_in_macro(before: &[u8], openings: &[u8]) -> bool {
    let mut depth = 0_usize;
    for (at, byte) in before.iter().enumerate().rev() {
        match byte {
            b'}' | b')' | b']' if !is_in_comment(before, at) => depth += 1,
            b'{' | b'(' | b'[' if is_in_comment(before, at) => {}
            b'{' | b'(' | b'[' if depth > 0 => depth -= 1,
            b'{' | b'(' | b'[' if is_called(&before[..at], openings) => return true,
            _ => {}
        }
    }
    false
}

/// Whether a line comment begins before a place on its line.
fn is_in_comment(text: &[u8], at: usize) -> bool {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
    memchr::memmem::find(&text[start..at], b"//").is_some()
}

/// Whether a text ends with a macro's mark, with or without a name after it.
fn is_called(before: &[u8], openings: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let ends = |text: &[u8]| text.last().is_some_and(|byte| openings.contains(byte));
    let before = before.trim_ascii_end();
    let named = before.iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    ends(before) || named < before.len() && ends(before[..named].trim_ascii_end())
}
