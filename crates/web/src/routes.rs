//! Pages by their addresses.

use url::form_urlencoded;

use maud::Markup;

use super::failure::Failure;
use super::layout::Page;
use super::{change, code, doctor, folder, hover, impact, links, meanings, picture, search, start, symbol};
use codelode_service::tools::Context;

/// An answer to a browser.
pub(super) enum Reply {
    Page(Page),
    /// A part of a page, for the client.
    Part(Markup),
    /// Another address.
    Elsewhere(String),
    /// A kind of content, and its bytes.
    File(&'static str, Vec<u8>),
}

/// A request: who asks, and the values in the query.
pub(super) struct Asked<'a> {
    pub cx: &'a Context,
    /// Whether the browser is on this machine, and its user the server's own.
    pub is_own: bool,
    values: Vec<(String, String)>,
}

impl<'a> Asked<'a> {
    pub fn new(cx: &'a Context, is_own: bool, query: &str) -> Self {
        Self { cx, is_own, values: form_urlencoded::parse(query.as_bytes()).into_owned().collect() }
    }

    /// A value of the query; empty if it is not there.
    pub fn value(&self, key: &str) -> &str {
        self.values.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value)
    }

    /// Every value of a key of the query.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.values.iter().filter(move |(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// A number of the query.
    pub fn number(&self, key: &str) -> Option<u32> {
        self.value(key).parse().ok()
    }
}

/// A place in a repository.
pub(super) struct Place {
    pub repo: String,
    /// Commit or hash of the content.
    pub version: Option<String>,
    pub path: String,
}

/// Makes the answer for an address.
pub(super) fn reply(cx: &Context, is_own: bool, path: &str, query: &str) -> Result<Reply, Failure> {
    let asked = Asked::new(cx, is_own, query);
    let missing = || Failure::missing("Nothing has this address.");
    let (first, rest) = path.trim_start_matches('/').split_once('/').unwrap_or((path.trim_start_matches('/'), ""));
    match first {
        "" => Ok(Reply::Page(start::page(&asked))),
        "doctor" if rest.is_empty() => doctor::page(&asked),
        "search" if rest.is_empty() => Ok(Reply::Page(search::page(&asked))),
        "r" => {
            let place = place(cx, rest).ok_or_else(missing)?;
            match place.path.is_empty() || place.path.ends_with('/') {
                true => folder::page(&asked, &place),
                false => code::page(&asked, &place),
            }
        }
        "find" if rest.is_empty() => Ok(Reply::Part(search::results(&asked, asked.value("in")))),
        "change" => change::page(&asked, &place(cx, rest).ok_or_else(missing)?.repo).map(Reply::Page),
        "v" => change::versions(&asked, &place(cx, rest).ok_or_else(missing)?.repo),
        "h" => hover::part(&asked, &place(cx, rest).ok_or_else(missing)?),
        "raw" => code::raw(&asked, &place(cx, rest).ok_or_else(missing)?),
        "p" => code::permalink(&asked, &place(cx, rest).ok_or_else(missing)?),
        "g" => picture::page(&asked, &place(cx, rest).ok_or_else(missing)?),
        "i" => impact::page(&asked, &place(cx, rest).ok_or_else(missing)?.repo).map(Reply::Page),
        "m" => picture::matrix(&asked, &place(cx, rest).ok_or_else(missing)?),
        "s" => symbol::page(&asked, &place(cx, rest).ok_or_else(missing)?.repo).map(Reply::Page),
        "d" => meanings::page(&asked, &place(cx, rest).ok_or_else(missing)?),
        _ => Err(missing()),
    }
}

/// The place that a path names: `owner/name`, a version after `@` if it has one, and a path. Versions may be part of a
/// repository's id as well.
fn place(cx: &Context, path: &str) -> Option<Place> {
    let mut parts = path.splitn(3, '/');
    let (owner, name) = (links::decoded(parts.next()?)?, links::decoded(parts.next()?)?);
    let path = links::decoded(parts.next().unwrap_or_default())?;
    let repo = format!("{owner}/{name}");
    let registry = cx.indexes.registry();
    if let (None, Some((whole, version))) = (registry.get(&repo), repo.rsplit_once('@')) {
        return Some(Place { repo: whole.to_owned(), version: Some(version.to_owned()), path });
    }
    Some(Place { repo, version: None, path })
}
