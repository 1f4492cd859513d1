//! Prints the symbols of a file as a tree; in a pipe one per line, with the path.

use serde_json::Value;

use super::super::output::Output;
use super::{adds, failures, number_of, text_of};

pub(super) fn show(value: &Value, out: &mut Output) -> bool {
    if let Some(files) = ["results", "files"].iter().find_map(|key| value.get(key)?.as_array())
        && (!files.is_empty() || value.get("errors").is_some())
        && files.iter().all(|file| file.get("symbols").is_some_and(Value::is_array))
    {
        for (index, file) in files.iter().enumerate() {
            if index > 0 && !out.is_piped() {
                out.line("");
            }
            outline(file, out);
        }
        failures(value, out);
        return true;
    }
    let has_file = value.get("file").or_else(|| value.get("file_path")).is_some_and(Value::is_string);
    if !has_file || !value.get("symbols").is_some_and(Value::is_array) {
        return false;
    }
    outline(value, out);
    true
}

/// One file.
fn outline(file: &Value, out: &mut Output) {
    let path = text_of(file, "file").or_else(|| text_of(file, "file_path")).unwrap_or_default();
    let symbols = file.get("symbols").and_then(Value::as_array);
    if out.is_piped() {
        return symbols.into_iter().flatten().for_each(|one| line(one, path, out));
    }
    out.line(out.paint.path(path));
    let widest = symbols.into_iter().flatten().map(last_line).max().unwrap_or(0).to_string().len();
    for one in symbols.into_iter().flatten() {
        match one.as_str() {
            // The symbols of a map are lines already.
            Some(line) => out.line(out.cut_code(line, 0)),
            None => symbol(one, 0, widest, out),
        }
    }
}

/// Prints a symbol in a pipe, then its members.
fn line(value: &Value, path: &str, out: &mut Output) {
    let paint = out.paint;
    let place = |line: u64| format!("{}:{}", paint.path(path), paint.line(line));
    if let Some((line, text)) = value.as_str().and_then(|text| text.trim_start().split_once(": ")) {
        return out.flow(&[place(line.parse().unwrap_or(0)), text.to_owned()], 0);
    }
    let text = |key: &str| text_of(value, key).unwrap_or_default();
    let id = text("id").rsplit_once("::").and_then(|(_, name)| name.rsplit_once('#')).map(|(name, _)| name);
    let signature = text("signature").lines().next().unwrap_or_default();
    let attributes = value.get("attributes").and_then(Value::as_array).into_iter().flatten();
    let attributes: Vec<&str> = attributes.filter_map(Value::as_str).collect();
    let cells = [
        place(number_of(value, "line").unwrap_or(0)),
        paint.kind(text("kind")),
        paint.name(id.unwrap_or(text("name"))),
        signature.to_owned(),
        adds(text_of(value, "summary"), signature).unwrap_or_default().to_owned(),
        if attributes.is_empty() { String::new() } else { format!("with {}", attributes.join("; ")) },
    ];
    out.flow(&cells, 0);
    value.get("children").and_then(Value::as_array).into_iter().flatten().for_each(|child| line(child, path, out));
}

/// The highest line number of a symbol and its members.
fn last_line(symbol: &Value) -> u64 {
    let children = symbol.get("children").and_then(Value::as_array).into_iter().flatten();
    children.map(last_line).max().unwrap_or(0).max(number_of(symbol, "line").unwrap_or(0))
}

/// Prints a symbol and its members.
fn symbol(value: &Value, depth: usize, widest: usize, out: &mut Output) {
    let paint = out.paint;
    let line = number_of(value, "line").unwrap_or(0);
    let space = " ".repeat(widest.saturating_sub(line.to_string().len()));
    let signature = text_of(value, "signature").and_then(|text| text.lines().next());
    let signature = signature.or_else(|| text_of(value, "name")).unwrap_or_default();
    let kind = text_of(value, "kind").unwrap_or_default();
    let indent = widest + 2 + 2 * depth;
    // A signature that begins with a keyword already shows the kind.
    let name = text_of(value, "name").unwrap_or_default();
    let kind = if name.is_empty() || signature.starts_with(name) { kind } else { "" };
    let taken = indent + if kind.is_empty() { 0 } else { kind.len() + 2 };
    let shown = out.cut_code(signature, taken);
    let head = format!("{space}{}  {}", paint.line(line), "  ".repeat(depth));
    let head = if kind.is_empty() { head } else { format!("{head}{}  ", paint.kind(kind)) };
    let summary = adds(text_of(value, "summary"), signature).unwrap_or_default();
    let is_beside = !summary.is_empty()
        && shown == signature
        && out.fits(taken + shown.chars().count() + 2 + summary.chars().count());
    let hanging = " ".repeat(indent + 2);
    if is_beside || summary.is_empty() {
        let summary = if summary.is_empty() { String::new() } else { format!("  {}", paint.dim(summary)) };
        out.line(format!("{head}{shown}{summary}"));
    } else {
        out.line(format!("{head}{shown}"));
        out.line(paint.dim(&format!("{hanging}{}", out.cut(summary, hanging.len()))));
    }
    let attributes = value.get("attributes").and_then(Value::as_array).into_iter().flatten();
    let attributes: Vec<&str> = attributes.filter_map(Value::as_str).collect();
    if !attributes.is_empty() {
        out.wrapped(&paint.dim(&format!("{hanging}{}", attributes.join("; "))), hanging.len());
    }
    for child in value.get("children").and_then(Value::as_array).into_iter().flatten() {
        symbol(child, depth + 1, widest, out);
    }
}
