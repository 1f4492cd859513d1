//! Keeper: a thread that keeps the index of one checkout fresh.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, never, select, unbounded};

use super::ask::{self, KeeperAnswer};
use super::listen::{Lease, ListenerHandle, Question, QuestionChannel};
use super::notifier::{self, Changes, EXACT, Notifier, WatchError};
use super::{Error, LogLine, Options};
use crate::pipeline::{self, Drift, LeftOut, Report, RunControl};
use codelode_base::allocator;
use codelode_base::config::Config;
use codelode_base::model::{on_disk, spelled};
use codelode_store::{self as store, Registry, Sidecar, Snapshot, Store};

/// Time to wait for another process that writes the same index.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest delay of events from the system. If one takes longer, notifications are unreliable.
const TOLD_WITHIN: Duration = Duration::from_secs(1);
/// Maximum delay of changes under constant activity, as a multiple of the debounce time.
const MOST_QUIET: u32 = 10;
/// Minimum interval of scans without notifications, and the pause after a scan as a multiple of its duration.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const REST: u32 = 50;
/// Interval of checks whether another process still keeps the checkout.
const TAKE_OVER: Duration = Duration::from_secs(2);
/// Interval of scans for unreported changes, such as writes through a memory map, while there are questions or edits.
const LOOK_ANYWAY: Duration = Duration::from_secs(60);
/// Idle time after which free memory is returned to the system.
const QUIET: Duration = Duration::from_secs(2);
/// Interval of retries after a failure.
const RETRY: Duration = Duration::from_secs(2);

/// Time without questions after which an automatically kept checkout is dropped.
const UNASKED: Duration = Duration::from_secs(10 * 60);

/// Reason for keeping a checkout.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// Requested explicitly.
    Wanted,
    /// Kept automatically while there are questions about it, which then need no scan.
    ByTheWay,
}

/// Handle of a keeper, which stops when this is dropped.
pub(super) struct Keeper {
    stop: Option<Sender<()>>,
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<End>>,
    asking: QuestionChannel,
    answers: Arc<AtomicBool>,
}

impl Keeper {
    /// Starts keeping the checkout at `root`: indexes it if necessary and continues in a thread of its own. If
    /// another process keeps it already, the thread waits for its end. [`Reason::ByTheWay`] returns `None` then, and
    /// also if there is no current index.
    pub(super) fn start(
        root: PathBuf,
        config: Config,
        options: Options,
        reason: Reason,
        notifier: &dyn Fn() -> Option<Arc<Notifier>>,
        tell: Arc<LogLine>,
    ) -> Result<Option<Self>, Error> {
        let registry = Registry::new(&config.home);
        registry.prepare();
        let sidecar = pipeline::sidecar_of(&root, &config);
        let store = registry.store(&sidecar.store);
        let refused = |problem: String| Error::Refused { root: root.clone(), problem };
        let lease = Lease::take(&config.home, &sidecar.snapshot).map_err(|err| refused(err.to_string()))?;
        if reason == Reason::ByTheWay && lease.is_none() {
            return Ok(None);
        }
        let snapshot = match newest(&store, &sidecar) {
            Ok(snapshot) if snapshot.content_version() == store::CONTENT => snapshot,
            _ if reason == Reason::ByTheWay => return Ok(None),
            found => index(&root, &config, &sidecar, &store, found.ok().as_ref(), &tell)?,
        };
        let (stop, stopped) = bounded(0);
        let (cancelled, answers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (sender, questions) = unbounded();
        let asking = QuestionChannel { questions: sender, busy_with: Arc::default() };
        let work = Work {
            stamp: store.stamp(),
            ours: snapshot.facts().number,
            standing_at: notifier::place(&root).ok(),
            root: root.clone(),
            config,
            options,
            reason,
            tell,
            sidecar,
            registry,
            store,
            snapshot,
            subscription: None,
            wanted: notifier(),
            backlog: Backlog { all: true, ..Backlog::default() },
            asking: asking.clone(),
            answers: Arc::clone(&answers),
            cancelled: Arc::clone(&cancelled),
            cookies: 0,
            left_out: LeftOut::default(),
            worked: None,
        };
        let thread = thread::Builder::new()
            .name("keeper".to_owned())
            .spawn(move || work.keep(lease, &stopped, &questions))
            .map_err(|err| refused(err.to_string()))?;
        Ok(Some(Self { stop: Some(stop), cancelled, thread: Some(thread), asking, answers }))
    }

    /// Channel for questions from this process; `None` while the keeper does not answer.
    pub(super) fn asking(&self) -> Option<QuestionChannel> {
        self.answers.load(Ordering::Acquire).then(|| self.asking.clone())
    }

    /// Whether the thread has ended by itself.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the thread and returns its reason for ending.
    pub(super) fn end(mut self) -> Option<End> {
        drop(self.stop.take());
        self.thread.take()?.join().ok()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        // The thread notices that the channel is closed.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Changes that are not in the index yet.
#[derive(Default)]
struct Backlog {
    /// Relative to the root.
    paths: BTreeSet<String>,
    /// Anything may have changed.
    all: bool,
    /// Some folders need new watches.
    lost: bool,
}

impl Backlog {
    fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.all && !self.lost
    }
}

/// A listener registration, removed on drop.
struct Subscription {
    notifier: Arc<Notifier>,
    who: u32,
    woken: Receiver<()>,
    /// Folder for cookie files.
    folder: PathBuf,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.notifier.leave(self.who);
        self.notifier.give_back(&self.folder);
    }
}

struct Work {
    root: PathBuf,
    config: Config,
    options: Options,
    reason: Reason,
    tell: Arc<LogLine>,
    sidecar: Sidecar,
    registry: Registry,
    store: Store,
    snapshot: Snapshot,
    /// Stamp of the manifest and table that the snapshot was read from.
    stamp: Option<(u64, u64, i64)>,
    ours: u64,
    /// Device and inode of the root when its folders were watched.
    standing_at: Option<(u64, u64)>,
    /// `None` while there are no notifications.
    subscription: Option<Subscription>,
    /// The notifier to use, if there is one.
    wanted: Option<Arc<Notifier>>,
    backlog: Backlog,
    asking: QuestionChannel,
    /// Set while the keeper answers questions.
    answers: Arc<AtomicBool>,
    cancelled: Arc<AtomicBool>,
    cookies: u64,
    left_out: LeftOut,
    /// Time of the last refresh, until the memory it used is returned to the system.
    worked: Option<(Instant, allocator::MemoryRelease)>,
}

/// Reason why a keeper ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Stopped,
    Idle,
    Gone,
    Forgotten,
    /// It cannot be kept automatically, as there are no notifications.
    Unfit,
}

impl Work {
    fn keep(mut self, lease: Option<Lease>, stopped: &Receiver<()>, questions: &Receiver<Question>) -> End {
        let Some(lease) = lease.map_or_else(|| self.wait_for_post(stopped), Some) else { return End::Stopped };
        let end = self.keep_at(&lease, stopped, questions);
        self.answers.store(false, Ordering::Release);
        let root = self.root.display();
        match end {
            End::Stopped | End::Unfit => {}
            End::Idle => (self.tell)(&format!("{root}: idle for long; no longer watched")),
            End::Forgotten => (self.tell)(&format!("{root}: its index was removed; no longer watched")),
            End::Gone => {
                let what = match pipeline::is_gone(&self.sidecar, &self.registry, &self.config) {
                    true => match pipeline::forget(&self.registry, &self.sidecar, PATIENCE) {
                        Ok(()) => "its index was removed".to_owned(),
                        Err(err) => format!("its index could not be removed: {err}"),
                    },
                    false => "its index is kept".to_owned(),
                };
                (self.tell)(&format!("{root} is gone; {what}"));
            }
        }
        drop(self.subscription.take());
        if matches!(end, End::Gone | End::Forgotten) {
            lease.give_up();
        }
        end
    }

    /// Waits until no other process keeps the checkout. `None` if stopped meanwhile.
    fn wait_for_post(&mut self, stopped: &Receiver<()>) -> Option<Lease> {
        (self.tell)(&format!("{}: another process watches it already", self.root.display()));
        loop {
            if stopped.recv_timeout(TAKE_OVER) != Err(crossbeam_channel::RecvTimeoutError::Timeout) {
                return None;
            }
            if let Ok(Some(lease)) = Lease::take(&self.config.home, &self.sidecar.snapshot) {
                (self.tell)(&format!("{}: watched by this process now", self.root.display()));
                return Some(lease);
            }
        }
    }

    fn keep_at(&mut self, lease: &Lease, stopped: &Receiver<()>, questions: &Receiver<Question>) -> End {
        self.begin_hearing(lease);
        if let Err(problem) = self.settle() {
            (self.tell)(&format!("{}: {problem}", self.root.display()));
        }
        self.store.tidy();
        let _listening = self.begin_listening(lease);
        self.answers.store(EXACT, Ordering::Release);
        let facts = self.snapshot.facts();
        let how = if self.subscription.is_some() { "watching" } else { "polling" };
        (self.tell)(&format!("{how} {}: {} files, {} symbols", self.root.display(), facts.files, facts.symbols));
        let (mut busy, mut looked, mut rest) = (Instant::now(), Instant::now(), LOOK_EVERY);
        let by_the_way = self.reason == Reason::ByTheWay;
        let idle_after = self.options.idle.or(by_the_way.then_some(UNASKED));
        let mut failed = false;
        loop {
            let told =
                self.subscription.as_ref().and_then(|subscription| subscription.notifier.told_when(subscription.who));
            let due = match told {
                Some((first, last)) => (last + self.options.debounce).min(first + self.options.debounce * MOST_QUIET),
                None if failed => looked + RETRY,
                None if self.subscription.is_none() => looked + rest,
                // The folder or its index may have been removed.
                None => looked + LOOK_ANYWAY,
            };
            if by_the_way && self.subscription.is_none() {
                return End::Unfit;
            }
            let idle = idle_after.map(|idle| busy + idle);
            // Waits for a pause in editing: free memory would be needed again at once.
            let rested = self.worked.as_ref().map(|(at, _)| *at + QUIET);
            let until = [idle, rested].into_iter().flatten().fold(due, Instant::min);
            let nobody = never();
            let woken = match (&self.subscription, told) {
                (Some(subscription), None) => &subscription.woken,
                _ => &nobody,
            };
            select! {
                recv(stopped) -> _ => return End::Stopped,
                recv(questions) -> question => {
                    busy = Instant::now();
                    let Ok(question) = question else { return End::Stopped };
                    let all = std::iter::once(question).chain(questions.try_iter()).collect();
                    failed = !self.answer(all);
                }
                // For an automatically kept checkout, only questions count as activity.
                recv(woken) -> _ => if !by_the_way { busy = Instant::now() },
                default(until.saturating_duration_since(Instant::now())) => {
                    let now = Instant::now();
                    if idle.is_some_and(|idle| now >= idle) && (told.is_none() || by_the_way) {
                        return End::Idle;
                    }
                    if rested.is_some_and(|rested| now >= rested) {
                        self.worked = None;
                    }
                    if now < due {
                        continue;
                    }
                    if self.subscription.is_none() || (told.is_none() && busy > looked) {
                        self.backlog.all = true;
                    }
                    let outcome = self.settle();
                    if told.is_none() {
                        self.store.tidy();
                    }
                    looked = Instant::now();
                    rest = LOOK_EVERY.max(self.options.debounce).max(now.elapsed() * REST);
                    failed = outcome.is_err();
                    if let Err(problem) = outcome {
                        (self.tell)(&format!("{}: {problem}; trying again", self.root.display()));
                    }
                }
            }
            if !self.root.is_dir() {
                return End::Gone;
            }
            if self.store.stamp().is_none() || self.registry.get(&self.sidecar.repo).is_none() {
                return End::Forgotten;
            }
        }
    }

    /// Answers questions; returns whether all earlier changes are in the index.
    fn answer(&mut self, questions: Vec<Question>) -> bool {
        if self.subscription.is_none() {
            // Clients can scan as well as the keeper.
            questions.iter().for_each(|question| drop(question.reply.send(None)));
            return true;
        }
        let caught_up = self.catch_up();
        let settled = match caught_up {
            true => self.settle(),
            false => Err("the system does not report changes".to_owned()),
        };
        let here = notifier::place(&self.root).ok();
        for question in questions {
            let knows = settled.is_ok() && self.subscription.is_some() && here == Some(question.root);
            let _ = question.reply.send(knows.then_some(KeeperAnswer::Fresh));
        }
        if let (true, Err(problem)) = (caught_up, &settled) {
            (self.tell)(&format!("{}: {problem}", self.root.display()));
        }
        settled.is_ok()
    }

    fn begin_listening(&self, lease: &Lease) -> Option<ListenerHandle> {
        match EXACT.then(|| lease.listen(self.asking.clone()))? {
            Ok(listening) => Some(listening),
            Err(err) => {
                let what = "others cannot ask whether it is fresh";
                (self.tell)(&format!("{}: {what}: {err}", self.root.display()));
                None
            }
        }
    }

    /// Subscribes to notifications where they are reliable.
    fn begin_hearing(&mut self, lease: &Lease) {
        let Some(notifier) = self.wanted.clone() else { return };
        let problem = match () {
            () if self.snapshot.facts().follow_symlinks => Some("links are followed".to_owned()),
            () if notifier::is_remote(&self.root) => Some("it is on a network file system".to_owned()),
            () => notifier.set_apart(lease.folder()).err().map(|err| err.to_string()),
        };
        match problem {
            Some(problem) => {
                let what = "it is polled instead of watched";
                (self.tell)(&format!("{}: {problem}; {what}", self.root.display()));
            }
            None => {
                let (who, woken) = notifier.listener();
                self.subscription = Some(Subscription { notifier, who, woken, folder: lease.folder().to_owned() });
                self.backlog = Backlog { all: true, lost: true, ..Backlog::default() };
            }
        }
    }

    /// Waits until all events before this call have been received.
    fn catch_up(&mut self) -> bool {
        let Some(subscription) = &self.subscription else { return true };
        self.cookies += 1;
        subscription.notifier.catch_up(&subscription.folder, self.cookies, TOLD_WITHIN)
    }

    /// Updates the index with all changes so far.
    fn settle(&mut self) -> Result<(), String> {
        loop {
            self.take_what_was_told();
            self.notice_others()?;
            if self.backlog.lost || self.backlog.all {
                self.follow();
            }
            let drift = match self.backlog.all || self.backlog.paths.len() > self.snapshot.table().len() / 2 {
                true => pipeline::drift(&self.root, &self.snapshot),
                false => {
                    let paths = self.backlog.paths.iter().map(String::as_str);
                    pipeline::drift_of(&self.root, &self.snapshot, paths, &mut self.left_out, &self.config)
                }
            };
            if drift.is_none() {
                self.backlog = Backlog::default();
            } else {
                self.refresh(&drift)?;
            }
            // The backlog counts too: a folder that is only now watched may have changed before.
            let more = self
                .subscription
                .as_ref()
                .is_some_and(|subscription| subscription.notifier.told_when(subscription.who).is_some());
            if !more && self.backlog.is_empty() {
                return Ok(());
            }
            if self.cancelled.load(Ordering::Relaxed) {
                return Err("stopped".to_owned());
            }
        }
    }

    fn take_what_was_told(&mut self) {
        if let Some(Changes { paths, all, lost, .. }) =
            self.subscription.as_ref().and_then(|subscription| subscription.notifier.take(subscription.who))
        {
            self.backlog.all |= all;
            self.backlog.lost |= lost || all;
            let inside =
                paths.iter().filter_map(|path| spelled(path.strip_prefix(&self.root).ok()?.as_os_str().as_bytes()));
            self.backlog.paths.extend(inside.map(Cow::into_owned));
        }
        let standing_at = notifier::place(&self.root).ok();
        if standing_at != self.standing_at {
            // The root was replaced by another folder.
            self.standing_at = standing_at;
            (self.backlog.all, self.backlog.lost) = (true, true);
        }
    }

    /// Loads the snapshot if another process has published one.
    fn notice_others(&mut self) -> Result<(), String> {
        let stamp = self.store.stamp();
        if stamp == self.stamp {
            return Ok(());
        }
        self.snapshot = newest(&self.store, &self.sidecar).map_err(|err| err.to_string())?;
        self.stamp = stamp;
        if self.snapshot.facts().number != self.ours {
            self.ours = self.snapshot.facts().number;
            (self.backlog.all, self.backlog.lost) = (true, true);
        }
        Ok(())
    }

    /// Watches the folders of the snapshot; falls back to periodic scans if that fails.
    fn follow(&mut self) {
        let Some(subscription) = &self.subscription else {
            self.backlog.lost = false;
            return;
        };
        let folders = match EXACT {
            true => folders(&self.root, &self.snapshot),
            false => BTreeSet::from([self.root.clone()]),
        };
        let followed = match self.reason {
            Reason::ByTheWay if subscription.notifier.with(subscription.who, &folders) > notifier::most_watches() => {
                Err(WatchError::Spare)
            }
            _ => subscription.notifier.follow(subscription.who, &folders),
        };
        match followed {
            Ok(is_new) => {
                self.backlog.all |= is_new;
                self.backlog.lost = false;
            }
            Err(err) => {
                let what = "it is polled instead of watched";
                (self.tell)(&format!("{}: {err}; {what}", self.root.display()));
                self.subscription = None;
                self.backlog = Backlog { all: true, ..Backlog::default() };
            }
        }
    }

    /// Indexes the changed files.
    fn refresh(&mut self, drift: &Drift) -> Result<(), String> {
        let names = drift.changed.iter().chain(&drift.gone).take(ask::MOST_PATHS).cloned().collect();
        *self.asking.busy_with.lock().unwrap_or_else(PoisonError::into_inner) = names;
        let started = Instant::now();
        let watcher =
            RunControl { progress: &codelode_base::model::unfollowed, cancelled: &self.cancelled, patience: PATIENCE };
        let outcome = pipeline::refresh(&self.sidecar, &self.snapshot, drift, &self.config, &watcher);
        self.asking.busy_with.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let report = outcome.map_err(|err| err.to_string())?;
        let stamp = self.store.stamp();
        self.snapshot = newest(&self.store, &self.sidecar).map_err(|err| err.to_string())?;
        self.stamp = stamp;
        let work = self.worked.take().map_or_else(allocator::work, |(_, work)| work);
        self.worked = Some((Instant::now(), work));
        self.tell_of(&report, started.elapsed());
        if drift.elsewhere || !drift.gone.is_empty() {
            self.left_out.learn(&self.root, &self.snapshot, &self.config);
        }
        self.backlog = Backlog::default();
        if self.snapshot.facts().number != report.facts.number {
            // Another process has published right after this one.
            self.backlog = Backlog { all: true, lost: true, ..Backlog::default() };
        } else if drift.elsewhere || !drift.gone.is_empty() || !report.added.is_empty() {
            // There may be new folders; a full scan finds changes in them from before they were watched.
            self.follow();
        }
        self.ours = self.snapshot.facts().number;
        Ok(())
    }

    fn tell_of(&self, report: &Report, took: Duration) {
        let counts = [("changed", &report.changed), ("new", &report.added), ("gone", &report.removed)];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(_, files)| !files.is_empty())
            .map(|(what, files)| match &files[..] {
                [file] => format!("{file} {what}"),
                files => format!("{} {what}", files.len()),
            })
            .collect();
        if !counts.is_empty() {
            let counts = counts.join(", ");
            (self.tell)(&format!("{}: {counts}, {} ms", self.root.display(), took.as_millis()));
        }
    }
}

/// The newest published snapshot. Its whole table is checked, because clients rely on the keeper for that.
fn newest(store: &Store, sidecar: &Sidecar) -> Result<Snapshot, store::Error> {
    let snapshot = store.snapshot(&sidecar.snapshot)?;
    snapshot.table().check_all()?;
    Ok(snapshot)
}

/// Folders entered by the walk; changes elsewhere do not matter.
fn folders(root: &Path, snapshot: &Snapshot) -> BTreeSet<PathBuf> {
    let entered = snapshot.table().inputs().filter(|row| row.is_dir);
    // Joining an empty path would add a trailing slash.
    entered.map(|row| if row.path.is_empty() { root.to_owned() } else { on_disk(root, row.path) }).collect()
}

/// Indexes a checkout, with its previous options if it was indexed before.
fn index(
    root: &Path,
    config: &Config,
    sidecar: &Sidecar,
    store: &Store,
    before: Option<&Snapshot>,
    tell: &Arc<LogLine>,
) -> Result<Snapshot, Error> {
    tell(&format!("indexing {}", root.display()));
    let known = Registry::new(&config.home).get(&sidecar.repo);
    let options = pipeline::Options::as_before(before.map(Snapshot::facts), known.as_ref());
    let watcher = RunControl {
        progress: &codelode_base::model::unfollowed,
        cancelled: &AtomicBool::new(false),
        patience: PATIENCE,
    };
    pipeline::index_folder(root, config, &options, &watcher)?;
    newest(store, sidecar).map_err(|err| Error::Pipeline(err.into()))
}
