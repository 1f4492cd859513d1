//! Chains of words joined by dots in a pattern of code, as `request.user`. Their words occur together in far fewer files
//! than each alone, and a file is parsed only where they do.

use memchr::memmem::Finder;

/// A chain of a pattern.
pub(super) struct Chain {
    first: Finder<'static>,
    /// The other words, without dots.
    rest: Vec<Vec<u8>>,
}

impl Chain {
    /// Whether a text may hold the chain. White space may stand between its parts, and a comment or another operator
    /// too: then it may.
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
        true
    }
}

/// Whether a byte that stands where another is expected shows that the chain ends there. Others begin comments or
/// longer operators in some language.
fn is_of_code(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.,;:=)]}[{\"'`@|&+*%~^>".contains(&byte)
}

/// Chains of a pattern; names of variables are in none.
pub(super) fn chains(pattern: &str) -> Vec<Chain> {
    let is_part = |letter: char| letter.is_alphanumeric() || "_$.".contains(letter);
    let texts = pattern.split(|letter: char| !is_part(letter));
    let runs = texts.flat_map(|text| {
        let words: Vec<&str> = text.split('.').collect();
        let is_known = |word: &&str| word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        let runs = words.split(|word| !is_known(word) || word.contains('$')).map(<[&str]>::to_vec);
        runs.collect::<Vec<_>>()
    });
    let chain = |run: Vec<&str>| {
        let (first, rest) = run.split_first()?;
        let rest: Vec<Vec<u8>> = rest.iter().map(|word| word.as_bytes().to_vec()).collect();
        (!rest.is_empty()).then(|| Chain { first: Finder::new(first.as_bytes()).into_owned(), rest })
    };
    runs.filter_map(chain).collect()
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
            assert!(may("request.user = $X", text), "{text}");
        }
        for text in ["request = user", "request.path, user", "user.request", "", "request", "request."] {
            assert!(!may("request.user = $X", text), "{text}");
        }
        assert!(may("a.b.c($X).d", "a.b.c(1).d") && !may("a.b.c", "a.b.d"));
        assert!(may("$A.user.name", "x.user.name") && !may("$A.user.name", "x.user, name"));
        assert_eq!(chains("f($A, 1.5, $B.c, x)").len(), 0);
    }
}
