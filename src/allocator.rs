//! Where memory comes from: mimalloc, for ourselves and for the grammars.
//!
//! Parsing makes and drops millions of small nodes on every core, and with glibc's allocator that was a sixth of the time of
//! a cold index.

use std::cell::Cell;
use std::ffi::c_void;

use libmimalloc_sys::{mi_calloc, mi_collect, mi_free, mi_malloc, mi_option_set, mi_realloc, mi_usable_size};
/// For a program's `#[global_allocator]`.
pub use mimalloc::MiMalloc as Allocator;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that tree-sitter holds for this thread; zero where it takes its memory from elsewhere.
pub fn held_by_parsing() -> usize {
    HELD.get()
}

/// The number that mimalloc knows the setting by: for how many milliseconds freed memory is kept for the next who needs some.
const PURGE_DELAY: i32 = 15;

/// Gives what is freed back to the system at once from now on, which takes time: for whoever may use little.
pub fn keep_nothing() {
    // SAFETY: a setting may be changed at any time, by any thread.
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

/// Takes memory in small pages from now on, for a process that lives long: of a large page that anything lies in all of it is
/// held. A server that had answered and read edits for less than a minute held 29 to 67 MB, and in small pages 15.
pub fn take_small_pages() {
    // Where the system knows of no such setting, nothing changes.
    #[cfg(target_os = "linux")]
    // SAFETY: it is about this process only, and takes no pointer.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

/// Gives back to the system what is free now. A process that has done much and will do nothing for long holds on to it otherwise.
pub fn give_back() {
    // SAFETY: only what nobody uses is given back; any thread may ask for it.
    unsafe { mi_collect(true) }
}

/// Lets tree-sitter take its memory from here, too.
///
/// # Safety
///
/// Nothing of tree-sitter may live yet, and no other thread: it is for the first line of a program.
pub unsafe fn install() {
    let allocator = tree_sitter::Allocator { malloc, calloc, realloc, free };
    // SAFETY: the four are one family, aligned as C's own, and never return null; the rest the caller promises.
    unsafe { tree_sitter::set_allocator(Some(allocator)) }
}

extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    there(unsafe { mi_malloc(size) }, size)
}

extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: any count and size may be asked for; their product is checked.
    there(unsafe { mi_calloc(count, size) }, size)
}

unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: tree-sitter gives back what one of these functions returned.
    unsafe {
        given_back(old);
        there(mi_realloc(old, size), size)
    }
}

unsafe extern "C" fn free(memory: *mut c_void) {
    // SAFETY: tree-sitter gives back what one of these functions returned.
    unsafe {
        given_back(memory);
        mi_free(memory);
    }
}

/// Counts memory that tree-sitter no longer holds.
///
/// # Safety
///
/// It came from one of these functions, and is still there.
unsafe fn given_back(memory: *mut c_void) {
    // SAFETY: the caller promises it.
    let size = unsafe { mi_usable_size(memory) };
    // A tree may be dropped by another thread than made it.
    HELD.set(HELD.get().saturating_sub(size));
}

/// Counts memory that tree-sitter was given, which does not ask whether it got it.
fn there(memory: *mut c_void, size: usize) -> *mut c_void {
    if memory.is_null() && size > 0 {
        std::process::abort();
    }
    // SAFETY: it was made a moment ago, or is null, which has no size.
    HELD.set(HELD.get() + unsafe { mi_usable_size(memory) });
    memory
}
