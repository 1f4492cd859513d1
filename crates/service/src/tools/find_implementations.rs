//! Implementations of an interface, a class or a method.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{Facts, Fields};
use super::{Call, Error, Tool, ToolTier, related};
use codelode_query as query;

/// Find implementations of an interface, trait or abstract class: types that implement it, classes that derive from it,
/// methods that override.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    symbol_id: String,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    fields: Option<Vec<String>>,
}

/// Nearest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    symbol: String,
    implementations: Vec<Item>,
}

/// An implementing or overriding member.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    file: String,
    line: u32,
    /// Levels below the type; absent if one.
    #[serde(skip_serializing_if = "is_near")]
    depth: u32,
    #[serde(flatten)]
    facts: Facts,
}

fn is_near(depth: &u32) -> bool {
    *depth < 2
}

/// See [`Args`].
pub struct FindImplementations;

impl Tool for FindImplementations {
    const NAME: &'static str = "find_implementations";
    const COMMAND: &'static str = "implementations";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    const LIST: Option<&'static str> = Some("implementations");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let fields = Fields::read(args.fields.as_deref())?;
        let mut output = related::answer(call, args.repo.as_deref(), |repo, edges| {
            fields.know(call, repo);
            let symbol = related::symbol(repo, &args.symbol_id)?;
            related::check_language(&repo.snapshot, &symbol)?;
            let found = query::implementations(&repo.snapshot, edges, &symbol);
            let item = |(symbol, depth): &(codelode_store::SymbolView<'_>, u32)| Item {
                id: symbol.id(),
                file: symbol.file.path().to_owned(),
                line: symbol.line(),
                depth: *depth,
                facts: fields.of(symbol),
            };
            let implementations: Vec<Item> = found.iter().map(item).collect();
            let mut paths: Vec<String> = implementations.iter().map(|item| item.file.clone()).collect();
            paths.push(symbol.file.path().to_owned());
            call.absent(implementations.is_empty());
            Ok((Output { symbol: symbol.id(), implementations }, paths))
        })?;
        call.found(!output.implementations.is_empty());
        call.narrow("get the rest with next_cursor");
        output.implementations = call.page(output.implementations, usize::MAX);
        Ok(output)
    }
}
