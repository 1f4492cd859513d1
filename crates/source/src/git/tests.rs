//! Properties of real repositories.

mod bombs;
mod commit_files;
mod lies;
mod names;
pub(super) mod servers;
mod sound;

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::{History, Repository, Worktree, blame, blame_text, worktrees};
use codelode_base::config::Secrets;

/// Runs git in `folder`, without the machine's configuration.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output();
    let output = output.expect("git is installed where tests run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with one commit, which tracks the files given.
pub(super) fn repository(files: &[&str]) -> TempDir {
    let folder = TempDir::new().expect("the system has room for a folder");
    git(folder.path(), &["init", "-q"]);
    for path in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders can be made");
        fs::write(path, "text\n").expect("files can be written");
    }
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "--allow-empty", "-m", "first"]);
    folder
}

#[test]
fn a_repository_is_found_from_any_folder_in_it() {
    let folder = repository(&["deep/er/a.py"]);
    let root = folder.path().canonicalize().expect("the folder is there");
    for inside in ["", "deep", "deep/er", "deep/er/a.py"] {
        let found = Repository::open(&root.join(inside)).expect("there is a repository");
        assert_eq!(found.worktree().as_ref(), Some(&root));
        assert_eq!(found.common_dir(), root.join(".git"));
        assert_eq!(found.head(), Some(git(&root, &["rev-parse", "HEAD"])));
        assert_eq!(found.origin(), None);
    }
}

#[test]
fn a_plain_folder_has_no_repository() {
    let folder = TempDir::new().expect("the system has room for a folder");
    assert!(Repository::open(folder.path()).is_none());
    assert!(Repository::open(&folder.path().join("none")).is_none());
    fs::write(folder.path().join(".git"), "gitdir: /nowhere\n").expect("files can be written");
    assert!(Repository::open(folder.path()).is_none());
}

#[test]
fn a_repository_without_commits_has_no_head() {
    let folder = TempDir::new().expect("the system has room for a folder");
    git(folder.path(), &["init", "-q"]);
    let found = Repository::open(folder.path()).expect("there is a repository");
    assert_eq!(found.head(), None);
    assert!(!found.tracks_below(""));
}

#[test]
fn a_head_without_a_branch_is_a_commit_all_the_same() {
    let folder = repository(&["a.py"]);
    let commit = git(folder.path(), &["rev-parse", "HEAD"]);
    git(folder.path(), &["checkout", "-q", "--detach"]);
    assert_eq!(Repository::open(folder.path()).and_then(|found| found.head()), Some(commit.clone()));
    git(folder.path(), &["pack-refs", "--all"]);
    assert_eq!(Repository::open(folder.path()).and_then(|found| found.head()), Some(commit));
}

#[test]
fn worktrees_share_the_history_and_differ_in_the_rest() {
    let folder = repository(&["a.py"]);
    let other = TempDir::new().expect("the system has room for a folder");
    let other = other.path().canonicalize().expect("the folder is there").join("other");
    git(folder.path(), &["worktree", "add", "-q", other.to_str().expect("a plain path")]);
    let (main, linked) = (Repository::open(folder.path()), Repository::open(&other));
    let (main, linked) = (main.expect("there is a repository"), linked.expect("there is a repository"));
    assert_eq!(main.common_dir(), linked.common_dir());
    assert_eq!(linked.worktree(), Some(other));
    assert_ne!(main.worktree(), linked.worktree());
    assert_ne!(main.index_path(), linked.index_path());
    assert!(linked.tracks_below(""));
}

#[test]
fn what_is_tracked_is_told_by_folder() {
    let folder = repository(&["src/a.py", "src/deep/b.py", "target2/c.py", "z-target/d.py"]);
    let found = Repository::open(folder.path()).expect("there is a repository");
    for tracked in ["", "src", "src/deep", "target2", "z-target"] {
        assert!(found.tracks_below(tracked), "{tracked}");
    }
    for untracked in ["target", "sr", "src/a.py", "src/dee", "src/deep/none", "z", "none"] {
        assert!(!found.tracks_below(untracked), "{untracked}");
    }
}

#[test]
fn a_folder_that_a_sparse_checkout_leaves_out_is_still_tracked() {
    let folder = repository(&["kept/a.py", "left/deep/b.py", "c.py"]);
    git(folder.path(), &["sparse-checkout", "set", "--cone", "--sparse-index", "kept"]);
    let found = Repository::open(folder.path()).expect("there is a repository");
    for tracked in ["kept", "left", "left/deep"] {
        assert!(found.tracks_below(tracked), "{tracked}");
    }
    assert!(!found.tracks_below("none"));
}

#[test]
fn a_damaged_index_tracks_nothing() {
    let folder = repository(&["a/b.py"]);
    fs::write(folder.path().join(".git/index"), "not an index").expect("files can be written");
    assert!(!Repository::open(folder.path()).expect("there is a repository").tracks_below("a"));
}

#[test]
fn the_origin_is_read_where_it_is_at_github() {
    let folder = repository(&[]);
    git(folder.path(), &["remote", "add", "origin", "git@github.com:owner/name.git"]);
    assert_eq!(Repository::open(folder.path()).and_then(|found| found.origin()).as_deref(), Some("owner/name"));
    git(folder.path(), &["remote", "set-url", "origin", "https://example.org/owner/name"]);
    assert_eq!(Repository::open(folder.path()).and_then(|found| found.origin()), None);
}

#[test]
fn a_repository_cannot_claim_a_worktree_elsewhere() {
    let folder = repository(&["a.py"]);
    let elsewhere = TempDir::new().expect("the system has room for a folder");
    git(folder.path(), &["config", "core.worktree", elsewhere.path().to_str().expect("a plain path")]);
    let worktree = Repository::open(folder.path()).and_then(|found| found.worktree());
    assert_eq!(worktree, None);
}

#[test]
fn a_repository_includes_no_other_configuration() {
    let folder = repository(&[]);
    let included = folder.path().join("included");
    fs::write(&included, "[remote \"origin\"]\n\turl = https://github.com/owner/name\n").expect("files can be written");
    git(folder.path(), &["config", "include.path", included.to_str().expect("a plain path")]);
    assert_eq!(git(folder.path(), &["config", "remote.origin.url"]), "https://github.com/owner/name");
    assert_eq!(Repository::open(folder.path()).and_then(|found| found.origin()), None);
}

#[test]
fn a_bare_repository_has_no_worktree() {
    let folder = TempDir::new().expect("the system has room for a folder");
    git(folder.path(), &["init", "-q", "--bare"]);
    let found = Repository::open(folder.path()).expect("there is a repository");
    assert_eq!(found.worktree(), None);
    assert!(!found.tracks_below(""));
}

#[test]
fn worktrees_are_listed_with_their_branches() {
    let folder = repository(&["a.py"]);
    let elsewhere = TempDir::new().expect("the system has room for a folder");
    let elsewhere = elsewhere.path().canonicalize().expect("the folder is there");
    let path = |name: &str| elsewhere.join(name);
    let text = |name: &str| path(name).to_str().expect("a plain path").to_owned();
    assert_eq!(worktrees(folder.path()), []);
    git(folder.path(), &["worktree", "add", "-q", "-b", "claude/one", &text("one")]);
    git(folder.path(), &["worktree", "add", "-q", "--detach", &text("two")]);
    let named = |name: &str, branch: Option<&str>| Worktree { path: path(name), branch: branch.map(str::to_owned) };
    let listed = |from: &Path| {
        let mut listed = worktrees(from);
        listed.sort_by(|one, other| one.path.cmp(&other.path));
        listed
    };
    let both = [named("one", Some("claude/one")), named("two", None)];
    assert_eq!(listed(folder.path()), both);
    assert_eq!(listed(&path("two")), both, "any of them is asked");
    git(folder.path(), &["worktree", "remove", &text("one")]);
    assert_eq!(listed(folder.path()), [named("two", None)]);
    assert_eq!(worktrees(&elsewhere), []);
}

#[test]
fn what_changed_between_commits_is_told_with_renames() {
    let folder = repository(&["gone.py", "kept.py"]);
    let long = (0..40).map(|n| format!("line {n}\n")).collect::<String>();
    fs::write(folder.path().join("old.py"), &long).expect("files can be written");
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "second"]);
    git(folder.path(), &["mv", "old.py", "new.py"]);
    fs::write(folder.path().join("new.py"), long + "one more\n").expect("files can be written");
    fs::remove_file(folder.path().join("gone.py")).expect("it is there");
    fs::write(folder.path().join("kept.py"), "other\n").expect("files can be written");
    fs::write(folder.path().join("added.py"), "added\n").expect("files can be written");
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "third"]);

    let history = History::open(folder.path(), &Secrets::default()).expect("there is a repository");
    let [old, new] = ["HEAD~1", "HEAD"].map(|revision| history.commit(revision).expect("it is there"));
    let told = |with_renames: bool| -> Vec<(String, Option<String>, bool, bool)> {
        let files = match with_renames {
            true => history.changed_or_renamed(&old, &new).map(|(files, is_capped)| {
                assert!(!is_capped);
                files
            }),
            false => history.changed(&old, &new),
        };
        let files = files.expect("both are there");
        files.into_iter().map(|file| (file.path, file.old_path, file.old.is_some(), file.new.is_some())).collect()
    };
    let file = |path: &str, old, new| (path.to_owned(), None, old, new);
    let others = [file("added.py", false, true), file("gone.py", true, false), file("kept.py", true, true)];
    let renamed = ("new.py".to_owned(), Some("old.py".to_owned()), true, true);
    assert_eq!(told(true), [&others[..], &[renamed]].concat());
    assert_eq!(told(false), [&others[..], &[file("new.py", false, true), file("old.py", true, false)]].concat());

    let text = |text: &str| blame_text(folder.path(), "HEAD", "new.py", text.as_bytes()).expect("it can be read");
    assert!(text("").is_none() && text("nowhere in it").is_none());
    let blamed = blame(folder.path(), "HEAD", "new.py", None).expect("it has an author");
    let told: Vec<_> = blamed.iter().map(|entry| (entry.lines.clone(), entry.title.as_str())).collect();
    assert_eq!(told, [(1..=40, "second"), (41..=41, "third")]);
    assert!(history.commit("HEAD~9").is_err() && blame(folder.path(), "HEAD~9", "new.py", None).is_err());
}

#[test]
fn of_a_large_move_only_what_is_the_same_is_taken_for_renamed() {
    let folder = repository(&[]);
    let text = |number: usize| (0..20).map(|line| format!("file {number} line {line}\n")).collect::<String>();
    fs::create_dir(folder.path().join("old")).expect("folders can be made");
    for number in 0..201 {
        fs::write(folder.path().join(format!("old/{number}.py")), text(number)).expect("files can be written");
    }
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "second"]);
    git(folder.path(), &["mv", "old", "new"]);
    fs::write(folder.path().join("new/7.py"), text(7) + "one more\n").expect("files can be written");
    git(folder.path(), &["commit", "-q", "-a", "-m", "third"]);

    let history = History::open(folder.path(), &Secrets::default()).expect("there is a repository");
    let [old, new] = ["HEAD~1", "HEAD"].map(|revision| history.commit(revision).expect("it is there"));
    let (files, is_capped) = history.changed_or_renamed(&old, &new).expect("both are there");
    assert!(is_capped);
    let renamed = files.iter().filter(|file| file.old_path.is_some());
    assert_eq!(renamed.count(), 200);
    let others: Vec<&str> =
        files.iter().filter(|file| file.old_path.is_none()).map(|file| file.path.as_str()).collect();
    assert_eq!(others, ["new/7.py", "old/7.py"]);
}

#[test]
fn many_packs_are_joined_and_hold_what_they_held() {
    let folder = repository(&["a.py"]);
    let packs = folder.path().join(".git/objects/pack");
    let count = |ending: &str| {
        let all = packs.read_dir().expect("it is there").flatten();
        all.filter(|entry| entry.path().extension().is_some_and(|found| found == ending)).count()
    };
    let mut commits = Vec::new();
    for n in 0..25 {
        // Similar files are stored as deltas of one another.
        for name in ["one", "two", "three"] {
            let text: String = (0..60).map(|line| format!("{name} {n} line {line}\n")).collect();
            fs::write(folder.path().join(name), text.replace("two", "one")).expect("files can be written");
        }
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-q", "-m", &n.to_string()]);
        git(folder.path(), &["repack", "-q", "-d"]);
        commits.push(git(folder.path(), &["rev-parse", "HEAD"]));
        if n < 15 {
            assert_eq!(crate::git::cache::packs::join(&packs).expect("they can be read"), 0, "few are left alone");
        }
    }
    // A pack far larger than all others together stays as it is.
    fs::write(
        folder.path().join("large"),
        (0..60_000_u64).map(|n| format!("{:x}", n * n * 0x9e37_79b9)).collect::<String>(),
    )
    .expect("files can be written");
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "large"]);
    git(folder.path(), &["repack", "-q", "-d"]);
    commits.push(git(folder.path(), &["rev-parse", "HEAD"]));
    let before = count("pack");
    let joined = crate::git::cache::packs::join(&packs).expect("they can be read");
    assert_eq!((joined, count("pack"), count("idx")), (before - 1, 2, 2));
    git(folder.path(), &["fsck", "--full"]);
    for (n, id) in commits.iter().enumerate() {
        let commit = super::Commit::open(folder.path(), id).expect("it is there");
        for entry in commit.files().expect("its tree is there").iter().filter(|entry| entry.path != "large") {
            let text = codelode_base::model::SourceTree::read(&commit, entry).expect("its content is there");
            let expected = if entry.path == "three" { format!("three {} line 0\n", n.min(24)) } else { String::new() };
            assert!(String::from_utf8_lossy(&text).starts_with(&expected), "{id} {}", entry.path);
        }
    }
}
