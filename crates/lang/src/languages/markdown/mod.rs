//! Markdown: sections by their headings, each inside the one that it belongs to.

use tree_sitter::Node;

use super::spec::grammar;
use super::{Comments, Cx, Definition, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind, Span};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "markdown",
    aliases: &["md"],
    extensions: &["md", "markdown", "mdx", "mkd"],
    grammar: grammar!("markdown", tree_sitter_md, LANGUAGE, NODE_TYPES_BLOCK, "highlights.scm"),
    rules: &[(Rule::Define(sections), &["document"])],
    silent: include_str!("silent.txt"),
    comments: Comments { block: &[("<!--", "-->")], ..Comments::NONE },
    is_document: true,
    ..LanguageSpec::PLAIN
};

/// Defines all sections of a document. The grammar nests those of `#` alone, so the ends are found by the levels.
fn sections<'t>(cx: &mut Cx<'_, 't>, document: Node<'t>) {
    let headings = headings(cx, document);
    let mut ends = vec![cx.source().trim_ascii_end().len(); headings.len()];
    let mut next = [cx.source().len(); LEVELS];
    for (place, (heading, level)) in headings.iter().enumerate().rev() {
        ends[place] = next[..=*level].iter().copied().fold(ends[place], usize::min);
        next[*level] = heading.start_byte();
    }
    for ((heading, _), end) in headings.into_iter().zip(ends) {
        let Some(content) = heading.child_by_field_name("heading_content") else { continue };
        let name = title(cx.source(), content);
        let whole = cx.source().get(heading.start_byte()..end).unwrap_or_default().trim_ascii_end();
        let span = Span::new(heading.start_byte(), heading.start_byte() + whole.len());
        let line = whole.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
        let signature = Span::new(heading.start_byte(), heading.start_byte() + line.len());
        cx.define(Definition {
            name,
            span,
            signature,
            ..Definition::new(heading, content, Kind::Type, Detail::Section)
        });
    }
}

/// Levels of headings.
const LEVELS: usize = 6;

/// All headings that are in no list and no quote, with their levels from zero.
fn headings<'t>(cx: &Cx<'_, 't>, document: Node<'t>) -> Vec<(Node<'t>, usize)> {
    let (mut found, mut cursor) = (Vec::new(), document.walk());
    let mut goes_on = cursor.goto_first_child();
    while goes_on && cx.has_time() {
        let node = cursor.node();
        let marker = |place| node.child(place).map_or("", |marker| cx.text(marker));
        match node.kind() {
            "section" if cursor.goto_first_child() => continue,
            "atx_heading" => found.push((node, marker(0).trim().len().clamp(1, LEVELS) - 1)),
            "setext_heading" => {
                let is_first = node.child_count() > 0 && marker(node.child_count() - 1).trim_start().starts_with('=');
                found.push((node, usize::from(!is_first)));
            }
            _ => {}
        }
        goes_on = cursor.goto_next_sibling();
        while !goes_on && cursor.goto_parent() {
            goes_on = cursor.goto_next_sibling();
        }
    }
    found
}

/// The words of a heading: its first line without marks of emphasis, code and links around them.
fn title(source: &[u8], content: Node<'_>) -> Span {
    let line = source.get(content.byte_range()).unwrap_or_default();
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    let (mut start, mut end) = (0, line.len());
    while start < end && matches!(line[start], b' ' | b'\t' | b'*' | b'_' | b'`' | b'#') {
        start += 1;
    }
    while start < end && matches!(line[end - 1], b' ' | b'\t' | b'\r' | b'*' | b'`' | b'#') {
        end -= 1;
    }
    if let Some(link) = line[start..end].strip_prefix(b"[").and_then(|link| memchr::memmem::find(link, b"](")) {
        (start, end) = if link > 0 { (start + 1, start + 1 + link) } else { (start, end) };
    }
    Span::new(content.start_byte() + start, content.start_byte() + end)
}
