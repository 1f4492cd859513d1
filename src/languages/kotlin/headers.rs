//! Kotlin as its grammar can read it. It ends a class at the end of the line with its name, and takes `annotation class` behind
//! the arguments of an annotation for two names.

/// Words that may stand before a constructor or a class.
const MODIFIERS: &[&[u8]] = &[b"public", b"private", b"internal", b"protected", b"expect", b"actual"];
/// The most bytes of an annotation's arguments that are looked at.
const MOST: usize = 2_000;

/// The text that the grammar reads instead, of the same length; `None` if it is the text itself.
///
/// - The lines between the name of a class and its constructor become one.
/// - Annotations with arguments before an `annotation class` are left out.
pub(super) fn preprocess(source: &[u8]) -> Option<Vec<u8>> {
    let mut text = None;
    for at in memchr::memmem::find_iter(source, b"constructor") {
        let is_called = source[at + b"constructor".len()..].trim_ascii_start().starts_with(b"(");
        let from = before_modifiers(&source[..at]).0;
        if is_called && source[from..at].contains(&b'\n') && ends_a_header(&source[..from]) {
            let text: &mut Vec<u8> = text.get_or_insert_with(|| source.to_vec());
            text[from..at].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        }
    }
    for at in memchr::memmem::find_iter(source, b"annotation class ") {
        let (from, has_arguments) = before_modifiers(&source[..at]);
        if has_arguments {
            let text = text.get_or_insert_with(|| source.to_vec());
            text[from..at].iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
        }
    }
    text
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte > 127
}

/// Where the modifiers and annotations at the end of a text begin, and whether an annotation has arguments.
fn before_modifiers(text: &[u8]) -> (usize, bool) {
    let (mut end, mut has_arguments) = (text.trim_ascii_end().len(), false);
    loop {
        let mut at = end;
        if text[..at].ends_with(b")") {
            let Some(open) = opening(&text[..at]) else { return (end, has_arguments) };
            at = open;
        }
        let is_called = at < end;
        let name = at - text[..at].iter().rev().take_while(|byte| is_part(**byte) || **byte == b'.').count();
        let is_annotation = name < at && text[..name].ends_with(b"@");
        if !is_annotation && (is_called || !MODIFIERS.contains(&&text[name..at])) {
            return (end, has_arguments);
        }
        has_arguments |= is_called;
        end = text[..name - usize::from(is_annotation)].trim_ascii_end().len();
    }
}

/// The parenthesis that the last one of a text closes.
fn opening(text: &[u8]) -> Option<usize> {
    let mut open = 0;
    let found = text.iter().rev().take(MOST).position(|byte| {
        open += i32::from(*byte == b')') - i32::from(*byte == b'(');
        open == 0
    });
    Some(text.len() - 1 - found?)
}

/// Whether a text ends with the name of a class, perhaps with type parameters, and nothing behind it.
fn ends_a_header(text: &[u8]) -> bool {
    let line = &text[memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1)..];
    let line = match line.ends_with(b">") {
        true => line.split(|byte| *byte == b'<').next().unwrap_or(line).trim_ascii_end(),
        false => line,
    };
    let name = line.iter().rev().take_while(|byte| is_part(**byte)).count();
    name > 0 && line[..line.len() - name].trim_ascii_end().ends_with(b"class")
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    /// `None` says that the text stays.
    fn check(text: &str, expected: Option<&str>) {
        let made = preprocess(text.as_bytes()).map(|made| String::from_utf8(made).expect("characters stay whole"));
        assert_eq!(made.as_deref(), expected, "{text}");
        assert!(made.is_none_or(|made| made.len() == text.len()));
    }

    #[test]
    fn a_constructor_belongs_to_the_class_above() {
        check("class A\nconstructor(val a: Int)", Some("class A constructor(val a: Int)"));
        check(
            "class A<T : B>\n  @Inject(\"(\", é)\n  internal constructor() {}",
            None, // The parenthesis in the text has no other.
        );
        check(
            "class A<T : B>\n\n  @Inject(é)\n  internal constructor() {}",
            Some("class A<T : B>    @Inject(é)   internal constructor() {}"),
        );
        check("class A {\n  constructor(a: Int)\n}", None);
        check("fun f() = g\nconstructor(1)", None);
        check("class A constructor()", None);
    }

    #[test]
    fn annotations_of_annotations_are_left_out() {
        check("@Target(A.B)\n@C annotation class D", Some("            \n   annotation class D"));
        check("@C public annotation class D", None);
        check("f(1)\nannotation class D", None);
    }
}
