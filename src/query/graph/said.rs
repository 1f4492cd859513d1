//! Words in the text of a definition, and in the comments on it, that say who uses it.

use super::visible::words_before;
use super::written::{comments_above, opening_comments};
use crate::languages::Public;
use crate::model::Kind;
use crate::store::{FileView, SymbolView};

/// Words by which a definition says that others rely on it, and the text in which they are looked for.
const KEPT: &[&[u8]] = &[
    b"deprecat",
    b"backward",
    b"compat",
    b"knipignore",
    b"ts-prune-ignore",
    b"only exists",
    b"exists only",
    b"to satisfy",
    b"only used by",
    b"kept for",
    b"kept to",
    b"retained for",
    b"legacy for",
    b"left here",
    b"don't remove",
    b"do not remove",
    b"don't delete",
    b"do not delete",
    b"for debugging",
    b"next major",
    b"future use",
    b"for future",
    b"the future",
    b"reserved for",
    b"used later",
    b"this tests that",
    b"compile-time check",
    b"compile time check",
];
/// Those that speak of a class with all its members.
const KEPT_SO: &[&[u8]] = &[b"kept for", b"retained for", b"left here", b"future use"];
/// Words at the head of a file by which it is a copy that stays as it is.
const COPIED: &[&[u8]] = &[b"as close as possible", b"in sync with", b"vendored", b"coming from the"];
/// Words of the comments and the documentation of a definition by which others use it.
const SAID_USED: &[&[u8]] = &[
    b"used by",
    b"for use by",
    b"used in `",
    b"debugging",
    b"called by",
    b"called from",
    b"invoked by",
    b"needed by",
    b"entry point",
    b"entrypoint",
];
/// Marks by which a linter or a compiler lets something be unused.
const UNUSED_MARKS: &[&[u8]] = &[b"nolint:unused", b"allow(dead_code", b"allow(unused", b"(\"unused\")"];
/// Openings of types that are no type of anything, but fail to compile where two types differ.
const TYPE_TESTS: &[&[u8]] =
    &[b"Assert<", b"AssertTrue<", b"AssertEqual<", b"Expect<", b"IsExact<", b"= Equal<", b"= Equals<"];
/// Tags of comments by which a package offers something, where comments have tags.
const OFFERED: &[&[u8]] = &[b"* @api\n", b"* @api ", b"* @public\n", b"* @public "];
/// The most bytes of a definition that are read for such words.
const MOST_TEXT: usize = 2_000;
/// The most letters of a signature that are read.
pub(super) const SIGNATURE: usize = 400;
/// The fewest words of documentation that is there for others.
const DOCUMENTED: usize = 5;

/// Whether a definition or the comments above it say that others rely on it or show how they import it, or its name says
/// that nothing needs to use it.
pub(super) fn says_kept(symbol: &SymbolView<'_>) -> bool {
    let takes_nothing = || symbol.signature(SIGNATURE).trim_end().trim_end_matches('{').trim_end().ends_with("()");
    let marks_it = |mark: &&str| symbol.name().starts_with(mark) && (mark.len() == 1 || takes_nothing());
    if symbol.kind() == Kind::Function && symbol.file.conventions().compiled_only.iter().any(marks_it) {
        return true;
    }
    // A type without a use that says so, or that asks whether two types are one, is there to be compiled.
    let is_asked = |text: &[u8]| TYPE_TESTS.iter().any(|test| memchr::memmem::find(text, test).is_some());
    if symbol.kind() == Kind::Type
        && matches!(symbol.file.conventions().public, Public::Exported(_))
        && (symbol.name().starts_with('_') || is_asked(symbol.span().of(symbol.file.content())))
    {
        return true;
    }
    // Code of another language implements it, and may know it by its name.
    if !symbol.has_body() && words_before(symbol).split_whitespace().any(|word| word == "native") {
        return true;
    }
    let (text, length) = text_of(symbol);
    let says = |words: &[&[u8]]| words.iter().any(|word| memchr::memmem::find(&text, word).is_some());
    let above = &text[..length];
    let doc = symbol.docstring().to_ascii_lowercase();
    let said = |text: &[u8]| SAID_USED.iter().any(|word| memchr::memmem::find(text, word).is_some());
    let is_called = said(above) || said(doc.as_bytes());
    let shown = [b"import ".to_vec(), symbol.name_bytes().to_ascii_lowercase()].concat();
    says(KEPT) || is_called || says(&[shown.as_slice()]) || symbol.file.conventions().structural && says(OFFERED)
}

/// The beginning of the text of a definition from the comments above it on, in small letters, and the length of those.
fn text_of(symbol: &SymbolView<'_>) -> (Vec<u8>, usize) {
    let (span, doc) = (symbol.span(), symbol.doc_span());
    let start = if doc.is_empty() { comments_above(symbol) } else { comments_above(symbol).min(doc.start as usize) };
    let text = symbol.file.content().get(start..span.end as usize).unwrap_or_default();
    let text = text[..text.len().min(MOST_TEXT)].to_ascii_lowercase();
    let length = text.len().min((span.start as usize).saturating_sub(start));
    (text, length)
}

/// Whether the comments above a class say that it is kept, and its members with it.
pub(super) fn is_of_kept(symbol: &SymbolView<'_>) -> bool {
    let class = symbol.parent().filter(|_| symbol.kind() == Kind::Method);
    class.is_some_and(|class| {
        let (text, length) = text_of(&class);
        KEPT_SO.iter().any(|word| memchr::memmem::find(&text[..length], word).is_some())
    })
}

/// Whether a mark right above a definition allows that the program does not use it.
pub(super) fn may_be_unused(symbol: &SymbolView<'_>) -> bool {
    let above = symbol.file.content().get(comments_above(symbol)..symbol.span().start as usize).unwrap_or_default();
    UNUSED_MARKS.iter().any(|mark| memchr::memmem::find(above, mark).is_some())
}

/// Whether the first comments of a file say that it is a copy of another, to be kept like it, or that a tool reads it.
pub(super) fn is_copied(file: FileView<'_>) -> bool {
    let head = opening_comments(file.content()).to_ascii_lowercase();
    let of_tools = file.conventions().tool_heads.iter().map(|words| words.as_bytes());
    COPIED.iter().copied().chain(of_tools).any(|words| memchr::memmem::find(&head, words).is_some())
}

/// Whether its documentation has examples that a tool runs as tests: `>>> area(2)`.
pub(super) fn has_examples(symbol: &SymbolView<'_>) -> bool {
    let mark = symbol.file.conventions().example_mark;
    mark.is_some_and(|mark| {
        memchr::memmem::find(symbol.doc_span().of(symbol.file.content()), mark.as_bytes()).is_some()
    })
}

/// Whether it is documented for others, rather than by a remark of a few words.
pub(super) fn is_documented(symbol: &SymbolView<'_>) -> bool {
    symbol.docstring().split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count() >= DOCUMENTED
}
