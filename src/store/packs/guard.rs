//! Mapped files that somebody cuts short. Whoever reads beyond the new end of such a file is stopped by a signal, and a process
//! with it. Here zeros are put in the place of what is missing instead, and it is remembered: so nobody else is disturbed, and
//! whoever has read them is told that the file is damaged.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use libc::{c_int, c_void, siginfo_t};

/// So many files are guarded at a time. A large store has fewer than a hundred.
const MOST: usize = 4096;

/// Where a guarded file is mapped. A handler of signals may not wait for anybody, so these are numbers that are read and
/// written as they are.
struct Range {
    /// Address of the first byte; [`FREE`] and [`TAKEN`] are none.
    start: AtomicUsize,
    end: AtomicUsize,
    is_cut: AtomicBool,
}

const FREE: usize = 0;
const TAKEN: usize = 1;

static RANGES: [Range; MOST] =
    [const { Range { start: AtomicUsize::new(FREE), end: AtomicUsize::new(0), is_cut: AtomicBool::new(false) } }; MOST];
/// Where to begin to look for a free one.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// Bytes of a page, and what was done about the signal before; set once.
static BEFORE: OnceLock<(usize, libc::sigaction)> = OnceLock::new();

/// Watches over a mapping until it is dropped, which must be before the mapping is.
#[derive(Debug)]
pub(in crate::store) struct Guard(usize);

impl Guard {
    /// Watches over these bytes of a mapped file. `None` when too many are watched over already.
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

    /// Whether zeros were read where the file had ended.
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

/// Asks the system to call [`on_signal`].
fn install() -> (usize, libc::sigaction) {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: both structures are valid for the call, all zeros is a valid value of the first, and the handler does nothing
    // that a handler may not do.
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

/// Somebody read where a mapped file ends no longer.
extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // It was set before the first file was watched over, unless somebody sends the signal just as that is done.
    let Some((page, before)) = BEFORE.get() else { return };
    // SAFETY: the system hands over what it knows of the signal.
    let at = unsafe { (*info).si_addr() } as usize;
    for range in &RANGES {
        let start = range.start.load(Ordering::Acquire);
        if start <= TAKEN || at < start || at >= range.end.load(Ordering::Relaxed) {
            continue;
        }
        let here = (at & !(page - 1)) as *mut c_void;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the page lies in a mapping of ours that only we know of; nobody could read what was there.
        let put = unsafe { libc::mmap(here, *page, libc::PROT_READ, flags, -1, 0) };
        if put != libc::MAP_FAILED {
            range.is_cut.store(true, Ordering::Relaxed);
            return;
        }
    }
    // It is none of ours: what would have happened happens when the same is tried again.
    // SAFETY: it was in force before.
    unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
}
