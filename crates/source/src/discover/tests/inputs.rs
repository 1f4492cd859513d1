//! Inputs of a walk, and the detection of changes in them.

use std::fs;
use std::time::{Duration, SystemTime};

use super::{Source, changes_by, following, paths, rules, walk_at};
use crate::discover::changes::Changes;
use crate::discover::{RecordedEntry, Rules, changes};
use codelode_base::model::SourceFile;

/// Sets a file's time to the future, so that no test has to wait for the clock to tick.
fn touch(source: &Source, path: &str) {
    let later = SystemTime::now() + Duration::from_secs(60);
    let file = fs::File::open(source.path(path)).expect("the file is there");
    file.set_modified(later).expect("the file is ours");
}

fn input_paths(walk: &crate::discover::Walk) -> Vec<&str> {
    let inside = walk.inputs.iter().map(|input| input.path.as_str());
    inside.filter(|path| !path.starts_with('/')).collect()
}

#[test]
fn entered_folders_and_ignore_files_are_inputs() {
    let source = Source::with(&["a/b/x.py", "node_modules/y.js", "c.py"]);
    source.write(".gitignore", "*.log\n");
    source.write("a/.ignore", "*.log\n");
    assert_eq!(input_paths(&source.walk()), ["", ".gitignore", "a", "a/.ignore", "a/b"]);
}

#[test]
fn what_could_have_been_read_is_an_input_too() {
    let source = Source::with(&["sub/deep/a.py"]);
    source.git("", &["init", "-q"]);
    let _ = fs::remove_file(source.path(".git/info/exclude"));
    let walk = source.walk();
    let exclude = walk.inputs.iter().find(|input| input.path == ".git/info/exclude");
    assert_eq!(exclude.map(|input| input.mtime_ns), Some(i64::MIN));

    let inside = walk_at(&source.path("sub/deep"), &rules());
    for path in [".gitignore", ".ignore", "sub/.gitignore", "sub/.ignore", ".git/info/exclude"] {
        let path = source.path(path).to_string_lossy().into_owned();
        let input = inside.inputs.iter().find(|input| input.path == path);
        assert_eq!(input.map(|input| input.mtime_ns), Some(i64::MIN), "{path}");
    }
    assert!(changes_by(&source.path("sub/deep"), &inside, &rules()).is_empty());
    source.write("sub/.gitignore", "*.log\n");
    let changed = changes_by(&source.path("sub/deep"), &inside, &rules());
    assert_eq!(changed, [format!("changed {}", source.path("sub/.gitignore").display())]);
}

#[test]
fn the_index_of_git_is_an_input_where_it_was_asked() {
    let source = Source::with(&["Cargo.toml", "target/a.rs"]);
    source.git("", &["init", "-q"]);
    let walk = source.walk();
    assert_eq!(paths(&walk), ["Cargo.toml"]);
    assert!(input_paths(&walk).contains(&".git/index"));
    source.git("", &["add", "-f", "target"]);
    assert!(source.changes(&walk).contains(&"changed .git/index".to_owned()));
    assert_eq!(paths(&source.walk()), ["Cargo.toml", "target/a.rs"]);

    let plain = Source::with(&["a.py"]);
    plain.git("", &["init", "-q"]);
    assert!(!input_paths(&plain.walk()).contains(&".git/index"));
}

#[test]
fn a_package_is_an_input_where_it_was_asked() {
    let source = Source::with(&["sub/package.json", "a.py"]);
    assert!(!input_paths(&source.walk()).contains(&"sub/package.json"));
    source.write("sub/large.js", "a".repeat(101));
    let walk = source.walk_by(&Rules { max_file_size: 100, ..rules() });
    assert!(input_paths(&walk).contains(&"sub/package.json"));
}

#[test]
fn nothing_changed_when_nothing_changed() {
    let source = Source::with(&["a/b.py", "c.py", ".gitignore"]);
    source.git("", &["init", "-q"]);
    assert!(source.changes(&source.walk()).is_empty());
}

#[test]
fn every_sort_of_change_is_seen() {
    let source = Source::with(&["same.py", "longer.py", "touched.py", "gone.py", "now_a_folder.py", "deep/gone.py"]);
    let walk = source.walk();
    source.write("longer.py", "more text\n");
    touch(&source, "touched.py");
    for path in ["gone.py", "now_a_folder.py", "deep/gone.py"] {
        fs::remove_file(source.path(path)).expect("the file is there");
    }
    fs::create_dir(source.path("now_a_folder.py")).expect("folders can be made");
    fs::remove_dir(source.path("deep")).expect("the folder is empty");
    touch(&source, "");
    let expected = [
        "changed ",
        "changed longer.py",
        "changed now_a_folder.py",
        "changed touched.py",
        "gone deep",
        "gone deep/gone.py",
        "gone gone.py",
    ];
    assert_eq!(source.changes(&walk), expected);
}

#[test]
fn a_new_file_shows_in_its_folder() {
    let source = Source::with(&["deep/a.py"]);
    let walk = source.walk();
    source.write("deep/b.py", "text\n");
    touch(&source, "deep");
    assert_eq!(source.changes(&walk), ["changed deep"]);
}

#[cfg(unix)]
#[test]
fn links_are_compared_as_they_were_recorded() {
    let source = Source::with(&["real/a.py", "b.py"]);
    source.link("folder", "real");
    source.link("file.py", "b.py");
    let walk = source.walk_by(&following());
    assert!(changes_by(&source.root(), &walk, &following()).is_empty());
    touch(&source, "b.py");
    assert_eq!(changes_by(&source.root(), &walk, &following()), ["changed b.py", "changed file.py"]);

    let plain = Source::with(&["a.py"]);
    let walk = plain.walk();
    fs::rename(plain.path("a.py"), plain.path("b.py")).expect("the file is there");
    plain.link("a.py", "b.py");
    assert!(plain.changes(&walk).contains(&"changed a.py".to_owned()));
}

#[test]
fn threads_agree_with_one() {
    let source = Source::with(&["there.py"]);
    let stamp = source.walk().files.remove(0);
    let SourceFile { size, mtime_ns, ctime_ns, .. } = stamp;
    let there = RecordedEntry { path: "there.py", size, mtime_ns, ctime_ns: Some(ctime_ns), is_dir: false };
    let gone = RecordedEntry { path: "gone.py", ..there };
    let changed = RecordedEntry { size: 1, ..there };
    let missing = RecordedEntry { path: "none.py", size: 0, mtime_ns: i64::MIN, ctime_ns: None, is_dir: false };
    let known: Vec<_> = [there, gone, changed, missing].into_iter().cycle().take(4_003).collect();
    let listed = |place: usize| known.get(place).copied();
    let compared = |threads| changes(&source.root(), (known.len(), &listed), false, threads);
    let one = compared(1);
    assert_eq!(one.gone.len() + one.changed.len(), 2_002);
    for threads in [0, 2, 3, 8] {
        assert_eq!(compared(threads), one);
    }
    assert_eq!(changes(&source.root(), (0, &listed), false, 2), Changes::default());
}

#[test]
fn a_root_that_is_gone_takes_everything_with_it() {
    let source = Source::with(&["a.py"]);
    let walk = source.walk();
    let root = source.root();
    drop(source);
    let gone = changes_by(&root, &walk, &rules());
    assert!(gone.contains(&"gone a.py".to_owned()), "{gone:?}");
}
