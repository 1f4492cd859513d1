//! TypeScript as its grammar reads it: after a line without a semicolon, a call signature with type parameters would be
//! taken for type arguments of that line, and the rest of the interface be lost.

/// Words after which a type or an expression goes on in the next line.
const GOING_ON: &[&[u8]] =
    &[b"extends", b"return", b"async", b"new", b"infer", b"keyof", b"as", b"is", b"default", b"export", b"typeof"];
/// The most lines of comments above a signature that are looked at.
const MOST_COMMENTS: usize = 40;

/// The text with a semicolon instead of the space before such a signature; `None` if it has none.
pub(super) fn preprocess(source: &[u8]) -> Option<Vec<u8>> {
    let mut text = None;
    for at in memchr::memchr_iter(b'<', source).filter(|at| is_signature(source, *at)) {
        text.get_or_insert_with(|| source.to_vec())[at - 1] = b';';
    }
    text
}

/// Whether a call signature begins here, in a line of its own, after a line that ends like a type.
fn is_signature(source: &[u8], at: usize) -> bool {
    let start = memchr::memrchr(b'\n', &source[..at]).map_or(0, |newline| newline + 1);
    if start == at || !source[start..at].trim_ascii().is_empty() {
        return false;
    }
    let rest = &source[at + 1..];
    let line = rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())].trim_ascii_end();
    let opens = line.is_empty() || is_part(line[0]) && memchr::memmem::find(line, b">(").is_some();
    opens && ends_a_type(&source[..start])
}

/// Whether the last line of code ends like a type.
fn ends_a_type(above: &[u8]) -> bool {
    let is_comment =
        |line: &&[u8]| line.is_empty() || line.starts_with(b"//") || line.starts_with(b"/*") || line.starts_with(b"*");
    let mut lines = above.rsplit(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).take(MOST_COMMENTS);
    let Some(line) = lines.find(|line| !is_comment(line)) else { return false };
    let word = &line[line.iter().rposition(|byte| !is_part(*byte)).map_or(0, |before| before + 1)..];
    let is_end = |byte: &u8| is_part(*byte) || matches!(byte, b'>' | b']' | b'}' | b')' | b'"' | b'\'');
    line.last().is_some_and(is_end) && !line.ends_with(b"=>") && !GOING_ON.contains(&word)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte > 127
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    #[test]
    fn call_signatures_stand_apart_from_the_line_above() {
        let check = |text: &str, expected: Option<&str>| {
            let found = preprocess(text.as_bytes()).map(|text| String::from_utf8(text).expect("it was text"));
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("{\n  <T>(a: T): T\n  // b\n  <T>(b: T): T\n}", Some("{\n  <T>(a: T): T\n  // b\n ;<T>(b: T): T\n}"));
        check("{\n  a: B\n  <\n    T\n  >(b: T): T\n}", Some("{\n  a: B\n ;<\n    T\n  >(b: T): T\n}"));
        check("{\n  <T>(a: T): T;\n  <T>(b: T): T;\n}", None);
        check("const a =\n  <T>(b: T) => b\nconst c = a\n<d>(e)\n", None);
        check("type A<B> = B extends\n  <T>(b: T) => B ? 1 : 2\nconst f = a\n  < b\n", None);
    }
}
