//! Files of the source use each other in one direction: those that use each other in a circle lie in one folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module: its crate, and the names that lead to it.
type Module = Vec<String>;

#[test]
fn circles_of_files_stay_in_one_folder() {
    let files = files();
    assert!(files.len() > 300, "the source is not where it should be");
    let uses: BTreeMap<&Module, BTreeSet<Module>> =
        files.iter().map(|(own, file)| (own, used(own, file, &files))).collect();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = files.keys().map(|from| (from, reached(from, &uses))).collect();
    let mut breaches = Vec::new();
    for (one, file) in &files {
        for other in reached[one].iter().filter(|other| reached[**other].contains(one)) {
            let other = &files[*other];
            if file.parent() != other.parent() && file < other {
                breaches.push(format!("{} and {} use each other", file.display(), other.display()));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

/// Every module with its file, without tests.
fn files() -> BTreeMap<Module, PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    for house in fs::read_dir(root.join("crates")).expect("crates can be read") {
        let house = house.expect("so can each of them");
        add(&house.file_name().to_string_lossy(), &house.path().join("src"), &mut found);
    }
    add("codelode", &root.join("src"), &mut found);
    found
}

/// Adds the modules of a crate.
fn add(house: &str, src: &Path, found: &mut BTreeMap<Module, PathBuf>) {
    let mut folders = vec![src.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("src can be read") {
            let path = entry.expect("so can its files").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && !name.starts_with("sample.") {
                let inside = path.strip_prefix(src).expect("it was found there").with_extension("");
                let parts = inside.iter().map(|part| part.to_string_lossy().into_owned());
                let parts = parts.filter(|part| !["mod", "lib", "main"].contains(&&**part));
                let module: Module = std::iter::once(house.to_owned()).chain(parts).collect();
                if !module.iter().any(|part| part == "tests" || part == "fuzzing") {
                    found.insert(module, path);
                }
            }
        }
    }
}

/// The modules that a file names by `crate::` or `super::`. Crates have no circles, or Cargo would not build them.
fn used(own: &Module, file: &Path, files: &BTreeMap<Module, PathBuf>) -> BTreeSet<Module> {
    let text = fs::read_to_string(file).expect("source is text");
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    let code = code.join("\n");
    let begins = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:$".contains(c));
    let mut paths = Vec::new();
    for (at, top) in code.match_indices("crate::").filter(|(at, _)| begins(*at)) {
        let below = expanded(&code[at + top.len()..]);
        paths.extend(below.into_iter().map(|path| own[..1].iter().cloned().chain(path).collect()));
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| begins(*at)) {
        let rest = &code[at..];
        let n_up = (rest.len() - rest.trim_start_matches("super::").len()) / "super::".len();
        let Some(above) = own.len().checked_sub(n_up).map(|n| &own[..n]) else { continue };
        let below = expanded(rest.trim_start_matches("super::"));
        paths.extend(below.into_iter().map(|path| above.iter().cloned().chain(path).collect()));
    }
    let known = |path: Module| (1..=path.len()).rev().map(|n| path[..n].to_vec()).find(|path| files.contains_key(path));
    paths.into_iter().filter_map(known).filter(|path| path != own).collect()
}

/// The paths at the start of a text: one, or all of a group.
fn expanded(text: &str) -> Vec<Module> {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        let (mut deep, mut start, mut paths) = (0_usize, 0, Vec::new());
        for (at, c) in group.char_indices() {
            match c {
                '{' => deep += 1,
                '}' if deep > 0 => deep -= 1,
                ',' | '}' if deep == 0 => {
                    paths.extend(expanded(&group[start..at]));
                    start = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
        return paths;
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    match rest.strip_prefix("::") {
        Some(rest) => {
            expanded(rest).into_iter().map(|path| std::iter::once(name.to_owned()).chain(path).collect()).collect()
        }
        None => vec![vec![name.to_owned()]],
    }
}

/// The modules that one leads to.
fn reached<'m>(from: &'m Module, uses: &'m BTreeMap<&'m Module, BTreeSet<Module>>) -> BTreeSet<&'m Module> {
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![from]);
    while let Some(module) = waiting.pop() {
        for next in uses.get(module).into_iter().flatten() {
            if seen.insert(next) {
                waiting.push(next);
            }
        }
    }
    seen
}

#[test]
fn groups_of_paths_are_read() {
    let read = |text: &str| expanded(text).iter().map(|path| path.join("::")).collect::<Vec<_>>();
    assert_eq!(
        read("store::{self, packs::{map, pack::NONE}};"),
        ["store::self", "store::packs::map", "store::packs::pack::NONE"]
    );
    assert_eq!(read("git;"), ["git"]);
}
