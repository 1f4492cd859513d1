//! The tree of a repository: folders and files, with the counts of their contents.

use std::collections::BTreeMap;

use codelode_base::model::Kind;
use codelode_store::Snapshot;

/// A folder or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A folder and its contents.
    Folder {
        /// The path, with `/` at its end.
        path: String,
        /// The entries, by name.
        children: Vec<Node>,
        /// The number of files below it, at any depth.
        files: u64,
    },
    /// A file.
    File {
        /// Relative to the root.
        path: String,
        /// Its language.
        language: &'static str,
        /// The number of symbols that it defines.
        symbols: u32,
        /// The number of lines.
        lines: u32,
    },
}

/// The folders and files below `prefix`, `depth` levels deep; a folder at the last level has its count only.
pub fn tree(snapshot: &Snapshot, prefix: &str, depth: usize) -> Vec<Node> {
    let prefix = prefix.trim_start_matches("./").trim_matches('/');
    let inside = |path: &str| {
        prefix.is_empty() || path == prefix || path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
    };
    let files: Vec<Node> = snapshot
        .files()
        .filter(|file| inside(file.path()))
        .map(|file| Node::File {
            path: file.path().to_owned(),
            language: file.language(),
            symbols: file.symbol_count(),
            lines: file.lines(),
        })
        .collect();
    let start = if prefix.is_empty() { 0 } else { prefix.len() + 1 };
    fold(files, start, depth.max(1))
}

/// Groups files by the part of their path from byte `start`.
fn fold(files: Vec<Node>, start: usize, depth: usize) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut folder: Vec<Node> = Vec::new();
    let mut open: Option<String> = None;
    let close = |path: Option<String>, files: Vec<Node>, nodes: &mut Vec<Node>| {
        let Some(path) = path else { return };
        let count = files.len() as u64;
        let children = if depth > 1 { fold(files, path.len(), depth - 1) } else { Vec::new() };
        nodes.push(Node::Folder { path, children, files: count });
    };
    for file in files {
        let Node::File { path, .. } = &file else { continue };
        let end = path.get(start..).and_then(|rest| rest.find('/')).map(|slash| start + slash + 1);
        let next = end.map(|end| path[..end].to_owned());
        if next != open {
            close(open.take(), std::mem::take(&mut folder), &mut nodes);
            open.clone_from(&next);
        }
        match next {
            Some(_) => folder.push(file),
            None => nodes.push(file),
        }
    }
    close(open, folder, &mut nodes);
    nodes
}

/// Number of files in each folder of the first level, the root's own files under an empty name.
pub fn directories(snapshot: &Snapshot) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for file in snapshot.files() {
        let folder = file.path().split_once('/').map_or("", |(folder, _)| folder);
        *counts.entry(folder.to_owned()).or_default() += 1;
    }
    counts
}

/// Number of symbols of each kind.
pub fn kinds(snapshot: &Snapshot) -> [u64; Kind::ALL.len()] {
    let mut counts = [0; Kind::ALL.len()];
    for symbol in snapshot.files().flat_map(|file| file.symbols()) {
        counts[symbol.kind() as usize] += 1;
    }
    counts
}
