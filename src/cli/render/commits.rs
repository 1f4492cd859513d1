//! Commits, one per line, each with the symbols that it changed below.

use serde_json::Value;

use super::super::output::Output;
use super::{n_of, number_of, text_of};

/// Length of an abbreviated id.
const SHORT: usize = 10;
/// Length of a date within a time.
const DATE: usize = 10;

pub(super) fn show(value: &Value, out: &mut Output) -> bool {
    let Some(commits) = value.get("commits").and_then(Value::as_array) else { return false };
    let symbol = text_of(value, "symbol_id");
    if let Some(symbol) = symbol.filter(|_| !out.is_piped()) {
        out.line(out.paint.name(symbol));
    }
    if value.get("uncommitted") == Some(&Value::Bool(true)) {
        out.line(out.paint.dim("it differs from the last commit"));
    }
    commits.iter().for_each(|commit| show_commit(commit, out));
    if let Some(cursor) = text_of(value, "next_cursor") {
        let note = format!("there are more; the next: --cursor {cursor}");
        out.asides.push(note);
    }
    true
}

fn show_commit(commit: &Value, out: &mut Output) {
    let paint = out.paint;
    let of = |key: &str| text_of(commit, key).unwrap_or_default();
    let (sha, date) = (of("sha"), of("time"));
    let sha = sha.get(..SHORT).unwrap_or(sha);
    let date = date.get(..DATE).unwrap_or(date);
    let change = text_of(commit, "change_type").map(|change| format!("  {}", paint.kind(change))).unwrap_or_default();
    let author = of("author");
    let taken = sha.len()
        + date.len()
        + author.chars().count()
        + 6
        + text_of(commit, "change_type").map_or(0, |it| it.len() + 2);
    let subject = out.cut(of("subject"), taken);
    out.line(format!("{}  {date}  {}{change}  {subject}", paint.path(sha), paint.dim(author)));
    let before = if out.is_piped() { format!("{sha}  ") } else { "  ".to_owned() };
    if let Some(was) = text_of(commit, "was") {
        out.line(format!("{before}{}", paint.dim(&format!("was {was}"))));
    }
    if commit.get("signature_changed") == Some(&Value::Bool(true)) {
        out.line(format!("{before}{}", paint.dim("signature changed")));
    }
    let symbols = commit.get("symbols").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for symbol in symbols {
        let (change, id) = (text_of(symbol, "change_type").unwrap_or_default(), text_of(symbol, "symbol_id"));
        let was = text_of(symbol, "was").map(|was| paint.dim(&format!("  was {was}"))).unwrap_or_default();
        out.line(format!("{before}{change:8}  {}{was}", id.unwrap_or_default()));
    }
    let files = commit.get("files").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let named = |file: &&str| {
        !symbols.iter().any(|symbol| text_of(symbol, "symbol_id").is_some_and(|id| id.starts_with(*file)))
    };
    for file in files.iter().filter_map(Value::as_str).filter(named) {
        out.line(format!("{before}{:8}  {}", "file", paint.path(file)));
    }
    let left = |key: &str, listed: usize| number_of(commit, key).map_or(0, |count| count.saturating_sub(listed as u64));
    let symbols = n_of(left("symbols_count", symbols.len()), "more symbol", "more symbols");
    let files = n_of(left("files_count", files.len()), "more file", "more files");
    for more in [symbols, files].iter().filter(|more| !more.starts_with("0 ")) {
        out.line(format!("{before}{}", paint.dim(more)));
    }
}
