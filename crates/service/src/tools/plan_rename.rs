//! Plan of a rename: every place to edit, and the reasons against it.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indexes::Repo;
use super::plan::{Doubt, column, doubts, refusal};
use super::{Call, Error, Tool, related, tokens};
use codelode_base::model::Span;
use codelode_query::{self as query, LineCount, Renaming};
use codelode_store::{FileView, Snapshot, SymbolView};

/// Plan the rename of a symbol everywhere in the project: every place to edit, overrides too.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    #[schemars(extend("x-aliases" = ["symbol"]))]
    symbol_id: String,
    /// New name.
    new_name: String,
    /// Return the patch despite doubts.
    #[serde(default)]
    force: bool,
    /// Output form.
    #[serde(default)]
    output: Written,
}

/// Format of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// JSON fields.
    #[default]
    Json,
    /// As a patch for `git apply`; refused if in doubt.
    Patch,
}

/// The plan, or its patch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// JSON fields.
    Fields {
        /// Id of the symbol.
        symbol: String,
        /// Whether the plan is free of doubts.
        is_sure: bool,
        /// Places to edit, sorted by path and line.
        edits: Vec<Edit>,
        /// Places that may need an edit, and other risks.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        doubts: Vec<Doubt>,
    },
    /// The patch, for `output: "patch"`.
    Text {
        /// The patch.
        text: String,
    },
}

/// A place to edit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Edit {
    file: String,
    line: u32,
    column: u32,
}

/// See [`Args`].
pub struct PlanRename;

/// Tokens of an answer beside the patch.
const FRAME: usize = 200;
/// Lines around a changed one in a patch.
const AROUND: usize = 3;

impl Tool for PlanRename {
    const NAME: &'static str = "plan_rename";
    const COMMAND: &'static str = "rename";
    const POSITIONAL: &'static [&'static str] = &["symbol_id", "new_name"];
    const LIST: Option<&'static str> = Some("edits");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let repo = related::open_now(call, args.repo.as_deref())?;
        let snapshot = &*repo.snapshot;
        let is_forced = args.force || args.output == Written::Json;
        let (symbol, plan) = planned(&repo, &args.symbol_id, &args.new_name, is_forced)?;
        call.found(true);
        if args.output == Written::Json {
            let edits = call.page(edits(snapshot, &plan), usize::MAX);
            let is_sure = plan.doubts.is_empty();
            return Ok(Output::Fields { symbol: symbol.id(), is_sure, edits, doubts: doubts(plan.doubts) });
        }
        let text = patch_of(snapshot, &plan, &args.new_name);
        // A part of a patch would rename in a part of the files.
        let n_tokens = tokens::estimate(&text) + FRAME;
        if n_tokens > call.max_tokens {
            let message = format!("the patch does not fit; ask again with max_tokens of {n_tokens} or more");
            return Err(Error::invalid_arguments(message).with("max_tokens", n_tokens));
        }
        Ok(Output::Text { text })
    }
}

/// The plan of a rename. A doubt is an error, unless it is forced.
pub fn planned<'r>(
    repo: &'r Repo,
    symbol: &str,
    new_name: &str,
    is_forced: bool,
) -> Result<(SymbolView<'r>, Renaming), Error> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let is_name = new_name.chars().all(is_letter) && !new_name.starts_with(|c: char| c.is_numeric());
    if new_name.is_empty() || !is_name {
        return Err(Error::invalid_arguments(format!(
            "{new_name:?} is not a name; give letters, digits and underscores, no digit first"
        )));
    }
    let symbol = related::symbol(repo, symbol)?;
    related::check_language(&repo.snapshot, &symbol)?;
    let plan = query::renaming(&repo.snapshot, related::edges(repo)?, &symbol, Some(new_name), usize::MAX);
    if !plan.doubts.is_empty() && !is_forced {
        let refused = format!("{} is not renamed", symbol.name());
        return Err(refusal(&refused, &plan.doubts, "the sure places are edited alone"));
    }
    Ok((symbol, plan))
}

/// The patch of a plan.
pub fn patch_of(snapshot: &Snapshot, plan: &Renaming, new: &str) -> String {
    let mut text = String::new();
    for (file, spans) in &plan.places {
        if let Some(file) = snapshot.file_by_number(*file) {
            patch(&mut text, file, spans, new);
        }
    }
    text
}

fn edits(snapshot: &Snapshot, plan: &Renaming) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (file, spans) in &plan.places {
        let Some(file) = snapshot.file_by_number(*file) else { continue };
        let mut lines = LineCount::default();
        for span in spans {
            let (line, column) = (lines.line_of(file.content(), span.start), column(file.content(), span.start));
            edits.push(Edit { file: file.path().to_owned(), line, column });
        }
    }
    edits.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    edits
}

/// Writes the part of a patch for a file. An edit changes a line and adds none.
fn patch(text: &mut String, file: FileView<'_>, spans: &[Span], new: &str) {
    let old: Vec<&[u8]> = file.content().split_inclusive(|byte| *byte == b'\n').collect();
    let mut lines: Vec<(usize, Vec<u8>)> = Vec::new();
    let (mut number, mut start) = (0, 0);
    for span in spans {
        while old.get(number).is_some_and(|line| start + line.len() <= span.start as usize) {
            start += old[number].len();
            number += 1;
        }
        let Some(line) = old.get(number) else { break };
        if lines.last().is_none_or(|(last, _)| *last != number) {
            lines.push((number, line.to_vec()));
        }
        let Some((_, edited)) = lines.last_mut() else { break };
        // Earlier edits of the line moved what follows.
        let moved = edited.len() as i64 - line.len() as i64;
        let at = |byte: u32| usize::try_from(i64::from(byte) - start as i64 + moved).unwrap_or(0).min(edited.len());
        let range = at(span.start)..at(span.end);
        edited.splice(range, new.bytes());
    }
    let _ = write!(text, "--- a/{0}\n+++ b/{0}\n", file.path());
    for hunk in lines.chunk_by(|a, b| b.0 - a.0 <= 2 * AROUND) {
        let (first, last) = (hunk[0].0.saturating_sub(AROUND), (hunk[hunk.len() - 1].0 + AROUND + 1).min(old.len()));
        let count = last - first;
        let _ = writeln!(text, "@@ -{0},{count} +{0},{count} @@", first + 1);
        let mut edited = hunk.iter().peekable();
        let mut at = first;
        while at < last {
            // Changed lines next to each other are removed before the new ones are added.
            let mut added = Vec::new();
            while let Some((_, line)) = edited.next_if(|(number, _)| *number == at) {
                row(text, '-', old[at]);
                added.push(line);
                at += 1;
            }
            added.iter().for_each(|line| row(text, '+', line));
            if added.is_empty() {
                row(text, ' ', old[at]);
                at += 1;
            }
        }
    }
}

/// Writes a line of a patch.
fn row(text: &mut String, sign: char, line: &[u8]) {
    text.push(sign);
    text.push_str(&String::from_utf8_lossy(line));
    if !line.ends_with(b"\n") {
        text.push_str("\n\\ No newline at end of file\n");
    }
}
