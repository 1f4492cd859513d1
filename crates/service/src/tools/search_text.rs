//! Matching lines in indexed files, as in ripgrep, each with its enclosing symbol.

use std::collections::HashSet;
use std::time::Instant;

use grep_matcher::Matcher as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::errors::store_error;
use super::filters::{Filters, path_glob};
use super::indexes::Repo;
use super::matches::{self, Found, Page, Placed, Scope};
use super::meaning::Meaning;
use super::patterns::{BUDGET, WIDEST, bad_pattern, cut, narrowed};
use super::{Call, Error, Tool, ToolTier};
use codelode_lang::languages;
use codelode_query::Order;
use codelode_query::scan::{Candidates, Limits, Outcome};
use codelode_query::text::{self, Case, LineHit, Matcher, Pattern};
use codelode_store::{FileView, SymbolView};

/// Search (grep) the text of all files in the project for a string, pattern or regular expression: a log message,
/// comment, TODO, environment variable or setting.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Several repositories; `*` for all.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    repos: Option<Vec<String>>,
    /// Text, case ignored; a regex with is_regex.
    #[schemars(extend("x-aliases" = ["pattern"]))]
    query: String,
    /// Rust syntax.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["regex"]))]
    is_regex: bool,
    /// Match case.
    #[serde(default)]
    case_sensitive: bool,
    /// Match whole words only.
    #[serde(default)]
    whole_word: bool,
    /// Let matches span lines.
    #[serde(default)]
    #[schemars(extend("x-rare" = true, "x-aliases" = ["multi_line"]))]
    multiline: bool,
    /// Glob: `src/**`.
    #[serde(default)]
    file_pattern: Option<String>,
    /// By name or alias.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    language: Option<String>,
    /// Limit of lines.
    #[serde(default = "twenty")]
    max_results: u32,
    /// Context lines.
    #[serde(default)]
    context_lines: u32,
    /// Search by meaning.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    semantic: bool,
    /// Weight of meaning against words, 0 to 1.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    semantic_weight: Option<f32>,
    /// By meaning alone.
    #[serde(default)]
    #[schemars(extend("x-hidden" = "client"))]
    semantic_only: bool,
}

fn twenty() -> u32 {
    20
}

/// A matching line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Match {
    line: u64,
    /// `…` marks a long line cut around the match.
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
    /// Innermost enclosing symbol; its id is `{file}::{symbol}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<String>,
}

impl Placed for Match {
    fn lines(&self) -> (u64, u64) {
        (self.line, self.line)
    }
}

/// See [`Args`].
pub struct SearchText;

/// The most context lines.
const MOST_CONTEXT: usize = 50;
/// The most bytes shown of a match over several lines.
const WIDEST_OF_SEVERAL: usize = 2_000;

impl Tool for SearchText {
    const NAME: &'static str = "search_text";
    const COMMAND: &'static str = "text";
    const POSITIONAL: &'static [&'static str] = &["query"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Lean);
    type Args = Args;
    type Output = Found<Match>;

    fn run(call: &Call<'_>, mut args: Args) -> Result<Found<Match>, Error> {
        let language = args.language.take().map(|language| languages::named(&language));
        let language = language.as_deref();
        let glob = args.file_pattern.as_deref().map(path_glob).transpose()?;
        let search = Search::new(call, &args)?;
        let scope = Scope { repo: args.repo.as_deref(), repos: args.repos.as_deref(), glob: glob.as_ref(), language };
        // The longest word of a text is probably the intended name.
        let words = args.query.split(|char: char| !char.is_alphanumeric() && char != '_');
        let meant = words.max_by_key(|word| word.len()).filter(|_| !args.is_regex);
        let asked =
            search.meaning.as_ref().map(|_| Filters::read(&args.query, None, language, args.file_pattern.as_deref()));
        let filters = asked.transpose()?;
        matches::collect(call, &scope, args.max_results, meant, &mut |repo, page| {
            if let Some((meaning, filters)) = search.meaning.as_ref().zip(filters.as_ref())
                && let Some(outcome) = by_meaning(call, repo, meaning, filters, search.context, page)?
            {
                return Ok(outcome);
            }
            let keep = |file: &FileView<'_>| scope.keeps(file);
            let Search { pattern, matcher, context, limits, .. } = &search;
            let candidates = Candidates::new(&repo.snapshot, &matcher.grams, pattern.name(), &keep);
            let candidates = candidates.map_err(|err| store_error(err, &repo.sidecar))?;
            let texts = page.texts();
            let mut take = |file: FileView<'_>, hits: Vec<LineHit>| {
                page.take(&file, hits.len(), &|at| shown(&file, &hits[at], matcher))
            };
            Ok(text::search_text(candidates, matcher, *context, texts, *limits, &mut take))
        })
    }
}

/// First lines of the definitions nearest in meaning, grouped by file, the file of the best first. `None` when words
/// must do.
fn by_meaning(
    call: &Call<'_>,
    repo: &Repo,
    meaning: &Meaning,
    filters: &Filters,
    context: usize,
    page: &mut Page<'_, Match>,
) -> Result<Option<Outcome>, Error> {
    let search = filters.search(Order::Relevance, page.texts() + 1);
    let Some(found) = meaning.ask(call, repo, &search)? else { return Ok(None) };
    let symbols: Vec<SymbolView<'_>> = found.hits.iter().filter_map(|hit| repo.snapshot.symbol(hit.symbol)).collect();
    let mut files: Vec<u32> = symbols.iter().map(|symbol| symbol.file.number()).collect();
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(*file));
    for file in files {
        let own: Vec<&SymbolView<'_>> = symbols.iter().filter(|symbol| symbol.file.number() == file).collect();
        let Some(view) = own.first().map(|symbol| symbol.file) else { continue };
        page.take(&view, own.len(), &|at| first_line(own[at], context));
    }
    Ok(Some(Outcome { stopped: found.more, ..Outcome::default() }))
}

/// The first line of a definition, as a match.
fn first_line(symbol: &SymbolView<'_>, context: usize) -> Match {
    let line = symbol.line();
    let lines: Vec<&[u8]> = symbol.file.content().split(|byte| *byte == b'\n').collect();
    let at = (line as usize).saturating_sub(1).min(lines.len());
    let around = |lines: &[&[u8]]| lines.iter().map(|line| narrowed(line)).collect();
    let end = (at + 1 + context).min(lines.len());
    Match {
        line: line.into(),
        text: lines.get(at).map(|line| narrowed(line)).unwrap_or_default(),
        before: around(&lines[at.saturating_sub(context)..at]),
        after: around(&lines[(at + 1).min(end)..end]),
        symbol: matches::symbol_around(&symbol.file, line.into()),
    }
}

/// A query, ready for each repository.
struct Search<'a> {
    /// The question by meaning.
    meaning: Option<Meaning>,
    pattern: Pattern,
    matcher: Matcher,
    context: usize,
    limits: Limits<'a>,
}

impl<'a> Search<'a> {
    /// Refuses an invalid request.
    fn new(call: &Call<'a>, args: &Args) -> Result<Self, Error> {
        let wrong = |message: &str| Err(Error::invalid_arguments(message));
        if args.query.is_empty() {
            return wrong("`query` is empty; give a text, or a regex with is_regex");
        }
        if args.query.len() > 10_000 {
            return wrong("`query` is longer than 10,000 bytes");
        }
        let by_meaning = args.semantic || args.semantic_only;
        if by_meaning && (args.is_regex || args.multiline) {
            return wrong("`semantic` takes a question in words; omit is_regex and multiline");
        }
        let asks = || Meaning::of(call, &args.query, args.semantic_weight, args.semantic_only);
        let meaning = by_meaning.then(asks).transpose()?;
        let pattern = Pattern {
            patterns: vec![args.query.clone()],
            fixed: !args.is_regex,
            case: if args.case_sensitive { Case::Sensitive } else { Case::Insensitive },
            word: args.whole_word,
            multi_line: args.multiline,
            ..Pattern::default()
        };
        let matcher = pattern.compile().map_err(|err| bad_pattern(&err))?;
        Ok(Self {
            meaning,
            pattern,
            matcher,
            context: (args.context_lines as usize).min(MOST_CONTEXT),
            limits: Limits { until: Instant::now() + BUDGET, cancelled: &call.request.cancelled },
        })
    }
}

/// A match in the form of answers.
fn shown(file: &FileView<'_>, hit: &LineHit, matcher: &Matcher) -> Match {
    let around = |lines: &[Vec<u8>]| lines.iter().map(|line| narrowed(line)).collect();
    let at = matcher.regex().find(&hit.text).ok().flatten().map_or(0, |found| found.start());
    let symbol = matches::symbol_around(file, hit.line);
    let widest = if hit.lines > 1 { WIDEST_OF_SEVERAL } else { WIDEST };
    let text = cut(&hit.text, at, widest);
    Match { line: hit.line, text, before: around(&hit.before), after: around(&hit.after), symbol }
}
