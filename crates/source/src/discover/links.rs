//! Resolution of symbolic links that may be followed.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::{binary, disk, noise};
use codelode_base::config::Secrets;
use codelode_base::model::SkipReason;

/// Target of a link: a plain file or a folder inside the root.
pub(super) struct Target {
    pub(super) real: PathBuf,
    pub(super) metadata: Metadata,
}

/// Resolves the link at `path`. Both roots and the paths in `never` are canonical.
///
/// The name of a link says nothing about its target, so the rules for secrets and noise apply again to the target:
/// `notes.txt` may point at `.env`.
pub(super) fn resolve(root: &Path, path: &Path, never: &[PathBuf], secrets: &Secrets) -> Result<Target, SkipReason> {
    let real = path
        .canonicalize()
        .map_err(|error| if disk::is_link(&error) { SkipReason::SymlinkEscape } else { SkipReason::Unreadable })?;
    let inside = real.strip_prefix(root).map_err(|_| SkipReason::SymlinkEscape)?;
    let metadata = real.symlink_metadata().map_err(|_| SkipReason::Unreadable)?;
    if never.iter().any(|folder| real.starts_with(folder)) {
        return Err(SkipReason::Noise);
    }
    let inside = inside.to_str().ok_or(SkipReason::Unreadable)?;
    let (folders, name) = match inside.rsplit_once(std::path::MAIN_SEPARATOR) {
        Some((folders, name)) => (folders, name),
        None => ("", inside),
    };
    let all = folders.split(std::path::MAIN_SEPARATOR).chain(metadata.is_dir().then_some(name));
    for folder in all {
        if noise::folder(folder) {
            return Err(SkipReason::Noise);
        }
    }
    if metadata.is_dir() {
        if secrets.hides(&format!("{inside}/")) {
            return Err(SkipReason::Secret);
        }
        return Ok(Target { real, metadata });
    }
    if !metadata.is_file() {
        return Err(SkipReason::NotAFile);
    }
    if noise::file(name) {
        return Err(SkipReason::Noise);
    }
    if secrets.hides(inside) {
        return Err(SkipReason::Secret);
    }
    if binary::file(inside) {
        return Err(SkipReason::Binary);
    }
    Ok(Target { real, metadata })
}
