//! Hover: signature, documentation and place of the symbols that a name means.

use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::packages;
use super::view::{Failure, Page, RequestView};
use codelode_store::SymbolView;

/// The most symbols in one hover: a name may mean several.
const MOST: usize = 4;
/// The most lines of a signature as written; a longer one is on one line.
const LINES: usize = 12;
/// Characters of a signature on one line, and of documentation.
const SIGNATURE: usize = 400;
const DOC: usize = 4_000;

pub(super) fn hover(asked: &RequestView<'_>, params: HoverParams) -> Result<Option<Hover>, Failure> {
    let at = &params.text_document_position_params;
    let found = asked.at(at, |view, spot| {
        let Some(name) = spot.name else { return Ok(None) };
        let meant = view.meant(&name);
        if meant.is_empty() {
            return Ok(None);
        }
        let parts = meant.iter().map(|symbol| about(view, symbol)).collect();
        Ok(Some(Hover { contents: contents(view, parts), range: Some(view.range(spot.file, name.span)) }))
    })?;
    if let Some(found) = found.flatten() {
        return Ok(Some(found));
    }
    let found = packages::meant(asked, at, |page, symbols, _| {
        let package = page.repo.sidecar.package.as_ref().map(ToString::to_string).unwrap_or_default();
        let parts: Vec<String> = symbols.iter().map(|symbol| format!("{} · {package}", about(page, symbol))).collect();
        (!parts.is_empty()).then(|| Hover { contents: contents(page, parts), range: None })
    })?;
    Ok(found.into_iter().flatten().next())
}

/// The parts that tell of the first symbols.
fn contents(page: &Page<'_>, mut parts: Vec<String>) -> HoverContents {
    let more = parts.len().saturating_sub(MOST);
    parts.truncate(MOST);
    if more > 0 {
        parts.push(format!("and {more} more"));
    }
    let (kind, rule) = match page.workspace.options.markdown {
        true => (MarkupKind::Markdown, "\n\n---\n\n"),
        false => (MarkupKind::PlainText, "\n\n"),
    };
    HoverContents::Markup(MarkupContent { kind, value: parts.join(rule) })
}

fn about(view: &Page<'_>, symbol: &SymbolView<'_>) -> String {
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
    match view.workspace.options.markdown {
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
