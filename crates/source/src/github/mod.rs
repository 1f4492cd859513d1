//! GitHub REST API: repository search, and files of a commit without git.
//!
//! A [`Client`] sends its requests through [`codelode_net`], which decides on hosts and on the token. Cached responses
//! are requested conditionally, which does not count against the rate limit. A reached limit is an [`Error`] with its
//! reset time; nothing here sleeps. GitHub Enterprise works with another base URL.
//!
//! [`resolve`] finds the commit of a branch, tag or hash; [`Tree`] lists and reads its files as a
//! [`codelode_base::model::SourceTree`].

mod archive;
mod cache;
#[cfg(test)]
mod described {
    mod tests;
}
mod error;
mod listing;
mod owned;
#[cfg(test)]
mod recorded {
    mod tests;
}
mod search;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod test_server;
#[cfg(test)]
mod tests;
mod tree;

use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use url::Url;

use cache::{Cache, CachedResponse};
use codelode_net as net;

pub use error::Error;
pub use owned::owned;
pub use search::{Order, Query, REACHABLE, Repository, ResultPage, Sort, search};
pub use tree::{Commit, ContentSource, Tree, resolve};

/// Maximum size of a JSON response in bytes: a tree of 100,000 entries has about 25 MB.
const LARGEST: u64 = 128 << 20;
/// Maximum size of an error response in bytes.
const WORDS: u64 = 64 << 10;
/// Default `Accept` header.
const JSON: &str = "application/vnd.github+json";
/// API version.
const VERSION: &str = "2022-11-28";

/// Settings of a [`Client`].
#[derive(Clone)]
pub struct Options {
    /// The base URL: `https://api.github.com/`, or `https://<host>/api/v3/` of GitHub Enterprise.
    pub api: Url,
    /// Token, sent to the API's origin only.
    pub token: Option<String>,
    /// Directory of the response cache; `None` disables it.
    pub cache: Option<PathBuf>,
    /// Cancellation flag.
    pub cancelled: Option<Arc<AtomicBool>>,
}

/// Rate limit, as of the last response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Requests per window.
    pub limit: u64,
    /// Requests left in this window.
    pub remaining: u64,
    /// Start of the next window, in seconds since 1970.
    pub reset: u64,
    /// Name of the limit: `core`, `search`.
    pub resource: Option<String>,
}

impl Rate {
    fn of(head: &net::Response) -> Option<Self> {
        let number = |name| head.header(name)?.parse().ok();
        Some(Self {
            limit: number("x-ratelimit-limit")?,
            remaining: number("x-ratelimit-remaining")?,
            reset: number("x-ratelimit-reset")?,
            resource: head.header("x-ratelimit-resource").map(str::to_owned),
        })
    }
}

/// A repository's full name, checked against GitHub's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// User or organisation.
    pub owner: String,
    /// Repository name without `.git`.
    pub name: String,
}

impl Name {
    /// Checks and combines owner and name.
    pub fn new(owner: &str, name: &str) -> Result<Self, Error> {
        let is_name = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            (1..=100).contains(&text.len()) && text.chars().all(plain) && text != "." && text != ".."
        };
        if is_name(owner) && is_name(name) {
            Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
        } else {
            Err(Error::BadName(format!("{owner}/{name}").chars().take(210).collect()))
        }
    }
}

/// GitHub API client.
#[derive(Clone)]
pub struct Client {
    net: net::Client,
    options: Options,
    cache: Option<Cache>,
    rate: Arc<Mutex<Option<Rate>>>,
}

impl Client {
    /// A client with these settings; sends no request yet.
    pub fn new(net: net::Client, options: Options) -> Self {
        let cache = options.cache.clone().map(Cache::new);
        Self { net, options, cache, rate: Arc::default() }
    }

    /// Rate limit as of the last response; `None` before the first.
    pub fn rate(&self) -> Option<Rate> {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a token is set.
    pub fn has_token(&self) -> bool {
        self.options.token.is_some()
    }

    /// URL of an API resource.
    fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.options.api.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// URL of a resource of a repository.
    fn within(&self, repo: &Name, segments: &[&str]) -> Url {
        let mut whole = vec!["repos", repo.owner.as_str(), repo.name.as_str()];
        whole.extend(segments);
        self.url(&whole)
    }

    /// A GET request with token, API version and an `Accept` header.
    fn request(&self, url: Url, accept: &str) -> net::Request {
        let credentials = self.options.token.as_deref().map(|token| net::Credentials::bearer(&self.options.api, token));
        let request = net::Request { credentials, limit: LARGEST, packed: true, ..net::Request::get(url) };
        let request = net::Request { cancelled: self.options.cancelled.clone(), ..request };
        request.header("accept", accept).header("x-github-api-version", VERSION)
    }

    /// Sends a request and reads the whole body; fails on an error status.
    fn fetch(&self, request: &net::Request) -> Result<net::WholeResponse, Error> {
        let answer = self.net.fetch(request)?;
        self.judge(&answer.head, &answer.bytes)?;
        Ok(answer)
    }

    /// Sends a request and returns the unread response; fails on an error status.
    fn open(&self, request: &net::Request) -> Result<net::Response, Error> {
        let mut response = self.net.send(request)?;
        let mut words = Vec::new();
        if !(200..300).contains(&response.status) {
            // A body that cannot be read adds nothing to the status.
            let _ = (&mut response.body).take(WORDS).read_to_end(&mut words);
        }
        self.judge(&response, &words)?;
        Ok(response)
    }

    /// Sends a request conditionally if its response is cached. Returns the body and the next page's URL.
    fn fetch_again(&self, url: Url, accept: &str) -> Result<(Vec<u8>, Option<Url>), Error> {
        let token = self.options.token.as_deref().unwrap_or_default();
        let key = [url.as_str(), accept, token];
        let mut request = self.request(url.clone(), accept);
        let kept = self.cache.as_ref().and_then(|cache| cache.get(&key));
        if let Some(kept) = &kept {
            request = request.header("if-none-match", &kept.etag);
        }
        let answer = self.net.fetch(&request)?;
        if answer.head.status == 304
            && let Some(kept) = kept
        {
            self.note(&answer.head);
            return Ok((kept.body, kept.next.and_then(|next| self.page(&next))));
        }
        self.judge(&answer.head, &answer.bytes)?;
        let next = answer.head.header("link").and_then(next_link);
        if let (Some(cache), Some(etag)) = (&self.cache, answer.head.header("etag")) {
            let kept = CachedResponse { etag: etag.to_owned(), next: next.clone(), body: answer.bytes.clone() };
            cache.put(&key, &kept);
        }
        Ok((answer.bytes, next.and_then(|next| self.page(&next))))
    }

    /// Fetches and parses JSON.
    fn json<T: DeserializeOwned>(&self, url: Url) -> Result<T, Error> {
        parse(&self.fetch_again(url, JSON)?.0)
    }

    /// Fetches and joins all pages of a list, up to `most` pages.
    fn pages<T: DeserializeOwned>(&self, url: Url, most: usize) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        let mut next = Some(url);
        for _ in 0..most {
            let Some(url) = next else { return Ok(all) };
            let (body, after) = self.fetch_again(url, JSON)?;
            all.extend(parse::<Vec<T>>(&body)?);
            next = after;
        }
        if next.is_none() { Ok(all) } else { Err(Error::Malformed(format!("a list has more than {most} pages"))) }
    }

    /// Parses the URL of a next page; `None` if it leaves the API's origin.
    fn page(&self, text: &str) -> Option<Url> {
        Url::parse(text).ok().filter(|url| url.origin() == self.options.api.origin())
    }

    fn note(&self, head: &net::Response) -> Option<Rate> {
        let rate = Rate::of(head)?;
        *self.rate.lock().unwrap_or_else(PoisonError::into_inner) = Some(rate.clone());
        Some(rate)
    }

    /// Records the rate limit; fails on an error status.
    fn judge(&self, head: &net::Response, body: &[u8]) -> Result<(), Error> {
        let rate = self.note(head);
        if (200..300).contains(&head.status) {
            return Ok(());
        }
        Err(error::of_answer(head, body, rate, self.has_token()))
    }
}

/// Parses a JSON body.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|err| Error::Malformed(err.to_string()))
}

/// The next page in a `Link` header: `<https://…?page=2>; rel="next", …`.
fn next_link(link: &str) -> Option<String> {
    link.split(',').find_map(|item| {
        let (url, rest) = item.trim().strip_prefix('<')?.split_once('>')?;
        rest.split(';').any(|part| part.trim() == "rel=\"next\"").then(|| url.to_owned())
    })
}

/// A branch or tag in GitHub's list.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Ref {
    /// Full name, such as `refs/heads/main`.
    #[serde(rename = "ref")]
    pub name: String,
    /// The object it points to.
    pub object: Object,
}

/// Target of a ref.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Object {
    /// Hash in hex.
    pub sha: String,
    /// `commit`, or `tag` for an annotated tag.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Lists branches, then tags, whose short name begins with `start`.
pub fn refs(client: &Client, repo: &Name, start: &str) -> Result<Vec<Ref>, Error> {
    let mut all = Vec::new();
    for kind in ["heads", "tags"] {
        let mut segments = vec!["git", "matching-refs", kind];
        segments.extend(start.split('/'));
        all.extend(client.pages::<Ref>(client.within(repo, &segments), 1_000)?);
    }
    Ok(all)
}

/// The name of the default branch.
pub fn default_branch(client: &Client, repo: &Name) -> Result<String, Error> {
    #[derive(serde::Deserialize)]
    struct Answer {
        default_branch: String,
    }
    Ok(client.json::<Answer>(client.within(repo, &[]))?.default_branch)
}
