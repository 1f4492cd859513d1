//! Answers that are lists of symbols, files or places beside a few facts: each list under its name, below their files.

use serde_json::Value;

use super::rows::Rows;
use super::{Fields, Id, Wording, compact, next_page, number_of, objects_of, text_of};

/// Keys with a place of their own in a row, or that say nothing beside the order of rows.
const SHOWN: [&str; 15] = [
    "algorithm",
    "change_type",
    "detail",
    "file",
    "has_importers",
    "id",
    "iterations_to_converge",
    "kind",
    "line",
    "name",
    "qualified_name",
    "rank",
    "relatedness_score",
    "symbol_id",
    "timing_ms",
];
/// Keys about the making of an answer.
const OF_ANSWER: [&str; 8] = ["_meta", "errors", "left", "narrow", "next_cursor", "total", "truncated", "verdict"];
/// Keys of ids.
const IDS: [&str; 2] = ["id", "symbol_id"];

/// An answer whose lists are all of symbols, files, places or names, or several of them.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    match objects_of(fields, "results").map(lists).collect::<Option<Vec<String>>>() {
        Some(several) if !several.is_empty() => Some(several.concat() + &rest(fields, say)),
        _ => Some(lists(fields)? + &rest(fields, say)),
    }
}

/// Failures, and how to go on.
fn rest(fields: &Fields, say: Wording<'_>) -> String {
    let mut text: String =
        objects_of(fields, "errors").map(|one| format!("{}\n", say(text_of(one, "error")))).collect();
    if let Some(left) = number_of(fields, "left") {
        text.push_str(&format!("{left} more{}\n", next_page(fields, say)));
    }
    text
}

fn lists(fields: &Fields) -> Option<String> {
    let own = || fields.iter().filter(|(key, _)| !OF_ANSWER.contains(&key.as_str()) && !SHOWN.contains(&key.as_str()));
    let is_list = |value: &Value| is_list_of_places(value) || value.as_array().is_some_and(Vec::is_empty);
    if !own().any(|(_, value)| is_list(value)) || !own().all(|(_, value)| is_shown(value)) {
        return None;
    }
    let (facts, lists): (Vec<_>, Vec<_>) = own().partition(|(_, value)| !value.is_array() && !value.is_object());
    let (ids, facts): (Vec<_>, Vec<_>) = facts.into_iter().partition(|(_, value)| is_id(value));
    let mut text: String = ids.iter().map(|(key, value)| part(key, value)).collect();
    let facts: Vec<String> =
        facts.iter().map(|(key, value)| format!("{}: {}", key.replace('_', " "), scalar(value))).collect();
    if !facts.is_empty() {
        text.push_str(&format!("{}\n", facts.join("; ")));
    }
    lists.iter().for_each(|(key, value)| text.push_str(&part(key, value)));
    Some(text)
}

/// Whether a value is the id of a symbol.
fn is_id(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains("::") && text.contains('#'))
}

/// Whether a value is a list of objects that have a place.
fn is_list_of_places(value: &Value) -> bool {
    let is_placed = |item: &Value| item.as_object().is_some_and(|item| !file_of(item).is_empty());
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(is_placed))
}

/// Whether a value has a form here: a fact, a list of names, a symbol, a list of places.
fn is_shown(value: &Value) -> bool {
    match value {
        Value::Array(items) => {
            items.iter().all(|item| !item.is_object() && !item.is_array()) || is_list_of_places(value)
        }
        Value::Object(item) => !file_of(item).is_empty(),
        _ => true,
    }
}

/// A key and its value.
fn part(key: &str, value: &Value) -> String {
    let name = key.replace('_', " ");
    match value {
        Value::Array(items) if items.is_empty() => String::new(),
        Value::Array(items) if is_list_of_places(value) => {
            let mut rows = Rows::default();
            for item in items.iter().filter_map(Value::as_object) {
                add(item, &mut rows);
            }
            format!("{name} ({}):\n{}", items.len(), rows.text())
        }
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().map(scalar).collect();
            format!("{name}: {}\n", texts.join(", "))
        }
        Value::Object(item) => format!("{name} {}:{}\n", file_of(item), row(item)),
        Value::String(id) if is_id(value) => format!("{}\n", Id::of(id).placed(None)),
        value => format!("{name}: {}\n", scalar(value)),
    }
}

/// Adds an item: itself, or its matching lines.
fn add(item: &Fields, rows: &mut Rows) {
    let Some(matches) = item.get("matches").and_then(Value::as_array) else {
        return rows.add(file_of(item), row(item));
    };
    for hit in matches.iter().filter_map(Value::as_object) {
        let how = match text_of(hit, "confidence") {
            "name" => " (only the name is the same)",
            _ => "",
        };
        let line = number_of(hit, "line").unwrap_or_default();
        rows.add(file_of(item), format!("{line}:{}{how}", text_of(hit, "text")));
    }
}

/// A text without quotes, or another value as it is.
fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The file of an item; empty for none.
fn file_of(item: &Fields) -> &str {
    let of_id = || IDS.iter().map(|key| Id::of(text_of(item, key)).file).find(|file| !file.is_empty());
    match ["file", "path"].iter().map(|key| text_of(item, key)).find(|file| !file.is_empty()) {
        Some(file) => file,
        None => of_id().unwrap_or_default(),
    }
}

/// A symbol or place: its line, its name, and what else is known of it.
fn row(item: &Fields) -> String {
    let id = IDS.iter().map(|key| Id::of(text_of(item, key))).find(|id| !id.name.is_empty()).unwrap_or_default();
    let name = if id.name.is_empty() { text_of(item, "name") } else { id.name };
    let line = number_of(item, "line").map(|line| line.to_string()).unwrap_or_default();
    let mut row = [line.as_str(), name].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ");
    let further = item
        .iter()
        .filter(|(key, value)| !SHOWN.contains(&key.as_str()) && *key != "path" && **value != Value::Bool(false));
    for (key, value) in further {
        row.push_str(&match (key.as_str(), value) {
            ("signature" | "text" | "reason", Value::String(text)) => format!(" {text}"),
            ("summary", Value::String(text)) if text.is_empty() => String::new(),
            ("summary", Value::String(text)) => format!(" — {text}"),
            ("symbols" | "reasons", Value::Array(names)) => {
                format!(" {}", names.iter().map(scalar).collect::<Vec<_>>().join(", "))
            }
            (key, Value::Bool(true)) => format!(" {}", key.replace('_', " ")),
            (key, value) => format!(" {} {}", key.replace('_', " "), compact::one_line(value)),
        });
    }
    row.trim_start().to_owned()
}
