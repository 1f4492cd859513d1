//! A queue of repositories to index, on a cluster of NATS servers: jobs that workers take, and those that failed for good.
//!
//! A *job* is one commit of one repository. Its message stays in a work queue (JetStream) until a worker has
//! acknowledged it, which comes after the publication of the index; a worker that ends without a word loses its
//! lease, and the job goes to another one. Jobs hold no secrets: workers bring their own.
//!
//! ```text
//! <queue>_jobs      <queue>.jobs.<repository>   one message a repository, the newest commit; removed when it is done
//! <queue>_dead      <queue>.dead.<repository>   the job that failed for good, with its reason
//! KV_<queue>_tries  <repository>                attempts at a job so far, for a week
//! KV_<queue>_nodes  <worker>                    workers that live, for half a minute
//! KV_<queue>_serving, …_drained  <node>         nodes that answer questions, and those that get no repositories
//! ```

mod access;
mod job;
mod lease;
mod members;
mod placement;
mod queue;
mod status;

pub use access::Access;
pub use job::Job;
pub use lease::{Lease, Tries};
pub use members::Member;
pub use placement::Placement;
pub use queue::{Queue, Submitted};
pub use status::{Node, Status};

/// Failures of the queue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No server is configured.
    #[error("no NATS server is named; set `nats`, as CODELODE_NATS=nats://127.0.0.1:4222")]
    NoServer,
    /// A host would be spoken to without TLS.
    #[error("{0} is not on this machine and has no TLS; write tls://, or name it in `trusted_hosts`")]
    Plain(String),
    /// The file of credentials cannot be read.
    #[error("cannot read the credentials in {path}: {source}")]
    Credentials {
        /// The file.
        path: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// The servers do not do what is asked of them.
    #[error("NATS at {servers} {what}: {source}")]
    Nats {
        /// The servers.
        servers: String,
        /// The operation, as `does not take a job`.
        what: &'static str,
        /// Error of the client.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no queue of this name.
    #[error("there is no queue {0:?}; `codelode fleet index` or a worker makes it")]
    NoQueue(String),
    /// A job that cannot be one.
    #[error("{0} is not a repository's name; give one like owner/name")]
    Name(String),
}

#[cfg(test)]
mod tests;
