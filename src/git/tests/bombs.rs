//! Small repositories that name more files than any memory can list.

use std::fs;
use std::path::Path;

use super::{git, repository};
use crate::config::Secrets;
use crate::git::{Commit, History};

/// Writes a tree with `count` entries of the same object; gives its id.
fn tree(folder: &Path, mode: &str, of: &str, count: usize) -> String {
    let id: Vec<u8> =
        (0..40).step_by(2).map(|at| u8::from_str_radix(&of[at..at + 2], 16).expect("an id is hex")).collect();
    let entry = |number| [format!("{mode} {number:03}\0").as_bytes(), &id].concat();
    let file = folder.join(".git/tree");
    fs::write(&file, (0..count).flat_map(entry).collect::<Vec<u8>>()).expect("files can be written");
    git(folder, &["hash-object", "-t", "tree", "-w", file.to_str().expect("a plain path")])
}

#[test]
fn a_tree_that_names_a_hundred_million_files_is_refused() {
    let folder = repository(&["a.py"]);
    let root = folder.path();
    let mut top = tree(root, "100644", &git(root, &["rev-parse", "HEAD:a.py"]), 100);
    for _ in 0..3 {
        top = tree(root, "40000", &top, 100);
    }
    let commit = git(root, &["commit-tree", "-p", "HEAD", "-m", "bomb", &top]);
    let too_many = "more than 1000000 files";
    let files = Commit::open(root, &commit).expect("it is a commit").files();
    assert!(files.expect_err("it holds too many").to_string().contains(too_many));
    let history = History::open(root, &Secrets::default()).expect("it is a repository");
    let first = history.commit("HEAD").expect("it is a commit");
    for (old, new) in [(&first, &commit), (&commit, &first)] {
        let changed = history.changed_or_renamed(old, new);
        assert!(changed.expect_err("too many differ").to_string().contains(too_many));
    }
    let since = history.changed_since(&commit, [], |_| false);
    assert!(since.expect_err("it holds too many").to_string().contains(too_many));
}
