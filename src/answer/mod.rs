//! The one door: arguments in, envelope out. What every answer has in common, whatever was asked.
//!
//! [`answered`] reads a question's shared arguments, has the tool run, and keeps what it answers within the budget of tokens;
//! [`Notes`] take what the tool says beside its answer, [`Error`] says why there is none.

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

pub use envelope::{Asked, Envelope, Format, Freshness, Question, SHARED, SharedArguments, answered, refused};
pub use error::{Code, Error, nearest};
pub use notes::Notes;

use crate::model::Progress;

/// Who asks, and how they are told of progress.
#[derive(Clone, Default)]
pub struct Request {
    /// The client's roots, in its order; the first is meant when a call names no repository.
    pub roots: Vec<PathBuf>,
    /// Where the caller is; meant when it says no roots.
    pub directory: Option<PathBuf>,
    /// How they are told of progress.
    pub progress: Option<Arc<Progress<'static>>>,
    /// How long the caller waits for changed files to be read again; `None` for as long as is configured.
    pub patience: Option<Duration>,
    /// Set when the caller has given up.
    pub cancelled: Arc<AtomicBool>,
}

impl Request {
    /// Tells the caller of progress, where they want to be told.
    pub fn told(&self) -> impl Fn(u64, Option<u64>, &str) + Send + Sync + '_ {
        |done, of, what| {
            if let Some(progress) = &self.progress {
                progress(done, of, what);
            }
        }
    }

    /// Whether the caller has given up.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
