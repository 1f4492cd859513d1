//! Indexing of a commit of a remote repository.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::project::{OfProject, of_tree};
use super::{Error, Job, Options, Origin, Plan, Report, RunControl, RunGuard, run};
use codelode_base::config::{Config, Secrets};
use codelode_base::model::{SkipReason, SourceError, SourceFile, SourceTree, TreeEntry};
use codelode_source::discover::{self, Rules};
use codelode_source::git::{Remote, short_name};
use codelode_store::{self as store, Registry, RemoteFacts, Sidecar};

/// Unreadable files listed by name in warnings.
const NAMED: usize = 20;

/// Sidecar of a repository's ref, whether or not an index exists yet. All refs of a repository share one store.
/// `default` marks the ref that is used when none is named.
pub fn sidecar_of_remote(remote: &Remote, reference: &str, default: bool) -> Sidecar {
    let name = short_name(reference);
    let repo = remote.id((!default).then_some(name));
    Sidecar {
        store: Registry::key(&PathBuf::from(remote.identity())),
        snapshot: Registry::key(&PathBuf::from(format!("{} {reference}", remote.identity()))),
        // A bare name means the default branch, so only that has it.
        origin: default.then(|| remote.name().to_owned()),
        root: PathBuf::from(remote.url()),
        held_in: Vec::new(),
        repo,
        indexed_at: 0,
        file_count: 0,
        symbol_count: 0,
        languages: BTreeMap::new(),
        git_head: None,
        extra_ignore: Vec::new(),
        follow_symlinks: false,
        remote: Some(RemoteFacts { url: remote.url(), reference: reference.to_owned(), tree: String::new() }),
        package: None,
        installed_in: Vec::new(),
    }
}

/// Report of an existing index of this commit, if this version made it.
pub fn unchanged(registry: &Registry, sidecar: &Sidecar, commit: &str, secrets: &Secrets) -> Option<Report> {
    let known = registry.get(&sidecar.repo).filter(|known| known.git_head.as_deref() == Some(commit))?;
    if known.snapshot != sidecar.snapshot {
        return None;
    }
    let snapshot = registry.store(&known.store).snapshot(&known.snapshot).ok()?;
    let facts = snapshot.facts().clone();
    let is_by_the_rules = snapshot.content_version() == store::CONTENT && facts.allow_secrets == secrets.patterns();
    (is_by_the_rules && facts.git_head.as_deref() == Some(commit)).then(|| Report {
        sidecar: known,
        facts,
        added: Vec::new(),
        changed: Vec::new(),
        removed: Vec::new(),
        warnings: Vec::new(),
        discovery: Default::default(),
        parsing: Default::default(),
    })
}

/// Indexes the files of a commit, or updates an index to it. Only contents missing from the index are read.
/// `max_files` is the limit of the transport.
pub fn index_tree(
    tree: &dyn SourceTree,
    mut sidecar: Sidecar,
    max_files: Option<usize>,
    config: &Config,
    options: &Options,
    watcher: &RunControl<'_>,
) -> Result<Report, Error> {
    let started = Instant::now();
    let posted = RunGuard::new(&sidecar.repo);
    let watcher = &RunControl { progress: &posted.with(watcher.progress), ..*watcher };
    (watcher.progress)(0, None, "looking for files");
    let entries = tree.entries()?;
    let OfProject { config, warnings, .. } = of_tree(tree, &entries, config);
    let config = &config;
    let mut rules = super::rules(config);
    rules.extra_ignore.extend(options.extra_ignore.iter().cloned());
    rules.max_files = [rules.max_files, max_files].into_iter().flatten().min();
    let mut walk = discover::choose(tree, &entries, &rules)?;
    walk.warnings.extend(warnings);
    sidecar.git_head = Some(tree.commit().to_owned());
    if let Some(remote) = &mut sidecar.remote {
        remote.tree = tree.tree().to_owned();
    }
    let by_path = entries.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    let sibling = sibling(&Registry::new(&config.home), &sidecar);
    let reader = Reader { tree, by_path, sibling, failures: Mutex::default() };
    let plan = Plan::of(walk, started.elapsed());
    let job = Job { origin: &Origin::Commit(reader), config, rules: &rules, options, watcher };
    run(&job, sidecar, plan)
}

/// The ref of the same repository that was indexed last.
fn sibling(registry: &Registry, sidecar: &Sidecar) -> Option<String> {
    let shares =
        |other: &Sidecar| other.store == sidecar.store && other.snapshot != sidecar.snapshot && other.remote.is_some();
    let others = registry.all().into_iter().filter(shares);
    others.max_by_key(|other| other.indexed_at).map(|other| other.snapshot)
}

/// Reader for the files of a commit.
pub(super) struct Reader<'a> {
    tree: &'a dyn SourceTree,
    by_path: HashMap<&'a str, &'a TreeEntry>,
    /// Snapshot of another ref in the same store.
    pub(super) sibling: Option<String>,
    failures: Mutex<Vec<SourceError>>,
}

impl Reader<'_> {
    /// Announces the files that will be read.
    pub(super) fn prepare(&self, files: &[SourceFile], places: &[usize]) -> Result<(), SourceError> {
        let wanted: Vec<&TreeEntry> =
            places.iter().filter_map(|place| self.by_path.get(files[*place].path.as_str()).copied()).collect();
        self.tree.prepare(&wanted)
    }

    pub(super) fn read(&self, file: &SourceFile, rules: &Rules) -> Result<Vec<u8>, SkipReason> {
        let entry = self.by_path.get(file.path.as_str()).ok_or(SkipReason::Missing)?;
        let bytes = self.tree.read(entry).map_err(|err| {
            let reason = discover::reason(&err);
            self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(err);
            reason
        })?;
        // A source may not know sizes in advance.
        if bytes.len() as u64 > rules.max_file_size.max(file.size) {
            return Err(SkipReason::TooLarge);
        }
        discover::text(bytes)
    }

    /// Warnings about unreadable files; an error when the source as a whole failed.
    pub(super) fn finish(&self) -> Result<Vec<String>, Error> {
        let mut failures = std::mem::take(&mut *self.failures.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(whole) = failures.iter().position(|err| matches!(err, SourceError::Failed(_))) {
            return Err(failures.swap_remove(whole).into());
        }
        let mut warnings: Vec<String> = failures.iter().map(ToString::to_string).collect();
        warnings.sort_unstable();
        let rest = warnings.len().saturating_sub(NAMED);
        warnings.truncate(NAMED);
        if rest > 0 {
            warnings.push(format!("and {rest} more files that could not be read"));
        }
        Ok(warnings)
    }
}
