//! Guard for outgoing requests: checks the URL of each hop and the address of each connection.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::Error;
use super::address::is_public;

/// Rules for allowed URLs and addresses, with the hosts that the operator trusts.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    trusted: Arc<[String]>,
}

impl Guard {
    /// Trusts hosts by name; `*` trusts all.
    pub fn new(trusted: &[String]) -> Self {
        let name = |host: &String| host.trim().trim_start_matches('[').trim_end_matches(']').to_lowercase();
        Self { trusted: trusted.iter().map(name).collect() }
    }

    /// Whether a host may have a private address and be reached without TLS.
    pub fn trusts(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        self.trusted.iter().any(|name| name == "*" || name.eq_ignore_ascii_case(host))
    }

    /// Refuses a URL for its scheme or for a private IP address as its host.
    pub fn check(&self, url: &Url) -> Result<(), Error> {
        let Some(host) = url.host() else { return Err(Error::BadUrl("it names no host".to_owned())) };
        let name = host.to_string();
        let trusted = self.trusts(&name);
        match url.scheme() {
            "https" => {}
            "http" if trusted => {}
            scheme => return Err(Error::Scheme { scheme: scheme.to_owned(), host: name }),
        }
        let address = match host {
            Host::Domain(_) => return Ok(()),
            Host::Ipv4(address) => IpAddr::V4(address),
            Host::Ipv6(address) => IpAddr::V6(address),
        };
        if trusted || is_public(address) { Ok(()) } else { Err(Error::Private { host: name, address }) }
    }

    /// Refuses a forbidden redirect. Redirects have stricter rules than requests: a public host must not redirect to
    /// a trusted one, which may be internal.
    pub fn check_redirect(&self, from: &Url, to: &Url) -> Result<(), Error> {
        let refuse = |why| Err(Error::Redirect { from: host_of(from).to_owned(), to: origin_of(to), why });
        if from.scheme() == "https" && to.scheme() != "https" {
            return refuse("it leaves TLS");
        }
        if self.trusts(host_of(to)) && !self.trusts(host_of(from)) {
            return refuse("it leads from outside to a trusted host");
        }
        self.check(to)
    }

    /// Resolves a host to its addresses. One private address among them is an error: for a public name, that is an
    /// attack or a mistake.
    fn addresses(&self, host: &str) -> Result<Vec<SocketAddr>, io::Error> {
        let addresses: Vec<SocketAddr> = (host, 0).to_socket_addrs()?.collect();
        if !self.trusts(host)
            && let Some(inner) = addresses.iter().find(|address| !is_public(address.ip()))
        {
            return Err(io::Error::other(Error::Private { host: host.to_owned(), address: inner.ip() }));
        }
        Ok(addresses)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || guard.addresses(name.as_str())).await??;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// The host of a URL; empty if it has none.
pub(super) fn host_of(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

/// Scheme, host and port of a URL, without the parts that may be secret.
fn origin_of(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme(), host_of(url))
}
