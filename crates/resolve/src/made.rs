//! Instances of classes: metaclasses, methods that return an instance of the class they are called on, and arguments
//! that set fields.

use super::names::{Def, Meaning, Resolver};
use super::values::{Value, Values};
use codelode_lang::facts::{
    BindingKind, DefinitionId, Expression, ExpressionId, KEYWORDS, ListId, MADE, MAKES_ANOTHER, METACLASS, Op, UNKNOWN,
    hash,
};

impl Resolver<'_> {
    /// Adds the result of calling a class.
    pub(super) fn construct(&mut self, class: Def, found: &mut Values) {
        let mut made = Vec::new();
        if self.definition(class).flags & MAKES_ANOTHER != 0 {
            let said = self.inherited(class, hash(MADE), false);
            made = self.values_of(&said, false);
        }
        match made.is_empty() || made.contains(&Value::Instance(class)) {
            true => found.push(Value::Instance(class)),
            false => found.extend(made),
        }
    }

    /// A member of a class object: the class's own, or its metaclass's.
    pub(super) fn of_class(&mut self, class: Def, name: u64) -> Vec<Meaning> {
        let mut found = self.inherited(class, name, false);
        if !found.is_empty() {
            return found;
        }
        let metaclasses = self.inherited(class, hash(METACLASS), false);
        for value in self.values_of(&metaclasses, false) {
            if let Value::Class(of) = value {
                found.extend(self.inherited(of, name, false));
            }
        }
        found
    }

    /// Replaces instances of a method's own class in its result by instances of the receiver's class, if the method
    /// returns `Self`. In a metaclass method, the receiver is the class itself, so the replacement always applies.
    pub(super) fn as_received(
        &mut self,
        file: u32,
        callee: Expression,
        method: Def,
        found: &mut Values,
        before: usize,
    ) {
        let callee = super::callee(self.facts(file), callee);
        let definition = self.definition(method);
        if callee.op != Op::Member || definition.owner == DefinitionId::NONE {
            return;
        }
        let owner = self.extended(Def { file: method.file, place: definition.owner });
        let is_own = |value: &Value| matches!(value, Value::Instance(def) | Value::Class(def) if *def == owner);
        if !found[before..].iter().any(is_own) {
            return;
        }
        let says_self = self.says_self(method);
        let mut replaced = Vec::new();
        for receiver in self.value(file, ExpressionId(callee.a)).iter() {
            let (Value::Class(class) | Value::Instance(class)) = *receiver else { continue };
            let derives = class == owner || self.order(class).contains(&owner);
            let is_above = !derives && matches!(receiver, Value::Class(_));
            if !(is_above && self.has_metaclass(class, owner) || says_self && derives) {
                return;
            }
            replaced.push(class);
        }
        if replaced.is_empty() || replaced == [owner] {
            return;
        }
        let given = found.split_off(before);
        for value in given {
            match value {
                Value::Instance(def) if def == owner => found.extend(replaced.iter().map(|def| Value::Instance(*def))),
                Value::Class(def) if def == owner => found.extend(replaced.iter().map(|def| Value::Class(*def))),
                other => found.push(other),
            }
        }
    }

    /// Whether a function is declared to return its own class: `-> Self`.
    fn says_self(&self, function: Def) -> bool {
        let (facts, definition) = (self.facts(function.file), self.definition(function));
        let is_self = |of: ExpressionId| {
            let it = facts.expressions[of.row()];
            it.op == Op::SelfOf && DefinitionId(it.a) == definition.owner
        };
        let it = facts.expressions[definition.returns.row()];
        is_self(definition.returns) || it.op == Op::Union && facts.list(ListId(it.a)).iter().any(|of| is_self(*of))
    }

    /// Whether a class has this metaclass, or one derived from it.
    fn has_metaclass(&mut self, class: Def, metaclass: Def) -> bool {
        let metaclasses = self.inherited(class, hash(METACLASS), false);
        let values = self.values_of(&metaclasses, false);
        values.into_iter().any(|value| match value {
            Value::Class(of) => self.order(of).contains(&metaclass),
            _ => false,
        })
    }

    /// The fields that a keyword argument sets in a call of a class without a constructor.
    pub(super) fn set_by(&mut self, file: u32, callee: ExpressionId, label: &str) -> Vec<Meaning> {
        let mut found = Vec::new();
        for value in self.value(file, callee).iter() {
            let Value::Class(class) = *value else { continue };
            if !self.inherited(class, hash(self.semantics.constructor), false).is_empty() {
                continue;
            }
            let is_sure = !self.inherited(class, hash(KEYWORDS), false).is_empty();
            if !is_sure && !self.has_outside_base(class) {
                continue;
            }
            let names = [label.to_owned(), format!("alias {label}"), format!("_{label}")];
            let fields = names.iter().map(|name| self.inherited(class, hash(name), false));
            let fields: Vec<Vec<Meaning>> = fields.collect();
            let field = fields.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
            found.extend(field.into_iter().filter(|meaning| is_sure || self.is_field(*meaning)));
        }
        found
    }

    /// Whether a variable is declared like a field, with a type or by a call: `name: str`, `name = CharField()`.
    fn is_field(&self, meaning: Meaning) -> bool {
        let Meaning::Variable { file, binding } = meaning else { return false };
        let facts = self.facts(file);
        let binding = &facts.bindings[binding as usize];
        let value = facts.expressions[ExpressionId(binding.a).row()].op;
        binding.kind == BindingKind::Variable && (ExpressionId(binding.b) != UNKNOWN || value == Op::Call)
    }
}
