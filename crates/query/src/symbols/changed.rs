//! Reranks functions for a description of a change, by the share of its words in their names and paths.
//!
//! Only functions outside tests change places, and only with one another. Commits also change types, values and tests,
//! but seldom name them. The weights are a log-linear fit on commits of 108 repositories (`benches/README.md`), in
//! which the score before this step has weight one.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::prose::{lines, owner};
use super::rank::{Candidate, in_test_module, is_aside};
use codelode_base::model::Kind;
use codelode_store::{Error, Snapshot, SymbolView, stems};

/// The number of first hits that are reranked.
const MOST: usize = 200;

/// For each e-fold of lines: a long function is more likely to be changed.
const LONG: f32 = 0.119;
/// For each line.
const LINE: f32 = 0.000_39;
/// The share of the description's words, weighted by rarity, in the name, the owner's name or the path.
const SAID: f32 = 1.6;
/// The same share in the owner's name alone, which counts less because all members have it.
const OWNED: f32 = -0.6;
/// The share of the description's significant words in the definition.
const WITHIN: f32 = 0.63;
/// For each word of the name: a long name has some word of any description.
const NAMED: f32 = -0.059;
/// For each e-fold of its file's rank among the files of the hits.
const FILE: f32 = -0.106;

/// Reranks the functions among the first hits, which are sorted by score. The scores stay at their ranks.
pub(super) fn reorder(
    snapshot: &Snapshot,
    words: &FxHashSet<Rc<str>>,
    hits: &mut [Candidate<'_>],
) -> Result<(), Error> {
    let rarity = rarities(snapshot, words)?;
    let all: f32 = rarity.values().sum();
    let share = |of: &mut dyn Iterator<Item = &Rc<str>>| {
        let mut seen = FxHashSet::default();
        of.filter(|stem| seen.insert(*stem)).filter_map(|stem| rarity.get(stem)).sum::<f32>()
            / all.max(f32::MIN_POSITIVE)
    };
    let (mut files, mut owners) = (FxHashMap::default(), FxHashMap::default());
    let mut places = Vec::new();
    let mut worths = Vec::new();
    for (place, hit) in hits.iter().take(MOST).enumerate() {
        let rank = files.len() + 1;
        let (rank, path) = files.entry(hit.symbol.file.number()).or_insert_with(|| {
            (
                rank as f32,
                stems(hit.symbol.file.path().rsplit_once('.').map_or(hit.symbol.file.path(), |(path, _)| path)),
            )
        });
        if !is_plain_function(&hit.symbol) {
            continue;
        }
        let name = stems(&hit.name);
        let own = owner(&hit.symbol);
        let own: &Vec<Rc<str>> = owners.entry(own).or_insert_with_key(|own| stems(own));
        let lines = lines(&hit.symbol) as f32;
        let signs = LONG * lines.ln_1p()
            + LINE * lines
            + SAID * share(&mut name.iter().chain(own).chain(&*path))
            + OWNED * share(&mut own.iter())
            + WITHIN * hit.within
            + NAMED * name.iter().collect::<FxHashSet<_>>().len() as f32
            + FILE * rank.ln_1p();
        places.push(place);
        worths.push(hit.score().max(f32::MIN_POSITIVE).ln() + signs);
    }
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| worths[*b].total_cmp(&worths[*a]).then(a.cmp(b)));
    let scores: Vec<f32> = places.iter().map(|place| hits[*place].score()).collect();
    let moved: Vec<Candidate<'_>> = order.iter().map(|which| hits[places[*which]].clone()).collect();
    for ((place, mut hit), score) in places.into_iter().zip(moved).zip(scores) {
        if hit.score() != score {
            hit.tally.times("place among functions", score / hit.score());
            hit.tally.score = score;
        }
        hits[place] = hit;
    }
    Ok(())
}

/// The rarity of each word that some definition contains: the logarithm of its inverse share of all definitions.
fn rarities(snapshot: &Snapshot, words: &FxHashSet<Rc<str>>) -> Result<FxHashMap<Rc<str>, f32>, Error> {
    let all = snapshot.documents()? as f32;
    let mut found = FxHashMap::default();
    for word in words {
        let held = snapshot.stem_frequency(word)? as f32;
        if held > 0.0 {
            found.insert(Rc::clone(word), ((all - held + 0.5) / (held + 0.5)).max(0.0).ln_1p());
        }
    }
    Ok(found)
}

/// Whether a symbol is a function outside tests and outside other functions.
fn is_plain_function(symbol: &SymbolView<'_>) -> bool {
    let is_inside = |parent: SymbolView<'_>| matches!(parent.kind(), Kind::Function | Kind::Method);
    matches!(symbol.kind(), Kind::Function | Kind::Method)
        && !is_aside(symbol)
        && !in_test_module(symbol)
        && !symbol.parent().is_some_and(is_inside)
}
