//! A run: reads the changed files of a plan, and commits a snapshot.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::compiler::{self, Compiler};
use super::earlier::{EarlierRows, compare};
use super::memory::MemoryPlan;
use super::read::{Origin, ReadContext, ReadOutcome};
use super::{Error, Options, Report, RunControl, index_folder, location};
use codelode_base::allocator;
use codelode_base::config::Config;
use codelode_base::model::{Input, Languages, Phase, SkipReason, SourceFile};
use codelode_source::discover::{self, Rules};
use codelode_store::{
    self as store, CompiledTable, Entry, FileView, Registry, Sidecar, Snapshot, SnapshotFacts, Store, Writer,
};

/// Files modified within this time before a look may change again within the same tick of the file system's clock, so
/// their times are not trusted next time (the "racy git" problem).
const RACY: Duration = Duration::from_millis(20);

/// Clock skew that is tolerated, as for a server whose clock is ahead. Times further ahead were set deliberately: the
/// next edit has another time.
const AHEAD: Duration = Duration::from_secs(2);

/// Files to index.
pub(super) struct Plan {
    pub files: Vec<SourceFile>,
    pub inputs: Vec<Input>,
    pub skipped: BTreeMap<SkipReason, u64>,
    pub warnings: Vec<String>,
    /// Commit that was published before the first file was checked, if any.
    pub base: Option<u64>,
    /// Whether every file was checked; the others are as in the base.
    pub looked_at_all: bool,
    /// Whether the folder has more files than the plan.
    pub partial: bool,
    pub discovery: Duration,
}

impl Plan {
    /// Creates a plan of these files only.
    pub fn of_files(files: Vec<SourceFile>, discovery: Duration) -> Self {
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
    pub fn of(walk: discover::Walk, discovery: Duration) -> Self {
        let discover::Walk { files, inputs, skipped, warnings, left_out: _ } = walk;
        Self { files, inputs, skipped, warnings, base: None, looked_at_all: true, partial: false, discovery }
    }

    /// Shifts the recorded times of racy files so that they never match, even if shifted before, and the files are read
    /// again. Returns which files are racy.
    fn doubt(&mut self, now: SystemTime) -> Vec<bool> {
        let after = nanoseconds(now) - RACY.as_nanos() as i64 - self.discovery.as_nanos() as i64;
        let until = nanoseconds(now) + AHEAD.as_nanos() as i64;
        let is_recent = |time_ns: i64| time_ns > after && time_ns <= until;
        let is_racy = |mtime_ns: i64, ctime_ns: i64| is_recent(mtime_ns) || is_recent(ctime_ns);
        let doubted: Vec<bool> = self.files.iter().map(|file| is_racy(file.mtime_ns, file.ctime_ns)).collect();
        self.files.iter_mut().zip(&doubted).for_each(|(file, doubted)| file.mtime_ns -= i64::from(*doubted));
        self.inputs.iter_mut().for_each(|input| input.mtime_ns -= i64::from(is_racy(input.mtime_ns, input.ctime_ns)));
        doubted
    }

    /// Marks files whose reading was cut off by time as racy.
    fn doubt_timed_out(&self, snapshot: &Snapshot, doubted: &mut [bool]) {
        for file in snapshot.files().filter(FileView::timed_out) {
            let place = self.files.binary_search_by(|other| other.path.as_str().cmp(file.path()));
            place.into_iter().for_each(|place| doubted[place] = true);
        }
    }

    /// Counts of files that are left out, by reason.
    fn left_out(&self, base: Option<&Snapshot>, entries: &[Entry]) -> BTreeMap<String, u64> {
        let mut counts: BTreeMap<String, u64> =
            self.skipped.iter().map(|(reason, n)| (reason.as_str().to_owned(), *n)).collect();
        if let Some(base) = base.filter(|_| !self.looked_at_all) {
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
        counts
    }
}

/// The context of a run, without the plan and the checkout.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub origin: &'a Origin<'a>,
    pub config: &'a Config,
    pub rules: &'a Rules,
    pub options: &'a Options,
    pub watcher: &'a RunControl<'a>,
}

/// Runs a plan: reads changed files and commits a snapshot.
pub(super) fn run(job: &Job<'_>, sidecar: Sidecar, mut plan: Plan) -> Result<Report, Error> {
    let Job { origin, config, options, watcher, .. } = *job;
    let (started, now) = (Instant::now(), SystemTime::now());
    let registry = Registry::new(&config.home);
    registry.prepare();
    let store = registry.store(&sidecar.store);
    let mut doubted = plan.doubt(now);
    let published = store.snapshot(&sidecar.snapshot).ok().filter(is_current);
    if let Some(snapshot) = published.as_ref().filter(|_| plan.looked_at_all) {
        plan.doubt_timed_out(snapshot, &mut doubted);
    }

    // Unchanged indexes are detected before taking the write lock.
    if !options.from_scratch
        && options.reread.is_empty()
        && !doubted.contains(&true)
        && let Some(snapshot) = &published
        && job.changes_nothing(snapshot, &plan, &sidecar, &registry)
    {
        return Ok(nothing_done(&store, sidecar, snapshot.facts(), plan, started));
    }
    drop(published);

    let mut writer = match options.from_scratch {
        true => store.writer_anew(watcher.patience)?,
        false => store.writer(watcher.patience)?,
    };
    let before = writer.base(&sidecar.snapshot)?.filter(|_| !options.from_scratch);
    let base = before.as_ref().filter(|before| is_current(before));
    // Another process has published since the plan was made, perhaps with later changes.
    if let Origin::Folder(root) = origin
        && !options.from_scratch
        && (writer.published(&sidecar.snapshot) != plan.base || (!plan.looked_at_all && base.is_none()))
    {
        drop(writer);
        return index_folder(root, config, options, watcher);
    }
    let roles = config.all_roles();
    let languages = Languages::of(&roles.languages).unwrap_or_default();
    let compiled = before.as_ref().and_then(|before| before.facts().compiler.as_ref());
    let mut compiler = Compiler::of(job, &mut writer, &mut plan, compiled)?;
    let doubted: Vec<bool> =
        plan.files.iter().zip(doubted).map(|(file, it)| it || compiler.reread.contains(&file.path)).collect();
    let (mut states, to_read) = job.sorted_out(&writer, base, &plan.files, &doubted, &languages)?;
    compiler.open_for(before.as_ref(), to_read.iter().map(|place| &plan.files[*place]))?;
    let table = compiler.table.as_ref();
    job.read(&mut writer, &mut plan, &to_read, (&languages, table), &mut states)?;
    // Racy files are often unchanged, and then need no new publication.
    if let Some(base) = base
        && base.table().iter().zip(&states).all(|(row, state)| row.state == *state)
        && job.changes_nothing(base, &plan, &sidecar, &registry)
    {
        drop(writer);
        return Ok(nothing_done(&store, sidecar, base.facts(), plan, started));
    }
    let files = std::mem::take(&mut plan.files);
    let entries: Vec<Entry> = files.into_iter().zip(states).map(|(file, state)| Entry { file, state }).collect();

    let mut report = Report {
        facts: SnapshotFacts::default(),
        added: Vec::new(),
        changed: Vec::new(),
        removed: Vec::new(),
        warnings: std::mem::take(&mut plan.warnings),
        discovery: plan.discovery,
        parsing: Duration::ZERO,
        sidecar,
    };
    compare(base, &entries, &mut report);
    let skipped = plan.left_out(base, &entries);
    let facts = job.facts(&plan, base, &report.sidecar, now);
    let facts = SnapshotFacts { skipped, roles, compiler: compiler.facts, ..facts };
    if watcher.cancelled.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    (watcher.progress)(entries.len() as u64, Some(entries.len() as u64), "writing the index");
    let _phase = Phase::begin("write");
    report.facts = writer.commit(&report.sidecar.snapshot, &entries, &plan.inputs, facts)?;
    fill(&mut report.sidecar, &report.facts);
    registry.put(&report.sidecar)?;
    report.parsing = started.elapsed();
    Ok(report)
}

/// Whether a snapshot was extracted by this version.
fn is_current(snapshot: &Snapshot) -> bool {
    snapshot.content_version() == store::CONTENT
}

/// The state of each file of a plan: its number in the store, or the reason for leaving it out.
type States = Vec<Result<u32, SkipReason>>;

impl Job<'_> {
    /// Whether a snapshot already matches a plan: files, facts and sidecar.
    fn changes_nothing(&self, snapshot: &Snapshot, plan: &Plan, sidecar: &Sidecar, registry: &Registry) -> bool {
        let compiled = snapshot.facts().compiler.as_ref();
        let seen = || compiler::seen(self.origin, self.options, compiled);
        snapshot.facts().partial == plan.partial
            && (plan.partial || compiler::is_as_read(seen().as_ref(), self.options, compiled))
            && same(snapshot, &plan.files, &plan.inputs, self.config, self.options)
            && (!plan.looked_at_all || snapshot.facts().git_head == sidecar.git_head)
            && registry.get(&sidecar.repo).is_some()
    }

    /// Takes over the states of unchanged files. Returns all states, and the indices of files to read.
    fn sorted_out(
        &self,
        writer: &Writer,
        base: Option<&Snapshot>,
        files: &[SourceFile],
        doubted: &[bool],
        languages: &Languages,
    ) -> Result<(States, Vec<usize>), Error> {
        let options = self.options;
        // Content identifies files, so files of another ref are reused like earlier files of this one.
        let sibling = match self.origin {
            Origin::Commit(reader) if base.is_none() && !options.from_scratch => match &reader.sibling {
                Some(sibling) => writer.base(sibling)?.filter(is_current),
                None => None,
            },
            _ => None,
        };
        let unchanged = match (self.origin, &options.shipped) {
            (Origin::Folder(root), Some(shipped)) => shipped.unchanged(root, files),
            _ => HashSet::new(),
        };
        let before = base.and_then(|base| Languages::of(&base.facts().roles.languages).ok()).unwrap_or_default();
        let mut earlier = EarlierRows::of(base.or(sibling.as_ref()));
        let (mut states, mut to_read) = (Vec::with_capacity(files.len()), Vec::new());
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
        Ok((states, to_read))
    }

    /// Reads files and adds their contents to the store.
    fn read(
        &self,
        writer: &mut Writer,
        plan: &mut Plan,
        to_read: &[usize],
        (languages, compiled): (&Languages, Option<&CompiledTable>),
        states: &mut States,
    ) -> Result<(), Error> {
        let Job { origin, config, rules, options, watcher } = *self;
        let Plan { files, warnings, .. } = plan;
        if let Origin::Commit(reader) = origin {
            reader.prepare(files, to_read)?;
        }
        let memory = MemoryPlan::of(config.max_memory);
        let memory = MemoryPlan { limits: options.limits.unwrap_or(memory.limits), ..memory };
        if config.max_memory.is_some() {
            allocator::keep_nothing();
            allocator::take_small_pages();
        }
        writer.expect(to_read.len(), memory.writer);
        let known = if options.from_scratch { None } else { Some(writer.known()?) };
        let _phase = Phase::begin("parse");
        let reading =
            ReadContext { origin, rules, languages, known: known.as_ref(), compiled, watcher, memory: &memory };
        let mut credentials: Vec<String> = Vec::new();
        reading.read_all(files, to_read, &mut |place, read, credential| {
            let path = &files[place].path;
            credentials.extend(credential.then(|| path.clone()));
            states[place] = match read {
                ReadOutcome::Skipped(reason) => Err(reason),
                ReadOutcome::Held(id) => Ok(id),
                ReadOutcome::New(prepared, failure) => {
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
        Ok(())
    }

    /// Facts of the new snapshot, without counts and roles.
    fn facts(&self, plan: &Plan, base: Option<&Snapshot>, sidecar: &Sidecar, now: SystemTime) -> SnapshotFacts {
        SnapshotFacts {
            indexed_at: if plan.looked_at_all { nanoseconds(now) / 1_000_000_000 } else { sidecar.indexed_at },
            git_head: sidecar.git_head.clone(),
            extra_ignore: self.options.extra_ignore.clone(),
            allow_secrets: self.rules.secrets.patterns().to_vec(),
            follow_symlinks: self.options.follow_symlinks,
            partial: plan.partial,
            root_inode: match (self.origin, base.filter(|_| !plan.looked_at_all)) {
                // The recorded times of unchecked files belong to the root of the base.
                (_, Some(base)) => base.facts().root_inode,
                (Origin::Folder(root), None) => location::inode(root),
                (Origin::Commit(_), None) => None,
            },
            ..SnapshotFacts::default()
        }
    }
}

/// The report of a run without changes. It also removes leftovers of killed runs, since no commit does.
fn nothing_done(store: &Store, mut sidecar: Sidecar, facts: &SnapshotFacts, plan: Plan, started: Instant) -> Report {
    store.tidy();
    fill(&mut sidecar, facts);
    let Plan { warnings, discovery, .. } = plan;
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
