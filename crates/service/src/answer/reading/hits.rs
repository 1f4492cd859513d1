//! Hits of a search: as many as answer, the best first; a weak rest is a count.

use serde_json::Value;

use super::outline::needs_kind;
use super::rows::{Rows, numbered};
use super::trust::words_of;
use super::{Fields, Id, Wording, compact, next_page, number_of, objects_of, text_of, texts_of};

/// Keys with a place of their own, or that the order of hits shows.
const SHOWN: [&str; 17] = [
    "detail",
    "edit_distance",
    "file",
    "fuzzy_similarity",
    "id",
    "kind",
    "line",
    "match_type",
    "name",
    "origin",
    "overloads",
    "repo",
    "score",
    "signature",
    "source",
    "source_line",
    "summary",
];

/// Symbols or files that a search found.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    if !fields.contains_key("confidence") || !fields.get("results").is_some_and(Value::is_array) {
        return None;
    }
    let hits: Vec<&Fields> = objects_of(fields, "results").collect();
    if hits.is_empty() {
        return Some(nothing(fields, say));
    }
    let mut text = String::new();
    if hits.iter().all(|hit| is_name_alone(hit)) {
        return Some(text + &files(&hits) + &rest(fields, say));
    }
    let mut rows = Rows::default();
    let mut hits = hits;
    by_file(&mut hits, |hit| text_of(hit, "file"));
    for hit in &hits {
        let repo = text_of(hit, "repo");
        let file = text_of(hit, "file");
        let file = if repo.is_empty() { file.to_owned() } else { format!("{repo}: {file}") };
        rows.add(&file, row(hit));
    }
    text.push_str(&rows.text());
    text.push_str(&rest(fields, say));
    if let Some(evidence) = fields.get("evidence") {
        text.push_str(&format!("evidence {}\n", compact::one_line(evidence)));
    }
    Some(text)
}

/// A hit: `12 Cart.total: def total(self) — Sums the prices.` A name that the signature shows is not said twice.
pub(super) fn row(hit: &Fields) -> String {
    let signature = text_of(hit, "signature");
    let Id { kind, name, .. } = Id::of(text_of(hit, "id")).with_detail(hit);
    let mut row = number_of(hit, "line").unwrap_or_default().to_string();
    if needs_kind(signature, name) {
        row.push_str(&format!(" {kind}"));
    }
    let is_source_shown = hit.contains_key("source");
    match () {
        () if is_source_shown => row.push_str(&format!(" {name}")),
        () if name.is_empty() || signature.contains(name) => row.push_str(&format!(" {signature}")),
        () if name.contains('.') => row.push_str(&format!(" {name}: {signature}")),
        () => row.push_str(&format!(" {name} {signature}")),
    }
    let summary = text_of(hit, "summary");
    if !summary.is_empty() && !signature.contains(summary) {
        row.push_str(&format!(" — {summary}"));
    }
    if let Some(overloads) = number_of(hit, "overloads") {
        row.push_str(&format!(" ({overloads} of this name)"));
    }
    if hit.contains_key("match_type") {
        row.push_str(" (a similar name)");
    }
    let origin = text_of(hit, "origin");
    if !origin.is_empty() {
        row.push_str(&format!(" ({origin})"));
    }
    if let Some(uses) = number_of(hit, "uses") {
        row.push_str(&format!(" ({})", super::n_of(uses, "use", "uses")));
    }
    let further: Fields = hit
        .iter()
        .filter(|(key, _)| !SHOWN.contains(&key.as_str()) && *key != "uses")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !further.is_empty() {
        row.push_str(&format!(" {}", compact::one_line(&Value::Object(further))));
    }
    let first = number_of(hit, "source_line").or_else(|| number_of(hit, "line")).unwrap_or(1);
    let source = numbered(first, text_of(hit, "source"));
    if !source.is_empty() {
        row.push_str(&format!("\n{}", source.trim_end()));
    }
    row
}

/// Whether a hit is shown by its name alone.
fn is_name_alone(hit: &Fields) -> bool {
    text_of(hit, "signature").is_empty() && !hit.contains_key("source")
}

/// Kinds of symbols that hold a value, and those of documents, in a row after what runs.
const VALUES: [&str; 7] = ["constant", "field", "property", "variable", "static", "enum member", "selector"];
const SECTION: &str = "section";

/// The files of hits with the names in each, documents last.
fn files(hits: &[&Fields]) -> String {
    let mut files: Vec<(String, Vec<(u8, String)>)> = Vec::new();
    for hit in hits {
        let id = Id::of(text_of(hit, "id")).with_detail(hit);
        let repo = text_of(hit, "repo");
        let file = if repo.is_empty() { id.file.to_owned() } else { format!("{repo}: {}", id.file) };
        let rank = if id.kind == SECTION { 2 } else { u8::from(VALUES.contains(&id.kind)) };
        let alike = if hit.contains_key("match_type") { " (a similar name)" } else { "" };
        let name = format!("{} {}{alike}", number_of(hit, "line").unwrap_or_default(), id.name);
        match files.iter_mut().find(|(other, _)| *other == file) {
            Some((_, names)) => names.push((rank, name)),
            None => files.push((file, vec![(rank, name)])),
        }
    }
    files.iter_mut().for_each(|(_, names)| names.sort_by_key(|(rank, _)| *rank));
    files.sort_by_key(|(_, names)| names.iter().all(|(rank, _)| *rank == 2));
    let names = |names: &[(u8, String)]| names.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
    files.iter().map(|(file, of_file)| format!("{file}:{}\n", names(of_file))).collect()
}

/// Brings hits of one file together, at the place of the first.
pub(super) fn by_file<'a>(hits: &mut [&'a Fields], file_of: impl Fn(&'a Fields) -> &'a str) {
    let files: Vec<&str> = hits.iter().map(|hit| file_of(hit)).collect();
    hits.sort_by_key(|hit| files.iter().position(|file| *file == file_of(hit)));
}

/// The number of hits that are not shown.
fn rest(fields: &Fields, say: Wording<'_>) -> String {
    let further = texts_of(fields, "further");
    if !further.is_empty() {
        return format!("perhaps also {}\n", further.join(", "));
    }
    // Hits that are far below the best tell nothing.
    if fields.contains_key("weaker") {
        return String::new();
    }
    match number_of(fields, "left") {
        Some(left) if text_of(fields, "confidence") != "high" => format!("{left} more{}\n", next_page(fields, say)),
        _ => String::new(),
    }
}

/// That nothing was found: where it was looked for, and what is similar.
pub(super) fn nothing(fields: &Fields, say: Wording<'_>) -> String {
    let Some(absence) = fields.get("negative_evidence").and_then(Value::as_object) else {
        return "nothing found\n".to_owned();
    };
    let number = |key| number_of(absence, key).unwrap_or_default();
    let verdict = match text_of(absence, "verdict") {
        "not_found" | "" => "nothing found".to_owned(),
        verdict => format!("nothing found; {}", words_of(verdict)),
    };
    let mut text = format!(
        "{verdict}; looked at {} in {}",
        super::n_of(number("scanned_symbols"), "symbol", "symbols"),
        super::n_of(number("scanned_files"), "file", "files")
    );
    for (key, what) in [("left_out", "not indexed"), ("no_symbols_for", "no symbols for")] {
        if let Some(counts) = absence.get(key).and_then(Value::as_object) {
            let each: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {}", name.replace('_', " "))).collect();
            text.push_str(&format!("; {what}: {}", each.join(", ")));
        }
    }
    text.push('\n');
    let near = texts_of(absence, "nearest");
    if !near.is_empty() {
        text.push_str(&format!("similar: {}\n", near.join(", ")));
    }
    let ask = text_of(absence, "ask");
    if !ask.is_empty() {
        text.push_str(&say(&format!("ask {ask}\n")));
    }
    text
}
