//! Paths relative to the current folder, in arguments and in printed answers.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::answer::compact;
use crate::catalog::locate::project_root;
use crate::config;
use crate::tools::{Context, Envelope};

/// Arguments with paths, or with ids that begin with one.
const PATHS: &[&str] = &["file", "file_path", "file_paths", "focus", "path_prefix", "symbol_id", "symbol_ids"];
/// Keys whose text comes from a repository: it may look like a path and is none.
const TEXTS: &[&str] = &["_meta", "name", "qualified_name", "signature", "source", "summary", "text", "tree"];

/// Makes existing paths absolute. If no repository is named, the first path outside the current folder determines it.
pub(super) fn absolute(arguments: &mut Map<String, Value>, takes_repo: bool) {
    let Ok(here) = std::env::current_dir() else { return };
    let mut elsewhere = None;
    let mut meant = |text: &mut String| {
        let path = text.rsplit_once("::").map_or_else(|| without_line(text), |(path, _)| path);
        let name = &text[path.len()..];
        let is_there = |path: &Path| if name.is_empty() { path.exists() } else { path.is_file() };
        let place = std::path::absolute(path).ok().map(|place| climbed(&place));
        let Some(path) = place.filter(|place| !path.is_empty() && is_there(place)) else { return };
        let is_within = path.starts_with(&here) && here.parent().is_some() && !config::is_home(&here);
        let is_project_below = || project_root(&path).is_some_and(|root| root != here && root.starts_with(&here));
        if !is_within || is_project_below() {
            elsewhere.get_or_insert_with(|| path.to_string_lossy().into_owned());
        }
        *text = format!("{}{name}", path.display());
    };
    for key in PATHS {
        match arguments.get_mut(*key) {
            Some(Value::String(text)) => meant(text),
            Some(Value::Array(all)) => all.iter_mut().for_each(|item| {
                if let Value::String(text) = item {
                    meant(text);
                }
            }),
            _ => {}
        }
    }
    if let Some(repo) = elsewhere.filter(|_| takes_repo) {
        arguments.entry("repo").or_insert(repo.into());
    }
}

/// The path of `path:line`.
fn without_line(text: &str) -> &str {
    let is_line = |end: &str| !end.is_empty() && end.bytes().all(|digit| digit.is_ascii_digit());
    text.rsplit_once(':').filter(|(_, line)| is_line(line)).map_or(text, |(path, _)| path)
}

/// An absolute path without `..`.
fn climbed(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut climbed, part| {
        match part {
            Component::ParentDir => drop(climbed.pop()),
            part => climbed.push(part),
        }
        climbed
    })
}

/// Changes the paths of an answer from the repository's root to the current folder below it.
pub(super) fn show(cx: &Context, envelope: &mut Envelope) {
    let repo = envelope.value.pointer("/_meta/repo").and_then(Value::as_str);
    let Some(sidecar) = repo.and_then(|repo| cx.indexes.registry().get(repo)) else { return };
    let root = cx.config.path_map.to_local(&sidecar.root);
    let here = std::env::current_dir().ok();
    let Some(below) = here.as_deref().and_then(|here| here.strip_prefix(&root).ok()) else { return };
    if below.as_os_str().is_empty() || envelope.is_error {
        return;
    }
    rewrite(&mut envelope.value, &root, below);
    envelope.text = compact::answer(&envelope.value);
}

fn rewrite(value: &mut Value, root: &Path, here: &Path) {
    match value {
        Value::String(text) => {
            let (path, rest) = text.split_at(text.find("::").unwrap_or(text.len()));
            if !path.is_empty() && !path.contains('\n') && root.join(path).is_file() {
                *text = format!("{}{rest}", from(here, Path::new(path)).display());
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|item| rewrite(item, root, here)),
        Value::Object(all) => {
            let told = all.iter_mut().filter(|(key, _)| !TEXTS.contains(&key.as_str()));
            told.for_each(|(_, item)| rewrite(item, root, here));
        }
        _ => {}
    }
}

/// A path below a root, as it opens from the current folder.
pub(super) fn path(root: &Path, path: &str) -> PathBuf {
    let here = std::env::current_dir().ok();
    match here.as_deref().and_then(|here| here.strip_prefix(root).ok()) {
        Some(below) => from(below, Path::new(path)),
        None => root.join(path),
    }
}

/// A path relative to a folder; both are relative to the same root.
fn from(here: &Path, path: &Path) -> PathBuf {
    let common = here.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = here.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn paths_lead_from_where_one_stands() {
        let from =
            |here: &str, path: &str| super::from(Path::new(here), Path::new(path)).to_string_lossy().into_owned();
        assert_eq!(from("src/flask", "src/flask/app.py"), "app.py");
        assert_eq!(from("src/flask", "src/flask/json/tag.py"), "json/tag.py");
        assert_eq!(from("src/flask", "src/flaskr/app.py"), "../flaskr/app.py");
        assert_eq!(from("src/flask", "setup.py"), "../../setup.py");
    }
}
