//! Git hashes of a snapshot that was made elsewhere. A file that git knows as unchanged, with the hash in the snapshot,
//! need not be read.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sha1::{Digest, Sha1};

use codelode_base::model::SourceFile;
use codelode_source::git::Repository;
use codelode_store::{FileTable, Snapshot};

/// The length of a git hash, in bytes.
const NAME: usize = 20;

/// Git hashes of a snapshot's contents, by path.
#[derive(Clone, Debug, Default)]
pub struct GitHashes {
    by_path: HashMap<String, [u8; NAME]>,
}

impl GitHashes {
    /// The git hashes of a snapshot's contents, concatenated in the order of its file table; zeros for a file without
    /// content.
    pub fn names(snapshot: &Snapshot) -> Vec<u8> {
        let name = |path: &str| match snapshot.file(path) {
            Some(file) => {
                let content = file.content();
                let mut hasher = Sha1::new();
                hasher.update(format!("blob {}\0", content.len()));
                hasher.update(content);
                hasher.finalize().into()
            }
            None => [0; NAME],
        };
        let paths: Vec<&str> = snapshot.table().iter().map(|row| row.path).collect();
        let names: Vec<[u8; NAME]> = paths.into_par_iter().map(name).collect();
        names.concat()
    }

    /// Reads hashes made by [`GitHashes::names`] for a snapshot with this table. If the count differs the result is
    /// empty, and every file is read.
    pub fn of(table: &FileTable, names: &[u8]) -> Self {
        let names = names.chunks_exact(NAME);
        if names.len() != table.len() || !names.remainder().is_empty() {
            return Self::default();
        }
        let named = table.iter().zip(names).filter(|(row, _)| row.state.is_ok());
        let by_path = named.map(|(row, name)| (row.path.to_owned(), name.try_into().expect("chunks are of this size")));
        Self { by_path: by_path.collect() }
    }

    /// Files below a root whose content is the same as in the snapshot, according to git's index.
    pub(super) fn unchanged(&self, root: &Path, files: &[SourceFile]) -> HashSet<String> {
        let Some(repository) = Repository::open(root).filter(|repository| !repository.filters()) else {
            return HashSet::new();
        };
        let Some(worktree) = repository.worktree() else { return HashSet::new() };
        let Some(below) = root.strip_prefix(&worktree).ok().and_then(Path::to_str) else { return HashSet::new() };
        let is_unchanged = |file: &&SourceFile| {
            let path = if below.is_empty() { file.path.clone() } else { format!("{below}/{}", file.path) };
            let now = repository.content_of(&path, file.size, file.mtime_ns, file.ctime_ns);
            now.is_some_and(|now| self.by_path.get(&file.path) == Some(&now))
        };
        files.iter().filter(is_unchanged).map(|file| file.path.clone()).collect()
    }
}
