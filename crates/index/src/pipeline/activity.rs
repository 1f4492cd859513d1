//! Activity: the indexing runs of this process, current and recent, for status displays.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use codelode_base::model::Progress;

/// The number of ended runs kept.
const MOST_ENDED: usize = 20;

/// A run of this process.
#[derive(Clone, Debug)]
pub struct Run {
    /// The id of the checkout.
    pub repo: String,
    /// Files done.
    pub done: u64,
    /// The total number of files, once known.
    pub of: Option<u64>,
    /// The current step.
    pub step: String,
    /// The start of the run.
    pub began: Instant,
    /// The duration, once the run has ended.
    pub took: Option<Duration>,
    number: u64,
}

#[derive(Default)]
struct Activity {
    /// Newest last.
    runs: VecDeque<Run>,
    last: u64,
}

static ACTIVITY: Mutex<Activity> = Mutex::new(Activity { runs: VecDeque::new(), last: 0 });

/// Current and recent runs, newest first.
pub fn runs() -> Vec<Run> {
    activity().runs.iter().rev().cloned().collect()
}

/// A run in the activity list, which ends on drop.
pub(super) struct RunGuard(u64);

impl RunGuard {
    /// Adds a run.
    pub fn new(repo: &str) -> Self {
        let mut activity = activity();
        activity.last += 1;
        let (repo, number) = (repo.to_owned(), activity.last);
        let run = Run { repo, done: 0, of: None, step: String::new(), began: Instant::now(), took: None, number };
        activity.runs.push_back(run);
        Self(number)
    }

    /// A progress callback that also updates the activity.
    pub fn with<'a>(&'a self, progress: &'a Progress<'a>) -> impl Fn(u64, Option<u64>, &str) + Send + Sync + 'a {
        |done, of, step| {
            self.change(|run| {
                (run.done, run.of) = (done, of);
                if run.step != step {
                    step.clone_into(&mut run.step);
                }
            });
            progress(done, of, step);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Run)) {
        activity().runs.iter_mut().find(|run| run.number == self.0).map(change);
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.change(|run| run.took = Some(run.began.elapsed()));
        let runs = &mut activity().runs;
        while runs.iter().filter(|run| run.took.is_some()).count() > MOST_ENDED {
            let oldest = runs.iter().position(|run| run.took.is_some()).expect("there are some");
            runs.remove(oldest);
        }
    }
}

fn activity() -> MutexGuard<'static, Activity> {
    // A panic leaves at most an outdated number.
    ACTIVITY.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{MOST_ENDED, RunGuard, runs};

    #[test]
    fn runs_are_told_and_the_last_are_kept() {
        let of = |repo: &str| runs().into_iter().filter(|run| run.repo == repo).collect::<Vec<_>>();
        let posted = RunGuard::new("local/activity-1");
        posted.with(&codelode_base::model::unfollowed)(3, Some(9), "reading");
        let run = of("local/activity-1").remove(0);
        assert_eq!((run.done, run.of, &*run.step, run.took), (3, Some(9), "reading", None));
        drop(posted);
        assert!(of("local/activity-1")[0].took.is_some());
        (0..=MOST_ENDED).for_each(|_| drop(RunGuard::new("local/activity-2")));
        assert!(of("local/activity-1").is_empty() && of("local/activity-2").len() <= MOST_ENDED);
    }
}
