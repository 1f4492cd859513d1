//! How sure it is that the first answer is the one that was meant, so that a reader knows whether to look further.
//!
//! The thresholds are calibrated on queries with known answers: `benches/README.md` says how often `high` was right.

use memchr::memmem::Finder;

use super::form::Form;
use super::prose::is_change_word;
use super::rank::{Candidate, Ranker, TIER};
use crate::store::{Error, Snapshot, stems};

/// How sure it is that the first answer is the one that was meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Nothing answers.
    #[default]
    None,
    /// It may be among the answers.
    Low,
    /// It is.
    High,
}

impl Confidence {
    /// As answers carry it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

/// What speaks for the first answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// What its name is worth as an answer, in units of the same letters in the same order.
    pub name: f32,
    /// The share of the query's words that it holds, the rarer weighing more.
    pub covered: f32,
    /// The most of the same that any of the first answers holds.
    pub best_covered: f32,
    /// The share of the query's words that nothing holds.
    pub unknown: f32,
    /// How far its score stands above the next answer's, as a share of it.
    pub margin: f32,
}

/// So many of the first answers are looked into.
const LOOKED_INTO: usize = 3;
/// A name that is worth less as an answer only looks like the one that was meant.
const LIKE: f32 = 0.26;
/// What a name is worth whose owner is not the one that is named.
const FOREIGN: f32 = 0.25;
/// So far into a definition it is looked, in bytes: a large class holds every word somewhere.
const FAR: usize = 4_000;

/// A word of a query and how much it says.
struct Word<'a> {
    word: &'a str,
    stem: Finder<'static>,
    /// In how many definitions it is.
    held: u64,
    weight: f32,
}

/// The words that say something. Of those that nothing holds the weight is greatest.
fn words<'a>(snapshot: &Snapshot, ranker: &'a Ranker) -> Result<Vec<Word<'a>>, Error> {
    let all = snapshot.documents()? as f32;
    let mut words: Vec<Word<'a>> = Vec::new();
    let all_words = ranker.words();
    // `feat` and `remove` say what was done, and not to what.
    let counts = |word: &str| ranker.form == Form::Identifier || !is_change_word(word);
    let any = all_words.iter().any(|word| counts(word));
    for word in all_words.iter().filter(|word| !any || counts(word)) {
        let Some(held) = snapshot.frequency(word)? else { continue };
        let Some(stem) = stems(word).pop() else { continue };
        // A stem may end otherwise than its word (`inventori`): what both begin with is what stands in a text.
        let common = stem.bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count();
        let stem = stem.get(..common).unwrap_or(&stem);
        if words.iter().all(|word| word.stem.needle() != stem.as_bytes()) {
            let stem = Finder::new(stem).into_owned();
            words.push(Word { word, stem, held, weight: (1.0 + all / (1.0 + held as f32)).ln() });
        }
    }
    Ok(words)
}

/// The weight of the words that a symbol holds: in its definition, its documentation, its name or its path.
fn held(words: &[Word<'_>], candidate: &Candidate<'_>) -> f32 {
    let symbol = &candidate.symbol;
    let source = symbol.source();
    let source = source.get(..FAR).unwrap_or(source);
    let (name, doc) = (symbol.qualified_name(), symbol.docstring());
    let places = [source, doc.as_bytes(), name.as_bytes(), symbol.file.path().as_bytes()];
    let text = places.join(&b'\n');
    let lower = text.to_ascii_lowercase();
    words.iter().filter(|word| holds_word(&text, &lower, &word.stem)).map(|word| word.weight).sum()
}

/// Whether a word begins with a stem somewhere in a text, which is also given in small letters. What is long enough is found
/// inside of words as well.
fn holds_word(text: &[u8], lower: &[u8], stem: &Finder<'_>) -> bool {
    stem.find_iter(lower).any(|at| {
        let before = at.checked_sub(1).map_or(b' ', |before| text[before]);
        let begins = !before.is_ascii_alphanumeric() || (text[at].is_ascii_uppercase() && !before.is_ascii_uppercase());
        begins || stem.needle().len() > 4
    })
}

/// What speaks for the first of some answers, best first; and the query's words that nothing holds. A name is not judged by
/// what holds it, so that is looked into only for whoever wants to be told all.
pub fn evidence(
    snapshot: &Snapshot,
    ranker: &Ranker,
    hits: &[Candidate<'_>],
    all: bool,
) -> Result<(Evidence, Vec<String>), Error> {
    let words = if all || ranker.form != Form::Identifier { words(snapshot, ranker)? } else { Vec::new() };
    // A name that nothing holds has been looked for by its pieces.
    let nowhere = words.iter().filter(|word| word.held == 0 && ranker.form != Form::Identifier);
    let unknown = nowhere.map(|word| word.word.to_owned()).collect();
    let Some(first) = hits.first() else { return Ok((Evidence::default(), unknown)) };
    let name = ranker.tier(first) / TIER;
    // The name of somebody else's member is no more than like it.
    let is_foreign = ranker.names_owner() && ranker.owner_share(&first.symbol) == 0.0;
    let name = if is_foreign { FOREIGN * name.min(1.0) } else { name };
    // Another of the same name answers as well as the first: the next is the first of another name.
    let next = hits.iter().skip(1).find(|hit| hit.flat != first.flat || ranker.form.is_prose());
    let margin = next.map_or(1.0, |next| 1.0 - next.score() / first.score().max(f32::MIN_POSITIVE));
    let mut each = hits.iter().take(LOOKED_INTO).map(|hit| held(&words, hit));
    let of_first = each.next().unwrap_or(0.0);
    let of_best = each.fold(of_first, f32::max);
    let all = words.iter().map(|word| word.weight).sum::<f32>().max(f32::MIN_POSITIVE);
    let unknown_share = words.iter().filter(|word| word.held == 0).count() as f32 / words.len().max(1) as f32;
    let evidence =
        Evidence { name, covered: of_first / all, best_covered: of_best / all, unknown: unknown_share, margin };
    Ok((evidence, unknown))
}

/// How sure it is, by what speaks for it.
pub fn judged(form: Form, evidence: &Evidence) -> Confidence {
    let Evidence { name, covered, best_covered, unknown, margin } = *evidence;
    // Who describes a change says more than what it is about.
    let is_foreign = match form {
        Form::Change => unknown >= 0.65 || best_covered < 0.06,
        _ => unknown >= 0.45 || (unknown >= 0.3 && best_covered < 0.15) || best_covered < 0.06,
    };
    let (is_high, is_none) = match form {
        Form::Identifier => (name >= 1.0 || (name >= LIKE && margin >= 0.1), false),
        Form::Words => {
            (name >= 1.0 || (covered >= 0.99 && margin >= 0.2), name < 1.0 && (is_foreign || best_covered < 0.2))
        }
        Form::Prose => ((covered >= 0.5 && margin >= 0.55) || (covered >= 0.9 && margin >= 0.35), is_foreign),
        // What a change is about is seldom all that its words are found in.
        Form::Change => (covered >= 0.5 && margin >= 0.45, is_foreign),
    };
    match (is_high, is_none) {
        (_, true) => Confidence::None,
        (true, _) => Confidence::High,
        _ => Confidence::Low,
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
        let nothing = Evidence { name: 0.0, covered: 0.1, best_covered: 0.1, unknown: 0.5, margin: 0.9 };
        assert_eq!(judged(Form::Prose, &nothing), Confidence::None);
        assert_eq!(judged(Form::Words, &nothing), Confidence::None);
        let all = Evidence { name: 0.0, covered: 1.0, best_covered: 1.0, unknown: 0.0, margin: 0.9 };
        assert_eq!(judged(Form::Prose, &all), Confidence::High);
    }
}
