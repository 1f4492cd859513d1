//! Length of a search's answer that follows its confidence: a name is answered with its symbol, words with hits as long
//! as their scores hold.

use super::indexes::Repo;
use super::related;
use crate::query::{Confidence, Hit};
use crate::store::SymbolView;

/// The least score of a hit that is shown, as a share of the best.
const LEAST: f32 = 0.5;
/// The hits for words that are shown whatever their scores, and the most of those with good scores.
const FEWEST: usize = 3;
const MOST: usize = 8;
/// The longest source that stands for its signature, in lines.
const SHORT: u32 = 12;

/// How many hits are worth their length.
pub(crate) fn worth(hits: &[Hit], confidence: Confidence, is_named: bool) -> usize {
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let good = hits.iter().take_while(|hit| hit.score >= LEAST * best).count();
    let fewest = if is_named && confidence == Confidence::High { 1 } else { FEWEST };
    good.clamp(fewest, MOST).min(hits.len())
}

/// The uses of the only hit for a name, if relations can be read.
pub(crate) fn uses(repo: &Repo, symbol: &SymbolView<'_>) -> Option<usize> {
    Some(related::edges_at_hand(repo)?.users(symbol.number()).count())
}

/// The source of a symbol that is short.
pub(crate) fn short_source(symbol: &SymbolView<'_>) -> Option<String> {
    let is_short = symbol.end_line() < symbol.first_line() + SHORT;
    is_short.then(|| String::from_utf8_lossy(symbol.indented_source()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SymbolId;

    #[test]
    fn hits_are_shown_until_their_scores_fall() {
        let hit = |score: f32| Hit {
            symbol: SymbolId { file: 0, index: 0 },
            score,
            relevance: score,
            centrality: 0.0,
            fuzzy: None,
            overloads: 1,
            parts: None,
        };
        let worth = |scores: &[f32], confidence, is_named| {
            let hits: Vec<Hit> = scores.iter().map(|score| hit(*score)).collect();
            super::worth(&hits, confidence, is_named)
        };
        assert_eq!(worth(&[2052.0, 2050.0, 378.0, 21.0], Confidence::High, true), 2);
        assert_eq!(worth(&[1058.0, 51.0, 51.0, 45.0], Confidence::High, true), 1);
        assert_eq!(
            worth(&[211.0, 178.0, 87.0, 62.0], Confidence::High, false),
            3,
            "a description is of one of the first"
        );
        assert_eq!(worth(&[60.0; 20], Confidence::Low, false), 8);
        assert_eq!(worth(&[60.0, 1.0], Confidence::Low, false), 2);
        assert_eq!(worth(&[], Confidence::None, false), 0);
    }
}
