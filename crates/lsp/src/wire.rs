//! Framing of messages on a stream: a header with the length, then JSON. A damaged message is reported and skipped.

use std::io::{self, BufRead, Read, Write};

use lsp_server::{ErrorCode, Notification, Request, RequestId};
use serde::Serialize;
use serde_json::{Value, json};

/// The longest message that is read, in bytes; longer ones are skipped.
const LONGEST: u64 = 64 << 20;
/// The longest line of a header.
const LONGEST_LINE: u64 = 4 << 10;
const LENGTH: &[u8] = b"content-length:";

/// A message from the client.
#[derive(Debug)]
pub(super) enum Incoming {
    Request(Request),
    Notification(Notification),
    /// An answer to a request of the server.
    Response,
    /// Something that is no message: what to tell the client.
    Damaged {
        id: Option<RequestId>,
        code: ErrorCode,
        why: String,
    },
}

impl Incoming {
    fn damaged(code: ErrorCode, why: impl Into<String>) -> Self {
        Self::Damaged { id: None, code, why: why.into() }
    }
}

/// Reads messages from a stream.
pub(super) struct Reader<R> {
    input: R,
    /// Whether bytes without a header were reported, which are reported once.
    is_lost: bool,
}

impl<R: BufRead> Reader<R> {
    /// Starts at the beginning of a message.
    pub fn new(input: R) -> Self {
        Self { input, is_lost: false }
    }

    /// The next message; `None` at the end of the stream.
    pub fn read(&mut self) -> io::Result<Option<Incoming>> {
        let len = match self.header()? {
            None => return Ok(None),
            Some(Err(damaged)) => return Ok(Some(damaged)),
            Some(Ok(len)) => len,
        };
        if len > LONGEST {
            let skipped = io::copy(&mut self.input.by_ref().take(len), &mut io::sink())?;
            let why = format!("a message of {len} bytes is longer than the {LONGEST} that are read");
            return Ok((skipped == len).then(|| Incoming::damaged(ErrorCode::InvalidRequest, why)));
        }
        // Memory is taken as bytes arrive, not as the header says.
        let mut body = Vec::new();
        self.input.by_ref().take(len).read_to_end(&mut body)?;
        if (body.len() as u64) < len {
            return Ok(None);
        }
        Ok(Some(parse(&body)))
    }

    /// Reads a header up to its empty line and returns the length of the message.
    fn header(&mut self) -> io::Result<Option<Result<u64, Incoming>>> {
        let mut len = None;
        loop {
            let mut line = Vec::new();
            self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                return Ok(None);
            }
            let text = line.trim_ascii();
            if text.is_empty() {
                match len {
                    Some(len) => {
                        self.is_lost = false;
                        return Ok(Some(Ok(len)));
                    }
                    None => continue,
                }
            }
            // After a damaged message the header may begin in the middle of a line.
            let lower = text.to_ascii_lowercase();
            match memchr::memmem::rfind(&lower, LENGTH) {
                Some(at) => {
                    let number = std::str::from_utf8(text[at + LENGTH.len()..].trim_ascii()).unwrap_or_default();
                    match number.parse() {
                        Ok(number) => len = Some(number),
                        Err(_) => return Ok(Some(Err(self.lost("Content-Length is not a number")))),
                    }
                }
                None if len.is_some() || lower.starts_with(b"content-") => {}
                None if self.is_lost => {}
                None => return Ok(Some(Err(self.lost("there is no header with a Content-Length")))),
            }
        }
    }

    fn lost(&mut self, why: &str) -> Incoming {
        self.is_lost = true;
        Incoming::damaged(ErrorCode::ParseError, why)
    }
}

/// Reads one message. Its kind is told by its members, as JSON-RPC says.
fn parse(body: &[u8]) -> Incoming {
    let mut message = match serde_json::from_slice::<Value>(body) {
        Ok(Value::Object(message)) => message,
        Ok(_) => return Incoming::damaged(ErrorCode::InvalidRequest, "a message is one JSON object"),
        Err(err) => return Incoming::damaged(ErrorCode::ParseError, format!("the message is not JSON: {err}")),
    };
    let params = message.remove("params").unwrap_or_default();
    let id = message.remove("id").map(serde_json::from_value::<RequestId>);
    let method = match message.remove("method") {
        Some(Value::String(method)) => Some(method),
        Some(_) => return Incoming::damaged(ErrorCode::InvalidRequest, "`method` is a string"),
        None => None,
    };
    match (method, id) {
        (Some(method), Some(Ok(id))) => Incoming::Request(Request { id, method, params }),
        (Some(method), None) => Incoming::Notification(Notification { method, params }),
        (_, Some(Err(_))) => Incoming::damaged(ErrorCode::InvalidRequest, "`id` is an integer or a string"),
        (None, Some(Ok(_))) if message.contains_key("result") || message.contains_key("error") => Incoming::Response,
        (None, id) => Incoming::Damaged {
            id: id.and_then(Result::ok),
            code: ErrorCode::InvalidRequest,
            why: "a message has a `method`".to_owned(),
        },
    }
}

/// The message that answers a request with a result.
pub(super) fn result(id: &RequestId, result: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut message = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, json!(id)).into_bytes();
    serde_json::to_writer(&mut message, result)?;
    message.push(b'}');
    Ok(message)
}

/// The message that answers a request, or something that is no message, with an error.
pub(super) fn error(id: Option<&RequestId>, code: ErrorCode, why: &str) -> Vec<u8> {
    let error = json!({ "code": code as i32, "message": why });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes()
}

/// Writes a message with its header.
pub(super) fn write(output: &mut impl Write, message: &[u8]) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n", message.len())?;
    output.write_all(message)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::{Incoming, Reader};

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    /// The messages that are read, a word for each.
    fn check(input: &str, expected: &[&str]) {
        let mut reader = Reader::new(input.as_bytes());
        let mut read = Vec::new();
        while let Some(message) = reader.read().expect("memory does not fail") {
            read.push(match message {
                Incoming::Request(request) => format!("{} {:?}", request.method, request.id.to_string()),
                Incoming::Notification(notification) => notification.method,
                Incoming::Response => "response".to_owned(),
                Incoming::Damaged { code, id, .. } => format!("{code:?} {}", id.is_some()),
            });
        }
        assert_eq!(read, expected);
    }

    #[test]
    fn messages_are_told_apart_by_their_members() {
        let all = [
            r#"{"id":1,"method":"a"}"#,
            r#"{"id":"x","method":"b","params":[1]}"#,
            r#"{"method":"c"}"#,
            r#"{"id":1,"result":null}"#,
            r#"{"id":1.5,"method":"d"}"#,
            r#"{"id":7}"#,
            r#"[]"#,
            r#"{"method":7}"#,
        ];
        let input: String = all.iter().map(|body| framed(body)).collect();
        let no = "InvalidRequest false";
        check(&input, &[r#"a "1""#, r#"b "\"x\"""#, "c", "response", no, "InvalidRequest true", no, no]);
    }

    #[test]
    fn a_damaged_message_does_not_take_the_next_one_with_it() {
        let next = framed(r#"{"method":"next"}"#);
        check(&format!("{}{next}", framed("{")), &["ParseError false", "next"]);
        check(&format!("rubbish\nmore of it\r\n\r\n{next}"), &["ParseError false", "next"]);
        check(&format!("{{}}{next}"), &["next"]);
        check(&format!("Content-Length: ten\r\n\r\n{next}"), &["ParseError false", "next"]);
        check(&format!("Content-Length: -1\r\n\r\n{next}"), &["ParseError false", "next"]);
        let other_case = "content-type: x\r\nCONTENT-LENGTH:2\r\nContent-Type: y\n\n{}";
        check(&format!("{other_case}{next}"), &["InvalidRequest false", "next"]);
        check(&format!("\r\n\r\n{next}"), &["next"]);
        check(&format!("Content-Length: 99999999999999999999999\r\n\r\n{next}"), &["ParseError false", "next"]);
    }

    #[test]
    fn a_stream_that_ends_early_is_at_its_end() {
        check("Content-Length: 10\r\n\r\n{}", &[]);
        check("Content-Length: 18446744073709551615\r\n\r\n{}", &[]);
        check("Content-Le", &[]);
        check("", &[]);
    }
}
