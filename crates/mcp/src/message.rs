//! Strict reading of JSON-RPC messages: every message is good, refused with a reason, or nothing that wants an answer.
//! All transports read by it, so that a client is told the same over each.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, CustomRequest, JsonRpcMessage, JsonRpcRequest};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::server::problem_with;

/// The most values in a message: as JSON in memory each takes up to a hundred times its size in a line.
const MAX_VALUES: usize = 20_000;
const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// The problem with an id that is in use.
pub(super) const RUNNING: &str = "a request with this id is still running: give each request its own id";

/// Prefixes of methods for capabilities that this server does not have.
const NOT_OFFERED: &[&str] = &["resources/subscribe", "resources/unsubscribe", "completion/", "logging/"];

/// A message of a client, checked.
pub(super) enum Message {
    /// A message for the server.
    Good(Box<ClientJsonRpcMessage>),
    /// A refusal, to be sent at once.
    Refused(Value),
    /// Nothing to answer.
    Nothing,
}

/// A message, or the reason against it.
pub(super) fn checked(text: &[u8]) -> Message {
    checked_without(text, &[])
}

/// A message in a revision of the protocol that lacks some methods, or the reason against it.
pub(super) fn checked_without(text: &[u8], lacking: &[&str]) -> Message {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii();
    if text.is_empty() {
        return Message::Nothing;
    }
    if std::str::from_utf8(text).is_err() {
        return Message::Refused(refusal(&Value::Null, PARSE_ERROR, "the message is not UTF-8"));
    }
    let id = || id_of(text);
    if let Err(problem) = checked_size(text) {
        return Message::Refused(refusal(&id(), INVALID_REQUEST, &problem));
    }
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(err) => return Message::Refused(refusal(&id(), PARSE_ERROR, &format!("the message is not JSON: {err}"))),
    };
    let invalid = |problem: &str| Message::Refused(refusal(&id(), INVALID_REQUEST, problem));
    let Some(object) = value.as_object() else {
        return invalid(match value {
            Value::Array(_) => "batches are not part of this revision of the protocol: send one message at a time",
            _ => "a message is a JSON object",
        });
    };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("`jsonrpc` must be \"2.0\"");
    }
    match (object.get("method"), object.get("id")) {
        (Some(Value::String(_)), None) => {}
        (Some(Value::String(_)), Some(id)) if id.is_string() || id.is_i64() => {}
        (Some(Value::String(_)), Some(_)) => return invalid("`id` must be a string or a whole number"),
        (Some(_), _) => return invalid("`method` must be a string"),
        (None, _) if object.contains_key("result") || object.contains_key("error") => {}
        (None, _) => return invalid("a request has a `method`"),
    }
    let is_request = object.contains_key("method") && object.contains_key("id");
    let method = object.get("method").and_then(Value::as_str).unwrap_or_default();
    if is_request && NOT_OFFERED.iter().any(|begin| method.starts_with(begin)) {
        let problem = "this server offers tools, prompts and resources, and nothing else";
        return Message::Refused(refusal(&id(), METHOD_NOT_FOUND, problem));
    }
    if is_request && lacking.contains(&method) {
        let problem = format!("the revision that this message is written in has no method {method:?}");
        return Message::Refused(refusal(&id(), METHOD_NOT_FOUND, &problem));
    }
    match serde_json::from_value(value) {
        Ok(JsonRpcMessage::Request(JsonRpcRequest {
            request: ClientRequest::CustomRequest(CustomRequest { method, params, .. }),
            ..
        })) if method == "initialize" => {
            let problem = problem_with("initialize", params.unwrap_or_default());
            Message::Refused(refusal(&id(), INVALID_PARAMS, &problem))
        }
        Ok(message) => Message::Good(Box::new(message)),
        // An invalid answer or notification is ignored, because two programs could otherwise answer each other
        // endlessly.
        Err(_) if !is_request => Message::Nothing,
        Err(_) => invalid("the message is not a JSON-RPC request: `params` must be an object"),
    }
}

/// Refuses a message with too many values.
pub(super) fn checked_size(text: &[u8]) -> Result<(), String> {
    match values(text) > MAX_VALUES {
        true => Err(format!("a message may hold at most {MAX_VALUES} values; send less at once")),
        false => Ok(()),
    }
}

/// A lower bound on the number of values in a JSON text, counted by separators.
fn values(text: &[u8]) -> usize {
    let (mut count, mut in_text, mut is_escaped) = (0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

/// A message without the values inside of its fields, for one that is too long to be kept. Clients wait for an answer
/// to their id, and many write it last.
#[derive(Default)]
pub(super) struct Outline {
    text: Vec<u8>,
    length: usize,
    depth: usize,
    in_text: bool,
    is_escaped: bool,
}

impl Outline {
    /// The most bytes that are kept.
    const LONGEST: usize = 4096;

    /// Adds the next bytes of the message.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        for byte in bytes {
            let mut kept = *byte;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = self.in_text,
                b'"' => self.in_text = !self.in_text,
                b'{' | b'[' if !self.in_text => {
                    self.depth += 1;
                    // It stands for the whole value.
                    if self.depth == 2 && self.text.len() < Self::LONGEST {
                        self.text.push(b'0');
                    }
                }
                b'}' | b']' if !self.in_text => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 1 {
                        kept = b' ';
                    }
                }
                _ => {}
            }
            if self.depth < 2 && self.text.len() < Self::LONGEST {
                self.text.push(kept);
            }
        }
    }

    /// Bytes of the message so far.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The message's id; `null` when there is none to be found.
    pub(super) fn id(&self) -> Value {
        id_of(&self.text)
    }
}

/// The id of a message, which may be unreadable otherwise. An invalid one is `null`, as it cannot be answered to.
fn id_of(text: &[u8]) -> Value {
    serde_json::from_slice::<Head>(text).ok().and_then(|head| head.id.0).unwrap_or_default()
}

/// The id of a message, read without parsing the rest of it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: HeadId,
}

/// A string or a number; `None` for other values.
#[derive(Default)]
struct HeadId(Option<Value>);

impl<'de> Deserialize<'de> for HeadId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Id;

        impl<'de> Visitor<'de> for Id {
            type Value = HeadId;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an id")
            }

            fn visit_str<E>(self, id: &str) -> Result<HeadId, E> {
                Ok(HeadId(Some(id.into())))
            }

            fn visit_i64<E>(self, id: i64) -> Result<HeadId, E> {
                Ok(HeadId(Some(id.into())))
            }

            fn visit_u64<E>(self, id: u64) -> Result<HeadId, E> {
                Ok(HeadId(Some(id.into())))
            }

            fn visit_f64<E>(self, id: f64) -> Result<HeadId, E> {
                Ok(HeadId(Some(id.into())))
            }

            fn visit_bool<E>(self, _: bool) -> Result<HeadId, E> {
                Ok(HeadId(None))
            }

            fn visit_unit<E>(self) -> Result<HeadId, E> {
                Ok(HeadId(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<HeadId, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(HeadId(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<HeadId, A::Error> {
                while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(HeadId(None))
            }
        }

        deserializer.deserialize_any(Id)
    }
}

/// An answer to an invalid message.
pub(super) fn refusal(id: &Value, code: i64, problem: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": problem}})
}
