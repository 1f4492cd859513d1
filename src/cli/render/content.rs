//! Source of symbols and files. At a terminal a symbol has its place above its source; in a pipe each line has its
//! place in front. A file is printed unchanged.

use serde_json::Value;

use super::super::output::Output;
use codelode_service::catalog::indexes::shell_word;

use super::{failures, number_of, text_of};

/// One symbol or several.
pub(super) fn symbols(value: &Value, out: &mut Output) -> bool {
    if is_symbol(value) {
        symbol(value, out);
        return true;
    }
    let Some(symbols) = value.get("symbols").and_then(Value::as_array) else { return false };
    let errors = value.get("errors").and_then(Value::as_array);
    if !symbols.iter().all(is_symbol) || (symbols.is_empty() && errors.is_none()) {
        return false;
    }
    for (index, one) in symbols.iter().enumerate() {
        if index > 0 && !out.is_piped() {
            out.line("");
        }
        symbol(one, out);
    }
    failures(value, out);
    true
}

/// Whether the value is a symbol with its source, or with an outline if that is too long.
fn is_symbol(value: &Value) -> bool {
    value.get("id").is_some() && ["source", "outline", "parts"].iter().any(|key| value.get(*key).is_some())
}

/// Prints source lines like grep: path and number before each, then this sign.
pub(super) fn numbered<'t>(path: &str, first: u64, sign: char, lines: impl Iterator<Item = &'t str>, out: &mut Output) {
    let path = out.paint.path(path);
    for (number, line) in (first..).zip(lines) {
        out.raw(&format!("{path}{sign}{}{sign}{line}\n", out.paint.line(number)));
    }
}

/// Prints a symbol in a pipe.
fn lines(symbol: &Value, out: &mut Output) {
    let text = |key: &str| text_of(symbol, key).unwrap_or_default();
    let (path, source) = (text("file"), text("source"));
    let first = ["source_line", "line"].iter().find_map(|key| number_of(symbol, key)).unwrap_or(1);
    let before = text("before").lines().count() as u64;
    numbered(path, first.saturating_sub(before), '-', text("before").lines(), out);
    numbered(path, first, ':', source.lines(), out);
    // The text after the symbol begins with the rest of its last line.
    numbered(path, first + source.lines().count() as u64, '-', text("after").lines().skip(1), out);
    for part in symbol.get("parts").and_then(Value::as_array).into_iter().flatten() {
        let source = text_of(part, "source").unwrap_or_default();
        numbered(path, number_of(part, "line").unwrap_or(1), ':', source.lines(), out);
    }
    for member in symbol.get("outline").and_then(Value::as_array).into_iter().flatten() {
        let signature = text_of(member, "signature").unwrap_or_default();
        numbered(path, number_of(member, "line").unwrap_or(1), ':', std::iter::once(signature), out);
    }
}

fn symbol(symbol: &Value, out: &mut Output) {
    let paint = out.paint;
    let text = |key: &str| text_of(symbol, key).unwrap_or_default();
    let rest = out.words.say(text("rest")).replace(" FILE ", &format!(" {} ", shell_word(text("file"))));
    if out.is_piped() {
        out.asides.extend(Some(rest).filter(|rest| !rest.is_empty()));
        return lines(symbol, out);
    }
    let mut header = paint.path(text("file"));
    if let Some(line) = number_of(symbol, "source_line").or_else(|| number_of(symbol, "line")) {
        header = format!("{header}:{}", paint.line(line));
        if let Some(end) = number_of(symbol, "end_line") {
            header = format!("{header}-{}", paint.line(end));
        }
    }
    let of_id = text("id").rsplit_once("::").and_then(|(_, name)| name.rsplit_once('#')).map(|(name, _)| name);
    let name = text_of(symbol, "qualified_name").or(of_id).unwrap_or(text("name"));
    out.line(format!("{header}  {}  {}", paint.kind(text("kind")), paint.name(name)));
    for key in ["before", "source", "after"] {
        out.raw(text(key));
    }
    for part in symbol.get("parts").and_then(Value::as_array).into_iter().flatten() {
        numbered(
            "",
            number_of(part, "line").unwrap_or(1),
            ' ',
            text_of(part, "source").unwrap_or_default().lines(),
            out,
        );
    }
    for member in symbol.get("outline").and_then(Value::as_array).into_iter().flatten() {
        let line = number_of(member, "line").unwrap_or(0);
        out.line(format!("  {}  {}", paint.line(line), text_of(member, "signature").unwrap_or_default()));
    }
    if !rest.is_empty() {
        out.line(paint.dim(&rest));
    }
}

/// Prints only the text of a file or a part of it, so that it can be piped.
pub(super) fn file(value: &Value, out: &mut Output) -> bool {
    match value.get("content") {
        Some(Value::String(content)) => {
            out.raw(content);
            true
        }
        _ => false,
    }
}
