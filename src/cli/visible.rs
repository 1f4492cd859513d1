//! Makes control characters visible. File names and contents, commit messages and server messages are untrusted, and a
//! terminal would obey them.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::Value;
use termcolor::{Buffer, ColorSpec, WriteColor};

/// The colour codes of answers. Other escape sequences never reach the terminal.
const PAINT: &[&str] = &["0", "1", "2", "31", "32", "33", "34", "35", "36", "1;31"];

/// Makes everything visible that would move the cursor, hide or reorder letters, or control the terminal. Line ends,
/// tabs and the colours of answers stay. Without colours, JSON stays valid.
pub(super) fn visible(bytes: &[u8]) -> Cow<'_, [u8]> {
    with(bytes, paint)
}

/// Like [`visible`], but also for colours: for text from a repository or a server, before it is painted.
pub(super) fn uncoloured(bytes: &[u8]) -> Cow<'_, [u8]> {
    with(bytes, |_| None)
}

/// Applies [`uncoloured`] to all texts of an answer.
pub(super) fn uncolour(value: &mut Value) {
    match value {
        Value::String(text) => uncolour_text(text),
        Value::Array(items) => items.iter_mut().for_each(uncolour),
        Value::Object(map) => {
            if map.keys().any(|key| matches!(uncoloured(key.as_bytes()), Cow::Owned(_))) {
                *map = std::mem::take(map)
                    .into_iter()
                    .map(|(mut key, value)| {
                        uncolour_text(&mut key);
                        (key, value)
                    })
                    .collect();
            }
            map.values_mut().for_each(uncolour);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Applies [`uncoloured`] to a text.
pub(super) fn uncolour_text(text: &mut String) {
    if let Cow::Owned(shown) = uncoloured(text.as_bytes()) {
        *text = String::from_utf8_lossy(&shown).into_owned();
    }
}

/// A buffer for a printer that colours foreign text: only the printer's own colours reach a terminal.
pub(super) struct TerminalBuffer {
    buffer: Buffer,
    is_terminal: bool,
}

impl TerminalBuffer {
    /// An empty buffer.
    pub(super) fn new(has_color: bool, is_terminal: bool) -> Self {
        Self { buffer: if has_color { Buffer::ansi() } else { Buffer::no_color() }, is_terminal }
    }

    /// The bytes written so far.
    pub(super) fn as_slice(&self) -> &[u8] {
        self.buffer.as_slice()
    }

    /// Empties the buffer.
    pub(super) fn clear(&mut self) {
        self.buffer.clear();
    }
}

impl Write for TerminalBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let shown = if self.is_terminal { uncoloured(bytes) } else { Cow::Borrowed(bytes) };
        self.buffer.write_all(&shown).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteColor for TerminalBuffer {
    fn supports_color(&self) -> bool {
        self.buffer.supports_color()
    }

    fn set_color(&mut self, spec: &ColorSpec) -> io::Result<()> {
        self.buffer.set_color(spec)
    }

    fn reset(&mut self) -> io::Result<()> {
        self.buffer.reset()
    }
}

fn with(bytes: &[u8], paint: fn(&str) -> Option<&str>) -> Cow<'_, [u8]> {
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(bytes);
    }
    let mut shown = Vec::with_capacity(bytes.len() + 64);
    for chunk in bytes.utf8_chunks() {
        add_text(chunk.valid(), paint, &mut shown);
        for byte in chunk.invalid() {
            // Terminals without UTF-8 treat these as control characters.
            match byte {
                0x80..=0x9f => shown.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
                _ => shown.push(*byte),
            }
        }
    }
    Cow::Owned(shown)
}

fn add_text(text: &str, paint: fn(&str) -> Option<&str>, shown: &mut Vec<u8>) {
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
            // Marks that change text direction can disguise code.
            '\x7f'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            _ => out.push(letter),
        }
    }
    shown.extend_from_slice(out.as_bytes());
}

/// The rest of a text after a colour escape, if it begins with one.
fn paint(rest: &str) -> Option<&str> {
    let end = rest.bytes().take(8).position(|byte| byte == b'm')?;
    let code = rest[..end].strip_prefix('[')?;
    PAINT.contains(&code).then_some(&rest[..=end])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{uncolour, visible};

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
    #[test]
    fn colours_of_a_repository_are_text() {
        let mut answer = json!({"\u{1b}[1mkey": ["\u{1b}[31mred\u{1b}[0m", "caf\u{e9}", 1]});
        uncolour(&mut answer);
        assert_eq!(answer, json!({"\\x1b[1mkey": ["\\x1b[31mred\\x1b[0m", "caf\u{e9}", 1]}));
    }
}
