//! A rule of dead code: its stage, its question, and its reason in words.

use super::subject::Subject;
use super::walk::{Reached, Walk};
use codelode_store::FileView;

/// The stage of the analysis at which a rule is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Files: is the file left out of the analysis?
    Exempt,
    /// All definitions first, and members once their type is reached: is this an entry point?
    Root,
    /// Definitions that no use reached: may they be used without a resolved name?
    Reach,
    /// Definitions that neither uses nor tests reached: does that prove little?
    Doubt,
    /// Dead definitions: are they only likely dead?
    Caution,
}

/// A rule.
pub struct Rule {
    /// Its name in answers.
    pub name: &'static str,
    /// The stage at which it is asked.
    pub stage: Stage,
    /// The reach that it gives to a definition.
    pub(in crate::dead) lowers_to: Reached,
    /// The reason, in words for people; `{}` stands for the evidence.
    pub reason: &'static str,
    pub(in crate::dead) asks: Asks,
}

/// The question of a rule.
pub(in crate::dead) enum Asks {
    /// About a file.
    File(fn(&FileView<'_>) -> bool),
    /// About one definition.
    One(fn(Subject<'_, '_>) -> bool),
    /// About many definitions at once, by node.
    All(fn(&mut Walk<'_, '_>, &[u32]) -> Answers),
}

/// The definitions that a rule applies to, each with its evidence.
pub(in crate::dead) type Answers = Vec<(u32, Evidence)>;

/// Evidence of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dead) enum Evidence {
    /// The rule itself.
    Plain,
    /// A place: path and line.
    At(String, u32),
}

impl Rule {
    /// Asks the rule about one definition; `None` if it does not apply.
    pub(in crate::dead) fn asks_of(&self, subject: Subject<'_, '_>) -> Option<Evidence> {
        let speaks = match self.asks {
            Asks::File(ask) => ask(&subject.symbol.file),
            Asks::One(ask) => ask(subject),
            Asks::All(_) => false,
        };
        speaks.then_some(Evidence::Plain)
    }

    /// Whether the rule leaves a file out of the analysis.
    pub(in crate::dead) fn exempts(&self, file: &FileView<'_>) -> bool {
        matches!(self.asks, Asks::File(ask) if ask(file))
    }

    /// The reason with its evidence.
    pub(in crate::dead) fn worded(&self, evidence: &Evidence) -> String {
        match evidence {
            Evidence::Plain => self.reason.to_owned(),
            Evidence::At(path, line) => self.reason.replace("{}", &format!("{path}:{line}")),
        }
    }
}
