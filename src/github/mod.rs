//! GitHub over its REST interface: finding repositories, and reading the files of a commit without git.
//!
//! A [`Client`] asks on [`crate::net`], so where it may go and who hears the token is decided there. What was answered before is
//! asked for conditionally, which GitHub does not count. A limit that is reached is an [`Error`] that says when it ends;
//! nothing sleeps here. GitHub Enterprise is the same under another base URL.
//!
//! [`resolve`] names the commit of a branch, tag or hash, [`Tree`] is its files as a [`crate::model::SourceTree`].

mod archive;
mod cache;
#[cfg(test)]
mod described {
    mod tests;
}
mod error;
mod listing;
#[cfg(test)]
mod recorded {
    mod tests;
}
mod search;
#[cfg(test)]
pub(crate) mod stand;
#[cfg(test)]
mod tests;
mod tree;

use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use url::Url;

use crate::net;
use cache::{Cache, Kept};

pub use error::{Error, Limit};
pub use search::{Found, License, Order, Query, REACHABLE, Repository, Sort, search};
pub use tree::{Commit, How, Tree, resolve};

/// Where GitHub itself answers.
pub const API: &str = "https://api.github.com/";
/// The largest answer that is no file, in bytes: a tree of 100,000 entries has about 25 MB.
const LARGEST: u64 = 128 << 20;
/// As much of an error's own words as is read, in bytes.
const WORDS: u64 = 64 << 10;
/// What answers are made of, unless something else is asked for.
const JSON: &str = "application/vnd.github+json";
/// The version of the interface that is spoken.
const VERSION: &str = "2022-11-28";

/// How to reach GitHub.
#[derive(Clone)]
pub struct Options {
    /// The base URL: [`API`], or `https://<host>/api/v3/` of GitHub Enterprise.
    pub api: Url,
    /// Said to the API's origin only.
    pub token: Option<String>,
    /// Where answers are kept to be asked for conditionally; `None` to keep nothing.
    pub cache: Option<PathBuf>,
    /// Set when nobody wants the answers any more.
    pub cancelled: Option<Arc<AtomicBool>>,
}

/// How much may still be asked, as the last answer said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many requests in one window.
    pub limit: u64,
    /// How many of them are left.
    pub remaining: u64,
    /// When the next window begins, in seconds since 1970.
    pub reset: u64,
    /// What the window counts: `core`, `search`.
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

/// A repository on GitHub, by names that GitHub allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The user or organisation.
    pub owner: String,
    /// Without `.git`.
    pub name: String,
}

impl Name {
    /// Checks the two names.
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

/// Asks GitHub.
#[derive(Clone)]
pub struct Client {
    net: net::Client,
    options: Options,
    cache: Option<Cache>,
    rate: Arc<Mutex<Option<Rate>>>,
}

impl Client {
    /// Nothing is asked yet.
    pub fn new(net: net::Client, options: Options) -> Self {
        let cache = options.cache.clone().map(Cache::new);
        Self { net, options, cache, rate: Arc::default() }
    }

    /// How much may still be asked, as the last answer said; `None` when none did.
    pub fn rate(&self) -> Option<Rate> {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a token is used.
    pub fn has_token(&self) -> bool {
        self.options.token.is_some()
    }

    /// The URL of a resource below the base.
    fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.options.api.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// The URL of something in a repository.
    fn within(&self, repo: &Name, segments: &[&str]) -> Url {
        let mut whole = vec!["repos", repo.owner.as_str(), repo.name.as_str()];
        whole.extend(segments);
        self.url(&whole)
    }

    /// A question in a representation.
    fn request(&self, url: Url, accept: &str) -> net::Request {
        let credentials = self.options.token.as_deref().map(|token| net::Credentials::bearer(&self.options.api, token));
        let request = net::Request { credentials, limit: LARGEST, packed: true, ..net::Request::get(url) };
        let request = net::Request { cancelled: self.options.cancelled.clone(), ..request };
        request.header("accept", accept).header("x-github-api-version", VERSION)
    }

    /// Asks, and gives the whole answer when it is a good one.
    fn fetch(&self, request: &net::Request) -> Result<net::Answer, Error> {
        let answer = self.net.fetch(request)?;
        self.judge(&answer.head, &answer.bytes)?;
        Ok(answer)
    }

    /// Asks, and gives a good answer as it comes.
    fn open(&self, request: &net::Request) -> Result<net::Response, Error> {
        let mut response = self.net.send(request)?;
        let mut words = Vec::new();
        if !(200..300).contains(&response.status) {
            // What cannot be read of it says nothing more than its status.
            let _ = (&mut response.body).take(WORDS).read_to_end(&mut words);
        }
        self.judge(&response, &words)?;
        Ok(response)
    }

    /// Asks for something that may have been answered before: then it is enough to hear that it is the same.
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
            let kept = Kept { etag: etag.to_owned(), next: next.clone(), body: answer.bytes.clone() };
            cache.put(&key, &kept);
        }
        Ok((answer.bytes, next.and_then(|next| self.page(&next))))
    }

    /// Reads an answer in JSON.
    fn json<T: DeserializeOwned>(&self, url: Url) -> Result<T, Error> {
        parse(&self.fetch_again(url, JSON)?.0)
    }

    /// Reads a list to its end, page by page.
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

    /// The URL of a next page, if it is one of the API's own.
    fn page(&self, text: &str) -> Option<Url> {
        Url::parse(text).ok().filter(|url| url.origin() == self.options.api.origin())
    }

    fn note(&self, head: &net::Response) -> Option<Rate> {
        let rate = Rate::of(head)?;
        *self.rate.lock().unwrap_or_else(PoisonError::into_inner) = Some(rate.clone());
        Some(rate)
    }

    /// Takes note of the limits, and tells a bad answer by its status, its headers and its message.
    fn judge(&self, head: &net::Response, body: &[u8]) -> Result<(), Error> {
        let rate = self.note(head);
        if (200..300).contains(&head.status) {
            return Ok(());
        }
        Err(error::of_answer(head, body, rate, self.has_token()))
    }
}

/// Reads JSON that an answer should be.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|err| Error::Malformed(err.to_string()))
}

/// The next page that a `Link` header names: `<https://…?page=2>; rel="next", …`.
fn next_link(link: &str) -> Option<String> {
    link.split(',').find_map(|item| {
        let (url, rest) = item.trim().strip_prefix('<')?.split_once('>')?;
        rest.split(';').any(|part| part.trim() == "rel=\"next\"").then(|| url.to_owned())
    })
}

/// A branch or tag as GitHub lists it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Ref {
    /// The whole name: `refs/heads/main`.
    #[serde(rename = "ref")]
    pub name: String,
    /// What it names.
    pub object: Object,
}

/// What a ref names.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Object {
    /// In hex.
    pub sha: String,
    /// `commit`, or `tag` for one with a message.
    #[serde(rename = "type")]
    pub kind: String,
}

/// The branches and tags whose short name begins like this, all when it is empty; branches first.
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
