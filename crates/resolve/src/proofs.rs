//! Type narrowing: values that pass a type test, and the values that remain when it fails.

use super::classes::MOST_BASES;
use super::names::Meaning;
use super::names::{Def, Resolver};
use super::values::{Value, Values};
use codelode_lang::facts::{Expression, ExpressionId, ListId, NAMED, NameId, Op, UNKNOWN, hash};

impl Resolver<'_> {
    /// The values of operand `b` that pass a test: instances of the type `a`, or of the type that the guard call `a`
    /// proves.
    pub(super) fn proven(&mut self, file: u32, it: Expression) -> Values {
        let declared = self.value(file, ExpressionId(it.b));
        if let Some(members) = self.members_told(file, ExpressionId(it.a)) {
            return self.told_apart(&declared, &members, true);
        }
        let is_call = self.facts(file).expressions[it.a as usize].op == Op::Call;
        let types = if is_call { self.guarded(file, it.a) } else { self.instance(file, ExpressionId(it.a)).to_vec() };
        if declared.is_empty() {
            return types;
        }
        let (types, parts) = (self.parts_of_union(&types), self.parts_of_union(&declared));
        let mut kept = Vec::new();
        for value in &parts {
            let is_kept = match class_of(*value) {
                // An external type may be a supertype of a project class.
                Some(def) if types.is_empty() => is_call || self.has_outside_base(def),
                Some(def) => self.order(def).iter().any(|class| types.contains(&Value::Instance(*class))),
                None => types.is_empty(),
            };
            kept.extend(is_kept.then_some(*value));
        }
        if kept.len() == parts.len() {
            return declared.to_vec();
        }
        if !kept.is_empty() || types.is_empty() {
            return kept;
        }
        for value in &types {
            let Some(def) = class_of(*value) else { continue };
            let is_below = self.order(def).iter().any(|class| parts.contains(&Value::Instance(*class)));
            kept.extend(is_below.then_some(*value));
        }
        // The value's class derives from both types.
        if kept.is_empty() { declared.iter().copied().chain(types).collect() } else { kept }
    }

    /// The instances of the type that a guard call proves.
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

    /// Whether a class or one of its bases has an external base.
    pub(super) fn has_outside_base(&mut self, class: Def) -> bool {
        self.order(class).iter().any(|class| {
            let bases = self.list(class.file, self.definition(*class).bases);
            bases.iter().take(MOST_BASES).any(|base| self.value(class.file, *base).is_empty())
        })
    }

    /// The values of operand `a` that fail a test: no instances of the type `b` or of its subclasses.
    pub(super) fn except(&mut self, file: u32, it: Expression) -> Values {
        let values = self.value(file, ExpressionId(it.a));
        if let Some(members) = self.members_told(file, ExpressionId(it.b)) {
            return self.told_apart(&values, &members, false);
        }
        let without = self.instance(file, ExpressionId(it.b));
        let (without, parts) = (self.parts_of_union(&without), self.parts_of_union(&values));
        let mut found = Vec::new();
        for value in &parts {
            let is_without = match class_of(*value) {
                Some(def) => self.order(def).iter().any(|class| without.contains(&Value::Instance(*class))),
                None => without.contains(value),
            };
            found.extend((!is_without).then_some(*value));
        }
        if found.len() == parts.len() { values.to_vec() } else { found }
    }
}

impl<'a> Resolver<'a> {
    /// The members by which a condition distinguishes types: `kind="a"`, or `kind` itself. `None` for other conditions.
    fn members_told(&self, file: u32, of: ExpressionId) -> Option<Vec<&'a str>> {
        let facts = self.facts(file);
        let it = facts.expressions[of.row()];
        let only = [of];
        let all = if it.op == Op::Union { facts.list(ListId(it.a)) } else { &only };
        let told = all.iter().map(|one| {
            let it = facts.expressions[one.row()];
            let is_told = it.op == Op::Member && ExpressionId(it.a) == UNKNOWN;
            is_told.then(|| facts.name(NameId(it.b)))
        });
        told.collect()
    }

    /// The values of a union that have one of `members`, or with `holds` false, the others. All values if none would
    /// remain.
    fn told_apart(&mut self, values: &[Value], members: &[&str], holds: bool) -> Values {
        let Some(first) = members.first() else { return values.to_vec() };
        // `kind=` in `kind="a"`, `kind=.` in `kind=.Kind.A`: the name that leads to all literals of the member.
        let end = first.find('=').map(|end| end + if first[end..].starts_with("=.") { 2 } else { 1 });
        let all = end.map(|end| hash(&first[..end]));
        let told: Vec<u64> = members.iter().map(|member| hash(member)).collect();
        let parts = self.parts_of_union(values);
        let mut kept = Vec::new();
        for value in &parts {
            let Some(class) = class_of(*value) else {
                kept.push(*value);
                continue;
            };
            let has_any = told.iter().any(|name| !self.inherited(class, *name, false).is_empty());
            let is_kept = match (all, holds) {
                (None, _) => has_any == holds,
                (Some(_), true) if has_any => true,
                (Some(all), _) => {
                    let others = self.inherited(class, all, false);
                    if others.is_empty()
                        && let Some((any, all)) = self.constants_told(class, members)
                    {
                        kept.extend((if holds { any } else { !all }).then_some(*value));
                        continue;
                    }
                    match holds {
                        true => others.is_empty(),
                        false => others.is_empty() || !self.literals(&others).iter().all(|one| told.contains(one)),
                    }
                }
            };
            kept.extend(is_kept.then_some(*value));
        }
        if kept.is_empty() || kept.len() == parts.len() { values.to_vec() } else { kept }
    }

    /// The names of the literals that a member may have.
    fn literals(&self, meanings: &[Meaning]) -> Vec<u64> {
        let mut found = Vec::new();
        for meaning in meanings {
            let Meaning::Variable { file, binding } = *meaning else { continue };
            let facts = self.facts(file);
            let of = ExpressionId(facts.bindings[binding as usize].a);
            let only = [of];
            let it = facts.expressions[of.row()];
            let all = if it.op == Op::Union { facts.list(ListId(it.a)) } else { &only };
            found.extend(all.iter().map(|one| facts.hashes[facts.expressions[one.row()].b as usize]));
        }
        found
    }

    /// For a type whose member holds constants of an enumeration: whether the value of any constant is among the
    /// literals in `members`, and whether all are. `None` for other types.
    fn constants_told(&mut self, class: Def, members: &[&str]) -> Option<(bool, bool)> {
        let told: Vec<(&str, &str)> = members.iter().filter_map(|member| member.split_once('=')).collect();
        let member = told.first().filter(|(_, literal)| !literal.starts_with('.'))?.0;
        let constants = self.inherited(class, hash(&format!("{member}=.")), false);
        let (mut any, mut all) = (false, true);
        for constant in self.literals(&constants) {
            let name = self.text_anywhere(constant).and_then(|text| text.rsplit('.').next()).unwrap_or_default();
            let bound = self.inherited(class, constant, false);
            let enumerations = self.values_of(&bound, false);
            let is_told = enumerations.iter().filter_map(|of| as_class(*of)).any(|of| {
                let has = |literal: &str| !self.inherited(of, hash(&format!("{name}={literal}")), false).is_empty();
                told.iter().map(|(_, literal)| *literal).any(has)
            });
            (any, all) = (any || is_told, all && is_told);
        }
        (!constants.is_empty()).then_some((any, all))
    }

    /// Whether a type is an alias of other types: `type Shape = Circle | Square`.
    fn is_other_name(&self, class: Def) -> bool {
        let definition = self.definition(class);
        let alias = self.facts(class.file).expressions[definition.alias.row()].op;
        definition.flags & NAMED == 0 && matches!(alias, Op::Union | Op::Name | Op::Member | Op::Generic)
    }

    /// The meanings of a member in each part of a union alias; empty for other types.
    pub(super) fn in_all_parts(&mut self, class: Def, name: u64) -> Vec<Meaning> {
        if !self.is_union(class) {
            return Vec::new();
        }
        let mut parts = self.parts_of_union(&[Value::Instance(class)]);
        // A part that was not expanded, a class value or one of too many, may lead back to the union.
        parts.retain(|part| class_of(*part).or(as_class(*part)).is_none_or(|class| !self.is_union(class)));
        parts.into_iter().flat_map(|part| self.member(part, name)).collect()
    }

    /// Whether a type is an alias of a union.
    fn is_union(&self, class: Def) -> bool {
        let alias = self.definition(class).alias;
        self.is_other_name(class) && self.facts(class.file).expressions[alias.row()].op == Op::Union
    }

    /// Values, with each alias replaced by the values of its parts.
    pub(super) fn parts_of_union(&mut self, values: &[Value]) -> Values {
        let (mut found, mut waiting, mut seen) = (Vec::new(), values.to_vec(), Vec::new());
        waiting.reverse();
        while let Some(value) = waiting.pop() {
            let alias = class_of(value).filter(|class| seen.len() < MOST_BASES && self.is_other_name(*class));
            let Some(class) = alias else {
                found.extend((!found.contains(&value)).then_some(value));
                continue;
            };
            if seen.contains(&value) {
                continue;
            }
            seen.push(value);
            let behind = match value {
                Value::Applied { .. } => {
                    let environment = self.environment(&[value]).unwrap_or_default();
                    let alias = self.definition(class).alias;
                    self.substituted(class.file, alias, &environment, 0).unwrap_or_default()
                }
                _ => {
                    let (facts, alias) = (self.facts(class.file), self.definition(class).alias);
                    let it = facts.expressions[alias.row()];
                    let only = [alias];
                    // Each part alone, because a long union as a whole keeps only some of its values.
                    let all = if it.op == Op::Union { facts.list(ListId(it.a)) } else { &only };
                    all.iter().flat_map(|one| self.instance(class.file, *one).to_vec()).collect()
                }
            };
            waiting.extend(behind.into_iter().rev());
        }
        found
    }
}

fn as_class(value: Value) -> Option<Def> {
    if let Value::Class(def) = value { Some(def) } else { None }
}

fn class_of(value: Value) -> Option<Def> {
    match value {
        Value::Instance(def) | Value::Applied { def, .. } => Some(def),
        _ => None,
    }
}
