//! Roots: the folders that the client is working in.

use std::path::PathBuf;

/// The folder of a `file:` address; `None` for any other address.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // Only this machine's files: the host is empty or `localhost`.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = decode(path)?;
    // `file:///C:/x` has a slash before the drive.
    #[cfg(windows)]
    let path = match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => path[1..].to_owned(),
        _ => path,
    };
    Some(PathBuf::from(path))
}

/// Decodes percent encoding; `None` if the result is no text or has a NUL, which no path has.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let encoded = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        match encoded {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            // A single percent sign is literal: clients without any encoding are common.
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|path| !path.contains('\0'))
}

/// The value of a hexadecimal digit.
fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn file_addresses_become_paths() {
        let check = |uri: &str, expected: Option<&str>| assert_eq!(path_of(uri), expected.map(PathBuf::from), "{uri}");
        check("file:///home/me/my%20code", Some("/home/me/my code"));
        check("file:///%E2%98%83/a", Some("/☃/a"));
        check("file://localhost/a", Some("/a"));
        check("file:///100%/a%2", Some("/100%/a%2"));
        check("file://elsewhere/a", None);
        check("file:///a%00b", None);
        check("file:///%FF", None);
        check("https://example.org/a", None);
        check("/a", None);
    }
}
