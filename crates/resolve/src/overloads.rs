//! Overloads: chooses among definitions of one name by a call's arguments. It follows Java's rules as far as the
//! argument types are known.

use std::rc::Rc;

use super::names::{Def, Meaning, Resolver};
use super::values::Value;
use codelode_lang::facts::{
    ANY_NUMBER, BindingKind, ClassNames, DefinitionId, DefinitionKind, ExpressionId, ListId, NONE, NameId, Op,
    PROPERTY, STANDS_IN, ScopeId, ScopeKind, UNKNOWN,
};

/// The type of an argument or of a parameter, as far as known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type<'a> {
    Unknown,
    /// One of these classes of the project.
    Ours(Vec<Def>),
    /// A type outside the project, by its last name: `int`, `String`.
    Outside(&'a str),
    /// An external generic type with project classes as its argument: `List<Order>`.
    Filled(&'a str, Vec<Def>),
    Array,
}

impl Type<'_> {
    /// The type without its type argument.
    fn plain(self) -> Self {
        if let Self::Filled(name, _) = self { Self::Outside(name) } else { self }
    }
}

/// The longest chain of variables followed to find a type.
const DEEPEST: usize = 6;
/// The most arguments compared.
const MOST_ARGUMENTS: usize = 12;

const PRIMITIVES: &[&str] = &["boolean", "byte", "short", "char", "int", "long", "float", "double"];
/// Further types without subtypes: final classes and boxed primitives.
const FINAL: &[&str] = &["String", "Int", "Char", "ByteArray", "CharArray", "IntArray", "LongArray", "UInt", "ULong"];
const BOXES: &[&str] = &["Boolean", "Byte", "Short", "Character", "Integer", "Long", "Float", "Double"];

impl<'a> Resolver<'a> {
    /// The meanings of a callee. Among functions of one name, the best fit for the arguments.
    pub fn fitting(&mut self, file: u32, callee: ExpressionId, arguments: ListId) -> Vec<Meaning> {
        let meant = self.received(file, callee);
        let labels = self.counts_labels(file, self.facts(file).list(arguments), &[]);
        // The value of a property may be called, too.
        let is_function = |resolver: &Self, meaning: &Meaning| match meaning {
            Meaning::Definition(def) => {
                let definition = resolver.definition(*def);
                definition.kind == DefinitionKind::Function && (!labels || definition.flags & PROPERTY == 0)
            }
            _ => false,
        };
        if !meant.iter().any(|meaning| is_function(self, meaning)) {
            return meant.to_vec();
        }
        let arguments: &[ExpressionId] = self.facts(file).list(arguments);
        let mut given: Option<Vec<Type<'a>>> = None;
        let mut best: Option<(i32, Vec<Def>)> = None;
        let mut by_labels = false;
        // A base's function must fit better than a nearer one, which otherwise overrides it.
        for candidates in self.candidates(file, callee, &meant) {
            let mut nearest: Option<(i32, Vec<Def>)> = None;
            by_labels |= self.counts_labels(file, arguments, &candidates);
            for def in candidates {
                let Some(places) = self.places(def, file, arguments) else { continue };
                let given = match &given {
                    Some(given) => given.clone(),
                    None => {
                        let types = arguments.iter().take(MOST_ARGUMENTS);
                        let types: Vec<Type<'a>> = types.map(|one| self.type_of_value(file, *one, 0)).collect();
                        given.insert(types).clone()
                    }
                };
                let Some(score) = self.fit(def, &given, &places) else { continue };
                match &mut nearest {
                    Some((most, _)) if score < *most => {}
                    Some((most, all)) if score == *most => all.push(def),
                    _ => nearest = Some((score, vec![def])),
                }
            }
            if let Some((score, _)) = &nearest
                && best.as_ref().is_none_or(|(most, _)| score > most)
            {
                best = nearest;
            }
        }
        // If labels count, a function with other labels is not meant.
        let best = match best {
            Some((_, best)) => best,
            None if by_labels => Vec::new(),
            None => return meant.to_vec(),
        };
        let only_functions = by_labels && !best.is_empty();
        let others = meant.iter().filter(|meaning| !only_functions && !is_function(self, meaning));
        others.copied().chain(best.into_iter().map(Meaning::Definition)).collect()
    }

    /// The functions and properties of a name that extend the type of a member's receiver.
    pub fn extending(&mut self, file: u32, member: ExpressionId, named: ExpressionId) -> Vec<Meaning> {
        let facts = self.facts(file);
        let (mut it, name) = (facts.expressions[member.row()], facts.expressions[named.row()]);
        let arguments = (it.op == Op::Fitting).then(|| facts.list(ListId(it.b)));
        if it.op == Op::Fitting {
            it = facts.expressions[it.a as usize];
        }
        if it.op != Op::Member || name.op != Op::Name {
            return Vec::new();
        }
        let mut given: Option<(Type<'a>, Vec<Type<'a>>)> = None;
        let mut scope = ScopeId(name.a);
        while scope != ScopeId::NONE && self.work(1) {
            let mut best: Option<(i32, Vec<Meaning>)> = None;
            for meaning in self.lookup(file, scope, NameId(name.b)).0 {
                let Meaning::Definition(def) = meaning else { continue };
                let definition = self.definition(def);
                let extends = definition.kind == DefinitionKind::Function && definition.alias != UNKNOWN;
                let places = arguments.map_or_else(|| Some(Vec::new()), |all| self.places(def, file, all));
                let Some(places) = places.filter(|_| extends) else { continue };
                let (receiver, rest) = match &given {
                    Some(given) => given.clone(),
                    None => {
                        let all = arguments.unwrap_or_default().iter().take(MOST_ARGUMENTS);
                        let all = all.map(|one| self.type_of_value(file, *one, 0)).collect();
                        given.insert((self.type_of_value(file, ExpressionId(it.a), 0).plain(), all)).clone()
                    }
                };
                let score = match definition.flags & STANDS_IN {
                    0 => self.receives(def, &receiver),
                    _ => self.receives_known(def, file, ExpressionId(it.a), &receiver),
                };
                let Some(score) = score else { continue };
                let Some(fit) = self.fit(def, &rest, &places) else { continue };
                let score = score * 100 + fit;
                match &mut best {
                    Some((most, _)) if score < *most => {}
                    Some((most, all)) if score == *most => all.push(meaning),
                    _ => best = Some((score, vec![meaning])),
                }
            }
            if let Some((_, best)) = best {
                // For an unknown receiver, only functions that all extend one type are safe.
                let is_known = given.as_ref().is_some_and(|(receiver, _)| *receiver != Type::Unknown)
                    || best.iter().all(|one| self.needs_known(*one));
                let mut extended: Vec<Type<'a>> = best.iter().map(|one| self.extended_by(*one)).collect();
                extended.dedup();
                return if is_known || extended.len() == 1 { best } else { Vec::new() };
            }
            // Continue outside the enclosing class.
            while let Some(at) = facts.scopes.get(scope.row()).filter(|at| at.kind != ScopeKind::Class) {
                scope = at.parent;
            }
            scope = facts.scopes.get(scope.row()).map_or(ScopeId::NONE, |class| class.parent);
        }
        Vec::new()
    }

    /// The type that a function extends.
    fn extended_by(&mut self, meaning: Meaning) -> Type<'a> {
        match meaning {
            Meaning::Definition(def) if self.definition(def).alias != UNKNOWN => {
                self.type_written(def.file, self.definition(def).alias)
            }
            _ => Type::Unknown,
        }
    }

    /// The meanings of a callee. Extension functions called without a receiver must extend an enclosing class.
    fn received(&mut self, file: u32, callee: ExpressionId) -> Rc<[Meaning]> {
        let meant = self.meaning(file, callee);
        let facts = self.facts(file);
        let it = facts.expressions[callee.row()];
        let extends = |resolver: &Self, meaning: &Meaning| match *meaning {
            Meaning::Definition(def) => {
                let definition = resolver.definition(def);
                definition.kind == DefinitionKind::Function && definition.alias != UNKNOWN
            }
            _ => false,
        };
        if it.op != Op::Name || meant.len() < 2 || !meant.iter().any(|meaning| extends(self, meaning)) {
            return meant;
        }
        let mut around = Vec::new();
        let mut scope = ScopeId(it.a);
        while scope != ScopeId::NONE && around.len() < MOST_ARGUMENTS && self.work(1) {
            let at = &facts.scopes[scope.row()];
            if at.class != DefinitionId::NONE {
                let class = self.extended(Def { file, place: at.class });
                around.push(Type::Ours(vec![class]));
                // An anonymous class may stand for a value of its external base.
                if self.definition(class).at == NONE {
                    for base in facts.list(self.definition(class).bases).iter().take(1) {
                        let written = self.type_written(file, *base);
                        let is_type = written != Type::Unknown;
                        around.push(if is_type { written } else { self.type_of_value(file, *base, 0).plain() });
                    }
                }
            }
            scope = at.parent;
        }
        let mut best: Option<i32> = None;
        let mut scores = Vec::with_capacity(meant.len());
        for meaning in meant.iter() {
            let score = match *meaning {
                Meaning::Definition(def) if extends(self, meaning) => {
                    around.iter().filter_map(|given| self.receives(def, given)).max()
                }
                _ => None,
            };
            best = best.max(score);
            scores.push(score);
        }
        let Some(best) = best else { return meant };
        let is_kept = |(meaning, score): &(&Meaning, Option<i32>)| *score == Some(best) || !extends(self, meaning);
        meant.iter().zip(scores).filter(is_kept).map(|(meaning, _)| *meaning).collect()
    }

    /// The score of a function that extends values of this type; `None` if it does not, or if that depends on the
    /// value.
    fn receives(&mut self, def: Def, given: &Type<'a>) -> Option<i32> {
        let wanted = self.type_written(def.file, self.definition(def).alias);
        match (given, &wanted) {
            (Type::Unknown | Type::Outside(_), Type::Ours(_)) => None,
            (_, Type::Outside("Any")) => Some(1),
            (Type::Array, Type::Outside(_)) | (_, Type::Array) => Some(0),
            _ => self.fits(given, &wanted),
        }
    }

    fn needs_known(&self, meaning: Meaning) -> bool {
        matches!(meaning, Meaning::Definition(def) if self.definition(def).flags & STANDS_IN != 0)
    }

    /// The score of a function that extends an external type, for a value known to be of that type.
    fn receives_known(&mut self, def: Def, file: u32, on: ExpressionId, given: &Type<'a>) -> Option<i32> {
        let Type::Outside(wanted) = self.type_written(def.file, self.definition(def).alias) else { return None };
        match given {
            Type::Ours(classes) => classes.iter().any(|class| self.conforms(*class, wanted)).then_some(4),
            Type::Outside(given) | Type::Filled(given, _) if *given == wanted => Some(6),
            Type::Outside(given) | Type::Filled(given, _) => self.is_above(given, wanted).then_some(4),
            Type::Array => None,
            // The receiver is the type itself, by a name that the project does not define.
            Type::Unknown => {
                let facts = self.facts(file);
                let it = facts.expressions[on.row()];
                let is_it = it.op == Op::Name && facts.name(NameId(it.b)) == wanted;
                (is_it && self.meaning(file, on).is_empty()).then_some(6)
            }
        }
    }

    /// Whether an external type is a supertype of another.
    fn is_above(&self, name: &str, wanted: &str) -> bool {
        self.semantics.above.iter().any(|(one, above)| *one == name && above.contains(&wanted))
    }

    /// Whether a class is declared to derive from an external type.
    fn conforms(&mut self, class: Def, wanted: &str) -> bool {
        for one in self.order(class).iter() {
            for part in std::iter::once(*one).chain(self.extensions_to(*one)) {
                for base in self.list(part.file, self.definition(part).bases) {
                    let Type::Outside(name) = self.type_written(part.file, *base) else { continue };
                    if name == wanted || self.is_above(name, wanted) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// The candidate functions of a callee: first of the class itself, then of each base.
    fn candidates(&mut self, file: u32, callee: ExpressionId, meant: &[Meaning]) -> Vec<Vec<Def>> {
        let facts = self.facts(file);
        let it = facts.expressions[callee.row()];
        let mut classes = Vec::new();
        if it.op == Op::Member {
            classes.extend(self.value(file, ExpressionId(it.a)).iter().filter_map(|value| match *value {
                Value::Instance(class) | Value::Class(class) | Value::Super(class) => Some(class),
                _ => None,
            }));
        } else if it.op == Op::Name && self.semantics.class_names == ClassNames::Inherited {
            let mut scope = ScopeId(it.a);
            while scope != ScopeId::NONE && classes.is_empty() && self.work(1) {
                let class = self.extended(Def { file, place: facts.scopes[scope.row()].class });
                if class.place != DefinitionId::NONE
                    && !self.member(Value::Instance(class), facts.hashes[it.b as usize]).is_empty()
                {
                    classes.push(class);
                }
                scope = facts.scopes[scope.row()].parent;
            }
        }
        let as_function = |resolver: &Self, meaning: &Meaning| match meaning {
            Meaning::Definition(def) if resolver.definition(*def).kind == DefinitionKind::Function => Some(*def),
            _ => None,
        };
        let mut all = vec![meant.iter().filter_map(|meaning| as_function(self, meaning)).collect()];
        // Bases of a single receiver may have further overloads. Several receivers have unrelated functions.
        if let [class] = classes[..] {
            let name = facts.hashes[it.b as usize];
            for base in self.order(class).iter() {
                let own = self.own(*base, name);
                let functions = own.iter().filter_map(|meaning| as_function(self, meaning));
                all.push(functions.filter(|def| self.sees(file, *def)).collect());
            }
        }
        all
    }

    /// The score of a function for these argument types, each at its parameter; `None` if it cannot take them.
    fn fit(&mut self, def: Def, given: &[Type<'a>], places: &[usize]) -> Option<i32> {
        let definition = self.definition(def);
        let wanted = self.facts(def.file).list(definition.parameters);
        let is_open = definition.flags & ANY_NUMBER != 0;
        let fixed = if is_open { wanted.len().saturating_sub(1) } else { wanted.len() };
        // A function with exactly this number of parameters is preferred.
        let mut score = if is_open || given.len() < fixed { -1 } else { 0 };
        for (given, place) in given.iter().zip(places).filter(|(_, place)| **place < fixed) {
            let wanted = wanted.get(*place).map_or(Type::Unknown, |of| self.type_filled(def.file, *of));
            score += self.fits(given, &wanted)?;
        }
        Some(score)
    }

    fn fits(&mut self, given: &Type<'a>, wanted: &Type<'a>) -> Option<i32> {
        match (given, wanted) {
            (Type::Unknown, _) | (_, Type::Unknown) => Some(0),
            // Lists of different types do not match. If a bound is written, either type may be the supertype.
            (Type::Filled(given, of), Type::Filled(wanted, wanted_of)) if given == wanted => {
                let (of, wanted_of) = (Type::Ours(of.clone()), Type::Ours(wanted_of.clone()));
                self.fits(&of, &wanted_of).or_else(|| self.fits(&wanted_of, &of)).map(|_| 6)
            }
            (Type::Filled(given, _), _) => self.fits(&Type::Outside(given), wanted),
            (_, Type::Filled(wanted, _)) => self.fits(given, &Type::Outside(wanted)),
            (Type::Outside("null"), Type::Outside(wanted)) => (!is_primitive(wanted)).then_some(0),
            (Type::Outside("null"), _) => Some(0),
            (_, Type::Outside("Object" | "Any")) => Some(1),
            (Type::Ours(given), Type::Ours(wanted)) => {
                let same = given.iter().any(|one| wanted.contains(one));
                let derives =
                    |resolver: &mut Self, one: &Def| resolver.order(*one).iter().any(|base| wanted.contains(base));
                match same {
                    true => Some(6),
                    false => given.iter().any(|one| derives(self, one)).then_some(4),
                }
            }
            (Type::Ours(_), Type::Outside(wanted)) => {
                (!is_primitive(wanted) && !BOXES.contains(wanted) && !FINAL.contains(wanted)).then_some(0)
            }
            // External classes do not extend project classes, except for generated ones.
            (Type::Outside(given), Type::Ours(_)) => {
                (!is_primitive(given) && !BOXES.contains(given) && !FINAL.contains(given)).then_some(-2)
            }
            (Type::Outside(given), Type::Outside(wanted)) => outside(given, wanted),
            (Type::Array, Type::Array) => Some(4),
            (Type::Array, _) | (_, Type::Array) => None,
        }
    }

    /// The type of a value, by its variable's declaration or by the expression.
    fn type_of_value(&mut self, file: u32, expression: ExpressionId, depth: usize) -> Type<'a> {
        if expression == UNKNOWN || depth > DEEPEST {
            return Type::Unknown;
        }
        let facts = self.facts(file);
        let it = facts.expressions[expression.row()];
        if it.op == Op::Labeled {
            return self.type_of_value(file, ExpressionId(it.a), depth + 1);
        }
        if it.op == Op::Instance {
            return self.type_filled(file, ExpressionId(it.a));
        }
        if matches!(it.op, Op::Name | Op::Member | Op::Extension | Op::Uncalled) {
            return match self.meaning(file, expression)[..] {
                [] if it.op == Op::Name => match facts.name(NameId(it.b)) {
                    name if is_primitive(name) || matches!(name, "String" | "null") => Type::Outside(name),
                    _ => Type::Unknown,
                },
                [Meaning::Variable { file, binding }] => {
                    let binding = self.facts(file).bindings[binding as usize];
                    match ExpressionId(binding.b) {
                        _ if binding.kind == BindingKind::Narrowed => self.type_written(file, ExpressionId(binding.a)),
                        UNKNOWN if binding.kind != BindingKind::Parameter => {
                            self.type_of_value(file, ExpressionId(binding.a), depth + 1)
                        }
                        written => self.type_filled(file, written),
                    }
                }
                [Meaning::Definition(def)] if self.definition(def).flags & PROPERTY != 0 => {
                    let returns = self.definition(def).returns;
                    match self.type_filled(def.file, returns) {
                        Type::Unknown => self.known(file, expression),
                        written => written,
                    }
                }
                _ => self.known(file, expression),
            };
        }
        if it.op == Op::Element {
            return self.type_of_element(file, ExpressionId(it.a), expression);
        }
        if it.op == Op::Call {
            let mut types = Vec::new();
            for meaning in self.meaning(file, ExpressionId(it.a)).iter() {
                match *meaning {
                    Meaning::Definition(def) if self.definition(def).returns != UNKNOWN => {
                        let returns = self.definition(def).returns;
                        types.push(self.type_filled(def.file, returns));
                    }
                    _ => types.push(Type::Unknown),
                }
            }
            types.dedup();
            if let [only] = &types[..]
                && *only != Type::Unknown
            {
                return only.clone();
            }
        }
        self.known(file, expression)
    }

    /// The type of an element of a variable that is declared as an array.
    fn type_of_element(&mut self, file: u32, of: ExpressionId, element: ExpressionId) -> Type<'a> {
        if let [Meaning::Variable { file, binding }] = self.meaning(file, of)[..] {
            let facts = self.facts(file);
            let written = facts.expressions[ExpressionId(facts.bindings[binding as usize].b).row()];
            if written.op == Op::Generic
                && ExpressionId(written.a) == UNKNOWN
                && let [item] = *facts.list(ListId(written.b))
            {
                return self.type_written(file, item);
            }
        }
        self.known(file, element)
    }

    /// The project classes of a value.
    fn known(&mut self, file: u32, expression: ExpressionId) -> Type<'a> {
        let instances = self.value(file, expression);
        let classes: Vec<Def> = instances
            .iter()
            .filter_map(|value| if let Value::Instance(def) = value { Some(*def) } else { None })
            .collect();
        if classes.is_empty() || classes.len() < instances.len() { Type::Unknown } else { Type::Ours(classes) }
    }

    /// The type at a type position, with its only type argument if that is a project type.
    fn type_filled(&mut self, file: u32, of: ExpressionId) -> Type<'a> {
        let it = self.facts(file).expressions[of.row()];
        let arguments = if it.op == Op::Generic { self.facts(file).list(ListId(it.b)) } else { &[] };
        match (self.type_written(file, of), arguments) {
            (Type::Outside(name), [only]) => match self.type_written(file, *only) {
                Type::Ours(classes) => Type::Filled(name, classes),
                _ => Type::Outside(name),
            },
            (written, _) => written,
        }
    }

    /// The type at a type position.
    fn type_written(&mut self, file: u32, of: ExpressionId) -> Type<'a> {
        let facts = self.facts(file);
        let (mut of, mut it) = (of, facts.expressions[of.row()]);
        while matches!(it.op, Op::Generic | Op::Labeled) {
            if ExpressionId(it.a) == UNKNOWN || !self.work(1) {
                return if it.op == Op::Generic { Type::Array } else { Type::Unknown };
            }
            (of, it) = (ExpressionId(it.a), facts.expressions[it.a as usize]);
        }
        if it.op != Op::Name && it.op != Op::Member {
            return Type::Unknown;
        }
        let mut classes = Vec::new();
        let meant = self.meaning(file, of);
        for meaning in meant.iter() {
            match *meaning {
                Meaning::Definition(def) if self.definition(def).kind == DefinitionKind::Class => {
                    classes.extend((self.definition(def).flags & STANDS_IN == 0).then_some(def));
                }
                // A type parameter matches every type.
                _ => return Type::Unknown,
            }
        }
        // A type's name may follow a keyword.
        let name = facts.name(NameId(it.b));
        let name = name.rsplit_once(' ').map_or(name, |(_, name)| name);
        if classes.is_empty() { Type::Outside(name) } else { Type::Ours(classes) }
    }
}

fn is_primitive(name: &str) -> bool {
    PRIMITIVES.contains(&name)
}

/// The score of an external type for another one.
fn outside(given: &str, wanted: &str) -> Option<i32> {
    if given == wanted {
        return Some(6);
    }
    let place = |all: &[&str], name: &str| all.iter().position(|one| *one == name);
    let unboxed = |name: &str| place(BOXES, name).map(|at| PRIMITIVES[at]);
    let is_number = |name: &str| name != "boolean" && name != "char";
    let is_thrown = |name: &str| ["Exception", "Error", "Throwable"].iter().any(|end| name.ends_with(end));
    // A number fits wider number types. A character fits number types wider than itself.
    let widens = |given: &str, wanted: &str| {
        let wider = place(PRIMITIVES, given) < place(PRIMITIVES, wanted);
        given != "boolean" && is_number(wanted) && wider
    };
    match (is_primitive(given), is_primitive(wanted)) {
        (true, true) => widens(given, wanted).then_some(4),
        (true, false) if unboxed(wanted) == Some(given) => Some(2),
        (true, false) if wanted == "Number" => is_number(given).then_some(1),
        (true, false) => matches!(wanted, "Comparable" | "Serializable").then_some(1),
        (false, true) => match unboxed(given) {
            Some(given) => (given == wanted || widens(given, wanted)).then_some(2),
            // An unknown external type may be a subtype of many types, but not of a number.
            None => None,
        },
        (false, false) if FINAL.contains(&wanted) || BOXES.contains(&wanted) => None,
        (false, false) if given == "String" => {
            matches!(wanted, "CharSequence" | "Comparable" | "Serializable").then_some(3)
        }
        (false, false) if FINAL.contains(&given) => matches!(wanted, "Comparable" | "Number").then_some(3),
        (false, false) if wanted == "Throwable" => is_thrown(given).then_some(3),
        (false, false) if is_thrown(given) && !is_thrown(wanted) => None,
        (false, false) if wanted == "Number" && unboxed(given).is_some_and(is_number) => Some(3),
        _ => Some(0),
    }
}
