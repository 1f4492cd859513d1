//! The state of a queue: jobs that wait, are at work, failed, and the workers that live.

use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::job::Dead;
use super::queue::is_none;
use super::{Error, Member, Queue, Tries};

/// Dead jobs, and attempts, that are shown at most.
const MOST_SHOWN: usize = 1000;

/// A worker that lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its name: host and process.
    pub name: String,
    /// The job that it works on.
    pub job: Option<String>,
    /// Seconds since 1970 at which it began with it, or to wait.
    pub since: i64,
    /// Jobs that it has done, and that failed with it.
    pub done: u64,
    /// See `done`.
    pub failed: u64,
}

/// The state of a queue.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// Jobs that wait for a worker, or for another attempt.
    pub waiting: u64,
    /// Jobs that are at work.
    pub at_work: u64,
    /// Jobs that failed for good.
    pub dead: u64,
    /// The server that leads the queue, of a cluster.
    pub leader: Option<String>,
    /// Servers that hold a copy of the queue, and how many of them are there.
    pub copies: usize,
    /// See `copies`.
    pub copies_there: usize,
    /// Jobs of which an attempt failed.
    pub tried: Vec<Tries>,
    /// Workers that live.
    pub workers: Vec<Node>,
    /// Nodes that answer questions.
    pub members: Vec<Member>,
}

impl Queue {
    /// Its state now.
    pub fn status(&self) -> Result<Status, Error> {
        self.patiently(|| async {
            let info = self.stream("jobs").await?;
            let state = info.cached_info();
            let consumer = info.consumer_info("workers").await.ok();
            let pending = consumer.as_ref().map_or(state.state.messages, |consumer| consumer.num_pending);
            let taken = consumer.map_or(0, |consumer| consumer.num_ack_pending as u64);
            let tried = self.rows::<Tries>("tries").await?;
            let mut queued = Vec::new();
            for tries in tried {
                // Attempts at jobs that are over stay in the table for a week.
                if tries.failed == 0 {
                    continue;
                }
                match info.get_raw_message(tries.sequence).await {
                    Ok(_) => queued.push(tries),
                    Err(err) if is_none(&err) => {}
                    Err(err) => return Err(self.failed("does not show a job")(err)),
                }
            }
            let mut workers = self.rows::<Node>("nodes").await?;
            workers.sort_by(|one, other| one.name.cmp(&other.name));
            let at_work = workers.iter().filter(|worker| worker.job.is_some()).count() as u64;
            let cluster = state.cluster.as_ref();
            let others =
                cluster.map_or(0, |cluster| cluster.replicas.iter().filter(|one| one.current && !one.offline).count());
            let leads = cluster.is_none_or(|cluster| cluster.leader.is_some());
            Ok(Status {
                // A job that failed waits for its pause, and counts as taken.
                waiting: pending + taken.saturating_sub(at_work),
                at_work: at_work.min(taken),
                dead: self.stream("dead").await?.cached_info().state.messages,
                leader: cluster.and_then(|cluster| cluster.leader.clone()),
                copies: state.config.num_replicas,
                copies_there: usize::from(leads) + others,
                tried: queued,
                workers,
                members: Vec::new(),
            })
        })
    }

    /// The number of jobs that are not done yet.
    pub fn left(&self) -> Result<u64, Error> {
        self.patiently(|| async { Ok(self.stream("jobs").await?.cached_info().state.messages) })
    }

    pub(super) async fn rows<T: for<'de> Deserialize<'de>>(&self, of: &str) -> Result<Vec<T>, Error> {
        let table = self.table(of).await?;
        let mut keys = table.keys().await.map_err(self.failed("does not list a table"))?;
        let mut rows = Vec::new();
        while let Some(key) = keys.next().await {
            let key = key.map_err(self.failed("does not list a table"))?;
            let value = table.get(key).await.map_err(self.failed("does not show a table"))?;
            rows.extend(value.and_then(|json| serde_json::from_slice(&json).ok()));
            if rows.len() >= MOST_SHOWN {
                break;
            }
        }
        Ok(rows)
    }

    /// Jobs that failed for good, the oldest first.
    pub fn buried(&self) -> Result<Vec<Dead>, Error> {
        let all = format!("{}.dead.>", self.name);
        self.patiently(|| async {
            let stream: Stream = self.stream("dead").await?;
            let (mut sequence, last) =
                (stream.cached_info().state.first_sequence, stream.cached_info().state.last_sequence);
            let mut buried = Vec::new();
            while sequence <= last && buried.len() < MOST_SHOWN {
                let next = stream.raw_message_builder().sequence(sequence).next_by_subject(&*all).send().await;
                let message = match next {
                    Ok(message) => message,
                    Err(err) if is_none(&err) => break,
                    Err(err) => return Err(self.failed("does not show a dead job")(err)),
                };
                sequence = message.sequence + 1;
                buried.extend(serde_json::from_slice::<Dead>(&message.payload).ok());
            }
            Ok(buried)
        })
    }

    /// Forgets a worker that has ended.
    pub fn leave(&self, name: &str) -> Result<(), Error> {
        self.runtime.block_on(async {
            let gone = self.table("nodes").await?.purge(name).await;
            gone.map_err(self.failed("does not forget a worker"))
        })
    }

    /// Says that a worker lives. Its name becomes a key.
    pub fn tell(&self, node: &Node) -> Result<(), Error> {
        let json = serde_json::to_vec(node).expect("numbers and texts are JSON");
        self.runtime.block_on(async {
            let put = self.table("nodes").await?.put(&node.name, json.into()).await;
            put.map(drop).map_err(self.failed("does not note a worker"))
        })
    }
}
