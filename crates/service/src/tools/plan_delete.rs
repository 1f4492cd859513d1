//! Plan of a deletion: every place that goes with a symbol, and what is in doubt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{Doubt, Place, Written, doubts, places, text};
use super::{Call, Error, Tool, related};
use codelode_query as query;

/// Plan the deletion of a function or symbol: remove it safely, with every use and import to edit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    #[schemars(extend("x-aliases" = ["symbol"]))]
    symbol_id: String,
    /// Return the text despite doubts.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    force: bool,
    /// Output form.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    output: Written,
}

/// The plan.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// JSON fields.
    Fields {
        /// Id of the symbol.
        symbol: String,
        /// Whether the plan is free of doubts.
        is_sure: bool,
        /// Whether anything but definitions and imports names the symbol.
        is_used: bool,
        /// Whether code outside of the repository may use the symbol.
        is_public: bool,
        /// Places to edit, sorted by path and line.
        places: Vec<Place>,
        /// Places that may need an edit, and other risks.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        doubts: Vec<Doubt>,
    },
    /// The answer, for `output: "text"`.
    Text {
        /// One place per line.
        text: String,
    },
}

/// See [`Args`].
pub struct PlanDelete;

impl Tool for PlanDelete {
    const NAME: &'static str = "plan_delete";
    const COMMAND: &'static str = "plan-delete";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    const LIST: Option<&'static str> = Some("places");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let repo = related::open_now(call, args.repo.as_deref())?;
        let (snapshot, edges) = (&*repo.snapshot, related::edges(&repo)?);
        let symbol = related::symbol(&repo, &args.symbol_id)?;
        related::check_language(&repo.snapshot, &symbol)?;
        related::note_unread(call, &repo);
        related::note_cut_off(call, &query::cut_off(snapshot, &[symbol]));
        let plan = query::deletion(snapshot, edges, &symbol);
        call.found(true);
        if args.output == Written::Text {
            return Ok(Output::Text { text: text(&plan, &symbol.name(), args.force)? });
        }
        Ok(Output::Fields {
            symbol: symbol.id(),
            is_sure: plan.doubts.is_empty(),
            is_used: plan.is_used(),
            is_public: plan.is_for_others,
            places: call.page(places(&plan), usize::MAX),
            doubts: doubts(plan.doubts),
        })
    }
}
