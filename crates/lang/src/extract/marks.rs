//! Marks of a file and of its definitions: modifiers, exports, macros, blocks, build conditions, and names put together at
//! run time. They are found once, when a file is read, and kept with its facts.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use super::locals::is_part;
use crate::facts::Builder;
use crate::languages::{Conventions, Cx, Public};
use codelode_base::model::{Detail, Kind, Marks, Span, Symbol};

pub use crate::facts::{FileMarks, marks};

/// The longest export statement, in bytes.
const FAR: usize = 8_192;
/// The part of a file, in bytes, that is searched for a build condition.
const HEAD: usize = 4_096;

/// The marks of one definition of a file, by the file's facts.
pub fn marks_of(packed: &[u8], symbol: u32) -> Marks {
    marks(packed).symbols.get(symbol as usize).copied().unwrap_or_default()
}

/// Marks that a block gives to its members: `#[pymethods] impl Shop { … }`, `impl Display for Shop { … }`.
pub(super) fn of_block(cx: &Cx<'_, '_>, block: Node<'_>) -> Marks {
    let (source, rules) = (cx.source(), cx.conventions());
    let texts = || cx.attributes().iter().filter_map(|attribute| attribute.of(source).strip_prefix(b"#["));
    let registers = |text: &[u8]| {
        let path = &text[..text.iter().position(|byte| !is_part(byte) && *byte != b':').unwrap_or(text.len())];
        let name = path.rsplit(|byte| *byte == b':').next().unwrap_or(path);
        !rules.plain_decorators.iter().any(|plain| plain.as_bytes() == name)
    };
    let is_of_tests =
        |text: &[u8]| rules.test_decorators.iter().any(|mark| mark.ends_with(')') && text.starts_with(mark.as_bytes()));
    let mut marks = Marks::default();
    marks.add(Marks::REGISTERED, texts().any(registers));
    marks.add(Marks::OF_TESTS, texts().any(is_of_tests));
    marks.add(Marks::FILLS_IN, block.child_by_field_name("trait").is_some());
    marks
}

/// Adds the marks that the text around each name gives.
pub(super) fn mark(rules: &Conventions, source: &[u8], symbols: &mut [Symbol]) {
    let exported = if let Public::Exported(_) = rules.public { exported(source) } else { FxHashSet::default() };
    for index in 0..symbols.len() {
        let symbol = &symbols[index];
        let parent = symbol.parent.map(|parent| &symbols[parent as usize]);
        let (before, name) = (words_before(source, symbol), String::from_utf8_lossy(symbol.name.of(source)));
        let is_private = says(&before, "private");
        let is_public = match rules.public {
            Public::Unless(mark) => !name.starts_with(mark),
            Public::Capital => name.starts_with(char::is_uppercase),
            Public::All => true,
            Public::Word(words) => words.iter().any(|word| says(&before, word)) || parent.is_some_and(is_interface),
            Public::Exported(words) => {
                // Members of an exported definition carry a mark only if they are not public.
                let says_it = |word: &&str| says(&before, word) || word.ends_with('.') && before.contains(*word);
                words.iter().any(says_it)
                    || parent.is_some_and(|around| {
                        is_interface(around)
                            || matches!(around.kind, Kind::Class | Kind::Type) && !is_private && !name.starts_with('#')
                    })
                    || parent.is_none() && exported.contains(symbol.name.of(source))
            }
        };
        let is_in_parts = || parent.is_some_and(|around| says(&words_before(source, around), "partial"));
        let mut marks = symbol.marks;
        marks.add(Marks::PUBLIC, is_public);
        marks.add(Marks::PRIVATE, is_private && !is_in_parts());
        marks.add(Marks::OPERATOR, says(&before, "operator"));
        marks.add(Marks::OVERRIDES, (rules.may_override)(&before, &name) || parent.is_some_and(is_interface));
        marks.add(Marks::OF_MEMBER, is_of_member(source, symbol.name));
        marks.add(Marks::EXPOSED, is_exposed(source, symbol, rules.directives));
        symbols[index].marks = marks;
    }
}

/// Records the marks of a file and of its symbols with its facts.
pub(super) fn record(rules: &Conventions, source: &[u8], symbols: &[Symbol], facts: &mut Builder) {
    let has = |word: &[u8]| memchr::memmem::find(source, word).is_some();
    let head = &source[..source.len().min(HEAD)];
    let opens = |opening: &&str| !opening.starts_with("#[") && memchr::memmem::find(head, opening.as_bytes()).is_some();
    let gives =
        |line: &[u8]| rules.wildcards.iter().any(|words| memchr::memmem::find(line, words.as_bytes()).is_some());
    let wildcards = match rules.wildcards {
        [] => Vec::new(),
        _ => facts.imported_at().filter(|at| lines_that_import(source, *at).any(gives)).collect(),
    };
    facts.marks = FileMarks {
        is_module: matches!(rules.public, Public::Exported(_)) && imports_or_exports(source),
        is_conditional: rules.conditions.iter().any(opens),
        is_started: names_interpreter(source) || rules.started.is_some_and(|said| has(said.as_bytes())),
        is_program: (rules.is_program)(source),
        packages: (rules.packages_in)(source),
        beginnings: beginnings(source, rules.reflection),
        wildcards,
        symbols: symbols.iter().map(|symbol| symbol.marks).collect(),
    };
}

/// Whether a file says that it is a module, by what it imports or exports.
fn imports_or_exports(source: &[u8]) -> bool {
    let words = [&b"import "[..], b"export ", b"export{", b"require(", b"exports"];
    words.into_iter().any(|word| memchr::memmem::find(source, word).is_some())
}

fn is_interface(symbol: &Symbol) -> bool {
    matches!(symbol.detail, Detail::Interface | Detail::Trait | Detail::Annotation)
}

/// Whether a name is that of a member with a value: `{ name: function () {} }`, `object.name = function () {}`.
fn is_of_member(source: &[u8], name: Span) -> bool {
    let after = source.get(name.end as usize..).unwrap_or_default().trim_ascii_start();
    let before = source.get(..name.start as usize).unwrap_or_default().trim_ascii_end();
    after.starts_with(b":") || before.ends_with(b".") || before.ends_with(b"->")
}

/// Whether a directive is among the line comments directly above a definition.
fn is_exposed(source: &[u8], symbol: &Symbol, directives: &[&str]) -> bool {
    let above = source.get(..symbol.span.start as usize).unwrap_or_default();
    let lines = above.trim_ascii_end().rsplit(|byte| *byte == b'\n');
    let mut comments = lines.take_while(|line| line.starts_with(b"//"));
    !directives.is_empty()
        && comments.any(|line| directives.iter().any(|directive| line.starts_with(directive.as_bytes())))
}

/// Bytes of a definition's beginning, and of what stands directly before its name, in which modifiers are looked for.
const MODIFIERS: usize = 500;

/// The words before a definition's name, without comments: `public /* for now */ static`.
fn words_before(source: &[u8], symbol: &Symbol) -> String {
    let before = Span { start: symbol.span.start, end: symbol.name.start.max(symbol.span.start) };
    let text = before.of(source);
    // Thousands of fields may share one beginning.
    let text = match text.len() > 2 * MODIFIERS {
        true => [&text[..MODIFIERS], b" ", &text[text.len() - MODIFIERS..]].concat(),
        false => text.to_vec(),
    };
    let text = String::from_utf8_lossy(&text);
    let mut pieces = text.split("/*");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |words, piece| words + " " + piece.split_once("*/").map_or("", |(_, after)| after))
}

/// Whether a text contains a whole word.
fn says(text: &str, word: &str) -> bool {
    text.split(char::is_whitespace).any(|own| own == word)
}

/// The names in `export { a, b as c }`, `export default a`, `module.exports = a`, `module.exports = { a, b: c }` and
/// `exports.a = b`.
fn exported(text: &[u8]) -> FxHashSet<&[u8]> {
    let mut names = FxHashSet::default();
    for at in memchr::memmem::find_iter(text, b"export") {
        let rest = &text[at..(at + FAR).min(text.len())];
        let Some(value) = exported_value(rest) else { continue };
        match value.strip_prefix(b"{") {
            Some(inner) => {
                let inner = &inner[..memchr::memchr(b'}', inner).unwrap_or(inner.len())];
                names.extend(inner.split(|byte| !is_part(byte)).filter(|word| !word.is_empty()));
            }
            None => {
                let end = value.iter().position(|byte| !is_part(byte)).unwrap_or(value.len());
                names.extend((end > 0).then(|| &value[..end]));
            }
        }
    }
    names
}

/// The value of the export statement that begins here.
pub fn exported_value(text: &[u8]) -> Option<&[u8]> {
    let text = match text.strip_prefix(b"exports") {
        Some(rest) => {
            let named = rest.strip_prefix(b".").unwrap_or(rest);
            let end = named.iter().position(|byte| !is_part(byte)).unwrap_or(named.len());
            let value = named[end..].trim_ascii_start().strip_prefix(b"=")?;
            (value.first() != Some(&b'=')).then_some(value)?
        }
        None => {
            let rest = text.strip_prefix(b"export")?.trim_ascii_start();
            let value = rest.strip_prefix(b"type ").unwrap_or(rest).trim_ascii_start();
            match value.first() {
                Some(b'{') => value,
                Some(b'=') => &value[1..],
                _ => rest.strip_prefix(b"default ")?,
            }
        }
    };
    Some(text.trim_ascii_start())
}

/// Whether a text is a script, which names its interpreter. In Rust, `#![…]` is an attribute.
fn names_interpreter(text: &[u8]) -> bool {
    text.strip_prefix(b"#!").is_some_and(|rest| !rest.starts_with(b"["))
}

/// The line of an import, and other lines with the same quoted path. A file may be imported more than once.
fn lines_that_import(content: &[u8], at: u32) -> impl Iterator<Item = &[u8]> {
    let line = line_at(content, at);
    let quote = line.iter().rposition(|byte| matches!(byte, b'"' | b'\''));
    let path = quote.and_then(|end| {
        let start = memchr::memrchr(line[end], &line[..end])?;
        Some(&line[start..=end])
    });
    let others = path.into_iter().flat_map(|path| memchr::memmem::find_iter(content, path));
    std::iter::once(line).chain(others.map(|at| line_at(content, at as u32)))
}

/// The line around a byte.
fn line_at(content: &[u8], at: u32) -> &[u8] {
    let at = (at as usize).min(content.len());
    let start = memchr::memrchr(b'\n', &content[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &content[at..]).map_or(content.len(), |newline| at + newline);
    &content[start..end]
}

/// Beginnings of names that a file composes: `"do_" + name`, `"do_%s" % name`, `` [`on${event}`] ``.
fn beginnings(text: &[u8], reflection: &[&str]) -> Vec<Span> {
    let is_index = reflection.contains(&"[");
    // A shorter beginning would fit almost every name.
    let least = if is_index { 2 } else { 3 };
    if !is_index && !reflection.iter().any(|word| memchr::memmem::find(text, word.as_bytes()).is_some()) {
        return Vec::new();
    }
    let may_be = |quote: &usize| !is_index || text[..*quote].ends_with(b"[") || text[..*quote].ends_with(b"eval(");
    let quotes = memchr::memchr3_iter(b'"', b'\'', b'`', text).filter(may_be);
    quotes.filter_map(|quote| beginning_at(text, quote)).filter(|name| name.len() >= least).collect()
}

/// The name after a quote, if the code appends more to it.
fn beginning_at(text: &[u8], quote: usize) -> Option<Span> {
    let after = &text[quote + 1..];
    let end = after.iter().position(|byte| !is_part(byte))?;
    let (name, rest) = after.split_at(end);
    let whole = Span::new(quote + 1, quote + 1 + end);
    match rest.first()? {
        // The `$` of a template placeholder is no part of the name.
        b'{' => Some(Span::new(quote + 1, quote + 1 + end - usize::from(name.ends_with(b"$")))),
        b'%' => Some(whole),
        // `name.startswith("do_")` selects among all names.
        close if *close == text[quote] && text[..quote].ends_with(b".startswith(") => Some(whole),
        close if *close == text[quote] => rest[1..].trim_ascii_start().starts_with(b"+").then_some(whole),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{exported, marks};
    use crate::extract::extract;
    use crate::languages::of_file;
    use codelode_base::model::Marks;

    /// The names of the definitions with a mark.
    fn check(path: &str, source: &str, mark: Marks, expected: &str) {
        let spec = of_file(path, b"").expect("it is built in").1;
        let extraction = extract(spec, source.as_bytes());
        let kept = marks(&extraction.facts).symbols;
        assert_eq!(kept.len(), extraction.symbols.len());
        let marked = extraction.symbols.iter().zip(kept).filter(|(_, kept)| kept.has(mark));
        let names: Vec<&str> =
            marked.map(|(symbol, _)| &source[symbol.name.start as usize..symbol.name.end as usize]).collect();
        assert_eq!(names.join(" "), expected, "{source}");
    }

    #[test]
    fn exports_apart_from_definitions_are_read() {
        let text = b"export { a, b as c };\nmodule.exports = D;\nmodule.exports = { e, f: g };\nexports.h = i;\nexport default j\n\
                     exports == k";
        let mut names: Vec<&[u8]> = exported(text).into_iter().collect();
        names.sort_unstable();
        assert_eq!(names.join(&b' '), b"D a as b c e f g i j");
    }

    #[test]
    fn modifiers_and_exports_make_public() {
        check("a.rs", "pub fn a() {}\nfn b() {}\ntrait C { fn d(&self); }\n", Marks::PUBLIC, "a d");
        check(
            "a.js",
            "export function a() {}\nfunction b() {}\nfunction c() {}\nmodule.exports = { c };\n",
            Marks::PUBLIC,
            "a c",
        );
        check("A.java", "class A { private /* public */ void b() {} public void c() {} }\n", Marks::PUBLIC, "c");
        check(
            "a.cs",
            "class A { private void B() {} }\npartial class C { private void D() {} }\n",
            Marks::PRIVATE,
            "B",
        );
    }

    #[test]
    fn what_a_macro_is_given_is_marked() {
        check("a.rs", "fn a() {}\nmake! { fn b() {} }\nfn c() {}\n", Marks::IN_MACRO, "b");
    }

    #[test]
    fn blocks_mark_their_members() {
        let text = "#[cfg(test)]\nimpl A { fn b() {} }\n#[pymethods]\nimpl A { fn c() {} }\nimpl B for A { fn d() {} }\nfn e() {}\n";
        check("a.rs", text, Marks::OF_TESTS, "b");
        check("a.rs", text, Marks::REGISTERED, "c");
        check("a.rs", text, Marks::FILLS_IN, "d");
    }

    #[test]
    fn a_file_tells_what_it_is() {
        let read = |path: &str, source: &str| {
            let spec = of_file(path, b"").expect("it is built in").1;
            let found = marks(&extract(spec, source.as_bytes()).facts);
            let text = |span: &codelode_base::model::Span| source[span.start as usize..span.end as usize].to_owned();
            let flags = [found.is_module, found.is_conditional, found.is_started, found.is_program];
            let names: Vec<String> = found.beginnings.iter().map(text).collect();
            (flags, names.join(" "), found.wildcards.len())
        };
        assert_eq!(read("a.go", "//go:build linux\npackage main\n"), ([false, true, false, true], String::new(), 0));
        assert_eq!(
            read("a.py", "#!/usr/bin/python\ngetattr(a, 'do_' + b)\n"),
            ([false, false, true, false], "do_".into(), 0)
        );
        assert_eq!(
            read("a.ts", "export * from './b';\nimport { c } from './c';\n"),
            ([true, false, false, false], String::new(), 1)
        );
    }
}
