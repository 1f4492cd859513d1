//! Symbols packed into a budget of tokens: whole ones, and others by their signature or outline.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{Facts, Fields, source_line};
use super::{Error, tokens};
use codelode_base::model::Kind;
use codelode_query::{Confidence, Hit, combined};
use codelode_store::{Snapshot, SymbolView};

/// The best first, then those that are whole, then those without source.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Page {
    /// `high`: the first has the exact name, or one of the best five fits the description and all five are included;
    /// right in nine of ten cases. `medium`: the answer is among them or omitted. `low`: try other words. `none`: no
    /// match.
    pub confidence: &'static str,
    /// Files to start with, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileItem>,
    /// In a compact answer: the best candidates with reasons; items hold the source of some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    pub items: Vec<Item>,
    /// Ids of further candidates, other files first; absent if confidence is high.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<String>,
    /// Number of matching symbols that did not fit, even as a signature.
    pub left_out: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Cursor for the omitted symbols.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How to ask for what did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrow: Option<&'static str>,
}

impl Page {
    /// Whether nothing answers.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.files.is_empty() && self.candidates.is_empty()
    }
}

/// A member of a symbol too large to show.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Member {
    pub id: String,
    pub line: u32,
    pub signature: String,
}

/// A symbol that may answer the query.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Candidate {
    pub id: String,
    pub line: u32,
    pub signature: String,
    /// Query words that the symbol contains, except those in its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// A matching file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileItem {
    pub file: String,
    /// The file's matching symbols, and `text` if its full text matches.
    pub why: String,
}

/// A relevant symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Item {
    pub symbol_id: String,
    line: u32,
    /// Relevance compared to the best, 0 to 1.
    relevance_score: f64,
    /// Centrality: by definitions that mention its name, or with `strategy: centrality` by its users.
    centrality_score: f64,
    /// 10 × relevance + 0.005 × centrality.
    combined_score: f64,
    /// Number of tokens of `source`, or of `signature` without one.
    tokens: usize,
    /// As in get_symbol_source.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// In a compact answer: first and last line of documentation omitted from the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_lines: Option<(u32, u32)>,
    /// The source is cut before this line; get the rest with get_file_content.
    #[serde(skip_serializing_if = "Option::is_none")]
    goes_on_at_line: Option<u32>,
    /// Replaces a source that does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    /// Members, in place of a source that does not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outline: Vec<Member>,
    /// Members omitted from the outline.
    #[serde(skip_serializing_if = "is_zero")]
    outline_left_out: usize,
    /// For the first results: ids of symbols that use this one, most uses first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used_by: Vec<String>,
    /// For the first results: ids of tests that reach this symbol, most direct first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tested_by: Vec<String>,
    #[serde(flatten)]
    facts: Facts,
}

impl Item {
    /// The first and the last line of its source.
    pub fn lines(&self) -> (u32, u32) {
        let source = self.source.as_deref().unwrap_or_default();
        let first = self.source_line.unwrap_or(self.line);
        (first, first + source.lines().count() as u32)
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The most symbols shown without their source, if it does not fit.
const BRIEFLY: usize = 10;
/// The most further symbols named.
const MORE: usize = 40;
/// Length of a signature, in characters; a shorter one if there is little room, or for members.
const SIGNATURE: usize = 160;
const SHORT_SIGNATURE: usize = 60;
/// The least bytes of a text that can be a copy.
const COPY: usize = 40;
/// Hint for getting more.
pub const NARROW: &str = "a larger token_budget, kind:, file:, or scope";
/// A budget of which the best symbol gets half for its source, but at least so much: others beside its bare signature
/// would be of less use.
pub const SMALL: usize = 1_000;
const LEAST_OF_BEST: usize = 300;

/// A page, and the hits left for the next.
pub struct Packed {
    pub page: Page,
    pub rest: Vec<Hit>,
}

/// Content of an item beside the symbol.
#[derive(Clone, Copy)]
pub struct PackingContext<'a> {
    /// The highest relevance.
    pub best: f32,
    pub fields: &'a Fields,
    /// Whether long documentation inside a source is left out after its first paragraph.
    pub folds: bool,
    /// The confidence if this many of the first hits are sent.
    pub confidence: Confidence,
    pub first: usize,
}

/// A symbol sent whole.
struct WholeSymbol<'a> {
    symbol: SymbolView<'a>,
    item: Item,
    cost: usize,
    /// The texts in it, itself included: a copy of one is not sent again.
    texts: Vec<&'a [u8]>,
}

/// Hits during packing.
struct Packing<'a> {
    budget: usize,
    used: usize,
    /// The best hit as long as it is not sent whole, and its cost.
    best: Option<(Item, usize)>,
    /// The symbols sent whole, by place among the hits.
    whole: Vec<Option<WholeSymbol<'a>>>,
}

impl<'a> Packing<'a> {
    fn left(&self) -> usize {
        self.budget.saturating_sub(self.used)
    }

    /// Whether a symbol is inside a sent one.
    fn is_sent(&self, symbol: &SymbolView<'_>) -> bool {
        self.whole.iter().flatten().any(|whole| holds(&whole.symbol, symbol))
    }

    fn is_copy(&self, symbol: &SymbolView<'_>) -> bool {
        self.whole.iter().flatten().any(|whole| whole.texts.contains(&symbol.source()))
    }

    /// Sends a symbol whole if its cost is at most `most` and there is room. Sent symbols inside it are dropped, and
    /// it takes the place of the first of them.
    fn takes(
        &mut self,
        place: usize,
        hit: &Hit,
        symbol: SymbolView<'a>,
        most: usize,
        told: PackingContext<'_>,
        best: &SymbolView<'_>,
    ) {
        // A token has a limited length in bytes, so a larger text cannot fit.
        if symbol.source().len() > 128 * most || self.is_sent(&symbol) || self.is_copy(&symbol) {
            return;
        }
        let texts = texts(&symbol);
        let held = |whole: &WholeSymbol<'_>| holds(&symbol, &whole.symbol) || texts.contains(&whole.symbol.source());
        let freed: Vec<usize> =
            (0..self.whole.len()).filter(|place| self.whole[*place].as_ref().is_some_and(held)).collect();
        let holds_best = self.best.as_ref().filter(|_| holds(&symbol, best)).map_or(0, |(_, cost)| *cost);
        let saved: usize = freed.iter().flat_map(|place| &self.whole[*place]).map(|whole| whole.cost).sum();
        let used = self.used.saturating_sub(saved + holds_best);
        // Most are too long for what is left, which their beginning shows.
        let most = most.min(self.budget.saturating_sub(used));
        let whole = symbol.shown();
        let folded = if told.folds { folded(&symbol, &whole) } else { None };
        let (source, left_out_lines) =
            folded.map_or((whole.into_owned(), None), |(source, lines)| (source, Some(lines)));
        let Some(tokens) = tokens::estimate_within(&source, most) else { return };
        let source_line = source_line(&symbol);
        let item = Item { source: Some(source), left_out_lines, source_line, tokens, ..item(hit, &symbol, told) };
        let cost = cost(&item);
        if cost > most {
            return;
        }
        if holds_best > 0 {
            self.best = None;
        }
        self.used = used + cost;
        freed.iter().for_each(|place| self.whole[*place] = None);
        let place = freed.first().map_or(place, |first| place.min(*first));
        self.whole[place] = Some(WholeSymbol { symbol, item, cost, texts });
    }
}

/// The fewest lines of documentation that are worth leaving out.
const LONG_DOC: usize = 4;

/// A source without the paragraphs of its documentation after the first, and the lines that these have; `None` where
/// they are few, or stand outside of the source.
fn folded(symbol: &SymbolView<'_>, source: &str) -> Option<(String, (u32, u32))> {
    let doc = String::from_utf8_lossy(symbol.doc_source());
    let at = source.find(&*doc).filter(|_| !doc.is_empty())?;
    let before = source[..at].matches('\n').count();
    let lines: Vec<&str> = doc.lines().collect();
    let first_blank = lines.iter().position(|line| line.trim().is_empty())?;
    // The last line closes it.
    let left_out = (lines.len() - 1).checked_sub(first_blank).filter(|count| *count >= LONG_DOC)?;
    let (from, to) = (before + first_blank, before + first_blank + left_out);
    let kept = source.split_inclusive('\n').enumerate().filter(|(place, _)| !(from..to).contains(place));
    let line = symbol.first_line();
    Some((kept.map(|(_, line)| line).collect(), (line + from as u32, line + to as u32 - 1)))
}

/// The tokens that an item adds to an answer.
fn cost(item: &Item) -> usize {
    tokens::of_json(item) + 1
}

/// Whether one symbol is the other, or inside it.
fn holds(outer: &SymbolView<'_>, inner: &SymbolView<'_>) -> bool {
    outer.file.number() == inner.file.number() && outer.span().contains(inner.span())
}

/// The texts of a symbol and of symbols inside it, except short ones, which may occur in many places.
fn texts<'a>(symbol: &SymbolView<'a>) -> Vec<&'a [u8]> {
    let within = symbol.file.symbols().filter(|inner| holds(symbol, inner));
    within.map(|inner| inner.source()).filter(|text| text.len() >= COPY).collect()
}

/// Takes an amount out of what is left, if it is there.
pub fn takes(left: &mut usize, amount: usize) -> bool {
    let rest = left.checked_sub(amount);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// A symbol without its source, within this many tokens: a type as its outline, any other by its signature.
fn brief(hit: &Hit, symbol: &SymbolView<'_>, told: PackingContext<'_>, most: usize) -> Item {
    let signed = |length: usize| {
        let signature = symbol.signature(length);
        Item { tokens: tokens::estimate(&signature), signature: Some(signature), ..item(hit, symbol, told) }
    };
    let mut whole = signed(SIGNATURE);
    if cost(&whole) > most {
        whole = signed(SHORT_SIGNATURE);
    }
    if !matches!(symbol.kind(), Kind::Class | Kind::Type) {
        return whole;
    }
    let n_members = symbol.children().count();
    // The count of missing members has a cost.
    let mut left = most.saturating_sub(cost(&whole) + 10);
    for child in symbol.children() {
        let member = Member { id: child.id(), line: child.line(), signature: child.signature(SHORT_SIGNATURE) };
        if !takes(&mut left, tokens::of_json(&member) + 1) {
            break;
        }
        whole.outline.push(member);
    }
    whole.outline_left_out = n_members - whole.outline.len();
    if whole.outline.is_empty() {
        whole.outline_left_out = 0;
    }
    whole
}

/// A symbol whose source may not fit into this many tokens: its first lines, or of a type its outline.
fn begun(hit: &Hit, symbol: &SymbolView<'_>, told: PackingContext<'_>, most: usize) -> Item {
    let source = symbol.shown();
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let of = |kept: usize| {
        let text = lines[..kept].concat();
        let next = symbol.end_line().saturating_sub((lines.len() - kept) as u32) + 1;
        let tokens = tokens::estimate(&text);
        let (source, source_line) = (Some(text), source_line(symbol));
        Item { tokens, source, source_line, goes_on_at_line: Some(next), ..item(hit, symbol, told) }
    };
    let is_type = matches!(symbol.kind(), Kind::Class | Kind::Type);
    let fits = |kept: &usize| cost(&of(*kept)) <= most;
    match (1..lines.len()).take_while(fits).last().filter(|_| !is_type) {
        Some(kept) => of(kept),
        None => brief(hit, symbol, told, most),
    }
}

/// Packs hits. The first is the best and always included, at least by its outline or signature. Then follow whole
/// symbols that leave room for others, further whole ones, and the rest without source. Nothing is sent twice.
pub fn pack(snapshot: &Snapshot, hits: &[Hit], told: PackingContext<'_>, budget: usize) -> Result<Packed, Error> {
    let confidence = told.confidence.as_str();
    let empty = Page { confidence, narrow: Some(NARROW), next_cursor: Some("c88-8888".to_owned()), ..Page::default() };
    let frame = tokens::of_json(&empty) + tokens::META;
    let symbols: Vec<(&Hit, SymbolView<'_>)> =
        hits.iter().filter_map(|hit| Some((hit, snapshot.symbol(hit.symbol)?))).collect();
    let page = Page { confidence, ..Page::default() };
    let Some((first, best)) = symbols.first() else { return Ok(Packed { page, rest: Vec::new() }) };
    let budget_of_items = budget.saturating_sub(frame);
    let is_small = budget_of_items <= SMALL;
    let kept = match is_small {
        true => begun(first, best, told, (budget_of_items / 2).max(LEAST_OF_BEST.min(budget_of_items))),
        false => brief(first, best, told, budget_of_items / 2),
    };
    let kept_cost = cost(&kept);
    if kept_cost > budget_of_items {
        let needed = frame + kept_cost;
        let message = format!("`token_budget` is too small for the best symbol; give {needed} or more");
        return Err(Error::invalid_arguments(message).with("token_budget", needed));
    }
    let mut packing = Packing {
        budget: budget_of_items,
        used: kept_cost,
        best: Some((kept, kept_cost)),
        whole: symbols.iter().map(|_| None).collect(),
    };
    if is_small {
        packing.takes(0, first, *best, budget_of_items, told, best);
    }
    // Symbols of more than half the budget come after the smaller ones.
    for most in [budget_of_items / 2, budget_of_items] {
        for (place, (hit, symbol)) in symbols.iter().enumerate() {
            packing.takes(place, hit, *symbol, most, told, best);
        }
    }
    let (mut briefly, mut rest) = (Vec::new(), Vec::new());
    for (place, (hit, symbol)) in symbols.iter().enumerate() {
        if packing.is_sent(symbol) || (place == 0 && packing.best.is_some()) {
            continue;
        }
        let item = (briefly.len() < BRIEFLY).then(|| brief(hit, symbol, told, packing.left() / 2));
        match item.map(|item| (cost(&item), item)).filter(|(cost, _)| *cost <= packing.left()) {
            Some((cost, item)) => {
                packing.used += cost;
                briefly.push((place, item));
            }
            None => rest.push((*hit).clone()),
        }
    }
    let first = packing.best.take().map(|(item, _)| (0, item));
    let whole = packing.whole.into_iter().enumerate().filter_map(|(place, whole)| Some((place, whole?.item)));
    let mut items: Vec<(usize, Item)> = first.into_iter().chain(whole).chain(briefly).collect();
    // Items were counted one by one; together they must fit as written.
    loop {
        let items_now: Vec<Item> = items.iter().map(|(_, item)| item.clone()).collect();
        let page = Page { confidence, items: items_now, left_out: rest.len(), ..Page::default() };
        let cost =
            tokens::of_json(&Page { narrow: empty.narrow, next_cursor: empty.next_cursor.clone(), ..page.clone() });
        if cost + tokens::META <= budget || items.len() <= 1 {
            let left = budget.saturating_sub(cost + tokens::META);
            let is_first = |left: &Hit| symbols.iter().take(told.first).any(|(hit, _)| hit.symbol == left.symbol);
            let sure = if rest.iter().any(is_first) { Confidence::Medium } else { Confidence::High };
            let sure = sure.min(told.confidence);
            let is_sure = sure == Confidence::High;
            let more = if is_sure { Vec::new() } else { named(snapshot, &items, &rest, left) };
            return Ok(Packed { page: Page { confidence: sure.as_str(), more, ..page }, rest });
        }
        if let Some((place, _)) = items.pop() {
            rest.push(symbols[place].0.clone());
        }
    }
}

/// The ids of hits that fit into this many tokens: first one for each file without sent symbols, then the others.
fn named(snapshot: &Snapshot, sent: &[(usize, Item)], rest: &[Hit], left: usize) -> Vec<String> {
    let path = |id: &str| id.split("::").next().unwrap_or(id).to_owned();
    let mut files: HashSet<String> = sent.iter().map(|(_, item)| path(&item.symbol_id)).collect();
    let ids = rest.iter().filter_map(|hit| Some(snapshot.symbol(hit.symbol)?.id()));
    let (mut ids, others): (Vec<String>, Vec<String>) = ids.partition(|id| files.insert(path(id)));
    ids.extend(others);
    // The key and its brackets.
    let mut left = left.saturating_sub(5);
    let mut more = Vec::new();
    for id in ids.into_iter().take(MORE) {
        if !takes(&mut left, tokens::of_json(&id) + 1) {
            break;
        }
        more.push(id);
    }
    more
}

/// A symbol without its text.
fn item(hit: &Hit, symbol: &SymbolView<'_>, told: PackingContext<'_>) -> Item {
    let rounded = |score: f32| (f64::from(score) * 1_000.0).round() / 1_000.0;
    let relevance_score = rounded(hit.relevance / told.best.max(f32::MIN_POSITIVE));
    let centrality_score = rounded(hit.centrality);
    Item {
        symbol_id: symbol.id(),
        line: symbol.line(),
        relevance_score,
        centrality_score,
        combined_score: rounded(combined(hit.relevance / told.best.max(f32::MIN_POSITIVE), hit.centrality)),
        tokens: 0,
        source_line: None,
        source: None,
        left_out_lines: None,
        goes_on_at_line: None,
        signature: None,
        outline: Vec::new(),
        outline_left_out: 0,
        used_by: Vec::new(),
        tested_by: Vec::new(),
        facts: told.fields.of(symbol),
    }
}
