//! Dead code compared with what a reader found: verdicts on real repositories, each looked at by hand, and planted
//! functions whose fate is known.
//!
//! `dead/fetch.sh` brings the repositories of `dead/repositories.txt`; `dead/verdicts.tsv` has the verdicts. With `dead -- ablate`,
//! each rule is left out in its turn: the mistakes that it avoids, the right verdicts that it costs, the repositories where
//! it decides.

mod measure;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use codelode::pipeline;
use codelode::query::dead::rules::{RULES, Stage};
use codelode::query::dead::{Options, Tier, dead_code};
use globset::GlobSet;
use measure::plants::{Fate, PLANTS, plant};
use measure::results::{Results, report};
use measure::{Indexed, corpus, scratch};

const REPOSITORIES: &str = include_str!("dead/repositories.txt");
/// Repository, symbol, whether it is dead, and why, in columns.
const VERDICTS: &str = include_str!("dead/verdicts.tsv");
/// Verdicts read of each repository, and the seed by which they are drawn.
const MOST: usize = 150;
const SEED: u64 = 18;

fn main() {
    let _results = Results::of("dead");
    let is_ablated = std::env::args().any(|arg| arg == "ablate");
    if !is_ablated && !measure::wants("dead") {
        return;
    }
    let Some(all) = corpus("dead") else { return };
    let words = std::env::args().skip(1).filter(|arg| !arg.starts_with('-') && arg != "ablate" && arg != "dead");
    let only: Vec<String> = words.collect();
    let rows = REPOSITORIES.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let repositories: Vec<(&str, PathBuf, &str)> = rows
        .map(|row| {
            let [repository, _, language] = row[..] else { panic!("three columns: {row:?}") };
            let name = repository.rsplit('/').next().unwrap_or(repository);
            (name, all.join(name), language)
        })
        .filter(|(name, root, _)| root.is_dir() && (only.is_empty() || only.iter().any(|only| only == name)))
        .collect();
    if is_ablated { ablate(&repositories) } else { compare(&repositories) }
}

/// Compares all verdicts with those of a reader, and plants functions.
fn compare(repositories: &[(&str, PathBuf, &str)]) {
    report!(
        "| repository | certain: right, wrong, unread | default: right, wrong, unread | plants found | live called dead |"
    );
    report!("|---|---|---|---|---|");
    let mut sums = [Tally::default(), Tally::default()];
    let mut planted: HashMap<&str, (usize, usize, usize)> = HashMap::new();
    for (name, root, language) in repositories {
        let tallies = judge(name, &dead_in(root));
        let (found, of, wrong) = recall(root, language);
        let [sure, default] = &tallies;
        report!("| {name} | {} | {} | {found} of {of} | {wrong} |", sure.shown(), default.shown());
        sums.iter_mut().zip(&tallies).for_each(|(sum, own)| sum.add(own));
        let sum = planted.entry(language).or_default();
        *sum = (sum.0 + found, sum.1 + of, sum.2 + wrong);
    }
    for (what, sum) in ["certain", "default"].into_iter().zip(&sums) {
        report!("precision at {what}: {:.3} of {}", sum.right as f64 / sum.read() as f64, sum.read());
    }
    let mut planted: Vec<_> = planted.into_iter().collect();
    planted.sort_unstable();
    for (language, (found, of, wrong)) in planted {
        report!("recall on plants in {language}: {:.3} of {of}, live called dead: {wrong}", found as f64 / of as f64);
    }
}

/// The effect of a rule: what is listed by default without it, beside what is listed with it.
#[derive(Default)]
struct Effect {
    avoided: usize,
    lost: usize,
    unread: usize,
    touched: BTreeSet<String>,
}

/// Leaves each rule out in its turn.
fn ablate(repositories: &[(&str, PathBuf, &str)]) {
    let mut effects: HashMap<&str, Effect> = HashMap::new();
    for (name, root, _) in repositories {
        let read = read_of(name);
        let folder = scratch();
        let indexed = Indexed::new(root, folder.path());
        let snapshot = indexed.snapshot();
        let edges = pipeline::relations(&snapshot).expect("the index can be read");
        let listed = |without: Option<&str>, least: Tier| -> BTreeSet<String> {
            let patterns = GlobSet::empty();
            let found = dead_code(&snapshot, edges, &Options { without, ..Options::new(&patterns) });
            let is_listed = |tier: Tier| tier == Tier::Certain || tier == least;
            found.symbols.iter().filter(|dead| is_listed(dead.tier)).map(|dead| dead.symbol.id()).collect()
        };
        let (default, certain) = (listed(None, Tier::Likely), listed(None, Tier::Certain));
        for rule in RULES {
            // A rule of caution keeps verdicts from the surest tier alone.
            let (least, all) = match rule.stage {
                Stage::Caution => (Tier::Certain, &certain),
                _ => (Tier::Likely, &default),
            };
            let effect = effects.entry(rule.name).or_default();
            for symbol in listed(Some(rule.name), least).difference(all) {
                match read.get(symbol.as_str()) {
                    Some(true) => effect.lost += 1,
                    Some(false) => effect.avoided += 1,
                    None => {
                        effect.unread += 1;
                        eprintln!("{name}\t{symbol}\t{}\tunread", rule.name);
                    }
                }
                effect.touched.insert((*name).to_owned());
            }
        }
        eprintln!("{name}");
    }
    report!("| rule | mistakes avoided | right verdicts lost | unread | repositories touched |");
    report!("|---|---|---|---|---|");
    for rule in RULES {
        let Effect { avoided, lost, unread, touched } = &effects[rule.name];
        report!("| {} | {avoided} | {lost} | {unread} | {} |", rule.name, touched.len());
    }
}

/// Verdicts of a reader on a repository: whether a symbol is dead.
fn read_of(name: &str) -> HashMap<&'static str, bool> {
    let rows = VERDICTS.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row[0] == name).map(|row| (row[1], row[2] == "dead")).collect()
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

/// The dead symbols of a folder that are listed by default: id, line, tier.
fn dead_in(root: &Path) -> Vec<(String, u32, Tier)> {
    let folder = scratch();
    let indexed = Indexed::new(root, folder.path());
    let snapshot = indexed.snapshot();
    let edges = pipeline::relations(&snapshot).expect("the index can be read");
    let patterns = GlobSet::empty();
    let found = dead_code(&snapshot, edges, &Options::new(&patterns)).symbols;
    let listed = found.iter().filter(|dead| matches!(dead.tier, Tier::Certain | Tier::Likely));
    listed.map(|dead| (dead.symbol.id(), dead.symbol.line(), dead.tier)).collect()
}

/// Compares what is found in a repository with the verdicts of a reader: at 1.0, and at the default.
fn judge(name: &str, found: &[(String, u32, Tier)]) -> [Tally; 2] {
    let read = read_of(name);
    let mut drawn: Vec<_> = found.iter().collect();
    drawn.sort_by_key(|(id, _, _)| codelode::facts::hash(&format!("{SEED}{id}")));
    let mut tallies = [Tally::default(), Tally::default()];
    for (id, _, tier) in drawn.into_iter().take(MOST) {
        let is_dead = read.get(id.as_str());
        if is_dead != Some(&true) {
            eprintln!("{name}\t{id}\t{}\t{}", tier.confidence(), if is_dead.is_none() { "unread" } else { "wrong" });
        }
        let from = usize::from(*tier != Tier::Certain);
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
