//! Facts of an indexed repository.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Call;
use super::indexes::timestamp;
use codelode_store::{FORMAT, Sidecar};

/// Languages of a repository in the list.
const MOST_LANGUAGES: usize = 3;

/// Letters of a date.
const DATE: usize = "2026-01-31".len();

/// An indexed repository.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Facts {
    /// Id of the repository.
    pub repo: String,
    /// `owner/name` of its remote, or its folder name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    /// Index version of this program. An index of another version is rebuilt on its next use.
    pub index_version: u32,
    /// `owner/name` of its remote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Folder or URL of its sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_root: Option<String>,
    /// The folder is missing: moved, removed, or on an unmounted disk. Answers come from its last state.
    #[serde(skip_serializing_if = "is_false")]
    pub folder_missing: bool,
    /// Time when all files were last compared with the index.
    pub indexed_at: String,
    /// Number of indexed files.
    pub file_count: u64,
    /// Number of symbols in these files.
    pub symbol_count: u64,
    /// Files by language; in a list, the top three.
    pub languages: BTreeMap<String, u64>,
    /// Commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_head: Option<String>,
}

fn is_false(so: &bool) -> bool {
    !so
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
            folder_missing: sidecar.is_folder() && !root.is_dir(),
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
    pub fn brief(mut self, dense: bool) -> Self {
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
