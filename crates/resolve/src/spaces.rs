//! Selects the meanings of a name that its place allows, among types and values of one name, and removes private ones.

use std::rc::Rc;

use super::names::{Def, Meaning, Resolver};
use codelode_lang::facts::{DefinitionKind, ExpressionId, HOLDS_NOTHING, NameId, Op, PRIVATE, ScopeId, TYPE_ONLY};

impl Resolver<'_> {
    /// The meanings of an expression that its place allows; all of them if it allows none.
    pub fn meaning_in(&mut self, file: u32, expression: ExpressionId, means_value: bool) -> Rc<[Meaning]> {
        let meanings = self.meaning(file, expression);
        if !self.semantics.splits_types || meanings.is_empty() {
            return meanings;
        }
        if means_value && meanings.iter().all(|meaning| self.is_type_only(*meaning)) {
            return self.value_around(file, expression).map_or(meanings, Rc::from);
        }
        // A class and an interface of one name form one type.
        let has_class = meanings.iter().any(|meaning| self.is_class(*meaning) && !self.is_type_only(*meaning));
        let is_allowed = |meaning: &Meaning| {
            !self.holds_nothing(*meaning) && (!means_value || has_class || !self.is_type_only(*meaning))
        };
        let allowed: Vec<Meaning> = meanings.iter().copied().filter(is_allowed).collect();
        if allowed.is_empty() || allowed.len() == meanings.len() { meanings } else { allowed.into() }
    }

    /// The meanings that a file may see.
    pub(super) fn seen(&self, file: u32, mut meanings: Vec<Meaning>) -> Vec<Meaning> {
        meanings.retain(|meaning| match *meaning {
            Meaning::Definition(def) => self.sees(file, def),
            _ => true,
        });
        meanings
    }

    /// Whether a file may see a definition.
    pub fn sees(&self, file: u32, def: Def) -> bool {
        def.file == file || self.definition(def).flags & PRIVATE == 0
    }

    /// The meanings of a bare name outside the scope that only has types of that name, if they include values.
    fn value_around(&mut self, file: u32, expression: ExpressionId) -> Option<Vec<Meaning>> {
        let facts = self.facts(file);
        let it = facts.expressions[expression.row()];
        if it.op != Op::Name {
            return None;
        }
        let mut at = ScopeId(it.a);
        while at != ScopeId::NONE && self.work(1) {
            let is_bound = !facts.bound(at, NameId(it.b)).is_empty();
            at = facts.scopes[at.row()].parent;
            if is_bound && at != ScopeId::NONE {
                let (found, _) = self.lookup(file, at, NameId(it.b));
                return Some(found).filter(|found| found.iter().any(|meaning| !self.is_type_only(*meaning)));
            }
        }
        None
    }

    fn is_class(&self, meaning: Meaning) -> bool {
        matches!(meaning, Meaning::Definition(def) if self.definition(def).kind == DefinitionKind::Class)
    }

    fn is_type_only(&self, meaning: Meaning) -> bool {
        matches!(meaning, Meaning::Definition(def) if self.definition(def).flags & TYPE_ONLY != 0)
    }

    fn holds_nothing(&self, meaning: Meaning) -> bool {
        let Meaning::Variable { file, binding } = meaning else { return false };
        self.facts(file).bindings[binding as usize].flags & HOLDS_NOTHING != 0
    }
}
