//! Reach of a caller: the paths and remote repositories that it may name. The registry decides which repositories it
//! sees.

use std::path::{Component, Path, PathBuf};

use super::Caller;
use super::locate::root_of;
use crate::answer::Error;
use codelode_base::model::Rights;
use codelode_index::pipeline;
use codelode_source::git::Remote;
use codelode_store::Sidecar;

impl Caller<'_> {
    /// The caller's folders, as far as it may name them.
    pub(super) fn places(&self) -> impl Iterator<Item = &PathBuf> {
        let places = self.request.roots.iter().chain(&self.request.directory);
        places.filter(|place| self.reach(place).is_ok())
    }

    /// Fails for a path outside the caller's reach. Visible checkouts are in reach and, with the right to index,
    /// folders that may become visible ones. The error does not reveal whether a path exists.
    pub fn reach(&self, path: &Path) -> Result<(), Error> {
        let Some(roots) = &self.rights.roots else { return Ok(()) };
        let refused = || {
            let shown: String = path.to_string_lossy().chars().take(200).collect();
            denied(format!("{shown:?} is not in a repository of this server; give one from list_repos"))
        };
        let is_plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
        let all = self.indexes.registry().all();
        let checkouts: Vec<PathBuf> = all
            .iter()
            .filter(|sidecar| sidecar.remote.is_none())
            .map(|sidecar| self.config.path_map.to_local(&sidecar.root))
            .collect();
        let is_held = |path: &Path| checkouts.iter().any(|root| path.starts_with(root));
        let is_offered = |path: &Path| self.rights.index && roots.iter().any(|root| path.starts_with(root));
        // A path outside must not touch the disk.
        if !is_plain || !(is_held(path) || is_offered(path)) {
            return Err(refused());
        }
        match real(path) {
            Some((real, _)) if is_held(&real) => Ok(()),
            Some((real, true)) if is_offered(&real) => {
                let checkout = pipeline::sidecar_of(root_of(&real), self.config);
                if self.indexes.registry().shows(&checkout) { Ok(()) } else { Err(refused()) }
            }
            _ => Err(refused()),
        }
    }

    /// Fails if the caller may not index a checkout, which need not have an index yet.
    pub(super) fn may_index(&self, checkout: &Sidecar) -> Result<(), Error> {
        self.may_index_one(&checkout.repo, self.indexes.registry().shows(checkout))
    }

    /// Fails if the caller may not index a remote repository, by its future id.
    pub(super) fn may_index_remote(&self, repo: &str) -> Result<(), Error> {
        self.may_index_one(repo, self.rights.sees(repo))
    }

    fn may_index_one(&self, repo: &str, is_seen: bool) -> Result<(), Error> {
        match self.rights {
            Rights { index: false, .. } => Err(denied("you may not index here; ask its operator")),
            _ if !is_seen => Err(denied(format!("you have no right to {repo:?} on this server"))),
            _ => Ok(()),
        }
    }

    /// Fails if the caller may not read a remote repository. That uses the network and the credentials of the server's
    /// operator.
    pub(super) fn may_fetch(&self, remote: &Remote) -> Result<(), Error> {
        match remote.folder() {
            Some(folder) => self.reach(&folder),
            None => self.may_index_remote(&remote.id(None)),
        }
    }

    /// Fails if the caller may not search all remote repositories.
    pub fn may_search_remotes(&self) -> Result<(), Error> {
        match self.rights.index && self.rights.sees_all() {
            true => Ok(()),
            false => Err(denied("you may not search repositories elsewhere from this server")),
        }
    }

    /// Fails if the caller may not remove indexes.
    pub(super) fn may_invalidate(&self) -> Result<(), Error> {
        match self.rights.invalidate {
            true => Ok(()),
            false => Err(denied("you may not remove indexes here; ask its operator")),
        }
    }
}

fn denied(message: impl Into<String>) -> Error {
    Error::access_denied(message)
}

/// The canonical path, and whether it exists. If it does not exist, its existing part is resolved.
fn real(path: &Path) -> Option<(PathBuf, bool)> {
    for folder in path.ancestors() {
        if let Ok(real) = folder.canonicalize() {
            let rest = path.strip_prefix(folder).ok()?;
            let exists = rest.as_os_str().is_empty();
            return Some((if exists { real } else { real.join(rest) }, exists));
        }
        // A dangling link may lead out of reach later.
        if folder.symlink_metadata().is_ok() {
            return None;
        }
    }
    None
}
