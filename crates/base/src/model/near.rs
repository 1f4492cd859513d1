//! Nearness of a misspelt name to an existing one: the one rule for suggestions everywhere.

/// Longest name compared, in letters: comparison takes time proportional to both lengths.
const COMPARED: usize = 200;
/// Letters of the longer name per edit: short names bear fewer.
const PER_EDIT: usize = 3;
const MOST_EDITS: usize = 4;
/// Letters that a shared part must have.
const SHARED: usize = 3;

/// Nearness of two names, from 0 to 1, whatever their case; `None` if they have too little in common for a suggestion.
/// Near are names a few edits apart, a name and its beginning, and names that share half of their words.
pub fn nearness(typed: &str, name: &str) -> Option<f64> {
    if typed.len() > COMPARED * 4 || name.len() > COMPARED * 4 {
        return None;
    }
    let (one, other) = (typed.to_lowercase(), name.to_lowercase());
    if one == other {
        return Some(1.0);
    }
    let lengths = [one.chars().count(), other.chars().count()];
    let (shorter, longer) = (lengths[0].min(lengths[1]), lengths[0].max(lengths[1]));
    let allowed = (longer / PER_EDIT).min(MOST_EDITS);
    let edits = if longer - shorter <= allowed { strsim::osa_distance(&one, &other) } else { usize::MAX };
    if edits <= allowed {
        return Some(1.0 - edits as f64 / longer as f64);
    }
    let begins = one.starts_with(&other) || other.starts_with(&one);
    if begins && shorter >= SHARED && shorter * 2 >= longer {
        return Some(0.9 * shorter as f64 / longer as f64);
    }
    shared_words(&words(typed), &words(name))
}

/// Share of common words. All the words typed may be a third of the other's, else it is half, with more letters.
fn shared_words(typed: &[String], name: &[String]) -> Option<f64> {
    let shared: Vec<&String> = typed.iter().filter(|word| name.contains(word)).collect();
    let letters: usize = shared.iter().map(|word| word.len()).sum();
    let most = typed.len().max(name.len());
    let is_whole = shared.len() == typed.len();
    let is_near = if is_whole { shared.len() * 3 >= most } else { shared.len() * 2 >= most && letters > SHARED };
    (is_near && letters >= SHARED).then(|| 0.8 * shared.len() as f64 / most as f64)
}

/// Words of a name in lower case, split at case and at anything but letters and digits.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        let after_small = at > 0 && letters[at - 1].is_lowercase();
        let before_small = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if !letter.is_alphanumeric() || letter.is_uppercase() && (after_small || before_small) {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The `n` candidates nearest to a name, best first.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>, n: usize) -> Vec<&'a str> {
    let scored = candidates.into_iter().filter_map(|name| Some((nearness(typed, name)?, name)));
    let mut near: Vec<(f64, &str)> = scored.collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    near.dedup_by(|one, other| one.1 == other.1);
    near.into_iter().take(n).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::{nearest, nearness};

    #[test]
    fn near_misses_are_found_best_first() {
        let names = ["query", "kind", "language", "max_results", "file_pattern", "fuzzy"];
        assert_eq!(nearest("querry", names, 3), ["query"]);
        assert_eq!(nearest("max_result", names, 3), ["max_results"]);
        assert_eq!(nearest("maxResults", names, 1), ["max_results"]);
        assert_eq!(nearest("max", names, 1), ["max_results"]);
        assert_eq!(nearest("lang", names, 1), ["language"]);
        assert!(nearest("zzz", names, 3).is_empty());
        assert!(nearest("", names, 3).is_empty());
        assert!(nearest(&"q".repeat(1_000_000), names, 3).is_empty());
    }

    #[test]
    fn names_with_little_in_common_are_not_near() {
        for (typed, name) in [
            ("nope", "Open"),
            ("nope", "_hope_so_"),
            ("get_nope", "get"),
            ("ab", "ac"),
            ("main", "domain_of_all_things"),
        ] {
            assert_eq!(nearness(typed, name), None, "{typed} {name}");
        }
        for (typed, name) in [
            ("load_ordre", "load_order"),
            ("get_user_cookie", "get_secure_cookie"),
            ("cookie", "getSecureCookie"),
            ("HTTPServr", "HTTPServer"),
            ("http_server", "HTTPServer"),
            ("nain", "main"),
            ("ad", "add"),
        ] {
            assert!(nearness(typed, name).is_some(), "{typed} {name}");
        }
    }
}
