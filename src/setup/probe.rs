//! A conversation with the server as a client has it: it is started, greeted and asked for its tools.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use super::entry::Launch;
use codelode_net::{self as net, Client, Credentials, Options};

/// Longest wait for the server. Clients wait longer, but people do not.
const PATIENCE: Duration = Duration::from_secs(10);
/// Largest message of the server.
const LARGEST: u64 = 4 << 20;
/// Protocol revision that every client speaks.
const REVISION: &str = "2025-06-18";

/// Server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeAnswer {
    /// Name and version by which it calls itself.
    pub server: String,
    /// Names of its tools.
    pub tools: Vec<String>,
    /// Time from the start to the list of tools.
    pub time: Duration,
}

/// Reaches the server as a client does, in a folder. The message of a failure says what went wrong.
pub(super) fn probe(
    launch: &Launch,
    folder: &Path,
    token: Option<&str>,
    ca_file: Option<&Path>,
) -> Result<ProbeAnswer, String> {
    let began = Instant::now();
    let (hello, list) = match launch {
        Launch::Local { program, args } => local(program, args, folder)?,
        Launch::Remote { url, .. } => remote(url, token, ca_file)?,
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let info = &hello["serverInfo"];
    let tools = list["tools"].as_array().ok_or("the server lists no tools")?;
    Ok(ProbeAnswer {
        server: format!("{} {}", text(&info["name"]), text(&info["version"])),
        tools: tools.iter().map(|tool| text(&tool["name"])).collect(),
        time: began.elapsed(),
    })
}

fn hello() -> Value {
    let client = json!({"name": "codelode init", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
}

/// A child that does not outlive its use.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn local(program: &str, args: &[String], folder: &Path) -> Result<(Value, Value), String> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = KillOnDrop(command.spawn().map_err(|err| format!("{program} cannot be started: {err}"))?);
    let (input, output) = (child.0.stdin.take(), child.0.stdout.take());
    let (Some(mut input), Some(output)) = (input, output) else { return Err("it has no streams".to_owned()) };
    let (sender, lines) = channel();
    thread::spawn(move || {
        let lines = BufReader::new(output.take(LARGEST)).lines().map_while(Result::ok);
        lines.for_each(|line| drop(sender.send(line)));
    });
    let began = Instant::now();
    let mut ask = |messages: &[Value], id: u64| -> Result<Value, String> {
        for message in messages {
            // A program that has ended says why below.
            let _ = writeln!(input, "{message}");
        }
        loop {
            let left = PATIENCE.saturating_sub(began.elapsed());
            let line = lines.recv_timeout(left).map_err(|err| match err {
                RecvTimeoutError::Timeout => format!("no answer in {} seconds", PATIENCE.as_secs()),
                RecvTimeoutError::Disconnected => "the program ended without an answer".to_owned(),
            })?;
            let answer: Value = serde_json::from_str(&line).map_err(|_| format!("not a message: {}", start(&line)))?;
            if answer["id"] == id {
                return result(answer);
            }
        }
    };
    let talk = ask(&[hello()], 1).and_then(|hello| Ok((hello, ask(&[initialized(), list()], 2)?)));
    talk.map_err(|problem| {
        drop(child.0.kill());
        let mut said = String::new();
        let errors = child.0.stderr.take().map(|errors| errors.take(LARGEST).read_to_string(&mut said));
        match errors.and_then(|_| said.lines().rfind(|line| !line.trim().is_empty())) {
            Some(last) => format!("{problem}; it said: {}", start(last)),
            None => problem,
        }
    })
}

fn remote(url: &str, token: Option<&str>, ca_file: Option<&Path>) -> Result<(Value, Value), String> {
    let url = Url::parse(url).map_err(|err| format!("{url} is not a URL: {err}"))?;
    // The person has named this server, wherever it is.
    let trusted_hosts = url.host_str().map(str::to_owned).into_iter().collect();
    let ca_file = ca_file.map(Path::to_owned);
    let options = Options { trusted_hosts, ca_file, connect: PATIENCE, silence: PATIENCE };
    let client = Client::new(options);
    let mut session: Option<String> = None;
    let mut send = |message: Value| -> Result<Value, String> {
        let mut request = net::Request::post(url.clone(), message.to_string().into_bytes())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = &session {
            request = request.header("mcp-session-id", session).header("mcp-protocol-version", REVISION);
        }
        request.credentials = token.map(|token| Credentials::bearer(&url, token));
        request.time = PATIENCE;
        let mut response = client.send(&request).map_err(|err| err.to_string())?;
        if session.is_none() {
            session = response.header("mcp-session-id").map(str::to_owned);
        }
        let status = response.status;
        let body = response.body.read_whole().map_err(|err| err.to_string())?;
        let text = String::from_utf8_lossy(&body);
        match status {
            200..300 => Ok(message_in(&text).unwrap_or(Value::Null)),
            401 | 403 => Err(format!("the server refuses (status {status}): it wants a token")),
            _ => Err(format!("the server answers with status {status}: {}", start(&text))),
        }
    };
    let hello = result(send(hello())?)?;
    send(initialized())?;
    Ok((hello, result(send(list())?)?))
}

/// The message of a body: JSON, or the last data of a stream of events.
fn message_in(body: &str) -> Option<Value> {
    let data = body.lines().rev().filter_map(|line| line.strip_prefix("data:"));
    std::iter::once(body).chain(data).find_map(|text| serde_json::from_str(text.trim()).ok())
}

fn result(mut answer: Value) -> Result<Value, String> {
    match answer.get("error") {
        Some(error) => Err(format!("the server refuses: {}", error["message"].as_str().unwrap_or("without a reason"))),
        None => Ok(answer["result"].take()),
    }
}

/// The start of a text, for a message.
fn start(text: &str) -> String {
    text.chars().take(200).collect()
}
