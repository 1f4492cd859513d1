//! Indexing of a folder: choose the files, read the changed ones, extract them in parallel, commit.

mod activity;
mod batches;
mod compiler;
mod drift;
mod earlier;
mod embed;
mod excerpt;
mod external;
mod joined;
mod links;
mod location;
mod memory;
mod omitted;
mod package;
mod partial;
mod project;
mod read;
mod rebuild;
mod relate;
mod run;
mod shipped;
mod summarize;
mod tree;
mod unsaved;

use activity::RunGuard;
pub use activity::{Run, runs};
pub use drift::{Drift, drift, refresh};
pub use embed::{
    EmbedError, Embedded, Embedding, TextsWithoutVector, embed, estimated_tokens, meanings, missing, text,
};
pub use excerpt::{Excerpt, files_of_large, index_excerpt, index_excerpt_in, is_excerpt};
pub use external::{ExternalFile, ExternalMeaning, meant_in};
pub use joined::{CompilerState, compiler_state};
pub use links::{Link, Linked, LinkedImport, Links, imported, importers, links, may_import, modules_of};
pub use location::{is_gone, is_linked, owner, was_removed};
pub use omitted::{Omitted, all_left_out, large_sources, left_out};
pub use package::{identified, index_package, sidecar_of_package};
pub use partial::{LeftOut, drift_of};
pub use project::{OfProject, of_project};
use read::Origin;
pub use rebuild::rebuild;
pub use relate::{are_whole, can_relate, relations};
use run::{Job, Plan, run};
pub use shipped::GitHashes;
pub use summarize::{Summarized, Summarizing, SummaryError, Unsummarized, summarize, unsummarized};
pub use tree::{index_tree, sidecar_of_remote, unchanged};
pub use unsaved::{EditCache, RebindScope, Unsaved, bind_ahead, relations_with_unsaved, with_unsaved};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use codelode_base::config::Config;
use codelode_base::model::{Phase, Progress};
use codelode_lang::extract::Limits;
use codelode_source::discover::{self, Rules};
use codelode_source::git;
use codelode_store::{self as store, Registry, Sidecar, SnapshotFacts};

/// Folders of virtual file systems, which hold no real files.
const NO_FILES: [&str; 4] = ["/dev", "/proc", "/run", "/sys"];

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
    /// Limits on reading a file, instead of the usual ones.
    pub limits: Option<Limits>,
    /// Files of a first run per publication; zero for the default.
    pub publish_every: usize,
    /// Maximum number of files; larger folders are not indexed.
    pub at_most: Option<usize>,
    /// Index that a compiler made, in the form of SCIP, by its absolute path.
    pub compiler: Option<PathBuf>,
    /// Content hashes of a snapshot made elsewhere, whose unchanged files need not be read.
    pub shipped: Option<Arc<GitHashes>>,
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
pub struct RunControl<'a> {
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
    Source(#[from] codelode_base::model::SourceError),
    /// The folder exceeds the limit on the number of files.
    #[error("more than {0} files")]
    TooMany(usize),
    /// The index of a compiler that was given cannot be read.
    #[error("{0} was not used: {1}")]
    Compiler(String, String),
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
        held_in: location::holders(root),
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
        installed_in: Vec::new(),
    }
}

/// Indexes a folder, or updates its index. An unusable index is rebuilt.
pub fn index_folder(
    root: &Path,
    config: &Config,
    options: &Options,
    watcher: &RunControl<'_>,
) -> Result<Report, Error> {
    match index_once(root, config, options, watcher) {
        Err(Error::Store(err)) if err.is_of_no_use() && !options.from_scratch => {
            let anew = Options { from_scratch: true, ..options.clone() };
            rebuild::anew(&err, || index_once(root, config, &anew, watcher))
        }
        other => other,
    }
}

fn index_once(root: &Path, config: &Config, options: &Options, watcher: &RunControl<'_>) -> Result<Report, Error> {
    let started = Instant::now();
    let sidecar = sidecar_of(root, config);
    let posted = RunGuard::new(&sidecar.repo);
    let watcher = &RunControl { progress: &posted.with(watcher.progress), ..*watcher };
    (watcher.progress)(0, None, "looking for files");
    // Read before the walk: an index that is published later may hold changes that this walk has not seen.
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
    let compiled = base.as_ref().and_then(|facts| facts.compiler.as_ref()).filter(|_| !options.from_scratch);
    walk.add_input(compiler::seen(&Origin::Folder(root), options, compiled));
    if let Some(most) = options.at_most.filter(|most| walk.files.len() > *most) {
        return Err(Error::TooMany(most));
    }
    let plan = Plan { base: base.map(|facts| facts.number), ..Plan::of(walk, started.elapsed()) };
    let every = if options.publish_every > 0 { options.publish_every } else { PUBLISH_EVERY };
    let job = Job { origin: &Origin::Folder(root), config, rules: &rules, options, watcher };
    match plan.files.len() > every + every / 2 {
        true => run_in_parts(&job, sidecar, plan, every),
        false => run(&job, sidecar, plan),
    }
}

/// Runs a plan. A first run publishes its files in batches, so that an interrupted one can resume.
fn run_in_parts(job: &Job<'_>, sidecar: Sidecar, mut plan: Plan, every: usize) -> Result<Report, Error> {
    let store = Registry::new(&job.config.home).store(&sidecar.store);
    let watcher = job.watcher;
    let mut options = job.options.clone();
    let (mut added, mut warnings) = (Vec::new(), Vec::new());
    let total = plan.files.len();
    // Converts the progress in a part, which ends at file `end`, to progress in all.
    let tell_of_all = |end: usize, done: u64, of: Option<u64>, what: &str| {
        let before = end as u64 - of.unwrap_or(0);
        (watcher.progress)(before + done, Some(total as u64), what);
    };
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
        let tell = |done: u64, of: Option<u64>, what: &str| tell_of_all(end, done, of, what);
        let files = plan.files[..end].to_vec();
        let part = Plan { base: plan.base, partial: true, ..Plan::of_files(files, plan.discovery) };
        let watcher = RunControl { progress: &tell, ..*watcher };
        let report = run(&Job { options: &options, watcher: &watcher, ..*job }, sidecar.clone(), part)?;
        plan.base = Some(report.facts.number);
        added.extend(report.added);
        warnings.extend(report.warnings);
        options.from_scratch = false;
    }
    let tell = |done: u64, of: Option<u64>, what: &str| tell_of_all(total, done, of, what);
    let watcher = RunControl { progress: &tell, ..*watcher };
    let report = run(&Job { options: &options, watcher: &watcher, ..*job }, sidecar, plan)?;
    added.extend(report.added);
    warnings.extend(report.warnings);
    Ok(Report { added, warnings, ..report })
}

/// Removes the index of a checkout, and its store when no other checkout uses it.
pub fn forget(registry: &Registry, sidecar: &Sidecar, patience: Duration) -> Result<(), Error> {
    registry.store(&sidecar.store).forget(&sidecar.snapshot, patience)?;
    registry.remove(&sidecar.repo)?;
    Ok(())
}

/// The discovery rules of a configuration.
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

/// Facts of a checkout's index.
fn published(sidecar: &Sidecar, config: &Config) -> Option<SnapshotFacts> {
    let manifest = Registry::new(&config.home).store(&sidecar.store).manifest().ok()?;
    manifest.snapshots.get(&sidecar.snapshot).cloned()
}
