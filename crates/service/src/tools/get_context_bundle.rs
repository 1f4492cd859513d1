//! A symbol with its imports, dependencies and callers.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blame::{Blame, Blaming};
use super::fields::{Facts, Fields, source_line};
use super::indexes::Repo;
use super::{Call, Error, SIGNATURE, Tool, related, tokens};
use codelode_base::model::{Detail, Kind};
use codelode_query::{self as query, Direction};
use codelode_store::{EdgeTable, RankTable, SymbolId, SymbolView};

/// Get everything needed to understand or edit one symbol: its source along with the imports it needs, dependencies
/// and, on request, callers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    #[serde(default)]
    symbol_id: Option<String>,
    /// Several ids.
    #[serde(default)]
    symbol_ids: Option<Vec<String>>,
    /// Token limit of the bundle.
    #[serde(default = "four_thousand")]
    token_budget: u64,
    /// Order of dependencies.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    budget_strategy: Strategy,
    /// Its callers.
    #[serde(default)]
    include_callers: bool,
    /// Report parts that did not fit.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    include_budget_report: bool,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    fields: Option<Vec<String>>,
    /// Include who changed it last.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    blame: bool,
    /// Output form.
    #[serde(default)]
    output: Written,
}

fn four_thousand() -> u64 {
    4_000
}

/// Order if not everything fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Most used by these symbols.
    #[default]
    MostRelevant,
    /// Most central in the repository.
    CoreFirst,
    /// Signatures only.
    Compact,
}

/// Output form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// JSON fields.
    #[default]
    Json,
    /// The bundle as one text.
    Markdown,
}

/// The symbols, then what they use.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Output {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<Item>,
    /// Needed import statements, by file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    imports: Vec<Imports>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependencies: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callers: Option<Vec<Item>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_report: Option<Report>,
    /// Ids that no symbol has (for several).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Unknown>,
}

/// An id that no symbol has.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Unknown {
    id: String,
    error: String,
}

/// A symbol: its source if it fits, otherwise its signature.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    symbol_id: String,
    line: u32,
    /// As in get_symbol_source.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// As in get_symbol_source.
    #[serde(skip_serializing_if = "Option::is_none")]
    blame: Option<Blame>,
    #[serde(flatten)]
    facts: Facts,
}

/// The import statements of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Imports {
    file: String,
    /// Whole statements, each one or more lines.
    statements: Vec<String>,
}

/// Symbols that the budget left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    budget_tokens: usize,
    used_tokens: usize,
    included_symbols: usize,
    /// Number of dependencies and callers that did not fit.
    excluded_symbols: usize,
    strategy: Strategy,
}

/// See [`Args`].
pub struct GetContextBundle;

/// Tokens of the frame around an item in the answer.
const AROUND: usize = 12;
/// The size in bytes beyond which a dependency is shown by its signature.
const LARGE: usize = 2_000;

impl Tool for GetContextBundle {
    const NAME: &'static str = "get_context_bundle";
    const COMMAND: &'static str = "bundle";
    const POSITIONAL: &'static [&'static str] = &["symbol_ids"];
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let ids: Vec<&String> = args.symbol_id.iter().chain(args.symbol_ids.iter().flatten()).collect();
        if ids.is_empty() {
            return Err(Error::invalid_arguments("give `symbol_id`, or `symbol_ids` for several"));
        }
        let output = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let (mut symbols, mut errors) = (Vec::new(), Vec::new());
            for id in &ids {
                match related::each(call, repo, id) {
                    Ok(meant) => symbols.extend(meant),
                    Err(err) if ids.len() == 1 => return Err(err),
                    Err(err) => errors.push(Unknown { id: (*id).clone(), error: err.message }),
                }
            }
            let bundle = Output { errors, ..bundle(call, repo, edges, &symbols, &args)? };
            let paths = symbols.iter().map(|symbol| symbol.file.path().to_owned()).collect();
            Ok((bundle, paths))
        })?;
        call.found(output.errors.len() < ids.len());
        call.narrow("give a smaller token_budget");
        Ok(output)
    }
}

/// The remaining budget.
struct Budget {
    fields: Fields,
    left: usize,
    excluded: usize,
    compact: bool,
}

impl Budget {
    /// A symbol with as much detail as fits.
    fn item(&mut self, symbol: &SymbolView<'_>, whole: bool) -> Option<Item> {
        let symbol_id = symbol.id();
        let facts = self.fields.of(symbol);
        let told = serde_json::to_string(&facts).unwrap_or_default();
        let frame = tokens::estimate(&symbol_id) + tokens::estimate(&told) + AROUND;
        let line = symbol.line();
        let mut item = Item { symbol_id, line, source_line: None, signature: None, source: None, blame: None, facts };
        let source = symbol.shown();
        let cost = frame + tokens::estimate(&source);
        if whole && !self.compact && cost <= self.left {
            self.left -= cost;
            item.source = Some(source.into_owned());
            item.source_line = source_line(symbol);
            return Some(item);
        }
        let signature = symbol.signature(SIGNATURE);
        let cost = frame + tokens::estimate(&signature);
        if cost > self.left {
            self.excluded += 1;
            return None;
        }
        self.left -= cost;
        item.signature = Some(signature);
        Some(item)
    }

    /// Who changed a symbol last, where that fits.
    fn blame(&mut self, blaming: &Blaming<'_, '_>, symbol: &SymbolView<'_>) -> Option<Blame> {
        let blame = blaming.of(symbol);
        let cost = tokens::estimate(&serde_json::to_string(&blame).unwrap_or_default());
        self.left = self.left.checked_sub(cost)?;
        Some(blame)
    }
}

fn bundle(
    call: &Call<'_>,
    repo: &Repo,
    edges: &EdgeTable,
    symbols: &[SymbolView<'_>],
    args: &Args,
) -> Result<Output, Error> {
    let budget_tokens = usize::try_from(args.token_budget).unwrap_or(usize::MAX).min(call.max_tokens);
    let fields = Fields::read(args.fields.as_deref())?;
    fields.know(call, repo);
    let compact = args.budget_strategy == Strategy::Compact;
    let mut budget = Budget { fields, left: budget_tokens, excluded: 0, compact };
    let blaming = Blaming::new(call, repo);
    let asked = |symbol: &SymbolView<'_>| {
        let blame = args.blame.then(|| budget.blame(&blaming, symbol)).flatten();
        Some(Item { blame, ..budget.item(symbol, true)? })
    };
    let mut output = Output { symbols: symbols.iter().filter_map(asked).collect(), ..Output::default() };
    let mut files = HashSet::new();
    for first in symbols.iter().filter(|symbol| files.insert(symbol.file.number())) {
        let of_file = symbols.iter().filter(|symbol| symbol.file.number() == first.file.number());
        let of_file: Vec<SymbolView<'_>> = of_file.copied().collect();
        let mut statements = query::needed_imports(&repo.snapshot, edges, &of_file);
        statements.retain(|statement| {
            let cost = tokens::estimate(statement) + 2;
            let fits = cost <= budget.left;
            budget.left -= if fits { cost } else { 0 };
            fits
        });
        if !statements.is_empty() {
            output.imports.push(Imports { file: first.file.path().to_owned(), statements });
        }
    }
    let ranks = related::ranks(repo)?;
    let needed = dependencies(repo, edges, ranks, symbols, args.budget_strategy);
    let item = |symbol: &SymbolView<'_>| budget.item(symbol, symbol.span().len() <= LARGE);
    output.dependencies = needed.iter().filter_map(item).collect();
    if args.include_callers {
        let asked: HashSet<SymbolId> = symbols.iter().map(SymbolView::number).collect();
        let callers = symbols
            .iter()
            .flat_map(|symbol| query::calls(&repo.snapshot, edges, symbol.number(), Direction::Callers, 1).0);
        let mut seen = HashSet::new();
        let callers = callers.map(|caller| caller.symbol);
        let callers = callers.filter(|caller| !asked.contains(&caller.number()) && seen.insert(caller.number()));
        output.callers = Some(callers.filter_map(|caller| budget.item(&caller, false)).collect());
    }
    if args.include_budget_report {
        let callers = output.callers.as_ref().map_or(0, Vec::len);
        output.budget_report = Some(Report {
            budget_tokens,
            used_tokens: budget_tokens - budget.left,
            included_symbols: output.symbols.len() + output.dependencies.len() + callers,
            excluded_symbols: budget.excluded,
            strategy: args.budget_strategy,
        });
    }
    if args.output == Written::Markdown {
        let markdown = Some(markdown(&output));
        return Ok(Output { markdown, budget_report: output.budget_report, ..Output::default() });
    }
    Ok(output)
}

/// The symbols that some symbols and their members use, each once and without themselves: by frequency or by
/// centrality.
fn dependencies<'a>(
    repo: &'a Repo,
    edges: &EdgeTable,
    ranks: &RankTable,
    symbols: &[SymbolView<'_>],
    strategy: Strategy,
) -> Vec<SymbolView<'a>> {
    let mut counts: HashMap<SymbolId, usize> = HashMap::new();
    for symbol in symbols {
        let (file, span) = (symbol.file.number(), symbol.span());
        for edge in edges.in_file(file).iter().filter(|edge| span.start <= edge.at && edge.at < span.end) {
            edges.targets(edge).for_each(|target| *counts.entry(target).or_default() += 1);
        }
    }
    let inside = |other: &SymbolView<'_>| {
        symbols.iter().any(|symbol| symbol.file.number() == other.file.number() && symbol.span().contains(other.span()))
    };
    let mut found: Vec<(usize, SymbolView<'a>)> = counts
        .into_iter()
        .filter_map(|(id, count)| Some((count, repo.snapshot.symbol(id)?)))
        // A field is covered by its class; a value of a file is not.
        .filter(|(_, symbol)| !inside(symbol) && (symbol.kind() != Kind::Constant || symbol.parent().is_none()))
        // A path leads through modules to what is used.
        .filter(|(_, symbol)| symbol.detail() != Detail::Module)
        .collect();
    let share = |symbol: &SymbolView<'_>| ranks.of(symbol.number()).map_or(0.0, |rank| rank.score);
    found.sort_by(|(a_count, a), (b_count, b)| {
        let order = match strategy {
            Strategy::CoreFirst => share(b).total_cmp(&share(a)),
            _ => b_count.cmp(a_count),
        };
        order.then_with(|| a.file.path().cmp(b.file.path())).then_with(|| a.number().cmp(&b.number()))
    });
    found.into_iter().map(|(_, symbol)| symbol).collect()
}

/// The answer as one Markdown text.
fn markdown(output: &Output) -> String {
    let mut text = String::new();
    let mut part = |title: &str, items: &[Item]| {
        if !items.is_empty() {
            let _ = writeln!(text, "# {title}\n");
        }
        for item in items {
            let body = item.source.as_ref().or(item.signature.as_ref()).map_or("", |text| text.trim_end());
            let _ = writeln!(text, "## {} (line {})\n\n```\n{body}\n```\n", item.symbol_id, item.line);
            if let Some(blame) = &item.blame {
                let _ = writeln!(text, "{blame}\n");
            }
        }
    };
    part("Symbols", &output.symbols);
    part("Dependencies", &output.dependencies);
    part("Callers", output.callers.as_deref().unwrap_or_default());
    for imports in &output.imports {
        let _ = writeln!(text, "# Imports of {}\n\n```\n{}\n```\n", imports.file, imports.statements.join("\n"));
    }
    text
}
