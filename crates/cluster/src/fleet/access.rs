//! Connections to NATS servers: which ones, how they are secured, who asks.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, ServerAddr};
use url::{Host, Url};

use super::Error;

/// Longest wait for a connection, and for an answer.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(10);

/// Access to a cluster of NATS servers.
#[derive(Clone, Default)]
pub struct Access {
    /// Its servers.
    pub servers: Vec<Url>,
    /// File with a user's JWT and key.
    pub credentials: Option<PathBuf>,
    /// Password of the user in the servers' URLs.
    pub password: Option<String>,
    /// Token that the servers ask for.
    pub token: Option<String>,
    /// Hosts that may be reached without TLS; `*` for all. This machine always may.
    pub trusted_hosts: Vec<String>,
    /// Certificates (PEM) of authorities that are trusted beside the system's.
    pub ca_file: Option<PathBuf>,
}

impl Access {
    /// The servers, for people.
    pub(super) fn shown(&self) -> String {
        let host = |url: &Url| format!("{}:{}", url.host_str().unwrap_or_default(), url.port().unwrap_or(4222));
        self.servers.iter().map(host).collect::<Vec<_>>().join(", ")
    }

    /// Refuses servers that would be spoken to without TLS, but for this machine and trusted hosts.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.servers.is_empty() {
            return Err(Error::NoServer);
        }
        let is_here = |url: &Url| match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            // The client does not know that the scheme has domains.
            Some(Host::Domain(name)) => {
                name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
            }
            None => false,
        };
        let is_trusted = |url: &Url| {
            let host = url.host_str().unwrap_or_default();
            self.trusted_hosts.iter().any(|trusted| trusted == "*" || trusted.eq_ignore_ascii_case(host))
        };
        let is_safe = |url: &&Url| url.scheme() == "tls" || is_here(url) || is_trusted(url);
        match self.servers.iter().find(|url| !is_safe(url)) {
            Some(url) => Err(Error::Plain(url.to_string())),
            None => Ok(()),
        }
    }

    /// Connects to one of the servers; after a loss, to any of them again.
    pub(super) async fn connect(&self) -> Result<Client, Error> {
        self.check()?;
        // Servers that are not named here may have addresses that lead nowhere, or no TLS.
        let mut options = ConnectOptions::new()
            .name("codelode")
            .connection_timeout(CONNECT)
            .request_timeout(Some(ANSWER))
            .ignore_discovered_servers()
            .require_tls(self.servers.iter().any(|url| url.scheme() == "tls"));
        let user = self.servers.iter().map(Url::username).find(|user| !user.is_empty());
        if let Some((user, password)) = user.zip(self.password.as_ref()) {
            options = options.user_and_password(user.to_owned(), password.clone());
        }
        if let Some(token) = &self.token {
            options = options.token(token.clone());
        }
        if let Some(path) = &self.credentials {
            let failed = |source| Error::Credentials { path: path.display().to_string(), source };
            options = options.credentials_file(path).await.map_err(failed)?;
        }
        if let Some(path) = &self.ca_file {
            options = options.add_root_certificates(path.clone());
        }
        let failed = |source| Error::Nats { servers: self.shown(), what: "cannot be reached", source };
        let address = |url: &Url| {
            // The user is told apart: a URL with a user and no password would be a token.
            let mut url = url.clone();
            let _ = url.set_username("");
            ServerAddr::from_url(url)
        };
        let addresses: Result<Vec<ServerAddr>, _> = self.servers.iter().map(address).collect();
        let addresses = addresses.map_err(|err| failed(Box::new(err)))?;
        options.connect(addresses).await.map_err(|err| failed(Box::new(err)))
    }
}
