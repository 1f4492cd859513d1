//! Objective-C as its grammar can read it: without what C leaves out, and with enumerations instead of the macros for them.

use std::ops::Range;

use crate::languages::c::preprocess::preprocess as preprocess_c;
use crate::languages::sections::{all_but_first, blank, conditions, first_code, has_one_body, sections};

/// The text that the grammar reads instead, of the same length; `None` if it is the text itself.
///
/// - `typedef NS_ENUM(Type, Name) {` and its like are `enum Name {`.
/// - A macro alone in a line between declarations is left out, and so is one behind a property or a method that is declared.
/// - So is a condition around an `else`, and all but the first of several heads of one body.
pub(super) fn preprocess(text: &[u8]) -> Option<Vec<u8>> {
    let mut made = preprocess_c(text);
    let mut changes = lines(made.as_deref().unwrap_or(text));
    for condition in conditions(made.as_deref().unwrap_or(text)) {
        let is_else = |part: Range<usize>| {
            let line = first_code(&text[part], b"//").unwrap_or_default().trim_ascii_start();
            line.strip_prefix(b"else").is_some_and(|rest| rest.first().is_none_or(|byte| !is_word(byte)))
        };
        if has_one_body(made.as_deref().unwrap_or(text), &condition) {
            changes.extend(all_but_first(&condition).map(Change::Blank));
        } else if sections(&condition).any(is_else) {
            changes.extend(condition.into_iter().map(Change::Blank));
        }
    }
    for change in changes {
        let made = made.get_or_insert_with(|| text.to_vec());
        match change {
            Change::Blank(part) => blank(made, part),
            Change::Enum(whole, word, name) => {
                blank(made, whole.start..name.start);
                blank(made, name.end..whole.end);
                made[word..word + ENUM.len()].copy_from_slice(ENUM);
            }
        }
    }
    made
}

const ENUM: &[u8] = b"enum";

/// A change of a text.
enum Change {
    /// A part is left out.
    Blank(Range<usize>),
    /// A macro, with a `typedef` before it, becomes a word that begins there; this name in it stays.
    Enum(Range<usize>, usize, Range<usize>),
}

/// The changes of single lines.
fn lines(text: &[u8]) -> Vec<Change> {
    let mut found = Vec::new();
    // The last byte of code so far; whether the line goes on with a directive.
    let (mut before, mut in_directive) = (b';', false);
    let mut start = 0;
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let place = start;
        start += line.len();
        let code = line.trim_ascii_end();
        let is_directive = in_directive || code.trim_ascii_start().starts_with(b"#");
        in_directive = is_directive && code.ends_with(b"\\");
        if is_directive {
            before = b';';
            continue;
        }
        let Some(last) = code.last().filter(|_| !code.starts_with(b"//")) else { continue };
        let mut is_before_class = || lines.peek().is_some_and(|next| next.starts_with(b"@"));
        let is_alone = is_macro(code) || is_before_class() && behind(code, true).is_some_and(|part| part.start == 0);
        if is_alone && matches!(before, b';' | b'}') {
            found.push(Change::Blank(place..place + code.len()));
            continue;
        }
        let is_property = code.starts_with(b"@property");
        if is_property || is_of_method(code) {
            let declared = code.strip_suffix(b";").or_else(|| code.strip_suffix(b"{"));
            let part = declared.and_then(|declared| behind(declared, is_property));
            found.extend(part.map(|part| Change::Blank(place + part.start..place + part.end)));
        }
        if let Some((whole, word, name)) = enumeration(code) {
            let moved = |part: Range<usize>| place + part.start..place + part.end;
            found.push(Change::Enum(moved(whole), place + word, moved(name)));
        }
        before = if code.starts_with(b"@end") { b';' } else { *last };
    }
    found
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Whether a line begins a method, or goes on with the next word of its name.
fn is_of_method(code: &[u8]) -> bool {
    let code = code.trim_ascii_start();
    let word = code.iter().take_while(|byte| is_word(byte)).count();
    code.starts_with(b"-") || code.starts_with(b"+") || word > 0 && code[word..].starts_with(b":(")
}

/// Whether a line is a word of capitals with an underscore, as `NS_ASSUME_NONNULL_BEGIN`.
fn is_macro(code: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    code.iter().all(fits) && code.contains(&b'_') && code[0].is_ascii_uppercase()
}

/// The macros that a declaration ends in, as `NS_SWIFT_NAME(a)`. A word alone may be the name of what is declared.
fn behind(declared: &[u8], with_arguments: bool) -> Option<Range<usize>> {
    let mut start = declared.len();
    loop {
        let rest = declared[..start].trim_ascii_end();
        let mut at = rest.len();
        let has_arguments = rest.ends_with(b")");
        if has_arguments {
            let mut open = 0;
            at = rest.iter().rposition(|byte| {
                open += i32::from(*byte == b')') - i32::from(*byte == b'(');
                open == 0
            })?;
        } else if with_arguments {
            break;
        }
        let word = at - rest[..at].iter().rev().take_while(|byte| is_word(byte)).count();
        let before = rest[..word].trim_ascii_end();
        let is_apart = before.is_empty() || before.len() < word && (has_arguments || !before.ends_with(b")"));
        if word == at || !is_macro(&rest[word..at]) || !is_apart {
            break;
        }
        start = word;
    }
    (start < declared.len()).then_some(start..declared.len())
}

/// `typedef NS_ENUM(Type, Name)` at the beginning of a line: all of it, its macro, its name.
fn enumeration(code: &[u8]) -> Option<(Range<usize>, usize, Range<usize>)> {
    let indent = code.len() - code.trim_ascii_start().len();
    let after = code[indent..].strip_prefix(b"typedef ").unwrap_or(&code[indent..]).trim_ascii_start();
    let word = code.len() - after.len();
    let open = word + after.iter().position(|byte| !is_word(byte))?;
    let is_enumeration = code[word..open].ends_with(b"_ENUM") || code[word..open].ends_with(b"_OPTIONS");
    if !is_enumeration || code.get(open) != Some(&b'(') {
        return None;
    }
    let close = open + code[open..].iter().position(|byte| *byte == b')')?;
    let inside = code[..close].trim_ascii_end();
    let name = inside.iter().rposition(|byte| !is_word(byte))? + 1..inside.len();
    let is_second = code[..name.start].trim_ascii_end().ends_with(b",");
    (is_second && name.start > word + ENUM.len() && !name.is_empty()).then_some((indent..close + 1, word, name))
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    fn read(text: &str) -> String {
        crate::languages::tests::preprocessed(preprocess, text)
    }

    #[test]
    fn macros_for_enumerations_are_read() {
        assert_eq!(read("typedef NS_ENUM(NSInteger, Size) {\n  A,\n};\n"), "enum Size {\nA,\n};\n");
        assert_eq!(read("typedef NS_ERROR_ENUM( Domain, Fault )\n{ A };\n"), "enum Fault\n{ A };\n");
        assert_eq!(read("CF_OPTIONS(CFIndex, Flags) { A };\n"), "enum Flags { A };\n");
        for kept in ["typedef NSString *Key NS_TYPED_ENUM;\n", "NS_ENUM(A) { B };\n", "#define MY_ENUM(a, b) enum b\n"]
        {
            assert_eq!(read(kept), kept);
        }
        let text = "typedef NS_ENUM(NSInteger, Size) {\n";
        let made = preprocess(text.as_bytes()).unwrap();
        assert_eq!(made.windows(4).position(|part| part == b"Size"), text.find("Size"), "names stay where they are");
    }

    #[test]
    fn macros_between_declarations_are_left_out() {
        assert_eq!(read("NS_BEGIN\n@class A;\n@end\nNS_END\n#if A\nNS_BEGIN\n"), "\n@class A;\n@end\n\n#if A\n\n");
        for kept in ["enum {\nA_B,\nA_C\n};\n", "int x =\nA_B\n;\n", "#define A \\\nB_C\n"] {
            assert_eq!(read(kept), kept);
        }
    }

    #[test]
    fn macros_behind_declarations_are_left_out() {
        for (text, expected) in [
            (
                "@property (copy) NSURL *a NS_SWIFT_NAME(b) API_AVAILABLE(ios(10), tvos(1.2));",
                "@property (copy) NSURL *a ;",
            ),
            ("- (void)a:(int)b NS_UNAVAILABLE;", "- (void)a:(int)b ;"),
            ("- (void)a:(int)b\n     c:(D)e API_AVAILABLE(ios(10)) {", "- (void)a:(int)b\nc:(D)e {"),
            ("  return A_B(c) + D_E(f);", "return A_B(c) + D_E(f);"),
            ("+ (void)a NS_X MY_DEPRECATED(\"b\");", "+ (void)a ;"),
            ("API_AVAILABLE(ios(13))\n@interface A", "\n@interface A"),
            ("@property int A_B;", "@property int A_B;"),
            ("- (int) A_B;", "- (int) A_B;"),
            ("- (void)a:(B_C)d;", "- (void)a:(B_C)d;"),
        ] {
            assert_eq!(read(text), format!("{expected}\n"));
        }
    }

    #[test]
    fn conditions_around_an_else_are_left_out() {
        let text = "if (a) {\n}\n#if B\nelse if (c) {\n}\n#endif\n#if D\nelsewhere();\n#endif\n";
        assert_eq!(read(text), "if (a) {\n}\n\nelse if (c) {\n}\n\n#if D\nelsewhere();\n#endif\n");
        assert_eq!(read("#if A\nif (b)\n#else\nif (c)\n#endif\n{\n}\n"), "\nif (b)\n\n\n\n{\n}\n");
    }
}
