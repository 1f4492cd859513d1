//! Indexing of a folder: choose the files, read the changed ones, extract them in parallel, commit.

mod batches;
mod board;
mod earlier;
mod embed;
mod excerpt;
mod guest;
mod mend;
mod package;
mod partial;
mod place;
mod project;
mod read;
mod relate;
mod room;
mod shipped;
mod summarize;
mod tree;
mod unsaved;

use board::Posted;
pub use board::{Run, runs};
use earlier::{Earlier, compare};
pub use embed::{EmbedError, Embedded, Embedding, Missing, embed, estimated_tokens, meanings, missing, text};
pub use excerpt::{Excerpt, files_of_large, index_excerpt, index_excerpt_in, is_excerpt};
pub use guest::{Guest, Meant, meant_in};
pub use mend::rebuild;
pub use package::{index_package, sidecar_of_package};
pub use partial::{LeftOut, drift_of};
pub use place::{is_gone, is_linked, owner, was_removed};
pub use project::{OfProject, of_project};
use read::{Origin, Read, Reading};
pub use relate::{are_whole, can_relate, relations};
use room::Room;
pub use shipped::Shipped;
pub use summarize::{Summarized, Summarizing, SummaryError, Unsummarized, summarize, unsummarized};
pub use tree::{index_tree, sidecar_of_remote, unchanged};
pub use unsaved::{Again, Unsaved, relations_with_unsaved, with_unsaved};

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::allocator;
use crate::config::Config;
use crate::discover::{self, Rules};
use crate::git;
use crate::model::{Input, Languages, Phase, Progress, Roles, SkipReason, SourceFile};
use crate::store::{self, Entry, Registry, Sidecar, Snapshot, SnapshotFacts, Store};

/// Files modified within this time before a look may change again within the same tick of the file system's clock, so
/// their times are not trusted next time (the "racy git" problem).
const RACY: Duration = Duration::from_millis(20);
/// Clock skew that is tolerated, as for a server whose clock is ahead. Times further ahead were set deliberately: the
/// next edit has another time.
const AHEAD: Duration = Duration::from_secs(2);

/// Folders of virtual file systems, which hold no real files.
const NO_FILES: [&str; 4] = ["/dev", "/proc", "/run", "/sys"];

/// Maximum number of threads that read metadata; more would wait for each other.
const MOST_LOOKING: usize = 8;

/// Files of a first run per publication. Publishing costs a little each time, and published files need not be read
/// again after a kill.
const PUBLISH_EVERY: usize = 16_000;

/// Options for indexing a folder.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Ignore patterns in addition to the configured ones.
    pub extra_ignore: Vec<String>,
    /// Follow symbolic links that stay inside the root.
    pub follow_symlinks: bool,
    /// Read every file again.
    pub from_scratch: bool,
    /// Files to read again even if their size and time are unchanged.
    pub reread: Vec<String>,
    /// Files of a first run per publication; zero for the default.
    pub publish_every: usize,
    /// Maximum number of files; larger folders are not indexed.
    pub at_most: Option<usize>,
    /// Contents of the index as it came from elsewhere.
    pub shipped: Option<Arc<Shipped>>,
}

impl Options {
    /// Options of an existing index: from its snapshot, or from its sidecar when the snapshot is unreadable.
    pub fn as_before(facts: Option<&SnapshotFacts>, sidecar: Option<&Sidecar>) -> Self {
        let of_facts = |facts: &SnapshotFacts| (facts.extra_ignore.clone(), facts.follow_symlinks);
        let of_sidecar = |sidecar: &Sidecar| (sidecar.extra_ignore.clone(), sidecar.follow_symlinks);
        let (extra_ignore, follow_symlinks) = facts.map(of_facts).or(sidecar.map(of_sidecar)).unwrap_or_default();
        Self { extra_ignore, follow_symlinks, ..Self::default() }
    }
}

/// Progress callback, cancellation flag and lock timeout of a run.
pub struct Watcher<'a> {
    /// Called with files done, files in all and the current step.
    pub progress: &'a Progress<'a>,
    /// Set to cancel the run.
    pub cancelled: &'a AtomicBool,
    /// Maximum wait for another process that writes the same index.
    pub patience: Duration,
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The checkout after the run.
    pub sidecar: Sidecar,
    /// Facts of its snapshot.
    pub facts: SnapshotFacts,
    /// New files.
    pub added: Vec<String>,
    /// Changed files.
    pub changed: Vec<String>,
    /// Removed files.
    pub removed: Vec<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Time spent choosing the files.
    pub discovery: Duration,
    /// Time spent reading, extracting and committing.
    pub parsing: Duration,
}

/// Reasons why a folder cannot be indexed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be walked.
    #[error(transparent)]
    Discover(#[from] discover::Error),
    /// The index cannot be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A remote repository can no longer be read.
    #[error(transparent)]
    Source(#[from] crate::model::SourceError),
    /// The folder exceeds the limit on the number of files.
    #[error("more than {0} files")]
    TooMany(usize),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Sidecar of a folder, whether or not an index exists yet.
pub fn sidecar_of(root: &Path, config: &Config) -> Sidecar {
    let stored = config.path_map.to_stored(root);
    let repository = git::Repository::open(root);
    // A store belongs to a repository, so that all its checkouts share it.
    let owner =
        repository.as_ref().map_or_else(|| stored.clone(), |repo| config.path_map.to_stored(&repo.common_dir()));
    Sidecar {
        repo: Registry::local_id(&stored),
        store: Registry::key(&owner),
        snapshot: Registry::key(&stored),
        origin: repository.as_ref().and_then(git::Repository::origin),
        held_in: place::holders(root),
        root: stored,
        indexed_at: 0,
        file_count: 0,
        symbol_count: 0,
        languages: BTreeMap::new(),
        git_head: repository.as_ref().and_then(git::Repository::head),
        extra_ignore: Vec::new(),
        follow_symlinks: false,
        remote: None,
        package: None,
    }
}

/// Indexes a folder, or updates its index. An unusable index is rebuilt.
pub fn index_folder(root: &Path, config: &Config, options: &Options, watcher: &Watcher<'_>) -> Result<Report, Error> {
    match index_once(root, config, options, watcher) {
        Err(Error::Store(err)) if err.is_of_no_use() && !options.from_scratch => {
            let anew = Options { from_scratch: true, ..options.clone() };
            mend::anew(&err, || index_once(root, config, &anew, watcher))
        }
        other => other,
    }
}

fn index_once(root: &Path, config: &Config, options: &Options, watcher: &Watcher<'_>) -> Result<Report, Error> {
    let started = Instant::now();
    let sidecar = sidecar_of(root, config);
    let posted = Posted::new(&sidecar.repo);
    let watcher = &Watcher { progress: &posted.with(watcher.progress), ..*watcher };
    (watcher.progress)(0, None, "looking for files");
    // Read before the folder: an index that is published later may hold changes that this walk has not seen.
    let base = published(&sidecar, config);
    let OfProject { config, input, warnings } = of_project(root, config);
    let config = &config;
    let mut rules = rules(config);
    rules.extra_ignore.extend(options.extra_ignore.iter().cloned());
    rules.follow_symlinks = options.follow_symlinks;
    rules.stop_after = options.at_most;
    let phase = Phase::begin("discover");
    let mut walk = discover::walk(root, &rules)?;
    drop(phase);
    walk.warnings.extend(warnings);
    walk.add_input(input);
    if let Some(most) = options.at_most.filter(|most| walk.files.len() > *most) {
        return Err(Error::TooMany(most));
    }
    let plan = Plan { base, ..Plan::of(walk, started.elapsed()) };
    let every = if options.publish_every > 0 { options.publish_every } else { PUBLISH_EVERY };
    match plan.files.len() > every + every / 2 {
        true => run_in_parts(&Origin::Folder(root), config, sidecar, plan, &rules, options, watcher, every),
        false => run(&Origin::Folder(root), config, sidecar, plan, &rules, options, watcher),
    }
}

/// Runs a plan. A first run publishes its files in batches, so that an interrupted one can resume.
#[allow(clippy::too_many_arguments, reason = "what `run` takes, and how many files a part has")]
fn run_in_parts(
    origin: &Origin<'_>,
    config: &Config,
    sidecar: Sidecar,
    mut plan: Plan,
    rules: &Rules,
    options: &Options,
    watcher: &Watcher<'_>,
    every: usize,
) -> Result<Report, Error> {
    let store = Registry::new(&config.home).store(&sidecar.store);
    let mut options = options.clone();
    let (mut added, mut warnings) = (Vec::new(), Vec::new());
    let total = plan.files.len();
    for end in (every..total).step_by(every) {
        let is_there = match store.snapshot(&sidecar.snapshot) {
            // An existing complete index stays visible until the new one is complete.
            Ok(snapshot) if !snapshot.facts().partial => break,
            Ok(snapshot) => snapshot.table().len(),
            Err(_) => 0,
        };
        if is_there >= end && !options.from_scratch {
            continue;
        }
        let tell = |done: u64, of: Option<u64>, what: &str| {
            let before = end as u64 - of.unwrap_or(0);
            (watcher.progress)(before + done, Some(total as u64), what);
        };
        let files = plan.files[..end].to_vec();
        let part = Plan { base: plan.base, partial: true, ..Plan::of_files(files, plan.discovery) };
        let watcher = Watcher { progress: &tell, ..*watcher };
        let report = run(origin, config, sidecar.clone(), part, rules, &options, &watcher)?;
        plan.base = Some(report.facts.number);
        added.extend(report.added);
        warnings.extend(report.warnings);
        options.from_scratch = false;
    }
    let report = run(origin, config, sidecar, plan, rules, &options, watcher)?;
    added.extend(report.added);
    warnings.extend(report.warnings);
    Ok(Report { added, warnings, ..report })
}

/// Differences between an index and its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Files with another size or time.
    pub changed: Vec<String>,
    /// Files that no longer exist.
    pub gone: Vec<String>,
    /// Whether folders or ignore files changed, so that there may be new files.
    pub elsewhere: bool,
    /// Whether to read the changed files even if their size and time are unchanged.
    pub unseen: bool,
}

impl Drift {
    /// Whether nothing changed.
    pub fn is_none(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty() && !self.elsewhere
    }
}

/// Compares a snapshot with its folder by sizes and times only.
pub fn drift(root: &Path, snapshot: &Snapshot) -> Drift {
    let _phase = Phase::begin("compare");
    let table = snapshot.table();
    if snapshot.facts().partial {
        // A partial snapshot lacks files, which only a full walk finds.
        return Drift { elsewhere: true, ..Drift::default() };
    }
    let is_original = place::is_original(root, snapshot.facts());
    let stamp = |at: usize| match at.checked_sub(table.len()) {
        None => table.get(at).map(|row| partial::known(row, false, is_original)),
        Some(at) => table.input_at(at).map(|row| partial::known(row, row.is_dir, is_original)),
    };
    // The time is spent in system calls, which run in parallel.
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(MOST_LOOKING);
    let count = table.len() + table.inputs().len();
    let seen = discover::changes(root, (count, &stamp), snapshot.facts().follow_symlinks, threads);
    let mut drift = Drift::default();
    for (places, names) in [(&seen.changed, &mut drift.changed), (&seen.gone, &mut drift.gone)] {
        for place in places {
            match table.get(*place) {
                Some(row) => names.push(row.path.to_owned()),
                None => drift.elsewhere = true,
            }
        }
    }
    drift
}

/// Updates an index with the changes found by [`drift`].
pub fn refresh(
    sidecar: &Sidecar,
    snapshot: &Snapshot,
    drift: &Drift,
    config: &Config,
    watcher: &Watcher<'_>,
) -> Result<Report, Error> {
    let root = config.path_map.to_local(&sidecar.root);
    let facts = snapshot.facts();
    let options = Options {
        extra_ignore: facts.extra_ignore.clone(),
        follow_symlinks: facts.follow_symlinks,
        from_scratch: false,
        reread: if drift.unseen { drift.changed.clone() } else { Vec::new() },
        ..Options::default()
    };
    let is_by_the_rules = facts.allow_secrets == config.secrets.patterns();
    if drift.elsewhere || !drift.gone.is_empty() || !is_by_the_rules {
        return index_folder(&root, config, &options, watcher);
    }
    // No file was added or removed, so the choice of files still holds.
    let mut files: Vec<SourceFile> = snapshot.table().iter().map(|row| row.to_entry().file).collect();
    for path in &drift.changed {
        let Ok(place) = snapshot.table().position(path) else { continue };
        match discover::stat(&root, path, options.follow_symlinks) {
            Some(file) => files[place] = file,
            None => return index_folder(&root, config, &options, watcher),
        }
    }
    let plan = Plan {
        files,
        inputs: snapshot.table().inputs().map(|row| row.to_input()).collect(),
        skipped: BTreeMap::new(),
        warnings: Vec::new(),
        base: Some(facts.number),
        looked_at_all: false,
        partial: false,
        discovery: Duration::ZERO,
    };
    let OfProject { config: with_project, .. } = of_project(&root, config);
    let mut rules = rules(&with_project);
    rules.follow_symlinks = options.follow_symlinks;
    let sidecar = Sidecar { indexed_at: facts.indexed_at, git_head: facts.git_head.clone(), ..sidecar.clone() };
    let posted = Posted::new(&sidecar.repo);
    let watcher = &Watcher { progress: &posted.with(watcher.progress), ..*watcher };
    match run(&Origin::Folder(&root), &with_project, sidecar, plan, &rules, &options, watcher) {
        // `index_folder` finds the same damage, and rebuilds.
        Err(Error::Store(err)) if err.is_of_no_use() => index_folder(&root, config, &options, watcher),
        other => other,
    }
}

/// Removes the index of a checkout, and its store when no other checkout uses it.
pub fn forget(registry: &Registry, sidecar: &Sidecar, patience: Duration) -> Result<(), Error> {
    registry.store(&sidecar.store).forget(&sidecar.snapshot, patience)?;
    registry.remove(&sidecar.repo)?;
    Ok(())
}

/// Reason why the rules leave out a file of an indexed folder; `None` for missing or included files.
pub fn left_out(root: &Path, path: &str, facts: &SnapshotFacts, config: &Config) -> Option<SkipReason> {
    let mut rules = rules(&of_project(root, config).config);
    rules.extra_ignore.extend(facts.extra_ignore.iter().cloned());
    rules.follow_symlinks = facts.follow_symlinks;
    match discover::look(root, path, &rules) {
        Ok(discover::Look::Skipped(reason)) => Some(reason),
        _ => None,
    }
}

/// An entry that an index leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// Relative to the root; a folder's ends with `/`.
    pub path: String,
    /// The rule.
    pub reason: SkipReason,
    /// For a folder, the number of its files, as far as they are counted.
    pub files: Option<u64>,
}

/// Everything in a folder that its index leaves out, by path: by rule, and files that turned out to be binary.
pub fn all_left_out(root: &Path, snapshot: &Snapshot, config: &Config) -> Result<Vec<Omitted>, Error> {
    let mut rules = rules(&of_project(root, config).config);
    rules.extra_ignore.extend(snapshot.facts().extra_ignore.iter().cloned());
    rules.follow_symlinks = snapshot.facts().follow_symlinks;
    let by_rule = discover::walk(root, &rules)?.left_out.into_iter().map(|left| (left.path, left.reason));
    let unread = snapshot.table().iter().filter_map(|row| Some((row.path.to_owned(), row.state.err()?)));
    let mut all: Vec<(String, SkipReason)> = by_rule.chain(unread).collect();
    all.sort_unstable();
    let counted = all.into_iter().map(|(path, reason)| {
        let place = root.join(&path);
        match place.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            true => Omitted { path: format!("{path}/"), reason, files: Some(discover::count_files(&place)) },
            false => Omitted { path, reason, files: None },
        }
    });
    Ok(counted.collect())
}

/// The rules that a configuration makes.
fn rules(config: &Config) -> Rules {
    Rules {
        extra_ignore: config.patterns(),
        secrets: config.secrets.clone(),
        follow_symlinks: false,
        max_file_size: config.max_file_size,
        max_files: config.max_files,
        stop_after: None,
        never: config.folders().chain(NO_FILES.map(PathBuf::from)).collect(),
    }
}

/// Number of the commit that a checkout's index is at.
fn published(sidecar: &Sidecar, config: &Config) -> Option<u64> {
    let manifest = Registry::new(&config.home).store(&sidecar.store).manifest().ok()?;
    manifest.snapshots.get(&sidecar.snapshot).map(|facts| facts.number)
}

/// Files to index.
struct Plan {
    files: Vec<SourceFile>,
    inputs: Vec<Input>,
    skipped: BTreeMap<SkipReason, u64>,
    warnings: Vec<String>,
    /// Commit that was published before the first file was checked, if any.
    base: Option<u64>,
    /// Whether every file was checked; the others are as in the base.
    looked_at_all: bool,
    /// Whether the folder has more files than the plan.
    partial: bool,
    discovery: Duration,
}

impl Plan {
    /// Creates a plan of these files only.
    fn of_files(files: Vec<SourceFile>, discovery: Duration) -> Self {
        Self {
            files,
            inputs: Vec::new(),
            skipped: BTreeMap::new(),
            warnings: Vec::new(),
            base: None,
            looked_at_all: true,
            partial: false,
            discovery,
        }
    }

    /// Creates a plan from a complete walk.
    fn of(walk: discover::Walk, discovery: Duration) -> Self {
        let discover::Walk { files, inputs, skipped, warnings, left_out: _ } = walk;
        Self { files, inputs, skipped, warnings, base: None, looked_at_all: true, partial: false, discovery }
    }
}

/// Runs a plan: reads changed files and commits a snapshot.
fn run(
    origin: &Origin<'_>,
    config: &Config,
    sidecar: Sidecar,
    plan: Plan,
    rules: &Rules,
    options: &Options,
    watcher: &Watcher<'_>,
) -> Result<Report, Error> {
    let started = Instant::now();
    let now = SystemTime::now();
    let registry = Registry::new(&config.home);
    registry.prepare();
    let store = registry.store(&sidecar.store);
    let Plan { mut files, mut inputs, skipped, mut warnings, base: planned, looked_at_all, partial, discovery } = plan;
    let racy_after = nanoseconds(now) - RACY.as_nanos() as i64 - discovery.as_nanos() as i64;
    let racy_until = nanoseconds(now) + AHEAD.as_nanos() as i64;
    let is_recent = |time_ns: i64| time_ns > racy_after && time_ns <= racy_until;
    let is_racy = |mtime_ns: i64, ctime_ns: i64| is_recent(mtime_ns) || is_recent(ctime_ns);
    // Racy files are always read again. Their times are shifted, so that no recorded time matches, even one that was
    // shifted before.
    let doubted: Vec<bool> = files.iter().map(|file| is_racy(file.mtime_ns, file.ctime_ns)).collect();
    files.iter_mut().zip(&doubted).for_each(|(file, doubted)| file.mtime_ns -= i64::from(*doubted));
    inputs.iter_mut().for_each(|input| input.mtime_ns -= i64::from(is_racy(input.mtime_ns, input.ctime_ns)));

    // Unchanged indexes are detected before taking the write lock.
    if !options.from_scratch
        && options.reread.is_empty()
        && !doubted.contains(&true)
        && let Ok(snapshot) = store.snapshot(&sidecar.snapshot)
        && snapshot.content_version() == store::CONTENT
        && snapshot.facts().partial == partial
        && same(&snapshot, &files, &inputs, config, options)
        && (!looked_at_all || snapshot.facts().git_head == sidecar.git_head)
        && registry.get(&sidecar.repo).is_some()
    {
        return Ok(nothing_done(&store, sidecar, snapshot.facts(), warnings, discovery, started));
    }

    let mut writer = match options.from_scratch {
        true => store.writer_anew(watcher.patience)?,
        false => store.writer(watcher.patience)?,
    };
    let is_current = |base: &Snapshot| base.content_version() == store::CONTENT;
    let base = writer.base(&sidecar.snapshot)?.filter(|base| is_current(base) && !options.from_scratch);
    // Another process has published since the plan was made, which may hold later changes than the plan.
    if let Origin::Folder(root) = origin
        && !options.from_scratch
        && (writer.published(&sidecar.snapshot) != planned || (!looked_at_all && base.is_none()))
    {
        drop(writer);
        return index_folder(root, config, options, watcher);
    }
    let mut states: Vec<Result<u32, SkipReason>> = Vec::with_capacity(files.len());
    let mut to_read: Vec<usize> = Vec::new();
    // Files of another ref are reused like those of an earlier state, since content identifies them.
    let sibling = match origin {
        Origin::Commit(reader) if base.is_none() && !options.from_scratch => match &reader.sibling {
            Some(sibling) => writer.base(sibling)?.filter(is_current),
            None => None,
        },
        _ => None,
    };
    let unchanged = match (origin, &options.shipped) {
        (Origin::Folder(root), Some(shipped)) => shipped.unchanged(root, &files),
        _ => HashSet::new(),
    };
    let mut earlier = Earlier::of(base.as_ref().or(sibling.as_ref()));
    let roles = config.all_roles();
    let given = |roles: &Roles| Languages::of(&roles.languages).unwrap_or_default();
    let (languages, before) = (given(&roles), base.as_ref().map(|base| given(&base.facts().roles)).unwrap_or_default());
    for (place, file) in files.iter().enumerate() {
        let has_other_language = languages.of_path(&file.path) != before.of_path(&file.path);
        let is_doubted = doubted[place] || has_other_language || options.reread.contains(&file.path);
        states.push(match earlier.find(&file.path) {
            Some(row) if row.is_as(file) && !is_doubted => row.state,
            Some(row) if row.size == file.size && !is_doubted && unchanged.contains(&file.path) => row.state,
            _ => {
                to_read.push(place);
                Err(SkipReason::Unreadable)
            }
        });
    }

    if let Origin::Commit(reader) = origin {
        reader.prepare(&files, &to_read)?;
    }
    let room = Room::of(config.max_memory);
    if config.max_memory.is_some() {
        allocator::keep_nothing();
        allocator::take_small_pages();
    }
    writer.expect(to_read.len(), room.writer);
    let known = if options.from_scratch { None } else { Some(writer.known()?) };
    let phase = Phase::begin("parse");
    let reading = Reading { origin, rules, languages: &languages, known: known.as_ref(), watcher, room: &room };
    let mut credentials: Vec<String> = Vec::new();
    reading.read_all(&files, &to_read, &mut |place, read, credential| {
        let path = &files[place].path;
        credentials.extend(credential.then(|| path.clone()));
        states[place] = match read {
            Read::Skipped(reason) => Err(reason),
            Read::Held(id) => Ok(id),
            Read::New(prepared, failure) => {
                if let Some(failure) = failure {
                    warnings.push(format!("{path}: {failure}"));
                }
                Ok(writer.add(*prepared)?)
            }
        };
        Ok(())
    })?;
    if let Origin::Commit(reader) = origin {
        warnings.extend(reader.finish()?);
    }
    let credentials = discover::credentials(credentials);
    warnings.extend(credentials.map(|what| format!("{what}; {}", discover::CREDENTIALS_REMEDY)));
    drop(phase);
    // Racy files are often unchanged, and then need no new publication.
    if let Some(base) = base.as_ref().filter(|base| same(base, &files, &inputs, config, options))
        && base.facts().partial == partial
        && base.table().iter().zip(&states).all(|(row, state)| row.state == *state)
        && (!looked_at_all || base.facts().git_head == sidecar.git_head)
        && registry.get(&sidecar.repo).is_some()
    {
        drop(writer);
        return Ok(nothing_done(&store, sidecar, base.facts(), warnings, discovery, started));
    }
    let entries: Vec<Entry> = files.into_iter().zip(states).map(|(file, state)| Entry { file, state }).collect();

    let mut report = Report {
        facts: SnapshotFacts::default(),
        added: Vec::new(),
        changed: Vec::new(),
        removed: Vec::new(),
        warnings,
        discovery,
        parsing: Duration::ZERO,
        sidecar,
    };
    compare(base.as_ref(), &entries, &mut report);
    let mut counts: BTreeMap<String, u64> =
        skipped.iter().map(|(reason, n)| (reason.as_str().to_owned(), *n)).collect();
    if let Some(base) = base.as_ref().filter(|_| !looked_at_all) {
        // Counts of unchecked files carry over; files left out for their content are counted below.
        counts = base.facts().skipped.clone();
        for row in base.table().iter() {
            if let Err(reason) = row.state
                && let Some(count) = counts.get_mut(reason.as_str())
            {
                *count = count.saturating_sub(1);
            }
        }
    }
    for reason in entries.iter().filter_map(|entry| entry.state.err()) {
        *counts.entry(reason.as_str().to_owned()).or_default() += 1;
    }
    counts.retain(|_, count| *count > 0);
    let facts = SnapshotFacts {
        indexed_at: if looked_at_all { nanoseconds(now) / 1_000_000_000 } else { report.sidecar.indexed_at },
        skipped: counts,
        git_head: report.sidecar.git_head.clone(),
        extra_ignore: options.extra_ignore.clone(),
        allow_secrets: rules.secrets.patterns().to_vec(),
        roles,
        follow_symlinks: options.follow_symlinks,
        partial,
        root_inode: match (origin, base.as_ref().filter(|_| !looked_at_all)) {
            // The recorded times of unchecked files belong to the root of the base.
            (_, Some(base)) => base.facts().root_inode,
            (Origin::Folder(root), None) => place::inode(root),
            (Origin::Commit(_), None) => None,
        },
        ..SnapshotFacts::default()
    };
    if watcher.cancelled.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    (watcher.progress)(entries.len() as u64, Some(entries.len() as u64), "writing the index");
    let _phase = Phase::begin("write");
    report.facts = writer.commit(&report.sidecar.snapshot, &entries, &inputs, facts)?;
    fill(&mut report.sidecar, &report.facts);
    registry.put(&report.sidecar)?;
    report.parsing = started.elapsed();
    Ok(report)
}

/// Report of a run that found no changes. No commit will remove what killed runs left, so this does.
fn nothing_done(
    store: &Store,
    mut sidecar: Sidecar,
    facts: &SnapshotFacts,
    warnings: Vec<String>,
    discovery: Duration,
    started: Instant,
) -> Report {
    store.tidy();
    fill(&mut sidecar, facts);
    let (added, changed, removed) = (Vec::new(), Vec::new(), Vec::new());
    Report { sidecar, facts: facts.clone(), added, changed, removed, warnings, discovery, parsing: started.elapsed() }
}

/// Whether a snapshot holds exactly these files, unchanged.
fn same(snapshot: &Snapshot, files: &[SourceFile], inputs: &[Input], config: &Config, options: &Options) -> bool {
    let table = snapshot.table();
    let facts = snapshot.facts();
    table.len() == files.len()
        && table.inputs().len() == inputs.len()
        && facts.extra_ignore == options.extra_ignore
        && facts.allow_secrets == config.secrets.patterns()
        && facts.roles == config.all_roles()
        && facts.follow_symlinks == options.follow_symlinks
        && table.iter().zip(files).all(|(row, file)| row.path == file.path && row.is_as(file))
        && table.inputs().zip(inputs).all(|(row, input)| row.to_input() == *input)
}

/// Copies the facts for lists of repositories, and those needed for a rebuild.
fn fill(sidecar: &mut Sidecar, facts: &SnapshotFacts) {
    sidecar.indexed_at = facts.indexed_at;
    sidecar.file_count = facts.files;
    sidecar.symbol_count = facts.symbols;
    sidecar.languages = facts.languages.clone();
    sidecar.git_head = facts.git_head.clone();
    sidecar.extra_ignore = facts.extra_ignore.clone();
    sidecar.follow_symlinks = facts.follow_symlinks;
}

/// Nanoseconds since 1970.
fn nanoseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}
