//! The text of an answer for those who read without a terminal: a model over MCP, or a shell. Each file stands once,
//! above its lines, with their numbers; what decides whether the answer can be trusted is its first line.
//!
//! The usual shapes of answers have forms of their own here; any other is written by [`compact`].

mod calls;
mod context;
mod hits;
mod lists;
mod matches;
mod outline;
mod rows;
mod several;
mod sources;
mod trees;
mod trust;
mod uses;

use serde_json::{Map, Value};

use super::compact;

/// Fields of an answer.
type Fields = Map<String, Value>;

/// Puts a message in the words of its reader: a tool's name becomes a command at a shell.
pub type Wording<'w> = &'w dyn Fn(&str) -> String;

/// A form: the text of an answer of its shape, `None` for any other.
type Form = fn(&Fields, Wording<'_>) -> Option<String>;

const FORMS: &[Form] = &[
    several::text,
    uses::text,
    calls::text,
    sources::text,
    outline::text,
    context::text,
    hits::text,
    matches::text,
    trees::text,
    lists::text,
];

/// The text of an answer for a model.
pub fn answer(value: &Value) -> String {
    worded(value, &str::to_owned)
}

/// The text of an answer in the words of its reader.
pub fn worded(value: &Value, say: Wording<'_>) -> String {
    let Some(fields) = value.as_object() else { return value.to_string() };
    let Some(body) = FORMS.iter().find_map(|form| form(fields, say)) else { return compact::answer(value) };
    let mut text = trust::first_lines(fields, say);
    text.push_str(&body);
    text.truncate(text.trim_end().len());
    text
}

/// A text of some fields; empty for none.
fn text_of<'a>(fields: &'a Fields, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A number of some fields.
fn number_of(fields: &Fields, key: &str) -> Option<u64> {
    fields.get(key).and_then(Value::as_u64)
}

/// The objects of a list; none where there is no such list.
fn objects_of<'a>(fields: &'a Fields, key: &str) -> impl Iterator<Item = &'a Fields> + use<'a> {
    list_of(fields, key).iter().filter_map(Value::as_object)
}

/// The texts of a list.
fn texts_of<'a>(fields: &'a Fields, key: &str) -> Vec<&'a str> {
    list_of(fields, key).iter().filter_map(Value::as_str).collect()
}

fn list_of<'a>(fields: &'a Fields, key: &str) -> &'a [Value] {
    fields.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A symbol's id in its parts.
#[derive(Clone, Copy, Default)]
struct Id<'a> {
    file: &'a str,
    /// Name with its owners.
    name: &'a str,
    /// Kind, without the number of an overload.
    kind: &'a str,
}

impl<'a> Id<'a> {
    /// Reads an id; of a whole file it is the path.
    fn of(id: &'a str) -> Self {
        let Some((file, rest)) = id.split_once("::") else { return Self { file: id, ..Self::default() } };
        let (name, kind) = rest.rsplit_once('#').unwrap_or((rest, ""));
        Self { file, name, kind: kind.split('~').next().unwrap_or(kind) }
    }

    /// The same, of the kind that a language's own word says.
    fn with_detail(self, fields: &'a Fields) -> Self {
        match text_of(fields, "detail") {
            "" => self,
            "member" => Self { kind: "enum member", ..self },
            detail => Self { kind: detail, ..self },
        }
    }

    /// Name and place: `Cart.total shop/cart.py:12`.
    fn briefly(&self, line: u64) -> String {
        format!("{} {}:{line}", self.name, self.file)
    }

    /// Kind, name and place: `method Cart.total, shop/cart.py:12`.
    fn placed(&self, line: Option<u64>) -> String {
        let place = line.map_or_else(|| self.file.to_owned(), |line| format!("{}:{line}", self.file));
        if self.name.is_empty() { place } else { format!("{} {}, {place}", self.kind, self.name) }
    }
}

/// A number with its noun.
fn n_of(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// How to go on after a cut answer; empty for a whole one.
fn next_page(fields: &Fields, say: Wording<'_>) -> String {
    match text_of(fields, "next_cursor") {
        "" => String::new(),
        cursor => say(&format!("; the next with next_cursor {cursor}")),
    }
}

#[cfg(test)]
mod tests;
