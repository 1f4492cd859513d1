//! Compact format for lists of symbols: each file once, then a row for each symbol, `line kind Qualified.name
//! signature — summary`.
//!
//! - A row begins with a space, the line of its file does not. `12-40` is a symbol from line 12 to 40.
//! - The id is `file::Qualified.name#kind`. Scores are left out: files are in the order of their best hit.
//! - Anything else that a symbol holds follows in braces, or, when it has several lines, below.
//! - In an outline, rows of members are indented, the name stands in the signature, and a signature that begins with
//!   the word of its kind is not preceded by it.
//! - A name with white space is in quotes.

use serde_json::{Map, Value};

use super::{derives, inline, is_block, is_plain_line, is_records, name, quoted, split};

/// Keys with a fixed position in a row, beside those in the id.
const PLACED: [&str; 5] = ["line", "end_line", "signature", "summary", "children"];

/// Separator between a signature and its summary.
const DASH: &str = " — ";

/// A list of symbols.
pub(super) struct Symbols<'a> {
    rows: Vec<Row<'a>>,
}

/// A symbol with its nesting depth in the list.
struct Row<'a> {
    fields: &'a Map<String, Value>,
    id_key: &'static str,
    file: &'a str,
    /// Part of the id after the file.
    rest: &'a str,
    depth: usize,
}

impl<'a> Symbols<'a> {
    /// Builds the list, if every item is a symbol.
    pub fn of(items: &'a [Value]) -> Option<Self> {
        let mut rows = Vec::new();
        collect(items, 0, &mut rows)?;
        Some(Self { rows })
    }

    /// Writes the rows after the list's key. `file` was written already; an outline has rows of that file only.
    pub fn write(mut self, out: &mut String, file: Option<&str>) {
        out.push_str(&format!("[{} symbols]:\n", self.rows.len()));
        let is_outline = self.rows.iter().all(|row| Some(row.file) == file);
        if !is_outline {
            self.group();
        }
        let mut above = None;
        for row in &self.rows {
            let place = row.place();
            if !is_outline && above != Some(place) {
                above = Some(place);
                out.push_str(row.file);
                if let Some(repo) = row.fields.get("repo") {
                    out.push_str(" {repo: ");
                    inline(out, repo);
                    out.push('}');
                }
                out.push('\n');
            }
            row.write(out, is_outline);
        }
    }

    /// Groups rows by file, at the position of the first row.
    fn group(&mut self) {
        let mut places: Vec<Place<'_>> = Vec::new();
        let mut order = Vec::new();
        for row in &self.rows {
            let known = places.iter().position(|place| *place == row.place());
            order.push(known.unwrap_or_else(|| {
                places.push(row.place());
                places.len() - 1
            }));
        }
        let mut order = order.into_iter();
        self.rows.sort_by_cached_key(|_| order.next());
    }
}

/// A file, with its repository if given.
type Place<'a> = (Option<&'a Value>, &'a str);

/// Adds a row for each item and its children; `None` when one is no symbol.
fn collect<'a>(items: &'a [Value], depth: usize, rows: &mut Vec<Row<'a>>) -> Option<()> {
    for item in items {
        let row = Row::of(item.as_object()?, depth)?;
        rows.push(row);
        match item.get("children") {
            None => {}
            Some(Value::Array(children)) if is_records(children) => collect(children, depth + 1, rows)?,
            Some(_) => return None,
        }
    }
    Some(())
}

impl<'a> Row<'a> {
    fn of(fields: &'a Map<String, Value>, depth: usize) -> Option<Self> {
        let id_key = super::IDS.into_iter().find(|key| fields.contains_key(*key))?;
        let (file, rest) = split(fields.get(id_key))?;
        let is_text = |key: &str| fields.get(key).is_none_or(Value::is_string);
        let is_row = fields.get("line").is_some_and(Value::is_u64)
            && fields.get("end_line").is_none_or(Value::is_u64)
            && fields.get("signature").is_some_and(Value::is_string)
            && is_text("summary")
            && rest.rsplit_once('#').is_some_and(|(_, kind)| !kind.contains(char::is_whitespace))
            && fields.values().all(|value| is_block(value) || !super::has_block(value));
        is_row.then_some(Self { fields, id_key, file, rest, depth })
    }

    fn place(&self) -> Place<'a> {
        (self.fields.get("repo"), self.file)
    }

    fn text(&self, key: &str) -> &'a str {
        self.fields.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.fields.get(key).and_then(Value::as_u64)
    }

    fn write(&self, out: &mut String, is_outline: bool) {
        let (line, end) = (self.number("line").unwrap_or(0), self.number("end_line"));
        let span = end.filter(|end| *end != line).map_or(line.to_string(), |end| format!("{line}-{end}"));
        let (qualified, kind) = self.rest.rsplit_once('#').unwrap_or((self.rest, ""));
        let signature = self.text("signature");
        out.extend(std::iter::repeat_n(' ', self.depth + 1));
        out.push_str(&span);
        // Otherwise a class would be a `class class Name`.
        if !(is_outline && signature.split(' ').next() == Some(kind)) {
            out.push_str(&format!(" {kind}"));
        }
        let last = qualified.rsplit('.').next().unwrap_or(qualified);
        match is_outline {
            true if signature.contains(last) => {}
            true => name_of(out, last),
            false => name_of(out, qualified),
        }
        let others = || self.fields.iter().filter(|(key, _)| !self.is_said(key));
        let has_more = others().any(|(_, value)| !is_block(value));
        if !signature.is_empty() {
            out.push(' ');
            part(out, signature, has_more);
        }
        let summary = self.text("summary");
        if !summary.is_empty() {
            out.push_str(DASH);
            part(out, summary, has_more);
        }
        if has_more {
            out.push(' ');
            let beside = others().filter(|(_, value)| !is_block(value));
            inline(out, &Value::Object(beside.map(|(key, value)| (key.clone(), value.clone())).collect()));
        }
        out.push('\n');
        for (key, value) in others().filter(|(_, value)| is_block(value)) {
            let text = value.as_str().unwrap_or_default();
            name(out, key);
            out.push_str(&format!("[{} lines]:\n{text}\n", text.split('\n').count()));
        }
    }

    /// Whether the row shows a key's value outside the braces.
    fn is_said(&self, key: &str) -> bool {
        let is_scored = key == "score" && !self.fields.contains_key("explain");
        key == self.id_key
            || key == "repo"
            || is_scored
            || PLACED.contains(&key)
            || derives(&[self.fields], self.id_key, key)
    }
}

/// Writes a name, in quotes if it could be taken for something else.
fn name_of(out: &mut String, text: &str) {
    out.push(' ');
    let is_plain = !text.starts_with('"') && !text.contains(|c: char| c.is_whitespace() || c.is_control());
    if is_plain { out.push_str(text) } else { quoted(out, text) }
}

/// Writes a signature or a summary, in quotes if ambiguous. A `{` also needs quotes when braces follow.
fn part(out: &mut String, text: &str, has_more: bool) {
    let is_plain = is_plain_line(text) && !text.contains(DASH.trim()) && !(has_more && text.contains('{'));
    if is_plain { out.push_str(text) } else { quoted(out, text) }
}
