//! Computes the embeddings of a repository's symbols.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Error, Tool, ToolTier, indexes};
use crate::catalog::meaning::{self, Options, Provider};

/// Compute missing embeddings for search by meaning, if a provider is set up. The first such search does it too.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Texts per request (default: 50, or as configured).
    #[serde(default)]
    batch_size: Option<u32>,
    /// Recompute existing ones.
    #[serde(default)]
    force: bool,
    /// Only their number and cost.
    #[serde(default)]
    estimate_only: bool,
}

/// Counts of what was embedded.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    success: bool,
    repo: String,
    provider: &'static str,
    model: String,
    /// Host that receives the texts; absent if local.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    dimensions: usize,
    /// Number of texts embedded by this call.
    embedded: usize,
    /// Number of symbols already embedded.
    cached: usize,
    /// Number of symbols that need no embedding: undocumented constants, generated code.
    skipped: usize,
    /// Number of texts not yet embedded.
    missing: usize,
    symbol_count: usize,
    /// Estimated tokens that this call embedded; with `estimate_only`, tokens still to embed.
    estimated_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_cost_usd: Option<f64>,
    duration_seconds: f64,
}

/// See [`Args`].
pub struct EmbedRepo;

impl Tool for EmbedRepo {
    const NAME: &'static str = "embed_repo";
    const COMMAND: &'static str = "embed";
    const POSITIONAL: &'static [&'static str] = &["repo"];
    // It may cost money, and the first question by meaning does it.
    const SHOWN: Option<ToolTier> = None;
    const READ_ONLY: bool = false;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let began = Instant::now();
        let provider = meaning::provider(call)?;
        let repo = indexes::open_now(call, args.repo.as_deref())?;
        let missing = meaning::missing(call, &repo, &*provider, args.force)?;
        let mut counts = missing.counts;
        if args.estimate_only || provider.host().is_some() {
            counts.tokens = crate::catalog::estimated_tokens(&repo.snapshot, &missing);
            let cost = cost(&*provider, counts.tokens).map(|cost| format!(", ${cost}")).unwrap_or_default();
            let estimate = format!("embedding, about {} tokens{cost}", counts.tokens);
            call.request.progress()(0, Some(counts.missing as u64), &estimate);
        }
        if !args.estimate_only {
            let batch = args.batch_size.map(|size| size.max(1) as usize);
            let options = Options { provider: &provider, batch, force: args.force, until: None };
            counts = meaning::run(call, &repo, &missing, &options).map_err(|failure| {
                let (err, done) = *failure;
                let kept = if args.force { "nothing is replaced" } else { "embeddings so far are kept" };
                let message = format!("{}; {kept}: {} of {} texts", err.message, done.embedded, missing.counts.missing);
                Error { message, ..err }.with("embedded", done.embedded).with("missing", done.missing)
            })?;
        }
        call.found(true);
        Ok(Output {
            success: true,
            repo: repo.sidecar.repo.clone(),
            provider: provider.name(),
            model: provider.model().to_owned(),
            host: provider.host().map(str::to_owned),
            dimensions: counts.dimensions,
            embedded: counts.embedded,
            cached: counts.cached,
            skipped: counts.skipped,
            missing: counts.missing,
            symbol_count: counts.symbols,
            estimated_tokens: counts.tokens,
            estimated_cost_usd: cost(&*provider, counts.tokens),
            duration_seconds: (began.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
        })
    }
}

/// Price of tokens in dollars, to the hundredth of a cent.
fn cost(provider: &dyn Provider, tokens: u64) -> Option<f64> {
    Some((provider.price()? * tokens as f64 / 100.0).ceil() / 10_000.0)
}
