//! Matching lines in any commit of any git repository, indexed or not.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::errors::source_error;
use super::patterns::bad_pattern;
use super::remotes::{keep, open, remote};
use super::{Call, Error, Tool, ToolTier, tokens};
use crate::catalog::remotes::Age;
use codelode_base::model::{EntryMode, SkipReason, SourceTree as _, TreeEntry};
use codelode_query::blobs::{self, BlobSearch, Line};
use codelode_query::scan::Limits;
use codelode_query::text::{Case, Pattern};

/// Grep another, remote git repository, without cloning it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// owner/name, URL or path.
    repository: String,
    /// A regex, unless use_regex is false.
    pattern: String,
    /// Branch, tag or commit.
    #[serde(default)]
    ref_name: Option<String>,
    /// Match case.
    #[serde(default)]
    case_sensitive: bool,
    /// Treat the pattern as a regex.
    #[serde(default = "yes")]
    use_regex: bool,
    /// Such as ["rs", "toml"].
    #[serde(default)]
    file_extensions: Vec<String>,
    /// Such as ["src/**/*.rs"].
    #[serde(default)]
    include_globs: Vec<String>,
    /// Folders to exclude, by name or path.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    exclude_dirs: Vec<String>,
    /// Print lines before each match.
    #[serde(default)]
    before_context: u64,
    /// Print lines after each match.
    #[serde(default)]
    after_context: u64,
    /// Matching lines to skip.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    skip: u64,
    /// Matching lines to return.
    #[serde(default = "fifty")]
    take: u64,
}

fn yes() -> bool {
    true
}

fn fifty() -> u64 {
    50
}

/// The matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    repository: String,
    /// Full ref, or the commit.
    #[serde(rename = "ref")]
    reference: String,
    commit: String,
    matches: Vec<FileMatch>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Time ran out before all files were searched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
    stats: Stats,
    /// Files that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A file with matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileMatch {
    path: String,
    line_matches: Vec<LineMatch>,
}

/// A matching line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LineMatch {
    line_number: u64,
    line: String,
    /// Start and length in bytes of `line`.
    ranges: Vec<(usize, usize)>,
    /// Whether `line` is cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

/// Numbers of files and lines searched.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Stats {
    files_searched: u64,
    /// Matching lines in total.
    total_matches: u64,
    files_with_matches: u64,
    execution_time_ms: u64,
    /// Files not searched, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<&'static str, u64>,
}

/// See [`Args`].
pub struct GrepRepository;

/// The longest time of a search, cloning excluded.
const BUDGET: Duration = Duration::from_secs(60);
/// Tokens of an answer without its matches, and of a file's entry without its path.
const FRAME: usize = 250;
const FILE_FRAME: usize = 15;
/// The most context lines.
const MOST_CONTEXT: u64 = 100;
/// The most unreadable files listed.
const NAMED: usize = 10;

impl Tool for GrepRepository {
    const NAME: &'static str = "grep_repository";
    const COMMAND: &'static str = "grep";
    const POSITIONAL: &'static [&'static str] = &["repository", "pattern"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        if args.pattern.is_empty() {
            return Err(Error::invalid_arguments("`pattern` is empty"));
        }
        let pattern = Pattern {
            patterns: vec![args.pattern.clone()],
            fixed: !args.use_regex,
            case: if args.case_sensitive { Case::Sensitive } else { Case::Insensitive },
            ..Pattern::default()
        };
        let matcher = pattern.compile().map_err(|err| bad_pattern(&err))?;
        let filter = Filter::of(&args)?;
        let remote = remote(call, &args.repository)?;
        let reference = args.ref_name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let opened = open(call, &remote, reference, Age::Kept)?;

        let began = Instant::now();
        let files = opened.tree.paths().map_err(|err| source_error(&err))?;
        let folder = opened.found.folder.as_str();
        let in_place = |path: &str| {
            folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut left_out: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut entries: Vec<&TreeEntry> = Vec::with_capacity(files.len());
        for entry in files.iter().filter(|entry| in_place(&entry.path) && filter.keeps(&entry.path)) {
            match entry.mode {
                EntryMode::Submodule => *left_out.entry("submodule").or_default() += 1,
                EntryMode::Symlink => *left_out.entry("symlink").or_default() += 1,
                EntryMode::File | EntryMode::Executable => entries.push(entry),
            }
        }
        let hidden = opened.tree.hidden().map_err(|err| source_error(&err))?;
        let hidden = hidden.iter().filter(|path| in_place(path) && filter.keeps(path)).count() as u64;
        if hidden > 0 {
            left_out.insert(SkipReason::Secret.as_str(), hidden);
        }
        opened.tree.prepare(&entries).map_err(|err| source_error(&err))?;
        let limits = Limits { until: Instant::now() + BUDGET, cancelled: &call.request.cancelled };
        let skip = usize::try_from(args.skip).unwrap_or(usize::MAX).saturating_add(call.offset);
        let take = usize::try_from(args.take).unwrap_or(usize::MAX).saturating_sub(call.offset);
        let wanted = BlobSearch {
            matcher: &matcher,
            before: args.before_context.min(MOST_CONTEXT) as usize,
            after: args.after_context.min(MOST_CONTEXT) as usize,
            skip,
            take,
        };
        let outcome = blobs::search(&*opened.tree, &entries, &wanted, limits);
        if call.request.is_cancelled() {
            return Err(Error::cancelled("cancelled"));
        }
        if !outcome.timed_out {
            keep(call, &opened, &files, entries.len());
        }
        if outcome.binary > 0 {
            left_out.insert("binary", outcome.binary);
        }
        let mut warnings: Vec<String> = outcome.failures.iter().take(NAMED).map(ToString::to_string).collect();
        if outcome.failures.len() > NAMED {
            warnings.push(format!("and {} more files that could not be read", outcome.failures.len() - NAMED));
        }
        if !outcome.failures.is_empty() {
            left_out.insert("unreadable", outcome.failures.len() as u64);
        }

        let found: usize = outcome.files.iter().map(|file| file.lines.len()).sum();
        let (matches, given) = fit(outcome.files, call.max_tokens);
        let cut = given < found;
        call.count(usize::try_from(outcome.total).unwrap_or(usize::MAX));
        call.found(outcome.total > 0);
        call.narrow("give include_globs, file_extensions or a smaller take");
        let more = (skip + given) < usize::try_from(outcome.total).unwrap_or(usize::MAX);
        Ok(Output {
            repository: remote.whole().to_string(),
            reference: opened.found.reference.clone(),
            commit: opened.found.commit.clone(),
            matches,
            truncated: more,
            next_cursor: cut.then(|| call.cursor(call.offset + given)),
            timed_out: outcome.timed_out,
            stats: Stats {
                files_searched: outcome.searched,
                total_matches: outcome.total,
                files_with_matches: outcome.matching,
                execution_time_ms: began.elapsed().as_millis() as u64,
                left_out,
            },
            warnings,
        })
    }
}

/// As many lines as fit the budget, at least one, and their number.
fn fit(files: Vec<blobs::FileLines>, max_tokens: usize) -> (Vec<FileMatch>, usize) {
    let (mut spent, mut given, mut matches) = (FRAME, 0, Vec::new());
    for file in files {
        spent += FILE_FRAME + tokens::estimate(&file.path);
        let mut line_matches = Vec::new();
        for line in file.lines {
            let Line { number, text, ranges, cut, before, after } = line;
            let line = LineMatch { line_number: number, line: text, ranges, cut, before, after };
            spent += tokens::estimate(&serde_json::to_string(&line).unwrap_or_default());
            if spent > max_tokens && given > 0 {
                if !line_matches.is_empty() {
                    matches.push(FileMatch { path: file.path, line_matches });
                }
                return (matches, given);
            }
            line_matches.push(line);
            given += 1;
        }
        matches.push(FileMatch { path: file.path, line_matches });
    }
    (matches, given)
}

/// The filter of paths.
struct Filter {
    extensions: Vec<String>,
    include: Option<GlobSet>,
    exclude: Vec<String>,
}

impl Filter {
    fn of(args: &Args) -> Result<Self, Error> {
        let extension = |text: &String| text.trim().trim_start_matches('*').trim_start_matches('.').to_lowercase();
        let mut globs = GlobSetBuilder::new();
        for text in &args.include_globs {
            // As in a .gitignore: a pattern without a slash matches the name.
            let pattern = text.trim().trim_start_matches("./");
            let anchored = match pattern.strip_prefix('/') {
                Some(rest) => rest.to_owned(),
                None if pattern.contains('/') => pattern.to_owned(),
                None => format!("**/{pattern}"),
            };
            let glob = GlobBuilder::new(&anchored).literal_separator(true).build();
            globs.add(glob.map_err(|err| Error::invalid_arguments(format!("include_globs: {err}")))?);
        }
        let include = globs.build().map_err(|err| Error::invalid_arguments(format!("include_globs: {err}")))?;
        Ok(Self {
            extensions: args.file_extensions.iter().map(extension).filter(|text| !text.is_empty()).collect(),
            include: (!args.include_globs.is_empty()).then_some(include),
            exclude: args
                .exclude_dirs
                .iter()
                .map(|text| text.trim().trim_matches('/').to_owned())
                .filter(|text| !text.is_empty())
                .collect(),
        })
    }

    fn keeps(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let excluded = self.exclude.iter().any(|dir| match dir.contains('/') {
            true => folder.strip_prefix(dir.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            false => folder.split('/').any(|part| part == dir),
        });
        if excluded {
            return false;
        }
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
        (self.extensions.is_empty() || extension.is_some_and(|extension| self.extensions.contains(&extension)))
            && self.include.as_ref().is_none_or(|globs| globs.is_match(path))
    }
}
