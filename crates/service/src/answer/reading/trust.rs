//! The first lines of an answer: whether it can be trusted, and which part of the whole it is.

use serde_json::Value;

use super::{Fields, Wording, n_of, number_of, text_of, texts_of};

/// Keys of `_meta` that say nothing to a reader, or are said elsewhere.
const SILENT: [&str; 19] = [
    "changes_pending",
    "content_verified",
    "embeddings_missing",
    "estimate_method",
    "first_indexed",
    "folder_missing",
    "frequencies",
    "freshness",
    "named",
    "no_relations_for",
    "no_symbols_for",
    "read_so_far",
    "repo",
    "repos",
    "scores",
    "symbol_count",
    "timing_ms",
    "tokens_saved",
    "total_tokens_saved",
];

/// A line for each fact that a reader has to know first; none of an answer that is whole and fresh.
pub(super) fn first_lines(fields: &Fields, say: Wording<'_>) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Some(meta) = fields.get("_meta").and_then(Value::as_object) {
        lines.extend(freshness(meta));
        lines.extend(meta.iter().filter_map(|(key, value)| fact(key, value, meta, say)));
        lines.extend(unread(meta));
    }
    lines.extend(fields.get("verdict").and_then(Value::as_str).map(|verdict| words_of(verdict).to_owned()));
    let shortened = texts_of(fields, "shortened");
    if !shortened.is_empty() {
        lines.push(say(&format!("shortened to fit `max_tokens`: {}", shortened.join(", "))));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The words of a verdict, before which a code for programs stands.
pub(super) fn words_of(verdict: &str) -> &str {
    verdict.split_once(": ").map_or(verdict, |(_, words)| words)
}

/// Whether the answer is that of the files as they are.
fn freshness(meta: &Fields) -> Option<String> {
    let read_so_far = meta.get("read_so_far").and_then(Value::as_object);
    let text = match (text_of(meta, "freshness"), read_so_far) {
        (_, Some(read)) => {
            let number = |key| number_of(read, key).unwrap_or_default();
            return Some(format!(
                "from {} of {}: the index is still being made, and missing results may be in the rest",
                number("files"),
                n_of(number("of"), "file", "files")
            ));
        }
        ("unchecked", _) if meta.contains_key("folder_missing") => {
            "its folder is not here: this is how it was when it was indexed"
        }
        ("unchecked", _) => "not compared with the folder in time: files may have changed",
        ("stale", _) => "stale: some files have changed since they were indexed",
        ("indexing", _) => "stale: changed files are still being read",
        _ => return None,
    };
    Some(text.to_owned())
}

/// A note of a tool.
fn fact(key: &str, value: &Value, meta: &Fields, say: Wording<'_>) -> Option<String> {
    match (key, value) {
        _ if SILENT.contains(&key) => None,
        ("truncated", _) | (_, Value::Bool(false) | Value::Null) => None,
        ("only_indexed", _) => Some(format!("of {}, the only repository that is indexed", text_of(meta, "repo"))),
        ("timed_out", _) => Some("the time was up before every file was looked into: there may be more".to_owned()),
        (
            "hint" | "inherited" | "unnamed_uses" | "relations_missing" | "compiler_stale" | "embedding_warning",
            Value::String(text),
        ) => Some(say(text)),
        ("not_read_whole", Value::Object(files)) => {
            let more = number_of(files, "more").map(|more| format!(" and {more} more")).unwrap_or_default();
            let names = texts_of(files, "files").join(", ");
            Some(format!("read in part, so that uses there are not known: {names}{more}"))
        }
        ("not_here" | "not_read", Value::Object(left_out)) => {
            let each: Vec<String> = left_out.iter().map(|(why, n)| format!("{n} {}", why.replace('_', " "))).collect();
            Some(format!("{}: {}", key.replace('_', " "), each.join(", ")))
        }
        (_, Value::String(text)) => Some(format!("{}: {text}", key.replace('_', " "))),
        (_, Value::Bool(true)) => Some(key.replace('_', " ")),
        (_, Value::Array(items)) if items.iter().all(Value::is_string) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Some(format!("{}: {}", key.replace('_', " "), texts.join(", ")))
        }
        _ => Some(format!("{}: {value}", key.replace('_', " "))),
    }
}

/// Languages in which nothing can be found.
fn unread(meta: &Fields) -> Option<String> {
    let of = |note: &str, without: &str| {
        let languages = meta.get(note).and_then(Value::as_object)?;
        let each: Vec<String> = languages.iter().map(|(name, n)| format!("{name} ({n})")).collect();
        Some(format!("no {without} for {}", each.join(", ")))
    };
    let notes: Vec<String> =
        [of("no_symbols_for", "symbols"), of("no_relations_for", "relations")].into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}
