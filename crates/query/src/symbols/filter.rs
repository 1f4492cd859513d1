//! Filters of a search: kinds, languages, paths and phrases.

use std::cell::RefCell;
use std::collections::HashSet;

use rustc_hash::FxHashMap;

use super::phrase::Phrase;
use super::{DESCRIPTION, Search};
use codelode_base::model::{Detail, names_kind};
use codelode_lang::languages::of_id;
use codelode_store::{Error, GramQuery, Snapshot, SymbolId};

/// The filters of a search. Each file is judged once.
pub(super) struct Filter<'a> {
    snapshot: &'a Snapshot,
    search: &'a Search<'a>,
    pub(super) phrases: Vec<Phrase>,
    files: RefCell<FxHashMap<u32, bool>>,
    /// Whether the query is a description, in which phrases are optional.
    pub(super) describes: bool,
    /// Files that may contain all phrases, if phrases are required.
    pub(super) may_hold: Option<HashSet<u32>>,
    /// Whether symbols of documents and data are set aside, because the search does not ask for them.
    pub(super) has_documents: bool,
}

impl<'a> Filter<'a> {
    /// Reads the filters of a search.
    pub(super) fn new(snapshot: &'a Snapshot, search: &'a Search<'a>) -> Result<Self, Error> {
        let describes = !search.phrases.is_empty() && search.words >= DESCRIPTION;
        let words = search.phrases.iter().flat_map(|phrase| phrase.split(' '));
        let may_hold = match search.phrases.is_empty() || describes {
            true => None,
            false => {
                // Letters outside ASCII may occur in another case, so only ASCII pieces are looked up.
                let pieces = words.flat_map(|word| word.split(|c: char| !c.is_ascii()));
                let needs =
                    GramQuery::and(pieces.map(|piece| GramQuery::literal(piece.to_ascii_lowercase().as_bytes())));
                Some(snapshot.candidates(&needs)?.into_iter().collect())
            }
        };
        let phrases = search.phrases.iter().map(|phrase| Phrase::new(phrase)).collect();
        let is_document = |language: &String| of_id(language).is_some_and(|(_, spec)| spec.is_document);
        let names_them = search.kinds.iter().any(|word| word == Detail::Section.as_str());
        let asks = search.language.is_some() || !search.files.is_empty() || names_them;
        let has_documents = !asks && snapshot.facts().languages.keys().any(is_document);
        Ok(Self { snapshot, search, phrases, files: RefCell::default(), describes, may_hold, has_documents })
    }

    /// Whether a symbol is part of a document, and set aside: documents contain the words of many questions.
    pub(super) fn sets_aside(&self, id: SymbolId) -> bool {
        self.has_documents && self.snapshot.file_by_number(id.file).is_some_and(|file| file.spec().is_document)
    }

    /// Whether a symbol passes.
    pub(super) fn accepts(&self, id: SymbolId) -> bool {
        let Search { kinds, language, files, other_files, .. } = self.search;
        let is_by_file = language.is_some() || !files.is_empty() || !other_files.is_empty() || self.may_hold.is_some();
        if is_by_file && !self.accepts_file(id.file) {
            return false;
        }
        let is_of_kind = kinds.is_empty()
            || self.snapshot.symbol(id).is_some_and(|symbol| {
                let (kind, detail) = (symbol.kind(), symbol.detail());
                kinds.iter().any(|word| names_kind(word, kind, detail))
            });
        is_of_kind && (self.may_hold.is_none() || self.holds_phrases(id))
    }

    fn holds_phrases(&self, id: SymbolId) -> bool {
        let Some(symbol) = self.snapshot.symbol(id) else { return false };
        self.phrases.iter().all(|phrase| phrase.is_written(&symbol))
    }

    /// Whether a required phrase is so long that it may also be searched as a description.
    pub(super) fn is_sentence(&self) -> bool {
        self.may_hold.is_some() && self.phrases.iter().any(|phrase| phrase.words() >= DESCRIPTION)
    }

    /// Whether a file passes.
    pub(super) fn accepts_file(&self, file: u32) -> bool {
        *self.files.borrow_mut().entry(file).or_insert_with(|| {
            let Some(view) = self.snapshot.file_by_number(file) else { return false };
            self.search.language.is_none_or(|language| view.language() == language)
                && self.search.files.iter().all(|glob| glob.is_match(view.path()))
                && !self.search.other_files.iter().any(|glob| glob.is_match(view.path()))
                && self.may_hold.as_ref().is_none_or(|files| files.contains(&file))
        })
    }
}
