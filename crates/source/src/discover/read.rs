//! Reading of a chosen file, with the rule that needs content.

use std::io::{self, Read};
use std::path::{Component, Path};

use super::{Rules, disk, links};
use codelode_base::model::{SkipReason, SourceFile, is_utf_16, relative, utf_8_of};

/// Bytes inspected for binary content; git inspects as many.
const SNIFFED: usize = 8_000;

/// First line of a Git LFS pointer file, and the maximum size of such a file.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";
const LARGEST_POINTER: usize = 1_024;

/// Reads a file that a walk of `root` by the same `rules` found.
///
/// The file may have changed since: a new link, a pipe or too large a file gives a reason. Reading never blocks and
/// never leaves the root.
pub fn read(root: &Path, file: &SourceFile, rules: &Rules) -> Result<Vec<u8>, SkipReason> {
    let path = relative(&file.path);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) || file.path.is_empty() {
        return Err(SkipReason::Unreadable);
    }
    let opened = if rules.follow_symlinks { open_followed(root, &path, rules)? } else { open(root, &path)? };
    let metadata = opened.metadata().map_err(|_| SkipReason::Unreadable)?;
    if !metadata.is_file() {
        return Err(SkipReason::NotAFile);
    }
    // The walk let larger files pass where `package.json` names them.
    let limit = rules.max_file_size.max(file.size);
    if metadata.len() > limit {
        return Err(SkipReason::TooLarge);
    }
    // One byte more than expected, so that the end is detected without growing the buffer.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    opened.take(limit + 1).read_to_end(&mut bytes).map_err(|_| SkipReason::Unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(SkipReason::TooLarge);
    }
    text(bytes)
}

fn open(root: &Path, path: &Path) -> Result<std::fs::File, SkipReason> {
    disk::open_beneath(root, path).map_err(|error| reason(&error))
}

/// Opens the target of a link, after resolving it again.
fn open_followed(root: &Path, path: &Path, rules: &Rules) -> Result<std::fs::File, SkipReason> {
    let root = root.canonicalize().map_err(|_| SkipReason::Unreadable)?;
    let real = root.join(path).canonicalize().map_err(|error| reason(&error))?;
    if real.strip_prefix(&root).is_ok_and(|inside| inside == path) {
        return open(&root, path);
    }
    let target = links::resolve(&root, &real, &[], &rules.secrets)?;
    let inside = target.real.strip_prefix(&root).map_err(|_| SkipReason::SymlinkEscape)?;
    open(&root, inside)
}

fn reason(error: &io::Error) -> SkipReason {
    if disk::is_link(error) {
        SkipReason::Symlink
    } else if disk::is_no_file(error) {
        SkipReason::NotAFile
    } else if error.kind() == io::ErrorKind::CrossesDevices {
        SkipReason::SymlinkEscape
    } else {
        SkipReason::Unreadable
    }
}

/// The text in the bytes of a file, UTF-8 in place of UTF-16; or the reason why it is not indexed as text.
pub fn text(bytes: Vec<u8>) -> Result<Vec<u8>, SkipReason> {
    let bytes = if is_utf_16(&bytes) { utf_8_of(&bytes).ok_or(SkipReason::Utf16)? } else { bytes };
    match (is_binary(&bytes), bytes.starts_with(LFS_POINTER) && bytes.len() <= LARGEST_POINTER) {
        (true, _) => Err(SkipReason::Binary),
        (_, true) => Err(SkipReason::LfsPointer),
        _ => Ok(bytes),
    }
}

/// Whether content is binary: it has a NUL byte near the beginning.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(SNIFFED)].contains(&0)
}

#[cfg(test)]
mod tests {
    use super::text;
    use codelode_base::model::SkipReason;

    fn refused(bytes: &[u8]) -> Option<SkipReason> {
        text(bytes.to_vec()).err()
    }

    #[test]
    fn text_in_any_eight_bit_encoding_is_text() {
        for bytes in [&b""[..], "\u{feff}caf\u{e9}\r\n".as_bytes(), b"caf\xe9 \x1b[0m \x80"] {
            assert_eq!(text(bytes.to_vec()).as_deref(), Ok(bytes));
        }
    }

    #[test]
    fn a_pointer_of_git_lfs_is_not_the_file() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        assert_eq!(refused(pointer), Some(SkipReason::LfsPointer));
        let article = [&pointer[..], &[b'a'; 2_000]].concat();
        assert_eq!(refused(&article), None, "a text that begins like one is a text");
        assert_eq!(refused(b"version 1\n"), None);
    }

    #[test]
    fn utf_16_is_read_as_utf_8() {
        assert_eq!(text(b"\xff\xfeh\0i\0".to_vec()).as_deref(), Ok(&b"hi"[..]));
        assert_eq!(text(b"\xfe\xff\0h\0i".to_vec()).as_deref(), Ok(&b"hi"[..]));
        assert_eq!(refused(b"\xff\xfeh\0i"), Some(SkipReason::Utf16), "half a character");
        assert_eq!(refused(b"\xff\xfe\0\0h\0\0\0"), Some(SkipReason::Binary), "UTF-32");
        assert_eq!(refused(b"h\0i\0"), Some(SkipReason::Binary), "no mark");
    }

    #[test]
    fn nul_bytes_are_binary_near_the_beginning() {
        assert_eq!(refused(b"\x7fELF\0"), Some(SkipReason::Binary));
        assert_eq!(refused(b"\xff\xfea\0\0\0"), Some(SkipReason::Binary));
        let late = [vec![b'a'; 8_000], vec![0]].concat();
        assert_eq!(refused(&late), None);
    }
}
