//! Reads a tool's arguments by its JSON schema, as a person would: what is plainly meant is taken, what is not is
//! refused with the nearest thing that would do.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use super::error::nearest;
use super::{Code, Error};

/// Arguments lie this deep at most; a schema that refers to itself ends here.
const DEEPEST: usize = 32;

/// Reads a tool's arguments, helping near misses.
///
/// `null` for a parameter that may be left out means that it is left out. A number, a boolean, a list or an object is
/// also taken from a string that spells it, and a single value where a list of such is wanted. The schema may name
/// further spellings of a parameter in `x-aliases`.
pub fn arguments<A: DeserializeOwned + 'static>(
    args: Map<String, Value>,
    schema: fn() -> schemars::Schema,
) -> Result<A, Error> {
    let schema = schema_of(TypeId::of::<A>(), schema);
    let args = Reader { root: schema }.parameters(args, schema)?;
    serde_json::from_value(Value::Object(args))
        .map_err(|err| Error::new(Code::InvalidArguments, format!("the arguments do not fit: {err}")))
}

/// A warning for each argument that was given, asks for something, and has no effect yet.
pub fn without_effect(given: &[(&str, Option<bool>)]) -> Vec<String> {
    let asked = given.iter().filter(|(_, wanted)| *wanted == Some(true));
    asked.map(|(name, _)| format!("{name} has no effect yet: nothing is set up for it")).collect()
}

/// The schema of a type of arguments, made once: making it takes as long as answering a small question. There are as many as
/// there are tools, so none is ever dropped.
fn schema_of(arguments: TypeId, make: fn() -> schemars::Schema) -> &'static Value {
    static SCHEMAS: Mutex<BTreeMap<TypeId, &'static Value>> = Mutex::new(BTreeMap::new());
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    schemas.entry(arguments).or_insert_with(|| Box::leak(Box::new(make().to_value())))
}

/// A schema and what its references mean.
struct Reader<'a> {
    root: &'a Value,
}

impl Reader<'_> {
    /// The arguments of a tool, each under its own name and of its own type.
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
                continue; // Given under both names: its own counts.
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
            return Err(Error::new(Code::InvalidArguments, message).with("missing", missing));
        }
        Ok(read)
    }

    /// One value, turned into what the schema wants when that is plainly meant.
    fn value(&self, value: Value, schema: &Value, depth: usize) -> Result<Value, Wrong> {
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
                // As it is, when it is one of them; else the first that it can be turned into.
                if several.iter().any(|one| is_of(&value, one)) {
                    return Ok(value);
                }
                let turned = several.iter().find_map(|one| self.typed(value.clone(), one, schema, depth).ok());
                turned.ok_or_else(|| Wrong::new(self.describe(schema, depth), &value))
            }
        }
    }

    /// A value that may be one of several things.
    fn choose(&self, value: Value, schema: &Value, choices: &[&Value], depth: usize) -> Result<Value, Wrong> {
        if let [one] = choices {
            return self.value(value, one, depth + 1);
        }
        let exact = choices.iter().find(|choice| types(self.follow(choice)).any(|one| is_of(&value, one)));
        if let Some(choice) = exact {
            return self.value(value, choice, depth + 1);
        }
        let turned = choices.iter().find_map(|choice| self.value(value.clone(), choice, depth + 1).ok());
        turned.ok_or_else(|| Wrong::new(self.describe(schema, depth), &value))
    }

    fn typed(&self, value: Value, wanted: &str, schema: &Value, depth: usize) -> Result<Value, Wrong> {
        let wrong = |value: &Value| Wrong::new(self.describe(schema, depth), value);
        match (wanted, value) {
            ("integer", value) => {
                let whole = integer(&value).ok_or_else(|| wrong(&value))?;
                let (least, most) = range(schema);
                if whole > most && most > TOLD {
                    return Err(Wrong::new(format!("a whole number of at most {most}"), &value));
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
            // A query such as 404 or true reaches us as what it looks like.
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

    fn items(&self, items: Vec<Value>, schema: &Value, depth: usize) -> Result<Value, Wrong> {
        let each = &schema["items"];
        let items = items.into_iter().map(|item| self.value(item, each, depth + 1));
        items.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn fields(&self, mut fields: Map<String, Value>, schema: &Value, depth: usize) -> Result<Value, Wrong> {
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

    /// What a reference within the schema means.
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

    /// The words that an enumeration allows; none when it is something else.
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

    /// What a schema wants, in plain words.
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

/// A value that does not fit.
struct Wrong {
    wanted: String,
    given: String,
    allowed: Vec<String>,
    nearest: Option<String>,
}

impl Wrong {
    fn new(wanted: String, given: &Value) -> Self {
        Self { wanted, given: brief(given), allowed: Vec::new(), nearest: None }
    }

    fn into_error(self, name: &str) -> Error {
        let Self { wanted, given, allowed, nearest } = self;
        let mut message = format!("`{name}` must be {wanted}; it was {given}");
        if let Some(nearest) = nearest {
            _ = write!(message, ". Did you mean `{nearest}`?");
        }
        let error = Error::new(Code::InvalidArguments, message).with("parameter", name);
        if allowed.is_empty() { error } else { error.with("allowed", allowed) }
    }
}

/// The word of an enumeration that a value spells.
fn one_of(value: Value, words: &[&str]) -> Result<Value, Wrong> {
    let text = value.as_str().unwrap_or_default();
    let exact = words.iter().find(|word| **word == text);
    if let Some(word) = exact.or_else(|| words.iter().find(|word| word.eq_ignore_ascii_case(text))) {
        return Ok(Value::from(*word));
    }
    let mut wrong = Wrong::new(format!("one of {}", words.join(", ")), &value);
    wrong.allowed = words.iter().map(|word| (*word).to_owned()).collect();
    wrong.nearest = nearest(text, words.iter().copied(), 1).first().map(|word| (*word).to_owned());
    Err(wrong)
}

/// The parameter of that name or spelling.
fn find<'a>(known: &'a Map<String, Value>, given: &str) -> Option<(&'a String, &'a Value)> {
    known.get_key_value(given).or_else(|| known.iter().find(|(_, one)| strings(&one["x-aliases"]).any(|a| a == given)))
}

fn unknown_parameters(unknown: &[String], known: &Map<String, Value>) -> Error {
    let known = || known.iter().filter(|(_, one)| one["x-hidden"] != true);
    let spellings = || known().flat_map(|(name, one)| strings(&one["x-aliases"]).chain([name.as_str()]));
    let each: Vec<String> = unknown
        .iter()
        .take(8)
        .map(|given| match nearest(given, spellings(), 1).as_slice() {
            [] => format!("`{}`", clip(given)),
            [name, ..] => format!("`{}` (did you mean `{name}`?)", clip(given)),
        })
        .collect();
    let noun = if unknown.len() == 1 { "parameter" } else { "parameters" };
    let mut names: Vec<&str> = known().map(|(name, _)| name.as_str()).collect();
    names.extend(super::SHARED);
    Error::new(Code::InvalidArguments, format!("unknown {noun} {}", each.join(", "))).with("known", names)
}

/// The alternatives of a schema, without "nothing", which is what leaving out means.
fn choices(schema: &Value) -> Vec<&Value> {
    let all = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema[*key].as_array());
    all.into_iter().flatten().filter(|choice| choice["type"] != "null").collect()
}

/// The types that a schema allows, without "nothing".
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

/// The whole number that a value is or spells.
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

/// A float that has nothing behind the point.
fn whole(number: f64) -> Option<i128> {
    // A conversion stops at the ends of the range, and those are out of every schema's.
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

/// The least and the greatest whole number that a schema allows: what it says, and what its format can hold.
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

/// A limit above this says how the number is stored; it would puzzle a reader who did not run into it.
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

/// A list written as JSON in a string.
fn listed(text: &str) -> Option<Vec<Value>> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// A value as an error shows it.
fn brief(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("\"{}\"", clip(text)),
        other => other.to_string(),
    }
}

/// The beginning of a text that a caller sent: an error need not repeat a megabyte.
fn clip(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
