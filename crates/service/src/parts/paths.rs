//! Paths in arguments.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

/// Arguments with paths, or with ids that begin with one.
const PATHS: &[&str] = &["file", "file_path", "file_paths", "focus", "path_prefix", "symbol_id", "symbol_ids"];

/// Visits the texts of all arguments with paths.
pub fn each(args: &mut Map<String, Value>, mut visit: impl FnMut(&mut String)) {
    for key in PATHS {
        match args.get_mut(*key) {
            Some(Value::String(text)) => visit(text),
            Some(Value::Array(texts)) => texts.iter_mut().for_each(|text| {
                if let Value::String(text) = text {
                    visit(text);
                }
            }),
            _ => {}
        }
    }
}

/// An absolute path without `..`.
pub fn normalized(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
        path
    })
}

/// The path of `path:line`.
pub fn without_line(text: &str) -> &str {
    let is_line = |end: &str| !end.is_empty() && end.bytes().all(|digit| digit.is_ascii_digit());
    text.rsplit_once(':').filter(|(_, line)| is_line(line)).map_or(text, |(path, _)| path)
}
