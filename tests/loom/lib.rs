//! Every order of the steps of two threads that share the ranges of mapped files, run by loom with its atomics in place
//! of the real ones: `cargo test --manifest-path tests/loom/Cargo.toml`.

#![cfg(test)]

use loom::sync::Arc;
use loom::sync::atomic;
use loom::thread;

#[path = "../../crates/store/src/packs/guard/ranges.rs"]
mod ranges;

use atomic::{AtomicBool, AtomicUsize, Ordering};
use ranges::{Range, Ranges};

fn two() -> Arc<Ranges<2>> {
    let range = || Range { start: AtomicUsize::new(0), end: AtomicUsize::new(0), is_cut: AtomicBool::new(false) };
    Arc::new(Ranges { all: [range(), range()], next: AtomicUsize::new(0) })
}

#[test]
fn whoever_reads_zeros_is_told() {
    loom::model(|| {
        let ranges = two();
        let ours = ranges.add(100, 100).expect("one is free");
        let is_zero = Arc::new(AtomicBool::new(false));
        let handler = {
            let (ranges, is_zero) = (ranges.clone(), is_zero.clone());
            let map_zeros = move || {
                is_zero.store(true, Ordering::SeqCst);
                true
            };
            thread::spawn(move || assert!(ranges.cut(150, map_zeros)))
        };
        if is_zero.load(Ordering::SeqCst) {
            assert!(ranges.is_cut(ours));
        }
        handler.join().expect("it does not panic");
        assert!(ranges.is_cut(ours));
    });
}

#[test]
fn a_range_that_changes_hands_hides_no_cut_and_takes_none() {
    loom::model(|| {
        let ranges = two();
        let other = ranges.add(10, 20).expect("two are free");
        let ours = ranges.add(100, 100).expect("one is free");
        let mapping = {
            let ranges = ranges.clone();
            thread::spawn(move || {
                ranges.remove(other);
                ranges.add(300, 100).expect("one is free")
            })
        };
        assert!(ranges.cut(150, || true));
        let later = mapping.join().expect("it does not panic");
        assert!(ranges.is_cut(ours) && !ranges.is_cut(later));
    });
}
