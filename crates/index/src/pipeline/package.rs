//! Indexing of an installed package.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::tree::index_tree;
use super::{Error, Options, Report, RunControl, rebuild, rules};
use codelode_base::config::Config;
use codelode_base::model::{SkipReason, SourceError, SourceFile, SourceTree, TreeEntry};
use codelode_source::discover::{self, Rules};
use codelode_source::installed::{Installed, Sources};
use codelode_store::{Registry, Sidecar};

/// The largest file whose content is hashed. Larger files are hardly ever text; for them path and size count.
const LARGEST_HASHED: u64 = 16 << 20;

/// The package with a content hash in its id, of the files that its index would hold.
pub fn identified(package: Installed, config: &Config) -> io::Result<Installed> {
    let mut hash = blake3::Hasher::new();
    if package.is_archive() {
        hash.update_reader(File::open(&package.place)?)?;
        return Ok(package.of_content(&hash.finalize().to_hex()));
    }
    let tree = PackageTree { sources: &package.sources, version: &package.id.version, rules: rules(config) };
    for entry in package.sources.entries() {
        let size = entry.size.unwrap_or_default();
        let content = match size {
            LARGEST_HASHED.. => Vec::from(entry.id.as_bytes()),
            _ => tree.read(&entry).unwrap_or_default(),
        };
        for part in [entry.path.as_bytes(), &size.to_le_bytes(), &content] {
            hash.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }
    Ok(package.of_content(&hash.finalize().to_hex()))
}

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
        installed_in: Vec::new(),
    }
}

/// Indexes a package, or updates its index if a file's size has changed. `holder` is the repository in whose folder it
/// is installed.
pub fn index_package(
    package: &Installed,
    holder: Option<&str>,
    config: &Config,
    watcher: &RunControl<'_>,
) -> Result<Report, Error> {
    let registry = Registry::new(&config.home).over(config.beneath.clone());
    let mut sidecar = sidecar_of_package(package, config);
    let known = registry.get(&sidecar.repo);
    sidecar.installed_in = known.into_iter().flat_map(|known| known.installed_in).collect();
    sidecar.installed_in.retain(|repo| registry.get(repo).is_some());
    if let Some(holder) = holder.filter(|holder| !sidecar.installed_in.iter().any(|repo| repo == holder)) {
        sidecar.installed_in.push(holder.to_owned());
    }
    let tree = PackageTree { sources: &package.sources, version: &package.id.version, rules: rules(config) };
    let run = |options: &Options| index_tree(&tree, sidecar.clone(), None, config, options, watcher);
    let report = match run(&Options::default()) {
        Err(Error::Store(err)) if err.is_of_no_use() => {
            rebuild::anew(&err, || run(&Options { from_scratch: true, ..Options::default() }))
        }
        other => other,
    }?;
    // A run without changes writes no sidecar.
    let known = registry.get(&sidecar.repo).filter(|known| known.installed_in != sidecar.installed_in);
    if let Some(known) = known {
        registry.put(&Sidecar { installed_in: sidecar.installed_in, ..known })?;
    }
    Ok(report)
}

/// Files of a package, presented as a commit's.
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
