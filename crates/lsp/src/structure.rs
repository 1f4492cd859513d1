//! Ranges by syntax: folding and growing selections. A text is parsed for them once; no index is needed beside it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams, SelectionRange, SelectionRangeParams};

use super::view::{Failure, Page, RequestView};
use codelode_base::model::Span;
use codelode_query::text::structure::{self, Constructs, Fold};
use codelode_store::FileView;

/// Most memory of the folds of all texts, in bytes: those of a thousand files.
const FOLDS: usize = 2 << 20;
/// Most memory of the constructs of all texts, in bytes: those of half a megabyte of text or a little more.
const CONSTRUCTS: usize = 4 << 20;
/// Memory of an entry beside its value, in bytes.
const ENTRY: usize = 100;

/// Folds and constructs of the texts that were asked about, so that each text is parsed once for either.
pub(super) struct Structures {
    folds: Recent<Arc<[Fold]>>,
    constructs: Recent<Arc<Constructs>>,
    /// Whether the client has asked for folds.
    are_folds_asked: AtomicBool,
}

impl Default for Structures {
    fn default() -> Self {
        let (folds, constructs) = (Recent::within(FOLDS), Recent::within(CONSTRUCTS));
        Self { folds, constructs, are_folds_asked: AtomicBool::new(false) }
    }
}

impl Structures {
    /// The folds of a file, parsed if they are not kept. Those of a request that was cancelled are not kept.
    fn folds(&self, asked: &RequestView<'_>, file: FileView<'_>) -> Arc<[Fold]> {
        let key = key(file);
        if let Some(folds) = self.folds.get(&key) {
            return folds;
        }
        let text = std::str::from_utf8(file.content()).unwrap_or_default();
        let folds: Arc<[Fold]> = structure::folds(text, file.spec(), &|| asked.is_cancelled()).into();
        if !asked.is_cancelled() {
            self.folds.keep(key, folds.clone(), size_of_val(&*folds));
        }
        folds
    }

    /// The constructs of a file, parsed if they are not kept; `None` if it cannot be parsed.
    fn constructs(&self, asked: &RequestView<'_>, file: FileView<'_>) -> Option<Arc<Constructs>> {
        let key = key(file);
        if let Some(constructs) = self.constructs.get(&key) {
            return Some(constructs);
        }
        let text = std::str::from_utf8(file.content()).unwrap_or_default();
        let constructs = Arc::new(Constructs::of(text, file.spec(), &|| asked.is_cancelled())?);
        self.constructs.keep(key, constructs.clone(), constructs.size());
        Some(constructs)
    }
}

/// A text and its language.
type Key = ([u8; 32], Option<u8>);

fn key(file: FileView<'_>) -> Key {
    (*file.hash(), file.language_number())
}

/// Values of texts, of which the most recently used are kept.
struct Recent<T> {
    values: Mutex<HashMap<Key, Kept<T>>>,
    /// Bytes that they may take together.
    most: usize,
    clock: AtomicU64,
}

struct Kept<T> {
    value: T,
    size: usize,
    used: u64,
}

impl<T: Clone> Recent<T> {
    fn within(most: usize) -> Self {
        Self { values: Mutex::default(), most, clock: AtomicU64::new(0) }
    }

    fn get(&self, key: &Key) -> Option<T> {
        let mut values = self.lock();
        let kept = values.get_mut(key)?;
        kept.used = self.now();
        Some(kept.value.clone())
    }

    /// Keeps a value of so many bytes, in place of those that were not used for longest. One that is too large for all of
    /// the memory is not kept.
    fn keep(&self, key: Key, value: T, size: usize) {
        let size = size + ENTRY;
        if size > self.most {
            return;
        }
        let mut values = self.lock();
        values.insert(key, Kept { value, size, used: self.now() });
        let mut total: usize = values.values().map(|kept| kept.size).sum();
        while total > self.most {
            let Some(oldest) = values.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| *key) else { return };
            total -= values.remove(&oldest).map_or(0, |kept| kept.size);
        }
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Kept<T>>> {
        // A panic leaves the values intact.
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn folding(
    asked: &RequestView<'_>,
    params: FoldingRangeParams,
) -> Result<Option<Vec<FoldingRange>>, Failure> {
    let structures = &asked.workspace.structures;
    structures.are_folds_asked.store(true, Ordering::Relaxed);
    asked.about_text(&params.text_document.uri, |_, file| {
        let range = |fold: &Fold| FoldingRange {
            start_line: fold.first,
            end_line: fold.last,
            kind: fold.is_comment.then_some(FoldingRangeKind::Comment),
            ..FoldingRange::default()
        };
        Ok(structures.folds(asked, file).iter().map(range).collect())
    })
}

/// Finds the folds of open documents before they are asked for again, if the client asks for folds at all, as long as `goes_on`
/// says so.
pub(super) fn fold_ahead(asked: &RequestView<'_>, goes_on: &dyn Fn() -> bool) {
    let structures = &asked.workspace.structures;
    if structures.are_folds_asked.load(Ordering::Relaxed) {
        for uri in asked.workspace.documents.uris().into_iter().take_while(|_| goes_on()) {
            let fold = |_: &Page<'_>, file: FileView<'_>| {
                structures.folds(asked, file);
                Ok(())
            };
            // A request about the document meets the same error.
            let _ = asked.about_text(&uri, fold);
        }
    }
}

/// Constructs around each position. A position in a text that cannot be parsed has an empty one.
pub(super) fn selection(
    asked: &RequestView<'_>,
    params: SelectionRangeParams,
) -> Result<Option<Vec<SelectionRange>>, Failure> {
    asked.about_text(&params.text_document.uri, |view, file| {
        let constructs = asked.workspace.structures.constructs(asked, file);
        let of_one = |position: &lsp_types::Position| {
            let byte = view.lines(file).byte(*position);
            let mut spans = constructs.as_ref().map_or_else(Vec::new, |constructs| constructs.around(byte));
            if spans.is_empty() {
                spans.push(Span::new(byte, byte));
            }
            let grow = |inside: Option<Box<SelectionRange>>, span: &Span| {
                Some(Box::new(SelectionRange { range: view.range(file, *span), parent: inside }))
            };
            let whole = spans.iter().rev().fold(None, grow);
            *whole.expect("there is at least one span")
        };
        Ok(params.positions.iter().map(of_one).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::{ENTRY, Key, Recent};

    #[test]
    fn the_values_used_last_are_kept_within_their_memory() {
        let key = |nth: u8| -> Key { ([nth; 32], Some(0)) };
        let recent = Recent::within(3 * (ENTRY + 10));
        (0..3).for_each(|nth| recent.keep(key(nth), nth, 10));
        assert_eq!(recent.get(&key(0)), Some(0));
        recent.keep(key(3), 3, 10);
        let kept: Vec<_> = (0..4).filter_map(|nth| recent.get(&key(nth))).collect();
        assert_eq!(kept, [0, 2, 3], "the second was not used for longest");
        recent.keep(key(4), 4, 10 * ENTRY);
        assert_eq!((recent.get(&key(4)), recent.get(&key(0))), (None, Some(0)), "too large for all of the memory");
        recent.keep(key(5), 5, 2 * ENTRY);
        assert_eq!(recent.lock().len(), 1);
    }
}
