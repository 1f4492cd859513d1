//! Excerpt: a small first index of the files with the words of a question, so that its answer need not wait for a full
//! index. It is published as a partial snapshot, which the next run completes.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memchr::memmem::Finder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::{Error, Job, OfProject, Options, Origin, Plan, Report, RunControl, of_project, rules, run, sidecar_of};
use codelode_base::config::Config;
use codelode_base::model::{Phase, SourceFile, nearest, nearness};
use codelode_lang::languages;
use codelode_source::discover::{self, Rules};
use codelode_store::SnapshotFacts;

/// Below this size, indexing first is as fast as searching the files directly.
const SMALL_FILES: usize = 1_000;
const SMALL_BYTES: u64 = 4_000_000;
/// Below this size, a folder is indexed within about three seconds on two cores. A first question waits for that,
/// because an answer from an excerpt would have to be asked for again.
const NEAR_FILES: usize = 4_000;
const NEAR_BYTES: u64 = 24_000_000;
/// The largest excerpt.
const MOST_FILES: usize = 150;
const MOST_BYTES: u64 = 1_500_000;
/// The most words searched for.
const MOST_WORDS: usize = 12;
/// The shortest word that may be misspelt, and the most missing or extra letters.
const SHORTEST_MISSPELT: usize = 4;
const MOST_SLIPS: usize = 2;
/// The most words in files that a misspelt one may mean.
const MOST_NEAR: usize = 3;
/// The time for searching files, and the longest time while some word was not found.
const TIME: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(4);
/// Files between two checks of the time.
const BATCH: usize = 128;
/// Further occurrences of a word in one file do not count.
const MANY: usize = 50;
/// The weight of test files, and of files without symbols.
const EXERCISING: f64 = 0.5;
const PLAIN: f64 = 0.3;

/// An excerpt that was published.
pub struct Excerpt {
    /// The run that published it.
    pub report: Report,
    /// The number of files in the folder.
    pub of: usize,
    /// The number of files searched before time was up.
    pub looked_at: usize,
}

/// Publishes the files of a folder that contain some of these words, best first, up to a limit. A word may be a path.
/// `None` if the folder is small or no file contains a word; then index the whole folder.
pub fn index_excerpt(
    root: &Path,
    config: &Config,
    words: &[String],
    options: &Options,
    watcher: &RunControl<'_>,
) -> Result<Option<Excerpt>, Error> {
    index_excerpt_in(&config.home, root, config, words, options, watcher)
}

/// Like [`index_excerpt`], in another index directory than the configured one.
pub fn index_excerpt_in(
    home: &Path,
    root: &Path,
    config: &Config,
    words: &[String],
    options: &Options,
    watcher: &RunControl<'_>,
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
    if is_within(&files, NEAR_FILES, NEAR_BYTES) {
        return Ok(None);
    }
    let phase = Phase::begin("look for words");
    let folder = Folder { root, rules: &rules, files: &files, cancelled: watcher.cancelled };
    let (mut chosen, mut looked_at) = folder.choose(words, &timed());
    if chosen.is_empty() {
        // No file contains any of the words, so they may be misspelt.
        let near = folder.near_words(words, &timed());
        (chosen, looked_at) = folder.choose(&near, &timed());
    }
    drop(phase);
    if chosen.is_empty() {
        return Ok(None);
    }
    chosen.sort_unstable();
    let plan = Plan { partial: true, ..Plan::of_files(chosen, started.elapsed()) };
    let job = Job { origin: &Origin::Folder(root), config: &config, rules: &rules, options, watcher };
    let report = run(&job, sidecar_of(root, &config), plan)?;
    Ok((report.facts.files > 0).then_some(Excerpt { report, of: files.len(), looked_at }))
}

/// The files of a folder too large to index before a first text search; `None` for a small one.
pub fn files_of_large(root: &Path, config: &Config, at_most: usize) -> Result<Option<Vec<SourceFile>>, Error> {
    let OfProject { config, .. } = of_project(root, config);
    let rules = Rules { stop_after: Some(at_most), ..rules(&config) };
    let _phase = Phase::begin("discover");
    let files = discover::walk(root, &rules)?.files;
    if files.len() > at_most {
        return Err(Error::TooMany(at_most));
    }
    Ok((!is_within(&files, SMALL_FILES, SMALL_BYTES)).then_some(files))
}

/// Whether the files do not exceed these limits.
fn is_within(files: &[SourceFile], most_files: usize, most_bytes: u64) -> bool {
    files.len() <= most_files && files.iter().map(|file| file.size).sum::<u64>() <= most_bytes
}

/// Whether a snapshot is only an excerpt.
pub fn is_excerpt(facts: &SnapshotFacts) -> bool {
    facts.partial && facts.files <= MOST_FILES as u64
}

/// A timer that starts now. It takes whether all words were found, and returns whether time is up.
fn timed() -> impl Fn(bool) -> bool {
    let began = Instant::now();
    move |has_all| began.elapsed() >= if has_all { TIME } else { LONGEST }
}

/// A folder whose files are searched.
struct Folder<'a> {
    root: &'a Path,
    rules: &'a Rules,
    files: &'a [SourceFile],
    cancelled: &'a AtomicBool,
}

impl Folder<'_> {
    /// Searches files in this order until time is up. `seen` takes each result, and returns whether everything was
    /// found. Returns the number of files searched.
    fn look<T: Send>(
        &self,
        order: &[usize],
        is_over: &dyn Fn(bool) -> bool,
        look: impl Fn(&SourceFile) -> Option<T> + Sync,
        mut seen: impl FnMut(usize, T) -> bool,
    ) -> usize {
        let (mut looked_at, mut has_all) = (0, false);
        for batch in order.chunks(BATCH) {
            if self.cancelled.load(Ordering::Relaxed) || (looked_at > 0 && is_over(has_all)) {
                break;
            }
            let found: Vec<Option<T>> = batch.par_iter().map(|place| look(&self.files[*place])).collect();
            for (place, found) in batch.iter().zip(found) {
                has_all |= found.is_some_and(|found| seen(*place, found));
            }
            looked_at += batch.len();
        }
        looked_at
    }

    /// Words in files that are spelt like the words of a question.
    fn near_words(&self, words: &[String], is_over: &dyn Fn(bool) -> bool) -> Vec<String> {
        let words: Vec<&String> =
            words.iter().take(MOST_WORDS).filter(|word| word.len() >= SHORTEST_MISSPELT).collect();
        if words.is_empty() {
            return Vec::new();
        }
        let look = |file: &SourceFile| -> Option<HashSet<String>> {
            languages::of_file(&file.path, b"")?;
            let text = discover::read(self.root, file, self.rules).ok()?;
            let names = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && byte.is_ascii());
            let names = names.filter(|name| words.iter().any(|word| name.len().abs_diff(word.len()) <= MOST_SLIPS));
            let distinct: HashSet<&[u8]> = names.collect();
            let texts = distinct.into_iter().filter_map(|name| std::str::from_utf8(name).ok());
            let is_near = |name: &&str| words.iter().any(|word| nearness(word, name).is_some());
            Some(texts.filter(is_near).map(str::to_owned).collect())
        };
        let mut found = HashSet::new();
        self.look(&likely_first(self.files, &[]), is_over, look, |_, some| {
            found.extend(some);
            false
        });
        let near = words.iter().flat_map(|word| nearest(word, found.iter().map(String::as_str), MOST_NEAR));
        near.map(str::to_owned).collect()
    }

    /// The files that contain the words, best first, and the number of files searched. Rare words count more, and words
    /// in a path twice.
    fn choose(&self, words: &[String], is_over: &dyn Fn(bool) -> bool) -> (Vec<SourceFile>, usize) {
        let files = self.files;
        let lower: Vec<String> = words.iter().take(MOST_WORDS).map(|word| word.to_ascii_lowercase()).collect();
        if lower.is_empty() {
            return (Vec::new(), 0);
        }
        let finders: Vec<Finder<'_>> = lower.iter().map(|word| Finder::new(word.as_bytes())).collect();
        let look = |file: &SourceFile| -> Option<Vec<usize>> {
            let mut text = discover::read(self.root, file, self.rules).ok()?;
            text.make_ascii_lowercase();
            Some(finders.iter().map(|finder| finder.find_iter(&text).take(MANY).count()).collect())
        };
        let mut counts: Vec<Option<Vec<usize>>> = vec![None; files.len()];
        let mut holders = vec![0; finders.len()];
        let in_path = |word: &String| files.iter().any(|file| file.path.to_ascii_lowercase().contains(word));
        let is_path: Vec<bool> = lower.iter().map(|word| word.contains('/') && in_path(word)).collect();
        let looked_at = self.look(&likely_first(files, &lower), is_over, look, |place, found: Vec<usize>| {
            holders.iter_mut().zip(&found).for_each(|(holders, count)| *holders += usize::from(*count > 0));
            counts[place] = Some(found);
            holders.iter().zip(&is_path).all(|(holders, is_path)| *holders > 0 || *is_path)
        });
        let rarity: Vec<f64> =
            holders.iter().map(|holders| (1.0 + files.len() as f64 / (1 + holders) as f64).ln()).collect();
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
        let chosen = scored.into_iter().filter(fits).take(MOST_FILES).map(|(_, file)| file.clone()).collect();
        (chosen, looked_at)
    }
}

/// Indices of the files in search order: those with most words in their path first, then code, tests, and other files.
fn likely_first(files: &[SourceFile], words: &[String]) -> Vec<usize> {
    let likeliness = |place: &usize| {
        let path = files[*place].path.to_ascii_lowercase();
        let in_path = words.iter().filter(|word| path.contains(word.as_str())).count();
        (Reverse(in_path), languages::of_file(&path, b"").is_none(), languages::exercises(&path))
    };
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_cached_key(likeliness);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_a_word_names_are_looked_into_first() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        std::fs::create_dir(folder.path().join("z")).expect("the folder is new");
        let mut paths: Vec<String> = (0..3 * BATCH).map(|number| format!("filler_{number:04}.py")).collect();
        paths.extend(["z/order.py", "z/order_tests.py", "z/other.py"].map(str::to_owned));
        for path in &paths {
            std::fs::write(folder.path().join(path), "def load_order(): pass\n").expect("there is room");
        }
        let rules = rules(&Config::default());
        let files = discover::walk(folder.path(), &rules).expect("it can be read").files;
        let cancelled = AtomicBool::new(false);
        let folder = Folder { root: folder.path(), rules: &rules, files: &files, cancelled: &cancelled };
        let words = ["order".to_owned()];
        // Even when time is up, some files are searched.
        let (chosen, looked_at) = folder.choose(&words, &|_| true);
        assert_eq!(looked_at, BATCH);
        assert_eq!(chosen[0].path, "z/order.py");
        assert_eq!(folder.choose(&words, &|_| false).1, files.len());
        // The remaining time is used until every word was found.
        let (_, looked_at) = folder.choose(&["order".to_owned(), "absent".to_owned()], &|has_all| has_all);
        assert_eq!(looked_at, files.len());
        assert_eq!(folder.choose(&words, &|has_all| has_all).1, BATCH);
    }
}
