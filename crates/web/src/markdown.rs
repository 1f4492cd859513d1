//! Markdown as HTML. Only its own elements are made: markup inside a text loses its tags, and nothing is loaded from elsewhere.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use maud::{Markup, PreEscaped};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::lines::coloured;
use super::{links, text};
use codelode_lang::languages::{self, LANGUAGES};

/// Bytes of a text that are read.
const MOST: usize = 200_000;
/// Time for the colours of code.
const COLOURING: Duration = Duration::from_millis(100);
/// Beginning of the ids of headings, which others on the page do not have.
const ID: &str = "doc-";
/// End of the first row of a table.
const HEAD_END: &str = "</tr></thead><tbody>";

/// Whether a file is written in Markdown.
pub(super) fn is_markdown(path: &str) -> bool {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    ["md", "markdown", "mdx"].iter().any(|known| end.eq_ignore_ascii_case(known))
}

/// A text as HTML; links lead on from the file that it is in, below the address of its repository.
pub(super) fn shown(root: &str, path: &str, source: &str) -> Markup {
    let end = (0..=MOST.min(source.len())).rev().find(|end| source.is_char_boundary(*end)).unwrap_or(0);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer { root, path, page: String::new(), open: Vec::new(), until: Instant::now() + COLOURING };
    for event in Parser::new_ext(&source[..end], options) {
        writer.write(event);
    }
    PreEscaped(writer.page)
}

/// An element that is open.
enum Open {
    /// Its end is written with this tag.
    Element(&'static str),
    /// A heading: its level, where it begins, and its words.
    Heading(u8, usize, String),
    /// Code, in a language.
    Code(String, String),
    /// Markup, of which the words are kept.
    Markup(String),
}

struct Writer<'a> {
    root: &'a str,
    path: &'a str,
    page: String,
    open: Vec<Open>,
    until: Instant,
}

impl Writer<'_> {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(words) => self.words(&words),
            Event::Code(words) => {
                self.page.push_str("<code>");
                self.words(&words);
                self.page.push_str("</code>");
            }
            Event::Html(markup) => match self.open.last_mut() {
                Some(Open::Markup(known)) => known.push_str(&markup),
                _ => self.words(&without_tags(&markup)),
            },
            Event::SoftBreak => self.page.push('\n'),
            Event::HardBreak => self.page.push_str("<br>"),
            Event::Rule => self.page.push_str("<hr>"),
            Event::TaskListMarker(is_done) => self.page.push_str(if is_done { "☑ " } else { "☐ " }),
            // A tag inside a line stands for no text.
            Event::InlineHtml(_) | Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn words(&mut self, words: &str) {
        if let Some(Open::Code(_, code)) = self.open.last_mut() {
            return code.push_str(words);
        }
        // Words of a heading may stand in an element inside it.
        for open in &mut self.open {
            if let Open::Heading(_, _, known) = open {
                known.push_str(words);
            }
        }
        text::write(&mut self.page, words);
    }

    fn element(&mut self, start: &str, end: &'static str) {
        self.page.push_str(start);
        self.open.push(Open::Element(end));
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.element("<p>", "</p>"),
            Tag::Heading { level, .. } => self.open.push(Open::Heading(below(level), self.page.len(), String::new())),
            Tag::BlockQuote(_) => self.element("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(words) => {
                        words.split(|c: char| c.is_whitespace() || ",{".contains(c)).next().unwrap_or_default()
                    }
                    CodeBlockKind::Indented => "",
                };
                self.open.push(Open::Code(language.to_owned(), String::new()));
            }
            Tag::HtmlBlock => self.open.push(Open::Markup(String::new())),
            Tag::List(Some(first)) => self.element(&format!("<ol start=\"{first}\">"), "</ol>"),
            Tag::List(None) => self.element("<ul>", "</ul>"),
            Tag::Item => self.element("<li>", "</li>"),
            Tag::Table(_) => self.element(
                "<div class=\"scrolls\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>",
                "</tbody></table></div>",
            ),
            Tag::TableHead => self.element("<thead><tr>", HEAD_END),
            Tag::TableRow => self.element("<tr>", "</tr>"),
            Tag::TableCell => match self.open.last() {
                Some(Open::Element(HEAD_END)) => self.element("<th scope=\"col\">", "</th>"),
                _ => self.element("<td>", "</td>"),
            },
            Tag::Emphasis => self.element("<em>", "</em>"),
            Tag::Strong => self.element("<strong>", "</strong>"),
            Tag::Strikethrough => self.element("<s>", "</s>"),
            Tag::Link { dest_url, .. } => match target(self.root, self.path, &dest_url) {
                Some(address) => {
                    self.page.push_str("<a rel=\"noreferrer\" href=\"");
                    text::write(&mut self.page, &text::plain(&address));
                    self.element("\">", "</a>");
                }
                None => self.element("<span>", "</span>"),
            },
            // Pictures are not in the index, and those of others are not loaded.
            Tag::Image { .. } => self.element("<span class=\"weak\">", "</span>"),
            _ => self.element("", ""),
        }
    }

    fn end(&mut self, _: TagEnd) {
        match self.open.pop() {
            Some(Open::Element(end)) => self.page.push_str(end),
            Some(Open::Heading(level, at, words)) => {
                self.page.insert_str(at, &format!("<h{level} id=\"{ID}{}\">", slug(&words)));
                _ = write!(self.page, "</h{level}>");
            }
            Some(Open::Code(language, code)) => {
                self.page.push_str("<pre class=\"snippet\" tabindex=\"0\"><code>");
                let id = languages::named(&language);
                let known =
                    LANGUAGES.iter().copied().find(|spec| !language.is_empty() && spec.is_built() && spec.id == id);
                match known.filter(|_| Instant::now() < self.until) {
                    Some(spec) => coloured(&mut self.page, code.as_bytes(), spec),
                    None => text::write(&mut self.page, &code),
                }
                self.page.push_str("</code></pre>");
            }
            Some(Open::Markup(markup)) => {
                let words = without_tags(&markup);
                if !words.trim().is_empty() {
                    self.page.push_str("<p>");
                    text::write(&mut self.page, words.trim());
                    self.page.push_str("</p>");
                }
            }
            None => {}
        }
    }
}

/// The level of a heading on a page, which has a title of its own.
fn below(level: HeadingLevel) -> u8 {
    (level as u8 + 1).min(6)
}

/// The name of a heading in an address.
fn slug(words: &str) -> String {
    let letters = words.trim().chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
    letters.map(|char| if char == ' ' { '-' } else { char }).collect::<String>().to_lowercase()
}

/// Markup without tags and comments.
fn without_tags(markup: &str) -> String {
    let (mut words, mut rest) = (String::new(), markup);
    while let Some(at) = rest.find('<') {
        words.push_str(&rest[..at]);
        let end = if rest[at..].starts_with("<!--") { "-->" } else { ">" };
        rest = rest[at..].find(end).map_or("", |length| &rest[at + length + end.len()..]);
    }
    words.push_str(rest);
    words
}

/// The address that a link leads to; `None` where a page must not lead.
fn target(root: &str, path: &str, link: &str) -> Option<String> {
    if let Some(heading) = link.strip_prefix('#') {
        return Some(format!("#{ID}{}", links::encoded(&slug(&links::decoded(heading)?), "")));
    }
    let is_named = |scheme: &str| link.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    if ["https://", "http://", "mailto:"].into_iter().any(is_named) {
        return Some(link.to_owned());
    }
    let end = link.find(['#', '?']).unwrap_or(link.len());
    let inside = links::decoded(&link[..end]).filter(|inside| !inside.contains(':') && !inside.starts_with("//"))?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if inside.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in inside.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    Some(links::below(root, &parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::{is_markdown, shown, target};

    fn page(source: &str) -> String {
        shown("/r/a/b", "docs/README.md", source).into_string()
    }

    #[test]
    fn elements_are_those_of_markdown() {
        assert_eq!(page("# A *b*\n\nc `d<`\n"), "<h2 id=\"doc-a-b\">A <em>b</em></h2><p>c <code>d&lt;</code></p>");
        assert_eq!(page("3. x\n"), "<ol start=\"3\"><li>x</li></ol>");
        let code = page("```py\ndef a(): # <\n```\n");
        assert!(code.contains("<i class=\"k\">def</i>") && code.contains("# &lt;"), "{code}");
        let table = page("a | b\n--|--\n1 | 2\n");
        assert!(
            table.contains("<thead><tr><th scope=\"col\">a</th>") && table.contains("<tbody><tr><td>1</td>"),
            "{table}"
        );
    }

    #[test]
    fn markup_and_schemes_of_a_text_do_nothing() {
        let page = page(
            "<h1 align=x>Hi<script>alert(1)</script></h1>\n\nx <img src=y onerror=z> <!-- a > b --> [j](javascript:alert(1)) ![p](https://x/y.png) \u{202e}",
        );
        assert!(page.contains("<p>Hialert(1)</p>") && page.contains("<span>j</span>"), "{page}");
        for bad in ["<script", "<img", "onerror", "javascript:", "y.png", "\u{202e}", "<!--"] {
            assert!(!page.contains(bad), "{bad} is in {page}");
        }
    }

    #[test]
    fn links_lead_on_from_the_file() {
        let to = |link: &str| target("/r/a/b", "docs/README.md", link);
        assert_eq!(to("../src/x y.rs#L3").as_deref(), Some("/r/a/b/src/x%20y.rs"));
        assert_eq!(to("sub/").as_deref(), Some("/r/a/b/docs/sub"));
        assert_eq!(to("/top.md").as_deref(), Some("/r/a/b/top.md"));
        assert_eq!(to("../../../..").as_deref(), Some("/r/a/b/"));
        assert_eq!(to("#A%20Name").as_deref(), Some("#doc-a-name"));
        assert_eq!(to("https://x.example/").as_deref(), Some("https://x.example/"));
        for no in ["javascript:x", "JavaScript:x", "data:text/html,x", "//x.example", "%6aavascript%3Ax"] {
            assert_eq!(to(no), None, "{no}");
        }
        assert!(is_markdown("a/README.MD") && !is_markdown("md"));
    }
}
