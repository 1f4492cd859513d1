//! Answers of all tools: arguments, token budget, formats and errors.
//!
//! [`answered`] reads the shared arguments, runs the tool, and keeps its answer within the token budget. [`Notes`]
//! collect facts beside the answer; [`Error`] is a failure.

pub mod arguments;
pub mod budget;
pub mod compact;
mod envelope;
mod error;
mod notes;
pub mod session;
pub mod tokens;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use envelope::{Envelope, Format, Freshness, Question, SHARED, SharedArguments, ToolProperties, answered, refused};
pub use error::{Code, Error};
pub use notes::Notes;

use crate::model::Progress;

/// Origin of a call, with its progress callback.
#[derive(Clone, Default)]
pub struct Request {
    /// Roots of the client, in its order; the first is the default repository.
    pub roots: Vec<PathBuf>,
    /// Directory of the caller, used without roots.
    pub directory: Option<PathBuf>,
    /// Progress callback.
    pub progress: Option<Arc<Progress<'static>>>,
    /// Maximum wait for changed files; `None` for the configured one.
    pub patience: Option<Duration>,
    /// Whether the index answers as it is: of the disk, only the files that an answer names are looked at.
    pub as_indexed: bool,
    /// Whether a person reads the answer: texts are whole, because tokens do not matter.
    pub for_people: bool,
    /// Set when the caller has cancelled.
    pub cancelled: Arc<AtomicBool>,
}

impl Request {
    /// Progress callback of the caller; does nothing without one.
    pub fn progress(&self) -> impl Fn(u64, Option<u64>, &str) + Send + Sync + '_ {
        |done, of, what| {
            if let Some(progress) = &self.progress {
                progress(done, of, what);
            }
        }
    }

    /// Whether the caller has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
