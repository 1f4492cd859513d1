//! Restores the terminal when the user interrupts the program.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a progress bar is on the terminal.
pub(super) static HAS_BAR: AtomicBool = AtomicBool::new(false);
/// Whether the picker is on the terminal.
pub(super) static HAS_PICKER: AtomicBool = AtomicBool::new(false);
/// Whether a server runs, which ends by itself on a signal.
pub(super) static IS_SERVER: AtomicBool = AtomicBool::new(false);
/// Whether the user has interrupted the program, which is about to end.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Ends all drawing. Returns the bytes that restore the terminal, which may be none. `None` if the program must not end
/// now. Safe in a signal handler.
pub fn interrupted() -> Option<&'static [u8]> {
    if IS_SERVER.load(Ordering::Relaxed) {
        return None;
    }
    IS_OVER.store(true, Ordering::Relaxed);
    Some(match (HAS_PICKER.load(Ordering::Relaxed), HAS_BAR.load(Ordering::Relaxed)) {
        (true, _) => b"\x1b[?1049l\x1b[?25h",
        (_, true) => b"\r\x1b[2K\x1b[?25h",
        _ => b"",
    })
}

/// Whether drawing has ended.
pub(super) fn is_over() -> bool {
    IS_OVER.load(Ordering::Relaxed)
}
