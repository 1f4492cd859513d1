//! Views of files and symbols, read from packs on demand.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::pack::{self, DecoratorRecord, FileRecord, NO_LANGUAGE, NONE, Pack, SymbolRecord};
use super::roles::RolePatterns;
use crate::life::manifest::PackFacts;
use crate::tables::summaries::SummaryTable;
use crate::tables::vectors::{TextKey, text_key_of};
use codelode_base::model::{Detail, Kind, Patterns, Span};
use codelode_lang::languages::{Conventions, LANGUAGES, LanguageSpec, first_sentence, language_name, of_number};

/// Number of a symbol: its file's number in the store, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId {
    /// The file.
    pub file: u32,
    /// Index among the file's symbols.
    pub index: u32,
}

impl SymbolId {
    /// Index that stands for a whole file.
    pub const FILE: u32 = u32::MAX;

    /// Packs the id into one number with the same order.
    pub fn to_u64(self) -> u64 {
        u64::from(self.file) << 32 | u64::from(self.index)
    }

    /// Unpacks a number made by [`SymbolId::to_u64`].
    pub fn from_u64(number: u64) -> Self {
        Self { file: (number >> 32) as u32, index: number as u32 }
    }
}

/// A file of a snapshot.
#[derive(Clone, Copy)]
pub struct FileView<'a> {
    pack: &'a Pack,
    /// Its index in the pack.
    place: u64,
    record: &'a FileRecord,
    /// Roles that settings give to files.
    roles: Option<&'a RolePatterns>,
    /// Summaries by a model.
    summaries: Option<&'a SummaryTable>,
}

impl<'a> FileView<'a> {
    /// The file with this number, in the pack that holds it.
    pub fn find(packs: &'a [(PackFacts, Pack)], id: u32) -> Option<Self> {
        let at = packs.partition_point(|(facts, _)| facts.end_file <= id);
        Self::of(&packs.get(at)?.1, id)
    }

    /// The file with this number in a pack.
    pub fn of(pack: &'a Pack, id: u32) -> Option<Self> {
        let (place, record) = pack.file(id)?;
        Some(Self { pack, place, record, roles: None, summaries: None })
    }

    /// This file with the roles that settings give.
    pub(crate) fn with_roles(self, roles: Option<&'a RolePatterns>) -> Self {
        Self { roles, ..self }
    }

    /// Summary by a model of what has a key; empty without one.
    pub(super) fn told(&self, key: &TextKey) -> &'a str {
        self.summaries.map_or("", |summaries| summaries.get(key))
    }

    /// This file with summaries by a model.
    pub(crate) fn with_summaries(self, summaries: Option<&'a SummaryTable>) -> Self {
        Self { summaries, ..self }
    }

    pub(crate) fn into_record(self) -> (&'a Pack, &'a FileRecord) {
        (self.pack, self.record)
    }

    /// Path relative to the root, with `/` between the parts.
    pub fn path(&self) -> &'a str {
        self.pack.path(self.record)
    }

    /// Its number in the store.
    pub fn number(&self) -> u32 {
        self.record.id
    }

    /// Content, exactly as read.
    pub fn content(&self) -> &'a [u8] {
        self.pack.content(self.place, self.record)
    }

    /// Some lines of the content for a person to read: lossy, and the code of a notebook in place of its JSON.
    pub fn shown<'t>(&self, lines: &'t [u8]) -> Cow<'t, str> {
        match self.spec().shown {
            Some(shown) => Cow::Owned(String::from_utf8_lossy(&shown(lines)).into_owned()),
            None => String::from_utf8_lossy(lines),
        }
    }

    /// Size of the content in bytes.
    pub fn size(&self) -> u64 {
        self.record.content_len.into()
    }

    /// Facts about names; empty for languages without resolution.
    pub fn facts(&self) -> &'a [u8] {
        self.pack.facts(self.place, self.record)
    }

    /// Index of its language in [`LANGUAGES`], if symbols are extracted from it.
    pub fn language_number(&self) -> Option<u8> {
        Some(self.record.language).filter(|number| (*number as usize) < LANGUAGES.len())
    }

    /// BLAKE3 of the content.
    pub fn hash(&self) -> &'a [u8; 32] {
        &self.record.hash
    }

    /// Whether the stored text is intact: hashes all of it.
    pub fn is_intact(&self) -> bool {
        // Hashing again also detects damage since the first read.
        blake3::hash(self.content()) == self.record.hash
    }

    /// Number of lines; a last line without a newline counts.
    pub fn lines(&self) -> u32 {
        self.record.lines
    }

    /// Its language; a plain one for files without symbols.
    pub fn spec(&self) -> &'static LanguageSpec {
        of_number(self.record.language)
    }

    /// Conventions of its language; neutral ones for files without symbols.
    pub fn conventions(&self) -> &'static Conventions {
        self.spec().conventions
    }

    /// Name of its language.
    pub fn language(&self) -> &'static str {
        match LANGUAGES.get(self.record.language as usize) {
            Some(spec) if self.record.language != NO_LANGUAGE => spec.id,
            _ => language_name(self.path()),
        }
    }

    /// Whether the parser met syntax errors.
    pub fn has_errors(&self) -> bool {
        self.record.flags & pack::HAS_ERRORS != 0
    }

    /// Whether its reading ended at a limit: names, symbols or relations are missing, and nothing is wrong with the text.
    pub fn is_cut(&self) -> bool {
        self.record.flags & pack::CUT != 0
    }

    /// Whether time ended its reading, so that another run may read more of it.
    pub fn timed_out(&self) -> bool {
        self.record.flags & pack::TIMED_OUT != 0
    }

    /// Whether facts may be missing, because of syntax errors or of a limit.
    pub fn is_partly_read(&self) -> bool {
        self.has_errors() || self.is_cut_off()
    }

    /// Whether a limit ended its reading, so that symbols or uses in it are not known.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut() || self.given_up()
    }

    /// Whether the parser gave up on the file.
    pub fn given_up(&self) -> bool {
        self.record.flags & pack::GIVEN_UP != 0
    }

    /// Whether it contains a NUL byte.
    pub fn has_nul(&self) -> bool {
        self.record.flags & pack::HAS_NUL != 0
    }

    /// Whether it exercises or shows code: tests, benchmarks and examples, but not documentation.
    pub fn exercises(&self) -> bool {
        self.given(|roles| &roles.tests).unwrap_or(self.record.flags & pack::EXERCISES != 0)
    }

    /// Whether it is not main code: tests, benchmarks, examples, documentation and copies of third-party code.
    pub fn is_test(&self) -> bool {
        self.exercises() || self.record.flags & pack::BESIDE != 0
    }

    /// Whether it is generated, by its name or a note at its beginning.
    pub fn is_generated(&self) -> bool {
        self.given(|roles| &roles.generated).unwrap_or(self.record.flags & pack::GENERATED != 0)
    }

    /// Whether settings say that it was copied from another project, or that it was not.
    pub fn given_as_vendored(&self) -> Option<bool> {
        self.given(|roles| &roles.vendored)
    }

    /// Verdict of the settings on a role.
    fn given(&self, role: fn(&RolePatterns) -> &Patterns) -> Option<bool> {
        role(self.roles?).says(self.path())
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

    /// A symbol by its index.
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

    /// Name.
    pub fn name(&self) -> Cow<'a, str> {
        self.text(self.record.name())
    }

    /// Name as in the file.
    pub fn name_bytes(&self) -> &'a [u8] {
        self.record.name().of(self.file.content())
    }

    /// Enclosing symbol.
    pub fn parent(&self) -> Option<Self> {
        // A parent precedes its children; a damaged record must not cause an endless loop.
        let index = self.record.parent;
        let record = self.all.get(index as usize).filter(|_| index < self.index)?;
        Some(Self { index, record, ..*self })
    }

    /// Position of the owner's name when the owner is not the enclosing symbol; empty otherwise.
    pub fn container_span(&self) -> Span {
        self.record.container()
    }

    /// Name of the owner when it is not the enclosing symbol.
    pub fn container(&self) -> Cow<'a, str> {
        self.text(self.record.container())
    }

    /// Qualified name, with dots between the parts: `Outer.Inner.method`.
    pub fn qualified_name(&self) -> String {
        let mut parts = Vec::new();
        let mut around = Some(*self);
        while let Some(symbol) = around {
            parts.extend([symbol.name(), symbol.container()]);
            around = symbol.parent();
        }
        let parts: Vec<&str> = parts.iter().rev().map(|part| &**part).filter(|part| !part.is_empty()).collect();
        parts.join(".")
    }

    /// Public id: `{file path}::{qualified name}#{kind}`, with `~n` when several share it.
    pub fn id(&self) -> String {
        let mut id = format!("{}::{}#{}", self.file.path(), self.qualified_name(), self.kind().as_str());
        if self.record.overload > 0 {
            id.push_str(&format!("~{}", self.record.overload));
        }
        id
    }

    /// Number among the symbols that would share its id; zero when unique.
    pub fn overload(&self) -> u16 {
        self.record.overload
    }

    /// Kind of the symbol.
    pub fn kind(&self) -> Kind {
        Kind::ALL.get((self.record.kind & !pack::HANDED) as usize).copied().unwrap_or(Kind::Constant)
    }

    /// See [`codelode_base::model::Symbol::handed`].
    pub fn is_handed(&self) -> bool {
        self.record.kind & pack::HANDED != 0
    }

    /// Kind in the language's own terms.
    pub fn detail(&self) -> Detail {
        Detail::ALL.get(self.record.detail as usize).copied().unwrap_or(Detail::Constant)
    }

    /// Line of its name, one-based.
    pub fn line(&self) -> u32 {
        self.record.line
    }

    /// First line, one-based: that of its first decorator.
    pub fn first_line(&self) -> u32 {
        let before = self.span().start as usize..self.name_span().start as usize;
        let above = self.file.content().get(before).map_or(0, |before| memchr::memchr_iter(b'\n', before).count());
        self.record.line.saturating_sub(above as u32).max(1)
    }

    /// Last line, one-based.
    pub fn end_line(&self) -> u32 {
        self.record.end_line
    }

    /// Position in the file.
    pub fn span(&self) -> Span {
        self.record.span()
    }

    /// Start of the definition proper, after decorators.
    pub fn signature_start(&self) -> u32 {
        self.record.signature().start
    }

    /// Position of its name.
    pub fn name_span(&self) -> Span {
        self.record.name()
    }

    /// Exact bytes of the definition.
    pub fn source(&self) -> &'a [u8] {
        self.span().of(self.file.content())
    }

    /// Source from the start of its first line if only blanks stand before it, so that all lines keep their
    /// indentation.
    pub fn indented_source(&self) -> &'a [u8] {
        let (content, span) = (self.file.content(), self.span());
        let start = content.get(..span.start as usize).map_or(0, |before| {
            let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let is_line_start = before.len() == blanks || before[before.len() - blanks - 1] == b'\n';
            if is_line_start { before.len() - blanks } else { before.len() }
        });
        content.get(start..span.end as usize).unwrap_or_default()
    }

    /// Like [`SymbolView::indented_source`], for a person to read.
    pub fn shown(&self) -> Cow<'a, str> {
        let (source, span) = (self.indented_source(), self.span());
        let before = self.file.content().get(..span.start as usize).unwrap_or_default();
        let line = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        // The code of a notebook begins behind a quote, and is indented there.
        let is_quoted = self.file.spec().shown.is_some() && before[line..].trim_ascii() == b"\"";
        let from_line = || self.file.content().get(line..span.end as usize);
        self.file.shown(is_quoted.then(from_line).flatten().unwrap_or(source))
    }

    /// SHA-256 of [`SymbolView::source`].
    pub fn content_hash(&self) -> [u8; 32] {
        Sha256::digest(self.source()).into()
    }

    /// See [`codelode_base::model::Symbol::complexity`].
    pub fn complexity(&self) -> u16 {
        self.record.complexity
    }

    /// Whether it has a body, beyond a declaration.
    pub fn has_body(&self) -> bool {
        let body = Span { start: self.record.signature().end.max(self.span().start), end: self.span().end };
        body.of(self.file.content()).iter().any(|byte| !b" \t\r\n:;.{}".contains(byte))
    }

    /// Definition without its body, on one line, at most `limit` characters. A longer one ends after an argument.
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

    /// Definition without its body, as written.
    pub fn signature_source(&self) -> &'a [u8] {
        self.record.signature().of(self.file.content())
    }

    /// Range of the documentation; empty when there is none.
    pub fn doc_span(&self) -> Span {
        self.record.doc()
    }

    /// Documentation as written, with comment markers; empty when there is none.
    pub fn doc_source(&self) -> &'a [u8] {
        self.doc_span().of(self.file.content())
    }

    /// Documentation without comment markers; empty when there is none.
    pub fn docstring(&self) -> String {
        let doc = self.record.doc();
        if doc.is_empty() { String::new() } else { self.file.spec().comments.clean(&self.text(doc)) }
    }

    /// First sentence of the documentation; without documentation, a sentence by a model if there is one.
    pub fn summary(&self, limit: usize) -> String {
        match self.file.summaries.filter(|_| self.doc_source().is_empty()) {
            Some(summaries) => one_line(summaries.get(&self.source_key()), limit),
            None => self.documented(limit),
        }
    }

    /// Key of its kind, name and source, by which summaries are stored.
    pub fn source_key(&self) -> TextKey {
        let name = format!("{} {}\n", self.detail().as_str(), self.qualified_name());
        text_key_of(&[name.as_bytes(), self.source()])
    }

    /// First sentence of the documentation, without a leading symbol name as is customary in Go; empty when there is
    /// none.
    pub fn documented(&self, limit: usize) -> String {
        let doc = self.docstring();
        let says = doc.strip_prefix(&*self.name()).and_then(|rest| rest.strip_prefix(' '));
        first_sentence(says.unwrap_or(&doc), limit)
    }

    /// Decorators, attributes or annotations as written, each on one line.
    pub fn decorators(&self) -> Vec<String> {
        let all: &[DecoratorRecord] = self.file.pack.decorators(self.file.record);
        let first = all.partition_point(|decorator| decorator.symbol < self.index);
        all[first..]
            .iter()
            .take_while(|decorator| decorator.symbol == self.index)
            .map(|span| one_line(&self.text(Span { start: span.start, end: span.end.max(span.start) }), 400))
            .collect()
    }

    /// Direct children.
    pub fn children(&self) -> impl Iterator<Item = SymbolView<'a>> + use<'a> {
        let index = self.index;
        self.file.symbols().skip(index as usize + 1).filter(move |symbol| symbol.record.parent == index)
    }

    /// Whether it lies inside another symbol.
    pub fn has_parent(&self) -> bool {
        self.record.parent != NONE
    }
}

/// Joins the non-empty parts of a qualified name.
pub fn qualified_name(name: &str, container: &str, parent: Option<&str>) -> String {
    let parts = [parent.unwrap_or_default(), container, name];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

/// End of the last complete argument in a truncated text, after its comma; none when the first argument is cut.
fn argument_end(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    // Only the outermost open list counts, so that no type is cut in two.
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

/// Collapses each run of white space to one space, and truncates to `limit` characters. No space remains beside
/// brackets, where long lists are broken into lines.
pub(super) fn one_line(text: &str, limit: usize) -> String {
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
            // Half a word is better than none: a signature may have no spaces at all.
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
