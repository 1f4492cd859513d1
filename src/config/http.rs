//! Settings for serving over HTTP.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Secret;
use super::settings::Variable;

/// Settings for serving over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    /// How clients speak to a server.
    pub transport: Transport,
    /// Address or name of this machine to listen at.
    pub host: String,
    /// Port to listen at; 0 for any that is free.
    pub port: u16,
    /// Token of a caller with all rights. Read from the environment only.
    pub token: Option<Secret>,
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
}

impl Default for Http {
    fn default() -> Self {
        Self {
            transport: Transport::default(),
            host: "127.0.0.1".to_owned(),
            port: 8901,
            token: None,
            tokens_file: None,
            tls_cert: None,
            tls_key: None,
            roots: Vec::new(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
        }
    }
}

/// How clients speak to a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Over the standard streams of a process of its own.
    #[default]
    Stdio,
    /// Over HTTP, many at once.
    StreamableHttp,
}

impl std::str::FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "stdio" => Ok(Self::Stdio),
            "streamable-http" | "http" => Ok(Self::StreamableHttp),
            _ => Err(format!("is {text:?}; say stdio or streamable-http")),
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
