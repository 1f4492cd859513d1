//! Commits by message, author, path and time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changes::{Change, is_aside};
use super::errors::history_error;
use super::filters::path_glob;
use super::indexes::{self, Repo, timestamp};
use super::{Call, Error, Tool, history, tokens};
use codelode_query::{self as query, Between, Bounds, CommitSearch, Commits, History, LogEntry, Version};

/// Search the git commit history of a project, folder or file: who committed or introduced what, and when, by author or
/// message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Words, or an id.
    #[serde(default)]
    query: String,
    /// Part of a name or address.
    #[serde(default)]
    author: Option<String>,
    /// File, folder or glob.
    #[serde(default)]
    path: Option<String>,
    /// Date, `2 weeks` or commit.
    #[serde(default)]
    since: Option<String>,
    /// Same forms as `since`.
    #[serde(default)]
    until: Option<String>,
    /// Limit of commits.
    #[serde(default = "ten")]
    max_results: u32,
}

fn ten() -> u32 {
    10
}

/// Commits that lead to the current one: the best first, or without words the newest.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Output {
    result_count: usize,
    commits: Vec<Commit>,
    /// Number of commits searched.
    searched_commits: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A commit.
#[derive(Debug, Serialize, JsonSchema)]
struct Commit {
    sha: String,
    subject: String,
    author: String,
    time: String,
    files_count: usize,
    /// First files, sources before tests and documents.
    files: Vec<String>,
    /// Number of changed symbols, listed or not.
    symbols_count: usize,
    symbols: Vec<Touched>,
}

/// A symbol changed by a commit.
#[derive(Debug, Serialize, JsonSchema)]
struct Touched {
    symbol_id: String,
    /// added, modified, removed or renamed.
    change_type: &'static str,
    /// Id before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
}

/// See [`Args`].
pub struct SearchCommits;

/// The most commits of a page.
const MOST: u32 = 100;
/// The most files and symbols listed of a commit.
const LISTED: usize = 8;
/// The most files of a commit that are parsed. A larger one is a merge, a move or the first.
const PARSED: usize = 60;
/// The longest subject, in characters.
const SUBJECT: usize = 200;
/// Tokens of the frame around the list.
const FRAME: usize = 120;

impl Tool for SearchCommits {
    const NAME: &'static str = "search_commits";
    const COMMAND: &'static str = "log";
    const POSITIONAL: &'static [&'static str] = &["query"];
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let repo = indexes::open_as_indexed(call, args.repo.as_deref())?;
        call.repo(&repo.sidecar.repo);
        let (_, history) = history::open(call, &repo)?;
        let time = |name: &str, text: &Option<String>, is_end: bool| {
            text.as_deref().map(|text| history::time(&history, name, text, is_end)).transpose()
        };
        let times = (time("since", &args.since, false)?, time("until", &args.until, true)?);
        let path = args.path.as_deref().map(|path| path.trim_start_matches("./").trim_end_matches('/'));
        let is_pattern = |path: &&str| path.contains(['*', '?', '[', '{']);
        let limit = call.at_most("max_results", args.max_results, MOST) as usize;
        let search = CommitSearch {
            query: &args.query,
            author: args.author.as_deref(),
            path: path.filter(|path| !path.is_empty() && !is_pattern(path)),
            paths: path.filter(is_pattern).map(path_glob).transpose()?,
            times,
            limit: if call.count_only { usize::MAX } else { call.offset + limit + 1 },
        };
        let is_over = history::is_over(call);
        let Commits { commits, n_read, is_whole } =
            query::commits(&history, &search, &is_over).map_err(history_error)?;
        history::note_part(call, &history, is_whole, is_over());
        call.count(commits.len());
        call.found(!commits.is_empty());
        if call.count_only {
            return Ok(Output { searched_commits: n_read, ..Output::default() });
        }
        let mut output = Output { searched_commits: n_read, ..Output::default() };
        let (mut spent, bounds) = (FRAME, history::bounds(call));
        for commit in commits.iter().skip(call.offset).take(limit) {
            let item = item(&repo, &history, commit, &bounds);
            spent += tokens::of_json(&item) + 1;
            if spent > call.max_tokens && !output.commits.is_empty() {
                break;
            }
            output.commits.push(item);
        }
        if bounds.is_over() {
            call.note("hint", "symbols of the last commits were not read: time ran out");
        }
        output.result_count = output.commits.len();
        if call.offset + output.commits.len() < commits.len() {
            output.truncated = true;
            output.next_cursor = Some(call.cursor(call.offset + output.commits.len()));
        }
        Ok(output)
    }
}

fn item(repo: &Repo, history: &History, commit: &LogEntry, bounds: &Bounds) -> Commit {
    // A commit whose objects are missing, as in a partial clone, is listed without them.
    let changed = history.changed_by(commit).unwrap_or_default();
    let mut files: Vec<String> = changed.iter().map(|file| file.path.clone()).collect();
    files.sort_by_key(|path| is_aside(path));
    let (mut symbols, files_count) = (Vec::new(), files.len());
    if files_count <= PARSED {
        let between = Between::commit(history, &repo.snapshot, commit, changed, bounds);
        symbols = between.ok().and_then(|between| bounds.work(|| touched(&between))).unwrap_or_default();
    }
    files.truncate(LISTED);
    let symbols_count = symbols.len();
    symbols.truncate(LISTED);
    Commit {
        sha: commit.commit.clone(),
        subject: commit.subject().chars().take(SUBJECT).collect(),
        author: commit.author.clone(),
        time: timestamp(commit.time),
        files_count,
        files,
        symbols_count,
        symbols,
    }
}

/// The symbols that differ, sources before tests; classes only where more than their members differ.
fn touched(between: &Between) -> Vec<Touched> {
    let changes = between.changes();
    let one = |change: Change, was: Option<&Version<'_>>, now: &Version<'_>| Touched {
        symbol_id: now.id.clone(),
        change_type: change.as_str(),
        was: was.filter(|was| was.id != now.id).map(|was| was.id.clone()),
    };
    let modified = changes.modified.iter().filter(|(was, now)| !was.says_the_same(now));
    let modified = modified.map(|(was, now)| one(Change::Modified, Some(was), now));
    let added = changes.added.iter().map(|now| one(Change::Added, None, now));
    let renamed = changes.renamed.iter().map(|(was, now)| one(Change::Renamed, Some(was), now));
    let removed = changes.removed.iter().map(|was| one(Change::Removed, None, was));
    let mut all: Vec<Touched> = modified.chain(added).chain(renamed).chain(removed).collect();
    all.sort_by_key(|touched| is_aside(touched.symbol_id.split("::").next().unwrap_or_default()));
    all
}
