//! Proofs by tests of a value: guards that tell a type, and the values that are left where a test fails.

use super::classes::MOST_BASES;
use super::names::{Def, Resolver};
use super::values::{Value, Values};
use crate::facts::{Expression, ExpressionId, Op};

impl Resolver<'_> {
    /// The values of the operand `b` that are instances of the type `a`, or of the type that the call `a` of a guard proves.
    pub(super) fn proven(&mut self, file: u32, it: Expression) -> Values {
        let declared = self.value(file, ExpressionId(it.b));
        let is_call = self.facts(file).expressions[it.a as usize].op == Op::Call;
        let types = if is_call { self.guarded(file, it.a) } else { self.instance(file, ExpressionId(it.a)).to_vec() };
        if declared.is_empty() {
            return types;
        }
        let mut kept = Vec::new();
        for value in declared.iter() {
            let is_kept = match class_of(*value) {
                // A type of others may be above one of ours.
                Some(def) if types.is_empty() => is_call || self.has_outside_base(def),
                Some(def) => self.order(def).iter().any(|class| types.contains(&Value::Instance(*class))),
                None => types.is_empty(),
            };
            kept.extend(is_kept.then_some(*value));
        }
        if !kept.is_empty() || types.is_empty() {
            return kept;
        }
        for value in &types {
            let Some(def) = class_of(*value) else { continue };
            let is_below = self.order(def).iter().any(|class| declared.contains(&Value::Instance(*class)));
            kept.extend(is_below.then_some(*value));
        }
        // The value is of a class that derives from both.
        if kept.is_empty() { declared.iter().copied().chain(types).collect() } else { kept }
    }

    /// The instances of the type that a call of a guard proves.
    fn guarded(&mut self, file: u32, call: u32) -> Values {
        let call = self.facts(file).expressions[call as usize];
        let mut found = Vec::new();
        for callee in self.value(file, ExpressionId(call.a)).iter() {
            let (file, returns) = match *callee {
                Value::Function(def) => (def.file, self.definition(def).returns),
                Value::FunctionType { file, expression } => {
                    (file, ExpressionId(self.facts(file).expressions[expression.row()].a))
                }
                _ => continue,
            };
            let returns = self.facts(file).expressions[returns.row()];
            if returns.op == Op::Predicate {
                found.extend(self.instance(file, ExpressionId(returns.a)).iter());
            }
        }
        found
    }

    /// Whether a class or one above it has a base that is not in the project.
    fn has_outside_base(&mut self, class: Def) -> bool {
        self.order(class).iter().any(|class| {
            let bases = self.list(class.file, self.definition(*class).bases);
            bases.iter().take(MOST_BASES).any(|base| self.value(class.file, *base).is_empty())
        })
    }

    /// The values of the operand `a` without the instances of the type `b` and of the classes below it.
    pub(super) fn except(&mut self, file: u32, it: Expression) -> Values {
        let values = self.value(file, ExpressionId(it.a));
        let without = self.instance(file, ExpressionId(it.b));
        let mut found = Vec::new();
        for value in values.iter() {
            let is_without = match class_of(*value) {
                Some(def) => self.order(def).iter().any(|class| without.contains(&Value::Instance(*class))),
                None => without.contains(value),
            };
            found.extend((!is_without).then_some(*value));
        }
        found
    }
}

fn class_of(value: Value) -> Option<Def> {
    match value {
        Value::Instance(def) | Value::Applied { def, .. } => Some(def),
        _ => None,
    }
}
