//! The power fails: what had not reached the disk is missing, cut or zeroed, and the index is the old or the new.
//!
//! A commit syncs what its manifest will name, then puts the manifest in place, then removes what was named before. That nothing
//! is named that was not synced is asserted by every commit of a debug build. So a cut leaves the old manifest with its files
//! and anything of the new ones, or the new manifest with its files and some of the old ones; what is derived is never synced.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{Place, Random, State, modules, names, number_of};
use crate::client::skipped;

/// The files of an index.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files_of(index: &Path) -> Files {
    let files = names(index).into_iter().map(|(path, _)| path).filter(|path| path.is_file());
    files.map(|path| (path.clone(), fs::read(&path).expect("nobody writes"))).collect()
}

fn lay_out(index: &Path, files: &Files) {
    fs::remove_dir_all(index).expect("it is ours");
    for (path, bytes) in files {
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders can be made");
        fs::write(path, bytes).expect("there is room");
    }
}

/// Bytes that a disk may have of a file that was not synced; `None` when not even its name.
fn unsynced(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    match random.below(5) {
        0 => None,
        1 => Some(Vec::new()),
        2 => Some(vec![0; bytes.len()]),
        3 => Some(bytes[..random.below(bytes.len().max(1))].to_vec()),
        _ => Some(bytes.to_vec()),
    }
}

/// Whether a file is found out again when it cannot be read.
fn is_derived(path: &Path) -> bool {
    let name = path.file_name().expect("it is a file").to_string_lossy();
    ["edges.", "ranks.", "stats"].iter().any(|kind| name.starts_with(kind))
}

/// Answers about relations, without their times.
fn asked(place: &Place) -> Value {
    let mut answer = place.call("get_symbol_importance", json!({"repo": "."}));
    answer.as_object_mut().expect("it is one").remove("_meta");
    answer
}

#[test]
fn after_a_power_cut_an_index_is_the_old_or_the_new() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let old_state = modules(12, 0);
    let place = Place::holding(&old_state);
    asked(&place);
    let (index, old) = (place.index(), files_of(&place.index()));
    let new_state: State = random.edited(&old_state, 1).into_iter().chain(modules(3, 2)).collect();
    place.rewrite(&old_state, &new_state);
    place.age();
    place.found(&["index", "."]);
    let (answer, new) = (asked(&place), files_of(&index));
    let manifest = new.keys().find(|path| path.ends_with("manifest.json")).expect("it was committed").clone();
    let sidecar = new.keys().find(|path| path.parent().is_some_and(|folder| folder.ends_with("repos")));
    let sidecar = sidecar.expect("it is listed").clone();

    for cut in 1..=number_of("CODELODE_CUTS", 10) {
        let is_new = cut % 2 == 0;
        let (its, others) = if is_new { (&new, &old) } else { (&old, &new) };
        let mut left = Files::new();
        for (path, bytes) in others.iter().filter(|(path, _)| **path != manifest) {
            left.extend(unsynced(bytes, &mut random).map(|bytes| (path.clone(), bytes)));
        }
        for (path, bytes) in its {
            match is_derived(path) {
                true => left.extend(unsynced(bytes, &mut random).map(|bytes| (path.clone(), bytes))),
                false => drop(left.insert(path.clone(), bytes.clone())),
            }
        }
        if !is_new {
            let staged = unsynced(&new[&manifest], &mut random);
            left.extend(staged.map(|bytes| (manifest.with_extension("json.new"), bytes)));
        }
        // A list is put in its place without being synced: with nothing of it there is no index, and nobody is told otherwise.
        let is_unlisted = cut % 5 == 0;
        if is_unlisted {
            left.insert(sidecar.clone(), Vec::new());
        }
        lay_out(&index, &left);
        let expected = match (is_unlisted, is_new) {
            (true, _) => &State::new(),
            (false, true) => &new_state,
            (false, false) => &old_state,
        };
        assert!(place.held() == *expected, "cut {cut}: neither the old nor the new");
        if is_unlisted {
            place.found(&["index", "."]);
        }
        assert_eq!(asked(&place), answer, "cut {cut}: what is derived is found out again");
        assert!(place.held() == new_state, "cut {cut}: the edit is in the answer");
    }
}

/// Calls of the system that a run made, in the order of their ends: the name, and the rest of the line.
fn calls(trace: &str) -> Vec<(String, String)> {
    let mut begun: BTreeMap<&str, &str> = BTreeMap::new();
    let mut ended = Vec::new();
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some(beginning) = call.strip_suffix("<unfinished ...>") {
            begun.insert(thread, beginning);
            continue;
        }
        let beginning = if call.starts_with("<... ") { begun.remove(thread).unwrap_or_default() } else { "" };
        let whole = format!("{beginning}{call}");
        if let Some((name, rest)) = whole.split_once('(') {
            ended.push((name.to_owned(), rest.to_owned()));
        }
    }
    ended
}

#[test]
fn a_commit_syncs_then_publishes_then_removes() {
    let old_state = modules(12, 0);
    let place = Place::holding(&old_state);
    let old = files_of(&place.index());
    place.rewrite(&old_state, &modules(12, 1));
    place.age();
    let trace = place.path().join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "4096", "-e", "trace=fsync,rename,renameat,renameat2,unlink,unlinkat", "-o"]);
    strace.arg(&trace).arg(env!("CARGO_BIN_EXE_codelode")).args(["index", "."]);
    if !place.at_home(strace).output().is_ok_and(|output| output.status.success()) {
        return skipped("strace cannot be run");
    }
    let calls = calls(&fs::read_to_string(trace).expect("it was written"));
    let is_publication = |(name, rest): &(String, String)| {
        name.starts_with("rename") && rest.contains("manifest.json.new") && rest.ends_with("= 0")
    };
    let published = calls.iter().position(is_publication).expect("it is renamed into its place");
    let synced: BTreeSet<&str> = calls[..published]
        .iter()
        .filter(|(name, rest)| name == "fsync" && rest.ends_with("= 0"))
        .filter_map(|(_, rest)| rest.split_once('<')?.1.split_once('>').map(|(path, _)| path))
        .collect();
    let new = files_of(&place.index());
    let store = new.keys().find_map(|path| path.ends_with("manifest.json").then(|| path.parent())).flatten();
    let store = store.expect("it was committed");
    let mut needed: Vec<PathBuf> =
        new.keys().filter(|path| path.starts_with(store) && !is_derived(path)).cloned().collect();
    needed.retain(|path| !old.contains_key(path));
    assert!(needed.len() > 5, "{needed:?}");
    // The names of files are in their folders.
    needed.extend([store.to_owned(), store.join("index"), store.join("manifest.json.new")]);
    for path in needed {
        assert!(synced.contains(&*path.to_string_lossy()), "{} is not synced: {calls:#?}", path.display());
    }
    let removed = |path: &Path| {
        calls.iter().position(|(name, rest)| {
            name.starts_with("unlink")
                && rest.contains(&format!("{:?}", path.display().to_string()))
                && rest.ends_with("= 0")
        })
    };
    let gone: Vec<&PathBuf> = old.keys().filter(|path| !new.contains_key(*path) && !is_derived(path)).collect();
    assert!(!gone.is_empty(), "a commit replaces something");
    for path in gone {
        assert!(removed(path).is_some_and(|at| at > published), "{}: {calls:#?}", path.display());
    }
}

#[test]
fn where_a_disk_keeps_no_order_an_index_says_so_and_is_made_anew() {
    let old_state = modules(12, 0);
    let place = Place::holding(&old_state);
    let old = files_of(&place.index());
    let new_state: State = modules(12, 1);
    place.rewrite(&old_state, &new_state);
    place.age();
    place.found(&["index", "."]);
    let (answer, new) = (asked(&place), files_of(&place.index()));
    // The old manifest is still there, and one by one what only that named is not.
    let is_named = |path: &&PathBuf| !is_derived(path) && !path.ends_with("lock");
    let gone: Vec<&PathBuf> = old.keys().filter(|path| !new.contains_key(*path)).filter(is_named).collect();
    assert!(!gone.is_empty(), "a commit replaces something");
    for missing in gone {
        let mut left = old.clone();
        left.remove(missing);
        lay_out(&place.index(), &left);
        assert_eq!(asked(&place), answer, "without {}", missing.display());
        assert!(place.held() == new_state, "without {}", missing.display());
    }
}
