//! Repositories that a server keeps up to date. They are listed in a file, indexed at the start, and again on a webhook
//! or at an interval.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use codelode_base::config;
use codelode_http::{Hooked, Kept};
#[cfg(feature = "fleet")]
use codelode_service::catalog::fleet::Wanted;
use codelode_service::tools::{self, Context, Request};

/// The default interval of checks for changes.
const POLL: Duration = Duration::from_secs(300);
/// The shortest interval.
const SHORTEST: Duration = Duration::from_secs(10);
/// The interval of checks whether the file has changed.
const LOOK: Duration = Duration::from_secs(2);

/// A file of repositories, and the time when each is due.
pub(super) struct Upkeep {
    path: PathBuf,
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    stamp: Option<(SystemTime, u64)>,
    entries: BTreeMap<String, Entry>,
    due: BTreeMap<String, Instant>,
}

/// An entry of the file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// A git URL, or owner/name on GitHub.
    url: Option<String>,
    /// A branch, tag or commit; the default branch if `None`.
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// A folder of this machine, instead of a URL.
    path: Option<PathBuf>,
    /// The interval of checks for changes, such as `1m`; `never` for webhooks only.
    poll: Option<String>,
    /// The environment variable with the secret of its webhooks.
    secret_env: Option<String>,
}

impl Upkeep {
    /// Reads a file of repositories, all of them due at once.
    pub(super) fn of(path: &Path) -> Result<Arc<Self>, String> {
        let shown = path.display();
        fs::metadata(path).map_err(|err| format!("cannot read the repositories in {shown}: {err}"))?;
        let upkeep = Self { path: path.to_owned(), state: Mutex::default(), woken: Condvar::new() };
        upkeep.read(&mut upkeep.state())?;
        Ok(Arc::new(upkeep))
    }

    /// Keeps them up to date in a thread.
    pub(super) fn begin(self: &Arc<Self>, cx: Context) -> Result<(), String> {
        self.each(1, move |name, entry| {
            let (tool, arguments) = entry.call();
            let answer = tools::call(&cx, tool, arguments, &Request::default());
            if answer.is_error {
                tracing::error!(repo = name, "not brought up to date: {}", answer.value["error"]);
            } else {
                if let Some(repo) = answer.value["repo"].as_str() {
                    cx.indexes.give_name(repo, name);
                }
                tracing::info!(target: "access", repo = name, "up to date");
            }
            cx.session.flush_when_due();
        })
    }

    /// Passes each repository that is due to `act`, in several threads.
    pub(super) fn each(
        self: &Arc<Self>,
        n_threads: usize,
        act: impl Fn(&str, &Entry) + Send + Sync + 'static,
    ) -> Result<(), String> {
        let act = Arc::new(act);
        for _ in 0..n_threads {
            let (upkeep, act) = (self.clone(), act.clone());
            let run = move || {
                loop {
                    let (name, entry) = upkeep.next();
                    // A bug with one repository must not stop the others.
                    if thread::scope(|scope| scope.spawn(|| act(&name, &entry)).join()).is_err() {
                        tracing::error!(repo = name, "not brought up to date: the call broke off");
                    }
                }
            };
            thread::Builder::new().name("upkeep".to_owned()).spawn(run).map_err(|err| err.to_string())?;
        }
        Ok(())
    }

    /// Waits for the next repository that is due.
    fn next(&self) -> (String, Entry) {
        let mut state = self.state();
        loop {
            if let Err(problem) = self.read(&mut state) {
                tracing::error!("{problem}; keeping the earlier repositories");
            }
            let now = Instant::now();
            let first = state.due.iter().min_by_key(|(_, due)| **due).map(|(name, due)| (name.clone(), *due));
            let wait = match first {
                Some((name, due)) if due <= now => {
                    let entry = state.entries[&name].clone();
                    match entry.interval() {
                        Ok(Some(interval)) => state.due.insert(name.clone(), now + interval),
                        _ => state.due.remove(&name),
                    };
                    return (name, entry);
                }
                Some((_, due)) => LOOK.min(due - now),
                None => LOOK,
            };
            state = self.woken.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Reads the file if it has changed. New and changed entries are due at once.
    fn read(&self, state: &mut State) -> Result<(), String> {
        let shown = self.path.display();
        let stamp = fs::metadata(&self.path).and_then(|file| Ok((file.modified()?, file.len()))).ok();
        if stamp.is_some() && state.stamp == stamp {
            return Ok(());
        }
        // A broken file is reported once.
        let is_news = std::mem::replace(&mut state.stamp, stamp) != stamp;
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(_) if !is_news => return Ok(()),
            Err(err) => return Err(format!("cannot read the repositories in {shown}: {err}")),
        };
        let entries = parsed(&text, &self.path)?;
        state.due.retain(|name, _| entries.contains_key(name));
        for (name, entry) in &entries {
            if state.entries.get(name) != Some(entry) {
                state.due.insert(name.clone(), Instant::now());
            }
        }
        state.entries = entries;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic leaves each repository either due or not.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parses a file of repositories.
fn parsed(text: &str, path: &Path) -> Result<BTreeMap<String, Entry>, String> {
    let shown = path.display();
    let entries: BTreeMap<String, Entry> =
        toml::from_str(text).map_err(|err| format!("the repositories in {shown} are malformed: {err}"))?;
    for (name, entry) in &entries {
        entry.check().map_err(|problem| format!("the repository {name:?} in {shown} {problem}"))?;
    }
    Ok(entries)
}

/// Reads the repositories of a file, once.
#[cfg(feature = "fleet")]
pub(super) fn entries(path: &Path) -> Result<BTreeMap<String, Entry>, String> {
    let text =
        fs::read_to_string(path).map_err(|err| format!("cannot read the repositories in {}: {err}", path.display()))?;
    parsed(&text, path)
}

impl Kept for Upkeep {
    fn hooked(&self) -> Vec<Hooked> {
        let state = self.state();
        let hooked = state.entries.iter().filter_map(|(name, entry)| {
            let secret = config::secret(entry.secret_env.as_deref()?)?;
            Some(Hooked { name: name.clone(), url: entry.url.clone(), secret })
        });
        hooked.collect()
    }

    fn changed(&self, name: &str) {
        self.state().due.insert(name.to_owned(), Instant::now());
        self.woken.notify_all();
    }
}

impl Entry {
    fn check(&self) -> Result<(), String> {
        match (&self.url, &self.path) {
            (Some(_), None) => {}
            (None, Some(path)) if path.is_absolute() && self.reference.is_none() => {}
            (None, Some(_)) => return Err("has a `path` that is not absolute, or a `ref` beside it".to_owned()),
            _ => return Err("needs a `url` or a `path`".to_owned()),
        }
        if let Some(variable) = self.secret_env.as_deref().filter(|name| config::secret(name).is_none()) {
            return Err(format!("names a variable for its secret, {variable}, that is not set"));
        }
        self.interval().map(drop)
    }

    /// The interval of checks; `None` for never.
    fn interval(&self) -> Result<Option<Duration>, String> {
        match self.poll.as_deref() {
            None => Ok(Some(POLL)),
            Some("never") => Ok(None),
            Some(text) => {
                let interval = humantime::parse_duration(text);
                interval.map(|it| Some(it.max(SHORTEST))).map_err(|err| format!("has an invalid `poll`: {err}"))
            }
        }
    }

    /// The entry as a submission to a queue. Its name in the file is its name in the place, if that has the form
    /// `owner/name`.
    #[cfg(feature = "fleet")]
    pub(super) fn wanted(&self, name: &str) -> Wanted {
        let path = || self.path.as_ref().map(|path| path.to_string_lossy().into_owned());
        Wanted {
            name: Some(name.to_owned()).filter(|name| name.contains('/')),
            url: self.url.clone().or_else(path).unwrap_or_default(),
            reference: self.reference.clone(),
        }
    }

    /// The tool call that updates it.
    fn call(&self) -> (&'static str, Map<String, Value>) {
        let (tool, arguments) = match &self.path {
            Some(path) => ("index_folder", json!({"path": path})),
            None => ("index_repo", json!({"url": self.url, "ref_name": self.reference})),
        };
        (tool, arguments.as_object().cloned().unwrap_or_default())
    }
}
