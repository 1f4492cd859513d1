//! Search by text about code: summaries of symbols that a model wrote, and notes about files.

use rustc_hash::FxHashMap;

use super::rank::{Looked, Ranker};
use super::telling::STOP_WORDS;
use codelode_store::{Snapshot, SummaryWords, SymbolId, stems};

/// Weight of a summary's words relative to code. With two, and for descriptions of changes too, commit messages lost
/// 1.5 points of recall, see the history of `benches/README.md`.
const WEIGHT: f32 = 1.0;
/// The most symbols found by summaries alone.
const MOST: usize = 100;

/// Adds the scores of summaries to the symbols found by a description, and adds the best symbols found by summaries
/// alone.
pub(super) fn add(
    snapshot: &Snapshot,
    ranker: &Ranker,
    keep: &mut dyn FnMut(SymbolId) -> bool,
    found: &mut Vec<Looked>,
) {
    let Some(words) = snapshot.summary_words().filter(|_| ranker.form.is_of_code()) else { return };
    let mut scores = words.scores(&stems(ranker.text()));
    let held = words.held(ranker.telling());
    let bits = |symbol: &SymbolId| held.get(symbol).copied().unwrap_or_default();
    for looked in &mut *found {
        if let Some(score) = scores.remove(&looked.symbol) {
            looked.score += WEIGHT * score;
            looked.held[0] |= bits(&looked.symbol);
        }
    }
    let mut others: Vec<(SymbolId, f32)> = rest(scores, keep);
    others.truncate(MOST);
    // Their own vectors are not loaded, so they get the mean likeness.
    let near = found.iter().map(|looked| looked.near).sum::<f32>() / found.len().max(1) as f32;
    found.extend(others.into_iter().map(|(symbol, score)| {
        let held = [bits(&symbol), 0, 0];
        Looked { symbol, score: WEIGHT * score, held, near }
    }));
}

/// Files whose notes contain at least half of a question's significant words, each with its score, best first.
pub fn noted(notes: &SummaryWords, question: &str) -> Vec<(u32, f32)> {
    let small = question.to_lowercase();
    let telling = small.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let telling: Vec<&str> = telling.filter(|word| !word.is_empty() && !STOP_WORDS.contains(word)).collect();
    let words: Vec<Vec<String>> =
        telling.iter().flat_map(|word| stems(word)).map(|stem| vec![(*stem).to_owned()]).collect();
    let (held, scores) = (notes.held(&words), notes.scores(&stems(&telling.join(" "))));
    let needed = words.len().min(u64::BITS as usize).div_ceil(2) as u32;
    let is_told = |id: &SymbolId| held.get(id).is_some_and(|bits| bits.count_ones() >= needed.max(1));
    let mut found: Vec<(u32, f32)> =
        scores.into_iter().filter(|(id, _)| is_told(id)).map(|(id, score)| (id.file, score)).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found
}

/// The accepted symbols, best first.
fn rest(scores: FxHashMap<SymbolId, f32>, keep: &mut dyn FnMut(SymbolId) -> bool) -> Vec<(SymbolId, f32)> {
    let mut others: Vec<(SymbolId, f32)> = scores.into_iter().filter(|(symbol, _)| keep(*symbol)).collect();
    others.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    others
}
