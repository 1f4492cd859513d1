//! Failures of the system's notifications, simulated.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notify::event::{Event, EventKind, Flag};

use super::notifier::Notifier;
use super::{KeeperAnswer, Options, WatchHandle, ask};
use crate::pipeline;
use codelode_base::config::Config;
use codelode_store::Registry;

/// A timeout that no test here should reach.
const PATIENCE: Duration = Duration::from_secs(60);

/// The event for an overrun queue.
fn overrun() -> Event {
    Event::new(EventKind::Other).set_flag(Flag::Rescan)
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not in time");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_queue_that_ran_over_is_told_and_folders_are_watched_anew() {
    let folder = tempfile::tempdir().expect("there is room");
    let root = folder.path().canonicalize().expect("it is there");
    let notifier = Notifier::open().expect("the system watches");
    let (who, woken) = notifier.listener();
    let folders = BTreeSet::from([root.clone()]);
    assert!(notifier.follow(who, &folders).expect("it can be watched"));
    assert!(!notifier.follow(who, &folders).expect("it is watched already"));

    notifier.told.hear(Ok(overrun()));
    woken.recv_timeout(PATIENCE).expect("it wakes whoever listens");
    let heard = notifier.take(who).expect("it listens");
    assert!(heard.all && heard.lost && heard.paths.is_empty());
    assert!(notifier.follow(who, &folders).expect("it can be watched"), "what it was watched by may be gone");
    fs::write(root.join("a.py"), "").expect("it is ours");
    until("it is told of what comes then", || notifier.told_when(who).is_some());
    assert!(notifier.take(who).expect("it listens").paths.contains(&root.join("a.py")));
}

#[test]
fn what_was_lost_when_the_queue_ran_over_is_found() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().canonicalize().expect("it is there");
    let source = path.join("source");
    fs::create_dir_all(source.join("deep/er")).expect("the folder is new");
    fs::write(source.join("a.py"), "def first(): pass\n").expect("it is ours");
    let config = Config { home: path.join("index"), ..Config::default() };
    let options = Options { debounce: Duration::from_secs(3600), idle: None };
    let watching = WatchHandle::new(config.clone(), options, Arc::new(|_: &str| {}));
    watching.add(&source).expect("the folder is there");
    let sidecar = pipeline::sidecar_of(&source, &config);
    let standing = || ask(&config.home, &sidecar.snapshot, &source, PATIENCE);
    until("it answers", || standing() == Some(KeeperAnswer::Fresh));
    let held = |path: &str| {
        let snapshot = Registry::new(&config.home).store(&sidecar.store).snapshot(&sidecar.snapshot);
        snapshot.expect("it is indexed").file(path).map(|file| file.content().to_owned())
    };

    let notifier = watching.notifier().expect("the system watches");
    // The keeper was the first to listen.
    let who = 1;
    let lose = |change: &dyn Fn(&Path)| {
        change(&source);
        until("it is told", || notifier.told_when(who).is_some());
        // The keeper never sees it.
        while notifier.take(who).is_some_and(|heard| heard.when.is_some()) {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    lose(&|source| fs::write(source.join("a.py"), "def second(): pass\n").expect("it is ours"));
    lose(&|source| fs::write(source.join("deep/er/b.py"), "def third(): pass\n").expect("it is ours"));
    assert_eq!(held("a.py").as_deref(), Some(&b"def first(): pass\n"[..]), "it was lost");
    notifier.told.hear(Ok(overrun()));
    assert_eq!(standing(), Some(KeeperAnswer::Fresh));
    assert_eq!(held("a.py").as_deref(), Some(&b"def second(): pass\n"[..]));
    assert_eq!(held("deep/er/b.py").as_deref(), Some(&b"def third(): pass\n"[..]));
}
