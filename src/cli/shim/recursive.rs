//! A `grep` on the PATH of an agent: GNU grep searches the files that `grep -r` would read, without those that an index knows not to
//! match. The files are listed in its order and given to it by name, so that bytes, messages and exit status are its own.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::super::grep::stand_in::{are_folders_apart, is_file};
use crate::config::{self, Config};
use crate::parts::grep::{Case, Excluded, Finder, GrepPattern, Pattern};
use crate::tools::Context;

/// The most bytes of arguments, well below what systems take.
const LONGEST: usize = 1 << 20;
/// The most entries of a folder: in larger ones grep reads files in an order of its own.
const MOST_ENTRIES: usize = 10_000;
/// Files of a checkout from which on it is faster for grep to be told of some than to read all.
const WORTH_EXCLUDING: u64 = 500;
/// The deepest folder.
const DEEPEST: usize = 200;
/// Languages in which small and capital letters go otherwise together.
const OTHER_CASE: &[&str] = &["tr", "az", "lt"];

/// Flags without a value under which a file without a match leaves no trace: the short form and the long one.
const SWITCHES: &[(char, &str)] = &[
    ('n', "line-number"),
    ('H', "with-filename"),
    ('h', "no-filename"),
    ('i', "ignore-case"),
    ('w', "word-regexp"),
    ('x', "line-regexp"),
    ('l', "files-with-matches"),
    ('o', "only-matching"),
    ('s', "no-messages"),
    ('q', "quiet"),
    ('I', "\0"),
    ('a', "text"),
    ('b', "byte-offset"),
    ('T', "initial-tab"),
    ('E', "extended-regexp"),
    ('F', "fixed-strings"),
    ('G', "basic-regexp"),
    ('r', "recursive"),
];

/// Flags with a value, likewise.
const VALUED: &[(char, &str)] = &[
    ('A', "after-context"),
    ('B', "before-context"),
    ('C', "context"),
    ('m', "max-count"),
    ('e', "regexp"),
    ('\0', "include"),
    ('\0', "exclude"),
    ('\0', "exclude-dir"),
];

/// A command line that is understood.
#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    /// Letters of the switches, as they were given.
    switches: Vec<char>,
    /// Flags with values that tell how to print.
    rest: Vec<String>,
    patterns: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    exclude_dir: Vec<String>,
    /// Folders to search; none for the current one.
    paths: Vec<PathBuf>,
}

/// The arguments with which the real grep gives the answer to a command line by reading fewer files; `None` if it has to do so
/// by itself.
pub(super) fn arguments(args: &[OsString], load: impl FnOnce() -> Option<Config>) -> Option<Vec<OsString>> {
    let line = read(args)?;
    let finder = Finder::of(&GrepPattern::Text(broader(&line)?)).ok()?;
    let chosen = Chosen::of(&line)?;
    let is_silent = |name: &str| config::variable(name).is_none();
    // Grep leaves out the file that it writes to.
    if is_file(std::io::stdout()) || !["GREP_OPTIONS", "POSIXLY_CORRECT"].into_iter().all(is_silent) {
        return None;
    }
    if !line.paths.is_empty() && !are_folders_apart(&line.paths) {
        return None;
    }
    let here = std::env::current_dir().ok()?;
    let cx = Context::new(load()?);
    let first = line.paths.first().map_or_else(|| here.clone(), |path| here.join(path));
    let files = Excluded::of(&cx, &here, &first, &finder, WORTH_EXCLUDING).and_then(|excluded| {
        let mut files = Vec::new();
        let whole = [PathBuf::new()];
        for path in if line.paths.is_empty() { &whole[..] } else { &line.paths[..] } {
            chosen.list(&here, path, 0, &excluded, &mut files)?;
        }
        excluded.is_sound().then_some(files)
    });
    cx.end();
    let files = files?;
    let length: usize = files.iter().map(|file| file.as_os_str().len() + 1).sum();
    if length > LONGEST {
        return None;
    }
    let mut given: Vec<OsString> = vec!["-H".into()];
    let switches = line.switches.iter().filter(|letter| **letter != 'r');
    given.extend(switches.map(|letter| OsString::from(format!("-{letter}"))));
    given.extend(line.rest.iter().map(OsString::from));
    given.extend(line.patterns.iter().flat_map(|pattern| [OsString::from("-e"), OsString::from(pattern)]));
    given.push("--".into());
    // Without a file grep would read what is piped in; with one it still says what is wrong with a pattern.
    given.push("/dev/null".into());
    given.extend(files.into_iter().map(PathBuf::into_os_string));
    Some(given)
}

/// Reads a command line; `None` for one with a flag that is not known here, or that is not recursive.
fn read(args: &[OsString]) -> Option<Line> {
    let (mut line, mut words, mut names) = (Line::default(), Vec::new(), false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_str()?;
        if text == "-" {
            return None;
        }
        if names || !text.starts_with('-') {
            words.push(text);
        } else if text == "--" {
            names = true;
        } else if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            if let Some((letter, _)) = SWITCHES.iter().find(|it| it.1 == name).filter(|_| value.is_none()) {
                line.switches.push(*letter);
            } else if matches!((name, value), ("color" | "colour", None | Some("never" | "auto"))) {
                // In a pipe there are no colours.
                (!std::io::IsTerminal::is_terminal(&std::io::stdout())).then_some(())?;
            } else {
                let (_, name) = VALUED.iter().find(|it| it.1 == name)?;
                let value = value.map_or_else(|| args.next()?.to_str(), Some)?;
                line.value(name, value)?;
            }
        } else {
            for (at, letter) in text[1..].char_indices() {
                if SWITCHES.iter().any(|it| it.0 == letter) {
                    line.switches.push(letter);
                    continue;
                }
                let (_, name) = VALUED.iter().find(|it| it.0 == letter)?;
                let behind = &text[1 + at + letter.len_utf8()..];
                let value = if behind.is_empty() { args.next()?.to_str()? } else { behind };
                line.value(name, value)?;
                break;
            }
        }
    }
    let mut words = words.into_iter();
    if line.patterns.is_empty() {
        line.patterns.push(words.next()?.to_owned());
    }
    line.paths = words.map(PathBuf::from).collect();
    line.switches.contains(&'r').then_some(line)
}

impl Line {
    fn value(&mut self, name: &str, value: &str) -> Option<()> {
        let is_number = !value.is_empty() && value.len() < 7 && value.bytes().all(|byte| byte.is_ascii_digit());
        match name {
            "regexp" => self.patterns.push(value.to_owned()),
            "include" => self.include.push(value.to_owned()),
            "exclude" => self.exclude.push(value.to_owned()),
            "exclude-dir" => self.exclude_dir.push(value.to_owned()),
            _ if is_number => self.rest.push(format!("--{name}={value}")),
            _ => return None,
        }
        Some(())
    }

    fn has(&self, letter: char) -> bool {
        self.switches.contains(&letter)
    }
}

/// A regular expression that matches every line that the patterns match, whatever grep makes of their marks.
fn broader(line: &Line) -> Option<Pattern> {
    let (fixed, extended, basic) = (line.has('F'), line.has('E'), line.has('G'));
    if [fixed, extended, basic].into_iter().filter(|is_given| *is_given).count() > 1 {
        return None;
    }
    let language = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(config::variable).unwrap_or_default();
    if line.has('i') && OTHER_CASE.iter().any(|other| language.starts_with(other)) {
        return None;
    }
    let mut patterns = Vec::new();
    for pattern in &line.patterns {
        if !pattern.is_ascii() || pattern.is_empty() || pattern.contains(['\n', '\0']) {
            return None;
        }
        match fixed {
            true => patterns.push(regex_syntax::escape(pattern)),
            false => patterns.extend(alternatives(pattern, extended)?),
        }
    }
    let case = if line.has('i') { Case::Insensitive } else { Case::Sensitive };
    Some(Pattern { patterns, case, ..Pattern::default() })
}

/// The alternatives of a pattern, each as its letters with anything between them; `None` for one with groups.
fn alternatives(pattern: &str, extended: bool) -> Option<Vec<String>> {
    let mut found = vec![String::new()];
    // The last letter may be there or not, depending on the mark behind it.
    let mut last: Option<char> = None;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        let current = found.last_mut()?;
        let (c, is_escaped) = if c == '\\' { (chars.next()?, true) } else { (c, false) };
        let is_mark = is_escaped != extended;
        match c {
            '(' | ')' | '{' | '}' if is_mark => return None,
            '|' if is_mark => {
                current.extend(last.take());
                found.push(String::new());
            }
            '*' | '?' | '+' if (c == '*' && !is_escaped) || (c != '*' && is_mark) => {
                last = None;
                current.push_str(".*");
            }
            '.' | '^' | '$' if !is_escaped => {
                current.extend(last.take());
                current.push_str(".*");
            }
            '[' if !is_escaped => {
                current.extend(last.take());
                current.push_str(".*");
                // A bracket that is the first of a list belongs to it.
                if chars.peek() == Some(&'^') {
                    chars.next();
                }
                let first = chars.next()?;
                let mut before = first;
                let mut inside = if first == ']' { chars.next()? } else { first };
                while inside != ']' {
                    if before == '[' && matches!(inside, ':' | '.' | '=') {
                        return None;
                    }
                    before = inside;
                    inside = chars.next()?;
                }
            }
            c if is_escaped && c.is_ascii_alphanumeric() => {
                matches!(c, 'b' | 'B' | 'w' | 'W' | 's' | 'S').then_some(())?;
                current.extend(last.take());
                current.push_str(".*");
            }
            '<' | '>' | '`' | '\'' if is_escaped => {
                current.extend(last.take());
                current.push_str(".*");
            }
            c if c.is_ascii_alphanumeric() || c == '_' || c == ' ' => {
                current.extend(last.replace(c));
            }
            // Any other mark is a letter, or what grep makes of it.
            _ => {
                current.extend(last.take());
                current.push_str(".*");
            }
        }
    }
    found.last_mut()?.extend(last);
    Some(found)
}

/// Files and folders that flags choose by their names.
struct Chosen {
    include: Vec<GlobMatcher>,
    exclude: Vec<GlobMatcher>,
    exclude_dir: Vec<GlobMatcher>,
}

impl Chosen {
    /// `None` for globs that grep may read otherwise, or that name a folder of the command line.
    fn of(line: &Line) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_.*?-".contains(c);
        let glob = |text: &String| {
            let is_plain = !text.is_empty() && text.chars().all(plain) && text.chars().any(|c| c != '.');
            let built = GlobBuilder::new(text).build().ok()?;
            is_plain.then(|| built.compile_matcher())
        };
        let globs = |texts: &[String]| texts.iter().map(glob).collect::<Option<Vec<_>>>();
        // With both, the last one given decides.
        if !line.include.is_empty() && !line.exclude.is_empty() {
            return None;
        }
        let (include, exclude) = (globs(&line.include)?, globs(&line.exclude)?);
        let exclude_dir = globs(&line.exclude_dir)?;
        let names = line.paths.iter().map(|path| path.to_str()).collect::<Option<Vec<&str>>>()?;
        let is_odd = |path: &str| {
            let parts = path.trim_end_matches('/').split('/');
            path.contains("//") || parts.into_iter().any(|name| exclude_dir.iter().any(|glob| glob.is_match(name)))
        };
        let is_odd = names.into_iter().any(is_odd);
        (!is_odd).then_some(Self { include, exclude, exclude_dir })
    }

    fn takes(&self, name: &str) -> bool {
        let is_in = self.include.is_empty() || self.include.iter().any(|glob| glob.is_match(name));
        is_in && !self.exclude.iter().any(|glob| glob.is_match(name))
    }

    /// Adds the files below a folder that may match, in the order in which the system lists them, as grep reads them. `None` if
    /// grep would have something to say of a folder.
    fn list(
        &self,
        here: &Path,
        folder: &Path,
        depth: usize,
        excluded: &Excluded,
        files: &mut Vec<PathBuf>,
    ) -> Option<()> {
        let entries: Vec<fs::DirEntry> = fs::read_dir(here.join(folder)).ok()?.collect::<Result<_, _>>().ok()?;
        if entries.len() >= MOST_ENTRIES || depth > DEEPEST {
            return None;
        }
        for entry in entries {
            let (kind, name, path) = (entry.file_type().ok()?, entry.file_name(), folder.join(entry.file_name()));
            let shown = name.to_string_lossy();
            if kind.is_dir() && !self.exclude_dir.iter().any(|glob| glob.is_match(&*shown)) {
                self.list(here, &path, depth + 1, excluded, files)?;
            } else if kind.is_file() && self.takes(&shown) && !excluded.holds(&path) {
                files.push(path);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn recursive_searches_are_read() {
        let line = read(&args("-rn total --include=*.py src")).expect("it is understood");
        assert_eq!((line.switches.as_slice(), line.include.as_slice()), (&['r', 'n'][..], &["*.py".to_owned()][..]));
        assert_eq!((line.patterns, line.paths), (vec!["total".to_owned()], vec![PathBuf::from("src")]));
        let line = read(&args("src -A 3 -rine total -m2 --exclude-dir tests")).expect("it is understood");
        assert_eq!(line.rest, ["--after-context=3", "--max-count=2"]);
        assert_eq!((line.patterns, line.exclude_dir), (vec!["total".to_owned()], vec!["tests".to_owned()]));
        for other in [
            "-n total src",
            "-rc total",
            "-rL x",
            "-rv x",
            "-Rn x",
            "-rz x",
            "-rP x",
            "-r",
            "-r -f x y",
            "-r x -",
            "-r3 x",
            "--rec x",
        ] {
            assert_eq!(read(&args(other)), None, "{other}");
        }
    }

    #[test]
    fn patterns_are_widened_to_their_letters() {
        let check = |pattern: &str, extended: bool, expected: Option<&[&str]>| {
            let found = alternatives(pattern, extended);
            let found = found.as_ref().map(|found| found.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found.as_deref(), expected, "{pattern}");
        };
        check("def total", false, Some(&["def total"]));
        check("total(x)", false, Some(&["total.*x.*"]));
        check("total(x)", true, None);
        check(r"total\(x\)", true, Some(&["total.*x.*"]));
        check(r"total\(x\)", false, None);
        check(r"one\|two", false, Some(&["one", "two"]));
        check("one|two", true, Some(&["one", "two"]));
        check("one|two", false, Some(&["one.*two"]));
        check("colou?r", true, Some(&["colo.*r"]));
        check("colou?r", false, Some(&["colou.*r"]));
        check("ab*c", false, Some(&["a.*c"]));
        check(r"ab\*c", false, Some(&["ab.*c"]));
        check("[]x]y[^]z]", false, Some(&[".*y.*"]));
        check("[[:alpha:]]x", false, None);
        check(r"\bname\b", true, Some(&[".*name.*"]));
        check(r"\1", false, None);
        check("a{2}", true, None);
        check("a{2}", false, Some(&["a.*2.*"]));
        check("[", false, None);
        check("a\\", false, None);
    }
}
