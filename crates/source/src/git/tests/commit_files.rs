//! Kept texts of a commit, beside its clone.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::servers::{World, quiet, remote, world, write};
use super::{git, repository};
use crate::git::{Age, Commit, CommitFiles, Remote};
use codelode_base::config::Secrets;
use codelode_base::model::{SourceError, SourceTree, TreeEntry, is_text};
use codelode_net::test_server::{PATIENCE, TestServer, git_backend};

/// A commit that counts its reads.
struct Counted {
    commit: Commit,
    reads: Arc<AtomicUsize>,
}

impl SourceTree for Counted {
    fn commit(&self) -> &str {
        self.commit.commit()
    }

    fn tree(&self) -> &str {
        SourceTree::tree(&self.commit)
    }

    fn entries(&self) -> Result<Vec<TreeEntry>, SourceError> {
        self.commit.entries()
    }

    fn read(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.commit.read(entry)
    }
}

/// The newest commit with its texts, and the number of its reads from the clone.
fn open(world: &World, remote: &Remote, far: bool) -> (CommitFiles, Vec<TreeEntry>, Arc<AtomicUsize>) {
    let opened = world.cache.open(remote, None, Age::Now, &quiet()).expect("it is cloned");
    let reads = Arc::new(AtomicUsize::new(0));
    let tree = Box::new(Counted { commit: opened.commit, reads: reads.clone() });
    let kept = world.cache.with_texts(remote, tree, far, &Secrets::default(), &quiet()).expect("there is room");
    let files = kept.entries().expect("the tree is there");
    (kept, files, reads)
}

/// Each file as a search sees it: its text, or `None` if it is binary.
fn seen(tree: &dyn SourceTree, files: &[TreeEntry]) -> Vec<Option<Vec<u8>>> {
    let one = |entry| {
        let mut buffer = b"of another".to_vec();
        tree.read_if(entry, &is_text, &mut buffer).expect("it is there").then_some(buffer)
    };
    files.iter().map(one).collect()
}

fn texts_of(world: &World) -> Vec<PathBuf> {
    let repos = world.folder.path().join("git/repos").read_dir().expect("it is there");
    let below = repos.flat_map(|repo| repo.expect("readable").path().join("texts").read_dir().into_iter().flatten());
    below.map(|entry| entry.expect("readable").path()).collect()
}

#[test]
fn what_is_kept_is_what_the_commit_holds() {
    let origin = repository(&["a.py", "same/a.py"]);
    let long: String = (0..30_000).map(|number| format!("line {number}\n")).collect();
    let late = [b"x".repeat(9_000), b"\0late".to_vec()].concat();
    let contents: [(&str, &[u8]); 7] = [
        ("empty", b""),
        ("binary", b"\x7fELF\0\0"),
        ("large.bin", &[b"\0".as_slice(), long.as_bytes()].concat()),
        ("late.txt", &late),
        ("long.txt", long.as_bytes()),
        ("wide.txt", b"\xff\xfew\0i\0"),
        ("z.txt", b"last\n"),
    ];
    for (path, content) in contents {
        std::fs::write(origin.path().join(path), content).expect("files can be written");
    }
    for number in 0..300 {
        std::fs::write(origin.path().join(format!("n{number}.txt")), &long.as_bytes()[..number * 10])
            .expect("files can be written");
    }
    std::os::unix::fs::symlink("a.py", origin.path().join("link")).expect("links can be made");
    write(origin.path(), "b.py", "new");
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| git_backend(&root, asked));
    let remote = remote(&server.url("/.git"));

    for far in [false, true] {
        let world = world(&server.certificate, &[]);
        let (plain, files, reads) = open(&world, &remote, far);
        let expected = seen(&plain, &files);
        assert_eq!(reads.load(Ordering::Relaxed), files.len());
        assert_eq!(expected.iter().filter(|text| text.is_none()).count(), 2);
        assert!(plain.is_worth_keeping(&files, files.len()));
        assert_eq!(plain.is_worth_keeping(&files, 1), far, "one file is not worth all, unless they came from far away");
        world.cache.keep_texts(&plain, &files, &quiet()).expect("there is room");

        let (kept, files, reads) = open(&world, &remote, far);
        assert!(!kept.is_worth_keeping(&files, files.len()));
        assert!(seen(&kept, &files) == expected);
        assert_eq!(reads.load(Ordering::Relaxed), 0, "nothing is unpacked twice");
        for entry in &files {
            assert_eq!(
                kept.read(entry).expect("it is there"),
                plain.read(entry).expect("it is there"),
                "{}",
                entry.path
            );
        }
        assert_eq!(
            reads.load(Ordering::Relaxed),
            usize::from(!far),
            "what is large and no text is kept only from far away"
        );
    }
}

#[test]
fn damage_costs_time_and_changes_no_answer() {
    let origin = repository(&["a.py", "b.py"]);
    write(origin.path(), "c.py", &"def c(): pass\n".repeat(9));
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| git_backend(&root, asked));
    let remote = remote(&server.url("/.git"));
    let world = world(&server.certificate, &[]);
    let (plain, files, _) = open(&world, &remote, false);
    let expected = seen(&plain, &files);
    world.cache.keep_texts(&plain, &files, &quiet()).expect("there is room");
    let path = texts_of(&world).remove(0);
    let whole = std::fs::read(&path).expect("it is there");

    let commit = || Box::new(Commit::open(origin.path(), "HEAD").expect("it is there"));
    let look = || {
        let kept =
            world.cache.with_texts(&remote, commit(), false, &Secrets::default(), &quiet()).expect("there is room");
        assert!(seen(&kept, &files) == expected);
        kept
    };
    for at in 0..whole.len() {
        let mut wounded = whole.clone();
        wounded[at] ^= 0x41;
        std::fs::write(&path, wounded).expect("it is ours");
        assert!(look().is_worth_keeping(&files, files.len()), "byte {at} is made anew");
    }
    for len in (0..whole.len()).step_by(7) {
        std::fs::write(&path, &whole[..len]).expect("it is ours");
        let kept = look();
        if len % 3 == 0 {
            world.cache.keep_texts(&kept, &files, &quiet()).expect("there is room");
            assert!(std::fs::read(&path).expect("it is there") == whole);
            assert!(!look().is_worth_keeping(&files, files.len()));
        }
    }
}

#[test]
fn texts_are_few_and_go_with_the_clone() {
    let origin = repository(&["a.py"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| git_backend(&root, asked));
    let remote = remote(&server.url("/.git"));
    let world = world(&server.certificate, &[]);
    let mut held = Vec::new();
    for number in 0..5 {
        write(origin.path(), "b.py", &format!("state {number}"));
        let (plain, files, _) = open(&world, &remote, false);
        world.cache.keep_texts(&plain, &files, &quiet()).expect("there is room");
        if let Some(folder) = texts_of(&world).first().and_then(|path| path.parent()) {
            std::fs::write(folder.join(".tmpAbC"), "half").expect("it is ours");
        }
        held.push(open(&world, &remote, false));
    }
    let names = texts_of(&world);
    assert_eq!(names.iter().filter(|path| !path.ends_with(".tmpAbC")).count(), 3);
    assert_eq!(names.len(), 4, "what a killed run left goes with the next");
    let newest = git(origin.path(), &["rev-parse", "HEAD"]);
    assert!(names.iter().any(|path| path.ends_with(&newest)));
    // A reader of removed texts reads on.
    for (number, (kept, files, reads)) in held.iter().enumerate() {
        let text = format!("state {number}").into_bytes();
        assert!(seen(kept, files).contains(&Some(text)));
        assert_eq!(reads.load(Ordering::Relaxed), 0);
    }

    // While a text is being read the clone stays; afterwards both are removed.
    let tight = crate::git::CacheLimits { max_bytes: 1, ..Default::default() };
    let sweep = || {
        let access = world.cache.access().clone();
        crate::git::Cache::shared(world.folder.path().join("git"), access, tight).sweep(None);
    };
    sweep();
    assert!(!texts_of(&world).is_empty());
    drop(held);
    // A process that another test begins has the open files of this one for a moment, and their locks.
    let is_swept = || {
        sweep();
        texts_of(&world).is_empty() || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            false
        }
    };
    let begun = Instant::now();
    while !is_swept() {
        assert!(begun.elapsed() < PATIENCE, "the clone stays");
    }
}

#[test]
fn a_repository_on_this_machine_is_read_where_it_lies() {
    let origin = repository(&["a.py"]);
    let world = world("", &[]);
    let remote = remote(origin.path().to_str().expect("a plain path"));
    let (kept, files, _) = open(&world, &remote, false);
    assert!(!kept.is_worth_keeping(&files, files.len()));
    assert!(!world.folder.path().join("git/repos").exists());
}
