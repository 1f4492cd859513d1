//! Plans of edits, as answered: places, doubts, and the refusal while anything is in doubt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Error;
use codelode_query::{LineCount, Plan, RenameDoubt, line_text};

/// The most doubts that a refusal names.
const NAMED: usize = 5;

/// Format of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// JSON fields.
    #[default]
    Json,
    /// As text, one place per line. Refused while a place is in doubt.
    Text,
}

/// A place to edit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Place {
    file: String,
    line: u32,
    column: u32,
    /// definition, override, call, reference, import, base, type or write.
    reason: &'static str,
    /// Text of the line.
    text: String,
}

/// A place that may need an edit, or another risk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Doubt {
    file: String,
    line: u32,
    why: &'static str,
}

/// The doubts of a plan.
pub fn doubts(found: Vec<RenameDoubt>) -> Vec<Doubt> {
    found.into_iter().map(|doubt| Doubt { file: doubt.path, line: doubt.line, why: doubt.why }).collect()
}

/// The places of a plan.
pub fn places(plan: &Plan<'_>) -> Vec<Place> {
    let mut places = Vec::new();
    for of_file in plan.places.chunk_by(|a, b| a.file.number() == b.file.number()) {
        let mut lines = LineCount::default();
        for place in of_file {
            let line = lines.line_of(place.file.content(), place.at);
            places.push(Place {
                file: place.file.path().to_owned(),
                line,
                column: column(place.file.content(), place.at),
                reason: place.reason.as_str(),
                text: line_text(place.file, place.at),
            });
        }
    }
    places
}

/// The column of a byte: the number of characters before it in its line, plus one.
pub fn column(content: &[u8], at: u32) -> u32 {
    let before = &content[..(at as usize).min(content.len())];
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    String::from_utf8_lossy(&before[start..]).chars().count() as u32 + 1
}

/// A plan as text, a place a line, with its doubts below. A plan in doubt is refused without `force`; `name` says of
/// what.
pub fn text(plan: &Plan<'_>, name: &str, force: bool) -> Result<String, Error> {
    if !plan.doubts.is_empty() && !force {
        let refused = format!("the places of {name} are not all known");
        return Err(refusal(&refused, &plan.doubts, "all of them are listed"));
    }
    let mut text = String::new();
    for Place { file, line, column, reason, text: code } in places(plan) {
        text.push_str(&format!("{file}:{line}:{column}: {reason}: {code}\n"));
    }
    for doubt in &plan.doubts {
        text.push_str(&format!("{}:{}: in doubt: {}\n", doubt.path, doubt.line, doubt.why));
    }
    Ok(text)
}

/// The refusal of a plan in doubt: `refused` says of what, `instead` what `force` does.
pub fn refusal(refused: &str, doubts: &[RenameDoubt], instead: &str) -> Error {
    let shown = doubts.iter().take(NAMED).map(|doubt| format!("{}:{} ({})", doubt.path, doubt.line, doubt.why));
    let shown: Vec<String> = shown.collect();
    let more = doubts.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let message = format!("{refused}, because this is in doubt: {}{more}", shown.join(", "));
    Error::unavailable(format!("{message}; with `force` {instead}"))
}
