//! Code for a question: candidates first, each with its reason, then the source of the best.

use serde_json::Value;

use super::rows::{Rows, numbered};
use super::{Fields, Id, Wording, hits, list_of, number_of, objects_of, text_of, texts_of};

/// The most files that are named beside the candidates.
const MOST_FILES: usize = 5;

/// The best of one repository, or of several.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    if !fields.contains_key("confidence") || !fields.get("items").is_some_and(Value::is_array) {
        return None;
    }
    let is_empty = |page: &Fields| ["items", "files", "candidates"].iter().all(|key| list_of(page, key).is_empty());
    let repositories: Vec<&Fields> = objects_of(fields, "repositories").collect();
    if is_empty(fields) && repositories.is_empty() {
        return Some(hits::nothing(fields, say));
    }
    let mut text = String::new();
    if repositories.is_empty() {
        text.push_str(&page(fields));
    }
    for repository in repositories {
        text.push_str(&format!("{}\n{}", text_of(repository, "repo"), page(repository)));
    }
    Some(text)
}

/// Candidates of a repository, and sources.
fn page(fields: &Fields) -> String {
    let (mut rows, mut sources) = (Rows::default(), String::new());
    let mut above: Vec<&str> = Vec::new();
    let mut candidates: Vec<&Fields> = objects_of(fields, "candidates").collect();
    hits::by_file(&mut candidates, |one| Id::of(text_of(one, "id")).file);
    for one in candidates {
        let id = Id::of(text_of(one, "id"));
        above.push(id.file);
        rows.add(id.file, candidate(one, id));
    }
    let has_candidates = !above.is_empty();
    let mut file = "";
    for item in objects_of(fields, "items") {
        let id = Id::of(text_of(item, "symbol_id"));
        if !has_candidates {
            above.push(id.file);
            rows.add(id.file, candidate(item, id));
        }
        let source = source(item, id);
        if !source.is_empty() && file != id.file {
            file = id.file;
            sources.push_str(&format!("\n{file}\n"));
        }
        sources.push_str(&source);
    }
    let mut text = rows.text();
    // Files whose symbols stand above need no row of their own.
    for file in objects_of(fields, "files").filter(|file| !above.contains(&text_of(file, "file"))).take(MOST_FILES) {
        let why = text_of(file, "why");
        text.push_str(&format!("{}: {}\n", text_of(file, "file"), if why == "text" { "its text" } else { why }));
    }
    text.push_str(&sources);
    text
}

/// A candidate: its line, its signature, and what it is for.
fn candidate(item: &Fields, id: Id<'_>) -> String {
    let mut row = number_of(item, "line").unwrap_or_default().to_string();
    let signature = text_of(item, "signature");
    match () {
        () if signature.is_empty() => row.push_str(&format!(" {}", id.name)),
        () if signature.contains(id.name) => row.push_str(&format!(" {signature}")),
        () => row.push_str(&format!(" {}: {signature}", id.name)),
    }
    let why = text_of(item, "why");
    if !why.is_empty() {
        row.push_str(&format!(" — {why}"));
    }
    row
}

/// The source of an item below its file, with its users and tests.
fn source(item: &Fields, id: Id<'_>) -> String {
    let source = text_of(item, "source");
    let first = number_of(item, "source_line").or_else(|| number_of(item, "line")).unwrap_or(1);
    let mut text = String::new();
    if !source.is_empty() {
        text.push_str(&numbered_around(first, source, item));
    }
    for member in objects_of(item, "outline") {
        text.push_str(&format!("{}:{}\n", number_of(member, "line").unwrap_or(1), text_of(member, "signature")));
    }
    if let Some(line) = number_of(item, "goes_on_at_line") {
        text.push_str(&format!("it goes on at line {line}\n"));
    }
    for (key, what) in [("used_by", "used by"), ("tested_by", "tested by")] {
        let names: Vec<String> = texts_of(item, key).iter().map(|other| briefly(Id::of(other), id.file)).collect();
        if !names.is_empty() {
            text.push_str(&format!("{what} {}\n", names.join(", ")));
        }
    }
    text
}

/// Lines of source with their numbers, which go on behind documentation that is left out.
fn numbered_around(first: u64, source: &str, item: &Fields) -> String {
    let left_out: Vec<u64> = list_of(item, "left_out_lines").iter().filter_map(Value::as_u64).collect();
    let [from, to] = left_out[..] else { return numbered(first, source) };
    let end = source.split_inclusive('\n').take(from.saturating_sub(first) as usize).map(str::len).sum();
    let (before, behind) = source.split_at(end);
    format!("{}{}", numbered(first, before), numbered(to + 1, behind))
}

/// A symbol by its name, and by its file if that is another.
fn briefly(id: Id<'_>, file: &str) -> String {
    match () {
        () if id.name.is_empty() => id.file.to_owned(),
        () if id.file == file => id.name.to_owned(),
        () => format!("{}::{}", id.file, id.name),
    }
}
