//! Length of a search's answer that follows its confidence: a name is answered with its symbol, words with hits as long
//! as their scores hold.

use super::indexes::Repo;
use super::related;
use codelode_query::{Confidence, FileHit, Hit};
use codelode_store::{SymbolId, SymbolView};

/// The least score of a hit that is shown, as a share of the best; of a description, whose hits are names alone.
const LEAST: f32 = 0.5;
const LEAST_DESCRIBED: f32 = 0.25;
/// The hits for words that are shown whatever their scores, and the most of those with good scores.
const FEWEST: usize = 3;
const MOST: usize = 6;
const MOST_DESCRIBED: usize = 10;
/// The most files of a repository whose names are resolved for a search.
const MOST_RESOLVED: usize = 4_000;
/// The hits by which files are judged.
pub const CONSIDERED: usize = 100;
/// The most files of an answer to a description, and the least score of one, as a share of the best.
const MOST_FILES: usize = 6;
const LEAST_OF_FILE: f32 = 0.35;
/// The most files of a description that are named beside those, by their paths alone.
const MOST_FURTHER: usize = 4;
/// The longest source that stands for its signature, in lines.
const SHORT: u32 = 12;

/// How many hits are worth their length.
fn worth(hits: &[Hit], confidence: Confidence, is_named: bool) -> usize {
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let (least, most) = if is_named { (LEAST, MOST) } else { (LEAST_DESCRIBED, MOST_DESCRIBED) };
    let good = hits.iter().take_while(|hit| hit.score >= least * best).count();
    let fewest = if is_named && confidence == Confidence::High { 1 } else { FEWEST };
    good.clamp(fewest, most).min(hits.len())
}

/// The hits for a reader, with the places of their repositories: for a name those of its score, for a description the
/// best symbols of the files that answer best, where these are known.
pub fn chosen(
    (mut places, mut hits): (Vec<usize>, Vec<Hit>),
    files: &[FileHit],
    confidence: Confidence,
    is_named: bool,
) -> (Vec<usize>, Vec<Hit>) {
    let of_files: Vec<Hit> = if is_named { Vec::new() } else { best_of_files(files, &hits) };
    if !of_files.is_empty() {
        return (vec![0; of_files.len()], of_files);
    }
    let shown = worth(&hits, confidence, is_named);
    hits.truncate(shown);
    places.truncate(shown);
    (places, hits)
}

/// The files that answer well enough, best first.
fn good(files: &[FileHit]) -> impl Iterator<Item = &FileHit> {
    let best = files.first().map_or(0.0, |file| file.score);
    files.iter().filter(move |file| file.score > 0.0 && file.score >= LEAST_OF_FILE * best)
}

/// The numbers of the next files for a description, after those whose symbols are among its hits.
pub fn further(files: &[FileHit], hits: &[Hit]) -> Vec<u32> {
    let is_shown = |file: &&FileHit| hits.iter().any(|hit| hit.symbol.file == file.file);
    good(files).filter(|file| !is_shown(file)).take(MOST_FURTHER).map(|file| file.file).collect()
}

/// The best symbol of each of the best files.
pub fn leading(files: &[FileHit]) -> impl Iterator<Item = SymbolId> {
    good(files).take(MOST_FILES).filter_map(|file| file.symbols.first().copied())
}

/// The best symbols of the best files, and the best hit.
fn best_of_files(files: &[FileHit], hits: &[Hit]) -> Vec<Hit> {
    let mut symbols: Vec<SymbolId> =
        good(files).take(MOST_FILES).flat_map(|file| file.symbols.iter().copied()).collect();
    if let Some(first) = hits.first().filter(|first| !symbols.is_empty() && !symbols.contains(&first.symbol)) {
        symbols.insert(0, first.symbol);
    }
    let hit = |symbol: SymbolId| match hits.iter().find(|hit| hit.symbol == symbol) {
        Some(hit) => hit.clone(),
        None => Hit { symbol, score: 0.0, relevance: 0.0, centrality: 0.0, overloads: 1, fuzzy: None, parts: None },
    };
    symbols.into_iter().map(hit).collect()
}

/// The uses of the only hit for a name, where resolving all names takes no longer than a search may.
pub fn uses(repo: &Repo, symbol: &SymbolView<'_>) -> Option<usize> {
    if repo.snapshot.n_files() > MOST_RESOLVED {
        return None;
    }
    Some(related::edges_at_hand(repo)?.users(symbol.number()).count())
}

/// The source of a symbol that is short.
pub fn short_source(symbol: &SymbolView<'_>) -> Option<String> {
    let is_short = symbol.end_line() < symbol.first_line() + SHORT;
    is_short.then(|| symbol.shown().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
            worth(&[211.0, 178.0, 87.0, 62.0, 20.0], Confidence::High, false),
            4,
            "a description is of one of the first"
        );
        assert_eq!(worth(&[60.0; 20], Confidence::Low, false), 10);
        assert_eq!(worth(&[60.0, 1.0], Confidence::Low, false), 2);
        assert_eq!(worth(&[], Confidence::None, false), 0);
    }
}
