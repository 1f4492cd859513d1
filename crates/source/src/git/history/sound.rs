//! Checks of git's own files before they are opened: they must be plain files of bounded size, because reading a pipe
//! would block for ever, and a device has no end; and they must lie in the repository's own folders, because a folder
//! could show any repository of the machine otherwise.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use crate::git::Error;

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;

/// Largest file with a single line: a ref, or a path to another folder.
const LINE: u64 = 64 * KB;
/// The file that names further object databases.
const ALTERNATES: &str = "objects/info/alternates";
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
    (ALTERNATES, LINE),
    ("objects/info/commit-graph", 4096 * MB),
    ("objects/pack/multi-pack-index", 4096 * MB),
];
/// Beginning of the names of files that an index may name, for entries that it shares with others.
const SHARED_INDEX: &[u8] = b"sharedindex.";
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
    let opened = opened.map_err(|err| unreadable(super::commit::causes(&err)))?;
    let places = Places::of(dot_git).map_err(|problem| unreadable(problem.to_string()))?;
    places.agree_with(&opened).map_err(|problem| unreadable(format!("its own files are not sound: {problem}")))?;
    Ok(opened)
}

/// Folders in which all parts of a repository lie: its git directory, the one that its worktrees have in common, and the
/// folder in which it is checked out, if it holds both.
struct Places {
    own: PathBuf,
    common: PathBuf,
    all: Vec<PathBuf>,
}

impl Places {
    /// The places of a git directory, or of the one that a `.git` file or link names. A folder may name any repository
    /// on the disk, so that one elsewhere must name the folder as well.
    fn of(dot_git: &Path) -> io::Result<Self> {
        let above = dot_git.parent().unwrap_or(Path::new(""));
        let mut own = dot_git.to_owned();
        if own.metadata()?.is_file() {
            let named = line(&own)?;
            let named = named.strip_prefix("gitdir:").ok_or(ErrorKind::InvalidData)?.trim();
            own = above.join(named);
        }
        let own = own.canonicalize()?;
        let foreign = || denied(format!("{} is the git directory of another folder", own.display()));
        let mut common = own.clone();
        if own.join("commondir").exists() {
            common = own.join(line(&own.join("commondir"))?.trim()).canonicalize()?;
            if own.parent() != Some(&common.join("worktrees")) {
                return Err(foreign());
            }
        }
        let mut all = vec![own.clone(), common.clone()];
        if dot_git.file_name().is_some_and(|name| name == ".git") {
            let folder = above.canonicalize()?;
            if own.starts_with(&folder) && common.starts_with(&folder) {
                all.push(folder);
            } else if checked_out_in(&own, own != common)?.is_none_or(|named| named != folder) {
                return Err(foreign());
            }
        }
        Ok(Self { own, common, all })
    }

    /// The places of a common git directory alone.
    fn of_common(common: &Path) -> Self {
        Self { own: common.to_owned(), common: common.to_owned(), all: vec![common.to_owned()] }
    }

    /// Refuses a path that a link leads out of these places.
    fn hold(&self, path: &Path) -> io::Result<()> {
        match path.canonicalize() {
            Ok(real) if self.all.iter().any(|place| real.starts_with(place)) => Ok(()),
            Ok(_) => Err(denied(format!("{} leads out of the repository", path.display()))),
            Err(err) if is_missing(&err) => Ok(()),
            Err(err) => Err(err),
        }
    }

    /// Refuses an opened repository that has other places, since the library reads names in its own way.
    fn agree_with(&self, opened: &gix::ThreadSafeRepository) -> io::Result<()> {
        let git_dir = opened.refs.git_dir();
        let common = opened.common_dir.as_deref().unwrap_or(git_dir);
        if git_dir.canonicalize()? != self.own || common.canonicalize()? != self.common {
            return Err(denied("it is opened elsewhere".to_owned()));
        }
        if self.common.join(ALTERNATES).exists() {
            let databases = opened.objects.alternate_db_paths().map_err(io::Error::other)?;
            databases.iter().try_for_each(|database| self.hold(database))?;
        }
        Ok(())
    }
}

/// The folder that a git directory names as checked out: a linked worktree by its `gitdir`, others by `core.worktree`.
fn checked_out_in(own: &Path, is_linked: bool) -> io::Result<Option<PathBuf>> {
    if is_linked {
        let named = own.join(line(&own.join("gitdir"))?.trim());
        return Ok(named.parent().and_then(|folder| folder.canonicalize().ok()));
    }
    for name in ["config.worktree", "config"] {
        let path = own.join(name);
        if !is_plain(&path, MB)? {
            continue;
        }
        let config = gix::config::File::try_from(gix::bstr::BStr::new(&read_small(&path, MB)?));
        let named = config.ok().and_then(|config| config.string("core.worktree"));
        if let Some(named) = named {
            return Ok(own.join(OsStr::from_bytes(&named)).canonicalize().ok());
        }
    }
    Ok(None)
}

fn denied(problem: String) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, problem)
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
    let Ok(common) = common.canonicalize() else { return false };
    check_below(&Places::of_common(&common), common.join("worktrees"), &mut 100_000).is_ok()
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
    if !dot_git.metadata()?.is_file() {
        dot_git.join("HEAD").symlink_metadata()?;
    }
    let places = Places::of(dot_git)?;
    let Places { own, common, .. } = &places;
    own.join("HEAD").symlink_metadata()?;
    let folders = HashSet::from([own, common]);
    for folder in &folders {
        for (name, limit) in FILES {
            places.check(&folder.join(name), *limit)?;
        }
        for name in ["refs", "objects", "objects/pack"] {
            places.hold(&folder.join(name))?;
        }
    }
    if !common.join("objects").is_dir() || !common.join("refs").is_dir() {
        return Err(ErrorKind::NotFound.into());
    }
    places.check_head()?;
    places.check_shared_index()?;
    let databases = places.databases()?;
    if depth == Depth::Everything {
        let mut left = MOST_ENTRIES;
        for folder in folders {
            places.check_names(folder)?;
            for name in FOLDERS {
                check_below(&places, folder.join(name), &mut left)?;
            }
        }
        for folder in databases {
            check_below(&places, folder, &mut left)?;
        }
    }
    Ok(())
}

impl Places {
    /// Checks a file that need not exist; whether it does.
    fn check(&self, path: &Path, limit: u64) -> io::Result<bool> {
        self.hold(path)?;
        is_plain(path, limit)
    }

    /// Checks the refs that `HEAD` leads to.
    fn check_head(&self) -> io::Result<()> {
        let mut name = "HEAD".to_owned();
        for _ in 0..MOST_LINKED {
            let is_inside = Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
            if name.is_empty() || !is_inside {
                return Err(ErrorKind::InvalidData.into());
            }
            let mut next = None;
            for folder in [&self.own, &self.common] {
                let path = folder.join(&name);
                if self.check(&path, LINE)? && path.is_file() {
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

    /// Checks the files that an index may share its entries with.
    fn check_shared_index(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.own)? {
            let entry = entry?;
            if entry.file_name().as_bytes().starts_with(SHARED_INDEX) {
                self.check(&entry.path(), 1024 * MB)?;
            }
        }
        Ok(())
    }

    /// The object databases that the own one borrows from. They are named relative to it, also by each other.
    fn databases(&self) -> io::Result<Vec<PathBuf>> {
        let first = self.common.join("objects");
        let mut found = vec![first.clone()];
        let mut at = 0;
        while let Some(folder) = found.get(at).cloned() {
            let path = folder.join("info/alternates");
            if self.check(&path, LINE)? {
                let text = read_small(&path, LINE)?;
                let lines = text.split(|byte| *byte == b'\n');
                for named in lines.filter(|named| !named.is_empty() && !named.starts_with(b"#")) {
                    let other = first.join(OsStr::from_bytes(named));
                    // A name in quotes may have any letters, written in any way.
                    if named.starts_with(b"\"") {
                        return Err(ErrorKind::InvalidData.into());
                    }
                    self.hold(&other)?;
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
    fn check_names(&self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            if name.to_str().is_some_and(|name| !name.contains(|letter: char| letter.is_ascii_lowercase())) {
                self.check(&folder.join(name), 64 * MB)?;
            }
        }
        Ok(())
    }
}

/// Checks everything below a folder, which need not exist.
fn check_below(places: &Places, folder: PathBuf, left: &mut usize) -> io::Result<()> {
    places.hold(&folder)?;
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
            if kind.is_symlink() {
                places.hold(&entry.path())?;
            }
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
/// A link may lead to such a file. It must not be empty then, because files that the system makes up while they are read
/// have no size.
fn is_plain(path: &Path, limit: u64) -> io::Result<bool> {
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

fn is_missing(err: &io::Error) -> bool {
    matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The text of a file with one line.
fn line(path: &Path) -> io::Result<String> {
    String::from_utf8(read_small(path, LINE)?).map_err(|_| ErrorKind::InvalidData.into())
}
