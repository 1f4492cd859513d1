//! Where memory comes from: mimalloc, for ourselves and for the grammars.
//!
//! Parsing makes and drops millions of small nodes on every core, and with glibc's allocator that was a sixth of the time of
//! a cold index.

use std::ffi::c_void;

use libmimalloc_sys::{mi_calloc, mi_free, mi_malloc, mi_realloc};
/// For a program's `#[global_allocator]`.
pub use mimalloc::MiMalloc as Allocator;

/// Lets tree-sitter take its memory from here, too.
///
/// # Safety
///
/// Nothing of tree-sitter may live yet, and no other thread: it is for the first line of a program.
pub unsafe fn install() {
    let allocator = tree_sitter::Allocator { malloc, calloc, realloc, free: mi_free };
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
    there(unsafe { mi_realloc(old, size) }, size)
}

/// Tree-sitter does not ask whether it got its memory.
fn there(memory: *mut c_void, size: usize) -> *mut c_void {
    if memory.is_null() && size > 0 {
        std::process::abort();
    }
    memory
}
