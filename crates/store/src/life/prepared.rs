//! Files on the way into a store: records of their symbols, and documents for the search index.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::TantivyDocument;

use crate::packs::grams::grams;
use crate::packs::pack::{self, DecoratorRecord, FileRecord, NO_LANGUAGE, PackFile, SymbolRecord};
use crate::packs::view::qualified_name;
use crate::search::analyzer::learned_rows;
use crate::search::index::{self, Field};
use crate::search::learned::{self, Meaning, Part};
use codelode_base::model::{Extraction, Kind, Span};
use codelode_lang::languages::{exercises, first_sentence, is_beside, is_document, is_generated, of_number};

/// Indexed text of a definition in bytes: for code, and for other definitions. Longer text is data.
const LONGEST_BODY: usize = 32_000;
const LONGEST_DATA: usize = 1_000;
/// Indexed text of a whole file in bytes: of code, and of documents and data, which come last in any list of files.
const LONGEST_FILE: usize = 64_000;
const LONGEST_DOCUMENT: usize = 4_000;

/// A file prepared by any thread: everything that takes time and needs no store.
pub struct Prepared {
    path: String,
    content: Vec<u8>,
    facts: Vec<u8>,
    record: FileRecord,
    symbols: Vec<SymbolRecord>,
    decorators: Vec<DecoratorRecord>,
    /// Documents of its symbols, and last that of the whole file.
    pub(super) documents: Vec<TantivyDocument>,
    grams: Vec<u32>,
    pub(super) held: Option<Arc<dyn Send + Sync>>,
}

impl Prepared {
    /// Prepares records and documents of an extracted file. `hash` is [`Prepared::hash`] of `content`,
    /// `language` the number of its language.
    pub fn new(path: String, content: Vec<u8>, hash: [u8; 32], language: Option<u8>, extraction: &Extraction) -> Self {
        let (mut prepared, names) = Self::recorded(path, content, hash, language, extraction);
        prepared.grams = grams(&prepared.content);
        prepared.describe(extraction, &names);
        prepared
    }

    /// Prepares records alone, for a content that is not searched.
    pub fn unsaved(
        path: String,
        content: Vec<u8>,
        hash: [u8; 32],
        language: Option<u8>,
        extraction: &Extraction,
    ) -> Self {
        Self::recorded(path, content, hash, language, extraction).0
    }

    /// Prepares records, and returns the qualified names of the symbols.
    fn recorded(
        path: String,
        content: Vec<u8>,
        hash: [u8; 32],
        language: Option<u8>,
        extraction: &Extraction,
    ) -> (Self, Vec<String>) {
        let language = language.unwrap_or(NO_LANGUAGE);
        let newlines = memchr::memchr_iter(b'\n', &content).count();
        let ends_open = content.last().is_some_and(|byte| *byte != b'\n');
        let mut flags = 0;
        flags |= if extraction.has_errors { pack::HAS_ERRORS } else { 0 };
        flags |= if extraction.is_cut { pack::CUT } else { 0 };
        flags |= if extraction.is_given_up() { pack::GIVEN_UP } else { 0 };
        flags |= if extraction.timed_out { pack::TIMED_OUT } else { 0 };
        flags |= if memchr::memchr(0, &content).is_some() { pack::HAS_NUL } else { 0 };
        flags |= if exercises(&path) { pack::EXERCISES } else { 0 };
        flags |= if is_beside(&path) { pack::BESIDE } else { 0 };
        flags |= if is_generated(&path, &content) { pack::GENERATED } else { 0 };
        let record = FileRecord {
            lines: newlines as u32 + u32::from(ends_open),
            language,
            flags,
            hash,
            ..FileRecord::default()
        };
        let mut prepared = Self {
            path,
            content,
            facts: extraction.facts.clone(),
            record,
            symbols: Vec::new(),
            decorators: Vec::new(),
            documents: Vec::new(),
            grams: Vec::new(),
            held: None,
        };
        let names = prepared.record(extraction);
        (prepared, names)
    }

    /// Hash that identifies a content.
    pub fn hash(content: &[u8]) -> [u8; 32] {
        *blake3::hash(content).as_bytes()
    }

    /// Attaches a value that is dropped when the file has been stored, such as a memory ticket.
    pub fn holding(self, held: Arc<dyn Send + Sync>) -> Self {
        Self { held: Some(held), ..self }
    }

    /// Path of the file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its parts for a pack, under this number.
    pub(crate) fn as_number(&self, id: u32) -> PackFile<'_> {
        PackFile {
            record: FileRecord { id, ..self.record },
            path: &self.path,
            content: &self.content,
            facts: &self.facts,
            symbols: &self.symbols,
            decorators: &self.decorators,
            grams: &self.grams,
        }
    }

    /// Adds a record for each symbol, and returns their qualified names.
    fn record(&mut self, extraction: &Extraction) -> Vec<String> {
        let text = |span: Span| String::from_utf8_lossy(span.of(&self.content));
        let mut names: Vec<String> = Vec::with_capacity(extraction.symbols.len());
        for (place, symbol) in extraction.symbols.iter().enumerate() {
            let parent = symbol.parent.map(|parent| &*names[parent as usize]);
            names.push(qualified_name(&text(symbol.name), &text(symbol.container), parent));
            let decorator = |span: &Span| DecoratorRecord { symbol: place as u32, start: span.start, end: span.end };
            self.decorators.extend(symbol.decorators.iter().map(decorator));
            self.symbols.push(SymbolRecord::of(symbol));
        }
        number_overloads(&mut self.symbols, &names);
        names
    }

    /// Adds a document for each symbol, and one for the whole file.
    fn describe(&mut self, extraction: &Extraction, names: &[String]) {
        let source = &self.content;
        let text = |span: Span| String::from_utf8_lossy(span.of(source));
        let path_words = self.path.rsplit_once('.').map_or(&*self.path, |(stem, _)| stem);
        let own_texts = extraction.own_texts();
        let mut rows = Vec::new();
        let mut of_path = Meaning::default();
        learned_rows(path_words, usize::MAX, &mut rows);
        of_path.define(Part::Path, &mut rows);
        let comments = of_number(self.record.language).comments;
        for ((symbol, own), qualified) in extraction.symbols.iter().zip(&own_texts).zip(names) {
            let name = text(symbol.name);
            let owner = qualified[..qualified.len() - name.len()].trim_end_matches('.');
            let signature = text(symbol.signature.clipped(600));
            let doc = comments.clean(&text(symbol.doc.clipped(4_000)));
            let keywords = symbol.decorators.iter().map(|span| text(span.clipped(200))).collect::<Vec<_>>().join(" ");

            let summary = first_sentence(&doc, 200);
            let mut all = String::with_capacity(256);
            // The path says little about constants, and there are many of them.
            if symbol.kind != Kind::Constant {
                all.push_str(path_words);
                all.push('\n');
            }
            all.push_str(owner);
            all.push('\n');
            if !symbol.span.contains(symbol.doc) {
                all.push_str(&doc);
                all.push('\n');
            }
            let mut room = if symbol.complexity > 0 { LONGEST_BODY } else { LONGEST_DATA };
            let mut meaning = of_path.clone();
            rows.clear();
            let mut stems = learned::MOST_OF_BODY;
            for part in own {
                let part = part.clipped(room);
                let written = text(part);
                all.push_str(&written);
                all.push('\n');
                room -= part.len();
                for part in part.without(symbol.doc).into_iter().flat_map(|part| part.without(symbol.signature)) {
                    if stems > 0 {
                        stems = learned_rows(&text(part), stems, &mut rows);
                    }
                }
            }
            meaning.define(Part::Body, &mut rows);
            for (part, written) in [(Part::Name, &*name), (Part::Around, owner), (Part::Around, &signature)] {
                rows.clear();
                learned_rows(written, usize::MAX, &mut rows);
                meaning.define(part, &mut rows);
            }
            let mut document = index::document(&[
                (Field::Name, &name),
                (Field::Exact, &name),
                (Field::Parent, owner),
                (Field::Signature, &signature),
                (Field::Summary, &summary),
                (Field::Keywords, &keywords),
                (Field::Text, &all),
                (Field::Trigrams, &name),
            ]);
            index::mean(&mut document, meaning.packed());
            self.documents.push(document);
        }
        let whole = Span { start: 0, end: source.len() as u32 };
        let most = if is_document(&self.path) { LONGEST_DOCUMENT } else { LONGEST_FILE };
        let whole = format!("{path_words}\n{}", text(whole.clipped(most)));
        self.documents.push(index::file_document(&whole));
    }
}

/// Numbers the symbols that would share an id, from one, in source order.
fn number_overloads(symbols: &mut [SymbolRecord], names: &[String]) {
    let mut groups: HashMap<(&str, u8), Vec<usize>> = HashMap::new();
    for (at, (symbol, name)) in symbols.iter().zip(names).enumerate() {
        groups.entry((name, symbol.kind & !pack::HANDED)).or_default().push(at);
    }
    for group in groups.into_values().filter(|group| group.len() > 1) {
        for (number, at) in group.into_iter().enumerate() {
            symbols[at].overload = u16::try_from(number + 1).unwrap_or(u16::MAX);
        }
    }
}
