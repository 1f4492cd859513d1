//! Parts of values: elements and keys of containers, items of tuples, awaited values.

use super::names::{Meaning, Resolver};
use super::values::{Value, Values};
use codelode_lang::facts::{ExpressionId, IterationItem, UNKNOWN};

impl Resolver<'_> {
    pub fn element(&mut self, of: Value, found: &mut Values) {
        match of {
            Value::Container(row) => {
                found.extend(self.sets.rows[row as usize].last().into_iter().flat_map(|set| set.iter()))
            }
            Value::Tuple(row) => found.extend(self.items(row).iter().flat_map(|set| set.iter())),
            // Brackets after a function or a class contain type arguments.
            Value::Function(_) | Value::Class(_) => found.push(of),
            Value::Applied { def, .. } => {
                let Some(environment) = self.environment(&[of]) else { return };
                for (name, is_iterator) in self.semantics.element {
                    for meaning in self.member(Value::Instance(def), codelode_lang::facts::hash(name)) {
                        let Meaning::Definition(method) = meaning else { continue };
                        let returns = self.definition(method).returns;
                        for value in self.substituted(method.file, returns, &environment, 0).unwrap_or_default() {
                            match value {
                                Value::Container(_) if *is_iterator => self.element(value, found),
                                other => found.push(other),
                            }
                        }
                    }
                }
            }
            Value::Instance(def) => {
                for value in self.underlying_types(def) {
                    self.element(value, found);
                }
                for (name, is_iterator) in self.semantics.element {
                    let mut given = Vec::new();
                    if self.call_member(of, &[name], &mut given) {
                        for value in given {
                            match value {
                                Value::Container(_) if *is_iterator => self.element(value, found),
                                other => found.push(other),
                            }
                        }
                        break;
                    }
                }
            }
            _ => {}
        }
    }

    /// The values of a type's index signature: `[key: string]: T`.
    pub(super) fn of_any_key(&mut self, file: u32, of: ExpressionId) -> Values {
        let name = self.semantics.any_key;
        let mut found = Vec::new();
        if name.is_empty() {
            return found;
        }
        for value in self.value(file, of).iter() {
            if let Value::Instance(def) | Value::Applied { def, .. } = *value
                && !self.member(Value::Instance(def), codelode_lang::facts::hash(name)).is_empty()
            {
                self.element(*value, &mut found);
            }
        }
        found
    }

    pub(super) fn each(&mut self, of: Value, found: &mut Values) {
        let Value::Container(number) = of else { return self.element(of, found) };
        let row = self.sets.rows[number as usize].clone();
        match (self.semantics.each, &row[..]) {
            (IterationItem::First, [first, ..]) => found.extend(first.iter()),
            (IterationItem::Pair, [_, _]) => found.push(Value::Tuple(number)),
            _ => self.element(of, found),
        }
    }

    pub(super) fn key(&mut self, of: Value, found: &mut Values) {
        match of {
            Value::Container(row) if self.sets.rows[row as usize].len() > 1 => {
                found.extend(self.sets.rows[row as usize][0].iter());
            }
            Value::Instance(def) => {
                for value in self.underlying_types(def) {
                    self.key(value, found);
                }
            }
            _ => {}
        }
    }

    pub(super) fn awaited(&mut self, of: Value, found: &mut Values) {
        // A named type may stand for a container.
        let beneath = if let Value::Instance(def) = of { self.underlying_types(def) } else { vec![of] };
        let is_container = |value: &Value| matches!(value, Value::Container(_));
        found.extend((!beneath.iter().any(is_container)).then_some(of));
        beneath.into_iter().filter(is_container).for_each(|container| self.element(container, found));
    }

    pub(super) fn entered(&mut self, of: Value, found: &mut Values) {
        match of {
            Value::Container(_) => self.element(of, found),
            Value::Instance(_) => {
                let is_async = |name: &str| name.starts_with("__a");
                for name in self.semantics.enter {
                    let mut given = Vec::new();
                    if self.call_member(of, &[name], &mut given) {
                        match is_async(name) {
                            true => given.into_iter().for_each(|value| self.awaited(value, found)),
                            false => found.extend(given),
                        }
                        return;
                    }
                }
                found.push(of);
            }
            _ => {}
        }
    }

    pub(super) fn item(&mut self, of: Value, place: usize) -> Values {
        match of {
            Value::Tuple(row) => self.sets.rows[row as usize].get(place).map(|set| set.to_vec()).unwrap_or_default(),
            Value::Container(_) => {
                let mut found = Vec::new();
                self.element(of, &mut found);
                found
            }
            Value::Instance(def) if self.definition(def).alias != UNKNOWN => {
                let beneath = self.underlying_types(def);
                let mut tuples = beneath.into_iter().filter(|value| matches!(value, Value::Tuple(_))).peekable();
                match tuples.peek() {
                    Some(_) => tuples.collect::<Values>().into_iter().flat_map(|it| self.item(it, place)).collect(),
                    None if place == 0 => vec![of],
                    None => Vec::new(),
                }
            }
            // A single value in place of several is the first of them.
            other if place == 0 => vec![other],
            _ => Vec::new(),
        }
    }
}
