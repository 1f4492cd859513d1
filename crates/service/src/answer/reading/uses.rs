//! Uses of a symbol: its definition, then the lines that use it.

use serde_json::Value;

use super::rows::Rows;
use super::{Fields, Id, Wording, list_of, n_of, next_page, number_of, objects_of, text_of, texts_of};

/// Uses of one name, or of several.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    if is_about_uses(fields) {
        return Some(of_name(fields, say));
    }
    let results: Vec<&Fields> = objects_of(fields, "results").collect();
    let are_uses = !results.is_empty() && results.iter().all(|one| is_about_uses(one));
    are_uses.then(|| results.into_iter().map(|one| of_name(one, say)).collect())
}

fn is_about_uses(fields: &Fields) -> bool {
    fields.contains_key("definitions") && fields.get("references").is_some_and(Value::is_array)
}

fn of_name(fields: &Fields, say: Wording<'_>) -> String {
    let definitions: Vec<&Fields> = objects_of(fields, "definitions").collect();
    let references: Vec<&Fields> = objects_of(fields, "references").collect();
    let mut text = String::new();
    let outside = texts_of(fields, "external");
    let is_page = number_of(fields, "left").or_else(|| number_of(fields, "references_left")).is_some();
    if is_page {
        let total = number_of(fields, "total")
            .unwrap_or_else(|| references.len() as u64 + number_of(fields, "references_left").unwrap_or_default());
        text.push_str(&format!("{} of {total} uses{}\n", references.len(), next_page(fields, say)));
    }
    for (place, definition) in definitions.iter().enumerate() {
        let number = number_of(definition, "number").unwrap_or(place as u64);
        let of_it = |reference: &&&Fields| definitions.len() == 1 || number_of(reference, "of") == Some(number);
        let own: Vec<&Fields> = references.iter().filter(of_it).copied().collect();
        let is_sure = |reference: &&&Fields| !matches!(text_of(reference, "confidence"), "name" | "import");
        let (sure, possible): (Vec<_>, Vec<_>) = own.iter().partition(|reference| is_sure(reference));
        if number_of(definition, "uses") != Some(0) || definitions.len() == 1 {
            let complete = if definitions.len() == 1 { complete(fields, "possible", "use") } else { String::new() };
            text.push_str(&format!("{}{complete}\n{}", heading(definition), lines(sure)));
        }
        text.push_str(&possible_lines(possible));
    }
    text.push_str(&unused(&definitions));
    if definitions.is_empty() && !references.is_empty() {
        let of = if outside.is_empty() { String::new() } else { format!(" of {}", outside.join(", ")) };
        text.push_str(&format!("{}{of}\n{}", n_of(references.len() as u64, "use", "uses"), lines(references)));
    } else if definitions.len() > 1 {
        let of_none = |reference: &Fields| reference.get("of").is_none();
        text.push_str(&possible_lines(references.into_iter().filter(|one| of_none(one)).collect()));
    }
    text.push_str(&rest(fields, say));
    text
}

/// How often a definition is used, and where it stands; its twins behind it.
fn heading(definition: &Fields) -> String {
    let uses = number_of(definition, "uses").unwrap_or_default();
    let placed = Id::of(text_of(definition, "id")).with_detail(definition).placed(number_of(definition, "line"));
    let also = texts_of(definition, "also_at");
    let also = if also.is_empty() { String::new() } else { format!(" and {}", also.join(", ")) };
    format!("{} of {placed}{also}", n_of(uses, "use", "uses"))
}

/// Definitions without uses, beside others that have some.
fn unused(definitions: &[&Fields]) -> String {
    if definitions.len() < 2 {
        return String::new();
    }
    let unused = definitions.iter().filter(|definition| number_of(definition, "uses") == Some(0));
    let unused: Vec<String> =
        unused.map(|one| Id::of(text_of(one, "id")).briefly(number_of(one, "line").unwrap_or_default())).collect();
    if unused.is_empty() { String::new() } else { format!("no uses: {}\n", unused.join(", ")) }
}

/// The most uses that are all shown with their code; of more, the first few of each file are. The rest have their line and
/// the symbol around it, and imports their line alone.
const MOST_SHOWN: usize = 30;
const FIRST: usize = 3;

/// Lines that use something, with the symbols around them.
fn lines<'a>(references: impl IntoIterator<Item = &'a Fields>) -> String {
    let references: Vec<&Fields> = references.into_iter().collect();
    let is_short = references.len() > MOST_SHOWN;
    let mut rows = Rows::default();
    let (mut above, mut around) = ((String::new(), None), "");
    let (mut n_of_file, mut further) = (0, Vec::new());
    for reference in references {
        let repo = text_of(reference, "repo");
        let file = text_of(reference, "file");
        let file = if repo.is_empty() { file.to_owned() } else { format!("{repo}: {file}") };
        let line = number_of(reference, "line");
        // A line may hold several uses.
        if above == (file.clone(), line) {
            continue;
        }
        if above.0 != file {
            rows.add_further(&above.0, &mut further);
            (n_of_file, around) = (0, "");
        }
        let (number, symbol) = (line.unwrap_or_default(), text_of(reference, "in"));
        if is_short && text_of(reference, "kind") == "import" {
            rows.add(&file, format!("{number}:import"));
            above = (file, line);
            continue;
        }
        n_of_file += 1;
        if is_short && n_of_file > FIRST {
            let is_new = !symbol.is_empty() && symbol != around;
            further.push(if is_new { format!("{number} in {symbol}") } else { number.to_string() });
            (above, around) = ((file, line), symbol);
            continue;
        }
        around = symbol;
        let within = if symbol.is_empty() { String::new() } else { format!("  in {symbol}") };
        let name = match text_of(reference, "as") {
            "" => String::new(),
            name => format!("  as {name}"),
        };
        let code = text_of(reference, "text");
        rows.add(&file, format!("{number}:{code}{within}{name}"));
        above = (file, line);
    }
    rows.add_further(&above.0, &mut further);
    rows.text()
}

/// Lines where only the name is the same.
fn possible_lines(references: Vec<&Fields>) -> String {
    match references.len() {
        0 => String::new(),
        n => format!("{n} possible, by the name alone:\n{}", lines(references)),
    }
}

/// Uses of other kinds, places that may mean it, and names that nothing bears.
fn rest(fields: &Fields, say: Wording<'_>) -> String {
    let mut text = String::new();
    if let Some(left) = number_of(fields, "definitions_left") {
        text.push_str(&format!("{left} more definitions, less used\n"));
    }
    text.push_str(&possible(fields, "possible", say));
    let missing = texts_of(fields, "not_found");
    if !missing.is_empty() {
        let near = texts_of(fields, "nearest");
        let near = if near.is_empty() { String::new() } else { format!("; similar: {}", near.join(", ")) };
        let next = say("search_text looks through all text");
        text.push_str(&format!("nothing is called {}{near}; {next}\n", missing.join(", ")));
    }
    text
}

/// The end of a first line that says that nothing else may be meant; empty where something may, or is not known.
pub(super) fn complete(fields: &Fields, key: &str, what: &str) -> String {
    no_other(fields, key, what).map_or_else(String::new, |none| format!("; complete: {none}"))
}

/// The words for that no other use or call is possible; none where one may be, or where not all was read.
pub(super) fn no_other(fields: &Fields, key: &str, what: &str) -> Option<String> {
    let meta = fields.get("_meta").and_then(Value::as_object);
    let is_unsure = |meta: &Fields| {
        [
            "relations_missing",
            "compiler_stale",
            "read_so_far",
            "not_read",
            "not_read_whole",
            "unnamed_uses",
            "elsewhere",
        ]
        .iter()
        .any(|key| meta.contains_key(*key))
            || !matches!(text_of(meta, "freshness"), "" | "fresh")
    };
    // Places that were asked for are not counted.
    let is_counted = objects_of(fields, "references").all(|one| text_of(one, "confidence") != "name");
    if fields.contains_key(key) || !is_counted || meta.is_some_and(is_unsure) {
        return None;
    }
    let looked_at = fields.get("looked_at").and_then(Value::as_object);
    let files = looked_at.map_or_else(String::new, |at| {
        let files = n_of(number_of(at, "files").unwrap_or_default(), "file", "files");
        let tests = match number_of(at, "tests") {
            None | Some(0) => "none of them a test",
            Some(1) => "one of them a test",
            Some(n) => &format!("{n} of them tests"),
        };
        format!(" in {files}, {tests}")
    });
    Some(format!("no other {what} is possible{files}"))
}

/// Places in the form of callers: `12 Cart.total  14:it.add(1)`.
fn callers(places: &[&Fields]) -> String {
    let mut rows = Rows::default();
    let is_of_one = |one: &Fields, other: &Fields| {
        text_of(one, "file") == text_of(other, "file") && one.get("in_line") == other.get("in_line")
    };
    for of_one in places.chunk_by(|one, other| is_of_one(one, other)) {
        let lines: Vec<String> =
            of_one.iter().filter_map(|place| number_of(place, "line")).map(|line| line.to_string()).collect();
        let first = format!("{}:{}", lines[0], text_of(of_one[0], "text"));
        let row = match number_of(of_one[0], "in_line") {
            Some(line) => format!("{line} {}  {first}", text_of(of_one[0], "in")),
            None => first,
        };
        let further = if lines.len() > 1 { format!("  and {}", lines[1..].join(", ")) } else { String::new() };
        rows.add(text_of(of_one[0], "file"), row + &further);
    }
    rows.text()
}

/// Places that may mean it: all of a few, of many the receivers, and how they are listed.
pub(super) fn possible(fields: &Fields, key: &str, say: Wording<'_>) -> String {
    let Some(count) = number_of(fields, key).filter(|count| *count > 0) else { return String::new() };
    let shown: Vec<&Fields> = objects_of(fields, "possible_places").collect();
    if !shown.is_empty() {
        let rows = if key == "possible_callers" { callers(&shown) } else { lines(shown) };
        return format!("{count} possible, as the receiver is not known:\n{rows}");
    }
    let receivers = list_of(fields, "possible_receivers").iter().filter_map(Value::as_object);
    let receivers: Vec<String> = receivers
        .map(|one| format!("{} {}", text_of(one, "receiver"), number_of(one, "count").unwrap_or_default()))
        .collect();
    let by = if receivers.is_empty() { String::new() } else { format!(": {}", receivers.join(", ")) };
    // Only the tool for uses can list them.
    let list = say(match key {
        "possible_callers" => "`find_references` with `include_possible` lists them",
        _ => "`include_possible` lists them",
    });
    format!("{count} possible, as the receiver is not known{by}; {list}\n")
}
