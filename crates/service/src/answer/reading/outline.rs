//! The outline of a file: its symbols by line, members below their class.

use serde_json::{Map, Value};

use super::{Fields, Id, Wording, compact, next_page, number_of, objects_of, text_of, texts_of};

/// Keys with a place of their own in a row.
const SHOWN: [&str; 10] =
    ["attributes", "children", "detail", "end_line", "id", "kind", "line", "name", "signature", "summary"];

/// The outline of one file, or of several.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    if is_outline(fields) {
        return Some(outline(fields, say));
    }
    let results: Vec<&Fields> = objects_of(fields, "results").collect();
    let errors: Vec<&Fields> = objects_of(fields, "errors").collect();
    if !results.iter().all(|one| is_outline(one)) || (results.is_empty() && errors.is_empty()) {
        return None;
    }
    let mut text: String = results.into_iter().map(|one| outline(one, say)).collect();
    errors.into_iter().for_each(|failed| text.push_str(&format!("{}\n", say(text_of(failed, "error")))));
    if let Some(left) = number_of(fields, "left") {
        text.push_str(&format!("{left} more files{}\n", next_page(fields, say)));
    }
    Some(text)
}

fn is_outline(fields: &Fields) -> bool {
    fields.contains_key("file")
        && fields.contains_key("line_count")
        && fields.get("symbols").is_some_and(Value::is_array)
}

fn outline(fields: &Fields, say: Wording<'_>) -> String {
    let lines = number_of(fields, "line_count").unwrap_or_default();
    let mut text = format!("{}, {lines} lines", text_of(fields, "file"));
    let summary = text_of(fields, "summary");
    if !summary.is_empty() {
        text.push_str(&format!(" — {summary}"));
    }
    text.push('\n');
    for (key, what) in [
        ("has_errors", "some of it could not be parsed: symbols may be missing"),
        ("is_cut", "it is too long to be read whole: symbols are missing"),
    ] {
        if fields.get(key) == Some(&Value::Bool(true)) {
            text.push_str(&format!("{what}\n"));
        }
    }
    objects_of(fields, "symbols").for_each(|symbol| row(symbol, 0, &mut text));
    if let Some(left) = number_of(fields, "left") {
        text.push_str(&format!("{left} more symbols{}\n", next_page(fields, say)));
    }
    text
}

/// A symbol, then those inside it.
fn row(symbol: &Fields, depth: usize, text: &mut String) {
    let (line, end) = (number_of(symbol, "line").unwrap_or_default(), number_of(symbol, "end_line"));
    text.extend(std::iter::repeat_n(' ', depth));
    text.push_str(&line.to_string());
    if let Some(end) = end.filter(|end| *end != line) {
        text.push_str(&format!("-{end}"));
    }
    let signature = text_of(symbol, "signature").lines().next().unwrap_or_default();
    let (kind, name) = (Id::of(text_of(symbol, "id")).with_detail(symbol).kind, text_of(symbol, "name"));
    if needs_kind(signature, name) {
        text.push_str(&format!(" {kind}"));
    }
    if !signature.contains(name) {
        text.push_str(&format!(" {name}"));
    }
    text.push_str(&format!(" {signature}"));
    let summary = text_of(symbol, "summary");
    if !summary.is_empty() && !signature.contains(summary) {
        text.push_str(&format!(" — {summary}"));
    }
    let further: Map<String, Value> = symbol
        .iter()
        .filter(|(key, _)| !SHOWN.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !further.is_empty() {
        text.push_str(&format!(" {}", compact::one_line(&Value::Object(further))));
    }
    text.push('\n');
    let attributes = texts_of(symbol, "attributes");
    if !attributes.is_empty() {
        text.extend(std::iter::repeat_n(' ', depth + 1));
        text.push_str(&format!("{}\n", attributes.join("; ")));
    }
    objects_of(symbol, "children").for_each(|child| row(child, depth + 1, text));
}

/// Whether a signature leaves open what it is of: it is no call, and nothing stands before the name.
pub(super) fn needs_kind(signature: &str, name: &str) -> bool {
    let own = name.rsplit('.').next().unwrap_or(name);
    !signature.contains('(')
        && signature.split([' ', ':', '=']).next().is_none_or(|first| first == own || first.is_empty())
}
