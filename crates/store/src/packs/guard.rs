//! Guard against truncation of mapped files. Reading beyond the new end of such a file raises SIGBUS, which kills the
//! process. Instead, the handler maps zeros there and records it: other readers are not disturbed, and the affected
//! reader gets a damage error.

mod ranges;

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{OnceLock, atomic};

use atomic::{AtomicBool, AtomicUsize};
use libc::{c_int, c_void, siginfo_t};
use ranges::{Range, Ranges};

/// Maximum number of guarded files. A large store has fewer than a hundred.
const MOST: usize = 4096;

static RANGES: Ranges<MOST> = Ranges {
    all: [const { Range { start: AtomicUsize::new(0), end: AtomicUsize::new(0), is_cut: AtomicBool::new(false) } };
        MOST],
    next: AtomicUsize::new(0),
};
/// Page size, and the previous signal action; set once.
static BEFORE: OnceLock<(usize, libc::sigaction)> = OnceLock::new();

/// Guard of a mapping. It must be dropped before the mapping.
#[derive(Debug)]
pub struct Guard(usize);

impl Guard {
    /// Guards these bytes of a mapped file. `None` when too many are guarded already.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        BEFORE.get_or_init(install);
        RANGES.add(bytes.as_ptr() as usize, bytes.len()).map(Self)
    }

    /// Whether zeros were read beyond the end of the file.
    pub fn is_cut(&self) -> bool {
        RANGES.is_cut(self.0)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        RANGES.remove(self.0);
    }
}

/// Installs [`on_signal`] as handler.
fn install() -> (usize, libc::sigaction) {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: both structures are valid for the call, all zeros is a valid value of the first, and the handler is
    // async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_signal;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, before.as_mut_ptr());
        let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
        (page, before.assume_init())
    }
}

/// Handles a read beyond the end of a mapped file.
extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // It is set before the first guard exists, unless another process sends the signal during installation.
    let Some((page, before)) = BEFORE.get() else { return };
    // SAFETY: the system passes a valid description of the signal.
    let at = unsafe { (*info).si_addr() } as usize;
    let map_zeros = || {
        let here = (at & !(page - 1)) as *mut c_void;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the page lies in a guarded mapping, beyond the end of its file, so no readable data is replaced.
        unsafe { libc::mmap(here, *page, libc::PROT_READ, flags, -1, 0) != libc::MAP_FAILED }
    };
    if RANGES.cut(at, map_zeros) {
        return;
    }
    // The fault lies outside guarded files: the restored previous action applies when the read is repeated.
    // SAFETY: this action was in force before.
    unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
}
