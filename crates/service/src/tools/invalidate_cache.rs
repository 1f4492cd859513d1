//! Removes an index.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locate::indexed;
use super::{Call, Error, Tool};
use crate::catalog::runs;

/// Delete the index of a repository, for a clean re-index; its sources stay.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path.
    repo: String,
}

/// The removed index.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    success: bool,
    repo: String,
    message: String,
    files_removed: u64,
    symbols_removed: u64,
}

/// See [`Args`].
pub struct InvalidateCache;

impl Tool for InvalidateCache {
    const NAME: &'static str = "invalidate_cache";
    const COMMAND: &'static str = "invalidate";
    const POSITIONAL: &'static [&'static str] = &["repo"];
    const READ_ONLY: bool = false;
    const DESTRUCTIVE: bool = true;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let sidecar = indexed(call, &args.repo)?;
        call.repo(&sidecar.repo);
        runs::forget(call, &sidecar)?;
        Ok(Output {
            success: true,
            message: format!("removed the index of {}", sidecar.repo),
            repo: sidecar.repo,
            files_removed: sidecar.file_count,
            symbols_removed: sidecar.symbol_count,
        })
    }
}
