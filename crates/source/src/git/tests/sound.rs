//! Git's own files that are no plain files: reading them neither blocks nor goes on without end.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use super::{git, repository};
use crate::git::{Commit, History, Repository, blame, worktrees};
use codelode_base::config::Secrets;

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

/// Whether a folder shows a repository or a history of its own.
fn shows(folder: &Path) -> bool {
    let root = folder.canonicalize().expect("it is there");
    let found = Repository::open(folder).is_some_and(|found| found.worktree().as_ref() == Some(&root));
    found || History::open(folder, &Secrets::default()).is_ok() || Commit::open(folder, "HEAD").is_ok()
}

/// A folder beside a repository, with the repository's git directory.
fn beside(victim: &tempfile::TempDir) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::TempDir::new().expect("there is room");
    fs::write(folder.path().join("a.py"), "text\n").expect("there is room");
    (folder, victim.path().canonicalize().expect("it is there").join(".git"))
}

#[test]
fn a_folder_shows_no_repository_that_does_not_name_it() {
    let victim = repository(&["a.py"]);
    let tree = victim.path().join("tree");
    git(victim.path(), &["worktree", "add", "-q", tree.to_str().expect("a path of ours")]);
    assert!(shows(victim.path()) && shows(&tree), "a worktree and its repository name each other");
    type Make = fn(&Path, &Path);
    let ways: [(&str, Make); 6] = [
        ("a file", |dot_git, named| write(dot_git, format!("gitdir: {}\n", named.display()))),
        ("the file of a worktree", |dot_git, named| {
            write(dot_git, format!("gitdir: {}\n", named.join("worktrees/tree").display()));
        }),
        ("a link", |dot_git, named| link(named, dot_git)),
        ("a link to a worktree's", |dot_git, named| link(&named.join("worktrees/tree"), dot_git)),
        ("a common directory", |dot_git, named| {
            fs::create_dir(dot_git).expect("there is room");
            fs::copy(named.join("HEAD"), dot_git.join("HEAD")).expect("there is room");
            write(&dot_git.join("commondir"), named.display().to_string());
        }),
        ("a link on the way", |dot_git, named| {
            link(named.parent().expect("it is in a folder"), &dot_git.with_file_name("aside"));
            write(dot_git, "gitdir: aside/.git\n".to_owned());
        }),
    ];
    for (way, make) in ways {
        let (folder, named) = beside(&victim);
        make(&folder.path().join(".git"), &named);
        assert!(!shows(folder.path()), "{way}");
    }
}

#[test]
fn no_part_of_a_repository_lies_elsewhere() {
    let victim = repository(&["a.py"]);
    let named = victim.path().canonicalize().expect("it is there").join(".git");
    let parts =
        ["HEAD", "config", "index", "objects", "refs", "refs/heads", "objects/pack", "objects/info/alternates", "logs"];
    for part in parts {
        let folder = repository(&["a.py"]);
        let own = folder.path().join(".git").join(part);
        let _ = fs::rename(&own, folder.path().join("before"));
        if part == "objects/info/alternates" {
            write(&named.join("alternates"), format!("{}\n", named.join("objects").display()));
            link(&named.join("alternates"), &own);
        } else {
            link(&named.join(part), &own);
        }
        let is_shown = History::open(folder.path(), &Secrets::default()).is_ok()
            || Commit::open(folder.path(), "HEAD").is_ok()
            || blame(folder.path(), "HEAD", "a.py", None).is_ok();
        assert!(!is_shown, "{part}");
    }
    let objects = named.join("objects");
    let hidden: String = objects.to_str().expect("plain").bytes().map(|byte| format!("\\{byte:03o}")).collect();
    let lists = [format!("{}\n", objects.display()), format!("\"{}\"\n", objects.display()), format!("\"{hidden}\"\n")];
    for list in lists {
        let folder = repository(&["b.py"]);
        write(&folder.path().join(".git/objects/info/alternates"), list.clone());
        assert!(!shows(folder.path()), "{list}");
    }
    // Inside of its folder they may lie anywhere.
    let folder = repository(&["a.py"]);
    for name in ["config", "objects", "refs", "HEAD"] {
        let (from, to) = (folder.path().join(".git").join(name), folder.path().join(format!("kept-{name}")));
        fs::rename(&from, &to).expect("they are on one disk");
        link(&to, &from);
    }
    assert!(shows(folder.path()));
}

#[test]
fn a_submodule_and_a_git_directory_elsewhere_name_their_folders() {
    let (outer, inner) = (repository(&["a.py"]), repository(&["b.py"]));
    let inner = inner.path().to_str().expect("a path of ours");
    git(outer.path(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub"]);
    assert!(shows(&outer.path().join("sub")));
    let (folder, aside) = (repository(&["a.py"]), tempfile::TempDir::new().expect("there is room"));
    let aside = aside.path().canonicalize().expect("it is there").join("git");
    fs::rename(folder.path().join(".git"), &aside).expect("they are on one disk");
    write(&folder.path().join(".git"), format!("gitdir: {}\n", aside.display()));
    assert!(!shows(folder.path()), "only one of them says so");
    let root = folder.path().canonicalize().expect("it is there");
    git(&root, &["config", "core.worktree", root.to_str().expect("a path of ours")]);
    assert!(shows(folder.path()));
    // A repository cannot claim the folder above it, either.
    let claimed = repository(&["a.py"]);
    let above = claimed.path().parent().expect("it is in a folder").to_str().expect("a path of ours");
    git(claimed.path(), &["config", "core.worktree", above]);
    assert!(Repository::open(claimed.path()).is_none_or(|found| found.worktree().is_none()));
    assert!(History::open(claimed.path(), &Secrets::default()).is_err());
}

fn write(path: &Path, text: String) {
    fs::write(path, text).expect("there is room");
}

fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).expect("a link can be made");
}
