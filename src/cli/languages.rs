//! `languages`: lists the supported languages, their files, and the features available for each.

use std::io::{self, IsTerminal};

use clap::Args;
use serde_json::{Value, json};

use super::output::{self, Output, Paint};
use super::{FOUND, Global};
use codelode_lang::languages::{Listed, listed};

/// List the supported languages: their files, and whether references, calls and hierarchies are resolved. Files in
/// other languages are searched as text.
#[derive(Args)]
pub(super) struct List {}

/// Columns for the features.
const COLUMNS: [&str; 3] = ["symbols", "relations", "unused code"];

/// Prints the list.
pub(super) fn run(global: &Global) -> u8 {
    let all = listed();
    if global.json {
        let languages: Vec<Value> = all.iter().map(as_json).collect();
        output::print_bytes(format!("{}\n", json!({ "languages": languages })).as_bytes());
        return FOUND;
    }
    let mut out = Output::new(Paint::of(global.color, io::stdout().is_terminal()));
    let width = all.iter().map(|one| one.id.len()).max().unwrap_or_default();
    let titles = COLUMNS.join("  ");
    out.line(out.paint.dim(&format!("{:width$}  {titles}  files", "language")));
    for one in &all {
        let known = COLUMNS.iter().zip([one.symbols, one.relations, one.unused]);
        let known: Vec<String> =
            known.map(|(title, is_so)| format!("{:1$}", if is_so { "yes" } else { "-" }, title.len())).collect();
        let files = one.files().collect::<Vec<_>>().join(" ");
        out.line(format!("{}  {}  {files}", out.paint.name(&format!("{:width$}", one.id)), known.join("  ")));
    }
    out.line("relations: references, calls, hierarchies and imports; all other text files are searched as text");
    out.print();
    FOUND
}

fn as_json(one: &Listed) -> Value {
    let Listed { id, aliases, extensions, file_names, shared, symbols, relations, unused } = one;
    json!({
        "language": id, "aliases": aliases, "extensions": extensions, "file_names": file_names,
        "shared_extensions": shared, "symbols": symbols, "references": relations, "calls": relations,
        "hierarchy": relations, "unused_code": unused,
    })
}
