//! A job that a worker has taken: its lease is renewed until the worker says how it ended.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use super::job::{Dead, Job, VERSION, token};
use super::{Error, Queue};

/// Renewals within the silence after which a lease is lost.
const RENEWALS: u32 = 4;
/// Pause before a job of a later version is offered again.
const LATER: Duration = Duration::from_secs(60);

/// Attempts at one job so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tries {
    /// Number of the job's message.
    pub sequence: u64,
    /// Name of the repository.
    pub repo: String,
    /// Attempts that failed.
    pub failed: u64,
    /// Attempts that a worker gave back because it was told to end.
    pub returned: u64,
    /// Why the last attempt failed.
    pub reason: Option<String>,
}

/// A job that is being worked on.
pub struct Lease<'a> {
    queue: &'a Queue,
    message: Arc<Message>,
    renewal: JoinHandle<()>,
    /// The job.
    pub job: Job,
    /// Nanoseconds since 1970 at which it was submitted, by the servers' clock.
    pub submitted: u64,
    /// How often it was given to a worker, this time included, without those that gave it back.
    pub attempt: u64,
    tries: Tries,
}

impl<'a> Lease<'a> {
    /// The lease of a message; `None` for one that is left to other workers.
    pub(super) fn of(queue: &'a Queue, message: Message, silence: Duration) -> Result<Option<Self>, Error> {
        let info = message.info().map_err(queue.failed("gives a job of another form"))?;
        let (sequence, delivered) = (info.stream_sequence, u64::try_from(info.delivered).unwrap_or_default());
        let submitted = u64::try_from(info.published.unix_timestamp_nanos()).unwrap_or_default();
        let message = Arc::new(message);
        let job = match serde_json::from_slice::<Job>(&message.payload) {
            Ok(job) if job.version <= VERSION => job,
            other => {
                // A later version may know it.
                tracing::warn!(subject = %message.subject, "a job of another form is left to others: {other:?}");
                let left = queue.runtime.block_on(message.double_ack_with(AckKind::Nak(Some(LATER))));
                left.map_err(queue.failed("does not take a job back"))?;
                return Ok(None);
            }
        };
        let renewed = message.clone();
        let renewal = queue.runtime.spawn(async move {
            let mut every = tokio::time::interval(silence / RENEWALS);
            loop {
                every.tick().await;
                // When the servers are away, the job may be given to another worker as well, which does no harm.
                if let Err(err) = renewed.ack_with(AckKind::Progress).await {
                    tracing::debug!(%err, "a lease was not renewed");
                }
            }
        });
        let known = queue.runtime.block_on(async {
            let table = queue.table("tries").await?;
            table.get(token(&job.repo)).await.map_err(queue.failed("does not show attempts"))
        });
        // Without the table, only the servers' count is known.
        let known = known.ok().flatten().and_then(|json| serde_json::from_slice::<Tries>(&json).ok());
        let tries = known.filter(|tries| tries.sequence == sequence);
        let tries = tries.unwrap_or_else(|| Tries { sequence, repo: job.repo.clone(), ..Tries::default() });
        let attempt = delivered.saturating_sub(tries.returned).max(1);
        Ok(Some(Self { queue, message, renewal, job, submitted, attempt, tries }))
    }

    /// Why the attempts before this one failed: the last reason, if a worker gave one for each.
    pub fn earlier(&self) -> Option<String> {
        let before = self.attempt.saturating_sub(1);
        let silent = before.saturating_sub(self.tries.failed);
        match (&self.tries.reason, silent) {
            (None, 0) => None,
            (Some(reason), 0) => Some(reason.clone()),
            (None, n) => Some(format!("{n} workers ended without a word while they had it")),
            (Some(reason), n) => Some(format!("{reason}; and {n} workers ended without a word while they had it")),
        }
    }

    async fn note(&self, tries: &Tries) -> Result<(), Error> {
        let json = serde_json::to_vec(tries).expect("numbers and texts are JSON");
        let put = self.queue.table("tries").await?.put(token(&self.job.repo), json.into()).await;
        put.map(drop).map_err(self.queue.failed("does not note an attempt"))
    }

    async fn end(&self, how: AckKind) -> Result<(), Error> {
        self.message.double_ack_with(how).await.map_err(self.queue.failed("does not hear of a job's end"))
    }

    /// Ends it: the index is published. The repository has no dead job any more.
    pub fn done(self) -> Result<(), Error> {
        self.queue.patiently(|| self.end(AckKind::Ack))?;
        // A dead job of an earlier commit says nothing of this one.
        self.queue.patiently(|| self.queue.bury_no_more(&self.job.repo))
    }

    /// Leaves it to another attempt after a pause, because this one failed.
    pub fn again(self, reason: &str, pause: Duration) -> Result<(), Error> {
        let failed = self.tries.failed + 1;
        let tries = Tries { failed, reason: Some(reason.to_owned()), ..self.tries.clone() };
        self.queue.patiently(|| self.note(&tries))?;
        self.queue.patiently(|| self.end(AckKind::Nak(Some(pause))))
    }

    /// Gives it back untried: the next worker may have it at once.
    pub fn give_back(self) -> Result<(), Error> {
        let tries = Tries { returned: self.tries.returned + 1, ..self.tries.clone() };
        self.queue.runtime.block_on(async {
            self.note(&tries).await?;
            self.end(AckKind::Nak(None)).await
        })
    }

    /// Gives it up for good.
    pub fn bury(self, reason: &str, attempts: u64, worker: &str) -> Result<(), Error> {
        let at = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs() as i64);
        let job = self.job.clone();
        let dead = Dead { job, reason: reason.to_owned(), attempts, worker: worker.to_owned(), at };
        // It is kept before it leaves the queue: killed in between, it is buried again.
        self.queue.patiently(|| self.queue.bury(&dead))?;
        self.queue.patiently(|| self.end(AckKind::Ack))
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}
