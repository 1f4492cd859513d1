//! Semantic tokens: what each resolved name of a document is, from the index.

use lsp_types::{
    SemanticToken, SemanticTokenType, SemanticTokens, SemanticTokensParams, SemanticTokensResult, SymbolKind,
};

use super::navigation::span;
use super::symbols::kind;
use super::view::{Failure, RequestView};
use codelode_base::model::Span;

/// Kinds of tokens, by their numbers.
pub(super) const TYPES: [SemanticTokenType; 9] = [
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::CLASS,
    SemanticTokenType::INTERFACE,
    SemanticTokenType::ENUM,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::METHOD,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::ENUM_MEMBER,
];

/// Bit of a name that is defined there.
const DECLARATION: u32 = 1;

/// The names of a document that are defined in it or bound to a symbol; colours of all others are left to the editor.
pub(super) fn tokens(
    asked: &RequestView<'_>,
    params: SemanticTokensParams,
) -> Result<Option<SemanticTokensResult>, Failure> {
    asked.about(&params.text_document.uri, |view, file| {
        let own = file.symbols().map(|symbol| (symbol.name_span(), number(kind(&symbol)), DECLARATION));
        let used = view.edges.in_file(file.number()).iter().filter_map(|edge| {
            let symbol = view.snapshot.symbol(view.edges.targets(edge).next()?)?;
            Some((span(edge), number(kind(&symbol)), 0))
        });
        let mut all: Vec<(Span, Option<u32>, u32)> = own.chain(used).filter(|(span, ..)| !span.is_empty()).collect();
        all.sort_by_key(|(span, ..)| *span);
        let lines = view.lines(file);
        let (mut data, mut line, mut character, mut end) = (Vec::with_capacity(all.len()), 0, 0, 0);
        for (span, token_type, token_modifiers_bitset) in all {
            let range = lines.range(span);
            let Some(token_type) = token_type.filter(|_| span.start >= end && range.start.line == range.end.line)
            else {
                continue;
            };
            let at = range.start;
            let delta_line = at.line - line;
            let delta_start = if delta_line == 0 { at.character - character } else { at.character };
            let length = range.end.character - at.character;
            data.push(SemanticToken { delta_line, delta_start, length, token_type, token_modifiers_bitset });
            (line, character, end) = (at.line, at.character, span.end);
        }
        Ok(SemanticTokensResult::Tokens(SemanticTokens { result_id: None, data }))
    })
}

/// Number of the kind of token for a kind of symbol.
fn number(kind: SymbolKind) -> Option<u32> {
    let token = match kind {
        SymbolKind::MODULE | SymbolKind::NAMESPACE => SemanticTokenType::NAMESPACE,
        SymbolKind::CLASS | SymbolKind::STRUCT => SemanticTokenType::CLASS,
        SymbolKind::INTERFACE => SemanticTokenType::INTERFACE,
        SymbolKind::ENUM => SemanticTokenType::ENUM,
        SymbolKind::FUNCTION => SemanticTokenType::FUNCTION,
        SymbolKind::METHOD | SymbolKind::CONSTRUCTOR => SemanticTokenType::METHOD,
        SymbolKind::PROPERTY | SymbolKind::FIELD | SymbolKind::EVENT => SemanticTokenType::PROPERTY,
        SymbolKind::ENUM_MEMBER => SemanticTokenType::ENUM_MEMBER,
        SymbolKind::STRING => return None,
        _ => SemanticTokenType::VARIABLE,
    };
    TYPES.iter().position(|known| *known == token).map(|place| place as u32)
}
