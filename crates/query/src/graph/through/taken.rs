//! Where code calls what a field, table or container holds: the name, keys or an index, and a call.

use super::put::{Key, Spot};
use super::tokens::Code;

/// Methods that run a function that is a value.
const RUNNING: &[&str] = &[
    "accept",
    "apply",
    "applyAsDouble",
    "applyAsInt",
    "applyAsLong",
    "call",
    "compare",
    "execute",
    "get",
    "getAsInt",
    "handle",
    "invoke",
    "Invoke",
    "run",
    "test",
];
/// Methods that give an element of a container.
const GIVING: &[&str] = &["at", "find", "first", "get", "getOrDefault", "last", "pop", "shift", "unwrap"];
/// Methods that give all elements of a container, in a loop over it.
const GIVING_ALL: &[&str] = &["entries", "entrySet", "iter", "items", "values"];
/// Methods that pass each element of a container to a function.
const PASSING: &[&str] = &["each", "every", "filter", "forEach", "for_each", "map", "reduce", "some"];
/// Words before a container in a loop over it.
const OVER: &[&str] = &["of", "in", "range"];

fn is_one_of(code: &Code<'_>, token: usize, words: &[&str]) -> bool {
    code.word(token).is_some_and(|own| words.iter().any(|word| word.as_bytes() == own))
}

/// Whether a value that ends before a token is called there: `f(`, `(f)(`, `f.call(`, `f?.(`, `f!(`.
pub(super) fn is_called(code: &Code<'_>, mut next: usize) -> bool {
    // Parentheses that hold the value alone, not the arguments of a call.
    while code.is(next, b')') {
        let is_own = code.partner(next).is_some_and(|open| {
            open.checked_sub(1).is_none_or(|before| {
                code.mark(before).is_some_and(|mark| mark != b')' && mark != b']')
                    || is_one_of(code, before, &["return", "await", "defer", "else", "do"])
                    || code.ends_line(before)
            })
        });
        if !is_own {
            return false;
        }
        next += 1;
    }
    if code.is(next, b'!') && code.is(next + 1, b'!') {
        next += 2;
    } else if code.is(next, b'!') || code.is(next, b'?') {
        next += 1;
    }
    if code.is(next, b'(') {
        return true;
    }
    code.is(next, b'.') && (code.is(next + 1, b'(') || is_one_of(code, next + 1, RUNNING) && code.is(next + 2, b'('))
}

/// The first bytes of the places that call what is under some keys of a name, which is a token.
pub(super) fn called(spot: Spot<'_, '_>, name: usize, path: &[Key]) -> Vec<u32> {
    let code = spot.code;
    let Some((next, left)) = reached(code, name + 1, path) else { return Vec::new() };
    if left.is_empty() && is_called(code, next) {
        return vec![code.at(name)];
    }
    if is_one_of(code, next + 1, PASSING) && code.is(next, b'.') && code.is(next + 2, b'(') {
        return passed(code, next + 2, left);
    }
    let first = code.start_of_value(name);
    let Some(before) = first.checked_sub(1) else { return Vec::new() };
    if let Some(local) = assigned_local(code, before) {
        return calls_of_local(code, next, code.len(), local, left);
    }
    let is_over = is_one_of(code, before, OVER) || code.is(before, b':') && is_in_loop(code, before);
    match left.split_first().filter(|_| is_over) {
        Some((_, rest)) => {
            let mark = if code.is(before, b':') {
                before
            } else {
                (0..=before).rev().find(|at| is_one_of(code, *at, OVER)).unwrap_or(before)
            };
            let local = loop_variable(code, mark);
            local.map_or_else(Vec::new, |local| calls_of_local(code, next, code.len(), local, rest))
        }
        None => Vec::new(),
    }
}

/// The token behind the keys and indices that follow a name, with the keys that are left. `None` where another key is
/// written.
fn reached<'k>(code: &Code<'_>, mut next: usize, mut path: &'k [Key]) -> Option<(usize, &'k [Key])> {
    while let Some((key, rest)) = path.split_first() {
        while code.is(next, b'!') || code.is(next, b'?') {
            next += 1;
        }
        if code.is(next, b'[') {
            let close = code.partner(next)?;
            fits(code, next, close, key)?;
            (next, path) = (close + 1, rest);
            continue;
        }
        let dot = if code.is_pair(next + 1, b"->") { next + 1 } else { next };
        if !code.is(dot, b'.') && dot == next {
            break;
        }
        let is_method = code.is(dot + 2, b'(');
        if is_method && is_one_of(code, dot + 1, GIVING) {
            let close = code.partner(dot + 2)?;
            fits(code, dot + 2, close, key)?;
            (next, path) = (close + 1, rest);
        } else if key.as_ref().is_some_and(|key| code.word(dot + 1) == Some(key.as_bytes())) {
            (next, path) = (dot + 2, rest);
        } else if is_method && is_one_of(code, dot + 1, GIVING_ALL) {
            next = code.partner(dot + 2)? + 1;
        } else {
            break;
        }
    }
    Some((next, path))
}

/// Whether what stands in brackets may be a key; `None` if it is another one.
fn fits(code: &Code<'_>, open: usize, close: usize, key: &Key) -> Option<()> {
    let written = code.literal(open + 1).filter(|_| open + 2 == close || code.is(open + 2, b','));
    match (written, key) {
        (Some(written), Some(key)) => (written == key.as_bytes()).then_some(()),
        _ => Some(()),
    }
}

/// The local name to which what stands behind a mark is assigned.
fn assigned_local<'a>(code: &Code<'a>, mark: usize) -> Option<&'a [u8]> {
    if !code.is(mark, b'=') {
        return None;
    }
    let mut last = mark.checked_sub(1)?;
    if code.is(last, b':') && code.touches(last) {
        last = last.checked_sub(1)?;
    }
    // `handler, known := handlers[name]`
    while last > 1
        && code.is(last - 1, b',')
        && code.opening(last) == code.opening(mark)
        && code.word(last - 2).is_some()
    {
        last -= 2;
    }
    let is_member = last.checked_sub(1).is_some_and(|before| code.is(before, b'.') || code.is(before, b'>'));
    code.word(last).filter(|_| !is_member)
}

/// Whether a colon stands in the head of a loop: `for (auto& handler : handlers)`.
fn is_in_loop(code: &Code<'_>, mark: usize) -> bool {
    code.opening(mark)
        .and_then(|open| open.checked_sub(1))
        .is_some_and(|word| is_one_of(code, word, &["for", "foreach"]))
}

/// The variable of a loop: the last one before the mark or word that names what it goes over.
fn loop_variable<'a>(code: &Code<'a>, mark: usize) -> Option<&'a [u8]> {
    (0..mark).rev().take(4).find_map(|at| code.word(at).filter(|word| *word != b"range"))
}

/// The places between two tokens where a local name, or what is under the keys that are left of it, is called.
fn calls_of_local(code: &Code<'_>, from: usize, to: usize, local: &[u8], path: &[Key]) -> Vec<u32> {
    let is_it = |at: &usize| {
        let is_member = at.checked_sub(1).is_some_and(|before| code.is(before, b'.'));
        code.word(*at) == Some(local) && !is_member
    };
    let mut found = Vec::new();
    for at in (from..to).filter(is_it) {
        // Another value is assigned.
        if code.is(at + 1, b'=') && !code.is(at + 2, b'=') && !code.is(at + 2, b'>') {
            break;
        }
        if reached(code, at + 1, path).is_some_and(|(next, left)| left.is_empty() && is_called(code, next)) {
            found.push(code.at(at));
        }
    }
    found
}

/// Calls in a function that is given each element: `handlers.forEach((handler) => handler(event))`.
fn passed(code: &Code<'_>, open: usize, path: &[Key]) -> Vec<u32> {
    let Some((_, rest)) = path.split_first() else { return Vec::new() };
    let Some(close) = code.partner(open) else { return Vec::new() };
    let first = (open + 1..close).find(|at| code.word(*at).is_some_and(|word| word != b"function"));
    let Some((first, local)) = first.and_then(|first| Some((first, code.word(first)?))) else { return Vec::new() };
    calls_of_local(code, first + 1, close, local, rest)
}
