//! The terminal's words in tool messages: commands for tools, flags for arguments.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use codelode_mcp::schema::describe_for_people;
use codelode_service::catalog::indexes::shell_word;
use codelode_service::tools::{TOOLS, ToolSpec};

/// Phrases about a client, and their replacement at a terminal.
const PHRASES: &[(&str, &str)] = &[
    ("the client's root", "the folder you are in"),
    ("call get_file_content lines ", "get_file_content lines "),
    ("next_cursor", "--cursor"),
    ("the absolute path of", "the path of"),
    ("with fuzzy", "with --fuzzy"),
    ("without language and", "without --language and"),
];

/// The words for an answer.
#[derive(Clone, Copy)]
pub(super) enum Words {
    /// Tool words, for a person who calls tools by name.
    OfTools,
    /// Terminal words; with the called tool, if any.
    OfTerminal(Option<&'static str>),
}

impl Words {
    /// The terminal's words for a tool's answers.
    pub(super) fn of(tool: &str) -> Self {
        Self::OfTerminal(TOOLS.iter().find(|spec| spec.name == tool).map(|spec| spec.name))
    }

    /// Translates a tool's message.
    pub(super) fn say(self, text: &str) -> String {
        match self {
            Self::OfTools => text.to_owned(),
            Self::OfTerminal(tool) => at_terminal(text, tool),
        }
    }
}

/// A tool's message in the terminal's words. `tool` is the called tool.
fn at_terminal(text: &str, tool: Option<&str>) -> String {
    // Most messages name neither a tool nor an argument.
    if !text.contains(['_', '`']) && !PHRASES.iter().any(|(theirs, _)| text.contains(theirs)) {
        return text.to_owned();
    }
    let text = PHRASES.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours));
    let mut said = String::with_capacity(text.len() + 16);
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        // Quoted text comes from others, so it stays.
        if first == '"' {
            let (quoted, after) = rest.split_at(end_of_quote(rest));
            said.push_str(quoted);
            rest = after;
            continue;
        }
        let (word, after) = rest.split_at(rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len()));
        if word.is_empty() {
            said.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        // A word in a path or an id is no tool or argument.
        let joins = |letter: char| "/.:#".contains(letter);
        let is_part = said.ends_with(joins) || after.chars().next().is_some_and(|letter| "/#".contains(letter));
        let is_marked = said.ends_with('`') && after.starts_with('`');
        match translated(word, after, tool, is_marked).filter(|_| !is_part) {
            Some((command, taken)) => {
                let begins = ["call ", "Call "].iter().find(|verb| said.ends_with(**verb) && command.contains(' '));
                if let Some(verb) = begins {
                    said.truncate(said.len() - verb.len());
                    said.push_str(if verb.starts_with('C') { "Run " } else { "run " });
                }
                let needs_marks = command.contains(' ') && !is_marked;
                said.push_str(&if needs_marks { format!("`{command}`") } else { command });
                rest = &after[taken..];
            }
            None => {
                said.push_str(word);
                rest = after;
            }
        }
    }
    said
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The length of a quoted text with its quotes.
fn end_of_quote(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The command or flag for a word, and the length of the text after it that belongs to it.
fn translated(word: &str, after: &str, tool: Option<&str>, is_marked: bool) -> Option<(String, usize)> {
    if let Some(spec) = TOOLS.iter().find(|spec| spec.name == word) {
        return Some(command(spec, after));
    }
    let is_name = word.contains('_') || is_marked;
    if !is_name || !arguments().contains(word) {
        return None;
    }
    let spec = tool.and_then(|tool| TOOLS.iter().find(|spec| spec.name == tool));
    if spec.is_some_and(|spec| spec.positional.contains(&word)) {
        return Some((word.to_uppercase(), 0));
    }
    let flag = word.replace('_', "-");
    match after.strip_prefix(" false") {
        Some(_) => Some((format!("--no-{flag}"), " false".len())),
        None => Some((format!("--{flag}"), 0)),
    }
}

/// A tool as a command, with the arguments in the text after it, and the length of that text.
fn command(spec: &ToolSpec, after: &str) -> (String, usize) {
    let name = format!("codelode {}", spec.command);
    let given = |lead: &str| {
        let value = after.strip_prefix(lead).filter(|value| value.starts_with('"'))?;
        let quoted = &value[..end_of_quote(value)];
        let text: String = serde_json::from_str(quoted).ok()?;
        Some((shell_word(&text), lead.len() + quoted.len()))
    };
    if let Some((value, taken)) = given(" with path ").or_else(|| given(" with url ")) {
        return (format!("{name} {value}"), taken);
    }
    let lines = after.strip_prefix(" lines ").and_then(|lines| {
        let end = lines.find(|letter: char| !letter.is_ascii_digit() && letter != '-').unwrap_or(lines.len());
        let (first, last) = lines[..end].split_once('-')?;
        Some((format!("{name} FILE --start-line {first} --end-line {last}"), " lines ".len() + end))
    });
    lines.unwrap_or((name, 0))
}

/// The arguments of all tools.
fn arguments() -> &'static BTreeSet<String> {
    static ARGUMENTS: OnceLock<BTreeSet<String>> = OnceLock::new();
    ARGUMENTS.get_or_init(|| {
        let of_tools = TOOLS.iter().flat_map(|spec| {
            let described = describe_for_people(&(spec.input)());
            described.properties().map(|(name, _): (&String, &Value)| name.clone()).collect::<Vec<_>>()
        });
        of_tools.chain(codelode_service::answer::SHARED.iter().map(|name| (*name).to_owned())).collect()
    })
}

/// The command of a tool, if the word is a tool's name.
pub(super) fn command_of(word: &str) -> Option<&'static str> {
    TOOLS.iter().find(|spec| spec.name == word).map(|spec| spec.command)
}

/// A prepared tool call as a command line; `None` if a value does not fit there.
pub(super) fn command_line(tool: &str, arguments: &Map<String, Value>) -> Option<String> {
    let spec = TOOLS.iter().find(|spec| spec.name == tool)?;
    let text = |value: &Value| match value {
        Value::String(text) => Some(shell_word(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let mut words = vec![format!("codelode {}", spec.command)];
    for name in spec.positional {
        words.extend(arguments.get(*name).and_then(text));
    }
    for (name, value) in arguments.iter().filter(|(name, _)| !spec.positional.contains(&name.as_str())) {
        let flag = format!("--{}", name.replace('_', "-"));
        match value {
            Value::Bool(true) => words.push(flag),
            other => words.extend([flag, text(other)?]),
        }
    }
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::at_terminal;

    #[test]
    fn tools_become_commands_and_arguments_flags() {
        let cases = [
            (
                "no file \"a_b\" is indexed; get_file_tree lists files",
                "no file \"a_b\" is indexed; `codelode tree` lists files",
            ),
            (
                "/x is not indexed; call index_folder with path \"/x y\"",
                "/x is not indexed; run `codelode index '/x y'`",
            ),
            ("give a smaller max_depth", "give a smaller --max-depth"),
            ("give search_content false, or fewer names", "give --no-search-content, or fewer names"),
            ("name one with `repo`", "name one with `--repo`"),
            (
                "cut; the rest: get_file_content lines 3-9",
                "cut; the rest: `codelode file FILE --start-line 3 --end-line 9`",
            ),
            ("get the rest with next_cursor", "get the rest with --cursor"),
            ("/tmp/max_depth/search_text is a folder", "/tmp/max_depth/search_text is a folder"),
            ("no symbol has the id \"search_text\"", "no symbol has the id \"search_text\""),
            ("nothing_known here", "nothing_known here"),
        ];
        for (theirs, ours) in cases {
            assert_eq!(at_terminal(theirs, None), ours);
        }
        assert_eq!(at_terminal("`query` is empty", Some("search_symbols")), "`QUERY` is empty");
    }
}
