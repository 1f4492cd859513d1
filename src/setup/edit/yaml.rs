//! Edits of YAML, by whole lines: an entry is put below the key of its table, and all other lines stay as they are.
//! Only tables at the top of a file, in block style, are edited.

use std::fmt::Write as _;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use serde_json::{Map, Value};

use super::{Error, Place};

/// Deepest nesting that is read.
const DEEPEST: usize = 100;
/// Refusal of a table that is not in block style.
const NOT_A_BLOCK: Error = Error::Style("the servers are not a block with one key per line");

/// The document as plain data; null if it is empty.
pub(super) fn value(text: &str) -> Result<Value, Error> {
    Ok(parse(text)?.map_or(Value::Null, |node| node.value()))
}

/// The text with the entry set.
pub(super) fn put(text: &str, place: Place<'_>, entry: &Map<String, Value>) -> Result<String, Error> {
    let [table] = place.path else { return Err(NOT_A_BLOCK) };
    let mut lines = Lines::of(text);
    let key = match parse(text)? {
        None => None,
        Some(Node { data: Data::Map(keys), .. }) => keys.into_iter().find(|key| key.name == *table),
        Some(_) => return Err(Error::NotATable("the file".to_owned())),
    };
    let Some(key) = key else {
        lines.append(&format!("{table}:\n{}", block(place.name, entry, 2)));
        return Ok(lines.text());
    };
    let rest = lines.0[key.line].split_once(':').map_or("", |(_, rest)| rest).trim().to_owned();
    match &key.node.data {
        Data::Map(keys) if key.node.line == key.line => match (keys.as_slice(), rest.as_str()) {
            ([], "{}") => {
                lines.0[key.line] = format!("{table}:\n");
                lines.insert(key.line + 1, &block(place.name, entry, 2));
            }
            _ => return Err(NOT_A_BLOCK),
        },
        Data::Map(keys) => {
            let indent = keys.first().map_or(2, |first| first.column);
            let new = block(place.name, entry, indent);
            match lines.entry(keys, place.name) {
                Some((begin, end)) => lines.replace(begin, end, &new),
                None => lines.insert(key.line + 1, &new),
            }
        }
        Data::Other(Value::Null) if rest.is_empty() || rest.starts_with('#') => {
            lines.insert(key.line + 1, &block(place.name, entry, 2));
        }
        _ => return Err(Error::NotATable(table.clone())),
    }
    Ok(lines.text())
}

/// The text without the entry.
pub(super) fn remove(text: &str, place: Place<'_>) -> Result<String, Error> {
    let [table] = place.path else { return Err(NOT_A_BLOCK) };
    let mut lines = Lines::of(text);
    let Some(Node { data: Data::Map(keys), .. }) = parse(text)? else { return Ok(text.to_owned()) };
    let Some(key) = keys.into_iter().find(|key| key.name == *table) else { return Ok(text.to_owned()) };
    let Data::Map(keys) = &key.node.data else { return Ok(text.to_owned()) };
    let Some((begin, end)) = lines.entry(keys, place.name) else { return Ok(text.to_owned()) };
    if begin == key.line {
        return Err(NOT_A_BLOCK);
    }
    lines.replace(begin, end, "");
    if keys.len() == 1 && lines.0[key.line].trim_end().ends_with(':') {
        lines.0[key.line] = format!("{} {{}}\n", lines.0[key.line].trim_end());
    }
    Ok(lines.text())
}

/// The lines of a text, each with its end.
struct Lines(Vec<String>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.split_inclusive('\n').map(str::to_owned).collect())
    }

    fn text(&self) -> String {
        self.0.concat()
    }

    fn append(&mut self, text: &str) {
        self.insert(self.0.len(), text);
    }

    fn insert(&mut self, at: usize, text: &str) {
        if let Some(last) = at.checked_sub(1).and_then(|last| self.0.get_mut(last)).filter(|last| !last.ends_with('\n'))
        {
            last.push('\n');
        }
        self.0.insert(at.min(self.0.len()), text.to_owned());
    }

    fn replace(&mut self, begin: usize, end: usize, text: &str) {
        self.0.splice(begin..end, [text.to_owned()]);
    }

    /// The lines of a key of a block, without the comments and empty lines that follow it.
    fn entry(&self, keys: &[Key], name: &str) -> Option<(usize, usize)> {
        let at = keys.iter().position(|key| key.name == name)?;
        let begin = keys[at].line;
        let column = keys[at].column;
        let is_inside = |line: &str| {
            let trimmed = line.trim_start();
            let indent = line.len() - trimmed.len();
            trimmed.is_empty()
                || trimmed.starts_with('#')
                || indent > column
                || (indent == column && line[indent..].starts_with("- "))
        };
        let mut end = begin + 1;
        while self.0.get(end).is_some_and(|line| is_inside(line)) {
            end += 1;
        }
        let is_beside = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        while end > begin + 1 && is_beside(&self.0[end - 1]) {
            end -= 1;
        }
        Some((begin, end))
    }
}

/// A part of a document, with the line where it begins, from zero.
struct Node {
    data: Data,
    line: usize,
}

enum Data {
    Map(Vec<Key>),
    Other(Value),
}

/// A key of a table, and its value.
struct Key {
    name: String,
    line: usize,
    column: usize,
    node: Node,
}

impl Node {
    fn value(&self) -> Value {
        match &self.data {
            Data::Map(keys) => keys.iter().map(|key| (key.name.clone(), key.node.value())).collect(),
            Data::Other(value) => value.clone(),
        }
    }
}

type Events<'t> = Parser<'t, StrInput<'t>>;

/// The one document of a text; `None` if it is empty.
fn parse(text: &str) -> Result<Option<Node>, Error> {
    let mut events = Parser::new_from_str(text);
    let mut document = None;
    loop {
        match next(&mut events)? {
            (Event::StreamEnd, _) => return Ok(document),
            (Event::StreamStart | Event::DocumentEnd | Event::Nothing, _) => {}
            (Event::DocumentStart(_), _) if document.is_some() => {
                return Err(Error::Style("the file holds more than one document"));
            }
            (Event::DocumentStart(_), _) => {
                let first = next(&mut events)?;
                document = Some(node(&mut events, first, 0)?);
            }
            _ => return Err(Error::Style("the file holds more than one document")),
        }
    }
}

fn next<'t>(events: &mut Events<'t>) -> Result<(Event<'t>, Span), Error> {
    let failed = |err: ScanError| Error::Syntax { line: err.marker().line(), why: err.info().to_owned() };
    events.next().unwrap_or_else(|| Ok((Event::StreamEnd, Span::default()))).map_err(failed)
}

fn node<'t>(events: &mut Events<'t>, (event, span): (Event<'t>, Span), depth: usize) -> Result<Node, Error> {
    if depth > DEEPEST {
        return Err(Error::Style("the file is nested too deeply"));
    }
    let line = span.start.line().saturating_sub(1);
    let data = match event {
        Event::MappingStart(..) => {
            let mut keys = Vec::new();
            loop {
                let (event, span) = next(events)?;
                if event == Event::MappingEnd {
                    break;
                }
                let (line, column) = (span.start.line().saturating_sub(1), span.start.col());
                let name = match node(events, (event, span), depth + 1)?.value() {
                    Value::String(name) => name,
                    other => other.to_string(),
                };
                let first = next(events)?;
                keys.push(Key { name, line, column, node: node(events, first, depth + 1)? });
            }
            Data::Map(keys)
        }
        Event::SequenceStart(..) => {
            let mut values = Vec::new();
            loop {
                let first = next(events)?;
                if first.0 == Event::SequenceEnd {
                    break;
                }
                values.push(node(events, first, depth + 1)?.value());
            }
            Data::Other(values.into())
        }
        Event::Scalar(text, ScalarStyle::Plain, _, None) => Data::Other(plain(&text)),
        Event::Scalar(text, ..) => Data::Other(text.into()),
        Event::Alias(id) => Data::Other(format!("*{id}").into()),
        _ => return Err(Error::Style("the file ends too early")),
    };
    Ok(Node { data, line })
}

/// A value that is written without quotes.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(whole), _) => whole.into(),
            (_, Ok(number)) if number.is_finite() => number.into(),
            _ => text.into(),
        },
    }
}

/// An entry as lines, indented by so many columns.
fn block(name: &str, entry: &Map<String, Value>, indent: usize) -> String {
    let mut text = String::new();
    let outer = Map::from_iter([(name.to_owned(), Value::Object(entry.clone()))]);
    write(&mut text, &outer, indent);
    text
}

fn write(text: &mut String, map: &Map<String, Value>, indent: usize) {
    for (key, value) in map {
        let _ = match value {
            Value::Object(inner) if !inner.is_empty() => {
                let _ = writeln!(text, "{:indent$}{}:", "", scalar(key));
                write(text, inner, indent + 2);
                continue;
            }
            Value::Array(values) if !values.is_empty() => {
                let _ = writeln!(text, "{:indent$}{}:", "", scalar(key));
                values.iter().try_for_each(|value| writeln!(text, "{:indent$}- {}", "", written(value)))
            }
            value => writeln!(text, "{:indent$}{}: {}", "", scalar(key), written(value)),
        };
    }
}

/// A value in one line. JSON is YAML.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), scalar)
}

/// A text without quotes where nothing can read it as another value.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_lowercase().as_str());
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}
