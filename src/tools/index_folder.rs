//! Indexes a folder, or brings its index up to date.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::without_effect;
use super::indexes::timestamp;
use super::{Call, Error, Tool};
use crate::catalog::{Options, Report, runs};

/// Index a local project folder now, or update its index. Rarely needed: the first question does it, and edits are
/// picked up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The folder (default: the client's root).
    #[serde(default)]
    path: Option<String>,
    /// As in .gitignore.
    #[serde(default)]
    extra_ignore_patterns: Vec<String>,
    /// Follow links that stay inside the folder.
    #[serde(default)]
    follow_symlinks: bool,
    /// Read only what changed.
    #[serde(default = "yes")]
    incremental: bool,
    /// Summarise by a model, where one is set up.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    use_ai_summaries: Option<bool>,
    /// Let context providers add what they know.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    context_providers: Option<bool>,
}

fn yes() -> bool {
    true
}

/// What the run did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    success: bool,
    repo: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder_path: Option<String>,
    indexed_at: String,
    file_count: u64,
    symbol_count: u64,
    languages: BTreeMap<String, u64>,
    files_added: usize,
    files_changed: usize,
    files_removed: usize,
    /// How many entries each rule left out; a folder that was not entered counts once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    skipped: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_head: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    discovery_ms: u64,
    parse_ms: u64,
    duration_seconds: f64,
}

/// See [`Args`].
pub struct IndexFolder;

impl Tool for IndexFolder {
    const NAME: &'static str = "index_folder";
    const COMMAND: &'static str = "index";
    const POSITIONAL: &'static [&'static str] = &["path"];
    const READ_ONLY: bool = false;
    const LIST: Option<&'static str> = None;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let options = Options {
            extra_ignore: args.extra_ignore_patterns,
            follow_symlinks: args.follow_symlinks,
            from_scratch: !args.incremental,
            ..Options::default()
        };
        let report = runs::index_folder(call, args.path.as_deref(), &options)?;
        let mut output = output(&report, call.config.redact_source_root);
        let (summaries, providers) = (args.use_ai_summaries, args.context_providers);
        output.warnings.extend(without_effect(&[("use_ai_summaries", summaries), ("context_providers", providers)]));
        Ok(output)
    }
}

/// What a run did, as an answer.
fn output(report: &Report, redact: bool) -> Output {
    let Report { sidecar, facts, added, changed, removed, warnings, discovery, parsing } = report;
    Output {
        success: true,
        repo: sidecar.repo.clone(),
        folder_path: (!redact).then(|| sidecar.root.to_string_lossy().into_owned()),
        indexed_at: timestamp(facts.indexed_at),
        file_count: facts.files,
        symbol_count: facts.symbols,
        languages: facts.languages.clone(),
        files_added: added.len(),
        files_changed: changed.len(),
        files_removed: removed.len(),
        skipped: facts.skipped.clone(),
        git_head: facts.git_head.clone(),
        warnings: warnings.clone(),
        discovery_ms: discovery.as_millis() as u64,
        parse_ms: parsing.as_millis() as u64,
        duration_seconds: ((*discovery + *parsing).as_secs_f64() * 1000.0).round() / 1000.0,
    }
}
