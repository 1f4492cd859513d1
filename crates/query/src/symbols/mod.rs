//! Symbol search: symbols that answer a query, best first.

mod changed;
pub(super) mod confidence;
pub(super) mod explain;
pub(super) mod files;
mod filter;
pub(super) mod form;
mod issue;
pub(super) mod lookup;
pub(super) mod meaning;
pub(super) mod origin;
pub(super) mod phrase;
pub(super) mod prominence;
pub(super) mod prose;
pub(super) mod rank;
pub(super) mod telling;
pub mod terms;
pub(super) mod told;
pub(super) mod words;

use std::cell::Cell;
use std::collections::HashSet;

use globset::GlobMatcher;
use rustc_hash::{FxHashMap, FxHashSet};

use codelode_base::model::Kind;
use codelode_lang::languages::{LanguageSpec, of_id};
use codelode_store::{Clause, Error, RankTable, Snapshot, SymbolId, SymbolView, Told, flattened};
use confidence::{Confidence, Evidence};
use explain::{Part, Tally};
use files::FileHit;
use filter::Filter;
use form::Form;
use issue::Issue;
use prominence::Prominence;
use prose::FIELDS;
use rank::{Candidate, Files, Looked, Ranker};

/// The most symbols with exactly the query's name that are looked up, and the most if the query names an owner.
const SAME_NAME: usize = 500;
const SAME_NAME_OWNED: usize = 20_000;

/// The number of hits to examine if the last [`LAST`] of a normal search all have the name in another case.
const MANY: usize = 2_000;
const LAST: usize = 5;

/// The most sections of documents and data, found by name, that are added to symbols of code.
const DOCUMENTS: usize = 10;

/// The symbols examined for a description. With 200 for titles of changes and 300 for other descriptions, recall at 10
/// was 0.5 points lower on 1,377 commits of 32 repositories, and later pages changed the order.
const DESCRIBED: usize = 1_000;
/// The symbols examined for a name, which its trigrams rank high: 60 gave the same answers.
const NAMED: usize = 100;
/// The fewest generated and vendored symbols that are examined, in addition to written ones.
const COPIES: usize = 100;

/// The answers counted beyond those shown.
const COUNTED: usize = 50;

/// The share of its score that a symbol loses if nothing uses it, but another symbol of its name is used. It exceeds
/// differences from surrounding words, and is below the factors for values and tests. Not fitted, because no benchmark
/// asks for names across languages.
const LESS_USED: f32 = 0.1;

/// Two scores with at least this ratio are a tie.
const TIE: f32 = 0.995;

/// The weight of centrality relative to ten times the relevance in [`Order::Combined`]: it only decides ties. With a
/// weight of one, descriptions lost 6 to 10 points of recall.
pub const CENTRALITY: f32 = 0.005;

/// With so many words outside phrases, a query is a description, in which phrases count but are not required.
const DESCRIPTION: usize = 5;
/// The factor for each phrase that a symbol contains, in a description.
const PHRASE: f32 = 1.5;

/// A search and its options.
#[derive(Clone)]
pub struct Search<'a> {
    /// The words. If empty, every symbol that passes the filters, the most central first if `ranks` are given.
    pub query: &'a str,
    /// Phrases that a symbol must contain; in a description they only raise its score.
    pub phrases: &'a [String],
    /// The number of words outside phrases.
    pub words: usize,
    /// Kinds to keep, in general or language-specific words; all if empty.
    pub kinds: &'a [String],
    /// The only language to search.
    pub language: Option<&'a str>,
    /// Globs that a path must match, all of them.
    pub files: &'a [GlobMatcher],
    /// Globs that no path may match.
    pub other_files: &'a [GlobMatcher],
    /// Whether names with only similar spelling count as much as words.
    pub fuzzy: bool,
    /// The order of answers.
    pub order: Order,
    /// The centrality of symbols; without it, their prominence is used. A search never takes ranks from an earlier
    /// request, so equal searches have equal answers.
    pub ranks: Option<&'a RankTable>,
    /// The most answers.
    pub limit: usize,
    /// Whether to rank files too, by symbols and text.
    pub with_files: bool,
    /// Whether each hit lists the parts of its score.
    pub explain: bool,
    /// All snapshots of a joint search, so that scores are comparable; empty for a single snapshot.
    pub among: &'a [&'a Snapshot],
}

impl<'a> Search<'a> {
    /// A search by words only.
    pub fn of(query: &'a str, limit: usize) -> Self {
        Self {
            query,
            phrases: &[],
            words: usize::MAX,
            kinds: &[],
            language: None,
            files: &[],
            other_files: &[],
            fuzzy: false,
            order: Order::Relevance,
            ranks: None,
            limit,
            with_files: false,
            explain: false,
            among: &[],
        }
    }
}

/// The order of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By relevance to the query.
    Relevance,
    /// By centrality.
    Centrality,
    /// By relevance; centrality decides between equals.
    Combined,
}

/// An answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The symbol.
    pub symbol: SymbolId,
    /// The score in the requested order. It is comparable across snapshots searched together.
    pub score: f32,
    /// The relevance, whatever the order.
    pub relevance: f32,
    /// The centrality, if requested: about 0.7 on average, never negative.
    pub centrality: f32,
    /// The number of overloads that it stands for.
    pub overloads: usize,
    /// Set if only the spelling of the name is similar.
    pub fuzzy: Option<Fuzzy>,
    /// The parts of the relevance, if requested.
    pub parts: Option<Vec<Part>>,
}

impl Hit {
    /// The score in an order, given the best answer's relevance.
    pub fn score_by(&self, order: Order, best: f32) -> f32 {
        match order {
            Order::Relevance => self.relevance,
            Order::Centrality => self.centrality,
            Order::Combined => combined(self.relevance / best.max(f32::MIN_POSITIVE), self.centrality),
        }
    }
}

/// The score in [`Order::Combined`], for a relevance relative to the best, and a centrality.
pub fn combined(relevance: f32, centrality: f32) -> f32 {
    relevance * 10.0 + CENTRALITY * centrality
}

/// The similarity of a name to the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fuzzy {
    /// Jaccard similarity of their trigrams, 0 to 1.
    pub similarity: f32,
    /// The number of edits between them.
    pub distance: usize,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// The number of answers before the limit, counted up to at least fifty.
    pub considered: usize,
    /// Whether there may be more answers than counted.
    pub more: bool,
    /// Whether a symbol has exactly the query's name; then similar names are no answers.
    pub is_named: bool,
    /// The confidence that the wanted symbol is among the first hits.
    pub confidence: Confidence,
    /// The evidence for that confidence.
    pub evidence: Evidence,
    /// The form of the query; `None` for a search by filters only.
    pub form: Option<Form>,
    /// The query's words that no symbol contains.
    pub unknown: Vec<String>,
    /// Files that answer, if requested.
    pub files: Vec<FileHit>,
    /// The index of each hit's snapshot, after [`Found::together`]; otherwise empty.
    pub places: Vec<usize>,
}

impl Found {
    /// Merges the answers of several snapshots. The best answer decides the confidence.
    /// `is_named` tells that a snapshot not among these has the query's name.
    pub fn together(answers: Vec<Self>, order: Order, is_named: bool) -> Self {
        let relevance = |answer: &Self| answer.hits.iter().map(|hit| hit.relevance).fold(0.0, f32::max);
        let best = answers.iter().map(relevance).fold(0.0, f32::max);
        let several = answers.len() > 1;
        let is_named = is_named || answers.iter().any(|answer| answer.is_named);
        let mut all = Self { is_named, ..Self::default() };
        let mut hits: Vec<(usize, Hit)> = Vec::new();
        let (mut leader, mut follower) = (None, 0.0_f32);
        for (place, answer) in answers.into_iter().enumerate() {
            let own = relevance(&answer);
            all.considered += answer.considered;
            all.more |= answer.more;
            // A word is unknown only if no snapshot has it.
            match place {
                0 => all.unknown = answer.unknown,
                _ => all.unknown.retain(|word| answer.unknown.contains(word)),
            }
            if place == 0 {
                (all.form, all.evidence) = (answer.form, answer.evidence);
            }
            if leader.is_none() && own >= best && !answer.hits.is_empty() {
                leader = Some((answer.form, answer.confidence, answer.evidence));
            } else {
                follower = follower.max(own);
            }
            let is_answer = |hit: &Hit| !is_named || hit.fuzzy.is_none();
            let rescored = answer.hits.into_iter().filter(is_answer).map(|hit| {
                let score = if several { hit.score_by(order, best) } else { hit.score };
                (place, Hit { score, ..hit })
            });
            hits.extend(rescored);
        }
        if several {
            hits.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
        }
        if let Some((form, confidence, evidence)) = leader {
            (all.form, all.confidence, all.evidence) = (form, confidence, evidence);
            if several && best > 0.0 && confidence == Confidence::High {
                let mut answers: Vec<(f32, (usize, u32))> =
                    hits.iter().map(|(place, hit)| (hit.relevance, (*place, hit.symbol.file))).collect();
                answers.sort_by(|a, b| b.0.total_cmp(&a.0));
                all.evidence.margin = evidence.margin.min(1.0 - follower / best);
                all.evidence = all.evidence.among(answers.into_iter(), false);
                all.confidence = form.map_or(confidence, |form| confidence::judged(form, &all.evidence));
            }
            let is_best = |(_, hit): &(usize, Hit)| order == Order::Relevance || hit.relevance >= best * TIE;
            if several && !hits.first().is_some_and(is_best) {
                all.confidence = all.confidence.min(Confidence::Medium);
            }
        }
        (all.places, all.hits) = hits.into_iter().unzip();
        all
    }
}

/// Searches symbols. Fails if the index cannot be read.
pub fn search(snapshot: &Snapshot, search: &Search<'_>) -> Result<Found, Error> {
    let wanted = Filter::new(snapshot, search)?;
    if search.query.trim().is_empty() {
        return browse(snapshot, search, &wanted);
    }
    let (ranker, mut hits, all_found) = ranked(snapshot, search, &wanted)?;
    let (evidence, unknown) = confidence::evidence(snapshot, &ranker, &hits, search.explain)?;
    let form = Some(ranker.form);
    let mut confidence = confidence::judged(ranker.form, &evidence);
    if search.fuzzy {
        // A fuzzy search accepts answers that are only similar.
        confidence = confidence.max(Confidence::Low);
    }
    if confidence == Confidence::None && !evidence.is_partial(ranker.form) {
        let is_sentence = wanted.is_sentence();
        if is_sentence {
            // No symbol contains the sentence, but it may still describe one.
            let found = self::search(snapshot, &Search { phrases: &[], words: usize::MAX, ..search.clone() })?;
            return Ok(Found { confidence: found.confidence.min(Confidence::Low), ..found });
        }
        let files = if search.with_files { files::files(snapshot, search, &ranker, &wanted, &[])? } else { Vec::new() };
        return Ok(Found { evidence, form, unknown, files, ..Found::default() });
    }
    let is_named = !search.fuzzy && hits.iter().any(|hit| ranker.has_name(hit));
    let is_answer = |hit: &Candidate<'_>| ranker.is_answer(hit, !is_named);
    let mut central = FxHashMap::default();
    if search.order != Order::Relevance {
        hits.retain(is_answer);
        central = by_centrality(snapshot, search, &mut hits)?;
        // The confidence belongs to the most relevant answer, which may no longer come first.
        let best = hits.iter().max_by(|a, b| a.score().total_cmp(&b.score()));
        if let (Some(first), Some(best)) = (hits.first(), best)
            && (first.flat != best.flat || ranker.form != Form::Identifier || ranker.names_owner())
            && first.score() < best.score() * TIE
        {
            confidence = confidence.min(Confidence::Medium);
        }
    }
    // Checking an answer reads its text, so only shown or counted ones are checked.
    let counted = search.limit.max(COUNTED);
    let mut seen = HashSet::new();
    let answers = hits.into_iter().filter(is_answer);
    let mut answers = answers.filter(|hit| seen.insert(overloaded(&hit.symbol))).take(counted);
    let best = answers.by_ref().take(search.limit).collect::<Vec<_>>();
    let considered = best.len() + answers.count();
    let fields =
        if search.explain { fields(snapshot, search, &ranker.clauses(), &best)? } else { FxHashMap::default() };
    let shown = best.into_iter().map(|hit| {
        let id = hit.symbol.number();
        let Tally { score: relevance, parts } = hit.tally.clone();
        let begin = fields.get(&id).cloned().unwrap_or_default();
        let (score, centrality) = central.get(&id).copied().unwrap_or((relevance, 0.0));
        Hit {
            symbol: implementation(&hit.symbol).number(),
            score,
            relevance,
            centrality,
            overloads: overloads(&hit.symbol),
            fuzzy: if is_named { None } else { likeness(&ranker, &hit, search.fuzzy) },
            parts: parts.map(|parts| begin.into_iter().chain(parts).collect()),
        }
    });
    let hits: Vec<Hit> = shown.collect();
    if hits.is_empty() {
        confidence = Confidence::None;
    }
    let more = !all_found || considered == counted;
    let files = if search.with_files { files::files(snapshot, search, &ranker, &wanted, &hits)? } else { Vec::new() };
    Ok(Found { hits, considered, more, is_named, confidence, evidence, form, unknown, files, places: Vec::new() })
}

/// The language of more than half of the code files, if there is one.
fn main_language(snapshot: &Snapshot) -> Option<&'static LanguageSpec> {
    let specs = snapshot.facts().languages.iter().filter_map(|(id, files)| Some((of_id(id)?.1, *files)));
    let code: Vec<(&'static LanguageSpec, u64)> = specs.filter(|(spec, _)| !spec.is_document).collect();
    let all: u64 = code.iter().map(|(_, files)| files).sum();
    code.into_iter().find(|(_, files)| *files > all / 2).map(|(spec, _)| spec)
}

/// Analyses the query. A `form` from an earlier search of the same query is kept.
fn ranker(snapshot: &Snapshot, search: &Search<'_>, form: Option<Form>) -> Result<Ranker, Error> {
    let ranker = match Issue::read(search.query) {
        Some(issue) => {
            let words = issue.telling(snapshot)?;
            Ranker::about(issue, words, search.fuzzy)
        }
        None => Ranker::new(search.query, main_language(snapshot), search.fuzzy),
    };
    let ranker = match form {
        Some(form) if form.is_prose() && ranker.may_describe() => {
            Ranker::describing(search.query, main_language(snapshot), search.fuzzy)
        }
        _ => ranker,
    };
    Ok(ranker.explaining(search.explain))
}

/// Candidates, best first, with the analysed query, and whether these are all.
fn ranked<'s>(
    snapshot: &'s Snapshot,
    search: &Search<'_>,
    wanted: &Filter<'_>,
) -> Result<(Ranker, Vec<Candidate<'s>>, bool), Error> {
    let mut ranker = ranker(snapshot, search, None)?;
    let mut files = Files::default();
    let (mut found, mut all_found) = first_look(snapshot, search, &ranker, wanted, &files)?;
    if ranker.may_describe() {
        let mut names = found.iter().filter_map(|looked| Some(snapshot.symbol(looked.symbol)?.name()));
        if !names.any(|name| ranker.is_in_name(&name)) {
            ranker = Ranker::describing(search.query, main_language(snapshot), search.fuzzy).explaining(search.explain);
            (found, all_found) = first_look(snapshot, search, &ranker, wanted, &files)?;
        }
    }
    found.extend(of_exactly_this_name(snapshot, search, &ranker, wanted, &found)?);
    // Neighbouring symbols are read together.
    found.sort_unstable_by_key(|looked| looked.symbol);
    let symbols = found.into_iter().filter_map(|looked| Some((snapshot.symbol(looked.symbol)?, looked)));
    let mut hits: Vec<Candidate<'_>> =
        symbols.map(|(symbol, looked)| ranker.candidate(symbol, &looked, &mut files)).collect();
    if wanted.describes {
        for hit in &mut hits {
            let written = wanted.phrases.iter().filter(|phrase| phrase.is_written(&hit.symbol)).count();
            hit.tally.times("phrase", PHRASE.powi(written as i32));
        }
    }
    if ranker.form.is_of_code() {
        rank::lower_repeated_names(&mut hits);
    }
    if !ranker.form.is_prose() {
        lower_less_used(snapshot, &ranker, &mut hits)?;
    }
    hits.sort_by(by_relevance);
    if ranker.form.is_prose() {
        rank::share_within_files(&mut hits, ranker.form);
        hits.sort_by(by_relevance);
        if let Some(words) = ranker.change() {
            changed::reorder(snapshot, words, &mut hits)?;
        }
    } else {
        break_ties(snapshot, &ranker, &mut hits)?;
    }
    Ok((ranker, hits, all_found))
}

/// Sorts by relevance, then by place, so the order is deterministic.
fn by_relevance(a: &Candidate<'_>, b: &Candidate<'_>) -> std::cmp::Ordering {
    b.score()
        .total_cmp(&a.score())
        .then_with(|| a.symbol.file.path().cmp(b.symbol.file.path()))
        .then_with(|| a.symbol.number().cmp(&b.symbol.number()))
}

/// Lowers symbols of the query's name that code uses less than others of that name: style sheet selectors and interface
/// messages, which code only quotes. Within one language nothing changes.
fn lower_less_used(snapshot: &Snapshot, ranker: &Ranker, hits: &mut [Candidate<'_>]) -> Result<(), Error> {
    let mut bearers: Vec<&mut Candidate<'_>> = hits.iter_mut().filter(|hit| ranker.tier(hit) >= rank::TIER).collect();
    let languages: Vec<&LanguageSpec> = bearers.iter().map(|hit| hit.symbol.file.spec()).collect();
    if languages.windows(2).all(|pair| pair[0].is_kin(pair[1])) {
        return Ok(());
    }
    let mut prominence = Prominence::new(snapshot);
    let mut used = Vec::with_capacity(bearers.len());
    for hit in &bearers {
        used.push(prominence.of_users(&hit.symbol)?);
    }
    let most = used.iter().copied().fold(0.0, f32::max);
    for (hit, used) in bearers.iter_mut().zip(used).filter(|_| most > 0.0) {
        hit.tally.times("used less than others of its name", 1.0 - LESS_USED * (1.0 - used / most));
    }
    Ok(())
}

/// Puts the more prominent of several equally good names first. So small a difference in score comes from the length of
/// the surrounding text.
fn break_ties(snapshot: &Snapshot, ranker: &Ranker, hits: &mut [Candidate<'_>]) -> Result<(), Error> {
    let is_tie = |a: &Candidate<'_>, b: &Candidate<'_>| a.score() >= rank::TIER && b.score() > a.score() * TIE;
    let mut prominence = Prominence::new(snapshot);
    for ties in hits.chunk_by_mut(is_tie).filter(|ties| ties.len() > 1) {
        let mut standings: FxHashMap<SymbolId, f32> = FxHashMap::default();
        for hit in ties.iter() {
            standings.insert(hit.symbol.number(), prominence.among_bearers(&hit.symbol, ranker.names_owner())?);
        }
        let standing = |hit: &Candidate<'_>| standings[&hit.symbol.number()];
        // Scores must not increase, so the scores of a tie are assigned anew. Symbols that moved up list this as a
        // part.
        let scores: Vec<f32> = ties.iter().map(Candidate::score).collect();
        ties.sort_by(|a, b| standing(b).total_cmp(&standing(a)).then_with(|| by_relevance(a, b)));
        for (hit, score) in ties.iter_mut().zip(scores) {
            let difference = score - hit.score();
            hit.tally.add("more prominent than others as good", difference);
        }
    }
    Ok(())
}

/// Lists everything that passes the filters, the most central first if ranks are given, else by path and place.
fn browse(snapshot: &Snapshot, search: &Search<'_>, wanted: &Filter<'_>) -> Result<Found, Error> {
    let share = |symbol: &SymbolView<'_>| search.ranks.map_or(0.0, |ranks| by_rank(ranks, symbol.number()));
    let mut all: Vec<(f32, SymbolView<'_>)> = snapshot
        .files()
        .filter(|file| wanted.accepts_file(file.number()))
        .flat_map(|file| file.symbols())
        .filter(|symbol| wanted.accepts(symbol.number()))
        .map(|symbol| (share(&symbol), symbol))
        .collect();
    // Files are sorted by path, and symbols by place, so a stable sort keeps that order.
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut seen = HashSet::new();
    all.retain(|(_, symbol)| seen.insert(overloaded(symbol)));
    let considered = all.len();
    let hits: Vec<Hit> = all
        .into_iter()
        .take(search.limit)
        .map(|(centrality, symbol)| Hit {
            symbol: symbol.number(),
            score: centrality,
            relevance: 0.0,
            centrality,
            overloads: overloads(&symbol),
            fuzzy: None,
            parts: search.explain.then(Vec::new),
        })
        .collect();
    let confidence = if hits.is_empty() { Confidence::None } else { Confidence::High };
    Ok(Found { hits, considered, confidence, ..Found::default() })
}

/// The key that a symbol shares with its overloads only.
fn overloaded(symbol: &SymbolView<'_>) -> (SymbolId, Option<(String, Kind)>) {
    let id = symbol.number();
    match symbol.overload() {
        0 => (id, None),
        _ => (SymbolId { index: 0, ..id }, Some((symbol.qualified_name(), symbol.kind()))),
    }
}

/// All overloads of a symbol, itself included.
fn overloads_of<'a>(symbol: &SymbolView<'a>) -> impl Iterator<Item = SymbolView<'a>> + use<'a> {
    let (own, name) = (overloaded(symbol), symbol.name_bytes());
    symbol.file.symbols().filter(move |other| other.name_bytes() == name && overloaded(other) == own)
}

/// The number of a symbol's overloads.
fn overloads(symbol: &SymbolView<'_>) -> usize {
    if symbol.overload() == 0 { 1 } else { overloads_of(symbol).count() }
}

/// The symbol shown for a group of overloads: itself if it has a body, else the first one that has.
fn implementation<'a>(symbol: &SymbolView<'a>) -> SymbolView<'a> {
    match symbol.overload() > 0 && !symbol.has_body() {
        true => overloads_of(symbol).find(SymbolView::has_body).unwrap_or(*symbol),
        false => *symbol,
    }
}

/// The contribution of each search field to the scores of hits.
fn fields(
    snapshot: &Snapshot,
    search: &Search<'_>,
    clauses: &[Clause<'_>],
    hits: &[Candidate<'_>],
) -> Result<FxHashMap<SymbolId, Vec<Part>>, Error> {
    let shown: HashSet<SymbolId> = hits.iter().map(|hit| hit.symbol.number()).collect();
    let mut fields: FxHashMap<SymbolId, Vec<Part>> = FxHashMap::default();
    for clause in clauses {
        let one = [Clause { only_helps: false, ..clause.clone() }];
        for (id, value) in snapshot.search_among(search.among, &one, shown.len(), &mut |id| shown.contains(&id))? {
            let what = format!("{:?}", clause.field).to_lowercase();
            fields.entry(id).or_default().push(Part { what, times: false, value });
        }
    }
    Ok(fields)
}

/// Symbols found by the index, and whether these are all.
type FirstLook = (Vec<Looked>, bool);

/// Finds the symbols to examine closely.
fn first_look(
    snapshot: &Snapshot,
    search: &Search<'_>,
    ranker: &Ranker,
    wanted: &Filter<'_>,
    files: &Files,
) -> Result<FirstLook, Error> {
    // Phrases are checked later, by reading the text.
    let looked_at = if ranker.form.is_prose() && wanted.may_hold.is_none() { DESCRIBED } else { NAMED };
    let most = looked_at.max(search.limit);
    let told = Told { fields: FIELDS, words: ranker.telling(), meaning: ranker.meaning() };
    let clauses = ranker.clauses();
    let required = if wanted.describes { &[] } else { search.phrases };
    let has_copies = Cell::new(false);
    let is_copy = |id: SymbolId| snapshot.file_by_number(id.file).is_some_and(|file| files.is_copy(file));
    let look = |most| {
        let mut keep = |id| {
            let is_code = wanted.accepts(id) && !wanted.sets_aside(id);
            let is_copy = is_code && is_copy(id);
            has_copies.set(has_copies.get() || is_copy);
            is_code && !is_copy
        };
        snapshot.search_holding(search.among, &clauses, required, &told, most, &mut keep)
    };
    let (mut most, mut found) = (most, look(most)?);
    // If many symbols share the name, only a closer look finds the wanted one.
    let is_same = |id| snapshot.symbol(id).is_some_and(|symbol| ranker.is_in_other_letters(&symbol));
    if found.len() == most && most < MANY && found[most - most.min(LAST)..].iter().all(|found| is_same(found.symbol)) {
        most = MANY;
        found = look(most)?;
    }
    if has_copies.get() {
        let mut keep = |id| wanted.accepts(id) && !wanted.sets_aside(id) && is_copy(id);
        let copies = COPIES.max(most - found.len());
        found.extend(snapshot.search_holding(search.among, &clauses, required, &told, copies, &mut keep)?);
    }
    let all_found = found.len() < most;
    if wanted.has_documents {
        let mut keep = |id| wanted.sets_aside(id) && wanted.accepts(id);
        let clauses = [ranker.name_clause()];
        found.extend(snapshot.search_holding(search.among, &clauses, required, &told, DOCUMENTS, &mut keep)?);
    }
    if required.is_empty() {
        told::add(snapshot, ranker, &mut |id| wanted.accepts(id) && !wanted.sets_aside(id), &mut found);
    }
    Ok((found, all_found))
}

/// Symbols of exactly the query's name, or of a member that a few words may name, that the index search did not return.
/// Among many equal names, the one with the right owner may rank low.
fn of_exactly_this_name(
    snapshot: &Snapshot,
    search: &Search<'_>,
    ranker: &Ranker,
    wanted: &Filter<'_>,
    found: &[Looked],
) -> Result<Vec<Looked>, Error> {
    let names = ranker.exact_names();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let known: FxHashSet<SymbolId> = found.iter().map(|looked| looked.symbol).collect();
    let (most, clauses) = (if ranker.names_owner() { SAME_NAME_OWNED } else { SAME_NAME }, ranker.clauses());
    let mut more = Vec::new();
    for name in names {
        let mut keep = |id| {
            let is_meant = || snapshot.symbol(id).is_some_and(|symbol| ranker.is_meant(&symbol));
            !known.contains(&id) && wanted.accepts(id) && is_meant()
        };
        let scored = snapshot.exact_scored(search.among, &clauses, &name, most, &mut keep)?;
        more.extend(scored.into_iter().map(|(symbol, score)| Looked {
            symbol,
            score,
            held: Default::default(),
            near: 0.0,
        }));
    }
    Ok(more)
}

/// The similarity of a symbol's name, unless it contains the query.
fn likeness(ranker: &Ranker, hit: &Candidate<'_>, wanted: bool) -> Option<Fuzzy> {
    let asked = flattened(ranker.exact_name()?);
    if hit.flat.contains(&asked) {
        return None;
    }
    let similarity = ranker.similarity(&hit.flat);
    (wanted || similarity > 0.3 || ranker.slip(&hit.flat) > 0.0)
        .then(|| Fuzzy { similarity, distance: ranker.distance(&hit.name) })
}

/// The centrality of a symbol; 0.7 on average.
fn by_rank(ranks: &RankTable, symbol: SymbolId) -> f32 {
    (1.0 + ranks.of(symbol).map_or(0.0, |rank| rank.score * ranks.len() as f32)).ln()
}

/// Sorts hits by centrality. Returns each one's score in that order, and its centrality.
fn by_centrality(
    snapshot: &Snapshot,
    search: &Search<'_>,
    hits: &mut [Candidate<'_>],
) -> Result<FxHashMap<SymbolId, (f32, f32)>, Error> {
    let best = hits.iter().map(Candidate::score).fold(f32::MIN_POSITIVE, f32::max);
    let mut prominence = Prominence::new(snapshot);
    let mut scores: FxHashMap<SymbolId, (f32, f32)> = FxHashMap::default();
    for hit in hits.iter() {
        let id = hit.symbol.number();
        let centrality = match search.ranks {
            Some(ranks) => by_rank(ranks, id),
            None => prominence.of_name(&hit.name)?,
        };
        let score = match search.order {
            Order::Combined => combined(hit.score() / best, centrality),
            _ => centrality,
        };
        scores.insert(id, (score, centrality));
    }
    let score = |hit: &Candidate<'_>| scores.get(&hit.symbol.number()).map_or(0.0, |(score, _)| *score);
    hits.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| by_relevance(a, b)));
    Ok(scores)
}
