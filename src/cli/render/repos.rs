//! Prints repositories as a table.

use std::path::Path;

use serde_json::Value;

use super::super::output::{Output, SHORTEST};
use super::facts::minute;
use super::{number_of, text_of};

pub(super) fn show(value: &Value, out: &mut Output) -> bool {
    let Some(repos) = value.get("repos").and_then(Value::as_array) else { return false };
    if !repos.iter().all(Value::is_object) {
        return false;
    }
    let rows: Vec<[String; 5]> = repos
        .iter()
        .map(|repo| {
            let text = |key: &str| text_of(repo, key).unwrap_or_default().to_owned();
            let number = |key: &str| number_of(repo, key).map(|n| n.to_string()).unwrap_or_default();
            let place = ["source_root", "url"].iter().find_map(|key| text_of(repo, key)).unwrap_or_default();
            let is_missing = place.starts_with('/') && !Path::new(place).is_dir();
            let from = if is_missing { format!("missing: {place}") } else { place.to_owned() };
            let name = text_of(repo, "repo").or_else(|| text_of(repo, "id")).unwrap_or_default().to_owned();
            [name, number("file_count"), number("symbol_count"), minute(&text("indexed_at")), from]
        })
        .collect();
    let titles = ["repo", "files", "symbols", "indexed", "from"].map(str::to_owned);
    let width = |column: usize| rows.iter().chain([&titles]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let paint = out.paint;
    let [w_repo, w_files, w_symbols, mut w_indexed, w_from] = widths;
    if !out.fits(w_repo + w_files + w_symbols + w_indexed + 8 + w_from) {
        w_indexed = w_indexed.min(DATE);
    }
    let taken = w_repo + w_files + w_symbols + w_indexed + 8;
    let is_beside = out.columns().saturating_sub(taken) >= SHORTEST.min(w_from);
    let line = |row: &[String; 5], from: &str| {
        let [repo, files, symbols, indexed, _] = row;
        format!("{repo:w_repo$}  {files:>w_files$}  {symbols:>w_symbols$}  {indexed:w_indexed$.w_indexed$}  {from}")
    };
    // If the columns do not fit, each repository gets lines of its own.
    if !out.fits(taken.saturating_sub(2)) {
        for [repo, files, symbols, indexed, from] in &rows {
            out.line(repo);
            let facts = format!("    files {files}, symbols {symbols}, {indexed:.DATE$}");
            out.wrapped(&paint.dim(&facts), 4);
            out.line(paint.dim(&format!("    {}", out.cut_path(from, 4))));
        }
        return true;
    }
    if !rows.is_empty() {
        out.line(paint.dim(line(&titles, if is_beside { &titles[4] } else { "" }).trim_end()));
    }
    for row in &rows {
        if is_beside {
            out.line(line(row, &out.cut_path(&row[4], taken)));
        } else {
            out.line(line(row, ""));
            out.line(paint.dim(&format!("    {}", out.cut_path(&row[4], 4))));
        }
    }
    true
}

/// The length of a date without its time.
const DATE: usize = "2026-11-01".len();
