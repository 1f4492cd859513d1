//! Tools as subcommands. Their flags come from the tool's schema, so nothing is declared twice.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, Subcommand as _};
use serde_json::{Map, Value};

use super::words::Words;
use super::{BuiltInCommand, Global};
use super::{draw, grep, guide, help, here, hook, rename};
use codelode_mcp::schema::{Described, describe_for_people};
use codelode_service::answer::SHARED;
use codelode_service::tools::{TOOLS, ToolSpec};

/// The type of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Switch,
    Whole,
    Number,
    Text,
    /// One text or several.
    Either,
    List,
    /// Any other value, as JSON.
    Json,
}

/// Tools with handwritten commands, because people know their flags from other programs.
const BY_HAND: [&str; 2] = ["search_text", "search_ast"];

/// Short flags for arguments, in all commands that have them.
const SHORT: [(&str, char); 6] = [
    ("kind", 'k'),
    ("language", 'l'),
    ("file_pattern", 'g'),
    ("max_results", 'n'),
    ("top_n", 'n'),
    ("context_lines", 'C'),
];

/// Help of flags that switch something off.
const OFF: [(&str, &str); 3] = [
    ("incremental", "Read every file again"),
    ("search_content", "Search uses only, not comments and strings"),
    ("use_regex", "Treat the pattern as text, not as a regular expression"),
];

/// Tools that print one text for people, with the argument that selects it.
pub(super) const AS_TEXT: [(&str, &str, &str); 5] = [
    ("review_changes", "output", "markdown"),
    ("find_tests", "output", "text"),
    ("plan_rename", "output", "patch"),
    ("plan_delete", "output", "text"),
    ("plan_change_signature", "output", "text"),
];

/// Tools whose answers a pipe gets as compact text, like a model, see [`codelode_service::answer::reading`]. Other
/// tools print lines for programs: paths, repositories, commits, the text of a file.
pub(super) const READ: [&str; 18] = [
    "check_references",
    "find_dead_code",
    "find_implementations",
    "find_importers",
    "find_references",
    "get_blast_radius",
    "get_call_hierarchy",
    "get_changed_symbols",
    "get_class_hierarchy",
    "get_file_outline",
    "get_file_tree",
    "get_ranked_context",
    "get_related_symbols",
    "get_repo_map",
    "get_symbol",
    "get_symbol_importance",
    "get_symbol_source",
    "search_symbols",
];

/// Tools of [`AS_TEXT`] that a terminal shows in rows, like other tools. A pipe gets the text.
pub(super) const IN_ROWS: [&str; 3] = ["review_changes", "plan_delete", "plan_change_signature"];

/// Tools with commands that no client is shown, because they may cost money or few repositories need them.
const FOR_PEOPLE: [&str; 2] = ["embed_repo", "search_columns"];

/// Tools whose commands come from their schemas alone.
fn commands() -> impl Iterator<Item = &'static ToolSpec> {
    let is_shown = |spec: &&ToolSpec| spec.shown.is_some() || FOR_PEOPLE.contains(&spec.name);
    TOOLS.iter().filter(is_shown).filter(|spec| !BY_HAND.contains(&spec.name))
}

/// The tool of a command. The tool's MCP name works too, also with dashes.
pub(super) fn tool(command: &str) -> Option<&'static ToolSpec> {
    let name = command.replace('-', "_");
    commands().find(|spec| spec.command == command || spec.name == name)
}

/// Whether a tool has an argument of that name.
pub(super) fn takes(tool: &str, argument: &str) -> bool {
    let spec = TOOLS.iter().find(|spec| spec.name == tool);
    spec.is_some_and(|spec| describe_for_people(&(spec.input)()).properties().any(|(name, _)| name == argument))
}

/// A parser for the one command that the arguments seem to name. The options of every command are copied into each, and
/// forty copies take longer than most answers. If it rejects the arguments, the full parser is used.
pub(super) fn alone(args: &[OsString]) -> Option<Command> {
    let root = Global::augment_args(Command::new("codelode"));
    let words = || args.iter().skip(1).filter_map(|arg| arg.to_str());
    let command = match words().find_map(tool) {
        Some(spec) => filled(Command::new(spec.command), spec, false),
        None => match words().next().and_then(frequent) {
            Some(command) => command,
            None => {
                let own = BuiltInCommand::augment_subcommands(Command::new("codelode"));
                words().find_map(|word| own.find_subcommand(word))?.clone()
            }
        },
    };
    Some(root.subcommand(command))
}

/// A builtin command that is called as often as a tool. Building only this one is much faster than building all.
fn frequent(word: &str) -> Option<Command> {
    Some(match word {
        "text" | "search_text" | "search-text" => {
            grep::Text::augment_args(Command::new("text").aliases(["search_text", "search-text"]))
        }
        "ast" | "search_ast" | "search-ast" => {
            grep::Ast::augment_args(Command::new("ast").aliases(["search_ast", "search-ast"]))
        }
        "hook" => hook::Hook::augment_args(Command::new("hook")),
        _ => return None,
    })
}

/// The full parser. Flags are built only for commands that the arguments name, because building all takes longer than
/// most answers. If they name none, all are built, for help and completions.
pub(super) fn parser(mut parser: Command, args: &[OsString]) -> Command {
    let words = || args.iter().skip(1).filter_map(|arg| arg.to_str());
    let named: Vec<&str> = words().filter_map(tool).map(|spec| spec.name).collect();
    let is_own = |word: &str| parser.find_subcommand(word).is_some();
    let asks_for_all = words().take_while(|word| !is_own(word)).any(|word| ["help", "--help", "-h"].contains(&word));
    let is_read = words().any(|word| ["help", "--help", "-h"].contains(&word)) || named.is_empty();
    let is_for_one = !named.is_empty() || (words().any(is_own) && !asks_for_all);
    // The list of commands shows no flags.
    let lists_only = asks_for_all && named.is_empty();
    for spec in commands() {
        let command = Command::new(spec.command);
        let is_needed = !is_for_one || named.contains(&spec.name);
        parser = parser.subcommand(match is_needed {
            true if lists_only => command.about(about(&describe_for_people(&(spec.input)()), Words::of(spec.name))),
            true => filled(command, spec, is_read),
            false => command,
        });
    }
    parser
}

/// The first sentence of a tool's description.
fn about(described: &Described, words: Words) -> String {
    let sentence = described.first_sentence();
    words.say(sentence.strip_suffix('.').unwrap_or(sentence))
}

/// A command with its help and its flags. If the help will be read, it uses the terminal's words.
pub(super) fn filled(command: Command, spec: &ToolSpec, is_read: bool) -> Command {
    let described = describe_for_people(&(spec.input)());
    let words = if is_read { Words::of(spec.name) } else { Words::OfTools };
    let with_help = |arg: Arg, schema: &Value| with_help(arg, schema, words);
    let mut command = command.about(about(&described, words));
    if spec.name != spec.command {
        command = command.alias(spec.name);
        let hyphened = spec.name.replace('_', "-");
        command = if hyphened == spec.command { command } else { command.alias(hyphened) };
    }
    let last = spec.positional.last();
    for (index, name) in spec.positional.iter().enumerate() {
        if let Some((_, schema)) = described.properties().find(|(other, _)| other == name) {
            let arg = Arg::new(*name)
                .index(index + 1)
                .value_name(named(&described, name))
                .required(described.is_required(name));
            let is_many = matches!(kind(schema), Kind::List | Kind::Either) || plural(&described, name).is_some();
            let several = last == Some(name) && (is_many || joins(name));
            let arg = with_help(arg, schema).value_parser(parser_of(schema));
            // Programs may write the argument's name with underscores.
            let long = name.replace('_', "-");
            if !is_global(name) {
                let by_name = Arg::new(by_name(name)).long(long).hide(true).value_parser(parser_of(schema));
                command = command.arg(by_name.action(ArgAction::Append).conflicts_with(*name));
            }
            let arg = if described.is_required(name) && !is_global(name) {
                arg.required(false).required_unless_present(by_name(name))
            } else {
                arg
            };
            command = command.arg(if several { arg.num_args(1..).action(ArgAction::Append) } else { arg });
        }
    }
    for (name, schema) in described.properties() {
        if is_global(name) || spec.positional.contains(&name.as_str()) {
            continue;
        }
        let flag = name.replace('_', "-");
        let short = SHORT.iter().find(|(long, _)| long == name).map(|(_, short)| *short);
        let arg = with_help(Arg::new(name.clone()).long(flag.clone()).short(short), schema);
        let arg = arg.required(described.is_required(name));
        if kind(schema) == Kind::Switch {
            let on = schema.get("default") == Some(&Value::Bool(true));
            command = command.arg(arg.action(ArgAction::SetTrue).required(false).hide(on));
            if on {
                let help = schema.get("description").and_then(Value::as_str).unwrap_or_default().trim_end_matches('.');
                let says = OFF.iter().find(|(other, _)| other == name).map(|(_, says)| (*says).to_owned());
                let says = says.unwrap_or_else(|| format!("Switch off: {help}"));
                let no = Arg::new(format!("no_{name}")).long(format!("no-{flag}")).help(says);
                command = command.arg(no.action(ArgAction::SetTrue).conflicts_with(name));
            }
            continue;
        }
        let arg = arg.value_name(value_name(schema)).value_parser(parser_of(schema)).allow_negative_numbers(true);
        let several = matches!(kind(schema), Kind::List | Kind::Either);
        command = command.arg(if several { arg.action(ArgAction::Append) } else { arg });
    }
    let command = if is_read { briefly(command, spec, &described) } else { command };
    #[cfg(feature = "ship")]
    let command = super::ship::flags(command, spec);
    rename::flags(draw::flags(command, spec), spec)
}

/// A command whose help explains the options that most calls need, and lists the others on one line.
fn briefly(command: Command, spec: &ToolSpec, described: &Described) -> Command {
    let is_rare = |arg: &Arg| {
        let name = arg.get_id().as_str();
        described.is_rare(name.strip_prefix("no_").unwrap_or(name))
    };
    let rare: Vec<String> =
        command.get_arguments().filter(|arg| is_rare(arg) && !arg.is_hide_set()).filter_map(help::flag).collect();
    let command = command.mut_args(|arg| match is_rare(&arg) {
        true => arg.hide_short_help(true).hide_long_help(true),
        false => arg,
    });
    let example = guide::example_of(spec.command);
    let others = (!rare.is_empty()).then(|| format!("Also {}; see `codelode man`.", rare.join(", ")));
    let after: Vec<String> = example.into_iter().chain(others).collect();
    if after.is_empty() { command } else { command.after_help(after.join("\n\n")) }
}

/// Whether the argument is an option of every command.
fn is_global(name: &str) -> bool {
    name == "repo" || SHARED.contains(&name)
}

/// The parser's id for a positional argument that is given by name.
fn by_name(name: &str) -> String {
    format!("by-name-{name}")
}

/// The name of a positional argument in help.
fn named(described: &Described, name: &str) -> String {
    singular(described, name).unwrap_or_else(|| name.to_owned()).to_uppercase()
}

/// Adds a description to an argument, with the default as a person would type it.
fn with_help(arg: Arg, schema: &Value, words: Words) -> Arg {
    let help = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut help = help.strip_suffix('.').unwrap_or(help).to_owned();
    if let Some(default) = schema.get("default").filter(|default| !default.is_boolean()) {
        let default = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
        if !help.contains(&format!("(default {default})")) {
            help.push_str(&format!(" [default: {default}]"));
        }
    }
    arg.help(words.say(help.trim_start()))
}

/// The type of a flag's value, by its schema.
fn kind(schema: &Value) -> Kind {
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => Kind::Switch,
        Some("integer") => Kind::Whole,
        Some("number") => Kind::Number,
        Some("string") => Kind::Text,
        Some("array") if schema.pointer("/items/type").is_none_or(|kind| kind == "string") => Kind::List,
        _ => {
            let branches = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array());
            let has = |kind: &str| {
                branches.is_some_and(|all| all.iter().any(|one| one.get("type").is_some_and(|it| it == kind)))
            };
            if has("string") && has("array") { Kind::Either } else { Kind::Json }
        }
    }
}

/// The name of a value in help.
fn value_name(schema: &Value) -> &'static str {
    match kind(schema) {
        Kind::Whole | Kind::Number => "N",
        Kind::Json => "JSON",
        _ => "TEXT",
    }
}

/// The parser that checks a value before the tool gets it.
fn parser_of(schema: &Value) -> ValueParser {
    let names = schema.get("enum").or_else(|| schema.pointer("/items/enum")).and_then(Value::as_array);
    match (kind(schema), names) {
        (_, Some(names)) => {
            let names: Vec<String> = names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
            PossibleValuesParser::new(names).into()
        }
        (Kind::Whole, None) => ValueParser::from(|text: &str| whole(text).map(|_| text.to_owned())),
        (Kind::Number, None) => ValueParser::from(|text: &str| {
            text.parse::<f64>().map(|_| text.to_owned()).map_err(|_| "give a number".to_owned())
        }),
        (Kind::Json, None) => ValueParser::from(|text: &str| {
            serde_json::from_str::<Value>(text).map(|_| text.to_owned()).map_err(|err| err.to_string())
        }),
        _ => ValueParser::string(),
    }
}

/// A whole number.
fn whole(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "give a whole number".to_owned())
}

/// Whether an argument joins several words without quotes: a query, or a symbol with filter terms.
fn joins(name: &str) -> bool {
    ["query", "symbol_id"].contains(&name)
}

/// Joins names with their filter terms: `open kind:method` is one name.
fn narrowed(values: Vec<String>) -> Vec<String> {
    const TERMS: [&str; 5] = ["kind:", "lang:", "language:", "file:", "-file:"];
    let is_term = |value: &String| TERMS.iter().any(|term| value.len() > term.len() && value.starts_with(term));
    let (terms, names): (Vec<String>, Vec<String>) = values.into_iter().partition(is_term);
    if terms.is_empty() || names.is_empty() {
        return names.into_iter().chain(terms).collect();
    }
    names.into_iter().map(|name| format!("{name} {}", terms.join(" "))).collect()
}

/// The argument that takes several of these values: `symbol_ids` for `symbol_id`.
fn plural(described: &Described, name: &str) -> Option<String> {
    let plural = format!("{name}s");
    let (found, schema) = described.properties().find(|(other, _)| **other == plural)?;
    (kind(schema) == Kind::List).then(|| found.clone())
}

/// The argument that takes one of these values.
fn singular(described: &Described, name: &str) -> Option<String> {
    let singular = name.strip_suffix('s')?;
    let (found, schema) = described.properties().find(|(other, _)| *other == singular)?;
    (kind(schema) == Kind::Text).then(|| found.clone())
}

/// The arguments of a tool, read from the command line.
pub(super) fn arguments(spec: &ToolSpec, matches: &ArgMatches) -> Result<Map<String, Value>, String> {
    let described = describe_for_people(&(spec.input)());
    let mut arguments = Map::new();
    for (name, schema) in described.properties() {
        if kind(schema) == Kind::Switch {
            let on = matches.try_get_one::<bool>(name).ok().flatten() == Some(&true);
            let off = matches.try_get_one::<bool>(&format!("no_{name}")).ok().flatten() == Some(&true);
            if on || off {
                arguments.insert(name.clone(), on.into());
            }
            continue;
        }
        // Arguments unknown to this command's parser are global, and the caller adds them.
        let named = || matches.try_get_many::<String>(&by_name(name)).ok().flatten();
        let Some(values) = matches.try_get_many::<String>(name).ok().flatten().or_else(named) else { continue };
        let by_place = spec.positional.contains(&name.as_str());
        let mut values: Vec<String> = values.cloned().collect();
        if by_place && (name == "path" || name == "repo") {
            values = values.into_iter().map(|value| here::local_path(value, name == "path")).collect();
        }
        if by_place && name != "query" {
            values = narrowed(values);
        }
        // A positional argument takes one value or several, and is passed as the matching one of two arguments.
        match (plural(&described, name), singular(&described, name)) {
            (Some(plural), _) if by_place && values.len() > 1 => {
                arguments.insert(plural, values.into());
            }
            (_, Some(singular)) if by_place && values.len() == 1 => {
                arguments.insert(singular, values.remove(0).into());
            }
            _ => {
                arguments.insert(name.clone(), value(kind(schema), values)?);
            }
        }
    }
    Ok(arguments)
}

/// Converts texts to the JSON value that a schema requires.
fn value(kind: Kind, mut texts: Vec<String>) -> Result<Value, String> {
    let last = || texts.last().cloned().unwrap_or_default();
    Ok(match kind {
        Kind::List => texts.into(),
        Kind::Either if texts.len() == 1 => texts.remove(0).into(),
        Kind::Either => texts.into(),
        Kind::Text => texts.join(" ").into(),
        Kind::Whole => whole(&last())?.into(),
        Kind::Number => last().parse::<f64>().map_err(|err| err.to_string())?.into(),
        Kind::Json | Kind::Switch => serde_json::from_str(&last()).map_err(|err| err.to_string())?,
    })
}
