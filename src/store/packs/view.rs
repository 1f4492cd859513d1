//! What is known of a file and of a symbol, read from the pack that holds them when it is asked for.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::pack::{self, DecoratorRecord, FileRecord, NO_LANGUAGE, NONE, Pack, SymbolRecord};
use crate::languages::{Conventions, LANGUAGES, LanguageSpec, first_sentence, language_name, of_number};
use crate::model::{Detail, Kind, Span};
use crate::store::life::manifest::PackFacts;

/// A symbol's number: its file's in the store, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId {
    /// The file.
    pub file: u32,
    /// The place among the file's symbols.
    pub index: u32,
}

impl SymbolId {
    /// In one number, ordered alike.
    pub fn to_u64(self) -> u64 {
        u64::from(self.file) << 32 | u64::from(self.index)
    }

    /// Reads what [`SymbolId::to_u64`] wrote.
    pub fn from_u64(number: u64) -> Self {
        Self { file: (number >> 32) as u32, index: number as u32 }
    }
}

/// A file of a snapshot.
#[derive(Clone, Copy)]
pub struct FileView<'a> {
    pack: &'a Pack,
    /// Its place in the pack.
    place: u64,
    record: &'a FileRecord,
}

impl<'a> FileView<'a> {
    pub(in crate::store) fn find(packs: &'a [(PackFacts, Pack)], id: u32) -> Option<Self> {
        let at = packs.partition_point(|(facts, _)| facts.end_file <= id);
        let (_, pack) = packs.get(at)?;
        let (place, record) = pack.file(id)?;
        Some(Self { pack, place, record })
    }

    pub(in crate::store) fn into_record(self) -> (&'a Pack, &'a FileRecord) {
        (self.pack, self.record)
    }

    /// Relative to the root, with `/` between the parts.
    pub fn path(&self) -> &'a str {
        self.pack.path(self.record)
    }

    /// Its number in the store.
    pub fn number(&self) -> u32 {
        self.record.id
    }

    /// The exact bytes that were read.
    pub fn content(&self) -> &'a [u8] {
        self.pack.content(self.place, self.record)
    }

    /// Bytes of its content.
    pub fn size(&self) -> u64 {
        self.record.content_len.into()
    }

    /// What it says about names, as extraction wrote it down; empty where its language is not resolved.
    pub fn facts(&self) -> &'a [u8] {
        self.pack.facts(self.place, self.record)
    }

    /// The number of its language in [`LANGUAGES`], if symbols are read from it.
    pub fn language_number(&self) -> Option<u8> {
        Some(self.record.language).filter(|number| (*number as usize) < LANGUAGES.len())
    }

    /// BLAKE3 of the content.
    pub fn hash(&self) -> &'a [u8; 32] {
        &self.record.hash
    }

    /// Whether the stored text is still what was read: hashes all of it.
    pub fn is_intact(&self) -> bool {
        // What was spoilt since it was first read is seen, too.
        blake3::hash(self.content()) == self.record.hash
    }

    /// Number of lines; a last line without a newline counts.
    pub fn lines(&self) -> u32 {
        self.record.lines
    }

    /// Its language; a plain one if no symbols are read from it.
    pub fn spec(&self) -> &'static LanguageSpec {
        of_number(self.record.language)
    }

    /// The conventions of its language; neutral ones if no symbols are read from it.
    pub fn conventions(&self) -> &'static Conventions {
        self.spec().conventions
    }

    /// The language, by its name.
    pub fn language(&self) -> &'static str {
        match LANGUAGES.get(self.record.language as usize) {
            Some(spec) if self.record.language != NO_LANGUAGE => spec.id,
            _ => language_name(self.path()),
        }
    }

    /// Whether the grammar met text that it could not read.
    pub fn has_errors(&self) -> bool {
        self.record.flags & pack::HAS_ERRORS != 0
    }

    /// Whether the parser gave the file up.
    pub fn given_up(&self) -> bool {
        self.record.flags & pack::GIVEN_UP != 0
    }

    /// Whether there is a NUL byte in it.
    pub fn has_nul(&self) -> bool {
        self.record.flags & pack::HAS_NUL != 0
    }

    /// Whether it exercises code or shows it: tests, benchmarks and examples, but not what documents it.
    pub fn exercises(&self) -> bool {
        self.record.flags & pack::EXERCISES != 0
    }

    /// Whether it exercises code rather than being it: tests, benchmarks, examples, documentation, and copies of others' code.
    pub fn is_test(&self) -> bool {
        self.record.flags & (pack::EXERCISES | pack::BESIDE) != 0
    }

    /// Whether it was written by a program, by its name or by what it says of itself at its beginning.
    pub fn is_generated(&self) -> bool {
        self.record.flags & pack::GENERATED != 0
    }

    /// Number of symbols.
    pub fn symbol_count(&self) -> u32 {
        self.record.symbols
    }

    /// Its symbols, in source order.
    pub fn symbols(&self) -> impl DoubleEndedIterator<Item = SymbolView<'a>> + use<'a> {
        let file = *self;
        let all = self.pack.symbols(self.record);
        all.iter().enumerate().map(move |(index, record)| SymbolView { file, all, index: index as u32, record })
    }

    /// A symbol by its place.
    pub fn symbol(&self, index: u32) -> Option<SymbolView<'a>> {
        let all = self.pack.symbols(self.record);
        Some(SymbolView { file: *self, all, index, record: all.get(index as usize)? })
    }
}

/// A symbol of a snapshot.
#[derive(Clone, Copy)]
pub struct SymbolView<'a> {
    /// The file that defines it.
    pub file: FileView<'a>,
    /// All symbols of the file.
    all: &'a [SymbolRecord],
    index: u32,
    record: &'a SymbolRecord,
}

impl<'a> SymbolView<'a> {
    /// Its number in the store.
    pub fn number(&self) -> SymbolId {
        SymbolId { file: self.file.number(), index: self.index }
    }

    fn text(&self, span: Span) -> Cow<'a, str> {
        let bytes = span.of(self.file.content());
        std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
    }

    /// The name.
    pub fn name(&self) -> Cow<'a, str> {
        self.text(self.record.name())
    }

    /// The name as it is in the file.
    pub fn name_bytes(&self) -> &'a [u8] {
        self.record.name().of(self.file.content())
    }

    /// The enclosing symbol.
    pub fn parent(&self) -> Option<Self> {
        // A parent stands before its children; a damaged record must not send us round in circles.
        let index = self.record.parent;
        let record = self.all.get(index as usize).filter(|_| index < self.index)?;
        Some(Self { index, record, ..*self })
    }

    /// Where the owner's name is written where it is not the enclosing symbol; empty when there is none.
    pub fn container_span(&self) -> Span {
        self.record.container()
    }

    /// The owner's name where it is not the enclosing symbol.
    pub fn container(&self) -> Cow<'a, str> {
        self.text(self.record.container())
    }

    /// Everything it lies in and its name, with dots between: `Outer.Inner.method`.
    pub fn qualified_name(&self) -> String {
        qualified_name(&self.name(), &self.container(), self.parent().map(|parent| parent.qualified_name()).as_deref())
    }

    /// The id that callers know it by: `{file path}::{qualified name}#{kind}`, with `~n` where several share it.
    pub fn id(&self) -> String {
        let mut id = format!("{}::{}#{}", self.file.path(), self.qualified_name(), self.kind().as_str());
        if self.record.overload > 0 {
            id.push_str(&format!("~{}", self.record.overload));
        }
        id
    }

    /// Which of the symbols that would share its id; zero when it shares it with none.
    pub fn overload(&self) -> u16 {
        self.record.overload
    }

    /// What sort it is.
    pub fn kind(&self) -> Kind {
        Kind::ALL.get((self.record.kind & !pack::HANDED) as usize).copied().unwrap_or(Kind::Constant)
    }

    /// See [`crate::model::Symbol::handed`].
    pub fn is_handed(&self) -> bool {
        self.record.kind & pack::HANDED != 0
    }

    /// In the language's own word.
    pub fn detail(&self) -> Detail {
        Detail::ALL.get(self.record.detail as usize).copied().unwrap_or(Detail::Constant)
    }

    /// The line of its name, one-based.
    pub fn line(&self) -> u32 {
        self.record.line
    }

    /// The line that it begins on, one-based: that of its first decorator.
    pub fn first_line(&self) -> u32 {
        let before = self.span().start as usize..self.name_span().start as usize;
        let above = self.file.content().get(before).map_or(0, |before| memchr::memchr_iter(b'\n', before).count());
        self.record.line.saturating_sub(above as u32).max(1)
    }

    /// Last line, one-based.
    pub fn end_line(&self) -> u32 {
        self.record.end_line
    }

    /// Where in the file it is.
    pub fn span(&self) -> Span {
        self.record.span()
    }

    /// Where its definition proper begins, after decorators.
    pub fn signature_start(&self) -> u32 {
        self.record.signature().start
    }

    /// Where its name is written.
    pub fn name_span(&self) -> Span {
        self.record.name()
    }

    /// The definition's exact bytes.
    pub fn source(&self) -> &'a [u8] {
        self.span().of(self.file.content())
    }

    /// SHA-256 of [`SymbolView::source`].
    pub fn content_hash(&self) -> [u8; 32] {
        Sha256::digest(self.source()).into()
    }

    /// See [`crate::model::Symbol::complexity`].
    pub fn complexity(&self) -> u16 {
        self.record.complexity
    }

    /// Whether it has a body, and not only declares what it is.
    pub fn has_body(&self) -> bool {
        let body = Span { start: self.record.signature().end.max(self.span().start), end: self.span().end };
        body.of(self.file.content()).iter().any(|byte| !b" \t\r\n:;.{}".contains(byte))
    }

    /// The definition without its body, on one line, at most `limit` characters. A longer one ends after an argument.
    pub fn signature(&self, limit: usize) -> String {
        let text = self.text(self.record.signature());
        let text = text.trim_end().trim_end_matches(['{', ';']);
        let mut line = one_line(text, limit);
        if let Some(end) = line.strip_suffix('…').and_then(argument_end) {
            line.truncate(end);
            line.push_str(" …");
        }
        line
    }

    /// The documentation as it is written, with the markers of comments; empty when there is none.
    pub fn doc_source(&self) -> &'a [u8] {
        self.record.doc().of(self.file.content())
    }

    /// The documentation without comment markers; empty when there is none.
    pub fn docstring(&self) -> String {
        let doc = self.record.doc();
        if doc.is_empty() { String::new() } else { self.file.spec().comments.clean(&self.text(doc)) }
    }

    /// The documentation's first sentence, without the symbol's own name where it begins with that, as it does by custom in
    /// Go; empty when there is none.
    pub fn summary(&self, limit: usize) -> String {
        let doc = self.docstring();
        let says = doc.strip_prefix(&*self.name()).and_then(|rest| rest.strip_prefix(' '));
        first_sentence(says.unwrap_or(&doc), limit)
    }

    /// Decorators, attributes or annotations as they are written, each on one line.
    pub fn decorators(&self) -> Vec<String> {
        let all: &[DecoratorRecord] = self.file.pack.decorators(self.file.record);
        let first = all.partition_point(|decorator| decorator.symbol < self.index);
        all[first..]
            .iter()
            .take_while(|decorator| decorator.symbol == self.index)
            .map(|span| one_line(&self.text(Span { start: span.start, end: span.end.max(span.start) }), 400))
            .collect()
    }

    /// The symbols directly inside.
    pub fn children(&self) -> impl Iterator<Item = SymbolView<'a>> + use<'a> {
        let index = self.index;
        self.file.symbols().skip(index as usize + 1).filter(move |symbol| symbol.record.parent == index)
    }

    /// Whether it is directly or indirectly inside another.
    pub fn has_parent(&self) -> bool {
        self.record.parent != NONE
    }
}

/// Joins the parts of a qualified name that are there.
pub fn qualified_name(name: &str, container: &str, parent: Option<&str>) -> String {
    let parts = [parent.unwrap_or_default(), container, name];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

/// Where the last argument ends that the text holds whole: behind its comma. None when the first argument is cut already.
fn argument_end(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    // Of the outermost list that is still open, so that no type is cut in two.
    let mut end: Option<(u32, usize)> = None;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        match char {
            '(' | '[' | '{' => depth += 1,
            '<' if before.is_alphanumeric() || before == ':' => depth += 1,
            '>' if matches!(before, '-' | '=') => {}
            ')' | ']' | '}' | '>' => {
                depth = depth.saturating_sub(1);
                end = end.filter(|(outer, _)| *outer <= depth);
            }
            ',' if depth > 0 && end.is_none_or(|(outer, _)| depth <= outer) => end = Some((depth, at + 1)),
            _ => {}
        }
        before = char;
    }
    end.map(|(_, end)| end)
}

/// Text with every run of white space as one space, at most `limit` characters. Inside brackets, where long lists are broken
/// into lines, there is none beside them.
fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit * 4));
    let mut left = limit;
    for word in text.split_ascii_whitespace() {
        if word.starts_with([')', ']']) && line.ends_with(',') {
            line.pop();
            left += 1;
        }
        let is_spaced = !line.is_empty() && !line.ends_with(['(', '[']) && !word.starts_with([')', ']']);
        let needed = word.chars().count() + usize::from(is_spaced);
        let space = if is_spaced { " " } else { "" };
        if needed > left {
            // Rather half a word than none: a signature may have no spaces at all.
            let room = left.saturating_sub(1 + space.len());
            if room > 0 {
                line.push_str(space);
                line.extend(word.chars().take(room));
            }
            line.push('…');
            return line;
        }
        line.push_str(space);
        line.push_str(word);
        left -= needed;
    }
    line
}
