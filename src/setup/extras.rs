//! Parts of a setup beside the server: hooks, a skill, a sub-agent, a section in the file of instructions, and the language
//! server.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::edit::{self, lines};
use super::entry::NAME;
use super::table::{Client, Confirmed, Paths};
use super::{Error, Scope, Surroundings, program};

/// Part of a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The entry of the server.
    Server,
    /// Commands that the client runs after a search and at the start of a session.
    Hooks,
    /// A skill: commands with examples, read when a task calls for them.
    Skill,
    /// A sub-agent that searches.
    Agent,
    /// A section in the file of instructions that the client reads in every session.
    Guide,
    /// The entry of the language server.
    Lsp,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 6] = [Self::Server, Self::Hooks, Self::Skill, Self::Agent, Self::Guide, Self::Lsp];

    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Hooks => "hooks",
            Self::Skill => "skill",
            Self::Agent => "sub-agent",
            Self::Guide => "instructions",
            Self::Lsp => "language server",
        }
    }
}

/// Texts that are written for agents.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// The skill, a whole file.
    pub skill: String,
    /// The sub-agent, a whole file.
    pub agent: String,
    /// The section, without the lines that mark it.
    pub guide: String,
}

/// Files of a part: those of the user, and those of a project relative to its root; of each the first that exists, else the first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// Files of the user.
    #[serde(default)]
    pub user: Paths,
    /// Files of a project.
    #[serde(default)]
    pub project: Vec<String>,
    /// Source of these facts.
    pub source: String,
    /// Day on which the source was read.
    pub seen: String,
    /// Proof of these facts.
    pub confirmed: Confirmed,
}

/// Hooks of a client: a list for each event in a JSON file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hooks {
    /// Files.
    pub files: Files,
    /// Values at the top of the file that the client wants to see.
    #[serde(default)]
    pub head: Map<String, Value>,
    /// The entry in the list of each event; `{command}` is the command.
    pub events: Map<String, Value>,
    /// Anything a person should know.
    pub note: Option<String>,
}

/// Language servers of a client: a table of them in a JSON file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageServers {
    /// Files.
    pub files: Files,
    /// Keys of the table.
    pub key: Vec<String>,
    /// Entry of a server: `{program}` and `{args}`, or both in one list, `{argv}`; `{endings}` is a list of the endings of
    /// files, `{languages}` a table from them to names of languages.
    pub entry: Map<String, Value>,
    /// Anything a person should know.
    pub note: Option<String>,
}

/// Argument with which a client starts the language server.
const LSP: &str = "lsp";

/// The entry of the language server, given the one that there is, of which keys of a person's own stay.
pub(super) fn language_server(
    servers: &LanguageServers,
    command: &[String],
    endings: &[(String, String)],
    existing: Option<&Value>,
) -> Map<String, Value> {
    let (program, args) = command.split_first().map_or((NAME, &[][..]), |(program, args)| (program.as_str(), args));
    let args: Vec<&str> = args.iter().map(String::as_str).chain([LSP]).collect();
    let fill = |value: &Value| match value.as_str() {
        Some("{program}") => program.into(),
        Some("{args}") => args.clone().into(),
        Some("{argv}") => std::iter::once(program).chain(args.iter().copied()).collect(),
        Some("{endings}") => endings.iter().map(|(ending, _)| ending.as_str()).collect(),
        Some("{languages}") => {
            endings.iter().map(|(ending, language)| (ending.clone(), Value::from(language.as_str()))).collect()
        }
        _ => value.clone(),
    };
    let mut entry: Map<String, Value> = servers.entry.iter().map(|(key, value)| (key.clone(), fill(value))).collect();
    for (key, value) in existing.and_then(Value::as_object).into_iter().flatten() {
        entry.entry(key.as_str()).or_insert_with(|| value.clone());
    }
    entry
}

/// The program that an entry of a language server starts.
pub(super) fn program_of_language_server(servers: &LanguageServers, entry: &Value) -> Option<String> {
    let key = |text: &str| servers.entry.iter().find(|(_, value)| value.as_str() == Some(text)).map(|(key, _)| key);
    let program = match key("{argv}") {
        Some(key) => entry.get(key)?.get(0)?,
        None => entry.get(key("{program}")?)?,
    };
    program.as_str().map(str::to_owned)
}

/// Key of the table of events.
const HOOKS: &str = "hooks";
/// End of every hook's command: a program that is gone must not disturb the client.
const TAIL: &str = " hook 2>/dev/null || true";
/// Lines around the section in a file of instructions.
const BEGIN: &str = "<!-- codelode: begin -->";
const END: &str = "<!-- codelode: end -->";

/// The files of a part; `None` for a client that has no such part.
pub(super) fn files(client: &Client, part: Part) -> Option<(&Paths, &[String])> {
    let files = match part {
        Part::Server => return Some((&client.user, &client.project)),
        Part::Hooks => &client.hooks.as_ref()?.files,
        Part::Skill => client.skill.as_ref()?,
        Part::Agent => client.agent.as_ref()?,
        Part::Guide => client.guide.as_ref()?,
        Part::Lsp => &client.lsp.as_ref()?.files,
    };
    Some((&files.user, &files.project))
}

/// The command of a hook. `None` if a package runner would start it: that takes longer than the search.
pub(super) fn hook_command(around: &Surroundings, scope: Scope) -> Result<Option<String>, Error> {
    let words = program::command(around, scope)?;
    let [program] = words.as_slice() else { return Ok(None) };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    let program = match program.chars().all(is_plain) {
        true => program.clone(),
        false => format!("'{}'", program.replace('\'', "'\\''")),
    };
    Ok(Some(format!("{program}{TAIL}")))
}

/// The text with the hooks that run a command; without them for `None`.
pub(super) fn with_hooks(hooks: &Hooks, text: &str, command: Option<&str>) -> Result<String, edit::Error> {
    let mut text = text.to_owned();
    for (name, value) in hooks.head.iter().filter(|_| command.is_some()) {
        text = edit::put_if_missing(&text, name, value)?;
    }
    for (event, form) in &hooks.events {
        let wanted = command.map(|command| filled(form, command));
        text = edit::replace_in_list(&text, &[HOOKS, event], &is_ours, wanted.as_ref())?;
    }
    Ok(text)
}

/// The commands of the hooks in a text that were written here.
pub(super) fn commands(hooks: &Hooks, text: &str) -> Vec<String> {
    let document = edit::document(text).unwrap_or_default();
    let lists = hooks.events.keys().filter_map(|event| document[HOOKS][event.as_str()].as_array());
    lists.flatten().filter(|entry| is_ours(entry)).filter_map(|entry| command_of(entry).map(str::to_owned)).collect()
}

/// The form of a hook with its command.
fn filled(form: &Value, command: &str) -> Value {
    match form {
        Value::String(text) => text.replace("{command}", command).into(),
        Value::Array(values) => values.iter().map(|value| filled(value, command)).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), filled(value, command))).collect(),
        other => other.clone(),
    }
}

/// Whether an entry of a list runs `codelode hook` and nothing else.
fn is_ours(entry: &Value) -> bool {
    let is_alone = entry[HOOKS].as_array().is_none_or(|hooks| hooks.len() == 1);
    let is_ours = |command: &str| command.ends_with(TAIL) || (command.contains(NAME) && command.contains(" hook"));
    is_alone && command_of(entry).is_some_and(is_ours)
}

/// The command of an entry, or of its first hook.
fn command_of(entry: &Value) -> Option<&str> {
    entry["command"].as_str().or_else(|| entry.pointer("/hooks/0/command")?.as_str())
}

/// The program that a hook's command starts.
pub(super) fn program_of(command: &str) -> String {
    match command.strip_prefix('\'') {
        Some(rest) => rest.split("' hook").next().unwrap_or(rest).replace("'\\''", "'"),
        None => command.split(' ').next().unwrap_or(command).to_owned(),
    }
}

/// The text with the section; without it for `None`.
pub(super) fn with_section(text: &str, section: Option<&str>) -> String {
    let plain = text.replace("\r\n", "\n");
    let marked = section.map(|section| format!("{BEGIN}\n{}\n{END}\n", section.trim_end()));
    let found = plain.find(BEGIN).and_then(|begin| Some((begin, begin + plain[begin..].find(END)? + END.len())));
    let edited = match (found, marked) {
        (Some((begin, end)), Some(marked)) => {
            format!("{}{}{}", &plain[..begin], marked.trim_end(), &plain[end..])
        }
        (Some((begin, end)), None) => {
            let (head, tail) = (&plain[..begin], &plain[end..]);
            let tail = tail.strip_prefix('\n').unwrap_or(tail);
            // The empty line that set it off goes with it.
            let head = if head.ends_with("\n\n") { &head[..head.len() - 1] } else { head };
            format!("{head}{tail}")
        }
        (None, Some(marked)) if plain.is_empty() => marked,
        (None, Some(marked)) => {
            let end = if plain.ends_with('\n') { "" } else { "\n" };
            format!("{plain}{end}\n{marked}")
        }
        (None, None) => plain,
    };
    lines::with_ends_of(text, &edited)
}

impl Surroundings {
    /// The file of a part of a client: the first that exists, else the first; `None` if it has none of that scope.
    pub(super) fn file(&self, client: &Client, part: Part, scope: Scope) -> Option<PathBuf> {
        let (user, project) = files(client, part)?;
        let paths: Vec<PathBuf> = match scope {
            Scope::User => user.here().iter().filter_map(|path| self.expand(path)).collect(),
            Scope::Project => {
                let root = self.project.as_ref()?;
                project.iter().map(|path| root.join(path)).collect()
            }
        };
        paths.iter().find(|path| is_there(path)).or_else(|| paths.first()).cloned()
    }
}

/// Whether a file, a folder or a link is there, even one that leads nowhere.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
