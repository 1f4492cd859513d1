//! A second look at the symbols that may answer a description: what the words say of names, files and sizes.
//!
//! The weights were found on real commits and docstrings of six repositories (`benches/README.md`).

use std::collections::HashSet;

use super::rank::{Candidate, Form};
use crate::store::{flattened, stems};

/// What a change begins with, besides `area: ` (conventionalcommits.org and the custom of most repositories).
const CHANGES: &[&str] = &[
    "add",
    "added",
    "allow",
    "apply",
    "avoid",
    "bugfix",
    "build",
    "bump",
    "change",
    "changed",
    "chore",
    "clean",
    "cleanup",
    "correct",
    "deprecate",
    "disable",
    "docs",
    "don",
    "drop",
    "enable",
    "ensure",
    "feat",
    "fix",
    "fixed",
    "fixes",
    "handle",
    "hotfix",
    "implement",
    "implemented",
    "improve",
    "improved",
    "introduce",
    "make",
    "merge",
    "minor",
    "move",
    "moved",
    "optimize",
    "perf",
    "prevent",
    "refactor",
    "remove",
    "removed",
    "rename",
    "replace",
    "restore",
    "revert",
    "simplify",
    "style",
    "support",
    "switch",
    "test",
    "update",
    "updated",
    "use",
];

/// What each sign counts, as a share of the score that the words alone gave.
struct Weights {
    /// The symbol's name is made of the description's words.
    name: f32,
    /// The file's is.
    file: f32,
    /// The area that is named at the beginning is where the symbol lies.
    area: f32,
    /// A definition of a hundred lines over one of one line: there is more in it that may be meant.
    size: f32,
}

/// A description's words.
pub struct Prose {
    stems: HashSet<String>,
    areas: Vec<String>,
    weights: Weights,
}

/// The part of a description before its first colon, or in brackets, when it is as short as an area's name.
fn head(query: &str) -> &str {
    let bracketed = || query.strip_prefix('[')?.split_once(']');
    let head = query.split_once(": ").or_else(bracketed).map_or("", |(head, _)| head);
    if head.split_whitespace().count() <= 2 { head } else { "" }
}

/// The areas that a change names: `net/http: …`, `fix(css): …`, `[spider] …`.
fn areas(query: &str) -> Vec<String> {
    let words = head(query).split(|c: char| !c.is_alphanumeric() && !"_-".contains(c)).map(flattened);
    words.filter(|word| word.len() > 2 && !CHANGES.contains(&word.as_str())).collect()
}

/// Whether a word, in small letters, is one that changes begin with.
pub fn is_change_word(word: &str) -> bool {
    CHANGES.contains(&word)
}

/// Whether a description is of a change, as in a commit or an issue, rather than of what something does.
pub fn is_change(query: &str) -> bool {
    let first = query.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    CHANGES.contains(&first.as_str()) || !areas(query).is_empty()
}

impl Prose {
    /// Takes a description apart; `text` is the same without its stop words.
    pub fn new(query: &str, text: &str, form: Form) -> Self {
        let weights = match form {
            Form::Change => Weights { name: 0.3, file: 0.5, area: 1.0, size: 1.4 },
            _ => Weights { name: 0.5, file: 0.15, area: 0.5, size: 0.75 },
        };
        Self { stems: stems(text).into_iter().collect(), areas: areas(query), weights }
    }

    /// Weighs a symbol by its signs.
    pub fn weigh(&self, candidate: &mut Candidate<'_>) {
        let symbol = &candidate.symbol;
        let path = symbol.file.path();
        let stem = path.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default();
        let lines = (symbol.end_line() + 1).saturating_sub(symbol.first_line()).clamp(1, 200) as f32;
        let signs = [
            ("name", self.weights.name * self.says(&candidate.name, 3.0)),
            ("file name", self.weights.file * self.says(stem, 2.0)),
            ("area", if self.is_in_area(candidate) { self.weights.area } else { 0.0 }),
        ];
        candidate.tally.times_signs(&signs);
        candidate.tally.times("size", 1.0 + self.weights.size * lines.ln() / 100_f32.ln());
    }

    /// How far the description says a name: the share of the name's words that are in it, of `enough` words at least.
    fn says(&self, name: &str, enough: f32) -> f32 {
        let words = stems(name);
        let said = words.iter().filter(|word| self.stems.contains(*word)).count() as f32;
        if words.is_empty() { 0.0 } else { said / words.len() as f32 * (said / enough).min(1.0) }
    }

    /// Whether the symbol's owner, file or one of its folders bears the name of an area.
    fn is_in_area(&self, candidate: &Candidate<'_>) -> bool {
        if self.areas.is_empty() {
            return false;
        }
        let symbol = &candidate.symbol;
        let container = symbol.container();
        let owner =
            if container.is_empty() { symbol.parent().map_or(container, |parent| parent.name()) } else { container };
        let places = symbol.file.path().split(['/', '.']).chain([&*owner]);
        places.map(flattened).any(|place| self.areas.contains(&place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_from_descriptions() {
        for change in [
            "fix(css): set moduleType in css-post plugin",
            "reverseproxy: fix misleading error",
            "Add a facet",
            "[spider] log",
        ] {
            assert!(is_change(change), "{change}");
        }
        for description in
            ["Returns the value on the top of the stack", "how are headers parsed", "where a note: is kept as text"]
        {
            assert!(!is_change(description), "{description}");
        }
        assert_eq!(areas("fix(css-post): set it"), ["csspost"]);
        assert_eq!(areas("net/http: set it"), ["net", "http"]);
    }
}
