//! Searches commits by message, author, path and time.

use std::collections::HashMap;
use std::rc::Rc;

use globset::GlobMatcher;

use crate::symbols::telling::STOP_WORDS;
use codelode_source::git::{History, HistoryError, Log, LogEntry};
use codelode_store::stems;

/// The most commits read.
const MOST: usize = 100_000;
/// The most commits whose changed files are compared.
const COMPARED: usize = 5_000;
/// The searched part of a message, in bytes.
const LONGEST: usize = 4_000;
/// The weight of a word in the first line.
const SUBJECT: f32 = 3.0;

/// The commits to find.
#[derive(Default)]
pub struct CommitSearch<'a> {
    /// Words of the message, or the beginning of a commit's id; empty for all.
    pub query: &'a str,
    /// A part of the author's name or address.
    pub author: Option<&'a str>,
    /// A file or folder that the commits changed.
    pub path: Option<&'a str>,
    /// A pattern of paths that the commits changed.
    pub paths: Option<GlobMatcher>,
    /// The earliest and latest time, in seconds since 1970.
    pub times: (Option<i64>, Option<i64>),
    /// The most commits found.
    pub limit: usize,
}

/// The commits found, best first; newest first without words.
#[derive(Debug, Default)]
pub struct Commits {
    /// At most `limit` of them.
    pub commits: Vec<LogEntry>,
    /// The number of commits read.
    pub n_read: usize,
    /// Whether the whole history was read.
    pub is_whole: bool,
}

/// Finds commits among the ancestors of the current one.
pub fn commits(
    history: &History,
    search: &CommitSearch<'_>,
    is_over: &dyn Fn() -> bool,
) -> Result<Commits, HistoryError> {
    let Log { commits, is_whole } = history.log("HEAD", MOST, is_over)?;
    let mut found = Commits { n_read: commits.len(), is_whole, ..Commits::default() };
    let query = search.query.trim();
    let is_id = (7..=40).contains(&query.len()) && query.bytes().all(|byte| byte.is_ascii_hexdigit());
    let named = is_id.then(|| commits.iter().find(|one| one.commit.starts_with(&query.to_ascii_lowercase()))).flatten();
    let ranked = match named {
        Some(one) => vec![one],
        None => by_words(&commits, query),
    };
    let author = search.author.map(str::to_lowercase);
    let (since, until) = search.times;
    let mut n_compared = 0;
    for commit in ranked {
        let is_by = |author: &String| format!("{} <{}>", commit.author, commit.email).to_lowercase().contains(author);
        if !author.as_ref().is_none_or(is_by)
            || since.is_some_and(|since| commit.time < since)
            || until.is_some_and(|until| commit.time > until)
        {
            continue;
        }
        if search.path.is_some() || search.paths.is_some() {
            n_compared += 1;
            if n_compared > COMPARED && search.paths.is_some() || n_compared % 64 == 0 && is_over() {
                found.is_whole = false;
                break;
            }
            if !touches(history, commit, search) {
                continue;
            }
        }
        found.commits.push(commit.clone());
        if found.commits.len() == search.limit {
            break;
        }
    }
    Ok(found)
}

/// Whether a commit changed the searched path. A commit that cannot be compared counts as no.
fn touches(history: &History, commit: &LogEntry, search: &CommitSearch<'_>) -> bool {
    if let Some(path) = search.path {
        let now = history.content(&commit.commit, path);
        let same = |parent: &String| matches!((history.content(parent, path), &now), (Ok(was), Ok(now)) if was == *now);
        return match commit.parents.is_empty() {
            true => now.is_ok_and(|now| now.is_some()),
            // A merge that equals one of its parents changes nothing.
            false => {
                now.is_ok() && commit.parents.iter().all(|parent| history.logged(parent).is_some() && !same(parent))
            }
        };
    }
    let Some(paths) = &search.paths else { return true };
    commit.parents.len() < 2
        && history.changed_by(commit).is_ok_and(|changed| changed.iter().any(|file| paths.is_match(&file.path)))
}

/// Commits whose messages hold at least half of the query's words, weighted by rarity, best first.
fn by_words<'a>(commits: &'a [LogEntry], query: &str) -> Vec<&'a LogEntry> {
    let mut words: Vec<Rc<str>> = Vec::new();
    let query = query.to_lowercase();
    let telling = query.split_whitespace().filter(|word| !STOP_WORDS.contains(word));
    for stem in telling.flat_map(stems) {
        if !words.contains(&stem) {
            words.push(stem);
        }
    }
    if words.is_empty() {
        return if query.is_empty() { commits.iter().collect() } else { Vec::new() };
    }
    let places: HashMap<&str, usize> = words.iter().enumerate().map(|(place, word)| (&**word, place)).collect();
    let mut held = vec![0_f32; words.len()];
    let mut total = 0.0;
    let mut holding = Vec::new();
    for (place, commit) in commits.iter().enumerate() {
        let mut counts = vec![0_f32; words.len()];
        let mut length = 0.0;
        let message = &commit.message[..commit.message.floor_char_boundary(LONGEST)];
        let subject = commit.subject();
        for (text, weight) in [(subject, SUBJECT - 1.0), (message, 1.0)] {
            for stem in stems(text) {
                length += weight;
                if let Some(word) = places.get(&*stem) {
                    counts[*word] += weight;
                }
            }
        }
        total += length;
        if counts.iter().any(|count| *count > 0.0) {
            counts.iter().zip(&mut held).for_each(|(count, held)| *held += f32::from(u8::from(*count > 0.0)));
            holding.push((place, counts, length));
        }
    }
    let (all, mean) = (commits.len() as f32, (total / commits.len().max(1) as f32).max(1.0));
    let rarity: Vec<f32> = held.iter().map(|held| (1.0 + (all - held + 0.5) / (held + 0.5)).ln()).collect();
    let least = rarity.iter().sum::<f32>() / 2.0;
    let mut ranked: Vec<(f32, usize)> = Vec::new();
    for (place, counts, length) in holding {
        let (mut score, mut share) = (0.0, 0.0);
        for (count, rarity) in counts.iter().zip(&rarity).filter(|(count, _)| **count > 0.0) {
            share += rarity;
            score += rarity * count * 2.2 / (count + 1.2 * (0.7 + 0.3 * length / mean));
        }
        if share >= least {
            ranked.push((score, place));
        }
    }
    // Among equals, the newest come first.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    ranked.into_iter().map(|(_, place)| &commits[place]).collect()
}
