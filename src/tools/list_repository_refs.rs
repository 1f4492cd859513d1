//! Current branches and tags of a remote repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::remotes::{self, RemoteRef, remote};
use super::{Call, Error, Shown, Tool};

/// Branches and tags of any git repository.
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
        let (default, refs) = remotes::refs(call, &remote)?;
        let refs = refs.into_iter().map(listed).collect();
        let refs = call.page(refs, usize::MAX);
        Ok(Output { repository: remote.to_string(), default, refs })
    }
}

/// A ref in the form of answers.
fn listed(one: RemoteRef) -> Ref {
    let commit = Some(one.commit).filter(|commit| !commit.is_empty());
    match (one.tag, commit) {
        (Some(tag), commit) => Ref { name: one.name, object: Object { sha: tag, sort: "tag" }, commit },
        (None, commit) => {
            Ref { name: one.name, object: Object { sha: commit.unwrap_or_default(), sort: "commit" }, commit: None }
        }
    }
}
