//! Prints matching lines like grep.

use serde_json::Value;

use super::super::output::Output;
use super::{number_of, text_of};

pub(super) fn show(value: &Value, out: &mut Output) -> bool {
    let Some(files) = value.get("results").and_then(Value::as_array) else { return false };
    if files.is_empty() || !files.iter().all(|file| file.get("matches").is_some_and(Value::is_array)) {
        return false;
    }
    let paint = out.paint;
    for file in files {
        let path = text_of(file, "file").unwrap_or_default();
        for hit in file.get("matches").and_then(Value::as_array).into_iter().flatten() {
            let line = number_of(hit, "line").unwrap_or(0);
            let before = texts(hit, "before");
            let after = texts(hit, "after");
            let first = line.saturating_sub(before.len() as u64);
            for (number, text) in (first..).zip(&before) {
                out.line(format!("{}-{}-{text}", paint.path(path), paint.line(number)));
            }
            let text = text_of(hit, "text").unwrap_or_default();
            out.line(format!("{}:{}:{text}", paint.path(path), paint.line(line)));
            for (number, text) in (line + 1..).zip(&after) {
                out.line(format!("{}-{}-{text}", paint.path(path), paint.line(number)));
            }
            if !before.is_empty() || !after.is_empty() {
                out.line(paint.dim("--"));
            }
        }
    }
    true
}

/// The lines around a match.
fn texts(hit: &Value, key: &str) -> Vec<String> {
    match hit.get(key) {
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(lines)) => lines.lines().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
