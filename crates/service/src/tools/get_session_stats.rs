//! Calls of this session, their times and savings.

use schemars::JsonSchema;
use serde::Deserialize;

use super::session::Stats;
use super::{Call, Error, Tool};

/// Show statistics of this server: calls, latencies, tokens saved.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {}

/// See [`Args`].
pub struct GetSessionStats;

impl Tool for GetSessionStats {
    const NAME: &'static str = "get_session_stats";
    const COMMAND: &'static str = "stats";
    type Args = Args;
    type Output = Stats;

    fn run(call: &Call<'_>, _: Args) -> Result<Stats, Error> {
        Ok(call.cx.session.stats())
    }
}
