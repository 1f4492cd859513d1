//! Repositories on GitHub.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::github::{self, Order, REACHABLE, Sort};
use super::{Call, Error, Tool};

/// The longest query that GitHub accepts.
const LONGEST_QUERY: usize = 256;

/// Search GitHub for popular open source projects and libraries by words, language, stars.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// `http client language:rust stars:>100`.
    query: String,
    /// Sort key, best first.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["sort"]))]
    sort_by: SortBy,
    /// Sort direction.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    order: Direction,
    /// 1 to 100.
    #[serde(default = "thirty")]
    #[schemars(extend("x-hidden" = "client"))]
    per_page: u32,
    /// From 1.
    #[serde(default = "one")]
    page: u32,
}

fn thirty() -> u32 {
    30
}

fn one() -> u32 {
    1
}

/// Order of results.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SortBy {
    #[default]
    Relevance,
    Stars,
    Forks,
    Updated,
}

/// Sort direction.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    #[default]
    Descending,
    Ascending,
}

/// One page of what was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    repositories: Vec<Repository>,
    /// Number of results on all pages.
    total_count: u64,
    page: u32,
    per_page: u32,
    /// GitHub timed out: there may be more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    incomplete_results: bool,
}

/// A repository, as GitHub describes it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
struct Repository {
    full_name: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    stargazers_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    private: bool,
    html_url: String,
    fork: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssh_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clone_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    svn_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    homepage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<License>,
    topics: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_branch: Option<String>,
}

/// A licence, as GitHub recognised it.
#[derive(Debug, Serialize, JsonSchema)]
struct License {
    key: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    spdx_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// See [`Args`].
pub struct SearchRepositories;

impl Tool for SearchRepositories {
    const NAME: &'static str = "search_repositories";
    const COMMAND: &'static str = "github";
    const POSITIONAL: &'static [&'static str] = &["query"];
    const LIST: Option<&'static str> = Some("repositories");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let query = checked(&args)?;
        let found = github::search(call, &query)?;
        let items = found.items.into_iter().map(repository).collect::<Vec<_>>();
        let shown = items.len();
        call.narrow("fewer per_page, or more qualifiers: language:, stars:>, topic:, user:");
        Ok(Output {
            repositories: call.page(items, shown),
            total_count: found.total_count,
            page: args.page,
            per_page: args.per_page,
            incomplete_results: found.incomplete_results,
        })
    }
}

/// The query for GitHub, or an error: an invalid query costs no request.
fn checked(args: &Args) -> Result<github::Query, Error> {
    let wrong = |message: String| Err(Error::invalid_arguments(message));
    let text = args.query.trim();
    if text.is_empty() {
        return wrong("query is empty; give words or qualifiers, as `language:rust stars:>100`".to_owned());
    }
    let length = text.chars().count();
    if length > LONGEST_QUERY {
        return wrong(format!("query has {length} characters; GitHub takes at most {LONGEST_QUERY}"));
    }
    if !(1..=100).contains(&args.per_page) {
        return wrong(format!("per_page is {}; give 1 to 100", args.per_page));
    }
    let first = u64::from(args.page.saturating_sub(1)) * u64::from(args.per_page);
    if args.page == 0 || first >= REACHABLE {
        let last = REACHABLE.div_ceil(u64::from(args.per_page));
        return wrong(format!(
            "page is {}; GitHub gives the first {REACHABLE} results, which are pages 1 to {last}",
            args.page
        ));
    }
    let sort = match args.sort_by {
        SortBy::Relevance => Sort::Relevance,
        SortBy::Stars => Sort::Stars,
        SortBy::Forks => Sort::Forks,
        SortBy::Updated => Sort::Updated,
    };
    let order = match args.order {
        Direction::Descending => Order::Descending,
        Direction::Ascending => Order::Ascending,
    };
    Ok(github::Query { text: text.to_owned(), sort, order, per_page: args.per_page, page: args.page })
}

fn repository(found: github::Repository) -> Repository {
    let said = |text: Option<String>| text.filter(|text| !text.is_empty());
    Repository {
        full_name: found.full_name,
        name: found.name,
        description: said(found.description),
        stargazers_count: found.stargazers_count,
        language: found.language,
        private: found.private,
        html_url: found.html_url,
        fork: found.fork,
        created_at: found.created_at,
        updated_at: found.updated_at,
        pushed_at: found.pushed_at,
        git_url: found.git_url,
        ssh_url: found.ssh_url,
        clone_url: found.clone_url,
        svn_url: found.svn_url,
        homepage: said(found.homepage),
        license: found.license.map(|license| License {
            key: license.key,
            name: license.name,
            spdx_id: license.spdx_id,
            url: license.url,
        }),
        topics: found.topics,
        visibility: found.visibility,
        default_branch: found.default_branch,
    }
}
