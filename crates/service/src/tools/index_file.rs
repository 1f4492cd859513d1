//! Reads one file again.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::left_out::why_unread;
use super::summaries::{Summarized, summarized};
use super::{Call, Error, Tool};
use crate::catalog::runs::{self, RereadOutcome};

/// Update the index after one file changed; rarely needed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, absolute or relative to the working directory.
    path: String,
    /// Let a model summarize undocumented symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    use_ai_summaries: Option<bool>,
    /// No effect; for older clients.
    #[serde(default, rename = "context_providers")]
    #[schemars(extend("x-hidden" = true))]
    _context_providers: Option<bool>,
}

/// Outcome for the file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    success: bool,
    repo: String,
    file: String,
    /// `indexed`, `unchanged` or `removed`.
    message: &'static str,
    symbol_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    summaries: Option<Summarized>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    duration_seconds: f64,
}

/// See [`Args`].
pub struct IndexFile;

impl Tool for IndexFile {
    const NAME: &'static str = "index_file";
    const COMMAND: &'static str = "index-file";
    const POSITIONAL: &'static [&'static str] = &["path"];
    const READ_ONLY: bool = false;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let started = Instant::now();
        let RereadOutcome { repo, file, before } = runs::index_file(call, &args.path)?;
        let now = repo.snapshot.file(&file);
        let message = match (before, now.map(|view| view.number())) {
            (before, Some(now)) if before == Some(now) => "unchanged",
            (_, Some(_)) => "indexed",
            (Some(_), None) => "removed",
            (None, None) => {
                let reason = repo.snapshot.table().find(&file).and_then(|row| row.state.err());
                let reason = reason.map_or("it is ignored or missing", |reason| reason.as_str());
                let message = format!("{file} is not indexed: {reason}; see `list_skipped` of index_folder");
                return Err(Error::not_found(message));
            }
        };
        let symbol_count = now.map_or(0, |view| view.symbol_count());
        let duration_seconds = (started.elapsed().as_secs_f64() * 1e4).round() / 1e4;
        let mut warnings = Vec::new();
        warnings.extend(why_unread(now.into_iter()));
        let summaries = summarized(call, &repo.sidecar, args.use_ai_summaries, &mut warnings)?;
        let repo = repo.sidecar.repo.clone();
        Ok(Output { success: true, repo, file, message, symbol_count, summaries, warnings, duration_seconds })
    }
}
