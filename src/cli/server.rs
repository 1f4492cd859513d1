//! Commands over a server: the same commands, flags and output, from an index elsewhere.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _};
use serde_json::{Map, Value};
use url::Url;

use super::output::Paint;
use super::progress::Bar;
use super::words::Words;
use super::{Global, command, complain, complete_arguments, print, status_of};
use codelode_base::config::{self, Config, Secret};
use codelode_net::{self as net, Client, Credentials, Request};
use codelode_service::catalog::tool_call;
use codelode_service::tools::{Context, Envelope, Error};

/// The longest silence of a server. It reports progress more often.
const SILENCE: Duration = Duration::from_secs(120);
/// The longest call: a server ends calls after ten minutes.
const LONGEST: Duration = Duration::from_secs(660);
/// The most results of a text search, which people want to see completely.
const MOST_LINES: u64 = 1000;
/// Flags of `text` and `ast` that a server supports.
const FLAGS: [&str; 11] = [
    "rest",
    "patterns",
    "fixed_strings",
    "ignore_case",
    "case_sensitive",
    "smart_case",
    "word_regexp",
    "globs",
    "context",
    "language",
    "preset",
];

/// Builtin commands that a server supports.
const ANSWERED: [&str; 3] = ["call", "text", "ast"];

/// The problem with a command that only works locally, if a server is set.
pub(super) fn misplaced(global: &Global, matches: &ArgMatches) -> Option<String> {
    let name = matches.subcommand_name()?;
    let is_answered = command::tool(name).is_some() || ANSWERED.contains(&name);
    (global.server.is_some() && !is_answered)
        .then(|| format!("`{name}` works on this machine, so it takes no --server"))
}

/// Fails if a server is set, for commands that need local indexes.
pub(super) fn refuse(cx: &Context) -> Result<(), Error> {
    match &cx.config.server {
        None => Ok(()),
        Some(url) => Err(Error::invalid_arguments(format!(
            "this needs a local index, but the setting `server` is {url}; unset it"
        ))),
    }
}

/// Runs `text` or `ast` on a server.
pub(super) fn search(global: &Global, url: &Url, config: &Config, name: &str, given: &ArgMatches) -> u8 {
    match lines(name, given) {
        Ok((tool, arguments)) => ask(global, url, config, tool, arguments, Words::of(tool)),
        Err(problem) => complain(&problem),
    }
}

/// Calls a tool and prints its answer.
pub(super) fn ask(
    global: &Global,
    url: &Url,
    config: &Config,
    tool: &str,
    mut arguments: Map<String, Value>,
    words: Words,
) -> u8 {
    if global.open.is_some() {
        return complain("--open opens files of this machine, not of a server");
    }
    let repo = global.repo.clone().filter(|_| command::takes(tool, "repo"));
    complete_arguments(global, tool, &mut arguments, repo);
    let bar = Mutex::new(Bar::new(global.quiet));
    let envelope = Server::new(url.clone(), global.token_env.as_deref(), config.ca_file.clone()).and_then(|server| {
        server.call(tool, &arguments, &|done, total, message| {
            bar.lock().expect("drawing does not panic").step(done, total, message);
        })
    });
    bar.lock().expect("drawing does not panic").finish();
    match envelope {
        Ok(envelope) => {
            print(&envelope, global, tool, Paint::of(global.color, io::stdout().is_terminal()), words);
            status_of(&envelope)
        }
        Err(problem) => complain(&problem),
    }
}

/// The tool and arguments for `text` or `ast`.
fn lines(name: &str, given: &ArgMatches) -> Result<(&'static str, Map<String, Value>), String> {
    let of_all = Global::augment_args(clap::Command::new(""));
    let is_known = |id: &str| FLAGS.contains(&id) || of_all.get_arguments().any(|arg| arg.get_id() == id);
    // The ids of argument groups begin with a capital letter.
    let other = given.ids().map(clap::Id::as_str).find(|id| {
        let is_given = given.value_source(id) == Some(ValueSource::CommandLine);
        is_given && !is_known(id) && !id.starts_with(char::is_uppercase)
    });
    if let Some(other) = other {
        let flag = other.replace('_', "-");
        return Err(format!("--{flag} does not work with a server; it takes -e, -F, -i, -s, -S, -w, -g and -C"));
    }
    let all = |id: &str| -> Vec<String> {
        let texts = given.try_get_many::<String>(id).ok().flatten().into_iter().flatten();
        texts.cloned().collect()
    };
    let is_on = |id: &str| given.try_get_one::<bool>(id).ok().flatten() == Some(&true);
    let number = |id: &str| given.try_get_one::<usize>(id).ok().flatten().copied();
    let mut rest: Vec<String> = given
        .try_get_many::<OsString>("rest")
        .ok()
        .flatten()
        .into_iter()
        .flatten()
        .map(|text| text.to_string_lossy().into_owned())
        .collect();
    let (mut patterns, preset) = (all("patterns"), all("preset").pop());
    if patterns.is_empty() && preset.is_none() {
        if rest.is_empty() {
            return Err("give a PATTERN".to_owned());
        }
        patterns.push(rest.remove(0));
    }
    let mut places = [all("globs"), rest].concat();
    if places.len() > 1 {
        return Err("with a server, give one PATH or --glob".to_owned());
    }
    let is_text = is_on("fixed_strings");
    let query = match &patterns[..] {
        [] => String::new(),
        [one] => one.clone(),
        _ if is_text => return Err("with a server, give one pattern".to_owned()),
        many => many.iter().map(|pattern| format!("(?:{pattern})")).collect::<Vec<_>>().join("|"),
    };
    let mut arguments = Map::new();
    let mut set = |name: &str, value: Value| arguments.insert(name.to_owned(), value);
    if let Some(place) = places.pop() {
        set("file_pattern", place.into());
    }
    if name == "text" {
        let has_capital = query.chars().any(char::is_uppercase);
        let ignores_case = is_on("ignore_case") || (is_on("smart_case") && !has_capital);
        set("query", query.into());
        set("is_regex", (!is_text).into());
        set("case_sensitive", (!ignores_case).into());
        set("whole_word", is_on("word_regexp").into());
        set("max_results", MOST_LINES.into());
        number("context").map(|n_lines| set("context_lines", n_lines.into()));
        return Ok(("search_text", arguments));
    }
    match preset {
        Some(preset) => set("preset", preset.into()),
        None => set("pattern", query.into()),
    };
    all("language").pop().map(|language| set("language", language.into()));
    set("max_results", MOST_LINES.into());
    Ok(("search_ast", arguments))
}

/// A server to call.
struct Server {
    client: Client,
    url: Url,
    credentials: Option<Credentials>,
}

impl Server {
    fn new(mut url: Url, variable: Option<&str>, ca_file: Option<PathBuf>) -> Result<Self, String> {
        if url.path() == "/" {
            url.set_path("/mcp");
        }
        // The user has named this host.
        let trusted_hosts = url.host_str().map(str::to_owned).into_iter().collect();
        let token = config::caller_token(variable)?;
        let credentials = token.map(|Secret(token)| Credentials::bearer(&url, &token).plain_here());
        let client = Client::new(net::Options { trusted_hosts, ca_file, silence: SILENCE, ..net::Options::default() });
        Ok(Self { client, url, credentials })
    }

    /// Calls a tool.
    fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        step: &dyn Fn(u64, Option<u64>, &str),
    ) -> Result<Envelope, String> {
        let marks = Map::from_iter([("progressToken".to_owned(), 1.into())]);
        let request = tool_call::request(self.url.clone(), tool, arguments, marks);
        let request = Request { credentials: self.credentials.clone(), time: LONGEST, ..request };
        let answer = self.client.send(&request).map_err(|err| err.to_string())?;
        let is_stream = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let (status, mut body) = (answer.status, BufReader::new(answer.body));
        let message = match is_stream {
            true => self.last(&mut body, step)?,
            false => {
                let mut text = String::new();
                body.read_to_string(&mut text).map_err(|err| self.broke(&err))?;
                serde_json::from_str(&text).map_err(|_| self.refused(status, &text))?
            }
        };
        tool_call::envelope(&message).map_err(|why| self.refused(status, why))
    }

    /// The last message in an event stream. Earlier ones are progress.
    fn last(&self, body: &mut impl BufRead, step: &dyn Fn(u64, Option<u64>, &str)) -> Result<Value, String> {
        for line in body.lines() {
            let line = line.map_err(|err| self.broke(&err))?;
            let Some(data) = line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty()) else {
                continue;
            };
            let message: Value = serde_json::from_str(data).map_err(|err| self.broke(&err))?;
            if message.get("id").is_some() {
                return Ok(message);
            }
            let number = |key: &str| message["params"][key].as_f64().map(|number| number as u64);
            if let Some(done) = number("progress") {
                step(done, number("total"), message["params"]["message"].as_str().unwrap_or_default());
            }
        }
        Err(self.broke(&"there is no answer"))
    }

    fn broke(&self, why: &dyn std::fmt::Display) -> String {
        format!("the answer of {} broke off: {why}", self.url)
    }

    fn refused(&self, status: u16, why: &str) -> String {
        let shown: String = why.trim().chars().filter(|letter| !letter.is_control()).take(300).collect();
        match status {
            401 => format!("{} requires a token: {shown}; name its variable with --token-env", self.url),
            200 => format!("{} answers: {shown}", self.url),
            _ => format!("{} answers with status {status}: {shown}", self.url),
        }
    }
}
