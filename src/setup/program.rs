//! The name by which clients start this program.
//!
//! A user's configuration gets an absolute path, because clients on a desktop do not have the PATH of a shell. It is the
//! path at which PATH finds this program, links kept: that one stays when an update replaces the file behind it, as
//! package managers do with folders that bear a version. A project's configuration is shared with other machines, so it
//! names the program alone.

use std::path::{Path, PathBuf};

use super::{Error, NAME, Scope, Surroundings};

/// Parts of paths below which package runners keep programs for a while.
const CACHES: [&str; 4] = ["/_npx/", "/uv/archive-v", "/uv/environments-v", "/pipx/.cache/"];

/// The program's name in a configuration.
pub(super) fn name(around: &Surroundings, scope: Scope) -> Result<String, Error> {
    if scope == Scope::Project {
        return Ok(NAME.to_owned());
    }
    let program = named(around, &(around.variable)("PATH").unwrap_or_default());
    let text = program.to_string_lossy().into_owned();
    match CACHES.iter().any(|cache| text.contains(cache)) {
        true => Err(Error::InACache(program)),
        false => Ok(text),
    }
}

/// The path at which a PATH finds this program, else its own.
pub(super) fn named(around: &Surroundings, path: &str) -> PathBuf {
    let own = canonical(&around.program);
    let mut found = std::env::split_paths(path).map(|folder| folder.join(NAME));
    let found = found.find(|path| path.is_absolute() && is_program(path) && canonical(path) == own);
    found.unwrap_or_else(|| around.program.clone())
}

/// Whether a configured program can be started here.
pub(super) fn is_there(around: &Surroundings, program: &str) -> bool {
    match program.contains('/') {
        true => is_program(Path::new(program)),
        false => {
            let path = (around.variable)("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
        }
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
