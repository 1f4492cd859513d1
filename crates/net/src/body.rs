//! Response bodies: streamed, decompressed, and limited in size and time.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use flate2::read::MultiGzDecoder;

use super::{Error, Request};

/// Reader for a response body.
pub struct Body {
    inner: Box<dyn Read + Send>,
    /// Bytes left until the limit.
    left: u64,
    limit: u64,
    host: String,
    /// The `Content-Length` of a body that is not compressed.
    pub length: Option<u64>,
}

/// The raw bytes from the connection, before decompression.
struct Line {
    answer: reqwest::blocking::Response,
    host: String,
    began: Instant,
    deadline: Instant,
    cancelled: Option<Arc<AtomicBool>>,
}

impl Body {
    /// The body of a response to `request`.
    pub(super) fn new(
        answer: reqwest::blocking::Response,
        packed: bool,
        request: &Request,
        host: &str,
        deadline: Instant,
    ) -> Result<Self, Error> {
        let (host, limit) = (host.to_owned(), request.limit);
        let length = answer.content_length().filter(|_| !packed);
        if length.is_some_and(|length| length > limit) {
            return Err(Error::TooLarge { host, limit });
        }
        let cancelled = request.cancelled.clone();
        let line = Line { answer, host: host.clone(), began: Instant::now(), deadline, cancelled };
        let inner: Box<dyn Read + Send> = if packed { Box::new(MultiGzDecoder::new(line)) } else { Box::new(line) };
        Ok(Self { inner, left: limit, limit, host, length })
    }

    /// Reads the rest of the body.
    pub fn read_whole(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        match self.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(err) => Err(Error::of_io(err, &self.host)),
        }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte past the limit may be read, to detect a body that is too long.
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).saturating_add(1).min(buffer.len());
        let n = self.inner.read(&mut buffer[..most])?;
        match self.left.checked_sub(n as u64) {
            Some(left) => self.left = left,
            None => return Err(io::Error::other(Error::TooLarge { host: self.host.clone(), limit: self.limit })),
        }
        Ok(n)
    }
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)) {
            return Err(io::Error::other(Error::Cancelled));
        }
        if Instant::now() >= self.deadline {
            return Err(io::Error::other(Error::Timeout { host: self.host.clone(), after: self.began.elapsed() }));
        }
        self.answer.read(buffer).map_err(|err| {
            let inner = err.downcast::<reqwest::Error>();
            io::Error::other(match inner {
                Ok(inner) => Error::of_exchange(inner, &self.host, self.began.elapsed()),
                Err(err) => Error::Broken { host: self.host.clone(), problem: err.to_string() },
            })
        })
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("length", &self.length).field("left", &self.left).finish_non_exhaustive()
    }
}
