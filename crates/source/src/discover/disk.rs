//! Metadata and safe opening of files in an untrusted folder.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::Path;

use codelode_base::model::{Input, SourceFile, on_disk, relative};

/// Modification time of a missing file.
pub(super) const MISSING: i64 = i64::MIN;

/// Whether to follow symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// Follow links in the user's own setup, such as a global excludes file kept among dotfiles.
    Follow,
    /// Refuse links inside a source: they can point anywhere.
    Refuse,
}

/// Size and times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileStamp {
    pub(super) size: u64,
    pub(super) mtime_ns: i64,
    /// See [`codelode_base::model::SourceFile::ctime_ns`].
    pub(super) ctime_ns: i64,
}

impl FileStamp {
    /// Stamp of a missing file.
    pub(super) const MISSING: Self = Self { size: 0, mtime_ns: MISSING, ctime_ns: 0 };

    pub(super) fn of(metadata: &Metadata) -> Self {
        let size = if metadata.is_dir() { 0 } else { metadata.len() };
        Self { size, mtime_ns: mtime_ns(metadata), ctime_ns: ctime_ns(metadata) }
    }

    pub(super) fn input(self, path: impl Into<String>) -> Input {
        let Self { size, mtime_ns, ctime_ns } = self;
        Input { path: path.into(), size, mtime_ns, ctime_ns, is_dir: false }
    }

    pub(super) fn file(self, path: impl Into<String>) -> SourceFile {
        let Self { size, mtime_ns, ctime_ns } = self;
        SourceFile { path: path.into(), size, mtime_ns, ctime_ns }
    }
}

#[cfg(unix)]
fn mtime_ns(metadata: &Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;

    nanoseconds(metadata.mtime(), metadata.mtime_nsec())
}

#[cfg(unix)]
fn ctime_ns(metadata: &Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;

    nanoseconds(metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn ctime_ns(_metadata: &Metadata) -> i64 {
    0
}

#[cfg(not(unix))]
fn mtime_ns(metadata: &Metadata) -> i64 {
    use std::time::UNIX_EPOCH;

    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN + 1, |nanos| -nanos),
    }
}

/// Combines seconds and nanoseconds. [`MISSING`] is reserved.
#[cfg(unix)]
pub(super) fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds).max(MISSING + 1)
}

/// Reads a file of at most `limit` bytes, with its stamp from before reading. Rejects anything but a plain file
/// before opening it, because opening a pipe can block forever.
pub(super) fn read_small(path: &Path, links: Links, limit: u64) -> io::Result<(Vec<u8>, FileStamp)> {
    let metadata = match links {
        Links::Follow => path.metadata()?,
        Links::Refuse => path.symlink_metadata()?,
    };
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
    }
    Ok((bytes, FileStamp::of(&metadata)))
}

/// Kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl Kind {
    pub(super) fn of(file_type: FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_dir() {
            Self::Folder
        } else if file_type.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }
}

/// Opens the file at `relative` below `root` for reading. No part of the path below the root may be a symbolic link,
/// so swapping a folder for a link between check and opening cannot lead elsewhere.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn open_beneath(root: &Path, relative: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
    use rustix::io::Errno;

    let folder = openat(CWD, root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    // Without NONBLOCK, opening a pipe waits for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(&folder, relative, flags, Mode::empty(), resolve) {
        Ok(file) => Ok(File::from(file)),
        // Old kernels lack this call, and some sandboxes forbid it.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => open_checked(root, relative),
        Err(error) => Err(error.into()),
    }
}

/// Opens the file at `relative` below `root` for reading, when no part of the path below the root is a symbolic link.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn open_beneath(root: &Path, relative: &Path) -> io::Result<File> {
    open_checked(root, relative)
}

/// Whether opening failed because of a symbolic link in the path, or a cycle of links.
#[cfg(unix)]
pub(super) fn is_link(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TooManyLinks || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Whether opening failed because of a symbolic link in the path, or a cycle of links.
#[cfg(not(unix))]
pub(super) fn is_link(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TooManyLinks
}

/// Whether opening failed because the path cannot be read from, as a socket.
#[cfg(unix)]
pub(super) fn is_no_file(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error())
}

/// Whether opening failed because the path cannot be read from, as a socket.
#[cfg(not(unix))]
pub(super) fn is_no_file(_error: &io::Error) -> bool {
    false
}

/// Fallback in two steps for systems without `openat2`: the folder must be canonical, and the file itself must not be
/// a link.
fn open_checked(root: &Path, relative: &Path) -> io::Result<File> {
    let path = root.canonicalize()?.join(relative);
    let parent = path.parent().unwrap_or(root);
    if parent.canonicalize()? != parent || path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::TooManyLinks, "a symbolic link"));
    }
    open_plain(&path)
}

#[cfg(unix)]
fn open_plain(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(openat(CWD, path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_plain(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// A folder for repeated path lookups.
pub(super) struct Folder<'a> {
    path: &'a Path,
    #[cfg(unix)]
    handle: Option<rustix::fd::OwnedFd>,
}

/// Metadata of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathMetadata {
    pub(super) stamp: FileStamp,
    pub(super) is_dir: bool,
}

#[cfg(unix)]
impl<'a> Folder<'a> {
    /// Opens the folder once, so that lookups do not resolve its path again.
    pub(super) fn open(path: &'a Path) -> Self {
        use rustix::fs::{CWD, Mode, OFlags, openat};

        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self { path, handle: openat(CWD, path, flags, Mode::empty()).ok() }
    }

    /// Reads the metadata of `path`, which is relative to the folder, empty for the folder itself, or absolute.
    pub(super) fn decide(&self, path: &str, links: Links) -> io::Result<PathMetadata> {
        use rustix::fs::{AtFlags, FileType, statat};

        let Some(handle) = &self.handle else { return look_slowly(self.path, path, links) };
        let flags = if links == Links::Follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        let stat = statat(handle, &*relative(if path.is_empty() { "." } else { path }), flags)?;
        let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        // The width and sign of these fields differ between systems.
        #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
        let stamp = FileStamp {
            size: if is_dir { 0 } else { stat.st_size as u64 },
            mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        };
        Ok(PathMetadata { stamp, is_dir })
    }
}

#[cfg(not(unix))]
impl<'a> Folder<'a> {
    /// Keeps the path; opening the folder saves nothing on this system.
    pub(super) fn open(path: &'a Path) -> Self {
        Self { path }
    }

    /// Reads the metadata of `path`, which is relative to the folder, empty for the folder itself, or absolute.
    pub(super) fn decide(&self, path: &str, links: Links) -> io::Result<PathMetadata> {
        look_slowly(self.path, path, links)
    }
}

fn look_slowly(folder: &Path, path: &str, links: Links) -> io::Result<PathMetadata> {
    let path = on_disk(folder, path);
    let metadata = if links == Links::Follow { path.metadata()? } else { path.symlink_metadata()? };
    Ok(PathMetadata { stamp: FileStamp::of(&metadata), is_dir: metadata.is_dir() })
}
