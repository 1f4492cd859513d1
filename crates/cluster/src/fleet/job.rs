//! A job, and one that has failed for good, as messages hold them.

use serde::{Deserialize, Serialize};

/// Version of the form of a job. A worker leaves jobs of a later version to others.
pub(super) const VERSION: u32 = 1;

/// One commit of a repository, to be indexed and published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Version of this form.
    pub version: u32,
    /// Name of the repository in the place of indexes: `owner/name`.
    pub repo: String,
    /// Address for git, without a secret.
    pub url: String,
    /// The ref in full.
    pub reference: String,
    /// Its commit.
    pub commit: String,
}

impl Job {
    /// A job of this version.
    pub fn new(repo: String, url: String, reference: String, commit: String) -> Self {
        Self { version: VERSION, repo, url, reference, commit }
    }

    /// The id by which servers know duplicates: `owner/name@commit`.
    pub fn id(&self) -> String {
        format!("{}@{}", self.repo, self.commit)
    }

    /// Its JSON.
    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a job holds nothing that JSON cannot")
    }
}

/// A job that has failed for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dead {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// The reason.
    pub reason: String,
    /// How often it was tried.
    pub attempts: u64,
    /// The worker that gave it up.
    pub worker: String,
    /// Seconds since 1970.
    pub at: i64,
}

/// The token of a subject, and the key, that stand for a repository. Dots would part them, and names have no `=`.
pub(super) fn token(repo: &str) -> String {
    repo.replace('.', "=")
}
