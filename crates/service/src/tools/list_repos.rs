//! Indexed repositories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indexes::{forget_gone, open};
use super::left_out::{LeftOut, cut_off, left_out};
use super::repos::Facts;
use super::{Call, Error, Tool};

/// List which repositories or projects are indexed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// List skipped files instead.
    #[serde(default)]
    skipped: bool,
    /// List installed packages instead.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    deps: bool,
}

/// One line of facts for each.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    count: usize,
    repos: Vec<Facts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<LeftOut>>,
}

/// See [`Args`].
pub struct ListRepos;

impl Tool for ListRepos {
    const NAME: &'static str = "list_repos";
    const COMMAND: &'static str = "list";
    const LIST: Option<&'static str> = Some("repos");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        if args.skipped {
            let repo = open(call, None)?;
            let mut left_out = left_out(call, &repo.sidecar)?;
            left_out.extend(cut_off(&repo.snapshot));
            call.found(!left_out.is_empty());
            return Ok(Output { count: left_out.len(), repos: Vec::new(), left_out: Some(left_out) });
        }
        forget_gone(call);
        let registry = call.cx.indexes.registry();
        let all = if args.deps { registry.packages() } else { registry.all() };
        let repos: Vec<Facts> = all.iter().map(|sidecar| Facts::of(call, sidecar).brief(call.compact)).collect();
        let count = repos.len();
        Ok(Output { count, repos: call.page(repos, usize::MAX), left_out: None })
    }
}
