//! Documentation comments: where they stand and what they say.

use crate::model::Span;

/// The comment that ends directly above byte `start`, see [`super::Cx::doc_above`]. A blank line between breaks the tie.
pub fn comment_above(source: &[u8], start: usize, is_doc: impl Fn(&str) -> bool) -> Span {
    let line_start = |at: usize| memchr::memrchr(b'\n', &source[..at]).map_or(0, |newline| newline + 1);
    let text = |range: std::ops::Range<usize>| std::str::from_utf8(&source[range]).unwrap_or_default().trim();

    // Only the blanks before are read: in a minified file the line may be the whole file.
    let is_blank = |byte: &&u8| byte.is_ascii_whitespace() && **byte != b'\n';
    let own_line = start - source[..start].iter().rev().take_while(is_blank).count();
    // A comment on the same line, before the definition: `/** One. */ int x;`.
    if own_line > 0 && source[own_line - 1] != b'\n' {
        return match source[..own_line].ends_with(b"*/") {
            true => block_ending_at(source, own_line, is_doc),
            false => Span::default(),
        };
    }
    let (mut first, mut last) = (own_line, own_line);
    while first > 0 {
        let above = line_start(first - 1);
        let line = text(above..first - 1);
        if first == own_line && line.ends_with("*/") {
            let end = above + source[above..first - 1].trim_ascii_end().len();
            return block_ending_at(source, end, is_doc);
        }
        if !(line.starts_with("//") && is_doc(line)) {
            break;
        }
        if first == own_line {
            last = above + source[above..first - 1].trim_ascii_end().len();
        }
        first = above;
    }
    if first == own_line {
        return Span::default();
    }
    let indent = source[first..last].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    Span::new(first + indent, last)
}

/// The block comment whose last byte is before `end`.
fn block_ending_at(source: &[u8], end: usize, is_doc: impl Fn(&str) -> bool) -> Span {
    let Some(start) = source[..end - 2].windows(2).rposition(|pair| pair == b"/*") else { return Span::default() };
    let opening = &source[start..end.min(start + 4)];
    // Cut at a character border: only the opening's ASCII matters.
    let ascii = opening.iter().take_while(|byte| byte.is_ascii()).count();
    match std::str::from_utf8(&opening[..ascii]) {
        Ok(text) if is_doc(text) => Span::new(start, end),
        _ => Span::default(),
    }
}

/// What a documentation comment or docstring says, without its markers and common indentation.
pub fn clean_doc(raw: &str) -> String {
    let raw = raw.trim();
    let body = if raw.starts_with("/*") {
        raw.trim_start_matches('/').trim_start_matches(['*', '!']).trim_end_matches('/').trim_end_matches('*')
    } else {
        unquoted(raw)
    };
    let quoted = body.len() != raw.len() && !raw.starts_with("/*");
    let lines: Vec<&str> = body.lines().collect();
    let stripped: Vec<&str> = if quoted {
        // The first line of a docstring begins after the quotes: its indentation says nothing (PEP 257).
        let indent = lines.iter().skip(1).filter(|line| !line.trim().is_empty());
        let indent = indent.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        let rest = lines.iter().skip(1).map(|line| line.get(indent..).unwrap_or_default().trim_end());
        lines.first().map(|line| line.trim()).into_iter().chain(rest).collect()
    } else {
        lines.iter().map(|line| without_marker(line)).collect()
    };
    stripped.join("\n").trim().to_owned()
}

/// A line of a comment without what marks it as one.
fn without_marker(line: &str) -> &str {
    let line = line.trim();
    let text = match line {
        _ if line.starts_with("//") => line.trim_start_matches('/').trim_start_matches('!'),
        _ if line.starts_with('*') => &line[1..],
        _ if line.starts_with('#') => line.trim_start_matches('#'),
        _ => line,
    };
    text.strip_prefix(' ').unwrap_or(text).trim_end()
}

/// The inside of a string literal with its prefix and quotes taken off; the text itself when it is none.
fn unquoted(raw: &str) -> &str {
    let literal = raw.trim_start_matches(|c: char| "rRuUbBfF".contains(c));
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        if let Some(inside) = literal.strip_prefix(quote) {
            return inside.strip_suffix(quote).unwrap_or(inside);
        }
    }
    raw
}

/// The first sentence of a documentation text, on one line, at most `limit` characters.
pub fn first_sentence(doc: &str, limit: usize) -> String {
    let mut sentence = String::new();
    for line in doc.lines().map(str::trim).skip_while(|line| line.is_empty()) {
        // A paragraph's end, a heading's underline or a tag ends the summary too.
        if line.is_empty() || line.starts_with('@') || line.chars().all(|c| "=-~^".contains(c)) {
            break;
        }
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(line);
        if let Some(end) = sentence_end(&sentence) {
            sentence.truncate(end);
            break;
        }
        if sentence.len() > 4 * limit {
            break;
        }
    }
    shorten(sentence, limit)
}

/// Where the first sentence of a text ends, if it does.
fn sentence_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let stops =
        |at: usize| matches!(bytes[at], b'.' | b'!' | b'?') && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
    let abbreviates = |at: usize| {
        let word = text[..at].rsplit(char::is_whitespace).next().unwrap_or_default();
        ["e.g", "i.e", "etc", "cf", "vs"].contains(&word.trim_start_matches('('))
    };
    (0..bytes.len()).find(|at| stops(*at) && !abbreviates(*at)).map(|at| at + 1)
}

/// At most `limit` characters, cut at a word's end and marked when something is missing.
fn shorten(mut text: String, limit: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(limit) else { return text };
    let (room, _) = text.char_indices().nth(limit - 1).unwrap_or((cut, ' '));
    let end = text[..room].rfind(char::is_whitespace).filter(|end| *end > room / 2).unwrap_or(room);
    text.truncate(end);
    text.push('…');
    text
}

#[cfg(test)]
mod tests {
    use super::{clean_doc, first_sentence};

    #[test]
    fn a_summary_is_the_first_sentence() {
        let check = |doc: &str, expected: &str| assert_eq!(first_sentence(&clean_doc(doc), 40), expected);
        check("/** Adds → two. And more. */", "Adds → two.");
        check("/// Parses, e.g. a\n/// number. More.", "Parses, e.g. a number.");
        check("\"\"\"\n    Ends here\n\n    Not this.\n\"\"\"", "Ends here");
        check(
            "// ……… a sentence that is quite a bit longer than forty characters",
            "……… a sentence that is quite a bit…",
        );
        check("", "");
    }
}
