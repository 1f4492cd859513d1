//! Common parts of the benches: corpora, an index in a temporary folder, and measurements of time and memory.

#![allow(dead_code, reason = "each bench uses its own part")]

pub mod plants;
pub mod results;
pub mod sparse;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use codelode::config::Config;
use codelode::pipeline::{self, Options, Report, RunControl};
use codelode::store::{Registry, Snapshot};
use tempfile::TempDir;

/// The corpora that `corpora.sh` brings.
pub const CORPORA: [&str; 8] =
    ["py-django", "py-sqlalchemy", "rust-crates", "go-std", "java-guava", "java-jdk", "js-mix", "ts-mix"];

/// The folder of a corpus; prints a message if it is missing.
pub fn corpus(name: &str) -> Option<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = std::env::var_os("CODELODE_CORPORA").map_or_else(|| manifest.join("target/corpora"), PathBuf::from);
    let found = all.join(name).canonicalize().ok().filter(|path| path.is_dir());
    if found.is_none() {
        eprintln!("{name} is not in {}: benches/corpora.sh brings it", all.display());
    }
    found
}

/// Whether a part of a bench is wanted: the first argument that is no flag must be in its name, or begin with it.
/// Nothing is wanted when cargo only tests that benches run, because all of them need an index of a whole corpus.
pub fn wants(part: &str) -> bool {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut filters = args.iter().filter(|arg| !arg.starts_with('-'));
    args.iter().any(|arg| arg == "--bench")
        && filters.next().is_none_or(|filter| part.contains(filter.as_str()) || filter.starts_with(part))
}

/// A folder on the disk that cargo builds on: a temporary one is often memory, which syncs in no time.
pub fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo makes the folder for benches")
}

/// An index of a folder.
pub struct Indexed {
    /// The indexed folder.
    pub root: PathBuf,
    /// Settings, whose home is the index.
    pub config: Config,
    /// The report of the run.
    pub report: Report,
}

impl Indexed {
    /// Indexes a folder into another.
    pub fn new(root: &Path, index_dir: &Path) -> Self {
        let config = Config { home: index_dir.join("codelode"), ..Config::default() };
        let report = index(root, &config);
        Self { root: root.to_owned(), config, report }
    }

    /// Its newest state.
    pub fn snapshot(&self) -> Snapshot {
        let store = Registry::new(&self.config.home).store(&self.report.sidecar.store);
        store.snapshot(&self.report.sidecar.snapshot).expect("it was committed just now")
    }
}

/// Indexes a folder, or brings its index up to date.
pub fn index(root: &Path, config: &Config) -> Report {
    pipeline::index_folder(root, config, &Options::default(), &watcher()).expect("corpora can be indexed")
}

/// A watcher that ignores everything.
pub fn watcher() -> RunControl<'static> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    RunControl { progress: &codelode::model::unfollowed, cancelled: &NEVER, patience: Duration::from_secs(5) }
}

/// Seconds of processor time that this process has used on all its threads, those that have ended included.
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("benches run on Linux");
    // The program's name is in parentheses and may hold spaces; user and system time are the 14th and 15th field.
    let fields = stat.rsplit(')').next().expect("a text has a last part");
    let ticks = fields.split_ascii_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / 100.0
}

/// A line of `/proc/PID/status` in megabytes: `VmHWM` is the peak of its memory, `RssAnon` its current private
/// memory.
pub fn megabytes(process: &str, line: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("benches run on Linux");
    let found = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')?.strip_suffix("kB"));
    found.and_then(|kilobytes| kilobytes.trim().parse::<f64>().ok()).expect("Linux says so of every process") / 1024.0
}

/// Bytes of all files below a folder.
pub fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_below(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// Copies a folder's files, as hard links where `link` is set and the disk is the same.
pub fn copy(from: &Path, to: &Path, link: bool) {
    std::fs::create_dir_all(to).expect("the scratch folder can be written");
    for entry in std::fs::read_dir(from).expect("corpora can be read").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => copy(&source, &target, link),
            Ok(kind) if kind.is_file() && (!link || std::fs::hard_link(&source, &target).is_err()) => {
                std::fs::copy(&source, &target).expect("there is room for a copy of the corpus");
            }
            _ => {}
        }
    }
}

/// Some durations, in ascending order.
#[derive(Default)]
pub struct Sample(Vec<Duration>);

impl Sample {
    /// The distribution of durations in any order.
    pub fn new(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        Self(durations)
    }

    /// Puts others among them.
    pub fn add(&mut self, other: Self) {
        self.0.extend(other.0);
        self.0.sort_unstable();
    }

    /// The duration at this percentile, in milliseconds.
    pub fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).map_or(f64::NAN, |duration| duration.as_secs_f64() * 1000.0)
    }
}
