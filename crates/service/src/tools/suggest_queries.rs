//! Starting points in an unknown repository.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::imported::Imported;
use super::{Call, Error, Tool, indexes};
use codelode_base::model::Kind;
use codelode_query::{self as query, Confidence, Hit, Search};

/// Suggest where to start in an unknown codebase: keywords, entry points and ready calls.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
}

/// Ways in.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    repo: String,
    symbol_count: u64,
    file_count: u64,
    kind_distribution: BTreeMap<&'static str, u64>,
    language_distribution: BTreeMap<String, u64>,
    top_keywords: Vec<String>,
    /// Ids of symbols where programs start, or paths of files that a package runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entry_points: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    most_imported_files: Vec<Imported>,
    /// Largest types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    large_types: Vec<LargeType>,
    example_queries: Vec<Example>,
}

/// A type with many members.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LargeType {
    id: String,
    members: u64,
}

/// A ready-made call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Example {
    tool: &'static str,
    arguments: Value,
    description: &'static str,
}

/// See [`Args`].
pub struct SuggestQueries;

/// The number of words tried in pairs.
const PAIRED: usize = 6;

impl Tool for SuggestQueries {
    const NAME: &'static str = "suggest_queries";
    const COMMAND: &'static str = "suggest";
    const POSITIONAL: &'static [&'static str] = &["repo"];
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let repo = indexes::open(call, args.repo.as_deref())?;
        let facts = repo.snapshot.facts();
        let found = query::suggestions(&repo.snapshot);
        let counts = query::kinds(&repo.snapshot);
        let kinds = Kind::ALL.into_iter().map(|kind| (kind.as_str(), counts[kind as usize]));
        let mut example_queries = Vec::new();
        let mut suggest = |tool, arguments, description| example_queries.push(Example { tool, arguments, description });
        // A pair of frequent words that occur together in a good answer.
        let words = found.keywords.iter().take(PAIRED);
        let pairs = words
            .clone()
            .enumerate()
            .flat_map(|(n, first)| words.clone().skip(n + 1).map(move |second| (first, second)));
        let is_worth_it = |hit: &Hit| {
            let symbol = repo.snapshot.symbol(hit.symbol);
            symbol.is_some_and(|it| it.kind() != Kind::Constant && !it.file.is_test() && !it.file.is_generated())
        };
        let answers = |query: &String| {
            let found = query::search(&repo.snapshot, &Search::of(query, 1));
            found.is_ok_and(|found| found.confidence == Confidence::High && found.hits.iter().all(is_worth_it))
        };
        if let Some(query) = pairs.map(|(first, second)| format!("{first} {second}")).find(answers) {
            suggest("search_symbols", json!({"query": query}), "two of the most frequent words of its names");
        }
        if let Some(name) = found.keywords.first() {
            suggest("get_ranked_context", json!({"query": name}), "source around the most frequent word of its names");
        }
        match found.entry_points.first() {
            Some(id) if id.contains("::") => {
                suggest("get_symbol_source", json!({"symbol_id": id}), "where a program starts");
            }
            Some(path) => suggest("get_file_content", json!({"file_path": path}), "where a program starts"),
            None => {}
        }
        if let Some((id, _)) = found.large_types.first() {
            let path = id.rsplit_once("::").map_or(id.as_str(), |(path, _)| path);
            suggest("get_file_outline", json!({"file_path": path}), "the file of its largest type");
        }
        suggest("get_file_tree", json!({"max_depth": 2}), "its folders");
        call.found(facts.files > 0);
        Ok(Output {
            repo: repo.sidecar.repo.clone(),
            symbol_count: facts.symbols,
            file_count: facts.files,
            kind_distribution: kinds.filter(|(_, count)| *count > 0).collect(),
            language_distribution: facts.languages.clone(),
            top_keywords: found.keywords,
            entry_points: found.entry_points,
            most_imported_files: Imported::most(&repo)?,
            large_types: found.large_types.into_iter().map(|(id, members)| LargeType { id, members }).collect(),
            example_queries,
        })
    }
}
