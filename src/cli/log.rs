//! The log of a command or a server. It goes to standard error or to a file, because standard output is for answers.

use std::fmt;
use std::fs::OpenOptions;
use std::io;
use std::sync::Mutex;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use codelode_base::config::Config;

/// Starts the log of a server, where the settings say. Each line has its time and module.
pub(super) fn log_to(config: &Config) -> Result<(), String> {
    start(config, false)
}

/// Starts the log of a command, where the settings say. With the default level, warnings look like the command's other
/// notes.
pub(super) fn note_to(config: &Config) -> Result<(), String> {
    start(config, config.log == "warn" && config.log_file.is_none())
}

fn start(config: &Config, as_notes: bool) -> Result<(), String> {
    if config.log == "off" {
        return Ok(());
    }
    let levels: Targets = config.log.parse().map_err(|err| {
        format!("`log` is {:?}: {err}; use off, error, warn, info, debug or trace, or codelode=debug", config.log)
    })?;
    let subscriber = tracing_subscriber::registry().with(levels);
    let layer = || tracing_subscriber::fmt::layer().with_ansi(false);
    let started = match &config.log_file {
        None if as_notes => subscriber.with(layer().with_writer(io::stderr).event_format(Note)).try_init(),
        None => subscriber.with(layer().with_writer(io::stderr)).try_init(),
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file = file.map_err(|err| format!("cannot write the log file {}: {err}", path.display()))?;
            subscriber.with(layer().with_writer(Mutex::new(file))).try_init()
        }
    };
    // Only tests start a log twice in a process, and they keep the first.
    let _ = started;
    // If a read-only index lies beneath, only a run that makes an index warns.
    if let Some(elsewhere) = config.elsewhere.as_ref().filter(|_| config.beneath.is_none()) {
        tracing::warn!("{elsewhere}");
    }
    for setting in &config.in_vain {
        tracing::warn!("{setting} has no effect: nothing is shared");
    }
    Ok(())
}

/// The format of an event among a command's notes: `warning: message`.
struct Note;

impl<S, N> FormatEvent<S, N> for Note
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, cx: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let severity = if *event.metadata().level() == Level::ERROR { "error" } else { "warning" };
        write!(to, "{severity}: ")?;
        cx.field_format().format_fields(to.by_ref(), event)?;
        writeln!(to)
    }
}
