//! Indexed repositories.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index_folder::{LeftOut, left_out};
use super::indexes::{forget_gone, open, timestamp};
use super::{Call, Error, Tool};
use crate::store::{FORMAT, Sidecar};

/// Which repositories are indexed on this machine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Instead: the files that the index here leaves out.
    #[serde(default)]
    skipped: bool,
    /// Instead: the installed packages whose sources are indexed.
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

/// An indexed repository.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Facts {
    /// Its id.
    pub repo: String,
    /// `owner/name` of its remote, or the name of its folder.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    /// Version of indexes that this program writes; one of another version is made anew when it is asked.
    pub index_version: u32,
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
    /// Files by language; in the list, of the three with the most.
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
            display_name: display_name(sidecar),
            index_version: FORMAT,
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

impl Facts {
    /// Facts that tell repositories apart; resolve_repo answers the rest. A `dense` list says nothing twice: the name of
    /// a folder ends its path.
    fn brief(mut self, dense: bool) -> Self {
        let mut largest: Vec<u64> = self.languages.values().copied().collect();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let most = if dense { 1 } else { MOST_LANGUAGES };
        let least = largest.get(most - 1).copied().unwrap_or(0);
        self.languages.retain(|_, files| *files >= least);
        let ending = self.source_root.as_deref().and_then(|root| root.rsplit('/').next());
        if dense && ending == Some(&*self.display_name) {
            self.display_name.clear();
        }
        if dense {
            self.indexed_at.truncate(DATE);
        }
        Self { origin: None, git_head: None, ..self }
    }
}

/// Name for people: that of the remote, or of the folder.
fn display_name(sidecar: &Sidecar) -> String {
    let folder = || sidecar.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let remote = sidecar.remote.is_some().then(|| sidecar.repo.clone());
    sidecar.origin.clone().or(remote).or_else(folder).unwrap_or_else(|| sidecar.repo.clone())
}

/// Languages of a repository in the list.
const MOST_LANGUAGES: usize = 3;
/// Letters of a date.
const DATE: usize = "2026-01-31".len();

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
        let registry = call.cx.indexes.registry();
        let all = if args.deps { registry.packages() } else { registry.all() };
        let repos: Vec<Facts> = all.iter().map(|sidecar| Facts::of(call, sidecar).brief(call.compact)).collect();
        let count = repos.len();
        Ok(Output { count, repos: call.page(repos, usize::MAX), left_out: None })
    }
}
