//! Commits that changed a symbol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changes::Change;
use super::errors::history_error;
use super::indexes::{self, Repo, timestamp};
use super::{Call, Error, Tool, history, related, tokens};
use codelode_query::{self as query, Step};

/// Trace the history of a function, method or class over time: commits that changed it, when and by whom (git log of a
/// symbol).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Id or name.
    symbol_id: String,
    /// Limit of commits.
    #[serde(default = "ten")]
    max_results: u32,
}

fn ten() -> u32 {
    10
}

/// Commits that changed the symbol, the newest first.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Output {
    symbol_id: String,
    /// Whether the symbol differs from the last commit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    uncommitted: bool,
    result_count: usize,
    commits: Vec<Changed>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A commit that changed the symbol.
#[derive(Debug, Serialize, JsonSchema)]
struct Changed {
    sha: String,
    subject: String,
    author: String,
    time: String,
    /// `added`, `modified` or `renamed`.
    change_type: &'static str,
    /// Id before this commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    signature_changed: bool,
}

/// See [`Args`].
pub struct GetSymbolHistory;

/// The most commits of a page.
const MOST: u32 = 100;
/// The longest subject, in characters.
const SUBJECT: usize = 200;
/// Tokens of the frame around the list.
const FRAME: usize = 160;

impl Tool for GetSymbolHistory {
    const NAME: &'static str = "get_symbol_history";
    const COMMAND: &'static str = "history";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let mut repo = indexes::open(call, args.repo.as_deref())?;
        let about = |_: &Repo, id: &String| Some(vec![id.split("::").next().unwrap_or_default().to_owned()]);
        let find = |repo: &Repo| Ok(related::symbol(repo, &args.symbol_id)?.id());
        let id = indexes::answered(call, &mut repo, find, about)?;
        let symbol = related::symbol(&repo, &id)?;
        let (_, history) = history::open(call, &repo)?;
        let limit = call.at_most("max_results", args.max_results, MOST) as usize;
        let wanted = if call.count_only { usize::MAX } else { call.offset + limit + 1 };
        let bounds = history::bounds(call);
        let is_over = history::is_over(call);
        let past =
            query::past(&history, &repo.snapshot, &symbol, (wanted, &bounds), &is_over).map_err(history_error)?;
        history::note_part(call, &history, past.is_whole, is_over());
        call.count(past.steps.len());
        call.found(!past.steps.is_empty());
        let mut output = Output { symbol_id: id, uncommitted: past.is_edited, ..Output::default() };
        if call.count_only {
            return Ok(output);
        }
        let mut spent = FRAME;
        for step in past.steps.iter().skip(call.offset).take(limit) {
            let item = item(step);
            spent += tokens::of_json(&item) + 1;
            if spent > call.max_tokens && !output.commits.is_empty() {
                break;
            }
            output.commits.push(item);
        }
        output.result_count = output.commits.len();
        if call.offset + output.commits.len() < past.steps.len() {
            output.truncated = true;
            output.next_cursor = Some(call.cursor(call.offset + output.commits.len()));
        }
        Ok(output)
    }
}

fn item(step: &Step) -> Changed {
    let change = match step {
        _ if step.is_new => Change::Added,
        _ if step.was.is_some() => Change::Renamed,
        _ => Change::Modified,
    };
    Changed {
        sha: step.commit.commit.clone(),
        subject: step.commit.subject().chars().take(SUBJECT).collect(),
        author: step.commit.author.clone(),
        time: timestamp(step.commit.time),
        change_type: change.as_str(),
        was: step.was.clone(),
        signature_changed: step.signature_changed,
    }
}
