//! Embeds a snapshot's symbols: makes a text for each, and sends texts without a vector to a provider.
//!
//! A text is embedded once, even if many symbols, checkouts and runs share it. Vectors are stored as they arrive, so
//! the next run continues a cancelled or killed one.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::batches::Batches;
use crate::embed::{self, Provider, Purpose};
use codelode_base::model::{Kind, Progress};
use codelode_store::{
    self as store, CONTENT, FileView, Meanings, Snapshot, SymbolId, SymbolView, TextKey, TextRow, TextTable,
    VectorTable, text_key,
};

/// Version of [`text`]. A new version makes new keys.
const TEXTS: u64 = 1;
/// The most characters of a signature, a summary and a whole text. A token of code has three to four characters.
const SIGNATURE: usize = 160;
const SUMMARY: usize = 200;
const TEXT: usize = 480;
/// Characters per token, for estimates.
const TOKEN: u64 = 4;
/// Unused rows that may be copied along with used ones; their files are in no checkout any more.
const SPARE_ROWS: usize = 10_000;

/// Failure of a run.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The provider failed.
    #[error(transparent)]
    Provider(#[from] embed::Error),
}

/// Options of a run.
pub struct Embedding<'a> {
    /// The provider.
    pub provider: &'a Arc<dyn Provider>,
    /// Texts per request; `None` for the provider's default.
    pub batch: Option<usize>,
    /// Whether to embed texts again that have a vector.
    pub force: bool,
    /// The time when the run ends, even if it is not complete.
    pub until: Option<Instant>,
    /// Progress callback.
    pub progress: &'a Progress<'a>,
    /// Cancellation flag.
    pub cancelled: &'a Arc<AtomicBool>,
    /// Maximum wait for another process that embeds with the same model.
    pub patience: Duration,
}

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    /// Texts embedded by this run.
    pub embedded: usize,
    /// Symbols whose texts had a vector before.
    pub cached: usize,
    /// Symbols that are never embedded: constants without documentation, and generated code.
    pub skipped: usize,
    /// Texts that still have no vector.
    pub missing: usize,
    /// All symbols.
    pub symbols: usize,
    /// Dimensions of the vectors; 0 without any.
    pub dimensions: usize,
    /// Estimated tokens of the texts embedded by this run.
    pub tokens: u64,
}

/// Texts of a snapshot without a vector.
pub struct TextsWithoutVector {
    texts: Vec<(TextKey, SymbolId)>,
    /// Counts so far; see [`Embedded`].
    pub counts: Embedded,
}

impl TextsWithoutVector {
    /// Whether every text has a vector.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

/// The text that represents a symbol: name, owner, signature, summary and first lines.
pub fn text(symbol: &SymbolView<'_>) -> String {
    let (signature, summary) = (symbol.signature(SIGNATURE), symbol.documented(SUMMARY));
    let mut text = format!("{} {}\n{signature}\n{summary}\n", symbol.detail().as_str(), symbol.qualified_name());
    let span = symbol.span();
    let start = symbol.signature_start() as usize + symbol.signature_source().len();
    let body = symbol.file.content().get(start.min(span.end as usize)..span.end as usize).unwrap_or_default();
    let body = String::from_utf8_lossy(&body[..body.len().min(4 * TEXT)]);
    for word in body.split_whitespace() {
        if text.len() + word.len() >= TEXT {
            break;
        }
        text.push_str(word);
        text.push(' ');
    }
    text.truncate(text.floor_char_boundary(TEXT));
    text.truncate(text.trim_end().len());
    text
}

/// Whether a symbol is worth a vector. Questions in words never mean plain values or document sections.
fn is_embedded(symbol: &SymbolView<'_>) -> bool {
    !symbol.file.spec().is_document && (symbol.kind() != Kind::Constant || !symbol.doc_source().is_empty())
}

/// The keys of all symbols' texts, reusing the stored table as far as possible.
fn texts(snapshot: &Snapshot) -> Result<TextTable, store::Error> {
    use rayon::prelude::*;
    let version = TEXTS << 32 | u64::from(CONTENT);
    let known = snapshot.texts(version);
    let is_new = |file: &FileView<'_>| !known.as_ref().is_some_and(|table| table.covers(file.number()));
    let new: Vec<FileView<'_>> = snapshot.files().filter(is_new).collect();
    if let Some(table) = known.clone().filter(|_| new.is_empty()) {
        return Ok(table);
    }
    let keys_of = |file: &FileView<'_>| -> Vec<TextRow> {
        let symbols = file.symbols().filter(|symbol| !file.is_generated() && is_embedded(symbol));
        symbols.map(|symbol| TextRow::new(symbol.number(), text_key(&text(&symbol)))).collect()
    };
    let mut rows: Vec<TextRow> = new.par_iter().flat_map_iter(keys_of).collect();
    let mut files: Vec<u64> = Vec::new();
    if let Some(table) = &known {
        let own = table.rows().iter().filter(|row| snapshot.has(row.symbol().file)).count();
        let keeps_others = table.rows().len() <= 2 * own + SPARE_ROWS;
        files = table.files().to_vec();
        if !keeps_others {
            let is_visible = |number: u32| u64::from(snapshot.has(number)) << (number % 64);
            for (place, word) in (0_u32..).zip(&mut files) {
                *word &= (64 * place..64 * (place + 1)).map(is_visible).sum::<u64>();
            }
        }
        rows.extend(table.rows().iter().filter(|row| keeps_others || snapshot.has(row.symbol().file)));
    }
    for file in &new {
        let place = file.number() as usize / 64;
        files.resize(files.len().max(place + 1), 0);
        files[place] |= 1 << (file.number() % 64);
    }
    rows.sort_unstable_by_key(TextRow::symbol);
    snapshot.keep_texts(version, &files, &rows)
}

/// Texts without a vector by this model; with `force`, all texts.
pub fn missing(snapshot: &Snapshot, identity: &str, force: bool) -> Result<TextsWithoutVector, store::Error> {
    let table = texts(snapshot)?;
    let vectors = if force { None } else { snapshot.vectors(identity)? };
    Ok(missing_of(snapshot, &table, vectors.as_ref()))
}

fn missing_of(snapshot: &Snapshot, table: &TextTable, vectors: Option<&VectorTable>) -> TextsWithoutVector {
    let mut seen: HashSet<TextKey> = HashSet::new();
    let (mut texts, mut rows, mut cached) = (Vec::new(), 0, 0);
    for row in table.rows().iter().filter(|row| snapshot.has(row.symbol().file)) {
        rows += 1;
        if vectors.is_some_and(|vectors| vectors.row(&row.key).is_some()) {
            cached += 1;
        } else if seen.insert(row.key) {
            texts.push((row.key, row.symbol()));
        }
    }
    let symbols = snapshot.files().map(|file| file.symbol_count() as usize).sum::<usize>();
    let dimensions = vectors.map_or(0, VectorTable::dimensions);
    let (missing, skipped) = (texts.len(), symbols.saturating_sub(rows));
    TextsWithoutVector {
        texts,
        counts: Embedded { cached, skipped, missing, symbols, dimensions, ..Embedded::default() },
    }
}

/// Estimated tokens of texts without a vector.
pub fn estimated_tokens(snapshot: &Snapshot, missing: &TextsWithoutVector) -> u64 {
    let text = |(_, symbol): &(TextKey, SymbolId)| snapshot.symbol(*symbol).map(|symbol| text(&symbol).len() as u64);
    missing.texts.iter().filter_map(text).sum::<u64>() / TOKEN
}

/// Symbols with their vectors; `None` if there are no vectors.
pub fn meanings(snapshot: &Snapshot, identity: &str) -> Result<Option<Meanings>, store::Error> {
    let Some(vectors) = snapshot.vectors(identity)? else { return Ok(None) };
    Ok(Some(Meanings::new(snapshot, &texts(snapshot)?, vectors)).filter(|meanings| !meanings.is_empty()))
}

/// Embeds texts without a vector. On failure, vectors that arrived before are kept.
pub fn embed(
    snapshot: &Snapshot,
    missing: &TextsWithoutVector,
    how: &Embedding<'_>,
) -> Result<Embedded, (EmbedError, Embedded)> {
    let mut done = missing.counts;
    if missing.is_empty() {
        return Ok(done);
    }
    let provider = &**how.provider;
    let writer = snapshot.vector_writer(&provider.identity(), how.force, how.patience);
    let mut writer = writer.map_err(|err| (err.into(), done))?;
    // Another process may have embedded some texts while this one waited.
    let fresh = if how.force { None } else { snapshot.vectors(&provider.identity()).ok().flatten() };
    let is_missing = |(key, _): &&(TextKey, SymbolId)| fresh.as_ref().is_none_or(|table| table.row(key).is_none());
    let texts: Vec<&(TextKey, SymbolId)> = missing.texts.iter().filter(is_missing).collect();
    done.missing = texts.len();
    let batch = how.batch.unwrap_or(usize::MAX).clamp(1, provider.batch());
    let batches = Batches { size: batch, concurrency: provider.concurrency(), until: how.until };
    let (of, mut letters) = (Some(texts.len() as u64), 0);
    let ask = |batch: &[&(TextKey, SymbolId)]| {
        let texts: Vec<String> = batch.iter().map(|(_, symbol)| text_of(snapshot, *symbol)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let letters = texts.iter().map(|text| text.len() as u64).sum::<u64>();
        Ok((letters, provider.embed(&texts, Purpose::Document, how.cancelled)?))
    };
    let failure = batches.send(&texts, ask, |batch, (n_letters, vectors)| -> Result<(), EmbedError> {
        let dimensions = vectors.first().map(Vec::len);
        let rows: Vec<(TextKey, Vec<f32>)> = batch.iter().map(|(key, _)| *key).zip(vectors).collect();
        writer.append(&rows)?;
        letters += n_letters;
        done.embedded += batch.len();
        done.missing -= batch.len();
        done.dimensions = dimensions.unwrap_or(done.dimensions);
        (how.progress)(done.embedded as u64, of, "embedding");
        Ok(())
    });
    done.tokens = letters / TOKEN;
    // An incomplete table must not replace a complete one.
    if how.force && (failure.is_some() || done.missing > 0) {
        return match failure {
            Some(err) => Err((err, done)),
            None => Ok(done),
        };
    }
    let finished = match live_keys(snapshot, &provider.identity()) {
        Some(used) => writer.compact(&|key| used.contains(key)),
        None => writer.finish(),
    };
    match (failure, finished) {
        (Some(err), _) => Err((err, done)),
        (None, Err(err)) => Err((err.into(), done)),
        (None, Ok(())) => Ok(done),
    }
}

/// Keys of the texts in use, if most stored vectors are unused.
fn live_keys(snapshot: &Snapshot, identity: &str) -> Option<HashSet<TextKey>> {
    let (table, vectors) = (texts(snapshot).ok()?, snapshot.vectors(identity).ok()??);
    let most = 2 * table.rows().len() + SPARE_ROWS;
    (vectors.len() > most).then(|| table.rows().iter().map(|row| row.key).collect())
}

fn text_of(snapshot: &Snapshot, symbol: SymbolId) -> String {
    snapshot.symbol(symbol).map(|symbol| text(&symbol)).unwrap_or_default()
}
