//! GitHub access for tools: configured client, errors for callers, and the files of a commit.

use super::Caller;
use super::errors::github_error;
use crate::answer::{Code, Error};
use codelode_base::config::{Config, GitHubMode, Secret};
use codelode_source::git::{self, Place, Refs, Remote, RemoteRef, ResolvedRef};
use codelode_source::github::{self, Client, Commit, ContentSource, Name, Options, ResultPage as Page, Tree};
pub use codelode_source::github::{Order, Query, REACHABLE, Repository, Sort};

#[cfg(test)]
mod tests;

/// The most files read one by one. Each one is a request, and GitHub limits requests.
const MOST_BLOBS: usize = 10_000;

/// Creates a client from the configuration.
pub(super) fn client(caller: &Caller<'_>) -> Result<Client, Error> {
    let config = caller.config;
    let options = Options {
        api: config.github.api.clone(),
        token: token(config),
        cache: Some(config.home.join("github")),
        cancelled: Some(caller.request.cancelled.clone()),
    };
    Ok(Client::new(caller.remotes.client(config), options))
}

/// Token for the configured API host. GitHub's API has another host name than its token.
fn token(config: &Config) -> Option<String> {
    let api = &config.github.api;
    let host = match api.host_str()? {
        "api.github.com" => "github.com".to_owned(),
        host => api.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
    };
    config.git.token(&host).map(|Secret(token)| token.clone())
}

/// Notes the remaining rate limit for the caller.
fn note_rate(caller: &Caller<'_>, client: &Client) {
    if let Some(rate) = client.rate() {
        caller.note("rate_limit_remaining", rate.remaining);
        caller.note("rate_limit_reset", rate.reset);
    }
}

/// One page of the repositories that a search finds.
pub fn search(caller: &Caller<'_>, query: &Query) -> Result<Page, Error> {
    caller.may_search_remotes()?;
    let client = client(caller)?;
    let found = github::search(&client, query);
    note_rate(caller, &client);
    found.map_err(github_error)
}

/// The name of a repository on the configured host; `None` for other hosts.
fn named(config: &Config, remote: &Remote) -> Option<Name> {
    let host = match config.github.api.host_str()? {
        "api.github.com" => "github.com",
        host => host,
    };
    let (owner, name) = remote.owner_and_name_at(host)?;
    Name::new(owner, name).ok()
}

/// Access to a repository on GitHub without git.
pub struct GitHubAccess<'a> {
    /// API client.
    pub client: Client,
    /// Name of the repository.
    pub name: &'a Name,
    /// Source of file contents.
    pub how: ContentSource,
    /// Maximum number of files.
    pub max_files: Option<usize>,
}

/// Runs an operation by git. Uses GitHub's API instead if configured, or if git fails; `_meta` then notes git's
/// failure. Access denied to git is not retried, because the API would deny it too.
pub fn either<T>(
    caller: &Caller<'_>,
    remote: &Remote,
    by_git: impl FnOnce() -> Result<T, Error>,
    by_github: impl FnOnce(&GitHubAccess<'_>) -> Result<T, Error>,
) -> Result<(T, Option<Error>), Error> {
    let mode = caller.config.github.mode;
    let (how, max_files) = match mode {
        GitHubMode::Git | GitHubMode::Auto => (ContentSource::Auto, None),
        GitHubMode::Tarball => (ContentSource::Tarball, None),
        GitHubMode::Api => (ContentSource::Blobs, Some(MOST_BLOBS)),
    };
    let name = named(caller.config, remote).filter(|_| mode != GitHubMode::Git);
    let Some(name) = name else { return Ok((by_git()?, None)) };
    let failure = match mode {
        GitHubMode::Auto => match by_git() {
            Err(failure) if failure.code == Code::Unavailable => Some(failure),
            result => return Ok((result?, None)),
        },
        _ => None,
    };
    let way = GitHubAccess { client: client(caller)?, name: &name, how, max_files };
    let result = by_github(&way);
    note_rate(caller, &way.client);
    match (result, failure) {
        (Ok(done), failure) => Ok((done, failure)),
        (Err(second), Some(failure)) => Err(failure.with("without_git", second.message)),
        (Err(err), None) => Err(err),
    }
}

/// Resolves a reference on GitHub by the same rules as for git.
pub fn find(way: &GitHubAccess<'_>, remote: &Remote, reference: Option<&str>) -> Result<(ResolvedRef, Commit), Error> {
    let (client, repo) = (&way.client, way.name);
    let place = reference.map(|name| Place::Ref(name.to_owned())).or_else(|| remote.place.clone());
    let found = match &place {
        None => {
            let branch = github::default_branch(client, repo).map_err(github_error)?;
            let reference = format!("refs/heads/{branch}");
            Some(ResolvedRef { reference, commit: String::new(), folder: String::new() })
        }
        Some(place) => {
            let (Place::Joined(text) | Place::Ref(text)) = place;
            let short = git::short_name(text.trim_matches('/'));
            let start = if matches!(place, Place::Ref(_)) { short } else { short.split('/').next().unwrap_or(short) };
            let is_ref = git::is_ref(start);
            let listed = if is_ref { github::refs(client, repo, start).map_err(github_error)? } else { Vec::new() };
            let all = listed.into_iter().map(|one| RemoteRef { name: one.name, commit: one.object.sha, tag: None });
            let mut refs = Refs { all: all.collect(), ..Refs::default() };
            refs.all.sort();
            refs.place(place)
        }
    };
    // Annotated tags are listed under their own names. A commit may also be named by a prefix of its hash.
    let name = match (&found, &place) {
        (Some(found), _) => found.reference.strip_prefix("refs/").unwrap_or(&found.reference),
        (None, Some(Place::Ref(text) | Place::Joined(text))) => text,
        (None, None) => "HEAD",
    };
    let commit = github::resolve(client, repo, Some(name)).map_err(github_error)?;
    let found = found.filter(|found| found.reference.starts_with("refs/")).unwrap_or_else(|| ResolvedRef {
        reference: commit.commit.clone(),
        commit: String::new(),
        folder: String::new(),
    });
    Ok((ResolvedRef { commit: commit.commit.clone(), ..found }, commit))
}

/// Opens the files of a commit.
pub fn open(caller: &Caller<'_>, way: &GitHubAccess<'_>, commit: Commit) -> Result<Tree, Error> {
    Tree::open(&way.client, way.name, commit, way.how, &caller.config.home.join("tmp")).map_err(github_error)
}
