//! Dead code compared with what a reader found: verdicts on real repositories, each looked at by hand, and planted
//! functions whose fate is known.
//!
//! `dead/fetch.sh` brings the repositories of `dead/repositories.txt`; `dead/verdicts.tsv` has the verdicts.

mod measure;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use codelode::pipeline;
use codelode::query::{self, Certainty};
use globset::GlobSet;
use measure::plants::{Fate, PLANTS, plant};
use measure::{Indexed, corpus, scratch};

const REPOSITORIES: &str = include_str!("dead/repositories.txt");
/// Repository, symbol, whether it is dead, and why, in columns.
const VERDICTS: &str = include_str!("dead/verdicts.tsv");
/// Verdicts read of each repository, and the seed by which they are drawn.
const MOST: usize = 150;
const SEED: u64 = 18;

fn main() {
    if !measure::wants("dead") {
        return;
    }
    let Some(all) = corpus("dead") else { return };
    let only = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).nth(1);
    println!(
        "| repository | 1.0: right, wrong, unread | default: right, wrong, unread | plants found | live called dead |"
    );
    println!("|---|---|---|---|---|");
    let mut sums = [Tally::default(), Tally::default()];
    let mut planted: HashMap<&str, (usize, usize, usize)> = HashMap::new();
    for line in REPOSITORIES.lines() {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [repository, _, language] = columns[..] else { panic!("three columns: {line}") };
        let name = repository.rsplit('/').next().unwrap_or(repository);
        let root = all.join(name);
        if only.as_ref().is_some_and(|only| only != name) || !root.is_dir() {
            continue;
        }
        let tallies = judge(name, &dead_in(&root));
        let (found, of, wrong) = recall(&root, language);
        let [sure, default] = &tallies;
        println!("| {name} | {} | {} | {found} of {of} | {wrong} |", sure.shown(), default.shown());
        sums.iter_mut().zip(&tallies).for_each(|(sum, own)| sum.add(own));
        let sum = planted.entry(language).or_default();
        *sum = (sum.0 + found, sum.1 + of, sum.2 + wrong);
    }
    for (what, sum) in ["1.0", "default"].into_iter().zip(&sums) {
        println!("precision at {what}: {:.3} of {}", sum.right as f64 / sum.read() as f64, sum.read());
    }
    let mut planted: Vec<_> = planted.into_iter().collect();
    planted.sort_unstable();
    for (language, (found, of, wrong)) in planted {
        println!("recall on plants in {language}: {:.3} of {of}, live called dead: {wrong}", found as f64 / of as f64);
    }
}

/// Verdicts compared with those of a reader.
#[derive(Default)]
struct Tally {
    right: usize,
    wrong: usize,
    unread: usize,
}

impl Tally {
    fn read(&self) -> usize {
        (self.right + self.wrong).max(1)
    }

    fn shown(&self) -> String {
        format!("{}, {}, {}", self.right, self.wrong, self.unread)
    }

    fn add(&mut self, other: &Self) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.unread += other.unread;
    }
}

/// The dead symbols of a folder: id, line, confidence.
fn dead_in(root: &Path) -> Vec<(String, u32, f64)> {
    let folder = scratch();
    let indexed = Indexed::new(root, folder.path());
    let snapshot = indexed.snapshot();
    let edges = pipeline::relations(&snapshot).expect("the index can be read");
    let found = query::dead_code(&snapshot, edges, false, &GlobSet::empty()).symbols;
    let sure = found.iter().filter(|dead| dead.certainty >= Certainty::Offered);
    sure.map(|dead| (dead.symbol.id(), dead.symbol.line(), dead.certainty.confidence())).collect()
}

/// Compares what is found in a repository with the verdicts of a reader: at 1.0, and at the default.
fn judge(name: &str, found: &[(String, u32, f64)]) -> [Tally; 2] {
    let rows = VERDICTS.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let read: HashMap<&str, bool> = rows.filter(|row| row[0] == name).map(|row| (row[1], row[2] == "dead")).collect();
    let mut drawn: Vec<_> = found.iter().collect();
    drawn.sort_by_key(|(id, _, _)| codelode::facts::hash(&format!("{SEED}{id}")));
    let mut tallies = [Tally::default(), Tally::default()];
    for (id, _, confidence) in drawn.into_iter().take(MOST) {
        let is_dead = read.get(id.as_str());
        if is_dead != Some(&true) {
            eprintln!("{name}\t{id}\t{confidence}\t{}", if is_dead.is_none() { "unread" } else { "wrong" });
        }
        let from = if *confidence < 1.0 { 1 } else { 0 };
        for tally in &mut tallies[from..] {
            match is_dead {
                Some(true) => tally.right += 1,
                Some(false) => tally.wrong += 1,
                None => tally.unread += 1,
            }
        }
    }
    tallies
}

/// Plants functions in a copy; returns how many of the dead ones are found, their number, and live ones called dead.
fn recall(root: &Path, language: &str) -> (usize, usize, usize) {
    let folder = scratch();
    let copied = folder.path().join("source");
    measure::copy(root, &copied, false);
    let planted = plant(&copied, language);
    let found = dead_in(&copied);
    let is_found = |path: &PathBuf, line: u32| {
        let path = path.strip_prefix(&copied).unwrap_or(path).to_string_lossy().into_owned() + "::";
        found.iter().any(|(id, own, _)| id.starts_with(&path) && *own == line)
    };
    let mut sum = (0, 0, 0);
    for one in &planted {
        let is_found = is_found(&one.path, one.line);
        match one.fate {
            Fate::Dead => sum = (sum.0 + usize::from(is_found), sum.1 + 1, sum.2),
            Fate::Live => sum.2 += usize::from(is_found),
        }
        if is_found == (one.fate == Fate::Live) {
            let text = fs::read_to_string(&one.path).unwrap_or_default();
            let line = text.lines().nth(one.line as usize - 1).unwrap_or_default();
            eprintln!("planted {:?}: {}: {}", one.fate, one.path.display(), line.trim());
        }
    }
    debug_assert!(PLANTS.iter().any(|plant| plant.language == language));
    sum
}
