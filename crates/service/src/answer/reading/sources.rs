//! Source of symbols: the file above its lines, with their numbers.

use serde_json::Value;

use super::rows::numbered;
use super::{Fields, Id, Wording, compact, list_of, number_of, objects_of, text_of, texts_of};

/// Keys with a place of their own in the text, or that the source shows.
const SHOWN: [&str; 19] = [
    "_meta",
    "after",
    "before",
    "decorators",
    "detail",
    "docstring",
    "end_line",
    "file",
    "id",
    "kind",
    "line",
    "name",
    "outline",
    "parts",
    "rest",
    "signature",
    "source",
    "source_line",
    "truncated",
];

/// One symbol, or several and what is wrong with the others.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    if is_source(fields) {
        return Some(symbol(fields, "", say));
    }
    let has_lists = ["symbols", "errors"].iter().all(|key| fields.get(*key).is_some_and(Value::is_array));
    if !has_lists || !list_of(fields, "symbols").iter().all(is_source_value) {
        return None;
    }
    let mut text = String::new();
    let mut above = "";
    for one in objects_of(fields, "symbols") {
        text.push_str(&symbol(one, above, say));
        above = text_of(one, "file");
    }
    for failed in objects_of(fields, "errors") {
        text.push_str(&say(text_of(failed, "error")));
        let near = texts_of(failed, "nearest");
        text.push_str(&if near.is_empty() { "\n".to_owned() } else { format!(": {}\n", near.join(", ")) });
    }
    if let Some(left) = number_of(fields, "left") {
        text.push_str(&format!("{left} more{}\n", super::next_page(fields, say)));
    }
    Some(text)
}

fn is_source_value(value: &Value) -> bool {
    value.as_object().is_some_and(is_source)
}

fn is_source(fields: &Fields) -> bool {
    fields.contains_key("id") && ["source", "outline", "parts"].iter().any(|key| fields.contains_key(*key))
}

/// A symbol below its file, unless that stands above already.
fn symbol(fields: &Fields, above: &str, say: Wording<'_>) -> String {
    let file = text_of(fields, "file");
    let mut text = if file == above { String::new() } else { format!("{file}\n") };
    let name = Id::of(text_of(fields, "id")).name;
    // The source shows the name, but not whose it is.
    if name.contains('.') {
        text.push_str(&format!("{name}\n"));
    }
    if let Some(paragraph) = text_of(fields, "docstring").split("\n\n").next().filter(|doc| !doc.is_empty()) {
        text.push_str(&format!("{}\n", paragraph.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    let further = further(fields);
    if !further.is_empty() {
        text.push_str(&format!("{}\n", compact::render(&Value::Object(further))));
    }
    let first = number_of(fields, "source_line").or_else(|| number_of(fields, "line")).unwrap_or(1);
    let (before, source) = (text_of(fields, "before"), text_of(fields, "source"));
    text.push_str(&numbered(first.saturating_sub(before.lines().count() as u64), before));
    text.push_str(&numbered(first, source));
    // The text after it begins with the rest of its last line.
    let after: Vec<&str> = text_of(fields, "after").lines().skip(1).collect();
    text.push_str(&numbered(first + source.lines().count() as u64, &after.join("\n")));
    for part in objects_of(fields, "parts") {
        text.push_str(&numbered(number_of(part, "line").unwrap_or(1), text_of(part, "source")));
    }
    for member in objects_of(fields, "outline") {
        text.push_str(&format!("{}:{}\n", number_of(member, "line").unwrap_or(1), text_of(member, "signature")));
    }
    let rest = text_of(fields, "rest");
    if !rest.is_empty() {
        text.push_str(&format!("{}\n", say(rest).replace(" FILE ", &format!(" {file} "))));
    }
    text
}

/// Facts that were asked for.
fn further(fields: &Fields) -> Fields {
    fields
        .iter()
        .filter(|(key, _)| !SHOWN.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
