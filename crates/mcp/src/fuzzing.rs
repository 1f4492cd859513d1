//! A session whose client sends any bytes.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use codelode_service::tools::Context;

/// Sends these lines, and gives what is answered until the session ends.
pub fn session(cx: Arc<Context>, lines: &[u8]) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there are threads");
    let mut answers = Vec::new();
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let session = tokio::spawn(super::session(cx, input, output));
        let (mut output, mut input) = tokio::io::split(ours);
        let send = async {
            // A session may end before everything is sent.
            let _ = input.write_all(lines).await;
            let _ = input.shutdown().await;
        };
        let ((), _) = tokio::join!(send, output.read_to_end(&mut answers));
        session.await.expect("it does not panic");
    });
    answers
}
