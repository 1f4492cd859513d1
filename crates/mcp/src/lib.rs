//! Server for the Model Context Protocol. This is the only async code: every call runs on a thread of its own, and
//! the tools are synchronous.
//!
//! It will never know an index: it hands calls to the tools, and their answers back.

pub mod card;
pub mod schema;
pub mod surface;

#[cfg(any(test, fuzzing, feature = "testing"))]
pub mod fuzzing;
mod gate;
#[cfg(feature = "http")]
mod guests;
mod message;
mod offers;
mod roots;
mod server;
#[cfg(feature = "http")]
mod sse;
#[cfg(feature = "http")]
mod streamable;
mod transport;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::serve_directly;
use tokio::runtime::{self, Runtime};

#[cfg(feature = "http")]
use codelode_base::config::Transport;
use codelode_service::tools::Context;
#[cfg(feature = "http")]
use codelode_service::tools::Views;

/// The number of threads beyond those of the calls: reading and writing the standard streams takes one each.
const STREAM_THREADS: usize = 4;
/// The longest wait for answers and cancelled calls to finish after the client has gone.
const GOODBYE: Duration = Duration::from_secs(2);

/// Addition to the log filter of a server with many clients: a line for each call. rmcp calls it an error when a client
/// leaves before its answer.
pub const LOG_OF_SERVER: &str = ",access=info,rmcp::service=off";

/// The reason for ending before the client did.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system provides no threads or no file descriptors.
    #[error("cannot start serving")]
    Start(#[source] io::Error),
    /// The network is not served.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Http(#[from] codelode_http::Error),
}

/// Serves the tools over the standard streams until the client closes them.
pub fn serve(cx: Arc<Context>) -> Result<(), Error> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let (input, output) = rmcp::transport::stdio_pipes();
        session(cx, input, output).await;
    });
    // A thread may still be reading standard input, which cannot be interrupted; it ends with the process.
    runtime.shutdown_timeout(GOODBYE);
    Ok(())
}

/// Serves many clients over HTTP, with pages and webhooks if there are any, until the process is told to end.
#[cfg(feature = "http")]
pub fn serve_http(
    views: Arc<Views>,
    bound: codelode_http::Bound,
    pages: Option<Arc<dyn codelode_http::Pages>>,
    kept: Option<Arc<dyn codelode_http::Kept>>,
) -> Result<(), Error> {
    let transport = views.base().config.http.transport;
    let guests = guests::Guests::new(views, bound.metrics.clone());
    let endpoint: Arc<dyn codelode_http::Endpoint> = match transport {
        Transport::Sse => Arc::new(sse::Endpoint::new(guests)),
        Transport::Stdio | Transport::StreamableHttp => Arc::new(streamable::Endpoint::new(guests)),
    };
    let services = codelode_http::Services { endpoint: Some(endpoint), pages, kept };
    // Calls of other nodes have turns of their own.
    Ok(bound.run(services, 2 * server::CALLS_AT_ONCE + STREAM_THREADS)?)
}

/// One thread that waits, and those of the calls.
fn runtime() -> Result<Runtime, Error> {
    let mut builder = runtime::Builder::new_current_thread();
    builder.enable_all().max_blocking_threads(server::CALLS_AT_ONCE + STREAM_THREADS).thread_name("call");
    builder.build().map_err(Error::Start)
}

/// Serves one client over a pair of streams.
async fn session<R, W>(cx: Arc<Context>, input: R, output: W)
where
    R: tokio::io::AsyncRead + Send + Unpin + 'static,
    W: tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let (transport, writer) = transport::lines(input, output);
    // Not `serve_server`: its handshake fails at the first message other than `initialize`. The transport holds such
    // messages back, and the server answers `initialize` as any other request.
    let running = serve_directly(server::Server::new(cx), transport, None);
    if let Err(err) = running.waiting().await {
        tracing::error!(%err, "serving stopped");
    }
    // The writer ends when every sender is gone and everything is written; a client that does not read must not delay
    // it.
    let _ = tokio::time::timeout(GOODBYE, writer).await;
}

#[cfg(test)]
mod tests;
