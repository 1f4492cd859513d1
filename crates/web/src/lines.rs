//! Lines of a file as HTML: numbered, coloured, with names as links.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use maud::{Markup, PreEscaped};

use super::links::WINDOW;
use super::names::Name;
use super::text;
use codelode_base::model::Span;
use codelode_lang::languages::{LanguageSpec, TimeAtWork};
use codelode_query::text::colours::{self, Colour, HighlightedRange};
use codelode_query::text::window::Pieces;

/// Bytes of a line that are shown.
const LONGEST: usize = 5_000;
/// Bytes of the lines on one page; where there are more, every long line is cut.
const MOST_BYTES: usize = 300_000;
/// Processor time for parsing; without a syntax tree a text has no colours.
const PARSING: Duration = Duration::from_millis(120);

/// A window of a file's lines.
pub(super) struct Window {
    /// First line, one-based.
    pub first: u32,
    /// Last line; before the first one in an empty file.
    pub last: u32,
    /// Lines of the file.
    pub of: u32,
    /// Bytes of these lines.
    pub span: Span,
    /// Bytes of a line that are shown.
    longest: usize,
}

impl Window {
    /// The window with a line, one-based. Windows begin at fixed lines, so that addresses share them.
    pub fn around(content: &[u8], line: u32) -> Self {
        let starts: Vec<usize> = [0].into_iter().chain(memchr::memchr_iter(b'\n', content).map(|at| at + 1)).collect();
        let of = (starts.len() - usize::from(content.is_empty() || content.ends_with(b"\n"))) as u32;
        let first = (line.clamp(1, of.max(1)) - 1) / WINDOW * WINDOW + 1;
        let last = first.saturating_add(WINDOW - 1).min(of);
        let at = |line: u32| starts.get(line as usize).copied().unwrap_or(content.len());
        let span = Span::new(at(first - 1), at(last));
        let shown = (first..=last).map(|line| (at(line) - at(line - 1)).min(LONGEST)).sum::<usize>();
        let longest = if shown > MOST_BYTES { MOST_BYTES / WINDOW as usize } else { LONGEST };
        Self { first, last, of, span, longest }
    }

    /// Whether all lines are in it.
    pub fn is_whole(&self) -> bool {
        self.first == 1 && self.last >= self.of
    }
}

/// Additions to the lines of a window.
#[derive(Default)]
pub(super) struct Beside {
    /// Markup before the number of each line, from the first of the window on; none for lines without a margin.
    pub margin: Vec<String>,
    /// Lines of an earlier text that are gone, by the line that they stood before.
    pub gone: BTreeMap<u32, Vec<Vec<u8>>>,
    /// Lines that the earlier text does not have.
    pub new: HashSet<u32>,
}

/// Reads the syntax of a window, for which these pieces of the text are enough.
pub(super) fn painted(
    content: &[u8],
    window: &Window,
    pieces: &Pieces,
    spec: &'static LanguageSpec,
) -> HighlightedRange {
    // Its time is no part of the limit, or the first page of a language would have no colours.
    colours::prepare(spec);
    let (begun, work) = (Instant::now(), TimeAtWork::begin());
    // A busy machine shows the same colours as a quiet one; the processor time takes longer to read than the clock.
    let is_over = || begun.elapsed() >= PARSING && (work.taken() >= PARSING || begun.elapsed() >= PARSING * 5);
    colours::read(content, window.span, pieces, spec, &is_over)
}

/// Writes the lines of a window.
pub(super) fn write(
    content: &[u8],
    window: &Window,
    colours: &[Option<Colour>],
    names: &[Name],
    beside: &Beside,
) -> String {
    let part = window.span.of(content);
    let mut page = String::with_capacity(part.len() * 4 + 64);
    let mut writer = Writer { part, start: window.span.start, colours, names, next: 0 };
    let mut at = 0;
    for number in window.first..=window.last {
        gone(&mut page, beside, number);
        let length = memchr::memchr(b'\n', &part[at..]).unwrap_or(part.len() - at);
        let line = part[at..at + length].strip_suffix(b"\r").unwrap_or(&part[at..at + length]);
        let class = if beside.new.contains(&number) { "l new" } else { "l" };
        let margin = beside.margin.get((number - window.first) as usize).map_or("", String::as_str);
        _ = write!(
            page,
            "<span class=\"{class}\" id=\"L{number}\">{margin}<a class=\"n\" tabindex=\"-1\" href=\"#L{number}\">{number}</a>"
        );
        let shown = line.len().min(window.longest);
        writer.line(&mut page, at, at + shown);
        if shown < line.len() {
            _ = write!(page, "<em class=\"cut\">… {} more bytes</em>", line.len() - shown);
        }
        page.push_str("\n</span>");
        at += length + 1;
    }
    gone(&mut page, beside, window.last + 1);
    page
}

/// A text of a few lines in the colours of a language.
pub(super) fn in_colours(text: &str, spec: &'static LanguageSpec) -> Markup {
    let mut page = String::with_capacity(text.len() * 2);
    coloured(&mut page, text.as_bytes(), spec);
    PreEscaped(page)
}

/// Writes a text in the colours of a language, without lines and links.
pub(super) fn coloured(page: &mut String, content: &[u8], spec: &'static LanguageSpec) {
    let window = Window::around(content, 1);
    let colours = painted(content, &window, &Pieces::default(), spec).colours;
    let part = window.span.of(content);
    Writer { part, start: window.span.start, colours: &colours, names: &[], next: 0 }.coloured(page, 0, part.len());
    text::write_bytes(page, &content[part.len()..]);
}

/// Writes the lines that stood before a line, and are gone.
fn gone(page: &mut String, beside: &Beside, number: u32) {
    let margin = if beside.margin.is_empty() { "" } else { "<span class=\"by\"></span>" };
    for line in beside.gone.get(&number).into_iter().flatten() {
        _ = write!(page, "<del class=\"l\">{margin}<span class=\"n\">−</span>");
        text::write_bytes(page, &line[..line.len().min(LONGEST)]);
        page.push_str("\n</del>");
    }
}

/// Pieces of a part of a text, in order.
struct Writer<'a> {
    part: &'a [u8],
    /// Where the part begins in the file.
    start: u32,
    colours: &'a [Option<Colour>],
    names: &'a [Name],
    /// The first name that is not written yet.
    next: usize,
}

impl Writer<'_> {
    fn line(&mut self, page: &mut String, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            while self.names.get(self.next).is_some_and(|name| ((name.span.start - self.start) as usize) < at) {
                self.next += 1;
            }
            let name = self.names.get(self.next);
            let begins = name.map_or(to, |name| ((name.span.start - self.start) as usize).min(to));
            self.coloured(page, at, begins);
            at = begins;
            let Some(name) = name.filter(|_| begins < to) else { continue };
            let end = (begins + name.span.len()).min(to);
            _ = write!(page, "<a class=\"{}\" href=\"", name.class);
            text::write(page, &name.link);
            page.push_str("\">");
            text::write_bytes(page, &self.part[begins..end]);
            page.push_str("</a>");
            at = end;
        }
    }

    /// Writes text between names.
    fn coloured(&self, page: &mut String, mut at: usize, to: usize) {
        while at < to {
            let colour = self.colours.get(at).copied().flatten();
            let same = (at..to).take_while(|at| self.colours.get(*at).copied().flatten() == colour).count();
            let class = match colour {
                None => "",
                Some(Colour::Comment) => "rem",
                Some(Colour::Text) => "s",
                Some(Colour::Number) => "u",
                Some(Colour::Keyword) => "k",
                Some(Colour::Type) => "t",
                Some(Colour::Function) => "f",
                Some(Colour::Constant) => "o",
            };
            match class {
                "" => text::write_bytes(page, &self.part[at..at + same]),
                class => {
                    _ = write!(page, "<i class=\"{class}\">");
                    text::write_bytes(page, &self.part[at..at + same]);
                    page.push_str("</i>");
                }
            }
            at += same;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Beside, Window, painted, write};
    use crate::names::Name;
    use codelode_base::model::Span;
    use codelode_query::text::window::Pieces;

    #[test]
    fn lines_have_numbers_colours_and_links_and_no_markup_of_their_own() {
        let content = b"x = '<b>' # <i>\r\nadd(x)\n";
        let spec = codelode_lang::languages::of_file("a.py", b"").expect("it is built in").1;
        let name = Name { span: Span::new(17, 20), class: "n-fn", link: "/r/a/b?x=\"&y#L1".to_owned() };
        let window = Window::around(content, 1);
        let colours = painted(content, &window, &Pieces::default(), spec).colours;
        let page = write(content, &window, &colours, &[name], &Beside::default());
        let expected = "<span class=\"l\" id=\"L1\"><a class=\"n\" tabindex=\"-1\" href=\"#L1\">1</a>\
            x = <i class=\"s\">&#39;&lt;b&gt;&#39;</i> <i class=\"rem\"># &lt;i&gt;</i>\n</span>\
            <span class=\"l\" id=\"L2\"><a class=\"n\" tabindex=\"-1\" href=\"#L2\">2</a>\
            <a class=\"n-fn\" href=\"/r/a/b?x=&quot;&amp;y#L1\">add</a>(x)\n</span>";
        assert_eq!(page, expected);
    }

    #[test]
    fn lines_that_are_new_or_gone_stand_out() {
        let mut beside = Beside { margin: vec!["<b></b>".to_owned()], ..Beside::default() };
        beside.new.insert(1);
        beside.gone.insert(2, vec![b"<x>".to_vec()]);
        let page = write(b"a\n", &Window::around(b"a\n", 1), &[], &[], &beside);
        let expected = "<span class=\"l new\" id=\"L1\"><b></b><a class=\"n\" tabindex=\"-1\" href=\"#L1\">1</a>a\n</span>\
            <del class=\"l\"><span class=\"by\"></span><span class=\"n\">−</span>&lt;x&gt;\n</del>";
        assert_eq!(page, expected);
    }

    #[test]
    fn long_files_come_in_windows_and_long_lines_are_cut() {
        let content = "a\n".repeat(20_000).into_bytes();
        let window = Window::around(&content, 19_999);
        assert_eq!((window.first, window.last, window.of), (19_501, 20_000, 20_000));
        assert_eq!(window.span, Span::new(39_000, 40_000));
        assert_eq!(Window::around(&content, 0).first, 1);
        assert_eq!(Window::around(&content, u32::MAX).first, 19_501);
        assert!(Window::around(b"a\nb", 1).is_whole() && Window::around(b"", 1).is_whole());
        assert_eq!((Window::around(b"a\nb", 1).of, Window::around(b"", 9).of), (2, 0));
        let wide = format!("{}\n", "x".repeat(400)).repeat(3_000).into_bytes();
        let window = Window::around(&wide, 1_501);
        assert_eq!((window.first, window.last), (1_501, 3_000), "all lines are to be had");
        let page = write(&wide, &window, &[], &[], &Beside::default());
        assert!(page.contains("… 200 more bytes") && page.len() < 500_000, "{}", page.len());
        let long = [vec![b'x'; 1 << 20], b"\ny".to_vec()].concat();
        let page = write(&long, &Window::around(&long, 1), &[], &[], &Beside::default());
        assert!(page.len() < 6_000 && page.contains("… 1043576 more bytes"), "{}", page.len());
        assert!(page.ends_with("2</a>y\n</span>"));
    }
}
