//! Kotlin as its grammar can read it. It ends a class at the end of the line with its name, takes `annotation class` behind
//! the arguments of an annotation for two names, and some declarations behind annotations for expressions.

use std::ops::Range;

/// Words that may stand before a constructor or a class.
const MODIFIERS: &[&[u8]] = &[b"public", b"private", b"internal", b"protected", b"expect", b"actual"];
/// The most bytes of an annotation's arguments that are looked at.
const MOST: usize = 2_000;

/// The text that the grammar reads instead, of the same length; `None` if it is the text itself.
///
/// - The lines between the name of a class and its constructor become one.
/// - Annotations with arguments before an `annotation class` are left out.
/// - At the margin, the annotation before `enum class` and its kin becomes `public`, and of several the first is kept.
/// - A call of `get` or `set` in a line of its own, which has arguments, is not the accessor of the property above.
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
            blank(&mut text[from..at]);
        }
    }
    annotations(source, &mut |all, word| {
        let text = text.get_or_insert_with(|| source.to_vec());
        let (first, rest) = all.split_at(1);
        rest.iter().for_each(|range| blank(&mut text[range.clone()]));
        if let Some(first) = first.first().filter(|_| is_misread(word)) {
            blank(&mut text[first.clone()]);
            if first.len() > PUBLIC.len() {
                text[first.start..first.start + PUBLIC.len()].copy_from_slice(PUBLIC);
            }
        }
    });
    for word in [b"get(".as_slice(), b"set("] {
        for at in memchr::memmem::find_iter(source, word) {
            let indent = source[..at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let is_first = at == indent || source[at - indent - 1] == b'\n';
            if is_first && is_call(&source[at + word.len()..]) {
                text.get_or_insert_with(|| source.to_vec())[at] = b'_';
            }
        }
    }
    // Only one of the two texts is read.
    text.map(|text| super::sanitize(&text).unwrap_or(text))
}

/// The names of annotations that [`preprocess`] leaves out.
pub(super) fn left_out(source: &[u8]) -> Vec<Range<usize>> {
    let mut names = Vec::new();
    annotations(source, &mut |all, word| {
        let out = if is_misread(word) { all } else { &all[1..] };
        names.extend(out.iter().map(|range| {
            let from = range.start + 1;
            from..from + source[from..].iter().take_while(|byte| is_part(**byte)).count()
        }));
    });
    names
}

const PUBLIC: &[u8] = b"public";

/// Whether a declaration that begins with this word is taken for an expression behind any annotation.
fn is_misread(word: &[u8]) -> bool {
    matches!(word, b"enum" | b"expect" | b"actual" | b"data" | b"annotation")
}

fn blank(text: &mut [u8]) {
    text.iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
}

/// Whether arguments are of a call: an accessor has none, or the name of one, and a body.
fn is_call(arguments: &[u8]) -> bool {
    let name = arguments.iter().take_while(|byte| is_part(**byte)).count();
    match arguments[name..].first() {
        Some(b')') => {
            let after = arguments[name + 1..].trim_ascii_start().first();
            name > 0 && !matches!(after, Some(b'{' | b'=' | b':'))
        }
        // `set(value: Int) {`
        Some(b':') => false,
        first => first.is_some(),
    }
}

/// Takes the annotations before a declaration, and its first word.
type Found<'f> = dyn FnMut(&[Range<usize>], &[u8]) + 'f;

/// The annotations before each declaration at the margin that the grammar takes for an expression, and its first word.
fn annotations(source: &[u8], found: &mut Found<'_>) {
    let mut end = 0;
    for at in memchr::memchr_iter(b'@', source) {
        if at < end || at > 0 && source[at - 1] != b'\n' {
            continue;
        }
        let mut all = Vec::new();
        end = at;
        while source.get(end) == Some(&b'@') {
            let Some(len) = annotation(&source[end..]) else { break };
            all.push(end..end + len);
            let rest = &source[end + len..];
            end += len + rest.len() - rest.trim_ascii_start().len();
        }
        let word = |from: usize| &source[from..from + source[from..].iter().take_while(|byte| is_part(**byte)).count()];
        let first = word(end);
        if all.is_empty() || first.is_empty() {
            continue;
        }
        if is_misread(first) && (first != b"data" || is_bare(&source[end..])) {
            found(&all, first);
        } else if all.len() > 1 && is_bare(&source[end..]) {
            found(&all, b"");
        }
    }
}

/// The length of the annotation that a text begins with; `None` if it is of the file or has no end nearby.
fn annotation(text: &[u8]) -> Option<usize> {
    let name = 1 + text[1..].iter().take_while(|byte| is_part(**byte) || **byte == b'.').count();
    if name == 1 || text.get(name) == Some(&b':') {
        return None;
    }
    if text.get(name) != Some(&b'(') {
        return Some(name);
    }
    let mut open = 0;
    let close = text[name..].iter().take(MOST).position(|byte| {
        open += i32::from(*byte == b'(') - i32::from(*byte == b')');
        open == 0
    })?;
    Some(name + close + 1)
}

/// Whether a declaration could be an expression: a function or a property, or a type without parameters and bases.
fn is_bare(text: &[u8]) -> bool {
    let mut words = text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).take(8);
    while let Some(word) = words.next() {
        match word {
            b"fun" | b"val" | b"var" => return true,
            b"class" | b"object" | b"interface" => {
                let has_more = |word: &[u8]| word.iter().any(|byte| matches!(byte, b'(' | b':' | b'<'));
                let name_has_more = words.next().is_none_or(has_more);
                return !name_has_more && words.next().is_none_or(|word| !matches!(word, b":" | b"("));
            }
            _ if word.iter().all(u8::is_ascii_lowercase) => {}
            _ => return false,
        }
    }
    false
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
        check("@Target(A.B)\n@C annotation class D", Some("public      \n   annotation class D"));
        check("class E {\n  @F(1) annotation class D\n}", Some("class E {\n        annotation class D\n}"));
        check("@C public annotation class D", None);
        check("f(1)\nannotation class D", None);
    }

    #[test]
    fn declarations_behind_annotations_are_no_expressions() {
        check("@Kept\nenum class A { B }", Some("     \nenum class A { B }"));
        check("@Kept(B::class)\nexpect object A { }", Some("public         \nexpect object A { }"));
        check("@A\n@B(\")\")\nopen class C {", None); // The parenthesis in the text is taken for the end.
        check("@A\n@B(1)\nopen class C {", Some("@A\n     \nopen class C {"));
        check("@A\n@B(1)\nprivate fun c() {", Some("@A\n     \nprivate fun c() {"));
        for harmless in [
            "@A\nopen class C {",
            "@A\n@B\nopen class C(val d: Int)",
            "@A\n@B\nclass C : D {",
            "@A\n@B\nclass C<D> {",
            "@A\ndata class C(val d: Int)",
            "@file:A\n@file:B\nclass C {",
            "  @A\n  @B\n  class C {",
            "@A\n@B\nf(1)",
        ] {
            check(harmless, None);
        }
    }

    #[test]
    fn calls_in_lines_of_their_own_are_no_accessors() {
        check("val a by b()\n\nget(\"/c\") {", Some("val a by b()\n\n_et(\"/c\") {"));
        check("val a = b\nset(c, 1)", Some("val a = b\n_et(c, 1)"));
        check("val a = b\n  get(c)\n}", Some("val a = b\n  _et(c)\n}"));
        for accessor in ["var a: B\n  get() = c\n  set(d) { e = d }", "var a: B\n  set(d: B) = e(d)", "a.get(c)"] {
            check(accessor, None);
        }
    }
}
