//! Round trips through the compact format: values, their text, and the values read back.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{ID_FORM, IDS, render, written};
use crate::answer::tokens;

/// A reader of the format, by the rules at the top of the module: a text that can be read back is unambiguous.
struct Reader<'a> {
    lines: std::iter::Peekable<std::str::Split<'a, char>>,
}

impl<'a> Reader<'a> {
    fn read(text: &'a str) -> Value {
        let mut reader = Self { lines: text.split('\n').peekable() };
        let fields = reader.object(0);
        assert_eq!(reader.lines.next(), None, "all lines belong to something");
        Value::Object(fields)
    }

    fn next(&mut self) -> &'a str {
        self.lines.next().expect("a line")
    }

    fn object(&mut self, indent: usize) -> Map<String, Value> {
        let margin = " ".repeat(indent);
        let mut fields = Map::new();
        while let Some(line) = self.lines.peek().filter(|line| !line.is_empty()).and_then(|l| l.strip_prefix(&margin)) {
            if line.starts_with([' ', '-']) {
                break;
            }
            self.next();
            self.field(line, indent, &mut fields);
        }
        fields
    }

    fn field(&mut self, line: &'a str, indent: usize, fields: &mut Map<String, Value>) {
        let mut rest = line;
        let key = key(&mut rest);
        if let Some(id) = rest.strip_prefix(ID_FORM) {
            read_id(fields, &key, &id[2..]);
            return;
        }
        let value = if rest == ":" {
            Value::Object(self.object(indent + 2))
        } else if let Some(value) = rest.strip_prefix(':') {
            whole(value.strip_prefix(' ').unwrap_or(value))
        } else {
            let (size, rest) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).expect("a size");
            let n: usize = size.split([' ', ',']).next().expect("a number").parse().expect("a number");
            if size.ends_with(" lines") {
                Value::from((0..n).map(|_| self.next()).collect::<Vec<_>>().join("\n"))
            } else if size.ends_with(" symbols") {
                Value::from(self.symbols(n))
            } else if rest == ":" {
                Value::from((0..n).map(|_| self.item(indent)).collect::<Vec<_>>())
            } else {
                self.table(n, size, &rest[1..])
            }
        };
        assert!(fields.insert(key, value).is_none());
    }

    fn item(&mut self, indent: usize) -> Value {
        let first = &self.next()[indent..];
        let mut fields = Map::new();
        self.field(first.strip_prefix("- ").expect("a mark"), indent + 2, &mut fields);
        fields.extend(self.object(indent + 2));
        Value::Object(fields)
    }

    /// Rows of symbols below their files.
    fn symbols(&mut self, n: usize) -> Vec<Value> {
        let mut file = "";
        let mut items = Vec::new();
        while items.len() < n {
            let line = self.next();
            let Some(row) = line.strip_prefix(' ') else {
                file = line;
                continue;
            };
            let mut words = row.splitn(3, ' ');
            let mut word = || words.next().unwrap_or_default();
            let (span, kind, mut rest) = (word(), word(), word());
            let qualified = if rest.starts_with('"') {
                json_prefix(&mut rest).as_str().expect("a name").to_owned()
            } else {
                let (name, after) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
                rest = after;
                name.to_owned()
            };
            rest = rest.strip_prefix(' ').unwrap_or(rest);
            let mut fields = Map::new();
            read_id(&mut fields, "id", &format!("{file}::{qualified}#{kind}"));
            fields.insert("line".to_owned(), span.parse::<u64>().expect("a line").into());
            let signature = if rest.starts_with(['—', '{']) { "".into() } else { part(&mut rest) };
            fields.insert("signature".to_owned(), signature);
            rest = rest.trim_start();
            if let Some(mut after) = rest.strip_prefix("— ") {
                fields.insert("summary".to_owned(), part(&mut after));
                rest = after.trim_start();
            }
            if !rest.is_empty() {
                let Value::Object(others) = inline(&mut rest) else { panic!("an object") };
                fields.extend(others);
            }
            items.push(fields.into());
        }
        items
    }

    fn table(&mut self, n: usize, size: &str, mut rest: &str) -> Value {
        let mut shared = Map::new();
        if rest.starts_with('{') {
            let Value::Object(fields) = inline(&mut rest) else { panic!("an object") };
            shared = fields;
            rest = &rest[1..];
        }
        let id = IDS.into_iter().find(|id| rest.starts_with(&format!("{id}{ID_FORM}\t")));
        let mut by_file = false;
        let mut nested = None;
        if let Some(id) = id {
            rest = &rest[id.len() + ID_FORM.len() + 1..];
        } else if let Some(after) = rest.strip_prefix("file: ") {
            (by_file, rest) = (true, after);
        }
        let mut columns = Vec::new();
        while !rest.is_empty() {
            columns.push(key(&mut rest));
            if let Some(after) = rest.strip_prefix(": ") {
                (nested, rest) = (columns.pop(), after);
            }
            rest = rest.strip_prefix('\t').unwrap_or(rest);
        }
        let n_rows = match size.split_once(" files, ") {
            Some((_, rows)) => rows.split(' ').next().expect("a number").parse().expect("a number"),
            None => n,
        };
        let mut file = "";
        let mut items: Vec<Value> = Vec::new();
        for _ in 0..n_rows {
            let mut line = self.next();
            if (by_file || id.is_some()) && !line.contains('\t') {
                file = line.strip_suffix(if by_file { ":" } else { "::" }).expect("a file");
                if let Some(nested) = &nested {
                    items.push(json!({"file": file, nested: []}));
                }
                line = self.next();
            }
            let mut row = shared.clone();
            let mut cells = line.splitn(columns.len() + usize::from(id.is_some()), '\t');
            if let Some(id) = id {
                let rest = cells.next().expect("an id");
                read_id(&mut row, id, &format!("{file}::{rest}"));
            } else if by_file && nested.is_none() {
                row.insert("file".to_owned(), file.into());
            }
            let mut left = Value::Null;
            for (column, cell) in columns.iter().zip(cells) {
                let value = match cell {
                    "" => {
                        left = Value::Null;
                        continue;
                    }
                    "=" => left.clone(),
                    cell if id.is_some() && cell.starts_with("::") => Value::from(format!("{file}{cell}")),
                    cell => whole(cell),
                };
                left = value.clone();
                row.insert(column.clone(), value);
            }
            match (&nested, items.last_mut()) {
                (Some(nested), Some(item)) => item[nested].as_array_mut().expect("a list").push(row.into()),
                _ => items.push(row.into()),
            }
        }
        assert_eq!(items.len(), n);
        items.into()
    }
}

/// A signature or a summary.
fn part(rest: &mut &str) -> Value {
    if rest.starts_with('"') {
        return json_prefix(rest);
    }
    let braces = if rest.ends_with('}') { rest.find(" {") } else { None };
    let end = rest.find(" — ").or(braces).unwrap_or(rest.len());
    let text = &rest[..end];
    *rest = &rest[end..];
    text.into()
}

/// The fields in an id.
fn read_id(fields: &mut Map<String, Value>, key: &str, id: &str) {
    let (file, rest) = id.split_once("::").expect("a file");
    let (qualified, kind) = rest.rsplit_once('#').expect("a kind");
    fields.insert(key.to_owned(), id.into());
    fields.insert("file".to_owned(), file.into());
    fields.insert("kind".to_owned(), kind.split('~').next().into());
    fields.insert("name".to_owned(), qualified.rsplit('.').next().into());
    fields.insert("qualified_name".to_owned(), qualified.into());
}

fn key(rest: &mut &str) -> String {
    if rest.starts_with('"') {
        let Value::String(key) = json_prefix(rest) else { panic!("a string") };
        return key;
    }
    let end = rest.find([':', '[', '=', '\t']).unwrap_or(rest.len());
    let key = rest[..end].to_owned();
    *rest = &rest[end..];
    key
}

fn json_prefix(rest: &mut &str) -> Value {
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let value = values.next().expect("a value").expect("JSON");
    *rest = &rest[values.byte_offset()..];
    value
}

/// A value that has the rest of its line, or its cell, to itself.
fn whole(text: &str) -> Value {
    if text.starts_with(['"', '[', '{']) {
        let mut rest = text;
        let value = inline(&mut rest);
        assert_eq!(rest, "");
        return value;
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn inline(rest: &mut &str) -> Value {
    let open = rest.chars().next().expect("a value");
    match open {
        '"' => json_prefix(rest),
        '[' | '{' => {
            let close = if open == '[' { ']' } else { '}' };
            *rest = &rest[1..];
            let (mut items, mut fields) = (Vec::new(), Map::new());
            while !rest.starts_with(close) {
                *rest = rest.strip_prefix(',').unwrap_or(rest);
                *rest = rest.strip_prefix(' ').unwrap_or(rest);
                if open == '[' {
                    items.push(inline(rest));
                } else {
                    let key = key(rest);
                    *rest = &rest[1..];
                    *rest = rest.strip_prefix(' ').unwrap_or(rest);
                    fields.insert(key, inline(rest));
                }
            }
            *rest = &rest[1..];
            if open == '[' { items.into() } else { fields.into() }
        }
        _ => {
            let end = rest.find([',', ']', '}']).unwrap_or(rest.len());
            let value = whole(&rest[..end]);
            *rest = &rest[end..];
            value
        }
    }
}

/// Drops scores and the fields that the reader derives from a row's id, and sorts symbols by file.
fn without_derived(value: &mut Value) {
    match value {
        Value::Array(items) => {
            let file =
                |item: &Value| item["id"].as_str().and_then(|id| id.split_once("::")).map(|(file, _)| file.to_owned());
            let is_symbol = |item: &Value| item.get("line").is_some() && item.get("signature").is_some();
            if !items.is_empty() && items.iter().all(|item| is_symbol(item) && file(item).is_some()) {
                let files: Vec<_> = items.iter().map(file).collect();
                items.sort_by_cached_key(|item| files.iter().position(|other| *other == file(item)));
                let fields = items.iter_mut().filter_map(Value::as_object_mut);
                fields.for_each(|fields| {
                    fields.shift_remove("score");
                    if fields.get("summary") == Some(&"".into()) {
                        fields.shift_remove("summary");
                    }
                });
            }
            items.iter_mut().for_each(without_derived);
        }
        Value::Object(fields) => {
            if fields.contains_key("id") || fields.contains_key("symbol_id") {
                for key in ["file", "kind", "name", "qualified_name"] {
                    fields.shift_remove(key);
                }
            }
            fields.values_mut().for_each(without_derived);
        }
        _ => {}
    }
}

fn check_lossless(value: &Value) {
    let text = written(value.as_object().expect("an answer"));
    if text.is_empty() {
        return assert_eq!(*value, json!({}));
    }
    let mut read = Reader::read(&text);
    let mut value = value.clone();
    without_derived(&mut read);
    without_derived(&mut value);
    assert_eq!(read, value, "{text}");
}

fn check(value: Value, expected: Expect) {
    check_lossless(&value);
    let text = render(&value);
    assert!(text.len() <= value.to_string().len());
    expected.assert_eq(&text);
}

#[test]
fn hits_stand_below_their_files() {
    let hit = |file: &str, qualified: &str, kind: &str, line: u32, signature: &str, summary: &str| {
        let name = qualified.rsplit('.').next();
        json!({"id": format!("{file}::{qualified}#{kind}"), "kind": kind.split('~').next(), "name": name, "file": file, "line": line,
               "signature": signature, "summary": summary, "score": f64::from(line) / 10.0})
    };
    let mut twice = hit(
        "django/http/response.py",
        "HttpResponseBase.delete_cookie",
        "method",
        268,
        "def delete_cookie(self, key)",
        "",
    );
    twice["overloads"] = 2.into();
    check(
        json!({"result_count": 4, "results": [
            hit("django/http/response.py", "HttpResponseBase.set_cookie", "method", 214,
                "def set_cookie(self, key, value='')", "Set a cookie, \"=\"."),
            hit("django/http/cookie.py", "parse_cookie", "function", 6, "def parse_cookie(cookie)", "Return a dictionary."),
            twice,
            hit("django/test/client.py", "Client.cookies", "method~2", 9, "def cookies — x", "Words."),
        ], "_meta": {"timing_ms": 1.84, "repo": "local/django-8a4b2c1d", "freshness": "fresh"}}),
        expect![[r#"
            result_count:4
            results[4 symbols]:
            django/http/response.py
             214 method HttpResponseBase.set_cookie def set_cookie(self, key, value='') — Set a cookie, "=".
             268 method HttpResponseBase.delete_cookie def delete_cookie(self, key) {overloads:2}
            django/http/cookie.py
             6 function parse_cookie def parse_cookie(cookie) — Return a dictionary.
            django/test/client.py
             9 method~2 Client.cookies "def cookies — x" — Words.
            _meta: {timing_ms:1.84, repo: local/django-8a4b2c1d, freshness: fresh}"#]],
    );
}

#[test]
fn members_are_indented_in_an_outline() {
    let item = |qualified: &str, kind: &str, line: u32, end: u32, signature: &str| {
        json!({"id": format!("a.py::{qualified}#{kind}"), "kind": kind, "name": qualified.rsplit('.').next(),
               "signature": signature, "line": line, "end_line": end})
    };
    let mut class = item("Box", "class", 1, 9, "class Box(Base)");
    class["summary"] = "Holds one.".into();
    class["children"] =
        json!([item("Box.open", "method", 2, 5, "def open(self)"), item("Box.lid", "constant", 7, 7, "self.cover")]);
    let outline = json!({"file": "a.py", "language": "python", "symbols": [class, item("main", "function", 11, 12, "def main()")]});
    expect![[r#"
        file: a.py
        language: python
        symbols[4 symbols]:
         1-9 class Box(Base) — Holds one.
          2-5 method def open(self)
          7 constant lid self.cover
         11-12 function def main()"#]]
    .assert_eq(&render(&outline));
}

#[test]
fn a_name_with_spaces_changes_no_other_row() {
    let item = |name: &str, line: u32| {
        json!({"id": format!("a.ts::codec.{name}#method"), "kind": "method", "name": name, "signature": "(input) => input",
               "line": line})
    };
    check(
        json!({"results": [item("from a to b", 1), item("decode", 2)]}),
        expect![[r#"
            results[2 symbols]:
            a.ts
             1 method "codec.from a to b" (input) => input
             2 method codec.decode (input) => input"#]],
    );
}

#[test]
fn rows_of_a_file_stand_together() {
    check(
        json!({"reference_count": 3, "references": [
            {"file": "a.py", "line": 3, "text": "add(1, 2)", "confidence": "resolved", "symbol": "a.py::main#function"},
            {"file": "a.py", "line": 9, "text": "\tx = add(\t3)", "confidence": "resolved"},
            {"file": "b.py", "line": 1, "text": "from a import add", "confidence": "resolved", "symbol": null},
        ]}),
        expect![[r#"
            reference_count:3
            references[3] {confidence: resolved} file: line	symbol	text
            a.py:
            3	a.py::main#function	add(1, 2)
            9			x = add(	3)
            b.py:
            1	null	from a import add"#]],
    );
    check(
        json!({"results": [
            {"file": "a.py", "matches": [{"line": 3, "text": "3"}, {"line": 4, "text": ""}]},
            {"file": "b.py", "matches": [{"line": 1, "text": "- a: b", "before": ["x, y", "z"]}]},
        ], "next": [{"a": 1, "b": 2}, {"a": 2, "b": "::x"}]}),
        expect![[r#"
            results[2 files, 3 rows] file: matches: line	text	before
            a.py:
            3	"3"	
            4	""	
            b.py:
            1	- a: b	["x, y", z]
            next[2] a	b
            1	2
            2	"::x""#]],
    );
}

#[test]
fn text_of_several_lines_stands_as_it_is() {
    check(
        json!({"id": "a.py::f#function", "source": "def f(x):\n    # a comment that makes it long enough to matter\n\n    \
               return x + 1 if x else \"nothing at all\"\n", "line": 7, "decorators": [], "parent": null,
               "scope": {"languages": {"python": 2, "go": 1}}, "_meta": {"timing_ms": 0.2}}),
        expect![[r#"
            id: a.py::f#function
            line:7
            decorators: []
            parent: null
            scope: {languages: {python:2, go:1}}
            _meta: {timing_ms:0.2}
            source[5 lines]:
            def f(x):
                # a comment that makes it long enough to matter

                return x + 1 if x else "nothing at all"
        "#]],
    );
}

#[test]
fn trees_are_indented() {
    let file = |path: &str| json!({"path": path, "type": "file", "language": "python", "symbol_count": 12});
    check(
        json!({"path_prefix": "", "tree": [
            {"path": "src", "type": "dir", "children": [
                file("src/a.py"), file("src/b.py"), file("src/c.py"),
                {"path": "src/inner", "type": "dir", "children": [file("src/inner/d.py"), file("src/inner/e.py")]},
            ]},
            file("setup.py"),
        ]}),
        expect![[r#"
            path_prefix: ""
            tree[2]:
            - path: src
              type: dir
              children[4] path	type	language	symbol_count	children
            src/a.py	file	python	12	
            src/b.py	file	python	12	
            src/c.py	file	python	12	
            src/inner	dir			[{path: src/inner/d.py, type: file, language: python, symbol_count:12}, {path: src/inner/e.py, type: file, language: python, symbol_count:12}]
            - path: setup.py
              type: file
              language: python
              symbol_count:12"#]],
    );
}

#[test]
fn strings_that_look_like_something_else_are_quoted() {
    check(
        json!({"a": "true", "b": "12", "c": "", "d": " x", "e": "[1]", "f": "two\nlines", "g h": "x: y", "h": "-", "i": -0.5,
               "j": ["1", 1, "a, b", null, {"k": "}", "l": []}], "m": "1e5", "n": "é\u{7}", "o": {}, "-p": "plain text"}),
        expect![[
            r#"{"a":"true","b":"12","c":"","d":" x","e":"[1]","f":"two\nlines","g h":"x: y","h":"-","i":-0.5,"j":["1",1,"a, b",null,{"k":"}","l":[]}],"m":"1e5","n":"é\u0007","o":{},"-p":"plain text"}"#
        ]],
    );
}

fn any_string() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,12}",
        "(\\PC|[\t\r\n\"'=:,{}\\[\\]#~|-]){0,12}",
        "[a-c/]{1,3}\\.py(::[A-C.]{1,4}#(class|method))?",
        "([a-z ]{0,40}\n){2,5}[a-z]{0,30}",
        Just("=".to_owned()),
        Just("a repeated long string".to_owned()),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
        any_string().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            any_fields(inner.clone()).prop_map(Value::from),
            // Rows: objects with the same few keys.
            prop::collection::vec(any_fields(inner), 1..6).prop_map(Value::from),
        ]
    })
}

/// Lists as tools return them: of symbols, of places, of files with their places.
fn any_rows() -> impl Strategy<Value = Value> {
    let file = || prop::sample::select(vec!["a.py", "b.py", "b/c d.py"]);
    let symbol = (file(), "[A-C](\\.[a-c \"]{1,3})?", prop::sample::select(vec!["class", "method~1"]));
    let symbol = symbol.prop_map(|(file, qualified, kind)| (file, format!("{file}::{qualified}#{kind}")));
    let hit = (symbol.clone(), any_string(), prop::option::of(symbol), any::<bool>(), 0..3u32);
    let hit = hit.prop_map(|((file, id), text, parent, is_named, line)| {
        let mut hit = json!({"id": id, "signature": text, "summary": text, "line": line});
        if is_named {
            hit["file"] = file.into();
        }
        if let Some((_, parent)) = parent {
            hit["parent"] = parent.into();
        }
        hit
    });
    let place = || {
        (file(), any_string(), 0..3u32).prop_map(|(file, text, line)| json!({"file": file, "line": line, "text": text}))
    };
    let lines = prop::collection::vec((any_string(), 0..3u32), 1..4);
    let in_file = (file(), lines).prop_map(|(file, lines)| {
        let lines = lines.into_iter().map(|(text, line)| json!({"line": line, "text": text}));
        json!({"file": file, "matches": lines.collect::<Vec<_>>()})
    });
    prop_oneof![
        prop::collection::vec(hit, 1..7).prop_map(Value::from),
        prop::collection::vec(place(), 1..7).prop_map(Value::from),
        prop::collection::vec(in_file, 1..5).prop_map(Value::from),
    ]
}

fn any_fields(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![
        8 => prop::sample::select(vec!["id", "file", "name", "kind", "line", "text", "matches", "source", "symbol_id"])
            .prop_map(str::to_owned),
        1 => any_string(),
    ];
    prop::collection::vec((key, value), 0..5).prop_map(|fields| {
        let sound = |(key, value): &(String, Value)| match key.as_str() {
            // Only these have a special form.
            "id" | "symbol_id" => value.as_str().is_some_and(|text| text.contains('#')),
            _ => true,
        };
        fields.into_iter().filter(sound).collect()
    })
}

proptest! {
    #[test]
    fn what_was_written_can_be_read(fields in any_fields(any_value())) {
        check_lossless(&Value::Object(fields));
    }

    #[test]
    fn lists_can_be_read(first in any_rows(), second in any_rows(), last in any_string()) {
        check_lossless(&json!({"first": first, "inner": {"second": second, "last": last}, "end": 1}));
    }

    #[test]
    fn compact_is_never_larger(fields in any_fields(any_value())) {
        let value = Value::Object(fields);
        let (compact, json) = (render(&value), value.to_string());
        prop_assert!(compact.len() <= json.len());
        prop_assert!(tokens::estimate(&compact) <= tokens::estimate(&json));
    }
}
