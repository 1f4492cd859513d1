//! Public symbols by a language's visibility rules, and whether a change breaks their users.

use super::touched::{Change, Touched};
use crate::Version;
use crate::graph::marks_of;
use codelode_base::model::Marks;
use codelode_lang::languages::{Public, of_path};
use codelode_store::{Snapshot, SymbolView};

/// Whether other packages could see a touched symbol before or after the change.
pub fn is_public(snapshot: &Snapshot, touched: &Touched<'_, '_>) -> bool {
    let before = touched.was.map(|was| is_visible(snapshot, was));
    let after = touched.now.map(|now| is_visible(snapshot, now));
    before.or(after).unwrap_or(false) || touched.symbol.is_some_and(|symbol| is_exported(&symbol))
}

/// Whether a symbol is public without a modifier: its file exports it in a list, or it is a member of an interface.
fn is_exported(symbol: &SymbolView<'_>) -> bool {
    let rules = symbol.file.conventions();
    let is_marked = matches!(rules.public, Public::Word(_) | Public::Exported(_));
    let mut around = std::iter::successors(Some(*symbol), SymbolView::parent);
    is_marked && !(rules.is_inner)(symbol.file.path()) && around.all(|own| marks_of(&own).has(Marks::PUBLIC))
}

/// Whether a change of a public symbol may break its users.
pub fn is_breaking(touched: &Touched<'_, '_>) -> bool {
    match (touched.change, touched.was, touched.now) {
        (Change::Removed | Change::Renamed | Change::Moved, ..) => true,
        (Change::Signature, Some(was), Some(now)) => !only_widens(was.signature, now.signature),
        _ => false,
    }
}

fn is_visible(snapshot: &Snapshot, version: &Version<'_>) -> bool {
    let Some(spec) = of_path(version.file) else { return false };
    let rules = spec.conventions;
    let parts: Vec<&str> = version.qualified_name.split('.').collect();
    if (rules.is_inner)(version.file) {
        return false;
    }
    match rules.public {
        Public::All => false,
        Public::Unless(mark) => {
            let is_hidden = |part: &&str| part.starts_with(mark) && !part.starts_with("__");
            let mut folders = version.file.split('/');
            folders.next_back();
            !parts.iter().any(is_hidden) && !folders.any(|folder| is_hidden(&folder))
        }
        Public::Capital => parts.iter().all(|part| part.starts_with(char::is_uppercase)),
        Public::Word(words) => says(version, words) && owner_is_visible(snapshot, version, &parts),
        Public::Exported(words) => match parts.len() {
            1 => says(version, words),
            _ => !says(version, &["private", "#"]) && owner_is_visible(snapshot, version, &parts),
        },
    }
}

/// Whether the type around a member is visible, as far as known.
fn owner_is_visible(snapshot: &Snapshot, version: &Version<'_>, parts: &[&str]) -> bool {
    let Some((_, above)) = parts.split_last().filter(|(_, above)| !above.is_empty()) else { return true };
    let owner = above.join(".");
    let symbols = snapshot.file(version.file).into_iter().flat_map(|file| file.symbols());
    let mut owners = symbols.filter(|symbol| symbol.qualified_name() == owner).peekable();
    let words = match of_path(version.file).map(|spec| spec.conventions.public) {
        Some(Public::Word(words) | Public::Exported(words)) => words,
        _ => return true,
    };
    owners.peek().is_none() || owners.any(|owner| has_word(before_name(owner.source(), &owner.name()), words))
}

fn says(version: &Version<'_>, words: &[&str]) -> bool {
    has_word(before_name(version.source, &version.name), words) || words.contains(&"#") && version.name.starts_with('#')
}

fn before_name<'s>(source: &'s [u8], name: &str) -> &'s [u8] {
    let end = memchr::memmem::find(source, name.as_bytes()).unwrap_or(0);
    &source[..end]
}

fn has_word(text: &[u8], words: &[&str]) -> bool {
    let text = String::from_utf8_lossy(text);
    let is_said =
        |word: &&str| text.split_whitespace().any(|own| own == *word) || word.ends_with('.') && text.contains(*word);
    words.iter().any(is_said)
}

/// Whether a new declaration accepts all former calls: only parameters with defaults were appended.
pub fn only_widens(was: &[u8], now: &[u8]) -> bool {
    let (was, now) = (String::from_utf8_lossy(was), String::from_utf8_lossy(now));
    let (Some((before, old, after)), Some((before_now, new, after_now))) = (parameters(&was), parameters(&now)) else {
        return false;
    };
    let is_same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
    let is_optional =
        |parameter: &String| parameter.contains('=') || parameter.contains("?:") || parameter.starts_with('*');
    is_same(before, before_now)
        && is_same(after, after_now)
        && new.len() > old.len()
        && old.iter().zip(&new).all(|(old, new)| is_same(old, new))
        && new[old.len()..].iter().all(is_optional)
}

/// The text before the parameters, the parameters, and the text after them.
fn parameters(declaration: &str) -> Option<(&str, Vec<String>, &str)> {
    let open = declaration.find('(')?;
    let (mut deep, mut start, mut all) = (0_usize, open + 1, Vec::new());
    for (at, letter) in declaration.char_indices().skip_while(|(at, _)| *at < open) {
        match letter {
            '(' | '[' | '{' | '<' => deep += 1,
            ')' if deep == 1 => {
                all.push(declaration[start..at].trim().to_owned());
                all.retain(|parameter| !parameter.is_empty());
                return Some((&declaration[..open], all, &declaration[at + 1..]));
            }
            // The arrow of a function type closes no bracket.
            '>' if declaration[..at].ends_with(['-', '=']) => {}
            ')' | ']' | '}' | '>' => deep = deep.saturating_sub(1).max(1),
            ',' if deep == 1 => {
                all.push(declaration[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::only_widens;

    #[test]
    fn parameters_with_a_default_break_nobody() {
        for (was, now) in [
            ("def f(a)", "def f(a, b=1)"),
            ("def f(a) -> int", "def f(a, *, b: dict[str, int] = {}) -> int"),
            ("function f(a: string)", "function f(a: string, b?: (x: number) => void)"),
        ] {
            assert!(only_widens(was.as_bytes(), now.as_bytes()), "{now}");
        }
        for (was, now) in [
            ("def f(a)", "def f(a, b)"),
            ("def f(a, b=1)", "def f(b=1, a=2)"),
            ("def f(a) -> int", "def f(a, b=1) -> str"),
            ("func F(a int)", "func F(a int, b int)"),
            ("class A", "class A(B)"),
        ] {
            assert!(!only_widens(was.as_bytes(), now.as_bytes()), "{now}");
        }
    }
}
