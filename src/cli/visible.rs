//! Control characters as text: names and contents of files, messages of commits and servers are untrusted, and a
//! terminal would obey them.

use std::borrow::Cow;

/// Colour codes of answers: other escape sequences are not passed to the terminal.
const PAINT: &[&str] = &["0", "1", "2", "31", "32", "33", "34", "35", "36", "1;31"];

/// Makes everything in a text visible that would move the cursor, hide or reorder letters, or control the terminal.
/// Line ends, tabs and the colours of answers stay. Outside of colours, JSON remains valid.
pub(super) fn visible(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(bytes);
    }
    let mut shown = Vec::with_capacity(bytes.len() + 64);
    for chunk in bytes.utf8_chunks() {
        add_text(chunk.valid(), &mut shown);
        for byte in chunk.invalid() {
            // Terminals without UTF-8 take these for control characters.
            match byte {
                0x80..=0x9f => shown.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
                _ => shown.push(*byte),
            }
        }
    }
    Cow::Owned(shown)
}

fn add_text(text: &str, shown: &mut Vec<u8>) {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at + letter.len_utf8()..];
        at += letter.len_utf8();
        match letter {
            '\n' | '\t' => out.push(letter),
            '\r' if rest.starts_with('\n') => out.push(letter),
            '\x1b' => match paint(rest) {
                Some(painted) => {
                    out.push(letter);
                    out.push_str(painted);
                    at += painted.len();
                }
                None => out.push_str("\\x1b"),
            },
            '\0'..='\x1f' => out.push_str(&format!("\\x{:02x}", u32::from(letter))),
            // Marks that change the direction of text can make code look like other code.
            '\x7f'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            _ => out.push(letter),
        }
    }
    shown.extend_from_slice(out.as_bytes());
}

/// The rest of a colour escape.
fn paint(rest: &str) -> Option<&str> {
    let end = rest.bytes().take(8).position(|byte| byte == b'm')?;
    let code = rest[..end].strip_prefix('[')?;
    PAINT.contains(&code).then_some(&rest[..=end])
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let cases: &[(&[u8], &str)] = &[
            (b"plain\ttext\r\n", "plain\ttext\r\n"),
            ("caf\u{e9} \u{1f980}".as_bytes(), "caf\u{e9} \u{1f980}"),
            (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
            (b"\x1b[8mhidden", "\\x1b[8mhidden"),
            (b"\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            (b"\x1b[2J\x1b[H", "\\x1b[2J\\x1b[H"),
            (b"a\rb\x08c\x7f", "a\\x0db\\x08c\\u007f"),
            ("\u{9b}2J \u{202e}x".as_bytes(), "\\u009b2J \\u202ex"),
            (b"\x1b", "\\x1b"),
            ("\x1b[\u{e9}\u{e9}\u{e9}\u{e9}m".as_bytes(), "\\x1b[\u{e9}\u{e9}\u{e9}\u{e9}m"),
        ];
        for (given, shown) in cases {
            assert_eq!(String::from_utf8_lossy(&visible(given)), *shown);
        }
        assert_eq!(*visible(b"\x9b2J \xe9"), *b"\\x9b2J \xe9");
    }
}
