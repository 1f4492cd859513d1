//! Stores on their way between machines: into a file, a folder or a bucket, and back from there or from a web server.
//!
//! A *shipment* is one snapshot: objects, each a part of a file of the store, and a listing that names them. An
//! object's name begins with the hash of its content, so that one which is there already is not sent again and each is
//! verified on arrival. The listing is written last: without it nothing is there, with it everything is.
//!
//! ```text
//! <owner>/<name>/keys/<format>.<content>.<key>.json   a listing
//! <owner>/<name>/objects/<hash>-<run>.lz4             a part of a file, of at most 16 MB
//! <owner>/<name>/marked/<number>.json                 objects that are to be removed, see `collect`
//! .imports/<ecosystem>/<module>/<owner>,<name>        a repository that imports a module, see `imports`
//! ```
//!
//! Every byte from outside is untrusted. No name in it becomes a path: files of a store have names of letters, and
//! nothing that a listing does not announce is unpacked, in length or in number.

mod archive;
mod bucket;
mod collect;
mod fetch;
mod imports;
mod listing;
mod parts;
mod place;
mod push;
mod source;

pub use archive::{pack, unpack};
pub use listing::{Facts, LATEST, is_key, is_repo_name};
pub use parts::Arrival;
pub use push::PublishResult;
#[cfg(feature = "fleet")]
pub use source::Newest;
pub use source::Source;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use codelode_base::model::Progress;
use codelode_net as net;
use codelode_store::{self as store, Registry, StoreCopy};

/// Failures of shipping.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The system refused an operation.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// Its path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The bytes are no shipment, or another one than announced.
    #[error("{place} is damaged: {what}")]
    Damaged {
        /// The archive.
        place: String,
        /// Description of the damage.
        what: String,
    },
    /// Another version of the program made it.
    #[error(
        "{place} was made by another version of codelode (format {}, content {}; this one has {} and {})",
        found.0, found.1, store::FORMAT, store::CONTENT
    )]
    Version {
        /// The archive.
        place: String,
        /// Its versions of the layout and of the extraction.
        found: (u32, u32),
    },
    /// There is not enough room for it.
    #[error("it takes {needed} bytes, and {} has {free} left", path.display())]
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// Bytes of the store.
        needed: u64,
        /// Bytes on its disk.
        free: u64,
    },
    /// The URL names no place that is known.
    #[error("{0:?} is not a place for indexes; give a folder, file://, s3://, gs://, az://, or https:// to read")]
    Url(String),
    /// The key has other letters than a key may have.
    #[error("{0:?} is not a key; use letters, digits, dots and dashes")]
    Key(String),
    /// A web server can only be read.
    #[error("{0} is read-only; give a writable folder")]
    ReadOnly(String),
    /// A web server answers with an error.
    #[error("{place} answers with status {status}")]
    Refused {
        /// The place.
        place: String,
        /// Status code.
        status: u16,
    },
    /// A bucket refuses, or cannot be reached.
    #[error("{place}: {source}")]
    Bucket {
        /// The bucket and the folder in it.
        place: String,
        /// Errors of this room.
        source: Box<object_store::Error>,
    },
    /// The network failed.
    #[error(transparent)]
    Net(#[from] net::Error),
    /// Other writers were faster each time.
    #[error("another process is writing to {0}; retry")]
    Contended(String),
    /// It took so long that its objects may be gone.
    #[error("sending to {0} took too long; try again")]
    Slow(String),
    /// The caller has cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// Converts an I/O error in `map_err`, with the operation and its path.
    fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }

    fn damaged(place: &str, what: impl Into<String>) -> Self {
        Self::Damaged { place: place.to_owned(), what: what.into() }
    }
}

/// Progress callback and cancellation flag of a shipment.
#[derive(Clone, Copy)]
pub struct ShipmentControl<'a> {
    /// Called with objects done, objects in all and the current step.
    pub progress: &'a Progress<'a>,
    /// Set to cancel.
    pub cancelled: &'a AtomicBool,
}

impl ShipmentControl<'_> {
    fn check(&self) -> Result<(), Error> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Publishes a copy of a store in a place, under a key; then removes what no listing there names any more. Of listings
/// of trees the newest `keep` stay.
pub fn push(
    (copy, contents, facts): (&StoreCopy, Vec<u8>, Facts),
    url: &str,
    key: &str,
    keep: usize,
    client: &net::Client,
    watcher: &ShipmentControl<'_>,
) -> Result<PublishResult, Error> {
    let place = place::open(url, client)?;
    let pushed = push::push(copy, contents, facts, &*place, key, watcher)?;
    // It is published: a failure to clean up is left to the next run.
    if let Err(err) = collect::collect(&*place, &pushed.facts.repo, keep, collect::DAY) {
        tracing::warn!(%err, "nothing was removed from {}", place.shown());
    }
    Ok(pushed)
}

/// Whether a place has a state of a repository under a key, made by this version.
pub fn has(url: &str, repo: &str, key: &str, client: &net::Client) -> Result<bool, Error> {
    if !is_repo_name(repo) || !is_key(key) {
        return Err(Error::Key(key.to_owned()));
    }
    // A folder that is not there yet holds nothing.
    Ok(place::open(url, client)?.get(&listing::key_path(repo, key), listing::LARGEST)?.is_some())
}

/// Takes a repository's store from a place, by the first of these keys that is there. `None` when none is.
pub fn fetch(
    url: &str,
    repo: &str,
    keys: &[String],
    client: &net::Client,
    registry: &Registry,
    watcher: &ShipmentControl<'_>,
) -> Result<Option<Arrival>, Error> {
    fetch::fetch(&*place::open(url, client)?, repo, keys, registry, watcher)
}

#[cfg(test)]
mod tests;
