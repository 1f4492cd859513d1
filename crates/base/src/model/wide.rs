//! UTF-16 text with a byte order mark, and its form in UTF-8.

/// Order of the bytes of a UTF-16 text, by the mark that it begins with; not that of UTF-32.
fn order(bytes: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

/// Whether a text begins with a byte order mark of UTF-16.
pub fn is_utf_16(bytes: &[u8]) -> bool {
    order(bytes).is_some()
}

/// A text of UTF-16 as UTF-8, without the mark; `None` for any other text, half a character and a lone surrogate.
pub fn utf_8_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let order = order(bytes)?;
    let (units, rest) = bytes[2..].as_chunks::<2>();
    let decoded: Result<String, _> = char::decode_utf16(units.iter().map(|unit| order(*unit))).collect();
    decoded.ok().filter(|_| rest.is_empty()).map(String::into_bytes)
}

/// A text in the encoding of the file that it comes from: UTF-16 with the mark of `original`, or as it is.
pub fn encoded_like(original: &[u8], text: &[u8]) -> Vec<u8> {
    let Some(is_little) = order(original).map(|order| order([1, 0]) == 1) else { return text.to_vec() };
    let bytes_of = |unit: u16| if is_little { unit.to_le_bytes() } else { unit.to_be_bytes() };
    let text = String::from_utf8_lossy(text);
    [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(bytes_of).collect()
}

#[cfg(test)]
mod tests {
    use super::{encoded_like, is_utf_16, utf_8_of};

    #[test]
    fn either_order_of_bytes_comes_and_goes() {
        let text = "a\r\n\u{e9} \u{1f980}\n";
        for mark in [&b"\xff\xfe"[..], b"\xfe\xff"] {
            let wide = encoded_like(mark, text.as_bytes());
            assert!(wide.starts_with(mark) && is_utf_16(&wide));
            assert_eq!(utf_8_of(&wide).as_deref(), Some(text.as_bytes()));
            assert_eq!(utf_8_of(&wide[..wide.len() - 1]), None, "half a character");
        }
        assert_eq!(utf_8_of(b"\xff\xfe\x00\xd8a\0"), None, "half a pair");
    }

    #[test]
    fn other_texts_are_left_alone() {
        for text in [&b""[..], b"a\n", "\u{feff}a".as_bytes(), b"\xff\xfe\0\0a\0\0\0", b"\xff"] {
            assert!(!is_utf_16(text) && utf_8_of(text).is_none());
            assert_eq!(encoded_like(text, b"b"), b"b");
        }
    }
}
