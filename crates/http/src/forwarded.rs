//! Proxies in front of the server: whose word is taken for where a request comes from.

use std::net::IpAddr;

use hyper::http::request::Parts;

use super::header::HOST;
use super::{HeaderMap, HeaderValue};

/// Proxies that are trusted: ranges of addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies(Vec<Range>);

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug)]
struct Range {
    address: IpAddr,
    n_bits: u32,
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The client, or the first proxy that is not trusted.
    pub(super) client: IpAddr,
    /// Whether the client speaks TLS, to this server or to a trusted proxy.
    pub(super) is_tls: bool,
}

impl Proxies {
    /// Proxies by their addresses, as `10.0.0.7`, or ranges of them, as `10.0.0.0/8`.
    pub(super) fn of(texts: &[String]) -> Result<Self, String> {
        let range = |text: &String| {
            Range::of(text)
                .ok_or_else(|| format!("{text:?} is not an address of a proxy; write 10.0.0.7 or 10.0.0.0/8"))
        };
        texts.iter().map(range).collect::<Result<_, _>>().map(Self)
    }

    /// Where a request comes from. A trusted proxy also says which host its client asked for.
    pub(super) fn source(&self, peer: IpAddr, is_tls: bool, request: &mut Parts) -> Source {
        if !self.trust(peer) {
            return Source { client: peer, is_tls };
        }
        // Each proxy adds the address that it was asked from; those before the last untrusted one may be invented.
        let mut client = peer;
        for step in listed(&request.headers, "x-forwarded-for").into_iter().rev() {
            let Some(address) = address(&step) else { break };
            client = address;
            if !self.trust(client) {
                break;
            }
        }
        let last = |name| listed(&request.headers, name).pop();
        let is_tls = last("x-forwarded-proto").map_or(is_tls, |scheme| scheme.eq_ignore_ascii_case("https"));
        if let Some(host) = last("x-forwarded-host").and_then(|host| HeaderValue::from_str(&host).ok()) {
            request.headers.insert(HOST, host);
        }
        Source { client, is_tls }
    }

    /// Whether an address is that of a trusted proxy.
    pub(super) fn trust(&self, address: IpAddr) -> bool {
        self.0.iter().any(|range| range.holds(address))
    }
}

impl Range {
    fn of(text: &str) -> Option<Self> {
        let (address, n_bits) = match text.trim().split_once('/') {
            Some((address, n_bits)) => (address, Some(n_bits.parse().ok()?)),
            None => (text.trim(), None),
        };
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let n_bits = n_bits.unwrap_or(most);
        (n_bits <= most).then_some(Self { address, n_bits })
    }

    fn holds(&self, other: IpAddr) -> bool {
        let differ = match (self.address, other.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            _ => return false,
        };
        differ >= self.n_bits
    }
}

/// Values of a header that may be given several times, or as a list.
fn listed(headers: &HeaderMap, name: &str) -> Vec<String> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|value| value.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

/// An address as proxies write it, which may have a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').split(']').next().unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse().ok().map(|socket: std::net::SocketAddr| socket.ip()))
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn source(proxies: &[&str], peer: &str, headers: &[(&str, &str)]) -> (String, bool, String) {
        let proxies: Vec<String> = proxies.iter().map(|text| (*text).to_owned()).collect();
        let mut request = Request::builder().header("host", "asked");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).expect("a request").into_parts();
        let proxies = Proxies::of(&proxies).expect("they are addresses");
        let Source { client, is_tls } = proxies.source(peer.parse().expect("an address"), false, &mut parts);
        (client.to_string(), is_tls, parts.headers[HOST].to_str().expect("letters").to_owned())
    }

    #[test]
    fn only_a_trusted_proxy_says_where_a_request_comes_from() {
        let told = [
            ("x-forwarded-for", "6.6.6.6, 8.8.8.8"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "code.example"),
        ];
        let (none, ours) = (&[][..], &["127.0.0.0/8", "::1", "10.0.0.0/8"][..]);
        assert_eq!(source(none, "127.0.0.1", &told), ("127.0.0.1".to_owned(), false, "asked".to_owned()));
        assert_eq!(source(ours, "11.0.0.1", &told), ("11.0.0.1".to_owned(), false, "asked".to_owned()));
        assert_eq!(source(ours, "127.0.0.1", &told), ("8.8.8.8".to_owned(), true, "code.example".to_owned()));
        assert_eq!(source(ours, "::ffff:127.0.0.1", &told).0, "8.8.8.8");
    }

    #[test]
    fn addresses_that_a_client_invents_do_not_count() {
        let ours = &["10.0.0.0/8"];
        let client = |header: &str| source(ours, "10.0.0.1", &[("x-forwarded-for", header)]).0;
        assert_eq!(client("1.1.1.1, 9.9.9.9, 10.0.0.2"), "9.9.9.9", "two proxies of ours");
        assert_eq!(client("10.0.0.3"), "10.0.0.3");
        assert_eq!(client("9.9.9.9:4711"), "9.9.9.9");
        assert_eq!(client("[2001:db8::1]:4711"), "2001:db8::1");
        assert_eq!(client("nonsense"), "10.0.0.1");
        assert_eq!(client(""), "10.0.0.1");
    }

    #[test]
    fn ranges_end_at_their_bits() {
        let holds =
            |range: &str, address: &str| Range::of(range).expect("a range").holds(address.parse().expect("one"));
        assert!(holds("10.1.0.0/16", "10.1.255.1") && !holds("10.1.0.0/16", "10.2.0.1"));
        assert!(holds("0.0.0.0/0", "1.2.3.4") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("fd00::/8", "fdff::1") && !holds("fd00::/8", "fc00::1"));
        for wrong in ["", "x", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "proxy.example"] {
            assert!(Range::of(wrong).is_none(), "{wrong}");
        }
    }
}
