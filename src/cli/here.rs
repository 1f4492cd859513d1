//! Paths relative to the current folder, in arguments and in printed answers.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use codelode_base::config;
use codelode_service::catalog::locate::project_root;
use codelode_service::tools::{Context, paths};

/// Keys with text from a repository, which may look like a path.
const TEXTS: &[&str] = &["_meta", "calls", "name", "qualified_name", "signature", "source", "summary", "text"];

/// Makes a path absolute, because a tool knows no current directory. A value that may also be a name, such as a
/// repository, only counts as a path if it looks like one.
pub(super) fn local_path(text: String, is_path: bool) -> String {
    if !is_path && !text.starts_with('.') {
        return text;
    }
    match std::path::absolute(&text) {
        Ok(path) => path.components().as_path().to_string_lossy().into_owned(),
        // The tool reports the problem.
        Err(_) => text,
    }
}

/// Makes existing paths absolute. If no repository is named, the first path outside the current folder selects it.
/// `tree` defaults to the current folder.
pub(super) fn absolute(arguments: &mut Map<String, Value>, tool: &str, takes_repo: bool) {
    let Ok(here) = std::env::current_dir() else { return };
    if tool == "get_file_tree" && project_root(&here).is_some_and(|root| root != here) {
        arguments.entry("path_prefix").or_insert_with(|| here.to_string_lossy().into());
    }
    let mut elsewhere = None;
    paths::each(arguments, |text| {
        let path = text.rsplit_once("::").map_or_else(|| paths::without_line(text), |(path, _)| path);
        let name = &text[path.len()..];
        let is_there = |path: &Path| if name.is_empty() { path.exists() } else { path.is_file() };
        let place = std::path::absolute(path).ok().map(|place| paths::normalized(&place));
        let Some(path) = place.filter(|place| !path.is_empty() && is_there(place)) else { return };
        let is_within = path.starts_with(&here) && here.parent().is_some() && !config::is_home(&here);
        let is_project_below = || project_root(&path).is_some_and(|root| root != here && root.starts_with(&here));
        if !is_within || is_project_below() {
            elsewhere.get_or_insert_with(|| path.to_string_lossy().into_owned());
        }
        *text = format!("{}{name}", path.display());
    });
    if let Some(repo) = elsewhere.filter(|_| takes_repo) {
        arguments.entry("repo").or_insert(repo.into());
    }
}

/// Accepts places as answers print them: `file a.py:10-12`, `refs a.py:10`.
pub(super) fn places(arguments: &mut Map<String, Value>, tool: &str) {
    let (key, [first, last]) = match tool {
        "get_file_content" => ("file_path", ["start_line", "end_line"]),
        "find_references" => ("identifier", ["line", "line"]),
        _ => return,
    };
    let Some((path, lines)) = arguments.get(key).and_then(Value::as_str).and_then(|text| text.rsplit_once(':')) else {
        return;
    };
    let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
    let (Ok(from), Ok(to)) = (from.parse::<u64>(), to.parse::<u64>()) else { return };
    let path = path.to_owned();
    if Path::new(&format!("{path}:{lines}")).exists() || path.ends_with(':') || arguments.contains_key(first) {
        return;
    }
    arguments.remove(key);
    arguments.insert(if tool == "find_references" { "file" } else { key }.to_owned(), path.into());
    arguments.insert(last.to_owned(), to.into());
    arguments.insert(first.to_owned(), from.into());
}

/// Rewrites the paths of an answer so that they open from the current folder.
pub(super) fn show(cx: &Context, answer: &mut Value, is_error: bool) {
    let Ok(here) = std::env::current_dir() else { return };
    let registry = cx.indexes.registry();
    let root_of = |repo: &Value| {
        let sidecar = registry.get(repo.as_str()?)?;
        Some(cx.config.path_map.to_local(&sidecar.root)).filter(|root| *root != here)
    };
    if !is_error {
        let root = answer.pointer("/_meta/repo").and_then(root_of);
        let answers = answer.get_mut("answers").and_then(Value::as_array_mut);
        for one in answers.into_iter().flatten() {
            let root = one.get("repo").and_then(root_of);
            rewrite(one, root.as_deref(), &here, &root_of);
        }
        rewrite(answer, root.as_deref(), &here, &root_of);
    }
}

/// Rewrites the paths in a value. Hits in several repositories name their repository.
fn rewrite(value: &mut Value, root: Option<&Path>, here: &Path, root_of: &impl Fn(&Value) -> Option<PathBuf>) {
    match value {
        Value::String(text) => {
            let path = text.find("::").map_or_else(|| paths::without_line(text), |end| &text[..end]);
            let Some(root) = root.filter(|_| !path.is_empty() && !path.contains('\n')) else { return };
            let place = root.join(path);
            let is_there = if path.ends_with('/') { place.is_dir() } else { place.is_file() };
            if is_there {
                let end = if path.ends_with('/') { "/" } else { "" };
                *text = format!("{}{end}{}", from(here, root, path).display(), &text[path.len()..]);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|item| rewrite(item, root, here, root_of)),
        Value::Object(all) => {
            let own = all.get("repo").filter(|_| all.contains_key("file")).and_then(root_of);
            let root = own.as_deref().or(root);
            let shown = all.iter_mut().filter(|(key, _)| !TEXTS.contains(&key.as_str()));
            shown.for_each(|(_, item)| rewrite(item, root, here, root_of));
        }
        _ => {}
    }
}

/// A path below a root, as it opens from the current folder.
pub(super) fn path(root: &Path, path: &str) -> PathBuf {
    match std::env::current_dir() {
        Ok(here) => from(&here, root, path),
        Err(_) => root.join(path),
    }
}

/// A file of a repository as it opens from `here`: relative, unless neither folder contains the other.
fn from(here: &Path, root: &Path, path: &str) -> PathBuf {
    let place = root.join(path);
    if !place.starts_with(here) && !here.starts_with(root) {
        return place;
    }
    let common = here.components().zip(place.components()).take_while(|(a, b)| a == b).count();
    let up = here.components().skip(common).map(|_| Component::ParentDir);
    up.chain(place.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn paths_lead_from_where_one_stands() {
        let from = |here: &str, path: &str| {
            super::from(Path::new(here), Path::new("/c/flask"), path).to_string_lossy().into_owned()
        };
        assert_eq!(from("/c/flask/src", "src/app.py"), "app.py");
        assert_eq!(from("/c/flask/src", "src/json/tag.py"), "json/tag.py");
        assert_eq!(from("/c/flask/src/flask", "src/flaskr/app.py"), "../flaskr/app.py");
        assert_eq!(from("/c/flask/src", "setup.py"), "../setup.py");
        assert_eq!(from("/c/flask", "src/app.py"), "src/app.py");
        assert_eq!(from("/c", "src/app.py"), "flask/src/app.py");
        assert_eq!(from("/", "src/app.py"), "c/flask/src/app.py");
        assert_eq!(from("/c/gin", "src/app.py"), "/c/flask/src/app.py");
    }
}
