//! Reads dbt templates as text: `ref()` and `source()`, docs blocks, and snapshots. Templates are never run.

use std::collections::HashMap;

use super::first_paragraph;

/// The longest description, in characters.
const DESCRIPTION: usize = 300;
/// The longest docs block used, and the longest description before it is cut, in bytes.
const LONGEST_TEXT: usize = 4 << 10;
/// The longest arguments of `ref()`, in bytes.
const LONGEST_CALL: usize = 500;

/// A description with its references to docs blocks replaced.
pub(super) fn described(text: &str, docs: &HashMap<String, String>) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{").filter(|_| whole.len() < LONGEST_TEXT) {
        let Some((inside, behind)) = after.split_once("}}") else { break };
        whole.push_str(before);
        let name = inside.trim().strip_prefix("doc").map(quoted).and_then(|names| names.last().cloned());
        whole.push_str(name.and_then(|name| docs.get(&name)).map_or("", String::as_str));
        rest = behind;
    }
    whole.push_str(rest);
    first_paragraph(&whole, DESCRIPTION)
}

/// Adds the docs blocks of a text: `{% docs name %}` to `{% enddocs %}`.
pub(super) fn docs_blocks(text: &str, docs: &mut HashMap<String, String>) {
    let mut rest = text;
    while let Some((_, tag)) = rest.split_once("{%") {
        let Some((inside, behind)) = tag.split_once("%}") else { return };
        rest = behind;
        let mut words = inside.trim_matches('-').split_whitespace();
        if words.next() == Some("docs")
            && let (Some(name), Some((block, after))) = (words.next(), behind.split_once("{%"))
        {
            let block = block.trim();
            docs.insert(name.to_owned(), block[..block.floor_char_boundary(LONGEST_TEXT)].to_owned());
            rest = after;
        }
    }
}

/// A place that names a model or a source.
pub(super) struct DbtReference {
    pub at: u32,
    pub name: String,
    pub is_source: bool,
    /// The package that it names.
    pub package: Option<String>,
    /// The model version that it names.
    pub version: Option<String>,
}

/// References to models by `ref()` and to sources by `source()`, in order. Template comments are skipped. SQL comments
/// are not, because dbt evaluates templates first.
pub(super) fn reads(text: &str) -> Vec<DbtReference> {
    let mut comments: Vec<(usize, usize)> = Vec::new();
    let mut end = 0;
    while let Some(start) = text[end..].find("{#").map(|start| end + start) {
        end = text[start..].find("#}").map_or(text.len(), |length| start + length);
        comments.push((start, end));
    }
    let is_comment = |at: usize| {
        let before = comments.partition_point(|(start, _)| *start <= at);
        comments[..before].last().is_some_and(|(_, end)| at < *end)
    };
    let mut found: Vec<DbtReference> = Vec::new();
    for call in ["ref", "source"] {
        for (at, _) in text.match_indices(call).filter(|(at, _)| !is_comment(*at)) {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let after = text[at + call.len()..].trim_start();
            let Some(arguments) = after.strip_prefix('(').filter(|_| !text[..at].ends_with(is_word)) else { continue };
            // Bounded, because a text may open many calls that it never closes.
            let near = &arguments[..arguments.floor_char_boundary(LONGEST_CALL)];
            let inside = near.split_once(')').map_or("", |(inside, _)| inside);
            let Some((places, named)) = read_arguments(inside) else { continue };
            let named = |keys: &[&str]| {
                let value = named.iter().find(|(key, _)| keys.contains(key));
                value.map(|(_, value)| (*value).to_owned())
            };
            let (name, last, package) = match (call, &places[..]) {
                ("source", [owner, name]) => (format!("{}.{}", owner.1, name.1), name, None),
                ("ref", [package, name]) => (name.1.to_owned(), name, Some(package.1.to_owned())),
                ("ref", [name]) => (name.1.to_owned(), name, named(&["package"])),
                _ => continue,
            };
            let Ok(at) = u32::try_from(text.len() - arguments.len() + last.0) else { continue };
            let (is_source, version) = (call == "source", named(&["v", "version"]));
            found.push(DbtReference { at, name, is_source, package, version });
        }
    }
    found.sort_by_key(|read| read.at);
    found
}

/// Positional arguments, each a quoted text with its position, and named arguments.
type Arguments<'t> = (Vec<(usize, &'t str)>, Vec<(&'t str, &'t str)>);

/// Reads the arguments of a call; `None` if a positional one is computed.
fn read_arguments(inside: &str) -> Option<Arguments<'_>> {
    let unquoted = |part: &'_ str| -> Option<(usize, usize)> {
        let quote = part.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        let name = part[1..].strip_suffix(quote).filter(|name| !name.contains(quote))?;
        Some((1, 1 + name.len()))
    };
    let (mut places, mut named, mut at) = (Vec::new(), Vec::new(), 0);
    for part in inside.split(',') {
        let (start, trimmed) = (at + part.len() - part.trim_start().len(), part.trim());
        at += part.len() + 1;
        match trimmed.split_once('=') {
            Some((key, value)) if !key.contains(['\'', '"']) => {
                let value = value.trim();
                let (from, to) = unquoted(value).unwrap_or((0, value.len()));
                named.push((key.trim(), &value[from..to]));
            }
            // A trailing comma.
            _ if trimmed.is_empty() => {}
            _ => {
                let (from, to) = unquoted(trimmed)?;
                places.push((start + from, &trimmed[from..to]));
            }
        }
    }
    Some((places, named))
}

/// Names of the snapshots that a file defines: `{% snapshot name %}`.
pub(super) fn snapshots(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let tags = text.split("{%").skip(1).filter_map(|tag| tag.split_once("%}"));
    let name = |(inside, _): (&str, &str)| {
        let mut words = inside.trim_matches('-').split_whitespace();
        (words.next() == Some("snapshot")).then(|| words.next().map(str::to_owned)).flatten()
    };
    tags.filter_map(name).collect()
}

/// Quoted texts, in order.
fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['\'', '"']) {
        let quote = &rest[start..=start];
        let Some((inside, behind)) = rest[start + 1..].split_once(quote) else { break };
        found.push(inside.to_owned());
        rest = behind;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_does_no_harm() {
        let mut docs = HashMap::new();
        for text in ["{%", "{% docs", "{% docs a %}", "{% docs %}x{% enddocs %}", "{% docs é %}ü"] {
            docs_blocks(text, &mut docs);
        }
        assert!(docs.is_empty());
        for text in ["ref(", "ref('", "source('a')", "ref ( 'é'", "{{ doc('"] {
            reads(text);
            described(text, &docs);
        }
    }
}
