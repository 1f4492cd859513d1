//! Edits of JSON, with or without comments: pieces of text are put in or taken out, and nothing is written anew.

use jsonc_parser::ast::{Array, Object, Value as Node};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use super::{Error, Place};

/// Comments and trailing commas are what clients write and accept; anything looser is a mistake.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};
/// Indentation where a file shows none.
const UNIT: &str = "  ";

/// The document as plain data; null if it is empty.
pub(super) fn value(text: &str) -> Result<Value, Error> {
    Ok(parse(text)?.map_or(Value::Null, Into::into))
}

/// The text with the entry set.
pub(super) fn put(text: &str, place: Place<'_>, entry: &Map<String, Value>) -> Result<String, Error> {
    if text.trim().is_empty() {
        let mut document = Value::Null;
        super::set(&mut document, place, Some(entry));
        return Ok(format!("{}\n", pretty(&document, "", UNIT)));
    }
    let mut path: Vec<&str> = place.path.iter().map(String::as_str).collect();
    path.push(place.name);
    let existing = super::get(super::Format::Json, text, place)?;
    let Some(Value::Object(existing)) = existing else {
        return set(text, &path, &Value::Object(entry.clone()));
    };
    let mut text = text.to_owned();
    let mut change = |key: &str, value: Option<&Value>| -> Result<(), Error> {
        let path = [path.as_slice(), &[key]].concat();
        text = value.map_or_else(|| unset(&text, &path), |value| set(&text, &path, value))?;
        Ok(())
    };
    existing.keys().filter(|key| !entry.contains_key(*key)).try_for_each(|key| change(key, None))?;
    let differs = |(key, value): &(&String, &Value)| existing.get(*key) != Some(value);
    entry.iter().filter(differs).try_for_each(|(key, value)| change(key, Some(value)))?;
    Ok(text)
}

/// The text without the entry.
pub(super) fn remove(text: &str, place: Place<'_>) -> Result<String, Error> {
    let mut path: Vec<&str> = place.path.iter().map(String::as_str).collect();
    path.push(place.name);
    unset(text, &path)
}

fn parse(text: &str) -> Result<Option<Node<'_>>, Error> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS);
    parsed
        .map(|parsed| parsed.value)
        .map_err(|err| Error::Syntax { line: err.line_display(), why: err.kind().to_string().to_lowercase() })
}

/// Sets the value at a path; objects on the way are made.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, Error> {
    let root = parse(text)?;
    let Some(Node::Object(root)) = &root else { return Err(Error::NotATable("the file".to_owned())) };
    let mut object = root;
    for (depth, key) in path.iter().enumerate() {
        let is_last = depth + 1 == path.len();
        match object.get(key) {
            Some(property) if is_last => {
                let range = property.value.range();
                let written = pretty(value, indent_at(text, property.range.start), &unit(text, root));
                return Ok(format!("{}{written}{}", &text[..range.start], &text[range.end..]));
            }
            Some(property) => match &property.value {
                Node::Object(inner) => object = inner,
                _ => return Err(Error::NotATable((*key).to_owned())),
            },
            None => {
                let wrap = |inner: Value, key: &&str| Value::Object(Map::from_iter([((*key).to_owned(), inner)]));
                let value = path[depth + 1..].iter().rev().fold(value.clone(), wrap);
                return Ok(insert(text, root, object, key, &value));
            }
        }
    }
    Ok(text.to_owned())
}

/// Puts a property behind the last one of an object, in the manner of the object.
fn insert(text: &str, root: &Object<'_>, object: &Object<'_>, key: &str, value: &Value) -> String {
    let items: Vec<Range> = object.properties.iter().map(|property| property.range).collect();
    put_last(text, root, object.range, &items, &format!("{}: ", Value::from(key)), value)
}

/// Puts an item behind the last one of an object or a list, in its manner.
fn put_last(text: &str, root: &Object<'_>, around: Range, items: &[Range], name: &str, value: &Value) -> String {
    let (unit, base) = (unit(text, root), indent_at(text, around.start));
    let has_lines = |range: Range| text[range.start..range.end].contains('\n');
    let mut edited = text.to_owned();
    let Some(last) = items.last() else {
        let is_short = !has_lines(root.range) && !root.properties.is_empty();
        let inner = match is_short {
            true => format!("{name}{value}"),
            false => {
                let indent = format!("{base}{unit}");
                let end = if has_lines(around) { String::new() } else { format!("\n{base}") };
                format!("\n{indent}{name}{}{end}", pretty(value, &indent, &unit))
            }
        };
        let begin = around.start + 1;
        let at = if has_lines(around) { end_of_line(text, begin) } else { begin };
        edited.insert_str(at, &inner);
        return edited;
    };
    let end = last.end;
    if !has_lines(around) {
        edited.insert_str(end, &format!(", {name}{value}"));
        return edited;
    }
    let first = items[0].start;
    let indent = match starts_line(text, first) {
        true => indent_at(text, first).to_owned(),
        false => format!("{base}{unit}"),
    };
    let comma = comma_after(text, end);
    let at = end_of_line(text, comma.map_or(end, |comma| comma + 1));
    let trailing = if comma.is_some() { "," } else { "" };
    edited.insert_str(at, &format!("\n{indent}{name}{}{trailing}", pretty(value, &indent, &unit)));
    if comma.is_none() {
        edited.insert(end, ',');
    }
    edited
}

/// The text with a value at the end of the list at a path; the list is made if there is none.
pub(super) fn append(text: &str, path: &[&str], value: &Value) -> Result<String, Error> {
    let parsed = parse(text)?;
    let Some(Node::Object(root)) = &parsed else { return Err(Error::NotATable("the file".to_owned())) };
    match list_at(root, path)? {
        Some(list) => {
            let items: Vec<Range> = list.elements.iter().map(|element| element.range()).collect();
            Ok(put_last(text, root, list.range, &items, "", value))
        }
        None => set(text, path, &Value::Array(vec![value.clone()])),
    }
}

/// The text without the nth value of the list at a path.
pub(super) fn take_nth(text: &str, path: &[&str], nth: usize) -> Result<String, Error> {
    let parsed = parse(text)?;
    let Some(Node::Object(root)) = &parsed else { return Ok(text.to_owned()) };
    let Some(list) = list_at(root, path)? else { return Ok(text.to_owned()) };
    let items: Vec<Range> = list.elements.iter().map(|element| element.range()).collect();
    Ok(take_out(text, list.range, &items, nth, "[]"))
}

/// The list at a path; `None` if there is nothing.
fn list_at<'o, 'a>(root: &'o Object<'a>, path: &[&str]) -> Result<Option<&'o Array<'a>>, Error> {
    let mut object = root;
    for (depth, key) in path.iter().enumerate() {
        match object.get(key).map(|property| &property.value) {
            None => return Ok(None),
            Some(Node::Object(inner)) if depth + 1 < path.len() => object = inner,
            Some(Node::Array(list)) if depth + 1 == path.len() => return Ok(Some(list)),
            Some(_) => return Err(Error::NotATable((*key).to_owned())),
        }
    }
    Ok(None)
}

/// Takes out the property at a path.
pub(super) fn unset(text: &str, path: &[&str]) -> Result<String, Error> {
    let root = parse(text)?;
    let (Some(Node::Object(root)), Some((name, path))) = (&root, path.split_last()) else {
        return Ok(text.to_owned());
    };
    let mut object = root;
    for key in path {
        match object.get(key).map(|property| &property.value) {
            Some(Node::Object(inner)) => object = inner,
            _ => return Ok(text.to_owned()),
        }
    }
    let Some(at) = object.properties.iter().position(|property| property.name.as_str() == *name) else {
        return Ok(text.to_owned());
    };
    let items: Vec<Range> = object.properties.iter().map(|property| property.range).collect();
    Ok(take_out(text, object.range, &items, at, "{}"))
}

/// Takes the nth item out of an object or a list.
fn take_out(text: &str, around: Range, items: &[Range], at: usize, empty: &str) -> String {
    let range = items[at];
    if items.len() == 1 && text[around.start + 1..range.start].trim().is_empty() {
        let end = comma_after(text, range.end).map_or(range.end, |comma| comma + 1);
        if text[end..around.end - 1].trim().is_empty() {
            return format!("{}{empty}{}", &text[..around.start], &text[around.end..]);
        }
    }
    let comma = comma_after(text, range.end);
    let end = comma.map_or(range.end, |comma| comma + 1);
    let before = at.checked_sub(1).map(|before| items[before].end);
    // The comma of the item before goes with the last one, unless commas trail here.
    let former_comma = before.filter(|_| comma.is_none()).and_then(|before| comma_after(text, before));
    let line_end = end_of_line(text, end);
    let (begin, end) = match starts_line(text, range.start) && text[line_end..].starts_with('\n') {
        true => (range.start - indent_at(text, range.start).len(), line_end + 1),
        false => match before.filter(|_| comma.is_none()) {
            // The space before it goes, unless it ends a comment.
            Some(before) if text[before..range.start].contains("//") => (range.start, end),
            Some(_) => (text[..range.start].trim_end().len(), end),
            None => (range.start, end + text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len()),
        },
    };
    let mut edited = format!("{}{}", &text[..begin], &text[end..]);
    if let Some(comma) = former_comma {
        edited.remove(comma);
    }
    edited
}

/// Indentation of one level: that of the file's first property, if it has a line of its own.
fn unit(text: &str, root: &Object<'_>) -> String {
    let first = root.properties.first().map(|property| property.range.start);
    let indent = first.filter(|first| starts_line(text, *first)).map(|first| indent_at(text, first));
    indent.filter(|indent| !indent.is_empty()).unwrap_or(UNIT).to_owned()
}

/// White space at the start of the line.
fn indent_at(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only white space precedes on the line.
fn starts_line(text: &str, at: usize) -> bool {
    let begin = text[..at].rfind('\n').map(|end| end + 1);
    begin.is_some_and(|begin| text[begin..at].trim().is_empty())
}

/// The comma behind a value, past space and comments.
fn comma_after(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        at += match () {
            () if trimmed.starts_with(',') => return Some(at),
            () if trimmed.starts_with("//") => trimmed.find('\n')?,
            () if trimmed.starts_with("/*") => trimmed.find("*/")? + 2,
            () => return None,
        };
    }
}

/// The end of the line, or what stands before it on the line and is neither space nor a comment.
fn end_of_line(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches([' ', '\t']);
        let here = at + rest.len() - trimmed.len();
        if trimmed.starts_with('\n') || trimmed.is_empty() {
            return here;
        }
        let comment = match () {
            () if trimmed.starts_with("//") => trimmed.find('\n').unwrap_or(trimmed.len()),
            () if trimmed.starts_with("/*") => trimmed.find("*/").map_or(0, |end| end + 2),
            () => 0,
        };
        if comment == 0 || trimmed[..comment].contains('\n') {
            return at;
        }
        at = here + comment;
    }
}

/// A value with a line for each property and each object of a list; other lists stay on one line.
fn pretty(value: &Value, indent: &str, unit: &str) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let inner = format!("{indent}{unit}");
            let lines = map
                .iter()
                .map(|(key, value)| format!("\n{inner}{}: {}", Value::from(key.as_str()), pretty(value, &inner, unit)));
            format!("{{{}\n{indent}}}", lines.collect::<Vec<_>>().join(","))
        }
        Value::Array(values) if values.iter().any(Value::is_object) => {
            let inner = format!("{indent}{unit}");
            let lines = values.iter().map(|value| format!("\n{inner}{}", pretty(value, &inner, unit)));
            format!("[{}\n{indent}]", lines.collect::<Vec<_>>().join(","))
        }
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| pretty(value, indent, unit)).collect();
            format!("[{}]", values.join(", "))
        }
        other => other.to_string(),
    }
}
