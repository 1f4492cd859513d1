//! Files that answer a query, by their best symbols and by their whole text.
//!
//! As a factor of each symbol's score, the whole text gains nothing; as the order of files, it does:
//! `benches/README.md` has the table.

use rustc_hash::FxHashMap;

use super::confidence::beginning;
use super::rank::{Ranker, STOP_WORDS, is_set_apart};
use super::{Filter, Hit, Search};
use crate::languages::is_document;
use crate::store::{Error, FileView, Snapshot, SymbolId};

/// The number of files found by their text.
const BY_TEXT: usize = 200;
/// Weights of a file's best symbols, the best one first.
const SYMBOLS: [f32; 3] = [1.0, 0.5, 0.25];
/// Weight of the text, relative to the symbols.
const TEXT: f32 = 0.8;
/// Factor for the text of tests, examples, generated and vendored files.
const ASIDE: f32 = 0.4;

/// Factor for documents and data, which mention everything: they come after all code.
const MENTIONED: f32 = 0.02;
/// The number of files whose words are counted where no symbol answers.
const COUNTED: usize = 40;

/// A file that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct FileHit {
    /// Its number.
    pub file: u32,
    /// Its best symbols, at most three.
    pub symbols: Vec<SymbolId>,
    /// The sum of their relevance, the first weighing most.
    pub by_symbols: f32,
    /// The score of its text.
    pub by_text: f32,
    /// The score of both, 0 to 1.8.
    pub score: f32,
}

/// Finds the files of hits, and those whose text answers. Without hits, a file must hold at least half of the words.
pub(super) fn files(
    snapshot: &Snapshot,
    search: &Search<'_>,
    ranker: &Ranker,
    wanted: &Filter<'_>,
    hits: &[Hit],
) -> Result<Vec<FileHit>, Error> {
    let mut files: FxHashMap<u32, FileHit> = FxHashMap::default();
    let empty = |file| FileHit { file, symbols: Vec::new(), by_symbols: 0.0, by_text: 0.0, score: 0.0 };
    for hit in hits {
        let found = files.entry(hit.symbol.file).or_insert_with(|| empty(hit.symbol.file));
        if let Some(weight) = SYMBOLS.get(found.symbols.len()) {
            found.by_symbols += weight * hit.relevance;
            found.symbols.push(hit.symbol);
        }
    }
    let text = ranker.file_text();
    let words = ranker.words().iter().filter(|word| !STOP_WORDS.contains(&word.as_str()));
    let words: Vec<String> = words.filter_map(|word| beginning(word)).collect();
    let most = if hits.is_empty() { COUNTED } else { BY_TEXT };
    let mut keep = |file| wanted.accepts_file(file);
    for (file, score) in snapshot.search_files(search.among, &text, most, &mut keep)? {
        let Some(view) = snapshot.file_by_number(file) else { continue };
        if hits.is_empty() && !holds_half(view, &words) {
            continue;
        }
        files.entry(file).or_insert_with(|| empty(file)).by_text = score * place(view);
    }
    let mut files: Vec<FileHit> = files.into_values().collect();
    order(&mut files, |file| snapshot.file_by_number(file.file).map(|view| view.path().to_owned()));
    Ok(files)
}

/// Scores files by their shares of the best, and orders them, equal ones by `path`.
pub(super) fn order<K: Ord>(files: &mut [FileHit], path: impl Fn(&FileHit) -> K) {
    let best = |of: fn(&FileHit) -> f32| files.iter().map(of).fold(f32::MIN_POSITIVE, f32::max);
    let (symbols, text) = (best(|file| file.by_symbols), best(|file| file.by_text));
    for file in files.iter_mut() {
        file.score = file.by_symbols / symbols + TEXT * file.by_text / text;
    }
    files.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| path(a).cmp(&path(b))));
}

/// Whether a file's path and text hold at least half of these words.
fn holds_half(file: FileView<'_>, words: &[String]) -> bool {
    let text = String::from_utf8_lossy(file.content()).to_lowercase();
    let path = file.path().to_lowercase();
    let held = words.iter().filter(|word| text.contains(*word) || path.contains(*word)).count();
    2 * held >= words.len()
}

/// Factor for the place of a file.
fn place(file: FileView<'_>) -> f32 {
    match () {
        () if is_document(file.path()) => MENTIONED,
        () if is_set_apart(file) => ASIDE,
        () => 1.0,
    }
}
