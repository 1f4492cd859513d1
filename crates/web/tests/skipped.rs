//! The list of all tests that were skipped, and why. Cargo runs test binaries in the order of
//! their packages' names, and of their own: this is the last.

#[allow(dead_code, reason = "this skips nothing")]
#[path = "../../../tests/skipping.rs"]
mod skipping;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::parent_id;

fn main() {
    // The file may hold lines of an earlier run, which did not come as far as here.
    let ours = format!("{} ", parent_id());
    let text = fs::read_to_string(skipping::list()).unwrap_or_default();
    let lines: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix(&ours)).collect();
    let kept: String = lines.iter().map(|line| format!("{ours}{line}\n")).collect();
    // Programs that list the tests of a binary before they run them get none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let _ = fs::write(skipping::list(), kept);
    if !lines.is_empty() {
        println!("\nskipped here:");
        lines.iter().for_each(|line| println!("  {line}"));
    }
}
