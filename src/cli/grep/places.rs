//! Places to search: indexed files, files on disk, and standard input; and their selection by globs and types.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};

use super::disk::Guard;
use super::flags::{Binary, GrepOptions, SortBy};
use codelode_base::model::{SourceFile, on_disk, relative};
use codelode_service::parts::grep::{FileView, Grep};
use codelode_service::tools::Error;

/// A file or input to search.
pub(super) struct Item<'a> {
    pub(super) haystack: SearchInput<'a>,
    /// Its path, as printed.
    pub(super) shown: PathBuf,
}

/// Source of the bytes to search.
pub(super) enum SearchInput<'a> {
    /// A file as indexed.
    Indexed(FileView<'a>),
    /// A file on disk.
    Disk { path: PathBuf, size: u64, binary: Binary },
    /// A file on disk, already read.
    Read(Vec<u8>),
    /// Standard input, after the bytes already read.
    Input(Vec<u8>, Binary),
}

impl Item<'_> {
    /// Its file on disk.
    pub(super) fn path(&self, root: &Path) -> Option<PathBuf> {
        match &self.haystack {
            SearchInput::Indexed(file) => Some(on_disk(root, file.path())),
            SearchInput::Disk { path, .. } => Some(path.clone()),
            SearchInput::Read(_) | SearchInput::Input(..) => None,
        }
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> u64 {
        match &self.haystack {
            SearchInput::Indexed(file) => file.size(),
            SearchInput::Disk { size, .. } => *size,
            SearchInput::Read(bytes) => bytes.len() as u64,
            SearchInput::Input(..) => 0,
        }
    }
}

/// Standard input as an item.
pub(super) fn input<'a>(begun: Vec<u8>, binary: Binary) -> Item<'a> {
    Item { haystack: SearchInput::Input(begun, binary), shown: PathBuf::from("<stdin>") }
}

/// The first byte of piped input; `None` without input. Sockets and empty pipes do not count, because programs leave
/// them open for their child processes.
pub(super) fn piped() -> Option<Vec<u8>> {
    let stdin = io::stdin();
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&stdin).ok()?.st_mode);
    if !kind.is_fifo() && !kind.is_file() {
        return None;
    }
    let mut first = [0];
    let n_read = stdin.lock().read(&mut first).ok()?;
    (n_read > 0).then(|| first.to_vec())
}

/// A given path, or the current folder.
struct Scope {
    /// The prefix of matching paths below the root: empty, a file, or a folder with `/`.
    prefix: String,
    /// The text that replaces the prefix in printed paths.
    shown: String,
    is_file: bool,
}

impl Scope {
    /// The printed form of a path; `None` if it is outside.
    fn shown(&self, path: &str) -> Option<PathBuf> {
        let rest = path.strip_prefix(&self.prefix)?;
        (!self.is_file || rest.is_empty()).then(|| relative(&format!("{}{rest}", self.shown)).into_owned())
    }
}

/// The indexed files in these places. A named file that is not indexed is read from disk, unless it is a secret.
pub(super) fn indexed<'a>(
    grep: &'a Grep,
    here: &Path,
    paths: &[PathBuf],
    (how, chosen): (&GrepOptions, &Chosen),
    guard: &mut Guard<'_>,
) -> Result<Vec<Item<'a>>, Error> {
    let files = grep.files().map(|file| (file.path(), SearchInput::Indexed(file)));
    within(&grep.root(), files, &|path| grep.has_file(path), here, paths, (how, chosen), guard)
}

/// The files on disk in these places, for a folder without an index.
pub(super) fn unindexed(
    (root, files): &(PathBuf, Vec<SourceFile>),
    here: &Path,
    paths: &[PathBuf],
    (how, chosen): (&GrepOptions, &Chosen),
    guard: &mut Guard<'_>,
) -> Result<Vec<Item<'static>>, Error> {
    let input = |file: &SourceFile| SearchInput::Disk {
        path: on_disk(root, &file.path),
        size: file.size,
        binary: Binary::Skipped,
    };
    let has_file = |path: &Path| {
        let found = path.to_str().map(|path| files.binary_search_by(|file| file.path.as_str().cmp(path)));
        found.is_some_and(|found| found.is_ok())
    };
    let listed = files.iter().map(|file| (file.path.as_str(), input(file)));
    within(root, listed, &has_file, here, paths, (how, chosen), guard)
}

/// The files of a repository that are in these places, and other named files.
fn within<'a, 'p>(
    root: &Path,
    files: impl Iterator<Item = (&'p str, SearchInput<'a>)>,
    has_file: &dyn Fn(&Path) -> bool,
    here: &Path,
    paths: &[PathBuf],
    (how, chosen): (&GrepOptions, &Chosen),
    guard: &mut Guard<'_>,
) -> Result<Vec<Item<'a>>, Error> {
    let mut others = Vec::new();
    let mut scopes = Vec::new();
    if paths.is_empty() {
        // Another repository is searched completely, with paths that open from here.
        let inside = below(root, here);
        let shown =
            if inside.is_none() && root.is_dir() { folder(&crate::cli::here::path(root, "")) } else { String::new() };
        scopes.push(Scope { prefix: folder(&inside.unwrap_or_default()), shown, is_file: false });
    }
    for path in paths {
        let (place, inside) = (here.join(path), below(root, &here.join(path)));
        let is_known = inside.as_deref().is_some_and(has_file);
        match inside {
            _ if !place.exists() && !is_known => guard.missing.push(path.clone()),
            _ if place.is_file() && !is_known => others.extend(guard.file(path)),
            None => {
                let message = format!("{} is not in {}", path.display(), root.display());
                let message = format!("{message}; search one repository at a time");
                return Err(Error::invalid_arguments(message));
            }
            Some(inside) if is_known => {
                let prefix = inside.to_string_lossy().into_owned();
                scopes.push(Scope { prefix, shown: path.to_string_lossy().into_owned(), is_file: true });
            }
            Some(inside) => scopes.push(Scope { prefix: folder(&inside), shown: folder(path), is_file: false }),
        }
    }
    if scopes.is_empty()
        && others.is_empty()
        && let [path, ..] = &guard.missing[..]
    {
        return Err(Error::not_found(format!("there is no {}", path.display())));
    }
    // A file below several of the given paths is shown once.
    let chosen = files.filter_map(|(path, haystack)| {
        let (scope, shown) = scopes.iter().find_map(|scope| Some((scope, scope.shown(path)?)))?;
        let item = Item { haystack, shown };
        let depth = path[scope.prefix.len()..].matches('/').count() + 1;
        // A named file is searched in any case.
        (scope.is_file || (chosen.takes(root, path) && how.takes(item.size(), depth))).then_some(item)
    });
    Ok(chosen.chain(others).collect())
}

/// A path relative to the root; `None` if it is outside.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.strip_prefix(root).ok().map(Path::to_owned)
}

/// A folder's path with a `/` at its end; empty for the root.
fn folder(path: &Path) -> String {
    let path = path.to_string_lossy();
    if path.is_empty() || path.ends_with('/') { path.into_owned() } else { format!("{path}/") }
}

/// The selection of files by globs and types.
pub(super) struct Chosen {
    pub(super) globs: Override,
    pub(super) types: Types,
}

impl Chosen {
    pub(super) fn of(how: &GrepOptions, here: &Path) -> Result<Self, ignore::Error> {
        let mut globs = OverrideBuilder::new(here);
        globs.case_insensitive(how.glob_case_insensitive)?;
        for glob in &how.globs {
            globs.add(glob)?;
        }
        globs.case_insensitive(true)?;
        for glob in &how.iglobs {
            globs.add(glob)?;
        }
        if how.types.is_empty() && how.types_not.is_empty() {
            return Ok(Self { globs: globs.build()?, types: Types::empty() });
        }
        let mut types = known_types(how)?;
        for name in &how.types {
            types.select(name);
        }
        for name in &how.types_not {
            types.negate(name);
        }
        Ok(Self { globs: globs.build()?, types: types.build()? })
    }

    fn takes(&self, root: &Path, path: &str) -> bool {
        if !self.types.is_empty() && self.types.matched(path, false).is_ignore() {
            return false;
        }
        if self.globs.is_empty() {
            return true;
        }
        let path = on_disk(root, path);
        let folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
        !self.globs.matched(&path, false).is_ignore()
            && folders.into_iter().all(|folder| !self.globs.matched(folder, true).is_ignore())
    }
}

/// The types for -t, one per line, as ripgrep prints them.
pub(super) fn type_list(how: &GrepOptions) -> Result<String, ignore::Error> {
    let lines = known_types(how)?
        .definitions()
        .into_iter()
        .map(|kind| format!("{}: {}\n", kind.name(), kind.globs().join(", ")));
    Ok(lines.collect())
}

/// File types: ripgrep's, and added ones.
fn known_types(how: &GrepOptions) -> Result<TypesBuilder, ignore::Error> {
    let mut types = TypesBuilder::new();
    types.add_defaults();
    how.type_clear.iter().for_each(|name| _ = types.clear(name));
    how.type_add.iter().try_for_each(|kind| types.add_def(kind))?;
    Ok(types)
}

/// Sorts files as requested. Indexed files come by path already.
pub(super) fn sort(items: &mut [Item<'_>], how: &GrepOptions, root: &Path) {
    let by = how.sortr.unwrap_or(how.sort);
    let time = |of: fn(&Metadata) -> io::Result<SystemTime>| {
        move |item: &Item<'_>| item.path(root)?.metadata().and_then(|metadata| of(&metadata)).ok()
    };
    match by {
        SortBy::None => {}
        SortBy::Path => items.sort_by(|left, right| left.shown.cmp(&right.shown)),
        SortBy::Modified => items.sort_by_cached_key(time(Metadata::modified)),
        SortBy::Accessed => items.sort_by_cached_key(time(Metadata::accessed)),
        SortBy::Created => items.sort_by_cached_key(time(Metadata::created)),
    }
    if how.sortr.is_some() {
        items.reverse();
    }
}
