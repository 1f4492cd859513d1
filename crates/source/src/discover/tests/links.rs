//! Symbolic links: left alone, or followed inside the root.
#![cfg(unix)]

use std::fs;

use super::{Source, following, paths, rules, skipped};
use crate::discover::{Decision, Rules, decide, read};
use codelode_base::model::SkipReason;

#[test]
fn links_are_counted_and_not_followed() {
    let source = Source::with(&["real/a.py"]);
    source.link("folder", "real");
    source.link("file.py", "real/a.py");
    source.link("broken", "none");
    let walk = source.walk();
    assert_eq!(paths(&walk), ["real/a.py"]);
    assert_eq!(skipped(&walk, SkipReason::Symlink), 3);
}

#[test]
fn links_inside_the_root_are_followed_when_asked() {
    let source = Source::with(&["real/deep/a.py"]);
    source.link("folder", "real");
    source.link("file.py", source.path("real/deep/a.py"));
    let walk = source.walk_by(&following());
    assert_eq!(paths(&walk), ["file.py", "folder/deep/a.py", "real/deep/a.py"]);
    for file in &walk.files {
        assert_eq!(read(&source.root(), file, &following()).as_deref(), Ok(&b"text\n"[..]), "{}", file.path);
        assert_eq!(decide(&source.root(), &file.path, &following()).ok(), Some(Decision::File(file.clone())));
    }
    assert_eq!(read(&source.root(), &walk.files[0], &rules()), Err(SkipReason::Symlink));
    assert_eq!(read(&source.root(), &walk.files[1], &rules()), Err(SkipReason::Symlink));
}

#[test]
fn links_never_lead_out_of_the_root() {
    let outside = Source::with(&["secret.py", "deep/a.py"]);
    let source = Source::with(&["a.py"]);
    source.link("file.py", outside.path("secret.py"));
    source.link("folder", outside.path("deep"));
    source.link("up", "..");
    source.link("chain", "folder");
    let walk = source.walk_by(&following());
    assert_eq!(paths(&walk), ["a.py"]);
    assert_eq!(skipped(&walk, SkipReason::SymlinkEscape), 4);
}

#[test]
fn circles_end() {
    let source = Source::with(&["a/x.py", "b/y.py"]);
    source.link("a/self", ".");
    source.link("a/up", "..");
    source.link("round", "round");
    source.link("a/to_b", "../b");
    source.link("b/to_a", "../a");
    let walk = source.walk_by(&following());
    assert_eq!(paths(&walk), ["a/to_b/y.py", "a/x.py", "b/to_a/x.py", "b/y.py"]);
    assert!(skipped(&walk, SkipReason::SymlinkEscape) >= 3);
}

#[test]
fn folders_that_all_link_to_each_other_do_not_grow_without_end() {
    let source = Source::with(&[]);
    for one in 0..12 {
        source.write(&format!("f{one}/x.py"), "text\n");
        for other in 0..12 {
            source.link(&format!("f{one}/to{other}"), format!("../f{other}"));
        }
    }
    // Each folder by itself, and once more for each link in the tree.
    assert_eq!(source.walk_by(&following()).files.len(), 12 + 12 * 11);
}

#[test]
fn a_link_does_not_unlock_what_its_target_hides() {
    let source = Source::with(&[".env", "logo.png", "node_modules/x/a.js", ".git/config", "index/a.py", "a.py"]);
    source.link("notes.txt", ".env");
    source.link("image.txt", "logo.png");
    source.link("modules", "node_modules/x");
    source.link("config.txt", ".git/config");
    source.link("store", "index");
    let rules = Rules { never: vec![source.path("index")], ..following() };
    let walk = source.walk_by(&rules);
    assert_eq!(paths(&walk), ["a.py"]);
    assert_eq!(skipped(&walk, SkipReason::Secret), 2);
    assert_eq!(skipped(&walk, SkipReason::Binary), 2);
    assert_eq!(skipped(&walk, SkipReason::Noise), 6);
}

#[test]
fn a_link_is_judged_by_its_own_name_too() {
    let source = Source::with(&["packages/x/a.js", "b.txt"]);
    source.link("node_modules", "packages");
    source.link(".env", "b.txt");
    source.link("ignored", "packages");
    source.write(".gitignore", "ignored/\n");
    let walk = source.walk_by(&following());
    assert_eq!(paths(&walk), [".gitignore", "b.txt", "packages/x/a.js"]);
    assert_eq!(skipped(&walk, SkipReason::Noise), 1);
    assert_eq!(skipped(&walk, SkipReason::Secret), 1);
    assert_eq!(skipped(&walk, SkipReason::Ignored), 1);
}

#[test]
fn a_broken_link_is_named_when_links_are_followed() {
    let source = Source::with(&["a.py"]);
    source.link("gone.py", "none.py");
    let walk = source.walk_by(&following());
    assert_eq!(paths(&walk), ["a.py"]);
    assert_eq!(walk.warnings, ["gone.py could not be read"]);
}

#[test]
fn a_root_may_itself_be_a_link() {
    let source = Source::with(&["real/a.py"]);
    source.link("root", "real");
    let walk = super::walk_at(&source.path("root"), &rules());
    assert_eq!(paths(&walk), ["a.py"]);
    assert!(read(&source.path("root"), &walk.files[0], &rules()).is_ok());
}

#[test]
fn a_file_that_became_a_link_is_not_read() {
    let outside = Source::with(&["secret.py", "deep/a.py"]);
    let source = Source::with(&["a.py", "deep/a.py"]);
    let walk = source.walk();
    fs::remove_file(source.path("a.py")).expect("the file is there");
    fs::remove_dir_all(source.path("deep")).expect("the folder is there");
    source.link("a.py", outside.path("secret.py"));
    source.link("deep", outside.path("deep"));
    for file in &walk.files {
        assert_eq!(read(&source.root(), file, &rules()), Err(SkipReason::Symlink), "{}", file.path);
        assert_eq!(read(&source.root(), file, &following()), Err(SkipReason::SymlinkEscape), "{}", file.path);
    }
}

#[test]
fn an_ignore_file_that_is_a_link_is_not_read() {
    let outside = Source::with(&[]);
    outside.write("patterns", "*.py\n");
    let source = Source::with(&["a.py"]);
    source.link(".gitignore", outside.path("patterns"));
    assert_eq!(paths(&source.walk()), ["a.py"]);
}
