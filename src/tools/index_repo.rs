//! Indexes a commit of a repository elsewhere, or brings its index up to date.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::without_effect;
use super::github::{self, Way};
use super::indexes::{pipeline_error, timestamp};
use super::remotes::{open_clone, remote, with_cache};
use super::{Call, Code, Error, Shown, Tool};
use crate::git::{Found, Remote};
use crate::model::SourceTree;
use crate::pipeline::{self, Options, Report, Watcher};
use crate::store::Sidecar;

/// Index a git repository that is not on this machine: GitHub or any other, at any ref.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// owner/name or git URL.
    url: String,
    /// Branch, tag or commit (default: the default branch).
    #[serde(default)]
    ref_name: Option<String>,
    /// Read only what changed.
    #[serde(default = "yes")]
    incremental: bool,
    /// Summarise by a model, where one is set up.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    use_ai_summaries: Option<bool>,
}

fn yes() -> bool {
    true
}

/// What the run did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    success: bool,
    /// The id to ask it by.
    repo: String,
    url: String,
    /// The ref in full, or the commit.
    #[serde(rename = "ref")]
    reference: String,
    git_head: String,
    /// The commit's tree.
    tree: String,
    /// The index was of this commit already.
    up_to_date: bool,
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    discovery_ms: u64,
    parse_ms: u64,
    duration_seconds: f64,
}

/// See [`Args`].
pub struct IndexRepo;

/// How long a run waits for another that writes the same index.
const PATIENCE: Duration = Duration::from_secs(60);

impl Tool for IndexRepo {
    const NAME: &'static str = "index_repo";
    const COMMAND: &'static str = "index-repo";
    const POSITIONAL: &'static [&'static str] = &["url", "ref_name"];
    const SHOWN: Option<Shown> = Some(Shown::Full);
    const READ_ONLY: bool = false;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let remote = remote(call, &args.url)?;
        let reference = args.ref_name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let by_git = || by_git(call, &remote, reference, args.incremental);
        let (indexed, failure) =
            github::either(call, &remote, by_git, |way| by_github(call, &remote, way, reference, args.incremental))?;
        let Indexed { report, up_to_date, folder } = indexed;
        let mut output = output(call, report, up_to_date);
        output.warnings.extend(failure.map(|failure| format!("read without git, which failed: {}", failure.message)));
        output.warnings.extend(without_effect(&[("use_ai_summaries", args.use_ai_summaries)]));
        if !folder.is_empty() {
            output.warnings.push(format!("the whole repository is indexed, not only {folder}"));
        }
        Ok(output)
    }
}

/// What became of a commit, whichever way it came.
struct Indexed {
    report: Report,
    /// The index was of it already.
    up_to_date: bool,
    /// The folder that was named with it.
    folder: String,
}

/// By git.
fn by_git(call: &Call<'_>, remote: &Remote, reference: Option<&str>, incremental: bool) -> Result<Indexed, Error> {
    let located = with_cache(call, |cache, wish| cache.find(remote, reference, wish))?;
    let sidecar = sidecar(remote, &located.found, reference);
    if let Some(report) = unchanged(call, &sidecar, &located.found, incremental) {
        return Ok(Indexed { report, up_to_date: true, folder: located.found.folder });
    }
    let opened = open_clone(call, |cache, wish| cache.open_located(remote, reference, located, wish))?;
    let report = index(call, &opened.commit, sidecar, None, incremental)?;
    Ok(Indexed { report, up_to_date: false, folder: opened.found.folder })
}

/// By GitHub's REST interface: from an archive, or file by file.
fn by_github(
    call: &Call<'_>,
    remote: &Remote,
    way: &Way<'_>,
    reference: Option<&str>,
    incremental: bool,
) -> Result<Indexed, Error> {
    let (found, commit) = github::find(way, remote, reference)?;
    let sidecar = sidecar(remote, &found, reference);
    if let Some(report) = unchanged(call, &sidecar, &found, incremental) {
        return Ok(Indexed { report, up_to_date: true, folder: found.folder });
    }
    let tree = github::open(call, way, commit)?;
    let report = index(call, &tree, sidecar, way.max_files, incremental)?;
    Ok(Indexed { report, up_to_date: false, folder: found.folder })
}

/// The index of a commit that was found, if there is one and nothing else is asked for.
fn unchanged(call: &Call<'_>, sidecar: &Sidecar, found: &Found, incremental: bool) -> Option<Report> {
    let known = || pipeline::unchanged(call.cx.indexes.registry(), sidecar, &found.commit, &call.cx.config.secrets);
    incremental.then(known).flatten()
}

/// Where the index of what was found is. The default branch, asked for without a name, has the shorter id.
pub fn sidecar(remote: &Remote, found: &Found, reference: Option<&str>) -> Sidecar {
    let default = reference.is_none() && remote.place.is_none();
    pipeline::sidecar_of_remote(remote, &found.reference, default)
}

/// Indexes the files of a commit, by whichever way they are read. `max_files` is the limit of that way.
pub fn index(
    call: &Call<'_>,
    tree: &dyn SourceTree,
    sidecar: Sidecar,
    max_files: Option<usize>,
    incremental: bool,
) -> Result<Report, Error> {
    let tell = |at: u64, of: Option<u64>, what: &str| {
        if let Some(progress) = &call.request.progress {
            progress(at, of, what);
        }
    };
    let watcher = Watcher { progress: &tell, cancelled: &call.request.cancelled, patience: PATIENCE };
    let options = Options { from_scratch: !incremental, ..Options::default() };
    let report = pipeline::index_tree(tree, sidecar.clone(), max_files, &call.cx.config, &options, &watcher);
    let report = report.map_err(|err| pipeline_error(err, &sidecar))?;
    if report.facts.files == 0 {
        let message = format!("nothing in {} at {} can be indexed", report.sidecar.root.display(), tree.commit());
        return Err(Error::new(Code::NotFound, message).with("skipped", serde_json::json!(report.facts.skipped)));
    }
    call.cx.indexes.close(&report.sidecar.repo);
    Ok(report)
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
        warnings,
        discovery_ms: discovery.as_millis() as u64,
        parse_ms: parsing.as_millis() as u64,
        duration_seconds: ((discovery + parsing).as_secs_f64() * 1000.0).round() / 1000.0,
    }
}
