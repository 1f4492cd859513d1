//! Prompts and resources: texts that a client's user picks, made by the tools and under their rules.

use rmcp::model::{
    ErrorData, GetPromptResult, JsonObject, MetaObject, Prompt, PromptArgument, PromptMessage, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Map, Value, json};

use super::roots::decode;
use codelode_service::tools::{Code, Envelope};

/// Scheme of resource addresses.
const SCHEME: &str = "codelode://";

/// A call of a tool that an offer is made from.
pub(super) struct OfferedCall {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: JsonObject,
}

/// A prompt.
struct PromptText {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The required argument.
    takes: (&'static str, &'static str),
    tool: &'static str,
    /// Text before the tool's answer; `{}` stands for the argument.
    text: &'static str,
}

const PROMPTS: [PromptText; 2] = [
    PromptText {
        name: "explain_symbol",
        title: "Explain a symbol",
        description: "Explain a function, class or other symbol with its source, imports, dependencies and callers.",
        takes: ("symbol", "Its name, Owner.name or id."),
        tool: "get_context_bundle",
        text: "Explain `{}`: its purpose, how it works, what it depends on and who relies on it. Name places as \
               file:line. The code below is from the index of this repository; get_call_hierarchy and find_references \
               tell more.",
    },
    PromptText {
        name: "plan_change",
        title: "Plan a change",
        description: "Plan a change of this repository: places to edit, what may break, tests to run.",
        takes: ("change", "The change, in words."),
        tool: "get_ranked_context",
        text: "Plan this change: {}\n\nBefore any edit, list the symbols to change with file:line, their users \
               (find_references), what may break (get_blast_radius) and the tests to run. Name uncertainties. The code \
               below is from the index of this repository.",
    },
];

/// The prompts, as a client lists them.
pub(super) fn prompts() -> Vec<Prompt> {
    let prompt = |offer: &PromptText| {
        let (name, description) = offer.takes;
        let argument = PromptArgument::new(name).with_description(description).with_required(true);
        let mut prompt = Prompt::new(offer.name, Some(offer.description), Some(vec![argument]));
        prompt.title = Some(offer.title.to_owned());
        prompt
    };
    PROMPTS.iter().map(prompt).collect()
}

/// The call that a prompt with these arguments is made from.
pub(super) fn of_prompt(name: &str, arguments: &JsonObject) -> Result<OfferedCall, ErrorData> {
    let (offer, given) = offer(name, arguments)?;
    let arguments = match offer.tool {
        "get_context_bundle" => json!({"symbol_id": given, "include_callers": true, "output": "markdown"}),
        _ => json!({"query": given, "format": "compact"}),
    };
    Ok(OfferedCall { tool: offer.tool, arguments: object(arguments) })
}

/// A prompt from the answer of its tool.
pub(super) fn prompt(name: &str, arguments: &JsonObject, answer: &Envelope) -> Result<GetPromptResult, ErrorData> {
    let (offer, given) = offer(name, arguments)?;
    if answer.is_error {
        return Err(failure(answer, ErrorData::invalid_params));
    }
    let told = answer.value.get("markdown").and_then(Value::as_str).unwrap_or(&answer.text);
    let text = format!("{}\n\n{told}", offer.text.replacen("{}", given, 1));
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(offer.description))
}

/// The prompt of a name, and its argument.
fn offer<'a>(name: &str, arguments: &'a JsonObject) -> Result<(&'static PromptText, &'a str), ErrorData> {
    let Some(offer) = PROMPTS.iter().find(|offer| offer.name == name) else {
        let shown: String = name.chars().take(100).collect();
        let names = PROMPTS.map(|offer| offer.name).join(" and ");
        return Err(ErrorData::invalid_params(format!("there is no prompt {shown:?}; there are {names}"), None));
    };
    let (key, _) = offer.takes;
    if let Some(other) = arguments.keys().find(|other| *other != key) {
        let shown: String = other.chars().take(100).collect();
        return Err(ErrorData::invalid_params(format!("{name} takes `{key}`, not {shown:?}"), None));
    }
    let given = arguments.get(key).and_then(Value::as_str).map(str::trim).filter(|given| !given.is_empty());
    let missing = || ErrorData::invalid_params(format!("{name} needs `{key}`, a text"), None);
    Ok((offer, given.ok_or_else(missing)?))
}

/// Templates of resource addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let file = ResourceTemplate::new(format!("{SCHEME}{{owner}}/{{name}}/{{+path}}"), "file");
    vec![
        file.with_title("File of an indexed repository")
            .with_description("Text of a file; #L10-L20 for some lines. A path that ends in / is a folder's tree.")
            .with_mime_type("text/plain"),
    ]
}

/// Repositories as resources, from the list of them.
pub(super) fn resources(answer: &Envelope) -> (Vec<Resource>, Option<String>) {
    let repos = answer.value.get("repos").and_then(Value::as_array).into_iter().flatten();
    let resource = |repo: &Value| {
        let id = repo["repo"].as_str()?;
        let name = repo["display_name"].as_str().unwrap_or(id);
        let about = format!("{} files, {} symbols; tree of its folders", repo["file_count"], repo["symbol_count"]);
        let resource = Resource::new(format!("{SCHEME}{}/", encoded(id)), name);
        Some(resource.with_description(about).with_mime_type("application/json"))
    };
    let cursor = answer.value.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
    (repos.filter_map(resource).collect(), cursor)
}

/// The call that a resource is read by.
pub(super) fn of_resource(uri: &str) -> Result<OfferedCall, ErrorData> {
    let wrong = |why: &str| {
        let shown: String = uri.chars().take(200).collect();
        let message =
            format!("{shown:?} {why}; a resource is {SCHEME}owner/name/path, or {SCHEME}owner/name/ for its tree");
        ErrorData::invalid_params(message, None)
    };
    let rest = uri.strip_prefix(SCHEME).ok_or_else(|| wrong("is not an address of this server"))?;
    let (address, lines) = rest.split_once('#').map_or((rest, None), |(address, lines)| (address, Some(lines)));
    if address.contains('?') {
        return Err(wrong("has a query, which no resource takes"));
    }
    let address = decode(address).ok_or_else(|| wrong("is not text when it is decoded"))?;
    if leaves(&address) || decode(&address).is_some_and(|twice| leaves(&twice)) {
        return Err(wrong("leaves its repository"));
    }
    let mut parts = address.splitn(3, '/');
    let (Some(owner), Some(name), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(wrong("names no repository and file"));
    };
    if owner.is_empty() || name.is_empty() {
        return Err(wrong("names no repository and file"));
    }
    let repo = format!("{owner}/{name}");
    if path.is_empty() || path.ends_with('/') {
        if lines.is_some() {
            return Err(wrong("asks for lines of a folder"));
        }
        let arguments = json!({"repo": repo, "path_prefix": path.trim_end_matches('/')});
        return Ok(OfferedCall { tool: "get_file_tree", arguments: object(arguments) });
    }
    let mut arguments = object(json!({"repo": repo, "file_path": path}));
    if let Some(lines) = lines {
        let (first, last) = lines.split_once('-').unwrap_or((lines, ""));
        let number = |text: &str| text.strip_prefix('L').unwrap_or(text).parse::<u64>().ok().filter(|line| *line > 0);
        let first = number(first).ok_or_else(|| wrong("has no lines as #L10-L20"))?;
        arguments.insert("start_line".to_owned(), first.into());
        if !last.is_empty() {
            let last = number(last).ok_or_else(|| wrong("has no lines as #L10-L20"))?;
            arguments.insert("end_line".to_owned(), last.into());
        }
    }
    Ok(OfferedCall { tool: "get_file_content", arguments })
}

/// A resource from the answer of its tool.
pub(super) fn resource(uri: &str, answer: &Envelope) -> Result<ReadResourceResult, ErrorData> {
    if answer.is_error {
        return Err(failure(answer, ErrorData::resource_not_found));
    }
    let mut meta = Map::new();
    if let Some(freshness) = answer.value.pointer("/_meta/freshness") {
        meta.insert("freshness".to_owned(), freshness.clone());
    }
    let content = match answer.value.get("content").and_then(Value::as_str) {
        Some(text) => {
            if answer.value.get("truncated") == Some(&Value::Bool(true)) {
                let next = answer.value.get("end_line").and_then(Value::as_u64).unwrap_or(0) + 1;
                let address = uri.split('#').next().unwrap_or(uri);
                meta.insert("truncated".to_owned(), true.into());
                meta.insert("next".to_owned(), format!("{address}#L{next}").into());
            }
            ResourceContents::text(text, uri).with_mime_type("text/plain")
        }
        None => ResourceContents::text(answer.text.as_str(), uri).with_mime_type("application/json"),
    };
    let content = if meta.is_empty() { content } else { content.with_meta(MetaObject(meta)) };
    Ok(ReadResourceResult::new(vec![content]))
}

/// A tool's error as a protocol error; `missing` for one that names nothing that is there.
fn failure(answer: &Envelope, missing: fn(String, Option<Value>) -> ErrorData) -> ErrorData {
    let message = answer.value.get("error").and_then(Value::as_str).unwrap_or("no reason given").to_owned();
    let details = answer.value.get("details").cloned();
    let code = answer.value.get("code").and_then(Value::as_str).unwrap_or_default();
    if [Code::NotFound, Code::NotIndexed, Code::Ambiguous].iter().any(|known| known.as_str() == code) {
        missing(message, details)
    } else if code == Code::InvalidArguments.as_str() {
        ErrorData::invalid_params(message, details)
    } else {
        ErrorData::internal_error(message, details)
    }
}

/// Whether the path of an address leads out of its repository, by `..` or as an absolute path.
fn leaves(address: &str) -> bool {
    let mut inside = 0_i32;
    address.split(['/', '\\']).enumerate().any(|(at, part)| {
        inside += match part {
            ".." => -1,
            "" | "." => 0,
            // The repository's own two parts.
            _ => i32::from(at > 1),
        };
        inside < 0 || (at == 2 && part.is_empty() && address.splitn(3, '/').nth(2).is_some_and(|path| path.len() > 1))
    })
}

/// A path in an address: everything but plain letters, digits and a few signs is encoded.
fn encoded(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match is_plain(byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}
