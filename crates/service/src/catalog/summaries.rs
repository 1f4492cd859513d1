//! Summaries after an indexing run. A person waits for them and sees the progress; a server makes them in the
//! background. The index can be searched before.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::Caller;
use super::errors::store_error;
use crate::answer::Error;
use codelode_base::config::Config;
use codelode_base::model::Progress;
use codelode_index::pipeline::{self, Summarized, Summarizing, SummaryError, Unsummarized};
use codelode_index::summarize::{self, HOW, Summarizer};
use codelode_store::{Sidecar, Snapshot};

/// Maximum wait for another process that summarises the same store.
const PATIENCE: Duration = Duration::from_secs(10);

/// Summaries after an indexing run.
pub struct Summaries {
    /// The model.
    pub model: Summarizer,
    /// Estimated tokens to send and to receive for all missing summaries.
    pub estimate: (u64, u64),
    /// Result so far.
    pub done: Summarized,
}

/// Summarises an indexed checkout, if the caller or else the configuration wants it. Problems become warnings, because
/// the index is useful without summaries.
pub fn after_index(
    caller: &Caller<'_>,
    sidecar: &Sidecar,
    wanted: Option<bool>,
    warnings: &mut Vec<String>,
) -> Result<Option<Summaries>, Error> {
    if !wanted.unwrap_or(caller.config.use_ai_summaries) {
        return Ok(None);
    }
    let Some(model) = set_up(caller.config) else {
        warnings.push(format!("use_ai_summaries has no effect: no model is set up; {HOW}"));
        return Ok(None);
    };
    let stored = |err| store_error(err, sidecar);
    let store = caller.indexes.registry().store(&sidecar.store);
    let snapshot = store.snapshot(&sidecar.snapshot).map_err(stored)?;
    let missing = pipeline::unsummarized(&snapshot);
    let estimate = model.estimate(missing.len(), missing.letters);
    let mut done = Summarized { pending: missing.len(), ..Summarized::default() };
    if !caller.request.for_people {
        begin(caller, sidecar);
        return Ok(Some(Summaries { model, estimate, done }));
    }
    let tell = caller.request.progress();
    let cost = model.cost(estimate).map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
    tell(0, Some(missing.len() as u64), &format!("summarising, about {} tokens{cost}", estimate.0 + estimate.1));
    match run(&snapshot, &missing, &model, caller.config.models.summary_budget, &tell, &caller.request.cancelled) {
        Ok(summarized) => done = summarized,
        Err((err, summarized)) => {
            done = summarized;
            warnings.push(format!("{} symbols are not summarised: {err}", done.pending));
        }
    }
    Ok(Some(Summaries { model, estimate, done }))
}

/// The configured model for summaries, if any.
pub fn set_up(config: &Config) -> Option<Summarizer> {
    summarize::summarizer(config)
}

/// Starts summarising a checkout in the background.
pub(super) fn begin(caller: &Caller<'_>, sidecar: &Sidecar) {
    let Some(model) = set_up(caller.config) else { return };
    let budget = caller.config.models.summary_budget;
    caller.models.background.start("summaries", caller.indexes.registry(), sidecar, true, move |snapshot| {
        let missing = pipeline::unsummarized(snapshot);
        let run = run(snapshot, &missing, &model, budget, &codelode_base::model::unfollowed, &Arc::default());
        if let Err((err, done)) = run {
            tracing::warn!(%err, "{} symbols are not summarised", done.pending);
        }
    });
}

fn run(
    snapshot: &Snapshot,
    missing: &Unsummarized,
    model: &Summarizer,
    budget: Option<u64>,
    progress: &Progress<'_>,
    cancelled: &Arc<AtomicBool>,
) -> Result<Summarized, (SummaryError, Summarized)> {
    let how = Summarizing { model, budget, progress, cancelled, patience: PATIENCE };
    pipeline::summarize(snapshot, missing, &how)
}
