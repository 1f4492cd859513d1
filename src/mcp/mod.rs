//! Server for the Model Context Protocol. This is the only async code: every call runs on a thread of its own, and
//! the tools are synchronous.

pub mod schema;
pub mod surface;

#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod offers;
mod roots;
mod server;
mod transport;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::serve_directly;
use tokio::runtime;

use crate::tools::Context;

/// The number of threads beyond those of the calls: reading and writing the standard streams takes one each.
const STREAM_THREADS: usize = 4;
/// The longest wait for answers and cancelled calls to finish after the client has gone.
const GOODBYE: Duration = Duration::from_secs(2);

/// The reason for ending before the client did.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system provides no threads or no file descriptors.
    #[error("cannot start serving")]
    Start(#[source] io::Error),
}

/// Serves the tools over the standard streams until the client closes them.
pub fn serve(cx: Arc<Context>) -> Result<(), Error> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(server::CALLS_AT_ONCE + STREAM_THREADS)
        .thread_name("call")
        .build()
        .map_err(Error::Start)?;
    runtime.block_on(async {
        let (input, output) = rmcp::transport::stdio_pipes();
        session(cx, input, output).await;
    });
    // A thread may still be reading standard input, which cannot be interrupted; it ends with the process.
    runtime.shutdown_timeout(GOODBYE);
    Ok(())
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
