//! Summaries by a model, as tools that index report them.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Call, Error};
use crate::catalog::summaries::{Summaries, after_index};
use codelode_store::Sidecar;

/// A report of how a model summarizes undocumented symbols.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summarized {
    provider: &'static str,
    model: String,
    /// Host that receives the code.
    host: String,
    /// Number of symbols summarised by this call.
    summarized: usize,
    /// Number of symbols still without a summary. A server continues in the background.
    summaries_pending: usize,
    /// Estimate of the tokens, sent and received, that all missing summaries would take.
    estimated_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_cost_usd: Option<f64>,
    /// Tokens sent and received, as counted by the service.
    used_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
}

/// Summarises what was indexed, if the caller or the configuration wants it.
pub fn summarized(
    call: &Call<'_>,
    sidecar: &Sidecar,
    wanted: Option<bool>,
    warnings: &mut Vec<String>,
) -> Result<Option<Summarized>, Error> {
    let Some(Summaries { model, estimate, done }) = after_index(call, sidecar, wanted, warnings)? else {
        return Ok(None);
    };
    // To the hundredth of a cent.
    let cost = |tokens: (u64, u64)| Some((model.cost(tokens)? * 10_000.0).ceil() / 10_000.0);
    Ok(Some(Summarized {
        provider: model.name(),
        model: model.model().to_owned(),
        host: model.host().to_owned(),
        summarized: done.summarized,
        summaries_pending: done.pending,
        estimated_tokens: estimate.0 + estimate.1,
        estimated_cost_usd: cost(estimate),
        used_tokens: done.tokens.0 + done.tokens.1,
        cost_usd: cost(done.tokens),
    }))
}
