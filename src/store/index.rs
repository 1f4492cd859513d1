//! Symbols as tantivy documents: the schema, and how terms find and score them.
//!
//! Nothing is stored in tantivy: a document's one fast field is the symbol's number, and everything else is read from the
//! pack. The fields and what was measured about them are in `benches/README.md`.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::Serialize;
use tantivy::columnar::Column;
use tantivy::query::{Bm25StatisticsProvider, BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::{self, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{DocAddress, DocSet, Index, ReloadPolicy, Searcher, TERMINATED, TantivyDocument, Term};

use super::analyzer::{self, Trigrams, Whole, Words};
use super::segments::Segments;
use super::{Error, SymbolId};

/// A scored field of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum Field {
    /// The name, split and whole.
    Name = 0,
    /// The name as it is written.
    Exact = 1,
    /// The qualified name without its last part.
    Parent = 2,
    /// The signature.
    Signature = 3,
    /// The documentation's first sentence, or a summary in its place.
    Summary = 4,
    /// Decorators and what providers add.
    Keywords = 5,
    /// Path, parent, documentation and the definition's own text. One field, because in fields of their own common words
    /// that happen to be rare in one of them would outweigh everything.
    Text = 6,
    /// The name's trigrams.
    Trigrams = 7,
}

/// Number of the file, for removal.
const FILE: u32 = 8;
/// The symbol's number, see [`SymbolId`].
const SYMBOL: u32 = 9;

/// What is known of a field: name, tokenizer, whether frequencies and lengths count.
const FIELDS: [(Field, &str, &str, bool); 8] = [
    (Field::Name, "name", "words", true),
    (Field::Exact, "exact", "whole", false),
    (Field::Parent, "parent", "words", true),
    (Field::Signature, "signature", "words", true),
    (Field::Summary, "summary", "words", true),
    (Field::Keywords, "keywords", "words", true),
    (Field::Text, "text", "text", true),
    (Field::Trigrams, "trigrams", "trigrams", true),
];

impl Field {
    /// The field in tantivy's schema.
    pub(super) fn tantivy(self) -> schema::Field {
        schema::Field::from_field_id(self as u32)
    }
}

fn tantivy_schema() -> Schema {
    let mut builder = Schema::builder();
    for (field, name, tokenizer, scored) in FIELDS {
        let record = if scored { IndexRecordOption::WithFreqs } else { IndexRecordOption::Basic };
        let indexing =
            TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(record).set_fieldnorms(scored);
        let added = builder.add_text_field(name, TextOptions::default().set_indexing_options(indexing));
        debug_assert_eq!(added, field.tantivy());
    }
    builder.add_u64_field("file", NumericOptions::default().set_indexed());
    builder.add_u64_field("symbol", NumericOptions::default().set_fast());
    builder.build()
}

/// A field as `schema/index.json` shows it.
#[derive(Serialize, JsonSchema)]
pub struct FieldFacts {
    /// Its name in tantivy.
    name: &'static str,
    /// How its text becomes terms.
    tokenizer: &'static str,
    /// Whether it is scored by BM25.
    scored: bool,
}

/// The promise about the search index.
pub fn index_schema() -> Vec<FieldFacts> {
    FIELDS.into_iter().map(|(_, name, tokenizer, scored)| FieldFacts { name, tokenizer, scored }).collect()
}

/// Opens tantivy over its segments; makes an empty index where there are none.
pub(super) fn open(segments: Segments) -> Result<Index, Error> {
    // The default ones come along, because tantivy asks for one of them for every numeric field.
    let tokenizers = TokenizerManager::default();
    tokenizers.register("words", TextAnalyzer::from(Words::default()));
    tokenizers.register("text", TextAnalyzer::from(Words::of_text()));
    tokenizers.register("trigrams", TextAnalyzer::from(Trigrams::default()));
    tokenizers.register("whole", TextAnalyzer::from(Whole::default()));
    let mut index = match segments.meta() {
        Some(_) => Index::open(segments)?,
        None => {
            let settings = tantivy::IndexSettings {
                docstore_compression: tantivy::store::Compressor::Lz4,
                docstore_compress_dedicated_thread: false,
                ..Default::default()
            };
            Index::create(segments, tantivy_schema(), settings)?
        }
    };
    index.set_tokenizers(tokenizers);
    Ok(index)
}

/// A symbol's document, complete but for its numbers.
pub(super) fn document(fields: &[(Field, &str)]) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    for (field, text) in fields {
        if !text.is_empty() {
            document.add_text(field.tantivy(), text);
        }
    }
    document
}

/// Gives a document its numbers.
pub(super) fn number(document: &mut TantivyDocument, symbol: SymbolId) {
    document.add_u64(schema::Field::from_field_id(FILE), u64::from(symbol.file));
    document.add_u64(schema::Field::from_field_id(SYMBOL), symbol.to_u64());
}

/// The term that stands for a file.
pub(super) fn file_term(file: u32) -> Term {
    Term::from_field_u64(schema::Field::from_field_id(FILE), u64::from(file))
}

/// Text to look for in a field, and how much a match counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause<'a> {
    /// Where.
    pub field: Field,
    /// What: it is split as the field's own text is.
    pub text: &'a str,
    /// The weight of its BM25 score.
    pub boost: f32,
}

/// From so many terms on, every document that holds one is scored: passing over those that cannot get among the best takes
/// sorting the terms at each step, which by then costs more than it saves.
const MANY_TERMS: usize = 8;

/// The search index as of one generation.
pub(super) struct Search {
    searcher: Searcher,
    symbols: Vec<Column<u64>>,
}

/// A scored symbol; the heap keeps the worst on top.
struct Scored(f32, SymbolId, DocAddress);

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scored {}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        // Equal scores are ordered by place, so that an answer does not depend on how segments happen to be cut.
        other.0.total_cmp(&self.0).then_with(|| self.1.cmp(&other.1))
    }
}

impl Search {
    pub fn open(segments: Segments) -> Result<Self, Error> {
        let index = open(segments)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).num_warming_threads(0).try_into()?;
        let searcher = reader.searcher();
        let column = |segment: &tantivy::SegmentReader| segment.fast_fields().u64("symbol");
        let symbols = searcher.segment_readers().iter().map(column).collect::<Result<_, _>>()?;
        Ok(Self { searcher, symbols })
    }

    /// The best `limit` symbols that `keep` accepts, best first. A symbol's score is the sum over all clauses' terms, whose
    /// weights are by how rare they are in all of `among`, or in this index where that names none.
    pub fn top(
        &self,
        clauses: &[Clause<'_>],
        limit: usize,
        among: &[&Self],
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32)>, Error> {
        Ok(self
            .best(clauses, limit, among, keep)?
            .into_iter()
            .map(|Scored(score, symbol, _)| (symbol, score))
            .collect())
    }

    /// The same, each with which of some words it holds in each of some fields: one bit for a word, which is held when one of
    /// its stems is.
    pub fn top_holding<const N: usize>(
        &self,
        clauses: &[Clause<'_>],
        (fields, words): ([Field; N], &[Vec<String>]),
        limit: usize,
        among: &[&Self],
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32, [u64; N])>, Error> {
        let best = self.best(clauses, limit, among, keep)?;
        let mut held = vec![[0; N]; best.len()];
        // Postings are read forwards.
        let mut in_order: Vec<(DocAddress, usize)> =
            best.iter().enumerate().map(|(place, Scored(_, _, at))| (*at, place)).collect();
        in_order.sort_unstable();
        for found in in_order.chunk_by(|(a, _), (b, _)| a.segment_ord == b.segment_ord) {
            let segment = self.searcher.segment_reader(found[0].0.segment_ord);
            for (field, kind) in fields.into_iter().enumerate() {
                let index = segment.inverted_index(kind.tantivy())?;
                for (bit, stem) in
                    words.iter().take(64).enumerate().flat_map(|(bit, stems)| stems.iter().map(move |stem| (bit, stem)))
                {
                    let term = Term::from_field_text(kind.tantivy(), stem);
                    let postings = index.read_postings(&term, IndexRecordOption::Basic);
                    let Some(mut postings) = postings.map_err(tantivy::TantivyError::from)? else { continue };
                    for (at, place) in found {
                        if postings.doc() < at.doc_id {
                            postings.seek(at.doc_id);
                        }
                        if postings.doc() == at.doc_id {
                            held[*place][field] |= 1 << bit;
                        }
                    }
                }
            }
        }
        Ok(best.into_iter().zip(held).map(|(Scored(score, symbol, _), held)| (symbol, score, held)).collect())
    }

    fn best(
        &self,
        clauses: &[Clause<'_>],
        limit: usize,
        among: &[&Self],
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<Scored>, Error> {
        let mut terms: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for clause in clauses {
            let (texts, record) = match clause.field {
                Field::Exact => (analyzer::terms(Whole::default(), clause.text), IndexRecordOption::Basic),
                Field::Text => (analyzer::terms(Words::of_text(), clause.text), IndexRecordOption::WithFreqs),
                Field::Trigrams => (analyzer::terms(Trigrams::default(), clause.text), IndexRecordOption::WithFreqs),
                _ => (analyzer::terms(Words::default(), clause.text), IndexRecordOption::WithFreqs),
            };
            for text in texts {
                let query = TermQuery::new(Term::from_field_text(clause.field.tantivy(), &text), record);
                terms.push((Occur::Should, Box::new(BoostQuery::new(Box::new(query), clause.boost))));
            }
        }
        if terms.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let many = terms.len() >= MANY_TERMS;
        let query = BooleanQuery::new(terms);
        let together = Together(among);
        let own: &dyn Bm25StatisticsProvider = &self.searcher;
        let scoring = EnableScoring::enabled_from_statistics_provider(
            if among.is_empty() { own } else { &together },
            &self.searcher,
        );
        let weight = query.weight(scoring)?;
        let mut heap: BinaryHeap<Scored> = BinaryHeap::with_capacity(limit + 1);
        for (number, (segment, symbols)) in self.searcher.segment_readers().iter().zip(&self.symbols).enumerate() {
            let threshold = |heap: &BinaryHeap<Scored>| match heap.peek() {
                Some(worst) if heap.len() == limit => worst.0,
                _ => f32::MIN,
            };
            let mut least = threshold(&heap);
            let mut offer = |doc, score| {
                if let Some(symbol) = symbols.first(doc).map(SymbolId::from_u64)
                    && keep(symbol)
                {
                    heap.push(Scored(score, symbol, DocAddress::new(number as u32, doc)));
                    if heap.len() > limit {
                        heap.pop();
                    }
                }
                threshold(&heap)
            };
            if many {
                weight.for_each(segment, &mut |doc, score| {
                    if score > least {
                        least = offer(doc, score);
                    }
                })?;
            } else {
                weight.for_each_pruning(least, segment, &mut offer)?;
            }
        }
        Ok(heap.into_sorted_vec())
    }

    /// Symbols whose `Exact` field holds `term`, at most `limit`, in no order.
    pub fn exact(
        &self,
        term: &str,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<SymbolId>, Error> {
        let term = Term::from_field_text(Field::Exact.tantivy(), term);
        let mut found = Vec::new();
        for (segment, symbols) in self.searcher.segment_readers().iter().zip(&self.symbols) {
            let postings = segment.inverted_index(Field::Exact.tantivy())?;
            let Some(mut postings) =
                postings.read_postings(&term, IndexRecordOption::Basic).map_err(tantivy::TantivyError::from)?
            else {
                continue;
            };
            while postings.doc() != TERMINATED && found.len() < limit {
                if let Some(symbol) = symbols.first(postings.doc()).map(SymbolId::from_u64)
                    && keep(symbol)
                {
                    found.push(symbol);
                }
                postings.advance();
            }
        }
        Ok(found)
    }

    /// Number of documents.
    pub fn documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Number of documents whose text holds a word; `None` for a word that every text is full of.
    pub fn frequency(&self, word: &str) -> Result<Option<u64>, Error> {
        let Some(whole) = analyzer::terms(Words::of_text(), word).pop() else { return Ok(None) };
        Ok(Some(self.searcher.doc_freq(&Term::from_field_text(Field::Text.tantivy(), &whole))?))
    }

    /// Number of documents whose text holds a name.
    pub fn mentions(&self, name: &str) -> Result<u64, Error> {
        // The last term of an identifier is the whole of it.
        let Some(whole) = analyzer::terms(Words::default(), name).pop() else { return Ok(0) };
        Ok(self.searcher.doc_freq(&Term::from_field_text(Field::Text.tantivy(), &whole))?)
    }
}

/// Several indexes as if they were one: what is rare is rare in all of them, so that their scores can be compared.
struct Together<'a>(&'a [&'a Search]);

impl Bm25StatisticsProvider for Together<'_> {
    fn total_num_tokens(&self, field: schema::Field) -> tantivy::Result<u64> {
        self.0.iter().map(|index| index.searcher.total_num_tokens(field)).sum()
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.0.iter().map(|index| index.searcher.total_num_docs()).sum()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.0.iter().map(|index| index.searcher.doc_freq(term)).sum()
    }
}
