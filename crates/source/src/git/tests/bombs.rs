//! Small repositories that name more files than any memory can list.

use std::fs;
use std::path::Path;

use super::{git, repository};
use crate::git::{Commit, History, Repository, blame};
use codelode_base::config::Secrets;

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

#[test]
fn commits_and_tags_that_say_nothing_are_refused() {
    let folder = repository(&["a.py"]);
    let root = folder.path();
    let object = |kind: &str, text: &str| {
        let file = root.join(".git/object");
        fs::write(&file, text).expect("files can be written");
        git(root, &["hash-object", "-t", kind, "-w", "--literally", file.to_str().expect("a plain path")])
    };
    let (commit, tag) = (object("commit", "nothing"), object("tag", "nothing"));
    let head = git(root, &["rev-parse", "HEAD"]);
    let of_tree = object("tag", &format!("object {commit}\ntype commit\ntag v1\n"));
    let history = History::open(root, &Secrets::default()).expect("it is a repository");
    for revision in [&commit, &tag, &of_tree] {
        for name in [revision.clone(), format!("{revision}~1"), revision[..9].to_owned()] {
            assert!(Commit::open(root, &name).is_err(), "{name}");
        }
        assert!(history.commit(&format!("{revision}~1")).is_err(), "{revision}");
        assert!(history.changed(&head, revision).is_err());
    }
    fs::write(root.join(".git/HEAD"), format!("{tag}\n")).expect("files can be written");
    assert_eq!(Repository::open(root).expect("it is a repository").head(), None);
}

#[test]
fn a_revision_goes_back_by_any_way() {
    let folder = repository(&["a.py"]);
    let root = folder.path();
    git(root, &["checkout", "-q", "-b", "side"]);
    git(root, &["commit", "-q", "--allow-empty", "-m", "side"]);
    git(root, &["checkout", "-q", "-b", "main", "HEAD~1"]);
    git(root, &["commit", "-q", "--allow-empty", "-m", "main"]);
    git(root, &["merge", "-q", "--no-ff", "-m", "merged", "side"]);
    git(root, &["tag", "-a", "v1", "-m", "tagged"]);
    let history = History::open(root, &Secrets::default()).expect("it is a repository");
    for name in
        ["HEAD", "@", "main", "v1", "v1^{}", "v1^{commit}", "HEAD~", "v1~2", "HEAD^2", "HEAD^2~1", "HEAD^^", "HEAD^0"]
    {
        let expected = git(root, &["rev-parse", &format!("{name}^{{commit}}")]);
        assert_eq!(history.commit(name).expect(name), expected, "{name}");
    }
    for name in ["HEAD~3", "HEAD^3", "HEAD^x", "HEAD~99999999999999999999", "none", "", "~", "HEAD:a.py", "HEAD^{tree}"]
    {
        assert!(history.commit(name).is_err(), "{name}");
    }
}

#[test]
fn lines_beyond_the_end_of_a_file_have_no_author() {
    let folder = repository(&["a.py"]);
    let lines = |lines| {
        let found = blame(folder.path(), "HEAD", "a.py", lines).expect("it is in the commit");
        found.into_iter().map(|one| one.lines).collect::<Vec<_>>()
    };
    assert_eq!(lines(None), [1..=1]);
    assert_eq!(lines(Some(1..=9)), [1..=1]);
    assert_eq!(lines(Some(2..=9)), []);
}
