//! Any answer: single facts with labels, and lists in rows. In a pipe each fact is one line.

use serde_json::{Map, Value};

use super::super::output::Output;
use super::super::words::Words;
use super::phrases::{counts, each_count, heading, label, named_list, short};
use super::rows::{GROUPS, Rows, rows_of};

/// Keys about how the answer was made, which become notes, and keys of failed parts, which come last.
const BESIDE: &[&str] = &[
    "_meta",
    "at_least",
    "errors",
    "left",
    "narrow",
    "nearest",
    "negative_evidence",
    "next_cursor",
    "result_count",
    "shortened",
    "timed_out",
    "total",
    "truncated",
    "unknown_words",
];
/// Keys whose value is a tool message.
const MESSAGES: &[&str] = &["hint", "note", "reason", "rest"];
/// Keys about the answer as a whole, which are no part of it.
const ASIDE: &[&str] =
    &["confidence", "left_out", "less_sure_count", "not_found", "perhaps_used_count", "references_left"];

/// Prints any object.
pub(super) fn show(value: &Value, out: &mut Output) -> bool {
    let Value::Object(answer) = value else { return false };
    part(answer, None, 0, out);
    super::failures(value, out);
    true
}

/// Prints an answer, or one of several answers in it, which is about `group`.
fn part(answer: &Map<String, Value>, group: Option<&str>, depth: usize, out: &mut Output) {
    let entries = || answer.iter().filter(|(key, value)| !BESIDE.contains(&key.as_str()) && !is_empty(value));
    let lists: Vec<(&String, Rows)> = entries()
        .filter_map(|(key, value)| Some((key, rows_of(key, value, answer, group.filter(|_| out.is_piped()))?)))
        .collect();
    let listed: Vec<&String> = lists.iter().map(|(key, _)| *key).collect();
    let has_rows = |key: &String| listed.contains(&key);
    let is_named = lists.len() > 1 || lists.iter().any(|(key, _)| named_list(key).is_some());
    let describes = lists.is_empty() || answer.contains_key("symbol_count");
    let is_above = describes || (is_named && !out.is_piped());
    let (words, mut above) = (out.words, Vec::new());
    for (key, value) in entries().filter(|(key, value)| !has_rows(key) && !is_counted(key, value, answer)) {
        match fact(key, value, words) {
            Some(fact) if is_above && !ASIDE.contains(&key.as_str()) => match several(key, value) {
                Some(texts) if out.is_piped() => above.extend(texts.into_iter().map(|text| (fact.0.clone(), text))),
                _ => above.push(fact),
            },
            Some((label, text)) if key == "symbol" => out.asides.push(said(&label, &format!("of {text}"))),
            Some((label, text)) => out.asides.push(said(&label, &text)),
            None => {}
        }
    }
    labelled(&above, depth, out);
    for (key, rows) in lists {
        if out.is_piped() {
            rows.show(depth, out);
            continue;
        }
        for (of, mut rows) in rows.by_definition() {
            if is_named {
                let of = if of.is_empty() { String::new() } else { format!(" of {of}") };
                let heading = out.paint.name(&format!("{}{of}", heading(key)));
                let shared = rows.take_shared_fact().map(|fact| format!(", {fact}")).unwrap_or_default();
                out.line(format!("{}{heading} ({}){shared}", "  ".repeat(depth), rows.count()));
            }
            rows.show(if is_named { depth + 1 } else { depth }, out);
        }
    }
    for (key, value) in entries().filter(|(key, value)| !has_rows(key) && fact(key, value, words).is_none()) {
        others(key, value, depth, out);
    }
}

/// Prints values that are neither facts nor rows: objects, long texts, lists of texts, and several answers.
fn others(key: &str, value: &Value, depth: usize, out: &mut Output) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(inner) if counts(key, inner).is_none() => {
            out.line(format!("{indent}{}", out.paint.name(&heading(key))));
            part(inner, None, depth + 1, out);
        }
        Value::String(text) if text.contains('\n') => out.raw(text),
        Value::Array(items) if items.iter().all(Value::is_object) => {
            for item in items.iter().filter_map(Value::as_object) {
                let group = GROUPS.iter().find_map(|key| item.get(*key)?.as_str());
                if let Some(group) = group.filter(|_| !out.is_piped()) {
                    out.line(format!("{indent}{}", out.paint.name(group)));
                }
                part(item, group, depth + usize::from(group.is_some()), out);
            }
        }
        Value::Array(items) if label(key).is_some() => {
            let texts: Vec<String> = items.iter().map(|item| short(item).unwrap_or_else(|| item.to_string())).collect();
            let lines = if out.is_piped() { texts } else { vec![texts.join(", ")] };
            lines.iter().for_each(|text| out.wrapped(&format!("{indent}{}: {text}", heading(key)), indent.len() + 2));
        }
        _ => {}
    }
}

/// Prints facts below each other.
fn labelled(facts: &[(String, String)], depth: usize, out: &mut Output) {
    let indent = "  ".repeat(depth);
    let widest =
        facts.iter().map(|(label, _)| label.chars().count()).filter(|width| *width <= WIDEST).max().unwrap_or(0);
    for (label, text) in facts {
        if out.is_piped() || label.is_empty() || text.is_empty() {
            out.wrapped(&format!("{indent}{}", said(label, text)), indent.len() + 2);
        } else {
            let label = format!("{label}:");
            let behind = indent.len() + widest + 2;
            out.wrapped(&format!("{indent}{}  {text}", out.paint.dim(&format!("{label:0$}", widest + 1))), behind + 1);
        }
    }
}

/// The widest label with which others are aligned.
const WIDEST: usize = 32;

fn said(label: &str, text: &str) -> String {
    match (label.is_empty(), text.is_empty()) {
        (true, _) => text.to_owned(),
        (_, true) => label.to_owned(),
        _ => format!("{label}: {text}"),
    }
}

/// A single fact: its label and its text.
fn fact(key: &str, value: &Value, words: Words) -> Option<(String, String)> {
    if key == "confidence" {
        // Only low confidence is worth mentioning.
        return (value == "low")
            .then(|| (String::new(), "not sure which is meant; other words may find it".to_owned()));
    }
    let label = label(key)?;
    let text = match value {
        Value::Bool(false) => return None,
        Value::Bool(true) => String::new(),
        Value::Object(inner) => counts(key, inner)?,
        Value::String(text) if text.contains('\n') => return None,
        Value::String(text) if key == "symbol" => return Some((String::new(), symbol(text))),
        Value::String(text) if key.ends_with("_at") || key == "since" => minute(text),
        other => short(other)?,
    };
    let text = if MESSAGES.contains(&key) { words.say(&text) } else { text };
    (!text.is_empty() || value.is_boolean()).then_some((label, text))
}

/// The texts of a fact that is a list.
fn several(key: &str, value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Object(inner) => each_count(key, inner),
        Value::Array(items) => items.iter().map(short).collect(),
        _ => None,
    }
}

/// A symbol's id as text for people.
fn symbol(id: &str) -> String {
    let Some((path, symbol)) = id.split_once("::") else { return id.to_owned() };
    let (name, kind) = symbol.rsplit_once('#').unwrap_or((symbol, "symbol"));
    format!("{kind} {name} in {path}")
}

/// A time, cut to the minute.
pub(super) fn minute(written: &str) -> String {
    written.get(..16).map_or_else(|| written.to_owned(), |minute| minute.replace('T', " "))
}

/// Whether a count is zero, or repeats the length of a list.
fn is_counted(key: &str, value: &Value, object: &Map<String, Value>) -> bool {
    if value.as_u64() == Some(0) {
        return true;
    }
    let Some(counted) = key.strip_suffix("_count") else { return false };
    let is_shown = |(other, list): (&String, &Value)| {
        let n = list.as_array().map(|items| items.len() as u64);
        (other.trim_end_matches('s') == counted || other.starts_with(&format!("{counted}_"))) && n == value.as_u64()
    };
    object.iter().any(is_shown)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
