//! Statistics that terms are weighed by: those of one snapshot's documents. Documents that were deleted and those of
//! other snapshots stay in the index for a while, and scores must not depend on them.

use std::sync::OnceLock;

use tantivy::columnar::Column;
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, TERMINATED, Term};

use crate::{Error, SymbolId};

/// Documents of a segment that do not count.
struct Hidden {
    /// Ascending.
    docs: Vec<DocId>,
    /// A bit for each document of the segment.
    bits: Vec<u64>,
}

impl Hidden {
    fn has(&self, doc: DocId) -> bool {
        self.bits.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }
}

/// Statistics of the documents that count.
pub(super) struct Statistics {
    /// For each segment the documents that do not count; `None` where all count.
    hidden: Vec<Option<Hidden>>,
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
            let docs: Vec<DocId> = (0..all).filter(|doc| !symbols.first(*doc).is_some_and(is_in)).collect();
            let mut bits = vec![0_u64; (all as usize).div_ceil(64)];
            docs.iter().for_each(|doc| bits[*doc as usize / 64] |= 1 << (doc % 64));
            (!docs.is_empty()).then_some(Hidden { docs, bits })
        };
        let segments = searcher.segment_readers().iter().zip(symbols);
        Self::new(searcher, segments.map(|(segment, symbols)| of_segment(segment.max_doc(), symbols)).collect())
    }

    fn new(searcher: &Searcher, hidden: Vec<Option<Hidden>>) -> Self {
        let segments = searcher.segment_readers().iter().zip(&hidden);
        let n_hidden = |hidden: &Option<Hidden>| hidden.as_ref().map_or(0, |hidden| hidden.docs.len());
        let documents = segments.map(|(segment, hidden)| u64::from(segment.max_doc()) - n_hidden(hidden) as u64).sum();
        let fields = searcher.schema().fields().map(|_| OnceLock::new());
        Self { documents, tokens: fields.collect(), hidden }
    }

    /// Number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Number of documents that hold a term, which each segment has so many postings of.
    pub fn holding(&self, searcher: &Searcher, term: &Term, infos: &[Option<TermInfo>]) -> Result<u64, Error> {
        let mut holding = 0;
        for ((segment, hidden), info) in searcher.segment_readers().iter().zip(&self.hidden).zip(infos) {
            let Some(info) = info else { continue };
            holding += u64::from(info.doc_freq);
            let Some(hidden) = hidden else { continue };
            let index = segment.inverted_index(term.field())?;
            let postings = index.read_postings_from_terminfo(info, IndexRecordOption::Basic);
            let mut postings = postings.map_err(tantivy::TantivyError::from)?;
            holding -= n_among(&mut postings, hidden, info.doc_freq);
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
        for (segment, hidden) in searcher.segment_readers().iter().zip(&self.hidden) {
            // A field without lengths has one term in each document.
            let lengths = segment.fieldnorms_readers().get_field(field)?;
            let length = |doc| lengths.as_ref().map_or(1, |lengths| u64::from(lengths.fieldnorm(doc)));
            let docs = (0..segment.max_doc()).filter(|doc| !hidden.as_ref().is_some_and(|hidden| hidden.has(*doc)));
            tokens += docs.map(length).sum::<u64>();
        }
        // Two threads may both count; they count the same.
        known.map(|known| known.set(tokens));
        Ok(tokens)
    }
}

/// Number of hidden documents among `n` postings. After an edit some fifty are hidden, side by side, and a term may have a
/// hundred thousand postings: only those near the hidden ones are looked at.
fn n_among(postings: &mut impl DocSet, hidden: &Hidden, n: u32) -> u64 {
    let mut found = 0;
    if hidden.docs.len() > n as usize {
        while postings.doc() != TERMINATED {
            found += u64::from(hidden.has(postings.doc()));
            postings.advance();
        }
        return found;
    }
    for doc in &hidden.docs {
        // Postings can only go on.
        if postings.doc() < *doc {
            postings.seek(*doc);
        }
        found += u64::from(postings.doc() == *doc);
    }
    found
}
