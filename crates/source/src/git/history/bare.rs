//! A bare clone as files: initialized empty, and cleaned after a killed run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::git::Error;

/// Makes a bare repository. No templates are used, so it has no hooks.
pub(in crate::git) fn init(path: &Path) -> Result<(), Error> {
    for folder in ["objects/pack", "objects/info", "refs"] {
        make_private(&path.join(folder))?;
    }
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlogallrefupdates = false\n";
    for (name, text) in [("config", config), ("HEAD", "ref: refs/heads/none\n")] {
        let mut file = tempfile::NamedTempFile::new_in(path).map_err(Error::io("cannot write in", path))?;
        io::Write::write_all(&mut file, text.as_bytes()).map_err(Error::io("cannot write in", path))?;
        file.persist(path.join(name)).map_err(|err| Error::io("cannot write in", path)(err.error))?;
    }
    Ok(())
}

/// Removes leftovers of a killed run from a clone: only this program writes there, and the caller holds the lock.
pub(in crate::git) fn clean(path: &Path) -> Result<(), Error> {
    for name in ["shallow.lock", "packed-refs.lock", "HEAD.lock", "config.lock"] {
        remove(&path.join(name))?;
    }
    for entry in
        entries(&path.join("refs/c")).into_iter().filter(|path| path.extension().is_some_and(|end| end == "lock"))
    {
        remove(&entry)?;
    }
    // A pack counts once its index exists.
    let known = |entry: &Path| {
        let ending = entry.extension().and_then(|ending| ending.to_str());
        matches!(ending, Some("pack" | "idx" | "keep" | "rev")) && entry.with_extension("idx").is_file()
    };
    for entry in entries(&path.join("objects/pack")) {
        if !known(&entry) {
            remove(&entry)?;
        }
    }
    Ok(())
}

/// The entries of a folder; empty if it does not exist.
pub(in crate::git) fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Removes a file or a folder, if it exists. Of a link, the link itself is removed.
pub(in crate::git) fn remove(path: &Path) -> Result<(), Error> {
    let result = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(err) => Err(err),
    };
    match result {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(Error::io("cannot remove", path)(err)),
        _ => Ok(()),
    }
}

/// Makes a folder that only its owner can access.
pub(in crate::git) fn make_private(path: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(Error::io("cannot make the folder", path))
}

/// Bytes of all files below a folder.
pub(in crate::git) fn size_of(path: &Path) -> u64 {
    let mut bytes = 0;
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                Ok(metadata) => bytes += metadata.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}
