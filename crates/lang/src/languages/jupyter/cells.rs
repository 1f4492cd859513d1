//! Code cells of a notebook: its text with spaces for all that is no code, and with escapes undone in place, so that
//! positions are those of the file.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// Commands for the notebook at the top of a cell that is Python nevertheless.
const OF_PYTHON: [&str; 4] = ["%%time", "%%timeit", "%%capture", "%%prun"];

/// The code alone, a line for each of its own; `None` for a text that is no notebook, such as a pattern.
pub(super) fn alone(text: &[u8]) -> Option<Vec<u8>> {
    text.trim_ascii_start().starts_with(b"{").then_some(())?;
    let mut made: Vec<u8> = text.iter().map(|byte| if *byte == b'\n' { *byte } else { b' ' }).collect();
    let parsed = std::str::from_utf8(text)
        .ok()
        .and_then(|text| parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?.value);
    let Some(Value::Object(notebook)) = parsed else { return Some(made) };
    if is_python(&notebook) {
        let mut pen = CodeWriter::default();
        for cell in cells(&notebook).filter(|cell| word(cell, "cell_type") == Some("code")) {
            let lines = lines(cell);
            let first: String = lines.iter().map(|(text, _)| *text).collect();
            let first = first.trim_start();
            if !first.starts_with("%%") || OF_PYTHON.iter().any(|command| first.starts_with(command)) {
                lines.into_iter().for_each(|(_, range)| pen.write(text, range, &mut made));
            }
        }
        blank_commands(&mut made);
    }
    Some(made)
}

/// Whether the notebook's language is Python, or not said.
fn is_python(notebook: &Object<'_>) -> bool {
    let Some(about) = notebook.get_object("metadata") else { return true };
    let named = |of: &str, key: &str| about.get_object(of).and_then(|of| Some(of.get_string(key)?.value.to_string()));
    let language = named("language_info", "name").or(named("kernelspec", "language"));
    language.is_none_or(|language| language.eq_ignore_ascii_case("python"))
}

fn cells<'n>(notebook: &'n Object<'n>) -> impl Iterator<Item = &'n Object<'n>> {
    let cells: &'n [Value<'n>] = notebook.get_array("cells").map_or(&[], |Array { elements, .. }| elements);
    cells.iter().filter_map(|cell| cell.as_object())
}

fn word<'n>(cell: &'n Object<'n>, key: &str) -> Option<&'n str> {
    cell.get_string(key).map(|text| &*text.value)
}

/// The texts of a cell with their places, without quotes.
fn lines<'n>(cell: &'n Object<'n>) -> Vec<(&'n str, Range<usize>)> {
    let literals = match cell.get("source").map(|source| &source.value) {
        Some(Value::Array(lines)) => lines.elements.iter().collect(),
        Some(line) => vec![line],
        None => Vec::new(),
    };
    let literals = literals.into_iter().filter_map(|literal| literal.as_string_lit());
    literals.map(|literal| (&*literal.value, literal.range.start + 1..literal.range.end - 1)).collect()
}

/// Writes code into a text of spaces and line breaks.
#[derive(Default)]
struct CodeWriter {
    /// The end of what is written.
    end: usize,
    /// Line breaks more than the file has so far.
    ahead: usize,
    /// Quotes of the text of Python that is open: none, one, or three.
    open: usize,
}

impl CodeWriter {
    /// Writes a literal's text. The line break before it is moved to directly before it, as indentation counts there.
    fn write(&mut self, text: &[u8], literal: Range<usize>, made: &mut [u8]) {
        let quote = literal.start - 1;
        let gap = &mut made[self.end..quote];
        match memchr::memrchr(b'\n', gap) {
            Some(last) => gap[last] = b' ',
            None => self.ahead += 1,
        }
        for spare in gap.iter_mut().filter(|byte| **byte == b'\n') {
            if self.ahead > 0 {
                (*spare, self.ahead) = (b' ', self.ahead - 1);
            }
        }
        made[quote] = b'\n';
        let mut at = literal.start;
        while at < literal.end {
            let (wide, byte) = match (text[at], text.get(at + 1)) {
                (b'\\', Some(b'"')) => {
                    // Quotes stay together, as three of them are one mark, and at the outer side of what they enclose.
                    let pairs = text[at..literal.end].chunks_exact(2);
                    let many = pairs.take_while(|pair| *pair == b"\\\"").count();
                    let first = if self.closes(many) { at + many } else { at };
                    made[first..first + many].fill(b'"');
                    at += 2 * many;
                    continue;
                }
                // The next literal begins a line of its own.
                (b'\\', Some(b'n')) if at + 2 >= literal.end => (2, b' '),
                (b'\\', Some(b'n')) => {
                    self.ahead += 1;
                    self.open = if self.open == 1 { 0 } else { self.open };
                    (2, b'\n')
                }
                (b'\\', Some(b't')) => (2, b'\t'),
                (b'\\', Some(b'\\')) => (2, b'\\'),
                (b'\\', Some(b'/')) => (2, b'/'),
                (b'\\', Some(b'u')) => (6, b' '),
                (b'\\', _) => (2, b' '),
                (byte, _) => (1, byte),
            };
            at = (at + wide).min(literal.end);
            made[at - 1] = byte;
        }
        self.end = literal.end;
        self.open = if self.open == 1 { 0 } else { self.open };
    }

    /// Whether some quotes close a text of Python, rather than open one or stand in it.
    fn closes(&mut self, many: usize) -> bool {
        let closes = self.open > 0 && many >= self.open;
        self.open = match many {
            _ if closes => 0,
            1 | 3 if self.open == 0 => many,
            _ => self.open,
        };
        closes
    }
}

/// Commands of a line that run the Python behind them.
const OVER_PYTHON: [&[u8]; 4] = [b"%time", b"%timeit", b"%prun", b"%memit"];

/// Blanks lines that are commands for the notebook or the shell. A command over Python becomes a condition of its length, as
/// the statement behind it may not be indented.
fn blank_commands(made: &mut [u8]) {
    for line in made.split_mut(|byte| *byte == b'\n') {
        let indent = line.len() - line.trim_ascii_start().len();
        if !matches!(line.get(indent), Some(b'%' | b'!' | b'?')) {
            blank_in_line(line);
            continue;
        }
        match statement(&line[indent..]) {
            Some(length) => {
                let head = &mut line[indent..indent + length];
                head.fill(b' ');
                head[..2].copy_from_slice(b"if");
                head[length - 3..].copy_from_slice(b"1: ");
            }
            None => line.fill(b' '),
        }
    }
}

/// Blanks the marks of help behind a name, and a command whose result is assigned: all but the Python that it runs.
fn blank_in_line(line: &mut [u8]) {
    let end = line.trim_ascii_end().len();
    let marks = line[..end].iter().rev().take_while(|byte| **byte == b'?').count();
    let is_name = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte));
    if marks > 0 && is_name(line[..end - marks].trim_ascii()) {
        line[end - marks..end].fill(b' ');
        return;
    }
    let Some(equals) = line.iter().position(|byte| *byte == b'=') else { return };
    let rest = &line[equals + 1..];
    let at = equals + 1 + rest.len() - rest.trim_ascii_start().len();
    let is_target = line[..equals].split(|byte| *byte == b',').all(|name| is_name(name.trim_ascii()));
    if !is_target || !matches!(line.get(at), Some(b'!' | b'%')) {
        return;
    }
    match statement(&line[at..]) {
        Some(length) => line[at..at + length].fill(b' '),
        None => {
            line[at..].fill(b' ');
            line[at] = b'0';
        }
    }
}

/// The start of the statement behind a command and its options: `%timeit -n 10 f()`.
fn statement(line: &[u8]) -> Option<usize> {
    let is_space = u8::is_ascii_whitespace;
    let mut at = line.iter().position(is_space)?;
    OVER_PYTHON.contains(&&line[..at]).then_some(())?;
    let mut is_option = false;
    loop {
        at += line[at..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        let length = line[at..].iter().position(is_space).unwrap_or(line.len() - at);
        let word = &line[at..at + length];
        let is_number = is_option && word.iter().all(u8::is_ascii_digit);
        is_option = word.starts_with(b"-");
        if !is_option && !is_number {
            return Some(at);
        }
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::alone;

    fn check(text: &str, expected: &str) {
        let made = alone(text.as_bytes()).expect("it is a notebook");
        assert_eq!(made.len(), text.len());
        let made = String::from_utf8(made).expect("it was text");
        let lines: Vec<&str> = made.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn code_alone_is_read() {
        let cell = |source: &str| {
            format!(
                "{{\"cells\": [{{\"cell_type\": \"code\", \"outputs\": [{{\"source\": \"x\"}}], \"source\": {source}}}]}}"
            )
        };
        check(
            &cell(r#"["def f():\n", "    \"\"\"Says \\ é.\"\"\"\n", "\treturn 1"]"#),
            "def f():\n    \"\"\"   Says  \\ é.   \"\"\"\n \treturn 1",
        );
        check(&cell(r#""a = 1\nif a:\n    b()""#), "a = 1\nif a:\n    b()");
        check(&cell(r#"["%matplotlib inline\n", "!pip install x\n", "a = 1"]"#), "a = 1");
        check(
            &cell(r#"["%time a = f(b)\n", "  %timeit -n 10 g()\n", "%timeit\n"]"#),
            "if 1: a = f(b)\n  if         1: g()",
        );
        check(
            &cell(r#"["a, b = !ls -l\n", "x = %timeit -o f()\n", "help?\n", "a != b\n", "y = '%s' % a"]"#),
            "a, b = 0\nx =            f()\nhelp\na != b\ny = '%s' % a",
        );
        check(&cell(r#"["%%bash\n", "rm x"]"#), "");
        check(&cell(r#"["%%time\n", "a = 1"]"#), "a = 1");
        check(r##"{"cells": [{"cell_type": "markdown", "source": ["# a"]}, 3, {"cell_type": "code"}]}"##, "");
        check(
            r#"{"cells": [{"cell_type": "code", "source": "a"}], "metadata": {"kernelspec": {"language": "R"}}}"#,
            "",
        );
        check("{\"cells\": [", "");
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let text = include_str!("sample.ipynb");
        let made = String::from_utf8(alone(text.as_bytes()).expect("it is a notebook")).expect("it was text");
        let line = |text: &str, of: &str| text[..text.find(of).expect("it is there")].matches('\n').count();
        for code in ["import math", "def with_tax", "class Cart", "Cart().total"] {
            assert_eq!(line(&made, code), line(text, code), "{code}");
        }
        assert_eq!(made.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn a_pattern_is_python() {
        assert_eq!(alone(b"f($A)"), None);
    }
}
