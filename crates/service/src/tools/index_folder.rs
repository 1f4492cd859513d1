//! Indexes a folder, or updates its index.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indexes::{open_sidecar, timestamp};
use super::left_out::{LeftOut, left_out, unread};
use super::summaries::{Summarized, summarized};
use super::{Call, Error, Tool};
use crate::catalog::context::linking;
use crate::catalog::{Options, Report, meaning, runs};
use codelode_store::Sidecar;

/// Add a local project folder to the index, or update it; rarely needed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The folder (default: the client's root).
    #[serde(default)]
    path: Option<String>,
    /// In gitignore syntax.
    #[serde(default)]
    extra_ignore_patterns: Vec<String>,
    /// Excluded paths to index: "dist/".
    #[serde(default)]
    include: Vec<String>,
    /// Compiler's SCIP index (default: index.scip).
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    scip: Option<String>,
    /// List skipped files and why.
    #[serde(default)]
    list_skipped: bool,
    /// Follow symbolic links inside the folder.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    follow_symlinks: bool,
    /// Read only changed files.
    #[serde(default = "yes")]
    #[schemars(extend("x-hidden" = "client"))]
    incremental: bool,
    /// Let a model summarize undocumented symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    use_ai_summaries: Option<bool>,
    /// Compute embeddings.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    embed: bool,
    /// Read dbt projects (default: as configured).
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    context_providers: Option<bool>,
}

fn yes() -> bool {
    true
}

/// Outcome of the run.
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
    /// Skipped entries by rule. A skipped folder counts once; build output and vendored code count by file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    skipped: BTreeMap<String, u64>,
    /// Skipped files, by path.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<LeftOut>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_head: Option<String>,
    /// Number of facts from each context provider.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    context: BTreeMap<String, BTreeMap<String, usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler: Option<Compiler>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summaries: Option<Summarized>,
    #[serde(skip_serializing_if = "Option::is_none")]
    embeddings: Option<Embeddings>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    discovery_ms: u64,
    parse_ms: u64,
    duration_seconds: f64,
}

/// Compiler index used to resolve names.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Compiler {
    /// Path of the SCIP index.
    path: String,
    /// Number of files that are still as the compiler saw them.
    documents: u64,
    occurrences: u64,
    /// Number of files changed since the compiler's index was made; it does not help to resolve their names.
    #[serde(skip_serializing_if = "is_zero")]
    other_text: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// See [`Args`].
pub struct IndexFolder;

impl Tool for IndexFolder {
    const NAME: &'static str = "index_folder";
    const COMMAND: &'static str = "index";
    const POSITIONAL: &'static [&'static str] = &["path"];
    const READ_ONLY: bool = false;
    const LIST: Option<&'static str> = Some("left_out");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let included = args.include.iter().map(|pattern| format!("!{}", pattern.trim_start_matches("./")));
        let options = Options {
            extra_ignore: args.extra_ignore_patterns.iter().cloned().chain(included).collect(),
            follow_symlinks: args.follow_symlinks,
            from_scratch: !args.incremental,
            compiler: args.scip.as_deref().map(|path| runs::file(call, path)).transpose()?,
            ..Options::default()
        };
        let report = runs::index_folder(call, args.path.as_deref(), &options)?;
        let mut output = output(&report, call.config.redact_source_root);
        output.warnings.extend(unread(call, &report.sidecar)?);
        if args.list_skipped {
            output.left_out = Some(call.page(left_out(call, &report.sidecar)?, usize::MAX));
        }
        call.found(true);
        if args.context_providers.unwrap_or(true) {
            output.context = enriched(call, &report.sidecar)?;
        }
        output.summaries = summarized(call, &report.sidecar, args.use_ai_summaries, &mut output.warnings)?;
        // Last, since a server begins it beside the rest of its answer.
        output.embeddings = args.embed.then(|| embedded(call, &report.sidecar)).transpose()?;
        Ok(output)
    }
}

/// Counts of what context providers describe, by provider.
fn enriched(call: &Call<'_>, sidecar: &Sidecar) -> Result<BTreeMap<String, BTreeMap<String, usize>>, Error> {
    let context = linking(call, &open_sidecar(call, sidecar.clone())?).unwrap_or_default();
    let counted = context.counts().filter(|(_, counts)| !counts.is_empty());
    Ok(counted.map(|(name, counts)| (name.to_owned(), counts.iter().cloned().collect())).collect())
}

/// Embeddings of this index.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Embeddings {
    provider: &'static str,
    model: String,
    /// Number of texts embedded by this call.
    embedded: usize,
    /// Number of texts not yet embedded. A server embeds them in the background and leaves this out.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<usize>,
}

/// Embeds what was indexed: at once for a person, and in the background of a server.
fn embedded(call: &Call<'_>, sidecar: &Sidecar) -> Result<Embeddings, Error> {
    let provider = meaning::provider(call)?;
    let made = |embedded: usize, missing: Option<usize>| {
        Ok(Embeddings { provider: provider.name(), model: provider.model().to_owned(), embedded, missing })
    };
    if !call.request.for_people {
        meaning::begin(call, sidecar);
        return made(0, None);
    }
    let repo = open_sidecar(call, sidecar.clone())?;
    let missing = meaning::missing(call, &repo, &*provider, false)?;
    let options = meaning::Options { provider: &provider, batch: None, force: false, until: None };
    let done = meaning::run(call, &repo, &missing, &options).unwrap_or_else(|failure| {
        let (err, embedded) = *failure;
        call.note("embedding_warning", err.message);
        embedded
    });
    made(done.embedded, Some(done.missing))
}

/// The result of an indexing run, as an answer.
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
        left_out: None,
        git_head: facts.git_head.clone(),
        context: BTreeMap::new(),
        compiler: facts.compiler.as_ref().map(|compiler| Compiler {
            path: compiler.path.clone(),
            documents: compiler.documents,
            occurrences: compiler.occurrences,
            other_text: compiler.other_text,
        }),
        summaries: None,
        embeddings: None,
        warnings: warnings.clone(),
        discovery_ms: discovery.as_millis() as u64,
        parse_ms: parsing.as_millis() as u64,
        duration_seconds: ((*discovery + *parsing).as_secs_f64() * 1000.0).round() / 1000.0,
    }
}
