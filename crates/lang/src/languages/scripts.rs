//! Scripts in pages: components of Vue, Svelte and Astro are read as TypeScript, with spaces for all that is no script
//! and no expression in the markup. Positions are those of the page.

use std::ops::Range;

use super::Conventions;
use super::javascript::conventions::CONVENTIONS as OF_SCRIPTS;
use super::markup::{self, Markup};

/// Conventions of scripts in pages: markup uses their names, too, also in ways that are not read.
pub(super) static CONVENTIONS: Conventions = Conventions { tells_dead: false, ..OF_SCRIPTS };

/// Elements whose content is no markup.
const RAW: [&[u8]; 2] = [b"script", b"style"];
/// Endings of the types of scripts that are read; the others hold templates and data.
const TYPES: [&[u8]; 5] = [b"module", b"javascript", b"typescript", b"ecmascript", b"jsx"];
/// Words for the dialects that are read.
const DIALECTS: [&[u8]; 8] = [b"ts", b"js", b"tsx", b"jsx", b"typescript", b"javascript", b"mts", b"mjs"];

/// The text of a component of Vue with its scripts and expressions alone; `None` for a text that is a bare script, such
/// as a pattern.
pub(super) fn of_vue(text: &[u8]) -> Option<Vec<u8>> {
    (!is_bare(text)).then(|| alone(Markup::Vue, text, &elements(text, 0)))
}

/// Like [`of_vue`], of Svelte.
pub(super) fn of_svelte(text: &[u8]) -> Option<Vec<u8>> {
    (!is_bare(text)).then(|| alone(Markup::Svelte, text, &elements(text, 0)))
}

/// Like [`of_vue`], of Astro, with the script between `---` and `---` at the top.
pub(super) fn of_astro(text: &[u8]) -> Option<Vec<u8>> {
    match front(text) {
        Some(front) => {
            let behind = (front.end + 3).min(text.len());
            let front = Raw { whole: 0..behind, script: Some(front) };
            Some(alone(Markup::Astro, text, &[vec![front], elements(text, behind)].concat()))
        }
        None => (!is_bare(text)).then(|| alone(Markup::Astro, text, &elements(text, 0))),
    }
}

/// A part of a page that is no markup.
#[derive(Clone)]
struct Raw {
    whole: Range<usize>,
    /// The script in it, if there is one that is read.
    script: Option<Range<usize>>,
}

/// Whether a text has no markup at all.
fn is_bare(text: &[u8]) -> bool {
    let has = |mark: &str| memchr::memmem::find(text, mark.as_bytes()).is_some();
    !text.trim_ascii_start().starts_with(b"<") && !["</", "/>", "{#", "{@"].into_iter().any(has)
}

/// The text with spaces in place of all but scripts, with a semicolon behind each, and expressions.
fn alone(markup: Markup, text: &[u8], raws: &[Raw]) -> Vec<u8> {
    let blank = |byte: &u8| if matches!(byte, b'\n' | b'\r') { *byte } else { b' ' };
    let mut made: Vec<u8> = text.iter().map(blank).collect();
    let (mut gaps, mut start) = (Vec::new(), 0);
    for Raw { whole, script } in raws {
        gaps.push(start..whole.start);
        start = whole.end;
        let Some(script) = script else { continue };
        made[script.clone()].copy_from_slice(&text[script.clone()]);
        if let Some(end) = made.get_mut(script.end) {
            *end = b';';
        }
    }
    gaps.push(start..text.len());
    markup::add(markup, text, &gaps, &mut made);
    made
}

/// The script between two lines of dashes at the top.
fn front(text: &[u8]) -> Option<Range<usize>> {
    let start = text.len() - text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start().len();
    let inside = start + text[start..].starts_with(b"---").then_some(3)?;
    let end = memchr::memmem::find(&text[inside..], b"\n---")?;
    Some(inside..inside + end + 1)
}

/// Scripts and styles from byte `at` on.
fn elements(text: &[u8], mut at: usize) -> Vec<Raw> {
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
        let is_read = name == RAW[0] && is_script(&rest[..length]);
        found.push(Raw { whole: open..end, script: is_read.then_some(inside..end) });
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
    use super::{of_astro, of_svelte, of_vue};

    fn check(read: fn(&[u8]) -> Option<Vec<u8>>, text: &str, expected: Option<&str>) {
        let made = read(text.as_bytes());
        assert!(made.as_ref().is_none_or(|made| made.len() == text.len()), "{text}");
        // How many spaces stand between expressions is that of the markup.
        let without_spaces = |text: &str| text.split_whitespace().collect::<String>();
        let made = made.map(|made| without_spaces(&String::from_utf8(made).expect("it was text")));
        let expected = expected.map(without_spaces);
        assert_eq!(made, expected, "{text}");
    }

    #[test]
    fn scripts_are_read_and_styles_and_other_texts_are_not() {
        check(of_vue, "<script>a</script><SCRIPT type='module' x='>'>b</SCRIPT >", Some("a; b;"));
        check(of_vue, "<!-- <script>a</script> --><script>b", Some("b"));
        check(of_vue, "<style>x { content: '<script>' }</style><script src=\"./a\" /><script>b</script>", Some("b;"));
        for other in ["type=\"text/x-template\"", "type=application/json", "lang='coffee'"] {
            check(of_vue, &format!("<script {other}>a</script>"), Some(""));
        }
        check(of_vue, "<script data-type=\"x\" type=text/javascript>a</script><scripts>b</scripts>", Some("a;"));
        check(of_vue, "<script lang=\"ts\" ", Some(""));
    }

    #[test]
    fn expressions_of_vue_are_statements() {
        check(
            of_vue,
            "<template><p :a=\"b\" c=\"d\">{{ e }} {f}</p></template>\n<script setup lang=\"ts\">\nlet a = 1\n</script>",
            Some("{b} { e } let a = 1 ;"),
        );
        check(
            of_vue,
            "<Row v-for=\"(row, n) in rows\" @click=\"go(row); back()\" />",
            Some("{Row} {rows} {go(0 ); back()}"),
        );
        check(of_vue, "<p :class=\"{ on: a, 'b-c': d }\" v-if=\"don't\"/>", Some(";({ on: a, 'b-c': d });don;t;"));
        check(of_vue, "<q #top=\"{ item }\">{{ item.name + a.item }}</q>", Some("{ 0 .name + a.item }"));
    }

    #[test]
    fn expressions_of_svelte_are_statements() {
        check(of_svelte, "{#if a}<p/>{:else if b}{c}{/if}", Some("{ a} { b}{c}"));
        check(
            of_svelte,
            "{#each all as one, i (one.id)}<List {one} on:click={more} {...rest}/>{/each}",
            Some("{ all} {List} {0 } {more} {rest}"),
        );
        check(
            of_svelte,
            "<p use:act bind:value class:on={x} let:y title=\"a {b}\">{y}</p>",
            Some("{act} {value} {x} {b} {0}"),
        );
        check(
            of_svelte,
            "<script>let n = $count + $state(1);</script>{$count}",
            Some("let n = count + $state(1);; { count}"),
        );
        check(of_svelte, "{@html f(`}`)} {@const x = 1}", Some("{ f(`}`)} { x = 1}"));
    }

    #[test]
    fn expressions_of_astro_are_statements() {
        check(
            of_astro,
            "---\nimport A from './A.astro';\n---\n<A b={c}/>\n<script>d()</script>",
            Some("import A from './A.astro'; ; {A} {c} d();"),
        );
        check(
            of_astro,
            "<p>{all.map((one) => <a href={f(one)}>it's {g(one)}</a>)}</p>",
            Some("all; one; {f(one)} {g(one)}"),
        );
        check(of_astro, "<p>---</p>", Some(""));
        check(of_astro, "---\nlet a", None);
    }

    #[test]
    fn a_pattern_is_a_script() {
        check(of_svelte, "f($A)", None);
        check(of_astro, "const $A = $B < 2", None);
    }
}
