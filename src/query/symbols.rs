//! Symbols that answer a query, best first.

use std::cell::RefCell;

use globset::GlobMatcher;
use rustc_hash::FxHashMap;

use super::rank::{self, Candidate, Ranker};
use crate::model::Kind;
use crate::store::{Error, Snapshot, SymbolId, flattened};

/// How many symbols are looked at a second time, with more than their terms.
const SECOND_LOOK: usize = 200;
/// How many of the same name are, and of how many those with the right owner are looked for.
const SAME_NAME: usize = 500;
const SAME_NAME_OWNED: usize = 20_000;

/// How many answers are counted beyond those that are shown.
const COUNTED: usize = 50;

/// What is looked for.
pub struct Search<'a> {
    /// The words.
    pub query: &'a str,
    /// Only symbols of this sort: one of the five, or a language's own word.
    pub kind: Option<&'a str>,
    /// Only files in this language.
    pub language: Option<&'a str>,
    /// Only files whose path matches.
    pub files: Option<&'a GlobMatcher>,
    /// Names that are only spelt alike count as well as words do.
    pub fuzzy: bool,
    /// What decides between those that answer.
    pub order: Order,
    /// How many at most.
    pub limit: usize,
}

/// What decides between symbols that answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// How well they answer.
    Relevance,
    /// How central they are among who uses whom.
    Centrality,
    /// Both.
    Combined,
}

/// A symbol that answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which.
    pub symbol: SymbolId,
    /// How well; comparable within an answer.
    pub score: f32,
    /// Set when only the spelling is alike.
    pub fuzzy: Option<Fuzzy>,
}

/// How much a name is like the one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fuzzy {
    /// Jaccard similarity of their trigrams, 0 to 1.
    pub similarity: f32,
    /// Edits between them.
    pub distance: usize,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How many answered before the limit cut, as far as they were counted: at least fifty.
    pub considered: usize,
    /// There may be more than were counted.
    pub more: bool,
}

/// Looks for symbols.
pub fn search(snapshot: &Snapshot, search: &Search<'_>) -> Result<Found, Error> {
    let ranker = Ranker::new(search.query, search.fuzzy);
    let wanted = Filter::new(snapshot, search);
    // Trigrams order names that share pieces, and find those with a slip in them.
    let looked_at = SECOND_LOOK.max(search.limit);
    let found = snapshot.search(&ranker.clauses(), looked_at, &mut |id| wanted.accepts(id))?;
    let all_found = found.len() < looked_at;
    let mut scores: FxHashMap<SymbolId, f32> = found.into_iter().collect();
    if let Some(name) = ranker.exact_name() {
        let most = if ranker.names_owner() { SAME_NAME_OWNED } else { SAME_NAME };
        for id in snapshot.exact(name, most, &mut |id| wanted.accepts(id))? {
            if !ranker.names_owner() || snapshot.symbol(id).is_some_and(|symbol| ranker.is_owner(&symbol)) {
                scores.entry(id).or_insert(0.0);
            }
        }
    }

    let mut hits: Vec<Candidate<'_>> =
        scores.into_iter().filter_map(|(id, score)| Some(ranker.candidate(snapshot.symbol(id)?, score))).collect();
    let by_score = |a: &Candidate<'_>, b: &Candidate<'_>| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.symbol.file.path().cmp(b.symbol.file.path()))
            .then_with(|| a.symbol.number().cmp(&b.symbol.number()))
    };
    hits.sort_by(by_score);
    if ranker.form.is_prose() {
        rank::share_within_files(&mut hits);
        hits.sort_by(by_score);
    }
    if search.order != Order::Relevance {
        hits.retain(|hit| ranker.is_answer(hit));
        by_centrality(snapshot, search.order, &mut hits)?;
    }
    // Each is asked whether it answers only when it would be shown, or counted: reading its text takes time.
    let counted = search.limit.max(COUNTED);
    let mut answers = hits.into_iter().filter(|hit| ranker.is_answer(hit)).take(counted);
    let shown = answers.by_ref().take(search.limit).map(|hit| {
        let fuzzy = likeness(&ranker, &hit, search.fuzzy);
        Hit { symbol: hit.symbol.number(), score: hit.score, fuzzy }
    });
    let hits: Vec<Hit> = shown.collect();
    let considered = hits.len() + answers.count();
    Ok(Found { hits, considered, more: !all_found || considered == counted })
}

/// Set when a symbol's name is like the one asked for without holding it.
fn likeness(ranker: &Ranker, hit: &Candidate<'_>, wanted: bool) -> Option<Fuzzy> {
    let asked = flattened(ranker.exact_name()?);
    if hit.flat.contains(&asked) {
        return None;
    }
    let similarity = ranker.similarity(&hit.flat);
    (wanted || similarity > 0.3).then(|| Fuzzy { similarity, distance: ranker.distance(&hit.name) })
}

/// Orders hits by how central they are: by who uses whom where that is known, else by how many other definitions mention
/// their names. Of the average symbol both are about one.
fn by_centrality(snapshot: &Snapshot, order: Order, hits: &mut [Candidate<'_>]) -> Result<(), Error> {
    let best = hits.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max);
    let ranks = snapshot.ranks();
    for hit in hits.iter_mut() {
        let known = ranks.and_then(|ranks| Some(ranks.of(hit.symbol.number())?.score * ranks.len() as f32));
        let central = match known {
            Some(known) => known,
            None => snapshot.mentions(&hit.name)? as f32,
        };
        let centrality = (1.0 + central).ln();
        hit.score = match order {
            Order::Combined => hit.score / best * 10.0 + centrality,
            _ => centrality,
        };
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.symbol.number().cmp(&b.symbol.number())));
    Ok(())
}

/// The filters of a search, each file judged once.
struct Filter<'a> {
    snapshot: &'a Snapshot,
    search: &'a Search<'a>,
    kind: Option<Kind>,
    files: RefCell<FxHashMap<u32, bool>>,
}

impl<'a> Filter<'a> {
    fn new(snapshot: &'a Snapshot, search: &'a Search<'a>) -> Self {
        Self { snapshot, search, kind: search.kind.and_then(Kind::parse), files: RefCell::default() }
    }

    fn accepts(&self, id: SymbolId) -> bool {
        let Search { kind, language, files, .. } = self.search;
        if (language.is_some() || files.is_some()) && !self.accepts_file(id.file) {
            return false;
        }
        match (kind, self.kind) {
            (None, _) => true,
            (_, Some(kind)) => self.snapshot.symbol(id).is_some_and(|symbol| symbol.kind() == kind),
            (Some(word), None) => self.snapshot.symbol(id).is_some_and(|symbol| symbol.detail().as_str() == *word),
        }
    }

    fn accepts_file(&self, file: u32) -> bool {
        *self.files.borrow_mut().entry(file).or_insert_with(|| {
            let Some(view) = self.snapshot.file_by_number(file) else { return false };
            self.search.language.is_none_or(|language| view.language() == language)
                && self.search.files.is_none_or(|glob| glob.is_match(view.path()))
        })
    }
}
