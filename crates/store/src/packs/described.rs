//! Descriptions of files: what a file says of itself at its beginning, what a model says of it, or what its one
//! definition says.

use super::view::{FileView, SymbolView, one_line};
use crate::tables::vectors::{TextKey, text_key_of};
use codelode_base::model::Kind;
use codelode_lang::languages::{first_sentence, opening};

/// Letters of a signature in an outline.
const SIGNATURE: usize = 160;
/// Letters of an outline.
const OUTLINE: usize = 2_000;
/// The fewest functions and types of a file that only a model can describe: less speaks for itself.
const MANY: usize = 3;

impl FileView<'_> {
    /// First sentence of what it says of itself, or what a model says of it; empty when neither says anything.
    pub fn own_description(&self, limit: usize) -> String {
        match self.opening() {
            own if !own.is_empty() => first_sentence(&own, limit),
            _ if self.has_outline() => one_line(self.told(&self.outline_key()), limit),
            _ => String::new(),
        }
    }

    /// Description by a model, if the file has none of its own.
    pub fn told_description(&self) -> &str {
        if self.has_outline() && self.opening().is_empty() { self.told(&self.outline_key()) } else { "" }
    }

    /// Description of its own or by a model, else the title of a document, or the summary of its main definition.
    pub fn description(&self, limit: usize) -> String {
        let own = self.own_description(limit);
        if !own.is_empty() {
            return own;
        }
        if self.spec().is_document {
            return self.symbols().next().map(|title| one_line(&title.name(), limit)).unwrap_or_default();
        }
        self.main_definition().map(|symbol| symbol.summary(limit)).unwrap_or_default()
    }

    /// Whether a model is needed to describe it: it holds several definitions and says nothing of itself.
    pub fn needs_description(&self) -> bool {
        self.has_outline()
            && self.opening().is_empty()
            && self.main_definition().is_none_or(|symbol| symbol.doc_source().is_empty())
    }

    /// Key of its name and outline, by which its summary is stored: it stays when only bodies change.
    pub fn outline_key(&self) -> TextKey {
        text_key_of(&[b"file ", name_of(self.path()).as_bytes(), b"\n", self.outline().as_bytes()])
    }

    /// Signatures of its definitions, a line each.
    pub fn outline(&self) -> String {
        let mut outline = String::new();
        for symbol in self.symbols().filter(defines) {
            let signature = symbol.signature(SIGNATURE);
            if outline.len() + signature.len() >= OUTLINE {
                break;
            }
            outline.push_str(&signature);
            outline.push('\n');
        }
        outline
    }

    fn has_outline(&self) -> bool {
        !self.spec().is_document && self.symbols().filter(defines).nth(MANY - 1).is_some()
    }

    /// Its own description, at its beginning.
    fn opening(&self) -> String {
        let first = self.symbols().find(|symbol| !symbol.doc_span().is_empty()).map(|symbol| symbol.doc_span());
        let is_of_definition =
            |span: codelode_base::model::Span| first.is_some_and(|doc| doc.start < span.end && span.start < doc.end);
        opening(&self.spec().comments, self.content(), is_of_definition)
    }

    /// The one definition that it holds, or that which has its name.
    fn main_definition(&self) -> Option<SymbolView<'_>> {
        let stem = name_of(self.path()).split('.').next().unwrap_or_default();
        let mut outer = self.symbols().filter(|symbol| !symbol.has_parent() && defines(symbol));
        let first = outer.next()?;
        let Some(second) = outer.next() else { return Some(first) };
        [first, second].into_iter().chain(outer).find(|symbol| symbol.name() == stem)
    }
}

fn defines(symbol: &SymbolView<'_>) -> bool {
    matches!(symbol.kind(), Kind::Function | Kind::Method | Kind::Class | Kind::Type)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
