//! Any answer: symbols and lines as `file:line  kind  name`, in columns, each list below its heading; single facts as
//! `name: value`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::super::output::{Output, SHORTEST};
use super::super::words::{Words, command_line, command_of};
use super::{number_of, text_of};

/// Keys about the making of an answer, which are written as notes.
const BESIDE: &[&str] = &[
    "_meta",
    "at_least",
    "left",
    "narrow",
    "nearest",
    "negative_evidence",
    "next_cursor",
    "shortened",
    "timed_out",
    "total",
    "truncated",
    "unknown_words",
];
/// Keys with a column or a line of their own.
const IN_COLUMNS: &[&str] = &[
    "column",
    "end_line",
    "file",
    "id",
    "in",
    "kind",
    "line",
    "line_number",
    "name",
    "path",
    "qualified_name",
    "ranges",
    "ref",
    "signature",
    "source",
    "summary",
    "symbol_id",
    "text",
];
/// Keys whose value needs no name.
const PLAIN: &[&str] = &["reason", "reasons", "confidence", "change_type", "description"];
/// Keys whose value is a message of the tool.
const MESSAGES: &[&str] = &["hint", "note", "reason", "rest"];
/// Keys of scores and sizes, which the order of hits already shows.
const SCORES: &[&str] = &["relevance_score", "centrality_score", "combined_score", "tokens"];
/// The widest column that is aligned: one long path must not push all others off the screen.
const WIDEST: usize = 56;
/// The longest list of words on one line; others have a line for each.
const ONE_LINE: usize = 100;

/// Shows any value.
pub(super) fn show(value: &Value, out: &mut Output) -> bool {
    let Value::Object(answer) = value else { return false };
    let answer = &*named_definitions(answer);
    if let Some(edges) = edges(answer) {
        edges.iter().for_each(|edge| out.line(edge));
        return true;
    }
    let entries = || answer.iter().filter(|(key, value)| !is_said_beside(key) && !is_empty(value));
    let (lists, others): (Vec<_>, Vec<_>) = entries().partition(|(_, value)| rows_of(value).is_some());
    match lists[..] {
        // A single list needs no heading, so that it can be piped line by line.
        [(_, Value::Array(list))] if others.iter().all(|(_, value)| short(value).is_some()) => {
            rows(list, None, 0, out);
            // High confidence is not mentioned.
            let is_sure = |key: &str, value: &Value| key == "confidence" && value == "high";
            let told = others.iter().filter(|(key, value)| !is_counted(key, value, answer) && !is_sure(key, value));
            for (key, value) in told {
                out.asides.extend(short(value).map(|text| format!("{}: {}", words(key), said(key, text, out.words))));
            }
        }
        _ => fields(answer, 0, out),
    }
    true
}

/// An answer whose references name the definition that they are of, not its place in the list.
fn named_definitions(answer: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    let Some(definitions) = answer.get("definitions").and_then(Value::as_array) else { return Cow::Borrowed(answer) };
    let name = |place: &Value| {
        let id = id_of(definitions.get(usize::try_from(place.as_u64()?).ok()?)?)?;
        Some(id.rsplit_once("::")?.1.rsplit_once('#')?.0.to_owned())
    };
    let names = |of: &Value| match of {
        Value::Array(places) => Some(places.iter().filter_map(name).collect::<Vec<_>>().join(", ")),
        place => name(place),
    };
    let mut answer = answer.clone();
    for reference in answer.get_mut("references").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(names) = reference.get("of").and_then(names) {
            reference["of"] = names.into();
        }
    }
    Cow::Owned(answer)
}

/// Whether a count repeats the length of a list, or is zero.
fn is_counted(key: &str, value: &Value, object: &Map<String, Value>) -> bool {
    let Some(counted) = key.strip_suffix("_count") else { return false };
    let is_shown = |(other, list): (&String, &Value)| {
        let n = list.as_array().map(|items| items.len() as u64);
        (other.trim_end_matches('s') == counted || other.starts_with(&format!("{counted}_"))) && n == value.as_u64()
    };
    value.as_u64() == Some(0) || object.iter().any(is_shown)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn is_said_beside(key: &str) -> bool {
    BESIDE.contains(&key)
}

/// The entries of an object: single facts, then counts, then lists.
fn fields(object: &Map<String, Value>, depth: usize, out: &mut Output) {
    let indent = "  ".repeat(depth);
    let paint = out.paint;
    let entries = || object.iter().filter(|(key, _)| !is_said_beside(key));
    for (key, value) in entries().filter(|(key, value)| !is_counted(key, value, object)) {
        if let Some(text) = short(value) {
            out.wrapped(&format!("{indent}{}: {}", words(key), said(key, text, out.words)), indent.len() + 2);
        }
    }
    for (key, value) in entries() {
        let Value::Object(inner) = value else { continue };
        match counts(inner) {
            Some(counts) if counts.is_empty() => {}
            Some(counts) => out.wrapped(&format!("{indent}{}: {counts}", words(key)), indent.len() + 2),
            None if is_place(value) => {
                out.line(format!("{indent}{}:", paint.name(&words(key))));
                rows(std::slice::from_ref(value), None, depth + 1, out);
            }
            None => {
                out.line(format!("{indent}{}:", paint.name(&words(key))));
                fields(inner, depth + 1, out);
            }
        }
    }
    for (key, value) in entries() {
        let Value::Array(items) = value else { continue };
        if let Some(list) = rows_of(value) {
            out.line(format!("{indent}{} ({}):", paint.name(&words(key)), list.len()));
            rows(list, None, depth + 1, out);
        } else if short(value).is_none() && !items.is_empty() {
            out.line(format!("{indent}{} ({}):", paint.name(&words(key)), items.len()));
            for item in items {
                out.line(format!("{indent}  {}", short(item).unwrap_or_else(|| item.to_string())));
            }
        }
    }
}

/// A fact that fits on a line: a text, a number, a few of them. `None` if it is empty.
fn short(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(is_so) => Some(if *is_so { "yes" } else { "no" }.to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) if !items.is_empty() => {
            let texts: Option<Vec<String>> =
                items.iter().map(|item| if item.is_array() { None } else { short(item) }).collect();
            texts.map(|texts| texts.join(", ")).filter(|text| text.chars().count() <= ONE_LINE)
        }
        _ => None,
    }
}

/// A map of numbers, largest first: `83 python, 20 html`.
fn counts(map: &Map<String, Value>) -> Option<String> {
    let mut counts: Vec<(&String, f64, &Value)> =
        map.iter().map(|(name, n)| Some((name, n.as_f64()?, n))).collect::<Option<_>>()?;
    counts.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(right.0)));
    let texts: Vec<String> = counts.iter().map(|(name, _, n)| format!("{n} {}", words(name))).collect();
    Some(texts.join(", "))
}

/// A list of objects.
fn rows_of(value: &Value) -> Option<&[Value]> {
    value.as_array().filter(|items| !items.is_empty() && items.iter().all(Value::is_object)).map(Vec::as_slice)
}

/// Whether an object has a place.
fn is_place(value: &Value) -> bool {
    id_of(value).is_some() || path_of(value).is_some()
}

fn id_of(value: &Value) -> Option<&str> {
    text_of(value, "symbol_id").or_else(|| text_of(value, "id")).filter(|id| id.contains("::"))
}

fn path_of(value: &Value) -> Option<&str> {
    let of_id = || id_of(value).and_then(|id| id.split_once("::")).map(|(file, _)| file);
    text_of(value, "file").or_else(|| text_of(value, "path")).or_else(of_id)
}

/// The columns of one row, without colours.
struct Row<'v> {
    value: &'v Value,
    path: &'v str,
    line: Option<u64>,
    kind: &'v str,
    name: &'v str,
}

impl<'v> Row<'v> {
    fn of(value: &'v Value, file: Option<&'v str>) -> Self {
        let of_id = id_of(value).and_then(|id| id.rsplit_once("::")).map_or(("", ""), |(_, rest)| {
            let (name, kind) = rest.rsplit_once('#').unwrap_or((rest, ""));
            (name, kind.split('~').next().unwrap_or(kind))
        });
        let name = text_of(value, "qualified_name").or(Some(of_id.0).filter(|name| !name.is_empty()));
        let name =
            name.or_else(|| text_of(value, "name")).or_else(|| text_of(value, "ref")).or_else(|| text_of(value, "in"));
        Self {
            value,
            path: path_of(value).or(file).unwrap_or_default(),
            line: number_of(value, "line").or_else(|| number_of(value, "line_number")),
            kind: text_of(value, "kind").unwrap_or(of_id.1),
            name: name.unwrap_or_default(),
        }
    }

    fn place(&self) -> String {
        match (self.line, number_of(self.value, "column")) {
            (None, _) => self.path.to_owned(),
            (Some(line), None) => format!("{}:{line}", self.path),
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.path),
        }
    }

    fn painted_place(&self, out: &Output) -> String {
        let paint = out.paint;
        let path = paint.path(self.path);
        match (self.line, number_of(self.value, "column")) {
            (None, _) => path,
            (Some(line), None) => format!("{path}:{}", paint.line(line)),
            (Some(line), Some(column)) => format!("{path}:{}:{column}", paint.line(line)),
        }
    }

    /// Values without a column, in the order of the answer.
    fn rest(&self) -> Vec<String> {
        let Some(object) = self.value.as_object() else { return Vec::new() };
        // The order of hits already shows their scores, and what is resolved is the rule.
        let is_hit = |key: &str| (key == "score" && object.contains_key("signature")) || SCORES.contains(&key);
        let is_rule = |key: &str, value: &Value| key == "confidence" && value == "resolved";
        let is_listed = |key: &str| listed(self.value).is_some() && ["symbols", "more"].contains(&key);
        let others = object.iter().filter(|(key, _)| !IN_COLUMNS.contains(&key.as_str()) && !is_said_beside(key));
        others
            .filter(|(key, value)| !is_hit(key) && !is_rule(key, value) && !is_listed(key))
            .filter_map(|(key, value)| match value {
                Value::Bool(false) => None,
                Value::Bool(true) => Some(words(key)),
                Value::Object(inner) => counts(inner).map(|counts| format!("{} {counts}", words(key))).or_else(|| {
                    let texts: Vec<String> = inner.values().filter_map(short).collect();
                    Some(texts.join(" "))
                }),
                _ if PLAIN.contains(&key.as_str()) && !value.is_number() => short(value),
                _ if key == "at" => short(value).map(|lines| format!("called at line {lines}")),
                _ => short(value).map(|text| format!("{} {text}", words(key))),
            })
            .collect()
    }
}

/// Names of the symbols in a file, with how many more there are.
fn listed(value: &Value) -> Option<(Vec<&str>, u64)> {
    let names: Option<Vec<&str>> = value.get("symbols")?.as_array()?.iter().map(Value::as_str).collect();
    Some((names.filter(|names| !names.is_empty())?, number_of(value, "more").unwrap_or_default()))
}

/// Objects as rows, in columns. `file` is the path of the enclosing object, for rows without one.
fn rows(values: &[Value], file: Option<&str>, depth: usize, out: &mut Output) {
    let rows: Vec<Row<'_>> = values.iter().map(|value| Row::of(value, file)).collect();
    let width =
        |column: &dyn Fn(&Row<'_>) -> usize| rows.iter().map(column).filter(|n| *n <= WIDEST).max().unwrap_or(0);
    let places = width(&|row| row.place().chars().count());
    let kinds = width(&|row| row.kind.chars().count());
    let names = width(&|row| row.name.chars().count());
    let indent = "  ".repeat(depth);
    let paint = out.paint;
    let code = |row: &Row<'_>| ["signature", "text", "line"].iter().find_map(|key| first_line(row.value, key));
    // Columns that do not fit side by side stand below each other.
    let taken = indent.len() + places + kinds + 4;
    let is_wide = |row: &Row<'_>| {
        let code = code(row).map_or(0, |code| code.chars().count().min(SHORTEST) + 2);
        let rest = row.rest().join("; ").chars().count();
        !out.fits(taken + names.max(row.name.chars().count()) + code + rest + 2)
    };
    let is_stacked = rows.iter().any(is_wide);
    for row in &rows {
        if let Some(command) = ready_call(row.value) {
            let about = text_of(row.value, "description").unwrap_or_default();
            out.line(format!("{indent}{}  {}", paint.name(&command), paint.dim(about)));
            continue;
        }
        if let Some((names, more)) = listed(row.value) {
            let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
            names.extend((more > 0).then(|| format!("and {more} more")));
            if out.is_piped() {
                names.iter().for_each(|name| out.line(format!("{indent}{}  {name}", row.path)));
            } else {
                out.line(format!("{indent}{}", row.painted_place(out)));
                out.wrapped(&format!("{indent}    {}", names.join(", ")), indent.len() + 4);
            }
            continue;
        }
        let place = fill(row.painted_place(out), row.place().chars().count(), places);
        let kind = fill(paint.kind(row.kind), row.kind.chars().count(), kinds);
        let name = fill(paint.name(row.name), row.name.chars().count(), if is_stacked { 0 } else { names });
        let mut cells = vec![place, kind, name];
        let (code, rest) = (code(row).unwrap_or_default(), row.rest().join("; "));
        let hanging = format!("{indent}    ");
        let mut below_it = Vec::new();
        if is_stacked {
            below_it = vec![out.cut(&code, hanging.len()), rest];
            below_it.retain(|cell| !cell.is_empty());
        } else {
            cells.push(out.cut(&code, taken + names + rest.chars().count() + 4));
            cells.push(rest);
        }
        cells.retain(|cell| !cell.trim().is_empty());
        // A file is not named above its lines, because each of them has its name.
        let is_named_below = cells.len() <= 1 && below_it.is_empty() && has_lines(row.value);
        if !is_named_below {
            out.wrapped(&format!("{indent}{}", cells.join("  ")), hanging.len());
            below_it.iter().for_each(|cell| out.wrapped(&format!("{hanging}{cell}"), hanging.len() + 2));
        }
        if let Some(summary) = text_of(row.value, "summary").filter(|summary| !code.contains(summary)) {
            out.line(paint.dim(&format!("{hanging}{}", out.cut(summary, hanging.len()))));
        }
        if let Some(source) = text_of(row.value, "source") {
            out.raw(source);
            out.line("");
        }
        below(row, if is_named_below { depth } else { depth + 1 }, out);
    }
}

/// The lists inside an object: callers of a caller, matches of a file.
fn below(row: &Row<'_>, depth: usize, out: &mut Output) {
    let Some(object) = row.value.as_object() else { return };
    let indent = "  ".repeat(depth);
    for (key, value) in object.iter().filter(|(key, _)| !is_said_beside(key)) {
        if let Some(list) = rows_of(value) {
            rows(list, Some(row.path).filter(|path| !path.is_empty()), depth, out);
        } else if let Value::Array(items) = value
            && short(value).is_none()
            && key != "ranges"
        {
            let texts: Vec<String> = items.iter().filter_map(short).collect();
            if texts.iter().all(|text| text.len() <= ONE_LINE / 2) && !texts.is_empty() {
                out.line(format!("{indent}{} {}", words(key), texts.join(", ")));
            } else {
                texts.iter().for_each(|text| out.line(format!("{indent}{text}")));
            }
        }
    }
}

/// Whether an object contains places with line numbers.
fn has_lines(value: &Value) -> bool {
    let lists = value.as_object().into_iter().flat_map(Map::values).filter_map(rows_of);
    lists.flatten().any(|row| row.get("line").is_some() || row.get("line_number").is_some())
}

fn first_line(value: &Value, key: &str) -> Option<String> {
    text_of(value, key).and_then(|text| text.lines().next()).map(|line| line.trim().to_owned())
}

fn fill(painted: String, n_chars: usize, width: usize) -> String {
    format!("{painted}{}", " ".repeat(width.saturating_sub(n_chars)))
}

/// A key as words; a tool's name as its command.
fn words(key: &str) -> String {
    command_of(key).map_or_else(|| key.replace('_', " "), str::to_owned)
}

/// A fact in the words of the terminal, if it is a message.
fn said(key: &str, text: String, words: Words) -> String {
    if MESSAGES.contains(&key) { words.say(&text) } else { text }
}

/// A ready-made call of a tool, as the command that makes it.
fn ready_call(value: &Value) -> Option<String> {
    command_line(text_of(value, "tool")?, value.get("arguments")?.as_object()?)
}

/// A graph whose edges are pairs of places in its list of nodes: a line for each edge.
fn edges(answer: &Map<String, Value>) -> Option<Vec<String>> {
    let nodes = answer.get("nodes")?.as_array()?;
    let edges = answer.get("edges")?.as_array()?;
    let node = |value: &Value| nodes.get(usize::try_from(value.as_u64()?).ok()?)?.as_str();
    let edges = edges.iter().map(|edge| {
        let [from, to] = edge.as_array()?.as_slice() else { return None };
        Some(format!("{} -> {}", node(from)?, node(to)?))
    });
    let mut lines: Vec<String> = edges.collect::<Option<_>>()?;
    let external = answer.get("external").and_then(Value::as_array).into_iter().flatten().filter_map(short);
    lines.extend(external.map(|package| format!("outside: {package}")));
    Some(lines)
}
