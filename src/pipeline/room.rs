//! How much memory a run may take, shared out to those who need it.

/// How many files may wait to be written while others are being read.
const WAITING: usize = 64;

/// How memory is shared out.
pub(super) struct Room {
    /// Threads that read; `None` for one on each core.
    pub threads: Option<usize>,
    /// Files that wait to be written.
    pub waiting: usize,
    /// Bytes that are gathered before they are written; `None` for as many as are useful.
    pub writer: Option<u64>,
}

impl Room {
    /// What a program of this kind takes at least.
    const BASE: u64 = 40_000_000;
    /// What a thread that parses ordinary files takes.
    const THREAD: u64 = 30_000_000;

    /// What may be used of so many bytes; there is always room for one file after the other.
    pub fn of(max_memory: Option<u64>) -> Self {
        let Some(most) = max_memory else { return Self { threads: None, waiting: WAITING, writer: None } };
        let room = most.saturating_sub(Self::BASE);
        let threads = (room / 2 / Self::THREAD).max(1);
        let waiting = usize::try_from(room / 4_000_000).unwrap_or(WAITING).clamp(1, WAITING);
        Self { threads: Some(threads as usize), waiting, writer: Some(room / 2) }
    }
}
