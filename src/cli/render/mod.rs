//! Prints answers for people. The shape of an answer selects the renderer, so a new tool needs no code here. Answers
//! without a special shape are printed by [`facts`].

mod commits;
mod content;
mod facts;
mod graph;
mod index;
mod outline;
mod phrases;
mod repos;
mod rows;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use serde_json::Value;

use super::output::{Output, Paint};
use super::words::Words;
use codelode_service::catalog::indexes::shell_word;

/// A renderer. Returns false if the answer does not have its shape.
type Renderer = fn(&Value, &mut Output) -> bool;

/// The first renderer that accepts an answer prints it.
const RENDERERS: &[Renderer] = &[
    several,
    index::left_out,
    commits::show,
    content::symbols,
    content::file,
    tree::show,
    text::show,
    outline::show,
    repos::show,
    index::show,
    graph::show,
    facts::show,
];

/// Shows an answer.
pub(super) fn answer(value: &Value, out: &mut Output) {
    if let Some(count) = value.get("count").and_then(Value::as_u64).filter(|_| is_only(value, "count")) {
        out.line(count.to_string());
        return;
    }
    if !RENDERERS.iter().any(|render| render(value, out)) {
        out.line(value.to_string());
    }
}

/// Shows the answers of several repositories, each below the name of its own.
fn several(value: &Value, out: &mut Output) -> bool {
    let answers = value.get("answers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_named = answers.iter().all(|one| one.get("repo").is_some_and(Value::is_string));
    for one in answers.iter().filter(|_| is_named) {
        let mut own = one.clone();
        let repo = own.as_object_mut().and_then(|fields| fields.shift_remove("repo"));
        out.line(out.paint.path(repo.as_ref().and_then(Value::as_str).unwrap_or_default()));
        answer(&own, out);
        out.asides.extend(trust(&own, out.words));
    }
    is_named && !answers.is_empty()
}

/// Whether an answer has no other content than this key.
fn is_only(value: &Value, key: &str) -> bool {
    value.as_object().is_some_and(|answer| answer.keys().all(|other| other == key || other == "_meta"))
}

/// The note that a repository's folder is not on this machine.
pub(super) const MISSING: &str = "its folder is not here: this is how it was when it was indexed";

/// The note that a command has answered before its folder was indexed.
pub(super) const BEING_MADE: &str = "the index is being made in the background";

/// Notes on an answer for a person: whether it can be trusted, and how to ask for less.
pub(super) fn notes(value: &Value, words: Words) -> Vec<String> {
    let mut notes: Vec<String> = value.pointer("/_meta/first_indexed").map(first_indexed).into_iter().collect();
    notes.extend(trust(value, words));
    if let Some(narrow) = text_of(value, "narrow").filter(|narrow| !narrow.starts_with("the rest comes with")) {
        notes.push(words.say(&format!("to see less: {narrow}")));
    }
    notes
}

/// Notes on whether an answer can be trusted: that it was cut, that it is old, and parts left out.
pub(super) fn trust(value: &Value, words: Words) -> Vec<String> {
    let mut notes = Vec::new();
    if value.pointer("/_meta/only_indexed").is_some() {
        let repo = value.pointer("/_meta/repo").and_then(Value::as_str).unwrap_or_default();
        notes.push(format!("of {repo}, the only repository that is indexed"));
    }
    if let Some(left) = number_of(value, "left") {
        let total = number_of(value, "total").map(|total| format!(" of {total}")).unwrap_or_default();
        let next =
            text_of(value, "next_cursor").map(|cursor| format!("; the next: --cursor {cursor}")).unwrap_or_default();
        notes.push(format!("{left} more{total}{next}"));
    }
    if let Some(parts) = value.get("shortened").and_then(Value::as_array) {
        let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
        notes.push(format!("shortened to fit --max-tokens: {}", parts.join(", ")));
    }
    // A count without hits also gets the note.
    if [value.get("timed_out"), value.pointer("/_meta/timed_out")].contains(&Some(&Value::Bool(true))) {
        notes.push("the time was up before every file was looked into: there may be more".to_owned());
    }
    for (note, without) in [("no_symbols_for", "symbols"), ("no_relations_for", "relations")] {
        if let Some(languages) = value.pointer(&format!("/_meta/{note}")).and_then(Value::as_object) {
            let each: Vec<String> = languages.iter().map(of_language).collect();
            notes.push(format!("no {without} for {}: codelode text finds text there", each.join(", ")));
        }
    }
    for (reason, n) in value.pointer("/_meta/not_here").and_then(Value::as_object).into_iter().flatten() {
        notes.push(format!("not here: {n} {}", reasons(reason, n.as_u64().unwrap_or_default())));
    }
    for (reason, n) in value.pointer("/_meta/not_read").and_then(Value::as_object).into_iter().flatten() {
        notes.push(format!("not read: {n} {}", reasons(reason, n.as_u64().unwrap_or_default())));
    }
    notes.extend(value.pointer("/_meta/not_read_whole").map(not_read_whole));
    for note in ["/_meta/inherited", "/_meta/unnamed_uses", "/_meta/relations_missing", "/_meta/compiler_stale"] {
        notes.extend(value.pointer(note).and_then(Value::as_str).map(str::to_owned));
    }
    if let Some(absence) = value.get("negative_evidence") {
        let scanned = number_of(absence, "scanned_symbols").zip(number_of(absence, "scanned_files"));
        if let Some((symbols, files)) = scanned {
            let (symbols, files) = (n_of(symbols, "symbol", "symbols"), n_of(files, "file", "files"));
            notes.push(format!("looked at {symbols} in {files}"));
        }
        if let Some(unread) = absence.get("no_symbols_for").and_then(Value::as_object).filter(|all| !all.is_empty()) {
            let each: Vec<String> = unread.iter().map(of_language).collect();
            notes.push(format!("no symbols for {}: codelode text finds text there", each.join(", ")));
        }
        for (reason, n) in absence.get("left_out").and_then(Value::as_object).into_iter().flatten() {
            notes.push(format!("not indexed: {n} {}", reasons(reason, n.as_u64().unwrap_or_default())));
        }
    }
    let nearest =
        value.get("nearest").or_else(|| value.pointer("/negative_evidence/nearest")).and_then(Value::as_array);
    let nearest: Vec<String> = nearest.into_iter().flatten().filter_map(named).collect();
    if !nearest.is_empty() {
        notes.push(format!("did you mean: {}", nearest.join(", ")));
    }
    let unknown = value.get("unknown_words").and_then(Value::as_array);
    let unknown: Vec<&str> = unknown.into_iter().flatten().filter_map(Value::as_str).collect();
    if !unknown.is_empty() {
        notes.push(format!("in no symbol: {}", unknown.join(", ")));
    }
    let is_empty = value.pointer("/negative_evidence/verdict").and_then(Value::as_str);
    let is_empty = is_empty.is_some_and(|verdict| verdict.starts_with("no_files"));
    if is_empty {
        notes.push("no files are indexed here".to_owned());
    }
    if let Some(ask) = value.pointer("/negative_evidence/ask").and_then(Value::as_str).filter(|_| !is_empty) {
        notes.push(words.say(&format!("try it {ask}")));
    }
    if let Some(warning) = value.pointer("/_meta/embedding_warning").and_then(Value::as_str) {
        notes.push(words.say(warning));
    }
    if let Some(missing) = value.pointer("/_meta/embeddings_missing").and_then(Value::as_u64) {
        notes.push(format!("{} not embedded yet", n_of(missing, "text is", "texts are")));
    }
    if let Some(hint) = value.pointer("/_meta/hint").and_then(Value::as_str) {
        notes.push(words.say(hint));
    }
    match value.pointer("/_meta/freshness").and_then(Value::as_str) {
        Some("unchecked") if value.pointer("/_meta/folder_missing").is_some() => {
            notes.push(MISSING.to_owned());
        }
        Some("unchecked") => notes.push("whether files have changed since was not looked at in time".to_owned()),
        Some("stale") => notes.push("some files have changed since they were indexed".to_owned()),
        Some("indexing") if value.pointer("/_meta/read_so_far").is_some() => {
            let number = |key| value.pointer(&format!("/_meta/read_so_far/{key}")).and_then(Value::as_u64);
            let (read, all) = (number("files").unwrap_or_default(), number("of").unwrap_or_default());
            notes.push(format!("from {read} of {} so far; {BEING_MADE}", n_of(all, "file", "files")));
        }
        Some("indexing") => notes.push("the index is being brought up to date".to_owned()),
        _ => {}
    }
    notes
}

/// The note that the first query indexed a folder.
pub(super) fn first_indexed(facts: &Value) -> String {
    let number = |key| number_of(facts, key).unwrap_or_default();
    let (files, symbols) = (n_of(number("files"), "file", "files"), n_of(number("symbols"), "symbol", "symbols"));
    format!("indexed for the first time: {files}, {symbols}, {} s", facts["seconds"])
}

/// The width that every terminal has.
const NARROW: usize = 80;

/// The text of an error: its message, then suggestions from its details.
pub(super) fn error(value: &Value, paint: Paint, words: Words) -> String {
    let mut message = words.say(text_of(value, "error").unwrap_or("no reason given"));
    let detail = |key: &str| value.pointer(&format!("/details/{key}")).and_then(Value::as_str);
    if let Some((root, why)) = detail("root").zip(detail("why")) {
        message = format!("{root} is not indexed, {why}; to index it: codelode index {}", shell_word(root));
    }
    let mut text = format!("{} {message}\n", paint.bad("error:"));
    let Some(details) = value.get("details").and_then(Value::as_object) else { return text };
    for (key, detail) in details {
        let Value::Array(items) = detail else { continue };
        let names: Vec<String> = items.iter().filter_map(named).filter(|name| !quotes(&message, name)).collect();
        if !names.is_empty() {
            let what = match key.as_str() {
                "nearest" | "did_you_mean" | "suggestions" if message.contains("did you mean") => "or".to_owned(),
                "nearest" | "did_you_mean" | "suggestions" => "did you mean".to_owned(),
                other => other.replace('_', " "),
            };
            let line = format!("  {what}: {}", names.join(", "));
            // Ids are for copying, so none of them is broken at the end of a line.
            let is_long = names.len() > 1 && line.chars().count() > NARROW;
            let lines = if is_long { format!("  {what}:\n    {}", names.join("\n    ")) } else { line };
            text.push_str(&format!("{}\n", paint.dim(&lines)));
        }
    }
    text
}

/// Prints failed parts of an answer: at a terminal below the successful ones, in a pipe on standard error.
fn failures(value: &Value, out: &mut Output) {
    for failure in value.get("errors").and_then(Value::as_array).into_iter().flatten() {
        let message = text_of(failure, "error").map_or_else(|| failure.to_string(), |message| out.words.say(message));
        let subject = named(failure).filter(|subject| !quotes(&message, subject));
        let subject = subject.map(|subject| format!("{subject}: ")).unwrap_or_default();
        out.failure(&format!("{subject}{message}"));
        let nearest: Vec<String> =
            failure.get("nearest").and_then(Value::as_array).into_iter().flatten().filter_map(named).collect();
        if !nearest.is_empty() {
            let nearest = format!("  did you mean: {}", nearest.join(", "));
            if out.is_piped() { out.failure(&nearest) } else { out.line(out.paint.dim(&nearest)) }
        }
    }
}

/// Whether a message already contains this name.
fn quotes(message: &str, name: &str) -> bool {
    [format!("`{name}`"), format!("\"{name}\"")].iter().any(|quoted| message.contains(quoted))
}

/// The text of an item: itself, or its name.
fn named(item: &Value) -> Option<String> {
    let name =
        item.as_str().or_else(|| ["id", "repo", "name", "path", "file"].iter().find_map(|key| text_of(item, key)));
    name.map(str::to_owned)
}

/// The text under a key.
fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// The number under a key.
fn number_of(value: &Value, key: &str) -> Option<u64> {
    value.get(key).and_then(Value::as_u64)
}

/// A text, unless it is empty or part of `shown`.
fn adds<'a>(text: Option<&'a str>, shown: &str) -> Option<&'a str> {
    text.filter(|text| !text.is_empty() && !shown.contains(text))
}

/// A language with its number of files.
fn of_language((language, n): (&String, &Value)) -> String {
    format!("{language} ({})", n_of(n.as_u64().unwrap_or_default(), "file", "files"))
}

/// The note that some files with the name were only read in part.
fn not_read_whole(note: &Value) -> String {
    let files = note.get("files").and_then(Value::as_array).into_iter().flatten();
    let files: Vec<&str> = files.filter_map(Value::as_str).collect();
    let more = number_of(note, "more").map(|more| format!(" and {more} more")).unwrap_or_default();
    format!("read in part, so that uses there are not known: {}{more}", files.join(", "))
}

/// A reason for leaving out `n` files, in the plural if it is a noun.
fn reasons(reason: &str, n: u64) -> String {
    let is_noun = ["secret", "submodule", "symlink", "lfs_pointer"].contains(&reason);
    format!("{}{}", reason.replace('_', " "), if is_noun && n != 1 { "s" } else { "" })
}

/// A number with its noun, in singular or plural.
pub(super) fn n_of(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
