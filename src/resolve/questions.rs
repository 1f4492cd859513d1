//! Questions: what is being asked, which answers may be kept, and which files they were taken from.
//!
//! An answer that needed no question still being asked is the same whoever asks, and kept. One that did is lacking a part, and
//! is not. Between the two is the answer with which a circle closes: it is whole, but another entrance to the circle would
//! have given another, so it is kept for the file alone that asked. So what the names of a file mean depends on the facts of
//! the project and on nothing that was resolved before, which is why one file can be resolved again alone.

use super::world::{Def, Memo, World};
use crate::facts::NONE;

/// A question that may lead back to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// What an expression means.
    Meaning(u32, u32),
    /// Its value.
    Value(u32, u32),
    /// An instance of it.
    Instance(u32, u32),
    /// The direct bases of a class.
    Bases(Def),
    /// A class and all its bases.
    Order(Def),
}

impl Question {
    /// The file whose text asks.
    fn file(self) -> u32 {
        match self {
            Self::Meaning(file, _) | Self::Value(file, _) | Self::Instance(file, _) => file,
            Self::Bases(def) | Self::Order(def) => def.file,
        }
    }
}

/// How long an answer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Not at all: it lacks what a question around it is still being asked.
    Not,
    /// While the same file is resolved. It rests on a question that leads back to itself, so it says where the circle was
    /// entered; and what a file's names mean must not depend on the files before it.
    Here,
    /// From now on.
    Always,
}

impl Kept {
    /// What the number of an answer is marked with.
    pub fn mark(self) -> u32 {
        if self == Self::Here { HERE } else { 0 }
    }
}

/// How deep questions may lead to questions.
const DEEPEST: usize = 90;
/// So many answers that are not kept may follow from one question. In a knot of types that lead to each other nothing is
/// remembered before the knot is closed, and to ask the same again and again there would take for ever.
const MOST_LOST: usize = 5_000;
/// Marks the number of an answer that is kept for the file alone.
const HERE: u32 = 1 << 31;
/// A question that has begun.
pub(super) struct Begun {
    question: Question,
    depth: usize,
    outer: usize,
    was_here: bool,
    asking: u32,
}

impl World<'_> {
    /// Begins with no answers.
    pub fn forget(&mut self) {
        self.memos.clear();
        self.memos.resize_with(self.project.files.len(), Memo::default);
        self.bases.clear();
        self.orders.clear();
        self.here.clear();
        self.is_here = false;
    }

    /// Begins with a file: forgets the answers that were kept for the one before.
    pub fn enter(&mut self, file: u32) {
        self.asking = file;
        self.is_here = false;
        for question in std::mem::take(&mut self.here) {
            match question {
                Question::Meaning(file, place) => self.memos[file as usize].meanings[place as usize] = NONE,
                Question::Value(file, place) => self.memos[file as usize].values[place as usize] = NONE,
                Question::Instance(file, place) => self.memos[file as usize].instances[place as usize] = NONE,
                Question::Bases(def) => drop(self.bases.remove(&def)),
                Question::Order(def) => drop(self.orders.remove(&def)),
            }
        }
    }

    pub fn consult(&self, file: u32) {
        if file != self.asking && self.last_consulted.replace((self.asking, file)) != (self.asking, file) {
            self.consulted.borrow_mut().insert((self.asking, file));
        }
    }

    /// Each file with each other whose facts its questions were answered from; sorted.
    pub fn consultations(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = self.consulted.borrow().iter().copied().collect();
        all.sort_unstable();
        all
    }

    /// Begins a question. `None` when it is being asked already, or when it is asked too deep or after too many others: then
    /// what is answered meanwhile must not be kept, because it lacks this part.
    pub fn begin(&mut self, question: Question) -> Option<Begun> {
        if self.active.is_empty() {
            self.lost = 0;
        }
        if let Some(depth) = self.active.get(&question) {
            self.lowest = self.lowest.min(*depth);
            self.is_here = true;
            return None;
        }
        let depth = self.active.len();
        if depth > DEEPEST || self.lost > MOST_LOST {
            self.lowest = 0;
            self.is_here = true;
            // How deep it is asked depends on what was answered before.
            self.is_cut |= depth > DEEPEST;
            return None;
        }
        self.active.insert(question, depth);
        let outer = std::mem::replace(&mut self.lowest, usize::MAX);
        let was_here = std::mem::replace(&mut self.is_here, false);
        let asking = std::mem::replace(&mut self.asking, question.file());
        Some(Begun { question, depth, outer, was_here, asking })
    }

    /// Ends a question: how long its answer may be kept.
    pub fn end(&mut self, begun: Begun) -> Kept {
        self.active.remove(&begun.question);
        self.asking = begun.asking;
        let is_whole = self.lowest >= begun.depth;
        self.lowest = if is_whole { begun.outer } else { self.lowest.min(begun.outer) };
        let kept = match self.is_here {
            _ if !is_whole => Kept::Not,
            true => Kept::Here,
            false => Kept::Always,
        };
        self.lost += usize::from(kept == Kept::Not);
        if kept == Kept::Here {
            self.here.push(begun.question);
        }
        self.is_here |= begun.was_here;
        kept
    }

    /// The number under which an answer was kept, from what was remembered of its question.
    pub fn recall(&mut self, remembered: u32) -> Option<usize> {
        if remembered == NONE {
            return None;
        }
        self.is_here |= remembered & HERE != 0;
        Some((remembered & !HERE) as usize)
    }
}
