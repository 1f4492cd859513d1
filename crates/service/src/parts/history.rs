//! The history of a repository for tools: opened, with errors that say what to do, its times, and its commits as answered.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::errors::history_error;
use super::indexes::Repo;
use super::{Call, Error};
use codelode_query::{Bounds, History};

/// Time for walking through a history.
const BUDGET: Duration = Duration::from_secs(8);
/// Processor time for reading the symbols of its texts.
const READING: Duration = Duration::from_secs(5);
/// Seconds of a day.
const DAY: i64 = 86_400;

/// Opens the history of a repository, and returns its folder as well.
pub fn open<'a>(call: &Call<'_>, repo: &'a Repo) -> Result<(&'a Path, History), Error> {
    let Some(root) = &repo.root else {
        let message = format!("the folder of {} is not on this machine, so neither is its history", repo.sidecar.repo);
        return Err(Error::unavailable(message));
    };
    Ok((root, History::open(root, &call.config.secrets).map_err(history_error)?))
}

/// A check that is true once the call is cancelled or the time for a walk is used up.
pub fn is_over<'a>(call: &'a Call<'_>) -> impl Fn() -> bool + use<'a> {
    let until = Instant::now() + BUDGET;
    move || call.request.is_cancelled() || Instant::now() >= until
}

/// Bounds on the texts that are read for an answer from a history.
pub fn bounds(call: &Call<'_>) -> Bounds {
    Bounds::within(call.config.max_file_size, READING)
}

/// Note for an answer from a part of the history: this clone has no more, or the time of the walk was over.
pub fn note_part(call: &Call<'_>, history: &History, is_whole: bool, is_over: bool) {
    if is_whole {
        return;
    }
    let why = match (is_over, history.is_shallow()) {
        (false, true) => "history ends here: the clone is shallow; git fetch --unshallow brings older commits",
        (false, false) => "older commits were not read: they are not in this clone",
        (true, _) => "older commits were not read: time ran out",
    };
    call.note("hint", why);
}

/// The time that an argument names: a date, a date and a time, how long ago, or a commit's. A date means its beginning,
/// or its end for `is_end`.
pub fn time(history: &History, argument: &str, text: &str, is_end: bool) -> Result<i64, Error> {
    let text = text.trim();
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    if let Ok(day) = humantime::parse_rfc3339_weak(&format!("{text}T00:00:00")) {
        return Ok(seconds(day) + if is_end { DAY - 1 } else { 0 });
    }
    if let Ok(time) = humantime::parse_rfc3339_weak(text) {
        return Ok(seconds(time));
    }
    if let Ok(ago) = humantime::parse_duration(text.strip_suffix("ago").unwrap_or(text).trim()) {
        return Ok(SystemTime::now().checked_sub(ago).map_or(0, seconds));
    }
    let commit = history.commit(text).ok().and_then(|commit| history.logged(&commit));
    commit.map(|commit| commit.time).ok_or_else(|| {
        let message =
            format!("`{argument}` is not a time: give 2025-01-31, 2025-01-31T12:00:00Z, `2 weeks`, or a commit");
        Error::invalid_arguments(message)
    })
}
