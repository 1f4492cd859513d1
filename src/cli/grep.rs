//! `codelode text` and `codelode ast`: ripgrep's flags and ripgrep's answers. The index chooses the files, ripgrep's
//! own printers print.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::Args;
use grep_matcher::Matcher;
use grep_printer::{ColorSpecs, JSONBuilder, Standard, StandardBuilder, Stats, Summary, SummaryBuilder, SummaryKind};
use grep_searcher::Searcher;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use serde_json::json;
use termcolor::Buffer;

use super::output::Paint;
use super::progress::Progress;
use super::visible::visible;
use super::{Color, FOUND, Global, NOTHING};
use crate::tools::grep::{Case, FileView, Grep, Pattern, Wanted, on_every_core};
use crate::tools::{Code, Context, Error};

/// The number of files searched before anything is printed, at first and later.
const FIRST_BATCH: usize = 64;
const BATCH: usize = 2048;

/// Grep: lines of all files that match, printed in ripgrep's way: codelode text PATTERN [PATH]...
#[derive(Args)]
pub(super) struct Text {
    /// What to look for, and then where; all are paths when -e is given.
    #[arg(value_name = "PATTERN [PATH]...")]
    rest: Vec<OsString>,
    /// A regular expression; may be given several times.
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<String>,
    /// The pattern is text, no regular expression.
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Capital and small letters are the same.
    #[arg(short, long, overrides_with_all = ["case_sensitive", "smart_case"])]
    ignore_case: bool,
    /// Capital and small letters are not the same [default].
    #[arg(short = 's', long, overrides_with_all = ["ignore_case", "smart_case"])]
    case_sensitive: bool,
    /// They are the same when the pattern has no capital letter.
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    smart_case: bool,
    /// Only where words begin and end.
    #[arg(short, long)]
    word_regexp: bool,
    /// A match may go over several lines.
    #[arg(short = 'U', long)]
    multiline: bool,
    #[command(flatten)]
    how: How,
}

/// Structural search: code by its shape, printed in ripgrep's way: codelode ast PATTERN [PATH]...
#[derive(Args)]
pub(super) struct Ast {
    /// Code with `$NAME` for one thing and `$$$NAME` for any number, or a tree-sitter query; and then where. All are paths
    /// when --preset is given.
    #[arg(value_name = "PATTERN [PATH]...")]
    rest: Vec<OsString>,
    /// Instead: empty_catch, bare_except, deep_nesting, eval, hardcoded_secret, todo.
    #[arg(long)]
    preset: Option<String>,
    /// python, javascript, typescript, go, rust or java [default: all that can read the pattern].
    #[arg(long)]
    language: Option<String>,
    #[command(flatten)]
    how: How,
}

/// Where to look and how to show what is found.
#[derive(Args)]
pub(super) struct How {
    /// Only paths that match this glob, or with a `!` before it only those that do not.
    #[arg(short, long = "glob", value_name = "GLOB", allow_hyphen_values = true)]
    globs: Vec<String>,
    /// Only files of this type, as ripgrep names them.
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// No files of this type.
    #[arg(short = 'T', long = "type-not", value_name = "TYPE")]
    types_not: Vec<String>,
    /// Lines after each match.
    #[arg(short = 'A', long, value_name = "N")]
    after_context: Option<usize>,
    /// Lines before each match.
    #[arg(short = 'B', long, value_name = "N")]
    before_context: Option<usize>,
    /// Lines before and after each match.
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<usize>,
    /// Only the paths of files with a match.
    #[arg(short = 'l', long, overrides_with = "count")]
    files_with_matches: bool,
    /// Only how many lines of each file match.
    #[arg(short, long, overrides_with = "files_with_matches")]
    count: bool,
    /// Only what matches, each match on a line of its own.
    #[arg(short, long)]
    only_matching: bool,
    /// With line numbers [default].
    #[arg(short = 'n', long, overrides_with = "no_line_number")]
    line_number: bool,
    /// Without line numbers.
    #[arg(short = 'N', long, overrides_with = "line_number")]
    no_line_number: bool,
    /// Search the index as it is, without looking whether files have changed.
    #[arg(long)]
    as_indexed: bool,
}

/// A search as a person asks for it.
pub(super) enum Asked<'a> {
    Text(&'a Text),
    Ast(&'a Ast),
}

impl<'a> Asked<'a> {
    /// The pattern, and the paths to search.
    fn read(&self) -> Result<(Wanted, Vec<PathBuf>), String> {
        match self {
            Asked::Text(text) => text.read().map(|(pattern, paths)| (Wanted::Text(pattern), paths)),
            Asked::Ast(ast) => ast.read(),
        }
    }

    fn how(&self) -> &'a How {
        match self {
            Asked::Text(text) => &text.how,
            Asked::Ast(ast) => &ast.how,
        }
    }
}

impl Ast {
    fn read(&self) -> Result<(Wanted, Vec<PathBuf>), String> {
        let mut rest = self.rest.iter();
        let pattern = match self.preset {
            Some(_) => None,
            None => {
                let first = rest.next().ok_or("give a PATTERN, or --preset")?;
                Some(first.to_str().ok_or("the pattern is no UTF-8")?.to_owned())
            }
        };
        let (preset, language) = (self.preset.clone(), self.language.clone());
        Ok((Wanted::Syntax { pattern, preset, language }, rest.map(PathBuf::from).collect()))
    }
}

impl Text {
    /// The pattern, and the paths to search.
    fn read(&self) -> Result<(Pattern, Vec<PathBuf>), String> {
        let (mut patterns, mut rest) = (self.patterns.clone(), self.rest.iter());
        if patterns.is_empty() {
            let first = rest.next().ok_or("give a PATTERN")?;
            patterns.push(first.to_str().ok_or("the pattern is no UTF-8")?.to_owned());
        }
        let case = match (self.ignore_case, self.smart_case) {
            (true, _) => Case::Insensitive,
            (_, true) => Case::Smart,
            _ => Case::Sensitive,
        };
        let (fixed, word, multi_line) = (self.fixed_strings, self.word_regexp, self.multiline);
        Ok((Pattern { patterns, fixed, case, word, multi_line }, rest.map(PathBuf::from).collect()))
    }
}

impl How {
    /// The number of lines before and after each match.
    fn around(&self) -> (usize, usize) {
        let context = self.context.unwrap_or(0);
        (self.before_context.unwrap_or(context), self.after_context.unwrap_or(context))
    }
}

/// Handles the error of a repository that cannot be opened, or returns it.
type Mend<'a> = &'a dyn Fn(Error) -> Result<(), Error>;

/// Searches and prints. If a repository cannot be opened, `mend` is called with the error; if it succeeds, opening is
/// tried once more.
pub(super) fn run(asked: &Asked<'_>, global: &Global, cx: &Context, mend: Mend<'_>) -> Result<u8, Error> {
    let started = Instant::now();
    let wrong = |message: String| Error::new(Code::InvalidArguments, message);
    let (wanted, paths) = asked.read().map_err(wrong)?;
    let how = asked.how();
    let here = std::env::current_dir().map_err(|err| wrong(format!("cannot tell where we are: {err}")))?;
    // The current folder is searched, even if only one repository is indexed.
    let place = paths.first().map_or_else(|| here.clone(), |path| here.join(path)).to_string_lossy().into_owned();
    let repo = global.repo.clone().map_or(place, |repo| super::command::local_path(repo, false));
    let bar = Arc::new(Mutex::new(Progress::new(global.quiet)));
    let request = super::request(&bar);
    let once = || crate::tools::grep::open(cx, &request, Some(&*repo), &wanted, how.as_indexed);
    let grep = once().or_else(|err| mend(err).and_then(|()| once()));
    bar.lock().expect("drawing does not panic").finish();
    let grep = grep?;

    let scopes = scopes(&grep, &here, &paths)?;
    let globs = globs(&how.globs, &here).map_err(|err| wrong(err.to_string()))?;
    let types = types(&how.types, &how.types_not).map_err(|err| wrong(err.to_string()))?;
    let chosen = Chosen { globs, types, root: grep.root() };
    // A file may be below several of the given paths; it is shown once.
    let files: Vec<(FileView<'_>, PathBuf)> = grep
        .files()
        .filter_map(|file| Some((file, scopes.iter().find_map(|scope| scope.shown(file.path()))?)))
        .filter(|(file, _)| chosen.takes(file.path()))
        .collect();

    let is_terminal = io::stdout().is_terminal();
    let style = Style {
        how,
        json: global.json,
        heading: is_terminal,
        with_path: !(paths.len() == 1 && scopes.iter().all(|scope| scope.is_file)),
        has_color: match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !crate::config::no_color(),
        },
    };
    let mut out = io::stdout().lock();
    let found = print_all(&grep, &files, style, started, &mut out);
    let found = match found.and_then(|found| out.flush().map(|()| found)) {
        // The reader has closed the pipe.
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => return Ok(FOUND),
        other => other.map_err(|err| Error::new(Code::Unavailable, format!("cannot write the answer: {err}")))?,
    };
    grep.damage()?;
    if !global.quiet {
        let paint = Paint::of(global.color, io::stderr().is_terminal());
        for note in notes(&grep, found) {
            super::output::complain(&format!("{}\n", paint.dim(&note)));
        }
    }
    Ok(if found { FOUND } else { NOTHING })
}

/// Prints the matches in files, in order; returns whether there were any.
fn print_all(
    grep: &Grep,
    files: &[(FileView<'_>, PathBuf)],
    style: Style<'_>,
    started: Instant,
    out: &mut impl Write,
) -> io::Result<bool> {
    let (before, after) = style.how.around();
    let separator: &[u8] = match style.is_listing() {
        true => b"",
        false if style.heading && style.with_path => b"\n",
        false if before + after > 0 => b"--\n",
        false => b"",
    };
    let make = || (grep.searcher(before, after, !style.how.no_line_number), style.printer());
    let (mut found, mut stats, mut size) = (false, Stats::new(), FIRST_BATCH);
    let mut left = files;
    while !left.is_empty() {
        let (batch, rest) = left.split_at(size.min(left.len()));
        let size_of = |(file, _): &(FileView<'_>, PathBuf)| file.size();
        let answers = on_every_core(batch, size_of, make, |(searcher, printer), (file, path)| {
            printer.print(grep, searcher, file, path)
        });
        for answer in answers {
            if let Some(more) = &answer.stats {
                stats += more;
            }
            if !answer.text.is_empty() {
                out.write_all(if found { separator } else { b"" })?;
                out.write_all(&if style.heading { visible(&answer.text) } else { Cow::Borrowed(&answer.text[..]) })?;
                found = true;
            }
        }
        (left, size) = (rest, BATCH);
    }
    if style.json {
        writeln!(out, "{}", summary(&stats, started))?;
    }
    Ok(found)
}

/// Notes that ripgrep does not have: files that were not searched, or have changed since.
fn notes(grep: &Grep, found: bool) -> Vec<String> {
    let mut notes: Vec<String> = grep.first_indexed().map(super::render::first_indexed).into_iter().collect();
    if !found {
        notes.push("nothing found".to_owned());
        let left_out = grep.left_out().into_iter().map(|(reason, n)| format!("{n} {}", reason.replace('_', " ")));
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            notes.push(format!("not indexed: {}", left_out.join(", ")));
        }
    }
    if grep.is_stale() {
        notes.push("some files have changed since they were indexed".to_owned());
    }
    notes
}

/// The last message of ripgrep's JSON.
fn summary(stats: &Stats, started: Instant) -> serde_json::Value {
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

/// A given path, or the current folder.
struct Scope {
    /// The required prefix of paths below the root: empty, a file, or a folder with its `/`.
    prefix: String,
    /// The replacement for the prefix when a path is shown.
    shown: String,
    is_file: bool,
}

impl Scope {
    /// The shown form of a path; `None` if it is outside.
    fn shown(&self, path: &str) -> Option<PathBuf> {
        let rest = path.strip_prefix(&self.prefix)?;
        (!self.is_file || rest.is_empty()).then(|| PathBuf::from(format!("{}{rest}", self.shown)))
    }
}

/// The paths to search.
fn scopes(grep: &Grep, here: &Path, paths: &[PathBuf]) -> Result<Vec<Scope>, Error> {
    let root = grep.root();
    let below = |path: &Path| -> Option<PathBuf> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        path.strip_prefix(&root).ok().map(Path::to_owned)
    };
    if paths.is_empty() {
        // Another repository is shown whole, with its paths from the root.
        let prefix = below(here).unwrap_or_default();
        return Ok(vec![Scope { prefix: folder(&prefix), shown: String::new(), is_file: false }]);
    }
    let each = paths.iter().map(|path| {
        let inside = below(&here.join(path)).ok_or_else(|| {
            let message = format!("{} is not in {}; search one repository at a time", path.display(), root.display());
            Error::new(Code::InvalidArguments, message)
        })?;
        if !here.join(path).exists() && !grep.has_file(&inside) {
            return Err(Error::new(Code::NotFound, format!("there is no {}", path.display())));
        }
        let is_file = here.join(path).is_file() || grep.has_file(&inside);
        let (prefix, shown) = match is_file {
            true => (inside.to_string_lossy().into_owned(), path.to_string_lossy().into_owned()),
            false => (folder(&inside), folder(path)),
        };
        Ok(Scope { prefix, shown, is_file })
    });
    each.collect()
}

/// A folder's path with a `/` at its end; empty for the root.
fn folder(path: &Path) -> String {
    let path = path.to_string_lossy();
    if path.is_empty() || path.ends_with('/') { path.into_owned() } else { format!("{path}/") }
}

/// The filter of files by globs and types.
struct Chosen {
    globs: Override,
    types: Types,
    root: PathBuf,
}

impl Chosen {
    fn takes(&self, path: &str) -> bool {
        if !self.types.is_empty() && self.types.matched(path, false).is_ignore() {
            return false;
        }
        if self.globs.is_empty() {
            return true;
        }
        let path = self.root.join(path);
        let folders = path.ancestors().skip(1).take_while(|folder| *folder != self.root);
        !self.globs.matched(&path, false).is_ignore()
            && folders.into_iter().all(|folder| !self.globs.matched(folder, true).is_ignore())
    }
}

fn globs(globs: &[String], here: &Path) -> Result<Override, ignore::Error> {
    if globs.is_empty() {
        return Ok(Override::empty());
    }
    let mut builder = OverrideBuilder::new(here);
    for glob in globs {
        builder.add(glob)?;
    }
    builder.build()
}

fn types(wanted: &[String], unwanted: &[String]) -> Result<Types, ignore::Error> {
    if wanted.is_empty() && unwanted.is_empty() {
        return Ok(Types::empty());
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for name in wanted {
        builder.select(name);
    }
    for name in unwanted {
        builder.negate(name);
    }
    builder.build()
}

/// The style of the output.
#[derive(Clone, Copy)]
struct Style<'a> {
    how: &'a How,
    json: bool,
    heading: bool,
    with_path: bool,
    has_color: bool,
}

impl Style<'_> {
    /// Whether there is one line for each file, or messages for machines.
    fn is_listing(&self) -> bool {
        self.json || self.how.count || self.how.files_with_matches
    }

    fn printer(&self) -> Printer {
        let buffer = if self.has_color { Buffer::ansi() } else { Buffer::no_color() };
        let colors = if self.has_color { ColorSpecs::default_with_color() } else { ColorSpecs::default() };
        let kind = match (self.how.files_with_matches, self.how.count) {
            (true, _) => Some(SummaryKind::PathWithMatch),
            (_, true) => Some(SummaryKind::Count),
            _ => None,
        };
        if let Some(kind) = kind {
            let mut builder = SummaryBuilder::new();
            builder.kind(kind).path(self.with_path).color_specs(colors);
            return Printer::Counts(builder.build(buffer));
        }
        if self.json {
            return Printer::Json;
        }
        let mut builder = StandardBuilder::new();
        builder.heading(self.heading).path(self.with_path).color_specs(colors);
        builder.only_matching(self.how.only_matching);
        Printer::Lines(Box::new(builder.build(buffer)))
    }
}

/// The output for a file.
struct Answer {
    text: Vec<u8>,
    stats: Option<Stats>,
}

/// One of ripgrep's printers.
enum Printer {
    Lines(Box<Standard<Buffer>>),
    Counts(Summary<Buffer>),
    Json,
}

impl Printer {
    /// Prints the matches of a file.
    fn print(&mut self, grep: &Grep, searcher: &mut Searcher, file: &FileView<'_>, path: &Path) -> Answer {
        match grep.regex() {
            Some(regex) => self.print_matches(grep, regex, searcher, file, path),
            None => self.print_matches(grep, &grep.ranges(file), searcher, file, path),
        }
    }

    fn print_matches<M: Matcher>(
        &mut self,
        grep: &Grep,
        matcher: &M,
        searcher: &mut Searcher,
        file: &FileView<'_>,
        path: &Path,
    ) -> Answer {
        // A mapped file can be read, and a buffer in memory can be written.
        match self {
            Self::Lines(printer) => {
                printer.get_mut().clear();
                let _ = grep.search(searcher, matcher, file, printer.sink_with_path(matcher, path));
                Answer { text: printer.get_mut().as_slice().to_vec(), stats: None }
            }
            Self::Counts(printer) => {
                printer.get_mut().clear();
                let _ = grep.search(searcher, matcher, file, printer.sink_with_path(matcher, path));
                Answer { text: printer.get_mut().as_slice().to_vec(), stats: None }
            }
            Self::Json => {
                let mut printer = JSONBuilder::new().build(Vec::new());
                let mut sink = printer.sink_with_path(matcher, path);
                let _ = grep.search(searcher, matcher, file, &mut sink);
                let stats = sink.stats().clone();
                Answer { text: printer.get_mut().clone(), stats: Some(stats) }
            }
        }
    }
}
