//! Cookies: how a browser that has signed in is known again.
//!
//! Where callers have tokens, the cookie is a random number that stands for the token as long as the process runs, and
//! counts as long as the token does ([`SignedIn`]). The server of one person has a [`Key`] instead: a ticket in the address
//! that it opens is exchanged for the cookie, once.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq;
use url::form_urlencoded;

use super::tokens::{digest, random};
use super::{HeaderValue, Parts, header};

/// Name of the ticket in a query.
pub(super) const TICKET: &str = "ticket";
/// Path where a token is exchanged for a cookie.
pub(super) const SIGN_IN: &str = "/sign-in";
/// Path where the cookie is taken back.
pub(super) const SIGN_OUT: &str = "/sign-out";
/// Seconds after which a browser has to sign in again: thirty days.
const AGE: u32 = 30 * 24 * 3600;

/// Name of the cookie. Cookies do not tell ports apart, and two servers may run on one machine.
pub(super) fn name(port: u16) -> String {
    format!("codelode_{port}")
}

/// The cookie by which a browser sees the pages of one person's server.
pub(super) struct Key {
    cookie: String,
    ticket: Mutex<Option<String>>,
}

impl Key {
    /// A new key and its ticket.
    pub(super) fn new() -> io::Result<(Self, String)> {
        let (cookie, ticket) = (random()?, random()?);
        Ok((Self { cookie, ticket: Mutex::new(Some(ticket.clone())) }, ticket))
    }

    /// Whether a cookie fits.
    pub(super) fn fits(&self, cookie: &str) -> bool {
        is_equal(&self.cookie, cookie)
    }

    /// The cookie for a ticket, which is no good a second time.
    pub(super) fn exchanged(&self, ticket: &str) -> Option<&str> {
        // A panic leaves the ticket or none.
        let mut own = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        own.take_if(|own| is_equal(own, ticket)).map(|_| &*self.cookie)
    }
}

/// Browsers of a caller that are signed in, and those of all; the one that was idle longest makes room.
const MOST_OF_ONE: usize = 100;
const MOST: usize = 20_000;

/// Browsers that have signed in, each by a number that nobody can guess.
#[derive(Default)]
pub(super) struct SignedIn(Mutex<HashMap<[u8; 32], Browser>>);

/// A browser and the token that it signed in with.
struct Browser {
    token: Arc<str>,
    by: String,
    began: Instant,
    used: Instant,
}

impl SignedIn {
    /// A number for a browser of a caller.
    pub(super) fn begin(&self, token: &str, by: &str) -> io::Result<String> {
        let (id, now) = (random()?, Instant::now());
        let mut all = self.lock();
        all.retain(|_, browser| browser.is_valid());
        let n_own = all.values().filter(|browser| browser.by == by).count();
        let may_end = |browser: &Browser| if n_own >= MOST_OF_ONE { browser.by == by } else { all.len() >= MOST };
        let idlest = all.iter().filter(|(_, browser)| may_end(browser)).min_by_key(|(_, browser)| browser.used);
        if let Some(idlest) = idlest.map(|(key, _)| *key) {
            all.remove(&idlest);
        }
        all.insert(digest(&id), Browser { token: token.into(), by: by.to_owned(), began: now, used: now });
        Ok(id)
    }

    /// The token that a browser signed in with.
    pub(super) fn token(&self, id: &str) -> Option<Arc<str>> {
        let mut all = self.lock();
        let browser = all.get_mut(&digest(id)).filter(|browser| browser.is_valid())?;
        browser.used = Instant::now();
        Some(browser.token.clone())
    }

    /// Forgets a browser.
    pub(super) fn end(&self, id: &str) {
        self.lock().remove(&digest(id));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Browser>> {
        // Every change is one step, so a panic leaves the table intact.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Browser {
    fn is_valid(&self) -> bool {
        self.began.elapsed() < Duration::from_secs(AGE.into())
    }
}

/// Compares in constant time.
fn is_equal(a: &str, b: &str) -> bool {
    digest(a).ct_eq(&digest(b)).into()
}

/// The value of a request's cookie. Two of one name leave open which is meant.
pub(super) fn sent(request: &Parts, name: &str) -> Option<String> {
    let all = request.headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
    let value = values.next().filter(|_| values.next().is_none())?;
    let pair = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    String::from_utf8(value.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>()?).ok()
}

/// The header that gives a browser its cookie; an empty value takes it back. Links from elsewhere lead to pages that only
/// show, so they may bring it.
pub(super) fn given(name: &str, value: &str, is_tls: bool) -> Option<HeaderValue> {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let age = if value.is_empty() { 0 } else { AGE };
    let secure = if is_tls { "; Secure" } else { "" };
    HeaderValue::try_from(format!("{name}={hex}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}")).ok()
}

/// A value of a form or a query.
pub(super) fn field(text: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(text).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// A path of this server to go to; the start page for anything that leads elsewhere.
pub(super) fn target(text: Option<String>) -> String {
    let leads_elsewhere =
        |text: &str| !text.starts_with('/') || text.starts_with("//") || text.contains(['\\', '\r', '\n', '\t']);
    text.filter(|text| !leads_elsewhere(text)).unwrap_or_else(|| "/".to_owned())
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    #[test]
    fn a_ticket_opens_once() {
        let (key, ticket) = Key::new().expect("the system has random bytes");
        assert_eq!(key.exchanged("guessed"), None);
        let cookie = key.exchanged(&ticket).expect("it is new").to_owned();
        assert!(key.fits(&cookie) && !key.fits("") && !key.fits(&ticket));
        assert_eq!(key.exchanged(&ticket), None, "it is used up");
    }

    #[test]
    fn a_browser_is_known_by_a_number_until_it_signs_out() {
        let all = SignedIn::default();
        let first = all.begin("alices token", "alice").expect("random bytes");
        let second = all.begin("alices token", "alice").expect("random bytes");
        assert!(first != second && !first.contains("alice"));
        assert_eq!(all.token(&first).as_deref(), Some("alices token"));
        all.end(&first);
        assert_eq!((all.token(&first), all.token("guessed")), (None, None));
        let bobs = all.begin("bobs token", "bob").expect("random bytes");
        for _ in 0..MOST_OF_ONE {
            all.begin("alices token", "alice").expect("random bytes");
        }
        assert_eq!(all.token(&second), None, "the oldest of her own makes room");
        assert!(all.token(&bobs).is_some());
    }

    #[test]
    fn a_cookie_comes_back_as_it_was_given() {
        let given = given("codelode_1", "tø;ken", false).expect("a header");
        let given = given.to_str().expect("letters").to_owned();
        assert!(given.contains("HttpOnly") && given.contains("SameSite=Lax") && !given.contains("Secure"));
        let pair = given.split(';').next().expect("a pair");
        let read = |line: &str| {
            let request = Request::builder().header("cookie", line).body(()).expect("a request");
            sent(&request.into_parts().0, "codelode_1")
        };
        assert_eq!(read(&format!("a=b; {pair}; c=d")).as_deref(), Some("tø;ken"));
        assert_eq!(read(&format!("{pair}; {pair}")), None, "which one is meant?");
        assert_eq!((read("codelode_1=zz"), read("codelode_10=61")), (None, None));
    }

    #[test]
    fn signing_in_leads_to_pages_of_this_server_only() {
        let to = |text: &str| target(Some(text.to_owned()));
        assert_eq!(
            [to("/r/a/b?at=1"), to("//evil.example"), to("/\\evil"), to("https://evil")],
            ["/r/a/b?at=1", "/", "/", "/"]
        );
        assert_eq!(target(None), "/");
    }
}
