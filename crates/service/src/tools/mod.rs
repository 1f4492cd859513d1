//! Tools: one file for each, the table [`TOOLS`], and the entry point [`call()`].
//!
//! A [`Tool`] is documented once: its arguments' doc comments are rustdoc, `--help` and the JSON schema for clients.
//! Skins (`mcp`, `cli`) walk [`TOOLS`] and call [`call()`]; they know hardly any tool by name.

mod call;
pub mod check_references;
pub mod embed_repo;
pub mod find_dead_code;
pub mod find_implementations;
pub mod find_importers;
pub mod find_references;
pub mod find_tests;
pub mod get_blast_radius;
pub mod get_call_hierarchy;
pub mod get_changed_symbols;
pub mod get_class_hierarchy;
pub mod get_context_bundle;
pub mod get_dependency_graph;
pub mod get_file_content;
pub mod get_file_outline;
pub mod get_file_tree;
pub mod get_ranked_context;
pub mod get_related_symbols;
pub mod get_repo_map;
pub mod get_repo_outline;
pub mod get_session_stats;
pub mod get_symbol;
pub mod get_symbol_diff;
pub mod get_symbol_history;
pub mod get_symbol_importance;
pub mod get_symbol_source;
pub mod get_symbols;
pub mod grep_repository;
pub mod index_file;
pub mod index_folder;
pub mod index_repo;
pub mod invalidate_cache;
pub mod list_repos;
pub mod list_repository_refs;
pub mod plan_change_signature;
pub mod plan_delete;
pub mod plan_rename;
pub mod resolve_repo;
pub mod review_changes;
pub mod search_ast;
pub mod search_columns;
pub mod search_commits;
pub mod search_repositories;
pub mod search_symbols;
pub mod search_text;
pub mod suggest_queries;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::answer::{Freshness, ToolProperties, arguments, session, tokens};
use crate::catalog::{errors, files, github, indexes, locate, related, remotes};
use crate::parts::{
    around, blame, brief, candidates, changes, fields, file_hits, filters, history, imported, left_out, matches,
    meaning, packing, patterns, plan, possible, repos, review, sources, summaries, symbols, through, words,
};
use codelode_base::model::nearest;

pub use crate::answer::{Code, Envelope, Error, Request};
pub use crate::catalog::{Context, Views};
pub use crate::parts::here::languages_of;
pub use crate::parts::{Call, paths};
pub use call::call;

/// Characters of a signature in a list; longer ones are cut after an argument.
pub const SIGNATURE: usize = 200;
/// Characters of a summary.
pub const SUMMARY: usize = 120;

/// A tool: a query that the program answers.
pub trait Tool {
    /// Its name over MCP.
    const NAME: &'static str;
    /// Its name at the terminal.
    const COMMAND: &'static str;
    /// Positional arguments on the command line; the last may repeat if it is a list.
    const POSITIONAL: &'static [&'static str] = &[];
    /// The narrowest surface with this tool; `None` for an older name that works but is not shown.
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    /// Whether a client that loads tools on demand has it in every session: the few that answer most questions.
    const ALWAYS_LOADED: bool = false;
    /// Whether it changes nothing.
    const READ_ONLY: bool = true;
    /// Whether it removes data.
    const DESTRUCTIVE: bool = false;
    /// The key of the list that is cut if the answer does not fit its budget.
    const LIST: Option<&'static str> = None;
    /// Its arguments; their doc comment is the tool's description.
    type Args: DeserializeOwned + JsonSchema + 'static;
    /// Its answer.
    type Output: Serialize + JsonSchema;
    /// Runs the tool.
    fn run(call: &Call<'_>, args: Self::Args) -> Result<Self::Output, Error>;
}

/// The surfaces, each including the narrower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolTier {
    /// The default.
    Lean,
    /// More tools.
    Core,
    /// All tools.
    Full,
}

/// A [`Tool`] as a row of [`TOOLS`].
pub struct ToolSpec {
    /// See [`Tool::NAME`].
    pub name: &'static str,
    /// See [`Tool::COMMAND`].
    pub command: &'static str,
    /// See [`Tool::POSITIONAL`].
    pub positional: &'static [&'static str],
    /// See [`Tool::SHOWN`].
    pub shown: Option<ToolTier>,
    /// See [`Tool::ALWAYS_LOADED`].
    pub always_loaded: bool,
    /// See [`Tool::READ_ONLY`].
    pub read_only: bool,
    /// See [`Tool::DESTRUCTIVE`].
    pub destructive: bool,
    /// See [`Tool::LIST`].
    pub list: Option<&'static str>,
    /// The JSON schema of its arguments, as schemars makes it, its description included.
    pub input: fn() -> schemars::Schema,
    /// The JSON schema of its answer.
    pub output: fn() -> schemars::Schema,
    run: fn(&Call<'_>, Map<String, Value>) -> Result<Value, Error>,
}

impl ToolSpec {
    fn asked(&self) -> ToolProperties {
        ToolProperties { name: self.name, list: self.list }
    }

    /// The row of a tool.
    pub const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            command: T::COMMAND,
            positional: T::POSITIONAL,
            shown: T::SHOWN,
            always_loaded: T::ALWAYS_LOADED,
            read_only: T::READ_ONLY,
            destructive: T::DESTRUCTIVE,
            list: T::LIST,
            input: || schemars::schema_for!(T::Args),
            // Fields that an answer may leave out are not required of it.
            output: || SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T::Output>(),
            run: |call, args| {
                let args = arguments::arguments::<T::Args>(args, || schemars::schema_for!(T::Args))?;
                let output = T::run(call, args)?;
                serde_json::to_value(output).map_err(|err| Error::internal(err.to_string()))
            },
        }
    }
}

/// Every tool.
pub static TOOLS: &[ToolSpec] = &[
    ToolSpec::of::<search_symbols::SearchSymbols>(),
    ToolSpec::of::<search_text::SearchText>(),
    ToolSpec::of::<search_ast::SearchAst>(),
    ToolSpec::of::<search_columns::SearchColumns>(),
    ToolSpec::of::<get_symbol_source::GetSymbolSource>(),
    ToolSpec::of::<get_file_outline::GetFileOutline>(),
    ToolSpec::of::<get_file_content::GetFileContent>(),
    ToolSpec::of::<find_references::FindReferences>(),
    ToolSpec::of::<get_call_hierarchy::GetCallHierarchy>(),
    ToolSpec::of::<find_importers::FindImporters>(),
    ToolSpec::of::<get_class_hierarchy::GetClassHierarchy>(),
    ToolSpec::of::<get_blast_radius::GetBlastRadius>(),
    ToolSpec::of::<find_dead_code::FindDeadCode>(),
    ToolSpec::of::<get_context_bundle::GetContextBundle>(),
    ToolSpec::of::<get_ranked_context::GetRankedContext>(),
    ToolSpec::of::<get_dependency_graph::GetDependencyGraph>(),
    ToolSpec::of::<get_symbol_importance::GetSymbolImportance>(),
    ToolSpec::of::<get_repo_map::GetRepoMap>(),
    ToolSpec::of::<get_related_symbols::GetRelatedSymbols>(),
    ToolSpec::of::<find_implementations::FindImplementations>(),
    ToolSpec::of::<get_changed_symbols::GetChangedSymbols>(),
    ToolSpec::of::<get_symbol_diff::GetSymbolDiff>(),
    ToolSpec::of::<review_changes::ReviewChanges>(),
    ToolSpec::of::<find_tests::FindTests>(),
    ToolSpec::of::<search_commits::SearchCommits>(),
    ToolSpec::of::<get_symbol_history::GetSymbolHistory>(),
    ToolSpec::of::<plan_rename::PlanRename>(),
    ToolSpec::of::<plan_delete::PlanDelete>(),
    ToolSpec::of::<plan_change_signature::PlanChangeSignature>(),
    ToolSpec::of::<check_references::CheckReferences>(),
    ToolSpec::of::<index_folder::IndexFolder>(),
    ToolSpec::of::<embed_repo::EmbedRepo>(),
    ToolSpec::of::<get_repo_outline::GetRepoOutline>(),
    ToolSpec::of::<get_file_tree::GetFileTree>(),
    ToolSpec::of::<list_repos::ListRepos>(),
    ToolSpec::of::<suggest_queries::SuggestQueries>(),
    ToolSpec::of::<resolve_repo::ResolveRepo>(),
    ToolSpec::of::<index_file::IndexFile>(),
    ToolSpec::of::<invalidate_cache::InvalidateCache>(),
    ToolSpec::of::<index_repo::IndexRepo>(),
    ToolSpec::of::<grep_repository::GrepRepository>(),
    ToolSpec::of::<list_repository_refs::ListRepositoryRefs>(),
    ToolSpec::of::<search_repositories::SearchRepositories>(),
    ToolSpec::of::<get_session_stats::GetSessionStats>(),
    ToolSpec::of::<get_symbol::GetSymbol>(),
    ToolSpec::of::<get_symbols::GetSymbols>(),
];
