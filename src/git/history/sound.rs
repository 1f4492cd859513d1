//! Checks of git's own files before they are opened: they must be plain files of bounded size. Reading a pipe would
//! block for ever, and a device has no end.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use crate::git::Error;

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;

/// Largest file with a single line: a ref, or a path to another folder.
const LINE: u64 = 64 * KB;
/// Files of a git directory with their size limits. A linked worktree has its own copies of the first four.
const FILES: &[(&str, u64)] = &[
    ("HEAD", LINE),
    ("commondir", LINE),
    ("config.worktree", MB),
    ("index", 1024 * MB),
    ("gitdir", LINE),
    ("config", MB),
    ("packed-refs", 256 * MB),
    ("shallow", 64 * MB),
    ("info/attributes", MB),
    ("info/grafts", MB),
    ("objects/info/alternates", LINE),
    ("objects/info/commit-graph", 4096 * MB),
    ("objects/pack/multi-pack-index", 4096 * MB),
];
/// Folders of a git directory that are checked for [`Depth::Everything`].
const FOLDERS: &[&str] = &["refs", "logs", "objects", "info", "worktrees"];
/// The longest chain of refs that name each other, and of object databases.
const MOST_LINKED: usize = 8;
/// The most entries of a git directory; a larger one is not opened.
const MOST_ENTRIES: usize = 2_000_000;

/// The checked part of a git directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git) enum Depth {
    /// Files read to open it and to find the checked-out commit.
    Opening,
    /// Refs, logs and objects too, because any of them may be read.
    Everything,
}

/// Opens a git directory, a `.git` file or a folder with either, after checking its files.
///
/// It is not trusted: of all configuration only its own `config` is read, no variable of the environment, and nothing
/// in it is run.
pub(in crate::git) fn open(
    path: &Path,
    depth: Depth,
    options: gix::open::Options,
) -> Result<gix::ThreadSafeRepository, Error> {
    let unreadable = |problem: String| Error::Unreadable { path: path.to_owned(), problem };
    let inside = path.join(".git");
    let is_own = path.file_name().is_some_and(|name| name == ".git");
    let dot_git = if !is_own && inside.symlink_metadata().is_ok() { &inside } else { path };
    check(dot_git, depth).map_err(|problem| unreadable(format!("its own files are not sound: {problem}")))?;
    let opened = gix::ThreadSafeRepository::open_opts(dot_git, options.open_path_as_is(true));
    opened.map_err(|err| unreadable(super::commit::causes(&err)))
}

/// The git directory or `.git` file of the repository that contains a folder, searched upwards.
///
/// A folder that looks like a bare repository counts only outside of working trees: inside, anyone who adds files to
/// the outer repository could have made it.
pub(in crate::git) fn find(folder: &Path) -> Option<PathBuf> {
    let device = folder.metadata().ok()?.dev();
    let mut bare = None;
    for folder in folder.ancestors() {
        if folder.metadata().ok()?.dev() != device {
            break;
        }
        let is_own = folder.file_name().is_some_and(|name| name == ".git");
        let dot_git = if is_own { folder.to_owned() } else { folder.join(".git") };
        if check(&dot_git, Depth::Opening).is_ok() {
            // Git keeps the repositories of submodules inside its own folder.
            return bare.filter(|_| is_own).or(Some(dot_git));
        }
        if bare.is_none() && !is_own && check(folder, Depth::Opening).is_ok() {
            bare = Some(folder.to_owned());
        }
    }
    bare
}

/// Whether the linked worktrees that a git directory lists can be opened.
pub(in crate::git) fn are_worktrees(common: &Path) -> bool {
    check_below(common.join("worktrees"), &mut 100_000).is_ok()
}

/// Reads a plain file of at most `limit` bytes.
pub fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if !is_plain(path, limit)? {
        return Err(ErrorKind::NotFound.into());
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Checks the files of a git directory, or of the one that a `.git` file names.
fn check(dot_git: &Path, depth: Depth) -> io::Result<()> {
    let mut own = dot_git.to_owned();
    if own.metadata()?.is_file() {
        let named = line(&own)?;
        let named = named.strip_prefix("gitdir:").ok_or(ErrorKind::InvalidData)?.trim();
        own = own.parent().unwrap_or(Path::new("")).join(named);
    }
    for (name, limit) in FILES {
        is_plain(&own.join(name), *limit)?;
    }
    let mut common = own.clone();
    if own.join("commondir").exists() {
        common = own.join(line(&own.join("commondir"))?.trim());
        for (name, limit) in FILES {
            is_plain(&common.join(name), *limit)?;
        }
    }
    own.join("HEAD").symlink_metadata()?;
    if !common.join("objects").is_dir() || !common.join("refs").is_dir() {
        return Err(ErrorKind::NotFound.into());
    }
    check_head(&own, &common)?;
    let databases = databases(common.join("objects"))?;
    if depth == Depth::Everything {
        let mut left = MOST_ENTRIES;
        for folder in HashSet::from([&own, &common]) {
            check_names(folder)?;
            for name in FOLDERS {
                check_below(folder.join(name), &mut left)?;
            }
        }
        for folder in databases {
            check_below(folder, &mut left)?;
        }
    }
    Ok(())
}

/// Checks the refs that `HEAD` leads to.
fn check_head(own: &Path, common: &Path) -> io::Result<()> {
    let mut name = "HEAD".to_owned();
    for _ in 0..MOST_LINKED {
        let is_inside = Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !is_inside {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut next = None;
        for folder in [own, common] {
            let path = folder.join(&name);
            if is_plain(&path, LINE)? && path.is_file() {
                next = next.or(line(&path)?.strip_prefix("ref:").map(|name| name.trim().to_owned()));
            }
        }
        match next {
            Some(next) => name = next,
            None => return Ok(()),
        }
    }
    Err(ErrorKind::InvalidData.into())
}

/// The object databases that one borrows from, itself excluded.
fn databases(first: PathBuf) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![first];
    let mut at = 0;
    while let Some(folder) = found.get(at).cloned() {
        let path = folder.join("info/alternates");
        if is_plain(&path, LINE)? {
            let text = String::from_utf8_lossy(&read_small(&path, LINE)?).into_owned();
            for named in text.lines().map(str::trim).filter(|named| !named.is_empty() && !named.starts_with('#')) {
                let other = folder.join(named.trim_matches('"'));
                if !found.contains(&other) {
                    found.push(other);
                }
            }
        }
        if found.len() > MOST_LINKED {
            return Err(ErrorKind::InvalidData.into());
        }
        at += 1;
    }
    Ok(found.split_off(1))
}

/// Checks the entries of a git directory itself: each may be the name of a ref.
fn check_names(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if name.to_str().is_some_and(|name| !name.contains(|letter: char| letter.is_ascii_lowercase())) {
            is_plain(&folder.join(name), 64 * MB)?;
        }
    }
    Ok(())
}

/// Checks everything below a folder, which need not exist.
fn check_below(folder: PathBuf, left: &mut usize) -> io::Result<()> {
    let is_objects = folder.file_name().is_some_and(|name| name == "objects");
    let mut folders = vec![folder];
    let mut entered = HashSet::new();
    while let Some(folder) = folders.pop() {
        let listed = match fs::read_dir(&folder) {
            Err(err) if matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            listed => listed?,
        };
        for entry in listed {
            let entry = entry?;
            *left = left.checked_sub(1).ok_or(ErrorKind::FileTooLarge)?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_symlink() && entry.path().is_dir() {
                let real = entry.path().canonicalize()?;
                folders.extend(entered.insert(real.clone()).then_some(real));
            } else if !is_objects || !kind.is_file() {
                let limit = match is_objects {
                    // The library itself limits the unpacked size of an object.
                    true => u64::MAX,
                    false if entry.file_name() == "index" => 1024 * MB,
                    false => 64 * MB,
                };
                is_plain(&entry.path(), limit)?;
            }
        }
    }
    Ok(())
}

/// Whether a path is a plain file of at most `limit` bytes; `false` for a missing file or a folder, and an error
/// otherwise.
///
/// A link may lead to such a file, because some tools keep a repository's files elsewhere. The file must not be
/// empty, because files that the system generates while they are read have no size.
/// system makes up while it is read has no size.
fn is_plain(path: &Path, limit: u64) -> io::Result<bool> {
    let is_missing = |err: &io::Error| matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    let own = match path.symlink_metadata() {
        Err(err) if is_missing(&err) => return Ok(false),
        found => found?,
    };
    let found = match path.metadata() {
        Err(err) if is_missing(&err) => return Ok(false),
        found => found?,
    };
    let kind = found.file_type();
    let is_made_up = own.is_symlink() && found.is_file() && found.len() == 0;
    if kind.is_fifo() || kind.is_char_device() || kind.is_block_device() || is_made_up {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("{} is not a plain file", path.display())));
    }
    if found.is_file() && found.len() > limit {
        let message = format!("{} is larger than {limit} bytes", path.display());
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(found.is_file())
}

/// The text of a file with one line.
fn line(path: &Path) -> io::Result<String> {
    String::from_utf8(read_small(path, LINE)?).map_err(|_| ErrorKind::InvalidData.into())
}
