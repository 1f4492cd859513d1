//! Settings for a queue of jobs on NATS.

use std::path::PathBuf;

use url::Url;

use super::Secret;

/// Variable of the password, or of the token, that the NATS servers ask for.
const PASSWORD: &str = "CODELODE_NATS_PASSWORD";
const TOKEN: &str = "CODELODE_NATS_TOKEN";

/// Settings for a queue of jobs on NATS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// Servers of one cluster; none unless given.
    pub servers: Vec<Url>,
    /// Name of the queue: several may share a cluster.
    pub queue: String,
    /// Name of this node among those that answer questions together; it is none unless given.
    pub node: Option<String>,
    /// URL at which other nodes ask this one; where it listens unless given.
    pub node_url: Option<Url>,
    /// File with a user's JWT and key, as `nsc` writes it.
    pub credentials: Option<PathBuf>,
    /// Password of the user in the servers' URLs. Read from the environment only.
    pub password: Option<Secret>,
    /// Token that the servers ask for. Read from the environment only.
    pub token: Option<Secret>,
}

impl Default for Fleet {
    fn default() -> Self {
        let queue = "codelode".to_owned();
        Self { servers: Vec::new(), queue, node: None, node_url: None, credentials: None, password: None, token: None }
    }
}

impl Fleet {
    /// Reads the secrets.
    pub(super) fn read_secrets(&mut self, env: &dyn Fn(&str) -> Option<String>) {
        let secret = |name: &str| env(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        self.password = secret(PASSWORD).map(Secret);
        self.token = secret(TOKEN).map(Secret);
    }
}

/// Checks the servers of a cluster.
pub(super) fn servers(texts: Vec<String>) -> Result<Vec<Url>, String> {
    let server = |text: String| {
        let text = if text.contains("://") { text } else { format!("nats://{text}") };
        let url = Url::parse(&text).ok().filter(|url| url.has_host() && ["nats", "tls"].contains(&url.scheme()));
        let url = url.ok_or_else(|| format!("has {text:?}; write nats://<host>:4222, or tls://"))?;
        match url.password() {
            None => Ok(url),
            Some(_) => Err(format!("holds a password; move it to {PASSWORD}")),
        }
    };
    texts.into_iter().map(server).collect()
}

/// Checks the name of a node, which becomes a key of a table.
pub(super) fn node(name: String) -> Result<String, String> {
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let is_name = (1..=64).contains(&name.len()) && is_plain(&name) && !name.starts_with('.') && !name.ends_with('.');
    if is_name { Ok(name) } else { Err(format!("is {name:?}; give letters, digits, -, _ and .")) }
}

/// Checks the name of a queue, which becomes part of subjects and of streams' names.
pub(super) fn queue(name: String) -> Result<String, String> {
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    let is_name = (1..=32).contains(&name.len()) && is_plain(&name);
    if is_name { Ok(name) } else { Err(format!("is {name:?}; give letters, digits, - and _")) }
}
