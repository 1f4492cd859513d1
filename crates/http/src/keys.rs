//! Public keys of an authorization server: found by its metadata, fetched at the start, and again from time to time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use url::Url;

use super::jwt::KeySet;
use codelode_net::{Client, Request};

/// Size limit of a set of keys, and of metadata.
const LARGEST: u64 = 256 * 1024;
/// Time limit for one of them.
const SLOWEST: Duration = Duration::from_secs(10);
/// Age at which keys are fetched again.
const OLD: Duration = Duration::from_secs(600);
/// Age from which on keys are no longer trusted, while newer ones cannot be had.
const TOO_OLD: Duration = Duration::from_secs(24 * 3600);
/// Pause after a failure, and between fetches because of a key that is not known.
const PAUSE: Duration = Duration::from_secs(5);

/// Keys of an issuer.
pub(super) struct Keys {
    client: Client,
    issuer: Url,
    /// Address of the keys; `None` to ask the issuer's metadata.
    address: Option<Url>,
    state: Mutex<State>,
    wanted: Condvar,
}

#[derive(Default)]
struct State {
    keys: Option<Arc<KeySet>>,
    fetched: Option<Instant>,
    is_wanted: bool,
}

impl Keys {
    /// Keys of an issuer, which a thread fetches from now on.
    pub(super) fn fetched(client: Client, issuer: Url, address: Option<Url>) -> Result<Arc<Self>, std::io::Error> {
        let keys = Arc::new(Self { client, issuer, address, state: Mutex::default(), wanted: Condvar::new() });
        let weak = Arc::downgrade(&keys);
        thread::Builder::new().name("keys".to_owned()).spawn(move || {
            while let Some(keys) = weak.upgrade() {
                keys.refresh();
            }
        })?;
        Ok(keys)
    }

    /// The newest keys; `None` when none can be had.
    pub(super) fn newest(&self) -> Option<Arc<KeySet>> {
        let state = self.state();
        state.keys.clone().filter(|_| state.fetched.is_some_and(|at| at.elapsed() < TOO_OLD))
    }

    /// Asks for newer keys: a token names one that is not known.
    pub(super) fn want(&self) {
        self.state().is_wanted = true;
        self.wanted.notify_all();
    }

    /// Fetches the keys, and waits until that is due again.
    fn refresh(&self) {
        let wait = match self.read() {
            Ok(keys) => {
                let mut state = self.state();
                state.keys = Some(Arc::new(keys));
                state.fetched = Some(Instant::now());
                OLD
            }
            Err(problem) => {
                tracing::error!("the keys of {} cannot be read: {problem}", self.issuer);
                PAUSE
            }
        };
        // A caller with invented keys shall not make us fetch without end.
        thread::sleep(PAUSE);
        let mut state = self.state();
        let begun = Instant::now();
        while !state.is_wanted && begun.elapsed() + PAUSE < wait {
            let left = wait.saturating_sub(PAUSE + begun.elapsed());
            state = self.wanted.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.is_wanted = false;
    }

    fn read(&self) -> Result<KeySet, String> {
        let address = match &self.address {
            Some(address) => address.clone(),
            None => self.discovered()?,
        };
        KeySet::read(&self.got(address)?)
    }

    /// The address of the keys, by the metadata of OAuth (RFC 8414) or of OpenID Connect.
    fn discovered(&self) -> Result<Url, String> {
        let path = self.issuer.path().trim_end_matches('/');
        let places = [
            format!("/.well-known/oauth-authorization-server{path}"),
            format!("{path}/.well-known/openid-configuration"),
        ];
        let mut problem = String::new();
        for place in places {
            let mut url = self.issuer.clone();
            url.set_path(&place);
            let metadata = self.got(url).and_then(|text| {
                serde_json::from_slice::<Value>(&text).map_err(|err| format!("its metadata is not JSON: {err}"))
            });
            match metadata {
                Ok(metadata) if !is_same(metadata["issuer"].as_str(), &self.issuer) => {
                    problem = "its metadata is of another issuer".to_owned();
                }
                Ok(metadata) => match metadata["jwks_uri"].as_str().map(Url::parse) {
                    Some(Ok(address)) => return Ok(address),
                    _ => problem = "its metadata names no `jwks_uri`".to_owned(),
                },
                Err(err) => problem = err,
            }
        }
        Err(problem)
    }

    fn got(&self, url: Url) -> Result<Vec<u8>, String> {
        let request = Request { limit: LARGEST, time: SLOWEST, attempts: 1, ..Request::get(url.clone()) };
        let answer = self.client.fetch(&request).map_err(|err| err.to_string())?;
        match answer.head.status {
            200 => Ok(answer.bytes),
            status => Err(format!("{url} answers with status {status}")),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic leaves either version.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether metadata is of an issuer. A URL without a path is written with a slash at its end, or without.
fn is_same(said: Option<&str>, issuer: &Url) -> bool {
    said.is_some_and(|said| said.trim_end_matches('/') == issuer.as_str().trim_end_matches('/'))
}
