//! Converts errors of other crates to errors for the caller: adds their kind and the next step.

use std::io::ErrorKind;

use serde_json::json;

use super::indexes::shell_word;
use crate::answer::{Code, Error};
use codelode_base::model::SourceError;
#[cfg(feature = "fleet")]
use codelode_cluster::fleet;
#[cfg(feature = "ship")]
use codelode_cluster::ship;
use codelode_index::embed;
use codelode_index::pipeline;
use codelode_net as net;
use codelode_net::api::Failure;
use codelode_query::HistoryError;
use codelode_source::git::{self, NameError};
use codelode_source::github;
use codelode_store::{self as store, Sidecar};

/// Converts an error of a store to an error for the caller.
pub fn store_error(err: store::Error, sidecar: &Sidecar) -> Error {
    if sidecar.package.is_some() {
        let message = format!("{}: {err}; search with `deps` in a project that imports it", sidecar.repo);
        return Error::not_indexed(message);
    }
    let (command, tool) = match &sidecar.remote {
        Some(_) => ("index-repo", "index_repo with url"),
        None => ("index", "index_folder with path"),
    };
    let place = sidecar.remote.as_ref().map_or(sidecar.root.to_string_lossy(), |remote| remote.url.as_str().into());
    // Without a ref, the caller means the default branch, whose index has the bare name.
    let named = sidecar.remote.as_ref().filter(|_| sidecar.origin.is_none());
    let reference = named.map(|remote| format!(" {}", shell_word(&remote.reference))).unwrap_or_default();
    let rebuild = format!("codelode {command} {}{reference} --no-incremental", shell_word(&place));
    let message = err.to_string();
    // A rebuild would not help here.
    if let Some(remedy) = no_writing(&err) {
        return Error::unavailable(format!("{message}; {remedy}"));
    }
    match err {
        store::Error::Newer { .. } => Error::index_outdated(message),
        store::Error::Outdated { .. } => {
            let message = format!("{message}; rebuild it: {rebuild}");
            Error::index_outdated(message).with("rebuild", rebuild)
        }
        store::Error::Damaged { .. } | store::Error::Index(_) => {
            Error::unavailable(format!("{message}; rebuild it: {rebuild}")).with("rebuild", rebuild)
        }
        store::Error::Missing(_) | store::Error::NoSnapshot => {
            let message = format!("the index of {} is gone; call {tool} {place:?}", sidecar.repo);
            Error::not_indexed(message).with("root", sidecar.root.to_string_lossy())
        }
        store::Error::Busy => {
            let message = "another process is writing this index; try again in a moment";
            Error::unavailable(message)
        }
        _ => Error::unavailable(message),
    }
}

/// Remedy for an index directory that cannot be written.
fn no_writing(err: &store::Error) -> Option<&'static str> {
    let kind = match err {
        store::Error::Io { source, .. } => source.kind(),
        // The search engine reports most system errors as text.
        store::Error::Index(err) => {
            let full = std::io::Error::from(rustix::io::Errno::NOSPC);
            if err.to_string().contains(&full.to_string()) { full.kind() } else { ErrorKind::Other }
        }
        _ => return None,
    };
    match kind {
        ErrorKind::StorageFull => Some("free disk space, or choose another index directory with --index-dir"),
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            Some("make the index directory writable, or choose another with --index-dir")
        }
        _ => None,
    }
}

/// Converts an error of a run to an error for the caller.
pub fn pipeline_error(err: pipeline::Error, sidecar: &Sidecar) -> Error {
    use codelode_source::discover::Error as Discover;
    let message = err.to_string();
    match err {
        pipeline::Error::Cancelled => Error::cancelled("cancelled; the earlier index is unchanged"),
        pipeline::Error::Store(err) => store_error(err, sidecar),
        pipeline::Error::Source(err) => source_error(&err),
        pipeline::Error::Discover(Discover::Missing(_) | Discover::NotAFolder(_)) => {
            Error::not_found(format!("{message}; give the absolute path of a folder"))
        }
        pipeline::Error::Discover(Discover::Pattern { .. }) => {
            Error::invalid_arguments(format!("{message}; use gitignore syntax for patterns"))
        }
        pipeline::Error::Compiler(..) => Error::invalid_arguments(format!("{message}; give a SCIP file")),
        pipeline::Error::Discover(_) | pipeline::Error::TooMany(_) => Error::unavailable(message),
    }
}

/// Converts an error of git to an error for the caller.
pub fn git_error(err: git::Error) -> Error {
    let message = err.to_string();
    match err {
        git::Error::Name(NameError::Empty | NameError::Unknown(_) | NameError::Part(_)) => {
            Error::invalid_arguments(message)
        }
        git::Error::Name(NameError::Password(_) | NameError::Scheme(_)) => Error::invalid_arguments(message),
        git::Error::Net(err) => net_error(&err),
        git::Error::NoRef { nearest, .. } => {
            let message = format!("{message}; `list_repository_refs` lists them");
            Error::not_found(message).with("nearest", nearest)
        }
        git::Error::NoRepository { .. } => {
            let message =
                format!("{message}: check the name, or set a token for the host (GITHUB_TOKEN, CODELODE_GIT_TOKENS)");
            Error::not_found(message)
        }
        git::Error::NotServed { .. } => Error::not_found(format!("{message}; `list_repository_refs` lists them")),
        git::Error::Empty(_) | git::Error::Missing { .. } => Error::not_found(message),
        git::Error::Unreadable { .. } => Error::not_found(message),
        git::Error::Cancelled => Error::cancelled("cancelled; nothing was changed"),
        _ => Error::unavailable(message),
    }
}

/// Converts an error of the network to an error for the caller.
pub fn net_error(err: &net::Error) -> Error {
    let code = match err {
        net::Error::Cancelled => Code::Cancelled,
        net::Error::BadUrl(_) | net::Error::Scheme { .. } | net::Error::Private { .. } => Code::InvalidArguments,
        _ => Code::Unavailable,
    };
    Error::new(code, err.to_string())
}

/// Converts an error in reading a commit to an error for the caller.
pub fn source_error(err: &SourceError) -> Error {
    if let SourceError::Failed(err) = err
        && let Some(err) = err.downcast_ref::<github::Error>()
    {
        return github_error(err.clone());
    }
    let code = if matches!(err, SourceError::Failed(_)) { Code::Unavailable } else { Code::NotFound };
    Error::new(code, err.to_string())
}

/// Converts a failure of GitHub to an error for the caller.
pub fn github_error(err: github::Error) -> Error {
    use github::Error as Github;
    let message = err.to_string();
    match err {
        Github::Net(err) => net_error(&err),
        Github::Limited(limit) => {
            let mut error = Error::rate_limit_exceeded(message);
            if let Some(reset) = limit.reset() {
                error = error.with("rate_limit_reset", reset);
            }
            if let Some(rate) = &limit.rate {
                error = error.with("rate_limit_remaining", rate.remaining);
            }
            match limit.wait {
                Some(wait) => error.with("retry_after", wait.as_secs()),
                None => error,
            }
        }
        Github::BadName(_) | Github::BadRef(_) | Github::Invalid(_) => Error::invalid_arguments(message),
        Github::NotFound { .. } | Github::NoSuchRef(_) | Github::Empty => Error::not_found(message),
        Github::Unauthorized | Github::Sso { .. } | Github::Blocked(_) | Github::Forbidden(_) | Github::Legal => {
            Error::access_denied(message)
        }
        Github::Trouble { wait: Some(wait), .. } => Error::unavailable(message).with("retry_after", wait.as_secs()),
        Github::Trouble { .. } | Github::Unexpected { .. } | Github::Malformed(_) | Github::Disk(_) => {
            Error::unavailable(message)
        }
    }
}

/// Converts an error of the history to an error for the caller.
pub fn history_error(err: HistoryError) -> Error {
    let message = err.to_string();
    match err {
        HistoryError::NoRepository(_) => {
            Error::unavailable(format!("{message}; compare two indexes with get_symbol_diff"))
        }
        HistoryError::NoCommit(_) => {
            Error::not_found(format!("{message}; give a commit's id, a branch, a tag or HEAD~1"))
        }
        HistoryError::PastEnd(_) => Error::not_found(format!("{message}; git fetch --unshallow brings older commits")),
        HistoryError::Unreadable(_) => {
            Error::unavailable(format!("{message}; a shallow clone lacks older commits: git fetch --unshallow"))
        }
    }
}

/// Converts an error of an embedding provider to an error for the caller.
pub fn provider_error(err: &embed::Error) -> Error {
    let message = err.to_string();
    let embed::Error::Remote(failure) = err else { return Error::unavailable(message) };
    match failure {
        Failure::Net(err) => net_error(err),
        Failure::Denied { .. } => Error::access_denied(format!("{message}; set a valid key, see `codelode models`")),
        Failure::Limited { after, .. } => {
            Error::rate_limit_exceeded(message).with("retry_after_seconds", json!(after.map(|after| after.as_secs())))
        }
        Failure::Status { .. } | Failure::Malformed { .. } => Error::unavailable(message),
    }
}

/// Converts an error of shipping to an error for the caller.
#[cfg(feature = "ship")]
pub fn ship_error(err: ship::Error) -> Error {
    let message = err.to_string();
    match err {
        ship::Error::Store(store) => Error::unavailable(store.to_string()),
        ship::Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => Error::not_found(message),
        ship::Error::Damaged { .. } => {
            Error::unavailable(format!("{message}; nothing was read from it; create it again"))
        }
        ship::Error::Url(_) | ship::Error::Key(_) | ship::Error::ReadOnly(_) => Error::invalid_arguments(message),
        ship::Error::Cancelled => Error::cancelled(message),
        _ => Error::unavailable(message),
    }
}

/// Converts an error of the queue to an error for the caller.
#[cfg(feature = "fleet")]
pub fn fleet_error(err: fleet::Error) -> Error {
    let message = err.to_string();
    match err {
        fleet::Error::NoServer | fleet::Error::Plain(_) | fleet::Error::Name(_) => Error::invalid_arguments(message),
        fleet::Error::NoQueue(_) => Error::not_found(message),
        _ => Error::unavailable(message),
    }
}
