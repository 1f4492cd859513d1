//! Opens a place in the user's editor.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{FAILED, FOUND, complain};
use codelode_base::config;

/// The syntax for a line on the command line of editors, by the editor's name.
const EDITORS: &[(&[&str], Line)] = &[
    (&["code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "positron"], Line::Goto),
    (&["hx", "helix", "subl", "sublime_text", "zed", "zeditor", "lapce"], Line::Behind),
    (&["idea", "pycharm", "goland", "webstorm", "rustrover", "clion", "phpstorm", "rubymine", "rider"], Line::Flag),
    (&["mate"], Line::Flag),
    (
        &[
            "vi",
            "vim",
            "nvim",
            "gvim",
            "view",
            "nano",
            "pico",
            "emacs",
            "emacsclient",
            "micro",
            "kak",
            "joe",
            "jed",
            "ne",
            "mg",
            "mcedit",
            "vis",
            "ee",
            "gedit",
            "jmacs",
            "zile",
            "elvis",
            "nvi",
        ],
        Line::Plus,
    ),
];

#[derive(Clone, Copy)]
enum Line {
    /// `+12 path`
    Plus,
    /// `--goto path:12`
    Goto,
    /// `path:12`
    Behind,
    /// `--line 12 path`
    Flag,
}

/// Opens a file at a line, waits for the editor, and returns its exit status.
pub(super) fn open(path: &Path, line: Option<u64>) -> u8 {
    if path.is_dir() {
        return complain(&format!("{} is a folder; give a file to open", path.display()));
    }
    if !path.is_file() {
        return complain(&format!("{} is not on this machine and cannot be opened", path.display()));
    }
    let editor = config::editor();
    let mut command = Command::new("sh");
    // `$EDITOR` may contain flags, as in `code --wait`.
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg("sh").args(arguments(&editor, path, line));
    if !io::stdin().is_terminal()
        && let Ok(terminal) = File::open("/dev/tty")
    {
        command.stdin(Stdio::from(terminal));
    }
    match command.status() {
        Ok(status) if status.success() => FOUND,
        Ok(_) => FAILED,
        Err(err) => complain(&format!("cannot start {editor}: {err}")),
    }
}

/// The editor's arguments for a file and a line. An unknown editor gets the file only.
fn arguments(editor: &str, path: &Path, line: Option<u64>) -> Vec<String> {
    let program = editor.split_whitespace().next().unwrap_or_default();
    let program = Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
    let known = EDITORS.iter().find(|(names, _)| names.contains(&&*program)).map(|(_, way)| *way);
    let path = path.to_string_lossy().into_owned();
    match (known, line) {
        (Some(Line::Plus), Some(line)) => vec![format!("+{line}"), path],
        (Some(Line::Goto), Some(line)) => vec!["--goto".to_owned(), format!("{path}:{line}")],
        (Some(Line::Behind), Some(line)) => vec![format!("{path}:{line}")],
        (Some(Line::Flag), Some(line)) => vec!["--line".to_owned(), line.to_string(), path],
        _ => vec![path],
    }
}

/// The places in an answer, in order: repository if stated, path and line.
pub(super) fn places(answer: &Value) -> Vec<(Option<&str>, &str, Option<u64>)> {
    let mut found = Vec::new();
    // The user asks for uses, not for the definitions beside them.
    let uses = answer.get("references").filter(|uses| uses.as_array().is_some_and(|uses| !uses.is_empty()));
    collect(uses.unwrap_or(answer), None, None, &mut found);
    found
}

/// Keys that hold no hits.
const BESIDE: &[&str] = &["_meta", "nearest", "negative_evidence", "warnings"];

fn collect<'a>(
    value: &'a Value,
    repo: Option<&'a str>,
    file: Option<&'a str>,
    found: &mut Vec<(Option<&'a str>, &'a str, Option<u64>)>,
) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, repo, file, found)),
        Value::Object(object) => {
            let text = |key: &str| object.get(key).and_then(Value::as_str);
            let id = ["id", "symbol_id"].iter().find_map(|key| text(key)?.split_once("::")).map(|(file, _)| file);
            let own = text("file").or_else(|| text("file_path")).or_else(|| text("path")).or(id);
            let (repo, file) = (text("repo").or(repo), own.or(file));
            let line = ["line", "line_number", "start_line"].iter().find_map(|key| object.get(*key)?.as_u64());
            let is_alone = own.is_some()
                && !object
                    .values()
                    .any(|value| matches!(value, Value::Array(list) if list.iter().any(Value::is_object)));
            if let Some(path) = file.filter(|_| line.is_some() || is_alone) {
                found.push((repo, path, line));
            }
            let inner = object.iter().filter(|(key, _)| !BESIDE.contains(&key.as_str()));
            inner.for_each(|(_, value)| collect(value, repo, file, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::{arguments, places};

    #[test]
    fn editors_are_told_the_line_in_their_way() {
        let told = |editor: &str| arguments(editor, Path::new("/a b.py"), Some(7)).join(" ");
        assert_eq!(told("vim"), "+7 /a b.py");
        assert_eq!(told("/usr/bin/emacsclient -nw"), "+7 /a b.py");
        assert_eq!(told("code --wait"), "--goto /a b.py:7");
        assert_eq!(told("hx"), "/a b.py:7");
        assert_eq!(told("idea"), "--line 7 /a b.py");
        assert_eq!(told("my-editor"), "/a b.py");
    }

    #[test]
    fn hits_are_places_whatever_the_answer() {
        let hits = json!({"results": [{"file": "a.py", "line": 1}, {"id": "b.py::f#function", "line": 9}], "_meta": {"line": 3}});
        assert_eq!(places(&hits), [(None, "a.py", Some(1)), (None, "b.py", Some(9))]);
        let grouped = json!({"results": [{"file": "a.py", "matches": [{"line": 4}, {"line": 5}]}]});
        assert_eq!(places(&grouped), [(None, "a.py", Some(4)), (None, "a.py", Some(5))]);
    }
}
