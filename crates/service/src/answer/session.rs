//! Statistics of calls and savings, with lifetime totals in a file of the index directory. No statistics leave this
//! machine.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Dollars for a million input tokens, as published in November 2026.
const PRICES: &[(&str, f64)] = &[
    ("claude_opus_5_5", 4.0),
    ("claude_sonnet_5_5", 2.0),
    ("claude_haiku_4_5", 1.0),
    ("gpt_5_6", 4.0),
    ("gemini_3_1_pro", 2.0),
];

/// Number of recent calls of each tool that latencies are computed from.
const SAMPLES: usize = 1024;

/// Interval between writes of the totals.
const FLUSH_EVERY: Duration = Duration::from_secs(5);

/// Retry interval after a failed write.
const RETRY_EVERY: Duration = Duration::from_secs(60);

/// Maximum wait for the lock, which is normally held for less than a millisecond.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// Statistics of this process, with the lifetime totals.
pub struct Session {
    home: PathBuf,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    tools: BTreeMap<&'static str, ToolCounts>,
    /// Counts that are not in the file yet.
    pending: Totals,
    /// The file as last read or written; `None` before.
    stored: Option<Totals>,
    flush_at: Instant,
}

/// Counts of one tool in this process.
#[derive(Default)]
struct ToolCounts {
    calls: u64,
    errors: u64,
    answer_tokens: u64,
    saved_tokens: u64,
    /// Latencies of the last calls in milliseconds.
    latencies: VecDeque<f32>,
    slowest: f32,
}

/// Content of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Totals {
    /// Start of counting.
    since: String,
    calls: u64,
    response_tokens: u64,
    tokens_saved: u64,
    tools: BTreeMap<String, ToolTotals>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct ToolTotals {
    calls: u64,
    tokens_saved: u64,
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.response_tokens = self.response_tokens.saturating_add(other.response_tokens);
        self.tokens_saved = self.tokens_saved.saturating_add(other.tokens_saved);
        for (name, theirs) in &other.tools {
            let ours = self.tools.entry(name.clone()).or_default();
            ours.calls = ours.calls.saturating_add(theirs.calls);
            ours.tokens_saved = ours.tokens_saved.saturating_add(theirs.tokens_saved);
        }
    }
}

impl Session {
    /// Creates empty statistics, with totals in `home`. Reads and writes nothing yet.
    pub fn open(home: &Path) -> Self {
        let state = State {
            tools: BTreeMap::new(),
            pending: Totals::default(),
            stored: None,
            flush_at: Instant::now() + FLUSH_EVERY,
        };
        Self { home: home.to_owned(), started: Instant::now(), state: Mutex::new(state) }
    }

    /// Counts one call.
    pub fn record(&self, tool: &'static str, took: Duration, answer_tokens: usize, saved_tokens: u64, is_error: bool) {
        let mut state = self.state();
        let counts = state.tools.entry(tool).or_default();
        let milliseconds = took.as_secs_f32() * 1000.0;
        counts.calls += 1;
        counts.errors += u64::from(is_error);
        counts.answer_tokens += answer_tokens as u64;
        counts.saved_tokens = counts.saved_tokens.saturating_add(saved_tokens);
        counts.slowest = counts.slowest.max(milliseconds);
        if counts.latencies.len() == SAMPLES {
            counts.latencies.pop_front();
        }
        counts.latencies.push_back(milliseconds);
        let this_call = Totals {
            since: String::new(),
            calls: 1,
            response_tokens: answer_tokens as u64,
            tokens_saved: saved_tokens,
            tools: BTreeMap::from([(tool.to_owned(), ToolTotals { calls: 1, tokens_saved: saved_tokens })]),
        };
        state.pending.add(&this_call);
    }

    /// Tokens saved in total, by all processes that have written so far.
    pub fn total_saved(&self) -> u64 {
        let mut state = self.state();
        self.stored(&mut state).tokens_saved.saturating_add(state.pending.tokens_saved)
    }

    /// Writes the totals if the interval has passed.
    pub fn flush_when_due(&self) {
        let mut state = self.state();
        if Instant::now() >= state.flush_at {
            // Answers do not wait: when another process writes, the next call tries again.
            self.flush_within(&mut state, Duration::ZERO);
        }
    }

    /// Writes the totals. Called before the process ends.
    pub fn flush(&self) {
        self.flush_within(&mut self.state(), LOCK_PATIENCE);
    }

    fn flush_within(&self, state: &mut State, patience: Duration) {
        state.flush_at = Instant::now() + FLUSH_EVERY;
        if state.pending.calls == 0 {
            return;
        }
        match add_to_file(&self.home, &state.pending, patience) {
            Ok(Some(totals)) => {
                state.stored = Some(totals);
                state.pending = Totals::default();
            }
            Ok(None) => {}
            // The counts are kept for the next successful write; a read-only directory is no problem.
            Err(err) => {
                tracing::debug!("the totals were not written: {err}");
                state.flush_at = Instant::now() + RETRY_EVERY;
            }
        }
    }

    fn stored<'a>(&self, state: &'a mut State) -> &'a Totals {
        state.stored.get_or_insert_with(|| match read(&self.home.join(FILE)) {
            Ok(Stored::Totals(totals)) => totals,
            _ => Totals::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // After a panic the counters may miss one call; they stay usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Statistics of this process and in total.
    pub fn stats(&self) -> Stats {
        let mut state = self.state();
        let mut all = self.stored(&mut state).clone();
        all.add(&state.pending);
        if all.since.is_empty() {
            all.since = utc(SystemTime::now());
        }
        let tools = &state.tools;
        let sum = |count: fn(&ToolCounts) -> u64| tools.values().map(count).fold(0, u64::saturating_add);
        let session_tokens_saved = sum(|counts| counts.saved_tokens);
        let named = |(name, counts): (&&'static str, &ToolCounts)| ((*name).to_owned(), counts.latency());
        Stats {
            session_tokens_saved,
            session_calls: sum(|counts| counts.calls),
            session_duration_s: rounded(self.started.elapsed().as_secs_f64(), 10.0),
            session_response_tokens: sum(|counts| counts.answer_tokens),
            session_cost_avoided: dollars(session_tokens_saved),
            tool_calls: tools.iter().map(|(name, counts)| ((*name).to_owned(), counts.calls)).collect(),
            tool_breakdown: of_worth(tools.iter().map(|(name, counts)| (*name, counts.saved_tokens))),
            latency_per_tool: tools.iter().map(named).collect(),
            total_tokens_saved: all.tokens_saved,
            total_calls: all.calls,
            total_response_tokens: all.response_tokens,
            total_cost_avoided: dollars(all.tokens_saved),
            lifetime_by_tool: of_worth(all.tools.iter().map(|(name, totals)| (name.as_str(), totals.tokens_saved))),
            since: all.since,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A folder that somebody has removed stays removed.
        if self.home.is_dir() {
            self.flush();
        }
    }
}

/// The counts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Stats {
    /// Tokens saved since this process began: files not read, minus answers.
    pub session_tokens_saved: u64,
    /// Number of calls answered, errors included.
    pub session_calls: u64,
    /// Seconds since this process began.
    pub session_duration_s: f64,
    /// Tokens of the answers.
    pub session_response_tokens: u64,
    /// Dollars saved, by each model's input price.
    pub session_cost_avoided: BTreeMap<String, f64>,
    /// Calls of each tool.
    pub tool_calls: BTreeMap<String, u64>,
    /// Tokens saved, per tool.
    pub tool_breakdown: BTreeMap<String, u64>,
    /// Latency per tool.
    pub latency_per_tool: BTreeMap<String, Latency>,
    /// Tokens saved in total.
    pub total_tokens_saved: u64,
    /// Number of calls in total.
    pub total_calls: u64,
    /// Answer tokens in total.
    pub total_response_tokens: u64,
    /// Dollars saved in total, by each model's input price.
    pub total_cost_avoided: BTreeMap<String, f64>,
    /// Tokens saved in total, per tool.
    pub lifetime_by_tool: BTreeMap<String, u64>,
    /// Start of counting.
    pub since: String,
}

/// Latency of a tool.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latency {
    /// Number of calls in this process.
    pub count: u64,
    /// Median of the last calls.
    pub p50_ms: f64,
    /// 95th percentile of the last calls.
    pub p95_ms: f64,
    /// Slowest call.
    pub max_ms: f64,
    /// Number of calls that ended in an error.
    pub errors: u64,
}

impl ToolCounts {
    fn latency(&self) -> Latency {
        let mut sorted: Vec<f32> = self.latencies.iter().copied().collect();
        sorted.sort_by(f32::total_cmp);
        // Nearest-rank percentile: the smallest sample that at least this percentage of samples do not exceed.
        let percentile = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).max(1);
            sorted.get(rank - 1).map_or(0.0, |sample| rounded((*sample).into(), 100.0))
        };
        Latency {
            count: self.calls,
            p50_ms: percentile(50),
            p95_ms: percentile(95),
            max_ms: rounded(self.slowest.into(), 100.0),
            errors: self.errors,
        }
    }
}

fn of_worth<'a>(each: impl Iterator<Item = (&'a str, u64)>) -> BTreeMap<String, u64> {
    each.filter(|(_, tokens)| *tokens > 0).map(|(name, tokens)| (name.to_owned(), tokens)).collect()
}

fn dollars(tokens: u64) -> BTreeMap<String, f64> {
    let each =
        PRICES.iter().map(|(model, price)| ((*model).to_owned(), rounded(tokens as f64 * price / 1e6, 10_000.0)));
    each.collect()
}

fn rounded(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}

const FILE: &str = "stats.json";
const LOCK: &str = "stats.lock";
const NEXT: &str = "stats.json.new";
const BROKEN: &str = "stats.json.bad";

enum Stored {
    Totals(Totals),
    Broken,
}

fn read(path: &Path) -> io::Result<Stored> {
    match fs::read(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).map_or(Stored::Broken, Stored::Totals)),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Stored::Totals(Totals::default())),
        Err(err) => Err(err),
    }
}

/// Adds counts to the file and returns its totals; `None` when another process held the lock for too long.
fn add_to_file(home: &Path, counts: &Totals, patience: Duration) -> io::Result<Option<Totals>> {
    create_private(home)?;
    // The lock is a separate file: the totals are replaced, and a lock on a replaced file protects nothing.
    let lock = File::options().create(true).truncate(false).write(true).open(home.join(LOCK))?;
    let give_up = Instant::now() + patience;
    loop {
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if Instant::now() < give_up => std::thread::sleep(Duration::from_millis(2)),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(err)) => return Err(err),
        }
    }
    let path = home.join(FILE);
    let mut totals = match read(&path)? {
        Stored::Totals(totals) => totals,
        Stored::Broken => {
            fs::rename(&path, home.join(BROKEN))?;
            Totals::default()
        }
    };
    if totals.since.is_empty() {
        totals.since = utc(SystemTime::now());
    }
    totals.add(counts);
    // Always the same name, so that what a killed process left is written over.
    let next = home.join(NEXT);
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // In one call to the system: every command of the terminal writes it.
    options.open(&next)?.write_all(&serde_json::to_vec(&totals)?)?;
    fs::rename(next, path)?;
    Ok(Some(totals))
}

/// Creates the directory with access for its owner only.
fn create_private(home: &Path) -> io::Result<()> {
    if home.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(home)
}

/// Formats a UTC time as RFC 3339.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Civil date from days, after Howard Hinnant: years begin in March, so a leap day comes last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, UNIX_EPOCH};

    use super::{Session, utc};

    fn call(session: &Session, tool: &'static str, milliseconds: u64, saved: u64) {
        session.record(tool, Duration::from_millis(milliseconds), 100, saved, false);
    }

    fn totals(home: &Path) -> serde_json::Value {
        serde_json::from_slice(&fs::read(home.join("stats.json")).expect("a file")).expect("JSON")
    }

    #[test]
    fn a_session_counts_by_tool() {
        let home = tempfile::tempdir().expect("a directory");
        let session = Session::open(home.path());
        for milliseconds in 1..=100 {
            call(&session, "search_symbols", milliseconds, 10_000);
        }
        session.record("get_symbol_source", Duration::from_millis(7), 20, 0, true);
        let stats = session.stats();
        assert_eq!(stats.session_calls, 101);
        assert_eq!(stats.session_tokens_saved, 1_000_000);
        assert_eq!(stats.session_response_tokens, 10_020);
        assert_eq!(stats.tool_calls["search_symbols"], 100);
        assert_eq!(stats.tool_breakdown.keys().collect::<Vec<_>>(), ["search_symbols"]);
        assert_eq!(stats.session_cost_avoided["claude_sonnet_5_5"], 2.0);
        let latency = &stats.latency_per_tool["search_symbols"];
        assert_eq!((latency.p50_ms, latency.p95_ms, latency.max_ms, latency.errors), (50.0, 95.0, 100.0, 0));
        assert_eq!(stats.latency_per_tool["get_symbol_source"].errors, 1);
        assert_eq!(stats.total_calls, 101);
    }

    #[test]
    fn samples_are_bounded_and_the_slowest_is_kept() {
        let session = Session::open(Path::new("/nowhere/at/all"));
        call(&session, "search_text", 9000, 0);
        for _ in 0..5000 {
            call(&session, "search_text", 1, 0);
        }
        let latency = &session.stats().latency_per_tool["search_text"];
        assert_eq!((latency.count, latency.p95_ms, latency.max_ms), (5001, 1.0, 9000.0));
    }

    #[test]
    fn what_a_killed_process_left_is_written_over() {
        let home = tempfile::tempdir().expect("a directory");
        fs::write(home.path().join("stats.json.new"), "{\"calls").expect("written");
        let session = Session::open(home.path());
        call(&session, "search_symbols", 1, 5);
        session.flush_within(&mut session.state(), Duration::from_secs(60));
        assert!(totals(home.path()).is_object());
        let mut names: Vec<_> =
            fs::read_dir(home.path()).expect("listed").map(|entry| entry.expect("listed").file_name()).collect();
        names.sort();
        assert_eq!(names, ["stats.json", "stats.lock"]);
    }

    #[test]
    fn processes_lose_no_counts() {
        let home = tempfile::tempdir().expect("a directory");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        // Each session acts as a process: they share only the file.
                        let session = Session::open(home.path());
                        call(&session, "search_symbols", 1, 5);
                        call(&session, "find_references", 1, 1);
                        // On a busy machine another process may hold the lock for longer than an answer waits.
                        session.flush_within(&mut session.state(), Duration::from_secs(60));
                    }
                });
            }
        });
        let totals = totals(home.path());
        assert_eq!(totals["calls"], 320);
        assert_eq!(totals["tokens_saved"], 960);
        assert_eq!(totals["tools"]["search_symbols"]["tokens_saved"], 800);
        let session = Session::open(home.path());
        assert_eq!(session.total_saved(), 960);
        call(&session, "search_symbols", 1, 40);
        assert_eq!(session.total_saved(), 1000);
        assert_eq!(session.stats().lifetime_by_tool["search_symbols"], 840);
        session.flush();
        session.flush();
        assert_eq!(session.stats().total_tokens_saved, 1000);
    }

    #[test]
    fn a_broken_file_is_kept_aside() {
        let home = tempfile::tempdir().expect("a directory");
        for broken in ["", "{\"calls\":", "[1]", "{\"calls\": -1}"] {
            fs::write(home.path().join("stats.json"), broken).expect("written");
            let session = Session::open(home.path());
            assert_eq!(session.total_saved(), 0);
            call(&session, "search_symbols", 1, 5);
            drop(session);
            assert_eq!(totals(home.path())["calls"], 1);
            assert_eq!(fs::read_to_string(home.path().join("stats.json.bad")).expect("kept"), broken);
        }
    }

    #[test]
    fn a_home_that_cannot_be_written_is_ignored() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("file");
        fs::write(&file, "").expect("written");
        let session = Session::open(&file.join("home"));
        call(&session, "search_symbols", 1, 5);
        session.flush();
        assert_eq!(session.stats().total_tokens_saved, 5);
    }

    #[test]
    fn nothing_is_written_for_nothing() {
        let home = tempfile::tempdir().expect("a directory");
        drop(Session::open(&home.path().join("new")));
        assert!(!home.path().join("new").exists());
    }

    #[test]
    fn days_are_civil() {
        let at = |seconds| utc(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_767_225_599), "2025-12-31T23:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
