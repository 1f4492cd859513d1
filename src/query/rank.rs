//! How well a symbol answers a query. What sort of query it is decides what counts.
//!
//! The weights come from measurements on real commits, docstrings and identifiers: `benches/README.md` has the table.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::explain::Tally;
use super::prose::{self, Held, Place, Prose, is_change};
use crate::model::Kind;
use crate::store::{Clause, Field, SymbolView, flattened, word_parts};

/// What sort of query it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One name, perhaps qualified: `parse`, `Model.save`, `fs::read`.
    Identifier,
    /// Two to four bare words: a name in pieces, or a topic.
    Words,
    /// Anything longer: a description of what something does.
    Prose,
    /// A description of a change, as a commit or an issue begins.
    Change,
}

/// Words that say nothing in a description, though they may in a name.
pub(super) const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "does", "for", "from", "has", "have", "if",
    "in", "into", "is", "it", "its", "no", "not", "of", "on", "or", "should", "so", "such", "than", "that", "the",
    "their", "then", "there", "these", "this", "to", "was", "we", "were", "when", "where", "which", "while", "will",
    "with", "would", "how", "what", "i", "you",
];

/// What another word for one in a description counts, beside the word itself.
const INSTEAD: f32 = 0.35;

/// Lifts a whole tier above anything that adding scores can reach.
pub(super) const TIER: f32 = 1_000.0;

impl Form {
    /// Tells the sort of a query.
    pub fn of(query: &str) -> Self {
        let is_name = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "_$.:#/-".contains(c));
        let is_word = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
        // Nobody writes an article who means a name.
        let is_article = |word: &&str| ["a", "an", "the"].iter().any(|article| article.eq_ignore_ascii_case(word));
        let words: Vec<&str> = query.split_whitespace().collect();
        match words.len() {
            1 if is_name(words[0]) => Self::Identifier,
            2..=4 if words.iter().all(|word| is_word(word)) && !words.iter().any(is_article) => Self::Words,
            _ => Self::of_description(query),
        }
    }

    /// Tells the sort of a query that is a description.
    fn of_description(query: &str) -> Self {
        if is_change(query) { Self::Change } else { Self::Prose }
    }

    /// Whether it is a description.
    pub fn is_prose(self) -> bool {
        matches!(self, Self::Prose | Self::Change)
    }
}

/// A symbol that may answer, and what is asked of it more than once.
pub struct Candidate<'a> {
    /// Which.
    pub symbol: SymbolView<'a>,
    /// Its name.
    pub name: Cow<'a, str>,
    /// The name in lower case, letters and digits only; empty where a description is looked for.
    pub flat: String,
    /// What its terms alone scored.
    pub terms: f32,
    /// How well it answers, and why.
    pub tally: Tally,
}

impl Candidate<'_> {
    /// How well it answers.
    pub fn score(&self) -> f32 {
        self.tally.score
    }
}

/// What the paths of the candidates' files tell, each found out once.
#[derive(Default)]
pub struct Files(FxHashMap<u32, Place>);

/// A query made ready to be asked.
pub struct Ranker {
    /// What sort it is.
    pub form: Form,
    /// The query as it is scored: a description without its stop words.
    text: String,
    /// For an identifier its last part as written, else the words joined.
    name: String,
    /// For an identifier the parts before the last, the nearest first.
    owners: Vec<String>,
    flat: String,
    trigrams: Vec<u64>,
    parts: Vec<String>,
    /// What names say in place of a description's words.
    instead: String,
    /// Names that are less alike answer, too.
    fuzzy: bool,
    /// The parts of every score are kept.
    explain: bool,
    prose: Option<Prose>,
}

impl Ranker {
    /// Takes a query apart. With `fuzzy`, names that are less alike answer, too.
    pub fn new(query: &str, fuzzy: bool) -> Self {
        Self::of_form(query, Form::of(query.trim().trim_end_matches("()")), fuzzy)
    }

    /// The same for a few words that are in no name: they describe something after all.
    pub fn describing(query: &str, fuzzy: bool) -> Self {
        Self::of_form(query, Form::of_description(query.trim()), fuzzy)
    }

    fn of_form(query: &str, form: Form, fuzzy: bool) -> Self {
        let query = query.trim().trim_end_matches("()");
        let text = match form {
            Form::Prose | Form::Change => {
                let telling = query.split_whitespace().filter(|word| {
                    let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
                    !STOP_WORDS.contains(&bare.as_str())
                });
                let text = telling.collect::<Vec<_>>().join(" ");
                if text.is_empty() { query.to_owned() } else { text }
            }
            _ => query.to_owned(),
        };
        let (name, owners) = match form {
            Form::Identifier => {
                let mut parts = query.rsplit(['.', ':', '#', '/']).filter(|part| !part.is_empty()).map(str::to_owned);
                (parts.next().unwrap_or_else(|| query.to_owned()), parts.collect())
            }
            _ => (query.split_whitespace().collect(), Vec::new()),
        };
        let flat = flattened(&name);
        let mut parts: Vec<String> = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .flat_map(word_parts)
            .map(str::to_lowercase)
            .collect();
        parts.dedup();
        let prose = form.is_prose().then(|| Prose::new(query, &text, form));
        let instead = prose.as_ref().map(Prose::instead).unwrap_or_default();
        Self { form, prose, trigrams: trigrams(&flat), text, name, owners, flat, parts, instead, fuzzy, explain: false }
    }

    /// The same, keeping the parts of every score.
    pub fn explaining(self, explain: bool) -> Self {
        Self { explain, ..self }
    }

    /// The words that are looked for, in small letters and taken apart as names are.
    pub fn words(&self) -> &[String] {
        &self.parts
    }

    /// The words that tell something in a description, each with the others that say the same.
    pub fn telling(&self) -> &[Vec<String>] {
        self.prose.as_ref().map_or(&[], Prose::telling)
    }

    /// Whether a few words may be no name, for a search to try whether they describe something.
    pub fn may_describe(&self) -> bool {
        self.form == Form::Words && self.parts.len() > 2
    }

    /// Whether the words are a name or a part of one.
    pub fn is_in_name(&self, name: &str) -> bool {
        flattened(name).contains(&self.flat)
    }

    /// What is looked for where, and how much it counts.
    pub fn clauses(&self) -> Vec<Clause<'_>> {
        let weights: &[(Field, f32)] = match self.form {
            Form::Identifier => &[(Field::Text, 0.5), (Field::Name, 4.0), (Field::Parent, 2.0), (Field::Keywords, 0.5)],
            Form::Words => &[(Field::Text, 1.0), (Field::Name, 3.0), (Field::Parent, 1.0)],
            Form::Prose => &[
                (Field::Text, 1.5),
                (Field::Name, 1.0),
                (Field::Parent, 1.0),
                (Field::Signature, 1.0),
                (Field::Summary, 0.5),
            ],
            Form::Change => &[(Field::Text, 3.0), (Field::Name, 0.5), (Field::Parent, 0.75), (Field::Signature, 0.5)],
        };
        let mut clauses: Vec<Clause<'_>> =
            weights.iter().map(|(field, boost)| Clause::new(*field, &self.text, *boost)).collect();
        if !self.form.is_prose() {
            let boost = if self.form == Form::Identifier { 2.0 } else { 1.0 };
            clauses.push(Clause::new(Field::Trigrams, &self.text, boost));
        }
        if self.form == Form::Prose {
            // They are many and common: what holds none of the words themselves is no answer.
            let instead =
                |(field, boost)| Clause { only_helps: true, ..Clause::new(field, &self.instead, boost * INSTEAD) };
            clauses.extend([(Field::Text, 1.5), (Field::Name, 1.0)].map(instead));
        }
        clauses
    }

    /// The name to be found exactly as it is written, where the query is one.
    pub fn exact_name(&self) -> Option<&str> {
        (self.form == Form::Identifier).then_some(&self.name)
    }

    /// Looks at a symbol again, given what its terms scored and which of a description's words it holds.
    pub fn candidate<'a>(&self, symbol: SymbolView<'a>, score: f32, held: Held, files: &mut Files) -> Candidate<'a> {
        let name = symbol.name();
        let tally = Tally::new(score, self.explain);
        let flat = if self.form.is_prose() { String::new() } else { flattened(&name) };
        let mut candidate = Candidate { symbol, flat, name, terms: score, tally };
        let aside = symbol.file.is_test() || symbol.file.is_generated() || in_test_module(&symbol);
        // A description is of what something does; values and types come after what runs.
        let (test, class, value) = match self.form {
            Form::Identifier => (0.8, 1.0, 0.8),
            Form::Words => (0.7, 1.0, 0.9),
            Form::Prose => (0.46, 0.53, 0.53),
            Form::Change => (0.3, 0.5, 0.5),
        };
        for (what, worth) in self.tiers(&candidate) {
            candidate.tally.add(what, worth);
        }
        candidate.tally.times("test, example, generated or vendored", if aside { test } else { 1.0 });
        let (what, factor) = match symbol.kind() {
            Kind::Function | Kind::Method => ("function", 1.0),
            Kind::Class | Kind::Type => ("type", class),
            Kind::Constant => ("value", value),
        };
        candidate.tally.times(what, factor);
        if let Some(prose) = &self.prose {
            let place = files.0.entry(symbol.file.number()).or_insert_with(|| prose.place(symbol.file.path()));
            prose.judge(&mut candidate, held, place);
        }
        candidate
    }

    /// What a symbol's name and owner are worth together.
    pub(super) fn tier(&self, candidate: &Candidate<'_>) -> f32 {
        self.tiers(candidate).iter().map(|(_, worth)| worth).sum()
    }

    /// What the whole name is worth: exactly as written, the same in other letters, begun by the query; and what more it is
    /// worth when the owner is the one that is named.
    fn tiers(&self, candidate: &Candidate<'_>) -> [(&'static str, f32); 2] {
        if self.form.is_prose() || self.flat.is_empty() {
            return [("", 0.0); 2];
        }
        let Candidate { symbol, name, flat, .. } = candidate;
        let share = || self.flat.len() as f32 / flat.len() as f32;
        let tier = match self.form {
            Form::Identifier if *name == self.name => ("name as written", 2.0 * TIER),
            _ if *flat == self.flat => ("name in other letters", TIER),
            // The less is missing, the more likely it was meant.
            Form::Identifier if flat.starts_with(&self.flat) => ("beginning of name", 0.5 * TIER * share()),
            Form::Identifier if flat.contains(&self.flat) => ("part of name", 0.45 * TIER * share()),
            Form::Identifier => ("name but for a slip", self.slip(flat)),
            _ => ("", 0.0),
        };
        let mut owner = 0.0;
        if tier.1 >= TIER && self.is_owner(symbol) {
            // `mpsc::Sender::send`: the more of the way there is named, the better.
            let path = symbol.file.path();
            let named = self.owners.iter().skip(1).filter(|owner| path.split(['/', '.']).any(|part| part == *owner));
            owner = TIER + 0.2 * TIER * named.count() as f32;
        }
        [tier, ("owner", owner)]
    }

    /// What a name is worth that differs from the query by a slip of the finger or two.
    fn slip(&self, flat: &str) -> f32 {
        let length = self.flat.len().max(flat.len());
        if length < 5 || self.flat.len().abs_diff(flat.len()) > 2 {
            return 0.0;
        }
        let distance = strsim::osa_distance(&self.flat, flat);
        if distance > 2 { 0.0 } else { 0.4 * TIER * (1.0 - 2.0 * distance as f32 / length as f32) }
    }

    /// Whether the query names an owner as well: `Model.save`.
    pub fn names_owner(&self) -> bool {
        !self.owners.is_empty()
    }

    /// Whether a symbol belongs to the owner that the query names: a type or module around it; or, when nothing is around it,
    /// its file or its folder, which are modules and packages.
    pub fn is_owner(&self, symbol: &SymbolView<'_>) -> bool {
        let Some(owner) = self.owners.first() else { return false };
        let container = symbol.container();
        if !container.is_empty() || symbol.has_parent() {
            let mut around = symbol.parent();
            if container == *owner {
                return true;
            }
            while let Some(enclosing) = around {
                if enclosing.name() == *owner || enclosing.container() == *owner {
                    return true;
                }
                around = enclosing.parent();
            }
            return false;
        }
        let mut path = symbol.file.path().rsplit('/');
        let stem = path.next().and_then(|file| file.split('.').next());
        stem == Some(owner) || path.next() == Some(owner)
    }

    /// Whether a symbol has to do with the query at all, so that nothing found can be told from something found. A
    /// description is about whatever shares its rarer words; a name must be in the symbol, or be like its name.
    pub fn is_answer(&self, candidate: &Candidate<'_>) -> bool {
        let Candidate { symbol, name, flat, .. } = candidate;
        match self.form {
            Form::Prose | Form::Change | Form::Words => true,
            Form::Identifier => {
                flat.contains(&self.flat)
                    || self.similarity(flat) >= if self.fuzzy { 0.3 } else { 0.5 }
                    || self.is_within(name, 1 + self.flat.len() / if self.fuzzy { 4 } else { 6 })
                    || holds(symbol.source(), &self.name)
                    || self.covers(symbol)
            }
        }
    }

    /// Whether every part of the query is part of the symbol's name, its owners' or its path.
    fn covers(&self, symbol: &SymbolView<'_>) -> bool {
        let (path, name) = (symbol.file.path(), symbol.qualified_name());
        let covered = |part: &String| holds(path.as_bytes(), part) || holds(name.as_bytes(), part);
        !self.parts.is_empty() && self.parts.iter().all(covered)
    }

    /// Jaccard similarity of a flattened name's trigrams with the query's.
    pub fn similarity(&self, flat: &str) -> f32 {
        if flat == self.flat {
            return 1.0;
        }
        let other = trigrams(flat);
        let shared = other.iter().filter(|three| self.trigrams.binary_search(three).is_ok()).count();
        let all = self.trigrams.len() + other.len() - shared;
        if all == 0 { 0.0 } else { shared as f32 / all as f32 }
    }

    /// Whether at most `most` edits lie between the query's name and another.
    fn is_within(&self, name: &str, most: usize) -> bool {
        // Each edit changes the length by one at most.
        let length = |name: &str| name.chars().count();
        length(&self.name).abs_diff(length(name)) <= most && self.distance(name) <= most
    }

    /// Edits between the query's name and another (optimal string alignment).
    pub fn distance(&self, name: &str) -> usize {
        strsim::osa_distance(&self.name.to_lowercase(), &name.to_lowercase())
    }
}

/// Whether text holds a word, whatever the case of its letters.
pub(super) fn holds(text: &[u8], word: &str) -> bool {
    places(text, word.as_bytes()).next().is_some()
}

/// Where a word is in a text, whatever the case of its letters; nowhere when it has none.
pub(super) fn places<'a>(text: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    // The rarest of its letters is looked for, the first of those in the list or one that is not.
    let rarity = |letter: u8| LETTERS.iter().position(|common| *common == letter.to_ascii_lowercase());
    let rarest = word.iter().enumerate().max_by_key(|(_, letter)| rarity(**letter).unwrap_or(usize::MAX));
    let (before, letter) = rarest.map_or((0, 0), |(place, letter)| (place, *letter));
    let text_of_word = if word.is_empty() { &[] } else { text };
    memchr::memchr2_iter(letter.to_ascii_lowercase(), letter.to_ascii_uppercase(), text_of_word)
        .filter_map(move |at| at.checked_sub(before).filter(|start| begins(&text[*start..], word)))
}

/// Letters by how common they are in code and its documentation, the most common first.
const LETTERS: &[u8] = b" etrnaosilcdupmfhgbvyxwkqjz_.";

/// Whether a text begins with a word, whatever the case of its letters.
pub(super) fn begins(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word))
}

/// Unit tests inside a source file.
pub(super) fn in_test_module(symbol: &SymbolView<'_>) -> bool {
    let mut around = symbol.parent();
    while let Some(parent) = around {
        if matches!(&*parent.name(), "tests" | "test") && parent.kind() == Kind::Type {
            return true;
        }
        around = parent.parent();
    }
    false
}

/// The triples of letters of a flattened name, in order, each once. A letter takes 21 bits.
fn trigrams(flat: &str) -> Vec<u64> {
    let letters = || flat.chars().map(u64::from);
    let triples = letters().zip(letters().skip(1)).zip(letters().skip(2));
    let mut trigrams: Vec<u64> = triples.map(|((a, b), c)| a << 42 | b << 21 | c).collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}

/// Lowers those of a name that several of them bear.
pub fn lower_repeated_names(hits: &mut [Candidate<'_>]) {
    let mut names: FxHashMap<&[u8], f32> = FxHashMap::default();
    hits.iter().for_each(|hit| *names.entry(hit.symbol.name_bytes()).or_default() += 1.0);
    for hit in hits {
        let factor = names[hit.symbol.name_bytes()].powf(prose::SAME_NAME);
        hit.tally.times("name that several bear", factor);
    }
}

/// Gives each file's best symbols' scores to all that it holds, a little: a file that answers in three places is more
/// likely to be the one that was meant.
pub fn share_within_files(hits: &mut [Candidate<'_>]) {
    let mut files: FxHashMap<u32, (usize, f32)> = FxHashMap::default();
    for hit in hits.iter() {
        let (seen, sum) = files.entry(hit.symbol.file.number()).or_default();
        if *seen < 3 {
            *sum += hit.score() / (1 + *seen) as f32;
            *seen += 1;
        }
    }
    for hit in hits {
        hit.tally.add("file", 0.1 * files[&hit.symbol.file.number()].1);
    }
}
