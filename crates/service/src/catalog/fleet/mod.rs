//! A fleet of workers: repositories to index go into a queue, and workers publish the indexes in a place (S3, a
//! folder). Queue and place hold all state, so submitters and workers may die at any time.

mod forges;
mod nodes;
mod submit;
mod worker;

pub use forges::{Organisation, repositories};
pub use nodes::Nodes;
pub use submit::{Fate, Submission, Submitter, Wanted};
pub use worker::{Event, Worker, worker_name};

pub use super::errors::fleet_error;
pub use codelode_cluster::fleet::{Error as QueueError, Queue, Status as Standing};

use crate::answer::Error;
use codelode_base::config::{Config, Secret};
use codelode_cluster::fleet::Access;

/// Connects to the configured queue.
pub fn queue(config: &Config) -> Result<Queue, Error> {
    let settings = &config.fleet;
    let secret = |secret: &Option<Secret>| secret.as_ref().map(|Secret(text)| text.clone());
    let access = Access {
        servers: settings.servers.clone(),
        credentials: settings.credentials.clone(),
        password: secret(&settings.password),
        token: secret(&settings.token),
        trusted_hosts: config.trusted_hosts.clone(),
        ca_file: config.ca_file.clone(),
    };
    Queue::open(&access, &settings.queue).map_err(fleet_error)
}
