//! Ranking of symbols for a query. The weights depend on the query's form.
//!
//! They were measured on commits, docstrings and identifiers: `benches/README.md` has the table.

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
/// Factor for a symbol that an issue names, or that occurs in a trace or a file of the issue.
const POINTED_AT: f32 = 1.5;

/// Factor for a symbol whose name is the whole description, joined.
const SAID: f32 = 5.0;

/// The most qualifiers of a name that are considered.
const MOST_OWNERS: usize = 8;

/// Factor for sections of documents and data, which come after all equally good code.
const DOCUMENT: f32 = 0.05;

/// Factor for a constructor, or another symbol with the name of its owner.
const CONSTRUCTOR: f32 = 0.9;

/// Score of a name that contains the query, in tiers: more than any name with a typing error.
const LITERAL: f32 = 0.4;

/// Penalty for each letter of another case, in tiers. Four of them cost less than a typing error in a name of forty
/// letters.
const OTHER_LETTER: f32 = 0.005;

/// The unit of name matches, larger than any sum of term scores.
pub(crate) const TIER: f32 = 1_000.0;

/// A candidate symbol with values that are used more than once.
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

/// A symbol found by the index, with the words of a description that it contains.
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

    /// Whether the stored facts of a file show that it is generated or vendored. Reading the file may reveal others.
    pub fn is_copy(&self, file: FileView<'_>) -> bool {
        let is_beside = file.is_test() && !file.exercises();
        file.is_generated() || is_beside && !self.origin(file).is_written()
    }
}

/// A member and its owner, as a few words name them: `Model save`, `save Model`.
struct Member {
    name: String,
    /// Letters and digits of the member in lower case, then of the owner.
    flat: [String; 2],
    /// The score if this member is meant.
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
    /// The scored text: a description without its stop words.
    text: String,
    /// The last part of an identifier as written, else all words joined.
    name: String,
    /// The qualifiers of an identifier, nearest first.
    owners: Vec<String>,
    /// The members that a few words may name.
    members: Vec<Member>,
    flat: String,
    trigrams: Vec<u64>,
    /// The words as written; an identifier is one word.
    names: Vec<String>,
    parts: Vec<String>,
    /// The synonyms that names use for a description's words.
    instead: String,
    /// Whether less similar names are answers.
    fuzzy: bool,
    /// Whether every score keeps its parts.
    explain: bool,
    prose: Option<Prose>,
    /// Letters and digits of a description that may be a name in separate words.
    joined: String,
    /// The issue of which the query is the title, and its words that are also searched.
    issue: Option<(Issue, String)>,
}

impl Ranker {
    /// Analyses a query about code that is mainly in `language`, if in one. With `fuzzy`, less similar names are
    /// answers.
    pub fn new(query: &str, language: Option<&LanguageSpec>, fuzzy: bool) -> Self {
        let query = bare(query);
        Self::of_form(query, Form::of(query).among(query, language), language, fuzzy)
    }

    /// Analyses a few words that no name contains as a description.
    pub fn describing(query: &str, language: Option<&LanguageSpec>, fuzzy: bool) -> Self {
        let query = bare(query);
        Self::of_form(query, Form::of_description(query).among(query, language), language, fuzzy)
    }

    /// Analyses an issue: its title is the description, and `words` of the rest are searched as well.
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

    /// Keeps the parts of every score, to explain it.
    pub fn explaining(self, explain: bool) -> Self {
        Self { explain, ..self }
    }

    /// The words as written; an identifier is one word.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The searched words, in lower case and split like names.
    pub fn words(&self) -> &[String] {
        &self.parts
    }

    /// The searched text.
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

    /// Whether a few words may be a description instead of a name, so that a search tries that.
    pub fn may_describe(&self) -> bool {
        self.form == Form::Words && self.parts.len() > 2
    }

    /// Whether the words are a name, or a part of one.
    pub fn is_in_name(&self, name: &str) -> bool {
        flattened(name).contains(&self.flat)
    }

    /// The clauses of the index search: words, field and weight.
    pub fn clauses(&self) -> Vec<Clause<'_>> {
        let weights: &[(Field, f32)] = match self.form {
            // Trigrams cover the words of the name, and find similar names.
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
            // Synonyms are many and common, so a symbol needs at least one of the words themselves.
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

    /// The clause that finds sections of documents, by name only.
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

    /// The names to look up exactly: an identifier, or the members that a few words may name.
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

    /// Whether a symbol has the query's name in another case. [`Ranker::exact_names`] finds the exact names.
    pub fn is_in_other_letters(&self, symbol: &SymbolView<'_>) -> bool {
        let name = symbol.name();
        !self.form.is_prose() && self.exact_name() != Some(&name) && flattened(&name) == self.flat
    }

    /// The name to look up exactly, if the query is one.
    pub fn exact_name(&self) -> Option<&str> {
        (self.form == Form::Identifier).then_some(&self.name)
    }

    /// The factors for a symbol's file and kind.
    fn priors(&self, symbol: &SymbolView<'_>, origin: Origin, in_tests: bool) -> [(&'static str, f32); 3] {
        // Descriptions mean functions more often than types and values.
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

    /// Factor for generated and vendored code, which comes after equally good written code: for names after tests, for
    /// descriptions with documents. It is not fitted, because benchmarks hardly ever expect such code, and no suite
    /// changed. Without it, four hundred generated getters precede the function that they are made for.
    fn copied(&self) -> f32 {
        match self.form {
            Form::Identifier => 0.75,
            Form::Words => 0.35,
            Form::Prose | Form::Question | Form::Change => DOCUMENT,
        }
    }

    /// Examines a symbol and scores it.
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

    /// The score of a symbol's name and owner together.
    pub fn tier(&self, candidate: &Candidate<'_>) -> f32 {
        self.tiers(candidate).iter().map(|(_, worth)| worth).sum()
    }

    /// The score of the name (as written, in another case, or beginning with the query), and the bonus for the owner
    /// that the query names.
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
            // The more of the name the query covers, the more likely it is the wanted one.
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
            // Each further matching qualifier raises the score: `mpsc::Sender::send`.
            let path = symbol.file.path();
            let named = self.owners.iter().skip(1).filter(|owner| path.split(['/', '.']).any(|part| part == *owner));
            let share = self.owner_share(symbol);
            owner = if share > 0.0 { share * TIER + 0.2 * TIER * named.count() as f32 } else { 0.0 };
        }
        [tier, ("owner", owner)]
    }

    /// The score of a name that differs from the query by one or two typing errors.
    pub fn slip(&self, flat: &str) -> f32 {
        let length = self.flat.len().max(flat.len());
        if length < 5 || self.flat.len().abs_diff(flat.len()) > 2 {
            return 0.0;
        }
        let distance = strsim::osa_distance(&self.flat, flat);
        if distance > 2 { 0.0 } else { 0.4 * TIER * (1.0 - 2.0 * distance as f32 / length as f32) }
    }

    /// The penalty of a name for letters in another case and for other underscores than in the query. It only decides
    /// between equally similar names.
    fn other_letters(&self, name: &str, flat: &str) -> f32 {
        /// Further letters do not count.
        const MOST: usize = 4;
        let more = strsim::osa_distance(&self.name, name).saturating_sub(strsim::osa_distance(&self.flat, flat));
        OTHER_LETTER * TIER * more.min(MOST) as f32
    }

    /// The score of a whole name with which the query begins: `parseConfigX` means `parseConfig`.
    fn begun_by(&self, flat: &str) -> f32 {
        let share = flat.len() as f32 / self.flat.len().max(1) as f32;
        if flat.len() >= 5 && share >= 0.6 && self.flat.starts_with(flat) { LITERAL * TIER * share } else { 0.0 }
    }

    /// Whether the query names an owner as well: `Model.save`.
    pub fn names_owner(&self) -> bool {
        !self.owners.is_empty()
    }

    /// The score of a symbol as one of the members that a few words may name.
    fn as_member(&self, symbol: &SymbolView<'_>, flat: &str) -> f32 {
        let is_named = |member: &&Member| {
            let [name, owner] = &member.flat;
            flat == name
                && (flattened(&symbol.container()) == *owner || parent_is(symbol, |name| flattened(name) == *owner))
        };
        self.members.iter().find(is_named).map_or(0.0, |member| member.worth)
    }

    /// The likelihood, 0 to 1, that a symbol belongs to the owner that the query names: the enclosing type or module,
    /// an outer one, or for top-level symbols the file or folder.
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

    /// Whether a symbol is related to the query; if not, it is no answer. A description accepts every symbol with its
    /// rarer words. A name must occur in the symbol, or be similar to its name if `alike` is set.
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

    /// Whether each part of the query occurs in the symbol's name, owners or path.
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
        // Each edit changes the length by at most one.
        let length = |name: &str| name.chars().count();
        length(&self.name).abs_diff(length(name)) <= most && self.distance(name) <= most
    }

    /// The number of edits between the query's name and another (optimal string alignment).
    pub fn distance(&self, name: &str) -> usize {
        strsim::osa_distance(&self.name.to_lowercase(), &name.to_lowercase())
    }
}

/// Letters and digits of a few bare words, joined as in a name; empty if they cannot be a name.
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

/// Whether a text contains a word, ignoring ASCII case.
pub fn holds(text: &[u8], word: &str) -> bool {
    let word = word.as_bytes();
    let rarest = word.iter().enumerate().min_by_key(|(_, letter)| commonness(**letter));
    rarest.is_some_and(|(before, letter)| {
        memchr::memchr2_iter(letter.to_ascii_lowercase(), letter.to_ascii_uppercase(), text)
            .any(|at| at.checked_sub(before).is_some_and(|start| begins(&text[start..], word)))
    })
}

/// The frequency rank of a letter in code and documentation: 0 for letters rarer than all in the list.
pub(crate) fn commonness(letter: u8) -> usize {
    /// The most common last.
    const LETTERS: &[u8] = b"._zjqkwxyvb=\"ghf(),mupdcliosanrte ";
    LETTERS.iter().position(|common| *common == letter.to_ascii_lowercase()).map_or(0, |place| place + 1)
}

/// Whether a text begins with a word, ignoring ASCII case.
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

/// Whether a symbol lies in a unit test module of a source file.
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

/// The trigrams of a flattened name in order, without duplicates. A letter takes 21 bits.
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

/// Adds a part of each file's best scores to all its symbols. A file with three answers is more likely the right one.
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
