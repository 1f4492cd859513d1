//! Prints matches through ripgrep's own printers.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use grep_matcher::Matcher;
use grep_printer::{
    ColorSpecs, JSON, JSONBuilder, PathPrinterBuilder, Standard, StandardBuilder, Stats, Summary, SummaryBuilder,
    SummaryKind,
};
use grep_searcher::{BinaryDetection, Searcher, Sink, SinkMatch};
use serde_json::json;

use super::flags::{Asked, Binary};
use super::places::{Item, SearchInput};
use crate::cli::visible::TerminalBuffer;
use codelode_service::parts::grep::{Finder, Ranges};

/// The style of the output.
#[derive(Clone, Copy)]
pub(super) struct Style<'a> {
    pub(super) asked: &'a Asked<'a>,
    /// Whether to print JSON messages.
    pub(super) json: bool,
    /// Whether to print only the number of results.
    pub(super) only_count: bool,
    pub(super) heading: bool,
    pub(super) with_path: bool,
    pub(super) has_color: bool,
    pub(super) is_terminal: bool,
}

impl Style<'_> {
    /// The kind of summary per file that replaces its lines.
    fn summary(&self) -> Option<SummaryKind> {
        self.asked.summary().or(self.only_count.then_some(SummaryKind::Count))
    }

    /// The separator between files.
    pub(super) fn separator(&self) -> Vec<u8> {
        let options = self.asked.options();
        match self.json || self.summary().is_some() {
            true => Vec::new(),
            false if self.heading && self.with_path => b"\n".to_vec(),
            false if options.before + options.after > 0 => {
                let separator = self.asked.how().context_separator();
                separator.map(|text| [&text[..], b"\n"].concat()).unwrap_or_default()
            }
            false => Vec::new(),
        }
    }

    pub(super) fn printer(&self) -> Printer {
        let how = self.asked.how();
        let needs_stats = how.stats || self.only_count;
        let terminator = how.null.then_some(0);
        let replacement = self.asked.text().and_then(|text| text.replace.clone()).map(String::into_bytes);
        if let Some(kind) = self.summary() {
            let mut builder = SummaryBuilder::new();
            builder.kind(kind).path(self.with_path).color_specs(self.colors());
            builder.stats(needs_stats).path_terminator(terminator).exclude_zero(!how.include_zero);
            return Printer::Summary(builder.build(self.buffer()));
        }
        if self.json {
            let mut builder = JSONBuilder::new();
            builder.replacement(replacement);
            return Printer::Json(builder.build(Vec::new()));
        }
        let mut builder = StandardBuilder::new();
        builder.heading(self.heading).path(self.with_path).color_specs(self.colors());
        builder.only_matching(how.only_matching).stats(needs_stats).path_terminator(terminator);
        builder.per_match(how.vimgrep).per_match_one_line(true).column(how.column || how.vimgrep);
        builder.byte_offset(how.byte_offset).separator_context(how.context_separator());
        let separator = |text: &Option<String>, default: &str| text.as_deref().unwrap_or(default).as_bytes().to_vec();
        builder.separator_field_match(separator(&how.field_match_separator, ":"));
        builder.separator_field_context(separator(&how.field_context_separator, "-"));
        builder.max_columns_preview(how.max_columns_preview);
        builder.replacement(replacement).trim_ascii(how.trim).max_columns(how.max_columns);
        Printer::Lines(Box::new(builder.build(self.buffer())))
    }

    /// Prints paths only.
    pub(super) fn paths(&self, items: &[Item<'_>]) -> io::Result<Vec<u8>> {
        let mut builder = PathPrinterBuilder::new();
        let terminator = if self.asked.how().null { 0 } else { b'\n' };
        builder.color_specs(self.colors()).terminator(terminator);
        let mut buffer = self.buffer();
        let mut printer = builder.build(&mut buffer);
        items.iter().try_for_each(|item| printer.write(&item.shown))?;
        Ok(buffer.as_slice().to_vec())
    }

    fn buffer(&self) -> TerminalBuffer {
        TerminalBuffer::new(self.has_color, self.is_terminal)
    }

    fn colors(&self) -> ColorSpecs {
        if self.has_color { ColorSpecs::default_with_color() } else { ColorSpecs::default() }
    }
}

/// The output for a file.
#[derive(Default)]
pub(super) struct FileOutput {
    pub(super) text: Vec<u8>,
    /// Whether there is a match; with an inverted search, whether there is none.
    pub(super) found: bool,
    pub(super) stats: Option<Stats>,
    /// The reason why the file could not be read.
    pub(super) problem: Option<String>,
}

impl FileOutput {
    /// The number of results: lines, matches or files.
    pub(super) fn count(&self, kind: Option<SummaryKind>) -> u64 {
        match (kind, &self.stats) {
            (Some(SummaryKind::CountMatches), Some(stats)) => stats.matches(),
            (None | Some(SummaryKind::Count), Some(stats)) => stats.matched_lines(),
            _ => u64::from(self.found),
        }
    }
}

/// One of ripgrep's printers.
pub(super) enum Printer {
    Lines(Box<Standard<TerminalBuffer>>),
    Summary(Summary<TerminalBuffer>),
    Json(JSON<Vec<u8>>),
}

impl Printer {
    /// Prints the matches of a file.
    pub(super) fn print(&mut self, finder: &Finder, searcher: &mut Searcher, item: &Item<'_>) -> FileOutput {
        match (finder.regex(), &item.haystack) {
            (Some(regex), _) => self.print_matches(finder, regex, searcher, item),
            (None, SearchInput::Indexed(file)) => self.print_matches(finder, &finder.ranges(file), searcher, item),
            (None, SearchInput::Disk { path, .. }) => match read(path, item) {
                Ok(item) => self.print_matches(finder, &ranges(finder, path, &item), searcher, &item),
                Err(err) => {
                    let problem = Some(format!("{}: {err}", item.shown.display()));
                    FileOutput { problem, ..FileOutput::default() }
                }
            },
            (None, _) => FileOutput::default(),
        }
    }

    fn print_matches<M: Matcher>(
        &mut self,
        finder: &Finder,
        matcher: &M,
        searcher: &mut Searcher,
        item: &Item<'_>,
    ) -> FileOutput {
        let path: &Path = &item.shown;
        let (searched, mut answer) = match self {
            Self::Lines(printer) => {
                printer.get_mut().clear();
                let mut sink = printer.sink_with_path(matcher, path);
                let searched = search(finder, matcher, searcher, item, &mut sink);
                let (found, stats) = (sink.has_match(), sink.stats().cloned());
                let text = printer.get_mut().as_slice().to_vec();
                (searched, FileOutput { text, found, stats, problem: None })
            }
            Self::Summary(printer) => {
                printer.get_mut().clear();
                let mut sink = printer.sink_with_path(matcher, path);
                let searched = search(finder, matcher, searcher, item, &mut sink);
                let (found, stats) = (sink.has_match(), sink.stats().cloned());
                let text = printer.get_mut().as_slice().to_vec();
                (searched, FileOutput { text, found, stats, problem: None })
            }
            Self::Json(printer) => {
                printer.get_mut().clear();
                let mut sink = printer.sink_with_path(matcher, path);
                let searched = search(finder, matcher, searcher, item, &mut sink);
                let (found, stats) = (sink.has_match(), Some(sink.stats().clone()));
                let text = printer.get_mut().clone();
                (searched, FileOutput { text, found, stats, problem: None })
            }
        };
        if let Err(err) = searched {
            answer = FileOutput { problem: Some(format!("{}: {err}", item.shown.display())), ..FileOutput::default() };
        }
        answer
    }
}

/// Counts matching lines down to the wanted one.
struct Nth<'n> {
    left: &'n mut usize,
    line: Option<u64>,
}

impl Sink for Nth<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        *self.left = self.left.saturating_sub(1);
        if *self.left == 0 {
            self.line = found.line_number();
        }
        Ok(*self.left > 0)
    }
}

/// The line of the match after `left` more, if this file contains it. Otherwise `left` is reduced by the file's
/// matches.
pub(super) fn nth_line(finder: &Finder, searcher: &mut Searcher, item: &Item<'_>, left: &mut usize) -> Option<u64> {
    let mut sink = Nth { left, line: None };
    let searched = match (finder.regex(), &item.haystack) {
        (Some(regex), _) => search(finder, regex, searcher, item, &mut sink),
        (None, SearchInput::Indexed(file)) => search(finder, &finder.ranges(file), searcher, item, &mut sink),
        (None, SearchInput::Disk { path, .. }) => {
            read(path, item).and_then(|item| search(finder, &ranges(finder, path, &item), searcher, &item, &mut sink))
        }
        (None, _) => Ok(()),
    };
    sink.line.filter(|_| searched.is_ok())
}

/// A file on disk, with its content.
fn read(path: &Path, item: &Item<'_>) -> io::Result<Item<'static>> {
    Ok(Item { haystack: SearchInput::Read(std::fs::read(path)?), shown: item.shown.clone() })
}

/// The matches of a syntax query in a file that was read.
fn ranges(finder: &Finder, path: &Path, item: &Item<'_>) -> Ranges {
    match &item.haystack {
        SearchInput::Read(bytes) => finder.ranges_on_disk(path, bytes),
        _ => finder.ranges_on_disk(path, b""),
    }
}

/// Searches a file or standard input.
fn search<M: Matcher, S: Sink<Error = io::Error>>(
    finder: &Finder,
    matcher: &M,
    searcher: &mut Searcher,
    item: &Item<'_>,
    sink: &mut S,
) -> io::Result<()> {
    let detection = |binary: Binary| match binary {
        Binary::Skipped => BinaryDetection::quit(0),
        Binary::Searched => BinaryDetection::convert(0),
        Binary::Text => BinaryDetection::none(),
    };
    match &item.haystack {
        SearchInput::Indexed(file) => finder.search(searcher, matcher, file, sink),
        SearchInput::Disk { path, binary, .. } => {
            searcher.set_binary_detection(detection(*binary));
            searcher.search_path(matcher, path, sink)
        }
        SearchInput::Read(bytes) => searcher.search_slice(matcher, bytes, sink),
        SearchInput::Input(begun, binary) => {
            searcher.set_binary_detection(detection(*binary));
            searcher.search_reader(matcher, Cursor::new(begun).chain(io::stdin().lock()), sink)
        }
    }
}

/// The last message of ripgrep's JSON output.
pub(super) fn json_summary(stats: &Stats, started: Instant) -> serde_json::Value {
    let time = |took: Duration| json!({"human": format!("{:.6}s", took.as_secs_f64()), "nanos": took.subsec_nanos(), "secs": took.as_secs()});
    json!({"data": {"elapsed_total": time(started.elapsed()), "stats": {
        "bytes_printed": stats.bytes_printed(),
        "bytes_searched": stats.bytes_searched(),
        "elapsed": time(stats.elapsed()),
        "matched_lines": stats.matched_lines(),
        "matches": stats.matches(),
        "searches": stats.searches(),
        "searches_with_match": stats.searches_with_match(),
    }}, "type": "summary"})
}

/// Statistics in ripgrep's words.
pub(super) fn text_summary(stats: &Stats, started: Instant) -> String {
    format!(
        "\n{} matches\n{} matched lines\n{} files contained matches\n{} files searched\n{} bytes printed\n\
         {} bytes searched\n{:.6} seconds spent searching\n{:.6} seconds\n",
        stats.matches(),
        stats.matched_lines(),
        stats.searches_with_match(),
        stats.searches(),
        stats.bytes_printed(),
        stats.bytes_searched(),
        stats.elapsed().as_secs_f64(),
        started.elapsed().as_secs_f64()
    )
}
