//! `codelode text` and `codelode ast`: ripgrep's flags and output. The index selects the files, and ripgrep's own
//! printers print.

mod disk;
mod flags;
mod places;
mod printer;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use grep_printer::Stats;

use self::disk::Guard;
use self::flags::GrepOptions;
pub(super) use self::flags::{Asked, Ast, Text};
use self::places::{Chosen, Item};
use self::printer::Style;
use super::output::Paint;
use super::progress::Bar;
use super::{Color, FAILED, FOUND, Global, NOTHING, editor, output, tokens};
use codelode_service::answer::tokens::estimate;
use codelode_service::parts::grep::{self, Finder, Grep, Reach, SearchOptions, on_every_core};
use codelode_service::tools::{Context, Error};

/// The number of files searched before each print, at first and later.
const FIRST_BATCH: usize = 64;
const BATCH: usize = 2048;

/// Handles the error of a repository that cannot be opened, or returns it.
type Mend<'a> = &'a dyn Fn(Error) -> Result<(), Error>;

/// Searches and prints. If a repository cannot be opened, `mend` gets the error; if it succeeds, the repository is
/// opened again.
pub(super) fn run(asked: &Asked<'_>, global: &Global, cx: &Context, mend: Mend<'_>) -> Result<u8, Error> {
    let started = Instant::now();
    let (wanted, mut paths) = asked.read().map_err(wrong)?;
    if global.cursor.is_some() {
        return Err(wrong("all lines are printed, so there is no --cursor".to_owned()));
    }
    let (how, text) = (asked.how(), asked.text());
    if text.is_some_and(|text| text.type_list) {
        let list = places::type_list(how).map_err(|err| wrong(err.to_string()))?;
        output::print_bytes(list.as_bytes());
        return Ok(FOUND);
    }
    let finder = Finder::of(&wanted)?;
    let here = std::env::current_dir().map_err(|err| wrong(format!("cannot find the current folder: {err}")))?;
    let chosen = Chosen::of(how, &here).map_err(|err| wrong(err.to_string()))?;
    let lists_files = text.is_some_and(|text| text.files);
    let is_bare = paths.is_empty() && global.repo.is_none();
    let several = paths.len() != 1 || !paths[0].is_file();

    // Standard input is searched if it is named, or if no path is given and input is piped.
    let n_named = paths.len();
    paths.retain(|path| path.as_os_str() != "-");
    let is_named = paths.len() < n_named && text.is_some();
    let begun = if is_named { Some(Vec::new()) } else { None };
    let begun = begun.or_else(|| if is_bare && text.is_some() && !lists_files { places::piped() } else { None });
    let only_input = begun.is_some() && paths.is_empty();
    let several = several && !(only_input && n_named <= 1);

    let mut guard = Guard::new(&cx.config, &here, asked.named_binary());
    let mut problems = Vec::new();
    let (mut grep, mut unindexed) = (None, None);
    let mut root = here.clone();
    let mut items: Vec<Item<'_>> = begun.into_iter().map(|begun| places::input(begun, asked.named_binary())).collect();
    if let Some(unrestricted) = text.and_then(Text::unrestricted).filter(|_| !only_input) {
        if global.repo.is_some() {
            return Err(wrong("to search files on disk, give a PATH instead of --repo".to_owned()));
        }
        let (files, unread) = disk::files(&paths, unrestricted, (how, &chosen), &mut guard)?;
        items.extend(files);
        problems = unread;
    } else if !only_input {
        // The current folder is searched, even if only one repository is indexed.
        let place = paths.first().map_or_else(|| here.clone(), |path| grep::searched(cx, &here, path));
        let place = place.to_string_lossy().into_owned();
        let repo = global.repo.clone().map_or(place, |repo| super::here::local_path(repo, false));
        let bar = Arc::new(Mutex::new(Bar::new(global.quiet)));
        let request = super::request(&bar);
        let reach = Reach { all: asked.wants_all(), as_indexed: how.as_indexed };
        let first = match global.repo.is_none() && !how.as_indexed {
            true => grep::unindexed(cx, &request, Path::new(&repo))?,
            false => None,
        };
        let once = || grep::open(cx, &request, Some(&*repo), &finder, reach);
        if let Some(first) = first {
            finder.check(&first.1)?;
            items.extend(places::unindexed(&first, &here, &paths, (how, &chosen), &mut guard)?);
            root.clone_from(&first.0);
            unindexed = Some(first.0);
        } else {
            let opened = once().or_else(|err| mend(err).and_then(|()| once()));
            bar.lock().expect("drawing does not panic").finish();
            let opened = &*grep.insert(opened?);
            root = opened.root();
            items.extend(places::indexed(opened, &here, &paths, (how, &chosen), &mut guard)?);
        }
    }
    places::sort(&mut items, how, &root);

    if let Some(nth) = global.open {
        return Ok(open_hit(&finder, &items, asked, &root, nth));
    }
    let style = style(asked, global, how, several);
    let mut out = Out { to: io::stdout().lock(), left: tokens(global), is_cut: false };
    let printed = match lists_files {
        true => print_paths(&items, style, &mut out),
        false => print_all(&finder, &items, style, started, &mut out),
    };
    let printed = match printed.and_then(|printed| out.to.flush().map(|()| printed)) {
        // The reader has closed the pipe.
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => return Ok(FOUND),
        other => other.map_err(|err| Error::unavailable(format!("cannot write the answer: {err}")))?,
    };
    let is_cut = out.is_cut;
    drop(out);
    problems.extend(guard.missing.iter().map(|path| format!("there is no {}", path.display())));
    problems.extend(printed.problems);
    grep.as_ref().map_or(Ok(()), Grep::damage)?;
    let notes = all_notes(grep.as_ref(), printed.found, guard.secrets, is_cut, unindexed.is_some());
    report(global, how, &problems, &notes);
    if let Some(root) = unindexed {
        // This answer came from disk; an index is made for the next ones.
        super::index_later(cx, &root, global);
    }
    let has_enough = how.quiet && printed.found;
    Ok(match printed.found {
        _ if !problems.is_empty() && !has_enough => FAILED,
        true => FOUND,
        false => NOTHING,
    })
}

/// The style of lines, by the flags and by the kind of output.
fn style<'a>(asked: &'a Asked<'a>, global: &Global, how: &GrepOptions, several: bool) -> Style<'a> {
    let is_terminal = io::stdout().is_terminal();
    Style {
        asked,
        json: global.json,
        only_count: global.count_only,
        heading: how.with_heading(is_terminal || global.compact),
        with_path: how.with_path(several),
        is_terminal,
        has_color: match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => how.pretty || (is_terminal && !global.compact && !codelode_base::config::no_color()),
        },
    }
}

/// Notes after the lines: files left out, and limits reached.
fn all_notes(grep: Option<&Grep>, found: bool, secrets: u64, is_cut: bool, is_being_made: bool) -> Vec<String> {
    let mut all = grep.map_or_else(Vec::new, |grep| notes(grep, found));
    if secrets > 0 {
        all.push(format!("left out: {}", super::render::n_of(secrets, "secret", "secrets")));
    }
    if is_cut {
        all.push("cut to fit --max-tokens".to_owned());
    }
    all.extend(is_being_made.then(|| super::render::BEING_MADE.to_owned()));
    all
}

/// Reports problems and notes on the terminal.
fn report(global: &Global, how: &GrepOptions, problems: &[String], notes: &[String]) {
    let paint = Paint::of(global.color, io::stderr().is_terminal());
    for problem in problems.iter().filter(|_| !how.no_messages) {
        output::complain(&format!("{} {problem}\n", paint.bad("error:")));
    }
    for note in notes.iter().filter(|_| !global.quiet) {
        output::complain(&format!("{}\n", paint.dim(note)));
    }
}

/// Opens the matching line number `nth`, counted from one, in the editor.
fn open_hit(finder: &Finder, items: &[Item<'_>], asked: &Asked<'_>, root: &Path, nth: usize) -> u8 {
    let (mut left, mut searcher) = (nth, finder.searcher(SearchOptions { numbered: true, ..asked.options() }));
    let hits = items.iter().filter(|_| nth > 0).find_map(|item| {
        let line = printer::nth_line(finder, &mut searcher, item, &mut left)?;
        Some((item.path(root)?, line))
    });
    match hits {
        Some((path, line)) => editor::open(&path, Some(line)),
        None => NOTHING,
    }
}

fn wrong(message: String) -> Error {
    Error::invalid_arguments(message)
}

/// Output with a token budget.
struct Out<W> {
    to: W,
    /// The tokens that may still be written.
    left: Option<usize>,
    is_cut: bool,
}

impl<W: Write> Out<W> {
    /// Writes as many whole lines as the budget allows.
    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        let Some(left) = &mut self.left else { return self.to.write_all(text) };
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let n_tokens = estimate(&String::from_utf8_lossy(line));
            if self.is_cut || n_tokens > *left {
                self.is_cut = true;
                return Ok(());
            }
            *left -= n_tokens;
            self.to.write_all(line)?;
        }
        Ok(())
    }
}

/// Result of printing.
#[derive(Default)]
struct Printed {
    found: bool,
    /// Files that could not be read.
    problems: Vec<String>,
}

/// Prints the matches in files, in order.
fn print_all<W: Write>(
    finder: &Finder,
    items: &[Item<'_>],
    style: Style<'_>,
    started: Instant,
    out: &mut Out<W>,
) -> io::Result<Printed> {
    let how = style.asked.how();
    let make = || (finder.searcher(style.asked.options()), style.printer());
    let (mut printed, mut stats, mut count, mut size) = (Printed::default(), Stats::new(), 0, FIRST_BATCH);
    let (mut left, mut has_text) = (items, false);
    while !left.is_empty() && !out.is_cut {
        let (batch, rest) = left.split_at(size.min(left.len()));
        let answers =
            on_every_core(batch, Item::size, make, |(searcher, printer), item| printer.print(finder, searcher, item));
        for answer in answers {
            count += answer.count(style.asked.summary());
            printed.found |= answer.found;
            if let Some(more) = &answer.stats {
                stats += more;
            }
            if !answer.text.is_empty() && !style.only_count {
                if has_text {
                    out.write(&style.separator())?;
                }
                out.write(&answer.text)?;
                has_text = true;
            }
            printed.problems.extend(answer.problem);
        }
        // With --quiet, the first match decides.
        if how.quiet && printed.found && !how.stats {
            break;
        }
        (left, size) = (rest, BATCH);
    }
    if style.only_count {
        writeln!(out.to, "{count}")?;
    }
    if style.json {
        writeln!(out.to, "{}", printer::json_summary(&stats, started))?;
    } else if how.stats {
        out.to.write_all(printer::text_summary(&stats, started).as_bytes())?;
    }
    Ok(printed)
}

/// Prints the paths of files.
fn print_paths<W: Write>(items: &[Item<'_>], style: Style<'_>, out: &mut Out<W>) -> io::Result<Printed> {
    let printed = Printed { found: !items.is_empty(), problems: Vec::new() };
    if style.only_count {
        writeln!(out.to, "{}", items.len())?;
    } else if !style.asked.how().quiet {
        out.write(&style.paths(items)?)?;
    }
    Ok(printed)
}

/// Notes beyond ripgrep's: files that were not searched, or that have changed since.
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
    if grep.is_missing() {
        notes.push(super::render::MISSING.to_owned());
    }
    if grep.is_stale() {
        notes.push("some files have changed since they were indexed".to_owned());
    }
    notes
}
