//! YAML without nesting that the grammar's scanner has no room for: it keeps 250 levels and writes beyond them.

/// The column up to which a line may open levels. Each column can open two, a mapping and a sequence.
const DEEPEST: usize = 100;

/// The text without signs that open a level beyond that column; `None` if there are none.
pub(super) fn sanitize(text: &[u8]) -> Option<Vec<u8>> {
    let mut sanitized: Option<Vec<u8>> = None;
    let mut start = 0;
    for line in text.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        for (column, _) in line.iter().enumerate().skip(DEEPEST).filter(|(_, byte)| matches!(byte, b'-' | b'?' | b':'))
        {
            sanitized.get_or_insert_with(|| text.to_vec())[start + column] = b'_';
        }
        start += line.len();
    }
    sanitized
}

#[cfg(test)]
mod tests {
    use super::sanitize;

    #[test]
    fn levels_beyond_a_column_are_not_opened() {
        assert_eq!(sanitize(b"- a: b\n? c\n"), None);
        let deep = "- ".repeat(80) + "a: b\n- c";
        let expected = "- ".repeat(50) + &"_ ".repeat(30) + "a_ b\n- c";
        assert_eq!(sanitize(deep.as_bytes()).as_deref(), Some(expected.as_bytes()));
    }
}
