//! Whether a path is indexed, and its repo id.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locate::{self, owner, project_root};
use super::repos::Facts;
use super::{Call, Error, Tool};
use codelode_store::Registry;

/// Tell which indexed repository a path belongs to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// A folder or file, absolute or relative to the working directory.
    path: String,
}

/// The repository's facts, or the id that it would have.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    found: bool,
    indexed: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    facts: Option<Facts>,
    #[serde(rename = "repo", skip_serializing_if = "Option::is_none")]
    would_be: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// See [`Args`].
pub struct ResolveRepo;

impl Tool for ResolveRepo {
    const NAME: &'static str = "resolve_repo";
    const COMMAND: &'static str = "resolve";
    const POSITIONAL: &'static [&'static str] = &["path"];
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let given = Path::new(args.path.trim());
        let path = match &call.request.directory {
            Some(directory) if given.is_relative() => directory.join(given),
            _ => given.to_owned(),
        };
        if path.as_os_str().is_empty() {
            return Err(Error::invalid_arguments("`path` is empty; give a folder or a file"));
        }
        call.reach(&path)?;
        let (registry, config) = (call.cx.indexes.registry(), &call.cx.config);
        if let Some(sidecar) = owner(registry, config, &path) {
            call.repo(&sidecar.repo);
            let facts = Some(Facts::of(call, &sidecar));
            return Ok(Output { found: true, indexed: true, facts, would_be: None, hint: None });
        }
        call.found(false);
        let path = path.canonicalize().unwrap_or(path);
        let root = project_root(&path).unwrap_or(&path);
        let would_be = Registry::local_id(&config.path_map.to_stored(root));
        let is_shared = || locate::is_shared(registry, config, root);
        let hint = match root.is_dir() {
            true if is_shared() => {
                format!(
                    "call index_folder with path {root:?}; another checkout of it is indexed, so only what differs is read"
                )
            }
            true => format!("call index_folder with path {root:?}"),
            false => format!("{} does not exist here", path.display()),
        };
        Ok(Output { found: false, indexed: false, facts: None, would_be: Some(would_be), hint: Some(hint) })
    }
}
