//! Symbols by name, words or description.

use std::collections::HashSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::brief;
use super::fields::{Facts, Fields, source_line};
use super::file_hits::{self, FoundFile};
use super::filters::{FILE, Filters};
use super::indexes::{self, Repo};
use super::meaning::Meaning;
use super::symbols::{Absence, NAMED, SCORES, absence, as_shard, ask, paths, repositories};
use super::{Call, Error, SIGNATURE, SUMMARY, Tool, ToolTier, tokens};
use crate::catalog::packages;
use codelode_query::{CENTRALITY, Confidence, Evidence, FileHit, Found, Hit, Order, Origin, Part, Search};
use codelode_store::{FileView, Snapshot, SymbolId, SymbolView};

/// Find where a function, class, method, type or constant is defined or implemented: look up a symbol, jump to its
/// definition, by name (typos too), words or a description. Prefer it to grep.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Several repositories; `*` for all.
    #[serde(default)]
    repos: Option<Vec<String>>,
    /// Installed packages instead.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    deps: bool,
    /// `save`, `Model.save`, words or a sentence; may include `kind:`, `lang:`, `file:`, `-file:`.
    query: String,
    /// function, class, method, constant, type, file, or the language's own term.
    #[serde(default)]
    kind: Option<String>,
    /// By name or alias: python, ts, c++.
    #[serde(default)]
    language: Option<String>,
    /// Glob: `src/**`.
    #[serde(default)]
    file_pattern: Option<String>,
    /// Limit of results.
    #[serde(default)]
    #[schemars(extend("default" = TEN))]
    max_results: Option<u32>,
    /// Include similar spellings.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    fuzzy: bool,
    /// Order: by relevance, centrality, or both.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    sort_by: SortBy,
    /// Search by meaning.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    semantic: bool,
    /// Weight of meaning against words, 0 to 1.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    semantic_weight: Option<f32>,
    /// By meaning alone.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    semantic_only: bool,
    /// Include the source.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    include_source: bool,
    /// Token limit for all sources.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    token_budget: Option<u64>,
    /// More fields: docstring, parent, decorators, ….
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    fields: Option<Vec<String>>,
    /// Include the parts of each score.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    explain: bool,
}

/// The hits of an answer for which no number is given; in a compact one they may be fewer.
const TEN: u32 = 10;

/// Order of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortBy {
    /// Relevance.
    #[default]
    Relevance,
    /// Centrality by use.
    Centrality,
    /// Both.
    Combined,
}

impl SortBy {
    fn order(&self) -> Order {
        match self {
            Self::Relevance => Order::Relevance,
            Self::Centrality => Order::Centrality,
            Self::Combined => Order::Combined,
        }
    }
}

/// Symbols, best first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    result_count: usize,
    /// `high`: the first has the exact name, or one of the first five fits the description; right in nine of ten
    /// cases. `medium`: one of the first five, more often than not. `low`: try other words. `none`: no match.
    confidence: &'static str,
    /// Why the confidence is what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Judged>,
    results: Vec<Item>,
    /// Query words found in no symbol.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_words: Vec<String>,
    /// Total matches; omitted when all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// Whether there may be more matches than `total`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    /// In a compact answer: omitted hits with scores far below the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    weaker: Option<usize>,
    /// In a compact answer to a description: the next best files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    further: Vec<String>,
    /// If nothing was found: the scope of the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_evidence: Option<Absence>,
}

impl Output {
    /// An answer that nothing was found.
    fn empty(evidence: Option<Judged>, unknown_words: Vec<String>, absence: Absence) -> Self {
        Self {
            result_count: 0,
            confidence: Confidence::None.as_str(),
            evidence,
            results: Vec::new(),
            unknown_words,
            total: None,
            at_least: false,
            weaker: None,
            further: Vec::new(),
            negative_evidence: Some(absence),
        }
    }
}

/// How well the first hit fits the query.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Judged {
    /// 1 for the same letters, 2 for the exact name, plus 1 for a matching owner.
    name: f64,
    /// Share of query words that the hit contains, weighted by rarity.
    covered: f64,
    /// Highest `covered` among the first three.
    best_covered: f64,
    /// Share of query words found nowhere.
    unknown: f64,
    /// Lead over the second hit, as a share of the first one's score.
    margin: f64,
    /// Lead over the tenth hit, as a share of the first one's score.
    fall: f64,
    /// Largest share of the first ten in one file.
    crowd: f64,
}

/// A matching symbol; its id is `{file}::{qualified name}#{kind}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    kind: &'static str,
    name: String,
    file: String,
    line: u32,
    /// Definition without its body, at most 200 letters, cut after an argument.
    signature: String,
    /// First sentence of the documentation, at most 120 letters, or empty.
    summary: String,
    /// Score; comparable only within one answer.
    score: u32,
    /// Repository (for several).
    #[serde(skip_serializing_if = "Option::is_none")]
    repo: Option<String>,
    /// `fuzzy` if only the spelling is similar.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fuzzy_similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edit_distance: Option<usize>,
    /// `generated` or `vendored`, if not written here.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    /// Number of overloads here; their ids end in `~1`, `~2`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    overloads: Option<usize>,
    /// In a compact answer: number of uses, if the name is unique.
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<usize>,
    /// As in get_symbol_source.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// Parts of the score, in points.
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Vec<String>>,
    #[serde(flatten)]
    facts: Facts,
}

/// See [`Args`].
pub struct SearchSymbols;

/// Letters of a file's description, before the symbols that answer.
const DESCRIBED: usize = 72;

/// The most answers of one search.
const MOST: usize = 1_000;

impl Tool for SearchSymbols {
    const NAME: &'static str = "search_symbols";
    const COMMAND: &'static str = "search";
    const POSITIONAL: &'static [&'static str] = &["query"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Lean);
    const ALWAYS_LOADED: bool = true;
    const LIST: Option<&'static str> = Some("results");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        check(&args)?;
        let fields = Fields::read(args.fields.as_deref())?.with_detail(call.compact);
        let filters =
            Filters::read(&args.query, args.kind.as_deref(), args.language.as_deref(), args.file_pattern.as_deref())?;
        let order = args.sort_by.order();
        // One more than shown, to see whether there are more; a count needs all.
        let limit = if call.count_only { MOST } else { MOST.min(args.max_results.unwrap_or(TEN) as usize) };
        let is_brief = is_brief(call, &args, &filters);
        let search = filters.search(order, if is_brief { brief::CONSIDERED } else { limit + call.offset + 1 });
        let search = Search { fuzzy: args.fuzzy, explain: args.explain, with_files: is_brief, ..search };
        let (repo, repos) = filters.repositories(args.repo.as_deref(), args.repos.as_deref())?;
        let mut repos = searched(call, args.deps, repo.as_deref(), repos.as_deref())?;
        let shard = as_shard(call, &mut repos)?;
        let tell = || shard.as_ref().map(|shard| call.note("frequencies", json!(shard.own())));
        // Rarity of words is measured over all searched repositories, so that scores are comparable.
        let snapshots: Vec<Arc<Snapshot>> = repos.iter().map(|repo| repo.snapshot.clone()).collect();
        let among: Vec<&Snapshot> = snapshots.iter().map(|snapshot| &**snapshot).collect();
        let search = Search { among: if among.len() > 1 { &among } else { &[] }, ..search };
        let by_meaning = args.semantic || args.semantic_only;
        let asks = || Meaning::of(call, &filters.text, args.semantic_weight, args.semantic_only);
        let meaning = by_meaning.then(asks).transpose()?;
        if filters.wants_files {
            let files = file_hits::found(call, &mut repos, &filters, &search, meaning.as_ref())?;
            tell();
            return Ok(whole_files(call, &repos, &filters, files, limit));
        }
        let ask = |repo: &Repo| match meaning.as_ref().map(|meaning| meaning.ask(call, repo, &search)).transpose()? {
            Some(Some(found)) => Ok(found),
            _ => ask_on(repo, &search, call.offset),
        };
        let mut answers = Vec::new();
        for repo in &mut repos {
            // Files to be shown must be those on disk.
            let about = |repo: &Repo, answer: &Found| (!answer.hits.is_empty()).then(|| paths(repo, &answer.hits));
            let answer = indexes::answered(call, repo, ask, about)?;
            answers.push(answer);
        }
        if let Some(shard) = &shard {
            shard.name(answers.iter().any(|answer| answer.is_named));
        }
        tell();
        let is_named = shard.as_ref().is_some_and(|shard| shard.is_named_elsewhere());
        let files = if let [only] = &mut answers[..] { std::mem::take(&mut only.files) } else { Vec::new() };
        let Found { hits, considered, more: at_least, is_named, confidence, evidence, unknown, places, .. } =
            Found::together(answers, order, is_named);
        let evidence = args.explain.then(|| Judged::of(&evidence));
        if let Some(files) = by_notes(call, &mut repos, &filters, places.iter().zip(&hits))? {
            return Ok(whole_files(call, &repos, &filters, files, limit));
        }
        if hits.is_empty() {
            let absence = absence(&repos, &filters, &unknown);
            return Ok(Output::empty(evidence, unknown, absence));
        }
        let total = considered.max(hits.len());
        call.total(total);
        let (places, hits) = match is_brief {
            true => brief::chosen((places, hits), &files, confidence, is_named),
            false => (places, hits),
        };
        let further = if is_brief && !is_named { further(&repos[0], &files, &hits) } else { Vec::new() };
        let limit = if is_brief { hits.len() } else { limit };
        let result_count = hits.len().saturating_sub(call.offset).min(limit);
        note_scope(call, &repos);
        if args.semantic_weight.is_some() && !by_meaning {
            call.note("hint", "`semantic_weight` has no effect without `semantic`");
        }
        let (mut sources, mut scores) = (Sources::new(call, &args), Vec::new());
        let shown = places.into_iter().zip(hits).skip(call.offset).take(limit);
        let results: Vec<Item> = shown
            .filter_map(|(place, hit)| {
                let repo = &repos[place];
                let mut item = item(repo, &hit, order, call)?;
                scores.push(hit.score.to_bits());
                item.repo = (repos.len() > 1 || repo.sidecar.package.is_some()).then(|| repo.sidecar.repo.clone());
                sources.add(repo, &hit, &mut item);
                fields.know(call, repo);
                let symbol = repo.snapshot.symbol(hit.symbol)?;
                item.facts = fields.of(&symbol);
                if is_brief {
                    item.shorten(repo, &symbol, is_named, result_count == 1);
                }
                Some(item)
            })
            .collect();
        tell_node(call, scores, is_named);
        Ok(Output {
            result_count,
            confidence: confidence.as_str(),
            evidence,
            results,
            unknown_words: unknown,
            total: at_least.then_some(total),
            at_least,
            weaker: Some(total.saturating_sub(result_count)).filter(|left| is_brief && *left > 0),
            further,
            negative_evidence: None,
        })
    }
}

/// The paths of the files that answer next to those with hits.
fn further(repo: &Repo, files: &[FileHit], hits: &[Hit]) -> Vec<String> {
    let files = brief::further(files, hits).into_iter();
    files.filter_map(|file| Some(repo.snapshot.file_by_number(file)?.path().to_owned())).collect()
}

/// Notes for another node, which puts the hits of all together.
fn tell_node(call: &Call<'_>, scores: Vec<u32>, is_named: bool) {
    if call.request.is_from_node {
        call.note(SCORES, scores);
        call.note(NAMED, is_named);
    }
}

/// Whether the answer is one for a reader who asks for no number of hits: as long as it is worth it.
fn is_brief(call: &Call<'_>, args: &Args, filters: &Filters) -> bool {
    let is_usual = args.max_results.is_none() && !args.explain && !filters.wants_files;
    call.compact && is_usual && call.offset == 0 && !call.count_only && !filters.text.trim().is_empty()
}

/// The repositories to search: installed packages, or those that are named.
fn searched(
    call: &Call<'_>,
    of_packages: bool,
    repo: Option<&str>,
    repos: Option<&[String]>,
) -> Result<Vec<Repo>, Error> {
    match (of_packages, repos) {
        (true, None) => packages::of_project(call, repo),
        (true, Some(_)) => Err(Error::invalid_arguments("`deps` searches the packages of one `repo`; omit `repos`")),
        _ => repositories(call, repo, repos),
    }
}

/// Notes what was searched, and how less would be.
fn note_scope(call: &Call<'_>, repos: &[Repo]) {
    if repos.len() > 1 {
        call.note("repos", repos.iter().map(|repo| repo.sidecar.repo.as_str()).collect::<Vec<_>>());
    }
    call.note("symbol_count", repos.iter().map(|repo| repo.snapshot.facts().symbols).sum::<u64>());
    call.narrow("add kind:, lang: or file: to the query");
}

/// The files that notes lead to, where no symbol of code answers: documents mention what is described elsewhere.
fn by_notes<'a>(
    call: &Call<'_>,
    repos: &mut [Repo],
    filters: &Filters,
    mut hits: impl Iterator<Item = (&'a usize, &'a Hit)>,
) -> Result<Option<file_hits::Files>, Error> {
    let is_document = |(place, hit): (&usize, &Hit)| {
        repos[*place].snapshot.symbol(hit.symbol).is_some_and(|symbol| symbol.file.spec().is_document)
    };
    if !filters.take_all_kinds() || filters.text.trim().is_empty() || !hits.all(is_document) {
        return Ok(None);
    }
    let mut newer = repos.to_vec();
    let files = file_hits::by_notes(call, &mut newer, filters)?;
    if files.found.is_empty() {
        // The answer is made from the snapshots that were searched, and is as fresh as they are.
        repos.iter().for_each(|repo| indexes::note(call, repo));
        return Ok(None);
    }
    repos.clone_from_slice(&newer);
    Ok(Some(files))
}

/// The files that a query names or describes, a page of them.
fn whole_files(call: &Call<'_>, repos: &[Repo], filters: &Filters, files: file_hits::Files, limit: usize) -> Output {
    let unknown_words = files.unknown;
    let (found, sure) = (files.found, files.confidence);
    call.total(found.len());
    call.narrow("add lang: or file: to the query");
    let shown = found.iter().skip(call.offset).take(limit);
    let results: Vec<Item> = shown
        .filter_map(|found| {
            let repo = &repos[found.place];
            let repo_name = (repos.len() > 1 || repo.sidecar.package.is_some()).then(|| repo.sidecar.repo.clone());
            Some(Item { repo: repo_name, ..file_item(repo.snapshot.file(&found.path)?, found) })
        })
        .collect();
    let is_empty = found.is_empty();
    Output {
        result_count: results.len(),
        confidence: sure.as_str(),
        evidence: None,
        results,
        negative_evidence: is_empty.then(|| absence(repos, filters, &unknown_words)),
        unknown_words: if is_empty { unknown_words } else { Vec::new() },
        total: None,
        at_least: false,
        weaker: None,
        further: Vec::new(),
    }
}

/// A file as a hit: its signature says what it is, its summary what it is for and which of its symbols answer.
fn file_item(file: FileView<'_>, found: &FoundFile) -> Item {
    let n_lines = file.content().split_inclusive(|byte| *byte == b'\n').count();
    let lines = if n_lines == 1 { "line" } else { "lines" };
    let says = [file.description(DESCRIBED), found.symbols.join(", ")];
    let summary = says.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(" – ");
    Item {
        id: found.path.clone(),
        kind: FILE,
        name: found.path.rsplit('/').next().unwrap_or(&found.path).to_owned(),
        file: found.path.clone(),
        line: 1,
        signature: format!("{}, {n_lines} {lines}", file.language()),
        summary: console::truncate_str(&summary, SUMMARY, "…").into_owned(),
        score: found.score,
        repo: None,
        match_type: None,
        fuzzy_similarity: None,
        edit_distance: None,
        origin: Origin::of(file).mark(),
        overloads: None,
        uses: None,
        source_line: None,
        source: None,
        explain: None,
        facts: Facts::default(),
    }
}

/// Characters of a signature and a summary in a row of a compact answer.
const BRIEF_SIGNATURE: usize = 80;
const BRIEF_SUMMARY: usize = 60;

impl Item {
    /// Makes a hit a row of a compact answer: for a description its name, for a name its signature; the only symbol of a
    /// name comes with its uses, and with its source if that is short.
    fn shorten(&mut self, repo: &Repo, symbol: &SymbolView<'_>, is_named: bool, is_only: bool) {
        if !is_named {
            self.signature.clear();
            self.summary.clear();
        } else if !is_only {
            self.signature = symbol.signature(BRIEF_SIGNATURE);
            self.summary = symbol.summary(BRIEF_SUMMARY);
        } else {
            self.uses = brief::uses(repo, symbol);
            self.source = self.source.take().or_else(|| brief::short_source(symbol));
            self.source_line = self.source.as_ref().and_then(|_| source_line(symbol));
        }
    }
}

impl Judged {
    fn of(evidence: &Evidence) -> Self {
        let Evidence { name, covered, best_covered, unknown, margin, fall, crowd, .. } = *evidence;
        Self {
            name: rounded(name),
            covered: rounded(covered),
            best_covered: rounded(best_covered),
            unknown: rounded(unknown),
            margin: rounded(margin),
            fall: rounded(fall),
            crowd: rounded(crowd),
        }
    }
}

/// Refuses an invalid request.
fn check(args: &Args) -> Result<(), Error> {
    if args.semantic_weight.is_some_and(|weight| !(0.0..=1.0).contains(&weight)) {
        return Err(Error::invalid_arguments("`semantic_weight` lies between 0 and 1"));
    }
    if args.max_results == Some(0) {
        return Err(Error::invalid_arguments("`max_results` is 0; give 1 or more, or count_only"));
    }
    Ok(())
}

/// The number of answers searched for at first, and the factor for each further stage.
const STAGE: usize = 100;
const FURTHER: usize = 10;
/// The most answers of all stages.
const FURTHEST: usize = 100_000;

/// Searches one repository for a page that begins after `offset` answers. A larger search compares more answers and
/// may order the first ones differently: so earlier answers stay in place, and new ones are added after them, with no
/// higher score than the last of these. The first thousand of a description are compared from the beginning.
fn ask_on(repo: &Repo, search: &Search<'_>, offset: usize) -> Result<Found, Error> {
    let needed = search.limit;
    let mut stage = STAGE;
    let mut found = ask(repo, &Search { limit: needed.min(stage), ..search.clone() })?;
    while found.hits.len() < needed && found.more && (offset > 0 || needed > STAGE) && stage < FURTHEST {
        stage *= FURTHER;
        let further = ask(repo, &Search { limit: stage, ..search.clone() })?;
        let seen: HashSet<SymbolId> = found.hits.iter().map(|hit| hit.symbol).collect();
        let least = found.hits.last().map_or(f32::INFINITY, |hit| hit.score);
        let more = further.hits.into_iter().filter(|hit| !seen.contains(&hit.symbol));
        found.hits.extend(more.map(|hit| Hit { score: hit.score.min(least), ..hit }));
        found.considered = further.considered.max(found.hits.len());
        found.more = further.more;
    }
    found.hits.truncate(needed);
    Ok(found)
}

fn item(repo: &Repo, hit: &Hit, order: Order, call: &Call<'_>) -> Option<Item> {
    let symbol = repo.snapshot.symbol(hit.symbol)?;
    let size = (symbol.file.content().len(), symbol.file.lines());
    call.baseline(symbol.file.path(), size, (symbol.line(), symbol.line()));
    Some(Item {
        id: symbol.id(),
        kind: symbol.kind().as_str(),
        name: symbol.name().into_owned(),
        file: symbol.file.path().to_owned(),
        line: symbol.line(),
        signature: symbol.signature(SIGNATURE),
        summary: symbol.summary(SUMMARY),
        // Decimals would cost tokens without any use.
        score: hit.score.round() as u32,
        repo: None,
        match_type: hit.fuzzy.map(|_| "fuzzy"),
        fuzzy_similarity: hit.fuzzy.map(|fuzzy| rounded(fuzzy.similarity)),
        edit_distance: hit.fuzzy.map(|fuzzy| fuzzy.distance),
        origin: Origin::of(symbol.file).mark(),
        overloads: Some(hit.overloads).filter(|count| *count > 1),
        uses: None,
        source_line: None,
        source: None,
        explain: hit.parts.as_ref().map(|parts| explained(hit, parts, order)),
        facts: Facts::default(),
    })
}

/// The parts of the shown score: by centrality, these are not the parts of the relevance.
fn explained(hit: &Hit, relevance: &[Part], order: Order) -> Vec<String> {
    let centrality = |times| Part { what: "centrality".to_owned(), times: false, value: times * hit.centrality };
    let beside_best = || {
        let value = (hit.score - CENTRALITY * hit.centrality) / hit.relevance;
        Part { what: "beside the best, of 10".to_owned(), times: true, value }
    };
    let parts = match order {
        // Without words there is no relevance.
        _ if hit.relevance == 0.0 => vec![centrality(1.0)],
        Order::Relevance => relevance.to_vec(),
        Order::Centrality => vec![centrality(1.0)],
        Order::Combined => relevance.iter().cloned().chain([beside_best(), centrality(CENTRALITY)]).collect(),
    };
    parts.iter().map(Part::to_string).collect()
}

/// A similarity, rounded to two decimals.
fn rounded(likeness: f32) -> f64 {
    (f64::from(likeness) * 100.0).round() / 100.0 + 0.0
}

/// Adds sources until the budget is spent.
struct Sources {
    left: Option<usize>,
}

impl Sources {
    fn new(call: &Call<'_>, args: &Args) -> Self {
        // Half of the answer is left to the hits themselves.
        let budget = args.token_budget.map_or(call.max_tokens / 2, |budget| budget as usize);
        Self { left: args.include_source.then_some(budget) }
    }

    fn add(&mut self, repo: &Repo, hit: &Hit, item: &mut Item) {
        let Some((left, symbol)) = self.left.zip(repo.snapshot.symbol(hit.symbol)) else { return };
        let source = symbol.shown().into_owned();
        // A large symbol does not prevent smaller ones after it from being shown.
        if let Some(left) = left.checked_sub(tokens::estimate(&source)) {
            self.left = Some(left);
            item.source_line = source_line(&symbol);
            item.source = Some(source);
        }
    }
}
