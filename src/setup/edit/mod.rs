//! Edits of configuration files that change one entry and keep every other byte: comments, order, indentation and
//! line ends.

mod json;
pub(super) mod lines;
mod toml;
mod yaml;

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON, with comments and trailing commas if the file has any.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// Refusal of an edit.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The file is no valid text of its format.
    #[error("line {line}: {why}")]
    Syntax {
        /// Line, from one.
        line: usize,
        /// Message of the parser.
        why: String,
    },
    /// A value on the way to the entry is of another type.
    #[error("`{0}` holds no table of servers")]
    NotATable(String),
    /// The text is written in a way that no edit can keep.
    #[error("{0}")]
    Style(&'static str),
}

/// Place of an entry in a file: the keys that lead to the table, and the entry's own.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Keys of the tables around the entry, outermost first.
    pub path: &'a [String],
    /// Key of the entry.
    pub name: &'a str,
}

/// Byte order mark, which some editors write.
const MARK: &str = "\u{feff}";

/// The entry at a place; `None` if there is none.
pub fn get(format: Format, text: &str, place: Place<'_>) -> Result<Option<Value>, Error> {
    let document = value(format, &plain(text))?;
    let mut table = &document;
    for key in place.path {
        match table.get(key) {
            Some(inner) => table = inner,
            None => return Ok(None),
        }
    }
    Ok(table.get(place.name).cloned())
}

/// A JSON file as plain data.
pub fn document(text: &str) -> Result<Value, Error> {
    json::value(&plain(text))
}

/// The text with the entry set. Keys of an existing entry that stay the same are not touched.
pub fn put(format: Format, text: &str, place: Place<'_>, entry: &Map<String, Value>) -> Result<String, Error> {
    edit(format, text, place, Some(entry))
}

/// The text without the entry.
pub fn remove(format: Format, text: &str, place: Place<'_>) -> Result<String, Error> {
    edit(format, text, place, None)
}

fn edit(format: Format, text: &str, place: Place<'_>, entry: Option<&Map<String, Value>>) -> Result<String, Error> {
    let before = plain(text);
    let edited = match (format, entry) {
        (Format::Json, Some(entry)) => json::put(&before, place, entry),
        (Format::Json, None) => json::remove(&before, place),
        (Format::Toml, Some(entry)) => toml::put(&before, place, entry),
        (Format::Toml, None) => toml::remove(&before, place),
        (Format::Yaml, Some(entry)) => yaml::put(&before, place, entry),
        (Format::Yaml, None) => yaml::remove(&before, place),
    }?;
    // Nothing is written that a parser does not read as the same document with this one entry changed.
    let mut wanted = value(format, &before)?;
    set(&mut wanted, place, entry);
    finished(text, &edited, wanted, format)
}

/// The JSON text whose list at `path` holds this value in place of those that `is_ours` picks; none of them for
/// `None`, and an empty list goes.
pub fn replace_in_list(
    text: &str,
    path: &[&str],
    is_ours: &dyn Fn(&Value) -> bool,
    wanted: Option<&Value>,
) -> Result<String, Error> {
    let before = plain(text);
    let mut edited = if before.trim().is_empty() { "{}\n".to_owned() } else { before.clone() };
    let document = json::value(&edited)?;
    let pointer: String = path.iter().map(|key| format!("/{key}")).collect();
    let list = document.pointer(&pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    let ours: Vec<usize> = (0..list.len()).filter(|nth| is_ours(&list[*nth])).collect();
    let is_done = match (ours.as_slice(), wanted) {
        ([], None) => true,
        ([only], Some(wanted)) => list[*only] == *wanted,
        _ => false,
    };
    if is_done {
        return Ok(text.to_owned());
    }
    let mut rest = list;
    for nth in ours.into_iter().rev() {
        edited = json::take_nth(&edited, path, nth)?;
        rest.remove(nth);
    }
    rest.extend(wanted.cloned());
    if let Some(wanted) = wanted {
        edited = json::append(&edited, path, wanted)?;
    }
    let mut whole = document;
    // Tables that hold nothing any more go, the innermost first.
    for depth in (1..=path.len()).rev().filter(|_| rest.is_empty()) {
        let now = json::value(&edited)?;
        let held = now.pointer(&path[..depth].iter().map(|key| format!("/{key}")).collect::<String>());
        if held.is_some_and(|held| held.as_array().is_some_and(Vec::is_empty) || *held == Value::Object(Map::new())) {
            edited = json::unset(&edited, &path[..depth])?;
        }
    }
    let (name, tables) = path.split_last().ok_or(Error::Style("a list needs a name"))?;
    let mut table = &mut whole;
    for key in tables {
        let Value::Object(map) = table else { return Err(Error::NotATable((*key).to_owned())) };
        table = map.entry(*key).or_insert_with(|| Value::Object(Map::new()));
    }
    if let Value::Object(map) = table {
        match rest.is_empty() {
            true => drop(map.shift_remove(*name)),
            false => drop(map.insert((*name).to_owned(), Value::Array(rest))),
        }
    }
    finished(text, &edited, whole, Format::Json)
}

/// The JSON text with a value at its top, unless it has one of that name.
pub fn put_if_missing(text: &str, name: &str, wanted: &Value) -> Result<String, Error> {
    let before = plain(text);
    let before = if before.trim().is_empty() { "{}\n".to_owned() } else { before };
    let mut whole = json::value(&before)?;
    match &mut whole {
        Value::Object(map) if !map.contains_key(name) => drop(map.insert(name.to_owned(), wanted.clone())),
        _ => return Ok(text.to_owned()),
    }
    finished(text, &json::set(&before, &[name], wanted)?, whole, Format::Json)
}

/// An edited text with the byte order mark and line ends of the one before, if it holds what is wanted.
fn finished(before: &str, edited: &str, wanted: Value, format: Format) -> Result<String, Error> {
    if value(format, edited).ok().map(without_empty) != Some(without_empty(wanted)) {
        return Err(Error::Style("the entry cannot be changed without changing others"));
    }
    let mark = if before.starts_with(MARK) { MARK } else { "" };
    Ok(format!("{mark}{}", lines::with_ends_of(before.strip_prefix(MARK).unwrap_or(before), edited)))
}

/// The text without byte order mark and carriage returns.
fn plain(text: &str) -> String {
    text.strip_prefix(MARK).unwrap_or(text).replace("\r\n", "\n")
}

/// The document as plain data.
fn value(format: Format, text: &str) -> Result<Value, Error> {
    match format {
        Format::Json => json::value(text),
        Format::Toml => toml::value(text),
        Format::Yaml => yaml::value(text),
    }
}

/// Sets or removes an entry in plain data.
fn set(document: &mut Value, place: Place<'_>, entry: Option<&Map<String, Value>>) {
    let mut table = document;
    for key in place.path {
        if table.is_null() {
            *table = Value::Object(Map::new());
        }
        let Value::Object(map) = table else { return };
        table = map.entry(key).or_insert(Value::Null);
    }
    if table.is_null() {
        *table = Value::Object(Map::new());
    }
    if let Value::Object(map) = table {
        match entry {
            Some(entry) => map.insert(place.name.to_owned(), Value::Object(entry.clone())),
            None => map.shift_remove(place.name),
        };
    }
}

/// Plain data in which an empty table is the same as none, because formats differ in how they write it.
fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().map(|(key, value)| (key, without_empty(value)));
            let kept: Map<String, Value> = kept.filter(|(_, value)| !value.is_null()).collect();
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        other => other,
    }
}
