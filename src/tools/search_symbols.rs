//! Symbols by name, words or description.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{Facts, Fields, source_line};
use super::file_hits::{self, FoundFile};
use super::filters::{FILE, Filters};
use super::indexes::{self, Repo};
use super::meaning::Meaning;
use super::{Call, Code, Error, SIGNATURE, SUMMARY, Shown, Tool, related, tokens};
use crate::catalog::packages;
use crate::languages;
use crate::query::{self, CENTRALITY, Confidence, Evidence, Found, Hit, Order, Part, Search};
use crate::store::{FileView, Snapshot, SymbolId};

/// Find the definition of a function, class, method, type or constant: look up a symbol by name (typos too), words or
/// a description. Prefer it to grep for where something is defined.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: the current one).
    #[serde(default)]
    repo: Option<String>,
    /// Several; `*` for all.
    #[serde(default)]
    repos: Option<Vec<String>>,
    /// Instead: installed packages it imports.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    deps: bool,
    /// `save`, `Model.save`, words, a sentence; may hold `kind:`, `lang:`, `file:`, `-file:`.
    query: String,
    /// function, class, method, constant, type, file, or the language's own word.
    #[serde(default)]
    kind: Option<String>,
    /// By name or alias: python, ts, c++.
    #[serde(default)]
    language: Option<String>,
    /// Glob of paths: `src/**/*.py`.
    #[serde(default)]
    file_pattern: Option<String>,
    /// At most this many.
    #[serde(default = "ten")]
    max_results: u32,
    /// Names spelt alike count as well.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    fuzzy: bool,
    /// What decides: how well they answer, how central they are, or both.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    sort_by: SortBy,
    /// Search by meaning, where an embedding provider is set up.
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
    /// With each symbol's source.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    include_source: bool,
    /// Tokens for all sources together.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    token_budget: Option<u64>,
    /// Further: docstring, parent, decorators, ….
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    fields: Option<Vec<String>>,
    /// With the parts of each score.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    explain: bool,
}

fn ten() -> u32 {
    10
}

/// What decides between symbols that answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortBy {
    /// How well they answer.
    #[default]
    Relevance,
    /// How central they are among who uses whom.
    Centrality,
    /// Both.
    Combined,
}

/// Symbols, best first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    result_count: usize,
    /// `high`: the first is the name that was asked for, or one of the first five is described; right nine times in
    /// ten. `low`: it may be any of them, or other words may find it. `none`: nothing answers.
    confidence: &'static str,
    /// What that is judged by.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Judged>,
    results: Vec<Item>,
    /// Words of the query that no symbol holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_words: Vec<String>,
    /// How many there are, where that is not said by their being all here.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// There may be more than `total` says: they were not counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    /// Nothing was found: where it was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_evidence: Option<Absence>,
}

/// What speaks for the first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Judged {
    /// 1 for a name of the same letters, 2 for one as it is written, 1 more for its owner.
    name: f64,
    /// The share of the query's words that it holds, the rarer weighing more.
    covered: f64,
    /// The most that one of the first three holds.
    best_covered: f64,
    /// The share of its words that nothing holds.
    unknown: f64,
    /// How far it is above the next, as a share of its score.
    margin: f64,
    /// How far it is above the tenth.
    fall: f64,
    /// The largest share of the first ten that is in one file.
    crowd: f64,
}

/// A symbol that answers; its id is `{file}::{qualified name}#{kind}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    kind: &'static str,
    name: String,
    file: String,
    line: u32,
    /// The definition without its body, at most 200 letters, cut after an argument.
    signature: String,
    /// The documentation's first sentence, at most 120 letters; empty without documentation.
    summary: String,
    /// Comparable within an answer.
    score: u32,
    /// Which repository, when several were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    repo: Option<String>,
    /// `fuzzy` when only the spelling is alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fuzzy_similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edit_distance: Option<usize>,
    /// How many of the same name stand here: ids that end in `~1`, `~2`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    overloads: Option<usize>,
    /// As in get_symbol_source.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The parts of the score, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Vec<String>>,
    #[serde(flatten)]
    facts: Facts,
}

/// What was looked through when nothing was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Absence {
    verdict: &'static str,
    scanned_symbols: u64,
    scanned_files: u64,
    /// Files that are not indexed, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, u64>,
    /// Files in programming languages whose symbols are not known, by language; search_text finds text in them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    no_symbols_for: BTreeMap<String, u64>,
    /// The names that come nearest, whatever the filters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<String>,
    /// How to ask.
    ask: String,
}

/// See [`Args`].
pub struct SearchSymbols;

/// The most answers of one search.
const MOST: usize = 1_000;

impl Tool for SearchSymbols {
    const NAME: &'static str = "search_symbols";
    const COMMAND: &'static str = "search";
    const POSITIONAL: &'static [&'static str] = &["query"];
    const SHOWN: Option<Shown> = Some(Shown::Lean);
    const LIST: Option<&'static str> = Some("results");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        check(&args)?;
        let fields = Fields::read(args.fields.as_deref())?;
        let filters =
            Filters::read(&args.query, args.kind.as_deref(), args.language.as_deref(), args.file_pattern.as_deref())?;
        let limit = (args.max_results as usize).min(MOST);
        let order = match args.sort_by {
            SortBy::Relevance => Order::Relevance,
            SortBy::Centrality => Order::Centrality,
            SortBy::Combined => Order::Combined,
        };
        // One more than shown, to see whether there are more; a count needs all.
        let limit = if call.count_only { MOST } else { limit };
        let search = filters.search(order, limit + call.offset + 1);
        let search = Search { fuzzy: args.fuzzy, explain: args.explain, ..search };
        let (repo, repos) = filters.repositories(args.repo.as_deref(), args.repos.as_deref())?;
        let mut repos = match (args.deps, &repos) {
            (true, None) => packages::of_project(call, repo.as_deref())?,
            (true, Some(_)) => {
                return Err(Error::new(Code::InvalidArguments, "`deps` are those of one `repo`; give no `repos`"));
            }
            _ => repositories(call, repo.as_deref(), repos.as_deref())?,
        };
        // Rarity of words is measured over all searched repositories, so that scores are comparable.
        let snapshots: Vec<Arc<Snapshot>> = repos.iter().map(|repo| repo.snapshot.clone()).collect();
        let among: Vec<&Snapshot> = snapshots.iter().map(|snapshot| &**snapshot).collect();
        let search = Search { among: if among.len() > 1 { &among } else { &[] }, ..search };
        if filters.wants_files {
            return whole_files(call, &mut repos, &filters, &search, limit);
        }
        let by_meaning = args.semantic || args.semantic_only;
        let asks = || Meaning::of(call, &filters.text, args.semantic_weight, args.semantic_only);
        let meaning = by_meaning.then(asks).transpose()?;
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
        let Found { hits, considered, more: at_least, confidence, evidence, unknown, places, .. } =
            Found::together(answers, order);
        let result_count = hits.len().saturating_sub(call.offset).min(limit);
        let evidence = args.explain.then(|| Judged::of(&evidence));
        if hits.is_empty() {
            let negative_evidence = Some(absence(&repos, &filters, &unknown));
            return Ok(Output {
                result_count: 0,
                confidence: Confidence::None.as_str(),
                evidence,
                results: Vec::new(),
                unknown_words: unknown,
                total: None,
                at_least: false,
                negative_evidence,
            });
        }
        let total = considered.max(hits.len());
        call.total(total);
        if repos.len() > 1 {
            call.note("repos", repos.iter().map(|repo| repo.sidecar.repo.as_str()).collect::<Vec<_>>());
        }
        call.note("symbol_count", repos.iter().map(|repo| repo.snapshot.facts().symbols).sum::<u64>());
        call.narrow("add kind:, lang: or file: to the query");
        if args.semantic_weight.is_some() && !by_meaning {
            call.note("hint", "`semantic_weight` has no effect without `semantic`");
        }
        let mut sources = Sources::new(call, &args);
        let shown = places.into_iter().zip(hits).skip(call.offset).take(limit);
        let results: Vec<Item> = shown
            .filter_map(|(place, hit)| {
                let repo = &repos[place];
                let mut item = item(repo, &hit, order, call)?;
                item.repo = (repos.len() > 1 || repo.sidecar.package.is_some()).then(|| repo.sidecar.repo.clone());
                sources.add(repo, &hit, &mut item);
                fields.know(call, repo);
                item.facts = repo.snapshot.symbol(hit.symbol).map(|symbol| fields.of(&symbol)).unwrap_or_default();
                Some(item)
            })
            .collect();
        Ok(Output {
            result_count,
            confidence: confidence.as_str(),
            evidence,
            results,
            unknown_words: unknown,
            total: at_least.then_some(total),
            at_least,
            negative_evidence: None,
        })
    }
}

/// The files that a query names or describes, a page of them.
fn whole_files(
    call: &Call<'_>,
    repos: &mut [Repo],
    filters: &Filters,
    search: &Search<'_>,
    limit: usize,
) -> Result<Output, Error> {
    let files = file_hits::found(call, repos, filters, search)?;
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
    Ok(Output {
        result_count: results.len(),
        confidence: sure.as_str(),
        evidence: None,
        results,
        negative_evidence: is_empty.then(|| absence(repos, filters, &unknown_words)),
        unknown_words: if is_empty { unknown_words } else { Vec::new() },
        total: None,
        at_least: false,
    })
}

/// A file as a hit: its signature says what it is, its summary which of its symbols answer.
fn file_item(file: FileView<'_>, found: &FoundFile) -> Item {
    let n_lines = file.content().split_inclusive(|byte| *byte == b'\n').count();
    let lines = if n_lines == 1 { "line" } else { "lines" };
    Item {
        id: found.path.clone(),
        kind: FILE,
        name: found.path.rsplit('/').next().unwrap_or(&found.path).to_owned(),
        file: found.path.clone(),
        line: 1,
        signature: format!("{}, {n_lines} {lines}", file.language()),
        summary: console::truncate_str(&found.symbols.join(", "), SUMMARY, "…").into_owned(),
        score: found.score,
        repo: None,
        match_type: None,
        fuzzy_similarity: None,
        edit_distance: None,
        overloads: None,
        source_line: None,
        source: None,
        explain: None,
        facts: Facts::default(),
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

/// Other words for kinds, with the word they mean.
pub(super) const KINDS: &[(&str, &str)] = &[
    ("func", "function"),
    ("fn", "function"),
    ("def", "function"),
    ("functions", "function"),
    ("classes", "class"),
    ("methods", "method"),
    ("const", "constant"),
    ("constants", "constant"),
    ("var", "variable"),
    ("variables", "variable"),
    ("types", "type"),
    ("properties", "property"),
    ("prop", "property"),
    ("attributes", "attribute"),
    ("attr", "attribute"),
    ("fields", "field"),
    ("ctor", "constructor"),
    ("variant", "member"),
    ("enumerator", "member"),
    ("typedef", "alias"),
    ("modules", "module"),
    ("macros", "macro"),
    ("interfaces", "interface"),
    ("traits", "trait"),
    ("structs", "struct"),
    ("enums", "enum"),
];

/// The word that another means, or the word itself, in lower case.
pub(super) fn meant(word: &str, table: &[(&str, &str)]) -> String {
    let word = word.trim().to_lowercase();
    table.iter().find(|(other, _)| *other == word).map_or(word, |(_, meant)| (*meant).to_owned())
}

/// Refuses an invalid request.
fn check(args: &Args) -> Result<(), Error> {
    if args.semantic_weight.is_some_and(|weight| !(0.0..=1.0).contains(&weight)) {
        return Err(Error::new(Code::InvalidArguments, "`semantic_weight` lies between 0 and 1"));
    }
    if args.max_results == 0 {
        return Err(Error::new(Code::InvalidArguments, "`max_results` is 0; give 1 or more, or count_only"));
    }
    Ok(())
}

/// A glob of paths, with the usual shorthands.
pub fn path_glob(pattern: &str) -> Result<GlobMatcher, Error> {
    let pattern = pattern.trim().trim_start_matches("./").trim_start_matches('/');
    let anywhere = match pattern {
        "" | "." => "**".to_owned(),
        // A folder means everything in it; `src/net` may be one, and a name with an extension is a file.
        _ if pattern.ends_with('/') => format!("{pattern}**"),
        _ if pattern.contains('/') && !pattern.contains(['*', '?', '[', '{', '.']) => format!("{pattern}{{,/**}}"),
        _ if pattern.contains('/') => pattern.to_owned(),
        // As in .gitignore, a pattern without a slash may match at any depth, a folder's name too.
        _ => format!("{{**/{pattern},**/{pattern}/**}}"),
    };
    match GlobBuilder::new(&anywhere).literal_separator(true).empty_alternates(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(err) => {
            let message = format!("`file_pattern` is no glob: {err}; write it like src/**/*.py");
            Err(Error::new(Code::InvalidArguments, message))
        }
    }
}

/// The repositories of a call.
pub(super) fn repositories(call: &Call<'_>, repo: Option<&str>, repos: Option<&[String]>) -> Result<Vec<Repo>, Error> {
    match repos {
        Some(_) if repo.is_some() => Err(Error::new(Code::InvalidArguments, "give `repo` or `repos`, not both")),
        None => Ok(vec![indexes::open(call, repo)?]),
        Some([]) => Err(Error::new(Code::InvalidArguments, "`repos` is empty; name repositories, or \"*\" for all")),
        Some(names) if names.iter().any(|name| name == "*") => {
            let all = call.cx.indexes.registry().all();
            // An unreadable index must not hide the others.
            let (mut repos, mut refused) = (Vec::new(), Vec::new());
            for sidecar in all {
                let id = sidecar.repo.clone();
                match indexes::open_sidecar(call, sidecar) {
                    Ok(repo) => repos.push(repo),
                    Err(err) => refused.push(format!("{id}: {}", err.message)),
                }
            }
            if !refused.is_empty() {
                call.note("not_searched", refused);
            }
            match repos.is_empty() {
                true => Err(Error::new(Code::NotIndexed, "nothing is indexed yet; call index_folder first")),
                false => Ok(repos),
            }
        }
        Some(names) => {
            let mut repos: Vec<Repo> = Vec::new();
            for name in names {
                let repo = indexes::open(call, Some(name))?;
                if repos.iter().all(|other| other.sidecar.repo != repo.sidecar.repo) {
                    repos.push(repo);
                }
            }
            Ok(repos)
        }
    }
}

/// Searches one repository. Ranks are computed only if centrality decides: on request, and in a list without words.
pub(super) fn ask(repo: &Repo, search: &Search<'_>) -> Result<Found, Error> {
    let is_list = search.query.trim().is_empty();
    let ranks = if search.order == Order::Centrality || is_list { Some(related::ranks(repo)?) } else { None };
    let search = Search { ranks, ..search.clone() };
    query::search(&repo.snapshot, &search).map_err(|err| indexes::store_error(err, &repo.sidecar))
}

/// The number of answers searched for at first, and the factor for each further stage.
const STAGE: usize = 100;
const FURTHER: usize = 10;
/// The most answers of all stages.
const FURTHEST: usize = 100_000;

/// Searches one repository for a page that begins after `offset` answers. A larger search compares more answers and
/// may order the first ones differently: so earlier answers stay in place, and new ones are added after them.
fn ask_on(repo: &Repo, search: &Search<'_>, offset: usize) -> Result<Found, Error> {
    let needed = search.limit;
    let mut stage = STAGE;
    let mut found = ask(repo, &Search { limit: needed.min(stage), ..search.clone() })?;
    while found.hits.len() < needed && found.more && (offset > 0 || needed > STAGE) && stage < FURTHEST {
        stage *= FURTHER;
        let further = ask(repo, &Search { limit: stage, ..search.clone() })?;
        let seen: HashSet<SymbolId> = found.hits.iter().map(|hit| hit.symbol).collect();
        found.hits.extend(further.hits.into_iter().filter(|hit| !seen.contains(&hit.symbol)));
        found.considered = further.considered.max(found.hits.len());
        found.more = further.more;
    }
    found.hits.truncate(needed);
    Ok(found)
}

/// The files of hits.
pub(super) fn paths(repo: &Repo, hits: &[Hit]) -> Vec<String> {
    hits.iter().filter_map(|hit| Some(repo.snapshot.symbol(hit.symbol)?.file.path().to_owned())).collect()
}

fn item(repo: &Repo, hit: &Hit, order: Order, call: &Call<'_>) -> Option<Item> {
    let symbol = repo.snapshot.symbol(hit.symbol)?;
    call.baseline(symbol.file.path(), symbol.file.content().len() as u64);
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
        overloads: Some(hit.overloads).filter(|count| *count > 1),
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
        let source = String::from_utf8_lossy(symbol.indented_source()).into_owned();
        // A large symbol does not prevent smaller ones after it from being shown.
        if let Some(left) = left.checked_sub(tokens::estimate(&source)) {
            self.left = Some(left);
            item.source_line = source_line(&symbol);
            item.source = Some(source);
        }
    }
}

/// Evidence about a search without answers.
pub(super) fn absence(repos: &[Repo], filters: &Filters, unknown: &[String]) -> Absence {
    let (mut left_out, mut no_symbols_for) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
    let (mut symbols, mut files, mut near) = (0, 0, Vec::new());
    let mut doubt = None;
    for repo in repos {
        let facts = repo.snapshot.facts();
        let fits = |file: &FileView<'_>| {
            filters.language.as_ref().is_none_or(|language| file.language() == language) && filters.fit(file.path())
        };
        for file in repo.snapshot.files().filter(fits) {
            symbols += u64::from(file.symbol_count());
            files += 1;
        }
        for (reason, count) in &facts.skipped {
            *left_out.entry(reason.clone()).or_default() += count;
        }
        for (language, count) in languages::without_symbols(&facts.languages) {
            if filters.language.as_ref().is_none_or(|wanted| *wanted == language) {
                *no_symbols_for.entry(language).or_default() += count;
            }
        }
        doubt = doubt.or(repo.doubt());
        let known = filters.text.split_whitespace().filter(|word| !unknown.iter().any(|other| other == word));
        let word = known.max_by_key(|word| word.len()).unwrap_or(&filters.text);
        near.extend(query::nearest(&repo.snapshot, word, 3).iter().map(|symbol| symbol.id()));
    }
    near.truncate(5);
    let is_empty = repos.iter().all(|repo| repo.snapshot.files().next().is_none());
    let verdict = match (doubt, files) {
        (Some(doubt), _) => doubt,
        (None, 0) if is_empty => "no_files: nothing is indexed here",
        (None, 0) => "no_file_matches: no file fits language and file_pattern",
        (None, _) if symbols == 0 && !no_symbols_for.is_empty() => {
            "no_symbols: these languages have none here; search_text finds text"
        }
        (None, _) => "not_found",
    };
    let ask = match (files, filters.text.split_whitespace().count()) {
        (0, _) if is_empty => "in a folder with files; none are indexed here",
        (0, _) => "without language and file_pattern",
        (_, 0 | 1) => "with fuzzy, fewer letters, or words that describe it; search_text finds any text",
        _ => "with a name, or words that the code would use; search_text finds any text",
    };
    let ask = ask.to_owned();
    Absence { verdict, scanned_symbols: symbols, scanned_files: files, left_out, no_symbols_for, nearest: near, ask }
}
