//! Guard against truncation of mapped files. Reading beyond the new end of such a file raises SIGBUS, which kills the
//! process. Instead, the handler maps zeros there and records it: other readers are not disturbed, and the affected
//! reader gets a damage error.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use libc::{c_int, c_void, siginfo_t};

/// Maximum number of guarded files. A large store has fewer than a hundred.
const MOST: usize = 4096;

/// Address range of a guarded mapping. Signal handlers must not wait, so it consists of atomics.
struct Range {
    /// Address of the first byte; [`FREE`] and [`TAKEN`] are no addresses.
    start: AtomicUsize,
    end: AtomicUsize,
    is_cut: AtomicBool,
}

const FREE: usize = 0;
const TAKEN: usize = 1;

static RANGES: [Range; MOST] =
    [const { Range { start: AtomicUsize::new(FREE), end: AtomicUsize::new(0), is_cut: AtomicBool::new(false) } }; MOST];
/// Index where the search for a free range starts.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// Page size, and the previous signal action; set once.
static BEFORE: OnceLock<(usize, libc::sigaction)> = OnceLock::new();

/// Guard of a mapping. It must be dropped before the mapping.
#[derive(Debug)]
pub(in crate::store) struct Guard(usize);

impl Guard {
    /// Guards these bytes of a mapped file. `None` when too many are guarded already.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        BEFORE.get_or_init(install);
        let from = NEXT.fetch_add(1, Ordering::Relaxed);
        let places = (0..MOST).map(|step| (from + step) % MOST);
        let is_ours = |place: &usize| {
            RANGES[*place].start.compare_exchange(FREE, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let place = places.into_iter().find(is_ours)?;
        let range = &RANGES[place];
        let start = bytes.as_ptr() as usize;
        range.is_cut.store(false, Ordering::Relaxed);
        range.end.store(start + bytes.len(), Ordering::Relaxed);
        range.start.store(start, Ordering::Release);
        Some(Self(place))
    }

    /// Whether zeros were read beyond the end of the file.
    pub fn is_cut(&self) -> bool {
        RANGES[self.0].is_cut.load(Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        RANGES[self.0].end.store(0, Ordering::Relaxed);
        RANGES[self.0].start.store(FREE, Ordering::Release);
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
    for range in &RANGES {
        let start = range.start.load(Ordering::Acquire);
        if start <= TAKEN || at < start || at >= range.end.load(Ordering::Relaxed) {
            continue;
        }
        let here = (at & !(page - 1)) as *mut c_void;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the page lies in a guarded mapping, beyond the end of its file, so no readable data is replaced.
        let put = unsafe { libc::mmap(here, *page, libc::PROT_READ, flags, -1, 0) };
        if put != libc::MAP_FAILED {
            range.is_cut.store(true, Ordering::Relaxed);
            return;
        }
    }
    // The fault lies outside guarded files: the restored previous action applies when the read is repeated.
    // SAFETY: this action was in force before.
    unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
}
