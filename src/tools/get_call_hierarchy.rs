//! Callers and callees of a function.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{Facts, Fields};
use super::indexes::Repo;
use super::{Call, Error, Tool, ToolTier, related};
use crate::query::{self, Caller};
use crate::store::SymbolId;

/// Who calls a function (callers) and what it ends up calling (callees): call chain, recursively, several levels deep.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: the current one).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    symbol_id: String,
    /// Direction.
    #[serde(default)]
    direction: Direction,
    /// How many calls away.
    #[serde(default = "two")]
    depth: u32,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    fields: Option<Vec<String>>,
}

fn two() -> u32 {
    2
}

/// Direction in which calls are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Its callers.
    Callers,
    /// Whom it calls.
    Callees,
    /// Both.
    #[default]
    Both,
}

/// Nearest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    symbol: String,
    /// Methods that it overrides: who calls those may reach it, marked `via`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overrides: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callers: Option<Vec<Item>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callees: Option<Vec<Item>>,
    /// `path:line` of calls outside of every function.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    called_outside_functions: Vec<String>,
    /// Calls by a name that may mean this, for nothing is known of what it belongs to; not among the callers.
    #[serde(skip_serializing_if = "is_zero")]
    possible_callers: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A function at the other end of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    name: String,
    file: String,
    line: u32,
    /// Lines of the calls, in the file of the one who calls.
    at: Vec<u32>,
    /// How many steps away, from two on: calls, and the way to a method that is overridden.
    #[serde(skip_serializing_if = "is_one")]
    depth: u32,
    /// The symbol between, from depth two on; or the overridden one that is called instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
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
/// Functions of each direction on a page.
const PAGE: usize = 50;

impl Tool for GetCallHierarchy {
    const NAME: &'static str = "get_call_hierarchy";
    const COMMAND: &'static str = "calls";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Lean);
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let fields = Fields::read(args.fields.as_deref())?;
        let depth = call.at_most("depth", args.depth, DEEPEST);
        let (output, counts) = related::answer(call, args.repo.as_deref(), |repo, edges| {
            fields.know(call, repo);
            let symbol = related::symbol(repo, &args.symbol_id)?;
            related::check_language(&repo.snapshot, &symbol)?;
            let snapshot = &repo.snapshot;
            let follow = |direction| query::calls(snapshot, edges, symbol.number(), direction, depth);
            let mut output = Output {
                symbol: symbol.id(),
                overrides: query::overridden(snapshot, edges, &symbol).iter().map(|above| above.id()).collect(),
                callers: None,
                callees: None,
                called_outside_functions: Vec::new(),
                possible_callers: 0,
            };
            let mut paths = vec![symbol.file.path().to_owned()];
            let mut counts = [0; 2];
            let mut take = |mut found: Vec<Caller<'_>>, count: &mut usize| -> Vec<Item> {
                *count = found.len();
                // As near, what is tested comes before its tests.
                found.sort_by_key(|caller| (steps(caller), caller.symbol.file.is_test()));
                let page = found.into_iter().skip(call.offset).take(call.per_page(PAGE));
                let items: Vec<Item> = page.map(|caller| item(repo, caller, symbol.number(), &fields)).collect();
                paths.extend(items.iter().map(|item| item.file.clone()));
                items
            };
            if args.direction != Direction::Callees {
                let (callers, outside) = follow(query::Direction::Callers);
                output.callers = Some(take(callers, &mut counts[0]));
                let place = |place: &query::UseSite<'_>| format!("{}:{}", place.file.path(), place.line);
                output.called_outside_functions = outside.iter().take(MOST_LINES).map(place).collect();
                let name = symbol.name();
                let possible = edges.possible(name.as_bytes());
                output.possible_callers = possible.filter(|edge| edge.role() == crate::model::Role::Call).count();
            }
            if args.direction != Direction::Callers {
                output.callees = Some(take(follow(query::Direction::Callees).0, &mut counts[1]));
            }
            call.absent(
                output.callers.as_ref().is_some_and(Vec::is_empty) && output.called_outside_functions.is_empty(),
            );
            Ok(((output, counts), paths))
        })?;
        // Both directions go on from one page to the next; the longer one says when it is the last.
        call.list(if counts[0] >= counts[1] && output.callers.is_some() { "callers" } else { "callees" });
        call.total(counts[0].max(counts[1]));
        let found = |items: &Option<Vec<Item>>| items.as_ref().is_some_and(|items| !items.is_empty());
        call.found(found(&output.callers) || found(&output.callees));
        call.narrow("the rest comes with next_cursor; depth 1 and one direction are less");
        Ok(output)
    }
}

/// Steps to a caller or callee; the one to an overridden method counts.
fn steps(caller: &Caller<'_>) -> u32 {
    caller.depth + u32::from(caller.through.is_some())
}

fn item(repo: &Repo, caller: Caller<'_>, asked: SymbolId, fields: &Fields) -> Item {
    let depth = steps(&caller);
    let symbol = caller.symbol;
    let between = (caller.via != asked).then_some(caller.via);
    let via = caller.through.or(between).and_then(|via| repo.snapshot.symbol(via));
    Item {
        id: symbol.id(),
        name: symbol.name().into_owned(),
        file: symbol.file.path().to_owned(),
        line: symbol.line(),
        at: caller.lines.into_iter().take(MOST_LINES).collect(),
        depth,
        via: via.map(|symbol| symbol.qualified_name()),
        facts: fields.of(&symbol),
    }
}
