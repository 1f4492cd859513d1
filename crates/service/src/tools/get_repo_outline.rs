//! A repository at a glance.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::imported::Imported;
use super::indexes::{self, timestamp};
use super::{Call, Error, Freshness, Tool, related};
use codelode_base::model::Kind;
use codelode_query as query;

/// Summarize an unfamiliar repository: overview of size, directories, languages, kinds of symbols, central files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
}

/// The overview.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    repo: String,
    indexed_at: String,
    file_count: u64,
    symbol_count: u64,
    line_count: u64,
    languages: BTreeMap<String, u64>,
    /// Files per top-level folder.
    directories: BTreeMap<String, u64>,
    symbol_kinds: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    most_imported_files: Vec<Imported>,
    /// The symbols most used, by PageRank.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    most_central_symbols: Vec<Central>,
    /// Skipped files by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    skipped: BTreeMap<String, u64>,
    /// The checkout is at another commit, or changed files could not be reread in time.
    is_stale: bool,
}

/// A central symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Central {
    symbol_id: String,
    /// Share of all centrality, per thousand.
    score: f64,
}

/// The most files and symbols listed.
const MOST: usize = 10;

/// See [`Args`].
pub struct GetRepoOutline;

impl Tool for GetRepoOutline {
    const NAME: &'static str = "get_repo_outline";
    const COMMAND: &'static str = "overview";
    const POSITIONAL: &'static [&'static str] = &["repo"];
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let repo = indexes::open_now(call, args.repo.as_deref())?;
        let (snapshot, facts) = (&repo.snapshot, repo.snapshot.facts());
        let head = repo.head();
        let moved = head.is_some() && facts.git_head.is_some() && head != facts.git_head;
        let directories = query::directories(snapshot).into_iter().map(|(folder, files)| {
            let name = if folder.is_empty() { "(root)".to_owned() } else { folder + "/" };
            (name, files)
        });
        let counts = query::kinds(snapshot);
        call.count(facts.files as usize);
        call.found(facts.files > 0);
        if facts.files == 0 {
            call.note("hint", "no file is indexed here; index_folder with list_skipped lists skipped files");
        }
        let ranks = related::ranks(&repo)?;
        let central = query::central_symbols(snapshot, ranks).take(MOST).map(|(symbol, rank)| Central {
            symbol_id: symbol.id(),
            score: (f64::from(rank.score) * 1e5).round() / 1e2,
        });
        let kinds = Kind::ALL.into_iter().map(|kind| (kind.as_str(), counts[kind as usize]));
        Ok(Output {
            repo: repo.sidecar.repo.clone(),
            indexed_at: timestamp(facts.indexed_at),
            file_count: facts.files,
            symbol_count: facts.symbols,
            line_count: facts.lines,
            languages: facts.languages.clone(),
            directories: directories.collect(),
            symbol_kinds: kinds.filter(|(_, count)| *count > 0).collect(),
            most_imported_files: Imported::most(&repo)?,
            most_central_symbols: central.collect(),
            skipped: facts.skipped.clone(),
            is_stale: moved && repo.freshness != Some(Freshness::Fresh),
        })
    }
}
