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
    if value(format, &edited).ok().map(without_empty) != Some(without_empty(wanted)) {
        return Err(Error::Style("the entry cannot be changed without changing others"));
    }
    let mark = if text.starts_with(MARK) { MARK } else { "" };
    Ok(format!("{mark}{}", lines::with_ends_of(text.strip_prefix(MARK).unwrap_or(text), &edited)))
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
