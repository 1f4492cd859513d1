//! Prints the result of indexing: totals, changes, and files left out with reasons.

use serde_json::Value;

use super::super::output::Output;
use super::{n_of, number_of, reasons, text_of};
use codelode_base::config::PROJECT_FILE;

/// Prints files and folders left out, one per line.
pub(super) fn left_out(value: &Value, out: &mut Output) -> bool {
    let Some(all) = value.get("left_out").and_then(Value::as_array) else { return false };
    for left in all {
        let files = number_of(left, "files").map(|files| format!(", {}", n_of(files, "file", "files")));
        let reason = text_of(left, "reason").unwrap_or_default().replace('_', " ");
        let path = out.paint.path(text_of(left, "path").unwrap_or_default());
        out.line(format!("{path}  {reason}{}", files.unwrap_or_default()));
    }
    value.get("file_count").is_none()
}

pub(super) fn show(value: &Value, out: &mut Output) -> bool {
    let (Some(files), Some(symbols)) = (number_of(value, "file_count"), number_of(value, "symbol_count")) else {
        return false;
    };
    if value.get("success").is_none() && value.get("files_added").is_none() {
        return false;
    }
    let paint = out.paint;
    let repo = text_of(value, "repo").unwrap_or_default();
    let mut facts = vec![n_of(files, "file", "files"), n_of(symbols, "symbol", "symbols")];
    facts.extend(value.pointer("/_meta/timing_ms").and_then(Value::as_f64).map(seconds));
    out.line(format!("{}  {}", paint.name(repo), facts.join(", ")));
    let changes: Vec<String> = ["added", "changed", "removed"]
        .iter()
        .filter_map(|what| {
            let change = value.get(format!("files_{what}"))?;
            let n = change.as_u64().or_else(|| change.as_array().map(|files| files.len() as u64))?;
            (n > 0).then(|| format!("{n} {what}"))
        })
        .collect();
    let up_to_date = value.get("up_to_date") == Some(&Value::Bool(true));
    match (changes.is_empty(), up_to_date) {
        (true, true) => out.line("up to date"),
        (true, false) => out.line("nothing changed"),
        (false, _) => out.line(changes.join(", ")),
    }
    counts(value, "languages", "", out);
    counts(value, "skipped", "left out: ", out);
    for (provider, found) in value.get("context").and_then(Value::as_object).into_iter().flatten() {
        let described = serde_json::json!({ provider: found });
        counts(&described, provider, &format!("{provider}: "), out);
    }
    by_models(value, out);
    for warning in value.get("warnings").and_then(Value::as_array).into_iter().flatten() {
        let text = warning.as_str().map_or_else(|| warning.to_string(), str::to_owned);
        // Settings in a project file are no flags, so their names stay.
        let text = if text.contains(PROJECT_FILE) { text } else { out.words.say(&text) };
        out.line(paint.dim(&format!("warning: {text}")));
    }
    true
}

/// Prints summaries and embeddings made by models, with their costs.
fn by_models(value: &Value, out: &mut Output) {
    let of = |made: &Value, done: &str, pending: &str| {
        let host = text_of(made, "host").map(|host| format!(" at {host}")).unwrap_or_default();
        let by = text_of(made, "model").map(|model| format!(" by {model}{host}")).unwrap_or_default();
        let tokens = number_of(made, "used_tokens").filter(|tokens| *tokens > 0);
        let tokens = tokens.map(|tokens| format!(", {tokens} tokens")).unwrap_or_default();
        let cost = made.get("cost_usd").and_then(Value::as_f64).filter(|cost| *cost > 0.0);
        let cost = cost.map(|cost| format!(", ${cost}")).unwrap_or_default();
        let left = number_of(made, pending).filter(|left| *left > 0);
        let left = left.map(|left| format!("; {left} pending")).unwrap_or_default();
        (number_of(made, done).unwrap_or_default(), format!("{by}{tokens}{cost}{left}"))
    };
    if let Some(made) = value.get("summaries") {
        let (n, rest) = of(made, "summarized", "summaries_pending");
        out.line(format!("{} summarised{rest}", n_of(n, "symbol", "symbols")));
    }
    if let Some(made) = value.get("embeddings") {
        let (n, rest) = of(made, "embedded", "missing");
        out.line(format!("{} embedded{rest}", n_of(n, "text", "texts")));
    }
}

/// Milliseconds as seconds.
fn seconds(milliseconds: f64) -> String {
    let seconds = milliseconds / 1000.0;
    if seconds < 1.0 { format!("{seconds:.2} s") } else { format!("{seconds:.1} s") }
}

/// Prints a map of counts, largest first.
fn counts(value: &Value, key: &str, label: &str, out: &mut Output) {
    let Some(map) = value.get(key).and_then(Value::as_object) else { return };
    let mut counts: Vec<(&String, u64)> =
        map.iter().filter_map(|(name, n)| Some((name, n.as_u64()?))).filter(|(_, n)| *n > 0).collect();
    counts.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
    if counts.is_empty() {
        return;
    }
    let counts: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {}", reasons(name, *n))).collect();
    let lines = if out.is_piped() { counts } else { vec![counts.join(", ")] };
    lines.iter().for_each(|line| out.wrapped(&out.paint.dim(&format!("{label}{line}")), 2));
}
