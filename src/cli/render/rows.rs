//! Prints symbols and lines with their facts. At a terminal they stand in columns, below their file or by rank. In a
//! pipe each is one line with its place.

use serde_json::{Map, Value};

use super::super::output::{Output, SHORTEST};
use super::super::words::command_line;
use super::content;
use super::phrases::{List, fact, named_list};
use super::{number_of, text_of};

/// Keys with a column or a line of their own, and keys about how the answer was made.
const IN_COLUMNS: &[&str] = &[
    "at",
    "column",
    "end_line",
    "file",
    "id",
    "in",
    "kind",
    "line",
    "line_number",
    "name",
    "of",
    "path",
    "qualified_name",
    "ranges",
    "ref",
    "signature",
    "source",
    "source_line",
    "statements",
    "summary",
    "symbol_id",
    "text",
    "truncated",
];
/// Keys that name the subject of one answer among several.
pub(super) const GROUPS: &[&str] = &["identifier", "file_path"];
/// The widest aligned column. One long name must not push all others off the screen.
const WIDEST: usize = 56;

/// A symbol, a line or a file in an answer.
#[derive(Default)]
pub(super) struct Row {
    path: String,
    line: Option<u64>,
    column: Option<u64>,
    kind: String,
    name: String,
    code: String,
    /// The enclosing symbol.
    inside: String,
    /// The definition that it uses.
    of: String,
    facts: Vec<String>,
    summary: String,
    source: String,
    /// The first line of the source, if different from the line of the name.
    source_line: Option<u64>,
}

/// Rows of one kind.
pub(super) struct Rows {
    rows: Vec<Row>,
    list: Option<&'static List>,
    /// Whether these are lines of code, not symbols.
    is_code: bool,
    /// The number of files or other items that the rows belong to.
    n_items: usize,
}

/// The rows of a list in an answer; `None` if its items have neither place nor name. `group` is the subject of this
/// answer among several.
pub(super) fn rows_of(key: &str, value: &Value, answer: &Map<String, Value>, group: Option<&str>) -> Option<Rows> {
    let items = match value {
        Value::Array(items) => &items[..],
        Value::Object(object) if object.contains_key("id") && named_list(key).is_some() => std::slice::from_ref(value),
        _ => return None,
    };
    let mut rows = Vec::new();
    for item in items {
        match item {
            Value::String(text) => rows.push(of_text(text, key)?),
            Value::Object(object) => add(key, item, object, answer, &mut rows)?,
            _ => return None,
        }
    }
    if rows.is_empty() {
        return None;
    }
    for row in &mut rows {
        row.facts.extend(group.map(|group| format!("of {group}")));
    }
    let is_code = rows.iter().all(|row| row.name.is_empty() && row.source.is_empty());
    Some(Rows { rows, list: named_list(key), is_code, n_items: items.len() })
}

/// A row for an id, or for `path:line` followed by a name.
fn of_text(text: &str, key: &str) -> Option<Row> {
    if let Some((path, symbol)) = text.split_once("::") {
        let (name, kind) = of_symbol(symbol);
        return Some(Row { path: path.to_owned(), name, kind, ..Row::default() });
    }
    let (place, name) = text.split_once(' ').unwrap_or((text, ""));
    let (path, line) = place.rsplit_once(':').unwrap_or((place, ""));
    match line.parse() {
        Ok(line) => Some(Row { path: path.to_owned(), line: Some(line), name: name.to_owned(), ..Row::default() }),
        Err(_) if key == "entry_points" => Some(Row { path: text.to_owned(), ..Row::default() }),
        Err(_) => None,
    }
}

/// Name and kind in `Class.method#method~2`.
fn of_symbol(symbol: &str) -> (String, String) {
    let (name, kind) = symbol.rsplit_once('#').unwrap_or((symbol, ""));
    (name.to_owned(), kind.split('~').next().unwrap_or(kind).to_owned())
}

/// Adds the rows of an object: itself, its matches, or the symbols of a file.
fn add(
    key: &str,
    item: &Value,
    object: &Map<String, Value>,
    answer: &Map<String, Value>,
    rows: &mut Vec<Row>,
) -> Option<()> {
    if GROUPS.iter().any(|group| object.contains_key(*group)) {
        return None;
    }
    let row = of_object(key, item, object, answer);
    let matches = ["matches", "line_matches"].iter().find_map(|key| object.get(*key)?.as_array());
    if let Some(matches) = matches {
        for one in matches {
            let object = one.as_object()?;
            rows.push(Row { path: row.path.clone(), ..of_object(key, one, object, answer) });
        }
        return Some(());
    }
    let statements = object.get("statements").and_then(Value::as_array);
    if let Some(statements) = statements {
        let code = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let of_text = |text: &str| Row { path: row.path.clone(), code: code(text), ..Row::default() };
        rows.extend(statements.iter().filter_map(Value::as_str).map(of_text));
        return Some(());
    }
    let names = object.get("symbols").and_then(Value::as_array).filter(|_| row.name.is_empty());
    if let Some(names) = names.filter(|names| !names.is_empty() && names.iter().all(Value::is_string)) {
        let facts = || row.facts.iter().filter(|fact| !fact.is_empty()).cloned().collect();
        let of_name =
            |name: &str| Row { path: row.path.clone(), name: name.to_owned(), facts: facts(), ..Row::default() };
        rows.extend(names.iter().filter_map(Value::as_str).map(of_name));
        rows.extend(number_of(item, "more").map(|more| of_name(&format!("and {more} more"))));
        return Some(());
    }
    if row.path.is_empty() && row.name.is_empty() && row.facts.is_empty() {
        return None;
    }
    rows.push(row);
    Some(())
}

fn of_object(key: &str, item: &Value, object: &Map<String, Value>, answer: &Map<String, Value>) -> Row {
    let id = ["symbol_id", "id"].iter().find_map(|key| text_of(item, key)?.split_once("::"));
    let (of_id, kind) = id.map(|(_, symbol)| of_symbol(symbol)).unwrap_or_default();
    let text = |keys: &[&str]| keys.iter().find_map(|key| text_of(item, key)).unwrap_or_default().to_owned();
    let first_line = |text: String| text.lines().next().unwrap_or_default().trim().to_owned();
    let path = text(&["file", "path"]);
    let mut name = text(&["qualified_name"]);
    if name.is_empty() {
        name = if of_id.is_empty() { text(&["name", "ref", "full_name", "column"]) } else { of_id };
    }
    let source = text(&["source"]);
    let line = number_of(item, "line").or_else(|| number_of(item, "line_number"));
    let code = first_line(text(&["signature", "text", "line"]));
    // The id of a whole file is its path.
    let of_file = || if name.is_empty() && line.is_some() { text(&["id"]) } else { String::new() };
    let of_place = || id.map_or_else(of_file, |(path, _)| path.to_owned());
    let own = text(&["kind"]);
    let mut row = Row {
        path: if path.is_empty() { of_place() } else { path },
        line,
        column: number_of(item, "column"),
        kind: if own.is_empty() { kind } else { own },
        name,
        code: if source.is_empty() { code } else { String::new() },
        inside: text(&["in"]),
        of: object.get("of").and_then(|of| definition(of, answer)).unwrap_or_default(),
        facts: Vec::new(),
        summary: text(&["summary"]),
        source,
        source_line: number_of(item, "source_line"),
    };
    if row.code.contains(&row.summary) {
        row.summary.clear();
    }
    if let Some(command) = ready_call(item) {
        row.name = command;
    } else if row.name.is_empty() && row.path.is_empty() {
        row.name = number_of(item, "depth").map(|depth| super::n_of(depth, "step", "steps")).unwrap_or_default();
    }
    row.facts = facts(key, object, answer, &row);
    row
}

/// Values without a column, in the order of the answer.
fn facts(key: &str, object: &Map<String, Value>, answer: &Map<String, Value>, row: &Row) -> Vec<String> {
    let is_called = object.contains_key("at");
    // The order of hits already shows their scores.
    let is_said = |name: &str| {
        IN_COLUMNS.contains(&name)
            || (name == "score" && !row.code.is_empty())
            || (is_called && ["via", "depth", "at_file"].contains(&name))
            || (["symbols", "more", "matches", "line_matches", "tool", "arguments"].contains(&name))
    };
    let others =
        object.iter().filter(|(name, _)| !is_said(name)).filter_map(|(name, value)| match (name.as_str(), value) {
            ("was", Value::String(id)) => Some(was(id, row)),
            _ => fact(name, value),
        });
    called(key, object, answer, row).into_iter().chain(others).collect()
}

/// The former name of a symbol, with its former file if different.
fn was(id: &str, row: &Row) -> String {
    let Some((file, symbol)) = id.split_once("::") else { return format!("was {id}") };
    let (name, kind) = of_symbol(symbol);
    let kind = if kind == row.kind { String::new() } else { format!("{kind} ") };
    if file == row.path { format!("was {kind}{name}") } else { format!("was {kind}{name} in {file}") }
}

/// The lines of calls. A caller's calls are in its own file, a callee's in the caller's file.
fn called(key: &str, object: &Map<String, Value>, answer: &Map<String, Value>, row: &Row) -> Option<String> {
    let at = object.get("at")?.as_array()?;
    let via = object.get("via").and_then(Value::as_str);
    let (who, file) = match (key, via) {
        ("callees", None) => ("called".to_owned(), file_of(answer.get("symbol")?)),
        ("callees", Some(via)) => {
            let file = object.get("at_file").and_then(Value::as_str).unwrap_or(&row.path);
            (format!("called by {via}"), Some(file))
        }
        (_, None) => ("calls it".to_owned(), Some(&*row.path)),
        (_, Some(via)) => (format!("calls {via}"), Some(&*row.path)),
    };
    let lines = at.iter().filter_map(Value::as_u64).map(|line| line.to_string()).collect::<Vec<_>>().join(", ");
    Some(match file.filter(|file| *file != row.path) {
        Some(file) => format!("{who} at {file}:{lines}"),
        None => format!("{who} at line {lines}"),
    })
}

/// The file of an id.
fn file_of(id: &Value) -> Option<&str> {
    id.as_str()?.split_once("::").map(|(file, _)| file)
}

/// The names of the definitions that a use means.
fn definition(of: &Value, answer: &Map<String, Value>) -> Option<String> {
    let definitions = answer.get("definitions")?.as_array()?;
    let name = |place: &Value| {
        let id = text_of(definitions.get(usize::try_from(place.as_u64()?).ok()?)?, "id")?;
        Some(of_symbol(id.rsplit_once("::")?.1).0)
    };
    match of {
        Value::Array(places) => Some(places.iter().filter_map(name).collect::<Vec<_>>().join(", ")),
        place => name(place),
    }
}

/// A prepared tool call as a command line.
fn ready_call(value: &Value) -> Option<String> {
    command_line(text_of(value, "tool")?, value.get("arguments")?.as_object()?)
}

impl Row {
    fn place(&self) -> String {
        let behind = |number: Option<u64>| number.map(|number| format!(":{number}")).unwrap_or_default();
        format!("{}{}{}", self.path, behind(self.line), behind(self.column))
    }

    fn painted_place(&self, out: &Output) -> String {
        let paint = out.paint;
        let line = self.line.map(|line| format!(":{}", paint.line(line))).unwrap_or_default();
        let column = self.column.map(|column| format!(":{column}")).unwrap_or_default();
        format!("{}{line}{column}", paint.path(&self.path))
    }
}

/// Pads a painted text to a width, counted by its visible letters.
fn fill(text: &str, painted: String, width: usize) -> String {
    format!("{painted}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}

/// The width of the widest text, without texts too wide to align.
fn width<'r>(rows: &'r [Row], text: impl Fn(&'r Row) -> usize) -> usize {
    rows.iter().map(text).filter(|width| *width <= WIDEST).max().unwrap_or(0)
}

fn letters(text: &str) -> usize {
    text.chars().count()
}

impl Rows {
    /// The number of items; with the word `files` if it differs from the number of rows.
    pub(super) fn count(&self) -> String {
        match self.n_items == self.rows.len() {
            true => self.n_items.to_string(),
            false => super::n_of(self.n_items as u64, "file", "files"),
        }
    }

    /// Takes out the only fact if all lines of code share it, so that it is printed once.
    pub(super) fn take_shared_fact(&mut self) -> Option<String> {
        let first = self.rows.first().filter(|_| self.is_code && self.rows.len() > 2)?;
        let [fact] = &first.facts[..] else { return None };
        let fact = fact.clone();
        if !self.rows.iter().all(|row| row.facts == [fact.as_str()]) {
            return None;
        }
        self.rows.iter_mut().for_each(|row| row.facts.clear());
        Some(fact)
    }

    /// The rows, grouped by the definition that they use.
    pub(super) fn by_definition(self) -> Vec<(String, Self)> {
        let mut parts: Vec<(String, Self)> = Vec::new();
        let Self { list, is_code, .. } = self;
        for row in self.rows {
            match parts.iter_mut().find(|(of, _)| *of == row.of) {
                Some((_, part)) => part.rows.push(row),
                None => parts.push((row.of.clone(), Self { rows: vec![row], list, is_code, n_items: 0 })),
            }
        }
        if let [(_, only)] = &mut parts[..] {
            only.n_items = self.n_items;
        } else {
            parts.iter_mut().for_each(|(_, part)| part.n_items = part.rows.len());
        }
        parts
    }

    /// Prints the rows.
    pub(super) fn show(&self, depth: usize, out: &mut Output) {
        if out.is_piped() {
            return self.lines(out);
        }
        if self.rows.iter().any(|row| !row.source.is_empty()) {
            return self.sources(out);
        }
        let mut groups: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            match groups.iter_mut().find(|(path, _)| *path == row.path) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((&row.path, vec![row])),
            }
        }
        let is_ranked = self.list.map_or(!self.is_code, |list| list.is_ranked);
        if is_ranked || groups.len() == self.rows.len() {
            return self.columns(depth, out);
        }
        for (path, rows) in groups {
            out.line(format!("{}{}", "  ".repeat(depth), out.paint.path(path)));
            self.below_a_file(&rows, depth + 1, out);
        }
    }

    /// Prints symbols with sources, each below its place.
    fn sources(&self, out: &mut Output) {
        let paint = out.paint;
        for row in &self.rows {
            let cells = [row.painted_place(out), paint.kind(&row.kind), paint.name(&row.name), row.facts.join("; ")];
            out.flow(&cells, 4);
            if row.source.is_empty() {
                out.raw(&row.code);
            }
            out.raw(&row.source);
            out.line("");
        }
    }

    /// Prints one line per row with all its facts, or each line of its source.
    fn lines(&self, out: &mut Output) {
        let word = self.list.map_or("", |list| list.word);
        let (places, kinds) =
            (width(&self.rows, |row| letters(&row.place())), width(&self.rows, |row| letters(&row.kind)));
        let names = width(&self.rows, |row| letters(&row.name));
        let paint = out.paint;
        for row in &self.rows {
            let said = |word: &str, name: &str| if name.is_empty() { String::new() } else { format!("{word} {name}") };
            let cells = [
                fill(&row.place(), row.painted_place(out), places),
                word.to_owned(),
                fill(&row.kind, paint.kind(&row.kind), kinds),
                fill(&row.name, paint.name(&row.name), names),
                row.code.clone(),
                row.summary.clone(),
                said("in", &row.inside),
                said("of", &row.of),
                row.facts.join("; "),
            ];
            // The source shows everything but the facts.
            if row.source.is_empty() || !row.facts.is_empty() {
                out.flow(&cells, 0);
            }
            let first = row.source_line.or(row.line).unwrap_or(1);
            content::numbered(&row.path, first, ':', row.source.lines(), out);
        }
    }

    /// Prints rows of several files, in order.
    fn columns(&self, depth: usize, out: &mut Output) {
        let places = width(&self.rows, |row| letters(&row.place()));
        let kinds = width(&self.rows, |row| letters(&row.kind));
        let names = width(&self.rows, |row| letters(&row.name));
        let indent = 2 * depth;
        let taken =
            indent + [places, kinds, names].iter().filter(|width| **width > 0).map(|width| width + 2).sum::<usize>();
        // Columns that do not fit side by side are stacked.
        let is_wide = |row: &Row| !row.code.is_empty() && !out.fits(taken + letters(&row.code).min(2 * SHORTEST));
        let is_stacked = self.rows.iter().any(is_wide);
        let paint = out.paint;
        for row in &self.rows {
            let inside = if row.inside.is_empty() { None } else { Some(format!("in {}", row.inside)) };
            let facts = inside.into_iter().chain(row.facts.iter().cloned()).collect::<Vec<_>>().join("; ");
            let mut cells = vec![
                format!("{}{}", " ".repeat(indent), fill(&row.place(), row.painted_place(out), places)),
                fill(&row.kind, paint.kind(&row.kind), kinds),
                fill(&row.name, paint.name(&row.name), if is_stacked { 0 } else { names }),
            ];
            if !is_stacked {
                cells.push(out.cut_code(&row.code, taken));
                cells.push(paint.dim(&facts));
            }
            out.flow(&cells, indent + 4);
            let below = [
                if is_stacked { out.cut_code(&row.code, indent + 4) } else { String::new() },
                paint.dim(&out.cut(&row.summary, indent + 4)),
                if is_stacked { paint.dim(&facts) } else { String::new() },
            ];
            for text in below.iter().filter(|text| !text.is_empty()) {
                out.wrapped(&format!("{}{text}", " ".repeat(indent + 4)), indent + 6);
            }
        }
    }

    /// Prints rows of one file, below its path.
    fn below_a_file(&self, rows: &[&Row], depth: usize, out: &mut Output) {
        let all = &self.rows;
        let line = |row: &Row| row.line.map(|line| line.to_string()).unwrap_or_default();
        let lines = width(all, |row| letters(&line(row)));
        let (kinds, names) = (width(all, |row| letters(&row.kind)), width(all, |row| letters(&row.name)));
        // Rows without line numbers need no column for them.
        let indent = if lines == 0 { 2 * depth - 2 } else { 2 * depth };
        let taken =
            indent + [lines, kinds, names].iter().filter(|width| **width > 0).map(|width| width + 2).sum::<usize>();
        let (codes, inside) = (width(all, |row| letters(&row.code)), all.iter().map(|row| letters(&row.inside)).max());
        let beside = inside.filter(|width| *width > 0).map_or(0, |width| width + 5);
        // The enclosing symbol is printed beside the line if there is room, else above.
        let room = out.columns().saturating_sub(taken + beside + 2);
        let is_beside = beside > 0 && room >= codes.min(2 * SHORTEST);
        let paint = out.paint;
        let mut around = "";
        for row in rows {
            let is_new = row.inside != around;
            around = &row.inside;
            if !is_beside && is_new && !around.is_empty() {
                out.line(format!("{}in {}:", " ".repeat(indent), paint.name(around)));
            }
            let space = " ".repeat(indent + lines - letters(&line(row)));
            let number = row.line.map(|line| paint.line(line)).unwrap_or_default();
            let code = out.cut_code(&row.code, if is_beside { taken + beside } else { taken });
            let mut cells = vec![
                format!("{space}{number}"),
                fill(&row.kind, paint.kind(&row.kind), kinds),
                fill(&row.name, paint.name(&row.name), names),
            ];
            if is_beside && is_new && !around.is_empty() {
                cells.push(fill(&code, code.clone(), codes.min(room)));
                cells.push(format!("in {}", paint.name(around)));
            } else {
                cells.push(code);
            }
            cells.push(paint.dim(&row.facts.join("; ")));
            out.flow(&cells, indent + lines + 2);
        }
    }
}
