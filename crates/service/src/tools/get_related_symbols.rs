//! Symbols related to a symbol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::errors::store_error;
use super::fields::{Facts, Fields};
use super::{Call, Error, SIGNATURE, Tool, ToolTier, related};
use codelode_query::{self as query, Related};

/// Find symbols related, similar to or resembling one: neighbours in its file, shared importers, like names.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    symbol_id: String,
    /// Limit of results.
    #[serde(default = "ten")]
    max_results: u32,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    fields: Option<Vec<String>>,
}

fn ten() -> u32 {
    10
}

/// The nearest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    symbol: String,
    related: Vec<Item>,
}

/// A symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    line: u32,
    signature: String,
    relatedness_score: f64,
    reasons: Vec<&'static str>,
    /// Number of overloads here; their ids end in `~1`, `~2`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    overloads: Option<usize>,
    #[serde(flatten)]
    facts: Facts,
}

/// See [`Args`].
pub struct GetRelatedSymbols;

impl Tool for GetRelatedSymbols {
    const NAME: &'static str = "get_related_symbols";
    const COMMAND: &'static str = "related";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    const LIST: Option<&'static str> = Some("related");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let fields = Fields::read(args.fields.as_deref())?;
        let (output, n_related) = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let symbol = related::symbol(repo, &args.symbol_id)?;
            let found = query::related(&repo.snapshot, edges, &symbol);
            let found = found.map_err(|err| store_error(err, &repo.sidecar))?;
            let item = |related: &Related<'_>| Item {
                id: related.symbol.id(),
                line: related.symbol.line(),
                signature: related.symbol.signature(SIGNATURE),
                relatedness_score: (related.score * 100.0).round() / 100.0,
                reasons: related.reasons.clone(),
                overloads: Some(related.overloads).filter(|count| *count > 1),
                facts: fields.of(&related.symbol),
            };
            let shown = || found.iter().skip(call.offset).take(args.max_results as usize);
            let mut paths: Vec<String> = shown().map(|related| related.symbol.file.path().to_owned()).collect();
            paths.push(symbol.file.path().to_owned());
            Ok(((Output { symbol: symbol.id(), related: shown().map(item).collect() }, found.len()), paths))
        })?;
        call.found(!output.related.is_empty());
        call.total(n_related);
        Ok(output)
    }
}
