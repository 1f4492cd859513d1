//! Text search in the files of a commit that is not indexed. They are read and searched in parallel.

use std::sync::atomic::Ordering;

use grep_matcher::Matcher as _;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::scan::Limits;
use crate::text::{Matcher, SearchOptions, searcher};
use codelode_base::model::{SourceError, SourceTree, TreeEntry, is_text};

/// The number of files per batch; results are collected after each.
const BATCH: usize = 1024;
/// The most bytes shown of a line, around its first match.
const LONGEST: usize = 2_000;

/// A pattern, and the window of its matches to return.
pub struct BlobSearch<'a> {
    /// The pattern.
    pub matcher: &'a Matcher,
    /// The number of lines shown before each match.
    pub before: usize,
    /// The number of lines shown after each match.
    pub after: usize,
    /// The number of matching lines to skip, by path and line.
    pub skip: usize,
    /// The number of matching lines to return.
    pub take: usize,
}

/// A matching line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the line, from one.
    pub number: u64,
    /// The line without its end; invalid UTF-8 is replaced.
    pub text: String,
    /// The matches, as start and length in bytes of `text`.
    pub ranges: Vec<(usize, usize)>,
    /// Whether `text` is only a part of the line.
    pub cut: bool,
    /// The lines before, oldest first.
    pub before: Vec<String>,
    /// The lines after.
    pub after: Vec<String>,
}

/// A file and its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLines {
    /// Its path.
    pub path: String,
    /// At least one.
    pub lines: Vec<Line>,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The requested lines, by path.
    pub files: Vec<FileLines>,
    /// Text files searched.
    pub searched: u64,
    /// Files with a match.
    pub matching: u64,
    /// Matching lines in total.
    pub total: u64,
    /// Binary files.
    pub binary: u64,
    /// Files that could not be read.
    pub failures: Vec<SourceError>,
    /// Whether time ran out before all files were searched.
    pub timed_out: bool,
}

/// The result for one file.
enum FileResult {
    Skipped,
    Binary,
    Failed(SourceError),
    Lines(u64, Vec<Line>),
}

/// Searches the entries, which must be files in the order of their paths.
pub fn search(tree: &dyn SourceTree, entries: &[&TreeEntry], wanted: &BlobSearch<'_>, limits: Limits<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    let end = wanted.skip.saturating_add(wanted.take);
    for batch in entries.chunks(BATCH) {
        // Lines beyond the window are counted, not kept.
        let texts = end.saturating_sub(outcome.total as usize);
        let (before, after) = (wanted.before, wanted.after);
        let options = SearchOptions { before, after, numbered: true, ..SearchOptions::default() };
        let make = || (searcher(wanted.matcher.multi_line, options), Vec::new());
        let look = |(searcher, buffer): &mut (Searcher, Vec<u8>), entry: &&TreeEntry| {
            if limits.reached() { FileResult::Skipped } else { file(tree, entry, searcher, buffer, wanted, texts) }
        };
        let seen: Vec<FileResult> = batch.par_iter().map_init(make, look).collect();
        for (entry, seen) in batch.iter().zip(seen) {
            match seen {
                FileResult::Skipped => outcome.timed_out |= !limits.cancelled.load(Ordering::Relaxed),
                FileResult::Binary => outcome.binary += 1,
                FileResult::Failed(err) => outcome.failures.push(err),
                FileResult::Lines(count, lines) => {
                    outcome.searched += 1;
                    outcome.matching += u64::from(count > 0);
                    let first = outcome.total as usize;
                    outcome.total += count;
                    let skip = wanted.skip.saturating_sub(first);
                    let take = end.saturating_sub(first.max(wanted.skip));
                    let lines: Vec<Line> = lines.into_iter().skip(skip).take(take).collect();
                    if !lines.is_empty() {
                        outcome.files.push(FileLines { path: entry.path.clone(), lines });
                    }
                }
            }
        }
    }
    outcome
}

fn file(
    tree: &dyn SourceTree,
    entry: &TreeEntry,
    searcher: &mut Searcher,
    buffer: &mut Vec<u8>,
    wanted: &BlobSearch<'_>,
    texts: usize,
) -> FileResult {
    match tree.read_if(entry, &is_text, buffer) {
        Ok(true) => {}
        Ok(false) => return FileResult::Binary,
        Err(err) => return FileResult::Failed(err),
    }
    let mut collect = Collect { matcher: wanted.matcher, lines: Vec::new(), count: 0, before: Vec::new(), texts };
    // Reading a slice cannot fail, and the sink never does.
    let _ = searcher.search_slice(wanted.matcher.regex(), buffer, &mut collect);
    FileResult::Lines(collect.count, collect.lines)
}

/// Collects the matching lines of a file.
struct Collect<'a> {
    matcher: &'a Matcher,
    lines: Vec<Line>,
    count: u64,
    before: Vec<String>,
    texts: usize,
}

impl Sink for Collect<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.count += 1;
        let before = std::mem::take(&mut self.before);
        if self.lines.len() < self.texts {
            let bytes = without_end(found.bytes());
            let mut ranges = Vec::new();
            // A pattern that fails here would have failed in the search before.
            let _ = self.matcher.regex().find_iter(bytes, |range| {
                ranges.push((range.start(), range.end()));
                true
            });
            let (text, ranges, cut) = shown(bytes, &ranges);
            let number = found.line_number().unwrap_or(0);
            self.lines.push(Line { number, text, ranges, cut, before, after: Vec::new() });
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, Self::Error> {
        let text = || shown(without_end(around.bytes()), &[]).0;
        match around.kind() {
            SinkContextKind::After => {
                if let Some(line) = self.lines.last_mut().filter(|_| self.count as usize <= self.texts) {
                    line.after.push(text());
                }
            }
            _ if self.lines.len() < self.texts => self.before.push(text()),
            _ => {}
        }
        Ok(true)
    }
}

fn without_end(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

/// A line as text, with ranges as start and length, and whether it was cut. A long line is cut around its first match.
fn shown(bytes: &[u8], ranges: &[(usize, usize)]) -> (String, Vec<(usize, usize)>, bool) {
    let first = ranges.first().map_or(0, |range| range.0);
    let mut start = if bytes.len() > LONGEST && first > LONGEST / 2 { first - LONGEST / 4 } else { 0 };
    while start > 0 && bytes[start] & 0xc0 == 0x80 {
        start -= 1;
    }
    let mut end = bytes.len().min(start + LONGEST);
    while end < bytes.len() && end > start && bytes[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    let part = &bytes[start..end];
    // Replacing invalid UTF-8 lengthens the text, and shifts the ranges after it.
    let place = |at: usize| String::from_utf8_lossy(&part[..at.clamp(start, end) - start]).len();
    let inside = ranges.iter().filter(|(from, _)| (start..end.max(start + 1)).contains(from));
    let ranges = inside.map(|&(from, to)| (place(from), place(to) - place(from))).collect();
    (String::from_utf8_lossy(part).into_owned(), ranges, start > 0 || end < bytes.len())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::text::Pattern;
    use codelode_base::model::EntryMode;

    /// Files in memory. A file without content is missing.
    struct Files(Vec<(&'static str, Option<&'static [u8]>)>);

    impl SourceTree for Files {
        fn commit(&self) -> &str {
            ""
        }

        fn tree(&self) -> &str {
            ""
        }

        fn entries(&self) -> Result<Vec<TreeEntry>, SourceError> {
            let entry = |path: &str| TreeEntry {
                path: path.to_owned(),
                mode: EntryMode::File,
                id: path.to_owned(),
                size: None,
            };
            Ok(self.0.iter().map(|(path, _)| entry(path)).collect())
        }

        fn read(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
            let found = self.0.iter().find(|(path, _)| *path == entry.path).and_then(|(_, bytes)| *bytes);
            found
                .map(<[u8]>::to_vec)
                .ok_or_else(|| SourceError::Missing { path: entry.path.clone(), id: entry.id.clone() })
        }
    }

    fn run(files: &Files, pattern: &str, skip: usize, take: usize) -> Outcome {
        let pattern = Pattern { patterns: vec![pattern.to_owned()], ..Pattern::default() };
        let matcher = pattern.compile().expect("a pattern");
        let entries = files.entries().expect("they are in memory");
        let entries: Vec<&TreeEntry> = entries.iter().collect();
        let wanted = BlobSearch { matcher: &matcher, before: 1, after: 1, skip, take };
        let limits = Limits { until: Instant::now() + Duration::from_secs(600), cancelled: &AtomicBool::new(false) };
        search(files, &entries, &wanted, limits)
    }

    const FILES: &[(&str, Option<&[u8]>)] = &[
        ("a.py", Some(b"one\ntwo one\nthree\n")),
        ("b.bin", Some(b"one\0")),
        ("c.py", None),
        ("d.py", Some(b"\xff one one\r\n")),
        ("e.txt", Some(b"\xff\xfeo\0n\0e\0\n\0")),
    ];

    #[test]
    fn lines_come_with_their_ranges_and_neighbours() {
        let found = run(&Files(FILES.to_vec()), "one", 0, 10);
        assert_eq!((found.total, found.matching, found.searched, found.binary), (4, 3, 3, 1));
        assert!(matches!(&found.failures[..], [SourceError::Missing { path, .. }] if path == "c.py"));
        let first = &found.files[0].lines;
        assert_eq!((first[0].number, first[0].ranges.as_slice()), (1, [(0, 3)].as_slice()));
        assert_eq!((first[1].text.as_str(), first[1].ranges.as_slice()), ("two one", [(4, 3)].as_slice()));
        assert_eq!(first[1].after, ["three"]);
        let odd = &found.files[1].lines[0];
        assert_eq!((odd.text.as_str(), odd.ranges.as_slice()), ("\u{fffd} one one", [(4, 3), (8, 3)].as_slice()));
        assert!(odd.ranges.iter().all(|(start, length)| &odd.text[*start..start + length] == "one"));
        assert_eq!(found.files[2].path, "e.txt");
    }

    #[test]
    fn pages_join_to_the_whole() {
        let lines = |outcome: Outcome| -> Vec<(String, u64)> {
            let each = |file: FileLines| {
                file.lines.into_iter().map(move |line| (file.path.clone(), line.number)).collect::<Vec<_>>()
            };
            outcome.files.into_iter().flat_map(each).collect()
        };
        let files = Files(FILES.to_vec());
        let whole = lines(run(&files, "one", 0, 100));
        let paged: Vec<_> = (0..4).flat_map(|skip| lines(run(&files, "one", skip, 1))).collect();
        assert_eq!(whole, paged);
        assert_eq!(run(&files, "one", 3, 0).total, 4);
    }

    #[test]
    fn a_long_line_is_cut_to_its_match() {
        let long = format!("{}needle{}", "\u{e9}".repeat(5_000), "x".repeat(5_000));
        let (text, ranges, cut) = shown(long.as_bytes(), &[(10_000, 10_006)]);
        assert!(cut && text.len() <= LONGEST + 4);
        assert_eq!(&text[ranges[0].0..ranges[0].0 + ranges[0].1], "needle");
    }
}
