//! Where to begin in an unknown repository.

use std::collections::HashMap;

use crate::model::Kind;
use crate::store::{Snapshot, SymbolView, word_parts};

/// Ways in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// The words that most names outside of tests are made of, most frequent first.
    pub keywords: Vec<String>,
    /// Ids of the symbols that programs start at.
    pub entry_points: Vec<String>,
    /// The types that hold most, largest first: id and number of members.
    pub large_types: Vec<(String, u64)>,
}

/// Parts of names that tell nothing of a subject.
const COMMON: &[&str] = &[
    "get", "set", "is", "to", "new", "of", "from", "with", "for", "the", "on", "in", "by", "has", "do", "as", "and",
    "init", "test", "self", "impl", "type", "name", "value", "key", "id", "str", "string", "int", "data", "default",
    "add", "object", "make", "not", "or", "at", "all", "no",
];

/// How many of each sort.
const MOST: usize = 10;

/// Reads ways in out of names.
pub fn suggestions(snapshot: &Snapshot) -> Suggestions {
    let mut words: HashMap<String, u32> = HashMap::new();
    let mut found = Suggestions::default();
    let mut members: Vec<(u64, SymbolView<'_>)> = Vec::new();
    for file in snapshot.files().filter(|file| file.symbol_count() > 0 && !file.is_test()) {
        for symbol in file.symbols() {
            let name = symbol.name();
            for word in word_parts(&name).into_iter().filter(|word| word.len() > 2) {
                *words.entry(word.to_lowercase()).or_default() += 1;
            }
            if starts_a_program(&symbol, &name) && found.entry_points.len() < MOST {
                found.entry_points.push(symbol.id());
            }
            if matches!(symbol.kind(), Kind::Class | Kind::Type) && symbol.end_line() > symbol.line() + 20 {
                members.push((u64::from(symbol.end_line() - symbol.line()), symbol));
            }
        }
    }
    let mut words: Vec<(String, u32)> =
        words.into_iter().filter(|(word, _)| !COMMON.contains(&word.as_str())).collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found.keywords = words.into_iter().take(2 * MOST).map(|(word, _)| word).collect();
    // Of equally large ones the order of their files stays.
    members.sort_by_key(|(lines, _)| std::cmp::Reverse(*lines));
    found.large_types = members
        .into_iter()
        .take(MOST)
        .map(|(_, symbol)| (symbol.id(), symbol.children().count() as u64))
        .filter(|(_, members)| *members > 0)
        .collect();
    found
}

/// Whether a program starts here: a top-level `main` (Python, Go, Rust), or Java's in its class.
fn starts_a_program(symbol: &SymbolView<'_>, name: &str) -> bool {
    name == "main"
        && (symbol.kind() == Kind::Function || (symbol.kind() == Kind::Method && symbol.file.language() == "java"))
}
