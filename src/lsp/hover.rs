//! Hover: signature, documentation and place of the symbols that a name means.

use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::view::{Asked, Failure, View};
use crate::store::SymbolView;

/// The most symbols in one hover: a name may mean several.
const MOST: usize = 4;
/// The most lines of a signature as written; a longer one is on one line.
const LINES: usize = 12;
/// Characters of a signature on one line, and of documentation.
const SIGNATURE: usize = 400;
const DOC: usize = 4_000;

pub(super) fn hover(asked: &Asked<'_>, params: HoverParams) -> Result<Option<Hover>, Failure> {
    let found = asked.at(&params.text_document_position_params, |view, spot| {
        let Some(name) = spot.name else { return Ok(None) };
        let meant = view.meant(&name);
        if meant.is_empty() {
            return Ok(None);
        }
        let mut parts: Vec<String> = meant.iter().take(MOST).map(|symbol| about(view, symbol)).collect();
        if meant.len() > MOST {
            parts.push(format!("and {} more", meant.len() - MOST));
        }
        let (kind, rule) = match view.desk.options.markdown {
            true => (MarkupKind::Markdown, "\n\n---\n\n"),
            false => (MarkupKind::PlainText, "\n\n"),
        };
        let contents = HoverContents::Markup(MarkupContent { kind, value: parts.join(rule) });
        Ok(Some(Hover { contents, range: Some(view.range(spot.file, name.span)) }))
    })?;
    Ok(found.flatten())
}

fn about(view: &View<'_>, symbol: &SymbolView<'_>) -> String {
    let signature = signature(symbol);
    let mut doc = symbol.docstring();
    if let Some((end, _)) = doc.char_indices().nth(DOC) {
        doc.truncate(end);
        doc.push('…');
    }
    let (path, line) = (symbol.file.path(), symbol.line());
    let kind = symbol.detail().as_str();
    let owner = super::symbols::container(symbol).map(|owner| format!(" of {owner}")).unwrap_or_default();
    let mut parts = Vec::new();
    match view.desk.options.markdown {
        true => {
            // A fence is longer than any inside.
            let longest = signature.split(|char| char != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            parts.push(format!("{fence}{}\n{signature}\n{fence}", symbol.file.language()));
            parts.push(doc);
            parts.push(format!("{kind}{owner} · `{path}:{line}`"));
        }
        false => parts.extend([signature, doc, format!("{kind}{owner} · {path}:{line}")]),
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n\n")
}

/// The definition without its body: as written, or on one line if that is long.
fn signature(symbol: &SymbolView<'_>) -> String {
    let written = String::from_utf8_lossy(symbol.signature_source());
    let written = written.trim_end().trim_end_matches(['{', ';']).trim_end();
    let content = symbol.file.content();
    let start = (symbol.signature_start() as usize).min(content.len());
    let line = memchr::memrchr(b'\n', &content[..start]).map_or(0, |newline| newline + 1);
    let indent = content[line..start].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if written.is_empty() || written.lines().count() > LINES {
        return symbol.signature(SIGNATURE);
    }
    let outdented = written.lines().enumerate().map(|(number, line)| {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        if number == 0 { line } else { &line[blanks.min(indent)..] }
    });
    outdented.collect::<Vec<_>>().join("\n")
}
