//! The most central symbols of a repository.

use globset::GlobBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{Facts, Fields};
use super::{Call, Error, Tool, ToolTier, nearest, related};
use codelode_query as query;
use codelode_store::{FileView, Snapshot};

/// Rank symbols by importance: the most important or central functions and classes that everything depends on
/// (pagerank).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Limit of symbols.
    #[serde(default = "twenty")]
    top_n: u32,
    /// By users' importance or number.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    algorithm: Algorithm,
    /// Folder or glob.
    #[serde(default)]
    scope: Option<String>,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    fields: Option<Vec<String>>,
}

fn twenty() -> u32 {
    20
}

/// The measure of importance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// Damping 0.85, until changes fall below 1e-6, at most 100 rounds.
    #[default]
    Pagerank,
    /// Number of symbols that use it.
    Degree,
}

/// The most central first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    ranked_symbols: Vec<Item>,
    algorithm: Algorithm,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations_to_converge: Option<u32>,
}

/// A symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    symbol_id: String,
    line: u32,
    kind: &'static str,
    rank: usize,
    /// For pagerank, share per thousand; for degree, number of symbols that use it.
    score: f64,
    in_degree: u32,
    out_degree: u32,
    #[serde(flatten)]
    facts: Facts,
}

/// See [`Args`].
pub struct GetSymbolImportance;

impl Tool for GetSymbolImportance {
    const NAME: &'static str = "get_symbol_importance";
    const COMMAND: &'static str = "importance";
    const POSITIONAL: &'static [&'static str] = &["scope"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    const LIST: Option<&'static str> = Some("ranked_symbols");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let fields = Fields::read(args.fields.as_deref())?;
        let scope = args.scope.as_deref().map(scope).transpose()?;
        let (limit, by_degree) = (args.top_n as usize, args.algorithm == Algorithm::Degree);
        let mut output = related::answer(call, args.repo.as_deref(), |repo, _| {
            related::note_unread(call, repo);
            let snapshot = &repo.snapshot;
            let ranks = related::ranks(repo)?;
            let inside = |path: &str| scope.as_ref().is_none_or(|glob| glob.is_match(path));
            let mut best: Vec<_> = query::central_symbols(snapshot, ranks)
                .filter(|(symbol, _)| inside(symbol.file.path()))
                // Degrees are sorted here, PageRank shares are sorted already.
                .take(if by_degree { usize::MAX } else { limit.saturating_add(call.offset) })
                .collect();
            if by_degree {
                best.sort_by_key(|(_, rank)| std::cmp::Reverse(rank.users));
                best.truncate(limit.saturating_add(call.offset));
            }
            if let (Some(text), Some(glob), true) = (&args.scope, &scope, best.is_empty()) {
                check_scope(snapshot, text, glob)?;
            }
            let items = best.iter().enumerate().map(|(place, (symbol, rank))| Item {
                symbol_id: symbol.id(),
                line: symbol.line(),
                kind: symbol.kind().as_str(),
                rank: place + 1,
                score: match args.algorithm {
                    Algorithm::Pagerank => (f64::from(rank.score) * 1e6).round() / 1e3,
                    Algorithm::Degree => f64::from(rank.users),
                },
                in_degree: rank.users,
                out_degree: rank.uses,
                facts: fields.of(symbol),
            });
            let iterations_to_converge = (!by_degree).then(|| ranks.iterations());
            let output = Output { ranked_symbols: items.collect(), algorithm: args.algorithm, iterations_to_converge };
            let paths = best.iter().map(|(symbol, _)| symbol.file.path().to_owned()).collect();
            Ok((output, paths))
        })?;
        call.found(!output.ranked_symbols.is_empty());
        call.narrow("give a scope");
        output.ranked_symbols = call.page(output.ranked_symbols, limit);
        Ok(output)
    }
}

/// Refuses a scope without ranked symbols, and says why.
fn check_scope(snapshot: &Snapshot, text: &str, glob: &globset::GlobMatcher) -> Result<(), Error> {
    let files: Vec<FileView<'_>> = snapshot.files().filter(|file| glob.is_match(file.path())).collect();
    let message = if files.is_empty() {
        let mut folders: Vec<&str> =
            snapshot.files().filter_map(|file| Some(file.path().rsplit_once('/')?.0)).collect();
        folders.dedup();
        let near = nearest(text, folders, 1);
        let meant =
            near.first().map_or("get_file_tree lists folders".to_owned(), |near| format!("did you mean {near:?}?"));
        format!("no indexed file is in `scope` {text:?}; {meant}")
    } else if files.iter().all(FileView::is_test) {
        format!("`scope` {text:?} holds only tests, examples and documentation, which are not ranked")
    } else {
        return Ok(());
    };
    Err(Error::not_found(message))
}

/// A matcher for a folder or a glob.
fn scope(text: &str) -> Result<globset::GlobMatcher, Error> {
    let is_glob = text.contains(['*', '?', '[', '{']);
    let pattern = if is_glob { text.to_owned() } else { format!("{{{0},{0}/**}}", text.trim_end_matches('/')) };
    let glob = GlobBuilder::new(&pattern).literal_separator(is_glob).build();
    let wrong = |err| Error::invalid_arguments(format!("`scope` {text:?} is not a folder or glob: {err}"));
    glob.map(|glob| glob.compile_matcher()).map_err(wrong)
}
