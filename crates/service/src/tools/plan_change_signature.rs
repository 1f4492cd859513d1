//! Plan of a changed declaration: every declaration and call to edit, and what is in doubt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{Doubt, Place, Written, doubts, places, text};
use super::{Call, Error, Tool, related};
use codelode_query::{self as query, review};

/// Plan a change of a function's declaration (signature), such as to add a parameter: every declaration and call to
/// update.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    #[schemars(extend("x-aliases" = ["symbol"]))]
    symbol_id: String,
    /// Tells whether calls can stay.
    #[serde(default)]
    new_signature: Option<String>,
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
        /// Id of the symbol; for a class, of its constructor.
        symbol: String,
        /// The declaration as it is now.
        signature: String,
        /// Whether the plan is free of doubts.
        is_sure: bool,
        /// Whether calls can stay: the new declaration only adds parameters with defaults.
        #[serde(skip_serializing_if = "Option::is_none")]
        calls_may_stay: Option<bool>,
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
pub struct PlanChangeSignature;

impl Tool for PlanChangeSignature {
    const NAME: &'static str = "plan_change_signature";
    const COMMAND: &'static str = "plan-signature";
    const POSITIONAL: &'static [&'static str] = &["symbol_id", "new_signature"];
    const LIST: Option<&'static str> = Some("places");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        if args.new_signature.as_ref().is_some_and(|new| new.trim().is_empty()) {
            let message = "`new_signature` is empty; give the whole new declaration, or leave it out";
            return Err(Error::invalid_arguments(message));
        }
        let repo = related::open_now(call, args.repo.as_deref())?;
        let (snapshot, edges) = (&*repo.snapshot, related::edges(&repo)?);
        let named = related::symbol(&repo, &args.symbol_id)?;
        related::check_language(&repo.snapshot, &named)?;
        related::note_unread(call, &repo);
        let Some(symbol) = query::with_parameters(&named) else {
            let message = format!("{} declares no parameters of its own", named.id());
            return Err(Error::invalid_arguments(message));
        };
        let plan = query::redeclaration(snapshot, edges, &symbol);
        call.found(true);
        let was = symbol.signature_source();
        let calls_may_stay = args.new_signature.as_ref().map(|new| review::only_widens(was, new.as_bytes()));
        if calls_may_stay == Some(true) {
            call.note("hint", "calls may stay: the new declaration only adds parameters with a default");
        }
        if args.output == Written::Text {
            return Ok(Output::Text { text: text(&plan, &symbol.name(), args.force)? });
        }
        Ok(Output::Fields {
            symbol: symbol.id(),
            signature: String::from_utf8_lossy(was).into_owned(),
            is_sure: plan.doubts.is_empty(),
            calls_may_stay,
            is_public: plan.is_for_others,
            places: call.page(places(&plan), usize::MAX),
            doubts: doubts(plan.doubts),
        })
    }
}
