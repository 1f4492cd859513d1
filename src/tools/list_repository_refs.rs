//! The branches and tags of a repository, as its server has them now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::remotes::{remote, with_cache};
use super::{Call, Error, Shown, Tool, github};
use crate::git::{Refs, RemoteRef};

/// Branches and tags of any git repository, without cloning it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// owner/name, URL or path.
    repository: String,
}

/// The refs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    repository: String,
    /// The default branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    refs: Vec<Ref>,
}

/// A branch or a tag.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ref {
    /// In full: `refs/heads/main`.
    #[serde(rename = "ref")]
    name: String,
    object: Object,
    /// The commit that a tag's own object names.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

/// What a ref points to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Object {
    sha: String,
    /// `commit`, or `tag` for a tag with a message of its own.
    #[serde(rename = "type")]
    sort: &'static str,
}

/// See [`Args`].
pub struct ListRepositoryRefs;

impl Tool for ListRepositoryRefs {
    const NAME: &'static str = "list_repository_refs";
    const COMMAND: &'static str = "remote-refs";
    const POSITIONAL: &'static [&'static str] = &["repository"];
    const SHOWN: Option<Shown> = Some(Shown::Full);
    const LIST: Option<&'static str> = Some("refs");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let remote = remote(call, &args.repository)?.whole();
        let by_git = || {
            let refs = with_cache(call, |cache, wish| cache.refs(&remote, wish))?;
            Ok((refs.default.clone(), listed(refs)))
        };
        let ((default, refs), failure) = github::either(call, &remote, by_git, |way| {
            let found = crate::github::refs(&way.client, way.name, "").map_err(github::github_error)?;
            // The commit of a tag with a message of its own would take another request for each.
            let one = |one: crate::github::Ref| Ref {
                name: one.name,
                object: Object { sha: one.object.sha, sort: if one.object.kind == "tag" { "tag" } else { "commit" } },
                commit: None,
            };
            let default = crate::github::default_branch(&way.client, way.name).map_err(github::github_error)?;
            Ok((Some(format!("refs/heads/{default}")), found.into_iter().map(one).collect()))
        })?;
        if let Some(failure) = failure {
            call.note("read_without_git", failure.message);
        }
        let refs = call.page(refs, usize::MAX);
        Ok(Output { repository: remote.to_string(), default, refs })
    }
}

/// Refs as answers carry them.
fn listed(refs: Refs) -> Vec<Ref> {
    let one = |one: RemoteRef| match one.tag {
        Some(tag) => Ref { name: one.name, object: Object { sha: tag, sort: "tag" }, commit: Some(one.commit) },
        None => Ref { name: one.name, object: Object { sha: one.commit, sort: "commit" }, commit: None },
    };
    refs.all.into_iter().map(one).collect()
}
