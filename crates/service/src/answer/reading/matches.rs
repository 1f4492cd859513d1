//! Lines that match, below their files, with the lines around them and the symbols that hold them.

use serde_json::Value;

use super::rows::Rows;
use super::{Fields, Wording, list_of, next_page, number_of, objects_of, text_of};

/// Keys of a match of text. Those of syntax have captures, too.
const OF_TEXT: [&str; 5] = ["line", "text", "before", "after", "symbol"];

/// Matching lines by file.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    let files: Vec<&Fields> = objects_of(fields, "results").collect();
    if files.is_empty() || !files.iter().all(|file| has_matches(file)) {
        return None;
    }
    let mut rows = Rows::default();
    for file in files {
        let repo = text_of(file, "repo");
        let path = text_of(file, "file");
        let path = if repo.is_empty() { path.to_owned() } else { format!("{repo}: {path}") };
        objects_of(file, "matches").for_each(|hit| add(hit, &path, &mut rows));
    }
    let mut text = rows.text();
    if let Some(left) = number_of(fields, "left") {
        text.push_str(&format!("{left} more{}\n", next_page(fields, say)));
    }
    Some(text)
}

/// Whether these are the matches of a file.
fn has_matches(file: &Fields) -> bool {
    let is_of_text = |hit: &Fields| hit.keys().all(|key| OF_TEXT.contains(&key.as_str()));
    !text_of(file, "file").is_empty()
        && file.get("matches").is_some_and(Value::is_array)
        && objects_of(file, "matches").all(is_of_text)
}

/// Adds a match, between the lines around it.
fn add(hit: &Fields, path: &str, rows: &mut Rows) {
    let line = number_of(hit, "line").unwrap_or_default();
    let (before, after) = (lines_of(hit, "before"), lines_of(hit, "after"));
    let first = line.saturating_sub(before.len() as u64);
    for (number, text) in (first..).zip(&before) {
        rows.add(path, format!("{number}-{text}"));
    }
    let within = match text_of(hit, "symbol") {
        "" => String::new(),
        symbol => format!("  in {}", name_of(symbol)),
    };
    rows.add(path, format!("{line}:{}{within}", text_of(hit, "text")));
    for (number, text) in (line + 1..).zip(&after) {
        rows.add(path, format!("{number}-{text}"));
    }
}

/// The name in an id, also in one without its file.
fn name_of(symbol: &str) -> &str {
    let rest = symbol.rsplit("::").next().unwrap_or(symbol);
    rest.rsplit_once('#').map_or(rest, |(name, _)| name)
}

/// The lines around a match, as a list or as one text.
fn lines_of<'a>(hit: &'a Fields, key: &str) -> Vec<&'a str> {
    match list_of(hit, key) {
        [] => text_of(hit, key).lines().collect(),
        lines => lines.iter().filter_map(Value::as_str).collect(),
    }
}
