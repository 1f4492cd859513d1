//! Git's own files that are no plain files: reading them neither blocks nor goes on without end.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use super::{git, repository};
use crate::config::Secrets;
use crate::git::{Commit, History, Repository, blame, worktrees};

/// Runs on a thread, because a test that blocks for ever reports nothing.
fn within<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(run()));
    receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{what} ends"))
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("it is installed").success());
}

fn endless(path: &Path) {
    std::os::unix::fs::symlink("/dev/zero", path).expect("a link can be made");
}

#[test]
fn a_repository_with_a_pipe_or_a_device_for_a_file_is_none() {
    let names = [
        "HEAD",
        "config",
        "commondir",
        "packed-refs",
        "index",
        "refs/heads/main",
        "objects/info/alternates",
        "shallow",
    ];
    for (kind, make) in [("pipe", pipe as fn(&Path)), ("device", endless)] {
        for name in names {
            let folder = repository(&["a.py"]);
            git(folder.path(), &["branch", "-q", "-M", "main"]);
            let path = folder.path().join(".git").join(name);
            drop(fs::remove_file(&path));
            make(&path);
            let root = folder.path().to_owned();
            let found = within(name, move || Repository::open(&root).is_some_and(|found| found.worktree().is_some()));
            assert!(!found, "{kind} {name}");
        }
    }
}

#[test]
fn refs_and_objects_are_plain_files_before_any_is_asked_for() {
    for name in ["refs/heads/other", "refs/tags/v1", "logs/HEAD", "MARK_HEAD", "objects/ab/0123", "objects/pack/a.idx"]
    {
        let folder = repository(&["a.py"]);
        let path = folder.path().join(".git").join(name);
        drop(fs::remove_file(&path));
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        pipe(&path);
        let root = folder.path().to_owned();
        assert!(Repository::open(&root).is_some(), "{name}: nothing of it is read to tell what is checked out");
        let ends = within(name, move || {
            let history = History::open(&root, &Secrets::default()).map(drop).is_err();
            history && Commit::open(&root, "v1").is_err() && blame(&root, "HEAD", "a.py", None).is_err()
        });
        assert!(ends, "{name}");
    }
}

#[test]
fn a_worktree_with_a_pipe_lists_none() {
    let folder = repository(&["a.py"]);
    let other = folder.path().join("other");
    git(folder.path(), &["worktree", "add", "-q", other.to_str().expect("a path of ours")]);
    assert_eq!(worktrees(folder.path()).len(), 1);
    let head = folder.path().join(".git/worktrees/other/HEAD");
    fs::remove_file(&head).expect("it is there");
    pipe(&head);
    let root = folder.path().to_owned();
    assert!(within("a list", move || worktrees(&root).is_empty()));
    assert!(within("a worktree", move || Repository::open(&other).is_none_or(|found| found.worktree() != Some(other))));
}

#[test]
fn a_folder_of_a_working_tree_is_no_repository_of_its_own() {
    let folder = repository(&["sub/objects/x", "sub/refs/heads/x", "sub/s.py"]);
    let root = folder.path().canonicalize().expect("it is there");
    fs::write(root.join("sub/config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        .expect("there is room");
    fs::write(root.join("sub/HEAD"), "ref: refs/heads/main\n").expect("there is room");
    let found = Repository::open(&root.join("sub")).expect("the outer one");
    assert_eq!(found.worktree(), Some(root.clone()));
    fs::remove_file(root.join("sub/HEAD")).expect("it is there");
    endless(&root.join("sub/HEAD"));
    let inside = root.join("sub");
    let found = within("a linked HEAD", move || Repository::open(&inside)).expect("the outer one");
    assert_eq!(found.worktree(), Some(root.clone()));
    // Outside of a working tree it counts.
    let bare = tempfile::TempDir::new().expect("there is room");
    git(bare.path(), &["clone", "-q", "--bare", root.to_str().expect("a path of ours"), "b.git"]);
    let at = bare.path().canonicalize().expect("it is there").join("b.git");
    assert_eq!(Repository::open(&at).expect("a bare one").common_dir(), at);
}

#[test]
fn files_that_a_tool_keeps_elsewhere_are_followed() {
    let folder = repository(&["a.py"]);
    let aside = tempfile::TempDir::new().expect("there is room");
    for name in ["config", "objects", "refs", "HEAD"] {
        let (from, to) = (folder.path().join(".git").join(name), aside.path().join(name));
        fs::rename(&from, &to).expect("they are on one disk");
        std::os::unix::fs::symlink(&to, &from).expect("a link can be made");
    }
    let found = Repository::open(folder.path()).expect("it is there");
    assert!(found.head().is_some());
    assert!(History::open(folder.path(), &Secrets::default()).is_ok());
}
