//! The most central part of a repository that fits a budget.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indexes::Repo;
use super::{Call, Code, Error, Tool, ToolTier, related, tokens};
use codelode_query::{self as query, MapFile};
use codelode_store::SymbolId;

/// Map a large codebase for a new task: high-level overview of a repository and its architecture, the central files
/// with signatures.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Token limit of the answer.
    #[serde(default = "two_thousand")]
    token_budget: u64,
    /// Files or symbol ids you work on.
    #[serde(default)]
    focus: Vec<String>,
}

fn two_thousand() -> u64 {
    2_000
}

/// The most central first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    files: Vec<Item>,
    /// Number of files that did not fit.
    files_left_out: usize,
}

/// A file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    file: String,
    /// `line: signature`, in line order, nested ones indented.
    symbols: Vec<String>,
    /// Number of omitted symbols, less central.
    #[serde(skip_serializing_if = "is_zero")]
    symbols_left_out: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// See [`Args`].
pub struct GetRepoMap;

/// Length of a signature, in characters.
const SIGNATURE: usize = 100;
/// The most symbols of a file, so that there is room for others.
const MOST_SYMBOLS: usize = 12;
/// Tokens of the frame around a file or a line in the answer.
const AROUND: usize = 8;
/// Tokens of the note that an answer is cut.
const CUT: usize = 60;
/// Hint for getting more.
const NARROW: &str = "a larger token_budget, or focus";

impl Tool for GetRepoMap {
    const NAME: &'static str = "get_repo_map";
    const COMMAND: &'static str = "map";
    const POSITIONAL: &'static [&'static str] = &["focus"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    const LIST: Option<&'static str> = Some("files");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let budget = usize::try_from(args.token_budget).unwrap_or(usize::MAX).min(call.max_tokens);
        let (output, n_files) = related::answer(call, args.repo.as_deref(), |repo, edges| {
            related::note_unread(call, repo);
            let mut focus: Vec<SymbolId> = Vec::new();
            for named in &args.focus {
                focus.extend(focused(repo, named)?);
            }
            let map = query::repo_map(&repo.snapshot, edges, &focus);
            let n_files = map.len();
            let map = map.get(call.offset..).unwrap_or_default();
            let mut output = packed(map, budget, MOST_SYMBOLS)?;
            // If all files fit there may be room for more symbols of each.
            let mut most = MOST_SYMBOLS;
            while output.files_left_out == 0 && output.files.iter().any(|item| item.symbols_left_out > 0) {
                most = most.saturating_mul(4);
                match packed(map, budget, most)? {
                    more if more.files_left_out == 0 && more.shown() > output.shown() => output = more,
                    _ => break,
                }
            }
            let paths = output.files.iter().map(|item| item.file.clone()).collect();
            Ok(((output, n_files), paths))
        })?;
        call.found(!output.files.is_empty());
        call.narrow(NARROW);
        call.total(n_files);
        Ok(output)
    }
}

impl Output {
    /// The number of symbols shown.
    fn shown(&self) -> usize {
        self.files.iter().map(|item| item.symbols.len()).sum()
    }
}

/// The symbols of a focus: a single one, or those of a file.
fn focused(repo: &Repo, named: &str) -> Result<Vec<SymbolId>, Error> {
    let path = repo.relative(named);
    if let Some(file) = repo.snapshot.file(&path) {
        return Ok(file.symbols().map(|symbol| symbol.number()).collect());
    }
    let shown: String = named.chars().take(200).collect();
    let folder = format!("{path}/");
    let mut inside = repo.snapshot.files().map(|file| file.path()).filter(|path| path.starts_with(&folder)).peekable();
    // A folder may have the name of a symbol, and the request does not show which is meant.
    if !path.is_empty() && inside.peek().is_some() {
        let files: Vec<&str> = inside.take(5).collect();
        let message = format!("`focus` takes files and symbol ids, but {shown:?} is a folder; give files in it");
        return Err(Error::invalid_arguments(message).with("files", files));
    }
    let unknown = match related::symbol(repo, named) {
        Ok(symbol) => return Ok(vec![symbol.number()]),
        Err(err) => err,
    };
    if unknown.code != Code::NotFound || named.contains("::") {
        return Err(unknown);
    }
    let near = query::nearest_files(&repo.snapshot, &path, 3);
    match near.first() {
        Some(first) if named.contains(['/', '.']) => {
            let message = format!("no file has the path {shown:?}; did you mean {first:?}?");
            Err(Error::not_found(message).with("nearest", near))
        }
        _ => Err(unknown),
    }
}

/// The first files that fit the budget, with at most this many symbols each.
fn packed(map: &[MapFile<'_>], budget: usize, most_symbols: usize) -> Result<Output, Error> {
    let mut output = Output { files: Vec::new(), files_left_out: map.len() };
    let around = tokens::META + CUT;
    let frame = around + tokens::of_json(&output);
    let mut left = budget.saturating_sub(frame);
    for mapped in map {
        let path = mapped.file.path().to_owned();
        let mut cost = tokens::estimate(&path) + 2 * AROUND;
        let mut shown = Vec::new();
        for (symbol, _) in mapped.symbols.iter().take(most_symbols) {
            let depth = std::iter::successors(symbol.parent(), |symbol| symbol.parent()).count();
            let line = format!("{}{}: {}", "  ".repeat(depth), symbol.line(), symbol.signature(SIGNATURE));
            let line_cost = tokens::of_json(&line) + 1;
            if cost + line_cost > left {
                break;
            }
            cost += line_cost;
            shown.push((symbol.line(), line));
        }
        if shown.is_empty() {
            break;
        }
        left -= cost;
        shown.sort();
        let symbols: Vec<String> = shown.into_iter().map(|(_, line)| line).collect();
        let symbols_left_out = (mapped.file.symbol_count() as usize).saturating_sub(symbols.len());
        output.files.push(Item { file: path, symbols, symbols_left_out });
    }
    output.files_left_out = map.len() - output.files.len();
    // Lines were counted one by one; together they must fit as written.
    while output.files.len() > 1 && tokens::of_json(&output) + around > budget {
        output.files.pop();
        output.files_left_out += 1;
    }
    match map.first() {
        Some(first) if output.files.is_empty() => {
            let line =
                first.symbols.first().map_or(0, |(symbol, _)| tokens::of_json(&symbol.signature(SIGNATURE)) + AROUND);
            let needed = frame + tokens::estimate(first.file.path()) + 3 * AROUND + line;
            let message = format!("`token_budget` is too small for a file; give {needed} or more");
            Err(Error::invalid_arguments(message).with("token_budget", needed))
        }
        _ => Ok(output),
    }
}
