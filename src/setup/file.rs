//! Configuration files of others: read with care, replaced in one step.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::Error;

/// Largest configuration that is edited.
const LARGEST: u64 = 16 << 20;

/// A configuration file, which need not exist.
#[derive(Debug)]
pub(super) struct Text {
    /// Where it lies, behind all links.
    pub target: PathBuf,
    /// Its text; `None` if there is no file.
    pub text: Option<String>,
}

/// Reads a configuration. In a project, which may come from anybody, no link leads out of its root.
pub(super) fn read(path: &Path, project: Option<&Path>) -> Result<Text, Error> {
    let target = resolve(path)?;
    if let Some(root) = project.and_then(|root| root.canonicalize().ok()).filter(|root| !target.starts_with(root)) {
        return Err(Error::LeadsOut { path: path.to_owned(), target, root });
    }
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let found = match fs::metadata(&target) {
        Ok(found) => found,
        Err(err) if err.kind() == ErrorKind::NotFound => return Ok(Text { target, text: None }),
        Err(err) => return Err(unreadable(err)),
    };
    if !found.is_file() {
        return Err(Error::NotAFile(path.to_owned()));
    }
    if found.len() > LARGEST {
        return Err(Error::TooLarge { path: path.to_owned(), megabytes: found.len() >> 20, most: LARGEST >> 20 });
    }
    let mut bytes = Vec::new();
    // It may grow after its size was read.
    File::open(&target).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes)).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| Error::NotText(path.to_owned()))?;
    Ok(Text { target, text: Some(text) })
}

/// Whether a file may be replaced: it is the user's own, and writable.
pub(super) fn check_writable(path: &Path, target: &Path) -> Result<(), Error> {
    let Ok(found) = fs::metadata(target) else { return Ok(()) };
    // A new file belongs to this user.
    let user = tempfile::tempfile().and_then(|file| file.metadata()).map(|own| own.uid());
    if user.is_ok_and(|user| user != found.uid()) {
        return Err(Error::OfAnother { path: path.to_owned(), owner: found.uid() });
    }
    match found.permissions().readonly() {
        true => Err(Error::ReadOnly(path.to_owned())),
        false => Ok(()),
    }
}

/// Replaces a file in one step, if it still holds what was read. Folders that are missing are made, and returned. A file
/// of a project is for others to read, too.
pub(super) fn write(file: &Text, text: &str, is_shared: bool) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::Unwritable { path: file.target.clone(), source };
    let folder = file.target.parent().unwrap_or(Path::new("/"));
    let made = make_folders(folder, is_shared).map_err(failed)?;
    let mut new = tempfile::Builder::new().prefix(".codelode-").tempfile_in(folder).map_err(failed)?;
    new.write_all(text.as_bytes()).map_err(failed)?;
    let mode = match fs::metadata(&file.target) {
        Ok(found) => found.permissions().mode() & 0o7777,
        Err(_) if is_shared => 0o644,
        Err(_) => 0o600,
    };
    new.as_file().set_permissions(Permissions::from_mode(mode)).map_err(failed)?;
    new.as_file().sync_all().map_err(failed)?;
    unchanged(file)?;
    new.persist(&file.target).map_err(|err| failed(err.error))?;
    Ok(made)
}

/// Removes a file, if it still holds what was read.
pub(super) fn remove(file: &Text) -> Result<(), Error> {
    unchanged(file)?;
    fs::remove_file(&file.target).map_err(|source| Error::Unwritable { path: file.target.clone(), source })
}

/// The file as it was when it was read: a running client may have written it since.
fn unchanged(file: &Text) -> Result<(), Error> {
    let now = match fs::read(&file.target) {
        Ok(now) => Some(now),
        Err(err) if err.kind() == ErrorKind::NotFound => None,
        Err(source) => return Err(Error::Unreadable { path: file.target.clone(), source }),
    };
    match now.as_deref() == file.text.as_deref().map(str::as_bytes) {
        true => Ok(()),
        false => Err(Error::Changed(file.target.clone())),
    }
}

/// Makes a folder and those above it; returns the new ones, the innermost first.
fn make_folders(folder: &Path, is_shared: bool) -> io::Result<Vec<PathBuf>> {
    let missing: Vec<PathBuf> = folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    for folder in missing.iter().rev() {
        fs::create_dir(folder)?;
        fs::set_permissions(folder, Permissions::from_mode(if is_shared { 0o755 } else { 0o700 }))?;
    }
    Ok(missing)
}

/// The path behind all links. The last parts need not exist, unless a link names them.
fn resolve(path: &Path) -> Result<PathBuf, Error> {
    for folder in path.ancestors() {
        match folder.canonicalize() {
            Ok(found) => {
                let rest = path.strip_prefix(folder).unwrap_or(Path::new(""));
                return Ok(if rest.as_os_str().is_empty() { found } else { found.join(rest) });
            }
            Err(_) if folder.symlink_metadata().is_ok_and(|found| found.is_symlink()) => {
                return Err(Error::LeadsNowhere(folder.to_owned()));
            }
            Err(err) if err.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(Error::Unreadable { path: path.to_owned(), source }),
        }
    }
    Ok(path.to_owned())
}
