//! Resource server of OAuth 2.1: callers bring access tokens of an authorization server, whose scopes stand for rights
//! in the file of tokens. Clients learn from metadata (RFC 9728) where to get one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use sha2::{Digest, Sha256};
use url::Url;

use super::callers::Refusal;
use super::jwt::{self, Problem};
use super::keys::Keys;
use super::tokens::{Grant, Scope, Tokens, digest};
use super::{Answer, StatusCode, json};
use codelode_base::config::{Config, OAuth as Settings};
use codelode_net::{self as net, Client};

/// Path of the metadata; the path of the resource may follow it.
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";
/// Tokens whose check is remembered.
const MOST_KNOWN: usize = 4096;
/// Letters of a caller's name, which is made of the digest of its subject.
const NAME: usize = 24;

/// Reason for refusing a token that is right and gives no right here.
pub(super) const NO_SCOPE: &str = "the scopes of this token give no right on this server";

/// Facts known of an authorization server.
pub(super) struct OAuth {
    issuer: String,
    /// The resource that tokens have to be for: the public address of this server.
    resource: String,
    /// The same.
    address: Url,
    keys: Arc<Keys>,
    known: Mutex<HashMap<[u8; 32], Known>>,
}

/// A token that was checked.
struct Known {
    grant: Arc<Grant>,
    expires: u64,
    /// The keys and rights that it was checked against.
    keys: Arc<jwt::KeySet>,
    rights: Arc<Vec<Scope>>,
}

impl OAuth {
    /// The authorization server of the settings; `None` without one.
    pub(super) fn of(config: &Config, tokens: Option<&Tokens>) -> Result<Option<Self>, String> {
        let Some(Settings { issuer, resource, jwks }) = &config.http.oauth else { return Ok(None) };
        if issuer.is_empty() || resource.is_empty() {
            return Err("an authorization server takes --oauth-issuer and --oauth-resource".to_owned());
        }
        let scopes = tokens.map(Tokens::scopes).transpose()?.unwrap_or_default();
        if scopes.is_empty() {
            return Err("no scope has rights: give --tokens FILE with entries that have a `scope`".to_owned());
        }
        let options = net::Options {
            trusted_hosts: config.trusted_hosts.clone(),
            ca_file: config.ca_file.clone(),
            ..net::Options::default()
        };
        let url = Url::parse(issuer).map_err(|err| format!("the issuer {issuer:?} is not a URL: {err}"))?;
        let keys = Keys::fetched(Client::new(options), url, jwks.clone()).map_err(|err| err.to_string())?;
        let address = Url::parse(resource).map_err(|err| format!("the resource {resource:?} is not a URL: {err}"))?;
        let (issuer, resource) = (issuer.clone(), resource.clone());
        Ok(Some(Self { issuer, resource, address, keys, known: Mutex::default() }))
    }

    /// The caller with this token.
    pub(super) fn grant(&self, token: &str, tokens: &Tokens) -> Result<Arc<Grant>, Refusal> {
        let down = |why: &str| (StatusCode::SERVICE_UNAVAILABLE, why.to_owned());
        let keys = self.keys.newest().ok_or_else(|| down("the keys of the authorization server cannot be read"))?;
        let rights = tokens.scopes().map_err(|_| down("the rights of scopes cannot be read"))?;
        let (digest, now) = (digest(token), seconds());
        {
            // A panic leaves the table whole.
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            match known.get(&digest) {
                Some(one)
                    if one.expires > now && Arc::ptr_eq(&one.keys, &keys) && Arc::ptr_eq(&one.rights, &rights) =>
                {
                    return Ok(one.grant.clone());
                }
                _ => drop(known.remove(&digest)),
            }
        }
        let claims = keys.check(token, &self.issuer, &self.resource, now).map_err(|problem| {
            if problem == Problem::Key {
                self.keys.want();
            }
            (StatusCode::UNAUTHORIZED, problem.to_string())
        })?;
        let name = format!("_{}", named(&claims.subject));
        let grant = tokens.of_scopes(name, &rights, &claims.scopes);
        let grant = grant.ok_or_else(|| (StatusCode::FORBIDDEN, NO_SCOPE.to_owned()))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(digest, Known { grant: grant.clone(), expires: claims.expires, keys, rights });
        Ok(grant)
    }

    /// Whether a path is one of the metadata.
    pub(super) fn describes(&self, path: &str) -> bool {
        path.strip_prefix(METADATA).is_some_and(|rest| rest.is_empty() || rest == self.address.path())
    }

    /// The metadata.
    pub(super) fn metadata(&self, tokens: Option<&Tokens>) -> Answer {
        let metadata = json!({
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            "scopes_supported": names(tokens),
            "bearer_methods_supported": ["header"],
            "resource_name": "codelode",
        });
        json(StatusCode::OK, metadata.to_string())
    }

    /// The challenge of a refusal: where the caller gets a token, and the problem with the one that it sent.
    pub(super) fn challenge(&self, status: StatusCode, why: &str, is_sent: bool, tokens: Option<&Tokens>) -> String {
        let mut metadata = self.address.clone();
        let path = self.address.path();
        metadata.set_path(&format!("{METADATA}{}", if path == "/" { "" } else { path }));
        let scopes = names(tokens).join(" ");
        let error = match status {
            StatusCode::FORBIDDEN => "error=\"insufficient_scope\", ".to_owned(),
            _ if is_sent => format!("error=\"invalid_token\", error_description=\"{why}\", "),
            _ => String::new(),
        };
        format!("Bearer realm=\"codelode\", {error}scope=\"{scopes}\", resource_metadata=\"{metadata}\"")
    }
}

/// Names of the scopes that give rights.
fn names(tokens: Option<&Tokens>) -> Vec<String> {
    let scopes = tokens.and_then(|tokens| tokens.scopes().ok()).unwrap_or_default();
    let mut names: Vec<String> = scopes.iter().map(|scope| scope.name.clone()).collect();
    names.dedup();
    names
}

/// A name for a subject, which may hold any letters.
fn named(subject: &str) -> String {
    let hex = Sha256::digest(subject.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    hex[..NAME].to_owned()
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
