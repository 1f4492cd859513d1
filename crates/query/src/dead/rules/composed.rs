//! Names composed at run time: `getattr(self, "do_" + name)`, `` eval(`on${event}()`) ``.

use rustc_hash::FxHashSet;

use super::{Answers, Asks, Evidence, Reached, Rule, Stage, Walk};
use crate::graph::is_part;

pub static RULE: Rule = Rule {
    name: "composed",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "a name that is put together at run time may be its own",
    asks: Asks::All(ask),
};

fn ask(walk: &mut Walk<'_, '_>, nodes: &[u32]) -> Answers {
    let graph = walk.project.graph;
    let files = graph.snapshot.files().filter(|file| !file.facts().is_empty() && !file.exercises());
    let all: FxHashSet<&[u8]> =
        files.flat_map(|file| prefixes(file.content(), file.conventions().reflection)).collect();
    let is_meant = |node: &u32| {
        let name = graph.symbols[*node as usize].name_bytes();
        (1..=name.len()).any(|end| all.contains(&name[..end]))
    };
    nodes.iter().copied().filter(is_meant).map(|node| (node, Evidence::Plain)).collect()
}

/// Beginnings of names that a file composes: `"do_" + name`, `"do_%s" % name`, `` [`on${event}`] ``.
fn prefixes<'a>(text: &'a [u8], reflection: &[&str]) -> Vec<&'a [u8]> {
    let is_index = reflection.contains(&"[");
    // A shorter beginning would fit almost every name.
    let least = if is_index { 2 } else { 3 };
    if !is_index && !reflection.iter().any(|word| memchr::memmem::find(text, word.as_bytes()).is_some()) {
        return Vec::new();
    }
    let may_be = |quote: &usize| !is_index || text[..*quote].ends_with(b"[") || text[..*quote].ends_with(b"eval(");
    let quotes = memchr::memchr3_iter(b'"', b'\'', b'`', text).filter(may_be);
    quotes.filter_map(|quote| prefix_at(text, quote)).filter(|prefix| prefix.len() >= least).collect()
}

/// The name after a quote, if the code appends more to it.
fn prefix_at(text: &[u8], quote: usize) -> Option<&[u8]> {
    let after = &text[quote + 1..];
    let (name, rest) = after.split_at(after.iter().position(|byte| !is_part(*byte))?);
    match rest.first()? {
        // The `$` of a template placeholder is no part of the name.
        b'{' => Some(name.strip_suffix(b"$").unwrap_or(name)),
        b'%' => Some(name),
        // `name.startswith("do_")` selects among all names.
        close if *close == text[quote] && text[..quote].ends_with(b".startswith(") => Some(name),
        close if *close == text[quote] => rest[1..].trim_ascii_start().starts_with(b"+").then_some(name),
        _ => None,
    }
}
