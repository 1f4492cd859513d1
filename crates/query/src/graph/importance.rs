//! Importance: symbols by PageRank (Page et al. 1998) over uses, files by their number of importers.

use std::collections::HashMap;

use super::{Graph, Uses, is_use};
use codelode_base::model::Phase;
use codelode_store::{EdgeTable, Error, Rank, RankTable, Snapshot, SymbolView};

/// The part of a node's share that passes to the symbols it uses. The rest is spread evenly.
const DAMPING: f64 = 0.85;
/// The iteration ends once the shares change by less than this in total.
const SETTLED: f64 = 1e-6;
/// The most iterations.
const ROUNDS: u32 = 100;

/// The ranks of a snapshot, computed on first use.
pub fn ranks<'a>(snapshot: &'a Snapshot, edges: &EdgeTable) -> Result<&'a RankTable, Error> {
    if let Some(ranks) = snapshot.ranks() {
        return Ok(ranks);
    }
    let _phase = Phase::begin("rank");
    let graph = Graph::new(snapshot, edges);
    let uses = graph.uses(false, |edge, to| is_use(&graph, edge, to));
    let counted: Vec<u32> = (0..graph.symbols.len() as u32).filter(|node| !graph.is_value(*node)).collect();
    let start = 1.0 / counted.len().max(1) as f64;
    let mut even = vec![0.0; graph.symbols.len()];
    counted.iter().for_each(|node| even[*node as usize] = start);
    let (shares, rounds) = page_rank(&uses, &even);
    let users = uses.users();
    let rank = |node: &u32| {
        let place = *node as usize;
        Rank::new(graph.symbols[place].number(), shares[place] as f32, users[place], uses.of(*node).len() as u32)
    };
    snapshot.keep_ranks(edges, counted.iter().map(rank).collect(), rounds)
}

/// The share of each node, and the number of iterations. `start` holds the initial shares; their sum is one.
pub(super) fn page_rank(uses: &Uses, start: &[f64]) -> (Vec<f64>, u32) {
    let mut shares = start.to_vec();
    let mut next = vec![0.0; shares.len()];
    for round in 1..=ROUNDS {
        // The shares of nodes without uses are spread over all nodes.
        let mut lost = 0.0;
        next.fill(0.0);
        for (node, share) in shares.iter().enumerate() {
            let used = uses.of(node as u32);
            let each = DAMPING * share / used.len().max(1) as f64;
            used.iter().for_each(|to| next[*to as usize] += each);
            lost += if used.is_empty() { DAMPING * share } else { 0.0 };
        }
        let mut change = 0.0;
        for ((share, next), start) in shares.iter_mut().zip(&next).zip(start) {
            let new = next + (1.0 - DAMPING + lost) * start;
            change += (new - *share).abs();
            *share = new;
        }
        if change < SETTLED {
            return (shares, round);
        }
    }
    (shares, ROUNDS)
}

/// The most central symbols outside of tests, best first, with their ranks.
pub fn central_symbols<'a>(
    snapshot: &'a Snapshot,
    ranks: &'a RankTable,
) -> impl Iterator<Item = (SymbolView<'a>, &'a Rank)> {
    let symbols = ranks.best().filter_map(|rank| Some((snapshot.symbol(rank.symbol())?, rank)));
    symbols.filter(|(symbol, _)| !symbol.file.is_test())
}

/// The most imported files: path and number of importers.
pub fn imported_files(snapshot: &Snapshot, edges: &EdgeTable, limit: usize) -> Vec<(String, usize)> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for file in snapshot.files().filter(|file| !file.facts().is_empty()) {
        let importers = edges.importing(file.number()).count();
        if importers > 0 {
            counts.insert(file.number(), importers);
        }
    }
    let path = |number: u32| snapshot.file_by_number(number).map(|file| file.path().to_owned());
    let mut files: Vec<(String, usize)> =
        counts.into_iter().filter_map(|(number, count)| Some((path(number)?, count))).collect();
    files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    files.truncate(limit);
    files
}
