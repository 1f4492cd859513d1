//! Ranking of symbols for a query, with weights that depend on the form of the query.
//!
//! The weights come from measurements on real commits, docstrings and identifiers: `benches/README.md` has the table.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::explain::Tally;
use super::form::{Form, bare};
use super::issue::Issue;
use super::origin::Origin;
use super::prose::{self, Place, Prose};
use super::telling::telling_words;
use codelode_base::model::Kind;
use codelode_lang::languages::LanguageSpec;
use codelode_store::{Clause, Field, FileView, Holding, Meaning, SymbolView, flattened, word_parts};

/// Weight of a word's synonyms, relative to the word itself.
const INSTEAD: f32 = 0.35;

/// The weight of words below an issue's title, relative to those of the title.
const BELOW_TITLE: f32 = 1.0;
/// Factor for a symbol that an issue names, or that is in a trace or a file of the issue.
const POINTED_AT: f32 = 1.5;

/// Factor for a name that is the whole description in one word.
const SAID: f32 = 5.0;

/// The most qualifiers of a name that are considered.
const MOST_OWNERS: usize = 8;

/// Factor for parts of documents and data: they come after all code that answers as well.
const DOCUMENT: f32 = 0.05;

/// Factor for a constructor, or another symbol with the name of its owner.
const CONSTRUCTOR: f32 = 0.9;

/// Worth of a name that contains the query, in tiers: more than for any name with a typing error.
const LITERAL: f32 = 0.4;

/// Malus for each letter that is of another case, in tiers: four are less than a slip in a name of forty letters.
const OTHER_LETTER: f32 = 0.005;

/// The unit of name matches, larger than any sum of term scores.
pub(crate) const TIER: f32 = 1_000.0;

/// A candidate symbol, with properties that are used more than once.
#[derive(Clone)]
pub struct Candidate<'a> {
    /// The symbol.
    pub symbol: SymbolView<'a>,
    /// Its name.
    pub name: Cow<'a, str>,
    /// The name in lower case, letters and digits only; empty for descriptions.
    pub flat: String,
    /// Its score and the parts of it.
    pub tally: Tally,
    /// The share of a change's significant words in its definition.
    pub within: f32,
}

impl Candidate<'_> {
    /// Its score.
    pub fn score(&self) -> f32 {
        self.tally.score
    }
}

/// A symbol found by its terms, with the words of a description that it contains.
pub type Looked = Holding<{ prose::FIELDS.len() }>;

/// Signals of the candidates' files, each computed once.
#[derive(Default)]
pub struct Files {
    places: FxHashMap<u32, Place>,
    origins: RefCell<FxHashMap<u32, Origin>>,
}

impl Files {
    /// Origin of a file.
    pub fn origin(&self, file: FileView<'_>) -> Origin {
        *self.origins.borrow_mut().entry(file.number()).or_insert_with(|| Origin::of(file))
    }

    /// Whether what is stored of a file says at once that it is generated or vendored. A closer look finds others.
    pub fn is_copy(&self, file: FileView<'_>) -> bool {
        let is_beside = file.is_test() && !file.exercises();
        file.is_generated() || is_beside && !self.origin(file).is_written()
    }
}

/// A member and its owner, as named by a few words: `Model save`, `save Model`.
struct Member {
    name: String,
    /// Its letters and digits, in lower case, and those of the owner.
    flat: [String; 2],
    /// The score if it is meant.
    worth: f32,
}

impl Member {
    fn of_words(query: &str) -> Vec<Self> {
        let words: Vec<&str> = query.split_whitespace().collect();
        let member = |name: &str, owner: &[&str], worth| Self {
            name: name.to_owned(),
            flat: [flattened(name), flattened(&owner.concat())],
            worth,
        };
        match &words[..] {
            [owner @ .., name] if owner.len() == 1 => {
                vec![member(name, owner, TIER), member(owner[0], &[name], 0.95 * TIER)]
            }
            [owner @ .., name] => vec![member(name, owner, TIER)],
            [] => Vec::new(),
        }
    }
}

/// An analysed query.
pub struct Ranker {
    /// Its form.
    pub form: Form,
    /// The query as scored: a description without its stop words.
    text: String,
    /// For an identifier its last part as written, otherwise the words joined.
    name: String,
    /// For an identifier the parts before the last, the nearest first.
    owners: Vec<String>,
    /// The members that a few words may name.
    members: Vec<Member>,
    flat: String,
    trigrams: Vec<u64>,
    /// The words as written; a name is one word.
    names: Vec<String>,
    parts: Vec<String>,
    /// The words that names use instead of a description's words.
    instead: String,
    /// Less similar names are answers, too.
    fuzzy: bool,
    /// The parts of every score are kept.
    explain: bool,
    prose: Option<Prose>,
    /// Letters and digits of a description that may be a name written as words.
    joined: String,
    /// The long text with the query as its title, and the words of it that are searched as well.
    issue: Option<(Issue, String)>,
}

impl Ranker {
    /// Analyses a query about code that is mostly in one language, if it is. With `fuzzy`, less similar names are answers,
    /// too.
    pub fn new(query: &str, language: Option<&LanguageSpec>, fuzzy: bool) -> Self {
        let query = bare(query);
        Self::of_form(query, Form::of(query).among(query, language), language, fuzzy)
    }

    /// A query of a few words that are in no name, read as a description.
    pub fn describing(query: &str, language: Option<&LanguageSpec>, fuzzy: bool) -> Self {
        let query = bare(query);
        Self::of_form(query, Form::of_description(query).among(query, language), language, fuzzy)
    }

    /// A long text as a query: its title is the question, with `words` of the rest beside it.
    pub fn about(issue: Issue, words: String, fuzzy: bool) -> Self {
        let ranker = Self::of_form(&issue.title, Form::of_description(&issue.title), None, fuzzy);
        Self { issue: Some((issue, words)), ..ranker }
    }

    fn of_form(query: &str, form: Form, language: Option<&LanguageSpec>, fuzzy: bool) -> Self {
        let text = if form.is_prose() {
            telling_words(query, language.filter(|_| form == Form::Question))
        } else {
            query.to_owned()
        };
        let (name, owners) = match form {
            Form::Identifier => {
                let mut parts = query.rsplit(['.', ':', '#', '/']).filter(|part| !part.is_empty()).map(str::to_owned);
                (parts.next().unwrap_or_else(|| query.to_owned()), parts.take(MOST_OWNERS).collect())
            }
            _ => (query.split_whitespace().collect(), Vec::new()),
        };
        let members = if form == Form::Words { Member::of_words(query) } else { Vec::new() };
        let flat = flattened(&name);
        let names = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        let mut parts: Vec<String> = names.iter().flat_map(|name| word_parts(name)).map(str::to_lowercase).collect();
        parts.dedup();
        let prose = form.is_prose().then(|| Prose::new(query, &text, form));
        let joined = if form.is_prose() { joined(query) } else { String::new() };
        let instead = prose.as_ref().map(Prose::instead).unwrap_or_default();
        Self {
            form,
            prose,
            trigrams: trigrams(&flat),
            text,
            name,
            owners,
            members,
            flat,
            names,
            parts,
            instead,
            fuzzy,
            explain: false,
            joined,
            issue: None,
        }
    }

    /// The query with explanations: the parts of every score are kept.
    pub fn explaining(self, explain: bool) -> Self {
        Self { explain, ..self }
    }

    /// The words as written; a name is one word.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The words searched, in lower case and split like names.
    pub fn words(&self) -> &[String] {
        &self.parts
    }

    /// The words that are searched.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The significant words of a description, each with its synonyms.
    pub fn telling(&self) -> &[Vec<String>] {
        self.prose.as_ref().map_or(&[], Prose::telling)
    }

    /// The meaning of a description.
    pub fn meaning(&self) -> Option<&Meaning> {
        self.prose.as_ref().filter(|_| self.form.is_of_code()).map(Prose::meaning)
    }

    /// The words of a change, as stems.
    pub fn change(&self) -> Option<&FxHashSet<Rc<str>>> {
        self.prose.as_ref().filter(|_| self.form == Form::Change).map(Prose::stems)
    }

    /// Whether a few words may be no name, so that a search tries them as a description.
    pub fn may_describe(&self) -> bool {
        self.form == Form::Words && self.parts.len() > 2
    }

    /// Whether the words are a name or a part of one.
    pub fn is_in_name(&self, name: &str) -> bool {
        flattened(name).contains(&self.flat)
    }

    /// The search clauses: words, fields and weights.
    pub fn clauses(&self) -> Vec<Clause<'_>> {
        let weights: &[(Field, f32)] = match self.form {
            // Its trigrams cover the words of the name, and find similar names.
            Form::Identifier => &[(Field::Text, 0.5), (Field::Parent, 2.0)],
            Form::Words => &[(Field::Text, 1.0), (Field::Name, 3.0), (Field::Parent, 1.0)],
            Form::Prose => &[
                (Field::Text, 1.5),
                (Field::Name, 1.0),
                (Field::Parent, 1.0),
                (Field::Signature, 1.0),
                (Field::Summary, 0.5),
            ],
            Form::Question => &[
                (Field::Text, 1.5),
                (Field::Name, 1.0),
                (Field::Parent, 1.0),
                (Field::Signature, 0.25),
                (Field::Summary, 0.9),
            ],
            Form::Change => &[(Field::Text, 3.0), (Field::Name, 0.5), (Field::Parent, 0.75), (Field::Signature, 0.5)],
        };
        let mut clauses: Vec<Clause<'_>> =
            weights.iter().map(|(field, boost)| Clause::new(*field, &self.text, *boost)).collect();
        if !self.form.is_prose() {
            let boost = if self.form == Form::Identifier { 2.0 } else { 1.0 };
            clauses.push(Clause::new(Field::Trigrams, &self.text, boost));
        }
        if self.form.is_of_code() {
            // Synonyms are many and common: a symbol without any of the words themselves is no answer.
            let instead =
                |(field, boost)| Clause { only_helps: true, ..Clause::new(field, &self.instead, boost * INSTEAD) };
            clauses.extend([(Field::Text, 1.5), (Field::Name, 1.0)].map(instead));
        }
        if !self.joined.is_empty() {
            clauses.push(Clause::new(Field::Name, &self.joined, 1.0));
        }
        if let Some((_, words)) = &self.issue {
            clauses.push(Clause::new(Field::Text, words, BELOW_TITLE));
            clauses.push(Clause::new(Field::Name, words, 0.3 * BELOW_TITLE));
        }
        clauses
    }

    /// The clause that finds parts of documents, whose names alone count.
    pub fn name_clause(&self) -> Clause<'_> {
        Clause::new(Field::Name, &self.text, 1.0)
    }

    /// The words searched in whole files.
    pub fn file_text(&self) -> String {
        match &self.issue {
            Some((_, words)) => format!("{} {words}", self.text),
            None => self.text.clone(),
        }
    }

    /// The names to find exactly as written: that of an identifier, or those of the members that a few words may
    /// name.
    pub fn exact_names(&self) -> Vec<Cow<'_, str>> {
        let mut names: Vec<Cow<'_, str>> = self.exact_name().map(Cow::Borrowed).into_iter().collect();
        for Member { name, .. } in &self.members {
            // Members of public owners may be public as well: `mutex lock`.
            let mut letters = name.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            names.extend([Cow::Borrowed(&**name), Cow::Owned(first.chain(letters).collect())]);
        }
        names.dedup();
        names
    }

    /// Whether a symbol with one of the exact names has the right owner.
    pub fn is_meant(&self, symbol: &SymbolView<'_>) -> bool {
        match self.form {
            Form::Words => self.as_member(symbol, &flattened(&symbol.name())) > 0.0,
            _ => !self.names_owner() || self.owner_share(symbol) > 0.0,
        }
    }

    /// Whether a symbol has the name asked for, in other letters. [`Ranker::exact_names`] finds the exact ones in any
    /// number.
    pub fn is_in_other_letters(&self, symbol: &SymbolView<'_>) -> bool {
        let name = symbol.name();
        !self.form.is_prose() && self.exact_name() != Some(&name) && flattened(&name) == self.flat
    }

    /// The name to find exactly as written, if the query is one.
    pub fn exact_name(&self) -> Option<&str> {
        (self.form == Form::Identifier).then_some(&self.name)
    }

    /// The factors for a symbol's place and kind.
    fn priors(&self, symbol: &SymbolView<'_>, origin: Origin, in_tests: bool) -> [(&'static str, f32); 3] {
        // Descriptions are of functions more often than of types and values.
        let (test, class, value) = match self.form {
            Form::Identifier => (0.8, 1.0, 0.8),
            Form::Words => (0.7, 1.0, 0.9),
            Form::Prose | Form::Question => (0.46, 0.73, 0.53),
            Form::Change => (0.3, 0.5, 0.5),
        };
        let kind = match symbol.kind() {
            Kind::Function | Kind::Method => ("function", 1.0),
            Kind::Class | Kind::Type => ("type", class),
            Kind::Constant => ("value", value),
        };
        let origin = match origin {
            Origin::Generated | Origin::Vendored => ("generated or vendored", self.copied()),
            Origin::Test => ("test or example", test),
            Origin::Code => ("test or example", if in_tests { test } else { 1.0 }),
        };
        let document = if symbol.file.spec().is_document { DOCUMENT } else { 1.0 };
        [origin, kind, ("part of a document", document)]
    }

    /// Factor for generated and vendored code, which comes after written code that answers as well: of names below tests, of
    /// descriptions where documents are. Nothing was fitted, as such code is hardly ever the answer of a judge's question: all
    /// suites stay as they were. Without it four hundred generated getters come before the function that they are made for.
    fn copied(&self) -> f32 {
        match self.form {
            Form::Identifier => 0.75,
            Form::Words => 0.35,
            Form::Prose | Form::Question | Form::Change => DOCUMENT,
        }
    }

    /// Examines a symbol closely.
    pub fn candidate<'a>(&self, symbol: SymbolView<'a>, looked: &Looked, files: &mut Files) -> Candidate<'a> {
        let name = symbol.name();
        let tally = Tally::new(looked.score, self.explain);
        let flat = if self.form.is_prose() { String::new() } else { flattened(&name) };
        let mut candidate = Candidate { symbol, flat, name, tally, within: 0.0 };
        for (what, worth) in self.tiers(&candidate) {
            candidate.tally.add(what, worth);
        }
        for (what, factor) in self.priors(&symbol, files.origin(symbol.file), in_test_module(&symbol)) {
            candidate.tally.times(what, factor);
        }
        if let Some(prose) = &self.prose {
            let place = files.places.entry(symbol.file.number()).or_insert_with(|| prose.place(symbol.file.path()));
            prose.judge(&mut candidate, looked, place);
            if !self.joined.is_empty() && flattened(&candidate.name) == self.joined {
                candidate.tally.times("name in words", SAID);
            }
            if let Some((issue, _)) = &self.issue {
                let when = |is_so: bool| if is_so { POINTED_AT } else { 1.0 };
                candidate.tally.times("named in the text", when(issue.names(&symbol)));
                candidate.tally.times("in the trace", when(issue.runs_through(&symbol)));
                candidate.tally.times("path in the text", when(issue.gives(symbol.file.path())));
            }
        } else if !self.names_owner()
            && (symbol.container() == candidate.name || parent_is(&symbol, |name| name == candidate.name))
        {
            // The name of a class means the class, not its constructor.
            candidate.tally.times("bears the owner's name", CONSTRUCTOR);
        }
        candidate
    }

    /// Worth of a symbol's name and owner together.
    pub fn tier(&self, candidate: &Candidate<'_>) -> f32 {
        self.tiers(candidate).iter().map(|(_, worth)| worth).sum()
    }

    /// Worth of the name: exactly as written, in other letters, or beginning with the query; and the addition for the
    /// owner that the query names.
    fn tiers(&self, candidate: &Candidate<'_>) -> [(&'static str, f32); 2] {
        if self.form.is_prose() || self.flat.is_empty() {
            return [("", 0.0); 2];
        }
        let Candidate { symbol, name, flat, .. } = candidate;
        let share = || self.flat.len() as f32 / flat.len() as f32;
        let tier = match self.form {
            Form::Identifier if *name == self.name => ("name as written", 2.0 * TIER),
            _ if *flat == self.flat => ("name in other letters", TIER),
            Form::Words => ("owner and name", self.as_member(symbol, flat)),
            // The less is missing, the more likely it is the right one.
            Form::Identifier if flat.starts_with(&self.flat) => ("beginning of name", (LITERAL + 0.1 * share()) * TIER),
            Form::Identifier if flat.contains(&self.flat) => ("part of name", (LITERAL + 0.05 * share()) * TIER),
            Form::Identifier => {
                let (slip, begun) = (self.slip(flat), self.begun_by(flat));
                let other = if slip > 0.0 { self.other_letters(name, flat) } else { 0.0 };
                ("name but for a slip", slip.max(begun) - other)
            }
            _ => ("", 0.0),
        };
        let mut owner = 0.0;
        if tier.1 >= TIER {
            // `mpsc::Sender::send`: the more qualifiers match, the better.
            let path = symbol.file.path();
            let named = self.owners.iter().skip(1).filter(|owner| path.split(['/', '.']).any(|part| part == *owner));
            let share = self.owner_share(symbol);
            owner = if share > 0.0 { share * TIER + 0.2 * TIER * named.count() as f32 } else { 0.0 };
        }
        [tier, ("owner", owner)]
    }

    /// Worth of a name that differs from the query by one or two typing errors.
    pub fn slip(&self, flat: &str) -> f32 {
        let length = self.flat.len().max(flat.len());
        if length < 5 || self.flat.len().abs_diff(flat.len()) > 2 {
            return 0.0;
        }
        let distance = strsim::osa_distance(&self.flat, flat);
        if distance > 2 { 0.0 } else { 0.4 * TIER * (1.0 - 2.0 * distance as f32 / length as f32) }
    }

    /// Malus of a name for letters of another case and for its own underscores, where the query has them otherwise: of two names
    /// that are as near it is all that tells them apart.
    fn other_letters(&self, name: &str, flat: &str) -> f32 {
        /// Of more letters none tells anything.
        const MOST: usize = 4;
        let more = strsim::osa_distance(&self.name, name).saturating_sub(strsim::osa_distance(&self.flat, flat));
        OTHER_LETTER * TIER * more.min(MOST) as f32
    }

    /// Worth of a whole name with which the query begins: `parseConfigX` means `parseConfig`.
    fn begun_by(&self, flat: &str) -> f32 {
        let share = flat.len() as f32 / self.flat.len().max(1) as f32;
        if flat.len() >= 5 && share >= 0.6 && self.flat.starts_with(flat) { LITERAL * TIER * share } else { 0.0 }
    }

    /// Whether the query names an owner as well: `Model.save`.
    pub fn names_owner(&self) -> bool {
        !self.owners.is_empty()
    }

    /// Worth of a symbol as one of the members that a few words may name.
    fn as_member(&self, symbol: &SymbolView<'_>, flat: &str) -> f32 {
        let is_named = |member: &&Member| {
            let [name, owner] = &member.flat;
            flat == name
                && (flattened(&symbol.container()) == *owner || parent_is(symbol, |name| flattened(name) == *owner))
        };
        self.members.iter().find(is_named).map_or(0.0, |member| member.worth)
    }

    /// How surely a symbol belongs to the owner that the query names, 0 to 1: the enclosing type or module, or one
    /// further out; at top level its file or folder, which are modules and packages.
    pub(crate) fn owner_share(&self, symbol: &SymbolView<'_>) -> f32 {
        let Some(owner) = self.owners.first() else { return 0.0 };
        let container = symbol.container();
        if !container.is_empty() || symbol.has_parent() {
            if container == *owner || parent_is(symbol, |name| name == owner) {
                return 1.0;
            }
            let mut around = symbol.parent();
            while let Some(enclosing) = around {
                if enclosing.name() == *owner || enclosing.container() == *owner {
                    return 0.9;
                }
                around = enclosing.parent();
            }
            return 0.0;
        }
        let mut path = symbol.file.path().rsplit('/');
        let stem = path.next().and_then(|file| file.split('.').next());
        if stem == Some(owner) || path.next() == Some(owner) { 1.0 } else { 0.0 }
    }

    /// Whether a symbol is related to the query at all; otherwise there is no answer. A description accepts every
    /// symbol found by its rarer words; a name must be in the symbol, or with `alike` be similar to its name.
    pub fn is_answer(&self, candidate: &Candidate<'_>, alike: bool) -> bool {
        let Candidate { symbol, name, flat, .. } = candidate;
        match self.form {
            Form::Prose | Form::Question | Form::Change | Form::Words => true,
            Form::Identifier => {
                let is_alike = || {
                    self.similarity(flat) >= if self.fuzzy { 0.3 } else { 0.5 }
                        || self.is_within(name, 1 + self.flat.len() / if self.fuzzy { 4 } else { 6 })
                };
                flat.contains(&self.flat)
                    || alike && is_alike()
                    || holds(symbol.source(), &self.name)
                    || self.covers(symbol)
            }
        }
    }

    /// Whether the query is a name, and a symbol has it.
    pub fn has_name(&self, candidate: &Candidate<'_>) -> bool {
        self.form == Form::Identifier && !self.flat.is_empty() && candidate.flat == self.flat
    }

    /// Whether every part of the query is in the symbol's name, its owners' or its path.
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

    /// Whether the query's name and another differ by at most `most` edits.
    fn is_within(&self, name: &str, most: usize) -> bool {
        // Each edit changes the length by one at most.
        let length = |name: &str| name.chars().count();
        length(&self.name).abs_diff(length(name)) <= most && self.distance(name) <= most
    }

    /// The number of edits between the query's name and another (optimal string alignment).
    pub fn distance(&self, name: &str) -> usize {
        strsim::osa_distance(&self.name.to_lowercase(), &name.to_lowercase())
    }
}

/// The letters and digits of a few bare words joined, as in a name; empty if they cannot be one.
fn joined(query: &str) -> String {
    /// The most words of a name.
    const MOST: usize = 10;
    let is_word = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let words: Vec<&str> = query.split_whitespace().collect();
    if words.len() <= MOST && words.iter().all(|word| is_word(word)) {
        flattened(&words.concat())
    } else {
        String::new()
    }
}

fn parent_is(symbol: &SymbolView<'_>, is: impl Fn(&str) -> bool) -> bool {
    symbol.parent().is_some_and(|parent| is(&parent.name()))
}

/// Whether text contains a word, ignoring the case of ASCII letters.
pub fn holds(text: &[u8], word: &str) -> bool {
    let word = word.as_bytes();
    let rarest = word.iter().enumerate().min_by_key(|(_, letter)| commonness(**letter));
    rarest.is_some_and(|(before, letter)| {
        memchr::memchr2_iter(letter.to_ascii_lowercase(), letter.to_ascii_uppercase(), text)
            .any(|at| at.checked_sub(before).is_some_and(|start| begins(&text[start..], word)))
    })
}

/// The frequency rank of a letter in code and its documentation: 0 for letters rarer than all in the list.
pub(crate) fn commonness(letter: u8) -> usize {
    /// The most common last.
    const LETTERS: &[u8] = b"._zjqkwxyvb=\"ghf(),mupdcliosanrte ";
    LETTERS.iter().position(|common| *common == letter.to_ascii_lowercase()).map_or(0, |place| place + 1)
}

/// Whether a text begins with a word, ignoring the case of ASCII letters.
pub fn begins(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word))
}

/// Whether a symbol is in a test, an example, generated or vendored code.
pub(super) fn is_aside(symbol: &SymbolView<'_>) -> bool {
    is_set_apart(symbol.file)
}

/// Whether a file is a test, an example, generated or vendored.
pub(super) fn is_set_apart(file: FileView<'_>) -> bool {
    Origin::of(file) != Origin::Code
}

/// Whether a symbol is in a module of unit tests inside a source file.
pub(crate) fn in_test_module(symbol: &SymbolView<'_>) -> bool {
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

/// Lowers the scores of symbols that share a name.
pub fn lower_repeated_names(hits: &mut [Candidate<'_>]) {
    let mut names: FxHashMap<&[u8], f32> = FxHashMap::default();
    hits.iter().for_each(|hit| *names.entry(hit.symbol.name_bytes()).or_default() += 1.0);
    for hit in hits {
        let factor = names[hit.symbol.name_bytes()].powf(prose::SAME_NAME);
        hit.tally.times("name that several bear", factor);
    }
}

/// Adds a little of each file's best scores to all its symbols: a file that answers in three places is more likely to
/// be the right one.
pub fn share_within_files(hits: &mut [Candidate<'_>], form: Form) {
    let share = if form == Form::Question { 0.2 } else { 0.1 };
    let mut files: FxHashMap<u32, (usize, f32)> = FxHashMap::default();
    for hit in hits.iter() {
        let (seen, sum) = files.entry(hit.symbol.file.number()).or_default();
        if *seen < 3 {
            *sum += hit.score() / (1 + *seen) as f32;
            *seen += 1;
        }
    }
    for hit in hits {
        hit.tally.add("file", share * files[&hit.symbol.file.number()].1);
    }
}
