//! Columns of tables and views, as a dbt project describes them.

use std::collections::HashSet;

use globset::GlobBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Error, Tool, indexes};
use crate::catalog::context::{Column, context};

/// Search the columns of tables in a dbt project, by name, description and model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Words of names or descriptions; empty for all.
    query: String,
    /// Glob of model names: `stg_*`.
    #[serde(default)]
    model_pattern: Option<String>,
    /// Limit of results.
    #[serde(default = "twenty")]
    max_results: u32,
}

fn twenty() -> u32 {
    20
}

/// Columns, best first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    result_count: usize,
    results: Vec<Item>,
}

/// A column of a table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    model: String,
    file: String,
    column: String,
    description: String,
}

/// See [`Args`].
pub struct SearchColumns;

impl Tool for SearchColumns {
    const NAME: &'static str = "search_columns";
    const COMMAND: &'static str = "columns";
    const POSITIONAL: &'static [&'static str] = &["query"];
    // Few repositories describe columns.
    const SHOWN: Option<super::ToolTier> = None;
    const LIST: Option<&'static str> = Some("results");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let pattern = args.model_pattern.as_deref().map(str::trim).filter(|pattern| !pattern.is_empty());
        let pattern = pattern.map(|pattern| GlobBuilder::new(pattern).case_insensitive(true).build()).transpose();
        let pattern = pattern.map_err(|err| {
            let message = format!("`model_pattern` is not a glob: {err}; write it like stg_*");
            Error::invalid_arguments(message)
        })?;
        let models = pattern.map(|pattern| pattern.compile_matcher());
        let mut repo = indexes::open(call, args.repo.as_deref())?;
        let words: Vec<String> = args.query.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let ask = |repo: &indexes::Repo| {
            let context = context(call, repo);
            let wanted = |column: &&Column| models.as_ref().is_none_or(|models| models.is_match(&*column.model));
            let mut found: Vec<(u32, Item)> = context
                .columns()
                .filter(wanted)
                .filter_map(|column| Some((score(column, &words)?, item(column))))
                .collect();
            // Equals stay in the order of their files.
            found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
            Ok((context.columns().next().is_some(), found.into_iter().map(|(_, item)| item).collect::<Vec<_>>()))
        };
        let about = |_: &indexes::Repo, (_, items): &(bool, Vec<Item>)| {
            let files: HashSet<&String> = items.iter().map(|item| &item.file).collect();
            (!items.is_empty()).then(|| files.into_iter().cloned().collect())
        };
        let (has_any, items) = indexes::answered(call, &mut repo, ask, about)?;
        if !has_any {
            let none = "no column descriptions: there is no dbt project with columns in YAML and no information_schema*.json, or context_providers is off";
            call.note("hint", none);
        }
        call.count(items.len());
        call.found(!items.is_empty());
        let results = call.page(items, args.max_results as usize);
        Ok(Output { result_count: results.len(), results })
    }
}

fn item(column: &Column) -> Item {
    let Column { model, file, name, description } = column.clone();
    Item { model: model.to_string(), file: file.to_string(), column: name, description }
}

/// How well a column answers; `None` when a word is nowhere in it.
fn score(column: &Column, words: &[String]) -> Option<u32> {
    let name = column.name.to_lowercase();
    let (model, description) = (column.model.to_lowercase(), column.description.to_lowercase());
    words.iter().try_fold(0, |sum, word| {
        let points = match word {
            word if name == *word => 8,
            word if name.contains(word) => 4,
            word if description.contains(word) => 2,
            word if model.contains(word) => 1,
            _ => return None,
        };
        Some(sum + points)
    })
}
