//! Conversations with git's daemon and over ssh, with limits on bytes, silence and total time. Cancelling ends one
//! within [`STEP`].

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use super::http::{Failure, LISTING, Line, WHOLE};
use codelode_net as net;

/// The longest wait of one read, after which the limits are checked.
pub(super) const STEP: Duration = Duration::from_millis(200);

/// The bytes of a server. A read of the inner stream must end after [`STEP`].
pub(super) struct ServerStream<R> {
    inner: R,
    line: Line,
    host: String,
    silence: Duration,
    /// Time for connecting, in addition to the silence before the first byte.
    connecting: Duration,
    begun: Instant,
}

impl<R> ServerStream<R> {
    pub(super) fn new(inner: R, line: &Line, host: &str, silence: Duration, connecting: Duration) -> Self {
        Self { inner, line: line.clone(), host: host.to_owned(), silence, connecting, begun: Instant::now() }
    }

    /// Fails if the server is silent for too long since `asked`, or the whole conversation takes too long.
    fn check_time(&self, asked: Instant) -> io::Result<()> {
        let whole = if self.line.awaits_pack() { WHOLE } else { LISTING };
        for (since, most) in [(asked, self.silence + self.connecting), (self.begun, whole)] {
            if since.elapsed() > most {
                let err = net::Error::Timeout { host: self.host.clone(), after: since.elapsed() };
                self.line.fail(Failure::Net(err.clone()));
                return Err(io::Error::new(ErrorKind::TimedOut, err));
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for ServerStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let asked = Instant::now();
        loop {
            match self.inner.read(buffer) {
                Ok(n) => {
                    self.connecting = Duration::ZERO;
                    self.line.took(&buffer[..n])?;
                    self.check_time(asked)?;
                    return Ok(n);
                }
                Err(err) if matches!(err.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    self.line.took(&[])?;
                    self.check_time(asked)?;
                }
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) => {
                    // A custom error says more than the failure of the network.
                    if err.get_ref().is_none() {
                        let (host, problem) = (self.host.clone(), err.to_string());
                        self.line.fail(Failure::Net(net::Error::Broken { host, problem }));
                    }
                    return Err(err);
                }
            }
        }
    }
}

/// The requests to a server, which decide the limits of its answers.
pub(super) struct RequestStream<W> {
    inner: W,
    line: Line,
}

impl<W> RequestStream<W> {
    pub(super) fn new(inner: W, line: &Line) -> Self {
        Self { inner, line: line.clone() }
    }
}

impl<W: Write> Write for RequestStream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.asks(bytes);
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
