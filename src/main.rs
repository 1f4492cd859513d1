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
    handle_interrupts();
    let status = codelode::cli::run(std::env::args_os());
    // The reader may have closed the pipe.
    let _ = std::io::stdout().flush();
    // Freeing memory piece by piece takes as long as some answers; the system frees all of it at once.
    // SAFETY: it may be called at any time, and all final work is done.
    unsafe { libc::_exit(status.into()) }
}

/// Clears the terminal when the user interrupts, unless interrupts are ignored, as below nohup.
fn handle_interrupts() {
    let handler = interrupted as extern "C" fn(libc::c_int);
    // SAFETY: nothing else runs yet, and the handler calls only functions that a handler may.
    unsafe {
        if libc::signal(libc::SIGINT, handler as libc::sighandler_t) == libc::SIG_IGN {
            libc::signal(libc::SIGINT, libc::SIG_IGN);
        }
    }
}

/// Takes a progress bar off the terminal, and ends the process by the signal: a shell reports 130, and ends its loop. A server
/// ends by itself.
extern "C" fn interrupted(signal: libc::c_int) {
    let Some(text) = codelode::cli::interrupted() else { return };
    // SAFETY: all three may be called in a signal handler, and the text is static.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
