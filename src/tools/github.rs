//! GitHub, for tools: a client by the configuration, what a failure means to a caller, and the files of a commit.

use super::{Call, Code, Error};
use crate::config::{Config, GitHubMode, Secret};
use crate::github::{self, Client, How, Name, Options, Tree};
use crate::net;

#[cfg(test)]
mod tests;

/// A client by the configuration.
pub fn client(call: &Call<'_>) -> Result<Client, Error> {
    let config = &call.cx.config;
    let options = Options {
        api: config.github.api.clone(),
        token: token(config),
        cache: Some(config.home.join("github")),
        cancelled: Some(call.request.cancelled.clone()),
    };
    Ok(Client::new(call.cx.remotes.client(config), options))
}

/// The token of the host whose interface is asked. GitHub's own answers under another name than it is known by.
fn token(config: &Config) -> Option<String> {
    let api = &config.github.api;
    let host = match api.host_str()? {
        "api.github.com" => "github.com".to_owned(),
        host => api.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
    };
    config.git.token(&host).map(|Secret(token)| token.clone())
}

/// Tells the caller how much may still be asked.
pub fn note_rate(call: &Call<'_>, client: &Client) {
    if let Some(rate) = client.rate() {
        call.note("rate_limit_remaining", rate.remaining);
        call.note("rate_limit_reset", rate.reset);
    }
}

/// Whether a repository's host is the one whose interface is asked.
pub fn is_served(config: &Config, host: &str) -> bool {
    let api = config.github.api.host_str().unwrap_or_default();
    host.eq_ignore_ascii_case(api) || (host.eq_ignore_ascii_case("github.com") && api == "api.github.com")
}

/// How contents are read in a mode that is not git.
pub fn how(mode: GitHubMode) -> How {
    match mode {
        GitHubMode::Auto | GitHubMode::Git => How::Auto,
        GitHubMode::Tarball => How::Tarball,
        GitHubMode::Api => How::Blobs,
    }
}

/// The files of a commit, which a branch, a tag or a hash names.
pub fn open(call: &Call<'_>, repo: &Name, reference: Option<&str>, how: How) -> Result<Tree, Error> {
    let client = client(call)?;
    let tree = github::resolve(&client, repo, reference)
        .and_then(|commit| Tree::open(&client, repo, commit, how, &call.cx.config.home.join("tmp")));
    note_rate(call, &client);
    tree.map_err(github_error)
}

/// What a failure of GitHub means to a caller.
pub fn github_error(err: github::Error) -> Error {
    use github::Error as Github;
    let message = err.to_string();
    match err {
        Github::Net(err) => net_error(&err),
        Github::Limited(limit) => {
            let mut error = Error::new(Code::RateLimitExceeded, message);
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
        Github::BadName(_) | Github::BadRef(_) | Github::Invalid(_) => Error::new(Code::InvalidArguments, message),
        Github::NotFound { .. } | Github::NoSuchRef(_) | Github::Empty => Error::new(Code::NotFound, message),
        Github::Unauthorized | Github::Sso { .. } | Github::Blocked(_) | Github::Forbidden(_) | Github::Legal => {
            Error::new(Code::AccessDenied, message)
        }
        Github::Trouble { wait: Some(wait), .. } => {
            Error::new(Code::Unavailable, message).with("retry_after", wait.as_secs())
        }
        Github::Trouble { .. } | Github::Unexpected { .. } | Github::Malformed(_) | Github::Disk(_) => {
            Error::new(Code::Unavailable, message)
        }
    }
}

/// What a failure of the network means to a caller.
fn net_error(err: &net::Error) -> Error {
    let code = match err {
        net::Error::Cancelled => Code::Cancelled,
        net::Error::BadUrl(_) | net::Error::Scheme { .. } | net::Error::Private { .. } => Code::InvalidArguments,
        _ => Code::Unavailable,
    };
    Error::new(code, err.to_string())
}
