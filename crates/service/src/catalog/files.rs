//! Resolves file paths given by callers.

use super::{Caller, Repo};
use crate::answer::Error;
use codelode_base::model::SkipReason;
use codelode_index::pipeline;
use codelode_query as query;

/// Error for a path that names no file of the index.
pub fn unknown_file(caller: &Caller<'_>, repo: &Repo, path: &str) -> Error {
    let shown: String = path.chars().take(200).collect();
    if path.starts_with('/') || path.starts_with("../") {
        let message = format!("{shown:?} is outside {}; set `repo` to its own repository", repo.sidecar.repo);
        return Error::not_found(message);
    }
    let config = caller.config;
    let read = repo.snapshot.table().find(path).and_then(|row| row.state.err());
    let skipped = read.or_else(|| pipeline::left_out(repo.root.as_deref()?, path, repo.snapshot.facts(), config));
    if let Some(reason) = skipped {
        let mut message = format!("{shown:?} was left out of the index: {} ({})", reason.as_str(), reason.meaning());
        if reason == SkipReason::Secret {
            message.push_str("; to read it, add it to --allow-secrets, or to `allow_secrets` in config.toml");
        }
        return Error::not_found(message).with("reason", reason.as_str());
    }
    let prefix = format!("{path}/");
    if repo.snapshot.files().any(|file| file.path().starts_with(&prefix)) {
        let message = format!("{shown:?} is a folder; call get_file_tree with it as path_prefix");
        return Error::not_found(message);
    }
    let near = query::nearest_files(&repo.snapshot, &shown, 3);
    match near.first() {
        Some(first) => {
            let message = format!("no file {shown:?} is indexed; did you mean {first:?}?");
            Error::not_found(message).with("nearest", near)
        }
        None => Error::not_found(format!("no file {shown:?} is indexed; get_file_tree lists files")),
    }
}
