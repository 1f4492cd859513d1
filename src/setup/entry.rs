//! Entries of servers in the forms of the clients: made from a launch, and read back into one.

use serde_json::{Map, Value};

use super::table::Client;

/// Name of the server in every configuration.
pub const NAME: &str = "codelode";
/// Arguments with which a model's client starts the server: models read compact answers at fewer tokens.
const ARGUMENTS: [&str; 3] = ["serve", "--format", "compact"];

/// Way in which a client reaches the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Launch {
    /// It starts a program.
    Local {
        /// The program, by path or by name.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// It sends requests to a URL.
    Remote {
        /// The endpoint.
        url: String,
        /// Environment variable with the token, if one is needed.
        token: Option<String>,
    },
}

impl Launch {
    /// A command, the program first, started for a model.
    pub(super) fn of_command(command: impl IntoIterator<Item = String>) -> Self {
        let mut words = command.into_iter();
        let program = words.next().unwrap_or_else(|| NAME.to_owned());
        Self::Local { program, args: words.chain(ARGUMENTS.map(str::to_owned)).collect() }
    }
}

/// The entry that a client should have, given the one that it has. Keys that only a person can have written stay.
/// `None` if the client cannot reach a server that way.
pub(super) fn wanted(client: &Client, launch: &Launch, existing: Option<&Value>) -> Option<Map<String, Value>> {
    let form = match launch {
        Launch::Local { .. } => client.local.clone(),
        Launch::Remote { token: None, .. } => client.remote.clone()?,
        Launch::Remote { token: Some(_), .. } => {
            let mut form = client.remote.clone()?;
            form.extend(client.token.clone()?);
            form
        }
    };
    let mut entry: Map<String, Value> = form.into_iter().map(|(key, value)| (key, filled(value, launch))).collect();
    // A value of a person's own replaces the mark below.
    entry.extend(client.loaded.iter().filter(|_| !widens(launch)).flat_map(|mark| mark.entry.clone()));
    for (key, value) in existing.and_then(Value::as_object).into_iter().flatten() {
        let is_of_a_form = [Some(&client.local), client.remote.as_ref(), client.token.as_ref()]
            .into_iter()
            .flatten()
            .any(|form| form.contains_key(key));
        if !is_of_a_form {
            entry.insert(key.clone(), value.clone());
        } else if entry.contains_key(key) && is_switch(value) {
            // A server that was switched off stays off.
            entry.insert(key.clone(), value.clone());
        }
    }
    Some(entry)
}

/// Whether a person has chosen the tools that the server lists. All of them loaded would cost a session more than they save.
fn widens(launch: &Launch) -> bool {
    matches!(launch, Launch::Local { args, .. } if args.iter().any(|arg| arg.split('=').next() == Some("--tools")))
}

/// Whether a value is one that a person sets in the client, as `enabled`, a time limit, or a list of tools.
fn is_switch(value: &Value) -> bool {
    value.is_boolean() || value.is_number()
}

/// A launch with the arguments that a person has chosen for the server.
pub(super) fn with_arguments_of(launch: &Launch, existing: Option<Launch>) -> Launch {
    let (Launch::Local { program, args: wanted }, Some(Launch::Local { args: mut own, .. })) = (launch, existing)
    else {
        return launch.clone();
    };
    let (Some(at), Some(from)) = (start_of_arguments(wanted), start_of_arguments(&own)) else { return launch.clone() };
    let mut args = wanted[..at].to_vec();
    args.extend(own.drain(from..));
    if !args.iter().any(|arg| arg.split('=').next() == Some(ARGUMENTS[1])) {
        args.extend(ARGUMENTS[1..].iter().map(|arg| (*arg).to_owned()));
    }
    Launch::Local { program: program.clone(), args }
}

/// Position of the first argument of the server; words of a package runner may stand before it.
pub(super) fn start_of_arguments(args: &[String]) -> Option<usize> {
    args.iter().position(|arg| arg == ARGUMENTS[0])
}

/// A value of a form, with what its place holders stand for.
fn filled(value: Value, launch: &Launch) -> Value {
    match value {
        Value::String(text) => match (text.as_str(), launch) {
            ("{program}", Launch::Local { program, .. }) => program.clone().into(),
            ("{args}", Launch::Local { args, .. }) => args.clone().into(),
            ("{argv}", Launch::Local { program, args }) => {
                std::iter::once(program).chain(args).cloned().collect::<Vec<_>>().into()
            }
            (_, Launch::Remote { url, token }) => {
                let token = token.as_deref().unwrap_or_default();
                text.replace("{url}", url).replace("{variable}", token).into()
            }
            _ => text.into(),
        },
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, filled(value, launch))).collect(),
        Value::Array(values) => values.into_iter().map(|value| filled(value, launch)).collect(),
        other => other,
    }
}

/// The launch that an entry means to the client; `None` if it means none.
pub(super) fn read(client: &Client, entry: &Value) -> Option<Launch> {
    let holder = |form: &Map<String, Value>, text: &str| {
        form.iter().find(|(_, value)| value.as_str() == Some(text)).map(|(key, _)| key.clone())
    };
    let words = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
    };
    if let Some(key) = holder(&client.local, "{argv}") {
        if let Some(mut argv) = entry.get(&key).and_then(words).filter(|argv| !argv.is_empty()) {
            return Some(Launch::Local { program: argv.remove(0), args: argv });
        }
    } else if let Some(program) = entry.get(holder(&client.local, "{program}")?).and_then(Value::as_str) {
        let args = entry.get(holder(&client.local, "{args}")?).and_then(words).unwrap_or_default();
        return Some(Launch::Local { program: program.to_owned(), args });
    }
    let form = client.remote.as_ref()?;
    let url = entry.get(holder(form, "{url}")?)?.as_str()?.to_owned();
    Some(Launch::Remote { url, token: client.token.as_ref().and_then(|form| variable(form, entry)) })
}

/// The variable that an entry names for its token.
fn variable(form: &Map<String, Value>, entry: &Value) -> Option<String> {
    form.iter().find_map(|(key, template)| match (template, entry.get(key)?) {
        (Value::String(template), Value::String(text)) => {
            let (before, after) = template.split_once("{variable}")?;
            Some(text.strip_prefix(before)?.strip_suffix(after)?.to_owned())
        }
        (Value::Object(form), value) => variable(form, value),
        _ => None,
    })
}
