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
pub mod reading;
pub mod session;
pub mod tokens;
mod trace;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

pub use envelope::{Envelope, Format, Freshness, Question, SHARED, SharedArguments, ToolProperties, answered, refused};
pub use error::{Code, Error};
pub use notes::Notes;
pub use trace::{TRACE_PARENT, Trace};

use codelode_base::model::Progress;

/// Key in `_meta` of a result, `false` when nothing was found. Models are not shown it; `codelode --server` ends with the
/// status of it.
pub const FOUND: &str = "io.codelode/found";
/// Mark, in `_meta` of a question, of one that comes from another node of a fleet: the node's name, and its proof.
pub const FROM_NODE: &str = "io.codelode/from-node";
/// Key, in `_meta` of such a question, of how many documents of the others hold which words.
pub const FREQUENCIES: &str = "io.codelode/frequencies";

/// Origin of a call, with its progress callback.
#[derive(Clone, Default)]
pub struct Request {
    /// Roots of the client, in its order. A question that names no repository is about all of them.
    pub roots: Vec<PathBuf>,
    /// Roots that cannot be used, each with its fault, for this answer to name.
    pub unusable_roots: Vec<String>,
    /// Checkouts that are asked together, because the caller works in all of them and names none: one that cannot be opened is
    /// named in the answer, and the others answer.
    pub among: Vec<PathBuf>,
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
    /// Token of the caller, which travels with questions to other nodes of a fleet.
    pub bearer: Option<Arc<str>>,
    /// Whether another node of a fleet asks, which puts the answer together with others.
    pub is_from_node: bool,
    /// Of a search by another node: how many documents of the others hold which words.
    pub frequencies: Option<Value>,
    /// Trace under which logs tell of it.
    pub trace: Option<Arc<Trace>>,
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
