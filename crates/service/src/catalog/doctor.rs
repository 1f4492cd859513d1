//! Diagnosis and repair of an index directory. It is for people at a terminal, so there is no tool for it.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;

use codelode_base::config::Config;
use codelode_index::pipeline::{self, RunControl};
use codelode_source::discover;
use codelode_store::{self as store, FileView, Registry, Sidecar, Snapshot, Store, WriterState};

/// The result of an examination.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Version of this program.
    pub version: &'static str,
    /// The version of the store's files that this program writes.
    pub format: u32,
    /// The version of extraction, which decides the stored contents.
    pub content: u32,
    /// Location of the index directory.
    pub index_directory: String,
    /// Number of indexed checkouts.
    pub repos: usize,
    /// Number of stores.
    pub stores: usize,
    /// Bytes of all stores.
    pub bytes: u64,
    /// Problems and remarks.
    pub findings: Vec<Finding>,
}

/// A problem or a remark.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// The checkout or file.
    pub subject: String,
    /// Description of the finding.
    pub what: String,
    /// Whether the finding makes answers wrong, old or incomplete, or wastes space, until someone acts.
    pub is_problem: bool,
    /// A remedy for `doctor --fix`, or for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Whether the remedy was applied.
    pub mended: bool,
}

impl Report {
    /// Whether any problem is left.
    pub fn is_ill(&self) -> bool {
        self.findings.iter().any(|finding| finding.is_problem && !finding.mended)
    }
}

/// Minimum free disk space for a commit of a large repository.
const LITTLE_ROOM: u64 = 500 << 20;
/// The most files named in a finding.
const MOST_NAMED: usize = 5;
/// Maximum wait for another writer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Examines an index directory and everything in it, and repairs it with `fix`. `tell` receives progress messages.
pub fn examine(config: &Config, fix: bool, tell: &(dyn Fn(&str) + Sync)) -> Report {
    let registry = Registry::new(&config.home);
    let sidecars = registry.all();
    let (stores, gone) = registry.stores();
    let mut visit = Visit { config, fix, tell, report: Report::default() };
    visit.report = Report {
        version: env!("CARGO_PKG_VERSION"),
        format: store::FORMAT,
        content: store::CONTENT,
        index_directory: config.home.display().to_string(),
        repos: sidecars.len(),
        stores: stores.len(),
        bytes: stores.iter().map(Store::bytes).sum(),
        findings: Vec::new(),
    };
    if let Some(elsewhere) = &config.elsewhere {
        visit.note("index directory", elsewhere, Some("make it writable, or choose another with --index-dir"));
    }
    if !config.home.exists() {
        visit.note(&config.home.display().to_string(), "nothing is indexed yet", None);
        return visit.report;
    }
    visit.home(&registry);
    for path in registry.unreadable() {
        let remove = || std::fs::remove_file(&path).map_err(|err| err.to_string());
        visit.problem(&path.display().to_string(), "cannot be read: its files are missing", "remove it", remove);
    }
    for path in gone {
        let remove = || std::fs::remove_dir_all(&path).map_err(|err| err.to_string());
        visit.problem(&path.display().to_string(), "is left over from a removed store", "remove it", remove);
    }
    let mut by_store: BTreeMap<&str, Vec<&Sidecar>> = BTreeMap::new();
    let packages = registry.packages();
    sidecars.iter().chain(&packages).for_each(|sidecar| by_store.entry(&sidecar.store).or_default().push(sidecar));
    for store in &stores {
        match by_store.get(&*store.key()) {
            Some(checkouts) => visit.store(&registry, store, checkouts),
            None => {
                let remove = || store.remove(PATIENCE).map_err(|err| err.to_string());
                let what = "belongs to no indexed folder: its first run was interrupted";
                visit.finding(false, &store.dir().display().to_string(), what, "remove it", remove);
            }
        }
    }
    let there: HashSet<String> = stores.iter().map(Store::key).collect();
    for sidecar in sidecars.iter().filter(|sidecar| !there.contains(&sidecar.store)) {
        visit.rebuild(&registry, sidecar, "its index is missing");
    }
    visit.watches(&sidecars, &registry);
    visit.report
}

/// An examination in progress, with its findings.
struct Visit<'a> {
    config: &'a Config,
    fix: bool,
    tell: &'a (dyn Fn(&str) + Sync),
    report: Report,
}

impl Visit<'_> {
    fn note(&mut self, subject: &str, what: &str, remedy: Option<&str>) {
        let (subject, what, remedy) = (subject.to_owned(), what.to_owned(), remedy.map(str::to_owned));
        self.report.findings.push(Finding { subject, what, is_problem: false, remedy, mended: false });
    }

    /// Reports a problem. Repairs it if the user wants repairs.
    fn problem(&mut self, subject: &str, what: &str, remedy: &str, mend: impl FnOnce() -> Result<(), String>) {
        self.finding(true, subject, what, remedy, mend);
    }

    /// Reports a finding with a remedy, whether or not it is a problem.
    fn finding(
        &mut self,
        is_problem: bool,
        subject: &str,
        what: &str,
        remedy: &str,
        mend: impl FnOnce() -> Result<(), String>,
    ) {
        let (mut what, mut mended) = (what.to_owned(), false);
        if self.fix {
            (self.tell)(&format!("{subject}: {remedy}"));
            match mend() {
                Ok(()) => mended = true,
                Err(why) => what.push_str(&format!("; it could not be fixed: {why}")),
            }
        }
        let (subject, remedy) = (subject.to_owned(), Some(remedy.to_owned()));
        self.report.findings.push(Finding { subject, what, is_problem, remedy, mended });
    }

    /// Checks the index directory: permissions, write access and free space.
    fn home(&mut self, registry: &Registry) {
        use std::os::unix::fs::PermissionsExt;
        let subject = self.config.home.display().to_string();
        let mode = std::fs::metadata(&self.config.home).map_or(0o700, |meta| meta.permissions().mode());
        if mode & 0o077 != 0 {
            let what = format!("other users can read the source code in it (mode {:o})", mode & 0o777);
            let home = &self.config.home;
            let close = || {
                registry.prepare();
                let mode = std::fs::metadata(home).map_or(0o700, |meta| meta.permissions().mode());
                if mode & 0o077 == 0 { Ok(()) } else { Err("the file system keeps the mode".to_owned()) }
            };
            self.problem(&subject, &what, "let only its owner in", close);
        }
        if let Err(err) = tempfile::NamedTempFile::new_in(&self.config.home) {
            let what = format!("cannot be written ({err}): it still answers, but edits are not read");
            self.note(&subject, &what, Some("use a writable folder, or set CODELODE_INDEX_PATH"));
        }
        if let Ok(disk) = rustix::fs::statvfs(&self.config.home) {
            let room = disk.f_bavail.saturating_mul(disk.f_frsize);
            let needed = LITTLE_ROOM.max(self.report.bytes / 4);
            if room < needed {
                let what = format!("only {} MB are free on its disk", room >> 20);
                let remedy = "free disk space: without it indexing fails, and the old index answers";
                let finding =
                    Finding { subject, what, is_problem: true, remedy: Some(remedy.to_owned()), mended: false };
                self.report.findings.push(finding);
            }
        }
    }

    /// Checks a store and the checkouts in it.
    fn store(&mut self, registry: &Registry, store: &Store, checkouts: &[&Sidecar]) {
        let mut held = store.held();
        if let WriterState::By(process) = held {
            let by = process.map_or_else(|| "a process".to_owned(), |id| format!("process {id}{}", name_of(id)));
            let remedy = "if it does not end, stop it; that frees its lock at once";
            self.note(&checkouts[0].repo, &format!("is being written by {by}"), Some(remedy));
        }
        for sidecar in checkouts {
            if sidecar.is_folder() && pipeline::was_removed(sidecar, self.config) {
                let what = format!("its folder {} is gone", sidecar.root.display());
                let forget = || pipeline::forget(registry, sidecar, PATIENCE).map_err(|err| err.to_string());
                self.problem(&sidecar.repo, &what, "remove its index", forget);
                continue;
            }
            let whole = store.snapshot(&sidecar.snapshot).and_then(|snapshot| snapshot.verify().map(|()| snapshot));
            match whole {
                Ok(snapshot) if snapshot.content_version() != store::CONTENT => {
                    let what = "was indexed by another version; the next question updates it";
                    self.note(&sidecar.repo, what, None);
                }
                Ok(snapshot) => {
                    self.cut_off(sidecar, &snapshot);
                    self.credentials(sidecar, &snapshot);
                }
                // The program that wrote it can read it.
                Err(err @ store::Error::Newer { .. }) => {
                    let (subject, what) = (sidecar.repo.clone(), err.to_string());
                    self.report.findings.push(Finding { subject, what, is_problem: true, remedy: None, mended: false });
                }
                Err(err) => {
                    self.rebuild(registry, sidecar, &err.to_string());
                    held = store.held();
                }
            }
        }
        if held == WriterState::Free
            && let Ok(leftovers) = store.leftovers()
            && !leftovers.is_empty()
        {
            let what = format!("{} files are left over from killed runs", leftovers.len());
            let sweep = || store.sweep(PATIENCE).map(|_| ()).map_err(|err| err.to_string());
            // Leftover files do no harm: the next run removes them too.
            self.finding(false, &store.dir().display().to_string(), &what, "remove them, as the next run does", sweep);
        }
    }

    /// Reports files of a checkout that were not read to their end.
    fn cut_off(&mut self, sidecar: &Sidecar, snapshot: &Snapshot) {
        let files: Vec<&str> = snapshot.files().filter(FileView::is_cut_off).map(|file| file.path()).collect();
        if files.is_empty() {
            return;
        }
        let first = files[..files.len().min(MOST_NAMED)].join(", ");
        let more = files.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = format!("{first}{more}: read in part; symbols or uses in there are not known");
        self.note(&sidecar.repo, &what, None);
    }

    /// Reports files of a checkout that contain a credential.
    fn credentials(&mut self, sidecar: &Sidecar, snapshot: &Snapshot) {
        let secrets = &self.config.secrets;
        let holds = |file: &FileView<'_>| discover::holds_credential(file.content()) && !secrets.allows(file.path());
        let files = snapshot.files().filter(holds).map(|file| file.path().to_owned()).collect();
        if let Some(what) = discover::credentials(files) {
            self.note(&sidecar.repo, &what, Some(discover::CREDENTIALS_REMEDY));
        }
    }

    /// Rebuilds the unusable index of a checkout.
    fn rebuild(&mut self, registry: &Registry, sidecar: &Sidecar, what: &str) {
        let root = self.config.path_map.to_local(&sidecar.root);
        if !sidecar.is_folder() {
            let forget = || pipeline::forget(registry, sidecar, PATIENCE).map_err(|err| err.to_string());
            let remedy = match sidecar.package {
                Some(_) => "remove its index; the next question rebuilds it",
                None => "remove its index, and call index_repo",
            };
            return self.problem(&sidecar.repo, what, remedy, forget);
        }
        if !root.is_dir() {
            let forget = || pipeline::forget(registry, sidecar, PATIENCE).map_err(|err| err.to_string());
            let what = format!("{what}, and its folder {} is missing", root.display());
            return self.problem(&sidecar.repo, &what, "remove its index", forget);
        }
        let config = self.config;
        let rebuild = || {
            let never = AtomicBool::new(false);
            let watcher =
                RunControl { progress: &codelode_base::model::unfollowed, cancelled: &never, patience: PATIENCE };
            pipeline::rebuild(sidecar, config, &watcher).map(drop).map_err(|err| err.to_string())
        };
        self.problem(&sidecar.repo, what, "index it anew", rebuild);
    }

    /// Checks whether the system's inotify limits allow watching all indexed folders.
    fn watches(&mut self, sidecars: &[Sidecar], registry: &Registry) {
        let limit = |name: &str| -> Option<usize> {
            std::fs::read_to_string(Path::new("/proc/sys/fs/inotify").join(name)).ok()?.trim().parse().ok()
        };
        let folders: usize = sidecars
            .iter()
            .filter_map(|sidecar| registry.store(&sidecar.store).snapshot(&sidecar.snapshot).ok())
            .map(|snapshot| snapshot.table().inputs().filter(|input| input.is_dir).count())
            .sum();
        if let Some(most) = limit("max_user_watches").filter(|most| *most < folders * 2) {
            let what = format!("{folders} folders are indexed, but the system limits a user to {most} watches");
            let remedy = "unwatched folders are checked with each question; or raise fs.inotify.max_user_watches";
            self.note("inotify", &what, Some(remedy));
        }
    }
}

/// Name of a process, in brackets; empty when unknown.
fn name_of(process: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    if name.trim().is_empty() { String::new() } else { format!(" ({})", name.trim()) }
}
