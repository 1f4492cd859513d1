//! Lists the repositories of a GitHub organisation or a GitLab group, over their REST APIs.

use serde_json::Value;
use url::Url;

use crate::answer::Error;
use crate::catalog::errors::{github_error, net_error};
use crate::catalog::{Caller, github as way};
use codelode_base::config::Secret;
use codelode_net::{self as net, Credentials, Request};
use codelode_source::github;

/// The largest page of a list, in bytes.
const LARGEST: u64 = 16 << 20;
/// The most pages of a hundred repositories.
const PAGES: usize = 1_000;
/// The path of GitLab's API.
const GITLAB: &str = "/api/v4/groups/";

/// An organisation or group with repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Organisation {
    /// An organisation or a user on the configured GitHub host.
    GitHub(String),
    /// A GitLab group, by its API address.
    GitLab(Url),
}

impl Organisation {
    /// Parses `github:acme`, `gitlab:group/subgroup`, or a group's address `https://host/api/v4/groups/group`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unknown = || {
            let message = "give github:<organisation>, gitlab:<group>, or https://<host>/api/v4/groups/<group>";
            Error::invalid_arguments(format!("{text:?} is not an organisation; {message}"))
        };
        let group = |base: &str, path: &str| {
            let mut url = Url::parse(base).map_err(|_| unknown())?;
            // A nested group is one path segment with encoded slashes.
            url.path_segments_mut().map_err(|()| unknown())?.extend(["api", "v4", "groups", path.trim_matches('/')]);
            Ok(Self::GitLab(url))
        };
        let is_plain =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        match text.split_once(':') {
            Some(("github", name)) if is_plain(name) => Ok(Self::GitHub(name.to_owned())),
            Some(("gitlab", path)) if path.split('/').all(is_plain) => group("https://gitlab.com", path),
            Some(("https" | "http", _)) => {
                let (base, path) = text.split_once(GITLAB).ok_or_else(unknown)?;
                group(base, &path.replace("%2F", "/").replace("%2f", "/"))
            }
            _ => Err(unknown()),
        }
    }
}

/// A repository of an organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// `owner/name`; on GitLab with all groups.
    pub name: String,
    /// The address for git.
    pub url: String,
    /// Whether it is a fork.
    pub is_fork: bool,
    /// Whether it is archived, and so read-only.
    pub is_archived: bool,
}

/// Lists the repositories of an organisation that this process's token may see, sorted by name.
pub fn repositories(caller: &Caller<'_>, of: &Organisation) -> Result<Vec<Owned>, Error> {
    let mut all = match of {
        Organisation::GitHub(name) => of_github(caller, name)?,
        Organisation::GitLab(url) => of_gitlab(caller, url)?,
    };
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

fn of_github(caller: &Caller<'_>, name: &str) -> Result<Vec<Owned>, Error> {
    let owned = |one: github::Repository| Owned {
        url: one.clone_url.unwrap_or(one.html_url),
        name: one.full_name,
        is_fork: one.fork,
        is_archived: one.archived,
    };
    let all = github::owned(&way::client(caller)?, name).map_err(github_error)?;
    Ok(all.into_iter().map(owned).collect())
}

fn of_gitlab(caller: &Caller<'_>, group: &Url) -> Result<Vec<Owned>, Error> {
    let host = group.host_str().unwrap_or_default();
    let host = group.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let token = caller.config.git.token(&host).map(|Secret(token)| token.clone());
    let client = caller.remotes.client(caller.config);
    let mut all = Vec::new();
    let mut page = "1".to_owned();
    for _ in 0..PAGES {
        let mut url = net::api::below(group, &["projects"]);
        url.query_pairs_mut().extend_pairs([
            ("include_subgroups", "true"),
            ("simple", "false"),
            ("order_by", "id"),
            ("per_page", "100"),
            ("page", &page),
        ]);
        let credentials = token.as_ref().map(|token| Credentials::bearer(group, token));
        let cancelled = Some(caller.request.cancelled.clone());
        let request = Request { credentials, limit: LARGEST, cancelled, ..Request::get(url) };
        let answer = client.fetch(&request.header("accept", "application/json")).map_err(|err| net_error(&err))?;
        let failed = |what: String| Error::unavailable(format!("{host} does not list the group: {what}"));
        match answer.head.status {
            200 => {}
            404 => return Err(Error::not_found(format!("{host} has no such group, or shows it only with a token"))),
            status => return Err(failed(format!("status {status}"))),
        }
        let rows: Vec<Value> = serde_json::from_slice(&answer.bytes).map_err(|err| failed(err.to_string()))?;
        all.extend(rows.iter().filter_map(|row| {
            Some(Owned {
                name: row["path_with_namespace"].as_str()?.to_owned(),
                url: row["http_url_to_repo"].as_str()?.to_owned(),
                is_fork: row.get("forked_from_project").is_some_and(|from| !from.is_null()),
                is_archived: row["archived"].as_bool().unwrap_or_default(),
            })
        }));
        match answer.head.header("x-next-page").filter(|next| !next.is_empty()) {
            Some(next) => page = next.to_owned(),
            None => return Ok(all),
        }
    }
    Err(Error::unavailable(format!("the group has more than {PAGES} pages of repositories")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Request as Asked;
    use crate::catalog::Context;
    use codelode_base::config::Config;
    use codelode_net::test_server::{Reply, TestServer};

    fn names(server: &TestServer, of: &str) -> Result<Vec<String>, String> {
        let home = tempfile::tempdir().expect("there is room");
        let mut config = Config { home: home.path().join("codelode"), ..Config::default() };
        config.trusted_hosts = vec!["localhost".to_owned()];
        config.github.api = server.url("/").parse().expect("it is a URL");
        let (cx, request) = (Context::new(config), Asked::default());
        let of = Organisation::parse(of).map_err(|err| err.message)?;
        let all = repositories(&cx.caller(&request), &of).map_err(|err| err.message)?;
        let shown = |one: Owned| {
            let marks = [(one.is_fork, " fork"), (one.is_archived, " archived")];
            let marks: String = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
            format!("{} {}{marks}", one.name, one.url)
        };
        Ok(all.into_iter().map(shown).collect())
    }

    #[test]
    fn an_organisation_of_github_is_listed_page_by_page_and_a_user_as_well() {
        let server = TestServer::http(|asked| {
            let row = |name: &str, more: &str| {
                let url = format!("https://github.com/acme/{name}");
                format!(
                    r#"{{"name": "{name}", "full_name": "acme/{name}", "html_url": "{url}", "clone_url": "{url}.git"{more}}}"#
                )
            };
            let next =
                format!("<http://{}/orgs/acme/repos?page=2>; rel=\"next\"", asked.header("host").expect("it has one"));
            match &*asked.path {
                "/orgs/acme/repos?per_page=100" => {
                    Reply::new(200, format!("[{}, {}]", row("shop", ""), row("old", r#", "archived": true"#)))
                        .with("link", &next)
                }
                "/orgs/acme/repos?page=2" => Reply::new(200, format!("[{}]", row("copy", r#", "fork": true"#))),
                "/users/alice/repos?per_page=100" => Reply::new(200, format!("[{}]", row("own", ""))),
                _ => Reply::new(404, r#"{"message": "Not Found"}"#),
            }
        });
        let expected = [
            "acme/copy https://github.com/acme/copy.git fork",
            "acme/old https://github.com/acme/old.git archived",
            "acme/shop https://github.com/acme/shop.git",
        ];
        assert_eq!(names(&server, "github:acme").expect("it is there"), expected);
        assert_eq!(names(&server, "github:alice").expect("she is there").len(), 1);
        assert!(names(&server, "github:nobody").is_err());
    }

    #[test]
    fn a_group_of_gitlab_is_listed_with_its_subgroups() {
        let server = TestServer::http(|asked| {
            let row = |name: &str, more: &str| {
                format!(
                    r#"{{"path_with_namespace": "acme/{name}", "http_url_to_repo": "https://gitlab.example/acme/{name}.git"{more}}}"#
                )
            };
            let path =
                "/api/v4/groups/acme%2Fweb/projects?include_subgroups=true&simple=false&order_by=id&per_page=100&page=";
            match asked.path.strip_prefix(path) {
                Some("1") => {
                    Reply::new(200, format!("[{}]", row("web/shop", r#", "archived": false"#))).with("x-next-page", "2")
                }
                Some("2") => Reply::new(200, format!("[{}]", row("web/b/c", r#", "forked_from_project": {"id": 1}"#)))
                    .with("x-next-page", ""),
                _ => Reply::new(404, "{}"),
            }
        });
        let expected = [
            "acme/web/b/c https://gitlab.example/acme/web/b/c.git fork",
            "acme/web/shop https://gitlab.example/acme/web/shop.git",
        ];
        for group in ["acme/web", "acme%2Fweb"] {
            let listed = names(&server, &server.url(&format!("/api/v4/groups/{group}")));
            assert_eq!(listed.expect("it is there"), expected, "{group}");
        }
        let problem = names(&server, &server.url("/api/v4/groups/other")).expect_err("there is none");
        assert!(problem.contains("no such group"), "{problem}");
    }

    #[test]
    fn an_organisation_is_named_with_its_forge() {
        for wrong in ["acme", "github:", "github:a/b", "gitlab:a//b", "https://gitlab.example/acme", "ftp:x"] {
            assert!(Organisation::parse(wrong).is_err(), "{wrong}");
        }
        let group = Organisation::parse("gitlab:acme/web").expect("it is one");
        assert_eq!(
            group,
            Organisation::GitLab(Url::parse("https://gitlab.com/api/v4/groups/acme%2Fweb").expect("a URL"))
        );
    }
}
