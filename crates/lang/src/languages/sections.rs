//! Sections of `#if … #else … #endif`, for grammars that leave some of them out, or that lose their way in them.

use std::ops::Range;

/// The most conditions inside each other that are followed.
const DEEPEST: usize = 250;

/// A condition: the lines of its directives, from `#if` to `#endif`.
pub(super) type Condition = Vec<Range<usize>>;

/// The conditions of a text, inner ones before those around them.
pub(super) fn conditions(text: &[u8]) -> Vec<Condition> {
    let (mut open, mut found): (Vec<Condition>, Vec<Condition>) = Default::default();
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let place = start..start + line.len();
        start = place.end;
        match word(line) {
            Some(b"if" | b"ifdef" | b"ifndef") if open.len() >= DEEPEST => break,
            Some(b"if" | b"ifdef" | b"ifndef") => open.push(vec![place]),
            Some(b"else" | b"elif") => open.last_mut().into_iter().for_each(|condition| condition.push(place.clone())),
            Some(b"endif") => found.extend(open.pop().map(|mut condition| {
                condition.push(place);
                condition
            })),
            _ => {}
        }
    }
    found
}

/// The word of a directive.
fn word(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
    Some(&line[..line.iter().take_while(|byte| byte.is_ascii_lowercase()).count()])
}

/// The texts between the directives of a condition.
pub(super) fn sections(condition: &Condition) -> impl Iterator<Item = Range<usize>> {
    condition.windows(2).map(|between| between[0].end..between[1].start)
}

/// The first line of code of a text: no directive, and no comment that begins with this mark.
pub(super) fn first_code<'t>(text: &'t [u8], comment: &[u8]) -> Option<&'t [u8]> {
    let is_code = |line: &&[u8]| {
        let line = line.trim_ascii();
        !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(comment)
    };
    text.split(|byte| *byte == b'\n').find(is_code)
}

/// The last line of code of a text.
pub(super) fn last_code<'t>(text: &'t [u8], comment: &[u8]) -> Option<&'t [u8]> {
    let is_code = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.trim_ascii().starts_with(comment);
    text.rsplit(|byte| *byte == b'\n').find(is_code)
}

/// The bytes behind a condition that are searched for a body.
const MOST_BEHIND: usize = 1_000;

/// Whether the sections of a condition end like heads of the body behind it, as in `#if A` head `#else` head `#endif` body.
pub(super) fn has_one_body(text: &[u8], condition: &Condition) -> bool {
    let end = condition.last().map_or(text.len(), |end| end.end);
    let behind = &text[end..text.len().min(end + MOST_BEHIND)];
    let body = first_code(behind, b"//").map(<[u8]>::trim_ascii_start).unwrap_or_default();
    let is_head =
        |part: Range<usize>| last_code(&text[part], b"//").is_some_and(|line| line.trim_ascii_end().ends_with(b")"));
    condition.len() > 2 && (body.starts_with(b"{") || body.starts_with(b"=>")) && sections(condition).all(is_head)
}

/// The directives of a condition with its sections, but for the first.
pub(super) fn all_but_first(condition: &Condition) -> impl Iterator<Item = Range<usize>> {
    condition.iter().cloned().chain(sections(condition).skip(1))
}

/// Replaces a part of a text by spaces; lines stay.
pub(super) fn blank(text: &mut [u8], range: Range<usize>) {
    text[range].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

#[cfg(test)]
mod tests {
    use super::{blank, conditions, first_code, last_code, sections};

    #[test]
    fn conditions_are_found_with_their_sections() {
        let text = b"a\n#if A\nb\n  # ifdef B\nc\n  # endif\n#elif C\nd\n#else\n#endif\n#endif\n#if E\n";
        let found = conditions(text);
        let texts = |at: usize| sections(&found[at]).map(|part| &text[part]).collect::<Vec<_>>();
        assert_eq!(texts(0), [b"c\n"]);
        assert_eq!(texts(1), [b"b\n  # ifdef B\nc\n  # endif\n".as_slice(), b"d\n", b""]);
        assert_eq!(found.len(), 2, "one has no end, and one end has no beginning");
    }

    #[test]
    fn code_is_no_comment_and_no_directive() {
        let text = b"\n#if A\n// b\n c\nd\n//e\n";
        assert_eq!((first_code(text, b"//"), last_code(text, b"//")), (Some(b" c".as_slice()), Some(b"d".as_slice())));
    }

    #[test]
    fn blanks_keep_lines() {
        let mut text = b"ab\r\ncd".to_vec();
        blank(&mut text, 1..5);
        assert_eq!(text, b"a \r\n d");
    }
}
