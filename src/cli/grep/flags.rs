//! Flags of `codelode text` and `codelode ast`: ripgrep's names with ripgrep's meanings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, ValueEnum};
use grep_printer::SummaryKind;

use codelode_service::parts::grep::{Case, GrepPattern, Pattern, SearchOptions, language};

/// Search (grep) the text of all files with ripgrep's flags and output: codelode text PATTERN [PATH]...
///
/// Without a PATH, piped text is searched. The PATH `-` is standard input.
#[derive(Args)]
pub(in crate::cli) struct Text {
    /// Pattern, then paths; only paths with -e or --files.
    #[arg(value_name = "PATTERN [PATH]...")]
    rest: Vec<OsString>,
    /// Search for this regular expression; repeatable.
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<String>,
    /// Read patterns from a file, one per line; repeatable.
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pattern_files: Vec<PathBuf>,
    /// Treat the pattern as text, not as a regular expression.
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Ignore case.
    #[arg(short, long, overrides_with_all = ["case_sensitive", "smart_case"])]
    ignore_case: bool,
    /// Match case [default].
    #[arg(short = 's', long, overrides_with_all = ["ignore_case", "smart_case"])]
    case_sensitive: bool,
    /// Ignore case if the pattern has no capital letter.
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    smart_case: bool,
    /// Match whole words only.
    #[arg(short, long, overrides_with = "line_regexp")]
    word_regexp: bool,
    /// Match whole lines only.
    #[arg(short = 'x', long, overrides_with = "word_regexp")]
    line_regexp: bool,
    /// Let matches span lines.
    #[arg(short = 'U', long)]
    multiline: bool,
    /// With -U, let a dot match a newline.
    #[arg(long)]
    multiline_dotall: bool,
    /// Let `$` match before a carriage return.
    #[arg(long)]
    crlf: bool,
    /// Search binary files as text; reads from disk, not from the index.
    #[arg(short = 'a', long)]
    text: bool,
    /// Print all lines and colour the matching ones.
    #[arg(long)]
    passthru: bool,
    /// Print lines that do not match.
    #[arg(short = 'v', long)]
    pub(super) invert_match: bool,
    /// Replace each match with this in the output; `$1` and `$name` are groups.
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) replace: Option<String>,
    /// Print the files to search; takes no PATTERN.
    #[arg(long)]
    pub(super) files: bool,
    /// Print the types for -t and -T.
    #[arg(long)]
    pub(super) type_list: bool,
    /// Include hidden files, except secrets; reads from disk, not from the index.
    #[arg(long)]
    hidden: bool,
    /// Include ignored files, except secrets; reads from disk, not from the index.
    #[arg(long)]
    no_ignore: bool,
    /// -u is --no-ignore, -uu adds --hidden, -uuu adds binary files.
    #[arg(short, long, action = ArgAction::Count)]
    unrestricted: u8,
    /// Follow links inside the folder, except to secrets; reads from disk, not from the index.
    #[arg(short = 'L', long)]
    follow: bool,
    #[command(flatten)]
    pub(super) how: GrepOptions,
}

/// Find code by syntax, with ripgrep's output: codelode ast PATTERN [PATH]...
#[derive(Args)]
pub(in crate::cli) struct Ast {
    /// Code with `$NAME` for one node and `$$$NAME` for any number, or a tree-sitter query; then paths. Only paths
    /// with --preset.
    #[arg(value_name = "PATTERN [PATH]...")]
    rest: Vec<OsString>,
    /// Instead of pattern: empty_catch, bare_except, deep_nesting, eval, hardcoded_secret, todo.
    #[arg(long)]
    preset: Option<String>,
    /// python, javascript, typescript, go, rust or java; also `-l python` [default: all that parse the pattern].
    #[arg(long)]
    language: Option<String>,
    #[command(flatten)]
    how: GrepOptions,
}

/// Scope and output of a search.
#[derive(Args)]
pub(super) struct GrepOptions {
    /// Search only paths that match this glob; a leading `!` excludes them.
    #[arg(short, long = "glob", value_name = "GLOB", allow_hyphen_values = true)]
    pub(super) globs: Vec<String>,
    /// As --glob, case ignored.
    #[arg(long = "iglob", value_name = "GLOB", allow_hyphen_values = true)]
    pub(super) iglobs: Vec<String>,
    /// Ignore case in every --glob.
    #[arg(long)]
    pub(super) glob_case_insensitive: bool,
    /// Search at most this many levels of folders below each PATH.
    #[arg(short = 'd', long, alias = "maxdepth", value_name = "N")]
    pub(super) max_depth: Option<usize>,
    /// Skip files larger than this many bytes; `K`, `M` and `G` are powers of 1,024.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) max_filesize: Option<u64>,
    /// Define a type for -t and -T, for example `web:*.{html,css}`.
    #[arg(long, value_name = "TYPE:GLOB")]
    pub(super) type_add: Vec<String>,
    /// Forget the globs of a type.
    #[arg(long, value_name = "TYPE")]
    pub(super) type_clear: Vec<String>,
    /// Search only files of this type, with ripgrep's names.
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub(super) types: Vec<String>,
    /// Skip files of this type.
    #[arg(short = 'T', long = "type-not", value_name = "TYPE")]
    pub(super) types_not: Vec<String>,
    /// Print lines after each match.
    #[arg(short = 'A', long, value_name = "N")]
    after_context: Option<usize>,
    /// Print lines before each match.
    #[arg(short = 'B', long, value_name = "N")]
    before_context: Option<usize>,
    /// Print lines before and after each match.
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<usize>,
    /// Print at most this many matching lines per file.
    #[arg(short, long, value_name = "N")]
    max_count: Option<u64>,
    /// Print only paths of files with a match.
    #[arg(short = 'l', long, overrides_with_all = ["files_without_match", "count", "count_matches"])]
    files_with_matches: bool,
    /// Print only paths of files without a match.
    #[arg(long, overrides_with_all = ["files_with_matches", "count", "count_matches"])]
    files_without_match: bool,
    /// Print only the number of matching lines per file.
    #[arg(short, long, overrides_with_all = ["files_with_matches", "files_without_match", "count_matches"])]
    count: bool,
    /// Print only the number of matches per file.
    #[arg(long, overrides_with_all = ["files_with_matches", "files_without_match", "count"])]
    count_matches: bool,
    /// With -c, include files without a match.
    #[arg(long)]
    pub(super) include_zero: bool,
    /// Print only the matches, one per line.
    #[arg(short, long)]
    pub(super) only_matching: bool,
    /// Print line numbers [default].
    #[arg(short = 'n', long, overrides_with = "no_line_number")]
    line_number: bool,
    /// Omit line numbers.
    #[arg(short = 'N', long, overrides_with = "line_number")]
    no_line_number: bool,
    /// Print the column of a line's first match.
    #[arg(long)]
    pub(super) column: bool,
    /// Print each line's byte offset in the file.
    #[arg(short = 'b', long)]
    pub(super) byte_offset: bool,
    /// Print each match as path:line:column:text, for editors.
    #[arg(long)]
    pub(super) vimgrep: bool,
    /// Print the path, even for a single file.
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    with_filename: bool,
    /// Omit paths.
    #[arg(short = 'I', long, overrides_with = "with_filename")]
    no_filename: bool,
    /// Print each path once, above its matches [default: at a terminal].
    #[arg(long, overrides_with = "no_heading")]
    heading: bool,
    /// Print the path before each line [default: in a pipe].
    #[arg(long, overrides_with = "heading")]
    no_heading: bool,
    /// Print in a pipe as at a terminal: colours, each path once, line numbers.
    #[arg(short, long)]
    pub(super) pretty: bool,
    /// Separator between groups of lines [default: --].
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, overrides_with = "no_context_separator")]
    context_separator: Option<String>,
    /// Print no separator between groups of lines.
    #[arg(long, overrides_with = "context_separator")]
    no_context_separator: bool,
    /// Separator after a match's path, line and column [default: :].
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) field_match_separator: Option<String>,
    /// Separator after a context line's path and line [default: -].
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) field_context_separator: Option<String>,
    /// Strip leading blanks from lines.
    #[arg(long)]
    pub(super) trim: bool,
    /// Omit the text of lines longer than this many bytes.
    #[arg(short = 'M', long, value_name = "N")]
    pub(super) max_columns: Option<u64>,
    /// With -M, print the start of such lines.
    #[arg(long)]
    pub(super) max_columns_preview: bool,
    /// End each path with a NUL byte, for xargs -0.
    #[arg(short = '0', long)]
    pub(super) null: bool,
    /// Sort files by this.
    #[arg(long, value_name = "BY", default_value = "path", overrides_with = "sortr")]
    pub(super) sort: SortBy,
    /// Sort files by this, reversed.
    #[arg(long, value_name = "BY", overrides_with = "sort")]
    pub(super) sortr: Option<SortBy>,
    /// Print statistics at the end.
    #[arg(long)]
    pub(super) stats: bool,
    /// Print nothing; the exit status tells whether there is a match.
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Hide messages about unreadable files.
    #[arg(long)]
    pub(super) no_messages: bool,
    /// Search the index without checking for changed files.
    #[arg(long)]
    pub(super) as_indexed: bool,
    #[command(flatten)]
    _without_effect: WithoutEffect,
}

/// Flags of ripgrep that change how it works, not what it prints. Habits and scripts have them.
#[derive(Args)]
struct WithoutEffect {
    #[arg(short = 'j', long, hide = true)]
    threads: Option<usize>,
    #[arg(long, hide = true)]
    mmap: bool,
    #[arg(long, hide = true)]
    no_mmap: bool,
    #[arg(long, hide = true)]
    line_buffered: bool,
    #[arg(long, hide = true)]
    block_buffered: bool,
    #[arg(long, hide = true)]
    no_config: bool,
    #[arg(long, hide = true)]
    one_file_system: bool,
    #[arg(long, hide = true)]
    regex_size_limit: Option<String>,
    #[arg(long, hide = true)]
    dfa_size_limit: Option<String>,
    #[arg(long, hide = true)]
    no_pcre2: bool,
    #[arg(long, hide = true, value_parser = ["default", "auto"])]
    engine: Option<String>,
    #[arg(long, hide = true)]
    auto_hybrid_regex: bool,
}

/// An order of files.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SortBy {
    /// Unsorted.
    None,
    /// By path.
    Path,
    /// By last modification.
    Modified,
    /// By last access.
    Accessed,
    /// By creation time.
    Created,
}

/// The treatment of files with NUL bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    /// They are read up to the first NUL byte.
    Skipped,
    /// They are read to the end, but only the fact of a match is reported.
    Searched,
    /// They are read as text.
    Text,
}

/// Parses a number of bytes such as `5K`.
fn size(text: &str) -> Result<u64, String> {
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, unit) = text.split_at(n_digits);
    let factor: u64 = match unit {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return Err("give a number of bytes, which may end in K, M or G".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "give a number of bytes, as 500K".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "that is larger than any file".to_owned())
}

/// Selects files on disk that are not in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unrestricted {
    /// Whether to include hidden files.
    pub(super) hidden: bool,
    /// Whether to include ignored files.
    pub(super) no_ignore: bool,
    /// The treatment of binary files.
    pub(super) binary: Binary,
    /// Whether to follow links.
    pub(super) follow: bool,
}

/// A search command.
pub(in crate::cli) enum Asked<'a> {
    Text(&'a Text),
    Ast(&'a Ast),
}

impl<'a> Asked<'a> {
    /// The name of the command.
    pub(in crate::cli) fn command(&self) -> &'static str {
        match self {
            Asked::Text(_) => "text",
            Asked::Ast(_) => "ast",
        }
    }

    /// Reads the pattern and the paths to search.
    pub(super) fn read(&self) -> Result<(GrepPattern, Vec<PathBuf>), String> {
        match self {
            Asked::Text(text) => text.read().map(|(pattern, paths)| (GrepPattern::Text(pattern), paths)),
            Asked::Ast(ast) => ast.read(),
        }
    }

    pub(super) fn how(&self) -> &'a GrepOptions {
        match self {
            Asked::Text(text) => &text.how,
            Asked::Ast(ast) => &ast.how,
        }
    }

    /// The flags that only `text` has.
    pub(super) fn text(&self) -> Option<&'a Text> {
        match self {
            Asked::Text(text) => Some(text),
            Asked::Ast(_) => None,
        }
    }

    /// Options of the search in addition to its pattern.
    pub(super) fn options(&self) -> SearchOptions {
        let how = self.how();
        let context = how.context.unwrap_or(0);
        SearchOptions {
            before: how.before_context.unwrap_or(context),
            after: how.after_context.unwrap_or(context),
            numbered: !how.no_line_number,
            inverted: self.text().is_some_and(|text| text.invert_match),
            max_matches: how.max_count,
            passthru: self.text().is_some_and(|text| text.passthru),
            crlf: self.text().is_some_and(|text| text.crlf),
        }
    }

    /// The treatment of standard input, and of a binary file that is named.
    pub(super) fn named_binary(&self) -> Binary {
        if self.text().is_some_and(|text| text.text) { Binary::Text } else { Binary::Searched }
    }

    /// Whether `-l` means the language of a pattern, not the flag that lists files.
    fn names_language(&self) -> bool {
        matches!(self, Asked::Ast(ast) if ast.language_behind_l().is_some())
    }

    /// The kind of summary per file that replaces its lines.
    pub(super) fn summary(&self) -> Option<SummaryKind> {
        let how = self.how();
        let is_inverted = self.text().is_some_and(|text| text.invert_match);
        Some(match () {
            () if how.quiet && how.files_without_match => SummaryKind::QuietWithoutMatch,
            () if how.quiet => SummaryKind::QuietWithMatch,
            () if how.files_with_matches && !self.names_language() => SummaryKind::PathWithMatch,
            () if how.files_without_match => SummaryKind::PathWithoutMatch,
            // A line without a match has no matches to count.
            () if (how.count_matches || (how.count && how.only_matching)) && !is_inverted => SummaryKind::CountMatches,
            () if how.count || how.count_matches => SummaryKind::Count,
            () => return None,
        })
    }

    /// Whether files that cannot match are part of the answer.
    pub(super) fn wants_all(&self) -> bool {
        let how = self.how();
        how.files_without_match
            || how.include_zero
            || self.text().is_some_and(|text| text.invert_match || text.files || text.passthru)
    }
}

impl GrepOptions {
    /// Whether to print paths, for an answer about several files or one.
    pub(super) fn with_path(&self, several: bool) -> bool {
        !self.no_filename && (self.with_filename || self.vimgrep || several)
    }

    /// Whether each path is printed once, above its matches.
    pub(super) fn with_heading(&self, by_default: bool) -> bool {
        !self.no_heading && !self.vimgrep && (self.heading || self.pretty || by_default)
    }

    /// Whether the options accept a file of this size, at this depth below a searched folder.
    pub(super) fn takes(&self, size: u64, depth: usize) -> bool {
        self.max_filesize.is_none_or(|most| size <= most) && self.max_depth.is_none_or(|most| depth <= most)
    }

    /// The text between groups of lines; `None` for none.
    pub(super) fn context_separator(&self) -> Option<Vec<u8>> {
        let text = self.context_separator.as_deref().unwrap_or("--");
        (!self.no_context_separator).then(|| text.as_bytes().to_vec())
    }
}

impl Ast {
    /// The language after a short `-l`, which has that meaning in other syntax search programs. It must name a
    /// language, and no file.
    fn language_behind_l(&self) -> Option<&OsString> {
        let is_language =
            |word: &&OsString| word.to_str().is_some_and(|word| language(word).is_some()) && !Path::new(word).exists();
        if !self.how.files_with_matches || self.language.is_some() {
            return None;
        }
        // The language may also precede the pattern, which is then no existing path.
        let comes_first = self.preset.is_none() && self.rest.get(1).is_some_and(|second| !Path::new(second).exists());
        let first = self.rest.first().filter(|_| comes_first).filter(is_language);
        first.or_else(|| self.rest.iter().skip(usize::from(self.preset.is_none())).find(is_language))
    }

    fn read(&self) -> Result<(GrepPattern, Vec<PathBuf>), String> {
        let meant = self.language_behind_l();
        let mut rest = self.rest.iter().filter(|word| meant.is_none_or(|meant| !std::ptr::eq(*word, meant)));
        let pattern = match self.preset {
            Some(_) => None,
            None => {
                let first = rest.next().ok_or("give a PATTERN, or --preset")?;
                Some(first.to_str().ok_or("the pattern is not UTF-8")?.to_owned())
            }
        };
        let is_word = |word: &&OsString| {
            let text = word.to_string_lossy();
            !text.contains(['/', '.']) && !Path::new(word).exists()
        };
        if let Some(word) = rest.clone().find(is_word).filter(|_| self.how.files_with_matches && meant.is_none()) {
            let word = word.to_string_lossy();
            return Err(format!(
                "{word} is neither a file nor a language; -l lists files, or names a language like --language"
            ));
        }
        let (preset, named) = (self.preset.clone(), || meant.and_then(|word| language(word.to_str()?)));
        let language = self.language.clone().or_else(named);
        Ok((GrepPattern::Syntax { pattern, preset, language }, rest.map(PathBuf::from).collect()))
    }
}

impl Text {
    /// The pattern, and the paths to search.
    fn read(&self) -> Result<(Pattern, Vec<PathBuf>), String> {
        let (mut patterns, mut rest) = (self.patterns.clone(), self.rest.iter());
        for path in &self.pattern_files {
            let text = std::fs::read_to_string(path).map_err(|err| format!("cannot read {}: {err}", path.display()))?;
            patterns.extend(text.lines().map(str::to_owned));
        }
        if patterns.is_empty() && self.pattern_files.is_empty() && !self.files && !self.type_list {
            let first = rest.next().ok_or("give a PATTERN")?;
            patterns.push(first.to_str().ok_or("the pattern is not UTF-8")?.to_owned());
        }
        if self.multiline && self.multiline_dotall && !self.fixed_strings {
            patterns.iter_mut().for_each(|pattern| *pattern = format!("(?s:{pattern})"));
        }
        let case = match (self.ignore_case, self.smart_case) {
            (true, _) => Case::Insensitive,
            (_, true) => Case::Smart,
            _ => Case::Sensitive,
        };
        let pattern = Pattern {
            patterns,
            fixed: self.fixed_strings,
            case,
            word: self.word_regexp,
            line: self.line_regexp,
            multi_line: self.multiline,
            crlf: self.crlf,
        };
        Ok((pattern, rest.map(PathBuf::from).collect()))
    }

    /// The selection of files on disk; `None` to search the index.
    pub(super) fn unrestricted(&self) -> Option<Unrestricted> {
        let asked = Unrestricted {
            hidden: self.hidden || self.unrestricted > 1,
            no_ignore: self.no_ignore || self.unrestricted > 0,
            binary: match self.text {
                true => Binary::Text,
                false if self.unrestricted > 2 => Binary::Searched,
                false => Binary::Skipped,
            },
            follow: self.follow,
        };
        (asked.hidden || asked.no_ignore || asked.follow || self.text).then_some(asked)
    }
}
