//! Token budget of an answer: items are cut off the end of its list, then strings are shortened, and the answer says
//! what is missing and how to get it. The content of an item never depends on how many fit.

use serde_json::{Map, Value};

use super::envelope::write_cursor;
use super::{Error, reading, tokens};

/// An answer under construction.
pub(super) struct Draft {
    /// Body of the answer, without its list while `items` holds it.
    body: Map<String, Value>,
    /// Path of the list in the body.
    path: Option<&'static str>,
    items: Option<Vec<Value>>,
    /// Number of items to send.
    kept: usize,
    /// Number of items from the tool.
    given: usize,
    /// Number of items before those.
    offset: usize,
    /// Total number of items.
    total: usize,
    /// Keys of shortened values, with the number of items each lost; none for a string.
    shortened: Vec<(String, usize)>,
    /// Fingerprint of the question, for its cursor.
    question: u32,
    /// Hint for a narrower question.
    pub narrow: Option<String>,
    /// Whether the format is compact text.
    pub compact: bool,
    /// Content of `_meta`; empty for none.
    pub meta: Map<String, Value>,
}

impl Draft {
    /// Creates an answer whose list lies at `path`, after `offset` of `total` items.
    pub fn new(
        question: u32,
        mut body: Map<String, Value>,
        path: Option<&'static str>,
        offset: usize,
        total: Option<usize>,
    ) -> Self {
        let items = path.and_then(|path| match at(&mut body, path)? {
            Value::Array(items) => Some(std::mem::take(items)),
            _ => None,
        });
        let given = items.as_ref().map_or(0, Vec::len);
        let reached = offset.saturating_add(given);
        // A cursor beyond the end reaches no item, so it proves nothing about the total.
        let total = if given == 0 { total.unwrap_or(0) } else { total.unwrap_or(reached).max(reached) };
        let path = path.filter(|_| items.is_some());
        Self {
            body,
            path,
            items,
            kept: given,
            given,
            offset,
            total,
            shortened: Vec::new(),
            question,
            narrow: None,
            compact: false,
            meta: Map::new(),
        }
    }

    /// Whether the answer has its list.
    pub fn has_list(&self) -> bool {
        self.path.is_some()
    }

    /// Whether the answer has an empty list.
    pub fn is_empty_list(&self) -> bool {
        self.has_list() && self.given == 0
    }

    /// Replaces the body by a count, given or total, and returns it. A note that there may be more, or other, is kept.
    pub fn count(&mut self, count: Option<usize>) -> usize {
        let count = count.unwrap_or(self.total);
        let notes = ["at_least", "verdict"].into_iter().filter_map(|key| self.body.shift_remove_entry(key));
        let body = Map::from_iter([("count".to_owned(), count.into())].into_iter().chain(notes));
        let (question, compact) = (self.question, self.compact);
        *self = Self { compact, ..Self::new(question, body, None, 0, None) };
        count
    }

    /// Whether the answer is incomplete.
    pub fn is_cut(&self) -> bool {
        self.left(self.kept) > 0 || !self.shortened.is_empty() || self.body.get("truncated") == Some(&Value::Bool(true))
    }

    /// The answer to send.
    pub fn value(&self) -> Value {
        self.value_of(self.kept)
    }

    /// Number of items after the first `kept` of this list.
    fn left(&self, kept: usize) -> usize {
        if self.has_list() { self.total.saturating_sub(self.offset.saturating_add(kept)) } else { 0 }
    }

    /// The answer with the first `kept` items of its list.
    fn value_of(&self, kept: usize) -> Value {
        let mut body = self.body.clone();
        if let (Some(path), Some(items)) = (self.path, &self.items)
            && let Some(list) = at(&mut body, path)
        {
            *list = Value::Array(items[..kept].to_vec());
        }
        self.finished(body, kept)
    }

    /// Adds the notes about missing parts, and `_meta`.
    fn finished(&self, mut body: Map<String, Value>, kept: usize) -> Value {
        let mut add = |key: &str, value: Value| _ = body.insert(key.to_owned(), value);
        let left = self.left(kept);
        let cut = left > 0 || !self.shortened.is_empty();
        if cut {
            add("truncated", true.into());
        }
        if !self.shortened.is_empty() {
            let each = self.shortened.iter().map(|(key, lost)| match lost {
                0 => key.clone(),
                lost => format!("{key}: {lost} more"),
            });
            add("shortened", each.collect());
        }
        if left > 0 {
            add("total", self.total.into());
            // A cursor after no items would loop forever.
            if kept > 0 {
                add("next_cursor", write_cursor(self.question, self.offset + kept).into());
            }
            add("left", left.into());
        }
        if let (true, Some(narrow)) = (cut, &self.narrow) {
            add("narrow", narrow.as_str().into());
        }
        // The tool's own count does not know the cut.
        if kept < self.given && body.get("result_count").and_then(Value::as_u64) == Some(self.given as u64) {
            body.insert("result_count".to_owned(), kept.into());
        }
        if !self.meta.is_empty() {
            body.shift_remove("_meta");
            body.insert("_meta".to_owned(), self.meta.clone().into());
        }
        Value::Object(body)
    }

    fn lost(&mut self, key: &str, items: usize) {
        match self.shortened.iter_mut().find(|(known, _)| known == key) {
            Some((_, lost)) => *lost += items,
            None => self.shortened.push((key.to_owned(), items)),
        }
    }

    /// Puts the kept items back into the body, so that the answer can be shortened as a whole.
    fn settle(&mut self) {
        if let (Some(path), Some(mut items)) = (self.path, self.items.take()) {
            items.truncate(self.kept);
            if let Some(list) = at(&mut self.body, path) {
                *list = Value::Array(items);
            }
        }
    }
}

/// Value at a dotted path.
fn at<'a>(body: &'a mut Map<String, Value>, path: &str) -> Option<&'a mut Value> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = body.get_mut(first)?;
    match rest {
        Some(rest) => at(value.as_object_mut()?, rest),
        None => Some(value),
    }
}

/// Serializes a value in the answer's format.
pub(super) fn written(value: &Value, compact: bool) -> String {
    if compact { reading::answer(value) } else { value.to_string() }
}

/// Cuts and shortens the answer to at most `max_tokens`, and returns its text. `meta` counts as it is.
pub(super) fn fit(draft: &mut Draft, max_tokens: usize) -> Result<String, Error> {
    let whole = written(&draft.value(), draft.compact);
    if size_of(&whole, max_tokens) <= max_tokens {
        return Ok(whole);
    }
    // The notes about a cut take tokens too, and `_meta` repeats them.
    draft.meta.entry("truncated").or_insert(true.into());
    let guess = draft.items.as_deref().map_or(0, |items| affordable(items, max_tokens));
    let n = draft.given;
    let kept = largest(n, guess, |kept| size(&draft.value_of(kept), draft.compact, max_tokens) <= max_tokens);
    draft.kept = kept.max(1).min(n);
    if kept == 0 {
        shorten(draft, max_tokens)?;
    }
    Ok(written(&draft.value(), draft.compact))
}

/// Number of tokens of a serialized value.
fn size(value: &Value, compact: bool, max_tokens: usize) -> usize {
    size_of(&written(value, compact), max_tokens)
}

/// Number of tokens of a text. A token has at least one byte, so the byte length suffices when it fits.
fn size_of(text: &str, max_tokens: usize) -> usize {
    if text.len() <= max_tokens { text.len() } else { tokens::estimate(text) }
}

/// Number of items that fit the budget alone.
fn affordable(items: &[Value], max_tokens: usize) -> usize {
    let mut spent = 0;
    let paid = items.iter().take_while(|item| {
        spent += tokens::estimate(&item.to_string());
        spent <= max_tokens
    });
    paid.count()
}

/// Largest number below `n` for which `fits` holds, or zero. The search starts at `guess`, so that its cost stays
/// proportional to the answer, however long the list is.
fn largest(n: usize, guess: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut good, mut bad) = (0, n);
    let mut probe = guess.min(n.saturating_sub(1)).max(1);
    let mut step = 1;
    while good + 1 < bad {
        let middle;
        if fits(probe) {
            good = probe;
            middle = good + (bad - good) / 2;
            probe = middle.min(good.saturating_add(step));
        } else {
            bad = probe;
            middle = good + (bad - good) / 2;
            probe = middle.max(bad.saturating_sub(step));
        }
        step = step.saturating_mul(2);
    }
    good
}

/// Minimum length of shortened strings in characters: less would be useless.
const SHORTEST: usize = 40;

/// Keys of strings that are never shortened: a partial name is useless, and signatures and summaries are short.
const NAMES: [&str; 11] =
    ["id", "file", "path", "repo", "code", "symbol_id", "name", "kind", "signature", "summary", "_meta"];

/// Shortens the longest strings and cuts inner lists, the heaviest first, until the answer fits.
fn shorten(draft: &mut Draft, max_tokens: usize) -> Result<(), Error> {
    draft.settle();
    let mut body = Value::Object(std::mem::take(&mut draft.body));
    let result = loop {
        let needed = measure(draft, &body, max_tokens);
        if needed <= max_tokens {
            break Ok(());
        }
        let Some(path) = heaviest(&body) else {
            break Err(too_small(needed, draft.narrow.as_deref()));
        };
        match part(&mut body, &path) {
            Value::Array(items) => {
                let items = std::mem::take(items);
                let kept = largest(items.len(), max_tokens, |kept| {
                    let mut trial = body.clone();
                    *part(&mut trial, &path) = Value::Array(items[..kept].to_vec());
                    measure(draft, &trial, max_tokens) <= max_tokens
                });
                let kept = kept.max(1);
                let key = path.iter().rev().find_map(|step| if let Step::Key(key) = step { Some(key) } else { None });
                draft.lost(key.map_or("", String::as_str), items.len() - kept);
                *part(&mut body, &path) = Value::Array(items[..kept].to_vec());
            }
            Value::String(text) => {
                // More than eight characters per token rarely fit.
                let most = text.chars().count().min(max_tokens.saturating_mul(8));
                let length = largest(most, most / 2, |length| {
                    let mut trial = body.clone();
                    clip(&mut trial, "", length.max(SHORTEST), &mut |_| ());
                    measure(draft, &trial, max_tokens) <= max_tokens
                });
                clip(&mut body, "", length.max(SHORTEST), &mut |key| draft.lost(key, 0));
            }
            _ => unreachable!("heaviest finds lists and strings"),
        }
    };
    if let Value::Object(body) = body {
        draft.body = body;
    }
    result
}

fn measure(draft: &Draft, body: &Value, max_tokens: usize) -> usize {
    let body = body.as_object().cloned().unwrap_or_default();
    size(&draft.finished(body, draft.kept), draft.compact, max_tokens)
}

fn too_small(needed: usize, narrow: Option<&str>) -> Error {
    let mut message = format!("the answer does not fit; retry with max_tokens {needed} or more");
    if let Some(narrow) = narrow {
        message = format!("{message}; to narrow it: {narrow}");
    }
    Error::invalid_arguments(message).with("max_tokens", needed)
}

/// A step from a value to one inside it.
#[derive(Clone)]
enum Step {
    Key(String),
    Place(usize),
}

fn part<'a>(value: &'a mut Value, path: &[Step]) -> &'a mut Value {
    path.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::Place(place) => &mut value[*place],
    })
}

/// Path of the list or string that takes the most space; none when nothing can be shortened any more.
fn heaviest(value: &Value) -> Option<Vec<Step>> {
    let mut value = value;
    let mut path = Vec::new();
    loop {
        let all = weight(value);
        if all == 0 {
            return None;
        }
        let (step, next, weight) = match value {
            Value::Object(fields) => fields
                .iter()
                .filter(|(key, _)| !NAMES.contains(&key.as_str()))
                .map(|(key, value)| (Step::Key(key.clone()), value, weight(value)))
                .max_by_key(|(_, _, weight)| *weight)?,
            Value::Array(items) => {
                let each = items.iter().enumerate();
                each.map(|(place, value)| (Step::Place(place), value, weight(value))).max_by_key(|(_, _, w)| *w)?
            }
            _ => return Some(path),
        };
        // A list of similar items is cut; a single giant item is shortened instead.
        if value.as_array().is_some_and(|items| items.len() > 1) && weight * 2 <= all {
            return Some(path);
        }
        path.push(step);
        value = next;
    }
}

/// Approximate number of bytes that can be removed from a value.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) if text.chars().nth(SHORTEST + 1).is_some() => text.len(),
        Value::Array(items) if items.len() > 1 => items.iter().map(|item| bytes(item) + 1).sum(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => {
            fields.iter().filter(|(key, _)| !NAMES.contains(&key.as_str())).map(|(_, value)| weight(value)).sum()
        }
        _ => 0,
    }
}

/// Approximate number of bytes of a serialized value.
fn bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| bytes(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + bytes(value) + 4).sum::<usize>() + 2,
        _ => 5,
    }
}

/// Shortens every string of more than `length` characters except names, and reports its key.
fn clip(value: &mut Value, key: &str, length: usize, tell: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut().filter(|(key, _)| !NAMES.contains(&key.as_str())) {
                clip(value, key, length, tell);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clip(item, key, length, tell)),
        Value::String(text) => {
            let has_lost = cut(text, length);
            if has_lost {
                tell(key);
            }
        }
        _ => {}
    }
}

/// Truncates a text to this many characters plus a mark, and returns whether it was longer. One extra character is
/// kept, because the mark would take its place.
fn cut(text: &mut String, length: usize) -> bool {
    let mut ends = text.char_indices().skip(length);
    let (Some((end, _)), Some(_)) = (ends.next(), ends.next()) else { return false };
    text.truncate(end);
    text.push('…');
    true
}
