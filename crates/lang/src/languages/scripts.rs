//! Scripts in pages: components of Vue, Svelte and Astro are read as TypeScript, with spaces for all that is no script.
//! Positions are those of the page.

use std::ops::Range;

use super::Conventions;
use super::javascript::conventions::CONVENTIONS as OF_SCRIPTS;

/// Conventions of scripts in pages: markup uses their names, too, and is not read.
pub(super) static CONVENTIONS: Conventions = Conventions { tells_dead: false, ..OF_SCRIPTS };

/// Elements whose content is no markup.
const RAW: [&[u8]; 2] = [b"script", b"style"];
/// Endings of the types of scripts that are read; the others hold templates and data.
const TYPES: [&[u8]; 5] = [b"module", b"javascript", b"typescript", b"ecmascript", b"jsx"];
/// Words for the dialects that are read.
const DIALECTS: [&[u8]; 8] = [b"ts", b"js", b"tsx", b"jsx", b"typescript", b"javascript", b"mts", b"mjs"];

/// The text of a page with its `<script>` elements alone; `None` for a text that is a bare script, such as a pattern.
pub(super) fn of_page(text: &[u8]) -> Option<Vec<u8>> {
    (!is_bare(text)).then(|| alone(text, &elements(text, 0)))
}

/// Like [`of_page`], with the script between `---` and `---` at the top.
pub(super) fn with_front(text: &[u8]) -> Option<Vec<u8>> {
    match front(text) {
        Some(front) => {
            let behind = front.end;
            Some(alone(text, &[vec![front], elements(text, behind)].concat()))
        }
        None => of_page(text),
    }
}

/// Whether a text has no markup at all.
fn is_bare(text: &[u8]) -> bool {
    let has = |mark: &str| memchr::memmem::find(text, mark.as_bytes()).is_some();
    !text.trim_ascii_start().starts_with(b"<") && !["</", "/>", "{#", "{@"].into_iter().any(has)
}

/// The text with spaces in place of all but some ranges, and a semicolon behind each of these.
fn alone(text: &[u8], kept: &[Range<usize>]) -> Vec<u8> {
    let blank = |byte: &u8| if matches!(byte, b'\n' | b'\r') { *byte } else { b' ' };
    let mut made: Vec<u8> = text.iter().map(blank).collect();
    for range in kept {
        made[range.clone()].copy_from_slice(&text[range.clone()]);
        if let Some(end) = made.get_mut(range.end) {
            *end = b';';
        }
    }
    made
}

/// The script between two lines of dashes at the top.
fn front(text: &[u8]) -> Option<Range<usize>> {
    let start = text.len() - text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start().len();
    let inside = start + text[start..].starts_with(b"---").then_some(3)?;
    let end = memchr::memmem::find(&text[inside..], b"\n---")?;
    Some(inside..inside + end + 1)
}

/// The contents of the scripts from byte `at` on.
fn elements(text: &[u8], mut at: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    while let Some(open) = memchr::memchr(b'<', &text[at..]).map(|further| at + further) {
        let rest = &text[open..];
        if rest.starts_with(b"<!--") {
            at = memchr::memmem::find(rest, b"-->").map_or(text.len(), |end| open + end);
            continue;
        }
        at = open + 1;
        let Some(name) = RAW.into_iter().find(|name| is_tag(&rest[1..], name)) else { continue };
        let Some(length) = tag(rest) else { break };
        let inside = open + length;
        if rest[..length].ends_with(b"/>") {
            at = inside;
            continue;
        }
        let ends = memchr::memmem::find_iter(&text[inside..], b"</").map(|end| inside + end);
        let end = ends.into_iter().find(|end| is_tag(&text[end + 2..], name)).unwrap_or(text.len());
        if name == RAW[0] && is_script(&rest[..length]) {
            found.push(inside..end);
        }
        at = end;
    }
    found
}

/// Whether a tag of this name begins here.
fn is_tag(text: &[u8], name: &[u8]) -> bool {
    let begins = text.get(..name.len()).is_some_and(|written| written.eq_ignore_ascii_case(name));
    begins && text.get(name.len()).is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'-')
}

/// The length of a tag, up to the `>` that is in no quotes.
fn tag(text: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Whether a tag opens a script that is read.
fn is_script(tag: &[u8]) -> bool {
    let tag = tag.to_ascii_lowercase();
    attribute(&tag, b"type").is_none_or(|kind| kind.is_empty() || TYPES.iter().any(|known| kind.ends_with(known)))
        && attribute(&tag, b"lang").is_none_or(|dialect| DIALECTS.contains(&dialect))
}

/// The value of an attribute.
fn attribute<'t>(tag: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let mut places = memchr::memmem::find_iter(tag, name);
    places.find_map(|at| {
        let value = tag[at + name.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let begins = at > 0 && tag[at - 1].is_ascii_whitespace();
        let quote = value.first().filter(|first| matches!(first, b'"' | b'\''));
        let end = |byte: &u8| quote.map_or(byte.is_ascii_whitespace() || *byte == b'>', |quote| byte == quote);
        let value = &value[usize::from(quote.is_some())..];
        begins.then(|| &value[..value.iter().position(end).unwrap_or(value.len())])
    })
}

#[cfg(test)]
mod tests {
    use super::{of_page, with_front};

    fn check(read: fn(&[u8]) -> Option<Vec<u8>>, text: &str, expected: Option<&str>) {
        let made = read(text.as_bytes());
        assert!(made.as_ref().is_none_or(|made| made.len() == text.len()), "{text}");
        let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let made = made.map(|made| words(String::from_utf8(made).expect("it was text")));
        assert_eq!(made.as_deref(), expected, "{text}");
    }

    #[test]
    fn scripts_alone_are_read() {
        check(
            of_page,
            "<template><p>{{ a }}</p></template>\n<script setup lang=\"ts\">\nlet a = 1\n</script>",
            Some("let a = 1 ;"),
        );
        check(of_page, "<script>a</script><SCRIPT type='module' x='>'>b</SCRIPT >", Some("a; b;"));
        check(of_page, "<!-- <script>a</script> --><script>b", Some("b"));
        check(of_page, "<style>x { content: '<script>' }</style><script src=\"./a\" /><script>b</script>", Some("b;"));
        for other in ["type=\"text/x-template\"", "type=application/json", "lang='coffee'"] {
            check(of_page, &format!("<script {other}>a</script>"), Some(""));
        }
        check(of_page, "<script data-type=\"x\" type=text/javascript>a</script><scripts>b</scripts>", Some("a;"));
        check(of_page, "<script lang=\"ts\" ", Some(""));
        check(of_page, "{#if a}<p/>{/if}", Some(""));
    }

    #[test]
    fn a_front_is_a_script() {
        check(
            with_front,
            "---\nimport A from './A.astro';\n---\n<A/>\n<script>b()</script>",
            Some("import A from './A.astro'; ; b();"),
        );
        check(with_front, "<p>---</p>", Some(""));
        check(with_front, "---\nlet a", None);
    }

    #[test]
    fn a_pattern_is_a_script() {
        check(of_page, "f($A)", None);
        check(with_front, "const $A = $B < 2", None);
    }
}
