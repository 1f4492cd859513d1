//! Callers of a server: programs by their token, browsers by their cookie.

use std::sync::Arc;

use super::cookies::{self, Key};
use super::guard::Guard;
use super::tokens::{Grant, Tokens};
use super::{Parts, StatusCode, header};

/// A refusal: its status, and the reason for the caller.
pub(super) type Refusal = (StatusCode, String);

/// Reasons for asking who calls.
const UNKNOWN: &str = "this token is not known here";
const CLOSED: &str = "this page is for one person: open it with the address that `codelode web` shows";

/// Those who may ask.
pub(super) struct Callers {
    pub(super) guard: Guard,
    pub(super) tokens: Option<Tokens>,
    /// Key to the pages of one person.
    pub(super) key: Option<Key>,
    /// Name of the cookie.
    pub(super) cookie: String,
    pub(super) is_tls: bool,
}

/// A browser.
pub(super) enum Visitor {
    /// One that may see pages; `None` where anyone at this machine is let in.
    Known(Option<Arc<Grant>>),
    /// One that has to sign in, with the problem of its cookie.
    Unknown(Option<&'static str>),
}

impl Callers {
    /// The caller of a request; `None` where anyone at this machine is let in.
    pub(super) fn program(&self, request: &Parts) -> Result<Option<Arc<Grant>>, Refusal> {
        self.check(request, false)?;
        let Some(tokens) = &self.tokens else { return Ok(None) };
        let token = bearer(request).ok_or_else(|| {
            (StatusCode::UNAUTHORIZED, "send your token in the header `Authorization: Bearer …`".to_owned())
        })?;
        granted(tokens, token)?.map(Some).ok_or_else(|| (StatusCode::UNAUTHORIZED, UNKNOWN.to_owned()))
    }

    /// The visitor of a page.
    pub(super) fn visitor(&self, request: &Parts) -> Result<Visitor, Refusal> {
        self.check(request, true)?;
        let cookie = cookies::sent(request, &self.cookie).filter(|cookie| !cookie.is_empty());
        if let Some(key) = &self.key {
            let fits = cookie.is_some_and(|cookie| key.fits(&cookie));
            return if fits { Ok(Visitor::Known(None)) } else { Err((StatusCode::FORBIDDEN, CLOSED.to_owned())) };
        }
        let Some(tokens) = &self.tokens else { return Ok(Visitor::Known(None)) };
        // A program may read pages as well.
        let Some(token) = bearer(request).map(str::to_owned).or(cookie) else { return Ok(Visitor::Unknown(None)) };
        Ok(granted(tokens, &token)?.map_or(Visitor::Unknown(Some(UNKNOWN)), |grant| Visitor::Known(Some(grant))))
    }

    /// The cookie for the ticket in a request, where there is a key.
    pub(super) fn ticketed(&self, request: &Parts) -> Result<Option<&str>, Refusal> {
        let ticket = cookies::field(request.uri.query().unwrap_or_default().as_bytes(), cookies::TICKET);
        let (Some(key), Some(ticket)) = (&self.key, ticket) else { return Ok(None) };
        self.check(request, true)?;
        Ok(key.exchanged(&ticket))
    }

    /// Whether a token that was sent in a form is known.
    pub(super) fn knows(&self, token: &str) -> Result<bool, Refusal> {
        self.tokens.as_ref().map_or(Ok(false), |tokens| Ok(granted(tokens, token)?.is_some()))
    }

    pub(super) fn check(&self, request: &Parts, is_own_page: bool) -> Result<(), Refusal> {
        self.guard.check(request, is_own_page).map_err(|why| (StatusCode::FORBIDDEN, why.to_owned()))
    }
}

fn granted(tokens: &Tokens, token: &str) -> Result<Option<Arc<Grant>>, Refusal> {
    let unreadable = |_| (StatusCode::SERVICE_UNAVAILABLE, "the tokens of this server cannot be read".to_owned());
    tokens.grant(token).map_err(unreadable)
}

/// The token of a request. A second header leaves open which one is meant.
fn bearer(request: &Parts) -> Option<&str> {
    let mut headers = request.headers.get_all(header::AUTHORIZATION).iter();
    let (scheme, token) = headers.next()?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (headers.next().is_none() && scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
