//! Settings for serving over HTTP.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Secret;
use super::settings::Variable;

/// Settings for serving over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    /// Transport between clients and a server.
    pub transport: Transport,
    /// Address or name of this machine to listen at.
    pub host: String,
    /// Port to listen at; 0 for any that is free.
    pub port: u16,
    /// Token of a caller with all rights. Read from the environment only.
    pub token: Option<Secret>,
    /// Named tokens and their rights, as a file of them has them. Read from the environment only.
    pub tokens: Option<Secret>,
    /// File with named tokens and their rights.
    pub tokens_file: Option<PathBuf>,
    /// Certificates (PEM) for TLS, the server's own first.
    pub tls_cert: Option<PathBuf>,
    /// Key (PEM) of the certificate.
    pub tls_key: Option<PathBuf>,
    /// Folders that callers may index by path.
    pub roots: Vec<PathBuf>,
    /// Names that the server answers to, beside those of the address it listens at.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may ask.
    pub allowed_origins: Vec<String>,
    /// Proxies in front of the server that say where a request comes from: addresses, or ranges of them.
    pub trusted_proxies: Vec<String>,
    /// Authorization server whose tokens are accepted.
    pub oauth: Option<OAuth>,
    /// REST interface of the forge whose tokens are accepted.
    pub forge: Option<Url>,
    /// File of repositories that the server keeps up to date.
    pub repos_file: Option<PathBuf>,
    /// Place of indexes that the server is a replica of.
    pub from: Option<String>,
    /// Maximum bytes of indexes that a replica holds.
    pub cache_size: u64,
}

/// An authorization server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuth {
    /// Its name in tokens, a URL.
    pub issuer: String,
    /// Name of this server in tokens, its public URL.
    pub resource: String,
    /// Address of its public keys; `None` for that in its metadata.
    pub jwks: Option<Url>,
}

impl Http {
    /// The authorization server, to be filled.
    pub(super) fn oauth(&mut self) -> &mut OAuth {
        self.oauth.get_or_insert_default()
    }
}

impl Default for Http {
    fn default() -> Self {
        Self {
            transport: Transport::default(),
            host: "127.0.0.1".to_owned(),
            port: 8901,
            token: None,
            tokens: None,
            tokens_file: None,
            tls_cert: None,
            tls_key: None,
            roots: Vec::new(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            oauth: None,
            forge: None,
            repos_file: None,
            from: None,
            cache_size: 20_000_000_000,
        }
    }
}

/// Transport between clients and a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Standard input and output, one process per client.
    #[default]
    Stdio,
    /// HTTP, many clients at once.
    StreamableHttp,
    /// HTTP as of 2024-11-05: events from one URL, messages to another.
    Sse,
}

impl Transport {
    /// Path that clients are given.
    pub fn endpoint(self) -> &'static str {
        match self {
            Self::Stdio | Self::StreamableHttp => "/mcp",
            Self::Sse => "/sse",
        }
    }
}

impl std::str::FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "stdio" => Ok(Self::Stdio),
            "streamable-http" | "http" => Ok(Self::StreamableHttp),
            "sse" => Ok(Self::Sse),
            _ => Err(format!("is {text:?}; use stdio, streamable-http or sse")),
        }
    }
}

/// Variable of the token with all rights.
const TOKEN: Variable = Variable {
    names: &["CODELODE_HTTP_TOKEN", "JCODEMUNCH_HTTP_TOKEN"],
    sets: "the token of a caller with all rights",
    put: |_, _| Ok(()),
};

/// Token of a caller with all rights, from the environment.
pub(super) fn token(env: &dyn Fn(&str) -> Option<String>) -> Option<Secret> {
    TOKEN.value(env).map(|(_, token)| Secret(token))
}

/// Variable of named tokens, written as in a file.
pub const NAMED_TOKENS: &str = "CODELODE_HTTP_TOKENS";

/// Named tokens from the environment.
pub(super) fn named_tokens(env: &dyn Fn(&str) -> Option<String>) -> Option<Secret> {
    env(NAMED_TOKENS).filter(|text| !text.trim().is_empty()).map(Secret)
}

/// Variable of the token that commands send to a server, unless another one is named.
const OWN_TOKEN: &str = "CODELODE_SERVER_TOKEN";

/// Token that commands send to a server: the value of the named variable. A variable that is named has to be set.
pub fn caller_token(name: Option<&str>) -> Result<Option<Secret>, String> {
    match (secret(name.unwrap_or(OWN_TOKEN)), name) {
        (Some(token), _) => Ok(Some(token)),
        (None, Some(name)) => Err(format!("the token's variable {name} is not set")),
        (None, None) => Ok(None),
    }
}

/// Secret in a variable of the environment that the user has named.
pub fn secret(name: &str) -> Option<Secret> {
    let value = std::env::var(name).ok().map(|value| value.trim().to_owned());
    value.filter(|value| !value.is_empty()).map(Secret)
}
