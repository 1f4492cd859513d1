//! Removal of what no listing names any more.
//!
//! It takes two runs, at least a day apart. The first marks the objects that no listing names; the second removes
//! those of them that still none names. A writer reads the marks before it uses an object of an earlier listing, leaves
//! out those that are marked, and publishes within half a day: so an object that it uses is either marked after it has
//! looked, and named before the day is over, or not marked at all. A removed object never comes back under its name, so
//! that a late run removes nothing new.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use serde::Deserialize;

use super::Error;
use super::listing::{LARGEST, VERSION, is_object_name, keys_folder};
use super::place::{Place, WriteCondition};

/// Age of a mark before its objects are removed, and of an object before it is marked.
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Beginning of keys that name a tree. Others stay for ever.
pub(super) const TREE: &str = "tree-";

/// Folder of the marks of a repository.
fn marks_folder(repo: &str) -> String {
    format!("{repo}/marked")
}

/// Folder of its objects.
fn objects_folder(repo: &str) -> String {
    format!("{repo}/objects")
}

/// Objects that are marked.
pub(super) fn marked(place: &dyn Place, repo: &str) -> Result<HashSet<String>, Error> {
    let mut marked = HashSet::new();
    for mark in place.list(&marks_folder(repo))? {
        marked.extend(marks_of(place, &format!("{}/{}", marks_folder(repo), mark.name))?);
    }
    Ok(marked)
}

/// Objects of one mark.
fn marks_of(place: &dyn Place, path: &str) -> Result<Vec<String>, Error> {
    // Another run may have removed it.
    let Some((json, _)) = place.get(path, LARGEST)? else { return Ok(Vec::new()) };
    let names: Vec<String> = serde_json::from_slice(&json).map_err(|err| Error::damaged(path, err.to_string()))?;
    Ok(names.into_iter().filter(|name| is_object_name(name)).collect())
}

/// Removes listings of trees beyond the newest `keep`, and objects that were marked long ago; marks others. Returns the
/// number of removed objects. `day` is the age of marks and of objects that counts.
pub(super) fn collect(place: &dyn Place, repo: &str, keep: usize, day: Duration) -> Result<usize, Error> {
    let folder = keys_folder(repo);
    let mut keys = place.list(&folder)?;
    keys.sort_by_key(|key| key.age);
    let is_tree = |name: &str| name.splitn(3, '.').nth(2).is_some_and(|key| key.starts_with(TREE));
    let mut n_trees = 0;
    for key in keys.iter().filter(|key| is_tree(&key.name)) {
        n_trees += 1;
        if n_trees > keep {
            place.remove(&format!("{folder}/{}", key.name))?;
        }
    }

    let marks = place.list(&marks_folder(repo))?;
    let objects = place.list(&objects_folder(repo))?;
    // The listings are read after the marks: an object that a writer has used since is named by now.
    let named = named(place, repo)?;
    let mut waiting = HashSet::new();
    let mut n_removed = 0;
    for mark in marks {
        let path = format!("{}/{}", marks_folder(repo), mark.name);
        let names = marks_of(place, &path)?;
        if mark.age < day {
            waiting.extend(names);
            continue;
        }
        for name in names.iter().filter(|name| !named.contains(*name)) {
            place.remove(&format!("{}/{name}", objects_folder(repo)))?;
            n_removed += 1;
        }
        place.remove(&path)?;
    }
    let is_left = |name: &str| is_object_name(name) && !named.contains(name) && !waiting.contains(name);
    let left: Vec<&str> = objects
        .iter()
        .filter(|object| object.age >= day && is_left(&object.name))
        .map(|object| &*object.name)
        .collect();
    if !left.is_empty() {
        let json = serde_json::to_vec(&left).expect("names are text");
        let path = format!("{}/{:016x}.json", marks_folder(repo), RandomState::new().hash_one(left.len()));
        place.put(&path, &json, WriteCondition::Absent)?;
    }
    Ok(n_removed)
}

/// Objects that any listing names, of this version of the program or of another. One that cannot be read is an error:
/// then nothing may be removed.
fn named(place: &dyn Place, repo: &str) -> Result<HashSet<String>, Error> {
    /// A listing, as far as it names objects.
    #[derive(Deserialize)]
    struct Names {
        version: u32,
        files: Vec<File>,
    }
    #[derive(Deserialize)]
    struct File {
        parts: Vec<Part>,
    }
    #[derive(Deserialize)]
    struct Part {
        object: String,
    }
    let mut named = HashSet::new();
    for key in place.list(&keys_folder(repo))? {
        let path = format!("{}/{}", keys_folder(repo), key.name);
        let Some((json, _)) = place.get(&path, LARGEST)? else { continue };
        let names: Names = serde_json::from_slice(&json).map_err(|err| Error::damaged(&path, err.to_string()))?;
        if names.version != VERSION {
            return Err(Error::damaged(&path, "another version of codelode wrote it, so nothing is removed"));
        }
        named.extend(names.files.into_iter().flat_map(|file| file.parts).map(|part| part.object));
    }
    Ok(named)
}
