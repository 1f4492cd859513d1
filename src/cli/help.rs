//! The list of commands, grouped by purpose, and suggestions for misspelt commands.

use std::borrow::Cow;
use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use super::{Cli, FOUND, command, output};

/// The groups of commands, most important first.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Find", &["search", "pick", "text", "refs", "context", "ast"]),
    ("Read", &["get", "outline", "file", "tree", "bundle", "map", "overview", "suggest"]),
    (
        "Relations",
        &[
            "calls",
            "importers",
            "deps",
            "hierarchy",
            "implementations",
            "blast",
            "dead",
            "check",
            "related",
            "importance",
        ],
    ),
    ("Changes", &["review", "tests", "rename", "plan-delete", "plan-signature", "changed", "diff", "log", "history"]),
    (
        "Repositories",
        &[
            "index",
            "list",
            "resolve",
            "index-file",
            "embed",
            "columns",
            "invalidate",
            "export",
            "index-repo",
            "pack",
            "push",
            "pull",
            "fleet",
            "grep",
            "remote-refs",
            "github",
        ],
    ),
    (
        "Serve and keep",
        &[
            "init",
            "serve",
            "lsp",
            "web",
            "token",
            "watch",
            "watch-claude",
            "hook",
            "hook-event",
            "config",
            "languages",
            "models",
            "doctor",
            "stats",
            "call",
            "completions",
            "man",
        ],
    ),
];

/// The widest line of help.
const WIDTH: usize = 100;
/// The indentation of a flag's description.
const INDENT: usize = 10;

/// Replaces the options that all commands share by one line in each command's help.
pub(super) fn shared_in_a_line(parser: Command) -> Command {
    let is_shown = |arg: &&Arg| arg.is_global_set() && !arg.is_hide_set();
    let flags: Vec<String> = parser.get_arguments().filter(is_shown).filter_map(flag).collect();
    let line = format!("Every command takes {}; see `codelode --help`.", flags.join(", "));
    let parser = parser.mut_args(|arg| match arg.is_global_set() {
        true => arg.hide_short_help(true).hide_long_help(true),
        false => arg,
    });
    let names: Vec<String> = parser.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.iter().fold(parser, |parser, name| {
        parser.mut_subcommand(name, |command| {
            let after = command.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
            command.after_help(format!("{after}{line}"))
        })
    })
}

/// A flag as users type it.
pub(super) fn flag(arg: &Arg) -> Option<String> {
    arg.get_long().map(|long| format!("--{long}"))
}

/// The list of commands in help. Commands without a group come last.
pub(super) fn listed(parser: &Command) -> String {
    let commands: Vec<&Command> = parser.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let width = commands.iter().map(|command| command.get_name().len()).max().unwrap_or(0);
    let others = commands.iter().map(|command| command.get_name());
    let others: Vec<&str> =
        others.filter(|name| *name != "help" && !GROUPS.iter().any(|(_, names)| names.contains(name))).collect();
    let mut text = String::new();
    let columns = columns();
    for (title, names) in GROUPS.iter().copied().chain([("Other", others.as_slice())]) {
        let known: Vec<&&Command> =
            names.iter().filter_map(|name| commands.iter().find(|command| command.get_name() == *name)).collect();
        if known.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{title}:");
        for command in known {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let about = about.split(['\n', ';', ':']).next().unwrap_or_default();
            let about = about.split(". ").next().unwrap_or_default();
            let name = command.get_name();
            let _ =
                writeln!(text, "{}", format!("  {name:width$}  {}", opening(about, columns - width - 4)).trim_end());
        }
        text.push('\n');
    }
    text
}

/// The first clauses of a sentence that fit. A cut enumeration ends with `…`.
fn opening(sentence: &str, columns: usize) -> Cow<'_, str> {
    let is_short = |text: &str| console::measure_text_width(text) <= columns;
    if is_short(sentence) {
        return Cow::Borrowed(sentence);
    }
    let clauses = sentence.match_indices(", ").map(|(at, _)| &sentence[..at]);
    let clauses = clauses.map(|clause| match clause.rsplit_once(", ") {
        Some((_, last)) if !last.contains(' ') => Cow::Owned(format!("{clause}, …")),
        _ => Cow::Borrowed(clause),
    });
    clauses.filter(|clause| is_short(clause)).last().unwrap_or_else(|| console::truncate_str(sentence, columns, "…"))
}

/// A command whose help fits the terminal, with each description below its flag.
pub(super) fn fitted(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| command.mut_subcommand(name, fitted));
    let columns = columns();
    let fit = |text: &dyn std::fmt::Display, indent: usize| wrapped(&text.to_string(), columns - indent);
    let mut command = command.next_line_help(true).mut_args(|mut arg| {
        if let Some(help) = arg.get_help().map(|help| fit(help, INDENT)) {
            arg = arg.help(help);
        }
        match arg.get_long_help().map(|help| fit(help, INDENT)) {
            Some(help) => arg.long_help(help),
            None => arg,
        }
    });
    if let Some(about) = command.get_about().map(|about| fit(about, 0)) {
        command = command.about(about);
    }
    if let Some(after) = command.get_after_help().map(|after| fit(after, 0)) {
        command = command.after_help(after);
    }
    match command.get_long_about().map(|about| fit(about, 0)) {
        Some(about) => command.long_about(about),
        None => command,
    }
}

/// The columns available for help.
fn columns() -> usize {
    let terminal = console::Term::stdout();
    let columns = if terminal.is_term() { usize::from(terminal.size().1) } else { WIDTH };
    columns.clamp(3 * INDENT, WIDTH)
}

/// Wraps a text at so many columns, except within words.
fn wrapped(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut row = String::new();
        for word in line.split(' ') {
            let is_full = row.chars().count() + word.chars().count() + 1 > columns;
            if is_full && !row.is_empty() {
                lines.push(std::mem::take(&mut row));
            } else if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(word);
        }
        lines.push(row);
    }
    lines.join("\n")
}

/// Names that other programs and clients have for commands.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("search", &["find", "symbols", "def", "definition", "goto", "where", "locate"]),
    ("refs", &["usages", "usage", "references", "find-references"]),
    ("calls", &["callers", "callees", "callgraph", "call-graph"]),
    ("text", &["rg", "ripgrep", "search-in-files"]),
    ("get", &["symbol", "source", "show", "code"]),
    ("file", &["cat", "read", "view", "open"]),
    ("outline", &["structure", "ctags"]),
    ("tree", &["ls", "files", "dir"]),
    ("context", &["explain", "ask", "how"]),
    ("blast", &["impact", "affected", "dependents"]),
    ("dead", &["unused", "dead-code", "deadcode"]),
    ("hierarchy", &["inheritance", "subclasses", "superclasses"]),
    ("deps", &["dependencies", "graph"]),
    ("history", &["blame", "evolution"]),
    ("init", &["install", "setup"]),
    ("serve", &["mcp", "server", "start"]),
    ("doctor", &["status", "health", "check-index"]),
    ("invalidate", &["remove", "rm", "delete", "clean", "drop"]),
    ("list", &["repos", "repositories"]),
];

/// The command that other programs call by this word, else the one with the most similar spelling.
pub(super) fn nearest(parser: &Command, typed: &str) -> Option<String> {
    if let Some((meant, _)) = SYNONYMS.iter().find(|(_, words)| words.contains(&typed)) {
        return Some((*meant).to_owned());
    }
    let names = parser.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    codelode_base::model::nearest(typed, names, 1).first().map(|name| (*name).to_owned())
}

/// Prints the version without building the full parser.
pub(super) fn version() -> u8 {
    output::print_bytes(concat!("codelode ", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
    FOUND
}

/// Prints the completions for a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command::parser(Cli::command(), &[]), "codelode", &mut script);
    output::print_bytes(&script);
    FOUND
}
