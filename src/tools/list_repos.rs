//! Indexed repositories.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index_folder::{LeftOut, left_out};
use super::indexes::{forget_gone, open, timestamp};
use super::{Call, Error, Tool};
use crate::store::Sidecar;

/// Which repositories are indexed on this machine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Instead: the files that the index of the folder one stands in leaves out.
    #[serde(default)]
    skipped: bool,
}

/// One line of facts for each.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    count: usize,
    repos: Vec<Facts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<LeftOut>>,
}

/// An indexed repository.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Facts {
    /// Its id.
    pub repo: String,
    /// `owner/name` of its remote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_root: Option<String>,
    /// When every file was last looked at.
    pub indexed_at: String,
    /// Files held.
    pub file_count: u64,
    /// Their symbols.
    pub symbol_count: u64,
    /// Files by language.
    pub languages: BTreeMap<String, u64>,
    /// Commit that was checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_head: Option<String>,
}

impl Facts {
    /// The facts of a sidecar, adapted to this machine and configuration.
    pub fn of(call: &Call<'_>, sidecar: &Sidecar) -> Self {
        let config = &call.cx.config;
        let root = config.path_map.to_local(&sidecar.root);
        Self {
            repo: sidecar.repo.clone(),
            origin: sidecar.origin.clone(),
            source_root: (!config.redact_source_root).then(|| root.to_string_lossy().into_owned()),
            indexed_at: timestamp(sidecar.indexed_at),
            file_count: sidecar.file_count,
            symbol_count: sidecar.symbol_count,
            languages: sidecar.languages.clone(),
            git_head: sidecar.git_head.clone(),
        }
    }
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
            let left_out = left_out(call, &repo.sidecar)?;
            call.found(!left_out.is_empty());
            return Ok(Output { count: left_out.len(), repos: Vec::new(), left_out: Some(left_out) });
        }
        forget_gone(call);
        let repos: Vec<Facts> =
            call.cx.indexes.registry().all().iter().map(|sidecar| Facts::of(call, sidecar)).collect();
        let count = repos.len();
        Ok(Output { count, repos: call.page(repos, usize::MAX), left_out: None })
    }
}
