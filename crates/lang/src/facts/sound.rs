//! Check that every number in unpacked facts refers to an existing row, so that readers may index by it. Facts come
//! from a file that another process may damage.

use super::tables::{BindingKind, ELSE_WITHIN, Expression, Facts, NONE, Op};

/// Kind of row that an operand refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandKind {
    /// No row: a plain number, or nothing.
    Nothing,
    Name,
    Scope,
    Definition,
    Expression,
    List,
}

/// Operands of each operation, in the order of [`Op`].
const OPERANDS: [(OperandKind, OperandKind); Op::Foreign as usize + 1] = {
    use OperandKind::{Definition, Expression, List, Name, Nothing, Scope};
    [
        (Nothing, Nothing),
        (Scope, Name),
        (Expression, Name),
        (Expression, List),
        (Expression, Nothing),
        (Expression, Nothing),
        (Definition, Nothing),
        (Definition, Nothing),
        (Definition, Nothing),
        (Expression, Nothing),
        (Expression, Nothing),
        (Expression, Nothing),
        (Expression, Nothing),
        (Expression, Nothing),
        (List, Nothing),
        (Expression, List),
        (Definition, Nothing),
        (Definition, Nothing),
        (Expression, List),
        (List, Nothing),
        (Expression, Nothing),
        (Expression, Nothing),
        (Definition, Nothing),
        (Name, Scope),
        (Expression, Nothing),
        (Expression, Expression),
        (Expression, List),
        (Expression, Expression),
        (Expression, Name),
        (Expression, Nothing),
        (Expression, Nothing),
        (Expression, Nothing),
        (Expression, Expression),
        (Expression, Expression),
        (Expression, Expression),
        (Expression, Expression),
        (Expression, Name),
        (Expression, Nothing),
        (Expression, Expression),
        (Nothing, Nothing),
    ]
};

impl Facts<'_> {
    /// Whether every number refers to a row of its table, and no scope lies in itself.
    pub fn is_sound(&self) -> bool {
        let Some(lists) = self.list_starts() else { return false };
        let holds = |to: OperandKind, row: u32| match to {
            OperandKind::Nothing => true,
            OperandKind::Name => (row as usize) < self.ends.len(),
            OperandKind::Scope => (row as usize) < self.scopes.len(),
            OperandKind::Definition => (row as usize) < self.definitions.len(),
            OperandKind::Expression => (row as usize) < self.expressions.len(),
            OperandKind::List => lists.get(row as usize).is_some_and(|is_start| *is_start),
        };
        let may_hold = |to: OperandKind, row: u32| row == NONE || holds(to, row);
        let expression = |(at, it): (usize, &Expression)| {
            let Some((a, b)) = OPERANDS.get(it.op as usize) else { return false };
            // Expressions are made of earlier ones.
            let precedes = |to: OperandKind, row: u32| to != OperandKind::Expression || (row as usize) < at;
            holds(*a, it.a) && holds(*b, it.b) && precedes(*a, it.a) && precedes(*b, it.b)
        };
        // The other meaning of an import is an operand of its expression.
        let is_within = |row: u32| {
            let it = self.expressions.get(row as usize);
            it.and_then(|it| OPERANDS.get(it.op as usize)).is_some_and(|(within, _)| *within == OperandKind::Expression)
        };
        let rows = |first: u32, count: u32, len: usize| first as usize + count as usize <= len;
        self.expressions.iter().enumerate().all(expression)
            && self.scopes.iter().all(|it| {
                may_hold(OperandKind::Scope, it.parent.0)
                    && may_hold(OperandKind::Definition, it.class.0)
                    && rows(it.first_binding, it.bindings, self.bindings.len())
                    && rows(it.first_star, it.stars.into(), self.stars.len())
            })
            && !self.has_scope_in_itself()
            && self.bindings.iter().all(|it| {
                holds(OperandKind::Name, it.name.0)
                    && match it.kind {
                        BindingKind::Definition => holds(OperandKind::Definition, it.a),
                        BindingKind::Variable | BindingKind::Parameter => {
                            holds(OperandKind::Expression, it.a) && holds(OperandKind::Expression, it.b)
                        }
                        BindingKind::Alias | BindingKind::Value | BindingKind::Narrowed => {
                            holds(OperandKind::Expression, it.a)
                        }
                    }
            })
            && self.definitions.iter().all(|it| {
                let lists = [it.bases, it.values, it.parameters, it.generics];
                may_hold(OperandKind::Name, it.name.0)
                    && may_hold(OperandKind::Definition, it.owner.0)
                    && may_hold(OperandKind::Scope, it.members.0)
                    && may_hold(OperandKind::Scope, it.attributes.0)
                    && lists.iter().all(|list| holds(OperandKind::List, list.0))
                    && holds(OperandKind::Expression, it.returns.0)
                    && holds(OperandKind::Expression, it.alias.0)
            })
            && self.stars.iter().all(|it| holds(OperandKind::Expression, it.from.0))
            && self.occurrences.iter().all(|it| holds(OperandKind::Expression, it.expression.0))
            && self.imports.iter().all(|it| {
                holds(OperandKind::Expression, it.expression.0)
                    && (it.flags & ELSE_WITHIN == 0 || is_within(it.expression.0))
            })
            && self.modules.iter().all(|it| {
                may_hold(OperandKind::Name, it.name.0)
                    && may_hold(OperandKind::Scope, it.scope.0)
                    && may_hold(OperandKind::Scope, it.within.0)
            })
            && self
                .extensions
                .iter()
                .all(|it| holds(OperandKind::Expression, it.of.0) && holds(OperandKind::Definition, it.definition.0))
            && may_hold(OperandKind::Scope, self.header.exports.0)
            && holds(OperandKind::List, self.header.whole.0)
    }

    /// Marks the words where a list starts; `None` when an item is no expression.
    fn list_starts(&self) -> Option<Vec<bool>> {
        let mut starts = vec![false; self.lists.len()];
        let mut at = 0;
        while let Some(start) = starts.get_mut(at) {
            *start = true;
            let items = self.lists.get(at + 1..at + 1 + self.lists[at] as usize)?;
            if items.iter().any(|item| *item as usize >= self.expressions.len()) {
                return None;
            }
            at += 1 + items.len();
        }
        Some(starts)
    }

    fn has_scope_in_itself(&self) -> bool {
        let mut ends = vec![false; self.scopes.len()];
        let mut chain = Vec::new();
        (0..self.scopes.len()).any(|scope| {
            let mut around = scope;
            while let Some(it) = self.scopes.get(around).filter(|_| !ends[around]) {
                if chain.len() == self.scopes.len() {
                    return true;
                }
                chain.push(around);
                around = it.parent.row();
            }
            chain.drain(..).for_each(|scope| ends[scope] = true);
            false
        })
    }
}
