//! A second look at the symbols that may answer a description: what the words say of names, files and sizes.
//!
//! The weights were found on real commits and docstrings of six repositories (`benches/README.md`).

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::rank::{Candidate, Form, STOP_WORDS};
use super::words;
use crate::model::Kind;
use crate::store::{Field, SymbolView, flattened, stems, word_parts};

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

/// The fields in which a description's words are looked for one by one.
pub const FIELDS: [Field; 3] = [Field::Text, Field::Parent, Field::Signature];

/// Which of a description's words a symbol holds in each of [`FIELDS`], one bit for a word.
pub type Held = [u64; 3];

/// What each sign counts: a symbol's score is multiplied by e to the power of all of them. They were fitted together, as the
/// weights of a log-linear model whose classes are the symbols that were found; the terms' score has the weight one.
struct Weights {
    /// The name is made of the description's words.
    name: f32,
    /// So is the file's.
    file: f32,
    /// The name begins with a verb that does what the description's verb does.
    verb: f32,
    /// A yes-or-no question is described, and the name asks one.
    asks: f32,
    /// All of the description's telling words are in the definition, its documentation or its path.
    text: f32,
    /// They are in the signature.
    signature: f32,
    /// They are in the owner's name, those that are not in the symbol's own.
    owner: f32,
    /// Nobody describes what three lines say themselves.
    short: f32,
    /// For each e-fold of words in the name: a long name holds some word of any description.
    length: f32,
    /// A function in a function is part of what that one does.
    nested: f32,
    /// What makes an object is described by what the object is.
    constructor: f32,
}

const DESCRIPTION: Weights = Weights {
    name: 0.56,
    file: 0.14,
    verb: 0.19,
    asks: 0.26,
    text: 0.65,
    signature: 0.33,
    owner: 0.19,
    short: -0.56,
    length: -0.18,
    nested: -0.2,
    constructor: -0.26,
};

/// For each e-fold of symbols of one name that were found: what many define is seldom what one describes.
pub const SAME_NAME: f32 = -0.1;

/// What each sign counts in a description of a change, as a share of the score that the words alone gave.
struct ChangeWeights {
    /// The symbol's name is made of the description's words.
    name: f32,
    /// The file's is.
    file: f32,
    /// The area that is named at the beginning is where the symbol lies.
    area: f32,
    /// A definition of a hundred lines over one of one line: there is more in it that may be meant.
    size: f32,
    /// All telling words are in the definition, as for [`Weights::text`].
    text: f32,
}

const CHANGE: ChangeWeights = ChangeWeights { name: 0.3, file: 0.5, area: 1.0, size: 1.4, text: 0.15 };

/// A description's words.
pub struct Prose {
    form: Form,
    stems: HashSet<String>,
    areas: Vec<String>,
    /// The stems that tell something, each with what names say in its place.
    telling: Vec<Vec<String>>,
    /// What its verb does, see [`words::deeds`].
    deeds: u32,
    /// It is of a yes-or-no question.
    asks: bool,
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
    let mut words = query.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    let is_numbered = query.split('#').skip(1).any(|after| after.starts_with(|c: char| c.is_ascii_digit()));
    CHANGES.contains(&first.as_str())
        || is_numbered
        || !areas(query).is_empty()
        || words.any(|word| TELLTALES.contains(&word.as_str()))
}

/// Words that stand anywhere in what is said of a change, and in nothing else.
const TELLTALES: [&str; 7] = ["bug", "bugfix", "closes", "fixes", "regression", "renamed", "resolves"];

impl Prose {
    /// Takes a description apart; `text` is the same without its stop words.
    pub fn new(query: &str, text: &str, form: Form) -> Self {
        let all = stems(text);
        let says_nothing = |stem: &String| words::is_filler(stem) || form == Form::Change && is_custom(stem);
        let mut telling: Vec<&String> = all.iter().filter(|stem| !says_nothing(stem)).collect();
        if telling.is_empty() {
            telling = all.iter().collect();
        }
        let mut seen = HashSet::new();
        telling.retain(|stem| seen.insert(*stem));
        telling.truncate(u64::BITS as usize);
        let called = |stem: &String| [std::slice::from_ref(stem), words::instead_of(stem)].concat();
        let first = stems(query).into_iter().take(2).map(|stem| words::deeds(&stem));
        Self {
            form,
            areas: areas(query),
            telling: telling.into_iter().map(called).collect(),
            deeds: first.into_iter().find(|deeds| *deeds != 0).unwrap_or(0),
            asks: words::is_asked(query),
            stems: all.into_iter().collect(),
        }
    }

    /// The words that tell something, each with the others that say the same.
    pub fn telling(&self) -> &[Vec<String>] {
        &self.telling
    }

    /// What names say in place of the description's words, all in one.
    pub fn instead(&self) -> String {
        let others = self.telling.iter().flat_map(|word| &word[1..]).filter(|other| !self.stems.contains(*other));
        others.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// What a symbol's score is multiplied by, sign by sign.
    pub fn factors(&self, candidate: &Candidate<'_>, held: Held) -> Vec<(&'static str, f32)> {
        if self.form == Form::Change { self.of_change(candidate, held) } else { self.of_description(candidate, held) }
    }

    fn of_change(&self, candidate: &Candidate<'_>, held: Held) -> Vec<(&'static str, f32)> {
        let symbol = &candidate.symbol;
        let signs = CHANGE.name * self.says(&stems(&candidate.name), 3.0)
            + CHANGE.file * self.says(&stems(file_stem(symbol)), 2.0)
            + if self.is_in_area(candidate) { CHANGE.area } else { 0.0 };
        let size = CHANGE.size * (lines(symbol).clamp(1, 200) as f32).ln() / 100_f32.ln();
        let text = (CHANGE.text * self.share(held[0])).exp();
        vec![("name, file and area", 1.0 + signs), ("size", 1.0 + size), ("words in text", text)]
    }

    fn of_description(&self, candidate: &Candidate<'_>, held: Held) -> Vec<(&'static str, f32)> {
        const W: &Weights = &DESCRIPTION;
        let symbol = &candidate.symbol;
        let words = stems(&candidate.name);
        let first = word_parts(&candidate.name).first().map(|part| part.to_lowercase()).unwrap_or_default();
        let when = |sign: bool, weight: f32| if sign { weight } else { 0.0 };
        let in_name = |word: &Vec<String>| word.iter().any(|stem| words.contains(stem));
        let named = bits(self.telling.iter().map(in_name));
        let owner = owner(symbol);
        let makes = matches!(&*candidate.name, "__init__" | "constructor" | "new") || candidate.name == owner;
        let is_nested = symbol.parent().is_some_and(|parent| matches!(parent.kind(), Kind::Function | Kind::Method));
        let does = words.first().map_or(0, |verb| words::deeds(verb)) & self.deeds != 0;
        let [text, parent, signature] = held;
        let signs = [
            ("name", W.name * self.says_or_means(&words)),
            ("file", W.file * self.says(&stems(file_stem(symbol)), 2.0)),
            ("verb", when(does, W.verb)),
            ("question", when(self.asks && words::asks(&first), W.asks)),
            ("words in text", W.text * self.share(text)),
            ("words in signature", W.signature * self.share(signature)),
            ("words in owner", W.owner * self.share(parent & !named)),
            ("short", when(lines(symbol) <= 3, W.short)),
            ("length of name", W.length * (words.len().max(1) as f32).ln()),
            ("nested", when(is_nested, W.nested)),
            ("constructor", when(makes, W.constructor)),
        ];
        signs.into_iter().map(|(what, sign)| (what, sign.exp())).collect()
    }

    /// The share of the telling words that are held.
    fn share(&self, held: u64) -> f32 {
        held.count_ones() as f32 / self.telling.len().max(1) as f32
    }

    /// How far the description says a name: the share of the name's words that are in it, of `enough` words at least.
    fn says(&self, words: &[String], enough: f32) -> f32 {
        let said = words.iter().filter(|word| self.stems.contains(*word)).count() as f32;
        if words.is_empty() { 0.0 } else { said / words.len() as f32 * (said / enough).min(1.0) }
    }

    /// The same, where other words for the same count nearly as much and the name's stop words count neither way.
    fn says_or_means(&self, words: &[String]) -> f32 {
        let mut telling: Vec<&String> = words.iter().filter(|word| !STOP_WORDS.contains(&word.as_str())).collect();
        if telling.is_empty() {
            telling = words.iter().collect();
        }
        let means = |word: &&String| match self.stems.contains(*word) {
            true => 1.0,
            false if words::instead_of(word).iter().any(|other| self.stems.contains(other)) => 0.8,
            false => 0.0,
        };
        let said: f32 = telling.iter().map(means).sum();
        if telling.is_empty() { 0.0 } else { said / telling.len() as f32 * (said / 3.0).min(1.0) }
    }

    /// Whether the symbol's owner, file or one of its folders bears the name of an area.
    fn is_in_area(&self, candidate: &Candidate<'_>) -> bool {
        if self.areas.is_empty() {
            return false;
        }
        let symbol = &candidate.symbol;
        let owner = owner(symbol);
        let places = symbol.file.path().split(['/', '.']).chain([&*owner]);
        places.map(flattened).any(|place| self.areas.contains(&place))
    }
}

/// Whether a change's custom word has this stem.
fn is_custom(stem: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| CHANGES.iter().flat_map(|word| stems(word)).collect());
    STEMS.contains(stem)
}

/// The name of what a symbol belongs to; empty when it belongs to nothing.
fn owner<'a>(symbol: &SymbolView<'a>) -> Cow<'a, str> {
    let container = symbol.container();
    if container.is_empty() { symbol.parent().map_or(container, |parent| parent.name()) } else { container }
}

/// The name of a symbol's file without what follows a dot.
fn file_stem<'a>(symbol: &SymbolView<'a>) -> &'a str {
    symbol.file.path().rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default()
}

fn lines(symbol: &SymbolView<'_>) -> u32 {
    (symbol.end_line() + 1).saturating_sub(symbol.line())
}

/// One bit for each, the first the lowest.
fn bits(set: impl Iterator<Item = bool>) -> u64 {
    set.enumerate().fold(0, |bits, (place, set)| bits | u64::from(set) << place)
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

    #[test]
    fn an_article_makes_a_description_of_a_few_words() {
        assert_eq!(Form::of("request fingerprint"), Form::Words);
        assert_eq!(Form::of("Return the request fingerprint"), Form::Prose);
        assert_eq!(Form::of("Fix the request fingerprint"), Form::Change);
    }

    #[test]
    fn a_description_is_told_by_the_words_that_say_something() {
        let prose = Prose::new("Returns the number of documents", "Returns number documents", Form::Prose);
        let telling: Vec<&str> = prose.telling().iter().map(|word| &*word[0]).collect();
        assert_eq!(telling, ["number", "document"]);
        assert!(prose.instead().split(' ').any(|other| other == "count"), "{}", prose.instead());
        // Where nothing says more, all counts.
        assert_eq!(Prose::new("Gets the value", "Gets value", Form::Prose).telling().len(), 2);
    }
}
