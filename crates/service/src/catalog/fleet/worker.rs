//! A worker: takes jobs, indexes their commits, publishes the indexes, and reports the outcome.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::answer::{Code, Error, Request};
use crate::catalog::errors::{ship_error, store_error};
use crate::catalog::remotes::remote;
use crate::catalog::runs;
use crate::catalog::ship::{Target, push};
use crate::catalog::{Caller, Context};
use codelode_cluster::fleet::{Job, Lease, Node, Queue};
use codelode_cluster::ship::{self, LATEST, Newest, ShipmentControl, Source};
use codelode_index::pipeline;
use codelode_source::git::ResolvedRef;
use codelode_store::Sidecar;

/// The longest wait for a job before the worker checks whether to end.
const WAIT: Duration = Duration::from_secs(2);
/// Pause after a failure of the queue.
const PAUSE: Duration = Duration::from_secs(2);
/// The intervals of checking whether a job should end, and of reporting that the worker lives.
const LOOK: Duration = Duration::from_millis(100);
const TELL: Duration = Duration::from_secs(10);
/// The longest pause before a job is retried.
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);
/// The growth factor of the pauses between attempts.
const GROWTH: u32 = 4;
/// The number of tree listings kept in the place.
const KEEP: usize = 50;
/// Wait for another process that writes the same store.
const PATIENCE: Duration = Duration::from_secs(60);

/// A worker of a fleet.
pub struct Worker<'a> {
    /// The state of the process. Its index directory is for workers only.
    pub cx: &'a Context,
    /// The queue.
    pub queue: &'a Queue,
    /// The place for indexes.
    pub place: &'a str,
    /// Its name: host and process.
    pub name: String,
    /// Attempts before a job fails permanently.
    pub attempts: u64,
    /// The pause after a job's first failure; later pauses are longer.
    pub pause: Duration,
    /// The silence after which a worker counts as dead.
    pub silence: Duration,
    /// The time limit of a job.
    pub limit: Duration,
    /// The most bytes of indexes kept for later jobs.
    pub most: u64,
    /// Set to end the worker.
    pub ending: &'a AtomicBool,
}

/// Outcome of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The commit is indexed and published.
    Published {
        /// The job's id.
        job: String,
        /// Objects sent.
        objects: usize,
        /// Bytes sent.
        bytes: u64,
        /// Files read.
        files: usize,
        /// Time taken.
        took: Duration,
    },
    /// The place already had this commit or a newer one.
    Needless(String),
    /// An attempt failed. Holds the job, the reason, and the pause before the next attempt.
    Failed(String, String, Duration),
    /// The job failed permanently. Holds the job and the reason.
    Dead(String, String),
    /// The job was returned, because the worker is to end.
    Returned(String),
    /// The queue does not answer.
    Away(String),
}

/// The result of one attempt.
enum Made {
    Published { objects: usize, bytes: u64, files: usize },
    Needless,
}

impl Worker<'_> {
    /// Works until told to end; with `until_empty`, until no job is left. Returns whether every job succeeded.
    pub fn run(&self, until_empty: bool, tell: &(dyn Fn(&Event) + Sync)) -> bool {
        let mut node = Node { name: self.name.clone(), job: None, since: now(), done: 0, failed: 0 };
        let mut told: Option<Instant> = None;
        while !self.ending.load(Ordering::Relaxed) {
            if told.is_none_or(|told| told.elapsed() >= TELL) {
                self.say(&node);
                told = Some(Instant::now());
            }
            let lease = match self.queue.take(WAIT, self.silence) {
                Ok(Some(lease)) => lease,
                Ok(None) if until_empty && self.queue.left().is_ok_and(|left| left == 0) => break,
                Ok(None) => continue,
                Err(err) => {
                    tell(&Event::Away(err.to_string()));
                    self.sleep(PAUSE);
                    // The servers may have lost everything, so the queue is created again.
                    if let Err(err) = self.queue.prepare() {
                        tracing::debug!(%err, "the queue cannot be made");
                    }
                    continue;
                }
            };
            node = Node { job: Some(lease.job.id()), since: now(), ..node };
            let event = self.one(lease, &node);
            match &event {
                Event::Published { .. } | Event::Needless(_) => node.done += 1,
                Event::Failed(..) | Event::Dead(..) => node.failed += 1,
                Event::Returned(_) | Event::Away(_) => {}
            }
            node = Node { job: None, since: now(), ..node };
            self.say(&node);
            tell(&event);
            self.make_room();
        }
        if let Err(err) = self.queue.leave(&self.name) {
            tracing::debug!(%err, "the queue still counts this worker as live for a while");
        }
        node.failed == 0
    }

    fn say(&self, node: &Node) {
        if let Err(err) = self.queue.tell(node) {
            tracing::debug!(%err, "the queue does not count this worker as live");
        }
    }

    fn sleep(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.ending.load(Ordering::Relaxed) {
            thread::sleep(LOOK);
        }
    }

    /// Works on one job, and reports its outcome to the queue.
    fn one(&self, lease: Lease<'_>, node: &Node) -> Event {
        let (id, began) = (lease.job.id(), Instant::now());
        let ended = if lease.attempt > self.attempts {
            let reason = lease.earlier().unwrap_or_else(|| "too many attempts".to_owned());
            let attempts = lease.attempt - 1;
            lease.bury(&reason, attempts, &self.name).map(|()| Event::Dead(id, reason))
        } else {
            match self.made_in_time(&lease, node) {
                Ok(Made::Published { objects, bytes, files }) => {
                    let took = began.elapsed();
                    lease.done().map(|()| Event::Published { job: id, objects, bytes, files, took })
                }
                Ok(Made::Needless) => lease.done().map(|()| Event::Needless(id)),
                Err(_) if self.ending.load(Ordering::Relaxed) => lease.give_back().map(|()| Event::Returned(id)),
                Err(reason) if lease.attempt >= self.attempts => {
                    let attempts = lease.attempt;
                    lease.bury(&reason, attempts, &self.name).map(|()| Event::Dead(id, reason))
                }
                Err(reason) => {
                    let pause = pause_before(self.pause, lease.attempt);
                    lease.again(&reason, pause).map(|()| Event::Failed(id, reason, pause))
                }
            }
        };
        // The lease expires, and another worker finds the published index.
        ended.unwrap_or_else(|err| Event::Away(err.to_string()))
    }

    /// Makes an index with a time limit, and stops if the worker is to end. Fails with the reason.
    fn made_in_time(&self, lease: &Lease<'_>, node: &Node) -> Result<Made, String> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let (is_over, is_late) = (AtomicBool::new(false), AtomicBool::new(false));
        let request = Request { cancelled: cancelled.clone(), ..Request::default() };
        let (job, submitted) = (&lease.job, lease.submitted);
        let result = thread::scope(|scope| {
            scope.spawn(|| {
                let (began, mut told) = (Instant::now(), None::<Instant>);
                while !is_over.load(Ordering::Relaxed) {
                    if told.is_none_or(|told| told.elapsed() >= TELL) {
                        self.say(node);
                        told = Some(Instant::now());
                    }
                    if began.elapsed() > self.limit {
                        is_late.store(true, Ordering::Relaxed);
                    }
                    if is_late.load(Ordering::Relaxed) || self.ending.load(Ordering::Relaxed) {
                        cancelled.store(true, Ordering::Relaxed);
                    }
                    thread::sleep(LOOK);
                }
            });
            // A bug with one repository must not end the worker.
            let result = scope.spawn(|| self.make(&self.cx.caller(&request), job, submitted)).join();
            is_over.store(true, Ordering::Relaxed);
            result
        });
        match result {
            Ok(Err(err)) if is_late.load(Ordering::Relaxed) && err.code == Code::Cancelled => {
                Err(format!("it took longer than {}", humantime::format_duration(self.limit)))
            }
            Ok(result) => result.map_err(|err| err.message),
            Err(_) => Err("the run broke off".to_owned()),
        }
    }

    /// Indexes a job's commit, starting from the repository's published index, and publishes the result.
    fn make(&self, caller: &Caller<'_>, job: &Job, order: u64) -> Result<Made, Error> {
        let place = Source::open(self.place, &caller.remotes.client(caller.config)).map_err(ship_error)?;
        let newest = match place.newest(&job.repo) {
            Err(ship::Error::Damaged { .. } | ship::Error::Version { .. }) => None,
            newest => newest.map_err(ship_error)?,
        };
        let is_there = |Newest { facts, .. }: &Newest| {
            facts.commit.as_deref() == Some(&*job.commit) || facts.order.is_some_and(|there| there > order)
        };
        if newest.as_ref().is_some_and(is_there) {
            return Ok(Made::Needless);
        }
        let remote = remote(caller, &job.url)?;
        if newest.is_some() {
            let sidecar = pipeline::sidecar_of_remote(&remote, &job.reference, false);
            if let Err(err) = begin_with(caller, &place, &job.repo, &sidecar) {
                // Without it, every file is read.
                tracing::warn!(repo = job.repo, "the published index cannot be used: {}", err.message);
            }
        }
        let found = ResolvedRef { reference: job.reference.clone(), commit: job.commit.clone(), folder: String::new() };
        let report = runs::index_found(caller, &remote, &found)?.report;
        let files = report.added.len() + report.changed.len();
        let to = Target { url: self.place, key: LATEST, keep: KEEP, order: Some(order) };
        let pushed = push(caller, Some(&report.sidecar.repo), Some(&job.repo), &to)?;
        Ok(match pushed.is_late || pushed.is_there {
            true => Made::Needless,
            false => Made::Published { objects: pushed.sent, bytes: pushed.bytes, files },
        })
    }

    /// Drops the oldest indexes until the others fit.
    fn make_room(&self) {
        let registry = self.cx.indexes.registry();
        let mut all: Vec<(Sidecar, u64)> =
            registry.all().into_iter().map(|one| (one.clone(), size_of(registry.store(&one.store).dir()))).collect();
        all.sort_by_key(|(sidecar, _)| std::cmp::Reverse(sidecar.indexed_at));
        let mut total: u64 = all.iter().map(|(_, bytes)| bytes).sum();
        while total > self.most {
            let Some((oldest, bytes)) = all.pop() else { return };
            self.cx.indexes.close(&oldest.repo);
            if let Err(err) = pipeline::forget(registry, &oldest, Duration::ZERO) {
                tracing::debug!(repo = oldest.repo, %err, "its index stays for now");
            }
            total -= bytes;
        }
    }
}

/// Imports the published index of a repository as a start, if there is no local one.
fn begin_with(caller: &Caller<'_>, place: &Source, repo: &str, sidecar: &Sidecar) -> Result<(), Error> {
    let registry = caller.indexes.registry();
    let store = registry.store(&sidecar.store);
    if store.snapshot(&sidecar.snapshot).is_ok() {
        return Ok(());
    }
    let tell = caller.request.progress();
    let watcher = ShipmentControl { progress: &tell, cancelled: &caller.request.cancelled };
    registry.prepare();
    let Some(taken) = place.fetch(repo, registry, &watcher).map_err(ship_error)? else { return Ok(()) };
    taken.accept(&store, &sidecar.snapshot, false, PATIENCE).map_err(ship_error)?;
    store.snapshot(&sidecar.snapshot).map(drop).map_err(|err| store_error(err, sidecar))
}

/// The name of a worker in this process: host and process number, in characters allowed in a key.
pub fn worker_name() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    format!("{}-{}", host.chars().map(plain).collect::<String>(), std::process::id())
}

/// The pause before the next attempt, randomly shortened so that jobs that failed together are retried apart.
fn pause_before(first: Duration, attempt: u64) -> Duration {
    use std::hash::{BuildHasher, RandomState};
    let growth = GROWTH.saturating_pow(u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
    let whole = first.saturating_mul(growth).min(LONGEST_PAUSE);
    whole - whole / 4 * (RandomState::new().hash_one(attempt) % 256) as u32 / 256
}

fn now() -> i64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs() as i64)
}

/// The size of the files in a folder, in bytes.
fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => size_of(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let first = Duration::from_secs(10);
        for (attempt, most) in [(1, 10), (2, 40), (3, 160), (4, 640), (5, 1800), (60, 1800)] {
            let pause = pause_before(first, attempt).as_secs_f64();
            assert!(pause <= f64::from(most) && pause >= f64::from(most) * 0.74, "{attempt}: {pause}");
        }
    }
}
