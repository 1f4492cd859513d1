//! Submits the newest commit of a repository to the queue, unless its index is published, it is queued, or it has
//! failed permanently.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::fleet_error;
use crate::answer::Error;
use crate::catalog::errors::ship_error;
use crate::catalog::remotes::{newest_commit, remote};
use crate::catalog::ship::name_of_remote;
use crate::catalog::{Caller, Context};
use codelode_cluster::fleet::{Job, Queue, Submitted};
use codelode_cluster::ship::{self, Source};
use codelode_source::git::{Remote, ResolvedRef};

/// The most repositories asked for their newest commit at once.
const AT_ONCE: usize = 16;

/// A repository to index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Its name in the place, if different from its own.
    pub name: Option<String>,
    /// A folder, a git URL, or owner/name on GitHub.
    pub url: String,
    /// A branch, tag or commit; the default branch if `None`.
    pub reference: Option<String>,
}

/// Result of submitting a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Its name in the place, or the given address if it has no name.
    pub repo: String,
    /// Its newest commit, if it was found.
    pub commit: Option<String>,
    /// The result.
    pub fate: Fate,
}

/// See [`Submission`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The index of this commit is published.
    Published,
    /// It is in the queue now.
    Queued,
    /// It was already in the queue.
    Known,
    /// It failed permanently before; holds the reason.
    Dead(String),
    /// Nothing was submitted; holds the reason.
    Failed(String),
}

/// Fills the queue with the repositories that a place lacks.
pub struct Submitter {
    queue: Queue,
    place: Source,
}

impl Submitter {
    /// Connects to the configured queue, and creates its missing parts.
    pub fn open(cx: &Context, place: &str) -> Result<Self, Error> {
        let queue = super::queue(&cx.config)?;
        queue.prepare().map_err(fleet_error)?;
        let place = Source::open(place, &cx.remotes.client(&cx.config)).map_err(ship_error)?;
        Ok(Self { queue, place })
    }

    /// The queue.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Submits many repositories, several at once. Results are in the same order. If two have the same name in the
    /// place, the first is submitted. `again` retries repositories that failed permanently.
    pub fn submit_all(&self, caller: &Caller<'_>, wanted: &[Wanted], again: bool) -> Vec<Submission> {
        let mut first: HashMap<String, (String, Option<String>)> = HashMap::new();
        let named = |wanted: &Wanted| {
            let (remote, repo) = named(caller, wanted)?;
            let own = (remote.identity(), wanted.reference.clone());
            let known = first.entry(repo.clone()).or_insert_with(|| own.clone());
            match *known == own {
                true => Ok((remote, repo)),
                false => Err(failed(repo, format!("{} has this name, too; give one of them another", known.0))),
            }
        };
        let named: Vec<Result<(Remote, String), Submission>> = wanted.iter().map(named).collect();
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Submission>>> = wanted.iter().map(|_| Mutex::default()).collect();
        thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(wanted.len()) {
                scope.spawn(|| {
                    while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < wanted.len()) {
                        let submission = match &named[at] {
                            Ok((remote, repo)) => self.submit_named(caller, remote, repo, &wanted[at], again),
                            Err(failed) => failed.clone(),
                        };
                        *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(submission);
                    }
                });
            }
        });
        let taken = |result: Mutex<Option<Submission>>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().filter_map(taken).collect()
    }

    /// Submits a repository.
    pub fn submit(&self, caller: &Caller<'_>, wanted: &Wanted) -> Submission {
        match named(caller, wanted) {
            Ok((remote, repo)) => self.submit_named(caller, &remote, &repo, wanted, false),
            Err(failed) => failed,
        }
    }

    fn submit_named(
        &self,
        caller: &Caller<'_>,
        remote: &Remote,
        repo: &str,
        wanted: &Wanted,
        again: bool,
    ) -> Submission {
        match newest_commit(caller, remote, wanted.reference.as_deref()) {
            Ok(found) => {
                let fate = self.fate(remote, repo, &found, again);
                let fate = fate.unwrap_or_else(|err| Fate::Failed(err.message));
                Submission { repo: repo.to_owned(), commit: Some(found.commit), fate }
            }
            Err(err) => failed(repo.to_owned(), err.message),
        }
    }

    fn fate(&self, remote: &Remote, repo: &str, found: &ResolvedRef, again: bool) -> Result<Fate, Error> {
        match self.place.newest(repo) {
            Ok(Some(newest)) if newest.facts.commit.as_ref() == Some(&found.commit) => return Ok(Fate::Published),
            // A damaged index is replaced.
            Ok(_) | Err(ship::Error::Damaged { .. } | ship::Error::Version { .. }) => {}
            Err(err) => return Err(ship_error(err)),
        }
        let job = Job::new(repo.to_owned(), remote.whole().url(), found.reference.clone(), found.commit.clone());
        Ok(match self.queue.submit(&job, again).map_err(fleet_error)? {
            Submitted::Queued => Fate::Queued,
            Submitted::Known => Fate::Known,
            Submitted::Dead(reason) => Fate::Dead(reason),
        })
    }
}

fn failed(repo: String, reason: String) -> Submission {
    Submission { repo, commit: None, fate: Fate::Failed(reason) }
}

/// A repository and its name in the place.
fn named(caller: &Caller<'_>, wanted: &Wanted) -> Result<(Remote, String), Submission> {
    let found = remote(caller, &wanted.url).and_then(|remote| {
        let name = name_of_remote(&remote, wanted.name.as_deref())?;
        Ok((remote, name))
    });
    found.map_err(|err| failed(wanted.url.clone(), err.message))
}
