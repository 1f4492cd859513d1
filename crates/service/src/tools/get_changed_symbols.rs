//! Symbols changed in a part of the history.

use globset::GlobMatcher;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changes::{self, Change, Differences, Reach};
use super::errors::history_error;
use super::filters::{KINDS, alternatives, check_kind, meant, path_glob};
use super::{Call, Error, Tool, ToolTier, related};
use super::{history, indexes};
use codelode_base::model::names_kind;
use codelode_query::{self as query, Between, ComparisonEnd, Version};

/// Show what changed, or is new, between versions (commits, releases, branches, working tree): functions and other symbols
/// added, modified, renamed or removed; a git diff or pull request as symbols.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Commit, branch, tag, or BASE..HEAD.
    #[serde(default)]
    since_sha: Option<String>,
    /// The same, or WORKTREE.
    #[serde(default)]
    until_sha: Option<String>,
    /// Glob.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    file_pattern: Option<String>,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    kind: Option<String>,
    /// Include current dependents.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    include_blast_radius: bool,
    /// Limit of steps.
    #[serde(default = "three")]
    #[schemars(extend("x-rare" = true))]
    max_blast_depth: u32,
}

fn three() -> u32 {
    3
}

/// Symbols that differ: sources before tests and documentation, added before modified, removed and renamed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    since_sha: String,
    /// A commit, or WORKTREE.
    until_sha: String,
    /// Whether uncommitted edits are included.
    worktree_counts: bool,
    /// Number of changed files, filters ignored.
    changed_files_count: usize,
    /// Number of changed files without symbols: too large, or in an unsupported language.
    #[serde(skip_serializing_if = "is_zero")]
    files_without_symbols: usize,
    #[serde(flatten)]
    differences: Differences,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// See [`Args`].
pub struct GetChangedSymbols;

/// The name of the current files, beside commits.
const WORKTREE: &str = "WORKTREE";
/// The deepest level of uses followed.
const DEEPEST: u32 = 10;
/// The most files listed that depend on a symbol.
const MOST_FILES: usize = 5;

impl Tool for GetChangedSymbols {
    const NAME: &'static str = "get_changed_symbols";
    const COMMAND: &'static str = "changed";
    const POSITIONAL: &'static [&'static str] = &["since_sha", "until_sha"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Lean);
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, mut args: Args) -> Result<Output, Error> {
        if args.until_sha.is_none()
            && let Some((since, until)) = args.since_sha.as_deref().and_then(|since| since.split_once(".."))
            && !until.starts_with('.')
        {
            let (since, until) = (since.to_owned(), until.to_owned());
            args.since_sha = Some(since).filter(|since| !since.is_empty());
            args.until_sha = Some(until).filter(|until| !until.is_empty());
        }
        let wanted = SymbolFilter::of(&args)?;
        // Before the index is updated, because afterwards it belongs to the current commit.
        let indexed_at = indexes::open_as_indexed(call, args.repo.as_deref())?.snapshot.facts().git_head.clone();
        let counts_worktree = args.until_sha.as_deref().is_some_and(|until| until.eq_ignore_ascii_case(WORKTREE));
        let repo = match counts_worktree || args.include_blast_radius {
            true => indexes::open_now(call, args.repo.as_deref())?,
            false => indexes::open_as_indexed(call, args.repo.as_deref())?,
        };
        call.repo(&repo.sidecar.repo);
        let (root, history) = history::open(call, &repo)?;
        let Some(since) = args.since_sha.or(indexed_at) else {
            let message = "no commit was checked out when this was indexed; give since_sha";
            return Err(Error::invalid_arguments(message));
        };
        let until = match counts_worktree {
            true => ComparisonEnd::Worktree,
            false => ComparisonEnd::Commit(args.until_sha.as_deref().unwrap_or("HEAD")),
        };
        let limit = call.config.max_file_size;
        let between = Between::read(&history, &repo.snapshot, root, (&since, until), limit).map_err(history_error)?;
        if history.hidden() > 0 {
            call.note("secret_files_left_out", history.hidden());
        }
        let mut changes = between.changes();
        let differ = changes.count();
        changes.retain(|version| wanted.holds(version));
        if changes.count() == 0 && differ > 0 {
            call.note("hint", format!("none of the {differ} symbols that differ fits file_pattern and kind"));
        }
        let (since, until) = (between.since.clone(), between.until.clone());
        let until = until.unwrap_or_else(|| WORKTREE.to_owned());
        if since == until && between.n_files() == 0 {
            call.note("hint", "no commits since then; give an older since_sha, or WORKTREE as until_sha");
        }
        let depth = call.at_most("max_blast_depth", args.max_blast_depth, DEEPEST);
        let edges = if args.include_blast_radius { Some(related::edges(&repo)?) } else { None };
        let reach = |change: Change, version: &Version<'_>| -> Option<Reach> {
            let edges = edges?;
            if change == Change::Removed {
                let still = repo.snapshot.mentions(&version.name).unwrap_or(0);
                return Some(Reach { direct_dependents_count: still as usize, confirmed_count: 0, files: Vec::new() });
            }
            let symbol = query::by_id(&repo.snapshot, &version.id).ok()?;
            let blast = query::blast(&repo.snapshot, edges, &symbol, depth);
            let files =
                blast.confirmed.iter().take(MOST_FILES).map(|affected| affected.file.path().to_owned()).collect();
            Some(Reach { direct_dependents_count: blast.direct, confirmed_count: blast.confirmed.len(), files })
        };
        Ok(Output {
            since_sha: since,
            until_sha: until,
            worktree_counts: counts_worktree,
            changed_files_count: between.n_files(),
            files_without_symbols: between.without_symbols(),
            differences: changes::page(call, &changes, &reach),
        })
    }
}

/// Symbols that are asked for.
struct SymbolFilter {
    paths: Option<GlobMatcher>,
    /// Some of the five kinds, or languages' own words; empty for all.
    kinds: Vec<String>,
}

impl SymbolFilter {
    fn of(args: &Args) -> Result<Self, Error> {
        let kind = args.kind.as_deref().map(|kind| meant(kind, KINDS));
        kind.as_deref().map(check_kind).transpose()?;
        let kinds = kind.iter().flat_map(|kind| alternatives(kind)).collect();
        Ok(Self { paths: args.file_pattern.as_deref().map(path_glob).transpose()?, kinds })
    }

    fn holds(&self, version: &Version<'_>) -> bool {
        (self.kinds.is_empty() || self.kinds.iter().any(|word| names_kind(word, version.kind, version.detail)))
            && self.paths.as_ref().is_none_or(|paths| paths.is_match(version.file))
    }
}
