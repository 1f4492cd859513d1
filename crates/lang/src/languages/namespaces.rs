//! Namespaces written in files: a file may add to several, and a namespace may lie in many files.
//!
//! The root scope of every file is the namespace without a name; inline modules with whole names are the others. The
//! text `A.B` means a namespace as it is seen from the one around it, `.A.B` by its whole name, and `A.B.*` only the
//! namespaces in it.

use rustc_hash::FxHashMap;

use crate::facts::{Declared, Module, Modules, Project, ROOT, ScopeId};

/// The namespaces of one project.
pub struct Namespaces {
    separator: &'static str,
    numbers: FxHashMap<String, u32>,
    names: Vec<String>,
    /// The scopes of each namespace, each with its file.
    scopes: Vec<Vec<(u32, ScopeId)>>,
    /// The namespace of a scope other than a root.
    own: FxHashMap<(u32, ScopeId), u32>,
}

impl Namespaces {
    /// Reads the namespaces that files declare.
    pub fn new<'a>(project: &'a Project<'a>, separator: &'static str) -> Self {
        let mut all = Self {
            separator,
            numbers: FxHashMap::default(),
            names: Vec::new(),
            scopes: Vec::new(),
            own: FxHashMap::default(),
        };
        all.number("");
        for (file, of) in (0..).zip(&project.files) {
            let facts = of.facts();
            all.scopes[0].push((file, ROOT));
            for module in facts.modules.iter().filter(|module| module.kind == Declared::Inline) {
                let number = all.number(facts.name(module.name));
                all.scopes[number as usize].push((file, module.scope));
                all.own.insert((file, module.scope), number);
            }
        }
        all
    }

    /// The number of a namespace; those around it get one too.
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if let Some((around, _)) = name.rsplit_once(self.separator) {
            self.number(around);
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        self.scopes.push(Vec::new());
        number
    }

    /// A namespace in another.
    fn inside(&self, around: &str, name: &str) -> Option<u32> {
        if around.is_empty() {
            return self.numbers.get(name).copied();
        }
        self.numbers.get(&format!("{around}{}{name}", self.separator)).copied()
    }
}

// A namespace is twice its number; the next number is that of the namespaces in it alone.
impl Modules for Namespaces {
    fn find(&self, file: u32, scope: ScopeId, spec: &str) -> Option<Module> {
        if let Some(around) = spec.strip_suffix('*') {
            let around = around.strip_suffix(self.separator).unwrap_or(around);
            return self.numbers.get(around).map(|number| number * 2 + 1);
        }
        if let Some(whole) = spec.strip_prefix(self.separator) {
            return self.numbers.get(whole).map(|number| number * 2);
        }
        let mut around = self.names[self.of(file, scope) as usize / 2].as_str();
        loop {
            if let Some(found) = self.inside(around, spec) {
                return Some(found * 2);
            }
            if around.is_empty() {
                return None;
            }
            around = around.rsplit_once(self.separator).map_or("", |(around, _)| around);
        }
    }

    fn of(&self, file: u32, scope: ScopeId) -> Module {
        self.own.get(&(file, scope)).map_or(0, |number| number * 2)
    }

    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        if module.is_multiple_of(2) { self.scopes[module as usize / 2].clone() } else { Vec::new() }
    }

    fn child(&self, module: Module, name: &str) -> Option<Module> {
        self.inside(&self.names[module as usize / 2], name).map(|number| number * 2)
    }
}
