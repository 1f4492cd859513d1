//! Guard against web pages that lead a browser to a server which only its own network can reach (DNS rebinding): the
//! name that a request asks for, and the page that asks, must be known ones.

use std::net::IpAddr;

use hyper::http::request::Parts;
use hyper::http::uri::Authority;

use super::HeaderMap;
use super::header::{HOST, ORIGIN};
use codelode_base::config::Http;

/// Names of this machine for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Reason against a host.
const UNKNOWN: &str = "the Host header names another server; allow it with --allow-host";

/// Hosts and origins that are let in.
pub(super) struct Guard {
    /// Names with their port, if it matters; `None` for any name.
    hosts: Option<Vec<(String, Option<u16>)>>,
    origins: Vec<String>,
}

impl Guard {
    /// Guard of a server at an address. Beyond loopback every caller has a token, which no page can guess, so any name
    /// is let in unless some are given.
    pub(super) fn new(http: &Http, address: IpAddr) -> Self {
        let given = http.allowed_hosts.iter().map(String::as_str);
        let own = LOOPBACK.into_iter().chain([http.host.as_str()]).chain(given);
        let is_checked = address.is_loopback() || !http.allowed_hosts.is_empty();
        let origins = http.allowed_origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase());
        Self { hosts: is_checked.then(|| own.map(named).collect()), origins: origins.collect() }
    }

    /// Refuses a request with the reason. Pages of this server ask it under whichever name it goes by: no other site
    /// gets the cookie of that name.
    pub(super) fn check(&self, request: &Parts, is_own_page: bool) -> Result<(), &'static str> {
        let host = self.check_host(&request.headers)?;
        // A request for a whole URL names a host of its own.
        if request.uri.authority().is_some_and(|host| !self.knows(host)) {
            return Err(UNKNOWN);
        }
        if taken_by_other_site(&request.headers) {
            return Err("pages of other sites may lead here, and take nothing from here");
        }
        // A page of this very server, as far as its names are known.
        let own = ["http", "https"].map(|scheme| format!("{scheme}://{host}"));
        let own = if self.hosts.is_some() || is_own_page { &own[..] } else { &[] };
        let is_known =
            |origin: &[u8]| self.origins.iter().chain(own).any(|known| origin.eq_ignore_ascii_case(known.as_bytes()));
        match request.headers.get_all(ORIGIN).iter().all(|origin| is_known(origin.as_bytes())) {
            true => Ok(()),
            false => Err("web pages of this Origin may not ask here; allow it with --allow-origin"),
        }
    }

    /// The host that a request asks for; an error unless it is a known one.
    pub(super) fn check_host(&self, headers: &HeaderMap) -> Result<Authority, &'static str> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).and_then(|host| host.parse::<Authority>().ok());
        let host = host.filter(|host| hosts.next().is_none() && !host.as_str().contains('@'));
        let host = host.ok_or("the Host header is missing or malformed")?;
        if self.knows(&host) { Ok(host) } else { Err(UNKNOWN) }
    }

    fn knows(&self, host: &Authority) -> bool {
        let (name, port) = named(host.as_str());
        self.hosts
            .as_ref()
            .is_none_or(|hosts| hosts.iter().any(|(known, at)| *known == name && at.is_none_or(|at| port == Some(at))))
    }
}

/// Whether a browser says that a page of another site loads this as a part of its own, such as an image or a script. It sends no
/// `Origin` then. A link that is followed is another matter.
fn taken_by_other_site(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|told| told.as_bytes() == value.as_bytes());
    let is_followed = is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document");
    is("sec-fetch-site", "cross-site") && !headers.contains_key(ORIGIN) && !is_followed
}

/// A host's name without brackets, and its port.
fn named(host: &str) -> (String, Option<u16>) {
    let host = host.to_ascii_lowercase();
    if let Some((name, rest)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (name.to_owned(), rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match host.split_once(':') {
        Some((name, port)) if !port.contains(':') => (name.to_owned(), port.parse().ok()),
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn lets_in(http: &Http, address: &str, headers: &[(&str, &str)], uri: &str) -> bool {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).expect("it is a request").into_parts();
        Guard::new(http, address.parse().expect("an address")).check(&parts, false).is_ok()
    }

    #[test]
    fn only_known_names_are_answered_to() {
        let http = Http { allowed_hosts: vec!["code.example".into(), "b.example:80".into()], ..Http::default() };
        let check = |host: &str| lets_in(&http, "127.0.0.1", &[("host", host)], "/mcp");
        for host in ["localhost", "LOCALHOST:8901", "127.0.0.1:1", "[::1]:8901", "code.example:99", "b.example:80"] {
            assert!(check(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "b.example", "b.example:81", "a@localhost", "", "[::2]"]
        {
            assert!(!check(host), "{host}");
        }
        let local = Http::default();
        assert!(!lets_in(&local, "127.0.0.1", &[], "/mcp"), "no name at all");
        assert!(!lets_in(&local, "127.0.0.1", &[("host", "localhost"), ("host", "localhost")], "/mcp"), "two");
        assert!(!lets_in(&local, "127.0.0.1", &[("host", "localhost")], "http://evil.example/mcp"), "a whole URL");
        assert!(lets_in(&local, "10.0.0.1", &[("host", "any.example")], "/mcp"), "there a token is needed");
        assert!(!lets_in(&http, "10.0.0.1", &[("host", "any.example")], "/mcp"), "but names were given");
    }

    #[test]
    fn no_web_page_may_ask_unless_it_is_named() {
        let http = Http { allowed_origins: vec!["https://tools.example/".into()], ..Http::default() };
        let check = |origin: &str| lets_in(&http, "127.0.0.1", &[("host", "localhost"), ("origin", origin)], "/mcp");
        assert!(check("https://tools.example") && check("HTTPS://tools.example"));
        assert!(check("http://localhost"), "a page of its own");
        let taken = |mode: &str, dest: &str| {
            let told = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
            lets_in(&http, "127.0.0.1", &[&[("host", "localhost")], &told[..]].concat(), "/raw/a/b/c")
        };
        assert!(taken("navigate", "document"), "a link that is followed");
        for (mode, dest) in [("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe"), ("cors", "empty")] {
            assert!(!taken(mode, dest), "{mode} {dest}");
        }
        for origin in ["http://tools.example", "https://tools.example:8443", "null", "", "http://localhost:8901"] {
            assert!(!check(origin), "{origin}");
        }
    }
}
