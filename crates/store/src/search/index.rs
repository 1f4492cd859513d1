//! Search index of symbols in tantivy: schema, queries and scores.
//!
//! Documents store nothing but the symbol's number, as a fast field; everything else is read from the pack. See
//! `benches/README.md` for the fields and their measurements.

use std::cmp::Ordering;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tantivy::columnar::Column;
use tantivy::postings::TermInfo;
use tantivy::schema::{self, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::Compressor;
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{
    DocAddress, DocId, DocSet, Index, IndexSettings, ReloadPolicy, Searcher, SegmentReader, TERMINATED,
    TantivyDocument, Term,
};

use super::analyzer::{self, Trigrams, WholeTextTokenizer, Words};
use super::learned::{self, Meaning};
use super::scoring::{self, QueryTerm, TermWeights};
use super::segments::Segments;
use super::shards::Shard;
use super::statistics::Statistics;
use crate::{Error, SymbolId};

/// A scored field of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum Field {
    /// The name, split and whole.
    Name = 0,
    /// The name as written.
    Exact = 1,
    /// The qualified name without its last part.
    Parent = 2,
    /// The signature.
    Signature = 3,
    /// The documentation's first sentence, or a summary in its place.
    Summary = 4,
    /// Decorators.
    Keywords = 5,
    /// Path, parent, documentation and the definition's own text. They share one field, because common words that
    /// happen to be rare in a separate field would outweigh everything.
    Text = 6,
    /// The name's trigrams.
    Trigrams = 7,
    /// Path and text of a whole file, in a document of its own.
    Whole = 8,
}

/// Number of the file, for deletion.
const FILE: u32 = 9;
/// The symbol's number, see [`SymbolId`]; [`SymbolId::FILE`] in the document of a whole file.
const SYMBOL: u32 = 10;
/// The first of the words of a symbol's vector, see [`learned`]; none in the document of a whole file.
const MEANING: u32 = 11;

/// Names of the fields of a vector's words.
const MEANING_WORDS: [&str; learned::WORDS] = ["meaning0", "meaning1", "meaning2", "meaning3"];

/// Text of the field `Exact` in the documents of whole files, so that they can be counted. No name is empty of letters.
const FILE_MARK: &str = "\n";

/// Properties of each field: name, tokenizer, and whether frequencies and lengths count.
const FIELDS: [(Field, &str, &str, bool); 9] = [
    (Field::Name, "name", "words", true),
    (Field::Exact, "exact", "whole", false),
    (Field::Parent, "parent", "words", true),
    (Field::Signature, "signature", "words", true),
    (Field::Summary, "summary", "words", true),
    (Field::Keywords, "keywords", "words", true),
    (Field::Text, "text", "text", true),
    (Field::Trigrams, "trigrams", "trigrams", true),
    (Field::Whole, "whole", "text", true),
];

impl Field {
    /// The field in tantivy's schema.
    pub(crate) fn tantivy(self) -> schema::Field {
        schema::Field::from_field_id(self as u32)
    }
}

pub(crate) fn tantivy_schema() -> Schema {
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
    for name in MEANING_WORDS {
        builder.add_u64_field(name, NumericOptions::default().set_fast());
    }
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

/// Published schema of the search index.
pub fn index_schema() -> Vec<FieldFacts> {
    FIELDS.into_iter().map(|(_, name, tokenizer, scored)| FieldFacts { name, tokenizer, scored }).collect()
}

pub(crate) fn tokenizers() -> TokenizerManager {
    // The default tokenizers are kept, because tantivy needs one of them for every numeric field.
    let tokenizers = TokenizerManager::default();
    tokenizers.register("words", TextAnalyzer::from(Words::default()));
    tokenizers.register("text", TextAnalyzer::from(Words::of_text()));
    tokenizers.register("trigrams", TextAnalyzer::from(Trigrams::default()));
    tokenizers.register("whole", TextAnalyzer::from(WholeTextTokenizer::default()));
    tokenizers
}

pub fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Lz4,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

/// Opens the index over its segments, or creates an empty one.
pub fn open(segments: Segments) -> Result<Index, Error> {
    let mut index = match segments.meta() {
        Some(_) => Index::open(segments)?,
        None => Index::create(segments, tantivy_schema(), settings())?,
    };
    index.set_tokenizers(tokenizers());
    Ok(index)
}

/// Creates a symbol's document without its numbers.
pub fn document(fields: &[(Field, &str)]) -> TantivyDocument {
    // A document's own default is a kilobyte, which most symbols do not fill: beside a text stand its length and its kind, and
    // after all texts its numbers and its vector.
    let room = fields.iter().map(|(_, text)| text.len() + 8).sum::<usize>() + 32 + 8 * learned::WORDS;
    let mut document = TantivyDocument::with_capacity(room);
    for (field, text) in fields {
        if !text.is_empty() {
            document.add_text(field.tantivy(), text);
        }
    }
    document
}

/// Adds the vector of a symbol to its document.
pub fn mean(document: &mut TantivyDocument, vector: [u64; learned::WORDS]) {
    for (word, field) in vector.into_iter().zip(MEANING..) {
        document.add_u64(schema::Field::from_field_id(field), word);
    }
}

/// Creates the document of a whole file without its numbers.
pub(crate) fn file_document(text: &str) -> TantivyDocument {
    document(&[(Field::Exact, FILE_MARK), (Field::Whole, text)])
}

/// Adds the numbers to a document.
pub fn number(document: &mut TantivyDocument, symbol: SymbolId) {
    document.add_u64(schema::Field::from_field_id(FILE), u64::from(symbol.file));
    document.add_u64(schema::Field::from_field_id(SYMBOL), symbol.to_u64());
}

/// Term of a file's number.
pub(crate) fn file_term(file: u32) -> Term {
    Term::from_field_u64(schema::Field::from_field_id(FILE), u64::from(file))
}

/// Text to search in a field, with its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause<'a> {
    /// Field to search.
    pub field: Field,
    /// Text to search, tokenized like the field.
    pub text: &'a str,
    /// Weight of the BM25 score.
    pub boost: f32,
    /// Whether the clause only adds to the scores of documents that other clauses match.
    pub only_helps: bool,
}

impl<'a> Clause<'a> {
    /// Creates a clause.
    pub fn new(field: Field, text: &'a str, boost: f32) -> Self {
        Self { field, text, boost, only_helps: false }
    }

    /// Terms of the clause.
    fn wanted(&self) -> impl Iterator<Item = QueryTerm> {
        let texts = match self.field {
            Field::Exact => analyzer::terms(WholeTextTokenizer::default(), self.text),
            Field::Text | Field::Whole => analyzer::terms(Words::of_text(), self.text),
            Field::Trigrams => analyzer::terms(Trigrams::default(), self.text),
            _ => analyzer::terms(Words::default(), self.text),
        };
        let (field, boost) = (self.field.tantivy(), self.boost);
        texts.into_iter().map(move |text| QueryTerm { term: Term::from_field_text(field, &text), boost })
    }
}

/// A search request.
pub struct IndexQuery<'a> {
    /// Scored clauses.
    pub clauses: &'a [Clause<'a>],
    /// Texts whose words must all occur in the definition's text.
    pub required: &'a [String],
    /// Indexes whose combined statistics weigh the terms; empty for this index alone.
    pub among: &'a [&'a Search],
}

/// Request for more than the scores of the symbols found.
pub struct Told<'a, const N: usize> {
    /// Fields of which the words held are told.
    pub fields: [Field; N],
    /// The words, each with its other stems, at most 64: one is held when any of its stems is.
    pub words: &'a [Vec<String>],
    /// The description to which symbols are near or not.
    pub meaning: Option<&'a Meaning>,
}

/// A symbol found, with what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Holding<const N: usize> {
    /// The symbol.
    pub symbol: SymbolId,
    /// The score of its terms.
    pub score: f32,
    /// The words that it holds in each field, as one bit for a word.
    pub held: [u64; N],
    /// The cosine of its vector with the description's; zero without one.
    pub near: f32,
}

/// Search index as of one generation.
#[derive(Clone)]
pub struct Search {
    searcher: Searcher,
    symbols: Vec<Column<u64>>,
    statistics: Arc<Statistics>,
    /// Its part in a search over several nodes.
    shard: Option<Arc<Shard>>,
}

/// A scored symbol; better ones sort first.
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
        // Equal scores are ordered by symbol, so that results do not depend on the segments.
        other.0.total_cmp(&self.0).then_with(|| self.1.cmp(&other.1))
    }
}

/// Buffer for the best symbols. It holds a few more than the limit, so that it rarely needs sorting.
struct Best {
    limit: usize,
    held: Vec<Scored>,
    /// Minimum score; lower ones are not among the best.
    least: f32,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self { limit, held: Vec::with_capacity(Self::most(limit)), least: 0.0 }
    }

    /// Capacity of the buffer.
    fn most(limit: usize) -> usize {
        limit + (limit / 4).max(16)
    }

    fn add(&mut self, scored: Scored) {
        self.held.push(scored);
        if self.held.len() == Self::most(self.limit) {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        if self.held.len() > self.limit {
            let (_, worst, _) = self.held.select_nth_unstable(self.limit - 1);
            self.least = worst.0;
            self.held.truncate(self.limit);
        }
    }

    /// The best symbols, unsorted.
    fn into_vec(mut self) -> Vec<Scored> {
        self.shorten();
        self.held
    }
}

impl Search {
    pub fn open(segments: Segments) -> Result<Self, Error> {
        let index = open(segments)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).num_warming_threads(0).try_into()?;
        let searcher = reader.searcher();
        let column = |segment: &tantivy::SegmentReader| segment.fast_fields().u64("symbol");
        let symbols = searcher.segment_readers().iter().map(column).collect::<Result<_, _>>()?;
        let statistics = Arc::new(Statistics::of_all(&searcher));
        Ok(Self { searcher, symbols, statistics, shard: None })
    }

    #[cfg(test)]
    pub(super) fn of(searcher: Searcher) -> Self {
        let statistics = Arc::new(Statistics::of_all(&searcher));
        Self { searcher, symbols: Vec::new(), statistics, shard: None }
    }

    /// The index with statistics of these files alone, a bit for each.
    pub fn counting(self, files: &[u64]) -> Self {
        let statistics = Arc::new(Statistics::of_files(&self.searcher, &self.symbols, files));
        Self { statistics, ..self }
    }

    /// The index as a part of a search over several nodes.
    pub fn beside_shards(self, shard: Arc<Shard>) -> Self {
        Self { shard: Some(shard), ..self }
    }

    /// Its part in a search over several nodes.
    pub(super) fn shard(&self) -> Option<&Shard> {
        self.shard.as_deref()
    }

    /// The best `limit` symbols that `keep` accepts, best first. A symbol's score is the sum over all clauses' terms.
    pub fn top(
        &self,
        asked: &IndexQuery<'_>,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32)>, Error> {
        Ok(self.best(asked, limit, keep)?.into_iter().map(|Scored(score, symbol, _)| (symbol, score)).collect())
    }

    /// Like [`Search::top`], with what tells more of each symbol.
    pub fn top_holding<const N: usize>(
        &self,
        asked: &IndexQuery<'_>,
        told: &Told<'_, N>,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<Holding<N>>, Error> {
        let best = self.best(asked, limit, keep)?;
        let mut held = vec![([0; N], 0.0); best.len()];
        // Postings are read forwards.
        let mut in_order: Vec<(DocAddress, usize)> =
            best.iter().enumerate().map(|(place, Scored(_, _, at))| (*at, place)).collect();
        in_order.sort_unstable();
        for found in in_order.chunk_by(|(a, _), (b, _)| a.segment_ord == b.segment_ord) {
            let segment = self.searcher.segment_reader(found[0].0.segment_ord);
            if let Some(meaning) = told.meaning {
                let mut columns = Vec::with_capacity(MEANING_WORDS.len());
                for name in MEANING_WORDS {
                    columns.push(segment.fast_fields().u64(name)?);
                }
                for (at, place) in found {
                    let vector = std::array::from_fn(|word| columns[word].first(at.doc_id).unwrap_or(0));
                    held[*place].1 = meaning.cosine(vector);
                }
            }
            for (field, kind) in told.fields.into_iter().enumerate() {
                let index = segment.inverted_index(kind.tantivy())?;
                for (bit, stem) in told
                    .words
                    .iter()
                    .take(64)
                    .enumerate()
                    .flat_map(|(bit, stems)| stems.iter().map(move |stem| (bit, stem)))
                {
                    let term = Term::from_field_text(kind.tantivy(), stem);
                    let postings = index.read_block_postings(&term, IndexRecordOption::Basic);
                    let Some(mut postings) = postings.map_err(tantivy::TantivyError::from)? else { continue };
                    for (at, place) in found {
                        let in_block = postings.seek(at.doc_id);
                        let holds = postings.doc(in_block) == at.doc_id;
                        held[*place].0[field] |= u64::from(holds) << bit;
                    }
                }
            }
        }
        let found = best.into_iter().zip(held);
        Ok(found.map(|(Scored(score, symbol, _), (held, near))| Holding { symbol, score, held, near }).collect())
    }

    /// The best symbols with their addresses. Required words filter first: only documents with all of them are
    /// scored.
    fn best(
        &self,
        IndexQuery { clauses, required, among }: &IndexQuery<'_>,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<Scored>, Error> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let weighted = |helps: bool| {
            let clauses = clauses.iter().filter(|clause| clause.only_helps == helps);
            TermWeights::new(clauses.flat_map(Clause::wanted), self, among)
        };
        let (bringing, helping) = (weighted(false)?, weighted(true)?);
        let required: Vec<Term> = required
            .iter()
            .flat_map(|text| analyzer::terms(Words::of_text(), text))
            .map(|text| Term::from_field_text(Field::Text.tantivy(), &text))
            .collect();
        if !required.is_empty() {
            let mut all = Vec::new();
            for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
                let docs = scoring::holding_all(segment, &required)?;
                let mut scored = docs.into_iter().map(|doc| (doc, 0.0)).collect();
                bringing.in_segment(segment, number)?.score(&mut scored);
                helping.in_segment(segment, number)?.score(&mut scored);
                all.extend(scored.into_iter().filter_map(|(doc, score)| self.scored(score, number, doc)));
            }
            // Calling `keep` reads from the pack, so it is called for the best symbols first, until there are enough.
            all.sort_unstable();
            return Ok(all.into_iter().filter(|Scored(_, symbol, _)| keep(*symbol)).take(limit).collect());
        }
        let mut best = Best::new(limit);
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let least = best.least;
            let mut offer = |doc, score| {
                if let Some(scored) = self.scored(score, number, doc)
                    && keep(scored.1)
                {
                    best.add(scored);
                }
                best.least
            };
            bringing.in_segment(segment, number)?.for_each(least, &mut offer);
        }
        let mut best = best.into_vec();
        if !helping.is_empty() {
            best.sort_unstable_by_key(|Scored(_, _, at)| *at);
            for found in best.chunk_by_mut(|a, b| a.2.segment_ord == b.2.segment_ord) {
                let number = found[0].2.segment_ord;
                let mut scored = found.iter().map(|Scored(score, _, at)| (at.doc_id, *score)).collect();
                helping.in_segment(self.searcher.segment_reader(number), number as usize)?.score(&mut scored);
                for (Scored(score, ..), (_, helped)) in found.iter_mut().zip(scored) {
                    *score = helped;
                }
            }
        }
        best.sort_unstable();
        Ok(best)
    }

    /// Scored symbol of a document.
    fn scored(&self, score: f32, segment: usize, doc: DocId) -> Option<Scored> {
        let symbol = SymbolId::from_u64(self.symbols[segment].first(doc)?);
        Some(Scored(score, symbol, DocAddress::new(segment as u32, doc)))
    }

    /// Symbols whose `Exact` field holds `term`, at most `limit`, unsorted.
    pub fn exact(
        &self,
        term: &str,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<SymbolId>, Error> {
        let found = self.exact_places(term, limit, keep)?;
        Ok(found.into_iter().map(|(symbol, _)| symbol).collect())
    }

    /// Like [`Search::exact`], with scores.
    pub fn exact_scored(
        &self,
        IndexQuery { clauses, among, .. }: &IndexQuery<'_>,
        term: &str,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32)>, Error> {
        let found = self.exact_places(term, limit, keep)?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let weighted = TermWeights::new(clauses.iter().flat_map(Clause::wanted), self, among)?;
        let mut all = Vec::with_capacity(found.len());
        for found in found.chunk_by(|(_, a), (_, b)| a.segment_ord == b.segment_ord) {
            let number = found[0].1.segment_ord;
            let mut scored = found.iter().map(|(_, at)| (at.doc_id, 0.0)).collect();
            weighted.in_segment(self.searcher.segment_reader(number), number as usize)?.score(&mut scored);
            all.extend(found.iter().zip(scored).map(|((symbol, _), (_, score))| (*symbol, score)));
        }
        Ok(all)
    }

    /// Symbols whose `Exact` field holds `term`, at most `limit`, sorted by their addresses.
    fn exact_places(
        &self,
        term: &str,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, DocAddress)>, Error> {
        self.places_of(Field::Exact, term, limit, keep)
    }

    /// Symbols whose text mentions a name, at most `limit`, sorted by their addresses.
    pub fn mentioning(
        &self,
        name: &str,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<SymbolId>, Error> {
        // The last term of an identifier is the whole identifier.
        let Some(whole) = analyzer::terms(Words::default(), name).pop() else { return Ok(Vec::new()) };
        let found = self.places_of(Field::Text, &whole, limit, keep)?;
        Ok(found.into_iter().map(|(symbol, _)| symbol).collect())
    }

    /// Symbols that hold a term in a field, at most `limit`, sorted by their addresses.
    fn places_of(
        &self,
        field: Field,
        term: &str,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, DocAddress)>, Error> {
        let term = Term::from_field_text(field.tantivy(), term);
        let mut found = Vec::new();
        for (number, (segment, symbols)) in (0..).zip(self.searcher.segment_readers().iter().zip(&self.symbols)) {
            let postings = segment.inverted_index(field.tantivy())?;
            let Some(mut postings) =
                postings.read_postings(&term, IndexRecordOption::Basic).map_err(tantivy::TantivyError::from)?
            else {
                continue;
            };
            while postings.doc() != TERMINATED && found.len() < limit {
                if let Some(symbol) = symbols.first(postings.doc()).map(SymbolId::from_u64)
                    && keep(symbol)
                {
                    found.push((symbol, DocAddress::new(number, postings.doc())));
                }
                postings.advance();
            }
        }
        Ok(found)
    }

    /// Segments of the index.
    pub(super) fn segments(&self) -> &[SegmentReader] {
        self.searcher.segment_readers()
    }

    /// Postings of a term in each segment.
    pub(super) fn infos(&self, term: &Term) -> tantivy::Result<Vec<Option<TermInfo>>> {
        let info = |segment: &SegmentReader| Ok(segment.inverted_index(term.field())?.get_term_info(term)?);
        self.segments().iter().map(info).collect()
    }

    /// Number of documents that hold a term, which has these postings.
    pub(super) fn holding(&self, term: &Term, infos: &[Option<TermInfo>]) -> Result<u64, Error> {
        self.statistics.holding(&self.searcher, term, infos)
    }

    /// Number of fields.
    pub(super) fn n_fields(&self) -> usize {
        self.searcher.schema().num_fields()
    }

    /// Number of terms in a field of all documents.
    pub(super) fn tokens(&self, field: schema::Field) -> Result<u64, Error> {
        self.statistics.tokens(&self.searcher, field)
    }

    /// Number of documents that have a field: those of whole files, or those of symbols.
    pub(super) fn having(&self, field: schema::Field) -> Result<u64, Error> {
        let mark = Term::from_field_text(Field::Exact.tantivy(), FILE_MARK);
        let files = self.holding(&mark, &self.infos(&mark)?)?;
        let is_whole = field == Field::Whole.tantivy();
        Ok(if is_whole { files } else { self.statistics.documents().saturating_sub(files) })
    }

    /// Number of symbols.
    pub fn symbols(&self) -> Result<u64, Error> {
        self.having(Field::Text.tantivy())
    }

    /// Number of documents, of symbols and of whole files.
    pub fn documents(&self) -> u64 {
        self.statistics.documents()
    }

    /// Number of documents whose text contains a term.
    fn in_text(&self, term: &str) -> Result<u64, Error> {
        let term = Term::from_field_text(Field::Text.tantivy(), term);
        self.holding(&term, &self.infos(&term)?)
    }

    /// Number of documents whose text contains a word; `None` for stop words.
    pub fn frequency(&self, word: &str) -> Result<Option<u64>, Error> {
        let Some(whole) = analyzer::terms(Words::of_text(), word).pop() else { return Ok(None) };
        Ok(Some(self.in_text(&whole)?))
    }

    /// Number of documents whose text contains a word, by its stem.
    pub fn stem_frequency(&self, stem: &str) -> Result<u64, Error> {
        self.in_text(stem)
    }

    /// Number of documents whose text contains a name.
    pub fn mentions(&self, name: &str) -> Result<u64, Error> {
        // The last term of an identifier is the whole identifier.
        let Some(whole) = analyzer::terms(Words::default(), name).pop() else { return Ok(0) };
        self.in_text(&whole)
    }
}
