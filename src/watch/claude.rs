//! Worktrees that an agent makes for its sessions and removes again: found by the lines that its hooks write, and by asking
//! repositories. Each is watched while it is there, and nothing is kept of it afterwards.
//!
//! The hooks' file holds one JSON object a line, `{"event": "create", "path": "/home/me/tree", "timestamp": "…"}`, with
//! `remove` for the end. Several hooks may write at once, and one may be killed while it does: a line that is no such
//! object, or has no end yet, counts for nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use super::Watching;
use crate::git;
use crate::pipeline;
use crate::store::Registry;

/// What a hook tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A worktree was made.
    Create,
    /// A worktree is removed.
    Remove,
}

/// Where worktrees are found.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The file that hooks write to.
    pub manifest: PathBuf,
    /// Repositories that are asked for theirs.
    pub repos: Vec<PathBuf>,
    /// How often they are asked.
    pub every: Duration,
}

/// How often the hooks' file is looked at where the system does not tell of it.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long to wait for whoever writes the index of a worktree that was removed.
const PATIENCE: Duration = Duration::from_secs(5);

/// The worktree that a hook's own input speaks of. Hooks name it in several ways; one that is about to be made may have
/// only a name, and then lies where the agent puts it.
pub fn worktree_of(input: &str) -> Option<PathBuf> {
    let input: Value = serde_json::from_str(input).ok()?;
    let text = |key: &str| input.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let named = ["worktree_path", "worktreePath", "path"].iter().find_map(|key| text(key)).map(PathBuf::from);
    let in_its_place = || Some(Path::new(text("cwd")?).join(".claude/worktrees").join(text("name")?));
    let path = named.or_else(in_its_place)?;
    if path.is_absolute() { Some(path) } else { Some(Path::new(text("cwd")?).join(path)) }
}

/// Writes one line to the hooks' file.
pub fn record(manifest: &Path, what: Happened, path: &Path) -> io::Result<()> {
    if let Some(folder) = manifest.parent() {
        fs::create_dir_all(folder)?;
    }
    let event = match what {
        Happened::Create => "create",
        Happened::Remove => "remove",
    };
    let now = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let line = json!({"event": event, "path": path.to_string_lossy(), "timestamp": now});
    let mut file = File::options().create(true).append(true).read(true).open(manifest)?;
    // Lines are written whole anyway; the lock is for the end of a line that somebody was killed at.
    file.lock()?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let before = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{before}{line}\n").as_bytes())
}

/// Watches the worktrees that there are until `ended` is set.
pub fn follow(watching: &Watching, sources: &Sources, ended: &AtomicBool) {
    let mut manifest = Manifest { path: sources.manifest.clone(), read: 0, place: None };
    let woken = manifest.folder().and_then(|folder| {
        let _ = fs::create_dir_all(folder);
        let eye = watching.eye()?;
        let (who, woken) = eye.listener();
        eye.follow(who, &BTreeSet::from([folder.canonicalize().ok()?])).ok()?;
        Some((eye, who, woken))
    });
    let mut found = Found::default();
    let mut asked: Option<Instant> = None;
    while !ended.load(Ordering::Relaxed) {
        if let Some((eye, who, _)) = &woken {
            let _ = eye.take(*who);
        }
        for (what, path) in manifest.news() {
            match what {
                Happened::Create => found.by_hook(path),
                Happened::Remove => found.removed(&path),
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
    if let Some((eye, who, _)) = woken {
        eye.leave(who);
    }
}

/// The hooks' file, as far as it was read.
struct Manifest {
    path: PathBuf,
    read: u64,
    place: Option<(u64, u64)>,
}

impl Manifest {
    fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }

    /// The whole lines that were written since. A file that was replaced or cut is read from its beginning.
    fn news(&mut self) -> Vec<(Happened, PathBuf)> {
        let Ok(mut file) = File::open(&self.path) else {
            (self.read, self.place) = (0, None);
            return Vec::new();
        };
        let place = super::eye::place(&self.path).ok();
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

/// What a line tells, when it tells anything.
fn event(line: &[u8]) -> Option<(Happened, PathBuf)> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let what = match line.get("event")?.as_str()? {
        "create" => Happened::Create,
        "remove" => Happened::Remove,
        _ => return None,
    };
    let path = PathBuf::from(line.get("path")?.as_str()?);
    path.is_absolute().then_some((what, path))
}

/// Who told of a worktree.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct By {
    hook: bool,
    asking: bool,
}

/// The worktrees that were told of.
#[derive(Default)]
struct Found {
    all: BTreeMap<PathBuf, By>,
    /// Told to be removed, and not yet forgotten.
    removed: BTreeSet<PathBuf>,
}

impl Found {
    fn by_hook(&mut self, path: PathBuf) {
        let path = canonical(&path);
        self.removed.remove(&path);
        self.all.entry(path).or_default().hook = true;
    }

    fn removed(&mut self, path: &Path) {
        let path = canonical(path);
        // A hook told it before the folder was removed; a repository may still name it for a moment.
        self.all.remove(&path);
        self.removed.insert(path);
    }

    /// What the repositories name now: that and no other.
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
            self.all.iter().filter(|(_, by)| **by == By::default()).map(|(path, _)| path.clone()).collect();
        for path in gone {
            self.all.remove(&path);
            self.removed.insert(path);
        }
        for path in named.into_iter().filter(|path| !self.removed.contains(path)) {
            self.all.entry(path).or_default().asking = true;
        }
    }

    /// Watches what is there and is not watched yet, and forgets what was removed.
    fn apply(&mut self, watching: &Watching) {
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
            // A repository may name it until its folder is gone.
            if !path.is_dir() {
                self.removed.remove(&path);
            }
        }
    }
}

/// A path without links, also of a folder that is gone.
fn canonical(path: &Path) -> PathBuf {
    let by_its_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(by_its_folder).unwrap_or_else(|| path.to_owned())
}

/// Whether a branch is one that an agent makes for a worktree of its own.
fn is_of_an_agent(branch: &str) -> bool {
    branch.starts_with("claude/") || branch.starts_with("worktree-")
}
