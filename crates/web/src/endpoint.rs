//! Bridge between the server and the pages: threads, compression and headers.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;

use super::failure::Failure;
use super::routes::{self, Reply};
use super::{assets, layout, runs};
use codelode_http::metrics::Page;
use codelode_http::{
    self as http, Answer, Bytes, HeaderMap, HeaderValue, Pages, Pending, Request, Shares, StatusCode, Visit, content,
    header, html, see_other,
};
use codelode_service::tools::{Context, Views};

/// Path of the stream that tells of index runs.
const EVENTS: &str = "/events";
/// Events of a stream that wait for the browser.
const MOST_WAITING: usize = 4;
/// Streams at once, and those of one caller; of whoever has the most, the oldest makes room.
const MOST_STREAMS: usize = 512;
const STREAMS_OF_ONE: usize = 32;
/// Pages that are made at once, and those of one caller.
const AT_ONCE: usize = 8;
const AT_ONCE_OF_ONE: usize = AT_ONCE / 2;
/// Answers below this size are sent as they are.
const WORTH_PACKING: usize = 1_400;
/// Where pages may take things from: this server, and no code that is written into a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The pages.
pub(super) struct Endpoint {
    views: Arc<Views>,
    turns: Semaphore,
    of_callers: Shares,
    /// Streams that go on, with the names of their callers.
    open: Mutex<Vec<(String, AbortHandle)>>,
}

impl Endpoint {
    pub(super) fn new(views: Arc<Views>) -> Self {
        let of_callers = Shares::new(AT_ONCE_OF_ONE);
        Self { views, turns: Semaphore::new(AT_ONCE), of_callers, open: Mutex::default() }
    }

    async fn answered(&self, visit: Arc<Visit>, request: Request<Bytes>) -> Answer {
        let cx = self.views.of(visit.grant.as_ref().map(|grant| (&*grant.name, &grant.rights)));
        let (parts, _) = request.into_parts();
        if parts.uri.path() == EVENTS {
            // It does not count as running, so the server need not wait for it.
            return self.events(cx, visit.caller());
        }
        let own = self.of_callers.of(visit.caller());
        let _own = own.acquire().await.expect("the semaphore is never closed");
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        let packs = takes_gzip(&parts.headers);
        let is_signed_in = visit.grant.is_some();
        let made = tokio::task::spawn_blocking(move || {
            let reply = routes::reply(&cx, !is_signed_in, parts.uri.path(), parts.uri.query().unwrap_or_default());
            answer(reply.unwrap_or_else(Reply::from), packs, is_signed_in)
        });
        made.await.unwrap_or_else(|_| {
            let failure = Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "This page could not be made: a bug.");
            answer(Reply::from(failure), false, is_signed_in)
        })
    }
}

impl Endpoint {
    /// A stream that tells of index runs.
    fn events(&self, cx: Arc<Context>, caller: &str) -> Answer {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, task)| !task.is_finished());
        if let Some(oldest) = leaving(open.iter().map(|(by, _)| by.as_str()), caller) {
            open.remove(oldest).1.abort();
        }
        let told = tokio::spawn(runs::tell(cx, sender));
        open.push((caller.to_owned(), told.abort_handle()));
        let mut answer = http::events(receiver);
        guard(&mut answer);
        answer
    }
}

/// The stream, among those of these callers, that has to make room for one more of a caller.
fn leaving<'c>(open: impl Iterator<Item = &'c str> + Clone, caller: &str) -> Option<usize> {
    let n_of = |one: &str| open.clone().filter(|by| *by == one).count();
    if n_of(caller) >= STREAMS_OF_ONE {
        return open.clone().position(|by| by == caller);
    }
    if open.clone().count() < MOST_STREAMS {
        return None;
    }
    let largest = open.clone().max_by_key(|by| n_of(by))?;
    open.clone().position(|by| by == largest)
}

/// The answer for a reply.
fn answer(reply: Reply, packs: bool, is_signed_in: bool) -> Answer {
    let mut answer = match reply {
        Reply::Page(page) => packed(page.status, "", layout::whole(&page, is_signed_in).into_string().into(), packs),
        Reply::Part(part) => packed(StatusCode::OK, "", part.into_string().into(), packs),
        Reply::Elsewhere(target) => see_other(&target),
        Reply::File(kind, bytes) => packed(StatusCode::OK, kind, bytes, packs),
    };
    guard(&mut answer);
    answer
}

/// Makes an answer, smaller where it is worth the time. The empty kind is HTML.
fn packed(status: StatusCode, kind: &'static str, bytes: Vec<u8>, packs: bool) -> Answer {
    let written = |bytes: Vec<u8>| if kind.is_empty() { html(status, bytes) } else { content(kind, bytes) };
    if !packs || bytes.len() < WORTH_PACKING {
        return written(bytes);
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    match encoder.write_all(&bytes).and_then(|()| encoder.finish()) {
        Ok(small) => {
            let mut answer = written(small);
            answer.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            answer
        }
        Err(_) => written(bytes),
    }
}

/// Sets the headers that keep a page to itself.
fn guard(answer: &mut Answer) {
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding, Cookie"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| matches!(coding.trim(), "gzip" | "*"))
}

impl http::Endpoint for Endpoint {
    fn answer<'a>(&'a self, visit: Arc<Visit>, request: Request<Bytes>) -> Pending<'a> {
        Box::pin(self.answered(visit, request))
    }

    fn is_ready(&self) -> bool {
        self.views.base().config.home.try_exists().is_ok()
    }

    fn measure(&self, _: &mut Page) {}

    fn close(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(|(_, task)| task.abort());
        self.views.all().iter().for_each(|cx| cx.session.flush());
    }
}

impl Pages for Endpoint {
    fn for_anyone(&self, path: &str) -> Option<Answer> {
        let (kind, bytes) = assets::find(path)?;
        let mut answer = content(kind, bytes);
        guard(&mut answer);
        // Its address changes with its content.
        let age = HeaderValue::from_static("public, max-age=31536000, immutable");
        answer.headers_mut().insert(header::CACHE_CONTROL, age);
        Some(answer)
    }

    fn sign_in(&self, target: &str, problem: Option<&str>) -> Answer {
        answer(Reply::Page(layout::sign_in(target, problem)), false, false)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_STREAMS, STREAMS_OF_ONE, leaving};

    #[test]
    fn streams_of_one_caller_close_none_of_others() {
        let of = |n: usize, by: &'static str| std::iter::repeat_n(by, n);
        assert_eq!(leaving(of(STREAMS_OF_ONE - 1, "ann"), "ann"), None);
        assert_eq!(leaving(of(1, "ben").chain(of(STREAMS_OF_ONE, "ann")), "ann"), Some(1), "the oldest of her own");
        let callers: Vec<String> = (0..MOST_STREAMS - STREAMS_OF_ONE).map(|nth| format!("x{nth}")).collect();
        let all = callers.iter().map(String::as_str).chain(of(STREAMS_OF_ONE, "ann"));
        assert_eq!(leaving(all, "ben"), Some(callers.len()), "of whoever has the most");
    }
}
