//! Files that answer a query, ranked by their best symbols, their text and their path.
//!
//! The text of a file helps to rank files, but not to rank symbols: `benches/README.md` has the tables.

use rustc_hash::FxHashMap;

use super::confidence::beginning;
use super::rank::{Ranker, is_set_apart};
use super::telling::STOP_WORDS;
use super::{Filter, Hit, Search};
use codelode_lang::languages::is_document;
use codelode_store::{Error, FileView, Snapshot, SymbolId, word_parts};

/// The most files found by their text.
const BY_TEXT: usize = 200;
/// The number of a file's best symbols that count, the weight of each relative to the one before, and the number shown.
const SYMBOLS: i32 = 8;
const DECAY: f32 = 0.8;
const SHOWN: usize = 3;
/// Exponent of a symbol's relevance: one good answer counts more than several mediocre ones.
const POWER: f32 = 1.5;
/// Weight of the text relative to the symbols, and the exponent of its share of the best text.
const TEXT: f32 = 0.45;
const TEXT_POWER: f32 = 0.75;
/// Weight of the share of the query's words in the path, and of the share of the file name's words in the query.
const PATH: f32 = 0.15;
const NAME: f32 = 0.2;
/// Factors for tests, examples, generated and vendored files: for their symbols, and for their text and path.
const SYMBOLS_ASIDE: f32 = 0.6;
const ASIDE: f32 = 0.3;
/// Names of files that stand for their folder.
const OF_FOLDER: &[&str] = &["__init__", "index", "mod", "lib", "main"];

/// Factor for documents and data: they mention everything, so they come after all code.
const MENTIONED: f32 = 0.02;
/// Without hits, the words of so many files are counted.
const COUNTED: usize = 40;

/// A matching file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileHit {
    /// Its number.
    pub file: u32,
    /// Its best symbols, at most three.
    pub symbols: Vec<SymbolId>,
    /// The weighted sum of its symbols' relevance.
    pub by_symbols: f32,
    /// The score of its text.
    pub by_text: f32,
    /// The score of its path, 0 to 0.35.
    pub by_path: f32,
    /// The total score, 0 to 1.8.
    pub score: f32,
}

/// Ranks the files of hits and files found by text. Without hits, a file must contain at least half of the words.
pub(super) fn files(
    snapshot: &Snapshot,
    search: &Search<'_>,
    ranker: &Ranker,
    wanted: &Filter<'_>,
    hits: &[Hit],
) -> Result<Vec<FileHit>, Error> {
    let mut files: FxHashMap<u32, FileHit> = FxHashMap::default();
    let empty = |file| FileHit { file, symbols: Vec::new(), by_symbols: 0.0, by_text: 0.0, by_path: 0.0, score: 0.0 };
    let mut counted: FxHashMap<u32, i32> = FxHashMap::default();
    for hit in hits {
        let found = files.entry(hit.symbol.file).or_insert_with(|| empty(hit.symbol.file));
        let rank = counted.entry(hit.symbol.file).or_default();
        if *rank < SYMBOLS {
            found.by_symbols += DECAY.powi(*rank) * hit.relevance.max(0.0).powf(POWER);
            *rank += 1;
        }
        if found.symbols.len() < SHOWN {
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
    for found in &mut files {
        let Some(view) = snapshot.file_by_number(found.file) else { continue };
        found.by_path = of_path(view.path(), &words) * place(view);
        if is_set_apart(view) {
            found.by_symbols *= SYMBOLS_ASIDE;
        }
    }
    order(&mut files, |file| snapshot.file_by_number(file.file).map(|view| view.path().to_owned()));
    Ok(files)
}

/// Scores files relative to the best ones, and sorts them; ties by `path`.
pub(super) fn order<K: Ord>(files: &mut [FileHit], path: impl Fn(&FileHit) -> K) {
    let best = |of: fn(&FileHit) -> f32| files.iter().map(of).fold(f32::MIN_POSITIVE, f32::max);
    let (symbols, text) = (best(|file| file.by_symbols), best(|file| file.by_text));
    for file in files.iter_mut() {
        file.score = file.by_symbols / symbols + TEXT * (file.by_text / text).powf(TEXT_POWER) + file.by_path;
    }
    files.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| path(a).cmp(&path(b))));
}

/// Whether path and text of a file contain at least half of the words.
fn holds_half(file: FileView<'_>, words: &[String]) -> bool {
    let text = String::from_utf8_lossy(file.content()).to_lowercase();
    let path = file.path().to_lowercase();
    let held = words.iter().filter(|word| text.contains(*word) || path.contains(*word)).count();
    2 * held >= words.len()
}

/// The score of a path: the share of the query's words (without endings) in it, and the share of its name's words in
/// the query.
fn of_path(path: &str, words: &[String]) -> f32 {
    let telling: Vec<&String> = words.iter().filter(|word| word.len() > 1).collect();
    if telling.is_empty() {
        return 0.0;
    }
    let parts = |text: &str| word_parts(text).into_iter().map(|part| part.to_lowercase()).collect::<Vec<String>>();
    let all = parts(path);
    let in_path = telling.iter().filter(|word| all.iter().any(|part| part.starts_with(word.as_str()))).count();
    let mut names = path.rsplit('/').map(|name| name.split('.').next().unwrap_or(name));
    let name = names.next().unwrap_or_default();
    let name = if OF_FOLDER.contains(&name) { names.next().unwrap_or_default() } else { name };
    let name = parts(name);
    let asked = name.iter().filter(|part| telling.iter().any(|word| part.starts_with(word.as_str()))).count();
    PATH * in_path as f32 / telling.len() as f32 + NAME * asked as f32 / name.len().max(1) as f32
}

/// The factor for the text and path of a file by its origin.
fn place(file: FileView<'_>) -> f32 {
    match () {
        () if is_document(file.path()) => MENTIONED,
        () if is_set_apart(file) => ASIDE,
        () => 1.0,
    }
}
