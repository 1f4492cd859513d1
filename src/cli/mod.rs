//! Command line: every tool is a subcommand, made from the same schema that clients read. The only module that
//! prints.

mod command;
mod doctor;
mod draw;
mod editor;
mod grep;
mod guide;
mod help;
mod here;
mod hook;
mod init;
mod interrupt;
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
mod shim;
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
use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{self, CacheMode, Config, Flags, GitHubMode, Settings};
use crate::model::Phase;
use crate::tools::{self, Code, Context, Envelope, Error, Request};
use grep::Asked;
pub use interrupt::interrupted;
use output::{Output, Paint};
use progress::Progress;
use words::Words;

/// Exit status: results were found, or the action was done.
const FOUND: u8 = 0;
/// Nothing was found.
const NOTHING: u8 = 1;
/// An error occurred.
const FAILED: u8 = 2;
/// The longest wait for changed files at a terminal, before an old answer is given.
const PATIENCE: Duration = Duration::from_secs(10);
/// Terminal answers are complete by default, because tokens do not matter there.
const ALL_TOKENS: u64 = 1_000_000;

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
    command: Option<Own>,
}

/// What every command takes.
#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
struct Global {
    /// Write the answer as JSON.
    #[arg(long, global = true)]
    json: bool,
    /// Write the answer as the dense text that models get.
    #[arg(long, global = true, conflicts_with = "json")]
    compact: bool,
    /// The repository: its id, its name, or a path inside it [default: the one you are in].
    #[arg(id = "global_repo", long = "repo", value_name = "REPO", global = true)]
    repo: Option<String>,
    /// Where indexes live [default: ~/.code-index].
    #[arg(long, value_name = "FOLDER", global = true)]
    index_dir: Option<PathBuf>,
    /// How many tokens the answer may have [default: as many as it needs].
    #[arg(id = "global_max_tokens", long = "max-tokens", value_name = "N", global = true)]
    max_tokens: Option<u64>,
    /// Go on where a cut answer ended: the cursor that it names.
    #[arg(id = "global_cursor", long = "cursor", value_name = "CURSOR", global = true)]
    cursor: Option<String>,
    /// Only the number of results.
    #[arg(id = "global_count_only", long = "count-only", global = true)]
    count_only: bool,
    /// How much memory indexing may hold at once, in megabytes, at least 80 [default: as much as is useful].
    #[arg(long, value_name = "MB", global = true)]
    max_memory: Option<u64>,
    /// Index and show files that may hold a credential, where they match, as `.env` or `tests/certs/*.pem`; repeatable.
    #[arg(long, value_name = "PATTERN", global = true)]
    allow_secrets: Option<Vec<String>>,
    /// Open the first hit in $EDITOR, or the Nth with --open=N.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", global = true)]
    open: Option<usize>,
    /// When to use colours: auto, always or never [default: auto].
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    color: Color,
    /// How commits on GitHub are read: auto, git, tarball or api [default: auto].
    #[arg(long, value_name = "HOW", global = true, hide_short_help = true)]
    github_mode: Option<GitHubMode>,
    /// Who shares the clones of repositories elsewhere: shared (all processes) or process (nobody) [default: shared].
    #[arg(long, value_name = "WHO", global = true, hide_short_help = true)]
    cache_mode: Option<CacheMode>,
    /// Ask this server in the place of the indexes here, as https://code.example/mcp.
    #[arg(long, value_name = "URL", global = true, hide_short_help = true)]
    server: Option<String>,
    /// The variable that holds the token for the server [default: CODELODE_SERVER_TOKEN].
    #[arg(long, value_name = "VARIABLE", global = true, hide_short_help = true)]
    token_env: Option<String>,
    /// No progress bar, no notes; errors still show.
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
enum Own {
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
    Shim(shim::Shim),
    Doctor(doctor::Doctor),
    Config(settings::Settings),
    Models(models::List),
    #[cfg(feature = "ship")]
    Pack(ship::Pack),
    #[cfg(feature = "ship")]
    Push(ship::Push),
    #[cfg(feature = "ship")]
    Pull(ship::Pull),
    /// Call any tool by its full name, with its arguments as JSON.
    Call {
        /// The tool's name, as `search_symbols`.
        tool: String,
        /// Its arguments, as `{"query": "add"}`.
        #[arg(default_value = "{}")]
        arguments: String,
    },
    /// Print the completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// Whether the program was started under the name of another one, see `codelode shim`.
pub fn stands_in(args: &[OsString]) -> bool {
    shim::is_meant(args)
}

/// Runs the program and returns its exit status.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    if stands_in(&args) {
        return shim::run(&args);
    }
    if args.len() == 2 && args[1] == "help" {
        return help();
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
        // At a terminal, no command means help; a client that starts the program without one wants a server.
        None if io::stdin().is_terminal() => return help(),
        None => return serve::run(&global, serve::Serve::default()),
        Some((name, given)) => match command::tool(name) {
            Some(spec) => match command::arguments(spec, given) {
                Ok(arguments) if rename::is_wanted(&global, spec, &arguments, given) => {
                    return rename::run(&global, &arguments);
                }
                Ok(arguments) => match draw::wanted(given) {
                    Some(wanted) => return draw::run(&global, spec.name, &arguments, &wanted),
                    None => {
                        #[cfg(feature = "ship")]
                        if let Err(failed) = ship::before(&global, &arguments, given) {
                            return failed;
                        }
                        (spec.name.to_owned(), arguments, Words::of(spec.name))
                    }
                },
                Err(problem) => return complain(&problem),
            },
            None => match Own::from_arg_matches(&matches) {
                Ok(Own::Text(text)) => return grep(&global, &Asked::Text(&text), given),
                Ok(Own::Ast(ast)) => return grep(&global, &Asked::Ast(&ast), given),
                Ok(Own::Pick(how)) => return pick(&global, &how),
                Ok(Own::Init(how)) => return set_up(&global, &how),
                Ok(Own::Serve(how)) => return serve::run(&global, *how),
                Ok(Own::Lsp(how)) => return lsp::run(&global, how),
                #[cfg(feature = "http")]
                Ok(Own::Token(how)) => return token::run(how),
                #[cfg(feature = "web")]
                Ok(Own::Web(how)) => return web::run(&global, how),
                Ok(Own::Watch(how)) => return watch::run(&global, how),
                Ok(Own::WatchClaude(how)) => return watch::run_claude(&global, how),
                Ok(Own::Hook(_)) => return hook::run(&global),
                Ok(Own::HookEvent(hook)) => return watch::hook_event(&hook),
                Ok(Own::Shim(how)) => return shim::set_up(&how),
                Ok(Own::Doctor(how)) => return examine(&global, &how),
                #[cfg(feature = "ship")]
                Ok(Own::Pack(how)) => return ship::pack(&global, &how),
                #[cfg(feature = "ship")]
                Ok(Own::Push(how)) => return ship::push(&global, &how),
                #[cfg(feature = "ship")]
                Ok(Own::Pull(how)) => match ship::pull(&global, &how) {
                    Ok(arguments) => ("index_folder".to_owned(), arguments, Words::of("index_folder")),
                    Err(failed) => return failed,
                },
                Ok(Own::Models(_)) => return show_models(&global),
                Ok(Own::Config(asked)) => return show_settings(&global, &asked),
                Ok(Own::Completions { shell }) => return completions(shell),
                Ok(Own::Man) => return manual(),
                Ok(Own::Call { tool, arguments }) => match serde_json::from_str(&arguments) {
                    Ok(arguments) => (tool, arguments, Words::OfTools),
                    Err(err) => return complain(&format!("the arguments are no JSON object: {err}")),
                },
                Err(err) => return complain(&err.to_string()),
            },
        },
    };
    ask(&global, &tool, arguments, words)
}

/// The arguments as the whole parser reads them, or the exit status once help or an error is printed.
fn matches_of_all(args: &[OsString]) -> Result<ArgMatches, u8> {
    let parser = parser(args);
    parser.clone().try_get_matches_from(args).map_err(|err| {
        if err.kind() == clap::error::ErrorKind::InvalidSubcommand {
            let typed =
                err.get(clap::error::ContextKind::InvalidSubcommand).map(ToString::to_string).unwrap_or_default();
            let meant =
                help::nearest(&parser, &typed).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            return complain(&format!("there is no command `{typed}`{meant}; `codelode help` lists them"));
        }
        // Help and version arrive here, too. A closed pipe is ignored.
        let _ = err.print();
        if err.use_stderr() { FAILED } else { FOUND }
    })
}

/// The whole parser; its help lists the commands in groups.
fn parser(args: &[OsString]) -> clap::Command {
    let parser = command::parser(Cli::command(), args);
    let asks_for_help = args.len() < 2 || args.iter().any(|arg| arg == "help" || arg == "--help" || arg == "-h");
    if !asks_for_help {
        return parser;
    }
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

/// Prints the completions for a shell.
fn completions(shell: clap_complete::Shell) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command::parser(Cli::command(), &[]), "codelode", &mut script);
    output::print_bytes(&script);
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

/// The settings of the command line that apply to every command.
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

/// Calls a tool and prints its answer.
fn ask(global: &Global, tool: &str, mut arguments: Map<String, Value>, words: Words) -> u8 {
    let flags = flags(global, Settings::default());
    let config = match config::load(&flags) {
        Ok(config) => config,
        Err(err) => return fail(&err),
    };
    if let Err(problem) = log_to(&config) {
        return complain(&problem);
    }
    if let Some(url) = &config.server {
        return server::ask(global, url, &config, tool, arguments, words);
    }
    let takes_repo = command::takes(tool, "repo");
    let repo = global.repo.clone().filter(|_| takes_repo);
    complete_arguments(global, tool, &mut arguments, repo.map(|repo| command::local_path(repo, false)));
    if global.repo.is_none() && !arguments.contains_key("repo") {
        here::absolute(&mut arguments, tool, takes_repo);
    }

    let cx = Context::new(config);
    let bar = Arc::new(Mutex::new(Progress::new(global.quiet)));
    let mut envelope = call(&cx, tool, arguments, global, &bar);
    let hit = global.open.filter(|_| !envelope.is_error).and_then(|nth| nth_hit(&cx, &envelope.value, nth));
    if let Some((path, line)) = hit {
        cx.end();
        return editor::open(&path, line);
    }
    if !global.json {
        here::show(&cx, &mut envelope);
        if io::stdout().is_terminal() || (envelope.is_error && io::stderr().is_terminal()) {
            visible::uncolour(&mut envelope.value);
            visible::uncolour_text(&mut envelope.text);
        }
    }
    let paint = Paint::of(global.color, io::stdout().is_terminal());
    {
        // Nothing is drawn into the answer while it is printed.
        let mut bar = bar.lock().expect("drawing does not panic");
        bar.finish();
        print(&envelope, global, paint, words);
    }
    complete(&cx, global, &bar);
    cx.end();
    status_of(&envelope)
}

/// Adds the arguments that every command takes.
fn complete_arguments(global: &Global, tool: &str, arguments: &mut Map<String, Value>, repo: Option<String>) {
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            arguments.entry(name).or_insert(value);
        }
    };
    set("repo", repo.map(Value::from));
    set("max_tokens", Some(global.max_tokens.unwrap_or(ALL_TOKENS).into()));
    set("cursor", global.cursor.clone().map(Value::from));
    set("count_only", global.count_only.then(|| true.into()));
    set("format", Some(if global.compact { "compact" } else { "json" }.into()));
    let as_text = command::AS_TEXT.iter().find(|(name, ..)| *name == tool && !global.json && !global.compact);
    if let Some((_, argument, text)) = as_text {
        set(argument, Some((*text).into()));
    }
    here::places(arguments, tool);
}

/// The exit status of an answer.
fn status_of(envelope: &Envelope) -> u8 {
    match (envelope.is_error, envelope.found) {
        (true, _) => FAILED,
        (false, false) => NOTHING,
        (false, true) => FOUND,
    }
}

/// Completes indexes of which an excerpt has answered, with a progress bar.
fn complete(cx: &Context, global: &Global, bar: &Mutex<Progress>) {
    let _ = io::stdout().flush();
    let completed = cx.complete();
    bar.lock().expect("drawing does not panic").finish();
    if global.quiet || global.json {
        return;
    }
    let paint = Paint::of(global.color, io::stderr().is_terminal());
    for facts in completed {
        output::complain(&format!("{}\n", paint.dim(&render::completed(facts.files, facts.symbols))));
    }
}

/// A hit of an answer, counted from one: its file on this machine, and its line.
fn nth_hit(cx: &Context, answer: &Value, nth: usize) -> Option<(PathBuf, Option<u64>)> {
    let (repo, path, line) = editor::places(answer).into_iter().nth(nth.checked_sub(1)?)?;
    let repo = repo.or_else(|| answer.pointer("/_meta/repo")?.as_str())?;
    let sidecar = cx.indexes.registry().get(repo)?;
    Some((cx.config.path_map.to_local(&sidecar.root).join(path), line))
}

/// Searches text or syntax, as ripgrep does. If nothing is indexed here yet, that is done first.
fn grep(global: &Global, asked: &Asked<'_>, given: &ArgMatches) -> u8 {
    with_context(global, |cx| {
        if let Some(url) = &cx.config.server {
            return Ok(server::search(global, url, &cx.config, asked.command(), given));
        }
        let _phase = Phase::begin(asked.command());
        grep::run(asked, global, cx, &|err| indexed_instead(err, cx, global))
    })
}

/// Lets a person pick a symbol.
fn pick(global: &Global, how: &pick::Pick) -> u8 {
    with_context(global, |cx| {
        server::refuse(cx)?;
        let symbols = pick::symbols(global, cx, &|err| indexed_instead(err, cx, global))?;
        Ok(pick::run(global, how, &symbols))
    })
}

/// Runs a command that is no tool, and prints its error.
fn with_context(global: &Global, run: impl FnOnce(&Context) -> Result<u8, Error>) -> u8 {
    let config = match config::load(&flags(global, Settings::default())) {
        Ok(config) => config,
        Err(err) => return fail(&err),
    };
    if let Err(problem) = log_to(&config) {
        return complain(&problem);
    }
    let cx = Context::new(config);
    let result = run(&cx);
    cx.end();
    result.unwrap_or_else(|err| {
        let paint = Paint::of(global.color, io::stderr().is_terminal());
        let mut error = json!({"error": err.message, "details": err.details});
        if io::stderr().is_terminal() {
            visible::uncolour(&mut error);
        }
        output::complain(&render::error(&error, paint, Words::OfTerminal(None)));
        FAILED
    })
}

/// Indexes the folder of a refusal if the user agrees; otherwise returns the error.
fn indexed_instead(err: Error, cx: &Context, global: &Global) -> Result<(), Error> {
    let refusal = json!({"code": err.code.as_str(), "details": err.details});
    match agreed_to_index(&refusal, global).map(|root| index(cx, &root, global)) {
        None => Err(err),
        Some(indexed) if indexed.is_error => Err(Error::new(Code::Unavailable, message_of(&indexed.value))),
        Some(_) => Ok(()),
    }
}

/// The message of an error in the form of the tools' errors.
fn message_of(error: &Value) -> String {
    error["error"].as_str().unwrap_or_default().to_owned()
}

/// Calls a tool. If it would have to index a large or unusual folder, it is called again once the user has agreed.
fn call(
    cx: &Context,
    tool: &str,
    arguments: Map<String, Value>,
    global: &Global,
    bar: &Arc<Mutex<Progress>>,
) -> Envelope {
    let first = call_once(cx, tool, arguments.clone(), bar);
    let Some(root) = agreed_to_index(&first.value, global) else { return first };
    let indexed = index(cx, &root, global);
    if indexed.is_error || tool == "index_folder" {
        return indexed;
    }
    call_once(cx, tool, arguments, bar)
}

/// Indexes a folder.
fn index(cx: &Context, root: &Path, global: &Global) -> Envelope {
    let arguments = Map::from_iter([("path".to_owned(), root.to_string_lossy().into())]);
    call_once(cx, "index_folder", arguments, &Arc::new(Mutex::new(Progress::new(global.quiet))))
}

/// Indexes a folder after an answer from disk.
fn index_after(cx: &Context, root: &Path, global: &Global) {
    let indexed = index(cx, root, global);
    if global.quiet || global.json || indexed.is_error {
        return;
    }
    let number = |key: &str| indexed.value[key].as_u64().unwrap_or_default();
    let paint = Paint::of(global.color, io::stderr().is_terminal());
    let note = render::completed(number("file_count"), number("symbol_count"));
    output::complain(&format!("{}\n", paint.dim(&note)));
}

/// The folder that the user agrees to index, after a refusal.
fn agreed_to_index(refusal: &Value, global: &Global) -> Option<PathBuf> {
    let detail = |key| refusal.pointer(&format!("/details/{key}")).and_then(Value::as_str);
    let (root, why) = detail("root").zip(detail("why"))?;
    let is_asked = refusal["code"] == Code::NotIndexed.as_str();
    if !is_asked || global.quiet || global.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    output::complain(&format!("{root} is not indexed: {why}. Index it now? [y/N] "));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).ok()?;
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()).then(|| PathBuf::from(root))
}

/// Calls a tool, with a progress bar.
fn call_once(cx: &Context, tool: &str, arguments: Map<String, Value>, bar: &Arc<Mutex<Progress>>) -> Envelope {
    let is_for_models = arguments.get("format").is_some_and(|format| format == "compact");
    let request = Request { for_people: !is_for_models, ..request(bar) };
    let envelope = tools::call(cx, tool, arguments, &request);
    bar.lock().expect("drawing does not panic").finish();
    envelope
}

/// A request from a terminal: with the current folder, and patient.
fn request(bar: &Arc<Mutex<Progress>>) -> Request {
    let step = Arc::clone(bar);
    Request {
        directory: std::env::current_dir().ok(),
        patience: Some(PATIENCE),
        progress: Some(Arc::new(move |done, total, message: &str| {
            step.lock().expect("drawing does not panic").step(done, total, message);
        })),
        ..Request::default()
    }
}

/// Prints an answer, or an error.
fn print(envelope: &Envelope, global: &Global, paint: Paint, words: Words) {
    if global.json {
        let pretty = io::stdout().is_terminal();
        let text = if pretty { format!("{:#}", envelope.value) } else { envelope.value.to_string() };
        output::print_bytes(format!("{text}\n").as_bytes());
        return;
    }
    if envelope.is_error {
        let paint = Paint::of(global.color, io::stderr().is_terminal());
        output::complain(&render::error(&envelope.value, paint, words));
        return;
    }
    let mut out = Output::new(paint).fitting_terminal();
    out.words = words;
    if global.compact {
        out.raw(&envelope.text);
    } else {
        render::answer(&envelope.value, &mut out);
    }
    if !global.quiet {
        let paint = Paint::of(global.color, io::stderr().is_terminal());
        if !envelope.found {
            out.notes(vec!["nothing found".to_owned()], paint);
        }
        let asides = std::mem::take(&mut out.asides);
        out.notes(asides, paint);
        out.notes(render::notes(&envelope.value, words), paint);
    }
    out.print();
}

/// Sends the log to its configured destination. Standard output is for answers.
fn log_to(config: &Config) -> Result<(), String> {
    if config.log == "off" {
        return Ok(());
    }
    let levels: Targets = config.log.parse().map_err(|err| {
        format!("`log` is {:?}: {err}; say off, error, warn, info, debug or trace, or codelode=debug", config.log)
    })?;
    let subscriber = tracing_subscriber::registry().with(levels);
    let started = match &config.log_file {
        None => {
            let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
            subscriber.with(layer).try_init()
        }
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file = file.map_err(|err| format!("cannot write the log file {}: {err}", path.display()))?;
            let layer = tracing_subscriber::fmt::layer().with_writer(Mutex::new(file)).with_ansi(false);
            subscriber.with(layer).try_init()
        }
    };
    // Only tests run twice in a process, and they keep their first log.
    let _ = started;
    if let Some(elsewhere) = &config.elsewhere {
        tracing::warn!("{elsewhere}");
    }
    for setting in &config.in_vain {
        tracing::warn!("{setting} has no effect: nothing is shared");
    }
    Ok(())
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
