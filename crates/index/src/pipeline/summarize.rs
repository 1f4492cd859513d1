//! Summaries of a snapshot's symbols and files by a model. Symbols without documentation are sent; for a file, the
//! signatures of its definitions.
//!
//! Answers are stored as they arrive, by a key of their source. If the source changes meanwhile, the answer does no
//! harm, because the key belongs to the earlier source.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::batches::Batches;
use crate::summarize::{Item, Summarizer};
use codelode_base::model::{Kind, Progress};
use codelode_net::api::Failure;
use codelode_store::{self as store, FileView, Snapshot, SymbolId, SymbolView, TextKey};

/// Failure of a run.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] Failure),
}

/// Options of a run.
pub struct Summarizing<'a> {
    /// The model.
    pub model: &'a Summarizer,
    /// The most tokens to send, by estimate.
    pub budget: Option<u64>,
    /// Progress callback.
    pub progress: &'a Progress<'a>,
    /// Cancellation flag.
    pub cancelled: &'a Arc<AtomicBool>,
    /// The longest wait for another process that summarises the same store.
    pub patience: Duration,
}

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summarized {
    /// Symbols and files summarised by this run.
    pub summarized: usize,
    /// Symbols and files that still have no summary.
    pub pending: usize,
    /// Tokens sent and received, as counted by the service.
    pub tokens: (u64, u64),
}

/// Symbols and files without documentation and without a summary.
pub struct Unsummarized {
    /// A whole file has the index [`SymbolId::FILE`].
    symbols: Vec<(TextKey, SymbolId)>,
    /// The total characters of their code.
    pub letters: u64,
}

impl Unsummarized {
    /// Number of symbols and files.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}

/// Finds the symbols and files that need a summary.
pub fn unsummarized(snapshot: &Snapshot) -> Unsummarized {
    use rayon::prelude::*;
    let known = snapshot.summaries();
    let files: Vec<FileView<'_>> = snapshot.files().filter(|file| !file.is_generated() && !file.is_test()).collect();
    let of_file = |file: &FileView<'_>| -> Vec<(TextKey, SymbolId, u64)> {
        let whole = || (file.outline_key(), SymbolId { file: file.number(), index: SymbolId::FILE });
        let symbols = file.symbols().filter(needs_summary).map(|symbol| (symbol.source_key(), symbol.number()));
        let all = symbols.chain(file.needs_description().then(whole));
        let new = all.filter(|(key, _)| !known.is_some_and(|known| known.has(key)));
        new.map(|(key, id)| (key, id, item(snapshot, id).map_or(0, |item| item.letters()))).collect()
    };
    let mut seen = HashSet::new();
    let mut all: Vec<(TextKey, SymbolId, u64)> = files.par_iter().flat_map_iter(of_file).collect();
    all.retain(|(key, ..)| seen.insert(*key));
    let letters = all.iter().map(|(.., letters)| letters).sum();
    Unsummarized { symbols: all.into_iter().map(|(key, id, _)| (key, id)).collect(), letters }
}

/// Whether a symbol is worth a summary. Plain values, document sections and declarations explain themselves.
fn needs_summary(symbol: &SymbolView<'_>) -> bool {
    let is_code = matches!(symbol.kind(), Kind::Function | Kind::Method | Kind::Class | Kind::Type);
    is_code && symbol.doc_source().is_empty() && symbol.has_body()
}

fn item_of(symbol: &SymbolView<'_>) -> Item {
    Item::new(symbol.detail().as_str(), symbol.qualified_name(), symbol.source())
}

fn item_of_file(file: &FileView<'_>) -> Item {
    Item::new("file", file.path().to_owned(), file.outline().as_bytes())
}

fn item(snapshot: &Snapshot, id: SymbolId) -> Option<Item> {
    match id.index {
        SymbolId::FILE => snapshot.file_by_number(id.file).map(|file| item_of_file(&file)),
        _ => snapshot.symbol(id).map(|symbol| item_of(&symbol)),
    }
}

/// Summarises symbols. On failure, summaries that arrived before are kept.
pub fn summarize(
    snapshot: &Snapshot,
    wanted: &Unsummarized,
    how: &Summarizing<'_>,
) -> Result<Summarized, (SummaryError, Summarized)> {
    let mut done = Summarized { pending: wanted.len(), ..Summarized::default() };
    if wanted.is_empty() {
        return Ok(done);
    }
    let mut writer = snapshot.summary_writer(how.patience).map_err(|err| (err.into(), done))?;
    // Another process may have summarised some while this one waited.
    let known = snapshot.stored_summaries();
    let is_missing = |(key, _): &&(TextKey, SymbolId)| !known.as_ref().is_some_and(|known| known.has(key));
    let mut letters = 0;
    let within_budget = |(number, (_, symbol)): &(usize, &(TextKey, SymbolId))| {
        letters += item(snapshot, *symbol).map_or(0, |item| item.letters());
        how.budget.is_none_or(|budget| how.model.estimate(number + 1, letters).0 <= budget)
    };
    let missing: Vec<&(TextKey, SymbolId)> = wanted.symbols.iter().filter(is_missing).collect();
    done.pending = missing.len();
    let sent: Vec<_> = missing.into_iter().enumerate().take_while(within_budget).map(|(_, symbol)| symbol).collect();
    let of = Some(sent.len() as u64);
    let batches = Batches { size: how.model.batch(), concurrency: how.model.concurrency(), until: None };
    let ask = |batch: &[&(TextKey, SymbolId)]| {
        let items = batch.iter().filter_map(|(_, symbol)| item(snapshot, *symbol));
        Ok(how.model.summarize(&items.collect::<Vec<_>>(), how.cancelled)?)
    };
    let failure = batches.send(&sent, ask, |batch, answer| -> Result<(), SummaryError> {
        done.tokens.0 += answer.tokens.0;
        done.tokens.1 += answer.tokens.1;
        let named = batch.iter().zip(answer.texts).filter_map(|((key, _), text)| Some((*key, text?)));
        let rows: Vec<(TextKey, String)> = named.collect();
        writer.append(&rows)?;
        done.summarized += rows.len();
        done.pending -= rows.len();
        (how.progress)(done.summarized as u64, of, "summarising");
        Ok(())
    });
    match failure {
        Some(err) => Err((err, done)),
        None => Ok(done),
    }
}
