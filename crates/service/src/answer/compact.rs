//! Compact text format of answers for models. It is unambiguous, and lossless but for a few facts in `_meta`.
//!
//! - `key: value`, a line each (`key:1` for a number); nested objects are indented by two spaces, or stand in one line
//!   as `{key: value}`.
//! - Lists are `[a, b]`; lists of objects are tables: `key[rows] column⇥column`, then a line for each row, cells parted
//!   by tabs (the last ends with its line), an empty cell where the object has no such key. Values shared by
//!   all rows are given once, as `{key: value}` before the columns. Rows of one file are below a line with its path.
//! - `id=file::qualified#kind` says that file, kind and name are in the id and not said again. As the first column it
//!   says that the file's line and the row's first cell together are the id. A cell `::rest` is a symbol of that file.
//! - Symbols that have a line and a signature are rows of their own kind, see `symbols`.
//! - A text of several lines stands as it is below `key[number of lines]:`.
//! - A string is in quotes, as in JSON, only where it could be taken for something else.

mod symbols;

use std::fmt::Write as _;

use serde_json::{Map, Value};

use self::symbols::Symbols;
use super::tokens;

/// Keys of `_meta` that say nothing to a model: what the call took and saved, and what stands in the answer already.
const SILENT: [&str; 5] = ["timing_ms", "truncated", "tokens_saved", "total_tokens_saved", "estimate_method"];

/// Renders an answer for a model. Of its `_meta`, only what a model may act on is kept.
pub fn answer(value: &Value) -> String {
    let mut value = value.clone();
    if let Some(body) = value.as_object_mut()
        && let Some(Value::Object(meta)) = body.get_mut("_meta")
    {
        meta.retain(|key, value| !(SILENT.contains(&key.as_str()) || key == "freshness" && value == "fresh"));
        if meta.is_empty() {
            body.shift_remove("_meta");
        }
    }
    render(&value)
}

/// Renders a value as compact text, or as JSON when that is smaller.
pub fn render(value: &Value) -> String {
    let json = value.to_string();
    let Some(fields) = value.as_object().filter(|fields| !fields.is_empty()) else { return json };
    let text = written(fields);
    if text.len() > json.len() || tokens::estimate(&text) > tokens::estimate(&json) { json } else { text }
}

/// Renders a value on one line.
pub fn one_line(value: &Value) -> String {
    let mut text = String::new();
    inline(&mut text, value);
    text
}

fn written(fields: &Map<String, Value>) -> String {
    let mut text = String::new();
    object(&mut text, fields, 0);
    text.pop();
    text
}

/// Keys of ids.
const IDS: [&str; 2] = ["id", "symbol_id"];

/// Suffix of an id's key when the id replaces other keys.
const ID_FORM: &str = "=file::qualified#kind";

/// Maximum length of objects on one line.
const LINE: usize = 160;

/// Maximum length of lists of names in a cell.
const CELL: usize = 600;

/// Length above which strings of several lines are written as blocks.
const SHORT: usize = 80;

fn object(out: &mut String, fields: &Map<String, Value>, indent: usize) {
    let id = IDS.into_iter().find(|id| fields.keys().any(|key| derives(&[fields], id, key)));
    // Values on lines of their own come last, so that short ones are read first.
    for (key, value) in fields.iter().filter(|(_, value)| !is_block(value)) {
        match id {
            Some(id) if id == key => {
                margin(out, indent);
                _ = writeln!(out, "{id}{ID_FORM}: {}", value.as_str().unwrap_or_default());
            }
            Some(id) if derives(&[fields], id, key) => {}
            _ => field(out, key, value, indent, fields.get("file").and_then(Value::as_str)),
        }
    }
    for (key, value) in fields.iter().filter(|(_, value)| is_block(value)) {
        let text = value.as_str().unwrap_or_default();
        margin(out, indent);
        name(out, key);
        _ = writeln!(out, "[{} lines]:\n{text}", text.split('\n').count());
    }
}

/// Writes a key and its value; `file` is the file of the same object.
fn field(out: &mut String, key: &str, value: &Value, indent: usize, file: Option<&str>) {
    margin(out, indent);
    name(out, key);
    match value {
        Value::String(text) if is_plain_line(text) => _ = writeln!(out, ": {text}"),
        Value::Array(items) if is_records(items) && (items.len() > 1 || !fits_line(value)) => {
            if let Some(symbols) = Symbols::of(items) {
                symbols.write(out, file);
            } else if let Some(table) = Table::of(items) {
                table.write(out);
            } else {
                _ = writeln!(out, "[{}]:", items.len());
                for item in items.iter().filter_map(Value::as_object) {
                    let start = out.len();
                    object(out, item, indent + 2);
                    // The margin of an item's first line holds its dash.
                    out.replace_range(start + indent..start + indent + 1, "-");
                }
            }
        }
        Value::Object(inner) if key != "_meta" && !inner.is_empty() && !fits_line(value) => {
            out.push_str(":\n");
            object(out, inner, indent + 2);
        }
        value => {
            out.push(':');
            beside(out, value);
            out.push('\n');
        }
    }
}

fn margin(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Whether a list consists of non-empty objects.
fn is_records(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.as_object().is_some_and(|item| !item.is_empty()))
}

/// Whether a string is written as a block of lines.
fn is_block(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() > SHORT && text.contains('\n'))
}

fn has_block(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_block),
        Value::Object(fields) => fields.values().any(has_block),
        value => is_block(value),
    }
}

fn fits_line(value: &Value) -> bool {
    fits(value, LINE)
}

fn fits(value: &Value, most: usize) -> bool {
    let mut text = String::new();
    inline(&mut text, value);
    text.len() <= most && !has_block(value)
}

/// Writes a key, in quotes if it has special characters.
fn name(out: &mut String, key: &str) {
    let plain = |char: char| char.is_alphanumeric() || matches!(char, '_' | '.' | '/' | '-' | '$' | '@' | '*' | '#');
    if !key.is_empty() && !key.starts_with('-') && key.chars().all(plain) {
        out.push_str(key);
    } else {
        quoted(out, key);
    }
}

fn quoted(out: &mut String, text: &str) {
    _ = write!(out, "{}", Value::from(text));
}

/// Whether a string is unambiguous without quotes on the rest of a line or cell.
fn is_plain_line(text: &str) -> bool {
    let first = text.chars().next();
    let last = text.chars().next_back();
    let (Some(first), Some(last)) = (first, last) else { return false };
    !first.is_whitespace()
        && !last.is_whitespace()
        && !matches!(first, '"' | '[' | '{')
        && !text.contains(char::is_control)
        && !is_scalar(text)
}

/// Whether a string looks like a number, a boolean or null.
fn is_scalar(text: &str) -> bool {
    matches!(text, "true" | "false" | "null")
        || (text.starts_with(['-', '+', '.']) || text.starts_with(|char: char| char.is_ascii_digit()))
            && text.parse::<f64>().is_ok()
}

/// Writes a value after a colon or a comma. A space before a number would be an extra token.
fn beside(out: &mut String, value: &Value) {
    if !value.is_number() {
        out.push(' ');
    }
    inline(out, value);
}

/// Writes a value inline.
fn inline(out: &mut String, value: &Value) {
    match value {
        Value::String(text) if is_plain_line(text) && !text.contains([',', '[', ']', '{', '}', '"']) => {
            out.push_str(text)
        }
        Value::String(text) => quoted(out, text),
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                    beside(out, item);
                } else {
                    inline(out, item);
                }
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (place, (key, value)) in fields.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                name(out, key);
                out.push(':');
                beside(out, value);
            }
            out.push('}');
        }
        other => _ = write!(out, "{other}"),
    }
}

/// A list of similar objects as a table.
struct Table<'a> {
    rows: Vec<Row<'a>>,
    columns: Vec<&'a str>,
    /// Keys with the same value in all rows.
    shared: Vec<(&'a str, &'a Value)>,
    /// Whether cells of the last column may contain tabs.
    tabs: bool,
    /// Grouping of rows.
    by: Group<'a>,
    /// Number of items in the list.
    items: usize,
}

struct Row<'a> {
    /// File of the group.
    file: Option<&'a str>,
    /// Part of the id after the file.
    id: Option<&'a str>,
    /// Cells by column; `None` for a missing key.
    cells: Vec<Option<&'a Value>>,
}

#[derive(Clone, Copy)]
enum Group<'a> {
    None,
    /// Rows grouped by file.
    File,
    /// The file and the first cell form the id, under this key.
    Id(&'static str),
    /// Each item consists of a file and, under this key, rows.
    Nested(&'a str),
}

impl<'a> Table<'a> {
    /// Builds the table of a list of objects, if it is suitable.
    fn of(items: &'a [Value]) -> Option<Self> {
        let objects: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
        if let Some(nested) = Self::nested(&objects) {
            return Some(nested);
        }
        Self::flat(&objects)
    }

    fn flat(objects: &[&'a Map<String, Value>]) -> Option<Self> {
        let mut columns: Vec<&'a str> = Vec::new();
        for object in objects {
            for key in object.keys() {
                if !columns.contains(&key.as_str()) {
                    columns.push(key);
                }
            }
        }
        let cells: usize = objects.iter().map(|object| object.len()).sum();
        let is_cell = |value: &Value| match value {
            Value::Array(items) if !items.iter().any(|item| item.is_array() || item.is_object()) => fits(value, CELL),
            Value::Array(_) | Value::Object(_) => fits_line(value),
            value => !is_block(value),
        };
        // Objects with few common keys, or with large values, are easier to read one by one.
        if columns.len() > 40 || cells * 2 < columns.len() * objects.len() {
            return None;
        }
        if !objects.iter().all(|object| object.values().all(is_cell)) {
            return None;
        }
        let mut by = Group::None;
        if let Some(key) = IDS.into_iter().find(|key| has_ids(objects, key)) {
            let own = |column: &&str| *column != key && !derives(objects, key, column);
            if columns.iter().any(own) {
                columns.retain(own);
                by = Group::Id(key);
            }
        } else if has_groups(objects) && columns.len() > 2 {
            columns.retain(|column| *column != "file");
            by = Group::File;
        }
        // A line without a tab names a file, so rows need one.
        let least = if matches!(by, Group::Id(_)) { 1 } else { 2 };
        let mut shared = Vec::new();
        if objects.len() > 2 {
            let mut left = columns.len();
            columns.retain(|column| {
                let first = objects[0].get(*column);
                let same = first.filter(|first| objects.iter().all(|object| object.get(*column) == Some(*first)));
                let Some(same) = same.filter(|_| left > least) else { return true };
                shared.push((*column, same));
                left -= 1;
                false
            });
        }
        // The last cell ends with its line, so a column with tabs goes there.
        let holds_tabs = |column: &&str| {
            let mut texts = objects.iter().filter_map(|object| object.get(*column)?.as_str());
            texts.any(|text| text.contains('\t'))
        };
        let tabs = columns.iter().position(holds_tabs);
        if let Some(place) = tabs {
            columns[place..].rotate_left(1);
        }
        let row = |object: &&'a Map<String, Value>| {
            let (file, id) = match by {
                Group::Id(key) => split(object.get(key)).unzip(),
                _ => (object.get("file").and_then(Value::as_str), None),
            };
            Row { file, id, cells: columns.iter().map(|column| object.get(*column)).collect() }
        };
        let rows = objects.iter().map(row).collect();
        Some(Self { rows, columns, shared, tabs: tabs.is_some(), by, items: objects.len() })
    }

    /// Builds the table of objects that consist of a file and a list of flat objects.
    fn nested(objects: &[&'a Map<String, Value>]) -> Option<Self> {
        let key = objects.first()?.keys().find(|key| *key != "file")?.as_str();
        let mut inner: Vec<&'a Map<String, Value>> = Vec::new();
        let mut files = Vec::new();
        for object in objects {
            let file = object.get("file").and_then(Value::as_str).filter(|file| is_plain_line(file))?;
            let rows = object.get(key).and_then(Value::as_array).filter(|_| object.len() == 2)?;
            if !is_records(rows) || rows.iter().any(|row| row.get("file").is_some()) || files.last() == Some(&file) {
                return None;
            }
            files.extend(std::iter::repeat_n(file, rows.len()));
            inner.extend(rows.iter().filter_map(Value::as_object));
        }
        let mut table = Self::flat(&inner)?;
        if table.columns.len() < 2 || !matches!(table.by, Group::None) {
            return None;
        }
        for (row, file) in table.rows.iter_mut().zip(files) {
            row.file = Some(file);
        }
        table.by = Group::Nested(key);
        table.items = objects.len();
        Some(table)
    }

    fn write(&self, out: &mut String) {
        let repeats = self.repeats();
        match self.by {
            Group::Nested(_) => _ = write!(out, "[{} files, {} rows", self.items, self.rows.len()),
            _ => _ = write!(out, "[{}", self.items),
        }
        out.push_str(if repeats { ", \"=\": same as left] " } else { "] " });
        if !self.shared.is_empty() {
            let shared = self.shared.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone()));
            inline(out, &Value::Object(shared.collect()));
            out.push(' ');
        }
        match self.by {
            Group::None => {}
            Group::File => out.push_str("file: "),
            Group::Id(key) => _ = write!(out, "{key}{ID_FORM}\t"),
            Group::Nested(key) => {
                out.push_str("file: ");
                name(out, key);
                out.push_str(": ");
            }
        }
        for (place, column) in self.columns.iter().enumerate() {
            out.push_str(if place > 0 { "\t" } else { "" });
            name(out, column);
        }
        out.push('\n');
        let mut file = None;
        for row in &self.rows {
            let end = match self.by {
                Group::None => None,
                Group::File | Group::Nested(_) => Some(":\n"),
                Group::Id(_) => Some("::\n"),
            };
            if let (Some(end), true) = (end, file != row.file) {
                file = row.file;
                out.push_str(file.unwrap_or_default());
                out.push_str(end);
            }
            if let Some(id) = row.id {
                out.push_str(id);
                out.push('\t');
            }
            let mut left = None;
            for (place, value) in row.cells.iter().enumerate() {
                out.push_str(if place > 0 { "\t" } else { "" });
                match value {
                    Some(value) if repeats && is_repeat(left, value) => out.push('='),
                    Some(value) => {
                        let tabs = self.tabs && place + 1 == self.columns.len();
                        cell(out, value, row.file.filter(|_| row.id.is_some()), tabs);
                    }
                    None => {}
                }
                left = *value;
            }
            out.push('\n');
        }
    }

    /// Whether enough cells repeat the previous one to abbreviate them.
    fn repeats(&self) -> bool {
        let rows = self.rows.iter().map(|row| {
            row.cells.windows(2).filter(|pair| pair[1].is_some_and(|value| is_repeat(pair[0], value))).count()
        });
        rows.sum::<usize>() > 1
    }
}

fn is_repeat(left: Option<&Value>, value: &Value) -> bool {
    left == Some(value) && value.as_str().is_some_and(|text| text.len() > 12)
}

/// Writes a cell; for symbols of the same `file`, only the part after the file. White space is kept, because tabs
/// separate cells.
fn cell(out: &mut String, value: &Value, file: Option<&str>, tabs: bool) {
    match value {
        Value::String(text) => {
            let same_file = file.and_then(|file| text.strip_prefix(file)).filter(|rest| rest.starts_with("::"));
            let text = match same_file {
                Some(rest) => rest,
                None if text.starts_with("::") || text == "=" => return quoted(out, text),
                None => text,
            };
            let plain = match text.trim_matches(if tabs { &[' ', '\t'][..] } else { &[' '] }) {
                "" => false,
                inner => {
                    let other = |char: char| char.is_control() && !(tabs && char == '\t');
                    !text.starts_with(['"', '[', '{']) && !is_scalar(inner) && !inner.contains(other)
                }
            };
            if plain { out.push_str(text) } else { quoted(out, value.as_str().unwrap_or_default()) }
        }
        value => inline(out, value),
    }
}

/// Splits an id of the usual form whose parts can be written without quotes.
fn split(id: Option<&Value>) -> Option<(&str, &str)> {
    let (file, rest) = id?.as_str()?.split_once("::")?;
    let (qualified, kind) = rest.rsplit_once('#')?;
    let plain = is_plain_line(file) && is_plain_line(rest) && !qualified.is_empty() && !kind.is_empty();
    plain.then_some((file, rest))
}

fn has_ids(objects: &[&Map<String, Value>], key: &str) -> bool {
    objects.iter().all(|object| split(object.get(key)).is_some())
}

/// Whether enough adjacent rows share a file to group them.
fn has_groups(objects: &[&Map<String, Value>]) -> bool {
    let file = |object: &&Map<String, Value>| object.get("file").and_then(Value::as_str).map(str::to_owned);
    let named = objects.iter().all(|object| file(object).is_some_and(|file| is_plain_line(&file)));
    let again = objects.windows(2).filter(|pair| file(&pair[0]) == file(&pair[1])).count();
    named && again * 4 >= objects.len()
}

/// Whether the id implies this column's value in every row.
fn derives(objects: &[&Map<String, Value>], key: &str, column: &str) -> bool {
    objects.iter().all(|object| {
        let Some((file, rest)) = split(object.get(key)) else { return false };
        let Some((qualified, kind)) = rest.rsplit_once('#') else { return false };
        let Some(value) = object.get(column).and_then(Value::as_str) else { return false };
        match column {
            "file" => value == file,
            "kind" => value == kind.split_once('~').map_or(kind, |(kind, _)| kind),
            "qualified_name" => value == qualified,
            "name" => value == qualified.rsplit('.').next().unwrap_or(qualified),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests;
