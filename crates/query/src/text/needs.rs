//! The grams that every match of a pattern contains, after Cox 2012, "Regular Expression Matching with a Trigram
//! Index".
//!
//! A part of a pattern is described by the strings that it matches, while they are few. Otherwise it has the prefixes
//! and suffixes of its matches, and the grams in all of them. Everything is in lower case, as grams are.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use codelode_store::GramQuery;

/// With more strings, only prefixes and suffixes are kept.
const MOST_STRINGS: usize = 64;
/// Longer strings are reduced to their grams, prefixes and suffixes.
const LONGEST: usize = 256;
/// A class with more characters counts as any text.
const MOST_CHARACTERS: usize = 32;
/// The most copies of a repetition that are expanded.
const MOST_COPIES: u32 = 4;

type Strings = BTreeSet<Vec<u8>>;

/// The grams of a pattern.
pub(crate) fn needs(hir: &Hir) -> GramQuery {
    Part::of(hir).opened().needs
}

/// Facts about all matches of a part of a pattern.
struct Part {
    /// All matches, if they are few. Then the other fields are unused.
    exact: Option<Strings>,
    /// Prefixes of the matches.
    prefix: Strings,
    /// Suffixes of the matches.
    suffix: Strings,
    needs: GramQuery,
}

impl Part {
    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::exactly([Vec::new()]),
            HirKind::Literal(literal) => Self::exactly([literal.0.to_ascii_lowercase()]),
            HirKind::Class(class) => characters(class).map_or_else(Self::anything, Self::exactly),
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Concat(parts) => {
                parts.iter().map(Self::of).fold(Self::exactly([Vec::new()]), |left, right| left.then(right))
            }
            HirKind::Alternation(parts) => Self::any(parts.iter().map(Self::of).collect()),
            HirKind::Repetition(repetition) => Self::repeated(repetition),
        }
    }

    fn exactly(strings: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let exact = Some(strings.into_iter().collect());
        Self { exact, prefix: Strings::new(), suffix: Strings::new(), needs: GramQuery::All }
    }

    /// Any text, including none.
    fn anything() -> Self {
        let open = || Strings::from([Vec::new()]);
        Self { exact: None, prefix: open(), suffix: open(), needs: GramQuery::All }
    }

    fn repeated(repetition: &Repetition) -> Self {
        let Repetition { min, max, sub, .. } = repetition;
        if (*min, *max) == (0, Some(1)) {
            return Self::any(vec![Self::of(sub), Self::exactly([Vec::new()])]);
        }
        let copies = (*min).min(MOST_COPIES);
        let all = (0..copies).fold(Self::exactly([Vec::new()]), |all, _| all.then(Self::of(sub)));
        if *max == Some(copies) {
            return all;
        }
        let open = all.then(Self::anything());
        // The last copy is not expanded, but it determines the suffix.
        if *min > 0 { Self { suffix: Self::of(sub).opened().suffix, ..open.opened() } } else { open }
    }

    /// The part followed by another.
    fn then(self, other: Self) -> Self {
        let needs = GramQuery::and([self.needs.clone(), other.needs.clone()]);
        if let (Some(left), Some(right)) = (&self.exact, &other.exact)
            && left.len() * right.len() <= MOST_STRINGS
        {
            let part = Self { needs, ..Self::exactly(concatenated(left, right)) };
            let is_long = part.exact.iter().flatten().any(|string| string.len() > LONGEST);
            return if is_long { part.opened() } else { part };
        }
        let few = |left: &Strings, right: &Strings| left.len() * right.len() <= MOST_STRINGS;
        let prefix = match &self.exact {
            Some(left) if few(left, other.begins()) => concatenated(left, other.begins()),
            _ => self.begins().clone(),
        };
        let suffix = match &other.exact {
            Some(right) if few(self.ends(), right) => concatenated(self.ends(), right),
            _ => other.ends().clone(),
        };
        let border = match few(self.ends(), other.begins()) {
            true => grams(&concatenated(self.ends(), other.begins())),
            false => GramQuery::All,
        };
        // The exact strings are dropped here, so their grams are taken first.
        let both = [&self.exact, &other.exact].map(|exact| exact.as_ref().map_or(GramQuery::All, grams));
        let needs = GramQuery::and([needs, border].into_iter().chain(both));
        Self { exact: None, prefix, suffix, needs }.opened()
    }

    /// One of the parts.
    fn any(parts: Vec<Self>) -> Self {
        if parts.iter().all(|part| part.exact.is_some() && part.needs == GramQuery::All) {
            let all: Strings = parts.iter().flat_map(|part| part.exact.iter().flatten()).cloned().collect();
            if all.len() <= MOST_STRINGS {
                return Self::exactly(all);
            }
        }
        let mut any = Self { exact: None, prefix: Strings::new(), suffix: Strings::new(), needs: GramQuery::All };
        let mut needs = Vec::with_capacity(parts.len());
        for part in parts.into_iter().map(Self::opened) {
            any.prefix.extend(part.prefix);
            any.suffix.extend(part.suffix);
            needs.push(part.needs);
        }
        Self { needs: GramQuery::or(needs), ..any }.opened()
    }

    fn begins(&self) -> &Strings {
        self.exact.as_ref().unwrap_or(&self.prefix)
    }

    fn ends(&self) -> &Strings {
        self.exact.as_ref().unwrap_or(&self.suffix)
    }

    /// The part as prefixes and suffixes. The grams are taken first, and enough bytes kept for grams across the next
    /// border.
    fn opened(self) -> Self {
        let known = [self.begins(), self.ends()].map(grams);
        let needs = GramQuery::and([self.needs.clone()].into_iter().chain(known));
        let prefix = shortened(self.begins(), |string, len| &string[..len]);
        let suffix = shortened(self.ends(), |string, len| &string[string.len() - len..]);
        Self { exact: None, prefix, suffix, needs }
    }
}

/// The first or last two bytes of each string; fewer if that makes too many.
fn shortened(strings: &Strings, part: impl Fn(&[u8], usize) -> &[u8]) -> Strings {
    let to = |most: usize| -> Strings {
        strings.iter().map(|string| part(string, string.len().min(most)).to_vec()).collect()
    };
    (0..=2).rev().map(to).find(|short| short.len() <= MOST_STRINGS).unwrap_or_default()
}

/// The grams of a text that contains any of the strings.
fn grams(strings: &Strings) -> GramQuery {
    GramQuery::or(strings.iter().map(|string| GramQuery::literal(string)))
}

/// Each string of the first set followed by each of the second.
fn concatenated(left: &Strings, right: &Strings) -> Strings {
    left.iter().flat_map(|first| right.iter().map(move |second| [&first[..], second].concat())).collect()
}

/// The characters of a class in lower case, if they are few.
fn characters(class: &Class) -> Option<Strings> {
    let mut all = Strings::new();
    match class {
        Class::Unicode(class) => {
            let count: usize = class.ranges().iter().map(|range| range.len()).sum();
            if count > MOST_CHARACTERS {
                return None;
            }
            for char in class.ranges().iter().flat_map(|range| range.start()..=range.end()) {
                // These have no single lower case, so a file with them is searched anyway.
                if !matches!(char, 'ſ' | '\u{212a}') {
                    all.insert(char.to_string().to_ascii_lowercase().into_bytes());
                }
            }
        }
        Class::Bytes(class) => {
            let count: usize = class.ranges().iter().map(|range| range.len()).sum();
            if count > MOST_CHARACTERS {
                return None;
            }
            let bytes = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            all.extend(bytes.map(|byte| vec![byte.to_ascii_lowercase()]));
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::needs;
    use codelode_store::GramQuery;

    fn of(pattern: &str) -> GramQuery {
        needs(&regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern).expect("the test's own"))
    }

    fn literal(text: &str) -> GramQuery {
        GramQuery::literal(text.as_bytes())
    }

    #[test]
    fn literals_need_their_grams_in_any_case() {
        assert_eq!(of("Result"), literal("result"));
        assert_eq!(of("(?i)result"), literal("RESULT"));
        assert_eq!(of("(?i)risky"), literal("risky"));
        assert_eq!(of("ab"), GramQuery::All);
    }

    #[test]
    fn parts_are_joined_across_borders() {
        assert_eq!(of("re[sx]ult"), GramQuery::or([literal("result"), literal("rexult")]));
        assert_eq!(of(r"foo\w+bar"), GramQuery::and([literal("foo"), literal("bar")]));
        assert_eq!(of("abc|def"), GramQuery::or([literal("abc"), literal("def")]));
        assert_eq!(of("(ab)+cd"), GramQuery::and([literal("abc"), literal("bcd")]));
        assert_eq!(of("x(abc)?y"), GramQuery::All);
        assert_eq!(of("(abc)*"), GramQuery::All);
    }

    #[test]
    fn what_may_be_anything_needs_nothing() {
        for pattern in [r"\w+", ".", "", "^$", r"[a-z]{2,}", "a|abc", "(?:abc|)"] {
            assert_eq!(of(pattern), GramQuery::All, "{pattern}");
        }
    }
}
