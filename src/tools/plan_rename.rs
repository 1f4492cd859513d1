//! Plan of a rename: every place to edit, and the reasons against it.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Code, Error, Tool, related};
use crate::model::Span;
use crate::query::{self, LineCount, Renaming};
use crate::store::{FileView, Snapshot};

/// Plan of a rename: every place to edit, overrides included, and what is in doubt. Writes nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: the current one).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    #[schemars(extend("x-aliases" = ["symbol"]))]
    symbol_id: String,
    /// The name to give.
    new_name: String,
    /// A patch in spite of doubts.
    #[serde(default)]
    force: bool,
    /// How it is written.
    #[serde(default)]
    output: Written,
}

/// How a plan is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// As fields.
    #[default]
    Json,
    /// As a patch for `git apply`; refused where anything is in doubt.
    Patch,
}

/// The plan, or its patch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// As fields.
    Fields {
        /// Its id.
        symbol: String,
        /// Whether nothing is in doubt.
        is_sure: bool,
        /// Places to edit, by path and line.
        edits: Vec<Edit>,
        /// Places that may have to be edited, too, and other reasons against it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        doubts: Vec<Doubt>,
    },
    /// As a patch.
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

/// A reason against a rename.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Doubt {
    file: String,
    line: u32,
    why: &'static str,
}

/// See [`Args`].
pub struct PlanRename;

/// The most doubts that a refusal names.
const NAMED: usize = 5;
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
        let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let is_name = args.new_name.chars().all(is_letter) && !args.new_name.starts_with(|c: char| c.is_numeric());
        if args.new_name.is_empty() || !is_name {
            return Err(Error::new(Code::InvalidArguments, format!("{:?} is no name", args.new_name)));
        }
        let repo = related::open_now(call, args.repo.as_deref())?;
        let (snapshot, edges) = (&*repo.snapshot, related::edges(&repo)?);
        let symbol = related::symbol(&repo, &args.symbol_id)?;
        related::check_language(&symbol)?;
        let plan = query::renaming(snapshot, edges, &symbol, Some(&args.new_name));
        call.found(true);
        if args.output == Written::Json {
            let edits = call.page(edits(snapshot, &plan), usize::MAX);
            let doubt = |doubt: query::RenameDoubt| Doubt { file: doubt.path, line: doubt.line, why: doubt.why };
            let is_sure = plan.doubts.is_empty();
            let doubts = plan.doubts.into_iter().map(doubt).collect();
            return Ok(Output::Fields { symbol: symbol.id(), is_sure, edits, doubts });
        }
        if !plan.doubts.is_empty() && !args.force {
            return Err(refusal(&symbol.name(), &plan));
        }
        let mut text = String::new();
        for (file, spans) in &plan.places {
            if let Some(file) = snapshot.file_by_number(*file) {
                patch(&mut text, file, spans, &args.new_name);
            }
        }
        Ok(Output::Text { text })
    }
}

fn refusal(name: &str, plan: &Renaming) -> Error {
    let shown = plan.doubts.iter().take(NAMED).map(|doubt| format!("{}:{} ({})", doubt.path, doubt.line, doubt.why));
    let shown: Vec<String> = shown.collect();
    let more = plan.doubts.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let message = format!("{name} is not renamed, because this is in doubt: {}{more}", shown.join(", "));
    Error::new(Code::Unavailable, format!("{message}; with `force` the sure places are edited alone"))
}

fn edits(snapshot: &Snapshot, plan: &Renaming) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (file, spans) in &plan.places {
        let Some(file) = snapshot.file_by_number(*file) else { continue };
        let mut lines = LineCount::default();
        for span in spans {
            let before = &file.content()[..(span.start as usize).min(file.content().len())];
            let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
            let column = String::from_utf8_lossy(&before[start..]).chars().count() as u32 + 1;
            edits.push(Edit { file: file.path().to_owned(), line: lines.line_of(file.content(), span.start), column });
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
