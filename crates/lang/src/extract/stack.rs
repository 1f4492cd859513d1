//! Stacks for parsing. Tree-sitter releases a parse that it discards recursively, as deep as there are open tokens, and
//! an overflow would end the process. So a text is parsed on a stack whose size is a bound for its length.

use std::cell::Cell;

use crate::languages::TimeAtWork;

/// Stack for each byte of a text: one frame of the recursion takes about 100 bytes, and a token has at least one byte.
const PER_BYTE: usize = 256;
/// Stack for everything else.
const BASE: usize = 512 << 10;
/// Stack of a thread that nobody chose, in Rust and in rayon.
const USUAL: usize = 2 << 20;

thread_local! {
    static HAS: Cell<usize> = const { Cell::new(USUAL) };
}

/// Bytes of stack for parsing a text of this size.
pub fn stack_for(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX).saturating_mul(PER_BYTE).saturating_add(BASE).max(USUAL)
}

/// Declares that this thread was made with a stack of this many bytes.
pub fn has_stack(bytes: usize) {
    HAS.set(bytes);
}

/// Runs `work` with a stack for parsing a text of this size: here, or on a thread made for it. `None` if the system
/// has no memory for that.
pub fn with_stack_for<T: Send>(size: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    let needed = stack_for(size as u64);
    if needed <= HAS.get() {
        return Some(work());
    }
    std::thread::scope(|scope| {
        let prepared = move || {
            has_stack(needed);
            let time = TimeAtWork::begin();
            (work(), time.taken())
        };
        let thread = std::thread::Builder::new().stack_size(needed).spawn_scoped(scope, prepared).ok()?;
        let (done, time) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        TimeAtWork::add(time);
        Some(done)
    })
}
