//! Lenient parsing of a tool's arguments by its JSON schema: near misses are accepted when their meaning is plain,
//! and otherwise refused with the nearest valid choice.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use super::Error;
use codelode_base::model::nearest;

/// Maximum nesting of arguments, which also bounds recursive schemas.
const DEEPEST: usize = 32;

/// Limits: entries of a list, and bytes of a query, of other texts, and of entries.
const LONGEST_LIST: usize = 1_000;
const LONGEST_QUESTION: usize = 64 * 1024;
const LONGEST_STRING: usize = 10_000;
/// Parameters that hold a question.
const QUESTIONS: &[&str] = &["query", "pattern", "smell", "preset"];
/// The most characters compared for a misspelt name.
const COMPARED: usize = 100;

/// Refuses values longer than any meaningful one, before they are parsed.
fn check_lengths(args: &Map<String, Value>) -> Result<(), Error> {
    let refuse = |name: &str, problem: String| {
        let name = clip(name);
        Err(Error::invalid_arguments(format!("`{name}` {problem}")).with("parameter", name))
    };
    for (name, value) in args {
        let longest = if QUESTIONS.contains(&name.as_str()) { LONGEST_QUESTION } else { LONGEST_STRING };
        match value {
            Value::String(text) if text.len() > longest => {
                return refuse(name, format!("is longer than {longest} bytes"));
            }
            Value::Array(items) if items.len() > LONGEST_LIST => {
                return refuse(name, format!("has more than {LONGEST_LIST} entries; send fewer at once"));
            }
            Value::Array(items) if items.iter().filter_map(Value::as_str).any(|item| item.len() > LONGEST_STRING) => {
                return refuse(name, format!("has an entry longer than {LONGEST_STRING} bytes"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads a tool's arguments, helping near misses.
///
/// `null` counts as absent for an optional parameter. Numbers, booleans, lists and objects may be given as strings,
/// and a single value stands for a list of one. The schema may list alternative names of a parameter in `x-aliases`.
pub fn arguments<A: DeserializeOwned + 'static>(
    args: Map<String, Value>,
    schema: fn() -> schemars::Schema,
) -> Result<A, Error> {
    check_lengths(&args)?;
    let schema = schema_of(TypeId::of::<A>(), schema);
    let args = Reader { root: schema }.parameters(args, schema)?;
    serde_json::from_value(Value::Object(args))
        .map_err(|err| Error::invalid_arguments(format!("the arguments do not fit: {err}")))
}

/// Cached schema of a type of arguments: building it takes as long as answering a small question. There is one for
/// each tool, so none is ever dropped.
fn schema_of(arguments: TypeId, make: fn() -> schemars::Schema) -> &'static Value {
    static SCHEMAS: Mutex<BTreeMap<TypeId, &'static Value>> = Mutex::new(BTreeMap::new());
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    schemas.entry(arguments).or_insert_with(|| Box::leak(Box::new(make().to_value())))
}

/// A schema with its references.
struct Reader<'a> {
    root: &'a Value,
}

impl Reader<'_> {
    /// Parses the arguments of a tool, each under its canonical name and with its own type.
    fn parameters(&self, args: Map<String, Value>, schema: &Value) -> Result<Map<String, Value>, Error> {
        let none = Map::new();
        let known = schema["properties"].as_object().unwrap_or(&none);
        let required: Vec<&str> = strings(&schema["required"]).collect();
        let mut read = Map::new();
        let mut unknown = Vec::new();
        for (given, value) in args {
            let Some((name, parameter)) = find(known, &given) else {
                unknown.push(given);
                continue;
            };
            if value.is_null() {
                continue;
            }
            let value = self.value(value, parameter, 0).map_err(|wrong| wrong.into_error(name))?;
            if given != *name && read.contains_key(name) {
                continue; // Given under both names: the canonical one takes precedence.
            }
            read.insert(name.clone(), value);
        }
        if !unknown.is_empty() {
            return Err(unknown_parameters(&unknown, known));
        }
        let missing: Vec<&str> = required.into_iter().filter(|name| !read.contains_key(*name)).collect();
        if !missing.is_empty() {
            let wanted: Vec<String> = missing
                .iter()
                .map(|name| format!("`{name}` ({})", self.describe(known.get(*name).unwrap_or(&Value::Null), 0)))
                .collect();
            let message = format!("{} must be given", wanted.join(" and "));
            return Err(Error::invalid_arguments(message).with("missing", missing));
        }
        Ok(read)
    }

    /// Converts a value to the type of the schema when its meaning is plain.
    fn value(&self, value: Value, schema: &Value, depth: usize) -> Result<Value, SchemaMismatch> {
        let schema = self.follow(schema);
        if depth > DEEPEST || !schema.is_object() {
            return Ok(value);
        }
        let words = self.words(schema);
        if !words.is_empty() {
            return one_of(value, &words);
        }
        let choices = choices(schema);
        if !choices.is_empty() {
            return self.choose(value, schema, &choices, depth);
        }
        let types: Vec<&str> = types(schema).collect();
        match types.as_slice() {
            [] => Ok(value),
            [one] => self.typed(value, one, schema, depth),
            several => {
                // Unchanged when one type matches; else converted to the first possible type.
                if several.iter().any(|one| is_of(&value, one)) {
                    return Ok(value);
                }
                let turned = several.iter().find_map(|one| self.typed(value.clone(), one, schema, depth).ok());
                turned.ok_or_else(|| SchemaMismatch::new(self.describe(schema, depth), &value))
            }
        }
    }

    /// Converts a value with several alternative schemas.
    fn choose(&self, value: Value, schema: &Value, choices: &[&Value], depth: usize) -> Result<Value, SchemaMismatch> {
        if let [one] = choices {
            return self.value(value, one, depth + 1);
        }
        let exact = choices.iter().find(|choice| types(self.follow(choice)).any(|one| is_of(&value, one)));
        if let Some(choice) = exact {
            return self.value(value, choice, depth + 1);
        }
        let turned = choices.iter().find_map(|choice| self.value(value.clone(), choice, depth + 1).ok());
        turned.ok_or_else(|| SchemaMismatch::new(self.describe(schema, depth), &value))
    }

    fn typed(&self, value: Value, wanted: &str, schema: &Value, depth: usize) -> Result<Value, SchemaMismatch> {
        let wrong = |value: &Value| SchemaMismatch::new(self.describe(schema, depth), value);
        match (wanted, value) {
            ("integer", value) => {
                let whole = integer(&value).ok_or_else(|| wrong(&value))?;
                let (least, most) = range(schema);
                if whole > most && most > TOLD {
                    return Err(SchemaMismatch::new(format!("a whole number of at most {most}"), &value));
                }
                if whole < least || whole > most {
                    return Err(wrong(&value));
                }
                Number::from_i128(whole).map(Value::Number).ok_or_else(|| wrong(&value))
            }
            ("number", value) => {
                let number = number(&value).ok_or_else(|| wrong(&value))?;
                let least = schema["minimum"].as_f64().unwrap_or(f64::NEG_INFINITY);
                let most = schema["maximum"].as_f64().unwrap_or(f64::INFINITY);
                if number < least || number > most {
                    return Err(wrong(&value));
                }
                Number::from_f64(number).map(Value::Number).ok_or_else(|| wrong(&value))
            }
            ("boolean", Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Value::Bool(true)),
            ("boolean", Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Value::Bool(false)),
            // Clients send queries such as 404 or true as numbers and booleans.
            ("string", Value::Number(number)) => Ok(Value::String(number.to_string())),
            ("string", Value::Bool(truth)) => Ok(Value::String(truth.to_string())),
            ("array", Value::Array(items)) => self.items(items, schema, depth),
            ("array", Value::String(text)) => match listed(&text) {
                Some(items) => self.items(items, schema, depth),
                None if text.is_empty() => Ok(Value::Array(Vec::new())),
                None => self.items(vec![Value::String(text)], schema, depth),
            },
            ("array", value @ (Value::Number(_) | Value::Bool(_))) => self.items(vec![value], schema, depth),
            ("object", Value::Object(fields)) => self.fields(fields, schema, depth),
            ("object", Value::String(text)) => match serde_json::from_str(&text) {
                Ok(Value::Object(fields)) => self.fields(fields, schema, depth),
                _ => Err(wrong(&Value::String(text))),
            },
            (wanted, value) if is_of(&value, wanted) => Ok(value),
            (_, value) => Err(wrong(&value)),
        }
    }

    fn items(&self, items: Vec<Value>, schema: &Value, depth: usize) -> Result<Value, SchemaMismatch> {
        let each = &schema["items"];
        let items = items.into_iter().map(|item| self.value(item, each, depth + 1));
        items.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn fields(&self, mut fields: Map<String, Value>, schema: &Value, depth: usize) -> Result<Value, SchemaMismatch> {
        let Some(known) = schema["properties"].as_object() else {
            return Ok(Value::Object(fields));
        };
        for (name, value) in &mut fields {
            if let Some(field) = known.get(name) {
                *value = self.value(value.take(), field, depth + 1)?;
            }
        }
        Ok(Value::Object(fields))
    }

    /// Resolves a reference within the schema.
    fn follow<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..DEEPEST {
            let Some(path) = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#')) else {
                break;
            };
            schema = self.root.pointer(path).unwrap_or(&Value::Null);
        }
        schema
    }

    /// Words of an enumeration; empty for other schemas.
    fn words<'s>(&'s self, schema: &'s Value) -> Vec<&'s str> {
        if schema["enum"].is_array() {
            return strings(&schema["enum"]).collect();
        }
        // schemars writes a variant with a doc comment as a constant of its own.
        let choices = choices(schema);
        let words: Vec<&str> = choices.iter().filter_map(|choice| self.word(choice)).collect();
        if words.len() == choices.len() { words } else { Vec::new() }
    }

    fn word<'s>(&'s self, schema: &'s Value) -> Option<&'s str> {
        self.follow(schema)["const"].as_str()
    }

    /// Describes a schema in plain words.
    fn describe(&self, schema: &Value, depth: usize) -> String {
        let schema = self.follow(schema);
        let words = self.words(schema);
        if !words.is_empty() {
            return format!("one of {}", words.join(", "));
        }
        if depth > DEEPEST {
            return "a value".to_owned();
        }
        let choices = choices(schema);
        if !choices.is_empty() {
            let each: Vec<String> = choices.iter().map(|choice| self.describe(choice, depth + 1)).collect();
            return each.join(" or ");
        }
        let each: Vec<String> = types(schema)
            .map(|one| match one {
                "integer" => within("a whole number", range(schema)),
                "number" => match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
                    (Some(least), Some(most)) => format!("a number from {least} to {most}"),
                    _ => "a number".to_owned(),
                },
                "boolean" => "true or false".to_owned(),
                "string" => "a string".to_owned(),
                "array" => match self.describe(&schema["items"], depth + 1).as_str() {
                    "a string" => "a list of strings".to_owned(),
                    "a value" => "a list".to_owned(),
                    other => format!("a list, each {other}"),
                },
                "object" => "an object".to_owned(),
                other => other.to_owned(),
            })
            .collect();
        if each.is_empty() { "a value".to_owned() } else { each.join(" or ") }
    }
}

/// A value that does not fit its schema.
struct SchemaMismatch {
    wanted: String,
    given: String,
    allowed: Vec<String>,
    nearest: Option<String>,
}

impl SchemaMismatch {
    fn new(wanted: String, given: &Value) -> Self {
        Self { wanted, given: brief(given), allowed: Vec::new(), nearest: None }
    }

    fn into_error(self, name: &str) -> Error {
        let Self { wanted, given, allowed, nearest } = self;
        let mut message = format!("`{name}` must be {wanted}; it was {given}");
        if let Some(nearest) = nearest {
            _ = write!(message, ". Did you mean `{nearest}`?");
        }
        let error = Error::invalid_arguments(message).with("parameter", name);
        if allowed.is_empty() { error } else { error.with("allowed", allowed) }
    }
}

/// The word of an enumeration that a value spells.
fn one_of(value: Value, words: &[&str]) -> Result<Value, SchemaMismatch> {
    let text = value.as_str().unwrap_or_default();
    let exact = words.iter().find(|word| **word == text);
    if let Some(word) = exact.or_else(|| words.iter().find(|word| word.eq_ignore_ascii_case(text))) {
        return Ok(Value::from(*word));
    }
    let mut wrong = SchemaMismatch::new(format!("one of {}", words.join(", ")), &value);
    wrong.allowed = words.iter().map(|word| (*word).to_owned()).collect();
    wrong.nearest = nearest(&text.chars().take(COMPARED).collect::<String>(), words.iter().copied(), 1)
        .first()
        .map(|word| (*word).to_owned());
    Err(wrong)
}

/// Finds a parameter by its name or an alias.
fn find<'a>(known: &'a Map<String, Value>, given: &str) -> Option<(&'a String, &'a Value)> {
    known.get_key_value(given).or_else(|| known.iter().find(|(_, one)| strings(&one["x-aliases"]).any(|a| a == given)))
}

fn unknown_parameters(unknown: &[String], known: &Map<String, Value>) -> Error {
    let known = || known.iter().filter(|(_, one)| one["x-hidden"] != true);
    let own = || known().flat_map(|(name, one)| strings(&one["x-aliases"]).chain([name.as_str()]));
    let spellings = || own().chain(super::SHARED);
    let each: Vec<String> = unknown
        .iter()
        .take(8)
        .map(|given| match nearest(&given.chars().take(COMPARED).collect::<String>(), spellings(), 1).as_slice() {
            [] => format!("`{}`", clip(given)),
            [name, ..] => format!("`{}` (did you mean `{name}`?)", clip(given)),
        })
        .collect();
    let noun = if unknown.len() == 1 { "parameter" } else { "parameters" };
    let mut names: Vec<&str> = known().map(|(name, _)| name.as_str()).collect();
    names.extend(super::SHARED);
    Error::invalid_arguments(format!("unknown {noun} {}", each.join(", "))).with("known", names)
}

/// Alternatives of a schema, without `null`, which counts as absent.
fn choices(schema: &Value) -> Vec<&Value> {
    let all = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema[*key].as_array());
    all.into_iter().flatten().filter(|choice| choice["type"] != "null").collect()
}

/// Types that a schema allows, without `null`.
fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let one = schema["type"].as_str();
    one.into_iter().chain(strings(&schema["type"])).filter(|name| *name != "null")
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn is_of(value: &Value, wanted: &str) -> bool {
    match wanted {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// Whole number from a number or a string.
fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => number.as_i128().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => {
            let text = text.trim();
            text.parse().ok().or_else(|| whole(text.parse().ok()?))
        }
        _ => None,
    }
}

/// Whole number from a float without a fraction.
fn whole(number: f64) -> Option<i128> {
    // The conversion saturates, and its limits are outside every schema's range.
    (number.is_finite() && number.fract() == 0.0).then_some(number as i128)
}

fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// Range of whole numbers that a schema and its format allow.
fn range(schema: &Value) -> (i128, i128) {
    let (least, most) = match schema["format"].as_str().unwrap_or_default() {
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint" | "uint64" => (0, u64::MAX.into()),
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    };
    (integer(&schema["minimum"]).unwrap_or(least).max(least), integer(&schema["maximum"]).unwrap_or(most).min(most))
}

/// Limits above this only reflect the storage type and would confuse readers.
const TOLD: i128 = u16::MAX as i128;

fn within(what: &str, (least, most): (i128, i128)) -> String {
    if most <= TOLD && least >= -TOLD {
        format!("{what} from {least} to {most}")
    } else if least >= 0 {
        format!("{what} of {least} or more")
    } else {
        what.to_owned()
    }
}

/// Parses a list written as JSON in a string.
fn listed(text: &str) -> Option<Vec<Value>> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Short form of a value for errors.
fn brief(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("\"{}\"", clip(text)),
        other => other.to_string(),
    }
}

/// Beginning of a caller's text: an error need not repeat a megabyte.
fn clip(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
