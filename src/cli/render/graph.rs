//! Prints files and their imports as lines.

use serde_json::Value;

use super::super::output::Output;
use super::text_of;

/// Prints a graph. At a terminal: the imports and importers of the file, then the rest by file. In a pipe: one line per
/// import.
pub(super) fn show(answer: &Value, out: &mut Output) -> bool {
    let Some(file) = text_of(answer, "file") else { return false };
    let has = |key: &str| answer.get(key).is_some_and(Value::is_array);
    if !has("external") && !has("edges") && !has("imports") && !has("importers") {
        return false;
    }
    let texts = |key: &str| -> Vec<&str> {
        answer.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let (imports, importers, outside) = (texts("imports"), texts("importers"), texts("external"));
    let mut edges = edges(answer);
    if edges.is_empty() {
        edges.extend(imports.iter().map(|other| (file, *other)));
        edges.extend(importers.iter().map(|other| (*other, file)));
    }
    if let Some(left) = super::number_of(answer, "left_out") {
        out.asides.push(format!("{} further away are left out", super::n_of(left, "file", "files")));
    }
    let paint = out.paint;
    if out.is_piped() {
        edges.iter().for_each(|(from, to)| out.line(format!("{} -> {}", paint.path(from), paint.path(to))));
        outside.iter().for_each(|package| out.line(format!("{} -> {package} (outside)", paint.path(file))));
        return true;
    }
    out.line(paint.path(file));
    for (heading, files) in [("imports", &imports), ("imported by", &importers)] {
        if !files.is_empty() {
            out.line(format!("  {} ({})", paint.name(heading), files.len()));
            files.iter().for_each(|other| out.line(format!("    {}", paint.path(other))));
        }
    }
    if !outside.is_empty() {
        out.wrapped(&format!("  {} {}", paint.name("imports from outside:"), outside.join(", ")), 4);
    }
    edges.retain(|(from, to)| *from != file && *to != file);
    if let Some(mut last) = (!edges.is_empty()).then_some("") {
        out.line(format!("  {} ({})", paint.name("further imports"), edges.len()));
        for (from, to) in edges {
            if from != last {
                out.line(format!("    {}", paint.path(from)));
            }
            out.line(format!("      {}", paint.path(to)));
            last = from;
        }
    }
    true
}

/// Pairs of importing and imported file.
fn edges(answer: &Value) -> Vec<(&str, &str)> {
    let node = |place: &Value| answer.get("nodes")?.get(usize::try_from(place.as_u64()?).ok()?)?.as_str();
    let edges = answer.get("edges").and_then(Value::as_array).into_iter().flatten();
    edges.filter_map(|edge| Some((node(edge.get(0)?)?, node(edge.get(1)?)?))).collect()
}
