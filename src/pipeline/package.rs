//! Indexing of an installed package.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::tree::index_tree;
use super::{Error, Options, Report, RunControl, rebuild, rules};
use crate::config::Config;
use crate::discover::{self, Rules};
use crate::installed::{Installed, Sources};
use crate::model::{SkipReason, SourceError, SourceFile, SourceTree, TreeEntry};
use crate::store::{Registry, Sidecar};

/// Sidecar of a package, whether or not an index exists yet. All versions of a package share one store.
pub fn sidecar_of_package(package: &Installed, config: &Config) -> Sidecar {
    let (id, repo) = (&package.id, package.id.to_string());
    let all_versions = PathBuf::from(format!("{}:{}", id.ecosystem.as_str(), id.name));
    Sidecar {
        store: Registry::key(&all_versions),
        snapshot: Registry::key(&PathBuf::from(&repo)),
        repo,
        root: config.path_map.to_stored(&package.place),
        package: Some(id.clone()),
        origin: None,
        held_in: Vec::new(),
        indexed_at: 0,
        file_count: 0,
        symbol_count: 0,
        languages: BTreeMap::new(),
        git_head: None,
        extra_ignore: Vec::new(),
        follow_symlinks: false,
        remote: None,
    }
}

/// Indexes a package, or updates its index when the size of a file has changed.
pub fn index_package(package: &Installed, config: &Config, watcher: &RunControl<'_>) -> Result<Report, Error> {
    let tree = PackageTree { sources: &package.sources, version: &package.id.version, rules: rules(config) };
    let run =
        |options: &Options| index_tree(&tree, sidecar_of_package(package, config), None, config, options, watcher);
    match run(&Options::default()) {
        Err(Error::Store(err)) if err.is_of_no_use() => {
            rebuild::anew(&err, || run(&Options { from_scratch: true, ..Options::default() }))
        }
        other => other,
    }
}

/// Files of a package, as those of a commit.
struct PackageTree<'a> {
    sources: &'a Sources,
    version: &'a str,
    rules: Rules,
}

impl SourceTree for PackageTree<'_> {
    fn commit(&self) -> &str {
        self.version
    }

    fn tree(&self) -> &str {
        ""
    }

    fn entries(&self) -> Result<Vec<TreeEntry>, SourceError> {
        Ok(self.sources.entries())
    }

    fn read(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let size = entry.size.unwrap_or_default();
        let file = SourceFile { path: entry.path.clone(), size, mtime_ns: 0, ctime_ns: 0 };
        discover::read(&self.sources.root, &file, &self.rules).map_err(|reason| match reason {
            SkipReason::Secret => SourceError::Secret { path: entry.path.clone() },
            reason => SourceError::Damaged { path: entry.path.clone(), what: reason.meaning().to_owned() },
        })
    }
}
