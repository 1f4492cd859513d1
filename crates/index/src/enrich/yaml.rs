//! YAML as plain data.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// The deepest nesting that is read.
const DEEPEST: usize = 64;
/// The most values in a file.
const MOST: usize = 200_000;

/// The first document of a text; `None` if it is malformed. Anchors are not followed.
pub(super) fn value(text: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(text).ok()?;
    // Other parsers accept a closing bracket of a list in the first column, although it should be indented.
    let indented = || {
        let line = |line: &str| if line.starts_with([']', '}']) { format!(" {line}") } else { line.to_owned() };
        let text: String = text.split_inclusive('\n').map(line).collect();
        first_document(&text)
    };
    first_document(text).or_else(indented)
}

fn first_document(text: &str) -> Option<Value> {
    let mut events = Parser::new_from_str(text);
    let mut left = MOST;
    loop {
        match events.next()?.ok()?.0 {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            Event::StreamEnd | Event::DocumentEnd => return Some(Value::Null),
            event => return node(event, &mut || Some(events.next()?.ok()?.0), 0, &mut left),
        }
    }
}

fn node<'a>(
    event: Event<'a>,
    next: &mut dyn FnMut() -> Option<Event<'a>>,
    depth: usize,
    left: &mut usize,
) -> Option<Value> {
    *left = left.checked_sub(1)?;
    if depth > DEEPEST {
        return None;
    }
    match event {
        Event::MappingStart(..) => {
            let mut map = Map::new();
            loop {
                let key = match next()? {
                    Event::MappingEnd => return Some(Value::Object(map)),
                    event => node(event, next, depth + 1, left)?,
                };
                let first = next()?;
                let value = node(first, next, depth + 1, left)?;
                // Only string keys name something. Written as text, a list or a table as a key would double in length
                // at each level.
                if let Value::String(key) = key {
                    map.insert(key, value);
                }
            }
        }
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            loop {
                match next()? {
                    Event::SequenceEnd => return Some(Value::Array(list)),
                    event => list.push(node(event, next, depth + 1, left)?),
                }
            }
        }
        Event::Scalar(text, ScalarStyle::Plain, ..) if matches!(&*text, "" | "~" | "null") => Some(Value::Null),
        Event::Scalar(text, ScalarStyle::Plain, ..) if matches!(&*text, "true" | "false") => {
            Some(Value::Bool(&*text == "true"))
        }
        Event::Scalar(text, ..) => Some(Value::String(text.into_owned())),
        _ => Some(Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_lists_and_texts_are_read() {
        let text = "version: 2\nmodels:\n  - name: a\n    tags: [x, 'y']\n    ok: true\n    description: >\n      two\n      lines\n    none:\n";
        let expected = json!({
            "version": "2",
            "models": [{"name": "a", "tags": ["x", "y"], "ok": true, "description": "two lines\n", "none": null}]
        });
        assert_eq!(value(text.as_bytes()), Some(expected));
        assert_eq!(value(b""), Some(Value::Null));
    }

    #[test]
    fn malformed_deep_and_strange_texts_are_refused_or_read() {
        assert_eq!(value(b"a: [1"), None);
        assert_eq!(value(b"a: [\n  1,\n]\nb: {\n}\n"), Some(json!({"a": ["1"], "b": {}})));
        assert_eq!(value(&[0xff, 0xfe]), None);
        assert_eq!(value("[".repeat(10_000).as_bytes()), None);
        assert_eq!(value(b"a: &x 1\nb: *x\n").map(|value| value["b"].clone()), Some(Value::Null));
        // Keys within keys would double in length at each level.
        let key = "{".repeat(60) + "a: b" + &"}: c".repeat(59) + "}";
        let read = value(format!("? {key}\n: d\ne: f\n").as_bytes());
        assert_eq!(read, Some(json!({"e": "f"})));
    }
}
