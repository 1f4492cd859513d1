//! Names that are put together at run time: `getattr(self, "do_" + name)`, `` eval(`on${event}()`) ``.

use rustc_hash::FxHashSet;

use super::{Answers, Asks, Evidence, Reached, Rule, Stage, Walk};
use crate::query::graph::is_part;

pub static RULE: Rule = Rule {
    name: "composed",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "a name that is put together at run time may be its own",
    asks: Asks::All(ask),
};

fn ask(walk: &mut Walk<'_, '_>, nodes: &[u32]) -> Answers {
    let graph = walk.project.graph;
    let mut all: FxHashSet<(&[u8], &[u8])> = FxHashSet::default();
    for file in graph.snapshot.files().filter(|file| !file.facts().is_empty() && !file.exercises()) {
        all.extend(affixes(file.content(), file.conventions().reflection));
    }
    let is_meant = |node: &u32| {
        let name = graph.symbols[*node as usize].name_bytes();
        all.iter().any(|affixes| fits(name, *affixes))
    };
    nodes.iter().copied().filter(is_meant).map(|node| (node, Evidence::Plain)).collect()
}

/// Prefixes and suffixes of names that a file puts together: `"do_" + name`, `"as_%s" % vendor`,
/// `` [`on${event}`] ``, `` eval(`on${event}()`) ``.
fn affixes<'a>(text: &'a [u8], reflection: &[&str]) -> Vec<(&'a [u8], &'a [u8])> {
    let is_index = reflection.contains(&"[");
    // Shorter ones would fit almost every name.
    let least = if is_index { 2 } else { 3 };
    if !is_index && !reflection.iter().any(|word| memchr::memmem::find(text, word.as_bytes()).is_some()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let may_be = |quote: &usize| !is_index || text[..*quote].ends_with(b"[") || text[..*quote].ends_with(b"eval(");
    for quote in quotes(text).filter(may_be) {
        let start = name_after(text, quote);
        let rest = &text[quote + 1 + start.len()..];
        // The mark of what a template puts in is no part of the name.
        let start = if rest.starts_with(b"{") { start.strip_suffix(b"$").unwrap_or(start) } else { start };
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let (Some(next), Some(close)) = (line.first(), line.iter().position(|byte| *byte == text[quote])) else {
            continue;
        };
        let end = match next {
            b'%' | b'{' | b'$' => {
                let inside = &line[..close];
                let end = &inside[inside.iter().rposition(|byte| !is_part(*byte)).map_or(0, |at| at + 1)..];
                // A letter of `%s` is no part of the name.
                end.get(usize::from(*next == b'%')..).unwrap_or_default()
            }
            _ if close == 0 && line[1..].trim_ascii_start().starts_with(b"+") => &line[..0],
            // `name.startswith("do_")`, of all names.
            _ if close == 0 && text[..quote].ends_with(b".startswith(") => &line[..0],
            _ => continue,
        };
        if start.len() + end.len() >= least {
            found.push((start, end));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn fits(name: &[u8], (start, end): (&[u8], &[u8])) -> bool {
    name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
}

/// The places of quotes.
fn quotes(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr3_iter(b'"', b'\'', b'`', text)
}

/// The name that begins after a byte.
fn name_after(text: &[u8], at: usize) -> &[u8] {
    let after = text.get(at + 1..).unwrap_or_default();
    &after[..after.iter().position(|byte| !is_part(*byte)).unwrap_or(after.len())]
}
