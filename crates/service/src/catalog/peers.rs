//! Other nodes of a fleet, as questions see them: which one holds a repository, and what it answers.

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};

use super::Context;
use crate::answer::{Envelope, Request};

/// Nodes of a fleet. The node itself is one of them.
pub trait Peers: Send + Sync {
    /// Names of the nodes that hold a repository, the one that is asked first in front. This node is an empty name. Empty where
    /// nothing is known: then this node answers.
    fn holders(&self, repo: &str) -> Vec<String>;

    /// Number of nodes that live, this one included.
    fn n_nodes(&self) -> usize;

    /// Questions to other nodes so far: those that were answered, and those that were not.
    fn asked(&self) -> [u64; 2];

    /// Whether the mark of a question is that of another node. Any client can write one, and only a node knows the key that
    /// its proof is made with.
    fn is_of_node(&self, mark: &Value) -> bool;

    /// Says that this node will end, so that others ask it no more.
    fn leave(&self);

    /// Calls a tool of a node, with the caller's own token. The error says why there is no answer; an error of the tool is one.
    fn ask(&self, node: &str, tool: &str, args: &Map<String, Value>, request: &Request) -> Result<Envelope, String>;
}

/// Ids of the repositories that names or patterns mean and that the caller may see, in the order of a list of all. `None` where one
/// is neither an id that is known nor a pattern.
pub fn repos_like(cx: &Context, names: &[String]) -> Option<Vec<String>> {
    let all = cx.indexes.registry().all();
    let globs: Vec<GlobMatcher> =
        names.iter().filter(|name| is_pattern(name)).map(|name| pattern(name)).collect::<Option<_>>()?;
    let is_known = |name: &&String| is_pattern(name) || all.iter().any(|sidecar| sidecar.repo == **name);
    if !names.iter().all(|name| is_known(&name)) {
        return None;
    }
    let is_meant = |repo: &str| names.iter().any(|name| name == repo) || globs.iter().any(|glob| glob.is_match(repo));
    Some(all.into_iter().map(|sidecar| sidecar.repo).filter(|repo| is_meant(repo)).collect())
}

/// Whether the name of a repository is a pattern, such as `org/*`.
pub fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// A pattern of repositories: `*` stands for any letters, slashes included, as in the rights of callers.
pub fn pattern(name: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(name).build().ok().map(|glob| glob.compile_matcher())
}
