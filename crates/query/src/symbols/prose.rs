//! Descriptions: scores candidate symbols again by words of their names and files, and by size.
//!
//! The weights were found on commits and docstrings of six repositories, for questions on public question sets
//! (`benches/README.md`).

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::form::Form;
use super::rank::{Candidate, Looked};
use super::telling::STOP_WORDS;
use super::words;
use codelode_base::model::Kind;
use codelode_store::{Field, Meaning, SymbolView, flattened, stems, word_parts};

/// Words that begin the title of a change, besides `area: ` (conventionalcommits.org and the custom of most
/// repositories).
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

/// The fields in which each word of a description is searched separately.
pub const FIELDS: [Field; 3] = [Field::Text, Field::Parent, Field::Signature];

/// Weights of the signals; e to the power of their sum is a factor of the score. They were fitted together as a
/// log-linear model whose classes are the found symbols, in which the index score has weight one. `signature` and
/// `short` are lower than fitted, because questions about short functions lost by the full values.
struct Weights {
    /// The share of the name's words in the description.
    name: f32,
    /// The share of the file name's words in the description.
    file: f32,
    /// The name and the description begin with verbs of the same action.
    verb: f32,
    /// The description is a yes-or-no question, and the name asks one.
    asks: f32,
    /// All significant words of the description are in the definition, the documentation or the path.
    text: f32,
    /// The significant words are in the signature.
    signature: f32,
    /// The significant words are in the owner's name and not in the symbol's.
    owner: f32,
    /// A definition of three lines needs no description.
    short: f32,
    /// For each e-fold of words in the name: a long name shares words with any description.
    length: f32,
    /// A function inside a function is a part of the outer one.
    nested: f32,
    /// Constructors are described by the object that they make.
    constructor: f32,
    /// The definition's words are close to the description's by the learned meanings.
    meaning: f32,
}

/// Weights for sentences as in documentation.
const SENTENCE: Weights = Weights {
    name: 0.4,
    file: 0.14,
    verb: 0.19,
    asks: 0.26,
    text: 0.65,
    signature: 0.25,
    owner: 0.19,
    short: -0.48,
    length: -0.18,
    nested: -0.2,
    constructor: -0.36,
    meaning: 1.5,
};

/// Weights for questions and keywords, fitted on people's questions. These ask for short functions as often as for long
/// ones, and their words are more likely inside the definition.
const QUESTION: Weights = Weights { text: 1.3, file: 0.28, short: -0.24, meaning: 0.75, ..SENTENCE };

/// For each e-fold of found symbols with one name: a common name is seldom the described one.
pub const SAME_NAME: f32 = -0.1;

/// Weights for a description of a change, as factors of the index score.
struct ChangeWeights {
    /// The share of the symbol's name in the description.
    name: f32,
    /// The share of the file's name in the description.
    file: f32,
    /// The description begins with an area, and the symbol belongs to it.
    area: f32,
    /// For a definition of a hundred lines against one line: it is more likely to contain the change.
    size: f32,
    /// All significant words are in the definition, as in [`Weights::text`].
    text: f32,
}

const CHANGE: ChangeWeights = ChangeWeights { name: 0.3, file: 0.5, area: 1.0, size: 2.0, text: 0.6 };

/// The signals of a file's path, shared by all its symbols.
#[derive(Default)]
pub struct Place {
    /// The share of the file's name in the description.
    says: f32,
    /// The file or one of its folders is named like the area.
    in_area: bool,
}

/// An analysed description.
pub struct Prose {
    form: Form,
    stems: FxHashSet<Rc<str>>,
    areas: Vec<String>,
    /// The significant stems, each with its synonyms in names.
    telling: Vec<Vec<String>>,
    /// The actions of its verb, see [`words::deeds`].
    deeds: u32,
    /// It describes a yes-or-no question.
    asks: bool,
    meaning: Meaning,
}

/// The part before the first colon, or in brackets, if it is short enough for an area's name.
fn head(query: &str) -> &str {
    let bracketed = || query.strip_prefix('[')?.split_once(']');
    let head = query.split_once(": ").or_else(bracketed).map_or("", |(head, _)| head);
    if head.split_whitespace().count() <= 2 { head } else { "" }
}

/// The areas of a change: `net/http: …`, `fix(css): …`, `[spider] …`.
fn areas(query: &str) -> Vec<String> {
    let words = head(query).split(|c: char| !c.is_alphanumeric() && !"_-".contains(c)).map(flattened);
    words.filter(|word| word.len() > 2 && !CHANGES.contains(&word.as_str())).collect()
}

/// Whether a lower-case word is one with which changes begin.
pub fn is_change_word(word: &str) -> bool {
    CHANGES.contains(&word)
}

/// Whether a description is of a change, as in a commit or an issue, rather than of code.
pub fn is_change(query: &str) -> bool {
    let mut words = query.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    // Titles of commits have no article after the verb, unlike descriptions of functions: `Add the given key`.
    let is_described = words.clone().find(|word| !word.is_empty()).is_some_and(|second| ARTICLES.contains(&&*second));
    let is_numbered = query.split('#').skip(1).any(|after| after.starts_with(|c: char| c.is_ascii_digit()));
    CHANGES.contains(&first.as_str()) && !(is_described && ALSO_DONE_BY_FUNCTIONS.contains(&first.as_str()))
        || ALSO_CHANGES.contains(&first.as_str()) && !is_described
        || is_numbered
        || !areas(query).is_empty()
        || words.any(|word| TELLTALES.contains(&word.as_str()))
}

/// Words of [`CHANGES`] that also begin descriptions of functions.
const ALSO_DONE_BY_FUNCTIONS: [&str; 21] = [
    "add", "allow", "apply", "build", "change", "clean", "disable", "drop", "enable", "ensure", "handle", "make",
    "merge", "move", "remove", "replace", "restore", "switch", "test", "update", "use",
];
/// Further words that begin titles of changes if no article follows. They may also be the subject of the change, so
/// they are searched, unlike [`CHANGES`].
const ALSO_CHANGES: [&str; 48] = [
    "adding", "adjust", "adjusted", "always", "better", "bring", "clarify", "decouple", "do", "document", "dont",
    "enhance", "expose", "fixing", "ignore", "include", "included", "increase", "just", "made", "migrate", "more",
    "moving", "now", "omit", "only", "port", "preserve", "properly", "reduce", "relax", "reorder", "replaced",
    "respect", "reuse", "reverted", "revise", "rework", "show", "skip", "small", "speed", "stop", "treat", "tweak",
    "unify", "updating", "upgrade",
];
/// Articles and determiners before described things.
const ARTICLES: [&str; 5] = ["a", "all", "an", "any", "the"];

/// Words that occur only in descriptions of changes.
const TELLTALES: [&str; 7] = ["bug", "bugfix", "closes", "fixes", "regression", "renamed", "resolves"];

impl Prose {
    /// Analyses a description; `text` is the description without stop words.
    pub fn new(query: &str, text: &str, form: Form) -> Self {
        let all = stems(text);
        let says_nothing = |stem: &str| words::is_filler(stem) || form == Form::Change && is_custom(stem);
        let mut telling: Vec<&Rc<str>> = all.iter().filter(|stem| !says_nothing(stem)).collect();
        if telling.is_empty() {
            telling = all.iter().collect();
        }
        let mut seen = FxHashSet::default();
        telling.retain(|stem| seen.insert(*stem));
        telling.truncate(u64::BITS as usize);
        let called = |stem: &Rc<str>| [&[String::from(&**stem)], words::instead_of(stem)].concat();
        let mut seen = FxHashSet::default();
        let meaning = Meaning::described(all.iter().filter(|stem| seen.insert(&***stem)).map(|stem| &**stem));
        let first = all.iter().take(2).map(|stem| words::deeds(stem));
        Self {
            form,
            areas: areas(query),
            telling: telling.into_iter().map(called).collect(),
            deeds: first.into_iter().find(|deeds| *deeds != 0).unwrap_or(0),
            asks: words::is_asked(query),
            meaning,
            stems: all.into_iter().collect(),
        }
    }

    /// The significant words, each with its synonyms.
    pub fn telling(&self) -> &[Vec<String>] {
        &self.telling
    }

    /// The stems of all words except stop words.
    pub fn stems(&self) -> &FxHashSet<Rc<str>> {
        &self.stems
    }

    /// The meaning of the description.
    pub fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// The synonyms that names use for the description's words, joined.
    pub fn instead(&self) -> String {
        let others =
            self.telling.iter().flat_map(|word| &word[1..]).filter(|other| !self.stems.contains(other.as_str()));
        others.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// The signals of a file's path, shared by all its symbols.
    pub fn place(&self, path: &str) -> Place {
        let file = path.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default();
        let in_area = !self.areas.is_empty() && path.split(['/', '.']).any(|part| self.is_area(part));
        Place { says: self.says(&stems(file), 2.0), in_area }
    }

    fn weights(&self) -> &'static Weights {
        if self.form == Form::Question { &QUESTION } else { &SENTENCE }
    }

    /// Multiplies a symbol's score by the factor of each signal.
    pub fn judge(&self, candidate: &mut Candidate<'_>, looked: &Looked, place: &Place) {
        if self.form == Form::Change {
            self.judge_for_change(candidate, looked, place);
        } else {
            self.judge_for_description(candidate, looked, place);
        }
    }

    fn judge_for_change(&self, candidate: &mut Candidate<'_>, looked: &Looked, place: &Place) {
        candidate.within = self.share(looked.held[0]);
        let Candidate { symbol, name, tally, within, .. } = candidate;
        let in_area = place.in_area || !self.areas.is_empty() && self.is_area(&owner(symbol));
        let signs = CHANGE.name * self.says(&stems(name), 3.0)
            + CHANGE.file * place.says
            + if in_area { CHANGE.area } else { 0.0 };
        let size = CHANGE.size * (lines(symbol).clamp(1, 200) as f32).ln() / 100_f32.ln();
        tally.times("name, file and area", 1.0 + signs);
        tally.times("size", 1.0 + size);
        tally.times("words in text", (CHANGE.text * *within).exp());
    }

    fn judge_for_description(&self, candidate: &mut Candidate<'_>, looked: &Looked, place: &Place) {
        let w = self.weights();
        let Candidate { symbol, name, tally, .. } = candidate;
        let words = stems(name);
        let when = |sign: bool, weight: f32| if sign { weight } else { 0.0 };
        let in_name = |word: &Vec<String>| word.iter().any(|stem| words.iter().any(|other| **other == **stem));
        let named = bits(self.telling.iter().map(in_name));
        let owner = owner(symbol);
        let makes = symbol.file.conventions().constructors.contains(&&**name) || *name == owner;
        let is_nested = symbol.parent().is_some_and(|parent| matches!(parent.kind(), Kind::Function | Kind::Method));
        let does = words.first().map_or(0, |verb| words::deeds(verb)) & self.deeds != 0;
        let asks = || word_parts(name).first().is_some_and(|first| words::asks(&first.to_lowercase()));
        let [text, parent, signature] = looked.held;
        let mut sign = |what: &str, sign: f32| tally.times(what, if sign == 0.0 { 1.0 } else { sign.exp() });
        sign("name", w.name * self.says_or_means(&words));
        sign("file", w.file * place.says);
        sign("verb", when(does, w.verb));
        sign("question", when(self.asks && asks(), w.asks));
        sign("words in text", w.text * self.share(text));
        sign("words in signature", w.signature * self.share(signature));
        sign("words in owner", w.owner * self.share(parent & !named));
        sign("short", when(is_short(symbol), w.short));
        sign("length of name", w.length * (words.len().max(1) as f32).ln());
        sign("nested", when(is_nested, w.nested));
        sign("constructor", when(makes, w.constructor));
        sign("meaning", w.meaning * looked.near);
    }

    /// The share of the significant words whose bits are set.
    fn share(&self, held: u64) -> f32 {
        held.count_ones() as f32 / self.telling.len().max(1) as f32
    }

    /// The share of a name's words in the description, counted against at least `enough` words.
    fn says(&self, words: &[Rc<str>], enough: f32) -> f32 {
        let said = words.iter().filter(|word| self.stems.contains(*word)).count() as f32;
        if words.is_empty() { 0.0 } else { said / words.len() as f32 * (said / enough).min(1.0) }
    }

    /// The share of a name's words in the description. Synonyms count nearly as much; the name's stop words are
    /// ignored.
    fn says_or_means(&self, words: &[Rc<str>]) -> f32 {
        let tells = |word: &&Rc<str>| !STOP_WORDS.contains(&&***word);
        let means = |word: &Rc<str>| match self.stems.contains(word) {
            true => 1.0,
            false if words::instead_of(word).iter().any(|other| self.stems.contains(other.as_str())) => 0.8,
            false => 0.0,
        };
        let sum = |(said, all): (f32, f32), word: &Rc<str>| (said + means(word), all + 1.0);
        let (said, all) = match words.iter().filter(tells).fold((0.0, 0.0), sum) {
            (_, 0.0) => words.iter().fold((0.0, 0.0), sum),
            telling => telling,
        };
        if all == 0.0 { 0.0 } else { said / all * (said / 3.0).min(1.0) }
    }

    /// Whether a part of a path, or an owner, is named like an area of the change.
    fn is_area(&self, part: &str) -> bool {
        self.areas.contains(&flattened(part))
    }
}

/// Whether a stem belongs to a word with which changes begin.
fn is_custom(stem: &str) -> bool {
    static STEMS: LazyLock<FxHashSet<String>> =
        LazyLock::new(|| CHANGES.iter().flat_map(|word| stems(word)).map(|stem| String::from(&*stem)).collect());
    STEMS.contains(stem)
}

/// The name of a symbol's owner; empty without one.
pub(super) fn owner<'a>(symbol: &SymbolView<'a>) -> Cow<'a, str> {
    let container = symbol.container();
    if container.is_empty() { symbol.parent().map_or(container, |parent| parent.name()) } else { container }
}

pub(super) fn lines(symbol: &SymbolView<'_>) -> u32 {
    (symbol.end_line() + 1).saturating_sub(symbol.line())
}

fn is_short(symbol: &SymbolView<'_>) -> bool {
    lines(symbol) <= 3
}

/// Packs flags as bits, the first one lowest.
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
            "Add facets",
            "Fix the facet",
            "Do not lose facets of empty segments",
            "Show facets in the order of their counts",
            "[spider] log",
        ] {
            assert!(is_change(change), "{change}");
        }
        for description in [
            "Returns the value on the top of the stack",
            "Add a facet",
            "Show the facet below the cursor",
            "how are headers parsed",
            "where a note: is kept as text",
        ] {
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
        // Without significant words, all words count.
        assert_eq!(Prose::new("Gets the value", "Gets value", Form::Prose).telling().len(), 2);
    }
}
