//! Symbols and files without uses.

use std::collections::BTreeMap;

use globset::{Glob, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Error, Tool, related};
use codelode_query::dead::Options;
use codelode_query::{self as query, Dead, DeadCode, DeadFile, Tier};
use codelode_store::{Snapshot, SymbolView};

/// Detect dead or unused code: functions, methods, classes or files without any call or use, not reached from an entry
/// point.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Symbols or files.
    #[serde(default)]
    granularity: Granularity,
    /// From 0.5 to 1.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    min_confidence: Option<f64>,
    /// Default: certain and likely.
    #[serde(default)]
    tiers: Vec<TierWord>,
    /// A symbol: list the rules that apply to it.
    #[serde(default)]
    explain: Option<String>,
    /// Include tests.
    #[serde(default)]
    include_tests: bool,
    /// Globs of used paths, names or ids.
    #[serde(default)]
    entry_point_patterns: Vec<String>,
}

/// How sure it is that nothing needs a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TierWord {
    /// Surely unused: private, and named nowhere.
    Certain,
    /// Only tests use it.
    OnlyTests,
    /// Visible inside the program; nothing uses it.
    Likely,
    /// Only dead code uses it.
    DeadUsers,
    /// It may be used in a way that a rule names.
    Unclear,
    /// Public API: other programs may use it.
    PublicApi,
}

impl From<Tier> for TierWord {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Certain => Self::Certain,
            Tier::OnlyTests => Self::OnlyTests,
            Tier::Likely => Self::Likely,
            Tier::DeadUsers => Self::DeadUsers,
            Tier::Unclear => Self::Unclear,
            Tier::PublicApi => Self::PublicApi,
        }
    }
}

/// Unit of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// Symbols; members of a dead one are not listed.
    #[default]
    Symbol,
    /// Files.
    File,
}

/// The surest first, then by path and place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    granularity: Granularity,
    /// Lowest confidence that is listed.
    min_confidence: f64,
    /// Number of entry points: main functions, decorated symbols, public API.
    live_root_count: usize,
    /// Number of symbols not listed because an unresolved reference may mean them.
    #[serde(skip_serializing_if = "is_zero")]
    perhaps_used_count: usize,
    /// Skipped files: languages without relations, generated and vendored code.
    #[serde(skip_serializing_if = "is_zero")]
    files_not_judged: usize,
    /// Number of symbols not listed, by tier.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    not_listed: BTreeMap<String, usize>,
    dead_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    dead_symbols: Option<Vec<Item>>,
    /// Replaces symbols for `granularity: file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dead_files: Option<Vec<Item>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<Explained>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A dead symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol_id: Option<String>,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    tier: TierWord,
    confidence: f64,
    /// The rule that keeps the symbol from a surer tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    importer_count: Option<usize>,
}

/// The rules that apply to a symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    symbol_id: String,
    /// Tier of the symbol; absent if something uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<TierWord>,
    rules: Vec<Spoken>,
}

/// A rule that applies, with its reason.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Spoken {
    rule: String,
    reason: String,
}

/// See [`Args`].
pub struct FindDeadCode;

impl Tool for FindDeadCode {
    const NAME: &'static str = "find_dead_code";
    const COMMAND: &'static str = "dead";
    const LIST: Option<&'static str> = Some("dead_symbols");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        patterns(&args.entry_point_patterns)?;
        let mut output = related::answer(call, args.repo.as_deref(), |repo, edges| {
            related::note_unread(call, repo);
            let snapshot = &repo.snapshot;
            let patterns = patterns(&[&*args.entry_point_patterns, &snapshot.facts().roles.entry_points].concat())?;
            let asked = args.explain.as_deref().map(|name| asked_symbol(snapshot, name)).transpose()?;
            let explain = asked.map(|symbol| symbol.number());
            let options = Options { tests: args.include_tests, explain, ..Options::new(&patterns) };
            let mut found = query::dead_code(snapshot, edges, &options);
            for (path, text) in related::large_sources(call, repo) {
                found.doubt_names_in(&path, &text);
            }
            let is_whole = related::are_whole(edges);
            let mut all = match args.granularity {
                Granularity::Symbol => symbols(&found, is_whole),
                Granularity::File => files(&found, is_whole),
            };
            let explained = asked.map(|symbol| explained(&symbol, &found, &all));
            let mut not_listed = BTreeMap::new();
            all.retain(|item| {
                let is_listed = args.lists(item);
                if !is_listed {
                    *not_listed.entry(word(item.tier)).or_default() += 1;
                }
                is_listed
            });
            all.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
            // Each is said to have no users.
            call.absent(true);
            let paths = all.iter().map(|item| item.file.clone()).collect();
            let dead_count = all.len();
            let (dead_symbols, dead_files) = match args.granularity {
                Granularity::Symbol => (Some(all), None),
                Granularity::File => (None, Some(all)),
            };
            let output = Output {
                granularity: args.granularity,
                min_confidence: args.least(),
                live_root_count: found.roots,
                perhaps_used_count: found.perhaps_used,
                files_not_judged: found.files_not_judged,
                not_listed,
                dead_count,
                dead_symbols,
                dead_files,
                explained,
            };
            Ok((output, paths))
        })?;
        if args.granularity == Granularity::File {
            call.list("dead_files");
        }
        let dead =
            if args.granularity == Granularity::File { &mut output.dead_files } else { &mut output.dead_symbols };
        call.found(dead.as_ref().is_some_and(|dead| !dead.is_empty()));
        call.narrow("give min_confidence 1");
        *dead = dead.take().map(|dead| call.page(dead, usize::MAX));
        Ok(output)
    }
}

impl Args {
    /// Whether a verdict is listed.
    fn lists(&self, item: &Item) -> bool {
        match self.min_confidence {
            Some(least) => {
                item.confidence >= least - 1e-9 && (self.tiers.is_empty() || self.tiers.contains(&item.tier))
            }
            None if self.tiers.is_empty() => matches!(item.tier, TierWord::Certain | TierWord::Likely),
            None => self.tiers.contains(&item.tier),
        }
    }

    /// Lowest confidence that is listed.
    fn least(&self) -> f64 {
        let listed = Tier::ALL.iter().filter(|tier| self.tiers.contains(&TierWord::from(**tier)));
        let of_tiers = listed.map(|tier| tier.confidence()).reduce(f64::min);
        self.min_confidence.or(of_tiers).unwrap_or(Tier::Likely.confidence())
    }
}

/// Dead symbols as items. Where not every name was resolved, none is sure.
fn symbols(found: &DeadCode<'_>, is_whole: bool) -> Vec<Item> {
    let item = |dead: &Dead<'_>| {
        let (tier, reason) = known(dead.tier, dead.reason.clone(), is_whole);
        let (file, line) = (dead.symbol.file.path().to_owned(), Some(dead.symbol.line()));
        let (symbol_id, rule) = (Some(dead.symbol.id()), dead.rule.map(str::to_owned));
        Item {
            symbol_id,
            file,
            line,
            tier: tier.into(),
            confidence: confidence(tier, is_whole),
            rule,
            reason,
            importer_count: None,
        }
    };
    found.symbols.iter().map(item).collect()
}

/// Dead files as items.
fn files(found: &DeadCode<'_>, is_whole: bool) -> Vec<Item> {
    let item = |dead: &DeadFile<'_>| {
        let (tier, reason) = known(dead.tier, dead.tier.reason().to_owned(), is_whole);
        let (file, importer_count) = (dead.file.path().to_owned(), Some(dead.importers));
        let confidence = confidence(tier, is_whole);
        Item { symbol_id: None, file, line: None, tier: tier.into(), confidence, rule: None, reason, importer_count }
    };
    found.files.iter().map(item).collect()
}

/// A verdict as far as names are known.
fn known(tier: Tier, reason: String, is_whole: bool) -> (Tier, String) {
    let is_doubtful = !is_whole && tier > Tier::Unclear;
    if is_doubtful { (Tier::Unclear, "not every name was resolved".to_owned()) } else { (tier, reason) }
}

fn confidence(tier: Tier, is_whole: bool) -> f64 {
    if is_whole { tier.confidence() } else { tier.confidence().min(UNRESOLVED) }
}

/// The confidence where not every name was resolved.
const UNRESOLVED: f64 = 0.5;

/// The only symbol of a name or an id.
fn asked_symbol<'a>(snapshot: &'a Snapshot, name: &str) -> Result<SymbolView<'a>, Error> {
    let found = query::by_id(snapshot, name).ok().or_else(|| query::named(snapshot, name).into_iter().next());
    found.ok_or_else(|| Error::invalid_arguments(format!("`explain`: no symbol is named {name}")))
}

fn explained(symbol: &SymbolView<'_>, found: &DeadCode<'_>, all: &[Item]) -> Explained {
    let symbol_id = symbol.id();
    let tier = all.iter().find(|item| item.symbol_id.as_ref() == Some(&symbol_id)).map(|item| item.tier);
    let spoken = |(rule, reason): &(&'static str, String)| Spoken { rule: (*rule).to_owned(), reason: reason.clone() };
    Explained { symbol_id, tier, rules: found.explained.iter().map(spoken).collect() }
}

fn word(tier: TierWord) -> String {
    serde_json::to_value(tier).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}

fn patterns(globs: &[String]) -> Result<GlobSet, Error> {
    let wrong = |err: globset::Error| Error::invalid_arguments(format!("`entry_point_patterns`: {err}"));
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(Glob::new(glob).map_err(wrong)?);
    }
    set.build().map_err(wrong)
}
