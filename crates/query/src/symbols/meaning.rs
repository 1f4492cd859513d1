//! Search by meaning: joins the symbols with the nearest vectors and the symbols found by words.

use std::collections::HashMap;

use super::confidence::Confidence;
use super::explain::Part;
use super::form::Form;
use super::prominence::Prominence;
use super::rank::is_aside;
use super::{
    Filter, Found, Hit, Order, Search, by_rank, files, implementation, main_language, overloaded, overloads, ranker,
    search,
};
use codelode_store::{Error, Meanings, Snapshot, SymbolId};

/// The most symbols of each ranking. The last one has likeness zero, so the number is part of the fit below: with 200,
/// descriptions gain 2.5 points of recall instead of 4.3.
const POOL: usize = 1_000;
/// Score of a symbol that is best by words and by meaning.
const BEST: f32 = 100.0;
/// Exponents that turn the weight into the share of meaning in a score, for vectors of an encoder. A weight of 0.5
/// gives a share of 0.6 for a description of code, 0.2 for a change, and 0.1 for names and few words. Fitted by
/// `benches/fusion.py`, see the history of `benches/README.md`.
const OF_DESCRIPTION: f32 = 0.74;
const OF_CHANGE: f32 = 2.32;
const OF_NAME: f32 = 3.32;
/// The exponent for vectors of a word table, which are less precise: a weight of 0.5 gives a share of 0.15. Larger
/// shares lose three or more points on descriptions and commit messages.
const OF_TABLE: f32 = 2.74;
/// Factor for the likeness of tests, examples, generated and vendored code.
const ASIDE: f32 = 0.8;

/// A question with its vector.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// Vectors of the snapshot's symbols.
    pub meanings: &'a Meanings,
    /// Vector of the question, by the same model.
    pub vector: &'a [f32],
    /// Weight of meaning against words, 0 to 1.
    pub weight: f32,
    /// Whether the vectors come from a word table, not an encoder.
    pub of_table: bool,
    /// Whether to search by meaning alone.
    pub alone: bool,
}

/// Searches by words and meaning. If the query is the name of a symbol, words are enough.
pub fn search_by_meaning(snapshot: &Snapshot, asked: &Search<'_>, question: &Question<'_>) -> Result<Found, Error> {
    let pool = asked.limit.max(POOL);
    let words = match question.alone {
        true => Found::default(),
        false => {
            let order = Order::Relevance;
            search(snapshot, &Search { limit: pool, order, explain: false, with_files: false, ..asked.clone() })?
        }
    };
    if words.is_named {
        return search(snapshot, asked);
    }
    let wanted = Filter::new(snapshot, asked)?;
    let near = question.meanings.nearest(question.vector, pool, &mut |id| wanted.accepts(id));
    let (top, floor) = near.first().zip(near.last()).map_or((1.0, 0.0), |(first, last)| (first.1, last.1));
    let by_meaning = |id: SymbolId, likeness: f32| {
        let aside = snapshot.symbol(id).is_some_and(|symbol| is_aside(&symbol));
        let share = ((likeness - floor) / (top - floor).max(f32::EPSILON)).clamp(0.0, 1.0);
        if aside { ASIDE * share } else { share }
    };
    let best = words.hits.iter().map(|hit| hit.relevance).fold(f32::MIN_POSITIVE, f32::max);
    let first = words.hits.first().map(|hit| hit.symbol);
    // Word score and likeness of each overload group.
    let mut groups: HashMap<_, (SymbolId, f32, f32)> = HashMap::new();
    for hit in &words.hits {
        let Some(symbol) = snapshot.symbol(hit.symbol) else { continue };
        let likeness = question.meanings.likeness(question.vector, hit.symbol);
        let meaning = likeness.map_or(0.0, |likeness| by_meaning(hit.symbol, likeness));
        groups.insert(overloaded(&symbol), (hit.symbol, hit.relevance / best, meaning));
    }
    for (id, likeness) in near {
        let Some(symbol) = snapshot.symbol(id) else { continue };
        let meaning = by_meaning(id, likeness);
        let group = groups.entry(overloaded(&symbol)).or_insert((implementation(&symbol).number(), 0.0, meaning));
        group.2 = group.2.max(meaning);
    }
    let curve = match Form::of(asked.query).among(asked.query, main_language(snapshot)) {
        _ if question.of_table => OF_TABLE,
        Form::Prose | Form::Question => OF_DESCRIPTION,
        Form::Change => OF_CHANGE,
        Form::Words | Form::Identifier => OF_NAME,
    };
    let weight = if question.alone { 1.0 } else { question.weight.powf(curve) };
    let mut prominence = Prominence::new(snapshot);
    let mut hits = Vec::with_capacity(groups.len());
    for (id, words, meaning) in groups.into_values() {
        let Some(symbol) = snapshot.symbol(id) else { continue };
        let (words, meaning) = (BEST * (1.0 - weight) * words, BEST * weight * meaning);
        let part = |what: &str, value| Part { what: what.to_owned(), times: false, value };
        let centrality = match (asked.order, asked.ranks) {
            (Order::Relevance, _) => 0.0,
            (_, Some(ranks)) => by_rank(ranks, id),
            (_, None) => prominence.of_name(&symbol.name())?,
        };
        let parts = asked.explain.then(|| vec![part("words", words), part("meaning", meaning)]);
        let relevance = words + meaning;
        let (overloads, fuzzy, score) = (overloads(&symbol), None, relevance);
        let hit = Hit { symbol: id, score, relevance, centrality, overloads, fuzzy, parts };
        let score = hit.score_by(asked.order, BEST);
        hits.push((symbol.file.path(), Hit { score, ..hit }));
    }
    hits.sort_by(|(path, a), (other, b)| {
        b.score.total_cmp(&a.score).then_with(|| path.cmp(other)).then_with(|| a.symbol.cmp(&b.symbol))
    });
    let considered = hits.len();
    let hits: Vec<Hit> = hits.into_iter().take(asked.limit).map(|(_, hit)| hit).collect();
    let files = match asked.with_files {
        true => files::files(snapshot, asked, &ranker(snapshot, asked, words.form)?, &wanted, &hits)?,
        false => Vec::new(),
    };
    let confidence = match hits.first() {
        None => Confidence::None,
        Some(hit) if Some(hit.symbol) == first => words.confidence.max(Confidence::Low),
        Some(_) => Confidence::Low,
    };
    Ok(Found { hits, considered, more: true, confidence, files, ..words })
}
