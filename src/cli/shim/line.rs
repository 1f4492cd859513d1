//! Command lines of ripgrep whose answer does not depend on its version: the flags and patterns for which the tests have compared every
//! byte. All others are the real program's.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Variable that counts the shims in a chain of programs that start each other.
pub(in crate::cli) const DEPTH: &str = "CODELODE_SHIM_DEPTH";

/// A command line that is understood.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct Line {
    /// Flags that choose files, as they were given.
    pub(in crate::cli) choice: Vec<OsString>,
    /// Flags that tell how to search and print, for the parser of `codelode text`.
    pub(in crate::cli) rest: Vec<OsString>,
    /// Patterns.
    pub(in crate::cli) patterns: Vec<String>,
    /// Folders to search; none for the current one.
    pub(in crate::cli) paths: Vec<PathBuf>,
}

/// Purpose of a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It tells how to search or print.
    Rest,
    /// It chooses files.
    Choice,
    /// It changes nothing in a pipe.
    Nothing,
}

/// Flags without a value: the short form, the long one, the purpose, and the group of which only one may be given.
const SWITCHES: &[(char, &str, Kind, u8)] = &[
    ('n', "line-number", Kind::Rest, 1),
    ('N', "no-line-number", Kind::Rest, 1),
    ('i', "ignore-case", Kind::Rest, 2),
    ('s', "case-sensitive", Kind::Rest, 2),
    ('S', "smart-case", Kind::Rest, 2),
    ('l', "files-with-matches", Kind::Rest, 3),
    ('c', "count", Kind::Rest, 3),
    ('o', "only-matching", Kind::Rest, 3),
    ('q', "quiet", Kind::Rest, 3),
    ('w', "word-regexp", Kind::Rest, 4),
    ('F', "fixed-strings", Kind::Rest, 5),
    ('H', "with-filename", Kind::Rest, 6),
    ('I', "no-filename", Kind::Rest, 6),
    ('\0', "no-heading", Kind::Nothing, 0),
    ('\0', "hidden", Kind::Choice, 0),
    ('\0', "no-ignore", Kind::Choice, 0),
    ('\0', "no-config", Kind::Nothing, 0),
];

/// Flags with a value, likewise.
const VALUED: &[(char, &str, Kind, u8)] = &[
    ('A', "after-context", Kind::Rest, 7),
    ('B', "before-context", Kind::Rest, 8),
    ('C', "context", Kind::Rest, 9),
    ('m', "max-count", Kind::Rest, 10),
    ('g', "glob", Kind::Choice, 0),
    ('\0', "iglob", Kind::Choice, 0),
    ('t', "type", Kind::Choice, 0),
    ('T', "type-not", Kind::Choice, 0),
    ('e', "regexp", Kind::Rest, 0),
    ('\0', "color", Kind::Nothing, 0),
];

/// Groups that are not taken together: versions differ in which of them wins.
const APART: [(u8, u8); 9] = [(3, 7), (3, 8), (3, 9), (3, 10), (7, 9), (8, 9), (10, 7), (10, 8), (10, 9)];

/// The command line, if it is one that every version of ripgrep answers alike.
pub(super) fn plain(args: &[OsString]) -> Option<Line> {
    let read = read(args)?;
    let is_fixed = read.groups.contains(&5);
    let is_word = read.groups.contains(&4);
    let is_alone = |group: u8| group == 0 || read.groups.iter().filter(|other| **other == group).count() == 1;
    let is_apart = |(one, other): &(u8, u8)| !(read.groups.contains(one) && read.groups.contains(other));
    let is_known = |pattern: &String| match (is_fixed, is_word) {
        (true, false) => !pattern.is_empty() && !pattern.contains(['\n', '\r', '\0']),
        (_, true) => pattern.split('|').all(is_name),
        (false, false) => is_simple(pattern),
    };
    let is_plain = read.groups.iter().copied().all(is_alone)
        && APART.iter().all(is_apart)
        && !read.line.patterns.is_empty()
        && read.line.patterns.iter().all(is_known);
    is_plain.then_some(read.line)
}

/// The patterns of a command line, whatever else it holds, if its flags are known.
pub(super) fn patterns(args: &[OsString]) -> Option<Vec<String>> {
    read(args).map(|read| read.line.patterns).filter(|patterns| patterns.iter().all(|pattern| is_name(pattern)))
}

#[derive(Default)]
struct Read {
    line: Line,
    groups: Vec<u8>,
}

impl Read {
    fn switch(&mut self, (_, long, kind, group): (char, &str, Kind, u8)) {
        self.groups.extend(Some(group).filter(|group| *group > 0));
        self.add(kind, format!("--{long}").into());
    }

    fn value(&mut self, (_, long, kind, group): (char, &str, Kind, u8), value: &OsStr) -> Option<()> {
        self.groups.extend(Some(group).filter(|group| *group > 0));
        match long {
            "regexp" => self.line.patterns.push(value.to_str()?.to_owned()),
            "color" if ["never", "auto"].iter().any(|word| value == *word) => {}
            "color" => return None,
            // A number is written in one way, so that nobody reads another.
            _ if group > 0 && !value.to_str()?.bytes().all(|byte| byte.is_ascii_digit()) => return None,
            _ if group > 0 && (value.is_empty() || value.len() > 6) => return None,
            _ => {
                let mut flag = OsString::from(format!("--{long}="));
                flag.push(value);
                self.add(kind, flag);
            }
        }
        Some(())
    }

    fn add(&mut self, kind: Kind, flag: OsString) {
        match kind {
            Kind::Rest => self.line.rest.push(flag),
            Kind::Choice => self.line.choice.push(flag),
            Kind::Nothing => {}
        }
    }
}

/// The parts of a command line; `None` for one with a flag that is not known here.
fn read(args: &[OsString]) -> Option<Read> {
    let (mut read, mut words, mut names) = (Read::default(), Vec::new(), false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_str()?;
        if names || text == "-" || !text.starts_with('-') {
            words.push(arg);
        } else if text == "--" {
            names = true;
        } else if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            match (SWITCHES.iter().find(|it| it.1 == name), VALUED.iter().find(|it| it.1 == name)) {
                (Some(switch), _) if value.is_none() => read.switch(*switch),
                (_, Some(valued)) => match value {
                    Some(value) => read.value(*valued, OsStr::new(value))?,
                    None => read.value(*valued, args.next()?)?,
                },
                _ => return None,
            }
        } else {
            for (at, letter) in text[1..].char_indices() {
                let is_it = |it: &&(char, &str, Kind, u8)| it.0 == letter;
                if let Some(switch) = SWITCHES.iter().find(is_it) {
                    read.switch(*switch);
                    continue;
                }
                let valued = VALUED.iter().find(is_it)?;
                let behind = &text[1 + at + letter.len_utf8()..];
                match behind.strip_prefix('=').unwrap_or(behind) {
                    "" if behind.is_empty() => read.value(*valued, args.next()?)?,
                    value => read.value(*valued, OsStr::new(value))?,
                }
                break;
            }
        }
    }
    let mut words = words.into_iter();
    if read.line.patterns.is_empty() {
        read.line.patterns.push(words.next()?.to_str()?.to_owned());
    }
    read.line.paths = words.map(PathBuf::from).collect();
    Some(read)
}

/// Whether a pattern is the name of something.
fn is_name(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a regular expression is written with what every version reads alike: letters, escaped marks, simple classes, groups,
/// alternatives and repetitions.
fn is_simple(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    let mut is_after_repeat = true;
    while let Some(c) = chars.next() {
        let repeats = matches!(c, '*' | '+' | '?');
        if repeats && is_after_repeat {
            return false;
        }
        is_after_repeat = repeats || matches!(c, '(' | '|' | '^');
        match c {
            '\\' if !chars.next().is_some_and(|c| r"\.+*?()|[]{}^$bswdSWD".contains(c)) => return false,
            '(' if chars.peek() == Some(&'?') => return false,
            '[' => {
                let mut class = String::new();
                if chars.peek() == Some(&'^') {
                    chars.next();
                }
                loop {
                    match chars.next() {
                        Some(']') if !class.is_empty() => break,
                        Some(c) if c.is_ascii_alphanumeric() || "_. ".contains(c) => class.push(c),
                        // A range of letters or digits.
                        Some('-') if class.ends_with(|c: char| c.is_ascii_alphanumeric()) => {
                            match (class.chars().last(), chars.next()) {
                                (Some(from), Some(to)) if to.is_ascii_alphanumeric() && from <= to => class.push('_'),
                                _ => return false,
                            }
                        }
                        _ => return false,
                    }
                }
            }
            '{' | '}' | ']' => return false,
            c if c.is_ascii_control() => return false,
            _ => {}
        }
    }
    !pattern.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn lines_of_agents_are_read() {
        let line = plain(&args("-n --type rust -g*.rs -A3 total src")).expect("it is plain");
        assert_eq!(line.choice, args("--type=rust --glob=*.rs"));
        assert_eq!(line.rest, args("--line-number --after-context=3"));
        assert_eq!((line.patterns, line.paths), (vec!["total".to_owned()], vec![PathBuf::from("src")]));
        let line = plain(&args("-inF -e -dash -- dir")).expect("it is plain");
        assert_eq!((line.patterns, line.paths), (vec!["-dash".to_owned()], vec![PathBuf::from("dir")]));
        for plain_line in
            ["def\\s+total\\(", "-w total|price", "-il [A-Za-z_]+_total", "a.b*c", "--color=never x", "-B 2 -A 3 x"]
        {
            assert!(plain(&args(plain_line)).is_some(), "{plain_line}");
        }
    }

    #[test]
    fn what_is_not_known_is_left_alone() {
        for line in [
            "",
            "-z x",
            "--json x",
            "-v x",
            "-U x",
            "-P x",
            "--sort path x",
            "-i -s x",
            "-c -l x",
            "-m1 -A2 x",
            "-C1 -A1 x",
            "--files",
            "-w a.b",
            "(?i)x",
            "a{2}",
            "x**",
            "[[:alpha:]]",
            "[a&&b]",
            "\\<x",
            "\\x41",
            "*x",
            "-e",
            "-A x",
            "-A1x x",
            "--color=always x",
            "--version",
            "-F ",
            "[z-a]",
            "a[",
            "--line-number=1 x",
        ] {
            assert_eq!(plain(&args(line)), None, "{line}");
        }
    }
}
