//! A rule of dead code: when it is asked, its question, its reason in words.

use super::subject::Subject;
use super::walk::{Reached, Walk};
use codelode_store::FileView;

/// Where in the course of a verdict a rule is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Of files: whether they are judged at all.
    Exempt,
    /// Of every definition at first, and of members once their type is reached: whether use begins here.
    Root,
    /// Of what no use reached: whether it may be used without a name that was resolved.
    Reach,
    /// Of what neither uses nor tests reached: whether that means little.
    Doubt,
    /// Of what is dead: whether it is only likely so.
    Caution,
}

/// A rule.
pub struct Rule {
    /// Its name in answers.
    pub name: &'static str,
    /// When it is asked.
    pub stage: Stage,
    /// The reach that a definition gets by it.
    pub(in crate::dead) lowers_to: Reached,
    /// The reason in words for people; `{}` stands for the evidence.
    pub reason: &'static str,
    pub(in crate::dead) asks: Asks,
}

/// The question of a rule.
pub(in crate::dead) enum Asks {
    /// About a file.
    File(fn(&FileView<'_>) -> bool),
    /// About one definition.
    One(fn(Subject<'_, '_>) -> bool),
    /// About many at once.
    All(fn(&mut Walk<'_, '_>, &[u32]) -> Answers),
}

/// The definitions that a rule speaks of, with its evidence.
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
    /// The answer of a rule about one definition.
    pub(in crate::dead) fn asks_of(&self, subject: Subject<'_, '_>) -> Option<Evidence> {
        let speaks = match self.asks {
            Asks::File(ask) => ask(&subject.symbol.file),
            Asks::One(ask) => ask(subject),
            Asks::All(_) => false,
        };
        speaks.then_some(Evidence::Plain)
    }

    /// Whether the rule says that a file is not judged.
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
