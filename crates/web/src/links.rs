//! Addresses of pages, and their parts read back.

use std::fmt::Write as _;

use codelode_store::{FileView, SymbolView};

/// Lines of a file on one page.
pub(super) const WINDOW: u32 = 1_500;

/// Address of a repository as it is, or in a version.
pub(super) fn root(repo: &str, version: Option<&str>) -> String {
    match version {
        Some(version) => format!("/r/{}@{}", repo_part(repo), encoded(version, "")),
        None => format!("/r/{}", repo_part(repo)),
    }
}

/// Address of a file below the address of a repository, see [`root`]; of a folder if the path ends with a slash.
pub(super) fn below(root: &str, path: &str) -> String {
    format!("{root}/{}", encoded(path, "/"))
}

/// Address of a folder.
pub(super) fn folder(repo: &str, path: &str) -> String {
    let slash = if path.is_empty() || path.ends_with('/') { "" } else { "/" };
    format!("/r/{}/{}{slash}", repo_part(repo), encoded(path, "/"))
}

/// Address of a file.
pub(super) fn file(repo: &str, path: &str) -> String {
    below(&root(repo, None), path)
}

/// Address of a line.
pub(super) fn line(repo: &str, path: &str, line: u32) -> String {
    format!("{}{}", file(repo, path), at_line(line))
}

/// Address of a line from a page of the same file.
pub(super) fn line_in(repo: &str, file: FileView<'_>, number: u32) -> String {
    if file.lines() <= WINDOW { at_line(number) } else { line(repo, file.path(), number) }
}

/// End of an address that leads to a line: lines beyond the first page need its window.
pub(super) fn at_line(line: u32) -> String {
    if line > WINDOW { format!("?at={line}#L{line}") } else { format!("#L{line}") }
}

/// Address of a file in a version; of a folder if the path ends with a slash.
pub(super) fn version(repo: &str, version: &str, path: &str) -> String {
    below(&root(repo, Some(version)), path)
}

/// Address of a symbol's panel beside the line that it is defined on, or that one reads.
pub(super) fn panel(repo: &str, path: &str, id: &str, line: u32, further: &[(&str, &str)]) -> String {
    let at = if line > WINDOW { line.to_string() } else { String::new() };
    let pairs = [&[("panel", id), ("at", at.as_str())], further].concat();
    format!("{}#L{line}", with_query(file(repo, path), &pairs))
}

/// Address of a change: of a commit, or of all since one.
pub(super) fn change(repo: &str, pairs: &[(&str, &str)]) -> String {
    with_query(format!("/change/{}", repo_part(repo)), pairs)
}

/// Address of branches and tags, as a part for the client.
pub(super) fn versions(repo: &str) -> String {
    format!("/v/{}", repo_part(repo))
}

/// Address that leads to the version that a file is in.
pub(super) fn permalink(repo: &str, path: &str) -> String {
    format!("/p/{}/{}", repo_part(repo), encoded(path, "/"))
}

/// Address of what is known of the name at a byte, from the page of its file.
pub(super) fn byte(byte: u32) -> String {
    format!("?byte={byte}")
}

/// Address of a file's own text, as it is or in a version.
pub(super) fn raw(repo: &str, version: Option<&str>, path: &str) -> String {
    format!("/raw{}", below(&root(repo, version)[2..], path))
}

/// Address of a symbol.
pub(super) fn symbol(repo: &str, symbol: &SymbolView<'_>) -> String {
    symbol_by_id(repo, &symbol.id())
}

/// Address of what a change of a symbol may break.
pub(super) fn impact(repo: &str, symbol: &SymbolView<'_>) -> String {
    format!("/i/{}?id={}", repo_part(repo), encoded(&symbol.id(), ""))
}

/// Address of a symbol by its id.
pub(super) fn symbol_by_id(repo: &str, id: &str) -> String {
    format!("/s/{}?id={}", repo_part(repo), encoded(id, ""))
}

/// Address of the definitions that a name at a byte may mean.
pub(super) fn meanings(repo: &str, path: &str, byte: u32) -> String {
    format!("/d/{}/{}?byte={byte}", repo_part(repo), encoded(path, "/"))
}

/// Address of a picture around a file, or around a symbol that the pairs name.
pub(super) fn picture(repo: &str, path: &str, pairs: &[(&str, &str)]) -> String {
    with_query(format!("/g/{}/{}", repo_part(repo), encoded(path, "/")), pairs)
}

/// Address of the imports between the folders below one.
pub(super) fn matrix(repo: &str, path: &str) -> String {
    format!("/m/{}/{}", repo_part(repo), encoded(path, "/"))
}

/// Address of a search.
pub(super) fn search(pairs: &[(&str, &str)]) -> String {
    with_query("/search".to_owned(), pairs)
}

/// An address with a query: the pairs that have a value, after those that it has.
pub(super) fn with_query(mut address: String, pairs: &[(&str, &str)]) -> String {
    let mut sign = if address.contains('?') { '&' } else { '?' };
    for (key, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        _ = write!(address, "{sign}{key}={}", encoded(value, ""));
        sign = '&';
    }
    address
}

/// A repository's id as two parts of a path: a version in its name may have slashes.
fn repo_part(repo: &str) -> String {
    let (owner, name) = repo.split_once('/').unwrap_or(("", repo));
    format!("{}/{}", encoded(owner, ""), encoded(name, "@"))
}

/// A text as part of an address; `kept` stand for themselves.
pub(super) fn encoded(text: &str, kept: &str) -> String {
    let mut all = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => all.push(byte.into()),
            _ if kept.as_bytes().contains(&byte) => all.push(byte.into()),
            _ => _ = write!(all, "%{byte:02X}"),
        }
    }
    all
}

/// The text of a part of an address; `None` if it is none.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok().filter(|two| !two.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{decoded, file, line, panel, repo_part, search, version};

    #[test]
    fn parts_of_addresses_come_back() {
        for text in ["a b/ü?#%&+\"<>", "x\u{202e}", ""] {
            assert_eq!(decoded(&super::encoded(text, "")).as_deref(), Some(text));
        }
        for broken in ["%", "%f", "%zz", "%+1", "%ff"] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
    }

    #[test]
    fn addresses_name_repositories_versions_and_lines() {
        assert_eq!(file("local/shop-01", "src/a b.rs"), "/r/local/shop-01/src/a%20b.rs");
        assert_eq!(repo_part("acme/shop@v1/2"), "acme/shop@v1%2F2");
        assert_eq!(version("acme/shop", "abc", "a#b"), "/r/acme/shop@abc/a%23b");
        assert_eq!(line("a/b", "c", 7), "/r/a/b/c#L7");
        assert_eq!(line("a/b", "c", 20_000), "/r/a/b/c?at=20000#L20000");
        assert_eq!(panel("a/b", "c", "c::d#function", 1_501, &[]), "/r/a/b/c?panel=c%3A%3Ad%23function&at=1501#L1501");
        assert_eq!(search(&[("q", "a&b"), ("repo", ""), ("in", "text")]), "/search?q=a%26b&in=text");
    }
}
