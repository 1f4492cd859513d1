//! The best symbols for a question, packed into a budget.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::{Filters, check_kind};
use super::search_symbols::{KINDS, ask, meant};
use super::{Call, Code, Error, Shown, Tool, indexes, tokens};
use crate::model::Span;
use crate::query::{Form, Hit, Order};
use crate::store::{Snapshot, SymbolView};

/// The source of the symbols that answer a query best, within a budget of tokens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: the current one).
    #[serde(default)]
    repo: Option<String>,
    /// As in search_symbols.
    query: String,
    /// Tokens for the whole answer.
    #[serde(default = "four_thousand")]
    token_budget: u64,
    /// What comes first: what answers best, what is central, or both.
    #[serde(default)]
    strategy: Strategy,
    /// Kinds of symbols.
    #[serde(default)]
    include_kinds: Vec<String>,
    /// Folder, or glob of paths.
    #[serde(default)]
    scope: Option<String>,
}

fn four_thousand() -> u64 {
    4_000
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// Ten times the relevance, and the centrality.
    #[default]
    Combined,
    /// The relevance.
    Bm25,
    /// The centrality, of what answers well enough.
    Centrality,
}

/// The best first: first those that are whole.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Whether the best is the one that was meant: `high`, `low`, `none`.
    confidence: &'static str,
    items: Vec<Item>,
    /// Symbols that answer and did not fit, not even by their signature.
    left_out: usize,
}

/// A symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Item {
    symbol_id: String,
    line: u32,
    /// How well it answers beside the best, 0 to 1.
    relevance_score: f64,
    /// How central it is: 0 when nothing uses it, about 0.7 for the average symbol.
    centrality_score: f64,
    /// Ten times the first and the second.
    combined_score: f64,
    /// What its source, or its signature, has.
    tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// In place of a source that does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

/// See [`Args`].
pub struct GetRankedContext;

/// So many answers are considered.
const CONSIDERED: usize = 200;
/// What answers worse than this share of the best is not worth its tokens: a description; a name, of which the whole is
/// worth far more than any part; and where centrality alone decides.
const LEAST: f32 = 0.2;
const LEAST_NAMED: f32 = 0.05;
const LEAST_CENTRAL: f32 = 0.4;
/// So many symbols that do not fit are shown by their signatures.
const SIGNATURES: usize = 10;
/// Length of a signature, in characters.
const SIGNATURE: usize = 160;
/// A smaller budget holds nothing.
const SMALLEST: usize = 150;

impl Tool for GetRankedContext {
    const NAME: &'static str = "get_ranked_context";
    const COMMAND: &'static str = "context";
    const POSITIONAL: &'static [&'static str] = &["query"];
    const SHOWN: Option<Shown> = Some(Shown::Full);
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let budget = usize::try_from(args.token_budget).unwrap_or(usize::MAX).min(call.max_tokens);
        if budget < SMALLEST {
            let message = format!("`token_budget` holds no symbol; give {SMALLEST} or more");
            return Err(Error::new(Code::InvalidArguments, message));
        }
        let mut filters = Filters::read(&args.query, None, None, args.scope.as_deref())?;
        let kinds: Vec<String> = args.include_kinds.iter().map(|kind| meant(kind, KINDS)).collect();
        kinds.iter().try_for_each(|kind| check_kind(kind))?;
        filters.keep_kinds(kinds)?;
        let (repo, repos) = filters.repositories(args.repo.as_deref(), None)?;
        if repos.is_some() {
            let message = "the query names several repositories; ask for the context of each";
            return Err(Error::new(Code::InvalidArguments, message));
        }
        // Both scores are shown whatever decides.
        let order = if args.strategy == Strategy::Centrality { Order::Centrality } else { Order::Combined };
        let search = filters.search(order, CONSIDERED);
        let mut repo = indexes::open(call, repo.as_deref())?;
        let mut found = ask(&repo, &search)?;
        let generation = repo.snapshot.generation();
        let path = |hit: &Hit| Some(repo.snapshot.symbol(hit.symbol)?.file.path().to_owned());
        let paths: Vec<String> = found.hits.iter().filter_map(path).collect();
        repo = match paths.is_empty() {
            // Before it is said that there is nothing, the folder is looked at as it is now.
            true => indexes::look_again(call, repo)?,
            false => indexes::ensure_fresh(call, repo, paths.iter().map(String::as_str))?,
        };
        if repo.snapshot.generation() != generation {
            found = ask(&repo, &search)?;
        }
        let best = found.hits.iter().map(|hit| hit.relevance).fold(0.0, f32::max);
        let least = match args.strategy {
            Strategy::Centrality => LEAST_CENTRAL,
            _ if found.form.is_some_and(Form::is_prose) => LEAST,
            _ => LEAST_NAMED,
        };
        let least = best * least;
        let mut hits: Vec<Hit> = found.hits.into_iter().filter(|hit| hit.relevance >= least).collect();
        if args.strategy == Strategy::Bm25 {
            hits.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
        }
        let output = pack(&repo.snapshot, &hits, best, found.confidence.as_str(), budget);
        for item in output.items.iter().filter(|item| item.source.is_some()) {
            let file = item.symbol_id.rsplit_once("::").and_then(|(path, _)| repo.snapshot.file(path));
            file.into_iter().for_each(|file| call.baseline(file.path(), file.content().len() as u64));
        }
        call.found(!output.items.is_empty());
        call.narrow("give a smaller token_budget");
        Ok(output)
    }
}

/// What is being packed.
struct Packing<'a> {
    budget: usize,
    used: usize,
    /// What was sent of each file.
    sent: HashMap<u32, Vec<Span>>,
    /// Texts that were sent: copies of them say nothing new.
    texts: HashSet<&'a [u8]>,
}

impl<'a> Packing<'a> {
    /// Takes an item when it fits.
    fn takes(&mut self, item: &Item, most: usize) -> bool {
        let cost = tokens::of_json(item) + 1;
        let fits = cost <= most && self.used + cost <= self.budget;
        self.used += if fits { cost } else { 0 };
        fits
    }

    /// Whether a symbol lies in what was sent.
    fn is_sent(&self, symbol: &SymbolView<'_>) -> bool {
        let sent = self.sent.get(&symbol.file.number());
        sent.is_some_and(|spans| spans.iter().any(|span| span.contains(symbol.span())))
    }

    /// Whether its text, or a part of it, was sent.
    fn is_new(&self, symbol: &SymbolView<'a>) -> bool {
        let (own, sent) = (symbol.span(), self.sent.get(&symbol.file.number()));
        let crosses = |span: &Span| span.start < own.end && own.start < span.end;
        !sent.is_some_and(|spans| spans.iter().any(crosses)) && !self.texts.contains(symbol.source())
    }

    fn send(&mut self, symbol: &SymbolView<'a>) {
        self.sent.entry(symbol.file.number()).or_default().push(symbol.span());
        self.texts.insert(symbol.source());
    }
}

/// Packs hits, the first being the best: whole symbols that leave room for others, then whole ones at all, then signatures of
/// what is left. Nothing is sent twice.
fn pack(snapshot: &Snapshot, hits: &[Hit], best: f32, confidence: &'static str, budget: usize) -> Output {
    let frame = tokens::of_json(&Output { confidence, items: Vec::new(), left_out: usize::MAX }) + tokens::META;
    let budget_of_items = budget.saturating_sub(frame);
    let mut packing = Packing { budget: budget_of_items, used: 0, sent: HashMap::new(), texts: HashSet::new() };
    let symbols: Vec<(&Hit, SymbolView<'_>)> =
        hits.iter().filter_map(|hit| Some((hit, snapshot.symbol(hit.symbol)?))).collect();
    let mut whole: Vec<Option<Item>> = vec![None; symbols.len()];
    // A symbol that takes more than half waits until those that leave room are in.
    for most in [budget_of_items / 2, budget_of_items] {
        for (place, (hit, symbol)) in symbols.iter().enumerate() {
            // No token has more bytes than the longest of its vocabulary: what is this large cannot fit.
            let too_large = symbol.source().len() > 128 * most;
            if whole[place].is_some() || too_large || !packing.is_new(symbol) {
                continue;
            }
            let source = String::from_utf8_lossy(symbol.source()).into_owned();
            let item = item(hit, symbol, best, Some(source), None);
            if packing.takes(&item, most) {
                packing.send(symbol);
                whole[place] = Some(item);
            }
        }
    }
    let mut signatures = Vec::new();
    let mut left_out = 0;
    for (place, (hit, symbol)) in symbols.iter().enumerate() {
        if whole[place].is_some() || packing.is_sent(symbol) {
            continue;
        }
        let item = item(hit, symbol, best, None, Some(symbol.signature(SIGNATURE)));
        match signatures.len() < SIGNATURES && packing.takes(&item, usize::MAX) {
            true => signatures.push(item),
            false => left_out += 1,
        }
    }
    let items = whole.into_iter().flatten().chain(signatures).collect();
    let mut output = Output { confidence, items, left_out };
    // Each was counted for itself; together they must fit as they are written.
    while tokens::of_json(&output) + tokens::META > budget && output.items.pop().is_some() {
        output.left_out += 1;
    }
    output
}

fn item(hit: &Hit, symbol: &SymbolView<'_>, best: f32, source: Option<String>, signature: Option<String>) -> Item {
    let rounded = |score: f32| (f64::from(score) * 1_000.0).round() / 1_000.0;
    let relevance_score = rounded(hit.relevance / best.max(f32::MIN_POSITIVE));
    let centrality_score = rounded(hit.centrality);
    Item {
        symbol_id: symbol.id(),
        line: symbol.line(),
        relevance_score,
        centrality_score,
        combined_score: ((10.0 * relevance_score + centrality_score) * 1_000.0).round() / 1_000.0,
        tokens: source.as_deref().or(signature.as_deref()).map_or(0, tokens::estimate),
        source,
        signature,
    }
}
