//! A search in the files that ripgrep would read, without those that an index knows not to match. Ripgrep itself lists the files, and its
//! own searcher and printers do the rest.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args as _, FromArgMatches as _};

use super::flags::{Asked, Binary, Text};
use super::places::{Item, SearchInput};
use super::printer::Style;
use crate::cli::shim::line::{DEPTH, Line};
use crate::config::{self, Config};
use crate::parts::grep::{Excluded, Finder, on_every_core};
use crate::tools::Context;

/// Bytes that a file counts for when files are shared out among threads; their sizes are not known.
const SHARE: u64 = 1 << 13;
/// Messages of a printer about bytes that are no text: versions word them differently.
const BINARY: [&[u8]; 2] = [b"WARNING: stopped searching binary file", b"binary file matches"];

/// Prints the answer and returns whether there is a match; `None`, with nothing printed, if the real program has to answer.
pub(in crate::cli) fn answer(real: &Path, line: &Line, config: &Config) -> Option<bool> {
    let is_piped =
        !io::stdout().is_terminal() && !is_file(io::stdout()) && config::variable("RIPGREP_CONFIG_PATH").is_none();
    // Without a path, ripgrep reads what is piped in.
    if !is_piped || (line.paths.is_empty() && !is_device(io::stdin())) || !are_folders_apart(&line.paths) {
        return None;
    }
    let text = text(line)?;
    let asked = Asked::Text(&text);
    let (wanted, _) = asked.read().ok()?;
    let finder = Finder::of(&wanted).ok()?;
    let cx = Context::new(config.clone());
    let answer = excluded(&cx, line, &finder).and_then(|excluded| {
        let files = files(real, line)?;
        let is_left = on_every_core(&files, |_| SHARE, || (), |(), path| !excluded.holds(path));
        let left = files.into_iter().zip(is_left).filter(|(_, is_left)| *is_left).map(|(path, _)| path);
        let answer = printed(&asked, &finder, left.collect())?;
        excluded.is_sound().then_some(answer)
    });
    cx.end();
    let (bytes, found) = answer?;
    let mut out = io::stdout().lock();
    // The reader may have closed the pipe, which is no failure of a search.
    let _ = out.write_all(&bytes).and_then(|()| out.flush());
    Some(found)
}

/// The flags as `codelode text` takes them.
fn text(line: &Line) -> Option<Text> {
    let mut args: Vec<OsString> = vec!["text".into()];
    args.extend(line.rest.iter().cloned());
    if !line.rest.iter().any(|flag| flag == "--line-number") {
        args.push("--no-line-number".into());
    }
    args.extend(line.patterns.iter().map(|pattern| OsString::from(format!("--regexp={pattern}"))));
    let parser = Text::augment_args(clap::Command::new("text"));
    let matches = parser.try_get_matches_from(args).ok()?;
    Text::from_arg_matches(&matches).ok()
}

/// Files that an index of the searched folder excludes.
fn excluded(cx: &Context, line: &Line, finder: &Finder) -> Option<Excluded> {
    let here = std::env::current_dir().ok()?;
    let first = line.paths.first().map_or_else(|| here.clone(), |path| here.join(path));
    Excluded::of(cx, &here, &first, finder, cx.config.shim_from_files)
}

/// Paths of the files that ripgrep would read, as it prints them. `None` if it has anything to say of them.
fn files(real: &Path, line: &Line) -> Option<Vec<PathBuf>> {
    let mut command = Command::new(real);
    command.args(["--no-config", "--files", "--null"]).args(&line.choice).arg("--").args(&line.paths);
    let listed = command.env(DEPTH, "1").stdin(Stdio::null()).output().ok()?;
    let is_sound = listed.stderr.is_empty() && (listed.status.success() || listed.status.code() == Some(1));
    let paths = listed.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    // Ripgrep warns when its filters leave no file.
    (is_sound && !listed.stdout.is_empty()).then(|| paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
}

/// The output for these files, and whether there is a match.
fn printed(asked: &Asked<'_>, finder: &Finder, mut files: Vec<PathBuf>) -> Option<(Vec<u8>, bool)> {
    files.sort();
    let with_path = asked.how().with_path(true);
    let (json, only_count, heading, has_color, is_terminal) = (false, false, false, false, false);
    let style = Style { asked, json, only_count, heading, with_path, has_color, is_terminal };
    let item = |path: PathBuf| Item {
        haystack: SearchInput::Disk { path: path.clone(), size: SHARE, binary: Binary::Skipped },
        shown: path,
    };
    let items: Vec<Item<'_>> = files.into_iter().map(item).collect();
    let make = || (finder.searcher(asked.options()), style.printer());
    let answers =
        on_every_core(&items, Item::size, make, |(searcher, printer), item| printer.print(finder, searcher, item));
    let (mut bytes, mut found) = (Vec::new(), false);
    for answer in answers {
        let is_binary = BINARY.iter().any(|said| memchr::memmem::find(&answer.text, said).is_some());
        if answer.problem.is_some() || is_binary {
            return None;
        }
        found |= answer.found;
        if !answer.text.is_empty() && !bytes.is_empty() {
            bytes.extend(style.separator());
        }
        bytes.extend(answer.text);
    }
    Some((bytes, found))
}

/// Whether paths are folders of which none holds another: what is in both would be printed twice.
pub(in crate::cli) fn are_folders_apart(paths: &[PathBuf]) -> bool {
    let real: Option<Vec<PathBuf>> = paths.iter().map(|path| path.canonicalize().ok()).collect();
    let Some(real) = real else { return false };
    let is_apart =
        |(at, path): (usize, &PathBuf)| real.iter().enumerate().all(|(other, it)| other == at || !it.starts_with(path));
    real.iter().all(|path| path.is_dir()) && real.iter().enumerate().all(is_apart)
}

fn kind_of(stream: impl std::os::fd::AsFd) -> Option<rustix::fs::FileType> {
    Some(rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(stream).ok()?.st_mode))
}

/// Whether a stream is a file, which may lie among those that are searched.
pub(in crate::cli) fn is_file(stream: impl std::os::fd::AsFd) -> bool {
    kind_of(stream).is_none_or(|kind| kind.is_file())
}

/// Whether a stream is a terminal or `/dev/null`.
fn is_device(stream: impl std::os::fd::AsFd) -> bool {
    kind_of(stream).is_some_and(|kind| kind.is_char_device())
}
