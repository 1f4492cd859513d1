//! Reading of a chosen file, with the rule that needs content.

use std::io::{self, Read};
use std::path::{Component, Path};

use super::{Rules, disk, links};
use codelode_base::model::{SkipReason, SourceFile};

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
    let path = Path::new(&file.path);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) || file.path.is_empty() {
        return Err(SkipReason::Unreadable);
    }
    let opened = if rules.follow_symlinks { open_followed(root, &file.path, rules)? } else { open(root, &file.path)? };
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
    not_text(&bytes).map_or(Ok(bytes), Err)
}

fn open(root: &Path, path: &str) -> Result<std::fs::File, SkipReason> {
    disk::open_beneath(root, path).map_err(|error| reason(&error))
}

/// Opens the target of a link, after resolving it again.
fn open_followed(root: &Path, path: &str, rules: &Rules) -> Result<std::fs::File, SkipReason> {
    let root = root.canonicalize().map_err(|_| SkipReason::Unreadable)?;
    let real = root.join(path).canonicalize().map_err(|error| reason(&error))?;
    if real.strip_prefix(&root).is_ok_and(|inside| inside == Path::new(path)) {
        return open(&root, path);
    }
    let target = links::resolve(&root, &real, &[], &rules.secrets)?;
    let inside = target.real.strip_prefix(&root).ok().and_then(Path::to_str).ok_or(SkipReason::SymlinkEscape)?;
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

/// Reason why content is not indexed as text.
pub fn not_text(bytes: &[u8]) -> Option<SkipReason> {
    if is_utf_16(bytes) {
        return Some(SkipReason::Utf16);
    }
    match (is_binary(bytes), bytes.starts_with(LFS_POINTER) && bytes.len() <= LARGEST_POINTER) {
        (true, _) => Some(SkipReason::Binary),
        (_, true) => Some(SkipReason::LfsPointer),
        _ => None,
    }
}

/// Whether content begins with a byte order mark of UTF-16, and not of UTF-32.
fn is_utf_16(bytes: &[u8]) -> bool {
    let is_utf_32 = bytes.starts_with(&[0xff, 0xfe, 0, 0]);
    (bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])) && !is_utf_32
}

/// Whether content is binary: a NUL byte near the beginning, or a byte order mark of UTF-16 or UTF-32, whose text is
/// mostly NUL bytes.
pub fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SNIFFED)];
    head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) || head.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::{is_binary, not_text};
    use codelode_base::model::SkipReason;

    #[test]
    fn text_in_any_eight_bit_encoding_is_text() {
        assert!(!is_binary(b""));
        assert!(!is_binary("\u{feff}caf\u{e9}\r\n".as_bytes()));
        assert!(!is_binary(b"caf\xe9 \x1b[0m \x80"));
    }

    #[test]
    fn a_pointer_of_git_lfs_is_not_the_file() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        assert_eq!(not_text(pointer), Some(SkipReason::LfsPointer));
        let article = [&pointer[..], &[b'a'; 2_000]].concat();
        assert_eq!(not_text(&article), None, "a text that begins like one is a text");
        assert_eq!(not_text(b"version 1\n"), None);
    }

    #[test]
    fn utf_16_has_a_reason_of_its_own() {
        assert_eq!(not_text(b"\xff\xfeh\0i\0"), Some(SkipReason::Utf16));
        assert_eq!(not_text(b"\xfe\xff\0h\0i"), Some(SkipReason::Utf16));
        assert_eq!(not_text(b"\xff\xfe\0\0h\0\0\0"), Some(SkipReason::Binary), "UTF-32");
        assert_eq!(not_text(b"h\0i\0"), Some(SkipReason::Binary), "no mark");
    }

    #[test]
    fn nul_bytes_and_wide_encodings_are_binary() {
        assert!(is_binary(b"\x7fELF\0"));
        assert!(is_binary(b"\xff\xfeh\0i\0"));
        assert!(is_binary(b"\xfe\xff\x4e\x2d\x65\x87"));
        let late = [vec![b'a'; 8_000], vec![0]].concat();
        assert!(!is_binary(&late));
    }
}
