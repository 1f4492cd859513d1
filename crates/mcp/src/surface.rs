//! Surfaces: the tools shown to a client and their descriptions, whose every word costs tokens in every session.

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::schema::{Described, describe};
use codelode_base::config::Surface;
use codelode_base::model::nearest;
use codelode_service::answer::{SHARED, SharedArguments};
use codelode_service::tools::{Error, TOOLS, ToolSpec, ToolTier};

/// The tool that describes and calls hidden tools.
pub const MORE_TOOLS: &str = "more_tools";

/// Key of a tool's `_meta` by which clients that load tools on demand keep it loaded.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// The most frequent kinds of queries, with the tool for each.
const QUESTIONS: &[(&str, &str)] = &[
    ("Where is it defined, or what does this", "search_symbols"),
    ("How does it work", "get_ranked_context"),
    ("Who uses it", "find_references"),
    ("Who calls whom", "get_call_hierarchy"),
    ("One definition", "get_symbol_source"),
    ("One file", "get_file_outline"),
    ("Any text", "search_text"),
    ("What changed", "get_changed_symbols"),
];

/// Kinds of work, each with the tools for it: a narrow surface names those whose tools it hides.
pub(super) const KINDS_OF_WORK: &[(&str, &[&str])] = &[
    ("impact of a change (what breaks or is affected)", &["get_blast_radius"]),
    ("dead or unused code", &["find_dead_code", "check_references"]),
    ("class hierarchy (inheritance, subclasses)", &["get_class_hierarchy"]),
    ("implementations of an interface or method", &["find_implementations"]),
    ("importers", &["find_importers"]),
    ("dependency graph of a module", &["get_dependency_graph", "get_context_bundle"]),
    ("structural search (syntax, AST)", &["search_ast"]),
    ("tests of a function", &["find_tests"]),
    ("rename or deletion of a symbol", &["plan_rename", "plan_delete", "plan_change_signature"]),
    ("review", &["review_changes"]),
    ("commits by author, date or message", &["search_commits"]),
    ("git history of a function", &["get_symbol_history"]),
    ("overview of a large codebase", &["get_repo_map", "get_repo_outline", "get_symbol_importance", "suggest_queries"]),
    ("project structure (directory tree)", &["get_file_tree"]),
    ("file content", &["get_file_content"]),
    ("grep in any git repository", &["grep_repository", "list_repository_refs"]),
    ("GitHub", &["search_repositories"]),
    ("indexes", &["index_folder", "index_repo", "index_file", "list_repos", "resolve_repo", "invalidate_cache"]),
];

/// A description that a list of all tools need not repeat.
const AS_ELSEWHERE: &str = "As in search_symbols.";

/// Arguments whose names are clear, or that the instructions explain once.
const PLAIN: &[&str] = &[
    "around",
    "batch_size",
    "blame",
    "budget_strategy",
    "changed",
    "class_name",
    "embed",
    "estimate_only",
    "exclude_dirs",
    "extra_ignore_patterns",
    "file_extensions",
    "follow_symlinks",
    "head",
    "include_budget_report",
    "include_possible",
    "incremental",
    "max_content_results",
    "model_pattern",
    "order",
    "per_page",
    "semantic",
    "semantic_only",
    "semantic_weight",
    "skip",
    "skipped",
    "targets",
    "after_context",
    "author",
    "before_context",
    "cross_repo",
    "depth",
    "explain",
    "file",
    "force",
    "include_blast_radius",
    "line",
    "list_skipped",
    "multiline",
    "path_prefix",
    "repo_a",
    "repo_b",
    "search_content",
    "staged",
    "until",
    "fuzzy",
    "granularity",
    "identifier",
    "include_globs",
    "include_kinds",
    "include_source",
    "include_tests",
    "max_blast_depth",
    "max_depth",
    "new_name",
    "output",
    "page",
    "ref_name",
    "repository",
    "take",
    "top_n",
    "url",
    "use_regex",
    "repo",
    "repos",
    "symbol_id",
    "symbol_ids",
    "file_path",
    "file_paths",
    "identifiers",
    "max_results",
    "context_lines",
    "direction",
    "token_budget",
    "case_sensitive",
    "whole_word",
    "start_line",
    "end_line",
    "include_callers",
    "include_depth_scores",
    "sort_by",
    "strategy",
    "verify",
    "path",
    "use_ai_summaries",
    "context_providers",
];

/// Instructions that a client reads once, before the tools: the tool for each kind of query, and the languages of the
/// current repository; `None` for a client without one.
pub fn instructions(surface: &Surface, languages: Option<&[(String, u64)]>) -> String {
    let mut text =
        "Code search over an index that keeps itself fresh; prefer it to grep and to reading whole files.".to_owned();
    let shown = |name: &str| TOOLS.iter().any(|spec| spec.name == name && shows(surface, spec));
    let mut questions: Vec<String> =
        QUESTIONS.iter().filter(|(_, tool)| shown(tool)).map(|(asks, tool)| format!(" {asks}: {tool}.")).collect();
    if shows_more(surface) {
        questions.push(format!(" Anything else: {MORE_TOOLS}."));
    }
    text.extend(questions);
    text.push_str(match languages {
        Some(_) => " `repo` defaults to the one you work in.",
        None => " Name the repository in `repo`: an id of list_repos.",
    });
    text.push_str(" Continue a cut answer with `cursor`: its next_cursor.");
    let languages = languages.unwrap_or_default();
    if !languages.is_empty() {
        let each: Vec<String> = languages.iter().map(|(language, n)| format!("{language} {n}")).collect();
        text.push_str(&format!(" Files here: {}.", each.join(", ")));
    }
    text
}

/// The tools of a surface, as listed for a client.
pub fn listing(surface: &Surface) -> Vec<Tool> {
    let mut tools: Vec<Tool> =
        TOOLS.iter().filter(|spec| shows(surface, spec)).map(|spec| tool(spec, surface)).collect();
    if shows_more(surface) {
        tools.push(more_tools(surface));
    }
    tools
}

/// Whether a surface shows a tool.
fn shows(surface: &Surface, spec: &ToolSpec) -> bool {
    match surface {
        Surface::Named(names) => names.iter().any(|name| name == spec.name),
        Surface::Lean => spec.shown == Some(ToolTier::Lean),
        Surface::Core => spec.shown.is_some_and(|shown| shown <= ToolTier::Core),
        Surface::Full => spec.shown.is_some(),
    }
}

/// Refuses a surface with an unknown tool.
pub fn check(surface: &Surface) -> Result<(), String> {
    let Surface::Named(names) = surface else { return Ok(()) };
    let known = |name: &str| name == MORE_TOOLS || TOOLS.iter().any(|spec| spec.name == name);
    let Some(unknown) = names.iter().find(|name| !known(name)) else { return Ok(()) };
    let near = nearest(unknown, TOOLS.iter().map(|spec| spec.name), 1);
    let near = near.first().map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Err(format!("there is no tool {unknown:?}; use lean, core, full or tool names, separated by commas{near}"))
}

/// Whether a surface hides tools that its client should know of. A surface of named tools hides the others on
/// purpose.
fn shows_more(surface: &Surface) -> bool {
    match surface {
        Surface::Lean | Surface::Core => true,
        Surface::Full => false,
        Surface::Named(names) => names.iter().any(|name| name == MORE_TOOLS),
    }
}

/// A tool as listed for a client. Narrow surfaces hide arguments that few calls need; these still work, and
/// [`MORE_TOOLS`] describes them.
fn tool(spec: &ToolSpec, surface: &Surface) -> Tool {
    let described = describe(&(spec.input)());
    let summary = described.summary().to_owned();
    let Described { mut input, rare, .. } = described;
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        if matches!(surface, Surface::Lean | Surface::Core) {
            properties.retain(|name, _| !rare.contains(name));
        }
        for (name, argument) in properties.iter_mut().filter_map(|(name, schema)| Some((name, schema.as_object_mut()?)))
        {
            let is_told_elsewhere = argument.get("description").and_then(Value::as_str) == Some(AS_ELSEWHERE);
            if PLAIN.contains(&name.as_str()) || is_told_elsewhere && name != "query" {
                argument.remove("description");
            }
        }
        properties.extend(shared(surface));
    }
    // Repeating a call changes nothing more, for every tool.
    let hints = ToolAnnotations::new().read_only(spec.read_only).destructive(spec.destructive).idempotent(true);
    let mut tool = Tool::new(spec.name, summary, Arc::new(input)).with_annotations(hints);
    if spec.always_loaded {
        tool.meta = Some(MetaObject(Map::from_iter([(ALWAYS_LOAD.to_owned(), Value::Bool(true))])));
    }
    tool
}

/// The schemas of the arguments common to all tools: those of long answers on the lean surface, all on the others.
fn shared(surface: &Surface) -> impl Iterator<Item = (String, Value)> {
    let is_lean = *surface == Surface::Lean;
    let shown = move |name: &str| !is_lean || ["max_tokens", "cursor"].contains(&name);
    let Described { mut input, .. } = describe(&schemars::schema_for!(SharedArguments));
    let properties = match input.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    // The whole list has no room for the two words of a format; a wrong one is told them.
    let is_named_only = *surface == Surface::Full;
    properties.into_iter().filter(move |(name, _)| shown(name)).map(move |(name, mut schema)| {
        if let Some(schema) = schema.as_object_mut() {
            let is_kept = |key: &str| ["type", "enum"].contains(&key) && !(is_named_only && name == "format");
            schema.retain(|key, _| is_kept(key));
        }
        (name, schema)
    })
}

/// [`MORE_TOOLS`] as listed for a client.
fn more_tools(surface: &Surface) -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "tool": {"type": "string"},
            "arguments": {"type": "object"},
            "surface": {"type": "string", "enum": ["core", "full"], "description": "Show more tools from now on."},
        },
    });
    let Value::Object(mut input) = input else { unreachable!("the literal above is an object") };
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        properties.extend(shared(surface));
    }
    let is_hidden = |name: &&'static str| TOOLS.iter().any(|spec| spec.name == *name && !shows(surface, spec));
    let hidden = KINDS_OF_WORK.iter().filter(|(_, tools)| tools.iter().any(is_hidden));
    let kinds: Vec<&str> = hidden.map(|(kind, _)| *kind).collect();
    let description = format!("All other tools: {}. Omit `tool` for a list, `arguments` for help.", kinds.join(", "));
    // It may index, and cannot destroy.
    let hints = ToolAnnotations::new().read_only(false).destructive(false).idempotent(true);
    Tool::new(MORE_TOOLS, description, Arc::new(input)).with_annotations(hints)
}

/// The request in a call of [`MORE_TOOLS`].
#[derive(Debug, PartialEq)]
pub(super) enum MoreToolsRequest {
    /// The names of hidden tools.
    List,
    /// The description and arguments of a tool.
    Describe(&'static str),
    /// A tool's answer.
    Call(String, Map<String, Value>),
    /// A wider surface from now on.
    Widen(Surface),
}

/// Reads the arguments of [`MORE_TOOLS`].
pub(super) fn more(mut arguments: Map<String, Value>) -> Result<MoreToolsRequest, Error> {
    let wrong = |message: String| Err(Error::invalid_arguments(message));
    match arguments.remove("surface") {
        None | Some(Value::Null) => {}
        Some(Value::String(name)) if name == "core" => return Ok(MoreToolsRequest::Widen(Surface::Core)),
        Some(Value::String(name)) if name == "full" => return Ok(MoreToolsRequest::Widen(Surface::Full)),
        Some(other) => return wrong(format!("`surface` is {other}; use \"core\" or \"full\"")),
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
        // Models often write a nested call as text.
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(inner) => Some(inner),
            Err(err) => return wrong(format!("`arguments` is text that is not a JSON object: {err}")),
        },
        Some(other) => return wrong(format!("`arguments` is {other}; give an object")),
    };
    // They also write the inner arguments beside `tool`, which has only one meaning.
    let inner = if arguments.is_empty() {
        inner
    } else {
        Some(inner.unwrap_or_default().into_iter().chain(arguments).collect())
    };
    match (tool, inner) {
        (None, None) => Ok(MoreToolsRequest::List),
        // Arguments that every tool takes ask for nothing.
        (None, Some(inner)) if !inner.is_empty() && inner.keys().all(|name| SHARED.contains(&name.as_str())) => {
            Ok(MoreToolsRequest::List)
        }
        (None, Some(_)) => wrong("`arguments` are given and no `tool`; name the tool to call".to_owned()),
        (Some(name), Some(_)) if TOOLS.iter().any(|spec| spec.name == name && spec.destructive) => {
            wrong(format!("{name} removes data, so call it by its own name; surface \"full\" shows it"))
        }
        (Some(name), None) => match TOOLS.iter().find(|spec| spec.name == name) {
            Some(spec) => Ok(MoreToolsRequest::Describe(spec.name)),
            // The call suggests similar names.
            None => Ok(MoreToolsRequest::Call(name, Map::new())),
        },
        (Some(name), Some(inner)) => Ok(MoreToolsRequest::Call(name, inner)),
    }
}

/// The hidden tools of a surface, one line each.
pub(super) fn others(surface: &Surface) -> Value {
    let others = TOOLS.iter().filter(|spec| spec.shown.is_some() && !shows(surface, spec));
    let others = others.map(|spec| (spec.name.to_owned(), describe(&(spec.input)()).summary().into()));
    json!({"tools": Value::Object(others.collect())})
}

/// The full description of a tool.
pub(super) fn description(name: &str) -> Option<Value> {
    let spec = TOOLS.iter().find(|spec| spec.name == name)?;
    let Described { description, input, .. } = describe(&(spec.input)());
    Some(json!({"tool": name, "description": description, "arguments": input}))
}
