//! Tests that reach a symbol, a file or a change, as their runner takes them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::review::Tested;
use super::review::change::{ChangeSet, RequestedChange};
use super::review::report::tested;
use super::{Call, Error, Tool, indexes, related};
use crate::answer::tokens;
use codelode_query::review::{self, ReachEvidence, TestFile, TestUnit};
use codelode_store::Snapshot;

/// Find which tests to run after an edit: tests that cover or reach a function, file or change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Symbol ids or paths.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["symbol_id", "symbol_ids", "symbols", "symbol"]))]
    targets: Vec<String>,
    /// Commit, or BASE..HEAD.
    #[serde(default)]
    base: Option<String>,
    /// Edits since HEAD.
    #[serde(default)]
    changed: bool,
    /// Coverage per test: coverage.py JSON or lcov.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    recording: Option<String>,
    /// Limit of files.
    #[serde(default = "fifty")]
    max_results: usize,
    /// Output form.
    #[serde(default)]
    output: Written,
}

fn fifty() -> usize {
    50
}

/// Format of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// JSON fields.
    #[default]
    Json,
    /// Arguments for the test runner, as text.
    Text,
}

/// The tests, or the arguments alone.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// JSON fields.
    Fields {
        /// Test files, most direct first.
        tests: Vec<Tested>,
        /// Arguments that select these tests, by test runner.
        runs: Vec<Run>,
    },
    /// Arguments for the test runner, as text.
    Text {
        /// One argument per line, below the runner's name if several.
        text: String,
    },
}

/// Arguments for a test runner.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Run {
    runner: &'static str,
    /// Arguments that select the tests, most direct first.
    arguments: Vec<String>,
    /// Number of arguments that did not fit; `output: "text"` gives all.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// See [`Args`].
pub struct FindTests;

impl Tool for FindTests {
    const NAME: &'static str = "find_tests";
    const COMMAND: &'static str = "tests";
    const POSITIONAL: &'static [&'static str] = &["targets"];
    const LIST: Option<&'static str> = Some("tests");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let is_change = args.changed || args.base.is_some();
        if is_change != args.targets.is_empty() {
            let message = "give targets, or a change: changed, or base";
            return Err(Error::invalid_arguments(message));
        }
        if is_change {
            let asked = RequestedChange::of(args.base.as_deref(), None, false)?;
            let change = ChangeSet::read(call, args.repo.as_deref(), &asked)?;
            let (snapshot, edges) = (&*change.repo.snapshot, related::edges(&change.repo)?);
            let changes = change.between.changes();
            let touched = review::touched(snapshot, &changes);
            let own = review::changed_tests(&touched);
            let paths: Vec<&str> = change.between.paths().map(|(path, ..)| path).collect();
            let code: Vec<&str> = paths.iter().copied().filter(|path| review::is_code(snapshot, path)).collect();
            let companions = review::companions(&change.commits(call), &code);
            let found = review::tests_of(snapshot, edges, &touched, paths.iter().copied(), &companions);
            let (lines, is_more) = review::lines_before(&touched, &code);
            let ran = recorded(call, &change.repo, &args, &lines, is_more)?;
            return Ok(output(call, &args, snapshot, &own, found, ran));
        }
        let repo = related::open_now(call, args.repo.as_deref())?;
        related::note_unread(call, &repo);
        let (snapshot, edges) = (&*repo.snapshot, related::edges(&repo)?);
        let targets = named(call, &repo, snapshot, &args.targets)?;
        let found = review::tests_of_targets(snapshot, edges, &targets, &[]);
        let ran = recorded(call, &repo, &args, &review::lines_of(&targets), false)?;
        Ok(output(call, &args, snapshot, &[], found, ran))
    }
}

/// The files and symbols that are named.
fn named<'a>(
    call: &Call<'_>,
    repo: &'a indexes::Repo,
    snapshot: &'a Snapshot,
    names: &[String],
) -> Result<Vec<review::Target<'a>>, Error> {
    let mut sources = Vec::new();
    for target in names {
        let path = target.strip_prefix("./").unwrap_or(target);
        match snapshot.file(path) {
            Some(file) => sources.push(review::Target::File(file)),
            None => {
                for symbol in related::each(call, repo, target)? {
                    related::check_language(snapshot, &symbol)?;
                    sources.push(review::Target::Symbol(symbol));
                }
            }
        }
    }
    Ok(sources)
}

/// The largest recording that is read.
const LARGEST_RECORDING: u64 = 1 << 29;

/// Tests that a recording saw.
struct Recorded {
    units: BTreeSet<TestUnit>,
    /// Whether they are all that the lines need.
    is_whole: bool,
}

/// The tests that the given recording saw running lines, if there is one. `is_more` says that the change touches other code, too.
fn recorded(
    call: &Call<'_>,
    repo: &indexes::Repo,
    args: &Args,
    lines: &[review::Ran<'_>],
    is_more: bool,
) -> Result<Option<Recorded>, Error> {
    let Some(given) = &args.recording else { return Ok(None) };
    let no = |why: &str| Error::invalid_arguments(format!("the recording {given:?} {why}"));
    let root = repo
        .root
        .as_deref()
        .and_then(|root| root.canonicalize().ok())
        .ok_or_else(|| no("cannot be read: the folder is gone"))?;
    let path = root
        .join(given)
        .canonicalize()
        .map_err(|_| no("is not there; give its path below the folder of the repository"))?;
    if !path.starts_with(&root) || !path.is_file() {
        return Err(no("must be a file in the repository"));
    }
    let file = File::open(&path).map_err(|err| no(&format!("cannot be read: {err}")))?;
    if file.metadata().map_or(u64::MAX, |metadata| metadata.len()) > LARGEST_RECORDING {
        return Err(no("is larger than 512 MB; record fewer files"));
    }
    let wanted: BTreeSet<&str> = lines.iter().map(|(path, ..)| *path).collect();
    let recording = review::Recording::read(BufReader::new(file), &root.to_string_lossy(), &wanted)
        .map_err(|err| no(&format!("cannot be read: {err}")))?;
    let (units, n_unknown) = recording.tests(&repo.snapshot, lines);
    if n_unknown > 0 {
        call.note("not_recorded", n_unknown);
    }
    if n_unknown > 0 || is_more {
        call.note("hint", "no recorded test ran some of the code: tests found by names are added");
    }
    Ok(Some(Recorded { is_whole: n_unknown == 0 && !is_more && !lines.is_empty(), units }))
}

/// Files on a page.
const PER_PAGE: usize = 20;
/// One in so many tokens of an answer is for arguments of runners.
const ARGUMENTS_SHARE: usize = 8;

/// Files that a runner is given where no test is known to be near.
const FIRST: usize = 10;

/// Whether a runner is given a file: its tests use a target, or it imports or is named after one. Most files that only
/// changed together with a target, or import it through others, do not notice an edit.
fn is_near(file: &TestFile) -> bool {
    match file.through {
        ReachEvidence::Recorded | ReachEvidence::Uses | ReachEvidence::Through => true,
        ReachEvidence::Possible | ReachEvidence::Name => true,
        ReachEvidence::Imports => file.tests.first().is_some_and(|test| test.way.len() <= 2),
        ReachEvidence::History => false,
    }
}

fn output(
    call: &Call<'_>,
    args: &Args,
    snapshot: &Snapshot,
    own: &[TestUnit],
    mut found: Vec<TestFile>,
    recorded: Option<Recorded>,
) -> Output {
    let is_enough = recorded.as_ref().is_some_and(|recorded| recorded.is_whole);
    if let Some(recorded) = recorded {
        found = review::with_recorded(found, &recorded.units);
    }
    call.found(!own.is_empty() || !found.is_empty());
    let found = &found[..found.len().min(args.max_results.max(1))];
    let mut units: Vec<TestUnit> = own.to_vec();
    let is_run = |file: &&TestFile| if is_enough { file.through == ReachEvidence::Recorded } else { is_near(file) };
    let mut run: Vec<&TestFile> = found.iter().filter(is_run).collect();
    if run.is_empty() {
        run = found.iter().take(FIRST).collect();
    }
    units.extend(run.iter().flat_map(|file| &file.tests).map(|test| test.unit).filter(|unit| !own.contains(unit)));
    let runs = review::selected(snapshot, &units);
    let runs: Vec<Run> = runs.into_iter().map(|(runner, arguments)| Run { runner, arguments, more: 0 }).collect();
    match args.output {
        Written::Json => {
            let tests = found.iter().filter_map(|file| tested(snapshot, file)).collect();
            Output::Fields { tests: call.page(tests, call.per_page(PER_PAGE)), runs: short(call, runs) }
        }
        Written::Text => Output::Text { text: text(&runs) },
    }
}

/// The arguments that have room beside the list of tests, on its first page.
fn short(call: &Call<'_>, runs: Vec<Run>) -> Vec<Run> {
    if call.offset > 0 {
        return Vec::new();
    }
    let mut left = call.max_tokens / ARGUMENTS_SHARE;
    let cut = |mut run: Run| {
        let fits = |argument: &&String| {
            let cost = tokens::of_json(*argument) + 1;
            let fits = cost <= left;
            left = if fits { left - cost } else { 0 };
            fits
        };
        let kept = run.arguments.iter().take_while(fits).count().max(1);
        run.more = run.arguments.len().saturating_sub(kept);
        run.arguments.truncate(kept);
        run
    };
    let runs: Vec<Run> = runs.into_iter().map(cut).collect();
    let more: usize = runs.iter().map(|run| run.more).sum();
    if more > 0 && call.noted("hint").is_none() {
        call.note("hint", format!("{more} more arguments: give output \"text\""));
    }
    runs
}

fn text(runs: &[Run]) -> String {
    let mut text = String::new();
    for run in runs {
        if runs.len() > 1 {
            text.push_str(&format!("# {}\n", run.runner));
        }
        run.arguments.iter().for_each(|argument| text.push_str(&format!("{argument}\n")));
    }
    text
}
