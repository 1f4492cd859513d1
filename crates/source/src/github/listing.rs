//! Tree listings with as few requests as possible, checked for completeness.

use std::collections::BTreeMap;

use serde::Deserialize;
use sha1::{Digest, Sha1};

use super::{Client, Error, JSON, Name, parse};
use codelode_base::model::{EntryMode, TreeEntry};

/// Maximum depth of nested folders.
const DEEPEST: usize = 200;

/// A row of GitHub's tree listing.
#[derive(Clone, Debug, Deserialize)]
struct Row {
    path: String,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    sha: String,
    size: Option<u64>,
}

#[derive(Deserialize)]
struct Answer {
    tree: Vec<Row>,
    #[serde(default)]
    truncated: bool,
}

/// Lists a root tree recursively, without folders, sorted by bytes.
pub(super) fn list(client: &Client, repo: &Name, tree: &str) -> Result<Vec<TreeEntry>, Error> {
    let mut rows = Vec::new();
    walk(client, repo, tree, "", 0, &mut rows)?;
    prove(tree, &rows)?;
    let mut entries: Vec<TreeEntry> = rows.into_iter().filter_map(entry).collect();
    entries.sort();
    Ok(entries)
}

/// Lists a tree with one request, or with one per folder if that is truncated.
fn walk(client: &Client, repo: &Name, tree: &str, under: &str, depth: usize, rows: &mut Vec<Row>) -> Result<(), Error> {
    if depth > DEEPEST {
        return Err(Error::Malformed(format!("folders are nested more than {DEEPEST} deep")));
    }
    let ask = |recursive: bool| -> Result<Answer, Error> {
        let mut url = client.within(repo, &["git", "trees", tree]);
        if recursive {
            url.query_pairs_mut().append_pair("recursive", "1");
        }
        // Not cached: trees are immutable and rarely listed twice.
        parse(&client.fetch(&client.request(url, JSON))?.bytes)
    };
    let place = |mut row: Row| {
        row.path = if under.is_empty() { row.path } else { format!("{under}/{}", row.path) };
        row
    };
    let whole = ask(true)?;
    if !whole.truncated {
        rows.extend(whole.tree.into_iter().map(place));
        return Ok(());
    }
    let level = ask(false)?;
    if level.truncated {
        return Err(Error::Malformed("a single folder has more files than GitHub lists".to_owned()));
    }
    for row in level.tree.into_iter().map(place) {
        if row.kind == "tree" {
            walk(client, repo, &row.sha, &row.path, depth + 1, rows)?;
        }
        rows.push(row);
    }
    Ok(())
}

/// Converts a row; `None` for a folder, and for a path that git itself would not check out.
fn entry(row: Row) -> Option<TreeEntry> {
    let mode = match (row.kind.as_str(), row.mode.as_str()) {
        ("tree", _) => return None,
        ("commit", _) => EntryMode::Submodule,
        (_, "120000") => EntryMode::Symlink,
        (_, "100755") => EntryMode::Executable,
        _ => EntryMode::File,
    };
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.eq_ignore_ascii_case(".git");
    if row.path.contains('\0') || !row.path.split('/').all(is_plain) {
        tracing::warn!(path = row.path, "left out: no path that can be checked out");
        return None;
    }
    Some(TreeEntry { path: row.path, mode, id: row.sha, size: row.size })
}

/// Recomputes the hash of each folder from its rows, to detect missing rows.
fn prove(root: &str, rows: &[Row]) -> Result<(), Error> {
    let mut folders: BTreeMap<&str, Vec<(&str, &Row)>> = BTreeMap::from([("", Vec::new())]);
    for row in rows {
        let (folder, name) = row.path.rsplit_once('/').unwrap_or(("", &row.path));
        folders.entry(folder).or_default().push((name, row));
        if row.kind == "tree" {
            folders.entry(&row.path).or_default();
        }
    }
    let named: BTreeMap<&str, &str> =
        rows.iter().filter(|row| row.kind == "tree").map(|row| (row.path.as_str(), row.sha.as_str())).collect();
    for (folder, mut inside) in folders {
        let name = if folder.is_empty() { Some(root) } else { named.get(folder).copied() };
        let broken = |what: &str| Error::Malformed(format!("the listing of {folder:?} {what}"));
        let Some(name) = name else { return Err(broken("is there, the folder is not")) };
        // JSON replaces names that are not UTF-8, so the hash of this folder cannot be recomputed.
        if inside.iter().any(|(name, _)| name.contains(char::REPLACEMENT_CHARACTER)) {
            continue;
        }
        // Git sorts a folder as if its name ended with a slash.
        let key =
            |(name, row): &(&str, &Row)| format!("{name}{}", if row.kind == "tree" { "/" } else { "" }).into_bytes();
        inside.sort_by_key(key);
        let mut object = Vec::new();
        for (name, row) in inside {
            object.extend_from_slice(row.mode.trim_start_matches('0').as_bytes());
            object.push(b' ');
            object.extend_from_slice(name.as_bytes());
            object.push(0);
            object.extend(bytes_of(&row.sha).ok_or_else(|| broken("has a name that is not a hash"))?);
        }
        if object_id("tree", &object) != name {
            return Err(broken("is not what its hash says"));
        }
    }
    Ok(())
}

/// The id that git gives an object.
pub(super) fn object_id(kind: &str, content: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("{kind} {}\0", content.len()));
    hash.update(content);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes a hash from hex.
fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    if hex.len() != 40 {
        return None;
    }
    (0..20).map(|n| u8::from_str_radix(hex.get(2 * n..2 * n + 2)?, 16).ok()).collect()
}
