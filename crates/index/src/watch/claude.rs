//! Worktrees of agent sessions, found through a file written by hooks and by listing the worktrees of repositories.
//! Each is watched while it exists, and its index is removed with it.
//!
//! The hooks' file has one JSON object per line, `{"event": "create", "path": "/home/me/tree", "timestamp": "…"}`,
//! with `remove` for the end. Hooks may write concurrently or be killed while writing, so invalid and incomplete
//! lines are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use super::WatchHandle;
use crate::pipeline;
use codelode_source::git;
use codelode_store::Registry;

/// Event reported by a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaudeEvent {
    /// A worktree was created.
    Create,
    /// A worktree is being removed.
    Remove,
}

/// Sources of worktrees.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The file written by hooks.
    pub manifest: PathBuf,
    /// Repositories whose worktrees are listed.
    pub repos: Vec<PathBuf>,
    /// Interval between listings.
    pub every: Duration,
}

/// Folder of the worktrees that are made, in the repository, and beginning of the names of their branches.
const FOLDER: &str = ".claude/worktrees";
const BRANCH: &str = "worktree-";
/// Interval for polling the hooks' file where it cannot be watched.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Time to wait for another writer of the index of a removed worktree.
const PATIENCE: Duration = Duration::from_secs(5);

/// The worktree path in a hook's input, which has several forms. A worktree that is not created yet may have only a
/// name, and then lies in `.claude/worktrees`.
pub fn worktree_of(input: &str) -> Option<PathBuf> {
    let input: Value = serde_json::from_str(input).ok()?;
    let text = |key: &str| input.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let named = ["worktree_path", "worktreePath", "path"].iter().find_map(|key| text(key)).map(PathBuf::from);
    let in_its_place = || Some(Path::new(text("cwd")?).join(FOLDER).join(text("name")?));
    let path = named.or_else(in_its_place)?;
    if path.is_absolute() { Some(path) } else { Some(Path::new(text("cwd")?).join(path)) }
}

/// Creates the worktree that a hook's input asks for, unless it exists, because a client with such a hook does not
/// create it. Its branch starts at the default branch of `origin`, or at the current commit.
pub fn make(input: &str, path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it leads out of its folder"));
    }
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    let text = |key: &str| input.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let folder = text("cwd").map(Path::new).or(path.parent()).unwrap_or(path);
    let name = text("name").map(str::to_owned);
    let name = name.or_else(|| Some(path.file_name()?.to_string_lossy().into_owned())).unwrap_or_default();
    let git = |args: &[&OsStr]| git_in(folder, args);
    let branch = format!("{BRANCH}{name}");
    let is_known = |reference: &str| {
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", reference].map(OsStr::new);
        git(&args).is_ok_and(|ran| ran.status.success())
    };
    let start = if is_known("origin/HEAD") { "origin/HEAD" } else { "HEAD" };
    let branched = ["worktree", "add", "--no-track", "-b", &branch].map(OsStr::new);
    let known = ["worktree", "add"].map(OsStr::new);
    let ran = match is_known(&format!("refs/heads/{branch}")) {
        true => git(&[&known[..], &[path.as_os_str(), branch.as_ref()]].concat())?,
        false => git(&[&branched[..], &[path.as_os_str(), start.as_ref()]].concat())?,
    };
    match ran.status.success() && path.is_dir() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&ran.stderr).trim().to_owned())),
    }
}

/// Removes a worktree that [`make`] may have created, because a client with such a hook does not remove it. Fails if
/// there are uncommitted edits. A branch with commits of its own stays.
pub fn remove_worktree(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default();
    let Some(root) = path.parent().filter(|folder| folder.ends_with(FOLDER)).and_then(|it| it.ancestors().nth(2))
    else {
        return Ok(());
    };
    let mut branch = OsString::from(BRANCH);
    branch.push(name);
    let head = git_in(path, &["symbolic-ref", "--short", "HEAD"].map(OsStr::new));
    let is_ours =
        path.join(".git").is_file() && head.is_ok_and(|head| head.stdout.trim_ascii() == branch.as_encoded_bytes());
    if !is_ours {
        return Ok(());
    }
    let removed = git_in(root, &[&["worktree", "remove"].map(OsStr::new)[..], &[path.as_os_str()]].concat())?;
    if !removed.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&removed.stderr).trim().to_owned()));
    }
    // Git refuses to delete a branch with unmerged commits.
    git_in(root, &[OsStr::new("branch"), OsStr::new("-d"), &branch]).map(drop)
}

/// Runs git in a folder, without the hooks of the repository.
fn git_in(folder: &Path, args: &[&OsStr]) -> io::Result<Output> {
    let mut command = Command::new("git");
    command.args(["-c", "core.hooksPath=/dev/null", "-C"]).arg(folder).args(args).stdin(Stdio::null()).output()
}

/// Appends an event to the hooks' file.
pub fn record(manifest: &Path, what: ClaudeEvent, path: &Path) -> io::Result<()> {
    if let Some(folder) = manifest.parent() {
        fs::create_dir_all(folder)?;
    }
    let event = match what {
        ClaudeEvent::Create => "create",
        ClaudeEvent::Remove => "remove",
    };
    let now = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let line = json!({"event": event, "path": path.to_string_lossy(), "timestamp": now});
    let mut file = File::options().create(true).append(true).read(true).open(manifest)?;
    // The write is atomic anyway; the lock protects the check for a line left incomplete by a killed process.
    file.lock()?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let before = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{before}{line}\n").as_bytes())
}

/// Watches worktrees as they come and go, until `ended` is set.
pub fn follow(watching: &WatchHandle, sources: &Sources, ended: &AtomicBool) {
    let mut manifest = Manifest { path: sources.manifest.clone(), read: 0, place: None };
    let woken = manifest.folder().and_then(|folder| {
        let _ = fs::create_dir_all(folder);
        let notifier = watching.notifier()?;
        let (who, woken) = notifier.listener();
        notifier.follow(who, &BTreeSet::from([folder.canonicalize().ok()?])).ok()?;
        Some((notifier, who, woken))
    });
    let mut found = ReportedWorktrees::default();
    let mut asked: Option<Instant> = None;
    while !ended.load(Ordering::Relaxed) {
        if let Some((notifier, who, _)) = &woken {
            let _ = notifier.take(*who);
        }
        for (what, path) in manifest.new_events() {
            match what {
                ClaudeEvent::Create => found.by_hook(path),
                ClaudeEvent::Remove => found.removed(&path),
            }
        }
        if asked.is_none_or(|asked| asked.elapsed() >= sources.every) {
            asked = Some(Instant::now());
            found.by_asking(sources.repos.iter().flat_map(|repo| git::worktrees(repo)).collect());
        }
        found.apply(watching);
        let wait = LOOK_EVERY.min(sources.every);
        match &woken {
            Some((_, _, woken)) => drop(woken.recv_timeout(wait)),
            None => thread::sleep(wait),
        }
    }
    if let Some((notifier, who, _)) = woken {
        notifier.leave(who);
    }
}

/// The hooks' file and the position read so far.
struct Manifest {
    path: PathBuf,
    read: u64,
    place: Option<(u64, u64)>,
}

impl Manifest {
    fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }

    /// Events in the complete lines added since the last call. A replaced or truncated file is read from its start.
    fn new_events(&mut self) -> Vec<(ClaudeEvent, PathBuf)> {
        let Ok(mut file) = File::open(&self.path) else {
            (self.read, self.place) = (0, None);
            return Vec::new();
        };
        let place = super::notifier::place(&self.path).ok();
        if place != self.place || file.metadata().is_ok_and(|metadata| metadata.len() < self.read) {
            (self.read, self.place) = (0, place);
        }
        let mut bytes = Vec::new();
        if file.seek(SeekFrom::Start(self.read)).and_then(|_| file.read_to_end(&mut bytes)).is_err() {
            return Vec::new();
        }
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        self.read += whole as u64;
        bytes[..whole].split(|byte| *byte == b'\n').filter_map(event).collect()
    }
}

/// Parses a line; `None` if it is not an event.
fn event(line: &[u8]) -> Option<(ClaudeEvent, PathBuf)> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let what = match line.get("event")?.as_str()? {
        "create" => ClaudeEvent::Create,
        "remove" => ClaudeEvent::Remove,
        _ => return None,
    };
    let path = PathBuf::from(line.get("path")?.as_str()?);
    path.is_absolute().then_some((what, path))
}

/// Sources that reported a worktree.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct ReportSources {
    hook: bool,
    asking: bool,
}

/// Worktrees reported so far.
#[derive(Default)]
struct ReportedWorktrees {
    all: BTreeMap<PathBuf, ReportSources>,
    /// Reported as removed, index not yet removed.
    removed: BTreeSet<PathBuf>,
}

impl ReportedWorktrees {
    fn by_hook(&mut self, path: PathBuf) {
        let path = canonical(&path);
        self.removed.remove(&path);
        self.all.entry(path).or_default().hook = true;
    }

    fn removed(&mut self, path: &Path) {
        let path = canonical(path);
        // The hook runs before the folder is removed, so a repository may still list it for a moment.
        self.all.remove(&path);
        self.removed.insert(path);
    }

    /// Updates the worktrees listed by repositories.
    fn by_asking(&mut self, worktrees: Vec<git::Worktree>) {
        let named: BTreeSet<PathBuf> = worktrees
            .into_iter()
            .filter(|worktree| worktree.branch.as_deref().is_some_and(is_of_an_agent))
            .filter_map(|worktree| worktree.path.canonicalize().ok())
            .collect();
        for (path, by) in &mut self.all {
            by.asking = named.contains(path);
        }
        let gone: Vec<PathBuf> =
            self.all.iter().filter(|(_, by)| **by == ReportSources::default()).map(|(path, _)| path.clone()).collect();
        for path in gone {
            self.all.remove(&path);
            self.removed.insert(path);
        }
        for path in named.into_iter().filter(|path| !self.removed.contains(path)) {
            self.all.entry(path).or_default().asking = true;
        }
    }

    /// Watches new worktrees and removes the indexes of removed ones.
    fn apply(&mut self, watching: &WatchHandle) {
        let gone: Vec<PathBuf> = self.all.keys().filter(|path| !path.is_dir()).cloned().collect();
        for path in gone.iter().filter(|path| watching.roots().contains(path)) {
            self.removed.insert(path.clone());
        }
        for path in self.all.keys().filter(|path| path.is_dir()) {
            if let Err(err) = watching.add_root(path) {
                (watching.tell)(&err.to_string());
            }
        }
        let removed: Vec<PathBuf> = self.removed.iter().cloned().collect();
        for path in removed {
            watching.remove(&path);
            let registry = Registry::new(&watching.config.home);
            let id = Registry::local_id(&watching.config.path_map.to_stored(&path));
            let forgotten = registry.get(&id).map(|sidecar| pipeline::forget(&registry, &sidecar, PATIENCE));
            match forgotten {
                Some(Ok(())) => (watching.tell)(&format!("{} was removed, and its index", path.display())),
                Some(Err(err)) => {
                    (watching.tell)(&format!("the index of {} is not removed yet: {err}", path.display()));
                    continue;
                }
                None => {}
            }
            // A repository may list it until its folder is gone.
            if !path.is_dir() {
                self.removed.remove(&path);
            }
        }
    }
}

/// The canonical path; works for a missing folder if its parent exists.
fn canonical(path: &Path) -> PathBuf {
    let by_its_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(by_its_folder).unwrap_or_else(|| path.to_owned())
}

/// Whether a branch name is one that agents give to their worktrees.
fn is_of_an_agent(branch: &str) -> bool {
    branch.starts_with("claude/") || branch.starts_with("worktree-")
}
