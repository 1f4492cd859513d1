//! Documentation comments: finding them, cleaning them, and their first sentence.

use codelode_base::model::Span;

/// Comment syntax of a language, and which comments are documentation.
#[derive(Clone, Copy, Debug)]
pub struct Comments {
    /// Markers of line comments.
    pub line: &'static [&'static str],
    /// Delimiters of block comments.
    pub block: &'static [(&'static str, &'static str)],
    /// Prefixes of documentation comments; empty if any comment above a definition documents it.
    pub documents: &'static [&'static str],
    /// Prefixes of comments that are not documentation, such as directives to a tool.
    pub silent: &'static [&'static str],
    /// Whether documentation is XML.
    pub tagged: bool,
}

impl Comments {
    /// No comments.
    pub const NONE: Self = Self { line: &[], block: &[], documents: &[], silent: &[], tagged: false };
    /// C-style comments.
    pub const C: Self = Self { line: &["//"], block: &[("/*", "*/")], ..Self::NONE };
    /// C-style comments; only `/**` and `///` are documentation.
    pub const MARKED: Self = Self { documents: &["/**", "///"], silent: &["/**/", "////"], ..Self::C };
    /// `#` comments of shells and scripts.
    pub const HASH: Self = Self { line: &["#"], silent: &["#!"], ..Self::NONE };

    /// Whether a comment documents the definition below.
    pub fn document(&self, comment: &str) -> bool {
        let begins = |marks: &[&str]| marks.iter().any(|mark| comment.starts_with(mark));
        (self.documents.is_empty() || begins(self.documents)) && !begins(self.silent)
    }

    /// The text of a documentation comment or docstring, without markers and common indentation.
    pub fn clean(&self, raw: &str) -> String {
        let raw = raw.trim();
        if let Some((open, close)) = self.block.iter().find(|(open, _)| raw.starts_with(open)) {
            let inside = raw.strip_prefix(open).unwrap_or(raw);
            let inside = inside.strip_suffix(close).unwrap_or(inside);
            let inside = inside.trim_matches('*').trim_start_matches('!');
            return joined(inside.lines().map(|line| without(line.trim(), '*', 1)));
        }
        let mark = self.line.iter().find(|mark| raw.starts_with(**mark));
        let quoted = unquoted(raw);
        if mark.is_none() && quoted.len() != raw.len() {
            // The first line of a docstring follows the quotes, so its indentation does not count (PEP 257).
            let indent = quoted.lines().skip(1).filter(|line| !line.trim().is_empty());
            let indent = indent.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
            let rest = quoted.lines().skip(1).map(|line| line.get(indent..).unwrap_or_default().trim_end());
            return joined(quoted.lines().take(1).map(str::trim).chain(rest));
        }
        joined(raw.lines().map(str::trim).map(|line| {
            let Some(mark) = self.line.iter().find(|mark| line.starts_with(**mark)) else { return line };
            let again = mark.chars().last().unwrap_or_default();
            let line = line[mark.len()..].trim_start_matches(again).trim_start_matches('!');
            let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
            if self.tagged { without_tags(line) } else { line }
        }))
    }
}

/// Removes up to `times` leading markers and one space.
fn without(line: &str, mark: char, times: usize) -> &str {
    let marks = line.chars().take(times).take_while(|c| *c == mark).count();
    let line = &line[marks * mark.len_utf8()..];
    line.strip_prefix(' ').unwrap_or(line).trim_end()
}

/// Removes the outer XML tags of a line.
fn without_tags(line: &str) -> &str {
    let line = line.strip_prefix('<').and_then(|line| line.split_once('>')).map_or(line, |(_, behind)| behind);
    line.rsplit_once("</").map_or(line, |(before, _)| before).trim()
}

/// Joins lines to a trimmed text.
fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The comment directly above byte `start`, see [`super::Cx::doc_above`]. A blank line in between separates them.
pub fn comment_above(comments: &Comments, source: &[u8], start: usize, is_doc: impl Fn(&str) -> bool) -> Span {
    let line_start = |at: usize| memchr::memrchr(b'\n', &source[..at]).map_or(0, |newline| newline + 1);
    let text = |range: std::ops::Range<usize>| std::str::from_utf8(&source[range]).unwrap_or_default().trim();

    // Reads only the indentation: in a minified file, the line may be the whole file.
    let is_blank = |byte: &&u8| byte.is_ascii_whitespace() && **byte != b'\n';
    let own_line = start - source[..start].iter().rev().take_while(is_blank).count();
    // A comment before the definition on the same line: `/** One. */ int x;`.
    if own_line > 0 && source[own_line - 1] != b'\n' {
        return comments.block_ending_at(source, own_line, is_doc).unwrap_or_default();
    }
    let (mut first, mut last) = (own_line, own_line);
    while first > 0 {
        let above = line_start(first - 1);
        let end = above + source[above..first - 1].trim_ascii_end().len();
        if first == own_line
            && let Some(block) = comments.block_ending_at(source, end, &is_doc)
            // A comment at the end of a line of code belongs to that line.
            && text(line_start(block.start as usize)..block.start as usize).is_empty()
        {
            return block;
        }
        let line = text(above..first - 1);
        if !(comments.line.iter().any(|mark| line.starts_with(mark)) && is_doc(line)) {
            break;
        }
        if first == own_line {
            last = end;
        }
        first = above;
    }
    if first == own_line {
        return Span::default();
    }
    let indent = source[first..last].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    Span::new(first + indent, last)
}

impl Comments {
    /// The block comment that ends at `end`; empty if it is not documentation, `None` if there is none.
    fn block_ending_at(&self, source: &[u8], end: usize, is_doc: impl Fn(&str) -> bool) -> Option<Span> {
        let (open, close) = self.block.iter().find(|(_, close)| source[..end].ends_with(close.as_bytes()))?;
        let before = &source[..end - close.len()];
        let start = memchr::memmem::rfind(before, open.as_bytes())?;
        // The delimiter at the end of a line comment does not count.
        let line = before[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let in_line = self.line.iter().any(|mark| source[line..start].trim_ascii_start().starts_with(mark.as_bytes()));
        if in_line {
            return None;
        }
        let opening = &source[start..end.min(start + open.len() + 2)];
        // Cut at a character boundary: only the ASCII characters of the opening matter.
        let ascii = opening.iter().take_while(|byte| byte.is_ascii()).count();
        let text = std::str::from_utf8(&opening[..ascii]).unwrap_or_default();
        Some(if is_doc(text) { Span::new(start, end) } else { Span::default() })
    }
}

/// The content of a string literal without prefix and quotes; the text itself if it is not a literal.
fn unquoted(raw: &str) -> &str {
    let literal = raw.trim_start_matches(|c: char| "rRuUbBfF".contains(c));
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        if let Some(inside) = literal.strip_prefix(quote) {
            return inside.strip_suffix(quote).unwrap_or(inside);
        }
    }
    raw
}

/// The first sentence of a documentation text, on one line, with at most `limit` characters.
pub fn first_sentence(doc: &str, limit: usize) -> String {
    let mut sentence = String::new();
    for line in doc.lines().map(str::trim).skip_while(|line| line.is_empty()) {
        // The end of a paragraph, a heading's underline or a tag ends the sentence too.
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

/// End of the first sentence, if there is one.
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

/// Truncates to `limit` characters at a word boundary, with an ellipsis.
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
    use super::{Comments, first_sentence};

    #[test]
    fn a_summary_is_the_first_sentence() {
        let check = |doc: &str, expected: &str| assert_eq!(first_sentence(&Comments::C.clean(doc), 40), expected);
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
