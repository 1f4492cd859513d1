//! Words, marks and texts of Groovy, without its comments.

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub start: usize,
    pub end: usize,
    pub kind: TokenKind,
    /// The place of the token that closes this one, if it opens a pair.
    pub close: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name, a keyword or a number.
    Word,
    /// A text in quotes or slashes.
    Text,
    /// Any other character.
    Mark(u8),
    /// The end of a line.
    Line,
}

/// How deep texts within texts are followed, `"${"…"}"`.
const DEEPEST: usize = 8;

/// How many open pairs are looked through for the one that a mark closes.
const MOST_OPEN: usize = 64;

/// All tokens; pairs that are not closed end where the tokens do.
pub(super) fn tokens(text: &[u8]) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (kind, end) = match rest[0] {
            b'\n' => (TokenKind::Line, at + 1),
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with(b"//") => {
                at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                at += memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4);
                continue;
            }
            b'#' if at == 0 && rest.starts_with(b"#!") => {
                at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                continue;
            }
            b'"' | b'\'' => (TokenKind::Text, text_end(text, at, DEEPEST)),
            b'$' if rest.starts_with(b"$/") => (TokenKind::Text, text_end(text, at, DEEPEST)),
            b'/' if begins_text(text, found.last()) => (TokenKind::Text, text_end(text, at, DEEPEST)),
            byte if is_part(byte) => (TokenKind::Word, at + rest.iter().take_while(|byte| is_part(**byte)).count()),
            byte => (TokenKind::Mark(byte), at + 1),
        };
        match kind {
            TokenKind::Mark(b'(' | b'[' | b'{') => open.push(found.len()),
            TokenKind::Mark(byte @ (b')' | b']' | b'}')) => {
                let opens = |place: &usize| found[*place].kind == TokenKind::Mark(opening(byte));
                // Open pairs between the two end with the outer one.
                let last = open.len().saturating_sub(MOST_OPEN);
                if let Some(place) = open[last..].iter().rposition(opens).map(|place| last + place) {
                    open.drain(place..).for_each(|one| found[one].close = found.len());
                }
            }
            _ => {}
        }
        found.push(Token { start: at, end, kind, close: usize::MAX });
        at = end;
    }
    let count = found.len();
    found.iter_mut().for_each(|token| token.close = token.close.min(count));
    found
}

fn opening(close: u8) -> u8 {
    match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte > 127
}

/// Whether a slash behind this token begins a text and is no division.
fn begins_text(text: &[u8], before: Option<&Token>) -> bool {
    let Some(before) = before else { return true };
    match before.kind {
        TokenKind::Line => true,
        TokenKind::Word => matches!(&text[before.start..before.end], b"return" | b"in" | b"case" | b"assert"),
        TokenKind::Text => false,
        TokenKind::Mark(byte) => !matches!(byte, b')' | b']' | b'}'),
    }
}

/// The end of a text that begins here.
fn text_end(text: &[u8], start: usize, deepest: usize) -> usize {
    let rest = &text[start..];
    let quote: &[u8] = match rest[0] {
        b'"' if rest.starts_with(b"\"\"\"") => b"\"\"\"",
        b'\'' if rest.starts_with(b"'''") => b"'''",
        b'$' => b"/$",
        _ => &rest[..1],
    };
    let (is_plain, is_long) = (quote[0] == b'\'', quote.len() > 1 || quote == b"/");
    let mut at = start + if quote == b"/$" { 2 } else { quote.len() };
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(quote) {
            return at + quote.len();
        }
        match rest[0] {
            b'\\' => at += 2,
            b'\n' if !is_long => return at,
            b'$' if !is_plain && deepest > 0 && rest.starts_with(b"${") => at = inner_end(text, at + 2, deepest - 1),
            _ => at += 1,
        }
    }
    text.len()
}

/// The end of an expression in a text.
fn inner_end(text: &[u8], start: usize, deepest: usize) -> usize {
    let (mut at, mut open) = (start, 1);
    while at < text.len() {
        match text[at] {
            b'{' => open += 1,
            b'}' if open == 1 => return at + 1,
            b'}' => open -= 1,
            b'"' | b'\'' => {
                at = text_end(text, at, deepest);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, tokens};

    fn read(text: &str) -> Vec<&str> {
        tokens(text.as_bytes())
            .into_iter()
            .map(|token| if token.kind == TokenKind::Line { "⏎" } else { &text[token.start..token.end] })
            .collect()
    }

    #[test]
    fn texts_are_one_token() {
        assert_eq!(read("a = /b\\/{c/ / 2 // d\n"), ["a", "=", "/b\\/{c/", "/", "2", "⏎"]);
        assert_eq!(read("x('it\\'s', \"${y ? \"}\" : 1}\")"), ["x", "(", "'it\\'s'", ",", "\"${y ? \"}\" : 1}\"", ")"]);
        assert_eq!(read("'''a\n'b''' $/c/ /$ /* d */"), ["'''a\n'b'''", "$/c/ /$"]);
        assert_eq!(read("'open\nnext"), ["'open", "⏎", "next"]);
    }

    #[test]
    fn pairs_know_their_ends() {
        let text = "a { ( } b {";
        let found = tokens(text.as_bytes());
        let closes: Vec<usize> = found.iter().map(|token| token.close).collect();
        assert_eq!(closes, [6, 3, 3, 6, 6, 6], "an open pair ends with the one around it, or with the text");
    }
}
