//! The name by which clients start this program.
//!
//! A user's configuration gets an absolute path, because clients on a desktop do not have the PATH of a shell. It is the
//! path at which PATH finds this program, links kept: that one stays when an update replaces the file behind it, as
//! package managers do with folders that bear a version. A program that a package runner keeps in its cache is started by
//! that runner. A project's configuration is shared with other machines, so it
//! names the program alone.

use std::path::{Path, PathBuf};

use super::{Error, NAME, Scope, Surroundings};

/// A program that keeps packages in a cache for a while and starts programs from there.
struct Runner {
    /// Part of the paths in its cache.
    cache: &'static str,
    /// Command that starts this program again, wherever it is kept by then.
    command: &'static [&'static str],
}

const RUNNERS: [Runner; 4] = [
    Runner { cache: "/_npx/", command: &["npx", "-y", NAME] },
    Runner { cache: "/uv/archive-v", command: &["uvx", NAME] },
    Runner { cache: "/uv/environments-v", command: &["uvx", NAME] },
    Runner { cache: "/pipx/.cache/", command: &["pipx", "run", NAME] },
];

/// The command line that starts this program, without arguments of its own: never empty.
pub(super) fn command(around: &Surroundings, scope: Scope) -> Result<Vec<String>, Error> {
    if scope == Scope::Project {
        return Ok(vec![NAME.to_owned()]);
    }
    let variable = |name| (around.variable)(name).unwrap_or_default();
    let program = named(around, &variable("PATH"));
    let text = program.to_string_lossy().into_owned();
    let Some(runner) = RUNNERS.iter().find(|runner| is_kept_by(runner, &text, &variable("UV_CACHE_DIR"))) else {
        return Ok(vec![text]);
    };
    match is_there(around, runner.command[0]) {
        true => Ok(runner.command.iter().map(|&word| word.to_owned()).collect()),
        false => Err(Error::InACache(program)),
    }
}

/// The path at which a PATH finds this program, else its own.
pub(super) fn named(around: &Surroundings, path: &str) -> PathBuf {
    let own = canonical(&around.program);
    let mut found = std::env::split_paths(path).map(|folder| folder.join(NAME));
    let found = found.find(|path| path.is_absolute() && is_program(path) && canonical(path) == own);
    found.unwrap_or_else(|| around.program.clone())
}

/// Whether a runner keeps the program at that path; uv's cache may be elsewhere, in a folder that a variable names.
fn is_kept_by(runner: &Runner, path: &str, uv_cache: &str) -> bool {
    let is_in_uv_cache = !uv_cache.is_empty() && Path::new(path).starts_with(uv_cache);
    path.contains(runner.cache) || (runner.command[0] == "uvx" && is_in_uv_cache)
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
