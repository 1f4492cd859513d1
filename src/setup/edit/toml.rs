//! Edits of TOML.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value as TomlValue};

use super::{Error, Place};

/// The document as plain data.
pub(super) fn value(text: &str) -> Result<Value, Error> {
    Ok(of_table(parse(text)?.as_table()))
}

/// The text with the entry set.
pub(super) fn put(text: &str, place: Place<'_>, entry: &Map<String, Value>) -> Result<String, Error> {
    let mut document = parse(text)?;
    if document.to_string().trim_end_matches('\n') != text.trim_end_matches('\n') {
        return Err(Error::Style("an edit would not keep the file's layout"));
    }
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut is_inline = false;
    for key in place.path {
        let item = table.entry(key).or_insert_with(|| {
            if is_inline { Item::Value(InlineTable::new().into()) } else { Item::Table(implicit()) }
        });
        is_inline = item.is_value();
        table = item.as_table_like_mut().ok_or_else(|| Error::NotATable(key.clone()))?;
    }
    match table.get_mut(place.name).and_then(Item::as_table_like_mut) {
        Some(existing) => update(existing, entry),
        None if is_inline => drop(table.insert(place.name, Item::Value(inline(entry).into()))),
        None => {
            let mut new = Table::new();
            for (key, value) in entry {
                new.insert(key, item(value));
            }
            table.insert(place.name, Item::Table(new));
        }
    }
    Ok(ended_as(text, document))
}

/// The text without the entry.
pub(super) fn remove(text: &str, place: Place<'_>) -> Result<String, Error> {
    let mut document = parse(text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in place.path {
        match table.get_mut(key).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return Ok(text.to_owned()),
        }
    }
    table.remove(place.name);
    Ok(ended_as(text, document))
}

/// The text of a document, without a last line end if a former text had none.
fn ended_as(former: &str, document: DocumentMut) -> String {
    let mut text = document.to_string();
    if !former.is_empty() && !former.ends_with('\n') && text.ends_with('\n') {
        text.pop();
    }
    text
}

/// Sets the keys of a table that differ, and removes those that the entry has not.
fn update(table: &mut dyn TableLike, entry: &Map<String, Value>) {
    let names: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names.iter().filter(|name| !entry.contains_key(*name)) {
        table.remove(name);
    }
    for (key, value) in entry {
        match table.get_mut(key) {
            Some(existing) if of_item(existing) == *value => {}
            Some(existing) => {
                let decor = existing.as_value().map(|value| value.decor().clone());
                *existing = item(value);
                if let (Some(decor), Some(value)) = (decor, existing.as_value_mut()) {
                    *value.decor_mut() = decor;
                }
            }
            None => drop(table.insert(key, item(value))),
        }
    }
}

/// A table without a header of its own.
fn implicit() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

fn parse(text: &str) -> Result<DocumentMut, Error> {
    text.parse().map_err(|err: toml_edit::TomlError| {
        let begin = err.span().map_or(0, |span| span.start).min(text.len());
        let line = 1 + text.as_bytes()[..begin].iter().filter(|byte| **byte == b'\n').count();
        Error::Syntax { line, why: err.message().lines().collect::<Vec<_>>().join(", ") }
    })
}

fn item(value: &Value) -> Item {
    Item::Value(written(value))
}

/// A value as TOML writes it.
fn written(value: &Value) -> TomlValue {
    match value {
        Value::Null => "".into(),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(values) => values.iter().map(written).collect::<Array>().into(),
        Value::Object(map) => inline(map).into(),
    }
}

fn inline(map: &Map<String, Value>) -> InlineTable {
    map.iter().map(|(key, value)| (key.as_str(), written(value))).collect()
}

fn of_table(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), of_item(item))).collect())
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| of_table(table)).collect(),
    }
}

fn of_value(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => text.value().as_str().into(),
        TomlValue::Integer(number) => (*number.value()).into(),
        TomlValue::Float(number) => (*number.value()).into(),
        TomlValue::Boolean(value) => (*value.value()).into(),
        TomlValue::Datetime(date) => date.value().to_string().into(),
        TomlValue::Array(values) => values.iter().map(of_value).collect(),
        TomlValue::InlineTable(table) => of_table(table),
    }
}
