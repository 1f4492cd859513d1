//! Statistics that terms are weighed by: those of one snapshot's documents. Documents that were deleted and those of
//! other snapshots stay in the index for a while, and scores must not depend on them.

use std::sync::OnceLock;

use tantivy::columnar::Column;
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, TERMINATED, Term};

use crate::store::{Error, SymbolId};

/// Statistics of the documents that count.
pub(super) struct Statistics {
    /// For each segment a bit for each document; `None` where all count.
    counted: Vec<Option<Vec<u64>>>,
    documents: u64,
    /// Terms by field, as soon as they were asked for.
    tokens: Vec<OnceLock<u64>>,
}

impl Statistics {
    /// Statistics of all documents.
    pub fn of_all(searcher: &Searcher) -> Self {
        Self::new(searcher, searcher.segment_readers().iter().map(|_| None).collect())
    }

    /// Statistics of the documents in these files, a bit for each; `symbols` has the symbol of each document.
    pub fn of_files(searcher: &Searcher, symbols: &[Column<u64>], files: &[u64]) -> Self {
        let is_in = |symbol: u64| {
            let file = SymbolId::from_u64(symbol).file as usize;
            files.get(file / 64).is_some_and(|word| word >> (file % 64) & 1 == 1)
        };
        let of_segment = |all: DocId, symbols: &Column<u64>| {
            let mut counted = vec![0_u64; (all as usize).div_ceil(64)];
            let held = (0..all).filter(|doc| symbols.first(*doc).is_some_and(is_in));
            held.for_each(|doc| counted[doc as usize / 64] |= 1 << (doc % 64));
            (count(&counted) < u64::from(all)).then_some(counted)
        };
        let segments = searcher.segment_readers().iter().zip(symbols);
        Self::new(searcher, segments.map(|(segment, symbols)| of_segment(segment.max_doc(), symbols)).collect())
    }

    fn new(searcher: &Searcher, counted: Vec<Option<Vec<u64>>>) -> Self {
        let segments = searcher.segment_readers().iter().zip(&counted);
        let documents = segments.map(|(segment, counted)| {
            counted.as_ref().map_or_else(|| u64::from(segment.max_doc()), |docs| count(docs))
        });
        let documents = documents.sum();
        let fields = searcher.schema().fields().map(|_| OnceLock::new());
        Self { documents, tokens: fields.collect(), counted }
    }

    /// Number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Number of documents that hold a term, which each segment has so many postings of.
    pub fn holding(&self, searcher: &Searcher, term: &Term, infos: &[Option<TermInfo>]) -> Result<u64, Error> {
        let mut holding = 0;
        for ((segment, counted), info) in searcher.segment_readers().iter().zip(&self.counted).zip(infos) {
            let Some(info) = info else { continue };
            let Some(counted) = counted else {
                holding += u64::from(info.doc_freq);
                continue;
            };
            let index = segment.inverted_index(term.field())?;
            let postings = index.read_postings_from_terminfo(info, IndexRecordOption::Basic);
            let mut postings = postings.map_err(tantivy::TantivyError::from)?;
            while postings.doc() != TERMINATED {
                holding += u64::from(has(counted, postings.doc()));
                postings.advance();
            }
        }
        Ok(holding)
    }

    /// Number of terms in a field, by the documents' rounded lengths: exact ones are known of whole segments only.
    pub fn tokens(&self, searcher: &Searcher, field: Field) -> Result<u64, Error> {
        let known = self.tokens.get(field.field_id() as usize);
        if let Some(tokens) = known.and_then(OnceLock::get) {
            return Ok(*tokens);
        }
        let mut tokens = 0;
        for (segment, counted) in searcher.segment_readers().iter().zip(&self.counted) {
            // A field without lengths has one term in each document.
            let lengths = segment.fieldnorms_readers().get_field(field)?;
            let length = |doc| lengths.as_ref().map_or(1, |lengths| u64::from(lengths.fieldnorm(doc)));
            let docs = (0..segment.max_doc()).filter(|doc| counted.as_ref().is_none_or(|counted| has(counted, *doc)));
            tokens += docs.map(length).sum::<u64>();
        }
        // Two threads may both count; they count the same.
        known.map(|known| known.set(tokens));
        Ok(tokens)
    }
}

fn has(docs: &[u64], doc: DocId) -> bool {
    docs.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
}

fn count(docs: &[u64]) -> u64 {
    docs.iter().map(|word| u64::from(word.count_ones())).sum()
}
