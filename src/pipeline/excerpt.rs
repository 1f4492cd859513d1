//! Excerpt of a folder without an index: the files that hold the words of a first question, so that its answer need not
//! wait for the rest. It is published as a partial snapshot, which the next run completes.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memchr::memmem::Finder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::{Error, Job, OfProject, Options, Origin, Plan, Report, Watcher, of_project, rules, run, sidecar_of};
use crate::config::Config;
use crate::discover::{self, Rules};
use crate::languages;
use crate::model::{Phase, SourceFile, nearest, nearness};
use crate::store::SnapshotFacts;

/// Folders with fewer files and bytes are indexed whole in the same time.
const SMALL_FILES: usize = 1_000;
const SMALL_BYTES: u64 = 4_000_000;
/// Maximum size of an excerpt.
const MOST_FILES: usize = 150;
const MOST_BYTES: u64 = 1_500_000;
/// Maximum number of words that are looked for.
const MOST_WORDS: usize = 12;
/// Shortest word that may be misspelt, and the most letters that are missing or too many.
const SHORTEST_MISSPELT: usize = 4;
const MOST_SLIPS: usize = 2;
/// Words of files that may be meant by a misspelt one.
const MOST_NEAR: usize = 3;
/// Maximum time for looking into files.
const TIME: Duration = Duration::from_secs(1);
/// Occurrences of a word in one file beyond which more say nothing.
const MANY: usize = 50;
/// Weight of a file that exercises other code, and of one without symbols.
const EXERCISING: f64 = 0.5;
const PLAIN: f64 = 0.3;

/// An excerpt that was published.
pub struct Excerpt {
    /// The run that published it.
    pub report: Report,
    /// Number of files of the folder.
    pub of: usize,
}

/// Publishes the files of a folder that hold some of these words, best first as far as they fit; a word may be the path
/// of a file. `None` for a folder that is small, and when no file holds a word: then index the whole folder.
pub fn index_excerpt(
    root: &Path,
    config: &Config,
    words: &[String],
    options: &Options,
    watcher: &Watcher<'_>,
) -> Result<Option<Excerpt>, Error> {
    index_excerpt_in(&config.home, root, config, words, options, watcher)
}

/// Does what [`index_excerpt`] does, in an index directory other than the configured one.
pub fn index_excerpt_in(
    home: &Path,
    root: &Path,
    config: &Config,
    words: &[String],
    options: &Options,
    watcher: &Watcher<'_>,
) -> Result<Option<Excerpt>, Error> {
    let started = Instant::now();
    (watcher.progress)(0, None, "looking for files");
    let OfProject { config, .. } = of_project(root, config);
    let mut rules = Rules { stop_after: options.at_most, ..rules(&config) };
    rules.extra_ignore.extend(options.extra_ignore.iter().cloned());
    rules.follow_symlinks = options.follow_symlinks;
    let config = Config { home: home.to_owned(), ..config };
    let phase = Phase::begin("discover");
    let files = discover::walk(root, &rules)?.files;
    drop(phase);
    if let Some(most) = options.at_most.filter(|most| files.len() > *most) {
        return Err(Error::TooMany(most));
    }
    if is_small(&files) {
        return Ok(None);
    }
    let phase = Phase::begin("look for words");
    let mut chosen = choose(root, &rules, &files, words, watcher.cancelled);
    if chosen.is_empty() {
        // No file holds any of the words: they may be misspelt.
        let near = near_words(root, &rules, &files, words, watcher.cancelled);
        chosen = choose(root, &rules, &files, &near, watcher.cancelled);
    }
    drop(phase);
    if chosen.is_empty() {
        return Ok(None);
    }
    chosen.sort_unstable();
    let plan = Plan { partial: true, ..Plan::of_files(chosen, started.elapsed()) };
    let job = Job { origin: &Origin::Folder(root), config: &config, rules: &rules, options, watcher };
    let report = run(&job, sidecar_of(root, &config), plan)?;
    Ok((report.facts.files > 0).then_some(Excerpt { report, of: files.len() }))
}

/// Files of a folder that is too large to be indexed before a first search of its text; `None` for a small one.
pub fn files_of_large(root: &Path, config: &Config, at_most: usize) -> Result<Option<Vec<SourceFile>>, Error> {
    let OfProject { config, .. } = of_project(root, config);
    let rules = Rules { stop_after: Some(at_most), ..rules(&config) };
    let _phase = Phase::begin("discover");
    let files = discover::walk(root, &rules)?.files;
    if files.len() > at_most {
        return Err(Error::TooMany(at_most));
    }
    Ok((!is_small(&files)).then_some(files))
}

/// Whether indexing these files takes no longer than finding some among them.
fn is_small(files: &[SourceFile]) -> bool {
    files.len() <= SMALL_FILES && files.iter().map(|file| file.size).sum::<u64>() <= SMALL_BYTES
}

/// Whether a snapshot is no more than an excerpt.
pub fn is_excerpt(facts: &SnapshotFacts) -> bool {
    facts.partial && facts.files <= MOST_FILES as u64
}

/// Words of the files nearest to the words of a question.
fn near_words(
    root: &Path,
    rules: &Rules,
    files: &[SourceFile],
    words: &[String],
    cancelled: &AtomicBool,
) -> Vec<String> {
    let until = Instant::now() + TIME;
    let words: Vec<&String> = words.iter().take(MOST_WORDS).filter(|word| word.len() >= SHORTEST_MISSPELT).collect();
    let look = |file: &SourceFile| -> HashSet<String> {
        let is_code = languages::of_file(&file.path, b"").is_some();
        if words.is_empty() || !is_code || cancelled.load(Ordering::Relaxed) || Instant::now() >= until {
            return HashSet::new();
        }
        let text = discover::read(root, file, rules).unwrap_or_default();
        let names = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && byte.is_ascii());
        let names = names.filter(|name| words.iter().any(|word| name.len().abs_diff(word.len()) <= MOST_SLIPS));
        let distinct: HashSet<&[u8]> = names.collect();
        let texts = distinct.into_iter().filter_map(|name| std::str::from_utf8(name).ok());
        let is_near = |name: &&str| words.iter().any(|word| nearness(word, name).is_some());
        texts.filter(is_near).map(str::to_owned).collect()
    };
    let found: HashSet<String> = files.par_iter().map(look).reduce(HashSet::new, |mut all, some| {
        all.extend(some);
        all
    });
    let near = words.iter().flat_map(|word| nearest(word, found.iter().map(String::as_str), MOST_NEAR));
    near.map(str::to_owned).collect()
}

/// Files that hold the words: rare words count more, and words in a path twice.
fn choose(
    root: &Path,
    rules: &Rules,
    files: &[SourceFile],
    words: &[String],
    cancelled: &AtomicBool,
) -> Vec<SourceFile> {
    let until = Instant::now() + TIME;
    let lower: Vec<String> = words.iter().take(MOST_WORDS).map(|word| word.to_ascii_lowercase()).collect();
    let finders: Vec<Finder<'_>> = lower.iter().map(|word| Finder::new(word.as_bytes())).collect();
    let look = |file: &SourceFile| -> Option<Vec<usize>> {
        if cancelled.load(Ordering::Relaxed) || Instant::now() >= until {
            return None;
        }
        let mut text = discover::read(root, file, rules).ok()?;
        text.make_ascii_lowercase();
        Some(finders.iter().map(|finder| finder.find_iter(&text).take(MANY).count()).collect())
    };
    let counts: Vec<Option<Vec<usize>>> = files.par_iter().map(look).collect();
    let holders = |word: usize| counts.iter().flatten().filter(|counts| counts[word] > 0).count();
    let rarity: Vec<f64> =
        (0..finders.len()).map(|word| (1.0 + files.len() as f64 / (1 + holders(word)) as f64).ln()).collect();
    let score = |file: &SourceFile, counts: &[usize]| {
        let path = file.path.to_ascii_lowercase();
        let of_word = |word: usize| {
            let in_path = f64::from(u8::from(path.contains(&lower[word])));
            let in_text = if counts[word] > 0 { 1.0 + (counts[word] as f64).ln() } else { 0.0 };
            rarity[word] * (in_text + in_path)
        };
        let role = if languages::exercises(&path) { EXERCISING } else { 1.0 };
        let kind = if languages::of_file(&path, b"").is_some() { 1.0 } else { PLAIN };
        (0..finders.len()).map(of_word).sum::<f64>() * role * kind
    };
    let mut scored: Vec<(f64, &SourceFile)> = Vec::new();
    for (file, counts) in files.iter().zip(&counts) {
        if words.contains(&file.path) {
            scored.push((f64::INFINITY, file));
        } else if let Some(counts) = counts.as_ref().filter(|counts| counts.iter().any(|count| *count > 0)) {
            scored.push((score(file, counts), file));
        }
    }
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.path.cmp(&other.1.path)));
    let mut left = MOST_BYTES;
    let fits = |(score, file): &(f64, &SourceFile)| {
        let fits = file.size <= left || score.is_infinite();
        left = left.saturating_sub(if fits { file.size } else { 0 });
        fits
    };
    scored.into_iter().filter(fits).take(MOST_FILES).map(|(_, file)| file.clone()).collect()
}
