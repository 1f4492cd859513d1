//! Candidates for a question: what was found, and what bears a word of the question as its name, each with its reason.

use std::collections::HashSet;

use super::brief;
use super::packing::{Candidate, takes};
use super::tokens;
use codelode_query::{self as query, FileHit, Hit};
use codelode_store::{Snapshot, SymbolId, SymbolView};

/// The most hits among the candidates, those of them before symbols for their names and the best of each file, the most of
/// the names, and the most candidates.
const HITS: usize = 7;
const BEST: usize = 4;
const NAMED: usize = 5;
const MOST: usize = 10;
/// The least letters of a word that may be a name, and the most symbols that bear it: a word that many bear tells nothing.
const SHORTEST: usize = 4;
const BEARERS: usize = 3;
/// The most symbols that hold a rare word.
const RARE: u64 = 12;
/// The most words of a reason, and the bytes of a symbol that are looked into for them.
const REASONS: usize = 3;
/// The least letters of a word that is a reason: shorter ones stand everywhere.
const TELLING: usize = 5;
const LOOKED_INTO: usize = 4_000;
/// Letters of a signature.
const SIGNATURE: usize = 100;

/// The candidates for a question that fit into so many tokens, best first; those that bear a rare word of it as their name are among
/// them wherever they stand, in tests as well, and so does the best symbol of each file that answers well.
pub fn of(snapshot: &Snapshot, (hits, files): (&[Hit], &[FileHit]), text: &str, mut left: usize) -> Vec<Candidate> {
    let words = words(text);
    let mut seen: HashSet<SymbolId> = HashSet::new();
    let (best, others) = hits[..hits.len().min(HITS)].split_at(hits.len().min(BEST));
    let symbol = |hit: &Hit| snapshot.symbol(hit.symbol);
    let named = words.iter().flat_map(|word| bearers(snapshot, word)).take(NAMED);
    let of_files = brief::leading(files).filter_map(|symbol| snapshot.symbol(symbol));
    let found = best.iter().filter_map(symbol).chain(named).chain(of_files).chain(others.iter().filter_map(symbol));
    let mut symbols: Vec<SymbolView<'_>> = found.collect();
    symbols.retain(|symbol| seen.insert(symbol.number()));
    let candidates = symbols.iter().take(MOST).map(|symbol| Candidate {
        id: symbol.id(),
        line: symbol.line(),
        signature: symbol.signature(SIGNATURE),
        why: reason(symbol, &words),
    });
    candidates.take_while(|candidate| takes(&mut left, tokens::of_json(candidate) + 1)).collect()
}

/// Words that may be names, each once.
fn words(text: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| word.chars().count() >= SHORTEST && seen.insert(*word)).collect()
}

/// The few symbols of code that bear a word as their name, if it is written as names are or few symbols hold it: a word
/// of prose names something only by chance.
fn bearers<'a>(snapshot: &'a Snapshot, word: &str) -> Vec<SymbolView<'a>> {
    let is_name = word.contains('_') || word.chars().skip(1).any(char::is_uppercase);
    let is_rare = || snapshot.frequency(word).ok().flatten().is_some_and(|held| held <= RARE);
    if !is_name && !is_rare() {
        return Vec::new();
    }
    let found = query::named(snapshot, word);
    let is_code = found.iter().all(|symbol| !symbol.file.spec().is_document);
    if is_code && found.len() <= BEARERS { found } else { Vec::new() }
}

/// The longest words of a question that a symbol holds beside its name.
fn reason(symbol: &SymbolView<'_>, words: &[&str]) -> String {
    let source = symbol.source();
    let text = String::from_utf8_lossy(&source[..source.len().min(LOOKED_INTO)]).to_lowercase();
    let name = symbol.qualified_name().to_lowercase();
    let is_reason =
        |word: &&String| word.len() >= TELLING && text.contains(word.as_str()) && !name.contains(word.as_str());
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut held: Vec<&String> = lower.iter().filter(is_reason).collect();
    held.sort_by_key(|word| std::cmp::Reverse(word.len()));
    held.iter().take(REASONS).map(|word| word.as_str()).collect::<Vec<_>>().join(", ")
}
