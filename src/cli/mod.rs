//! Command line: every tool is a subcommand, made from the schema that clients read. Only this module prints.

mod ask;
mod command;
mod doctor;
mod draw;
mod editor;
mod export;
mod first;
#[cfg(feature = "fleet")]
mod fleet;
mod grep;
mod guide;
mod help;
mod here;
mod hook;
mod init;
mod interrupt;
mod languages;
mod log;
mod lsp;
mod models;
mod output;
mod pick;
mod progress;
mod rename;
mod render;
mod serve;
mod server;
mod settings;
#[cfg(feature = "ship")]
mod ship;
#[cfg(feature = "http")]
mod token;
#[cfg(feature = "http")]
mod upkeep;
mod visible;
mod watch;
#[cfg(feature = "web")]
mod web;
mod words;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use ask::{PATIENCE, ask, complete_arguments, grep, index_later, pick, print, request, status_of, with_context};
use codelode_base::config::{self, CacheMode, Flags, GitHubMode, Settings};
use grep::Asked;
pub use interrupt::interrupted;
use log::{log_to, note_to};
use words::Words;

/// Exit status: results were found, or the action was done.
const FOUND: u8 = 0;
/// Nothing was found.
const NOTHING: u8 = 1;
/// An error occurred.
const FAILED: u8 = 2;

/// Code search for people and agents: index once, answer in milliseconds.
#[derive(Parser)]
#[command(name = "codelode", version, max_term_width = 100, subcommand_required = false)]
#[command(
    after_help = format!("Examples:\n{}\nExit status: 0 found, 1 nothing found, 2 error.\nWithout a command and without \
    a terminal, serves the tools to an MCP client over the standard streams.", guide::examples())
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<BuiltInCommand>,
}

/// Flags of every command.
#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
struct Global {
    /// Write the answer as JSON.
    #[arg(long, global = true)]
    json: bool,
    /// Write the dense text that models and pipes get.
    #[arg(long, global = true, conflicts_with = "json")]
    compact: bool,
    /// In a pipe, print each place on its own line as `path:line:text`.
    #[arg(long, global = true, conflicts_with_all = ["json", "compact"])]
    no_heading: bool,
    /// Search this repository: its id, its name, or a path inside it [default: the current one].
    #[arg(id = "global_repo", long = "repo", value_name = "REPO", global = true)]
    repo: Option<String>,
    /// Keep indexes in this folder [default: ~/.code-index].
    #[arg(long, value_name = "FOLDER", global = true)]
    index_dir: Option<PathBuf>,
    /// Limit the answer to this many tokens [default: no limit].
    #[arg(id = "global_max_tokens", long = "max-tokens", value_name = "N", global = true)]
    max_tokens: Option<u64>,
    /// Continue a cut answer: the cursor that it names.
    #[arg(id = "global_cursor", long = "cursor", value_name = "CURSOR", global = true)]
    cursor: Option<String>,
    /// Return only the number of results.
    #[arg(id = "global_count_only", long = "count-only", global = true)]
    count_only: bool,
    /// Limit memory for indexing, in megabytes, at least 80 [default: as much as is useful].
    #[arg(long, value_name = "MB", global = true)]
    max_memory: Option<u64>,
    /// Index and show matching files that may hold a credential, for example `.env` or `tests/certs/*.pem`;
    /// repeatable.
    #[arg(long, value_name = "PATTERN", global = true)]
    allow_secrets: Option<Vec<String>>,
    /// Open the first hit in $EDITOR, or the Nth with --open=N.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", global = true)]
    open: Option<usize>,
    /// Use colours: auto, always or never [default: auto].
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    color: Color,
    /// Read commits on GitHub by auto, git, tarball or api [default: auto].
    #[arg(long, value_name = "HOW", global = true, hide_short_help = true)]
    github_mode: Option<GitHubMode>,
    /// Keep clones of remote repositories shared (by all processes) or per process [default: shared].
    #[arg(long, value_name = "WHO", global = true, hide_short_help = true)]
    cache_mode: Option<CacheMode>,
    /// Query this server instead of local indexes, for example https://code.example/mcp.
    #[arg(long, value_name = "URL", global = true, hide_short_help = true)]
    server: Option<String>,
    /// Read the token for the server from this environment variable [default: CODELODE_SERVER_TOKEN].
    #[arg(long, value_name = "VARIABLE", global = true, hide_short_help = true)]
    token_env: Option<String>,
    /// Hide the progress bar and notes; errors still show.
    #[arg(long, short, global = true)]
    quiet: bool,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands that are no tools.
#[derive(Subcommand)]
enum BuiltInCommand {
    #[command(aliases = ["search_text", "search-text"])]
    Text(Box<grep::Text>),
    #[command(aliases = ["search_ast", "search-ast"])]
    Ast(Box<grep::Ast>),
    Pick(pick::Pick),
    Init(init::Init),
    Serve(Box<serve::Serve>),
    Lsp(lsp::Lsp),
    #[cfg(feature = "http")]
    Token(token::Token),
    #[cfg(feature = "web")]
    Web(web::Web),
    Watch(watch::Watch),
    WatchClaude(watch::WatchClaude),
    Hook(hook::Hook),
    HookEvent(watch::HookEvent),
    Doctor(doctor::Doctor),
    Config(settings::Settings),
    Export(export::Export),
    Languages(languages::List),
    Models(models::List),
    #[cfg(feature = "ship")]
    Pack(ship::Pack),
    #[cfg(feature = "ship")]
    Push(ship::Push),
    #[cfg(feature = "ship")]
    Pull(ship::Pull),
    #[cfg(feature = "fleet")]
    Fleet(fleet::Fleet),
    /// Call any tool by its full name, with its arguments as JSON.
    Call {
        /// Name of the tool, for example `search_symbols`.
        tool: String,
        /// Arguments as JSON, for example `{"query": "add"}`.
        #[arg(default_value = "{}")]
        arguments: String,
    },
    /// Print shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// Runs the program and returns its exit status.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    match args.get(1).filter(|_| args.len() == 2).and_then(|arg| arg.to_str()) {
        Some("help") => return help(),
        Some("--version" | "-V") => return help::version(),
        _ => {}
    }
    let matches = match command::alone(&args).and_then(|parser| parser.try_get_matches_from(&args).ok()) {
        Some(matches) => matches,
        None => match matches_of_all(&args) {
            Ok(matches) => matches,
            Err(status) => return status,
        },
    };
    let global = match Global::from_arg_matches(&matches) {
        Ok(global) => global,
        Err(err) => return complain(&err.to_string()),
    };
    if let Some(problem) = server::misplaced(&global, &matches) {
        return complain(&problem);
    }
    let (tool, arguments, words) = match matches.subcommand() {
        // At a terminal, no command means help. A client that starts the program without a command wants a server.
        None if io::stdin().is_terminal() => return help(),
        None => return serve::run(&global, serve::Serve::default()),
        Some((name, given)) => match command::tool(name) {
            Some(spec) => match command::arguments(spec, given) {
                Ok(arguments) if rename::is_wanted(&global, spec, &arguments) => {
                    return rename::run(&global, &arguments, given);
                }
                Ok(arguments) => match draw::wanted(given) {
                    Some(wanted) => return draw::run(&global, spec.name, &arguments, &wanted),
                    None => {
                        #[cfg(feature = "ship")]
                        if let Err(failed) = ship::before(&global, &arguments, given) {
                            return failed;
                        }
                        #[cfg(feature = "ship")]
                        if let Some(published) = ship::published(given) {
                            return ship::index_and_push(&global, spec, arguments, &published);
                        }
                        (spec.name.to_owned(), arguments, Words::of(spec.name))
                    }
                },
                Err(problem) => return complain(&problem),
            },
            None => match BuiltInCommand::from_arg_matches(&matches) {
                Ok(BuiltInCommand::Text(text)) => return grep(&global, &Asked::Text(&text), given),
                Ok(BuiltInCommand::Ast(ast)) => return grep(&global, &Asked::Ast(&ast), given),
                Ok(BuiltInCommand::Pick(how)) => return pick(&global, &how),
                Ok(BuiltInCommand::Init(how)) => return set_up(&global, &how),
                Ok(BuiltInCommand::Serve(how)) => return serve::run(&global, *how),
                Ok(BuiltInCommand::Lsp(how)) => return lsp::run(&global, how),
                #[cfg(feature = "http")]
                Ok(BuiltInCommand::Token(how)) => return token::run(how),
                #[cfg(feature = "web")]
                Ok(BuiltInCommand::Web(how)) => return web::run(&global, how),
                Ok(BuiltInCommand::Watch(how)) => return watch::run(&global, how),
                Ok(BuiltInCommand::WatchClaude(how)) => return watch::run_claude(&global, how),
                Ok(BuiltInCommand::Hook(_)) => return hook::run(&global),
                Ok(BuiltInCommand::HookEvent(hook)) => return watch::hook_event(&hook),
                Ok(BuiltInCommand::Doctor(how)) => return examine(&global, &how),
                #[cfg(feature = "ship")]
                Ok(BuiltInCommand::Pack(how)) => return ship::pack(&global, &how),
                #[cfg(feature = "ship")]
                Ok(BuiltInCommand::Push(how)) => return ship::push(&global, &how),
                #[cfg(feature = "ship")]
                Ok(BuiltInCommand::Pull(how)) => match ship::pull(&global, &how) {
                    Ok(arguments) => ("index_folder".to_owned(), arguments, Words::of("index_folder")),
                    Err(failed) => return failed,
                },
                #[cfg(feature = "fleet")]
                Ok(BuiltInCommand::Fleet(how)) => return fleet::run(&global, how),
                Ok(BuiltInCommand::Export(how)) => return export::run(&global, &how),
                Ok(BuiltInCommand::Languages(_)) => return languages::run(&global),
                Ok(BuiltInCommand::Models(_)) => return show_models(&global),
                Ok(BuiltInCommand::Config(asked)) => return show_settings(&global, &asked),
                Ok(BuiltInCommand::Completions { shell }) => return help::completions(shell),
                Ok(BuiltInCommand::Man) => return manual(),
                Ok(BuiltInCommand::Call { tool, arguments }) => match serde_json::from_str(&arguments) {
                    Ok(arguments) => (tool, arguments, Words::OfTools),
                    Err(err) => return complain(&format!("the arguments are no JSON object: {err}")),
                },
                Err(err) => return complain(&err.to_string()),
            },
        },
    };
    ask(&global, &tool, arguments, words)
}

/// Parses the arguments with the full parser. `Err` is the exit status after help or an error was printed.
fn matches_of_all(args: &[OsString]) -> Result<ArgMatches, u8> {
    let parser = parser(args);
    parser.clone().try_get_matches_from(args).map_err(|err| {
        if err.kind() == clap::error::ErrorKind::InvalidSubcommand {
            let mut typed =
                err.get(clap::error::ContextKind::InvalidSubcommand).map(ToString::to_string).unwrap_or_default();
            visible::uncolour_text(&mut typed);
            let meant =
                help::nearest(&parser, &typed).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            return complain(&format!("there is no command `{typed}`{meant}; `codelode help` lists them"));
        }
        // Help and version arrive here as errors, too. A closed pipe is ignored.
        let is_odd = |arg: &OsString| *visible::uncoloured(arg.as_encoded_bytes()) != *arg.as_encoded_bytes();
        match err.use_stderr() && args.iter().any(is_odd) {
            // An error quotes the arguments, which may come from another program.
            true => output::complain(&String::from_utf8_lossy(&visible::uncoloured(err.to_string().as_bytes()))),
            false => drop(err.print()),
        }
        if err.use_stderr() { FAILED } else { FOUND }
    })
}

/// The full parser. Its help lists the commands in groups.
fn parser(args: &[OsString]) -> clap::Command {
    let parser = command::parser(Cli::command(), args);
    let asks_for_help = args.len() < 2 || args.iter().any(|arg| arg == "help" || arg == "--help" || arg == "-h");
    if !asks_for_help {
        return parser;
    }
    let is_of_one = args
        .iter()
        .skip(1)
        .filter_map(|arg| arg.to_str())
        .any(|arg| parser.find_subcommand(arg).is_some_and(|_| arg != "help"));
    let parser = if is_of_one { help::shared_in_a_line(parser) } else { parser };
    let commands = help::listed(&parser);
    help::fitted(parser.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}Options:\n{{options}}\n{{after-help}}"
    )))
}

/// Prints a short help.
fn help() -> u8 {
    let _ = parser(&["codelode".into(), "help".into()]).print_help();
    FOUND
}

/// Prints the manual page.
fn manual() -> u8 {
    let mut page = Vec::new();
    match clap_mangen::Man::new(command::parser(Cli::command(), &[])).render(&mut page) {
        Ok(()) => {
            output::print_bytes(&page);
            FOUND
        }
        Err(err) => fail(&err),
    }
}

/// Checks the index directory.
fn examine(global: &Global, how: &doctor::Doctor) -> u8 {
    match config::load(&flags(global, Settings::default())) {
        Ok(config) => doctor::run(how, global, &config),
        Err(err) => fail(&err),
    }
}

/// Sets up clients.
fn set_up(global: &Global, how: &init::Init) -> u8 {
    match config::load(&flags(global, Settings::default())) {
        Ok(config) => init::run(how, global, &config),
        Err(err) => fail(&err),
    }
}

/// Shows the models.
fn show_models(global: &Global) -> u8 {
    match config::load(&flags(global, Settings::default())) {
        Ok(config) => models::run(global, &config),
        Err(err) => fail(&err),
    }
}

/// Shows the settings.
fn show_settings(global: &Global, asked: &settings::Settings) -> u8 {
    match config::load(&flags(global, Settings { max_tokens: tokens(global), ..Settings::default() })) {
        Ok(config) => settings::run(asked, global, &config),
        Err(err) => fail(&err),
    }
}

/// The settings from the command line that apply to every command.
fn flags(global: &Global, settings: Settings) -> Flags {
    let Global { max_memory, github_mode, cache_mode, ref allow_secrets, ref server, .. } = *global;
    let (allow_secrets, server) = (allow_secrets.clone(), server.clone());
    let settings = Settings { max_memory, allow_secrets, github_mode, cache_mode, server, ..settings };
    Flags { index_dir: global.index_dir.clone(), settings }
}

/// The requested token budget.
fn tokens(global: &Global) -> Option<usize> {
    global.max_tokens.map(|n_tokens| usize::try_from(n_tokens).unwrap_or(usize::MAX))
}

/// Reports an error with its causes.
fn fail(err: &dyn std::error::Error) -> u8 {
    let mut text = err.to_string();
    let mut cause = err.source();
    while let Some(err) = cause {
        text.push_str(": ");
        text.push_str(&err.to_string());
        cause = err.source();
    }
    complain(&text)
}

/// Reports a problem.
fn complain(problem: &str) -> u8 {
    let problem = problem.trim_end();
    let prefix = if problem.starts_with("error:") { "" } else { "error: " };
    output::complain(&format!("{prefix}{problem}\n"));
    FAILED
}
