//! Memory that one file costs beside its syntax tree, in any language and whatever is in it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use codelode::extract::extract;
use codelode::languages;
use codelode::store::Prepared;

use super::hostile;

/// Counts what each thread holds. Syntax trees are taken from C's own allocator and not counted.
struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn took(bytes: usize) {
    // A thread that ends may still give back what it took.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

fn gave(bytes: usize) {
    let _ = HELD.try_with(|held| held.set(held.get().saturating_sub(bytes)));
}

// SAFETY: every call goes on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        gave(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        took(size);
        gave(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most memory that reading a file takes at any time.
fn cost(name: &str, text: &str) -> usize {
    let (number, spec) = languages::of_file(name, text.as_bytes()).expect("it has a language");
    let content = text.as_bytes().to_vec();
    let before = HELD.get();
    PEAK.set(before);
    let found = extract(spec, text.as_bytes());
    drop(Prepared::new(name.to_owned(), content, [0; 32], Some(number), &found));
    PEAK.get() - before
}

#[test]
fn a_file_costs_fifty_times_its_size_and_a_megabyte_at_most() {
    let mut breaches = Vec::new();
    for size in [20_000, 200_000] {
        for (name, text) in hostile::files(size) {
            cost(name, "");
            let (cost, most) = (cost(name, &text), text.len() * 50 + 1_000_000);
            if cost > most {
                breaches.push(format!("{name} of {} bytes: {cost} bytes", text.len()));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}
