//! Detection of changes since an earlier walk, by metadata alone: no file is opened, listed or read.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::thread;

use super::disk::{Folder, Links, MISSING};
use codelode_base::model::SourceFile;

/// Entries per thread. A thread takes longer to start than to check fewer than these.
const WORTH_A_THREAD: usize = 500;

/// A file, folder or missing file as an earlier walk recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedEntry<'a> {
    /// Relative to the root with `/` between the parts, empty for the root; or absolute.
    pub path: &'a str,
    /// Size in bytes; meaningless for folders.
    pub size: u64,
    /// Modification time in nanoseconds since 1970; `i64::MIN` for a missing file.
    pub mtime_ns: i64,
    /// See [`SourceFile::ctime_ns`]; `None` when it cannot be compared, as in a copy.
    pub ctime_ns: Option<i64>,
    /// Whether it is a folder.
    pub is_dir: bool,
}

/// Differences from the recorded state, as indices into the given list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Entries with another size, time or kind, new entries, and entries that cannot be checked.
    pub changed: Vec<usize>,
    /// Entries that no longer exist.
    pub gone: Vec<usize>,
}

/// Length of a list of recorded entries, and lookup by index. Entries without a value are skipped.
pub type List<'a, 'k> = (usize, &'a (dyn Fn(usize) -> Option<RecordedEntry<'k>> + Sync));

/// Compares the `known` entries with the disk. Links are checked themselves, unless `follow_symlinks`; outside the
/// root they are always followed.
pub fn changes(root: &Path, known: List<'_, '_>, follow_symlinks: bool, threads: usize) -> Changes {
    let folder = Folder::open(root);
    let links = if follow_symlinks { Links::Follow } else { Links::Refuse };
    let (count, known) = known;
    let threads = threads.clamp(1, count / WORTH_A_THREAD + 1);
    let share = count.div_ceil(threads).max(1);
    let mut parts = (0..count).step_by(share).map(|from| from..count.min(from + share));
    let own = parts.next();
    thread::scope(|scope| {
        let folder = &folder;
        let others: Vec<_> = parts.map(|part| scope.spawn(move || compare(folder, known, part, links))).collect();
        let mut all = own.map(|part| compare(folder, known, part, links)).unwrap_or_default();
        for other in others {
            let part = other.join().expect("comparing numbers does not panic");
            all.changed.extend(part.changed);
            all.gone.extend(part.gone);
        }
        all
    })
}

/// Metadata of a file; `None` when it is missing or a folder.
pub fn stat(root: &Path, path: &str, follow_symlinks: bool) -> Option<SourceFile> {
    let links = if follow_symlinks { Links::Follow } else { Links::Refuse };
    let seen = Folder::open(root).decide(path, links).ok().filter(|seen| !seen.is_dir)?;
    Some(seen.stamp.file(path))
}

/// Compares one share of the list.
fn compare<'k>(
    folder: &Folder<'_>,
    known: &(dyn Fn(usize) -> Option<RecordedEntry<'k>> + Sync),
    part: Range<usize>,
    links: Links,
) -> Changes {
    let mut changes = Changes::default();
    for (place, known) in part.filter_map(|place| Some((place, known(place)?))) {
        let links = if is_outside(known.path) { Links::Follow } else { links };
        match folder.decide(known.path, links) {
            Ok(seen) => {
                let same_size = known.is_dir || seen.stamp.size == known.size;
                let same_times = seen.stamp.mtime_ns == known.mtime_ns
                    && known.ctime_ns.is_none_or(|ctime_ns| ctime_ns == seen.stamp.ctime_ns);
                if !same_times || !same_size || seen.is_dir != known.is_dir {
                    changes.changed.push(place);
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                if known.mtime_ns != MISSING {
                    changes.gone.push(place);
                }
            }
            Err(_) => changes.changed.push(place),
        }
    }
    changes
}

/// Whether a path is absolute. The first byte nearly always decides, and this runs once for every file.
fn is_outside(path: &str) -> bool {
    path.starts_with('/') || (cfg!(windows) && Path::new(path).is_absolute())
}
