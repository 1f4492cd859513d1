//! `hook`: context about the names that an agent has just searched for.
//!
//! A client runs it after its own tools and at the start of a session, and passes the event as JSON on standard input.
//! The hook never blocks, never fails, indexes nothing, and prints nothing if it knows nothing.
//!
//! Formats: Claude Code (`PostToolUse`, `SessionStart`; <https://code.claude.com/docs/en/hooks>), Codex (the same),
//! Gemini CLI (`AfterTool`; docs/hooks/reference.md of its repository), Cursor (`postToolUse`, `sessionStart`).

mod context;
mod pattern;
mod shell;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::{FOUND, Global, flags, output};
use codelode_base::config::{self, Settings};
use codelode_service::tools::Context;
use pattern::Asked;
use shell::Search;

/// Tell an agent's hook what the index knows of a name it searched for; reads the hook's input.
#[derive(Args)]
pub(super) struct Hook {}

/// The largest input, in bytes; it contains the result of a tool.
const MOST_INPUT: u64 = 16 << 20;
/// The longest time that a client waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// Answers a hook. The exit status is always 0, because any other would be shown to the user or would stop the agent.
pub(super) fn run(global: &Global) -> u8 {
    // A client waits for a hook without limit, so the hook limits itself.
    let watchdog = thread::Builder::new().name("watchdog".to_owned()).spawn(|| {
        thread::sleep(PATIENCE);
        process::exit(0);
    });
    let mut input = Vec::new();
    let read = io::stdin().take(MOST_INPUT).read_to_end(&mut input);
    if watchdog.is_ok()
        && read.is_ok()
        && let Ok(event) = serde_json::from_slice(&input)
        && let Ok(config) = config::load(&flags(global, Settings::default()))
        && config.hooks
        && let Some(answer) = answer(&event, Context::new(config))
    {
        output::print_bytes(format!("{answer}\n").as_bytes());
    }
    FOUND
}

/// The answer to a client's event, in the client's format.
fn answer(event: &Value, cx: Context) -> Option<Value> {
    let name = event["hook_event_name"].as_str()?;
    let folder = folder(event)?;
    let text = match name {
        "PostToolUse" | "PreToolUse" | "AfterTool" | "postToolUse" => {
            let asked = asked(event, &folder);
            let shown = event["tool_response"].to_string();
            asked.iter().find_map(|question| context::of(&cx, question, &shown))
        }
        "SessionStart" | "sessionStart" => context::of_session(&cx, &folder),
        _ => None,
    };
    cx.end();
    let is_cursor = name.starts_with(char::is_lowercase);
    text.map(|text| {
        if is_cursor {
            json!({"additional_context": text})
        } else {
            json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})
        }
    })
}

/// The client's working folder.
fn folder(event: &Value) -> Option<PathBuf> {
    let named =
        ["/tool_input/cwd", "/tool_input/working_directory", "/tool_input/workdir", "/cwd", "/workspace_roots/0"];
    let folder =
        named.iter().find_map(|at| event.pointer(at)?.as_str().filter(|folder| Path::new(folder).is_absolute()));
    folder.map(PathBuf::from).or_else(|| std::env::current_dir().ok())
}

/// The question behind a search.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    /// The folder of the search.
    folder: PathBuf,
    asked: Asked,
    /// Whether file names were searched.
    is_for_files: bool,
    /// The searched files and folders; empty for the whole folder.
    places: Vec<PathBuf>,
}

/// The questions behind a client's tool call: a shell command line, or a search pattern.
fn asked(event: &Value, folder: &Path) -> Vec<Question> {
    let input = &event["tool_input"];
    let searches = if let Some(pattern) = input["pattern"].as_str() {
        let tool = event["tool_name"].as_str().unwrap_or_default().to_lowercase();
        let is_for_files = tool.contains("glob") || tool.contains("find");
        let places = input["path"].as_str().map(str::to_owned).into_iter().collect();
        vec![Search { folder: folder.to_owned(), pattern: pattern.to_owned(), is_for_files, places }]
    } else {
        let line = match &input["command"] {
            Value::String(line) => line.clone(),
            // A command with its arguments: `["bash", "-lc", "rg total"]`.
            Value::Array(words) => words.iter().filter_map(Value::as_str).map(quoted).collect::<Vec<_>>().join(" "),
            _ => return Vec::new(),
        };
        shell::searches(&line, folder)
    };
    let questions = searches.into_iter().flat_map(|Search { folder, pattern, is_for_files, places }| {
        let asked = if is_for_files { pattern::asked_of_file(&pattern) } else { pattern::asked(&pattern) };
        let places: Vec<PathBuf> = places.iter().map(|place| folder.join(place)).collect();
        asked.into_iter().map(move |asked| Question {
            // A search elsewhere is a question about that place.
            folder: places.iter().find(|place| !place.starts_with(&folder)).unwrap_or(&folder).clone(),
            asked,
            is_for_files,
            places: places.clone(),
        })
    });
    questions.take(3).collect()
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(event: &Value, expected: &[(&str, Asked)]) {
        let found: Vec<(String, Asked)> = asked(event, Path::new("/r"))
            .into_iter()
            .map(|question| {
                let places = question.places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>();
                let place = if places.is_empty() { question.folder.display().to_string() } else { places.join(" ") };
                (place, question.asked)
            })
            .collect();
        let found: Vec<(&str, &Asked)> = found.iter().map(|(place, asked)| (place.as_str(), asked)).collect();
        let expected: Vec<(&str, &Asked)> = expected.iter().map(|(place, asked)| (*place, asked)).collect();
        assert_eq!(found, expected, "{event}");
    }

    #[test]
    fn every_client_s_call_is_read() {
        let total = || Asked::Name("total".to_owned());
        check(
            &json!({"tool_name": "Bash", "tool_input": {"command": "cd src && rg 'def total'"}}),
            &[("/r/src", total())],
        );
        check(
            &json!({"tool_name": "shell", "tool_input": {"command": ["bash", "-lc", "rg 'def total' src"]}}),
            &[("/r/src", total())],
        );
        check(
            &json!({"tool_name": "Grep", "tool_input": {"pattern": "total\\(", "path": "src"}}),
            &[("/r/src", total())],
        );
        check(&json!({"tool_name": "Glob", "tool_input": {"pattern": "**/*.py"}}), &[]);
        check(&json!({"tool_name": "Read", "tool_input": {"file_path": "/r/a.py"}}), &[]);
        check(&json!({}), &[]);
    }
}
