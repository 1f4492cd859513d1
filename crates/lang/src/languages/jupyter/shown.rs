//! Parts of a notebook as a person reads them: code in place of the literals of JSON that hold it.

/// The code in some lines of a notebook, line by line; the first may begin within a literal. Lines that are no literal of
/// their own stay as they are, and so do line breaks within a literal, which are no lines of the file.
pub(super) fn code(text: &[u8]) -> Vec<u8> {
    let mut made = Vec::with_capacity(text.len());
    for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let (own, end) = line.strip_suffix(b"\n").map_or((line, &b""[..]), |own| (own, b"\n"));
        let begun = if number == 0 { Some(own) } else { None };
        match own.trim_ascii_start().strip_prefix(b"\"").or(begun).and_then(literal) {
            Some(code) => made.extend(code),
            None => made.extend(own),
        }
        made.extend(end);
    }
    made
}

/// The text of a literal from behind its opening quote, without the line break at its end; `None` where more than a comma
/// follows it.
fn literal(text: &[u8]) -> Option<Vec<u8>> {
    let (mut made, mut at) = (Vec::with_capacity(text.len()), 0);
    while at < text.len() {
        let (wide, code): (usize, &[u8]) = match (text[at], text.get(at + 1)) {
            (b'"', _) => {
                let rest = text[at + 1..].trim_ascii();
                return matches!(rest, b"" | b",").then(|| without_break(made));
            }
            (b'\\', Some(b't')) => (2, b"\t"),
            (b'\\', Some(b'u')) => {
                let escapes = &text[at..];
                let (wide, letter) = letter(escapes)?;
                made.extend(letter.encode_utf8(&mut [0; 4]).bytes());
                at += wide;
                continue;
            }
            (b'\\', Some(b'"' | b'\\' | b'/')) => (2, &text[at + 1..at + 2]),
            _ => (1, &text[at..=at]),
        };
        made.extend(code);
        at += wide;
    }
    Some(without_break(made))
}

fn without_break(mut made: Vec<u8>) -> Vec<u8> {
    made.truncate(made.strip_suffix(b"\\n").unwrap_or(&made).len());
    made
}

/// The letter of an escape by its number, and how many bytes it takes: one escape or a pair.
fn letter(escapes: &[u8]) -> Option<(usize, char)> {
    let unit = |from: usize| {
        let digits = escapes.get(from..from + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(0)?;
    let units = [Some(first), unit(6)];
    let letter = char::decode_utf16(units.into_iter().flatten()).next()?.ok()?;
    Some((6 * letter.len_utf16(), letter))
}

#[cfg(test)]
mod tests {
    use super::code;

    fn check(text: &str, expected: &str) {
        assert_eq!(String::from_utf8_lossy(&code(text.as_bytes())), expected, "{text}");
    }

    #[test]
    fn lines_of_cells_are_code() {
        check("def f():\\n\",\n    \"    !echo {x}\\n\",\n    \"    return 1", "def f():\n    !echo {x}\n    return 1");
        check("    \"\\treturn \\\"a\\\\nb\\\" # \\u00e9 \\ud83e\\udd80\"\n", "\treturn \"a\\nb\" # é 🦀\n");
        check("    \"a = '\\\\n'\\n\"", "a = '\\n'");
    }

    #[test]
    fn other_lines_stay() {
        check("   ],\n   \"source\": [\n    \"a\\n\",\n", "   ],\n   \"source\": [\na\n");
        check("\"source\": \"a = 1\\nb\"", "\"source\": \"a = 1\\nb\"");
        check("a = 1\\nif a:\\n    b()", "a = 1\\nif a:\\n    b()");
        check("\\u12", "\\u12");
    }
}
