//! Roots: the folders that the client is working in.

use std::path::{Path, PathBuf};

/// Most roots that are named as unusable.
const MOST_NAMED: usize = 5;
/// Longest root that is named whole, in characters.
const LONGEST_NAMED: usize = 200;

/// Folders of a client's roots, and the roots that name none, each with its fault. `exists` looks at the disk.
pub(super) fn read<'a>(
    roots: impl Iterator<Item = &'a str>,
    exists: impl Fn(&Path) -> Option<bool>,
) -> (Vec<PathBuf>, Vec<String>) {
    let (mut paths, mut unusable) = (Vec::new(), Vec::new());
    for root in roots {
        let path = path_of(root, &exists);
        let fault = match &path {
            None => Some("no folder of this machine"),
            Some(path) if exists(path) == Some(false) => Some("there is no such folder"),
            Some(_) => None,
        };
        if let Some(fault) = fault.filter(|_| unusable.len() < MOST_NAMED) {
            let shown: String = root.chars().take(LONGEST_NAMED).collect();
            unusable.push(format!("{shown}: {fault}"));
        }
        // An index may be left of a folder that is gone.
        paths.extend(path);
    }
    (paths, unusable)
}

/// The folder of a root: a `file:` address on this machine, or a plain path. Clients encode paths differently or not at all, so
/// the reading that exists is taken, else the one by the rules.
fn path_of(root: &str, exists: impl Fn(&Path) -> Option<bool>) -> Option<PathBuf> {
    const SCHEME: &str = "file:";
    let root = root.trim();
    let is_address = root.get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
    let path = match is_address {
        true => without_host(&root[SCHEME.len()..])?,
        false => root,
    };
    if !path.starts_with('/') {
        return None;
    }
    let before_query = path.split(['?', '#']).next().unwrap_or(path);
    let literal = Some(path.to_owned()).filter(|path| !path.contains('\0'));
    let mut readings = vec![decode(before_query), decode(path), literal];
    if !is_address {
        readings.reverse();
    }
    let mut readings = readings.into_iter().map(|reading| reading.map(PathBuf::from));
    let by_the_rules = readings.next()?;
    let others = readings.flatten();
    let found = by_the_rules.iter().cloned().chain(others).find(|path| exists(path) == Some(true));
    found.or(by_the_rules)
}

/// The path of an address without its scheme; `None` on another machine.
fn without_host(rest: &str) -> Option<&str> {
    let Some(rest) = rest.strip_prefix("//") else { return Some(rest) };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    (host.is_empty() || host.eq_ignore_ascii_case("localhost")).then_some(path)
}

/// Decodes percent encoding; `None` if the result is no text or has a NUL, which no path has.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let encoded = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        match encoded {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            // A single percent sign is literal: clients without any encoding are common.
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|path| !path.contains('\0'))
}

/// The value of a hexadecimal digit.
fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_plain_paths_become_folders() {
        let check = |root: &str, expected: Option<&str>| {
            assert_eq!(path_of(root, |_| None), expected.map(PathBuf::from), "{root}");
        };
        check("file:///home/me/my%20code", Some("/home/me/my code"));
        check("file:///%E2%98%83/a", Some("/☃/a"));
        check("file://localhost/a", Some("/a"));
        check("FILE://LOCALHOST/a%2Fb/", Some("/a/b"));
        check("File:/a", Some("/a"));
        check(" file:////a\n", Some("//a"));
        check("file:///100%/a%2", Some("/100%/a%2"));
        check("file:///a?b#c", Some("/a"));
        check("/a b/100%25", Some("/a b/100%25"));
        for other in
            ["file://elsewhere/a", "file:///a%00b", "file:///%FF", "https://example.org/a", "a/b", "~/a", "file:", ""]
        {
            check(other, None);
        }
    }

    #[test]
    fn the_reading_that_exists_is_taken() {
        let check = |root: &str, there: &str, expected: &str| {
            assert_eq!(path_of(root, |path| Some(path == Path::new(there))), Some(PathBuf::from(expected)), "{root}");
        };
        check("file:///me/c#/a", "/me/c#/a", "/me/c#/a");
        check("file:///me/a%20b", "/me/a%20b", "/me/a%20b");
        check("/me/a%20b", "/me/a b", "/me/a b");
        check("/me/a%20b", "/me/a%20b", "/me/a%20b");
        check("file:///me/a?b", "/elsewhere", "/me/a");
    }

    #[test]
    fn roots_that_cannot_be_used_are_named() {
        let roots = ["file:///here", "/gone", "https://example.org/a"];
        let (paths, unusable) = read(roots.into_iter(), |path| Some(path == Path::new("/here")));
        assert_eq!(paths, [Path::new("/here"), Path::new("/gone")]);
        assert_eq!(unusable, ["/gone: there is no such folder", "https://example.org/a: no folder of this machine"]);
        // A server asks no disk for its guests.
        assert_eq!(read(roots.into_iter(), |_| None).1.len(), 1);
        let many = vec!["ftp://example.org"; 100];
        assert_eq!(read(many.into_iter(), |_| None).1.len(), MOST_NAMED);
    }
}
