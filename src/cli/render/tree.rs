//! Prints the files of a repository, each below its folder.

use serde_json::Value;

use super::super::output::Output;
use super::{n_of, number_of, text_of};

pub(super) fn show(value: &Value, out: &mut Output) -> bool {
    let Some(tree) = value.get("tree") else { return false };
    let entries = tree.as_array().or_else(|| tree.get("children").and_then(Value::as_array));
    for entry in entries.into_iter().flatten() {
        show_entry(entry, "", 0, out);
    }
    entries.is_some()
}

/// Prints a file, or a folder with its entries. In a pipe each line has the whole path.
fn show_entry(entry: &Value, above: &str, depth: usize, out: &mut Output) {
    let paint = out.paint;
    let path = text_of(entry, "path").or_else(|| text_of(entry, "name")).unwrap_or_default();
    let children = entry.get("children").and_then(Value::as_array);
    let is_folder =
        children.is_some() || matches!(text_of(entry, "type"), Some("dir" | "directory" | "folder" | "tree"));
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let trimmed = path.trim_end_matches('/');
    let whole = if trimmed.starts_with(above) { trimmed.to_owned() } else { format!("{above}{trimmed}") };
    let (indent, named) = match out.is_piped() {
        true => (String::new(), whole.clone()),
        false => ("  ".repeat(depth), name.to_owned()),
    };
    let is_listed = children.is_some_and(|children| !children.is_empty());
    if is_folder && out.is_piped() && is_listed {
        // Each of its files names the folder.
    } else if is_folder {
        let n_files = number_of(entry, "file_count").or_else(|| number_of(entry, "files"));
        let n_files = n_files.map(|n_files| format!("  {}", n_of(n_files, "file", "files"))).unwrap_or_default();
        out.line(format!("{indent}{}{}", paint.path(&format!("{named}/")), paint.dim(&n_files)));
    } else {
        let language = text_of(entry, "language").unwrap_or_default();
        let symbols = number_of(entry, "symbol_count").filter(|n| *n > 0).map(|n| n_of(n, "symbol", "symbols"));
        let lines = number_of(entry, "line_count").map(|n| n_of(n, "line", "lines"));
        let facts: Vec<String> =
            [Some(language.to_owned()), lines, symbols].into_iter().flatten().filter(|fact| !fact.is_empty()).collect();
        out.line(format!("{indent}{named}  {}", paint.dim(&facts.join(", "))));
    }
    for child in children.into_iter().flatten() {
        show_entry(child, &format!("{whole}/"), depth + 1, out);
    }
}
