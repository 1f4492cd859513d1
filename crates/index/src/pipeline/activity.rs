//! Runs of this process, for those who look on: what goes on now, and what ended last.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use codelode_base::model::Progress;

/// Ended runs that are kept.
const MOST_ENDED: usize = 20;

/// A run of this process.
#[derive(Clone, Debug)]
pub struct Run {
    /// Id of the checkout.
    pub repo: String,
    /// Files that are done.
    pub done: u64,
    /// Files in all, once they are known.
    pub of: Option<u64>,
    /// The current step.
    pub step: String,
    /// Its start.
    pub began: Instant,
    /// Its duration, once it has ended.
    pub took: Option<Duration>,
    number: u64,
}

#[derive(Default)]
struct Activity {
    /// The newest last.
    runs: VecDeque<Run>,
    last: u64,
}

static ACTIVITY: Mutex<Activity> = Mutex::new(Activity { runs: VecDeque::new(), last: 0 });

/// The runs that go on, and those that ended last; the newest first.
pub fn runs() -> Vec<Run> {
    activity().runs.iter().rev().cloned().collect()
}

/// A run on the activity, which ends when this is dropped.
pub(super) struct RunGuard(u64);

impl RunGuard {
    /// Posts a run.
    pub fn new(repo: &str) -> Self {
        let mut activity = activity();
        activity.last += 1;
        let (repo, number) = (repo.to_owned(), activity.last);
        let run = Run { repo, done: 0, of: None, step: String::new(), began: Instant::now(), took: None, number };
        activity.runs.push_back(run);
        Self(number)
    }

    /// Tells the activity of progress as well.
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
    // A panic leaves at most a number behind.
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
