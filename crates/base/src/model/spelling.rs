//! Names of files that are not UTF-8, spelled as text: each byte that is none is `\xHH`.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Start of a spelled byte, and its length with two digits.
const START: &str = "\\x";
const LENGTH: usize = 4;

/// A path from the disk as text. `None` for a name that is spelled as another one, which looks like a spelled name itself.
pub fn spelled(path: &[u8]) -> Option<Cow<'_, str>> {
    let text = match std::str::from_utf8(path) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut text = String::with_capacity(path.len() + LENGTH);
            for chunk in path.utf8_chunks() {
                text.push_str(chunk.valid());
                chunk.invalid().iter().for_each(|byte| text.push_str(&format!("{START}{byte:02x}")));
            }
            Cow::Owned(text)
        }
    };
    (relative(&text).as_os_str().as_bytes() == path).then_some(text)
}

/// A path that [`spelled`] returned, below a root.
pub fn on_disk(root: &Path, path: &str) -> PathBuf {
    root.join(relative(path))
}

/// A path that [`spelled`] returned, as it is on the disk.
pub fn relative(path: &str) -> Cow<'_, Path> {
    // Hardly any path has a backslash.
    if !path.contains(START) {
        return Cow::Borrowed(Path::new(path));
    }
    let parts: Vec<Cow<'_, [u8]>> = path.split('/').map(bytes_of).collect();
    Cow::Owned(Path::new(OsStr::from_bytes(&parts.join(&b'/'))).to_owned())
}

/// A name on the disk. A name of UTF-8 is never spelled, so one that would be is meant as it stands.
fn bytes_of(name: &str) -> Cow<'_, [u8]> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once(START) {
        bytes.extend(before.bytes());
        let digits = after.get(..LENGTH - START.len()).filter(|digits| !digits.starts_with('+'));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if !byte.is_ascii() => {
                bytes.push(byte);
                rest = &after[LENGTH - START.len()..];
            }
            _ => {
                bytes.extend(START.bytes());
                rest = after;
            }
        }
    }
    bytes.extend(rest.bytes());
    if std::str::from_utf8(&bytes).is_ok() { Cow::Borrowed(name.as_bytes()) } else { Cow::Owned(bytes) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::{on_disk, relative, spelled};

    #[test]
    fn a_spelling_leads_back_to_the_name() {
        for (name, expected) in [
            (&b"a/b.py"[..], "a/b.py"),
            ("caf\u{e9}.py".as_bytes(), "caf\u{e9}.py"),
            (b"caf\xe9.py", "caf\\xe9.py"),
            (b"\xff\xfe/\xc3\xa9\xff", "\\xff\\xfe/\u{e9}\\xff"),
            (b"a\\xzz\\x41", "a\\xzz\\x41"),
            (b"\\xc3\\xa9", "\\xc3\\xa9"),
        ] {
            assert_eq!(spelled(name).as_deref(), Some(expected));
            assert_eq!(relative(expected).as_os_str().as_bytes(), name);
        }
        assert_eq!(on_disk(Path::new("/r"), "a\\xff").as_os_str().as_bytes(), b"/r/a\xff");
    }

    #[test]
    fn a_name_that_looks_spelled_has_no_spelling() {
        assert_eq!(spelled(b"a\\xff"), None);
        assert_eq!(spelled(b"a\\xff\xfe"), None);
    }
}
