//! Webhooks: a forge tells that a repository has changed. Nothing in its message counts but which repository it is; the
//! message must be signed with that repository's secret, and counts once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ring::hmac;
use serde_json::Value;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use super::callers::Refusal;
use super::tokens::digest;
use super::{Answer, HeaderMap, Parts, StatusCode, plain};
use codelode_base::config::Secret;

/// Path of webhooks; the forge follows.
pub(super) const HOOKS: &str = "/hooks/";
/// Seconds by which the time of a generic message may differ from the server's.
const CLOCKS: u64 = 300;
/// Time for which a message is known again, and how many are; the oldest goes.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);
const MOST_REMEMBERED: usize = 20_000;
/// Names of a message's repository, by the forge's place for them.
const NAMES: [&str; 11] = [
    "/repository",
    "/repository/clone_url",
    "/repository/html_url",
    "/repository/ssh_url",
    "/repository/full_name",
    "/project/git_http_url",
    "/project/git_ssh_url",
    "/project/web_url",
    "/project/path_with_namespace",
    "/url",
    "/name",
];

/// A repository that webhooks may name.
#[derive(Clone)]
pub struct Hooked {
    /// Its name among the repositories that are kept.
    pub name: String,
    /// Its URL.
    pub url: Option<String>,
    /// The secret that its messages are signed with.
    pub secret: Secret,
}

/// Repositories that are kept up to date.
pub trait Kept: Send + Sync {
    /// Those that webhooks may name.
    fn hooked(&self) -> Vec<Hooked>;
    /// Takes note that one has changed.
    fn changed(&self, name: &str);
}

/// Forges by the header that holds a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forge {
    GitHub,
    GitLab,
    Gitea,
    Generic,
}

/// Messages that were taken, by digests of all that is signed in them.
#[derive(Default)]
pub(super) struct Taken(Mutex<HashMap<[u8; 32], Instant>>);

impl Taken {
    /// Whether a message is new; from now on it is not.
    fn is_new(&self, message: [u8; 32]) -> bool {
        // Every change is one step, so a panic leaves the table intact.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_REMEMBERED {
            all.retain(|_, at| at.elapsed() < REMEMBERED);
        }
        if all.len() >= MOST_REMEMBERED
            && let Some(oldest) = all.iter().min_by_key(|(_, at)| **at).map(|(message, _)| *message)
        {
            all.remove(&oldest);
        }
        all.insert(message, Instant::now()).is_none_or(|at| at.elapsed() >= REMEMBERED)
    }
}

/// Takes a message of a forge.
pub(super) fn taken(kept: &Arc<dyn Kept>, before: &Taken, request: &Parts, body: &[u8]) -> Result<Answer, Refusal> {
    let forge = match request.uri.path().strip_prefix(HOOKS) {
        Some("github") => Forge::GitHub,
        Some("gitlab") => Forge::GitLab,
        Some("gitea" | "forgejo") => Forge::Gitea,
        Some("generic") => Forge::Generic,
        _ => return Err((StatusCode::NOT_FOUND, "hooks are /hooks/github, gitlab, gitea and generic".to_owned())),
    };
    let message = forge.message(request, body);
    let named = named(message.repo.clone(), body);
    // The secret comes first: only a forge that knows it learns which repositories there are.
    let all = kept.hooked();
    let right = all.iter().filter(|one| forge.signs(&request.headers, &message.signed, &one.secret));
    let mut right = right.peekable();
    if right.peek().is_none() || !message.is_of_now {
        return Err((StatusCode::UNAUTHORIZED, "this message is not signed with a secret of this server".to_owned()));
    }
    match right.find(|one| named.iter().any(|named| one.is_named(named))) {
        Some(one) if !before.is_new(message.digest(&one.name)) => {
            tracing::info!(repo = one.name, "a message of a forge came again");
            Ok(plain(StatusCode::ACCEPTED, "taken before\n"))
        }
        Some(one) => {
            kept.changed(&one.name);
            Ok(plain(StatusCode::ACCEPTED, "taken\n"))
        }
        None => Err((StatusCode::NOT_FOUND, "no repository that has this secret is named".to_owned())),
    }
}

/// The signed part of a message.
struct Message {
    signed: Vec<u8>,
    /// The repository that the address names, where that is signed.
    repo: Option<String>,
    /// Whether its time is about now, of a message with a time.
    is_of_now: bool,
}

impl Message {
    fn digest(&self, name: &str) -> [u8; 32] {
        Sha256::new().chain_update(name).chain_update([0]).chain_update(&self.signed).finalize().into()
    }
}

impl Hooked {
    fn is_named(&self, named: &str) -> bool {
        let named = plainly(named);
        let of_url = self.url.as_deref().map(plainly);
        let owner_and_name = of_url.as_deref().and_then(|url| url.split_once('/')).map(|(_, rest)| rest);
        !named.is_empty() && [Some(&*self.name), of_url.as_deref(), owner_and_name].contains(&Some(&*named))
    }
}

impl Forge {
    /// The signed part of a message. Forges sign their bodies, which say what happened and when, and an address with
    /// another repository is none of their words. A generic message has its time and the repository above its body.
    fn message(self, request: &Parts, body: &[u8]) -> Message {
        if self != Self::Generic {
            return Message { signed: body.to_vec(), repo: None, is_of_now: true };
        }
        let query = form_urlencoded::parse(request.uri.query().unwrap_or_default().as_bytes());
        let repo = query.into_owned().find(|(key, _)| key == "repo").map(|(_, name)| name);
        let time = request.headers.get("x-timestamp").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let is_of_now = time.parse::<u64>().is_ok_and(|time| time.abs_diff(now) <= CLOCKS);
        let head = format!("{time}\n{}\n", repo.as_deref().unwrap_or_default());
        Message { signed: [head.as_bytes(), body].concat(), repo, is_of_now }
    }

    /// Whether a message is signed with a secret.
    fn signs(self, headers: &HeaderMap, body: &[u8], Secret(secret): &Secret) -> bool {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let signed = |value: &str| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
            hex(value).is_some_and(|tag| hmac::verify(&key, body, &tag).is_ok())
        };
        let prefixed = |name: &str| header(name).and_then(|value| value.strip_prefix("sha256=")).is_some_and(signed);
        match self {
            Self::GitHub => prefixed("x-hub-signature-256"),
            Self::Gitea => header("x-gitea-signature").or(header("x-forgejo-signature")).is_some_and(signed),
            Self::Generic => prefixed("x-signature-256"),
            // GitLab sends the secret itself.
            Self::GitLab => header("x-gitlab-token").is_some_and(|token| digest(token).ct_eq(&digest(secret)).into()),
        }
    }
}

/// Names that a message has for its repository.
fn named(asked: Option<String>, body: &[u8]) -> Vec<String> {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let told = NAMES.iter().filter_map(|place| message.pointer(place)?.as_str().map(str::to_owned));
    asked.into_iter().chain(told).collect()
}

/// A URL without what differs between its forms: `host/owner/name`.
pub(super) fn plainly(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
    // As ssh writes it: host:owner/name.
    let rest = match rest.split_once(':') {
        Some((host, path)) if !path.starts_with(|first: char| first.is_ascii_digit()) => format!("{host}/{path}"),
        _ => rest.to_owned(),
    };
    let rest = rest.trim_end_matches('/');
    rest.strip_suffix(".git").unwrap_or(rest).to_ascii_lowercase()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pair = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use hyper::Request;

    use super::*;

    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl Kept for Told {
        fn hooked(&self) -> Vec<Hooked> {
            let hooked = |name: &str, url: Option<&str>, secret: &str| Hooked {
                name: name.to_owned(),
                url: url.map(str::to_owned),
                secret: Secret(secret.to_owned()),
            };
            vec![
                hooked("shop", Some("https://github.com/acme/Shop"), "one"),
                hooked("vault", Some("git@code.example:acme/vault.git"), "two"),
                hooked("folder", None, "two"),
            ]
        }

        fn changed(&self, name: &str) {
            self.0.lock().expect("nobody panics").push(name.to_owned());
        }
    }

    fn signed(secret: &str, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        hmac::sign(&key, body.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The status of the answer, and the repositories that were told of.
    fn sent(path: &str, header: (&str, &str), body: &str) -> (u16, Vec<String>) {
        sent_after(&Taken::default(), path, &[header], body)
    }

    fn sent_after(before: &Taken, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Vec<String>) {
        let told = Arc::new(Told::default());
        let request = Request::builder().uri(path);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let kept: Arc<dyn Kept> = told.clone();
        let parts = request.body(()).expect("a request").into_parts().0;
        let status = match taken(&kept, before, &parts, body.as_bytes()) {
            Ok(answer) => answer.status(),
            Err((status, _)) => status,
        };
        (status.as_u16(), told.0.lock().expect("nobody panics").clone())
    }

    fn now() -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs()
    }

    #[test]
    fn a_message_counts_once_and_a_generic_one_for_its_time_and_repository() {
        let none = Vec::<String>::new();
        let body = r#"{"repository": {"clone_url": "https://github.com/acme/shop"}}"#;
        let (before, one) = (Taken::default(), format!("sha256={}", signed("one", body)));
        let header = [("x-hub-signature-256", one.as_str())];
        assert_eq!(sent_after(&before, "/hooks/github", &header, body), (202, vec!["shop".to_owned()]));
        assert_eq!(sent_after(&before, "/hooks/github", &header, body), (202, none.clone()), "it came again");
        // No part of the address counts that is not signed.
        let other = r#"{"zen": "a ping"}"#;
        let two = format!("sha256={}", signed("two", other));
        let header = [("x-hub-signature-256", two.as_str())];
        assert_eq!(sent_after(&before, "/hooks/github?repo=folder", &header, other), (404, none.clone()));

        let generic = |time: u64, repo: &str| format!("sha256={}", signed("two", &format!("{time}\n{repo}\n")));
        let send = |before: &Taken, time: u64, signature: &str, repo: &str| {
            let (path, time) = (format!("/hooks/generic?repo={repo}"), time.to_string());
            sent_after(before, &path, &[("x-timestamp", &time), ("x-signature-256", signature)], "")
        };
        let (right, old) = (now(), now() - 2 * CLOCKS);
        let signature = generic(right, "folder");
        assert_eq!(send(&before, right, &signature, "folder"), (202, vec!["folder".to_owned()]));
        assert_eq!(send(&before, right, &signature, "folder"), (202, none.clone()));
        assert_eq!(send(&before, right, &signature, "vault"), (401, none.clone()), "the repository is signed");
        assert_eq!(send(&before, right + 1, &signature, "folder"), (401, none.clone()), "the time is signed");
        assert_eq!(send(&before, old, &generic(old, "folder"), "folder"), (401, none), "it is too old");
    }

    #[test]
    fn a_signed_message_tells_of_its_repository() {
        let github = r#"{"repository": {"full_name": "acme/Shop", "clone_url": "https://github.com/acme/Shop.git"}}"#;
        let gitlab = r#"{"project": {"git_ssh_url": "git@code.example:acme/vault.git"}}"#;
        let with = |prefix: &str, secret: &str, body: &str| format!("{prefix}{}", signed(secret, body));
        let (one, two) = (with("sha256=", "one", github), with("", "two", gitlab));
        assert_eq!(sent("/hooks/github", ("x-hub-signature-256", &one), github), (202, vec!["shop".to_owned()]));
        assert_eq!(sent("/hooks/gitlab", ("x-gitlab-token", "two"), gitlab), (202, vec!["vault".to_owned()]));
        assert_eq!(sent("/hooks/gitea", ("x-gitea-signature", &two), gitlab), (202, vec!["vault".to_owned()]));
    }

    #[test]
    fn a_message_without_the_secret_of_its_repository_tells_nothing() {
        let body = r#"{"repository": {"clone_url": "https://github.com/acme/shop"}}"#;
        let (one, two) = (format!("sha256={}", signed("one", body)), format!("sha256={}", signed("two", body)));
        let status = |path: &str, header: (&str, &str), body: &str| sent(path, header, body).0;
        for wrong in ["", "sha256=", "sha256=00", &one[7..], &one[..70], &format!("{one}00"), "sha256=zz"] {
            assert_eq!(sent("/hooks/github", ("x-hub-signature-256", wrong), body), (401, vec![]), "{wrong}");
        }
        assert_eq!(status("/hooks/github", ("x-hub-signature-256", &one), "{}"), 401, "another body");
        assert_eq!(status("/hooks/github", ("x-hub-signature-256", &two), body), 404, "another repository's secret");
        assert_eq!(status("/hooks/gitlab", ("x-gitlab-token", "three"), body), 401);
        assert_eq!(status("/hooks/gitea", ("x-hub-signature-256", &one), body), 401);
        assert_eq!(status("/hooks/elsewhere", ("x-hub-signature-256", &one), body), 404);
    }
}
