//! Side effects of a change: newly unused code, and new import cycles of folders.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use globset::GlobSet;
use rustc_hash::FxHashSet;

use super::reach::{holds_word, is_word_byte};
use super::touched::{Change, Touched};
use crate::dead::{Options, Tier, dead_code};
use crate::{Version, folder, line_of, line_text};
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// Unused symbols that the change added, or took a user from.
pub fn newly_dead<'a>(
    snapshot: &'a Snapshot,
    edges: &'a EdgeTable,
    touched: &[Touched<'_, '_>],
    patterns: &GlobSet,
) -> Vec<(SymbolView<'a>, f64)> {
    let added = touched.iter().filter(|touched| matches!(touched.change, Change::Added));
    let new: FxHashSet<SymbolId> = added.filter_map(|touched| Some(touched.symbol?.number())).collect();
    let lost: FxHashSet<&[u8]> = touched.iter().flat_map(lost_words).collect();
    let is_new = |symbol: &SymbolView<'_>| new.contains(&symbol.number());
    let lost_user = |symbol: &SymbolView<'_>| {
        let name = symbol.name_bytes();
        if name.iter().copied().all(is_word_byte) {
            return lost.contains(name);
        }
        // A name that is no word, such as an operator, is searched for in each text.
        touched.iter().any(|touched| {
            let holds = |text: &[u8]| holds_word(text, name);
            let (was, now) = texts(touched);
            holds(was) && !holds(now)
        })
    };
    let dead = dead_code(snapshot, edges, &Options::new(patterns)).symbols.into_iter();
    // A symbol that lost a known use is reported even in doubt, unless some text names it.
    let fresh = dead.filter(|dead| {
        let is_left = || dead.tier == Tier::Unclear && dead.rule != Some("named");
        let is_sure = dead.tier >= Tier::Likely;
        is_sure && is_new(&dead.symbol) || (is_sure || is_left()) && lost_user(&dead.symbol)
    });
    fresh.map(|dead| (dead.symbol, dead.tier.confidence())).collect()
}

/// The texts of a symbol before and after a change; empty where there is none.
fn texts<'c>(touched: &Touched<'c, '_>) -> (&'c [u8], &'c [u8]) {
    let source = |version: Option<&'c Version<'c>>| version.map_or(&[][..], |version| version.source);
    (source(touched.was), source(touched.now))
}

/// The words that a change removed from a symbol.
fn lost_words<'c>(touched: &Touched<'c, '_>) -> FxHashSet<&'c [u8]> {
    let words = |text: &'c [u8]| text.split(|byte| !is_word_byte(*byte)).filter(|word| !word.is_empty());
    let (was, now) = texts(touched);
    let mut lost: FxHashSet<&[u8]> = words(was).collect();
    for word in words(now) {
        lost.remove(word);
    }
    lost
}

/// An import that closes a new cycle of folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Importing file.
    pub file: String,
    /// The line of the import.
    pub line: u32,
    /// The folders of the cycle, from the importing one back to itself.
    pub folders: Vec<String>,
}

/// Cycles of folders that a new import closes. `changed` holds each changed file with its old text.
pub fn new_rings<'t>(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    changed: impl Iterator<Item = (&'t str, Option<&'t [u8]>)>,
) -> Vec<Ring> {
    let changed: HashMap<&str, Option<&[u8]>> = changed.collect();
    let mut old: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut new: BTreeMap<(&str, &str), (FileView<'_>, u32)> = BTreeMap::new();
    for file in snapshot.files().filter(|file| !file.is_test() && !file.facts().is_empty()) {
        for import in edges.imports(file.number()) {
            let Some(target) = snapshot.file_by_number(import.to).filter(|target| !target.is_test()) else { continue };
            let pair = (folder(file.path()), folder(target.path()));
            if pair.0 == pair.1 {
                continue;
            }
            let text = line_text(file, import.at);
            let was_there = match changed.get(file.path()) {
                Some(before) => before.is_some_and(|before| memchr::memmem::find(before, text.as_bytes()).is_some()),
                None => true,
            };
            match was_there {
                true => drop(old.insert(pair)),
                false => drop(new.entry(pair).or_insert((file, import.at))),
            }
        }
    }
    new.retain(|pair, _| !old.contains(pair));
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in old.iter().chain(new.keys()) {
        next.entry(from).or_default().push(to);
    }
    let rings = new.iter().filter_map(|((from, to), (file, at))| {
        let way = way(&next, to, from)?;
        let folders = std::iter::once(*from).chain(way).map(shown).collect();
        Some(Ring { file: file.path().to_owned(), line: line_of(*file, *at), folders })
    });
    rings.collect()
}

/// The shortest import path between two folders.
fn way<'f>(next: &BTreeMap<&'f str, Vec<&'f str>>, from: &'f str, to: &'f str) -> Option<Vec<&'f str>> {
    let mut before: HashMap<&str, Option<&'f str>> = HashMap::from([(from, None)]);
    let mut waiting = std::collections::VecDeque::from([from]);
    while let Some(at) = waiting.pop_front() {
        if at == to {
            let mut way: Vec<&str> = std::iter::successors(Some(at), |at| *before.get(at)?).collect();
            way.reverse();
            return Some(way);
        }
        for other in next.get(at).into_iter().flatten() {
            before.entry(other).or_insert_with(|| {
                waiting.push_back(other);
                Some(at)
            });
        }
    }
    None
}

fn shown(folder: &str) -> String {
    if folder.is_empty() { ".".to_owned() } else { folder.to_owned() }
}
