//! An older name for several symbols' source.

use schemars::JsonSchema;
use serde::Deserialize;

use super::sources::{Output, SourceRequest, sources};
use super::{Call, Error, Tool, ToolTier};

/// Get the source of symbols by ids (older name of get_symbol_source).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// The ids.
    symbol_ids: Vec<String>,
    /// Check the text against its hash.
    #[serde(default)]
    verify: bool,
    /// Context lines.
    #[serde(default)]
    context_lines: u32,
}

/// See [`Args`].
pub struct GetSymbols;

impl Tool for GetSymbols {
    const NAME: &'static str = "get_symbols";
    const COMMAND: &'static str = "get-symbols";
    const POSITIONAL: &'static [&'static str] = &["symbol_ids"];
    const SHOWN: Option<ToolTier> = None;
    const LIST: Option<&'static str> = Some("symbols");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let Args { repo, symbol_ids, verify, context_lines } = args;
        let symbol_ids = Some(symbol_ids);
        sources(call, &SourceRequest { repo, symbol_ids, verify, context_lines, ..SourceRequest::default() })
    }
}
