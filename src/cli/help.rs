//! The list of commands, grouped by purpose, and suggestions for misspelt commands.

use std::fmt::Write as _;

use clap::Command;

/// The groups of commands, the most important first.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Find", &["search", "text", "refs", "context", "ast"]),
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
    ("History", &["changed", "diff"]),
    (
        "Repositories",
        &["index", "list", "resolve", "index-file", "invalidate", "index-repo", "grep", "remote-refs", "github"],
    ),
    (
        "Serve and keep",
        &["serve", "watch", "watch-claude", "hook-event", "config", "doctor", "stats", "call", "completions", "man"],
    ),
];

/// The widest line of the list.
const WIDTH: usize = 100;

/// The list of commands as help shows it. A command in no group comes last.
pub(super) fn listed(parser: &Command) -> String {
    let commands: Vec<&Command> = parser.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let width = commands.iter().map(|command| command.get_name().len()).max().unwrap_or(0);
    let others = commands.iter().map(|command| command.get_name());
    let others: Vec<&str> =
        others.filter(|name| *name != "help" && !GROUPS.iter().any(|(_, names)| names.contains(name))).collect();
    let mut text = String::new();
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
            let line = format!("  {:width$}  {about}", command.get_name());
            let _ = writeln!(text, "{}", console::truncate_str(line.trim_end(), WIDTH, "…"));
        }
        text.push('\n');
    }
    text
}

/// The command with the most similar spelling.
pub(super) fn nearest(parser: &Command, typed: &str) -> Option<String> {
    let names = parser.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let near = names.map(|name| (strsim::normalized_damerau_levenshtein(name, typed), name));
    let best = near.filter(|(likeness, _)| *likeness >= 0.5).max_by(|left, right| left.0.total_cmp(&right.0));
    best.map(|(_, name)| name.to_owned())
}
