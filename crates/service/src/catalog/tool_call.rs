//! Calls a tool of another server over HTTP, in the first protocol revision without sessions.

use serde_json::{Map, Value, json};
use url::Url;

use crate::answer::{Envelope, FOUND};
use codelode_net::Request;

/// The protocol revision.
const REVISION: &str = "2026-07-28";

/// A request that calls a tool, with `marks` in its `_meta`.
pub fn request(url: Url, tool: &str, args: &Map<String, Value>, marks: Map<String, Value>) -> Request {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "codelode", "version": env!("CARGO_PKG_VERSION")},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    marks.into_iter().for_each(|(key, mark)| meta[key] = mark);
    let params = json!({"name": tool, "arguments": args, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = [
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("MCP-Protocol-Version", REVISION),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    let request = Request::post(url, body.to_string().into_bytes());
    headers.iter().fold(request, |request, (name, value)| request.header(name, value))
}

/// The tool's answer or error in a response. Fails with the reason if the server rejects the call.
pub fn envelope(message: &Value) -> Result<Envelope, &str> {
    let result = &message["result"];
    let Some(text) = result.pointer("/content/0/text").and_then(Value::as_str) else {
        return Err(message.pointer("/error/message").and_then(Value::as_str).unwrap_or("it says no reason"));
    };
    let is_error = result["isError"] == true;
    let found = !is_error && result["_meta"][FOUND] != false;
    // Compact answers are no JSON.
    Ok(Envelope { value: serde_json::from_str(text).unwrap_or_default(), text: text.to_owned(), is_error, found })
}
