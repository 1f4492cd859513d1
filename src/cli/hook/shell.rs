//! Finds the searches in a shell command line: of ripgrep and similar programs, through pipes, lists, `cd`, `xargs` and
//! nested shells.
//!
//! Words are split like in POSIX shells (Shell Command Language, 2.2 and 2.10). Nothing is expanded: a word with a
//! variable or a command substitution is unknown, and so is a search for it.

use std::iter;
use std::path::{Path, PathBuf};

/// The deepest nesting of shells that is read.
const DEEPEST: usize = 3;
/// The longest command line that is read, in bytes; agents write whole files with longer ones.
const LONGEST: usize = 16 << 10;

/// A search in a command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Search {
    /// The folder in which it runs.
    pub(super) folder: PathBuf,
    /// The pattern as written.
    pub(super) pattern: String,
    /// Whether it searches file names instead of text.
    pub(super) is_for_files: bool,
    /// The searched files and folders as written; empty for the folder itself.
    pub(super) places: Vec<String>,
}

/// A word of a command, or a separator of commands.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// A word; `None` if only the shell knows it.
    Word(Option<String>),
    /// The end of a command whose successor runs in the same folder: `;`, `&&`, `||`, `&`, a new line.
    End,
    /// A pipe.
    Pipe,
    /// The start of a subshell or a group.
    Open,
    /// The end of a subshell or a group.
    Close,
    /// A redirection. Its target is the next word.
    Redirect,
}

/// A search program: its names, and its flags that take a value.
struct Program {
    names: &'static [&'static str],
    /// Short flags with a value, which is attached or the next word.
    short: &'static str,
    /// Long flags whose value may be the next word.
    long: &'static [&'static str],
}

/// Programs that take a pattern as first word, or with `-e`.
const GREPS: &[Program] = &[
    Program {
        names: &["rg"],
        short: "ABCEMTdfgjmrt",
        long: &[
            "after-context",
            "before-context",
            "color",
            "colors",
            "context",
            "context-separator",
            "encoding",
            "engine",
            "field-context-separator",
            "field-match-separator",
            "file",
            "glob",
            "iglob",
            "ignore-file",
            "max-columns",
            "max-count",
            "max-depth",
            "max-filesize",
            "path-separator",
            "pre",
            "pre-glob",
            "replace",
            "sort",
            "sortr",
            "threads",
            "type",
            "type-add",
            "type-not",
        ],
    },
    Program {
        names: &["grep", "egrep", "fgrep", "ggrep", "zgrep"],
        short: "ABCDdfm",
        long: &[
            "after-context",
            "before-context",
            "context",
            "devices",
            "directories",
            "exclude",
            "exclude-dir",
            "exclude-from",
            "file",
            "include",
            "label",
            "max-count",
        ],
    },
    Program {
        names: &["ag", "ack"],
        short: "ABCGmp",
        long: &["after", "before", "context", "depth", "file-search-regex", "ignore", "max-count", "path-to-ignore"],
    },
];

/// Programs that run the command after their own flags, and their flags with a value.
const RUNNERS: &[(&str, &str)] = &[
    ("xargs", "IEdLnPsa"),
    ("sudo", "ughpCT"),
    ("env", "uC"),
    ("nice", "n"),
    ("timeout", "ks"),
    ("time", "fo"),
    ("command", ""),
    ("nohup", ""),
    ("exec", ""),
    ("stdbuf", "ioe"),
    ("ionice", "cn"),
    ("then", ""),
    ("do", ""),
    ("else", ""),
    ("if", ""),
    ("while", ""),
    ("!", ""),
];

/// Programs that output the text of files. A search in their output is a search in those files.
const READERS: &[&str] = &["cat", "head", "tail", "nl", "sed"];

/// The searches of a command line that runs in `folder`, in order.
pub(super) fn searches(line: &str, folder: &Path) -> Vec<Search> {
    let mut found = Vec::new();
    read(line, folder, 0, &mut found);
    found
}

fn read(line: &str, folder: &Path, depth: usize, found: &mut Vec<Search>) {
    if depth == DEEPEST || line.len() > LONGEST {
        return;
    }
    let mut here = Some(folder.to_owned());
    let mut outside = Vec::new();
    let mut words: Vec<Option<String>> = Vec::new();
    let mut is_target = false;
    // Whether the next command reads a pipe from a program outside [`READERS`].
    let mut is_filter = false;
    for token in tokens(line).into_iter().chain(iter::once(Token::End)) {
        match token {
            Token::Word(_) if is_target => is_target = false,
            Token::Word(word) => words.push(word),
            Token::Redirect => is_target = true,
            Token::End | Token::Pipe | Token::Open | Token::Close => {
                is_target = false;
                let n_found = found.len();
                run(&words, &mut here, depth, found);
                // A search in other output only filters it, or narrows an earlier search.
                if is_filter && !is_started(&words, "xargs") {
                    found.truncate(n_found);
                }
                if !words.is_empty() {
                    is_filter = token == Token::Pipe && !(READERS.iter().any(|reader| is_started(&words, reader)));
                }
                words.clear();
                match token {
                    Token::Open => outside.push(here.clone()),
                    Token::Close => here = outside.pop().unwrap_or(here),
                    _ => {}
                }
            }
        }
    }
}

/// Whether a command runs this program.
fn is_started(words: &[Option<String>], program: &str) -> bool {
    words.first().and_then(Option::as_deref).is_some_and(|first| first.rsplit('/').next() == Some(program))
}

/// Reads one command. `here` is the folder in which it runs; `None` if unknown.
fn run(words: &[Option<String>], here: &mut Option<PathBuf>, depth: usize, found: &mut Vec<Search>) {
    let Some((name, rest)) = behind_runners(words) else { return };
    match name {
        "cd" | "pushd" => {
            let to = behind_flags(rest, "").first().cloned().flatten();
            *here = here.take().zip(to).map(|(here, to)| here.join(to));
        }
        "bash" | "sh" | "zsh" | "dash" | "ksh" => {
            // The script follows the flag `c`, which may be combined with others.
            let runs = |word: &Option<String>| {
                word.as_ref()
                    .is_some_and(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))
            };
            let script = rest.iter().position(runs).and_then(|at| rest.get(at + 1)).cloned().flatten();
            if let (Some(script), Some(here)) = (script, here) {
                read(&script, here, depth + 1, found);
            }
        }
        "git" => git(rest, here.as_deref(), found),
        "find" | "fd" | "fdfind" => {
            let Some(here) = here else { return };
            let pattern = if name == "find" {
                let at = rest.iter().position(|word| {
                    word.as_deref().is_some_and(|word| ["-name", "-iname", "-path", "-wholename"].contains(&word))
                });
                at.and_then(|at| rest.get(at + 1)).cloned().flatten()
            } else {
                behind_flags(rest, "eEtdSxXcjg").first().cloned().flatten()
            };
            found.extend(pattern.map(|pattern| Search {
                folder: here.clone(),
                pattern,
                is_for_files: true,
                places: Vec::new(),
            }));
        }
        "sed" | "awk" | "gawk" => {
            // The text between the first slashes of `sed -n '/def total/,/^def/p'`.
            let script = behind_flags(rest, if name == "sed" { "" } else { "Fvf" }).first().cloned().flatten();
            let pattern = script
                .as_deref()
                .and_then(|script| script.strip_prefix('/'))
                .and_then(|script| script.split('/').next());
            if let (Some(pattern), Some(here)) = (pattern, here) {
                let places = behind_flags(rest, "").iter().skip(1).flatten().cloned().collect();
                found.push(Search { folder: here.clone(), pattern: pattern.to_owned(), is_for_files: false, places });
            }
        }
        _ => {
            let program = GREPS.iter().find(|program| program.names.contains(&name));
            if let (Some(program), Some(here)) = (program, here) {
                grep(rest, program, here, found);
            }
        }
    }
}

/// The name and words of the program that a command finally runs, after assignments and programs that run others.
fn behind_runners(mut words: &[Option<String>]) -> Option<(&str, &[Option<String>])> {
    loop {
        while let [Some(word), rest @ ..] = words
            && word.split_once('=').is_some_and(|(name, _)| is_name(name))
        {
            words = rest;
        }
        let [Some(program), rest @ ..] = words else { return None };
        let name = program.rsplit('/').next().unwrap_or(program);
        let Some((runner, with_value)) = RUNNERS.iter().find(|(runner, _)| *runner == name) else {
            return Some((name, rest));
        };
        words = behind_flags(rest, with_value);
        if *runner == "timeout" {
            words = words.get(1..).unwrap_or_default();
        }
    }
}

/// The searches of `git grep`, `git log -S` and `git log -G`.
fn git(words: &[Option<String>], here: Option<&Path>, found: &mut Vec<Search>) {
    let Some(here) = here else { return };
    let mut folder = here.to_owned();
    let mut words = words;
    loop {
        match words {
            [Some(flag), Some(to), rest @ ..] if flag == "-C" => {
                folder.push(to);
                words = rest;
            }
            [Some(flag), Some(_), rest @ ..] if flag == "-c" => words = rest,
            [Some(flag), rest @ ..] if flag.starts_with('-') => words = rest,
            _ => break,
        }
    }
    match words {
        [Some(command), rest @ ..] if command == "grep" => grep(rest, &GREPS[1], &folder, found),
        [Some(command), rest @ ..] if command == "log" => {
            for (at, word) in rest.iter().enumerate() {
                let Some(pattern) =
                    word.as_deref().and_then(|word| word.strip_prefix("-S").or(word.strip_prefix("-G")))
                else {
                    continue;
                };
                let pattern =
                    if pattern.is_empty() { rest.get(at + 1).cloned().flatten() } else { Some(pattern.to_owned()) };
                found.extend(pattern.map(|pattern| Search {
                    folder: folder.clone(),
                    pattern,
                    is_for_files: false,
                    places: Vec::new(),
                }));
            }
        }
        _ => {}
    }
}

/// The patterns of a program like grep: the values of `-e`, or else the first word that is no flag.
fn grep(words: &[Option<String>], program: &Program, here: &Path, found: &mut Vec<Search>) {
    let mut patterns = Vec::new();
    let mut first = None;
    let mut places: Vec<String> = Vec::new();
    let mut are_flags_over = false;
    let mut is_for_files = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        // An unknown word may be a pattern, a path or several flags, so it stays unknown.
        let Some(word) = word else {
            first.get_or_insert(None);
            continue;
        };
        if are_flags_over || !word.starts_with('-') || word == "-" {
            match first {
                None => first = Some(Some(word.clone())),
                Some(_) => places.push(word.clone()),
            }
            continue;
        }
        if word == "--" {
            are_flags_over = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
            is_for_files |= name == "files";
            if name == "regexp" {
                patterns.push(value.or_else(|| words.next().cloned().flatten()));
            } else if value.is_none() && program.long.contains(&name) {
                words.next();
            }
        } else {
            for (at, flag) in word.char_indices().skip(1) {
                let value = &word[at + flag.len_utf8()..];
                if flag == 'e' {
                    let value = Some(value.to_owned()).filter(|value| !value.is_empty());
                    patterns.push(value.or_else(|| words.next().cloned().flatten()));
                    break;
                }
                if program.short.contains(flag) {
                    if value.is_empty() {
                        words.next();
                    }
                    break;
                }
            }
        }
    }
    if patterns.is_empty() && !is_for_files {
        patterns.extend(first);
    } else {
        places.extend(first.flatten());
    }
    let search = |pattern| Search { folder: here.to_owned(), pattern, is_for_files: false, places: places.clone() };
    found.extend(patterns.into_iter().flatten().map(search));
}

/// The words after leading flags. Flags in `with_value` take the next word, unless a value is attached.
fn behind_flags<'a>(words: &'a [Option<String>], with_value: &str) -> &'a [Option<String>] {
    let mut words = words;
    while let [Some(flag), rest @ ..] = words {
        if flag == "--" {
            return rest;
        }
        let Some(name) = flag.strip_prefix('-').filter(|name| !name.is_empty()) else {
            // `env` also takes assignments.
            if flag.split_once('=').is_some_and(|(name, _)| is_name(name)) {
                words = rest;
                continue;
            }
            break;
        };
        let takes_next = name.len() == 1 && with_value.contains(name);
        words = if takes_next { rest.get(1..).unwrap_or_default() } else { rest };
    }
    words
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Splits a command line into words and separators.
fn tokens(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = line.chars().peekable();
    // The current word; `None` inside if it is unknown.
    let mut word: Option<String> = None;
    let mut is_known = true;
    let flush = |word: &mut Option<String>, is_known: &mut bool, tokens: &mut Vec<Token>| {
        if let Some(word) = word.take() {
            tokens.push(Token::Word(is_known.then_some(word)));
        }
        *is_known = true;
    };
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' => flush(&mut word, &mut is_known, &mut tokens),
            '\'' => {
                let text = word.get_or_insert_default();
                text.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                let text = word.get_or_insert_default();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => match chars.next() {
                            Some(c @ ('"' | '\\' | '$' | '`')) => text.push(c),
                            Some('\n') | None => {}
                            Some(c) => text.extend(['\\', c]),
                        },
                        '`' => is_known = false,
                        '$' if chars.peek().is_some_and(|c| c.is_alphanumeric() || "_{(@*#?!".contains(*c)) => {
                            is_known = false
                        }
                        c => text.push(c),
                    }
                }
            }
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(c) => word.get_or_insert_default().push(c),
            },
            '$' if chars.peek().is_some_and(|c| c.is_alphanumeric() || "_{(@*#?!".contains(*c)) => {
                word.get_or_insert_default();
                is_known = false;
                if chars.peek() == Some(&'(') {
                    // A substitution is read like a subshell, so its searches count.
                    chars.next();
                    flush(&mut word, &mut is_known, &mut tokens);
                    tokens.push(Token::Open);
                }
            }
            '`' => is_known = false,
            '#' if word.is_none() => {
                // A comment extends to the end of its line, which ends the command.
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            '|' => {
                flush(&mut word, &mut is_known, &mut tokens);
                let is_or = chars.next_if_eq(&'|').is_some();
                if !is_or {
                    chars.next_if_eq(&'&');
                }
                tokens.push(if is_or { Token::End } else { Token::Pipe });
            }
            ';' | '\n' | '&' if !(c == '&' && chars.peek() == Some(&'>')) => {
                flush(&mut word, &mut is_known, &mut tokens);
                chars.next_if_eq(&c);
                tokens.push(Token::End);
            }
            '<' | '>' | '&' => {
                // The number before a redirection belongs to it.
                if word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
                    word = None;
                }
                flush(&mut word, &mut is_known, &mut tokens);
                while chars.next_if(|c| "<>&|".contains(*c)).is_some() {}
                tokens.push(Token::Redirect);
            }
            '(' | '{' if word.is_none() => tokens.push(Token::Open),
            ')' => {
                flush(&mut word, &mut is_known, &mut tokens);
                tokens.push(Token::Close);
            }
            '}' if word.is_none() => tokens.push(Token::Close),
            c => word.get_or_insert_default().push(c),
        }
    }
    flush(&mut word, &mut is_known, &mut tokens);
    tokens
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The patterns of a line that runs in /r, each with its folder unless that is /r. File name patterns are in angle
    /// brackets.
    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let found: Vec<String> = searches(line, Path::new("/r"))
            .into_iter()
            .map(|Search { folder, pattern, is_for_files, .. }| {
                let pattern = if is_for_files { format!("<{pattern}>") } else { pattern };
                let folder = folder.display().to_string();
                if folder == "/r" { pattern } else { format!("{folder}: {pattern}") }
            })
            .collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn any_number_of_programs_may_run_another() {
        check(&format!("{}a=b timeout 5 rg x", "! env a=b ".repeat(1_000)), &["x"]);
    }

    #[test]
    fn patterns_are_found_behind_flags_and_their_values() {
        check("rg resolve_url", &["resolve_url"]);
        check("rg -n --type py -g '*.py' 'def resolve_url' django/ | head -20", &["def resolve_url"]);
        check("grep -rn \"class Foo\" --include=*.py . 2>/dev/null", &["class Foo"]);
        check("grep -rnA3 total src", &["total"]);
        check("grep -A 3 -rn total src", &["total"]);
        check("rg -e one --regexp=two -- three", &["one", "two"]);
        check("rg -etotal", &["total"]);
        check("rg -C3 total; rg -C 3 other", &["total", "other"]);
        check("ag --ignore node_modules total", &["total"]);
        check("rg -- -total", &["-total"]);
        check("rg --files | grep -i settings", &[]);
        check("/usr/bin/grep -F 'a b' x", &["a b"]);
    }

    #[test]
    fn commands_are_found_in_lists_pipes_and_shells() {
        check("cd src && rg total", &["/r/src: total"]);
        check("cd /other; grep -r a . || grep -r b .", &["/other: a", "/other: b"]);
        check("(cd src && rg a); rg b", &["/r/src: a", "b"]);
        check("cd $HOME && rg total", &[]);
        check("find . -name '*.py' | xargs -n 1 grep -n total", &["<*.py>", "total"]);
        check("find . -iname \"*retry*\" -type f", &["<*retry*>"]);
        check("grep -rn total . | grep -v price | head", &["total"]);
        check("cat a.py b.py | grep total", &["total"]);
        check("git log --oneline | grep total; ls | rg price; rg tax", &["tax"]);
        check("git -C lib grep -n total -- '*.c'", &["/r/lib: total"]);
        check("git log -S total --oneline; git log -Gother", &["total", "other"]);
        check("bash -lc \"cd src && rg 'a b'\"", &["/r/src: a b"]);
        check("LC_ALL=C timeout 10 rg total", &["total"]);
        check("sudo -u me env A=1 rg total", &["total"]);
        check("sed -n '/def total/,/^def/p' a.py", &["def total"]);
        check("sed -n 10,20p a.py", &[]);
        check("x=$(rg -l total); echo \"$x\"", &["total"]);
        check("if rg -q total; then rg other; fi", &["total", "other"]);
        check("echo rg total", &[]);
        check("cat <<< rg", &[]);
        check("ls # rg total\nrg other", &["other"]);
        check("rg total >out 2>&1 &", &["total"]);
        check("rg a \\\n  src", &["a"]);
    }

    #[test]
    fn places_are_those_behind_the_pattern() {
        let places = |line: &str| searches(line, Path::new("/r")).remove(0).places;
        assert_eq!(places("grep -rn total src tests/a.py | head"), ["src", "tests/a.py"]);
        assert_eq!(places("rg -e total src"), ["src"]);
        assert_eq!(places("sed -n '/def total/,/^def/p' shop/cart.py"), ["shop/cart.py"]);
        assert!(places("rg total").is_empty());
    }

    #[test]
    fn unknown_patterns_are_no_searches() {
        check("rg \"$NAME\" src", &[]);
        check("rg $NAME src", &[]);
        check("grep -r `cat names` .", &[]);
        check("rg \"price \\$total\"", &["price $total"]);
        check("rg 'a$'", &["a$"]);
        check("rg \"a$\"", &["a$"]);
    }

    proptest! {
        #[test]
        fn no_line_breaks_it(line in "[rg cd'\"\\\\|&;()<>{}$`#\n=-]{0,60}") {
            searches(&line, Path::new("/r"));
        }
    }
}
