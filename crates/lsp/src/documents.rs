//! Open documents: their texts as the editor has them, saved or not.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, TextDocumentContentChangeEvent,
    Uri,
};

use super::positions::{Encoding, LineStarts, Lines};
use super::workspace::path_of;
use codelode_service::catalog::unsaved::Text;

/// The open documents, by the address that the editor gave them.
#[derive(Clone, Default)]
pub(super) struct Documents(Arc<HashMap<String, Text>>);

impl Documents {
    /// Opens a document. One that is no file has no answers, so it is not kept.
    pub fn open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let Some(path) = path_of(&document.uri) else { return };
        let text = document.text.strip_prefix('\u{feff}').map_or(document.text.clone(), str::to_owned);
        let text = Text { path: real(path), text: text.into() };
        Arc::make_mut(&mut self.0).insert(document.uri.as_str().to_owned(), text);
    }

    /// Applies the changes of a document, one after the other. Ranges outside of it mean the nearest inside.
    pub fn change(&mut self, params: DidChangeTextDocumentParams, encoding: Encoding) {
        let documents = Arc::make_mut(&mut self.0);
        let Some(document) = documents.get_mut(params.text_document.uri.as_str()) else { return };
        document.text = changed(&document.text, params.content_changes, encoding).into();
    }

    /// Closes a document: its file is as it is on disk again.
    pub fn close(&mut self, params: &DidCloseTextDocumentParams) {
        Arc::make_mut(&mut self.0).remove(params.text_document.uri.as_str());
    }

    /// The texts of all documents.
    pub fn texts(&self) -> Vec<Text> {
        self.0.values().cloned().collect()
    }

    /// The addresses of all documents.
    pub fn uris(&self) -> Vec<Uri> {
        self.0.keys().filter_map(|uri| uri.parse().ok()).collect()
    }

    /// The address that the editor gave to a file.
    pub fn uri(&self, path: &std::path::Path) -> Option<Uri> {
        let (uri, _) = self.0.iter().find(|(_, text)| text.path == path)?;
        uri.parse().ok()
    }
}

/// A path without links, as far as it exists.
fn real(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

/// A text after changes. Its lines are found once and followed, since one message may hold thousands of changes.
fn changed(text: &str, changes: Vec<TextDocumentContentChangeEvent>, encoding: Encoding) -> String {
    let mut text = text.to_owned();
    let mut starts = LineStarts::of(text.as_bytes());
    for change in changes {
        let Some(range) = change.range else {
            text = change.text;
            starts = LineStarts::of(text.as_bytes());
            continue;
        };
        let lines = Lines::at(text.as_bytes(), &starts, encoding);
        let (start, end) = (lines.byte(range.start), lines.byte(range.end));
        // Positions are at the starts of characters.
        let replaced = Range { start, end: end.max(start) };
        text.replace_range(replaced.clone(), &change.text);
        starts.replaced(text.as_bytes(), replaced, change.text.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, TextDocumentContentChangeEvent};
    use proptest::prelude::*;

    use super::{Encoding, changed};

    fn change(from: (u32, u32), to: (u32, u32), new: &str) -> TextDocumentContentChangeEvent {
        let range = lsp_types::Range { start: Position::new(from.0, from.1), end: Position::new(to.0, to.1) };
        TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: new.to_owned() }
    }

    /// Replaces from one line and character to another.
    fn check(text: &str, from: (u32, u32), to: (u32, u32), new: &str, expected: &str) {
        assert_eq!(changed(text, vec![change(from, to, new)], Encoding::Utf16), expected);
    }

    proptest! {
        /// Changes of one message give the same text as the same changes one message each.
        #[test]
        fn lines_are_followed_through_changes(
            text in "[a\r\n\u{feff}𝒳]{0,12}",
            steps in prop::collection::vec(((0u32..5, 0u32..4), (0u32..5, 0u32..4), "[a\r\n\u{feff}é]{0,4}"), 0..8),
        ) {
            let changes: Vec<_> = steps.iter().map(|(from, to, new)| change(*from, *to, new)).collect();
            let each = |text: String, change: &TextDocumentContentChangeEvent| {
                changed(&text, vec![change.clone()], Encoding::Utf16)
            };
            prop_assert_eq!(changed(&text, changes.clone(), Encoding::Utf16), changes.iter().fold(text, each));
        }
    }

    #[test]
    fn changes_replace_ranges() {
        check("a\nb\n", (1, 0), (1, 1), "cd", "a\ncd\n");
        check("a\r\nb", (0, 1), (1, 0), " ", "a b");
        check("𝒳y", (0, 2), (0, 3), "z", "𝒳z");
        check("", (0, 0), (0, 0), "new", "new");
    }

    #[test]
    fn ranges_outside_mean_the_nearest_inside() {
        check("ab", (7, 7), (9, 9), "c", "abc");
        check("𝒳", (0, 1), (0, 1), "a", "a𝒳");
        check("abc", (0, 2), (0, 1), "-", "ab-c");
    }
}
