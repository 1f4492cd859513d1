//! Confidence that an answer holds what was asked for, so that a reader knows whether to search again.
//!
//! At `high`, a name is the first hit, and a description is of one of the first [`FIRST`]. The thresholds are
//! calibrated on queries with known answers: `benches/README.md` has the share of right answers at `high`.

use memchr::memmem::Finder;
use rustc_hash::FxHashSet;

use super::form::Form;
use super::overloaded;
use super::prose::is_change_word;
use super::rank::{Candidate, Ranker, TIER};
use codelode_store::{Error, Snapshot, flattened, stems, word_parts};

/// The number of first hits that have the answer to a description, at [`Confidence::High`].
pub const FIRST: usize = 5;

/// The confidence that what was asked for is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// There is no answer.
    #[default]
    None,
    /// Other words are more likely to find it.
    Low,
    /// One of the answers is the right one, more often than not: of many that bear a part of a name, or of ten.
    Medium,
    /// A name is that of the first hit; a description is of one of the first [`FIRST`]. Right nine times in ten.
    High,
}

impl Confidence {
    /// The word for it in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Evidence for the first answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Worth of its name as an answer, in units of a name with the same letters in the same order.
    pub name: f32,
    /// The share of the query's words found in it, weighted by rarity.
    pub covered: f32,
    /// The largest such share among the first answers.
    pub best_covered: f32,
    /// The share of the query's words found in no symbol.
    pub unknown: f32,
    /// The largest number of the query's words found in one of the first answers.
    pub most_held: usize,
    /// The lead of its score over the next answer's, as a share of it.
    pub margin: f32,
    /// The score of the first answer.
    pub score: f32,
    /// The fall of the scores from the first answer to the last of `PAGE`, as a share of the first.
    pub fall: f32,
    /// The largest share of the first `PAGE` answers that is in one file.
    pub crowd: f32,
}

impl Evidence {
    /// Whether the first answers are worth showing without confidence in any: part of the words is known, and the
    /// answers contain some of those. Of a description most words being known is enough, or two in one answer.
    pub fn is_partial(&self, form: Form) -> bool {
        let is_of_some = form != Form::Identifier && self.unknown <= 0.6 && self.best_covered >= 0.2;
        is_of_some || form.is_prose() && (self.unknown < 0.5 || self.most_held >= 2)
    }

    /// How surely the first [`FIRST`] answers have what a description is of: a steep fall of the scores, many answers
    /// in one file, a high score for the first and many words in one of the first all speak for it. A logistic model
    /// of the right answers on twelve repositories.
    fn sureness(&self, form: Form) -> f32 {
        // Scores of changes differ more, because sizes are among their factors.
        let fall = if form == Form::Change { 4.0 } else { 5.4 };
        // Those of descriptions are larger, since meaning counts, and of questions more so: words inside a definition count
        // twice.
        let larger = match form {
            Form::Question => 0.8,
            Form::Prose => 0.3,
            _ => 0.0,
        };
        fall * self.fall + 1.4 * self.crowd + 0.75 * self.score.max(1.0).ln() + 0.7 * self.best_covered - larger
    }

    /// The evidence with the fall and the crowd of these answers, each the score and the file, the best first. Fewer
    /// than `PAGE` fall to nothing if they are `all` that there are.
    pub fn among(self, answers: impl Iterator<Item = (f32, (usize, u32))>, all: bool) -> Self {
        let answers: Vec<(f32, (usize, u32))> = answers.take(PAGE).collect();
        let Some(((first, _), (last, _))) = answers.first().zip(answers.last()) else { return self };
        let last = if all && answers.len() < PAGE { 0.0 } else { *last };
        let in_file = |file| answers.iter().filter(|answer| answer.1 == file).count();
        let most = answers.iter().map(|(_, file)| in_file(*file)).max().unwrap_or(0);
        Self { fall: 1.0 - last / first.max(f32::MIN_POSITIVE), crowd: most as f32 / PAGE as f32, ..self }
    }
}

/// The number of answers by whose scores and files the first are judged.
const PAGE: usize = 10;
/// The least [`Evidence::sureness`] of [`Confidence::High`].
const SURE: f32 = 7.9;
/// The least of [`Confidence::Medium`]: below it one of the first ten is right in less than half of the cases, by a logistic fit for
/// each form on 1,091 titles of changes (5.9), 1,733 sentences (5.4) and 395 questions (4.6) of 42 trees. Without it every
/// second title whose function is among the ten was said to need other words.
const FAIR: f32 = 5.6;

/// The number of first answers whose text is examined.
const LOOKED_INTO: usize = 3;
/// A name of less worth only resembles the one that was meant.
const LIKE: f32 = 0.26;
/// Worth of a name whose owner is not the named one.
const FOREIGN: f32 = 0.25;
/// The examined part of a definition, in bytes: a large class contains every word somewhere.
const FAR: usize = 4_000;

/// A word of a query and its weight.
struct Word {
    stem: Finder<'static>,
    /// The number of definitions that contain it.
    held: u64,
    weight: f32,
}

/// The significant words of a query. Words in no definition weigh most.
fn words(snapshot: &Snapshot, ranker: &Ranker) -> Result<Vec<Word>, Error> {
    let all = snapshot.documents()? as f32;
    let mut words: Vec<Word> = Vec::new();
    let all_words = ranker.words();
    // Words such as `feat` and `remove` name the action, not its object.
    let counts = |word: &str| ranker.form == Form::Identifier || !is_change_word(word);
    let any = all_words.iter().any(|word| counts(word));
    let summaries = snapshot.summary_words().filter(|_| ranker.form.is_of_code());
    for word in all_words.iter().filter(|word| !any || counts(word)) {
        let Some(held) = snapshot.frequency(word)? else { continue };
        let told = summaries.zip(stems(word).pop()).map_or(0, |(summaries, stem)| summaries.holding(&stem));
        let held = held + told;
        let Some(stem) = beginning(word) else { continue };
        if words.iter().all(|word| word.stem.needle() != stem.as_bytes()) {
            let stem = Finder::new(&stem).into_owned();
            words.push(Word { stem, held, weight: (1.0 + all / (1.0 + held as f32)).ln() });
        }
    }
    Ok(words)
}

/// The common prefix of a word's forms. A stem may end otherwise than its word (`inventori`), so it is the common
/// prefix of stem and word.
pub(super) fn beginning(word: &str) -> Option<String> {
    let stem = stems(word).pop()?;
    let common = stem.bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count();
    Some(stem.get(..common).unwrap_or(&stem).to_owned())
}

/// The query's words found in no symbol, and their share of all. A name counts once, for all its words and spellings.
fn unknown(words: &[Word], ranker: &Ranker) -> (Vec<String>, f32) {
    let is_known = |part: &str| {
        let stem = beginning(&part.to_lowercase())?;
        Some(words.iter().find(|word| word.stem.needle() == stem.as_bytes())?.held > 0)
    };
    let mut seen = FxHashSet::default();
    let (mut unknown, mut share, mut all) = (Vec::new(), 0.0, 0.0);
    for name in ranker.names().iter().filter(|name| seen.insert(flattened(name))) {
        let parts: Vec<bool> = word_parts(name).into_iter().filter_map(is_known).collect();
        if parts.is_empty() {
            continue;
        }
        let missing = parts.iter().filter(|is_known| !**is_known).count();
        all += 1.0;
        share += missing as f32 / parts.len() as f32;
        if missing == parts.len() {
            unknown.push(name.to_lowercase());
        }
    }
    (unknown, share / f32::max(all, 1.0))
}

/// The number and the weight of the words in a symbol: in its definition, its documentation, its name or its path.
fn held(words: &[Word], candidate: &Candidate<'_>) -> (usize, f32) {
    let symbol = &candidate.symbol;
    let source = symbol.source();
    let source = source.get(..FAR).unwrap_or(source);
    let (name, mut doc) = (symbol.qualified_name(), symbol.docstring());
    if doc.is_empty() {
        doc = symbol.summary(FAR);
    }
    let places = [source, doc.as_bytes(), name.as_bytes(), symbol.file.path().as_bytes()];
    let text = places.join(&b'\n');
    let lower = text.to_ascii_lowercase();
    let held = words.iter().filter(|word| holds_word(&text, &lower, &word.stem));
    held.fold((0, 0.0), |(number, weight), word| (number + 1, weight + word.weight))
}

/// Whether a word that begins with a stem is in a text; `lower` is the text in lower case. Long stems are found
/// inside words as well.
fn holds_word(text: &[u8], lower: &[u8], stem: &Finder<'_>) -> bool {
    stem.find_iter(lower).any(|at| {
        let before = at.checked_sub(1).map_or(b' ', |before| text[before]);
        let begins = !before.is_ascii_alphanumeric() || (text[at].is_ascii_uppercase() && !before.is_ascii_uppercase());
        begins || stem.needle().len() > 4
    })
}

/// Evidence for the top hit, and query words found in no symbol. Words are skipped for identifiers unless `all` is
/// set.
pub fn evidence(
    snapshot: &Snapshot,
    ranker: &Ranker,
    hits: &[Candidate<'_>],
    all: bool,
) -> Result<(Evidence, Vec<String>), Error> {
    let words = if all || ranker.form != Form::Identifier { words(snapshot, ranker)? } else { Vec::new() };
    let (mut unknown, unknown_share) = unknown(&words, ranker);
    if ranker.form == Form::Identifier {
        // The words of an unknown name have been searched as pieces of names.
        unknown.clear();
    }
    let Some(first) = hits.first() else { return Ok((Evidence::default(), unknown)) };
    let name = ranker.tier(first) / TIER;
    // A member of another owner is no more than similar.
    let is_foreign = ranker.names_owner() && ranker.owner_share(&first.symbol) == 0.0;
    let name = if is_foreign { FOREIGN * name.min(1.0) } else { name };
    // Symbols of the same name are equal answers, so the margin is to the first answer of another name.
    let next = hits.iter().skip(1).find(|hit| hit.flat != first.flat || ranker.form.is_prose());
    let margin = next.map_or(1.0, |next| 1.0 - next.score() / first.score().max(f32::MIN_POSITIVE));
    let each: Vec<(usize, f32)> = hits.iter().take(LOOKED_INTO).map(|hit| held(&words, hit)).collect();
    let of_first = each.first().map_or(0.0, |(_, weight)| *weight);
    let of_best = each.iter().fold(of_first, |best, (_, weight)| best.max(*weight));
    let all = words.iter().map(|word| word.weight).sum::<f32>().max(f32::MIN_POSITIVE);
    let evidence = Evidence {
        name,
        covered: of_first / all,
        best_covered: of_best / all,
        most_held: each.iter().map(|(number, _)| *number).max().unwrap_or(0),
        unknown: unknown_share,
        margin,
        score: first.score(),
        ..Evidence::default()
    };
    let mut seen = FxHashSet::default();
    let distinct = hits.iter().filter(|hit| seen.insert(overloaded(&hit.symbol)));
    let distinct = distinct.map(|hit| (hit.score(), (0, hit.symbol.file.number())));
    // A few answers that hold little of the query are no better for being few.
    let evidence = evidence.among(distinct, evidence.best_covered >= 0.5);
    Ok((evidence, unknown))
}

/// The confidence that the evidence justifies.
pub fn judged(form: Form, evidence: &Evidence) -> Confidence {
    let Evidence { name, covered, best_covered, unknown, margin, .. } = *evidence;
    // Descriptions of changes contain many words beside the subject.
    let is_foreign = match form {
        Form::Change => unknown >= 0.65 || best_covered < 0.06,
        _ => unknown >= 0.45 || (unknown >= 0.3 && best_covered < 0.15) || best_covered < 0.06,
    };
    let (is_high, is_medium, is_none) = match form {
        Form::Identifier => (name >= 1.0 || (name >= LIKE && margin >= 0.1), name >= LIKE, false),
        Form::Words => (
            name >= 1.0 || (covered >= 0.99 && margin >= 0.2),
            covered >= 0.99,
            name < 1.0 && (is_foreign || best_covered < 0.2),
        ),
        Form::Prose | Form::Question | Form::Change => {
            let sureness = evidence.sureness(form);
            (sureness >= SURE, sureness >= FAIR, is_foreign)
        }
    };
    match () {
        () if is_none => Confidence::None,
        () if is_high => Confidence::High,
        () if is_medium => Confidence::Medium,
        () => Confidence::Low,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_words_begin() {
        for (text, stem, is_held) in [
            ("get_id()", "id", true),
            ("userId", "id", true),
            ("ID", "id", true),
            ("width", "id", false),
            ("def reparse_all", "pars", false),
            ("def reparser", "parser", true),
        ] {
            let lower = text.to_ascii_lowercase();
            assert_eq!(holds_word(text.as_bytes(), lower.as_bytes(), &Finder::new(stem)), is_held, "{stem} in {text}");
        }
    }

    #[test]
    fn what_holds_none_of_the_words_is_no_answer() {
        let steep = Evidence { margin: 0.9, score: 50.0, fall: 0.9, crowd: 0.4, ..Evidence::default() };
        let nothing = Evidence { covered: 0.1, best_covered: 0.1, unknown: 0.5, ..steep };
        assert_eq!(judged(Form::Prose, &nothing), Confidence::None);
        assert_eq!(judged(Form::Words, &nothing), Confidence::None);
        let all = Evidence { covered: 1.0, best_covered: 1.0, unknown: 0.0, ..steep };
        assert_eq!(judged(Form::Prose, &all), Confidence::High);
        // Ten answers that are nearly as good as the first are no sure sign of any.
        assert_eq!(judged(Form::Prose, &Evidence { fall: 0.2, ..all }), Confidence::Low);
    }

    #[test]
    fn the_fall_and_the_crowd_are_those_of_ten() {
        let answers = (0..20).map(|n| (100.0 - 5.0 * n as f32, (0, if n < 7 { 1 } else { n })));
        let evidence = Evidence::default().among(answers.clone(), true);
        assert!((evidence.fall - 0.45).abs() < 1e-6 && (evidence.crowd - 0.7).abs() < 1e-6, "{evidence:?}");
        let few = |all| Evidence::default().among(answers.clone().take(3), all).fall;
        assert!((few(false) - 0.1).abs() < 1e-6 && few(true) == 1.0);
        assert_eq!(Evidence::default().among([].into_iter(), true), Evidence::default());
    }
}
