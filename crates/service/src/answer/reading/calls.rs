//! Callers and callees: each with the line of its definition and the lines of its calls.

use serde_json::Value;

use super::rows::Rows;
use super::uses::{complete, no_other, possible};
use super::{Fields, Id, Wording, list_of, n_of, next_page, number_of, objects_of, text_of, texts_of};

/// The most calls of one caller that are shown with their text; of others the line is told.
const MOST_SHOWN: usize = 1;
/// The most callers that are shown with the text of a call; a longer list is of places.
const MOST_TEXTS: usize = 12;
/// The letters of a text beyond which it is cut around the name, and of those the ones before the name.
const TEXT: usize = 56;
const BEFORE: usize = 24;

/// Callers, callees or both, of one symbol or of several.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    if is_about_calls(fields) {
        return Some(of_symbol(fields, say) + &of_others(fields) + &possible(fields, "possible_callers", say));
    }
    let results: Vec<&Fields> = objects_of(fields, "results").collect();
    if results.is_empty() || !results.iter().all(|one| is_about_calls(one)) {
        return None;
    }
    let (called, others): (Vec<&Fields>, Vec<&Fields>) = results.iter().partition(|one| has_calls(one));
    let mut text: String = called.into_iter().map(|one| of_symbol(one, say)).collect();
    let others: Vec<String> = others
        .iter()
        .map(|one| Id::of(text_of(one, "symbol")).briefly(number_of(one, "line").unwrap_or_default()))
        .collect();
    if !others.is_empty() {
        text.push_str(&format!("no calls: {}\n", others.join(", ")));
    }
    // The places of one name may mean any of them.
    let widest = results.iter().max_by_key(|one| number_of(one, "possible_callers"));
    text.push_str(&widest.map(|one| possible(one, "possible_callers", say)).unwrap_or_default());
    Some(text)
}

/// Whether anything is known to call a symbol, or to be called by it.
fn has_calls(fields: &Fields) -> bool {
    ["callers", "callees", "called_outside_functions", "handed_on", "through"]
        .iter()
        .any(|key| !list_of(fields, key).is_empty())
}

fn is_about_calls(fields: &Fields) -> bool {
    let has_list = ["callers", "callees"].iter().any(|key| fields.get(*key).is_some_and(Value::is_array));
    fields.contains_key("symbol") && has_list
}

fn of_symbol(fields: &Fields, say: Wording<'_>) -> String {
    let id = Id::of(text_of(fields, "symbol"));
    let mut placed = id.placed(number_of(fields, "line"));
    let twins = texts_of(fields, "also_at");
    if !twins.is_empty() {
        placed.push_str(&format!(" and {}", twins.join(", ")));
    }
    let handed_on = texts_of(fields, "handed_on");
    let known_outside = texts_of(fields, "known_outside");
    let mut text = String::new();
    for (key, one, many) in [("callers", "caller", "callers"), ("callees", "callee", "callees")] {
        if !fields.get(key).is_some_and(Value::is_array) {
            continue;
        }
        let found: Vec<&Fields> = objects_of(fields, key).collect();
        let cut = number_of(fields, "total").filter(|total| *total > found.len() as u64);
        let (direct, through): (Vec<&Fields>, Vec<&Fields>) = found.iter().partition(|item| !is_through(item));
        let is_parted = cut.is_none() && (!through.is_empty() || !list_of(fields, "through").is_empty());
        let count = match cut {
            Some(total) => format!("{} of {total} {many}", found.len()),
            None if is_parted => n_of(direct.len() as u64, "direct caller", "direct callers"),
            None => n_of(found.len() as u64, one, many),
        };
        let next = if cut.is_some() { next_page(fields, say) } else { String::new() };
        let complete = match key {
            "callers" if handed_on.is_empty() && known_outside.is_empty() => {
                complete(fields, "possible_callers", "call")
            }
            "callers" => {
                no_other(fields, "possible_callers", "direct call").map_or_else(String::new, |it| format!("; {it}"))
            }
            _ => String::new(),
        };
        text.push_str(&format!("{count} of {placed}{complete}{next}\n"));
        let style = Style { key, id, has_texts: found.len() <= MOST_TEXTS };
        text.push_str(&style.rows(&direct));
        text.push_str(&through_others(&through, &style));
    }
    text.push_str(&left_out(fields, say));
    text.push_str(&stored(fields, &handed_on));
    if !known_outside.is_empty() {
        text.push_str(&format!("outside of the repository it may be called by {}\n", known_outside.join(", ")));
    }
    let outside = texts_of(fields, "called_outside_functions");
    if !outside.is_empty() {
        text.push_str(&format!("called outside of functions: {}\n", by_file(&outside)));
    }
    text
}

/// Where a function is handed on, with what holds it there, and who calls what is held.
fn stored(fields: &Fields, handed_on: &[&str]) -> String {
    if handed_on.is_empty() {
        return String::new();
    }
    let stored: Vec<(&str, &str)> =
        objects_of(fields, "stored").map(|one| (text_of(one, "at"), text_of(one, "slot"))).collect();
    if stored.is_empty() {
        return format!("handed on as a value, so that others may call it: {}\n", handed_on.join(", "));
    }
    let place = |place: &&str| {
        let at = place.split(" in ").next().unwrap_or(place);
        let slots: Vec<&str> = stored.iter().filter(|(own, _)| *own == at).map(|(_, slot)| *slot).collect();
        if slots.is_empty() { (*place).to_owned() } else { format!("{at} ({})", slots.join(", ")) }
    };
    let mut text = format!("handed on in {}", handed_on.iter().map(place).collect::<Vec<_>>().join(", "));
    let through: Vec<&Fields> = objects_of(fields, "called_through").collect();
    for of_slot in through.chunk_by(|one, other| text_of(one, "slot") == text_of(other, "slot")) {
        let callers: Vec<String> = of_slot.iter().map(|one| caller_through(one)).collect();
        text.push_str(&format!("; called through {} in {}", text_of(of_slot[0], "slot"), callers.join(", ")));
    }
    text + "\n"
}

/// A function that calls what a place holds, with the lines: `bus_write bus.c:5`.
fn caller_through(fields: &Fields) -> String {
    let name = Id::of(text_of(fields, "id")).name;
    let lines: Vec<String> =
        list_of(fields, "at").iter().filter_map(Value::as_u64).map(|line| line.to_string()).collect();
    format!("{name} {}:{}", text_of(fields, "file"), lines.join(", ")).trim_start().to_owned()
}

/// Places, each file once: `a.py:3, 7, b.py:1`.
fn by_file(places: &[&str]) -> String {
    let parts: Vec<(&str, &str)> = places.iter().filter_map(|place| place.rsplit_once(':')).collect();
    let of_file = |of_one: &[(&str, &str)]| {
        let lines: Vec<&str> = of_one.iter().map(|(_, line)| *line).collect();
        format!("{}:{}", of_one[0].0, lines.join(", "))
    };
    parts.chunk_by(|(one, _), (other, _)| one == other).map(of_file).collect::<Vec<_>>().join(", ")
}

/// Whether a caller calls another method, which the one that was asked for overrides or implements.
fn is_through(item: &Fields) -> bool {
    item.contains_key("through")
}

/// Callers of methods that may run this one instead, below the name of each.
fn through_others(callers: &[&Fields], style: &Style<'_>) -> String {
    let mut callers = callers.to_vec();
    callers.sort_by_key(|item| text_of(item, "via"));
    let of_one = callers.chunk_by(|one, other| text_of(one, "via") == text_of(other, "via"));
    let part = |of_one: &[&Fields]| {
        let callers = n_of(of_one.len() as u64, "caller", "callers");
        format!("{callers} of {}, which may run it:\n{}", text_of(of_one[0], "via"), style.rows(of_one))
    };
    of_one.map(part).collect()
}

/// The calls by the same name that are none of these, by what they call: who searches for the name finds them.
fn of_others(fields: &Fields) -> String {
    let Some(looked_at) = fields.get("looked_at").and_then(Value::as_object) else { return String::new() };
    // These were listed or counted above.
    let listed = objects_of(fields, "callers").map(|item| text_of(item, "via"));
    let counted = objects_of(fields, "through").map(|one| Id::of(text_of(one, "id")).name);
    let above: Vec<&str> = listed.chain(counted).filter(|name| !name.is_empty()).collect();
    let others = objects_of(looked_at, "others").filter(|one| !above.contains(&text_of(one, "name")));
    let others: Vec<&Fields> = others.collect();
    let count = |one: &&Fields| number_of(one, "count").unwrap_or_default();
    let total: u64 = others.iter().map(count).sum();
    let each = |one: &&Fields| {
        let what = match (text_of(one, "name"), one.get("receiver").and_then(Value::as_str)) {
            ("", None) => "more".to_owned(),
            ("", Some("")) => "without a receiver".to_owned(),
            ("", Some(receiver)) => format!("on {receiver}"),
            (name, _) => name.to_owned(),
        };
        format!("{} {what}", count(one))
    };
    let parts: Vec<String> = others.iter().map(each).collect();
    match total {
        0 => String::new(),
        _ => format!("{} by this name mean others: {}\n", n_of(total, "call", "calls"), parts.join(", ")),
    }
}

/// The numbers of callers that are not listed, by the methods they call.
fn left_out(fields: &Fields, say: Wording<'_>) -> String {
    let each: Vec<String> = objects_of(fields, "through")
        .map(|one| {
            let callers = n_of(number_of(one, "callers").unwrap_or_default(), "caller", "callers");
            format!("{callers} of {}", Id::of(text_of(one, "id")).name)
        })
        .collect();
    if each.is_empty() {
        return String::new();
    }
    say(&format!("{}, which may run it, not listed; `through` lists them\n", each.join(", ")))
}

/// How the rows of a list are written.
struct Style<'a> {
    /// The list.
    key: &'a str,
    /// The symbol that was asked for.
    id: Id<'a>,
    has_texts: bool,
}

impl Style<'_> {
    fn rows(&self, items: &[&Fields]) -> String {
        let mut rows = Rows::default();
        items.iter().for_each(|item| rows.add(text_of(item, "file"), self.row(item)));
        rows.text()
    }

    /// A caller or callee: `12 Cart.total  14:return add(1)`.
    fn row(&self, item: &Fields) -> String {
        let name = Id::of(text_of(item, "id")).name;
        let mut row = format!("{} {name}", number_of(item, "line").unwrap_or_default());
        match (number_of(item, "depth"), text_of(item, "via")) {
            (_, "") => {}
            (None, via) => row.push_str(&format!(" (through {via})")),
            _ if is_through(item) => {}
            (Some(depth), via) => row.push_str(&format!(" ({depth} steps, by {via})")),
        }
        let overriding = texts_of(item, "overridden_by");
        if !overriding.is_empty() {
            row.push_str(&format!(" (or {} instead)", overriding.join(", ")));
        }
        let lines: Vec<u64> = list_of(item, "at").iter().filter_map(Value::as_u64).collect();
        let texts = if self.has_texts { texts_of(item, "calls") } else { Vec::new() };
        // The name that is called.
        let called = if self.key == "callees" { name } else { self.id.name };
        for (line, code) in lines.iter().zip(&texts).take(MOST_SHOWN) {
            row.push_str(&format!("  {line}:{}", around(code, called.rsplit('.').next().unwrap_or(called))));
        }
        let shown = texts.len().min(MOST_SHOWN);
        if lines.len() > shown {
            let others: Vec<String> = lines[shown..].iter().map(u64::to_string).collect();
            let joint = if shown == 0 { "  at " } else { "  and " };
            row.push_str(&format!("{joint}{}", others.join(", ")));
        }
        // The calls of a callee stand in the file of the one who calls.
        let is_elsewhere = self.key == "callees" && text_of(item, "file") != self.id.file && item.get("via").is_none();
        if is_elsewhere && !lines.is_empty() {
            row.push_str(&format!("  in {}", self.id.file));
        }
        row
    }
}

/// A line, which is cut on both sides of a name in it where it is long.
fn around(code: &str, name: &str) -> String {
    let letters: Vec<char> = code.chars().collect();
    if letters.len() <= TEXT {
        return code.to_owned();
    }
    let at = code.find(name).map_or(0, |at| code[..at].chars().count());
    let start = if at + name.chars().count() < TEXT { 0 } else { at - BEFORE.min(at) };
    let end = letters.len().min((start + TEXT).max(at + name.chars().count() + 1));
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}", mark(start > 0), letters[start..end].iter().collect::<String>(), mark(end < letters.len()))
}
