//! Schemas for clients: those of schemars, without parts that cost tokens and tell a model nothing.

use serde_json::{Map, Value};

/// Keys without information for a caller: bookkeeping, and bounds that the tool checks anyway.
const NOISE: &[&str] = &[
    "$schema",
    "$defs",
    "title",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "additionalProperties",
];

/// Marks an argument that is not shown: to nobody, because it has no effect so far, or not to a client.
const HIDDEN: &str = "x-hidden";
/// Value of the mark for arguments that people are shown.
const FROM_CLIENTS: &str = "client";

/// A tool's description and the schema of its arguments.
pub struct Described {
    /// The description; its first paragraph is enough to choose the tool.
    pub description: String,
    /// The arguments: `type`, `properties`, `required`.
    pub input: Map<String, Value>,
    /// Arguments that few calls need, marked `x-rare` in the schema: narrow surfaces leave them out.
    pub rare: Vec<String>,
}

impl Described {
    /// The first paragraph of the description.
    pub fn summary(&self) -> &str {
        self.description.split("\n\n").next().unwrap_or_default()
    }

    /// The first sentence of the description; further ones compare the tool with others, by their names.
    pub fn first_sentence(&self) -> &str {
        let summary = self.summary();
        summary.split_once(". ").map_or(summary, |(first, _)| first)
    }

    /// The arguments with their schemas.
    pub fn properties(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.input.get("properties").and_then(Value::as_object).into_iter().flatten()
    }

    /// Whether few calls need an argument.
    pub fn is_rare(&self, name: &str) -> bool {
        self.rare.iter().any(|rare| rare == name)
    }

    /// Whether an argument is required.
    pub fn is_required(&self, name: &str) -> bool {
        self.input
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| names.iter().any(|other| other == name))
    }
}

/// Splits a tool's schema into its description and its arguments, both stripped.
pub fn describe(schema: &schemars::Schema) -> Described {
    let mut input = match strip(schema.as_value()) {
        Value::Object(input) => input,
        // `true` is a schema, too: it allows any value.
        _ => Map::new(),
    };
    let description = match input.remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    // Clients need `properties` even if it is empty.
    input.entry("type").or_insert_with(|| "object".into());
    input.entry("properties").or_insert_with(|| Map::new().into());
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let rare = properties.filter(|(_, schema)| schema.get("x-rare") == Some(&Value::Bool(true)));
    let rare = rare.map(|(name, _)| name.clone()).collect();
    Described { description, input, rare }
}

/// Describes a tool for people, with arguments that are not worth a model's tokens.
pub fn describe_for_people(schema: &schemars::Schema) -> Described {
    let mut schema = schema.clone();
    let properties = schema.as_object_mut().and_then(|object| object.get_mut("properties")?.as_object_mut());
    for property in properties.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        if property.get(HIDDEN).is_some_and(|from| from == FROM_CLIENTS) {
            property.remove(HIDDEN);
        }
    }
    describe(&schema)
}

/// A schema without noise: definitions inlined, null unions opened, empty defaults dropped.
pub fn strip(schema: &Value) -> Value {
    let definitions = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    stripped(schema, &definitions, &mut Vec::new())
}

/// Strips one schema; `inside` are the definitions being inlined.
fn stripped(schema: &Value, definitions: &Map<String, Value>, inside: &mut Vec<String>) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let mut result = Map::new();
    for (key, value) in schema {
        match key.as_str() {
            // A definition that contains itself is cut there and allows any value.
            "$ref" => {
                let name = value.as_str().and_then(|name| name.strip_prefix("#/$defs/")).unwrap_or_default().to_owned();
                if let Some(definition) = definitions.get(&name).filter(|_| !inside.contains(&name)) {
                    inside.push(name);
                    merge(&mut result, stripped(definition, definitions, inside));
                    inside.pop();
                }
            }
            "allOf" | "anyOf" | "oneOf" => {
                let branches = value.as_array().into_iter().flatten().filter(|branch| !is_null(branch));
                let branches = branches.map(|branch| stripped(branch, definitions, inside)).collect();
                union(&mut result, key, branches);
            }
            "properties" => {
                let shown = |(_, value): &(&String, &Value)| value.get(HIDDEN).is_none();
                let properties = value.as_object().into_iter().flatten().filter(shown);
                let properties = properties.map(|(name, value)| (name.clone(), stripped(value, definitions, inside)));
                result.insert(key.clone(), Value::Object(properties.collect()));
            }
            "items" => {
                result.insert(key.clone(), stripped(value, definitions, inside));
            }
            "type" => {
                result.insert(key.clone(), without_null(value));
            }
            "enum" => {
                let values = value.as_array().into_iter().flatten().filter(|value| !value.is_null()).cloned();
                result.insert(key.clone(), Value::Array(values.collect()));
            }
            "description" => {
                result.insert(key.clone(), value.as_str().map(unwrapped).unwrap_or_default().into());
            }
            "default" if is_empty(value) => {}
            "required" if value.as_array().is_some_and(Vec::is_empty) => {}
            key if NOISE.contains(&key) || key.starts_with("x-") => {}
            _ => {
                result.insert(key.clone(), value.clone());
            }
        }
    }
    // A reader needs the type first.
    if let Some(kind) = result.shift_remove("type") {
        result.shift_insert(0, "type".to_owned(), kind);
    }
    Value::Object(result)
}

/// Writes a union as briefly as possible.
fn union(result: &mut Map<String, Value>, key: &str, mut branches: Vec<Value>) {
    if branches.len() == 1 || key == "allOf" {
        branches.into_iter().for_each(|branch| merge(result, branch));
        return;
    }
    // schemars writes an enum with documented variants as a union of constants. Their names are enough.
    let constants: Option<Vec<Value>> = branches
        .iter()
        .map(|branch| match (branch.get("const"), branch.get("enum").and_then(Value::as_array)) {
            (Some(value), _) => Some(vec![value.clone()]),
            (None, Some(values)) => Some(values.clone()),
            (None, None) => None,
        })
        .collect::<Option<Vec<_>>>()
        .map(|values| values.into_iter().flatten().collect());
    match constants {
        Some(values) => {
            result.insert("type".to_owned(), "string".into());
            result.insert("enum".to_owned(), Value::Array(values));
        }
        None => {
            branches.dedup();
            result.insert(key.to_owned(), Value::Array(branches));
        }
    }
}

/// Adds missing keys: a description beside a reference takes precedence over the definition's.
fn merge(result: &mut Map<String, Value>, other: Value) {
    let Value::Object(other) = other else { return };
    for (key, value) in other {
        result.entry(key).or_insert(value);
    }
}

/// Whether a schema allows nothing but null.
fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

/// Whether a default only means that the argument may be left out.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
    }
}

/// `["string", "null"]` becomes `"string"`, because the argument can be left out instead.
fn without_null(kind: &Value) -> Value {
    let Value::Array(kinds) = kind else { return kind.clone() };
    let mut kinds: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
    if kinds.len() == 1 { kinds.remove(0) } else { Value::Array(kinds) }
}

/// Joins the lines of each paragraph: line ends of a doc comment have no meaning.
fn unwrapped(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    // Only the schemas of these types are used.
    #![allow(dead_code)]

    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    /// Finds things,
    /// best first.
    ///
    /// The long story.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Args {
        /// The text to look for,
        /// in words.
        query: String,
        /// How many.
        #[serde(default = "ten")]
        max_results: usize,
        kind: Option<Kind>,
        /// In which order.
        #[serde(default)]
        sort_by: Sort,
        #[serde(default)]
        #[schemars(extend("x-rare" = true))]
        fuzzy: bool,
        #[serde(default)]
        repos: Vec<String>,
        only: Option<Vec<String>>,
        #[serde(default)]
        weight: f32,
        tree: Option<Box<Tree>>,
    }

    /// Its sort.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Function,
        Class,
    }

    #[derive(Default, Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Sort {
        /// By score.
        #[default]
        Relevance,
        /// By place.
        Path,
    }

    #[derive(Deserialize, JsonSchema)]
    struct Tree {
        children: Vec<Tree>,
    }

    fn ten() -> usize {
        10
    }

    #[test]
    fn a_stripped_schema_says_only_what_a_caller_needs() {
        let described = describe(&schemars::schema_for!(Args));
        assert_eq!(described.description, "Finds things, best first.\n\nThe long story.");
        assert_eq!(described.summary(), "Finds things, best first.");
        assert_eq!(described.rare, ["fuzzy"]);
        let expected = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The text to look for, in words."},
                "max_results": {"type": "integer", "description": "How many.", "default": 10},
                "kind": {"type": "string", "description": "Its sort.", "enum": ["function", "class"]},
                "sort_by": {"type": "string", "description": "In which order.", "default": "relevance", "enum": ["relevance", "path"]},
                "fuzzy": {"type": "boolean"},
                "repos": {"type": "array", "items": {"type": "string"}},
                "only": {"type": "array", "items": {"type": "string"}},
                "weight": {"type": "number"},
                "tree": {"type": "object", "properties": {"children": {"type": "array", "items": {}}}, "required": ["children"]},
            },
            "required": ["query"],
        });
        assert_eq!(Value::Object(described.input), expected);
    }

    #[test]
    fn a_union_of_types_stays_one() {
        let schema =
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}]});
        let expected = json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
        assert_eq!(strip(&schema), expected);
    }

    #[test]
    fn no_arguments_are_still_an_object() {
        #[derive(Deserialize, JsonSchema)]
        struct None {}
        assert_eq!(
            Value::Object(describe(&schemars::schema_for!(None)).input),
            json!({"type": "object", "properties": {}})
        );
    }
}
