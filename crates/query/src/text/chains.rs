//! Chains of words in a pattern of code: words joined by dots (`request.user`), and assignments to them
//! (`request.user = $X`). A chain is much rarer than its words, and only files that may contain it are parsed.

use memchr::memmem::Finder;

/// A chain.
pub(super) struct Chain {
    first: Finder<'static>,
    /// The words after the first, without dots.
    rest: Vec<Vec<u8>>,
    /// Whether a single `=` follows.
    is_set: bool,
}

impl Chain {
    /// Whether a text may contain the chain. White space may stand between its parts. A comment or an unknown operator
    /// there counts as a match, since it cannot be excluded.
    pub(super) fn may_stand_in(&self, text: &[u8]) -> bool {
        self.first.find_iter(text).any(|at| self.goes_on(&text[at + self.first.needle().len()..]))
    }

    fn goes_on(&self, mut text: &[u8]) -> bool {
        for word in &self.rest {
            for part in [b".".as_slice(), word] {
                text = text.trim_ascii_start();
                match text.strip_prefix(part) {
                    Some(rest) => text = rest,
                    None => return text.first().is_some_and(|byte| !is_of_code(*byte)),
                }
            }
        }
        let text = text.trim_ascii_start();
        !self.is_set || begins_set(text) || text.first().is_some_and(|byte| !is_of_code(*byte))
    }
}

/// Whether a byte that replaces the expected one proves that the chain does not match. Any other byte may begin a
/// comment or a longer operator in some language.
fn is_of_code(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.,;:=)]}[{\"'`@|&+*%~^>".contains(&byte)
}

/// Whether a text begins with an assignment's `=`, not `==`.
fn begins_set(text: &[u8]) -> bool {
    text.starts_with(b"=") && !text.starts_with(b"==")
}

/// The chains of a pattern, without pattern variables.
pub(super) fn chains(pattern: &str) -> Vec<Chain> {
    let is_part = |letter: char| letter.is_alphanumeric() || "_$.".contains(letter);
    let (mut chains, mut at) = (Vec::new(), 0);
    for text in pattern.split_inclusive(|letter: char| !is_part(letter)) {
        let words = text.trim_end_matches(|letter: char| !is_part(letter));
        let after = pattern[at + words.len()..].trim_start();
        at += text.len();
        let words: Vec<&str> = words.split('.').collect();
        let is_known = |word: &&str| word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        let mut runs = words.split(|word| !is_known(word) || word.contains('$')).peekable();
        while let Some(run) = runs.next() {
            let is_set = runs.peek().is_none()
                && begins_set(after.as_bytes())
                && !["=>", "=~"].iter().any(|longer| after.starts_with(longer));
            if let Some((first, rest)) = run.split_first()
                && (is_set || !rest.is_empty())
            {
                let rest = rest.iter().map(|word| word.as_bytes().to_vec()).collect();
                chains.push(Chain { first: Finder::new(first.as_bytes()).into_owned(), rest, is_set });
            }
        }
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::chains;

    #[test]
    fn a_chain_is_looked_for_with_what_may_stand_between() {
        let may = |pattern: &str, text: &str| chains(pattern).iter().all(|chain| chain.may_stand_in(text.as_bytes()));
        for text in [
            "request.user = x",
            "if request . user",
            "request\n    .user",
            "request /* his */ .user",
            "request?.user",
            "request  # by whom\n.user",
            "user, request.user_agent",
        ] {
            assert!(may("f(request.user, $X)", text), "{text}");
        }
        for text in ["request.user = x", "request . user=x", "request.user # a\n= x", "request.user\\\n = x"] {
            assert!(may("request.user = $X", text), "{text}");
        }
        for text in ["request = user", "request.path, user", "user.request", "", "request", "request."] {
            assert!(!may("f(request.user, $X)", text), "{text}");
            assert!(!may("request.user = $X", text), "{text}");
        }
        for text in ["if request.user == x:", "request.user", "request.user_id = 1", "f(request.user, x = 1)"] {
            assert!(!may("request.user = $X", text), "{text}");
        }
        assert!(may("DEBUG = $X", "MY_DEBUG = 1") && !may("DEBUG = $X", "if DEBUG == 1: x = 2"));
        assert!(may("$A.user = $X", "x.user = 1") && !may("$A.user = $X", "x.user == 1"));
        assert!(may("a.b.c($X).d", "a.b.c(1).d") && !may("a.b.c", "a.b.d"));
        assert!(may("$A.user.name", "x.user.name") && !may("$A.user.name", "x.user, name"));
        for pattern in ["f($A, 1.5, $B.c, x)", "x == $A", "x => $A", "x =~ $A", "$A = $B", "$A = x"] {
            assert_eq!(chains(pattern).len(), 0, "{pattern}");
        }
    }
}
