//! Where a function is stored: in a field, a table, a container, a parameter. Each is what stands beside its name.

use super::tokens::Code;
use super::{Place, Slot, Tables};
use codelode_base::model::{Detail, Kind, Role};
use codelode_store::{Edge, FileView, SymbolView};

/// Methods of containers that keep what they are given.
const KEEPING: &[&str] = &[
    "add",
    "addLast",
    "append",
    "emplace",
    "emplace_back",
    "extend",
    "insert",
    "push",
    "push_back",
    "put",
    "register",
    "set",
    "subscribe",
    "unshift",
    "update",
];
/// Words before a parenthesis that call nothing.
const NOT_CALLED: &[&str] = &[
    "if", "for", "while", "switch", "match", "return", "in", "of", "and", "or", "not", "elif", "when", "case", "await",
    "yield", "sizeof",
];
/// The most steps from one function to the next to which a parameter is passed.
const MOST_STEPS: u32 = 3;
/// The most places in a function where its parameter is read.
const MOST_PLACES: usize = 40;
/// The most tokens of a list of parameters.
const MOST_TOKENS: usize = 1_000;
/// The most tokens of the type of a variable.
const MOST_OF_TYPE: usize = 60;
/// The most brackets around a place that are looked through.
const MOST_BRACKETS: usize = 8;

/// A key of a table; `None` where it is not literal.
pub(super) type Key = Option<String>;

/// A table or container, with the keys that lead to a place in it.
struct Table<'a> {
    of: SymbolView<'a>,
    path: Vec<Key>,
}

/// A name in a piece of code that is read.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a, 'p> {
    pub file: FileView<'a>,
    pub code: &'p Code<'a>,
    /// The variable or function around it.
    pub around: Option<SymbolView<'a>>,
}

impl<'a> Spot<'a, '_> {
    fn text(&self, word: usize) -> String {
        String::from_utf8_lossy(self.code.word(word).unwrap_or_default()).into_owned()
    }

    /// The key that a token is.
    fn key(&self, token: usize) -> Key {
        let own = self.code.literal(token).or_else(|| self.code.word(token))?;
        Some(String::from_utf8_lossy(own).into_owned())
    }

    /// The key in brackets.
    fn key_in(&self, open: usize) -> Key {
        let close = self.code.partner(open)?;
        let literal = self.code.literal(open + 1).filter(|_| close == open + 2)?;
        Some(String::from_utf8_lossy(literal).into_owned())
    }
}

impl<'a> Tables<'a> {
    /// The places where the function is put whose name is a token.
    pub(super) fn slots(&self, spot: Spot<'a, '_>, name: usize, steps: u32) -> Vec<Slot<'a>> {
        let code = spot.code;
        let first = code.start_of_value(name);
        let is_told = code.is_whole(name) && self.works();
        let Some(before) = first.checked_sub(1).filter(|_| is_told) else { return Vec::new() };
        if let Some(left) = assigned(code, before) {
            let open = code.opening(name);
            // `target=f` among the arguments of a call.
            let is_argument = open.is_some_and(|open| open + 1 == left || code.is(left.wrapping_sub(1), b','));
            if let Some(open) = open.filter(|open| is_argument && code.is(*open, b'('))
                && let Some(callee) = callee(code, open)
            {
                return self.given(spot, callee, &Argument::Named(spot.text(left)), steps);
            }
            return self.left(spot, left, before).into_iter().map(Slot::of_place).collect();
        }
        let open = code.opening(name);
        match code.mark(before) {
            Some(b':' | b'>') => open.map(|open| self.keyed(spot, open, before, steps)).unwrap_or_default(),
            Some(b',' | b'{' | b'[' | b'(') => match open {
                Some(open) => self.element(spot, open, first, steps),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The field or table entry that ends with a token on the left of an assignment.
    fn left(&self, spot: Spot<'a, '_>, last: usize, assignment: usize) -> Option<Place<'a>> {
        let code = spot.code;
        let open = code.partner(last).filter(|open| code.is(*open, b'['));
        let table = open.and_then(|open| self.named_table(spot, open.checked_sub(1)?));
        if let (Some(open), Some(table)) = (open, table) {
            let is_declared = last == open + 1;
            let path = if is_declared { table.path } else { with(table.path, spot.key_in(open)) };
            return Some(Place::Entry { of: table.of, path });
        }
        if code.word(last).is_some() {
            match self.meant(spot.file, code.at(last)) {
                Some(field) if is_value(&field) => return Some(Place::Field(field)),
                // A property of an object that is added to it.
                None if last > 1 && code.is(last - 1, b'.') => {
                    let table = self.named_table(spot, last - 2)?;
                    return Some(Place::Entry { of: table.of, path: with(table.path, spot.key(last)) });
                }
                _ => {}
            }
        }
        if let Some(typed) = self.typed(spot, last) {
            return Some(Place::Field(typed));
        }
        // The type stands behind the name: `const run: Handler = f`.
        let own = spot.around.filter(is_value)?;
        let is_its = own.name_span().start < code.at(last) && code.opening(assignment).is_none();
        is_its.then_some(Place::Field(own))
    }

    /// The variable or field before the type that ends with a token: `self.handlers: Dict[str, Handler] = {}`.
    fn typed(&self, spot: Spot<'a, '_>, last: usize) -> Option<SymbolView<'a>> {
        let code = spot.code;
        if code.word(last).is_some() && self.edge_at(spot.file, code.at(last)).is_none_or(|it| it.role() != Role::Type)
        {
            return None;
        }
        let outer = code.opening(last);
        let is_end = |at: usize| code.mark(at).is_some_and(|mark| b"=;{}".contains(&mark));
        let before = (0..last).rev().take(MOST_OF_TYPE).take_while(|at| !is_end(*at));
        let mark = before.into_iter().find(|at| code.is(*at, b':') && code.opening(*at) == outer)?;
        let name = mark.checked_sub(1).filter(|_| !code.is_pair(mark, b"::"))?;
        code.word(name)?;
        self.meant(spot.file, code.at(name)).filter(is_value)
    }

    /// The variable or field that a word or an element of one is: `handlers`, `this.rules[kind]`.
    fn named_table(&self, spot: Spot<'a, '_>, mut last: usize) -> Option<Table<'a>> {
        let code = spot.code;
        let mut path = Vec::new();
        while code.is(last, b']') && path.len() < MOST_BRACKETS {
            let open = code.partner(last)?;
            path.push(spot.key_in(open));
            last = open.checked_sub(1)?;
        }
        path.reverse();
        code.word(last)?;
        let of = self.meant(spot.file, code.at(last)).filter(is_value)?;
        Some(Table { of, path })
    }

    /// `key: f` in braces, or the label of an argument.
    fn keyed(&self, spot: Spot<'a, '_>, open: usize, mark: usize, steps: u32) -> Vec<Slot<'a>> {
        let code = spot.code;
        let is_arrow = code.is_pair(mark, b"=>");
        let Some(key) = mark.checked_sub(1 + usize::from(is_arrow)) else { return Vec::new() };
        let is_first = key == open + 1 || key > 0 && code.is(key - 1, b',');
        let is_key = is_first && (is_arrow && code.is_text(key) || code.is(mark, b':') && !code.is_pair(mark, b"::"));
        if !is_key {
            return Vec::new();
        }
        if code.is(open, b'(') {
            let argument = Argument::Named(spot.text(key));
            return callee(code, open).map_or_else(Vec::new, |callee| self.given(spot, callee, &argument, steps));
        }
        let field = self.meant(spot.file, code.at(key)).filter(is_value);
        if let Some(field) = field
            && code.word(key).is_some()
            && field.name_span().start != code.at(key)
        {
            return vec![Slot::of_place(Place::Field(field))];
        }
        let table = self.holder(spot, open, MOST_BRACKETS);
        let entry = table.map(|table| Place::Entry { of: table.of, path: with(table.path, spot.key(key)) });
        entry.or(field.map(Place::Field)).map(Slot::of_place).into_iter().collect()
    }

    /// An element of a list, a record or the arguments of a call.
    fn element(&self, spot: Spot<'a, '_>, open: usize, first: usize, steps: u32) -> Vec<Slot<'a>> {
        let code = spot.code;
        let place = code.position(open, first);
        if code.is(open, b'(')
            && let Some(callee) = callee(code, open)
        {
            return self.given(spot, callee, &Argument::Placed(place), steps);
        }
        if code.is(open, b'{') {
            let named = open.checked_sub(1).and_then(|before| self.meant(spot.file, code.at(before)));
            let is_short = spot.file.conventions().shorthand;
            let own = |of: SymbolView<'a>| of.children().find(|own| Some(own.name_bytes()) == code.word(first));
            let field = if is_short { named.and_then(own) } else { named.and_then(|of| self.field_of(of, place)) };
            if let Some(field) = field.filter(is_value) {
                return vec![Slot::of_place(Place::Field(field))];
            }
        }
        let is_short = code.is(open, b'{') && spot.file.conventions().shorthand;
        if code.is(open, b'{')
            && !is_short
            && let Some((record, list)) = self.record_of(spot, open)
            && let Some(field) = self.field_of(record, place)
        {
            let label = list.map_or_else(|| briefly(&field), |list| format!("{list}[].{}", field.name()));
            return vec![Slot { label, place: Some(Place::Field(field)) }];
        }
        let Some(table) = self.holder(spot, open, MOST_BRACKETS) else { return Vec::new() };
        let key = if is_short { spot.key(first) } else { None };
        vec![Slot::of_place(Place::Entry { of: table.of, path: with(table.path, key) })]
    }

    /// The variable or field whose value has a bracket, with the keys that lead into it.
    fn holder(&self, spot: Spot<'a, '_>, open: usize, most: usize) -> Option<Table<'a>> {
        let code = spot.code;
        let first = start_of_type(code, open);
        let before = first.checked_sub(1);
        let outer = code.opening(open);
        if let Some(left) = before.and_then(|before| assigned(code, before)) {
            return match self.left(spot, left, before?)? {
                Place::Field(of) => Some(Table { of, path: Vec::new() }),
                Place::Entry { of, path } => Some(Table { of, path }),
                Place::Called { .. } => None,
            };
        }
        let outer = match outer.filter(|_| most > 0) {
            Some(outer) => outer,
            // `var ops = []op{…}`, `static LIST: [fn(); 2] = […]`.
            None => {
                let own = spot.around.filter(is_value)?;
                return (own.name_span().start < code.at(open)).then_some(Table { of: own, path: Vec::new() });
            }
        };
        match code.mark(before?) {
            Some(b':') if !code.is_pair(before?, b"::") => {
                let key = before?.checked_sub(1)?;
                let table = self.holder(spot, outer, most - 1)?;
                Some(Table { of: table.of, path: with(table.path, spot.key(key)) })
            }
            Some(b',' | b'{' | b'[' | b'(') if code.is(outer, b'(') && callee(code, outer).is_some() => {
                let callee = callee(code, outer)?;
                let table = self.kept_by(spot, callee)?;
                // `funcs.update({…})` adds the entries, `rules.push([…])` the list.
                let is_merged = code.is(open, b'{') || code.word(callee) == Some(b"extend");
                let path = if is_merged { table.path } else { with(table.path, None) };
                Some(Table { of: table.of, path })
            }
            Some(b',' | b'{' | b'[' | b'(') | None => {
                let table = self.holder(spot, outer, most - 1)?;
                // Parentheses around one value are no list.
                let is_list = !code.is(open, b'(') || code.position(open, code.partner(open)?) > 0;
                Some(Table { of: table.of, path: if is_list { with(table.path, None) } else { table.path } })
            }
            _ => None,
        }
    }

    /// The container that a method keeps its argument in.
    fn kept_by(&self, spot: Spot<'a, '_>, callee: usize) -> Option<Table<'a>> {
        let code = spot.code;
        let is_kept = code.word(callee).is_some_and(|word| KEEPING.iter().any(|own| own.as_bytes() == word));
        let dot = callee.checked_sub(1).filter(|dot| is_kept && code.is(*dot, b'.'))?;
        self.named_table(spot, dot.checked_sub(1)?)
    }

    /// The slots of an argument of a call: where the function that is called puts its parameter, and where it calls it.
    fn given(&self, spot: Spot<'a, '_>, callee: usize, argument: &Argument, steps: u32) -> Vec<Slot<'a>> {
        let code = spot.code;
        let meant = self.all_meant(spot.file, code.at(callee));
        if let Some(field) = meant.iter().find(|own| is_value(own)) {
            // `: field(given)` before the body of a constructor.
            let is_begun = callee.checked_sub(1).is_some_and(|before| code.is(before, b':') || code.is(before, b','));
            let is_member = is_begun && code.opening(callee).is_none();
            return is_member.then(|| Slot::of_place(Place::Field(*field))).into_iter().collect();
        }
        let mut found = Vec::new();
        for function in meant.iter().flat_map(|of| self.run_by(of, argument)) {
            if steps < MOST_STEPS {
                found.extend(self.slots_of_parameter(&function, argument, steps + 1));
            }
        }
        if meant.is_empty()
            && let Some(table) = self.kept_by(spot, callee)
        {
            // `handlers.put("open", f)`
            let first = callee + 2;
            let is_keyed = matches!(argument, Argument::Placed(1)) && code.is_text(first) && code.is(first + 1, b',');
            let key = if is_keyed { spot.key(first) } else { None };
            return vec![Slot::of_place(Place::Entry { of: table.of, path: with(table.path, key) })];
        }
        if found.is_empty() {
            let receiver = callee.checked_sub(2).filter(|_| code.is(callee - 1, b'.'));
            let receiver = receiver.and_then(|of| code.word(of).map(|_| spot.text(of) + "."));
            let label = format!("{}{}()", receiver.unwrap_or_default(), spot.text(callee));
            found.push(Slot { label, place: None });
        }
        found
    }

    /// The slots of what a decorator is given: of its parameter, or where it is called itself, of the parameter of what
    /// it returns.
    pub(super) fn slots_of_decorator(&self, file: FileView<'a>, edge: &Edge) -> Vec<Slot<'a>> {
        let is_called = file.content().get(edge.at as usize + edge.len()) == Some(&b'(');
        let is_code = |own: &SymbolView<'a>| matches!(own.kind(), Kind::Function | Kind::Method);
        let mut found = Vec::new();
        for function in self.all_meant(file, edge.at).into_iter().filter(is_code) {
            let run = if is_called { function.children().filter(is_code).collect() } else { vec![function] };
            found.extend(run.iter().flat_map(|own| self.slots_of_parameter(own, &Argument::Placed(0), 1)));
        }
        found.retain(|slot| slot.place.is_some());
        found
    }

    /// The functions that a call of a symbol runs: itself, or the constructors of a class.
    fn run_by(&self, of: &SymbolView<'a>, argument: &Argument) -> Vec<SymbolView<'a>> {
        let mut run = match of.kind() {
            Kind::Function | Kind::Method => vec![*of],
            Kind::Class | Kind::Type => {
                let rules = of.file.conventions();
                let is_one = |member: &SymbolView<'a>| {
                    member.detail() == Detail::Constructor || rules.constructors.contains(&&*member.name())
                };
                let all: Vec<SymbolView<'a>> = of.children().filter(is_one).collect();
                if all.is_empty() { vec![*of] } else { all }
            }
            _ => Vec::new(),
        };
        run.retain(|function| !self.parameters(function, argument).is_empty());
        run
    }

    /// Words of the parameter that an argument is given for.
    fn parameters(&self, function: &SymbolView<'a>, argument: &Argument) -> Vec<u32> {
        let Some(code) = self.piece_of(function) else { return Vec::new() };
        let Some(name) = code.token_at(function.name_span().start) else { return Vec::new() };
        let end = function.signature_source().len() as u32 + function.signature_start();
        let Some(open) = (name + 1..code.len()).find(|at| code.is(*at, b'(')) else { return Vec::new() };
        let Some(close) = code.partner(open).filter(|_| code.at(open) < end) else { return Vec::new() };
        if close - open > MOST_TOKENS {
            return Vec::new();
        }
        let is_own = |at: &usize| code.opening(*at) == Some(open);
        let receives = matches!(code.word(open + 1), Some(b"self" | b"cls")) || code.is(open + 1, b'&');
        let mut words = Vec::new();
        for at in open + 1..close {
            let Some(word) = code.word(at) else { continue };
            let direct = std::iter::successors(Some(at), |at| code.opening(*at)).find(is_own).unwrap_or(at);
            let is_it = match argument {
                Argument::Placed(place) => position_of_parameter(&code, open, direct) == place + usize::from(receives),
                Argument::Named(name) => word == name.as_bytes() && direct == at,
            };
            if is_it {
                words.push(code.at(at));
            }
        }
        words
    }

    /// Where a function puts its parameter, and the lines that call it.
    fn slots_of_parameter(&self, function: &SymbolView<'a>, argument: &Argument, steps: u32) -> Vec<Slot<'a>> {
        let Some(code) = self.piece_of(function) else { return Vec::new() };
        let spot = Spot { file: function.file, code: &code, around: Some(*function) };
        let mut found = Vec::new();
        for own in self.parameters(function, argument) {
            let Some(token) = code.token_at(own) else { continue };
            // A parameter that is a field at once: `class Timer(val run: () -> Unit)`.
            if let Some(field) = self.defined_at(function.file, own).filter(is_value) {
                found.push(Slot::of_place(Place::Field(field)));
            }
            let Some(word) = code.word(token) else { continue };
            let is_type = self.edge_at(function.file, own).is_some_and(|edge| edge.role() == Role::Type);
            if is_type {
                continue;
            }
            let end = code.token_at(function.name_span().start).and_then(|name| body_of(&code, name)).unwrap_or(token);
            let places = (end..code.len()).filter(|at| code.word(*at) == Some(word)).take(MOST_PLACES);
            let mut called = Vec::new();
            for at in places {
                // A member of the same name is another thing.
                if at > 0 && code.is(at - 1, b'.') || self.is_bound(function.file, code.at(at)) {
                    continue;
                }
                if super::taken::is_called(&code, at + 1) {
                    called.push(code.at(at));
                } else {
                    found.extend(self.slots(spot, at, steps).into_iter().filter(|slot| slot.place.is_some()));
                }
            }
            if !called.is_empty() {
                found.push(Slot::of_place(Place::Called { by: *function, at: called }));
            }
        }
        found
    }

    /// The type of a record in braces, by the declaration of the variable that holds it, and that variable's name if it is
    /// a list of records.
    fn record_of(&self, spot: Spot<'a, '_>, open: usize) -> Option<(SymbolView<'a>, Option<String>)> {
        let code = spot.code;
        let outer = code.opening(open);
        let begun = |open: usize| {
            let mark = start_of_type(code, open).checked_sub(1)?;
            assigned(code, mark).map(|left| (open, left))
        };
        let (body, mut left) = begun(open).or_else(|| outer.and_then(begun))?;
        let begins = (0..left).rev().find(|at| code.mark(*at).is_some_and(|mark| b";}{".contains(&mark)));
        let head = begins.map_or(0, |at| at + 1)..body;
        let is_list = head.clone().any(|at| code.mark(at).is_some_and(|mark| b"[<".contains(&mark)));
        if is_list != (body != open) {
            return None;
        }
        while let Some(open) = code.partner(left) {
            left = open.checked_sub(1)?;
        }
        let is_type = |at: &usize| self.edge_at(spot.file, code.at(*at)).is_some_and(|it| it.role() == Role::Type);
        let record = head.rev().filter(is_type).find_map(|at| self.meant(spot.file, code.at(at)))?;
        Some((record, is_list.then(|| spot.text(left))))
    }

    /// The field of a record at a position, by its declaration. Fields in unnamed parts make positions unsure.
    fn field_of(&self, mut of: SymbolView<'a>, place: usize) -> Option<SymbolView<'a>> {
        /// The most names of one type that are followed.
        const MOST_NAMES: usize = 4;
        for _ in 0..MOST_NAMES {
            if !matches!(of.kind(), Kind::Type | Kind::Class) {
                return None;
            }
            let code = self.piece_of(&of)?;
            let Some(body) = (0..code.len()).find(|at| code.is(*at, b'{') && code.opening(*at).is_none()) else {
                // Another name of a type, which is no type of functions.
                if (0..code.len()).any(|at| code.is(at, b'(')) {
                    return None;
                }
                of = self.types_in(&of).into_iter().find(|other| other.number() != of.number())?;
                continue;
            };
            let end = code.partner(body)?;
            let is_unnamed = |at: usize| {
                let is_ended = code.partner(at).is_some_and(|close| code.is(close + 1, b';'));
                is_ended && code.is(at, b'{') && !is_function_body(&code, at)
            };
            if (body + 1..end).filter(|at| code.opening(*at) == Some(body)).any(is_unnamed) {
                return None;
            }
            let (start, end) = (code.at(body), code.at(end));
            let is_direct = |field: &SymbolView<'a>| {
                let at = code.token_at(field.name_span().start);
                is_value(field) && at.is_some_and(|at| braces_around(&code, at) == Some(body))
            };
            let mut fields: Vec<SymbolView<'a>> = of
                .file
                .symbols()
                .filter(|own| (start..end).contains(&own.name_span().start))
                .filter(is_direct)
                .collect();
            fields.sort_by_key(|field| field.name_span().start);
            return fields.get(place).copied();
        }
        None
    }
}

/// The argument of a call.
enum Argument {
    Placed(usize),
    Named(String),
}

/// Whether a symbol holds a value: a variable or a field.
pub(super) fn is_value(symbol: &SymbolView<'_>) -> bool {
    symbol.kind() == Kind::Constant
}

fn with(mut path: Vec<Key>, key: Key) -> Vec<Key> {
    path.push(key);
    path
}

/// How a place in a table is told: `commands[]`, `funcs["add"]`, `handlers.open`.
pub(super) fn shown(of: &SymbolView<'_>, path: &[Key]) -> String {
    let mut text = briefly(of);
    for key in path {
        match key {
            None => text.push_str("[]"),
            Some(key) if key.starts_with(|first: char| first.is_alphabetic() || first == '_') && is_name(key) => {
                text.push_str(&format!(".{key}"));
            }
            Some(key) => text.push_str(&format!("[\"{key}\"]")),
        }
    }
    text
}

/// A name with that of its owner alone.
pub(super) fn briefly(of: &SymbolView<'_>) -> String {
    let name = of.qualified_name();
    let mut parts = name.rmatch_indices('.');
    parts.nth(1).map_or_else(|| name.clone(), |(at, _)| name[at + 1..].to_owned())
}

fn is_name(key: &str) -> bool {
    key.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The last token on the left of an assignment whose mark is a token; `None` if it compares or is none.
fn assigned(code: &Code<'_>, mark: usize) -> Option<usize> {
    if !code.is(mark, b'=') {
        return None;
    }
    let mut left = mark.checked_sub(1)?;
    while code.mark(left).is_some_and(|own| b":+?|&".contains(&own)) && code.touches(left) {
        left = left.checked_sub(1)?;
    }
    let compares = code.mark(left).is_some_and(|own| b"=!<>~".contains(&own)) && code.touches(left);
    (!compares).then_some(left)
}

/// The word that a parenthesis calls, before type arguments.
fn callee(code: &Code<'_>, open: usize) -> Option<usize> {
    let mut last = open.checked_sub(1)?;
    if code.is(last, b'>') {
        let begins =
            (0..last).rev().take(24).find(|at| code.is(*at, b'<') && code.opening(*at) == code.opening(last))?;
        last = begins.checked_sub(1)?;
    }
    let word = code.word(last)?;
    (!NOT_CALLED.iter().any(|own| own.as_bytes() == word)).then_some(last)
}

/// The first token of the type before a bracket: `map[string]Handler{`, `new Task[] {`, `&[`.
fn start_of_type(code: &Code<'_>, open: usize) -> usize {
    let mut first = open;
    while let Some(before) = first.checked_sub(1) {
        let is_typed = code.is(open, b'{') || code.mark(before) == Some(b'&') || code.word(before) == Some(b"new");
        first = match code.mark(before) {
            Some(b']' | b')') if is_typed => code.partner(before).unwrap_or(before),
            Some(b'.' | b'*' | b'&') if is_typed => before,
            Some(b':') if is_typed && (code.is_pair(before, b"::") || code.is_pair(before + 1, b"::")) => before,
            None if is_typed && !code.is_text(before) && code.word(before) != Some(b"return") => before,
            _ => return first,
        };
    }
    first
}

/// The number of parameters before a token; commas between type arguments count nothing.
fn position_of_parameter(code: &Code<'_>, open: usize, token: usize) -> usize {
    let (mut commas, mut depth) = (0, 0_usize);
    for at in (open + 1..token).filter(|at| code.opening(*at) == Some(open)) {
        match code.mark(at) {
            Some(b',') if depth == 0 => commas += 1,
            Some(b'<') => depth += 1,
            Some(b'>') if !code.is_pair(at, b"->") && !code.is_pair(at, b"=>") => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    commas
}

/// The token behind the parameters of a function.
fn body_of(code: &Code<'_>, name: usize) -> Option<usize> {
    let open = (name + 1..code.len()).find(|at| code.is(*at, b'('))?;
    code.partner(open).map(|close| close + 1)
}

/// The innermost braces around a token, through parentheses.
fn braces_around(code: &Code<'_>, token: usize) -> Option<usize> {
    std::iter::successors(code.opening(token), |at| code.opening(*at)).find(|at| code.is(*at, b'{'))
}

/// Whether braces follow the parameters of a function.
fn is_function_body(code: &Code<'_>, open: usize) -> bool {
    open.checked_sub(1).is_some_and(|before| code.is(before, b')'))
}
