//! The queue as callers use it: jobs go in, workers take them out. Calls wait for the servers' answers.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::context::{Context, GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, kv};
use futures_util::StreamExt;
use tokio::runtime::{Builder, Runtime};

use super::job::{Dead, Job, token};
use super::lease::Lease;
use super::{Access, Error};

/// Time in which servers know a job by its id.
const DUPLICATES: Duration = Duration::from_secs(120);
/// Name of the workers' common consumer.
const WORKERS: &str = "workers";
/// Jobs that may be at work at once, over all workers.
const MOST_AT_WORK: i64 = 100_000;
/// Longest time that an operation is tried again while servers elect a leader, and the first pause.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);
/// Longest wait for an answer: servers answer at once, or not at all while they elect a leader.
const SILENCE: Duration = Duration::from_secs(2);
/// Age after which attempts, and workers, are forgotten.
const TRIES: Duration = Duration::from_secs(7 * 24 * 60 * 60);
pub(super) const ALIVE: Duration = Duration::from_secs(30);
/// Wait for a message, within the wait for a job.
const PULL: Duration = Duration::from_secs(5);

/// A queue of jobs.
pub struct Queue {
    pub(super) runtime: Runtime,
    pub(super) context: Context,
    pub(super) name: String,
    servers: String,
    pub(super) copies: usize,
    /// The workers' common consumer, once this process has taken part.
    workers: Mutex<Option<Consumer<pull::Config>>>,
}

/// Result of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It is in the queue now.
    Queued,
    /// It was there, or is being worked on.
    Known,
    /// It has failed for good before, for this reason.
    Dead(String),
}

impl Queue {
    /// Connects to the servers. Nothing is made there.
    pub fn open(access: &Access, name: &str) -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(Error::Thread)?;
        let client = runtime.block_on(access.connect())?;
        // Of a cluster, any one server may be lost.
        let copies = if client.server_info().cluster.is_some() { 3 } else { 1 };
        // It begins tasks of its own.
        let within = runtime.enter();
        let mut context = jetstream::new(client);
        context.set_timeout(SILENCE);
        drop(within);
        Ok(Self { runtime, context, name: name.to_owned(), servers: access.shown(), copies, workers: Mutex::default() })
    }

    pub(super) fn failed<E>(&self, what: &'static str) -> impl FnOnce(E) -> Error
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let servers = self.servers.clone();
        move |source| Error::Nats { servers, what, source: source.into() }
    }

    /// Tries an operation again while the servers elect a leader, or are away.
    pub(super) fn patiently<T, F>(&self, operation: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let (began, mut pause) = (Instant::now(), PAUSE);
        loop {
            match self.runtime.block_on(operation()) {
                Err(err @ Error::Nats { .. }) if began.elapsed() < PATIENCE => {
                    tracing::debug!(%err, "tried again");
                    thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                result => return result,
            }
        }
    }

    pub(super) fn stream_name(&self, of: &str) -> String {
        format!("{}_{of}", self.name)
    }

    /// Makes what is lacking at the servers.
    pub fn prepare(&self) -> Result<(), Error> {
        let jobs = stream::Config {
            retention: RetentionPolicy::WorkQueue,
            duplicate_window: DUPLICATES,
            ..self.stream_config("jobs")
        };
        let dead = self.stream_config("dead");
        self.patiently(|| async {
            self.context.get_or_create_stream(jobs.clone()).await.map_err(self.failed("makes no queue"))?;
            self.context.get_or_create_stream(dead.clone()).await.map_err(self.failed("makes no queue"))?;
            self.prepare_table("tries", TRIES).await?;
            self.prepare_table("nodes", ALIVE).await
        })
    }

    /// Makes a table if it is lacking at the servers.
    pub(super) async fn prepare_table(&self, of: &str, max_age: Duration) -> Result<(), Error> {
        let bucket = self.stream_name(of);
        // That of a table, as the client names it.
        match self.context.get_stream(format!("KV_{bucket}")).await {
            Ok(_) => Ok(()),
            Err(err) if is_no_stream(&err) => {
                let num_replicas = self.copies;
                let config = kv::Config { bucket, max_age, history: 1, num_replicas, ..kv::Config::default() };
                self.context.create_key_value(config).await.map(drop).map_err(self.failed("makes no table"))
            }
            Err(err) => Err(self.failed("does not show a table")(err)),
        }
    }

    fn stream_config(&self, of: &str) -> stream::Config {
        stream::Config {
            name: self.stream_name(of),
            subjects: vec![format!("{}.{of}.>", self.name)],
            // A newer commit of a repository takes the place of an older one.
            max_messages_per_subject: 1,
            discard: DiscardPolicy::Old,
            storage: StorageType::File,
            num_replicas: self.copies,
            ..stream::Config::default()
        }
    }

    pub(super) async fn stream(&self, of: &str) -> Result<Stream, Error> {
        self.context.get_stream(self.stream_name(of)).await.map_err(|err| match is_no_stream(&err) {
            true => Error::NoQueue(self.name.clone()),
            false => self.failed("does not show the queue")(err),
        })
    }

    pub(super) async fn table(&self, of: &str) -> Result<kv::Store, Error> {
        self.context.get_key_value(self.stream_name(of)).await.map_err(self.failed("does not show a table"))
    }

    fn subject(&self, of: &str, repo: &str) -> String {
        format!("{}.{of}.{}", self.name, token(repo))
    }

    /// The message of a repository in one of the streams.
    async fn message(&self, of: &str, repo: &str) -> Result<Option<Vec<u8>>, Error> {
        match self.stream(of).await?.get_last_raw_message_by_subject(&self.subject(of, repo)).await {
            Ok(message) => Ok(Some(message.payload.to_vec())),
            Err(err) if is_none(&err) => Ok(None),
            Err(err) => Err(self.failed("does not show a job")(err)),
        }
    }

    async fn is_queued(&self, job: &Job) -> Result<bool, Error> {
        let message = self.message("jobs", &job.repo).await?;
        let queued = message.and_then(|json| serde_json::from_slice::<Job>(&json).ok());
        Ok(queued.is_some_and(|queued| queued.commit == job.commit && queued.url == job.url))
    }

    /// The job of a repository that has failed for good.
    async fn dead(&self, repo: &str) -> Result<Option<Dead>, Error> {
        let message = self.message("dead", repo).await?;
        Ok(message.and_then(|json| serde_json::from_slice(&json).ok()))
    }

    /// Puts a job into the queue, in the place of an older one of its repository. One that is there, or that has failed
    /// for good, is left as it is; `again` gives a dead one another chance.
    pub fn submit(&self, job: &Job, again: bool) -> Result<Submitted, Error> {
        if job.repo.split('/').filter(|part| !part.is_empty()).count() != 2 {
            return Err(Error::Name(job.repo.clone()));
        }
        self.patiently(|| async {
            if self.is_queued(job).await? {
                return Ok(Submitted::Known);
            }
            let dead = self.dead(&job.repo).await?.filter(|dead| dead.job.commit == job.commit);
            if let Some(dead) = dead.filter(|_| !again) {
                return Ok(Submitted::Dead(dead.reason));
            }
            if self.send(job, job.id()).await? {
                // Another has sent it just now; or it was done a moment ago, and then something else.
                if self.is_queued(job).await? {
                    return Ok(Submitted::Known);
                }
                let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
                self.send(job, format!("{}#{now}", job.id())).await?;
            }
            if again {
                self.bury_no_more(&job.repo).await?;
            }
            Ok(Submitted::Queued)
        })
    }

    /// Sends a job. Whether the servers know its id already, so that nothing was added.
    async fn send(&self, job: &Job, id: String) -> Result<bool, Error> {
        let message = PublishMessage::build().payload(job.to_json().into()).message_id(id);
        let sent = self.context.send_publish(self.subject("jobs", &job.repo), message).await;
        let taken = sent.map_err(self.failed("does not take a job"))?.await;
        Ok(taken.map_err(self.failed("does not take a job"))?.duplicate)
    }

    /// Keeps a job that has failed for good, with its reason.
    pub(super) async fn bury(&self, dead: &Dead) -> Result<(), Error> {
        let json = serde_json::to_vec(dead).expect("a job holds nothing that JSON cannot");
        let subject = self.subject("dead", &dead.job.repo);
        let sent = self.context.publish(subject, json.into()).await;
        sent.map_err(self.failed("keeps no dead job"))?.await.map_err(self.failed("keeps no dead job"))?;
        Ok(())
    }

    /// Forgets that a job of a repository has failed for good.
    pub(super) async fn bury_no_more(&self, repo: &str) -> Result<(), Error> {
        let purge = self.stream("dead").await?.purge().filter(self.subject("dead", repo)).await;
        purge.map(drop).map_err(self.failed("does not forget a dead job"))
    }

    /// Forgets that a job of a repository has failed for good. Whether there was one.
    pub fn forget(&self, repo: &str) -> Result<bool, Error> {
        self.patiently(|| async {
            let was = self.dead(repo).await?.is_some();
            self.bury_no_more(repo).await?;
            Ok(was)
        })
    }

    async fn workers(&self, silence: Duration) -> Result<Consumer<pull::Config>, Error> {
        let config = pull::Config {
            durable_name: Some(WORKERS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: silence,
            // A worker decides when a job has failed for good: the servers would forget the reason.
            max_deliver: -1,
            max_ack_pending: MOST_AT_WORK,
            ..pull::Config::default()
        };
        let made = self.stream("jobs").await?.create_consumer(config).await;
        made.map_err(self.failed("lets no worker in"))
    }

    /// Takes a job, waiting for one so long. A worker that is silent for `silence` loses it.
    pub fn take(&self, wait: Duration, silence: Duration) -> Result<Option<Lease<'_>>, Error> {
        let known = self.workers.lock().unwrap_or_else(PoisonError::into_inner).take();
        let message = self.runtime.block_on(async {
            let workers = match known {
                Some(workers) => workers,
                None => self.workers(silence).await?,
            };
            let batch = workers.batch().max_messages(1).expires(wait.min(PULL)).messages().await;
            let mut batch = batch.map_err(self.failed("gives no job"))?;
            let message = batch.next().await.transpose().map_err(self.failed("gives no job"))?;
            // After a failure it is looked for again: the servers may have lost it.
            *self.workers.lock().unwrap_or_else(PoisonError::into_inner) = Some(workers);
            Ok(message)
        })?;
        match message {
            Some(message) => Lease::of(self, message, silence),
            None => Ok(None),
        }
    }

    /// Sets a flag when the process is told to end; told a second time, it ends at once.
    pub fn end_on_signal(&self, ending: Arc<AtomicBool>) -> Result<(), Error> {
        use tokio::signal::unix::{SignalKind, signal};
        let _within = self.runtime.enter();
        let mut end = signal(SignalKind::terminate()).map_err(Error::Thread)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Thread)?;
        self.runtime.spawn(async move {
            loop {
                tokio::select! {
                    _ = end.recv() => {}
                    _ = interrupt.recv() => {}
                }
                if ending.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
            }
        });
        Ok(())
    }
}

/// Whether an answer says that there is no such stream.
fn is_no_stream(err: &GetStreamError) -> bool {
    matches!(err.kind(), GetStreamErrorKind::JetStream(inner) if inner.code() == 404)
}

/// Whether an answer says that there is no such message.
pub(super) fn is_none(err: &stream::RawMessageError) -> bool {
    match err.kind() {
        stream::RawMessageErrorKind::NoMessageFound => true,
        stream::RawMessageErrorKind::JetStream(inner) => inner.code() == 404,
        _ => false,
    }
}
