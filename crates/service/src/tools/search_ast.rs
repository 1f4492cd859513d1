//! Code by its structure, from patterns written as code, tree-sitter queries or well-known smells.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::errors::store_error;
use super::filters::path_glob;
use super::matches::{self, Found, Placed, Scope};
use super::patterns::{BUDGET, compile, narrowed, refused};
use super::{Call, Error, Tool, ToolTier};
use codelode_lang::languages::named;
use codelode_query::scan::{Candidates, Limits, Outcome, scan};
use codelode_query::syntax::{Found as InFile, SyntaxHit};
use codelode_store::FileView;

/// Find code by syntax (structural search): an AST pattern, as every call `$X.unwrap()` or `foo($$$ARGS)`, a
/// tree-sitter query, or a smell, as empty catch.
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
    /// Code with `$NAME` for one node, `$$$NAME` for any number; or a tree-sitter query.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["query"]))]
    pattern: Option<String>,
    /// Instead of pattern: empty_catch, bare_except, deep_nesting, eval, hardcoded_secret, todo.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["smell"]))]
    preset: Option<String>,
    /// Default: all that accept it.
    #[serde(default)]
    language: Option<String>,
    /// Glob: `src/**`.
    #[serde(default)]
    file_pattern: Option<String>,
    /// Limit of results.
    #[serde(default = "twenty")]
    max_results: u32,
}

fn twenty() -> u32 {
    20
}

/// A piece of code that matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Match {
    line: u64,
    end_line: u64,
    /// First line of the match, cut if long.
    text: String,
    /// Text of each `$NAME` or query capture.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    captures: BTreeMap<String, String>,
    /// Innermost enclosing symbol; its id is `{file}::{symbol}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<String>,
}

impl Placed for Match {
    fn lines(&self) -> (u64, u64) {
        (self.line, self.end_line)
    }
}

/// See [`Args`].
pub struct SearchAst;

impl Tool for SearchAst {
    const NAME: &'static str = "search_ast";
    const COMMAND: &'static str = "ast";
    const POSITIONAL: &'static [&'static str] = &["pattern"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Core);
    type Args = Args;
    type Output = Found<Match>;

    fn run(call: &Call<'_>, args: Args) -> Result<Found<Match>, Error> {
        let language = args.language.as_deref().map(named);
        let query = compile(args.pattern.as_deref(), args.preset.as_deref(), language.as_deref())?;
        let glob = args.file_pattern.as_deref().map(path_glob).transpose()?;
        // The query knows the languages that can read it.
        let scope =
            Scope { repo: args.repo.as_deref(), repos: args.repos.as_deref(), glob: glob.as_ref(), language: None };
        let limits = Limits { until: Instant::now() + BUDGET, cancelled: &call.request.cancelled };
        let mut problems = Vec::new();
        let found = matches::collect(call, &scope, args.max_results, None, &mut |repo, page| {
            let problem = query.check(&repo.snapshot.facts().languages).err();
            let is_unread = problem.is_some();
            problems.push(problem);
            if is_unread {
                return Ok(Outcome::default());
            }
            let keep = |file: &FileView<'_>| scope.keeps(file) && query.reads(file);
            let candidates = Candidates::new(&repo.snapshot, &query.grams, None, &keep);
            let candidates = candidates.map_err(|err| store_error(err, &repo.sidecar))?;
            let look = |(): &mut (), file: &FileView<'_>| query.find(file, &|| limits.reached());
            let is_cut = AtomicBool::new(false);
            let mut take = |file: FileView<'_>, InFile { hits, is_cut: cut }: InFile| {
                is_cut.fetch_or(cut, Ordering::Relaxed);
                hits.is_empty() || page.take(&file, hits.len(), &|at| shown(&file, &hits[at]))
            };
            let mut outcome = scan(candidates, limits, || (), look, &mut take);
            outcome.timed_out |= is_cut.into_inner();
            Ok(outcome)
        })?;
        match problems.into_iter().collect::<Option<Vec<String>>>().and_then(|all| all.into_iter().next()) {
            Some(problem) => Err(refused(problem)),
            None => Ok(found),
        }
    }
}

/// A match in the form of answers.
fn shown(file: &FileView<'_>, hit: &SyntaxHit) -> Match {
    let code = file.content().get(hit.start..hit.end).unwrap_or_default();
    let first = code.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = |range: &Range<usize>| narrowed(file.content().get(range.clone()).unwrap_or_default());
    let captures = hit.captures.iter().map(|(name, range)| (name.clone(), text(range))).collect();
    let symbol = matches::symbol_around(file, hit.line);
    Match { line: hit.line, end_line: hit.end_line, text: narrowed(first.trim_ascii_end()), captures, symbol }
}
