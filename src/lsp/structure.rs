//! Ranges by syntax: folding and growing selections. The text is parsed; no index is needed beside it.

use lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams, SelectionRange, SelectionRangeParams};

use super::view::{Failure, RequestView};
use crate::model::Span;
use crate::query::text::structure;

pub(super) fn folding(
    asked: &RequestView<'_>,
    params: FoldingRangeParams,
) -> Result<Option<Vec<FoldingRange>>, Failure> {
    asked.about_text(&params.text_document.uri, |_, file| {
        let Ok(text) = std::str::from_utf8(file.content()) else { return Ok(Vec::new()) };
        let folds = structure::folds(text, file.spec(), &|| asked.is_cancelled());
        let range = |fold: structure::Fold| FoldingRange {
            start_line: fold.first,
            end_line: fold.last,
            kind: fold.is_comment.then_some(FoldingRangeKind::Comment),
            ..FoldingRange::default()
        };
        Ok(folds.into_iter().map(range).collect())
    })
}

/// Constructs around each position. A position in a text that cannot be parsed has an empty one.
pub(super) fn selection(
    asked: &RequestView<'_>,
    params: SelectionRangeParams,
) -> Result<Option<Vec<SelectionRange>>, Failure> {
    asked.about_text(&params.text_document.uri, |view, file| {
        let text = std::str::from_utf8(file.content()).unwrap_or_default();
        let bytes: Vec<usize> = params.positions.iter().map(|position| view.lines(file).byte(*position)).collect();
        let around = structure::around(text, file.spec(), &bytes, &|| asked.is_cancelled());
        let of_one = |(mut spans, byte): (Vec<Span>, usize)| {
            if spans.is_empty() {
                spans.push(Span::new(byte, byte));
            }
            let grow = |inside: Option<Box<SelectionRange>>, span: &Span| {
                Some(Box::new(SelectionRange { range: view.range(file, *span), parent: inside }))
            };
            let whole = spans.iter().rev().fold(None, grow);
            *whole.expect("there is at least one span")
        };
        Ok(around.into_iter().zip(bytes).map(of_one).collect())
    })
}
