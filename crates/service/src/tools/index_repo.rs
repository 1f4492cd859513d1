//! Indexes a commit of a remote repository, or updates its index.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indexes::timestamp;
use super::left_out::unread;
use super::summaries::{Summarized, summarized};
use super::{Call, Error, Tool, ToolTier};
use crate::catalog::Report;
use crate::catalog::runs::{self, Indexed};

/// Clone, load and index a remote git repository by URL, on GitHub or elsewhere, at any ref.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// owner/name or git URL.
    url: String,
    /// Branch, tag or commit.
    #[serde(default)]
    ref_name: Option<String>,
    /// Read only changed files.
    #[serde(default = "yes")]
    #[schemars(extend("x-hidden" = "client"))]
    incremental: bool,
    /// Let a model summarize undocumented symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    use_ai_summaries: Option<bool>,
}

fn yes() -> bool {
    true
}

/// Outcome of the run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    success: bool,
    /// Id of the repository, for further calls.
    repo: String,
    url: String,
    /// Full ref, or the commit.
    #[serde(rename = "ref")]
    reference: String,
    git_head: String,
    /// Hash of the commit's tree in git.
    tree: String,
    /// Whether this commit was already indexed.
    up_to_date: bool,
    indexed_at: String,
    file_count: u64,
    symbol_count: u64,
    languages: BTreeMap<String, u64>,
    files_added: usize,
    files_changed: usize,
    files_removed: usize,
    /// Skipped entries by rule. A skipped folder counts once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    skipped: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summaries: Option<Summarized>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    discovery_ms: u64,
    parse_ms: u64,
    duration_seconds: f64,
}

/// See [`Args`].
pub struct IndexRepo;

impl Tool for IndexRepo {
    const NAME: &'static str = "index_repo";
    const COMMAND: &'static str = "index-repo";
    const POSITIONAL: &'static [&'static str] = &["url", "ref_name"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    const READ_ONLY: bool = false;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let reference = args.ref_name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let indexed = runs::index_commit(call, &args.url, reference, args.incremental)?;
        let Indexed { report, up_to_date, folder, failure } = indexed;
        let unread = unread(call, &report.sidecar)?;
        let sidecar = report.sidecar.clone();
        let mut output = output(call, report, up_to_date);
        output.warnings.extend(failure.map(|failure| format!("read without git, which failed: {}", failure.message)));
        output.summaries = summarized(call, &sidecar, args.use_ai_summaries, &mut output.warnings)?;
        if !folder.is_empty() {
            output.warnings.push(format!("the whole repository is indexed, not only {folder}"));
        }
        output.warnings.extend(unread);
        Ok(output)
    }
}

fn output(call: &Call<'_>, report: Report, up_to_date: bool) -> Output {
    let Report { sidecar, facts, added, changed, removed, warnings, discovery, parsing } = report;
    call.repo(&sidecar.repo);
    let remote = sidecar.remote;
    let (url, reference, tree) = remote.map(|remote| (remote.url, remote.reference, remote.tree)).unwrap_or_default();
    Output {
        success: true,
        repo: sidecar.repo,
        url,
        reference,
        git_head: facts.git_head.unwrap_or_default(),
        tree,
        up_to_date,
        indexed_at: timestamp(facts.indexed_at),
        file_count: facts.files,
        symbol_count: facts.symbols,
        languages: facts.languages,
        files_added: added.len(),
        files_changed: changed.len(),
        files_removed: removed.len(),
        skipped: facts.skipped,
        summaries: None,
        warnings,
        discovery_ms: discovery.as_millis() as u64,
        parse_ms: parsing.as_millis() as u64,
        duration_seconds: ((discovery + parsing).as_secs_f64() * 1000.0).round() / 1000.0,
    }
}
