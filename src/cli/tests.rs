//! Command lines become arguments, and messages use the terminal's words.

use clap::CommandFactory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::words::Words;
use super::{Cli, command};
use codelode_service::tools::{Call, Error, TOOLS, Tool, ToolSpec};

/// Finds things, best first.
///
/// The long story.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Args {
    /// Where to look.
    repo: Option<String>,
    /// Words to look for.
    query: String,
    /// How many.
    #[serde(default = "ten")]
    max_results: usize,
    /// In which order.
    sort_by: Option<Sort>,
    /// Also what is spelled differently.
    #[serde(default)]
    fuzzy: bool,
    /// Only what changed.
    #[serde(default = "yes")]
    incremental: bool,
    /// Patterns to leave out.
    #[serde(default)]
    exclude: Vec<String>,
    weight: Option<f32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema is looked at")]
enum Sort {
    Relevance,
    Centrality,
}

fn ten() -> usize {
    10
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
struct Nothing {}

struct Find;

impl Tool for Find {
    const NAME: &'static str = "find_things";
    const COMMAND: &'static str = "find";
    const POSITIONAL: &'static [&'static str] = &["query"];
    type Args = Args;
    type Output = Nothing;
    fn run(_: &Call<'_>, _: Args) -> Result<Nothing, Error> {
        Ok(Nothing {})
    }
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct GetArgs {
    symbol_id: Option<String>,
    symbol_ids: Option<Vec<String>>,
}

struct GetMany;

impl Tool for GetMany {
    const NAME: &'static str = "get_many_things";
    const COMMAND: &'static str = "get";
    const POSITIONAL: &'static [&'static str] = &["symbol_ids"];
    type Args = GetArgs;
    type Output = Nothing;
    fn run(_: &Call<'_>, _: GetArgs) -> Result<Nothing, Error> {
        Ok(Nothing {})
    }
}

struct Get;

impl Tool for Get {
    const NAME: &'static str = "get_things";
    const COMMAND: &'static str = "get";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    type Args = GetArgs;
    type Output = Nothing;
    fn run(_: &Call<'_>, _: GetArgs) -> Result<Nothing, Error> {
        Ok(Nothing {})
    }
}

/// The arguments of a command line, or the parser's error.
fn typed(spec: &ToolSpec, line: &str) -> Result<Value, String> {
    let parser = Cli::command().subcommand(command::filled(clap::Command::new(spec.command), spec, true));
    let matches = parser.try_get_matches_from(line.split_whitespace()).map_err(|err| err.to_string())?;
    let (_, matches) = matches.subcommand().expect("the line names a command");
    command::arguments(spec, matches).map(Value::Object)
}

#[test]
fn help_of_a_flag_that_switches_off_says_what_it_does() {
    let mut n_flags = 0;
    for spec in TOOLS {
        let parser = command::filled(clap::Command::new(spec.command), spec, true);
        let of = |long: &str| parser.get_arguments().find(|arg| arg.get_long() == Some(long));
        for arg in parser.get_arguments() {
            let Some(on) = arg.get_long().and_then(|long| long.strip_prefix("no-")).and_then(of) else { continue };
            n_flags += 1;
            let (says, of_on) = (arg.get_help().map(ToString::to_string), on.get_help().map(ToString::to_string));
            assert!(says.is_some() && says != of_on, "{} --no-{:?}: {says:?}", spec.command, on.get_long());
        }
    }
    assert!(n_flags > 2, "{n_flags}");
}

#[test]
fn flags_become_arguments() {
    let find = ToolSpec::of::<Find>();
    let check = |line: &str, expected: Value| assert_eq!(typed(&find, line), Ok(expected), "{line}");
    check("codelode find retry", json!({"query": "retry"}));
    check("codelode find retry middleware", json!({"query": "retry middleware"}));
    check("codelode find retry --fuzzy --max-results 3", json!({"query": "retry", "max_results": 3, "fuzzy": true}));
    check("codelode find --no-incremental retry", json!({"query": "retry", "incremental": false}));
    check("codelode find --exclude a --exclude b retry", json!({"query": "retry", "exclude": ["a", "b"]}));
    check(
        "codelode find retry --sort-by centrality --weight -0.5",
        json!({"query": "retry", "sort_by": "centrality", "weight": -0.5}),
    );
    check("codelode --json find --repo here retry", json!({"query": "retry"}));
    check("codelode find -- --fuzzy", json!({"query": "--fuzzy"}));
    let refused = |line: &str, expected: &str| {
        let message = typed(&find, line).expect_err("it does not fit");
        assert!(message.contains(expected), "{line}: {message}");
    };
    refused("codelode find", "<QUERY>");
    refused("codelode find retry --fuzy", "'--fuzzy'");
    refused("codelode find retry --max-results many", "give a whole number");
    refused("codelode find retry --sort-by size", "relevance, centrality");
}

#[test]
fn several_of_one_become_the_plural() {
    for get in [ToolSpec::of::<Get>(), ToolSpec::of::<GetMany>()] {
        assert_eq!(typed(&get, "codelode get a"), Ok(json!({"symbol_id": "a"})));
        assert_eq!(typed(&get, "codelode get a b"), Ok(json!({"symbol_ids": ["a", "b"]})));
    }
    let get = ToolSpec::of::<Get>();
    assert_eq!(typed(&get, "codelode get --symbol-ids a --symbol-ids b"), Ok(json!({"symbol_ids": ["a", "b"]})));
}

#[test]
fn every_tool_makes_a_command() {
    command::parser(Cli::command(), &[]).debug_assert();
}

const TERMINAL: Words = Words::OfTerminal(None);

#[test]
fn flags_are_made_for_the_commands_that_are_asked_for() {
    let has_flags = |line: &str| {
        let args: Vec<_> = line.split(' ').map(Into::into).collect();
        let parser = command::parser(Cli::command(), &args);
        parser.find_subcommand("search").expect("it is a command").get_arguments().next().is_some()
    };
    for line in ["codelode", "codelode search add", "codelode text search", "codelode help search"] {
        assert!(has_flags(line), "{line}");
    }
    let without =
        ["codelode text add", "codelode --json --repo x ast add", "codelode text -h", "codelode outline a.py"];
    for line in
        without.into_iter().chain(["codelode help", "codelode --help", "codelode -h text", "codelode help text"])
    {
        assert!(!has_flags(line), "{line}");
    }
}

#[test]
fn no_message_names_a_tool_at_the_terminal() {
    let names = || TOOLS.iter().map(|spec| spec.name);
    let names_tool = |text: &str| {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.any(|word| word.contains('_') && names().any(|name| name == word))
    };
    let mut n_messages = 0;
    for room in [
        "crates/service/src/tools",
        "crates/service/src/catalog",
        "crates/service/src/answer",
        "crates/query/src",
        "crates/source/src/git",
        "crates/source/src/discover",
    ] {
        for message in messages(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(room)) {
            if names_tool(&message) {
                n_messages += 1;
                let said = TERMINAL.say(&message);
                assert!(!names_tool(&said), "{message:?} becomes {said:?}");
            }
        }
    }
    assert!(n_messages > 15, "only {n_messages} messages name a tool");
    for spec in TOOLS.iter().filter(|spec| spec.shown.is_some()) {
        let mut command = command::filled(clap::Command::new(spec.command), spec, true);
        let help = command.render_long_help().to_string();
        assert!(!names_tool(&help), "{help}");
        assert!(!help.contains("client's root"), "{help}");
        assert!(!help.contains("Switch off"), "a flag says what it does: {help}");
    }
}

/// String literals of several words in the sources of a crate, without tests.
fn messages(room: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(room).expect("the sources are here") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            found.extend(messages(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source is text");
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        if path.ends_with("tests.rs") || path.to_string_lossy().contains("/tests/") {
            continue;
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let texts = line.replace("\\\"", "\u{1}");
            let texts = texts.split('"').skip(1).step_by(2).map(|text| text.replace('\u{1}', "\""));
            found.extend(texts.filter(|text| text.contains(' ')));
        }
    }
    found
}
