//! Finds calls, decorators and annotations with a route in quotes. Only text is read, so it works for every language.

use std::collections::HashSet;

/// HTTP methods.
pub(super) const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/// Names of functions that register a handler for a route with any method.
const ROUTING: [&str; 11] = [
    "route",
    "handle",
    "handlefunc",
    "path",
    "re_path",
    "add_url_rule",
    "api_route",
    "add_api_route",
    "any",
    "all",
    "request",
];
/// Names of functions that add a prefix to several routes, and of decorators that do so above a class.
const GROUPING: [&str; 7] = ["group", "use", "nest", "mount", "scope", "namespace", "prefix"];
const OF_CLASSES: [&str; 4] = ["controller", "requestmapping", "path", "route"];
/// Limits in bytes: a route, the text between a call's name and its route, and the call's other arguments.
pub(super) const LONGEST_ROUTE: usize = 200;
const BEFORE: usize = 60;
const ARGUMENTS: usize = 400;

/// Quoted texts that may be routes, with their positions.
pub(super) fn literals(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let is_one = |text: &str| {
        let rest = text.split_once(' ').map_or(text, |(method, rest)| {
            let is_method = METHODS.contains(&method.to_ascii_lowercase().as_str());
            if is_method { rest } else { " " }
        });
        !rest.contains(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | ';' | '='))
    };
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = memchr::memchr3(b'"', b'\'', b'`', &bytes[at..]).map(|start| at + start) {
        at = start + 1;
        let near = &bytes[at..bytes.len().min(at + LONGEST_ROUTE)];
        let Some(length) = memchr::memchr2(bytes[start], b'\n', near) else { continue };
        if near[length] == bytes[start] && is_one(&text[at..at + length]) {
            found.push((at, &text[at..at + length]));
            at += length + 1;
        }
    }
    found
}

/// Whether a quoted text is a prefix of the routes of a router or class: `APIRouter(prefix="/users")`,
/// `app.use('/users', router)`, `@RequestMapping("/users")` above a class.
pub(super) fn is_prefix(text: &str, at: usize) -> bool {
    let before = &text[text.floor_char_boundary(at.saturating_sub(BEFORE))..at - 1];
    let key = before.trim_end().strip_suffix(['=', ':']).unwrap_or_default();
    let key = key.trim_end().rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next();
    if key.is_some_and(|key| key.to_ascii_lowercase().contains("prefix")) {
        return true;
    }
    let Some(Called { name, before, .. }) = Called::around(text, at) else { return false };
    let is_decorator = before.ends_with(['@', '[']);
    GROUPING.contains(&name.as_str()) || is_decorator && OF_CLASSES.contains(&name.as_str())
}

/// A call whose first argument, or whose route argument, is a quoted text.
struct Called<'t> {
    /// The last part of the call's name, in lower case.
    name: String,
    /// The text before the name.
    before: &'t str,
    /// The number of list brackets that open right before the text.
    lists: usize,
}

impl<'t> Called<'t> {
    fn around(text: &'t str, at: usize) -> Option<Self> {
        let whole = &text[text.floor_char_boundary(at.saturating_sub(BEFORE))..at - 1];
        let before = whole.trim_end_matches(|letter: char| letter.is_whitespace() || matches!(letter, '{' | '['));
        let lists = whole[before.len()..].matches(['{', '[']).count();
        // A route may be a named argument (`path = "/users"`), or stand in a list.
        let named = |key: &str| before.strip_suffix('=').and_then(|before| before.trim_end().strip_suffix(key));
        let before = ["path", "value", "rule", "route"].into_iter().find_map(named).unwrap_or(before);
        let before = before.trim_end().strip_suffix('(')?;
        let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':' | '!');
        let length = before.chars().rev().take_while(|letter| is_word(*letter)).map(char::len_utf8).sum::<usize>();
        let (before, name) = before.split_at(before.len() - length);
        Some(Self { name: name.rsplit(['.', ':']).next()?.to_ascii_lowercase(), before, lists })
    }
}

/// A call with a route.
pub(super) struct Call<'t> {
    /// The last part of its name, in lower case.
    pub name: String,
    /// The HTTP method in its name.
    pub method: Option<&'static str>,
    /// Whether it is a decorator, an annotation or an attribute.
    pub is_decorator: bool,
    /// The arguments after the route.
    rest: &'t str,
}

impl<'t> Call<'t> {
    /// The call around a quoted text, if it registers a route.
    pub fn around(text: &'t str, at: usize, literal: &str) -> Option<Self> {
        let Called { name, before, lists } = Called::around(text, at)?;
        let short = name.trim_start_matches("http").trim_start_matches("map").trim_end_matches("mapping");
        let method = METHODS.into_iter().find(|method| *method == short);
        if method.is_none() && !ROUTING.contains(&short) {
            return None;
        }
        let rest = &text[at + literal.len() + 1..];
        let rest = &rest[..rest.floor_char_boundary(ARGUMENTS)];
        let mut depth = 1 + lists;
        let end = rest.char_indices().find(|(_, letter)| {
            match letter {
                '(' | '{' | '[' => depth += 1,
                ')' | '}' | ']' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let end = end.map_or(rest.len(), |(end, _)| end);
        let is_attribute = || {
            let above = before.strip_suffix('[').filter(|_| rest[end..].starts_with(")]"));
            above.is_some_and(|above| above.rsplit('\n').next().is_some_and(|line| matches!(line.trim(), "" | "#")))
        };
        let is_decorator = before.ends_with('@') || is_attribute();
        Some(Self { name, method, is_decorator, rest: &rest[..end] })
    }

    /// Whether it handles an HTTP method, as far as its name, its other arguments or other decorators tell.
    pub fn is_of(&self, method: &str, decorators: &str) -> bool {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let beside = decorators.split(['"', '\'', '`']).step_by(2).flat_map(|part| part.split(|c| !is_word(c)));
        let mut said: HashSet<&str> = METHODS.into_iter().filter(|method| self.names_method(method)).collect();
        said.extend(beside.filter_map(|word| METHODS.into_iter().find(|method| word.eq_ignore_ascii_case(method))));
        match self.method {
            Some(own) => own == method,
            None if said.is_empty() => !self.is_decorator || self.name != "route" || method == "get",
            None => said.contains(method),
        }
    }

    /// Words of the other arguments. If some stand in a call named like the method, only these.
    pub fn words(&self, method: &str) -> Vec<&'t str> {
        let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':');
        let (mut all, mut own) = (Vec::new(), Vec::new());
        let mut before = "";
        // Every second part is quoted.
        let code = self.rest.split(['"', '\'', '`']).step_by(2);
        let words = code.flat_map(|part| part.split(|letter: char| !is_word(letter)));
        for word in words.filter(|word| !word.is_empty()) {
            let is_own = before.rsplit(['.', ':']).next().is_some_and(|before| before.eq_ignore_ascii_case(method));
            if is_own {
                own.push(word);
            }
            all.push(word);
            before = word;
        }
        if own.is_empty() { all } else { own }
    }

    /// Whether the other arguments name a method: `methods=["GET"]`, `get(show)`, `method = RequestMethod.GET`.
    fn names_method(&self, method: &str) -> bool {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        self.rest.split(|letter: char| !is_word(letter)).any(|word| word.eq_ignore_ascii_case(method))
    }

    /// Whether one of its arguments is an anonymous function.
    pub fn is_inline(&self) -> bool {
        let rest = self.rest.trim_start_matches([',', ' ', '\n', '\t']);
        ["function", "async ", "async(", "func(", "fn(", "lambda"].iter().any(|word| rest.starts_with(word))
            || rest.contains("=>")
            || rest.starts_with('|')
    }
}
