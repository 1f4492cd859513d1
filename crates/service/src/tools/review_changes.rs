//! Review of a change: what it touches, who uses that, and which tests to run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::review::change::{ChangeSet, RequestedChange};
use super::review::{Review, forms, markdown, report};
use super::{Call, Error, Tool};

/// Review my changes, a diff, branch or pull request: risk, the symbols touched, who calls them, and the tests that
/// reach them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Commit or BASE..HEAD; default HEAD.
    #[serde(default)]
    base: Option<String>,
    /// Commit (default: the working tree).
    #[serde(default)]
    head: Option<String>,
    /// Review staged changes.
    #[serde(default)]
    staged: bool,
    /// Output form.
    #[serde(default)]
    output: Written,
}

/// Format of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// JSON fields.
    #[default]
    Json,
    /// The review as one text.
    Markdown,
    /// SARIF, the format that code scanning reads.
    Sarif,
    /// Annotations for GitHub Actions logs.
    Annotations,
}

/// The review, or its text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// JSON fields.
    Fields(Box<Review>),
    /// The review as one text.
    Text {
        /// The whole review.
        text: String,
    },
}

/// See [`Args`].
pub struct ReviewChanges;

impl Tool for ReviewChanges {
    const NAME: &'static str = "review_changes";
    const COMMAND: &'static str = "review";
    const POSITIONAL: &'static [&'static str] = &["base", "head"];
    const LIST: Option<&'static str> = Some("changes");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let asked = RequestedChange::of(args.base.as_deref(), args.head.as_deref(), args.staged)?;
        let change = ChangeSet::read(call, args.repo.as_deref(), &asked)?;
        let review = report::of(call, &change)?;
        // No change is an answer, too.
        call.found(true);
        call.narrow("review fewer commits at once");
        Ok(match args.output {
            Written::Markdown => Output::Text { text: markdown::written(&review) },
            Written::Sarif => Output::Text { text: forms::sarif(&review) },
            Written::Annotations => Output::Text { text: forms::annotations(&review) },
            Written::Json => {
                let changes = call.page(review.changes, usize::MAX);
                Output::Fields(Box::new(Review { changes, ..review }))
            }
        })
    }
}
