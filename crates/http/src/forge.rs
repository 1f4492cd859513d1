//! Rights that follow a forge: a caller brings its own token of GitHub or GitLab, and sees the repositories whose code that
//! token may read there. The forge is asked again after five minutes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::Semaphore;
use url::Url;

use super::again::EVERY;
use super::callers::{Refusal, UNKNOWN};
use super::tokens::{Grant, digest};
use super::{Elsewhere, StatusCode};
use codelode_base::config::Config;
use codelode_base::model::Rights;
use codelode_net::{self as net, Client, Credentials, Request};

/// Age at which an answer of the forge no longer counts: five minutes with the time until a request that goes on is looked at again.
const OLD: Duration = Duration::from_secs(300 - 2 * EVERY.as_secs());
/// Time limit for one question.
const SLOWEST: Duration = Duration::from_secs(10);
/// Size limit of an answer.
const LARGEST: u64 = 1 << 20;
/// Questions about one caller at once.
const AT_ONCE: usize = 8;
/// Callers that the forge is asked about at once.
const CALLERS_AT_ONCE: usize = 4;
/// Tokens whose rights are remembered.
const MOST_KNOWN: usize = 4096;
/// Longest token that is shown to the forge.
const LONGEST: usize = 1024;

/// A forge.
pub(super) struct Forge {
    client: Client,
    api: Url,
    kind: Kind,
    known: Mutex<HashMap<[u8; 32], Known>>,
    turns: Semaphore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    GitHub,
    GitLab,
}

/// A token that the forge was asked about.
struct Known {
    /// `None` for a token that the forge does not know.
    grant: Option<Arc<Grant>>,
    at: Instant,
    /// The repositories that were asked about.
    repos: Arc<Vec<Elsewhere>>,
}

impl Forge {
    /// The forge of the settings; `None` without one.
    pub(super) fn of(config: &Config) -> Option<Self> {
        let api = config.http.forge.clone()?;
        let kind = if api.path().trim_end_matches('/').ends_with("/api/v4") { Kind::GitLab } else { Kind::GitHub };
        let options = net::Options {
            trusted_hosts: config.trusted_hosts.clone(),
            ca_file: config.ca_file.clone(),
            ..net::Options::default()
        };
        let (known, turns) = (Mutex::default(), Semaphore::new(CALLERS_AT_ONCE));
        Some(Self { client: Client::new(options), api, kind, known, turns })
    }

    /// The caller with this token, and its rights to repositories.
    pub(super) async fn grant(self: &Arc<Self>, token: &str, repos: Vec<Elsewhere>) -> Result<Arc<Grant>, Refusal> {
        let unknown = || (StatusCode::UNAUTHORIZED, UNKNOWN.to_owned());
        if token.len() > LONGEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unknown());
        }
        let key = digest(token);
        let remembered = |forge: &Self| {
            let known = forge.lock();
            let known = known.get(&key).filter(|known| known.at.elapsed() < OLD && *known.repos == repos)?;
            Some(known.grant.clone().ok_or_else(unknown))
        };
        if let Some(answer) = remembered(self) {
            return answer;
        }
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        // Another request of this caller may have asked meanwhile.
        if let Some(answer) = remembered(self) {
            return answer;
        }
        let (forge, own, asked) = (self.clone(), token.to_owned(), repos.clone());
        let answer = tokio::task::spawn_blocking(move || forge.ask(&own, &asked)).await;
        let grant = answer.unwrap_or_else(|err| Err(err.to_string())).map_err(|problem| {
            tracing::error!("the forge at {} does not answer: {problem}", self.api);
            (StatusCode::SERVICE_UNAVAILABLE, "the forge that knows this token does not answer".to_owned())
        })?;
        let mut known = self.lock();
        if known.len() >= MOST_KNOWN {
            known.retain(|_, known| known.at.elapsed() < OLD);
        }
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, Known { grant: grant.clone(), at: Instant::now(), repos: Arc::new(repos) });
        grant.ok_or_else(unknown)
    }

    /// Asks who a token is of, and which repositories it may read; `None` if nobody's.
    fn ask(&self, token: &str, repos: &[Elsewhere]) -> Result<Option<Arc<Grant>>, String> {
        let (status, user) = self.got(token, &["user"], &[])?;
        let id = match status {
            200 => user["id"].as_u64().ok_or("it names no user")?,
            401 | 403 => return Ok(None),
            _ => return Err(format!("status {status}")),
        };
        let own: Vec<(&str, String)> =
            repos.iter().filter_map(|repo| Some((&*repo.id, self.path_of(&repo.url)?))).collect();
        let mut seen = Vec::new();
        for some in own.chunks(AT_ONCE) {
            let answers: Vec<Result<bool, String>> = thread::scope(|scope| {
                let asked = some.iter().map(|(_, path)| scope.spawn(move || self.reads(token, path)));
                let asked: Vec<_> = asked.collect();
                asked.into_iter().map(|one| one.join().unwrap_or_else(|_| Err("a question broke off".into()))).collect()
            });
            for ((id, _), answer) in some.iter().zip(answers) {
                // A right to a repository is one to all its versions.
                if answer? {
                    seen.push(globset::escape(id.split_once('@').map_or(id, |(whole, _)| whole)));
                }
            }
        }
        let rights = Rights { roots: Some(Vec::new()), ..Rights::to_see(&seen)? };
        let kind = if self.kind == Kind::GitHub { "github" } else { "gitlab" };
        Ok(Some(Arc::new(Grant::of(format!("_{kind}-{id}"), rights))))
    }

    /// Whether a token may read the code of a repository. Its description alone may be open to more.
    fn reads(&self, token: &str, path: &str) -> Result<bool, String> {
        let (status, _) = match self.kind {
            Kind::GitHub => {
                let (owner, name) = path.split_once('/').unwrap_or((path, ""));
                self.got(token, &["repos", owner, name, "commits"], &[("per_page", "1")])?
            }
            Kind::GitLab => self.got(token, &["projects", path, "repository", "tree"], &[("per_page", "1")])?,
        };
        match status {
            200 => Ok(true),
            // 409 is an empty repository, 451 one that the law has closed.
            401 | 403 | 404 | 409 | 451 => Ok(false),
            _ => Err(format!("status {status}")),
        }
    }

    fn got(&self, token: &str, path: &[&str], query: &[(&str, &str)]) -> Result<(u16, Value), String> {
        let mut url = net::api::below(&self.api, path);
        for (key, value) in query {
            url.query_pairs_mut().append_pair(key, value);
        }
        let credentials = Some(Credentials::bearer(&url, token).plain_here());
        let request = Request::get(url).header("Accept", "application/json");
        let request = Request { credentials, limit: LARGEST, time: SLOWEST, attempts: 2, ..request };
        let answer = self.client.fetch(&request).map_err(|err| err.to_string())?;
        Ok((answer.head.status, serde_json::from_slice(&answer.bytes).unwrap_or_default()))
    }

    /// The path of a repository of this forge, by its URL.
    fn path_of(&self, url: &str) -> Option<String> {
        let plain = super::hooks::plainly(url);
        let (host, path) = plain.split_once('/')?;
        let own = self.api.host_str()?;
        let own = own.strip_prefix("api.").unwrap_or(own);
        let port = self.api.port().map(|port| format!(":{port}")).unwrap_or_default();
        (host == format!("{own}{port}") && path.contains('/')).then(|| path.to_owned())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Known>> {
        // A panic leaves the table whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU16, Ordering};

    use super::*;
    use codelode_net::test_server::{ReceivedRequest, Reply, TestServer};

    /// A forge on which `alice` may read the code of one repository, and only the description of another.
    fn answers(asked: &ReceivedRequest, status: u16) -> Reply {
        let is_alice = asked.header("authorization") == Some("Bearer alices-token");
        match &*asked.path {
            "/api/v4/user" | "/user" if is_alice => Reply::new(status, "{\"id\": 7}"),
            "/api/v4/user" | "/user" => Reply::new(401, "{}"),
            "/repos/acme/shop/commits?per_page=1" | "/api/v4/projects/acme%2Fshop/repository/tree?per_page=1" => {
                Reply::new(status, "[]")
            }
            _ => Reply::new(404, "{}"),
        }
    }

    fn forge(server: &TestServer, path: &str) -> Arc<Forge> {
        let mut config = Config { trusted_hosts: vec!["localhost".to_owned()], ..Config::default() };
        config.http.forge = Some(Url::parse(&server.url(path)).expect("a URL"));
        Arc::new(Forge::of(&config).expect("it is set"))
    }

    fn grant(forge: &Arc<Forge>, token: &str, repos: &[Elsewhere]) -> Result<Arc<Grant>, u16> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("there are threads");
        let granted = runtime.block_on(forge.grant(token, repos.to_vec()));
        granted.map_err(|(status, _)| status.as_u16())
    }

    fn held(server: &TestServer) -> Vec<Elsewhere> {
        let own = server.url("").trim_end_matches('/').to_owned();
        let of = |id: &str, url: String| Elsewhere { id: id.to_owned(), url };
        vec![
            of("acme/shop", format!("{own}/acme/shop.git")),
            of("acme/shop@v1", format!("{own}/acme/shop.git")),
            of("acme/vault", format!("{own}/acme/vault")),
            of("acme/elsewhere", "https://other.example/acme/shop".to_owned()),
        ]
    }

    #[test]
    fn a_caller_sees_what_its_token_may_read_on_the_forge() {
        for path in ["", "/api/v4"] {
            let server = TestServer::http(|asked| answers(asked, 200));
            let (forge, repos) = (forge(&server, path), held(&server));
            let alice = grant(&forge, "alices-token", &repos).expect("the forge knows her");
            assert!(alice.name.ends_with("-7"), "{}", alice.name);
            let sees = ["acme/shop", "acme/shop@v1", "acme/vault", "acme/elsewhere", "local/x"]
                .map(|id| alice.rights.sees(id));
            assert_eq!(sees, [true, true, false, false, false]);
            assert!(!alice.rights.index && !alice.rights.invalidate && !alice.rights.sees_all());
            for wrong in ["mallorys-token", "", "a b", &"x".repeat(5_000)] {
                assert_eq!(grant(&forge, wrong, &repos).map(|_| ()), Err(401), "{wrong:.20}");
            }
        }
    }

    #[test]
    fn the_forge_is_asked_once_and_again_for_other_repositories_and_after_five_minutes() {
        let server = TestServer::http(|asked| answers(asked, 200));
        let (forge, repos) = (forge(&server, ""), held(&server));
        let n_asked = || server.asked().len();
        let first = grant(&forge, "alices-token", &repos[..1]).expect("known");
        let before = n_asked();
        assert!(Arc::ptr_eq(&first, &grant(&forge, "alices-token", &repos[..1]).expect("known")));
        assert_eq!(n_asked(), before);
        assert!(grant(&forge, "alices-token", &repos).is_ok());
        assert!(n_asked() > before, "there are more repositories");
        let before = n_asked();
        for known in forge.lock().values_mut() {
            known.at = Instant::now().checked_sub(OLD).expect("the machine runs for so long");
        }
        assert!(grant(&forge, "alices-token", &repos).is_ok());
        assert!(n_asked() > before, "the answer is too old");
    }

    #[test]
    fn a_right_that_the_forge_takes_back_ends_with_the_answer_before() {
        static READS: AtomicU16 = AtomicU16::new(200);
        let server = TestServer::http(|asked| match &*asked.path {
            "/user" => answers(asked, 200),
            _ => answers(asked, READS.load(Ordering::Relaxed)),
        });
        let (forge, repos) = (forge(&server, ""), held(&server));
        let sees = || grant(&forge, "alices-token", &repos).expect("the forge knows her").rights.sees("acme/shop");
        assert!(sees());
        READS.store(404, Ordering::Relaxed);
        assert!(sees(), "the answer before still counts");
        for known in forge.lock().values_mut() {
            known.at = Instant::now().checked_sub(OLD).expect("the machine runs for so long");
        }
        assert!(!sees());
        assert!(OLD + EVERY < Duration::from_secs(300));
    }

    #[test]
    fn a_forge_that_fails_lets_nobody_in() {
        static STATUS: AtomicU16 = AtomicU16::new(503);
        let server = TestServer::http(|asked| answers(asked, STATUS.load(Ordering::Relaxed)).with("retry-after", "1"));
        let (forge, repos) = (forge(&server, ""), held(&server));
        assert_eq!(grant(&forge, "alices-token", &repos).map(|_| ()), Err(503));
        STATUS.store(200, Ordering::Relaxed);
        assert!(grant(&forge, "alices-token", &repos).is_ok(), "a failure is not remembered");
    }
}
