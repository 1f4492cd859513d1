//! Connections: accepted up to a limit, each with limits of its own, until a signal ends the server.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::body::Body as _;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::callers::Callers;
use super::connections::{Connections, Place};
use super::cookies;
use super::site::{MOST_RUNNING, Site};
use super::strangers::network;
use super::tls::Tls;
use super::{Bound, Endpoint, Error, Services};

/// Time limit for the handshake of TLS.
const SLOWEST_HANDSHAKE: Duration = Duration::from_secs(10);
/// Time limit for the head of a request, and of a connection without requests.
const SLOWEST_HEAD: Duration = Duration::from_secs(60);
/// Size limit of a head.
const LARGEST_HEAD: usize = 32 * 1024;
/// Most headers of a request.
const MOST_HEADERS: usize = 64;
/// Time after which a client that takes nothing is dropped.
const STUCK: Duration = Duration::from_secs(60);
/// Pause when the system has no more file descriptors.
const OUT_OF_FILES: Duration = Duration::from_millis(100);
/// Time for running requests to end, once the server is to end.
const LAST_REQUESTS: Duration = Duration::from_secs(10);
/// Time for connections to end after that, and for threads after them.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Bound {
    /// Serves until the process is told to end (SIGTERM, SIGINT), with so many threads for blocking work. Running
    /// requests end first; a second signal ends the server at once.
    pub fn run(self, services: Services, threads: usize) -> Result<(), Error> {
        let mut builder = runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().max_blocking_threads(threads).thread_name("call").build();
        let runtime = runtime.map_err(Error::Start)?;
        let served = runtime.block_on(self.serve(services));
        runtime.shutdown_timeout(LAST_WORDS);
        served
    }

    async fn serve(self, services: Services) -> Result<(), Error> {
        let Self { listener, address, guard, tokens, oauth, forge, proxies, key, tls, metrics, .. } = self;
        let unheard = |source| Error::Listen { place: address.to_string(), source };
        let listener = TcpListener::from_std(listener).map_err(unheard)?;
        let mut end = signal(SignalKind::terminate()).map_err(unheard)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
        let (cookie, is_tls) = (cookies::name(address.port()), tls.is_some());
        let (signed_in, strangers) = Default::default();
        let callers = Callers { guard, tokens, oauth, forge, proxies, key, signed_in, strangers, cookie, is_tls };
        let site = Arc::new(Site::new(callers, metrics, services));
        let open = GracefulShutdown::new();
        tokio::select! {
            () = accept(&listener, tls.as_ref(), &site, &open) => {}
            () = either(&mut end, &mut interrupt) => {}
        }
        drop(listener);
        site.is_closing.store(true, Ordering::Relaxed);
        let leaving = site.clone();
        let left = tokio::task::spawn_blocking(move || leaving.services.all().for_each(Endpoint::leave));
        tokio::select! {
            _ = tokio::time::timeout(LAST_REQUESTS, site.turns.acquire_many(MOST_RUNNING)) => {}
            () = either(&mut end, &mut interrupt) => {}
        }
        tokio::select! {
            _ = tokio::time::timeout(LAST_WORDS, left) => {}
            () = either(&mut end, &mut interrupt) => {}
        }
        // Streams end with their sessions.
        site.services.all().for_each(Endpoint::close);
        tokio::select! {
            _ = tokio::time::timeout(LAST_WORDS, open.shutdown()) => {}
            () = either(&mut end, &mut interrupt) => {}
        }
        Ok(())
    }
}

/// Waits for one of two signals.
async fn either(end: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = end.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Accepts connections; never ends.
async fn accept(listener: &TcpListener, tls: Option<&Tls>, site: &Arc<Site>, open: &GracefulShutdown) {
    let places = Arc::new(Connections::default());
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok((stream, peer)) => (stream, peer.ip()),
            Err(err) => {
                tracing::warn!(%err, "a connection was not accepted");
                tokio::time::sleep(OUT_OF_FILES).await;
                continue;
            }
        };
        let from = (!site.callers.proxies.trust(peer)).then(|| network(peer));
        let Some(place) = places.admit(from) else {
            tracing::debug!(%peer, "there is no place for a connection");
            continue;
        };
        prepare(&stream);
        let (place, tls) = (Arc::new(place), tls.map(Tls::acceptor));
        let (site, watcher) = (site.clone(), open.watcher());
        tokio::spawn(async move {
            let speaking = async {
                match tls {
                    None => speak(stream, peer, site, watcher, &place).await,
                    Some(tls) => match tokio::time::timeout(SLOWEST_HANDSHAKE, tls.accept(stream)).await {
                        Ok(Ok(stream)) => speak(stream, peer, site, watcher, &place).await,
                        Ok(Err(err)) => Err(err.into()),
                        Err(late) => Err(late.into()),
                    },
                }
            };
            let ended = tokio::select! {
                ended = speaking => ended,
                () = place.taken_back() => Err("it was idle longest, and made room".into()),
            };
            if let Err(err) = ended {
                tracing::debug!(%err, "a connection broke off");
            }
        });
    }
}

/// Answers the requests of a connection.
async fn speak<S>(
    stream: S,
    peer: IpAddr,
    site: Arc<Site>,
    watcher: Watcher,
    place: &Arc<Place>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let place = place.clone();
    let service = service_fn(move |request| {
        let (site, running) = (site.clone(), place.run());
        async move {
            let answer = site.answer(peer, request).await;
            if answer.body().size_hint().exact().is_none() {
                running.goes_on();
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SLOWEST_HEAD)
        .max_header_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    Ok(watcher.watch(connection).await?)
}

/// Sets what a connection needs: answers at once, and an end when the client takes nothing.
fn prepare(stream: &TcpStream) {
    if let Err(err) = stream.set_nodelay(true) {
        tracing::debug!(%err, "a connection may be slow");
    }
    #[cfg(target_os = "linux")]
    if let Err(err) = rustix::net::sockopt::set_tcp_user_timeout(stream, STUCK.as_millis() as u32) {
        tracing::debug!(%err, "a connection may stay when its client is gone");
    }
}
