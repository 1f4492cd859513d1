//! Other nodes of a fleet: which one holds a repository, and its answers.

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};

use super::Context;
use crate::answer::{Envelope, Request};

/// The nodes of a fleet, including this one.
pub trait Peers: Send + Sync {
    /// Names of the nodes that hold a repository, the first one to ask in front. The empty name is this node. Empty if
    /// nothing is known; then this node answers.
    fn holders(&self, repo: &str) -> Vec<String>;

    /// The number of live nodes, including this one.
    fn n_nodes(&self) -> usize;

    /// The number of answered and of unanswered questions to other nodes so far.
    fn asked(&self) -> [u64; 2];

    /// Whether the mark of a question comes from another node. Any client can send a mark, but only nodes know the key
    /// of its proof.
    fn is_of_node(&self, mark: &Value) -> bool;

    /// Announces that this node will end, so that others stop asking it.
    fn leave(&self);

    /// Calls a tool on a node with the caller's own token. An error of the tool is an answer. Fails with the reason if
    /// there is no answer.
    fn ask(&self, node: &str, tool: &str, args: &Map<String, Value>, request: &Request) -> Result<Envelope, String>;
}

/// The ids of repositories that names or patterns mean and the caller may see, in the order of the full list. `None` if
/// one is neither a known id nor a pattern.
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

/// Compiles a pattern of repositories. `*` matches any characters including slashes, as in callers' rights.
pub fn pattern(name: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(name).build().ok().map(|glob| glob.compile_matcher())
}
