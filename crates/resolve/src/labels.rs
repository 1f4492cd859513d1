//! Matches the arguments of a call to parameters by their labels.

use super::names::{Def, Resolver};
use codelode_lang::facts::{
    ANY_NUMBER, BLOCK, ExpressionId, FEWER, Facts, ListId, MAY_LACK, MAY_REPEAT, NameId, Op, TAKES_BLOCK,
};

/// The most parameters, and the most arguments, that are matched. Handwritten code has fewer.
const MOST: usize = 40;

/// The label of an argument or a parameter; `None` in code without labels.
fn label<'a>(facts: &Facts<'a>, of: ExpressionId) -> Option<&'a str> {
    let it = facts.expressions[of.row()];
    (it.op == Op::Labeled).then(|| facts.name(NameId(it.b)))
}

/// A labelled parameter.
struct Parameter<'a> {
    label: &'a str,
    may_lack: bool,
    may_repeat: bool,
    takes_block: bool,
}

impl<'a> Parameter<'a> {
    fn of(written: &'a str) -> Self {
        let label = written.trim_end_matches([MAY_LACK, MAY_REPEAT, TAKES_BLOCK]);
        let says = |sign: char| written[label.len()..].contains(sign);
        Self { label, may_lack: says(MAY_LACK), may_repeat: says(MAY_REPEAT), takes_block: says(TAKES_BLOCK) }
    }

    fn is_optional(&self) -> bool {
        self.may_lack || self.may_repeat
    }
}

/// A search for the parameter of each argument.
struct Search<'a> {
    wanted: Vec<Parameter<'a>>,
    given: Vec<&'a str>,
    /// Whether a block only goes to parameters with a function type.
    is_strict: bool,
    /// States that failed: parameter times argument.
    failed: Vec<bool>,
    found: Vec<usize>,
}

impl Search<'_> {
    /// Whether the arguments from `argument` on match the parameters from `parameter` on.
    fn goes(&mut self, parameter: usize, argument: usize) -> bool {
        let place = parameter * (self.given.len() + 1) + argument;
        if argument == self.given.len() {
            return self.wanted[parameter..].iter().all(Parameter::is_optional);
        }
        if parameter == self.wanted.len() || self.failed[place] {
            return false;
        }
        let (it, given) = (&self.wanted[parameter], self.given[argument]);
        let (is_optional, may_repeat) = (it.is_optional(), it.may_repeat);
        let fits = if given == BLOCK { it.takes_block || !self.is_strict } else { it.label == given };
        if fits {
            let more = self.given[argument + 1..].iter().take_while(|label| label.is_empty()).count();
            let most = if may_repeat { more } else { 0 };
            for count in (1..=most + 1).rev() {
                self.found.extend(std::iter::repeat_n(parameter, count));
                if self.goes(parameter + 1, argument + count) {
                    return true;
                }
                self.found.truncate(self.found.len() - count);
            }
        }
        if is_optional && self.goes(parameter + 1, argument) {
            return true;
        }
        self.failed[place] = true;
        false
    }
}

impl<'a> Resolver<'a> {
    /// Whether labels decide which of some functions a call means.
    pub fn counts_labels(&self, file: u32, arguments: &[ExpressionId], functions: &[Def]) -> bool {
        let facts = self.facts(file);
        arguments.iter().any(|one| label(facts, *one).is_some())
            || functions.iter().any(|def| {
                let facts = self.facts(def.file);
                facts.list(self.definition(*def).parameters).iter().any(|one| label(facts, *one).is_some())
            })
    }

    /// The parameter index of each argument; `None` if the function cannot take them.
    pub fn places(&self, def: Def, file: u32, arguments: &[ExpressionId]) -> Option<Vec<usize>> {
        let (facts, definition) = (self.facts(def.file), self.definition(def));
        let parameters = facts.list(definition.parameters);
        if !self.counts_labels(file, arguments, &[def]) {
            let (given, wanted) = (arguments.len(), parameters.len());
            let takes = match definition.flags {
                flags if flags & ANY_NUMBER != 0 => given + 1 >= wanted,
                flags if flags & FEWER != 0 => given <= wanted,
                _ => given == wanted,
            };
            return takes.then(|| (0..given).collect());
        }
        if parameters.len() > MOST || arguments.len() > MOST {
            return None;
        }
        let given = self.facts(file);
        let mut search = Search {
            wanted: parameters.iter().map(|one| Parameter::of(label(facts, *one).unwrap_or_default())).collect(),
            given: arguments.iter().map(|one| label(given, *one).unwrap_or_default()).collect(),
            is_strict: true,
            failed: vec![false; (parameters.len() + 1) * (arguments.len() + 1)],
            found: Vec::new(),
        };
        if search.goes(0, 0) {
            return Some(search.found);
        }
        search.is_strict = false;
        search.failed.fill(false);
        search.goes(0, 0).then_some(search.found)
    }

    /// The arguments by which a callee was chosen; `None` if it was not chosen by any.
    pub fn chosen_by(&self, file: u32, callee: ExpressionId) -> Option<&'a [ExpressionId]> {
        let facts = self.facts(file);
        let mut it = facts.expressions[callee.row()];
        // Expressions only refer to earlier ones, so this ends.
        loop {
            let next = match it.op {
                Op::Fitting => return Some(facts.list(ListId(it.b))),
                Op::Extension | Op::Else => ExpressionId(it.a),
                Op::Union => *facts.list(ListId(it.a)).last()?,
                _ => return None,
            };
            it = facts.expressions[next.row()];
        }
    }

    /// The parameter index of argument number `argument` of a callee.
    pub fn place_of(&self, def: Def, file: u32, callee: ExpressionId, argument: usize) -> Option<usize> {
        let arguments = self.chosen_by(file, callee);
        match arguments.filter(|arguments| self.counts_labels(file, arguments, &[def])) {
            Some(arguments) => self.places(def, file, arguments)?.get(argument).copied(),
            None => Some(argument),
        }
    }
}
