//! Memory and time that one file costs, in any language and whatever is in it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use codelode::extract::{Limits, extract_within, has_stack, stack_for};
use codelode::languages::{self, LANGUAGES};
use codelode::store::Prepared;

use super::{hostile, scaled};

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

/// Runs `work` on a thread with a stack for files of this size, so that it reads them itself.
fn with_stack(size: usize, work: impl FnOnce() + Send) {
    let stack = stack_for(size as u64);
    std::thread::scope(|scope| {
        let prepared = || {
            has_stack(stack);
            work();
        };
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, prepared);
        thread.and_then(|thread| thread.join().map_err(|_| std::io::ErrorKind::Other.into())).expect("it holds");
    });
}

/// Processor time of this thread.
fn at_work() -> Duration {
    // SAFETY: a time is plain numbers.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: it writes a time that lives as long as the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The most memory that reading a file takes at any time, and the processor time.
fn cost(name: &str, text: &str) -> (usize, Duration) {
    let (number, spec) = languages::of_file(name, text.as_bytes()).expect("it has a language");
    let content = text.as_bytes().to_vec();
    let (before, begun) = (HELD.get(), at_work());
    PEAK.set(before);
    // Here tree-sitter has another allocator than in the program, so what one of its steps takes is not counted: time ends it.
    let limits = Limits { time: Duration::from_secs(2), ..Limits::default() };
    let found = extract_within(spec, text.as_bytes(), &limits);
    drop(Prepared::new(name.to_owned(), content, [0; 32], Some(number), &found));
    (PEAK.get() - before, at_work() - begun)
}

/// The time that a file may take in a program that is not optimised.
const TIME: Duration = Duration::from_secs(3);

#[test]
fn a_file_costs_120_times_its_size_and_a_megabyte_and_three_seconds_at_most() {
    let mut breaches = Vec::new();
    for size in [20_000, scaled(200_000)] {
        let variables = format!("int {}z;", "a,".repeat(size / 2));
        let files = hostile::files(size).into_iter().chain([("variables.c", variables)]);
        breaches.extend(files.filter_map(|(name, text)| breach(name, &text)));
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn the_law_holds_in_every_language() {
    // Those without an extension of their own are known by a whole name or by their text.
    let named = LANGUAGES.iter().filter(|spec| !spec.extensions.is_empty());
    let known: BTreeSet<&str> = named.map(|spec| spec.id).collect();
    let attacked: BTreeSet<&str> = hostile::LANGUAGES.iter().map(|language| language.id).collect();
    assert_eq!(known, attacked, "languages, and those with hostile files");
    let files = hostile::LANGUAGES.iter().flat_map(|language| language.files(scaled(9_000)));
    let breaches: Vec<String> = files.filter_map(|(name, text)| breach(&name, &text)).collect();
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

/// The cost of a file where it is too high.
fn breach(name: &str, text: &str) -> Option<String> {
    let mut breach = None;
    with_stack(text.len(), || {
        cost(name, "");
        let ((cost, took), most) = (cost(name, text), text.len() * 120 + 1_000_000);
        if cost > most || took > TIME {
            breach = Some(format!("{name} of {} bytes: {cost} bytes, {took:?}", text.len()));
        }
    });
    breach
}
