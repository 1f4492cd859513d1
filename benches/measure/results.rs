//! A bench's tables as a file, `benches/results/BENCH.md`, with the day, the commit and the machine that they were measured on.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

static PRINTED: Mutex<String> = Mutex::new(String::new());

/// Prints a line, and keeps it for the file.
macro_rules! report {
    () => { $crate::measure::results::print(String::new()) };
    ($($line:tt)*) => { $crate::measure::results::print(format!($($line)*)) };
}
pub(crate) use report;

pub fn print(line: String) {
    println!("{line}");
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    printed.push_str(&line);
    printed.push('\n');
}

/// Writes the file when a bench ends, unless it ran in part or printed nothing.
pub struct Results(&'static str);

impl Results {
    pub fn of(bench: &'static str) -> Self {
        Self(bench)
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        let printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
        let is_part = std::env::args().skip(1).any(|arg| !arg.starts_with('-'));
        if is_part || printed.trim().is_empty() || std::thread::panicking() {
            return;
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results");
        let path = folder.join(format!("{}.md", self.0));
        let text = page(self.0, &printed);
        match fs::create_dir_all(&folder).and_then(|()| fs::write(&path, text)) {
            Ok(()) => eprintln!("written: {}", path.display()),
            Err(err) => eprintln!("not written: {}: {err}", path.display()),
        }
    }
}

fn page(bench: &str, printed: &str) -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let day = now.split('T').next().unwrap_or_default();
    let edited = if git(&["status", "--porcelain", "-uno"]).is_empty() { "" } else { " with edits" };
    let commit = git(&["rev-parse", "--short=8", "HEAD"]);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model.trim());
    format!(
        "# {bench}\n\nWritten by `cargo bench --bench {bench}` on {day}, commit {commit}{edited}, {cores} cores ({model}).\n\n{}\n",
        printed.trim()
    )
}

/// Output of git in the repository; empty without git.
fn git(args: &[&str]) -> String {
    let ran = Command::new("git").args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    ran.map_or_else(|_| String::new(), |ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}
