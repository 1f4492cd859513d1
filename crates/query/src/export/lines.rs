//! JSON lines: one object per definition and per resolved use, file by file.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{ExportCounts, Lines, Source, files, uses};
use codelode_store::SymbolView;

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<ExportCounts> {
    let mut written = ExportCounts::default();
    for file in files(source) {
        let lines = Lines::of(&file);
        for symbol in file.symbols() {
            let (line, column) = lines.place(symbol.name_span().start);
            let span = symbol.span();
            let bases: Vec<String> = source.bases(&symbol).iter().map(SymbolView::id).collect();
            let mut object = json!({
                "type": "definition", "id": symbol.id(), "name": symbol.name(), "kind": symbol.kind().as_str(),
                "detail": symbol.detail().as_str(), "language": file.language(), "path": file.path(),
                "line": line + 1, "column": column + 1, "end_line": symbol.end_line(), "start": span.start,
                "end": span.end, "signature": symbol.signature(600),
            });
            let more = [
                ("parent", symbol.parent().map(|parent| json!(parent.id()))),
                ("bases", (!bases.is_empty()).then(|| json!(bases))),
            ];
            more.into_iter().for_each(|(key, value)| set(&mut object, key, value));
            writeln!(out, "{object}")?;
            written.definitions += 1;
        }
        for used in uses(source, &file) {
            let (line, column) = lines.place(used.at);
            let object = json!({
                "type": "reference", "to": used.target.id(), "role": used.role.as_str(), "path": file.path(),
                "line": line + 1, "column": column + 1, "length": used.len,
            });
            writeln!(out, "{object}")?;
            written.references += 1;
        }
        written.files += 1;
    }
    Ok(written)
}

fn set(object: &mut Value, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        object[key] = value;
    }
}
