//! The grams that a file must contain for a tree-sitter query to match: of words in its tokens, and of predicates on
//! captures that every match has.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

use super::needs::needs;
use codelode_store::GramQuery;

/// The deepest query that is analysed.
const DEEPEST: usize = 100;

/// Limits on regular expressions in a query: memory for compiling one, in bytes, and their number.
const LARGEST_REGEX: usize = 1 << 20;
const MOST_REGEXES: usize = 20;
/// The most parts with `?` or `*`. tree-sitter compiles them in quadratic time: minutes for 2,000.
const MOST_OPTIONAL: usize = 100;

/// The result of reading a text as a query.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ParsedQuery {
    /// It may be a query.
    Query,
    /// It is no query, or tree-sitter must not get it: it is nested too deep for a recursive parser, or repeats an
    /// empty part, which tree-sitter would compile forever.
    Nothing,
    /// It exceeds a limit; holds the reason.
    TooMuch(String),
}

/// Checks whether a text can be passed to tree-sitter as a query.
pub(super) fn reading(query: &str) -> ParsedQuery {
    let (mut tokens, mut patterns, mut optional) = (Tokens(query.chars().peekable()), Vec::new(), 0);
    while !tokens.at_end() {
        let Some(item) = tokens.item(0) else { return ParsedQuery::Nothing };
        if item.repeats_nothing {
            return ParsedQuery::Nothing;
        }
        item.regexes(&mut patterns);
        optional += item.optional();
    }
    if optional > MOST_OPTIONAL {
        return ParsedQuery::TooMuch(format!("a query may have at most {MOST_OPTIONAL} parts with `?` or `*`"));
    }
    if patterns.len() > MOST_REGEXES {
        return ParsedQuery::TooMuch(format!("a query may have at most {MOST_REGEXES} patterns of text"));
    }
    let fits =
        |pattern: &String| grep_regex::RegexMatcherBuilder::new().size_limit(LARGEST_REGEX).build(pattern).is_ok();
    match patterns.iter().all(fits) {
        true => ParsedQuery::Query,
        false => ParsedQuery::TooMuch("a pattern of text in the query cannot be read, or is too large".to_owned()),
    }
}

/// The grams of a query in tree-sitter's syntax. An unreadable query may match any file.
pub(crate) fn query_needs(query: &str) -> GramQuery {
    let mut patterns = Vec::new();
    let mut tokens = Tokens(query.chars().peekable());
    while !tokens.at_end() {
        let Some(item) = tokens.item(0) else { return GramQuery::All };
        patterns.push(item);
    }
    GramQuery::or(patterns.iter().map(|pattern| pattern.needs(&pattern.bound())))
}

/// A part of a query with its quantifier and captures.
struct QueryPart {
    part: Part,
    /// It is optional.
    is_optional: bool,
    /// It or a part of it has several quantifiers, or repeats an empty part, as `((_)? (_)*)+` does.
    repeats_nothing: bool,
    captures: Vec<String>,
}

enum Part {
    /// A node kind, a field or an anchor, which the file's text does not contain.
    Name(String),
    /// A token, or an argument of a predicate.
    Text(String),
    /// A node or a group, all of whose parts match.
    All(Vec<QueryPart>),
    /// An alternation, one of whose parts matches.
    Any(Vec<QueryPart>),
}

impl QueryPart {
    /// Whether it matches nothing at all.
    fn may_be_nothing(&self) -> bool {
        let is_predicate = |item: &Self| {
            matches!(&item.part, Part::All(items) if items.first().is_some_and(
            |first| matches!(&first.part, Part::Name(name) if name.starts_with('#'))))
        };
        self.is_optional
            || match &self.part {
                Part::Name(_) | Part::Text(_) => false,
                // A node begins with its kind, a group does not.
                Part::All(items) if matches!(items.first(), Some(Self { part: Part::Name(_), .. })) => false,
                Part::All(items) => items.iter().all(|item| is_predicate(item) || item.may_be_nothing()),
                Part::Any(items) => items.iter().any(Self::may_be_nothing),
            }
    }

    /// The number of optional parts.
    fn optional(&self) -> usize {
        let inside = match &self.part {
            Part::Name(_) | Part::Text(_) => 0,
            Part::All(items) | Part::Any(items) => items.iter().map(Self::optional).sum(),
        };
        inside + usize::from(self.is_optional)
    }

    /// The captures in every match.
    fn bound(&self) -> BTreeSet<&str> {
        if self.is_optional {
            return BTreeSet::new();
        }
        let inner = match &self.part {
            Part::Name(_) | Part::Text(_) => BTreeSet::new(),
            Part::All(items) => items.iter().flat_map(Self::bound).collect(),
            Part::Any(items) => {
                let each = items.iter().map(Self::bound);
                each.reduce(|left, right| &left & &right).unwrap_or_default()
            }
        };
        inner.into_iter().chain(self.captures.iter().map(String::as_str)).collect()
    }

    /// The regular expressions of its predicates.
    fn regexes(&self, found: &mut Vec<String>) {
        let (Part::All(items) | Part::Any(items)) = &self.part else { return };
        let is_match = |name: &str| name.starts_with('#') && name.contains("match?");
        let first = items.first().map(|item| &item.part);
        if matches!(first, Some(Part::Name(name)) if is_match(name)) {
            found.extend(items.iter().filter_map(|item| match &item.part {
                Part::Text(text) => Some(text.clone()),
                _ => None,
            }));
        }
        items.iter().for_each(|item| item.regexes(found));
    }

    fn needs(&self, bound: &BTreeSet<&str>) -> GramQuery {
        if self.is_optional {
            return GramQuery::All;
        }
        match &self.part {
            Part::Name(_) => GramQuery::All,
            // Other tokens, such as `is not`, may be written in several ways.
            Part::Text(token) if token.chars().all(|char| char.is_ascii_alphanumeric()) => {
                GramQuery::literal(token.as_bytes())
            }
            Part::Text(_) => GramQuery::All,
            Part::Any(items) => GramQuery::or(items.iter().map(|item| item.needs(bound))),
            Part::All(items) => match items.first().map(|item| &item.part) {
                Some(Part::Name(name)) if name.starts_with('#') => predicate(name, &items[1..], bound),
                Some(Part::Name(name)) if name == "MISSING" => GramQuery::All,
                _ => GramQuery::and(items.iter().map(|item| item.needs(bound))),
            },
        }
    }
}

/// The grams that a predicate requires in a capture's text.
fn predicate(name: &str, arguments: &[QueryPart], bound: &BTreeSet<&str>) -> GramQuery {
    let Some((QueryPart { part: Part::Name(capture), .. }, values)) = arguments.split_first() else {
        return GramQuery::All;
    };
    // If the capture may be missing, the predicate then holds.
    if !capture.strip_prefix('@').is_some_and(|capture| bound.contains(capture)) {
        return GramQuery::All;
    }
    let texts = values.iter().map(|value| match &value.part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let Some(texts) = texts.collect::<Option<Vec<&str>>>() else { return GramQuery::All };
    match (name, &texts[..]) {
        ("#eq?", [text]) => GramQuery::literal(text.as_bytes()),
        ("#any-of?", texts) => GramQuery::or(texts.iter().map(|text| GramQuery::literal(text.as_bytes()))),
        ("#match?", [pattern]) => {
            let parsed = regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern);
            parsed.map_or(GramQuery::All, |hir| needs(&hir))
        }
        _ => GramQuery::All,
    }
}

struct Tokens<'a>(Peekable<Chars<'a>>);

impl Tokens<'_> {
    /// Whether only spaces and comments are left.
    fn at_end(&mut self) -> bool {
        loop {
            match self.0.peek() {
                Some(';') => while self.0.next_if(|char| *char != '\n').is_some() {},
                Some(char) if char.is_whitespace() => _ = self.0.next(),
                next => return next.is_none(),
            }
        }
    }

    fn item(&mut self, depth: usize) -> Option<QueryPart> {
        if self.at_end() || depth > DEEPEST {
            return None;
        }
        let part = match self.0.next()? {
            '(' => Part::All(self.items(')', depth)?),
            '[' => Part::Any(self.items(']', depth)?),
            '"' => Part::Text(self.string()?),
            ')' | ']' => return None,
            first => Part::Name(self.name(first)),
        };
        let repeats_nothing = match &part {
            Part::All(items) | Part::Any(items) => items.iter().any(|item| item.repeats_nothing),
            Part::Name(_) | Part::Text(_) => false,
        };
        let mut item = QueryPart { part, is_optional: false, repeats_nothing, captures: Vec::new() };
        let mut n_quantifiers = 0;
        while !self.at_end() {
            match self.0.peek() {
                Some(quantifier @ ('?' | '*' | '+')) => {
                    n_quantifiers += 1;
                    let repeats = *quantifier != '?';
                    item.repeats_nothing |= n_quantifiers > 1 || (repeats && item.may_be_nothing());
                    item.is_optional |= *quantifier != '+';
                }
                // A capture after a predicate's name is its argument.
                Some('@') if !matches!(item.part, Part::Name(_)) => {
                    self.0.next();
                    item.captures.push(self.name('@').split_off(1));
                    continue;
                }
                _ => break,
            }
            self.0.next();
        }
        Some(item)
    }

    fn items(&mut self, end: char, depth: usize) -> Option<Vec<QueryPart>> {
        let mut items = Vec::new();
        while !self.at_end() {
            if self.0.next_if_eq(&end).is_some() {
                return Some(items);
            }
            items.push(self.item(depth + 1)?);
        }
        None
    }

    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.0.next()? {
                '"' => return Some(text),
                '\\' => text.push(match self.0.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '0' => '\0',
                    other => other,
                }),
                other => text.push(other),
            }
        }
    }

    /// A name that begins with this character, including the mark at the end of a predicate's name.
    fn name(&mut self, first: char) -> String {
        let mut name = String::from(first);
        let is_part = |char: &char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '/');
        while let Some(char) = self.0.next_if(is_part) {
            name.push(char);
        }
        if first == '#' {
            name.extend(self.0.next_if(|char| matches!(char, '?' | '!')));
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ParsedQuery, query_needs, reading};
    use codelode_store::GramQuery;

    fn literal(text: &str) -> GramQuery {
        GramQuery::literal(text.as_bytes())
    }

    #[test]
    fn tokens_and_predicates_are_needed() {
        for (query, expected) in [
            (r#"(except_clause . "except" . ":") @match"#, literal("except")),
            (r#"((comment) @c (#match? @c "\\b(TODO|FIXME)\\b"))"#, GramQuery::or([literal("todo"), literal("fixme")])),
            (
                r#"(call function: (identifier) @f (#any-of? @f "eval" "exec"))"#,
                GramQuery::or([literal("eval"), literal("exec")]),
            ),
            (r#"["while" "until"] @k"#, GramQuery::or([literal("while"), literal("until")])),
            ("; all of it\n(a) \"else\" (b)", GramQuery::All),
            (
                r#"((a name: (b) @n !body) "then"+ (#eq? @n "main"))"#,
                GramQuery::and([literal("main"), literal("then")]),
            ),
        ] {
            assert_eq!(query_needs(query), expected, "{query}");
        }
    }

    #[test]
    fn what_a_match_may_lack_is_not_needed() {
        for query in [
            r#"((a "async"?) @a)"#,
            r#"((a)? @x (#eq? @x "main"))"#,
            r#"([(a) @x (b) @y] (#eq? @x "main"))"#,
            r#"((a) @x (#not-eq? @x "main"))"#,
            r#"((a) @x (b) @y (#eq? @x @y))"#,
            r#"(MISSING "catch")"#,
            r#"(a "is not" (b))"#,
            r#"(a) (b "catch")"#,
            "(a",
        ] {
            assert_eq!(query_needs(query), GramQuery::All, "{query}");
        }
    }

    #[test]
    fn repetitions_of_what_may_be_nothing_are_no_query() {
        for query in ["((_) ?@x+)+", "((_)?)+", "((_)* (_)?)*", "[(a) (b)?]+", "(a (b)?*)", "((a (((_)?)+)))", "()+"] {
            assert_eq!(reading(query), ParsedQuery::Nothing, "{query}");
        }
        for query in ["(a)+", "((a)? (b))+", "(a (b)?)*", "[(a) (b)]*", "((a)+ @x (#eq? @x \"m\"))", "(a (b)* (c)+)"] {
            assert_eq!(reading(query), ParsedQuery::Query, "{query}");
        }
    }

    #[test]
    fn optional_parts_are_counted() {
        let with = |parts: &str, times| reading(&format!("(a {})", parts.repeat(times)));
        assert_eq!(with("(_ (b)?)* ", 50), ParsedQuery::Query);
        assert!(matches!(with("(_ (b)?)* ", 51), ParsedQuery::TooMuch(_)));
        assert_eq!(with("(b)+ ", 1_000), ParsedQuery::Query);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(query in r#"[()\[\]"?*+@#!.:; a-z\\\n-]{0,60}"#) {
            query_needs(&query);
        }
    }
}
