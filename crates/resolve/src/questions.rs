//! Questions: which are open, which answers may be kept, and which files they were taken from.
//!
//! An answer that needed no open question is the same for every asker, and is kept. An answer that needed an open
//! question lacks a part, and is not kept. The third case is the answer that closes a cycle. It is complete, but
//! entering the cycle elsewhere would give another answer, so it is kept only for the asking file. Hence the names of a
//! file depend only on the project's facts, not on earlier resolutions, and one file can be resolved again alone.

use std::rc::Rc;

use super::names::{Def, Memo, Resolver};
use super::values::Set;
use codelode_lang::facts::{ExpressionId, ListId, NONE, Project};

/// A question that may lead back to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// The meanings of an expression.
    Meaning(u32, ExpressionId),
    /// The values of an expression.
    Value(u32, ExpressionId),
    /// The instances of a type.
    Instance(u32, ExpressionId),
    /// The direct bases of a class.
    Bases(Def),
    /// A class and all its bases.
    Order(Def),
}

impl Question {
    /// The file that the question is about.
    fn file(self) -> u32 {
        match self {
            Self::Meaning(file, _) | Self::Value(file, _) | Self::Instance(file, _) => file,
            Self::Bases(def) | Self::Order(def) => def.file,
        }
    }
}

/// How long an answer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheScope {
    /// Not at all: the answer lacks the part of an enclosing question that is still open.
    Not,
    /// While the same file is resolved. The answer depends on where a cycle of questions was entered, and the names of
    /// a file must not depend on the files before it.
    Here,
    /// Permanently.
    Always,
}

impl CacheScope {
    /// The mark on an answer's number.
    pub fn mark(self) -> u32 {
        if self == Self::Here { HERE } else { 0 }
    }
}

/// The deepest nesting of questions.
const DEEPEST: usize = 90;
/// The most discarded answers that one question may cause. In a cycle of types no answer is kept before the cycle is
/// closed, and asking again and again would take forever.
const MOST_LOST: usize = 5_000;
/// Work counts questions, scopes, modules, bindings and list items instead of time, so every machine gives the same
/// answers. A project has so much for each byte of its facts, plus a constant. The constant is also the most that one
/// file may take beyond its own share.
const WORK_PER_BYTE: usize = 5;
const WORK: usize = 20_000_000;
/// Marks the number of an answer that is kept for one file only.
const HERE: u32 = 1 << 31;
/// An open question.
pub(super) struct OpenQuestion {
    question: Question,
    depth: usize,
    outer: usize,
    was_here: bool,
    asking: u32,
}

/// The work allowed for a project.
pub(super) fn work_for(project: &Project<'_>) -> usize {
    WORK + project.files.iter().map(|file| file.size()).sum::<usize>() * WORK_PER_BYTE
}

impl<'a> Resolver<'a> {
    /// Drops all cached answers.
    pub fn forget(&mut self) {
        self.memos.resize_with(self.project.files.len(), Memo::default);
        self.memos.iter_mut().filter(|memo| memo.is_used()).for_each(|memo| *memo = Memo::default());
        self.bases.clear();
        self.orders.clear();
        self.here.clear();
        self.is_here = false;
    }

    /// Begins a file: drops the answers kept for the file before.
    pub fn enter(&mut self, file: u32) {
        self.asking = file;
        self.is_here = false;
        self.allow(self.project.files[file as usize].size());
        for question in std::mem::take(&mut self.here) {
            match question {
                Question::Meaning(file, place) => self.memos[file as usize].meanings[place.row()] = NONE,
                Question::Value(file, place) => self.memos[file as usize].values[place.row()] = NONE,
                Question::Instance(file, place) => self.memos[file as usize].instances[place.row()] = NONE,
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

    /// Sorted pairs of a file and a file whose facts were read for it.
    pub fn consultations(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = self.consulted.borrow().iter().copied().collect();
        all.sort_unstable();
        all
    }

    /// Allows work for facts of this size.
    pub fn allow(&mut self, size: usize) {
        self.pool += self.left;
        self.left = self.pool.min(WORK + size * WORK_PER_BYTE);
        self.pool -= self.left;
    }

    /// Takes an amount of work; false if the limit was reached.
    pub fn work(&mut self, amount: usize) -> bool {
        let left = self.left.checked_sub(amount);
        self.left = left.unwrap_or(0);
        if left.is_none() {
            // An incomplete answer is not kept, and the work left for a file depends on earlier answers.
            self.lowest = 0;
            self.is_here = true;
            self.is_cut = true;
            self.is_spent = true;
        }
        left.is_some()
    }

    /// The items of a list, each of which counts as work; empty once the work is used up.
    pub fn list(&mut self, file: u32, list: ListId) -> &'a [ExpressionId] {
        let items = self.facts(file).list(list);
        if self.work(items.len()) { items } else { &[] }
    }

    /// The items of a tuple, each of which counts as work; empty once the work is used up.
    pub fn items(&mut self, row: u32) -> Rc<[Set]> {
        let row = self.sets.rows[row as usize].clone();
        if self.work(row.len()) { row } else { Rc::from([]) }
    }

    /// Begins a question. `None` if it is open already or nested too deep, or if too many answers were discarded or the
    /// work is used up. Enclosing answers then lack this part and must not be kept.
    pub fn begin(&mut self, question: Question) -> Option<OpenQuestion> {
        if self.active.is_empty() {
            self.lost = 0;
        }
        if let Some(depth) = self.active.get(&question) {
            self.lowest = self.lowest.min(*depth);
            self.is_here = true;
            return None;
        }
        let depth = self.active.len();
        if !self.work(1) {
            return None;
        }
        if depth > DEEPEST || self.lost > MOST_LOST {
            self.lowest = 0;
            self.is_here = true;
            // The depth of a question depends on earlier answers.
            self.is_cut |= depth > DEEPEST;
            return None;
        }
        self.active.insert(question, depth);
        let outer = std::mem::replace(&mut self.lowest, usize::MAX);
        let was_here = std::mem::replace(&mut self.is_here, false);
        let asking = std::mem::replace(&mut self.asking, question.file());
        Some(OpenQuestion { question, depth, outer, was_here, asking })
    }

    /// Ends a question. Returns how long its answer may be kept.
    pub fn end(&mut self, begun: OpenQuestion) -> CacheScope {
        self.active.remove(&begun.question);
        self.asking = begun.asking;
        let is_whole = self.lowest >= begun.depth;
        self.lowest = if is_whole { begun.outer } else { self.lowest.min(begun.outer) };
        let kept = match self.is_here {
            _ if !is_whole => CacheScope::Not,
            true => CacheScope::Here,
            false => CacheScope::Always,
        };
        self.lost += usize::from(kept == CacheScope::Not);
        if kept == CacheScope::Here {
            self.here.push(begun.question);
        }
        self.is_here |= begun.was_here;
        kept
    }

    /// The number of a cached answer, from the stored entry; `None` if there is none.
    pub fn recall(&mut self, remembered: u32) -> Option<usize> {
        if remembered == NONE {
            return None;
        }
        self.is_here |= remembered & HERE != 0;
        Some((remembered & !HERE) as usize)
    }
}
