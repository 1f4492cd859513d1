//! `codelode watch`, and the watcher of a server.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};

use super::{FOUND, Global, complain, fail, log_to, output};
use codelode_base::allocator;
use codelode_base::config::{self, Config, Flags, Settings};
use codelode_index::watch::claude::{self, ClaudeEvent};
use codelode_index::watch::{LogLine, Options, WatchHandle};

/// Interval of checking whether anything is still watched.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The largest input of a hook, in bytes.
const MOST_INPUT: u64 = 1 << 20;
const NO_HOME: &str = "cannot find your home folder; set HOME";

/// Keep indexes fresh while folders change, until interrupted. Other processes then need not check files.
#[derive(Args)]
pub(super) struct Watch {
    /// Folders to watch [default: the current one].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    how: WatchOptions,
}

/// How to watch.
#[derive(Args)]
pub(super) struct WatchOptions {
    /// Read changes after this many quiet milliseconds; a question reads them at once [default: 2000].
    #[arg(long, value_name = "MS")]
    debounce: Option<u64>,
    /// Stop watching a folder after this many minutes without changes or questions.
    #[arg(long, value_name = "MINUTES")]
    idle_timeout: Option<u64>,
    /// Make no model summaries.
    #[arg(long)]
    no_ai_summaries: bool,
    /// Log to this file instead.
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
}

/// Watching while serving.
#[derive(Args, Default)]
#[command(next_help_heading = "WatchHandle")]
pub(super) struct Watcher {
    /// Watch folders for changes: true from the start, false never [default: from a folder's second question on].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(value_parser = BoolishValueParser::new())]
    watcher: Option<bool>,
    /// Folders to watch [default: the current one].
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "watcher")]
    watcher_path: Vec<PathBuf>,
    /// Read changes after this many quiet milliseconds; a question reads them at once [default: 2000].
    #[arg(long, value_name = "MS", requires = "watcher")]
    watcher_debounce: Option<u64>,
    /// Stop watching a folder after this many minutes without changes or questions.
    #[arg(long, value_name = "MINUTES", requires = "watcher")]
    watcher_idle_timeout: Option<u64>,
    /// Make no model summaries of files that the watcher reads.
    #[arg(long, requires = "watcher")]
    watcher_no_ai_summaries: bool,
    /// Log the watcher to a file [default: watch.log in the index directory].
    #[arg(long, value_name = "PATH", num_args = 0..=1, requires = "watcher")]
    watcher_log: Option<Option<PathBuf>>,
}

/// Watches until no folder is left, or until interrupted.
pub(super) fn run(global: &Global, watch: Watch) -> u8 {
    let Watch { paths, how } = watch;
    let watching = match begin(global, how) {
        Ok((_, watching)) => watching,
        Err(status) => return status,
    };
    let paths = if paths.is_empty() { vec![PathBuf::from(".")] } else { paths };
    for path in paths {
        if let Err(err) = watching.add(&path) {
            return fail(&err);
        }
    }
    while !watching.roots().is_empty() {
        thread::sleep(LOOK_EVERY);
    }
    FOUND
}

/// Keep Claude Code's worktrees indexed, and drop the indexes of removed ones. Finds them through hook-event and by
/// asking repositories.
#[derive(Args)]
pub(super) struct WatchClaude {
    /// Repositories to ask for worktrees on branches claude/* and worktree-*.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    repos: Vec<PathBuf>,
    /// Seconds between checks [default: 5].
    #[arg(long, value_name = "SECONDS")]
    poll_interval: Option<u64>,
    #[command(flatten)]
    how: WatchOptions,
}

/// Record from a hook that a worktree was made or removed; reads the hook's input.
#[derive(Args)]
pub(super) struct HookEvent {
    /// The event.
    #[arg(value_enum)]
    event: Event,
}

#[derive(Clone, Copy, ValueEnum)]
enum Event {
    /// Create the worktree with git unless it exists, and print its path.
    Create,
    /// Remove a worktree that was made here, unless it has uncommitted edits.
    Remove,
}

/// Watches worktrees until interrupted.
pub(super) fn run_claude(global: &Global, watch: WatchClaude) -> u8 {
    let WatchClaude { repos, poll_interval, how } = watch;
    let (config, watching) = match begin(global, how) {
        Ok(begun) => begun,
        Err(status) => return status,
    };
    let Some(manifest) = config::worktrees_file() else { return complain(NO_HOME) };
    if let Some(missing) = repos.iter().find(|repo| !repo.is_dir()) {
        return complain(&format!("{} is not a folder", missing.display()));
    }
    let every = poll_interval.map_or(config.claude_poll_interval, |seconds| Duration::from_secs(seconds.max(1)));
    claude::follow(&watching, &claude::Sources { manifest, repos, every }, &AtomicBool::new(false));
    FOUND
}

/// Records a hook's event.
pub(super) fn hook_event(hook: &HookEvent) -> u8 {
    let mut input = String::new();
    if let Err(err) = io::stdin().take(MOST_INPUT).read_to_string(&mut input) {
        return complain(&format!("cannot read the hook's input: {err}"));
    }
    let Some(path) = claude::worktree_of(&input) else {
        return complain(
            "the hook's input names no worktree; it is read from standard input, as {\"worktree_path\": \"…\"}",
        );
    };
    let Some(manifest) = config::worktrees_file() else { return complain(NO_HOME) };
    let what = match hook.event {
        Event::Create => ClaudeEvent::Create,
        Event::Remove => ClaudeEvent::Remove,
    };
    if what == ClaudeEvent::Create
        && let Err(err) = claude::make(&input, &path)
    {
        return complain(&format!("cannot make the worktree {}: {err}", path.display()));
    }
    if what == ClaudeEvent::Remove
        && let Err(err) = claude::remove_worktree(&path)
    {
        return complain(&format!("the worktree {} stays: {err}", path.display()));
    }
    if let Err(err) = claude::record(&manifest, what, &path) {
        return complain(&format!("cannot write {}: {err}", manifest.display()));
    }
    if what == ClaudeEvent::Create {
        output::print_bytes(format!("{}\n", path.display()).as_bytes());
    }
    FOUND
}

/// Reads the configuration and prepares a watcher without folders.
pub(super) fn begin(global: &Global, how: WatchOptions) -> Result<(Config, WatchHandle), u8> {
    allocator::take_small_pages();
    let WatchOptions { debounce, idle_timeout, no_ai_summaries, log_file } = how;
    let use_ai_summaries = no_ai_summaries.then_some(false);
    let settings = Settings { watch_debounce_ms: debounce, use_ai_summaries, ..Settings::default() };
    let flags = Flags { index_dir: global.index_dir.clone(), settings };
    let config = config::load(&flags).map_err(|err| fail(&err))?;
    log_to(&config).map_err(|problem| complain(&problem))?;
    let tell: Arc<LogLine> = match log_file {
        Some(path) => to_file(path).map_err(|problem| complain(&problem))?,
        None if global.quiet => Arc::new(|_: &str| {}),
        None => Arc::new(|line: &str| output::print_bytes(format!("{line}\n").as_bytes())),
    };
    let watching = WatchHandle::new(config.clone(), options(&config, idle_timeout), tell);
    Ok((config, watching))
}

impl Watcher {
    /// Whether a model summarises symbols, if the flags say so.
    pub(super) fn use_ai_summaries(&self) -> Option<bool> {
        self.watcher_no_ai_summaries.then_some(false)
    }

    /// Starts the watcher if wanted. Folders without an index are indexed beside the server. `None` without a watcher.
    pub(super) fn start(self, config: &Config) -> Result<Option<Arc<WatchHandle>>, String> {
        if !self.watcher.unwrap_or(config.watcher) {
            return Ok(None);
        }
        let mut config = config.clone();
        if let Some(debounce) = self.watcher_debounce {
            config.watch_debounce = Duration::from_millis(debounce);
        }
        let tell: Arc<LogLine> = match self.watcher_log {
            Some(path) => to_file(path.unwrap_or_else(|| config.home.join("watch.log")))?,
            None => Arc::new(|line: &str| tracing::info!("{line}")),
        };
        if self.watcher.is_none() {
            return Ok(Some(Arc::new(WatchHandle::new(config.clone(), options(&config, None), tell))));
        }
        let paths = if self.watcher_path.is_empty() { vec![PathBuf::from(".")] } else { self.watcher_path };
        let options = options(&config, self.watcher_idle_timeout);
        let watching = Arc::new(WatchHandle::new(config, options, Arc::clone(&tell)));
        let adding = Arc::clone(&watching);
        let add = move || {
            for path in paths {
                if let Err(err) = adding.add(&path) {
                    tracing::warn!("{err}");
                    tell(&err.to_string());
                }
            }
        };
        thread::Builder::new().name("watcher".to_owned()).spawn(add).map_err(|err| format!("cannot watch: {err}"))?;
        Ok(Some(watching))
    }
}

fn options(config: &Config, idle_minutes: Option<u64>) -> Options {
    let idle = idle_minutes.filter(|minutes| *minutes > 0).map(|minutes| Duration::from_secs(60 * minutes));
    Options { debounce: config.watch_debounce, idle }
}

/// Appends lines with their time to a file.
fn to_file(path: PathBuf) -> Result<Arc<LogLine>, String> {
    if let Some(folder) = path.parent() {
        // If this fails, opening the file reports the problem.
        let _ = std::fs::create_dir_all(folder);
    }
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let file = file.map_err(|err| format!("cannot write the log file {}: {err}", path.display()))?;
    let file = Mutex::new(file);
    Ok(Arc::new(move |line: &str| {
        let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now());
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(file, "{now} {line}");
    }))
}
