//! Finding repositories.

use serde::Deserialize;

use super::{Client, Error, parse};

/// GitHub gives no more results of one search than these.
pub const REACHABLE: u64 = 1_000;

/// By what repositories are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// How well they fit.
    #[default]
    Relevance,
    /// How many like them.
    Stars,
    /// How many go their own way from them.
    Forks,
    /// When they changed last.
    Updated,
}

/// In which direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The most first.
    #[default]
    Descending,
    /// The least first.
    Ascending,
}

/// What to look for.
#[derive(Clone, Debug)]
pub struct Query {
    /// Words and qualifiers, as GitHub's search box takes them.
    pub text: String,
    /// By what results are ordered.
    pub sort: Sort,
    /// In which direction; says nothing for relevance.
    pub order: Order,
    /// Results on a page, 1 to 100.
    pub per_page: u32,
    /// Which page, from 1.
    pub page: u32,
}

/// A page of results.
#[derive(Clone, Debug, Deserialize)]
pub struct Found {
    /// How many there are on all pages.
    pub total_count: u64,
    /// GitHub ran out of time, so there may be more.
    #[serde(default)]
    pub incomplete_results: bool,
    /// This page.
    pub items: Vec<Repository>,
}

/// A repository as GitHub describes it. Times are RFC 3339.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Repository {
    pub name: String,
    pub full_name: String,
    #[serde(default)]
    pub private: bool,
    pub html_url: String,
    pub description: Option<String>,
    #[serde(default)]
    pub fork: bool,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub pushed_at: Option<String>,
    pub git_url: Option<String>,
    pub ssh_url: Option<String>,
    pub clone_url: Option<String>,
    pub svn_url: Option<String>,
    pub homepage: Option<String>,
    pub language: Option<String>,
    pub license: Option<License>,
    #[serde(default)]
    pub topics: Vec<String>,
    pub visibility: Option<String>,
    pub default_branch: Option<String>,
    #[serde(default)]
    pub stargazers_count: u64,
}

/// A licence as GitHub recognised it.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct License {
    pub key: String,
    pub name: String,
    pub spdx_id: Option<String>,
    pub url: Option<String>,
}

/// One page of the repositories that fit.
pub fn search(client: &Client, query: &Query) -> Result<Found, Error> {
    let mut url = client.url(&["search", "repositories"]);
    {
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("q", &query.text);
        let sort = match query.sort {
            Sort::Relevance => None,
            Sort::Stars => Some("stars"),
            Sort::Forks => Some("forks"),
            Sort::Updated => Some("updated"),
        };
        if let Some(sort) = sort {
            let order = if query.order == Order::Ascending { "asc" } else { "desc" };
            pairs.append_pair("sort", sort).append_pair("order", order);
        }
        pairs.append_pair("per_page", &query.per_page.to_string()).append_pair("page", &query.page.to_string());
    }
    parse(&client.fetch_again(url, super::JSON)?.0)
}
