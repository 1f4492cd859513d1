//! The program: everything is in the library.

use std::io::Write;

#[global_allocator]
static ALLOCATOR: codelode::allocator::Allocator = codelode::allocator::Allocator;

fn main() {
    // SAFETY: nothing else runs yet.
    unsafe { codelode::allocator::install() };
    // Indexes are private to their owner, and so are copies of them.
    // SAFETY: it sets a number of this process.
    unsafe { libc::umask(0o077) };
    let status = codelode::cli::run(std::env::args_os());
    // The reader may have closed the pipe.
    let _ = std::io::stdout().flush();
    // Freeing memory piece by piece takes as long as some answers; the system frees all of it at once.
    // SAFETY: it may be called at any time, and all final work is done.
    unsafe { libc::_exit(status.into()) }
}
