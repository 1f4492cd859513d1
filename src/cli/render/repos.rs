//! The repositories, as a table.

use serde_json::Value;

use super::super::output::Output;
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
            let place =
                ["source_root", "root", "path", "url"].iter().find_map(|key| text_of(repo, key)).unwrap_or_default();
            let name = text_of(repo, "repo").or_else(|| text_of(repo, "id")).unwrap_or_default().to_owned();
            [name, number("file_count"), number("symbol_count"), time(&text("indexed_at")), place.to_owned()]
        })
        .collect();
    let titles = ["repo", "files", "symbols", "indexed", "from"].map(str::to_owned);
    let width = |column: usize| rows.iter().chain([&titles]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let paint = out.paint;
    let [w_repo, w_files, w_symbols, w_indexed, _] = widths;
    let taken = w_repo + w_files + w_symbols + w_indexed + 8;
    let cut: Vec<String> = rows.iter().map(|row| out.cut_path(&row[4], taken)).collect();
    let line = |row: &[String; 5], from: &str| {
        let [repo, files, symbols, indexed, _] = row;
        format!("{repo:w_repo$}  {files:>w_files$}  {symbols:>w_symbols$}  {indexed:w_indexed$}  {from}")
    };
    if !rows.is_empty() {
        out.line(paint.dim(line(&titles, &titles[4]).trim_end()));
    }
    for (row, from) in rows.iter().zip(&cut) {
        if out.fits(taken + from.chars().count()) {
            out.line(line(row, from));
        } else {
            out.line(line(row, ""));
            out.line(format!("    {}", out.cut_path(&row[4], 4)));
        }
    }
    true
}

/// A time to the minute.
fn time(written: &str) -> String {
    written.get(..16).map_or_else(|| written.to_owned(), |minute| minute.replace('T', " "))
}
