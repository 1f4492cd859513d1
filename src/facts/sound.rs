//! Check that every number in unpacked facts refers to an existing row, so that readers may index by it. Facts come
//! from a file that another process may damage.

use super::tables::{BindingKind, ELSE_WITHIN, Expression, Facts, NONE, Op};

/// Kind of row that an operand refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    /// No row: a plain number, or nothing.
    Nothing,
    Name,
    Scope,
    Definition,
    Expression,
    List,
}

/// Operands of each operation, in the order of [`Op`].
const OPERANDS: [(To, To); Op::Extension as usize + 1] = {
    use To::{Definition, Expression, List, Name, Nothing, Scope};
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
    ]
};

impl Facts<'_> {
    /// Whether every number refers to a row of its table, and no scope lies in itself.
    pub fn is_sound(&self) -> bool {
        let Some(lists) = self.list_starts() else { return false };
        let holds = |to: To, row: u32| match to {
            To::Nothing => true,
            To::Name => (row as usize) < self.ends.len(),
            To::Scope => (row as usize) < self.scopes.len(),
            To::Definition => (row as usize) < self.definitions.len(),
            To::Expression => (row as usize) < self.expressions.len(),
            To::List => lists.get(row as usize).is_some_and(|is_start| *is_start),
        };
        let may_hold = |to: To, row: u32| row == NONE || holds(to, row);
        let expression = |(at, it): (usize, &Expression)| {
            let Some((a, b)) = OPERANDS.get(it.op as usize) else { return false };
            // Expressions are made of earlier ones.
            let precedes = |to: To, row: u32| to != To::Expression || (row as usize) < at;
            holds(*a, it.a) && holds(*b, it.b) && precedes(*a, it.a) && precedes(*b, it.b)
        };
        // The other meaning of an import is an operand of its expression.
        let is_within = |row: u32| {
            let it = self.expressions.get(row as usize);
            it.and_then(|it| OPERANDS.get(it.op as usize)).is_some_and(|(within, _)| *within == To::Expression)
        };
        let rows = |first: u32, count: u32, len: usize| first as usize + count as usize <= len;
        self.expressions.iter().enumerate().all(expression)
            && self.scopes.iter().all(|it| {
                may_hold(To::Scope, it.parent.0)
                    && may_hold(To::Definition, it.class.0)
                    && rows(it.first_binding, it.bindings, self.bindings.len())
                    && rows(it.first_star, it.stars.into(), self.stars.len())
            })
            && !self.has_scope_in_itself()
            && self.bindings.iter().all(|it| {
                holds(To::Name, it.name.0)
                    && match it.kind {
                        BindingKind::Definition => holds(To::Definition, it.a),
                        BindingKind::Variable | BindingKind::Parameter => {
                            holds(To::Expression, it.a) && holds(To::Expression, it.b)
                        }
                        BindingKind::Alias | BindingKind::Value | BindingKind::Narrowed => holds(To::Expression, it.a),
                    }
            })
            && self.definitions.iter().all(|it| {
                let lists = [it.bases, it.values, it.parameters, it.generics];
                may_hold(To::Name, it.name.0)
                    && may_hold(To::Definition, it.owner.0)
                    && may_hold(To::Scope, it.members.0)
                    && may_hold(To::Scope, it.attributes.0)
                    && lists.iter().all(|list| holds(To::List, list.0))
                    && holds(To::Expression, it.returns.0)
                    && holds(To::Expression, it.alias.0)
            })
            && self.stars.iter().all(|it| holds(To::Expression, it.from.0))
            && self.occurrences.iter().all(|it| holds(To::Expression, it.expression.0))
            && self.imports.iter().all(|it| {
                holds(To::Expression, it.expression.0) && (it.flags & ELSE_WITHIN == 0 || is_within(it.expression.0))
            })
            && self.modules.iter().all(|it| {
                may_hold(To::Name, it.name.0) && may_hold(To::Scope, it.scope.0) && may_hold(To::Scope, it.within.0)
            })
            && self.extensions.iter().all(|it| holds(To::Expression, it.of.0) && holds(To::Definition, it.definition.0))
            && may_hold(To::Scope, self.header.exports.0)
            && holds(To::List, self.header.whole.0)
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
