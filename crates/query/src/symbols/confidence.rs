//! Confidence that a search found the wanted symbol, so that a caller knows whether to search again.
//!
//! At `high`, a query for a name has it as the first hit, and a description is answered by one of the first [`FIRST`].
//! The thresholds are calibrated on queries with known answers: `benches/README.md` has the share of right answers at
//! `high`.

use memchr::memmem::Finder;
use rustc_hash::FxHashSet;

use super::form::Form;
use super::overloaded;
use super::prose::is_change_word;
use super::rank::{Candidate, Ranker, TIER};
use codelode_store::{Error, Snapshot, flattened, stems, word_parts};

/// At [`Confidence::High`], a description is answered by one of so many first hits.
pub const FIRST: usize = 5;

/// The confidence that the wanted symbol was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// There is no answer.
    #[default]
    None,
    /// Other words are more likely to find it.
    Low,
    /// More likely than not, one of the answers is right: one of many names that contain the query, or one of ten
    /// answers.
    Medium,
    /// A name belongs to the first hit; a description to one of the first [`FIRST`]. Right nine times in ten.
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

/// Evidence about the first answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The score of its name, in units of a name with the same letters in the same order.
    pub name: f32,
    /// The share of the query's words found in it, weighted by rarity.
    pub covered: f32,
    /// The largest such share in any of the first answers.
    pub best_covered: f32,
    /// The share of the query's words that no symbol contains.
    pub unknown: f32,
    /// The most words of the query in one of the first answers.
    pub most_held: usize,
    /// The relative lead of its score over the next answer's.
    pub margin: f32,
    /// The score of the first answer.
    pub score: f32,
    /// The relative fall of the scores from the first answer to the last of `PAGE`.
    pub fall: f32,
    /// The largest share of the first `PAGE` answers that lie in one file.
    pub crowd: f32,
}

impl Evidence {
    /// Whether the first answers are worth showing although none is likely right. Some words must be known, and the
    /// answers must contain some of these. For a description it is enough that most words are known, or that one answer
    /// has two.
    pub fn is_partial(&self, form: Form) -> bool {
        let is_of_some = form != Form::Identifier && self.unknown <= 0.6 && self.best_covered >= 0.2;
        is_of_some || form.is_prose() && (self.unknown < 0.5 || self.most_held >= 2)
    }

    /// A score for the chance that one of the first [`FIRST`] answers is right, by a logistic model on twelve
    /// repositories. A steep fall of the scores, many answers in one file, a high first score and many words in one
    /// answer raise it.
    fn sureness(&self, form: Form) -> f32 {
        // Scores of changes vary more, because sizes are among their factors.
        let fall = if form == Form::Change { 4.0 } else { 5.4 };
        // Scores of descriptions are larger, because meaning counts. Those of questions are larger still, because words
        // inside a definition count twice.
        let larger = match form {
            Form::Question => 0.8,
            Form::Prose => 0.3,
            _ => 0.0,
        };
        fall * self.fall + 1.4 * self.crowd + 0.75 * self.score.max(1.0).ln() + 0.7 * self.best_covered - larger
    }

    /// Adds the fall and the crowd of these answers, each a score and a file, best first. If they are `all` answers and
    /// fewer than `PAGE`, the scores fall to nothing.
    pub fn among(self, answers: impl Iterator<Item = (f32, (usize, u32))>, all: bool) -> Self {
        let answers: Vec<(f32, (usize, u32))> = answers.take(PAGE).collect();
        let Some(((first, _), (last, _))) = answers.first().zip(answers.last()) else { return self };
        let last = if all && answers.len() < PAGE { 0.0 } else { *last };
        let in_file = |file| answers.iter().filter(|answer| answer.1 == file).count();
        let most = answers.iter().map(|(_, file)| in_file(*file)).max().unwrap_or(0);
        Self { fall: 1.0 - last / first.max(f32::MIN_POSITIVE), crowd: most as f32 / PAGE as f32, ..self }
    }
}

/// The number of first answers whose scores and files are judged.
const PAGE: usize = 10;
/// The least [`Evidence::sureness`] of [`Confidence::High`].
const SURE: f32 = 7.9;
/// The least sureness of [`Confidence::Medium`]. Below it, less than half of the queries have a right answer among the
/// first ten, by a logistic fit on 1,091 titles of changes (5.9), 1,733 sentences (5.4) and 395 questions (4.6) of 42
/// trees. Without it, every second title with a right answer among the ten was advised to use other words.
const FAIR: f32 = 5.6;

/// The number of first answers whose text is read.
const LOOKED_INTO: usize = 3;
/// A name with a lower score is only similar to the wanted one.
const LIKE: f32 = 0.26;
/// The score of a name whose owner is not the named one.
const FOREIGN: f32 = 0.25;
/// The bytes read of a definition: a large class contains every word somewhere.
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

/// The common prefix of a word and its stem, since a stem may end differently (`inventori`).
pub(super) fn beginning(word: &str) -> Option<String> {
    let stem = stems(word).pop()?;
    let common = stem.bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count();
    Some(stem.get(..common).unwrap_or(&stem).to_owned())
}

/// The query's words that no symbol contains, and their share of the weights. A name counts once, for all its words and
/// spellings.
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

/// The number and the weight of the words that a symbol contains in its definition, documentation, name or path.
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

/// Whether a text contains a word with this stem; `lower` is the text in lower case. A long stem may also lie inside a
/// word.
fn holds_word(text: &[u8], lower: &[u8], stem: &Finder<'_>) -> bool {
    stem.find_iter(lower).any(|at| {
        let before = at.checked_sub(1).map_or(b' ', |before| text[before]);
        let begins = !before.is_ascii_alphanumeric() || (text[at].is_ascii_uppercase() && !before.is_ascii_uppercase());
        begins || stem.needle().len() > 4
    })
}

/// The evidence about the first hit, and the query's words that no symbol contains. The words of an identifier are left
/// out unless `all` is set.
pub fn evidence(
    snapshot: &Snapshot,
    ranker: &Ranker,
    hits: &[Candidate<'_>],
    all: bool,
) -> Result<(Evidence, Vec<String>), Error> {
    let words = if all || ranker.form != Form::Identifier { words(snapshot, ranker)? } else { Vec::new() };
    let (mut unknown, unknown_share) = unknown(&words, ranker);
    if ranker.form == Form::Identifier {
        // The words of an unknown name were already searched as parts of names.
        unknown.clear();
    }
    let Some(first) = hits.first() else { return Ok((Evidence::default(), unknown)) };
    let name = ranker.tier(first) / TIER;
    // A member of another owner is only similar.
    let is_foreign = ranker.names_owner() && ranker.owner_share(&first.symbol) == 0.0;
    let name = if is_foreign { FOREIGN * name.min(1.0) } else { name };
    // Symbols with the same name are equal answers, so the margin is measured to the next other name.
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
    // A few answers with little of the query are not better because there are few.
    let evidence = evidence.among(distinct, evidence.best_covered >= 0.5);
    Ok((evidence, unknown))
}

/// The confidence that the evidence justifies.
pub fn judged(form: Form, evidence: &Evidence) -> Confidence {
    let Evidence { name, covered, best_covered, unknown, margin, .. } = *evidence;
    // A description of a change contains many words beside its subject.
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
        // Ten answers that are nearly as good as the first make none of them likely.
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
