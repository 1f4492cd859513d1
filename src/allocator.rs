//! Memory allocator: mimalloc, for Rust code and for tree-sitter's C code.
//!
//! Parsing allocates and frees millions of small nodes on every core, which took a sixth of the time of a cold index
//! with glibc's allocator.

use std::cell::Cell;
use std::ffi::c_void;

use libmimalloc_sys::{mi_calloc, mi_collect, mi_free, mi_malloc, mi_option_set, mi_realloc, mi_usable_size};
/// The type for a program's `#[global_allocator]`.
pub use mimalloc::MiMalloc as Allocator;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Bytes held by tree-sitter on this thread; zero if it uses another allocator.
pub fn held_by_parsing() -> usize {
    HELD.get()
}

/// mimalloc's number for the option `purge_delay`: milliseconds before freed memory is returned to the system.
const PURGE_DELAY: i32 = 15;

/// Returns freed memory to the system at once from now on. Slower, for processes with little memory.
pub fn keep_nothing() {
    // SAFETY: a setting may be changed at any time, by any thread.
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

/// Disables huge pages from now on, for a long-lived process: one object in a huge page keeps all of it resident. A
/// server after less than a minute of answers and edits held 29 to 67 MB with huge pages, and 15 without.
pub fn take_small_pages() {
    // On other systems, this does nothing.
    #[cfg(target_os = "linux")]
    // SAFETY: the call affects this process only and takes no pointer.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

/// Returns free memory to the system now. An idle process would keep it otherwise.
pub fn give_back() {
    // SAFETY: only unused memory is returned, and any thread may ask for it.
    unsafe { mi_collect(true) }
}

/// Makes tree-sitter use this allocator.
///
/// # Safety
///
/// Call it at the start of `main`: nothing from tree-sitter and no other thread may exist yet.
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

/// Counts memory that tree-sitter gives back.
///
/// # Safety
///
/// The memory must come from one of these functions and still be allocated.
unsafe fn given_back(memory: *mut c_void) {
    // SAFETY: the caller promises it.
    let size = unsafe { mi_usable_size(memory) };
    // A tree may be dropped by another thread than the one that made it.
    HELD.set(HELD.get().saturating_sub(size));
}

/// Counts memory given to tree-sitter, and aborts if there is none: tree-sitter does not check for null.
fn there(memory: *mut c_void, size: usize) -> *mut c_void {
    if memory.is_null() && size > 0 {
        std::process::abort();
    }
    // SAFETY: it was made a moment ago, or is null, which has no size.
    HELD.set(HELD.get() + unsafe { mi_usable_size(memory) });
    memory
}
