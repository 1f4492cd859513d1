//! Repository search.

use serde::Deserialize;

use super::{Client, Error, parse};

/// Maximum number of results GitHub returns for one search.
pub const REACHABLE: u64 = 1_000;

/// Sort key of search results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Best match.
    #[default]
    Relevance,
    /// Number of stars.
    Stars,
    /// Number of forks.
    Forks,
    /// Time of the last update.
    Updated,
}

/// Sort direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Highest first.
    #[default]
    Descending,
    /// Lowest first.
    Ascending,
}

/// A repository search.
#[derive(Clone, Debug)]
pub struct Query {
    /// Words and qualifiers in GitHub's search syntax.
    pub text: String,
    /// Sort key.
    pub sort: Sort,
    /// Sort direction; ignored for relevance.
    pub order: Order,
    /// Results per page, 1 to 100.
    pub per_page: u32,
    /// Page number, from 1.
    pub page: u32,
}

/// A page of results.
#[derive(Clone, Debug, Deserialize)]
pub struct ResultPage {
    /// Number of results on all pages.
    pub total_count: u64,
    /// GitHub timed out, so there may be more results.
    #[serde(default)]
    pub incomplete_results: bool,
    /// Results on this page.
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
    #[serde(default)]
    pub archived: bool,
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

/// A licence as detected by GitHub.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct License {
    pub key: String,
    pub name: String,
    pub spdx_id: Option<String>,
    pub url: Option<String>,
}

/// Fetches one page of search results.
pub fn search(client: &Client, query: &Query) -> Result<ResultPage, Error> {
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
