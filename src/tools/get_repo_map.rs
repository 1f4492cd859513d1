//! The most telling part of a repository that fits a budget.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::get_file_outline::relative;
use super::{Call, Error, Shown, Tool, related, tokens};
use crate::query;
use crate::store::SymbolId;

/// The most central files and signatures that fit a budget, seen from `focus` where it is given.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: the current one).
    #[serde(default)]
    repo: Option<String>,
    /// Tokens for the whole answer.
    #[serde(default = "two_thousand")]
    token_budget: u64,
    /// Files or symbol ids that are worked on.
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
    /// Files that did not fit.
    files_left_out: usize,
}

/// A file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    file: String,
    /// `line: signature`, by line, those inside others indented.
    symbols: Vec<String>,
}

/// See [`Args`].
pub struct GetRepoMap;

/// Length of a signature, in characters.
const SIGNATURE: usize = 100;
/// So many symbols of a file at most, so that there is room for others.
const MOST_SYMBOLS: usize = 12;
/// What stands around a file and a line in the answer, in tokens.
const AROUND: usize = 8;

impl Tool for GetRepoMap {
    const NAME: &'static str = "get_repo_map";
    const COMMAND: &'static str = "map";
    const POSITIONAL: &'static [&'static str] = &["focus"];
    const SHOWN: Option<Shown> = Some(Shown::Full);
    const LIST: Option<&'static str> = Some("files");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let mut output = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let mut focus: Vec<SymbolId> = Vec::new();
            for named in &args.focus {
                match repo.snapshot.file(&relative(call, repo, named)) {
                    Some(file) => focus.extend(file.symbols().map(|symbol| symbol.number())),
                    None => focus.push(related::symbol(repo, named)?.number()),
                }
            }
            let map = query::repo_map(&repo.snapshot, edges, &focus);
            let budget = usize::try_from(args.token_budget).unwrap_or(usize::MAX).min(call.max_tokens);
            let mut output = Output { files: Vec::new(), files_left_out: map.len() };
            let mut left = budget.saturating_sub(tokens::META + tokens::of_json(&output));
            for mapped in &map {
                let path = mapped.file.path().to_owned();
                let mut cost = tokens::estimate(&path) + 2 * AROUND;
                let mut shown = Vec::new();
                for (symbol, _) in mapped.symbols.iter().take(MOST_SYMBOLS) {
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
                let symbols = shown.into_iter().map(|(_, line)| line).collect();
                output.files.push(Item { file: path, symbols });
            }
            // Each line was counted for itself; together they must fit as they are written.
            while tokens::of_json(&output) + tokens::META > budget && output.files.pop().is_some() {}
            output.files_left_out = map.len() - output.files.len();
            let paths = output.files.iter().map(|item| item.file.clone()).collect();
            Ok((output, paths))
        })?;
        call.found(!output.files.is_empty());
        call.narrow("give a smaller token_budget");
        output.files = call.page(output.files, usize::MAX);
        Ok(output)
    }
}
