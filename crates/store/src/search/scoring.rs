//! Top documents by BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework").
//!
//! A description gives dozens of terms in several fields. Posting lists are read by windows, those with the highest
//! possible gain first. Lists that together cannot lift a document into the top results are consulted only for
//! documents that other lists have found (MaxScore: Turtle and Flood 1995, "Query evaluation: strategies and
//! optimizations").

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::{self, IndexRecordOption};
use tantivy::{DocId, SegmentReader, Term};

use super::index::Search;
use crate::Error;

/// Saturation of term frequency.
const K1: f32 = 1.2;
/// Weight of document length.
const B: f32 = 0.75;
/// Documents scored at a time: their scores fit the L1 cache.
const WINDOW: usize = 4096;
/// Documents per group; groups without a sufficient score are skipped at once.
const GROUP: usize = 16;
/// Cost of seeking a document in a list, in postings read.
const SEEK: usize = 3;

/// A term to search, with its weight.
pub(crate) struct QueryTerm {
    pub term: Term,
    pub boost: f32,
}

/// Weighted terms, ready for each segment.
pub(crate) struct TermWeights {
    terms: Vec<WeightedTerm>,
    lengths: BTreeMap<schema::Field, Box<[f32; 256]>>,
}

struct WeightedTerm {
    field: schema::Field,
    /// Maximum gain of a document.
    weight: f32,
    /// Postings of the term in each segment.
    infos: Vec<Option<TermInfo>>,
}

impl TermWeights {
    /// Weighs terms by their rarity in all of `among`, or in `search` when `among` is empty. Terms missing from
    /// `search` are dropped.
    pub fn new(wanted: impl Iterator<Item = QueryTerm>, search: &Search, among: &[&Search]) -> Result<Self, Error> {
        let own = [search];
        let among = if among.is_empty() { &own[..] } else { among };
        let mut documents = BTreeMap::new();
        let mut lengths = BTreeMap::new();
        let mut terms = Vec::new();
        for QueryTerm { term, boost } in wanted {
            let field = term.field();
            let infos = search.infos(&term)?;
            let is_missing = infos.iter().all(Option::is_none);
            // Other nodes must know the numbers of a node that has none of it.
            if is_missing && search.shard().is_none() {
                continue;
            }
            let mut holding = 0;
            for one in among {
                holding += match std::ptr::eq(*one, search) {
                    true => one.holding(&term, &infos)?,
                    false => one.holding(&term, &one.infos(&term)?)?,
                };
            }
            holding += search.shard().map_or(0, |shard| shard.holding(&term, holding));
            let documents = match documents.entry(field) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => {
                    let each = among.iter().map(|one| one.having(field));
                    let own = each.sum::<Result<u64, Error>>()?;
                    let tokens = among.iter().map(|one| one.tokens(field)).sum::<Result<u64, Error>>()?;
                    let others = search.shard().map(|shard| shard.field(field.field_id(), own, tokens));
                    let (documents, more) = others.unwrap_or_default();
                    lengths.insert(field, lengths_of(tokens.saturating_add(more), own.saturating_add(documents)));
                    *unknown.insert(own.saturating_add(documents))
                }
            };
            if is_missing {
                continue;
            }
            // Numbers of other nodes may be of other states of their indexes.
            let rarity = (1.0 + (documents.saturating_sub(holding) as f32 + 0.5) / (holding as f32 + 0.5)).ln();
            terms.push(WeightedTerm { field, weight: boost * rarity * (1.0 + K1), infos });
        }
        // Sums are made in this order in every segment, so that equal documents score equally.
        terms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        Ok(Self { terms, lengths })
    }

    /// Whether no term is left.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Posting lists of one segment.
    pub fn in_segment<'a>(&'a self, segment: &'a SegmentReader, number: usize) -> Result<Lists<'a>, Error> {
        let mut fields: Vec<(schema::Field, Lengths<'a>)> = Vec::new();
        let mut lists = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let Some(info) = &term.infos[number] else { continue };
            let field = match fields.iter().position(|(field, _)| *field == term.field) {
                Some(field) => field,
                None => {
                    let of = segment.fieldnorms_readers().get_field(term.field)?;
                    let of = of.unwrap_or_else(|| FieldNormReader::constant(segment.max_doc(), 1));
                    fields.push((term.field, Lengths { of, parts: &self.lengths[&term.field] }));
                    fields.len() - 1
                }
            };
            let index = segment.inverted_index(term.field)?;
            let postings = index.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs);
            let postings = postings.map_err(tantivy::TantivyError::from)?;
            lists.push(List { postings, at: 0, weight: term.weight, field });
        }
        let mut rest = vec![0.0; lists.len() + 1];
        for (place, list) in lists.iter().enumerate().rev() {
            rest[place] = rest[place + 1] + list.weight;
        }
        let fields = fields.into_iter().map(|(_, lengths)| lengths).collect();
        Ok(Lists { segment, fields, lists, rest })
    }
}

/// Length part of the BM25 divisor, by the code of the length.
fn lengths_of(tokens: u64, documents: u64) -> Box<[f32; 256]> {
    let average = tokens as f32 / documents.max(1) as f32;
    let part = |id: usize| K1 * (1.0 - B + B * FieldNormReader::id_to_fieldnorm(id as u8) as f32 / average);
    Box::new(std::array::from_fn(part))
}

/// Document lengths in one field.
struct Lengths<'a> {
    of: FieldNormReader,
    parts: &'a [f32; 256],
}

impl Lengths<'_> {
    /// Gain of a document from a term, by its frequency.
    fn gain(&self, weight: f32, doc: DocId, often: u32) -> f32 {
        let often = often as f32;
        weight * (often / (often + self.parts[usize::from(self.of.fieldnorm_id(doc))]))
    }
}

/// Posting list of one term.
struct List {
    postings: BlockSegmentPostings,
    /// Position in the current block.
    at: usize,
    weight: f32,
    /// Index of its field's lengths.
    field: usize,
}

impl List {
    /// Adds to the scores of the documents from `start`.
    fn add(&mut self, start: DocId, scores: &mut [f32], lengths: &Lengths<'_>) {
        if self.postings.docs().get(self.at).is_some_and(|doc| *doc < start) {
            self.at = self.postings.seek(start);
        }
        loop {
            let (docs, freqs) = (self.postings.docs(), self.postings.freqs());
            for (doc, often) in docs.iter().zip(freqs).skip(self.at) {
                let Some(score) = scores.get_mut((doc - start) as usize) else { return };
                *score += lengths.gain(self.weight, *doc, *often);
                self.at += 1;
            }
            if docs.is_empty() {
                return;
            }
            self.postings.advance();
            self.at = 0;
        }
    }

    /// Gain of one document. Documents must be asked in ascending order.
    fn gain_of(&mut self, doc: DocId, lengths: &Lengths<'_>) -> f32 {
        self.at = self.postings.seek(doc);
        let holds = self.postings.doc(self.at) == doc;
        if holds { lengths.gain(self.weight, doc, self.postings.freq(self.at)) } else { 0.0 }
    }
}

/// Posting lists of a segment, highest possible gain first.
pub(crate) struct Lists<'a> {
    segment: &'a SegmentReader,
    fields: Vec<Lengths<'a>>,
    lists: Vec<List>,
    /// Maximum gain of each list and all later ones together; zero at the end.
    rest: Vec<f32>,
}

impl Lists<'_> {
    /// Offers every document with a score above `least`, in ascending order. Each offer returns the new minimum.
    pub fn for_each(mut self, mut least: f32, offer: &mut dyn FnMut(DocId, f32) -> f32) {
        let all = self.segment.max_doc();
        let mut scores = Box::new([0.0; WINDOW]);
        let mut brought: Vec<(DocId, f32)> = Vec::new();
        for start in (0..all).step_by(WINDOW) {
            // Lists whose documents may reach the top by the remaining lists alone.
            let mut leading = self.rest.partition_point(|rest| *rest > least).min(self.lists.len());
            if leading == 0 {
                return;
            }
            self.add(0..leading, start, &mut *scores);
            let missing = self.rest[leading];
            let mut best = highest_of_groups(&scores);
            let may = best.iter().filter(|best| **best + missing > least).count();
            // Seeking many documents in each list takes longer than reading the window's postings.
            let postings: u64 = self.lists[leading..].iter().map(|list| u64::from(list.postings.doc_freq())).sum();
            if may * (self.lists.len() - leading) * SEEK > (postings * WINDOW as u64 / u64::from(all)) as usize {
                self.add(leading..self.lists.len(), start, &mut *scores);
                leading = self.lists.len();
                best = highest_of_groups(&scores);
            }
            let missing = self.rest[leading];
            for (group, best) in best.into_iter().enumerate() {
                if best > 0.0 && best + missing > least {
                    let first = group * GROUP;
                    let scored = (start + first as DocId..).zip(scores[first..first + GROUP].iter().copied());
                    brought.extend(scored.filter(|(_, score)| *score > 0.0 && score + missing > least));
                }
            }
            scores.fill(0.0);
            self.complete(leading, least, &mut brought);
            for (doc, score) in brought.drain(..) {
                if score > least && self.segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                    least = offer(doc, score);
                }
            }
        }
    }

    /// Adds the scores of some documents, given in ascending order.
    pub fn score(mut self, docs: &mut Vec<(DocId, f32)>) {
        self.complete(0, f32::MIN, docs);
    }

    /// Adds the gains of some lists for all documents of a window.
    fn add(&mut self, lists: Range<usize>, start: DocId, scores: &mut [f32]) {
        for list in &mut self.lists[lists] {
            list.add(start, scores, &self.fields[list.field]);
        }
    }

    /// Adds the gains of the lists from `first` for some documents, and drops those that cannot exceed `least`.
    fn complete(&mut self, first: usize, least: f32, docs: &mut Vec<(DocId, f32)>) {
        for (list, rest) in self.lists[first..].iter_mut().zip(&self.rest[first..]) {
            docs.retain_mut(|(doc, score)| {
                let may = *score + rest > least;
                if may {
                    *score += list.gain_of(*doc, &self.fields[list.field]);
                }
                may
            });
        }
    }
}

/// Highest score of each group of a window, written for vectorization.
fn highest_of_groups(scores: &[f32; WINDOW]) -> [f32; WINDOW / GROUP] {
    let mut best = [0.0; WINDOW / GROUP];
    for (best, group) in best.iter_mut().zip(scores.chunks_exact(GROUP)) {
        let mut lanes = [0.0_f32; 4];
        for four in group.chunks_exact(4) {
            for (lane, score) in lanes.iter_mut().zip(four) {
                *lane = if *score > *lane { *score } else { *lane };
            }
        }
        *best = lanes.into_iter().fold(0.0, f32::max);
    }
    best
}

/// Documents of a segment that contain all of some terms, in ascending order.
pub(crate) fn holding_all(segment: &SegmentReader, terms: &[Term]) -> Result<Vec<DocId>, Error> {
    let mut lists = Vec::with_capacity(terms.len());
    for term in terms {
        let index = segment.inverted_index(term.field())?;
        let postings =
            index.read_block_postings(term, IndexRecordOption::Basic).map_err(tantivy::TantivyError::from)?;
        let Some(postings) = postings else { return Ok(Vec::new()) };
        lists.push(postings);
    }
    lists.sort_by_key(BlockSegmentPostings::doc_freq);
    let mut lists = lists.into_iter();
    let Some(mut rarest) = lists.next() else { return Ok(Vec::new()) };
    let mut docs = Vec::with_capacity(rarest.doc_freq() as usize);
    while !rarest.docs().is_empty() {
        docs.extend_from_slice(rarest.docs());
        rarest.advance();
    }
    if let Some(alive) = segment.alive_bitset() {
        docs.retain(|doc| alive.is_alive(*doc));
    }
    for mut list in lists {
        docs.retain(|doc| {
            let place = list.seek(*doc);
            list.doc(place) == *doc
        });
    }
    Ok(docs)
}

#[cfg(test)]
mod tests {
    use tantivy::collector::TopDocs;
    use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
    use tantivy::schema::{Schema, TEXT};
    use tantivy::{Index, Searcher, TantivyDocument};

    use super::*;

    /// Many times a window of documents, in two segments. Word `n` is in one of `n + 1`, in some of them several times.
    fn searcher() -> (Searcher, [schema::Field; 2]) {
        let mut builder = Schema::builder();
        let fields = ["name", "text"].map(|name| builder.add_text_field(name, TEXT));
        let index = Index::create_in_ram(builder.build());
        let mut writer = index.writer_with_num_threads(1, 20 << 20).expect("memory is there");
        for doc in 0..3 * WINDOW as u64 {
            let mut document = TantivyDocument::default();
            for (place, field) in (0..).zip(fields) {
                let mixed =
                    |n: u64| (doc * 2 + place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(n as u32) >> 11;
                let held = (0..40_u64).filter(|n| mixed(*n) % (n + 1) == 0);
                let words: Vec<String> =
                    held.map(|n| format!("w{n} ").repeat(1 + (mixed(n + 7) % 3) as usize)).collect();
                document.add_text(field, words.concat());
            }
            writer.add_document(document).expect("it fits");
            if doc == WINDOW as u64 + 5 {
                writer.commit().expect("memory can be written");
            }
        }
        writer.commit().expect("memory can be written");
        (index.reader().expect("it was written").searcher(), fields)
    }

    #[test]
    fn the_best_are_those_that_tantivy_finds() {
        let (searcher, [name, text]) = searcher();
        for words in [&[39][..], &[1, 38, 39], &[0, 2, 5, 20, 30, 37], &[10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 36]] {
            let terms: Vec<(Term, f32)> = words
                .iter()
                .flat_map(|n| {
                    [(name, 3.0), (text, 1.0)].map(|(f, boost)| (Term::from_field_text(f, &format!("w{n}")), boost))
                })
                .collect();
            let queries = terms.iter().map(|(term, boost)| {
                let query = TermQuery::new(term.clone(), IndexRecordOption::WithFreqs);
                (Occur::Should, Box::new(BoostQuery::new(Box::new(query), *boost)) as Box<dyn Query>)
            });
            let query = BooleanQuery::new(queries.collect());
            let expected =
                searcher.search(&query, &TopDocs::with_limit(25).order_by_score()).expect("it can be searched");

            let wanted = terms.iter().map(|(term, boost)| QueryTerm { term: term.clone(), boost: *boost });
            let weighted = TermWeights::new(wanted, &Search::of(searcher.clone()), &[]).expect("it can be read");
            let mut best: Vec<f32> = Vec::new();
            for (number, segment) in searcher.segment_readers().iter().enumerate() {
                let least = if best.len() == 25 { best[24] } else { 0.0 };
                weighted.in_segment(segment, number).expect("it can be read").for_each(least, &mut |doc, score| {
                    let mut same = vec![(doc, 0.0)];
                    weighted.in_segment(segment, number).expect("it can be read").score(&mut same);
                    assert!((same[0].1 - score).abs() < 1e-3, "{doc}: {score} and {} alone", same[0].1);
                    best.push(score);
                    best.sort_by(|a, b| b.total_cmp(a));
                    best.truncate(25);
                    if best.len() == 25 { best[24] } else { 0.0 }
                });
            }
            assert_eq!(best.len(), expected.len());
            for (ours, (theirs, _)) in best.iter().zip(expected) {
                assert!((ours - theirs).abs() < 1e-3, "{words:?}: {ours} instead of {theirs}");
            }
        }
    }

    #[test]
    fn documents_that_hold_all_terms_hold_each() {
        let (searcher, [_, text]) = searcher();
        let terms = [3, 4, 7].map(|n| Term::from_field_text(text, &format!("w{n}")));
        for segment in searcher.segment_readers() {
            let each =
                terms.iter().map(|term| holding_all(segment, std::slice::from_ref(term)).expect("it can be read"));
            let common = each.reduce(|all, one| all.into_iter().filter(|doc| one.contains(doc)).collect());
            let all = holding_all(segment, &terms).expect("it can be read");
            assert!(!all.is_empty());
            assert_eq!(Some(all), common);
        }
    }
}
