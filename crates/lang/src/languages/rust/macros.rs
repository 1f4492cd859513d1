//! Symbols inside macros, and of syntax that the grammar does not have: macros 2.0 and trait aliases.

use tree_sitter::Node;

use super::record;
use crate::languages::definition::span_of;
use crate::languages::{Cx, Definition, Inside, Place};
use codelode_base::model::{Detail, Kind, Marks, Span};

/// Macros with quoted code, which is defined elsewhere.
const QUOTES: &[&str] = &["quote", "quote_spanned", "parse_quote", "parse_quote_spanned", "stringify"];

/// Macros with patterns, of which the tokens say as much.
const PATTERNS: &[&str] = &["matches", "assert_matches", "debug_assert_matches"];

/// Words of expressions that tokens do not explain.
const EXPRESSION_WORDS: &[&[u8]] = &[b"match", b"if", b"async", b"unsafe", b"loop", b"let"];

/// Words that begin an item.
const ITEM_WORDS: &[&[u8]] =
    &[b"fn", b"struct", b"enum", b"union", b"trait", b"mod", b"static", b"const", b"type", b"impl", b"macro_rules"];

/// The length of text searched for such syntax.
const FAR: usize = 4096;

/// The text of a macro that is parsed again.
pub fn inside<'t>(cx: &mut Cx<'_, '_>, node: Node<'t>) -> Option<Inside<'t>> {
    item_macro(cx, node).map(Inside::Items).or_else(|| arguments(cx, node).map(Inside::Arguments))
}

/// The arguments of a macro, if there are closures or branches in them. All others are explained by their tokens.
fn arguments<'t>(cx: &Cx<'_, '_>, node: Node<'t>) -> Option<Node<'t>> {
    const LONGEST: usize = 16_384;
    let tokens = node.child(node.child_count().checked_sub(1)?).filter(|tokens| tokens.kind() == "token_tree")?;
    let text = cx.text(tokens).as_bytes();
    if text.len() > LONGEST || text.first() == Some(&b'{') {
        return None;
    }
    let words = || text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    let is_code = memchr::memchr(b'|', text).is_some() && has_bars(tokens)
        || memchr::memchr(b'{', text).is_some() && words().any(|word| EXPRESSION_WORDS.contains(&word));
    let name = cx.text(node.child(0)?);
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    (is_code && !QUOTES.contains(&name) && !PATTERNS.contains(&name)).then_some(tokens)
}

/// Whether there are bars of a closure among some tokens, not only in texts and comments.
fn has_bars(tokens: Node<'_>) -> bool {
    let mut cursor = tokens.walk();
    loop {
        if matches!(cursor.node().kind(), "|" | "||") {
            return true;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

/// The expansion of a macro by example, if it may use names that it is given as members, or give them to another
/// macro. Items are not read.
pub fn rule<'t>(cx: &mut Cx<'_, '_>, node: Node<'t>) -> Option<Inside<'t>> {
    const LONGEST: usize = 16_384;
    let right = node.child_by_field_name("right")?;
    let text = cx.text(right).as_bytes();
    let words = || text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    let has = |part: &[u8]| memchr::memmem::find(text, part).is_some();
    let is_used = text.len() < LONGEST
        && (has(b".$") || has(b"$") && (has(b"!(") || has(b"![")))
        && !words().any(|word| ITEM_WORDS.contains(&word) || word == b"use");
    is_used.then_some(Inside::Template(right))
}

/// The text of a macro in the place of an item, or written with braces, if a word in it begins an item. Most macros
/// in functions are calls: their text is not parsed again.
fn item_macro<'t>(cx: &mut Cx<'_, '_>, node: Node<'t>) -> Option<Node<'t>> {
    let tokens = node.child(node.child_count().checked_sub(1)?)?;
    if tokens.kind() != "token_tree" {
        return None;
    }
    let text = cx.text(tokens).as_bytes();
    if cx.place() == Place::Function && text.first() != Some(&b'{') {
        return None;
    }
    let mut words = text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    if !words.any(|word| ITEM_WORDS.contains(&word)) {
        return None;
    }
    let name = cx.text(node.child(0)?);
    match name.rsplit("::").next().unwrap_or(name).trim() {
        "bitflags" => {
            flags(cx, tokens);
            None
        }
        name if QUOTES.contains(&name) => None,
        _ => Some(tokens),
    }
}

/// Reads `bitflags!`, which has a grammar of its own, `struct Name: u8 { const A = 1; }`: an item is recognized by
/// its first word, its name and its end.
fn flags(cx: &mut Cx<'_, '_>, tokens: Node<'_>) {
    let mut item = Item::default();
    let mut cursor = tokens.walk();
    for token in tokens.children(&mut cursor).filter(|token| !token.is_extra()) {
        let kind = token.kind();
        let is_body = kind == "token_tree" && cx.text(token).starts_with('{');
        if std::mem::take(&mut item.is_named_next) {
            item.name = Some(token).filter(|token| token.kind() == "identifier");
            continue;
        }
        match (item.word, kind) {
            ("", "{" | "}") => {}
            ("", "#") => item.hash = Some(token),
            ("", "token_tree") if let Some(hash) = item.hash.take() => {
                item.attributes.push(Span::new(hash.start_byte(), token.end_byte()));
            }
            ("", "struct" | "impl" | "const") => {
                item.first.get_or_insert(token);
                (item.word, item.is_named_next) = (kind, true);
            }
            ("const", ";") => {
                std::mem::take(&mut item).define(cx, Kind::Constant, Detail::Constant, token, None);
            }
            ("struct", _) if is_body => {
                std::mem::take(&mut item).define(cx, Kind::Class, Detail::Struct, token, Some(token));
                flags(cx, token);
            }
            ("impl", _) if is_body => {
                if let Some(name) = std::mem::take(&mut item).name {
                    cx.arrive(name.start_byte());
                    cx.contain(span_of(name), token.end_byte(), Marks::default());
                }
                flags(cx, token);
            }
            ("", _) => {
                item.first.get_or_insert(token);
            }
            _ => {}
        }
    }
}

/// An item among a macro's tokens, as far as it is read.
#[derive(Default)]
struct Item<'t> {
    /// The last `#`, until its attribute is read.
    hash: Option<Node<'t>>,
    attributes: Vec<Span>,
    /// The first token after the attributes.
    first: Option<Node<'t>>,
    /// The keyword of the item; empty until it is read.
    word: &'t str,
    is_named_next: bool,
    name: Option<Node<'t>>,
}

impl Item<'_> {
    fn define(self, cx: &mut Cx<'_, '_>, kind: Kind, detail: Detail, last: Node<'_>, body: Option<Node<'_>>) {
        let (Some(first), Some(name)) = (self.first, self.name) else { return };
        let mut definition = Definition::new(first, name, kind, detail).before(body);
        definition.span.end = last.end_byte() as u32;
        definition.signature.end = body.map_or(definition.span.end, |body| body.start_byte() as u32);
        record(cx, Definition { decorators: self.attributes, ..definition });
    }
}

/// `trait Name = A + B;`, at its first word: the grammar knows no trait aliases.
pub fn trait_alias(cx: &mut Cx<'_, '_>, keyword: Node<'_>) {
    let source = cx.source();
    let Some(end) = alias_end(source, keyword) else { return };
    let Some(start) = item_start(source, keyword.start_byte()) else { return };
    let span = Span::new(start, end);
    if !fits(cx, span) {
        return;
    }
    let name = word_after(source, keyword.end_byte());
    record(
        cx,
        Definition { name, span, signature: span, ..Definition::new(keyword, keyword, Kind::Type, Detail::Alias) },
    );
}

/// Whether a node that the grammar takes for a trait is an alias and the item after it.
pub fn is_trait_alias(cx: &Cx<'_, '_>, node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let keyword = node.children(&mut cursor).find(|child| child.kind() == "trait");
    node.has_error() && keyword.is_some_and(|keyword| alias_end(cx.source(), keyword).is_some())
}

/// The end of an alias that begins with `keyword`: a trait has a body, an alias has an equals sign and a semicolon.
fn alias_end(source: &[u8], keyword: Node<'_>) -> Option<usize> {
    let rest = source.get(keyword.end_byte()..)?;
    let rest = &rest[..rest.len().min(FAR)];
    let end = memchr::memchr2(b'{', b';', rest)?;
    (rest[end] == b';' && rest[..end].contains(&b'=')).then_some(keyword.end_byte() + end + 1)
}

/// `macro name(…) { … }` and `macro name { (…) => { … } }` (macros 2.0), which the grammar does not know. A metavariable
/// such as `$x` that the walk comes to can only be in one: those of `macro_rules!` and of macro calls are passed over.
pub fn metavariable(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    const KEYWORD: &[u8] = b"macro ";
    let source = cx.source();
    let line_start = |at: usize| {
        let from = at.saturating_sub(FAR);
        memchr::memrchr(b'\n', &source[from..at]).map_or(from, |newline| from + newline + 1)
    };
    // The keyword is on this line or, with the rules in a block of their own, on the line above.
    let own = line_start(node.start_byte());
    let above = line_start(own.saturating_sub(1));
    for line in [own, above] {
        let Some(at) = memchr::memmem::find(&source[line..node.start_byte()], KEYWORD) else { continue };
        let Some(start) = item_start(source, line + at) else { continue };
        let name = word_after(source, line + at + KEYWORD.len());
        if cx.enclosing().is_some_and(|symbol| symbol.name == name) {
            return;
        }
        let after = &source[name.end as usize..];
        let after = &after[..after.len().min(FAR)];
        let Some((body, length)) = braced(after) else { return };
        let body = name.end as usize + body;
        let span = Span::new(start, body + length);
        if !fits(cx, span) {
            return;
        }
        let signature = Span::new(start, body);
        let unnamed = Definition::new(node, node, Kind::Function, Detail::Macro);
        return record(cx, Definition { name, span, signature, runs: false, ..unnamed });
    }
}

/// Whether a span found by its text is inside the current symbol.
fn fits(cx: &Cx<'_, '_>, span: Span) -> bool {
    cx.enclosing().is_none_or(|symbol| symbol.span.contains(span))
}

/// The start of the item with this keyword: its visibility. `None` if another word precedes it on its line.
fn item_start(source: &[u8], keyword: usize) -> Option<usize> {
    let line = memchr::memrchr(b'\n', &source[..keyword]).map_or(0, |newline| newline + 1);
    let before = source[line..keyword].trim_ascii();
    let is_visibility = before == b"pub" || before.starts_with(b"pub(") && before.ends_with(b")");
    match () {
        () if before.is_empty() => Some(keyword),
        () if is_visibility => Some(keyword - source[line..keyword].trim_ascii_start().len()),
        () => None,
    }
}

/// The identifier that follows byte `at`, blanks between.
fn word_after(source: &[u8], at: usize) -> Span {
    let rest = source.get(at..).unwrap_or_default();
    let start = at + rest.len() - rest.trim_ascii_start().len();
    let length = source[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    Span::new(start, start + length)
}

/// The first text in braces: its start, and its length up to the closing brace.
fn braced(text: &[u8]) -> Option<(usize, usize)> {
    let start = memchr::memchr(b'{', text)?;
    let mut depth = 0_usize;
    for at in memchr::memchr2_iter(b'{', b'}', &text[start..]) {
        depth = if text[start + at] == b'{' { depth + 1 } else { depth - 1 };
        if depth == 0 {
            return Some((start, at + 1));
        }
    }
    None
}
