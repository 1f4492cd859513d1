//! Members that blocks add to a type: trait methods for an external type, and methods for certain type arguments.

use std::rc::Rc;

use super::classes::last_name;
use super::generics::effect;
use super::names::{Def, Meaning, Resolver};
use super::values::Value;
use codelode_lang::facts::{Binding, BindingKind, DefinitionId, Expression, ExpressionId, GIVES_WAY, NONE, Op};

impl Resolver<'_> {
    /// Finds traits that lend methods to external types. Such a trait has one implementation for an external type or
    /// for any type, in its own file.
    pub(super) fn find_lending(&mut self) {
        if !self.semantics.lends {
            return;
        }
        let mut found = Vec::new();
        for file in 0..self.project.files.len() as u32 {
            let facts = self.project.files[file as usize].facts();
            let gives_way = |place: DefinitionId| facts.definitions[place.row()].flags & GIVES_WAY != 0;
            let blocks: Vec<DefinitionId> =
                facts.extensions.iter().map(|one| one.definition).filter(|place| gives_way(*place)).collect();
            let trait_of = |place: &DefinitionId| {
                let base = *facts.list(facts.definitions[place.row()].bases).first()?;
                last_name(facts, base)
            };
            let names: Vec<Option<u64>> = blocks.iter().map(trait_of).collect();
            for (place, name) in blocks.iter().zip(&names) {
                let block = Def { file, place: *place };
                if name.is_none()
                    || names.iter().filter(|other| *other == name).count() > 1
                    || self.extended.contains_key(&block)
                {
                    continue;
                }
                let bases = self.known_bases(block);
                if let Some([lends]) = bases.as_deref()
                    && lends.file == file
                    && facts.hashes.get(facts.definitions[lends.place.row()].name.row()) == name.as_ref()
                {
                    found.push((*lends, block));
                }
            }
        }
        self.lending = found;
    }

    /// A lent method of a value whose type is external or unknown. Exactly one lending trait that the file names must
    /// have it.
    pub(super) fn lent(&mut self, file: u32, on: ExpressionId, name: u64) -> Vec<Meaning> {
        let is_outside = |value: &Value| matches!(value, Value::Container(_) | Value::Tuple(_));
        if self.lending.is_empty()
            || effect(&self.methods, name).is_some()
            || !self.value(file, on).iter().all(is_outside)
            || super::is_outside(self, file, on, 0)
        {
            return Vec::new();
        }
        let visible = self.lending_to(file);
        let mut found = Vec::new();
        for (lends, block) in visible.iter() {
            let of_block = self.written(*block, name);
            let meanings = if of_block.is_empty() { self.written(*lends, name) } else { of_block };
            if !meanings.is_empty() && !found.is_empty() {
                return Vec::new();
            }
            found.extend(meanings);
        }
        found
    }

    /// The lending traits that a file names.
    fn lending_to(&mut self, file: u32) -> Rc<[(Def, Def)]> {
        if let Some(known) = self.lending_to.get(&file) {
            return known.clone();
        }
        let facts = self.project.files[file as usize].facts();
        let hash = |lends: Def| {
            let facts = self.project.files[lends.file as usize].facts();
            facts.hashes.get(facts.definitions[lends.place.row()].name.row())
        };
        let is_named = |lends: Def| hash(lends).is_some_and(|name| facts.find_name(*name).is_some());
        let visible: Rc<[(Def, Def)]> = self.lending.iter().copied().filter(|(lends, _)| is_named(*lends)).collect();
        self.lending_to.insert(file, visible.clone());
        visible
    }

    /// Keeps the members in blocks for the receiver's type arguments, if several blocks of a generic type have the
    /// member.
    pub(super) fn keep_fitting(&mut self, file: u32, on: ExpressionId, meanings: &mut Vec<Meaning>) {
        let applied: Vec<(Def, u32)> = self
            .value(file, on)
            .iter()
            .filter_map(|value| if let Value::Applied { def, row } = *value { Some((def, row)) } else { None })
            .collect();
        if applied.is_empty() {
            return;
        }
        let fits: Vec<bool> = meanings.iter().map(|meaning| self.may_be_for(*meaning, &applied)).collect();
        if fits.contains(&true) {
            let mut fits = fits.into_iter();
            meanings.retain(|_| fits.next().unwrap_or(true));
        }
    }

    /// Whether a method's block may be for these type arguments.
    fn may_be_for(&mut self, meaning: Meaning, applied: &[(Def, u32)]) -> bool {
        let Meaning::Definition(method) = meaning else { return true };
        let block = Def { file: method.file, place: self.definition(method).owner };
        let whole = self.extended(block);
        let Some((_, row)) = applied.iter().find(|(def, _)| *def == whole && whole != block) else { return true };
        let facts = self.facts(block.file);
        let Some(of) = facts.extensions.iter().find(|one| one.definition == block.place) else { return true };
        let arguments = self.arguments_of(block.file, of.of);
        let given = self.sets.rows[*row as usize].clone();
        arguments.into_iter().zip(given.iter()).all(|(wanted, given)| {
            let wanted = self.value(block.file, wanted);
            let is_it = |value: &Value| match *value {
                Value::Class(def) => given.contains(&Value::Instance(def)),
                _ => true,
            };
            let is_known = given.iter().any(|value| matches!(value, Value::Instance(_)));
            !is_known || wanted.is_empty() || wanted.iter().any(is_it)
        })
    }

    /// The receivers of a call if they have type arguments and the function returns its receiver.
    pub(super) fn itself(&mut self, file: u32, callee: Expression, function: Def) -> Option<Vec<Value>> {
        let facts = self.facts(function.file);
        let returns = facts.expressions[self.definition(function).returns.row()];
        if callee.op != Op::Member || returns.op != Op::Name {
            return None;
        }
        let is_own = |one: &Binding| {
            one.at == NONE && one.kind == BindingKind::Value && facts.expressions[one.a as usize].op == Op::ClassOf
        };
        if !super::nearest(facts, returns).iter().any(is_own) {
            return None;
        }
        let receivers = self.value(file, ExpressionId(callee.a));
        let is_applied = receivers.iter().any(|value| matches!(value, Value::Applied { .. }));
        is_applied.then(|| receivers.to_vec())
    }
}
