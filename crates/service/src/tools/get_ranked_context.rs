//! The best symbols for a query, packed into a budget.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::around::SymbolUsers;
use super::candidates;
use super::fields::Fields;
use super::filters::{Filters, KINDS, check_kind, meant};
use super::indexes::{self, Repo};
use super::meaning::Meaning;
use super::packing::{FileItem, NARROW, PackingContext, Page, SMALL, pack, takes};
use super::symbols::{Absence, absence, ask, paths, repositories};
use super::{Call, Error, Tool, ToolTier, related, tokens};
use codelode_query::{self as query, Confidence, FIRST, FileHit, Form, Found, Hit, Order, Search};
use codelode_store::{FileView, Snapshot};

/// Explain how something works or is implemented in this codebase: gather the most relevant code for a question, bug
/// or task, whole functions packed into a budget. Prefer it to several searches and reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Several repositories; `*` for all.
    #[serde(default)]
    repos: Option<Vec<String>>,
    /// As in search_symbols.
    query: String,
    /// Token limit of the answer; 1000 if compact.
    #[serde(default)]
    #[schemars(extend("default" = BUDGET))]
    token_budget: Option<u64>,
    /// Order: relevance, relevance then centrality, or centrality.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    strategy: Strategy,
    /// Kinds of symbols.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    include_kinds: Vec<String>,
    /// Folder or glob.
    #[serde(default)]
    scope: Option<String>,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    fields: Option<Vec<String>>,
}

/// The budget of an answer, and of a compact one.
const BUDGET: u64 = 4_000;
const BRIEF_BUDGET: u64 = 1_000;

/// Order of dependencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// Relevance, then centrality.
    #[default]
    Combined,
    /// Relevance alone.
    Bm25,
    /// Centrality by use, among relevant symbols.
    Centrality,
}

/// The page of a repository, or of several.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    page: Page,
    /// For several repositories: each with matches, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repositories: Vec<OfRepository>,
    /// Query words found in no symbol.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_words: Vec<String>,
    /// If nothing was found: the scope of the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_evidence: Option<Absence>,
}

/// One of several repositories.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OfRepository {
    repo: String,
    #[serde(flatten)]
    page: Page,
}

/// See [`Args`].
pub struct GetRankedContext;

/// The most answers considered.
const CONSIDERED: usize = 200;
/// The least score worth including, as a share of the best: for descriptions; for names, because a whole name scores
/// far above any part; and by centrality alone.
const LEAST: f32 = 0.2;
const LEAST_NAMED: f32 = 0.05;
const LEAST_CENTRAL: f32 = 0.4;
/// The most files listed, and the part of the budget for them.
const FILES: usize = 10;
const FILES_SHARE: usize = 10;
/// The least share of the best file's text score that is worth a mention.
const LIKE_BEST: f32 = 0.6;
/// Tokens of their key.
const FILES_FRAME: usize = 4;
/// The most symbols whose users and tests are named, and the part of the budget for them.
const SURROUNDED: usize = 3;
const AROUND_SHARE: usize = 12;
/// The least relevance of another repository, as a share of the best one's.
const LEAST_OF_OTHERS: f32 = 0.5;
/// The least budget of a repository among several, and the tokens of its keys.
const LEAST_SHARE: usize = 400;
const REPOSITORY_FRAME: usize = 12;
/// The hits of a sure compact answer whose source may be shown, and the part of the budget for all candidates.
const SOURCES: usize = 2;
const CANDIDATES_SHARE: usize = 2;
/// The least budget of an answer that begins with candidates.
const LEAST_FOR_CANDIDATES: usize = 600;
/// The smallest useful budget.
const SMALLEST: usize = 150;

impl Tool for GetRankedContext {
    const NAME: &'static str = "get_ranked_context";
    const COMMAND: &'static str = "context";
    const POSITIONAL: &'static [&'static str] = &["query"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Lean);
    const ALWAYS_LOADED: bool = true;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let usual = if call.compact { BRIEF_BUDGET } else { BUDGET };
        let budget = usize::try_from(args.token_budget.unwrap_or(usual)).unwrap_or(usize::MAX).min(call.max_tokens);
        if budget < SMALLEST {
            let message = format!("`token_budget` is too small for a symbol; give {SMALLEST} or more");
            return Err(Error::invalid_arguments(message));
        }
        let fields = Fields::read(args.fields.as_deref())?;
        let mut filters = Filters::read(&args.query, None, None, args.scope.as_deref())?;
        if filters.wants_files {
            let message = "every context starts with files; omit kind:file, or use search_symbols for files alone";
            return Err(Error::invalid_arguments(message));
        }
        let kinds: Vec<String> = args.include_kinds.iter().map(|kind| meant(kind, KINDS)).collect();
        kinds.iter().try_for_each(|kind| check_kind(kind))?;
        filters.keep_kinds(kinds)?;
        let (repo, repos) = filters.repositories(args.repo.as_deref(), args.repos.as_deref())?;
        let mut repos = repositories(call, repo.as_deref(), repos.as_deref())?;
        // Rarity of words is measured over all of them, so that their answers can be compared.
        let snapshots: Vec<Arc<Snapshot>> = repos.iter().map(|repo| repo.snapshot.clone()).collect();
        let among: Vec<&Snapshot> = snapshots.iter().map(|snapshot| &**snapshot).collect();
        // Both scores are shown in any order.
        let order = if args.strategy == Strategy::Centrality { Order::Centrality } else { Order::Combined };
        let search = Search {
            with_files: true,
            among: if among.len() > 1 { &among } else { &[] },
            ..filters.search(order, CONSIDERED)
        };
        let gives_budget = args.token_budget.is_some();
        let asked = PageConditions { strategy: args.strategy, fields: &fields, text: &filters.text, gives_budget };
        let mut answers = Vec::new();
        for repo in &mut repos {
            answers.push(answer(call, repo, &search, &filters.text)?);
        }
        let pages = match &repos[..] {
            [repo] => vec![(0, page(call, repo, &answers[0], &asked, budget)?)],
            _ => shared(call, &repos, &answers, &asked, budget)?,
        };
        for (place, page) in &pages {
            let sources = page.items.iter().filter(|item| item.source.is_some());
            for item in sources {
                let path = item.symbol_id.rsplit_once("::").map(|(path, _)| path);
                let file = path.and_then(|path| repos[*place].snapshot.file(path));
                let size = |file: &FileView<'_>| (file.content().len(), file.lines());
                file.into_iter().for_each(|file| call.baseline(file.path(), size(&file), item.lines()));
            }
        }
        let is_found = pages.iter().any(|(_, page)| !page.is_empty());
        call.found(is_found);
        call.narrow("give a smaller token_budget");
        let unknown = answers.iter().map(|found| &found.unknown).min_by_key(|unknown| unknown.len());
        let unknown = unknown.cloned().unwrap_or_default();
        let mut output = together(&repos, pages);
        if output.page.confidence == Confidence::None.as_str() {
            output.unknown_words = unknown.clone();
        }
        if !is_found {
            output.negative_evidence = Some(absence(&repos, &filters, &unknown));
            // In a small budget, the evidence and unknown words are dropped.
            if tokens::of_json(&output) + tokens::META > budget {
                (output.negative_evidence, output.unknown_words) = (None, Vec::new());
            }
        }
        Ok(output)
    }
}

/// Conditions of a page, beside the answer.
struct PageConditions<'a> {
    strategy: Strategy,
    fields: &'a Fields,
    /// The words of the question.
    text: &'a str,
    /// Whether the caller gives the budget, and so wants it used.
    gives_budget: bool,
}

/// Searches a repository; by meaning too, where a description is not found by its words.
fn answer(call: &Call<'_>, repo: &mut Repo, search: &Search<'_>, text: &str) -> Result<Found, Error> {
    let about = |repo: &Repo, found: &Found| {
        let path = |file: &FileHit| Some(repo.snapshot.file_by_number(file.file)?.path().to_owned());
        let named = paths(repo, &found.hits).into_iter().chain(found.files.iter().take(FILES).filter_map(path));
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then_some(named)
    };
    let ask = |repo: &Repo| {
        let found = ask(repo, search)?;
        // A description may share no word with the code; a name is found by its words.
        let is_found = found.confidence == Confidence::High || !found.form.is_some_and(Form::is_prose);
        if search.order == Order::Centrality || is_found {
            return Ok(found);
        }
        let meaning = Meaning::unasked(call, repo, text)?;
        let by_meaning = meaning.map(|meaning| meaning.ask(call, repo, search)).transpose()?;
        Ok(by_meaning.flatten().unwrap_or(found))
    };
    indexes::answered(call, repo, ask, about)
}

fn best_of(found: &Found) -> f32 {
    found.hits.iter().map(|hit| hit.relevance).fold(0.0, f32::max)
}

/// Packs the answer of a repository.
fn page(call: &Call<'_>, repo: &Repo, found: &Found, asked: &PageConditions<'_>, budget: usize) -> Result<Page, Error> {
    asked.fields.know(call, repo);
    let best = best_of(found);
    let least = match asked.strategy {
        Strategy::Centrality => LEAST_CENTRAL,
        _ if found.form.is_some_and(Form::is_prose) => LEAST,
        _ => LEAST_NAMED,
    };
    let least = best * least;
    let mut hits: Vec<Hit> = found.hits.iter().filter(|hit| hit.relevance >= least).cloned().collect();
    if asked.strategy == Strategy::Bm25 {
        hits.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
    }
    // One of the first hits is described, so all of them must be sent.
    let first = if found.form.is_some_and(Form::is_prose) { FIRST } else { 1 };
    let told = PackingContext { best, fields: asked.fields, folds: call.compact, confidence: found.confidence, first };
    // Later pages go on with symbols alone, and a small budget is for the best of them.
    let room = match hits.is_empty() {
        true => budget / 2,
        false if call.offset > 0 || budget < SMALL => 0,
        false => budget / FILES_SHARE,
    };
    let (mut hits, mut candidates) = (hits, Vec::new());
    if call.compact && call.offset == 0 && budget >= LEAST_FOR_CANDIDATES {
        candidates = candidates::of(&repo.snapshot, (&hits, &found.files), asked.text, budget / CANDIDATES_SHARE);
        // Of an unsure answer any candidate may be the one, and most sources would be read for nothing.
        hits.truncate(match found.confidence {
            _ if asked.gives_budget => hits.len(),
            Confidence::High => SOURCES,
            _ => 0,
        });
    }
    let for_candidates = if candidates.is_empty() { 0 } else { tokens::of_json(&candidates) };
    let budget = budget.saturating_sub(for_candidates);
    let files = listed(&repo.snapshot, &found.files, room);
    let budget = budget - if files.is_empty() { 0 } else { tokens::of_json(&files) + FILES_FRAME };
    let edges = related::edges_at_hand(repo).filter(|_| call.offset == 0 && budget >= SMALL);
    let mut left_for_around = if edges.is_some() { budget / AROUND_SHARE } else { 0 };
    let budget = budget - left_for_around;
    let mut packed = pack(&repo.snapshot, &hits, told, budget)?;
    // A cursor counts pages, because whole symbols are chosen from all remaining hits.
    for _ in 0..call.offset.min(hits.len()) {
        packed = pack(&repo.snapshot, &packed.rest, PackingContext { first: 0, ..told }, budget)?;
    }
    let mut page = Page { files, candidates, ..packed.page };
    for item in page.items.iter_mut().filter(|item| item.source.is_some()).take(SURROUNDED) {
        let symbol = query::by_id(&repo.snapshot, &item.symbol_id).ok();
        let found = symbol.zip(edges);
        let found = found.map(|(symbol, edges)| SymbolUsers::of(&repo.snapshot, edges, &symbol, &mut left_for_around));
        let SymbolUsers { used_by, tested_by } = found.unwrap_or_default();
        (item.used_by, item.tested_by) = (used_by, tested_by);
    }
    if page.left_out > 0 && page.candidates.is_empty() {
        page.truncated = true;
        page.next_cursor = Some(call.cursor(call.offset + 1));
        page.narrow = Some(NARROW);
    }
    if hits.is_empty() && !page.files.is_empty() {
        page.confidence = Confidence::Low.as_str();
    }
    Ok(page)
}

/// Packs the answers of the repositories that answer nearly as well as the best one, each into a part of the budget in
/// proportion to its best answer. Their places come with them.
fn shared(
    call: &Call<'_>,
    repos: &[Repo],
    answers: &[Found],
    asked: &PageConditions<'_>,
    budget: usize,
) -> Result<Vec<(usize, Page)>, Error> {
    let top = answers.iter().map(best_of).fold(0.0, f32::max);
    let mut chosen: Vec<(usize, f32)> = answers.iter().map(best_of).enumerate().collect();
    chosen.retain(|(_, best)| *best > 0.0 && *best >= top * LEAST_OF_OTHERS);
    chosen.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    chosen.truncate((budget / LEAST_SHARE).max(1));
    let sum: f32 = chosen.iter().map(|(_, best)| best).sum();
    let mut pages = Vec::new();
    for (place, best) in chosen {
        let share = (budget as f32 * best / sum) as usize;
        let frame = tokens::estimate(&repos[place].sidecar.repo) + REPOSITORY_FRAME;
        pages.push((place, page(call, &repos[place], &answers[place], asked, share.saturating_sub(frame))?));
    }
    call.note("repos", repos.iter().map(|repo| repo.sidecar.repo.as_str()).collect::<Vec<_>>());
    Ok(pages)
}

/// The answer of the pages of one repository, or of several.
fn together(repos: &[Repo], mut pages: Vec<(usize, Page)>) -> Output {
    if repos.len() == 1 {
        let page = pages.pop().map(|(_, page)| page).unwrap_or_default();
        return Output { page, ..Output::default() };
    }
    let first = pages.first().map(|(_, page)| page);
    let confidence = first.map_or(Confidence::None.as_str(), |page| page.confidence);
    let next_cursor = pages.iter().find_map(|(_, page)| page.next_cursor.clone());
    let page = Page { confidence, truncated: next_cursor.is_some(), next_cursor, ..Page::default() };
    let of_repository = |(place, page): (usize, Page)| OfRepository {
        repo: repos[place].sidecar.repo.clone(),
        page: Page { truncated: false, next_cursor: None, narrow: None, ..page },
    };
    Output { page, repositories: pages.into_iter().map(of_repository).collect(), ..Output::default() }
}

/// The first files that fit into this many tokens, with the reasons.
fn listed(snapshot: &Snapshot, files: &[FileHit], mut left: usize) -> Vec<FileItem> {
    let best = files.iter().map(|file| file.by_text).fold(0.0, f32::max);
    let item = |found: &FileHit| {
        let symbols = found.symbols.iter().filter_map(|symbol| Some(snapshot.symbol(*symbol)?.qualified_name()));
        let mut why: Vec<String> = symbols.collect();
        if found.by_text > 0.0 && (why.is_empty() || found.by_text >= best * LIKE_BEST) {
            why.push("text".to_owned());
        }
        Some(FileItem { file: snapshot.file_by_number(found.file)?.path().to_owned(), why: why.join(", ") })
    };
    let answering = files.iter().filter(|file| file.score > 0.0);
    let items = answering.take(FILES).filter_map(item);
    items.take_while(|item| takes(&mut left, tokens::of_json(item) + 1)).collect()
}
