//! The exact text of symbols.

use schemars::JsonSchema;
use serde::Deserialize;

use super::sources::{Output, SourceRequest, sources};
use super::{Call, Error, Tool, ToolTier};

/// Get the source code of symbols by id: fetch, read, print the body or implementation of a function, method or
/// class. Prefer it to reading files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Id, from a search or an outline.
    #[serde(default)]
    symbol_id: Option<String>,
    /// Several ids.
    #[serde(default)]
    symbol_ids: Option<Vec<String>>,
    /// Check it against its hash.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    verify: bool,
    /// Context lines.
    #[serde(default)]
    context_lines: u32,
    /// Only the lines around this text.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    around: Option<String>,
    /// Include its last change, by git.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    blame: bool,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    fields: Option<Vec<String>>,
}

/// See [`Args`].
pub struct GetSymbolSource;

impl Tool for GetSymbolSource {
    const NAME: &'static str = "get_symbol_source";
    const COMMAND: &'static str = "get";
    const POSITIONAL: &'static [&'static str] = &["symbol_ids"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Lean);
    const ALWAYS_LOADED: bool = true;
    const LIST: Option<&'static str> = Some("symbols");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let Args { repo, symbol_id, symbol_ids, verify, context_lines, around, blame, fields } = args;
        sources(call, &SourceRequest { repo, symbol_id, symbol_ids, verify, context_lines, around, blame, fields })
    }
}
