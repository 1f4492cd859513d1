//! Which tools a client is shown, and how: every word here is paid for by every session.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::schema::{Described, describe};
use crate::config::Surface;
use crate::tools::{Code, Error, Shown, TOOLS, ToolSpec};

/// The tool that describes and calls those that are not shown.
pub const MORE_TOOLS: &str = "more_tools";

/// What a client reads once, before the tools. The arguments that every tool takes are said here instead of in every schema.
pub const INSTRUCTIONS: &str = "Code search over an index. `repo` (id, name or path) may be left out: it is the one you work \
    in; index_folder adds one. Every tool also takes max_tokens (8000), format (json, compact), cursor (a next_cursor) \
    and count_only.";

/// The tools of a surface, as a client is told.
pub fn listing(surface: &Surface) -> Vec<Tool> {
    let mut tools: Vec<Tool> =
        TOOLS.iter().filter(|spec| shows(surface, spec)).map(|spec| tool(spec, surface)).collect();
    if shows_more(surface) {
        tools.push(more_tools());
    }
    tools
}

/// Whether a surface shows a tool.
fn shows(surface: &Surface, spec: &ToolSpec) -> bool {
    match surface {
        Surface::Named(names) => names.iter().any(|name| name == spec.name),
        Surface::Lean => spec.shown == Some(Shown::Lean),
        Surface::Core => spec.shown.is_some_and(|shown| shown <= Shown::Core),
        Surface::Full => spec.shown.is_some(),
    }
}

/// Whether a surface leaves tools out that its client should hear of. Who names tools wants these and no other.
fn shows_more(surface: &Surface) -> bool {
    match surface {
        Surface::Lean | Surface::Core => true,
        Surface::Full => false,
        Surface::Named(names) => names.iter().any(|name| name == MORE_TOOLS),
    }
}

/// A tool as a client is told. Narrow surfaces leave out arguments that few calls need; they are taken all the same, and
/// [`MORE_TOOLS`] describes them.
fn tool(spec: &ToolSpec, surface: &Surface) -> Tool {
    let described = describe(&(spec.input)());
    let summary = described.summary().to_owned();
    let Described { mut input, rare, .. } = described;
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        if matches!(surface, Surface::Lean | Surface::Core) {
            properties.retain(|name, _| !rare.contains(name));
        }
        if let Some(Value::Object(repo)) = properties.get_mut("repo") {
            // Said once, in the instructions.
            repo.remove("description");
        }
    }
    // Doing the same again changes nothing more, whatever the tool.
    let hints = ToolAnnotations::new().read_only(spec.read_only).destructive(spec.destructive).idempotent(true);
    Tool::new(spec.name, summary, Arc::new(input)).with_annotations(hints)
}

/// [`MORE_TOOLS`] as a client is told.
fn more_tools() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "tool": {"type": "string", "description": "Without arguments: describes it."},
            "arguments": {"type": "object", "description": "Calls it."},
            "surface": {"type": "string", "enum": ["core", "full"], "description": "Shows more tools from now on."},
        },
    });
    let Value::Object(input) = input else { unreachable!("the literal above is an object") };
    let description = "Lists, describes and calls the tools not shown: syntax, overview, tree, list and removal of \
                       indexes, statistics.";
    // It may call any tool, so it promises nothing.
    let hints = ToolAnnotations::new().read_only(false).destructive(true).idempotent(true);
    Tool::new(MORE_TOOLS, description, Arc::new(input)).with_annotations(hints)
}

/// What a call of [`MORE_TOOLS`] wants.
#[derive(Debug, PartialEq)]
pub(super) enum More {
    /// The names of the tools that are not shown.
    List,
    /// What a tool does and takes.
    Describe(&'static str),
    /// A tool's answer.
    Call(String, Map<String, Value>),
    /// More tools from now on.
    Widen(Surface),
}

/// Reads the arguments of [`MORE_TOOLS`].
pub(super) fn more(mut arguments: Map<String, Value>) -> Result<More, Error> {
    let wrong = |message: String| Err(Error::new(Code::InvalidArguments, message));
    match arguments.remove("surface") {
        None | Some(Value::Null) => {}
        Some(Value::String(name)) if name == "core" => return Ok(More::Widen(Surface::Core)),
        Some(Value::String(name)) if name == "full" => return Ok(More::Widen(Surface::Full)),
        Some(other) => return wrong(format!("`surface` is {other}; say \"core\" or \"full\"")),
    }
    let tool = match arguments.remove("tool") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) if name == MORE_TOOLS => return wrong(format!("{MORE_TOOLS} cannot call itself")),
        Some(Value::String(name)) => Some(name),
        Some(other) => return wrong(format!("`tool` is {other}; give a tool's name")),
    };
    let inner = match arguments.remove("arguments") {
        None | Some(Value::Null) => None,
        Some(Value::Object(inner)) => Some(inner),
        // Models that nest a call often write the inner one as text.
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(inner) => Some(inner),
            Err(err) => return wrong(format!("`arguments` is text that is no JSON object: {err}")),
        },
        Some(other) => return wrong(format!("`arguments` is {other}; give an object")),
    };
    // They also write the inner arguments beside `tool`: there is only one thing that it can mean.
    let inner = if arguments.is_empty() {
        inner
    } else {
        Some(inner.unwrap_or_default().into_iter().chain(arguments).collect())
    };
    match (tool, inner) {
        (None, None) => Ok(More::List),
        (None, Some(_)) => wrong("`arguments` are given and no `tool`; name the tool to call".to_owned()),
        (Some(name), None) => match TOOLS.iter().find(|spec| spec.name == name) {
            Some(spec) => Ok(More::Describe(spec.name)),
            // The door knows the nearest names.
            None => Ok(More::Call(name, Map::new())),
        },
        (Some(name), Some(inner)) => Ok(More::Call(name, inner)),
    }
}

/// The tools that a surface does not show, one line each.
pub(super) fn others(surface: &Surface) -> Value {
    let others = TOOLS.iter().filter(|spec| spec.shown.is_some() && !shows(surface, spec));
    let others = others.map(|spec| (spec.name.to_owned(), describe(&(spec.input)()).summary().into()));
    json!({"tools": Value::Object(others.collect())})
}

/// Everything about a tool.
pub(super) fn description(name: &str) -> Option<Value> {
    let spec = TOOLS.iter().find(|spec| spec.name == name)?;
    let Described { description, input, .. } = describe(&(spec.input)());
    Some(json!({"tool": name, "description": description, "arguments": input}))
}
