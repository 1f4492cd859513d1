//! An older name for one symbol's source.

use schemars::JsonSchema;
use serde::Deserialize;

use super::sources::{Output, SourceRequest, sources};
use super::{Call, Error, Tool, ToolTier};

/// Get the source of a symbol by id (older name of get_symbol_source).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// The id.
    symbol_id: String,
    /// Check the text against its hash.
    #[serde(default)]
    verify: bool,
    /// Context lines.
    #[serde(default)]
    context_lines: u32,
}

/// See [`Args`].
pub struct GetSymbol;

impl Tool for GetSymbol {
    const NAME: &'static str = "get_symbol";
    const COMMAND: &'static str = "get-symbol";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    const SHOWN: Option<ToolTier> = None;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let Args { repo, symbol_id, verify, context_lines } = args;
        let symbol_id = Some(symbol_id);
        sources(call, &SourceRequest { repo, symbol_id, verify, context_lines, ..SourceRequest::default() })
    }
}
