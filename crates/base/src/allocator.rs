//! Memory allocator: mimalloc, for Rust code and for tree-sitter's C code.
//!
//! Parsing allocates and frees millions of small nodes on every core, which took a sixth of the time of a cold index
//! with glibc's allocator.
//!
//! # Ending a parse in its middle
//!
//! One step of tree-sitter's error recovery may take minutes and gigabytes, and calls nothing of ours but the allocator.
//! So the allocator ends a parse that is over its bounds: it unwinds through tree-sitter's C frames, up to
//! [`Heap::bounded`]. This is sound:
//!
//! - The functions that unwind are `extern "C-unwind"`, and so is the call into tree-sitter.
//! - C frames have no destructors. The unwinder needs their unwind tables only, which compilers write on all supported
//!   systems; an attack on the program proves it.
//! - The allocator unwinds before it calls mimalloc, so mimalloc is never left in its middle. Tree-sitter and the scanners
//!   of grammars take no locks, and change nothing outside of the parser.
//! - The parser is left in the middle of a change, so nothing reads, resets or frees it any more. It and its nodes lie in a
//!   [`Heap`], which is freed as a whole when the last tree in it is dropped.
//!
//! Only a scanner's own state, usually below a kilobyte and from C's own allocator, is lost.
//!
//! A grammar's assertion that fails ends its parse in the same way, on Linux.

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use libmimalloc_sys::{
    mi_calloc, mi_collect, mi_free, mi_heap_calloc, mi_heap_delete, mi_heap_destroy, mi_heap_malloc, mi_heap_new,
    mi_heap_realloc, mi_heap_t, mi_malloc, mi_option_set, mi_realloc, mi_usable_size,
};
/// The type for a program's `#[global_allocator]`.
pub use mimalloc::MiMalloc as Allocator;

/// Allocations between two looks at the bounds of a parse, unless its memory is over.
const BETWEEN_LOOKS: u32 = 4096;

/// Whether tree-sitter uses this allocator.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Tree-sitter's use of the allocator on one thread.
struct Usage {
    held: Cell<usize>,
    /// The heap to allocate from; null for the thread's own.
    heap: Cell<*mut mi_heap_t>,
    bounds: Cell<Bounds>,
    /// Allocations until the next look at the bounds.
    left: Cell<u32>,
}

/// Bounds of a parse.
#[derive(Clone, Copy)]
struct Bounds {
    most: usize,
    /// Valid while the parse runs.
    goes_on: Option<NonNull<dyn Fn(usize) -> bool>>,
}

impl Bounds {
    const NONE: Self = Self { most: usize::MAX, goes_on: None };
}

thread_local! {
    static USAGE: Usage = const {
        Usage {
            held: Cell::new(0),
            heap: Cell::new(null_mut()),
            bounds: Cell::new(Bounds::NONE),
            left: Cell::new(BETWEEN_LOOKS),
        }
    };
}

/// Bytes held by tree-sitter on this thread; zero if it uses another allocator.
pub fn held_by_parsing() -> usize {
    USAGE.with(|usage| usage.held.get())
}

/// Memory of parsers and trees, freed as a whole after a parse in it was ended in its middle.
pub struct Heap {
    heap: NonNull<mi_heap_t>,
    is_spoilt: AtomicBool,
}

// SAFETY: mimalloc frees heaps and their blocks from any thread.
unsafe impl Send for Heap {}
// SAFETY: mimalloc gives every thread a part of its own of each heap.
unsafe impl Sync for Heap {}

impl Heap {
    /// An empty heap; `None` if tree-sitter uses another allocator, or there is no memory.
    pub fn new() -> Option<Self> {
        if !IS_INSTALLED.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: any thread may ask for a heap.
        let heap = NonNull::new(unsafe { mi_heap_new() })?;
        Some(Self { heap, is_spoilt: AtomicBool::new(false) })
    }

    /// Takes all that tree-sitter allocates during `work` from this heap.
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        let _before = Before::set(self, Bounds::NONE);
        work()
    }

    /// Takes all that tree-sitter allocates during `work` from this heap. Asks `goes_on` from time to time, with the
    /// bytes that tree-sitter holds on this thread, and each time these are above `most`. If it says no, `work` is ended in
    /// its middle, and `None` returned; all that lies in the heap is freed with it.
    ///
    /// # Safety
    ///
    /// `work` must call tree-sitter by functions that are declared as `extern "C-unwind"`. After `None`, parsers in this
    /// heap must be forgotten, and its trees be dropped before it.
    pub unsafe fn bounded<T>(
        &self,
        most: usize,
        goes_on: &dyn Fn(usize) -> bool,
        work: impl FnOnce() -> T,
    ) -> Option<T> {
        // SAFETY: only the lifetime changes; the bounds are removed before this function returns.
        let goes_on: NonNull<dyn Fn(usize) -> bool> = unsafe { std::mem::transmute(NonNull::from(goes_on)) };
        let before = Before::set(self, Bounds { most, goes_on: Some(goes_on) });
        // The looks at a text depend on that text alone.
        USAGE.with(|usage| usage.left.set(BETWEEN_LOOKS));
        let result = catch_unwind(AssertUnwindSafe(work));
        drop(before);
        match result {
            Ok(result) => Some(result),
            Err(payload) if payload.is::<ParseAborted>() => {
                self.is_spoilt.store(true, Ordering::Relaxed);
                None
            }
            Err(panic) => resume_unwind(panic),
        }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        let heap = self.heap.as_ptr();
        // SAFETY: nothing else uses the heap any more, nor a block of it if work in it was ended, as its caller promises.
        // Blocks of other heaps live on.
        unsafe { if *self.is_spoilt.get_mut() { mi_heap_destroy(heap) } else { mi_heap_delete(heap) } }
    }
}

/// Payload of the unwinding that ends a parse.
struct ParseAborted;

/// Restores the thread's heap and bounds on drop.
struct Before(*mut mi_heap_t, Bounds);

impl Before {
    fn set(heap: &Heap, bounds: Bounds) -> Self {
        USAGE.with(|usage| Self(usage.heap.replace(heap.heap.as_ptr()), usage.bounds.replace(bounds)))
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        USAGE.with(|usage| {
            usage.heap.set(self.0);
            usage.bounds.set(self.1);
        });
    }
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

/// Work that leaves much free memory behind. When this is dropped, the memory goes back to the system; an idle process
/// would keep it otherwise.
#[derive(Debug)]
pub struct MemoryRelease(());

/// Begins such work. A thread that works again and again drops this after a pause: it would need the memory at once.
pub fn work() -> MemoryRelease {
    MemoryRelease(())
}

impl Drop for MemoryRelease {
    fn drop(&mut self) {
        // SAFETY: only unused memory is returned, and any thread may ask for it.
        unsafe { mi_collect(true) }
    }
}

/// Makes tree-sitter use this allocator. Without it, in a program that only uses the library, parsing is bounded between
/// the parser's steps only.
///
/// # Safety
///
/// Call it at the start of `main`: nothing from tree-sitter and no other thread may exist yet.
pub unsafe fn install() {
    // SAFETY: the four are one family, aligned as C's own, and never return null; the rest the caller promises.
    unsafe { ts_set_allocator(malloc, calloc, realloc, free) }
    IS_INSTALLED.store(true, Ordering::Relaxed);
}

unsafe extern "C" {
    /// Tree-sitter's own, for functions that unwind.
    fn ts_set_allocator(
        malloc: extern "C-unwind" fn(usize) -> *mut c_void,
        calloc: extern "C-unwind" fn(usize, usize) -> *mut c_void,
        realloc: unsafe extern "C-unwind" fn(*mut c_void, usize) -> *mut c_void,
        free: unsafe extern "C" fn(*mut c_void),
    );
}

extern "C-unwind" fn malloc(size: usize) -> *mut c_void {
    USAGE.with(|usage| {
        usage.admit(size);
        let heap = usage.heap.get();
        // SAFETY: any size may be asked for, and the heap is in use.
        usage.given(unsafe { if heap.is_null() { mi_malloc(size) } else { mi_heap_malloc(heap, size) } }, size)
    })
}

extern "C-unwind" fn calloc(count: usize, size: usize) -> *mut c_void {
    USAGE.with(|usage| {
        usage.admit(count.saturating_mul(size));
        let heap = usage.heap.get();
        // SAFETY: any count and size may be asked for, their product is checked, and the heap is in use.
        let memory = unsafe { if heap.is_null() { mi_calloc(count, size) } else { mi_heap_calloc(heap, count, size) } };
        usage.given(memory, size)
    })
}

unsafe extern "C-unwind" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    USAGE.with(|usage| {
        usage.admit(size);
        let heap = usage.heap.get();
        // SAFETY: tree-sitter gives back what one of these functions returned, and the heap is in use.
        unsafe {
            usage.given_back(old);
            usage.given(if heap.is_null() { mi_realloc(old, size) } else { mi_heap_realloc(heap, old, size) }, size)
        }
    })
}

unsafe extern "C" fn free(memory: *mut c_void) {
    // SAFETY: tree-sitter gives back what one of these functions returned.
    unsafe {
        USAGE.with(|usage| usage.given_back(memory));
        mi_free(memory);
    }
}

/// C's own function for an assertion that fails: ends the parse, if one is under way, instead of the process.
#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __assert_fail(
    assertion: *const std::ffi::c_char,
    file: *const std::ffi::c_char,
    line: std::ffi::c_uint,
    _function: *const std::ffi::c_char,
) -> ! {
    if USAGE.with(|usage| usage.bounds.get().goes_on.is_some()) {
        resume_unwind(Box::new(ParseAborted));
    }
    // SAFETY: the compiler passes texts that are never freed.
    let [assertion, file] = [assertion, file].map(|text| unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy());
    panic!("{file}:{line}: {assertion} does not hold");
}

impl Usage {
    /// Unwinds if there are bounds that do not allow more.
    #[inline]
    fn admit(&self, size: usize) {
        let left = self.left.get();
        if left > 0 && self.held.get().saturating_add(size) <= self.bounds.get().most {
            self.left.set(left - 1);
        } else {
            self.look(size);
        }
    }

    #[cold]
    fn look(&self, size: usize) {
        self.left.set(BETWEEN_LOOKS);
        let Some(goes_on) = self.bounds.get().goes_on else { return };
        // SAFETY: bounds are removed before what they refer to is.
        if !unsafe { goes_on.as_ref() }(self.held.get().saturating_add(size)) {
            // No hook is called: this is no panic.
            resume_unwind(Box::new(ParseAborted));
        }
    }

    /// Counts memory that tree-sitter gives back.
    ///
    /// # Safety
    ///
    /// The memory must come from one of these functions and still be allocated.
    unsafe fn given_back(&self, memory: *mut c_void) {
        // SAFETY: the caller promises it.
        let size = unsafe { mi_usable_size(memory) };
        // A tree may be dropped by another thread than the one that made it.
        self.held.set(self.held.get().saturating_sub(size));
    }

    /// Counts memory given to tree-sitter, and aborts if there is none: tree-sitter does not check for null.
    fn given(&self, memory: *mut c_void, size: usize) -> *mut c_void {
        if memory.is_null() && size > 0 {
            std::process::abort();
        }
        // SAFETY: it was made a moment ago, or is null, which has no size.
        self.held.set(self.held.get() + unsafe { mi_usable_size(memory) });
        memory
    }
}
