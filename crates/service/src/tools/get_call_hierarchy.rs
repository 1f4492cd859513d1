//! Callers and callees of a function.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{Facts, Fields};
use super::indexes::Repo;
use super::possible::{self, LookedAt, Possible, shortened};
use super::through::{CalledThrough, StoredAt};
use super::{Call, Error, Tool, ToolTier, related};
use codelode_base::model::Kind;
use codelode_query::text::enclosing;
use codelode_query::{self as query, Caller};
use codelode_store::{EdgeTable, SymbolId, SymbolView};

/// Find who calls a function (callers) and what it ends up calling (callees): call chain, recursively.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its id or name.
    symbol_id: String,
    /// Default: callers if compact, otherwise both.
    #[serde(default)]
    direction: Option<Direction>,
    /// Callees instead of callers.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    callees: bool,
    /// Limit of steps (default: 1 if compact, otherwise 2).
    #[serde(default)]
    depth: Option<u32>,
    /// Include callers of overridden methods.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    through: bool,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    fields: Option<Vec<String>>,
}

/// Direction of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Its callers.
    Callers,
    /// Its callees.
    Callees,
    /// Both.
    Both,
}

/// Calls of one symbol, or of each that a name may mean.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// The answer for one symbol.
    One(Box<Calls>),
    /// The answer for several symbols of that name.
    Many {
        /// One answer for each symbol, by path and line.
        results: Vec<Calls>,
    },
}

/// Callers and callees of a symbol, nearest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Calls {
    symbol: String,
    line: u32,
    /// Other places that define the same symbol, as in find_references.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_at: Vec<String>,
    /// Methods it overrides; their callers may reach it and are marked `via`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overrides: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callers: Option<Vec<Item>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callees: Option<Vec<Item>>,
    /// `path:line` of calls outside functions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    called_outside_functions: Vec<String>,
    /// First places (`path:line in symbol`) where the function is passed as a value and may be called later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    handed_on: Vec<String>,
    /// Where it is stored, each place with the field, table or parameter that holds it, if the source says it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stored: Vec<StoredAt>,
    /// Functions that call these fields, tables and parameters. They are no callers: others may be stored there too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    called_through: Vec<CalledThrough>,
    /// In a compact answer without callers: decorators and bases of its class that may call it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    known_outside: Vec<String>,
    /// Callers not listed: they call a base method that this one overrides or implements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    through: Vec<Through>,
    /// In a compact answer: how many files were searched for callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    looked_at: Option<LookedAt>,
    /// Number of further calls that may mean it: their receiver has an unknown type.
    #[serde(skip_serializing_if = "is_zero")]
    possible_callers: usize,
    #[serde(flatten)]
    unsure: Possible,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Callers of an overridden or implemented method.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Through {
    id: String,
    callers: usize,
}

/// A caller or callee.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    name: String,
    file: String,
    line: u32,
    /// Lines of the calls, in the caller's file.
    at: Vec<u32>,
    /// Text of the lines in `at`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<String>,
    /// The caller's file, for a distant callee defined elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_file: Option<String>,
    /// Calls away from the symbol; absent if one. The step to an overridden method counts.
    #[serde(skip_serializing_if = "is_one")]
    depth: u32,
    /// Intermediate symbol, from depth 2; or the overridden method that is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    /// Whether the caller calls `via`, a base method of the symbol, and not the symbol itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    through: bool,
    /// For a callee: overriding methods that may run instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overridden_by: Vec<String>,
    #[serde(flatten)]
    facts: Facts,
}

fn is_one(n: &u32) -> bool {
    *n == 1
}

/// See [`Args`].
pub struct GetCallHierarchy;

/// The deepest level of calls followed.
const DEEPEST: u32 = 5;
/// The most lines of calls listed for each.
const MOST_LINES: usize = 10;
/// The most methods named that override a callee.
const MOST_OVERRIDES: usize = 5;
/// The most symbols of one name that are answered for.
const MOST_SYMBOLS: usize = 10;
/// Functions of each direction on a page.
const PAGE: usize = 50;
/// The most callers through other methods that a compact answer lists beside direct ones without being asked.
const MOST_THROUGH: usize = 10;

impl Tool for GetCallHierarchy {
    const NAME: &'static str = "get_call_hierarchy";
    const COMMAND: &'static str = "calls";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Lean);
    const ALWAYS_LOADED: bool = true;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let fields = Fields::read(args.fields.as_deref())?;
        // A reader asks again for more; programs know the wider defaults.
        let is_brief = call.compact || call.request.for_people;
        let usual = if is_brief { Direction::Callers } else { Direction::Both };
        let direction = if args.callees { Direction::Callees } else { args.direction.unwrap_or(usual) };
        let depth = call.at_most("depth", args.depth.unwrap_or(if is_brief { 1 } else { 2 }), DEEPEST);
        let asked = Asked { direction, depth, through: args.through, is_brief, fields: &fields };
        let (mut results, counts) = related::answer(call, args.repo.as_deref(), |repo, edges| {
            fields.know(call, repo);
            let groups = related::all(repo, edges, &args.symbol_id)?;
            let asked_about: Vec<SymbolView<'_>> = groups.iter().take(MOST_SYMBOLS).flatten().copied().collect();
            related::note_cut_off(call, &query::cut_off(&repo.snapshot, &asked_about));
            let (mut results, mut counts, mut paths) = (Vec::new(), [0; 2], Vec::new());
            for twins in groups.iter().take(MOST_SYMBOLS) {
                related::check_language(&repo.snapshot, &twins[0])?;
                let (calls, of_it) = calls_of(call, repo, edges, twins, &asked);
                paths.extend(calls.paths(twins));
                counts = [counts[0].max(of_it[0]), counts[1].max(of_it[1])];
                results.push(calls);
            }
            if groups.len() > MOST_SYMBOLS {
                let message = format!("{} more have this name; give an id", groups.len() - MOST_SYMBOLS);
                call.note("hint", message);
            }
            call.absent(results.iter().any(Calls::has_no_callers));
            Ok(((results, counts), paths))
        })?;
        call.found(results.iter().any(Calls::has_any));
        call.narrow("get the rest with next_cursor; depth 1 and one direction are less");
        if results.len() > 1 {
            call.list("results");
            return Ok(Output::Many { results: call.page(results, usize::MAX) });
        }
        // Both directions go on from one page to the next; the longer one says when it is the last.
        let only = results.remove(0);
        call.list(if counts[0] >= counts[1] && only.callers.is_some() { "callers" } else { "callees" });
        call.total(counts[0].max(counts[1]));
        Ok(Output::One(Box::new(only)))
    }
}

/// The question about each symbol.
struct Asked<'a> {
    direction: Direction,
    depth: u32,
    /// Whether all callers through other methods are listed.
    through: bool,
    is_brief: bool,
    fields: &'a Fields,
}

impl Asked<'_> {
    /// Whether these callers through other methods are listed beside so many direct ones.
    fn lists(&self, n_through: usize, n_direct: usize) -> bool {
        self.through || n_direct == 0 || n_through <= MOST_THROUGH
    }
}

/// The callers and callees of twins, with the number of each on all pages.
fn calls_of(
    call: &Call<'_>,
    repo: &Repo,
    edges: &EdgeTable,
    twins: &[SymbolView<'_>],
    asked: &Asked<'_>,
) -> (Calls, [usize; 2]) {
    let symbol = &twins[0];
    let mut calls = Calls {
        symbol: symbol.id(),
        line: symbol.line(),
        also_at: related::others_at(twins),
        overrides: query::overridden(&repo.snapshot, edges, symbol).iter().map(SymbolView::id).collect(),
        callers: None,
        callees: None,
        called_outside_functions: Vec::new(),
        handed_on: Vec::new(),
        stored: Vec::new(),
        called_through: Vec::new(),
        known_outside: Vec::new(),
        through: Vec::new(),
        looked_at: None,
        possible_callers: 0,
        unsure: Possible::default(),
    };
    let mut counts = [0; 2];
    if asked.direction != Direction::Callees {
        let (mut callers, outside) = followed(repo, edges, twins, query::Direction::Callers, asked.depth);
        // A compact answer is about calls of the symbol itself.
        if asked.is_brief && asked.depth == 1 {
            let (mut through, direct): (Vec<_>, Vec<_>) = callers.into_iter().partition(|one| one.through.is_some());
            callers = direct;
            through.extend(through_satisfied(repo, edges, twins, &callers));
            match asked.lists(through.len(), callers.len()) {
                true => callers.extend(through),
                false => calls.through = counted(repo, &through),
            }
            if callers.is_empty() && outside.is_empty() {
                let known = twins.iter().flat_map(|twin| query::known_outside(&repo.snapshot, edges, twin));
                calls.known_outside = known.collect();
            }
        }
        counts[0] = callers.len();
        calls.callers = Some(page(call, repo, edges, callers, symbol, (false, asked.fields)));
        let place = |place: &query::UseSite<'_>| format!("{}:{}", place.file.path(), place.line);
        calls.called_outside_functions = outside.iter().take(MOST_LINES).map(place).collect();
        add_handed_on(&mut calls, repo, edges, twins);
        let possible = possible::places(repo, edges, twins, true);
        calls.possible_callers = possible.len();
        calls.unsure = Possible::of(repo, &possible);
        if asked.is_brief && asked.depth == 1 {
            calls.looked_at = Some(LookedAt::of(repo, twins).with_others(repo, edges, twins, &possible));
        }
    }
    if asked.direction != Direction::Callers {
        let (callees, _) = followed(repo, edges, twins, query::Direction::Callees, asked.depth);
        counts[1] = callees.len();
        calls.callees = Some(page(call, repo, edges, callees, symbol, (true, asked.fields)));
    }
    (calls, counts)
}

/// Where functions are used as values, with the symbol around each place, what holds them there, and who calls it.
fn add_handed_on(calls: &mut Calls, repo: &Repo, edges: &EdgeTable, twins: &[SymbolView<'_>]) {
    for symbol in twins.iter().filter(|symbol| matches!(symbol.kind(), Kind::Function | Kind::Method)) {
        let stored = query::stored(&repo.snapshot, edges, symbol.number());
        for one in &stored {
            let place = &one.site;
            let around = enclosing(&place.file, u64::from(place.line));
            let within = around.map_or_else(String::new, |own| format!(" in {}", own.qualified_name()));
            let at = format!("{}:{}", place.file.path(), place.line);
            let shown = format!("{at}{within}");
            if calls.handed_on.len() >= MOST_LINES || calls.handed_on.contains(&shown) {
                continue;
            }
            calls.handed_on.push(shown);
            let slots = one.slots.iter().map(|slot| StoredAt { at: at.clone(), slot: slot.label.clone() });
            calls.stored.extend(slots);
        }
        for through in query::called_through(&repo.snapshot, edges, &stored).into_iter().take(MOST_LINES) {
            calls.called_through.push(CalledThrough::of(&through));
        }
    }
}

/// Callers of the methods of interfaces that the class of some twins satisfies without naming them.
fn through_satisfied<'a>(
    repo: &'a Repo,
    edges: &'a EdgeTable,
    twins: &[SymbolView<'_>],
    direct: &[Caller<'_>],
) -> Vec<Caller<'a>> {
    let mut found: Vec<Caller<'a>> = Vec::new();
    for method in twins.iter().flat_map(|twin| query::satisfied(&repo.snapshot, edges, twin)) {
        let (callers, _) = query::calls(&repo.snapshot, edges, method.number(), query::Direction::Callers, 1);
        for mut caller in callers.into_iter().filter(|caller| caller.through.is_none()) {
            let is_same = |other: &Caller<'_>| other.symbol.number() == caller.symbol.number();
            if !direct.iter().any(is_same) && !found.iter().any(is_same) {
                caller.through = Some(method.number());
                found.push(caller);
            }
        }
    }
    found
}

/// The number of callers through each method, in the order of the callers.
fn counted(repo: &Repo, callers: &[Caller<'_>]) -> Vec<Through> {
    let mut counts: Vec<(SymbolId, usize)> = Vec::new();
    for through in callers.iter().filter_map(|caller| caller.through) {
        match counts.iter_mut().find(|(known, _)| *known == through) {
            Some((_, count)) => *count += 1,
            None => counts.push((through, 1)),
        }
    }
    let through = |(method, callers)| Some(Through { id: repo.snapshot.symbol(method)?.id(), callers });
    counts.into_iter().filter_map(through).collect()
}

/// Callers or callees of any of some twins, each once.
fn followed<'a>(
    repo: &'a Repo,
    edges: &'a EdgeTable,
    twins: &[SymbolView<'_>],
    direction: query::Direction,
    depth: u32,
) -> (Vec<Caller<'a>>, Vec<query::UseSite<'a>>) {
    let (mut all, mut outside): (Vec<Caller<'a>>, Vec<query::UseSite<'a>>) = (Vec::new(), Vec::new());
    for twin in twins {
        let (found, beyond) = query::calls(&repo.snapshot, edges, twin.number(), direction, depth);
        for caller in found {
            match all.iter_mut().find(|known| known.symbol.number() == caller.symbol.number()) {
                Some(known) => {
                    known.lines.extend(caller.lines);
                    known.lines.sort_unstable();
                    known.lines.dedup();
                }
                None => all.push(caller),
            }
        }
        for place in beyond {
            if !outside.iter().any(|known| (known.edge.file, known.edge.at) == (place.edge.file, place.edge.at)) {
                outside.push(place);
            }
        }
    }
    (all, outside)
}

/// A page of callers or callees, the nearest first; as near, what is tested comes before its tests.
fn page(
    call: &Call<'_>,
    repo: &Repo,
    edges: &EdgeTable,
    mut found: Vec<Caller<'_>>,
    symbol: &SymbolView<'_>,
    (is_callee, fields): (bool, &Fields),
) -> Vec<Item> {
    found.sort_by_key(|caller| (steps(caller), caller.symbol.file.is_test()));
    let page = found.into_iter().skip(call.offset).take(call.per_page(PAGE));
    page.map(|caller| item(repo, edges, caller, symbol, (is_callee, fields))).collect()
}

impl Calls {
    fn has_any(&self) -> bool {
        let mut lists = [&self.callers, &self.callees].into_iter().flatten();
        !self.handed_on.is_empty() || !self.through.is_empty() || lists.any(|items| !items.is_empty())
    }

    fn has_no_callers(&self) -> bool {
        self.callers.as_ref().is_some_and(Vec::is_empty)
            && self.called_outside_functions.is_empty()
            && self.handed_on.is_empty()
            && self.through.is_empty()
    }

    /// Files that the answer is about.
    fn paths(&self, twins: &[SymbolView<'_>]) -> Vec<String> {
        let items = [&self.callers, &self.callees].into_iter().flatten().flatten();
        let own = twins.iter().map(|symbol| symbol.file.path().to_owned());
        let through = self.called_through.iter().map(|one| one.file.clone());
        own.chain(items.map(|item| item.file.clone())).chain(through).chain(self.unsure.files()).collect()
    }
}

/// Steps to a caller or callee; the one to an overridden method counts.
fn steps(caller: &Caller<'_>) -> u32 {
    caller.depth + u32::from(caller.through.is_some())
}

fn item(
    repo: &Repo,
    edges: &EdgeTable,
    caller: Caller<'_>,
    asked: &SymbolView<'_>,
    (is_callee, fields): (bool, &Fields),
) -> Item {
    let depth = steps(&caller);
    let symbol = caller.symbol;
    let before = repo.snapshot.symbol(caller.via);
    // Twins are the symbol itself.
    let between = before.filter(|before| before.number() != asked.number() && caller.depth > 1);
    let is_through = caller.through.is_some() && caller.depth == 1;
    let via = caller.through.and_then(|via| repo.snapshot.symbol(via)).or(between);
    let overriding = if is_callee { query::overriding(&repo.snapshot, edges, &symbol) } else { Vec::new() };
    let at: Vec<u32> = caller.lines.into_iter().take(MOST_LINES).collect();
    let calling = if is_callee { before.map_or(asked.file, |before| before.file) } else { symbol.file };
    let calling_path = between.filter(|_| is_callee).map(|between| between.file.path());
    Item {
        id: symbol.id(),
        name: symbol.name().into_owned(),
        file: symbol.file.path().to_owned(),
        line: symbol.line(),
        calls: query::texts_of_lines(calling, &at).into_iter().map(shortened).collect(),
        at,
        at_file: calling_path.filter(|path| *path != symbol.file.path()).map(str::to_owned),
        depth,
        via: via.map(|symbol| symbol.qualified_name()),
        through: is_through,
        overridden_by: overriding.iter().take(MOST_OVERRIDES).map(SymbolView::qualified_name).collect(),
        facts: fields.of(&symbol),
    }
}
