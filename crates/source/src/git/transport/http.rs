//! Git's smart protocol over the guarded client of [`codelode_net`].

use std::any::Any;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gix_transport::client::AuthenticationRequired;
use gix_transport::client::blocking_io::http::{GetResponse, Http, PostBodyDataKind, PostResponse};
use url::Url;

use super::preface::Preface;
use codelode_net as net;

/// The longest time of one exchange; the client itself checks that it makes progress.
pub(super) const WHOLE: Duration = Duration::from_secs(3600);
/// The longest time until a server has listed its capabilities or refs.
pub(super) const LISTING: Duration = Duration::from_secs(120);

/// The limits of one conversation with a server, and its result.
#[derive(Clone, Default)]
pub(in crate::git) struct Line {
    /// Bytes received.
    pub(in crate::git) received: Arc<AtomicU64>,
    /// Bytes allowed.
    pub(in crate::git) limit: u64,
    /// Set when the request is cancelled.
    pub(in crate::git) cancelled: Arc<AtomicBool>,
    /// The check of all that comes before a pack.
    pub(super) preface: Arc<Mutex<Preface>>,
    /// The error of the network, kept because git's library turns errors into text.
    pub(in crate::git) failure: Arc<Mutex<Option<Failure>>>,
}

/// The reason for an early end of a conversation, where git's own error says less.
#[derive(Clone, Debug)]
pub(in crate::git) enum Failure {
    /// An error of the client.
    Net(net::Error),
    /// The server answered with this status.
    Status(u16),
    /// The answer is too large.
    TooLarge,
    /// The answer is too large before a pack.
    NoPack,
}

impl Line {
    pub(in crate::git) fn fail(&self, failure: Failure) {
        let mut slot = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(failure);
    }

    /// Follows a request, or a part of one, since an answer with a pack has other limits.
    pub(super) fn asks(&self, request: &[u8]) {
        self.preface().asks(request);
    }

    /// Whether a pack was requested.
    pub(super) fn awaits_pack(&self) -> bool {
        self.preface().awaits_pack()
    }

    fn preface(&self) -> MutexGuard<'_, Preface> {
        self.preface.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts received bytes; an error if they are too many or the request is cancelled.
    pub(super) fn took(&self, bytes: &[u8]) -> io::Result<()> {
        let n = bytes.len() as u64;
        if self.received.fetch_add(n, Ordering::Relaxed) + n > self.limit {
            self.fail(Failure::TooLarge);
            return Err(io::Error::other("more came than may"));
        }
        if !self.preface().passes(bytes) {
            self.fail(Failure::NoPack);
            return Err(io::Error::other("more came than may before a pack"));
        }
        if self.cancelled.load(Ordering::Relaxed) {
            self.fail(Failure::Net(net::Error::Cancelled));
            return Err(io::Error::other("cancelled"));
        }
        Ok(())
    }
}

/// Carries requests of git over a client.
pub(in crate::git) struct HttpConnection {
    client: net::Client,
    line: Line,
    redirected: Option<String>,
}

impl HttpConnection {
    pub(in crate::git) fn new(client: net::Client, line: Line) -> Self {
        Self { client, line, redirected: None }
    }

    /// A request for a URL, at the server of the last redirect.
    fn request(
        &self,
        url: &str,
        base: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        body: Option<Vec<u8>>,
    ) -> Result<net::Request, net::Error> {
        let url = match (&self.redirected, url.strip_prefix(base)) {
            (Some(new), Some(tail)) => format!("{new}{tail}"),
            _ => url.to_owned(),
        };
        let url = Url::parse(&url).map_err(|err| net::Error::BadUrl(err.to_string()))?;
        let mut request = match body {
            Some(body) => net::Request::post(url, body),
            None => net::Request::get(url),
        };
        request.packed = true;
        request.limit = u64::MAX;
        request.time = if request.method == net::Method::Get { LISTING } else { WHOLE };
        request.cancelled = Some(self.line.cancelled.clone());
        for header in headers {
            if let Some((name, value)) = header.as_ref().split_once(':') {
                request.headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
        }
        Ok(request)
    }
}

/// Sends a request, and turns a bad status into the error that git's library expects.
fn ask(client: &net::Client, line: &Line, request: &net::Request) -> io::Result<net::Response> {
    let response = client.send(request).map_err(|err| {
        line.fail(Failure::Net(err.clone()));
        io::Error::other(err)
    })?;
    if (200..300).contains(&response.status) {
        return Ok(response);
    }
    let kind = match response.status {
        401 => {
            let www_authenticate = response.header("www-authenticate").map(|value| value.as_bytes().into());
            let required = AuthenticationRequired { www_authenticate: www_authenticate.into_iter().collect() };
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, required));
        }
        _ => io::ErrorKind::Other,
    };
    line.fail(Failure::Status(response.status));
    Err(io::Error::new(kind, format!("the server answers with status {}", response.status)))
}

/// The headers of an answer, as git's library reads them.
fn lines(response: &net::Response) -> Vec<u8> {
    response.header("content-type").map(|value| format!("content-type: {value}\n").into_bytes()).unwrap_or_default()
}

impl Http for HttpConnection {
    type Headers = ResponsePart;
    type ResponseBody = ResponsePart;
    type PostBody = RequestBody;

    fn get(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::error::Result<GetResponse<Self::Headers, Self::ResponseBody>> {
        let request = self.request(url, base_url, headers, None).map_err(|err| {
            self.line.fail(Failure::Net(err.clone()));
            gix::error::Error::from_error(err)
        })?;
        let tail = url.strip_prefix(base_url).unwrap_or_default().to_owned();
        let asked = request.url.clone();
        let response = match ask(&self.client, &self.line, &request) {
            Ok(response) => response,
            // Git's library looks for this error when it reads the headers.
            Err(err) => {
                let failed = ResponsePart::failed(err);
                return Ok(GetResponse { headers: failed, body: ResponsePart::bytes(Vec::new()) });
            }
        };
        if response.url != asked {
            let to = response.url.as_str();
            let Some(base) = to.strip_suffix(&tail) else {
                let err = net::Error::Redirect {
                    from: asked.host_str().unwrap_or_default().to_owned(),
                    to: response.url.host_str().unwrap_or_default().to_owned(),
                    why: "it is not an address of the same repository",
                };
                self.line.fail(Failure::Net(err.clone()));
                return Err(gix::error::Error::from_error(err));
            };
            self.redirected = Some(base.to_owned());
        }
        let headers = ResponsePart::bytes(lines(&response));
        Ok(GetResponse { headers, body: ResponsePart::body(response.body, self.line.clone()) })
    }

    fn post(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _body: PostBodyDataKind,
    ) -> gix::error::Result<PostResponse<Self::Headers, Self::ResponseBody, Self::PostBody>> {
        let request = self.request(url, base_url, headers, Some(Vec::new())).map_err(|err| {
            self.line.fail(Failure::Net(err.clone()));
            gix::error::Error::from_error(err)
        })?;
        let exchange =
            Exchange { client: self.client.clone(), line: self.line.clone(), request: Some(request), answer: None };
        let shared = Arc::new(Mutex::new(exchange));
        Ok(PostResponse {
            post_body: RequestBody { sent: Vec::new(), exchange: shared.clone() },
            headers: ResponsePart { part: Part::Headers(shared.clone()) },
            body: ResponsePart { part: Part::Body(shared) },
        })
    }

    fn configure(&mut self, _config: &dyn Any) -> gix::error::Result {
        Ok(())
    }

    fn redirected_base_url(&self) -> Option<String> {
        self.redirected.clone()
    }
}

/// A request that is sent when its answer is first read, because by then its body is complete.
struct Exchange {
    client: net::Client,
    line: Line,
    request: Option<net::Request>,
    answer: Option<(Vec<u8>, Box<dyn BufRead + Send>)>,
}

impl Exchange {
    fn answer(&mut self) -> io::Result<&mut (Vec<u8>, Box<dyn BufRead + Send>)> {
        if let Some(mut request) = self.request.take() {
            self.line.asks(&request.body);
            if !self.line.awaits_pack() {
                request.time = LISTING;
            }
            let response = ask(&self.client, &self.line, &request)?;
            let headers = lines(&response);
            let body = CountedBody { body: response.body, line: self.line.clone() };
            self.answer = Some((headers, Box::new(BufReader::with_capacity(64 << 10, body))));
        }
        self.answer.as_mut().ok_or_else(|| io::Error::other("the server did not answer"))
    }
}

/// A request body. The request is sent only once this is dropped.
pub(in crate::git) struct RequestBody {
    sent: Vec<u8>,
    exchange: Arc<Mutex<Exchange>>,
}

impl Write for RequestBody {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sent.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(request) = &mut exchange.request {
            request.body = std::mem::take(&mut self.sent);
        }
    }
}

/// A response body that counts its bytes.
struct CountedBody {
    body: net::Body,
    line: Line,
}

impl Read for CountedBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.body.read(buffer).inspect_err(|err| {
            let known = err.get_ref().and_then(|inner| inner.downcast_ref::<net::Error>()).cloned();
            let broken = || net::Error::Broken { host: "the server".to_owned(), problem: err.to_string() };
            self.line.fail(Failure::Net(known.unwrap_or_else(broken)));
        })?;
        self.line.took(&buffer[..n])?;
        Ok(n)
    }
}

/// The headers or body of an answer, for git's library.
pub(in crate::git) struct ResponsePart {
    part: Part,
}

enum Part {
    Failed(Option<io::Error>),
    Ready(Box<dyn BufRead + Send>),
    Headers(Arc<Mutex<Exchange>>),
    Body(Arc<Mutex<Exchange>>),
}

impl ResponsePart {
    fn failed(err: io::Error) -> Self {
        Self { part: Part::Failed(Some(err)) }
    }

    fn bytes(bytes: Vec<u8>) -> Self {
        Self { part: Part::Ready(Box::new(Cursor::new(bytes))) }
    }

    fn body(body: net::Body, line: Line) -> Self {
        Self { part: Part::Ready(Box::new(BufReader::new(CountedBody { body, line }))) }
    }

    /// Sends the request unless it has been sent, and takes this part of the answer.
    fn ready(&mut self) -> io::Result<&mut Box<dyn BufRead + Send>> {
        let part = match &mut self.part {
            Part::Failed(err) => {
                return Err(err.take().unwrap_or_else(|| io::Error::other("the server did not answer")));
            }
            Part::Ready(_) => None,
            Part::Headers(exchange) => {
                let mut exchange = exchange.lock().unwrap_or_else(PoisonError::into_inner);
                let headers = std::mem::take(&mut exchange.answer()?.0);
                Some(Box::new(Cursor::new(headers)) as Box<dyn BufRead + Send>)
            }
            Part::Body(exchange) => {
                let mut exchange = exchange.lock().unwrap_or_else(PoisonError::into_inner);
                exchange.answer()?;
                Some(exchange.answer.take().expect("it was just there").1)
            }
        };
        if let Some(part) = part {
            self.part = Part::Ready(part);
        }
        match &mut self.part {
            Part::Ready(part) => Ok(part),
            _ => unreachable!("it was made ready above"),
        }
    }
}

impl Read for ResponsePart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.ready()?.read(buffer)
    }
}

impl BufRead for ResponsePart {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.ready()?.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        if let Part::Ready(part) = &mut self.part {
            part.consume(n);
        }
    }
}
