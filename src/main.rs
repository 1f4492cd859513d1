//! The program: everything is in the library.

use std::io::Write;

#[global_allocator]
static ALLOCATOR: codelode::allocator::Allocator = codelode::allocator::Allocator;

fn main() {
    // SAFETY: nothing else runs yet.
    unsafe { codelode::allocator::install() };
    // An index is its owner's alone, and so is a copy of it.
    // SAFETY: it sets a number of this process.
    unsafe { libc::umask(0o077) };
    let status = codelode::cli::run(std::env::args_os());
    // Whoever read it may be gone.
    let _ = std::io::stdout().flush();
    // Handing memory back piece by piece takes as long as many an answer: the system takes it back at one stroke.
    // SAFETY: it may be called at any time, and what was to be done at the end is done.
    unsafe { libc::_exit(status.into()) }
}
