//! Expressions in the markup of components: each is a statement beside the scripts, at its own place.

use std::ops::Range;

/// A framework's way to write expressions in markup.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    Vue,
    Svelte,
    Astro,
}

/// Words of the language, which are no names.
const KEYWORDS: &[&[u8]] = &[
    b"as",
    b"async",
    b"await",
    b"case",
    b"class",
    b"const",
    b"delete",
    b"do",
    b"else",
    b"for",
    b"function",
    b"if",
    b"in",
    b"instanceof",
    b"let",
    b"new",
    b"of",
    b"return",
    b"switch",
    b"throw",
    b"try",
    b"typeof",
    b"var",
    b"void",
    b"while",
    b"yield",
];
/// Functions of Svelte's compiler that begin with the sign of a store.
const RUNES: &[&[u8]] = &[b"$bindable", b"$derived", b"$effect", b"$host", b"$inspect", b"$props", b"$state"];
/// Directives of Svelte whose word after the colon is a name of the script.
const NAMING: &[&[u8]] = &[b"animate", b"in", b"out", b"transition", b"use"];

/// Adds the expressions of a page's markup to the text of its scripts, which has spaces in their place. `gaps` are the
/// parts of the page between scripts and styles.
pub(super) fn add(markup: Markup, text: &[u8], gaps: &[Range<usize>], made: &mut [u8]) {
    let mut page = Page { markup, text, made, kept: Vec::new(), bound: Vec::new() };
    gaps.iter().for_each(|gap| page.read(gap.clone()));
    page.hide_bound();
    if markup == Markup::Svelte {
        read_stores(made);
    }
}

/// Takes the sign before a store's name away: `$count` is the value of `count`.
fn read_stores(made: &mut [u8]) {
    let signs: Vec<usize> = memchr::memchr_iter(b'$', made).collect();
    for at in signs {
        let name = name_at(made, at);
        let is_store = name.len() > 1 && name[1].is_ascii_alphabetic() && !RUNES.contains(&name);
        if is_store && (at == 0 || !is_of_name(made[at - 1]) && made[at - 1] != b'.') {
            made[at] = b' ';
        }
    }
}

struct Page<'p> {
    markup: Markup,
    text: &'p [u8],
    made: &'p mut [u8],
    /// Expressions that were added.
    kept: Vec<Range<usize>>,
    /// Names that loops and slots bind.
    bound: Vec<&'p [u8]>,
}

impl<'p> Page<'p> {
    /// Reads markup.
    fn read(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let rest = &self.text[at..range.end];
            at = match rest {
                _ if rest.starts_with(b"<!--") => {
                    memchr::memmem::find(rest, b"-->").map_or(range.end, |end| at + end + 3)
                }
                [b'<', next, ..] if next.is_ascii_alphabetic() => self.tag(at, range.end),
                [b'{', ..] => self.braces(at, range.end),
                _ => at + 1,
            };
        }
    }

    /// Reads a tag, and returns its end.
    fn tag(&mut self, start: usize, end: usize) -> usize {
        let is_of_tag = |byte: &u8| is_of_name(*byte) || matches!(byte, b'-' | b'.' | b':');
        let name = start + 1..start + 1 + self.text[start + 1..end].iter().take_while(|byte| is_of_tag(byte)).count();
        if self.text[name.start].is_ascii_uppercase() && !self.text[name.clone()].contains(&b'-') {
            self.keep(name.clone());
        }
        let mut at = name.end;
        while at < end {
            at = match self.text[at] {
                b'>' => return at + 1,
                b'{' if self.markup != Markup::Vue => self.braces(at, end),
                byte if byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'') => at + 1,
                _ => self.attribute(at, end),
            };
        }
        end
    }

    /// Reads an attribute with its value, and returns its end.
    fn attribute(&mut self, start: usize, end: usize) -> usize {
        let text = self.text;
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'>');
        let length = text[start..end].iter().position(ends).unwrap_or(end - start).max(1);
        let name = start..start + length;
        let Some(value) = skip_spaces(text, name.end, end).filter(|at| text[*at] == b'=') else {
            self.directive(name.clone(), false);
            return name.end;
        };
        self.directive(name.clone(), true);
        let Some(value) = skip_spaces(text, value + 1, end) else { return end };
        match text[value] {
            quote @ (b'"' | b'\'' | b'`') => {
                let close = memchr::memchr(quote, &text[value + 1..end]).map_or(end, |length| value + 1 + length);
                match self.markup {
                    Markup::Vue => self.vue_value(&text[name], value + 1..close),
                    Markup::Svelte => self.read(value + 1..close),
                    Markup::Astro => {}
                }
                (close + 1).min(end)
            }
            b'{' if self.markup != Markup::Vue => self.braces(value, end),
            _ => value + text[value..end].iter().position(ends).unwrap_or(end - value).max(1),
        }
    }

    /// Reads the name of an attribute: in Svelte it may name an action or a variable.
    fn directive(&mut self, name: Range<usize>, has_value: bool) {
        let written = &self.text[name.clone()];
        let Some(colon) = memchr::memchr(b':', written).filter(|_| self.markup == Markup::Svelte) else { return };
        let (kind, after) = (&written[..colon], name.start + colon + 1);
        let word = after..after + name_at(self.text, after).len();
        match kind {
            b"let" => self.bound.push(&self.text[word]),
            _ if NAMING.contains(&kind) || (!has_value && matches!(kind, b"bind" | b"class" | b"style")) => {
                self.keep(word);
            }
            _ => {}
        }
    }

    /// Reads the value of an attribute of Vue.
    fn vue_value(&mut self, name: &'p [u8], value: Range<usize>) {
        let written = &self.text[value.clone()];
        if name.starts_with(b"#") || name.starts_with(b"v-slot") {
            return self.bind(value);
        }
        if name.starts_with(b"v-for") {
            let words = [&b" in "[..], b" of "].into_iter().filter_map(|word| memchr::memmem::find(written, word));
            if let Some(at) = words.min() {
                self.bind(value.start..value.start + at);
                self.keep(value.start + at + 4..value.end);
            }
        } else if name.starts_with(b"v-") || matches!(name[0], b':' | b'@') {
            self.keep(value);
        }
    }

    /// Reads what stands in braces, and returns its end.
    fn braces(&mut self, start: usize, end: usize) -> usize {
        let text = self.text;
        if self.markup == Markup::Vue {
            let inside = text[start..end].strip_prefix(b"{{").and_then(|rest| memchr::memmem::find(rest, b"}}"));
            let Some(length) = inside else { return start + 1 };
            self.keep(start + 2..start + 2 + length);
            return start + length + 4;
        }
        let Some(close) = closing(&text[start..end]).map(|length| start + length) else { return start + 1 };
        let mut inside = start + 1..close;
        while inside.start < close && (text[inside.start].is_ascii_whitespace() || text[inside.start] == b'.') {
            inside.start += 1;
        }
        match (self.markup, text[inside.start]) {
            (Markup::Svelte, b'#' | b':' | b'@' | b'/') => self.block(inside),
            (Markup::Astro, _) => match markup_in(&text[inside.clone()]) {
                Some(length) => {
                    self.names(inside.start..inside.start + length);
                    self.read(inside.start + length..close);
                }
                None => self.keep(inside),
            },
            _ => self.keep(inside),
        }
        close + 1
    }

    /// Reads a block of Svelte, such as `#each items as item`.
    fn block(&mut self, inside: Range<usize>) {
        let text = self.text;
        let word = inside.start..inside.start + 1 + name_at(text, inside.start + 1).len();
        let mut rest = word.end..inside.end;
        match &text[word] {
            b"#snippet" | b":then" | b":catch" => return self.bind(rest),
            b":else" => {
                let Some(at) = memchr::memmem::find(&text[rest.clone()], b"if ") else { return };
                rest.start += at + 3;
            }
            word if word.starts_with(b"/") => return,
            _ => {}
        }
        let binding = [&b" as "[..], b" then "].into_iter().find_map(|word| {
            memchr::memmem::find(&text[rest.clone()], word).map(|at| (rest.start + at, rest.start + at + word.len()))
        });
        if let Some((before, behind)) = binding {
            self.bind(behind..rest.end);
            rest.end = before;
        }
        self.keep(rest);
    }

    /// Notes the names that a pattern binds.
    fn bind(&mut self, pattern: Range<usize>) {
        let text = self.text;
        let mut at = pattern.start;
        while at < pattern.end {
            let name = name_at(text, at);
            self.bound.extend((!name.is_empty()).then_some(name));
            at += name.len().max(1);
        }
    }

    /// Adds an expression, in braces or brackets in place of its own marks.
    fn keep(&mut self, range: Range<usize>) {
        let written = self.text[range.clone()].trim_ascii_start();
        if written.is_empty() {
            return;
        }
        if !is_balanced(written) {
            return self.names(range);
        }
        self.made[range.clone()].copy_from_slice(&self.text[range.clone()]);
        let is_block =
            !written.starts_with(b"{") && !written.starts_with(b"function") && !written.starts_with(b"class");
        let (open, close) = if is_block { (b'{', b'}') } else { (b'(', b')') };
        self.mark(range.start.checked_sub(1), open);
        self.mark(Some(range.end), close);
        if !is_block {
            self.mark(range.start.checked_sub(2), b';');
            self.mark(Some(range.end + 1), b';');
        }
        self.kept.push(range);
    }

    /// Puts a mark between expressions, where there is nothing but a space.
    fn mark(&mut self, at: Option<usize>, mark: u8) {
        if let Some(free) = at.and_then(|at| self.made.get_mut(at)).filter(|byte| matches!(byte, b' ' | b';')) {
            *free = mark;
        }
    }

    /// Adds the names alone of an expression that is not whole.
    fn names(&mut self, range: Range<usize>) {
        let text = self.text;
        let mut at = range.start;
        while at < range.end {
            let name = name_at(&text[..range.end], at);
            let follows_dot = text[range.start..at].trim_ascii_end().ends_with(b".");
            if !name.is_empty() && !follows_dot && !KEYWORDS.contains(&name) && !name[0].is_ascii_digit() {
                self.made[at..at + name.len()].copy_from_slice(name);
                self.mark(Some(at + name.len()), b';');
                self.kept.push(at..at + name.len());
            }
            at += name.len().max(1);
        }
    }

    /// Puts a number in place of the names that loops and slots bind, so that they are none of the script.
    fn hide_bound(&mut self) {
        if self.bound.is_empty() {
            return;
        }
        for range in std::mem::take(&mut self.kept) {
            let mut at = range.start;
            while at < range.end {
                let name = name_at(&self.text[..range.end], at);
                let follows_dot = self.text[range.start..at].ends_with(b".");
                if self.bound.contains(&name) && !follows_dot {
                    self.made[at..at + name.len()].fill(b' ');
                    self.made[at] = b'0';
                }
                at += name.len().max(1);
            }
        }
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// The name or number that begins here; empty for none.
fn name_at(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    &rest[..rest.iter().take_while(|byte| is_of_name(**byte)).count()]
}

fn skip_spaces(text: &[u8], at: usize, end: usize) -> Option<usize> {
    text[at.min(end)..end].iter().position(|byte| !byte.is_ascii_whitespace()).map(|length| at + length)
}

/// The place of the brace that closes the one at the start.
fn closing(text: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0_u32, 0);
    while at < text.len() {
        match text[at] {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth -= 1,
            quote @ (b'"' | b'\'' | b'`') => at += quoted(&text[at + 1..], quote),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The length of the rest of a text in quotes; none for a quote without an end in its line, such as an apostrophe.
fn quoted(text: &[u8], quote: u8) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'\n' if quote != b'`' => return 0,
            byte if *byte == quote => return at + 1,
            _ => {}
        }
    }
    0
}

/// Whether all brackets and quotes are closed.
fn is_balanced(text: &[u8]) -> bool {
    let (mut open, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match text[at] {
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            byte @ (b')' | b']' | b'}') if open.pop() != Some(byte) => return false,
            quote @ (b'"' | b'\'' | b'`') => match quoted(&text[at + 1..], quote) {
                0 => return false,
                length => at += length,
            },
            _ => {}
        }
        at += 1;
    }
    open.is_empty()
}

/// Where elements begin in an expression.
fn markup_in(text: &[u8]) -> Option<usize> {
    let opens = |at: &usize| text.get(at + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'>');
    let is_type = |at: &usize| *at > 0 && is_of_name(text[at - 1]);
    memchr::memchr_iter(b'<', text).find(|at| opens(at) && !is_type(at))
}
