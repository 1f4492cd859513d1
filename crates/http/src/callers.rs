//! Callers of a server: programs by their token, browsers by their cookie.

use std::net::IpAddr;
use std::sync::Arc;

use super::cookies::{self, Key, SignedIn};
use super::forge::Forge;
use super::forwarded::{Proxies, Source};
use super::guard::Guard;
use super::oauth::{NO_SCOPE, OAuth};
use super::strangers::Strangers;
use super::tokens::{Grant, Tokens};
use super::{Parts, Services, StatusCode, header, jwt};

/// A refusal: its status, and the reason for the caller.
pub(super) type Refusal = (StatusCode, String);

/// A token, and what it allows.
pub(super) type Proved = (Arc<str>, Arc<Grant>);

/// Reasons for asking who calls.
const ENDED: &str = "this browser has to sign in again";
const UNSENT: &str = "send your token in the header `Authorization: Bearer …`";
pub(super) const UNKNOWN: &str = "this token is not known here";
const TOO_MANY: &str = "too many tokens from this address that are not known here; try again in a moment";
const CLOSED: &str = "this page is for one person: open it with the address that `codelode web` shows";

/// Those who may ask.
pub(super) struct Callers {
    pub(super) guard: Guard,
    pub(super) tokens: Option<Tokens>,
    pub(super) oauth: Option<OAuth>,
    pub(super) forge: Option<Arc<Forge>>,
    pub(super) proxies: Proxies,
    /// Key to the pages of one person.
    pub(super) key: Option<Key>,
    /// Browsers that have signed in.
    pub(super) signed_in: SignedIn,
    pub(super) strangers: Strangers,
    /// Name of the cookie.
    pub(super) cookie: String,
    pub(super) is_tls: bool,
}

/// A browser.
pub(super) enum Visitor {
    /// One that may see pages; `None` where anyone at this machine is let in.
    Known(Option<Proved>),
    /// One that has to sign in, with the problem of its cookie.
    Unknown(Option<&'static str>),
}

impl Callers {
    /// The caller of a request, with its token; `None` where anyone at this machine is let in.
    pub(super) async fn program(&self, request: &Parts, services: &Services) -> Result<Option<Proved>, Refusal> {
        self.check(request, false)?;
        if !self.asks() {
            return Ok(None);
        }
        let token = bearer(request).ok_or_else(|| (StatusCode::UNAUTHORIZED, UNSENT.to_owned()))?;
        let grant = self.admitted(token, request, services).await?;
        Ok(Some((token.into(), grant)))
    }

    /// Whether callers are asked for a token.
    fn asks(&self) -> bool {
        self.tokens.is_some() || self.forge.is_some()
    }

    /// The caller with a token that a request brings. Those of an address that are not known are slowed.
    pub(super) async fn admitted(
        &self,
        token: &str,
        request: &Parts,
        services: &Services,
    ) -> Result<Arc<Grant>, Refusal> {
        let from = request.extensions.get::<Source>().map_or(IpAddr::from([0_u8; 4]), |source| source.client);
        if !self.strangers.admit(token, from) {
            return Err((StatusCode::TOO_MANY_REQUESTS, TOO_MANY.to_owned()));
        }
        let granted = self.granted(token, services).await;
        match &granted {
            Ok(_) => self.strangers.was_right(token, from),
            Err((StatusCode::UNAUTHORIZED, _)) => {}
            // Whether it is right could not be told.
            Err(_) => self.strangers.costs_nothing(from),
        }
        granted
    }

    /// The caller with a token: one that is listed, that the authorization server has issued, or that the forge knows.
    pub(super) async fn granted(&self, token: &str, services: &Services) -> Result<Arc<Grant>, Refusal> {
        if let Some(tokens) = &self.tokens {
            let unreadable =
                |_| (StatusCode::SERVICE_UNAVAILABLE, "the tokens of this server cannot be read".to_owned());
            if let Some(grant) = tokens.grant(token).map_err(unreadable)? {
                return Ok(grant);
            }
            if let Some(oauth) = self.oauth.as_ref().filter(|_| jwt::looks_right(token)) {
                return oauth.grant(token, tokens);
            }
        }
        match &self.forge {
            Some(forge) => forge.grant(token, services.elsewhere()).await,
            None => Err((StatusCode::UNAUTHORIZED, UNKNOWN.to_owned())),
        }
    }

    /// The visitor of a page.
    pub(super) async fn visitor(&self, request: &Parts, services: &Services) -> Result<Visitor, Refusal> {
        self.check(request, true)?;
        let cookie = cookies::sent(request, &self.cookie).filter(|cookie| !cookie.is_empty());
        if let Some(key) = &self.key {
            let fits = cookie.is_some_and(|cookie| key.fits(&cookie));
            return if fits { Ok(Visitor::Known(None)) } else { Err((StatusCode::FORBIDDEN, CLOSED.to_owned())) };
        }
        if !self.asks() {
            return Ok(Visitor::Known(None));
        }
        // A program may read pages as well.
        let of_cookie = || cookie.as_deref().and_then(|id| self.signed_in.token(id));
        let Some(token) = bearer(request).map(Arc::from).or_else(of_cookie) else {
            return Ok(Visitor::Unknown(cookie.map(|_| ENDED)));
        };
        let granted = self.admitted(&token, request, services).await;
        match granted {
            Ok(grant) => Ok(Visitor::Known(Some((token, grant)))),
            Err((StatusCode::UNAUTHORIZED, _)) => Ok(Visitor::Unknown(Some(UNKNOWN))),
            Err(refusal) => Err(refusal),
        }
    }

    /// The cookie for the ticket in a request, where there is a key.
    pub(super) fn ticketed(&self, request: &Parts) -> Result<Option<&str>, Refusal> {
        let ticket = cookies::field(request.uri.query().unwrap_or_default().as_bytes(), cookies::TICKET);
        let (Some(key), Some(ticket)) = (&self.key, ticket) else { return Ok(None) };
        self.check(request, true)?;
        Ok(key.exchanged(&ticket))
    }

    /// The cookie for a token that was sent in a form, if it is known.
    pub(super) async fn sign_in(
        &self,
        token: &str,
        request: &Parts,
        services: &Services,
    ) -> Result<Option<String>, Refusal> {
        match self.admitted(token, request, services).await {
            Ok(grant) => self.signed_in.begin(token, &grant.name).map(Some).map_err(|err| {
                tracing::error!(%err, "the system has no random bytes");
                (StatusCode::SERVICE_UNAVAILABLE, "nobody can sign in now; try again in a moment".to_owned())
            }),
            Err((StatusCode::UNAUTHORIZED, _)) => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    /// Forgets the browser of a request.
    pub(super) fn sign_out(&self, request: &Parts) {
        if let Some(id) = cookies::sent(request, &self.cookie) {
            self.signed_in.end(&id);
        }
    }

    /// The challenge of a refusal, if a token can help.
    pub(super) fn challenge(&self, status: StatusCode, why: &str) -> Option<String> {
        let helps = status == StatusCode::UNAUTHORIZED || (status == StatusCode::FORBIDDEN && why == NO_SCOPE);
        let challenge = match &self.oauth {
            Some(oauth) => oauth.challenge(status, why, why != UNSENT, self.tokens.as_ref()),
            None => "Bearer realm=\"codelode\"".to_owned(),
        };
        helps.then_some(challenge)
    }

    pub(super) fn check(&self, request: &Parts, is_own_page: bool) -> Result<(), Refusal> {
        self.guard.check(request, is_own_page).map_err(|why| (StatusCode::FORBIDDEN, why.to_owned()))
    }
}

/// The token of a request. A second header leaves open which one is meant.
fn bearer(request: &Parts) -> Option<&str> {
    let mut headers = request.headers.get_all(header::AUTHORIZATION).iter();
    let (scheme, token) = headers.next()?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (headers.next().is_none() && scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
