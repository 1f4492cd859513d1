//! Tests that cannot run on this machine or in this build. Each writes a line to a file, which `crates/web/tests/skipped.rs` prints as one
//! list after all others.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};

/// A line for each test that was skipped: the process that ran it, its name, and the reason.
pub fn list() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join("Cargo.lock").exists()).expect("a workspace has one").join("target/skipped")
}

/// Reports that a test, or a part of it, cannot run here. With `CI=true` it fails: there, a pass shall be a pass.
#[track_caller]
pub fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "cannot run: {why}");
    skipped_anywhere(why);
}

/// Reports that a test cannot run, with `CI=true` as well: it needs a program too large to be had each time.
#[track_caller]
#[allow(dead_code, reason = "most tests run in CI")]
pub fn skipped_anywhere(why: &str) {
    println!("skipped: {why}");
    let thread = std::thread::current();
    // The harness names its threads by their tests, but for the first.
    let place = std::panic::Location::caller().file();
    let test = thread.name().filter(|name| *name != "main").unwrap_or(place);
    let line = format!("{} {test}: {}\n", parent_id(), why.replace('\n', " "));
    let list = list();
    let _ = fs::create_dir_all(list.parent().expect("it lies in a folder"));
    // Several processes add to it: one write is one line.
    let file = OpenOptions::new().create(true).append(true).open(&list);
    // Without a folder for it, the reason is in the test's output alone.
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}
