//! Calls through tables: where a function is stored, and who calls what is stored there.

use schemars::JsonSchema;
use serde::Serialize;

use codelode_query as query;

/// The most lines of calls listed for each function.
const MOST_LINES: usize = 10;

/// A place where a function is stored.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoredAt {
    /// `path:line`, as in `handed_on`.
    pub at: String,
    /// The field, table or parameter: `bus_ops.write`, `commands[].proc`, `app.get()`.
    pub slot: String,
}

/// A function that calls what a place holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CalledThrough {
    /// The place, as in `stored`.
    slot: String,
    /// Id; absent at the top level of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    pub file: String,
    /// Lines of the calls.
    at: Vec<u32>,
}

impl CalledThrough {
    /// The call of what a place holds, as it is answered.
    pub(crate) fn of(through: &query::ThroughCall<'_>) -> Self {
        Self {
            slot: through.label.clone(),
            id: through.caller.map(|caller| caller.id()),
            file: through.file.path().to_owned(),
            at: through.lines.iter().copied().take(MOST_LINES).collect(),
        }
    }
}
