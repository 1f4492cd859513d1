//! Resolution of file paths given by callers.

use super::{Caller, Repo};
use crate::answer::{Code, Error};
use crate::model::SkipReason;
use crate::{pipeline, query};

/// Converts a path to index form: relative to the root, with `/` between the parts. Paths beginning with `./` or
/// `../` start at the caller's directory, all others at the root.
pub fn relative(caller: &Caller<'_>, repo: &Repo, path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let root = repo.root.as_deref().map(|root| root.to_string_lossy().into_owned());
    let inside = |path: &str| {
        let rest = path.strip_prefix(root.as_deref()?)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
    };
    let from_here = path == "." || path == ".." || path.starts_with("./") || path.starts_with("../");
    let here = caller.request.directory.as_deref().and_then(|here| inside(&here.to_string_lossy()));
    let path = match here.filter(|_| from_here) {
        Some(here) => format!("{here}/{path}"),
        None => inside(&path).unwrap_or(path),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Error for a path that names no file of the index.
pub fn unknown_file(caller: &Caller<'_>, repo: &Repo, path: &str) -> Error {
    let shown: String = path.chars().take(200).collect();
    let config = caller.config;
    let read = repo.snapshot.table().find(path).and_then(|row| row.state.err());
    let skipped = read.or_else(|| pipeline::left_out(repo.root.as_deref()?, path, repo.snapshot.facts(), config));
    if let Some(reason) = skipped {
        let mut message = format!("{shown:?} was left out of the index: {} ({})", reason.as_str(), reason.meaning());
        if reason == SkipReason::Secret {
            message.push_str("; who means to read it names it: --allow-secrets, or `allow_secrets` in config.toml");
        }
        return Error::new(Code::NotFound, message).with("reason", reason.as_str());
    }
    let prefix = format!("{path}/");
    if repo.snapshot.files().any(|file| file.path().starts_with(&prefix)) {
        let message = format!("{shown:?} is a folder; call get_file_tree with it as path_prefix");
        return Error::new(Code::NotFound, message);
    }
    let near = query::nearest_files(&repo.snapshot, &shown, 3);
    match near.first() {
        Some(first) => {
            let message = format!("no file {shown:?} is indexed; did you mean {first:?}?");
            Error::new(Code::NotFound, message).with("nearest", near)
        }
        None => Error::new(Code::NotFound, format!("no file {shown:?} is indexed; get_file_tree lists what is")),
    }
}
